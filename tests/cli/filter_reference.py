#!/usr/bin/env python3
"""filter_reference.py VERB [OPTION]... [FILE]... - a simple reference implementation of
lawn's filters in event time; --time-field is required here.

It exists for comparison. Each verb is a few lines over a dict of keys and a heap of
deadlines, as simple as possible. If two timers are due at the same nanosecond and it is
unspecified which of them makes room, it raises Ambiguous, and there is nothing to
compare."""
import argparse
import calendar
import heapq
import json
import re
import sys
import time
from collections import deque
from decimal import Decimal
from fractions import Fraction
from math import ceil

SECOND = 10**9
NEVER = 2**64 - 1
KEY_MAX = 65_000
UNITS = {"s": 9, "ms": 6, "us": 3, "ns": 0}  # decimal digits of a unit in ns
LENGTHS = {"d": 86400 * SECOND, "h": 3600 * SECOND, "m": 60 * SECOND,
           "s": SECOND, "ms": 10**6, "us": 1000, "ns": 1}
COUNTS = ("in out dropped held made merged refused bad discarded late evicted "
          "keys resumed").split()


class Bad(Exception):
    """A line that is dropped, and why."""


class Ambiguous(Exception):
    """The result is unspecified from here on."""


class Stop(Exception):
    """The filter ends before the end of the input, with this exit code."""


# Times and lengths of time.

def number(text, unit):
    """A decimal number of units as nanoseconds, truncated; None if it is invalid."""
    if not re.fullmatch(rb"\d+(\.\d+)?([eE][+-]?\d+)?", text):
        return None
    value = Decimal(text.decode())
    if value.adjusted() > 30:
        return None
    return int(Fraction(value) * 10**UNITS[unit])


