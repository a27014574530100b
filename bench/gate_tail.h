/* gate_tail.h - the worst-case work of one call that fires nothing.
 *
 * Index entries whose slot is opened move down. Each blade and each
 * unqueued timer has an entry, so a slot may contain as many entries as there
 * are timers. A caller that wants a bound mows with a small budget, again and
 * again until no due timer is left. The result is the largest number of entries
 * that one such call processed without firing, as counted by the lawn.
 */
#ifndef LAWN_BENCH_GATE_TAIL_H
#define LAWN_BENCH_GATE_TAIL_H

#include <stddef.h>
#include <stdint.h>

/* Mows a lawn with a number of timers and TTLs: tick by tick, in jumps of all
 * sizes, and with most timers stopped. Returns the number of entries, or -1 if
 * there is no memory. */
double gate_tail_lived(size_t timers, uint64_t ttls, size_t budget);

/* The same for timers that are all in one far slot, and whose earliest one was
 * stopped. Mows at the results of lawn_next() until all have fired. */
double gate_tail_crowded(size_t timers, size_t budget);

/* The same for timers that each have their own TTL. The deadlines are so far
 * away, and so close together, that mows before the first of them open slots of
 * all levels. */
double gate_tail_built(size_t timers, size_t budget);

#endif
