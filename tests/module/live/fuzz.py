#!/usr/bin/env python3
"""fuzz.py - sends random and malformed commands through a real connection.

lines: pipelines of about a thousand commands: valid ones, damaged ones, binary,
huge and empty words, keys of other types, words in any order, LAWN.APPLY,
inside MULTI and scripts, mixed with RENAME, COPY, FLUSHDB and similar commands.
Each line gets exactly one reply: they are counted, and an ECHO must return at
its position. Now and then all keys must have the same digest after DEBUG
RELOAD.

restore: payloads of DUMP, with bytes, or the numbers and strings in them,
changed, truncated or moved, and a valid checksum. The server rejects them, or
accepts a value that can be read, dumped and restored again to the same digest,
polled and pushed to.

The server must be alive at the end, and its log must not contain a crash
report.
"""
import random
import re
import select
import time

import rdb
import resp
import server
from server import now_ms as now

HOUR = 3600 * 1000
KEYS = (b"a", b"b", b"{c}", b"d\x00", b"string", b"list")
QUIET = tuple(b"quiet%d" % i for i in range(30))  # with less traffic
ROUND = 5  # batches between two reloads of all keys
TOKEN = re.compile(rb"\r\n:(\d{16})\r\n")  # in the replies to LEASE


class More(Exception):
    """The reply is incomplete."""


def skip(data, at):
    """Returns the end of the reply that begins at this position."""
    left = 1
    while left:
        end = data.find(b"\r\n", at)
        if end < 0:
            raise More
        kind = data[at : at + 1]
        left -= 1
        if kind in b"$=!":
            size = int(data[at + 1 : end])
            end += size + 2 if size >= 0 else 0
            if end + 2 > len(data):
                raise More
        elif kind in b"*~>":
            left += max(0, int(data[at + 1 : end]))
        elif kind == b"%":
            left += 2 * int(data[at + 1 : end])
        else:
            assert kind in b"+-:_#,(", data[at : at + 40]
        at = end + 2
    return at


class Pipe:
    """A connection, and a second one that wakes it if it waits for an event."""

    def __init__(self, one):
        self.server = one
        self.client = one.client()
        self.side = one.client()
        self.me = self.client.call("CLIENT", "ID")
        self.socket = self.client.socket
        self.token = 0

    def replies(self, lines):
        """Returns the replies to these as bytes; fails unless there is one for
        each."""
        self.token += 1
        token = b"token-%d" % self.token
        marker = b"$%d\r\n%s\r\n" % (len(token), token)
        out = memoryview(
            b"".join(lines) + resp.encode("DISCARD") + resp.encode("ECHO", token)
        )
        data, ends, at = bytearray(), [], 0
        end_of_time = time.monotonic() + server.PATIENCE
        self.socket.setblocking(False)
        while not data.endswith(marker):
            ready = select.select(
                [self.socket], [self.socket] if out else [], [], 0.05
            )
            if out and ready[1]:
                out = out[self.socket.send(out[: 1 << 16]) :]
            if ready[0]:
                got = self.socket.recv(1 << 20)
                assert got, "the server has hung up"
                data += got
            elif not out:
                assert time.monotonic() < end_of_time, (
                    "no reply after %d of %d" % (len(ends), len(lines))
                )
                self.side.call("CLIENT", "UNBLOCK", self.me)
            try:
                while at < len(data):
                    at = skip(data, at)
                    ends.append(at)
            except More:
                pass
        assert at == len(data), "half a reply"
        starts = [0, *ends]
        found = [bytes(data[a:b]) for a, b in zip(starts, ends)]
        assert found.pop() == marker
        return found[:-1], len(found) - 1  # without that of DISCARD

    def run(self, lines):
        found, count = self.replies(lines)
        if count != len(lines):
            self.culprit(lines)
            raise AssertionError(
                "%d replies to %d lines" % (count, len(lines))
            )
        return found

    def culprit(self, lines):
        """Prints which line is not answered exactly once."""
        for line in lines:
            _, count = self.replies([line])
            if count != 1:
                print("%d replies to %r" % (count, line[:2000]))


