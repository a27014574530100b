/* saturating.h - addition of times that saturates at the last tick [P9]. */
#ifndef LAWN_BASE_SATURATING_H
#define LAWN_BASE_SATURATING_H

#include "lawn.h"

/* The latest deadline and the latest time. */
#define LAWN_LAST (LAWN_NEVER - 1)

/* Returns time + more, at most LAWN_LAST, for any arguments. */
/*@ assigns \nothing;
  @ ensures \result == \min(time + more, LAWN_LAST);
  @*/
static inline uint64_t
lawn__saturating_add(uint64_t time, uint64_t more)
{
    return more < LAWN_NEVER - time ? time + more : LAWN_LAST;
}

#endif
