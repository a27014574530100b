"""patterns - finds and replaces patterns of C tokens.

A pattern is a piece of C: an expression, a statement or a few of them. It matches
the tokens of a file, so white space, line breaks and comments do not matter, nor how a
string is split into several. These differences are ignored as well, in the file and in
the pattern:

- missing braces: the body of if, else, for, while and do always has braces;
- missing parentheses: "sizeof x" is "sizeof(x)";
- where a local variable is declared: "uint64_t n = 0;" is "n = 0;", and "uint64_t n;"
  is nothing.

$name is a metavariable. It matches one identifier, the same one everywhere in an
entry, and two metavariables never match the same one. It does not match a field, the
tag of a struct, a type that ends in _t, a keyword or a name in capitals. Local
variables, parameters and the static functions and variables of a .c file are written
as metavariables, so that renaming them changes no pattern.
"""

import functools
import re

TOKEN = re.compile(r"""
    (?P<space> [ \t\r\n\f]+ | \\\n | //[^\n]* | /\*.*?\*/ )
  | (?P<string> (?:u8|[uUL])?"(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' )
  | (?P<number> \.?[0-9](?:[eEpP][+-]|[\w.])* )
  | (?P<name> \$?[A-Za-z_]\w* )
  | (?P<mark> \.\.\. | <<= | >>= | -> | \+\+ | -- | << | >> | [<>=!]= | && | \|\|
      | [-+*/%&|^]= | \#\# | . )
""", re.X | re.S)

KEYWORDS = frozenset("""
    auto break case char const continue default do double else enum extern float for
    goto if inline int long register restrict return short signed sizeof static struct
    switch typedef union unsigned void volatile while _Alignas _Alignof _Atomic _Bool
    _Generic _Noreturn _Static_assert _Thread_local bool true false NULL
    __attribute__ defined""".split())
# Words of a declaration, in addition to names and stars.
TYPE_WORDS = frozenset("""
    auto char const double enum float int long register short signed static struct
    union unsigned void volatile bool _Atomic _Bool _Thread_local""".split())
CONSTANT = re.compile(r"_*[A-Z][A-Z0-9_]*$")
PRIVATE = re.compile(r"[A-Za-z_]\w*$")
END = "\n"  # the token that ends a preprocessor directive


class NotFound(Exception):
    """A pattern does not occur the expected number of times."""


class Token:
    """A token and its position in the text. A missing brace or parenthesis, which is
    not in the text, has length 0."""

    __slots__ = ("text", "begin", "end", "directive", "origin")

    def __init__(self, text, begin, end, directive=False):
        self.text = text
        self.begin = begin
        self.end = end
        self.directive = directive
        self.origin = None  # begin of its type, if it is declared here

    def start(self):
        """Returns its begin, including the type."""
        return self.begin if self.origin is None else self.origin

    def missing(self):
        return self.begin == self.end and self.text != END


def scan(text):
    """Returns the tokens of a text. The end of a directive is a token, too."""
    tokens = []
    directive = False
    fresh = True  # only white space precedes it in its line
    for match in TOKEN.finditer(text):
        piece = match.group()
        if match.lastgroup == "space":
            if "\n" in piece and piece != "\\\n" and not piece.startswith("/*"):
                if directive:
                    tokens.append(Token(END, match.start(), match.start(), True))
                directive, fresh = False, True
            continue
        if piece == "#" and fresh:
            directive = True
        if piece[0] == '"' and tokens and tokens[-1].text[0] == '"':
            tokens[-1].text = tokens[-1].text[:-1] + piece[1:]
            tokens[-1].end = match.end()
            continue
        tokens.append(Token(piece, match.start(), match.end(), directive))
        fresh = False
    if directive:
        tokens.append(Token(END, len(text), len(text), True))
    return add_parentheses(tokens)


def add_parentheses(tokens):
    """Returns the tokens, with parentheses added to "sizeof x"."""
    out = []
    i = 0
    while i < len(tokens):
        out.append(tokens[i])
        i += 1
        if out[-1].text != "sizeof" or i == len(tokens) or tokens[i].text == "(":
            continue
        first = i
        while i < len(tokens) and tokens[i].text in ("*", "&"):
            i += 1
        i += 1
        while i < len(tokens) and tokens[i].text in (".", "->", "["):
            i = i + 2 if tokens[i].text != "[" else closing(tokens, i)
        what = tokens[first:i]
        out.append(Token("(", what[0].begin, what[0].begin, what[0].directive))
        out += what
        out.append(Token(")", what[-1].end, what[-1].end, what[-1].directive))
    return out


def closing(tokens, i):
    """Returns the index after the bracket that closes the one at i."""
    depth = 0
    while i < len(tokens):
        depth += {"[": 1, "]": -1}.get(tokens[i].text, 0)
        i += 1
        if depth == 0:
            break
    return i


