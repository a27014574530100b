#!/usr/bin/env python3
"""examples.py [--server redis|valkey] [PART OF A NAME] - tests of
examples/module/.

Workers are processes as a user would start them, each in a separate process
group, so that one can be killed with its children. Their results are read where
users would look: in the ledger, in files that jobs write, in the posts.
"""

import contextlib
import http.server
import importlib.util
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading

import nodes
import resp
import server
from server import case, equal, need, shared, wait_until

EXAMPLES = (pathlib.Path(__file__).resolve().parent
            / '../../../examples/module').resolve()
PYTHON = '/usr/bin/python3'
KEY = '{jobs}'


class Worker:
    """A process that runs until it is stopped, and its output."""

    def __init__(self, *command, **environment):
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
            env={**os.environ, **environment})
        self.text = ''
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.text += line

    def expect_output(self, words):
        try:
            wait_until(lambda: words in self.text or
                       self.process.poll() is not None, f'it prints {words!r}')
        except AssertionError as late:
            raise AssertionError(f'{late}; it printed {self.text!r}') from None
        assert words in self.text, self.text

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        """Kills it and its children, as if the machine had failed."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(server.PATIENCE)
        self.reader.join(server.PATIENCE)

    def stop(self):
        """Stops it as an init system would; it must exit on its own."""
        self.signal(signal.SIGTERM)
        equal(self.process.wait(server.PATIENCE), 0, self.text)
        self.reader.join(server.PATIENCE)


def patiently(test, *times):
    """Runs the test with increasing times, in ms, until it passes: on a busy
    machine even a live worker may be too late for the first ones."""
    for ms in times[:-1]:
        try:
            return test(ms)
        except AssertionError as problem:
            print(f'  again, as with {ms} ms: {problem}'[:500])
    return test(times[-1])


def load(name):
    """Loads an example as a module, with Debian's redis-py."""
    sys.path.append('/usr/lib/python3/dist-packages')
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Stage:
    """A server, a folder, and workers that end with it."""

    def __enter__(self):
        self.one = shared()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='lawn-examples-'))
        self.workers = []
        return self

    def __exit__(self, *_):
        for worker in self.workers:
            worker.kill()
        shutil.rmtree(self.folder, True)

    def keep(self, worker):
        self.workers.append(worker)
        return worker

    def url(self):
        return f'redis://127.0.0.1:{self.one.port}'


