#!/usr/bin/env python3
"""model.py - compares random commands with a plain reference of the
specification.

Random commands, valid and invalid, alone, in pipelines, MULTI and scripts, are
sent to a server with lawn.so, and each reply is judged by reference.py. After
each batch the whole contents are read and compared. Then the same contents, by
DEBUG DIGEST-VALUE of each key, must be found in other ways:

    - on a replica, which received only the replicated commands
    - in a copy made by COPY, and one by DUMP and RESTORE
    - after DEBUG RELOAD: through an RDB file
    - after a restart: through the append-only file, as it grew, or after a
      BGREWRITEAOF with aof-use-rdb-preamble yes or no

The same applies to the events that sinks have moved to streams. A command on a
key with a sink is sent in a transaction that reads the stream first, so the
contents at that moment are known. While contents are compared, such keys are
paused.

The seed is printed first, and the commands of a failed batch last: the same
seed gives the same commands. (Times differ from run to run, so failures that
depend on the millisecond may need several runs.)
"""
import copy
import random
import time

import resp
import server
from reference import (
    ARITY, GLOBS, Error, Reference, Wrong, matches, number, plain, want
)  # fmt: skip
from server import now_ms as now

HOUR = 3600 * 1000
BULK = 1500  # ids at once: more than a small queue has
KEYS = [b"a", b"b", b"c", b"k\x00\xff", b"s"]  # s is a string
FEW = 64  # with up to this number of delayed events, a key may have no blade
MAX_PAYLOAD = 3000
MAX_BATCH = 40
LEASE = 700  # ms, by default
# Followed by the key's name. Dead recurring events go to the first stream, and
# may then go to the other.
STREAMS = (b"dead:", b"out:")

SCAN = """local cursor, all = '0', {}
repeat
    local reply = redis.call('LAWN.SCAN', KEYS[1], cursor, 'COUNT', 40)
    cursor = reply[1]
    for _, id in ipairs(reply[2]) do all[#all + 1] = id end
until cursor == '0'
return all"""


