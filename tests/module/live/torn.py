#!/usr/bin/env python3
"""torn.py - files that a crash has truncated or damaged are loaded completely
or not at all.

SIGKILL keeps every byte that was written; a power loss does not. So a server
writes its files, and is then started on copies of them:

aof: truncated at positions among the last bytes. The loaded contents must be
the result of the complete commands, a transaction counted as one: no key
differs, no command is applied partly. The contents after each command were
recorded as it ran.

rdb: truncated at positions among the last bytes. The server refuses to start,
with a message; it does not crash, and does not start with a part of the keys.

flips: bytes of either file changed at random; in the dump only those of our own
key, with a server that does not check checksums. The server refuses to start,
or its data can be read, checked, dumped and taken. It does not crash.

Positions are spread evenly if --cuts is less than --bytes.
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
    """Files of a server, and its contents at each size of the files."""

    def __init__(self, dice, size):
        clock = server.Clock()
        options = ("appendonly", "yes", "appendfsync", "always",
                   # All events that a sink moves are in one transaction,
                   # between two marks.
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
            # Without the type byte, which is elsewhere, the version, and the
            # checksum.
            self.value = self.one.call("DUMP", "{k}")[1:-10]
            self.one.expect_crash = True
        assert self.value in self.rdb, "the dump file does not contain the key as DUMP returns it"

    def mark(self):
        """Records the keys and the size of the file."""
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
        """Leases a due event, and ends the lease in some way."""
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
        """Some events move to the stream, each in a transaction of the server.
        """
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
        """A transaction of the client."""
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
        """Returns the digest of the complete commands in this part of the file.
        """
        whole = [digest for size, digest in self.marks if size <= cut]
        return whole[-1] if whole else None


class Starter:
    """Starts a server repeatedly on files, in its own folder."""

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
        """Returns its answer once it is running, or None if it refused. If its
        port was taken meanwhile, tries the next one."""
        for _ in range(5):
            answer = self.attempt(ask)
            if "Address already in use" not in self.log:
                return answer
        raise AssertionError(f"no port is free: {self.log[-1500:]}")

    def attempt(self, ask):
        """A server that rejects a dump searches for the error, and never ends
        if a value of a module is truncated: rdbLoadCheckModuleValue() of the
        server. So this does not wait for it."""
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
        # By its own exit, or by this test; not by another signal.
        assert child.returncode in (0, 1, -9), (child.returncode, self.log[-2000:])
        return answer

    def is_up(self, child):
        """Returns True if it starts; its messages are in the log."""
        for line in child.stdout:
            self.log += line.decode(errors="replace")
            if b"Ready to accept connections" in line:
                return True
            if b"Internal error in RDB reading" in line:
                return False
        return False


def cuts(size, last, count):
    """Returns this number of positions, spread evenly over the last bytes of a
    file."""
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
            # An empty file is not rejected.
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
    """Reads a key in all ways, and then takes everything from it."""
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
            # After the number that identifies the type.
            data = flipped(dice, history.rdb, begin + 9, begin + len(history.value))
            starter.write("dump.rdb", data)
            count(starter.run(use))
    print("  flips: " + ", ".join(f"{number} {how}" for how, number in counts.items()))
    assert counts["refused"] and counts["loaded"]


def main():
    options = server.arguments(__doc__, seed=1, bytes=64 * 1024, cuts=150, flips=60)
    dice = random.Random(options.seed)
    history = History(dice, options.bytes + 8 * 1024)

    def complete_commands_of_a_cut_append_only_file_are_loaded():
        cut_aof(history, options)

    def a_cut_dump_file_is_refused():
        cut_rdb(history, options)

    def a_damaged_file_is_refused_or_works():
        flip(history, dice, options)

    server.attempt_all(
        (
            complete_commands_of_a_cut_append_only_file_are_loaded,
            a_cut_dump_file_is_refused,
            a_damaged_file_is_refused_or_works,
        )
    )


if __name__ == "__main__":
    main()
