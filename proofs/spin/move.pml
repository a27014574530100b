/* move.pml - a timer moves from one worker to another, and wakes it.
 *
 * Two workers have a shard each, and sleep when there is nothing to do. Two
 * other threads start a timer of the first shard, OPS times each.
 * KIND 0: one thread starts it on the second shard, for now or later; the other
 * where it is, for now.
 * KIND 1: one thread starts it on the second shard for later, stops it, and
 * waits for its end; the other starts it on the first shard for later.
 * KIND 2: the same, but the other thread stops it.
 * KIND 3 and 4: the timer is due at once, and its callback drains its worker's
 * mail, because it waits in stop_sync for another timer, or for its own.
 * Meanwhile one thread starts it on the second shard, for now; the other stops
 * it, or starts it where it is.
 *
 * Steps of a thread that no other thread can observe separately are one step
 * here. The timer is shared, so each change of its state word is a
 * compare-and-swap; plain stores are in cancel.pml. Time does not advance: a
 * timer due NOW fires as soon as its worker sees it, one due later never fires.
 * The second worker has another timer, which is due in between, so it must be
 * woken from its sleep.
 *
 * Proved: the callback runs on one worker at a time [C4]; each start ends once,
 * and the timer fires only when due by the latest start [C1 C2]; no lawn is
 * asked to release a timer that another lawn has; when stop_sync has returned,
 * and no other thread may start the timer, nothing refers to it [C3]; no thread
 * waits forever; no due timer is in a mailbox while its worker sleeps [C7]. */
#ifndef OPS
#define OPS 1
#endif
#ifndef KIND
#define KIND 0
#endif
#define OTHERS 2

/* The state word: see src/workers/state.h. */
#define RUN 1
#define LAWN 2
#define MAIL 4
#define REQ 8
#define CLAIM 16
#define DUE 32
#define FLAGS 63
#define HELD (LAWN | MAIL)
#define WORD(p) (64 << (p))
#define SHARD 192
#define VERSION 256
#define SHARD_OF(word) ((word) & 128 -> 1 : 0)

#define NOW 0
#define BETWEEN 1 /* the second worker wakes then anyway */
#define FAR 2
#define NEVER 3
#define NONE 2 /* as a choice: no shard */

#if KIND < 3
#define FIRST FAR
#else
#define FIRST NOW
#endif

short state = WORD(0) | RUN | LAWN; /* struct lawn_workers_timer */
byte when = FIRST;
bit shard;
bit firing[2]; /* struct lawn_shard, struct lawn_worker */
bit waiters[2];
bit news[2]; /* served has changed since the waiting thread read it */
bit inbox[2];         /* the timer is in the mailbox */
bit again[2];
bit onlawn[2];
byte deadline = FIRST; /* lawn_last_deadline() */
byte wake_at[2];
bit token[2];
bit parked[2];

/* Ghost variables. */
byte latest = FIRST; /* the deadline of the latest start */
bit live = 1;      /* the latest start has not ended */
bit callback;      /* the callback is running */
byte starting = OTHERS; /* threads that may still start the timer */
byte going = OTHERS;    /* threads that have not returned */

inline began(at) { live = 1; latest = at }
inline ended() { assert(live); live = 0 }

/* lawn__worker_wake() */
inline unpark(p) {
    atomic { token[p] = 1; parked[p] = 0 }
}

/* lawn__shard_wake() as one step: which nonzero value the swap sees does not
 * matter. */
inline wake(p, due) {
    atomic {
        at = due < wake_at[p];
        wake_at[p] = (at -> 0 : wake_at[p])
    };
    if
    :: at -> at = 0; unpark(p)
    :: else
    fi
}

/* lawn__mailbox_push() */
inline push(p) {
    atomic {
        assert(!inbox[0] && !inbox[1] && !again[0] && !again[1]);
        inbox[p] = 1
    }
}

/* start_slow() -> start_remote() */
inline start(choice, due) {
    seen = state;
start_next:
    if
    :: seen & CLAIM -> goto started
    :: else
    fi;
    here = SHARD_OF(seen);
    loose = !(seen & HELD);
    if
    :: loose -> loose = !firing[here] /* may_change_shard() */
    :: else
    fi;
    if
    :: choice == NONE && (seen & (RUN | REQ)) == (RUN | REQ) -> goal = shard
    :: choice == NONE && (seen & (RUN | REQ)) != (RUN | REQ) -> goal = here
    :: choice != NONE -> goal = choice
    fi;
    to = (loose -> goal : here);
    atomic {
        here = 0;
        loose = 0;
        if
        :: state == seen -> state = seen | CLAIM
        :: else -> seen = state; goto start_next
        fi;
        /* lawn__state_write_request(): a thread that reads these fields now
         * must see another state word later. */
        mail = (seen & (LAWN | MAIL | DUE)) != (LAWN | DUE) || to != goal ||
               due < when;
        when = due;
        shard = goal
    };
    if
    :: !mail ->
        atomic { state = (seen | RUN | REQ) + VERSION; began(due) };
        goto started
    :: else
    fi;
    /* lawn__shard_post() */
    if
    :: !(seen & MAIL) -> push(to)
    :: else
    fi;
    atomic { /* lawn__state_posted() */
        state = ((seen & ~(FLAGS | SHARD)) | WORD(to) | RUN | MAIL | REQ |
                 (seen & LAWN)) + VERSION;
        began(due)
    };
    wake(to, due);
started:
    atomic { seen = 0; to = 0; goal = 0; mail = 0; here = 0; loose = 0 }
}

