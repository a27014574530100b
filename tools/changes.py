"""changes - entries of files of mutants, such as tests/mutants.txt.

A file begins with a paragraph that explains it. An entry is a paragraph: a title,
"# what it is for: name"; the file that is changed; and consecutive lines of it that
occur there exactly once: removed (-), added (+) and kept ( ). Other lines are for
those who read the entry.
"""


class NotApplied(Exception):
    """The file is not as the entry says."""


class Change:
    """An entry."""

    def __init__(self, entry):
        title, self.file, *self.lines = entry.splitlines()
        self.title, found, self.name = title.removeprefix("# ").partition(": ")
        if not title.startswith("# ") or not found:
            raise ValueError('an entry begins with "# what it is for: name", '
                             f"not with {title}")
        self.old = "".join(l[1:] + "\n" for l in self.lines if l[0] in " -")
        self.new = "".join(l[1:] + "\n" for l in self.lines if l[0] in " +")

    def text(self, root="."):
        """That of the file, changed."""
        with open(f"{root}/{self.file}", encoding="utf-8") as file:
            text = "\n" + file.read()
        if text.count("\n" + self.old) != 1 or self.old == self.new:
            raise NotApplied(f"does not apply to {self.file}: its lines (-) must "
                             "occur there exactly once")
        return text.replace("\n" + self.old, "\n" + self.new)[1:]

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
