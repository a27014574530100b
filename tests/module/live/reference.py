"""reference.py - what lawn.so is to answer, in plain Python.

Reference.judge() gets a command, the reply to it, and the times just before it
was sent and just after the reply was there. It works out by itself, from the
words alone, what may be answered, raises Wrong if the reply is something else,
and does to its own keys what the command was to do.

Nobody outside knows the millisecond at which a server looked at its clock. So a
due time is a range here, lo to hi, until some reply tells it; then it must lie
within, and is known from there on. An event is due for sure if hi is before the
command was sent, and may be if lo is before the reply was there. The order of
what is taken is held to the same: nobody may overtake who was due for sure.

A line with several faults may get the error of any of them.
"""
import re

import resp

TIME_MAX = 1 << 53
DUE_MAX = 1 << 54
COUNT_MAX = (1 << 63) - 1
DAY = 86400000
ID_MAX = 65535
WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"
SYNTAX = "ERR syntax error"
LONG_KEY = "ERR key names longer than 65535 bytes cannot be used with lawn"
LONG_ID = "ERR id is longer than 65535 bytes"
SETTINGS = (b"maxlen", b"maxbytes", b"overflow", b"resolution-ms")
UNKNOWN = (
    "ERR unknown setting '%s': "
    "there are maxlen, maxbytes, overflow and resolution-ms"
)


class Wrong(Exception):
    """A reply or a content that the specification does not allow."""


class Error(str):
    """An error reply, by its text."""


def plain(reply):
    """A reply of resp.py in values of Python: a simple string is a str."""
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
    """kind: what says whose neighbour it is among those due in the same
    millisecond: pushed by AT, or with a delay; None: nothing is said of it."""

    __slots__ = (
        "payload", "lo", "hi", "kind", "turn", "period", "times", "missed"
    )

    def __init__(self, payload, lo, hi, kind, turn):
        self.payload = payload
        self.lo = lo
        self.hi = hi
        self.kind = kind
        self.turn = turn
        self.period = 0
        self.times = 0
        self.missed = (0, 0)

    def told(self, due):
        want(self.lo <= due <= self.hi, "due", due, "not in", self.lo, self.hi)
        self.lo = self.hi = due

    def told_missed(self, missed):
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
        self.pushed = self.fired = self.dropped = 0
        self.missed = (0, 0)

    def idle(self):
        return not (
            self.events
            or self.maxlen
            or self.maxbytes
            or self.drop
            or self.resolution > 1
            or self.paused
        )

    def data(self):
        return sum(len(i) + len(e.payload) for i, e in self.events.items())

    def loaded(self):
        """Counts are of this process."""
        self.pushed = self.fired = self.dropped = 0
        self.missed = (0, 0)

    def round(self, due):
        return -(-due // self.resolution) * self.resolution


def number(word, low, high):
    """The integer that a word is, as the server's own parser takes them; None:
    it is none."""
    if not re.fullmatch(rb"0|-?[1-9][0-9]{0,19}", word):
        return None
    value = int(word)
    return value if low <= value <= high else None


def text(word):
    """A word as an error repeats it: the beginning, and what can be printed."""
    word = word[:64].split(b"\x00")[0]
    return "".join(chr(c) if 32 <= c < 127 else "?" for c in word)


TIMES = {
    b"DELAY": ("delay", 0, TIME_MAX),
    b"AT": ("time", 0, TIME_MAX),
    b"BY": ("shift", -TIME_MAX, TIME_MAX),
    b"EVERY": ("period", 1, TIME_MAX),
    b"TIMES": ("times", 1, TIME_MAX),
    b"JITTER": ("jitter", 0, TIME_MAX),
    b"COUNT": ("count", 1, COUNT_MAX),
    b"BLOCK": ("timeout", 0, TIME_MAX),
}


def not_a_number(name):
    return "ERR %s is not an integer or out of range" % name


# Patterns, and what they mean, for SCAN.
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
    b"nobody": rb"nobody",
}


def matches(glob, i):
    return re.fullmatch(GLOBS[glob], i, re.DOTALL) is not None


def options(words, valued=(), flags=()):
    """(what was said, errors that this deserves) of a list of options."""
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
                name, low, high = TIMES[word]
                value = number(value, low, high)
                if value is None:
                    errors.add(not_a_number(name))
            said[word] = value
        else:
            errors.add(SYNTAX)
    return said, errors


