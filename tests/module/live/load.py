"""load.py - producers and consumers that keep running while servers fail, and
record all replies in a ledger. Each is a thread with its own connections.

A route knows where a key is: route.place(key) is a port, or None while unknown,
and route.turned is incremented whenever that may have changed. An error reply
means that nothing was done; if it names another server, that one is asked next.
Without a reply, it is unknown whether the command ran.
"""

import random
import select
import threading
import time

import resp
from ledger import NOWHERE, Ack, Delivery
from server import now_ms

LEASE = 400  # ms
BLOCK = 100
ELSEWHERE = (b'MOVED', b'ASK', b'TRYAGAIN', b'CLUSTERDOWN', b'READONLY',
             b'UNBLOCKED', b'LOADING', b'MASTERDOWN', b'NOREPLICAS')


class Worker(threading.Thread):
    """Sends commands and reads replies until it is stopped."""

    def __init__(self, ledger, route, seed, keys, loyal=False):
        super().__init__(daemon=True)
        self.ledger = ledger
        self.route = route
        self.dice = random.Random(seed)
        self.keys = keys
        self.loyal = loyal  # stays with a server that does not answer
        self.clients = {}
        self.last = {}  # port → last effect of that server
        self.asking = {}
        self.turned = 0
        self.ending = False
        self.problem = None

    def run(self):
        try:
            while not self.ending or self.busy():
                try:
                    self.turn()
                except OSError:  # no server there
                    time.sleep(0.002)
        except Exception as problem:  # pylint: disable=broad-except
            self.problem = problem
        self.drop()

    def turn(self):
        raise NotImplementedError

    def busy(self):
        """Returns True if work remains even though it was stopped."""
        return False

    def drop(self):
        for client in self.clients.values():
            client.close()
        self.clients = {}

    # SENDING

    def _client(self, key):
        """Returns the connection to the owner of the key, and whether ASKING is
        sent first."""
        if self.turned != self.route.turned and not self.loyal:
            self.turned = self.route.turned
            self.drop()
        port, asking = self.asking.pop(key, None), True
        if port is None:
            port, asking = self.route.place(key), False
        if self.loyal and self.clients:
            port = next(iter(self.clients))
        if port is None:
            raise OSError('unknown owner')
        if port not in self.clients:
            self.clients[port] = resp.Client(port)
        return self.clients[port], port, asking

    def _lost(self, port):
        client = self.clients.pop(port, None)
        if client:
            client.close()

    def _wait(self, client):
        """Waits until data can be read. Returns False if waiting is pointless.
        """
        while client.at == len(client.buffer) \
                and not select.select([client.socket], [], [], 0.05)[0]:
            if self.turned != self.route.turned and not self.loyal:
                return False
            if self.loyal and self.ending:
                return False
        return True

    def _try(self, key, commands):
        """One attempt. Returns the replies, None for missing ones, and the
        effect of the others."""
        client, port, asking = self._client(key)
        first = [('ASKING',)] if asking else []
        replies, effect = [], NOWHERE
        try:
            client.send_all([one for command in commands
                             for one in (*first, command)]
                            + [('INFO', 'replication')])
            for _ in commands:
                if first:
                    client.read()
                if not self._wait(client):
                    raise resp.Late
                replies.append(client.read())
            if not self._wait(client):
                raise resp.Late
            info = client.read()
            # A restarted master considers itself a master at first, with the
            # data of its dump file: it serves no key.
            if not all(isinstance(reply, resp.Error) for reply in replies):
                effect = self.ledger.effect(info)
            before = self.last.get(port, NOWHERE)
            self.last[port] = effect
            if before.history == effect.history and effect is not NOWHERE:
                effect = effect._replace(after=before.offset)
        except (resp.Closed, resp.Late, OSError):
            self._lost(port)
        replies += [None] * (len(commands) - len(replies))
        for reply in replies:
            if isinstance(reply, resp.Error):
                self._redirect(key, reply, port)
        return replies, effect

    def _redirect(self, key, reply, port):
        words = reply.split()
        assert words[0] in ELSEWHERE or b'WAIT cannot' in reply, reply
        if words[0] == b'ASK':
            self.asking[key] = int(words[2].rsplit(b':', 1)[1])
        elif words[0] == b'MOVED':
            self.route.moved(int(words[1]), int(words[2].rsplit(b':', 1)[1]))
        elif words[0] != b'TRYAGAIN':
            self._lost(port)
            time.sleep(0.002)

    def ask(self, key, *commands, again=True):
        """Sends until each command was answered or its result is unknown.
        again=False: an error may be the answer. WAIT counts the writes of its
        own connection, so it is repeated together with the commands, never
        alone."""
        replies = [resp.Error(b'TRYAGAIN')] * len(commands)
        effects = [NOWHERE] * len(commands)
        waits = [i for i, command in enumerate(commands)
                 if command[0] == 'WAIT']
        while True:
            open_ = [i for i, reply in enumerate(replies)
                     if isinstance(reply, resp.Error) and i not in waits]
            if not open_:
                return replies, effects
            open_ += waits
            got, effect = self._try(key, [commands[i] for i in open_])
            for i, reply in zip(open_, got):
                replies[i], effects[i] = reply, effect
            if not again or self.ending:
                return replies, effects


