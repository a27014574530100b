#!/usr/bin/env python3
"""limits.py - what larger clusters hold and do: a model, from measured costs.

usage: bench/module/limits.py [--FIELD VALUE ...]

Prints the tables of docs/CLUSTER.md. A cost that is not given is that of Redis in the
table of docs/BENCHMARKS.md that PARTS=costs makes (by its title, see TITLES): there is
no other place. tools/bench-module --only costs measures them on your machine and prints
the same tables. It is arithmetic, not a measurement: no cluster of this size was run.
The model's sentences:

- a shard has a share of all events; its memory is their bytes, and room for what a
  child that saves forces to be copied, buffers and fragmentation;
- the events per second of a shard's thread are limited by their CPU time, of which
  only a part is used;
- as many events fire in a second as are put in: events / mean delay;
- a new replica gets the dump file as fast as it is written, sent and read;
- a failover takes the node timeout until all believe it, and an election;
- on the cluster's bus every node pings every other within half the node timeout, and
  describes a tenth of all nodes each time.
"""
import argparse
import collections
import math
import pathlib
import textwrap

# All that costs.py measures, as its table calls it.
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
SPARE = 1.5    # memory of a shard over that of its events
USED = 0.5     # of a core that a shard's thread may be busy with events
PER_KEY = 10 ** 5  # events in a key: what blocks two shards when its slot moves
PARTITIONS = 16384  # the most that LAWN.PARTITION has
REPLICAS = 1   # of each master
NETWORK = 10 ** 9 / 8  # bytes a second from a node to its replica
TIMEOUTS = [15000, 5000]  # cluster-node-timeout, ms
ELECTION = (500, 1500)    # ms from "it has failed" to a new master: see failover()
BUS_HEADER = 2256  # bytes before the other nodes in a heartbeat
BUS_ENTRY = 104    # bytes for each of those
DELAYS = [("a minute", 60), ("an hour", 3600), ("a day", 86400)]


def from_page():
    """{field: the median of Redis} of the table in docs/BENCHMARKS.md."""
    rows = [line.strip("| \n").split(" | ") for line in PAGE.read_text().splitlines()]
    cells = {row[0]: row[1] for row in rows if len(row) > 1}
    return {field: float(cells[TITLES[field]].split()[0].replace(",", ""))
            for field in Costs._fields}


def rates(costs):
    """Events a second of a shard: leased, and through a sink and a group."""
    lease = USED * 1e6 / (costs.push_us + costs.lease_us)
    sink = USED * 1e6 / (costs.push_us + costs.sink_us + costs.group_us)
    return lease, sink


def resync(costs, events):
    """Seconds until a new replica of a shard has all: measured on one machine,
    where the network is none; so what is longer counts."""
    return max(events * costs.sync_us / 1e6, events * costs.rdb_bytes / NETWORK)


def bus(nodes, timeout_ms):
    """Bytes a second that a node sends: a ping to each, and as many pongs."""
    told = max(3, nodes // 10)
    if nodes < 3:
        return 0
    return 2 * (nodes - 1) / (timeout_ms / 2000) * (BUS_HEADER + BUS_ENTRY * min(told, nodes - 2))


def failover(timeout_ms):
    """From and to, in s. No node is considered dead before the timeout, and all pings
    are out within half of it; then a replica waits 0.5 s and up to 0.5 s more, and
    the votes, and what its rank costs it if there is another."""
    return (timeout_ms + ELECTION[0]) / 1000, (timeout_ms * 1.5 + ELECTION[1]) / 1000


def brief(number):
    """Three digits, and a word."""
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
    table("events", "shards", "events a shard", "memory of their master, GiB",
          "of the cluster, GiB", "keys a shard", "to move one, s", "fork, s",
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
    print("From these costs: " + ",\n".join(
        ", ".join("%s %.3g" % pair for pair in list(costs._asdict().items())[i:i + 5])
        for i in (0, 5)) + ".")


def sentences(text):
    print()
    print(textwrap.fill(text, 92))


def shards_text(costs):
    """What follows from the first table."""
    sentences(
        "10^10 events need %.1f TiB in total, with any number of shards. The number of shards "
        "decides how long one of them is unavailable: a fork blocks it for %.2g s with 10 million "
        "events and for %.2g s with 100 million, and a new replica has no data for %.0f s or for "
        "%.0f s. **Ten million events per shard is a good size, a hundred million is not.** "
        "`LAWN.PARTITION` has at most 16,384 partitions, the number of slots; with 10^10 events "
        "that is 610,000 per key, and %.1f s during which two shards are blocked when its slot "
        "moves." % (1e10 * costs.bytes * SPARE * (1 + REPLICAS) / GIB / 1024,
                    costs.fork_us / 100, costs.fork_us / 10, resync(costs, 1e7),
                    resync(costs, 1e8), 1e10 / PARTITIONS * costs.move_us / 1e6))


def rates_text(costs):
    """What follows from the second."""
    need = math.ceil(1e10 / 3600 / rates(costs)[0])
    sentences(
        "10^10 events with a mean delay of an hour are 2.8 million per second: %d shards can "
        "process them, but would have %.0f million events each. With delays of an hour or more, "
        "memory decides the number of shards; with delays of seconds, the rate does."
        % (need, 1e4 / need))


def tell(costs):
    """All of it."""
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
