#!/usr/bin/env python3
"""live.py [PART OF A NAME] - the filters of lawn(1) as live processes.

Pipes, signals, full disks, state files, on the real clock. LAWN names the tool,
by default build/lawn. A case is a function whose name is a sentence; it gets an
empty folder. No case sleeps until something should have happened: each waits until it
has, for at most PATIENCE seconds. To check that a line is not early, a case reads the
clock before it sends the line and after it receives it. [F5] is a guarantee of
lawn-filters(1). Ends with "N passed, N failed".
"""

import contextlib
import fcntl
import os
import pathlib
import random
import re
import resource
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'snapshot'))
import snapshot  # noqa: E402 pylint: disable=wrong-import-position

LAWN = os.path.abspath(os.environ.get('LAWN', HERE / '../../build/lawn'))
PATIENCE = 120
SECOND = 10**9
CASES = []


class Skip(Exception):
    """Why a case is skipped."""


def case(function):
    CASES.append(function)
    return function


def now():
    """The time on the clock that lawn uses."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def wait_until(condition, what):
    """Waits until the condition holds, by polling."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, 'never: ' + what
        time.sleep(0.0005)


def equal(got, expected):
    assert got == expected, f'got {got!r}, expected {expected!r}'


def unread(fd):
    """The number of bytes in a pipe."""
    return struct.unpack('i', fcntl.ioctl(fd, termios.FIONREAD, b'\0' * 4))[0]


def numbered(first, end):
    return [f'{i:08} line' for i in range(first, end)]


def text(lines):
    return ''.join(line + '\n' for line in lines).encode()


