"""Measures how many bytes of the server an event takes, and the cost of many TTLs.

The result is the increase of used_memory. The server counts there the blocks of its
allocator, with their rounded sizes. Ids have 14 bytes, payloads 64.
"""
import statistics
import time

from contenders import FAR, HOUR, Lawn, PerTimer, SetAlone, SetAndHash, Stream
from servers import Server, fail


def fill(server, contender, count, ttls):
    """Pushes events, with each of the TTLs in turn. Returns the bytes per event."""
    now = int(time.time() * 1000)
    before = server.memory()
    server.reset()
    server.admin.fill(contender.put(i, ttls[i % len(ttls)], now) for i in range(count))
    there = server.admin.call(*contender.size)
    server.no_errors(contender.name)
    if there != count:
        fail("%s: %d events of %d are there" % (contender.name, there, count))
    return (server.memory() - before) / count


def shapes(name, modules, counts):
    """Returns the bytes per event of every contender: {contender: [for each count]}."""
    found = {}
    for contender in (Lawn(), PerTimer(), SetAndHash(), SetAlone(), Stream()):
        if contender.module and contender.module not in modules:
            continue
        title = contender.name.split(", Lua")[0]
        found[title] = []
        for count in counts:
            needs = [modules[contender.module]] if contender.module else []
            with Server(name, needs) as server:
                found[title].append(fill(server, contender, count, FAR))
    return found


def ttls(name, modules, count, spreads, runs):
    """Returns medians for each number of TTLs: {number: [us per PUSH, us per CANCEL,
    bytes per event]}. CANCEL removes all events in the order of their ids."""
    rows = {spread: [] for spread in spreads}
    for _ in range(runs):
        for spread in spreads:
            with Server(name, [modules["lawn"]]) as server:
                size = fill(server, Lawn(), count, range(HOUR, HOUR + spread))
                push = server.usec_per_call("lawn.push")[0]
                server.admin.fill(b"*3\r\n$11\r\nLAWN.CANCEL\r\n$1\r\nq\r\n$14\r\n"
                                  b"e_%012d\r\n" % i for i in range(count))
                cancel = server.usec_per_call("lawn.cancel")[0]
                if server.admin.call("LAWN.LEN", "q") != 0:
                    fail("canceled events remain")
                server.no_errors("CANCEL")
            rows[spread].append((push, cancel, size))
    return {spread: [statistics.median(column) for column in zip(*row)]
            for spread, row in rows.items()}
