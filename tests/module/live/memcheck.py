#!/usr/bin/env python3
"""memcheck.py - parts of the other tests with a module that checks its memory
accesses.

lawn.so is built with AddressSanitizer and UBSan (LAWN_ASAN_SO, by default
build/watched/lawn.so). The server is not, so the sanitizer's library is
preloaded and replaces the server's allocator; memory that the module gets from
the server is checked, too. Valkey calls one function that only its own
allocator has; nojemalloc.c provides it.

The last case lets the server exit normally, and checks for memory that the
module has leaked.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import server

HERE = pathlib.Path(__file__).resolve().parent
MODULE = os.path.abspath(
    os.environ.get("LAWN_ASAN_SO", HERE / "../../../build/watched/lawn.so")
)
# Not reported: leaks at the exit of a server, and faults that its own handler gets.
OPTIONS = "detect_leaks=0:abort_on_error=1:handle_segv=0:allow_user_segv_handler=1"


def preload(folder):
    """Returns the libraries to preload."""
    compiler = os.environ.get("CC", "cc")
    found = subprocess.run(
        [compiler, "-print-file-name=libasan.so"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    shim = folder + "/nojemalloc.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", HERE / "nojemalloc.c", "-o", shim],
        check=True,
    )
    return os.path.realpath(found.stdout.strip()) + ":" + shim


def run(program, *args):
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(
            os.environ,
            LAWN_SO=MODULE, LAWN_SLOW="3", LAWN_PRELOAD=preload(folder),
            ASAN_OPTIONS=OPTIONS, UBSAN_OPTIONS="print_stacktrace=1",
        )  # fmt: skip
        done = subprocess.run(
            [sys.executable, HERE / program, "--server", server.KIND, *args],
            env=environment, capture_output=True, text=True, timeout=1800,
            check=False,
        )  # fmt: skip
    assert done.returncode == 0, failure(done.stdout, done.stderr)


def failure(output, errors):
    """Returns the failed cases, the sanitizer's findings, and the end of the
    output. The commands before it and the logs of servers are omitted: of a
    message, server.attempt() prints the first 2,000 characters."""
    lines = output.splitlines()
    told = [line for line in lines if line.startswith("seed ")]
    for i, line in enumerate(lines):
        if line.startswith("FAILED"):
            told += lines[i : i + 2]
        elif server.BROKEN.search(line):
            told += lines[i : i + 5]
    told = told[:12] + lines[-1:] + errors.splitlines()[-3:]
    return "\n  ".join(line[:500] for line in told)


@server.case
def random_commands_touch_only_their_own_memory():
    run("model.py", "--ops", "4000", "--batch", "500")


@server.case
def odd_lines_and_payloads_touch_only_their_own_memory():
    run("fuzz.py", "--lines", "20000", "--payloads", "1500")


@server.case
def a_killed_server_starts_again_cleanly():
    run("kill.py", "--cycles", "5")


@server.case
def keys_that_are_removed_while_their_events_are_delivered_are_left_alone():
    run("sink.py", "during_a_drain")


@server.case
def nothing_is_lost_that_was_taken():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LAWN_PRELOAD"] = preload(folder)
        os.environ["ASAN_OPTIONS"] = (
            "detect_leaks=1:fast_unwind_on_malloc=0:malloc_context_size=20"
        )
        server.MODULE, was = MODULE, server.MODULE
        try:
            with server.Server() as one:
                text = use_and_stop(one)
        finally:
            server.MODULE = was
            del os.environ["LAWN_PRELOAD"]
    reports = re.split(r"\n(?=Direct|Indirect)", text)
    # By our lines if they are known, otherwise by the file.
    ours = [
        r for r in reports
        if "leak of" in r and re.search(r" module/\w+\.c:|lawn\.so", r)
    ]  # fmt: skip
    assert not ours, "\n".join(ours)[:4000]


def use_and_stop(one):
    """Uses all features once, and returns the output at the exit."""
    call = one.call
    for i in range(3000):
        call("LAWN.PUSH", "k", i % 700, "payload %d" % i, "DELAY", i % 5 * 1000)
    call("LAWN.CONFIG", "k", "SET", "maxlen", 100, "overflow", "drop-oldest")
    for i in range(300):
        call("LAWN.PUSH", "k", "*", "x" * i, "AT", 1, "EVERY", 1 + i)
        call("LAWN.POLL", "k", "COUNT", 2)
    call("LAWN.UPDATE", "k", "5", "y" * 1000)
    call("LAWN.TOUCH", "k", "5", "AT", 1)
    call("REDE.PUSH", "r", 0, "payload", "id")
    use_leases(one)
    call("REDE.PRINT", "k")
    call("REDE.TEST")
    call("COPY", "k", "copy")
    dump = call("DUMP", "k")
    call("RESTORE", "restored", 0, dump)
    call("RESTORE", "restored", 0, dump[:-20] + dump[-10:])
    call("DEBUG", "RELOAD")
    call("RENAME", "copy", "other")
    call("SWAPDB", 0, 1)
    call("FLUSHALL", "ASYNC")
    waits = one.client()
    waits.send("LAWN.POLL", "k", "BLOCK", 0)
    call("LAWN.PUSH", "k", "id", "payload", "DELAY", 1)
    assert waits.read() == [[b"id", b"payload"]]
    call("LAWN.PUSH", "left", "id", "payload", "DELAY", 100000)
    one.expect_crash = True  # it exits, and its leak check may fail
    one._drop()  # pylint: disable=protected-access
    one.process.terminate()
    one.process.wait(60)
    text = one.log()
    (one.folder / "errors").write_text("")
    assert "bye bye" in text, text[-2000:]
    return text


def use_leases(one):
    """Leases that are acknowledged, returned, extended, ended and dead; and
    sinks."""
    call = one.call
    for i in range(200):
        call(
            "LAWN.PUSH", "l", i, "x" * i, "AT", 1, "TRIES", i % 3,
            *(("EVERY", 1000 + i) if i % 7 == 0 else ()),
        )  # fmt: skip
    for count in range(1, 12):
        for i, _, token, _, _ in call(
            "LAWN.LEASE", "l", "o" * 20 * count, "COUNT", count, "LEASE", 60000
        ):
            if count % 4 == 0:
                call("LAWN.ACK", "l", i, token, i, token)
            elif count % 4 == 1:
                assert call("LAWN.NACK", "l", i, token) == 1
            elif count % 4 == 2:
                assert call("LAWN.EXTEND", "l", i, token, "LEASE", 1) > 0
    for kind, to, length in (("STREAM", "out", "XLEN"), ("LIST", "to", "LLEN")):
        call("LAWN.SINK", "l", "NONE")
        call("LAWN.PUSH", "l", "new", "p", "AT", 1)
        call("LAWN.SINK", "l", kind, to, "DEADLETTER", "dead")
        server.wait_until(
            lambda: not call("LAWN.LEN", "l", "DUE")
            and not call("LAWN.LEN", "l", "DEAD"),
            "the sinks take due and dead events",
        )
        assert call(length, to) > 0 and call("XLEN", "dead") > 0
    # A sink whose deliveries are refused, left in that state.
    call("LAWN.PUSH", "bad", "i", "p", "AT", 1)
    call("LAWN.SINK", "bad", "STREAM", "to")
    server.wait_until(lambda: b"WRONGTYPE" in b"".join(
        w for w in call("LAWN.INFO", "bad") if isinstance(w, bytes)
    ), "the sink has failed")  # fmt: skip


if __name__ == "__main__":
    if not os.path.exists(MODULE):
        sys.exit("no %s; make build/watched/lawn.so makes one" % MODULE)
    server.main(__doc__)