/* stop_slow() */
#define STOP(next_try, out) \
    seen = state; \
next_try: \
    if \
    :: !(seen & RUN) || (seen & CLAIM) \
    :: else -> \
        atomic { \
            if \
            :: state == seen -> state = seen & ~RUN; ended() \
            :: else -> seen = state; goto next_try \
            fi \
        } \
    fi; \
out: \
    seen = 0

proctype other(byte id)
{
    short seen;
    byte ops;
    byte at;
    byte choice;
    byte due;
    bit here;
    bit loose;
    bit goal;
    bit to;
    bit mail;
    do
    :: (KIND < 2 || KIND == 4 || id == 0) && ops < OPS ->
        ops++;
        if
#if KIND < 3
        :: id == 0 -> choice = 1; due = FAR
#endif
#if KIND == 0 || KIND > 2
        :: id == 0 -> choice = 1; due = NOW
        :: id == 1 -> choice = NONE; due = NOW
#else
        :: id == 1 -> choice = 0; due = FAR
#endif
        fi;
        start(choice, due);
        atomic { choice = 0; due = 0 }
    :: (KIND == 2 || KIND == 3) && id == 1 && ops < OPS ->
        ops++;
        STOP(stop_next, stop_out)
    :: ops == OPS -> break
    od;
    atomic { ops = 0; starting-- };
    if
    :: KIND == 0 || KIND == 3 || id == 1 -> goto returned
    :: KIND != 0 && id == 0 /* with KIND 3 it may wait or not */
    fi;
    /* lawn_workers_stop_sync() */
sync:
    STOP(sync_next, sync_out);
    seen = state;
    here = SHARD_OF(seen);
    if
    :: !(seen & FLAGS) ->
        if
        :: !firing[here] ->
            atomic {
                if
                :: state == seen && starting == 0 ->
                    assert(!live && !callback && !inbox[0] && !inbox[1] &&
                           !again[0] && !again[1] && !onlawn[0] && !onlawn[1]);
                    goto returned
                :: state == seen && starting != 0 -> goto returned
                :: else -> seen = 0; here = 0; goto sync
                fi
            }
        :: else
        fi
    :: else
    fi;
    if
    :: seen & (RUN | CLAIM) -> /* lawn__park_yield() */
        atomic { seen = 0; here = 0; goto sync }
    :: else
    fi;
    if
    :: seen & HELD ->
        /* request_release() */
        atomic {
            if
            :: state == seen -> state = (seen | MAIL) & ~REQ
            :: else -> seen = 0; here = 0; goto sync
            fi
        };
        if
        :: !(seen & MAIL) -> push(here)
        :: else
        fi;
        wake(here, 0)
    :: else
    fi;
    /* wait_for_release() */
    atomic { seen = 0; news[here] = 0; waiters[here] = 1 };
    seen = state;
    if
    :: (seen & (RUN | MAIL | REQ | CLAIM | SHARD)) == (WORD(here) | MAIL) ->
        news[here] /* lawn__park_wait() */
    :: else ->
        if
        :: !(seen & (RUN | CLAIM)) && firing[here] -> news[here]
        :: else
        fi
    fi;
    atomic {
        waiters[here] = 0;
        news[here] = 0;
        seen = 0;
        here = 0
    };
    goto sync;
returned:
    atomic { seen = 0; here = 0; going-- }
}

/* lawn__shard_notify_waiters() */
inline serve() {
    atomic {
        seen = 0;
        due = 0;
        goal = 0;
        wants = 0;
        if
        :: waiters[me] != 0 ->
            news[me] = 1
        :: else
        fi
    }
}

/* A compare-and-swap of the worker. The next statements run if it succeeds. */
#define SWAP(to, otherwise) \
    state != seen -> seen = state; goto otherwise \
    :: else -> state = to

/* lawn_stop(): the timer is on this lawn, or on none. */
#define OFF assert(!onlawn[1 - me]); onlawn[me] = 0
/* lawn_start_as() */
#define ON(at) assert(!onlawn[1 - me]); onlawn[me] = 1; deadline = at

