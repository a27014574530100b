#!/usr/bin/env python3
"""fixture.py [full|large] - a made-up run of `lawn bench --json`, on stdout.

The figures are invented, but similar to real ones: each scheme has its own cost in N
and t, slow ones are given up, lawn is not the fastest in some cells. full.json was made
with "full"; "large" has as many rows as a whole grid.
"""
import json
import math
import random
import sys

# name, title, kind, node, lines, cost in ns given (n, t), bytes, instructions
CONTENDERS = [
    (
        "lawn",
        "lawn",
        "ours",
        24,
        610,
        lambda n, t: 9 + cache(n) * 0.9 + (7 if t > 512 else 0),
        lambda n, t: 24 + 160e3 / n,
        (28, 11, 38, 11, 45),
    ),
    (
        "list",
        "sorted list",
        "paper",
        24,
        70,
        lambda n, t: 6 + n * 0.4,
        lambda n, t: 24,
        (400, 12, 415, 9, 22),
    ),
    (
        "tree",
        "balanced tree",
        "paper",
        32,
        190,
        lambda n, t: 40 + math.log2(n) * 11 + cache(n) * 3,
        lambda n, t: 32,
        (150, 140, 290, 9, 130),
    ),
    (
        "heap2",
        "binary heap",
        "paper",
        8,
        95,
        lambda n, t: 25 + math.log2(n) * 5 + cache(n) * 2,
        lambda n, t: 16,
        (60, 75, 140, 8, 160),
    ),
    (
        "heap4",
        "4-ary heap, keys in the array",
        "paper",
        8,
        120,
        lambda n, t: 20 + math.log2(n) * 3 + cache(n) * 1.4,
        lambda n, t: 24.1,
        (40, 60, 80, 9, 150),
    ),
    (
        "wheel",
        "hashed timing wheel",
        "paper",
        24,
        80,
        lambda n, t: 12 + cache(n) + n / 9000,
        lambda n, t: 24 + 65536 / n,
        (22, 12, 36, 14, 60),
    ),
    (
        "levels",
        "hierarchical wheel with bitmaps",
        "paper",
        24,
        210,
        lambda n, t: 14 + cache(n) * 1.3,
        lambda n, t: 24 + 9000 / n,
        (30, 20, 52, 12, 75),
    ),
    (
        "calendar",
        "calendar queue",
        "paper",
        32,
        230,
        lambda n, t: 33 + cache(n) * 1.9,
        lambda n, t: 40,
        (55, 44, 101, 25, 110),
    ),
    (
        "paper",
        "lawn as in the paper",
        "paper",
        32,
        140,
        lambda n, t: 14 + cache(n) + t * 0.9,
        lambda n, t: 32 + 80 * t / n,
        (70, 30, 105, None, None),
    ),
    (
        "heads",
        "lawn with a heap of heads",
        "paper",
        32,
        260,
        lambda n, t: 30 + cache(n) + math.log2(t + 1) * 9,
        lambda n, t: 32 + 96 * t / n,
        (90, 80, 170, 9, 120),
    ),
    (
        "libuv",
        "libuv timers",
        "peer",
        152,
        320,
        lambda n, t: 60 + math.log2(n) * 12 + cache(n) * 4,
        lambda n, t: 152,
        (120, 180, 300, 20, 310),
    ),
    (
        "libev",
        "libev",
        "peer",
        48,
        None,
        lambda n, t: 30 + math.log2(n) * 4 + cache(n) * 2.2,
        lambda n, t: 64,
        (70, 80, 150, 30, 170),
    ),
    (
        "evcommon",
        "libevent's common timeouts",
        "peer",
        128,
        None,
        lambda n, t: 55 + cache(n) * 3,
        lambda n, t: 128,
        (130, 90, 215, 22, 190),
    ),
    (
        "fifo",
        "a FIFO of deadlines",
        "floor",
        16,
        20,
        lambda n, t: 3 + cache(n) * 0.35,
        lambda n, t: 16,
        (9, None, None, 4, 12),
    ),
]
WORKLOADS = [
    ("W1", "start", "a server's first minute", "one start", 1.0),
    (
        "W2",
        "stop",
        "connections that end before their timers",
        "one stop",
        0.7,
    ),
    (
        "W3",
        "restart",
        "keep-alive: each packet moves its connection's timer",
        "one restart",
        1.4,
    ),
    (
        "W4",
        "churn",
        "periodic work: a timer fires and is started again",
        "one fire and start",
        1.7,
    ),
    (
        "W5",
        "request deadlines",
        "99.9 % of deadlines are stopped soon",
        "one start and stop",
        1.5,
    ),
    (
        "W6",
        "connections",
        "five timers per connection, most never fire",
        "one operation",
        1.3,
    ),
    (
        "W8",
        "idle ticks",
        "a clock that moves while nothing is due",
        "one mow",
        0.4,
    ),
    (
        "W10",
        "adversarial TTLs",
        "jittered back-off: hardly a TTL twice",
        "one start",
        2.1,
    ),
]
OWN = {"W6", "W8", "W10"}


