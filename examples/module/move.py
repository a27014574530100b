#!/usr/bin/python3
"""move.py - moves the events of a key to other keys, also on another server.

    move.py FROM-URL KEY TO-URL KEY
    move.py FROM-URL KEY TO-URL 'timers:{}' COUNT

The second form distributes the events over COUNT partitions, timers:{0} and so on. Use
move.py to get more partitions, or to move to another server. The target may have an older
module, unless events have TRIES. The URL of a cluster is that of any node. The source key
must not be one of the target keys.

Times, payloads, repetition and TRIES are kept, but not the number of leases so far. Events
that are already due are due at the target at once. These events are not moved: leased and
dead ones; repeating ones that are due, because their later times would change; and those
whose id is used by another event at the target. They are printed and counted; run the
program again later. Let producers push to the new keys first; consumers can serve old and
new keys.

An event is pushed to the target before it is canceled at the source. If this program is
interrupted, no event is lost, but one may be in both keys until the next run. If a client
took or changed the event at the source in between, move.py cancels it at the target, unless
a client there took it before: then it is delivered twice.
"""
import binascii
import sys

import redis

# Returns 1 if the event was canceled, 0 if it does not exist, -1 if it has changed.
CANCEL = """
local flat = redis.call('LAWN.GET', KEYS[1], ARGV[1], 'META')
if not flat then return 0 end
local event = {}
for i = 1, #flat, 2 do event[flat[i]] = flat[i + 1] end
if event.payload ~= ARGV[2] or event.due ~= tonumber(ARGV[3])
    or event.period ~= tonumber(ARGV[4])
    or event.state ~= 'waiting' and event.state ~= 'due' then return -1 end
return redis.call('LAWN.CANCEL', KEYS[1], ARGV[1])
"""

LATE = 'due, and its later periods would change'


class Place:
    """A server, or a cluster."""

    def __init__(self, url):
        server = redis.Redis.from_url(url)
        if server.info('cluster').get('cluster_enabled'):
            lines = server.execute_command('CLUSTER', 'NODES').splitlines()
            self.names = {line.split()[0] for line in lines}
            server = redis.RedisCluster.from_url(url)
        else:
            self.names = {(
                server.info('server')['run_id'],
                server.connection_pool.connection_kwargs.get('db') or 0)}
        self.lawn = server.execute_command

    def event(self, key, id):
        flat = self.lawn('LAWN.GET', key, id, 'META')
        return flat and dict(zip(flat[::2], flat[1::2]))

    def ids(self, key):
        cursor = b'0'
        while True:
            cursor, some = self.lawn('LAWN.SCAN', key, cursor, 'COUNT', 100)
            yield from some
            if int(cursor) == 0:
                return


def options(event):
    if event[b'period']:
        yield from ('EVERY', event[b'period'])
        if event[b'times']:
            yield from ('TIMES', event[b'times'])
    if event.get(b'max-tries'):
        yield from ('TRIES', event[b'max-tries'])


def same(event, other):
    """Returns True if other is a copy of event that this program pushed. A copy of a
    due event is due at the time of its push."""
    if not other or any(event[name] != other[name] for name in
                        (b'payload', b'period', b'times')):
        return False
    return event[b'due'] == other[b'due'] or (
        event[b'state'] == other[b'state'] == b'due' and
        event[b'due'] < other[b'due'])


def move(here, key, there, target, id):
    """Moves an event. Returns None, or the reason why it was not moved."""
    event = here.event(key, id)
    if event is None:
        return None         # taken or canceled
    if event[b'state'] not in (b'waiting', b'due'):
        return event[b'state'].decode()
    if event[b'state'] == b'due' and event[b'period']:
        return LATE
    pushed = there.lawn('LAWN.PUSH', target, id, event[b'payload'],
                        'AT', event[b'due'], 'NX', *options(event))
    if pushed is None and not same(event, there.event(target, id)):
        return f'{target} has another event with this id'
    if pushed is not None and event[b'period'] and \
            not same(event, there.event(target, id)):
        there.lawn('LAWN.CANCEL', target, id)   # it became due, here or there
        return LATE
    gone = here.lawn('EVAL', CANCEL, 1, key, id, event[b'payload'],
                     event[b'due'], event[b'period'])
    if gone != 1 and pushed is not None:
        there.lawn('LAWN.CANCEL', target, id)
    return 'changed meanwhile' if gone < 0 else None


def main():
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    here, key, there, name = Place(sys.argv[1]), sys.argv[2], \
        Place(sys.argv[3]), sys.argv[4]
    count = int(sys.argv[5]) if len(sys.argv) == 6 else 0
    if count and '{}' not in name:
        sys.exit(f'move.py: {name} does not contain {{}}')
    targets = [name.replace('{}', '{%d}' % i) for i in range(count)] or [name]
    if here.names & there.names and key in targets:
        sys.exit(f'move.py: {key} is both source and target; use other names '
                 'for the new keys')
    moved = left = 0
    for id in here.ids(key):
        place = binascii.crc_hqx(id, 0) % len(targets)
        why = move(here, key, there, targets[place], id)
        if why:
            print(f'{id.decode(errors="backslashreplace")}: {why}')
            left += 1
        else:
            moved += 1
    print(f'{moved} moved, {left} left')


if __name__ == '__main__':
    main()
