#!/usr/bin/env python3
"""limits.py - estimates the capacity of larger clusters, by a model with measured
costs.

usage: bench/module/limits.py [--FIELD VALUE ...]

Prints the tables of docs/CLUSTER.md. A cost that is not given is read from the column
of Redis in the table of docs/BENCHMARKS.md that PARTS=costs makes; TITLES has the names
of its rows. tools/bench-module --only costs measures the costs on your machine and
prints the same tables. The results are computed, not measured: no cluster of this size
was run.

The model assumes:

- All shards have the same number of events. The memory of a shard is that of its
  events, plus room for buffers, for fragmentation, and for the pages that are copied
  while a child process saves.
- The thread of a shard spends a part of its time on events (USED). That part, divided
  by the CPU time per event, is the number of events per second.
- In each second, as many events fire as are pushed: the number of events / the mean
  delay.
- A new replica needs the time in which the dump file is written, sent and loaded.
- A failover takes the node timeout, until the other nodes consider a node failed, and
  an election.
- On the cluster bus, every node pings every other one within half of the node timeout.
  A ping describes a tenth of all nodes.
"""
import argparse
import collections
import math
import pathlib
import textwrap

# The costs that costs.py measures: the titles of its table.
TITLES = {
    "bytes": "bytes an event in memory (used_memory)",
    "push_us": "PUSH in pipelines, us of CPU",
    "lease_us": "LEASE and ACK in batches of 100, us of CPU for an event",
    "sink_us": "sink, from due into a stream, us of CPU for an event",
    "group_us": "XREADGROUP, XACK and XDEL in batches of 100, us of CPU for an entry",
    "save_us": "SAVE, us for an event",
    "rdb_bytes": "bytes of the dump file for an event",
    "move_us": "DUMP and RESTORE, as MIGRATE does it, us for an event",
    "aof_us": "rewriting the append-only file, us for an event",
    "sync_us": "a new replica until it is in sync, us for an event",
    "load_us": "of this, loading, us for an event",
    "fork_us": "fork, us for 1,000 events",
    "stream_bytes": "bytes of the replication stream for PUSH, LEASE and ACK of an event",
}
Costs = collections.namedtuple("Costs", ["bytes", "push_us", "lease_us", "sink_us", "group_us",
                                         "rdb_bytes", "move_us", "sync_us", "fork_us",
                                         "stream_bytes"])
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "BENCHMARKS.md"
GIB = 2 ** 30
SHARDS = [1, 3, 10, 100, 500, 1000]
TIMERS = [10 ** 6, 10 ** 8, 10 ** 10]
SPARE = 1.5    # memory of a shard / memory of its events
USED = 0.5     # share of its time that the thread of a shard spends on events
PER_KEY = 10 ** 5  # events in a key; moving its slot blocks two shards
PARTITIONS = 16384  # maximum of LAWN.PARTITION
REPLICAS = 1   # of each master
NETWORK = 10 ** 9 / 8  # bytes a second from a node to its replica
TIMEOUTS = [15000, 5000]  # cluster-node-timeout, ms
ELECTION = (500, 1500)    # ms from the detection of a failure to a new master: see failover()
BUS_HEADER = 2256  # bytes of a heartbeat before the entries of nodes
BUS_ENTRY = 104    # bytes of the entry of a node
DELAYS = [("a minute", 60), ("an hour", 3600), ("a day", 86400)]


def from_page():
    """Returns {field: median of Redis} from the table in docs/BENCHMARKS.md."""
    rows = [line.strip("| \n").split(" | ") for line in PAGE.read_text().splitlines()]
    cells = {row[0]: row[1] for row in rows if len(row) > 1}
    return {field: float(cells[TITLES[field]].split()[0].replace(",", ""))
            for field in Costs._fields}


def rates(costs):
    """Returns the events per second of a shard: if they are leased and acknowledged,
    and if they are delivered through a sink and a consumer group."""
    lease = USED * 1e6 / (costs.push_us + costs.lease_us)
    sink = USED * 1e6 / (costs.push_us + costs.sink_us + costs.group_us)
    return lease, sink


def resync(costs, events):
    """Returns the seconds until a new replica of a shard has all events. sync_us was
    measured on one machine, without a network. So the result is the longer of that time
    and the time of the transfer."""
    return max(events * costs.sync_us / 1e6, events * costs.rdb_bytes / NETWORK)


