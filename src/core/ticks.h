/* ticks.h - arithmetic on times. No result wraps [P9]; this is proved for all
 * valid times.
 */
#ifndef LAWN_CORE_TICKS_H
#define LAWN_CORE_TICKS_H

#include "base.h"

/* Returns now + ttl, at least one tick after now [P6] and at most LAWN_LAST. */
/*@ requires now <= LAWN_LAST;
  @ assigns \nothing;
  @ ensures \result == \min(now + \max(ttl, 1), LAWN_LAST);
  @*/
static inline uint64_t
lawn__ticks_after(uint64_t now, uint64_t ttl)
{
    if (ttl == 0) {
        ttl = 1;
    }
    return lawn__saturating_add(now, ttl);
}

/*@ lemma lawn_ticks_apart: \forall integer k, q, r;
  @     r > 0 && k * r > q * r ==> k * r >= q * r + r;
  @*/

/* Returns the first multiple of resolution that is not before time, at most
 * LAWN_LAST. */
/*@ requires time <= LAWN_LAST && resolution > 0;
  @ assigns \nothing;
  @ ensures late: time <= \result <= LAWN_LAST;
  @ ensures close: \result - time < resolution;
  @ ensures whole: \result % resolution == 0 || \result == LAWN_LAST;
  @ ensures first: \forall integer k; k * resolution >= time ==>
  @     k * resolution >= \result;
  @*/
static inline uint64_t
lawn__ticks_round_up(uint64_t time, uint64_t resolution)
{
    uint64_t past = time % resolution;

    if (past == 0) {
        return time;
    }
    /*@ assert time - past == time / resolution * resolution; */
    return lawn__saturating_add(time, resolution - past);
}

#endif
