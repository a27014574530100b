"""Measures how fast the server moves due events into a stream, compared with how fast a
client can XADD the same fields to the same server.

The events are pushed to a paused key, so all of them are due when it is resumed. The
duration is computed from the ids of the stream, which are times. The clients are
measured in the same way. They are redis-benchmark with 50 connections, with pipelines
of 16 and of 128 commands, and one connection that sends formatted commands as fast as
the server reads them, without replies. In each round, the sink is compared with the
best of these.
"""
import subprocess
import time

import jobs
from servers import PAYLOAD, Server, fail

ID = "e___rand_int__"


def span(server, key, count):
    """Returns the events per second, computed from the ids of the first and the last
    entry."""
    if server.admin.call("XLEN", key) < count:
        fail("not all is in %s" % key)
    first = server.admin.call("XRANGE", key, "-", "+", "COUNT", 1)[0][0]
    last = server.admin.call("XREVRANGE", key, "+", "-", "COUNT", 1)[0][0]
    ms = int(last.split(b"-")[0]) - int(first.split(b"-")[0])
    return server.admin.call("XLEN", key) / max(ms, 1) * 1000


def sink(server, count):
    """Returns the events per second, and the CPU time of each in us."""
    admin = server.admin
    admin.call("LAWN.SINK", "q", "STREAM", "s")
    admin.call("LAWN.PAUSE", "q")
    admin.fill(jobs.Lawn().fill(count, 0))
    if admin.call("LAWN.LEN", "q") != count:
        fail("not all events are there")
    cpu = server.cpu()
    admin.call("LAWN.RESUME", "q")
    until = time.monotonic() + 60
    while admin.call("LAWN.LEN", "q"):
        if time.monotonic() > until:
            fail("%d events are not in the stream" % admin.call("LAWN.LEN", "q"))
        time.sleep(0.02)
    cpu = (server.cpu() - cpu) / count * 1e6
    return span(server, "s", count), cpu


def benchmark(server, count, depth):
    words = [server.name + "-benchmark", "-p", str(server.port), "-n", str(count),
             "-P", str(depth), "-r", str(10 ** 9), "--csv", "XADD", "x", "*", "id", ID,
             "payload", PAYLOAD.decode(), "due", str(int(time.time() * 1000)), "n", "1"]
    cpu = server.cpu()
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        fail("%s: %s" % (" ".join(words), done.stderr or done.stdout))
    cpu = (server.cpu() - cpu) / count * 1e6
    return span(server, "x", count), cpu


def raw(server, count):
    one = (b"*11\r\n$4\r\nXADD\r\n$1\r\nx\r\n$1\r\n*\r\n$2\r\nid\r\n$14\r\ne_%%012d\r\n"
           b"$7\r\npayload\r\n$64\r\n%s\r\n$3\r\ndue\r\n$13\r\n%d\r\n$1\r\nn\r\n$1\r\n1\r\n"
           % (PAYLOAD, int(time.time() * 1000)))
    part = jobs.PART
    buffers = [one * part % tuple(range(i, i + part)) for i in range(0, count, part)]
    cpu = server.cpu()
    server.admin.fill(buffers)
    cpu = (server.cpu() - cpu) / count * 1e6
    return span(server, "x", count), cpu


WAYS = {"XADD, pipelines of 16": lambda server, count: benchmark(server, count, 16),
        "XADD, pipelines of 128": lambda server, count: benchmark(server, count, 128),
        "XADD, no replies": raw,
        "sink": sink}


def measure(name, modules, aof, count, runs):
    """Returns {way: [(events/s, CPU us) of each round]}."""
    found = {way: [] for way in WAYS}
    with Server(name, [modules["lawn"]], aof) as server:
        for _ in range(runs):
            for way, run in WAYS.items():
                server.admin.call("FLUSHALL", "SYNC")
                server.reset()
                found[way].append(run(server, count))
                server.no_errors(way)
    return found


def ratios(found):
    """Returns two ratios for each round: the rate of the sink / that of the fastest
    client, and the CPU time of the cheapest client / that of the sink."""
    clients = [turns for way, turns in found.items() if way != "sink"]
    return [(one[0] / max(turn[0] for turn in others), min(turn[1] for turn in others) / one[1])
            for one, others in zip(found["sink"], zip(*clients))]
