"""trials.py - a load on several servers, the events that happen to them, and
the counts: the framework that failover.py and cluster.py share.
"""

import functools
import random
import time

import server
from ledger import Counts, Ledger
from server import wait_until


# ms; a client that gets an event later was not woken. Shorter delays may be due
# to a busy machine.
LATEST = 30000


class Trial:
    """A load and its ledger. The creator adds workers and starts them."""

    def __init__(self, seed, kinds, sinks):
        self.dice = random.Random(seed)
        self.ledger = Ledger(kinds, sinks)
        self.route = None
        self.pushers = []
        self.takers = []

    def worker(self, kind, keys, **more):
        return kind(self.ledger, self.route, self.dice.random(), keys, **more)

    def start(self):
        for worker in self.pushers + self.takers:
            worker.start()

    def check(self):
        for worker in self.pushers + self.takers:
            if worker.problem:
                raise worker.problem

    def wait_for_pushes(self, pushes=300):
        """Waits until this number of further pushes was answered, and some were
        delivered."""
        pushed, heard = self.ledger.waits_for()

        def enough():
            self.check()
            now = self.ledger.waits_for()
            return now[0] >= pushed + pushes and now[1] >= heard + pushes // 2
        wait_until(enough, f'{pushes} more')

    def stop(self):
        """Ends all workers, whatever happened."""
        for worker in self.pushers + self.takers:
            worker.ending = True

    def _join(self, workers):
        for worker in workers:
            worker.ending = True
        for worker in workers:
            worker.join(server.PATIENCE)
            assert not worker.is_alive(), 'a worker hangs'
        self.check()

    def call(self, key, *args):
        """Runs a command of the test on the server that has the key."""
        raise NotImplementedError

    def note(self):
        """Records how much of the old histories the promoted servers have."""
        raise NotImplementedError

    def end(self):
        """Waits until all events are taken, and then counts."""
        self._join(self.pushers)
        wait_until(lambda: not any(self.call(key, 'LAWN.LEN', key)
                                   for key in self.ledger.kinds), 'all is taken')
        self._join(self.takers)
        self.note()
        return self.ledger.verdict({key: self.stream(key)
                                    for key in self.ledger.sinks})

    def stream(self, key):
        """Returns all entries, by the ids of their events."""
        stream, entries = self.ledger.sinks[key], {}
        for entry, fields in self.call(stream, 'XRANGE', stream, '-', '+'):
            entries.setdefault(bytes(fields[1]), []).append(bytes(entry))
        return entries


class Scenarios:
    """Cases that are counted, separately and in total."""

    def __init__(self, what):
        self.what = what
        self.total = Counts()
        self.cases = []
        self.seed = self.rounds = 1

    def print_counts(self, name, counts, seconds):
        print(f'counted {server.KIND}{self.what}, {name}: {counts.text()}; '
              f'{seconds:.1f} s', flush=True)

    def add(self, name, make, lossless=False):
        """Turns a function that disturbs the servers of a trial into a case:
        make() creates a trial from a seed. lossless: nothing may be lost or
        undone."""
        def decorate(does):
            @functools.wraps(does)
            def attempt():
                counts = Counts()
                began = time.monotonic()
                for turn in range(self.rounds):
                    counts.add(self._round(make, does, turn, lossless))
                self.total.add(counts)
                self.print_counts(f'{name}, {self.rounds} times', counts,
                          time.monotonic() - began)
                assert not counts.faults, counts.faults[:5]
                assert counts.pushed and counts.delivered
            self.cases.append(attempt)
            return attempt
        return decorate

    def _round(self, make, does, turn, lossless):
        trial = make(f'{self.seed} {does.__name__} {turn}')
        try:
            trial.wait_for_pushes()
            does(trial)
            trial.wait_for_pushes()
            counts = trial.end()
        finally:
            trial.stop()
        if lossless and (counts.lost or counts.unreplicated or counts.unheard):
            counts.faults.append('something was lost or undone')
        if lossless and counts.latest > LATEST * server.SLOW:
            counts.faults.append(f'something came {counts.latest} ms late')
        return counts

    def print_totals(self, *seen):
        """Prints the totals. These counts must not be zero: what never occurs
        is not tested."""
        self.print_counts('all', self.total, 0)
        for name in seen:
            assert getattr(self.total, name), f'never seen: {name}'
