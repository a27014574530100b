/* peers.h - loads the real libraries among the contenders: shared objects in
 * the folder peers beside the program, or else where they were installed. */
#ifndef LAWN_BENCH_PEERS_H
#define LAWN_BENCH_PEERS_H

#include "contenders.h"

/* So many are known. */
#define PEERS_MAX 25

/* Loads the peers that are there, at most room of them, and returns how many
 * they are. What is known but cannot run goes to missing, which has room for
 * PEERS_MAX; *missing_count of them. Nothing is ever unloaded, so both stay
 * valid; to be called once. */
size_t peers_load(const struct contender **into, size_t room,
                  struct contenders_missing *missing, size_t *missing_count);

#endif
