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
 *   [K4] `current` is NULL, except in the callback of a timer with mode DELAY,
 *        or of a periodic timer of a class, that was not started or stopped
 *        since it fired.
 *   [K5] `behind` contains timers that catch up: periodic timers that have
 *        fired in the current turn, and whose next period is overdue, too. If
 *        such a timer is started or stopped, it is removed. Between turns
 *        `behind` is empty.
 *   [K6] The mode of a timer contains LAWN_LOOP_IN_CLASS exactly while the
 *        timer is running in a class. Then `period` is the address of that class.
 *        No class has detached timers.
 *   [K7] Each entry of `classes` with a core has one class of the lawn, and there
 *        are no other classes.
 *   [K8] `time_max` <= `time` for each class, and both are 0 if none of its timers
 *        has fired. `firing` is NULL, except in the callback of a timer of this
 *        class.
 */
#ifndef LAWN_LOOP_LOOP_H
#define LAWN_LOOP_LOOP_H

#include <lawn_loop.h>
#include <string.h>

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

/* Flags in a timer's mode. FIRST: the timer has not fired yet, and timer->due
 * is its first deadline. IN_CLASS: see K6. REPEAT: of a class, and periodic. */
#define LAWN_LOOP_FIRST 0x100u
#define LAWN_LOOP_IN_CLASS 0x200u
#define LAWN_LOOP_REPEAT 0x400u

#define LAWN_LOOP_NO_FIRE "[P10] a timer is started without a callback"

struct lawn_loop_class {
    struct lawn_class *core; /* NULL: the entry is not in use */
    struct lawn_loop *loop;
    struct lawn_histogram *lateness; /* or NULL */
    uint64_t time;                   /* [K8] */
    uint64_t time_max;
};

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
    struct lawn_loop_class *firing; /* [K8] */
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
    size_t class_max;
    struct lawn_loop_class classes[]; /* [K7] */
};

static inline void
lawn__loop_forget(struct lawn_loop *loop, const struct lawn_loop_timer *timer)
{
    if (loop->current == timer) {
        loop->current = NULL;
    }
    for (unsigned i = 0; i < loop->behinds; i++) {
        if (loop->behind[i] == timer) {
            loop->behinds--;
            memmove(&loop->behind[i], &loop->behind[i + 1],
                    (loop->behinds - i) * sizeof(loop->behind[i]));
            break;
        }
    }
}

static inline bool
lawn__loop_in_class(const struct lawn_loop_timer *timer)
{
    return (timer->mode & LAWN_LOOP_IN_CLASS) != 0;
}

/* Returns the class in which the timer is running [K6]. */
static inline struct lawn_loop_class *
lawn__loop_class_of(const struct lawn_loop_timer *timer)
{
    return (struct lawn_loop_class *)(uintptr_t)timer->period;
}

/* loop.c: stops a timer; sets the wake-up after a change of a class whose
 * earliest deadline is now `next`. */
bool lawn__loop_unlink(struct lawn_loop *loop, struct lawn_loop_timer *timer);
void lawn__loop_note_class(struct lawn_loop *loop, uint64_t next);

/* loop_class.c: what a turn does before the callback of a timer of a class, and
 * after a callback. */
void lawn__loop_class_prepare(struct lawn_loop *loop,
                              struct lawn_loop_timer *timer, uint64_t late);
void lawn__loop_class_add_time(struct lawn_loop *loop, uint64_t time);
const char *lawn__loop_class_check(const struct lawn_loop *loop);

/* wait.c: the timerfd as host, and cleanup. */
void lawn__wait_arm(struct lawn_loop *loop);
void lawn__wait_fini(struct lawn_loop *loop);

#endif
