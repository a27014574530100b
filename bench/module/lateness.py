"""Measures how late events arrive: the time at which the consumer has read an event,
minus the deadline in the server's reply.

The producer, the consumer and the server are separate processes. The producer formats
its commands before it starts, and switches replies off. It pushes a fixed number of
events per millisecond with the TTLs of NEAR, in addition to pending events that are due
in hours. The consumer finds all deadlines in a reply by one search with a regular
expression, so it can process 50,000 events per second and more. Its own time is part of
the lateness.

notifications() measures another case: keys that expire, and the notifications that the
server sends about them.
"""
import multiprocessing
import re
import select
import statistics
import time

from contenders import FAR, MOST
from servers import Server, command, event_id, fail

NEAR = [100, 250, 500, 1000]
DUE = re.compile(rb"[:\n](\d{13})\r\n")
END = b"+PONG\r\n"
fork = multiprocessing.get_context("fork")


class Lost(Exception):
    pass


def consume(server, contender, expected, pipe):
    """Takes events until `expected` of them have arrived. Sends a list through the
    pipe: for each event the time at which it was received minus its deadline, in
    seconds."""
    connection = server.connect()
    take, pause = contender.take(connection)
    # The reply to PING shows where the reply before it ends, without parsing that reply.
    request = take + command("PING")
    sock = connection.socket
    got = []
    pipe.send("ready")
    try:
        while len(got) < expected:
            sock.sendall(request)
            parts = [sock.recv(1 << 20)]
            while not parts[-1].endswith(END):
                part = sock.recv(1 << 20)
                if not part:
                    raise EOFError
                # The end may arrive in two parts.
                parts.append(part if len(part) >= len(END) else parts.pop() + part)
            received = time.time()
            dues = DUE.findall(b"".join(parts))
            got += [received - int(due) / 1000 for due in dues]
            if pause and len(dues) < MOST:
                time.sleep(pause)
    except OSError:
        pass
    pipe.send(got)


def formatted(contender, rate, seconds, start, first):
    """Returns a list of buffers with commands, one for each step of at least a
    millisecond; the length of a step in seconds; and the number of events."""
    step = max(1, 1000 // rate)
    per_step = rate * step // 1000
    number = first
    buffers = []
    for at in range(0, int(seconds * 1000), step):
        now = int(start * 1000) + at
        buffers.append(b"".join(
            contender.put(number + i, NEAR[(number + i) % len(NEAR)], now)
            for i in range(per_step)))
        number += per_step
    return buffers, step / 1000, number - first


def produce(server, buffers, step, start):
    """Sends each buffer at its time. Returns how far behind its schedule the producer
    was at the end, in seconds."""
    connection = server.connect()
    connection.quiet()
    for buffer in buffers:
        wait = start - time.time()
        if wait > 0:
            time.sleep(wait)
        connection.socket.sendall(buffer)
        start += step
    connection.loud()
    return time.time() - start


def quantiles(values):
    """Returns p50, p99, p99.9 and the largest value, in ms."""
    values = sorted(values)
    at = (lambda q: values[min(len(values) - 1, int(q * len(values)))] * 1000)
    return [at(0.5), at(0.99), at(0.999), values[-1] * 1000]


def once(server, contender, rate, seconds, first):
    """Does one run. Returns the quantiles of the lateness, the CPU time of the server
    in percent of a core, and how far behind its schedule the producer was, in ms."""
    # Formatting a command takes about 2 us, and 4 on a busy machine.
    start = time.time() + 0.5 + rate * seconds * 8e-6
    buffers, step, count = formatted(contender, rate, seconds, start, first)
    mine, theirs = fork.Pipe()
    consumer = fork.Process(daemon=True, target=consume, args=(server, contender, count, theirs))
    consumer.start()
    theirs.close()
    mine.recv()
    if time.time() > start:
        fail("the producer is not ready in time")
    server.reset()
    cpu = server.cpu()
    producer = fork.Process(daemon=True, target=produce, args=(server, buffers, step, start))
    producer.start()
    producer.join()
    behind = time.time() - start - seconds
    got = mine.recv()
    cpu = (server.cpu() - cpu) / (time.time() - start)
    consumer.join()
    server.no_errors(contender.name)
    if producer.exitcode != 0 or len(got) != count:
        raise Lost("%d of %d events came" % (len(got), count))
    if min(got) < -1e-6:
        fail("%s: an event came %.3f ms early" % (contender.name, -min(got) * 1000))
    return quantiles(got) + [cpu * 100, behind * 1000]


def cell(name, modules, contender, pending, rate, seconds, runs):
    """Returns the medians over the runs, and as largest value the largest of all runs.
    If events were lost, returns a text about them."""
    needs = [modules[contender.module]] if contender.module else []
    with Server(name, needs) as server:
        now = int(time.time() * 1000)
        server.admin.fill(contender.put(i, FAR[i % 8], now) for i in range(pending))
        if pending and server.admin.call(*contender.size) != pending:
            fail("%s: not all events are there" % contender.name)
        found = []
        for run in range(runs):
            first = 10 ** 9 + run * int(rate * seconds)
            try:
                found.append(once(server, contender, rate, seconds, first))
            except Lost as lost:
                return str(lost)
        row = [statistics.median(column) for column in zip(*found)]
        row[3] = max(run[3] for run in found)
        return row


def machine(seconds):
    """Returns the quantiles of the delay with which a process that sleeps for a
    millisecond wakes up on this machine."""
    late = []
    until = time.time() + seconds
    while time.time() < until:
        due = time.time() + 0.001
        time.sleep(0.001)
        late.append(time.time() - due)
    return quantiles(late)


def notifications(name, others, count, wait):
    """Lets keys expire. Returns how many notifications about them arrived within `wait`
    seconds of the last deadline, and the median and the largest of their lateness, in
    seconds. `others` is the number of keys that expire in hours."""
    with Server(name) as server:
        server.admin.call("CONFIG", "SET", "notify-keyspace-events", "Ex")
        server.admin.fill(command("SET", "other:%d" % i, "x", "PX", FAR[i % 8])
                          for i in range(others))
        listener = server.connect()
        listener.call("SUBSCRIBE", "__keyevent@0__:expired")
        due = int(time.time() * 1000) + 2000
        server.admin.fill(command("SET", event_id(i), "x", "PXAT", due + i)
                          for i in range(count))
        lags = []
        until = due / 1000 + count / 1000 + wait
        buffer, rest = b"", 0
        while len(lags) < count and time.time() < until:
            if not select.select([listener.socket], [], [], 0.1)[0]:
                continue
            buffer += listener.socket.recv(1 << 16)
            received = time.time()
            for one in re.finditer(rb"\ne_(\d{12})\r\n", buffer):
                lags.append(received - (due + int(one.group(1))) / 1000)
                rest = one.end()
            buffer, rest = buffer[rest:], 0
    lags.sort()
    return len(lags), lags[len(lags) // 2] if lags else None, lags[-1] if lags else None
