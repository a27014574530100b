#!/usr/bin/env python3
"""wake.py - who waits for an event is woken, whatever happens to its key.

Consumers wait by POLL BLOCK 0 on a few keys. Meanwhile events come with short
delays, are touched and cancelled, and the keys they are in are renamed, copied,
moved to another database and back, dumped and restored, reloaded, swapped, paused
and resumed. Each event must be delivered exactly once, never early, and soon after
it is due: a consumer that hears of it only seconds later was not woken, but found
it by chance.
"""
import argparse
import random
import sys
import time

import resp
import server
from reference import plain

KEYS = [b"q%d" % i for i in range(3)]
PATIENCE = 5  # seconds until a wake-up counts as lost
ALL_AT_ONCE = {
    "copied": "redis.call('COPY', KEYS[1], 'tmp'); redis.call('DEL', KEYS[1]);"
    " redis.call('RENAME', 'tmp', KEYS[1])",
    "restored": "local dump = redis.call('DUMP', KEYS[1]);"
    " redis.call('DEL', KEYS[1]); redis.call('RESTORE', KEYS[1], 0, dump)",
}


def now():
    return time.time_ns() // 1000000


class Consumer:
    def __init__(self, one, key, log):
        self.client = one.client()
        self.key = key
        self.log = log
        self.ask()

    def ask(self):
        self.client.send("LAWN.POLL", self.key, "BLOCK", 0, "META")

    def look(self):
        """Takes what has come."""
        while not self.client.waits():
            reply = plain(self.client.read())
            when = now()
            assert isinstance(reply, list) and reply, reply
            for row in reply:
                self.log.heard(dict(zip(row[::2], row[1::2])), when)
            self.ask()


class Log:
    """What was pushed, and how often it has yet to come."""

    def __init__(self):
        self.made = 0
        self.open = {}
        self.delivered = 0
        self.late = []

    def new(self, times=1):
        self.made += 1
        i = b"e%d" % self.made
        self.open[i] = times
        return i

    def heard(self, info, when):
        i = info[b"id"]
        assert self.open.get(i), "%r comes, and should not" % i
        assert info[b"due"] <= when, "%r is early" % i
        self.open[i] -= 1
        if not self.open[i]:
            del self.open[i]
        self.delivered += 1
        self.late.append(when - info[b"due"])


