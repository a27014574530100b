#!/usr/bin/env python3
"""keys.py [--server redis|valkey] [PART OF A NAME] - keys of the module under
the server's own commands: whatever happens to a key, its events move with it,
and waiting clients are woken at its new place.
"""

import re

import rdb
import resp
from resp import OK
from server import (FAR, MODULE, Server, Skip, case, equal, error, free_port,
                    main, no_number, now_ms, shared, shared_clock, wait_until)

HOUR = 3600000

def fill(client, key, count, *when):
    ids = range(count)
    for begin in range(0, count, 5000):
        part = ids[begin:begin + 5000]
        client.call('LAWN.MPUSH', key, *(when or ('DELAY', FAR)), len(part),
                    *[word for i in part for word in (f'id-{i}', f'p-{i}')])


def rich(client, key):
    """Creates a key with events and settings of all kinds."""
    client.call('LAWN.CONFIG', key, 'SET', 'maxlen', 10**6, 'maxbytes',
                10**9, 'overflow', 'drop-oldest', 'resolution-ms', 1)
    fill(client, key, 300)
    fill(client, key, 40, 'DELAY', FAR + 5)
    client.call('LAWN.PUSH', key, 'at', 'p', 'AT', 2**50)
    client.call('LAWN.PUSH', key, 'due', b'\0\r\n\xff', 'AT', 1)
    client.call('LAWN.PUSH', key, 'again', '', 'AT', 1, 'EVERY', 7777,
                'TIMES', 9)
    client.call('LAWN.PUSH', key, '', 'no id', 'DELAY', FAR, 'EVERY', 5)


# RENAME, COPY, MOVE, DUMP AND RESTORE, SWAPDB

def comes_after(command, there='new', db=0):
    """A command moves an event to another key. There it is due 40 ms after it
    was pushed, and wakes the waiting client."""
    for delay in (40, 0):
        server = shared()
        waiter, client = server.client(), server.client()
        waiter.call('SELECT', db)
        server.waits(waiter, 'LAWN.POLL', there, 'BLOCK', 0, 'META')
        pushed = now_ms()
        client.call('LAWN.PUSH', 'old', 'i', 'p', 'DELAY', delay)
        digest = server.digest('old')
        command(client)
        probe = server.client()
        probe.call('SELECT', db)
        there_still, found = probe.multi(('EXISTS', there),
                                         ('DEBUG', 'DIGEST-VALUE', there))
        if there_still:
            equal(found, [digest])
        got = waiter.read()
        assert now_ms() >= pushed + delay, 'early'
        equal([got[0][1], got[0][3]], ['i', 'p'])
        equal(probe.call('EXISTS', there), 0)
        assert got[0][7] < 10**6, f'late: {got}'


@case
def events_go_with_a_renamed_key():
    comes_after(lambda client: equal(client.call('RENAME', 'old', 'new'), OK))


@case
def events_go_with_a_key_renamed_onto_another():
    def rename(client):
        client.call('LAWN.PUSH', 'new', 'x', 'y', 'DELAY', FAR)
        equal(client.call('RENAME', 'old', 'new'), OK)
    comes_after(rename)


@case
def events_go_with_a_moved_key():
    comes_after(lambda client: equal(client.call('MOVE', 'old', 5), 1), 'old',
                5)


@case
def events_are_copied_with_a_key():
    comes_after(lambda client: equal(client.call('COPY', 'old', 'new'), 1))
    comes_after(lambda client: equal(client.call('COPY', 'old', 'new', 'DB',
                                                 3), 1), 'new', 3)


@case
def events_come_back_by_restore():
    def restore(client):
        dump = client.call('DUMP', 'old')
        equal(client.call('RESTORE', 'new', 0, dump), OK)
    comes_after(restore)


@case
def events_come_onto_a_key_that_has_others():
    """The old value is deleted when the new one arrives: with it its wake-up
    time, but not that of the new one."""
    def onto(how):
        def command(client):
            client.call('LAWN.PUSH', 'new', 'x', 'y', 'DELAY', FAR)
            how(client)
        comes_after(command)

    onto(lambda client: equal(client.call('RESTORE', 'new', 0, client.call(
        'DUMP', 'old'), 'REPLACE'), OK))
    onto(lambda client: equal(client.call('COPY', 'old', 'new', 'REPLACE'),
                              1))
    onto(lambda client: equal(client.call('RENAME', 'old', 'new'), OK))


@case
def events_go_with_a_swapped_database():
    comes_after(lambda client: equal(client.call('SWAPDB', 0, 7), OK), 'old',
                7)


@case
def a_copy_is_a_key_of_its_own():
    server = shared()
    client = server.client()
    rich(client, 'a')
    digest = server.digest('a')
    assert digest != b'0' * 40, 'the digest is empty'
    equal(client.call('COPY', 'a', 'b'), 1)
    equal(server.digest('b'), digest)
    equal(len(client.call('LAWN.POLL', 'b')), 2)
    client.call('LAWN.CANCEL', 'b', 'id-5')
    client.call('LAWN.UPDATE', 'b', 'id-6', 'other')
    client.call('LAWN.PAUSE', 'b')
    assert server.digest('b') != digest
    equal(server.digest('a'), digest)
    equal(client.call('DEL', 'b'), 1)
    equal(server.digest('a'), digest)
    equal(client.call('COPY', 'a', 'a2', 'REPLACE'), 1)
    equal(client.call('DEL', 'a'), 1)
    equal(server.digest('a2'), digest)
    equal(len(client.call('LAWN.POLL', 'a2')), 2)


@case
def dump_and_restore_keep_everything():
    server = shared()
    client = server.client()
    rich(client, 'a')
    client.call('LAWN.PAUSE', 'a')
    dump = client.call('DUMP', 'a')
    digest = server.digest('a')
    equal(client.call('RESTORE', 'b', 0, dump), OK)
    equal(server.digest('b'), digest)
    equal(client.call('RESTORE', 'b', 0, dump, 'REPLACE'), OK)
    equal(server.digest('b'), digest)
    equal(client.call('LAWN.CONFIG', 'b', 'GET'),
          client.call('LAWN.CONFIG', 'a', 'GET'))
    for id_ in ('at', 'due', 'again', '', 'id-3', 'id-299'):
        equal(client.call('LAWN.GET', 'b', id_, 'META'),
              client.call('LAWN.GET', 'a', id_, 'META'))
    equal(client.call('LAWN.POLL', 'b'), [])
    for key in 'ab':
        client.call('LAWN.RESUME', key)
    equal(client.call('LAWN.POLL', 'b'), client.call('LAWN.POLL', 'a'))
    equal(client.call('RESTORE', 'c', 1, dump), OK)
    wait_until(lambda: client.call('EXISTS', 'c') == 0, 'it expires')


@case
def a_refused_key_does_not_write_lines_of_its_own_to_the_log():
    server = shared()
    name = b'a\nFORGED\r\x1b[1m\xff' + b'x' * 1000
    dump = rdb.dump(rdb.value([], 99))
    assert isinstance(server.call('RESTORE', name, 0, dump), resp.Error)
    assert "cannot load key 'a?FORGED??[1m?x" in server.log()
    assert not re.search('^FORGED', server.log(), re.M)


@case
def a_damaged_dump_is_refused():
    server = shared()
    client = server.client()
    rich(client, 'a')
    dump = client.call('DUMP', 'a')
    for cut in range(0, len(dump), 97):
        got = client.call('RESTORE', 'b', 0, dump[:cut])
        equal(got, error('ERR DUMP payload version or checksum are wrong'))
    equal(client.call('EXISTS', 'b'), 0)


