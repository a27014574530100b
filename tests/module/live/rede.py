#!/usr/bin/env python3
"""rede.py [--server redis|valkey] [PART OF A NAME] - REDE.*, as used by
programs written for ReDe.

The examples of its documentation, with tens of milliseconds instead of seconds,
and the expectations of its own tests; then errors of ReDe that must not return.
"""

import re

import resp
from resp import OK
from server import (FAR, MODULE, Server, case, each_protocol, equal, error,
                    main, missing, near, no_number, now_ms, null, shared,
                    wait_until)

LIMIT = 2**53
WRONG_TYPE = error('WRONGTYPE Operation against a key holding the wrong kind '
                   'of value')
DEHYDRATING = error('ERROR: Element already dehydrating.')
NO_KEY = error('ERROR: No Such dehydrator.')
NO_ELEMENT = error('ERROR: No Such Element.')
COMMANDS = {
    'rede.push': (5, 5, (FAR, 'payload', 'id')),
    'rede.gidpush': (4, 4, (FAR, 'payload')),
    'rede.pull': (3, 3, ('id',)),
    'rede.poll': (2, None, ()),
    'rede.xpoll': (2, None, ()),
    'rede.xack': (3, None, ('id',)),
    'rede.look': (3, 3, ('id',)),
    'rede.ttn': (2, 2, ()),
    'rede.update': (4, 4, ('id', 'payload')),
    'rede.print': (2, 2, ()),
}


def array(*strings):
    return resp.encode(*strings)


def dry(client, key='my_dehydrator'):
    """Waits until an element is due."""
    wait_until(lambda: client.call('REDE.TTN', key) == 0, 'something is due')


def now_due(client, id_, key='my_dehydrator'):
    """Makes an event due now."""
    client.call('LAWN.TOUCH', key, id_, 'AT', 1)


def all_dry(client, count, key='my_dehydrator'):
    wait_until(lambda: len(client.call('REDE.XPOLL', key)) == count,
               f'{count} are due')


# THE EXAMPLES

@case
def the_example_of_push():
    for client in each_protocol():
        equal(client.raw('REDE.PUSH', 'my_dehydrator', 30, 'Dehydrate this',
                         101), b'+OK\r\n')
        equal(client.raw('REDE.LOOK', 'my_dehydrator', 101),
              b'$14\r\nDehydrate this\r\n')
        client.call('REDE.PULL', 'my_dehydrator', 101)
        client.call('REDE.PUSH', 'my_dehydrator', FAR, 'Dehydrate this', 1)
        equal(client.raw('REDE.POLL', 'my_dehydrator'), b'*0\r\n')
        client.call('REDE.PULL', 'my_dehydrator', 1)
        client.call('REDE.PUSH', 'my_dehydrator', 3, 'Dehydrate this', 101)
        dry(client)
        equal(client.raw('REDE.POLL', 'my_dehydrator'),
              b'*1\r\n$14\r\nDehydrate this\r\n')


@case
def the_example_of_gidpush():
    for client in each_protocol():
        id_ = client.call('REDE.GIDPUSH', 'my_dehydrator', 30,
                          'Dehydrate this')
        assert re.fullmatch(rb'\$31\r\n[0-9A-Z]{31}\r\n', client.seen), id_
        equal(client.call('REDE.LOOK', 'my_dehydrator', id_),
              'Dehydrate this')
        dry(client)
        equal(client.raw('REDE.POLL', 'my_dehydrator'),
              b'*1\r\n$14\r\nDehydrate this\r\n')


@case
def the_example_of_pull():
    for client in each_protocol():
        equal(client.raw('REDE.PULL', 'my_dehydrator', 101), null(client))
        client.call('REDE.PUSH', 'my_dehydrator', 3000, 'Dehydrate this', 101)
        equal(client.raw('REDE.PULL', 'my_dehydrator', 101),
              b'$14\r\nDehydrate this\r\n')
        equal(client.raw('REDE.PULL', 'my_dehydrator', 101), null(client))


