/* cancel.pml - start, stop and stop_sync of one timer, against its expiry.
 *
 * Two threads other than the worker start and stop a timer, OPS times each, and
 * then both wait for its end with stop_sync. The worker drains its mail, fires
 * the timer at any moment, and starts and stops the timer itself, also in the
 * callback. The worker's stores go through a buffer, as in a processor (TSO):
 * other threads see them later, but in order. A compare-and-swap of the worker
 * and a HEAVY fence of another thread empty the buffer. SYMMETRIC: for systems
 * without that fence.
 *
 * Time is left out: whether a timer is due, and whether a start is due earlier
 * than the previous one, is arbitrary. Each start has a number instead, which
 * also serves as its deadline.
 *
 * Proved: each start ends in exactly one way, and stop returns the right result
 * [C1 C2]; a timer that fires was due by its latest start; when stop_sync has
 * returned, the callback is not running, and nothing refers to the timer [C3];
 * no thread waits forever; the worker's plain stores and the compare-and-swaps
 * of other threads exclude each other [C5]. */
#ifndef OPS
#define OPS 2
#endif
#ifndef LOCALS
#define LOCALS 1 /* starts and stops on the worker, between rounds */
#endif
#ifndef AGAIN
#define AGAIN 1 /* starts in the callback */
#endif
#define OTHERS 2

/* The state word: see src/workers/state.h. SHARD: the timer has a shard. */
#define RUN 1
#define LAWN 2
#define MAIL 4
#define REQ 8
#define CLAIM 16
#define DUE 32 /* or LATE: times are not modeled */
#define FLAGS 63
#define HELD (LAWN | MAIL)
#define SHARD 64
#define VERSION 128

short state; /* struct lawn_workers_timer */
byte when;
byte shared;
bit hand; /* struct lawn_shard: hand == timer */
bit firing;
byte waiters;
bit news[OTHERS]; /* served has changed since the thread read it */
bit inbox;        /* the timer is in the mailbox, or set aside */
bit again;
bit onlawn; /* on the lawn, with the deadline */
byte deadline;

/* Stores of the worker that other threads do not see yet. */
#define HAND 1
#define STATE 2
#define FIRING 3
#ifndef STORES
#define STORES 4
#endif
chan buffer = [STORES] of { byte, short };
byte pending;  /* buffered stores of state */
short own;     /* the latest of them */

/* Ghost variables. */
byte starts;     /* numbers assigned to starts */
byte latest;     /* the number of the latest start */
bit live;        /* the latest start has not ended */
bit callback;    /* the callback is running */
byte busy = 3;   /* threads that may still start it, outside of callbacks */
byte waiting = 2; /* threads that have not returned from stop_sync */
bit freed;
bit far; /* the timer never fires: a waiting thread must request its release */

inline apply() {
    if
    :: what == HAND -> hand = value
    :: what == STATE ->
        state = value;
        pending--;
        own = (pending > 0 -> own : 0)
    :: what == FIRING -> firing = value
    fi;
    what = 0;
    value = 0
}

/* A store of the worker. */
inline store(which, worth) { buffer!which,worth }

/* A load by the worker, which sees its own stores. */
inline look() {
    d_step { assert(!freed); seen = (pending > 0 -> own : state) }
}

/* The processor empties the buffer at some time. */
active proctype memory()
{
    byte what;
    short value;
end:
    do
    :: atomic { buffer?what,value -> apply() }
    od
}

/* HEAVY: all threads see the worker's earlier stores, and the worker's later
 * loads see the stores of other threads. */
inline heavy() {
    atomic {
        do
        :: buffer?what,value -> apply()
        :: empty(buffer) -> break
        od
    }
}

/* Updates of ghost variables, at the moment that decides. */
inline began(number) { live = 1; latest = number }
inline ended() { assert(live); live = 0 }

/* lawn__state_share() */
inline share() {
#ifndef SYMMETRIC
    if
    :: shared == 2
    :: else ->
        shared = 1;
        heavy();
        hand == 0;
        shared = 2
    fi
#else
    skip
#endif
}

/* start_slow() -> start_remote() */
inline start_remote() {
    seen = state;
    do
    :: seen & CLAIM -> break
    :: else ->
        if
        :: seen & SHARD -> share()
        :: else ->
            if
            :: shared == 0 -> shared = 1
            :: else
            fi
        fi;
        atomic {
            if
            :: state == seen ->
                state = seen | CLAIM;
                starts++;
                mine = starts
            :: else -> seen = state; goto start_next
            fi
        };
        if
        :: !(seen & SHARD) -> shared = 2
        :: else
        fi;
        when = mine; /* lawn__state_write_request() */
        if
        :: (seen & (LAWN | MAIL | DUE)) == (LAWN | DUE) ->
            atomic { /* without mail */
                state = (seen | RUN | REQ) + VERSION;
                began(mine)
            };
            break
        :: true
        fi;
        /* lawn__shard_post() */
        if
        :: !(seen & MAIL) -> atomic { assert(!inbox && !again); inbox = 1 }
        :: else
        fi;
        atomic { /* lawn__state_posted() */
            state = ((seen & ~(FLAGS | SHARD)) | SHARD | RUN | MAIL | REQ |
                     (seen & LAWN)) + VERSION;
            began(mine)
        };
        break;
start_next:
        skip
    od;
    atomic { seen = 0; mine = 0 }
}

