/* handover.pml - shards move to other workers while timers are posted and due.
 *
 * Two workers have a shard each. Each sender posts a timer to the second shard.
 * A manager removes the second worker, adds it again (not with ONCE), and
 * closes the set, at any moment. Time advances at any moment; with STILL it
 * does not, and all timers are due. The first shard gets no mail, so an
 * operation of a worker on all its shards in turn is one step here.
 *
 * Proved: a shard is run by one worker at a time; each timer fires once,
 * remains once, or was refused; none fires early; no timer remains that was due
 * by the end and posted before the set was closed; a sleeping worker is woken
 * for work that is due before its wake time [C7 C8]; no thread waits
 * forever. */
#ifndef SENDERS
#define SENDERS 2
#endif
#define SHARDS 2
#define WORKERS 2 /* 1 and 2; 0 is NULL */
#define MOVING 3  /* lawn__handover_marker: the shard is being moved */
#define CLOSER 4

/* Values of arrivals other than a shard. */
#define NONE 6
#define SHUT 7

/* Times. The first sender's timer is due at END, the other timers are due
 * at once. Timers due by UNTIL fire before a closed set ends. */
#define END 1
#define NEVER 2
#define DUE(timer) (timer == 0 -> END : 0)
#define UNTIL END
#define BIT(i) (1 << (i))

byte runs[SHARDS]; /* struct lawn_shard: worker, owner */
byte owner[SHARDS];
byte link[SHARDS];
byte wake_at[SHARDS];
byte box[SHARDS]; /* a bit for each timer */
bit boxes_shut;
byte gate; /* one step here: gate.pml has the steps */
byte lawn[SHARDS]; /* a bit for each timer */

byte shards[WORKERS + 1]; /* struct lawn_worker; a bit for each shard */
byte arrivals[WORKERS + 1];
bit control[WORKERS + 1];
bit leaving[WORKERS + 1];
bit token[WORKERS + 1];
bit parked[WORKERS + 1];
bit done[WORKERS + 1]; /* under the lock: the worker has ended with the set */
bit gone[WORKERS + 1]; /* the thread has returned */
byte until[WORKERS + 1]; /* the futex: the wake time of the sleeper */

bit lock; /* struct lawn_workers */
bit closing;
byte clock;

byte posting;
byte fired;    /* a bit for each timer, also in the next variables */
byte left;
byte refused;
byte posted;   /* before the set was closed */

inline take_lock() { atomic { !lock -> lock = 1 } }

inline unpark(whom) {
    if
    :: whom == 0 || whom == MOVING || whom == CLOSER
    :: else ->
        atomic { was = token[whom]; token[whom] = 1 };
        if
        :: was == 0 -> parked[whom] = 0
        :: else
        fi
    fi
}

/* M4, when no thread is in a post. */
inline check_sleep() {
    if
    :: posting == 0 ->
        for (w : 1 .. WORKERS) {
            for (q : 0 .. SHARDS - 1) {
                for (t : 0 .. SENDERS - 1) {
                    assert(!parked[w] || !(shards[w] & BIT(q)) ||
                           !(box[q] & BIT(t)) || DUE(t) >= wake_at[q])
                }
            }
        }
    :: else
    fi;
    w = 0;
    q = 0;
    t = 0
}

proctype sender(byte timer)
{
    byte at;
    byte whom;
    bit was;
    byte w;
    byte q;
    byte t;
    /* lawn__gate_enter() */
    atomic {
        if
        :: closing -> refused = refused | BIT(timer); goto returned
        :: else -> gate++
        fi
    };
    /* lawn__shard_post() -> lawn__mailbox_push() */
    atomic {
        assert(!boxes_shut);
        box[1] = box[1] | BIT(timer);
        posting++
    };
    /* lawn__shard_wake() */
    at = wake_at[1];
    do
    :: DUE(timer) < at ->
        atomic {
            if
            :: wake_at[1] == at -> wake_at[1] = 0
            :: else -> at = wake_at[1]; goto again
            fi
        };
        whom = runs[1];
        unpark(whom);
        break;
again:  skip
    :: else -> break
    od;
    atomic {
        posting--;
        gate--;
        at = 0;
        was = 0;
        whom = 0;
        check_sleep()
    };
returned:
    skip
}

/* lawn__worker_hand_over(); the caller passes whether it holds the lock. The
 * shard has an owner here. */
