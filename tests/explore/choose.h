/* choose.h - who goes on: all ways one after the other, at random, or as given.
 *
 * A schedule is given by its choices that are not the first of what was offered,
 * as "12b,40C,41s": at step 12 fibre b went on, at step 40 a delayed store of c
 * reached the memory, and at step 41 a made a store that was delayed. */
#ifndef LAWN_EXPLORE_CHOOSE_H
#define LAWN_EXPLORE_CHOOSE_H

#include "explore.h"

enum choose_kind { CHOOSE_RUN, CHOOSE_DELAY, CHOOSE_FLUSH };

struct choose_option {
    uint8_t kind;
    uint8_t fibre;
    uint8_t cost;
};

/* Each fibre may go on, with or without a delay, and flush. */
#define CHOOSE_OPTIONS (3 * EXPLORE_FIBRES)
#if !defined CHOOSE_STEPS
#define CHOOSE_STEPS 20000 /* of a schedule, at most */
#endif

/* Walks: all schedules of a cost, at random from a seed, or one. */
void choose_all(unsigned cost);
void choose_random(uint64_t seed);
bool choose_as_given(const char *choices);

/* A schedule begins. */
void choose_begin(void);

/* Which of the options; step counts up in a schedule. */
unsigned choose(const struct choose_option *options, unsigned count,
                unsigned step);

/* Whether from here on the first option is always taken if it costs nothing;
 * but flushes are offered. */
bool choose_idle(void);

/* A schedule is over. False if it was the last of the walk. */
bool choose_next(unsigned steps);

/* Whether the schedule was of the walk's cost and not of less. */
bool choose_was_new(void);

/* The choices of the schedule, in words as above. */
const char *choose_text(void);

#endif
