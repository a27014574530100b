/* demo.h - the state shared by the files of "lawn demo".
 *
 * demo.c runs the server and its timers, demo_report.c prints figures, and
 * demo_draw.c draws them on a terminal. The latter two only read the state.
 */
#ifndef LAWN_CLI_DEMO_H
#define LAWN_CLI_DEMO_H

#include <lawn_histogram.h>

#include <lawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DEMO_TTLS_MAX 64
#define DEMO_SECOND UINT64_C(1000000000)
#define DEMO_FRAMES_PER_SECOND 15

struct demo_ttls {
    size_t count;
    uint64_t ns[DEMO_TTLS_MAX];
};

struct demo_options {
    uint64_t timers;
    uint64_t run_ns;
    struct demo_ttls ttls;
    uint64_t seed;
    bool json;
};

/* The counts at the time `at`. starts == stops + fires + sum of standing. */
struct demo_counts {
    uint64_t at;
    uint64_t starts;
    uint64_t restarts;
    uint64_t stops;
    uint64_t fires;
    uint64_t fires_of[DEMO_TTLS_MAX];
    uint64_t standing[DEMO_TTLS_MAX]; /* running, by TTL */
};

struct demo {
    const struct demo_options *options;
    struct lawn *lawn;
    uint64_t begin; /* CLOCK_MONOTONIC in ns, like all times here */
    uint64_t now;   /* read once per batch */
    struct demo_counts counts;
    struct lawn_histogram
        lateness; /* ns from deadline to the mow that fired it */
    uint64_t early;
    uint64_t lost;
    uint64_t core_ns; /* how long the process ran on a core */
    bool interrupted;

    /* Counts of the last frames; frame f is at [f % size]. Rates are computed
     * between two of them. */
    struct demo_counts frames[DEMO_FRAMES_PER_SECOND + 1];
    uint64_t frame; /* number of frames so far */
};

uint64_t demo_operations(const struct demo_counts *counts);
uint64_t demo_running(const struct demo *demo);

/* Returns the counts of `back` frames ago, or of the oldest frame, or zeros. */
const struct demo_counts *demo_past(const struct demo *demo, uint64_t back);

/* Returns the increase of a counter per second since the counts `past`.
 * now_value and past_value are its values now and then. */
double demo_rate(const struct demo *demo, const struct demo_counts *past,
                 uint64_t now_value, uint64_t past_value);

void demo_report_begin(const struct demo *demo, FILE *out);
void demo_report_line(const struct demo *demo, FILE *out);
void demo_report_summary(const struct demo *demo, FILE *out);
void demo_report_json(const struct demo *demo, FILE *out);

/* Returns whether stdout is a terminal that is large and capable enough. */
bool demo_draw_possible(void);
void demo_draw_open(void); /* screen_close() ends it */
void demo_draw_frame(const struct demo *demo);

#endif
