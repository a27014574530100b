#!/usr/bin/env python3
"""commands.py [--server redis|valkey] [PART OF A NAME] - every command, option,
reply and error of LAWN.*, in RESP2 and RESP3.
"""

import re

import resp
from resp import OK
from server import (FAR, case, each_protocol, equal, error, main, missing,
                    near, no_number, now_ms, null, same, shared, syntax,
                    wait_until)

LIMIT = 2**53
WRONG_TYPE = error('WRONGTYPE Operation against a key holding the wrong kind '
                   'of value')
# Words that are not numbers, or not in the range from 0 to LIMIT.
NO_NUMBERS = ('', 'x', '1.5', '1e3', '0x10', ' 1', '1 ', '-1', '1\0', '--1',
              str(LIMIT + 1), str(2**63), str(2**64), '9' * 30)

# Each command: minimum and maximum number of words, including its name (None:
# unlimited), and the words of a valid call.
COMMANDS = {
    'lawn.push': (6, None, ('id', 'payload', 'DELAY', FAR)),
    'lawn.mpush': (7, None, ('DELAY', FAR, 1, 'id', 'payload')),
    'lawn.cancel': (3, None, ('id',)),
    'lawn.pull': (3, 3, ('id',)),
    'lawn.get': (3, None, ('id',)),
    'lawn.update': (4, 4, ('id', 'payload')),
    'lawn.touch': (5, None, ('id', 'DELAY', FAR)),
    'lawn.poll': (2, None, ()),
    'lawn.next': (2, 2, ()),
    'lawn.len': (2, None, ()),
    'lawn.scan': (3, None, (0,)),
    'lawn.info': (2, 2, ()),
    'lawn.config': (3, None, ('GET',)),
    'lawn.pause': (2, 2, ()),
    'lawn.resume': (2, 2, ()),
    'lawn.lease': (3, None, ('owner',)),
    'lawn.ack': (4, None, ('id', 1)),
    'lawn.nack': (4, None, ('id', 1)),
    'lawn.extend': (6, 6, ('id', 1, 'LEASE', 1)),
    'lawn.sink': (3, None, ('NONE',)),
    'lawn.apply': (3, None, ('DEL', 'id')),
}
# The fields of GET META for an event that was never leased.
FREE = {b'tries': 0, b'max-tries': 0, b'lease-end': 0, b'owner': b''}


def arity(name):
    return error(f"ERR wrong number of arguments for '{name}' command")


def as_map(reply, protocol):
    """Returns a map, which is a flat array in RESP2."""
    if protocol == 3:
        assert isinstance(reply, resp.Map), f'no map: {reply!r}'
        return dict(reply)
    assert type(reply) is list, f'no array: {reply!r}'
    return dict(zip(reply[::2], reply[1::2]))


def due_of(client, key, id_):
    got = as_map(client.call('LAWN.GET', key, id_, 'META'), client.protocol)
    return got[b'due']


# ERRORS THAT ALL COMMANDS HAVE

@case
def every_command_wants_its_number_of_arguments():
    for client in each_protocol():
        for name, (least, most, args) in COMMANDS.items():
            whole = ('k', *args)
            for count in range(least - 1):
                equal(client.call(name, *whole[:count]), arity(name))
                equal(client.call(name.upper(), *whole[:count]), arity(name))
            if most is not None:
                equal(client.call(name, *whole, 'x'), arity(name))
                equal(client.call(name, *whole, *'abcdefgh'), arity(name))
        equal(client.call('DBSIZE'), 0)


@case
def every_command_refuses_a_key_of_another_type():
    for client in each_protocol():
        client.call('SET', 'string', 'v')
        client.call('RPUSH', 'list', 'v')
        client.call('HSET', 'hash', 'f', 'v')
        client.call('XADD', 'stream', '*', 'f', 'v')
        for key in ('string', 'list', 'hash', 'stream'):
            for name, (_, _, args) in COMMANDS.items():
                if name == 'lawn.config':
                    equal(client.call(name, key, 'SET', 'maxlen', 1),
                          WRONG_TYPE, name)
                equal(client.call(name, key, *args), WRONG_TYPE, name)
        equal(client.call('LAWN.POLL', 'string', 'BLOCK', 0), WRONG_TYPE)
        equal(client.call('DBSIZE'), 4)
        equal(client.call('GET', 'string'), 'v')


@case
def other_commands_refuse_a_key_of_ours():
    for client in each_protocol():
        client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', FAR)
        for args in (('GET', 'k'), ('LPUSH', 'k', 'v'), ('HGET', 'k', 'f'),
                     ('ZADD', 'k', 1, 'm'), ('XLEN', 'k')):
            equal(client.call(*args), WRONG_TYPE)
        equal(client.call('TYPE', 'k'), resp.Simple(b'dehy-type'))
        equal(client.call('LAWN.LEN', 'k'), 1)


@case
def every_command_survives_any_number_of_strange_words():
    strange = ('', '\0', '%s%n', '*', '-1', '0', '9' * 25, 'NX', 'DELAY', 'AT',
               'COUNT', 'META', 'SET', 'GET', 'ADD', 'DEL', 'CFG', b'\xff\xfe',
               'x' * 70000, '\r\n+OK\r\n')
    client = shared().client(3)
    for name in COMMANDS:
        calls = []
        for a in strange:
            calls += [(name, *[a] * count) for count in range(1, 8)]
            for b in strange:
                calls += [(name, 'k', a, b), (name, 'k', 'i', 'p', a, b),
                          (name, 'k', 'i', a, 10, b, 10)]
        for begin in range(0, len(calls), 100):
            part = calls[begin:begin + 100]
            got = client.pipe(each for i, call in enumerate(part)
                              for each in (call, ('ECHO', i)))
            equal(got[1::2] == [b'%d' % i for i in range(len(part))], True,
                  'one reply each')


@case
def an_error_never_leaves_a_key_behind():
    for client in each_protocol():
        for name, (_, _, args) in COMMANDS.items():
            if name not in ('lawn.push', 'lawn.mpush', 'lawn.pause'):
                client.call(name, 'k', *args)
                equal(client.call('EXISTS', 'k'), 0, name)
        for args in (('PUSH', 'k', 'i', 'p', 'DELAY', 'x'),
                     ('PUSH', 'k', 'i', 'p', 'DELAY', 1, 'XX'),
                     ('PUSH', 'k', 'i' * 65536, 'p', 'DELAY', 1),
                     ('MPUSH', 'k', 'DELAY', 1, 2, 'i', 'p'),
                     ('TOUCH', 'k', 'i', 'DELAY', 1),
                     ('CONFIG', 'k', 'SET', 'maxlen', 'x'),
                     ('CONFIG', 'k', 'SET', 'maxlen', 1, 'what', 1),
                     ('CONFIG', 'k', 'SET', 'maxlen', 0),
                     ('APPLY', 'k', 'ADD', 'i', 'p', 'x', 0, ''),
                     ('RESUME', 'k')):
            client.call('LAWN.' + args[0], *args[1:])
            equal(client.call('EXISTS', 'k'), 0, repr(args))


@case
def words_are_taken_in_any_case_of_letters():
    for client in each_protocol():
        equal(client.call('lAwN.pUsH', 'k', 'i', 'p', 'dElAy', FAR, 'nX',
                          'eVeRy', 5, 'tImEs', 2, 'jItTeR', 0), 'i')
        equal(client.call('lawn.mpush', 'k', 'delay', FAR, 1, 'j', 'p'), 1)
        equal(client.call('lawn.mpush', 'k', 'aT', 2**50, 1, 'l', 'p'), 1)
        equal(client.call('lawn.touch', 'k', 'j', 'by', 0, 'gt'), None)
        equal(client.call('lawn.len', 'k', 'wAiTiNg'), 3)
        equal(client.call('lawn.len', 'k', 'due'), 0)
        equal(client.call('lawn.poll', 'k', 'count', 1, 'meta'), [])
        equal(client.call('lawn.scan', 'k', 0, 'count', 100, 'state', 'DUE',
                          'match', '*'), ['0', []])
        equal(client.call('lawn.config', 'k', 'set', 'maxlen', 9), OK)
        equal(as_map(client.call('lawn.config', 'k', 'get', 'maxlen'),
                     client.protocol), {b'maxlen': 9})


@case
def keys_and_ids_are_as_long_as_65535_bytes():
    long_key = error('ERR key name is longer than 65535 bytes')
    for client in each_protocol():
        equal(client.call('LAWN.PUSH', 'k' * 65535, 'i' * 65535, 'p', 'AT', 1),
              'i' * 65535)
        equal(client.call('LAWN.POLL', 'k' * 65535), [['i' * 65535, 'p']])
        for name, (_, _, args) in COMMANDS.items():
            equal(client.call(name, 'k' * 65536, *args), long_key, name)
        for args in (('PUSH', 'i' * 65536, 'p', 'DELAY', 1),
                     ('MPUSH', 'DELAY', 1, 2, 'a', 'p', 'i' * 65536, 'p')):
            equal(client.call('LAWN.' + args[0], 'k', *args[1:]),
                  error('ERR id is longer than 65535 bytes'))
        equal(client.call('DBSIZE'), 0)


@case
def keys_ids_and_payloads_are_any_bytes():
    every = bytes(range(256))
    for client in each_protocol():
        for id_ in (b'', b'\0', b'q\0a', b'q\0b', b'\r\n', every):
            equal(client.call('LAWN.PUSH', every, id_, id_ + every, 'DELAY',
                              FAR), id_)
        for id_ in (b'', b'\0', b'q\0a', b'q\0b', b'\r\n', every):
            equal(client.call('LAWN.GET', every, id_), id_ + every)
            equal(client.call('LAWN.PULL', every, id_), id_ + every)
        equal(client.call('EXISTS', every), 0)
        equal(client.call('LAWN.PUSH', '', 'i', '', 'AT', 1), 'i')
        equal(client.call('LAWN.POLL', ''), [['i', '']])