def duration(text):
    """1h30m as nanoseconds; None if it is invalid."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|us|ns|d|h|m|s)", text)
    if not parts or "".join(map("".join, parts)) != text:
        return None
    return sum(int(Fraction(n) * LENGTHS[unit]) for n, unit in parts)


def length(text, unit="s"):
    ns = number(text.encode(), unit)
    return duration(text) if ns is None else ns


RFC3339 = re.compile(rb"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)"
                     rb"(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))")


def calendar_time(text):
    m = RFC3339.fullmatch(text)
    if not m:
        return None
    year, month, day, hour, minute, second = map(int, m.groups()[:6])
    if not (1 <= month <= 12 and 1 <= day <= calendar.monthrange(
            max(year, 1), month)[1] and hour < 24 and minute < 60
            and second <= 60):
        return None
    seconds = calendar.timegm((year, month, day, hour, minute, second))
    if m[8]:
        off = (int(m[9]) * 60 + int(m[10])) * 60
        seconds -= off if m[8] == b"+" else -off
    if second == 60 and (seconds % 86400 or time.gmtime(seconds).tm_mday != 1):
        return None  # leap seconds are at the end of a month of UTC
    return seconds * SECOND + int(((m[7] or b"") + b"0" * 9)[:9])


def read_time(text, unit):
    """Returns nanoseconds, and whether the text was a number."""
    ns = number(text, unit)
    form = "number"
    if ns is None:
        ns, form = calendar_time(text), "rfc3339"
    if ns is None or not 0 <= ns < NEVER:
        raise Bad("no time")
    return ns, form


def decimal(ns, unit="s"):
    """Prints exactly, without trailing zeros of the fraction."""
    digits = UNITS[unit]
    if digits == 0:
        return str(ns)
    whole, rest = divmod(ns, 10**digits)
    return f"{whole}.{rest:0{digits}}".rstrip("0").rstrip(".")


def rfc3339(ns):
    whole, rest = divmod(ns, SECOND)
    text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
    return text + (f".{rest:09}".rstrip("0") if rest else "") + "Z"


# Fields of lines.

def refuse(constant):
    raise ValueError(constant)


DECODER = json.JSONDecoder(parse_constant=refuse)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
BLANKS = re.compile(r"[ \t\n\r]*")
PATH = re.compile(r'\.?\[(\d+)\]|\.?\[?"((?:[^"\\]|\\.)*)"\]?|\.([^.\["]+)')
SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
ESCAPE = re.compile(r"\\u([dD][89abAB]..)\\u([dD][c-fC-F]..)|\\u(....)|\\(.)",
                    re.S)


def unescape(raw):
    """Decodes a string from the text between the quotes; raw has a character per
    byte."""
    def one(m):
        if m[1]:
            char = chr(0x10000 + ((int(m[1], 16) & 0x3ff) << 10)
                       + (int(m[2], 16) & 0x3ff))
        elif m[3]:
            code = int(m[3], 16)
            char = chr(code)  # also a lone surrogate
        else:
            char = SHORT.get(m[4], m[4])
        return char.encode(errors="surrogatepass").decode("latin-1")
    return (ESCAPE.sub(one, raw) if "\\" in raw else raw).encode("latin-1")


def json_path(text):
    """The steps of a path: names as bytes, indices as numbers."""
    steps = []
    at = 0
    while text != "." and at < len(text):
        m = PATH.match(text, at)
        if m[1] is not None:
            steps.append(int(m[1]))
        else:
            name = m[3] if m[3] is not None else m[2]
            steps.append(unescape(name.encode().decode("latin-1")))
        at = m.end()
    return steps


def parts(text, at):
    """The members or elements of the value at text[at]: names or numbers, and the
    positions of their values. The text is known to be valid."""
    is_object = text[at] == "{"
    index = 0
    at = BLANKS.match(text, at + 1).end()
    while text[at] not in "}]":
        if is_object:
            m = STRING.match(text, at)
            at = BLANKS.match(text, m.end()).end() + 1  # the colon
            at = BLANKS.match(text, at).end()
            yield unescape(m[1]), at
        else:
            yield index, at
            index += 1
        at = BLANKS.match(text, DECODER.raw_decode(text, at)[1]).end()
        if text[at] == ",":
            at = BLANKS.match(text, at + 1).end()


def json_find(text, steps):
    at = BLANKS.match(text).end()
    for step in steps:
        found = None
        if text[at] == ("{" if isinstance(step, bytes) else "["):
            for name, where in parts(text, at):
                if name == step:
                    found = where
        if found is None:
            raise Bad("no such field")
        at = found
    value = text[at:DECODER.raw_decode(text, at)[1]]
    if value == "null":
        raise Bad("null")
    if value[0] == '"':
        return unescape(value[1:-1])
    return value.encode("latin-1")


class Field:
    def __init__(self, text, delimiter):
        self.text = text
        self.is_json = text.startswith(".")
        self.delimiter = delimiter
        if self.is_json:
            self.steps = json_path(text)
        elif text.startswith("/"):
            self.regex = re.compile(text[1:-1].encode())
        else:
            self.column = int(text)

    def find(self, line, text):
        """Returns the field's bytes; text is the line if it is JSON."""
        if self.is_json:
            return json_find(text, self.steps)
        if hasattr(self, "regex"):
            m = self.regex.search(line)
            if not m:
                raise Bad("no match")
            return m[1] if self.regex.groups else m[0]
        if self.column == 0:
            return line
        if self.delimiter is None:
            columns = re.findall(rb"[^ \t]+", line)
        else:
            columns = line.split(self.delimiter)
        if self.column > len(columns):
            raise Bad(f"no column {self.column}")
        return columns[self.column - 1]

    def unit(self):
        m = re.search(r"_(ms|us|ns)[\"\]]*$", self.text)
        return m[1] if m else "s"


# Output.

def json_string(key):
    """Encodes bytes as a JSON string. A lone surrogate becomes an escape, any other
    invalid UTF-8 byte U+FFFD."""
    text = ""
    at = 0
    while at < len(key):
        for size in range(1, 5):
            try:
                text += key[at:at + size].decode(errors="surrogatepass")
                break
            except UnicodeDecodeError:
                pass
        else:
            text += "\ufffd"
            size = 1
        at += size
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    text = re.sub(r"[\0-\x1f\ud800-\udfff]", lambda m: f"\\u{ord(m[0]):04x}", text)
    return '"' + text + '"'


def bare(line):
    """Without the carriage return."""
    return line[:-1] if line.endswith(b"\r") else line


# Timers.

