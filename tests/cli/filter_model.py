#!/usr/bin/env python3
"""filter_model.py [--seed N] [--lines N] [--case N] [NAME]... - lawn's filters
on random lines, compared with filter_reference.py byte for byte.

A NAME is a verb, `lateness`, `state` or `expect`; all of them by default. Each gets N
lines: half of them in many small cases with their own options, half in one large case;
`expect` gets a case of up to 20 lines for every 50. A case that differs is reduced,
printed, and stored next to the tool.

  a verb     output, exit code, counts, and the numbers of the bad lines
             [F1 F2 F3 F4 F8 F9 F10 F11 F12]
  lateness   lines shuffled by up to D (by less for join) with --lateness D give the
             output of sorted lines [F7]
  state      an input split into runs with --on-eof save gives the output of one run
             [F5], also if runs have different DURATIONs (delay, debounce) [F2]
  expect     absent --expect with lines that are out of order, within --lateness and
             beyond it, many of them at the end of a window [F2 F10]

[F1] and so on are the guarantees of lawn-filters(1)."""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time

import filter_reference as reference

SECOND = 10**9
SMALL = 50, 100, 300, 1000, 2000


# Lines.

def time_text(rng, ns, unit, form, blank=False):
    if form == "mixed":
        form = rng.choice(["number", "rfc3339"])
    if form == "rfc3339":
        return rfc3339_text(rng, ns, blank)
    roll = rng.random()
    if roll < 0.9:
        return reference.decimal(ns, unit)
    if roll < 0.95:
        return f"{ns}e-{reference.UNITS[unit]}"
    text = reference.decimal(ns, unit)
    if "." not in text:
        text += "."
    digits = reference.UNITS[unit] - len(text.split(".")[1])
    return text + "0" * digits + str(rng.randrange(1000))


def rfc3339_text(rng, ns, blank):
    off = rng.choice([0, 0, 0, 90, -330, 14 * 60])
    if ns + off * 60 * SECOND < 0:
        off = 0
    text = reference.rfc3339(ns + off * 60 * SECOND)
    if off:
        text = text[:-1] + "%s%02d:%02d" % ("-" if off < 0 else "+",
                                            *divmod(abs(off), 60))
    if rng.random() < 0.1:
        text = text.lower()
    return text.replace("T", " ") if blank and rng.random() < 0.1 else text


def noise(rng, without=b""):
    """Random bytes except newlines."""
    n = rng.choice([0, 1, 5, 5, 20, 20, 70])
    if rng.random() < 0.3:
        data = bytes(rng.choices(range(256), k=n))
    else:
        data = bytes(rng.choices(b"abcdefgh xyz\t0123", k=n))
    return data.translate(None, b"\r\n" + without)


class Columns:
    """key time ttl noise, with blanks between them."""
    key, time, ttl = "1", "2", "3"
    options = []
    json = False

    def __init__(self, rng):
        self.odd = rng.random() < 0.5

    def keys(self, rng, n):
        odd = [b"\xff\xfe", b"nul\0nul", b"\xc3\xa9", b"x" * 90]
        return [rng.choice(odd) + b"%d" % i if rng.random() < 0.1 else
                b"k%d" % i for i in range(n)]

    def line(self, rng, key, time, ttl):
        if not self.odd:
            return b"%s %s %s %s" % (key, time, ttl, noise(rng))
        gap = lambda: rng.choice([b" ", b" ", b"\t", b"  \t"])
        return (rng.choice([b"", b"", b" \t"]) + key + gap() + time + gap() +
                ttl + gap() + noise(rng))

    def bad(self, rng, key, time, ttl):
        return rng.choice([
            b"", b" ", b"x", key, key + b" 12:30 1", key + b" -1 1", b"\0",
            key + b" 1e400 1", key + b" 1x 1", b"x" * 65001 + b" 1 1",
            key + b" 2026-02-30T00:00:00Z 1", key + b" nan 1",
            key + b" 2026-02-03T23:58:60Z 1", key + b" 2026-02-03T23:59:60Z 1",
            key + b" 2600-01-01T00:00:00Z 1",
            key + b" " + time + b" x", key + b" " + time])


