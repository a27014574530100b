"""Measures what it costs a server to wake one of many clients that wait for a key.

Many clients wait in LEASE BLOCK. An event becomes due in a tick; one client gets it,
acknowledges it and waits again. The signal of a tick makes the server call back for
each waiting client. So the cost of a tick grows with the number of waiting clients, but
that of an event does not. To show this, the same is measured with MANY events that are
due in the same millisecond, which MANY clients get.

The result is the CPU time of the whole server per event, in us: PUSH, wake-up, LEASE,
ACK and the network. The CPU time of the idle server in the same time, which also grows
with the number of clients, is subtracted.
"""
import re
import resource
import select
import statistics
import time

from servers import PAYLOAD, Server, command, event_id, fail

MANY = 100
JOB = re.compile(rb"\$14\r\n(e_\d{12})\r\n\$64\r\n.{64}\r\n:(\d+)\r\n:\d+\r\n:\d+\r\n\Z")
WAIT = command("LAWN.LEASE", "q", "worker", "LEASE", 30000, "BLOCK", 0)
ACKED = b"*1\r\n:1\r\n"
IDLE = 0.2  # s
DELAY = 2  # ms, so that a tick wakes the clients


class Crowd:
    """Waiting clients. A client that gets an event acknowledges it and waits again."""

    def __init__(self, server, count):
        self.server = server
        self.poll = select.epoll()
        self.clients = {}
        for _ in range(count):
            client = server.connect()
            self.clients[client.socket.fileno()] = client
            self.poll.register(client.socket, select.EPOLLIN)
            client.socket.sendall(WAIT)
        self.settle()

    def settle(self):
        until = time.monotonic() + 30
        while int(self.server.admin.info("clients")["blocked_clients"]) != len(self.clients):
            if time.monotonic() > until:
                fail("not all clients wait")
            time.sleep(0.002)

    def serve(self, count):
        """Runs until `count` events have arrived."""
        while count > 0:
            ready = self.poll.poll(30)
            if not ready:
                fail("%d events did not come" % count)
            for number, _ in ready:
                sock = self.clients[number].socket
                got = sock.recv(1 << 16)
                if got.startswith(ACKED):
                    got = got[len(ACKED):]
                found = JOB.search(got)
                if found:
                    sock.sendall(command("LAWN.ACK", "q", *found.groups()) + WAIT)
                    count -= 1
                elif got:
                    fail("not an event: %r" % got)

    def close(self):
        for client in self.clients.values():
            client.close()
        self.poll.close()


def cost(server, crowd, events, at_once):
    """Returns the CPU time per event, in us. `at_once` events are due together."""
    crowd.settle()
    cpu = server.cpu()
    time.sleep(IDLE)
    idle = (server.cpu() - cpu) / IDLE
    pushes = [command("LAWN.MPUSH", "q", "DELAY", DELAY, at_once,
                      *[word for i in range(first, first + at_once)
                        for word in (event_id(i), PAYLOAD)])
              for first in range(0, events, at_once)]
    cpu, began = server.cpu(), time.monotonic()
    for pushed in pushes:
        server.admin.socket.sendall(pushed)
        server.admin.read()
        crowd.serve(at_once)
    crowd.settle()
    cpu = server.cpu() - cpu - idle * (time.monotonic() - began)
    return cpu / events * 1e6


def measure(name, path, counts, runs):
    """Returns {waiting clients: [(us for one event, us for each of MANY) of each
    round]}. The second figure is None if there are fewer than MANY clients."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    found = {}
    with Server(name, [path]) as server:
        for _ in range(runs):
            for count in counts:
                if most != resource.RLIM_INFINITY and count + 100 > most:
                    continue
                server.reset()
                crowd = Crowd(server, count)
                one = cost(server, crowd, 200, 1)
                many = cost(server, crowd, 2000, MANY) if count >= MANY else None
                crowd.close()
                server.no_errors("waiters")
                found.setdefault(count, []).append((one, many))
                if server.admin.call("LAWN.LEN", "q") != 0:
                    fail("events are left")
    return found


def slope(found):
    """Returns the us per waiting client: the difference of the medians for the most and
    the fewest clients, divided by the difference of the numbers of clients."""
    one = {count: statistics.median(row[0] for row in rows) for count, rows in found.items()}
    return (one[max(one)] - one[min(one)]) / (max(one) - min(one))
