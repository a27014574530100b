/* state.c - makes an unshared timer a shared one: see state.h. */
#include "state.h"

void
lawn__state_share(struct lawn_workers *set, struct lawn_workers_timer *timer)
{
    if (!set->asymmetric ||
        LAWN_ATOMIC_LOAD(&timer->shared, LAWN_ACQUIRE) == LAWN_STATE_SHARED) {
        return;
    }
    LAWN_ATOMIC_STORE(&timer->shared, LAWN_STATE_SHARING, LAWN_SEQ_CST);
    LAWN_FENCE_HEAVY();
    /* A shard that is not yet counted cannot have the timer in `hand`. */
    unsigned count = LAWN_ATOMIC_LOAD(&set->count, LAWN_ACQUIRE);
    for (unsigned i = 0; i < count; i++) {
        while (LAWN_ATOMIC_LOAD(&set->shards[i]->hand, LAWN_ACQUIRE) == timer) {
            lawn__park_yield();
        }
    }
    LAWN_ATOMIC_STORE(&timer->shared, LAWN_STATE_SHARED, LAWN_RELEASE);
}
