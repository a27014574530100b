"""Ways to keep events in a server, called contenders.

Each contender defines the module that it requires, the commands that push an event, and
the command that returns the number of events. If it can deliver events, it also defines
the command that a consumer sends: either it waits in the server for due events, or it
is a script that the consumer runs periodically.
"""
from servers import PAYLOAD, command, event_id

HOUR = 3600 * 1000
FAR = [HOUR * n for n in range(2, 10)]  # the 8 TTLs of events that must not fire

# Takes due events, up to a limit. This is the commonly recommended pattern. It is one script,
# so that two consumers cannot take the same event.
TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now,
                       'WITHSCORES', 'LIMIT', 0, ARGV[1])
if #due == 0 then return {} end
local ids = {}
for i = 1, #due, 2 do ids[#ids + 1] = due[i] end
local payloads = redis.call('HMGET', KEYS[2], unpack(ids))
redis.call('ZREM', KEYS[1], unpack(ids))
redis.call('HDEL', KEYS[2], unpack(ids))
local out = {}
for i, id in ipairs(ids) do out[i] = {id, payloads[i], due[2 * i]} end
return out
"""
MOST = 1000  # events that a consumer takes at a time


class Lawn:
    name = "lawn"
    module = "lawn"
    size = ("LAWN.LEN", "q")

    def put(self, number, delay, now):
        """Returns the commands that push an event. It is due in `delay` ms."""
        return (b"*6\r\n$9\r\nLAWN.PUSH\r\n$1\r\nq\r\n$14\r\n%s\r\n$64\r\n%s\r\n"
                b"$5\r\nDELAY\r\n$%d\r\n%d\r\n"
                % (event_id(number), PAYLOAD, len(str(delay)), delay))

    def take(self, connection):
        """Returns the command by which a consumer takes events, and the pause between
        two such commands, in seconds."""
        return command("LAWN.POLL", "q", "COUNT", MOST, "BLOCK", 0, "META"), 0


class PerTimer:
    name = "a module timer each"
    module = "per_timer"
    size = ("TIMERS.LEN",)

    def put(self, number, delay, now):
        return (b"*4\r\n$11\r\nTIMERS.PUSH\r\n$14\r\n%s\r\n$64\r\n%s\r\n$%d\r\n%d\r\n"
                % (event_id(number), PAYLOAD, len(str(delay)), delay))

    def take(self, connection):
        return command("TIMERS.POLL", MOST, 0), 0


class SetAndHash:
    """Keeps a sorted set of ids by deadline, and a hash of their payloads."""
    module = None
    size = ("ZCARD", "z")

    def __init__(self, pause_ms=10):
        self.pause = pause_ms / 1000
        self.name = "ZSET + HASH, Lua every %d ms" % pause_ms

    def put(self, number, delay, now):
        name = event_id(number)
        return (b"*4\r\n$4\r\nZADD\r\n$1\r\nz\r\n$13\r\n%013d\r\n$14\r\n%s\r\n"
                b"*4\r\n$4\r\nHSET\r\n$1\r\nh\r\n$14\r\n%s\r\n$64\r\n%s\r\n"
                % (now + delay, name, name, PAYLOAD))

    def take(self, connection):
        sha = connection.call("SCRIPT", "LOAD", TAKE)
        return command("EVALSHA", sha, 2, "z", "h", MOST), self.pause


class SetAlone:
    name = "ZSET, payload in the member"
    module = None
    size = ("ZCARD", "z")

    def put(self, number, delay, now):
        return (b"*4\r\n$4\r\nZADD\r\n$1\r\nz\r\n$13\r\n%013d\r\n$78\r\n%s%s\r\n"
                % (now + delay, event_id(number), PAYLOAD))


class Stream:
    name = "STREAM (no deadlines)"
    module = None
    size = ("XLEN", "s")

    def put(self, number, delay, now):
        return (b"*7\r\n$4\r\nXADD\r\n$1\r\ns\r\n$1\r\n*\r\n$1\r\ni\r\n$14\r\n%s\r\n"
                b"$1\r\np\r\n$64\r\n%s\r\n" % (event_id(number), PAYLOAD))
