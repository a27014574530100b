"""ledger.py - records commands sent to servers that fail, and their replies,
and checks whether the result is allowed. Shared by failover.py and cluster.py.

An EFFECT is an answered command: the history that it belongs to (the
replication id of the master that ran it), the offset of that history when the
reply arrived, and its offset before the command was sent. When a replica takes
over, its second id and offset give exactly how much of the old history it has.
An effect up to there has reached the replica and must be visible from then on.
A later one may be lost, and its changes may be undone. So every loss and every
duplicate is attributed: it is known whether the promoted replica had received
the command.

An event has a unique id and is pushed once, for a time that the ledger chooses.
There are three kinds of keys: keys whose events are leased and acknowledged,
keys that are polled, and keys with a stream as their sink.

    lost         answered, and gone without having been delivered in the
                 surviving history: not in the stream there, not polled, or not
                 acknowledged by a command that can have reached it. An event
                 that WAIT had confirmed, or that had reached the promoted
                 replica, must not be lost [G2 G3]; other lost events are
                 counted. Events taken by a POLL whose reply was lost count as
                 unheard
    duplicated   delivered again [G3]: after the end of a lease; or because the
                 lease, ACK, POLL or XADD had not reached the promoted replica.
                 Events returned by NACK do not count. Any other is unexplained
    early        delivered before it is due [G5]
    fenced       an ACK with the token of a lease that was superseded, and that
                 was rejected; if it was accepted, it is unexplained, too
"""

import collections
import math
import re
import threading

Effect = collections.namedtuple('Effect', 'history offset after', defaults=[-1])
NOWHERE = Effect(None, math.inf)
Ack = collections.namedtuple('Ack', 'token reply effect sent confirmed')
FIELDS = {name: re.compile(rb'\n%s:(\S+)' % name.encode())
          for name in ('role', 'master_replid', 'master_replid2',
                       'master_repl_offset', 'second_repl_offset')}


class Delivery:
    """One delivery of an event."""

    def __init__(self, sent, heard, effect, token=0, lease=0):
        self.sent = sent  # ms, when it was requested
        self.heard = heard
        self.done = heard  # or earlier, if known
        self.effect = effect
        self.token = token
        self.end = sent + lease  # not earlier
        self.back = False  # returned, or possibly
        self.nack = None  # (not before, effect) if certain


class Event:
    """The record of one event."""

    def __init__(self, key, id_, due):
        self.key = key
        self.id = id_
        self.due = due
        self.answered = False
        self.confirmed = False
        self.effect = NOWHERE
        self.deliveries = []
        self.acks = []  # reply: None if there was none

    def payload(self):
        return b'p' + self.id


class Counts:
    """The result of a trial; results can be added."""

    NAMES = ('pushed', 'confirmed', 'delivered', 'lost_confirmed',
             'lost_reached', 'lost', 'unheard', 'after_end', 'unreplicated',
             'unexplained', 'back', 'early', 'fenced')

    def __init__(self):
        for name in self.NAMES:
            setattr(self, name, 0)
        self.latest = 0
        self.faults = []

    def add(self, other):
        for name in self.NAMES:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.latest = max(self.latest, other.latest)
        self.faults += other.faults

    def fault(self, name, text):
        setattr(self, name, getattr(self, name) + 1)
        self.faults.append(f'{name}: {text}')

    def text(self):
        twice = self.after_end + self.unreplicated + self.unexplained
        return (
            f'pushed {self.pushed} ({self.confirmed} confirmed by WAIT), '
            f'delivered {self.delivered}, lost {self.lost_confirmed} confirmed '
            f'+ {self.lost_reached} replicated + {self.lost} others '
            f'({self.unheard} unheard), duplicated {twice} ({self.after_end} '
            f'after a lease, {self.unreplicated} not replicated, '
            f'{self.unexplained} unexplained), early {self.early}, latest '
            f'{self.latest} ms, {self.fenced} stale ACKs refused')