#define GIVE(p) \
    do \
    :: to = owner[p]; \
        head = arrivals[to]; \
        do \
        :: head == SHUT -> break \
        :: else -> \
            atomic { \
                link[p] = head; \
                if \
                :: arrivals[to] == head -> arrivals[to] = p; head = NONE \
                :: else -> head = arrivals[to]; was = 1 \
                fi \
            }; \
            if \
            :: was -> was = 0 \
            :: else -> break \
            fi \
        od; \
        if \
        :: head == SHUT /* lawn__park_yield() */ \
        :: else -> break \
        fi \
    od; \
    control[to] = 1; \
    unpark(to); \
    atomic { to = 0; head = 0; was = 0 }

/* lawn__worker_adopt() */
inline adopt() {
    if
    :: arrivals[me] == NONE || arrivals[me] == SHUT
    :: else ->
        atomic { head = arrivals[me]; arrivals[me] = NONE };
        do
        :: head == NONE -> break
        :: else ->
            atomic {
                to = link[head];
                link[head] = 0;
                assert(runs[head] == MOVING && !done[me]);
                shards[me] = shards[me] | BIT(head);
                runs[head] = me;
                head = to;
                to = 0
            }
        od;
        head = 0
    fi
}

/* release_shards() */
inline release_shards() {
    p = 0;
    do
    :: p == SHARDS -> break
    :: else ->
        if
        :: (shards[me] & BIT(p)) && owner[p] != me ->
            shards[me] = shards[me] & ~BIT(p);
            runs[p] = MOVING;
            GIVE(p)
        :: else
        fi;
        p++
    od;
    p = 0
}

proctype worker(byte me)
{
    byte p;
    byte q;
    byte t;
    byte w;
    byte to;
    byte head;
    byte next;
    byte now;
    bit was;
    bit closes;
    bit busy;
turn:
    /* clear_wakeups() */
    atomic {
        for (p : 0 .. SHARDS - 1) {
            if
            :: shards[me] & BIT(p) -> wake_at[p] = 0
            :: else
            fi
        }
        p = 0
    };
    token[me] = 0;
    /* lawn__worker_handle_control() */
    if
    :: control[me] ->
        control[me] = 0;
        adopt();
        release_shards();
        if
        :: leaving[me] ->
            /* lawn__worker_leave(): here no shard is being moved to a worker
             * that leaves, and it has handed over all its shards. */
            atomic { arrivals[me] == NONE -> arrivals[me] = SHUT };
            assert(shards[me] == 0);
            goto returned
        :: else
        fi
    :: else
    fi;
    closes = closing;
    /* run_round(): drains the mail, then mows. */
    atomic {
        for (p : 0 .. SHARDS - 1) {
            if
            :: shards[me] & BIT(p) ->
                assert(runs[p] == me);
                lawn[p] = lawn[p] | box[p];
                box[p] = 0
            :: else
            fi
        }
        p = 0;
        /* The round and the search for the next deadline are one step: a post
         * between them could also come later, and time could advance earlier. */
        now = (closes && clock > UNTIL -> UNTIL : clock);
        next = NEVER;
        for (p : 0 .. SHARDS - 1) {
            for (t : 0 .. SENDERS - 1) {
                if
                :: (shards[me] & BIT(p)) && (lawn[p] & BIT(t)) ->
                    if
                    :: DUE(t) <= now ->
                        assert(runs[p] == me && !(fired & BIT(t)));
                        assert(DUE(t) <= clock);
                        fired = fired | BIT(t);
                        lawn[p] = lawn[p] & ~BIT(t)
                    :: else -> next = (DUE(t) < next -> DUE(t) : next)
                    fi
                :: else
                fi
            }
        }
        p = 0;
        t = 0;
        now = 0;
        /* Timers that will remain are no reason to wake. */
        next = (closes && next > UNTIL -> NEVER : next)
    };
    if
    :: closes ->
        /* is_drained(); next is the earliest deadline of its own shards */
        if
        :: next <= UNTIL
        :: else ->
            take_lock();
            atomic { /* other threads only post to a mailbox, at any time */
                for (p : 0 .. SHARDS - 1) {
                    busy = busy || (owner[p] == me) != (runs[p] == me) ||
                           (runs[p] == me && box[p] != 0)
                }
                p = 0
            };
            atomic { /* accepts no more shards */
                if
                :: !busy && arrivals[me] == NONE -> arrivals[me] = SHUT
                :: else -> busy = 1
                fi
            };
            atomic {
                lock = 0;
                if
                :: busy
                :: else -> assert(!done[me]); done[me] = 1; goto returned
                fi
            }
        fi;
        busy = 0
    :: else
    fi;
    /* announce_sleep() */
    atomic {
        for (p : 0 .. SHARDS - 1) {
            if
            :: shards[me] & BIT(p) -> wake_at[p] = next
            :: else
            fi
        }
        p = 0
    };
    atomic {
        for (p : 0 .. SHARDS - 1) {
            busy = busy || ((shards[me] & BIT(p)) != 0 && box[p] != 0)
        }
        p = 0
    };
    if
    :: !busy && !control[me] ->
        /* lawn_worker_run() -> lawn__park_wait(); time advances for a worker
         * that waits for a deadline. */
        atomic {
            if
            :: !token[me] ->
                parked[me] = 1;
                until[me] = next;
                check_sleep()
            :: else
            fi
        };
        if
        :: !parked[me]
        :: atomic { clock >= until[me] -> parked[me] = 0 }
        fi;
        until[me] = 0
    :: else
    fi;
    atomic { busy = 0; next = 0; closes = 0 };
    goto turn;
returned:
    atomic { busy = 0; next = 0; closes = 0; gone[me] = 1 }
}

