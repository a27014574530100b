/* gate.h - lets lawn_workers_close() wait for starts that use the mailbox.
 *
 * A start that will put a timer into a mailbox enters a gate before it claims
 * the timer, because it must not fail after that: see state.h.
 * lawn_workers_close() waits for the starts inside the gates before it closes
 * the mailboxes:
 *
 *      the start                          close
 *      gate++                             closing = 1
 *      LIGHT                              the workers end
 *      if closing: gate--, -ESHUTDOWN     HEAVY
 *      claim, write, push, end the claim  for each gate: while gate != 0: yield
 *      gate--, a release                  close the mailboxes
 *
 * Either the start sees `closing` and fails without changing the timer, or
 * close sees the start and waits until the timer is in the mailbox. Inside a
 * gate, a start never blocks and cannot be canceled. It is enough that close
 * sees each gate empty once: later starts see `closing`.
 *
 * A thread owns at most one gate of each set, and counts there without atomic
 * additions. The owner is identified by the address of a thread-local word. A
 * thread does not release its gates when it ends, but a new thread that gets
 * its memory inherits them. It sees their counts, because the reuse of the
 * memory is ordered after the end of the old thread. If other threads, running
 * or ended, own all gates that a thread tries, it uses a shared word and
 * sequentially consistent atomic additions. Without LAWN_FENCE_HEAVY, all
 * threads do so. */
#ifndef LAWN_WORKERS_GATE_H
#define LAWN_WORKERS_GATE_H

#include "atomic.h"
#include "workers.h"

/* Identifies the calling thread; not 0. */
#if defined LAWN_EXPLORE
uintptr_t lawn__explore_me(void);
#define LAWN_GATE_ME lawn__explore_me()
#else
#define LAWN_GATE_ME ((uintptr_t)&lawn__worker_current)
#endif

/* The gate that a start has entered; all zero if none. */
struct lawn_pass {
    uint32_t *count;
    bool alone; /* no other thread writes *count */
};

/* Called if the thread does not own gate number `at`. Tries `at` and a few
 * others, and returns the first that the thread owns or can take, else a shared
 * one. */
struct lawn_pass lawn__gate_find(struct lawn_workers *set, uintptr_t me,
                                 unsigned at);

/* Waits until each gate was empty once. The set must be closed. */
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

/* Returns false, without entering, if the set is closed. */
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
