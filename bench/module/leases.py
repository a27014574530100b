"""Measures what a job costs that is leased and acknowledged: see jobs.py for the
contenders.

The worker is one process. It takes a batch, reads the ids of the jobs, and finishes the
batch. In a pipeline it takes several batches at once and finishes them at once. This is
one turn of the worker. All jobs are due before it begins. A round does this for each
contender, one after the other in one server. Ratios are computed within a round; the
result is their median.

There are two kinds of measurements. In the first, no lease ends, and only contenders
with `looks` set look for ended leases, once per turn. In the second, the worker forgets
one job in ten, and finishes it only when it is delivered again, after its lease of
LOST_MS has ended. A worker that must look for ended leases does so every LOOK_MS, and
in the next turn again as long as it finds some. A worker that gets no job sleeps until
the leases have ended.

us is the server's time in the commands per job (commandstats). CPU is the CPU time of
the whole server per job. Jobs per second are those of this one worker. It is written in
Python, so with small batches and without pipelines it is slower than the server. If
leases end, the worker sleeps, so jobs per second are not reported.
"""
import time

from jobs import ALL, LEASE, LOSING, PART
from servers import Server, command, fail

END = b"+PONG\r\n"
PING = command("PING")
# (jobs in a batch, batches in a pipeline)
MODES = [(1, 1), (1, 16), (10, 1), (10, 16), (100, 1), (100, 16)]
LOSES = [(1, 16), (10, 1), (100, 1)]
LOST_MS = 200
LOOK_MS = 100
FORGET = 10  # one job in this number is forgotten


def ask(sock, commands):
    """Sends the commands. Returns all bytes of the replies."""
    sock.sendall(b"".join(commands) + PING)
    got = [sock.recv(1 << 20)]
    while not got[-1].endswith(END):
        part = sock.recv(1 << 20)
        if not part:
            raise EOFError
        # The end may arrive in two parts.
        got.append(part if len(part) >= len(END) else got.pop() + part)
    return b"".join(got)


def work(server, contender, count, batch, depth):
    """Takes and finishes all jobs. Returns the time that this took, in seconds."""
    sock = server.connect().socket
    take = contender.take(batch) * depth
    find = contender.found.findall
    done = 0
    began = time.perf_counter()
    while done < count:
        look = contender.look(batch * depth) if contender.looks else []
        jobs = find(ask(sock, look + take))
        if not jobs:
            fail("%s: %d jobs of %d came" % (contender.name, done, count))
        finish(sock, contender, jobs, batch)
        done += len(jobs)
    return time.perf_counter() - began


def finish(sock, contender, jobs, batch):
    batches = [jobs[i:i + batch] for i in range(0, len(jobs), batch)]
    ask(sock, [one for some in batches for one in contender.finish(some)])


def work_forgetting(server, contender, count, batch, depth):
    """Takes and finishes all jobs, but finishes one job in FORGET only when it is
    delivered again. Returns the number of jobs that were delivered again."""
    sock = server.connect().socket
    take = contender.take(batch) * depth
    find = contender.found.findall
    name = (lambda job: job[0] if isinstance(job, tuple) else job)
    forgotten, seen, done, nothing = set(), 0, 0, 0
    next_look = time.monotonic() + LOOK_MS / 1000
    while done < count:
        look = contender.look(batch * depth) if time.monotonic() >= next_look else []
        replies = ask(sock, look + take)
        if look and not contender.looked(replies):
            next_look = time.monotonic() + LOOK_MS / 1000
        jobs = find(replies)
        if not jobs:
            nothing += 1
            if nothing > 20:
                fail("%s: %d jobs of %d came" % (contender.name, done, count))
            time.sleep(LOST_MS / 1000)
            continue
        new = [job for job in jobs if name(job) not in forgotten]
        lost = new[-seen % FORGET::FORGET]
        seen += len(new)
        again = set(map(name, lost))
        jobs = [job for job in jobs if name(job) not in again]
        forgotten |= again
        if jobs:
            finish(sock, contender, jobs, batch)
        done += len(jobs)
    return len(forgotten)


def once(server, kind, count, batch, depth, loses):
    """Does one measurement. Returns the time of the commands and the CPU time per job,
    in us, and the jobs per second."""
    contender = kind(LOST_MS if loses else LEASE)
    server.admin.call("FLUSHALL", "SYNC")
    contender.prepare(server.admin)
    server.admin.fill(contender.fill(count, int(time.time() * 1000)))
    server.reset()
    cpu = server.cpu()
    if loses:
        if work_forgetting(server, contender, count, batch, depth) != count // FORGET:
            fail("%s: other jobs were forgotten than should be" % contender.name)
        seconds = float("inf")
    else:
        seconds = work(server, contender, count, batch, depth)
    cpu = server.cpu() - cpu
    counts = set(contender.counts) | ({"xautoclaim"} & set(server.called()) if loses else set())
    usec = sum(server.usec(name) for name in counts)
    server.no_errors(contender.name)
    for words in contender.left:
        if server.admin.call(*words) != 0:
            fail("%s: %s is not 0" % (contender.name, " ".join(words)))
    return usec / count, cpu / count * 1e6, count / seconds


def measure(name, modules, aof, modes, counts, runs, loses=False):
    """Returns {(batch, depth): {contender: [(us, CPU us, jobs/s) of each round]}}."""
    found = {}
    kinds = LOSING if loses else ALL
    with Server(name, [modules["lawn"]] if "lawn" in modules else [], aof) as server:
        for _ in range(runs):
            for batch, depth in modes:
                count = counts[batch * depth > 1] // PART * PART
                for kind in kinds if "lawn" in modules else kinds[1:]:
                    cell = found.setdefault((batch, depth), {}).setdefault(kind.name, [])
                    cell.append(once(server, kind, count, batch, depth, loses))
    return found


def ratios(cell, column):
    """Returns, for each round, the ratio of LEASE and ACK to the better of the sorted
    sets."""
    sets = [turns for title, turns in cell.items() if title.startswith("ZSET + Lua")
            and "stream" not in title]
    return [one[column] / min(turn[column] for turn in others)
            for one, others in zip(cell["LEASE, ACK"], zip(*sets))]
