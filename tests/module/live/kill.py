#!/usr/bin/env python3
"""kill.py - kill -9 at random moments: no acknowledged change is lost [G1].

The server writes its append-only file with appendfsync always. Several
connections send pipelined commands and record the replies. Then the server is
killed at a random moment, often while it rewrites the file or a sink moves
events, and started again.

Each connection has its own key. After the restart its contents must be the
result of the commands up to some point, in the order in which they were sent:
all that were answered, and possibly some of those that were not. This includes
payloads, lease owners, tries, and the order of POLL. A token that was returned
is still valid.

Two more keys are shared by all connections. In the first, events whose push was
answered, and that were not taken, must exist, leased or not, unless an
unanswered command may have taken them. Events that were answered as taken,
acknowledged or canceled must not return [G3]. The second has a sink: each event
whose push was answered is in the key or in the stream, and at most once in the
stream [G4].

This tests the program, not the disk: SIGKILL does not simulate a power loss.
Data that the process had written is in the kernel and survives, whether it
reached the disk or not. So the files are kept in memory where possible, which
allows more kills in the same time.
"""
import copy
import os
import random
import tempfile
import threading
import time
import typing

import resp
import server
from reference import plain

LANES = 3
FAR = 1 << 41  # ms: a time that no test reaches
LONG = 1 << 40  # ms: a lease that does not end
SHORT = 30  # ms: a lease that ends
COMMON = b"common"
SUNK = b"sunk"
STREAM = b"stream"


class Books:
    """Totals of all cycles."""

    def __init__(self):
        self.pushed = self.taken = self.killed = 0
        self.leased = self.acked = self.again = self.sunk = 0
        self.answered = self.doubtful = self.rewriting = 0
        self.cycle = 0
        self.lost = []
        self.revived = []


class Event(typing.NamedTuple):
    """place: waiting, due, leased or dead."""

    payload: bytes
    place: bytes
    most: int = 0
    made: int = 0
    owner: bytes = b""


class State:
    """The key of one connection: events by id, and due ones in order."""

    def __init__(self):
        self.events = {}
        self.due = {}

    def put(self, i, event):
        self.remove(i)
        self.events[i] = event
        if event.place == b"due":
            self.due[i] = True

    def remove(self, i):
        self.due.pop(i, None)
        return self.events.pop(i, None)

    def take(self, count):
        """Returns the first due events: (id, event)."""
        return [(i, self.remove(i)) for i in list(self.due)[:count]]

    def held(self, i, owner):
        """Returns the event if it is leased to this owner."""
        event = self.events.get(i)
        if event and event.place == b"leased" and event.owner == owner:
            return event
        return None

    def same(self, other):
        return self.events == other.events and list(self.due) == list(other.due)


class Fits:
    """Checks a reply that is only partly known in advance."""

    def __init__(self, right):
        self.right = right

    def __eq__(self, reply):
        return self.right(reply)

    __hash__ = None


class Command:
    """The words to send; does() applies them to a State, and returns the reply.
    """

    def __init__(self, args, does, pushes=0):
        self.args = args
        self.does = does
        self.pushes = pushes