class Jobs(Stage):
    def __init__(self):
        need(os.path.isdir('/usr/lib/python3/dist-packages/redis'),
             'python3-redis')

    def command(self, *words):
        return [PYTHON, EXAMPLES / 'jobs.py', '--url', self.url(), *words]

    def call(self, *words):
        done = subprocess.run(
            [str(word) for word in self.command(*words)], text=True,
            capture_output=True, timeout=server.PATIENCE, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def add(self, *words):
        """Adds a job. Returns its id."""
        return self.call('add', *words).strip()

    def script(self, text, *options):
        """Adds a job that runs the text in a shell, in the folder."""
        return self.add(*options, 'run', 'sh', '-c',
                        f'cd {self.folder} && {text}')

    def worker(self, lease=30000):
        return self.keep(Worker(*self.command(
            'work', self.folder / 'ledger.db', '--lease', lease,
            '--backoff', 20)))

    def lines(self, name):
        path = self.folder / name
        return path.read_text().split() if path.exists() else []

    def charges(self):
        with contextlib.closing(sqlite3.connect(
                self.folder / 'ledger.db')) as db:
            return db.execute('SELECT customer, cents, job FROM charges '
                              'ORDER BY customer').fetchall()

    def wait_for_none(self):
        wait_until(lambda: self.one.call('LAWN.LEN', KEY) == 0,
                   'all jobs are done')

    def meta(self, job):
        return self.one.client(3).call('LAWN.GET', KEY, job, 'META') or {}


@case
def jobs_are_done_once_again_if_they_fail_and_at_last_are_dead():
    with Jobs() as jobs:
        workers = [jobs.worker(), jobs.worker()]
        ids = [jobs.add('charge', 'customer0', 100)]
        ids += [jobs.one.call(
            'LAWN.PUSH', KEY, '*', json.dumps(['charge', f'customer{i}',
                                               str(100 + i)]),
            'DELAY', 30 * i, 'TRIES', 5).decode() for i in range(1, 8)]
        third = jobs.script('echo $JOB_TRY >>third && test $JOB_TRY = 3')
        never = jobs.script('echo $JOB_TRY >>never; false', '--tries', 2)
        jobs.wait_for_none()
        for worker in workers:
            worker.stop()
        assert jobs.charges() == [(f'customer{i}', 100 + i, ids[i])
                                  for i in range(8)], jobs.charges()
        equal(jobs.lines('third'), ['1', '2', '3'])
        equal(jobs.lines('never'), ['1', '2'])
        text = ''.join(worker.text for worker in workers)
        for job in ids:
            equal(text.count(f' {job}: done at try 1\n'), 1, text)
        assert f' {third}: done at try 3\n' in text, text
        assert f' {never}: try 2 failed' in text, text
        equal(jobs.one.call('XLEN', KEY + ':dead'), 1)
        told = jobs.call('dead')
        assert told.startswith(f'{never} 2 ["run", "sh", "-c"'), told


@case
def a_dead_letter_is_taken_back():
    with Jobs() as jobs:
        job = jobs.script('echo $JOB_TRY >>tries; test -e fixed',
                          '--tries', 1)
        worker = jobs.worker()
        wait_until(lambda: jobs.one.call('XLEN', KEY + ':dead') == 1,
                   'it is dead')
        equal(jobs.one.call('LAWN.LEN', KEY), 0)
        (jobs.folder / 'fixed').touch()
        assert jobs.call('dead', '--retry').startswith(job + ' 1 [')
        worker.expect_output(f' {job}: done at try 1')
        equal(jobs.one.call('XLEN', KEY + ':dead'), 0)
        equal(jobs.lines('tries'), ['1', '1'])
        worker.stop()


@case
def a_long_job_is_kept_by_its_heartbeat():
    patiently(keeps_a_long_job, 900, 5000, 20000)


def keeps_a_long_job(lease):
    with Jobs() as jobs:
        workers = [jobs.worker(lease), jobs.worker(lease)]
        job = jobs.script('echo $JOB_TRY >>tries; '
                          'until test -e go; do sleep 0.02; done')
        first = wait_until(lambda: jobs.meta(job).get(b'lease-end'),
                           'it is leased')
        wait_until(lambda: server.now_ms() > first + lease,
                   'the time of two leases has passed')
        equal(jobs.meta(job)[b'state'], 'leased')
        (jobs.folder / 'go').touch()
        jobs.wait_for_none()
        equal(jobs.lines('tries'), ['1'])
        for worker in workers:
            worker.stop()


@case
def the_job_of_a_killed_worker_is_done_by_another():
    with Jobs() as jobs:
        job = jobs.script('echo $JOB_TRY >>tries; '
                          'test $JOB_TRY = 2 || sleep 1000')
        worker = jobs.worker(3000)
        wait_until(lambda: jobs.lines('tries'), 'it is begun')
        worker.kill()
        other = jobs.worker()
        other.expect_output(f' {job}: done at try 2')
        equal(jobs.lines('tries'), ['1', '2'])
        equal(jobs.one.call('LAWN.LEN', KEY), 0)
        other.stop()


@case
def a_worker_that_was_stopped_for_long_learns_that_it_is_too_late():
    with Jobs() as jobs:
        job = jobs.script('echo $JOB_TOKEN >>tokens; test $JOB_TRY = 2 || '
                          'until test -e go; do sleep 0.02; done')
        slow = jobs.worker(3000)
        wait_until(lambda: jobs.lines('tokens'), 'it is begun')
        slow.signal(signal.SIGSTOP)
        other = jobs.worker()
        other.expect_output(f' {job}: done at try 2')
        (jobs.folder / 'go').touch()
        slow.signal(signal.SIGCONT)
        slow.expect_output(f' {job}: done too late')
        first, second = map(int, jobs.lines('tokens'))
        assert first < second, (first, second)
        for worker in (slow, other):
            worker.stop()


@case
def a_worker_finishes_its_job_before_it_stops():
    with Jobs() as jobs:
        job = jobs.script('echo >begun; until test -e go; do sleep 0.02; done')
        worker = jobs.worker()
        wait_until(lambda: (jobs.folder / 'begun').exists(), 'it is begun')
        worker.signal(signal.SIGTERM)
        (jobs.folder / 'go').touch()
        worker.stop()
        assert f' {job}: done at try 1' in worker.text, worker.text
        equal(jobs.one.call('LAWN.LEN', KEY), 0)


@case
def each_time_of_a_job_that_repeats_or_is_added_again_is_done_once():
    with Jobs() as jobs:
        workers = [jobs.worker(), jobs.worker()]
        jobs.script('echo x >>ticks', '--id', 'tick', '--every', 50)
        wait_until(lambda: len(jobs.lines('ticks')) >= 4, 'it runs each time')
        jobs.one.call('LAWN.CANCEL', KEY, 'tick')
        for times in (1, 2):
            jobs.script('echo x >>nights', '--id', 'nightly')
            jobs.wait_for_none()
            equal(len(jobs.lines('nights')), times)
        # Until a job is due, adding it again with the same id and time adds no
        # other job. On a slow machine the second add may be too late; then the
        # test is repeated with a later time.
        ahead = 4000 * server.SLOW
        at = 0
        while at <= server.now_ms():
            at, ahead = server.now_ms() + ahead, ahead * 3
            once = f'once{at}'
            for _ in (1, 2):
                jobs.script(f'echo x >>{once}', '--id', once, '--at', at)
        jobs.wait_for_none()
        for worker in workers:
            worker.stop()
        equal(len(jobs.lines(once)), 1)
        text = ''.join(worker.text for worker in workers)
        equal(text.count(' tick: done at try 1\n')
              + text.count(' tick: done too late\n'),
              len(jobs.lines('ticks')), text)


@case
def a_job_whose_acknowledgement_was_lost_is_not_done_again():
    with Jobs() as jobs:
        jobs.script('touch again', '--id', 'job')
        (_, _, token, _, due), = jobs.one.call('LAWN.LEASE', KEY, 'me',
                                               'LEASE', 100)
        ledger = load('jobs').Ledger(jobs.folder / 'ledger.db')
        assert ledger.begin('job', due, token) and ledger.finish('job', token)
        ledger.db.close()
        worker = jobs.worker()
        worker.expect_output(' job: was already done\n')
        jobs.wait_for_none()
        assert not (jobs.folder / 'again').exists()
        worker.stop()


@case
def a_newer_job_is_not_replaced_by_a_dead_letter():
    with Jobs() as jobs:
        worker = jobs.worker()
        jobs.script('false', '--id', 'job', '--tries', 1)
        wait_until(lambda: jobs.one.call('XLEN', KEY + ':dead') == 1,
                   'it is dead')
        jobs.script('true', '--id', 'job', '--delay', server.FAR)
        newer = jobs.meta('job')
        told = jobs.call('dead', '--retry')
        assert 'job not retried: a newer job' in told, told
        equal(jobs.meta('job'), newer)
        equal(jobs.one.call('XLEN', KEY + ':dead'), 1)
        worker.stop()


def refused(one, command):
    told = one.info('commandstats').get('cmdstat_' + command, '')
    return 'rejected_calls=' in told and 'rejected_calls=0' not in told


@case
def a_worker_waits_for_a_server_that_refuses_to_write():
    with Jobs() as jobs:
        worker = jobs.worker()
        job = jobs.script('echo >begun; '
                          'until test -e go; do sleep 0.02; done')
        wait_until(lambda: (jobs.folder / 'begun').exists(), 'it is begun')
        jobs.one.call('CONFIG', 'SET', 'min-replicas-to-write', 1)
        (jobs.folder / 'go').touch()
        wait_until(lambda: refused(jobs.one, 'lawn.ack'), 'ACK is refused')
        jobs.one.call('CONFIG', 'SET', 'min-replicas-to-write', 0)
        worker.expect_output(f' {job}: done at try ')
        jobs.one.call('CONFIG', 'SET', 'min-replicas-to-write', 1)
        worker.expect_output(' the server: NOREPLICAS')
        jobs.one.call('CONFIG', 'SET', 'min-replicas-to-write', 0)
        worker.expect_output(' the server: is back')
        job = jobs.script('true')
        worker.expect_output(f' {job}: done at try ')
        worker.stop()


@case
def a_worker_may_start_before_its_server_and_outlive_it():
    with Jobs() as jobs:
        # With `everysec` the server may hold back writes during an fsync, and a kill
        # loses them. With `always` a slow disk may delay the reply of LAWN.LEASE past
        # the worker's timeout; then the job is done at try 2.
        jobs.one = server.Server('appendonly', 'yes', 'appendfsync', 'always')
        try:
            jobs.one.kill()
            done = subprocess.run(
                [str(word) for word in jobs.command('add', 'run', 'true')], text=True,
                capture_output=True, timeout=server.PATIENCE, check=False)
            server.equal(done.stderr.count('\n'), 1, done.stderr)
            assert jobs.url() in done.stderr and done.returncode == 1
            worker = jobs.worker()
            worker.expect_output(' the server: Error ')
            jobs.one.start()
            first = jobs.script('true')
            worker.expect_output(f' {first}: done at try ')
            second = jobs.script('true', '--delay', 10**9)
            jobs.one.restart(kill=True)
            assert jobs.one.call('LAWN.TOUCH', KEY, second, 'DELAY', 0), 'the push is lost'
            worker.expect_output(f' {second}: done at try ')
            worker.stop()
        finally:
            jobs.one.end()


@case
def the_ledger_refuses_an_older_token_and_what_is_done():
    need(os.path.isdir('/usr/lib/python3/dist-packages/redis'), 'python3-redis')
    jobs = load('jobs')
    with tempfile.TemporaryDirectory() as folder:
        ledger = jobs.Ledger(folder + '/db')
        book = ('INSERT INTO charges VALUES (?, ?, ?)', ('ana', 5, 'job'))
        assert ledger.begin('job', 1, 10) and ledger.begin('job', 1, 20)
        assert not ledger.begin('job', 1, 15)
        assert not ledger.finish('job', 10, *book)
        assert not ledger.is_done('job', 1)
        assert ledger.finish('job', 20, *book)
        assert not ledger.finish('job', 20, *book)
        assert ledger.is_done('job', 1) and not ledger.begin('job', 1, 30)
        # With another time it is another job, but not with an older token.
        assert not ledger.begin('job', 2, 19) and ledger.is_done('job', 1)
        assert ledger.begin('job', 2, 30) and not ledger.is_done('job', 2)
        assert not ledger.finish('job', 20, *book)
        assert ledger.db.execute('SELECT * FROM charges').fetchall() == [
            ('ana', 5, 'job')]


# THE STREAM


class Posts(http.server.ThreadingHTTPServer):
    """The receiver of posts: /flaky fails twice, /bad always, /stuck does not
    answer the first time."""
    daemon_threads = True

    def __init__(self):
        super().__init__(('127.0.0.1', 0), Post)
        self.got = []
        self.over = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, path):
        return f'http://127.0.0.1:{self.server_address[1]}/{path}'

    def of(self, event):
        return [body for name, body in self.got if name == event]

    def end(self):
        self.over.set()
        self.shutdown()
        self.server_close()


