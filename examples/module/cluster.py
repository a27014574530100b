#!/usr/bin/python3
"""cluster.py - a queue partitioned over a cluster: producer and worker.

    cluster.py URL COUNT push ID PAYLOAD [DELAY]
    cluster.py URL COUNT work                       until it is killed

COUNT is the number of partitions, timers:{0} and so on; all programs must use the same
number. URL is that of any node. Needs redis-py. The worker prints each event; put your
work there. See jobs.py for a heartbeat, tries and a ledger.
"""
import binascii
import os
import socket
import sys
import threading
import time

import redis

NAME = f'{socket.gethostname()}:{os.getpid()}'


def partition(id, count):
    return binascii.crc_hqx(id.encode(), 0) % count


def push(server, count, id, payload, delay):
    """Pushes an event. Returns the number of replicas that confirmed it."""
    key = 'timers:{%d}' % partition(id, count)
    node = server.get_redis_connection(server.get_node_from_key(key))
    with node.pipeline(transaction=False) as same:  # one connection
        same.execute_command('LAWN.PUSH', key, id, payload, 'DELAY', delay)
        same.execute_command('WAIT', 1, 100)
        return same.execute()[1]


def serve(server, key, work):
    """Serves one partition forever."""
    while True:
        try:
            for id, payload, token, tries, due in server.execute_command(
                    'LAWN.LEASE', key, NAME, 'LEASE', 30000, 'BLOCK', 1000):
                work(id, payload)
                server.execute_command('LAWN.ACK', key, id, token)
        except Exception as error:  # work() failed, a failover, a slot moves:
            # without an ACK the event is delivered again
            print(f'{key}: {error!r}', flush=True)
            time.sleep(0.5)


def work(id, payload):
    # A single write, because threads may print at the same time.
    print(f'{id} {payload}\n', end='', flush=True)


def main():
    if len(sys.argv) < 4 or sys.argv[3] not in ('push', 'work'):
        sys.exit(__doc__)
    url, count, verb, *words = sys.argv[1:]
    server = redis.RedisCluster.from_url(url, decode_responses=True,
                                         socket_timeout=5)
    if verb == 'push':
        id, payload, delay = (*words, '0')[:3]
        print(push(server, int(count), id, payload, delay))
        return
    for i in range(int(count)):
        threading.Thread(target=serve,
                         args=(server, 'timers:{%d}' % i, work)).start()


if __name__ == '__main__':
    main()
