/* inherit.pml - the worker of a lawn has ended with the set, but another worker
 * still needs that lawn.
 *
 * Two workers have a shard each; the set is closed at any moment, and due
 * timers fire before the workers end. KIND 0: a timer in the mailbox of the
 * second shard must move to the first. Another timer, which a thread posts to
 * the first shard, must move to the second. The worker that takes such a timer
 * forwards it, maybe to a worker that has ended. KIND 1: a timer is posted to
 * the first shard. Its callback stops another timer, which is on the second
 * lawn and due later, and waits until that is released. KIND 2: the same, but
 * the second worker is a thread of the caller, which may use its lawn until it
 * is detached, at any moment after it has ended. Time does not advance. The
 * state word of a timer is modeled in cancel.pml and move.pml; here each
 * change of it is one step, and earlier starts are in the mailbox already.
 *
 * Proved: a shard is run by one worker at a time, and by none that has ended
 * [C4 C8]; each timer ends once [C1]; a due timer that was posted before the
 * set was closed fires, even if it was being moved to a worker that had ended
 * [C1 C8]; when stop_sync has returned, nothing refers to the timer [C3]; no
 * thread waits forever: stop_sync returns, all workers end, and so does the
 * closer. */
#ifndef KIND
#define KIND 0
#endif
#define SHARDS 2
#define WORKERS 2 /* 1 and 2; 0 is NULL */
#define MOVING 3  /* lawn__handover_marker: the shard is being moved */
#define CLOSER 4
#define BIT(i) (1 << (i))

/* Timers. The last one of KIND 1 and 2 is due later, and does not fire. */
#define TIMERS 2
#define WAITED 1
#if KIND == 0
#define DUE 3
#define GOAL(t) (1 - (t))
#else
#define DUE 1
#define GOAL(t) (t)
#endif
#define MADE(w) (KIND < 2 || (w) == 1)

byte run_ = BIT(1); /* RUN, a bit for each timer */
byte mail;          /* MAIL, a bit for each timer */

byte runs[SHARDS]; /* struct lawn_shard: worker, owner */
byte owner[SHARDS];
bit sleeps[SHARDS]; /* wake_at is not 0 */
byte box[SHARDS];   /* a bit for each timer */
byte lawn[SHARDS];
bit boxes_shut;
bit gate; /* one step here: gate.pml has the steps */

byte shards[WORKERS + 1]; /* struct lawn_worker; a bit for each shard */
byte arrivals[WORKERS + 1];
bit shut[WORKERS + 1]; /* closed_arrivals is in arrivals */
bit control[WORKERS + 1];
bit token[WORKERS + 1];
bit parked[WORKERS + 1];
bit live[WORKERS + 1];
bit done[CLOSER + 1];
bit gone[WORKERS + 1]; /* the thread has returned, or was detached */

bit lock; /* struct lawn_workers */
bit closing;

byte fired; /* a bit for each timer, also in the next variables */
byte stopped;
byte left;
byte refused;
byte posted; /* before the set was closed */

inline take_lock() { atomic { !lock -> lock = 1 } }

/* lawn__worker_wake() */
inline unpark(whom) {
    atomic {
        if
        :: whom == 1 || whom == 2 -> token[whom] = 1; parked[whom] = 0
        :: else
        fi
    }
}

/* lawn__shard_wake(), for a timer due now */
inline wake(which) {
    atomic {
        was = sleeps[which];
        sleeps[which] = 0
    };
    if
    :: was ->
        atomic { who = runs[which]; was = 0 };
        unpark(who);
        who = 0
    :: else
    fi
}

proctype sender()
{
    byte who;
    bit was;
    /* lawn__gate_enter() */
    atomic {
        if
        :: closing -> refused = refused | BIT(0); goto returned
        :: else -> gate = 1
        fi
    };
    /* lawn__shard_post() */
    atomic {
        assert(!boxes_shut);
        box[0] = box[0] | BIT(0);
        run_ = run_ | BIT(0);
        mail = mail | BIT(0)
    };
    wake(0);
    gate = 0;
returned:
    skip
}

/* The worker uses a shard. */
#define USES(which) \
    assert(runs[which] == me && (shards[me] & BIT(which)) && !done[me] && \
           !(shards[3 - me] & BIT(which)))

/* lawn__worker_adopt() */
inline adopt() {
    if
    :: arrivals[me] == 0
    :: else ->
        atomic {
            assert(!shut[me] && arrivals[me] == BIT(1) && runs[1] == MOVING);
            arrivals[me] = 0;
            shards[me] = shards[me] | BIT(1)
        };
        runs[1] = me
    fi
}

/* lawn__worker_inherit(), within a round */
inline inherit(which) {
    take_lock();
    atomic {
        who = runs[which];
        assert(who != 0); /* here a shard that is needed has a worker */
        if
        :: (who == 1 || who == 2) && MADE(who) && done[who] ->
            assert(shards[who] & BIT(which));
            shards[who] = shards[who] & ~BIT(which);
            was = 1
        :: else
        fi
    };
    atomic {
        if
        :: was ->
            shards[me] = shards[me] | BIT(which);
            owner[which] = me;
            runs[which] = me
        :: else
        fi;
        who = 0;
        was = 0
    };
    lock = 0
}

