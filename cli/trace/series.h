/* series.h - a value over time, in a fixed number of columns.
 *
 * The length of a trace is known only at its end, so the width of the columns
 * grows: when time passes the last column, pairs of columns are merged. Takes 4
 * KiB. A change is O(columns that time passes), at most 256, plus O(256) for
 * each merge; there are at most 56 merges.
 */
#ifndef LAWN_CLI_TRACE_SERIES_H
#define LAWN_CLI_TRACE_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#define TRACE_SERIES_COLUMNS 256

/* Column i covers 2^shift ticks from begin + i * 2^shift; columns before the
 * current one are complete. All-zero bytes are an empty series. */
struct trace_series {
    uint64_t begin;
    uint64_t now;
    unsigned shift;
    bool begun;
    uint64_t value;
    double area; /* the integral of the value over all ticks so far */
    double areas[TRACE_SERIES_COLUMNS];
    uint64_t most[TRACE_SERIES_COLUMNS];
};

/* Sets the value from now on; now must not decrease. */
void trace_series_set(struct trace_series *series, uint64_t now,
                      uint64_t value);

/* Returns the mean over all time, or the value if no time has passed. */
double trace_series_mean(const struct trace_series *series);

/* Returns the number of columns in use. */
unsigned trace_series_columns(const struct trace_series *series);

/* Returns the mean of a column. */
double trace_series_column(const struct trace_series *series, unsigned i);

#endif