# PUSH

@case
def push_replies_with_the_id_as_a_bulk_string():
    for client in each_protocol():
        equal(client.raw('LAWN.PUSH', 'k', 'id', 'p', 'DELAY', FAR),
              b'$2\r\nid\r\n')
        equal(client.raw('LAWN.PUSH', 'k', 'id', 'p', 'DELAY', FAR, 'NX'),
              null(client))
        equal(client.raw('LAWN.PUSH', 'k', 'no', 'p', 'DELAY', FAR, 'XX'),
              null(client))
        equal(client.raw('LAWN.PUSH', 'k', 'id', 'p', 'DELAY', FAR, 'XX'),
              b'$2\r\nid\r\n')
        equal(client.raw('LAWN.PUSH', 'k', 'new', 'p', 'DELAY', FAR, 'NX'),
              b'$3\r\nnew\r\n')


@case
def push_takes_its_options_in_any_order():
    for client in each_protocol():
        for number, args in enumerate((
                ('DELAY', FAR, 'NX', 'EVERY', 7, 'TIMES', 3, 'JITTER', 1),
                ('JITTER', 1, 'EVERY', 7, 'TIMES', 3, 'NX', 'DELAY', FAR),
                ('NX', 'AT', 2**50, 'EVERY', 7, 'TIMES', 3),
                ('EVERY', 7, 'AT', 2**50, 'TIMES', 3),
                ('TIMES', 3, 'DELAY', FAR, 'EVERY', 7))):
            equal(client.call('LAWN.PUSH', 'k', number, 'p', *args),
                  str(number))
            meta = as_map(client.call('LAWN.GET', 'k', number, 'META'),
                          client.protocol)
            equal((meta[b'period'], meta[b'times'], meta[b'missed'])
                  == (7, 3, 0), True, repr(args))


@case
def push_replies_syntax_error_to_options_that_make_no_sense():
    for client in each_protocol():
        no_time = syntax(': missing DELAY or AT')
        for args, wanted in (
                (('DELAY', 1, 'DELAY', 1), near('DELAY')),
                (('AT', 1, 'AT', 1), near('AT')),
                (('DELAY', 1, 'AT', 1), near('AT')),
                (('NX', 'XX'), no_time), (('EVERY', 5), no_time),
                (('DELAY', 1, 'NX', 'XX'),
                 syntax(': NX and XX exclude each other')),
                (('DELAY', 1, 'NX', 'NX'), near('NX')),
                (('DELAY', 1, 'TIMES', 3), syntax(': TIMES requires EVERY')),
                (('DELAY', 1, 'what'), near('what')),
                (('DELAY', 1, 'EVERY', 1, 'EVERY', 1), near('EVERY')),
                (('DELAY', 1, 'EVERY', 1, 'TIMES', 1, 'TIMES', 1),
                 near('TIMES')),
                (('DELAY', 1, 'JITTER', 1, 'JITTER', 1), near('JITTER')),
                (('DELAY', 1, 'EVERY'), missing('EVERY')),
                (('DELAY', 1, 'jitter'), missing('jitter')),
                (('DELAY', 1, 'EVERY', 1, 'TIMES'), missing('TIMES')),
                (('NX', 'DELAY'), missing('DELAY')),
                (('DELAY', 1, 'AT'), near('AT')),
                (('DELAY', 1, ''), near('')), (('JITTER', 4), no_time),
                (('DELAY', 1, "a'\r\n\xff", 1), near('a?????')),
                (('DELAY', 1, 'w' * 65, 1), near('w' * 64 + '...')),
                (('DELAY', 1, 'DELAYX', 1), near('DELAYX')),
                (('DELAY', 1, 'DELA', 1), near('DELA'))):
            equal(client.call('LAWN.PUSH', 'k', 'i', 'p', *args), wanted,
                  repr(args))
        equal(client.call('EXISTS', 'k'), 0)


@case
def push_reports_which_number_is_wrong():
    for client in each_protocol():
        for bad in NO_NUMBERS:
            for args in (
                    ('DELAY', bad), ('AT', bad), ('DELAY', 1, 'EVERY', bad),
                    ('DELAY', 1, 'EVERY', 1, 'TIMES', bad),
                    ('DELAY', 1, 'JITTER', bad)):
                if 'TIMES' in args and bad.isdigit() and len(bad) < 20:
                    continue  # its maximum size is unspecified
                equal(client.call('LAWN.PUSH', 'k', 'i', 'p', *args),
                      no_number(*args[-2:]), repr(args))
        equal(client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 1, 'EVERY', 0),
              no_number('EVERY', 0))
        equal(client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 1, 'EVERY', 1,
                          'TIMES', 0), no_number('TIMES', 0))
        equal(client.call('EXISTS', 'k'), 0)


@case
def push_takes_every_number_up_to_2_to_the_53():
    for client in each_protocol():
        before = now_ms()
        for id_, args in (('d', ('DELAY', LIMIT)), ('a', ('AT', LIMIT)),
                          ('e', ('AT', LIMIT, 'EVERY', LIMIT)),
                          ('j', ('DELAY', LIMIT, 'JITTER', LIMIT))):
            equal(client.call('LAWN.PUSH', 'k', id_, 'p', *args), id_)
        after = now_ms()
        assert before + LIMIT <= due_of(client, 'k', 'd') <= after + LIMIT
        equal(due_of(client, 'k', 'a'), LIMIT)
        assert (before + LIMIT <= due_of(client, 'k', 'j')
                <= after + 2 * LIMIT)
        assert 0 < client.call('LAWN.NEXT', 'k') <= LIMIT
        equal(client.call('LAWN.CANCEL', 'k', *'daej'), 4)


@case
def a_delay_counts_from_now_and_a_time_of_the_past_is_now():
    for client in each_protocol():
        before = now_ms()
        client.call('LAWN.PUSH', 'k', 'd', 'p', 'DELAY', FAR)
        client.call('LAWN.PUSH', 'k', 'a', 'p', 'AT', 2**50 + 3)
        client.call('LAWN.PUSH', 'k', 'past', 'p', 'AT', 0)
        client.call('LAWN.PUSH', 'k', 'zero', 'p', 'DELAY', 0)
        after = now_ms()
        assert before + FAR <= due_of(client, 'k', 'd') <= after + FAR
        equal(due_of(client, 'k', 'a'), 2**50 + 3)
        for id_ in ('past', 'zero'):
            assert before <= due_of(client, 'k', id_) <= after
        equal(client.call('LAWN.LEN', 'k', 'DUE'), 2)


@case
def an_event_is_never_early_and_fires_once():
    client = shared().client()
    for delay in (0, 1, 5, 20, 40):
        sent = now_ms()
        client.call('LAWN.PUSH', 'k', delay, 'p', 'DELAY', delay)
        got = wait_until(lambda: client.call('LAWN.POLL', 'k'), 'an event')
        assert now_ms() >= sent + delay, f'{delay}: early'
        equal(got, [[str(delay), 'p']])
        equal(client.call('LAWN.POLL', 'k'), [])


@case
def jitter_is_between_0_and_its_number():
    client = shared().client()
    before = now_ms()
    client.pipe(('LAWN.PUSH', 'k', i, 'p', 'DELAY', FAR, 'JITTER', 1000)
                for i in range(200))
    after = now_ms()
    dues = {due_of(client, 'k', i) for i in range(200)}
    assert before + FAR <= min(dues) <= max(dues) <= after + FAR + 1000
    assert len(dues) > 50 and max(dues) - min(dues) > 500, sorted(dues)


@case
def push_replaces_an_event_wholly():
    for client in each_protocol():
        client.call('LAWN.PUSH', 'k', 'i', 'old', 'DELAY', 10, 'EVERY', 10,
                    'TIMES', 5)
        client.call('LAWN.PUSH', 'k', 'i', 'new', 'AT', 2**50)
        equal(as_map(client.call('LAWN.GET', 'k', 'i', 'META'),
                     client.protocol),
              {b'payload': b'new', b'due': 2**50, b'state': b'waiting',
               b'period': 0, b'times': 0, b'missed': 0, **FREE})
        client.call('LAWN.PUSH', 'k', 'i', 'due', 'AT', 1)
        equal(client.call('LAWN.LEN', 'k', 'DUE'), 1)
        client.call('LAWN.PUSH', 'k', 'i', 'far', 'DELAY', FAR)
        equal(client.call('LAWN.LEN', 'k', 'DUE'), 0)
        equal(client.call('LAWN.LEN', 'k'), 1)
        equal(client.call('LAWN.POLL', 'k'), [])
        equal(client.call('LAWN.GET', 'k', 'i'), 'far')


@case
def a_star_makes_ids_that_never_come_twice():
    server = shared()
    client = server.client()
    before = now_ms()
    ids = client.pipe(('LAWN.PUSH', f'k{i % 3}', '*', 'p', 'DELAY', FAR)
                      for i in range(2000))
    client.call('FLUSHALL')
    ids += client.pipe(('LAWN.PUSH', 'k', '*', 'p', 'AT', 1)
                       for _ in range(2000))
    equal(len(set(ids)), 4000)
    numbers = []
    for id_ in ids:
        found = re.fullmatch(rb'(\d+)-(\d+)', id_)
        assert found, id_
        numbers.append(tuple(map(int, found.groups())))
    equal(numbers == sorted(numbers), True, 'in order')
    assert before <= numbers[0][0] and numbers[-1][0] <= now_ms()
    got = []
    while batch := client.call('LAWN.POLL', 'k', 'COUNT', 10000):
        got += batch
    equal([id_ for id_, _ in got], ids[2000:])