@case
def the_example_of_poll():
    for client in each_protocol():
        equal(client.raw('REDE.POLL', 'my_dehydrator'), b'*0\r\n')
        client.call('REDE.PUSH', 'my_dehydrator', FAR, 'Dehydrate this', 101)
        client.call('REDE.PUSH', 'my_dehydrator', 10, 'Dehydrate that', 102)
        dry(client)
        equal(client.raw('REDE.POLL', 'my_dehydrator'),
              array('Dehydrate that'))
        equal(client.raw('REDE.POLL', 'my_dehydrator'), b'*0\r\n')
        equal(client.call('REDE.LOOK', 'my_dehydrator', 101),
              'Dehydrate this')


@case
def the_example_of_xpoll():
    for client in each_protocol():
        equal(client.raw('REDE.XPOLL', 'my_dehydrator'), b'*0\r\n')
        client.call('REDE.PUSH', 'my_dehydrator', FAR, 'Dehydrate this', 101)
        client.call('REDE.PUSH', 'my_dehydrator', 20, 'Dehydrate that', 102)
        all_dry(client, 1)
        equal(client.raw('REDE.XPOLL', 'my_dehydrator'), array('102'))
        now_due(client, 101)
        equal(client.raw('REDE.XPOLL', 'my_dehydrator'), array('102', '101'))
        equal(client.call('REDE.POLL', 'my_dehydrator'),
              ['Dehydrate that', 'Dehydrate this'])


@case
def the_example_of_xack():
    for client in each_protocol():
        client.call('REDE.PUSH', 'my_dehydrator', FAR, 'Dehydrate this', 101)
        client.call('REDE.PUSH', 'my_dehydrator', 20, 'Dehydrate that', 102)
        dry(client)
        equal(client.call('REDE.POLL', 'my_dehydrator'), ['Dehydrate that'])
        now_due(client, 101)
        equal(client.raw('REDE.XPOLL', 'my_dehydrator'), array('101'))
        equal(client.raw('REDE.XACK', 'my_dehydrator', 101, 102, 103),
              b'*3\r\n$14\r\nDehydrate this\r\n' + 2 * null(client))
        equal(client.raw('REDE.XACK', 'my_dehydrator', 101), b'*0\r\n')


@case
def the_example_of_look():
    for client in each_protocol():
        equal(client.raw('REDE.LOOK', 'my_dehydrator', 101), null(client))
        client.call('REDE.PUSH', 'my_dehydrator', 3000, 'Dehydrate this', 101)
        client.call('REDE.PUSH', 'my_dehydrator', 3000, 'Dehydrate that', 102)
        equal(client.call('REDE.LOOK', 'my_dehydrator', 101),
              'Dehydrate this')
        equal(client.call('REDE.LOOK', 'my_dehydrator', 102),
              'Dehydrate that')
        equal(client.raw('REDE.LOOK', 'my_dehydrator', 103), null(client))


@case
def the_example_of_ttn():
    for client in each_protocol():
        equal(client.raw('REDE.TTN', 'my_dehydrator'), null(client))
        client.call('REDE.PUSH', 'my_dehydrator', 300000, 'Dehydrate this',
                    101)
        client.call('REDE.PUSH', 'my_dehydrator', 20, 'Dehydrate that', 102)
        got = client.call('REDE.TTN', 'my_dehydrator')
        assert 0 <= got <= 20, got
        dry(client)
        equal(client.raw('REDE.TTN', 'my_dehydrator'), b':0\r\n')
        equal(client.call('REDE.POLL', 'my_dehydrator'), ['Dehydrate that'])
        got = client.call('REDE.TTN', 'my_dehydrator')
        assert 270000 < got <= 300000, got
        client.call('REDE.PULL', 'my_dehydrator', 101)
        equal(client.raw('REDE.TTN', 'my_dehydrator'), null(client))


@case
def the_example_of_update():
    for client in each_protocol():
        client.call('REDE.PUSH', 'my_dehydrator', 300000, 'Dehydrate this',
                    101)
        equal(client.raw('REDE.UPDATE', 'my_dehydrator', 101,
                         'Dehydrate that'), b'$14\r\nDehydrate this\r\n')
        equal(client.call('REDE.LOOK', 'my_dehydrator', 101),
              'Dehydrate that')
        got = client.call('REDE.TTN', 'my_dehydrator')
        assert 270000 < got <= 300000, got


# WHAT ITS OWN TESTS EXPECT

