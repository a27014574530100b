#!/usr/bin/env python3
"""million.py - a million events in one key do not block the server.

A key is filled with a million events: of one delay, of 2,000 delays, and with
individual times, spread over ten hours. Every command is sent with its default
and with its largest sensible arguments, lists of a thousand events, with and
without a child process of the server that saves. Hours pass by a clock that is
set. Events become due, leases end and events die together; sinks of each kind
and a dead letter stream drain them, and a replica follows. The latency monitors
of the server and of the replica are checked: any command or tick of 5 ms or
more fails the step, except `fork`, which the server does on its own, and
waiting for the disk, which are reported separately.

The monitor reports wall time, and other processes use this machine, too. So the
server has a clock that stops while its thread is runnable but not running, or
sleeps, which no command here does (work.c). --wall 1 uses the real clock,
for an otherwise idle machine. Remaining disturbances, such as a core that a hypervisor
takes away, are handled by repeating a step that took too long. Before that, the
key is created again up to the beginning of the step, so that the same work is
done again. A step that cannot be done in 5 ms fails at its last attempt.

At the end the times of the key's serialization are printed, which does block,
as with any other type; --compare 1 also measures a sorted set with a hash.
"""
import functools
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import resp
import server
from server import equal, wait_until

BAR = 5  # ms
TRIES = 8
HOUR = 3600 * 1000
DAY = 24 * HOUR
PER_CALL = 100  # events in an MPUSH
MANY = 1000  # events in one command that accepts a list
ALL = 10 ** 9
# Incompressible for a dump file.
PAYLOAD = b'DNxril3RavGD5MfvJ7NScUykT8C8UBkkpdhiG37LeXSyYV4g6snRoUYA4fXr6nzr'
ID = b'$14\r\ne_%012d\r\n$64\r\n' + PAYLOAD + b'\r\n'
UNIT = 10  # events, whose bytes are created once
# Work of the server that is independent of the key.
APART = ('fork', 'aof-', 'rdb-')
# Commands of the watch.
OWN = ('config', 'latency', 'info', 'echo', 'client')


def name(i):
    return b'e_%012d' % i


@functools.cache
def bodies(events):
    """Returns ids and payloads in wire format, UNIT by UNIT."""
    return [ID * UNIT % tuple(range(i, i + UNIT))
            for i in range(0, events, UNIT)]


