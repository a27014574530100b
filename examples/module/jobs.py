#!/usr/bin/python3
"""jobs.py - a delayed job queue: at least once, with retries and dead letters.

    jobs.py [--url redis://localhost:6379] [--key '{jobs}'] VERB ...
    jobs.py add [--delay MS | --at MS] [--every MS] [--tries N] [--id ID]
                JOB [WORD ...]
    jobs.py work LEDGER.db [--lease MS] [--backoff MS]      until SIGTERM
    jobs.py dead [--retry]

Jobs are "charge CUSTOMER CENTS", which is booked in the ledger, and "run COMMAND
[WORD ...]". Add your own as a function in JOBS. Needs redis-py and a server, or a
cluster, with lawn.so. Start any number of workers on any number of machines. A worker
waits while the server is down, loading, or refuses writes.

A job is leased to a worker for some seconds. When the job is done, the worker
acknowledges it. A job that fails is delivered again after a delay that doubles each
time. If the worker dies, its job is delivered again when the lease ends; while the
worker lives, a heartbeat extends the lease. A job that has used up its tries is moved
to the stream KEY:dead, from which "dead --retry" returns it to the queue.

At least once means that a job can be started twice: a worker that was suspended for
long and its successor may both believe that they hold the lease. Each lease has a
token, greater than that of the previous lease. For each job, the ledger stores the
greatest token, the due time, and whether the job is done. The transaction that books
the charge rejects an older token. So a charge is booked once.

For the ledger, id and due time identify a job. A job that repeats, or is added again
with another time, is therefore a new job. If you do not know whether a job was added,
for example because the connection broke, add it again with the same --id and --at. If
the time of --at has passed, it may be done twice.
"""
import argparse
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import redis

TRIES = 5
BACKOFF_MOST = 3600_000  # ms

# Temporary errors: the server has become a replica, has too few replicas, cannot write
# to its disk, is out of memory, is loading, or a slot is migrating.
PASSING = ('UNBLOCKED', 'READONLY', 'NOREPLICAS', 'MISCONF', 'OOM', 'LOADING',
           'MASTERDOWN', 'CLUSTERDOWN', 'MOVED', 'ASK', 'TRYAGAIN')


def is_passing(error):
    """Returns True if the caller should wait and retry."""
    if isinstance(error, redis.AuthenticationError):
        return False
    return isinstance(error, (
        redis.ConnectionError, redis.TimeoutError, redis.ReadOnlyError,
        redis.exceptions.ClusterError, redis.exceptions.RedisClusterException,
        redis.exceptions.AskError, redis.exceptions.TryAgainError)
    ) or str(error).startswith(PASSING)


def connect(url):
    # The timeout must be longer than BLOCK: a job that arrives after the timeout is
    # lost until its lease ends.
    options = {'decode_responses': True, 'socket_timeout': 5}
    server = redis.Redis.from_url(url, **options)
    if server.info('cluster').get('cluster_enabled'):
        server = redis.RedisCluster.from_url(url, **options)
    return server


class Ledger:
    """The record of jobs, outside of the server: here in SQLite; any database with
    transactions works the same way."""

    def __init__(self, path):
        self.db = sqlite3.connect(path, timeout=10, isolation_level='IMMEDIATE')
        with self.db:
            self.db.execute('CREATE TABLE IF NOT EXISTS jobs (id TEXT PRIMARY '
                            'KEY, due INTEGER, token INTEGER, done INTEGER)')
            self.db.execute('CREATE TABLE IF NOT EXISTS charges (customer TEXT,'
                            ' cents INTEGER, job TEXT)')

    def begin(self, job, due, token):
        """Returns True if the job is not yet done and this token is the newest."""
        with self.db:
            return self.db.execute(
                'INSERT INTO jobs VALUES (?, ?, ?, 0) ON CONFLICT (id) DO '
                'UPDATE SET due = excluded.due, token = excluded.token, '
                'done = 0 WHERE token < excluded.token '
                'AND NOT (done AND due = excluded.due)',
                (job, due, token)).rowcount > 0

    def is_done(self, job, due):
        return self.db.execute('SELECT 1 FROM jobs WHERE id = ? AND due = ? '
                               'AND done', (job, due)).fetchone() is not None

    def finish(self, job, token, statement=None, values=()):
        """Records the job as done, once, and only for the newest token."""
        with self.db:
            if self.db.execute('UPDATE jobs SET done = 1 WHERE id = ? AND '
                               'token = ? AND NOT done',
                               (job, token)).rowcount == 0:
                return False
            if statement:
                self.db.execute(statement, values)
            return True


def charge(ledger, job, token, _tries, customer, cents):
    ledger.finish(job, token, 'INSERT INTO charges VALUES (?, ?, ?)',
                  (customer, int(cents), job))


def run(ledger, job, token, tries, *command):
    """Not in a transaction: if the worker dies between the two statements, the command
    is run again. The command can recognize this by JOB_ID; the run with the greater
    JOB_TOKEN is newer."""
    subprocess.run(command, check=True, env=dict(
        os.environ, JOB_ID=job, JOB_TOKEN=str(token), JOB_TRY=str(tries)))
    ledger.finish(job, token)


JOBS = {'charge': charge, 'run': run}


class Heartbeat(threading.Thread):
    """Extends a lease while its job is running."""

    def __init__(self, lawn, key, job, token, lease):
        super().__init__(daemon=True)
        self.extend = lambda: lawn('LAWN.EXTEND', key, job, token,
                                   'LEASE', lease)
        self.rest = lease / 3000
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(self.rest):
            try:
                if not self.extend():
                    return      # leased to another worker; the ledger will
                    # reject this token
            except redis.RedisError:
                pass            # retry after a third of the lease

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


