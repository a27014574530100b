#!/usr/bin/env python3
"""clocks.py [--server redis|valkey] [PART OF A NAME] - nodes whose clocks are
an hour apart, and failovers between them: nothing is lost or delivered twice,
only the master's clock counts, and lease tokens increase whatever the clocks
are.
"""

from pairs import follow, replica_of, same_data, tear_down
from resp import OK
from server import Clock, Server, case, equal, main, wait_until

HOUR = 3600 * 1000
EACH = 200
SOON, LATER, FAR = 'soon', 'later', 'far'
DELAYS = {SOON: 1, LATER: HOUR // 2, FAR: 3 * HOUR}  # ms
LEASE = 30 * 1000


class Pair:
    """A master with the real clock and a replica with a different one, with
    events that are due at once, in half an hour, and in three hours. Of the due
    ones a third is leased, and half of these are acknowledged."""

    def __init__(self, ahead):
        self.clock = Clock()
        self.clock.step(ahead)
        self.master = Server()
        self.replica = replica_of(self.master, clock=self.clock)
        self.tokens = {}
        self.done = set()
        for kind, delay in DELAYS.items():
            for i in range(EACH):
                self.master.call('LAWN.PUSH', 'k', f'{kind}{i}', 'p', 'DELAY', delay)
                self.master.call('LAWN.PUSH', '{s}k', f'{kind}{i}', 'p', 'DELAY', delay)
        wait_until(lambda: self.master.call('LAWN.LEN', 'k', 'DUE') == EACH,
                   'the first are due')
        for row in self.master.call('LAWN.LEASE', 'k', 'w', 'LEASE', LEASE,
                                    'COUNT', EACH // 3):
            self.tokens[row[0].decode()] = row[2]
        for name in sorted(self.tokens)[::2]:
            equal(self.master.call('LAWN.ACK', 'k', name, self.tokens[name]), [1])
            self.done.add(name)
        equal(self.master.call('WAIT', 1, 20000), 1)
        same_data(self.master, self.replica)

    def end(self):
        tear_down(self.replica, self.master)

    def all_but_done(self, *kinds):
        return {f'{kind}{i}' for kind in kinds for i in range(EACH)} - self.done


def promote(server):
    equal(server.call('REPLICAOF', 'NO', 'ONE'), OK)


def taken(server):
    """Takes all available events: {id: token}, none twice."""
    got = {}
    while rows := server.call('LAWN.LEASE', 'k', 'v', 'LEASE', 10 * HOUR,
                              'COUNT', 50):
        for name, _, token, *_ in rows:
            name = name.decode()
            assert name not in got, f'{name} comes twice'
            got[name] = token
    return got


def acknowledge(server, tokens):
    for name, token in tokens.items():
        equal(server.call('LAWN.ACK', 'k', name, token), [1], name)


def sunk(server):
    """Returns the entries of the stream, none twice."""
    names = [dict(zip(row[1][::2], row[1][1::2]))[b'id'].decode()
             for row in server.call('XRANGE', '{s}stream', '-', '+')]
    equal(len(names), len(set(names)), 'entries of the stream')
    return set(names)


def sinks(server, expected):
    server.call('LAWN.SINK', '{s}k', 'STREAM', '{s}stream')
    wait_until(lambda: len(sunk(server)) >= len(expected), 'they move')
    equal(sorted(sunk(server)), sorted(expected))


@case
def a_replica_an_hour_ahead_fires_nothing_until_it_is_the_master():
    pair = Pair(HOUR)
    for _ in range(20):
        pair.replica.call('PING')
    same_data(pair.master, pair.replica)
    for field in ('fired_total', 'leased_total', 'handed_total'):
        equal(pair.replica.lawn()[field], '0', field)
    pair.end()


@case
def a_promoted_replica_an_hour_ahead_delivers_all_once_an_hour_early():
    pair = Pair(HOUR)
    pair.master.kill()
    promote(pair.replica)
    sinks(pair.replica, {f'{kind}{i}' for kind in (SOON, LATER)
                         for i in range(EACH)})
    got = taken(pair.replica)
    # By its clock the leases have ended, too, so the work is leased again.
    equal(sorted(got), sorted(pair.all_but_done(SOON, LATER)))
    for name, token in pair.tokens.items():
        if name not in pair.done:
            assert got[name] > token, 'a later token is greater'
            equal(pair.replica.call('LAWN.ACK', 'k', name, token), [0])
    acknowledge(pair.replica, got)
    equal(pair.replica.call('LAWN.LEN', 'k'), EACH, 'events due in three hours')
    pair.master.process = None
    pair.end()


@case
def a_promoted_replica_an_hour_behind_delivers_all_once_and_none_early():
    pair = Pair(-HOUR)
    pair.master.kill()
    promote(pair.replica)
    server = pair.replica
    # A key's time does not decrease: events that were due on the old master
    # still are.
    sinks(server, {f'{SOON}{i}' for i in range(EACH)})
    got = taken(server)
    equal(sorted(got), sorted(pair.all_but_done(SOON) - set(pair.tokens)))
    # Its clock is behind, but its tokens are greater than those it received.
    assert min(got.values()) > max(pair.tokens.values()), got
    acknowledge(server, got)
    for name in set(pair.tokens) - pair.done:
        equal(server.call('LAWN.ACK', 'k', name, pair.tokens[name]), [1],
              'a previous owner can still acknowledge it')
        pair.done.add(name)
    # A delay counts from the key's time, which the clock has to reach first.
    server.call('LAWN.PUSH', 'k', 'new', 'p', 'DELAY', 10)
    equal(taken(server), {}, 'nothing early')
    pair.clock.step(HOUR)
    wait_until(lambda: server.call('LAWN.LEN', 'k', 'DUE') == 1, 'it is due')
    got = taken(server)
    equal(list(got), ['new'])
    acknowledge(server, got)
    pair.clock.step(3 * HOUR)
    got = taken(server)
    equal(sorted(got), sorted(pair.all_but_done(LATER, FAR)))
    acknowledge(server, got)
    equal(server.call('EXISTS', 'k'), 0)
    pair.master.process = None
    pair.end()


@case
def two_failovers_between_clocks_an_hour_apart_lose_and_repeat_no_event():
    for ahead in (HOUR, -HOUR):
        pair = Pair(ahead)
        promote(pair.replica)
        first = taken(pair.replica)
        acknowledge(pair.replica, first)
        follow(pair.master, pair.replica)
        same_data(pair.replica, pair.master)
        pair.replica.call('CLIENT', 'KILL', 'TYPE', 'replica')
        promote(pair.master)
        pair.replica.kill()
        second = taken(pair.master)
        assert not set(first) & set(second), 'an event comes twice'
        both = set(first) | set(second)
        if ahead > 0:
            equal(sorted(both), sorted(pair.all_but_done(SOON, LATER)))
        else:
            # The leased ones are not yet due again by the first server's clock.
            equal(sorted(both), sorted(pair.all_but_done(SOON) - set(pair.tokens)))
        acknowledge(pair.master, second)
        gone = len(both) + len(pair.done)
        equal(pair.master.call('LAWN.LEN', 'k'), 3 * EACH - gone)
        pair.replica.process = None
        pair.end()


if __name__ == '__main__':
    main(__doc__)