class Lawn:
    """A filter with pipes as input and output, or the given descriptors."""

    def __init__(self, *args, stdin=None, stdout=None, ignore=(), room=None,
                 close=(), prefix=(), limit=None, memory=None, **more):
        self.stdin = self.stdout = None
        self.buffer = b''
        mine = []
        if stdin is None:
            stdin, self.stdin = os.pipe()
            mine.append(stdin)
        if stdout is None:
            self.stdout, stdout = os.pipe()
            mine.append(stdout)
            if room is not None:
                fcntl.fcntl(stdout, 1031, room)  # F_SETPIPE_SZ

        def prepare():
            for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN if number in ignore
                              else signal.SIG_DFL)
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            if memory is not None:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
            for fd in close:
                os.close(fd)

        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [*prefix, LAWN, *map(str, args)], stdin=stdin, stdout=stdout,
            stderr=self.errors, preexec_fn=prepare, **more)
        for fd in mine:
            os.close(fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.close()
        self.shut()
        self.errors.close()

    def send(self, data):
        """Writes to its input. Returns the time just before that."""
        if isinstance(data, str):
            data = data.encode()
        before = now()
        view = memoryview(data)
        while view:
            view = view[os.write(self.stdin, view):]
        return before

    def close(self):
        """Closes its input."""
        if self.stdin is not None:
            os.close(self.stdin)
            self.stdin = None

    def shut(self):
        """Closes the reading end of its output."""
        if self.stdout is not None:
            os.close(self.stdout)
            self.stdout = None

    def proc(self, name):
        with open(f'/proc/{self.process.pid}/{name}', encoding='ascii') as file:
            return file.read()

    def catches(self, number):
        mask = re.search(r'SigCgt:\s*(\w+)', self.proc('status'))[1]
        return int(mask, 16) >> (number - 1) & 1 == 1

    def state_is(self, letter):
        return self.proc('stat').rsplit(')', 1)[1].split()[0] == letter

    def ready(self):
        """Waits until it catches signals."""
        wait_until(lambda: self.catches(signal.SIGTERM) or
                   self.catches(signal.SIGINT), 'it catches signals')

    def settle(self):
        """Waits until it has read all input and waits for more."""
        self.ready()
        if self.stdin is not None:
            wait_until(lambda: unread(self.stdin) == 0, 'it reads')
        wait_until(lambda: self.state_is('S'), 'it waits')

    def fills(self):
        """Waits until it blocks on its full output."""
        self.ready()
        size = fcntl.fcntl(self.stdout, 1032)  # F_GETPIPE_SZ
        wait_until(lambda: unread(self.stdout) > size - 4096 and
                   self.state_is('S'), 'the pipe is full')

    def silent(self):
        return not self.buffer and \
            not select.select([self.stdout], [], [], 0)[0]

    def line(self):
        """The next line, and the time when it was seen."""
        end = time.monotonic() + PATIENCE
        while b'\n' not in self.buffer:
            left = max(0, end - time.monotonic())
            assert select.select([self.stdout], [], [], left)[0], 'no line came'
            got = os.read(self.stdout, 65536)
            assert got, f'no line, but the end, after {self.buffer!r}'
            self.buffer += got
        line, self.buffer = self.buffer.split(b'\n', 1)
        return line.decode(), now()

    def rest(self):
        """All output until it ends."""
        while self.stdout is not None:
            assert select.select([self.stdout], [], [], PATIENCE)[0], 'no end'
            got = os.read(self.stdout, 1 << 20)
            if not got:
                break
            self.buffer += got
        rest, self.buffer = self.buffer, b''
        return rest

    def lines(self):
        """The same, as whole lines."""
        rest = self.rest().decode()
        assert not rest or rest.endswith('\n'), f'a partial line: {rest[-50:]}'
        return rest.splitlines()

    def kill(self, number):
        self.process.send_signal(number)

    def exit(self, expected):
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError('it does not end') from None
        assert code == expected, \
            f'exit {code}, expected {expected}; stderr: {self.messages()!r}'

    def messages(self):
        """The messages so far; does not move the filter's position in the file."""
        return os.pread(self.errors.fileno(), 1 << 24, 0).decode()

    def stats(self):
        """Its counts, checked for consistency."""
        found = re.findall(r'^lawn \w+: (in=.*)$', self.messages(), re.M)
        assert found, f'no counts: {self.messages()!r}'
        counts = {name: int(number) for name, number
                  in (word.split('=') for word in found[-1].split())}
        equal(counts['in'],
              counts['out'] + counts['dropped'] + counts['held'])
        equal(counts['dropped'], counts['merged'] + counts['refused'] +
              counts['bad'] + counts['discarded'])
        return counts


def writer_of(path):
    """A named pipe, once it has a reader."""
    end = None

    def opened():
        nonlocal end
        with contextlib.suppress(OSError):
            end = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        return end is not None

    wait_until(opened, f'{path} is read')
    os.set_blocking(end, True)
    return open(end, 'wb', buffering=0)


def run(*args, feed=b'', code=0):
    """Runs lawn to its end; returns its lines and its messages."""
    done = subprocess.run([LAWN, *map(str, args)], input=feed, check=False,
                          capture_output=True, timeout=PATIENCE)
    assert done.returncode == code, \
        f'{args}: exit {done.returncode}, expected {code}; stderr: ' \
        f'{done.stderr.decode()!r}'
    return done.stdout.decode().splitlines(), done.stderr.decode()


def not_early(seen, sent, ttl_ns):
    assert seen >= sent + ttl_ns, \
        f'{(sent + ttl_ns - seen) / 1e6} ms early'


# ON THE WALL CLOCK


@case
def delay_writes_a_line_when_it_is_due_and_the_input_idle(_):
    """[F1 F2]"""
    with Lawn('delay', '150ms') as lawn:
        for word in ('a', 'b'):
            sent = lawn.send(word + '\n')
            line, seen = lawn.line()
            equal(line, word)
            not_early(seen, sent, 150_000_000)
        sent = [lawn.send(f'{i}\n') for i in range(20)]
        for i in range(20):
            line, seen = lawn.line()
            equal(line, str(i))
            not_early(seen, sent[i], 150_000_000)
        lawn.send('at the end')  # without a newline, and drained
        lawn.close()
        equal(lawn.lines(), ['at the end'])
        lawn.exit(0)


@case
def delay_takes_the_time_from_each_line(_):
    """[F1 F2]"""
    with Lawn('delay', '--ttl-field', '.ms', '--ttl-unit', 'ms') as lawn:
        sent = lawn.send('{"ms":250}\n{"ms":50}\n{"ms":0}\n')
        for ms in (0, 50, 250):
            line, seen = lawn.line()
            equal(line, f'{{"ms":{ms}}}')
            not_early(seen, sent, ms * 1_000_000)


@case
def debounce_writes_the_last_of_a_burst_when_it_is_quiet(_):
    """[F1 F11]"""
    with Lawn('debounce', '120ms', '-k', 1) as lawn:
        sent = lawn.send(''.join(f'a {i}\n' for i in range(30)) + 'b 1\n')
        seen = dict(lawn.line() for _ in range(2))
        equal(sorted(seen), ['a 29', 'b 1'])
        for when in seen.values():
            not_early(when, sent, 120_000_000)
        assert lawn.silent()
        lawn.close()
        lawn.exit(0)


@case
def debounce_ends_a_burst_after_max_wait(_):
    """[F1]"""
    with Lawn('debounce', '30s', '--max-wait', '150ms', '--emit', 'first') as \
            lawn:
        sent = lawn.send('a\n')
        for i in range(100):
            lawn.send(f'{i}\n')
        line, seen = lawn.line()
        equal(line, 'a')
        not_early(seen, sent, 150_000_000)


@case
def throttle_gives_each_line_its_token(_):
    """[F1 F9]"""
    with Lawn('throttle', '20/s', '--burst', 2, '-k', 1) as lawn:
        sent = lawn.send(''.join(f'a {i}\n' for i in range(8)) + 'b 0\n')
        seen = [lawn.line() for _ in range(9)]
        equal([line for line, _ in seen if line[0] == 'a'],
              [f'a {i}' for i in range(8)])
        assert 'b 0' in (line for line, _ in seen[:3])
        late = [time for line, time in seen if line[0] == 'a']
        for i in range(8):
            not_early(late[i], sent, max(0, i - 1) * 50_000_000)


@case
def dedupe_lets_a_key_through_again_after_its_window(_):
    """[F1]"""
    with Lawn('dedupe', '200ms') as lawn:
        first = lawn.send('a\n' * 50)  # in one block: at one time
        equal(lawn.line()[0], 'a')
        while lawn.silent():
            lawn.send('a\n')
            lawn.settle()
        not_early(lawn.line()[1], first, 200_000_000)
        lawn.close()
        lawn.exit(0)


@case
def absent_reports_when_a_key_falls_silent_and_when_it_is_back(folder):
    """[F1 F10]"""
    (folder / 'expected').write_text('never\n')
    with Lawn('absent', '150ms', '-k', 1, '--expect', folder / 'expected',
              '--stats') as lawn:
        sent = lawn.send('a 1\n')
        seen = {}
        for _ in range(2):
            line, when = lawn.line()
            event, key, last, silent = line.split('\t')
            equal(event, 'absent')
            assert silent.startswith('0.15'), line
            seen[key] = when
            equal(last == 'never', key == 'never')
        not_early(seen['a'], sent, 150_000_000)
        assert 'never' in seen
        lawn.send('a 2\n')
        assert lawn.line()[0].startswith('back\ta\t')
        lawn.close()
        equal([line.split('\t')[:2] for line in lawn.lines()],
              [['absent', 'a']])
        lawn.exit(0)
        equal(lawn.stats()['merged'], 2)


@case
def absent_reports_again_and_exits_when_asked_to(_):
    """[F1 F10]"""
    with Lawn('absent', '60ms', '--repeat') as lawn:
        sent = lawn.send('a\n')
        for i in range(1, 5):
            not_early(lawn.line()[1], sent, i * 60_000_000)
    with Lawn('absent', '60ms', '--exit-on-absent') as lawn:
        sent = lawn.send('a\n')
        line, seen = lawn.line()
        assert line.startswith('absent\t\t20'), line
        not_early(seen, sent, 60_000_000)
        lawn.exit(1)


@case
def session_sums_up_after_its_gap(_):
    """[F1 F11]"""
    with Lawn('session', '120ms', '-k', 1) as lawn:
        sent = lawn.send('a 1\na 2\nb 1\na 3\n')
        keys = {}
        for _ in range(2):
            line, seen = lawn.line()
            key, events, *_, end = line.split('\t')
            equal(end, 'gap')
            keys[key] = int(events)
            not_early(seen, sent, 120_000_000)
        equal(keys, {'a': 3, 'b': 1})


@case
def join_pairs_at_once_and_gives_up_in_time(folder):
    """[F1 F12]"""
    os.mkfifo(folder / 'right')
    with Lawn('join', '1h', '-k', 1, '-', folder / 'right') as lawn, \
            writer_of(folder / 'right') as right:
        lawn.send('k left\n')
        lawn.settle()
        right.write(b'k right\n')
        equal(lawn.line()[0], 'both\tk left\tk right')
    os.unlink(folder / 'right')
    os.mkfifo(folder / 'right')
    with Lawn('join', '150ms', '-k', 1, '-', folder / 'right', '--stats') as \
            lawn, writer_of(folder / 'right') as right:
        sent = lawn.send('x left\n')
        line, seen = lawn.line()
        equal(line, 'left\tx left')
        not_early(seen, sent, 150_000_000)
        sent = now()
        right.write(b'y right\n')
        line, seen = lawn.line()
        equal(line, 'right\ty right')
        not_early(seen, sent, 150_000_000)
        lawn.close()
        right.close()
        lawn.exit(0)
        counts = lawn.stats()
        equal((counts['out'], counts['made']), (2, 2))


@case
def a_due_line_is_seen_while_input_keeps_coming_fast(_):
    for verb in (('debounce', '150ms', '-k', 1), ('session', '150ms', '-k', 1),
                 ('absent', '150ms', '-k', 1)):
        with Lawn(*verb) as lawn:
            sent = lawn.send('a 1\n')
            block = b'b and much more\n' * 4000
            seen = threading.Event()

            def flood():
                with contextlib.suppress(BrokenPipeError):
                    while not seen.is_set():
                        lawn.send(block)

            writer = threading.Thread(target=flood)
            writer.start()
            try:
                line, when = lawn.line()
            finally:
                seen.set()
                writer.join()
            assert 'a' in line.split('\t')[:2] or line == 'a 1', line
            not_early(when, sent, 150_000_000)
            assert when < sent + PATIENCE * SECOND, 'only after the flood'


@case
def a_due_line_is_seen_while_a_file_is_read(folder):
    with open(folder / 'large', 'wb') as file:
        for _ in range(100):
            file.write(b'b\n' * 500_000)
    (folder / 'small').write_text('a\n')

    def in_time():
        """Returns whether less than half of the file had been read when the line was
        received. A busy machine may delay the receipt, so there are several tries."""
        with Lawn('debounce', '1ms', folder / 'small', folder / 'large', '-k',
                  1) as lawn:
            equal(lawn.line()[0], 'a')
            found = re.search(r'rchar: (\d+)', lawn.proc('io'))
            return int(found[1]) < 50_000_000
    wait_until(in_time, 'it is seen before the file is read')


@case
def bytes_that_dribble_in_are_lines_when_they_end(_):
    """[F8]"""
    with Lawn('delay', '20ms') as lawn:
        for word in ('a', 'longer', ''):
            for byte in word:
                lawn.send(byte)
                lawn.settle()
                assert lawn.silent()
            sent = lawn.send('\n')
            line, seen = lawn.line()
            equal(line, word)
            not_early(seen, sent, 20_000_000)
        lawn.send('half')
        lawn.settle()
        lawn.close()
        equal(lawn.lines(), ['half'])
        lawn.exit(0)


@case
def in_event_time_pieces_of_the_input_are_no_matter(folder):
    """[F6]"""
    random.seed(3)
    at = 0
    feed = ''
    for i in range(300):
        at += random.randrange(3)
        feed += f'k{random.randrange(5)} {at - random.randrange(4)}.5 {i}\n'
    feed = feed.replace('-', '').encode()
    (folder / 'in').write_bytes(feed)
    (folder / 'left').write_bytes(text(f'k{i % 5} {3 * i} left'
                                       for i in range(100)))
    for args in (('delay', '5s'), ('debounce', '2s', '-k', 1),
                 ('throttle', '1/3s', '-k', 1), ('dedupe', '4s', '-k', 1),
                 ('absent', '5s', '-k', 1), ('session', '2s', '-k', 1),
                 ('debounce', '2s', '-k', 1, '--lateness', '2s'),
                 ('join', '5s', '-k', 1)):
        other = [folder / 'left'] if args[0] == 'join' else []
        args += ('--time-field', 2, '--stats', *other)
        whole, said = run(*args, folder / 'in')
        assert len(whole) > 20, args
        with Lawn(*args, '-') as lawn:
            left = feed
            while left:
                size = random.choice((1, 2, 7, 100, 1000))
                lawn.send(left[:size])
                if random.random() < 0.5:
                    lawn.settle()
                left = left[size:]
            lawn.close()
            equal(lawn.lines(), whole)
            lawn.exit(0)
            equal(lawn.messages(), said)


@case
def two_pipes_by_name_may_be_opened_in_any_order(folder):
    for order in (('left', 'right'), ('right', 'left')):
        for extra in ((), ('--time-field', 2)):
            for side in order:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(folder / side)
                os.mkfifo(folder / side)
            with Lawn('join', '30s', '-k', 1, folder / 'left', folder / 'right',
                      *extra) as lawn:
                for side in order:  # the first is closed before the second
                    with writer_of(folder / side) as file:
                        file.write(b'k 1 ' + side.encode() + b'\n')
                equal(lawn.lines(), ['both\tk 1 left\tk 1 right'])
                lawn.exit(0)


@case
def writers_of_two_pipes_may_be_there_first(folder):
    for side in ('left', 'right'):
        os.mkfifo(folder / side)

    def feed(side):
        with open(folder / side, 'wb') as file:
            file.write(b'k ' + side.encode() + b'\n')

    writers = [threading.Thread(target=feed, args=(side,), daemon=True)
               for side in ('right', 'left')]
    for writer in writers:
        writer.start()
    with Lawn('join', '30s', '-k', 1, folder / 'left', folder / 'right') as lawn:
        equal(lawn.lines(), ['both\tk left\tk right'])
        lawn.exit(0)
    for writer in writers:
        writer.join()


# DESCRIPTORS


@case
def an_output_that_does_not_wait_gets_every_line(_):
    """[F4]"""
    lines = numbered(0, 60_000)
    inner, outer = os.pipe()
    os.set_blocking(outer, False)
    fcntl.fcntl(outer, 1031, 4096)
    with Lawn('delay', 0, stdout=outer) as lawn:
        os.close(outer)
        lawn.stdout = inner
        writer = threading.Thread(
            target=lambda: (lawn.send(text(lines)), lawn.close()))
        writer.start()
        lawn.fills()
        equal(lawn.lines(), lines)
        writer.join()
        lawn.exit(0)


@case
def an_input_that_does_not_wait_is_waited_for(_):
    inner, outer = os.pipe()
    os.set_blocking(inner, False)
    with Lawn('delay', 0, stdin=inner) as lawn:
        os.close(inner)
        lawn.stdin = outer
        for i in range(5):
            lawn.send(f'{i}\n')
            equal(lawn.line()[0], str(i))
            lawn.settle()
        lawn.close()
        lawn.exit(0)


@case
def a_closed_input_is_reported(_):
    for verb in ('delay', 'debounce', 'dedupe', 'absent', 'session'):
        with Lawn(verb, '1s', stdin=subprocess.DEVNULL, close=[0]) as lawn:
            lawn.exit(3)
            equal(lawn.messages(), f'lawn {verb}: cannot read standard input: '
                               'Bad file descriptor\n')


@case
def a_closed_output_is_reported(folder):
    for extra in ((), ('--state', folder / 's')):
        with Lawn('delay', 0, *extra, stdout=subprocess.DEVNULL,
                  close=[1]) as lawn:
            lawn.send('a\n')
            lawn.exit(4)
            assert lawn.messages().startswith('lawn delay: cannot write the output:'
                                          ' Bad file descriptor\n'), lawn.messages()
    equal(run('delay', 0, '--state', folder / 's')[0], ['a'])


@case
def a_closed_input_is_ignored_if_it_is_not_read(folder):
    (folder / 'in').write_text('a\nb\n')
    for close in ([0], [2], [0, 2]):
        with Lawn('delay', 0, folder / 'in', '--state', folder / 's',
                  close=close) as lawn:
            equal(lawn.lines(), ['a', 'b'])
            lawn.exit(0)


@case
def a_folder_and_a_missing_file_are_reported(folder):
    for path, why in ((folder, 'Is a directory'),
                      (folder / 'none', 'No such file or directory')):
        said = run('delay', 0, path, code=3)[1]
        equal(said, f'lawn delay: cannot read {path}: {why}\n')


# SIGNALS


CODES = ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129))