class Delimited(Columns):
    """time,key,ttl,noise; columns may be empty."""
    key, time, ttl = "2", "1", "3"

    def __init__(self, rng):
        self.mark = rng.choice([b",", b";", b"\t", b"|"])
        text = "\\t" if self.mark == b"\t" else self.mark.decode()
        self.options = [rng.choice(["-d", "--delimiter"]), text]

    def keys(self, rng, n):
        return [b""] + [b"a key %d" % i for i in range(1, n)]

    def line(self, rng, key, time, ttl):
        return self.mark.join([time, key, ttl, noise(rng)])

    def bad(self, rng, key, time, ttl):
        return self.mark.join(rng.choice([
            [b""], [b"x"], [time], [b"", key, ttl], [b" " + time, key, ttl],
            [b"1.2.3", key, ttl], [time, b"x" * 65001, ttl],
            [time, key, b"-"], [time, key]]))


class Regex(Columns):
    key, time, ttl = "/id=([a-z0-9]*)/", "/at <([^>]*)>/", "/ttl:([^;]*)/"

    def __init__(self, rng):
        if rng.random() < 0.3:
            self.key = r"/\bk[0-9]+/"
            self.pre = b""
        else:
            self.pre = b"id="

    def keys(self, rng, n):
        return [b"k%d" % i for i in range(n)]

    def line(self, rng, key, time, ttl):
        some = [self.pre + key, b"at <%s>" % time, b"ttl:%s;" % ttl]
        rng.shuffle(some)
        return b" ".join(some) + b" " + noise(rng, b"=k\0")

    def bad(self, rng, key, time, ttl):
        return rng.choice([b"", b"id", self.pre + key, b"at <%s>" % time,
                           self.pre + key + b" at <>",
                           self.pre + key + b" at <%s> ttl:;" % time])


class Json(Columns):
    key, ttl = ".user.id", ".ttl"
    json = True

    def __init__(self, rng):
        self.unit = rng.choice(["", "_ms", "_us", "_ns"])
        self.time = ".ts" + self.unit
        self.name = b"ts" + self.unit.encode()
        if rng.random() < 0.3:
            self.key = rng.choice(['.user["id"]', '.user."id"',
                                   '.["user"].id', '."us\\u0065r".id'])
        self.options = rng.choice([[], ["--json"]])

    def keys(self, rng, n):
        odd = [b'""', b"17", b"1.50", b"true", b"[1, 2]", b'{"a": "}"}',
               b'"\xff\xc3(raw"', b'"\\u00e9\\n"', b'"\xc3\xa9\\n"',
               b'"\\ud83d\\ude00"', b'"\\ud800x"', b'"\\ud801x"', b'"\\ufffdx"', b'"\\"\\\\"', b'"\\u0000"',
               b'"\\u001f\\b"', b'"\\udc00\\ud800"', b'"17"']
        return [rng.choice(odd) if rng.random() < 0.2 else b'"k%d"' % i
                for i in range(n)]

    def line(self, rng, key, time, ttl):
        gap = rng.choice([b"", b"", b" ", b" \t"])
        time = self.value(rng, time)
        ttl = self.value(rng, ttl)
        members = [b'"user":%s{"id":%s,"x":[{"id":0}]%s}' % (gap, key, gap),
                   b'"%s":%s' % (self.name, time), b'"ttl"%s:%s' % (gap, ttl),
                   b'"id":"other"', b'"note":"%s"' % self.noise(rng)]
        rng.shuffle(members)
        if rng.random() < 0.05:  # of equal members the last counts
            members.insert(0, b'"user":{"id":"first"}')
        return b"{" + gap + (b"," + gap).join(members) + b"}"

    def value(self, rng, text):
        plain = re.fullmatch(rb"(0|[1-9]\d*)(\.\d+)?(e-\d+)?", text)
        return text if plain and rng.random() < 0.9 else b'"' + text + b'"'

    def noise(self, rng):
        data = noise(rng, bytes(range(32)) + b'"\\')
        return data + rng.choice([b"", b"", b"\\n", b"\\u12aB", b"}"])

    def bad(self, rng, key, time, ttl):
        name = self.name
        return rng.choice([
            b"", b"x", b"{}", b"[]", b"17", b'{"user":{"id":%s}}' % key,
            b'{"user":{"id":null},"%s":%s,"ttl":1}' % (name, b"1"),
            b'{"user":{"id":1},"%s":null,"ttl":1}' % name,
            b'{"user":{"id":1},"%s":-1,"ttl":1}' % name,
            b'{"user":{"id":1},"%s":true,"ttl":1}' % name,
            b'{"user":[1],"%s":1,"ttl":1}' % name,
            b'{"user":{"id":1},"%s":1,"ttl":1,}' % name,
            b'{"user":{"id":1},"%s":01,"ttl":1}' % name,
            b'{"user":{"id":1},"%s":1,"ttl":1} x' % name,
            b'{"user":{"id":1},"%s":1,"ttl":1' % name,
            b'{"user":{"id":NaN},"%s":1,"ttl":1}' % name,
            b'{"user":{"id":"\t"},"%s":1,"ttl":1}' % name,
            b'{"user":{"id":"\\x"},"%s":1,"ttl":1}' % name])