class Timers:
    """Names and their deadlines. Names with one deadline are in the order of their
    starts; those of a higher rank come later."""

    def __init__(self):
        self.of = {}
        self.heap = []
        self.serial = 0

    def start(self, name, due, ttl=0, rank=0):
        self.serial += 1
        self.of[name] = self.serial
        heapq.heappush(self.heap, (due, rank, self.serial, name, ttl))

    def stop(self, name):
        self.of.pop(name, None)

    def __bool__(self):
        return bool(self.of)

    def tidy(self):
        while self.heap and self.of.get(self.heap[0][3]) != self.heap[0][2]:
            heapq.heappop(self.heap)

    def next(self):
        """The earliest deadline, or None."""
        self.tidy()
        return self.heap[0][0] if self.heap else None

    def pop(self):
        self.tidy()
        due, _, _, name, _ = heapq.heappop(self.heap)
        del self.of[name]
        return due, name

    def evict_oldest(self):
        """Removes the timer started first, to make room."""
        name = next(iter(self.of))
        del self.of[name]
        return None, name

    def evict(self):
        """Removes the first timer, to make room. Timers of one ttl are in order, others
        are not; a ttl of None differs from all others."""
        self.tidy()
        ttl = self.heap[0][4]
        due, name = self.pop()
        if self.next() == due and (ttl is None or self.heap[0][4] != ttl):
            raise Ambiguous(f"{name} and {self.heap[0][3]} at {due}")
        return due, name


class Line:
    def __init__(self, raw, key, time, side=0):
        self.raw = raw  # with its carriage return
        self.key = key
        self.time = time
        self.side = side
        self.ttl = None


class Filter:
    """Common to all verbs: the clock, the counts, the end."""
    drops = False  # whether --on-eof drop forgets the keys of pending lines
    def __init__(self, o):
        self.o = o
        self.out = []
        self.n = dict.fromkeys(COUNTS, 0)
        self.timers = Timers()
        self.clock = 0
        self.kept = []  # for --lateness
        self.serial = 0
        self.form = None
        self.bad_lines = []
        self.time_fields = [Field(o.time_field, o.delimiter)]
        self.key_fields = [self.key_field(o.key)]
        if o.verb == "join":
            self.time_fields.append(Field(o.right_time_field or o.time_field,
                                          o.delimiter))
            self.key_fields.append(self.key_field(o.right_key or o.key))
        self.ttl_field = o.ttl_field and Field(o.ttl_field, o.delimiter)
        fields = self.time_fields + self.key_fields + [self.ttl_field]
        self.json = o.json or any(f and f.is_json for f in fields)

    def key_field(self, text):
        return text and Field(text, self.o.delimiter)

    # Lines in.

    def parse(self, raw, side=0):
        line = bare(raw)
        text = None
        if self.json:
            text = line.decode("latin-1")
            try:
                DECODER.decode(text)
            except (ValueError, RecursionError):
                raise Bad("not JSON")
        key = b""
        if self.key_fields[side]:
            key = self.key_fields[side].find(line, text)
            if len(key) > KEY_MAX:
                raise Bad("key too long")
        field = self.time_fields[side]
        ns, form = read_time(field.find(line, text),
                             self.o.time_unit or field.unit())
        parsed = Line(raw, key, ns, side)
        if self.ttl_field:
            ttl = self.ttl_field.find(line, text)
            unit = self.o.ttl_unit or self.ttl_field.unit()
            parsed.ttl = number(ttl, unit)
            if parsed.ttl is None:
                parsed.ttl = duration(ttl.decode("latin-1"))
            if parsed.ttl is None:
                raise Bad("no TTL")
        if self.form is None:
            self.form = form
        return parsed

    def read(self, number, raw, side=0):
        """Parses a line; None if it is bad, which is counted."""
        self.n["in"] += 1
        try:
            return self.parse(raw, side)
        except Bad:
            self.n["bad"] += 1
            self.bad_lines.append(number)
            if self.o.strict:
                raise Stop(3)
            return None

    def take(self, line):
        newest = line.time
        late = line.time < self.clock
        if late:
            line.time = self.clock
        self.serial += 1
        heapq.heappush(self.kept, (line.time, line.side, self.serial, line))
        self.clock = max(self.clock, newest - self.o.lateness)
        self.treat(self.clock)
        self.n["late"] += late  # unless the line was put back
        self.advance(self.clock)

    def treat(self, now):
        while self.kept and self.kept[0][0] <= now:
            self.advance(self.kept[0][0])  # which may end the run
            self.line(heapq.heappop(self.kept)[3])

    def advance(self, now):
        due = self.timers.next()
        while due is not None and due <= now:
            self.fire(*self.timers.pop())
            due = self.timers.next()

    # Lines out.

    def write(self, line):
        self.n["out"] += 1
        self.out.append(line.raw)

    def make(self, line):
        self.n["made"] += 1
        self.out.append(line)

    def shown(self, ns):
        """A time, for text and JSON output alike except for the quotes."""
        if self.form == "number":
            return decimal(ns, self.o.time_unit or self.time_fields[0].unit())
        return f'"{rfc3339(ns)}"' if self.json else rfc3339(ns)

    # The end.

    def end(self):
        while self.kept:
            self.clock = max(self.clock, self.kept[0][0])
            self.treat(self.clock)
        how = self.o.on_eof
        if how == "drain":
            while self.pending():
                self.fire(*self.timers.pop(), True)
        elif how == "flush":
            self.flush()
        elif how == "drop":
            self.n["discarded"] += self.held()

    def flush(self):
        while self.timers:
            self.fire(*self.timers.pop())

    def pending(self):
        return bool(self.timers)

    def overflow(self):
        """Applies a limit. Returns true if the line is to pass."""
        if self.o.overflow == "fail":
            self.n["discarded"] += 1
            raise Stop(3)
        return self.o.overflow == "pass"

    def finish(self, code=0):
        n = self.n
        if code != 0:
            n["discarded"] += self.held() + len(self.kept)
        elif self.o.on_eof == "save":
            n["held"] = self.held()
        n["dropped"] = n["merged"] + n["refused"] + n["bad"] + n["discarded"]
        # A dropped key is no longer known; throttle keeps its tokens.
        dropped = code == 0 and self.o.on_eof == "drop" and self.drops
        n["keys"] = 0 if dropped else self.keys()
        if self.o.verb != "join" or code == 0:
            assert n["in"] == n["out"] + n["dropped"] + n["held"], n


