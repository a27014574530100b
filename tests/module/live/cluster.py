#!/usr/bin/env python3
"""cluster.py - three masters with a replica each: counts lost and duplicated
events when a master fails, is failed over, or gives slots away.

Events are distributed over timers:{0} to timers:{15}, which are leased, over
sunk:{0} to sunk:{15}, which have streams as sinks, and some keys that are
polled. Producers and consumers follow MOVED and ASK, like client libraries.
ledger.py defines the counts and the limits. One line is printed per scenario,
and a last one with the totals.
"""
import random
import threading
import time

import nodes
import resp
import server
from load import Leaser, Poller, Pusher, Tailer
from server import equal, now_ms, wait_until
from trials import Scenarios, Trial

PARTITIONS = 16
LEASED = [b'timers:{%d}' % i for i in range(PARTITIONS)]
SUNK = [b'sunk:{%d}' % i for i in range(PARTITIONS)]
STREAMS = {key: key.replace(b'sunk', b'out') for key in SUNK}
POLLED = [b'polled:{%d}' % i for i in range(4)]
KEYS = ({key: 'lease' for key in LEASED} | {key: 'sink' for key in SUNK}
        | {key: 'poll' for key in POLLED})
MANY = 20000
SCENARIOS = Scenarios(' cluster')
CLUSTER = []


def cluster():
    """Returns the cluster that all scenarios share, because creating one takes
    seconds."""
    if not CLUSTER or any(node.process is None for node in CLUSTER[0].nodes):
        CLUSTER[:] = [nodes.Cluster()]
        for node in CLUSTER[0].nodes:
            server.shared.servers['cluster', node.port] = node
    return CLUSTER[0]


class Slots:
    """Knows which server has which slot; updated by the servers' replies, and
    by querying them now and then."""

    def __init__(self, ledger, ports):
        self.ledger = ledger
        self.ports = ports
        self.owners = [None] * nodes.SLOTS
        self.turned = 0
        self.clients = {}
        self.lock = threading.Lock()
        self.ending = False
        self.problem = None
        self.look()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def place(self, key):
        return self.owners[nodes.slot(key)]

    def moved(self, slot, port):
        self.owners[slot] = port

    def watch(self):
        try:
            while not self.ending:
                self.look()
                time.sleep(0.05)
        except Exception as problem:  # pylint: disable=broad-except
            self.problem = problem

    def look(self):
        """Queries all servers: how much history the promoted ones have, and the
        owners of slots, by the server with the newest change."""
        with self.lock:
            self._look()

    def _look(self):
        newest = (-1, None)
        for port in self.ports:
            try:
                client = self.clients.get(port)
                if client is None:
                    client = self.clients[port] = resp.Client(port, 2, 1)
                text = client.call('CLUSTER', 'INFO').decode()
                # A restarted master considers itself a master at first, with
                # the data of its dump file, and serves no key.
                if 'cluster_state:ok' in text:
                    self.ledger.effect(client.call('INFO', 'replication'))
                epoch = int(text.split('cluster_current_epoch:')[1].split()[0])
                newest = max(newest, (epoch, port))
            except (OSError, resp.Closed, resp.Late, AssertionError):
                self.clients.pop(port, None)
        if newest[1] is None:
            return
        try:
            rows = self.clients[newest[1]].call('CLUSTER', 'SLOTS')
        except (OSError, resp.Closed, resp.Late, AssertionError):
            self.clients.pop(newest[1], None)
            return
        for first, last, place, *_ in rows:
            self.owners[first:last + 1] = [place[1]] * (last - first + 1)

    def call(self, key, *args):
        """Runs a command of the test on the server that has the key."""
        for _ in range(100):
            with resp.Client(self.place(key)) as client:
                reply = client.call(*args)
                words = reply.split() if isinstance(reply, resp.Error) else ['']
                if words[0] != b'MOVED':
                    return reply
                self.moved(int(words[1]), int(words[2].rsplit(b':', 1)[1]))
        raise AssertionError(f'{args!r} is sent around')


