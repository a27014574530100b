#!/usr/bin/env python3
"""lease.py [--server redis|valkey] [PART OF A NAME] - LEASE, ACK, NACK and
EXTEND: a leased event is delivered again if it is not acknowledged, its token
rejects previous owners, and its tries are counted until it is dead.

Most cases run on a server whose clock is advanced by hours to end a lease: only
cases about waiting clients wait for real time.
"""

import rdb
import resp
from resp import OK
from server import (FAR, Clock, Server, case, equal, error, main, missing,
                    near, no_number, now_ms, shared, shared_clock,
                    still_waits, syntax, wait_until)

HOUR = 3600000
STATES = ('WAITING', 'DUE', 'LEASED', 'DEAD')


def each():
    """Yields a client of each protocol of an empty server, and a function that
    sets its clock."""
    for protocol in (2, 3):
        server, clock = shared_clock()
        yield server.client(protocol), clock.step


def push(client, *ids, key='k', more=()):
    for id_ in ids:
        equal(client.call('LAWN.PUSH', key, id_, 'p-' + id_, 'AT', 1, *more),
              id_)


def take(client, *more, key='k', owner='me', lease=HOUR):
    """Returns the reply of LEASE, and checks its rows."""
    got = client.call('LAWN.LEASE', key, owner, 'LEASE', lease, *more)
    assert type(got) is list, got
    for row in got:
        assert type(row) is list and len(row) == 5, row
        assert list(map(type, row)) == [resp.Bulk, resp.Bulk, int, int, int], row
    return got


def one(client, *more, **named):
    """Returns the only row: id, token, tries."""
    rows = take(client, *more, **named)
    equal(len(rows), 1, 'one event')
    return bytes(rows[0][0]).decode(), rows[0][2], rows[0][3]


def meta(client, id_='i', key='k'):
    got = client.call('LAWN.GET', key, id_, 'META')
    if isinstance(got, list):
        got = dict(zip(got[::2], got[1::2]))
    return {bytes(name).decode(): value for name, value in got.items()}


def info(client, key='k'):
    """Returns the fields of LAWN.INFO."""
    got = client.call('LAWN.INFO', key)
    if isinstance(got, list):
        got = dict(zip(got[::2], got[1::2]))
    return {bytes(name).decode(): value for name, value in got.items()}


def states(client, key='k'):
    """Returns the numbers of waiting, due, leased and dead events; LEN and SCAN
    must agree."""
    found = [client.call('LAWN.LEN', key, state) for state in STATES]
    for state, count in zip(STATES, found):
        ids = client.call('LAWN.SCAN', key, 0, 'COUNT', 1000, 'STATE',
                          state.lower())[1]
        equal(len(ids), count, state)
    equal(sum(found), client.call('LAWN.LEN', key))
    return found


def waiter(server, *args, protocol=2):
    client = server.client(protocol)
    server.waits(client, *(args or ('LAWN.LEASE', 'k', 'me', 'LEASE', HOUR,
                                    'BLOCK', 0)))
    return client


def ids(rows):
    return [bytes(row[0]).decode() for row in rows]


# WORDS AND SHAPES

@case
def a_lease_is_an_array_of_five_and_nothing_is_an_empty_one():
    for client, _ in each():
        equal(client.raw('LAWN.LEASE', 'k', 'me'), b'*0\r\n')
        push(client, 'i')
        due = meta(client)['due']
        row = client.call('LAWN.LEASE', 'k', 'me')[0]
        equal(client.seen, b'*1\r\n*5\r\n$1\r\ni\r\n$3\r\np-i\r\n:%d\r\n:1\r\n'
              b':%d\r\n' % (row[2], due))
        equal(client.raw('LAWN.LEASE', 'k', 'me'), b'*0\r\n')


@case
def ack_replies_an_array_and_nack_and_extend_a_number():
    for client, _ in each():
        equal(client.raw('LAWN.ACK', 'k', 'i', 1), b'*1\r\n:0\r\n')
        equal(client.raw('LAWN.ACK', 'k', 'i', 1, 'j', 2), b'*2\r\n:0\r\n:0\r\n')
        equal(client.raw('LAWN.NACK', 'k', 'i', 1), b':0\r\n')
        equal(client.raw('LAWN.EXTEND', 'k', 'i', 1, 'LEASE', 1), b':0\r\n')
        equal(client.call('EXISTS', 'k'), 0)
        push(client, 'a', 'b', 'c')
        rows = take(client, 'COUNT', 3)
        equal(client.raw('LAWN.ACK', 'k', 'a', rows[0][2], 'x', 1, 'b',
                         rows[1][2]), b'*3\r\n:1\r\n:0\r\n:1\r\n')
        end = client.call('LAWN.EXTEND', 'k', 'c', rows[2][2], 'LEASE', HOUR)
        equal(client.seen, b':%d\r\n' % end)
        equal(client.raw('LAWN.NACK', 'k', 'c', rows[2][2]), b':1\r\n')


@case
def leases_refuse_invalid_arguments():
    for client, _ in each():
        push(client, 'i')
        for args, wanted in (
                (('LEASE', 0), no_number('LEASE', 0)),
                (('LEASE', 'x'), no_number('LEASE', 'x')),
                (('LEASE', 2**53 + 1), no_number('LEASE', 2**53 + 1)),
                (('LEASE', -1), no_number('LEASE', -1)),
                (('COUNT', 0), no_number('COUNT', 0)),
                (('COUNT', 'x'), no_number('COUNT', 'x')),
                (('BLOCK', -1), no_number('BLOCK', -1)),
                (('BLOCK', 2**53 + 1), no_number('BLOCK', 2**53 + 1)),
                (('LEASE',), missing('LEASE')), (('COUNT',), missing('COUNT')),
                (('x',), near('x')), (('META',), near('META')),
                (('LEASE', 1, 'LEASE', 1), near('LEASE')),
                (('COUNT', 1, 'COUNT', 1), near('COUNT'))):
            equal(client.call('LAWN.LEASE', 'k', 'me', *args), wanted,
                  repr(args))
        equal(client.call('LAWN.LEASE', 'k', 'o' * 256),
              error('ERR owner is longer than 255 bytes'))
        for args, wanted in (
                (('ACK', 'i'), None),
                (('ACK', 'i', 1, 'j'), syntax(": missing token of 'j'")),
                (('ACK', 'i', 'x'), no_number('token', 'x')),
                (('ACK', 'i', -1), no_number('token', -1)),
                (('ACK', 'i', 2**64), no_number('token', 2**64)),
                (('NACK', 'i', 'x'), no_number('token', 'x')),
                (('NACK', 'i', 1, 'DELAY'), missing('DELAY')),
                (('NACK', 'i', 1, 'DELAY', 'x'), no_number('DELAY', 'x')),
                (('NACK', 'i', 1, 'DELAY', -1), no_number('DELAY', -1)),
                (('NACK', 'i', 1, 'x', 1), near('x')),
                (('EXTEND', 'i', 1, 'LEASE', 0), no_number('LEASE', 0)),
                (('EXTEND', 'i', 1, 'x', 1), near('x')),
                (('EXTEND', 'i', 'x', 'LEASE', 1), no_number('token', 'x')),
                (('EXTEND', 'i', 1), None)):
            got = client.call('LAWN.' + args[0], 'k', *args[1:])
            if wanted is None:
                name = 'lawn.' + args[0].lower()
                wanted = error('ERR wrong number of arguments for '
                               f"'{name}' command")
            equal(got, wanted, repr(args))
        for bad in ('x', -1, 2**32, 2**64):
            equal(client.call('LAWN.PUSH', 'k', 'j', 'p', 'DELAY', 1, 'TRIES',
                              bad), no_number('TRIES', bad), repr(bad))
        equal(states(client), [0, 1, 0, 0])
        equal(meta(client)['tries'], 0)


@case
def the_largest_numbers_are_taken():
    for client, step in each():
        push(client, 'i', more=('TRIES', 2**32 - 1))
        before = client.call('TIME')
        row = client.call('LAWN.LEASE', 'k', b'\0\r\n\xff' + b'o' * 251, 'LEASE',
                          2**53, 'COUNT', 2**63 - 1)[0]
        got = meta(client)
        assert 0 <= got['lease-end'] - 2**53 - int(before[0]) * 1000 < 60000
        equal(got['owner'], b'\0\r\n\xff' + b'o' * 251)
        equal(got['max-tries'], 2**32 - 1)
        end = client.call('LAWN.EXTEND', 'k', 'i', row[2], 'LEASE', 2**53)
        assert end >= got['lease-end'], end
        equal(client.call('LAWN.NACK', 'k', 'i', row[2], 'DELAY', 2**53), 1)
        step(HOUR)
        equal(states(client), [1, 0, 0, 0])


