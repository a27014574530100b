"""nodes.py - several connected servers: a master with its replicas, or a
cluster; started, killed, stopped, cut off and promoted.

A replica is connected to its master through a link of this test, which can be
cut after any byte. On one machine nearly all data that a master has sent
reaches its replicas even if it is killed; with a cut link it continues to
answer clients without any replica.
"""

import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import threading

import resp
import server
from server import Server, equal, wait_until

SLOTS = 16384


class Link:
    """A proxy between a replica and its master. It forwards the master's data
    until cut(), and always the replica's."""

    def __init__(self, port):
        self.to = port
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.left = None  # bytes still to be forwarded; None: unlimited
        self.mark = None  # bytes that must be forwarded before
        self.beyond = 0  # number of bytes after that
        self.lock = threading.Lock()
        self.sockets = []
        self.open = True
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while self.open:
            try:
                near, _ = self.listener.accept()
                far = socket.create_connection(('127.0.0.1', self.to))
            except OSError:
                continue
            self.sockets += [near, far]
            for ends in ((near, far, False), (far, near, True)):
                threading.Thread(target=self._pump, args=ends,
                                 daemon=True).start()

    def _pump(self, source, target, may_be_cut):
        try:
            while data := source.recv(1 << 16):
                if may_be_cut:
                    data = self._pass(data)
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _pass(self, data):
        """Returns the part of the data that is forwarded. The rest is lost."""
        with self.lock:
            if self.left is None:
                return data
            count = min(self.left, len(data))
            self.left -= count
            if self.left == 0 and self.mark:
                at = data.find(self.mark, count)
                if at < 0:
                    return data
                count = at + len(self.mark)
                self.mark, self.left = None, self.beyond
                more = min(self.left, len(data) - count)
                self.left -= more
                count += more
            return data[:count]

    def cut(self, after=0, mark=None, beyond=0):
        """Forwards this number of bytes more, or this number beyond the next
        mark after them."""
        with self.lock:
            self.left, self.mark, self.beyond = after, mark, beyond

    def is_cut(self):
        return self.left == 0 and not self.mark

    def close(self):
        self.open = False
        for end in [self.listener, *self.sockets]:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()


def replication(one):
    return one.info('replication')


def linked(replica):
    return replication(replica).get('master_link_status') == 'up'


class Group:
    """A master and its replicas."""

    def __init__(self, replicas=2, options=()):
        self.options = options
        self.master = Server(*options)
        self.links = {}
        self.replicas = [Server(*options) for _ in range(replicas)]
        for replica in self.replicas:
            self.follow(replica)
        self.wait_linked()

    def follow(self, replica):
        """Makes it follow the master, through an intact link."""
        self.unlink(replica)
        link = self.links[replica] = Link(self.master.port)
        equal(replica.call('REPLICAOF', '127.0.0.1', link.port), resp.OK)

    def unlink(self, replica):
        if replica in self.links:
            self.links.pop(replica).close()

    def wait_linked(self):
        for replica in self.replicas:
            wait_until(lambda one=replica: linked(one), 'a replica is linked')
        wait_until(lambda: replication(self.master)['connected_slaves']
                   == str(len(self.replicas)), 'all replicas are there')

    def by_offset(self):
        """Returns the replicas, the most advanced first."""
        return sorted(self.replicas, reverse=True, key=lambda one:
                      int(replication(one)['slave_repl_offset']))

    def promote(self, chosen):
        """Makes the chosen replica the master, without notifying the old one.
        Returns the old one."""
        self.unlink(chosen)
        equal(chosen.call('REPLICAOF', 'NO', 'ONE'), resp.OK)
        return self.instead(chosen)

    def instead(self, chosen):
        """Records it as the master; the other replicas follow it."""
        old, self.master = self.master, chosen
        self.replicas.remove(chosen)
        for replica in self.replicas:
            self.follow(replica)
        return old

    def take_back(self, node):
        """Makes a former master follow the current one."""
        self.replicas.append(node)
        self.follow(node)

    def end(self):
        for link in self.links.values():
            link.close()
        for node in [self.master, *self.replicas]:
            node.check()
            node.end()


def freeze(node):
    os.kill(node.process.pid, signal.SIGSTOP)


def thaw(node):
    os.kill(node.process.pid, signal.SIGCONT)


# CLUSTERS

def crc16(data):
    """The CRC of cluster slots (XMODEM)."""
    value = 0
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1) ^ 0x1021 if value & 0x8000 else value << 1
        value &= 0xffff
    return value


def slot(key):
    """Uses the text in the first braces, unless it is empty."""
    key = key if isinstance(key, bytes) else key.encode()
    found = re.search(rb'\{([^}]+)\}', key)
    # If the first braces are empty, the whole key counts.
    tag = found.group(1) if found and key.find(b'{') == found.start() else key
    return crc16(tag) % SLOTS


