#!/usr/bin/env python3
"""sink.py [--server redis|valkey] [PART OF A NAME] - LAWN.SINK: the server
delivers due and dead events; refused ones stay and are retried.

Guarantee 4: in every surviving history an event is in the key or in the stream,
never in both or in neither; checked in the append-only file and on replicas.
Guarantee 5: never early.
"""

import os
import subprocess
import tempfile
import time

import resp
from resp import OK
from server import (FAR, HERE, Server, case, equal, error, free_port, main, now_ms,
                    shared, shared_clock, wait_until)


# FREQUENT QUERIES

def facts(server, key='k'):
    """Returns LAWN.INFO as a dictionary."""
    flat = server.call('LAWN.INFO', key)
    return dict(zip((name.decode() for name in flat[::2]), flat[1::2]))


def rows(server, stream='s'):
    """Returns the entries of a stream as dictionaries."""
    got = []
    for _, flat in server.call('XRANGE', stream, '-', '+'):
        got.append(dict(zip((name.decode() for name in flat[::2]), flat[1::2])))
    return got


def ids(server, stream='s'):
    return [row['id'].decode() for row in rows(server, stream)]


def arrives(server, expected, stream='s'):
    """Waits until exactly these ids are in the stream."""
    wait_until(lambda: len(ids(server, stream)) >= len(expected),
               f'{expected} in the stream')
    equal(ids(server, stream), expected)


def refused(server, text, key='k', times=2):
    """Waits until a sink was refused this number of times, with an error that
    begins with text."""
    wait_until(lambda: facts(server, key)['sink-errors'] >= times,
               'the sink is refused')
    got = facts(server, key)['sink-error'].decode()
    assert got.startswith(text), got


def framed(server):
    """Returns the commands of the append-only file, including MULTI and EXEC.
    """
    folder = server.folder / 'appendonlydir'
    part = max(folder.glob('*.incr.aof'),
               key=lambda path: int(path.name.split('.')[-3]))
    data = part.read_bytes()
    got = []
    at = 0
    while at < len(data):
        end = data.index(b'\r\n', at)
        count = int(data[at + 1:end])
        at = end + 2
        words = []
        for _ in range(count):
            end = data.index(b'\r\n', at)
            size = int(data[at + 1:end])
            words.append(data[end + 2:end + 2 + size].decode())
            at = end + 4 + size
        got.append(words)
    return got


def follow(replica, master):
    replica.call('REPLICAOF', '127.0.0.1', master.port)
    wait_until(lambda: replica.info('replication').get('master_link_status')
               == 'up', 'the replica is linked')


def caught_up(master, replica):
    def offsets():
        here = master.info('replication')['master_repl_offset']
        return here == replica.info('replication')['slave_repl_offset']
    wait_until(offsets, 'the replica has all')


# EACH KIND

@case
def a_stream_gets_due_events_and_a_group_reads_them():
    server = shared()
    server.call('XGROUP', 'CREATE', 's', 'g', '$', 'MKSTREAM')
    reader = server.client()
    server.waits(reader, 'XREADGROUP', 'GROUP', 'g', 'me', 'BLOCK', 0,
                 'STREAMS', 's', '>')
    equal(server.call('LAWN.SINK', 'k', 'STREAM', 's'), OK)
    before = now_ms()
    server.call('LAWN.PUSH', 'k', 'a', b'x\0\xff', 'DELAY', 30)
    stream, messages = reader.read()[0]
    assert now_ms() >= before + 30
    equal(stream, 's')
    flat = messages[0][1]
    equal(flat[:4], [b'id', b'a', b'payload', b'x\0\xff'])
    equal(flat[4], 'due')
    assert before + 30 <= int(flat[5]) <= now_ms(), flat
    equal(flat[6:], [b'n', b'1'])
    equal(server.call('LAWN.LEN', 'k'), 0)
    equal(facts(server)['handed'], 1)


@case
def all_events_are_delivered_in_the_order_of_times():
    server = shared()
    server.call('LAWN.SINK', 'k', 'STREAM', 's')
    delays = [40, 10, 30, 0, 20, 15]
    # In one transaction, so that no time passes in between.
    server.control.multi(*[('LAWN.PUSH', 'k', 'd%02d' % delay, 'x', 'DELAY',
                            delay) for delay in delays])
    arrives(server, ['d%02d' % delay for delay in sorted(delays)])


@case
def a_list_gets_payloads_and_wakes_its_waiting_clients():
    server = shared()
    reader = server.client()
    server.waits(reader, 'BLPOP', 'l', 0)
    server.call('LAWN.SINK', 'k', 'LIST', 'l')
    server.call('LAWN.MPUSH', 'k', 'DELAY', 5, 2, 'a', 'x', 'b', 'y')
    equal(reader.read(), ['l', 'x'])
    wait_until(lambda: server.call('LRANGE', 'l', 0, -1) == [b'y'], 'the rest')


@case
def channels_get_payloads():
    server = shared()
    for kind, verb in (('PUBLISH', 'SUBSCRIBE'), ('SPUBLISH', 'SSUBSCRIBE')):
        listener = server.client()
        listener.one(verb, 'c')
        equal(server.call('LAWN.SINK', 'k', kind, 'c'), OK)
        server.call('LAWN.PUSH', 'k', 'a', 'x' + kind, 'DELAY', 5)
        equal(listener.read()[1:], ['c', 'x' + kind])
        wait_until(lambda: server.call('LAWN.LEN', 'k') == 0, 'it is gone')
        listener.close()


@case
def a_stream_is_kept_short():
    server = shared()
    server.call('CONFIG', 'SET', 'stream-node-max-entries', 10)
    server.call('LAWN.SINK', 'k', 'STREAM', 's', 'MAXLEN', '~', 20)
    for i in range(200):
        server.call('LAWN.PUSH', 'k', i, 'x', 'DELAY', 1)
    wait_until(lambda: facts(server)['handed'] == 200, 'all')
    assert 20 <= server.call('XLEN', 's') <= 30, server.call('XLEN', 's')
    server.call('CONFIG', 'SET', 'stream-node-max-entries', 100)


