"""Measures pushes, leases and acknowledgments on one master and on several: the
lateness, and the highest sustained rate.

The masters are servers of a cluster on this machine. They have no replicas, and share
the slots. Each master has a producer and a worker, which are processes that communicate
only with this master. They use one key, whose hash tag is in a slot of the master, as
for partitions. The producers push events with the delays of NEAR, a fixed number in
each millisecond. The workers wait in LEASE BLOCK, record how late each event is, and
acknowledge their events.

Rates are raised until one is not held. A rate is held if all events arrived, the
producers were at most BEHIND_MS behind their schedule at the end, and p99 of the
lateness is at most LATE_MS. A rate that is not held is tried once more, since other
work on the machine has the same effect. All processes share the cores of the machine:
three masters with their clients are nine processes.
"""
import re
import time

import nodes
from lateness import END, NEAR, fork, produce, quantiles
from servers import PAYLOAD, Server, command, event_id, fail

MOST = 1000
BEHIND_MS = 100
LATE_MS = 20
JOB = re.compile(rb"\$14\r\n(e_\d{12})\r\n\$64\r\n.{64}\r\n:(\d+)\r\n:\d+\r\n:(\d{13})\r\n")


class Master(Server, nodes.Node):
    """One master of a cluster."""

    def __init__(self, name, modules):
        super().__init__(name, modules, options=("cluster-enabled", "yes"))


class Cluster:
    """A cluster of masters that share the slots evenly. Use it with `with`."""

    def __init__(self, name, modules, count):
        self.servers = [Master(name, modules) for _ in range(count)]

    def __enter__(self):
        self.join()
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.end()

    def join(self):
        count = len(self.servers)
        for i, server in enumerate(self.servers):
            server.admin.call("CLUSTER", "ADDSLOTSRANGE", i * nodes.SLOTS // count,
                              (i + 1) * nodes.SLOTS // count - 1)
            self.servers[0].admin.call("CLUSTER", "MEET", "127.0.0.1", server.port)
        until = time.monotonic() + 30
        for server in self.servers:
            while True:
                found = server.admin.info_of("CLUSTER", "INFO")
                if found["cluster_state"] == "ok" and int(found["cluster_known_nodes"]) == count:
                    break
                if time.monotonic() > until:
                    fail("the cluster does not form: %r" % found)
                time.sleep(0.02)

    def keys(self):
        """Returns the name of a key for each master, in one of its slots."""
        count = len(self.servers)
        found = {}
        for i in range(10000):
            tag = b"%d" % i
            found.setdefault(nodes.slot(tag) * count // nodes.SLOTS, b"timers:{%s}" % tag)
            if len(found) == count:
                return [found[i] for i in range(count)]
        return fail("no key for a master")


def work(server, key, expected, pipe):
    """Leases and acknowledges events until `expected` of them have arrived. Sends the
    list of their lateness through the pipe, in seconds."""
    sock = server.connect().socket
    take = command("LAWN.LEASE", key, "worker", "LEASE", 30000, "COUNT", MOST, "BLOCK", 0)
    ping = command("PING")
    late = []
    pipe.send("ready")
    request = take
    try:
        while len(late) < expected:
            # The acknowledgment of a batch is sent together with the request for the next one.
            sock.sendall(request + ping)
            got = sock.recv(1 << 20)
            while not got.endswith(END):
                part = sock.recv(1 << 20)
                if not part:
                    raise EOFError
                got += part
            received = time.time()
            jobs = JOB.findall(got)
            late += [received - int(job[2]) / 1000 for job in jobs]
            done = [word for job in jobs for word in job[:2]]
            request = command("LAWN.ACK", key, *done) + take if done else take
        sock.sendall(command("LAWN.ACK", key, *done) + ping)
        sock.recv(1 << 20)
    except OSError:
        pass
    pipe.send(late)


def formatted(key, rate, seconds):
    """Returns a list of buffers with pushes, one for each step of at least a
    millisecond; the length of a step in seconds; and the number of events."""
    step = max(1, -(-1000 // rate))
    per_step = rate * step // 1000
    form = (b"*6\r\n$9\r\nLAWN.PUSH\r\n$%d\r\n%s\r\n$14\r\n%%s\r\n$64\r\n%s\r\n"
            b"$5\r\nDELAY\r\n$%%d\r\n%%d\r\n" % (len(key), key, PAYLOAD))
    buffers = []
    for first in range(0, per_step * int(seconds * 1000 // step), per_step):
        delays = [NEAR[i % len(NEAR)] for i in range(first, first + per_step)]
        buffers.append(b"".join(form % (event_id(first + i), len(str(delay)), delay)
                                for i, delay in enumerate(delays)))
    return buffers, step / 1000, per_step * len(buffers)


def produce_and_tell(server, buffers, step, start, pipe):
    pipe.send(produce(server, buffers, step, start))


def once(cluster, rate, seconds):
    """Does one run at a rate per master. Returns p50, p99, p99.9 and the largest
    lateness, in ms; the CPU time of all servers, in percent of a core; and the largest
    delay of a producer, in ms."""
    keys = cluster.keys()
    plans = [formatted(key, rate, seconds) for key in keys]
    start = time.time() + 0.5
    workers, producers, pipes, ends = [], [], [], []
    for server, key, plan in zip(cluster.servers, keys, plans):
        mine, theirs = fork.Pipe()
        workers.append(fork.Process(daemon=True, target=work, args=(server, key, plan[2], theirs)))
        workers[-1].start()
        theirs.close()
        mine.recv()
        pipes.append(mine)
        server.reset()
    cpu = sum(server.cpu() for server in cluster.servers)
    for server, plan in zip(cluster.servers, plans):
        mine, theirs = fork.Pipe()
        producers.append(fork.Process(daemon=True, target=produce_and_tell,
                                      args=(server, plan[0], plan[1], start, theirs)))
        producers[-1].start()
        theirs.close()
        ends.append(mine)
    behind = max(end.recv() for end in ends)
    late = [one for pipe in pipes for one in pipe.recv()]
    cpu = (sum(server.cpu() for server in cluster.servers) - cpu) / (time.time() - start)
    for process in workers + producers:
        process.join()
    for server, key in zip(cluster.servers, keys):
        server.no_errors("pushes and leases")
        if server.admin.call("LAWN.LEN", key) != 0:
            fail("events are left in %s" % key.decode())
    expected = sum(plan[2] for plan in plans)
    if len(late) != expected or min(late) < -1e-6:
        fail("%d events of %d came, the earliest %.3f ms late"
             % (len(late), expected, min(late) * 1000))
    return quantiles(late) + [cpu * 100, behind * 1000]


def gave_way(row):
    """Returns what exceeded its limit in a run, or "" if the rate was held."""
    if row[5] > BEHIND_MS:
        return "the pushes"
    return "lateness" if row[1] > LATE_MS else ""


def measure(name, modules, masters, rates, seconds):
    """Measures the rates in turn, up to the first that is not held. Returns {rate of
    all masters together: result of once()}."""
    found = {}
    with Cluster(name, [modules["lawn"]], masters) as cluster:
        for rate in rates:
            found[rate] = once(cluster, rate // masters, seconds)
            if gave_way(found[rate]):
                found[rate] = min(found[rate], once(cluster, rate // masters, seconds),
                                  key=lambda row: (bool(gave_way(row)), row[1]))
            if gave_way(found[rate]):
                break
    return found


def held(found):
    """Returns the highest rate that was held, or 0 if none was."""
    return max((rate for rate, row in found.items() if not gave_way(row)), default=0)