/* accept_timer(), forward_timer() */
inline take(here, timer) {
    atomic {
        USES(here);
        box[here] = box[here] & ~BIT(timer);
        if
        :: !(run_ & BIT(timer)) ->
            lawn[here] = lawn[here] & ~BIT(timer);
            mail = mail & ~BIT(timer)
        :: (run_ & BIT(timer)) && GOAL(timer) == here ->
            lawn[here] = lawn[here] | BIT(timer);
            mail = mail & ~BIT(timer)
        :: (run_ & BIT(timer)) && GOAL(timer) != here &&
               runs[GOAL(timer)] == me ->
            USES(GOAL(timer));
            lawn[GOAL(timer)] = lawn[GOAL(timer)] | BIT(timer);
            mail = mail & ~BIT(timer)
        :: else -> sends = 1
        fi
    };
    if
    :: sends ->
        atomic {
            sends = 0;
            box[GOAL(timer)] = box[GOAL(timer)] | BIT(timer);
            assert(!boxes_shut)
        };
        wake(GOAL(timer));
        if
        :: closing -> inherit(GOAL(timer))
        :: else
        fi
    :: else
    fi
}

/* lawn__shard_drain() of the worker's shards at this moment */
inline drain(mine, p, t) {
    atomic { mine = shards[me]; p = 0 };
    do
    :: atomic {
        p < SHARDS && (mine & BIT(p)) && box[p] != 0 ->
        if
        :: box[p] & BIT(0) -> t = 0
        :: box[p] & BIT(1) -> t = 1
        fi
    };
        take(p, t)
    :: atomic { p < SHARDS && (!(mine & BIT(p)) || box[p] == 0) -> t = 0; p++ }
    :: atomic { p == SHARDS -> p = 0; t = 0; mine = 0; break }
    od
}

/* lawn_workers_stop_sync(WAITED), a timer of shard 1, in a callback of a
 * worker */
inline stop_sync() {
    atomic { /* stop_slow() */
        if
        :: runs[1] == me -> /* removes it from the lawn as well */
            USES(1);
            lawn[1] = lawn[1] & ~BIT(WAITED)
        :: else
        fi;
        assert(run_ & BIT(WAITED));
        run_ = run_ & ~BIT(WAITED);
        stopped = stopped | BIT(WAITED)
    };
    /* request_release() */
    atomic {
        if
        :: (lawn[1] & BIT(WAITED)) ->
            assert(runs[1] != me && !(mail & BIT(WAITED)));
            mail = mail | BIT(WAITED);
            was = 1
        :: else
        fi
    };
    if
    :: was ->
        atomic {
            was = 0;
            assert(!boxes_shut);
            box[1] = box[1] | BIT(WAITED)
        };
        wake(1)
    :: else
    fi;
    /* The loop, with lawn__park_yield(); rounds without a change are left
     * out. */
    do
    :: atomic {
        !(lawn[1] & BIT(WAITED)) && !(mail & BIT(WAITED)) ->
        assert(!((box[0] | box[1] | lawn[0]) & BIT(WAITED)));
        break
    }
    :: closing && runs[1] != me && done[runs[1]] && MADE(runs[1]) ->
        inherit(1)
    :: arrivals[me] != 0 -> adopt() /* drain_own_mail() */
    :: ((shards[me] & BIT(0)) && box[0]) || ((shards[me] & BIT(1)) && box[1]) ->
        drain(own, q, u)
    od
}

/* lawn__shard_mow() of the worker's shards at this moment */
inline mow() {
    atomic { mine = shards[me]; p = 0; t = 0 };
    do
    :: atomic { p < SHARDS && t < TIMERS && (mine & BIT(p)) &&
                    (lawn[p] & DUE & BIT(t)) ->
        USES(p);
        lawn[p] = lawn[p] & ~BIT(t);
        assert((run_ & BIT(t)) && !(fired & BIT(t)));
        run_ = run_ & ~BIT(t);
        fired = fired | BIT(t)
    };
#if KIND > 0
        stop_sync();
#endif
        atomic { USES(p); t++ }
    :: atomic { p < SHARDS && t < TIMERS &&
                    !((mine & BIT(p)) && (lawn[p] & DUE & BIT(t))) -> t++ }
    :: atomic { p < SHARDS && t == TIMERS -> p++; t = 0 }
    :: atomic { p == SHARDS -> p = 0; t = 0; mine = 0; break }
    od
}

