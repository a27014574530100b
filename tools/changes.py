"""changes - reads files of mutants, such as tests/mutants.txt, and applies them.

A file begins with a paragraph that explains it. An entry is a paragraph:

    # purpose: name
    the file to change
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

Other lines are remarks. In a file that is not C, removed and kept lines are compared
literally, and must occur there exactly once.
"""

import functools
import re

import patterns

TOKENS = (".c", ".h")


class NotApplied(Exception):
    """An entry does not match the file."""


@functools.lru_cache(maxsize=None)
def read_file(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Side:
    """The old or the new lines of an entry, as tokens with their braces."""

    def __init__(self, lines, marks):
        self.text = ""
        self.ends = []  # end of each line of the entry in the text
        for line in lines:
            if line[0] in marks:
                self.text += line[1:] + "\n"
            self.ends.append(len(self.text))
        self.tokens = patterns.pattern_tokens(self.text)
        self.counts = []  # number of tokens up to the end of each line
        done = 0
        for end in self.ends:
            while done < len(self.tokens) and self.tokens[done].begin < end:
                done += 1
            self.counts.append(done)

    def piece(self, first, last):
        """Returns the text from the token first up to last (exclusive), with all braces."""
        out = ""
        for i in range(first, last):
            token = self.tokens[i]
            if i > first:
                out += self.text[self.tokens[i - 1].end:token.begin]
            if token.text != patterns.END or i == last - 1:
                out += token.text
        return out


def trim(old, new):
    """Returns the number of equal words at the beginning and at the end."""
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


class Patch:
    """Lines of tokens to find, and their replacement."""

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
        """Returns an Edit for each piece of the file to replace."""
        # A pattern consists of the tokens of its text without declarations.
        own = {id(token) for token in self.pattern.tokens}
        spots = []  # token of the file for each old token, or None
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
        # Keep the declaration of a variable that the entry does not declare.
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
        """Returns the changed text of the file. Adds missing braces and parentheses."""
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
    """A piece of a text to replace: its first token (or x.5 between two tokens), its
    begin and end in the text, and the new text."""

    def __init__(self, place, begin, end, text, directive):
        self.place = place
        self.last = None  # the last token to replace
        self.begin = begin
        self.end = end
        if directive:  # a directive is one line
            text = text.replace("\\\n", "\n").rstrip("\n").replace("\n", " \\\n")
        self.text = text


class Change:
    """An entry."""

    def __init__(self, entry):
        title, self.file, *self.lines = entry.splitlines()
        self.title, found, self.name = title.removeprefix("# ").partition(": ")
        if not title.startswith("# ") or not found:
            raise ValueError('an entry must begin with "# purpose: name": '
                             f"{title}")
        self.patch = [line for line in self.lines if line[0] in " -+"]
        if not self.patch:
            raise ValueError(f"{title}: no lines to change")

    def values(self, key):
        """Returns the values of the lines "key: value"."""
        return [line.removeprefix(f"{key}: ") for line in self.lines
                if line.startswith(f"{key}: ")]

    def text(self, root="."):
        """Returns the changed text of the file."""
        try:
            text = read_file(f"{root}/{self.file}")
        except FileNotFoundError:
            raise NotApplied(f"{self.file}: no such file") from None
        changed = self.by_tokens(text) if self.file.endswith(TOKENS) \
            else self.by_lines(text)
        if changed == text:
            raise NotApplied(f"{self.file}: the entry changes nothing")
        return changed

    def by_lines(self, text):
        old = "".join(line[1:] + "\n" for line in self.patch if line[0] in " -")
        new = "".join(line[1:] + "\n" for line in self.patch if line[0] in " +")
        if ("\n" + text).count("\n" + old) != 1:
            raise NotApplied(f"{self.file}: the removed lines (-) do not occur "
                             "exactly once")
        return ("\n" + text).replace("\n" + old, "\n" + new)[1:]

    def by_tokens(self, text):
        try:
            file, patch, at, bound = self.find(text)
            return patch.apply(file, at, bound)
        except patterns.NotFound as why:
            raise NotApplied(f"{self.file}: {why}") from None

    def find(self, text):
        """Returns the file's Source, the Patch, the token where it begins, and the
        values of the metavariables."""
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
        """Returns which of how many places is selected."""
        for words in self.values("match"):
            numbers = re.fullmatch(r"(\d+) of (\d+)", words)
            if numbers is None or not \
                    1 <= int(numbers[1]) <= int(numbers[2]):
                raise patterns.NotFound(f"expected 'match: N of M', not 'match: {words}'")
            return int(numbers[1]), int(numbers[2])
        return 1, 1

    def private_names(self, root="."):
        """Returns the names that must be metavariables: variables of the function, and
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
        """Changes the file in a copy of the tree."""
        text = self.text(root)
        with open(f"{tree}/{self.file}", "w", encoding="utf-8") as file:
            file.write(text)


def read(path, kind=Change):
    """Returns the entries of a file as objects of a class."""
    with open(path, encoding="utf-8") as file:
        entries = file.read().strip().split("\n\n")[1:]  # the first paragraph explains the file
    return [kind(entry.strip("\n")) for entry in entries]
