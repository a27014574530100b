/* contenders.h - all contenders of this build, and those that are missing. */
#ifndef LAWN_BENCH_CONTENDERS_H
#define LAWN_BENCH_CONTENDERS_H

#include "crew.h"
#include "host.h"
#include "store.h"

#include <stdio.h>

#define CONTENDERS_MAX 32

/* All of a part that can run, ours first; *count of them: of stores, crews and
 * hosts their faces. The plug-ins are loaded at the first call. */
const struct contender *const *contenders_of(enum contender_part part,
                                             size_t *count);

/* By name, or NULL; no store, crew or host. */
const struct contender *contenders_find(const char *name);

/* Peers that are known but cannot run here: why, for people. NULL after the
 * last. */
struct contenders_missing {
    const char *name;
    const char *why;
    enum contender_part part;
};
const struct contenders_missing *contenders_list_missing(size_t *count);

/* Lines of code, without blank lines and comments; 0: not known. Not for
 * stores, crews and hosts. */
unsigned contenders_count_lines(const struct contender *contender);

#endif
