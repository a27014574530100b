/* trace.c - runs a script of operations on a lawn and prints the results, for a
 * comparison with the model in Coq. Scripts are lines on the standard input.
 * The operations of a mow's callbacks follow the mow, one line per timer that
 * fires:
 *
 *   o NOW          a new lawn           s TIMER TTL      start
 *   a TIMER TIME   start at             x TIMER          stop
 *   n TIME         set the time         e                next deadline
 *   -              nothing              m TIME BUDGET N  mow, with N lines
 *
 * Prints f TIMER DEADLINE TUNING for a fired timer, r COUNT TUNING for a mow, e
 * TIME for the next deadline, h TUNING after the time was set. For a start it
 * prints the place of the timer: w BLADE, l if it is unqueued, t if it waits
 * for the last tick. If the start reserved a blade without using it, the number
 * of that blade and its TTL follow. After a script it prints p TIMER DEADLINE
 * for each running timer, and a full stop. TUNING is bypass (0 or 1) and the
 * bits of the deadline that select a stripe.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define TRACE_TIMERS 32
#define TRACE_CALLBACKS 64
#define TRACE_BLADES 44 /* of the smallest table */

struct trace_line {
    char what;
    uint64_t value[3];
};

static struct lawn *trace_lawn;
static struct lawn_timer trace_timer[TRACE_TIMERS];
static struct trace_line trace_callback[TRACE_CALLBACKS];
static uint64_t trace_callbacks;
static uint64_t trace_fires;

static bool
trace_read(struct trace_line *line)
{
    char text[128];

    if (fgets(text, sizeof(text), stdin) == NULL) {
        return false;
    }
    line->value[0] = line->value[1] = line->value[2] = 0;
    (void)sscanf(text, "%c %" SCNu64 " %" SCNu64 " %" SCNu64, &line->what,
                 &line->value[0], &line->value[1], &line->value[2]);
    return true;
}

/* The TTLs of the blades before a start. */
static uint64_t trace_ttl[TRACE_BLADES];

static void
trace_remember(void)
{
    for (uint32_t i = 0; i < trace_lawn->blades.count; i++) {
        trace_ttl[i] = trace_lawn->blades.all[i].ttl;
    }
}

/* Prints the blades whose TTL the start of a timer changed, although the timer
 * is not on them. */
static void
trace_reserved(void)
{
    for (uint32_t i = 0; i < trace_lawn->blades.count; i++) {
        if (trace_lawn->blades.all[i].ttl != trace_ttl[i]) {
            printf(" %" PRIu32 " %" PRIu64, i, trace_lawn->blades.all[i].ttl);
        }
    }
    printf("\n");
}

/* Finds the blade of a timer: the end of its queue is the blade's link. */
static void
trace_place(const struct lawn_timer *timer)
{
    const struct lawn_blades *blades = &trace_lawn->blades;
    const struct lawn_link *link = timer->link.next;
    uint32_t i;

    while (link != &timer->link) {
        for (i = 0; i < blades->count; i++) {
            if (link == &blades->all[i].queue) {
                printf("w %" PRIu32 "\n", i);
                return;
            }
        }
        if (link == &trace_lawn->last) {
            printf("t");
            trace_reserved();
            return;
        }
        link = link->next;
    }
    printf("l");
    trace_reserved();
}

static void
trace_tuning(void)
{
    printf(" %d %" PRIu32 "\n", trace_lawn->tuning.bypass,
           trace_lawn->blades.stripe);
}

/* An operation that a callback may do too. */
static void
trace_do(const struct trace_line *line)
{
    struct lawn_timer *timer = &trace_timer[line->value[0] % TRACE_TIMERS];

    trace_remember();
    if (line->what == 's') {
        lawn_start(trace_lawn, timer, line->value[1]);
    } else if (line->what == 'a') {
        lawn_start_at(trace_lawn, timer, line->value[1]);
    } else if (line->what == 'x') {
        (void)lawn_stop(trace_lawn, timer);
    } else if (line->what == 'n') {
        lawn_set_now(trace_lawn, line->value[0]);
        printf("h");
        trace_tuning();
    } else if (line->what == 'e') {
        printf("e %" PRIu64 "\n", lawn_next(trace_lawn));
    }
    if (line->what == 's' || line->what == 'a') {
        trace_place(timer);
    }
}

static void
trace_fire(struct lawn_timer *timer, void *arg)
{
    (void)arg;
    printf("f %d %" PRIu64, (int)(timer - trace_timer),
           lawn_last_deadline(timer));
    trace_tuning();
    if (trace_fires < trace_callbacks) {
        trace_do(&trace_callback[trace_fires]);
    }
    trace_fires++;
}

static void
trace_mow(const struct trace_line *line)
{
    uint64_t i;

    trace_fires = 0;
    trace_callbacks = line->value[2];
    for (i = 0; i < trace_callbacks && i < TRACE_CALLBACKS; i++) {
        (void)trace_read(&trace_callback[i]);
    }
    printf("r %zu", lawn_mow(trace_lawn, line->value[0], (size_t)line->value[1],
                             trace_fire, NULL));
    trace_tuning();
}

/* Prints the running timers after the last script, and begins another. */
static void
trace_begin(uint64_t now)
{
    struct lawn_options options = {.blades = 8, .slot_bits = 4, .now = now};
    int i;

    for (i = 0; trace_lawn != NULL && i < TRACE_TIMERS; i++) {
        if (lawn_pending(&trace_timer[i])) {
            printf("p %d %" PRIu64 "\n", i, lawn_deadline(&trace_timer[i]));
        }
    }
    if (trace_lawn != NULL) {
        printf(".\n");
    }
    memset(trace_timer, 0, sizeof(trace_timer));
    lawn_free(trace_lawn);
    trace_lawn = lawn_new(&options);
    if (trace_lawn == NULL) {
        abort();
    }
}

int
main(void)
{
    struct trace_line line;

    while (trace_read(&line)) {
        if (line.what == 'o') {
            trace_begin(line.value[0]);
        } else if (line.what == 'm') {
            trace_mow(&line);
        } else {
            trace_do(&line);
        }
    }
    trace_begin(0);
    lawn_free(trace_lawn);
    return 0;
}
