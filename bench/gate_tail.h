/* gate_tail.h - how much one mow may have to do, though it fires nothing.
 *
 * Index entries that come up move down a level. With a blade for each TTL there
 * are no more entries than blades; an unqueued timer is an entry by itself. What
 * counts is the most that one mow moved, as the lawn itself counts it.
 */
#ifndef LAWN_BENCH_GATE_TAIL_H
#define LAWN_BENCH_GATE_TAIL_H

#include <stdbool.h>
#include <stddef.h>

struct gate_tail {
    double moved;  /* entries, by one mow that fired nothing */
    double blades; /* of the lawn */
    double ns;     /* that the mow took, if it was built */
};

/* A lawn that is lived in, with 1,000 TTLs and a million timers: tick by tick,
 * in jumps of all sizes, and with most timers stopped. False: no memory. */
bool gate_tail_lived(struct gate_tail *tail);

/* Built to be bad: so many deadlines, each of a TTL of its own, so far away and
 * so close to each other that all come up in one mow before the first. */
bool gate_tail_built(struct gate_tail *tail, size_t timers);

#endif
