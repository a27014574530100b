#!/usr/bin/env python3
"""figures.py - checks that other pages quote figures of docs/BENCHMARKS.md as they are in
its tables.

A quote is a page and words that the page must contain, made from the cells of tables. After
a new measurement changes the tables, this lists the other pages to change. It also checks
that docs/benchmarks.csv has the same cells as the page, and that the picture
docs/peers.svg shows the figures of docs/peers.json.
"""

import json
import re
import sys

BENCHMARKS = 'docs/BENCHMARKS.md'
CELLS = 'docs/benchmarks.csv'
MODULE = 'docs/benchmarks-module.txt'
LIBRARY = 'docs/LIBRARY.md'


def read(path):
    with open(path, encoding='utf-8') as text:
        return text.read()


def words(text):
    """Text in one line, without the marks of manual pages and of emphasis."""
    return re.sub(r'\s+', ' ', re.sub(r'^\.\w+ ', '', text, flags=re.M))


def plain(cell):
    return cell.strip().replace('*', '').replace('`', '')


class Table:
    """The first table below a line that begins like this, in a page."""

    def __init__(self, title, page=BENCHMARKS):
        lines = iter(read(page).split('\n'))
        self.title = title
        if not any(line.startswith(title) for line in lines):
            sys.exit('%s: there is no "%s"' % (page, title))
        rows = []
        for line in lines:
            if line.startswith('|'):
                rows.append([plain(cell) for cell in line[1:-1].split('|')])
            elif rows:
                break
        self.columns = rows[0]
        self.rows = {row[0]: row for row in rows[2:]}

    def text(self, row, column):
        if row not in self.rows or column not in self.columns:
            sys.exit('%s: "%s" has no row %s or no column %s' %
                     (BENCHMARKS, self.title, row, column))
        return self.rows[row][self.columns.index(column)]

    def number(self, row, column, which=0):
        """One of the numbers in a cell."""
        text = self.text(row, column).replace(',', '')
        return float(re.findall(r'[\d.]+', text)[which])


def whole(table, row, column):
    """A cell in whole nanoseconds; - if it is empty."""
    if row not in table.rows or table.text(row, column) == '-':
        return '-'
    return '%d' % (table.number(row, column) + 0.5)


def million():
    """docs/LIBRARY.md, lawn(7): a million timers."""
    restart = Table('**W3 restart, 1,000,000 timers**')
    fire = Table('**W4 churn, 1,000,000 timers**')

    def row(name):
        return [whole(table, name, t) for t in ('20', '1,000,000')
                for table in (restart, fire)]

    for name, label in (
            ('lawn', '**lawn**'), ('hashed', 'hashed wheel'),
            ('wheel', 'hierarchical wheel'), ('heap4', '4-ary heap'),
            ('heads', "queues and a heap of heads (Node.js's way)"),
            ('paper', 'lawn as in the paper'), ('ev', 'libev'),
            ('event', 'libevent'), ('common', 'libevent, common timeouts'),
            ('uv', 'libuv'), ('dpdk', 'DPDK rte_timer'), ('glib', 'GLib')):
        cell = '**%s**' if name == 'lawn' else '%s'
        yield LIBRARY, '| %s | %s |' % (
            label, ' | '.join(cell % each for each in row(name)))
    lawn, heap, ev = row('lawn'), row('heap4'), row('ev')
    for label, cells in (('lawn', lawn), ('4-ary heap', heap), ('libev', ev)):
        yield 'man/lawn.7', '%s Ta %s' % (
            label, ' Ta '.join(cells[i] for i in (0, 2, 1, 3)))


def in_short():
    """README.md, docs/LIBRARY.md: all cells."""
    table = Table('## In short')

    def times(name):
        return table.number(name, "time / a lawn's time")

    yield 'README.md', (
        '| hashed wheel | libev | libevent | libuv | DPDK | '
        '|---|---|---|---|---| | %.2f | %.2f | %.2f | %.2f | %.2f |' % tuple(
            1 / times(name) for name in (
                'hashed hashed wheel', 'ev libev', 'event libevent, heap',
                'uv libuv', 'dpdk DPDK rte_timer')))
    won, total, within = map(int, re.search(
        r'is the fastest in (\d+) of (\d+) cells. In (\d+) others it takes at most a tenth',
        words(read(BENCHMARKS))).groups())
    yield 'README.md', (
        'is the fastest in %d of the %s cells. In %d others it takes at most a tenth longer '
        'than the best, in %d it takes more.' %
        (won, total, within, total - won - within))
    held, cells, mean = re.search(
        r'^(\d+) of (\d+) cells meet B1; geometric mean ([\d.]+) x',
        read(BENCHMARKS), re.M).groups()
    yield LIBRARY, (
        'in %s of the %s cells. The geometric mean of this ratio over the %s cells '
        'is %s.' % (held, cells, cells, mean))


