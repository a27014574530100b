/* loop.h - the parts of a loop and its invariants.
 *
 *   loop ──► lawn     the timers
 *        ├─► host     wakes the loop: an adapter's arm(), or the timerfd
 *        └─► wait     epoll, if used: see wait.c
 *
 * INVARIANTS. They hold between any two calls, and while the host is called:
 *   [K1] `armed` is not after the earliest deadline: the wake-up is not too
 *        late. If no timer is running, `armed` is LAWN_NEVER.
 *   [K2] `set` is the time at which the timerfd becomes readable. If the caller
 *        has the timerfd, `set` is not after `armed`, or `set` has passed.
 *   [K3] stats.fires == lateness.count + the number of values cleared from
 *        lateness.
 *   [K4] `current` is NULL, except in the callback of a timer with mode DELAY
 *        that was not started or stopped since it fired.
 *   [K5] `behind` contains timers that catch up: periodic timers that have
 *        fired in the current turn, and whose next period is overdue, too. If
 *        such a timer is started or stopped, it is removed. Between turns
 *        `behind` is empty.
 */
#ifndef LAWN_LOOP_LOOP_H
#define LAWN_LOOP_LOOP_H

#include <lawn_loop.h>

#if __has_include("../base/assertion.h")
#include "../base/assertion.h"
#include "../base/saturating.h"
#else /* one folder, as installed by clib */
#include "assertion.h"
#include "saturating.h"
#endif

struct lawn_loop_round;

/* Size of behind[]. If more timers have to catch up, those that do not fit wait
 * until the clock advances. */
#define LAWN_LOOP_BEHIND 16u

struct lawn_loop {
    struct lawn *lawn;
    uint64_t (*clock)(void *context);
    void *clock_context;
    uint64_t armed; /* [K1]; LAWN_NEVER if no wake-up is set */
    bool turning;
    bool halted; /* the current turn has reached its time limit */
    size_t budget;
    uint64_t budget_time;            /* 0 if unlimited */
    uint64_t until;                  /* time limit of the turn */
    struct lawn_loop_timer *current; /* [K4] */
    struct lawn_loop_timer *behind[LAWN_LOOP_BEHIND]; /* [K5] */
    unsigned behinds;
    lawn_loop_arm_fn *arm;
    void *arm_context;
    struct lawn_loop_counters stats;

    /* wait.c */
    enum lawn_loop_clock clock_id;
    bool own_clock;
    bool shown; /* the caller has the timerfd */
    int timer_fd;
    uint64_t set; /* [K2]; LAWN_NEVER if it is not set */
    int epoll_fd;
    bool running;
    bool quit;
    size_t watches;
    struct lawn_loop_round *round; /* the current round, or NULL */

    void (*release)(void *memory, void *context);
    void *context;
    struct lawn_histogram lateness;
};

/* wait.c: the timerfd as host, and cleanup. */
void lawn__wait_arm(struct lawn_loop *loop);
void lawn__wait_fini(struct lawn_loop *loop);

#endif
