#!/usr/bin/env python3
"""clients.py KIND PORT IDLE_MS REQUEST_MS [PID] - clients of examples/echo.c.

All that comes back is compared with what was sent. When the server hangs up, a
client knows by its own clock whether it may have: it takes the time before it
speaks and after it has heard, so a server that is in the right is never found
early, however slow the machine. What happened is printed as lines "name least
most", which tests/api/echo adds up; nearly all is certain, and least is most.
"""
import contextlib
import heapq
import os
import random
import select
import signal
import socket
import struct
import sys
import time

PORT, IDLE, REQUEST = (int(arg) for arg in sys.argv[2:5])
IDLE /= 1000
REQUEST /= 1000
PATIENCE = 90  # seconds that something may take on a machine that is busy

dice = random.Random(1)
TEXT = bytes(dice.choices(b"abcdefghijklmnopqrstuvwxyz    \n\n", k=1 << 18))
tally = {
    name: [0, 0]
    for name in ("connections", "lines", "left", "idle", "slow", "end")
}


def count(name, least, most=None):
    tally[name][0] += least
    tally[name][1] += least if most is None else most


class Client:
    """What is all back the server has heard, and its timers run from there. Of
    what is not we cannot know: it may hang up for the silence before."""

    def __init__(self):
        self.owed = bytearray()  # what is to come back
        self.spoke = time.monotonic()  # when it last did
        self.began = None  # when it began the line that has no end yet
        self.heard = self.spoke, None  # the same of what the server has heard
        self.late = None  # how late the server hung up, if it did
        self.socket = socket.create_connection(("127.0.0.1", PORT))
        self.socket.setblocking(False)
        count("connections", 1)

    def say(self, data):
        """Returns how many bytes of it went out."""
        before = time.monotonic()
        try:
            size = self.socket.send(data)
        except BlockingIOError:
            return 0
        except ConnectionError:
            return len(data)  # hear() will tell
        self.spoke = before
        if self.began is None or b"\n" in data[: size - 1]:
            self.began = before
        if self.heard[1] is None:
            self.heard = self.heard[0], before
        self.owed += data[:size]
        return size

    def hear(self):
        """False: the connection is closed."""
        try:
            data = self.socket.recv(1 << 16)
        except BlockingIOError:
            return True
        except ConnectionResetError:
            data = b""
        if not data:
            self.hung_up(time.monotonic())
            return False
        assert self.owed.startswith(data), "what comes back is something else"
        del self.owed[: len(data)]
        count("lines", data.count(b"\n"))
        if not self.owed:
            if data.endswith(b"\n"):
                self.began = None
            self.heard = self.spoke, self.began
        return True

    def hung_up(self, now):
        spoke, began = self.heard
        idle = now - spoke - IDLE
        slow = -1 if began is None else now - began - REQUEST
        self.late = max(idle, slow)
        assert self.late >= 0, f"hung up on early: {idle:.6f}, {slow:.6f} s"
        count("idle", idle >= 0 > slow, idle >= 0)
        count("slow", slow >= 0 > idle, slow >= 0)
        self.close()

    def close(self):
        self.socket.close()
        count("lines", 0, self.owed.count(b"\n"))

    def hear_all(self):
        while self.owed and select.select([self.socket], [], [], PATIENCE)[0]:
            if not self.hear():
                return False
        assert not self.owed, "something does not come back"
        return True


def reset(client):
    """Leaves without a word."""
    client.socket.setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
    )
    client.close()


def play(number, script):
    """Plays so many clients, one coming after the other, until all have left or
    were left. A script speaks and yields how long it waits then."""
    poll = select.epoll()
    began = time.monotonic()
    acts = [(began + 0.01 * i, i, None) for i in range(number)]
    clients, there = {}, {}
    while acts or there:
        now = time.monotonic()
        assert now < began + PATIENCE + 5 * IDLE, "the server does not hang up"
        while acts and acts[0][0] <= now:
            _, i, acting = heapq.heappop(acts)
            if acting is None:
                clients[i] = Client()
                there[clients[i].socket.fileno()] = clients[i]
                poll.register(clients[i].socket, select.EPOLLIN)
                acting = script(i, clients[i])
            fd = clients[i].socket.fileno()
            wait = None if fd < 0 else next(acting, None)
            if wait is not None:
                heapq.heappush(acts, (now + wait, i, acting))
            if fd >= 0 and clients[i].socket.fileno() < 0:
                del there[fd]
        wait = max(acts[0][0] - now, 0) if acts else 1 if there else 0
        for fd, _ in poll.poll(wait):
            if fd in there and not there[fd].hear():
                del there[fd]
    return list(clients.values())


def was_soon(number, script, ttl, sorts):
    """Of each sort some were hung up on at once. Not all need be, on a machine
    that is busy; there it may take several tries."""
    end = time.monotonic() + PATIENCE
    while True:
        late = [c.late for c in play(number, script)]
        print(f"# late by {min(late):.6f} s to {max(late):.6f} s")
        tardy = [
            sort for sort in range(sorts) if min(late[sort::sorts]) >= 0.9 * ttl
        ]
        if not tardy:
            return
        assert time.monotonic() < end, f"sorts {tardy}: all are late"


