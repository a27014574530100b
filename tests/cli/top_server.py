#!/usr/bin/env python3
"""top_server.py FOLDER MODE - a server for tests of lawn top. MODE selects its replies:
valid, odd, late or none.

It listens on FOLDER/socket and on a port of 127.0.0.1 that it writes to FOLDER/port, and
writes each received command as a line to FOLDER/commands. It ends with the shell that
started it.
"""

import ctypes
import os
import pathlib
import signal
import socket
import sys
import threading
import time

FOLDER = pathlib.Path(sys.argv[1])
MODE = sys.argv[2]
LOCK = threading.Lock()
STATE = {'asked': 0, 'connections': 0}
NASTY = b'a b"\\\x1b[31m\n\xc3\xbc\xff'

FIELDS = ('len 10 leased 2 dead 1 ttls 3 next 99999999999999 oldest-due 1500 '
          'pushed 100 fired 50 missed 0 dropped 0 leased-total 9 '
          'redelivered 4 acked 7 dead-total 1 handed 6 sink-errors 5 '
          'late-p50-ms 1 late-p99-ms 20 late-max-ms 300 sink stream '
          'sink-to out sink-maxlen 0 dead-letter corpses '
          'sink-error WRONGTYPE bytes 900 data-bytes 90 paused 0').split()
OLD = ('leased', 'dead', 'redelivered', 'acked', 'handed', 'sink')


class Close(Exception):
    """The server ends."""


def bulk(text):
    data = text if isinstance(text, bytes) else str(text).encode()
    return b'$%d\r\n%s\r\n' % (len(data), data)


def array(*items):
    return b'*%d\r\n' % len(items) + b''.join(items)


def info(section):
    """INFO, with its sections."""
    texts = {
        'server': 'redis_version:7.0.15\r\nvalkey_version:8.0.1\r\n',
        'replication': 'role:master\r\n',
        'cluster': 'cluster_enabled:0\r\n',
        'lawn': 'lawn_keys:%d\r\nlawn_timers:1000\r\n'
                'lawn_pushed_total:%d\r\nlawn_fired_total:7\r\n'
                'lawn_leased:12\r\nlawn_acked_total:3\r\n'
                'lawn_late_ms_p50:1\r\nlawn_late_ms_p99:22\r\n'
                'lawn_late_ms_max:333\r\nlawn_wake_late_us_p99:450\r\n'
                'lawn_words:none\r\nlawn_odd name:1\r\n'
                % (len(keys()), 100 + STATE['asked']),
    }
    if MODE == 'no-module':
        texts['lawn'] = ''
    return bulk('# %s\r\n%s' % (section, texts[section]))


def keys():
    if MODE == 'many':
        return [b'q%05d' % i for i in range(5000)]
    if MODE == 'nasty':
        return [NASTY, b'\\x1b']
    if MODE == 'gone':
        return [b'here', b'gone']
    return [b'one', b'three', b'two']


def queue(key):
    """LAWN.INFO; the length is usually that of the key's name."""
    if MODE == 'gone' and key == b'gone':
        return b'$-1\r\n'
    if MODE == 'no-permission':
        return b'-NOPERM this user has no permissions for the key\r\n'
    if MODE == 'odd-info':
        return array(bulk('len'))
    if MODE == 'no-len':
        return array(bulk('pushed'), b':1\r\n')
    items = []
    for name, value in zip(FIELDS[::2], FIELDS[1::2]):
        if MODE == 'old' and name.split('-')[0] in OLD:
            continue
        if name == 'len':
            value = 10 + len(key)
        if name == 'paused' and MODE == 'paused' and key == b'one':
            value = 1
        if MODE == 'dead-letters' and key == b'one' and name == 'sink':
            value = 'none'
        if MODE == 'dead-letters' and key != b'one' and name == 'sink-error':
            value = 'dead letters: WRONGTYPE'
        if name == 'pushed':
            value = 100 * STATE['asked']
        if name == 'fired' and MODE == 'restarts':
            value = 1000 - STATE['asked']
        number = str(value).isdigit()
        items += [bulk(name), b':%s\r\n' % str(value).encode() if number
                  else bulk(value)]
    return array(*items)


