#!/usr/bin/env python3
"""wake.py - waiting clients are woken, whatever happens to their key.

Consumers wait on a few keys, by POLL BLOCK 0, by LEASE BLOCK 0, or both.
Meanwhile events are pushed with short delays, touched and canceled, and their
keys are renamed, copied, moved to another database and back, dumped and
restored, reloaded, swapped, paused and resumed. Workers acknowledge most leased
events, return some, and ignore others. Each event must be polled or
acknowledged exactly once, never be delivered early, and be delivered soon after
it is due or its lease has ended: a consumer that receives it only seconds later
was not woken, but found it by chance.
"""
import random
import time

import server
from reference import plain
from server import now_ms as now

KEYS = [b"q%d" % i for i in range(3)]
POLLED, LEASED = KEYS[:2], KEYS[1:]
ALL_AT_ONCE = {
    "copied": "redis.call('COPY', KEYS[1], 'tmp'); redis.call('DEL', KEYS[1]);"
    " redis.call('RENAME', 'tmp', KEYS[1])",
    "restored": "local dump = redis.call('DUMP', KEYS[1]);"
    " redis.call('DEL', KEYS[1]); redis.call('RESTORE', KEYS[1], 0, dump)",
}


class Consumer:
    def __init__(self, one, key, log):
        self.client = one.client()
        self.key = key
        self.log = log
        self.ask()

    def ask(self):
        self.client.send("LAWN.POLL", self.key, "BLOCK", 0, "META")

    def look(self):
        """Reads the received events."""
        while not self.client.waits():
            reply = plain(self.client.read())
            when = now()
            assert isinstance(reply, list) and reply, reply
            for row in reply:
                self.log.heard(dict(zip(row[::2], row[1::2])), when)
            self.ask()


class Worker(Consumer):
    """A consumer that leases."""

    def __init__(self, one, key, log, dice):
        self.dice = dice
        super().__init__(one, key, log)

    def ask(self):
        self.client.send(
            "LAWN.LEASE", self.key, "w", "LEASE", self.dice.randrange(1, 40),
            "COUNT", self.dice.choice((1, 5)), "BLOCK", 0,
        )  # fmt: skip

    def look(self):
        while not self.client.waits():
            reply = plain(self.client.read())
            when = now()
            assert isinstance(reply, list) and reply, reply
            for i, _, token, tries, due in reply:
                self.log.leased(i, tries, due, when)
                self.work(i, token)
            self.ask()

    def work(self, i, token):
        """If the key was moved meanwhile, or the lease has ended, the reply is
        0, and the event is delivered again."""
        call = self.client.call
        kind = self.dice.random()
        if kind < 0.15:
            delay = self.dice.choice((0, self.dice.randrange(20)))
            call("LAWN.NACK", self.key, i, token, "DELAY", delay)
        elif kind < 0.3:
            self.log.forgotten += 1
        else:
            if kind < 0.4:
                call("LAWN.EXTEND", self.key, i, token, "LEASE", 20)
            if call("LAWN.ACK", self.key, i, token) == [1]:
                self.log.done(i)


class Log:
    """The pushed events, and their pending deliveries."""

    def __init__(self):
        self.made = 0
        self.open = {}
        self.delivered = self.leases = self.again = self.forgotten = 0
        self.late = []

    def new(self, times=1):
        self.made += 1
        i = b"e%d" % self.made
        self.open[i] = times
        return i

    def heard(self, info, when):
        i = info[b"id"]
        assert info[b"due"] <= when, "%r is early" % i
        self.done(i)
        self.late.append(when - info[b"due"])

    def leased(self, i, tries, due, when):
        """It may have been taken by now: then its token is stale."""
        assert due <= when, "%r is early" % i
        self.leases += 1
        if tries == 1:
            self.late.append(when - due)
        else:
            self.again += 1

    def done(self, i):
        assert self.open.get(i), "%r comes, and should not" % i
        self.open[i] -= 1
        if not self.open[i]:
            del self.open[i]
        self.delivered += 1


class Stress:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.log = Log()
        self.server = server.Server()
        self.client = self.server.client()
        self.consumers = [Consumer(self.server, k, self.log) for k in POLLED]
        self.consumers += [
            Worker(self.server, k, self.log, random.Random(seed))
            for k in LEASED
        ]
        self.counts = {}

    def look(self):
        for consumer in self.consumers:
            consumer.look()

    def call(self, *args):
        reply = self.client.call(*args)
        self.look()
        return reply

    # Operations

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
                self.look()  # earlier deliveries
                self.log.open.pop(i, None)

    def renamed(self, key):
        self.call("RENAME", key, "tmp")
        self.call("RENAMENX", "tmp", key)
        self.gather(key)

    def gather(self, key):
        """Moves the events back that are still in tmp after an interruption."""
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
        """A time to live that is removed again."""
        self.call("PEXPIRE", key, 100000)
        self.call("PERSIST", key)

    KINDS = (
        (push, 20), (push_at, 8), (mpush, 5), (repeat, 4), (touch, 8),
        (far_then_near, 3), (cancel, 4), (renamed, 3), (scripted, 4),
        (moved, 3), (swapped, 1), (paused, 2), (reload, 0.3), (held, 0.5),
        (expire, 1),
    )  # fmt: skip

    def round(self):
        # An event that is due after all others in its key.
        self.call("LAWN.PUSH", KEYS[-1], "far", "p", "DELAY", 3600000)
        for _ in range(self.dice.randrange(5, 40)):
            kind = self.dice.choices(*zip(*self.KINDS))[0]
            name = kind.__name__
            self.counts[name] = self.counts.get(name, 0) + 1
            kind(self, self.dice.choice(KEYS))
        end = time.monotonic() + server.PATIENCE
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
    options = server.arguments(__doc__, seed=1, rounds=100)

    def a_waiting_client_is_woken_whatever_happens_to_its_key():
        stress = Stress(options.seed)
        began = time.monotonic()
        try:
            for _ in range(options.rounds):
                stress.round()
        finally:
            late = sorted(stress.log.late) or [0]
            print(
                "%d events delivered, half of them within %d ms, the latest "
                "%d ms; %d leases, %d of them again, %d forgotten; %s; %.1f s"
                % (
                    stress.log.delivered, late[len(late) // 2], late[-1],
                    stress.log.leases, stress.log.again, stress.log.forgotten,
                    ", ".join(
                        "%d %s" % (n, k) for k, n in stress.counts.items()
                    ),
                    time.monotonic() - began,
                )
            )  # fmt: skip

    server.attempt_all([a_waiting_client_is_woken_whatever_happens_to_its_key])


if __name__ == "__main__":
    main()