class Post(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers['Content-Length'])).decode()
        event = self.headers['Idempotency-Key']
        assert int(self.headers['X-Due']) <= server.now_ms()
        self.server.got.append((event, body))
        times = len(self.server.of(event))
        if self.path == '/stuck' and times == 1:
            self.server.over.wait(server.PATIENCE)
        fails = self.path == '/bad' or (self.path == '/flaky' and times < 3)
        with contextlib.suppress(OSError):
            self.send_response(500 if fails else 200)
            self.end_headers()

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


class Hooks(Stage):
    def __init__(self):
        need(shutil.which('node'), 'nodejs')
        need(os.path.isdir('/usr/share/nodejs/redis'), 'node-redis')

    def __enter__(self):
        self.posts = Posts()
        return super().__enter__()

    def __exit__(self, *problem):
        super().__exit__(*problem)
        self.posts.end()

    def environment(self, idle):
        return {'NODE_PATH': '/usr/share/nodejs', 'REDIS_URL': self.url(),
                'IDLE': str(idle)}

    def add(self, path, name, delay=0):
        done = subprocess.run(
            ['node', str(EXAMPLES / 'sink.js'), 'add', self.posts.url(path),
             name, f'body of {name}', str(delay)], text=True,
            capture_output=True, timeout=server.PATIENCE, check=False,
            env={**os.environ, **self.environment(1000)})
        equal(done.stdout, name + '\n', done.stderr)

    def worker(self, name, idle=1500):
        return self.keep(Worker('node', EXAMPLES / 'sink.js', 'work', name,
                                **self.environment(idle)))

    def wait_for_none(self):
        one = self.one
        wait_until(lambda: one.call('LAWN.LEN', '{hooks}') == 0
                   and one.call('XLEN', '{hooks}:due') == 0, 'all is posted')