class Pusher(Worker):
    """Pushes a few events at a time, and optionally waits for replicas."""

    def __init__(self, *args, replicas=0, **more):
        super().__init__(*args, **more)
        self.replicas = replicas

    def turn(self):
        key = self.dice.choice(self.keys)
        before = now_ms()
        events = [self.ledger.new(key, before + self.dice.choice((0, 20, 400))
                                  + self.dice.randrange(50))
                  for _ in range(self.dice.choice((1, 5, 20)))]
        commands = [('LAWN.PUSH', key, event.id, event.payload(), 'AT',
                     event.due) for event in events]
        if self.replicas:
            commands.append(('WAIT', self.replicas, 50))
        replies, effects = self.ask(key, *commands, again=False)
        for event, reply, effect in zip(events, replies, effects):
            if isinstance(reply, bytes) and not isinstance(reply, resp.Error):
                assert reply == event.id, reply
                self.ledger.pushed(event, effect)
                event.confirmed = (
                    self.replicas > 0 and isinstance(replies[-1], int)
                    and replies[-1] >= self.replicas)
        time.sleep(self.dice.random() * 0.02)


class Leaser(Worker):
    """Leases events, and then acknowledges, returns or extends them, or sleeps
    and acknowledges with a token that may be stale by then."""

    def __init__(self, *args, replicas=0, **more):
        super().__init__(*args, **more)
        self.replicas = replicas
        self.owner = b'o%d' % self.dice.randrange(1000)
        self.asleep = []  # (when, event, delivery)

    def busy(self):
        return bool(self.asleep)

    def turn(self):
        key = self.dice.choice(self.keys)
        self.wake()
        if self.ending:
            return
        sent = now_ms()
        count = self.dice.choice((1, 10, 100))
        (reply,), (effect,) = self.ask(
            key, ('LAWN.LEASE', key, self.owner, 'LEASE', LEASE, 'COUNT', count,
                  'BLOCK', BLOCK), again=False)
        if not isinstance(reply, list):
            return
        heard = now_ms()
        mine = []
        for id_, payload, token, _, due in reply:
            delivery = Delivery(max(sent, due), heard, effect, token, LEASE)
            event = self.ledger.delivered(key, id_, payload, delivery)
            if event:
                mine.append((event, delivery))
        self.treat(key, mine)

    def treat(self, key, mine):
        fates = self.dice.choices(('ack', 'nack', 'extend', 'sleep'),
                                  (75, 8, 7, 10), k=len(mine))
        chosen = {fate: [pair for pair, one in zip(mine, fates) if one == fate]
                  for fate in ('ack', 'nack', 'extend', 'sleep')}
        for event, delivery in chosen['nack']:
            sent, delay = now_ms(), self.dice.randrange(50)
            (reply,), (effect,) = self.ask(key, (
                'LAWN.NACK', key, event.id, delivery.token, 'DELAY', delay))
            delivery.back = reply != 0
            if reply == 1:
                delivery.nack = sent + delay, effect
        for event, delivery in chosen['extend']:
            sent = now_ms()
            (end,), (effect,) = self.ask(key, (
                'LAWN.EXTEND', key, event.id, delivery.token, 'LEASE', LEASE))
            if isinstance(end, int) and end:
                assert end >= sent + LEASE, end
                delivery.end, delivery.effect = end, effect
        self.acknowledge(key, chosen['ack'] + chosen['extend'])
        when = now_ms() + LEASE + self.dice.randrange(LEASE)
        self.asleep += [(when, *pair) for pair in chosen['sleep']]

    def acknowledge(self, key, pairs):
        if not pairs:
            return
        sent = now_ms()
        words = [word for event, delivery in pairs
                 for word in (event.id, delivery.token)]
        commands = [('LAWN.ACK', key, *words)]
        if self.replicas:
            commands.append(('WAIT', self.replicas, 50))
        replies, effects = self.ask(key, *commands)
        if isinstance(replies[0], resp.Error):
            return  # nothing was done
        confirmed = (self.replicas > 0 and isinstance(replies[-1], int)
                     and replies[-1] >= self.replicas)
        for i, (event, delivery) in enumerate(pairs):
            reply = None if replies[0] is None else replies[0][i]
            self.ledger.acked(event, Ack(delivery.token, reply, effects[0],
                                         sent, confirmed))

    def wake(self):
        """Late, and all at once: those of one key in one command."""
        ready = [one for one in self.asleep
                 if one[0] <= now_ms() or self.ending]
        self.asleep = [one for one in self.asleep if one not in ready]
        for key in {event.key for _, event, _ in ready}:
            self.acknowledge(key, [(event, delivery) for _, event, delivery
                                   in ready if event.key == key])


class Poller(Worker):
    """Takes due events, at most once each."""

    COUNT = 5

    def turn(self):
        key = self.dice.choice(self.keys)
        sent = now_ms()
        (reply,), (effect,) = self.ask(
            key, ('LAWN.POLL', key, 'COUNT', self.COUNT, 'BLOCK', BLOCK),
            again=False)
        if reply is None:
            self.ledger.poll_unheard(key, self.COUNT, now_ms())
        elif isinstance(reply, list):
            heard = now_ms()
            for id_, payload in reply:
                self.ledger.delivered(key, id_, payload,
                                      Delivery(sent, heard, effect))


class Tailer(Worker):
    """Reads the streams that sinks write to."""

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.entry = {key: b'0' for key in self.keys}

    def turn(self):
        key = self.dice.choice(self.keys)
        stream = self.ledger.sinks[key]
        sent = now_ms()
        (reply,), (effect,) = self.ask(
            stream, ('XREAD', 'COUNT', 100, 'BLOCK', BLOCK // 2, 'STREAMS',
                     stream, self.entry[key]), again=False)
        if not isinstance(reply, list):
            return
        heard = now_ms()
        for entry, fields in reply[0][1]:
            got = dict(zip(fields[::2], fields[1::2]))
            self.entry[key] = bytes(entry)
            self.ledger.delivered(key, got[b'id'], got[b'payload'], Delivery(
                sent, heard, effect, bytes(entry)))