class Dice(random.Random):
    """Generates the words of commands."""

    def key(self):
        return self.choices(KEYS, (50, 30, 10, 8, 1))[0]

    def id(self):
        kind = self.random()
        if kind < 0.9:
            return b"id%d" % self.randrange(30)
        if kind < 0.93:
            return b"\x00\xff\r\n%d" % self.randrange(3)
        if kind < 0.95:
            return b""
        if kind < 0.97:
            return b"x" * self.choice((100, 65535))
        if kind < 0.975:
            return b"x" * 65536
        return b"id%d" % self.randrange(1000)

    def payload(self):
        self.payloads = getattr(self, "payloads", 0) + 1
        kind = self.random()
        # Unique, because REDE.POLL identifies events only by payload. Not a
        # number, which spoil() could make equal to others.
        mark = b"p%d" % self.payloads
        if kind < 0.8:
            return mark
        if kind < 0.9:
            return mark + bytes(self.choices(range(256), k=self.randrange(99)))
        if kind < 0.98:
            return mark.ljust(self.randrange(MAX_PAYLOAD + 1), b".")
        return mark.ljust(MAX_PAYLOAD + self.randrange(2), b".")

    def delay(self):
        if self.random() < 0.03:
            return self.huge()
        return self.choice(
            (0, 0, 1, 3, self.randrange(50), HOUR, HOUR, HOUR, 2 * HOUR,
             self.randrange(HOUR, 9 * HOUR), 1000 * HOUR, 1 << 40)
        )  # fmt: skip

    def when(self):
        if self.random() < 0.03:
            return self.huge()
        return self.choice(
            (0, 1, now() - self.randrange(HOUR), now() + self.randrange(20),
             now() + HOUR, now() + self.randrange(HOUR, 9 * HOUR),
             (1 << 41) + self.randrange(5))
        )  # fmt: skip

    # Numbers in scripts are doubles: those beyond 2^53 are not exact.
    scripts = False

    def huge(self):
        if self.scripts:
            return 1 << 40
        return self.choice(((1 << 53), (1 << 53) - 1, 1 << 52))

    def junk(self):
        return self.choice(
            (b"", b"x", b"-1", b"+5", b" 5", b"5 ", b"0x10", b"1e3", b"1.5",
             b"9007199254740993", b"18446744073709551615", b"5\x00",
             b"-9223372036854775809", b"00", b"-0")
        )  # fmt: skip

    def case(self, word):
        return self.choice((word, word.lower(), word.title()))

    def time_option(self, by=False):
        kind = self.random()
        if by and kind < 0.4:
            value = self.choice(
                (-HOUR, HOUR, -10, 10, 0, self.randrange(-9 * HOUR, 9 * HOUR),
                 self.huge(), -self.huge())
            )  # fmt: skip
            return [self.case(b"BY"), b"%d" % value]
        if kind < 0.7:
            return [self.case(b"DELAY"), b"%d" % self.delay()]
        return [self.case(b"AT"), b"%d" % self.when()]

    # A command of each name

    def lawn_push(self):
        i = b"*" if self.random() < 0.15 else self.id()
        parts = [self.time_option()]
        if self.random() < 0.2:
            parts.append([self.case(self.choice((b"NX", b"XX")))])
        if self.random() < 0.2:
            period = self.choice(
                (1, 7, 100, HOUR, self.randrange(1, HOUR), self.huge())
            )
            parts.append([self.case(b"EVERY"), b"%d" % period])
            if self.random() < 0.5:
                parts.append(
                    [self.case(b"TIMES"), b"%d" % self.randrange(1, 5)]
                )
        if self.random() < 0.2:
            parts.append([self.case(b"TRIES"), b"%d" % self.randrange(4)])
        if self.random() < 0.1:
            jitter = self.choice((0, 1, 100, HOUR, self.huge()))
            parts.append([self.case(b"JITTER"), b"%d" % jitter])
        self.shuffle(parts)
        return [self.key(), i, self.payload(), *sum(parts, [])]

    def lawn_mpush(self):
        count = self.choice((1, 1, 2, 3, self.randrange(1, 60)))
        pairs = []
        for _ in range(count):
            i = b"*" if self.random() < 0.1 else self.id()
            pairs += [i, self.payload()]
        if self.random() < 0.05:
            count += self.choice((-1, 1))
        return [self.key(), *self.time_option(), b"%d" % count, *pairs]

    def ids(self):
        return [self.id() for _ in range(self.choice((1, 1, 2, 5)))]

    def lawn_cancel(self):
        return [self.key(), *self.ids()]

    def lawn_pull(self):
        return [self.key(), self.id()]

    rede_pull = rede_look = lawn_pull

    def lawn_get(self):
        meta = [self.case(b"META")] if self.random() < 0.6 else []
        return [self.key(), self.id(), *meta]

    def lawn_update(self):
        return [self.key(), self.id(), self.payload()]

    rede_update = lawn_update

    def lawn_touch(self):
        parts = [self.time_option(by=True)]
        if self.random() < 0.4:
            parts.append([self.case(self.choice((b"GT", b"LT")))])
        self.shuffle(parts)
        return [self.key(), self.id(), *sum(parts, [])]

    def count(self):
        value = self.choice((1, 2, 3, 10, 39, 40, 41, 100, 1 << 40))
        return [self.case(b"COUNT"), b"%d" % value]

    def lawn_poll(self):
        parts = []
        if self.random() < 0.6:
            parts.append(self.count())
        if self.random() < 0.4:
            parts.append([self.case(b"META")])
        if self.random() < 0.1:
            parts.append([self.case(b"BLOCK"), b"%d" % self.randrange(1, 4)])
        self.shuffle(parts)
        return [self.key(), *sum(parts, [])]

    # Leases. The reference knows current and old ones.

    held = ()

    def holding(self):
        """Returns a key, an id and a token, often matching ones."""
        if self.held and self.random() < 0.9:
            # Mostly recent ones.
            return self.choice(self.held[-self.choice((5, 30, 300)) :])
        token = self.choice((0, 1, now() * 1024, (1 << 63) - 1))
        return self.key(), self.id(), b"%d" % token

    def lease(self):
        value = self.choice((1, 2, 20, 50, 50, HOUR, HOUR, HOUR, self.huge()))
        return [self.case(b"LEASE"), b"%d" % value]

    def lawn_lease(self):
        owner = self.choice(
            (b"me", b"you", b"", b"\x00\xff\r\n", b"w" * 255, b"w" * 256)
            if self.random() < 0.3 else (b"me", b"you")
        )  # fmt: skip
        parts = [self.lease()] if self.random() < 0.8 else []
        if self.random() < 0.7:
            parts.append(self.count())
        if self.random() < 0.05:
            parts.append([self.case(b"BLOCK"), b"%d" % self.randrange(1, 4)])
        self.shuffle(parts)
        return [self.key(), owner, *sum(parts, [])]

    def lawn_ack(self):
        key, *pair = self.holding()
        for _ in range(self.choice((0, 0, 1, 4))):
            pair += self.holding()[1:]
        return [key, *pair]

    def lawn_nack(self):
        delay = [self.case(b"DELAY"), b"%d" % self.delay()]
        return [*self.holding(), *(delay if self.random() < 0.6 else [])]

    def lawn_extend(self):
        return [*self.holding(), *self.lease()]

    def lawn_sink(self):
        key = self.key()
        kind = self.choices(
            ([b"STREAM", b"out:" + key], [b"NONE"], [b"STREAM", b"s"],
             [b"STREAM", b"out:" + key, b"MAXLEN", b"~", b"1000000"]),
            (4, 6, 0.5, 1),
        )[0]  # fmt: skip
        dead = [self.case(b"DEADLETTER"), b"dead:" + key]
        return [
            key, self.case(kind[0]), *kind[1:],
            *(dead if self.random() < 0.4 else []),
        ]  # fmt: skip

    def lawn_partition(self):
        count = self.choice((1, 2, 16, 1000, 16384, 16385, 0))
        return [self.id(), b"%d" % count]

    def rede_poll(self):
        return [self.key(), *(self.count() if self.random() < 0.7 else [])]

    rede_xpoll = rede_poll

    def rede_xack(self):
        return [self.key(), *self.ids()]

    def alone(self):
        return [self.key()]

    lawn_next = lawn_info = rede_ttn = rede_print = alone
    lawn_pause = lawn_resume = alone

    def lawn_len(self):
        word = self.choice(
            ([], [b"WAITING"], [b"DUE"], [b"LEASED"], [b"DEAD"])
        )
        return [self.key(), *map(self.case, word)]

    def lawn_scan(self):
        parts = []
        if self.random() < 0.5:
            parts.append(self.count())
        if self.random() < 0.3:
            parts.append(
                [
                    self.case(b"STATE"),
                    self.choice((b"waiting", b"due", b"Due", b"leased", b"dead")),
                ]
            )
        if self.random() < 0.3:
            parts.append([self.case(b"MATCH"), self.choice(list(GLOBS))])
        return [self.key(), b"0", *sum(parts, [])]

    def lawn_config(self):
        if self.random() < 0.4:
            names = self.sample(
                (b"maxlen", b"maxbytes", b"overflow", b"resolution-ms",
                 b"tries", b"lease"),
                self.randrange(7),
            )  # fmt: skip
            return [self.key(), self.case(b"GET"), *names]
        pairs = self.sample(
            (
                [b"maxlen", b"%d" % self.choice((0, 0, 10, 20, 40))],
                [b"maxbytes", b"%d" % self.choice((0, 0, 5000, 20000))],
                [b"overflow", self.choice((b"reject", b"drop-oldest"))],
                [b"resolution-ms", b"%d" % self.choice((0, 1, 1, 7, 1000))],
                [b"tries", b"%d" % self.choice((0, 0, 1, 3))],
                [b"lease", b"%d" % self.choice((0, 0, 30, HOUR))],
            ),
            self.randrange(1, 7),
        )
        return [self.key(), self.case(b"SET"), *sum(pairs, [])]

    def rede_push(self):
        return [self.key(), b"%d" % self.delay(), self.payload(), self.id()]

    def rede_gidpush(self):
        return [self.key(), b"%d" % self.delay(), self.payload()]

    # Now and then an invalid command

    def spoil(self, args):
        args = list(args)
        kind = self.randrange(6)
        at = self.randrange(1, len(args))
        if kind == 0:
            del args[at]
        elif kind == 1:
            args.insert(at, self.choice((b"NX", b"META", b"DELAY", b"junk")))
        elif kind == 2:
            numbers = [
                i
                for i in range(2, len(args))
                if number(args[i], -(1 << 53), 1 << 53) is not None
            ]
            if numbers:
                args[self.choice(numbers)] = self.junk()
        elif kind == 3:
            args[at:] = args[at:] + args[at:]
        elif kind == 4:
            args[1] = b"k" * self.choice((65535, 65536))
        else:
            args.append(self.choice((b"", b"COUNT", b"\xff", b"LT")))
        return args

    WEIGHTS = {
        "LAWN.PUSH": 30, "LAWN.MPUSH": 6, "LAWN.CANCEL": 5, "LAWN.PULL": 3,
        "LAWN.GET": 8, "LAWN.UPDATE": 4, "LAWN.TOUCH": 10, "LAWN.POLL": 5,
        "LAWN.NEXT": 2, "LAWN.LEN": 4, "LAWN.SCAN": 2, "LAWN.INFO": 3,
        "LAWN.CONFIG": 2, "LAWN.PAUSE": 0.3, "LAWN.RESUME": 1,
        "REDE.PUSH": 8, "REDE.GIDPUSH": 2, "REDE.PULL": 2, "REDE.POLL": 1,
        "REDE.XPOLL": 2, "REDE.XACK": 4, "REDE.LOOK": 2, "REDE.TTN": 1,
        "REDE.UPDATE": 2, "REDE.PRINT": 0.3,
        "LAWN.LEASE": 10, "LAWN.ACK": 6, "LAWN.NACK": 4, "LAWN.EXTEND": 3,
        "LAWN.SINK": 0.7, "LAWN.PARTITION": 0.5,
    }  # fmt: skip

    def command(self):
        name = self.choices(
            list(self.WEIGHTS), list(self.WEIGHTS.values())
        )[0]
        make = getattr(self, name.lower().replace(".", "_"))
        args = [self.case(name.encode()), *make()]
        # The name of a stream contains that of its key.
        if self.random() < 0.06 and name != "LAWN.SINK":
            args = self.spoil(args)
        return args


