/* gate_tail.h - the worst-case work of a mow that fires nothing.
 *
 * Index entries whose slot is opened move down a level. If each TTL has a
 * blade, there are at most as many entries as blades; an unqueued timer is an
 * entry of its own. The result is the largest number of entries that one mow
 * moved, as counted by the lawn.
 */
#ifndef LAWN_BENCH_GATE_TAIL_H
#define LAWN_BENCH_GATE_TAIL_H

#include <stdbool.h>
#include <stddef.h>

struct gate_tail {
    double moved;  /* entries moved by one mow that fired nothing */
    double blades; /* of the lawn */
    double ns;     /* duration of that mow; set by gate_tail_built() */
};

/* Uses a lawn with 1,000 TTLs and a million timers: tick by tick, in jumps of
 * all sizes, and with most timers stopped. Returns false if there is no
 * memory. */
bool gate_tail_lived(struct gate_tail *tail);

/* Builds a bad case with the given number of timers. Each has its own TTL. The
 * deadlines are so far away, and so close together, that one mow before the
 * first of them opens the slots of all timers. */
bool gate_tail_built(struct gate_tail *tail, size_t timers);

#endif