@case
def count_is_1_by_default_and_at_most_max_batch():
    for client, _ in each():
        push(client, *'abcdefgh')
        equal(ids(take(client)), ['a'])
        equal(ids(take(client, 'COUNT', 2)), ['b', 'c'])
        equal(client.call('CONFIG', 'SET', 'lawn.max-batch', 3), OK)
        try:
            equal(ids(take(client, 'COUNT', 100)), ['d', 'e', 'f'])
        finally:
            client.call('CONFIG', 'SET', 'lawn.max-batch', 1000)
        equal(ids(take(client, 'COUNT', 100)), ['g', 'h'])


@case
def a_lease_lasts_as_its_argument_or_the_key_or_the_server_sets():
    for client, _ in each():
        def length(*args):
            push(client, 'i')
            before = int(client.call('TIME')[0]) * 1000
            client.call('LAWN.LEASE', 'k', 'me', *args)
            return round((meta(client)['lease-end'] - before) / 100000)
        equal(client.call('CONFIG', 'GET', 'lawn.default-lease'),
              ['lawn.default-lease', '30000'] if client.protocol == 2
              else {b'lawn.default-lease': b'30000'})
        try:
            client.call('CONFIG', 'SET', 'lawn.default-lease', 500000)
            equal(length(), 5)
            equal(client.call('LAWN.CONFIG', 'k', 'SET', 'lease', 1000000), OK)
            equal(length(), 10)
            equal(length('LEASE', 3000000), 30)
            client.call('LAWN.CONFIG', 'k', 'SET', 'lease', 0)
            equal(length(), 5)
        finally:
            client.call('CONFIG', 'SET', 'lawn.default-lease', 30000)


# TOKENS

@case
def tokens_grow_and_a_double_holds_them():
    for client, step in each():
        push(client, *'abcde')
        last = 0
        for _ in range(3):
            rows = take(client, 'COUNT', 5)
            equal(len(rows), 5)
            for row in rows:
                assert last < row[2] < 2**53, (last, row)
                last = row[2]
            step(2 * HOUR)
        step(-5 * HOUR)  # and when the clock is set back
        client.call('PING')
        push(client, 'f')
        assert one(client)[1] > last
        step(5 * HOUR)


@case
def a_look_that_finds_nothing_and_a_clock_set_back_make_nothing_early():
    server, clock = shared_clock()
    server.call('LAWN.PUSH', 'k', 'far', 'p', 'DELAY', 100 * HOUR)
    server.call('LAWN.PUSH', 'k', 'a', 'p', 'DELAY', 0)
    row = server.call('LAWN.LEASE', 'k', 'me', 'LEASE', HOUR)[0]
    equal(server.call('LAWN.ACK', 'k', row[0], row[2]), [1])
    ticks = int(server.lawn()['ticks'])
    clock.step(2 * HOUR)
    # The lease has ended, and setting the clock back does not change that.
    wait_until(lambda: int(server.lawn()['ticks']) > ticks, 'it is looked at')
    clock.step(-2 * HOUR)
    server.call('LAWN.PUSH', 'k', 'b', 'p', 'DELAY', HOUR)
    equal(server.call('LAWN.LEASE', 'k', 'me'), [])
    server.call('LAWN.PUSH', 'k', 'c', 'p', 'DELAY', 0, 'TRIES', 5)
    equal([row[0] for row in server.call('LAWN.LEASE', 'k', 'me', 'LEASE', HOUR)],
          ['c'])
    equal(server.call('LAWN.LEASE', 'k', 'me'), [])