class Ledger:
    """All events of a trial."""

    def __init__(self, kinds, sinks):
        self.lock = threading.RLock()
        self.events = {}
        self.kinds = kinds  # a key → lease, poll or sink
        self.sinks = sinks  # a key with a sink → its stream
        self.ends = {}  # history → how much of it the next one has
        self.doubtful_polls = collections.defaultdict(list)
        self.strange = []
        self.made = 0
        self.answered = 0
        self.heard = 0

    # REPLIES

    def effect(self, info):
        """Returns the effect from a reply to INFO replication that followed a
        command."""
        got = {name: found.group(1) for name, what in FIELDS.items()
               if (found := what.search(info))}
        if got.get('role') != b'master':
            return NOWHERE
        with self.lock:
            end = int(got['second_repl_offset']) - 1
            if end >= 0:
                old = got['master_replid2']
                self.ends[old] = min(end, self.ends.get(old, end))
        return Effect(got['master_replid'], int(got['master_repl_offset']))

    def reached(self, effect):
        """Returns True if it is certainly in the surviving history."""
        if effect.history is None:
            return False
        return effect.offset <= self.ends.get(effect.history, math.inf) \
            and effect.offset != math.inf

    def may_have_reached(self, effect):
        """Returns False only if it is certainly not in the surviving history:
        that history ends before the command was sent."""
        return effect.after < self.ends.get(effect.history, math.inf)

    def new(self, key, due):
        with self.lock:
            self.made += 1
            event = Event(key, b'%d' % self.made, due)
            self.events[key, event.id] = event
            return event

    def pushed(self, event, effect):
        with self.lock:
            event.answered = True
            event.effect = effect
            self.answered += 1

    def delivered(self, key, id_, payload, delivery):
        with self.lock:
            event = self.events.get((key, bytes(id_)))
            if event is None or payload != event.payload():
                self.strange.append(f'{key!r} has {id_!r} {payload!r}')
                return None
            event.deliveries.append(delivery)
            self.heard += 1
            return event

    def acked(self, event, ack):
        with self.lock:
            event.acks.append(ack)

    def poll_unheard(self, key, count, when):
        """It may have taken this number of the events that were due then."""
        with self.lock:
            self.doubtful_polls[key] += [when] * count

    def waits_for(self):
        """Returns how many were pushed and answered."""
        with self.lock:
            return self.answered, self.heard

    # RESULTS

    def verdict(self, streams):
        """Returns the counts, when all keys are empty. streams: for each key
        with a sink, all (entry, id) at the end."""
        counts = Counts()
        for what in self.strange:
            counts.fault('unexplained', what)
        for event in self.events.values():
            kind = self.kinds[event.key]
            if kind == 'sink':
                there = streams[event.key].get(event.id, [])
                self._sink(counts, event, there)
                taken = there
            elif kind == 'lease':
                self._lease(counts, event)
                taken = [ack for ack in event.acks if ack.reply != 0
                         and self.may_have_reached(ack.effect)]
            else:
                self._poll(counts, event)
                taken = [one for one in event.deliveries
                         if self.may_have_reached(one.effect)]
            counts.pushed += event.answered
            counts.confirmed += event.confirmed
            counts.delivered += bool(event.deliveries)
            self._times(counts, event)
            if not taken and event.answered:
                self._lost(counts, event)
        return counts

    def _lost(self, counts, event):
        what = (f'{event.key!r} {event.id!r}, due at {event.due}, answered at '
                f'{event.effect}, {len(event.deliveries)} deliveries')
        polls = self.doubtful_polls[event.key]
        doubtful = [when for when in polls if when >= event.due]
        if not event.confirmed and not self.reached(event.effect):
            counts.lost += 1
        elif doubtful:
            polls.remove(doubtful[0])
            counts.unheard += 1
        else:
            counts.fault('lost_confirmed' if event.confirmed
                         else 'lost_reached', what)

    @staticmethod
    def _times(counts, event):
        for delivery in event.deliveries:
            if delivery.heard < event.due:
                counts.fault('early', f'{event.key!r} {event.id!r} by '
                             f'{event.due - delivery.heard} ms')
        if event.deliveries:
            first = min(one.done for one in event.deliveries)
            counts.latest = max(counts.latest, first - event.due)

    def _lease(self, counts, event):
        held = sorted(event.deliveries, key=lambda one: one.token)
        for before, after in zip(held, held[1:]):
            if before.back:
                counts.back += 1
                if before.nack and after.heard < before.nack[0] \
                        and self.reached(before.nack[1]) \
                        and self.reached(after.effect):
                    counts.fault('early', f'{event.key!r} {event.id!r} again '
                                 f'{before.nack[0] - after.heard} ms early')
            elif before.token == after.token:
                counts.fault('unexplained', f'{event.key!r} {event.id!r} twice '
                             f'with token {after.token}')
            elif after.heard >= before.end:
                counts.after_end += 1
            elif not self.reached(before.effect) \
                    or not self.reached(after.effect):
                counts.unreplicated += 1
            else:
                counts.fault('unexplained', f'{event.key!r} {event.id!r} again '
                             f'{before.end - after.heard} ms before its end')
        for ack in event.acks:
            later = [one for one in held if one.token > ack.token]
            if not later:
                continue
            if ack.reply == 0:
                counts.fenced += any(one.heard <= ack.sent for one in later)
            elif ack.reply == 1 \
                    and (ack.confirmed or self.reached(ack.effect)) \
                    and any(self.reached(one.effect) for one in later):
                counts.fault('unexplained', f'{event.key!r} {event.id!r} '
                             f'acknowledged with {ack.token}, and leased as '
                             f'{[one.token for one in later]}')

    def _poll(self, counts, event):
        taken = sorted(event.deliveries, key=lambda one: one.heard)
        for before, after in zip(taken, taken[1:]):
            if self.reached(before.effect) and self.reached(after.effect):
                counts.fault('unexplained', f'{event.key!r} {event.id!r} '
                             'polled twice')
            else:
                counts.unreplicated += 1

    def _sink(self, counts, event, there):
        """Checks the entries of an event. A reader may have seen entries that
        did not survive; at most one entry of the event survives [G4]."""
        if len(there) > 1:
            counts.fault('unexplained', f'{event.key!r} {event.id!r} is in '
                         f'the stream as {there}')
        seen = {one.token: one for one in event.deliveries}
        for entry, delivery in seen.items():
            if entry not in there:
                if self.reached(delivery.effect):
                    counts.fault('unexplained', f'entry {entry} of {event.id!r} '
                                 'was there, and is not')
                elif there:
                    counts.unreplicated += 1
        for entry in there:
            if entry not in seen:
                when = max(written(entry), event.due)
                event.deliveries.append(Delivery(when, when, NOWHERE, entry))
        for delivery in event.deliveries:
            delivery.done = written(delivery.token)


def written(entry):
    """Returns the time at which an entry was written, in ms, as far as its id
    shows: Valkey uses the time at which an iteration of its loop began, which
    may be before the events were due. So only entries read before the due time
    are early."""
    return int(entry.split(b'-')[0])
