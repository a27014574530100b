"""server.py - starts servers, and the framework that the test programs share.

A server listens on 127.0.0.1, on a free port, in its own folder; it ends with
the test, also if the test is killed. The log of a server is printed when a case
fails, and a crash report in it fails the case.

    LAWN_SO       the module; by default build/lawn.so
    LAWN_PREFIX   a command to run the server with, such as "valgrind -q"
    LAWN_PRELOAD  a library to preload: that of a sanitizer
    LAWN_PATIENCE seconds to wait for something; 90
    LAWN_SLOW     multiplies that time
"""

import argparse
import atexit
import contextlib
import ctypes
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

import resp

HERE = pathlib.Path(__file__).resolve().parent
MODULE = os.path.abspath(os.environ.get('LAWN_SO',
                                        HERE / '../../../build/lawn.so'))
PREFIX = shlex.split(os.environ.get('LAWN_PREFIX', ''))
SLOW = int(os.environ.get('LAWN_SLOW', '1'))
PATIENCE = int(os.environ.get('LAWN_PATIENCE', '90')) * SLOW
BROKEN = re.compile(r'BUG REPORT|ASSERTION FAILED|crashed by signal|'
                    r'Guru Meditation|AddressSanitizer|LeakSanitizer|'
                    r'runtime error:|ERROR SUMMARY: [1-9]')
KINDS = ('redis', 'valkey')
FAR = 10**12  # ms: a delay that no test waits for
CASES = []
RUNNING = []
KIND = 'redis'
resp.PATIENCE = PATIENCE


class Skip(Exception):
    """The reason why a case cannot run here."""


def need(there, package):
    """Checks for something that tools/deps installs. On systems without Debian
    packages the case is skipped."""
    if not there:
        if shutil.which('dpkg-query'):
            raise AssertionError(f'no {package}: tools/deps test installs it')
        raise Skip(f'no {package}')


def case(function):
    CASES.append(function)
    return function


def now_ms():
    """The clock that events use."""
    return time.time_ns() // 10**6


def equal(got, expected, what=''):
    assert same(got, expected), (f'{what}{": " if what else ""}got {got!r}, '
                                 f'expected {expected!r}')


def same(got, expected):
    """Equal, and of the same kind: True is not 1, a map is not an array."""
    if isinstance(expected, (list, tuple)):
        return (isinstance(got, list) and len(got) == len(expected)
                and all(map(same, got, expected)))
    if isinstance(expected, dict):
        return (isinstance(got, dict) and list(got) == list(expected)
                and all(same(got[key], expected[key]) for key in expected))
    if isinstance(expected, str) and not isinstance(got, str):
        expected = expected.encode()
    if isinstance(got, bool) or isinstance(expected, bool):
        return got is expected
    if expected is None:
        return got is None
    return got == expected


def wait_until(condition, what, patience=None):
    """Waits until the condition holds, by polling. Returns its value."""
    end = time.monotonic() + (patience or PATIENCE)
    while not (value := condition()):
        assert time.monotonic() < end, 'never: ' + what
        time.sleep(0.0005)
    return value