/* accept_timer() */
inline take() {
    seen = state;
    do
    :: atomic {
        wants = (seen & REQ) != 0;
        due = (wants -> when : 0);
        goal = (wants -> shard : 0)
    };
        if
        :: (seen & CLAIM) ||
               (wants && goal != me && (seen & RUN) && firing[me]) ->
            again[me] = 1;
            break
        :: else
        fi;
        if
        :: !(seen & RUN) && !(wants && goal == me) ->
            atomic {
                OFF;
                if
                :: state != seen -> seen = state
                :: else -> state = seen & ~(MAIL | REQ | DUE | LAWN); break
                fi
            }
        /* RUN without REQ is set by a start on the worker, which this model
         * leaves out. */
        :: (seen & RUN) && wants && goal != me ->
            /* forward_timer() */
            atomic {
                OFF;
                if
                :: state != seen -> seen = state
                :: else ->
                    state = ((seen & ~(FLAGS | SHARD)) | WORD(goal) | RUN |
                             MAIL | REQ) + VERSION;
                    sends = 1;
                    break
                fi
            }
        :: wants && goal == me ->
            atomic {
                if
                :: state != seen -> seen = state
                :: else ->
                    state = (seen & ~(MAIL | REQ | DUE)) | LAWN | DUE;
                    ON(due);
                    break
                fi
            }
        fi
    od;
    if
    :: sends ->
        sends = 0;
        push(goal);
        wake(goal, 0)
    :: else
    fi
}

#if KIND > 2
/* drain_own_mail() */
inline drain_own() {
    atomic {
        if
        :: again[me] -> again[me] = 0
        :: else -> inbox[me] = 0
        fi
    };
    take();
    serve()
}

/* lawn_workers_stop_sync() in the callback of the timer: no thread moves the
 * timer meanwhile. lawn__park_yield() is a wait for a change. */
inline stop_own() {
    assert(firing[me] && callback);
own_next:
    was = state;
own_end:
    /* stop_slow(), on the worker */
    atomic {
        assert(SHARD_OF(was) == me);
        if
        :: !(was & (RUN | LAWN)) || (was & CLAIM)
        :: else ->
            if
            :: state == was ->
                OFF;
                state = was & ~(RUN | LAWN | REQ | DUE);
                if
                :: was & RUN -> ended()
                :: else
                fi
            :: else -> was = state; goto own_end
            fi
        fi
    };
    atomic {
        was = state;
        if
        :: !(was & FLAGS) -> goto own_out
        :: was & CLAIM -> state != was -> goto own_next
        :: (was & (RUN | CLAIM)) == RUN -> goto own_next
        :: else
        fi
    };
    if
    :: again[me] || inbox[me] -> drain_own()
    :: else
    fi;
    atomic { state != was || inbox[me] -> goto own_next };
own_out:
    was = 0
}
#endif

/* fire_timer() -> decide_fire() */
inline fire() {
    atomic { OFF; firing[me] = 1 };
    seen = state;
decide:
    due = deadline;
    if
    :: seen & CLAIM -> atomic { ON(due); goto fired }
    :: (seen & (REQ | MAIL | CLAIM)) == (REQ | MAIL) -> goto fired
    :: else
    fi;
    if
    :: (seen & (RUN | REQ)) == (RUN | REQ) ->
        due = when;
        assert(due == NOW) /* here each start for later posts mail */
    :: else
    fi;
    assert((seen & (RUN | MAIL)) != (RUN | MAIL)); /* for the same reason */
    atomic {
        deadline = due;
        if
        :: SWAP(seen & ~(RUN | LAWN | REQ | DUE), decide)
        fi;
        if
        :: seen & RUN ->
            ended();
            assert(deadline == latest && !callback);
            callback = 1
        :: else -> goto fired
        fi
    };
#if KIND > 2
    do
    :: again[me] || inbox[me] -> drain_own()
    :: true -> stop_own(); break
    :: break
    od;
#endif
    callback = 0;
fired:
    firing[me] = 0; /* end_callback() */
    serve()
}

proctype worker(byte me)
{
    short seen;
    byte due;
    byte at;
    byte next;
    bit goal;
    bit wants;
    bit sends;
#if KIND > 2
    short was;
#endif
turn:
    /* clear_wakeups() */
    atomic { wake_at[me] = 0; token[me] = 0 };
    /* drain_mail() */
    atomic {
        if
        :: again[me] -> again[me] = 0
        :: !again[me] && inbox[me] -> inbox[me] = 0
        :: else -> goto mow
        fi
    };
    take();
    serve();
mow:
    atomic {
        if
        :: onlawn[me] && deadline == NOW
        :: else -> goto sleep
        fi
    };
    fire();
sleep:
    /* find_next_round(), announce_sleep() */
    atomic {
        next = (onlawn[me] -> deadline : NEVER);
        next = (me == 1 && next > BETWEEN -> BETWEEN : next);
        wake_at[me] = next;
        next = 0
    };
    if
    :: !again[me] && !inbox[me] ->
        /* lawn_worker_run() -> lawn__park_wait() */
        atomic {
            if
            :: !token[me] && wake_at[me] != NOW -> parked[me] = 1
            :: else
            fi
        };
end:    parked[me] == 0
    :: else
    fi;
    goto turn
}

init {
    atomic {
        onlawn[0] = 1;
        run worker(0);
        run worker(1);
        run other(0);
        run other(1)
    };
    atomic {
        going == 0 && parked[0] && parked[1] ->
        assert(!live || latest != NOW);
        assert(!again[0] && !again[1])
    }
}