@case
def its_functional_test():
    client = shared().client()
    key = 'python_test_dehydrator'
    client.call('DEL', key)
    for ttl, id_ in ((10, 'a'), (300000, 'b'), (FAR, 'c')):
        client.call('rede.push', key, ttl, 'test_element ' + id_, id_)
    client.call('rede.pull', key, 'b')
    dry(client, key)
    equal(client.call('rede.poll', key), ['test_element a'])
    equal(client.call('rede.poll', key), [])
    now_due(client, 'c', key)
    equal(client.call('rede.poll', key), ['test_element c'])
    equal(client.call('DEL', key), 0)


@case
def its_hello_world():
    client = shared().client()
    key = 'helloworld_dehydrator'
    client.call('rede.gidpush', key, 10, 'world')
    client.call('rede.push', key, FAR, 'goodbye', 'y')
    client.call('rede.push', key, 300000, 'derp', 'z')
    client.call('rede.pull', key, 'y')
    equal(client.call('rede.look', key, 'y'), None)
    equal(client.call('rede.look', key, 'z'), 'derp')
    equal(client.call('rede.update', key, 'z', 'hello'), 'derp')
    dry(client, key)
    equal(client.call('rede.poll', key), ['world'])
    assert 0 < client.call('rede.ttn', key) <= 300000
    now_due(client, 'z', key)
    equal(client.call('rede.poll', key), ['hello'])


@case
def its_test_of_look():
    for client in each_protocol():
        equal(client.call('REDE.look', 't', 'test_element'), None)
        equal(client.call('REDE.push', 't', 100000, 'payload',
                          'test_element'), OK)
        equal(client.call('REDE.look', 't', 'test_element'), 'payload')
        equal(client.call('REDE.pull', 't', 'test_element'), 'payload')
        equal(client.call('REDE.look', 't', 'test_element'), None)


@case
def its_test_of_update():
    for client in each_protocol():
        equal(client.call('REDE.update', 't', 'test_element', 'text'), NO_KEY)
        client.call('REDE.push', 't', 100000, 'some payload', 'test_element')
        client.call('REDE.push', 't', 100000, 'other', 'other')
        equal(client.call('REDE.update', 't', 'test_element',
                          'some OTHER payload'), 'some payload')
        equal(client.call('REDE.look', 't', 'test_element'),
              'some OTHER payload')
        equal(client.call('REDE.pull', 't', 'test_element'),
              'some OTHER payload')
        equal(client.call('REDE.update', 't', 'test_element', 'text'),
              NO_ELEMENT)
        equal(client.call('REDE.pull', 't', 'other'), 'other')
        equal(client.call('REDE.update', 't', 'test_element', 'text'), NO_KEY)


@case
def its_test_of_ttn():
    client = shared().client()
    client.call('REDE.push', 't', 3000000, 'payload', 'a')
    assert 0 < client.call('REDE.ttn', 't') <= 3000000
    client.call('REDE.push', 't', 1000000, 'payload', 'b')
    assert 0 < client.call('REDE.ttn', 't') <= 1000000
    client.call('REDE.push', 't', 2, 'payload', 'c')
    dry(client, 't')


@case
def its_test_of_push():
    for client in each_protocol():
        equal(client.call('REDE.push', 't', 1, 'payload', 'e'), OK)
        equal(client.call('REDE.look', 't', 'e'), 'payload')
        equal(client.raw('REDE.push', 't', 1, 'payload', 'e'),
              b'-ERROR: Element already dehydrating.\r\n')
        equal(client.call('REDE.pull', 't', 'wrong'), None)


@case
def its_test_of_poll():
    client = shared().client()
    base = now_ms()
    # In one transaction, so that no time passes in between.
    client.multi(*[('REDE.push', 't', ttl, 'element_' + id_, id_)
                   for ttl, id_ in ((20, '1'), (400000, '7'), (60, '3a'),
                                    (100, '4'), (60, '3b'))])
    pulled = client.call('REDE.pull', 't', '7')
    equal(pulled, 'element_7')
    got = []
    while len(got) < 4:
        part = client.call('REDE.poll', 't')
        late = now_ms() - base
        for payload in part:
            least = {b'1': 20, b'3a': 60, b'3b': 60, b'4': 100}
            assert late >= least[payload[8:]], (payload, late)
        got += part
    equal(got, ['element_1', 'element_3a', 'element_3b', 'element_4'])
    equal(client.call('REDE.poll', 't'), [])


