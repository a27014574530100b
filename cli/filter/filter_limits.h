/* filter_limits.h - --max-keys, --max-lines and --overflow. */
#ifndef LAWN_CLI_FILTER_LIMITS_H
#define LAWN_CLI_FILTER_LIMITS_H

#include "filter.h"

/* Return true if there is room for a line's key, or for a line, if necessary after
 * evicting others. Otherwise the line is passed on, refused, or stops the filter, as
 * --overflow says; then *result is the result of the line. */
bool filter_limits_admit_key(struct filter *filter,
                             const struct filter_line *line,
                             enum line_result *result);
bool filter_limits_admit_line(struct filter *filter,
                              const struct filter_line *line,
                              enum line_result *result);

#endif