class Statements:
    """Walks the statements of function bodies and collects missing braces."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.open = []  # tokens that need a "{" before them
        self.close = []  # tokens that need a "}" before them

    def text(self, i):
        return self.tokens[i].text

    def skip(self, i):
        """Returns the index after directives."""
        while i < len(self.tokens) and self.tokens[i].directive:
            i += 1
        return i

    def closed(self, i):
        """Returns the index after the closing counterpart of the bracket at i."""
        depth = 0
        while True:
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(
                self.text(i), 0) if not self.tokens[i].directive else 0
            i += 1
            if depth == 0:
                return i

    def block(self, i):
        """Returns the index after a block in braces."""
        i = self.skip(i + 1)
        while self.text(i) != "}":
            i = self.skip(self.statement(i))
        return i + 1

    def body(self, i):
        """Returns the index after the body of an if or a loop."""
        if self.text(i) == "{" or self.tokens[i].directive:
            return self.statement(i)
        self.open.append(i)
        i = self.statement(i)
        self.close.append(i)
        return i

    def statement(self, i):
        """Returns the index after the statement at i. Raises IndexError if it does not
        end."""
        i = self.skip(i)
        word = self.text(i)
        if word == "{":
            return self.block(i)
        if word in ("if", "for", "while", "switch"):
            i = self.body(self.closed(i + 1))
            after = self.skip(i)
            if word == "if" and after < len(self.tokens) and \
                    self.text(after) == "else":
                after = self.skip(after + 1)
                return self.statement(after) if self.text(after) == "if" \
                    else self.body(after)
            return i
        if word == "do":
            i = self.body(i + 1)
            return self.closed(i + 1) + 1
        if word in ("case", "default"):
            while self.text(i) != ":":
                i += 1
            return i + 1
        if word == "else":  # a pattern that begins with else
            after = i + 1
            return self.statement(after) if self.text(after) == "if" \
                else self.body(after)
        if self.text(i + 1) == ":":  # a label
            return i + 2
        if is_name(word) and word not in KEYWORDS and self.text(i + 1) == "(":
            after = self.closed(i + 1)
            if self.text(after) == "{":  # a macro used like a loop
                return self.block(after)
        while self.text(i) != ";":
            if self.text(i) == "}":
                raise IndexError
            i = self.closed(i) if self.text(i) in ("(", "[", "{") else i + 1
        return i + 1


def add_braces(tokens, walk):
    """Returns the tokens with missing braces added."""
    before = {}
    for i in walk.close:
        before.setdefault(i, []).append("}")
    for i in walk.open:
        before.setdefault(i, []).append("{")
    if not before:
        return tokens
    out = []
    for i, token in enumerate(tokens + [None]):
        for brace in before.get(i, ()):
            at = token.begin if brace == "{" else out[-1].end
            out.append(Token(brace, at, at))
        if token is not None:
            out.append(token)
    return out


def is_name(text):
    return PRIVATE.match(text) is not None or text.startswith("$")


def declarator(tokens, i):
    """Returns the index of the name that the statement at i declares, or None."""
    types = 0
    start = i
    while i < len(tokens) and is_name(tokens[i].text):
        word = tokens[i].text
        if word in ("struct", "union", "enum"):
            i += 1
            if i == len(tokens) or not is_name(tokens[i].text):
                return None
        elif word in KEYWORDS and word not in TYPE_WORDS:
            return None
        types += 1
        i += 1
    stars = 0
    while i < len(tokens) and tokens[i].text in ("*", "const", "restrict"):
        stars += 1
        i += 1
    if stars == 0:
        i -= 1
        types -= 1
    if types < 1 or i <= start or i + 1 >= len(tokens) or \
            not is_name(tokens[i].text) or tokens[i].text in KEYWORDS or \
            tokens[i + 1].text not in ("=", ";", ",", "["):
        return None
    return i


def drop_types(tokens, first, last, names):
    """Returns the tokens from first to last without declarations, and adds the declared
    names to names."""
    out = []
    i = first
    words = [token.text for token in tokens]
    for at in range(first + 2, last - 2):
        if words[at - 2:at] == ["(", "*"] and words[at + 1:at + 3] == [")", "("]:
            names.add(words[at])  # a pointer to a function
    start = True  # a statement begins here
    while i < last:
        token = tokens[i]
        if start and not token.directive and is_name(token.text):
            name = declarator(tokens, i)
            if name is not None:
                names.add(tokens[name].text)
                tokens[name].origin = token.begin
                i = name
                token = tokens[i]
                if tokens[i + 1].text == ";":
                    i += 2
                    continue
        start = token.text in (";", "{", "}", END) or (
            token.text == "(" and out and out[-1].text == "for")
        out.append(token)
        i += 1
    return out


class Function:
    """A function's definition: its name, its tokens from first to last, and the
    names of its parameters and variables."""

    def __init__(self, name, static, first, last, names):
        self.name = name
        self.static = static
        self.first = first
        self.last = last
        self.names = names


class Source:
    """A text in the form that patterns match."""

    def __init__(self, text):
        self.text = text
        self.tokens = []
        self.functions = []
        self.statics = set()
        raw = scan(text)
        done = 0
        for header, name, brace, last in bodies(raw):
            self.keep(raw[done:header])
            first = len(self.tokens)
            names = parameters(raw, name, brace)
            static = "static" in [token.text for token in raw[header:name]]
            if static:
                self.statics.add(raw[name].text)
            body = raw[brace:last]
            walk = Statements(body)
            try:
                walk.block(0)
                body = add_braces(body, walk)
            except IndexError:
                pass
            self.tokens += raw[header:brace] + \
                drop_types(body, 0, len(body), names)
            self.functions.append(Function(raw[name].text, static, first,
                                           len(self.tokens), names))
            done = last
        self.keep(raw[done:])
        self.places = {}
        for i, token in enumerate(self.tokens):
            self.places.setdefault(token.text, []).append(i)

    def keep(self, tokens):
        """Returns the tokens between functions, and collects the names of statics."""
        start = 0
        depth = 0
        for i, token in enumerate(tokens):
            if token.directive:
                start = i + 1 if token.text == END else start
                continue
            depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(
                token.text, 0)
            if depth == 0 and token.text == ";":
                words = [t.text for t in tokens[start:i + 1]]
                if words[0] == "static":
                    name = declarator(tokens[start:i + 1], 0)
                    if name is not None:
                        self.statics.add(words[name])
                    elif "(" in words and words[words.index("(") + 1] != "*":
                        self.statics.add(words[words.index("(") - 1])  # a function
                start = i + 1
        self.tokens += tokens

    def line(self, i):
        """Returns the line number of a token."""
        return self.text.count("\n", 0, self.tokens[i].begin) + 1

    def function_at(self, i):
        """Returns the function that contains a token, or None."""
        for function in self.functions:
            if function.first <= i < function.last:
                return function
        return None


def bodies(tokens):
    """Yields (first token, name, brace, token after the last) of each function."""
    start = 0
    i = 0
    while i < len(tokens):
        text = tokens[i].text
        if tokens[i].directive:
            start = i + 1 if text == END else start
        elif text == ";":
            start = i + 1
        elif text == "{":
            name = name_of(tokens, start, i)
            if tokens[i - 1].text.startswith('"'):  # extern "C"
                start = i + 1
            else:
                try:
                    end = Statements(tokens).closed(i)
                except IndexError:
                    return
                if name is not None:
                    yield start, name, i, end
                    start = end
                i = end - 1
        i += 1


def name_of(tokens, start, brace):
    """Returns the index of the name in a function header, or None."""
    found = None
    depth = 0
    for i in range(start, brace):
        text = tokens[i].text
        if tokens[i].directive or text in ("=", "typedef"):
            return None
        if text == "(" and depth == 0 and is_name(tokens[i - 1].text) and \
                tokens[i - 1].text not in KEYWORDS and (
                    found is None or not CONSTANT.match(tokens[i - 1].text)):
            found = i - 1
        depth += {"(": 1, ")": -1}.get(text, 0)
    return found


def parameters(tokens, name, brace):
    """Returns the names of a function's parameters."""
    names = set()
    for i in range(name + 2, brace):
        text = tokens[i].text
        if PRIVATE.match(text) and text not in KEYWORDS and \
                tokens[i + 1].text in (",", ")", "[") and \
                tokens[i - 1].text not in ("(", ",", "struct", "union", "enum"):
            names.add(text)
    return names