# Arity, with the name; below 0: at least so many.
ARITY = {
    b"LAWN.PUSH": -6, b"LAWN.MPUSH": -7, b"LAWN.CANCEL": -3,
    b"LAWN.PULL": 3, b"LAWN.GET": -3, b"LAWN.UPDATE": 4, b"LAWN.TOUCH": -5,
    b"LAWN.POLL": -2, b"LAWN.NEXT": 2, b"LAWN.LEN": -2, b"LAWN.SCAN": -3,
    b"LAWN.INFO": 2, b"LAWN.CONFIG": -3, b"LAWN.PAUSE": 2,
    b"LAWN.RESUME": 2, b"REDE.PUSH": 5, b"REDE.GIDPUSH": 4, b"REDE.PULL": 3,
    b"REDE.POLL": -2, b"REDE.XPOLL": -2, b"REDE.XACK": -3, b"REDE.LOOK": 3,
    b"REDE.TTN": 2, b"REDE.UPDATE": 4, b"REDE.PRINT": 2,
}  # fmt: skip


class Reference:
    """keys: name → Queue, or None for a key of another type."""

    def __init__(self, max_batch=10000, max_payload=1 << 20):
        self.keys = {}
        self.max_batch = max_batch
        self.max_payload = max_payload
        self.turn = 0
        self.stars = set()  # ids in place of those that are not yet told
        self.last_id = (0, 0)

    # THE CALL

    def judge(self, args, reply, before, after):
        name = args[0].upper()
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
            if name.startswith(b"REDE."):  # ReDe's own had capitals there
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
        """Whether what goes to make room must be asked for right afterwards."""
        queue = self.keys.get(args[1]) if len(args) > 1 else None
        return queue is not None and queue.drop

    def counts_bytes(self, key):
        queue = self.keys.get(key)
        return queue is not None and queue.maxbytes > 0

    def gone(self, key, left):
        """The key was found to hold those ids: what it has lost went to make
        room. The due times must bear that out."""
        queue = self.keys.get(key)
        if queue is None:
            want(not left, "events in a key that is not there", key)
            return
        lost = [i for i in queue.events if i not in left]
        for i in left:
            want(i in queue.events, "an event nobody pushed", key, i)
        for i in lost:
            event = queue.events[i]
            want(event.turn <= self.began, "dropped what was pushed", i)
            for j in left:
                other = queue.events[j]
                if other.turn <= self.began:
                    want(
                        event.lo <= other.hi, "dropped", i,
                        "which was due after", j,
                    )  # fmt: skip
        for i in lost:
            del queue.events[i]
            queue.dropped += 1
        if queue.idle():
            del self.keys[key]

    def loaded(self):
        for queue in self.keys.values():
            if queue is not None:
                queue.loaded()

    # WHAT SEVERAL COMMANDS DO

    def next_turn(self):
        self.turn += 1
        return self.turn

    def due_range(self, queue, said, late=False):
        """When something that was pushed or touched is due."""
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
        """The errors that pushing those (id → payload) deserves."""
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
                "FULL %d events at once are more than the key's maxlen %d"
                % (len(put), queue.maxlen)
            )
        elif queue.maxlen and count > queue.maxlen and grows:
            errors.add(
                "FULL the key holds %d events, and its maxlen is %d"
                % (len(queue.events), queue.maxlen)
            )
        # What takes no more than before is welcome in a key that is too full.
        if queue.maxbytes and data > max(queue.maxbytes, queue.data()):
            errors.add(
                "FULL the key's ids and payloads would take %d bytes, "
                "and its maxbytes is %d" % (data, queue.maxbytes)
            )
        return errors

    def fits_alone(self, queue, put):
        data = sum(len(i) + len(p) for i, p in put.items())
        return not (
            (queue.maxlen and len(put) > queue.maxlen)
            or (queue.maxbytes and data > queue.maxbytes)
        )

    def take(self, queue, ids, infos=None):
        """Those were delivered, in this order."""
        events = queue.events
        for i in ids:
            event = events[i]
            want(event.lo <= self.after, "early", i, event.lo, self.after)
            queue.fired += 1
            info = infos and infos[i]
            if info:
                event.told(info[b"due"])
            if not event.period:
                del events[i]
                continue
            if event.times == 1:
                del events[i]
                continue
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

    def passed(self, event):
        """Periods since it was due: at least and at most."""
        least = max(0, (self.before - event.hi) // event.period)
        return least, max(0, (self.after - event.lo) // event.period)

    def in_order(self, queue, ids, limit):
        """Whether those may be what is taken, or shown, in this order."""
        events = queue.events
        want(len(set(ids)) == len(ids), "twice in one reply", ids)
        want(len(ids) <= limit, "more than asked for", len(ids), limit)
        for i in ids:
            want(i in events, "not there", i)
            want(events[i].lo <= self.after, "not due yet", i)
        for a, b in zip(ids, ids[1:]):
            first, second = events[a], events[b]
            want(first.lo <= second.hi, "order of", a, b)
            if first.lo == first.hi == second.lo == second.hi:
                if first.kind is not None and first.kind == second.kind:
                    want(first.turn < second.turn, "tie of", a, b)
        taken = set(ids)
        last = max((events[i].lo for i in ids), default=0)
        for i, event in events.items():
            if i in taken or event.hi > self.before:
                continue
            want(len(ids) == limit, "due, and left out", i)
            want(event.hi >= last, "overtaken", i)

    # PUSH AND WHAT IS LIKE IT

    def put(self, call, queue, said, put):
        low, high = self.due_range(queue, said)
        for i, payload in put.items():
            event = Event(
                payload, low, high, self.kind_of(said), self.next_turn()
            )
            event.period = said.get(b"EVERY", 0)
            event.times = said.get(b"TIMES", 0)
            queue.events[i] = event

    def put_or_full(self, call, said, put):
        """The queue that they were put into; None: it has no room."""
        queue = self.keys.get(call.key) or Queue()
        errors = self.full(queue, put)
        if errors:
            refused = isinstance(call.reply, Error)
            if not queue.drop or not self.fits_alone(queue, put):
                want(refused, "no error, wanted", errors)
            if refused:
                want(
                    not (queue.drop and self.fits_alone(queue, put)),
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
                    "ERR payload too large: %d bytes, and lawn.max-payload is %d"
                    % (len(p), self.max_payload)
                )

    def do_lawn_push(self, call):
        i, payload = call.args[2:4]
        said, errors = options(
            call.args[4:],
            (b"DELAY", b"AT", b"EVERY", b"TIMES", b"JITTER"),
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
            i = b"0" * 15  # as long as most, and not exact
            call.exact = False
        queue = self.put_or_full(call, said, {i: payload})
        if queue is not None:
            want(call.reply == i, "wanted the id", call.reply)
            queue.pushed += 1

    def made(self, i):
        """The server has made this id: later than all others."""
        parts = re.fullmatch(rb"([0-9]+)-([0-9]+)", i)
        want(parts, "id made by the server", i)
        new = int(parts[1]), int(parts[2])
        want(new > self.last_id, "ids do not grow", new, self.last_id)
        self.last_id = new

    def nameless(self, key):
        """Payloads of events there whose ids the server has made and not told,
        in the order pushed; and what they go by here."""
        queue = self.keys.get(key)
        events = queue.events if queue else {}
        return {e.payload: i for i, e in events.items() if i in self.stars}

    def named(self, key, payload, i):
        """That is the id of one of these."""
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
            errors.add(not_a_number("count"))
        if count is None or len(words) - 5 != 2 * count:
            errors.add(SYNTAX)
        call.errors |= errors
        self.sizes(call, words[5::2], words[6::2])
        if call.refused():
            return
        # The last of an id counts, and where it stood says its turn.
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
            # Of the same id twice, any may stand for the turn.
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
            call.errors.add(not_a_number("ttl"))
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
        want(call.reply == len(ids), "cancelled", call.reply, len(ids))
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
            b"payload", b"due", b"state", b"period", b"times", b"missed"
        )
        want(info[b"payload"] == event.payload, "payload", info)
        event.told(info[b"due"])
        event.told_missed(info[b"missed"])
        want(info[b"period"] == event.period, "period", info, event.period)
        want(info[b"times"] == event.times, "times", info, event.times)
        self.state(event, info[b"state"])

    def state(self, event, state):
        want(state in (b"waiting", b"due"), "state", state)
        if state == b"due":
            want(event.lo <= self.after, "due too early", event.lo)
        else:
            want(event.hi > self.before, "waits too long", event.hi)

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
            # An update drops nobody.
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

    # WHAT IS DUE

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
        event.told(info[b"due"])
        late = info[b"late"]
        low, high = self.before - event.lo, self.after - event.lo
        want(max(0, low) <= late <= high, "late", late, low, high)
        want(info[b"period"] == event.period, "period", info)
        # Times that were left, this one included; missed, those just found.
        want(info[b"times"] == event.times, "times", info, event.times)
        low, high = event.missed
        if event.period and event.times != 1:
            least, most = self.passed(event)
            low, high = low + least, high + most
        want(low <= info[b"missed"] <= high, "missed", info, low, high)

    def rede_limit(self, call, otherwise):
        said, errors = options(call.args[2:], (b"COUNT",))
        call.errors |= errors
        if call.refused():
            return None
        want(isinstance(call.reply, list), "no array", call.reply)
        return said.get(b"COUNT", otherwise)

    def do_rede_poll(self, call):
        limit = self.rede_limit(call, 1 << 62)
        if limit is None:
            return
        queue = self.keys.get(call.key)
        if queue is None or queue.paused:
            want(call.reply == [], "nothing can be due", call.reply)
            return
        # Payloads alone do not tell who went: those are unique where this
        # command is tried on more than one.
        by_payload = {e.payload: i for i, e in queue.events.items()}
        for payload in call.reply:
            want(payload in by_payload, "polled what is not there", payload)
        ids = [by_payload[p] for p in call.reply]
        self.in_order(queue, ids, limit)
        self.take(queue, ids)

    def do_rede_xpoll(self, call):
        limit = self.rede_limit(call, 1 << 62)
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
                    event is None or event.hi > self.before or queue.paused,
                    "due, and not acknowledged", i,
                )  # fmt: skip
                continue
            want(event is not None and not queue.paused, "not there", i)
            want(payload == event.payload, "payload", i, payload)
            want(event.lo <= self.after, "early", i)
            self.take(queue, [i])

    def next_range(self, queue):
        if not queue.events:
            return -1, -1
        low = min(e.lo for e in queue.events.values())
        high = min(e.hi for e in queue.events.values())
        return max(0, low - self.after), max(0, high - self.before)

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
        said, errors = options(call.args[2:], (), (b"WAITING", b"DUE"))
        if len(said) > 1:
            errors.add(SYNTAX)
        call.errors |= errors
        if call.refused():
            return
        queue = self.keys.get(call.key)
        events = queue.events.values() if queue else ()
        least = sum(e.hi <= self.before for e in events)
        most = sum(e.lo <= self.after for e in events)
        if b"WAITING" in said:
            least, most = len(events) - most, len(events) - least
        elif b"DUE" not in said:
            least = most = len(events)
        want(
            isinstance(call.reply, int) and least <= call.reply <= most,
            "len", call.reply, least, most,
        )  # fmt: skip

    # THE REST

    def do_lawn_scan(self, call):
        """One step of a walk; whole ones are checked by who compares all."""
        said, errors = options(
            call.args[3:], (b"COUNT", b"STATE", b"MATCH")
        )
        if number(call.args[2], 0, (1 << 64) - 1) is None:
            errors.add("ERR invalid cursor")
        state = said.get(b"STATE")
        if state is not None and state.lower() not in (b"waiting", b"due"):
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
        )  # fmt: skip
        for name in SETTINGS:
            want(info[name] == self.setting(queue, name), name, info)
        want(info[b"len"] == len(queue.events), "len", info)
        want(info[b"data-bytes"] == queue.data(), "data-bytes", info)
        want(info[b"bytes"] >= queue.data(), "bytes", info)
        want(info[b"paused"] == int(queue.paused), "paused", info)
        for name in ("pushed", "fired", "dropped"):
            want(
                info[name.encode()] == getattr(queue, name),
                name, info, getattr(queue, name),
            )  # fmt: skip
        low, high = queue.missed
        want(low <= info[b"missed"] <= high, "missed", info, low, high)
        if not queue.events:
            want(info[b"next"] is None, "next", info)
            want(info[b"oldest-due"] == 0, "oldest-due", info)
        else:
            low = min(e.lo for e in queue.events.values())
            high = min(e.hi for e in queue.events.values())
            want(low <= info[b"next"] <= high, "next", info, low, high)
            want(
                max(0, self.before - high)
                <= info[b"oldest-due"]
                <= max(0, self.after - low),
                "oldest-due", info,
            )  # fmt: skip

    def setting(self, queue, name):
        return {
            b"maxlen": queue.maxlen,
            b"maxbytes": queue.maxbytes,
            b"overflow": b"drop-oldest" if queue.drop else b"reject",
            b"resolution-ms": queue.resolution,
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
                most = DAY if name == b"resolution-ms" else COUNT_MAX
                good = number(value, 0, most)
            if good is None:
                choice = " (reject or drop-oldest)" if name == b"overflow" else ""
                call.errors.add(
                    "ERR bad value for %s: '%s'%s"
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
    """A call, and the errors that its words deserve."""

    def __init__(self, reference, key, args, reply, errors):
        self.reference = reference
        self.key = key
        self.args = args
        self.reply = reply
        self.errors = errors
        self.exact = True  # whether the sizes that an error tells are known

    def refused(self):
        """True: the words deserve an error, and it was one of those."""
        if not self.errors:
            if isinstance(self.reply, Error):
                # Of room, or of what is there: who called knows.
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
        """A map of exactly those, as RESP2 or RESP3 has it."""
        if isinstance(reply, list):
            want(len(reply) % 2 == 0, "no map", reply)
            reply = dict(zip(reply[::2], reply[1::2]))
        want(isinstance(reply, dict), "no map", reply)
        want(sorted(reply) == sorted(names), "fields", reply, names)
        return reply