class Lane:
    """A connection and its key."""

    def __init__(self, number, dice, books, commons):
        self.key = b"lane%d" % number
        self.number = number
        self.dice = dice
        self.books = books
        self.commons = commons
        self.made = 0
        self.tokens = {}  # (id, owner) → as returned
        self.greatest = 0
        self.base = State()  # contents at the last check
        self.open(None)

    def open(self, client):
        self.client = client
        self.state = copy.deepcopy(self.base)  # after all commands sent
        self.sent = []  # (command, expected reply)
        self.answered = 0

    def new(self):
        self.made += 1
        return b"%d.%d" % (self.number, self.made)

    def some(self):
        """Returns an existing id, mostly."""
        if self.state.events and self.dice.random() < 0.9:
            return self.dice.choice(list(self.state.events))
        return b"missing"

    @staticmethod
    def when(due):
        return b"1" if due else b"%d" % FAR

    @staticmethod
    def place(due):
        return b"due" if due else b"waiting"

    def command(self):
        dice = self.dice
        many = len(self.state.events) > 40
        kind = dice.choices(
            (self.push, self.mpush, self.cancel, self.poll, self.touch,
             self.update, self.lease, self.ack, self.nack, self.extend,
             self.shared),
            (1, 0, 4, 4, 1, 1, 2, 4, 1, 1, 2) if many else
            (5, 2, 1, 1, 2, 2, 2, 3, 2, 1, 6),
        )[0]  # fmt: skip
        return kind()

    def push(self):
        i = self.new() if self.dice.random() < 0.8 else self.some()
        payload = self.new()
        due = self.dice.random() < 0.6
        most = self.dice.choice((0, 0, 1, 2))

        def does(state):
            state.put(i, Event(payload, self.place(due), most))
            return i

        return Command(
            (b"LAWN.PUSH", self.key, i, payload, b"AT", self.when(due),
             b"TRIES", most),
            does, 1,
        )  # fmt: skip

    def mpush(self):
        pairs = [
            (self.new() if self.dice.random() < 0.9 else self.some(), self.new())
            for _ in range(self.dice.randrange(1, 6))
        ]
        pairs = list(dict(pairs).items())
        due = self.dice.random() < 0.6

        def does(state):
            new = sum(i not in state.events for i, _ in pairs)
            for i, payload in pairs:
                state.put(i, Event(payload, self.place(due)))
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
            return [[i, event.payload] for i, event in state.take(count)]

        return Command((b"LAWN.POLL", self.key, b"COUNT", count), does)

    def touch(self):
        i = self.some()
        due = self.dice.random() < 0.5

        def does(state):
            event = state.events.get(i)
            if event is None:
                return None
            state.put(i, Event(event.payload, self.place(due), event.most))
            return Fits(lambda when: isinstance(when, int))

        return Command(
            (b"LAWN.TOUCH", self.key, i, b"AT", self.when(due)), does
        )

    def update(self):
        i, payload = self.some(), self.new()

        def does(state):
            event = state.events.get(i)
            if event is None:
                return None
            state.events[i] = event._replace(payload=payload)
            return event.payload

        return Command((b"LAWN.UPDATE", self.key, i, payload), does)

    # Each LEASE has a unique owner, by which it is identified later.

    def lease(self):
        count = self.dice.choice((1, 2, 5))
        owner = self.new()

        def does(state):
            rows = []
            for i, event in state.take(count):
                event = event._replace(
                    place=b"leased", made=event.made + 1, owner=owner
                )
                state.put(i, event)
                rows.append([i, event.payload, event.made])
            return Fits(
                lambda reply: [[*row[:2], row[3]] for row in reply] == rows
            )

        return Command(
            (b"LAWN.LEASE", self.key, owner, b"LEASE", LONG, b"COUNT", count),
            does,
        )

    def holding(self):
        """Returns an id, an owner and a token that was returned, current or
        old."""
        now = [
            (i, e.owner)
            for i, e in self.state.events.items()
            if (i, e.owner) in self.tokens
        ]
        if not self.tokens:
            return b"missing", b"", 1
        stale = self.dice.random() < 0.1 or not now
        pair = self.dice.choice(list(self.tokens) if stale else now)
        return *pair, self.tokens[pair]

    def ack(self):
        i, owner, token = self.holding()

        def does(state):
            if state.held(i, owner):
                state.remove(i)
                return [1]
            return [0]

        return Command((b"LAWN.ACK", self.key, i, token), does)

    def nack(self):
        i, owner, token = self.holding()

        def does(state):
            event = state.held(i, owner)
            if event is None:
                return 0
            if 0 < event.most <= event.made:  # the last owner is still reported
                event = event._replace(place=b"dead")
            else:
                event = event._replace(place=b"waiting", owner=b"")
            state.put(i, event)
            return 1

        return Command((b"LAWN.NACK", self.key, i, token, b"DELAY", FAR), does)

    def extend(self):
        i, owner, token = self.holding()

        def does(state):
            if state.held(i, owner):
                return Fits(lambda end: isinstance(end, int) and end > LONG)
            return 0

        return Command(
            (b"LAWN.EXTEND", self.key, i, token, b"LEASE", LONG), does
        )

    def shared(self):
        return self.dice.choice(self.commons).command(self)

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
        """Reads the replies to the sent commands. Returns False if the server
        is down."""
        while self.answered < len(self.sent):
            try:
                reply = plain(self.client.read())
            except (resp.Closed, OSError):
                return False
            command, expected = self.sent[self.answered]
            self.answered += 1
            if isinstance(expected, Shared):
                expected.heard(command, reply)
                continue
            assert expected == reply, "%r: %r, and not %r" % (
                command.args, reply, expected
            )  # fmt: skip
            self.heard(command, reply)
        return True

    def heard(self, command, reply):
        self.books.pushed += command.pushes
        name, _, owner, *_ = command.args
        if name == b"LAWN.POLL":
            self.books.taken += len(reply)
        elif name == b"LAWN.ACK":
            self.books.acked += sum(reply)
        elif name == b"LAWN.LEASE":
            self.books.leased += len(reply)
            for i, _, token, *_ in reply:
                assert token > self.greatest, "tokens do not grow"
                self.greatest = self.tokens[i, owner] = token

    def check(self, found):
        """The contents after the restart must be the result of some number of
        the commands, at least of those that were answered."""
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
        # Some invalid ones are kept.
        held = {(i, e.owner) for i, e in found.events.items()}
        last = list(self.tokens)[-20:]
        self.tokens = {
            pair: token
            for pair, token in self.tokens.items()
            if pair in held or pair in last
        }

    def blame(self, sure, found):
        doubt = {w for c, _ in self.sent[self.answered :] for w in c.args[2:]}
        lost = set(sure.events) - set(found.events) - doubt
        back = set(found.events) - set(sure.events) - doubt
        if not lost and not back:
            lost = ["%r is as no row of commands leaves it" % self.key]
        self.books.lost += lost
        self.books.revived += back