def scan(cursor):
    """SCAN, ten keys at a time."""
    at = int(cursor)
    names = keys()
    page = names[at:at + 10]
    after = at + 10 if at + 10 < len(names) else 0
    if MODE == 'never-ends':
        after, page = 7, []
    if MODE == 'odd-scan':
        return array(bulk('0'))
    return array(bulk(after), array(*map(bulk, page)))


REPLIES = {  # to all commands
    'http': b'HTTP/1.1 400 Bad Request\r\n\r\n',
    'binary': bytes(range(256)),
    'nested': b'*1\r\n' * 100,
    'claims': b'*1048577\r\n',
    'huge': b'$99999999999\r\n',
    'overflow': b':99999999999999999999\r\n',
    'negative': b'$-2\r\n',
    'unended': b'$3\r\nabcXX',
    'long-line': b'+' + b'x' * 100000,
    'endless': b'+OK\r\n' * 1000,
    'loading': b'-LOADING Redis is loading the dataset in memory\r\n',
    'no-auth': b'-NOAUTH Authentication required.\r\n',
    'escapes': b'-ERR \x1b[31mred\x07\r\n',
}


def reply(words):
    """The reply to a command; b'' for none."""
    word = words[0].upper()
    if MODE in REPLIES:
        return REPLIES[MODE]
    if MODE == 'silent' or (MODE == 'stops' and STATE['asked'] > 1):
        return b''
    if MODE == 'closes' or (MODE == 'leaves' and STATE['asked'] == 3
                            and STATE['connections'] == 1):
        raise Close
    if MODE == 'wrong-password' and word == b'AUTH':
        return b'-WRONGPASS invalid username-password pair\r\n'
    if word in (b'AUTH', b'SELECT'):
        return b'+OK\r\n'
    if word == b'INFO':
        STATE['asked'] += words[1] == b'lawn'
        return info(words[1].decode())
    if word == b'TIME':
        return array(bulk(int(time.time())), bulk(0))
    if word == b'SCAN':
        return scan(words[1])
    if word == b'LAWN.INFO':
        return queue(words[1])
    if word == b'LAWN.LEN':
        return b':3\r\n'
    return b'-ERR unknown command\r\n'


def commands(stream):
    while True:
        line = stream.readline()
        if not line:
            return
        words = []
        for _ in range(int(line[1:])):
            size = int(stream.readline()[1:])
            words.append(stream.read(size))
            stream.read(2)
        yield words


def serve(link):
    with LOCK:
        STATE['connections'] += 1
    try:
        for words in commands(link.makefile('rb')):
            with LOCK:
                with open(FOLDER / 'commands', 'ab') as log:
                    log.write(b' '.join(words) + b'\n')
                answer = reply(words)
            if MODE == 'torn':
                for i in range(len(answer)):
                    link.sendall(answer[i:i + 1])
            else:
                link.sendall(answer)
    except (Close, OSError):
        pass
    link.close()


def listen(server):
    while True:
        link, _ = server.accept()
        if link.family != socket.AF_UNIX:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(link,), daemon=True).start()


def main():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    local = socket.socket(socket.AF_UNIX)
    local.bind(str(FOLDER / 'socket'))
    port = socket.socket()
    port.bind(('127.0.0.1', 0))
    for server in (local, port):
        server.listen()
    threading.Thread(target=listen, args=(local,), daemon=True).start()
    (FOLDER / 'commands').touch()
    (FOLDER / 'port.new').write_text('%d\n' % port.getsockname()[1])
    os.rename(FOLDER / 'port.new', FOLDER / 'port')
    listen(port)


if __name__ == '__main__':
    main()
