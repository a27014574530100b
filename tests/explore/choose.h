/* choose.h - chooses the fibre that runs next: all schedules one after the
 * other, at random, or a given one.
 *
 * A schedule is written as the list of its choices that are not the first
 * option, for example "12b,40C,41s": at step 12 fibre b ran, at step 40 a
 * delayed store of c reached the memory, and at step 41 the store of a was
 * delayed. */
#ifndef LAWN_EXPLORE_CHOOSE_H
#define LAWN_EXPLORE_CHOOSE_H

#include "explore.h"

enum choose_kind { CHOOSE_RUN, CHOOSE_DELAY, CHOOSE_FLUSH };

struct choose_option {
    uint8_t kind;
    uint8_t fibre;
    uint8_t cost;
};

/* Each fibre may run with or without a delayed store, or flush. */
#define CHOOSE_OPTIONS (3 * EXPLORE_FIBRES)
#if !defined CHOOSE_STEPS
#define CHOOSE_STEPS 20000 /* maximum of a schedule */
#endif

/* Start a walk: all schedules of a cost, random ones from a seed, or one. */
void choose_all(unsigned cost);
void choose_random(uint64_t seed);
bool choose_as_given(const char *choices);

/* Starts a schedule. */
void choose_begin(void);

/* Returns the index of the chosen option; step increases in a schedule. */
unsigned choose(const struct choose_option *options, unsigned count,
                unsigned step);

/* Returns whether from here on the first option is always taken if it costs
 * nothing; flushes are still offered. */
bool choose_idle(void);

/* Ends a schedule. Returns false if it was the last of the walk. */
bool choose_next(unsigned steps);

/* Returns whether the schedule had exactly the cost of the walk, not less. */
bool choose_was_new(void);

/* Returns the choices of the schedule as text, as above. */
const char *choose_text(void);

#endif
