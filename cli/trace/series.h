/* series.h - a number over time, in a fixed number of columns.
 *
 * How long a trace is shows at its end only. So the columns are as wide as they
 * need to be so far: when time passes the last, two and two become one. All of
 * it takes 4 KiB; a change is O(1), amortised over the columns it passes.
 */
#ifndef LAWN_CLI_TRACE_SERIES_H
#define LAWN_CLI_TRACE_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#define TRACE_SERIES_COLUMNS 256

/* Column i covers 2^shift ticks from begin + i * 2^shift; those before the one
 * of now are complete. All-zero bytes are not begun. */
struct trace_series {
    uint64_t begin;
    uint64_t now;
    unsigned shift;
    bool begun;
    uint64_t value;
    double area; /* the value, over all ticks so far */
    double areas[TRACE_SERIES_COLUMNS];
    uint64_t most[TRACE_SERIES_COLUMNS];
};

/* The value is another from now on; now does not run back. */
void trace_series_set(struct trace_series *series, uint64_t now,
                      uint64_t value);

/* The mean of all the time, or the value if there was none. */
double trace_series_mean(const struct trace_series *series);

/* How many columns have been begun. */
unsigned trace_series_columns(const struct trace_series *series);

/* The mean of one of them. */
double trace_series_column(const struct trace_series *series, unsigned i);

#endif
