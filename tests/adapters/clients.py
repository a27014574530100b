#!/usr/bin/env python3
"""clients.py full|greedy PROGRAM - clients of a server among examples/adapters,
for tests/api/adapters.

    full    more come than it has descriptors for: all are served in the end, and
            it does not spin meanwhile
    greedy  one that sends and never reads: the server hangs up, not takes it all
"""

import os
import resource
import signal
import socket
import subprocess
import sys

CLIENTS = 25
DESCRIPTORS = 20
BYTES = 64 << 20  # more than the system keeps for two sockets


def few():
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


def full(server, port):
    clients = [socket.create_connection(('127.0.0.1', port), 60)
               for _ in range(CLIENTS)]
    for client in clients:  # closed, as it is silent
        try:
            if client.recv(1):
                return 'said something'
        except ConnectionResetError:
            pass  # libuv's way
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
    return 'took %d bytes that it could not give back' % sent


def attempt(test):
    """What is wrong, if something is."""
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
    for _ in range(3):  # a busy machine may count what was not ours
        wrong = attempt(test)
        if not wrong:
            break
    sys.exit(wrong and 'the server ' + wrong)


if __name__ == '__main__':
    main()
