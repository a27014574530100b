/* times.c - how long things take, by the number of TTLs.
 *
 * A million objects of 128 bytes. Fire and restart: deadlines are spread over
 * time, the clock moves tick by tick, and each timer that fires is started
 * again with its TTL, measured once all have fired about once. Then all are
 * restarted in random order, stopped in another, and started. Everything is
 * repeated, the numbers of TTLs in turn, so that a busy machine disturbs all of
 * them alike.
 */
#include "figures.h"

#include <stdio.h>

#define TIMES_MANY 1000000u
#define TIMES_ROUNDS 7u
#define TIMES_RANGE 60000u
/* Starts in a row: a divisor of TIMES_MANY. */
#define TIMES_CHUNK 1000u

static const size_t times_ttls[] = {1, 20, 1000, 10000, 100000, 1000000};

#define TIMES_CELLS (sizeof times_ttls / sizeof times_ttls[0])
/* The two cells of which the bar is a ratio. */
#define TIMES_FEW 1u
#define TIMES_LOTS 4u

enum times_what {
    TIMES_FIRE,
    TIMES_RESTART,
    TIMES_STOP,
    TIMES_START,
    TIMES_WHATS
};

static const char *const times_names[TIMES_WHATS] = {
    "fire + restart", "restart", "stop", "start"};

/* ns, by what, number of TTLs and round. */
static double times_ns[TIMES_WHATS][TIMES_CELLS][TIMES_ROUNDS];

static double
times_since(uint64_t began, uint64_t operations)
{
    return (double)(figures_clock_ns() - began) / (double)operations;
}

/* The clock ticks now and then, as it would, since a lawn fits itself to its
 * use only where the clock moves; what fires meanwhile is not measured. */
static double
times_start_all(struct figures_field *field, const uint32_t *order)
{
    uint64_t took = 0;
    size_t i = 0;

    while (i < field->many) {
        size_t end = i + TIMES_CHUNK;
        uint64_t began = figures_clock_ns();

        for (; i < end; i++) {
            struct figures_object *object = &field->objects[order[i]];

            lawn_start(field->lawn, &object->timer, object->ttl);
        }
        took += figures_clock_ns() - began;
        (void)lawn_mow(field->lawn, ++field->now, SIZE_MAX, figures_again,
                       field->lawn);
    }
    return (double)took / (double)field->many;
}

static double
times_stop_all(struct figures_field *field, const uint32_t *order)
{
    uint64_t began = figures_clock_ns();
    size_t i;

    for (i = 0; i < field->many; i++) {
        (void)lawn_stop(field->lawn, &field->objects[order[i]].timer);
    }
    return times_since(began, field->many);
}

static void
times_cell(struct figures_field *field, size_t cell, size_t round)
{
    size_t ttls = times_ttls[cell];
    uint64_t range = ttls > TIMES_RANGE ? ttls : TIMES_RANGE;
    uint64_t began;
    uint64_t fired;

    figures_field_plant(field, ttls, range);
    figures_field_fill(field, range);
    (void)figures_field_churn(field, field->many);
    began = figures_clock_ns();
    fired = figures_field_churn(field, field->many);
    times_ns[TIMES_FIRE][cell][round] = times_since(began, fired);
    times_ns[TIMES_RESTART][cell][round] = times_start_all(field, field->again);
    times_ns[TIMES_STOP][cell][round] = times_stop_all(field, field->order);
    times_ns[TIMES_START][cell][round] = times_start_all(field, field->again);
    figures_field_clear(field);
}

static void
times_print(enum times_what what, size_t cell)
{
    double *ns = times_ns[what][cell];
    size_t ttls = times_ttls[cell];
    double median = figures_median(ns, TIMES_ROUNDS);
    char name[64];
    char unit[64];

    (void)snprintf(name, sizeof name, "%s, %zu TTL%s", times_names[what], ttls,
                   ttls == 1 ? "" : "s");
    (void)snprintf(unit, sizeof unit, "ns (%.0f-%.0f)", ns[0],
                   ns[TIMES_ROUNDS - 1]);
    figures_print(name, median, unit, NULL, 0);
}

void
figures_times(void)
{
    struct figures_field field;
    double ratios[TIMES_ROUNDS];
    size_t round;
    size_t cell;
    int what;

    figures_field_init(&field, TIMES_MANY);
    for (round = 0; round < TIMES_ROUNDS; round++) {
        for (cell = 0; cell < TIMES_CELLS; cell++) {
            times_cell(&field, cell, round);
        }
        ratios[round] = times_ns[TIMES_FIRE][TIMES_LOTS][round] /
                        times_ns[TIMES_FIRE][TIMES_FEW][round];
    }
    figures_field_fini(&field);
    for (what = 0; what < TIMES_WHATS; what++) {
        for (cell = 0; cell < TIMES_CELLS; cell++) {
            times_print((enum times_what)what, cell);
        }
    }
    figures_print("fire + restart, 100000 TTLs over 20 TTLs",
                  figures_median(ratios, TIMES_ROUNDS), "x", "<=", 2);
}