class Shards(Trial):
    """A load on the cluster."""

    def __init__(self, seed):
        super().__init__(seed, KEYS, STREAMS)
        self.cluster = cluster()
        self.route = Slots(self.ledger,
                           [node.port for node in self.cluster.nodes])
        for key in (*KEYS, *STREAMS.values()):
            self.call(key, 'DEL', key)
        for key, stream in STREAMS.items():
            equal(self.call(key, 'LAWN.SINK', key, 'STREAM', stream), resp.OK)
        self.pushers = [self.worker(Pusher, list(KEYS), replicas=number)
                        for number in (0, 1, 1)]
        self.takers = [self.worker(Leaser, [key]) for key in LEASED]
        self.takers += [self.worker(Tailer, SUNK[i::4]) for i in range(4)]
        self.takers += [self.worker(Poller, [key]) for key in POLLED]
        self.start()

    def call(self, key, *args):
        return self.route.call(key, *args)

    def note(self):
        self.route.look()

    def check(self):
        super().check()
        if self.route.problem:
            raise self.route.problem

    def stop(self):
        super().stop()
        self.route.ending = True
        self.route.thread.join()


def scenario(name, lossless=False):
    return SCENARIOS.add(name, Shards, lossless)


def taken_over(trial, master, replica):
    wait_until(lambda: nodes.replication(replica)['role'] == 'master'
               and trial.cluster.slots(replica), 'the replica takes over',
               2 * server.PATIENCE)
    trial.route.look()
    return master


def ask_again(replica):
    """For a failover, which the server abandons after five seconds."""
    asked = [0]

    def done():
        if nodes.replication(replica)['role'] == 'master':
            return True
        if time.monotonic() > asked[0] + 6:
            asked[0] = time.monotonic()
            reply = replica.call('CLUSTER', 'FAILOVER')
            assert reply == resp.OK or b'replica' in reply, reply
        return False
    wait_until(done, 'the replica takes over', 2 * server.PATIENCE)


@scenario('kill -9')
def a_killed_master_is_replaced_and_loses_nothing_confirmed(trial):
    master = trial.cluster.owner(nodes.slot(trial.dice.choice(LEASED)))
    replica = trial.cluster.replica_of(master)
    master.expect_crash = True
    with trial.cluster.hasty(nodes.HURRIED):
        master.kill()
        taken_over(trial, master, replica)
        trial.wait_for_pushes()
        master.start()


@scenario('SIGSTOP and SIGCONT')
def a_master_that_returns_follows_the_new_master(trial):
    master = trial.cluster.owner(nodes.slot(trial.dice.choice(LEASED)))
    replica = trial.cluster.replica_of(master)
    with trial.cluster.hasty(nodes.HURRIED):
        nodes.freeze(master)
        try:
            # Query others: the stopped server does not answer.
            wait_until(lambda: nodes.replication(replica)['role'] == 'master',
                       'the replica takes over', 2 * server.PATIENCE)
            trial.route.look()
            trial.route.turned += 1
            trial.wait_for_pushes()
        finally:
            nodes.thaw(master)
        wait_until(lambda: nodes.replication(master)['role'] == 'slave',
                   'it follows')


@scenario('CLUSTER FAILOVER', lossless=True)
def a_failover_by_hand_loses_and_doubles_nothing(trial):
    master = trial.cluster.owner(nodes.slot(trial.dice.choice(LEASED)))
    replica = trial.cluster.replica_of(master)
    with trial.cluster.hasty(nodes.HASTY):
        ask_again(replica)
        taken_over(trial, master, replica)
        wait_until(lambda: nodes.replication(master)['role'] == 'slave',
                   'it follows')


@scenario('CLUSTER FAILOVER TAKEOVER')
def a_replica_that_takes_over_too_early_loses_only_unreplicated_writes(trial):
    """Its master rejects it, and continues."""
    master = trial.cluster.owner(nodes.slot(trial.dice.choice(LEASED)))
    replica = trial.cluster.replica_of(master)
    equal(replica.call('CONFIG', 'SET', 'masteruser', 'wrong', 'masterauth',
                       'x'), resp.OK)
    equal(replica.call('CLIENT', 'KILL', 'TYPE', 'master'), 1)
    wait_until(lambda: replica.info('replication')['master_link_status']
               == 'down', 'it hears no more')
    trial.wait_for_pushes()
    equal(replica.call('CLUSTER', 'FAILOVER', 'TAKEOVER'), resp.OK)
    equal(replica.call('CONFIG', 'SET', 'masteruser', '', 'masterauth', ''),
          resp.OK)
    taken_over(trial, master, replica)
    wait_until(lambda: nodes.replication(master)['role'] == 'slave',
               'it follows')
    trial.cluster.wait_whole()


