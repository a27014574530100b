#!/usr/bin/env python3
"""kill.py - kill -9 at random moments, and nothing that was answered is lost [G1].

The server writes its append-only file with appendfsync always. Several
connections send it pipelined commands, and write down what is answered; then it
is killed, at any moment, often while it rewrites the file, and started again.

Each connection has a key of its own. What is found there must be what the
commands up to some point leave behind, in the order in which they were sent:
all that were answered, and then perhaps some of those that were not. Nothing
else, to the last payload and the order in which POLL hands out. One more key is
used by all at once: there what was pushed and answered, and not taken, must be
there, unless one of the POLLs that were not answered may have taken it; and what
was answered as taken or cancelled must not come back.

This is about the program, not the disk: SIGKILL does not test the loss of power.
What the process had written is in the kernel's hands and survives it, whether it
got to the disk or not. So its files are kept in memory where that is to be had,
and more can be killed in the same time.
"""
import collections
import copy
import os
import random
import tempfile
import threading
import time

import resp
import server
from reference import plain

LANES = 3
FAR = 1 << 41  # ms: a time that no test will see
COMMON = b"common"


class Books:
    """What all cycles add up to."""

    def __init__(self):
        self.pushed = self.taken = self.killed = 0
        self.answered = self.doubtful = self.rewriting = 0
        self.lost = []
        self.revived = []


class State:
    """One connection's key: waiting by id, and due in order."""

    def __init__(self):
        self.waiting = {}
        self.due = collections.OrderedDict()

    def put(self, i, payload, due):
        self.remove(i)
        (self.due if due else self.waiting)[i] = payload

    def remove(self, i):
        for where in self.waiting, self.due:
            if i in where:
                return where.pop(i)
        return None

    def has(self, i):
        return i in self.waiting or i in self.due

    def ids(self):
        return list(self.waiting) + list(self.due)

    def same(self, other):
        return (
            self.waiting == other.waiting
            and list(self.due.items()) == list(other.due.items())
        )


class Command:
    """What is sent, and does() to a State, which returns the reply to it."""

    def __init__(self, args, does, pushes=0):
        self.args = args
        self.does = does
        self.pushes = pushes


