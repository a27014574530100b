/* tuning.h - adapts a lawn to the TTLs in use.
 *
 * Blades pay if many timers share few TTLs; otherwise it is faster to insert
 * all timers into the index. With very many timers, several blades per TTL hide
 * the latency of memory (blades.h). So a lawn selects a mode:
 *
 *   bypassed  few timers per TTL: all timers are inserted into the index
 *   plain     one blade per TTL
 *   striped   few TTLs, very many timers: 8 blades per TTL
 *
 * A lawn begins bypassed; or plain, if options.blades is set. While the blades
 * are bypassed, some starts are sampled. A sample whose TTL already has a blade
 * is a hit. Otherwise the TTL gets a blade, but the timer does not use it. The
 * lawn begins to use its blades if most samples are hits and enough timers per
 * TTL are running. A start or restart that joins no blade of its TTL is a miss.
 * The lawn gives its blades up if there are too many misses or too few timers
 * per TTL: see are_blades_useless().
 *
 * The mode changes when the clock moves, in lawn_mow() or lawn_set_now().
 * Timers with the same TTL and deadline are started at the same time, thus in
 * the same mode, so P4 holds. With a resolution above 1 they may be started at
 * different times, so the mode, plain or striped, is kept. If
 * lawn_set_resolution() sets such a resolution, a bypassed lawn becomes plain
 * at once. P4 holds, because the timers started before are unqueued, and
 * unqueued timers fire first.
 *
 * The counting of starts and misses begins again after `patience` misses, when
 * the mode changes to or from bypassed, and when the resolution is set.
 */
#ifndef LAWN_CORE_TUNING_H
#define LAWN_CORE_TUNING_H

#include "base.h"

struct lawn_tuning {
    uint64_t starts;        /* this + lawn->starts: starts of idle timers; see
                             * internal.h */
    uint64_t misses;        /* this + lawn->misses: all misses */
    uint64_t seen_starts;   /* starts of idle timers when the counting began */
    uint64_t seen_misses;   /* misses then */
    uint64_t seen_unqueued; /* starts without a blade then */
    uint64_t patience;      /* misses after which the counting begins again */
    uint32_t ttls;          /* while bypassed: estimated number of TTLs */
    uint32_t spacing;       /* starts per sample */
    uint32_t samples;       /* in this window of LAWN_TUNING_WINDOW samples */
    uint32_t hits;          /* samples of a TTL with a blade */
    bool asked;             /* options.blades is set */
    bool review_due;        /* review when the clock moves */
    bool bypass;
    bool direct; /* bypassed, with a resolution of 1 */
    bool many;   /* more running timers than fit in a cache */
};

void lawn__tuning_init(struct lawn *lawn, bool asked);
void lawn__tuning_keep(struct lawn *lawn);
void lawn__tuning_settle(struct lawn *lawn);
void lawn__tuning_count_start(struct lawn *lawn);
void lawn__tuning_count_miss(struct lawn *lawn, uint64_t ttl);
void lawn__tuning_review(struct lawn *lawn);

#endif
