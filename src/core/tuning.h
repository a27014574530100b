/* tuning.h - fits a lawn to the TTLs that its user starts timers with.
 *
 * With few TTLs of very many timers, several blades per TTL hide the latency of
 * memory (blades.h). With more TTLs than blades, many timers find no blade, or
 * one that they share with few others, and the table does not pay. So a lawn
 * looks at its own counters now and then:
 *
 *   striped   few TTLs, many timers: 8 blades per TTL
 *   plain     a blade per TTL
 *   bypass    more TTLs than blades: every timer goes into the index, and the
 *             table is not asked at all; tried again after a while
 *
 * What counts is the share of starts that miss. Starts of idle timers and
 * misses are counted all the time, restarts that find their blade are not: that
 * alone would make them a tenth slower. So when misses look many, there is a
 * trial, in which every start takes the long way and is counted.
 *
 * A change takes effect only where the clock moves, by a mow or lawn_set_now().
 * Timers of one TTL and one deadline are started at one time, so they all go
 * the same way, and P4 holds. With a resolution above 1 that is not so, and a
 * lawn stays as it is.
 */
#ifndef LAWN_CORE_TUNING_H
#define LAWN_CORE_TUNING_H

#include "base.h"

struct lawn_tuning {
    uint64_t starts;      /* what lawn->starts is counted from, */
    uint64_t misses;      /* and lawn->misses */
    uint64_t seen_starts; /* of idle timers, at the last look, */
    uint64_t seen_misses; /* and misses */
    uint64_t left;        /* starts of all kinds until the trial is over */
    bool review_due;      /* to look again, when the clock moves */
    bool trial;
    bool bypass;
    bool many; /* timers: more than a cache holds */
};

void lawn__tuning_reset(struct lawn *lawn);
void lawn__tuning_keep(struct lawn *lawn);
void lawn__tuning_request_review(struct lawn *lawn);
void lawn__tuning_review(struct lawn *lawn);

#endif