class Lane:
    """A connection and its key."""

    def __init__(self, number, dice, books, common):
        self.key = b"lane%d" % number
        self.number = number
        self.dice = dice
        self.books = books
        self.common = common
        self.made = 0
        self.base = State()  # what the last check found
        self.open(None)

    def open(self, client):
        self.client = client
        self.state = copy.deepcopy(self.base)  # after all that was sent
        self.sent = []  # (command, the reply that must come)
        self.answered = 0

    def new(self):
        self.made += 1
        return b"%d.%d" % (self.number, self.made)

    def some(self):
        """An id that is there, mostly."""
        ids = self.state.ids()
        if ids and self.dice.random() < 0.9:
            return self.dice.choice(ids)
        return b"nobody"

    @staticmethod
    def when(due):
        return b"1" if due else b"%d" % FAR

    def command(self):
        dice = self.dice
        many = len(self.state.ids()) > 40
        kind = dice.choices(
            (self.push, self.mpush, self.cancel, self.poll, self.touch,
             self.update, self.shared),
            (1, 0, 4, 4, 1, 1, 2) if many else (5, 2, 1, 2, 2, 2, 4),
        )[0]  # fmt: skip
        return kind()

    def push(self):
        i = self.new() if self.dice.random() < 0.8 else self.some()
        payload = self.new()
        due = self.dice.random() < 0.6

        def does(state):
            state.put(i, payload, due)
            return i

        return Command(
            (b"LAWN.PUSH", self.key, i, payload, b"AT", self.when(due)), does, 1
        )

    def mpush(self):
        pairs = [
            (self.new() if self.dice.random() < 0.9 else self.some(), self.new())
            for _ in range(self.dice.randrange(1, 6))
        ]
        pairs = list(dict(pairs).items())
        due = self.dice.random() < 0.6

        def does(state):
            new = sum(not state.has(i) for i, _ in pairs)
            for i, payload in pairs:
                state.put(i, payload, due)
            return new

        return Command(
            (b"LAWN.MPUSH", self.key, b"AT", self.when(due), len(pairs),
             *sum(pairs, ())),
            does, len(pairs),
        )  # fmt: skip

    def cancel(self):
        ids = {self.some() for _ in range(self.dice.choice((1, 1, 5)))}

        def does(state):
            return sum(state.remove(i) is not None for i in ids)

        return Command((b"LAWN.CANCEL", self.key, *ids), does)

    def poll(self):
        count = self.dice.choice((1, 2, 3, 20))

        def does(state):
            return [
                list(state.due.popitem(last=False))
                for _ in range(min(count, len(state.due)))
            ]

        return Command((b"LAWN.POLL", self.key, b"COUNT", count), does)

    def touch(self):
        i = self.some()
        due = self.dice.random() < 0.5

        def does(state):
            payload = state.remove(i)
            if payload is None:
                return None
            state.put(i, payload, due)
            return int  # when it is due: some number

        return Command(
            (b"LAWN.TOUCH", self.key, i, b"AT", self.when(due)), does
        )

    def update(self):
        i, payload = self.some(), self.new()

        def does(state):
            for where in state.waiting, state.due:
                if i in where:
                    old, where[i] = where[i], payload
                    return old
            return None

        return Command((b"LAWN.UPDATE", self.key, i, payload), does)

    def shared(self):
        return self.common.command(self)

    # A CYCLE

    def send(self, count):
        commands = [self.command() for _ in range(count)]
        for command in commands:
            self.sent.append((command, command.does(self.state)))
        try:
            self.client.send_all(c.args for c in commands)
        except OSError:
            return False
        return True

    def read(self, all_there_is=False):
        """Takes the replies to what was sent; False: the server is gone."""
        while self.answered < len(self.sent):
            try:
                reply = plain(self.client.read())
            except (resp.Closed, OSError):
                return False
            command, expected = self.sent[self.answered]
            self.answered += 1
            if expected is Common:
                self.common.heard(command, reply)
                continue
            good = (
                isinstance(reply, int) if expected is int else reply == expected
            )
            assert good, "%r: %r, and not %r" % (command.args, reply, expected)
            self.books.pushed += command.pushes
            if command.args[0] == b"LAWN.POLL":
                self.books.taken += len(reply)
        return True

    def check(self, found):
        """What was found after the start must be what some number of the
        commands have left, no less than were answered."""
        state = copy.deepcopy(self.base)
        for command, _ in self.sent[: self.answered]:
            command.does(state)
        sure = copy.deepcopy(state)
        self.books.answered += self.answered
        self.books.doubtful += len(self.sent) - self.answered
        left = self.sent[self.answered :]
        while not state.same(found):
            if not left:
                self.blame(sure, found)
                break
            left.pop(0)[0].does(state)
        self.base = found

    def blame(self, sure, found):
        doubt = {w for c, _ in self.sent[self.answered :] for w in c.args[2:]}
        lost = [i for i in sure.ids() if not found.has(i) and i not in doubt]
        back = [i for i in found.ids() if not sure.has(i) and i not in doubt]
        if not lost and not back:
            lost = ["%r is as no row of commands leaves it" % self.key]
        self.books.lost += lost
        self.books.revived += back


class Common:
    """The key that all use: by what was answered alone."""

    def __init__(self, books):
        self.books = books
        self.there = set()  # answered, and not taken that we know
        self.gone = set()  # answered as taken
        self.clear()

    def clear(self):
        self.maybe = set()  # pushed, no answer
        self.taking = {}  # commands that were not answered → how many they take

    def command(self, lane):
        kind = lane.dice.random()
        i = lane.new()
        if kind < 0.55:
            args = (b"LAWN.PUSH", COMMON, i, i, b"AT", b"1")
            self.maybe.add(i)
        elif kind < 0.85:
            count = lane.dice.randrange(1, 3)
            args = (b"LAWN.POLL", COMMON, b"COUNT", count)
        else:
            args = (
                b"LAWN.CANCEL", COMMON, lane.dice.choice([*self.there, b"none"])
            )  # fmt: skip
        command = Command(args, lambda state: Common)
        if args[0] == b"LAWN.POLL":
            self.taking[command] = args[3]
        return command

    def heard(self, command, reply):
        name, _, *words = command.args
        if name == b"LAWN.PUSH":
            assert reply == words[0], reply
            self.books.pushed += 1
            self.maybe.discard(reply)
            # Someone else may have heard before us that it was taken.
            if reply not in self.gone:
                self.there.add(reply)
        elif name == b"LAWN.POLL":
            del self.taking[command]
            self.books.taken += len(reply)
            self.remove(i for i, _ in reply)
        elif reply:
            self.remove(words)

    def remove(self, ids):
        for i in ids:
            if i in self.gone:
                self.books.revived.append(i)
            self.gone.add(i)
            self.there.discard(i)

    def check(self, found, unanswered):
        cancelled = {
            c.args[2]
            for c in unanswered
            if c.args[0] == b"LAWN.CANCEL" and c.args[1] == COMMON
        }
        lost = [i for i in self.there if i not in found and i not in cancelled]
        if len(lost) > sum(self.taking.values()):
            self.books.lost += lost
        self.books.revived += [i for i in found if i in self.gone]
        self.books.revived += [
            i for i in found if i not in self.there | self.maybe | self.gone
        ]
        self.gone |= set(lost) | (cancelled - set(found))
        self.there = set(found)
        self.clear()