class Delay(Filter):
    """Names of timers are the lines themselves."""

    def line(self, line):
        ttl = self.o.duration if line.ttl is None else line.ttl
        if ttl == 0:
            return self.write(line)
        if self.held() == self.o.max_lines:
            if self.overflow():
                return self.write(line)
            self.n["evicted"] += 1
            self.fire(*self.timers.evict_oldest())
        self.timers.start(line, line.time + ttl, ttl)

    def fire(self, _, line, end=False):
        self.write(line)

    def held(self):
        return len(self.timers.of)

    def keys(self):
        return 0


class Debounce(Filter):
    """Names of timers are keys; a burst is the list of its lines."""
    drops = True

    def __init__(self, o):
        super().__init__(o)
        self.bursts = {}
        self.lines = 0  # pending, if all lines are kept

    def line(self, line):
        o = self.o
        burst = self.bursts.get(line.key)
        over = burst is None and len(self.bursts) == o.max_keys
        if o.emit == "all" or burst is None and o.emit != "count":
            over = over or self.held() == o.max_lines
        if over:
            if self.overflow():
                return self.emit([line])
            self.n["evicted"] += 1
            self.fire(*self.timers.evict())
        self.lines += 1
        burst = self.bursts.setdefault(line.key, [])
        burst.append(line)
        due, ttl = line.time + o.duration, 0
        if o.max_wait is not None and burst[0].time + o.max_wait <= due:
            due, ttl = burst[0].time + o.max_wait, None
        self.timers.start(line.key, due, ttl)

    def fire(self, _, key, end=False):
        burst = self.bursts.pop(key)
        self.lines -= len(burst)
        self.emit(burst)

    def emit(self, burst):
        emit = self.o.emit
        if emit == "all":
            for line in burst:
                self.write(line)
        elif emit == "count":
            self.n["merged"] += len(burst)
            self.count(burst)
        else:
            self.n["merged"] += len(burst) - 1
            self.write(burst[0 if emit == "first" else -1])

    def count(self, burst):
        last = bare(burst[-1].raw)
        if self.json:
            self.make(b'{"count":%d,"key":%s,"first":%s,"last":%s,'
                      b'"line":%s}' % (
                len(burst), json_string(burst[0].key).encode(),
                self.shown(burst[0].time).encode(),
                self.shown(burst[-1].time).encode(), last))
        else:
            self.make(b"%d\t%s" % (len(burst), last))

    def held(self):
        """Pending lines: none for counted bursts."""
        return {"all": self.lines, "count": 0}.get(self.o.emit,
                                                   len(self.bursts))

    def finish(self, code=0):
        if self.o.emit != "all":  # lines that their burst has absorbed
            self.n["merged"] += self.lines - self.held()
        super().finish(code)

    def keys(self):
        return len(self.bursts)