class Shared:
    """A key that all use, checked only by the replies."""

    def __init__(self, books):
        self.books = books
        self.there = set()  # answered, and not known to be taken
        self.gone = {}  # answered as taken → in which cycle
        self.clear()

    def clear(self):
        self.maybe = set()  # pushed, not answered
        self.taking = {}  # unanswered commands → how many events they take

    def made(self, args):
        return Command(args, lambda state: self)

    def push(self, lane, key, when):
        i = lane.new()
        self.maybe.add(i)
        return self.made((b"LAWN.PUSH", key, i, i, *when))

    def cancel(self, lane, key):
        i = lane.dice.choice([*self.there, b"none"])
        return self.made((b"LAWN.CANCEL", key, i))

    def heard(self, command, reply):
        name, _, *words = command.args
        if name == b"LAWN.PUSH":
            assert reply == words[0], reply
            self.books.pushed += 1
            self.maybe.discard(reply)
            # Another connection may have received it already as taken.
            if reply not in self.gone:
                self.there.add(reply)
        elif name == b"LAWN.CANCEL" and reply:
            self.remove(words)

    def remove(self, ids):
        for i in ids:
            if i in self.gone:
                self.books.revived.append(i)
            self.gone[i] = self.books.cycle
            self.there.discard(i)


def possibly_canceled(key, unanswered):
    """Returns the ids that unanswered commands may have canceled."""
    return {
        c.args[2]
        for c in unanswered
        if c.args[0] in (b"LAWN.CANCEL", b"LAWN.ACK") and c.args[1] == key
    }


class Common(Shared):
    """The key from which all take, by POLL, or by leases that end soon."""

    def clear(self):
        super().clear()
        self.held = []  # (id, token) as returned

    def command(self, lane):
        kind = lane.dice.random()
        if kind < 0.5:
            return self.push(lane, COMMON, (b"AT", b"1"))
        if kind < 0.6:
            return self.cancel(lane, COMMON)
        if kind < 0.7:
            count = lane.dice.randrange(1, 3)
            command = self.made((b"LAWN.POLL", COMMON, b"COUNT", count))
            self.taking[command] = count
            return command
        if kind < 0.85 or not self.held:
            return self.made(
                (b"LAWN.LEASE", COMMON, b"me", b"LEASE", SHORT, b"COUNT",
                 lane.dice.randrange(1, 5))
            )  # fmt: skip
        return self.made((b"LAWN.ACK", COMMON, *self.held.pop(0)))

    def heard(self, command, reply):
        super().heard(command, reply)
        name, _, *words = command.args
        if name == b"LAWN.POLL":
            del self.taking[command]
            self.books.taken += len(reply)
            self.remove(i for i, _ in reply)
        elif name == b"LAWN.LEASE":
            for i, _, token, tries, _ in reply:
                self.books.leased += 1
                self.books.again += tries > 1
                self.held.append((i, token))
                # In this cycle, the reply to the lease may arrive after another
                # connection has ended the event.
                if self.gone.get(i, self.books.cycle) < self.books.cycle:
                    self.books.revived.append(i)
        elif name == b"LAWN.ACK" and reply == [1]:
            self.books.acked += 1
            self.remove(words[:1])

    def check(self, found, unanswered):
        doubt = possibly_canceled(COMMON, unanswered)
        lost = [i for i in self.there if i not in found and i not in doubt]
        if len(lost) > sum(self.taking.values()):
            self.books.lost += lost
        self.books.revived += [i for i in found if i in self.gone]
        self.books.revived += [
            i for i in found if i not in self.there | self.maybe
            and i not in self.gone
        ]  # fmt: skip
        for i in set(lost) | (doubt - set(found)):
            self.gone[i] = self.books.cycle
        self.there = set(found)
        self.clear()