@functools.lru_cache(maxsize=None)
def source(text):
    """Returns a cached Source."""
    return Source(text)


def pattern_tokens(text):
    """Returns the tokens of a pattern, with missing braces if it has whole statements."""
    tokens = scan(text)
    walk = Statements(tokens)
    try:
        i = 0
        while i < len(tokens):
            i = walk.skip(walk.statement(i)) if not tokens[i].directive else i + 1
    except IndexError:
        return tokens
    return add_braces(tokens, walk)


class Pattern:
    """A pattern. Its tokens have positions in its text."""

    def __init__(self, text):
        self.whole = pattern_tokens(text)
        self.tokens = drop_types(self.whole, 0, len(self.whole), set())
        self.words = [token.text for token in self.tokens]

    def match(self, file, at, bound):
        """Returns the values of the metavariables, including those already bound, if
        the pattern matches at a token of a file; or None."""
        tokens = file.tokens
        if at < 0 or at + len(self.words) > len(tokens):
            return None
        now = dict(bound)
        taken = set(bound.values())
        for i, word in enumerate(self.words, at):
            text = tokens[i].text
            if not word.startswith("$"):
                if word != text:
                    return None
            elif word in now:
                if now[word] != text:
                    return None
            elif text in taken or not can_be_bound(tokens, i):
                return None
            else:
                now[word] = text
                taken.add(text)
        return now

    def find(self, file, bound, first=0, last=None):
        """Returns all matches (token, bindings) from first to last (exclusive)."""
        last = len(file.tokens) if last is None else last
        rare = min((i for i, word in enumerate(self.words)
                    if not word.startswith("$") or word in bound),
                   key=lambda i: len(file.places.get(
                       bound.get(self.words[i], self.words[i]), ())),
                   default=None)
        if rare is None:
            raise NotFound("a pattern must not consist of metavariables only")
        word = bound.get(self.words[rare], self.words[rare])
        found = []
        for place in file.places.get(word, ()):
            at = place - rare
            if first <= at and at + len(self.words) <= last:
                match = self.match(file, at, bound)
                if match is not None:
                    found.append((at, match))
        return found


