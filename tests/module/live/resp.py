"""resp.py - a client that checks every byte of the server's replies.

Replies become Python values that keep their kind: a simple string, a bulk
string and an error are never equal to each other. raw() returns the bytes.
After each call() an ECHO must return next, so a command that replies twice, or
not at all, is detected at once.
"""

import itertools
import select
import socket
import time

PATIENCE = 90  # seconds; server.py sets it
TOKENS = itertools.count()


class Closed(Exception):
    """The server has closed the connection."""


class Late(Exception):
    """No reply within the time limit."""


class Bad(Exception):
    """The data is not a valid reply."""


class _Kind(bytes):
    """Bytes that equal only those of the same kind."""

    def __eq__(self, other):
        return type(self) is type(other) and bytes.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = bytes.__hash__

    def __repr__(self):
        return f'{type(self).__name__}({bytes(self)!r})'


class Simple(_Kind):
    """+OK"""


class Error(_Kind):
    """-ERR why"""


class Bulk(bytes):
    """$2 OK: a plain string, equal to bytes, but not to the kinds above."""

    def __eq__(self, other):
        return not isinstance(other, _Kind) and bytes.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = bytes.__hash__

    def __repr__(self):
        return bytes.__repr__(bytes(self))


class NullArray:
    """*-1, which no command of the module may send."""

    def __repr__(self):
        return 'NULL_ARRAY'


NULL_ARRAY = NullArray()


class Map(dict):
    """%, in RESP3 only; keeps the order of its keys."""


class Push(list):
    """>, an out-of-band message"""


class Set(list):
    """~"""


OK = Simple(b'OK')
QUEUED = Simple(b'QUEUED')


def words(args):
    return [arg if isinstance(arg, (bytes, bytearray)) else str(arg).encode()
            for arg in args]


def encode(*args):
    args = words(args)
    return b''.join([b'*%d\r\n' % len(args)]
                    + [b'$%d\r\n%s\r\n' % (len(arg), arg) for arg in args])


class Client:
    """One connection. protocol 3 sends HELLO 3 first."""

    def __init__(self, port, protocol=2, patience=None):
        self.patience = patience or PATIENCE
        self.socket = socket.create_connection(('127.0.0.1', port),
                                               self.patience)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b''
        self.at = 0
        self.deadline = None
        self.parts = []
        self.expect_3 = False
        self.protocol = 2
        if protocol != 2:
            self.call('HELLO', protocol)
            self.protocol = protocol

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, *args):
        self.socket.sendall(encode(*args))

    def send_all(self, commands):
        self.socket.sendall(b''.join(encode(*args) for args in commands))

    def send_bytes(self, data):
        self.socket.sendall(data)

    def waits(self):
        """Returns True if there is nothing to read yet."""
        return (self.at == len(self.buffer)
                and not select.select([self.socket], [], [], 0)[0])

    def _more(self):
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise Late(f'have {self.buffer[self.at:]!r}')
        self.socket.settimeout(left)
        try:
            data = self.socket.recv(1 << 16)
        except socket.timeout:
            raise Late(f'have {self.buffer[self.at:]!r}') from None
        except ConnectionError as error:
            raise Closed(str(error)) from None
        if not data:
            raise Closed('end of the connection')
        self.buffer = self.buffer[self.at:] + data
        self.at = 0

    def _line(self):
        while (end := self.buffer.find(b'\r\n', self.at)) < 0:
            self._more()
        line = self.buffer[self.at:end]
        self.at = end + 2
        self.parts.append(line)
        return line

    def _bytes(self, size):
        while len(self.buffer) - self.at < size + 2:
            self._more()
        data = self.buffer[self.at:self.at + size]
        if self.buffer[self.at + size:self.at + size + 2] != b'\r\n':
            raise Bad(f'{data!r} does not end where it should')
        self.at += size + 2
        self.parts.append(data)
        return data

    def _value(self):
        line = self._line()
        kind, rest = line[:1], line[1:]
        if kind == b'+':
            return Simple(rest)
        if kind == b'-':
            return Error(rest)
        if kind == b':':
            return int(rest)
        if kind == b'$':
            return None if rest == b'-1' else Bulk(self._bytes(int(rest)))
        if kind == b'*':
            if rest == b'-1':
                return NULL_ARRAY
            return [self._value() for _ in range(int(rest))]
        return self._value_3(kind, rest)

    def _value_3(self, kind, rest):
        if self.protocol != 3 and not self.expect_3:
            raise Bad(f'{kind + rest!r} in RESP2')
        if kind == b'_':
            return None
        if kind == b'%':
            pairs = [(self._value(), self._value()) for _ in range(int(rest))]
            if len({key for key, _ in pairs}) != len(pairs):
                raise Bad(f'a key twice in {pairs!r}')
            return Map(pairs)
        if kind == b'~':
            return Set(self._value() for _ in range(int(rest)))
        if kind == b'>':
            return Push(self._value() for _ in range(int(rest)))
        if kind == b'#':
            return {b't': True, b'f': False}[rest]
        if kind == b',':
            return float(rest)
        if kind == b'(':
            return int(rest)
        if kind in b'=!' and kind:
            data = self._bytes(int(rest))
            return Error(data) if kind == b'!' else Bulk(data[4:])
        raise Bad(f'{kind + rest!r} is no reply')

    @property
    def seen(self):
        """The bytes of the last reply."""
        return b''.join(part + b'\r\n' for part in self.parts)

    def read(self, patience=None):
        """Returns the next reply."""
        self.parts = []
        self.deadline = time.monotonic() + (patience or self.patience)
        return self._value()

    def echo(self):
        """Checks that the next reply is the one to a command sent now."""
        token = b'sync-%d' % next(TOKENS)
        self.send('ECHO', token)
        got = self.read()
        assert got == token, f'a reply too many: {got!r}'

    def call(self, *args):
        """Returns the reply to a command, which must be exactly one."""
        token = b'sync-%d' % next(TOKENS)
        self.expect_3 = words(args[:2]) == [b'HELLO', b'3']
        self.socket.sendall(encode(*args) + encode('ECHO', token))
        got = self.read()
        parts = self.parts
        try:
            after = self.read()
        except Late:
            raise AssertionError(f'no reply at all, or half of one, to '
                                 f'{args!r}') from None
        assert after == token, f'{args!r}: {got!r}, and then {after!r}'
        self.parts = parts
        self.expect_3 = False
        return got

    def raw(self, *args):
        """The same as bytes."""
        self.call(*args)
        return self.seen

    def one(self, *args):
        """Returns the reply without an ECHO after it: inside MULTI, or when
        subscribed."""
        self.send(*args)
        return self.read()

    def pipe(self, commands):
        """Returns the replies to several commands that are sent at once."""
        commands = list(commands)
        got = []
        for begin in range(0, len(commands), 500):
            part = commands[begin:begin + 500]
            self.send_all(part)
            got += [self.read() for _ in part]
        self.echo()
        return got

    def multi(self, *commands):
        """Returns the replies to commands in one transaction."""
        self.send_all([('MULTI',), *commands, ('EXEC',)])
        got = [self.read() for _ in range(len(commands) + 2)]
        assert got[0] == OK, got[0]
        for answer, args in zip(got[1:-1], commands):
            assert answer == QUEUED, f'{args!r}: {answer!r}'
        self.echo()
        return got[-1]