class Throttle(Filter):
    """Names of timers are waiting lines; those in `known` are keys. A key is known until
    an empty bucket would be full again, counted from the last line that got a token, and
    at least until the key's bucket is full."""

    def __init__(self, o):
        super().__init__(o)
        self.tat = {}
        self.known = Timers()

    def line(self, line):
        o = self.o
        now, key = line.time, line.key
        if key not in self.tat and len(self.tat) == o.max_keys:
            if self.overflow():
                return self.write(line)
            self.n["evicted"] += 1
            del self.tat[self.known.evict()[1]]  # waiting lines keep waiting
        tat = max(self.tat.get(key, 0), now) + o.token
        leaves = max(Fraction(now), tat - o.burst * o.token)
        if o.queue is not None and leaves - now > o.queue * o.token:
            self.n["refused"] += 1
            return
        leaves = ceil(leaves)
        if leaves == now:
            self.write(line)
        elif self.held() == o.max_lines and self.overflow():
            return self.write(line)
        else:
            if self.held() == o.max_lines:
                self.n["evicted"] += 1
                self.fire(*self.timers.evict_oldest())
            self.timers.start(line, leaves, None)
        self.tat[key] = tat
        fills = ceil(o.burst * o.token)
        self.known.start(key, now + fills, fills)

    def advance(self, now):
        super().advance(now)
        due = self.known.next()
        while due is not None and due <= now:
            key = self.known.pop()[1]
            if ceil(self.tat[key]) > due:
                self.known.start(key, ceil(self.tat[key]), None)
            else:
                del self.tat[key]
            due = self.known.next()

    def fire(self, due, line, end=False):
        self.write(line)
        if end:
            self.advance(due)

    def held(self):
        return len(self.timers.of)

    def keys(self):
        return len(self.tat)


class Dedupe(Filter):
    """Names of timers are keys."""

    def key_field(self, text):
        return super().key_field(text or "0")

    def line(self, line):
        if line.key in self.timers.of:
            self.n["merged"] += 1
            return
        if len(self.timers.of) == self.o.max_keys:
            if self.overflow():
                return self.write(line)
            self.n["evicted"] += 1
            self.timers.evict()
        self.write(line)
        self.timers.start(line.key, line.time + self.o.duration)

    def fire(self, *_):
        pass

    def pending(self):
        return False

    def flush(self):
        pass

    def held(self):
        return 0

    def keys(self):
        return len(self.timers.of)


class Watch:
    def __init__(self, last, since):
        self.last = last  # None: never
        self.since = since  # the silence counts from here
        self.reports = 0


class Absent(Filter):
    """Names of timers are keys; an absent key has a timer if it repeats. The dict has
    the keys in the order of their last lines, so the first is forgotten first: absent
    keys have been silent for longer."""

    def __init__(self, o):
        super().__init__(o)
        self.watched = {}
        self.begun = False

    def line(self, line):
        now, key, o = line.time, line.key, self.o
        if not self.begun:
            self.begun = True
            for expected in o.expect:
                if expected not in self.watched:
                    self.watched[expected] = Watch(None, now)
                    self.timers.start(expected, now + o.duration)
        watch = self.watched.pop(key, None)
        if watch is None and len(self.watched) == o.max_keys:
            if self.overflow():
                self.n["refused"] += 1
                return
            self.n["evicted"] += 1
            if self.o.repeat:
                raise Ambiguous("the oldest of those that repeat")
            oldest = next(iter(self.watched))
            del self.watched[oldest]
            self.timers.stop(oldest)
        self.n["merged"] += 1
        if watch and watch.reports:
            self.report("back", key, watch, now - watch.since)
        self.watched[key] = Watch(now, now)
        self.timers.start(key, now + o.duration)

    def report(self, event, key, watch, silent):
        last = "never" if watch.last is None else self.shown(watch.last)
        if self.json:
            last = "null" if watch.last is None else last
            self.make(b'{"event":"%s","key":%s,"last":%s,"silent":%s}' % (
                event.encode(), json_string(key).encode(), last.encode(),
                decimal(silent).encode()))
        else:
            self.make(b"%s\t%s\t%s\t%s" % (event.encode(), key, last.encode(),
                                           decimal(silent).encode()))

    def fire(self, due, key, end=False):
        watch = self.watched[key]
        if end and watch.reports:
            return
        watch.reports += 1
        self.report("absent", key, watch, watch.reports * self.o.duration)
        if self.o.repeat and not end:
            self.timers.start(key, due + self.o.duration, rank=1)
        if self.o.exit_on_absent:
            raise Stop(1)

    def flush(self):
        pass

    def held(self):
        return 0

    def keys(self):
        return len(self.watched)