@case
def its_test_of_xpoll_and_xack():
    client = shared().client()
    client.call('REDE.push', 't', 10, 'element_1', 'e1')
    client.call('REDE.push', 't', FAR, 'element_7', 'e7')
    client.call('REDE.push', 't', FAR, 'element_3a', 'e3a')
    all_dry(client, 1, 't')
    equal(client.call('REDE.xpoll', 't'), ['e1'])
    now_due(client, 'e3a', 't')
    equal(client.call('REDE.xpoll', 't'), ['e1', 'e3a'])
    equal(client.call('REDE.xack', 't', 'e1', 'missing', 'e3a', 'e7'),
          ['element_1', None, 'element_3a', None])
    equal(client.call('REDE.xpoll', 't'), [])
    equal(client.call('REDE.look', 't', 'e7'), 'element_7')
    equal(client.call('REDE.xack', 'none', 'a', 'b'), [])


@case
def its_self_check_passes_at_once_and_leaves_nothing():
    """At once, without ReDe's sleep of several seconds. A busy machine may take
    as long, but not always."""
    for client in each_protocol():
        def at_once(client=client):
            began = now_ms()
            equal(client.raw('REDE.TEST'), b'+PASS\r\n')
            equal(client.call('DBSIZE'), 0)
            return now_ms() - began < 2000
        wait_until(at_once, 'within two seconds')


# WHAT IT DID WRONG

@case
def every_command_wants_its_number_of_arguments():
    for client in each_protocol():
        for name, (least, most, args) in COMMANDS.items():
            refused = error(f"ERR wrong number of arguments for '{name}' "
                            'command')
            whole = ('k', *args)
            for count in range(least - 1):
                equal(client.call(name, *whole[:count]), refused)
            if most is not None:
                equal(client.call(name, *whole, 'x'), refused)
        equal(client.call('REDE.TEST', 'x'), error(
            "ERR wrong number of arguments for 'rede.test' command"))
        equal(client.call('DBSIZE'), 0)


@case
def a_key_of_another_type_gets_one_error():
    for client in each_protocol():
        client.call('SET', 'string', 'v')
        client.call('RPUSH', 'list', 'v')
        for _ in range(10):
            for key in ('string', 'list'):
                for name, (_, _, args) in COMMANDS.items():
                    equal(client.call(name, key, *args), WRONG_TYPE, name)
        equal(client.call('GET', 'string'), 'v')


@case
def a_bad_ttl_gets_an_error_and_leaves_no_key():
    for client in each_protocol():
        for bad in ('', 'x', '1.5', '-1', '1e3', str(LIMIT + 1), '9' * 30):
            equal(client.call('REDE.PUSH', 'k', bad, 'p', 'i'),
                  no_number('ttl', bad))
            equal(client.call('REDE.GIDPUSH', 'k', bad, 'p'),
                  no_number('ttl', bad))
        equal(client.call('EXISTS', 'k'), 0)


@case
def a_ttl_has_53_bits():
    client = shared().client()
    client.call('REDE.PUSH', 'k', 3000000000, 'p', 'a')
    got = client.call('REDE.TTN', 'k')
    assert 2999900000 < got <= 3000000000, got
    client.call('REDE.PUSH', 'j', 2**32 + 5, 'p', 'long')
    client.call('REDE.PUSH', 'j', 5, 'p', 'short')
    dry(client, 'j')
    equal(client.call('REDE.XPOLL', 'j'), ['short'])
    equal(client.call('REDE.PUSH', 'j', LIMIT, 'p', 'last'), OK)


@case
def ids_are_any_bytes():
    client = shared().client()
    equal(client.call('REDE.PUSH', 'k', FAR, 'A', 'q\0a'), OK)
    equal(client.call('REDE.PUSH', 'k', FAR, 'B', 'q\0b'), OK)
    equal(client.call('REDE.PUSH', 'k', FAR, 'star', '*'), OK)
    equal(client.call('REDE.LOOK', 'k', 'q\0a'), 'A')
    equal(client.call('REDE.LOOK', 'k', 'q\0b'), 'B')
    equal(client.call('REDE.LOOK', 'k', '*'), 'star')
    equal(client.call('REDE.PUSH', 'k', FAR, 'x', '*'), DEHYDRATING)
    equal(client.call('REDE.PUSH', 'k', FAR, 'x', 'i' * 65536),
          error('ERR id is longer than 65535 bytes'))


