/* tuning.h - adapts a lawn to the TTLs in use.
 *
 * If a few TTLs have very many timers, several blades per TTL hide the latency
 * of memory (blades.h). If there are more TTLs than blades, many timers find no
 * blade, or share one with few others, and the table does not pay. So a lawn
 * reviews its counters from time to time and selects a mode:
 *
 *   striped   few TTLs, many timers: 8 blades per TTL
 *   plain     one blade per TTL
 *   bypassed  more TTLs than blades: all timers are inserted into the index;
 *             the table is tried again later
 *
 * The criterion is the share of starts that miss: they find no blade of their
 * TTL. Starts of idle timers and misses are always counted. Restarts that find
 * their blade are not, because counting makes them 10 % slower. So if there
 * seem to be many misses, a trial begins, in which every start takes the slow
 * path and is counted.
 *
 * The mode changes only when the clock moves, in lawn_mow() or lawn_set_now().
 * Timers with the same TTL and deadline are started at the same time, thus in
 * the same mode, so P4 holds. With a resolution above 1 they may be started at
 * different times, so the mode does not change.
 */
#ifndef LAWN_CORE_TUNING_H
#define LAWN_CORE_TUNING_H

#include "base.h"

struct lawn_tuning {
    uint64_t starts;      /* plus lawn->starts: the total */
    uint64_t misses;      /* plus lawn->misses: the total */
    uint64_t seen_starts; /* starts of idle timers at the last review */
    uint64_t seen_misses; /* misses at the last review */
    uint64_t left;        /* starts of all kinds until the end of the trial */
    bool review_due;      /* review when the clock moves */
    bool trial;
    bool bypass;
    bool many; /* more running timers than fit in a cache */
};

void lawn__tuning_reset(struct lawn *lawn);
void lawn__tuning_keep(struct lawn *lawn);
void lawn__tuning_settle(struct lawn *lawn);
void lawn__tuning_request_review(struct lawn *lawn);
void lawn__tuning_review(struct lawn *lawn);

#endif
