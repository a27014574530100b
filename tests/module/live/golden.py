#!/usr/bin/env python3
"""golden.py [--server redis|valkey] [PART OF A NAME] - dump files: those of
ReDe can be read, ours are as described in module/image.h, and hostile ones are
rejected with a message; and all ways of saving keep the same data.
"""

import random
import shutil

import rdb
import resp
from resp import OK
from server import (Server, case, equal, error, main, need, now_ms, shared,
                    wait_until)

FAR = 2**50
NEVER = 2**64 - 1
BAD = error('ERR Bad data format')


def restore(client, row, version, key='k', **more):
    return client.call('RESTORE', key, 0, rdb.dump(rdb.value(row, version,
                                                             **more)),
                       'REPLACE')


def fields(reply):
    return dict(zip(reply[::2], reply[1::2]))


def sample():
    """Returns events of a ReDe, also as a list of (due, id, payload)."""
    due = now_ms() + 10**9
    queues = {3000: [(due, b'101', b'Dehydrate this'),
                     (due + 1, b'102', b'Dehydrate that')],
              1000: [(due - 5, b'a', bytes(range(256)))],
              2**31 - 1: [(due + 70, b'b', b'')]}
    events = [event for part in queues.values() for event in part]
    return queues, sorted(events)


def ours(events=(), *, time=1000, first=None, settings=(0, 0, 0, 0, 0, 0, 0),
         made=(0, 0), token=0, sink=(0, b'', 0, b''), tries=None, leases=None,
         end=True, count=None):
    """Returns a row of format 1; events are (ttl, due, id, payload[, period,
    times, missed]). ttl None repeats the last. tries are {id: (made, most)},
    leases {id: (token, end, length, owner)}."""
    dues = [leases[event[2]][1] if event[2] in (leases or {}) else event[1]
            for event in events]
    row = [time, first if first is not None else min(dues, default=NEVER),
           *settings, *made, token, *sink]
    for ttl, due, id_, payload, *repeat in events:
        if ttl is not None:
            row += [1, ttl]
        if id_ in (tries or {}):
            row += [4, *tries[id_]]
        if id_ in (leases or {}):
            row += [5, *leases[id_]]
        row += [3 if repeat else 2, due, id_, payload, *repeat]
    if end:
        row += [0, len(events) if count is None else count]
    return row


# REDE'S

@case
def a_dump_file_of_rede_is_loaded():
    queues, events = sample()
    keys = {(0, b'one'): rdb.value(rdb.rede(b'one', queues), 0),
            (0, b'empty'): rdb.value(rdb.rede(b'empty', {}), 0),
            (5, b'two'): rdb.value(rdb.rede(b'another name', {
                7: [(1, b'late', b'p')]}), 0),
            (5, b'gone'): (rdb.value(rdb.rede(b'gone', queues), 0), 1),
            (5, b'stays'): (rdb.value(rdb.rede(b'stays', queues), 0),
                            now_ms() + 10**8)}
    with Server(files=[('dump.rdb', rdb.file(keys))]) as server:
        client = server.client()
        equal(client.call('LAWN.LEN', 'one'), 4)
        for due, id_, payload in events:
            equal(client.call('REDE.LOOK', 'one', id_), payload)
            meta = fields(client.call('LAWN.GET', 'one', id_, 'META'))
            equal((meta[b'due'], meta[b'state'], meta[b'period'])
                  == (due, b'waiting', 0), True, repr(meta))
        first = events[0][0] - now_ms()
        assert first - 5000 < client.call('REDE.TTN', 'one') <= first + 1
        equal(client.call('REDE.POLL', 'one'), [])
        client.call('SELECT', 5)
        equal(client.call('REDE.XPOLL', 'two'), ['late'])
        equal(client.call('REDE.POLL', 'two'), ['p'])
        equal(client.call('EXISTS', 'gone'), 0)
        equal(client.call('LAWN.LEN', 'stays'), 4)
        assert client.call('PTTL', 'stays') > 10**7
        equal(client.call('CONFIG', 'SET', 'save', '900 1'), OK)
        digest = client.call('DEBUG', 'DIGEST')
        equal(client.call('DEBUG', 'RELOAD'), OK)
        equal(client.call('DEBUG', 'DIGEST'), digest)