@case
def a_key_that_is_deleted_and_created_again_gives_greater_tokens():
    for client, _ in each():
        got = client.multi(
            *[args for _ in range(3) for args in
              (('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1),
               ('LAWN.LEASE', 'k', 'me'), ('LAWN.LEASE', 'k', 'me'),
               ('LAWN.CANCEL', 'k', 'i'), ('EXISTS', 'k'))])
        equal(got[4::5], [0, 0, 0])
        tokens = [rows[0][2] for rows in got[1::5]]
        assert tokens == sorted(set(tokens)), tokens
        # The first owner can no longer acknowledge it.
        push(client, 'i')
        last = one(client)[1]
        for token in tokens:
            equal(client.call('LAWN.ACK', 'k', 'i', token), [0])
        equal(client.call('LAWN.ACK', 'k', 'i', last), [1])


@case
def the_previous_owner_of_a_lease_is_fenced_off():
    for client, step in each():
        push(client, 'i')
        _, old, _ = one(client, owner='first')
        step(HOUR + 1000)
        id_, new, tries = one(client, owner='second')
        equal((id_, tries) == ('i', 2), True)
        for token in (old, new + 1, 0):
            equal(client.call('LAWN.ACK', 'k', 'i', token), [0])
            equal(client.call('LAWN.NACK', 'k', 'i', token), 0)
            equal(client.call('LAWN.EXTEND', 'k', 'i', token, 'LEASE', 1), 0)
        got = meta(client)
        equal([got['state'], got['owner']], ['leased', 'second'])
        equal(client.call('LAWN.ACK', 'k', 'i', new), [1])
        equal(client.call('EXISTS', 'k'), 0)
        equal(client.call('LAWN.ACK', 'k', 'i', new), [0])


# THE LIFE OF AN EVENT

@case
def an_event_waits_is_due_leased_due_again_and_done():
    for client, step in each():
        client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', HOUR)
        client.call('LAWN.PUSH', 'k', 'later', 'p', 'DELAY', FAR)
        due = meta(client)['due']
        equal(states(client), [2, 0, 0, 0])
        equal(take(client), [])
        step(HOUR + 1000)
        client.call('PING')
        equal(states(client), [1, 1, 0, 0])
        equal(meta(client)['state'], 'due')
        row = take(client, owner='w', lease=2 * HOUR)[0]
        equal([row[0], row[1], row[3], row[4]], ['i', 'p', 1, due])
        equal(states(client), [1, 0, 1, 0])
        got = meta(client)
        equal(list(got), ['payload', 'due', 'state', 'period', 'times',
                          'missed', 'tries', 'max-tries', 'lease-end', 'owner'])
        equal([got[name] for name in ('payload', 'due', 'state', 'tries',
                                      'max-tries', 'owner')],
              ['p', due, 'leased', 1, 0, 'w'])
        assert str(row[2]).encode() not in client.seen, 'the reply contains the token'
        ahead = client.call('LAWN.NEXT', 'k')
        assert 2 * HOUR - 10000 < ahead <= 2 * HOUR, ahead
        equal(info(client)['next'], got['lease-end'])
        equal(take(client), [])
        step(2 * HOUR)
        equal(client.call('LAWN.NEXT', 'k'), 0)
        equal(states(client), [1, 1, 0, 0])
        equal(meta(client)['state'], 'due')
        equal(meta(client)['due'], due)
        row = take(client)[0]
        equal([row[0], row[3], row[4]], ['i', 2, due])
        equal(client.call('LAWN.ACK', 'k', 'i', row[2]), [1])
        equal(states(client), [1, 0, 0, 0])


@case
def a_lease_does_not_end_early():
    """To the millisecond, by the server's own clock."""
    server = shared()
    client = server.client()
    for lease in (1, 2, 5, 30):
        push(client, 'i')
        before = server.clock()
        one(client, lease=lease)
        end = meta(client)['lease-end']
        assert before + lease <= end <= server.clock() + lease, (before, end)
        while not (rows := take(client)):
            pass
        assert server.clock() >= end, rows
        equal(rows[0][3], 2)
        client.call('DEL', 'k')


@case
def an_ended_lease_can_be_acknowledged_until_another_has_it():
    for client, step in each():
        push(client, 'i', 'j')
        _, token, _ = one(client)
        step(2 * HOUR)
        equal(states(client), [0, 2, 0, 0])
        equal(client.call('LAWN.ACK', 'k', 'i', token), [1])
        equal(states(client), [0, 1, 0, 0])


@case
def an_ended_lease_is_ordered_after_events_due_before_its_end():
    for client, step in each():
        push(client, 'i')
        one(client)
        client.call('LAWN.PUSH', 'k', 'sooner', 'p', 'DELAY', HOUR // 2)
        client.call('LAWN.PUSH', 'k', 'later', 'p', 'DELAY', 2 * HOUR)
        step(3 * HOUR)
        equal(ids(take(client, 'COUNT', 9)), ['sooner', 'i', 'later'])


@case
def acks_are_counted_and_a_token_acknowledges_once():
    for client, step in each():
        client.call('LAWN.CONFIG', 'k', 'SET', 'maxlen', 9)
        push(client, 'a', 'b')
        rows = take(client, 'COUNT', 2)
        step(2 * HOUR)
        rows = take(client, 'COUNT', 2)
        equal(client.call('LAWN.ACK', 'k', *[w for row in rows * 2
                                             for w in (row[0], row[2])]),
              [1, 1, 0, 0])
        got = info(client)
        equal([got[n] for n in ('acked', 'redelivered', 'leased', 'dead',
                                'len')], [2, 2, 0, 0, 0])


# REPETITION

@case
def a_repeating_event_is_due_again_after_its_ack():
    for client, step in each():
        client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 1000, 'EVERY', HOUR,
                    'TIMES', 3, 'TRIES', 2)
        due = meta(client)['due']
        step(2000)
        _, token, _ = one(client, lease=HOUR // 2)
        step(HOUR // 2)
        id_, token, tries = one(client, lease=HOUR // 4)
        equal(tries, 2)
        equal(client.call('LAWN.ACK', 'k', 'i', token), [1])
        equal(client.call('LAWN.ACK', 'k', 'i', token), [0])
        got = meta(client)
        equal([got[n] for n in ('state', 'due', 'tries', 'max-tries', 'times',
                                'missed', 'lease-end', 'owner')],
              ['waiting', due + HOUR, 0, 2, 2, 0, 0, ''])
        # Two periods pass while it is leased.
        step(HOUR)
        _, token, tries = one(client, lease=9 * HOUR)
        equal(tries, 1)
        step(2 * HOUR)
        equal(client.call('LAWN.ACK', 'k', 'i', token), [1])
        got = meta(client)
        equal([got[n] for n in ('due', 'times', 'missed')],
              [due + 4 * HOUR, 1, 2])
        equal(info(client)['missed'], 2)
        step(HOUR)
        _, token, _ = one(client)
        equal(client.call('LAWN.ACK', 'k', 'i', token), [1])
        equal(client.call('EXISTS', 'k'), 0)


@case
def poll_takes_an_ended_lease_of_a_repeating_event_and_restarts_it():
    for client, step in each():
        push(client, 'i', more=('EVERY', 10 * HOUR))
        _, token, _ = one(client)
        equal(client.call('LAWN.POLL', 'k'), [])
        step(2 * HOUR)
        equal(client.call('LAWN.POLL', 'k'), [['i', 'p-i']])
        got = meta(client)
        equal([got['state'], got['tries'], got['lease-end']],
              ['waiting', 0, 0])
        equal(client.call('LAWN.ACK', 'k', 'i', token), [0])


# NACK AND EXTEND

@case
def nack_gives_it_back_at_once_or_after_a_delay_and_keeps_the_tries():
    for client, step in each():
        push(client, 'i')
        _, token, _ = one(client)
        equal(client.call('LAWN.NACK', 'k', 'i', token), 1)
        equal(states(client), [0, 1, 0, 0])
        equal(client.call('LAWN.ACK', 'k', 'i', token), [0])
        id_, token, tries = one(client)
        equal(tries, 2)
        before = int(client.call('TIME')[0]) * 1000
        equal(client.call('LAWN.NACK', 'k', 'i', token, 'delay', HOUR), 1)
        equal(states(client), [1, 0, 0, 0])
        got = meta(client)
        assert before + HOUR <= got['due'] < before + HOUR + 60000, got
        equal([got['tries'], got['owner'], got['lease-end']], [2, '', 0])
        equal(client.call('LAWN.NACK', 'k', 'i', token), 0)
        step(HOUR + 2000)
        row = take(client)[0]
        equal([row[3], row[4]], [3, got['due']])
        client.call('LAWN.NACK', 'k', 'i', row[2], 'DELAY', HOUR)
        step(HOUR + 100)
        got = client.call('LAWN.POLL', 'k', 'META')[0]
        got = got if isinstance(got, dict) else dict(zip(got[::2], got[1::2]))
        assert got[b'late'] < 60000, got  # not since it was first due


@case
def a_repeating_event_keeps_its_times_when_it_is_returned():
    for client, step in each():
        push(client, 'i', more=('EVERY', 10 * HOUR, 'TRIES', 9))
        due = meta(client)['due']
        _, token, _ = one(client)
        equal(client.call('LAWN.NACK', 'k', 'i', token, 'DELAY', HOUR), 1)
        got = meta(client)
        equal([got['due'], got['tries'], got['state']], [due, 1, 'leased'])
        equal(client.call('LAWN.ACK', 'k', 'i', token), [0])
        equal(client.call('LAWN.EXTEND', 'k', 'i', token, 'LEASE', 1), 0)
        equal(take(client), [])
        step(HOUR + 1000)
        _, token, tries = one(client)
        equal(tries, 2)
        equal(client.call('LAWN.NACK', 'k', 'i', token), 1)
        _, token, tries = one(client)  # at once
        equal(tries, 3)
        equal(client.call('LAWN.ACK', 'k', 'i', token), [1])
        equal(meta(client)['due'], due + 10 * HOUR)


@case
def a_missed_period_is_counted_once_however_the_event_was_returned():
    for client, step in each():
        push(client, 'i', more=('EVERY', 10 * HOUR))
        due = meta(client)['due']
        step(10 * HOUR + 60000)  # leased late: one period missed
        _, token, _ = one(client)
        step(10 * HOUR)  # the lease has ended: two
        _, token, _ = one(client)
        equal(client.call('LAWN.NACK', 'k', 'i', token, 'DELAY', 11 * HOUR), 1)
        step(12 * HOUR)  # returned: three
        _, token, tries = one(client, lease=9 * HOUR)
        equal(tries, 3)
        equal([meta(client)['missed'], info(client)['missed']], [0, 0])
        step(8 * HOUR)  # leased: four
        equal(client.call('LAWN.ACK', 'k', 'i', token), [1])
        got = meta(client)
        equal([got['missed'], info(client)['missed']], [4, 4])
        equal(got['due'], due + 50 * HOUR)
        step(10 * HOUR)
        _, token, tries = one(client)
        equal([tries, client.call('LAWN.ACK', 'k', 'i', token)], [1, [1]])
        got = meta(client)
        equal([got['missed'], info(client)['missed']], [4, 4])
        equal(got['due'], due + 60 * HOUR)


@case
def nack_works_after_the_end_until_another_has_it():
    for client, step in each():
        push(client, 'i')
        _, token, _ = one(client)
        step(2 * HOUR)
        equal(client.call('LAWN.NACK', 'k', 'i', token, 'DELAY', HOUR), 1)
        equal(states(client), [1, 0, 0, 0])


@case
def extend_sets_the_end_from_now_also_after_it():
    for client, step in each():
        push(client, 'i')
        _, token, _ = one(client)
        before = int(client.call('TIME')[0]) * 1000
        end = client.call('LAWN.EXTEND', 'k', 'i', token, 'LEASE', 5 * HOUR)
        assert before + 5 * HOUR <= end < before + 5 * HOUR + 60000, end
        got = meta(client)
        equal([got['lease-end'], got['owner'], got['tries']], [end, 'me', 1])
        step(4 * HOUR)
        equal(states(client), [0, 0, 1, 0])
        end = client.call('LAWN.EXTEND', 'k', 'i', token, 'LEASE', HOUR // 2)
        step(HOUR)  # it was shortened
        equal(states(client), [0, 1, 0, 0])
        end = client.call('LAWN.EXTEND', 'k', 'i', token, 'LEASE', HOUR)
        equal(states(client), [0, 0, 1, 0])
        equal(meta(client)['lease-end'], end)
        equal(take(client), [])
        equal(client.call('LAWN.ACK', 'k', 'i', token), [1])


# TRIES

@case
def an_event_is_dead_when_its_tries_are_used_up():
    for client, step in each():
        push(client, 'i', more=('TRIES', 2))
        push(client, 'other')
        for count in (1, 2):
            id_, token, tries = one(client)
            equal((id_, tries) == ('i', count), True)
            equal(states(client), [0, 1, 1, 0])
            equal(ids(take(client, 'COUNT', 9, lease=1)), ['other'])
            step(2 * HOUR)
            if count == 1:
                equal(client.call('LAWN.TOUCH', 'k', 'other', 'AT', 1) > 0, True)
        equal(states(client), [0, 1, 0, 1])
        got = meta(client)
        equal([got['state'], got['tries'], got['max-tries']], ['dead', 2, 2])
        equal(info(client)['dead'], 1)
        equal(ids(client.call('LAWN.POLL', 'k')), ['other'])
        equal(take(client, 'COUNT', 9), [])
        equal(client.call('REDE.XPOLL', 'k'), [])
        equal(client.call('REDE.XACK', 'k', 'i'), [None])
        equal(client.call('LAWN.NEXT', 'k'), -1)
        equal(info(client)['next'], None)
        equal(info(client)['oldest-due'], 0)
        # The last owner is late, but no later lease exists.
        equal(client.call('LAWN.ACK', 'k', 'i', token), [1])
        equal(client.call('EXISTS', 'k'), 0)


@case
def the_nack_of_the_last_try_makes_the_event_dead_at_once():
    for client, step in each():
        push(client, 'i', more=('TRIES', 1))
        due = meta(client)['due']
        _, token, _ = one(client, owner='last')
        equal(client.call('LAWN.NACK', 'k', 'i', token, 'DELAY', FAR), 1)
        equal(states(client), [0, 0, 0, 1])
        got = meta(client)
        equal([got[n] for n in ('due', 'owner', 'tries')], [due, 'last', 1])
        equal(client.call('LAWN.ACK', 'k', 'i', token), [0])
        equal(client.call('LAWN.EXTEND', 'k', 'i', token, 'LEASE', 1), 0)
        step(9 * HOUR)
        equal(take(client), [])


@case
def tries_are_the_events_own_or_the_keys_or_those_of_all():
    for client, _ in each():
        def most(*more):
            push(client, 'i', more=more)
            before = meta(client)['max-tries']
            one(client)
            return [before, meta(client)['max-tries']]
        equal(client.call('CONFIG', 'GET', 'lawn.default-tries'),
              ['lawn.default-tries', '0'] if client.protocol == 2
              else {b'lawn.default-tries': b'0'})
        try:
            equal(most(), [0, 0])
            client.call('CONFIG', 'SET', 'lawn.default-tries', 7)
            equal(most(), [0, 7])
            equal(client.call('LAWN.CONFIG', 'k', 'SET', 'tries', 5), OK)
            equal(most(), [0, 5])
            equal(most('TRIES', 0), [0, 5])
            equal(most('TRIES', 3), [3, 3])
        finally:
            client.call('CONFIG', 'SET', 'lawn.default-tries', 0)
        # A limit that was applied does not change with the setting.
        client.call('LAWN.CONFIG', 'k', 'SET', 'tries', 1)
        equal(meta(client)['max-tries'], 3)
        equal(states(client), [0, 0, 1, 0])


@case
def the_dead_are_revived_or_replaced_or_removed():
    for client, step in each():
        def kill(*ids_):
            push(client, *ids_, more=('TRIES', 1))
            rows = take(client, 'COUNT', 9)
            for row in rows:
                client.call('LAWN.NACK', 'k', row[0], row[2])
            return rows
        kill(*'abcd')
        equal(states(client), [0, 0, 0, 4])
        assert client.call('LAWN.TOUCH', 'k', 'a', 'DELAY', 0) > 0
        equal([meta(client, 'a')[n] for n in ('state', 'tries', 'max-tries')],
              ['due', 0, 1])
        equal(one(client)[0::2] == ('a', 1), True)
        client.call('LAWN.PUSH', 'k', 'b', 'new', 'DELAY', HOUR)
        equal([meta(client, 'b')[n] for n in ('state', 'tries', 'max-tries')],
              ['waiting', 0, 0])
        equal(client.call('LAWN.CANCEL', 'k', 'c'), 1)
        equal(client.call('LAWN.UPDATE', 'k', 'd', 'new'), 'p-d')
        equal(states(client), [1, 0, 1, 1])
        equal(client.call('LAWN.PULL', 'k', 'd'), 'new')
        equal(states(client), [1, 0, 1, 0])


@case
def next_is_not_the_time_of_a_dead_event_that_is_not_yet_counted():
    for client, step in each():
        push(client, 'i', more=('TRIES', 1))
        one(client)
        client.call('LAWN.PUSH', 'k', 'j', 'p', 'DELAY', 9 * HOUR)
        client.call('LAWN.PAUSE', 'k')
        step(2 * HOUR)
        for name in ('LAWN.NEXT', 'REDE.TTN'):
            assert 6 * HOUR < client.call(name, 'k') <= 7 * HOUR, name


@case
def the_dead_keep_their_key_and_do_not_wake():
    server, clock = shared_clock()
    client = server.client()
    push(client, 'i', more=('TRIES', 1))
    one(client)
    waiting = waiter(server)
    clock.step(2 * HOUR)
    still_waits(server, waiting)
    equal(states(client), [0, 0, 0, 1])
    still_waits(server, waiting)
    client.call('LAWN.TOUCH', 'k', 'i', 'DELAY', 0)
    equal(ids(waiting.read()), ['i'])


# OTHER COMMANDS ON WHAT IS LEASED

@case
def touch_and_push_end_the_lease_of_an_event():
    for client, step in each():
        for change in (('LAWN.TOUCH', 'k', 'i', 'DELAY', HOUR),
                       ('LAWN.TOUCH', 'k', 'i', 'AT', 2**42),
                       ('LAWN.TOUCH', 'k', 'i', 'BY', 3 * HOUR),
                       ('LAWN.PUSH', 'k', 'i', 'new', 'DELAY', HOUR),
                       ('LAWN.MPUSH', 'k', 'DELAY', HOUR, 1, 'i', 'new')):
            push(client, 'i', more=('TRIES', 5))
            _, token, _ = one(client)
            client.call(*change)
            got = meta(client)
            equal([got[n] for n in ('state', 'tries', 'owner', 'lease-end')],
                  ['waiting', 0, '', 0], repr(change))
            equal(got['max-tries'], 5 if 'TOUCH' in change[0] else 0)
            equal(client.call('LAWN.ACK', 'k', 'i', token), [0])
            equal(client.call('LAWN.NACK', 'k', 'i', token), 0)
            equal(client.call('LAWN.EXTEND', 'k', 'i', token, 'LEASE', 1), 0)
            equal(states(client), [1, 0, 0, 0])


@case
def push_nx_keeps_leased_events_and_xx_replaces_them():
    for client, _ in each():
        push(client, 'i')
        _, token, _ = one(client)
        equal(client.call('LAWN.PUSH', 'k', 'i', 'x', 'DELAY', 1, 'NX'), None)
        equal(client.call('REDE.PUSH', 'k', 1, 'x', 'i'),
              error('ERROR: Element already dehydrating.'))
        equal(states(client), [0, 0, 1, 0])
        equal(client.call('LAWN.PUSH', 'k', 'i', 'x', 'DELAY', FAR, 'XX'), 'i')
        equal(client.call('LAWN.ACK', 'k', 'i', token), [0])


@case
def update_keeps_the_lease():
    for client, step in each():
        push(client, 'i')
        _, token, _ = one(client)
        before = meta(client)
        equal(client.call('LAWN.UPDATE', 'k', 'i', 'much longer ' * 50), 'p-i')
        after = meta(client)
        equal(after.pop('payload'), 'much longer ' * 50)
        before.pop('payload')
        assert after == before, (after, before)
        step(2 * HOUR)
        rows = take(client)
        equal(rows[0][1], 'much longer ' * 50)
        equal(client.call('LAWN.ACK', 'k', 'i', rows[0][2]), [1])


@case
def cancel_and_pull_take_leased_events():
    for client, _ in each():
        push(client, 'a', 'b', 'c')
        tokens = [row[2] for row in take(client, 'COUNT', 3)]
        equal(client.call('LAWN.CANCEL', 'k', 'a'), 1)
        equal(client.call('LAWN.PULL', 'k', 'b'), 'p-b')
        equal(client.call('REDE.PULL', 'k', 'c'), 'p-c')
        equal(client.call('EXISTS', 'k'), 0)
        for id_, token in zip('abc', tokens):
            equal(client.call('LAWN.ACK', 'k', id_, token), [0])


@case
def leased_events_are_not_due_for_others():
    for client, step in each():
        push(client, 'i')
        one(client)
        for _ in range(2):
            equal(client.call('LAWN.POLL', 'k'), [])
            equal(client.call('REDE.POLL', 'k'), [])
            equal(client.call('REDE.XPOLL', 'k'), [])
            equal(client.call('REDE.XACK', 'k', 'i'), [None])
            equal(client.call('REDE.LOOK', 'k', 'i'), 'p-i')
        step(2 * HOUR)
        equal(client.call('REDE.XPOLL', 'k'), ['i'])
        equal(client.call('REDE.POLL', 'k'), ['p-i'])
        equal(client.call('EXISTS', 'k'), 0)


@case
def drop_oldest_never_drops_leased_events():
    for client, _ in each():
        client.call('LAWN.CONFIG', 'k', 'SET', 'maxlen', 2, 'overflow',
                    'drop-oldest')
        push(client, 'a', 'b')
        _, token, _ = one(client)
        client.call('LAWN.PUSH', 'k', 'c', 'p', 'DELAY', FAR)
        equal(sorted(client.call('LAWN.SCAN', 'k', 0)[1]), ['a', 'c'])
        push(client, 'd')
        equal(ids(take(client, 'COUNT', 9)), ['d'])
        got = client.call('LAWN.PUSH', 'k', 'e', 'p', 'DELAY', FAR)
        assert isinstance(got, resp.Error) and got.startswith(b'FULL '), got
        equal(states(client), [0, 0, 2, 0])
        equal(client.call('LAWN.ACK', 'k', 'a', token), [1])
        equal(client.call('LAWN.PUSH', 'k', 'e', 'p', 'DELAY', FAR), 'e')


@case
def the_bytes_of_an_event_count_while_it_is_leased():
    for client, _ in each():
        client.call('LAWN.CONFIG', 'k', 'SET', 'maxbytes', 20, 'overflow',
                    'drop-oldest')

        def full(id_, size=9):
            got = client.call('LAWN.PUSH', 'k', id_, 'p' * size, 'AT', 1)
            if not isinstance(got, resp.Error):
                equal(got, id_)
                return False
            assert got.startswith(b'FULL '), got
            return True
        for end in ('ACK', 'NACK', 'TOUCH', 'CANCEL') * 3:
            equal(full('a'), False)
            token = one(client)[1]
            client.call('LAWN.' + end, 'k', 'a',
                        *{'TOUCH': ('AT', 1), 'CANCEL': ()}.get(end, (token,)))
            client.call('LAWN.CANCEL', 'k', 'a')
        equal(full('a'), False)
        one(client)
        equal(full('b'), False)
        equal(full('c'), False)  # b makes room
        equal(ids(take(client, 'COUNT', 9)), ['c'])
        equal(full('d'), True)
        equal(full('d', 1), True)


@case
def a_paused_key_leases_nothing_but_takes_acks():
    for client, step in each():
        push(client, *'abcd')
        rows = take(client, 'COUNT', 3)
        equal(client.call('LAWN.PAUSE', 'k'), OK)
        equal(take(client, 'COUNT', 9), [])
        equal(client.call('LAWN.ACK', 'k', 'a', rows[0][2]), [1])
        equal(client.call('LAWN.NACK', 'k', 'b', rows[1][2]), 1)
        assert client.call('LAWN.EXTEND', 'k', 'c', rows[2][2], 'LEASE', 1) > 0
        step(HOUR)
        equal(take(client, 'COUNT', 9), [])
        equal(client.call('LAWN.RESUME', 'k'), OK)
        equal(sorted(ids(take(client, 'COUNT', 9))), ['b', 'c', 'd'])


@case
def listeners_are_notified_of_leases():
    server, clock = shared_clock()
    client, listener = server.client(), server.client()
    server.call('CONFIG', 'SET', 'notify-keyspace-events', 'Kd')
    try:
        listener.one('PSUBSCRIBE', '__keyspace@0__:k')

        def heard(*names):
            for name in names:
                equal(listener.read()[3], name)
            server.call('PING')
            equal(listener.waits(), True, 'and of nothing else')

        def leased():
            got = listener.read()[3]
            if got == b'lawn.fire':  # it was due for a while
                got = listener.read()[3]
            equal(got, 'lawn.lease')
        push(client, 'i', more=('TRIES', 2))
        equal(listener.read()[3], 'lawn.push')
        _, token, _ = one(client)
        leased()
        client.call('LAWN.NACK', 'k', 'i', token, 'DELAY', FAR)
        heard('lawn.nack')
        client.call('LAWN.TOUCH', 'k', 'i', 'DELAY', FAR)
        heard('lawn.touch')
        client.call('LAWN.PUSH', 'k', 'j', 'p', 'AT', 1, 'TRIES', 1)
        equal(listener.read()[3], 'lawn.push')
        _, token, _ = one(client)
        leased()
        client.call('LAWN.NACK', 'k', 'j', token)
        equal(sorted([listener.read()[3], listener.read()[3]]),
              ['lawn.dead', 'lawn.nack'])
        client.call('LAWN.TOUCH', 'k', 'j', 'AT', 1)
        equal(listener.read()[3], 'lawn.touch')
        _, token, _ = one(client)
        leased()
        client.call('LAWN.ACK', 'k', 'j', token)
        heard('lawn.ack')
    finally:
        server.call('CONFIG', 'SET', 'notify-keyspace-events', '')


@case
def listeners_are_notified_of_dead_events_however_they_are_found():
    server = shared()
    client, listener = server.client(), server.client()
    server.call('DEL', 'k')
    server.call('CONFIG', 'SET', 'notify-keyspace-events', 'Kd')
    try:
        listener.one('PSUBSCRIBE', '__keyspace@0__:k')

        def heard(name):
            while listener.read()[3] != name:
                pass
        # A command is first: the server is busy until the lease has ended.
        client.send_all([('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 0, 'TRIES', 1),
                         ('LAWN.LEASE', 'k', 'w', 'LEASE', 20),
                         ('DEBUG', 'SLEEP', '0.05'),
                         ('LAWN.LEN', 'k', 'DEAD')])
        equal([client.read() for _ in range(4)][3], 1)
        heard(b'lawn.dead')
        # It ends while the key is paused.
        push(client, 'j', more=('TRIES', 1))
        client.multi(('LAWN.LEASE', 'k', 'w', 'LEASE', 1), ('LAWN.PAUSE', 'k'))
        heard(b'lawn.lease')
        wait_until(lambda: client.call('LAWN.LEN', 'k', 'DEAD') == 2,
                   'the lease has ended')
        server.call('PING')
        equal(listener.waits(), True, 'a paused key sends no notification')
        # Also not if a command changes it, or makes an event dead.
        client.call('LAWN.RESUME', 'k')
        heard(b'lawn.dead')
        push(client, 'l', more=('TRIES', 1))
        heard(b'lawn.push')
        rows = client.multi(('LAWN.LEASE', 'k', 'w', 'LEASE', HOUR),
                            ('LAWN.PAUSE', 'k'))
        heard(b'lawn.lease')
        equal(client.call('LAWN.NACK', 'k', 'l', rows[0][0][2]), 1)
        equal(listener.read()[3], 'lawn.nack')
        client.call('LAWN.PUSH', 'k', 'm', 'p', 'DELAY', FAR)
        equal(listener.read()[3], 'lawn.push')
        server.call('PING')
        equal(listener.waits(), True, 'a paused key that is changed')
        equal(client.call('DEBUG', 'RELOAD'), OK)
        client.call('LAWN.RESUME', 'k')
        heard(b'lawn.dead')
        server.call('PING')
        equal(listener.waits(), True, 'and of nothing else')
    finally:
        server.call('CONFIG', 'SET', 'notify-keyspace-events', '')


@case
def commands_that_need_no_memory_work_when_there_is_none():
    for client, _ in each():
        push(client, *'abcde')
        rows = take(client, 'COUNT', 3)
        try:
            client.call('CONFIG', 'SET', 'maxmemory', 1)
            for args in (('LAWN.PUSH', 'k', 'x', 'p', 'DELAY', 1),
                         ('LAWN.MPUSH', 'k', 'DELAY', 1, 1, 'x', 'p')):
                got = client.call(*args)
                assert isinstance(got, resp.Error), (args, got)
                assert got.startswith(b'OOM '), got
            equal(client.call('LAWN.ACK', 'k', 'a', rows[0][2]), [1])
            equal(client.call('LAWN.NACK', 'k', 'b', rows[1][2]), 1)
            assert client.call('LAWN.EXTEND', 'k', 'c', rows[2][2], 'LEASE',
                               HOUR) > 0
        finally:
            client.call('CONFIG', 'SET', 'maxmemory', 0)
        equal(sorted(ids(take(client, 'COUNT', 9))), ['b', 'd', 'e'])


# WAITING

@case
def the_first_client_gets_the_first_event():
    server, _ = shared_clock()
    client = server.client()
    waiters = [waiter(server, 'LAWN.LEASE', 'k', f'w{i}', 'LEASE', HOUR,
                      'BLOCK', 0, protocol=2 + i % 2) for i in range(6)]
    for i in range(3):
        push(client, f'e{i}')
        equal(ids(waiters[i].read()), [f'e{i}'])
        equal(meta(client, f'e{i}')['owner'], f'w{i}')
    still_waits(server, *waiters[3:])
    client.multi(*[('LAWN.PUSH', 'k', f'e{i}', 'p', 'AT', 1)
                   for i in range(3, 6)])
    for i in range(3, 6):
        equal(ids(waiters[i].read()), [f'e{i}'])
        waiters[i].echo()


@case
def leasing_and_polling_clients_wait_in_one_queue():
    server, _ = shared_clock()
    client = server.client()
    waiters = [waiter(server, *args) for args in (
        ('LAWN.POLL', 'k', 'BLOCK', 0, 'COUNT', 1),
        ('LAWN.LEASE', 'k', 'me', 'BLOCK', 0, 'COUNT', 2),
        ('LAWN.POLL', 'k', 'BLOCK', 0, 'COUNT', 1),
        ('LAWN.LEASE', 'k', 'me', 'BLOCK', 0))]
    client.call('LAWN.MPUSH', 'k', 'AT', 1, 5, *'aabbccddee')
    equal([ids(each_.read()) for each_ in waiters],
          [['a'], ['b', 'c'], ['d'], ['e']])
    equal(states(client), [0, 0, 3, 0])


@case
def events_of_a_dead_consumer_are_given_to_another_at_the_end_of_the_lease():
    server, clock = shared_clock()
    client = server.client()
    first = waiter(server)
    second = waiter(server)
    push(client, 'i')
    token = first.read()[0][2]
    first.close()
    still_waits(server, second)
    clock.step(HOUR // 2)
    still_waits(server, second)
    equal(states(client), [0, 0, 1, 0])
    clock.step(HOUR // 2 + 1000)
    row = second.read()[0]
    equal([row[0], row[3]], ['i', 2])
    assert row[2] > token
    equal(client.call('LAWN.ACK', 'k', 'i', token), [0])
    equal(client.call('LAWN.ACK', 'k', 'i', row[2]), [1])


@case
def the_end_of_a_lease_wakes_in_time_and_never_early():
    server = shared()
    client = server.client()
    for lease in (1, 5, 25):
        for args in (('LAWN.LEASE', 'k', 'me', 'BLOCK', 0),
                     ('LAWN.POLL', 'k', 'BLOCK', 0)):
            waiting = waiter(server, *args)
            # The event is leased before the waiting client can be served.
            rows = client.multi(('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1),
                                ('LAWN.LEASE', 'k', 'x', 'LEASE', lease),
                                ('LAWN.GET', 'k', 'i', 'META'))
            equal(ids(rows[1]), ['i'])
            end = dict(zip(rows[2][::2], rows[2][1::2]))[b'lease-end']
            equal(ids(waiting.read()), ['i'])
            now = server.clock()
            assert end <= now, (end, now)
            client.call('DEL', 'k')
            waiting.close()


@case
def every_change_that_gives_one_back_wakes():
    server, clock = shared_clock()
    client = server.client()
    for change in (('LAWN.NACK', 'k', 'i', 'TOKEN'),
                   ('LAWN.TOUCH', 'k', 'i', 'AT', 1),
                   ('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1),
                   ('LAWN.APPLY', 'k', 'AT', 'i', 1, 0, '')):
        push(client, 'i')
        _, token, _ = one(client)
        waiting = waiter(server)
        client.call(*[token if w == 'TOKEN' else w for w in change])
        equal(ids(waiting.read()), ['i'], repr(change))
        client.call('DEL', 'k')
    push(client, 'i', more=('EVERY', HOUR))
    _, token, _ = one(client)
    waiting = waiter(server)
    client.call('LAWN.NACK', 'k', 'i', token)
    equal(ids(waiting.read()), ['i'], 'one that repeats')
    client.call('DEL', 'k')
    # Commands that return it later wake clients then.
    for change, ms in ((('LAWN.NACK', 'k', 'i', 'TOKEN', 'DELAY', 3 * HOUR),
                        3 * HOUR),
                       (('LAWN.EXTEND', 'k', 'i', 'TOKEN', 'LEASE', 3 * HOUR),
                        3 * HOUR),
                       (('LAWN.EXTEND', 'k', 'i', 'TOKEN', 'LEASE', 5000),
                        5000)):
        push(client, 'i')
        _, token, _ = one(client)
        waiting = waiter(server)
        client.call(*[token if w == 'TOKEN' else w for w in change])
        clock.step(ms - 2000)
        still_waits(server, waiting)
        clock.step(2500)
        equal(ids(waiting.read()), ['i'], repr(change))
        client.call('DEL', 'k')


@case
def an_ack_that_repeats_wakes_at_the_next_time():
    server, clock = shared_clock()
    client = server.client()
    push(client, 'i', more=('EVERY', HOUR))
    _, token, _ = one(client, lease=9 * HOUR)
    waiting = waiter(server)
    clock.step(HOUR // 2)
    equal(client.call('LAWN.ACK', 'k', 'i', token), [1])
    still_waits(server, waiting)
    clock.step(HOUR // 2 + 1000)
    row = waiting.read()[0]
    equal([row[0], row[3]], ['i', 1])


@case
def no_client_waits_in_a_transaction_or_a_script():
    for client, _ in each():
        equal(client.multi(('LAWN.LEASE', 'k', 'me', 'BLOCK', 0),
                           ('LAWN.LEASE', 'k', 'me', 'BLOCK', 10**9)),
              [[], []])
        equal(client.call('EVAL', "return redis.call('LAWN.LEASE', KEYS[1], "
                          "'me', 'BLOCK', 0)", 1, 'k'), [])
        push(client, 'i')
        rows = client.call('EVAL', "return redis.call('LAWN.LEASE', KEYS[1], "
                           "'me', 'BLOCK', 0)", 1, 'k')
        equal(ids(rows), ['i'])
        equal(client.call('EVAL', "return redis.call('LAWN.ACK', KEYS[1], 'i', "
                          "ARGV[1])", 1, 'k', rows[0][2]), [1])


@case
def waiting_for_a_lease_ends_after_its_time_with_an_empty_array():
    server = shared()
    for protocol in (2, 3):
        client = server.client(protocol)
        before = server.clock()
        equal(client.raw('LAWN.LEASE', 'k', 'me', 'BLOCK', 20), b'*0\r\n')
        assert server.clock() >= before + 20
        equal(server.call('EXISTS', 'k'), 0)


@case
def client_unblock_ends_waiting_for_a_lease():
    server, _ = shared_clock()
    for protocol in (2, 3):
        for word, expected in (('TIMEOUT', []), ('ERROR', None)):
            client = server.client(protocol)
            number = client.call('CLIENT', 'ID')
            server.waits(client, 'LAWN.LEASE', 'k', 'me', 'BLOCK', 0)
            equal(server.call('CLIENT', 'UNBLOCK', number, word), 1)
            got = client.read()
            if expected is None:
                assert isinstance(got, resp.Error), got
                assert got.startswith(b'UNBLOCKED'), got
            else:
                equal(got, expected)
            push(server.control, 'i')
            equal(server.call('LAWN.LEN', 'k', 'LEASED'), 0)
            equal(ids(client.call('LAWN.LEASE', 'k', 'me')), ['i'])
            server.call('DEL', 'k')


@case
def a_client_that_is_killed_or_disconnects_leases_nothing():
    server, _ = shared_clock()
    client = server.client()
    for how in ('kill', 'close', 'kill all'):
        gone = [waiter(server) for _ in range(3)]
        last = waiter(server)
        if how == 'close':
            for each_ in gone:
                each_.close()
        else:
            text = server.call('CLIENT', 'LIST').decode().splitlines()
            flagged = [line for line in text if 'cmd=lawn.lease' in line]
            for line in flagged[:3]:
                number = line.split()[0].removeprefix('id=')
                client.call('CLIENT', 'KILL', 'ID', number)
        wait_until(lambda: server.call('CLIENT', 'LIST').count(b'=lawn.lease')
                   == 1, 'three are gone')
        push(client, 'i')
        equal(ids(last.read()), ['i'])
        row = meta(client)
        equal([row['tries'], row['state']], [1, 'leased'])
        last.close()
        server.call('DEL', 'k')


@case
def a_client_that_waits_for_a_paused_key_gets_its_lease_when_the_key_is_resumed():
    server, clock = shared_clock()
    client = server.client()
    push(client, 'i')
    one(client)
    client.call('LAWN.PAUSE', 'k')
    waiting = waiter(server)
    clock.step(2 * HOUR)
    still_waits(server, waiting)
    push(client, 'j')
    still_waits(server, waiting)
    client.call('LAWN.RESUME', 'k')
    equal(ids(waiting.read()), ['i'])


@case
def many_consumers_get_each_event_once_and_lose_none():
    server = shared()
    client = server.client()
    waiters = [server.client() for _ in range(40)]
    for i, each_ in enumerate(waiters):
        each_.send('LAWN.LEASE', 'k', f'w{i}', 'LEASE', HOUR, 'COUNT', 2,
                   'BLOCK', 0)
    count = 600
    client.send_all(('LAWN.PUSH', 'k', i, 'p', 'DELAY', i % 20)
                    for i in range(count))
    got, acked = {}, 0
    end = server.clock() + 20000

    def look():
        nonlocal acked
        for i, each_ in enumerate(waiters):
            while not each_.waits():
                reply = each_.read()
                words = []
                for row in reply:
                    assert row[0] not in got, 'twice'
                    got[row[0]] = row[2]
                    words += [row[0], row[2]]
                each_.send('LAWN.ACK', 'k', *words)
                equal(each_.read(), [1] * len(reply))
                acked += len(reply)
                each_.send('LAWN.LEASE', 'k', f'w{i}', 'LEASE', HOUR, 'COUNT',
                           2, 'BLOCK', 0)
        return acked == count
    wait_until(look, 'all are done')
    assert server.clock() < end
    equal(len(set(got.values())), count, 'tokens')
    for _ in range(count):
        client.read()
    equal(client.call('EXISTS', 'k'), 0)


@case
def a_server_that_wants_no_writes_leases_nothing_and_lives():
    server, clock = shared_clock()
    client = server.client()
    push(client, 'i')
    one(client)
    waiting = [waiter(server), waiter(server),
               waiter(server, 'LAWN.POLL', 'k', 'BLOCK', 0)]
    short = waiter(server, 'LAWN.LEASE', 'other', 'me', 'BLOCK', 300)
    client.multi(('LAWN.PUSH', 'other', 'x', 'p', 'AT', 1),
                 ('CLIENT', 'PAUSE', 9 * HOUR, 'WRITE'))
    clock.step(2 * HOUR)
    still_waits(server, *waiting)
    equal(short.read(), [])  # its timeout had passed
    equal(server.call('LAWN.LEN', 'k', 'DUE'), 1)
    still_waits(server, *waiting)
    equal(server.call('CLIENT', 'UNPAUSE'), OK)
    row = waiting[0].read()[0]
    equal([row[0], row[3]], ['i', 2])
    still_waits(server, *waiting[1:])
    push(client, 'j')
    equal(ids(waiting[1].read()), ['j'])
    equal(ids(take(client, key='other')), ['x'])


# WHAT HAPPENS TO KEYS

def rich(client, step=None):
    """Creates a key with events in every state; returns tokens by id."""
    client.call('LAWN.CONFIG', 'k', 'SET', 'tries', 9, 'lease', 12345)
    push(client, 'dead', more=('TRIES', 1))
    row = take(client)[0]
    client.call('LAWN.NACK', 'k', 'dead', row[2])
    push(client, 'back')
    row = take(client)[0]
    client.call('LAWN.NACK', 'k', 'back', row[2], 'DELAY', HOUR)
    push(client, 'ended', more=('EVERY', FAR, 'TIMES', 4, 'TRIES', 7))
    tokens = {'ended': take(client, owner=b'\0\xff', lease=HOUR // 2)[0][2]}
    push(client, 'long', more=('EVERY', FAR))
    tokens['long'] = take(client, owner='o' * 255, lease=5 * HOUR)[0][2]
    push(client, 'plain')
    tokens['plain'] = take(client, owner='', lease=4 * HOUR)[0][2]
    client.call('LAWN.PUSH', 'k', 'waits', 'p', 'DELAY', FAR, 'TRIES', 3)
    # The greatest token is that of a removed event.
    push(client, 'gone')
    tokens['gone'] = take(client)[0][2]
    client.call('LAWN.ACK', 'k', 'gone', tokens['gone'])
    push(client, 'due')
    if step:
        step(HOUR // 2 + 1000)
    return tokens


def check_rich(client, tokens, step=None, key='k'):
    """Checks that all events exist, tokens are valid, and new ones are greater.
    """
    equal([meta(client, i, key)[n] for i in ('dead', 'back', 'long', 'ended')
           for n in ('tries', 'max-tries', 'owner')],
          [1, 1, 'me', 1, 9, '', 1, 9, 'o' * 255, 1, 7, b'\0\xff'])
    equal(meta(client, 'dead', key)['state'], 'dead')
    if step:
        equal(states(client, key), [2, 2, 2, 1])
    row = one(client, key=key)
    assert row[1] > max(tokens.values()), row
    for id_, token in tokens.items():
        equal(client.call('LAWN.ACK', key, id_, token + 1), [0])
        equal(client.call('LAWN.ACK', key, id_, token), [int(id_ != 'gone')],
              id_)
    got = client.call('LAWN.CONFIG', key, 'GET', 'tries', 'lease')
    equal(got, ['tries', 9, 'lease', 12345])


@case
def leases_go_with_their_key():
    for change, db in ((('RENAME', 'k', 'new'), 0), (('MOVE', 'k', 1), 1),
                       (('SWAPDB', 0, 1), 1), (('COPY', 'k', 'new'), 0),
                       (('COPY', 'k', 'k', 'DB', 1), 1)):
        server, clock = shared_clock()
        client, there = server.client(), server.client()
        tokens = rich(client, clock.step)
        digest = server.digest('k')
        client.call(*change)
        there.call('SELECT', db)
        key = 'new' if 'new' in change else 'k'
        equal(there.call('DEBUG', 'DIGEST-VALUE', key), [digest])
        check_rich(there, tokens, clock.step, key)
        # changes to the copy do not affect the original
        if change[0] == 'COPY':
            check_rich(client, tokens, clock.step)


@case
def a_waiting_client_gets_events_that_arrive_by_swapdb():
    server = shared()
    client, there = server.client(), server.client()
    there.call('SELECT', 1)
    push(there, 'there')
    # the second client finds nothing, and keeps waiting
    first, second = server.client(), server.client()
    for waiting in (first, second):
        server.waits(waiting, 'LAWN.LEASE', 'k', 'me', 'BLOCK', 0)
    push(client, 'here')
    equal(first.read()[0][0], 'here')
    still_waits(server, second)
    client.call('SWAPDB', 0, 1)
    equal(second.read()[0][0], 'there')


@case
def a_token_that_was_made_up_is_of_no_use_in_other_keys():
    def made_up(token):
        return rdb.dump(rdb.value([now_ms(), 2**64 - 1, 5, *[0] * 8, token, 0,
                                   b'', 0, b'', 0, 0], 1))

    server = shared()
    client = server.client()
    for token in (2**63 - 1, 2**53):
        reply = client.call('RESTORE', 'evil', 0, made_up(token))
        assert isinstance(reply, resp.Error), reply
    for token in (2**53 - 1, 2**52):
        equal(client.call('RESTORE', 'evil', 0, made_up(token), 'REPLACE'), OK)
        client.call('DEL', 'k')
        push(client, 'i')
        stale = client.call('LAWN.LEASE', 'k', 'a', 'LEASE', 1)[0][2]
        good = client.call('LAWN.LEASE', 'k', 'b', 'BLOCK', 0)[0][2]
        assert stale < good < (now_ms() + HOUR) * 1024, (stale, good)
        equal(client.call('LAWN.ACK', 'k', 'i', stale), [0])
        equal(client.call('LAWN.ACK', 'k', 'i', good), [1])
    # and the key itself issues none twice
    equal(client.call('RESTORE', 'evil', 0, made_up(2**53 - 1), 'REPLACE'), OK)
    push(client, 'i', key='evil')
    equal(client.call('LAWN.LEASE', 'evil', 'a'),
          error('ERR the key has no lease tokens left; push its events into '
                'another key'))
    equal(client.call('LAWN.LEN', 'evil', 'DUE'), 1)


@case
def tokens_do_not_go_back_with_a_dump():
    server = shared()
    client = server.client()
    push(client, 'i')
    push(client, 'j')
    client.call('LAWN.LEASE', 'k', 'a')
    dump = client.call('DUMP', 'k')
    last = client.call('LAWN.LEASE', 'k', 'a')[0][2]
    for _ in range(20):
        client.one('MULTI')
        client.one('RESTORE', 'k', 0, dump, 'REPLACE')
        client.one('LAWN.LEASE', 'k', 'b')
        got = client.one('EXEC')[1][0][2]
        assert got > last, (got, last)
        last = got


@case
def the_end_of_a_lease_wakes_where_the_event_is_now():
    for change, key, db in ((('RENAME', 'k', 'new'), 'new', 0),
                            (('MOVE', 'k', 1), 'k', 1),
                            (('SWAPDB', 0, 1), 'k', 1)):
        server, clock = shared_clock()
        client, waiting = server.client(), server.client()
        push(client, 'i')
        _, token, _ = one(client)
        waiting.call('SELECT', db)
        server.waits(waiting, 'LAWN.LEASE', key, 'me', 'BLOCK', 0)
        client.call(*change)
        still_waits(server, waiting)
        clock.step(2 * HOUR)
        row = waiting.read()[0]
        equal([row[0], row[3]], ['i', 2])
        assert row[2] > token


@case
def a_key_with_leases_expires_and_its_tokens_become_invalid():
    server, clock = shared_clock()
    client = server.client()
    tokens = rich(client)
    equal(client.call('EXPIRE', 'k', 5000), 1)
    clock.step(2 * HOUR)
    equal(client.call('LAWN.ACK', 'k', 'long', tokens['long']), [0])
    equal(client.call('EXISTS', 'k'), 0)
    push(client, 'long')
    assert one(client)[1] > max(tokens.values())


@case
def leases_are_dumped_and_restored():
    server, clock = shared_clock()
    client = server.client()
    tokens = rich(client, clock.step)
    digest = server.digest('k')
    dump = client.call('DUMP', 'k')
    client.call('DEL', 'k')
    equal(client.call('RESTORE', 'k', 0, dump), OK)
    equal(server.digest('k'), digest)
    check_rich(client, tokens, clock.step)
    equal(client.call('RESTORE', 'k', 0, dump, 'REPLACE'), OK)
    equal(client.call('DEBUG', 'RELOAD'), OK)
    equal(server.digest('k'), digest)
    check_rich(client, tokens, clock.step)


@case
def leases_survive_the_append_only_file_and_its_rewrites():
    clock = Clock()
    with Server('appendonly', 'yes', 'auto-aof-rewrite-percentage', 0,
                clock=clock) as server:
        for way in ('as it grew', 'yes', 'no'):
            client = server.client()
            client.call('DEL', 'k')
            tokens = rich(client, clock.step)
            wait_until(lambda c=client: c.call('LAWN.LEN', 'k', 'LEASED') == 2,
                       'a lease ends')
            digest = server.digest('k')
            if way != 'as it grew':
                client.call('CONFIG', 'SET', 'aof-use-rdb-preamble', way)
                client.call('BGREWRITEAOF')
                wait_until(lambda: not any(
                    int(server.info('persistence')[f'aof_rewrite_{what}'])
                    for what in ('in_progress', 'scheduled')), 'it is rewritten')
            equal(client.call('DEBUG', 'LOADAOF'), OK)
            equal(server.digest('k'), digest, way)
            check_rich(client, tokens)


@case
def the_digest_distinguishes_leases():
    server, _ = shared_clock()
    client = server.client()
    seen = set()
    base = ('LAWN.APPLY', 'k', 'LEASE', 'i')
    client.call('LAWN.PUSH', 'k', 'i', 'p', 'AT', 2**41)
    for words in (None, (5, 1, 0, 2**41, 0, 'me'), (6, 1, 0, 2**41, 0, 'me'),
                  (6, 2, 0, 2**41, 0, 'me'), (6, 2, 3, 2**41, 0, 'me'),
                  (6, 2, 3, 2**41 + 1, 0, 'me'),
                  (6, 2, 3, 2**41 + 1, 0, 'you')):
        if words:
            equal(client.call(*base, *words), OK, repr(words))
        seen.add(server.digest('k'))
    for words in (('CFG', 'tries', 5), ('CFG', 'lease', 5), ('TOKEN', 2**50),
                  ('SINK', 'stream', 'out', 0, ''),
                  ('SINK', 'stream', 'out', 7, ''),
                  ('SINK', 'list', 'out', 0, ''),
                  ('SINK', 'none', '', 0, 'out')):
        equal(client.call('LAWN.APPLY', 'k', *words), OK, repr(words))
        seen.add(server.digest('k'))
    equal(len(seen), 14)


# REPLICAS

def caught_up(master, replica):
    wait_until(lambda: replica.info('replication').get('slave_repl_offset')
               == master.info('replication')['master_repl_offset'] and
               replica.info('replication').get('master_link_status') == 'up',
               'the replica has caught up')


@case
def a_promoted_replica_continues_with_the_leases():
    master, clock = shared_clock()
    with Server(clock=clock) as replica:
        replica.call('REPLICAOF', '127.0.0.1', master.port)
        caught_up(master, replica)
        client, there = master.client(), replica.client()
        tokens = rich(client, clock.step)
        caught_up(master, replica)
        equal(replica.digest('k'), master.digest('k'))
        equal(states(there), [2, 2, 2, 1])
        for args in (('LAWN.LEASE', 'k', 'me'),
                     ('LAWN.LEASE', 'k', 'me', 'BLOCK', 0),
                     ('LAWN.ACK', 'k', 'long', tokens['long']),
                     ('LAWN.NACK', 'k', 'long', tokens['long']),
                     ('LAWN.EXTEND', 'k', 'long', tokens['long'], 'LEASE', 9)):
            got = there.call(*args)
            assert isinstance(got, resp.Error), (args, got)
            assert got.startswith(b'READONLY'), got
        # A lease that ends there delivers nothing, and sends no notification.
        offset = master.info('replication')['master_repl_offset']
        clock.step(4 * HOUR)
        equal(states(there), [1, 4, 1, 1])
        equal(replica.digest('k'), master.digest('k'))
        assert int(master.info('replication')['master_repl_offset']) \
            - int(offset) < 100, 'the end of a lease is replicated'
        clock.step(-4 * HOUR)
        there.call('PING')
        equal(replica.call('REPLICAOF', 'NO', 'ONE'), OK)
        check_rich(there, tokens)


@case
def a_promoted_replica_gives_the_leases_of_a_dead_master_to_others():
    master, clock = shared_clock()
    with Server(clock=clock) as replica:
        replica.call('REPLICAOF', '127.0.0.1', master.port)
        caught_up(master, replica)
        client = master.client()
        push(client, 'i')
        _, token, _ = one(client)
        caught_up(master, replica)
        replica.call('REPLICAOF', 'NO', 'ONE')
        waiting = waiter(replica)
        still_waits(replica, waiting)
        clock.step(HOUR + 1000)
        row = waiting.read()[0]
        equal([row[0], row[3]], ['i', 2])
        assert row[2] > token
        equal(replica.call('LAWN.ACK', 'k', 'i', token), [0])


@case
def a_master_that_becomes_a_replica_unblocks_clients_that_wait_for_a_lease():
    with Server() as server:
        waiting = waiter(server)
        server.call('REPLICAOF', '127.0.0.1', 1)
        got = waiting.read()
        assert isinstance(got, resp.Error) and got.startswith(b'UNBLOCKED'), got


if __name__ == '__main__':
    main(__doc__)