def lost_cells():
    """{(workload, timers, TTLs): a lawn's time over the best other time}; TTLs is 0 if
    the workload sets them."""
    cells_lost = {}
    for workload, row in Table('### Every cell that a lawn loses').rows.items():
        for timers, ttls, ratio in re.findall(
                r'([\d,]+)(?: x ([\d,]+))?: ([\d.]+) \(', row[1]):
            cells_lost[workload, int(timers.replace(',', '')),
                       int(ttls.replace(',', '') or 0)] = float(ratio)
    return cells_lost


def wins_and_losses():
    """README.md, docs/BENCHMARKS.md, lawn(7): when a lawn wins, is similar and loses."""
    lost = lost_cells()

    def ratios(workloads, accepts):
        return sorted(ratio for (workload, timers, ttls), ratio in lost.items()
                      if workload in workloads and accepts(timers, ttls))

    def worst(workloads, accepts):
        return ([1] + ratios(workloads, accepts))[-1]

    fire = Table('**W4 churn, 1,000,000 timers**')
    won = []
    for ttls in fire.columns[1:]:
        won.append(fire.number('lawn', ttls) / min(
            fire.number(name, ttls) for name in fire.rows
            if name not in ('lawn', 'floor') and fire.text(name, ttls) != '-'))
    # 1 if a lawn loses no cell.
    restarts = [worst(('W3',), lambda n, t, big=big: (n == 1000000) == big)
                for big in (True, False)]
    deadlines = [worst(('W5',), lambda n, t, big=big: (n == 1000000) == big and t >= 20)
                 for big in (True, False)]
    fired = ratios(('W4', 'W9'), lambda timers, ttls: timers <= 10000) or [1]

    def rest(timers):
        """The losses without many TTLs, and with 1,000 timers or with more."""
        def accepts(n, ttls):
            return (n == 1000) == (timers == 1000)
        return max(worst(('W1',), lambda n, t: t <= 20 and accepts(n, t)),
                   worst(('W2',), accepts),
                   worst(('W5',), lambda n, t: t == 1 and accepts(n, t)))

    quotes = [
        '%.2f to %.2f' % (min(won), max(won)),
        'at most %.2f with a million timers, %.2f with fewer' % tuple(restarts),
        'at most %.2f with a million timers, %.2f with fewer' % tuple(deadlines),
        ' %.1f with 1,000 timers, ' % rest(1000),
        ' %.1f with more' % rest(0),
        '%.1f with 1,000 timers, %.1f with 10,000' % tuple(
            worst(('W10l', 'W10b'), lambda n, t, size=size: n == size)
            for size in (1000, 10000)),
        '%.1f with 1,000 timers, %.1f with 10,000, %.1f with a million' % tuple(
            worst(('W1',), lambda n, t, size=size: n == size and t >= 1000)
            for size in (1000, 10000, 1000000)),
        '%.1f to %.1f' % (fired[0], fired[-1]),
    ]
    for page in ('README.md', BENCHMARKS, 'man/lawn.7'):
        for quote in quotes:
            yield page, quote


def instructions():
    """docs/PAPER.md: lines of code, instructions."""
    table = Table('## Memory, instructions, code')
    yield 'docs/PAPER.md', (
        'with its mistakes corrected has %s lines' % table.text('paper', 'lines'))
    yield 'docs/PAPER.md', (
        'The core of this library has some %s (' %
        format(round(int(table.text('lawn', 'lines')), -2), ','))
    yield 'docs/PAPER.md', (
        '%s instructions for a start and %s for a stop' %
        (table.text('lawn', 'start'), table.text('lawn', 'stop')))


def stores():
    """docs/LIBRARY.md, docs/PAPER.md: the store."""
    slow = Table('**The slowest single calls**')
    calls = ('start', 'stop', 'fire')
    others = ('ghash', 'uthash')

    def slowest(name):
        return max(slow.number(name, call, 1) for call in calls)

    def of_others(column):
        return sorted(table.number(name, column) for name in others)

    table = Table('**1,000,000 timers**, ns')
    yield LIBRARY, (
        'a start takes %.1f us, and a timer takes %s bytes' %
        (table.number('lawn', 'S1 start') / 1e3, table.text('lawn', 'bytes')))
    start, size = of_others('S1 start'), of_others('bytes')
    yield LIBRARY, (
        'written by hand, a start takes %.1f to %.1f us and a timer %.0f to %.0f bytes' %
        (start[0] / 1e3, start[1] / 1e3, *size))
    theirs = sorted(slowest(name) for name in others)
    yield LIBRARY, (
        'the slowest call of the store takes %.1f ms; with the other two tables '
        'it takes %.1f to %.1f s' %
        (slowest('lawn') / 1e3, theirs[0] / 1e6, theirs[1] / 1e6))
    yield BENCHMARKS, (
        'Its slowest call of all took %.1f ms' % (slowest('lawn') / 1e3))
    yield 'docs/PAPER.md', (
        'start in a hash table of GLib takes %.0f ms' %
        (slow.number('ghash', 'start', 1) / 1e3))
    yield 'docs/PAPER.md', (
        'start in a store of this library takes %.2f ms' %
        (slow.number('lawn', 'start', 1) / 1e3))