@case
def a_star_passes_over_ids_that_are_there():
    client = shared().client()
    ms = now_ms()
    client.pipe(('LAWN.PUSH', 'k', f'{ms + i}-{n}', 'mine', 'DELAY', FAR)
                for i in range(300) for n in range(2))
    ids = client.pipe(('LAWN.PUSH', 'k', '*', 'new', 'DELAY', FAR)
                      for _ in range(100))
    equal(client.call('LAWN.LEN', 'k'), 700)
    equal({client.call('LAWN.GET', 'k', id_) for id_ in ids}, {b'new'})


@case
def a_star_with_nx_pushes_and_with_xx_does_not():
    client = shared().client()
    assert client.call('LAWN.PUSH', 'k', '*', 'p', 'DELAY', FAR, 'NX')
    equal(client.call('LAWN.PUSH', 'k', '*', 'p', 'DELAY', FAR, 'XX'), None)
    equal(client.call('LAWN.LEN', 'k'), 1)


@case
def a_payload_above_the_limit_is_refused():
    for client in each_protocol():
        client.call('CONFIG', 'SET', 'lawn.max-payload', 100)
        try:
            refused = error('ERR payload of 101 bytes exceeds '
                            'lawn.max-payload of 100 bytes')
            equal(client.call('LAWN.PUSH', 'k', 'i', 'x' * 101, 'DELAY', FAR),
                  refused)
            equal(client.call('LAWN.MPUSH', 'k', 'DELAY', FAR, 2, 'a', 'a',
                              'i', 'x' * 101), refused)
            equal(client.call('EXISTS', 'k'), 0)
            equal(client.call('LAWN.PUSH', 'k', 'i', 'x' * 100, 'DELAY', FAR),
                  'i')
            equal(client.call('LAWN.UPDATE', 'k', 'i', 'y' * 101), refused)
            equal(client.call('LAWN.GET', 'k', 'i'), 'x' * 100)
        finally:
            equal(client.call('CONFIG', 'SET', 'lawn.max-payload', '1mb'), OK)
        equal(client.call('LAWN.PUSH', 'k', 'i', b'z' * 2**20, 'DELAY', FAR),
              'i')
        equal(client.call('LAWN.PUSH', 'k', 'i', b'z' * (2**20 + 1), 'DELAY',
                          FAR), error('ERR payload of 1048577 bytes exceeds '
                                      'lawn.max-payload of 1048576 bytes'))


# MPUSH

@case
def mpush_counts_the_ids_that_are_new():
    for client in each_protocol():
        equal(client.raw('LAWN.MPUSH', 'k', 'DELAY', FAR, 3, 'a', '1', 'b',
                         '2', 'c', '3'), b':3\r\n')
        equal(client.call('LAWN.MPUSH', 'k', 'AT', 1, 2, 'b', '4', 'd', '5'),
              1)
        equal(client.call('LAWN.MPUSH', 'k', 'DELAY', FAR, 3, 'e', '6', 'e',
                          '7', 'a', '8'), 1)
        equal([client.call('LAWN.GET', 'k', id_) for id_ in 'abcde'],
              ['8', '4', '3', '5', '7'])
        equal(client.call('LAWN.LEN', 'k'), 5)
        equal(client.call('LAWN.POLL', 'k'), [['b', '4'], ['d', '5']])


@case
def mpush_is_all_or_nothing():
    for client in each_protocol():
        pairs = syntax(': count is not the number of pairs')
        for args, wanted in (
                (('DELAY', FAR, 1, 'a', 'p', 'b', 'p'), pairs),
                (('DELAY', FAR, 3, 'a', 'p', 'b', 'p'), pairs),
                (('DELAY', FAR, 2, 'a', 'p', 'b'), pairs),
                (('EVERY', FAR, 1, 'a', 'p'), near('EVERY')),
                (('NX', FAR, 1, 'a', 'p'), near('NX'))):
            equal(client.call('LAWN.MPUSH', 'k', *args), wanted, repr(args))
        for bad in NO_NUMBERS:
            for word in ('DELAY', 'AT'):
                equal(client.call('LAWN.MPUSH', 'k', word, bad, 1, 'a', 'p'),
                      no_number(word, bad), repr(bad))
        for bad in ('', 'x', '1.5', '-1', '0', '9' * 30):
            got = client.call('LAWN.MPUSH', 'k', 'DELAY', 1, bad, 'a', 'p')
            equal(got, no_number('count', bad), bad)
        equal(client.call('EXISTS', 'k'), 0)
        client.call('LAWN.CONFIG', 'k', 'SET', 'maxlen', 2)
        equal(client.call('LAWN.MPUSH', 'k', 'DELAY', FAR, 3, *'aabbcc'),
              error("FULL 3 events in one command exceed the key's maxlen "
                    "of 2"))
        equal(client.call('LAWN.LEN', 'k'), 0)


@case
def mpush_takes_thousands_at_once():
    client = shared().client()
    pairs = [str(i) for i in range(20000) for _ in range(2)]
    equal(client.call('LAWN.MPUSH', 'k', 'DELAY', 1, 20000, *pairs), 20000)
    got = []

    def all_of_them():
        got.extend(client.call('LAWN.POLL', 'k', 'COUNT', 20000))
        return len(got) >= 20000
    wait_until(all_of_them, 'all 20000')
    equal([id_ for id_, _ in got], pairs[::2])


@case
def mpush_makes_an_id_of_each_star_as_push_does():
    for client in each_protocol():
        got = client.call('LAWN.MPUSH', 'k', 'DELAY', FAR, 3, '*', 'a', 'name',
                          'b', '*', 'c')
        equal(got, 3)
        equal(client.call('LAWN.LEN', 'k'), 3)
        equal(client.call('LAWN.GET', 'k', '*'), None)
        ids = client.call('LAWN.SCAN', 'k', 0, 'COUNT', 100)[1]
        made = sorted(set(ids) - {b'name'})
        equal(len(made), 2)
        for id_ in made:
            assert re.fullmatch(rb'\d{13}-\d+', id_), id_
        equal(sorted(client.call('LAWN.GET', 'k', id_) for id_ in made),
              ['a', 'c'])
        more = client.call('LAWN.PUSH', 'k', '*', 'd', 'DELAY', FAR)
        assert more not in made, more


# CANCEL, PULL, GET, UPDATE

@case
def cancel_counts_the_events_that_existed():
    for client in each_protocol():
        equal(client.raw('LAWN.CANCEL', 'k', 'a'), b':0\r\n')
        client.call('LAWN.MPUSH', 'k', 'DELAY', FAR, 3, *'aabbcc')
        client.call('LAWN.PUSH', 'k', 'due', 'p', 'AT', 1)
        equal(client.call('LAWN.CANCEL', 'k', 'a', 'x', 'a', 'due'), 2)
        equal(client.call('LAWN.LEN', 'k'), 2)
        equal(client.call('LAWN.CANCEL', 'k', 'a', 'b', 'c'), 2)
        equal(client.call('EXISTS', 'k'), 0)


@case
def pull_takes_an_event_in_any_state():
    for client in each_protocol():
        equal(client.raw('LAWN.PULL', 'k', 'a'), null(client))
        client.call('LAWN.PUSH', 'k', 'a', 'one', 'DELAY', FAR)
        client.call('LAWN.PUSH', 'k', 'b', 'two', 'AT', 1)
        client.call('LAWN.PUSH', 'k', 'c', 'three', 'AT', 1, 'EVERY', 1)
        equal(client.raw('LAWN.PULL', 'k', 'x'), null(client))
        equal(client.raw('LAWN.PULL', 'k', 'a'), b'$3\r\none\r\n')
        equal(client.call('LAWN.PULL', 'k', 'a'), None)
        equal(client.call('LAWN.PULL', 'k', 'b'), 'two')
        equal(client.call('LAWN.PULL', 'k', 'c'), 'three')
        equal(client.call('EXISTS', 'k'), 0)


@case
def get_returns_the_payload_and_with_meta_a_map():
    for client in each_protocol():
        equal(client.raw('LAWN.GET', 'k', 'a'), null(client))
        equal(client.raw('LAWN.GET', 'k', 'a', 'META'), null(client))
        client.call('LAWN.PUSH', 'k', 'a', 'one', 'AT', 2**50)
        equal(client.raw('LAWN.GET', 'k', 'a'), b'$3\r\none\r\n')
        equal(client.raw('LAWN.GET', 'k', 'x'), null(client))
        equal(client.raw('LAWN.GET', 'k', 'x', 'META'), null(client))
        head = b'*20' if client.protocol == 2 else b'%10'
        equal(client.raw('LAWN.GET', 'k', 'a', 'META'), head + b'\r\n'
              b'$7\r\npayload\r\n$3\r\none\r\n'
              b'$3\r\ndue\r\n:1125899906842624\r\n'
              b'$5\r\nstate\r\n$7\r\nwaiting\r\n'
              b'$6\r\nperiod\r\n:0\r\n$5\r\ntimes\r\n:0\r\n'
              b'$6\r\nmissed\r\n:0\r\n$5\r\ntries\r\n:0\r\n'
              b'$9\r\nmax-tries\r\n:0\r\n$9\r\nlease-end\r\n:0\r\n'
              b'$5\r\nowner\r\n$0\r\n\r\n')
        client.call('LAWN.PUSH', 'k', 'b', 'two', 'DELAY', 0)
        meta = as_map(client.call('LAWN.GET', 'k', 'b', 'META'),
                      client.protocol)
        equal(meta[b'state'], 'due')
        for args in (('what',), ('META', 'META'), ('META', 'x')):
            equal(client.call('LAWN.GET', 'k', 'a', *args), near(args[-1]))