# LINES


class Lines:
    def __init__(self, dice):
        self.dice = dice
        self.flushes = False  # whether all keys may be deleted at once
        self.pools = {
            "id": [b"id%d" % i for i in range(40)]
            + [b"", b"*", b"\x00", b"\xff" * 9],
            "payload": [b"", b"p", b"payload" * 9, bytes(range(256)), b"\r\n"],
            "number": [
                b"0", b"1", b"2", b"5", b"100", b"%d" % HOUR,
                b"%d" % (2 * HOUR), b"%d" % now(), b"%d" % (now() + HOUR),
                b"%d" % (1 << 53), b"%d" % (1 << 54), b"%d" % ((1 << 53) + 1),
                b"-1", b"-%d" % HOUR, b"x", b"", b"9" * 19, b"9" * 30, b"1.5",
                b"18446744073709551615", b"-9223372036854775808", b"00",
            ],
            "meta": [
                b"", b"a", b"g", b"e1", b"e5 t3", b"a g e100 t2 m7", b"m1",
                b"e0", b"t", b"z", b" a", b"e9223372036854775808", b"a a",
                b"e%d" % (1 << 53), b"e1 t1 m18446744073709551615", b"\x00",
                b"n1", b"k3", b"n3 k3", b"a n1 k2", b"e5 n4294967295 k1",
                b"n0", b"k4294967296", b"n1 n1",
            ],
            "word": [
                b"DELAY", b"AT", b"NX", b"XX", b"EVERY", b"TIMES", b"JITTER",
                b"META", b"COUNT", b"BLOCK", b"BY", b"GT", b"LT", b"WAITING",
                b"DUE", b"STATE", b"MATCH", b"GET", b"SET", b"ADD", b"DEL",
                b"CFG", b"maxlen", b"maxbytes", b"overflow", b"reject",
                b"drop-oldest", b"resolution-ms", b"tries", b"lease",
                b"paused", b"junk", b"\xff", b"LEASE", b"TRIES", b"LEASED",
                b"DEAD", b"STREAM", b"LIST", b"PUBLISH", b"SPUBLISH", b"NONE",
                b"MAXLEN", b"~", b"DEADLETTER", b"SINK", b"TOKEN",
            ],
            "owner": [b"", b"me", b"\x00\xff", b"w" * 255, b"w" * 256],
            "to": [b"out", b"out", b"string", b"list", b"a", b"", b"{c}"],
            "glob": [
                b"*", b"id[0-9]", b"[", b"[^", b"\\", b"*" * 60, b"?" * 9,
                b"[a-", b"id*[!1]", b"*a*a*a*a*a*a*b", b"",
            ],
        }  # fmt: skip
        self.numbers = self.pools["number"][:9]
        # and some received ones
        self.tokens = [b"0", b"1", b"%d" % (now() * 1024)]

    def of(self, pool):
        return self.dice.choice(self.pools[pool])

    def good(self):
        """Returns a number that a command accepts, mostly."""
        return self.dice.choice(self.numbers)

    def key(self):
        if self.dice.random() < 0.2:
            return self.dice.choice(QUIET)
        return self.dice.choices(KEYS, (8, 4, 2, 1, 0.5, 0.5))[0]

    def push(self):
        dice = self.dice
        line = [b"LAWN.PUSH", self.key(), self.of("id"), self.of("payload")]
        line += [dice.choice((b"DELAY", b"AT")), self.good()]
        if dice.random() < 0.2:
            line += [b"EVERY", self.good()]
            if dice.random() < 0.5:
                line += [b"TIMES", self.good()]
        if dice.random() < 0.2:
            line += [b"JITTER", self.good()]
        if dice.random() < 0.2:
            line.append(dice.choice((b"NX", b"XX")))
        if dice.random() < 0.2:
            line += [b"TRIES", dice.choice((b"0", b"1", b"2", b"4294967295"))]
        return line

    def mpush(self):
        pairs = []
        count = self.dice.randrange(1, 9)
        for _ in range(count):
            pairs += [self.of("id"), self.of("payload")]
        when = [self.dice.choice((b"DELAY", b"AT")), self.good()]
        return [b"LAWN.MPUSH", self.key(), *when, b"%d" % count, *pairs]

    def by_id(self):
        name = self.dice.choice(
            (b"LAWN.CANCEL", b"LAWN.PULL", b"LAWN.GET", b"REDE.PULL",
             b"REDE.LOOK", b"REDE.XACK")
        )  # fmt: skip
        return [name, self.key(), self.of("id")]

    def meta(self):
        return [b"LAWN.GET", self.key(), self.of("id"), b"META"]

    def update(self):
        name = self.dice.choice((b"LAWN.UPDATE", b"REDE.UPDATE"))
        return [name, self.key(), self.of("id"), self.of("payload")]

    def touch(self):
        word = self.dice.choice((b"DELAY", b"AT", b"BY"))
        line = [b"LAWN.TOUCH", self.key(), self.of("id"), word, self.of("number")]
        if self.dice.random() < 0.3:
            line.append(self.dice.choice((b"GT", b"LT")))
        return line

    def poll(self):
        line = [b"LAWN.POLL", self.key()]
        if self.dice.random() < 0.6:
            line += [b"COUNT", self.good()]
        if self.dice.random() < 0.4:
            line.append(b"META")
        if self.dice.random() < 0.02:
            line += [b"BLOCK", self.dice.choice((b"0", b"1", b"5", b"9"))]
        return line

    def alone(self):
        name = self.dice.choice(
            (b"LAWN.NEXT", b"LAWN.LEN", b"LAWN.INFO", b"LAWN.PAUSE",
             b"LAWN.RESUME", b"LAWN.RESUME", b"REDE.TTN", b"REDE.PRINT",
             b"REDE.POLL", b"REDE.XPOLL", b"REDE.TEST")
        )  # fmt: skip
        return [name, self.key()][: 1 if name == b"REDE.TEST" else 2]

    def scan(self):
        line = [b"LAWN.SCAN", self.key(), self.of("number")]
        if self.dice.random() < 0.5:
            line += [b"MATCH", self.of("glob")]
        if self.dice.random() < 0.5:
            line += [b"COUNT", self.good()]
        if self.dice.random() < 0.3:
            line += [
                b"STATE",
                self.dice.choice((b"waiting", b"due", b"leased", b"dead", b"x")),
            ]
        return line

    def lease(self):
        line = [b"LAWN.LEASE", self.key(), self.of("owner")]
        if self.dice.random() < 0.7:
            line += [b"LEASE", self.good()]
        if self.dice.random() < 0.7:
            line += [b"COUNT", self.good()]
        if self.dice.random() < 0.02:
            line += [b"BLOCK", self.dice.choice((b"0", b"1", b"5", b"9"))]
        return line

    def ack(self):
        line = [b"LAWN.ACK", self.key()]
        for _ in range(self.dice.choice((1, 1, 5))):
            line += [self.of("id"), self.dice.choice(self.tokens)]
        return line

    def nack(self):
        line = [self.of("id"), self.dice.choice(self.tokens)]
        if self.dice.random() < 0.5:
            return [b"LAWN.NACK", self.key(), *line]
        if self.dice.random() < 0.5:
            return [b"LAWN.NACK", self.key(), *line, b"DELAY", self.good()]
        return [b"LAWN.EXTEND", self.key(), *line, b"LEASE", self.good()]

    def sink(self):
        kind = self.dice.choice(
            (b"STREAM", b"STREAM", b"LIST", b"PUBLISH", b"SPUBLISH", b"NONE",
             b"NONE", b"NONE")
        )  # fmt: skip
        line = [b"LAWN.SINK", self.key(), kind]
        if kind != b"NONE":
            line.append(self.of("to"))
        if kind == b"STREAM" and self.dice.random() < 0.5:
            line += [b"MAXLEN", b"~", self.good()]
        if self.dice.random() < 0.3:
            line += [b"DEADLETTER", self.of("to")]
        return line

    def partition(self):
        return [b"LAWN.PARTITION", self.of("id"), self.of("number")]

    def config(self):
        pairs = []
        for _ in range(self.dice.randrange(1, 4)):
            pairs += [self.dice.choice(self.pools["word"][22:30]), self.good()]
        if self.dice.random() < 0.3:
            pairs = [b"overflow", self.dice.choice((b"reject", b"drop-oldest"))]
        verb = self.dice.choice((b"SET", b"GET"))
        return [b"LAWN.CONFIG", self.key(), verb, *pairs]

    def rede_push(self):
        if self.dice.random() < 0.5:
            return [b"REDE.GIDPUSH", self.key(), self.good(), self.of("payload")]
        return [
            b"REDE.PUSH", self.key(), self.good(), self.of("payload"),
            self.of("id"),
        ]  # fmt: skip

    def apply(self):
        verb = self.dice.choice(
            (b"ADD", b"DEL", b"AT", b"SET", b"CFG", b"LEASE", b"LEASE")
            if self.dice.random() < 0.95
            else (b"SINK", b"TOKEN")
        )
        line = [b"LAWN.APPLY", self.key(), verb]
        if verb == b"TOKEN":
            return line + [self.dice.choice(self.tokens)]
        if verb == b"SINK":
            kind = self.dice.choice((b"none", b"stream", b"list", b"publish"))
            return line + [kind, self.of("to"), self.good(), self.of("to")]
        for _ in range(self.dice.choice((1, 1, 2, 9))):
            i, p, meta = self.of("id"), self.of("payload"), self.of("meta")
            due, ttl = self.of("number"), self.of("number")
            line += {
                b"ADD": [i, p, due, ttl, meta],
                b"DEL": [i],
                b"AT": [i, due, ttl, meta],
                b"SET": [i, p],
                b"CFG": [self.of("word"), self.of("number")],
                b"LEASE": [
                    i, self.dice.choice(self.tokens), b"%d" % len(p), b"3", due,
                    ttl, self.of("owner"),
                ],
            }[verb]  # fmt: skip
        return line

    def all_keys(self):
        return self.dice.choice(
            ([b"FLUSHDB"], [b"FLUSHALL", b"ASYNC"], [b"SWAPDB", b"0", b"1"])
        )

    def other(self):
        a, b = self.key(), self.key()
        if self.flushes and self.dice.random() < 0.1:
            return self.all_keys()
        return self.dice.choice(
            (
                [b"RENAME", a, b], [b"COPY", a, b, b"REPLACE"], [b"DEL", a],
                [b"UNLINK", a], [b"EXPIRE", a, b"1"], [b"PEXPIRE", a, b"5"],
                [b"PERSIST", a], [b"TYPE", a], [b"DUMP", a],
                [b"OBJECT", b"ENCODING", a], [b"MEMORY", b"USAGE", a],
                [b"DEBUG", b"DIGEST-VALUE", a],
                [b"MOVE", a, b"1"], [b"SET", b"string", b"x"],
                [b"RPUSH", b"list", b"x"], [b"TOUCH", a], [b"GET", a],
                [b"COMMAND", b"DOCS", b"lawn.push"],
                [b"COMMAND", b"GETKEYS", b"LAWN.PUSH", a, b"i", b"p"],
                [b"INFO", b"lawn"],
                [b"CONFIG", b"SET", b"lawn.max-batch", self.of("number")],
                [b"CONFIG", b"SET", b"lawn.max-payload", self.of("number")],
                [b"CONFIG", b"SET", b"lawn.max-ttls", self.of("number")],
            )
        )  # fmt: skip

    def random_word(self):
        kind = self.dice.random()
        if kind < 0.3:
            return self.of("word")
        if kind < 0.6:
            return self.of("number")
        if kind < 0.9:
            return self.of(self.dice.choice(list(self.pools)))
        if kind < 0.998:
            return self.dice.randbytes(self.dice.randrange(40))
        return b"h" * self.dice.choice(
            (65535, 65536, 65536, 100000, 1 << 20, (1 << 20) + 1)
        )

    def spoil(self, line):
        dice = self.dice
        for _ in range(dice.choice((1, 1, 2, 5))):
            kind = dice.randrange(7)
            at = dice.randrange(1, len(line) + 1)
            if kind == 0:
                line.insert(at, self.random_word())
            elif kind == 1 and at < len(line):
                line[at] = self.random_word()
            elif kind == 2 and at < len(line):
                del line[at]
            elif kind == 3:
                tail = line[1:]
                dice.shuffle(tail)
                line[1:] = tail
            elif kind == 4:
                line[at:] += line[at:] * dice.choice((1, 1, 1, 50))
            elif kind == 5 and at < len(line) and line[at]:
                word = bytearray(line[at][:100])
                word[dice.randrange(len(word))] = dice.randrange(256)
                line[at] = bytes(word)
            elif kind == 6:
                line = line[:at]
        return line[:400]

    KINDS = (
        ("push", 25), ("mpush", 4), ("by_id", 12), ("meta", 4),
        ("update", 4), ("touch", 10), ("poll", 10), ("alone", 8),
        ("scan", 4), ("config", 3), ("rede_push", 5), ("apply", 12),
        ("lease", 8), ("ack", 5), ("nack", 4), ("sink", 0.3),
        ("partition", 0.3), ("other", 2),
    )  # fmt: skip

    def one(self):
        name = self.dice.choices(*zip(*self.KINDS))[0]
        line = getattr(self, name)()
        if self.dice.random() < 0.35 and name != "other":
            line = self.spoil(line)
        return line

    def batch(self, size):
        lines = []
        while len(lines) < size:
            line = self.one()
            kind = self.dice.random()
            if kind < 0.02:
                lines += [b"*1\r\n$5\r\nMULTI\r\n", resp.encode(*line)]
                for _ in range(self.dice.randrange(5)):
                    lines.append(resp.encode(*self.one()))
                lines.append(b"*1\r\n$4\r\nEXEC\r\n")
            elif kind < 0.04:
                call = self.dice.choice((b"call", b"pcall"))
                script = b"return redis.%s(unpack(ARGV))" % call
                lines.append(resp.encode(b"EVAL", script, b"0", *line))
            else:
                lines.append(resp.encode(*line))
        return lines