@case
def events_of_a_rede_fire():
    now = now_ms()
    queues = {20: [(now + 400, b'soon', b'p')], 5: [(1, b'past', b'q')]}
    keys = {(0, b'k'): rdb.value(rdb.rede(b'k', queues), 0)}
    with Server(files=[('dump.rdb', rdb.file(keys))]) as server:
        client = server.client()
        equal(client.call('LAWN.POLL', 'k', 'COUNT', 1, 'BLOCK', 0),
              [['past', 'q']])
        equal(client.call('LAWN.POLL', 'k', 'BLOCK', 0), [['soon', 'p']])
        assert now_ms() >= now + 400


@case
def a_dump_of_one_key_of_rede_is_restored():
    server = shared()
    client = server.client()
    queues, events = sample()
    equal(restore(client, rdb.rede(b'name', queues), 0), OK)
    equal(client.call('LAWN.LEN', 'k'), 4)
    for due, id_, payload in events:
        meta = fields(client.call('LAWN.GET', 'k', id_, 'META'))
        equal((meta[b'payload'], meta[b'due']) == (payload, due), True)
    dump = client.call('DUMP', 'k')
    body, _ = rdb.undump(dump)
    equal(body[:9], b'\x81' + rdb.type_number(1).to_bytes(8, 'big'),
          'what we write is version 1')
    equal(client.call('RESTORE', 'k2', 0, dump), OK)
    equal(server.digest('k2'), server.digest('k'))
    client.call('LAWN.CANCEL', 'k', *[event[1] for event in events])
    equal(client.call('EXISTS', 'k'), 0)