class Node(Server):
    """A node of a cluster: it needs a second port, 10000 above the first."""

    @staticmethod
    def pick_port():
        while True:
            port = random.SystemRandom().randrange(12000, 22000)
            try:
                for one in (port, port + 10000):
                    with socket.socket() as probe:
                        probe.bind(('127.0.0.1', one))
                return port
            except OSError:
                continue


# ms until a node is considered failed
PATIENT, HASTY, HURRIED = 30000, 5000, 2000


class Cluster:
    """Masters, each with a replica, created by the server's own tool. Tests
    that wait for a failover make the nodes hasty; otherwise a node that merely
    waits for the processor is not considered failed."""

    def __init__(self, masters=3):
        options = ('cluster-enabled', 'yes', 'cluster-node-timeout',
                   HASTY, 'cluster-config-file', 'nodes.conf',
                   'cluster-replica-validity-factor', 0)
        self.nodes = [Node(*options) for _ in range(2 * masters)]
        self.tool('create', *[f'127.0.0.1:{node.port}' for node in self.nodes],
                  '--cluster-replicas', '1')
        self.wait_whole()
        self.set_timeout(PATIENT)

    def set_timeout(self, ms):
        for node in self.alive():
            node.call('CONFIG', 'SET', 'cluster-node-timeout', ms)

    @contextlib.contextmanager
    def hasty(self, ms):
        """For a while, until the cluster is healthy again."""
        self.set_timeout(ms)
        yield
        self.wait_whole()
        self.set_timeout(PATIENT)

    def tool(self, *words):
        """Runs the tool with --cluster. Returns its output."""
        done = subprocess.run(
            [f'{server.KIND}-cli', '--cluster', *map(str, words),
             '--cluster-yes'], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=6 * server.PATIENCE, check=False)
        text = done.stdout.decode(errors='replace')
        assert done.returncode == 0, f'{words[0]}: {text[-1500:]}'
        return text

    def alive(self):
        return [node for node in self.nodes if node.process is not None]

    def masters(self):
        """Returns the nodes that have slots."""
        return [node for node in self.alive()
                if replication(node)['role'] == 'master' and self.slots(node)]

    def replica_of(self, master):
        for node in self.alive():
            info = replication(node)
            if info['role'] == 'slave' and info['master_port'] \
                    == str(master.port):
                return node
        return None

    @staticmethod
    def ident(node):
        return node.call('CLUSTER', 'MYID').decode()

    def slots(self, node):
        """Returns the number of slots of a node, by its own data."""
        me = self.ident(node)
        for line in node.call('CLUSTER', 'NODES').decode().splitlines():
            words = line.split()
            if words[0] == me:
                return len([word for word in words[8:] if word[0] != '['])
        return 0

    def owner(self, number):
        """Returns the master of a slot, by the masters' own data."""
        for node in self.masters():
            for first, last, place, *_ in node.call('CLUSTER', 'SLOTS'):
                if first <= number <= last and place[1] == node.port:
                    return node
        return None

    @staticmethod
    def can_restart(node):
        """Valkey 8.0 rejects its own configuration file if a replica's shard
        differs from its master's, which happens for a moment while it is being
        settled (its issue 2171); Redis 7.0 has no shards."""
        node.call('CLUSTER', 'SAVECONFIG')
        found = {}
        for line in (node.folder / 'nodes.conf').read_text().splitlines():
            shard = re.search('shard-id=([0-9a-f]+)', line)
            ident, _, _, master, *_ = line.split()
            found[ident] = master, shard and shard[1]
        return all(found.get(master, (None, shard))[1] == shard
                   for master, shard in found.values())

    def whole(self):
        """Waits until all nodes see each other, all slots are served, every
        master has a connected replica, and each node can be killed and
        restarted."""
        for node in self.alive():
            text = node.call('CLUSTER', 'INFO').decode()
            if 'cluster_state:ok' not in text or \
                    f'cluster_known_nodes:{len(self.nodes)}' not in text:
                return False
            if re.search(r'fail', node.call('CLUSTER', 'NODES').decode()):
                return False
            info = replication(node)
            if info['role'] == 'slave' and info['master_link_status'] != 'up':
                return False
            if not self.can_restart(node):
                return False
        return all(replication(one)['connected_slaves'] != '0'
                   for one in self.masters())

    def wait_whole(self):
        wait_until(self.whole, 'the cluster is whole', 3 * server.PATIENCE)

    def reshard(self, source, target, count):
        return self.tool('reshard', f'127.0.0.1:{source.port}',
                         '--cluster-from', self.ident(source), '--cluster-to',
                         self.ident(target), '--cluster-slots', count)

    def end(self):
        for node in self.nodes:
            node.check()
            node.end()
