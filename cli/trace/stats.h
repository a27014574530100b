/* stats.h - the figures of a trace.
 *
 * stats.c computes them in one pass; print.c, page.c and advice.c only read
 * them.
 */
#ifndef LAWN_CLI_TRACE_STATS_H
#define LAWN_CLI_TRACE_STATS_H

#include "series.h"
#include "text.h"
#include "trace_ttls.h"
#include <lawn_histogram.h>

#include <stdio.h>

#define TRACE_STATS_TOP 10
#define TRACE_STATS_CLASSES 58

/* A run begins with a start or a restart, and ends with a stop, a restart, the
 * firing or the end of the trace:
 *     runs == stopped + restarted + fired + running */
struct trace_stats {
    uint64_t unit_ns;
    uint64_t events;
    uint64_t runs;
    uint64_t stopped;
    uint64_t restarted;
    uint64_t fired;
    uint64_t running;
    uint64_t ignored; /* stops of timers that were not running */

    uint64_t first; /* times of the first and the last event */
    uint64_t last;
    uint64_t last_start;
    uint64_t most;             /* timers at once */
    uint64_t live_ttls;        /* TTLs with a running timer */
    uint64_t most_ttls;        /* maximum of live_ttls */
    uint64_t most_ttls_timers; /* most timers while live_ttls was at its
                                  maximum */

    struct trace_ttls ttls;     /* each with its number of runs; sorted at
                                   the end */
    struct lawn_histogram gaps; /* between starts */
    struct trace_series series; /* timers over time */

    /* Computed at the end. */
    struct trace_ttl top[TRACE_STATS_TOP]; /* most runs first */
    size_t top_count;
    uint64_t classes[TRACE_STATS_CLASSES]; /* runs by TTL: see below */
};

/* Returns the smallest TTL of class i: 1, 2, 5, 10, 20, 50 ticks and so on. A
 * class ends before the next one begins; the last one ends at UINT64_MAX. */
uint64_t trace_stats_class(size_t i);

/* Returns the smallest TTL that `percent` (0 to 100) % of the runs do not
 * exceed; 0 if there are no runs. */
uint64_t trace_stats_ttl(const struct trace_stats *stats, unsigned percent);

/* Returns the seconds from the first event to the last. */
double trace_stats_seconds(const struct trace_stats *stats);

/* Formats a time in ticks for people. */
struct text trace_stats_time(const struct trace_stats *stats, uint64_t ticks);

/* The recommended structure for the timers. */
struct trace_advice {
    const char *name; /* one word, for programs; "none" if there are no
                         timers */
    char title[128];  /* the recommendation */
    char reasons[6][256];
    size_t reason_count;
    uint64_t blades;    /* for struct lawn_options; 0: the default */
    uint64_t quantum;   /* round TTLs up to multiples of this number of
                           ticks; 0: do not round */
    uint64_t quantised; /* distinct TTLs after rounding */
    uint64_t bytes;     /* of the lawn; 0: no lawn */
};

void trace_advise(const struct trace_stats *stats, struct trace_advice *out);

void trace_print_text(const struct trace_stats *stats,
                      const struct trace_advice *advice, FILE *out);
void trace_print_json(const struct trace_stats *stats,
                      const struct trace_advice *advice, FILE *out);
void trace_page(const struct trace_stats *stats,
                const struct trace_advice *advice, FILE *out);

#endif