def sleeps_late():
    """Returns the median lateness of a sleep in us: a busy machine does not
    wake a server sooner."""
    late = []
    for _ in range(40):
        began = time.monotonic_ns()
        time.sleep(0.005)
        late.append((time.monotonic_ns() - began) // 1000 - 5000)
    return sorted(late)[20]


def free_port():
    """Returns an unused port, below the ephemeral ports: otherwise it may be
    taken, or connected to itself, before the server listens."""
    while True:
        port = random.SystemRandom().randrange(10000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(('127.0.0.1', port))
                return port
            except OSError:
                continue


def error(text):
    return resp.Error(text.encode())


def syntax(why):
    return error('ERR syntax error' + why)


def near(word):
    return syntax(f" near '{word}'")


def missing(word):
    return syntax(f": missing argument of '{word}'")


def integer(low, high, what=''):
    return f'an integer {what}from {low} to {high}'


def milliseconds(low):
    return integer(low, '2^53', 'number of milliseconds ')


RANGES = {
    'DELAY': milliseconds(0), 'JITTER': milliseconds(0),
    'BLOCK': milliseconds(0), 'ttl': milliseconds(0),
    'EVERY': milliseconds(1), 'LEASE': milliseconds(1),
    'BY': milliseconds('-2^53'),
    'AT': integer(0, '2^53', 'Unix time in milliseconds '),
    'TIMES': integer(1, '2^53'), 'TRIES': integer(0, '2^32 - 1'),
    'COUNT': integer(1, '2^63 - 1'), 'count': integer(1, '2^63 - 1'),
    'MAXLEN': integer(1, '2^63 - 1'), 'token': integer(0, '2^63 - 1'),
    'number of partitions': integer(1, 16384),
}


def no_number(name, value):
    """The error for an argument that is not a number of its range."""
    shown = str(value).replace('\0', '?')
    return error(f"ERR {name} must be {RANGES[name]}, not '{shown}'")


def null(client):
    """The bytes of a null in the client's protocol."""
    return b'$-1\r\n' if client.protocol == 2 else b'_\r\n'


def _die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def launch(command, output, clock=None):
    """Starts a server process, which ends with this one; with a settable clock,
    if given."""
    environment = dict(os.environ)
    first = os.environ.get('LAWN_PRELOAD')
    if first:
        environment['LD_PRELOAD'] = first
        environment.setdefault('ASAN_OPTIONS', 'detect_leaks=0')
    if clock:
        environment.update(clock.environment)
        if first:
            environment['LD_PRELOAD'] = \
                first + ':' + environment['LD_PRELOAD']
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output,
                            stderr=subprocess.STDOUT, env=environment,
                            preexec_fn=_die_with_parent)


class Clock:
    """A settable wall clock for servers: see clock.c."""

    def __init__(self, **more):
        self.folder = tempfile.mkdtemp(prefix='lawn-clock-')
        atexit.register(shutil.rmtree, self.folder, True)
        self.ahead = 0
        library, path = self.folder + '/clock.so', self.folder + '/ahead'
        subprocess.run([os.environ.get('CC', 'cc'), '-shared', '-fPIC', '-O1',
                        HERE / 'clock.c', '-o', library], check=True)
        self.environment = {'LAWN_CLOCK': path, 'LD_PRELOAD': library, **more}
        with open(path, 'wb') as file:
            file.write(bytes(8))

    def step(self, ms):
        self.ahead += ms
        with open(self.environment['LAWN_CLOCK'], 'r+b') as file:
            file.write(self.ahead.to_bytes(8, 'little', signed=True))


class Server:
    """One server. Options are pairs: 'appendonly', 'yes', ..."""

    def __init__(self, *options, module=True, module_args=(), kind=None,
                 files=(), clock=None):
        self.kind = kind or KIND
        self.options = list(map(str, options))
        self.module = module
        self.module_args = list(map(str, module_args))
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='lawn-live-'))
        atexit.register(shutil.rmtree, self.folder, True)
        for name, data in files:
            (self.folder / name).write_bytes(data)
        self.process = None
        self.port = None
        self.clients = []
        self.control_client = None
        self.expect_crash = False
        self.set_clock = clock
        RUNNING.append(self)
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.check()
            self.end()
        # otherwise the log is printed first, and main() ends it

    def _command(self):
        args = [*PREFIX, f'{self.kind}-server', '--port', self.port,
                '--bind', '127.0.0.1', '--dir', self.folder,
                '--logfile', self.folder / 'log', '--daemonize', 'no',
                '--save', '', '--enable-debug-command', 'yes',
                '--enable-module-command', 'yes', '--loglevel', 'notice',
                '--repl-diskless-sync-delay', '0',
                '--repl-diskless-sync', 'no', *self._pairs()]
        if self.module:
            args += ['--loadmodule', MODULE, *self.module_args]
        return list(map(str, args))

    def _pairs(self):
        for i in range(0, len(self.options), 2):
            yield '--' + self.options[i]
            yield from self.options[i + 1].split('\0')

    @staticmethod
    def pick_port():
        return free_port()

    def start(self, may_fail=False):
        """Waits until it answers. may_fail: returns False if it exits instead.
        """
        for _ in range(5):
            if self.port is None:
                self.port = self.pick_port()
            with open(self.folder / 'errors', 'ab') as errors:
                self.process = launch(self._command(), errors, self.set_clock)
            if self._ready():
                return True
            if 'Address already in use' in self.log():
                self.port = None
                (self.folder / 'log').write_text('')
                continue
            break
        assert may_fail, 'the server does not start'
        return False

    def _ready(self):
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < end, 'the server does not get ready'
            try:
                with resp.Client(self.port) as client:
                    if client.call('PING') == resp.Simple(b'PONG'):
                        return True
            except (OSError, resp.Closed):
                pass
            time.sleep(0.002)
        return False

    def client(self, protocol=2):
        client = resp.Client(self.port, protocol, PATIENCE)
        self.clients.append(client)
        return client

    @property
    def control(self):
        """The connection for the test's own queries."""
        if self.control_client is None:
            self.control_client = self.client()
        return self.control_client

    def call(self, *args):
        return self.control.call(*args)

    def log(self):
        text = ''
        for name in ('log', 'errors'):
            path = self.folder / name
            if path.exists():
                text += path.read_text(errors='replace')
        return text

    def check(self):
        """Checks that it has not crashed."""
        if not self.expect_crash and self.process is not None:
            status = self.process.poll()
            assert status is None, f'the server ended with {status}'
        found = BROKEN.search(self.log())
        assert not found, f'the log has: {found.group()}'

    def _drop(self):
        for client in self.clients:
            client.close()
        self.clients = []
        self.control_client = None

    def stop(self):
        """Sends SIGTERM, as an init system would."""
        self._drop()
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError('the server does not stop') from None
            finally:
                self.process = None

    def kill(self):
        """Sends SIGKILL."""
        self._drop()
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def restart(self, kill=False):
        if kill:
            self.kill()
        else:
            self.stop()
        self.start()

    def end(self):
        self.kill()
        shutil.rmtree(self.folder, True)
        if self in RUNNING:
            RUNNING.remove(self)

    # Frequent queries.

    def info(self, section):
        """The fields of a section of INFO."""
        text = self.call('INFO', section).decode()
        return dict(line.split(':', 1) for line in text.splitlines()
                    if ':' in line and not line.startswith('#'))

    def lawn(self):
        """The fields of the module's section, without its name."""
        return {name.removeprefix('lawn_'): value
                for name, value in self.info('lawn').items()}

    def blocked(self):
        """Returns the number of blocked clients, as the server reports it."""
        return int(self.info('clients')['blocked_clients'])

    def wait_blocked(self, count):
        wait_until(lambda: self.blocked() == count, f'{count} wait')

    def clock(self):
        """Returns the server's time."""
        seconds, micros = self.call('TIME')
        return int(seconds) * 1000 + int(micros) // 1000

    def waits(self, client, *args):
        """Sends a command on a connection, and returns when it is blocked. The
        server's count of blocked clients lags behind, so it is not used. A
        client with a timeout may have been blocked before the check."""
        number = client.call('CLIENT', 'ID')
        brief = 'BLOCK' in args and args[args.index('BLOCK') + 1] != 0
        client.send(*args)

        def flagged():
            text = self.call('CLIENT', 'LIST', 'ID', number)
            return re.search(rb' flags=\w*b', text) \
                or brief and not client.waits()
        wait_until(flagged, f'{args!r} waits')

    def digest(self, key):
        return self.call('DEBUG', 'DIGEST-VALUE', key)[0]

    def aof(self):
        """Returns all commands of the newest part of the append-only file."""
        folder = self.folder / 'appendonlydir'
        parts = sorted(folder.glob('*.incr.aof'), key=lambda path:
                       int(path.name.split('.')[-3]))
        return commands(parts[-1].read_bytes())


