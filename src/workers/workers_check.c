/* workers_check.c - checks invariants of workers.h. */
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
        finding->broken = "[M1] a timer on a lawn is not marked so";
    }
    return finding->broken == NULL;
}

static void
check_mail(struct lawn_finding *finding, const struct lawn_workers_timer *timer)
{
    for (; timer != NULL; timer = timer->next) {
        uint64_t state = lawn__state_load(timer);
        if ((state & LAWN_STATE_MAIL) == 0 ||
            lawn__state_shard(finding->shard->set, state) != finding->shard) {
            finding->broken = "[M2] a timer in the mail is not marked so";
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
    if (shard->worker != NULL && shard->worker != &lawn__handover_marker) {
        const struct lawn_shard *own = shard->worker->shards;
        while (own != NULL && own != shard) {
            own = own->next;
        }
        if (own == NULL) {
            finding->broken = "[M3] a shard is not on the list of its worker";
        }
    }
    if (shard->hand != NULL) {
        finding->broken = "a worker is changing a timer";
    }
    if (shard->started > lawn_now(shard->lawn)) {
        finding->broken = "[M5] a start time is in the future";
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
