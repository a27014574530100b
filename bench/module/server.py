"""A server for one measurement, and connections to it, as few bytes of Python
as a load generator can afford: commands are formatted ahead, replies that nobody
needs are switched off, and what went wrong is asked of the server afterwards.
"""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

PAYLOAD = b"p" * 64
FILL = 2000  # commands in a buffer
PATIENCE = 30  # seconds until something that must come counts as lost


def fail(text):
    sys.exit("bench-module: " + text)


def command(*words):
    """A command as it goes over the wire."""
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        if not isinstance(word, bytes):
            word = str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
    return b"".join(parts)


def event_id(number):
    """The id of an event as redis-benchmark makes it of e_ and __rand_int__."""
    return b"e_%012d" % number


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(PATIENCE)
        self.file = self.socket.makefile("rb")

    def call(self, *words):
        """The reply; an error is raised."""
        self.socket.sendall(command(*words))
        reply = self.read()
        if isinstance(reply, Exception):
            raise reply
        return reply

    def read(self):
        line = self.file.readline()
        if not line:
            raise EOFError("the server hung up")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest
        if kind == b"-":
            return ValueError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            size = int(rest)
            return None if size < 0 else self.file.read(size + 2)[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        raise ValueError("not a reply: %r" % line)

    def quiet(self):
        """No more replies: nothing has to be read while much is sent."""
        self.socket.sendall(command("CLIENT", "REPLY", "OFF"))

    def loud(self):
        """Replies again, after all that was sent before has been done."""
        self.socket.sendall(command("CLIENT", "REPLY", "ON"))
        reply = self.read()
        if reply != b"OK":
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
        lines = self.call("INFO", section).decode().split("\r\n")
        return dict(line.split(":", 1) for line in lines if ":" in line)


class Server:
    """One server, for `with`: started when entered, gone when left."""

    def __init__(self, name, modules=(), aof=False):
        self.name = name
        self.modules = modules
        self.aof = aof

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="bench-module-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        words = [self.name + "-server", "--port", str(self.port), "--bind", "127.0.0.1",
                 "--save", "", "--dir", self.folder, "--logfile", "log",
                 "--auto-aof-rewrite-percentage", "0", "--appendfsync", "everysec",
                 "--appendonly", "yes" if self.aof else "no"]
        for module in self.modules:
            words += ["--loadmodule", os.path.abspath(module)]
        self.process = subprocess.Popen(words)
        try:
            self.admin = self.connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def connect(self):
        """A connection, once the server takes one."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return Connection(self.port)
            except ConnectionRefusedError:
                if self.process.poll() is not None or time.monotonic() > until:
                    with open(os.path.join(self.folder, "log")) as log:
                        fail("%s-server does not start:\n%s" % (self.name, log.read()))
                time.sleep(0.01)

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

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

    def usec_per_call(self, name):
        """Microseconds and calls that the server counted for a command."""
        found = self.admin.info("commandstats").items()
        stats = dict((key.lower(), value) for key, value in found).get("cmdstat_" + name.lower())
        if stats is None:
            fail("%s was not called" % name)
        fields = dict(pair.split("=") for pair in stats.split(","))
        return int(fields["usec"]) / int(fields["calls"]), int(fields["calls"])

    def check(self, what):
        """That no command has failed since the last reset."""
        errors = [name for name in self.admin.info("errorstats") if "errorstat_" in name]
        if errors:
            fail("%s: the server answered with errors: %s" % (what, " ".join(errors)))