@case
def hooks_are_posted_from_the_stream_again_if_they_fail_and_then_put_aside():
    patiently(posts_each_as_often_as_it_fails, 1500, 5000, 15000)


def posts_each_as_often_as_it_fails(idle):
    with Hooks() as hooks:
        workers = [hooks.worker('a', idle), hooks.worker('b', idle)]
        hooks.add('good', 'good0', 50)
        for path in ('good1', 'good2', 'good3', 'flaky', 'bad'):
            hooks.one.call(
                'LAWN.PUSH', '{hooks}', path, json.dumps(
                    {'url': hooks.posts.url(path), 'body': f'body of {path}'}),
                'DELAY', 50)
        hooks.wait_for_none()
        for worker in workers:
            worker.stop()
        for i in range(4):
            equal(hooks.posts.of(f'good{i}'), [f'body of good{i}'])
        equal(len(hooks.posts.of('flaky')), 3)
        equal(len(hooks.posts.of('bad')), 4)
        (_, fields), = hooks.one.call('XRANGE', '{hooks}:failed', '-', '+')
        failed = dict(zip(fields[::2], fields[1::2]))
        equal(failed[b'id'], 'bad')
        equal(failed[b'error'], 'status 500')
        equal(hooks.one.call('XPENDING', '{hooks}:due', 'posters')[0], 0)


