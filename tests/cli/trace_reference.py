#!/usr/bin/env python3
"""trace_reference.py LAWN SEED... - compares the output of `lawn trace stats` for random
traces with a simple count.

The reference keeps a dict of running timers and a heap of deadlines. For the mean
it adds, whenever the number of running timers changes, that number times the ticks
since the last change."""
import heapq
import json
import random
import subprocess
import sys

LAST = 2**64 - 2  # no deadline is later


def make(seed):
    """The lines of a trace; each seed has its own kind of traffic."""
    rng = random.Random(seed)
    lines = 100_000
    ids = rng.choice([1, 50, 3000, 200_000])
    ttls = rng.choice([[1], [5, 60, 3000], list(range(1, 20_000)),
                       [1, 10**6, 2**63, 2**64 - 1]])
    step = rng.choice([0, 1, 40, 10**14])
    stops = rng.choice([0, 0.3, 0.9])
    long_id = "x" * rng.choice([0, 15, 24, 240])
    now = rng.choice([0, 1_700_000_000_000])
    for _ in range(lines):
        now += rng.randint(0, step)
        name = f"{long_id}{rng.randrange(ids)}"
        if rng.random() < stops:
            yield now, name, None
        else:
            yield now, name, rng.choice(ttls)


def count(events):
    running = {}  # id -> (deadline, serial, ttl)
    heap = []  # (deadline, serial, id), some of them no longer running
    live_ttls = {}
    c = dict.fromkeys("starts stopped restarted fired ignored_stops".split(), 0)
    area = most = most_ttls = serial = 0
    seen = set()
    first = last = None

    def end(name):
        ttl = running.pop(name)[2]
        live_ttls[ttl] -= 1
        if live_ttls[ttl] == 0:
            del live_ttls[ttl]

    for now, name, ttl in events:
        if first is None:
            first = last = now
        while heap and heap[0][0] <= now:
            deadline, number, due = heapq.heappop(heap)
            if due in running and running[due][1] == number:
                area += len(running) * (deadline - last)
                last = deadline
                end(due)
                c["fired"] += 1
        area += len(running) * (now - last)
        last = now
        if ttl is None:
            if name in running:
                end(name)
                c["stopped"] += 1
            else:
                c["ignored_stops"] += 1
            continue
        if name in running:
            end(name)
            c["restarted"] += 1
        serial += 1
        c["starts"] += 1
        deadline = min(now + ttl, LAST)
        running[name] = (deadline, serial, ttl)
        heapq.heappush(heap, (deadline, serial, name))
        live_ttls[ttl] = live_ttls.get(ttl, 0) + 1
        seen.add(ttl)
        most = max(most, len(running))
        most_ttls = max(most_ttls, len(live_ttls))
    span = last - first
    c["running"] = len(running)
    return c, {"max": most, "mean": area / span if span else len(running)}, {
        "distinct": len(seen), "most_at_once": most_ttls,
        "min": min(seen), "max": max(seen)}


def main():
    lawn, *seeds = sys.argv[1:]
    for seed in map(int, seeds):
        events = list(make(seed))
        text = "# lawn trace 1\n" + "".join(
            f"{now} stop {name}\n" if ttl is None else
            f"{now} start {name} {ttl}\n" for now, name, ttl in events)
        out = json.loads(subprocess.run(
            [lawn, "trace", "stats", "--json"], input=text, text=True,
            check=True, stdout=subprocess.PIPE).stdout)
        counts, timers, ttls = count(events)
        for key, value in counts.items():
            assert out[key] == value, (seed, key, out[key], value)
        for key, value in ttls.items():
            assert out["ttls"][key] == value, (seed, key, out["ttls"], value)
        assert out["timers"]["max"] == timers["max"], (seed, out["timers"])
        mean = timers["mean"]
        assert abs(out["timers"]["mean"] - mean) <= 1e-6 * max(mean, 1), (
            seed, out["timers"], mean)
        shape = out["over_time"]
        assert max(shape["max"]) == timers["max"], (seed, shape)
        assert len(shape["mean"]) == len(shape["max"]) <= 256, seed


main()
