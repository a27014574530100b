#!/usr/bin/env python3
"""clients.py - the module used through common client libraries.

The same conversation, line by line, is sent through client libraries of several
languages, and all must print the same replies; then through redis-cli in
several modes. One line waits for an event that is not yet due when it is sent.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import resp
import server
from server import case, need, shared

CLIENTS = pathlib.Path(__file__).resolve().parent / "clients"
DELAY = 150  # ms until the event is due

# Values that are not known in advance: the token and the due time.
LEASED = re.compile(r"\[\[job work (\d+) 1 \d+\]\]")

TALK = (
    ("LAWN.PUSH k first one DELAY %d" % DELAY, "first"),
    ("LAWN.PUSH k first other DELAY 5 NX", "nil"),
    ("LAWN.LEN k", "1"),
    ("LAWN.GET k first", "one"),
    ("LAWN.POLL k", "[]"),
    ("LAWN.POLL k COUNT 10 BLOCK 20000", "[[first one]]"),
    ("LAWN.LEN k", "0"),
    ("LAWN.INFO k", "nil"),
    ("LAWN.POLL k BLOCK 1", "[]"),
    ("LAWN.MPUSH k DELAY 3600000 2 a payload-a b payload-b", "2"),
    ("LAWN.CANCEL k a missing", "1"),
    ("LAWN.CANCEL k a", "0"),
    ("LAWN.UPDATE k b other", "payload-b"),
    ("LAWN.GET k missing META", "nil"),
    ("LAWN.CONFIG k SET maxlen 7", "OK"),
    ("LAWN.CONFIG k GET maxlen", "[maxlen 7]"),
    ("LAWN.PUSH k c x DELAY soon",
     "error: DELAY must be an integer number of milliseconds from 0 to 2^53, "
     "not 'soon'"),
    ("LAWN.PULL k b", "other"),
    ("REDE.PUSH r 0 payload id", "OK"),
    ("REDE.XPOLL r", "[id]"),
    ("REDE.XACK r id", "[payload]"),
    ("REDE.TTN r", "nil"),
    ("LAWN.PUSH l job work DELAY 0 TRIES 3", "job"),
    ("LAWN.LEASE l worker LEASE 3600000 BLOCK 9", LEASED),
    ("LAWN.LEASE l worker", "[]"),
    ("LAWN.LEN l LEASED", "1"),
    ("LAWN.ACK l job 1 other 2", "[0 0]"),
    ("LAWN.NACK l job 1 DELAY 5", "0"),
    ("LAWN.EXTEND l job 1 LEASE 5", "0"),
    ("LAWN.SINK l LIST done DEADLETTER dead", "OK"),
    ("LAWN.PARTITION 123456789 16384", "%d" % (0x31C3 % 16384)),
)  # fmt: skip


def talk(*command, **environment):
    """Checks that a client prints the expected replies."""
    one = shared()
    lines = "".join(line + "\n" for line, _ in TALK)
    began = time.monotonic()
    done = subprocess.run(
        [*map(str, command), str(one.port)],
        input=lines, capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    heard = done.stdout.splitlines()
    for (line, expected), got in zip(TALK, heard):
        if expected is LEASED:
            token = LEASED.fullmatch(got)
            assert token, "%s: %s" % (line, got)
            continue
        assert got == expected, "%s: %s, and not %s" % (line, got, expected)
    assert len(heard) == len(TALK), heard
    # Exact to the last digit, whatever numbers the language has.
    assert one.call("LAWN.ACK", "l", "job", token[1]) == [1], token[1]
    took = time.monotonic() - began
    assert took >= DELAY / 1000, "it came early: %s" % took


@case
def python_receives_the_expected_replies():
    need(os.path.isdir("/usr/lib/python3/dist-packages/redis"), "python3-redis")
    talk("/usr/bin/python3", CLIENTS / "say.py")


@case
def ruby_receives_the_expected_replies():
    need(shutil.which("ruby"), "ruby-redis")
    talk("ruby", CLIENTS / "say.rb")


@case
def node_receives_the_expected_replies():
    need(shutil.which("node"), "node-redis")
    talk("node", CLIENTS / "say.js", NODE_PATH="/usr/share/nodejs")


@case
def hiredis_receives_the_expected_replies():
    need(os.path.exists("/usr/include/hiredis/hiredis.h"), "libhiredis-dev")
    with tempfile.TemporaryDirectory() as folder:
        program = folder + "/say"
        subprocess.run(
            [os.environ.get("CC", "cc"), "-std=c11", "-D_DEFAULT_SOURCE",
             CLIENTS / "say.c", "-lhiredis", "-o", program],
            check=True, timeout=300,
        )  # fmt: skip
        talk(program)


# THE SERVER'S OWN CLIENT


def cli_command(one):
    program = server.KIND + "-cli"
    need(shutil.which(program), program)
    return [program, "-p", str(one.port)]


def cli(one, *words, text=None):
    """Returns the output and whether the exit status was 0."""
    done = subprocess.run(
        [*cli_command(one), *words],
        input=text, capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    return done.stdout.decode("latin1").rstrip("\n"), done.returncode


@case
def redis_cli_prints_what_a_terminal_would_get():
    one = shared()
    push = ("LAWN.PUSH", "k", "i", "p", "DELAY", "60000")
    assert cli(one, "--no-raw", *push) == ('"i"', 0)
    assert cli(one, "--no-raw", "LAWN.LEN", "k") == ("(integer) 1", 0)
    assert cli(one, "--no-raw", "LAWN.POLL", "k") == ("(empty array)", 0)
    assert cli(one, "LAWN.GET", "k", "i") == ("p", 0)
    assert cli(one, "-e", "LAWN.GET", "k") == ("", 1)


@case
def redis_cli_shows_maps_of_resp3():
    one = shared()
    one.call("LAWN.PUSH", "k", "i", "p", "AT", "2000000000000", "EVERY", "5")
    out, _ = cli(one, "-3", "--no-raw", "LAWN.GET", "k", "i", "META")
    assert out.splitlines() == [
        ' 1# "payload" => "p"',
        ' 2# "due" => (integer) 2000000000000',
        ' 3# "state" => "waiting"',
        ' 4# "period" => (integer) 5',
        ' 5# "times" => (integer) 0',
        ' 6# "missed" => (integer) 0',
        ' 7# "tries" => (integer) 0',
        ' 8# "max-tries" => (integer) 0',
        ' 9# "lease-end" => (integer) 0',
        '10# "owner" => ""',
    ], out


@case
def redis_cli_makes_json_of_all_that_is_reported():
    one = shared()
    one.call("LAWN.PUSH", "k", "i", "p", "AT", "2000000000000")
    info = json.loads(cli(one, "--json", "LAWN.INFO", "k")[0])
    assert info["len"] == 1 and info["next"] == 2000000000000, info
    assert info["paused"] == 0 and info["oldest-due"] == 0, info
    assert info["data-bytes"] == 2, info
    meta = json.loads(cli(one, "--json", "LAWN.GET", "k", "i", "META")[0])
    assert list(meta) == [
        "payload", "due", "state", "period", "times", "missed", "tries",
        "max-tries", "lease-end", "owner",
    ], meta  # fmt: skip
    one.call("LAWN.PUSH", "k", "now", "q", "AT", "1")
    due = json.loads(cli(one, "--json", "LAWN.POLL", "k")[0])
    assert due == [["now", "q"]], due
    assert json.loads(cli(one, "--json", "LAWN.INFO", "none")[0]) is None


@case
def redis_cli_takes_lines_from_a_pipe():
    one = shared()
    lines = b"".join(
        b"LAWN.PUSH k id%d payload DELAY 3600000\n" % i for i in range(200)
    )
    out, _ = cli(one, text=lines + b"LAWN.LEN k\n")
    assert out.splitlines()[-1] == "200", out


@case
def redis_cli_pipes_a_protocol_in():
    one = shared()
    data = b"".join(
        resp.encode("LAWN.PUSH", "k", "*", "payload", "DELAY", 3600000)
        for _ in range(5000)
    )
    out, status = cli(one, "--pipe", text=data)
    assert status == 0 and "errors: 0, replies: 5000" in out, out
    assert one.call("LAWN.LEN", "k") == 5000


@case
def redis_cli_waits_for_an_event():
    one = shared()
    with subprocess.Popen(
        [*cli_command(one), "LAWN.POLL", "k", "BLOCK", "0"],
        stdout=subprocess.PIPE, text=True,
    ) as waits:  # fmt: skip
        server.wait_until(lambda: one.blocked() == 1, "the client waits")
        one.call("LAWN.PUSH", "k", "i", "p", "DELAY", 20)
        out, _ = waits.communicate(timeout=300)
    assert out.split() == ["i", "p"], out


if __name__ == "__main__":
    server.main(__doc__)
