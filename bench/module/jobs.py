"""Ways to deliver jobs to a worker that acknowledges them, called contenders. A job
whose worker dies is delivered again. Each contender is optimized for speed: scripts are
loaded once, a batch is one command, and the script that takes ids also reads the
payloads.

Each contender defines the commands that push due jobs, those that take a batch, and
those that finish the batch, given the jobs in the first reply. `counts` names the
commands whose server time counts as the time of a job. The time of commands that a
script calls is part of EVALSHA.

look() returns the command that finds leases that have ended; leases.py decides when a
worker sends it. looked() returns whether the worker must send it again: it found such
leases, or did not examine all of them. The module needs no such command: LEASE also
delivers jobs whose lease has ended.

The other contenders do less than the module, which makes them faster. The sorted set
does not count attempts, and has no token that excludes a worker whose lease has ended.
Streams do not keep the id of a job.
"""
import re

from servers import PAYLOAD, command

LEASE = 30000  # ms; no lease ends during a measurement
REAP = 1000  # most ended leases that one look finds
PART = 100  # jobs in one command of fill()
ID = b"$14\r\ne_%012d\r\n"
TEXT = b"$64\r\n" + PAYLOAD + b"\r\n"

# Moves ids from the set of due jobs to the set of leased jobs, whose scores are the ends
# of the leases. Returns the ids and their payloads.
CLAIM = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
if #ids == 0 then return {} end
local till = now + ARGV[2]
local moved = {}
for i, id in ipairs(ids) do
    moved[2 * i - 1] = till
    moved[2 * i] = id
end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, #ids - 1)
redis.call('ZADD', KEYS[2], unpack(moved))
return {ids, redis.call('HMGET', KEYS[3], unpack(ids))}
"""
# Makes the jobs due again whose leases have ended. Returns their number.
REAPER = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ids = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, ARGV[1])
if #ids == 0 then return 0 end
local moved = {}
for i, id in ipairs(ids) do
    moved[2 * i - 1] = now
    moved[2 * i] = id
end
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, #ids - 1)
redis.call('ZADD', KEYS[1], unpack(moved))
return #ids
"""
# Removes finished jobs. Returns the number of those that were still leased.
FINISH = """
redis.call('HDEL', KEYS[2], unpack(ARGV))
return redis.call('ZREM', KEYS[1], unpack(ARGV))
"""
# Moves due jobs to a stream, from which a group of workers reads.
FORWARD = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
if #ids == 0 then return 0 end
local payloads = redis.call('HMGET', KEYS[2], unpack(ids))
for i, id in ipairs(ids) do
    redis.call('XADD', KEYS[3], '*', 'id', id, 'payload', payloads[i])
