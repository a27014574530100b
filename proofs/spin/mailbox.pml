/* mailbox.pml - the mailbox of a shard, and how its owner goes to sleep.
 *
 * PRODUCERS threads post MESSAGES timers each. The worker takes the whole
 * mailbox, reverses it in a budget of STEPS, and sleeps. The closer closes the
 * set at any moment. Without SLEEPS the worker polls the mailbox, which needs
 * fewer states, so more timers are possible. Names are those of src/workers;
 * README.md maps lines to code.
 *
 * Proved: no timer is lost or taken twice; the timers of one producer are taken
 * in their order until the mailbox is closed [C1]; no wake-up is lost [C7]: as
 * soon as all posting threads have returned, a sleeper sleeps no longer than to
 * the earliest deadline in the mailbox [M4]. With LIVE: every posted timer is
 * taken or refused in the end, if no thread stops running. */
#ifndef PRODUCERS
#define PRODUCERS 3
#endif
#ifndef MESSAGES
#define MESSAGES 2
#endif
#ifndef STEPS
#define STEPS 2
#endif
#define ALL (PRODUCERS * MESSAGES)

/* Values of head other than a timer 1 .. ALL. */
#define NONE 0
#define CLOSED 255

/* Times: the first producer's timers are due late. */
#define NEAR 1
#define FAR 3
#define NEVER 4
#define DUE(timer) (timer > MESSAGES -> NEAR : FAR)

byte head; /* struct lawn_mailbox */
byte taken;
byte ready;
byte next[ALL + 1];

byte wake_at; /* struct lawn_shard, struct lawn_worker */
bit token;
bit parked; /* the futex: a thread waits on token */
bit closing;
bit ended;

/* Ghost variables. */
byte posting;             /* threads within lawn__shard_post() */
bit got[ALL + 1];         /* taken */
bit refused[ALL + 1];     /* the post returned false */
byte last[PRODUCERS];     /* the latest taken timer of each producer */
bit has_far;              /* a timer due at FAR is on the lawn */
bit shut;                 /* lawn__mailbox_close() was called */
bit over;                 /* the closer has ended */
#define DONE (over && posted == PRODUCERS)
byte posted;              /* producers that have ended */

/* M4: no timer in the mailbox is due before the sleeper wakes. */
inline check_sleep() {
    if
    :: parked && posting == 0 ->
        assert(taken == NONE && ready == NONE);
        i = (head == CLOSED -> NONE : head);
        do
        :: i != NONE -> assert(DUE(i) >= wake_at); i = next[i]
        :: else -> break
        od;
        i = 0
    :: else
    fi
}

inline unpark() {
    /* LAWN_ATOMIC_XCHG, and if it was 0 lawn__park_wake() */
    atomic { was = token; token = 1 };
    if
    :: was == 0 -> parked = 0
    :: else
    fi
}

proctype producer(byte id)
{
    byte timer = id * MESSAGES + 1;
    byte seen;
    byte at;
    byte i;
    bit was;
    do
    :: timer > (id + 1) * MESSAGES -> break
    :: else ->
        /* start_slow() */
        if
        :: closing -> refused[timer] = 1; goto next_one
        :: else
        fi;
        /* lawn__shard_post() -> lawn__mailbox_push() */
        atomic { seen = head; posting++ };
push:   if
        :: seen == CLOSED -> /* by stop_sync; for starts see gate.pml */
            d_step { refused[timer] = 1; posting--; check_sleep() };
            goto next_one
        :: else
        fi;
        /* The link belongs to this thread until the head is the timer. */
        atomic {
            next[timer] = seen;
            if
            :: head == seen -> head = timer
            :: else -> seen = head; goto push
            fi
        };
#ifdef SLEEPS
        /* lawn__shard_wake() */
        at = wake_at;
        do
        :: DUE(timer) < at ->
            atomic {
                if
                :: wake_at == at -> wake_at = 0
                :: else -> at = wake_at; goto again
                fi
            };
            unpark();
            break;
again:      skip
        :: else -> break
        od;
#endif
        atomic { posting--; at = 0; seen = 0; was = 0; check_sleep() };
next_one:
        timer++
    od;
    posted++
}