@case
def the_digest_shows_any_difference():
    server = shared()
    client = server.client()
    seen = set()

    def make(*changes):
        client.call('FLUSHALL')
        client.call('LAWN.PUSH', 'k', 'a', 'p', 'AT', 2**50, 'EVERY', 50,
                    'TIMES', 5)
        client.call('LAWN.PUSH', 'k', 'b', 'q', 'AT', 2**50)
        for args in changes:
            client.call(args[0], 'k', *args[1:])
        return server.digest('k')
    plain = make()
    equal(make(), plain)
    equal(make(('LAWN.PUSH', 'c', 'p', 'DELAY', 5), ('LAWN.CANCEL', 'c')),
          plain)
    for changes in ((('LAWN.CANCEL', 'b'),), (('LAWN.UPDATE', 'b', 'Q'),),
                    (('LAWN.TOUCH', 'b', 'BY', 1),),
                    (('LAWN.PUSH', 'a', 'p', 'AT', 2**50),),
                    (('LAWN.PUSH', 'a', 'p', 'AT', 2**50, 'EVERY', 50,
                      'TIMES', 6),),
                    (('LAWN.PUSH', 'a', 'p', 'AT', 2**50, 'EVERY', 51,
                      'TIMES', 5),),
                    (('LAWN.PUSH', 'a', 'p', 'AT', 2**50, 'EVERY', 50),),
                    (('LAWN.APPLY', 'AT', 'a', 2**50, 0, 'a e50 t5 m1'),),
                    (('LAWN.PUSH', 'c', '', 'AT', 2**50),),
                    (('LAWN.UPDATE', 'a', 'q'), ('LAWN.UPDATE', 'b', 'p')),
                    (('LAWN.CONFIG', 'SET', 'maxlen', 9),),
                    (('LAWN.CONFIG', 'SET', 'maxbytes', 9000),),
                    (('LAWN.CONFIG', 'SET', 'overflow', 'drop-oldest'),),
                    (('LAWN.CONFIG', 'SET', 'resolution-ms', 9),),
                    (('LAWN.PAUSE',),)):
        digest = make(*changes)
        assert digest not in seen and digest != plain, changes
        seen.add(digest)


# GOING AWAY

@case
def a_deleted_key_wakes_no_client_and_a_new_one_does():
    server = shared()
    waiter, client = server.client(), server.client()
    for args in (('DEL', 'k'), ('UNLINK', 'k'), ('FLUSHDB',),
                 ('FLUSHDB', 'ASYNC'), ('FLUSHALL', 'SYNC'),
                 ('FLUSHALL', 'ASYNC'), ('SET', 'k', 'v'),
                 ('PEXPIREAT', 'k', 1)):
        server.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK', 0)
        client.multi(('LAWN.PUSH', 'k', 'gone', 'p', 'DELAY', 10), args)
        client.call('DEL', 'k')
        client.call('LAWN.PUSH', 'k', 'new', 'p', 'DELAY', 25)
        equal(waiter.read(), [['new', 'p']])
        equal(client.call('DBSIZE'), 0)


@case
def a_flushed_database_leaves_the_others():
    server = shared()
    client, other = server.client(), server.client()
    other.call('SELECT', 1)
    for how in ('SYNC', 'ASYNC'):
        waiter = server.client()
        waiter.call('SELECT', 1)
        server.waits(waiter, 'LAWN.POLL', 'soon', 'BLOCK', 0)
        for each in (client, other):
            fill(each, 'k', 100)
            each.call('LAWN.PUSH', 'soon', 'i', 'p', 'DELAY', 30)
        client.call('FLUSHDB', how)
        equal(client.call('DBSIZE'), 0)
        equal(other.call('LAWN.LEN', 'k'), 100)
        equal(waiter.read(), [['i', 'p']])
        wait_until(lambda: server.lawn()['timers'] == '100', 'all are freed')
        client.call('FLUSHALL', how)
        wait_until(lambda: server.lawn()['timers'] == '0', 'all are freed')


@case
def a_flushed_key_is_not_remembered():
    server = shared()
    client, other = server.client(), server.client()
    other.call('SELECT', 3)

    def known():
        got = server.lawn()
        return int(got['registry_keys']), int(got['registry_bytes'])
    equal(known()[0], 0)
    for how in ('SYNC', 'ASYNC'):
        for each in (client, other):
            each.pipe(('LAWN.PUSH', f'k{i}', 'i', 'p', 'DELAY', FAR)
                      for i in range(500))
        full = known()
        equal(full[0], 1000)
        other.call('FLUSHDB', how)
        equal(known()[0], 500)
        assert known()[1] < full[1] * 0.7, (known(), full)
        client.call('FLUSHALL', how)
        equal(known()[0], 0)
        assert known()[1] < full[1] * 0.1, (known(), full)


@case
def a_key_expires_with_its_events():
    server = shared()
    client = server.client()
    fill(client, 'k', 1000)
    equal(client.call('PEXPIRE', 'k', 5), 1)
    wait_until(lambda: client.call('EXISTS', 'k') == 0, 'it expires')
    wait_until(lambda: server.lawn()['timers'] == '0', 'they are freed')
    client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', FAR)
    equal(client.call('PTTL', 'k'), -1)
    equal(client.call('EXPIRE', 'k', 100), 1)
    client.call('LAWN.PUSH', 'k', 'j', 'p', 'DELAY', FAR)
    assert client.call('TTL', 'k') > 90, 'a push must not end it'
    equal(client.call('PERSIST', 'k'), 1)