@scenario('reshard', lossless=True)
def slots_that_move_under_load_lose_and_double_nothing(trial):
    """The lowest slots of one master, which always contain partitions."""
    low = [key for key in LEASED if nodes.slot(key) < 300]
    source = trial.cluster.owner(nodes.slot(low[0]))
    target = trial.dice.choice([node for node in trial.cluster.masters()
                                if node is not source])
    before = {key: trial.route.place(key) for key in LEASED}
    trial.cluster.reshard(source, target, 300)
    trial.wait_for_pushes()
    trial.route.look()
    after = {key: trial.route.place(key) for key in LEASED}
    assert any(after[key] != before[key] for key in low), (before, after)
    trial.cluster.wait_whole()


# BY HAND

class Move:
    """A slot that is migrated from one master to another, step by step."""

    def __init__(self, tag):
        self.cluster = cluster()
        self.tag = tag
        self.slot = nodes.slot(tag)
        self.source = self.cluster.owner(self.slot)
        self.target = next(node for node in self.cluster.masters()
                           if node is not self.source)
        self.clean()

    def clean(self):
        for key in self.source.call('CLUSTER', 'GETKEYSINSLOT', self.slot, 100):
            self.source.call('DEL', key)

    def begin(self):
        equal(self.target.call('CLUSTER', 'SETSLOT', self.slot, 'IMPORTING',
                               self.cluster.ident(self.source)), resp.OK)
        equal(self.source.call('CLUSTER', 'SETSLOT', self.slot, 'MIGRATING',
                               self.cluster.ident(self.target)), resp.OK)

    def migrate(self, *keys):
        """Returns the duration in ms."""
        began = time.monotonic()
        equal(self.source.call('MIGRATE', '127.0.0.1', self.target.port, '', 0,
                               60000, 'KEYS', *keys), resp.OK)
        return (time.monotonic() - began) * 1000

    def finish(self):
        ident = self.cluster.ident(self.target)
        for node in (self.target, self.source, *self.cluster.masters()):
            equal(node.call('CLUSTER', 'SETSLOT', self.slot, 'NODE', ident),
                  resp.OK)

    def there(self, *args):
        """Sends a command to the target while it does not own the slot yet."""
        client = self.target.control
        equal(client.one('ASKING'), resp.OK)
        return client.one(*args)

    def key(self, name):
        return b'%s:%s' % (name.encode(), self.tag)


def handed(move, stream, ids):
    """Checks that a stream has each event once."""
    rows = move.target.call('XRANGE', stream, '-', '+')
    got = [bytes(fields[1]) for _, fields in rows]
    equal(sorted(got, key=int), ids, 'each once')