end
redis.call('ZREM', KEYS[1], unpack(ids))
redis.call('HDEL', KEYS[2], unpack(ids))
return #ids
"""


def parts(head, words, each, count):
    """Yields commands of PART jobs each: head, followed by `each % number` for every
    job."""
    form = b"*%d\r\n" % (words + PART * each.count(b"$")) + head + each * PART
    for first in range(0, count, PART):
        yield form % tuple(range(first, first + PART))


class Way:
    looks = False  # whether the worker sends look() in each turn

    def __init__(self, lease=LEASE):
        self.lease = lease

    def look(self, count):
        return []

    def looked(self, replies):
        return False


class Lawn(Way):
    name = "LEASE, ACK"
    counts = ("lawn.lease", "lawn.ack")
    left = (("LAWN.LEN", "q"),)
    found = re.compile(rb"\$14\r\n(e_\d{12})\r\n\$64\r\n.{64}\r\n:(\d+)\r\n")

    def prepare(self, connection):
        pass

    def fill(self, count, now):
        head = command("LAWN.MPUSH", "q", "DELAY", 0, PART)[4:]
        return parts(head, 5, ID + TEXT, count)

    def take(self, batch):
        return [command("LAWN.LEASE", "q", "worker", "LEASE", self.lease, "COUNT",
                        batch)]

    def finish(self, jobs):
        return [command("LAWN.ACK", "q", *[word for job in jobs for word in job])]


class SetAndLua(Way):
    """Works like job queues without a module, such as BullMQ, asynq and clones of
    SQS."""
    name = "ZSET + Lua"
    counts = ("evalsha",)
    left = (("ZCARD", "z"), ("ZCARD", "busy"), ("HLEN", "h"))
    found = re.compile(rb"\$14\r\n(e_\d{12})\r\n")

    def prepare(self, connection):
        self.claim = connection.call("SCRIPT", "LOAD", CLAIM)
        self.done = connection.call("SCRIPT", "LOAD", FINISH)
        self.reap = connection.call("SCRIPT", "LOAD", REAPER)

    def fill(self, count, now):
        score = b"$13\r\n%013d\r\n" % (now - 1000)
        yield from parts(command("ZADD", "z")[4:], 2, score + ID, count)
        yield from parts(command("HSET", "h")[4:], 2, ID + TEXT, count)

    def take(self, batch):
        return [command("EVALSHA", self.claim, 3, "z", "busy", "h", batch, self.lease)]

    def look(self, count):
        return [command("EVALSHA", self.reap, 2, "z", "busy", REAP)]

    def looked(self, replies):
        return not replies.startswith(b":0\r")

    def finish(self, jobs):
        return [command("EVALSHA", self.done, 2, "busy", "h", *jobs)]


class SetAndPlain(SetAndLua):
    """Finishes a job by two plain commands. If a worker dies between them, a payload
    remains forever, or the job is done twice."""
    name = "ZSET + Lua; ZREM, HDEL"
    counts = ("evalsha", "zrem", "hdel")  # the script that takes jobs calls neither

    def finish(self, jobs):
        return [command("ZREM", "busy", *jobs), command("HDEL", "h", *jobs)]


class Stream(Way):
    """Uses a stream without delays: all jobs are due when they are added. Finishing a
    job includes XDEL, because LAWN.ACK and the scripts remove the job, too."""
    name = "stream: XREADGROUP, XACK, XDEL"
    counts = ("xreadgroup", "xack", "xdel")
    left = (("XLEN", "s"),)
    found = re.compile(rb"\*2\r\n\$\d\d\r\n(\d{13}-\d+)\r\n\*[48]\r")
    claimed = re.compile(rb"\*3\r\n\$\d+\r\n(\d+-\d+)\r\n\*(\d+)\r")
    cursor = b"0-0"

    def prepare(self, connection):
        connection.call("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")

    def fill(self, count, now):
        one = (b"*7\r\n$4\r\nXADD\r\n$1\r\ns\r\n$1\r\n*\r\n$2\r\nid\r\n" + ID
               + b"$7\r\npayload\r\n" + TEXT)
        return ((one * PART) % tuple(range(i, i + PART)) for i in range(0, count, PART))

    def take(self, batch):
        return [command("XREADGROUP", "GROUP", "g", "worker", "COUNT", batch,
                        "STREAMS", "s", ">")]

    def look(self, count):
        return [command("XAUTOCLAIM", "s", "g", "worker", self.lease, self.cursor, "COUNT",
                        count)]

    def looked(self, replies):
        self.cursor, many = self.claimed.match(replies).groups()
        return many != b"0" or self.cursor != b"0-0"

    def finish(self, jobs):
        return [command("XACK", "s", "g", *jobs), command("XDEL", "s", *jobs)]


class StreamClaims(Stream):
    """In each turn, the worker first claims jobs that other workers have lost, and then
    asks for new jobs."""
    name = "stream, XAUTOCLAIM once a turn"
    counts = Stream.counts + ("xautoclaim",)
    looks = True


class StreamDelayed(Stream):
    """Delays jobs in a sorted set, from which a script moves due jobs to the stream."""
    name = "ZSET + Lua to a stream"
    counts = Stream.counts + ("evalsha",)
    left = Stream.left + (("ZCARD", "z"), ("HLEN", "h"))
    fill = SetAndLua.fill

    def prepare(self, connection):
        Stream.prepare(self, connection)
        self.forward = connection.call("SCRIPT", "LOAD", FORWARD)

    def take(self, batch):
        return [command("EVALSHA", self.forward, 3, "z", "h", "s", batch),
                *Stream.take(self, batch)]


class Sink(Stream):
    """Delays jobs in a key of the module, whose sink is the stream."""
    name = "SINK to a stream"

    def prepare(self, connection):
        connection.call("LAWN.SINK", "q", "STREAM", "s")
        Stream.prepare(self, connection)

    fill = Lawn.fill


ALL = [Lawn, SetAndLua, SetAndPlain, Stream, StreamClaims, StreamDelayed]
# If leases end, all contenders look for ended ones, so StreamClaims would equal Stream.
LOSING = [Lawn, SetAndLua, SetAndPlain, Stream, StreamDelayed]