#if KIND == 2
/* lawn_worker_detach() -> detach_worker(), of worker 2 */
inline detach() {
    take_lock();
    /* reassign_all() -> reassign_shard() */
    atomic {
        live[me] = 0;
        assert(owner[1] == me && runs[1] == me);
        owner[1] = (live[1] -> 1 : 0)
    };
    /* lawn__worker_leave() -> release_shards() */
    assert(shut[me] && shards[me] == BIT(1));
    atomic { shards[me] = 0; runs[1] = MOVING };
    /* lawn__worker_hand_over() */
    if
    :: owner[1] == 0 -> runs[1] = 0
    :: else ->
        atomic { assert(!shut[1]); arrivals[1] = arrivals[1] | BIT(1) };
        control[1] = 1;
        unpark(1)
    fi;
    lock = 0
}
#endif

proctype worker(byte me)
{
    byte p;
    byte t;
    byte mine;
    byte q; /* the same in a callback */
    byte u;
    byte own;
    byte who;
    bit was;
    bit sends;
    bit closes;
    bit busy;
    bit more;
turn:
    /* clear_wakeups() */
    atomic {
        for (p : 0 .. SHARDS - 1) {
            if
            :: shards[me] & BIT(p) -> sleeps[p] = 0
            :: else
            fi
        }
        p = 0;
        token[me] = 0 /* it has not read anything yet */
    };
    /* lawn__worker_handle_control() */
    if
    :: control[me] -> control[me] = 0; adopt()
    :: else
    fi;
    closes = closing;
    /* run_round() */
    drain(mine, p, t);
    mow();
    atomic { /* find_next_round() */
        for (p : 0 .. SHARDS - 1) {
            more = more || ((shards[me] & BIT(p)) && (lawn[p] & DUE))
        }
        p = 0
    };
    if
    :: closes && !more ->
        /* is_drained() */
        take_lock();
        do
        :: atomic {
            p < SHARDS ->
            busy = busy || (owner[p] == me) != (runs[p] == me) ||
                   (runs[p] == me && box[p] != 0);
            p++
        }
        :: atomic { p == SHARDS -> p = 0; break }
        od;
        atomic { /* accepts no more shards */
            if
            :: !busy && arrivals[me] == 0 -> shut[me] = 1
            :: else -> busy = 1
            fi
        };
        atomic {
            lock = 0;
            if
            :: busy
            :: else ->
                live[me] = 0;
                done[me] = 1;
                goto ended
            fi
        };
        busy = 0
    :: else
    fi;
    /* announce_sleep() */
    atomic {
        for (p : 0 .. SHARDS - 1) {
            if
            :: shards[me] & BIT(p) -> sleeps[p] = !more
            :: else
            fi
        }
        p = 0
    };
    do
    :: atomic {
        p < SHARDS -> busy = busy || ((shards[me] & BIT(p)) && box[p] != 0);
        p++
    }
    :: atomic { p == SHARDS -> p = 0; break }
    od;
    if
    :: !busy && !control[me] && !more ->
        /* lawn_worker_run() -> lawn__park_wait() */
        atomic {
            if
            :: !token[me] -> parked[me] = 1
            :: else
            fi
        };
        !parked[me]
    :: else
    fi;
    atomic { busy = 0; more = 0; closes = 0 };
    goto turn;
ended:
    atomic { busy = 0; more = 0; closes = 0 };
#if KIND == 2
    if
    :: me == 2 ->
        /* The thread uses its lawn while it is the lawn's worker. */
        runs[1] == me;
        assert(runs[1] == me && (shards[me] & BIT(1)));
        detach()
    :: else
    fi;
#endif
    gone[me] = 1
}

/* lawn_workers_close() */
proctype closer()
{
    byte p;
    take_lock();
    atomic { closing = 1; posted = run_ | fired };
    lock = 0;
    unpark(1);
    unpark(2);
    gone[1] && gone[2]; /* join_all() */
    gate == 0;          /* lawn__gate_wait() */
    atomic {
        for (p : 0 .. SHARDS - 1) {
            assert((runs[p] == 0 && KIND == 2) || done[runs[p]]);
            runs[p] = CLOSER
        }
        p = 0
    };
    /* lawn__shard_shut(), lawn__shard_clear() */
    boxes_shut = 1;
    atomic {
        left = (lawn[0] | lawn[1] | box[0] | box[1]) & run_;
        assert(left == run_);
        assert(!(left & posted & DUE));
        box[0] = 0;
        box[1] = 0;
        lawn[0] = 0;
        lawn[1] = 0;
        run_ = 0
    }
}

init {
    byte t;
    atomic {
        runs[0] = 1;
        owner[0] = 1;
        shards[1] = BIT(0);
        live[1] = 1;
        runs[1] = 2;
        owner[1] = 2;
        shards[2] = BIT(1);
        live[2] = 1;
#if KIND == 0
        box[1] = BIT(1);
        mail = BIT(1);
#else
        lawn[1] = BIT(WAITED);
#endif
        run worker(1);
        run worker(2);
        run closer();
        run sender()
    };
    _nr_pr == 1;
    for (t : 0 .. TIMERS - 1) {
        assert(((fired & BIT(t)) != 0) + ((left & BIT(t)) != 0) +
               ((stopped & BIT(t)) != 0) + ((refused & BIT(t)) != 0) == 1)
    }
}
