#!/usr/bin/env python3
"""replica.py [--server redis|valkey] [PART OF A NAME] - data sent to replicas
and to the append-only file: effects, with absolute times; replicas do not fire
until they are masters; and a server that accepts no writes gets none.
"""

import os
import random
import signal

import resp
from pairs import (caught_up, follow, linked, replica_of, same_data,
                   tear_down)
from resp import OK
from server import (FAR, Server, case, clocked, commands, equal, main, now_ms,
                    shared, still_waits, wait_until)


# THE APPEND-ONLY FILE

class Aof:
    """A server whose append-only file is read after each command."""

    def __init__(self):
        self.server = Server('appendonly', 'yes', 'appendfsync', 'no',
                             'aof-timestamp-enabled', 'no')
        wait_until(lambda: self.server.info('persistence')
                   ['aof_rewrite_in_progress'] == '0', 'the file is there')
        self.client = self.server.client()
        self.read = 0

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.server.__exit__(*problem)

    def new(self, *args):
        """Returns the commands that a call appended."""
        if args:
            self.client.call(*args)
        got = self.server.aof()
        new = got[self.read:]
        self.read = len(got)
        for command in new:
            equal(command[0].upper(), 'LAWN.APPLY', repr(args))
        return [command[1:] for command in new]

    def one(self, *args):
        got = self.new(*args)
        equal(len(got), 1, repr((args, got)))
        return got[0]


