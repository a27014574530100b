/* crew_agree.h - checks the behavior of a crew. */
#ifndef LAWN_BENCH_CREW_AGREE_H
#define LAWN_BENCH_CREW_AGREE_H

#include "crew.h"

#include <stdio.h>

/* Starts and stops timers on two workers, from the workers and from a third
 * thread. Each timer that was not stopped must fire once, on its worker, and
 * not early. A stopped timer must not fire. Timers still running at the end
 * must be reported. Some choices are random by seed. Returns false after
 * printing an error to out. Takes about 50 ms. */
bool crew_agree_check(const struct crew *crew, uint64_t seed, FILE *out);

#endif