@case
def update_keeps_the_time_and_replies_with_the_old():
    for client in each_protocol():
        equal(client.raw('LAWN.UPDATE', 'k', 'a', 'p'), null(client))
        equal(client.call('EXISTS', 'k'), 0)
        client.call('LAWN.PUSH', 'k', 'a', 'one', 'AT', 2**50, 'EVERY', 9)
        equal(client.raw('LAWN.UPDATE', 'k', 'x', 'p'), null(client))
        equal(client.raw('LAWN.UPDATE', 'k', 'a', 'a longer one'),
              b'$3\r\none\r\n')
        equal(client.call('LAWN.UPDATE', 'k', 'a', ''), 'a longer one')
        equal(as_map(client.call('LAWN.GET', 'k', 'a', 'META'),
                     client.protocol),
              {b'payload': b'', b'due': 2**50, b'state': b'waiting',
               b'period': 9, b'times': 0, b'missed': 0, **FREE})
        client.call('LAWN.MPUSH', 'k', 'AT', 1, 3, *'bbccdd')
        equal(client.call('LAWN.UPDATE', 'k', 'c', 'x' * 5000), 'c')
        equal(client.call('LAWN.POLL', 'k'),
              [['b', 'b'], ['c', 'x' * 5000], ['d', 'd']])


# TOUCH

@case
def touch_replies_with_the_new_time():
    for client in each_protocol():
        equal(client.raw('LAWN.TOUCH', 'k', 'a', 'DELAY', 1), null(client))
        client.call('LAWN.PUSH', 'k', 'a', 'p', 'AT', 2**50)
        equal(client.raw('LAWN.TOUCH', 'k', 'x', 'AT', 1), null(client))
        equal(client.raw('LAWN.TOUCH', 'k', 'a', 'AT', 2**51),
              b':2251799813685248\r\n')
        equal(due_of(client, 'k', 'a'), 2**51)
        equal(client.call('LAWN.TOUCH', 'k', 'a', 'BY', 5), 2**51 + 5)
        equal(client.call('LAWN.TOUCH', 'k', 'a', 'BY', -10), 2**51 - 5)
        equal(client.call('LAWN.TOUCH', 'k', 'a', 'BY', 0), 2**51 - 5)
        before = now_ms()
        got = client.call('LAWN.TOUCH', 'k', 'a', 'DELAY', FAR)
        assert before + FAR <= got <= now_ms() + FAR
        equal(due_of(client, 'k', 'a'), got)
        before = now_ms()
        got = client.call('LAWN.TOUCH', 'k', 'a', 'BY', -2 * FAR)
        assert before <= got <= now_ms(), 'at least now'
        equal(client.call('LAWN.LEN', 'k', 'DUE'), 1)
        before = now_ms()
        got = client.call('LAWN.TOUCH', 'k', 'a', 'AT', 1)
        assert before <= got <= now_ms()
        equal(client.call('LAWN.GET', 'k', 'a'), 'p')
        equal(client.call('LAWN.POLL', 'k'), [['a', 'p']])


@case
def touch_gt_and_lt_move_to_one_side_alone():
    for client in each_protocol():
        client.call('LAWN.PUSH', 'k', 'a', 'p', 'AT', 2**50)
        for args, due in ((('AT', 2**50, 'GT'), None),
                          (('AT', 2**50, 'LT'), None),
                          (('AT', 2**50 - 1, 'GT'), None),
                          (('AT', 2**50 + 1, 'LT'), None),
                          (('BY', -1, 'GT'), None), (('BY', 1, 'LT'), None),
                          (('AT', 2**50 + 1, 'GT'), 2**50 + 1),
                          (('GT', 'BY', 1), 2**50 + 2),
                          (('AT', 2**50 + 1, 'LT'), 2**50 + 1),
                          (('BY', -1, 'LT'), 2**50)):
            equal(client.call('LAWN.TOUCH', 'k', 'a', *args), due, repr(args))
        equal(due_of(client, 'k', 'a'), 2**50)


@case
def touch_keeps_repetition_and_makes_due_events_wait_again():
    for client in each_protocol():
        client.call('LAWN.PUSH', 'k', 'a', 'p', 'AT', 1, 'EVERY', 77, 'TIMES',
                    4)
        client.call('LAWN.PUSH', 'k', 'b', 'q', 'AT', 1)
        equal(client.call('LAWN.LEN', 'k', 'DUE'), 2)
        equal(client.call('LAWN.TOUCH', 'k', 'a', 'AT', 2**50), 2**50)
        equal(client.call('LAWN.TOUCH', 'k', 'b', 'AT', 2**50), 2**50)
        equal(client.call('LAWN.LEN', 'k', 'DUE'), 0)
        equal(client.call('LAWN.POLL', 'k'), [])
        meta = as_map(client.call('LAWN.GET', 'k', 'a', 'META'),
                      client.protocol)
        equal((meta[b'period'], meta[b'times'], meta[b'state'])
              == (77, 4, b'waiting'), True)


@case
def touch_refuses_invalid_arguments():
    for client in each_protocol():
        client.call('LAWN.PUSH', 'k', 'a', 'p', 'AT', 2**50)
        for args, wanted in (
                (('DELAY', 1, 'DELAY', 1), near('DELAY')),
                (('DELAY', 1, 'AT', 1), near('AT')),
                (('BY', 1, 'AT', 1), near('AT')),
                (('DELAY', 1, 'GT', 'LT'),
                 syntax(': GT and LT exclude each other')),
                (('DELAY', 1, 'GT', 'GT'), near('GT')),
                (('GT', 'LT'), syntax(': missing DELAY, AT or BY')),
                (('WHAT', 1), near('WHAT')), (('DELAY', 1, 'x'), near('x')),
                (('GT', 'DELAY'), missing('DELAY'))):
            equal(client.call('LAWN.TOUCH', 'k', 'a', *args), wanted,
                  repr(args))
        for bad in NO_NUMBERS:
            for word in ('DELAY', 'AT', 'BY'):
                if (word, bad) != ('BY', '-1'):
                    equal(client.call('LAWN.TOUCH', 'k', 'a', word, bad),
                          no_number(word, bad), repr(bad))
        for bad in (str(-LIMIT - 1), str(-2**63), str(-2**63 - 1), '-', '- 1'):
            equal(client.call('LAWN.TOUCH', 'k', 'a', 'BY', bad),
                  no_number('BY', bad), repr(bad))
        equal(due_of(client, 'k', 'a'), 2**50)


@case
def repeated_touch_by_the_largest_number_does_not_overflow():
    client = shared().client()
    client.call('LAWN.PUSH', 'k', 'a', 'p', 'AT', LIMIT)
    last = LIMIT
    for _ in range(5):
        got = client.call('LAWN.TOUCH', 'k', 'a', 'BY', LIMIT)
        if isinstance(got, resp.Error):
            equal(got, no_number('BY', LIMIT))
        else:
            assert last <= got < 2**63, got
            last = got
        equal(due_of(client, 'k', 'a'), last)
        equal(client.call('LAWN.LEN', 'k', 'DUE'), 0)
    equal(client.call('LAWN.PULL', 'k', 'a'), 'p')


# POLL

@case
def poll_is_always_an_array():
    for client in each_protocol():
        for args in ((), ('COUNT', 5), ('META',), ('BLOCK', 1),
                     ('COUNT', 5, 'BLOCK', 1, 'META')):
            equal(client.raw('LAWN.POLL', 'k', *args), b'*0\r\n', repr(args))
        client.call('LAWN.PUSH', 'k', 'far', 'p', 'DELAY', FAR)
        for args in ((), ('COUNT', 5), ('META',), ('BLOCK', 1),
                     ('META', 'BLOCK', 1, 'COUNT', 5)):
            equal(client.raw('LAWN.POLL', 'k', *args), b'*0\r\n', repr(args))
        client.call('LAWN.PUSH', 'k', 'a', 'one', 'AT', 1)
        equal(client.raw('LAWN.POLL', 'k'),
              b'*1\r\n*2\r\n$1\r\na\r\n$3\r\none\r\n')
        equal(client.call('LAWN.LEN', 'k'), 1)


@case
def poll_with_meta_is_an_array_of_maps():
    for client in each_protocol():
        before = now_ms()
        client.call('LAWN.PUSH', 'k', 'a', 'one', 'AT', 1)
        after = now_ms()
        wait_until(lambda: now_ms() > after + 2, 'time passes')
        got = client.call('LAWN.POLL', 'k', 'META')
        taken = now_ms()
        equal(len(got), 1)
        fields = as_map(got[0], client.protocol)
        equal(list(fields), ['id', 'payload', 'due', 'late', 'period',
                             'times', 'missed'])
        equal(list(fields.values())[:2], ['a', 'one'])
        assert before <= fields[b'due'] <= after
        assert 2 <= fields[b'late'] <= taken - before, fields
        equal(list(fields.values())[4:], [0, 0, 0])


