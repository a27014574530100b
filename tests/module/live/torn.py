#!/usr/bin/env python3
"""torn.py - files that a crash has cut or damaged are loaded whole or not at all.

SIGKILL leaves every byte that was written; a loss of power does not. So a server
writes its files, and then it is started on copies of them:

aof: cut at each of so many last bytes. What is loaded must be what the commands
leave behind that are whole in it, a transaction counted as one: no key differs,
nothing is half done. How the keys were after each command was noted as it ran.

rdb: cut at each of so many last bytes. The server refuses to start, and says
why; it does not crash, and does not begin with half of the keys.

flips: bytes of either file changed at random; in the dump only those of our own
key, with a server that does not look at checksums. The server refuses to start,
or what it loads can be read, checked, dumped and taken. It does not crash.

Cuts are spread evenly if --cuts is less than --bytes.
"""
import os
import random
import re
import shutil
import subprocess
import tempfile

import resp
import server

FAR = 10**12  # ms
HOUR = 3600 * 1000


class History:
    """Files of a server, and what it held when they were of which size."""

    def __init__(self, dice, size):
        clock = server.Clock()
        options = ("appendonly", "yes", "appendfsync", "always",
                   # All that a sink moves goes in one transaction, between two marks.
                   "lawn.tick-budget-us", 1000000)  # fmt: skip
        self.dice = dice
        self.ids = []
        self.number = 0
        self.marks = []
        with server.Server(*options, clock=clock) as self.one:
            self.clock = clock
            self.file = next((self.one.folder / "appendonlydir").glob("*.incr.aof"))
            self.call("LAWN.SINK", "{k}sunk", "STREAM", "{k}stream")
            while self.file.stat().st_size < size:
                self.step()
            self.aof = self.file.read_bytes()
            self.names = {
                path.name: path.read_bytes() for path in self.file.parent.iterdir()
            }
            while len(self.one.call("DUMP", "{k}")) < size:
                for _ in range(200):
                    self.number += 1
                    payload = dice.randbytes(50)
                    self.one.call("LAWN.PUSH", "{k}", self.number, payload, "DELAY", FAR)
            self.one.call("SAVE")
            self.rdb = (self.one.folder / "dump.rdb").read_bytes()
            # Less the type's byte, which is elsewhere, the version, and a checksum.
            self.value = self.one.call("DUMP", "{k}")[1:-10]
            self.one.expect_crash = True
        assert self.value in self.rdb, "the dump file has the key as DUMP tells it"

    def mark(self):
        """The keys as they are, and the size of the file that says so."""
        self.marks.append((self.file.stat().st_size, self.one.call("DEBUG", "DIGEST")))

    def call(self, *args):
        reply = self.one.call(*args)
        assert not isinstance(reply, resp.Error), (args, reply)
        self.mark()
        return reply

    def push(self, *more):
        self.number += 1
        name = b"%d" % self.number
        payload = self.dice.randbytes(self.dice.randrange(40))
        self.call("LAWN.PUSH", "{k}", name, payload, *more)
        self.ids.append(name)
        return name

    def lease(self):
        """One that is due: taken, and given back in some way."""
        self.push("DELAY", 0, "TRIES", 9)
        rows = self.call("LAWN.LEASE", "{k}", "w", "LEASE", FAR)
        name, token = rows[0][0], rows[0][2]
        how = self.dice.randrange(4)
        if how == 0:
            self.call("LAWN.ACK", "{k}", name, token)
        elif how == 1:
            self.call("LAWN.NACK", "{k}", name, token, "DELAY", FAR)
        elif how == 2:
            self.call("LAWN.EXTEND", "{k}", name, token, "LEASE", FAR)

    def sink(self):
        """A few move to the stream, each in a transaction of the server's own."""
        count = self.dice.randrange(1, 4)
        before = self.one.call("XLEN", "{k}stream")
        for _ in range(count):
            self.number += 1
            self.call("LAWN.PUSH", "{k}sunk", self.number, "s", "DELAY", HOUR)
        self.clock.step(2 * HOUR)
        server.wait_until(
            lambda: self.one.call("XLEN", "{k}stream") == before + count, "they move"
        )
        self.mark()

    def transaction(self):
        """The user's own."""
        self.one.control.multi(
            ("LAWN.PUSH", "{k}", "m", "1", "DELAY", FAR),
            ("INCR", "{k}plain"),
            ("LAWN.CANCEL", "{k}", "m"),
        )
        self.mark()

    def step(self):
        kind = self.dice.randrange(12)
        if kind < 5 or not self.ids:
            self.push("DELAY", FAR + self.dice.randrange(3))
        elif kind == 5:
            self.push("AT", 10**14 + self.dice.randrange(10**6), "EVERY", 1000)
        elif kind == 6:
            self.call("LAWN.CANCEL", "{k}", self.ids.pop())
        elif kind == 7:
            self.call("LAWN.UPDATE", "{k}", self.dice.choice(self.ids), "new")
        elif kind == 8:
            self.call("LAWN.TOUCH", "{k}", self.dice.choice(self.ids), "DELAY", FAR)
        elif kind == 9:
            self.lease()
        elif kind == 10:
            self.sink()
        else:
            self.transaction()

    def expected(self, cut):
        """The digest of what is whole in so many bytes of the file."""
        whole = [digest for size, digest in self.marks if size <= cut]
        return whole[-1] if whole else None


