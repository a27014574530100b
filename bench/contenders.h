/* contenders.h - all contenders of this build, and the missing ones. */
#ifndef LAWN_BENCH_CONTENDERS_H
#define LAWN_BENCH_CONTENDERS_H

#include "crew.h"
#include "host.h"
#include "store.h"

#include <stdio.h>

#define CONTENDERS_MAX 32

/* Returns all contenders of a part that can run, those of this tree first; for
 * stores, crews and hosts, their faces. *count is their number. The first call
 * loads the plug-ins. */
const struct contender *const *contenders_of(enum contender_part part,
                                             size_t *count);

/* Finds a contender by name; NULL if there is none. Does not find stores, crews
 * or hosts. */
const struct contender *contenders_find(const char *name);

/* Known peers that cannot run here, and why. NULL after the last. */
struct contenders_missing {
    const char *name;
    const char *why;
    enum contender_part part;
};
const struct contenders_missing *contenders_list_missing(size_t *count);

/* Returns the lines of code, without blank lines and comments; 0 if unknown.
 * Not for stores, crews and hosts. */
unsigned contenders_count_lines(const struct contender *contender);

#endif
