"""Measures the costs on which the model of larger clusters is based (limits.py): the
memory of an event, the CPU time of each operation on it, and the time to save and copy
a shard.

Everything is measured with one key of many events in one server, and a second server
that becomes its replica. CPU time is that of all threads of the server, including the
network. It does not include clients, which are other processes. TITLES in limits.py
explains the fields of the result.
"""
import os
import statistics
import time

import jobs
import leases
from contenders import HOUR
from limits import TITLES
from servers import Server, fail

FORKS = 3  # number of forks; the result is their median


def wait(condition, what):
    until = time.monotonic() + 120
    while not condition():
        if time.monotonic() > until:
            fail("never: " + what)
        time.sleep(0.005)


def cpu_of(server, act):
    before = server.cpu()
    act()
    return server.cpu() - before


def pushes(count):
    one = (b"*6\r\n$9\r\nLAWN.PUSH\r\n$1\r\nq\r\n" + jobs.ID + jobs.TEXT
           + b"$5\r\nDELAY\r\n$7\r\n%d\r\n" % HOUR)
    return (one * jobs.PART % tuple(range(i, i + jobs.PART))
            for i in range(0, count, jobs.PART))


def saving(server, count, found):
    """Measures the dump file, moving the key by DUMP and RESTORE, the rewriting of the
    append-only file, and forks. Adds the results to `found`."""
    admin = server.admin
    began = time.perf_counter()
    admin.call("SAVE")
    found["save_us"] = (time.perf_counter() - began) / count * 1e6
    found["rdb_bytes"] = os.path.getsize(os.path.join(server.folder, "dump.rdb")) / count
    # In a script, so that the value, which is long, is not sent to the client and back.
    server.reset()
    admin.call("EVAL", "redis.call('RESTORE', 'again', 0, redis.call('DUMP', KEYS[1]))", 1, "q")
    found["move_us"] = (server.usec("dump") + server.usec("restore")) / count
    admin.call("UNLINK", "again")
    admin.call("CONFIG", "SET", "aof-use-rdb-preamble", "no")
    began = time.perf_counter()
    admin.call("BGREWRITEAOF")
    wait(lambda: admin.info("persistence")["aof_rewrite_in_progress"] == "0", "rewritten")
    found["aof_us"] = (time.perf_counter() - began) / count * 1e6
    forks = [int(admin.info("stats")["latest_fork_usec"])]
    for _ in range(FORKS - 1):
        admin.call("BGSAVE")
        forks.append(int(admin.info("stats")["latest_fork_usec"]))
        wait(lambda: admin.info("persistence")["rdb_bgsave_in_progress"] == "0", "saved")
    found["fork_us"] = statistics.median(forks) / count * 1000


def replica(server, path, count, found):
    """Starts a second server, makes it a replica, and measures the time until it has
    all events. Adds the results to `found`."""
    with Server(server.name, [path]) as other:
        server.admin.call("CONFIG", "SET", "repl-diskless-sync-delay", 0)
        other.admin.call("CONFIG", "SET", "repl-diskless-load", "disabled")
        began = time.perf_counter()
        other.admin.call("REPLICAOF", "127.0.0.1", server.port)
        load = [0, 0]

        def there():
            # A server that is loading data accepts only a few commands, such as INFO.
            state = other.admin.info("replication")["master_link_status"]
            loading = other.admin.info("persistence")["loading"] == "1"
            now = time.perf_counter()
            if loading:
                load[0] = load[0] or now
                load[1] = now
            return state == "up" and not loading
        wait(there, "the replica has all")
        found["sync_us"] = (time.perf_counter() - began) / count * 1e6
        found["load_us"] = (load[1] - load[0]) / count * 1e6
        if other.admin.call("LAWN.LEN", "q") != count:
            fail("the replica has not all events")


def moving(server, count, found):
    """Measures the CPU time of pushing events, of leasing and acknowledging them, and
    of delivering them through a sink and a consumer group. Adds the results to `found`.
    The server has had a replica, so it writes the replication stream, as a master of a
    cluster does."""
    admin = server.admin
    few = min(count, 200000)
    admin.call("FLUSHALL", "SYNC")
    found["push_us"] = cpu_of(server, lambda: admin.fill(pushes(few))) / few * 1e6
    admin.call("FLUSHALL", "SYNC")
    sent = int(admin.info("replication")["master_repl_offset"])
    admin.fill(jobs.Lawn().fill(few, 0))
    found["lease_us"] = cpu_of(server, lambda: leases.work(
        server, jobs.Lawn(), few, 100, 1)) / few * 1e6
    sent = int(admin.info("replication")["master_repl_offset"]) - sent
    found["stream_bytes"] = sent / few
    admin.call("LAWN.PAUSE", "q")
    admin.fill(jobs.Lawn().fill(few, 0))
    contender = jobs.Sink()
    contender.prepare(admin)

    def drain():
        admin.call("LAWN.RESUME", "q")
        wait(lambda: admin.call("LAWN.LEN", "q") == 0, "all is in the stream")
    found["sink_us"] = cpu_of(server, drain) / few * 1e6
    found["group_us"] = cpu_of(server, lambda: leases.work(
        server, contender, few, 100, 1)) / few * 1e6


def measure(name, path, count):
    """Returns {field of TITLES: value} for one round."""
    found = {}
    with Server(name, [path]) as server:
        admin = server.admin
        before = server.memory()
        admin.fill(pushes(count))
        found["bytes"] = (server.memory() - before) / count
        if admin.call("LAWN.LEN", "q") != count:
            fail("not all events are there")
        saving(server, count, found)
        replica(server, path, count, found)
        moving(server, count, found)
        server.no_errors("costs")
    return {field: found[field] for field in TITLES}