@case
def an_expired_key_is_treated_as_missing():
    """The command finds it expired before the server deletes it."""
    server = shared()
    client = server.client()
    client.call('DEBUG', 'SET-ACTIVE-EXPIRE', 0)
    try:
        for args, reply in ((('LAWN.POLL', 'k'), []),
                            (('LAWN.LEN', 'k'), 0),
                            (('LAWN.NEXT', 'k'), None),
                            (('LAWN.PULL', 'k', 'i'), None),
                            (('LAWN.CANCEL', 'k', 'i'), 0),
                            (('REDE.TTN', 'k'), None),
                            (('LAWN.PUSH', 'k', 'j', 'p', 'AT', 1, 'XX'),
                             None)):
            client.call('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1)
            client.call('PEXPIRE', 'k', 1)
            before = now_ms()
            wait_until(lambda: now_ms() > before + 2, 'it has expired')
            equal(client.call(*args), reply, repr(args))
            equal(client.call('EXISTS', 'k'), 0)
        client.call('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1)
        client.call('PEXPIRE', 'k', 1)
        wait_until(lambda: client.call('EXISTS', 'k') == 0, 'it has expired')
        client.call('LAWN.PUSH', 'k', 'j', 'p', 'AT', 1)
        equal(client.call('LAWN.POLL', 'k'), [['j', 'p']])
    finally:
        client.call('DEBUG', 'SET-ACTIVE-EXPIRE', 1)


@case
def a_large_key_is_freed_in_the_background():
    server = shared()
    client = server.client()
    fill(client, 'k', 100000)
    equal(server.lawn()['timers'], '100000')
    before = int(server.info('memory')['lazyfreed_objects'])
    equal(client.call('UNLINK', 'k'), 1)
    wait_until(lambda: int(server.info('memory')['lazyfreed_objects'])
               > before, 'it is freed elsewhere')
    wait_until(lambda: server.lawn()['timers'] == '0', 'all are freed')
    fill(client, 'small', 3)
    before = int(server.info('memory')['lazyfreed_objects'])
    client.call('UNLINK', 'small')
    equal(server.lawn()['timers'], '0')
    equal(int(server.info('memory')['lazyfreed_objects']), before)


@case
def evicted_keys_are_counted():
    with Server('maxmemory-policy', 'allkeys-lru') as server:
        client = server.client()
        equal(server.lawn()['evicted_keys'], '0')
        used = int(server.info('memory')['used_memory'])
        client.call('CONFIG', 'SET', 'maxmemory', used + 4 * 2**20)
        for i in range(200):
            got = client.call('LAWN.PUSH', f'k{i}', 'i', b'x' * 50000,
                              'DELAY', FAR)
            equal(got, 'i')
        client.call('CONFIG', 'SET', 'maxmemory', 0)
        gone = server.info('stats')['evicted_keys']
        assert int(gone) > 50, gone
        equal(server.lawn()['evicted_keys'], gone)
        equal(client.call('DBSIZE'), 200 - int(gone))
        equal(server.lawn()['timers'], str(200 - int(gone)))
        client.call('DEL', *[f'k{i}' for i in range(200)])
        equal(server.lawn()['evicted_keys'], gone)


@case
def keys_evicted_in_the_background_are_counted_too():
    with Server('maxmemory-policy', 'allkeys-random',
                'lazyfree-lazy-eviction', 'yes') as server:
        client = server.client()
        used = int(server.info('memory')['used_memory'])
        client.call('CONFIG', 'SET', 'maxmemory', used + 2 * 2**20)
        client.pipe(('LAWN.PUSH', f'k{i}', 'i', b'x' * 20000, 'DELAY', FAR)
                    for i in range(150))
        client.pipe(('SET', f's{i}', b'x' * 20000) for i in range(150))
        client.call('CONFIG', 'SET', 'maxmemory', 0)
        left = {b'dehy-type': 0, b'string': 0}
        for key in client.call('KEYS', '*'):
            left[bytes(client.call('TYPE', key))] += 1
        equal(int(server.lawn()['evicted_keys']), 150 - left[b'dehy-type'])
        assert left[b'string'] < 150, 'others were evicted as well'


@case
def without_memory_nothing_is_pushed_but_all_can_be_taken():
    with Server('maxmemory-policy', 'noeviction') as server:
        client = server.client()
        client.call('LAWN.MPUSH', 'k', 'AT', 1, 3, *'aabbcc')
        client.call('LAWN.PUSH', 'k', 'd', 'p', 'DELAY', FAR)
        client.call('LAWN.SINK', 'sunk', 'STREAM', 's')
        client.call('CONFIG', 'SET', 'maxmemory', 1)
        for args in (('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 1),
                     ('LAWN.MPUSH', 'k', 'DELAY', 1, 1, 'i', 'p'),
                     ('LAWN.UPDATE', 'k', 'a', 'p'),
                     ('LAWN.CONFIG', 'new', 'SET', 'maxlen', 1),
                     ('LAWN.PAUSE', 'new'),
                     ('LAWN.SINK', 'k', 'LIST', 'l'),
                     ('REDE.PUSH', 'k', 1, 'p', 'i'),
                     ('REDE.GIDPUSH', 'k', 1, 'p'),
                     ('REDE.UPDATE', 'k', 'a', 'p')):
            got = client.call(*args)
            assert got.startswith(b'OOM '), (args, got)
        equal(client.call('EXISTS', 'new'), 0)
        equal(client.call('LAWN.SINK', 'sunk', 'NONE'), OK)
        equal(client.call('EXISTS', 'sunk'), 0)
        equal(client.call('LAWN.PAUSE', 'k'), OK)
        equal(client.call('LAWN.RESUME', 'k'), OK)
        equal(client.call('LAWN.CONFIG', 'k', 'SET', 'maxlen', 9), OK)
        equal(client.call('LAWN.CONFIG', 'k', 'GET', 'maxlen'), ['maxlen', 9])
        equal(client.call('LAWN.CONFIG', 'k', 'SET', 'maxlen', 0), OK)
        equal(client.call('LAWN.GET', 'k', 'a'), 'a')
        equal(client.call('LAWN.CANCEL', 'k', 'a'), 1)
        equal(client.call('LAWN.PULL', 'k', 'b'), 'b')
        equal(client.call('LAWN.POLL', 'k'), [['c', 'c']])
        equal(client.call('REDE.PULL', 'k', 'd'), 'p')
        equal(client.call('EXISTS', 'k'), 0)


# Commands without deny-oom that create a key.
SETTERS = (('LAWN.CONFIG', 'c', 'SET', 'maxlen', 1), ('LAWN.PAUSE', 'p'),
           ('LAWN.SINK', 's', 'LIST', 'l'))


@case
def commands_that_create_a_key_are_allowed_where_a_push_is():
    # Memory runs out within a transaction, which the server has checked as a
    # whole.
    for policy in ('allkeys-lru', 'volatile-lru', 'noeviction'):
        with Server('maxmemory-policy', policy) as server:
            client = server.client()
            used = int(server.info('memory')['used_memory'])
            client.call('CONFIG', 'SET', 'maxmemory', used + 2**20)
            replies = client.multi(
                ('SETRANGE', 'grows', 2**21, 'x'),
                ('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', FAR), *SETTERS)
            equal(replies[1:], ['i'] + [OK] * len(SETTERS), policy)


@case
def commands_that_create_a_key_are_allowed_while_a_server_evicts():
    with Server('maxmemory-policy', 'allkeys-lru', 'maxmemory-eviction-tenacity',
                0) as server:
        client = server.client()
        client.pipe(('SET', f's{i}', b'x' * 2000) for i in range(5000))
        used = int(server.info('memory')['used_memory'])
        limit = used - 8 * 2**20
        # Separate commands, but read by the server at once: it evicts a few
        # keys for each.
        client.send_all([('CONFIG', 'SET', 'maxmemory', limit),
                         ('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', FAR), *SETTERS,
                         ('INFO', 'memory')])
        equal([client.read() for _ in range(5)], [OK, 'i', OK, OK, OK])
        left = int(re.search(rb'used_memory:(\d+)', client.read())[1])
        assert left > limit, 'it was evicting all the time'


@case
def commands_that_create_a_key_are_refused_if_nothing_can_be_evicted():
    with Server('maxmemory-policy', 'volatile-lru') as server:
        client = server.client()
        client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', FAR)
        client.call('CONFIG', 'SET', 'maxmemory', 1)
        for args in (('LAWN.PUSH', 'k', 'j', 'p', 'DELAY', FAR), *SETTERS):
            got = client.call(*args)
            assert got.startswith(b'OOM '), (args, got)
        equal(client.call('DBSIZE'), 1)


@case
def memory_usage_returns_the_memory_of_the_key():
    server = shared()
    client = server.client()
    client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', FAR)
    small = client.call('MEMORY', 'USAGE', 'k')
    assert 100 < small < 20000, small
    before = int(server.info('memory')['used_memory'])
    fill(client, 'k', 20000)
    taken = int(server.info('memory')['used_memory']) - before
    large = client.call('MEMORY', 'USAGE', 'k', 'SAMPLES', 0)
    assert 0.7 * taken < large < 1.3 * taken, (large, taken)
    info = client.call('LAWN.INFO', 'k')
    bytes_ = dict(zip(info[::2], info[1::2]))[b'bytes']
    assert 0.7 * bytes_ < large < 1.3 * bytes_, (large, bytes_)
    client.call('LAWN.PUSH', 'k', 'fat', b'x' * 2**20, 'DELAY', FAR)
    assert client.call('MEMORY', 'USAGE', 'k') > large + 2**20 - 4096


@case
def object_and_debug_accept_a_key_of_ours():
    server = shared()
    client = server.client()
    rich(client, 'k')
    equal(client.call('OBJECT', 'REFCOUNT', 'k'), 1)
    for args in (('OBJECT', 'ENCODING', 'k'), ('OBJECT', 'IDLETIME', 'k'),
                 ('DEBUG', 'OBJECT', 'k'), ('TOUCH', 'k'), ('TTL', 'k'),
                 ('DEBUG', 'DIGEST'), ('MEMORY', 'DOCTOR'),
                 ('MEMORY', 'STATS'), ('SORT', 'k'), ('RANDOMKEY',),
                 ('KEYS', '*'), ('SCAN', 0, 'TYPE', 'dehy-type')):
        client.call(*args)
    equal(client.call('SCAN', 0, 'TYPE', 'dehy-type', 'COUNT', 1000),
          ['0', ['k']])


# TRANSACTIONS AND SCRIPTS

@case
def in_a_transaction_nothing_waits():
    for protocol in (2, 3):
        server = shared()
        client = server.client(protocol)
        got = client.multi(('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1),
                           ('LAWN.POLL', 'k'),
                           ('LAWN.POLL', 'k', 'BLOCK', 0),
                           ('LAWN.POLL', 'none', 'BLOCK', 0, 'META'),
                           ('EXISTS', 'k'),
                           ('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 'x'),
                           ('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', FAR),
                           ('REDE.POLL', 'k'),
                           ('LAWN.LEN', 'k'))
        equal(got, ['i', [['i', 'p']], [], [], 0,
                    no_number('DELAY', 'x'),
                    'i', [], 1])


@case
def a_watched_key_of_ours_stops_a_transaction():
    server = shared()
    client, other = server.client(), server.client()
    for change in (('LAWN.PUSH', 'k', 'j', 'p', 'AT', 1),
                   ('LAWN.POLL', 'k'), ('LAWN.CANCEL', 'k', 'i'),
                   ('LAWN.UPDATE', 'k', 'i', 'q'),
                   ('LAWN.TOUCH', 'k', 'i', 'AT', 2**51),
                   ('LAWN.CONFIG', 'k', 'SET', 'maxlen', 7),
                   ('LAWN.PAUSE', 'k'), ('REDE.PULL', 'k', 'i'),
                   ('LAWN.APPLY', 'k', 'DEL', 'i')):
        client.call('FLUSHALL')
        client.call('LAWN.PUSH', 'k', 'i', 'p', 'AT', 2**50)
        client.call('LAWN.PUSH', 'k', 'now', 'p', 'AT', 1)
        client.call('WATCH', 'k')
        other.call(*change)
        client.send_all([('MULTI',), ('PING',), ('EXEC',)])
        got = [client.read() for _ in range(3)]
        equal(got[2], resp.NULL_ARRAY, repr(change))
    for calm in (('LAWN.LEN', 'k', 'DUE'), ('LAWN.GET', 'k', 'i'),
                 ('LAWN.SCAN', 'k', 0), ('LAWN.INFO', 'k'),
                 ('LAWN.NEXT', 'k'), ('REDE.XPOLL', 'k')):
        client.call('FLUSHALL')
        client.call('LAWN.PUSH', 'k', 'i', 'p', 'AT', 2**50)
        client.call('LAWN.PUSH', 'k', 'now', 'p', 'AT', 1)
        client.call('WATCH', 'k')
        other.call(*calm)
        equal(client.multi(('ECHO', 'x')), ['x'])


@case
def a_waiting_client_changes_a_watched_key_and_the_tick_does_not():
    server = shared()
    client, waiter = server.client(), server.client()
    client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 5)
    client.call('WATCH', 'k')
    wait_until(lambda: server.call('LAWN.LEN', 'k', 'DUE') == 1, 'due')
    equal(client.multi(('ECHO', 'x')), ['x'])
    server.call('DEL', 'k')
    server.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK', 0)
    # Nothing is delivered before it is watched.
    client.multi(('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 5),
                 ('LAWN.PUSH', 'k', 'far', 'p', 'DELAY', FAR),
                 ('CLIENT', 'PAUSE', 600000, 'WRITE'))
    client.call('WATCH', 'k')
    server.call('CLIENT', 'UNPAUSE')
    equal(waiter.read(), [['i', 'p']])
    client.send_all([('MULTI',), ('PING',), ('EXEC',)])
    equal([client.read() for _ in range(3)][2], resp.NULL_ARRAY)


@case
def a_caching_client_is_notified_of_changes_by_waiting_clients():
    server = shared()
    cache, waiter = server.client(3), server.client()
    cache.call('CLIENT', 'TRACKING', 'on')
    server.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK', 0)
    # Nothing is delivered before it is cached.
    server.control.multi(('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 5),
                         ('CLIENT', 'PAUSE', 600000, 'WRITE'))
    cache.send('LAWN.LEN', 'k')
    equal(cache.read(), 1)
    server.call('CLIENT', 'UNPAUSE')
    equal(waiter.read(), [['i', 'p']])
    got = cache.read()
    assert isinstance(got, resp.Push), got
    equal(list(got), ['invalidate', ['k']])
    cache.call('CLIENT', 'TRACKING', 'off')


@case
def scripts_and_functions_call_every_command():
    server = shared()
    client = server.client()

    def script(*args):
        return client.call('EVAL', 'return redis.call(unpack(ARGV))', 1, 'k',
                           *args)
    equal(script('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1), 'i')
    equal(script('LAWN.LEN', 'k', 'DUE'), 1)
    equal(script('LAWN.GET', 'k', 'i', 'META')[:2], ['payload', 'p'])
    equal(script('LAWN.POLL', 'k', 'BLOCK', 0), [['i', 'p']])
    equal(script('LAWN.POLL', 'k', 'BLOCK', 0), [])
    equal(script('REDE.PUSH', 'k', 0, 'p', 'i'), OK)
    equal(script('REDE.POLL', 'k'), ['p'])
    equal(client.call('EVAL', "redis.setresp(3) local m = redis.call("
                      "'LAWN.PUSH', KEYS[1], '*', 'p', 'DELAY', '9999999') "
                      "local i = redis.call('LAWN.INFO', KEYS[1]) "
                      "return i.map['len']", 1, 'k'), 1)
    got = script('LAWN.APPLY', 'k', 'DEL', 'i')
    assert isinstance(got, resp.Error) and b'not allowed from script' in got, \
        got
    client.call('FUNCTION', 'LOAD', 'REPLACE', """#!lua name=lawntest
        redis.register_function('lawn_push', function(keys, args)
            redis.call('LAWN.PUSH', keys[1], args[1], 'p', 'AT', 1)
            return redis.call('LAWN.POLL', keys[1], 'BLOCK', 0) end)
        redis.register_function{function_name = 'lawn_len', flags = {
            'no-writes'}, callback = function(keys, args)
            return redis.call('LAWN.LEN', keys[1]) end}
        redis.register_function{function_name = 'lawn_bad', flags = {
            'no-writes'}, callback = function(keys, args)
            return redis.call('LAWN.POLL', keys[1]) end}""")
    equal(client.call('FCALL', 'lawn_push', 1, 'other', 'i'), [['i', 'p']])
    equal(client.call('FCALL_RO', 'lawn_len', 1, 'k'), 1)
    assert isinstance(client.call('FCALL_RO', 'lawn_bad', 1, 'k'), resp.Error)
    client.call('FUNCTION', 'FLUSH')


@case
def a_push_in_a_script_wakes_waiting_clients():
    server = shared()
    waiter, client = server.client(), server.client()
    for delay in (0, 10):
        server.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK', 0)
        client.call('EVAL', "return redis.call('LAWN.PUSH', KEYS[1], 'i', 'p',"
                    "'DELAY', ARGV[1])", 1, 'k', delay)
        equal(waiter.read(), [['i', 'p']])
        server.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK', 0)
        client.multi(('LAWN.PUSH', 'k', 'j', 'p', 'DELAY', delay),
                     ('SET', 'x', 'y'))
        equal(waiter.read(), [['j', 'p']])


@case
def an_event_pushed_and_taken_in_one_transaction_wakes_no_client():
    server = shared()
    waiter, client = server.client(), server.client()
    server.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK', 0)
    client.multi(('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1),
                 ('LAWN.POLL', 'k'))
    equal(waiter.waits(), True)
    client.call('LAWN.PUSH', 'k', 'j', 'p', 'AT', 1)
    equal(waiter.read(), [['j', 'p']])


# PERMISSIONS

READS = {'get': ('i',), 'next': (), 'len': (), 'scan': (0,), 'info': ()}
WRITES = {'push': ('i', 'p', 'DELAY', FAR),
          'mpush': ('DELAY', FAR, 1, 'i', 'p'), 'cancel': ('i',),
          'pull': ('i',), 'update': ('i', 'p'), 'touch': ('i', 'DELAY', FAR),
          'poll': (), 'pause': (), 'resume': (),
          'config': ('SET', 'maxlen', 99), 'apply': ('DEL', 'i')}
REDE_READS = {'look': ('i',), 'ttn': (), 'xpoll': (), 'print': ()}
REDE_WRITES = {'push': (FAR, 'p', 'i'), 'gidpush': (FAR, 'p'),
               'pull': ('i',), 'poll': (), 'xack': ('i',),
               'update': ('i', 'p')}


def names(*tables):
    for table in tables:
        prefix = 'rede.' if table in (REDE_READS, REDE_WRITES) else 'lawn.'
        for name, args in table.items():
            yield prefix + name, args


@case
def a_user_accesses_only_permitted_keys():
    server = shared()
    server.call('ACL', 'SETUSER', 'one', 'on', 'nopass', '~a:*', '+@all')
    server.call('ACL', 'SETUSER', 'reader', 'on', 'nopass', '%R~a:*',
                '+@all')
    one, reader = server.client(), server.client()
    equal(one.call('AUTH', 'one', 'x'), OK)
    equal(reader.call('AUTH', 'reader', 'x'), OK)
    for name, args in names(READS, WRITES, REDE_READS, REDE_WRITES):
        got = one.call(name, 'b:1', *args)
        assert isinstance(got, resp.Error) and got.startswith(b'NOPERM'), \
            (name, got)
        got = one.call(name, 'a:1', *args)
        assert not isinstance(got, resp.Error) or \
            got.startswith(b'ERROR: No Such'), (name, got)
    server.call('LAWN.PUSH', 'a:1', 'i', 'p', 'DELAY', FAR)
    for name, args in names(WRITES, REDE_WRITES):
        got = reader.call(name, 'a:1', *args)
        assert isinstance(got, resp.Error) and got.startswith(b'NOPERM'), \
            (name, got)
    for name, args in names(READS, REDE_READS):
        got = reader.call(name, 'a:1', *args)
        assert not isinstance(got, resp.Error), (name, got)
    server.call('ACL', 'DELUSER', 'one', 'reader')


@case
def commands_are_in_the_categories_they_should_be():
    """By their flags. Redis 7.0 has no categories for module commands."""
    server = shared()

    def categories(name):
        return {cat.decode() for cat in
                server.call('COMMAND', 'INFO', name)[0][6]}
    if not categories('lawn.get'):
        raise Skip('no categories for modules')
    for name, _ in names(READS, REDE_READS):
        cats = categories(name)
        assert '@read' in cats and '@write' not in cats, (name, cats)
    for name, _ in names(WRITES, REDE_WRITES):
        cats = categories(name)
        assert '@write' in cats and '@read' not in cats, (name, cats)
        equal('@dangerous' in cats, name == 'lawn.apply', name)
        equal('@admin' in cats, name == 'lawn.apply', name)
    for name in ('lawn.push', 'lawn.get', 'lawn.next'):
        assert '@fast' in categories(name), name
    server.call('ACL', 'SETUSER', 'reader', 'on', 'nopass', '~*', '+@read')
    reader = server.client()
    reader.one('AUTH', 'reader', 'x')
    equal(reader.one('LAWN.LEN', 'k'), 0)
    assert reader.one('LAWN.POLL', 'k').startswith(b'NOPERM')
    server.call('ACL', 'DELUSER', 'reader')


@case
def only_administrators_may_apply():
    """Also on servers without categories for module commands."""
    server = shared()
    add = ('LAWN.APPLY', 'k', 'ADD', 'i', 'p', '5', '0', '')
    for rules, may in ((('+@all', '-@admin', '-@dangerous'), False),
                       (('+@all', '-@dangerous'), False),
                       (('+lawn.apply',), server.kind == 'valkey'),
                       (('+@all',), True)):
        server.call('ACL', 'SETUSER', 'one', 'reset', 'on', 'nopass', '~*',
                    *rules)
        one = server.client()
        one.one('AUTH', 'one', 'x')
        for _ in range(3):
            got = one.one(*add)
            if may:
                equal(got, OK, rules)
            else:
                assert got.startswith(b'NOPERM'), (rules, got)
                equal(server.call('EXISTS', 'k'), 0)
        server.call('DEL', 'k')
    server.call('ACL', 'DELUSER', 'one')
    equal(server.call(*add), OK)
    categories = server.call('COMMAND', 'INFO', 'lawn.apply')[0][6]
    equal('does not support ACL categories' in server.log(), not categories)


@case
def a_user_may_be_given_single_commands():
    server = shared()
    server.call('ACL', 'SETUSER', 'one', 'on', 'nopass', '~*', '+lawn.push',
                '+lawn.len')
    one = server.client()
    one.one('AUTH', 'one', 'x')
    equal(one.one('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1), 'i')
    equal(one.one('lawn.len', 'k'), 1)
    assert one.one('LAWN.POLL', 'k').startswith(b'NOPERM')
    assert one.one('LAWN.APPLY', 'k', 'DEL', 'i').startswith(b'NOPERM')
    server.call('ACL', 'DELUSER', 'one')


@case
def commands_have_the_flags_they_should_have():
    client = shared().client()
    wanted = {
        'lawn.push': (-6, {'write', 'denyoom', 'fast'}),
        'lawn.mpush': (-7, {'write', 'denyoom'}),
        'lawn.cancel': (-3, {'write'}), 'lawn.pull': (3, {'write'}),
        'lawn.get': (-3, {'readonly', 'fast'}),
        'lawn.update': (4, {'write', 'denyoom'}),
        'lawn.touch': (-5, {'write'}), 'lawn.poll': (-2, {'write'}),
        'lawn.next': (2, {'readonly', 'fast'}),
        'lawn.len': (-2, {'readonly'}), 'lawn.scan': (-3, {'readonly'}),
        'lawn.info': (2, {'readonly'}), 'lawn.config': (-3, {'write'}),
        'lawn.pause': (2, {'write'}), 'lawn.resume': (2, {'write'}),
        'lawn.sink': (-3, {'write', 'noscript'}),
        'lawn.apply': (None, {'write', 'admin', 'noscript'}),
        'rede.look': (3, {'readonly'}), 'rede.ttn': (2, {'readonly'}),
        'rede.xpoll': (-2, {'readonly'}), 'rede.print': (2, {'readonly'}),
        'rede.push': (5, {'write', 'denyoom'}),
        'rede.gidpush': (4, {'write', 'denyoom'}),
        'rede.pull': (3, {'write'}), 'rede.poll': (-2, {'write'}),
        'rede.xack': (-3, {'write'}),
        'rede.update': (4, {'write', 'denyoom'})}
    for name, (arity, flags) in wanted.items():
        got = client.call('COMMAND', 'INFO', name)[0]
        equal(got[0], name)
        if arity is not None:
            equal(got[1], arity, name)
        have = {flag.decode() for flag in got[2]}
        assert flags <= have, (name, flags, have)
        for both in ({'write', 'readonly'},):
            assert not both <= have, (name, have)
        if 'denyoom' not in flags:
            assert 'denyoom' not in have, (name, have)
        equal(got[3:6], [1, 1, 1], name)
    equal(client.call('COMMAND', 'INFO', 'rede.test')[0][3:6], [0, 0, 0])


@case
def the_server_finds_the_keys_of_every_command():
    client = shared().client()
    for name, args in names(READS, WRITES, REDE_READS, REDE_WRITES):
        equal(client.call('COMMAND', 'GETKEYS', name, 'the key', *args),
              ['the key'], name)
        (key, flags), = client.call('COMMAND', 'GETKEYSANDFLAGS', name,
                                    'the key', *args)
        equal(key, 'the key')
        flags = {bytes(flag) for flag in flags}
        assert flags & {b'RW', b'RO', b'OW', b'RM'}, (name, flags)
        read_only = (name, args) in list(names(READS, REDE_READS))
        equal(b'RO' in flags, read_only, name)


@case
def every_command_has_its_documentation():
    client = shared().client()
    for name, args in [*names(READS, WRITES, REDE_READS, REDE_WRITES),
                       ('rede.test', None)]:
        got = client.call('COMMAND', 'DOCS', name)
        equal(got[0], name)
        docs = dict(zip(got[1][::2], got[1][1::2]))
        for field in (b'summary', b'since', b'group', b'complexity',
                      b'module'):
            assert docs.get(field), (name, field)
        equal(docs[b'module'], 'lawn')
        assert re.fullmatch(rb'\d+\.\d+(\.\d+)?', docs[b'since']), docs
        assert docs[b'complexity'].startswith(b'O('), docs
        assert len(docs[b'summary']) < 120, docs
        if args is not None:
            first = docs[b'arguments'][0]
            first = dict(zip(first[::2], first[1::2]))
            equal(first[b'type'], 'key', name)
            equal(first[b'key_spec_index'], 0, name)


def tokens(arguments):
    """Returns all keywords of the arguments in COMMAND DOCS."""
    for argument in arguments:
        fields = dict(zip(argument[::2], argument[1::2]))
        if b'token' in fields:
            yield fields[b'token'].decode()
        yield from tokens(fields.get(b'arguments', []))


@case
def the_documentation_names_every_word_of_a_command():
    client = shared().client()
    for name, wanted in (
            ('push', 'DELAY AT NX XX EVERY TIMES JITTER'),
            ('mpush', 'DELAY AT'), ('get', 'META'),
            ('touch', 'DELAY AT BY GT LT'), ('poll', 'COUNT BLOCK META'),
            ('len', 'WAITING DUE'), ('config', 'GET SET'),
            ('scan', 'COUNT STATE MATCH')):
        docs = client.call('COMMAND', 'DOCS', 'lawn.' + name)[1]
        docs = dict(zip(docs[::2], docs[1::2]))
        have = {token.upper() for token in tokens(docs[b'arguments'])}
        assert set(wanted.split()) <= have, (name, have)


# NOTIFICATIONS

def listen(server, classes):
    server.call('CONFIG', 'SET', 'notify-keyspace-events', classes)
    client = server.client()
    client.send('PSUBSCRIBE', '__keyspace@*__:*')
    client.read()
    return client


def heard(server, listener):
    """Returns the notifications up to now."""
    server.call('PUBLISH', '__keyspace@0__:end', 'end')
    got = []
    while (message := listener.read())[3] != b'end':
        got.append((message[2].decode().split(':', 1)[1],
                    message[3].decode()))
    return got


@case
def changes_are_reported_to_listeners():
    server = shared()
    listener = listen(server, 'Kgd')
    client = server.client()
    try:
        for args, events in (
                (('PUSH', 'k', 'i', 'p', 'DELAY', FAR), ['lawn.push']),
                (('MPUSH', 'k', 'DELAY', FAR, 2, *'aabb'), ['lawn.push']),
                (('PUSH', 'k', 'i', 'p', 'DELAY', FAR, 'NX'), []),
                (('UPDATE', 'k', 'i', 'q'), ['lawn.update']),
                (('UPDATE', 'k', 'x', 'q'), []),
                (('TOUCH', 'k', 'i', 'AT', 2**50), ['lawn.touch']),
                (('TOUCH', 'k', 'i', 'AT', 2**50, 'GT'), []),
                (('CANCEL', 'k', 'a'), ['lawn.cancel']),
                (('CANCEL', 'k', 'a', 'x'), []),
                (('PULL', 'k', 'b'), ['lawn.cancel']),
                (('PULL', 'k', 'b'), []),
                (('POLL', 'k'), []), (('LEN', 'k'), []),
                (('GET', 'k', 'i'), []),
                (('PUSH', 'k', 'j', 'p', 'AT', 1), ['lawn.push']),
                (('POLL', 'k'), ['lawn.poll']),
                (('PULL', 'k', 'i'), ['lawn.cancel', 'del']),
                (('PUSH', 'k', 'j', 'p', 'AT', 1), ['lawn.push']),
                (('POLL', 'k'), ['lawn.poll', 'del'])):
            client.call('LAWN.' + args[0], *args[1:])
            got = [event for key, event in heard(server, listener)
                   if event != 'lawn.fire']
            equal(got, events, repr(args))
    finally:
        server.call('CONFIG', 'SET', 'notify-keyspace-events', '')


@case
def a_key_with_due_events_is_reported_by_the_tick():
    server = shared()
    listener = listen(server, 'Kd')
    client = server.client()
    try:
        before = now_ms()
        client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 15)
        equal(listener.read()[3], 'lawn.push')
        equal(listener.read()[2:], ['__keyspace@0__:k', 'lawn.fire'])
        assert now_ms() >= before + 15
        client.call('LAWN.POLL', 'k')
        equal(listener.read()[3], 'lawn.poll')
        # An event whose notification is pending when the key is paused.
        client.multi(('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 5),
                     ('LAWN.PAUSE', 'k'),
                     ('LAWN.PUSH', 'other', 'i', 'p', 'DELAY', 10))
        seen = []
        while ('other', b'lawn.fire') not in seen:
            message = listener.read()
            seen.append((message[2].decode().split(':', 1)[1], message[3]))
        assert ('k', b'lawn.fire') not in seen, seen
        client.call('LAWN.RESUME', 'k')
        equal(client.call('LAWN.POLL', 'k'), [['i', 'p']])
    finally:
        server.call('CONFIG', 'SET', 'notify-keyspace-events', '')


def fires(server, listener):
    """Returns how often each key was notified as due, up to now."""
    got = [key for key, event in heard(server, listener)
           if event == 'lawn.fire']
    return {key: got.count(key) for key in got}


def ticked(server, delay=3):
    """Waits until another key, which is due later, was notified."""
    server.call('LAWN.PUSH', 'clock', 'i', 'p', 'DELAY', delay)
    wait_until(lambda: server.call('LAWN.NEXT', 'clock') == 0, 'due')
    count = int(server.lawn()['wake_late_us_count'])
    server.call('LAWN.PUSH', 'clock', 'j', 'p', 'DELAY', 1)
    wait_until(lambda: int(server.lawn()['wake_late_us_count']) > count,
               'a tick')
    server.call('LAWN.POLL', 'clock')


@case
def each_time_that_something_becomes_due_is_reported_once():
    server, clock = shared_clock()
    listener = listen(server, 'Kd')
    client = server.client()

    def expect_fires(count, what):
        got = fires(server, listener)
        got.pop('clock', None)
        equal(got, {'k': count} if count else {}, what)
    try:
        client.call('LAWN.PUSH', 'k', 'a', 'p', 'DELAY', 5)
        ticked(server, 10)
        expect_fires(1, 'the first')
        client.multi(('LAWN.PUSH', 'two', 'a', 'p', 'DELAY', 5),
                     ('LAWN.PUSH', 'two', 'b', 'p', 'DELAY', HOUR))
        ticked(server, 10)
        equal(fires(server, listener)['two'], 1, 'one of two')
        clock.step(2 * HOUR)
        ticked(server, 10)
        equal(fires(server, listener)['two'], 1, 'the other')
        client.call('LAWN.PUSH', 'k', 'b', 'p', 'DELAY', 5)
        ticked(server, 10)
        expect_fires(1, 'a second, in addition to the first')
        client.multi(('LAWN.PUSH', 'k', 'c', 'p', 'DELAY', 5),
                     ('LAWN.POLL', 'k', 'COUNT', 1))
        wait_until(lambda: client.call('LAWN.LEN', 'k', 'DUE') == 2, 'due')
        ticked(server, 10)
        expect_fires(1, 'a third, that a client has seen before the tick')
        ticked(server, 10)
        expect_fires(0, 'nothing is new')
        client.multi(('LAWN.PUSH', 'k', 'd', 'p', 'DELAY', 5),
                     ('LAWN.CANCEL', 'k', 'd'))
        ticked(server, 10)
        expect_fires(0, 'a notification of a canceled event')
        for args in (('PUSH', 'k', 'e', 'p', 'DELAY', 0),
                     ('PUSH', 'k', 'f', 'p', 'AT', 1),
                     ('MPUSH', 'k', 'DELAY', 0, 2, *'gghh'),
                     ('TOUCH', 'k', 'a', 'DELAY', 0),
                     ('TOUCH', 'k', 'e', 'BY', -5)):
            expected = args[2] != 'a'  # a was taken
            client.call('LAWN.' + args[0], *args[1:])
            ticked(server)
            expect_fires(int(expected), repr(args))
        client.call('REDE.PUSH', 'k', 0, 'p', 'z')
        expect_fires(1, 'REDE.PUSH')
        at = server.clock() + HOUR
        client.multi(*[('LAWN.PUSH', 'k', i, 'p', 'AT', at)
                       for i in range(3000)])
        clock.step(2 * HOUR)
        ticked(server)
        expect_fires(1, 'many at once')
    finally:
        server.call('CONFIG', 'SET', 'notify-keyspace-events', '')


@case
def a_paused_key_is_reported_when_it_is_resumed():
    server, clock = shared_clock()
    listener = listen(server, 'Kd')
    client = server.client()
    try:
        client.call('LAWN.PAUSE', 'k')
        client.call('LAWN.PUSH', 'k', 'a', 'p', 'DELAY', 0)
        client.call('LAWN.PUSH', 'k', 'b', 'p', 'DELAY', 5)
        client.call('LAWN.TOUCH', 'k', 'a', 'DELAY', 0)
        ticked(server, 10)
        equal(fires(server, listener).get('k', 0), 0)
        client.multi(('LAWN.PUSH', 'k', 'c', 'p', 'DELAY', HOUR),
                     ('LAWN.RESUME', 'k'))
        equal(fires(server, listener).get('k', 0), 1)
        clock.step(2 * HOUR)
        ticked(server, 10)
        equal(fires(server, listener).get('k', 0), 1)
        client.call('LAWN.PAUSE', 'far')
        client.call('LAWN.PUSH', 'far', 'a', 'p', 'DELAY', FAR)
        client.call('LAWN.RESUME', 'far')
        equal(fires(server, listener).get('far', 0), 0)
    finally:
        server.call('CONFIG', 'SET', 'notify-keyspace-events', '')


@case
def events_that_a_waiting_client_takes_are_reported_too():
    server = shared()
    waiter = server.client()
    server.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK', 0)
    listener = listen(server, 'Kgd')
    try:
        server.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 5)
        equal(waiter.read(), [['i', 'p']])
        equal([event for _, event in heard(server, listener)],
              ['lawn.push', 'lawn.fire', 'lawn.poll', 'del'])
    finally:
        server.call('CONFIG', 'SET', 'notify-keyspace-events', '')


@case
def thousands_of_keys_are_reported_each_once():
    server = shared()
    count = 3000
    listener = listen(server, 'Kd')
    client = server.client()
    try:
        at = now_ms() + 20
        client.pipe(('LAWN.PUSH', f'k{i}', 'i', 'p', 'DELAY', 20 + i % 5)
                    for i in range(count))
        fired = []
        while len(fired) < count:
            message = listener.read()
            if message[3] == b'lawn.fire':
                fired.append(message[2])
                assert now_ms() >= at
        equal(len(set(fired)), count)
        equal(sum(event == 'lawn.fire' for _, event in
                  heard(server, listener)), 0)
    finally:
        server.call('CONFIG', 'SET', 'notify-keyspace-events', '')


# SETTINGS AND NUMBERS

DEFAULTS = {'lawn.tick-budget-events': 1000, 'lawn.tick-budget-us': 2000,
            'lawn.max-batch': 1000, 'lawn.max-ttls': 4096,
            'lawn.max-payload': 2**20, 'lawn.default-lease': 30000,
            'lawn.default-tries': 0}


@case
def settings_are_the_servers_own():
    server = shared()
    client = server.client(3)
    got = client.call('CONFIG', 'GET', 'lawn.*')
    equal({key.decode(): int(value) for key, value in got.items()} ==
          DEFAULTS, True, repr(got))
    for name, default in DEFAULTS.items():
        equal(client.call('CONFIG', 'SET', name, 50), OK)
        equal(client.call('CONFIG', 'GET', name), {name.encode(): b'50'})
        for bad in ('x', '', '-1', '1.5', '9' * 30):
            got = client.call('CONFIG', 'SET', name, bad)
            assert isinstance(got, resp.Error), (name, bad, got)
            equal(client.call('CONFIG', 'GET', name), {name.encode(): b'50'})
        equal(client.call('CONFIG', 'SET', name, default), OK)
    equal(client.call('CONFIG', 'SET', 'lawn.max-payload', '2kb'), OK)
    equal(client.call('CONFIG', 'GET', 'lawn.max-payload'),
          {b'lawn.max-payload': b'2048'})
    equal(client.call('CONFIG', 'SET', 'lawn.max-payload', '1mb'), OK)


@case
def settings_can_be_given_at_the_start():
    with Server('lawn.max-batch', 2, 'lawn.max-payload', '3') as server:
        equal(server.call('LAWN.MPUSH', 'k', 'AT', 1, 3, *'aabbcc'), 3)
        equal(len(server.call('LAWN.POLL', 'k')), 2)
        equal(server.call('LAWN.PUSH', 'k', 'i', 'four', 'AT', 1),
              error('ERR payload of 4 bytes exceeds lawn.max-payload '
                    'of 3 bytes'))


@case
def a_tick_with_the_smallest_budget_fires_everything():
    server = shared()
    client = server.client()
    client.call('CONFIG', 'SET', 'lawn.tick-budget-events', 1)
    try:
        waiters = [server.client() for _ in range(30)]
        for i, waiter in enumerate(waiters):
            server.waits(waiter, 'LAWN.POLL', f'k{i}', 'BLOCK', 0)
        overruns = int(server.lawn()['tick_overruns'])
        # In one transaction, so that no tick runs in between.
        client.multi(*[('LAWN.PUSH', f'k{i}', i, 'p', 'DELAY', 5)
                       for i in range(30)])
        for i, waiter in enumerate(waiters):
            equal(waiter.read(), [[str(i), 'p']])
        assert int(server.lawn()['tick_overruns']) > overruns
    finally:
        client.call('CONFIG', 'SET', 'lawn.tick-budget-events', 1000)


@case
def a_tick_ends_when_its_time_is_over():
    server = shared()
    client = server.client()
    client.call('CONFIG', 'SET', 'lawn.tick-budget-us', 10)
    try:
        overruns = int(server.lawn()['tick_overruns'])
        client.multi(*[('LAWN.PUSH', f'k{i}', i, 'p', 'DELAY', 5)
                       for i in range(500)])
        wait_until(lambda: server.lawn()['registry_keys'] == '0', 'all notified')
        assert int(server.lawn()['tick_overruns']) > overruns
    finally:
        client.call('CONFIG', 'SET', 'lawn.tick-budget-us', 2000)


@case
def percentiles_are_those_they_are_called():
    with Server() as server:
        past = now_ms() - 60000
        for i in range(60):
            server.call('LAWN.PUSH', 'now', i, 'p', 'AT', 1)
            server.call('LAWN.POLL', 'now')
        for i in range(40):
            server.call('LAWN.PUSH', f'soon{i}', i, 'p', 'DELAY', 5)
        wait_until(lambda: server.lawn()['wake_late_us_count'] == '40', 'notified')
        for i in range(10):
            server.call('LAWN.APPLY', f'past{i}', 'ADD', i, 'p', past, 0, '')
        wait_until(lambda: server.lawn()['wake_late_us_count'] == '50', 'notified')
        for i in range(10):
            server.call('LAWN.POLL', f'past{i}')
        got = {name: int(value) for name, value in server.lawn().items()}
        assert got['late_ms_p50'] < 1000, got
        assert 50000 < got['late_ms_p99'] <= got['late_ms_max'] * 1.05, got
        assert got['wake_late_us_p50'] < 10**7, got
        for name in ('p99', 'p999', 'max'):
            assert 5 * 10**7 < got[f'wake_late_us_{name}'], (name, got)


@case
def the_lateness_of_a_wake_up_counts_from_the_arrival_of_the_key():
    with Server() as server:
        client = server.client()
        for i, how in enumerate((('RENAME', 'old', 'new'),
                                 ('MOVE', 'old', 2), ('COPY', 'old', 'new'))):
            client.multi(('LAWN.APPLY', 'old', 'ADD', 'i', 'p', 1000, 0, ''),
                         how, ('DEL', 'old'))
            wait_until(lambda i=i: server.lawn()['wake_late_us_count']
                       == str(i + 1), 'it is notified')
            client.call('FLUSHALL')
        assert int(server.lawn()['wake_late_us_max']) < 10**9, server.lawn()


@case
def dropped_and_missed_are_counted_for_all_keys():
    with Server() as server:
        client = server.client()
        equal((server.lawn()['dropped_total'], server.lawn()['missed_total'])
              == ('0', '0'), True)
        for key in 'xy':
            client.call('LAWN.CONFIG', key, 'SET', 'maxlen', 3, 'overflow',
                        'drop-oldest')
            for i in range(5):
                client.call('LAWN.PUSH', key, i, 'p', 'DELAY', FAR)
        equal(server.lawn()['dropped_total'] == '4', True)
        due = now_ms() - 5500
        client.call('LAWN.APPLY', 'z', 'ADD', 'i', 'p', due, 0, 'e1000')
        client.call('LAWN.POLL', 'z')
        missed = int(server.lawn()['missed_total'])
        assert 5 <= missed <= (now_ms() - due) // 1000 + 1, missed


@case
def info_reports_the_numbers_of_the_module():
    with Server() as server:
        client = server.client()
        got = server.lawn()
        for name in ('keys', 'timers', 'leased', 'dead', 'fired_total', 'pushed_total',
                     'wake_late_us_p50', 'wake_late_us_p99',
                     'wake_late_us_p999', 'wake_late_us_max',
                     'wake_late_us_count', 'deferred_by_pause',
                     'tick_overruns', 'evicted_keys'):
            equal(got.get(name), '0', name)
        for key in 'xyz':
            fill(client, key, 10)
        client.call('LAWN.MPUSH', 'x', 'AT', 1, 4, *'aabbccdd')
        equal(len(client.call('LAWN.POLL', 'x', 'COUNT', 3)), 3)
        client.call('LAWN.PUSH', 'soon', 'i', 'p', 'DELAY', 5)
        waiter = server.client()
        waiter.send('LAWN.POLL', 'soon', 'BLOCK', 0)
        waiter.read()
        got = server.lawn()
        equal((got['keys'], got['timers'], got['fired_total'],
               got['pushed_total']) == ('3', '31', '4', '35'), True,
              repr(got))
        assert int(got['wake_late_us_count']) >= 1, got
        assert (0 < int(got['wake_late_us_p50']) <= int(
            got['wake_late_us_max']) * 1.02 < 10**9), got
        everything = server.call('INFO', 'everything').decode()
        assert 'timers:31' in everything, 'INFO everything has it'
        assert 'timers:31' in server.call('INFO', 'modules').decode()
        assert 'timers:' not in server.call('INFO').decode()
        client.call('LAWN.PUSH', 'dead', 'i', 'p', 'DELAY', 0, 'TRIES', 1)
        token = client.call('LAWN.LEASE', 'dead', 'w')[0][2]
        equal([server.lawn()[name] for name in ('leased', 'dead')], ['1', '0'])
        client.call('LAWN.NACK', 'dead', 'i', token)
        equal([server.lawn()[name] for name in ('leased', 'dead')], ['0', '1'])
        client.call('COPY', 'dead', 'as well')
        equal(server.lawn()['dead'], '2')
        client.call('LAWN.TOUCH', 'dead', 'i', 'DELAY', FAR)
        equal(server.lawn()['dead'], '1')
        client.call('FLUSHALL')
        wait_until(lambda: server.lawn()['timers'] == '0', 'all are freed')
        equal(server.lawn()['dead'], '0')
        wait_until(lambda: server.lawn()['keys'] == '0', 'all are freed')


@case
def thousands_of_delays_come_in_order():
    """More delays than have their own queue, with a small limit."""
    server = shared()
    client = server.client()
    client.call('CONFIG', 'SET', 'lawn.max-ttls', 8)
    try:
        delays = [i * 7919 % 3001 for i in range(3001)]
        begun = now_ms()
        client.pipe(('LAWN.PUSH', 'k', delay, 'p', 'DELAY', FAR + delay)
                    for delay in delays)
        assert client.call('LAWN.LEN', 'k') == 3001
        digest = server.digest('k')
        client.call('COPY', 'k', 'copy')
        equal(server.digest('copy'), digest)
        client.pipe(('LAWN.PUSH', 'k', delay, 'p', 'DELAY', delay // 100)
                    for delay in delays)
        got = []

        def everything():
            got.extend(client.call('LAWN.POLL', 'k', 'COUNT', 100, 'META'))
            return len(got) >= 3001
        wait_until(everything, 'all of them')
        for row in got:
            assert row[5] >= begun + int(row[1]) // 100, row
        equal(len({row[1] for row in got}), 3001)
        equal(client.call('EXISTS', 'k'), 0)
    finally:
        client.call('CONFIG', 'SET', 'lawn.max-ttls', 4096)


@case
def nothing_leaks():
    server = shared()
    client = server.client()

    def round_trip():
        fill(client, 'k', 5000, 'AT', 1)
        for begin in range(0, 5000, 50):
            client.call('LAWN.UPDATE', 'k', f'id-{begin}', b'x' * 500)
            client.call('LAWN.TOUCH', 'k', f'id-{begin}', 'AT', 1)
            client.call('LAWN.PULL', 'k', f'id-{begin + 1}')
            client.call('LAWN.PUSH', 'k', '*', 'x', 'AT', 1, 'EVERY', 5,
                        'TIMES', 2)
            client.call('LAWN.PUSH', 'k', f'id-{begin}', 'x', 'DELAY', 'y')
            client.call('REDE.GIDPUSH', 'k', 0, 'p')
        client.call('LAWN.MPUSH', 'k', 'DELAY', 1, 3, *'abcd')
        client.call('LAWN.SCAN', 'k', 0, 'COUNT', 10**6)
        client.call('COPY', 'k', 'k2')
        client.call('RESTORE', 'k3', 0, client.call('DUMP', 'k'))
        client.call('RENAME', 'k', 'k4')
        wait_until(lambda: client.call('LAWN.POLL', 'k4', 'COUNT', 10**4)
                   == [] and not client.call('EXISTS', 'k4'), 'all taken')
        client.call('DEL', 'k2', 'k3')
        client.call('SWAPDB', 0, 1)

    def used():
        client.call('MEMORY', 'PURGE')
        return int(server.info('memory')['used_memory'])
    for _ in range(3):
        round_trip()
    before = used()
    for _ in range(6):
        round_trip()
    equal(client.call('DBSIZE'), 0)
    wait_until(lambda: server.lawn()['timers'] == '0', 'all are freed')
    # The memory of connections varies.
    wait_until(lambda: used() - before < 150000, 'memory is given back')


@case
def the_module_cannot_be_loaded_twice_nor_be_unloaded():
    with Server(module=False) as server:
        client = server.client()
        equal(client.call('MODULE', 'LOAD', MODULE), OK)
        equal(client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 5), 'i')
        for args in (('MODULE', 'LOAD', MODULE), ('MODULE', 'UNLOAD', 'lawn')):
            got = client.call(*args)
            assert isinstance(got, resp.Error), (args, got)
        equal(client.call('LAWN.POLL', 'k', 'BLOCK', 0), [['i', 'p']])
        row, = client.call('MODULE', 'LIST')
        equal(row[:2], ['name', 'lawn'])


@case
def timers_that_come_before_the_server_has_begun_fire():
    # The module and the dump file are loaded before the server's loop runs.
    with Server() as server:
        server.call('LAWN.PUSH', 'due', 'i', 'p', 'AT', 1)
        at = now_ms() + 2000
        server.call('LAWN.PUSH', 'soon', 'i', 'p', 'AT', at)
        equal(server.call('SAVE'), OK)
        server.restart(kill=True)
        wait_until(lambda: server.lawn()['wake_late_us_count'] != '0',
                   'due events are notified')
        wait_until(lambda: server.lawn()['wake_late_us_count'] == '2',
                   'events that become due are notified')
        assert now_ms() >= at, (now_ms(), at)
        equal(server.call('LAWN.POLL', 'soon'), [['i', 'p']])


@case
def a_key_migrates_to_another_server():
    with Server() as other:
        server = shared()
        client = server.client()
        rich(client, 'k')
        digest = server.digest('k')
        pushed = now_ms()
        client.call('LAWN.PUSH', 'soon', 'i', 'p', 'DELAY', 100)
        equal(client.call('MIGRATE', '127.0.0.1', other.port, '', 0, 80000,
                          'KEYS', 'k', 'soon'), OK)
        equal(client.call('DBSIZE'), 0)
        equal(other.digest('k'), digest)
        equal(other.client().call('LAWN.POLL', 'soon', 'BLOCK', 0),
              [['i', 'p']])
        assert now_ms() >= pushed + 100


@case
def a_cluster_of_one_fires():
    with Server('cluster-enabled', 'yes', 'cluster-config-file', 'nodes',
                'cluster-port', free_port(), 'cluster-require-full-coverage',
                'no') as server:
        client = server.client()
        equal(client.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16383), OK)
        wait_until(lambda: 'cluster_state:ok' in client.call(
            'CLUSTER', 'INFO').decode(), 'the cluster is well')
        equal(client.call('LAWN.PUSH', '{a}k', 'i', 'p', 'DELAY', 10), 'i')
        equal(client.call('LAWN.POLL', '{a}k', 'BLOCK', 0), [['i', 'p']])
        waiter = server.client()
        server.waits(waiter, 'LAWN.POLL', '{a}k', 'BLOCK', 0)
        slot = client.call('CLUSTER', 'KEYSLOT', 'a')
        client.call('LAWN.PUSH', '{a}k', 'i', 'p', 'DELAY', 40)
        equal(client.call('CLUSTER', 'DELSLOTS', slot), OK)
        got = waiter.read()
        assert isinstance(got, resp.Error) or got == [[b'i', b'p']], got
        equal(client.call('PING'), resp.Simple(b'PONG'))


@case
def reloading_changes_nothing():
    server = shared()
    client = server.client()
    rich(client, 'a')
    fill(client, 'b', 3000)
    fill(client, 'b', 500, 'AT', 2**50)
    client.call('LAWN.PAUSE', 'c')
    digests = [server.digest(key) for key in 'abc']
    equal(client.call('DEBUG', 'RELOAD'), OK)
    equal([server.digest(key) for key in 'abc'], digests)
    equal(client.call('LAWN.LEN', 'b'), 3000)
    waiter = server.client()
    server.waits(waiter, 'LAWN.POLL', 'soon', 'BLOCK', 0)
    client.call('LAWN.PUSH', 'soon', 'i', 'p', 'DELAY', 60)
    equal(client.call('DEBUG', 'RELOAD'), OK)
    equal(waiter.read(), [['i', 'p']])


@case
def defragmentation_moves_events_and_loses_none():
    server = shared()
    client = server.client()
    got = client.call('CONFIG', 'SET', 'activedefrag', 'yes')
    if isinstance(got, resp.Error):
        raise Skip('the server was built without it')
    try:
        client.call('CONFIG', 'SET', 'active-defrag-ignore-bytes', 1,
                    'active-defrag-threshold-lower', 0,
                    'active-defrag-cycle-min', 40,
                    'active-defrag-cycle-max', 75)
        fill(client, 'k', 40000)
        client.call('LAWN.CANCEL', 'k', *[f'id-{i}' for i in range(40000)
                                          if i % 8])
        digest = server.digest('k')
        before = int(server.info('stats')['active_defrag_hits'])
        wait_until(lambda: int(server.info('stats')['active_defrag_hits'])
                   > before + 500, 'blocks are moved')
        equal(server.digest('k'), digest)
        equal(client.call('LAWN.LEN', 'k'), 5000)
        for i in range(0, 40000, 800):
            equal(client.call('LAWN.PULL', 'k', f'id-{i}'), f'p-{i}')
    finally:
        client.call('CONFIG', 'SET', 'activedefrag', 'no')


if __name__ == '__main__':
    main(__doc__)
