#!/usr/bin/env python3
"""failover.py - a master and two replicas: counts lost and duplicated events
when a replica takes over.

Under a load of pushes, leases, polls and sinks the master is killed, cut off,
stopped and restarted, failed over, or paused; with and without WAIT. ledger.py
defines the counts and the limits. One line is printed per scenario, and a last
one with the totals.
"""
import nodes
import resp
import server
from ledger import Ack, Delivery, Effect, Ledger
from load import Leaser, Poller, Pusher, Tailer, Worker
from server import equal, now_ms, wait_until
from trials import Scenarios, Trial

KEYS = {b'leased1': 'lease', b'leased2': 'lease', b'polled': 'poll',
        b'sunk': 'sink'}
STREAM = b'out'
SINKS = {b'sunk': STREAM}
SCENARIOS = Scenarios('')


class Line:
    """Knows the current master."""

    def __init__(self, port):
        self.port = port
        self.turned = 0

    def place(self, _):
        return self.port

    def moved(self, _slot, _port):
        raise AssertionError('MOVED, and no cluster')

    def turn(self, port):
        """Sets the master; None: none for a while."""
        self.port = port
        self.turned += 1


class Group(Trial):
    """Three servers, and a load on them."""

    def __init__(self, seed, replicas=0):
        super().__init__(seed, KEYS, SINKS)
        self.group = nodes.Group(2)
        self.route = Line(self.group.master.port)
        for key, stream in SINKS.items():
            equal(self.group.master.call('LAWN.SINK', key, 'STREAM', stream),
                  resp.OK)
        leased = [key for key, kind in KEYS.items() if kind == 'lease']
        common = {'replicas': replicas}
        self.pushers = [
            *[self.worker(Pusher, list(KEYS), **common) for _ in range(2)],
            self.worker(Pusher, list(KEYS), loyal=True, **common)]
        self.takers = [
            *[self.worker(Leaser, leased, **common) for _ in range(2)],
            self.worker(Leaser, leased, loyal=True, **common),
            self.worker(Poller, [b'polled']),
            self.worker(Tailer, list(SINKS))]
        self.start()

    def call(self, key, *args):
        return self.group.master.call(*args)

    def note(self):
        self.ledger.effect(self.group.master.call('INFO', 'replication'))

    def turned(self):
        self.note()
        self.route.turn(self.group.master.port)

    def end(self):
        counts = super().end()
        self.group.end()
        return counts


def scenario(name, lossless=False, replicas=0):
    wait = f'WAIT {replicas}' if replicas else 'no WAIT'
    return SCENARIOS.add(f'{name}, {wait}', lambda seed: Group(seed, replicas),
                         lossless)


def kill(trial, chosen=0):
    """Kills the master; the most advanced replica takes over, or the next one.
    """
    group = trial.group
    group.master.expect_crash = True
    group.master.kill()
    trial.route.turn(None)
    ordered = group.by_offset()
    old = group.promote(ordered[chosen])
    trial.turned()
    old.start()
    group.take_back(old)
    group.wait_linked()


@scenario('kill -9')
def writes_that_reached_a_replica_survive_kill_9(trial):
    kill(trial)
    trial.wait_for_pushes()
    kill(trial)


@scenario('kill -9', replicas=1)
def writes_confirmed_by_one_replica_survive_kill_9(trial):
    kill(trial)


@scenario('kill -9', replicas=2)
def writes_confirmed_by_both_replicas_survive_any_failover(trial):
    kill(trial, chosen=1)


def cut(trial):
    """Both replicas receive nothing from some byte on, mostly in the middle of
    a delivery to a sink; the master continues until it is killed."""
    links = [trial.group.links[one] for one in trial.group.replicas]
    for link in links:
        link.cut(trial.dice.randrange(1, 20000), trial.dice.choice(
            (None, b'XADD', b'sunk\r\n$3\r\nDEL')), trial.dice.randrange(8))
    wait_until(lambda: all(link.is_cut() for link in links), 'they are cut')
    trial.wait_for_pushes(100)
    kill(trial)


@scenario('links cut, then kill -9')
def behind_a_cut_link_only_unreplicated_writes_are_lost_or_repeated(trial):
    cut(trial)