@case
def a_repeating_event_is_delivered_each_time():
    server = shared()
    server.call('LAWN.SINK', 'k', 'STREAM', 's')
    server.call('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 1, 'EVERY', 7, 'TIMES', 4)
    arrives(server, ['a'] * 4)
    dues = [int(row['due']) for row in rows(server)]
    for due, after, row in zip(dues, dues[1:], rows(server)):
        equal(after - due, 7 * int(row['n']))
    equal(server.call('LAWN.LEN', 'k'), 0)


@case
def a_new_sink_gets_the_events_that_are_already_due():
    server = shared()
    server.call('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 0)
    server.call('LAWN.PUSH', 'k', 'b', 'x', 'DELAY', FAR)
    server.call('LAWN.SINK', 'k', 'STREAM', 's')
    arrives(server, ['a'])


@case
def a_paused_key_keeps_its_events():
    server = shared()
    server.call('LAWN.SINK', 'k', 'STREAM', 's')
    server.call('LAWN.PAUSE', 'k')
    server.call('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 1)
    server.call('LAWN.SINK', 'other', 'STREAM', 't')
    server.call('LAWN.PUSH', 'other', 'b', 'x', 'DELAY', 5)
    arrives(server, ['b'], 't')
    equal(ids(server), [])
    server.call('LAWN.RESUME', 'k')
    arrives(server, ['a'])


@case
def each_database_has_its_own():
    server = shared()
    client = server.client()
    client.call('SELECT', 3)
    client.call('LAWN.SINK', 'k', 'STREAM', 's')
    client.call('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 1)
    wait_until(lambda: client.call('XLEN', 's') == 1, 'it is there')
    equal(server.call('EXISTS', 's'), 0)


# REPLICATED COMMANDS

@case
def removal_and_hand_off_are_one_transaction():
    with Server('appendonly', 'yes', 'appendfsync', 'always') as server:
        server.call('LAWN.SINK', 'k', 'STREAM', 's')
        server.call('LAWN.PAUSE', 'k')
        server.call('LAWN.PUSH', 'k', 'r', 'x', 'DELAY', 0, 'EVERY', FAR)
        server.call('LAWN.MPUSH', 'k', 'DELAY', 0, 2, 'a', 'x', 'b', 'y')
        server.call('LAWN.RESUME', 'k')
        arrives(server, ['r', 'a', 'b'])
        # Usually one transaction; more if the server was interrupted so long
        # that the time of a tick was over.
        found = framed(server)
        added, removed = [], []
        while ['MULTI'] in found:
            begin, end = found.index(['MULTI']), found.index(['EXEC'])
            block, found = found[begin + 1:end], found[end + 1:]
            adds = [words for words in block if words[:2] == ['XADD', 's']]
            applied = block[len(adds):]
            equal(block[:len(adds)], adds)
            equal({words[0] for words in applied} - {'LAWN.APPLY'}, set())
            names = [name for words in applied
                     for name in (words[3:] if words[2] == 'DEL' else words[3:4])]
            equal(len(names), len(adds))
            added += adds
            removed += names
        equal(sorted(removed), ['a', 'b', 'r'])
        # the ids are those of the stream
        equal([words[2] for words in added],
              [name.decode() for name, _ in server.call('XRANGE', 's', '-',
                                                        '+')])
        digests = [server.digest('k'), server.digest('s')]
        server.restart(kill=True)
        equal([server.digest('k'), server.digest('s')], digests)
        equal(facts(server)['sink'], 'stream')


@case
def a_file_that_ends_in_the_middle_has_both_or_neither():
    with Server('appendonly', 'yes', 'appendfsync', 'always') as server:
        server.call('LAWN.SINK', 'k', 'STREAM', 's')
        server.call('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 1)
        arrives(server, ['a'])
        server.kill()
        folder = server.folder / 'appendonlydir'
        part = next(folder.glob('*.incr.aof'))
        data = part.read_bytes()
        begin = data.index(b'*1\r\n$5\r\nMULTI')
        for end in (begin + 5, data.index(b'XADD') + 9,
                    data.index(b'DEL\r\n') + 4, len(data) - 3):
            part.write_bytes(data[:end])
            server.start()
            arrives(server, ['a'])
            equal(server.call('LAWN.LEN', 'k'), 0)
            server.kill()


@case
def a_rewritten_file_has_the_sink():
    for preamble in ('yes', 'no'):
        with Server('appendonly', 'yes', 'aof-use-rdb-preamble',
                    preamble) as server:
            server.call('LAWN.SINK', 'k', 'STREAM', 's', 'MAXLEN', 50,
                        'DEADLETTER', 'd')
            server.call('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 300)
            server.call('BGREWRITEAOF')
            wait_until(lambda: server.info('persistence')
                       ['aof_rewrite_in_progress'] == '0', 'rewritten')
            server.restart()
            got = facts(server)
            equal([got[name] for name in ('sink', 'sink-to', 'sink-maxlen',
                                          'dead-letter')],
                  ['stream', 's', 50, 'd'])
            arrives(server, ['a'])


@case
def a_replica_has_the_same_stream_and_delivers_nothing_itself():
    with Server() as master, Server() as replica:
        follow(replica, master)
        listener = replica.client()
        listener.one('SUBSCRIBE', 'c')
        master.call('LAWN.SINK', 'k', 'STREAM', 's')
        master.call('LAWN.SINK', 'p', 'PUBLISH', 'c')
        for i in range(20):
            master.call('LAWN.PUSH', 'k', i, 'x', 'DELAY', i % 7)
        master.call('LAWN.PUSH', 'p', 'm', 'message', 'DELAY', 3)
        equal(listener.read()[2], 'message')
        wait_until(lambda: master.call('XLEN', 's') == 20, 'all')
        caught_up(master, replica)
        equal(replica.call('XRANGE', 's', '-', '+'),
              master.call('XRANGE', 's', '-', '+'))
        equal(replica.digest('k'), master.digest('k'))
        equal(listener.waits(), True, 'one message')
        equal(replica.lawn()['handed_total'], '0')


@case
def a_promoted_replica_continues():
    with Server() as master, Server() as replica:
        follow(replica, master)
        master.call('LAWN.SINK', 'k', 'STREAM', 's', 'DEADLETTER', 'd')
        master.call('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 1)
        arrives(master, ['a'])
        # events due after the master has gone
        master.call('LAWN.PAUSE', 'k')
        master.call('LAWN.PUSH', 'k', 'b', 'x', 'DELAY', 1)
        master.call('LAWN.PUSH', 'k', 'c', 'x', 'DELAY', 50)
        master.call('LAWN.SINK', 'j', 'NONE')
        master.call('LAWN.PUSH', 'j', 'dead', 'x', 'DELAY', 0, 'TRIES', 1)
        token = master.call('LAWN.LEASE', 'j', 'me', 'LEASE', FAR)[0][2]
        equal(master.call('LAWN.NACK', 'j', 'dead', token), 1)
        master.call('LAWN.SINK', 'j', 'NONE', 'DEADLETTER', 'd')
        arrives(master, ['dead'], 'd')
        master.call('LAWN.PUSH', 'j', 'late', 'x', 'DELAY', 0, 'TRIES', 1)
        master.call('LAWN.LEASE', 'j', 'me', 'LEASE', 60)
        caught_up(master, replica)
        master.kill()
        equal(ids(replica), ['a'])
        replica.call('REPLICAOF', 'NO', 'ONE')
        replica.call('LAWN.RESUME', 'k')
        arrives(replica, ['a', 'b', 'c'])
        arrives(replica, ['dead', 'late'], 'd')
        master.expect_crash = True


@case
def a_replica_that_is_promoted_while_events_are_due_hands_them_on_once():
    with Server() as master, Server() as replica:
        follow(replica, master)
        master.call('LAWN.SINK', 'k', 'STREAM', 's')
        master.call('SET', 's', 'in the way')
        master.call('LAWN.MPUSH', 'k', 'DELAY', 1, 3, 'a', 1, 'b', 2, 'c', 3)
        refused(master, 'WRONGTYPE')
        caught_up(master, replica)
        master.kill()
        replica.call('REPLICAOF', 'NO', 'ONE')
        refused(replica, 'WRONGTYPE')
        replica.call('DEL', 's')
        arrives(replica, ['a', 'b', 'c'])
        master.expect_crash = True


# REFUSED DELIVERIES

@case
def a_sink_of_another_type_is_waited_for():
    server = shared()
    errors = int(server.lawn()['sink_errors'])
    server.call('SET', 's', 'in the way')
    server.call('LAWN.SINK', 'k', 'STREAM', 's')
    for name in 'abc':
        server.call('LAWN.PUSH', 'k', name, 'x', 'DELAY', 1)
    refused(server, 'WRONGTYPE Operation against a key holding the wrong kind '
            'of value', times=3)
    wait_until(lambda: server.call('LAWN.LEN', 'k', 'DUE') == 3, 'all are due')
    assert int(server.lawn()['sink_errors']) >= errors + 3
    server.call('DEL', 's')
    arrives(server, ['a', 'b', 'c'])
    equal(facts(server)['sink-error'], '')


def most_refusals(began):
    """Returns the maximum number of attempts since then: the delay doubles from
    10 ms to a second."""
    left, delay, count = (time.monotonic() - began) * 1000, 10, 1
    while left > delay:
        left, delay, count = left - delay, min(2 * delay, 1000), count + 1
    return count


@case
def refusals_become_rare():
    server = shared()
    server.call('SET', 's', 'in the way')
    server.call('LAWN.SINK', 'k', 'STREAM', 's')
    began = time.monotonic()
    server.call('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 0)
    refused(server, 'WRONGTYPE', times=5)
    # 10 + 20 + 40 + 80 ms
    assert time.monotonic() - began >= 0.14
    # new events do not cause more attempts
    for i in range(50):
        server.call('LAWN.PUSH', 'k', i, 'x', 'DELAY', 0)
    got = facts(server)['sink-errors']
    assert got <= most_refusals(began), (got, most_refusals(began))
    # setting it again retries at once
    before = facts(server)['sink-errors']
    server.call('LAWN.SINK', 'k', 'STREAM', 's')
    wait_until(lambda: facts(server)['sink-errors'] > before, 'tried')


@case
def a_waiting_client_gets_events_that_the_sink_does_not_take():
    server = shared()
    server.call('SET', 's', 'in the way')
    server.call('LAWN.SINK', 'k', 'STREAM', 's')
    client = server.client()
    server.waits(client, 'LAWN.POLL', 'k', 'BLOCK', 0)
    server.call('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 5)
    equal(client.read(), [['a', 'x']])


@case
def a_client_that_waits_at_a_key_with_a_sink_gets_nothing():
    server = shared()
    server.call('LAWN.SINK', 'k', 'STREAM', 's')
    client = server.client()
    server.waits(client, 'LAWN.POLL', 'k', 'BLOCK', 0)
    for i in range(10):
        server.call('LAWN.PUSH', 'k', i, 'x', 'DELAY', i % 3)
    wait_until(lambda: server.call('XLEN', 's') == 10, 'all')
    equal(client.waits(), True)


@case
def a_full_server_delivers_nothing_that_takes_memory():
    with Server() as server:
        reader = server.client()
        listener = server.client()
        listener.one('SUBSCRIBE', 'c')
        server.call('LAWN.SINK', 'k', 'STREAM', 's')
        server.call('LAWN.SINK', 'p', 'PUBLISH', 'c')
        server.control.multi(('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 5),
                             ('LAWN.PUSH', 'p', 'a', 'message', 'DELAY', 5),
                             ('CONFIG', 'SET', 'maxmemory', 1))
        refused(server, 'OOM')
        equal(listener.read()[2], 'message')
        # no further command is sent after this, because it might help
        reader.send('XREAD', 'BLOCK', 0, 'STREAMS', 's', '0')
        equal(server.control.one('CONFIG', 'SET', 'maxmemory', '1gb'), OK)
        equal(reader.read()[0][1][0][1][:2], ['id', 'a'])


@case
def a_server_that_evicts_delivers_events():
    with Server('maxmemory-policy', 'allkeys-lru') as server:
        server.call('CONFIG', 'SET', 'maxmemory', '30mb')
        server.call('LAWN.SINK', 'k', 'STREAM', 's')
        server.call('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 5)
        arrives(server, ['a'])


@case
def too_few_replicas_hold_it_back():
    for kind in ('STREAM', 'LIST', 'PUBLISH', 'SPUBLISH'):
        with Server() as server:
            server.call('LAWN.SINK', 'k', kind, 's')
            server.control.multi(
                ('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 5),
                ('CONFIG', 'SET', 'min-replicas-to-write', 1))
            refused(server, 'NOREPLICAS')
            equal(server.call('LAWN.LEN', 'k'), 1)
            server.call('CONFIG', 'SET', 'min-replicas-to-write', 0)
            wait_until(lambda: server.call('LAWN.LEN', 'k') == 0, 'handed on')


@case
def a_pause_of_writes_delays_everything_and_crashes_no_server():
    with Server('appendonly', 'yes') as server, Server() as replica:
        follow(replica, server)
        server.call('LAWN.SINK', 'k', 'STREAM', 's', 'DEADLETTER', 'd')
        server.call('LAWN.SINK', 'p', 'PUBLISH', 'c')
        server.call('LAWN.SINK', 'j', 'NONE', 'DEADLETTER', 'd')
        leasers = [server.client() for _ in range(5)]
        for i, client in enumerate(leasers):
            server.waits(client, 'LAWN.LEASE', 'w', 'w%d' % i, 'LEASE', 40,
                         'BLOCK', 0 if i else 600)
        # In one transaction: nothing becomes due before the pause.
        server.control.multi(
            ('LAWN.PUSH', 'j', 'last', 'x', 'DELAY', 0, 'TRIES', 1),
            ('LAWN.LEASE', 'j', 'me', 'LEASE', 5),
            ('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 5),
            ('LAWN.PUSH', 'p', 'a', 'x', 'DELAY', 5),
            ('LAWN.PUSH', 'w', 'a', 'x', 'DELAY', 5, 'TRIES', 9),
            ('CLIENT', 'PAUSE', 600000, 'WRITE'))
        wait_until(lambda: int(server.lawn()['deferred_by_pause']) >= 5,
                   'it is put off')
        equal(leasers[0].read(), [])
        equal([ids(server), ids(server, 'd')], [[], []])
        server.call('CLIENT', 'UNPAUSE')
        arrives(server, ['a'])
        arrives(server, ['last'], 'd')
        equal(leasers[1].read()[0][0], 'a')
        # the lease ends, and the next client gets it
        equal(leasers[2].read()[0][0], 'a')
        wait_until(lambda: server.call('LAWN.LEN', 'p') == 0, 'published')
        caught_up(server, replica)
        for key in 'kpj':
            equal(replica.digest(key), server.digest(key))


@case
def a_sink_that_is_deleted_or_expires_is_created_again():
    server = shared()
    server.call('LAWN.SINK', 'k', 'STREAM', 's')
    server.call('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 0)
    arrives(server, ['a'])
    server.call('DEL', 's')
    server.call('LAWN.PUSH', 'k', 'b', 'x', 'DELAY', 1)
    arrives(server, ['b'])
    server.call('PEXPIRE', 's', 5)
    server.call('LAWN.PUSH', 'k', 'c', 'x', 'DELAY', 20)
    wait_until(lambda: ids(server) == ['c'], 'it is the only one')


@case
def a_transaction_and_a_script_are_not_interrupted():
    server = shared()
    server.call('LAWN.SINK', 'k', 'STREAM', 's')
    equal(server.client().multi(('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 0),
                                ('LAWN.LEN', 'k'), ('XLEN', 's')),
          ['a', 1, 0])
    arrives(server, ['a'])
    busy = server.client()
    server.call('CONFIG', 'SET', 'busy-reply-threshold', 1)
    server.call('LAWN.PUSH', 'k', 'b', 'x', 'DELAY', 5)
    busy.send('EVAL', 'while true do end', 0)
    other = server.client()

    def is_busy():
        reply = other.one('XLEN', 's')
        return isinstance(reply, resp.Error) and reply.startswith(b'BUSY')
    wait_until(is_busy, 'the script runs')
    end = now_ms() + 20
    wait_until(lambda: now_ms() > end, 'it is due')
    equal(other.one('SCRIPT', 'KILL'), OK)
    busy.read()
    arrives(server, ['a', 'b'])
    server.call('CONFIG', 'SET', 'busy-reply-threshold', 5000)


# WHAT HAPPENS TO KEYS

@case
def a_key_takes_its_sink_along():
    server = shared()

    def begin():
        server.call('FLUSHALL')
        server.call('SET', 's', 'in the way')
        server.call('LAWN.SINK', 'k', 'STREAM', 's')
        server.call('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 0)
        refused(server, 'WRONGTYPE', times=1)

    begin()
    server.call('RENAME', 'k', 'other')
    server.call('DEL', 's')
    arrives(server, ['a'])
    begin()
    server.call('DEBUG', 'RELOAD')
    server.call('DEL', 's')
    arrives(server, ['a'])
    begin()
    dump = server.call('DUMP', 'k')
    server.call('DEL', 'k')
    server.call('DEL', 's')
    server.call('RESTORE', 'k', 0, dump)
    arrives(server, ['a'])
    begin()
    server.call('MOVE', 'k', 1)
    client = server.client()
    client.call('SELECT', 1)
    wait_until(lambda: client.call('XLEN', 's') == 1, 'in its database')
    begin()
    server.call('SWAPDB', 0, 1)
    client.call('DEL', 's')
    wait_until(lambda: client.call('XLEN', 's') == 1, 'in its database')


@case
def dead_letters_outlive_a_reload():
    server = shared()
    server.call('SET', 'd', 'in the way')
    server.call('LAWN.SINK', 'k', 'NONE', 'DEADLETTER', 'd')
    server.call('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 0, 'TRIES', 1)
    token = server.call('LAWN.LEASE', 'k', 'me')[0][2]
    server.call('LAWN.NACK', 'k', 'a', token)
    refused(server, 'dead letters: WRONGTYPE', times=1)
    server.call('DEBUG', 'RELOAD')
    server.call('DEL', 'd')
    arrives(server, ['a'], 'd')


# DEAD LETTERS

@case
def an_event_without_tries_left_becomes_a_dead_letter():
    server = shared()
    server.call('CONFIG', 'SET', 'notify-keyspace-events', 'Kd')
    listener = server.client()
    listener.one('SUBSCRIBE', '__keyspace@0__:k')
    server.call('LAWN.SINK', 'k', 'NONE', 'DEADLETTER', 'd')
    due = now_ms()
    server.call('LAWN.PUSH', 'k', 'a', 'p', 'AT', due, 'TRIES', 2)
    for owner in ('me', 'you'):
        client = server.client()
        client.send('LAWN.LEASE', 'k', owner, 'LEASE', 20, 'BLOCK', 0)
        equal(client.read()[0][:2], ['a', 'p'])
    arrives(server, ['a'], 'd')
    row = rows(server, 'd')[0]
    equal([row['payload'], row['tries'], row['owner']], ['p', '2', 'you'])
    assert int(row['due']) >= due
    equal(facts(server)['dead-total'], 1)
    equal(server.call('LAWN.LEN', 'k'), 0)
    heard = []
    while b'lawn.dead' not in heard:
        heard.append(listener.read()[2])
    server.call('CONFIG', 'SET', 'notify-keyspace-events', '')


@case
def a_wrong_place_for_dead_letters_does_not_hinder_the_sink():
    server = shared()
    server.call('SET', 'd', 'in the way')
    server.call('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 0, 'TRIES', 1)
    token = server.call('LAWN.LEASE', 'k', 'me')[0][2]
    equal(server.call('LAWN.NACK', 'k', 'a', token), 1)
    began = time.monotonic()
    server.call('LAWN.SINK', 'k', 'STREAM', 's', 'DEADLETTER', 'd')
    refused(server, 'dead letters: WRONGTYPE', times=4)
    for i in range(20):
        server.call('LAWN.PUSH', 'k', i, 'x', 'DELAY', 0)
        wait_until(lambda i=i: server.call('XLEN', 's') == i + 1, 'it comes')
    # far fewer attempts than events
    got = facts(server)['sink-errors']
    assert got <= most_refusals(began), (got, most_refusals(began))
    server.call('DEL', 'd')
    arrives(server, ['a'], 'd')


@case
def due_and_dead_events_are_each_delivered_in_one_tick():
    server = shared()
    server.call('LAWN.MPUSH', 'k', 'DELAY', 0, 2, 'a', 'x', 'b', 'y')
    server.call('LAWN.CONFIG', 'k', 'SET', 'tries', 1)
    for row in server.call('LAWN.LEASE', 'k', 'me', 'COUNT', 2):
        equal(server.call('LAWN.NACK', 'k', row[0], row[2]), 1)
    server.call('LAWN.MPUSH', 'k', 'DELAY', 0, 2, 'c', 'z', 'd', 'w')
    server.call('LAWN.SINK', 'k', 'STREAM', 's', 'MAXLEN', 9, 'DEADLETTER', 'd')
    arrives(server, ['a', 'b'], 'd')
    arrives(server, ['c', 'd'])
    equal([list(row) for row in rows(server)],
          [['id', 'payload', 'due', 'n']] * 2)
    equal([list(row) for row in rows(server, 'd')],
          [['id', 'payload', 'due', 'tries', 'owner']] * 2)
    equal(facts(server)['sink-errors'], 0)


# WAITING CLIENTS

@case
def a_stream_without_a_name_is_not_that_of_the_dead_letters():
    server = shared()
    server.call('LAWN.PUSH', 'k', 'dead', 'x', 'DELAY', 0, 'TRIES', 1)
    server.call('LAWN.LEASE', 'k', 'me', 'LEASE', 1)
    wait_until(lambda: server.call('LAWN.LEN', 'k', 'DEAD') == 1, 'dead')
    server.call('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 0)
    server.call('LAWN.SINK', 'k', 'STREAM', '', 'DEADLETTER', 'd')
    arrives(server, ['a'], '')
    arrives(server, ['dead'], 'd')


@case
def one_event_wakes_one_of_many_in_the_order_of_arrival():
    server = shared()
    waiters = [server.client() for _ in range(60)]
    for i, client in enumerate(waiters):
        command = ('LAWN.POLL', 'k', 'BLOCK', 0) if i % 2 else \
            ('LAWN.LEASE', 'k', 'w', 'LEASE', FAR, 'BLOCK', 0)
        server.waits(client, *command)
    for i, client in enumerate(waiters[:40]):
        server.call('LAWN.PUSH', 'k', i, 'x', 'DELAY', i % 3)
        equal(client.read()[0][0], str(i))
        equal(all(other.waits() for other in waiters[i + 1:]), True)
    # a key that arrives under another name
    server.call('LAWN.PUSH', 'other', 'o', 'x', 'DELAY', 0)
    server.call('DEL', 'k')
    server.call('RENAME', 'other', 'k')
    equal(waiters[40].read()[0][0], 'o')
    server.call('DEL', 'k')
    server.call('LAWN.PUSH', 'other', 'r', 'x', 'DELAY', 0)
    dump = server.call('DUMP', 'other')
    server.call('RESTORE', 'k', 0, dump)
    equal(waiters[41].read()[0][0], 'r')
    for client in waiters:
        client.close()


@case
def the_end_of_a_lease_wakes_waiting_clients():
    server = shared()
    for command in (('LAWN.LEASE', 'k', 'you', 'LEASE', 30, 'BLOCK', 0),
                    ('LAWN.POLL', 'k', 'BLOCK', 0)):
        client = server.client()
        server.waits(client, *command)
        before = now_ms()
        # The event is leased before the waiting client can be served.
        server.control.multi(('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 0),
                             ('LAWN.LEASE', 'k', 'me', 'LEASE', 30))
        equal(client.read()[0][0], 'a')
        assert now_ms() >= before + 30
        server.call('DEL', 'k')


# MANY

@case
def many_events_are_delivered_while_clients_are_served():
    with Server() as server:
        server.call('CONFIG', 'SET', 'lawn.tick-budget-us', 500)
        server.call('CONFIG', 'SET', 'latency-monitor-threshold', 1)
        for key in 'ab':
            server.call('LAWN.PAUSE', key)
            server.call('LAWN.SINK', key, 'STREAM', 's' + key)
            for i in range(15):
                pairs = [word for j in range(1000)
                         for word in ('%d' % (1000 * i + j), 'x' * 50)]
                server.call('LAWN.MPUSH', key, 'DELAY', 0, 1000, *pairs)
        client = server.client()
        server.waits(client, 'LAWN.POLL', 'c', 'BLOCK', 0, 'META')
        server.client().multi(('LAWN.PUSH', 'c', 'i', 'x', 'DELAY', 5),
                              ('LAWN.RESUME', 'a'), ('LAWN.RESUME', 'b'))
        row = client.read()[0]
        equal(row[:4], ['id', 'i', 'payload', 'x'])
        wait_until(lambda: server.call('XLEN', 'sa') == 15000
                   and server.call('XLEN', 'sb') == 15000, 'all')
        # neither waits for the other, and no client for both: by the server's
        # own times, because this process may have slept
        fields = dict(zip(row[::2], row[1::2]))
        served = fields[b'due'] + fields[b'late']
        first, last = ([int(server.call(verb, 's' + key, *ends, 'COUNT', 1)[0][0]
                            .split(b'-')[0]) for key in 'ab']
                       for verb, *ends in (('XRANGE', '-', '+'),
                                           ('XREVRANGE', '+', '-')))
        assert max(*first, served) < min(last), (first, served, last)
        equal(ids(server, 'sa'), [str(i) for i in range(15000)])
        assert int(server.lawn()['tick_overruns']) > 10
        server.call('CONFIG', 'SET', 'lawn.tick-budget-us', 20000)
        server.call('CONFIG', 'SET', 'lawn.tick-budget-events', 100000)
        server.call('LAWN.PAUSE', 'a')
        for i in range(10):
            pairs = [word for j in range(1000)
                     for word in ('%d' % (1000 * i + j), 'x' * 50)]
            server.call('LAWN.MPUSH', 'a', 'DELAY', 0, 1000, *pairs)
        server.call('LAWN.RESUME', 'a')
        wait_until(lambda: server.call('XLEN', 'sa') == 25000, 'all')
        assert server.call('LATENCY', 'HISTORY', 'lawn-tick'), 'it is seen'


@case
def events_that_a_tick_leaves_are_processed_at_once():
    """Not a millisecond later, by the ids of the stream; repeated on a busy
    machine."""
    def at_once():
        server = shared()
        server.call('CONFIG', 'SET', 'lawn.tick-budget-events', 1)
        client = server.client()
        client.pipe(('LAWN.SINK', f'k{i}', 'STREAM', 's') for i in range(1000))
        client.multi(*[('LAWN.PUSH', f'k{i}', 'a', 'x', 'DELAY', 5)
                       for i in range(1000)])
        wait_until(lambda: server.call('XLEN', 's') == 1000, 'all')
        server.call('CONFIG', 'SET', 'lawn.tick-budget-events', 1000)
        first, last = (int(server.call(*words, 'COUNT', 1)[0][0].split(b'-')[0])
                       for words in (('XRANGE', 's', '-', '+'),
                                     ('XREVRANGE', 's', '+', '-')))
        return last - first < 900
    wait_until(at_once, 'a thousand turns within 0.9 s')


@case
def large_payloads_stop_at_the_end_of_memory():
    with Server() as server:
        server.call('LAWN.PAUSE', 'k')
        server.call('LAWN.SINK', 'k', 'STREAM', 's')
        for i in range(40):
            server.call('LAWN.PUSH', 'k', i, 'x' * 1000000, 'DELAY', 0)
        used = int(server.info('memory')['used_memory'])
        server.call('CONFIG', 'SET', 'lawn.tick-budget-us', 1000000)
        server.call('CONFIG', 'SET', 'maxmemory', used + 8 * 10**6)
        server.call('LAWN.RESUME', 'k')
        wait_until(lambda: server.call('XLEN', 's') == 40, 'all')
        peak = int(server.info('memory')['used_memory_peak'])
        assert peak < used + 16 * 10**6, (used, peak)


# PERMISSIONS

@case
def a_user_needs_permission_for_the_sink():
    server = shared()
    server.call('ACL', 'SETUSER', 'u', 'reset', 'on', 'nopass', '+lawn.sink',
                '+lawn.push', '+ping', '+echo', '~k', '~ok*', '%R~read',
                '&open*')
    user = server.client()
    equal(user.call('AUTH', 'u', 'x'), OK)
    for allowed in (('STREAM', 'ok'), ('LIST', 'ok'), ('PUBLISH', 'open'),
                    ('SPUBLISH', 'open'), ('NONE', 'DEADLETTER', 'ok'),
                    ('STREAM', 'ok', 'MAXLEN', '~', 5, 'DEADLETTER', 'ok')):
        equal(user.call('LAWN.SINK', 'k', *allowed), OK, allowed)
    for denied in (('STREAM', 'x'), ('LIST', 'x'), ('STREAM', 'read'),
                   ('PUBLISH', 'closed'), ('SPUBLISH', 'closed'),
                   ('STREAM', 'ok', 'DEADLETTER', 'x'),
                   ('NONE', 'DEADLETTER', 'read'),
                   ('PUBLISH', 'open', 'DEADLETTER', 'x'),
                   ('stream', 'x'), ('NONE', 'deadletter', 'x')):
        reply = user.call('LAWN.SINK', 'k', *denied)
        assert isinstance(reply, resp.Error) and reply.startswith(b'NOPERM'), \
            (denied, reply)
    server.call('ACL', 'SETUSER', 'u', '~DEADLETTER', '~STREAM', '~MAXLEN',
                '&DEADLETTER', '&STREAM', '&LIST')
    for denied in (('STREAM', 'DEADLETTER', 'DEADLETTER', 'x'),
                   ('LIST', 'STREAM', 'DEADLETTER', 'x'),
                   ('PUBLISH', 'DEADLETTER', 'DEADLETTER', 'x'),
                   ('STREAM', 'MAXLEN', 'MAXLEN', '5', 'DEADLETTER', 'x')):
        reply = user.call('LAWN.SINK', 'k', *denied)
        assert isinstance(reply, resp.Error) and reply.startswith(b'NOPERM'), \
            (denied, reply)
    server.call('ACL', 'DELUSER', 'u')


@case
def a_script_sets_no_sink_because_its_user_is_unknown():
    server = shared()
    server.call('ACL', 'SETUSER', 'u', 'reset', 'on', 'nopass', '+@all', '~u:*',
                'resetchannels')
    user = server.client()
    equal(user.call('AUTH', 'u', 'x'), OK)
    for kind in ('PUBLISH', 'SPUBLISH'):
        reply = user.call('EVAL', "return redis.call('LAWN.SINK', KEYS[1], "
                          "ARGV[1], 'secret')", 1, 'u:q', kind)
        assert isinstance(reply, resp.Error), reply
    user.call('FUNCTION', 'LOAD', "#!lua name=l\nredis.register_function('f', "
              "function(k, a) return redis.call('LAWN.SINK', k[1], 'PUBLISH', "
              "'secret') end)")
    reply = user.call('FCALL', 'f', 1, 'u:q')
    assert isinstance(reply, resp.Error), reply
    equal(server.call('EXISTS', 'u:q'), 0)
    server.call('FUNCTION', 'FLUSH')
    server.call('ACL', 'DELUSER', 'u')


@case
def a_copy_has_no_sink():
    server = shared()
    server.call('ACL', 'SETUSER', 'u', 'reset', 'on', 'nopass', '+@all', '~u:*',
                '%R~k')
    user = server.client()
    equal(user.call('AUTH', 'u', 'x'), OK)
    server.call('LAWN.SINK', 'k', 'STREAM', 's', 'DEADLETTER', 'd')
    server.call('LAWN.PUSH', 'k', 'far', 'x', 'DELAY', FAR)
    equal(user.call('COPY', 'k', 'u:q'), 1)
    user.call('LAWN.PUSH', 'u:q', 'a', 'x', 'DELAY', 0)
    server.call('LAWN.PUSH', 'k', 'b', 'x', 'DELAY', 0)
    arrives(server, ['b'])
    got = facts(server, 'u:q')
    equal([got['sink'], got['dead-letter']], ['none', ''])
    equal(server.call('LAWN.LEN', 'u:q'), 2)
    equal(facts(server)['sink'], 'stream')
    server.call('ACL', 'DELUSER', 'u')


@case
def the_keys_of_a_sink_are_known():
    server = shared()
    for words, keys in (((('STREAM', 's')), ['k', 's']),
                        (('LIST', 'l', 'DEADLETTER', 'd'), ['k', 'l', 'd']),
                        (('PUBLISH', 'c'), ['k']),
                        (('STREAM', 'DEADLETTER', 'DEADLETTER', 'x'),
                         ['k', 'DEADLETTER', 'x'])):
        equal(server.call('COMMAND', 'GETKEYS', 'LAWN.SINK', 'k', *words),
              keys)


# THE CLOCK

@case
def a_clock_that_is_set_back_does_not_delay_a_sink():
    server, clock = shared_clock()
    server.call('CONFIG', 'SET', 'lawn.tick-budget-events', 100)
    server.call('LAWN.SINK', 'k', 'STREAM', 's', 'DEADLETTER', 'd')
    server.call('SET', 's', 'in the way')
    server.call('LAWN.PUSH', 'j', 'late', 'x', 'DELAY', 0)
    clock.step(3600_000)
    for first in range(0, 1000, 250):
        pairs = [word for i in range(first, first + 250) for word in (i, 'x')]
        server.call('LAWN.MPUSH', 'k', 'DELAY', 0, 250, *pairs)
    refused(server, 'WRONGTYPE')
    server.call('LAWN.PUSH', 'j', 'last', 'x', 'DELAY', 0, 'TRIES', 1)
    server.call('LAWN.CANCEL', 'j', 'late')
    server.call('LAWN.SINK', 'j', 'NONE', 'DEADLETTER', 'd')
    token = server.call('LAWN.LEASE', 'j', 'me', 'LEASE', FAR)[0][2]
    clock.step(-3600_000)
    # due events stay due, and new ones are, too
    server.call('LAWN.PUSH', 'k', 'new', 'x', 'DELAY', 0)
    equal(server.call('LAWN.NACK', 'j', 'last', token), 1)
    arrives(server, ['last'], 'd')
    server.call('DEL', 's')
    wait_until(lambda: server.call('XLEN', 's') == 1001, 'all')
    server.call('LAWN.PUSH', 'k', 'newest', 'x', 'DELAY', 0)
    wait_until(lambda: server.call('XLEN', 's') == 1002, 'the newest')
    server.call('CONFIG', 'SET', 'lawn.tick-budget-events', 1000)


# KEYS THAT ARE DELETED MEANWHILE. Errors show up with a module that checks its
# memory accesses: memcheck.py runs these cases that way.

@case
def a_key_that_expires_during_a_drain_is_left_alone():
    server = shared()
    client = server.client()
    for trial in range(30):
        server.call('FLUSHALL')
        for first in range(0, 900, 300):
            pairs = [word for i in range(first, first + 300)
                     for word in ('dead%d' % i, 'p' * 50)]
            client.call('LAWN.MPUSH', 'k', 'DELAY', 0, 300, *pairs)
        client.call('LAWN.CONFIG', 'k', 'SET', 'tries', 1)
        equal(len(client.call('LAWN.LEASE', 'k', 'me', 'LEASE', 1, 'COUNT',
                              1000)), 900)
        wait_until(lambda: client.call('LAWN.LEN', 'k', 'DEAD') == 900, 'dead')
        client.call('LAWN.MPUSH', 'k', 'DELAY', 0, 2, 'a', 'x', 'b', 'x')
        client.one('MULTI')
        client.one('LAWN.SINK', 'k', ('PUBLISH', 'SPUBLISH')[trial % 2], 'c',
                   'DEADLETTER', 'd')
        client.one('PEXPIREAT', 'k', now_ms() + 1 + trial % 3)
        client.one('EXEC')
        wait_until(lambda: client.call('EXISTS', 'k') == 0, 'it has expired')
    server.check()


@case
def a_key_that_was_renamed_to_its_sink_is_refused():
    server = shared()
    for words in (('STREAM', 's'), ('LIST', 's'), ('NONE', 'DEADLETTER', 's')):
        server.call('FLUSHALL')
        server.call('LAWN.PUSH', 'k', 'dead', 'x', 'DELAY', 0, 'TRIES', 1)
        server.call('LAWN.LEASE', 'k', 'me', 'LEASE', 1)
        wait_until(lambda: server.call('LAWN.LEN', 'k', 'DEAD') == 1, 'dead')
        server.call('LAWN.PAUSE', 'k')
        server.call('LAWN.SINK', 'k', *words)
        server.call('RENAME', 'k', 's')
        server.call('LAWN.PUSH', 's', 'a', 'x', 'DELAY', 1)
        server.call('LAWN.RESUME', 's')
        refused(server, 'dead letters: ERR a key cannot ' if 'NONE' in words
                else 'ERR a key cannot ', key='s')
        equal(server.call('LAWN.LEN', 's'), 2)
        server.call('PEXPIREAT', 's', now_ms() + 20)
        wait_until(lambda: server.call('EXISTS', 's') == 0, 'it has expired')


def thief(folder):
    """Builds the module thief.c."""
    path = f'{folder}/thief.so'
    subprocess.run([os.environ.get('CC', 'cc'), '-shared', '-fPIC', '-O1',
                    HERE / 'thief.c', '-o', path], check=True)
    return path


def use_all(server):
    """Causes every notification of a key at least once, if nothing interferes.
    """
    def leased():
        got = server.call('LAWN.LEASE', 'k', 'me', 'LEASE', 1000)
        return got[0][2] if got and isinstance(got, list) else 1
    call = server.call
    call('LAWN.CONFIG', 'k', 'SET', 'maxlen', 4, 'overflow', 'drop-oldest')
    call('LAWN.MPUSH', 'k', 'DELAY', 0, 4, 'a', 'x', 'b', 'x', 'c', 'x', 'd', 1)
    call('LAWN.PUSH', 'k', 'e', 'x', 'DELAY', 0, 'TRIES', 1, 'EVERY', 5)
    call('LAWN.UPDATE', 'k', 'c', 'y')
    call('LAWN.TOUCH', 'k', 'd', 'DELAY', 1)
    call('LAWN.POLL', 'k', 'COUNT', 1)
    call('LAWN.NACK', 'k', 'c', leased())
    call('LAWN.ACK', 'k', 'c', leased())
    call('LAWN.PUSH', 'k', 'last', 'x', 'DELAY', 0, 'TRIES', 1)
    call('LAWN.PULL', 'k', 'd')
    call('LAWN.CANCEL', 'k', 'e')
    call('LAWN.NACK', 'k', 'last', leased())
    call('LAWN.MPUSH', 'k', 'DELAY', 0, 2, 'b', 'x', 'c', 'x')
    call('LAWN.SINK', 'k', 'STREAM', 's', 'DEADLETTER', 's')
    call('LAWN.MPUSH', 'k', 'DELAY', 1, 3, 'a', 'x', 'b', 'x', 'c', 'x')
    call('LAWN.PUSH', 'other', 'z', 'x', 'DELAY', 2)
    # some iterations of the server's loop
    call('LAWN.POLL', 'other', 'BLOCK', 10)


@case
def a_key_that_another_module_removes_during_a_drain_is_left_alone():
    acts = (('DEL', 'k'), ('UNLINK', 'k'), ('RENAME', 'k', 'elsewhere'),
            ('SET', 'k', 'x'), ('LAWN.CANCEL', 'k', 'a', 'b', 'c', 'last'),
            ('LAWN.POLL', 'k'), ('FLUSHDB', 'ASYNC'), ('SWAPDB', 0, 1),
            ('EVAL', "redis.pcall('RENAME', 'k', 'e') redis.call('DEL', 'e')",
             0),
            ('EVAL', "redis.pcall('RENAME', 'k', 'e') "
             "redis.pcall('LAWN.POLL', 'e') redis.pcall('RENAME', 'e', 'f')",
             0))
    with tempfile.TemporaryDirectory() as folder:
        path = thief(folder)
        with Server() as server:
            for event in ('xadd', 'lawn.fire', 'lawn.dead', 'lawn.push',
                          'lawn.drop', 'lawn.update', 'lawn.touch',
                          'lawn.poll', 'lawn.lease', 'lawn.nack', 'lawn.ack',
                          'lawn.cancel'):
                for act in acts:
                    equal(server.call('MODULE', 'LOAD', path, event, *act), OK)
                    use_all(server)
                    equal(server.call('MODULE', 'UNLOAD', 'thief'), OK)
                    server.call('FLUSHALL')
                    server.check()


@case
def a_key_that_is_moved_during_a_drain_delivers_each_event_once():
    """Another module gives the key another name or database during a drain. The
    sink has each event once [G4], as has the append-only file."""
    moves = ((('RENAME', 'k', 'elsewhere'), 0, 'elsewhere'),
             (('MOVE', 'k', 1), 1, 'k'), (('SWAPDB', 0, 1), 0, 'k'))
    with tempfile.TemporaryDirectory() as folder:
        path = thief(folder)
        for kind, event in (('STREAM', 'xadd'), ('LIST', 'rpush')):
            for act, number, name in moves:
                with Server('appendonly', 'yes') as server:
                    there = server.client()
                    there.call('SELECT', number)
                    server.call('LAWN.MPUSH', 'k', 'DELAY', 0, 3, 'a', 'a', 'b',
                                'b', 'c', 'c')
                    server.call('LAWN.PUSH', 'k', 'd', 'd', 'AT', now_ms(),
                                'EVERY', FAR)
                    server.call('MODULE', 'LOAD', path, event, *act)
                    server.call('LAWN.SINK', 'k', kind, 's')
                    wait_until(lambda: facts(there, name)['fired'] == 4
                               if there.call('EXISTS', name) else False, 'all')
                    server.call('MODULE', 'UNLOAD', 'thief')
                    got = [words[-1] if kind == 'LIST' else
                           words[words.index('id') + 1]
                           for words in framed(server)
                           if words[0].upper() == event.upper()]
                    assert sorted(got) == ['a', 'b', 'c', 'd'], (act, got)
                    equal(there.call('LAWN.LEN', name), 1)
                    equal(there.call('LAWN.LEN', name, 'DUE'), 0)
                    server.check()
                    server.restart()
                    there = server.client()
                    there.call('SELECT', number)
                    equal(there.call('LAWN.LEN', name), 1)


@case
def a_key_swapped_to_another_database_during_a_drain_is_drained_there():
    with tempfile.TemporaryDirectory() as folder:
        path = thief(folder)
        with Server() as server:
            server.call('LAWN.MPUSH', 'k', 'DELAY', 0, 2, 'a', 'x', 'b', 'x')
            server.call('MODULE', 'LOAD', path, 'xadd', 'SWAPDB', 0, 1)
            server.call('LAWN.SINK', 'k', 'STREAM', 's')
            # each time in the other one, until nothing is left
            for number in (1, 0):
                client = server.client()
                client.call('SELECT', number)
                wait_until(lambda: client.call('LAWN.LEN', 'k') == 0, 'all')


# CLUSTER

def cluster_node():
    """A node of a separate cluster, with its own bus port."""
    return Server('cluster-enabled', 'yes', 'cluster-port', free_port(),
                  'cluster-node-timeout', 60000)


def slot_of(server, key):
    return server.call('CLUSTER', 'KEYSLOT', key)


def joined(one, other):
    """Connects two nodes; the first has all slots but one: a node without slots
    would become a replica."""
    one.call('CLUSTER', 'ADDSLOTSRANGE', 1, 16383)
    other.call('CLUSTER', 'ADDSLOTS', 0)
    other.call('CLUSTER', 'SET-CONFIG-EPOCH', 2)
    bus = one.call('CONFIG', 'GET', 'cluster-port')[1]
    other.call('CLUSTER', 'MEET', '127.0.0.1', one.port, bus)
    for node in (one, other):
        wait_until(lambda node=node: node.call('CLUSTER', 'INFO').find(
            b'cluster_state:ok') >= 0 and node.call('CLUSTER', 'INFO').find(
                b'cluster_known_nodes:2') >= 0, 'the nodes know each other')


@case
def a_sink_is_in_the_slot_of_its_key():
    with cluster_node() as server:
        server.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16383)
        wait_until(lambda: b'cluster_state:ok'
                   in server.call('CLUSTER', 'INFO'), 'it is up')
        cross = 'CROSSSLOT'
        for words in (('STREAM', 's'), ('LIST', 's'), ('SPUBLISH', 's'),
                      ('NONE', 'DEADLETTER', 's')):
            reply = server.call('LAWN.SINK', 'k', *words)
            assert isinstance(reply, resp.Error) and \
                reply.startswith(cross.encode()), (words, reply)
            words = words[:-1] + ('{k}s',)
            equal(server.call('LAWN.SINK', 'k', *words), OK)
        equal(server.call('LAWN.SINK', 'k', 'PUBLISH', 'anywhere'), OK)
        listener = server.client()
        listener.one('SSUBSCRIBE', '{k}c')
        server.call('LAWN.SINK', 'k', 'SPUBLISH', '{k}c')
        server.call('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', 1)
        equal(listener.read()[1:], ['{k}c', 'x'])
        server.call('LAWN.SINK', 'k', 'STREAM', '{k}s')
        server.call('LAWN.PUSH', 'k', 'b', 'x', 'DELAY', 1)
        arrives(server, ['b'], '{k}s')


@case
def in_a_slot_that_is_moved_no_event_is_delivered_by_two_masters():
    with cluster_node() as one, cluster_node() as other:
        joined(one, other)
        names = one.call('CLUSTER', 'MYID'), other.call('CLUSTER', 'MYID')
        slot = slot_of(one, 'k')
        for kind in ('STREAM', 'SPUBLISH', 'PUBLISH'):
            one.call('LAWN.SINK', 'k', kind, '{k}s')
            one.call('LAWN.PUSH', 'k', 'a', 'x', 'DELAY', FAR)
            other.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', names[0])
            one.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', names[1])
            before = int(other.lawn()['deferred_by_slot'])
            equal(one.call('MIGRATE', '127.0.0.1', other.port, 'k', 0, 80000),
                  OK)
            client = other.client()

            def asked(*words, client=client):
                client.call('ASKING')
                client.send_all([('ASKING',), words])
                client.read()
                return client.read()
            assert isinstance(asked('LAWN.TOUCH', 'k', 'a', 'AT', 1), int)
            wait_until(lambda: int(other.lawn()['deferred_by_slot'])
                       > before + 1, 'it is refused')
            equal(asked('LAWN.LEN', 'k'), 1)
            for node in (other, one):
                for owner in names[1:]:
                    equal(node.call('CLUSTER', 'SETSLOT', slot, 'NODE', owner),
                          OK)
            wait_until(lambda: other.call('LAWN.LEN', 'k') == 0, 'handed on')
            if kind == 'STREAM':
                arrives(other, ['a'], '{k}s')
            other.call('DEL', 'k', '{k}s')
            # back to the original node
            for node in (one, other):
                equal(node.call('CLUSTER', 'SETSLOT', slot, 'NODE', names[0]),
                      OK)
            wait_until(lambda: one.call('EXISTS', 'k') == 0, 'it is back')


@case
def a_wrong_sink_command_replies_with_its_first_error():
    server = shared()
    equal(server.call('LAWN.SINK', 'k', 'FILE', 's'),
          error("ERR syntax error near 'FILE'"))
    server.call('SET', 'text', 'x')
    equal(server.call('LAWN.SINK', 'text', 'STREAM', 's'),
          error('WRONGTYPE Operation against a key holding the wrong kind of '
                'value'))


if __name__ == '__main__':
    main(__doc__)
