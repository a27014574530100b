#!/usr/bin/env python3
"""clients.py full|greedy PROGRAM - clients of a server among examples/adapters,
for tests/api/adapters.

    full    more clients than the server has descriptors: all are served in the end,
            and the server does not spin meanwhile
    greedy  a client that sends and never reads: the server closes the connection
            instead of buffering everything
"""

import os
import resource
import signal
import socket
import subprocess
import sys

CLIENTS = 25
DESCRIPTORS = 20
BYTES = 64 << 20  # more than the system buffers for two sockets


def few():
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


def full(server, port):
    clients = [socket.create_connection(('127.0.0.1', port), 60)
               for _ in range(CLIENTS)]
    for client in clients:  # closed by the server, since they are silent
        try:
            if client.recv(1):
                return 'the server sent data to a silent client'
        except ConnectionResetError:
            pass  # libuv resets the connection
    with open('/proc/%d/stat' % server.pid, encoding='ascii') as stat:
        spent = sum(map(int, stat.read().rsplit(')', 1)[1].split()[11:13]))
    spent /= os.sysconf('SC_CLK_TCK')
    return 'took %g s of a processor' % spent if spent > 0.2 else None


def greedy(_, port):
    client = socket.create_connection(('127.0.0.1', port), 60)
    sent = 0
    try:
        while sent < BYTES:
            sent += client.send(b'x' * 65535 + b'\n')
    except (ConnectionResetError, BrokenPipeError):
        return None
    return 'the server accepted %d bytes that it could not send back' % sent


def attempt(test):
    """Returns why the test failed, or None."""
    with subprocess.Popen([sys.argv[2], '0'], stdout=subprocess.PIPE, text=True,
                          preexec_fn=few) as server:
        try:
            port = int(server.stdout.readline().split()[1])
            wrong = test(server, port)
            if server.poll() is not None:
                wrong = 'ended'
        finally:
            server.send_signal(signal.SIGKILL)
    return wrong


def main():
    test = {'full': full, 'greedy': greedy}[sys.argv[1]]
    for _ in range(3):  # on a busy machine other processes may disturb a run
        wrong = attempt(test)
        if not wrong:
            break
    sys.exit(wrong and 'the server ' + wrong)


if __name__ == '__main__':
    main()