class Worker:
    def __init__(self, options):
        self.url = options.url
        self.server = None
        self.key = options.key
        self.lease = options.lease
        self.backoff = options.backoff
        self.ledger = Ledger(options.ledger)
        self.name = f'{socket.gethostname()}:{os.getpid()}'
        self.stopped = False
        self.trouble = ''
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)

    def stop(self, *_):
        """Stops after the current job."""
        self.stopped = True

    def lawn(self, *words):
        self.server = self.server or connect(self.url)
        return self.server.execute_command(*words)

    def next(self):
        """Leases the next job: one at a time, so that no leased job has to wait."""
        try:
            found = self.lawn('LAWN.LEASE', self.key, self.name,
                              'LEASE', self.lease, 'BLOCK', 1000)
        except Exception as error:
            if not is_passing(error):
                raise
            if str(error) != self.trouble:
                self.say('the server', error)
            self.trouble = str(error)
            time.sleep(0.5)
            return []
        if self.trouble:
            self.say('the server', 'is back')
        self.trouble = ''
        return found

    def tell(self, *words):
        """Sends ACK or NACK. If the server is down, retries until the end of the lease:
        then the job is delivered again anyway."""
        end = time.monotonic() + self.lease / 1000
        while True:
            try:
                return self.lawn(*words)
            except Exception as error:
                if not is_passing(error) or time.monotonic() > end:
                    raise
            time.sleep(0.1)

    def work(self):
        while not self.stopped:
            for job, payload, token, tries, due in self.next():
                try:
                    self.do(job, due, payload, token, tries)
                except Exception as error:
                    if not isinstance(error, redis.RedisError) and \
                            not is_passing(error):
                        raise
                    # The job is delivered again.
                    self.say(job, f'not acknowledged: {error}')

    def do(self, job, due, payload, token, tries):
        if not self.ledger.begin(job, due, token):
            if self.ledger.is_done(job, due):   # but its ACK was lost
                self.tell('LAWN.ACK', self.key, job, token)
                self.say(job, 'was already done')
            else:
                self.say(job, 'leased to another worker')
            return
        try:
            with Heartbeat(self.lawn, self.key, job, token, self.lease):
                name, *words = json.loads(payload)
                JOBS[name](self.ledger, job, token, tries, *words)
        except Exception as error:  # any error of a job
            delay = min(self.backoff * 2 ** (tries - 1), BACKOFF_MOST)
            delay += random.randrange(delay // 4 + 1)
            self.tell('LAWN.NACK', self.key, job, token, 'DELAY', delay)
            self.say(job, f'try {tries} failed: {error!r}')
        else:
            done = self.tell('LAWN.ACK', self.key, job, token)[0]
            self.say(job, f'done at try {tries}' if done else 'done too late')

    def say(self, job, text):
        print(f'{self.name} {job}: {text}', flush=True)


def add(server, options):
    # Creates the key if needed. In a cluster, the key and the stream must be in one
    # slot, so the default of --key has a hash tag.
    server.execute_command('LAWN.SINK', options.key, 'NONE',
                           'DEADLETTER', options.key + ':dead')
    when = ('DELAY', options.delay) if options.at is None else \
        ('AT', options.at)
    every = ('EVERY', options.every) if options.every else ()
    print(server.execute_command(
        'LAWN.PUSH', options.key, options.id,
        json.dumps([options.job, *options.words]), *when, *every,
        'TRIES', options.tries))


# Atomic: push and delete, or neither. A newer job with that id is not replaced.
RETRY = """
if not redis.call('LAWN.PUSH', KEYS[1], ARGV[1], ARGV[2], 'DELAY', 0, 'NX',
                  'TRIES', ARGV[3]) then return 0 end
return redis.call('XDEL', KEYS[2], ARGV[4])
"""


def dead(server, options):
    stream = options.key + ':dead'
    for entry, letter in server.xrange(stream):
        print(letter['id'], letter['tries'], letter['payload'])
        if options.retry and not server.eval(
                RETRY, 2, options.key, stream, letter['id'],
                letter['payload'], TRIES, entry):
            print(letter['id'], 'not retried: a newer job has this id')


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument('--url', default='redis://localhost:6379')
    parser.add_argument('--key', default='{jobs}')
    verbs = parser.add_subparsers(dest='verb', required=True)
    verb = verbs.add_parser('add')
    when = verb.add_mutually_exclusive_group()
    when.add_argument('--delay', type=int, default=0)
    when.add_argument('--at', type=int)
    verb.add_argument('--every', type=int)
    verb.add_argument('--tries', type=int, default=TRIES)
    verb.add_argument('--id', default='*')
    verb.add_argument('job', choices=JOBS)
    verb.add_argument('words', nargs=argparse.REMAINDER)
    verb = verbs.add_parser('work')
    verb.add_argument('ledger')
    verb.add_argument('--lease', type=int, default=30_000)
    verb.add_argument('--backoff', type=int, default=1000)
    verb = verbs.add_parser('dead')
    verb.add_argument('--retry', action='store_true')
    return parser.parse_args()


def main():
    options = arguments()
    if options.verb == 'work':
        Worker(options).work()
        return
    try:
        server = connect(options.url)
    except redis.ConnectionError as error:
        sys.exit(f'jobs.py: {options.url}: {error}')
    {'add': add, 'dead': dead}[options.verb](server, options)


if __name__ == '__main__':
    main()
