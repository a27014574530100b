/* host_agree.h - whether a host does to timers what it was asked for. */
#ifndef LAWN_BENCH_HOST_AGREE_H
#define LAWN_BENCH_HOST_AGREE_H

#include "host.h"

#include <stdio.h>

/* Starts, stops and restarts timers: what was not stopped fires once, and what
 * was stopped does not. False: a line on out tells what was wrong. Takes some
 * 20 ms. */
bool host_agree_check(const struct host *host, FILE *out);

#endif