def chunks(key, when, events, each=PER_CALL):
    """Yields many MPUSH in wire format per piece; when(i): DELAY or AT, ms."""
    head = b'*%d\r\n$10\r\nLAWN.MPUSH\r\n' % (5 + 2 * each)
    parts = []
    for i in range(0, events, each):
        parts += (head, resp.encode(key, *when(i), each)[4:],
                  *bodies(events)[i // UNIT:(i + each) // UNIT])
        if len(parts) > 1000:
            yield b''.join(parts)
            parts = []
    yield b''.join(parts)


class Clocked:
    """Servers with a clock that follows their work and can be set."""

    def __init__(self, wall, folder):
        self.ahead = 0
        self.file = folder + '/ahead'
        self.wall = wall
        library = folder + '/work.so'
        subprocess.run([os.environ.get('CC', 'cc'), '-shared', '-fPIC', '-O2',
                        pathlib.Path(__file__).with_name('work.c'), '-o',
                        library], check=True)
        self.environment = {
            'LAWN_CLOCK': self.file,
            'LAWN_PRELOAD': ':'.join(filter(None, (
                os.environ.get('LAWN_PRELOAD'), library)))}
        if wall:
            self.environment['LAWN_WALL'] = '1'
        self.set(0)

    def set(self, ahead):
        self.ahead = ahead
        with open(self.file, 'r+b' if ahead else 'wb') as file:
            file.write(ahead.to_bytes(8, 'little'))

    def server(self, *options):
        before = dict(os.environ)
        os.environ.update(self.environment)
        try:
            return server.Server(
                'latency-monitor-threshold', BAR, 'latency-tracking', 'yes',
                'latency-tracking-info-percentiles', '100',
                'repl-timeout', 10 ** 9, 'repl-ping-replica-period', 10 ** 9,
                'client-output-buffer-limit',
                'normal 0 0 0 replica 0 0 0', *options)
        finally:
            os.environ.clear()
            os.environ.update(before)


class Watch:
    """The latencies of a server in a step."""

    def __init__(self, one, prefix=''):
        self.server = one
        self.prefix = prefix
        self.client = one.client()

    def begin(self):
        self.client.call('LATENCY', 'RESET')
        self.client.call('CONFIG', 'RESETSTAT')

    def end(self):
        """Returns {event: longest ms} of the monitor; {command: longest us}."""
        seen = {self.prefix + row[0].decode(): row[3]
                for row in self.client.call('LATENCY', 'LATEST')}
        longest = {}
        for field, value in self.server.info('latencystats').items():
            command = field.split('usec_')[1]
            if command.split('|')[0] not in OWN:
                longest[self.prefix + command] = float(value.split('p100=')[1])
        return seen, longest


class Million:
    """A server, the steps, and those that took too long."""

    def __init__(self, clock, events):
        self.clock = clock
        self.events = events
        self.server = clock.server()
        self.client = self.server.client()
        self.watches = [Watch(self.server)]
        self.restore = None  # restores the state before a step is repeated
        self.failed = []
        self.apart = {}

    def call(self, *args):
        """Returns the reply, which must not be an error."""
        got = self.client.call(*args)
        assert not isinstance(got, resp.Error), f'{args[:3]!r}: {got!r}'
        return got

    def calls(self, commands):
        """Sends many commands. Returns their replies, none of which may be an
        error."""
        replies = self.client.pipe(commands)
        for got in replies:
            assert not isinstance(got, resp.Error), got
        return replies

    def quiet(self, parts):
        """Sends commands as bytes, without replies."""
        with self.server.client() as client:
            client.send('CLIENT', 'REPLY', 'OFF')
            for part in parts:
                client.send_bytes(part)
            client.send('CLIENT', 'REPLY', 'ON')
            equal(client.read(), resp.OK)

    # Time

    def now(self):
        """ms, by the server's clock."""
        return self.server.clock()

    def later(self, ms):
        """Advances the server's clock."""
        before = self.now()
        self.clock.set(self.clock.ahead + ms)
        wait_until(lambda: self.now() >= before + ms, 'it is later')

    # Steps

    def follow(self, one):
        """Adds a replica, which is watched from now on."""
        one.call('REPLICAOF', '127.0.0.1', self.server.port)
        wait_until(lambda: one.info('replication')['master_link_status']
                   == 'up', 'the replica follows')
        self.watches.append(Watch(one, 'replica '))

    def settled(self):
        """Waits until replicas have received all changes."""
        for watch in self.watches[1:]:
            end = int(self.server.info('replication')['master_repl_offset'])
            wait_until(lambda w=watch: int(w.server.info('replication')
                                           ['slave_repl_offset']) >= end,
                       'the replica has it all')

    def watched(self, act):
        """Returns {event: longest ms}, {command: longest us} during act()."""
        self.settled()
        for watch in self.watches:
            watch.begin()
        act()
        self.settled()
        seen, longest = {}, {}
        for watch in self.watches:
            events, commands = watch.end()
            seen |= events
            longest |= commands
        for event in [e for e in seen
                      if e.removeprefix('replica ').startswith(APART)]:
            self.apart[event] = max(self.apart.get(event, 0), seen.pop(event))
        return {e: ms for e, ms in seen.items() if ms >= BAR}, longest

    def step(self, title, act, prepare=None):
        """Runs act() until nothing took too long; prepare() runs before,
        unwatched. Before a repetition, self.restore creates the key again, so
        that the same work is done."""
        before = []
        for attempt in range(TRIES):
            if attempt:
                self.restore()
            if prepare:
                prepare()
            over, longest = self.watched(act)
            if not over:
                break
            before.append(over)
        slowest = sorted(longest.items(), key=lambda pair: -pair[1])[:2]
        text = ', '.join(f'{c} {us / 1000:.2f}' for c, us in slowest)
        if before:
            text += f' (the monitor at other tries: {before})'
        if over:
            self.failed.append(f'{title}: {text}')
            text += ' TOO LONG'
        print(f'  {title}: {text}', flush=True)

    # Events

    def clear(self, key):
        """Deletes the key, and waits until it is freed."""
        self.call('UNLINK', key)
        wait_until(lambda: self.server.info('memory')
                   ['lazyfree_pending_objects'] == '0', 'it is freed')

    def fill(self, key, when, each=PER_CALL):
        now = self.now()
        self.quiet(chunks(key, lambda i: when(now, i), self.events, each))
        equal(self.call('LAWN.LEN', key), self.events)

    def renew(self, key, when, each=PER_CALL):
        self.clear(key)
        self.fill(key, when, each)

    def load(self, title, key, when, each=PER_CALL):
        """Fills a key, watched as it grows."""
        self.restore = lambda: self.clear(key)
        self.step(f'{title}: MPUSH of {each} until there are {self.events}',
                  lambda: self.fill(key, when, each))
        self.restore = lambda: self.renew(key, when, each)

    def unlink(self, title, key):
        self.step(f'{title}: UNLINK', lambda: self.call('UNLINK', key))
        self.clear(key)

    # Commands on a key without due events

    def battery(self, title, key):
        """Each command on a full key."""
        some = range(0, self.events, max(1, self.events // MANY))
        few = [name(i) for i in some]
        self.step(f'{title}: {MANY} each of PUSH, GET, TOUCH, UPDATE, CANCEL,'
                  ' PULL', lambda: self.singles(key, few))
        self.step(f'{title}: REDE.*', lambda: self.rede(key, few))
        large = [w for i in range(MANY) for w in (b'm%d' % i, PAYLOAD)]
        self.step(f'{title}: MPUSH of {MANY} new, twice; CANCEL of {MANY}',
                  lambda: self.calls([
                      ('LAWN.MPUSH', key, 'DELAY', HOUR + 7, MANY, *large),
                      ('LAWN.MPUSH', key, 'AT', self.now() + HOUR, MANY,
                       *large), ('LAWN.CANCEL', key, *large[::2])]))
        self.step(f'{title}: reading', lambda: self.reading(key))
        self.step(f'{title}: CONFIG, SINK, PAUSE, RESUME', lambda: self.calls([
            ('LAWN.CONFIG', key, 'SET', 'maxlen', 2 * self.events,
             'overflow', 'drop-oldest', 'resolution-ms', 10),
            ('LAWN.CONFIG', key, 'GET'), ('LAWN.PAUSE', key),
            ('LAWN.SINK', key, 'STREAM', 's', 'DEADLETTER', 'd'),
            ('LAWN.RESUME', key), ('LAWN.SINK', key, 'NONE'),
            ('LAWN.CONFIG', key, 'SET', 'maxlen', 0, 'overflow', 'reject',
             'resolution-ms', 0)]))

    def singles(self, key, few):
        self.calls(('LAWN.PUSH', key, b'new-' + i, PAYLOAD, 'DELAY', HOUR)
                   for i in few)
        self.calls(('LAWN.GET', key, i, 'META') for i in few)
        self.calls(('LAWN.PUSH', key, i, PAYLOAD, 'DELAY', HOUR) for i in few)
        self.calls(('LAWN.UPDATE', key, i, PAYLOAD + b'more') for i in few)
        self.calls(('LAWN.TOUCH', key, i, 'DELAY', HOUR + 1) for i in few)
        when = self.now() + HOUR
        self.calls(('LAWN.TOUCH', key, i, 'AT', when) for i in few)
        half = len(few) // 2
        self.calls(('LAWN.CANCEL', key, b'new-' + i) for i in few[:half])
        self.calls(('LAWN.PULL', key, b'new-' + i) for i in few[half:])
        self.calls(('LAWN.PARTITION', i, 16384) for i in few[:10])

    def rede(self, key, few):
        """ReDe's commands, for a tenth of the events. The key is unchanged
        afterward."""
        few = few[::10]
        self.calls(('REDE.PUSH', key, HOUR, PAYLOAD, b'new-' + i) for i in few)
        self.calls(('REDE.LOOK', key, i) for i in few)
        self.calls(('REDE.UPDATE', key, i, PAYLOAD) for i in few)
        self.calls(('REDE.PULL', key, b'new-' + i) for i in few)
        made = self.calls([('REDE.GIDPUSH', key, HOUR, PAYLOAD)] * len(few))
        self.calls(('REDE.PULL', key, i) for i in made)
        self.calls([('REDE.TTN', key), ('REDE.PRINT', key),
                    ('REDE.XPOLL', key), ('REDE.POLL', key),
                    ('REDE.XACK', key, *few), ('REDE.TEST',)])

    def reading(self, key):
        self.calls([('LAWN.NEXT', key), ('LAWN.INFO', key),
                    ('LAWN.POLL', key), ('LAWN.POLL', key, 'COUNT', ALL),
                    ('LAWN.LEASE', key, 'w', 'COUNT', ALL),
                    ('MEMORY', 'USAGE', key), ('TYPE', key)])
        self.calls(('LAWN.LEN', key, *state) for state in (
            (), ('WAITING',), ('DUE',), ('LEASED',), ('DEAD',)))
        for more in ((), ('COUNT', MANY), ('COUNT', ALL),
                     ('COUNT', ALL, 'MATCH', '*nothing*such*'),
                     ('COUNT', ALL, 'STATE', 'due')):
            cursor = b'0'
            for _ in range(10):
                cursor = self.call('LAWN.SCAN', key, cursor, *more)[0]

    def whole(self, title, key):
        """Commands on the key as a whole."""
        self.step(f'{title}: RENAME, MOVE, SWAPDB, EXPIRE, PERSIST', lambda: (
            self.calls([('RENAME', key, 'other'), ('RENAME', 'other', key),
                        ('MOVE', key, 1), ('SWAPDB', 0, 1),
                        ('EXPIRE', key, HOUR), ('PERSIST', key)])))

    def overflow(self, key):
        """A key whose limit is set to a tenth of its size."""
        smaller = ('LAWN.CONFIG', key, 'SET', 'maxlen', self.events // 10,
                   'overflow', 'drop-oldest')
        push = ('LAWN.PUSH', key, 'y', PAYLOAD, 'DELAY', HOUR)
        self.step('drop-oldest: CONFIG SET maxlen, 3 x PUSH',
                  lambda: self.calls([smaller, push, push, push]))

    def saving(self, title, key):
        """The battery while child processes save, which take longer."""
        def runs(flag):
            return self.server.info('persistence')[flag] == '1'

        def end():
            pid = self.server.process.pid
            for child in pathlib.Path(f'/proc/{pid}/task/{pid}/children') \
                    .read_text(encoding='ascii').split():
                os.kill(int(child), signal.SIGUSR1)  # as the server does
            wait_until(lambda: not runs('rdb_bgsave_in_progress'), 'it ends')

        self.call('CONFIG', 'SET', 'rdb-key-save-delay', 10 ** 9)
        for attempt in range(TRIES):
            self.call('CONFIG', 'RESETSTAT')
            self.call('BGSAVE')
            fork = int(self.server.info('stats')['latest_fork_usec'])
            _, longest = self.watches[0].end()
            took = (longest['bgsave'] - fork) / 1000
            print(f'  {title}: BGSAVE {took:.2f} and the fork '
                  f'{fork / 1000:.2f}')
            if took < BAR:
                break
            assert attempt + 1 < TRIES, 'BGSAVE takes longer than its fork'
            end()
        self.battery(f'{title}, while it is saved', key)
        equal(runs('rdb_bgsave_in_progress'), True, 'it was still saved')
        end()
        self.call('CONFIG', 'SET', 'aof-use-rdb-preamble', 'no')
        self.call('CONFIG', 'SET', 'appendonly', 'yes')
        self.battery(f'{title}, while the file is rewritten', key)
        equal(runs('aof_rewrite_in_progress'), True, 'it was still rewritten')
        self.call('CONFIG', 'SET', 'appendonly', 'no')
        wait_until(lambda: not runs('aof_rewrite_in_progress'), 'it has ended')
        self.call('CONFIG', 'SET', 'rdb-key-save-delay', 0)

    # Due events

    def until(self, key, *states):
        """Calls LEN until all events are in these states: a call examines a
        limited number of new ones."""
        count = self.call('LAWN.LEN', key)
        for _ in range(1000):
            if sum(self.calls(('LAWN.LEN', key, state)
                              for state in states)) == count:
                return
        raise AssertionError(f'not all are {states}')

    def make_due(self, key, when, each=PER_CALL):
        """All events are due, but not found yet, since the key is paused."""
        self.renew(key, when, each)
        self.call('LAWN.PAUSE', key)
        self.later(DAY)

    def known(self, key, when):
        """All events are due, and found."""
        self.make_due(key, when)
        self.call('LAWN.RESUME', key)
        self.until(key, 'DUE')

    def due(self, key, when):
        """A million events become due, and RESUME releases them."""
        self.call('LAWN.PAUSE', key)
        self.later(DAY)
        self.restore = lambda: self.make_due(key, when)
        self.step('due: RESUME and LEN DUE, the first to look', lambda: (
            self.call('LAWN.RESUME', key), self.until(key, 'DUE')))
        self.restore = lambda: self.known(key, when)

    def taking(self, key):
        """Commands that take due events."""
        self.step('due: LEN WAITING, LEN, NEXT, INFO', lambda: self.calls(
            [('LAWN.LEN', key, 'WAITING'), ('LAWN.LEN', key),
             ('LAWN.NEXT', key), ('LAWN.INFO', key)]))
        self.step('due: SCAN STATE', lambda: self.calls(
            ('LAWN.SCAN', key, 0, 'COUNT', count, 'STATE', state)
            for count in (10, ALL) for state in ('due', 'waiting')))
        self.step('due: 100 x POLL', lambda: self.calls(
            [('LAWN.POLL', key)] * 100))
        for more in (), ('META',):
            self.step(f'due: POLL {" ".join(more)} of all that one may',
                      lambda m=more: self.call('LAWN.POLL', key, 'COUNT', ALL,
                                               *m))
        self.step('due: REDE.XPOLL, XACK, PRINT, POLL, TTN', lambda: (
            self.call('REDE.XACK', key, *self.call('REDE.XPOLL', key)),
            self.calls((f'REDE.{c}', key) for c in ('PRINT', 'POLL', 'TTN'))))

    def leases(self, key):
        """Commands on leases. The events of a step are leased before each
        attempt."""
        held = []

        def lease(count):
            got = self.call('LAWN.LEASE', key, 'worker', 'LEASE', HOUR,
                            'COUNT', count)
            held.extend((row[0], row[2]) for row in got)

        def lease_again():
            held.clear()
            lease(MANY)

        def each(*more):
            equal(sum(map(bool, self.calls(
                (f'LAWN.{more[0]}', key, *pair, *more[1:])
                for pair in held))), MANY, 'good tokens')

        self.step(f'leases: {MANY} x LEASE', lambda: [
            lease(1) for _ in range(MANY)])
        for count in MANY, ALL:
            self.step(f'leases: LEASE COUNT {count}', lambda c=count: lease(c))
        self.step('leases: EXTEND', lambda: each('EXTEND', 'LEASE', 2 * HOUR),
                  lease_again)
        self.step('leases: NACK', lambda: each('NACK', 'DELAY', HOUR),
                  lease_again)
        self.step('leases: ACK one by one', lambda: each('ACK'), lease_again)
        self.step(f'leases: ACK of {MANY}', lambda: equal(
            self.call('LAWN.ACK', key, *[w for pair in held for w in pair]),
            [1] * MANY), lease_again)

    def lease_all(self, key):
        """Leases all due events."""
        while self.call('LAWN.LEN', key, 'DUE'):
            self.quiet([resp.encode('LAWN.LEASE', key, 'w', 'LEASE', HOUR,
                                    'COUNT', MANY)] * 50)

    def over(self, key):
        """All leases have ended, but were not found yet."""
        self.call('LAWN.RESUME', key)
        self.lease_all(key)
        self.call('LAWN.PAUSE', key)
        self.later(DAY)

    def ends(self, key):
        """All leases end together; after the second time all events are dead.
        """
        known = self.restore
        tries = ('LAWN.CONFIG', key, 'SET', 'tries', 2)
        self.step(f'leases: LEASE COUNT {MANY} until all are leased',
                  lambda: self.lease_all(key))
        self.step('leases: LEN, INFO', lambda: self.calls(
            [*(('LAWN.LEN', key, state) for state in (
                'WAITING', 'LEASED', 'DUE', 'DEAD')), ('LAWN.INFO', key)]),
                  lambda: self.lease_all(key))
        self.call(*tries)
        self.over(key)
        self.restore = lambda: (known(), self.call(*tries), self.over(key))
        self.step('ends of leases: LEN DUE, the first to look',
                  lambda: self.until(key, 'DUE', 'DEAD'))
        self.looked('ends of leases', key, 'due')
        self.over(key)
        once = self.restore
        self.restore = lambda: (once(), self.until(key, 'DUE', 'DEAD'),
                                self.over(key))
        self.step('deaths: RESUME, LEASE, POLL, LEN DEAD, the first to look',
                  lambda: (self.calls([('LAWN.RESUME', key),
                                       ('LAWN.LEASE', key, 'w'),
                                       ('LAWN.POLL', key)]),
                           self.until(key, 'DEAD')))
        self.looked('deaths', key, 'dead')

    def looked(self, title, key, state):
        """Queries of known events."""
        self.step(f'{title}: LEN, INFO, SCAN', lambda: self.calls(
            [('LAWN.LEN', key, 'DUE'), ('LAWN.LEN', key, 'LEASED'),
             ('LAWN.INFO', key),
             ('LAWN.SCAN', key, 0, 'COUNT', ALL, 'STATE', state)]))

    def hours(self, key):
        """Hours pass, and more and more events become due."""
        def pass_by():
            for _ in range(20):
                self.later(HOUR // 4)
                self.calls([('LAWN.LEN', key, 'DUE'), ('LAWN.NEXT', key),
                            ('LAWN.PUSH', key, 'x', PAYLOAD, 'DELAY', HOUR),
                            ('LAWN.INFO', key), ('LAWN.POLL', key),
                            ('LAWN.CANCEL', key, 'x')])

        self.step('times of their own: five hours pass, LEN, NEXT, PUSH, INFO,'
                  ' POLL', pass_by)

    def drain(self, title, key, *sink):
        """A sink drains a part of all events; commands run in between."""
        part = self.events // 10

        def act():
            goal = self.call('LAWN.LEN', key) - part
            began = time.monotonic()
            self.calls([('LAWN.SINK', key, *sink), ('LAWN.RESUME', key)])
            while (there := self.call('LAWN.LEN', key)) > goal:
                assert time.monotonic() - began < server.PATIENCE, (
                    f'{there} are left, INFO: {self.call("LAWN.INFO", key)}')
                self.calls([('LAWN.NEXT', key),
                            ('LAWN.PUSH', key, 'x', PAYLOAD, 'DELAY', HOUR)])
            rate = (part + goal - there) / (time.monotonic() - began)
            self.calls([('LAWN.PAUSE', key), ('LAWN.CANCEL', key, 'x')])
            print(f'    {rate:,.0f} events a second')

        self.step(title, act)
        self.call('UNLINK', sink[-1])


def serialized(run, keys):
    """Returns ms of the serialization of some keys, as the server measures it;
    bytes."""
    run.client.patience = 10 * server.PATIENCE  # no time limit applies
    run.call('CONFIG', 'RESETSTAT')
    run.call('SAVE')
    size = (run.server.folder / 'dump.rdb').stat().st_size
    for key in keys:
        run.call('COPY', key, 'copy')
        run.call('DEL', 'copy')
        # Inside the server, because the value is long.
        run.call('EVAL', "redis.call('RESTORE', 'again', 0,"
                 " redis.call('DUMP', KEYS[1]))", 1, key)
        run.call('UNLINK', 'again')
    run.call('DEBUG', 'RELOAD', 'NOSAVE')
    found = {}
    for command in ('save', 'debug', 'copy', 'dump', 'restore', 'del'):
        stats = run.server.info('commandstats')[f'cmdstat_{command}']
        title = {'debug': 'load'}.get(command, command.upper())
        found[title] = int(stats.split('usec=')[1].split(',')[0]) / 1000
    return found | {'ms; bytes of the dump file': size}


def print_figures(title, found):
    print(f'  {title}: ' + ', '.join(f'{what} {value:,.0f}'
                                     for what, value in found.items()))


def compare(run):
    """The same for a sorted set and a hash of the same size."""
    run.call('FLUSHALL')
    member = b'$14\r\ne_%012d\r\n'
    zset = (b'*202\r\n$4\r\nZADD\r\n$1\r\nz\r\n' + (b'$13\r\n%013d\r\n'
                                                   + member) * 100)
    hset = b'*202\r\n$4\r\nHSET\r\n$1\r\nh\r\n' + ID * 100
    run.quiet(zset % tuple(n for i in range(first, first + 100)
                           for n in (i * 7919 % 10 ** 9, i))
              + hset % tuple(range(first, first + 100))
              for first in range(0, run.events, 100))
    equal(run.call('ZCARD', 'z'), run.events)
    print_figures('ZSET + HASH', serialized(run, [b'z', b'h']))


def waiting(run, replica):
    """All watched steps."""
    def hour(_, __):
        return 'DELAY', HOUR

    def delays(_, i):
        return 'DELAY', HOUR + i // PER_CALL % 2000

    def times(now, i):
        return 'AT', now + HOUR + i * 7919 % (10 * HOUR)

    run.load('one delay', 'far', hour)
    run.battery('one delay', 'far')
    run.whole('one delay', 'far')
    run.saving('one delay', 'far')
    print_figures('the key itself', serialized(run, [b'far']))
    run.overflow('far')
    run.unlink('one delay', 'far')

    run.load('times of their own', 'far', times, UNIT)
    run.battery('times of their own', 'far')
    run.hours('far')
    run.call('LAWN.PAUSE', 'far')
    run.later(DAY)
    run.restore = lambda: run.make_due('far', times, UNIT)
    run.drain('sink, the first to look: STREAM', 'far', 'STREAM', 'stream')
    for kind in 'LIST', 'PUBLISH', 'SPUBLISH':
        run.drain(f'sink: {kind}', 'far', kind, 'target')
    run.step('times of their own: LEN DUE, the first to look',
             lambda: run.until('far', 'DUE'))
    run.unlink('times of their own', 'far')

    run.load('2,000 delays', 'far', delays)
    run.battery('2,000 delays', 'far')
    run.follow(replica)
    run.due('far', delays)
    run.taking('far')
    run.leases('far')
    run.ends('far')
    run.drain('deaths: into a stream', 'far', 'NONE', 'DEADLETTER', 'letters')
    run.unlink('deaths', 'far')


def main():
    options = server.arguments(__doc__, events=10 ** 6, compare=0, wall=0)
    began = time.monotonic()

    def nothing_blocks_the_server_with_a_million_events_in_a_key():
        with tempfile.TemporaryDirectory() as folder:
            clock = Clocked(options.wall, folder)
            run = Million(clock, options.events)
            print('a step, and the longest commands in it in ms:')
            waiting(run, clock.server())
            if options.compare:
                compare(run)
        print(f'  reported separately, longest in ms: {run.apart or "nothing"};'
              f' {time.monotonic() - began:.1f} s in all')
        assert not run.failed, 'too long: ' + '; '.join(run.failed)

    server.attempt_all(
        [nothing_blocks_the_server_with_a_million_events_in_a_key])


if __name__ == '__main__':
    main()
