/* habits.h - fits a lawn to the TTLs that its user has the habit of using.
 *
 * With few TTLs of very many timers, several blades per TTL hide the latency of
 * memory (blades.h). With more TTLs than blades, many timers find no blade, or
 * one that they share with few others, and the table does not pay. So a lawn
 * looks at its own counters now and then:
 *
 *   striped   few TTLs, many timers: 8 blades per TTL
 *   plain     a blade per TTL
 *   alone     more TTLs than blades: every timer goes into the index, and the
 *             table is not asked at all; tried again after a while
 *
 * A change takes effect only where the clock moves. Timers of one TTL and one
 * deadline are started at one time, so they all go the same way, and P4 holds.
 * With a resolution above 1 that is not so, and a lawn stays as it is.
 */
#ifndef LAWN_CORE_HABITS_H
#define LAWN_CORE_HABITS_H

#include "base.h"

struct lawn_habits {
    uint64_t starts;   /* what lawn->starts is counted from, */
    uint64_t restarts; /* and lawn->restarts */
    uint64_t seen;     /* starts of both kinds, at the last look */
    uint64_t misses;   /* of them, those that found no blade of their TTL */
    bool asked;        /* to look again, when the clock moves */
    bool alone;
    bool many; /* timers: more than a cache holds */
};

void lawn_habits_reset(struct lawn *lawn);
void lawn_habits_keep(struct lawn *lawn);
void lawn_habits_ask(struct lawn *lawn);
void lawn_habits_review(struct lawn *lawn);

#endif
