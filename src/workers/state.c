/* state.c - how an unshared timer becomes a shared one; see state.h. */
#include "state.h"

void
lawn_state_share(struct lawn_workers *set, struct lawn_workers_timer *timer)
{
    if (!set->asymmetric ||
        L_LOAD(&timer->shared, L_ACQUIRE) == LAWN_STATE_SHARED) {
        return;
    }
    L_STORE(&timer->shared, LAWN_STATE_SHARING, L_SEQ_CST);
    L_HEAVY();
    /* Of a part that is being made, no worker has had a timer in hand. */
    unsigned count = L_LOAD(&set->count, L_ACQUIRE);
    for (unsigned i = 0; i < count; i++) {
        while (L_LOAD(&set->parts[i]->hand, L_ACQUIRE) == timer) {
            lawn_park_yield();
        }
    }
    L_STORE(&timer->shared, LAWN_STATE_SHARED, L_RELEASE);
}