def reloaded(one, client):
    """All keys have the same contents after they were saved and loaded, and
    after all changes since the server was empty were replayed."""
    ours = resp.Simple(b"dehy-type")
    keys = [k for k in client.call("KEYS", "*")]
    keys = [k for k in keys if client.call("TYPE", k) == ours]
    for key in keys:
        client.call("PERSIST", key)
        client.call("LAWN.PAUSE", key)  # or a sink would remove events
    keys = [k for k in keys if client.call("TYPE", k) == ours]
    before = client.call("DEBUG", "DIGEST-VALUE", *keys)
    for way in "RELOAD", "LOADAOF":
        got = client.call("DEBUG", way)
        assert got == resp.OK, got
        after = client.call("DEBUG", "DIGEST-VALUE", *keys)
        assert before == after, "another digest after DEBUG %s: %r" % (
            way, [k for k, a, b in zip(keys, before, after) if a != b]
        )  # fmt: skip
    forget(one, client)
    return len(keys)


def forget(one, client):
    """Deletes all keys, and starts a new append-only file."""
    client.call("FLUSHALL")
    for how in "no", "yes":
        client.call("CONFIG", "SET", "appendonly", how)

    def begun():
        info = one.info("persistence")
        return (
            info["aof_enabled"] == "1"
            and info["aof_rewrite_in_progress"] == "0"
            and info["aof_rewrite_scheduled"] == "0"
        )

    server.wait_until(begun, "an append-only file begins")


