/* gate.c - lets lawn_workers_close() wait for starts: see gate.h. */
#include "gate.h"

#include "park.h"

struct lawn_pass
lawn__gate_find(struct lawn_workers *set, uintptr_t me, unsigned at)
{
    for (unsigned i = 0; set->asymmetric && i < LAWN_GATE_TRIES; i++) {
        /* at ^ i is in the same cache line as at. */
        uintptr_t *word = &set->owners[at ^ i];
        uintptr_t owner = LAWN_ATOMIC_LOAD(word, LAWN_RELAXED);
        if (owner == me ||
            (owner == 0 && LAWN_ATOMIC_CAS(word, &owner, me, LAWN_SEQ_CST))) {
            return (struct lawn_pass){&set->gates[at ^ i].own, true};
        }
    }
    return (struct lawn_pass){&set->gates[at].all, false};
}

void
lawn__gate_wait(struct lawn_workers *set)
{
    bool owned = false;
    for (unsigned i = 0; i < LAWN_GATES; i++) {
        owned |= LAWN_ATOMIC_LOAD(&set->owners[i], LAWN_SEQ_CST) != 0;
    }
    /* A thread that takes a gate later sees that the set is closed. */
    if (owned) {
        LAWN_FENCE_HEAVY();
    }
    for (unsigned i = 0; i < LAWN_GATES; i++) {
        while (LAWN_ATOMIC_LOAD(&set->gates[i].own, LAWN_ACQUIRE) != 0 ||
               LAWN_ATOMIC_LOAD(&set->gates[i].all, LAWN_SEQ_CST) != 0) {
            lawn__park_yield();
        }
    }
}
