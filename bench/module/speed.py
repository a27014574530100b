"""Measures the cost of a command for the server, by redis-benchmark with random ids.

Each run has three figures: us/call, as the server counts the command itself
(commandstats); the CPU time of the whole server per command, including the network and
the AOF; and the commands per second. A turn runs SET, LAWN.PUSH and the other commands
one after the other. Figures are medians over the turns; ratios are medians of the
ratios within a turn.

SET and PUSH are measured twice: with new ids, random numbers below 10^9, and with ids
that exist already.
"""
import csv
import statistics
import subprocess
import time

from contenders import FAR, HOUR, Lawn
from servers import PAYLOAD, Server, command, event_id, fail

ID = "e___rand_int__"
MANY = 10 ** 9
TEXT = PAYLOAD.decode()


class Case:
    """A command to measure. `ids` is the number of different ids; None: the number of
    ids that exist. `each` is the number of events that one command takes."""

    def __init__(self, title, words, ids=None, each=1):
        self.title = title
        self.words = words
        self.ids = ids
        self.each = each


def push(delay):
    return ["LAWN.PUSH", "q", ID, TEXT, "DELAY", str(delay)]


NEW = [Case("SET, new", ["SET", ID, TEXT], MANY),
       Case("PUSH, new", push(HOUR), MANY)]
PEERS = [Case("ZADD, new", ["ZADD", "z", "__rand_int__", ID], MANY),
         Case("HSET, new", ["HSET", "h", ID, TEXT], MANY),
         Case("XADD", ["XADD", "s", "*", "i", ID, "p", TEXT], MANY)]
PER_TIMER = [Case("a module timer each, new", ["TIMERS.PUSH", ID, TEXT, str(HOUR)], MANY),
             Case("open, replicate, reply",
                  ["TIMERS.NOTHING", "q", ID, TEXT, str(HOUR), str(HOUR)], MANY)]
THERE = [Case("SET, there", ["SET", ID, TEXT]),
         Case("PUSH, there", push(HOUR)),
         Case("PUSH, there, other TTL", push(2 * HOUR)),
         Case("GET (the server's)", ["GET", ID]),
         Case("GET", ["LAWN.GET", "q", ID]),
         Case("TOUCH", ["LAWN.TOUCH", "q", ID, "DELAY", str(3 * HOUR)]),
         Case("CANCEL, 63 % there", ["LAWN.CANCEL", "q", ID])]
POLLS = [Case("POLL, nothing due", ["LAWN.POLL", "far"]),
         Case("POLL COUNT 1", ["LAWN.POLL", "due", "COUNT", "1"]),
         Case("POLL COUNT 100", ["LAWN.POLL", "due", "COUNT", "100"], each=100)]


def benchmark(server, case, count, depth, ids):
    """Returns the commands per second, us/call, and the CPU time per command in us."""
    server.reset()
    before = server.cpu()
    words = [server.name + "-benchmark", "-p", str(server.port), "-n", str(count),
             "-P", str(depth), "-r", str(case.ids or ids), "--csv"] + case.words
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        fail("%s: %s" % (" ".join(words), done.stderr or done.stdout))
    rate = float(list(csv.reader(done.stdout.splitlines()))[-1][1])
    cpu = (server.cpu() - before) / count * 1e6
    usec, calls = server.usec_per_call(case.words[0])
    # The last pipeline of each connection is sent completely, even if it exceeds count.
    if not count <= calls <= count + 50 * depth:
        fail("%s: %d calls of %d" % (case.title, calls, count))
    server.no_errors(case.title)
    return rate, usec, cpu


def expect(server, low, high, *words):
    there = server.admin.call(*words)
    if not low <= there <= high:
        fail("%s is %d, not in %d to %d" % (" ".join(words), there, low, high))


def turn_new(server, cases, count, depth, found):
    """Runs each case on an empty server, and adds its result to `found`."""
    sizes = {"SET": ("DBSIZE",), "LAWN.PUSH": ("LAWN.LEN", "q"), "ZADD": ("ZCARD", "z"),
             "HSET": ("HLEN", "h"), "XADD": ("XLEN", "s"), "TIMERS.PUSH": ("TIMERS.LEN",)}
    for case in cases:
        server.admin.call("FLUSHALL", "SYNC")
        found.setdefault(case.title, []).append(benchmark(server, case, count, depth, 0))
        # Some random ids are equal: about n * n / 2 / 10^9 pairs.
        if case.words[0] in sizes:
            expect(server, count * 0.995, count + 50 * depth, *sizes[case.words[0]])


def turn_there(server, cases, count, depth, ids, found):
    """Runs each case with ids that exist, as keys and as events, and adds its result to
    `found`."""
    server.admin.call("FLUSHALL", "SYNC")
    now = int(time.time() * 1000)
    lawn = Lawn()
    server.admin.fill(command("SET", event_id(i), PAYLOAD) for i in range(ids))
    if any("LAWN" in case.words[0] for case in cases):
        server.admin.fill(lawn.put(i, FAR[i % 8], now) for i in range(ids))
    for case in cases:
        some = ids if "CANCEL" in case.words[0] else count
        found.setdefault(case.title, []).append(benchmark(server, case, some, depth, ids))
        if case.words[0].startswith("LAWN."):
            left = (ids * 0.35, ids * 0.385) if "CANCEL" in case.words[0] else (ids, ids)
            expect(server, *left, "LAWN.LEN", "q")
        else:
            expect(server, ids, ids + 1, "DBSIZE")


def turn_polls(server, cases, count, depth, found):
    server.admin.call("FLUSHALL", "SYNC")
    server.admin.call("LAWN.PUSH", "far", "a", "b", "DELAY", HOUR)
    for case in cases:
        if "due" in case.words:
            server.admin.fill(
                command("LAWN.PUSH", "due", event_id(i), PAYLOAD, "DELAY", 0)
                for i in range(count))
        some = count // case.each
        found.setdefault(case.title, []).append(benchmark(server, case, some, depth, 1))
        expect(server, 0, 0, "LAWN.LEN", "due")


def measure(name, modules, aof, depth, runs, count, ids):
    """Returns {title: [(commands/s, us/call, CPU us) of each turn]}."""
    found = {}
    lawn = "lawn" in modules
    keep = (lambda cases: [c for c in cases if lawn or not c.words[0].startswith("LAWN.")])
    new = NEW + (PEERS if depth > 1 and not aof else [])
    if depth > 1 and not aof and "per_timer" in modules:
        new = new + PER_TIMER
    for _ in range(runs):
        with Server(name, list(modules.values()), aof) as server:
            turn_new(server, keep(new), count, depth, found)
            turn_there(server, keep(THERE), count, depth, ids, found)
            if lawn:
                turn_polls(server, POLLS, count, depth, found)
    return found


def medians(turns):
    return [statistics.median(column) for column in zip(*turns)]


def ratio(found, title, base, column=1):
    """Returns the median over the turns of the ratio of two cases."""
    return statistics.median(a[column] / b[column]
                             for a, b in zip(found[title], found[base]))