def bus(nodes, timeout_ms):
    """Returns the bytes per second that a node sends on the bus: a ping to each other
    node, and as many pongs."""
    told = max(3, nodes // 10)
    if nodes < 3:
        return 0
    return 2 * (nodes - 1) / (timeout_ms / 2000) * (BUS_HEADER + BUS_ENTRY * min(told, nodes - 2))


def failover(timeout_ms):
    """Returns the shortest and the longest duration of a failover, in seconds. No node
    is considered failed before the node timeout, and every node is pinged within half
    of it. Then a replica waits for 0.5 to 1 s and for the votes; if there are several
    replicas, it also waits according to its rank."""
    return (timeout_ms + ELECTION[0]) / 1000, (timeout_ms * 1.5 + ELECTION[1]) / 1000


def brief(number):
    """Formats a number with three digits and a unit prefix."""
    for size, word in ((10 ** 12, " T"), (10 ** 9, " G"), (10 ** 6, " M"), (1000, " k")):
        if number >= size:
            return "%.3g%s" % (number / size, word)
    return "%.3g" % number


def row(*cells):
    print("| " + " | ".join(cells) + " |")


def table(*head):
    print()
    row(*head)
    print("|" + "---|" * len(head))


def shards_table(costs):
    table("events", "shards", "events a shard", "memory of a master, GiB",
          "of the cluster, GiB", "keys a shard", "to move a key, s", "fork, s",
          "first copy to a replica, s")
    for timers in TIMERS:
        for shards in SHARDS:
            share = timers / shards
            memory = share * costs.bytes * SPARE / GIB
            if memory > 64 or share < 10 ** 5:
                continue
            key = max(PER_KEY, timers / PARTITIONS)
            row(brief(timers), str(shards), brief(share), "%.2f" % memory,
                brief(memory * shards * (1 + REPLICAS)), brief(math.ceil(share / key)),
                "%.2f" % (key * costs.move_us / 1e6), "%.3f" % (share * costs.fork_us / 1e9),
                "%.1f" % resync(costs, share))


def rates_table(costs):
    lease, sink = rates(costs)
    table("shards", "leased and acknowledged, events/s", "by a sink and a group, events/s",
          "to each replica, MB/s",
          *["waiting at that rate if the mean delay is " + title for title, _ in DELAYS])
    for shards in SHARDS:
        row(str(shards), brief(lease * shards), brief(sink * shards),
            "%.0f" % (lease * costs.stream_bytes / 1e6),
            *[brief(lease * shards * seconds) for _, seconds in DELAYS])


def bus_table():
    table("shards", "nodes", *["%s, cluster-node-timeout %d" % (what, ms) for ms in TIMEOUTS
                               for what in ("bus, MB/s sent by a node", "failover, s")])
    for shards in SHARDS[1:]:
        nodes = shards * (1 + REPLICAS)
        cells = []
        for ms in TIMEOUTS:
            cells += ["%.2f" % (bus(nodes, ms) / 1e6), "%.1f to %.1f" % failover(ms)]
        row(str(shards), str(nodes), *cells)


def costs_text(costs):
    print("The tables use these costs: " + ",\n".join(
        ", ".join("%s %.3g" % pair for pair in list(costs._asdict().items())[i:i + 5])
        for i in (0, 5)) + ".")


def sentences(text):
    print()
    print(textwrap.fill(text, 92))


def shards_text(costs):
    """Prints the conclusions from the table of shards."""
    sentences(
        "10^10 events need %.1f TiB in total, with any number of shards. The number of shards "
        "decides how long one of them is unavailable: a fork blocks it for %.2g s with 10 million "
        "events and for %.2g s with 100 million, and a new replica has no data for %.0f s or for "
        "%.0f s. **Ten million events per shard is a good size, a hundred million is not.** "
        "With 10^10 events, moving a key blocks two shards for %.2f s."
        % (1e10 * costs.bytes * SPARE * (1 + REPLICAS) / GIB / 1024,
           costs.fork_us / 100, costs.fork_us / 10, resync(costs, 1e7),
           resync(costs, 1e8), 1e10 / PARTITIONS * costs.move_us / 1e6))


def rates_text(costs):
    """Prints the conclusions from the table of rates."""
    need = math.ceil(1e10 / 3600 / rates(costs)[0])
    sentences(
        "10^10 events with a mean delay of an hour are 2.8 million per second: %d shards can "
        "process them, but would have %.0f million events each. With delays of an hour or more, "
        "memory decides the number of shards; with delays of seconds, the rate does."
        % (need, 1e4 / need))


def tell(costs):
    """Prints all tables and texts."""
    print()
    costs_text(costs)
    shards_table(costs)
    shards_text(costs)
    rates_table(costs)
    rates_text(costs)
    bus_table()


def main():
    parser = argparse.ArgumentParser(description="what larger clusters hold and do: a model")
    for name, value in from_page().items():
        parser.add_argument("--" + name, type=float, default=value,
                            help="%s; %g" % (TITLES[name], value))
    tell(Costs(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