def fuzz_lines(one, dice, count):
    pipe = Pipe(one)
    lines = Lines(dice)
    sent = kept = batches = reloads = 0
    while sent < count:
        lines.flushes = batches % ROUND == 0
        batch = lines.batch(min(1000, count - sent))
        found = TOKEN.findall(b"".join(pipe.run(batch)))
        lines.tokens = lines.tokens[:3] + [b"%s" % t for t in found[-30:]]
        sent += len(batch)
        batches += 1
        if batches % ROUND == 0:
            reloads += 1
            kept += reloaded(one, pipe.side)
            for name in ("batch 1000", "payload 1mb", "ttls 4096"):
                pipe.side.call("CONFIG", "SET", *("lawn.max-" + name).split())
    one.check()
    print("%d lines, %d keys in %d reloads" % (sent, kept, reloads))
    assert kept >= 10 * reloads, "there was little to compare"


# PAYLOADS OF DUMP


def sealed(body):
    """Adds a valid checksum."""
    return body + rdb.crc64(body).to_bytes(8, "little")


def read_length(data, at):
    first = data[at]
    if first >> 6 == 0:
        return first & 63, at + 1
    if first >> 6 == 1:
        return (first & 63) << 8 | data[at + 1], at + 2
    size = {0x80: 4, 0x81: 8}[first]
    return int.from_bytes(data[at + 1 : at + 1 + size], "big"), at + 1 + size


