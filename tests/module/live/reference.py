"""reference.py - the specification of lawn.so's replies, in plain Python.

Reference.judge() gets a command, its reply, and the times just before it was
sent and just after the reply arrived. It computes from the arguments alone
which replies are allowed, raises Wrong for any other reply, and applies the
command to its own keys.

The millisecond at which a server read its clock is unknown. So a due time is a
range here, lo to hi, until a reply contains it; it must be within the range,
and is exact from then on. An event is certainly due if hi is before the command
was sent, and possibly due if lo is before the reply arrived. The order of taken
events is checked the same way: no event may overtake one that was certainly
due.

A lease is a token and an end, which is a range as well. The state of an event,
waiting, due, leased or dead, follows from these and the time; states() returns
all possible states between the two times of a call.

Deliveries to a sink are not reported. A caller that sends a command to a key
with a sink reads the stream in the same transaction, before the command, and
calls handed().

A command with several errors may get any of them.
"""
import re

import resp

TIME_MAX = 1 << 53
DUE_MAX = 1 << 54
TRIES_MAX = (1 << 32) - 1
OWNER_MAX = 255
UNKNOWN_TOKEN = -1
COUNT_MAX = (1 << 63) - 1
DAY = 86400000
PROMOTE_DUE = 1000  # newly due events that LEN, INFO and NEXT examine in a call
REMOVE_PROMOTE_MIN = 64  # and the least that POLL examines at a time
ID_MAX = 65535
WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"
SYNTAX = "ERR syntax error"
VALUE = re.compile(r"(?<=\d), not '[ -&(-~]{0,67}'$")
# With details. If several words are wrong, the one that is named is unspecified.
SYNTAX_ERROR = re.compile(
    SYNTAX + "( near '[ -&(-~]{0,67}'|: missing [a-z]+ of '[ -&(-~]{0,67}'|"
    ": missing (DELAY or AT|DELAY, AT or BY)|: (NX and XX|GT and LT) exclude each "
    "other|: TIMES requires EVERY|: count is not the number of pairs)"
)
LONG_KEY = "ERR key name is longer than 65535 bytes"
LONG_ID = "ERR id is longer than 65535 bytes"
SETTINGS = (
    b"maxlen", b"maxbytes", b"overflow", b"resolution-ms", b"tries", b"lease"
)  # fmt: skip
UNKNOWN = (
    "ERR unknown setting '%s'; "
    "known are maxlen, maxbytes, overflow, resolution-ms, tries and lease"
)
STATES = (b"WAITING", b"DUE", b"LEASED", b"DEAD")
SINKS = (b"STREAM", b"LIST", b"PUBLISH", b"SPUBLISH")


class Wrong(Exception):
    """A reply or contents that the specification does not allow."""


class Error(str):
    """An error reply, by its text."""


def plain(reply):
    """Converts a reply of resp.py to Python values: a simple string is a str.
    """
    if isinstance(reply, resp.Error):
        return Error(bytes(reply).decode("latin1"))
    if isinstance(reply, resp.Simple):
        return bytes(reply).decode("latin1")
    if isinstance(reply, resp.Bulk):
        return bytes(reply)
    if isinstance(reply, dict):
        return {plain(k): plain(v) for k, v in reply.items()}
    if isinstance(reply, list):
        return [plain(r) for r in reply]
    return reply


def want(condition, *what):
    if not condition:
        raise Wrong(*what)


class Event:
    """kind: determines the order among events due in the same millisecond:
    pushed by AT, or with a delay; None: unspecified."""

    __slots__ = (
        "payload", "lo", "hi", "kind", "turn", "period", "times", "missed",
        "made", "most", "token", "end_lo", "end_hi", "owner",
    )  # fmt: skip

    def __init__(self, payload, lo, hi, kind, turn):
        self.payload = payload
        self.lo = lo
        self.hi = hi
        self.kind = kind
        self.turn = turn
        self.period = 0
        self.times = 0
        self.missed = (0, 0)
        self.made = self.most = 0
        self.free()

    def free(self):
        """Ends the lease."""
        self.token = self.end_lo = self.end_hi = 0
        self.owner = b""

    def lease(self, token, low, high):
        self.token = token
        self.end_lo, self.end_hi = low, high

    def learn_end(self, end):
        want(
            self.end_lo <= end <= self.end_hi,
            "lease ends", end, "not in", self.end_lo, self.end_hi,
        )  # fmt: skip
        self.end_lo = self.end_hi = end

    @property
    def first(self):
        """The earliest time at which it is available; and the latest."""
        return self.end_lo if self.token else self.lo

    @property
    def last(self):
        return self.end_hi if self.token else self.hi

    def used_up(self):
        return 0 < self.most <= self.made

    def states(self, before, after):
        """Returns all possible states between the two times."""
        found = set()
        if self.token and self.end_hi > before:
            found.add(b"leased")
        if not self.token or self.end_lo <= after:
            if self.used_up():
                return found | {b"dead"}
            if self.first <= after:
                found.add(b"due")
            if not self.token and self.hi > before:
                found.add(b"waiting")
        return found

    def learn_due(self, due):
        want(self.lo <= due <= self.hi, "due", due, "not in", self.lo, self.hi)
        self.lo = self.hi = due

    def learn_missed(self, missed):
        low, high = self.missed
        want(low <= missed <= high, "missed", missed, "not in", low, high)
        self.missed = missed, missed