/* stop_slow() */
inline stop_remote() {
    seen = state;
    do
    :: !(seen & RUN) || (seen & CLAIM) -> break
    :: else ->
        share();
        atomic {
            if
            :: state == seen -> state = seen & ~RUN; ended(); break
            :: else -> seen = state
            fi
        }
    od;
    seen = 0
}

/* request_release() */
inline recall() {
    atomic {
        if
        :: state == seen -> state = (seen | MAIL) & ~REQ
        :: else -> seen = 0; goto sync
        fi
    };
    if
    :: !(seen & MAIL) -> atomic { assert(!inbox && !again); inbox = 1 }
    :: else
    fi
}

/* wait_for_release() */
inline wait_for() {
    news[id] = 0; /* reads served */
    waiters++;
#ifndef SYMMETRIC
    heavy();
#endif
    seen = state;
    if
    :: (seen & (RUN | MAIL | REQ | CLAIM | SHARD)) == (SHARD | MAIL) ->
        news[id] /* notified: lawn__park_wait() */
    :: else ->
        if
        :: !(seen & (RUN | CLAIM)) && firing -> news[id]
        :: else
        fi
    fi;
    atomic { seen = 0; news[id] = 0; waiters-- }
}

proctype other(byte id)
{
    short seen;
    byte mine;
    byte ops;
    byte what; /* for heavy() */
    short value;
    do
    :: ops < OPS -> ops++; start_remote()
    :: ops < OPS -> ops++; stop_remote()
    :: ops == OPS -> break
    od;
    atomic { ops = 0; busy-- };
    busy == 0;
    /* lawn_workers_stop_sync() */
sync:
    stop_remote();
    seen = state;
    if
    :: !(seen & FLAGS) ->
        if
        :: !(seen & SHARD) || !firing ->
            if
            :: state == seen -> goto returned
            :: else -> seen = 0; goto sync
            fi
        :: else
        fi
    :: else
    fi;
    if
    :: seen & (RUN | CLAIM) -> seen = 0; goto sync /* lawn__park_yield() */
    :: else
    fi;
    if
    :: seen & HELD -> recall()
    :: else
    fi;
    wait_for();
    goto sync;
returned:
    atomic {
        assert(!live && !callback && !inbox && !again && !onlawn);
        seen = 0;
        waiting--;
        if
        :: waiting == 0 -> freed = 1
        :: else
        fi
    }
}

/* A compare-and-swap of the worker: the buffer is empty. The next statements
 * run if it succeeds; otherwise the worker continues at the label. */
#define SWAP(to, otherwise) \
    empty(buffer) && state != seen -> seen = state; goto otherwise \
    :: empty(buffer) && state == seen -> state = to

/* lawn__state_change(), with an update of ghost variables in the same step. */
#ifdef SYMMETRIC
#define CHANGE(to, ghost, otherwise) \
    atomic { if :: SWAP(to, otherwise); ghost fi }
#else
#define CHANGE(to, ghost, otherwise) \
    store(HAND, 1); \
    if \
    :: shared == 0 -> \
        atomic { \
            nfull(buffer) -> \
            own = to; \
            buffer!STATE,own; \
            pending++; \
            ghost \
        } \
    :: else -> \
        atomic { \
            if \
            :: empty(buffer) && state == seen -> state = to; ghost \
            :: empty(buffer) && state != seen -> seen = state; lost = 1 \
            fi \
        } \
    fi; \
    store(HAND, 0); \
    if \
    :: lost -> lost = 0; goto otherwise \
    :: else \
    fi
#endif

/* lawn__shard_notify_waiters() */
inline serve() {
    if
    :: waiters != 0 ->
        atomic { empty(buffer) -> news[0] = 1; news[1] = 1 }
    :: else
    fi
}

/* accept_timer(). Only the worker uses the lawn. */
inline take() {
    look();
take_next:
    if
    :: seen & CLAIM -> again = 1
    :: else ->
        if
        :: seen & REQ -> due = when
        :: else
        fi;
        if
        :: (seen & (RUN | REQ)) == 0 ->
            onlawn = 0;
            atomic {
                if
                :: SWAP(seen & ~(MAIL | REQ | DUE | LAWN), take_next)
                fi
            }
        :: (seen & (RUN | REQ)) == RUN ->
            atomic {
                if
                :: SWAP((seen & ~(MAIL | REQ | DUE)) | LAWN, take_next)
                fi;
                assert(onlawn == ((seen & LAWN) != 0));
                onlawn = 1
            }
        :: seen & REQ ->
            if
            :: true -> late = 0
            :: true -> late = DUE
            fi;
            atomic {
                if
                :: SWAP((seen & ~(MAIL | REQ | DUE)) | LAWN | late, take_next)
                fi;
                onlawn = 1;
                deadline = due
            }
        fi
    fi;
    atomic { seen = 0; due = 0; late = 0 }
}

