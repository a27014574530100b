/* workers_check.c - the invariants of workers.h as a predicate. */
#include "part.h"
#include "state.h"

#include <stdio.h>

struct lawn_finding {
    const struct lawn_part *part;
    const char *broken;
};

static bool
lawn_workers_check_timer(struct lawn_timer *core, uint64_t ttl, void *arg)
{
    struct lawn_finding *finding = arg;
    uint64_t state =
        lawn_state_look(LAWN_CONTAINER(core, struct lawn_workers_timer, timer));
    (void)ttl;
    if ((state & CLAIM) == 0 &&
        ((state & LAWN) == 0 ||
         lawn_state_part(finding->part->set, state) != finding->part)) {
        finding->broken = "[M1] a timer on a lawn does not say so";
    }
    return finding->broken == NULL;
}

/* Timers of a list are in the part's mail. */
static void
lawn_workers_check_mail(struct lawn_finding *finding,
                        const struct lawn_workers_timer *timer)
{
    for (; timer != NULL; timer = timer->next) {
        uint64_t state = lawn_state_look(timer);
        if ((state & MAIL) == 0 ||
            lawn_state_part(finding->part->set, state) != finding->part) {
            finding->broken = "[M2] a timer in the mail does not say so";
        }
    }
}

static void
lawn_workers_check_part(struct lawn_finding *finding, FILE *out)
{
    const struct lawn_part *part = finding->part;
    if (!lawn_check(part->lawn, out)) {
        finding->broken = "a lawn is broken";
        return;
    }
    (void)lawn_each(part->lawn, lawn_workers_check_timer, finding);
    lawn_workers_check_mail(finding, part->again);
    lawn_workers_check_mail(finding, part->box.taken);
    lawn_workers_check_mail(finding, part->box.ready);
    if (!lawn_mailbox_is_closed(&part->box)) {
        lawn_workers_check_mail(finding, part->box.head);
    }
    if (part->worker != NULL && part->worker != &lawn_worker_nobody) {
        const struct lawn_part *own = part->worker->parts;
        while (own != NULL && own != part) {
            own = own->next;
        }
        if (own == NULL) {
            finding->broken = "[M3] a worker does not know its part";
        }
    }
    if (part->hand != NULL) {
        finding->broken = "a part has a timer in hand";
    }
    if (part->started > lawn_now(part->lawn)) {
        finding->broken = "[M5] a start counts from the future";
    }
}

bool
lawn_workers_check(struct lawn_workers *set, FILE *out)
{
    for (unsigned i = 0; i < set->count; i++) {
        struct lawn_finding finding = {set->parts[i], NULL};
        lawn_workers_check_part(&finding, out);
        if (finding.broken != NULL) {
            if (out != NULL) {
                (void)fprintf(out, "lawn_workers_check: part %u: %s\n", i,
                              finding.broken);
            }
            return false;
        }
    }
    return true;
}