class Stress:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.log = Log()
        self.server = server.Server()
        self.client = self.server.client()
        self.consumers = [Consumer(self.server, k, self.log) for k in KEYS]
        self.counts = {}

    def look(self):
        for consumer in self.consumers:
            consumer.look()

    def call(self, *args):
        reply = self.client.call(*args)
        self.look()
        return reply

    # What can happen

    def push(self, key):
        delay = self.dice.choice((0, 1, 2, 5, self.dice.randrange(40)))
        self.call("LAWN.PUSH", key, self.log.new(), "p", "DELAY", delay)

    def push_at(self, key):
        when = now() + self.dice.randrange(-5, 30)
        self.call("LAWN.PUSH", key, self.log.new(), "p", "AT", when)

    def mpush(self, key):
        ids = [self.log.new() for _ in range(self.dice.randrange(1, 9))]
        pairs = [w for i in ids for w in (i, "p")]
        delay = self.dice.randrange(20)
        self.call("LAWN.MPUSH", key, "DELAY", delay, len(ids), *pairs)

    def repeat(self, key):
        times = self.dice.randrange(1, 4)
        every = self.dice.randrange(1, 8)
        self.call(
            "LAWN.PUSH", key, self.log.new(times), "p", "DELAY", 3,
            "EVERY", every, "TIMES", times,
        )  # fmt: skip

    def touch(self, key):
        if self.log.open:
            i = self.dice.choice(list(self.log.open))
            delay = self.dice.randrange(30)
            self.call("LAWN.TOUCH", key, i, "DELAY", delay)

    def far_then_near(self, key):
        i = self.log.new()
        self.call("LAWN.PUSH", key, i, "p", "DELAY", 3600000)
        self.call("LAWN.TOUCH", key, i, "BY", -3600000)

    def cancel(self, key):
        if self.log.open:
            i = self.dice.choice(list(self.log.open))
            if self.client.call("LAWN.CANCEL", key, i) == 1:
                self.look()  # what was delivered before
                self.log.open.pop(i, None)

    def renamed(self, key):
        self.call("RENAME", key, "tmp")
        self.call("RENAMENX", "tmp", key)
        self.gather(key)

    def gather(self, key):
        """What is in tmp still, since something came between."""
        if self.call("EXISTS", "tmp"):
            for i in self.scan("tmp"):
                self.call("LAWN.CANCEL", "tmp", i)
                self.log.open.pop(bytes(i), None)

    def scan(self, key):
        cursor, ids = b"0", []
        while True:
            cursor, some = self.call("LAWN.SCAN", key, cursor)
            ids += some
            if cursor == b"0":
                return ids

    def scripted(self, key):
        if self.client.call("EXISTS", key):
            kind = self.dice.choice(list(ALL_AT_ONCE))
            script = "if redis.call('EXISTS', KEYS[1]) == 1 then %s end"
            self.call("EVAL", script % ALL_AT_ONCE[kind], 1, key)

    def moved(self, key):
        self.call("MOVE", key, 1)
        self.client.pipe([("SELECT", 1), ("MOVE", key, 0), ("SELECT", 0)])
        self.look()

    def swapped(self, _):
        self.call("SWAPDB", 0, 1)
        self.call("SWAPDB", 0, 1)

    def paused(self, key):
        self.call("LAWN.PAUSE", key)
        self.push(key)
        self.call("LAWN.RESUME", key)

    def reload(self, _):
        self.call("DEBUG", "RELOAD")

    def held(self, _):
        self.call("CLIENT", "PAUSE", self.dice.randrange(1, 15), "WRITE")

    def expire(self, key):
        """A time to live that is taken away again."""
        self.call("PEXPIRE", key, 100000)
        self.call("PERSIST", key)

    KINDS = (
        (push, 20), (push_at, 8), (mpush, 5), (repeat, 4), (touch, 8),
        (far_then_near, 3), (cancel, 4), (renamed, 3), (scripted, 4),
        (moved, 3), (swapped, 1), (paused, 2), (reload, 0.3), (held, 0.5),
        (expire, 1),
    )  # fmt: skip

    def round(self):
        for _ in range(self.dice.randrange(5, 40)):
            kind = self.dice.choices(*zip(*self.KINDS))[0]
            name = kind.__name__
            self.counts[name] = self.counts.get(name, 0) + 1
            kind(self, self.dice.choice(KEYS))
        end = time.monotonic() + PATIENCE * server.SLOW
        while self.log.open:
            self.look()
            if time.monotonic() > end:
                raise AssertionError(self.lost())

    def lost(self):
        where = {
            bytes(k): [bytes(i) for i in self.scan(k)]
            for k in self.client.call("KEYS", "*")
        }
        nexts = {k: self.client.call("LAWN.NEXT", k) for k in where}
        return "no wake-up for %r; there is %r, next %r" % (
            self.log.open, where, nexts
        )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", default="redis")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    server.KIND = options.server
    print("seed %d" % options.seed, flush=True)
    stress = Stress(options.seed)
    began = time.monotonic()
    failed = False
    try:
        for _ in range(options.rounds):
            stress.round()
        stress.server.check()
    except (AssertionError, resp.Closed, resp.Late, resp.Bad) as why:
        print("FAILED:", why)
        server.show_logs()
        failed = True
    late = sorted(stress.log.late) or [0]
    print(
        "%d events delivered, half of them within %d ms, the latest %d ms; "
        "%s; %.1f s"
        % (
            stress.log.delivered, late[len(late) // 2], late[-1],
            ", ".join("%d %s" % (n, k) for k, n in stress.counts.items()),
            time.monotonic() - began,
        )
    )  # fmt: skip
    stress.server.end()
    print("0 passed, 1 failed" if failed else "1 passed, 0 failed")
    sys.exit(failed)


if __name__ == "__main__":
    main()