def cache(n):
    """The approximate cost of cache misses, which grows with n."""
    return (
        4
        if n <= 1000
        else 7
        if n <= 10000
        else 16
        if n <= 100000
        else 48
        if n <= 1000000
        else 70
    )


def row(rng, workload, factor, n, t, contender):
    name, _, kind, _, _, cost, size, _ = contender
    why = None
    if kind == "floor" and (
        t != 1 or workload in ("W2", "W3", "W5") or workload in OWN
    ):
        return None
    ns = cost(n, t or n / 2) * factor
    if name == "evcommon" and (t is None or t > 256):
        why = "unfit: at most 256 common timeouts"
    elif ns * n > 2e9:
        why = "given up: more than 2 s"
    elif name == "libuv" and n >= 10**7:
        why = "no memory"
    if workload == "W10" and name == "lawn":
        ns *= 1.9
    if why:
        return {
            "contender": name,
            "ns": [],
            "median": None,
            "ops": 0,
            "checksum": None,
            "bytes": None,
            "tail": None,
            "why": why,
        }
    ns *= rng.lognormvariate(0, 0.08)
    runs = sorted(
        round(ns * rng.lognormvariate(0.02, 0.05), 1) for _ in range(5)
    )
    tail = None
    if workload in ("W3", "W4", "W8"):
        p50 = round(runs[2] * 0.9 + 18)
        p99 = round(p50 * rng.uniform(1.6, 3))
        p9999 = round(p99 * rng.uniform(4, 20))
        tail = {
            "p50": p50,
            "p99": p99,
            "p9999": p9999,
            "max": round(p9999 * rng.uniform(2, 30)),
        }
    return {
        "contender": name,
        "ns": runs,
        "median": runs[2],
        "ops": 2 * n,
        "checksum": "%016x" % rng.getrandbits(64),
        "bytes": round(size(n, t or n / 2), 1),
        "tail": tail,
        "why": None,
    }


def made(large):
    rng = random.Random(1)
    if large:
        counts, ttls = [10**k for k in range(3, 8)], [
            1,
            4,
            20,
            100,
            1000,
            10000,
        ]
    else:
        counts, ttls = [1000, 10**4, 10**6], [1, 20, 1000]
    cells = []
    for workload, _, _, _, factor in WORKLOADS:
        for n in counts:
            own = (
                [None] if workload in OWN else [t for t in ttls if t < n] + [n]
            )
            for t in own:
                rows = [
                    row(rng, workload, factor, n, t, c) for c in CONTENDERS
                ]
                cells.append(
                    {
                        "workload": workload,
                        "n": n,
                        "t": t,
                        "rows": [r for r in rows if r],
                    }
                )
    return {
        "program": "lawn bench",
        "version": "0.1.0",
        "commit": "0000000",
        "date": "2026-11-15T12:00:00Z",
        "seed": 1,
        "runs": 5,
        "complete": True,
        "machine": {
            "cpu": "An Invented CPU @ 2.60 GHz",
            "cores": 2,
            "l1d": 32768,
            "l2": 1048576,
            "l3": 33554432,
            "memory": 25769803776,
            "kernel": "Linux 6.1",
            "system": "Debian GNU/Linux 12",
            "compiler": "gcc 12.2.0",
            "flags": "-O2 -g -DNDEBUG",
            "hugepages": "madvise",
        },
        "contenders": [
            {
                "name": c[0],
                "title": c[1],
                "about": "Invented figures of a %s, for tests." % c[1],
                "kind": c[2],
                "exact": c[0] != "evcommon",
                "ordered": c[0] not in ("wheel", "evcommon"),
                "fifo": c[2] in ("ours", "floor") or c[0] == "list",
                "node": c[3],
                "lines": c[4],
                "version": "1.44.2" if c[0] == "libuv" else None,
            }
            for c in CONTENDERS
        ],
        "missing": [
            {
                "name": "dpdk",
                "why": "libdpdk-dev was not there when this was built",
            }
        ],
        "workloads": [
            {
                "name": w[0],
                "title": w[1],
                "imitates": w[2],
                "operation": w[3],
                "parameters": "TTLs of its own"
                if w[0] in OWN
                else "t TTLs, spread evenly up to 2^20 ticks",
            }
            for w in WORKLOADS
        ],
        "cells": cells,
        "instructions": [
            dict(
                zip(
                    ("contender", "start", "stop", "restart", "idle", "fire"),
                    (c[0],) + c[7],
                )
            )
            for c in CONTENDERS
        ],
    }


def written(run):
    """JSON with a line for each row, so that a change can be read."""
    text = json.dumps(run, separators=(",", ":"))
    for begin in (
        '{"contender"',
        '{"workload"',
        '{"name"',
        '"cells"',
        '"workloads"',
        '"instructions"',
    ):
        text = text.replace(begin, "\n" + begin)
    return text


if __name__ == "__main__":
    print(written(made("large" in sys.argv[1:])))