@case
def events_of_a_killed_poster_are_posted_by_another():
    with Hooks() as hooks:
        worker = hooks.worker('a', idle=30000)
        hooks.add('stuck', 'stuck')
        wait_until(lambda: hooks.posts.of('stuck'), 'it is being posted')
        worker.kill()
        other = hooks.worker('b')
        other.expect_output('stuck: posted at try 2')
        hooks.wait_for_none()
        equal(len(hooks.posts.of('stuck')), 2)
        other.stop()


@case
def a_poster_waits_for_a_server_that_refuses_to_write():
    with Hooks() as hooks:
        hooks.one.call('CONFIG', 'SET', 'min-replicas-to-write', 1)
        worker = hooks.worker('a')
        worker.expect_output('NOREPLICAS')
        hooks.one.call('CONFIG', 'SET', 'min-replicas-to-write', 0)
        hooks.add('good', 'one')
        worker.expect_output('one: posted at try 1')
        hooks.one.call('DEL', '{hooks}:due')  # which deletes the group, too
        hooks.add('good', 'two')
        worker.expect_output('two: posted at try 1')
        hooks.one.call('LAWN.PUSH', '{hooks}', 'refused', json.dumps(
            {'url': 'http://127.0.0.1:1/', 'body': 'b'}), 'DELAY', 0)
        worker.expect_output('refused: try 1: fetch failed: ')
        worker.stop()


@case
def a_poster_that_is_called_wrongly_reports_how():
    with Hooks() as hooks:
        for words in ((), ('--help',), ('ad', 'x'), ('add', 'url', 'id')):
            done = subprocess.run(
                ['node', str(EXAMPLES / 'sink.js'), *words], text=True,
                capture_output=True, timeout=server.PATIENCE, check=False,
                env={**os.environ, **hooks.environment(1000)})
            equal(done.returncode, 2)
            assert 'sink.js add URL ID BODY DELAY' in done.stderr, done.stderr


# FROM ELSEWHERE, AND TO MANY KEYS


def move(one, *words):
    """Moves all of a sorted set as the manual describes. Returns the number."""
    moved = 0
    while True:
        done = subprocess.run(
            [shutil.which(server.KIND + '-cli') or 'redis-cli', '-p',
             str(one.port), '--eval', str(EXAMPLES / 'from_zset.lua'),
             *map(str, words)], text=True, capture_output=True,
            timeout=server.PATIENCE, check=True)
        if done.stdout == '0\n':
            return moved
        assert done.stdout.strip().isdigit(), done.stdout + done.stderr
        moved += int(done.stdout)


@case
def a_sorted_set_and_its_hash_become_a_key():
    one = shared()
    for i in range(250):
        one.call('ZADD', 'delayed', 1893456000 + i + 0.25, f'id{i}')
        one.call('HSET', 'payloads', f'id{i}', f'payload {i}')
    one.call('ZADD', 'delayed', 1893456000, 'without')
    one.call('LAWN.PUSH', 'timers', 'id7', 'newer', 'AT', 1900000000000)
    equal(move(one, 'delayed', 'timers', 'payloads', ',', 1000, 100), 250)
    equal(one.call('LAWN.LEN', 'timers'), 250)
    equal(one.call('ZRANGE', 'delayed', 0, -1), ['without'])
    one.call('HSET', 'payloads', 'without', 'written at last')
    equal(move(one, 'delayed', 'timers', 'payloads', ',', 1000, 100), 1)
    equal(one.call('LAWN.GET', 'timers', 'without'), 'written at last')
    equal(one.call('EXISTS', 'delayed', 'payloads'), 0)
    for i in range(250):
        meta = one.client(3).call('LAWN.GET', 'timers', f'id{i}', 'META')
        equal([meta[b'payload'], meta[b'due']],
              ['newer', 1900000000000] if i == 7 else
              [f'payload {i}', 1893456000250 + 1000 * i])


