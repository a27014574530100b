/* all.h - the crews of this tree. */
#ifndef LAWN_BENCH_CREWS_ALL_H
#define LAWN_BENCH_CREWS_ALL_H

#include "crew.h"

extern const struct crew lawn_crew;
extern const struct crew mutex_crew;
extern const struct crew adaptive_crew;
extern const struct crew shards_crew;
extern const struct crew alone_crew;

#endif
