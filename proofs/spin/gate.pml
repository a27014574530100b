/* gate.pml - starts that post to a mailbox, and the closing of a set.
 *
 * THREADS threads that are not workers start or stop one timer, OPS times each;
 * the closer closes the set at any moment. The first OWNERS of them have their
 * own gate and count there with plain stores, which reach the memory late
 * (TSO); the others share a gate and use atomic additions. Without OWNERS there
 * is no LAWN_FENCE_HEAVY. The workers have ended, so timers remain in the
 * mailboxes. Names are those of src/workers; README.md maps lines to code.
 *
 * Proved: no mailbox is closed when a start that has claimed the timer posts to
 * it; each accepted start ends once; if a call does nothing because it finds a
 * claim, a start was accepted [C1 C2]; all threads end. */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef OPS
#define OPS 2
#endif

/* The state word: free; CLAIM; MAIL REQ, stopped; RUN MAIL REQ. */
#define FREE 0
#define CLAIM 1
#define STOPPED 2
#define RUN 3

byte state;
byte own[THREADS]; /* struct lawn_gate */
byte all;
bit box;
bit boxes_shut;
bit closing;

/* Stores of a thread that have not reached the memory: variable and value. */
#define OWN 0
#define STATE 1
chan stores[THREADS] = [3] of { bit, byte };
bit late[THREADS]; /* a store of the state word is among them */

/* Ghost variables. */
byte begun; /* accepted starts */
byte ended; /* starts ended by a stop, by another start, or by the closing */
bit met;    /* a thread found a claim and returned */
byte done;
bit over;

inline flush(who) {
    stores[who] ? word, value;
    if
    :: word == OWN -> own[who] = value
    :: else -> state = value; late[who] = 0
    fi;
    word = 0;
    value = 0
}

inline flush_all(who) {
    do
    :: len(stores[who]) > 0 -> flush(who)
    :: else -> break
    od
}

/* lawn__state_load(): a thread sees its own stores. */
inline look() {
    atomic { seen = (late[me] -> RUN : state) }
}

/* lawn__gate_enter(); sets passed */
inline enter() {
    if
    :: me < OWNERS -> stores[me] ! OWN, 1
    :: else -> atomic { flush_all(me); all++ }
    fi;
    passed = 1;
    if
    :: closing -> leave()
    :: else
    fi
}

/* lawn__gate_leave() */
inline leave() {
    if
    :: passed && me < OWNERS -> stores[me] ! OWN, 0
    :: passed && me >= OWNERS -> atomic { flush_all(me); all-- }
    :: else
    fi;
    passed = 0
}

/* start_slow(), start_remote() */
inline start() {
    if
    :: closing -> goto returned
    :: else
    fi;
    look();
    do
    :: seen == CLAIM -> met = 1; break
    :: else ->
        if
        :: seen == FREE ->
            enter();
            if
            :: !passed -> break
            :: else
            fi
        :: else
        fi;
        /* lawn__state_swap() */
        atomic {
            flush_all(me);
            if
            :: state == seen ->
                state = CLAIM;
                ended = ended + (seen == RUN);
                begun++;
                swapped = 1
            :: else -> seen = state
            fi
        };
        if
        :: swapped ->
            swapped = 0;
            /* lawn__shard_post() -> lawn__mailbox_push() */
            if
            :: seen == FREE ->
                atomic { flush_all(me); assert(!boxes_shut); box = 1 }
            :: else
            fi;
            atomic { stores[me] ! STATE, RUN; late[me] = 1 };
            leave();
            break
        :: else -> leave()
        fi
    od
}

/* stop_slow() */
inline stop() {
    look();
    do
    :: seen == RUN ->
        atomic {
            flush_all(me);
            if
            :: state == RUN -> state = STOPPED; ended++; break
            :: else -> seen = state
            fi
        }
    :: seen == CLAIM -> met = 1; break
    :: else -> break
    od
}

proctype caller(byte me)
{
    byte ops;
    byte seen;
    bit passed;
    bit swapped;
    bit word;
    byte value;
    do
    :: ops == OPS -> break
    :: else ->
        if
        :: start()
        :: stop()
        fi;
returned:
        atomic { seen = 0; ops++ }
    od;
    done++
}

/* Stores reach the memory in order. */
proctype memory(byte me)
{
    bit word;
    byte value;
end:
    do
    :: atomic { len(stores[me]) > 0 -> flush(me) }
    od
}

/* lawn_workers_close() */
proctype closer()
{
    byte i;
    bit word;
    byte value;
    closing = 1;
#if OWNERS
    /* lawn__gate_wait() */
    atomic {
        for (i : 0 .. THREADS - 1) {
            flush_all(i)
        }
        i = 0
    };
#endif
    do
    :: i < THREADS -> own[i] == 0; i++
    :: else -> break
    od;
    all == 0;
    i = 0;
    /* lawn__shard_shut() -> lawn__mailbox_close() */
    boxes_shut = 1;
    if
    :: box ->
        /* accept_timer(), lawn__shard_clear(), lawn__shard_release() */
        atomic {
            state != CLAIM;
            ended = ended + (state == RUN);
            state = FREE;
            box = 0
        }
    :: else
    fi;
    over = 1
}

init {
    byte i;
    atomic {
        for (i : 0 .. THREADS - 1) {
            run caller(i);
            run memory(i)
        }
        i = 0;
        run closer()
    };
    over && done == THREADS;
    assert(begun == ended);
    assert(!met || begun > 0);
    assert(state == FREE && !box)
}