def read_string(data, at):
    """Reads a string; a number that was stored as such is returned as digits, a
    compressed string as None."""
    if data[at] >> 6 != 3:
        size, at = read_length(data, at)
        return data[at : at + size], at + size
    kind = data[at] & 63
    if kind > 2:
        return None, at
    size = 1 << kind
    value = int.from_bytes(data[at + 1 : at + 1 + size], "little", signed=True)
    return b"%d" % value, at + 1 + size


def parts_of(dump):
    """Returns (id of the type, [saved items]) of a payload, or None."""
    ident, at = read_length(dump, 1)
    parts = []
    while True:
        kind, at = read_length(dump, at)
        if kind == rdb.MARK_END:
            return ident, parts
        if kind == rdb.MARK_UNSIGNED:
            value, at = read_length(dump, at)
        elif kind == rdb.MARK_STRING:
            value, at = read_string(dump, at)
        else:
            return None
        if value is None:
            return None
        parts.append(value)


def join_parts(ident, parts, version):
    return sealed(bytes([rdb.MODULE_2]) + rdb.row(ident, parts) + version)


class Payloads:
    """Dumps, and tests of their modifications."""

    NUMBERS = (
        0, 1, 2, 3, 5, 100, HOUR, 1 << 31, 1 << 32, 1 << 53, (1 << 53) + 1,
        1 << 54, (1 << 54) + 1, 1 << 63, (1 << 64) - 1, (1 << 64) - 2,
    )  # fmt: skip

    def __init__(self, client, dice):
        self.dice = dice
        self.dumps = []
        for key in self.make(client):
            dump = bytes(client.call("DUMP", key))
            assert sealed(dump[:-8]) == dump, "our CRC64 is another"
            self.dumps.append(dump)
        self.version = self.dumps[0][-10:-8]
        self.parsed = [p for p in map(parts_of, self.dumps) if p]
        assert self.parsed, "no payload could be read"
        self.parsed += [self.old_rede() for _ in range(3)]

    @staticmethod
    def make(client):
        client.call("FLUSHALL")
        push = ("LAWN.PUSH",)
        client.call(*push, "one", "id", "payload", "DELAY", HOUR)
        client.call(*push, "two", "id", "payload", "AT", 1)
        client.call(
            *push, "two", "again", "x" * 70, "DELAY", 5, "EVERY", 7, "TIMES", 3
        )
        client.call(*push, "two", "*", "made", "AT", now() + HOUR, "EVERY", 9)
        for i in range(12):
            client.call(*push, "many", i, i, "DELAY", HOUR * (i % 3))
        client.call("LAWN.CONFIG", "many", "SET", "maxlen", 20, "maxbytes", 999)
        client.call("LAWN.PAUSE", "paused")
        client.call("LAWN.POLL", "many", "COUNT", 1)
        for i in range(9):
            client.call(*push, "leases", i, i, "AT", 1, "TRIES", i % 3)
        for owner, ms in (("me", 1), ("", HOUR), ("you", 2 * HOUR)):
            got = client.call("LAWN.LEASE", "leases", owner, "LEASE", ms,
                              "COUNT", 2)  # fmt: skip
            client.call("LAWN.NACK", "leases", got[0][0], got[0][2])
        client.call("LAWN.CONFIG", "leases", "SET", "tries", 3, "lease", 99)
        client.call("LAWN.PAUSE", "leases")
        client.call("LAWN.SINK", "leases", "LIST", "to", "DEADLETTER", "dead")
        return "one", "two", "many", "paused", "leases"

    def old_rede(self):
        """As saved by ReDe."""
        dice = self.dice
        ident = self.parsed[0][0] & ~1023
        parts = [b"name", dice.randrange(4)]
        for _ in range(parts[1]):
            count = dice.randrange(4)
            parts += [dice.choice((0, 5, 1000, HOUR)), count]
            for _ in range(count):
                parts += [
                    now() + dice.choice((-HOUR, 0, HOUR)),
                    b"%d" % dice.randrange(99), b"payload",
                ]  # fmt: skip
        return ident, parts

    def bytes_changed(self):
        dice = self.dice
        body = bytearray(dice.choice(self.dumps)[:-8])
        for _ in range(dice.choice((1, 1, 2, 8))):
            kind = dice.randrange(4)
            at = dice.randrange(1, len(body) - 1)
            if kind == 0:
                body[at] = dice.randrange(256)
            elif kind == 1:
                body[at] ^= 1 << dice.randrange(8)
            elif kind == 2:
                del body[at : at + dice.randrange(1, 9)]
            else:
                body[at:at] = dice.randbytes(dice.randrange(1, 9))
            if len(body) < 4:
                break
        return sealed(bytes(body))

    def parts_changed(self):
        dice = self.dice
        ident, parts = dice.choice(self.parsed)
        parts = list(parts)
        for _ in range(dice.choice((0, 1, 1, 1, 2, 5))):
            if not parts:
                break
            at = dice.randrange(len(parts))
            kind = dice.randrange(6)
            if kind == 0:
                parts[at] = dice.choice(self.NUMBERS)
            elif kind == 1 and isinstance(parts[at], int):
                change = dice.choice((1, -1, HOUR, -HOUR))
                parts[at] = (parts[at] + change) % (1 << 64)
            elif kind == 2:
                parts[at] = dice.choice(
                    (b"", b"id", b"x" * 65536, dice.randbytes(9))
                )
            elif kind == 3:
                del parts[at : at + dice.choice((1, 1, 4))]
            elif kind == 4:
                other = dice.randrange(len(parts))
                parts[at], parts[other] = parts[other], parts[at]
            else:
                parts[at:at] = parts[at : at + dice.choice((1, 3, 4))]
        if dice.random() < 0.05:
            ident ^= dice.choice((1, 2, 1023))
        return join_parts(ident, parts, self.version)

    def one(self):
        if self.dice.random() < 0.3:
            return self.bytes_changed()
        return self.parts_changed()


