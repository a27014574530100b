/* loop.h - what a loop is made of, and what always holds of it.
 *
 *   loop ──► lawn     the timers
 *        ├─► host     whoever wakes us: an adapter's arm(), or the timerfd
 *        └─► wait     epoll, if it is used: see wait.c
 *
 * INVARIANTS. Between any two calls, and when the host is told:
 *   [K1] armed <= lawn_next(): the wake-up that is set is not too late; when no
 *        timer is running, it is LAWN_NEVER
 *   [K2] set is when the timerfd becomes readable; if anybody but our own wait
 *        looks at it, it is not after armed
 *   [K3] fires == lateness.count + what was emptied from it
 *   [K4] current is NULL but in a callback of a timer of mode DELAY that nobody
 *        has started or stopped since it fired
 *   [K5] behind are timers that are catching up, that fired in the turn under
 *        way, and that nobody has started or stopped since; outside of a turn
 *        there are none
 */
#ifndef LAWN_LOOP_LOOP_H
#define LAWN_LOOP_LOOP_H

#include <lawn_loop.h>

#if __has_include("../base/assertion.h")
#include "../base/assertion.h"
#include "../base/saturating.h"
#else /* all files are in one folder, as clib puts them */
#include "assertion.h"
#include "saturating.h"
#endif

struct lawn_loop_round;

/* Timers that catch up at the same time on a clock that stands still; on one
 * that goes on there is no limit. */
#define LAWN_LOOP_BEHIND 16u

struct lawn_loop {
    struct lawn *lawn;
    uint64_t (*clock)(void *context);
    void *clock_context;
    uint64_t armed; /* [K1]; LAWN_NEVER: none is */
    bool turning;
    bool halted; /* the turn under way was ended by its time */
    size_t budget;
    uint64_t budget_time;            /* 0: as long as it takes */
    uint64_t until;                  /* the end of the turn's time */
    struct lawn_loop_timer *current; /* [K4] */
    struct lawn_loop_timer *behind[LAWN_LOOP_BEHIND]; /* [K5] */
    unsigned behinds;
    lawn_loop_arm_fn *arm;
    void *arm_context;
    struct lawn_loop_counters stats;

    /* wait.c */
    enum lawn_loop_clock clock_id;
    bool own_clock;
    bool shown; /* the caller has got the timerfd */
    int timer_fd;
    uint64_t set; /* [K2]; LAWN_NEVER: it is not set */
    int epoll_fd;
    bool running;
    bool quit;
    size_t watches;
    struct lawn_loop_round *round; /* under way */

    void (*release)(void *memory, void *context);
    void *context;
    struct lawn_histogram lateness;
};

/* wait.c: the timerfd as a host, and the end of it all. */
void lawn__wait_arm(struct lawn_loop *loop);
void lawn__wait_fini(struct lawn_loop *loop);

#endif
