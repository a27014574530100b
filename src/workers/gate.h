/* gate.h - starts that go into the mail, and the end of a set.
 *
 * A start that has claimed a timer must not be refused any more, since others that
 * met the claim have relied on it: see state.h. So one that will put a timer into
 * the mail passes a gate before it claims, and close waits for those within before
 * it closes the boxes:
 *
 *      the start                          close
 *      gate++                             closing = 1
 *      LIGHT                              the workers end
 *      if closing: gate--, -ESHUTDOWN     HEAVY
 *      claim, write, push, end the claim  for each gate: while gate != 0: yield
 *      gate--, a release                  close the boxes
 *
 * Either the start sees that the set is closed, and has not touched the timer, or
 * close sees the start, and waits until it is in the box. Nothing between gate++ and
 * gate-- waits for anybody or is a point of cancellation, and what comes later does
 * not stay: so it is enough that each gate was empty once.
 *
 * A thread takes a gate of each set for its own, and counts there without atomic
 * additions. Who a gate is of is told by the address of a word that each thread has
 * one of, so a thread that comes when another has gone, and has its memory, has its
 * gates; who gave it that memory has seen the other's end, and so sees its counts.
 * Gates are not given back otherwise. Where there is no LAWN_FENCE_HEAVY, or if
 * other threads, perhaps such as have ended, have all gates near the thread's
 * first, it counts by atomic additions, in a word that it may share, and all of
 * it is sequentially consistent. */
#ifndef LAWN_WORKERS_GATE_H
#define LAWN_WORKERS_GATE_H

#include "atomic.h"
#include "workers.h"

/* Who the calling thread is: not 0. */
#if defined LAWN_EXPLORE
uintptr_t lawn__explore_me(void);
#define LAWN_GATE_ME lawn__explore_me()
#else
#define LAWN_GATE_ME ((uintptr_t)&lawn__worker_current)
#endif

/* The gate that a start has passed; or none, all zero. */
struct lawn_pass {
    uint32_t *count;
    bool alone; /* no other thread writes it */
};

/* The gate of a thread for which the one at `at` is not its own: another one, which
 * may now be so, or one that it shares. */
struct lawn_pass lawn__gate_find(struct lawn_workers *set, uintptr_t me,
                                 unsigned at);

/* Waits until each gate was empty once; the set is closed. */
void lawn__gate_wait(struct lawn_workers *set);

static inline void
lawn__gate_leave(const struct lawn_pass *pass)
{
    if (pass->alone) {
        LAWN_ATOMIC_STORE(pass->count,
                          LAWN_ATOMIC_LOAD(pass->count, LAWN_RELAXED) - 1,
                          LAWN_RELEASE);
    } else if (pass->count != NULL) {
        (void)LAWN_ATOMIC_FADD(pass->count, (uint32_t)-1, LAWN_SEQ_CST);
    }
}

/* False: the set is closed, and the caller has not passed. */
static inline bool
lawn__gate_enter(struct lawn_workers *set, struct lawn_pass *pass)
{
    uintptr_t me = LAWN_GATE_ME;
    unsigned at = (unsigned)((me * UINT64_C(0x9e3779b97f4a7c15)) >>
                             (64 - LAWN_GATE_BITS));
    *pass = (struct lawn_pass){&set->gates[at].own, true};
    if (LAWN_ATOMIC_LOAD(&set->owners[at], LAWN_RELAXED) != me) {
        *pass = lawn__gate_find(set, me, at);
    }
    if (pass->alone) {
        LAWN_ATOMIC_STORE(pass->count,
                          LAWN_ATOMIC_LOAD(pass->count, LAWN_RELAXED) + 1,
                          LAWN_RELAXED);
        LAWN_FENCE_LIGHT();
    } else {
        (void)LAWN_ATOMIC_FADD(pass->count, 1, LAWN_SEQ_CST);
    }
    if (LAWN_ATOMIC_LOAD(&set->closing, LAWN_SEQ_CST) != 0) {
        lawn__gate_leave(pass);
        return false;
    }
    return true;
}

#endif
