#!/usr/bin/env python3
"""algorithm.py - the algorithm of the paper, line by line, and its errors: each case is
a counterexample that docs/PAPER.md names.

It is the pseudocode and nothing else. Where that is not a program, it has the smallest
change that makes it one: TimerExpired passes the id to DeleteTimer, as DeleteTimer
expects, instead of the timer; the bucket that it removes is that of the timer's TTL;
and the loop visits the queues that existed when it began.
"""

import sys


class Lawn:
    """Algorithm 1; the caller sets the time."""

    def __init__(self):
        self.queues = {}   # TTLHash
        self.timers = {}   # TimerHash
        self.closest = 0
        self.now = 0
        self.fired = []    # (time, id), in the order of firing
        self.looks = 0     # reads of queue heads

    def start_timer(self, name, ttl, payload=None):
        timer = (self.now + ttl, ttl, name, payload)
        self.timers[name] = timer
        if ttl not in self.queues:
            self.queues[ttl] = []
        self.queues[ttl].append(timer)
        if timer[0] < self.closest:
            self.closest = timer[0]

    def per_tick_bookkeeping(self):
        if self.now < self.closest:
            return
        for queue in list(self.queues.values()):
            timer = self.peek(queue)
            while timer[0] < self.now:
                self.timer_expired(timer[2])
                timer = self.peek(queue)
            if self.closest == 0 or timer[0] < self.closest:
                self.closest = timer[0]

    def timer_expired(self, name):
        timer = self.timers[name]
        self.delete_timer(name)
        self.fired.append((self.now, name))
        if timer[3] is not None:
            timer[3]()

    def delete_timer(self, name):
        timer = self.timers[name]
        if timer[0] == self.closest:
            self.closest = 0
        self.queues[timer[1]].remove(timer)
        del self.timers[name]
        if not self.queues[timer[1]]:
            del self.queues[timer[1]]

    def peek(self, queue):
        """The result for a queue without timers is unspecified: None here."""
        self.looks += 1
        return queue[0]

    def run_to(self, time):
        while self.now < time:
            self.now += 1
            self.per_tick_bookkeeping()


class Mended(Lawn):
    """With a change that lets it continue where it would stop: the head of an empty
    queue is never due. Everything else is unchanged."""

    def peek(self, queue):
        self.looks += 1
        return queue[0] if queue else (float('inf'),)


def fails(kind, call, *arguments):
    try:
        call(*arguments)
    except kind:
        return True
    return False


def a_queue_that_has_just_been_emptied_is_looked_at():
    lawn = Lawn()
    lawn.start_timer('a', 10)
    assert fails(IndexError, lawn.run_to, 11)


def a_timer_fires_a_tick_late():
    lawn = Mended()
    lawn.start_timer('a', 10)
    lawn.run_to(10)
    assert lawn.fired == []
    lawn.run_to(11)
    assert lawn.fired == [(11, 'a')]


def a_timer_is_forgotten_when_a_later_queue_sets_the_closest_expiration():
    """a is due at 10. At 9 its queue is checked first, while the closest expiration is
    still 8, and then b fires: the closest remaining expiration becomes that of b's
    queue."""
    lawn = Mended()
    lawn.start_timer('a', 10)
    lawn.start_timer('b', 8)
    lawn.run_to(7)
    lawn.start_timer('c', 8)
    lawn.start_timer('d', 1000000)
    lawn.run_to(9)
    assert lawn.fired == [(9, 'b')] and lawn.closest == 15
    lawn.run_to(20)
    assert lawn.fired == [(9, 'b'), (15, 'a'), (16, 'c')]


def how_late_a_forgotten_timer_is_has_no_bound():
    for ttl in (100, 1000, 10000):
        lawn = Mended()
        lawn.start_timer('a', ttl + 1)
        lawn.start_timer('b', ttl)
        lawn.run_to(ttl)
        lawn.start_timer('c', ttl)
        lawn.run_to(3 * ttl)
        assert lawn.fired[1] == (2 * ttl, 'a')


def an_id_that_is_started_again_fires_early_and_then_the_lawn_fails():
    lawn = Mended()
    lawn.start_timer('a', 10)
    lawn.run_to(5)
    lawn.start_timer('a', 10)
    assert fails(KeyError, lawn.run_to, 20)
    assert lawn.fired == [(11, 'a')]   # due at 15


def each_deletion_of_the_closest_timer_makes_the_next_tick_look_at_all_queues():
    for ttls in (10, 100, 1000):
        lawn = Mended()
        for ttl in range(ttls):
            lawn.start_timer(ttl, 1000 + ttl)
        lawn.run_to(1)
        for _ in range(50):
            lawn.start_timer('request', 500)
            lawn.delete_timer('request')
            before = lawn.looks
            lawn.run_to(lawn.now + 1)
            assert lawn.looks - before == ttls and lawn.fired == []


def each_tick_with_something_due_looks_at_all_queues():
    for ttls in (10, 100, 1000):
        lawn = Mended()
        for ttl in range(ttls):
            lawn.start_timer(ttl, 1000 + ttl)
        lawn.start_timer('a', 10)
        lawn.run_to(10)
        before = lawn.looks
        lawn.run_to(11)
        assert lawn.fired == [(11, 'a')]
        assert lawn.looks - before == ttls + 2


def timers_of_two_ttls_fire_in_the_order_of_their_queues():
    lawn = Mended()
    lawn.start_timer('late', 10)
    lawn.start_timer('soon', 5)
    lawn.now = 20   # a clock that was delayed
    lawn.per_tick_bookkeeping()
    assert [name for _, name in lawn.fired] == ['late', 'soon']


def timers_that_were_started_one_after_the_other_stop_at_the_same_time():
    """The strict order of the proof claims that they do not."""
    lawn = Mended()
    lawn.start_timer('a', 10)
    lawn.run_to(1)
    lawn.start_timer('b', 10)
    lawn.now = 20
    lawn.per_tick_bookkeeping()
    assert lawn.fired == [(20, 'a'), (20, 'b')]


def a_ttl_of_0_waits_for_a_tick():
    lawn = Mended()
    lawn.run_to(5)
    lawn.start_timer('a', 0)
    lawn.per_tick_bookkeeping()
    assert lawn.fired == []
    lawn.run_to(6)
    assert lawn.fired == [(6, 'a')]


def a_start_does_not_lower_the_closest_expiration_that_is_0():
    lawn = Mended()
    lawn.start_timer('a', 10)
    assert lawn.closest == 0


def main():
    cases = [case for name, case in globals().items()
             if callable(case) and getattr(case, '__module__', '') == '__main__'
             and not isinstance(case, type) and name not in ('fails', 'main')]
    failed = 0
    for case in cases:
        try:
            case()
            print('ok', case.__name__)
        except Exception as error:  # a case that raises has failed
            failed += 1
            print('  %s: %s' % (type(error).__name__, error))
            print('FAILED', case.__name__)
    print('%d passed, %d failed' % (len(cases) - failed, failed))
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