@case
def a_sorted_set_is_not_moved_with_the_wrong_hash():
    one = shared()
    one.call('ZADD', 'delayed', *[word for i in range(1500)
                                  for word in (i, f'id{i}')])
    try:
        move(one, 'delayed', 'timers', 'wrong', ',', 1000, 100)
        raise AssertionError('it was moved')
    except AssertionError as problem:
        assert 'have no field in wrong' in str(problem), problem
    equal(one.call('ZCARD', 'delayed'), 1500)
    equal(one.call('EXISTS', 'timers'), 0)


@case
def a_sorted_set_of_payloads_becomes_a_key_and_no_further_than_its_limit():
    one = shared()
    for i in range(10):
        one.call('ZADD', 'delayed', 1893456000000 + i, f'do {i}')
    one.call('ZADD', 'delayed', 'inf', 'never')
    one.call('LAWN.CONFIG', 'timers', 'SET', 'maxlen', 4)
    try:
        move(one, 'delayed', 'timers', ',', 1, 3)
        raise AssertionError('there was room for all')
    except AssertionError as problem:
        assert 'FULL' in str(problem), problem
    equal([one.call('LAWN.LEN', 'timers'), one.call('ZCARD', 'delayed')],
          [4, 7])
    one.call('LAWN.CONFIG', 'timers', 'SET', 'maxlen', 0)
    equal(move(one, 'delayed', 'timers', ',', 1, 3), 7)
    meta = one.client(3).call('LAWN.GET', 'timers', 'do 9', 'META')
    equal(meta[b'due'], 1893456000009)
    equal(one.client(3).call('LAWN.GET', 'timers', 'never', 'META')[b'due'],
          2**53)


def url(one):
    return f'redis://127.0.0.1:{one.port}'


def python(example, *words, code=0):
    """Returns the output of an example."""
    done = subprocess.run(
        [PYTHON, str(EXAMPLES / example), *map(str, words)], text=True,
        capture_output=True, timeout=server.PATIENCE, check=False)
    equal(done.returncode, code, done.stdout + done.stderr)
    return done.stdout + done.stderr


@case
def nothing_is_moved_onto_itself():
    need(os.path.isdir('/usr/lib/python3/dist-packages/redis'), 'python3-redis')
    one = shared()
    for key in ('timers', 'timers:{0}'):
        for i in range(5):
            one.call('LAWN.PUSH', key, i, 'p', 'DELAY', server.FAR)
    for words in (('timers', url(one), 'timers'),
                  ('timers:{0}', url(one) + '/0', 'timers:{}', 2)):
        text = python('move.py', url(one), *words, code=1)
        assert 'is both source and target' in text, text
        equal(one.call('LAWN.LEN', words[0]), 5)
    equal(one.call('EXISTS', 'timers:{1}'), 0)
    # In another database it is another key.
    equal(python('move.py', url(one), 'timers', url(one) + '/1', 'timers'),
          '5 moved, 0 left\n')


@case
def an_event_that_is_changed_while_it_is_moved_is_not_lost():
    need(os.path.isdir('/usr/lib/python3/dist-packages/redis'), 'python3-redis')
    one = shared()
    moves = load('move')
    here, there = moves.Place(url(one)), moves.Place(url(one))
    plain = there.lawn
    for change, left in (
            (('LAWN.PUSH', 'old', 'id', 'newer', 'DELAY', server.FAR), 1),
            (('LAWN.LEASE', 'old', 'worker'), 1),
            (('LAWN.TOUCH', 'old', 'id', 'DELAY', server.FAR), 1),
            (('LAWN.CANCEL', 'old', 'id'), 0)):
        one.call('LAWN.PUSH', 'old', 'id', 'p', 'DELAY', 0)

        def lawn(*words):
            if words[0] == 'LAWN.PUSH':
                one.call(*change)
            return plain(*words)
        there.lawn = lawn
        why = moves.move(here, 'old', there, 'new', b'id')
        equal(bool(why), bool(left), change)
        equal([one.call('LAWN.LEN', 'old'), one.call('EXISTS', 'new')],
              [left, 0], change)
        one.call('DEL', 'old')


