#!/usr/bin/env python3
"""fill.py - inserts the results that tools/bench-module --save has written into
docs/BENCHMARKS.md, docs/benchmarks-module.txt and docs/CLUSTER.md.

usage: bench/module/fill.py FILE [FILE ...]

The results of several files are combined. If two files have results of the same part
and the same server, those of the later file are used. In the pages, the text between
<!-- bench-module: NAME --> and <!-- end --> is replaced; the rest is unchanged. A block
without data in the files is unchanged, too.
"""
import contextlib
import io
import json
import pathlib
import re
import statistics
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "module" / "live")]
sys.dont_write_bytecode = True

import leases  # noqa: E402
import limits  # noqa: E402
import shards  # noqa: E402
import sinks  # noqa: E402
import waiters  # noqa: E402

SERVERS = {"redis": "Redis", "valkey": "Valkey"}
BLOCK = re.compile(r"(<!-- bench-module: (\w+) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def number(value):
    return format(round(value), ",")


def medians(turns, column):
    return statistics.median(turn[column] for turn in turns)


def spread(values, form="%.2f"):
    return "%s (%s to %s)" % tuple(form % v for v in
                                   (statistics.median(values), min(values), max(values)))


def page(*lines):
    return "\n".join(lines) + "\n"


def table(head, rows):
    return page("| " + " | ".join(head) + " |", "|" + "---|" * len(head),
                *["| " + " | ".join(row) + " |" for row in rows])


def block_about(kept):
    return textwrap.fill(
        "Measured on %s with `QUICK=1 REALTIME=1`: medians of three rounds; %s"
        % (kept["about"]["date"], kept["about"]["machine"]), 100) + "\n"


def lease_table(title, cells, rates):
    """Returns the table of one server, with a column for each size of batch and
    pipeline."""
    ways = list(next(iter(cells.values())))
    rows = [[way] + ["%.2f (%.2f)" % (medians(cell[way], 0), medians(cell[way], 1))
                     for cell in cells.values()] for way in ways]
    ours = "LEASE, ACK"
    rows.append(["LEASE, ACK: us/job of the rounds"]
                + ["%.2f to %.2f" % (min(t[0] for t in cell[ours]), max(t[0] for t in cell[ours]))
                   for cell in cells.values()])
    if rates:
        rows.append(["jobs/s, LEASE and ACK"] + [number(medians(cell[ours], 2))
                                                 for cell in cells.values()])
    for column, what in ((0, "us/job"), (1, "CPU")):
        rows.append(["**LEASE and ACK / the better set**, by " + what]
                    + [spread(leases.ratios(cell, column)) for cell in cells.values()])
    return table([title + ": jobs in a batch x batches in a pipeline", *cells], rows)


def block_leases(kept):
    return "\n".join(lease_table(SERVERS[name] + (", AOF everysec" if aof == "everysec" else ""),
                                 kept["leases"][name][aof], True)
                     for aof in ("off", "everysec") for name in kept["leases"])


def block_ended(kept):
    return "\n".join(lease_table(SERVERS[name] + ", one job in ten is forgotten", found["ended"],
                                 False) for name, found in kept["leases"].items())


def block_jobs(kept):
    """Returns a table with a row for each server and case: the medians of the ratios."""
    columns = list(next(iter(kept["leases"].values()))["off"])
    rows = []
    for case, title in (("off", ""), ("everysec", ", AOF everysec"),
                        ("ended", ", one job in ten is forgotten")):
        for name, found in kept["leases"].items():
            cells = found[case]
            rows.append([SERVERS[name] + title]
                        + ["%.2f (%.2f)" % tuple(statistics.median(leases.ratios(cells[size], c))
                                                 for c in (0, 1)) if size in cells else ""
                           for size in columns])
    return table(["jobs in a batch x batches in a pipeline", *columns], rows)


def block_sinks(kept):
    columns = {SERVERS[name] + (", AOF everysec" if aof == "everysec" else ""): cell
               for name, found in kept["sinks"].items() for aof, cell in found.items()}
    rows = [[way] + ["%s (%.2f)" % (number(medians(cell[way], 0)), medians(cell[way], 1))
                     for cell in columns.values()] for way in next(iter(columns.values()))]
    for column, what in ((0, "**sink / the fastest client**, by events/s"),
                         (1, "**the cheapest client / sink**, by CPU time")):
        rows.append([what]
                    + [spread([turn[column] for turn in sinks.ratios(cell)])
                       for cell in columns.values()])
    return table(["by", *columns], rows)


def block_shards(kept):
    rows = [[SERVERS[name], masters, number(int(rate)), *["%.2f" % value for value in row[:4]],
             "%d" % round(row[4]), "%d" % round(row[5]), shards.gave_way(row)]
            for name, found in kept["shards"].items() for masters, runs in found.items()
            for rate, row in runs.items()]
    return table(["server", "masters", "events/s in all", "p50", "p99", "p99.9", "largest",
                  "CPU % of the servers", "producers behind, ms",
                  "what exceeded its limit first"], rows)


def block_held(kept):
    rows = []
    for name, found in kept["shards"].items():
        for masters, runs in found.items():
            best = shards.held(runs := {int(rate): row for rate, row in runs.items()})
            last = max(runs)
            rows.append([SERVERS[name], masters, number(best),
                         "%.2f" % runs[best][1] if best else "-",
                         "%s, at %s" % (shards.gave_way(runs[last]), number(last))
                         if last > best else "nothing: no higher rate was tried"])
    return table(["server", "masters", "highest rate held, events/s", "p99 of the lateness, ms",
                  "what exceeded its limit first"], rows)


def block_waiters(kept):
    rows = {}
    for found in kept["waiters"].values():
        for count, turns in found["all"].items():
            rows.setdefault(count, [number(int(count))]).extend(
                "-" if column[0] is None else spread(column, "%.1f") for column in zip(*turns))
    slopes = ", ".join("%.2f us on %s" % (waiters.slope({int(count): turns for count, turns
                                                         in found["all"].items()}), SERVERS[name])
                       for name, found in kept["waiters"].items())
    return table(["waiting clients"] + [SERVERS[name] + what for name in kept["waiters"]
                                        for what in (", one event in a tick",
                                                     ", 100 in a tick, for each")],
                 rows.values()) + page(
        "", "Each additional waiting client adds to a tick (from the first and the last row):", "",
        slopes + ".")


def block_costs(kept):
    names = list(kept["costs"])
    return table(["%s events in a key" % number(kept["costs"][names[0]]["count"]),
                  *[SERVERS[name] for name in names]],
                 [[title] + [spread(kept["costs"][name]["found"][field]) for name in names]
                  for field, title in limits.TITLES.items()])


def printed(*functions):
    """Returns the text that functions of limits.py print with the costs in
    docs/BENCHMARKS.md."""
    costs = limits.Costs(**limits.from_page())
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        for function in functions:
            function(costs)
    return text.getvalue().lstrip("\n")


MODEL = {"model_costs": [limits.costs_text],
         "model_shards": [limits.shards_table, limits.shards_text],
         "model_rates": [limits.rates_table, limits.rates_text]}


def block(name, kept):
    if name in MODEL:
        return printed(*MODEL[name])
    part = {"ended": "leases", "jobs": "leases", "held": "shards"}.get(name, name)
    return globals()["block_" + name](kept) if part in kept else None


def fill(path, kept):
    def written(found):
        text = block(found.group(2), kept)
        return found.group() if text is None else found.group(1) + text + found.group(3)
    path.write_text(BLOCK.sub(written, path.read_text()))


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.split("\n\n", 1)[1].rstrip())
    kept = {}
    for name in sys.argv[1:]:
        for part, servers in json.loads(pathlib.Path(name).read_text()).items():
            kept.setdefault(part, {}).update(servers)
    kept = {part: dict(sorted(found.items())) for part, found in kept.items()}
    # BENCHMARKS.md is first: the blocks of the model read their costs from it.
    for name in ("BENCHMARKS.md", "benchmarks-module.txt", "CLUSTER.md"):
        fill(ROOT / "docs" / name, kept)


if __name__ == "__main__":
    main()