@case
def ids_made_by_gidpush_never_come_twice():
    client = shared().client()
    ids = client.pipe(('REDE.GIDPUSH', 'k', FAR, 'p') for _ in range(3000))
    client.call('DEL', 'k')
    ids += client.pipe(('REDE.GIDPUSH', 'k', FAR, 'p') for _ in range(3000))
    equal(len(set(ids)), 6000)
    assert all(re.fullmatch(rb'[0-9A-Z]{31}', id_) for id_ in ids)


@case
def a_drained_key_is_gone():
    client = shared().client()
    for args in (('REDE.POLL', 'k'), ('REDE.PULL', 'k', 'i'),
                 ('REDE.XACK', 'k', 'i')):
        client.call('REDE.PUSH', 'k', 0, 'p', 'i')
        equal(client.call('EXISTS', 'k'), 1)
        client.call(*args)
        equal(client.call('EXISTS', 'k'), 0, args[0])


@case
def poll_without_a_count_returns_up_to_max_batch_in_order():
    client = shared().client()
    client.call('CONFIG', 'SET', 'lawn.max-batch', 5000)
    try:
        client.pipe(('REDE.PUSH', 'k', 5 - i % 5, i, i) for i in range(5000))
        all_dry(client, 5000, 'k')
        ids = client.call('REDE.XPOLL', 'k')
        equal(client.call('REDE.XPOLL', 'k', 'COUNT', 3), ids[:3])
        got = client.call('REDE.POLL', 'k', 'COUNT', 7)
        equal(got, ids[:7])
        client.call('CONFIG', 'SET', 'lawn.max-batch', 9)
        for args in ((), ('COUNT', 9), ('COUNT', 10), ('COUNT', 5000)):
            equal(client.call('REDE.XPOLL', 'k', *args), ids[7:16])
        equal(client.call('REDE.POLL', 'k'), ids[7:16])
        equal(client.call('REDE.POLL', 'k', 'COUNT', 5000), ids[16:25])
        client.call('CONFIG', 'SET', 'lawn.max-batch', 5000)
        equal(client.call('REDE.POLL', 'k') == ids[25:], True)
        equal(sorted(ids, key=int) == [b'%d' % i for i in range(5000)], True)
    finally:
        client.call('CONFIG', 'SET', 'lawn.max-batch', 1000)


@case
def poll_and_xpoll_refuse_a_strange_count():
    for client in each_protocol():
        for name in ('REDE.POLL', 'REDE.XPOLL'):
            for args, wanted in (
                    (('COUNT',), missing('COUNT')), (('x',), near('x')),
                    (('COUNT', 1, 'COUNT', 1), near('COUNT')),
                    (('COUNT', 1, 'x'), near('x')), (('META',), near('META')),
                    (('BLOCK', 1), near('BLOCK'))):
                equal(client.call(name, 'k', *args), wanted, repr(args))
            for bad in ('', 'x', '0', '-1', '1.5', '9' * 30):
                equal(client.call(name, 'k', 'COUNT', bad),
                      no_number('COUNT', bad), repr(bad))


@case
def xack_gives_each_event_once():
    for client in each_protocol():
        client.call('REDE.PUSH', 'k', 0, 'p', 'i')
        client.call('REDE.PUSH', 'k', 0, 'q', 'j')
        equal(client.call('REDE.XACK', 'k', 'i', 'i'), ['p', None])
        equal(client.call('REDE.XACK', 'k', 'j', 'i'), ['q', None])
        equal(client.call('REDE.XACK', 'k', 'j'), [])