@case
def a_signal_ends_it_and_held_lines_are_reported(_):
    """[F4]"""
    for number, code in CODES:
        with Lawn('delay', '--ttl-field', 1, '--stats') as lawn:
            lawn.send('0 at once\n3600 a\n3600 b\nhalf of a line')
            lawn.settle()
            lawn.kill(number)
            equal(lawn.lines(), ['0 at once'])
            lawn.exit(code)
            assert lawn.messages().startswith(
                'lawn delay: interrupted: 2 held lines dropped; '
                'a run with --state FILE would keep them\n'
                'lawn delay: interrupted: 1 line read but not processed\n'), \
                lawn.messages()
            counts = lawn.stats()
            equal((counts['out'], counts['discarded']), (1, 3))


@case
def a_signal_reports_open_sessions_and_bursts(_):
    """[F4]"""
    for args, what in ((('session', '1h', '-k', 1), '2 open sessions dropped'),
                       (('debounce', '1h', '-k', 1, '--emit', 'count'),
                        '2 open bursts dropped'),
                       (('debounce', '1h', '-k', 1), '2 held lines dropped'),
                       (('debounce', '1h', '-k', 1, '--emit', 'all'),
                        '3 held lines dropped'),
                       (('throttle', '1/1h'), '2 held lines dropped')):
        with Lawn(*args, '--stats') as lawn:
            lawn.send('a 1\na 2\nb 1\n')
            lawn.settle()
            lawn.kill(signal.SIGTERM)
            lawn.rest()
            lawn.exit(143)
            assert f'interrupted: {what}; ' in lawn.messages(), lawn.messages()
            lawn.stats()
    for verb in ('dedupe', 'absent'):
        with Lawn(verb, '1h') as lawn:
            lawn.send('a 1\n')
            lawn.settle()
            lawn.kill(signal.SIGTERM)
            lawn.rest()
            lawn.exit(143)
            equal(lawn.messages(), '')


@case
def lines_due_at_a_signal_are_written_first(_):
    with Lawn('delay', '--ttl-field', 1) as lawn:
        sent = lawn.send('0.05 due\n3600 held\n')
        lawn.settle()
        lawn.kill(signal.SIGSTOP)
        wait_until(lambda: lawn.state_is('T'), 'it stops')
        wait_until(lambda: now() > sent + 2 * SECOND / 10, 'it is due')
        lawn.kill(signal.SIGTERM)
        lawn.kill(signal.SIGCONT)
        equal(lawn.lines(), ['0.05 due'])
        lawn.exit(143)
        assert '1 held line dropped' in lawn.messages()


@case
def a_signal_ends_the_drain_as_well(folder):
    (folder / 'in').write_text('a\nb\n')
    with Lawn('delay', '1h', folder / 'in') as lawn:
        lawn.settle()
        lawn.kill(signal.SIGINT)
        equal(lawn.lines(), [])
        lawn.exit(130)
        assert '2 held lines dropped' in lawn.messages()


@case
def a_signal_ends_it_while_its_output_is_not_read(_):
    """[F4]"""
    with contextlib.ExitStack() as stack:
        all_of_them = []
        for number, code in CODES:
            for blocking in (True, False):
                inner, outer = os.pipe()
                os.set_blocking(outer, blocking)
                fcntl.fcntl(outer, 1031, 4096)
                lawn = stack.enter_context(Lawn('delay', 0, '--stats',
                                                stdout=outer))
                os.close(outer)
                lawn.stdout = inner
                lawn.send(text(numbered(0, 1000)))
                lawn.fills()
                all_of_them.append((lawn, number, code))
        for lawn, number, _ in all_of_them:
            lawn.kill(number)
        began = time.monotonic()
        for lawn, _, code in all_of_them:
            lawn.exit(code)
            assert time.monotonic() - began < PATIENCE
            counts = lawn.stats()
            equal(counts['in'], 1000)
            equal(counts['held'], 0)
            whole = lawn.rest().decode().rpartition('\n')[0].splitlines()
            equal(whole, numbered(0, counts['out']))
            assert f'{counts["discarded"]} held lines dropped' in lawn.messages()


@case
def a_second_signal_ends_it_at_once(_):
    for first, _ in CODES:
        with Lawn('delay', 0, room=4096) as lawn:
            lawn.send(text(numbered(0, 1000)))
            lawn.fills()
            lawn.kill(first)
            wait_until(lambda: not lawn.catches(signal.SIGTERM),
                       'the first has come')
            lawn.kill(signal.SIGTERM)
            lawn.exit(-signal.SIGTERM)  # by the signal itself: nothing held it up


@case
def a_second_hangup_is_ignored(folder):
    """[F5] A terminal that is closed may send two signals."""
    args = ('delay', 0, '--state', folder / 's')
    lines = numbered(0, 1000)
    with Lawn(*args, room=4096) as lawn:
        lawn.send(text(lines))
        lawn.fills()
        lawn.kill(signal.SIGHUP)
        wait_until(lambda: not lawn.catches(signal.SIGTERM),
                   'the first has come')
        for _ in range(3):
            lawn.kill(signal.SIGHUP)
        lawn.exit(129)
        seen = lawn.rest().decode().rpartition('\n')[0].splitlines()
    equal(seen + run(*args)[0], lines)


@case
def a_signal_ends_the_wait_for_a_pipe_of_expected_keys(folder):
    os.mkfifo(folder / 'keys')
    with Lawn('absent', '1h', '-k', 1, '--expect', folder / 'keys') as lawn:
        lawn.ready()
        lawn.kill(signal.SIGTERM)
        code = lawn.process.wait(PATIENCE)
        assert code in (143, -signal.SIGTERM, 3), code


@case
def a_signal_that_was_ignored_stays_so(_):
    for ignored in (signal.SIGINT, signal.SIGHUP):
        with Lawn('delay', 0, ignore=[ignored]) as lawn:
            lawn.send('a\n')
            equal(lawn.line()[0], 'a')
            for _ in range(3):
                lawn.kill(ignored)
            lawn.send('b\n')
            equal(lawn.line()[0], 'b')
            lawn.kill(signal.SIGTERM)
            lawn.exit(143)
            equal(lawn.messages(), '')


@case
def a_suspended_filter_continues_where_it_was(_):
    with Lawn('delay', '100ms') as lawn:
        for _ in range(3):
            sent = lawn.send('a\n')
            lawn.settle()
            lawn.kill(signal.SIGSTOP)
            wait_until(lambda: lawn.state_is('T'), 'it stops')
            lawn.send('while stopped\n')
            again = now()
            lawn.kill(signal.SIGCONT)
            line, seen = lawn.line()
            equal(line, 'a')
            not_early(seen, sent, 100_000_000)
            line, seen = lawn.line()
            equal(line, 'while stopped')
            not_early(seen, again, 100_000_000)
        for _ in range(20):  # each interrupts what waits
            lawn.kill(signal.SIGSTOP)
            lawn.kill(signal.SIGCONT)
        lawn.send('b\n')
        equal(lawn.line()[0], 'b')
        lawn.close()
        lawn.exit(0)