def a_sink_whose_slot_is_migrating_keeps_its_events():
    """Either the key or the stream is migrated first: neither server may write
    while the other one has the rest."""
    for first in ('key', 'stream'):
        move = Move(b'{sink %s}' % first.encode())
        key, stream = move.key('later'), move.key('out')
        equal(move.source.call('LAWN.SINK', key, 'STREAM', stream), resp.OK)
        begin = now_ms()
        ids = [b'%d' % i for i in range(2000)]
        move.source.control.pipe(('LAWN.PUSH', key, id_, b'p' + id_, 'AT',
                                  begin + int(id_) // 4) for id_ in ids[:1500])
        wait_until(lambda: move.source.call('XLEN', stream) > 100, 'it begins')
        move.begin()
        keeper = move.target if first == 'key' else move.source
        before = int(keeper.lawn()['deferred_by_slot'])
        move.migrate(key if first == 'key' else stream)
        # Some that cannot have been delivered before.
        last = ('LAWN.MPUSH', key, 'AT', begin, 500,
                *sum([(id_, b'p' + id_) for id_ in ids[1500:]], ()))
        equal(move.there(*last) if first == 'key'
              else move.source.call(*last), 500)
        wait_until(lambda: int(keeper.lawn()['deferred_by_slot'])
                   > before + 2, 'it is put off')
        wait_until(lambda: now_ms() > begin + 600, 'all are due')
        if first == 'key':
            equal(move.there('EXISTS', stream), 0, 'no second stream')
            equal(move.there('LAWN.LEN', key) > 0, True)
        else:
            equal(move.source.call('LAWN.LEN', key) > 0, True)
        move.migrate(stream if first == 'key' else key)
        length = move.there('XLEN', stream)
        equal(length + move.there('LAWN.LEN', key), 2000, 'all are somewhere')
        move.finish()
        wait_until(lambda: move.target.call('XLEN', stream) >= 2000,
                   'all are handed on')
        handed(move, stream, ids)
        move.cluster.wait_whole()


def a_large_key_moves_with_its_due_waiting_and_leased_events():
    move = Move(b'{large}')
    key = move.key('timers')
    begin = now_ms()
    control = move.source.control
    control.pipe(('LAWN.MPUSH', key, 'AT', begin + i % 3000, 20,
                  *sum([(b'%d' % (i + j), b'p' * 50) for j in range(20)], ()))
                 for i in range(0, MANY, 20))
    leased = control.call('LAWN.LEASE', key, 'before', 'LEASE', 60000, 'COUNT',
                          50)
    assert leased, 'nothing to lease'
    move.begin()
    took = move.migrate(key)
    print(f'{server.KIND}-server cluster: a key of {MANY} events moved in '
          f'{took:.0f} ms')
    move.finish()
    # Clients that leased before have the token, which is valid here, too.
    words = [word for id_, _, token, _, _ in leased for word in (id_, token)]
    equal(move.target.call('LAWN.ACK', key, *words), [1] * len(leased))
    got = {bytes(id_) for id_, *_ in leased}
    taker = move.target.client()
    while len(got) < MANY:
        rows = taker.call('LAWN.LEASE', key, 'after', 'COUNT', 1000, 'BLOCK',
                          5000)
        assert rows, f'only {len(got)} came'
        heard = now_ms()
        for id_, _, _, tries, due in rows:
            assert due <= heard, 'early'
            equal(tries, 1)
            assert bytes(id_) not in got, f'{id_!r} twice'
            got.add(bytes(id_))
        words = [word for row in rows for word in (row[0], row[2])]
        equal(taker.call('LAWN.ACK', key, *words), [1] * len(rows))
    equal(move.target.call('EXISTS', key), 0)
    move.cluster.wait_whole()


def a_client_that_waits_for_a_key_is_redirected_to_where_its_slot_has_gone():
    move = Move(b'{waits}')
    key = move.key('timers')
    waiters = []
    for words in (('LAWN.LEASE', key, 'o', 'BLOCK', 0),
                  ('LAWN.POLL', key, 'BLOCK', 0)):
        waiter = move.source.client()
        move.source.waits(waiter, *words)
        waiters.append((waiter, words))
    move.begin()
    move.finish()
    for waiter, words in waiters:
        reply = waiter.read()
        assert isinstance(reply, resp.Error) and reply.startswith(b'MOVED'), \
            (words, reply)
    # There they receive new events.
    waiters = [move.target.client() for _ in waiters]
    move.target.waits(waiters[0], 'LAWN.LEASE', key, 'o', 'BLOCK', 0)
    equal(move.target.call('LAWN.PUSH', key, 'i', 'p', 'DELAY', 20), 'i')
    (id_, payload, token, tries, _), = waiters[0].read()
    equal([id_, payload, tries], ['i', 'p', 1])
    equal(move.target.call('LAWN.ACK', key, 'i', token), [1])
    move.cluster.wait_whole()


def an_id_has_the_partition_of_its_checksum():
    one = cluster().nodes[0]
    dice = random.Random(1)
    for _ in range(200):
        id_ = dice.randbytes(dice.randrange(20))
        count = dice.randrange(1, 16385)
        equal(one.call('LAWN.PARTITION', id_, count),
              nodes.crc16(id_) % count, repr(id_))
    for key in (b'timers:{7}', b'a{b}{c}', b'{}x', b'plain', b'a}b{c}'):
        equal(one.call('CLUSTER', 'KEYSLOT', key), nodes.slot(key), repr(key))


def all_scenarios_together_have_shown_what_they_are_for():
    SCENARIOS.print_totals('confirmed', 'after_end', 'unreplicated', 'fenced',
                           'lost')
    cluster().end()


def main():
    options = server.arguments(__doc__, seed=1, rounds=1)
    SCENARIOS.seed, SCENARIOS.rounds = options.seed, options.rounds
    server.attempt_all([
        an_id_has_the_partition_of_its_checksum, *SCENARIOS.cases,
        a_sink_whose_slot_is_migrating_keeps_its_events,
        a_large_key_moves_with_its_due_waiting_and_leased_events,
        a_client_that_waits_for_a_key_is_redirected_to_where_its_slot_has_gone,
        all_scenarios_together_have_shown_what_they_are_for])


if __name__ == '__main__':
    main()