# Commands that must work on any accepted value.
USES = (
    ("LAWN.LEN", "{}"), ("LAWN.LEN", "{}", "DUE"), ("LAWN.INFO", "{}"),
    ("LAWN.SCAN", "{}", 0, "COUNT", 1000), ("LAWN.NEXT", "{}"),
    ("REDE.PRINT", "{}"), ("MEMORY", "USAGE", "{}"),
    ("LAWN.CONFIG", "{}", "GET"), ("LAWN.POLL", "{}", "COUNT", 2, "META"),
    ("LAWN.PUSH", "{}", "new", "payload", "DELAY", 5),
    ("LAWN.PUSH", "{}", "*", "payload", "AT", 5),
    ("LAWN.TOUCH", "{}", "id", "BY", HOUR), ("LAWN.GET", "{}", "id", "META"),
    ("LAWN.CANCEL", "{}", "id"), ("REDE.XPOLL", "{}"),
    ("LAWN.LEN", "{}", "LEASED"), ("LAWN.LEN", "{}", "DEAD"),
    ("LAWN.RESUME", "{}"), ("LAWN.LEASE", "{}", "me", "LEASE", 5, "COUNT", 2),
    ("LAWN.LEASE", "{}", "me", "LEASE", HOUR, "COUNT", 2),
    ("LAWN.ACK", "{}", "1", 1, "2", 2), ("LAWN.NACK", "{}", "1", 1),
    ("LAWN.EXTEND", "{}", "1", 1, "LEASE", 1), ("LAWN.POLL", "{}"),
    ("LAWN.TOUCH", "{}", "3", "DELAY", 1), ("LAWN.SINK", "{}", "NONE"),
    ("DEBUG", "DIGEST-VALUE", "{}"),
)  # fmt: skip