class Starter:
    """Starts a server again and again on files, in a folder of its own."""

    def __init__(self, *options):
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.mkdtemp(prefix="lawn-torn-", dir=base)
        self.port = None
        self.log = ""
        self.options = [
            "--bind", "127.0.0.1", "--dir", self.folder, "--logfile", "",
            "--save", "", "--enable-debug-command", "yes",
            "--crash-memcheck-enabled", "no",
            *options, "--loadmodule", server.MODULE,
        ]  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, True)

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)

    def run(self, ask):
        """What it answers once it is up, or None if it has refused. Where another
        has taken its port meanwhile it tries the next."""
        for _ in range(5):
            answer = self.attempt(ask)
            if "Address already in use" not in self.log:
                return answer
        raise AssertionError(f"no port is free: {self.log[-1500:]}")

    def attempt(self, ask):
        """One that refuses a dump then looks for the fault itself, and never ends
        if a value of a module is cut: rdbLoadCheckModuleValue() of the server's.
        So it is not waited for."""
        self.log = ""
        self.port = server.free_port()
        answer = None
        command = [
            *server.PREFIX, f"{server.KIND}-server", "--port", str(self.port),
            *self.options,
        ]  # fmt: skip
        with server.launch(command, subprocess.PIPE) as child:
            refused = not self.is_up(child)
            if not refused:
                with resp.Client(self.port, 2, server.PATIENCE) as client:
                    answer = ask(client)
            child.kill()
            self.log += child.stdout.read().decode(errors="replace")
        found = server.BROKEN.search(self.log)
        assert not found, f"the log has {found.group()}: {self.log[-3000:]}"
        # By itself, or by us; not by a signal of its own.
        assert child.returncode in (0, 1, -9), (child.returncode, self.log[-2000:])
        return answer

    def is_up(self, child):
        """Whether it gets so far; what it said of it is in the log."""
        for line in child.stdout:
            self.log += line.decode(errors="replace")
            if b"Ready to accept connections" in line:
                return True
            if b"Internal error in RDB reading" in line:
                return False
        return False