def commands(data):
    """Parses RESP commands; MULTI and EXEC are omitted."""
    got = []
    at = 0

    def line():
        nonlocal at
        end = data.index(b'\r\n', at)
        text = data[at + 1:end]
        at = end + 2
        return int(text)

    while at < len(data):
        if data[at:at + 1] == b'#':  # an annotation, such as a time
            at = data.index(b'\n', at) + 1
            continue
        words = []
        for _ in range(line()):
            size = line()
            words.append(data[at:at + size])
            at += size + 2
        if words[0].upper() not in (b'SELECT', b'MULTI', b'EXEC', b'PING'):
            got.append(words)
    return got


def shared(*options, **more):
    """A server for many cases; it is emptied before each."""
    name = options, *more
    server = shared.servers.get(name)
    if server is None or server.process is None \
            or server.process.poll() is not None:
        server = shared.servers[name] = Server(*options, **more)
    server._drop()  # pylint: disable=protected-access
    server.call('FLUSHALL')
    return server


shared.servers = {}


def shared_clock():
    """The same with a settable clock."""
    if shared_clock.clock is None:
        shared_clock.clock = Clock()
    return shared(clock=shared_clock.clock), shared_clock.clock


shared_clock.clock = None


@contextlib.contextmanager
def clocked(**more):
    """A server whose clock can be advanced by ms, and the function that does
    so."""
    clock = Clock(**more)
    with Server(clock=clock) as server:
        yield server, clock.step


