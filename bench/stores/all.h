/* all.h - the stores of this tree. */
#ifndef LAWN_BENCH_STORES_ALL_H
#define LAWN_BENCH_STORES_ALL_H

#include "store.h"

extern const struct store lawn_store_contender;

#endif
