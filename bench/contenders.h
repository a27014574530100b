/* contenders.h - all contenders of this build, and those that are missing. */
#ifndef LAWN_BENCH_CONTENDERS_H
#define LAWN_BENCH_CONTENDERS_H

#include "store.h"

#include <stdio.h>

#define CONTENDERS_MAX 32

/* All that can run, ours first; *count of them. The plug-ins are loaded at the
 * first call. */
const struct contender *const *contenders_all(size_t *count);

/* The same for stores: their faces. */
const struct contender *const *contenders_stores(size_t *count);

/* By name, or NULL; no store. */
const struct contender *contenders_find(const char *name);

/* Peers that are known but cannot run here: why, for people. NULL after the
 * last. */
struct contenders_missing {
    const char *name;
    const char *why;
    bool store;
};
const struct contenders_missing *contenders_missing(size_t *count);

/* Lines of code, without blank lines and comments; 0: not known. Not for
 * stores. */
unsigned contenders_lines(const struct contender *contender);

#endif