@case
def poll_takes_100_or_count_events():
    client = shared().client()
    client.call('LAWN.MPUSH', 'k', 'AT', 1, 250, *[i // 2 for i in range(500)])
    equal(client.call('LAWN.POLL', 'k'), [[str(i)] * 2 for i in range(100)])
    equal(client.call('LAWN.POLL', 'k', 'COUNT', 1), [['100', '100']])
    equal(len(client.call('LAWN.POLL', 'k', 'COUNT', 120)), 120)
    equal(client.call('LAWN.LEN', 'k', 'DUE'), 29)
    equal(len(client.call('LAWN.POLL', 'k', 'COUNT', 1000)), 29)
    equal(client.call('EXISTS', 'k'), 0)


@case
def poll_takes_no_more_than_max_batch():
    client = shared().client()
    client.call('CONFIG', 'SET', 'lawn.max-batch', 7)
    try:
        client.call('LAWN.MPUSH', 'k', 'AT', 1, 30, *[i // 2 for i in
                                                      range(60)])
        equal(len(client.call('LAWN.POLL', 'k')), 7)
        equal(len(client.call('LAWN.POLL', 'k', 'COUNT', 1000)), 7)
        equal(len(client.call('LAWN.POLL', 'k', 'COUNT', LIMIT)), 7)
        equal(len(client.call('LAWN.POLL', 'k', 'COUNT', 3)), 3)
    finally:
        client.call('CONFIG', 'SET', 'lawn.max-batch', 1000)


@case
def poll_refuses_invalid_arguments():
    for client in each_protocol():
        for args, wanted in (
                (('COUNT',), missing('COUNT')), (('BLOCK',), missing('BLOCK')),
                (('what',), near('what')), (('META', 'META'), near('META')),
                (('COUNT', 1, 'COUNT', 1), near('COUNT')),
                (('BLOCK', 1, 'BLOCK', 1), near('BLOCK')),
                (('COUNT', 1, 'x'), near('x')), (('5',), near('5'))):
            equal(client.call('LAWN.POLL', 'k', *args), wanted, repr(args))
        for bad in ('', 'x', '1.5', '-1', '0', '9' * 30):
            equal(client.call('LAWN.POLL', 'k', 'COUNT', bad),
                  no_number('COUNT', bad), repr(bad))
        for bad in NO_NUMBERS:
            equal(client.call('LAWN.POLL', 'k', 'BLOCK', bad),
                  no_number('BLOCK', bad), repr(bad))


@case
def poll_is_in_the_order_of_times():
    client = shared().client()
    base = now_ms() + 15
    order = [3, 17, 0, 9, 9, 4, 16, 2, 9, 12]
    client.pipe(('LAWN.PUSH', 'k', i, at, 'AT', base + at)
                for i, at in enumerate(order))
    wait_until(lambda: client.call('LAWN.LEN', 'k', 'DUE') == len(order),
               'all are due')
    equal(client.call('LAWN.POLL', 'k'),
          [[str(i), str(at)] for at, i in
           sorted((at, i) for i, at in enumerate(order))])


@case
def a_repeating_event_continues_by_its_period():
    for client in each_protocol():
        before = now_ms()
        client.call('LAWN.PUSH', 'k', 'r', 'p', 'AT', 1, 'EVERY', FAR,
                    'TIMES', 3)
        first = due_of(client, 'k', 'r')
        assert before <= first <= now_ms()
        equal(client.call('LAWN.POLL', 'k'), [['r', 'p']])
        equal(client.call('LAWN.POLL', 'k'), [])
        equal(as_map(client.call('LAWN.GET', 'k', 'r', 'META'),
                     client.protocol),
              {b'payload': b'p', b'due': first + FAR, b'state': b'waiting',
               b'period': FAR, b'times': 2, b'missed': 0, **FREE})
        for _ in range(2):
            client.call('LAWN.TOUCH', 'k', 'r', 'AT', 1)
            equal(client.call('LAWN.POLL', 'k'), [['r', 'p']])
        equal(client.call('EXISTS', 'k'), 0)


@case
def periods_that_passed_are_missed_and_never_a_burst():
    for client in each_protocol():
        client.call('LAWN.PUSH', 'k', 'r', 'p', 'AT', 1, 'EVERY', 5)
        first = due_of(client, 'k', 'r')
        wait_until(lambda: now_ms() > first + 23, 'periods pass')
        asked = now_ms()
        got = as_map(client.call('LAWN.POLL', 'k', 'META')[0],
                     client.protocol)
        took = now_ms()
        equal(got[b'due'], first)
        equal(got[b'period'], 5)
        assert asked - first <= got[b'late'] <= took - first, got
        meta = as_map(client.call('LAWN.GET', 'k', 'r', 'META'),
                      client.protocol)
        ahead = meta[b'due'] - first
        equal(ahead % 5, 0)
        taken = first + got[b'late']
        assert taken < meta[b'due'] <= taken + 5, (taken, meta)
        equal(meta[b'missed'], ahead // 5 - 1)
        info = as_map(client.call('LAWN.INFO', 'k'), client.protocol)
        equal(info[b'missed'], meta[b'missed'])
        equal(client.call('LAWN.CANCEL', 'k', 'r'), 1)


@case
def a_repeating_event_fires_times_times():
    client = shared().client()
    began = now_ms()
    client.call('LAWN.PUSH', 'k', 'r', 'p', 'DELAY', 2, 'EVERY', 3, 'TIMES', 5)
    got = []

    def five():
        got.extend(client.call('LAWN.POLL', 'k'))
        return client.call('EXISTS', 'k') == 0
    wait_until(five, 'it is gone')
    equal(got, [['r', 'p']] * 5)
    assert now_ms() >= began + 2 + 4 * 3, 'early'


# NEXT, LEN, SCAN, INFO

@case
def next_returns_the_time_that_is_left():
    for client in each_protocol():
        equal(client.raw('LAWN.NEXT', 'k'), null(client))
        client.call('LAWN.PUSH', 'k', 'far', 'p', 'DELAY', FAR)
        got = client.call('LAWN.NEXT', 'k')
        assert FAR - 20000 < got <= FAR, got
        client.call('LAWN.PUSH', 'k', 'now', 'p', 'DELAY', 0)
        equal(client.raw('LAWN.NEXT', 'k'), b':0\r\n')
        client.call('LAWN.POLL', 'k')
        assert client.call('LAWN.NEXT', 'k') > 0
        client.call('LAWN.CONFIG', 'k', 'SET', 'maxlen', 5)
        client.call('LAWN.CANCEL', 'k', 'far')
        equal(client.raw('LAWN.NEXT', 'k'), b':-1\r\n')


@case
def len_counts_all_waiting_or_due():
    for client in each_protocol():
        for args in ((), ('WAITING',), ('DUE',), ('LEASED',), ('DEAD',)):
            equal(client.raw('LAWN.LEN', 'k', *args), b':0\r\n')
        client.call('LAWN.MPUSH', 'k', 'DELAY', FAR, 3, *'aabbcc')
        client.call('LAWN.MPUSH', 'k', 'AT', 1, 2, *'ddee')
        equal([client.call('LAWN.LEN', 'k', *args)
               for args in ((), ('WAITING',), ('DUE',))], [5, 3, 2])
        for args in (('what',), ('DUE', 'DUE'), ('DUE', 'WAITING'),
                     ('LEASED', 'DEAD')):
            equal(client.call('LAWN.LEN', 'k', *args), near(args[-1]),
                  repr(args))


def scan(client, *args):
    """Returns all ids of a complete scan."""
    cursor, ids = b'0', []
    while True:
        got = client.call('LAWN.SCAN', 'k', cursor, *args)
        assert type(got) is list and len(got) == 2, got
        cursor = got[0]
        assert re.fullmatch(rb'\d+', cursor), got
        ids += got[1]
        if cursor == b'0':
            return ids


@case
def scan_returns_each_id_once():
    for client in each_protocol():
        equal(client.raw('LAWN.SCAN', 'k', 0), b'*2\r\n$1\r\n0\r\n*0\r\n')
        client.call('LAWN.MPUSH', 'k', 'DELAY', FAR, 3000,
                    *[f'w{i // 2}' for i in range(6000)])
        client.call('LAWN.MPUSH', 'k', 'AT', 1, 500,
                    *[f'd{i // 2}' for i in range(1000)])
        everything = sorted([b'w%d' % i for i in range(3000)]
                            + [b'd%d' % i for i in range(500)])
        for args in ((), ('COUNT', 1), ('COUNT', 1000), ('COUNT', LIMIT)):
            equal(sorted(scan(client, *args)) == everything, True, repr(args))
        equal(sorted(scan(client, 'STATE', 'due')),
              sorted(b'd%d' % i for i in range(500)))
        equal(len(scan(client, 'STATE', 'WAITING', 'COUNT', 50)), 3000)
        equal(sorted(scan(client, 'MATCH', 'w299?')),
              [b'w%d' % i for i in range(2990, 3000)])
        equal(scan(client, 'MATCH', 'd7', 'STATE', 'waiting'), [])
        equal(scan(client, 'MATCH', '[d-e]7', 'STATE', 'due', 'COUNT', 99),
              ['d7'])


@case
def scan_misses_no_event_that_stays_while_others_change():
    client = shared().client()
    stay = [f's{i}' for i in range(1000)]
    client.call('LAWN.MPUSH', 'k', 'DELAY', FAR, 1000,
                *[word for id_ in stay for word in (id_, id_)])
    cursor, ids, number = b'0', [], 0
    while True:
        cursor, part = client.call('LAWN.SCAN', 'k', cursor, 'COUNT', 20)
        ids += part
        if cursor == b'0':
            break
        number += 1
        if number < 40:  # it grows, and then shrinks
            client.call('LAWN.MPUSH', 'k', 'DELAY', FAR, 300, *[
                f'{number}-{i // 2}' for i in range(600)])
        elif number < 79:
            client.call('LAWN.CANCEL', 'k', *[f'{number - 39}-{i}'
                                              for i in range(300)])
    stayed = [id_ for id_ in ids if id_.startswith(b's')]
    equal(sorted(stayed) == sorted(map(str.encode, stay)), True,
          'each once')
    equal(len(ids), len(set(ids)))


@case
def scan_refuses_invalid_arguments():
    for client in each_protocol():
        for key in ('none', 'k'):
            for bad in ('', 'x', '-1', '1.5', '9' * 30, '0x1', str(2**64)):
                equal(client.call('LAWN.SCAN', key, bad),
                      error('ERR invalid cursor'), repr(bad))
            for args, wanted in (
                    (('COUNT',), missing('COUNT')),
                    (('STATE',), missing('STATE')),
                    (('MATCH',), missing('MATCH')), (('what',), near('what')),
                    (('STATE', 'what'), near('what')),
                    (('COUNT', 1, 'COUNT', 1), near('COUNT')),
                    (('STATE', 'due', 'STATE', 'due'), near('STATE')),
                    (('MATCH', '*', 'MATCH', '*'), near('MATCH'))):
                equal(client.call('LAWN.SCAN', key, 0, *args), wanted,
                      repr(args))
            for bad in ('', 'x', '0', '-1', '1.5', '9' * 30):
                equal(client.call('LAWN.SCAN', key, 0, 'COUNT', bad),
                      no_number('COUNT', bad), repr(bad))
            client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', FAR)
        for strange in (1, 77, 2**32, 2**63, 2**64 - 1):
            got = client.call('LAWN.SCAN', 'k', strange)
            assert type(got) is list and len(got) == 2, got


@case
def patterns_that_would_take_for_ever_do_not():
    server = shared()
    client = server.client()
    client.call('LAWN.PUSH', 'k', 'a' * 60000, 'p', 'DELAY', FAR)

    def spent():
        return float(server.info('cpu')['used_cpu_user'])
    before = spent()
    equal(scan(client, 'MATCH', '*a' * 40 + 'b'), [])
    assert spent() - before < 5


INFO = ['len', 'leased', 'dead', 'ttls', 'next', 'oldest-due', 'pushed',
        'fired', 'missed', 'dropped', 'leased-total', 'redelivered', 'acked',
        'dead-total', 'handed', 'sink-errors', 'late-p50-ms', 'late-p99-ms',
        'late-max-ms', 'sink', 'sink-to', 'sink-maxlen', 'dead-letter',
        'sink-error', 'bytes', 'data-bytes', 'paused', 'maxlen', 'maxbytes',
        'overflow', 'resolution-ms', 'tries', 'lease']


@case
def info_is_a_map_of_all_figures():
    for client in each_protocol():
        equal(client.raw('LAWN.INFO', 'k'), null(client))
        client.call('LAWN.MPUSH', 'k', 'DELAY', FAR, 2, 'a', 'xx', 'b', 'yy')
        client.call('LAWN.PUSH', 'k', 'at', 'z', 'AT', 2**41)
        got = client.call('LAWN.INFO', 'k')
        head = b'*66\r\n' if client.protocol == 2 else b'%33\r\n'
        assert client.seen.startswith(head), client.seen
        got = as_map(got, client.protocol)
        equal(list(got), INFO)
        number = got.pop(b'bytes')
        assert 100 < number < 100000, number
        equal(got.pop(b'ttls'), 1)
        if got.pop(b'next') != 2**41:
            raise AssertionError('next is not the first due time')
        equal(got, {b'len': 3, b'leased': 0, b'dead': 0, b'oldest-due': 0,
                    b'pushed': 3, b'fired': 0, b'missed': 0, b'dropped': 0,
                    b'leased-total': 0, b'redelivered': 0, b'acked': 0,
                    b'dead-total': 0, b'handed': 0, b'sink-errors': 0,
                    b'late-p50-ms': 0, b'late-p99-ms': 0, b'late-max-ms': 0,
                    b'sink': b'none', b'sink-to': b'', b'sink-maxlen': 0,
                    b'dead-letter': b'', b'sink-error': b'', b'data-bytes': 9,
                    b'paused': 0, b'maxlen': 0, b'maxbytes': 0,
                    b'overflow': b'reject', b'resolution-ms': 1, b'tries': 0,
                    b'lease': 0})
        client.call('LAWN.PAUSE', 'k')
        client.call('LAWN.CONFIG', 'k', 'SET', 'maxlen', 9, 'maxbytes', 99,
                    'overflow', 'drop-oldest', 'resolution-ms', 7)
        changed = as_map(client.call('LAWN.INFO', 'k'), client.protocol)
        equal([changed[name] for name in
               (b'maxlen', b'maxbytes', b'overflow', b'resolution-ms')],
              [9, 99, 'drop-oldest', 7])
        equal(as_map(client.call('LAWN.INFO', 'k'), client.protocol)
              [b'paused'], 1)


@case
def info_of_an_empty_key_has_no_next():
    for client in each_protocol():
        client.call('LAWN.CONFIG', 'k', 'SET', 'maxlen', 9)
        got = as_map(client.call('LAWN.INFO', 'k'), client.protocol)
        equal((got[b'len'], got[b'next'], got[b'oldest-due'],
               got[b'data-bytes'], got[b'ttls']) == (0, None, 0, 0, 0), True,
              repr(got))
        equal(b'$4\r\nnext\r\n' + null(client) in client.seen, True)


@case
def info_reports_how_late_and_how_many():
    for client in each_protocol():
        client.call('LAWN.CONFIG', 'k', 'SET', 'maxlen', 1000)
        before = now_ms()
        client.call('LAWN.MPUSH', 'k', 'AT', 1, 4, *'aabbccdd')
        after = now_ms()
        wait_until(lambda: now_ms() > after + 8, 'time passes')
        asked = now_ms()
        got = as_map(client.call('LAWN.INFO', 'k'), client.protocol)
        assert asked - after <= got[b'oldest-due'] <= now_ms() - before, got
        equal((got[b'pushed'], got[b'fired']) == (4, 0), True)
        equal(len(client.call('LAWN.POLL', 'k', 'COUNT', 3)), 3)
        taken = now_ms()
        got = as_map(client.call('LAWN.INFO', 'k'), client.protocol)
        equal((got[b'len'], got[b'pushed'], got[b'fired']) == (1, 4, 3), True,
              repr(got))
        for name in (b'late-p50-ms', b'late-p99-ms', b'late-max-ms'):
            assert (asked - after) * 0.8 <= got[name] <= \
                (taken - before) * 1.25 + 1, got
        assert got[b'late-max-ms'] <= taken - before, got
        assert got[b'late-p50-ms'] <= got[b'late-p99-ms']


@case
def read_only_commands_change_nothing():
    server = shared()
    for client in (server.client(2), server.client(3)):
        client.call('LAWN.MPUSH', 'k', 'DELAY', FAR, 2, *'aabb')
        client.call('LAWN.MPUSH', 'k', 'AT', 1, 2, *'ccdd')
        digest = server.digest('k')
        dirty = server.info('persistence')['rdb_changes_since_last_save']
        for args in (('GET', 'k', 'a'), ('GET', 'k', 'c', 'META'),
                     ('NEXT', 'k'), ('LEN', 'k'), ('LEN', 'k', 'DUE'),
                     ('LEN', 'k', 'WAITING'), ('SCAN', 'k', 0),
                     ('INFO', 'k'), ('CONFIG', 'k', 'GET'),
                     ('POLL', 'none'), ('CANCEL', 'k', 'x'),
                     ('PULL', 'k', 'x'), ('UPDATE', 'k', 'x', 'y'),
                     ('TOUCH', 'k', 'x', 'DELAY', 1),
                     ('PUSH', 'k', 'a', 'x', 'DELAY', 1, 'NX'),
                     ('TOUCH', 'k', 'a', 'DELAY', 1, 'GT'),
                     ('LEASE', 'none', 'me'), ('ACK', 'k', 'a', 1),
                     ('NACK', 'k', 'a', 1), ('EXTEND', 'k', 'a', 1, 'LEASE', 1),
                     ('PARTITION', 'k', 5)):
            client.call('LAWN.' + args[0], *args[1:])
            equal(server.digest('k'), digest, repr(args))
            equal(server.info('persistence')['rdb_changes_since_last_save'],
                  dirty, repr(args))
        client.call('FLUSHALL')


# CONFIG, PAUSE

NAMES = "maxlen, maxbytes, overflow, resolution-ms, tries and lease"


@case
def config_get_is_a_map():
    for client in each_protocol():
        equal(client.raw('LAWN.CONFIG', 'k', 'GET'), null(client))
        equal(client.raw('LAWN.CONFIG', 'k', 'GET', 'maxlen'), null(client))
        client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', FAR)
        got = as_map(client.call('LAWN.CONFIG', 'k', 'GET'), client.protocol)
        equal(list(got), ['maxlen', 'maxbytes', 'overflow', 'resolution-ms',
                          'tries', 'lease'])
        equal((got[b'maxlen'], got[b'maxbytes'], got[b'overflow'])
              == (0, 0, b'reject'), True, repr(got))
        equal(got[b'resolution-ms'], 1)
        got = as_map(client.call('LAWN.CONFIG', 'k', 'GET', 'overflow',
                                 'maxlen'), client.protocol)
        assert got == {b'overflow': b'reject', b'maxlen': 0}, got
        equal(client.call('LAWN.CONFIG', 'k', 'GET', 'what'),
              error(f"ERR unknown setting 'what'; known are {NAMES}"))


@case
def config_set_is_all_or_nothing():
    for client in each_protocol():
        equal(client.raw('LAWN.CONFIG', 'k', 'SET', 'maxlen', 5, 'maxbytes',
                         1000, 'overflow', 'drop-oldest', 'resolution-ms', 10,
                         'tries', 2**32 - 1, 'lease', LIMIT), b'+OK\r\n')
        whole = {b'maxlen': 5, b'maxbytes': 1000, b'overflow': b'drop-oldest',
                 b'resolution-ms': 10, b'tries': 2**32 - 1, b'lease': LIMIT}
        equal(as_map(client.call('LAWN.CONFIG', 'k', 'GET'),
                     client.protocol), whole)
        for args, text in (
                (('maxlen', 7, 'what', 1),
                 f"ERR unknown setting 'what'; known are {NAMES}"),
                (('maxlen', 7, 'maxbytes', 'x'),
                 "ERR invalid value for maxbytes: 'x'"),
                (('maxlen', 'x'), "ERR invalid value for maxlen: 'x'"),
                (('maxlen', -1), "ERR invalid value for maxlen: '-1'"),
                (('maxlen', 7, 'overflow', 'what'),
                 "ERR invalid value for overflow: 'what'; use reject or "
                 "drop-oldest"),
                (('maxlen', 7, 'tries', 2**32),
                 f"ERR invalid value for tries: '{2**32}'"),
                (('maxlen', 7, 'lease', LIMIT + 1),
                 f"ERR invalid value for lease: '{LIMIT + 1}'"),
                (('maxlen', 7, 'resolution-ms', 'x'),
                 "ERR invalid value for resolution-ms: 'x'")):
            equal(client.call('LAWN.CONFIG', 'k', 'SET', *args), error(text))
        for args, wanted in (
                (('SET',), missing('SET')),
                (('SET', 'maxlen'), missing('maxlen')),
                (('SET', 'maxlen', 1, 'x'), missing('x')),
                (('WHAT',), near('WHAT'))):
            got = client.call('LAWN.CONFIG', 'k', *args)
            equal(got, wanted, repr(args))
        equal(as_map(client.call('LAWN.CONFIG', 'k', 'GET'),
                     client.protocol), whole)


@case
def a_strange_name_in_an_error_does_not_break_the_protocol():
    for client in each_protocol():
        for name in ('\r\n+OK\r\n', '%s%n%d', 'x' * 100000, '\0', b'\xff'):
            for args in ((name, 1), ('maxlen', name), ('overflow', name)):
                got = client.call('LAWN.CONFIG', 'k', 'SET', *args)
                assert isinstance(got, resp.Error), got
                assert len(got) < 200000
            got = client.call('LAWN.CONFIG', 'k', 'GET', name)
            assert got is None or isinstance(got, resp.Error), got
            client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', FAR)
            got = client.call('LAWN.CONFIG', 'k', 'GET', name)
            assert isinstance(got, resp.Error), got
            client.call('DEL', 'k')


@case
def a_full_key_refuses_and_changes_nothing():
    for client in each_protocol():
        client.call('LAWN.CONFIG', 'k', 'SET', 'maxlen', 2)
        client.call('LAWN.MPUSH', 'k', 'DELAY', FAR, 2, *'aabb')
        full = error('FULL the key holds 2 events; its maxlen is 2')
        equal(client.call('LAWN.PUSH', 'k', 'c', 'p', 'DELAY', FAR), full)
        equal(client.call('LAWN.PUSH', 'k', '*', 'p', 'DELAY', FAR), full)
        equal(client.call('LAWN.MPUSH', 'k', 'DELAY', FAR, 2, *'aacc'), full)
        equal(client.call('LAWN.PUSH', 'k', 'a', 'new', 'DELAY', FAR), 'a')
        equal(client.call('LAWN.LEN', 'k'), 2)
        client.call('LAWN.CANCEL', 'k', 'b')
        equal(client.call('LAWN.PUSH', 'k', 'c', 'p', 'DELAY', FAR), 'c')


@case
def a_key_full_of_bytes_refuses_and_counts_a_replacement_as_free():
    for client in each_protocol():
        client.call('LAWN.CONFIG', 'k', 'SET', 'maxbytes', 20)
        equal(client.call('LAWN.PUSH', 'k', 'a', 'x' * 19, 'DELAY', FAR), 'a')
        full = "FULL the key's ids and payloads would take {} bytes; its " \
               "maxbytes is 20"
        equal(client.call('LAWN.PUSH', 'k', 'b', '', 'DELAY', FAR),
              error(full.format(21)))
        equal(client.call('LAWN.PUSH', 'k', 'a', 'x' * 20, 'DELAY', FAR),
              error(full.format(21)))
        equal(client.call('LAWN.GET', 'k', 'a'), 'x' * 19)
        equal(client.call('LAWN.PUSH', 'k', 'a', 'y' * 19, 'DELAY', FAR), 'a')
        equal(client.call('LAWN.PUSH', 'k', 'a', 'y' * 9, 'DELAY', FAR), 'a')
        equal(client.call('LAWN.PUSH', 'k', 'b', 'y' * 9, 'DELAY', FAR), 'b')
        equal(client.call('LAWN.UPDATE', 'k', 'b', 'y' * 10),
              error(full.format(21)))
        equal(client.call('LAWN.UPDATE', 'k', 'b', 'y' * 8), 'y' * 9)
        equal(client.call('LAWN.GET', 'k', 'b'), 'y' * 8)


@case
def drop_oldest_drops_the_event_due_first():
    for client in each_protocol():
        client.call('LAWN.CONFIG', 'k', 'SET', 'maxlen', 3, 'overflow',
                    'drop-oldest')
        for i, id_ in enumerate('dbca'):
            client.call('LAWN.PUSH', 'k', id_, 'p', 'AT',
                        2**50 + ord(id_) * 10)
            equal(client.call('LAWN.LEN', 'k'), min(i + 1, 3))
        # b was due first when a was added
        equal(sorted(scan(client)), ['a', 'c', 'd'])
        equal(client.call('LAWN.PUSH', 'k', 'c', 'again', 'AT', 2**50), 'c')
        equal(sorted(scan(client)), ['a', 'c', 'd'])
        equal(as_map(client.call('LAWN.INFO', 'k'), client.protocol)
              [b'dropped'], 1)
        client.call('LAWN.CONFIG', 'k', 'SET', 'maxbytes', 12)
        equal(client.call('LAWN.PUSH', 'k', 'e', 'x' * 9, 'AT', 2**51), 'e')
        equal(sorted(scan(client)), ['d', 'e'])
        equal(as_map(client.call('LAWN.INFO', 'k'), client.protocol)
              [b'dropped'], 3)
        got = client.call('LAWN.PUSH', 'k', 'f', 'x' * 100, 'AT', 2**51)
        assert re.fullmatch(rb"FULL the key's ids and payloads would take "
                            rb'(101|113) bytes; its maxbytes is 12',
                            got), got
        equal(sorted(scan(client)), ['d', 'e'])


@case
def resolution_rounds_up():
    for client in each_protocol():
        client.call('LAWN.CONFIG', 'k', 'SET', 'resolution-ms', 1000)
        for at, due in ((2**50, -(-2**50 // 1000) * 1000),
                        (10**15, 10**15), (10**15 + 1, 10**15 + 1000)):
            client.call('LAWN.PUSH', 'k', 'i', 'p', 'AT', at)
            equal(due_of(client, 'k', 'i'), due)
        before = now_ms()
        client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', FAR)
        due = due_of(client, 'k', 'i')
        assert due % 1000 == 0 and before + FAR <= due < now_ms() + FAR + 1000
        equal(client.call('LAWN.TOUCH', 'k', 'i', 'AT', 10**15 + 1),
              10**15 + 1000)


@case
def a_paused_key_has_no_due_events():
    for client in each_protocol():
        equal(client.raw('LAWN.PAUSE', 'k'), b'+OK\r\n')
        equal(client.call('EXISTS', 'k'), 1)
        client.call('LAWN.MPUSH', 'k', 'AT', 1, 2, *'aabb')
        equal(client.call('LAWN.POLL', 'k'), [])
        equal(client.call('LAWN.POLL', 'k', 'BLOCK', 5), [])
        equal(client.call('LAWN.LEN', 'k'), 2)
        equal(client.call('LAWN.PAUSE', 'k'), OK)
        equal(client.raw('LAWN.RESUME', 'k'), b'+OK\r\n')
        equal(client.call('LAWN.POLL', 'k'), [['a', 'a'], ['b', 'b']])
        equal(client.call('EXISTS', 'k'), 0)
        equal(client.call('LAWN.RESUME', 'k'), OK)
        equal(client.call('EXISTS', 'k'), 0)
        client.call('LAWN.PAUSE', 'k')
        client.call('LAWN.RESUME', 'k')
        equal(client.call('EXISTS', 'k'), 0)


@case
def settings_keep_an_empty_key_and_their_defaults_remove_it():
    for client in each_protocol():
        for name, value, default in (('maxlen', 5, 0), ('maxbytes', 5, 0),
                                     ('overflow', 'drop-oldest', 'reject'),
                                     ('resolution-ms', 5, 1)):
            client.call('LAWN.CONFIG', 'k', 'SET', name, value)
            equal(client.call('EXISTS', 'k'), 1, name)
            client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', FAR)
            client.call('LAWN.CANCEL', 'k', 'i')
            equal(client.call('EXISTS', 'k'), 1, name)
            equal(client.call('LAWN.CONFIG', 'k', 'SET', name, default), OK)
            equal(client.call('EXISTS', 'k'), 0, name)


# APPLY

@case
def apply_puts_moves_updates_and_deletes():
    for client in each_protocol():
        due = 2**50
        equal(client.raw('LAWN.APPLY', 'k', 'ADD', 'a', 'one', due, 1000, '',
                         'b', 'two', due + 1, due + 1, 'a',
                         'c', 'three', 5, 0, 'e10 t3 m2'), b'+OK\r\n')
        meta = {id_: as_map(client.call('LAWN.GET', 'k', id_, 'META'),
                            client.protocol) for id_ in 'abc'}
        equal([(meta[id_][b'payload'], meta[id_][b'due'])
               for id_ in 'ab'] == [(b'one', due), (b'two', due + 1)], True,
              repr(meta))
        equal([meta['c'][name] for name in (b'due', b'period', b'times',
                                            b'missed')], [5, 10, 3, 2])
        equal(client.call('LAWN.APPLY', 'k', 'SET', 'a', 'ONE', 'x', 'y'), OK)
        equal(client.call('LAWN.GET', 'k', 'a'), 'ONE')
        equal(client.call('LAWN.APPLY', 'k', 'AT', 'a', due + 5, 1, 'a', 'x',
                          1, 1, ''), OK)
        equal(due_of(client, 'k', 'a'), due + 5)
        equal(client.call('LAWN.APPLY', 'k', 'CFG', 'maxlen', 7, 'paused', 1),
              OK)
        equal(as_map(client.call('LAWN.INFO', 'k'), client.protocol)
              [b'paused'], 1)
        equal(client.call('LAWN.APPLY', 'k', 'CFG', 'maxlen', 0, 'paused', 0),
              OK)
        equal(client.call('LAWN.APPLY', 'k', 'DEL', 'a', 'x', 'b', 'c'), OK)
        equal(client.call('EXISTS', 'k'), 0)


@case
def apply_leases_and_sets_tokens_and_sinks():
    for client in each_protocol():
        end = 2**50
        equal(client.call('LAWN.APPLY', 'k', 'ADD', 'a', 'p', 5, 0, 'n2 k3',
                          'b', 'p', end, end, 'a k1'), OK)
        equal(client.raw('LAWN.APPLY', 'k', 'LEASE', 'a', 7, 3, 4, end, end,
                         'me', 'none', 8, 1, 1, end, 0, 'me', 'b', 9, 1, 1, 5,
                         0, ''), b'+OK\r\n')
        names = (b'due', b'state', b'tries', b'max-tries', b'lease-end',
                 b'owner')
        for id_, expected in (('a', [5, 'leased', 3, 4, end, 'me']),
                              ('b', [end, 'dead', 1, 1, 5, ''])):
            got = as_map(client.call('LAWN.GET', 'k', id_, 'META'),
                         client.protocol)
            equal([got[name] for name in names], expected, id_)
        equal(client.call('LAWN.ACK', 'k', 'a', 8, 'b', 9), [0, 1])
        equal(client.call('LAWN.APPLY', 'k', 'AT', 'a', 5, 0, 'n3 k4'), OK)
        got = as_map(client.call('LAWN.GET', 'k', 'a', 'META'),
                     client.protocol)
        equal([got[name] for name in names], [5, 'due', 3, 4, 0, ''])
        equal(client.call('LAWN.APPLY', 'k', 'TOKEN', 2**52), OK)
        equal(client.call('LAWN.APPLY', 'k', 'TOKEN', 5), OK)
        token = client.call('LAWN.LEASE', 'k', 'me')[0][2]
        assert 2**52 < token <= 2**52 + 16, token
        equal(client.call('LAWN.APPLY', 'k', 'DEL', 'a'), OK)
        equal(client.call('LAWN.APPLY', 'k', 'SINK', 'stream', 'out', 9,
                          'dead'), OK)
        got = as_map(client.call('LAWN.INFO', 'k'), client.protocol)
        equal([got[name] for name in (b'sink', b'sink-to', b'sink-maxlen',
                                      b'dead-letter')],
              ['stream', 'out', 9, 'dead'])
        equal(client.call('LAWN.APPLY', 'k', 'SINK', 'none', '', 0, ''), OK)
        equal(client.call('EXISTS', 'k'), 0)


@case
def a_partition_is_the_slot_of_the_id_modulo_its_number():
    for client in each_protocol():
        for id_, slot in (('', 0), ('123456789', 0x31c3), (b'\0\xff', None),
                          ('order:17', None)):
            # the server's hash is the same for keys without braces
            if slot is None:
                found = client.call('EVAL', """local c = 0
                    for i = 1, #ARGV[1] do
                        c = bit.bxor(c, bit.lshift(ARGV[1]:byte(i), 8))
                        for _ = 1, 8 do
                            local high = bit.band(c, 0x8000) ~= 0
                            c = bit.band(bit.lshift(c, 1), 0xffff)
                            if high then c = bit.bxor(c, 0x1021) end
                        end
                    end
                    return c""", 0, id_)
                slot = found
            for count in (1, 2, 7, 16, 16384):
                equal(client.raw('LAWN.PARTITION', id_, count),
                      b':%d\r\n' % (slot % count))
        equal(client.call('LAWN.PARTITION', '{x}y', 16384)
              != client.call('LAWN.PARTITION', 'x', 16384), True)
        for bad in (0, 16385, -1, 'x', ''):
            equal(client.call('LAWN.PARTITION', 'i', bad),
                  no_number('number of partitions', bad))
        equal(client.call('LAWN.PARTITION', 'i'), arity('lawn.partition'))
        equal(client.call('LAWN.PARTITION', 'i', 1, 2),
              arity('lawn.partition'))


@case
def apply_refuses_invalid_arguments_and_changes_nothing():
    for client in each_protocol():
        client.call('LAWN.PUSH', 'k', 'i', 'p', 'AT', 2**50)
        for args in (('WHAT', 'i'), ('ADD', 'a', 'p', 1, 1),
                     ('ADD', 'a', 'p', 1, 1, '', 'b', 'p', 1, 1),
                     ('ADD', 'a', 'p', 1, 1, '', 'b', 'p', 'x', 1, ''),
                     ('ADD', 'a', 'p', 1, 1, '', 'b', 'p', 1, 2, ''),
                     ('ADD', 'a', 'p', 1, 1, '', 'b', 'p', 2**54 + 1, 1, ''),
                     ('ADD', 'a', 'p', 1, 1, '', 'b', 'p', -1, 0, ''),
                     ('ADD', 'a', 'p', 1, 1, '', 'b', 'p', 1, 1, 'z'),
                     ('ADD', 'a', 'p', 1, 1, '', 'b', 'p', 1, 1, 'e'),
                     ('ADD', 'a', 'p', 1, 1, '', 'b', 'p', 1, 1, 'ex'),
                     ('ADD', 'a', 'p', 1, 1, '', 'b' * 65536, 'p', 1, 1, ''),
                     ('AT', 'i', 1), ('AT', 'i', 1, 1), ('AT', 'i', 'x', 1, ''),
                     ('AT', 'i', 1, 1, '', 'i', 1, 2, ''),
                     ('SET', 'i'), ('SET', 'i', 'q', 'i'),
                     ('CFG', 'maxlen'), ('CFG', 'maxlen', 'x'),
                     ('CFG', 'maxlen', 4, 'what', 1), ('CFG', 'paused', 'x'),
                     ('LEASE', 'i', 7, 1, 0, 9, 0),
                     ('LEASE', 'i', 7, 1, 0, 9, 0, 'me', 'i'),
                     ('LEASE', 'i', 0, 1, 0, 9, 0, 'me'),
                     ('LEASE', 'i', 7, 1, 0, 9, 10, 'me'),
                     ('LEASE', 'i', 7, 1, 0, 2**54 + 1, 0, 'me'),
                     ('LEASE', 'i', 7, 2**32, 0, 9, 0, 'me'),
                     ('LEASE', 'i', 7, 1, 2**32, 9, 0, 'me'),
                     ('LEASE', 'i', 7, 1, 0, 9, 0, 'm' * 256),
                     ('LEASE', 'i', 7, 1, 0, 9, 0, 'me', 'i', 'x', 1, 0, 9, 0,
                      'me'), ('AT', 'i', 1, 1, 'n'), ('AT', 'i', 1, 1, 'k0'),
                     ('TOKEN', 'x'), ('TOKEN', -1), ('TOKEN', 1, 2),
                     ('SINK', 'what', 'to', 0, ''), ('SINK', 'stream', 'to', 0),
                     ('SINK', 'stream', 'to', 'x', ''),
                     ('SINK', 'stream', 't' * 65536, 0, '')):
            got = client.call('LAWN.APPLY', 'k', *args)
            assert isinstance(got, resp.Error), (args, got)
            equal(client.call('LAWN.LEN', 'k'), 1, repr(args))
            equal(client.call('LAWN.GET', 'k', 'i'), 'p', repr(args))
            equal(due_of(client, 'k', 'i'), 2**50, repr(args))
            equal(client.call('LAWN.LEN', 'k', 'WAITING'), 1, repr(args))
            equal(as_map(client.call('LAWN.CONFIG', 'k', 'GET', 'maxlen'),
                         client.protocol), {b'maxlen': 0})
        for verb in ('ADD', 'DEL', 'AT', 'SET', 'CFG', 'LEASE', 'SINK',
                     'TOKEN'):
            got = client.call('LAWN.APPLY', 'k', verb)
            assert isinstance(got, resp.Error), (verb, got)


# ORDER AND SIZE

@case
def thirty_thousand_events_come_each_once_in_order():
    client = shared().client()
    count = 30000
    for begin in range(0, count, 3000):
        client.call('LAWN.MPUSH', 'k', 'DELAY', 1 + begin // 3000, 3000,
                    *[f'{begin + i // 2}' for i in range(6000)])
    got = []

    def everything():
        got.extend(client.call('LAWN.POLL', 'k', 'COUNT', 10000, 'META'))
        return len(got) >= count
    wait_until(everything, 'all of them')
    equal(client.call('EXISTS', 'k'), 0)
    ids = [row[1] for row in got]
    equal(len(set(ids)), count)
    dues = [row[5] for row in got]
    equal(dues == sorted(dues), True, 'in order')


@case
def replies_are_never_out_of_step_in_a_long_pipeline():
    for client in each_protocol():
        commands, marks = [], []
        for i in range(400):
            for name, (_, _, args) in COMMANDS.items():
                key = ('k', 'string', 'none')[i % 3]
                commands.append((name, key, *args))
                commands.append(('ECHO', f'{i}-{name}'))
                marks.append(f'{i}-{name}'.encode())
        client.call('SET', 'string', 'v')
        got = client.pipe(commands)
        equal(got[1::2] == marks, True)
        assert not any(same(reply, resp.NULL_ARRAY) for reply in got)


if __name__ == '__main__':
    main(__doc__)
