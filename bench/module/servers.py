"""A server for one measurement, and connections to it, as few bytes of Python
as a load generator can afford: commands are formatted ahead, unneeded
replies are switched off, and errors are read from the server at the end.

Starting and ending it, and reading replies, is what the tests do, too: see
tests/module/live/server.py and resp.py.
"""
import os
import sys

import resp
import server as live

command = resp.encode

# Nothing that a dump file could pack.
PAYLOAD = b"DNxril3RavGD5MfvJ7NScUykT8C8UBkkpdhiG37LeXSyYV4g6snRoUYA4fXr6nzr"
FILL = 2000  # commands in a buffer
PATIENCE = 30  # seconds until something that must come counts as lost


def fail(text):
    sys.exit("bench-module: " + text)


def event_id(number):
    """The id of an event as redis-benchmark makes it of e_ and __rand_int__."""
    return b"e_%012d" % number


class Connection(resp.Client):
    def __init__(self, port):
        super().__init__(port, patience=PATIENCE)

    def call(self, *words):
        """The reply; an error is raised. Nothing goes with it: a server that
        loads answers INFO and little else."""
        reply = self.one(*words)
        if isinstance(reply, resp.Error):
            raise ValueError(reply.decode())
        return reply

    def quiet(self):
        """No more replies: nothing has to be read while much is sent."""
        self.send("CLIENT", "REPLY", "OFF")

    def loud(self):
        """Replies again, after all that was sent before has been done."""
        self.send("CLIENT", "REPLY", "ON")
        reply = self.read()
        if reply != resp.OK:
            raise ValueError(reply)

    def fill(self, commands):
        """Sends all of an iterable of formatted commands; no replies."""
        self.quiet()
        buffer = []
        for one in commands:
            buffer.append(one)
            if len(buffer) == FILL:
                self.socket.sendall(b"".join(buffer))
                buffer = []
        self.socket.sendall(b"".join(buffer))
        self.loud()

    def info(self, section):
        return self.info_of("INFO", section)

    def info_of(self, *words):
        """The fields that a command returns, one per line."""
        lines = self.call(*words).decode().split("\r\n")
        return dict(line.split(":", 1) for line in lines if ":" in line)


class Server(live.Server):
    """One server: there when it is made, gone when `with` is left."""

    def __init__(self, name, modules=(), aof=False, options=()):
        self.name = name
        self.paths = [os.path.abspath(module) for module in modules]
        try:
            super().__init__("auto-aof-rewrite-percentage", 0, "appendfsync", "everysec",
                             "appendonly", "yes" if aof else "no", *options,
                             kind=name, module=False)
        except AssertionError as why:
            fail("%s: %s\n%s" % (name, why, self.log()))
        self.admin = self.connect()

    def _command(self):
        return super()._command() + [word for path in self.paths
                                     for word in ("--loadmodule", path)]

    def __exit__(self, *_):
        self.end()

    def connect(self):
        return Connection(self.port)

    def memory(self):
        """Bytes in use by data, clients' buffers aside."""
        found = self.admin.info("memory")
        return int(found["used_memory"]) - int(found["mem_clients_normal"])

    def cpu(self):
        """CPU seconds of the main thread and all others."""
        found = self.admin.info("cpu")
        return float(found["used_cpu_user"]) + float(found["used_cpu_sys"])

    def reset(self):
        self.admin.call("CONFIG", "RESETSTAT")

    def stats(self, name):
        """What the server counted for a command."""
        if name.lower() not in self.called():
            fail("%s was not called" % name)
        return dict(pair.split("=") for pair in self.called()[name.lower()].split(","))

    def called(self):
        """{command: what was counted} of those that were called since the reset."""
        return {key.lower()[len("cmdstat_"):]: value
                for key, value in self.admin.info("commandstats").items()}

    def usec(self, name):
        """Microseconds in a command since the last reset."""
        return int(self.stats(name)["usec"])

    def usec_per_call(self, name):
        """Microseconds and calls that the server counted for a command."""
        fields = self.stats(name)
        return int(fields["usec"]) / int(fields["calls"]), int(fields["calls"])

    def no_errors(self, what):
        """That no command has failed since the last reset."""
        errors = [name for name in self.admin.info("errorstats") if "errorstat_" in name]
        if errors:
            fail("%s: the server answered with errors: %s" % (what, " ".join(errors)))