def idle(i, c):
    """Says nothing; or a line; or lines for a while, and then nothing."""
    for j in range((0, 1, 8)[i % 3]):
        c.say(b"\n" if j % 2 else b"here I am\nand here\n")
        yield IDLE / 5


def slow(i, c):
    """Stops within a line; speaks on and on; stops within the second line;
    begins well."""
    if i % 4 == 0:
        c.say(b"s")
    elif i % 4 == 1:
        while True:
            c.say(b"a")
            yield REQUEST / 5
    elif i % 4 == 2:
        c.say(b"a line\nand a ha")
    else:
        for word in (b"in ", b"ti", b"me\n", b"too l", b"a"):
            c.say(word)
            yield REQUEST / 5


def alive(i, c):
    """Now and then a line; or lines in pieces; or the end of a line and the
    beginning of the next."""
    words = ((b"tick\n",), (b"ti", b"ck", b"\n"), (b"ck\nti",))[i % 3]
    until = time.monotonic() + 3 * IDLE
    while time.monotonic() < until:
        for word in words:
            c.say(word)
            yield IDLE / 5 if i % 3 == 0 else REQUEST / 5
    c.say(b"\n")
    if c.hear_all():
        count("left", 1)
        c.close()


def rude(i, c):
    """Leaves: at once; within a line; without having listened; or says that
    this was all, and listens."""
    yield 0
    if i % 4 == 1:
        c.say(b"I say, ")
    elif i % 4 >= 2:
        c.say(TEXT[:100000])
    if i % 4 == 3:
        with contextlib.suppress(OSError):  # it may have hung up on us
            c.socket.shutdown(socket.SHUT_WR)
        if not c.hear_all():
            return
        c.close()
    else:
        reset(c)
    # If the server was busy it may have taken them for another kind.
    count("left", 0, 1)
    count("idle", 0, 1)
    count("slow", 0, 1)


def greedy():
    """Says as much as goes, and only then listens."""
    c = Client()
    size = 0
    while size < 1 << 26 and select.select([], [c.socket], [], IDLE / 10)[1]:
        size += c.say(TEXT)
    print(f"# {size} bytes were on their way")
    if c.hear_all():
        count("left", 1)
        c.close()


def load(number, least):
    """Many at once, until there is an end of our input, and so many lines."""
    lines_at = [i + 1 for i, byte in enumerate(TEXT) if byte == 10]
    poll = select.epoll()
    poll.register(0, select.EPOLLIN | select.EPOLLHUP)
    there = {}
    more = True

    def speak(c):
        if not c.todo:
            at = dice.randrange(len(lines_at) - 200)
            to = lines_at[at + dice.choice((1, 1, 2, 20, 199))]
            c.todo = TEXT[lines_at[at] : to]
        cut = dice.choice((len(c.todo), 1 + dice.randrange(len(c.todo))))
        c.todo = c.todo[c.say(c.todo[:cut]) :]

    def enter():
        c = Client()
        c.todo = b""
        there[c.socket.fileno()] = c
        poll.register(c.socket.fileno(), select.EPOLLIN)
        speak(c)

    for _ in range(number):
        enter()
    began = time.monotonic()
    while there:
        events = poll.poll(PATIENCE)
        assert events, "the server is silent"
        for fd, _ in events:
            if fd == 0:
                more = False
                poll.unregister(0)
                continue
            c = there[fd]
            if not c.hear():
                del there[fd]
                enter()  # the machine is busy
            elif c.todo or (not c.owed and (more or tally["lines"][0] < least)):
                speak(c)
            elif not c.owed:
                count("left", 1)
                del there[fd]
                c.close()
    seconds = time.monotonic() - began
    print(f"# {tally['lines'][0] / seconds:.0f} lines per second")


def end(number, pid):
    """Is there when the server ends."""
    clients = [Client() for _ in range(number)]
    for c in clients:
        c.say(b"a line\nand ")
    clients = [c for c in clients if c.hear_all()]
    os.kill(pid, signal.SIGTERM)
    for c in clients:
        assert select.select([c.socket], [], [], PATIENCE)[0], "no end"
        assert c.socket.recv(1) == b""
        # If it was late it may have been so for another reason.
        quick = time.monotonic() - c.spoke < REQUEST
        count("end", quick, 1)
        count("slow", 0, not quick)


if __name__ == "__main__":
    kind = sys.argv[1]
    if kind == "idle":
        was_soon(60, idle, IDLE, 3)
    elif kind == "slow":
        was_soon(60, slow, REQUEST, 4)
    elif kind == "alive":
        play(60, alive)
    elif kind == "rude":
        play(60, rude)
    elif kind == "greedy":
        greedy()
    elif kind == "load":
        load(200, 400000)
    else:
        end(30, int(sys.argv[5]))
    for name, (least, most) in tally.items():
        print(name, least, most)
