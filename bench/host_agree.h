/* host_agree.h - checks the behavior of a host. */
#ifndef LAWN_BENCH_HOST_AGREE_H
#define LAWN_BENCH_HOST_AGREE_H

#include "host.h"

#include <stdio.h>

/* Starts, stops and restarts timers. Each timer that was not stopped must fire
 * once; a stopped timer must not fire. Returns false after printing an error to
 * out. Takes about 20 ms. */
bool host_agree_check(const struct host *host, FILE *out);

#endif