@case
def overdue_events_are_moved_once_and_repeating_ones_keep_their_times():
    need(os.path.isdir('/usr/lib/python3/dist-packages/redis'), 'python3-redis')
    one = shared()
    one.call('LAWN.PUSH', 'old', 'often', 'p', 'DELAY', 0, 'EVERY', 3600000)
    one.call('LAWN.PUSH', 'old', 'other', 'p', 'DELAY', 0)
    one.call('LAWN.PUSH', 'new', 'other', 'p', 'DELAY', server.FAR)
    one.call('LAWN.PUSH', 'old', 'twice', 'p', 'DELAY', 0)
    before = one.client(3).call('LAWN.GET', 'old', 'twice', 'META')[b'due']
    wait_until(lambda: server.now_ms() > before, 'a millisecond')
    # As left by a run that ended between the two steps.
    one.call('LAWN.PUSH', 'new', 'twice', 'p', 'AT', before)
    text = python('move.py', url(one), 'old', url(one), 'new')
    equal(sorted(text.splitlines()), [
        '1 moved, 2 left',
        'often: due, and its later periods would change',
        'other: new has another event with this id'])
    equal([one.call('LAWN.GET', 'old', 'twice'),
           one.call('LAWN.GET', 'new', 'twice')], [None, 'p'])
    equal(one.call('LAWN.LEN', 'new'), 2)


@case
def a_repeating_event_that_becomes_due_while_it_is_moved_keeps_its_times():
    need(os.path.isdir('/usr/lib/python3/dist-packages/redis'), 'python3-redis')
    one = shared()
    moves = load('move')
    here, there = moves.Place(url(one)), moves.Place(url(one))
    plain = there.lawn
    one.call('LAWN.PUSH', 'old', 'id', 'p', 'DELAY', 100, 'EVERY', 3600000)
    due = here.event('old', 'id')[b'due']

    def lawn(*words):
        if words[0] == 'LAWN.PUSH':
            wait_until(lambda: server.now_ms() > due, 'it is due')
        return plain(*words)
    there.lawn = lawn
    equal(moves.move(here, 'old', there, 'new', b'id'),
          'due, and its later periods would change')
    equal(here.event('old', 'id')[b'due'], due)
    equal(one.call('EXISTS', 'new'), 0)


@case
def events_move_to_partitions_with_all_they_have():
    need(os.path.isdir('/usr/lib/python3/dist-packages/redis'), 'python3-redis')
    one = shared()
    due = 1893456000000
    one.call('LAWN.PUSH', 'timers', 'plain', b'\0\xff', 'AT', due)
    one.call('LAWN.PUSH', 'timers', 'often', 'p', 'AT', due + 1, 'EVERY', 60,
             'TIMES', 3, 'TRIES', 4)
    one.call('LAWN.PUSH', 'timers', 'there', 'older', 'AT', due)
    one.call('LAWN.PUSH', 'timers', 'leased', 'p', 'DELAY', 0)
    one.call('LAWN.LEASE', 'timers', 'me')
    for i in range(300):
        one.call('LAWN.PUSH', 'timers', i, f'payload {i}', 'AT', due + i)

    def place(id_):
        return 'new:{%d}' % one.call('LAWN.PARTITION', id_, 5)
    one.call('LAWN.PUSH', place('there'), 'there', 'newer', 'AT', due + 9)
    one.call('LAWN.PUSH', place('17'), '17', 'payload 17', 'AT', due + 17)
    text = python('move.py', url(one), 'timers', url(one), 'new:{}', 5)
    assert text.endswith('302 moved, 2 left\n'), text
    assert 'leased: leased\n' in text, text
    assert f'there: {place("there")} has another event with this id\n' in text, text
    equal(one.call('LAWN.LEN', 'timers'), 2)
    equal(one.call('LAWN.GET', 'timers', 'there'), 'older')

    def meta(id_, *names):
        told = one.client(3).call('LAWN.GET', place(id_), id_, 'META')
        return [told[name] for name in names]
    equal(meta('plain', b'payload', b'due'), [b'\0\xff', due])
    equal(meta('often', b'due', b'period', b'times', b'max-tries'),
          [due + 1, 60, 3, 4])
    equal(meta('there', b'payload', b'due'), ['newer', due + 9])
    for i in range(300):
        equal(meta(i, b'payload', b'due'), [f'payload {i}', due + i])