@case
def print_is_one_line_whatever_is_in_it():
    for client in each_protocol():
        equal(client.raw('REDE.PRINT', 'none'), null(client))
        client.call('REDE.PUSH', 'k', FAR, 'Dehydrate this', '101')
        got = client.call('REDE.PRINT', 'k')
        assert isinstance(got, resp.Simple), got
        told = re.search(rb'\(elements=1\).*head->\[id=101,elem=Dehydrate '
                         rb'this,ttl=(\d+),exp=\d+\]', got)
        assert told and FAR - 60000 < int(told.group(1)) <= FAR, got
        for i, strange in enumerate(('\r\n', '\0', '\r\n+OK\r\n', '%s%n',
                                     b'\xff' * 10000)):
            client.call('REDE.PUSH', 'k', i, strange, strange)
            got = client.call('REDE.PRINT', 'k')
            assert isinstance(got, resp.Simple), got
            assert not re.search(rb'[\0-\x1f\x7f]', got), got
        client.pipe(('REDE.PUSH', 'k', i % 50, 'x' * 50, f'id{i}')
                    for i in range(5000))
        assert isinstance(client.call('REDE.PRINT', 'k'), resp.Simple)


@case
def settings_hold_for_rede_too():
    for client in each_protocol():
        client.call('LAWN.CONFIG', 'k', 'SET', 'maxlen', 1)
        equal(client.call('REDE.TTN', 'k'), -1)
        equal(client.call('REDE.PUSH', 'k', 0, 'p', 'i'), OK)
        full = error('FULL the key holds 1 events; its maxlen is 1')
        equal(client.call('REDE.PUSH', 'k', 0, 'p', 'j'), full)
        equal(client.call('REDE.GIDPUSH', 'k', 0, 'p'), full)
        client.call('LAWN.PAUSE', 'k')
        equal(client.call('REDE.POLL', 'k'), [])
        equal(client.call('REDE.XPOLL', 'k'), [])
        equal(client.call('REDE.XACK', 'k', 'i'), [None])
        client.call('LAWN.RESUME', 'k')
        equal(client.call('REDE.XPOLL', 'k'), ['i'])
        equal(client.call('REDE.POLL', 'k'), ['p'])
        equal(client.call('EXISTS', 'k'), 1)


@case
def both_families_see_the_same_events():
    client = shared().client()
    client.call('LAWN.PUSH', 'k', 'a', 'one', 'AT', 1, 'EVERY', FAR)
    client.call('REDE.PUSH', 'k', 0, 'two', 'b')
    equal(client.call('REDE.XPOLL', 'k'), ['a', 'b'])
    equal(client.call('REDE.POLL', 'k', 'COUNT', 1), ['one'])
    equal(client.call('LAWN.POLL', 'k'), [['b', 'two']])
    equal(client.call('LAWN.LEN', 'k'), 1)
    equal(client.call('REDE.LOOK', 'k', 'a'), 'one')
    equal(client.call('TYPE', 'k'), resp.Simple(b'dehy-type'))


@case
def a_push_of_rede_wakes_waiting_clients():
    server = shared()
    waiter, client = server.client(), server.client()
    for args, payload in ((('REDE.PUSH', 'k', 0, 'p', 'i'), 'p'),
                          (('REDE.GIDPUSH', 'k', 4, 'q'), 'q')):
        server.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK', 0)
        client.call(*args)
        equal(waiter.read()[0][1], payload)


@case
def rede_can_be_left_out():
    with Server(module_args=('rede-compat', 'no')) as server:
        for name, (_, _, args) in COMMANDS.items():
            got = server.call(name, 'k', *args)
            assert got.startswith(b"ERR unknown command '" + name.encode()), \
                got
        equal(server.call('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1), 'i')
        equal(server.call('LAWN.POLL', 'k'), [['i', 'p']])
    with Server(module_args=('rede-compat', 'yes')) as server:
        equal(server.call('REDE.POLL', 'k'), [])


@case
def arguments_that_make_no_sense_keep_the_module_out():
    for args in (('rede-compat',), ('rede-compat', 'what'), ('what', 'yes'),
                 ('rede-compat', 'yes', 'x')):
        with Server(module=False) as server:
            got = server.call('MODULE', 'LOAD', MODULE, *args)
            assert isinstance(got, resp.Error), (args, got)
            equal(server.call('PING'), resp.Simple(b'PONG'))
            got = server.call('LAWN.POLL', 'k')
            assert got.startswith(b'ERR unknown command'), got


if __name__ == '__main__':
    main(__doc__)