class Session(Filter):
    """Names of timers are keys; a session is [events, first, last]."""
    drops = True

    def __init__(self, o):
        super().__init__(o)
        self.sessions = {}

    def line(self, line):
        now, key, o = line.time, line.key, self.o
        if key not in self.sessions and len(self.sessions) == o.max_keys:
            if self.overflow():
                self.n["refused"] += 1
                return
            self.n["evicted"] += 1
            self.summary(self.timers.evict()[1], "evicted")
        self.n["merged"] += 1
        session = self.sessions.setdefault(key, [0, now, now])
        session[0] += 1
        session[2] = now
        if session[0] == o.max_events:
            self.timers.stop(key)
            return self.summary(key, "max-events")
        due, ttl = now + o.duration, 0
        if o.max_duration is not None and session[1] + o.max_duration <= due:
            due, ttl = session[1] + o.max_duration, None
        self.timers.start(key, due, ttl)

    def fire(self, due, key, end=False):
        gap = due == self.sessions[key][2] + self.o.duration
        self.summary(key, "gap" if gap else "max-duration")

    def flush(self):
        while self.timers:
            self.summary(self.timers.pop()[1], "eof")

    def summary(self, key, end):
        events, first, last = self.sessions.pop(key)
        texts = (self.shown(first), self.shown(last), decimal(last - first),
                 end)
        texts = tuple(t.encode() for t in texts)
        if self.json:
            self.make(b'{"key":%s,"events":%d,"first":%s,"last":%s,'
                      b'"duration":%s,"end":"%s"}'
                      % ((json_string(key).encode(), events) + texts))
        else:
            self.make(b"%s\t%d\t%s\t%s\t%s\t%s" % ((key, events) + texts))

    def held(self):
        return 0

    def keys(self):
        return len(self.sessions)


class Join(Filter):
    """Names of timers are lines; a key's waiting lines are all of one side."""
    drops = True

    def __init__(self, o):
        super().__init__(o)
        self.waiting = {}

    def line(self, line):
        others = self.waiting.get(line.key)
        if others and others[0].side != line.side:
            other = others.popleft()
            if not others:
                del self.waiting[line.key]
            self.timers.stop(other)
            self.n["out"] += 2
            return self.marked("both", line.key,
                               *sorted((line, other), key=lambda x: x.side))
        if others is None and len(self.waiting) == self.o.max_keys:
            if self.overflow():
                return self.unpaired(line)
            self.n["evicted"] += 1
            _, first = self.timers.evict()
            for one in self.waiting.pop(first.key):
                self.timers.stop(one)
                self.unpaired(one)
        elif self.held() == self.o.max_lines:
            if self.overflow():
                return self.unpaired(line)
            self.n["evicted"] += 1
            self.fire(*self.timers.evict())
        self.waiting.setdefault(line.key, deque()).append(line)
        self.timers.start(line, line.time + self.o.duration)

    def fire(self, _, line, end=False):
        self.waiting[line.key].remove(line)
        if not self.waiting[line.key]:
            del self.waiting[line.key]
        self.unpaired(line)

    def unpaired(self, line):
        self.n["out"] += 1
        if line.side == 0:
            self.marked("left", line.key, line, None)
        else:
            self.marked("right", line.key, None, line)

    def marked(self, word, key, left, right):
        lines = [bare(side.raw) for side in (left, right) if side]
        if not self.json:
            return self.make(b"\t".join([word.encode()] + lines))
        self.make(b'{"join":"%s","key":%s,"left":%s,"right":%s}' % (
            word.encode(), json_string(key).encode(),
            lines[0] if left else b"null", lines[-1] if right else b"null"))

    def held(self):
        return len(self.timers.of)

    def keys(self):
        return len(self.waiting)


VERBS = {"delay": Delay, "debounce": Debounce, "throttle": Throttle,
         "dedupe": Dedupe, "absent": Absent, "session": Session, "join": Join}