class Queue:
    def __init__(self):
        self.events = {}
        self.maxlen = 0
        self.maxbytes = 0
        self.drop = False
        self.resolution = 1
        self.paused = False
        self.tries = 0
        self.lease = 0
        self.sink = (b"none", b"", 0)
        self.dead_to = b""
        self.refused = False  # whether a sink may have been refused
        self.token = 0
        self.loaded()

    def idle(self):
        return not (
            self.events
            or self.tries
            or self.lease
            or self.sinks()
            or self.maxlen
            or self.maxbytes
            or self.drop
            or self.resolution > 1
            or self.paused
        )

    def sinks(self):
        return self.sink[0] != b"none" or self.dead_to

    def data(self):
        return sum(len(i) + len(e.payload) for i, e in self.events.items())

    def loaded(self):
        """Resets the counters, which are those of the process."""
        self.pushed = self.fired = self.dropped = 0
        self.leased = self.redelivered = self.acked = 0
        self.dead = self.handed = 0
        self.missed = (0, 0)

    def round(self, due):
        return -(-due // self.resolution) * self.resolution


def number(word, low, high):
    """Returns the integer of a word, as the server parses it; None if it is
    invalid."""
    if not re.fullmatch(rb"0|-?[1-9][0-9]{0,19}", word):
        return None
    value = int(word)
    return value if low <= value <= high else None


def crc16(data):
    """The hash of cluster slots."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


def text(word):
    """Returns a word as an error shows it: its beginning, printable characters
    only."""
    word = word[:64].split(b"\x00")[0]
    return "".join(chr(c) if 32 <= c < 127 else "?" for c in word)


MS = "number of milliseconds "
TIMES = {
    b"DELAY": (MS, 0, TIME_MAX),
    b"AT": ("Unix time in milliseconds ", 0, TIME_MAX),
    b"BY": (MS, -TIME_MAX, TIME_MAX),
    b"EVERY": (MS, 1, TIME_MAX),
    b"TIMES": ("", 1, TIME_MAX),
    b"JITTER": (MS, 0, TIME_MAX),
    b"COUNT": ("", 1, COUNT_MAX),
    b"BLOCK": (MS, 0, TIME_MAX),
    b"LEASE": (MS, 1, TIME_MAX),
    b"TRIES": ("", 0, TRIES_MAX),
}
LIMITS = {
    TIME_MAX: "2^53",
    -TIME_MAX: "-2^53",
    TRIES_MAX: "2^32 - 1",
    COUNT_MAX: "2^63 - 1",
}


def not_a_number(name, low, high, unit=""):
    """Returns the error without the value that it quotes."""
    low, high = (LIMITS.get(limit, limit) for limit in (low, high))
    return "ERR %s must be an integer %sfrom %s to %s" % (name, unit, low, high)


# Patterns of SCAN, and their meaning.
GLOBS = {
    b"*": rb".*",
    b"id1*": rb"id1.*",
    b"id?": rb"id.",
    b"id[2-5]": rb"id[2-5]",
    b"id[^2-5]": rb"id[^2-5]",
    b"*[05]": rb".*[05]",
    b"b*1*2": rb"b.*1.*2",
    b"id\\1": rb"id1",
    b"": rb"",
    b"nothing": rb"nothing",
}


def matches(glob, i):
    return re.fullmatch(GLOBS[glob], i, re.DOTALL) is not None


def options(words, valued=(), flags=()):
    """Returns (options, errors) of a list of options."""
    said, errors = {}, set()
    at = 0
    while at < len(words):
        word = words[at].upper()
        at += 1
        if word in said:
            errors.add(SYNTAX)
        if word in flags:
            said[word] = True
        elif word in valued and at < len(words):
            value = words[at]
            at += 1
            if word in TIMES:
                unit, low, high = TIMES[word]
                value = number(value, low, high)
                if value is None:
                    errors.add(not_a_number(text(word), low, high, unit))
            said[word] = value
        else:
            errors.add(SYNTAX)
    return said, errors


# Arity, including the name; negative: a minimum.
ARITY = {
    b"LAWN.PUSH": -6, b"LAWN.MPUSH": -7, b"LAWN.CANCEL": -3,
    b"LAWN.PULL": 3, b"LAWN.GET": -3, b"LAWN.UPDATE": 4, b"LAWN.TOUCH": -5,
    b"LAWN.POLL": -2, b"LAWN.NEXT": 2, b"LAWN.LEN": -2, b"LAWN.SCAN": -3,
    b"LAWN.INFO": 2, b"LAWN.CONFIG": -3, b"LAWN.PAUSE": 2,
    b"LAWN.LEASE": -3, b"LAWN.ACK": -4, b"LAWN.NACK": -4,
    b"LAWN.EXTEND": 6, b"LAWN.SINK": -3, b"LAWN.PARTITION": 3,
    b"LAWN.RESUME": 2, b"REDE.PUSH": 5, b"REDE.GIDPUSH": 4, b"REDE.PULL": 3,
    b"REDE.POLL": -2, b"REDE.XPOLL": -2, b"REDE.XACK": -3, b"REDE.LOOK": 3,
    b"REDE.TTN": 2, b"REDE.UPDATE": 4, b"REDE.PRINT": 2,
}  # fmt: skip


class Reference:
    """keys: name → Queue, or None for a key of another type."""

    def __init__(
        self, max_batch=10000, max_payload=1 << 20, lease=30000, tries=0
    ):
        self.keys = {}
        self.max_batch = max_batch
        self.max_payload = max_payload
        self.lease = lease
        self.tries = tries
        # the last one of each name, even if the key was deleted
        self.tokens = {}
        self.greatest = 0
        self.turn = 0
        self.stars = set()  # placeholders of ids that are not known yet
        self.last_id = (0, 0)

    # THE CALL

    def judge(self, args, reply, before, after):
        name = args[0].upper()
        if isinstance(reply, Error) and SYNTAX_ERROR.fullmatch(reply):
            reply = Error(SYNTAX)
        elif isinstance(reply, Error):
            reply = Error(VALUE.sub("", reply))
        self.before, self.after = before, after
        self.began = self.turn
        arity = ARITY[name]
        wrong = len(args) != arity if arity > 0 else len(args) < -arity
        if wrong:
            want(isinstance(reply, Error), "no error for wrong arity", reply)
            arity_text = (
                "ERR wrong number of arguments for '%s' command"
                % text(name).lower()
            )
            if name.startswith(b"REDE."):  # ReDe uses capitals there
                reply = Error(reply.replace(text(name), text(name).lower()))
            want(
                reply in (arity_text, SYNTAX, WRONGTYPE, LONG_KEY),
                "error", reply, "wanted", arity_text,
            )  # fmt: skip
            return
        method = getattr(self, "do_" + text(name).lower().replace(".", "_"))
        key = args[1]
        errors = set()
        if key in self.keys and self.keys[key] is None:
            errors.add(WRONGTYPE)
        if len(key) > ID_MAX:
            errors.add(LONG_KEY)
        method(Call(self, key, args, reply, errors))
        queue = self.keys.get(key)
        if queue is not None and queue.idle():
            del self.keys[key]

    def may_drop(self, args):
        """Returns True if the caller must read the dropped events right after
        it."""
        queue = self.keys.get(args[1]) if len(args) > 1 else None
        return queue is not None and queue.drop

    def counts_bytes(self, key):
        queue = self.keys.get(key)
        return queue is not None and queue.maxbytes > 0

    def gone(self, key, left):
        """The key was found to have these ids: the missing ones were dropped.
        Their due times must allow that."""
        queue = self.keys.get(key)
        if queue is None:
            want(not left, "events in a key that is not there", key)
            return
        lost = [i for i in queue.events if i not in left]
        for i in left:
            want(i in queue.events, "an event that was not pushed", key, i)
        for i in lost:
            event = queue.events[i]
            want(event.turn <= self.began, "dropped what was pushed", i)
            want(self.may_go(event), "dropped what is leased", i)
            if b"dead" in event.states(self.before, self.after):
                continue  # these are dropped first
            for j in left:
                other = queue.events[j]
                if other.turn <= self.began and self.must_go(other):
                    want(
                        event.first <= other.last, "dropped", i,
                        "which was due after", j,
                    )  # fmt: skip
        for i in lost:
            del queue.events[i]
            queue.dropped += 1
        if queue.idle():
            del self.keys[key]

    def may_go(self, event):
        """Returns whether it may be dropped, and whether it certainly is."""
        states = event.states(self.before, self.after)
        return states != {b"leased"}

    def must_go(self, event):
        states = event.states(self.before, self.after)
        return not states & {b"leased", b"dead"}

    def loaded(self):
        for queue in self.keys.values():
            if queue is not None:
                queue.loaded()

    # SHARED BY SEVERAL COMMANDS

    def next_turn(self):
        self.turn += 1
        return self.turn

    def due_range(self, queue, said, late=False):
        """Returns the range of the due time of a pushed or touched event."""
        if b"DELAY" in said:
            low = self.before + said[b"DELAY"]
            high = self.after + said[b"DELAY"]
        else:
            low = max(said[b"AT"], self.before)
            high = max(said[b"AT"], self.after)
        high += said.get(b"JITTER") or 0
        low, high = queue.round(low), queue.round(high)
        return min(low, DUE_MAX), min(high, DUE_MAX)

    @staticmethod
    def kind_of(said):
        if b"AT" in said:
            return b"AT"
        return said[b"DELAY"]

    def full(self, queue, put):
        """Returns the errors for pushing these (id → payload)."""
        count = len(queue.events) + sum(i not in queue.events for i in put)
        data = queue.data() + sum(
            len(p) - len(queue.events[i].payload)
            if i in queue.events
            else len(i) + len(p)
            for i, p in put.items()
        )
        errors = set()
        grows = any(i not in queue.events for i in put)
        if queue.maxlen and len(put) > queue.maxlen and grows:
            errors.add(
                "FULL %d events in one command exceed the key's maxlen of %d"
                % (len(put), queue.maxlen)
            )
        elif queue.maxlen and count > queue.maxlen and grows:
            errors.add(
                "FULL the key holds %d events; its maxlen is %d"
                % (len(queue.events), queue.maxlen)
            )
        # Events that take no more than before are accepted in a key over its
        # limit.
        if queue.maxbytes and data > max(queue.maxbytes, queue.data()):
            errors.add(
                "FULL the key's ids and payloads would take %d bytes; "
                "its maxbytes is %d" % (data, queue.maxbytes)
            )
        return errors

    def fits(self, queue, put, goes):
        """Returns True if these have room after all droppable events are
        dropped."""
        stay = {
            i: e.payload
            for i, e in queue.events.items()
            if i not in put and not goes(e)
        }
        stay.update(put)
        data = sum(len(i) + len(p) for i, p in stay.items())
        # maxlen applies only if a new id is pushed, and maxbytes only if the
        # pushed events take more bytes than those that they replace.
        more = any(i not in queue.events for i in put)
        bytes_more = sum(len(i) + len(p) for i, p in put.items()) > sum(
            len(i) + len(queue.events[i].payload)
            for i in put
            if i in queue.events
        )
        return not (
            (queue.maxlen and more and len(stay) > queue.maxlen)
            or (queue.maxbytes and bytes_more and data > queue.maxbytes)
        )

    def take(self, queue, ids, infos=None):
        """These were delivered, in this order."""
        events = queue.events
        for i in ids:
            event = events[i]
            want(event.first <= self.after, "early", i, event.first)
            queue.fired += 1
            info = infos and infos[i]
            if info:
                event.learn_due(info[b"due"])
            self.done(queue, i)

    def done(self, queue, i):
        """It was delivered, and is removed or due again. Returns True if it is
        removed."""
        event = queue.events[i]
        if not event.period or event.times == 1:
            del queue.events[i]
            return True
        if event.times:
            event.times -= 1
        period = event.period
        least, most = self.passed(event)
        event.missed = event.missed[0] + least, event.missed[1] + most
        queue.missed = queue.missed[0] + least, queue.missed[1] + most
        if event.lo == event.hi:
            event.lo += (least + 1) * period
            event.hi += (most + 1) * period
        else:
            event.lo = max(self.before, event.lo + period)
            event.hi = self.after + period
        event.kind = None
        event.turn = self.next_turn()
        event.free()
        event.made = 0
        return False

    def passed(self, event):
        """Returns the minimum and maximum number of periods since it was due.
        """
        least = max(0, (self.before - event.hi) // event.period)
        return least, max(0, (self.after - event.lo) // event.period)

    def in_order(self, queue, ids, limit):
        """Checks whether these may be the events taken or returned, in this
        order."""
        events = queue.events
        want(len(set(ids)) == len(ids), "twice in one reply", ids)
        want(len(ids) <= limit, "more than asked for", len(ids), limit)
        for i in ids:
            want(i in events, "not there", i)
            states = events[i].states(self.before, self.after)
            want(b"due" in states, "not due, but", states, i)
        for a, b in zip(ids, ids[1:]):
            first, second = events[a], events[b]
            want(first.first <= second.last, "order of", a, b)
            if first.token or second.token:
                continue
            if first.lo == first.hi == second.lo == second.hi:
                if first.kind is not None and first.kind == second.kind:
                    want(first.turn < second.turn, "tie of", a, b)
        taken = set(ids)
        last = max((events[i].first for i in ids), default=0)
        for i, event in events.items():
            if i in taken or event.states(self.before, self.after) != {b"due"}:
                continue
            want(
                len(ids) == limit or self.many_dead(queue, ids, limit),
                "due, and left out", i,
            )  # fmt: skip
            want(event.last >= last, "overtaken", i)

    def many_dead(self, queue, ids, limit):
        """Returns True if all other examined events may have been dead."""
        dead = sum(
            b"dead" in e.states(self.before, self.after)
            for e in queue.events.values()
        )
        return len(ids) + dead >= max(limit, REMOVE_PROMOTE_MIN)

    # PUSH AND SIMILAR COMMANDS

    def put(self, call, queue, said, put):
        low, high = self.due_range(queue, said)
        for i, payload in put.items():
            event = Event(
                payload, low, high, self.kind_of(said), self.next_turn()
            )
            event.period = said.get(b"EVERY", 0)
            event.times = said.get(b"TIMES", 0)
            event.most = said.get(b"TRIES", 0)
            queue.events[i] = event

    def put_or_full(self, call, said, put):
        """Returns the queue that they were added to; None if it has no room."""
        queue = self.keys.get(call.key) or Queue()
        errors = self.full(queue, put)
        if errors:
            refused = isinstance(call.reply, Error)
            if not queue.drop or not self.fits(queue, put, self.may_go):
                want(refused, "no error, wanted", errors)
            if refused:
                want(
                    not (queue.drop and self.fits(queue, put, self.must_go)),
                    "refused, and should have dropped", call.reply,
                )  # fmt: skip
                if not queue.drop and call.exact:
                    want(call.reply in errors, call.reply, "wanted", errors)
                want(call.reply.startswith("FULL "), call.reply)
                return None
        self.keys[call.key] = queue
        self.put(call, queue, said, put)
        return queue

    def sizes(self, call, ids, payloads):
        for i in ids:
            if len(i) > ID_MAX:
                call.errors.add(LONG_ID)
        for p in payloads:
            if len(p) > self.max_payload:
                call.errors.add(
                    "ERR payload of %d bytes exceeds lawn.max-payload of %d bytes"
                    % (len(p), self.max_payload)
                )

    def do_lawn_push(self, call):
        i, payload = call.args[2:4]
        said, errors = options(
            call.args[4:],
            (b"DELAY", b"AT", b"EVERY", b"TIMES", b"JITTER", b"TRIES"),
            (b"NX", b"XX"),
        )
        if (b"DELAY" in said) == (b"AT" in said):
            errors.add(SYNTAX)
        if b"NX" in said and b"XX" in said:
            errors.add(SYNTAX)
        if b"TIMES" in said and b"EVERY" not in said:
            errors.add(SYNTAX)
        call.errors |= errors
        self.sizes(call, [i], [payload])
        if call.refused():
            return
        queue = self.keys.get(call.key)
        there = queue is not None and i in queue.events
        if (there and b"NX" in said) or (not there and b"XX" in said):
            want(call.reply is None, "wanted null", call.reply)
            return
        if i == b"*" and isinstance(call.reply, bytes):
            self.made(call.reply)
            i = call.reply
        if i == b"*":
            i = b"0" * 15  # as long as most, and inexact
            call.exact = False
        queue = self.put_or_full(call, said, {i: payload})
        if queue is not None:
            want(call.reply == i, "wanted the id", call.reply)
            queue.pushed += 1

    def made(self, i):
        """The server generated this id: it is later than all others."""
        parts = re.fullmatch(rb"([0-9]+)-([0-9]+)", i)
        want(parts, "id made by the server", i)
        new = int(parts[1]), int(parts[2])
        want(new > self.last_id, "ids do not grow", new, self.last_id)
        self.last_id = new

    def nameless(self, key):
        """Returns the payloads of events whose generated ids are unknown, in
        the order pushed, and their placeholders."""
        queue = self.keys.get(key)
        events = queue.events if queue else {}
        return {e.payload: i for i, e in events.items() if i in self.stars}

    def named(self, key, payload, i):
        """Records the id of one of these."""
        events = self.keys[key].events
        star = self.nameless(key)[payload]
        want(i not in events, "made an id that was there", i)
        self.made(i)
        events[i] = events.pop(star)
        self.stars.remove(star)

    def do_lawn_mpush(self, call):
        words = call.args
        said, errors = options(words[2:4], (b"DELAY", b"AT"))
        if (b"DELAY" in said) == (b"AT" in said):
            errors.add(SYNTAX)
        count = number(words[4], 1, COUNT_MAX)
        if count is None:
            errors.add(not_a_number("count", 1, COUNT_MAX))
        if count is None or len(words) - 5 != 2 * count:
            errors.add(SYNTAX)
        call.errors |= errors
        self.sizes(call, words[5::2], words[6::2])
        if call.refused():
            return
        # The last one of an id counts, and its position gives its turn.
        put = {}
        for i, payload in zip(words[5::2], words[6::2]):
            if i == b"*":
                i = b"*%14d" % self.next_turn()  # as long as most
                self.stars.add(i)
            put.pop(i, None)
            put[i] = payload
        old = self.keys.get(call.key)
        new = sum(old is None or i not in old.events for i in put)
        queue = self.put_or_full(call, said, put)
        if queue is not None:
            want(call.reply == new, "new ids", call.reply, "wanted", new)
            queue.pushed += count
            # If an id occurs twice, either may give the turn.
            if len(put) != count:
                for i in put:
                    queue.events[i].kind = None

    def do_rede_push(self, call):
        self.rede_push(call, call.args[2], call.args[3], call.args[4])

    def do_rede_gidpush(self, call):
        self.rede_push(call, call.args[2], call.args[3], None)

    def rede_push(self, call, ttl, payload, i):
        delay = number(ttl, 0, TIME_MAX)
        if delay is None:
            call.errors.add(not_a_number("ttl", 0, TIME_MAX, MS))
        self.sizes(call, [i or b""], [payload])
        queue = self.keys.get(call.key)
        there = queue is not None and i in queue.events
        if there:
            call.errors.add("ERROR: Element already dehydrating.")
        if call.refused():
            return
        if i is None:
            i = call.reply
            if not isinstance(i, Error):
                want(
                    isinstance(i, bytes)
                    and re.fullmatch(rb"[0-9A-Z]{31}", i)
                    and (queue is None or i not in queue.events),
                    "id made by the server", i,
                )  # fmt: skip
            else:
                i = b"0" * 31
        elif not isinstance(call.reply, Error):
            want(call.reply == "OK", call.reply)
        queue = self.put_or_full(call, {b"DELAY": delay}, {i: payload})
        if queue is not None:
            queue.pushed += 1

    # BY ID

    def do_lawn_cancel(self, call):
        if call.refused():
            return
        queue = self.keys.get(call.key)
        ids = {i for i in call.args[2:] if queue and i in queue.events}
        want(call.reply == len(ids), "canceled", call.reply, len(ids))
        for i in ids:
            del queue.events[i]

    def do_lawn_pull(self, call):
        if call.refused():
            return
        queue = self.keys.get(call.key)
        event = queue and queue.events.pop(call.args[2], None)
        want(
            call.reply == (event.payload if event else None),
            "pulled", call.reply,
        )  # fmt: skip

    do_rede_pull = do_lawn_pull

    def do_rede_look(self, call):
        if call.refused():
            return
        queue = self.keys.get(call.key)
        event = queue and queue.events.get(call.args[2])
        want(
            call.reply == (event.payload if event else None),
            "looked", call.reply,
        )  # fmt: skip

    def do_lawn_get(self, call):
        said, errors = options(call.args[3:], (), (b"META",))
        call.errors |= errors
        if call.refused():
            return
        queue = self.keys.get(call.key)
        event = queue and queue.events.get(call.args[2])
        if event is None or b"META" not in said:
            want(
                call.reply == (event.payload if event else None),
                "got", call.reply,
            )  # fmt: skip
            return
        info = call.map(
            b"payload", b"due", b"state", b"period", b"times", b"missed",
            b"tries", b"max-tries", b"lease-end", b"owner",
        )  # fmt: skip
        want(info[b"payload"] == event.payload, "payload", info)
        event.learn_due(info[b"due"])
        event.learn_missed(info[b"missed"])
        want(info[b"period"] == event.period, "period", info, event.period)
        want(info[b"times"] == event.times, "times", info, event.times)
        self.state(event, info[b"state"])
        want(info[b"tries"] == event.made, "tries", info, event.made)
        want(info[b"max-tries"] == event.most, "max-tries", info, event.most)
        want(info[b"owner"] == event.owner, "owner", info, event.owner)
        event.learn_end(info[b"lease-end"])

    def state(self, event, state):
        states = event.states(self.before, self.after)
        want(state in states, "state", state, "not in", states)

    def do_lawn_update(self, call):
        self.update(call, None, None)

    def do_rede_update(self, call):
        self.update(
            call, "ERROR: No Such dehydrator.", "ERROR: No Such Element."
        )

    def update(self, call, no_key, no_event):
        i, payload = call.args[2:4]
        self.sizes(call, [i], [payload])
        queue = self.keys.get(call.key)
        wanted = no_key if queue is None else no_event
        if wanted and call.errors and (queue is None or i not in queue.events):
            call.errors.add(wanted)
        if call.refused():
            return
        if queue is None or i not in queue.events:
            if wanted is None:
                want(call.reply is None, "wanted null", call.reply)
            else:
                call.is_error(wanted)
            return
        event = queue.events[i]
        errors = self.full(queue, {i: payload})
        if errors:
            # An update does not drop events.
            want(call.reply in errors, call.reply, "wanted", errors)
            return
        want(call.reply == event.payload, "old payload", call.reply)
        event.payload = payload

    def do_lawn_touch(self, call):
        said, errors = options(
            call.args[3:], (b"DELAY", b"AT", b"BY"), (b"GT", b"LT")
        )
        if sum(w in said for w in (b"DELAY", b"AT", b"BY")) != 1:
            errors.add(SYNTAX)
        if b"GT" in said and b"LT" in said:
            errors.add(SYNTAX)
        call.errors |= errors
        if call.refused():
            return
        queue = self.keys.get(call.key)
        event = queue and queue.events.get(call.args[2])
        if event is None:
            want(call.reply is None, "wanted null", call.reply)
            return
        if b"BY" in said:
            low = max(event.lo + said[b"BY"], self.before)
            high = max(event.hi + said[b"BY"], self.after)
            low = min(queue.round(low), DUE_MAX)
            high = min(queue.round(high), DUE_MAX)
        else:
            low, high = self.due_range(queue, said)
        if call.reply is None:
            want(b"GT" in said or b"LT" in said, "null without GT or LT")
            if b"GT" in said:
                want(low <= event.hi, "GT and later", low, event.hi)
            else:
                want(high >= event.lo, "LT and sooner", high, event.lo)
            return
        due = call.reply
        want(isinstance(due, int), "new due", due)
        want(low <= due <= high, "new due", due, "not in", low, high)
        if b"GT" in said:
            want(due > event.lo, "GT, and not later", due, event.lo)
        if b"LT" in said:
            want(due < event.hi, "LT, and not sooner", due, event.hi)
        event.lo = event.hi = due
        event.turn = self.next_turn()
        event.kind = said[b"DELAY"] if b"DELAY" in said else b"AT"
        event.free()
        event.made = 0

    # DUE EVENTS

    def do_lawn_poll(self, call):
        said, errors = options(
            call.args[2:], (b"COUNT", b"BLOCK"), (b"META",)
        )
        call.errors |= errors
        if call.refused():
            return
        limit = min(said.get(b"COUNT", 100), self.max_batch)
        want(isinstance(call.reply, list), "no array", call.reply)
        infos = None
        if b"META" in said:
            names = (
                b"id", b"payload", b"due", b"late", b"period", b"times",
                b"missed",
            )  # fmt: skip
            found = [Call.as_map(r, names) for r in call.reply]
            infos = {r[b"id"]: r for r in found}
            pairs = [(r[b"id"], r[b"payload"]) for r in found]
        else:
            for row in call.reply:
                want(isinstance(row, list) and len(row) == 2, "row", row)
            pairs = call.reply
        queue = self.keys.get(call.key)
        ids = self.delivered(call, queue, pairs, limit, infos)
        if queue is not None:
            self.take(queue, ids, infos)

    def delivered(self, call, queue, pairs, limit, infos):
        ids = [i for i, _ in pairs]
        if queue is None or queue.paused:
            want(not ids, "nothing can be due", ids)
            return ids
        for i, payload in pairs:
            want(i in queue.events, "polled what is not there", i)
            event = queue.events[i]
            want(event.payload == payload, "payload", i, payload)
            if infos:
                self.check_info(event, infos[i])
        self.in_order(queue, ids, limit)
        return ids

    def check_info(self, event, info):
        event.learn_due(info[b"due"])
        late = info[b"late"]
        # After the end of a lease: since then, or since it was due.
        low, high = self.before - event.last, self.after - event.lo
        want(max(0, low) <= late <= high, "late", late, low, high)
        want(info[b"period"] == event.period, "period", info)
        # times includes this delivery; missed, the periods since it was due.
        want(info[b"times"] == event.times, "times", info, event.times)
        low, high = event.missed
        if event.period and event.times != 1:
            least, most = self.passed(event)
            low, high = low + least, high + most
        want(low <= info[b"missed"] <= high, "missed", info, low, high)

    def rede_limit(self, call):
        said, errors = options(call.args[2:], (b"COUNT",))
        call.errors |= errors
        if call.refused():
            return None
        want(isinstance(call.reply, list), "no array", call.reply)
        return min(said.get(b"COUNT", COUNT_MAX), self.max_batch)

    def do_rede_poll(self, call):
        limit = self.rede_limit(call)
        if limit is None:
            return
        queue = self.keys.get(call.key)
        if queue is None or queue.paused:
            want(call.reply == [], "nothing can be due", call.reply)
            return
        # Payloads do not identify the event in general; they are unique where
        # this command is used on more than one.
        by_payload = {e.payload: i for i, e in queue.events.items()}
        for payload in call.reply:
            want(payload in by_payload, "polled what is not there", payload)
        ids = [by_payload[p] for p in call.reply]
        self.in_order(queue, ids, limit)
        self.take(queue, ids)

    def do_rede_xpoll(self, call):
        limit = self.rede_limit(call)
        if limit is None:
            return
        queue = self.keys.get(call.key)
        if queue is None or queue.paused:
            want(call.reply == [], "nothing can be due", call.reply)
            return
        self.in_order(queue, call.reply, limit)

    def do_rede_xack(self, call):
        if call.refused():
            return
        queue = self.keys.get(call.key)
        if queue is None:
            want(call.reply == [], "missing key", call.reply)
            return
        ids = call.args[2:]
        want(
            isinstance(call.reply, list) and len(call.reply) == len(ids),
            "one reply for each id", call.reply,
        )  # fmt: skip
        for i, payload in zip(ids, call.reply):
            event = queue.events.get(i)
            if payload is None:
                want(
                    event is None
                    or queue.paused
                    or event.states(self.before, self.after) != {b"due"},
                    "due, and not acknowledged", i,
                )  # fmt: skip
                continue
            want(event is not None and not queue.paused, "not there", i)
            want(payload == event.payload, "payload", i, payload)
            states = event.states(self.before, self.after)
            want(b"due" in states, "not due, but", states, i)
            self.take(queue, [i])

    def over(self, events):
        """Returns those whose time may have come, and how many of them may
        still be counted in their previous state: a call examines a limited
        number."""
        over = [
            e for e in events
            if e.states(self.before, self.after) & {b"due", b"dead"}
        ]  # fmt: skip
        return over, max(0, len(over) - PROMOTE_DUE)

    def count_range(self, events, state):
        """Returns the number of events in a state, as far as known: (minimum,
        maximum)."""
        found = [e.states(self.before, self.after) for e in events]
        least = sum(s == {state} for s in found)
        most = sum(state in s for s in found)
        over, late = self.over(events)
        if state in (b"due", b"dead"):
            return max(0, least - late), most
        was = sum(bool(e.token) == (state == b"leased") for e in over)
        return least, most + min(late, was)

    def next_range(self, queue):
        """Returns the milliseconds until the next event: (minimum, maximum),
        and -1 if there is none. The end of a lease counts even if the event
        will be dead then. An event that is already dead may still count,
        because a call examines a limited number of events."""
        before, after = self.before, self.after
        events = [
            (e.first, e.last, e.states(before, after))
            for e in queue.events.values()
        ]
        may = [e for e in events if e[2] != {b"dead"}]
        must = [e for e in events if b"dead" not in e[2]]
        _, late = self.over(queue.events.values())
        if not may:
            return -1, 0 if late else -1
        low = 0 if late else max(0, min(e[0] for e in may) - after)
        if not must:
            return -1, max(0, max(e[1] for e in may) - before)
        return low, max(0, min(e[1] for e in must) - before)

    def do_lawn_next(self, call):
        if call.refused():
            return
        queue = self.keys.get(call.key)
        if queue is None:
            want(call.reply is None, "wanted null", call.reply)
            return
        low, high = self.next_range(queue)
        want(
            isinstance(call.reply, int) and low <= call.reply <= high,
            "next", call.reply, low, high,
        )  # fmt: skip

    do_rede_ttn = do_lawn_next

    def do_lawn_len(self, call):
        said, errors = options(call.args[2:], (), STATES)
        if len(said) > 1:
            errors.add(SYNTAX)
        call.errors |= errors
        if call.refused():
            return
        queue = self.keys.get(call.key)
        events = queue.events.values() if queue else ()
        least = most = len(events)
        for word in said:
            least, most = self.count_range(events, word.lower())
        want(
            isinstance(call.reply, int) and least <= call.reply <= most,
            "len", call.reply, least, most,
        )  # fmt: skip

    # LEASES

    def do_lawn_lease(self, call):
        owner = call.args[2]
        said, errors = options(call.args[3:], (b"LEASE", b"COUNT", b"BLOCK"))
        if len(owner) > OWNER_MAX:
            errors.add("ERR owner is longer than %d bytes" % OWNER_MAX)
        call.errors |= errors
        if call.refused():
            return
        limit = min(said.get(b"COUNT", 1), self.max_batch)
        want(isinstance(call.reply, list), "no array", call.reply)
        for row in call.reply:
            want(isinstance(row, list) and len(row) == 5, "row", row)
        queue = self.keys.get(call.key)
        pairs = [row[:2] for row in call.reply]
        self.delivered(call, queue, pairs, limit, None)
        if queue is None:
            return
        ms = said.get(b"LEASE") or queue.lease or self.lease
        for i, _, token, tries, due in call.reply:
            event = queue.events[i]
            event.learn_due(due)
            event.made += 1
            event.most = event.most or queue.tries or self.tries
            want(tries == event.made, "tries", tries, event.made)
            self.new_token(call.key, queue, token)
            event.lease(token, self.before + ms, self.after + ms)
            event.owner = owner
            queue.leased += 1
            queue.redelivered += event.made > 1

    def new_token(self, key, queue, token):
        """Tokens of a key increase, even after it was deleted. A token is at
        least the time at which it was issued, in units of 1/1024 ms, and at
        most 16 above the greatest earlier token or that time."""
        last = max(queue.token, self.tokens.get(key, 0))
        want(isinstance(token, int), "token", token)
        want(token > last, "tokens do not grow", token, last)
        want(token >= self.before * 1024, "a token of the past", token)
        # The first token of a key exceeds all tokens of other keys, too. Up to
        # 15 numbers are skipped: the last four bits depend on the process.
        most = max(self.greatest, queue.token, self.after * 1024) + 16
        want(token <= most, "token", token, most)
        queue.token = self.tokens[key] = token
        self.greatest = max(self.greatest, token)

    def holds(self, call, i, token):
        """Returns the event if the token is valid."""
        queue = self.keys.get(call.key)
        event = queue and queue.events.get(i)
        return event if event and token and event.token == token else None

    def token_of(self, call, word):
        token = number(word, 0, COUNT_MAX)
        if token is None:
            call.errors.add(not_a_number("token", 0, COUNT_MAX))
        return token

    def do_lawn_ack(self, call):
        words = call.args[2:]
        if len(words) % 2:
            call.errors.add(SYNTAX)
        pairs = [
            (i, self.token_of(call, t)) for i, t in zip(words[::2], words[1::2])
        ]
        if call.refused():
            return
        queue = self.keys.get(call.key)
        wanted = []
        for i, token in pairs:
            event = self.holds(call, i, token)
            wanted.append(int(event is not None))
            if event is not None:
                queue.acked += 1
                self.done(queue, i)
        want(call.reply == wanted, "acknowledged", call.reply, wanted)

    def do_lawn_nack(self, call):
        said, errors = options(call.args[4:], (b"DELAY",))
        token = self.token_of(call, call.args[3])
        call.errors |= errors
        if call.refused():
            return
        event = self.holds(call, call.args[2], token)
        want(call.reply == int(event is not None), "nack", call.reply)
        if event is not None:
            delay = said.get(b"DELAY", 0)
            queue = self.keys[call.key]
            if event.used_up() or event.period:
                # The event stays leased, with a token that no client has, so
                # a recurring event keeps its due time. The lease ends after
                # the delay, or now if no tries are left.
                delay = 0 if event.used_up() else delay
                event.lease(
                    UNKNOWN_TOKEN,
                    min(self.before + delay, DUE_MAX),
                    min(self.after + delay, DUE_MAX),
                )
                self.greatest = max(self.greatest, self.after * 1024) + 16
                return
            event.free()
            event.lo, event.hi = self.due_range(queue, {b"DELAY": delay})
            event.kind = None
            event.turn = self.next_turn()

    def do_lawn_extend(self, call):
        said, errors = options(call.args[4:], (b"LEASE",))
        if b"LEASE" not in said:
            errors.add(SYNTAX)
        token = self.token_of(call, call.args[3])
        call.errors |= errors
        if call.refused():
            return
        event = self.holds(call, call.args[2], token)
        if event is None:
            want(call.reply == 0, "extended what is not held", call.reply)
            return
        ms = said[b"LEASE"]
        event.lease(token, self.before + ms, self.after + ms)
        event.learn_end(call.reply)

    # SINKS

    def do_lawn_sink(self, call):
        words = call.args[2:]
        kind, to, maxlen, dead = words[0].upper(), b"", 0, b""
        at = 1
        good = kind in SINKS or kind == b"NONE"
        if kind in SINKS:
            good = len(words) > 1
            to = words[1] if good else b""
            at = 2
        if kind == b"STREAM" and words[at : at + 1] and (
            words[at].upper() == b"MAXLEN"
        ):
            at += 1
            if words[at : at + 1] == [b"~"]:
                at += 1
            maxlen = number(b"".join(words[at : at + 1]), 1, COUNT_MAX)
            if maxlen is None:
                call.errors |= {not_a_number("MAXLEN", 1, COUNT_MAX), SYNTAX}
            at += 1
        if words[at : at + 1] and words[at].upper() == b"DEADLETTER":
            dead = b"".join(words[at + 1 : at + 2])
            good = good and at + 1 < len(words)
            at += 2
        if not good or at != len(words):
            call.errors.add(SYNTAX)
        if call.refused():
            return
        want(call.reply == "OK", call.reply)
        queue = self.keys.setdefault(call.key, Queue())
        queue.sink = kind.lower(), to, maxlen
        if to in self.keys:
            queue.refused = True
        queue.dead_to = dead

    def handed(self, key, entries, before, after):
        """The key's stream has these new entries, fields as maps, since it was
        last read."""
        self.before, self.after = before, after
        queue = self.keys.get(key)
        want(queue is not None or not entries, "delivered without a queue", entries)
        for entry in entries:
            i = entry[b"id"]
            want(i in queue.events, "handed what is not there", key, entry)
            event = queue.events[i]
            want(entry[b"payload"] == event.payload, "handed", entry)
            want(
                event.lo <= int(entry[b"due"]) <= event.hi,
                "handed", entry, "wanted due", event.lo, event.hi,
                "period", event.period, "times", event.times, "tries",
                event.made, event.most, "token", event.token,
            )  # fmt: skip
            event.learn_due(int(entry[b"due"]))
            states = event.states(0, after)
            if b"tries" in entry:
                want(b"dead" in states, "handed what is not dead", states)
                want(int(entry[b"tries"]) == event.made, "tries", entry)
                want(entry[b"owner"] == event.owner, "owner", entry)
                queue.dead += 1
            else:
                want(b"due" in states, "handed what is not due", states)
                queue.handed += 1
                queue.fired += 1
            # The event was delivered at an unknown time since it was available;
            # n is the number of periods until then.
            self.before = event.first
            due, missed = event.lo, event.missed
            if not self.done(queue, i) and b"n" in entry:
                count = int(entry[b"n"])
                event.learn_due(due + count * event.period)
                event.missed = [m + count - 1 for m in missed]
        if queue is not None and queue.idle():
            del self.keys[key]

    # OTHER COMMANDS

    def do_lawn_partition(self, call):
        count = number(call.args[2], 1, 16384)
        call.errors.discard(WRONGTYPE)
        call.errors.discard(LONG_KEY)
        if count is None:
            call.errors.add(not_a_number("number of partitions", 1, 16384))
        if call.refused():
            return
        want(call.reply == crc16(call.args[1]) % count, "part", call.reply)

    def do_lawn_scan(self, call):
        """One step of a scan; complete scans are checked by the caller that
        compares all contents."""
        said, errors = options(
            call.args[3:], (b"COUNT", b"STATE", b"MATCH")
        )
        if number(call.args[2], 0, (1 << 64) - 1) is None:
            errors.add("ERR invalid cursor")
        state = said.get(b"STATE")
        if state is not None and state.upper() not in STATES:
            errors.add(SYNTAX)
        call.errors |= errors
        if call.refused():
            return
        want(
            isinstance(call.reply, list)
            and len(call.reply) == 2
            and re.fullmatch(rb"[0-9]+", call.reply[0]),
            "scan", call.reply,
        )  # fmt: skip
        queue = self.keys.get(call.key)
        ids = call.reply[1]
        want(len(set(ids)) == len(ids), "twice in a step", ids)
        for i in ids:
            want(queue is not None and i in queue.events, "not there", i)
            if state is not None:
                self.state(queue.events[i], state.lower())
            if said.get(b"MATCH") in GLOBS:
                want(matches(said[b"MATCH"], i), "does not match", i)
        if queue is None or not queue.events:
            want(call.reply == [b"0", []], "empty", call.reply)

    def do_lawn_info(self, call):
        if call.refused():
            return
        queue = self.keys.get(call.key)
        if queue is None:
            want(call.reply is None, "wanted null", call.reply)
            return
        info = call.map(
            b"len", b"ttls", b"next", b"oldest-due", b"pushed", b"fired",
            b"missed", b"dropped", b"late-p50-ms", b"late-p99-ms",
            b"late-max-ms", b"bytes", b"data-bytes", b"paused", *SETTINGS,
            b"leased", b"dead", b"acked", b"redelivered", b"leased-total",
            b"dead-total", b"handed", b"sink-errors", b"sink", b"sink-to",
            b"sink-maxlen", b"dead-letter", b"sink-error",
        )  # fmt: skip
        for name in SETTINGS:
            want(info[name] == self.setting(queue, name), name, info)
        want(info[b"len"] == len(queue.events), "len", info)
        want(info[b"data-bytes"] == queue.data(), "data-bytes", info)
        want(info[b"bytes"] >= queue.data(), "bytes", info)
        want(info[b"paused"] == int(queue.paused), "paused", info)
        for name in (
            "pushed", "fired", "dropped", "acked", "redelivered",
            "leased-total", "dead-total", "handed",
        ):  # fmt: skip
            count = getattr(queue, name.removesuffix("-total"))
            want(info[name.encode()] == count, name, info, count)
        found = [info[n] for n in (b"sink", b"sink-to", b"sink-maxlen")]
        want(found == list(queue.sink), "sink", info, queue.sink)
        want(info[b"dead-letter"] == queue.dead_to, "dead-letter", info)
        # Only deliveries to a key of another type are refused.
        if not queue.refused:
            want(info[b"sink-errors"] == 0, "sink-errors", info)
        low, high = queue.missed
        want(low <= info[b"missed"] <= high, "missed", info, low, high)
        for name in (b"leased", b"dead"):
            low, high = self.count_range(queue.events.values(), name)
            want(low <= info[name] <= high, name, info, low, high)
        low, high = self.next_range(queue)
        if info[b"next"] is None:
            want(low == -1, "next", info, low, high)
            want(info[b"oldest-due"] == 0, "oldest-due", info)
            return
        want(high >= 0, "next", info, low, high)
        want(
            max(0, info[b"next"] - self.after) <= high
            and low <= max(0, info[b"next"] - self.before),
            "next", info, low, high,
        )  # fmt: skip
        dues = [e for e in queue.events.values()]
        sure = [
            e.last for e in dues
            if e.states(self.before, self.after) == {b"due"}
        ]  # fmt: skip
        over, late = self.over(dues)
        may = [
            e.first for e in over
            if late or b"due" in e.states(self.before, self.after)
        ]  # fmt: skip
        want(
            self.before - min(sure, default=self.before)
            <= info[b"oldest-due"]
            <= self.after - min(may, default=self.after),
            "oldest-due", info,
        )  # fmt: skip

    def setting(self, queue, name):
        return {
            b"maxlen": queue.maxlen,
            b"maxbytes": queue.maxbytes,
            b"overflow": b"drop-oldest" if queue.drop else b"reject",
            b"resolution-ms": queue.resolution,
            b"tries": queue.tries,
            b"lease": queue.lease,
        }[name]

    def do_lawn_config(self, call):
        verb = call.args[2].upper()
        words = call.args[3:]
        if verb == b"GET":
            names = [w.lower() for w in words]
            for w in words:
                if w.lower() not in SETTINGS:
                    call.errors.add(UNKNOWN % text(w))
            if call.refused():
                return
            queue = self.keys.get(call.key)
            if queue is None:
                want(call.reply is None, "wanted null", call.reply)
                return
            wanted = list(dict.fromkeys(names)) or list(SETTINGS)
            info = call.map(*wanted)
            for name in wanted:
                value = info[name]
                if isinstance(value, bytes) and value.isdigit():
                    value = int(value)
                want(value == self.setting(queue, name), name, info)
        elif verb == b"SET":
            self.config_set(call, words)
        else:
            call.errors.add(SYNTAX)
            want(call.refused(), "no error")

    def config_set(self, call, words):
        new = {}
        if len(words) % 2 or not words:
            call.errors |= {
                SYNTAX, "ERR wrong number of arguments for 'lawn.config' command"
            }  # fmt: skip
        for word, value in zip(words[::2], words[1::2]):
            name = word.lower()
            if name not in SETTINGS:
                call.errors.add(UNKNOWN % text(word))
                continue
            if name == b"overflow":
                good = {b"reject": False, b"drop-oldest": True}.get(
                    value.lower()
                )
            else:
                most = {
                    b"resolution-ms": DAY, b"tries": TRIES_MAX,
                    b"lease": TIME_MAX,
                }.get(name, COUNT_MAX)  # fmt: skip
                good = number(value, 0, most)
            if good is None:
                choice = "; use reject or drop-oldest" if name == b"overflow" else ""
                call.errors.add(
                    "ERR invalid value for %s: '%s'%s"
                    % (text(name), text(value), choice)
                )
            new[name] = good
        if call.refused():
            return
        want(call.reply == "OK", call.reply)
        queue = self.keys.setdefault(call.key, Queue())
        queue.maxlen = new.get(b"maxlen", queue.maxlen)
        queue.maxbytes = new.get(b"maxbytes", queue.maxbytes)
        queue.drop = new.get(b"overflow", queue.drop)
        queue.resolution = max(1, new.get(b"resolution-ms", queue.resolution))
        queue.tries = new.get(b"tries", queue.tries)
        queue.lease = new.get(b"lease", queue.lease)

    def do_lawn_pause(self, call):
        if call.refused():
            return
        want(call.reply == "OK", call.reply)
        self.keys.setdefault(call.key, Queue()).paused = True

    def do_lawn_resume(self, call):
        if call.refused():
            return
        want(call.reply == "OK", call.reply)
        queue = self.keys.get(call.key)
        if queue is not None:
            queue.paused = False

    def do_rede_print(self, call):
        if call.refused():
            return
        if self.keys.get(call.key) is None:
            want(call.reply is None, "wanted null", call.reply)
        else:
            want(isinstance(call.reply, str), "no line", call.reply)


class Call:
    """A call, and the errors of its arguments."""

    def __init__(self, reference, key, args, reply, errors):
        self.reference = reference
        self.key = key
        self.args = args
        self.reply = reply
        self.errors = errors
        self.exact = True  # whether the sizes in an error are known

    def refused(self):
        """Returns True if the arguments are invalid, and the reply was one of
        the errors."""
        if not self.errors:
            if isinstance(self.reply, Error):
                # About room or contents: the caller checks it.
                want(
                    self.reply.startswith(("FULL ", "ERROR: ")),
                    "an error for nothing", self.reply,
                )  # fmt: skip
            return False
        want(
            isinstance(self.reply, Error),
            "no error, wanted", self.errors, "got", self.reply,
        )  # fmt: skip
        want(self.reply in self.errors, self.reply, "wanted", self.errors)
        return True

    def is_error(self, message):
        want(self.reply == Error(message), self.reply, "wanted", message)

    def map(self, *names):
        return self.as_map(self.reply, names)

    @staticmethod
    def as_map(reply, names):
        """Returns a map of exactly these names, from RESP2 or RESP3."""
        if isinstance(reply, list):
            want(len(reply) % 2 == 0, "no map", reply)
            reply = dict(zip(reply[::2], reply[1::2]))
        want(isinstance(reply, dict), "no map", reply)
        want(sorted(reply) == sorted(names), "fields", reply, names)
        return reply
