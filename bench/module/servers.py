"""A server for one measurement, and connections to it.

A load generator in Python must do little work per command. So commands are formatted
beforehand, replies that are not needed are switched off, and errors are read from the
server at the end.

tests/module/live/server.py starts and ends the server, and resp.py reads replies, as in
the tests.
"""
import os
import sys

import resp
import server as live

command = resp.encode

# Random, so that a dump file cannot compress it.
PAYLOAD = b"DNxril3RavGD5MfvJ7NScUykT8C8UBkkpdhiG37LeXSyYV4g6snRoUYA4fXr6nzr"
FILL = 2000  # commands in a buffer
PATIENCE = 30  # seconds until a missing reply counts as lost


def fail(text):
    sys.exit("bench-module: " + text)


def event_id(number):
    """Returns the id of an event, in the form in which redis-benchmark generates it
    from e___rand_int__."""
    return b"e_%012d" % number


class Connection(resp.Client):
    def __init__(self, port):
        super().__init__(port, patience=PATIENCE)

    def call(self, *words):
        """Sends one command, and no other with it: a server that is loading data
        accepts INFO and few other commands. Returns the reply; raises ValueError for an
        error."""
        reply = self.one(*words)
        if isinstance(reply, resp.Error):
            raise ValueError(reply.decode())
        return reply

    def quiet(self):
        """Switches replies off, so that none have to be read while many commands are
        sent."""
        self.send("CLIENT", "REPLY", "OFF")

    def loud(self):
        """Switches replies on again, and waits until all earlier commands have been
        processed."""
        self.send("CLIENT", "REPLY", "ON")
        reply = self.read()
        if reply != resp.OK:
            raise ValueError(reply)

    def fill(self, commands):
        """Sends all formatted commands of an iterable, without replies."""
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
        """Returns the fields of a reply that has one field per line, as a dict."""
        lines = self.call(*words).decode().split("\r\n")
        return dict(line.split(":", 1) for line in lines if ":" in line)


class Server(live.Server):
    """Runs one server, from its creation to the end of the `with` block."""

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
        """Returns the bytes in use, without the buffers of clients."""
        found = self.admin.info("memory")
        return int(found["used_memory"]) - int(found["mem_clients_normal"])

    def cpu(self):
        """Returns the CPU time of all threads, in seconds."""
        found = self.admin.info("cpu")
        return float(found["used_cpu_user"]) + float(found["used_cpu_sys"])

    def reset(self):
        self.admin.call("CONFIG", "RESETSTAT")

    def stats(self, name):
        """Returns the statistics of a command, as a dict."""
        if name.lower() not in self.called():
            fail("%s was not called" % name)
        return dict(pair.split("=") for pair in self.called()[name.lower()].split(","))

    def called(self):
        """Returns {command: statistics} for the commands that were called since the
        last reset."""
        return {key.lower()[len("cmdstat_"):]: value
                for key, value in self.admin.info("commandstats").items()}

    def usec(self, name):
        """Returns the microseconds spent in a command since the last reset."""
        return int(self.stats(name)["usec"])

    def usec_per_call(self, name):
        """Returns the microseconds per call of a command, and the number of calls."""
        fields = self.stats(name)
        return int(fields["usec"]) / int(fields["calls"]), int(fields["calls"])

    def no_errors(self, what):
        """Fails if a command has returned an error since the last reset."""
        errors = [name for name in self.admin.info("errorstats") if "errorstat_" in name]
        if errors:
            fail("%s: the server answered with errors: %s" % (what, " ".join(errors)))
