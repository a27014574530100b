/* workers_ops_oracle.c - the expected state of a set of workers and of its
 * timers (when each is due, and its latest time to fire), and the
 * comparison. */
#include "workers_ops_state.h"

#include "oracle.h"

#include <poll.h>
#include <stdio.h>

uint64_t
workers_ops_refusals(const struct workers_ops *ops)
{
    const uint64_t *refused = ops->script.config->refusals;

    return refused != NULL ? *refused : 0;
}

uint64_t
workers_ops_allocations(const struct workers_ops *ops)
{
    const uint64_t *made = ops->script.config->allocations;

    return made != NULL ? *made - ops->own : 0;
}

const char *
workers_ops_name_of(unsigned who)
{
    static const char *const names[] = {"worker A", "worker B", "worker C",
                                        "worker D", "no worker"};

    return names[who];
}

void
workers_ops_be(struct workers_ops *ops, unsigned who)
{
    ops->self = who;
    (void)lawn_workers_be(who == WORKERS_OPS_NOBODY ? NULL
                                                    : ops->seats[who].worker);
}

unsigned
workers_ops_count_workers(const struct workers_ops *ops)
{
    unsigned count = 0;

    for (unsigned i = 0; i < WORKERS_OPS_MAX; i++) {
        count += ops->seats[i].worker != NULL && !ops->seats[i].leaving;
    }
    return count;
}

uint64_t
workers_ops_late_of(const struct workers_ops *ops, const struct should *s)
{
    uint64_t last = LAWN_NEVER - 1;
    uint64_t from = s->ttl == 0 ? ops->clock : ops->latest;
    uint64_t late = s->late;

    if (s->mailed) {
        late = oracle_due(from < last ? from : last, ops->resolution,
                          s->ttl > 0 ? s->ttl : 1);
    }
    late = late > s->floor ? late : s->floor;
    return late > s->due ? late : s->due;
}

void
workers_ops_take_in_callback(struct workers_ops *ops)
{
    uint64_t last = LAWN_NEVER - 1;

    for (uint32_t i = 0; i < ops->many; i++) {
        if (ops->should[i].running) {
            ops->should[i].floor = oracle_due(
                ops->clock < last ? ops->clock : last, ops->resolution, 1);
        }
    }
}

void
workers_ops_may_take_mail(struct workers_ops *ops, unsigned who)
{
    if (who != WORKERS_OPS_NOBODY) {
        uint64_t now = lawn_worker_now(ops->seats[who].worker);

        ops->latest = now > ops->latest ? now : ops->latest;
    }
}

void
workers_ops_taken(const struct workers_ops *ops, struct should *s)
{
    s->late = workers_ops_late_of(ops, s);
    s->mailed = false;
}

void
workers_ops_forget_places(struct workers_ops *ops)
{
    ops->stable = false;

    for (uint32_t i = 0; i < ops->many; i++) {
        ops->should[i].sure = false;
        ops->should[i].on = WORKERS_OPS_NOBODY;
    }
    for (uint32_t i = 0; i < WORKERS_OPS_TTLS; i++) {
        ops->owners[i].on = WORKERS_OPS_NOBODY;
    }
    for (uint32_t i = 0; i < WORKERS_OPS_MAX; i++) {
        ops->seats[i].asleep = false;
    }
}

void
workers_ops_compare(struct workers_ops *ops)
{
    const struct ops_config *config = ops->script.config;
    struct script *script = &ops->script;

    script->result->operations++;
    for (uint32_t i = 0; i < ops->many; i++) {
        if (ops->timers[i] != NULL &&
            lawn_workers_pending(&ops->timers[i]->timer) !=
                ops->should[i].running) {
            script_fail(script, "C1: timer %u is%s running", i,
                        ops->should[i].running ? " not" : "");
        }
    }
    if (ops->set == NULL) {
        return;
    }
    script_expect(script, "the number of allocations since memory was needed",
                  workers_ops_allocations(ops), ops->foreign);
    struct lawn_workers_counters stats;
    lawn_workers_stats(ops->set, &stats);
    script_expect(script, "the fires of all workers", stats.fires, ops->fires);
    if (ops->careful ||
        (config->check_every != 0 && ++ops->unchecked >= config->check_every)) {
        ops->unchecked = 0;
        if (!lawn_workers_check(ops->set, stderr)) {
            script_fail(script, "lawn_workers_check() found something broken");
        }
    }
}

bool
workers_ops_is_called(const struct workers_ops *ops, unsigned who)
{
    struct pollfd poller = {.events = POLLIN};

    poller.fd = lawn_worker_fd(ops->seats[who].worker);
    return poll(&poller, 1, 0) == 1;
}
