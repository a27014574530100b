"""trials.py - a load on several servers, what happens to them, and the counts of
it: the frame that failover.py and cluster.py share.
"""

import functools
import random
import time

import server
from ledger import Counts, Ledger
from server import wait_until


# ms; whoever takes that long to hear of something was not woken. Much less may be
# due to a machine that has others to run.
LATEST = 30000


class Trial:
    """A load, and its ledger. Who makes one adds workers and starts them."""

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

    def go_on(self, pushes=300):
        """Until so many more were pushed, and some heard of."""
        pushed, heard = self.ledger.waits_for()

        def enough():
            self.check()
            now = self.ledger.waits_for()
            return now[0] >= pushed + pushes and now[1] >= heard + pushes // 2
        wait_until(enough, f'{pushes} more')

    def stop(self):
        """Whatever happened."""
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
        """A command of the test's own, where the key is."""
        raise NotImplementedError

    def note(self):
        """How much of the old histories those have who took over."""
        raise NotImplementedError

    def end(self):
        """Everything is taken, and then counted."""
        self._join(self.pushers)
        wait_until(lambda: not any(self.call(key, 'LAWN.LEN', key)
                                   for key in self.ledger.kinds), 'all is taken')
        self._join(self.takers)
        self.note()
        return self.ledger.verdict({key: self.stream(key)
                                    for key in self.ledger.sinks})

    def stream(self, key):
        """All entries that are there, by the ids of their events."""
        stream, entries = self.ledger.sinks[key], {}
        for entry, fields in self.call(stream, 'XRANGE', stream, '-', '+'):
            entries.setdefault(bytes(fields[1]), []).append(bytes(entry))
        return entries


class Scenarios:
    """Cases that are counted, alone and together."""

    def __init__(self, what):
        self.what = what
        self.total = Counts()
        self.cases = []
        self.seed = self.rounds = 1

    def tell(self, name, counts, seconds):
        print(f'counted {server.KIND}{self.what}, {name}: {counts.text()}; '
              f'{seconds:.1f} s', flush=True)

    def add(self, name, make, lossless=False):
        """Makes a case of what happens to the servers of a trial: make() makes
        a trial of a seed. Lossless: nothing may be lost or undone at all."""
        def decorate(does):
            @functools.wraps(does)
            def attempt():
                counts = Counts()
                began = time.monotonic()
                for turn in range(self.rounds):
                    counts.add(self._round(make, does, turn, lossless))
                self.total.add(counts)
                self.tell(f'{name}, {self.rounds} times', counts,
                          time.monotonic() - began)
                assert not counts.faults, counts.faults[:5]
                assert counts.pushed and counts.delivered
            self.cases.append(attempt)
            return attempt
        return decorate

    def _round(self, make, does, turn, lossless):
        trial = make(f'{self.seed} {does.__name__} {turn}')
        try:
            trial.go_on()
            does(trial)
            trial.go_on()
            counts = trial.end()
        finally:
            trial.stop()
        if lossless and (counts.lost or counts.unreplicated or counts.unheard):
            counts.faults.append('something was lost or undone')
        if lossless and counts.latest > LATEST * server.SLOW:
            counts.faults.append(f'something came {counts.latest} ms late')
        return counts

    def told(self, *seen):
        """The sum, in which these counts must not be zero: what a trial never
        sees it does not test."""
        self.tell('all', self.total, 0)
        for name in seen:
            assert getattr(self.total, name), f'never seen: {name}'