class Driver:
    def __init__(self, seed):
        self.dice = Dice(seed)
        self.reference = Reference(MAX_BATCH, MAX_PAYLOAD, LEASE)
        self.reference.keys[b"s"] = None
        self.dice.held = []
        self.read = {}  # stream → last id that was read
        self.handed = 0
        self.resuming = set()  # keys that hold() paused
        self.commands = 0
        self.ways = {}
        self.coming = []
        self.done = []  # of this batch
        options = (
            "appendonly", "yes", "appendfsync", "no",
            "auto-aof-rewrite-percentage", "0", "shutdown-timeout", "0",
            "lawn.max-batch", MAX_BATCH, "lawn.max-payload", MAX_PAYLOAD,
            "lawn.default-lease", LEASE,
        )  # fmt: skip
        self.protocol = self.dice.choice((2, 3))
        self.dice.scripts = self.dice.random() < 0.7
        self.master = server.Server(*options)
        self.replica = server.Server(
            *options, "replicaof", "127.0.0.1\0%d" % self.master.port
        )
        self.connect()
        self.client.call("SET", b"s", "a string")

    def connect(self):
        self.client = self.master.client(self.protocol)

    # COMMANDS

    def judge(self, args, reply, before, after):
        self.done.append(args)
        reply = plain(reply)
        try:
            self.reference.judge(args, reply, before, after)
        except Wrong as wrong:
            what = " ".join(map(str, wrong.args))[:1000]
            raise Wrong(
                what, "by", shown(args), "reply", repr(reply)[:500]
            ) from None
        if args[0].upper() == b"LAWN.LEASE" and isinstance(reply, list):
            for row in reply:
                self.dice.held.append((args[1], row[0], b"%d" % row[2]))

    def one(self, args):
        self.commands += 1
        sinks = self.sinks(args)
        if self.stars(args) and (
            sinks or self.reference.counts_bytes(args[1])
        ):
            # The length of an id that was generated and then rejected is
            # unknown; also that of one that was removed.
            args = [self.dice.id() if a == b"*" else a for a in args]
        if sinks and not self.bad_arity(args):
            self.within(args)
            return
        before = now()
        reply = self.client.call(*args)
        self.judge(args, reply, before, now())
        if self.stars(args):
            self.learn(args[1])
        if self.reference.may_drop(args) and not sinks:
            self.reference.gone(args[1], self.scan(args[1], "COUNT", MAX_BATCH))

    # SINKS

    def sinks(self, args):
        """Returns True if a sink may remove the events of the command
        meanwhile."""
        queue = self.reference.keys.get(args[1]) if len(args) > 1 else None
        return args[0].upper() == b"LAWN.SINK" or bool(queue and queue.sinks())

    def within(self, args):
        """Runs in one transaction: reads delivered entries, runs a command, and
        reads the rest."""
        key = args[1]
        commands = [
            (b"XRANGE", s + key, b"(" + self.read.get(s + key, b"0"), b"+")
            for s in STREAMS
        ]
        drops = self.reference.may_drop(args)
        commands += [args, (b"EVAL", SCAN, b"1", key)][: 1 + drops]
        before = now()
        replies = self.client.multi(*commands)
        after = now()
        self.took(key, replies[:2], after)
        self.judge(args, replies[2], before, after)
        if drops:
            self.reference.gone(key, set(map(bytes, replies[3])))

    def took(self, key, left, after):
        for stream, entries in zip(STREAMS, left):
            found = []
            for entry, fields in entries:
                self.read[stream + key] = bytes(entry)
                fields = plain(fields)
                found.append(dict(zip(fields[::2], fields[1::2])))
            self.handed += len(found)
            # The time is unknown within the interval since the key was last
            # read.
            self.reference.handed(key, found, 0, after)

    def hold(self):
        """Lets all sinks deliver what they can, and then stops them."""
        for key, queue in list(self.reference.keys.items()):
            if queue is None or not queue.sinks():
                continue
            if queue.paused:
                continue
            if queue.sink[1] == b"out:" + key:
                server.wait_until(
                    lambda k=key: self.client.call("LAWN.LEN", k, "DUE") == 0,
                    "the sink takes due events",
                )
            if queue.dead_to:
                server.wait_until(
                    lambda k=key: self.client.call("LAWN.LEN", k, "DEAD") == 0,
                    "the dead letters get what is dead",
                )
            self.one([b"LAWN.PAUSE", key])
            self.resuming.add(key)

    def resume_keys(self):
        for key in self.resuming:
            self.one([b"LAWN.RESUME", key])
        self.resuming.clear()

    @staticmethod
    def stars(args):
        return args[0].upper() == b"LAWN.MPUSH" and b"*" in args[5::2]

    def learn(self, key):
        """Reads the ids that the server generated but did not return."""
        nameless = self.reference.nameless(key)
        if not nameless:
            return
        new = self.scan(key) - set(self.reference.keys[key].events)
        found = {plain(self.client.call("LAWN.GET", key, i)): i for i in new}
        for payload in nameless:
            want(payload in found, "no event with the payload", payload)
            self.reference.named(key, payload, found[payload])

    def run(self):
        """Runs some commands in one of several ways."""
        dice = self.dice
        size = dice.choice((1, 1, 1, 5, 20))
        commands = [dice.command() for _ in range(size)]
        # Commands that need an immediate check are sent alone.
        alone = any(
            self.reference.may_drop(args)
            or args[0].upper() == b"LAWN.CONFIG"
            or self.stars(args)
            or self.sinks(args)
            for args in commands
        )
        waits = any(b"BLOCK" in (w.upper() for w in c) for c in commands)
        if alone:
            for args in commands:
                self.one(args)
            return
        way = dice.choices(("pipe", "multi", "script"), (6, 2, 1))[0]
        before = now()
        if way == "pipe" or any(self.bad_arity(c) for c in commands):
            replies = self.client.pipe(commands)
        elif way == "multi":
            replies = self.client.multi(*commands)
        else:
            # The reply of a script is converted: only RESP2 is unchanged.
            if self.protocol == 3 or waits or not dice.scripts:
                return
            replies = [
                self.client.call(
                    "EVAL", "return redis.pcall(unpack(ARGV))", 0, *args
                )
                for args in commands
            ]
        after = now()
        self.commands += size
        for args, reply in zip(commands, replies):
            self.judge(args, reply, before, after)

    @staticmethod
    def bad_arity(args):
        arity = ARITY[args[0].upper()]
        return len(args) != arity if arity > 0 else len(args) < -arity

    def bulk(self):
        """Many events are added or removed at once: tables split and merge."""
        dice = self.dice
        key = dice.choice((b"a", b"b"))
        ids = [b"bulk%d" % i for i in range(BULK)]
        if dice.random() < 0.6:
            pairs = sum(([i, dice.payload()[:9]] for i in ids), [])
            when = dice.time_option()
            self.one([b"LAWN.MPUSH", key, *when, b"%d" % BULK, *pairs])
        else:
            dice.shuffle(ids)
            self.one([b"LAWN.CANCEL", key, *ids[: dice.randrange(1, BULK)]])

    def at_once(self):
        """More events become due at once than a call examines. The server does
        not examine a paused key on its own."""
        key = self.dice.choice((b"a", b"b"))
        ids = [b"bulk%d" % i for i in range(BULK)]
        pairs = sum(([i, self.dice.payload()[:9]] for i in ids), [])
        self.one([b"LAWN.PAUSE", key])
        self.one([b"LAWN.MPUSH", key, b"DELAY", b"5", b"%d" % BULK, *pairs])
        due = now() + 5
        server.wait_until(lambda: now() > due, "they are due")
        self.one([b"LAWN.LEN", key, self.dice.choice((b"WAITING", b"DUE"))])
        self.one([self.dice.choice((b"LAWN.INFO", b"LAWN.NEXT")), key])
        self.one([b"LAWN.RESUME", key])

    def keyspace(self):
        """Commands of the server on keys."""
        keys = self.reference.keys
        one, other = self.dice.choice(KEYS[:3]), self.dice.choice(KEYS[:3])
        kind = self.dice.choice(("RENAME", "COPY", "DEL", "MOVE"))
        if one not in keys or one == other:
            return
        if any(q and q.sinks() for q in keys.values()):
            return
        if kind == "RENAME":
            self.client.call("RENAME", one, other)
            keys[other] = keys.pop(one)
            self.reference.tokens.pop(other, None)
        elif kind == "COPY":
            self.client.call("COPY", one, other, "REPLACE")
            keys[other] = copy.deepcopy(keys[one])
            keys[other].loaded()
            self.reference.tokens.pop(other, None)
        elif kind == "DEL":
            self.client.call("DEL", one)
            del keys[one]
        else:
            # There and back: pending events must move along.
            self.client.pipe(
                [("MOVE", one, 1), ("SWAPDB", 0, 1), ("SELECT", 1)]
            )
            for key in self.client.call("KEYS", "*"):
                self.client.call("MOVE", key, 0)
            self.client.call("SELECT", 0)

    # CONTENT

    def scan(self, key, *more):
        """Returns all ids of a key; no id may occur twice."""
        ids = []
        cursor = b"0"
        for _ in range(100000):
            cursor, some = self.client.call("LAWN.SCAN", key, cursor, *more)
            ids += map(bytes, some)
            if cursor == b"0":
                break
        want(len(set(ids)) == len(ids), "an id twice in a scan", key, ids)
        want(cursor == b"0", "a scan without end", key)
        return set(ids)

    def compare(self):
        """Compares the contents of the server with the reference."""
        keys = {
            bytes(k)
            for k in self.client.call("KEYS", "*")
            if not k.startswith(STREAMS)
        }
        want(
            keys == set(self.reference.keys),
            "keys", keys, "wanted", set(self.reference.keys),
        )  # fmt: skip
        for key, queue in self.reference.keys.items():
            if queue is None:
                continue
            ids = self.scan(key, b"COUNT", self.dice.choice((1, 7, 1000)))
            want(
                ids == set(queue.events),
                "ids of", key, "too many", ids - set(queue.events),
                "missing", set(queue.events) - ids,
            )  # fmt: skip
            glob = self.dice.choice(list(GLOBS))
            found = self.scan(key, b"MATCH", glob, b"COUNT", b"100")
            want(
                found == {i for i in ids if matches(glob, i)},
                "ids of", key, "that match", glob, found,
            )  # fmt: skip
            reads = [[b"LAWN.GET", key, i, b"META"] for i in ids]
            reads += [[b"LAWN.LEN", key], [b"LAWN.NEXT", key]]
            reads += [[b"LAWN.INFO", key], [b"LAWN.CONFIG", key, b"GET"]]
            before = now()
            replies = self.client.pipe(reads)
            after = now()
            for args, reply in zip(reads, replies):
                self.judge(args, reply, before, after)

    def digests(self, one):
        """Returns the digest of each key of one server."""
        keys = sorted(k for k, q in self.reference.keys.items() if q)
        keys += sorted(self.read)
        if not keys:
            return {}
        found = one.call("DEBUG", "DIGEST-VALUE", *keys)
        return dict(zip(keys, map(plain, found)))

    def same(self, way, expected, found):
        self.ways[way] = self.ways.get(way, 0) + 1
        for key in expected:
            want(
                expected[key] == found.get(key),
                "digest of", key, "is another", way,
            )  # fmt: skip

    def order(self, one, key, known):
        """Checks that due events are delivered in the right order."""
        before = now()
        reply = one.call("REDE.XPOLL", key)
        self.judge([b"REDE.XPOLL", known], reply, before, now())

    # OTHER WAYS TO THE SAME CONTENT

    def elsewhere(self):
        live = self.digests(self.master)
        self.on_replica(live)
        self.copied(live)
        # Each in turn, in random order.
        if not self.coming:
            self.coming = [
                self.reload, self.restart, self.rewrite_yes, self.rewrite_no,
                self.replica_alone, self.nothing,
            ]  # fmt: skip
            self.dice.shuffle(self.coming)
        self.coming.pop()(live)

    def nothing(self, live):
        pass

    def on_replica(self, live):
        offset = int(self.master.info("replication")["master_repl_offset"])
        server.wait_until(
            lambda: self.replica.info("replication").get("master_link_status")
            == "up"
            and int(self.replica.info("replication")["slave_repl_offset"])
            >= offset,
            "the replica follows",
        )
        self.same("on the replica", live, self.digests(self.replica))
        count = self.replica.call("DBSIZE")
        want(
            count == self.master.call("DBSIZE"), "keys on the replica", count
        )
        for key in live:
            if key not in self.read:
                self.order(self.replica, key, key)

    def copied(self, live):
        copies = {}
        for key in live:
            if key in self.read:
                continue
            copied = b"copy of " + key[:20]
            kind = self.dice.randrange(3)
            if kind == 0:
                dump = self.client.call("DUMP", key)
                reply = self.client.call("RESTORE", copied, 0, dump)
            elif kind == 1 and not self.reference.keys[key].sinks():
                reply = self.client.call("COPY", key, copied)
            else:
                continue
            want(
                not isinstance(reply, resp.Error), "no copy of", key, reply
            )
            found = self.client.call("DEBUG", "DIGEST-VALUE", copied)
            copies[key] = plain(found[0])
            self.order(self.client, copied, key)
            self.client.call("DEL", copied)
        self.same("in a copy", {k: live[k] for k in copies}, copies)

    def ttls(self):
        """Returns, for some keys, whether the key has blades: "ttls" of
        LAWN.INFO. Their number depends on the key's history. But there are none
        if all events have individual times, and some if more than FEW events
        are delayed. Other keys are omitted, and so are keys with leased events
        or events that are due soon."""
        found = {}
        soon = now() + HOUR // 2
        for key, queue in self.reference.keys.items():
            events = queue.events.values() if queue else ()
            kinds = [e.kind for e in events]
            alone = all(kind == b"AT" for kind in kinds)
            delayed = sum(kind not in (b"AT", None) for kind in kinds)
            if (
                events
                and (alone or delayed > FEW)
                and all(e.lo > soon and not e.token for e in events)
            ):
                info = plain(self.client.call("LAWN.INFO", key))
                if isinstance(info, list):
                    info = dict(zip(info[::2], info[1::2]))
                found[key] = info[b"ttls"] > 0
                want(not (alone and found[key]), "delays of none", key, info)
        return found

    def again(self, way, live, ttls):
        self.reference.loaded()
        self.same(way, live, self.digests(self.master))
        found = self.ttls()
        want(found == ttls, "delays", ttls, "became", found, way)
        self.compare()

    def replica_alone(self, live):
        """Starts it from its own append-only file, without a master."""
        one = self.replica
        server.wait_until(lambda: self.rewritten(one), "its file is complete")
        options = one.options
        one.options = options[: options.index("replicaof")]
        one.restart()
        one.options = options
        self.same("in the replica's own file", live, self.digests(one))
        one.call("REPLICAOF", "127.0.0.1", self.master.port)

    def reload(self, live):
        ttls = self.ttls()
        reply = plain(self.client.call("DEBUG", "RELOAD"))
        want(reply == "OK", "DEBUG RELOAD", reply)
        self.again("after a reload", live, ttls)

    def restart(self, live, way="after a restart"):
        ttls = self.ttls()
        self.master.restart()
        self.connect()
        self.again(way, live, ttls)
        # Otherwise it would check only once a second.
        self.replica.call("REPLICAOF", "NO", "ONE")
        self.replica.call("REPLICAOF", "127.0.0.1", self.master.port)

    @staticmethod
    def rewritten(one):
        info = one.info("persistence")
        return (
            info["aof_enabled"] == "1"
            and info["aof_rewrite_in_progress"] == "0"
            and info["aof_rewrite_scheduled"] == "0"
            and info["aof_last_bgrewrite_status"] == "ok"
        )

    def rewrite(self, live, preamble):
        call = self.client.call
        call("CONFIG", "SET", "aof-use-rdb-preamble", preamble)
        reply = plain(call("BGREWRITEAOF"))
        want(not isinstance(reply, Error), "BGREWRITEAOF", reply)
        # Commands continue meanwhile.
        for _ in range(self.dice.randrange(3)):
            self.run()
        server.wait_until(
            lambda: self.rewritten(self.master), "the file is rewritten"
        )
        self.hold()
        live = self.digests(self.master)
        self.restart(live, "after a rewrite, preamble " + preamble)

    def rewrite_yes(self, live):
        self.rewrite(live, "yes")

    def rewrite_no(self, live):
        self.rewrite(live, "no")

    def batch(self, size):
        self.done = []
        end = self.commands + size
        while self.commands < end:
            self.run()
            kind = self.dice.random()
            if kind < 0.01:
                self.bulk()
            elif kind < 0.02:
                self.keyspace()
            elif kind < 0.025:
                self.at_once()
        self.hold()
        self.compare()
        self.elsewhere()
        self.resume_keys()
        if self.dice.random() < 0.2:
            self.client.call("FLUSHALL")
            self.client.call("SET", b"s", "a string")
            self.reference.keys = {b"s": None}
            self.read.clear()


def shown(args):
    return " ".join(
        repr(a)[2:-1] if len(a) < 60 else "<%d bytes>" % len(a) for a in args
    )


def run(seed, ops, batch):
    began = time.monotonic()
    driver = Driver(seed)
    try:
        while driver.commands < ops:
            driver.batch(batch)
        driver.master.check()
        driver.replica.check()
    except Exception:
        print("seed %d, after %d commands:" % (seed, driver.commands))
        for args in driver.done[-40:]:
            print("   ", shown(args))
        raise
    print(
        "%d commands, %d events leased, %d taken by sinks, %s, %.1f s"
        % (
            driver.commands, len(driver.dice.held), driver.handed,
            ", ".join("%d times %s" % (n, w) for w, n in driver.ways.items()),
            time.monotonic() - began,
        )
    )  # fmt: skip


def main():
    options = server.arguments(__doc__, seed=1, ops=20000, batch=250, runs=1)

    def of_seed(seed):
        def test():
            run(seed, options.ops, options.batch)

        test.__name__ = "random_commands_do_as_the_reference_seed_%d" % seed
        return test

    server.attempt_all(
        of_seed(options.seed + i) for i in range(options.runs)
    )


if __name__ == "__main__":
    main()
