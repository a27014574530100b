#!/usr/bin/env python3
"""clients.py KIND PORT IDLE_MS REQUEST_MS [PID] - clients of examples/echo.c.

All replies are compared with the sent bytes. When the server closes a connection,
the client checks by its own clock that it was permitted to: it reads the clock
before sending and after receiving, so a correct server is never reported as early,
however slow the machine. Counts are printed as lines "name least most", which
tests/api/echo adds up. If the client knows a count exactly, least is equal to most.
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
PATIENCE = 90  # maximum seconds for anything on a busy machine

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
    """Once all sent bytes have been echoed, the server has received them, and its
    timers run from there. Until then it may have timed out before receiving them."""

    def __init__(self):
        self.owed = bytearray()  # bytes not yet echoed
        self.spoke = time.monotonic()  # time of the last send
        self.began = None  # start of the unfinished line
        self.heard = self.spoke, None  # both, for bytes that the server has received
        self.late = None  # how late the server closed, if it did
        self.socket = socket.create_connection(("127.0.0.1", PORT))
        self.socket.setblocking(False)
        count("connections", 1)

    def send_text(self, data):
        """Returns the number of bytes sent."""
        before = time.monotonic()
        try:
            size = self.socket.send(data)
        except BlockingIOError:
            return 0
        except ConnectionError:
            return len(data)  # hear() reports it
        self.spoke = before
        if self.began is None or b"\n" in data[: size - 1]:
            self.began = before
        if self.heard[1] is None:
            self.heard = self.heard[0], before
        self.owed += data[:size]
        return size

    def hear(self):
        """Returns False if the connection is closed."""
        try:
            data = self.socket.recv(1 << 16)
        except BlockingIOError:
            return True
        except ConnectionResetError:
            data = b""
        if not data:
            self.hung_up(time.monotonic())
            return False
        assert self.owed.startswith(data), "the echo differs"
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
        assert self.late >= 0, f"closed early: {idle:.6f}, {slow:.6f} s"
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
        assert not self.owed, "the echo is incomplete"
        return True


def reset(client):
    """Resets the connection."""
    client.socket.setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
    )
    client.close()


def play(number, script):
    """Runs this number of clients, connecting one after the other, until all
    connections are closed. A script sends and yields the time to wait."""
    poll = select.epoll()
    began = time.monotonic()
    acts = [(began + 0.01 * i, i, None) for i in range(number)]
    clients, there = {}, {}
    while acts or there:
        now = time.monotonic()
        assert now < began + PATIENCE + 5 * IDLE, "the server does not close the connection"
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
    """Checks that of each sort some connections were closed in time. On a busy
    machine others may be late, and it may take several tries."""
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
    """Sends nothing; or a line; or lines for a while, and then nothing."""
    for j in range((0, 1, 8)[i % 3]):
        c.send_text(b"\n" if j % 2 else b"here I am\nand here\n")
        yield IDLE / 5


def slow(i, c):
    """Stops within a line; sends one endless line; stops within the second line;
    or sends a complete line, and then stops."""
    if i % 4 == 0:
        c.send_text(b"s")
    elif i % 4 == 1:
        while True:
            c.send_text(b"a")
            yield REQUEST / 5
    elif i % 4 == 2:
        c.send_text(b"a line\nand a ha")
    else:
        for word in (b"in ", b"ti", b"me\n", b"too l", b"a"):
            c.send_text(word)
            yield REQUEST / 5


def alive(i, c):
    """Sends a line now and then; or lines in pieces; or the end of a line and the
    beginning of the next."""
    words = ((b"tick\n",), (b"ti", b"ck", b"\n"), (b"ck\nti",))[i % 3]
    until = time.monotonic() + 3 * IDLE
    while time.monotonic() < until:
        for word in words:
            c.send_text(word)
            yield IDLE / 5 if i % 3 == 0 else REQUEST / 5
    c.send_text(b"\n")
    if c.hear_all():
        count("left", 1)
        c.close()


def rude(i, c):
    """Closes the connection: at once; within a line; without reading; or shuts
    down sending, and reads the rest."""
    yield 0
    if i % 4 == 1:
        c.send_text(b"hello, ")
    elif i % 4 >= 2:
        c.send_text(TEXT[:100000])
    if i % 4 == 3:
        with contextlib.suppress(OSError):  # the server may have closed it
            c.socket.shutdown(socket.SHUT_WR)
        if not c.hear_all():
            return
        c.close()
    else:
        reset(c)
    # A busy server may have closed them as idle or slow.
    count("left", 0, 1)
    count("idle", 0, 1)
    count("slow", 0, 1)


def greedy():
    """Sends as much as possible, and only then reads."""
    c = Client()
    size = 0
    while size < 1 << 26 and select.select([], [c.socket], [], IDLE / 10)[1]:
        size += c.send_text(TEXT)
    print(f"# {size} bytes were in transit")
    if c.hear_all():
        count("left", 1)
        c.close()


def load(number, least):
    """Runs many clients at once, until standard input ends and least lines are echoed."""
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
        c.todo = c.todo[c.send_text(c.todo[:cut]) :]

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
        assert events, "the server does not respond"
        for fd, _ in events:
            if fd == 0:
                more = False
                poll.unregister(0)
                continue
            c = there[fd]
            if not c.hear():
                del there[fd]
                enter()  # timed out: the machine is busy
            elif c.todo or (not c.owed and (more or tally["lines"][0] < least)):
                speak(c)
            elif not c.owed:
                count("left", 1)
                del there[fd]
                c.close()
    seconds = time.monotonic() - began
    print(f"# {tally['lines'][0] / seconds:.0f} lines per second")


def end(number, pid):
    """Is connected when the server ends."""
    clients = [Client() for _ in range(number)]
    for c in clients:
        c.send_text(b"a line\nand ")
    clients = [c for c in clients if c.hear_all()]
    os.kill(pid, signal.SIGTERM)
    for c in clients:
        assert select.select([c.socket], [], [], PATIENCE)[0], "the connection stays open"
        assert c.socket.recv(1) == b""
        # If it was late, the reason may have been a timeout.
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