class Killer:
    def __init__(self, seed, books):
        self.dice = random.Random(seed)
        self.books = books
        self.common = Common(books)
        self.lanes = [
            Lane(i, self.dice, books, self.common) for i in range(LANES)
        ]
        self.server = server.Server(
            "appendonly", "yes", "appendfsync", "always",
            "auto-aof-rewrite-percentage", "100",
            "auto-aof-rewrite-min-size", "32kb",
        )  # fmt: skip
        for lane in self.lanes:
            lane.open(self.server.client())

    def content(self, client, key):
        """The key as a State; those due in order."""
        state = State()
        cursor, ids = b"0", []
        while True:
            cursor, some = client.call(
                "LAWN.SCAN", key, cursor, "COUNT", "1000"
            )
            ids += some
            if cursor == b"0":
                break
        for i, reply in zip(
            ids, client.pipe([("LAWN.GET", key, i, "META") for i in ids])
        ):
            info = plain(reply)
            info = dict(zip(info[::2], info[1::2]))
            due = info[b"state"] == b"due"
            state.put(bytes(i), info[b"payload"], due)
        ordered = plain(client.call("REDE.XPOLL", key))
        assert sorted(ordered) == sorted(state.due), (ordered, state.due)
        for i in ordered:
            state.due.move_to_end(i)
        return state

    def cycle(self):
        """Load until the server is killed."""
        dice = self.dice
        moment = dice.choice((0.002, 0.01, 0.03, 0.08)) * dice.random()
        process = self.server.process
        timer = threading.Timer(moment, process.kill)
        if dice.random() < 0.3:
            side = self.server.client()
            side.call(
                "CONFIG", "SET", "aof-use-rdb-preamble",
                dice.choice(("yes", "no")),
            )  # fmt: skip
            side.call("BGREWRITEAOF")
            self.books.rewriting += 1
        timer.start()
        alive = True
        while alive:
            for lane in self.lanes:
                alive = lane.send(dice.choice((1, 5, 30))) and alive
            for lane in self.lanes:
                alive = lane.read() and alive
        timer.join()
        for lane in self.lanes:
            lane.read()  # what the socket still holds
        process.wait()
        self.books.killed += 1

    def check(self):
        unanswered = [c for l in self.lanes for c, _ in l.sent[l.answered :]]
        self.server.kill()
        self.server.start()
        client = self.server.client()
        for lane in self.lanes:
            lane.check(self.content(client, lane.key))
        self.common.check(self.content(client, COMMON).ids(), unanswered)
        for lane in self.lanes:
            lane.open(self.server.client())

    def run(self, cycles):
        for _ in range(cycles):
            self.cycle()
            self.check()
            if self.books.lost or self.books.revived:
                break
        self.server.end()


def tell(books, seconds):
    """What it came to, in one line."""
    for kind in "lost", "revived":
        for i in getattr(books, kind)[:10]:
            print("%s: %s" % (kind, i))
    print(
        "%s-server: %d kills, %d of them while it rewrote its file; %d commands "
        "answered, %d events pushed, %d taken; %d commands in doubt; %d lost, "
        "%d revived; %.0f s"
        % (
            server.KIND, books.killed, books.rewriting, books.answered,
            books.pushed, books.taken, books.doubtful, len(books.lost),
            len(books.revived), seconds,
        )
    )  # fmt: skip


def main():
    options = server.arguments(__doc__, seed=1, cycles=100)
    if os.access("/dev/shm", os.W_OK):
        tempfile.tempdir = "/dev/shm"

    def what_was_answered_survives_kill_9():
        books = Books()
        began = time.monotonic()
        try:
            Killer(options.seed, books).run(options.cycles)
        finally:
            tell(books, time.monotonic() - began)
        assert not books.lost and not books.revived, "see above"
        assert books.killed == options.cycles

    server.attempt_all([what_was_answered_survives_kill_9])


if __name__ == "__main__":
    main()