/* lawn__mailbox_pop(): popped, or NONE. */
inline pop() {
    if
    :: taken == NONE && ready == NONE ->
        seen = head; /* take_all(): a load first */
        if
        :: seen != NONE && seen != CLOSED ->
            atomic { taken = head; head = NONE }
        :: else
        fi;
        seen = 0
    :: else
    fi;
    d_step {
        do
        :: taken != NONE && steps > 0 ->
            steps--;
            i = taken;
            taken = next[i];
            next[i] = ready;
            ready = i
        :: else -> break
        od;
        i = 0;
        popped = (taken == NONE -> ready : NONE);
        if
        :: popped != NONE -> ready = next[popped]
        :: else
        fi
    }
}

/* accept_timer(); here it matters only that the timer is taken. */
inline take() {
    d_step {
        assert(!got[popped] && !refused[popped]);
        got[popped] = 1;
        assert(shut || last[(popped - 1) / MESSAGES] < popped);
        last[(popped - 1) / MESSAGES] = popped;
        if
        :: DUE(popped) == FAR -> has_far = 1
        :: else
        fi;
        popped = NONE
    }
}

/* lawn__shard_drain() */
inline drain(budget) {
    steps = budget;
    do
    :: steps > 0 ->
        pop();
        if
        :: popped == NONE -> break
        :: else -> take(); steps = (steps > 0 -> steps - 1 : 0)
        fi
    :: else -> break
    od;
    steps = 0
}

proctype worker()
{
    byte seen;
    byte steps;
    byte popped;
    byte i;
    bit closes;
    do
    ::
#ifdef SLEEPS
        /* lawn_worker_turn() -> clear_wakeups() */
        if
        :: wake_at != 0 -> wake_at = 0
        :: else
        fi;
        if
        :: token -> token = 0
        :: else
        fi;
#endif
        closes = closing;
        drain(STEPS);
        /* is_drained() */
        if
        :: closes ->
            seen = head;
            if
            :: taken == NONE && ready == NONE && seen == NONE -> break
            :: else
            fi;
            seen = 0
        :: else
        fi;
#ifndef SLEEPS
        taken != NONE || ready != NONE || head != NONE || closing
#else
        /* announce_sleep() */
        /* Timers that a closed set leaves are no reason to wake. */
        wake_at = (has_far && !closes -> FAR : NEVER);
        seen = head; /* lawn__mailbox_empty() */
        if
        :: taken == NONE && ready == NONE && seen == NONE ->
            seen = 0;
            /* lawn_worker_run() -> lawn__park_wait() */
            d_step {
                if
                :: token == 0 -> parked = 1; check_sleep()
                :: else
                fi
            };
            /* A sleeper also wakes at its wake time. */
            if
            :: parked == 0
            :: atomic { wake_at == FAR -> parked = 0; has_far = 0 }
            fi
        :: else -> seen = 0; wake_at = 0
        fi
#endif
    od;
    ended = 1
}

/* lawn_workers_close() */
proctype closer()
{
    byte seen;
    byte steps;
    byte popped;
    byte i;
    bit was;
    closing = 1;
#ifdef SLEEPS
    unpark();
#endif
    ended; /* join_all() */
    /* lawn__shard_shut() -> lawn__mailbox_close() */
    atomic { seen = head; head = CLOSED; shut = 1 };
    d_step {
        if
        :: seen != NONE ->
            i = seen;
            do
            :: next[i] != NONE -> i = next[i]
            :: else -> break
            od;
            next[i] = taken;
            taken = seen
        :: else
        fi;
        i = 0;
        seen = 0
    };
    do
    :: taken != NONE || ready != NONE -> drain(2 * ALL)
    :: else -> break
    od;
    over = 1
}

init {
    byte i;
    atomic {
        for (i : 0 .. PRODUCERS - 1) {
            run producer(i)
        }
        i = 0;
        run worker();
        run closer()
    };
    DONE;
    for (i : 1 .. ALL) {
        assert(got[i] + refused[i] == 1)
    }
}

#ifdef LIVE
ltl drained { <> DONE }
#endif
