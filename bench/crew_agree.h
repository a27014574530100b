/* crew_agree.h - whether a crew does to timers what it was asked for. */
#ifndef LAWN_BENCH_CREW_AGREE_H
#define LAWN_BENCH_CREW_AGREE_H

#include "crew.h"

#include <stdio.h>

/* Starts and stops timers on two workers, from themselves and from a third
 * thread: what was not stopped fires once, on the worker that keeps it, and not
 * early; what was stopped does not; what is left is told. Some of the choices
 * are random by seed. False: a line on out tells what was wrong. Takes some
 * 50 ms. */
bool crew_agree_check(const struct crew *crew, uint64_t seed, FILE *out);

#endif