def can_be_private(text):
    """Returns whether a word may be the name of a variable or a function."""
    return PRIVATE.match(text) is not None and text not in KEYWORDS and \
        not CONSTANT.match(text) and not text.endswith("_t")


def can_be_bound(tokens, i):
    """Returns whether a metavariable matches a token."""
    before = tokens[i - 1].text if i > 0 else ""
    return can_be_private(tokens[i].text) and \
        before not in (".", "->", "struct", "union", "enum")


def substitute(text, bound):
    """Replaces the metavariables in a piece of an entry."""
    def one(match):
        if match.group() not in bound:
            raise NotFound(f"{match.group()} does not occur in the pattern")
        return bound[match.group()]

    return re.sub(r"\$[A-Za-z_]\w*", one, text)


def lines(file, found):
    """Returns the line numbers of matches."""
    return ", ".join(str(file.line(at)) for at, _ in found)


def one(pattern, file, bound, what):
    """Returns the only match of a pattern in a file."""
    found = pattern.find(file, bound)
    if len(found) != 1:
        raise NotFound(f"{what}occurs {len(found)} times, not once" +
                       (f": in lines {lines(file, found)}" if found else ""))
    return found[0]


def function(words, file, bound):
    """Returns the function with a name, or that contains the only match of a pattern,
    and the values of the metavariables."""
    if PRIVATE.match(words):
        found = [f for f in file.functions if f.name == words]
        if len(found) != 1:
            raise NotFound(f"in: there are {len(found)} functions {words}")
        return found[0], bound
    at, bound = one(Pattern(words), file, bound, f"in: {words} ")
    found = file.function_at(at)
    if found is None:
        raise NotFound(f"in: {words} does not occur in a function")
    return found, bound


def names(tokens):
    """Returns the names in a pattern, except fields, structs and metavariables."""
    return {token.text for i, token in enumerate(tokens)
            if can_be_bound(tokens, i)}


def declared(tokens):
    """Returns the names of the variables that a pattern declares."""
    found = set()
    drop_types(tokens, 0, len(tokens), found)
    return found


def same(words, others, bound):
    """Returns the values of the metavariables if words match the others, or None."""
    now = dict(bound)
    if len(words) != len(others):
        return None
    for word, other in zip(words, others):
        if word.startswith("$"):
            if now.setdefault(word, other) != other or not can_be_private(other):
                return None
        elif word != other:
            return None
    return now


def overlap(words, others, bound):
    """Returns whether words, with metavariables, contain the others or vice versa."""
    shorter = min(len(words), len(others))
    return any(same(words[i:i + shorter], others[j:j + shorter], bound) is not None
               for i in range(len(words) - shorter + 1)
               for j in range(len(others) - shorter + 1))


def spans(file, pattern, function_name=None):
    """Returns (first, last) line of each match in a file or in a function."""
    where = [(f.first, f.last) for f in file.functions if f.name == function_name] \
        if function_name else [(0, len(file.tokens))]
    return [(file.line(at), file.line(at + len(pattern.words) - 1))
            for first, last in where
            for at, _ in pattern.find(file, {}, first, last)]


def private(file, path, tokens, at):
    """Returns the names in a pattern that must be metavariables: variables of the
    function that contains a token, and statics of a .c file."""
    where = file.function_at(at)
    own = set(where.names) if where else set()
    return names(tokens) & (own | file.statics if path.endswith(".c") else own)