class Sunk(Shared):
    """The key whose events go to a stream."""

    def __init__(self, books):
        super().__init__(books)
        self.last = b"0"  # last entry of the stream that was read

    def command(self, lane):
        if lane.dice.random() < 0.9:
            delay = lane.dice.choice((0, 0, 1, 5, 20))
            return self.push(lane, SUNK, (b"DELAY", delay))
        return self.cancel(lane, SUNK)

    def check(self, client, unanswered):
        """All acknowledged events are in the key or once in the stream."""
        server.wait_until(
            lambda: client.call("LAWN.LEN", SUNK) == 0, "all go into the stream"
        )
        doubt = possibly_canceled(SUNK, unanswered)
        for number, fields in client.call(
            "XRANGE", STREAM, b"(" + self.last, "+"
        ):
            self.last = bytes(number)
            fields = dict(zip(fields[::2], fields[1::2]))
            i = bytes(fields[b"id"])
            assert fields[b"payload"] == i, fields
            self.books.sunk += 1
            if i not in self.there and i not in self.maybe:
                self.books.revived.append(i)
            self.maybe.discard(i)
            self.there.discard(i)
            self.gone[i] = self.books.cycle
        self.books.lost += self.there - doubt
        self.there = set()
        self.clear()


class Killer:
    def __init__(self, seed, books):
        self.dice = random.Random(seed)
        self.books = books
        self.common = Common(books)
        self.sunk = Sunk(books)
        self.lanes = [
            Lane(i, self.dice, books, (self.common, self.sunk))
            for i in range(LANES)
        ]
        self.server = server.Server(
            "appendonly", "yes", "appendfsync", "always",
            "auto-aof-rewrite-percentage", "100",
            "auto-aof-rewrite-min-size", "32kb",
        )  # fmt: skip
        reply = self.server.call("LAWN.SINK", SUNK, "STREAM", STREAM)
        assert reply == resp.OK, reply
        for lane in self.lanes:
            lane.open(self.server.client())

    def content(self, client, key):
        """Returns the key as a State, with due events in order."""
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
            event = Event(
                info[b"payload"], info[b"state"], info[b"max-tries"],
                info[b"tries"], info[b"owner"],
            )  # fmt: skip
            state.put(bytes(i), event)
        return state

    def ordered(self, client, key):
        """The same, with due events in order, and the ends of all leases far in
        the future."""
        state = self.content(client, key)
        ordered = plain(client.call("REDE.XPOLL", key))
        assert sorted(ordered) == sorted(state.due), (ordered, state.due)
        state.due = dict.fromkeys(ordered, True)
        return state

    def cycle(self):
        """Sends commands until the server is killed."""
        self.books.cycle += 1
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
            lane.read()  # data left in the socket
        process.wait()
        self.books.killed += 1

    def check(self):
        unanswered = [c for l in self.lanes for c, _ in l.sent[l.answered :]]
        self.server.kill()
        self.server.start()
        client = self.server.client()
        for lane in self.lanes:
            lane.check(self.ordered(client, lane.key))
        self.common.check(self.content(client, COMMON).events, unanswered)
        self.sunk.check(client, unanswered)
        for lane in self.lanes:
            lane.open(self.server.client())

    def run(self, cycles):
        for _ in range(cycles):
            self.cycle()
            self.check()
            if self.books.lost or self.books.revived:
                break
        self.server.end()


def print_result(books, seconds):
    """Prints the result in one line."""
    for kind in "lost", "revived":
        for i in getattr(books, kind)[:10]:
            print("%s: %s" % (kind, i))
    print(
        "%s-server: %d kills, %d of them while it rewrote its file; %d commands "
        "answered, %d in doubt; %d events pushed, %d delivered (%d polled, %d "
        "leased, %d by a sink), %d acknowledged; %d lost, %d duplicated, %d "
        "leased again after the end of a lease; %.0f s"
        % (
            server.KIND, books.killed, books.rewriting, books.answered,
            books.doubtful, books.pushed,
            books.taken + books.leased + books.sunk, books.taken, books.leased,
            books.sunk, books.acked, len(books.lost), len(books.revived),
            books.again, seconds,
        )
    )  # fmt: skip


def main():
    options = server.arguments(__doc__, seed=1, cycles=100)
    if os.access("/dev/shm", os.W_OK):
        tempfile.tempdir = "/dev/shm"

    def answered_writes_survive_kill_9():
        books = Books()
        began = time.monotonic()
        try:
            Killer(options.seed, books).run(options.cycles)
        finally:
            print_result(books, time.monotonic() - began)
        assert not books.lost and not books.revived, "see above"
        assert books.killed == options.cycles

    server.attempt_all([answered_writes_survive_kill_9])


if __name__ == "__main__":
    main()