class Traffic:
    """Times and keys of lines. fine: no two timers are due at the same time, except
    where boundaries are requested."""

    def __init__(self, rng, keys, ttl, fine, boundaries):
        self.rng = rng
        self.keys = keys
        self.ttl = ttl
        self.boundaries = boundaries
        self.grain = 1 if fine else rng.choice([1, 10**6, ttl // 10 or 1])
        self.equal = not fine
        self.now = rng.choice([0, 1_700_000_000]) * SECOND
        if fine:
            self.now += rng.randrange(SECOND)
        self.last = {}
        load = keys * rng.choice([0.2, 1, 5])
        self.step = max(1, int(ttl / load))
        self.mode = 1

    def next(self):
        """A time, and the number of a key."""
        rng = self.rng
        if rng.random() < 0.02:
            self.mode = rng.choice([0.01, 1, 1, 1, 20])
        key = rng.randrange(self.keys)
        if rng.random() < 0.5:
            key = int(key * rng.random() ** 3)
        bound = self.last.get(key, -1) + rng.choice(self.boundaries)
        if self.now <= bound <= self.now + self.ttl and rng.random() < 0.2:
            self.now = bound
        elif self.equal and rng.random() < 0.2:
            pass
        else:
            step = rng.expovariate(1) * self.step * self.mode
            grains = int(step) // self.grain
            self.now += max(grains, 0 if self.equal else 1) * self.grain
        self.last[key] = self.now
        return self.now, key


class Case:
    """A command and its inputs: lists of (time or None, line with its end)."""

    def __init__(self):
        self.argv = []
        self.inputs = []
        self.stdin = False
        self.expect = None

    def data(self):
        return [b"".join(raw for _, raw in lines) for lines in self.inputs]


# Options.

def text_of(ns):
    """A duration, in one of its notations."""
    for unit, one in (("h", 3600 * SECOND), ("m", 60 * SECOND), ("s", SECOND),
                      ("ms", 10**6), ("us", 1000)):
        if ns % one == 0:
            return f"{ns // one}{unit}"
    return f"{ns}ns"


def pick_key(rng, verb, shape):
    if verb == "delay":
        return []
    roll = rng.random()
    if verb != "join" and roll < 0.1:
        return []
    if roll < 0.12:
        return ["-k", "0"]
    return [rng.choice(["-k", "--key"]), shape.key]


def pick_limit(rng, verb, keys, only=None):
    options = []
    lines = verb in ("delay", "debounce", "throttle", "join")
    if verb == "delay" or lines and rng.random() < 0.5:
        options = ["--max-lines", str(rng.choice([1, 2, 7, 100]))]
    else:
        options = ["--max-keys", str(rng.choice([1, 2, keys // 2 + 1]))]
    how = rng.choice(only or [None, None, "evict", "pass", "fail"])
    return options + (["--overflow", how] if how else [])


def pick_verb(rng, verb, ttl, n):
    """DURATION or RATE and the options of the verb; the durations that matter; and
    whether timers have several lengths."""
    if verb == "delay":
        if rng.random() < 0.4:
            return None, [], [ttl], True
        return text_of(ttl), [], [ttl], False
    if verb == "debounce":
        options = []
        if rng.random() < 0.8:
            options = ["--emit", rng.choice(["last", "first", "all", "count"])]
        if rng.random() < 0.4:
            cap = ttl * rng.choice([1, 2, 5]) + rng.choice([0, 1, 777])
            options += ["--max-wait", text_of(cap)]
            return text_of(ttl), options, [ttl, cap], True
        return text_of(ttl), options, [ttl], False
    if verb == "throttle":
        tokens = rng.choice([1, 1, 2, 3, 7, 10, 1000])
        options = []
        if rng.random() < 0.5:
            options = ["--burst", str(rng.choice([1, 2, 5, 50]))]
        options += rng.choice([[], [], ["--drop"],
                               ["--queue", str(rng.choice([0, 1, 3, 20]))]])
        rate = f"{tokens}/{text_of(ttl)}".replace("/1s", rng.choice(
            ["/1s", "/s"]))
        return rate, options, [ttl, -(-ttl // tokens)], True
    if verb == "absent":
        return text_of(ttl), ["--repeat"] * (rng.random() < 0.4), [ttl], False
    if verb == "session":
        options = []
        if rng.random() < 0.3:
            options = ["--max-events", str(rng.choice([1, 2, 3, 10]))]
        if rng.random() < 0.4:
            cap = ttl * rng.choice([1, 2, 5]) + rng.choice([0, 1, 777])
            options += ["--max-duration", text_of(cap)]
            return text_of(ttl), options, [ttl, cap], True
        return text_of(ttl), options, [ttl], False
    return text_of(ttl), [], [ttl], False


def make(rng, verb, n, kind):
    """A case; kind is "verb", "lateness" or "state"."""
    case = Case()
    shape = rng.choice([Columns, Columns, Delimited, Regex, Json, Json])(rng)
    ttl = rng.choice([SECOND, 5 * SECOND // 2, 10 * SECOND, SECOND // 4,
                      5400 * SECOND, 1000, 3])
    keys = rng.choice([1, 3, 50, 3000, n])
    operand, options, boundaries, mixed = pick_verb(rng, verb, ttl, n)
    key = pick_key(rng, verb, shape)
    if "--repeat" in options:  # not so many that they dominate
        keys = min(keys, 50)
        n = min(n, 5000)
        if key[1:] == ["0"]:
            key = []
    options += key + shape.options
    unit, form = pick_time(rng, shape, options, kind)
    if kind == "verb" and not shape.json and rng.random() < 0.03:
        options.append("--json")  # then all lines are bad
    if operand is None:
        options += ["--ttl-field", shape.ttl]
    fine = False
    if kind != "lateness" and rng.random() < 0.3 or rng.random() < 0.1:
        options += pick_limit(rng, verb, keys,
                              None if kind == "verb" else ["evict", "pass"])
        fine = mixed  # so that it is clear which of two makes room
    late = pick_disorder(rng, ttl, options, kind, fine)
    if rng.random() < 0.6:
        options += ["--on-eof", rng.choice(["drain", "flush", "flush", "drop"])]
    if kind == "verb" and verb != "join" and rng.random() < 0.05:
        options.append("--strict")
    make_lines(rng, case, shape, n, unit, form, late, kind,
               2 if verb == "join" else 1,
               Traffic(rng, keys, ttl, fine, boundaries))
    if verb == "absent" and key and rng.random() < 0.3:
        pool = shape.keys(rng, keys)
        some = rng.sample(pool, min(len(pool), 20)) + [b"ghost", b"never\xff"]
        case.expect = [reference.json_find(k.decode("latin-1"), [])
                       if k[:1] == b'"' else k for k in some]
        case.expect = [k for k in case.expect if b"\n" not in k]
        if "--max-keys" in options and kind == "state":
            case.expect = None  # each run would watch the displaced keys
        elif "--max-keys" in options:  # more would be refused
            options[options.index("--max-keys") + 1] = str(len(some) + 2)
    case.argv = ([operand] if operand else []) + options
    case.verb = verb
    case.stdin = verb != "join" and rng.random() < 0.6
    if verb != "join" and not case.stdin and kind == "verb":
        whole = case.inputs.pop()
        at = rng.randrange(len(whole) + 1)
        case.inputs = [whole]
        if rng.random() < 0.5:
            case.inputs = [whole[:at], whole[at:]]
    return case


def make_expect(rng):
    """A case of absent --expect: few lines and keys, times that are often equal, or
    one DURATION apart."""
    case = Case()
    case.verb = "absent"
    ttl = rng.choice([100, 1000, 3]) * 10**6
    grain = rng.choice([ttl, ttl // 2, ttl // 10, ttl // 10])
    keys = [b"a", b"b", b"c", b"d"][:rng.randint(1, 4)]
    lateness = rng.choice([0, grain, ttl // 2, ttl, 3 * ttl, 5 * ttl])
    base = rng.choice([0, 1, 1_700_000_000]) * SECOND
    lines = []
    for _ in range(rng.randint(0, 20)):
        base += rng.choice([0, 0, 1, 1, 2, 10, 25]) * grain
        back = rng.choice([0, 0, 1, 3, 10, 30]) * grain
        if rng.random() < 0.8:
            back = min(back, lateness)
        ns = max(0, base - back)
        lines.append((ns, b"%s %s\n" % (reference.decimal(ns).encode(),
                                       rng.choice(keys))))
    if rng.random() < 0.1:
        lines.insert(0, (None, b"bad\n"))
    case.inputs = [lines]
    case.stdin = True
    case.expect = rng.sample(keys + [b"x", b"y"], rng.randint(1, 3))
    case.argv = [text_of(ttl), "-k", "2", "--time-field", "1"]
    if lateness:
        case.argv += ["--lateness", text_of(lateness)]
    if rng.random() < 0.5:
        case.argv.append("--repeat")
    if rng.random() < 0.1:
        case.argv.append("--exit-on-absent")
    case.argv += rng.choice([[], ["--on-eof", "drain"], ["--on-eof", "flush"],
                             ["--on-eof", "drop"]])
    return case


def pick_time(rng, shape, options, kind):
    options += ["--time-field", shape.time]
    if shape.json and shape.unit and rng.random() < 0.7:
        unit = shape.unit[1:]
    else:
        unit = rng.choice(["s", "s", "ms", "us", "ns"])
        plain = "s" if not shape.json or not shape.unit else None
        if unit != plain or rng.random() < 0.2:
            options += ["--time-unit", unit]
    form = rng.choice(["number"] * 4 + ["rfc3339"]
                      + ["mixed"] * (kind == "verb"))
    return unit, form


def pick_disorder(rng, ttl, options, kind, fine):
    """How often a line is late, and by how much."""
    if kind == "lateness" or kind == "verb" and rng.random() < 0.2:
        by = rng.choice([1, ttl // 10 + 1, ttl, 3 * ttl])
        options += ["--lateness", text_of(by)]
        if kind == "lateness":
            return 1, by
        return rng.choice([(0.3, by), (0.5, by + by // 10 + 1)])
    often = rng.choice([0, 0.001, 0.02]) if fine else rng.choice([0, 0.02, 0.3])
    return often, 2 * ttl


def make_lines(rng, case, shape, n, unit, form, late, kind, sides, traffic):
    names = shape.keys(rng, traffic.keys)
    bad = 0 if kind == "lateness" else rng.choice([0, 0, 0.01, 0.2])
    crlf = rng.choice([0, 0, 1, 0.3])
    blank = not type(shape) is Columns
    inputs = [[] for _ in range(sides)]
    for _ in range(n):
        ns, key = traffic.next()
        side = rng.randrange(sides)
        come = ns
        if kind == "lateness":
            # Of kept lines with equal times, the left one is processed first. A line
            # whose time the clock has reached is not kept. So for a join each line is
            # read before the clock reaches its time.
            come = ns + rng.randrange(late[1] + (sides == 1))
            if sides == 2 and ns == 0:
                come = 0
        elif side == 0 and (sides == 1 or kind == "verb") \
                and rng.random() < late[0]:
            ns = max(0, ns - rng.randrange(late[1]))
        time = time_text(rng, ns, unit, form, blank).encode()
        ttl = rng.choice([b"0", b"1", b"2.5", b"1m", b"250ms"])
        if rng.random() < bad:
            raw = shape.bad(rng, names[key], time, ttl)
            ns = None
        else:
            raw = shape.line(rng, names[key], time, ttl)
        end = b"\r\n" if rng.random() < crlf else b"\n"
        inputs[side].append((come, ns, raw + end))
    for lines in inputs:
        if kind == "lateness":
            lines.sort(key=lambda line: line[0])
        if lines and rng.random() < 0.3:
            lines[-1] = lines[-1][:2] + (lines[-1][2][:-1].rstrip(b"\r"),)
        case.inputs.append([line[1:] for line in lines])


# Running and comparing.

class Tool:
    def __init__(self, lawn, folder):
        self.lawn = lawn
        self.folder = folder
        self.runs = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def command(self, case, data, more=()):
        """The arguments, and the standard input."""
        argv = [case.verb] + case.argv + list(more)
        if case.expect is not None:
            expect = b"".join(key + b"\n" for key in case.expect)
            argv += ["--expect", self.put("expect", expect)]
        if case.stdin:
            return argv, data[0]
        return argv + [self.put(f"in{i}", d) for i, d in enumerate(data)], b""

    def run(self, argv, stdin):
        self.runs += 1
        return subprocess.run([self.lawn] + argv + ["--stats"], input=stdin,
                              capture_output=True, timeout=600)


def parse_stderr(stderr, verb):
    """The counts, the numbers of bad lines, their total if it was printed, and the rest
    of stderr."""
    counts, bad, total, rest = "", [], None, []
    for line in stderr.decode("latin-1").splitlines():
        if line.startswith(f"lawn {verb}: in="):
            counts = line
        elif m := re.match(rf"lawn {verb}: (?:line |\S*/in\d:)(\d+): ", line):
            bad.append(int(m[1]))
        elif m := re.match(rf"lawn {verb}: (\d+) bad lines", line):
            total = int(m[1])
        else:
            rest.append(line)
    return counts, bad, total, rest


def first_difference(got, expected):
    got, expected = got.split(b"\n"), expected.split(b"\n")
    for i in range(max(len(got), len(expected))):
        a = got[i] if i < len(got) else None
        b = expected[i] if i < len(expected) else None
        if a != b:
            return f"line {i + 1} of the output\n  got      {a!r}\n" \
                f"  expected {b!r}"
    return None


def differs(what, got, expected):
    if got == expected:
        return None
    return f"{what}\n  got      {got!r}\n  expected {expected!r}"


def compare_verb(tool, case):
    """Returns None if they agree."""
    data = case.data()
    argv, stdin = tool.command(case, data)
    f, code = reference.run(argv, data)
    r = tool.run(argv, stdin)
    output = b"".join(line + b"\n" for line in f.out)
    counts, bad, total, rest = parse_stderr(r.stderr, case.verb)
    n = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", counts)}
    if f.stopped:  # the number of lines read is unspecified
        for name in ("in", "discarded", "dropped"):
            f.n[name] = n.get(name)
        if case.verb == "join":
            f.n["bad"] = n.get("bad")
    wrong = first_difference(r.stdout, output) \
        or differs("exit code", r.returncode, code) \
        or differs("counts", n, f.n)
    if wrong:
        return wrong + "\n  stderr   " + r.stderr.decode("latin-1")[:500]
    if n["in"] != n["out"] + n["dropped"] + n["held"]:
        return "lines are lost: " + counts
    if case.verb == "join":
        wrong = differs("reported bad lines", len(bad), min(10, n["bad"]))
    else:
        wrong = differs("reported bad lines", bad, f.bad_lines[:10])
    if n["bad"] > 10:
        wrong = wrong or differs("bad lines", total, n["bad"])
    if not f.stopped or n["bad"] <= 10:
        wrong = wrong or differs("bad lines", bool(total), n["bad"] > 10)
    if not f.stopped:
        wrong = wrong or differs("stderr", rest, reference.messages(f))
    return wrong


def compare_lateness(tool, case):
    argv, stdin = tool.command(case, case.data())
    shuffled = tool.run(argv, stdin)
    at = argv.index("--lateness")
    data = [b"".join(raw if raw.endswith(b"\n") else raw + b"\n"
                     for _, raw in sorted(lines, key=lambda line: line[0]))
            for lines in case.inputs]
    plain, stdin = tool.command(case, data)
    ordered = tool.run(plain[:at] + plain[at + 2:], stdin)
    counts = parse_stderr(ordered.stderr, case.verb)[0]
    if " late=0 " not in counts:
        return "a line is late: " + counts
    # If it is unspecified which timer makes room, any result is allowed.
    reference.run(plain[:at] + plain[at + 2:], data)
    return first_difference(shuffled.stdout, ordered.stdout) \
        or differs("stderr", shuffled.stderr, ordered.stderr) \
        or differs("exit code", shuffled.returncode, ordered.returncode)


def time_of(f, raw):
    """The time of a line; None if it is bad."""
    try:
        return f.parse(raw.rstrip(b"\n")).time
    except reference.Bad:
        return None


def cut(rng, case):
    """Splits the inputs into whole lines, at the same times."""
    cuts = rng.choice([1, 2, 3])
    if case.verb != "join":
        lines = [raw for _, raw in case.inputs[0]]
        at = sorted(rng.randrange(len(lines) + 1) for _ in range(cuts))
        at = [0] + at + [len(lines)]
        return [[b"".join(lines[a:b])] for a, b in zip(at, at[1:])]
    # Some lines that were made bad are good for a join.
    f = reference.Join(reference.options([case.verb] + case.argv))
    inputs = [[(time_of(f, raw), raw) for _, raw in lines]
              for lines in case.inputs]
    times = sorted(ns for lines in inputs for ns, _ in lines
                   if ns is not None) or [0]
    times = sorted(rng.choice(times) for _ in range(cuts))
    sides = []
    for lines in inputs:
        at = [0]
        for time in times:
            at.append(next((i for i, (ns, _) in enumerate(lines)
                            if ns is not None and ns >= time and i >= at[-1]),
                           len(lines)))
        at.append(len(lines))
        raw = [raw for _, raw in lines]
        sides.append([b"".join(raw[a:b]) for a, b in zip(at, at[1:])])
    return [list(piece) for piece in zip(*sides)]


def pick_durations(rng, case, count):
    """The DURATION of each run; None if all use that of the case."""
    if case.verb not in ("delay", "debounce") or rng.random() < 0.5 or \
            set(case.argv) & {"--ttl-field", "--max-keys", "--max-lines"}:
        return []
    ns = reference.length(case.argv[0])
    return [rng.choice([ns, 2 * ns, ns // 2 or 1, 3 * ns]) for _ in range(count)]


def compare_state(tool, case, rng):
    data = case.data()
    argv, _ = tool.command(case, data)
    pieces = cut(rng, case)
    durations = pick_durations(rng, case, len(pieces))
    if durations:
        data = [piece[0] for piece in pieces]
    f, _ = reference.run(argv, data, durations)
    expected = b"".join(line + b"\n" for line in f.out)
    state = tool.path("state")
    if os.path.exists(state):
        os.remove(state)
    got = b""
    held = 0
    sums = dict.fromkeys(reference.COUNTS, 0)
    for i, piece in enumerate(pieces):
        more = ["--state", state]
        if i < len(pieces) - 1:
            more += ["--on-eof", "save"]
        argv, stdin = tool.command(case, piece, more)
        if durations:
            argv[1] = text_of(durations[i])
        r = tool.run(argv, stdin)
        got += r.stdout
        n = {k: int(v) for k, v in re.findall(
            r"(\w+)=(\d+)", parse_stderr(r.stderr, case.verb)[0])}
        code = 3 if n and 0 < n["bad"] == n["in"] else 0
        if r.returncode != code or not n or n["resumed"] != held:
            return f"run {i + 1} of {len(pieces)}, exit code {r.returncode}, " \
                f"{held} held before: " + r.stderr.decode("latin-1")[-500:]
        held = n["held"]
        n["in"] -= n["resumed"]
        for name in sums:
            sums[name] += n[name]
    sums["held"], sums["keys"], sums["resumed"] = n["held"], n["keys"], 0
    return first_difference(got, expected) or differs("counts", sums, f.n)


def compare(tool, case, kind, seed):
    """Returns None, the difference, or "ambiguous"."""
    try:
        if kind == "verb":
            return compare_verb(tool, case)
        if kind == "lateness":
            return compare_lateness(tool, case)
        return compare_state(tool, case, random.Random(seed + "/cuts"))
    except reference.Ambiguous:
        return "ambiguous"


def shrink(tool, case, kind, seed, wrong):
    """Removes lines as long as the difference is the same, for a minute."""
    until = time.monotonic() + 60
    for lines in case.inputs * 2:
        size = len(lines) // 2
        while size:
            at = 0
            while at < len(lines) and time.monotonic() < until:
                gone = lines[at:at + size]
                del lines[at:at + size]
                still = compare(tool, case, kind, seed) or ""
                if still[:4] != wrong[:4]:
                    lines[at:at] = gone
                    at += size
            size //= 2


def report(tool, case, kind, seed, wrong):
    print(f"{kind} {seed}: {wrong}", flush=True)
    shrink(tool, case, kind, seed, wrong)
    wrong = compare(tool, case, kind, seed)
    print(f"cut down: {wrong}")
    argv, _ = tool.command(case, case.data())
    keep = os.path.dirname(tool.lawn)
    kept = []
    for i, data in enumerate(case.data()):
        kept.append(os.path.join(keep, f"filter-{seed.replace('/', '-')}.{i}"))
        with open(kept[-1], "wb") as file:
            file.write(data)
    argv = [a for a in argv if not a.startswith(tool.folder)]
    if case.expect is not None:
        print("expected keys:", case.expect)
    print("  lawn", " ".join(f"'{a}'" for a in argv + ["--stats"]), *kept,
          flush=True)


def trial(tool, kind, verb, seed, n):
    """Runs one case: returns 1 if it agrees, 0 if there was nothing to compare."""
    rng = random.Random(seed)
    case = make_expect(rng) if n == 0 else make(rng, verb, n, kind)
    wrong = compare(tool, case, kind, seed)
    if wrong == "ambiguous":
        return 0
    if wrong:
        report(tool, case, kind, seed, wrong)
        raise AssertionError(seed)
    return 1


def run_one(tool, name, seed, lines, only):
    """Runs all cases of a name. Returns how many agreed, and their number."""
    if name == "expect":
        cases = max(lines // 50, 1)
        return sum(trial(tool, "verb", "absent", f"{seed}/{name}/{i}", 0)
                   for i in range(1, cases + 1)
                   if only is None or only == i), cases
    kind = name if name in ("lateness", "state") else "verb"
    rng = random.Random(f"{seed}/{name}")
    verbs = list(reference.VERBS) if kind != "verb" else [name]
    left = lines
    index = good = 0
    while left > 0:
        # The last cases are the large ones, one for each verb.
        large = left <= lines // 2
        n = max(lines // 2 // len(verbs), 1) if large else rng.choice(SMALL)
        verb = verbs[index % len(verbs)]
        index += 1
        agreed = 1
        if only is None or only == index:
            agreed = trial(tool, kind, verb, f"{seed}/{name}/{index}", n)
        good += agreed
        if agreed or not large:
            left -= n
    return good, index


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawTextHelpFormatter)
    names = list(reference.VERBS) + ["lateness", "state", "expect"]
    build = os.path.join(os.path.dirname(__file__), "../../build/lawn")
    p.add_argument("--lawn", default=os.environ.get("LAWN", build))
    p.add_argument("--seed", default="1")
    p.add_argument("--lines", type=int, default=100_000)
    p.add_argument("--case", type=int, help="that case alone")
    p.add_argument("names", nargs="*", metavar="NAME")
    o = p.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(os.path.realpath(o.lawn), folder)
        for name in o.names or names:
            if name not in names:
                p.error(f"no such name: {name}")
            try:
                good, cases = run_one(tool, name, o.seed, o.lines, o.case)
                print(f"ok {name}: {good} of {cases} cases compared",
                      flush=True)
                passed += 1
            except AssertionError as e:
                print(f"not ok {name}: case {e}", flush=True)
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