@case
def a_push_is_written_as_an_add_with_its_time():
    with Aof() as aof:
        before = now_ms()
        key, verb, id_, payload, due, ttl, meta = aof.one(
            'LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 5000)
        after = now_ms()
        equal([key, verb, id_, payload, ttl, meta],
              ['k', 'ADD', 'i', 'p', '5000', ''])
        assert before + 5000 <= int(due) <= after + 5000
        got = aof.one('LAWN.PUSH', 'k', 'j', 'q', 'AT', 2**50)
        equal(got[:5] + got[6:], ['k', 'ADD', 'j', 'q', str(2**50), 'a'])
        assert 2**50 - now_ms() <= int(got[5]) <= 2**50 - after
        got = aof.one('LAWN.PUSH', 'k', '*', 'q', 'DELAY', FAR)
        equal(got[6], 'g')
        assert aof.client.call('LAWN.GET', 'k', got[2]) == b'q'
        got = aof.one('LAWN.PUSH', 'k', 'e', 'q', 'DELAY', FAR, 'EVERY', 50,
                      'TIMES', 3, 'JITTER', 100)
        equal(sorted(set(got[6].split()) - {b'a'}), ['e50', 't3'])
        equal(int(got[4]), aof.client.call('LAWN.GET', 'k', 'e', 'META')[3])
        got = aof.one('LAWN.PUSH', 'k', 'past', 'q', 'AT', 1)
        assert after <= int(got[4]) <= now_ms(), got
        equal(got[5:], ['0', 'a'])


@case
def many_at_once_are_one_add():
    with Aof() as aof:
        got = aof.one('LAWN.MPUSH', 'k', 'DELAY', 7000, 3, *'aabbcc')
        equal(got[:2], ['k', 'ADD'])
        equal([got[2::5], got[3::5], got[5::5], got[6::5]],
              [list('abc'), list('abc'), ['7000'] * 3, [''] * 3])
        equal(len(set(got[4::5])), 1)
        got = aof.one('LAWN.MPUSH', 'k', 'AT', 2**50, 2, *'aadd')
        equal(got[6::5], ['a', 'a'])


@case
def removed_events_are_written_as_one_del():
    with Aof() as aof:
        aof.new('LAWN.MPUSH', 'k', 'DELAY', FAR, 4, *'aabbccdd')
        equal(aof.new('LAWN.CANCEL', 'k', 'a', 'x', 'b'),
              [['k', 'DEL', 'a', 'b']])
        equal(aof.new('LAWN.PULL', 'k', 'c'), [['k', 'DEL', 'c']])
        equal(aof.new('REDE.PULL', 'k', 'd'), [['k', 'DEL', 'd']])
        aof.new('LAWN.MPUSH', 'k', 'AT', 1, 4, *'aabbccdd')
        equal(aof.new('LAWN.POLL', 'k', 'COUNT', 2),
              [['k', 'DEL', 'a', 'b']])
        equal(aof.new('REDE.XACK', 'k', 'c', 'x'), [['k', 'DEL', 'c']])
        equal(aof.new('REDE.POLL', 'k'), [['k', 'DEL', 'd']])


@case
def a_poll_that_waited_is_written_as_the_events_it_took():
    with Aof() as aof:
        waiter = aof.server.client()
        aof.server.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK', 0)
        aof.client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 10)
        equal(waiter.read(), [['i', 'p']])
        equal([row[:3] for row in aof.new()], [['k', 'ADD', 'i'],
                                               ['k', 'DEL', 'i']])
        aof.server.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK', 0)
        aof.client.call('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1)
        equal(waiter.read(), [['i', 'p']])
        equal([row[:3] for row in aof.new()], [['k', 'ADD', 'i'],
                                               ['k', 'DEL', 'i']])


@case
def a_lease_is_written_with_its_token_and_its_end():
    with Aof() as aof:
        got = aof.one('LAWN.PUSH', 'k', 'a', 'p', 'AT', 1, 'TRIES', 5)
        equal(sorted(got[6].split()), ['a', 'k5'])
        aof.new('LAWN.MPUSH', 'k', 'AT', 1, 2, *'bbcc')
        reply = aof.client.call('LAWN.LEASE', 'k', 'me', 'LEASE', 60000, 'COUNT',
                                2)
        tokens = {bytes(row[0]): row[2] for row in reply}
        got = aof.new()
        equal(len(got), 1, repr(got))  # one record for all of them
        got = got[0]
        equal(got[:2], ['k', 'LEASE'])
        for words, id_, most in ((got[2:9], 'a', '5'), (got[9:], 'b', '0')):
            equal(words[:4] + words[5:],
                  [id_, str(tokens[id_.encode()]), '1', most, '60000', 'me'])
            end = aof.client.call('LAWN.GET', 'k', id_, 'META')[17]
            equal(words[4], str(end))
        end = aof.client.call('LAWN.EXTEND', 'k', 'a', tokens[b'a'], 'LEASE',
                              90000)
        equal(aof.new(), [['k', 'LEASE', 'a', str(tokens[b'a']), '1', '5',
                           str(end), '90000', 'me']])
        equal(aof.client.call('LAWN.NACK', 'k', 'a', tokens[b'a'], 'DELAY',
                              50000), 1)
        got = aof.one()
        due = aof.client.call('LAWN.GET', 'k', 'a', 'META')[3]
        equal(got[:5], ['k', 'AT', 'a', str(due), '50000'])
        equal(got[5].split(), ['n1', 'k5'])
        equal(aof.new('LAWN.ACK', 'k', 'b', tokens[b'b'], 'x', 1, 'a', 2),
              [['k', 'DEL', 'b']])


@case
def the_end_of_a_lease_and_commands_without_effect_are_not_written():
    with Aof() as aof:
        aof.new('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1)
        token = aof.client.call('LAWN.LEASE', 'k', 'me', 'LEASE', 2)[0][2]
        aof.new()
        wait_until(lambda: aof.client.call('LAWN.LEN', 'k', 'DUE') == 1,
                   'it ends')
        aof.client.call('LAWN.INFO', 'k')
        equal(aof.new(), [])
        for args in (('LAWN.ACK', 'k', 'i', token + 1, 'x', token),
                     ('LAWN.NACK', 'k', 'i', token + 1),
                     ('LAWN.EXTEND', 'k', 'i', token + 1, 'LEASE', 9),
                     ('LAWN.LEASE', 'none', 'me'), ('LAWN.PAUSE', 'none'),
                     ('LAWN.LEASE', 'none', 'me'), ('LAWN.RESUME', 'none')):
            equal(len(aof.new(*args)), int(args[0] in ('LAWN.PAUSE',
                                                       'LAWN.RESUME')),
                  repr(args))


@case
def an_ack_of_a_repeating_event_is_written_with_its_next_time():
    with Aof() as aof:
        aof.new('LAWN.PUSH', 'k', 'r', 'p', 'AT', 1, 'EVERY', FAR, 'TIMES', 3,
                'TRIES', 4)
        token = aof.client.call('LAWN.LEASE', 'k', 'me')[0][2]
        aof.new()
        got = aof.one('LAWN.ACK', 'k', 'r', token)
        due = aof.client.call('LAWN.GET', 'k', 'r', 'META')[3]
        equal(got[:4], ['k', 'AT', 'r', str(due)])
        equal(sorted(set(got[5].split()) - {b'a'}),
              [f'e{FAR}', 'k4', 't2'])  # and no tries made


@case
def a_lease_that_waited_is_written_as_the_events_it_returned():
    with Aof() as aof:
        waiter = aof.server.client()
        aof.server.waits(waiter, 'LAWN.LEASE', 'k', 'me', 'BLOCK', 0)
        aof.client.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 10)
        token = waiter.read()[0][2]
        got = aof.new()
        equal([row[:3] for row in got], [['k', 'ADD', 'i'],
                                         ['k', 'LEASE', 'i']])
        equal(got[1][3], str(token))


@case
def a_sink_and_the_events_it_takes_are_written_together():
    """The entry and the removal are in one transaction [G4]."""
    with Aof() as aof:
        equal(aof.new('LAWN.SINK', 'k', 'STREAM', 'out', 'MAXLEN', '~', 99,
                      'DEADLETTER', 'dead'),
              [['k', 'SINK', 'stream', 'out', '99', 'dead']])
        server = aof.server
        server.call('LAWN.MPUSH', 'k', 'DELAY', 5, 3, *'aabbcc')
        wait_until(lambda: server.call('XLEN', 'out') == 3, 'they are there')
        parts = sorted((server.folder / 'appendonlydir').glob('*.incr.aof'))
        data = parts[-1].read_bytes()
        # From each MULTI to its EXEC: entries, and then removals.
        found = []
        for part in data.split(b'$5\r\nMULTI\r\n')[1:]:
            rows = commands(part.partition(b'*1\r\n$4\r\nEXEC\r\n')[0])
            added = [row for row in rows if row[0] == b'XADD']
            gone = [row for row in rows if row[0].upper() == b'LAWN.APPLY']
            equal(len(gone), 1, repr(rows))
            equal(gone[0][1:3], ['k', 'DEL'])
            ids = [row[row.index(b'id') + 1] for row in added]
            equal(sorted(gone[0][3:]), sorted(ids))
            found += ids
        equal(sorted(found), ['a', 'b', 'c'])


@case
def an_event_that_repeats_is_written_with_its_next_time():
    with Aof() as aof:
        aof.new('LAWN.PUSH', 'k', 'r', 'p', 'AT', 1, 'EVERY', FAR, 'TIMES', 3)
        aof.new('LAWN.PUSH', 'k', 'plain', 'p', 'AT', 1)
        got = aof.new('LAWN.POLL', 'k')
        equal(len(got), 2, repr(got))
        equal(sorted(row[1] for row in got), ['AT', 'DEL'])
        for row in got:
            if row[1] == b'DEL':
                equal(row, ['k', 'DEL', 'plain'])
            else:
                due = aof.client.call('LAWN.GET', 'k', 'r', 'META')[3]
                equal([row[2], int(row[3])], ['r', due])
                words = set(row[5].split())
                assert {b'e%d' % FAR, b't2'} <= words, row


@case
def other_changes_are_written_as_their_effects():
    with Aof() as aof:
        aof.new('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', FAR)
        equal(aof.new('LAWN.UPDATE', 'k', 'i', 'new'),
              [['k', 'SET', 'i', 'new']])
        equal(aof.new('REDE.UPDATE', 'k', 'i', 'newer'),
              [['k', 'SET', 'i', 'newer']])
        got = aof.one('LAWN.TOUCH', 'k', 'i', 'AT', 2**50)
        equal([*got[:4], got[5]], ['k', 'AT', 'i', str(2**50), 'a'])
        got = aof.one('LAWN.TOUCH', 'k', 'i', 'DELAY', 3000)
        equal([*got[:3], *got[4:]], ['k', 'AT', 'i', '3000', ''])
        got = aof.one('LAWN.CONFIG', 'k', 'SET', 'maxlen', 3, 'overflow',
                      'drop-oldest')
        equal(got[:2], ['k', 'CFG'])
        settings = dict(zip(got[2::2], got[3::2]))
        equal(settings[b'maxlen'], '3')
        equal(settings[b'overflow'], 'drop-oldest')
        got = aof.one('LAWN.PAUSE', 'k')
        equal(dict(zip(got[2::2], got[3::2]))[b'paused'], '1')
        got = aof.one('LAWN.RESUME', 'k')
        equal(dict(zip(got[2::2], got[3::2]))[b'paused'], '0')


@case
def a_dropped_event_is_deleted_before_the_new_one_is_added():
    with Aof() as aof:
        aof.new('LAWN.CONFIG', 'k', 'SET', 'maxlen', 2, 'overflow',
                'drop-oldest')
        aof.new('LAWN.PUSH', 'k', 'a', 'p', 'AT', 2**50)
        aof.new('LAWN.PUSH', 'k', 'b', 'p', 'AT', 2**50 + 1)
        got = aof.new('LAWN.PUSH', 'k', 'c', 'p', 'AT', 2**50 + 2)
        equal([row[1:3] for row in got], [['DEL', 'a'], ['ADD', 'c']])


@case
def commands_without_effect_write_nothing():
    with Aof() as aof:
        aof.new('LAWN.PUSH', 'k', 'i', 'p', 'AT', 2**50)
        aof.new('LAWN.PUSH', 'k', 'due', 'p', 'AT', 1)
        for args in (('PUSH', 'k', 'i', 'p', 'DELAY', 1, 'NX'),
                     ('PUSH', 'k', 'x', 'p', 'DELAY', 1, 'XX'),
                     ('PUSH', 'k', 'x', 'p', 'DELAY', 'y'),
                     ('CANCEL', 'k', 'x'), ('CANCEL', 'none', 'x'),
                     ('PULL', 'k', 'x'), ('UPDATE', 'k', 'x', 'y'),
                     ('TOUCH', 'k', 'x', 'AT', 1),
                     ('TOUCH', 'k', 'i', 'AT', 2**50, 'GT'),
                     ('TOUCH', 'k', 'i', 'AT', 2**50, 'LT'),
                     ('POLL', 'none'), ('POLL', 'none', 'BLOCK', 1),
                     ('GET', 'k', 'i'), ('NEXT', 'k'), ('LEN', 'k', 'DUE'),
                     ('SCAN', 'k', 0), ('INFO', 'k'), ('RESUME', 'none'),
                     ('RESUME', 'k'), ('CONFIG', 'k', 'GET'),
                     ('CONFIG', 'k', 'SET', 'what', 1)):
            equal(aof.new('LAWN.' + args[0], *args[1:]), [], repr(args))
        for args in (('REDE.PUSH', 'k', 1, 'p', 'i'), ('REDE.XPOLL', 'k'),
                     ('REDE.XACK', 'k', 'i', 'x'), ('REDE.TTN', 'k'),
                     ('REDE.LOOK', 'k', 'i'), ('REDE.PRINT', 'k'),
                     ('REDE.UPDATE', 'k', 'x', 'y'), ('REDE.TEST',),
                     ('REDE.POLL', 'none')):
            equal(aof.new(*args), [], repr(args))


@case
def a_push_of_rede_is_written_as_an_add():
    with Aof() as aof:
        before = now_ms()
        got = aof.one('REDE.PUSH', 'k', 5000, 'p', 'i')
        equal([*got[:4], *got[5:]], ['k', 'ADD', 'i', 'p', '5000', ''])
        assert before + 5000 <= int(got[4]) <= now_ms() + 5000
        got = aof.one('REDE.GIDPUSH', 'k', 5000, 'q')
        equal(len(got[2]), 31)
        equal(aof.client.call('REDE.LOOK', 'k', got[2]), 'q')


# LOADING THE FILE

def traffic(client, chance, count):
    """Random calls on a few keys."""
    commands = []
    for _ in range(count):
        key = f'k{chance.randrange(4)}'
        id_ = f'i{chance.randrange(60)}'
        when = chance.choice((('DELAY', chance.choice((0, 1, 5, 10**6, FAR))),
                              ('AT', chance.choice((1, 2**50, 2**50 + 1)))))
        commands.append(chance.choice((
            ('LAWN.PUSH', key, id_, chance.randrange(10**6), *when),
            ('LAWN.PUSH', key, '*', 'p', *when),
            ('LAWN.PUSH', key, id_, 'r', *when, 'EVERY',
             chance.choice((1, 3, 10**5)), 'TIMES', chance.randint(1, 9)),
            ('LAWN.PUSH', key, id_, 'e', *when, 'EVERY', 2, 'JITTER', 50),
            ('LAWN.MPUSH', key, *when, 2, id_, 'a', id_ + 'x', 'b'),
            ('LAWN.CANCEL', key, id_, 'none', id_ + 'x'),
            ('LAWN.PULL', key, id_), ('REDE.PUSH', key, 3, 'p', id_),
            ('LAWN.UPDATE', key, id_, 'u' * chance.randrange(200)),
            ('LAWN.TOUCH', key, id_, *when),
            ('LAWN.TOUCH', key, id_, 'BY', chance.randint(-10**6, 10**6)),
            ('LAWN.POLL', key, 'COUNT', chance.randint(1, 5)),
            ('REDE.POLL', key), ('REDE.GIDPUSH', key, 2, 'g'),
            ('LAWN.CONFIG', key, 'SET', 'maxlen', chance.choice((0, 50)),
             'overflow', chance.choice(('reject', 'drop-oldest'))),
            ('LAWN.PAUSE', key), ('LAWN.RESUME', key),
            ('RENAME', key, f'k{chance.randrange(4)}'),
            ('COPY', key, f'k{chance.randrange(4)}'),
            ('LAWN.CONFIG', key, 'SET', 'resolution-ms',
             chance.choice((1, 1, 7))))))
    client.pipe(commands)


@case
def the_file_brings_everything_back():
    chance = random.Random(5)
    for preamble in ('yes', 'no'):
        with Server('appendonly', 'yes', 'appendfsync', 'always',
                    'aof-use-rdb-preamble', preamble) as server:
            client = server.client()
            for turn in range(3):
                traffic(client, chance, 400)
                everything = client.call('DEBUG', 'DIGEST')
                digests = {key: server.digest(key)
                           for key in client.call('KEYS', '*')}
                if turn == 0:
                    equal(client.call('DEBUG', 'LOADAOF'), OK)
                elif turn == 1:
                    client.call('BGREWRITEAOF')
                    wait_until(lambda: server.info('persistence')[
                        'aof_rewrite_in_progress'] == '0' and server.info(
                            'persistence')['aof_rewrite_scheduled'] == '0',
                            'the file is rewritten')
                    equal(server.info('persistence')
                          ['aof_last_bgrewrite_status'], 'ok')
                    server.restart(kill=True)
                    client = server.client()
                else:
                    server.restart(kill=True)
                    client = server.client()
                for key, digest in digests.items():
                    equal(server.digest(key), digest, f'{turn} {key!r}')
                equal(client.call('DEBUG', 'DIGEST'), everything)


def rewritten(server):
    """Returns the commands of a file that was just rewritten."""
    server.call('BGREWRITEAOF')
    wait_until(lambda: server.info('persistence')['aof_rewrite_in_progress']
               == '0' and server.info('persistence')['aof_rewrite_scheduled']
               == '0', 'the file is rewritten')
    equal(server.info('persistence')['aof_last_bgrewrite_status'], 'ok')
    base, = (server.folder / 'appendonlydir').glob('*.base.aof')
    return commands(base.read_bytes())


@case
def a_rewritten_file_knows_the_last_id_that_was_made():
    with Server('appendonly', 'yes', 'appendfsync', 'always',
                'aof-use-rdb-preamble', 'no') as server:
        ahead = now_ms() + 10**8
        server.call('LAWN.CONFIG', 'k', 'SET', 'maxlen', 5)
        for key in ('k', 'l'):
            server.call('LAWN.PUSH', key, 'stays', 'p', 'AT', 2**50)
        server.call('LAWN.APPLY', 'k', 'ADD', f'{ahead}-7', 'p', 5, 0, 'g')
        equal(len(server.call('LAWN.POLL', 'k')), 1)
        digest = server.call('DEBUG', 'DIGEST')
        lines = rewritten(server)
        told, = (line for line in lines if b'g' in line)
        server.restart(kill=True)
        equal(server.call('DEBUG', 'DIGEST'), digest)
        # Sent to a server with a waiting client, it delivers nothing.
        server.call(*told)
        equal(server.call('LAWN.POLL', 'k'), [])
        server.call('LAWN.CANCEL', 'k', told[3])
        equal(server.call('LAWN.PUSH', 'k', '*', 'p', 'AT', 2**50),
              f'{ahead}-8')


@case
def a_rewritten_file_has_events_as_they_were_and_no_long_lines():
    with Server('appendonly', 'yes', 'aof-use-rdb-preamble', 'no') as server:
        client = server.client()
        for i in range(300):
            client.call('LAWN.PUSH', 'at', i, 'p', 'AT', 2**50 + i)
            client.call('LAWN.PUSH', 'large', i, 'p' * 20000, 'DELAY', 10**9)

        def ttls(key):
            fields = client.call('LAWN.INFO', key)
            return dict(zip(fields[::2], fields[1::2]))[b'ttls']
        equal(ttls('at'), 0)
        equal(ttls('large'), 1)
        lines = rewritten(server)
        assert len(lines) >= 8, len(lines)
        for line in lines:
            assert sum(map(len, line)) < 1100000 and len(line) < 1300, line[:3]
        server.restart(kill=True)
        client = server.client()
        equal(ttls('at'), 0)
        equal(ttls('large'), 1)
        equal(client.call('LAWN.LEN', 'large'), 300)


@case
def the_farthest_times_come_back_as_well():
    far = 2**53
    for preamble in ('yes', 'no'):
        with Server('appendonly', 'yes', 'appendfsync', 'always',
                    'aof-use-rdb-preamble', preamble) as server:
            replica = replica_of(server)
            client = server.client()
            client.call('LAWN.CONFIG', 'k', 'SET', 'resolution-ms', 1000)
            for key in 'jk':
                for i in range(20):
                    client.call('LAWN.PUSH', key, f'j{i}', 'p', 'DELAY', far,
                                'JITTER', far)
                client.call('LAWN.PUSH', key, 'd', 'p', 'DELAY', far)
                client.call('LAWN.PUSH', key, 'a', 'p', 'AT', far)
                client.call('LAWN.PUSH', key, 'e', 'p', 'AT', 1, 'EVERY', far)
                client.call('LAWN.PUSH', key, 'b', 'p', 'AT', far)
                for _ in range(4):
                    client.call('LAWN.TOUCH', key, 'b', 'BY', far)
                    client.call('LAWN.TOUCH', key, 'j1', 'BY', far)
                    wait_until(lambda: client.call('LAWN.POLL', key)
                               or client.call('LAWN.TOUCH', key, 'e', 'AT',
                                              1), 'it repeats')
            digests = [server.digest(key) for key in 'jk']
            caught_up(server, replica)
            same_data(server, replica)
            dump = client.call('DUMP', 'k')
            equal(client.call('RESTORE', 'copy', 0, dump), OK)
            equal(server.digest('copy'), digests[1])
            client.call('DEL', 'copy')
            server.restart(kill=True)
            equal([server.digest(key) for key in 'jk'], digests)
            server.call('BGREWRITEAOF')
            wait_until(lambda: server.info('persistence')[
                'aof_rewrite_in_progress'] == '0' and server.info(
                    'persistence')['aof_rewrite_scheduled'] == '0',
                    'the file is rewritten')
            server.restart(kill=True)
            equal([server.digest(key) for key in 'jk'], digests)
            tear_down(replica)


@case
def the_file_can_be_rewritten_while_events_come_and_go():
    chance = random.Random(3)
    with Server('appendonly', 'yes', 'appendfsync', 'always',
                'aof-use-rdb-preamble', 'no') as server:
        client = server.client()
        for _ in range(3):
            client.call('LAWN.MPUSH', 'many', 'DELAY', FAR, 3000,
                        *[i // 2 for i in range(6000)])
            client.call('BGREWRITEAOF')
            traffic(client, chance, 300)
            client.call('LAWN.CANCEL', 'many', *range(0, 3000, 2))
            wait_until(lambda: server.info('persistence')[
                'aof_rewrite_in_progress'] == '0' and server.info(
                    'persistence')['aof_rewrite_scheduled'] == '0',
                    'the file is rewritten')
            digests = {key: server.digest(key)
                       for key in client.call('KEYS', '*')}
            server.restart(kill=True)
            client = server.client()
            equal({key: server.digest(key)
                   for key in client.call('KEYS', '*')} == digests, True)


@case
def after_a_restart_events_fire_and_ids_continue():
    with Server('appendonly', 'yes', 'appendfsync', 'always',
                'aof-use-rdb-preamble', 'no') as server:
        client = server.client()
        pushed = now_ms()
        client.call('LAWN.PUSH', 'k', 'soon', 'p', 'DELAY', 150)
        last = client.call('LAWN.PUSH', 'k', '*', 'p', 'DELAY', FAR)
        server.restart(kill=True)
        client = server.client()
        new = client.call('LAWN.PUSH', 'k', '*', 'p', 'DELAY', FAR)
        assert tuple(map(int, new.split(b'-'))) > \
            tuple(map(int, last.split(b'-')))
        equal(client.call('LAWN.POLL', 'k', 'BLOCK', 0), [['soon', 'p']])
        assert now_ms() >= pushed + 150


# REPLICAS

@case
def a_replica_has_the_same_and_never_fires():
    with Server() as master:
        replica = replica_of(master)
        replica.call('CONFIG', 'SET', 'notify-keyspace-events', 'Kgd')
        listener = replica.client()
        listener.one('PSUBSCRIBE', '__keyspace@*__:*')
        client = master.client()
        client.call('LAWN.MPUSH', 'k', 'DELAY', 5, 3, *'aabbcc')
        client.call('LAWN.PUSH', 'k', 'far', 'p', 'DELAY', FAR)
        caught_up(master, replica)
        same_data(master, replica)
        wait_until(lambda: replica.call('LAWN.LEN', 'k', 'DUE') == 3,
                   'three are due')
        equal(replica.call('LAWN.NEXT', 'k'), 0)
        equal(sorted(replica.call('REDE.XPOLL', 'k')), ['a', 'b', 'c'])
        equal(replica.call('LAWN.SCAN', 'k', 0, 'STATE', 'waiting')[1],
              ['far'])
        equal(replica.call('LAWN.LEN', 'k'), 4)
        equal(replica.lawn()['fired_total'], '0')
        equal(replica.lawn()['wake_late_us_count'], '0')
        same_data(master, replica)
        equal(len(client.call('LAWN.POLL', 'k')), 3)
        caught_up(master, replica)
        equal(replica.call('LAWN.LEN', 'k'), 1)
        replica.call('PUBLISH', '__keyspace@0__:x', 'end')
        events = []
        while (message := listener.read())[3] != b'end':
            events.append(message[3])
        equal(b'lawn.fire' in events, False, repr(events))
        tear_down(replica)


@case
def a_replica_refuses_writes_and_answers_reads():
    with Server() as master:
        master.call('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1)
        replica = replica_of(master)
        client = replica.client()
        for args in (('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 1),
                     ('LAWN.MPUSH', 'k', 'DELAY', 1, 1, 'i', 'p'),
                     ('LAWN.CANCEL', 'k', 'i'), ('LAWN.PULL', 'k', 'i'),
                     ('LAWN.UPDATE', 'k', 'i', 'p'),
                     ('LAWN.TOUCH', 'k', 'i', 'DELAY', 1),
                     ('LAWN.POLL', 'k'), ('LAWN.POLL', 'k', 'BLOCK', 0),
                     ('LAWN.PAUSE', 'k'), ('LAWN.RESUME', 'k'),
                     ('LAWN.CONFIG', 'k', 'SET', 'maxlen', 1),
                     ('LAWN.APPLY', 'k', 'DEL', 'i'),
                     ('REDE.PUSH', 'k', 1, 'p', 'i'),
                     ('REDE.GIDPUSH', 'k', 1, 'p'), ('REDE.POLL', 'k'),
                     ('REDE.PULL', 'k', 'i'), ('REDE.XACK', 'k', 'i'),
                     ('REDE.UPDATE', 'k', 'i', 'p')):
            got = client.call(*args)
            assert isinstance(got, resp.Error) and \
                got.startswith(b'READONLY'), (args, got)
        equal(client.call('LAWN.GET', 'k', 'i'), 'p')
        equal(client.call('REDE.LOOK', 'k', 'i'), 'p')
        equal(client.call('REDE.TTN', 'k'), 0)
        equal(client.call('REDE.XPOLL', 'k'), ['i'])
        same_data(master, replica)
        tear_down(replica)


@case
def a_promoted_replica_fires():
    with Server() as master:
        replica = replica_of(master)
        client = master.client()
        client.call('LAWN.PUSH', 'due', 'i', 'p', 'AT', 1)
        pushed = now_ms()
        client.call('LAWN.PUSH', 'soon', 'i', 'p', 'DELAY', 120)
        client.call('LAWN.PUSH', 'r', 'i', 'p', 'DELAY', 120, 'EVERY', 10)
        client.call('SELECT', 2)
        client.call('LAWN.PUSH', 'other', 'i', 'p', 'DELAY', 120)
        last = client.call('LAWN.PUSH', 'other', '*', 'p', 'DELAY', FAR)
        caught_up(master, replica)
        equal(replica.call('REPLICAOF', 'NO', 'ONE'), OK)
        waiters = {key: replica.client() for key in ('due', 'soon', 'r',
                                                     'other')}
        for key, waiter in waiters.items():
            if key == 'other':
                waiter.call('SELECT', 2)
            waiter.send('LAWN.POLL', key, 'BLOCK', 0)
        for key, waiter in waiters.items():
            equal(waiter.read(), [['i', 'p']], key)
        assert now_ms() >= pushed + 120
        new = waiters['other'].call('LAWN.PUSH', 'other', '*', 'p', 'DELAY',
                                    FAR)
        assert tuple(map(int, new.split(b'-'))) > \
            tuple(map(int, last.split(b'-'))), (last, new)
        tear_down(replica)


@case
def a_promoted_replica_reports_due_events_without_a_command():
    """Without any query: the tick of the new master finds it, also events that
    were due before."""
    for when in (('DELAY', 60), ('AT', 1)):
        with Server() as master:
            replica = replica_of(master)
            client = master.client()
            client.call('LAWN.PUSH', 'k', 'i', 'p', *when)
            caught_up(master, replica)
            wait_until(lambda: replica.call('LAWN.LEN', 'k', 'DUE') == 1,
                       'it is due')
            replica.call('CONFIG', 'SET', 'notify-keyspace-events', 'Kd')
            listener = replica.client()
            listener.one('PSUBSCRIBE', '__keyspace@*__:*')
            replica.call('REPLICAOF', 'NO', 'ONE')
            equal(listener.read()[2:], ['__keyspace@0__:k', 'lawn.fire'])
            tear_down(replica)


@case
def a_replica_notifies_no_client_and_lets_none_wait():
    with Server() as master:
        replica = replica_of(master)
        replica.call('CONFIG', 'SET', 'notify-keyspace-events', 'Kd',
                     'replica-read-only', 'no')
        listener = replica.client()
        listener.one('PSUBSCRIBE', '__keyspace@*__:*')
        master.call('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1)
        master.call('LAWN.APPLY', 'k', 'ADD', 'j', 'p', 1000, 0, '')
        caught_up(master, replica)
        client = replica.client()
        equal(client.call('LAWN.POLL', 'none', 'BLOCK', 0), [])
        equal(client.call('LAWN.PUSH', 'own', 'i', 'p', 'AT', 1), 'i')
        equal(listener.read()[2:], ['__keyspace@0__:own', 'lawn.push'])
        equal(client.call('LAWN.CANCEL', 'own', 'i'), 1)
        equal(listener.read()[2:], ['__keyspace@0__:own', 'lawn.cancel'])
        equal(listener.waits(), True)
        replica.call('REPLICAOF', 'NO', 'ONE')
        equal(listener.read()[2:], ['__keyspace@0__:k', 'lawn.fire'])
        wait_until(lambda: replica.lawn()['wake_late_us_count'] == '1', 'notified')
        assert int(replica.lawn()['wake_late_us_max']) < 10**9
        tear_down(replica)


@case
def a_restarted_server_reports_due_events():
    for preamble in ('yes', 'no'):
        with Server('appendonly', 'yes', 'appendfsync', 'always',
                    'aof-use-rdb-preamble', preamble) as server:
            server.call('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1)
            server.call('BGREWRITEAOF')
            wait_until(lambda: server.info('persistence')[
                'aof_rewrite_in_progress'] == '0' and server.info(
                    'persistence')['aof_rewrite_scheduled'] == '0',
                    'the file is rewritten')
            equal(server.lawn()['wake_late_us_count'], '0')
            server.restart(kill=True)
            wait_until(lambda: server.lawn()['wake_late_us_count'] == '1',
                       'it is notified')
            # The server's downtime does not count.
            server.call('FLUSHALL')
            server.call('LAWN.APPLY', 'k', 'ADD', 'i', 'p', 1000, 0, '')
            server.restart(kill=True)
            wait_until(lambda: server.lawn()['wake_late_us_count'] == '1',
                       'it is notified')
            assert int(server.lawn()['wake_late_us_max']) < 10**9


@case
def a_master_that_becomes_a_replica_unblocks_its_waiting_clients():
    with Server() as master, Server() as other:
        waiter = other.client()
        other.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK', 0)
        other.call('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 20)
        equal(other.call('REPLICAOF', '127.0.0.1', master.port), OK)
        got = waiter.read()
        assert isinstance(got, resp.Error) and got.startswith(b'UNBLOCKED') \
            or got == [[b'i', b'p']], got
        linked(other, master)
        master.call('LAWN.PUSH', 'k', 'j', 'p', 'DELAY', 3)
        caught_up(master, other)
        wait_until(lambda: other.call('LAWN.NEXT', 'k') == 0, 'it is due')
        same_data(master, other)
        equal(other.call('REPLICAOF', 'NO', 'ONE'), OK)
        waiter = other.client()
        equal(waiter.call('LAWN.POLL', 'k', 'BLOCK', 0), [['j', 'p']])


@case
def random_traffic_is_the_same_on_the_replica():
    chance = random.Random(11)
    with Server() as master:
        replica = replica_of(master)
        waiters = [master.client() for _ in range(3)]
        for i, waiter in enumerate(waiters):
            waiter.send('LAWN.POLL', f'k{i}', 'COUNT', 2, 'BLOCK', 0)
        client = master.client()
        for _ in range(6):
            traffic(client, chance, 300)
            for i, waiter in enumerate(waiters):
                if not waiter.waits():
                    waiter.read()
                    waiter.send('LAWN.POLL', f'k{i}', 'COUNT', 2, 'BLOCK', 0)
            caught_up(master, replica)
            # Ticks deliver to waiting clients, so compare without them.
        for waiter in waiters:
            waiter.close()
        master.wait_blocked(0)
        caught_up(master, replica)
        same_data(master, replica)
        equal(replica.call('DEBUG', 'RELOAD'), OK)
        same_data(master, replica)
        second = replica_of(master)
        same_data(master, second)
        tear_down(replica, second)


@case
def a_full_resynchronization_transfers_everything():
    for diskless, load in (('no', 'disabled'), ('yes', 'disabled'),
                           ('yes', 'swapdb'), ('yes', 'on-empty-db')):
        with Server('repl-diskless-sync', diskless) as master:
            client = master.client()
            traffic(client, random.Random(diskless + load), 300)
            client.call('FLUSHALL')
            client.call('LAWN.MPUSH', 'k', 'DELAY', FAR, 500,
                        *[i // 2 for i in range(1000)])
            client.call('LAWN.PUSH', 'soon', 'i', 'p', 'DELAY', 700)
            client.call('LAWN.PUSH', 'due', 'i', 'p', 'AT', 1)
            replica = Server('repl-diskless-load', load)
            replica.call('LAWN.PUSH', 'old', 'i', 'p', 'DELAY', 300)
            replica.call('LAWN.PUSH', 'soon', 'x', 'y', 'DELAY', 100)
            follow(replica, master)
            same_data(master, replica)
            wait_until(lambda: replica.lawn()['timers']
                       == master.lawn()['timers'], 'the old ones are freed')
            equal(replica.call('REPLICAOF', 'NO', 'ONE'), OK)
            waiter = replica.client()
            equal(waiter.call('LAWN.POLL', 'soon', 'BLOCK', 0), [['i', 'p']],
                  load)
            equal(waiter.call('LAWN.POLL', 'due'), [['i', 'p']])
            tear_down(replica)


@case
def an_aborted_resynchronization_keeps_the_old_keys():
    """swapdb with a master that fails in the middle."""
    with Server('repl-diskless-sync', 'yes', 'rdb-key-save-delay', 1000,
                'rdbcompression', 'no') as master:
        client = master.client()
        client.pipe(('LAWN.PUSH', f'k{i}', 'i', b'x' * 2000, 'DELAY', FAR)
                    for i in range(3000))
        replica = Server('repl-diskless-load', 'swapdb',
                         'loading-process-events-interval-bytes', 1024)
        replica.call('LAWN.PUSH', 'mine', 'i', 'p', 'DELAY', FAR)
        replica.call('LAWN.PUSH', 'mine2', 'i', 'p', 'DELAY', FAR)
        digest = replica.digest('mine')
        replica.call('REPLICAOF', '127.0.0.1', master.port)
        wait_until(lambda: replica.info('persistence').get(
            'async_loading', '0') == '1' or replica.info('persistence')
            ['loading'] == '1', 'it loads')
        master.kill()
        wait_until(lambda: replica.info('persistence')['loading'] == '0'
                   and replica.info('persistence').get('async_loading', '0')
                   == '0', 'it has given up')
        replica.call('REPLICAOF', 'NO', 'ONE')
        if replica.call('EXISTS', 'mine'):
            equal(replica.digest('mine'), digest)
            replica.call('LAWN.PUSH', 'mine', 'j', 'p', 'DELAY', 5)
            equal(replica.client().call('LAWN.POLL', 'mine', 'BLOCK', 0),
                  [['j', 'p']])
        tear_down(replica)
        master.expect_crash = True
        master.start()


def cut_off(master, replica, keys):
    """The replica falls so far behind that it needs a full resynchronization
    from a master that it knows: it keeps serving the old data meanwhile."""
    os.kill(replica.process.pid, signal.SIGSTOP)
    client = master.client()

    def given_up():
        client.pipe([('SET', 'filler', b'x' * 100000)] * 20)
        return master.info('replication')['connected_slaves'] == '0'
    wait_until(given_up, 'the master has given up')
    client.call('DEL', 'filler')
    for args in keys:
        client.call(*args)
    os.kill(replica.process.pid, signal.SIGCONT)


LAGGING = ('repl-diskless-sync', 'yes', 'repl-backlog-size', '16kb',
           'client-output-buffer-limit', 'replica 1mb 1mb 0',
           'rdb-key-save-delay', 300)


@case
def a_resynchronization_next_to_the_old_keys_transfers_everything():
    with Server(*LAGGING) as master:
        master.call('LAWN.PUSH', 'old', 'i', 'p', 'DELAY', FAR)
        master.call('LAWN.PUSH', 'both', 'i', 'p', 'DELAY', FAR)
        master.call('LAWN.PUSH', 'first', 'i', 'p', 'DELAY', 900)
        replica = replica_of(master, 'repl-diskless-load', 'swapdb')
        cut_off(master, replica, [
            ('DEL', 'old'), ('LAWN.PUSH', 'both', 'j', 'q', 'DELAY', 900),
            ('LAWN.PUSH', 'new', 'i', 'p', 'DELAY', 900),
            ('LAWN.PUSH', 'due', 'i', 'p', 'AT', 1),
            *[('LAWN.PUSH', f'k{i}', 'i', 'p', 'DELAY', FAR)
              for i in range(300)]])
        wait_until(lambda: master.info('replication')['connected_slaves']
                   == '1', 'it comes again')
        linked(replica, master)
        caught_up(master, replica)
        same_data(master, replica)
        equal(master.info('stats')['sync_full'], '2')
        wait_until(lambda: replica.lawn()['timers'] == master.lawn()['timers'],
                   'the old ones are freed')
        equal(replica.call('REPLICAOF', 'NO', 'ONE'), OK)
        waiters = {key: replica.client() for key in ('both', 'first', 'new',
                                                     'due')}
        for key, waiter in waiters.items():
            waiter.send('LAWN.POLL', key, 'BLOCK', 0)
        for key, waiter in waiters.items():
            equal(waiter.read(), [['j', 'q']] if key == 'both'
                  else [['i', 'p']], key)
        tear_down(replica)


@case
def a_resynchronization_next_to_the_old_keys_that_fails_keeps_them():
    """For a while each name has two values, and the old ones, which are due
    earlier, remain."""
    count = 1000
    with Server(*LAGGING) as master:
        master.control.pipe(('LAWN.PUSH', f'k{i}', 'i', b'x' * 2000, 'DELAY',
                             3000) for i in range(count))
        master.call('CONFIG', 'SET', 'rdb-key-save-delay', 0)
        replica = replica_of(master, 'repl-diskless-load', 'swapdb',
                             'loading-process-events-interval-bytes', 1024)
        digests = [replica.digest(f'k{i}') for i in range(count)]
        master.call('CONFIG', 'SET', 'rdb-key-save-delay', 1000,
                    'rdbcompression', 'no')
        cut_off(master, replica, [('LAWN.TOUCH', f'k{i}', 'i', 'DELAY', FAR)
                                  for i in range(count)])
        wait_until(lambda: replica.info('persistence').get('async_loading')
                   == '1' and int(replica.info('persistence').get(
                       'async_loading_loaded_bytes', replica.info(
                           'persistence').get('loading_loaded_bytes', '0')))
                   > 200000, 'it loads')
        equal([replica.digest(f'k{i}') for i in range(0, count, 50)],
              digests[::50], 'it serves what it had')
        master.kill()
        wait_until(lambda: replica.info('persistence')['async_loading']
                   == '0', 'it has given up')
        equal([replica.digest(f'k{i}') for i in range(count)] == digests,
              True)
        wait_until(lambda: replica.lawn()['timers'] == str(count),
                   'the others are freed')
        equal(replica.call('REPLICAOF', 'NO', 'ONE'), OK)
        wait_until(lambda: replica.lawn()['wake_late_us_count'] == str(count),
                   'all are notified')
        tear_down(replica)
        master.start()


# NO WRITES NOW

@case
def a_paused_server_keeps_events_until_it_resumes():
    for kind in ('WRITE', 'ALL'):
        for with_replica in (False, True):
            with Server() as master:
                replica = replica_of(master) if with_replica else None
                control = master.client()
                waiter = master.client()
                master.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK', 0)
                before = int(master.lawn()['deferred_by_pause'])
                paused = now_ms()
                # CLIENT UNPAUSE ends a pause of writes. A pause of all
                # commands delays that command, too, so it must be short.
                length = 600000 if kind == 'WRITE' else 150
                control.multi(
                    ('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 5),
                    ('LAWN.PUSH', 'other', 'i', 'p', 'DELAY', 5),
                    ('CLIENT', 'PAUSE', length, kind))
                if kind == 'WRITE':
                    wait_until(lambda: int(master.lawn()['deferred_by_pause'])
                               > before, 'it is put off')
                    equal(waiter.waits(), True)
                    equal(control.call('LAWN.LEN', 'k'), 1)
                    equal(control.call('LAWN.LEN', 'k', 'DUE'), 1)
                    still_waits(master, waiter)
                    equal(control.call('CLIENT', 'UNPAUSE'), OK)
                equal(waiter.read(), [['i', 'p']])
                if kind == 'ALL':
                    assert now_ms() >= paused + length, 'it came in the pause'
                equal(control.call('EXISTS', 'k'), 0)
                equal(control.call('LAWN.POLL', 'other'), [['i', 'p']])
                if replica:
                    caught_up(master, replica)
                    same_data(master, replica)
                    tear_down(replica)


@case
def events_delayed_by_a_pause_are_reported_once_and_not_as_late():
    """The pause is an hour, by a clock that is set."""
    hour = 3600000
    with clocked() as (server, step):
        server.call('CONFIG', 'SET', 'notify-keyspace-events', 'Kd')
        control, waiter = server.client(), server.client()
        listener = server.client()
        listener.one('PSUBSCRIBE', '__keyspace@*__:*')
        server.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK', 0)
        control.multi(('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1),
                      ('LAWN.PUSH', 'other', 'i', 'p', 'DELAY', 5),
                      ('CLIENT', 'PAUSE', 2 * hour, 'WRITE'))
        wait_until(lambda: server.call('LAWN.LEN', 'other', 'DUE') == 1, 'due')
        step(hour)
        before = int(server.lawn()['deferred_by_pause'])
        wait_until(lambda: int(server.lawn()['deferred_by_pause'])
                   > before + 1, 'it is put off')
        still_waits(server, waiter)
        equal(control.call('CLIENT', 'UNPAUSE'), OK)
        equal(waiter.read(), [['i', 'p']])
        wait_until(lambda: server.lawn()['wake_late_us_count'] == '1', 'notified')
        control.call('PUBLISH', '__keyspace@0__:end', 'end')
        got = []
        while (message := listener.read())[3] != b'end':
            got.append((message[2][15:], message[3]))
        equal(got.count((b'k', b'lawn.fire')), 1, repr(got))
        equal(got.count((b'other', b'lawn.fire')), 1, repr(got))
        assert int(server.lawn()['wake_late_us_max']) < 10**9


@case
def the_end_of_a_pause_by_hand_wakes_soon():
    server = shared()
    control, waiter = server.client(), server.client()
    server.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK', 0)
    control.multi(('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 3),
                  ('CLIENT', 'PAUSE', 60000, 'WRITE'))
    wait_until(lambda: control.call('LAWN.LEN', 'k', 'DUE') == 1, 'due')
    equal(waiter.waits(), True)
    equal(control.call('CLIENT', 'UNPAUSE'), OK)
    equal(waiter.read(), [['i', 'p']])


@case
def an_event_made_due_together_with_a_pause_waits_for_its_end():
    """A transaction makes an event due and then pauses: the waiting client
    would be served while writes are not accepted."""
    for change in (('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1),
                   ('LAWN.MPUSH', 'k', 'DELAY', 0, 1, 'i', 'p'),
                   ('LAWN.RESUME', 'k')):
        for kind in ('WRITE', 'ALL'):
            server = shared()
            control, waiter = server.client(), server.client()
            if change[0] == 'LAWN.RESUME':
                control.call('LAWN.PAUSE', 'k')
                control.call('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1)
            server.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK', 0)
            paused = now_ms()
            control.multi(change, ('CLIENT', 'PAUSE', 60, kind))
            if kind == 'WRITE':
                equal(waiter.waits() or now_ms() >= paused + 60, True)
            equal(waiter.read(), [['i', 'p']])
            assert now_ms() >= paused + 60, 'it came in the pause'


@case
def waiting_that_ends_in_a_pause_takes_nothing():
    server = shared()
    control, waiter = server.client(), server.client()
    number = waiter.call('CLIENT', 'ID')
    for end in ('time', 'unblock', 'kill'):
        server.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK',
                     40 if end == 'time' else 0)
        control.multi(('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 3),
                      ('CLIENT', 'PAUSE', 60000, 'WRITE'))
        wait_until(lambda: control.call('LAWN.LEN', 'k', 'DUE') == 1, 'due')
        if end == 'unblock':
            control.call('CLIENT', 'UNBLOCK', number)
        elif end == 'kill':
            control.call('CLIENT', 'KILL', 'ID', number)
        if end == 'time':
            control.call('LAWN.LEN', 'k')
            before = now_ms()
            wait_until(lambda: not waiter.waits() or now_ms()
                       > before + 120, 'its time is over')
        equal(control.call('LAWN.LEN', 'k'), 1, end)
        control.call('CLIENT', 'UNPAUSE')
        if end != 'kill':
            got = waiter.read()
            assert got in ([], [[b'i', b'p']]), (end, got)
            if not got:
                equal(control.call('LAWN.POLL', 'k'), [['i', 'p']])
        else:
            equal(control.call('LAWN.POLL', 'k'), [['i', 'p']])
    equal(control.call('EXISTS', 'k'), 0)


@case
def everything_that_happens_to_keys_happens_in_a_pause():
    """Expiry, flushes and similar changes do not run in it, and nothing breaks.
    """
    server = shared()
    control, waiter, writer = (server.client(), server.client(),
                               server.client())
    server.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK', 0)
    control.multi(('LAWN.PUSH', 'k', 'i', 'p', 'DELAY', 5),
                  ('LAWN.PUSH', 'x', 'i', 'p', 'DELAY', 5),
                  ('PEXPIRE', 'x', 5), ('CLIENT', 'PAUSE', 100, 'WRITE'))
    writer.send('FLUSHALL')
    equal(writer.read(), OK)
    equal(control.call('DBSIZE'), 0)
    # The order in which clients are served at its end is unspecified.
    if waiter.waits():
        control.call('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1)
    equal(waiter.read(), [['i', 'p']])


@case
def writers_that_were_held_up_in_a_pause_wake_waiters_after_it():
    server = shared()
    control, waiter, writer = (server.client(), server.client(),
                               server.client())
    server.waits(waiter, 'LAWN.POLL', 'k', 'BLOCK', 0)
    control.call('CLIENT', 'PAUSE', 60000, 'WRITE')
    writer.send('LAWN.PUSH', 'k', 'i', 'p', 'AT', 1)
    other = server.client()
    other.send('LAWN.POLL', 'k', 'BLOCK', 0)
    for _ in range(3):
        control.call('LAWN.LEN', 'k')
    equal((waiter.waits(), writer.waits(), other.waits())
          == (True, True, True), True)
    control.call('CLIENT', 'UNPAUSE')
    equal(writer.read(), 'i')
    equal(waiter.read(), [['i', 'p']])


@case
def a_failover_moves_the_events_and_crashes_no_server():
    for turn in range(2):
        with Server() as master:
            replica = replica_of(master)
            client = master.client()
            waiters = [master.client() for _ in range(5)]
            for waiter in waiters:
                waiter.send('LAWN.POLL', 'k', 'COUNT', 1, 'BLOCK', 0)
            master.wait_blocked(5)
            client.pipe(('LAWN.PUSH', 'later', i, 'p', 'DELAY', 5 + i % 40)
                        for i in range(200))
            client.pipe(('LAWN.PUSH', 'k', i, 'p', 'DELAY', 3 + i)
                        for i in range(40))
            equal(client.call('FAILOVER', 'TO', '127.0.0.1', replica.port,
                              *(() if turn else ('TIMEOUT', 80000))), OK)
            wait_until(lambda: replica.info('replication')['role']
                       == 'master', 'the replica is master')
            wait_until(lambda: master.info('replication')['role']
                       == 'slave', 'the master is replica')
            linked(master, replica)
            taken = []
            for waiter in waiters:
                try:
                    got = waiter.read()
                except resp.Closed:
                    continue
                if isinstance(got, resp.Error):
                    assert got.startswith(b'UNBLOCKED'), got
                else:
                    taken += got
            ids = [int(id_) for id_, _ in taken]
            poller = replica.client()
            for key, count in (('later', 200), ('k', 40 - len(ids))):
                got = []

                def all_of(key=key, count=count, got=got):
                    got += poller.call('LAWN.POLL', key, 'COUNT', 1000,
                                       'BLOCK', 100)
                    return len(got) >= count
                wait_until(all_of, f'all of {key}')
                if key == 'k':
                    ids += [int(id_) for id_, _ in got]
            equal(sorted(ids), list(range(40)), 'each once')
            caught_up(replica, master)
            same_data(replica, master)
            tear_down(replica)


@case
def a_stopped_master_and_a_promoted_replica_lose_nothing_answered():
    with Server() as master:
        replica = replica_of(master)
        client = master.client()
        client.pipe(('LAWN.PUSH', 'k', i, 'p', 'DELAY', 50)
                    for i in range(100))
        equal(client.call('WAIT', 1, 80000), 1)
        master.kill()
        replica.call('REPLICAOF', 'NO', 'ONE')
        poller = replica.client()
        got = []

        def everything():
            got.extend(poller.call('LAWN.POLL', 'k', 'BLOCK', 100))
            return len(got) >= 100
        wait_until(everything, 'all events')
        equal([int(id_) for id_, _ in got], list(range(100)))
        tear_down(replica)
        master.start()


if __name__ == '__main__':
    main(__doc__)