def copies(pipe, names):
    """Dumps these keys and restores them elsewhere: the digests must be equal.
    """
    call = pipe.side.call
    for name in names:
        if not call("EXISTS", name):
            continue
        call("LAWN.PAUSE", name)  # or a sink would remove events
        dump = call("DUMP", name)
        got = call("RESTORE", "copy", 0, dump, "REPLACE")
        assert got == resp.OK, "what was dumped is refused: %r %r" % (got, dump)
        one, two = call("DEBUG", "DIGEST-VALUE", name, "copy")
        assert one == two, "another digest in a copy of %r" % dump


def fuzz_restore(one, dice, count):
    pipe = Pipe(one)
    payloads = Payloads(pipe.side, dice)
    taken = tried = 0
    group = 50
    while tried < count:
        sanitize = dice.choice(("yes", "no"))
        pipe.side.call("CONFIG", "SET", "sanitize-dump-payload", sanitize)
        some = [payloads.one() for _ in range(group)]
        names = ["key%d" % i for i in range(group)]
        lines = [
            resp.encode("RESTORE", name, 0, payload, "REPLACE")
            for name, payload in zip(names, some)
        ]
        found = pipe.run(lines)
        good = [n for n, reply in zip(names, found) if reply == b"+OK\r\n"]
        copies(pipe, good)
        uses = []
        for name in good:
            for use in USES:
                uses.append(resp.encode(*(str(w).format(name) for w in use)))
        pipe.run(uses)
        copies(pipe, good)
        tried += group
        taken += len(good)
        if tried % (group * 10) == 0:
            reloaded(one, pipe.side)
        pipe.side.call("FLUSHALL")
    one.check()
    print("%d payloads, %d taken" % (tried, taken))
    assert 0 < taken < tried, "none taken, or none refused"


def main():
    options = server.arguments(__doc__, seed=1, lines=100000, payloads=5000)

    def on_a_server(test, count):
        with server.Server(
            "appendonly", "yes", "appendfsync", "no",
            "auto-aof-rewrite-percentage", "0",
        ) as one:  # fmt: skip
            test(one, random.Random(options.seed), count)

    def each_line_has_exactly_one_reply():
        on_a_server(fuzz_lines, options.lines)

    def a_damaged_payload_is_refused_or_works():
        on_a_server(fuzz_restore, options.payloads)

    tests = []
    if options.lines:
        tests.append(each_line_has_exactly_one_reply)
    if options.payloads:
        tests.append(a_damaged_payload_is_refused_or_works)
    server.attempt_all(tests)


if __name__ == "__main__":
    main()