# Running one.

def options(argv):
    """Parses the options of a command that is known to be valid."""
    p = argparse.ArgumentParser()
    p.add_argument("verb", choices=VERBS)
    p.add_argument("operands", nargs="*")
    for name in ("-k --key", "-d --delimiter", "--time-field", "--ttl-field",
                 "--right-key", "--right-time-field", "--expect", "--state"):
        p.add_argument(*name.split())
    for name in ("--lateness", "--max-wait", "--max-duration"):
        p.add_argument(name, type=length)
    for name in ("--max-keys", "--max-lines", "--burst", "--queue",
                 "--max-events"):
        p.add_argument(name, type=int)
    for name in ("--json", "--strict", "--drop", "--repeat", "--stats",
                 "--exit-on-absent"):
        p.add_argument(name, action="store_true")
    p.add_argument("--time-unit", choices=UNITS)
    p.add_argument("--ttl-unit", choices=UNITS)
    p.add_argument("--on-eof", default="drain",
                   choices=["drain", "flush", "drop", "save"])
    p.add_argument("--overflow", default="evict",
                   choices=["evict", "pass", "fail"])
    p.add_argument("--emit", default="last",
                   choices=["last", "first", "all", "count"])
    o = p.parse_intermixed_args(argv)
    o.lateness = o.lateness or 0
    if o.delimiter is not None:
        o.delimiter = o.delimiter.replace("\\t", "\t").encode()
    if o.verb == "throttle":
        n, per = o.operands.pop(0).split("/")
        o.token = Fraction(length(per if per[0].isdigit() else "1" + per),
                           int(n))
        o.burst = o.burst or int(n)
        o.queue = 0 if o.drop else o.queue
    elif o.ttl_field is None:
        o.duration = length(o.operands.pop(0))
    if o.verb == "absent":
        o.expect = lines_of(open(o.expect, "rb").read()) if o.expect else []
        o.expect = [bare(line) for line in o.expect if bare(line)]
    return o


def lines_of(data):
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return lines


def merged(f, left, right):
    """The good lines of two inputs by their times, the left one first. Reads all of them
    first, so the counts are right only at the end."""
    sides = []
    for side, lines in enumerate((left, right)):
        read = [f.read(i, raw, side) for i, raw in enumerate(lines, 1)]
        sides.append(deque(line for line in read if line))
    while sides[0] or sides[1]:
        left, right = sides
        if not right or left and left[0].time <= right[0].time:
            yield left.popleft()
        else:
            yield right.popleft()


def run(argv, inputs, durations=()):
    """Runs a command on the bytes of its inputs, each with its own DURATION if given.
    Returns the filter and the exit code; f.out has the lines that it wrote, f.n the
    counts."""
    o = options(argv)
    f = VERBS[o.verb](o)
    code = 0
    try:
        if o.verb == "join":
            for line in merged(f, *map(lines_of, inputs)):
                f.take(line)
        else:
            for number, data in enumerate(inputs):
                if durations:
                    o.duration = durations[number]
                for i, raw in enumerate(lines_of(data), 1):
                    line = f.read(i, raw)
                    if line:
                        f.take(line)
        f.end()
    except Stop as stop:
        code = stop.args[0]
    f.finish(code)
    f.stopped = code != 0
    if code == 0 and 0 < f.n["bad"] == f.n["in"]:
        code = 3
    return f, code


def messages(f):
    """Returns the messages at the end, without the numbers of bad lines."""
    out = []
    n = f.n
    if 0 < n["bad"] == n["in"]:
        out.append(f"lawn {f.o.verb}: all lines were bad")
    if n["late"]:
        were = "line was" if n["late"] == 1 else "lines were"
        out.append(f"lawn {f.o.verb}: {n['late']} late {were} treated as "
                   "arriving at the current event time; see --lateness")
    return out


def stats(f):
    return f"lawn {f.o.verb}: " + " ".join(f"{k}={f.n[k]}" for k in COUNTS)


def main():
    o = options(sys.argv[1:])
    names = o.operands or ["-"]
    inputs = [sys.stdin.buffer.read() if name == "-" else
              open(name, "rb").read() for name in names]
    f, code = run(sys.argv[1:], inputs)
    sys.stdout.buffer.write(b"".join(line + b"\n" for line in f.out))
    sys.stdout.flush()
    if o.stats:
        print(stats(f), file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
