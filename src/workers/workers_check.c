/* workers_check.c - the invariants of workers.h as a predicate. */
#include "shard.h"
#include "state.h"

#include <stdio.h>

struct lawn_finding {
    const struct lawn_shard *shard;
    const char *broken;
};

static bool
check_timer(struct lawn_timer *core, uint64_t ttl, void *arg)
{
    struct lawn_finding *finding = arg;
    uint64_t state = lawn__state_load(
        LAWN_CONTAINER(core, struct lawn_workers_timer, timer));
    (void)ttl;
    if ((state & LAWN_STATE_CLAIM) == 0 &&
        ((state & LAWN_STATE_LAWN) == 0 ||
         lawn__state_shard(finding->shard->set, state) != finding->shard)) {
        finding->broken = "[M1] a timer on a lawn does not say so";
    }
    return finding->broken == NULL;
}

/* Timers of a list are in the shard's mail. */
static void
check_mail(struct lawn_finding *finding, const struct lawn_workers_timer *timer)
{
    for (; timer != NULL; timer = timer->next) {
        uint64_t state = lawn__state_load(timer);
        if ((state & LAWN_STATE_MAIL) == 0 ||
            lawn__state_shard(finding->shard->set, state) != finding->shard) {
            finding->broken = "[M2] a timer in the mail does not say so";
        }
    }
}

static void
check_shard(struct lawn_finding *finding, FILE *out)
{
    const struct lawn_shard *shard = finding->shard;
    if (!lawn_check(shard->lawn, out)) {
        finding->broken = "a lawn is broken";
        return;
    }
    (void)lawn_each(shard->lawn, check_timer, finding);
    check_mail(finding, shard->again);
    check_mail(finding, shard->box.taken);
    check_mail(finding, shard->box.ready);
    if (!lawn__mailbox_is_closed(&shard->box)) {
        check_mail(finding, shard->box.head);
    }
    if (shard->worker != NULL && shard->worker != &lawn__worker_nobody) {
        const struct lawn_shard *own = shard->worker->shards;
        while (own != NULL && own != shard) {
            own = own->next;
        }
        if (own == NULL) {
            finding->broken = "[M3] a worker does not know its shard";
        }
    }
    if (shard->hand != NULL) {
        finding->broken = "a shard has a timer in hand";
    }
    if (shard->started > lawn_now(shard->lawn)) {
        finding->broken = "[M5] a start counts from the future";
    }
}

bool
lawn_workers_check(struct lawn_workers *set, FILE *out)
{
    for (unsigned i = 0; i < set->count; i++) {
        struct lawn_finding finding = {set->shards[i], NULL};
        check_shard(&finding, out);
        if (finding.broken != NULL) {
            if (out != NULL) {
                (void)fprintf(out, "lawn_workers_check: shard %u: %s\n", i,
                              finding.broken);
            }
            return false;
        }
    }
    return true;
}
