"""pairs.py - a master and its replica."""

from resp import OK
from server import Server, equal, wait_until


def replica_of(master, *options, **more):
    """Creates a replica and waits until it has all data."""
    replica = Server(*options, **more)
    follow(replica, master)
    return replica


def follow(replica, master):
    equal(replica.call('REPLICAOF', '127.0.0.1', master.port), OK)
    linked(replica, master)
    caught_up(master, replica)


def linked(replica, master):
    """Returns True if both ends report the connection."""
    wait_until(lambda: replica.info('replication').get('master_link_status')
               == 'up', 'the replica is linked')
    wait_until(lambda: f'port={replica.port},state=online' in
               master.call('INFO', 'replication').decode(),
               'the replica is online')


def caught_up(master, replica):
    wait_until(lambda: replica.info('replication').get('slave_repl_offset')
               == master.info('replication')['master_repl_offset'],
               'the replica has caught up')


def same_data(one, two):
    keys = sorted(one.call('KEYS', '*'))
    equal(sorted(two.call('KEYS', '*')), keys)
    for key in keys:
        equal(two.digest(key), one.digest(key), f'digest of {key!r}')


def tear_down(*servers):
    for server in servers:
        server.check()
        server.end()
