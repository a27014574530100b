/* log.h - messages on standard error. */
#ifndef LAWN_CLI_LOG_H
#define LAWN_CLI_LOG_H

#include "filter.h"

/* Prints "lawn VERB: ..."; log_usage_error() also prints how to get help. */
void log_message(const struct filter *filter, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void log_usage_error(const struct filter *filter, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Counts the line that was read last as bad, and prints why for the first ten.
 * With --strict, stops the filter. */
void log_bad_line(struct filter *filter, unsigned side, const char *wrong);

/* Prints the number of bad lines, if not all were printed, and of late
 * lines. */
void log_summary(const struct filter *filter);

/* Prints the counts of --stats. */
void log_stats(const struct filter *filter);

#endif
