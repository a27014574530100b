/* figures.h - what a lawn costs, in figures.
 *
 * Each part measures some figures and prints a line for each, fields between
 * tabs: what it is, the value, its unit, and if there is a bar, how the value
 * must compare to it (<= or ==), and the bar. tools/figures makes a table of
 * them and judges. The counting part prints nothing: callgrind looks on, and
 * counts what the functions called loop_* call.
 */
#ifndef LAWN_TESTS_FIGURES_H
#define LAWN_TESTS_FIGURES_H

#include "lawn.h"
#include "rng.h"

#include <stddef.h>
#include <stdint.h>

/* A timer in an object of the size that objects with timers often have. */
struct figures_object {
    struct lawn_timer timer;
    uint64_t ttl;
    char rest[96];
};

/* A lawn, objects, and two random orders in which to visit them: scattered
 * memory is what timers of a busy server look like. */
struct figures_field {
    struct lawn *lawn;
    struct figures_object *objects;
    uint32_t *order;
    uint32_t *again;
    size_t many;
    uint64_t now;
    struct rng rng;
};

void figures_sizes(void);
void figures_times(void);
void figures_tails(void);
void figures_count(size_t many);
void figures_count_fire(size_t many);
void figures_count_lone(void);

/* Prints a line; a NULL compare means that there is no bar. */
void figures_print(const char *what, double value, const char *unit,
                   const char *compare, double bar);
/* Sorts the values. */
double figures_median(double *values, size_t many);
uint64_t figures_clock_ns(void);
/* Of calloc() or lawn_new(): ends the program if it is NULL. */
void *figures_need(void *memory);

void figures_field_init(struct figures_field *field, size_t many);
void figures_field_fini(struct figures_field *field);
/* A new lawn; all timers idle, with TTLs at random out of so many, spread
 * evenly over the given range, 1 and up. */
void figures_field_plant(struct figures_field *field, size_t ttls,
                         uint64_t range);
void figures_field_clear(struct figures_field *field);
/* Starts all timers in random order, the same number in each of so many ticks,
 * while those that fall due fire and are started again. */
void figures_field_fill(struct figures_field *field, uint64_t ticks);
/* Mows tick by tick until so many timers have fired, each of which is started
 * again; returns how many. */
uint64_t figures_field_churn(struct figures_field *field, uint64_t fires);
/* The callback that starts an object's timer again; arg is the lawn. */
void figures_again(struct lawn_timer *timer, void *arg);

#endif