/* reassign_shard(), under the lock */
#define HAND_OVER(p, whom) \
    atomic { who = runs[p]; kept = owner[p] }; \
    owner[p] = whom; \
    assert(who != 0); /* here a shard always has a worker */ \
    who = (who == MOVING -> kept : who); \
    control[who] = 1; \
    unpark(who); \
    atomic { who = 0; kept = 0; was = 0 }

proctype manager()
{
    byte who;
    byte kept;
    byte t;
    bit was;
    /* lawn_workers_remove(): reassign_all() */
    take_lock();
    HAND_OVER(1, 1);
    leaving[2] = 1;
    control[2] = 1;
    unpark(2);
    lock = 0;
    gone[2]; /* join_thread() */
    assert(shards[2] == 0 && runs[1] != 2);
#ifndef ONCE
    /* lawn_workers_add(): enroll(), distribute_shards() */
    take_lock();
    atomic { leaving[2] = 0; arrivals[2] = NONE; gone[2] = 0 };
    HAND_OVER(1, 2);
    run worker(2);
    lock = 0;
#endif
    /* lawn_workers_close() */
    take_lock();
    atomic { closing = 1; posted = (posting == 0 -> box[1] | lawn[1] : 0) };
    lock = 0;
    unpark(1);
    unpark(2);
    gone[1] && gone[2];
    gate == 0; /* lawn__gate_wait() */
    atomic {
        /* A worker that has ended keeps its shards. */
        assert(done[1] && shards[owner[0]] & BIT(0));
        assert(done[owner[1]] && shards[owner[1]] & BIT(1));
        runs[0] = CLOSER;
        runs[1] = CLOSER
    };
    /* lawn__shard_shut(), lawn__shard_clear() */
    boxes_shut = 1;
    atomic {
        assert(box[0] == 0 && lawn[0] == 0);
        left = lawn[1] | box[1];
        for (t : 0 .. SENDERS - 1) {
            assert(!(left & posted & BIT(t)) || DUE(t) > UNTIL)
        }
        box[1] = 0;
        lawn[1] = 0
    }
}

#ifndef STILL
proctype time()
{
    do
    :: clock < END -> clock++
    :: else -> break
    od
}
#endif

init {
    byte t;
    atomic {
        arrivals[1] = NONE;
        arrivals[2] = NONE;
        runs[0] = 1;
        owner[0] = 1;
        shards[1] = 1;
        runs[1] = 2;
        owner[1] = 2;
        shards[2] = 2;
#ifdef STILL
        clock = END;
#else
        run time();
#endif
        run worker(1);
        run worker(2);
        run manager();
        for (t : 0 .. SENDERS - 1) {
            run sender(t)
        }
        t = 0
    };
    _nr_pr == 1;
    for (t : 0 .. SENDERS - 1) {
        assert(((fired & BIT(t)) != 0) + ((left & BIT(t)) != 0) +
               ((refused & BIT(t)) != 0) == 1)
    }
}