def cuts(size, last, count):
    """So many places, the last bytes of a file, spread evenly."""
    last = min(last, size)
    count = min(count, last)
    return [size - last + i * last // count for i in range(count)]


def cut_aof(history, options):
    places = cuts(len(history.aof), options.bytes, options.cuts)
    states = set()
    with Starter("--appendonly", "yes", "--aof-load-truncated", "yes") as starter:
        for cut in places:
            for name, data in history.names.items():
                whole = name == history.file.name
                starter.write("appendonlydir/" + name, data[:cut] if whole else data)
            got = starter.run(lambda client: client.call("DEBUG", "DIGEST"))
            assert got is not None, f"cut at {cut}: refused: {starter.log[-1500:]}"
            server.equal(got, history.expected(cut), f"cut at {cut}")
            states.add(got)
    print(f"  aof: {len(places)} cuts of {len(history.aof)} bytes, "
          f"{len(states)} states, each whole")  # fmt: skip
    assert len(states) > 1


def cut_rdb(history, options):
    places = cuts(len(history.rdb), options.bytes, options.cuts)
    with Starter() as starter:
        starter.write("dump.rdb", history.rdb)
        size = starter.run(lambda client: client.call("DBSIZE"))
        server.equal(size, 4, "the whole file is loaded: keys")
        for cut in places:
            starter.write("dump.rdb", history.rdb[:cut])
            got = starter.run(lambda client: client.call("DBSIZE"))
            # With not a byte of it there is nothing to refuse.
            assert got is None or cut == 0, f"cut at {cut}: {got} keys"
            assert cut == 0 or re.search("Short read|Wrong signature|RDB", starter.log)
    print(f"  rdb: {len(places)} cuts of {len(history.rdb)} bytes, all refused")


def flipped(dice, data, begin, end):
    data = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 2, 5))):
        at = dice.randrange(begin, end)
        data[at] = dice.choice((data[at] ^ 1 << dice.randrange(8), dice.randrange(256)))
    return bytes(data)


def use(client):
    """All that reads a key, and then takes everything out of it."""
    if client.call("EXISTS", "{k}") == 0:
        return "gone"
    if client.call("TYPE", "{k}") != resp.Simple(b"dehy-type"):
        return "gone"
    for words in (
        ("LAWN.LEN", "{k}"),
        ("LAWN.INFO", "{k}"),
        ("LAWN.NEXT", "{k}"),
        ("DEBUG", "DIGEST-VALUE", "{k}"),
        ("LAWN.PUSH", "{k}", "one more", "p", "DELAY", 0),
    ):
        client.call(*words)
    dumped = client.call("DUMP", "{k}")
    reply = client.call("RESTORE", "{k}copy", 0, dumped)
    server.equal(reply, resp.Simple(b"OK"), "what was loaded can be restored")
    server.equal(*(client.call("DEBUG", "DIGEST-VALUE", key)[0]
                   for key in ("{k}copy", "{k}")), "the copy")  # fmt: skip
    while client.call("LAWN.POLL", "{k}", "COUNT", 1000):
        pass
    client.call("DEL", "{k}")
    return "loaded"


def flip(history, dice, options):
    counts = {"refused": 0, "loaded": 0, "gone": 0}

    def count(answer):
        counts[answer or "refused"] += 1

    with Starter("--appendonly", "yes") as starter:
        for _ in range(options.flips):
            for name, data in history.names.items():
                if name == history.file.name:
                    data = flipped(dice, data, 0, len(data))
                starter.write("appendonlydir/" + name, data)
            count(starter.run(use))
    begin = history.rdb.index(history.value)
    with Starter("--rdbchecksum", "no") as starter:
        for _ in range(options.flips):
            # Past the number that tells whose type it is.
            data = flipped(dice, history.rdb, begin + 9, begin + len(history.value))
            starter.write("dump.rdb", data)
            count(starter.run(use))
    print("  flips: " + ", ".join(f"{number} {how}" for how, number in counts.items()))
    assert counts["refused"] and counts["loaded"]


def main():
    options = server.arguments(__doc__, seed=1, bytes=64 * 1024, cuts=150, flips=60)
    dice = random.Random(options.seed)
    history = History(dice, options.bytes + 8 * 1024)

    def what_is_whole_in_a_cut_file_of_commands_is_loaded():
        cut_aof(history, options)

    def a_cut_dump_file_is_refused():
        cut_rdb(history, options)

    def a_damaged_file_is_refused_or_works():
        flip(history, dice, options)

    server.attempt_all(
        (
            what_is_whole_in_a_cut_file_of_commands_is_loaded,
            a_cut_dump_file_is_refused,
            a_damaged_file_is_refused_or_works,
        )
    )


if __name__ == "__main__":
    main()
