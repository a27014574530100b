/* all.h - the event loop of this tree. */
#ifndef LAWN_BENCH_HOSTS_ALL_H
#define LAWN_BENCH_HOSTS_ALL_H

#include "../host.h"

extern const struct host lawn_host;
extern const struct host lawn_host_coarse;

#endif