@scenario('links cut, then kill -9', replicas=1)
def writes_confirmed_by_one_replica_survive_a_cut_link(trial):
    cut(trial)


def stale(trial):
    group = trial.group
    nodes.freeze(group.master)
    old = group.promote(group.by_offset()[0])
    trial.turned()
    trial.wait_for_pushes()
    nodes.thaw(old)
    # It still considers itself the master, and so do the clients that stayed.
    before = old.info('commandstats').get('cmdstat_lawn.push', '')
    wait_until(lambda: old.info('commandstats').get('cmdstat_lawn.push', '')
               != before, 'it is pushed to')
    trial.wait_for_pushes(100)
    group.take_back(old)
    group.wait_linked()


@scenario('SIGSTOP and SIGCONT')
def a_stale_master_that_comes_back_undoes_nothing(trial):
    stale(trial)


@scenario('SIGSTOP and SIGCONT', replicas=1)
def no_replica_confirms_writes_of_a_stale_master(trial):
    stale(trial)


def hand_over(trial, does):
    """Runs it until the chosen replica is the master and the other one follows.
    """
    group = trial.group
    chosen = group.by_offset()[0]
    old = group.master
    does(old, chosen)
    wait_until(lambda: nodes.replication(chosen)['role'] == 'master'
               and nodes.replication(old)['role'] == 'slave', 'they change')
    group.unlink(chosen)
    group.instead(chosen)
    trial.turned()
    group.replicas.append(old)
    group.wait_linked()


def failover(old, chosen):
    equal(old.call('FAILOVER', 'TO', '127.0.0.1', chosen.port, 'TIMEOUT',
                   80000), resp.OK)


@scenario('FAILOVER', lossless=True)
def a_failover_that_is_asked_for_loses_and_doubles_nothing(trial):
    hand_over(trial, failover)


@scenario('FAILOVER', lossless=True, replicas=1)
def a_failover_with_confirmed_writes_loses_and_doubles_nothing(trial):
    hand_over(trial, failover)


@scenario('CLIENT PAUSE WRITE and REPLICAOF', lossless=True)
def a_hand_over_in_a_pause_loses_and_doubles_nothing(trial):
    def does(old, chosen):
        equal(old.call('CLIENT', 'PAUSE', 600000, 'WRITE'), resp.OK)
        wait_until(lambda: nodes.replication(chosen)['slave_repl_offset']
                   == nodes.replication(old)['master_repl_offset'],
                   'it has everything')
        trial.group.unlink(chosen)
        equal(chosen.call('REPLICAOF', 'NO', 'ONE'), resp.OK)
        equal(old.call('REPLICAOF', '127.0.0.1', chosen.port), resp.OK)
        old.call('CLIENT', 'UNPAUSE')
    hand_over(trial, does)


@scenario('CLIENT PAUSE WRITE', lossless=True)
def a_pause_of_writes_delays_events_and_loses_and_doubles_none(trial):
    before = now_ms()
    equal(trial.group.master.call('CLIENT', 'PAUSE', 300, 'WRITE'), resp.OK)
    began = now_ms()
    # Nothing is delivered during the pause: the entries of the stream have
    # times.
    trial.wait_for_pushes()
    times = [int(entry.split(b'-')[0]) for entry, _ in
             trial.group.master.call('XRANGE', STREAM, before - 1000, '+')]
    inside = [when for when in times if began < when < before + 300]
    assert not inside, f'{inside} between {began} and {before + 300}'
    inside = [(event.key, one.sent, one.heard)
              for event in list(trial.ledger.events.values())
              for one in list(event.deliveries) if event.key != b'sunk'
              and began < one.sent and one.heard < before + 300]
    assert not inside, f'{inside} between {began} and {before + 300}'
    late = [event for event in list(trial.ledger.events.values())
            if event.key == b'sunk' and began < event.due < before + 300]
    assert late, 'nothing was due in the pause'


