"""changes - entries of files of mutants, such as tests/mutants.txt.

A file begins with a paragraph that explains it. An entry is a paragraph:

    # what it is for: name
    the file that is changed
    in: FUNCTION or PATTERN
    with: PATTERN
    match: 2 of 3
      kept
    - removed
    + added

Removed (-) and kept ( ) lines are one pattern of C tokens, see patterns.py, that
occurs in the file exactly once. It is replaced by the kept and added (+) lines. Three
kinds of lines may precede it:

- "in:" narrows the search to one function: the function of that name, or the one that
  contains the pattern. The pattern must occur in the file exactly once.
- "with:" gives a pattern that must occur in the file exactly once. It binds its
  metavariables for the rest of the entry.
- "match: 2 of 3" selects the second of exactly three places.

Other lines are remarks. In a file that is not C, removed and kept lines are compared as
they are, and must occur there exactly once.
"""

import functools
import re

import patterns

TOKENS = (".c", ".h")


class NotApplied(Exception):
    """The file is not as the entry says."""


@functools.lru_cache(maxsize=None)
def read_file(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Side:
    """The old or the new lines of an entry, as tokens with their braces."""

    def __init__(self, lines, marks):
        self.text = ""
        self.ends = []  # of each line of the entry, in the text
        for line in lines:
            if line[0] in marks:
                self.text += line[1:] + "\n"
            self.ends.append(len(self.text))
        self.tokens = patterns.pattern_tokens(self.text)
        self.counts = []  # of tokens up to the end of each line
        done = 0
        for end in self.ends:
            while done < len(self.tokens) and self.tokens[done].begin < end:
                done += 1
            self.counts.append(done)

    def piece(self, first, last):
        """The text from a token to before another, with all braces."""
        out = ""
        for i in range(first, last):
            token = self.tokens[i]
            if i > first:
                out += self.text[self.tokens[i - 1].end:token.begin]
            if token.text != patterns.END or i == last - 1:
                out += token.text
        return out


def trim(old, new):
    """How many words are the same at the beginning and at the end."""
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


class Patch:
    """Lines of tokens to be found, and what is put in their place."""

    def __init__(self, lines):
        self.old = Side(lines, " -")
        self.new = Side(lines, " +")
        self.pattern = patterns.Pattern(self.old.text)
        self.hunks = []  # (first and last old token, first and last new one)
        begin = (0, 0)
        changed = False
        for i, line in enumerate(lines + [" "]):
            if line[0] != " ":
                changed = True
            else:
                end = (self.old.counts[i - 1], self.new.counts[i - 1]) if i else (0, 0)
                if changed:
                    self.add_hunk(begin[0], end[0], begin[1], end[1])
                changed = False
                begin = (self.old.counts[i], self.new.counts[i]) \
                    if i < len(lines) else end

    def add_hunk(self, old_first, old_last, new_first, new_last):
        head, tail = trim(
            [token.text for token in self.old.tokens[old_first:old_last]],
            [token.text for token in self.new.tokens[new_first:new_last]])
        self.hunks.append((old_first + head, old_last - tail,
                           new_first + head, new_last - tail))

    def edits(self, file, at, bound):
        """An Edit for each piece of the file that is replaced."""
        # A pattern has the tokens of its text without declarations.
        own = {id(token) for token in self.pattern.tokens}
        spots = []  # which token of the file each old one is, if any
        for token in self.pattern.whole:
            spots.append(at if id(token) in own else None)
            at += id(token) in own
        return [self.edit(file, spots, hunk, bound) for hunk in self.hunks]

    def edit(self, file, spots, hunk, bound):
        old_first, old_last, new_first, new_last = hunk
        text = patterns.substitute(self.new.piece(new_first, new_last), bound)
        found = [spot for spot in spots[old_first:old_last] if spot is not None]
        if not found:
            before = [spot for spot in spots[:old_first] if spot is not None]
            if before:
                where = file.tokens[before[-1]]
                return Edit(before[-1] + 0.5, where.end, where.end, f" {text} ",
                            where.directive)
            first = min(spot for spot in spots if spot is not None)
            where = file.tokens[first]
            return Edit(first - 0.5, where.start(), where.start(), f"{text} ",
                        where.directive)
        first, last = found[0], found[-1]
        # A variable that the entry does not declare stays declared.
        ours = {spot: token for spot, token in zip(spots, self.pattern.whole)}
        declared = [file.text[file.tokens[i].origin:file.tokens[i].end] + "; "
                    for i in range(first, last + 1)
                    if file.tokens[i].origin is not None and
                    ours[i].origin is None]
        edit = Edit(first, file.tokens[first].start(), file.tokens[last].end,
                    "".join(declared) + text, file.tokens[first].directive)
        edit.last = last
        return edit

    def apply(self, file, at, bound):
        """The text of the file, changed. Missing braces and parentheses are added."""
        edits = self.edits(file, at, bound)
        replaced = {i for edit in edits if edit.last is not None
                    for i in range(edit.place, edit.last + 1)}
        edits += [Edit(i, token.begin, token.begin, token.text, False)
                  for i, token in enumerate(file.tokens)
                  if token.missing() and i not in replaced]
        out = ""
        done = 0
        for edit in sorted(edits, key=lambda edit: edit.place):
            out += file.text[done:edit.begin] + edit.text
            done = edit.end
        return out + file.text[done:]


class Edit:
    """A piece of a text that is replaced: the first token that is, or one between
    two; where it begins and ends; and by what."""

    def __init__(self, place, begin, end, text, directive):
        self.place = place
        self.last = None  # the last token that is replaced
        self.begin = begin
        self.end = end
        if directive:  # all of it is one line
            text = text.replace("\\\n", "\n").rstrip("\n").replace("\n", " \\\n")
        self.text = text


class Change:
    """An entry."""

    def __init__(self, entry):
        title, self.file, *self.lines = entry.splitlines()
        self.title, found, self.name = title.removeprefix("# ").partition(": ")
        if not title.startswith("# ") or not found:
            raise ValueError('an entry begins with "# what it is for: name", '
                             f"not with {title}")
        self.patch = [line for line in self.lines if line[0] in " -+"]
        if not self.patch:
            raise ValueError(f"{title}: there is nothing to change")

    def values(self, key):
        """What the lines "key: value" have."""
        return [line.removeprefix(f"{key}: ") for line in self.lines
                if line.startswith(f"{key}: ")]

    def text(self, root="."):
        """That of the file, changed."""
        try:
            text = read_file(f"{root}/{self.file}")
        except FileNotFoundError:
            raise NotApplied(f"{self.file}: there is no such file") from None
        changed = self.by_tokens(text) if self.file.endswith(TOKENS) \
            else self.by_lines(text)
        if changed == text:
            raise NotApplied(f"{self.file}: nothing is changed")
        return changed

    def by_lines(self, text):
        old = "".join(line[1:] + "\n" for line in self.patch if line[0] in " -")
        new = "".join(line[1:] + "\n" for line in self.patch if line[0] in " +")
        if ("\n" + text).count("\n" + old) != 1:
            raise NotApplied(f"{self.file}: its lines (-) must occur there exactly "
                             "once")
        return ("\n" + text).replace("\n" + old, "\n" + new)[1:]

    def by_tokens(self, text):
        try:
            file, patch, at, bound = self.find(text)
            return patch.apply(file, at, bound)
        except patterns.NotFound as why:
            raise NotApplied(f"{self.file}: {why}") from None

    def find(self, text):
        """The file's Source, the Patch, the token where it begins, and what the
        metavariables are."""
        file = patterns.source(text)
        patch = Patch(self.patch)
        bound = {}
        first, last = 0, len(file.tokens)
        for words in self.values("with"):
            _, bound = patterns.one(patterns.Pattern(words), file, bound,
                                    f"with: {words} ")
        for words in self.values("in"):
            function, bound = patterns.function(words, file, bound)
            first, last = function.first, function.last
        number, total = self.number()
        found = patch.pattern.find(file, bound, first, last)
        if len(found) != total:
            raise patterns.NotFound(
                f"the pattern occurs {len(found)} times, not "
                f"{'once' if total == 1 else total}" +
                (f": in lines {patterns.lines(file, found)}" if found else ""))
        at, bound = found[number - 1]
        return file, patch, at, bound

    def number(self):
        """Which of how many places is meant."""
        for words in self.values("match"):
            numbers = re.fullmatch(r"(\d+) of (\d+)", words)
            if numbers is None or not \
                    1 <= int(numbers[1]) <= int(numbers[2]):
                raise patterns.NotFound(f"not a number of places: match: {words}")
            return int(numbers[1]), int(numbers[2])
        return 1, 1

    def private_names(self, root="."):
        """Names that have to be metavariables: of variables of the function, and of
        statics of a .c file."""
        if not self.file.endswith((".c", ".h")):
            return set()
        file, patch, at, _ = self.find(read_file(f"{root}/{self.file}"))
        tokens = patch.old.tokens + patch.new.tokens
        for words in self.values("in") + self.values("with"):
            tokens += patterns.scan(words)
        return patterns.private(file, self.file, tokens, at) - \
            patterns.declared(patch.new.tokens)

    def make(self, root, tree):
        """Changes the file of a copy of the tree."""
        text = self.text(root)
        with open(f"{tree}/{self.file}", "w", encoding="utf-8") as file:
            file.write(text)


def read(path, kind=Change):
    """The entries of a file, each as an object of a kind."""
    with open(path, encoding="utf-8") as file:
        entries = file.read().strip().split("\n\n")[1:]  # the first explains
    return [kind(entry.strip("\n")) for entry in entries]
