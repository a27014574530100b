/* gate.c - see gate.h. */
#include "gate.h"

#include "park.h"

struct lawn_pass
lawn_gate_find(struct lawn_workers *set, uintptr_t me, unsigned at)
{
    for (unsigned i = 0; set->asymmetric && i < LAWN_GATE_TRIES; i++) {
        /* In the same line of the cache. */
        uintptr_t *word = &set->owners[at ^ i];
        uintptr_t owner = L_LOAD(word, L_RELAXED);
        if (owner == me || (owner == 0 && L_CAS(word, &owner, me, L_SEQ_CST))) {
            return (struct lawn_pass){&set->gates[at ^ i].own, true};
        }
    }
    return (struct lawn_pass){&set->gates[at].all, false};
}

void
lawn_gate_wait(struct lawn_workers *set)
{
    bool owned = false;
    for (unsigned i = 0; i < LAWN_GATES; i++) {
        owned |= L_LOAD(&set->owners[i], L_SEQ_CST) != 0;
    }
    /* Who takes a gate after that sees that the set is closed. */
    if (owned) {
        L_HEAVY();
    }
    for (unsigned i = 0; i < LAWN_GATES; i++) {
        while (L_LOAD(&set->gates[i].own, L_ACQUIRE) != 0 ||
               L_LOAD(&set->gates[i].all, L_SEQ_CST) != 0) {
            lawn_park_yield();
        }
    }
}
