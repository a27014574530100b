/* series.c - a value over time, in a fixed number of columns: see series.h. */
#include "series.h"

static unsigned
column_of(const struct trace_series *series, uint64_t time)
{
    return (unsigned)((time - series->begin) >> series->shift);
}

/* Merges pairs of columns. */
static void
halve(struct trace_series *series)
{
    const unsigned half = TRACE_SERIES_COLUMNS / 2;
    for (unsigned i = 0; i < half; i++) {
        uint64_t left = series->most[2 * i];
        uint64_t right = series->most[2 * i + 1];
        series->areas[i] = series->areas[2 * i] + series->areas[2 * i + 1];
        series->most[i] = left > right ? left : right;
    }
    for (unsigned i = half; i < TRACE_SERIES_COLUMNS; i++) {
        series->areas[i] = 0;
        series->most[i] = 0;
    }
    series->shift++;
}

/* Extends the current value until now. */
static void
extend(struct trace_series *series, uint64_t now)
{
    double value = (double)series->value;
    series->area += value * (double)(now - series->now);
    while (series->now < now) {
        unsigned place = column_of(series, series->now);
        uint64_t width = UINT64_C(1) << series->shift;
        uint64_t step = width - ((series->now - series->begin) & (width - 1));
        if (step > now - series->now) {
            step = now - series->now;
        }
        series->areas[place] += value * (double)step;
        if (series->most[place] < series->value) {
            series->most[place] = series->value;
        }
        series->now += step;
    }
}

void
trace_series_set(struct trace_series *series, uint64_t now, uint64_t value)
{
    if (!series->begun) {
        series->begin = now;
        series->now = now;
        series->begun = true;
    }
    while ((now - series->begin) >> series->shift >= TRACE_SERIES_COLUMNS) {
        halve(series);
    }
    extend(series, now);
    series->value = value;
    unsigned place = column_of(series, now);
    if (series->most[place] < value) {
        series->most[place] = value;
    }
}

double
trace_series_mean(const struct trace_series *series)
{
    if (series->now == series->begin) {
        return (double)series->value;
    }
    return series->area / (double)(series->now - series->begin);
}

unsigned
trace_series_columns(const struct trace_series *series)
{
    return series->begun ? column_of(series, series->now) + 1 : 0;
}

double
trace_series_column(const struct trace_series *series, unsigned i)
{
    uint64_t ticks = UINT64_C(1) << series->shift;
    if (i + 1 == trace_series_columns(series)) {
        ticks = (series->now - series->begin) & (ticks - 1);
    }
    return ticks == 0 ? (double)series->value
                      : series->areas[i] / (double)ticks;
}