def give_users(cluster):
    """Creates the users of the page on access rules, on all nodes."""
    page = (EXAMPLES / '../../docs/MODULE-OPERATIONS.md').read_text()
    rules = re.findall(r'^> (ACL SETUSER .*)$', page, re.M)
    equal(len({rule.split()[2] for rule in rules}), 5)
    for node in cluster.nodes:
        for rule in rules:
            equal(node.call(*rule.split()), resp.OK)


@case
def a_queue_is_spread_over_a_cluster_and_worked_on_there():
    need(os.path.isdir('/usr/lib/python3/dist-packages/redis'), 'python3-redis')
    source = shared()
    for i in range(200):
        source.call('LAWN.PUSH', 'timers', i, 'p', 'DELAY', 0)
    cluster = nodes.Cluster()
    worker = None
    try:
        cluster.wait_whole()
        give_users(cluster)
        place = f'127.0.0.1:{cluster.nodes[0].port}'
        equal(python('move.py', url(source), 'timers', f'redis://{place}',
                     'timers:{}', 16), '200 moved, 0 left\n')
        full = [node for node in cluster.masters()
                if int(node.lawn()['timers'])]
        equal(len(full), 3)
        # A move that has timers:{3} as its source and among its targets is
        # rejected, although the two URLs name different nodes.
        text = python('move.py', f'redis://{place}', 'timers:{3}',
                      url(cluster.nodes[1]), 'timers:{}', 32, code=1)
        assert 'is both source and target' in text, text
        worker = Worker(PYTHON, EXAMPLES / 'cluster.py',
                        f'redis://consumer:secret2@{place}', 16, 'work')
        wait_until(lambda: len(worker.text.splitlines()) >= 200,
                   'all is worked on')
        equal(sorted(map(int, re.findall(r'^(\d+) p$', worker.text, re.M))),
              list(range(200)))
        wait_until(lambda: not any(int(node.lawn()['timers']) for node in
                                   cluster.nodes), 'all is acknowledged')
        master = cluster.owner(nodes.slot('timers:{3}'))
        # Without a vote: if it is not granted in time, on a busy machine, it
        # would be requested again much later.
        equal(cluster.replica_of(master).call('CLUSTER', 'FAILOVER',
                                              'TAKEOVER'), resp.OK)
        wait_until(lambda: cluster.owner(nodes.slot('timers:{3}'))
                   not in (None, master), 'another has the slot')
        cluster.wait_whole()
        equal(python('cluster.py', f'redis://producer:secret1@{place}', 16,
                     'push', 'order:17', 'after all'), '1\n')
        worker.expect_output('order:17 after all\n')
    finally:
        if worker:
            worker.kill()
        cluster.end()


@case
def the_job_queue_runs_in_a_cluster_by_any_of_its_nodes():
    with Jobs() as jobs:
        cluster = nodes.Cluster()
        try:
            cluster.wait_whole()
            owner = cluster.owner(nodes.slot(KEY))
            jobs.one = next(node for node in cluster.masters()
                            if node is not owner)
            worker = jobs.worker()
            jobs.add('--id', 'good', 'charge', 'ana', '5')
            jobs.add('--id', 'bad', '--tries', 1, 'charge', 'ana', 'much')
            worker.expect_output(' good: done at try 1')
            worker.expect_output(' bad: try 1 failed')
            wait_until(lambda: 'much' in jobs.call('dead'), 'it is dead')
            jobs.call('dead', '--retry')
            wait_until(lambda: worker.text.count(' bad: try 1 failed') == 2,
                       'it is tried again')
            assert jobs.charges() == [('ana', 5, 'good')], jobs.charges()
            worker.stop()
        finally:
            cluster.end()


@case
def clients_choose_the_partition_that_the_server_would():
    one = shared()
    need(shutil.which('node'), 'nodejs')
    choice = random.Random(9)
    ids = ['', '0', 'order:17', '{tag}id', 'grün', '\u20ac' * 9]
    ids += [''.join(chr(choice.randrange(33, 0x24f))
                    for _ in range(choice.randrange(1, 40)))
            for _ in range(200)]
    for count in (1, 3, 16, 1000, 16384):
        told = [one.call('LAWN.PARTITION', id, count) for id in ids]
        for program in (['node', 'partition.js'], [PYTHON, 'partition.py']):
            done = subprocess.run(
                [program[0], str(EXAMPLES / program[1]), str(count), *ids],
                text=True, capture_output=True, timeout=server.PATIENCE,
                check=True)
            equal(list(map(int, done.stdout.split())), told, program[1])


if __name__ == '__main__':
    server.main(__doc__)