@case
def an_empty_dehydrator_is_loaded_empty():
    client = shared().client()
    equal(restore(client, rdb.rede(b'k', {}), 0), OK)
    equal(client.call('EXISTS', 'k'), 1)
    equal(client.call('LAWN.LEN', 'k'), 0)
    equal(client.call('REDE.TTN', 'k'), -1)
    equal(client.call('REDE.POLL', 'k'), [])
    equal(client.call('EXISTS', 'k'), 1)
    equal(restore(client, rdb.rede(b'k', {5: []}), 0), OK)
    equal(client.call('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1), 'i')
    equal(client.call('LAWN.POLL', 'k'), [['i', 'p']])
    equal(client.call('EXISTS', 'k'), 0)


@case
def a_wrong_ttl_of_rede_does_not_matter():
    """A ttl truncated to 32 bits, or negative: the due time counts."""
    client = shared().client()
    due = now_ms() + 10**9
    for ttl in (0, 1, 2**32 - 5, 2**64 - 7, 2**53 + 1):
        got = restore(client, rdb.rede(b'k', {ttl: [(due, b'i', b'p')]}), 0)
        equal(got, OK, f'ttl {ttl}')
        meta = fields(client.call('LAWN.GET', 'k', 'i', 'META'))
        equal(meta[b'due'], due)
        equal(client.call('REDE.POLL', 'k'), [])


@case
def a_time_of_rede_after_all_times_is_far_away_and_one_below_0_is_past():
    client = shared().client()
    for due, expected in ((2**63 - 1, []), (NEVER, ['p'])):
        row = rdb.rede(b'k', {5: [(due, b'i', b'p')]})
        equal(restore(client, row, 0), OK)
        equal(client.call('REDE.LOOK', 'k', 'i'), 'p')
        equal(client.call('REDE.POLL', 'k'), expected)
        equal(restore(client, row, 0), OK)
        well(client)


@case
def events_of_one_ttl_need_not_be_in_order():
    """The clock was set back while ReDe was running."""
    client = shared().client()
    now = now_ms()
    equal(restore(client, rdb.rede(b'k', {9: [
        (now + 10**9, b'late', b'p'), (1, b'past', b'q'),
        (now + 10**8, b'soon', b'r')]}), 0), OK)
    equal(client.call('LAWN.POLL', 'k'), [['past', 'q']])
    assert 10**8 - 10**5 < client.call('LAWN.NEXT', 'k') <= 10**8
    equal(client.call('LAWN.LEN', 'k'), 2)


# OURS

@case
def format_1_matches_the_header():
    server = shared()
    client = server.client()
    now = now_ms()
    row = ours([(0, FAR, b'at', b'p'), (10**9, now + 10**9 - 9, b'a', b'1'),
                (None, now + 10**9 - 5, b'b', b'2'),
                (10**10, now + 10**10, b'r', b'3', 50, 4, 2)], time=now,
               settings=(10, 1000, 1, 5, 1, 8, 9), made=(now, 3))
    equal(restore(client, row, 1), OK)
    equal(client.call('LAWN.LEN', 'k'), 4)
    equal(client.call('LAWN.CONFIG', 'k', 'GET'),
          ['maxlen', 10, 'maxbytes', 1000, 'overflow', 'drop-oldest',
           'resolution-ms', 5, 'tries', 8, 'lease', 9])
    equal(fields(client.call('LAWN.INFO', 'k'))[b'paused'], 1)
    equal(client.call('LAWN.GET', 'k', 'r', 'META'),
          ['payload', '3', 'due', now + 10**10, 'state', 'waiting', 'period',
           50, 'times', 4, 'missed', 2, 'tries', 0, 'max-tries', 0,
           'lease-end', 0, 'owner', ''])
    equal(fields(client.call('LAWN.GET', 'k', 'at', 'META'))[b'due'], FAR)
    id_ = client.call('LAWN.PUSH', 'k', '*', 'p', 'DELAY', FAR)
    ms, number = map(int, id_.split(b'-'))
    assert (ms, number) > (now, 3), id_


@case
def format_1_holds_leases_tries_the_dead_and_a_sink():
    server = shared()
    client = server.client()
    now = now_ms()
    end = now + 10**9
    row = ours([(0, 5, b'ended', b'1'), (0, 6, b'dead', b'2'),
                (0, 7, b'leased', b'3', 50, 4, 2), (0, end, b'waits', b'4')],
               time=now, token=2**50,
               tries={b'ended': (1, 0), b'dead': (3, 3), b'leased': (2, 9),
                      b'waits': (4, 5)},
               leases={b'ended': (7, now - 5, 0, b'me'),
                       b'dead': (8, now - 4, 0, b''),
                       b'leased': (9, end, 10**9, b'\0you')})
    equal(restore(client, row, 1), OK)
    for id_, expected in (('ended', [5, 'due', 1, 0, now - 5, 'me']),
                          ('dead', [6, 'dead', 3, 3, now - 4, '']),
                          ('leased', [7, 'leased', 2, 9, end, b'\0you']),
                          ('waits', [end, 'waiting', 4, 5, 0, ''])):
        got = fields(client.call('LAWN.GET', 'k', id_, 'META'))
        equal([got[name] for name in (b'due', b'state', b'tries', b'max-tries',
                                      b'lease-end', b'owner')], expected, id_)
    equal(client.call('LAWN.ACK', 'k', 'dead', 8, 'leased', 8), [1, 0])
    equal(client.call('LAWN.ACK', 'k', 'leased', 9), [1])
    got = client.call('LAWN.LEASE', 'k', 'new')
    equal([got[0][0], got[0][3], got[0][4]], ['ended', 2, 5])
    equal(got[0][2] > 2**50 and got[0][2] >= now * 1024, True, 'the token')
    digest = server.digest('k')
    dump = client.call('DUMP', 'k')
    equal(client.call('RESTORE', 'k', 0, dump, 'REPLACE'), OK)
    equal(server.digest('k'), digest)
    for kind, name in enumerate(('none', 'stream', 'list', 'publish',
                                 'spublish')):
        row = ours(sink=(kind, b'to' if kind else b'', 7 if kind == 1 else 0,
                         b'dead'))
        equal(restore(client, row, 1), OK)
        got = fields(client.call('LAWN.INFO', 'k'))
        equal([got[name] for name in (b'sink', b'sink-to', b'sink-maxlen',
                                      b'dead-letter')],
              [name, 'to' if kind else '', 7 if kind == 1 else 0, 'dead'])


@case
def a_key_saved_before_leases_existed_is_refused():
    """Their rows were shorter: no field may be mistaken for another."""
    client = shared().client()
    now = now_ms()
    for tail in ([0, 0], [1, 0, 2, FAR, b'i', b'p', 0, 1],
                 [1, 10**9, 2, now + 10**9, b'i', b'p', 0, 1],
                 [1, 0, 3, FAR, b'i', b'p', 50, 4, 2, 0, 1]):
        row = [now, FAR, 0, 0, 0, 0, 0, 0, 0, *tail]
        equal(restore(client, row, 1), BAD, repr(tail))


@case
def a_dump_has_the_documented_bytes():
    client = shared().client()
    client.call('LAWN.CONFIG', 'k', 'SET', 'maxlen', 7, 'resolution-ms', 3)
    client.call('LAWN.PUSH', 'k', 'i', 'payload', 'AT', 3 * 2**50)
    body, version = rdb.undump(client.call('DUMP', 'k'))
    assert version >= 9
    expected = rdb.value([2, 3 * 2**50, b'i', b'payload', 0, 1], 1)[9:]
    assert body.endswith(expected), (body, expected)


@case
def any_time_may_be_that_of_a_dump_up_to_the_end_of_times():
    """If it is ahead of the clock, a delay counts from it: after a push there
    must be room for the longest one."""
    client = shared().client()
    for time, expected in ((0, OK), (1, OK), (now_ms() + 10**6, OK),
                           (2**53, OK), (2**53 + 1, BAD), (2**54, BAD)):
        row = ours([(0, FAR * 4, b'i', b'p')], time=time)
        equal(restore(client, row, 1), expected, f'time {time}')
        before = now_ms()
        equal(client.call('LAWN.PUSH', 'k', 'j', 'q', 'DELAY', 2**53), 'j')
        got = fields(client.call('LAWN.GET', 'k', 'j', 'META'))[b'due']
        if expected == OK and time > before:
            equal(got, time + 2**53)
        else:
            assert before <= got - 2**53 <= now_ms(), got
        client.call('DEL', 'k')


@case
def the_digest_shows_how_often_an_event_was_missed():
    server = shared()
    client = server.client()
    seen = set()
    for missed in (0, 1, 2, 2**40):
        row = ours([(0, FAR, b'i', b'p', 50, 4, missed)])
        equal(restore(client, row, 1), OK)
        meta = fields(client.call('LAWN.GET', 'k', 'i', 'META'))
        equal(meta[b'missed'], missed)
        seen.add(server.digest('k'))
    equal(len(seen), 4)


@case
def an_event_with_a_time_of_its_own_keeps_it_in_every_format():
    """Events with individual times use up none of the delays that a key
    distinguishes, also after they were saved and loaded."""
    with Server('appendonly', 'yes', 'auto-aof-rewrite-percentage', 0) as server:
        keys, expected = ('at', 'delayed', 'mixed'), [0, 1, 1]

        def ttl_counts(suffix=''):
            return [fields(server.call('LAWN.INFO', key + suffix))[b'ttls']
                    for key in keys]

        for i in range(20):
            server.call('LAWN.PUSH', 'at', i, 'p', 'AT', FAR + i)
            server.call('LAWN.PUSH', 'at', -i, 'p', 'DELAY', 10**9)
            server.call('LAWN.TOUCH', 'at', -i, 'AT', FAR + i)
            server.call('LAWN.PUSH', 'delayed', i, 'p', 'DELAY', 10**10)
            server.call('LAWN.PUSH', 'mixed', i, 'p', 'AT', FAR + i)
        server.call('LAWN.PUSH', 'mixed', 'first', 'p', 'DELAY', 10**10)
        equal(ttl_counts(), expected)
        for key in keys:
            server.call('COPY', key, key + '-2')
            server.call('RESTORE', key + '-3', 0, server.call('DUMP', key))
        equal(ttl_counts('-2'), expected, 'in a copy')
        equal(ttl_counts('-3'), expected, 'dumped and restored')
        server.call('DEBUG', 'RELOAD')
        equal(ttl_counts(), expected, 'after a reload')
        server.call('DEBUG', 'LOADAOF')
        equal(ttl_counts(), expected, 'from the file as it grew')
        for preamble in ('yes', 'no'):
            server.call('CONFIG', 'SET', 'aof-use-rdb-preamble', preamble)
            server.call('BGREWRITEAOF')
            wait_until(lambda: not any(
                int(server.info('persistence')[f'aof_rewrite_{what}'])
                for what in ('in_progress', 'scheduled')), 'it is rewritten')
            server.call('DEBUG', 'LOADAOF')
            equal(ttl_counts(), expected, f'after a rewrite, preamble {preamble}')


@case
def a_dump_moves_from_one_kind_of_server_to_the_other():
    for kind in ('redis', 'valkey'):
        need(shutil.which(kind + '-server'), kind + '-server')
    with Server(kind='redis') as one, Server(kind='valkey') as other:
        client = one.client()
        client.call('LAWN.CONFIG', 'k', 'SET', 'maxlen', 1000)
        client.call('LAWN.MPUSH', 'k', 'DELAY', 10**9, 300,
                    *[i // 2 for i in range(600)])
        client.call('LAWN.PUSH', 'k', 'r', 'p', 'AT', 1, 'EVERY', 10**9)
        dump = client.call('DUMP', 'k')
        equal(other.call('RESTORE', 'k', 0, dump), OK)
        equal(other.digest('k'), one.digest('k'))
        equal(other.call('LAWN.POLL', 'k'), [['r', 'p']])


HOSTILE = {
    'nothing': [],
    'one number': [5],
    'a string first': [b'x'],
    'no end': ours([(0, FAR, b'i', b'p')], end=False),
    'an unknown tag': [*ours(end=False), 9, 0, 0],
    'a count that is wrong': ours([(0, FAR, b'i', b'p')], count=2),
    'a count that is huge': ours([], count=2**63),
    'an id twice': ours([(0, FAR, b'i', b'p'), (0, FAR, b'i', b'q')]),
    'an id too long': ours([(0, FAR, b'i' * 65536, b'p')]),
    'a due time too late': ours([(0, 2**54 + 1, b'i', b'p')]),
    'a due time of all ones': ours([(0, NEVER, b'i', b'p')]),
    'a ttl above its due time': ours([(FAR + 1, FAR, b'i', b'p')]),
    'a ttl of all ones': ours([(NEVER, FAR, b'i', b'p')]),
    'an overflow that is none': ours(settings=(0, 0, 2, 0, 0, 0, 0)),
    'a pause that is none': ours(settings=(0, 0, 0, 0, 2, 0, 0)),
    'a resolution too large': ours(settings=(0, 0, 0, NEVER, 0, 0, 0)),
    'tries of a key that are too many': ours(settings=(0, 0, 0, 0, 0, 2**32,
                                                       0)),
    'a lease of a key that is too long': ours(settings=(0, 0, 0, 0, 0, 0,
                                                        2**53 + 1)),
    'a token of all ones': ours(token=NEVER),
    'a sink that is none': ours(sink=(5, b'to', 0, b'')),
    'a stream name too long': ours(sink=(1, b't' * 65536, 0, b'')),
    'dead letters too long': ours(sink=(1, b't', 0, b'd' * 65536)),
    'too many tries': ours([(0, FAR, b'i', b'p')], tries={b'i': (2**32, 0)}),
    'too many tries allowed': ours([(0, FAR, b'i', b'p')],
                                   tries={b'i': (0, 2**32)}),
    'a lease with no token': ours([(0, FAR, b'i', b'p')], token=9,
                                  tries={b'i': (1, 0)},
                                  leases={b'i': (0, 5, 0, b'')}),
    'a token above the greatest': ours([(0, FAR, b'i', b'p')], token=8,
                                       tries={b'i': (1, 0)},
                                       leases={b'i': (9, 5, 0, b'')}),
    'an end of a lease after all times': ours(
        [(0, FAR, b'i', b'p')], token=9, tries={b'i': (1, 0)},
        leases={b'i': (9, NEVER, 0, b'')}),
    'a lease longer than its end': ours(
        [(0, FAR, b'i', b'p')], token=9, tries={b'i': (1, 0)},
        leases={b'i': (9, 5, 6, b'')}),
    'an owner too long': ours([(0, FAR, b'i', b'p')], token=9,
                              tries={b'i': (1, 0)},
                              leases={b'i': (9, 5, 0, b'o' * 256)}),
    'tries of no event': [*ours(end=False), 4, 1, 1, 0, 0],
    'tries twice': [*ours(end=False), 1, 0, 4, 1, 1, 4, 1, 1, 2, FAR, b'i',
                    b'p', 0, 1],
    'a time of all ones': ours([(0, FAR, b'i', b'p')], time=NEVER),
    'a period too large': ours([(0, FAR, b'i', b'p', NEVER, 0, 0)]),
    'a period of 0': ours([(0, FAR, b'i', b'p', 0, 0, 0)]),
    'a string for a number': [*ours(end=False), 2, b'x', b'i', b'p', 0, 1],
    'a number for a string': [*ours(end=False), 2, FAR, 5, b'p', 0, 1],
    'a signed number': [rdb.signed(-5), *ours()[1:]],
    'a double': [rdb.double(5.0), *ours()[1:]],
    'more after the end': [*ours([(0, FAR, b'i', b'p')]), 5],
    'an event before its first ttl': [*ours(end=False), 2, FAR, b'i', b'p',
                                      0, 1],
}
HOSTILE_REDE = {
    'nothing': [],
    'only a name': [b'k'],
    'a number for the name': [5, 0],
    'queues that are not there': [b'k', 2**60],
    'events that are not there': [b'k', 1, 5, 2**60],
    'all ones': [b'k', NEVER, NEVER, NEVER],
    'half an event': [b'k', 1, 5, 1, FAR, b'i'],
    'an id twice': rdb.rede(b'k', {5: [(FAR, b'i', b'p'), (FAR, b'i', b'q')]}),
    'an id too long': rdb.rede(b'k', {5: [(FAR, b'i' * 65536, b'p')]}),
    'more after the end': [*rdb.rede(b'k', {5: [(FAR, b'i', b'p')]}), 5],
    'a signed ttl': [b'k', 1, rdb.signed(-5), 0],
}
def well(client, key='k'):
    """Checks that a key can be used, whatever its contents."""
    client.call('LAWN.PAUSE', key)  # so that no sink removes events meanwhile
    count = client.call('LAWN.LEN', key)
    cursor, seen = b'0', 0
    while True:
        cursor, ids = client.call('LAWN.SCAN', key, cursor)
        seen += len(ids)
        if cursor == b'0':
            break
    equal(seen, count)
    equal(sum(client.call('LAWN.LEN', key, state) for state in
              ('WAITING', 'DUE', 'LEASED', 'DEAD')), count)
    client.call('LAWN.INFO', key)
    client.call('DEBUG', 'DIGEST-VALUE', key)
    client.call('MEMORY', 'USAGE', key)
    client.call('LAWN.NEXT', key)
    dump = client.call('DUMP', key)
    if dump is not None:
        equal(client.call('RESTORE', 'again', 0, dump, 'REPLACE'), OK)
        equal(client.call('DEBUG', 'DIGEST-VALUE', 'again'),
              client.call('DEBUG', 'DIGEST-VALUE', key))
        client.call('DEL', 'again')
    client.call('LAWN.RESUME', key)
    client.call('LAWN.PUSH', key, 'new', 'p', 'DELAY', 5)
    client.call('LAWN.LEASE', key, 'me', 'COUNT', 1)
    client.call('LAWN.POLL', key, 'COUNT', 10000)
    client.call('DEL', key)


@case
def hostile_values_are_refused_with_a_message():
    with Server() as server:
        client = server.client()
        for table, version in ((HOSTILE, 1), (HOSTILE_REDE, 0)):
            for what, row in table.items():
                logged = len(server.log())
                key = f'hostile-{version}'
                got = restore(client, row, version, key)
                equal(got, BAD, f'{what}, version {version}')
                equal(client.call('EXISTS', key), 0)
                text = server.log()[logged:]
                if what != 'more after the end':
                    assert key in text, \
                        f'{what}, version {version}: no message: {text!r}'
        equal(int(server.info('memory')['used_memory']) < 50 * 2**20, True)


@case
def versions_to_come_are_refused():
    client = shared().client()
    for version in (2, 3, 1023):
        equal(restore(client, ours([(0, FAR, b'i', b'p')]), version), BAD)
    equal(client.call('EXISTS', 'k'), 0)


@case
def every_cut_of_a_value_is_refused():
    client = shared().client()
    now = now_ms()
    for row, version in ((ours([(0, FAR, b'at', b'p'),
                                (10**9, now + 10**9, b'a', b'1'),
                                (10**10, now + 10**10, b'r', b'3', 50, 4,
                                 2)], time=now, token=9,
                               sink=(1, b'to', 5, b'dead'),
                               tries={b'at': (1, 2), b'a': (1, 0)},
                               leases={b'at': (9, 5, 3, b'me')}), 1),
                         (rdb.rede(b'k', sample()[0]), 0)):
        for count in range(len(row)):
            equal(restore(client, row[:count], version), BAD, f'{count}')
        body = rdb.value(row, version)
        for cut in range(9, len(body)):
            got = client.call('RESTORE', 'k', 0, rdb.dump(body[:cut]),
                              'REPLACE')
            equal(got, BAD, f'cut at {cut}')
        equal(client.call('EXISTS', 'k'), 0)


@case
def changed_values_never_do_harm():
    server = shared()
    client = server.client()
    now = now_ms()
    chance = random.Random(8)
    bodies = [rdb.value(ours([(0, FAR, b'at', b'p' * 20),
                              (10**9, now + 10**9 - 9, b'a', b'1'),
                              (None, now + 10**9 - 5, b'b', b'2'),
                              (10**10, now + 10**10, b'r', b'3', 50, 4, 2),
                              (1, 5, b'due', b'')], time=now,
                             settings=(10, 1000, 1, 5, 0, 0, 0)), 1),
              rdb.value(ours([(0, 5, b'ended', b'1'), (0, 6, b'dead', b'2'),
                              (0, 7, b'leased', b'3', 50, 4, 2)], time=now,
                             token=2**50, sink=(2, b'to', 0, b'd'),
                             tries={b'ended': (1, 0), b'dead': (3, 3),
                                    b'leased': (2, 9)},
                             leases={b'ended': (7, now - 5, 0, b'me'),
                                     b'dead': (8, now - 4, 0, b''),
                                     b'leased': (9, now + 10**9, 10**9,
                                                 b'you')}), 1),
              rdb.value(rdb.rede(b'k', sample()[0]), 0)]
    taken = 0
    for _ in range(1200):
        body = bytearray(chance.choice(bodies))
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(9, len(body))
            how = chance.randrange(4)
            if how == 0:
                body[at] = chance.randrange(256)
            elif how == 1:
                body[at] ^= 1 << chance.randrange(8)
            elif how == 2:
                del body[at:at + chance.randint(1, 9)]
            else:
                body[at:at] = bytes([chance.choice((0, 1, 2, 5, 128, 129,
                                                    255))]) * chance.randint(
                                                        1, 9)
            if len(body) < 12:
                break
        got = client.call('RESTORE', 'k', 0, rdb.dump(bytes(body)), 'REPLACE')
        assert got in (OK, BAD), got
        if got == OK:
            taken += 1
            well(client)
    assert taken > 20, 'a test that tests little'
    equal(client.call('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1), 'i')


@case
def a_hostile_dump_file_is_refused_at_the_start_with_a_message():
    for row, version in ((HOSTILE['a count that is wrong'], 1),
                         (HOSTILE_REDE['events that are not there'], 0)):
        data = rdb.file({(0, b'the bad one'): rdb.value(row, version)})
        with Server(module=False) as server:
            server.stop()
            (server.folder / 'dump.rdb').write_bytes(data)
            server.module = True
            server.expect_crash = True
            equal(server.start(may_fail=True), False, 'it starts')
            assert 'the bad one' in server.log(), 'no message'


@case
def strings_that_claim_to_be_huge_are_refused():
    client = shared().client()
    head = rdb.value(ours(end=False), 1, end=False)
    for size in (2**16, 2**24, 2**31 - 1, 2**32, 2**40, 2**62):
        body = (head + rdb.length(rdb.MARK_UNSIGNED) + rdb.length(2)
                + rdb.length(rdb.MARK_UNSIGNED) + rdb.length(FAR)
                + rdb.length(rdb.MARK_STRING) + rdb.length(size) + b'abc')
        equal(client.call('RESTORE', 'k', 0, rdb.dump(body)), BAD)
    equal(client.call('PING'), resp.Simple(b'PONG'))


@case
def a_saved_file_starts_a_server_again():
    with Server('save', '900 1') as server:
        client = server.client()
        client.call('LAWN.MPUSH', 'k', 'DELAY', 10**9, 5000,
                    *[i // 2 for i in range(10000)])
        client.call('LAWN.PUSH', 'k', 'soon', 'p', 'DELAY', 100)
        client.call('LAWN.PUSH', 'k', '*', 'p', 'DELAY', 10**9)
        client.call('LAWN.CONFIG', 'k', 'SET', 'maxlen', 10**6)
        last = client.call('LAWN.PUSH', 'k', '*', 'p', 'DELAY', 10**9)
        digest = server.digest('k')
        equal(client.call('SAVE'), OK)
        server.restart()
        equal(server.digest('k'), digest)
        client = server.client()
        new = client.call('LAWN.PUSH', 'k', '*', 'p', 'DELAY', 10**9)
        assert tuple(map(int, new.split(b'-'))) > \
            tuple(map(int, last.split(b'-')))
        equal(client.call('LAWN.POLL', 'k', 'BLOCK', 0), [['soon', 'p']])
        wait_until(lambda: client.call('LAWN.LEN', 'k') == 5003, 'all there')


if __name__ == '__main__':
    main(__doc__)
