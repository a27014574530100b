/* tell.h - what a filter says on standard error. */
#ifndef LAWN_CLI_TELL_H
#define LAWN_CLI_TELL_H

#include "filter.h"

/* "lawn VERB: ..."; usage adds where help is. */
void tell(const struct filter *filter, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tell_usage(const struct filter *filter, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What is wrong with the line that was read last, and counts it; the first few
 * are told. */
void tell_bad(struct filter *filter, unsigned side, const char *wrong);

/* How many there were, if not all were told, and how many were late. */
void tell_at_end(const struct filter *filter);

/* The counts. */
void tell_stats(const struct filter *filter);

#endif
