/* peers.h - loads the contenders that are real libraries: shared objects in the
 * directory peers next to the program, or where they were installed. */
#ifndef LAWN_BENCH_PEERS_H
#define LAWN_BENCH_PEERS_H

#include "contenders.h"

/* The number of known peers. */
#define PEERS_MAX 25

/* Loads the available peers, at most room of them, and returns their number.
 * Known peers that cannot run are stored in missing, which has room for
 * PEERS_MAX; *missing_count is their number. Nothing is ever unloaded, so both
 * remain valid. Must be called once. */
size_t peers_load(const struct contender **into, size_t room,
                  struct contenders_missing *missing, size_t *missing_count);

#endif
