"""What a job costs that is leased and acknowledged: see jobs.py for the ways.

One worker, a process, takes a batch, reads the jobs' ids, and finishes the
batch; in pipelines it takes several batches at once, and finishes them at once:
that is a turn of the worker. All jobs are due before it begins. A round does this
for each contender, one after the other in one server; ratios are of a round, and
their median is reported.

There are two kinds. In the first no lease ends, and only contenders
named for it look for ended leases, once a turn. In the second the worker forgets one job in ten:
it finishes that only when it gets it again, after the lease of LOST_MS. Who has to
look for ended leases does so every LOOK_MS, and again as long as a look finds some;
a worker that gets nothing sleeps until the leases have ended.

us is the server's time in the commands (commandstats) for a job, CPU that of the
whole server; jobs a second are those of this one worker, which is written in
Python and, alone with small batches, the slower of the two. Where leases end it
sleeps, so jobs per second are not reported.
"""
import time

from jobs import ALL, LEASE, LOSING, PART
from servers import Server, command, fail

END = b"+PONG\r\n"
PING = command("PING")
# Jobs in a batch, batches in a pipeline.
MODES = [(1, 1), (1, 16), (10, 1), (10, 16), (100, 1), (100, 16)]
LOSES = [(1, 16), (10, 1), (100, 1)]
LOST_MS = 200
LOOK_MS = 100
FORGET = 10  # one job in this many


def ask(sock, commands):
    """All bytes of the replies."""
    sock.sendall(b"".join(commands) + PING)
    got = [sock.recv(1 << 20)]
    while not got[-1].endswith(END):
        part = sock.recv(1 << 20)
        if not part:
            raise EOFError
        # The end may come in two pieces.
        got.append(part if len(part) >= len(END) else got.pop() + part)
    return b"".join(got)


def work(server, contender, count, batch, depth):
    """Takes and finishes all; seconds that it took."""
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
    """The same, but one job in FORGET is finished only when it comes again. How
    many came again."""
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
    """us of commands and of CPU for a job, jobs a second."""
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
    """{(batch, depth): {contender: [(us, CPU us, jobs/s) of each round]}}"""
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
    """For each round, the ratio of LEASE and ACK to the better of the sorted sets."""
    sets = [turns for title, turns in cell.items() if title.startswith("ZSET + Lua")
            and "stream" not in title]
    return [one[column] / min(turn[column] for turn in others)
            for one, others in zip(cell["LEASE, ACK"], zip(*sets))]