def threads():
    """docs/LIBRARY.md, docs/DESIGN.md: workers and event loops."""
    table = Table('**1,000 timers for each thread**')
    yield 'docs/DESIGN.md', (
        'A pair takes %.0f ns; on a bare lawn, %.0f ns.' %
        (table.number('lawn', 'T1 local', 1), table.number('alone', 'T1 local')))
    yield LIBRARY, (
        'a start and a stop together take %.0f ns; with a lawn behind a mutex they '
        'take %.0f ns, with libuv %.0f ns' % tuple(table.number(name, 'T2 remote', 1)
                             for name in ('lawn', 'mutex', 'uvloops')))
    table = Table('**100,000 timers.** A1')
    times = (table.number('GLib', 'A3 own') / table.number('GLib', 'A3 ours'))
    yield LIBRARY, "a %.0fth of GLib's" % times
    own = [(name, workload) for name in table.rows for workload in ('A1', 'A2', 'A3')
           if re.match(r'\d', table.text(name, workload + ' own'))]
    yield BENCHMARKS, 'up to %.0f times' % max(
        table.number(name, workload + ' own') / table.number(name, workload + ' ours')
        for name, workload in own)


def module():
    """docs/MODULE.md, docs/DESIGN.md, docs/CLUSTER.md: the module."""
    table = Table('**Bytes an event**')
    many = Table('**By number of TTLs**')
    servers = ('Redis', 'Valkey')
    size = ['%s, %s' % (table.text('lawn', server + ', 200,000'), table.rows[
        'lawn'][table.columns.index(server + ', 200,000') + 1])
        for server in servers]
    yield 'docs/MODULE.md', '| 140 | %s; %s | %s; ' % (
        size[0], many.text('bytes an event', '100,000'), size[1])
    ratios = []
    for server in servers:
        found = []
        for title in ('| %s: jobs in', '| %s, AOF everysec: jobs in',
                      '| %s, one job in ten is forgotten: jobs in'):
            start = read(MODULE).index(title % server)
            row = re.search(r'\| \*\*LEASE and ACK / the better set\*\*, by '
                            r'us/job (\|.*)', read(MODULE)[start:])
            found += [float(each) for each in
                      re.findall(r'\| ([\d.]+)', row.group(1))]
        ratios.append('%.2f to %.2f' % (min(found), max(found)))
    yield 'docs/MODULE.md', '| 1 | %s |' % ' | '.join(ratios)
    table = Table('<!-- bench-module: sinks')
    row = 'sink / the fastest client, by events/s'
    yield 'docs/MODULE.md', '| 0.5 | %s |' % ' | '.join(
        '%.2f, %.2f' % (table.number(row, server),
                        table.number(row, server + ', AOF everysec'))
        for server in servers)
    waits = re.search(r'([\d.]+) us on Redis, ([\d.]+) us on Valkey',
                      read(BENCHMARKS))
    yield 'docs/DESIGN.md', '%.1f to %.1f us for each waiting client' % tuple(
        sorted(float(each) for each in waits.groups()))
    rates = Table('<!-- bench-module: model_rates', 'docs/CLUSTER.md')
    yield 'docs/CLUSTER.md', (
        '%s MB/s at the rates above' %
        rates.text('1', 'to each replica, MB/s'))


def peers():
    """docs/peers.svg: the figures and the commit of docs/peers.json."""
    run = json.loads(read('docs/peers.json'))
    yield 'docs/peers.svg', 'commit %s,' % run['commit']
    for cell in run['cells']:
        for row in cell['rows']:
            yield 'docs/peers.svg', '>%s<' % (
                row['why'] or '%.0f ns' % row['median'])


def cells():
    """docs/benchmarks.csv: the cells of the page with a million timers."""
    for title in re.findall(r'^\*\*W\d \w+, 1,000,000 timers\*\*', read(BENCHMARKS), re.M):
        table = Table(title)
        for name, row in table.rows.items():
            for ttls, value in zip(table.columns[1:], row[1:]):
                if value != '-':
                    yield CELLS, ' %s,1000000,%s,%s,%s ' % (
                        title[2:4], ttls.replace(',', ''), name, value.replace(',', ''))


def main():
    if len(sys.argv) > 1:
        sys.exit(__doc__.strip())
    wrong = 0
    quotes = 0
    for part in (million, in_short, wins_and_losses, instructions, stores, threads, module, peers,
                 cells):
        for page, quote in part():
            quotes += 1
            if quote not in words(read(page)):
                wrong += 1
                print('%s: the measurements require "%s"' % (page, quote))
    assert quotes > 25, 'too few figures are compared'
    sys.exit(wrong > 0)


main()