# OUTPUT THAT FAILS


@case
def a_closed_pipe_exits_4_without_a_message(_):
    for verb in (('delay', 0), ('throttle', '10/s'), ('dedupe', '1h')):
        with Lawn(*verb) as lawn:
            lawn.send('a\n')
            equal(lawn.line()[0], 'a')
            lawn.shut()
            lawn.send('b\n')
            lawn.exit(4)
            equal(lawn.messages(), '')


@case
def a_full_disk_exits_4_and_is_reported(_):
    """[F4]"""
    for verb in (('delay', 0), ('delay', '10ms'), ('session', '10ms'),
                 ('absent', '10ms'), ('debounce', '10ms')):
        with open('/dev/full', 'wb') as full, \
                Lawn(*verb, '--stats', stdout=full) as lawn:
            lawn.send('a\n')
            lawn.exit(4)
            assert lawn.messages().startswith(
                f'lawn {verb[0]}: cannot write the output: '
                'No space left on device\n'), lawn.messages()
            equal(lawn.stats()['in'], 1)


FAILING = (  # options, input, expected final output
    (('delay', '5s', '--time-field', 1), '1 a\n2 b\n9 c\n',
     ['1 a', '2 b', '9 c']),
    (('throttle', '1/10s', '--time-field', 1), '1 a\n2 b\n3 c\n',
     ['1 a', '2 b', '3 c']),
    (('dedupe', '60s', '-k', 2, '--time-field', 1), '1 a\n2 b\n3 a\n70 a\n',
     ['1 a', '2 b', '70 a']),
    (('debounce', '5s', '-k', 2, '--time-field', 1), '1 a\n2 b\n3 a\n70 a\n',
     ['2 b', '3 a', '70 a']),
    (('debounce', '5s', '-k', 2, '--time-field', 1, '--emit', 'all'),
     '1 a\n2 b\n3 a\n70 a\n', ['2 b', '1 a', '3 a', '70 a']),
    (('debounce', '5s', '-k', 2, '--time-field', 1, '--emit', 'count'),
     '1 a\n2 b\n3 a\n70 a\n', ['1\t2 b', '2\t3 a', '1\t70 a']),
    (('session', '5s', '-k', 2, '--time-field', 1), '1 a\n2 b\n3 a\n70 a\n',
     ['b\t1\t2\t2\t0\tgap', 'a\t2\t1\t3\t2\tgap', 'a\t1\t70\t70\t0\tgap']),
    (('absent', '5s', '-k', 2, '--time-field', 1), '1 a\n2 b\n70 a\n',
     ['absent\ta\t1\t5', 'absent\tb\t2\t5', 'back\ta\t1\t69',
      'absent\ta\t70\t5']),
)


@case
def lines_that_a_full_disk_refused_are_written_by_the_next_run(folder):
    """[F4 F5]"""
    for i, (args, feed, expected) in enumerate(FAILING):
        state = folder / str(i)
        with open('/dev/full', 'wb') as full, \
                Lawn(*args, '--state', state, '--stats', stdout=full) as lawn:
            lawn.send(feed)
            lawn.close()
            lawn.exit(4)
            assert 'No space left' in lawn.messages(), lawn.messages()
            lawn.stats()
        with Lawn(*args, '--state', state, '--stats',
                  stdin=subprocess.DEVNULL) as lawn:
            equal(lawn.lines(), expected)
            lawn.exit(0)
            lawn.stats()
        equal(run(*args, '--state', state)[0], [])


@case
def a_pair_that_could_not_be_written_is_not_lost(folder):
    """[F5 F12]"""
    (folder / 'left').write_text('k 1\nx 2\nk 3\n')
    (folder / 'right').write_text('k 2\ny 9\n')
    args = ('join', '5s', '-k', 1, '--time-field', 2, '--state', folder / 's',
            '--stats')
    with open('/dev/full', 'wb') as full, \
            Lawn(*args, folder / 'left', folder / 'right', stdout=full) as lawn:
        lawn.exit(4)
        lawn.stats()
    with Lawn(*args, '/dev/null', '/dev/null') as lawn:
        equal(sorted(lawn.lines()), ['both\tk 1\tk 2', 'left\tk 3',
                                     'left\tx 2', 'right\ty 9'])
        lawn.exit(0)
        equal(lawn.stats()['out'], 5)


@case
def much_that_could_not_be_written_is_not_lost(folder):
    """[F4 F5]"""
    lines = numbered(0, 15_000)
    (folder / 'in').write_bytes(text(lines))
    args = ('dedupe', '1h', '--state', folder / 's', '--stats')
    with open('/dev/full', 'wb') as full, \
            Lawn(*args, folder / 'in', stdout=full) as lawn:
        lawn.exit(4)
        equal(lawn.stats()['held'], 15_000)
    with Lawn(*args, stdin=subprocess.DEVNULL) as lawn:
        equal(lawn.lines(), lines)
        lawn.exit(0)
        counts = lawn.stats()
        equal((counts['resumed'], counts['in'], counts['out']),
              (15_000, 15_000, 15_000))