def the_ledger_notices_what_did_not_survive():
    """The next history contains only the first 100 bytes of history A. Events
    that were delivered or acknowledged after these bytes should exist again. If
    they do not, they are lost."""
    reached, after = Effect('A', 50, 40), Effect('A', 150, 120)
    perhaps = Effect('A', 150, 90)
    for key, taken, lost in ((b'sunk', reached, 0), (b'sunk', after, 1),
                             (b'polled', perhaps, 0), (b'polled', after, 1),
                             (b'leased1', perhaps, 0), (b'leased1', after, 1)):
        ledger = Ledger(KEYS, SINKS)
        ledger.ends['A'] = 100
        event = ledger.new(key, 0)
        ledger.pushed(event, reached)
        ledger.delivered(key, event.id, event.payload(), Delivery(
            1, 1, taken if KEYS[key] != 'lease' else reached, b'1-1'))
        ledger.acked(event, Ack(b'1-1', 1, taken, 1, False))
        there = {event.id: [b'1-1']} if taken is reached else {}
        counts = ledger.verdict({b'sunk': there})
        equal([counts.lost_reached, counts.unexplained], [lost, 0], key)
    ledger = Ledger(KEYS, SINKS)
    event = ledger.new(b'leased1', 0)
    ledger.pushed(event, reached)
    for token in (1, 2):
        ledger.delivered(event.key, event.id, event.payload(), Delivery(
            token, token, reached, token))
    ledger.acked(event, Ack(1, 1, Effect(None, 0), 1, True))
    equal(ledger.verdict({b'sunk': {}}).unexplained, 1, 'a confirmed ACK')


def a_wait_is_never_sent_without_the_write_it_waits_for():
    """On another connection it would count replicas of other writes."""
    moved, unblocked = resp.Error(b'TRYAGAIN'), resp.Error(b'UNBLOCKED')
    ack, wait = ('LAWN.ACK', 'k', 'i', 1), ('WAIT', 1, 50)
    for answers, end in (([[[1], unblocked]], [[1], unblocked]),
                         ([[moved, 2], [[1], 0]], [[1], 0])):
        asked = []

        def attempt(_, commands, asked=asked, answers=answers):
            asked.append([command[0] for command in commands])
            return answers[len(asked) - 1], Effect('A', len(asked))
        worker = Worker(None, None, 0, [])
        worker._try = attempt  # pylint: disable=protected-access
        equal(worker.ask('k', ack, wait)[0], end)
        assert asked == [['LAWN.ACK', 'WAIT']] * len(answers), asked


def only_the_lease_that_survived_can_be_acknowledged():
    """A token that the replica received is valid there until the event is
    leased again; one that it did not receive is not, once it has issued
    another."""
    for heard in (True, False):
        group = nodes.Group(1)
        old, new = group.master, group.replicas[0]
        old.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 0)
        equal(old.call('WAIT', 1, 0), 1)
        if not heard:
            group.links[new].cut()
        (_, _, first, _, _), = old.call('LAWN.LEASE', 'k', 'one', 'LEASE', 60000)
        if heard:
            equal(old.call('WAIT', 1, 0), 1)
        old.expect_crash = True
        old.kill()
        group.promote(new)
        equal(new.call('LAWN.LEN', 'k', 'LEASED'), int(heard))
        if heard:
            assert new.call('LAWN.EXTEND', 'k', 'i', first, 'LEASE', 300)
        (_, _, second, tries, _), = new.client().call(
            'LAWN.LEASE', 'k', 'two', 'BLOCK', 0)
        equal(tries, 1 + heard)
        assert second > first, (first, second)
        equal(new.call('LAWN.ACK', 'k', 'i', first), [0], 'the stale one')
        equal(new.call('LAWN.ACK', 'k', 'i', second), [1])
        equal(new.call('EXISTS', 'k'), 0)
        new.check()
        new.end()


def all_scenarios_together_have_shown_what_they_are_for():
    SCENARIOS.print_totals('confirmed', 'after_end', 'unreplicated', 'fenced',
                           'lost')


def main():
    options = server.arguments(__doc__, seed=1, rounds=1)
    SCENARIOS.seed, SCENARIOS.rounds = options.seed, options.rounds
    server.attempt_all([
        the_ledger_notices_what_did_not_survive,
        a_wait_is_never_sent_without_the_write_it_waits_for,
        only_the_lease_that_survived_can_be_acknowledged, *SCENARIOS.cases,
        all_scenarios_together_have_shown_what_they_are_for])


if __name__ == '__main__':
    main()
