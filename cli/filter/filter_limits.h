/* filter_limits.h - --max-keys, --max-lines and --overflow. */
#ifndef LAWN_CLI_FILTER_LIMITS_H
#define LAWN_CLI_FILTER_LIMITS_H

#include "filter.h"

/* Return true if there is room for a line's key, or for a line, after evicting
 * others if necessary. Otherwise apply --overflow: the line is written or
 * refused, or the filter stops; *result is the result for the line. */
bool filter_limits_admit_key(struct filter *filter,
                             const struct filter_line *line,
                             enum line_result *result);
bool filter_limits_admit_line(struct filter *filter,
                              const struct filter_line *line,
                              enum line_result *result);

#endif