@case
def an_output_over_the_limit_of_its_size_is_reported_and_not_lost(folder):
    """[F5]"""
    lines = numbered(0, 3000)
    (folder / 'in').write_bytes(text(lines))
    args = ('delay', 0, '--state', folder / 's', '--stats')
    with open(folder / 'out', 'wb') as out, \
            Lawn(*args, folder / 'in', stdout=out, limit=30_000) as lawn:
        lawn.exit(4)
        assert 'cannot write the output: File too large' in lawn.messages(), \
            lawn.messages()
        lawn.stats()
    seen = (folder / 'out').read_text().rpartition('\n')[0].splitlines()
    equal(len(seen), 30_000 // 14)
    with Lawn(*args, stdin=subprocess.DEVNULL) as lawn:
        seen += lawn.lines()
        lawn.exit(0)
        lawn.stats()
    equal(seen, lines)


# STATE


def stop_and_resume(folder, number, code, args, feed):
    """The lines of a run that is ended by a signal, and those of the next run."""
    state = folder / 'state'
    with Lawn(*args, '--state', state, '--stats') as lawn:
        lawn.send(feed)
        lawn.settle()
        lawn.kill(number)
        first = lawn.lines()
        lawn.exit(code)
        held = lawn.stats()['held']
        assert 'dropped (' not in lawn.messages(), lawn.messages()
    with Lawn(*args, '--state', state, '--stats', '--on-eof', 'flush',
              stdin=subprocess.DEVNULL) as lawn:
        second = lawn.lines()
        lawn.exit(0)
        equal(lawn.stats()['resumed'], held)
    equal(run(*args, '--state', state, '--on-eof', 'flush')[0], [])
    return first, second


@case
def lines_saved_at_a_signal_are_written_once_by_the_next_run(folder):
    """[F5]"""
    for number, code in CODES:
        first, second = stop_and_resume(
            folder, number, code, ('delay', '--ttl-field', 1),
            '0 a\n3600 b\n1800 c\n3600 d\n0 e\n')
        equal(first, ['0 a', '0 e'])
        equal(second, ['1800 c', '3600 b', '3600 d'])
        os.unlink(folder / 'state')
        equal(stop_and_resume(folder, number, code,
                              ('debounce', '1h', '-k', 1, '--emit', 'all'),
                              'a 1\nb 1\na 2\n'),
              ([], ['b 1', 'a 1', 'a 2']))
        os.unlink(folder / 'state')
        first, second = stop_and_resume(
            folder, number, code, ('throttle', '2/1h'), '1\n2\n3\n4\n')
        equal((first, second), (['1', '2'], ['3', '4']))
        os.unlink(folder / 'state')


@contextlib.contextmanager
def pipe():
    """Both ends of a pipe that several runs read, one after the other."""
    inner, outer = os.pipe()
    try:
        yield inner, outer
    finally:
        for end in (inner, outer):
            with contextlib.suppress(OSError):
                os.close(end)


def stopped_in_a_line(args, inner, outer, feed):
    """Runs until a signal, sent when the input is read; returns the lines."""
    with Lawn(*args, '--stats', stdin=inner) as lawn:
        lawn.stdin = os.dup(outer)
        lawn.send(feed)
        lawn.settle()
        lawn.kill(signal.SIGTERM)
        lines = lawn.lines()
        lawn.exit(143)
        lawn.stats()
        return lines


@case
def a_partial_line_continues_in_the_same_pipe(folder):
    """[F5]"""
    args = ('delay', 0, '--state', folder / 's')
    with pipe() as (inner, outer):
        equal(stopped_in_a_line(args, inner, outer, 'whole\nhal'), ['whole'])
        equal(stopped_in_a_line(args, inner, outer, 'f, and an'),
              [])  # in two parts as well
        with Lawn(*args, '--stats', stdin=inner) as lawn:
            os.write(outer, b'other\nnext\n')
            os.close(outer)
            equal(lawn.lines(), ['half, and another', 'next'])
            lawn.exit(0)
            lawn.stats()


@case
def a_partial_line_is_not_joined_to_another_input(folder):
    """[F4 F8]"""
    (folder / 'in').write_text('f\nnext\n')
    args = ('delay', 0, '--state', folder / 's')
    with pipe() as (inner, outer), open(folder / 'in', 'rb') as file:
        for stdin in (None, file, subprocess.DEVNULL):  # None: another pipe
            equal(stopped_in_a_line(args, inner, outer, 'whole\nhal'),
                  ['whole'])
            with Lawn(*args, '--stats', stdin=stdin) as lawn:
                if stdin is None:
                    lawn.send('f\nnext\n')
                    lawn.close()
                equal(lawn.lines(), [] if stdin == subprocess.DEVNULL
                      else ['f', 'next'])
                lawn.exit(0)
                counts = lawn.stats()
                equal((counts['resumed'], counts['discarded']), (1, 1))
                assert 'dropped an incomplete line from the state: its rest ' \
                    'cannot be read' in lawn.messages(), lawn.messages()
            equal(run(*args)[1], '')  # reported only once


@case
def how_far_a_file_was_read_is_reported_when_it_ends_early(folder):
    """[F4 F5]"""
    lines = numbered(1, 60_001)
    (folder / 'in').write_bytes(text(lines))
    args = ('delay', 0, '--time-field', 1)
    for extra in (('--state', folder / 's'), ()):
        with Lawn(*args, *extra, folder / 'in', room=4096) as lawn:
            lawn.fills()
            lawn.kill(signal.SIGTERM)
            lawn.exit(143)
            found = re.search(r'ended early: (.*) was read up to line (\d+)\n',
                              lawn.messages())
            equal(found is not None, bool(extra))
            if found is None:
                continue
            equal(found[1], str(folder / 'in'))
            seen = lawn.rest().decode().rpartition('\n')[0].splitlines()
            rest = text(lines[int(found[2]):])
            seen += run(*args, *extra, feed=rest)[0]
            # An incomplete line that was read from a file does not count.
            equal(seen, lines)


@case
def a_held_line_keeps_its_time_over_runs(folder):
    """[F1 F5]"""
    args = ('delay', '700ms', '--state', folder / 's')
    with Lawn(*args) as lawn:
        sent = lawn.send('a\n')
        lawn.settle()
        lawn.kill(signal.SIGTERM)
        lawn.exit(143)
    for _ in range(3):
        run(*args, '--on-eof', 'save')
    with Lawn(*args) as lawn:
        line, seen = lawn.line()
        equal(line, 'a')
        not_early(seen, sent, 700_000_000)
        assert seen < sent + PATIENCE * SECOND


@case
def overdue_lines_are_written_at_once_and_in_order(folder):
    """[F2]"""
    args = ('delay', '--ttl-field', 1, '--state', folder / 's')
    feed = '0.03 c\n0.01 a\n0.03 d\n0.02 b\n3600 e\n'
    run(*args, '--on-eof', 'save', feed=feed.encode())
    end = now() + SECOND / 20
    wait_until(lambda: now() > end, 'they are overdue')
    with Lawn(*args) as lawn:  # whose input is idle
        equal([lawn.line()[0] for _ in range(4)],
              ['0.01 a', '0.02 b', '0.03 c', '0.03 d'])
        lawn.settle()
        assert lawn.silent()


@case
def keys_are_known_in_the_next_run(folder):
    """[F5]"""
    args = ('dedupe', '1h', '--state', folder / 'dedupe')
    equal(run(*args, feed=b'a\nb\n')[0], ['a', 'b'])
    equal(run(*args, feed=b'b\nc\na\n')[0], ['c'])
    args = ('session', '10s', '-k', 1, '--time-field', 2, '--state',
            folder / 'session')
    equal(run(*args, '--on-eof', 'save', feed=b'a 1\nb 2\n')[0], [])
    equal(run(*args, feed=b'a 5\n')[0],
          ['b\t1\t2\t2\t0\tgap', 'a\t2\t1\t5\t4\tgap'])
    args = ('absent', '5s', '-k', 1, '--time-field', 2, '--state',
            folder / 'absent')
    equal(run(*args, '--on-eof', 'save', feed=b'a 1\nb 2\nb 8\n')[0],
          ['absent\ta\t1\t5', 'absent\tb\t2\t5', 'back\tb\t2\t6'])
    equal(run(*args, feed=b'a 9\n')[0],
          ['back\ta\t1\t8', 'absent\tb\t8\t5', 'absent\ta\t9\t5'])
    (folder / 'l').write_text('k 1\nx 2\n')
    (folder / 'r').write_text('k 3\n')
    args = ('join', '10s', '-k', 1, '--time-field', 2, '--state',
            folder / 'join')
    equal(run(*args, '--on-eof', 'save', folder / 'l', '/dev/null')[0], [])
    equal(run(*args, '/dev/null', folder / 'r')[0],
          ['both\tk 1\tk 3', 'left\tx 2'])


@case
def lines_that_wait_for_their_time_are_saved(folder):
    """[F5 F7]"""
    args = ('delay', '1s', '--time-field', 1, '--lateness', '10s', '--state',
            folder / 's', '--stats')
    with Lawn(*args) as lawn:
        lawn.send('5 b\n3 a\n')
        lawn.settle()
        lawn.kill(signal.SIGTERM)
        equal(lawn.lines(), [])
        lawn.exit(143)
        equal(lawn.stats()['held'], 2)
    lines, _ = run(*args, feed=b'4 c\n')
    equal(lines, ['3 a', '4 c', '5 b'])


@case
def nothing_is_lost_if_it_is_ended_while_its_output_is_not_read(folder):
    """[F4 F5] Whole lines of the first run's output, then those of the second."""
    feed = text(numbered(1, 3000))
    with contextlib.ExitStack() as stack:
        stopped = []
        for args in (('dedupe', '1h'), ('delay', '1s', '--time-field', 1),
                     ('throttle', '1000000/s', '--time-field', 1),
                     ('dedupe', '1h', '--time-field', 1)):
            args += ('--state', folder / str(len(stopped)), '--stats')
            inner, outer = stack.enter_context(pipe())
            lawn = stack.enter_context(Lawn(*args, room=4096, stdin=inner))
            lawn.stdin = os.dup(outer)
            lawn.send(feed[:30_007])
            lawn.fills()
            lawn.kill(signal.SIGTERM)
            stopped.append((lawn, args, inner, outer))
        for lawn, args, inner, outer in stopped:
            lawn.exit(143)
            lawn.stats()
            lawn.close()
            seen = lawn.rest().decode().rpartition('\n')[0].splitlines()
            with Lawn(*args, stdin=inner) as again:
                again.stdin = os.dup(outer)
                os.close(outer)
                again.send(feed[30_007:])
                again.close()
                seen += again.lines()
                again.exit(0)
                again.stats()
            equal(seen, numbered(1, 3000))


@case
def lines_that_were_read_and_not_taken_do_not_wait_for_more(folder):
    """[F5]"""
    lines = numbered(1, 15_001)  # a block, of which half fills the output
    (folder / 'in').write_bytes(text(lines))
    args = ('throttle', '1000000/s', '--time-field', 1, '--state', folder / 's')
    with Lawn(*args, folder / 'in', room=4096) as lawn:
        lawn.fills()
        lawn.kill(signal.SIGTERM)
        lawn.exit(143)
        seen = lawn.rest().decode().rpartition('\n')[0].splitlines()
    assert values(parts((folder / 's').read_bytes()))[b'rest left']
    with Lawn(*args) as lawn:  # whose input is idle
        while len(seen) < len(lines):
            seen.append(lawn.line()[0])
        equal(seen, lines)


class Killed:
    """A delay that is killed at any moment, and the conditions that must hold then.

    A state saved after a line was read contains that line; a state saved after a line
    was written no longer contains it."""

    def __init__(self, folder):
        self.state = folder / 's'
        self.args = ('delay', '5ms', '--state', self.state, '--state-every',
                     '2ms')
        self.sent = 0       # lines sent
        self.safe = 0       # lines that must not be lost
        self.done = set()   # lines that must not be written again
        self.seen = []

    def saves(self):
        with contextlib.suppress(FileNotFoundError):
            return self.state.stat().st_ino
        return 0

    def step(self, lawn):
        """Sends some lines, waits for a new state, reads some lines."""
        many = random.randrange(1, 50)
        lawn.send(text(numbered(self.sent, self.sent + many)))
        self.sent += many
        wait_until(lambda: unread(lawn.stdin) == 0, 'it reads')
        reading = self.sent
        while not lawn.silent():
            self.take(os.read(lawn.stdout, 65536), lawn)
        written = set(self.seen)
        before = self.saves()
        if random.random() < 0.5:
            wait_until(lambda: self.saves() not in (0, before), 'it saves')
            self.safe = reading
            self.done |= written

    def take(self, data, lawn):
        *lines, lawn.part = (lawn.part + data).split(b'\n')
        for line in lines:
            number = int(line.split()[0])
            assert number not in self.done, f'{number} again'
            self.seen.append(number)

    def cycle(self):
        with Lawn(*self.args) as lawn:
            lawn.part = b''
            lawn.ready()
            for _ in range(random.randrange(6)):
                self.step(lawn)
            lawn.kill(signal.SIGKILL)
            lawn.exit(-signal.SIGKILL)
            self.take(lawn.rest(), lawn)
        lost = set(range(self.safe, self.sent)) - set(self.seen)
        self.unsure |= lost

    unsure = set()


@case
def nothing_that_was_saved_is_lost_by_kill_9(folder):
    """[F5 F13]"""
    for seed in (1, 2):
        random.seed(seed)
        (folder / str(seed)).mkdir()
        killed = Killed(folder / str(seed))
        killed.unsure = set()
        for _ in range(15):
            killed.cycle()
        lines, _ = run(*killed.args)
        for line in lines:
            number = int(line.split()[0])
            assert number not in killed.done, f'{number} again'
            killed.seen.append(number)
        lost = set(range(killed.sent)) - set(killed.seen) - killed.unsure
        assert not lost, f'lost: {sorted(lost)}'
        assert killed.safe > 100
        left = {name.name for name in (folder / str(seed)).iterdir()}
        equal(left, {'s', 's.lock'})


@case
def a_line_that_waits_for_the_other_input_is_saved_too(folder):
    """[F5]"""
    os.mkfifo(folder / 'left')
    os.mkfifo(folder / 'right')
    args = ('join', '5s', '-k', 1, '--time-field', 2, '--state', folder / 's')
    with Lawn(*args, '--state-every', '5ms', folder / 'left',
              folder / 'right') as lawn, writer_of(folder / 'left') as left, \
            writer_of(folder / 'right'):
        left.write(b'k 1\nk 2\nhal')
        wait_until(lambda: unread(left.fileno()) == 0, 'it reads')
        lawn.settle()
        for _ in range(2):
            before = os.stat(folder / 's').st_ino \
                if (folder / 's').exists() else 0
            wait_until(lambda: (folder / 's').exists() and
                       os.stat(folder / 's').st_ino != before, 'it saves')
        lawn.kill(signal.SIGKILL)
        equal(lawn.lines(), [])
    with Lawn(*args, folder / 'left', '/dev/null') as lawn:
        with writer_of(folder / 'left') as left:  # the same pipe, by name
            left.write(b'f 3\n')
        equal(lawn.lines(), ['left\tk 1', 'left\tk 2', 'left\thalf 3'])
        lawn.exit(0)


def refused(path, args, word):
    """It is refused with a reason, and the file is not changed."""
    before = path.read_bytes()
    lines, said = run(*args, '--state', path, code=3)
    equal(lines, [])
    equal(path.read_bytes(), before)
    assert said.startswith(f'lawn {args[0]}: ') and str(path) in said and \
        word in said and said.count('\n') == 1, said


@case
def a_truncated_state_is_refused(folder):
    args = ('delay', '5s', '--time-field', 1)
    whole = folder / 'whole'
    run(*args, '--state', whole, '--on-eof', 'save', feed=b'1 a\n2 b\n')
    data = whole.read_bytes()
    state = folder / 's'
    for size in range(len(data)):
        state.write_bytes(data[:size])
        refused(state, args, 'truncated' if size > 8 else '')
    state.write_bytes(data + b'x')
    refused(state, args, 'data after the end')
    state.write_bytes(data)
    equal(run(*args, '--state', state)[0], ['1 a', '2 b'])


@case
def a_state_with_any_byte_changed_is_refused(folder):
    args = ('delay', '5s', '--time-field', 1)
    whole = folder / 'whole'
    run(*args, '--state', whole, '--on-eof', 'save', feed=b'1 a\n2 b\n')
    data = whole.read_bytes()
    state = folder / 's'
    random.seed(1)
    for at in range(len(data)):
        bit = 1 << random.randrange(8)
        state.write_bytes(data[:at] + bytes([data[at] ^ bit]) + data[at + 1:])
        refused(state, args, '')


@case
def a_foreign_file_is_refused(folder):
    state = folder / 's'
    for data in (b'', b'hello\n', b'lawnsnap', os.urandom(1000),
                 snapshot.write([], [], lambda: 65536),
                 snapshot.write([], [], lambda: 65536) * 4):
        state.write_bytes(data)
        refused(state, ('delay', '5s'), '')


@case
def a_state_of_another_filter_is_refused_and_both_are_named(folder):
    base = ('debounce', '5s', '-k', '1', '--time-field', '2')
    others = (
        ('delay', '5s', '--time-field', '2'),
        ('session', '5s', '-k', '1', '--time-field', '2'),
        ('debounce', '5s', '-k', '2', '--time-field', '2'),
        ('debounce', '5s', '--time-field', '2'),
        ('debounce', '5s', '-k', '1'),
        ('debounce', '5s', '-k', '1', '--time-field', '1'),
        ('debounce', '5s', '-k', '1', '--time-field', '2', '--time-unit', 'ms'),
        ('debounce', '5s', '-k', '1', '--time-field', '2', '--emit', 'first'),
        ('debounce', '5s', '-k', '1', '--time-field', '2', '--emit', 'all'),
        ('debounce', '5s', '-k', '1', '--time-field', '2', '--emit', 'count'),
        ('debounce', '5s', '-k', '1', '--time-field', '2', '--json'),
        ('debounce', '5s', '-k', '1', '--time-field', '2', '-d', ' '),
        ('debounce', '5s', '-k', '/(.)/', '--time-field', '2'),
    )
    for i, (one, two) in enumerate([(base, other) for other in others] +
                                   [(other, base) for other in others]):
        state = folder / str(i)
        run(*one, '--state', state, '--on-eof', 'save', feed=b'')
        refused(state, two, f"saved by 'lawn {one[0]}")
        refused(state, two, f"not by 'lawn {two[0]}")
    run(*base, '--state', folder / 's', '--on-eof', 'save', feed=b'a 1\n')
    equal(run('debounce', '9s', *base[2:], '--state', folder / 's',
              '--lateness', '1s', '--max-keys', 5, feed=b'b 3\n')[0],
          ['a 1', 'b 3'])  # the other state does not matter


@case
def a_second_filter_on_a_state_is_refused(folder):
    state = folder / 's'
    args = ('delay', '1h', '--state', state)
    with Lawn(*args) as lawn:
        lawn.send('a\n')
        lawn.settle()
        lines, said = run(*args, feed=b'b\n', code=3)
        equal(lines, [])
        equal(said, f'lawn delay: the state {state} is in use by another '
                    'lawn; stop that process, or use another file\n')
        lawn.kill(signal.SIGTERM)
        lawn.exit(143)
    equal(run(*args, '--on-eof', 'flush')[0], ['a'])


@case
def a_state_in_no_folder_is_refused_at_the_start(folder):
    path = folder / 'none' / 's'
    lines, said = run('delay', 0, '--state', path, feed=b'a\n', code=3)
    equal(lines, [])
    assert str(path) in said and 'No such file or directory' in said, said


@case
def a_state_in_a_folder_of_others_is_refused_at_the_start(folder):
    if os.getuid() != 0:
        raise Skip('needs root, to change the user')
    for part in (folder, folder.parent):
        part.chmod(0o755)
    tool = folder / 'lawn'
    shutil.copy(LAWN, tool)
    tool.chmod(0o755)
    done = subprocess.run([tool, 'delay', '0', '--state', folder / 's'],
                          input=b'a\n', capture_output=True, check=False,
                          timeout=PATIENCE, user=65534)
    equal(done.returncode, 3)
    equal(done.stdout, b'')
    assert b'Permission denied' in done.stderr and \
        str(folder / 's').encode() in done.stderr, done.stderr


@case
def a_viewer_sees_that_it_waits_at_the_end(folder):
    """On a terminal, if it is long until something is due."""
    for args, feed in ((('session', '1h', '-k', 1), b'a\n'),
                       (('absent', '1h', '-k', 1), b'a\n'),
                       (('delay', '1h'), b'a\n')):
        terminal, errors = os.openpty()
        with subprocess.Popen([LAWN, *map(str, args)], stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, stderr=errors) as lawn:
            os.close(errors)
            lawn.stdin.write(feed)
            lawn.stdin.close()
            said = os.read(terminal, 1000).decode()
            lawn.kill()
        os.close(terminal)
        assert said.startswith(f'lawn {args[0]}: the input has ended; '
                               'waiting for deadlines, see --on-eof'), said


@case
def a_state_that_cannot_be_saved_is_reported(folder):
    """[F4]"""
    (folder / 'in').mkdir()
    with Lawn('delay', '1h', '--state', folder / 'in' / 's') as lawn:
        lawn.send('a\n')
        lawn.settle()
        (folder / 'in').rename(folder / 'out')
        lawn.kill(signal.SIGTERM)
        lawn.exit(4)
        assert f'cannot save the state to {folder}/in/s: no such' in \
            lawn.messages(), lawn.messages()


@case
def a_state_that_cannot_be_saved_for_a_while_loses_nothing(folder):
    """Reported once, however often it is tried. [F5]"""
    (folder / 'in').mkdir()
    state = folder / 'in' / 's'
    args = ('delay', '1h', '--state', state)
    with Lawn(*args, '--state-every', '5ms', '--stats=10ms') as lawn:
        lawn.send('a\n')
        wait_until(state.exists, 'it saves')
        (folder / 'in').rename(folder / 'out')
        wait_until(lambda: 'cannot save the state to ' in lawn.messages(),
                   'a report')
        lawn.send('b\n')
        more = lawn.messages().count(': in=') + 5
        wait_until(lambda: lawn.messages().count(': in=') >= more, 'more reports')
        (folder / 'out').rename(folder / 'in')
        wait_until(lambda: ' works again' in lawn.messages(), 'it saves again')
        lawn.send('c\n')
        lawn.settle()
        lawn.kill(signal.SIGTERM)
        lawn.exit(143)
        equal(lawn.messages().count('cannot save the state'), 1)
        assert '; trying again after --state-every and at the end\n' in \
            lawn.messages(), lawn.messages()
    equal(run(*args, '--on-eof', 'flush')[0], ['a', 'b', 'c'])


@case
def a_state_that_is_saved_only_at_the_end_is_reported_once(folder):
    """By the periodic save or by the one at the end, whichever succeeds first."""
    (folder / 'in').mkdir()
    args = ('delay', '1h', '--state', folder / 'in' / 's')
    with Lawn(*args, '--state-every', '50ms') as lawn:
        lawn.send('a\n')
        lawn.settle()
        (folder / 'in').rename(folder / 'out')
        wait_until(lambda: 'cannot save the state to ' in lawn.messages(),
                   'a report')
        (folder / 'out').rename(folder / 'in')
        lawn.kill(signal.SIGTERM)
        lawn.exit(143)
        equal(lawn.messages().count('saving the state to '), 1)


@case
def a_state_that_does_not_fit_on_the_disk_leaves_the_old_one(folder):
    """[F13]"""
    args = ('delay', '1h', '--state', folder / 's')
    run(*args, '--on-eof', 'save', feed=b'a\n')
    before = (folder / 's').read_bytes()
    for feed in (b'x' * 50_000 + b'\n', b'x' * 3900 + b'\n'):
        with Lawn(*args, restore_signals=False, limit=4096) as lawn:
            lawn.send(feed)
            lawn.settle()
            lawn.kill(signal.SIGTERM)
            lawn.exit(4)
            assert f'cannot save the state to {folder}/s: ' in lawn.messages() \
                and 'File too large' in lawn.messages(), lawn.messages()
        equal((folder / 's').read_bytes(), before)
        equal(sorted(name.name for name in folder.iterdir()),
              ['s', 's.lock'])
    equal(run(*args, '--on-eof', 'flush')[0], ['a'])


@case
def a_folder_for_a_state_is_refused(folder):
    (folder / 's').mkdir()
    lines, said = run('delay', 0, '--state', folder / 's', feed=b'a\n', code=3)
    equal(lines, [])
    assert str(folder / 's') in said and 'Is a directory' in said, said
    equal(list((folder / 's').iterdir()), [])


@case
def a_folder_that_takes_the_place_of_a_state_is_reported(folder):
    with Lawn('delay', '1h', '--state', folder / 's') as lawn:
        lawn.send('a\n')
        lawn.settle()
        (folder / 's').mkdir()
        lawn.kill(signal.SIGTERM)
        lawn.exit(4)
        assert 'cannot save the state' in lawn.messages(), lawn.messages()
    equal(sorted(name.name for name in folder.iterdir()), ['s', 's.lock'])


@case
def the_mode_of_a_state_is_kept_and_no_other_file_is_left(folder):
    state = folder / 's'
    args = ('delay', '1h', '--state', state, '--on-eof', 'save')
    run(*args, feed=b'a\n')
    equal(stat.S_IMODE(state.stat().st_mode) & 0o077, 0)
    for mode in (0o640, 0o604, 0o666):
        state.chmod(mode)
        run(*args, feed=b'a\n')
        equal(stat.S_IMODE(state.stat().st_mode), mode)
    equal(sorted(name.name for name in folder.iterdir()), ['s', 's.lock'])


@case
def files_that_a_crash_left_next_to_a_state_do_no_harm(folder):
    """[F13] Its name is fixed, and it is not written through a link."""
    (folder / 'other').write_text('mine')
    args = ('delay', '1h', '--state', folder / 's')
    run(*args, '--on-eof', 'save', feed=b'a\n')
    (folder / 's.lawn-tmp').write_text('junk')
    run(*args, '--on-eof', 'save', feed=b'b\n')
    assert not (folder / 's.lawn-tmp').exists()
    (folder / 's.lawn-tmp').symlink_to(folder / 'other')
    equal(run(*args, '--on-eof', 'flush', feed=b'c\n')[0], ['a', 'b', 'c'])
    equal((folder / 'other').read_text(), 'mine')
    equal(sorted(name.name for name in folder.iterdir()),
          ['other', 's', 's.lock'])


def sanitized():
    with open(LAWN, 'rb') as file:
        return b'__asan_init' in file.read()


@case
def nothing_is_lost_when_memory_runs_out(folder):
    """[F4 F5] And it reports how far the files were read."""
    if sanitized():
        raise Skip('the sanitizers take memory of their own')
    lines = numbered(0, 600_000)
    (folder / 'in').write_bytes(text(lines))
    for i, args in enumerate((
            ('delay', '1h'), ('delay', '9999h', '--time-field', 1),
            ('throttle', '1/1h', '--burst', 1),
            ('debounce', '1h', '--emit', 'all'),
            ('debounce', '1h', '-k', 1),
            ('join', '1h', '-k', 1),
            ('join', '1h', '-k', 2))):
        extra = ('--state', folder / str(i), '--stats')
        files = ('/dev/null',) * (args[0] == 'join')
        with Lawn(*args, *extra, folder / 'in', *files,
                  memory=40 << 20) as lawn:
            first = lawn.lines()
            lawn.exit(1)
            assert 'Cannot allocate memory' in lawn.messages(), lawn.messages()
            counts = lawn.stats()
            equal(counts['discarded'], 0)
            found = re.search(r'ended early: (.*)/in was read up to line (\d+)',
                              lawn.messages())
            assert found, lawn.messages()
            read = int(found[2])
            assert counts['held'] > 1000 and read >= counts['in'], counts
        with Lawn(*args, *extra, '--on-eof', 'flush',
                  *(files * 2 or ('/dev/null',))) as lawn:
            got = first + [line.removeprefix('left\t') for line
                           in lawn.lines()]
            lawn.exit(0)
            lawn.stats()
        equal(len(got), read)
        assert got == lines[:read], args
        os.unlink(folder / str(i))


@case
def no_key_is_lost_when_memory_runs_out(folder):
    """[F5] Each line has another key, and all keys are known after it."""
    if sanitized():
        raise Skip('the sanitizers take memory of their own')
    (folder / 'in').write_bytes(text(numbered(0, 600_000)))
    for verb, known in (('absent', 'keys'), ('dedupe', 'keys'),
                        ('session', 'made')):
        args = (verb, '1h', '-k', 1, '--state', folder / verb, '--stats')
        with Lawn(*args, folder / 'in', memory=40 << 20) as lawn:
            lawn.lines()
            lawn.exit(1)
            read = int(re.search(r'was read up to line (\d+)', lawn.messages())[1])
        with Lawn(*args, '--on-eof', 'flush', '/dev/null') as lawn:
            lawn.lines()
            lawn.exit(0)
            equal(lawn.stats()[known], read)
        os.unlink(folder / verb)


@case
def a_bad_line_that_ends_it_loses_nothing(folder):
    """[F5]"""
    args = ('delay', '5s', '--time-field', 1, '--state', folder / 's')
    lines, said = run(*args, '--strict', feed=b'1 a\nnone b\n2 c\n', code=3)
    equal(lines, [])
    assert "line 2: 'none' is neither an RFC 3339 time" in said, said
    equal(run(*args)[0], ['1 a', '2 c'])


# STATES MADE BY HAND, AND OTHER CLOCKS


def parts(data):
    """The snapshots in a state file."""
    out = []
    while data:
        at = 40
        while True:
            (size,) = struct.unpack_from('<I', data, at)
            at += 4 + size + 8
            if size == 0:
                break
        _, timers = snapshot.read(data[:at])
        out.append(timers)
        data = data[at:]
    return out


def joined(stores):
    return b''.join(snapshot.write([], timers, lambda: 65536) for timers in stores)


def values(stores):
    return {timer[2]: timer[3] for timer in stores[0]}


def with_value(stores, name, payload):
    return [[(*timer[:3], payload, timer[4]) if timer[2] == name else timer
             for timer in stores[0]], *stores[1:]]


@case
def a_state_is_four_snapshots(folder):
    args = ('delay', '5s', '--time-field', 1, '--state', folder / 's')
    run(*args, '--on-eof', 'save', feed=b'1 a\n2 b\n')
    stores = parts((folder / 's').read_bytes())
    equal(len(stores), 4)
    equal(values(stores)[b'of'], b"delay --time-field 1 --time-unit s")
    equal(values(stores)[b'format'], struct.pack('<Q', 2))
    equal(values(stores)[b'numbers'],
          struct.pack('<5Q', 2 * SECOND, 2 * SECOND, 2, 0, 1))
    equal(sorted((timer[0], timer[3]) for timer in stores[2]),
          [(6 * SECOND, b'1 a'), (7 * SECOND, b'2 b')])
    (folder / 's').write_bytes(joined(stores))
    equal(run(*args)[0], ['1 a', '2 b'])


@case
def a_line_leaves_after_its_time_where_the_clock_was_set_back(folder):
    """[F1]"""
    args = ('delay', '300ms', '--state', folder / 's')
    run(*args, '--on-eof', 'save', feed=b'a\n')
    stores = parts((folder / 's').read_bytes())
    numbers = list(struct.unpack('<5Q', values(stores)[b'numbers']))
    numbers[0] += 3600 * SECOND  # the clock was ahead by this then
    stores = with_value(stores, b'numbers', struct.pack('<5Q', *numbers))
    stores[2] = [(timer[0] + 3600 * SECOND, *timer[1:]) for timer in stores[2]]
    (folder / 's').write_bytes(joined(stores))
    with Lawn(*args) as lawn:
        sent = lawn.send('b\n')
        equal(lawn.line()[0], 'a')
        line, seen = lawn.line()
        equal(line, 'b')
        not_early(seen, sent, 300_000_000)
        assert seen < sent + PATIENCE * SECOND


@case
def a_line_keeps_its_time_after_a_reboot(folder):
    """[F1]"""
    def prefix(seconds):
        for how in ('-Tf', '-rTf'):
            command = ['unshare', how, '--boottime', str(seconds),
                       '--monotonic', str(seconds)]
            if shutil.which('unshare') and subprocess.run(
                    [*command, 'true'], check=False,
                    capture_output=True).returncode == 0:
                return command
        raise Skip('no time namespaces here')

    args = ('delay', '600ms', '--state', folder / 's')
    for seconds in (100_000_000, 5):
        sent = now()
        run(*args, '--on-eof', 'save', feed=b'a\n')
        with Lawn(*args, prefix=prefix(seconds)) as lawn:
            line, seen = lawn.line()
            equal(line, 'a')
            not_early(seen, sent, 600_000_000)
            assert seen < sent + PATIENCE * SECOND
            lawn.close()
            lawn.exit(0)


@case
def values_that_no_filter_has_saved_are_refused(folder):
    args = ('delay', '5s', '--time-field', 1)
    state = folder / 's'
    run(*args, '--state', state, '--on-eof', 'save', feed=b'1 a\n2 b\n')
    stores = parts(state.read_bytes())
    numbers = struct.unpack('<5Q', values(stores)[b'numbers'])
    for i, bad in ((0, 2**64 - 1), (1, 2**64 - 1), (3, 77), (4, 2)):
        wrong = list(numbers)
        wrong[i] = bad
        state.write_bytes(joined(with_value(stores, b'numbers',
                                            struct.pack('<5Q', *wrong))))
        refused(state, args, 'inconsistent contents')
    for name, wrong in ((b'numbers', b'short'), (b'unwritten', b'a\n'),
                        (b'unwritten', b'a'), (b'kinds', b'\1'),
                        (b'kinds', b'\7')):
        state.write_bytes(joined(with_value(stores, name, wrong)))
        refused(state, args, 'inconsistent contents')
    for name, word in ((b'of', 'is not a lawn state file'),
                       (b'format', 'format 1 is not supported'),
                       (b'numbers', 'inconsistent contents'),
                       (b'unwritten', 'inconsistent contents'),
                       (b'kinds', 'inconsistent contents')):
        state.write_bytes(joined([[timer for timer in stores[0]
                                   if timer[2] != name], *stores[1:]]))
        refused(state, args, word)
    state.write_bytes(joined(with_value(stores, b'format',
                                        struct.pack('<Q', 3))))
    refused(state, args, 'format 3 is not supported, only format 2; use the version of '
                         'lawn that saved it, or another file')
    # A key, though a delay saves none; a line with an invalid id; a line that was read
    # ahead from an invalid side.
    for i in (1, 2, 3):
        more = list(stores)
        more[i] = [*more[i], (9 * SECOND, 1, b'id', b'\2line', 0)]
        state.write_bytes(joined(more))
        refused(state, args, 'inconsistent contents')


@case
def lines_that_do_not_belong_to_their_key_are_refused(folder):
    state = folder / 's'
    args = ('join', '5s', '-k', 1, '--time-field', 2, '/dev/null', '/dev/null')
    (folder / 'left').write_text('k 1\nk 2\n')
    run(*args[:-2], folder / 'left', '/dev/null', '--state', state, '--on-eof',
        'save')
    check_numbers(state, args, ['left\tk 1', 'left\tk 2'])
    state.unlink()
    args = ('debounce', '5s', '-k', 1, '--time-field', 2, '--emit', 'all')
    run(*args, '--state', state, '--on-eof', 'save', feed=b'k 1\nk 2\n')
    check_numbers(state, args, ['k 1', 'k 2'])


def check_numbers(state, args, expected):
    """A state with two lines of one key is refused if one of them has another number
    or key, or is missing."""
    whole = state.read_bytes()
    stores = parts(whole)
    for i in (0, 1):
        line = stores[2][i]
        (number,) = struct.unpack('<Q', line[2][1:])
        for wrong in (b'k' + struct.pack('<Q', number + 2),
                      b'x' + line[2][1:], b'k', b''):
            more = list(stores[2])
            more[i] = (*line[:2], wrong, *line[3:])
            state.write_bytes(joined([*stores[:2], more, stores[3]]))
            refused(state, args, 'inconsistent contents')
        state.write_bytes(joined([*stores[:2], [line], stores[3]]))
        refused(state, args, 'inconsistent contents')
    state.write_bytes(whole)
    equal(run(*args, '--state', state)[0], expected)


@case
def a_key_longer_than_any_is_refused(folder):
    record = struct.pack('<4Q', 1, 1, 1, 1)
    for args, record, lines in (
            (('debounce', '5s', '-k', 1, '--time-field', 2, '--emit', 'all'),
             record, 1),
            (('session', '5s', '-k', 1, '--time-field', 2), record + bytes(8), 0),
            (('absent', '5s', '-k', 1, '--time-field', 2),
             struct.pack('<2Q', 1, 1), 0),
            (('dedupe', '5s', '-k', 1, '--time-field', 2), b'', 0)):
        state = folder / (args[0] + '.state')
        run(*args, '--state', state, '--on-eof', 'save', feed=b'a 1\n')
        stores = parts(state.read_bytes())
        for size in (65_001, 65_500, 65_000):
            key = b'k' * size
            stores[1] = [(9 * SECOND, 1, key, record, 0)]
            stores[2] = [(2**64 - 2, 1, key + struct.pack('<Q', 1), b'k 1', 0)
                         ][:lines]
            state.write_bytes(joined(stores))
            if size > 65_000:
                refused(state, args, 'inconsistent contents')
        run(*args, '--state', state, feed=b'a 2\n')  # the last one is good


@case
def a_time_after_all_times_is_a_bad_line(_):
    for verb in ('absent', 'session', 'debounce'):
        lines, said = run(verb, '5s', '-k', 1, '--time-field', 2, '--on-eof',
                          'drop', feed=b'a 1\nb 18446744073.709551614\n')
        equal(lines, [])
        assert "line 2: '18446744073.709551614' is out of range: " \
            "times are from 1970 to 2554-07-21" in said, said


@case
def a_flush_does_not_move_the_clock(folder):
    args = ('session', '5h', '--state', folder / 's', '--on-eof', 'flush')
    first = run(*args, feed=b'a\n')[0][0]
    second = run(*args, feed=b'a\n')[0][0]
    hours = [line.split('\t')[2][:13] for line in (first, second)]
    today = time.strftime('%Y-%m-%dT%H', time.gmtime())
    equal(second.split('\t')[-1], 'eof')
    assert hours[1] in (hours[0], today), hours


@case
def lines_due_at_the_end_of_time_are_saved_and_resumed(folder):
    last = str((2**64 - 3) // SECOND)
    for i, args in enumerate((('delay', '100d'), ('debounce', '100d'),
                              ('session', '100d'), ('absent', '100d'),
                              ('throttle', '1/100d'), ('dedupe', '100d'))):
        args = (*args, '--time-field', 1, '--state', folder / str(i))
        saved = run(*args, '--on-eof', 'save',
                    feed=f'{last} a\n{last} b\n'.encode())[0]
        direct = run(*args)[0]
        whole = run(*args[:-2], feed=f'{last} a\n{last} b\n'.encode())[0]
        equal(saved + direct, whole)
        run(*args)  # the state that the previous run has saved is valid, too
    (folder / 'l').write_text(f'k {last}\nk {last}\n')
    args = ('join', '100d', '-k', 1, '--time-field', 2, '--state',
            folder / 'join')
    run(*args, '--on-eof', 'save', folder / 'l', '/dev/null')
    equal(len(run(*args, '/dev/null', '/dev/null')[0]), 2)
    run(*args, '/dev/null', '/dev/null')


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ''
    passed = failed = 0
    for test in CASES:
        if wanted not in test.__name__:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(pathlib.Path(folder))
            except Skip as why:
                print(f'skipped {test.__name__}: {why}')
            except Exception as error:  # pylint: disable=broad-except
                failed += 1
                print(f'FAILED {test.__name__}')
                if not isinstance(error, AssertionError) or not str(error):
                    traceback.print_exc(file=sys.stdout)
                else:
                    where = traceback.extract_tb(error.__traceback__)
                    line = [frame.lineno for frame in where
                            if frame.name == test.__name__]
                    print(f'  line {line[-1]}: {error}'[:2000])
            else:
                passed += 1
                print(f'ok {test.__name__} '
                      f'({time.monotonic() - began:.1f} s)')
        sys.stdout.flush()
    print(f'{passed} passed, {failed} failed')
    sys.exit(failed > 0 or passed == 0)


if __name__ == '__main__':
    main()