/* lawn__shard_drain() */
inline drain() {
    if
    :: again -> again = 0
    :: else -> inbox = 0
    fi;
    take();
    serve()
}

/* START_LOCAL() */
/* start_local(). If the word need not change, the start takes effect when the
 * word is read: a thread that has stopped the timer since then stops this
 * start. */
#define START_LOCAL(next_try, out) \
    look(); \
next_try: \
    if \
    :: seen & CLAIM -> goto out \
    :: else \
    fi; \
    if \
    :: !(seen & SHARD) -> \
        atomic { \
            if \
            :: SWAP((seen | SHARD | RUN | LAWN) + VERSION, next_try) \
            fi; \
            starts++; \
            number = starts; \
            began(number) \
        } \
    :: (seen & SHARD) && (seen & (RUN | LAWN | REQ | DUE)) == (RUN | LAWN) -> \
        atomic { \
            starts++; \
            number = starts; \
            if \
            :: ((pending > 0 -> own : state) & (RUN | CLAIM | REQ)) == RUN -> \
                began(number) \
            :: else \
            fi \
        } \
    :: else -> \
        CHANGE((((seen & ~FLAGS) | RUN | LAWN | (seen & MAIL)) + VERSION), \
               starts++; number = starts; began(number), next_try) \
    fi; \
    onlawn = 1; \
    deadline = number; \
out: \
    atomic { seen = 0; number = 0 }

/* lawn_workers_stop() on the worker */
#define STOP_LOCAL(next_try, out) \
    look(); \
next_try: \
    if \
    :: !(seen & (RUN | LAWN)) || (seen & CLAIM) -> goto out \
    :: else \
    fi; \
    d_step { off = onlawn; onlawn = 0 }; \
    CHANGE(seen & ~(RUN | LAWN | REQ | DUE), \
           if :: seen & RUN -> ended() :: else fi, stop_back); \
    goto out; \
stop_back: \
    onlawn = off; \
    goto next_try; \
out: \
    atomic { off = 0; seen = 0 }

/* fire_timer() -> decide_fire() */
inline fire() {
    onlawn = 0;
    store(FIRING, 1);
    look();
decide:
    due = deadline;
    if
    :: seen & CLAIM -> onlawn = 1; goto fired
    :: else
    fi;
    if
    :: (seen & (REQ | MAIL)) == (REQ | MAIL) -> goto fired
    :: else
    fi;
    if
    :: (seen & (RUN | REQ)) == (RUN | REQ) ->
        due = when;
        if
        :: true -> /* due later */
            atomic {
                if
                :: SWAP(seen & ~REQ, decide)
                fi;
                onlawn = 1;
                deadline = due
            };
            goto fired
        :: true
        fi
    :: else
    fi;
    if
    :: (seen & (RUN | MAIL)) == (RUN | MAIL) ->
        atomic { if :: SWAP(seen & ~LAWN, decide) fi };
        goto fired
    :: else
    fi;
    deadline = due;
    CHANGE(seen & ~(RUN | LAWN | REQ | DUE),
           if
           :: seen & RUN ->
               ended();
               assert(deadline == latest);
               assert(!inbox && !again); /* the callback may free the timer */
               callback = 1
           :: else
           fi, decide);
    if
    :: callback ->
        if
        :: restarts < AGAIN -> restarts++; START_LOCAL(cb_next, cb_out)
        :: true
        fi;
        callback = 0
    :: else
    fi;
fired:
    atomic { seen = 0; due = 0 };
#ifdef SYMMETRIC
    atomic { empty(buffer) -> firing = 0 }; /* LAWN_ATOMIC_XCHG */
#else
    store(FIRING, 0);
#endif
    serve()
}

active proctype worker()
{
    short seen;
    byte due;
    byte late;
    byte locals;
    byte restarts;
    byte number;
    bit off;
    bit lost;
    bit quit;
    if
    :: far = 0
    :: far = 1
    fi;
    do
    :: again || inbox -> drain()
    :: onlawn && !far -> fire()
    :: !quit && locals < LOCALS -> locals++; START_LOCAL(w_next, w_out)
    :: !quit && locals < LOCALS -> locals++; STOP_LOCAL(s_next, s_out)
    :: atomic { !quit && empty(buffer) -> quit = 1; locals = 0; busy-- }
    :: freed -> break
    od
}

init {
    atomic { run other(0); run other(1) }
}