def still_waits(server, *waiters):
    """After a round trip through the server's loop, nothing has arrived."""
    for _ in range(3):
        server.call('PING')
    for client in waiters:
        equal(client.waits(), True, 'it still waits')


def each_protocol():
    """Yields a client of each protocol, of an empty server."""
    for protocol in (2, 3):
        yield shared().client(protocol)


def show_logs():
    for server in RUNNING:
        lines = server.log().splitlines()
        found = [i for i, line in enumerate(lines) if BROKEN.search(line)]
        begin = max(0, found[0] - 5) if found else max(0, len(lines) - 12)
        print(f'  -- log of the server on port {server.port}:')
        for line in lines[begin:begin + 60]:
            print('  | ' + line[:200])


def attempt(test):
    """Runs one case. Returns ok, FAILED or skipped."""
    before = list(RUNNING)
    began = time.monotonic()
    try:
        test()
        for server in RUNNING:
            server.check()
    except Skip as why:
        print(f'skipped {test.__name__}: {why}')
        return 'skipped'
    except Exception as problem:  # pylint: disable=broad-except
        print(f'FAILED {test.__name__}')
        where = [f'{pathlib.Path(frame.filename).name}:{frame.lineno}'
                 for frame in traceback.extract_tb(problem.__traceback__)]
        print(f'  {" ".join(where[1:])}: {type(problem).__name__} '
              f'{problem}'[:2000])
        show_logs()
        for server in list(RUNNING):
            if server not in before or server.process is None \
                    or server.process.poll() is not None:
                server.end()
        return 'FAILED'
    finally:
        for server in list(RUNNING):
            if server not in before \
                    and server not in shared.servers.values():
                server.end()
    print(f'ok {test.__name__} ({time.monotonic() - began:.2f} s)')
    return 'ok'


def arguments(text, **numbers):
    """Parses the arguments of a test program: --server, and numbers with
    defaults. A seed is printed first."""
    global KIND  # pylint: disable=global-statement
    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--server', choices=KINDS, default='redis')
    for name, value in numbers.items():
        parser.add_argument('--' + name, type=int, default=value,
                            help=f'by default {value}')
    if not numbers:
        parser.add_argument('wanted', nargs='?', default='',
                            help='part of the name of a case')
    options = parser.parse_args()
    KIND = options.server
    # also removes folders
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if 'seed' in numbers:
        print(f'seed {options.seed}', flush=True)
    return options


def attempt_all(tests):
    """Runs the cases, and exits with the result."""
    count = {'ok': 0, 'FAILED': 0, 'skipped': 0}
    for test in tests:
        count[attempt(test)] += 1
        sys.stdout.flush()
    for server in list(RUNNING):
        server.end()
    skipped = f', {count["skipped"]} skipped' if count['skipped'] else ''
    print(f'{count["ok"]} passed, {count["FAILED"]} failed{skipped}')
    sys.exit(count['FAILED'] > 0 or count['ok'] == 0)


def main(text):
    """Runs the cases whose names contain the given text."""
    options = arguments(text)
    attempt_all(test for test in CASES if options.wanted in test.__name__)
