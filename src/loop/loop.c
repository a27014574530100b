/* loop.c - timers with callbacks, driven by a clock.
 *
 * A turn reads the clock, mows the lawn, and requests the next wake-up from the
 * host. It also reads the clock after every callback, for the lateness of the
 * next callback, the time limit of the turn, the period of mode DELAY [L6], and
 * lawn_loop_now().
 *
 * A repeating timer is restarted before its callback runs, because the callback
 * may free it. In mode DELAY it is restarted again after the callback, unless
 * it was started or stopped meanwhile [K4]. So is a periodic timer of a class;
 * see loop_class.c.
 */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): CLOCK_BOOTTIME */
#include "loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Default maximum number of timers per turn. */
#define LAWN_LOOP_BUDGET 1024u
/* So that lawn_loop_once() can return the number as an int. */
#define LAWN_LOOP_BUDGET_MAX ((size_t)1 << 30)

_Static_assert(sizeof(void *) != 8 || sizeof(struct lawn_loop_timer) == 64,
               "a loop timer takes 64 bytes");

static uint64_t
read_monotonic(void *context)
{
    (void)context;
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * LAWN_LOOP_SECOND + (uint64_t)now.tv_nsec;
}

#if defined CLOCK_BOOTTIME
static uint64_t
read_boottime(void *context)
{
    (void)context;
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * LAWN_LOOP_SECOND + (uint64_t)now.tv_nsec;
}
#endif

static uint64_t (*find_clock(enum lawn_loop_clock id))(void *)
{
    switch (id) {
    case LAWN_LOOP_MONOTONIC:
        return read_monotonic;
    case LAWN_LOOP_BOOTTIME:
#if defined CLOCK_BOOTTIME
        return read_boottime;
#else
        break;
#endif
    }
    return NULL;
}

static void *
default_alloc(size_t size, void *context)
{
    (void)context;
    return malloc(size);
}

static void
default_release(void *memory, void *context)
{
    (void)context;
    free(memory);
}

struct lawn_loop *
lawn_loop_new(const struct lawn_loop_options *options)
{
    static const struct lawn_loop_options defaults;
    const struct lawn_loop_options *o = options != NULL ? options : &defaults;
    uint64_t (*clock)(void *) =
        o->clock != NULL ? o->clock : find_clock(o->clock_id);
    struct lawn_options lawn = o->lawn;
    size_t class_max = lawn.classes < UINT16_MAX ? lawn.classes : UINT16_MAX;
    size_t size =
        sizeof(struct lawn_loop) + class_max * sizeof(struct lawn_loop_class);

    if (clock == NULL) {
        errno = EINVAL;
        return NULL;
    }
    if (lawn.alloc == NULL) {
        lawn.alloc = default_alloc;
        lawn.release = default_release;
    }
    struct lawn_loop *loop = lawn.alloc(size, lawn.context);
    if (loop == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    memset(loop, 0, size);
    lawn.now = clock(o->clock_context);
    loop->lawn = lawn_new(&lawn);
    loop->clock = clock;
    loop->clock_context = o->clock_context;
    loop->clock_id = o->clock_id;
    loop->own_clock = o->clock != NULL;
    loop->armed = LAWN_NEVER;
    loop->budget = o->budget == 0                     ? LAWN_LOOP_BUDGET
                   : o->budget < LAWN_LOOP_BUDGET_MAX ? o->budget
                                                      : LAWN_LOOP_BUDGET_MAX;
    loop->budget_time = o->budget_time;
    loop->arm = o->arm;
    loop->arm_context = o->arm_context;
    loop->timer_fd = -1;
    loop->set = LAWN_NEVER;
    loop->epoll_fd = -1;
    loop->release = lawn.release;
    loop->context = lawn.context;
    loop->class_max = class_max;
    if (loop->lawn == NULL) {
        (void)lawn_loop_free(loop);
        errno = ENOMEM;
        return NULL;
    }
    return loop;
}

bool
lawn_loop_free(struct lawn_loop *loop)
{
    if (loop == NULL || loop->turning || loop->running) {
        return loop == NULL;
    }
    lawn__wait_fini(loop);
    lawn_free(loop->lawn);
    if (loop->release != NULL) {
        loop->release(loop, loop->context);
    }
    return true;
}

uint64_t
lawn_loop_update(struct lawn_loop *loop)
{
    lawn_set_now(loop->lawn, loop->clock(loop->clock_context));
    return lawn_now(loop->lawn);
}

/* Sets the wake-up, or cancels it if `when` is LAWN_NEVER [L2]. */
static void
set_wakeup(struct lawn_loop *loop, uint64_t when)
{
    loop->armed = when;
    if (loop->arm != NULL) {
        loop->stats.arms++;
        loop->arm(loop, when, loop->arm_context);
    } else {
        lawn__wait_arm(loop);
    }
}

static void
move_wakeup_earlier(struct lawn_loop *loop, uint64_t deadline)
{
    if (deadline < loop->armed) {
        set_wakeup(loop, deadline);
    }
}

/* Cancels the wake-up if no timer is running. */
static void
cancel_wakeup(struct lawn_loop *loop)
{
    if (!loop->turning && loop->armed != LAWN_NEVER &&
        lawn_count(loop->lawn) == 0) {
        set_wakeup(loop, LAWN_NEVER);
    }
}

void
lawn__loop_note_class(struct lawn_loop *loop, uint64_t next)
{
    if (!loop->turning) {
        move_wakeup_earlier(loop, next);
    }
    cancel_wakeup(loop);
}

/* A running timer of a class must be stopped before another start. */
static inline void
leave_class(struct lawn_loop_timer *timer)
{
    if (lawn__loop_in_class(timer)) {
        LAWN_ASSERT(lawn_pending(&timer->timer),
                    "[K6] an idle timer is marked as one of a class");
        timer->mode &= ~LAWN_LOOP_IN_CLASS;
        (void)lawn_class_stop(lawn__loop_class_of(timer)->core, &timer->timer);
    }
}

bool
lawn__loop_unlink(struct lawn_loop *loop, struct lawn_loop_timer *timer)
{
    bool in_class = lawn__loop_in_class(timer);

    lawn__loop_forget(loop, timer);
    leave_class(timer);
    return in_class || lawn_stop(loop->lawn, &timer->timer);
}

/* Called after a timer was started; its deadline is not before `earliest`.
 * Usually the wake-up is earlier, and there is nothing to do. A turn sets the
 * wake-up at its end. */
static inline void
update_wakeup(struct lawn_loop *loop, const struct lawn_loop_timer *timer,
              uint64_t earliest)
{
    if (earliest < loop->armed && !loop->turning) {
        move_wakeup_earlier(loop, lawn_deadline(&timer->timer));
    }
}

void
lawn_loop_start(struct lawn_loop *loop, struct lawn_loop_timer *timer,
                uint64_t ttl)
{
    uint64_t now = loop->clock(loop->clock_context);

    LAWN_ASSERT(timer->fire != NULL, LAWN_LOOP_NO_FIRE);
    lawn_set_now(loop->lawn, now);
    lawn__loop_forget(loop, timer);
    leave_class(timer);
    timer->period = 0;
    lawn_start(loop->lawn, &timer->timer, ttl);
    update_wakeup(loop, timer, lawn__saturating_add(now, ttl));
}

void
lawn_loop_start_at(struct lawn_loop *loop, struct lawn_loop_timer *timer,
                   uint64_t deadline)
{
    LAWN_ASSERT(timer->fire != NULL, LAWN_LOOP_NO_FIRE);
    lawn__loop_forget(loop, timer);
    leave_class(timer);
    timer->period = 0;
    lawn_start_at(loop->lawn, &timer->timer, deadline);
    update_wakeup(loop, timer, lawn__saturating_add(0, deadline));
}

void
lawn_loop_every(struct lawn_loop *loop, struct lawn_loop_timer *timer,
                uint64_t period, enum lawn_loop_mode mode)
{
    uint64_t now = lawn_loop_update(loop);

    lawn_loop_every_at(loop, timer,
                       lawn__saturating_add(now, period > 0 ? period : 1),
                       period, mode);
}

void
lawn_loop_every_at(struct lawn_loop *loop, struct lawn_loop_timer *timer,
                   uint64_t first, uint64_t period, enum lawn_loop_mode mode)
{
    LAWN_ASSERT(timer->fire != NULL, LAWN_LOOP_NO_FIRE);
    lawn__loop_forget(loop, timer);
    leave_class(timer);
    timer->period = period > 0 ? period : 1;
    timer->mode = (uint32_t)mode | LAWN_LOOP_FIRST;
    timer->due = lawn__saturating_add(0, first); /* at most the last tick */
    if (mode == LAWN_LOOP_DELAY) {
        lawn_start_at(loop->lawn, &timer->timer, first);
    } else {
        lawn_start_as(loop->lawn, &timer->timer, timer->period, first);
    }
    update_wakeup(loop, timer, timer->due);
}

bool
lawn_loop_stop(struct lawn_loop *loop, struct lawn_loop_timer *timer)
{
    bool stopped = lawn__loop_unlink(loop, timer);

    cancel_wakeup(loop);
    return stopped;
}

bool
lawn_loop_pending(const struct lawn_loop_timer *timer)
{
    return lawn_pending(&timer->timer);
}

uint64_t
lawn_loop_deadline(const struct lawn_loop_timer *timer)
{
    return lawn__loop_in_class(timer)
               ? lawn_class_deadline(lawn__loop_class_of(timer)->core,
                                     &timer->timer)
               : lawn_deadline(&timer->timer);
}

/* Called when a fixed-rate timer fires. It fires for one period or, with SKIP,
 * for all overdue periods. Returns the due time of the first of these periods,
 * and sets timer->due to that of the last [L4 L5]. Starts the timer for the
 * next period. */
static uint64_t
advance_period(struct lawn_loop *loop, struct lawn_loop_timer *timer,
               uint64_t now)
{
    uint64_t due = (timer->mode & LAWN_LOOP_FIRST) != 0
                       ? timer->due
                       : lawn__saturating_add(timer->due, timer->period);
    uint64_t missed = 0;

    timer->mode &= ~LAWN_LOOP_FIRST;
    if (timer->mode == LAWN_LOOP_SKIP && now > due) {
        missed = (now - due) / timer->period;
    }
    loop->stats.missed += missed;
    timer->missed = missed < UINT32_MAX ? (uint32_t)missed : UINT32_MAX;
    timer->due = due + missed * timer->period;
    uint64_t next = lawn__saturating_add(timer->due, timer->period);
    lawn_start_as(loop->lawn, &timer->timer, timer->period, next);
    /* If the next period is overdue, too, the timer is started once more after
     * the mow. The start during the mow makes it due at the next tick at the
     * earliest, and the clock might not advance before the next turn. */
    if (next <= now && loop->behinds < LAWN_LOOP_BEHIND) {
        loop->behind[loop->behinds++] = timer;
    }
    return due;
}

/* After this call, the timers that catch up [K5] are due in the next turn, even
 * if the clock does not advance. They fire in the same order, after timers that
 * this turn left because of its budget. */
static void
restart_behind(struct lawn_loop *loop)
{
    for (unsigned i = 0; i < loop->behinds; i++) {
        struct lawn_loop_timer *timer = loop->behind[i];

        lawn_start_as(loop->lawn, &timer->timer, timer->period,
                      lawn_now(loop->lawn));
    }
    loop->behinds = 0;
}

/* After the callback: its period begins again [L6 L9]. */
static void
restart_current(struct lawn_loop *loop)
{
    struct lawn_loop_timer *timer = loop->current;

    loop->current = NULL;
    if (lawn__loop_in_class(timer)) {
        lawn_class_start(lawn__loop_class_of(timer)->core, &timer->timer);
    } else {
        lawn_start(loop->lawn, &timer->timer, timer->period);
    }
}

static void
fire_timer(struct lawn_timer *link, void *arg)
{
    struct lawn_loop *loop = arg;
    struct lawn_loop_timer *timer =
        LAWN_CONTAINER(link, struct lawn_loop_timer, timer);
    uint64_t now = lawn_now(loop->lawn);
    uint64_t begin = now;
    uint64_t due = lawn_last_deadline(link);

    timer->missed = 0;
    if (lawn__loop_in_class(timer)) {
        timer->due = due;
        lawn__loop_class_prepare(loop, timer, now - due);
    } else if (timer->period == 0) {
        timer->due = due;
    } else if ((timer->mode & ~LAWN_LOOP_FIRST) == LAWN_LOOP_DELAY) {
        timer->due = due;
        lawn_start(loop->lawn, link, timer->period);
        loop->current = timer;
    } else {
        due = advance_period(loop, timer, now);
    }
    loop->stats.fires++;
    lawn_histogram_add(&loop->lateness, now - due);
    timer->fire(timer, loop);
    now = lawn_loop_update(loop);
    if (loop->current != NULL) {
        restart_current(loop);
    }
    if (loop->firing != NULL) {
        lawn__loop_class_add_time(loop, now - begin);
    }
    if (now >= loop->until) {
        loop->halted = true;
        lawn_halt(loop->lawn);
    }
}

/* Returns whether a timer of a class is due before this time. O(classes). */
static bool
is_class_due_before(const struct lawn_loop *loop, uint64_t time)
{
    for (size_t i = 0; i < loop->class_max; i++) {
        if (loop->classes[i].core != NULL) {
            struct lawn_class_counters stats;

            lawn_class_stats(loop->classes[i].core, &stats);
            if (!stats.paused && stats.next < time) {
                return true;
            }
        }
    }
    return false;
}

/* Returns whether a turn that ends now has to set the wake-up again [L2]: if it
 * has occurred, if the timerfd must become unreadable, or if none is set.
 * Otherwise the wake-up that is set is not too late [K1], although next, which
 * may be before the earliest deadline, may be earlier. Exception: a change of
 * the resolution may have moved the deadlines of classes. */
static bool
must_set_wakeup(const struct lawn_loop *loop, uint64_t now, uint64_t next)
{
    if (loop->armed <= now || loop->set <= now) {
        return true;
    }
    if (loop->armed == LAWN_NEVER) {
        return next != LAWN_NEVER;
    }
    return next < loop->armed && is_class_due_before(loop, loop->armed);
}

uint64_t
lawn_loop_turn(struct lawn_loop *loop)
{

    if (loop->turning) {
        return LAWN_NEVER;
    }
    uint64_t now = lawn_loop_update(loop);
    loop->turning = true;
    loop->halted = false;
    loop->until = loop->budget_time > 0
                      ? lawn__saturating_add(now, loop->budget_time)
                      : LAWN_NEVER;
    uint64_t fires = loop->stats.fires;
    bool full = lawn_mow(loop->lawn, now, loop->budget, fire_timer, loop) ==
                loop->budget;
    loop->turning = false;
    now = lawn_now(loop->lawn);
    loop->stats.turns++;
    loop->stats.idle += loop->stats.fires == fires;
    loop->stats.truncated +=
        (loop->halted || full) && lawn_next(loop->lawn) <= now;
    restart_behind(loop);
    uint64_t next = lawn_next(loop->lawn);
    if (must_set_wakeup(loop, now, next)) {
        set_wakeup(loop, next);
    }
    return next;
}

uint64_t
lawn_loop_woken(struct lawn_loop *loop)
{
    if (!loop->turning) {
        loop->armed = LAWN_NEVER;
    }
    return lawn_loop_turn(loop);
}

void *
lawn_loop_arm_context(const struct lawn_loop *loop)
{
    return loop->arm_context;
}

uint64_t
lawn_loop_now(const struct lawn_loop *loop)
{
    return lawn_now(loop->lawn);
}

uint64_t
lawn_loop_next(struct lawn_loop *loop)
{
    return lawn_next_exact(loop->lawn);
}

uint64_t
lawn_loop_count(const struct lawn_loop *loop)
{
    return lawn_count(loop->lawn);
}

struct lawn *
lawn_loop_lawn(struct lawn_loop *loop)
{
    return loop->lawn;
}

void
lawn_loop_stats(const struct lawn_loop *loop, struct lawn_loop_counters *out)
{
    *out = loop->stats;
    out->count = lawn_count(loop->lawn);
}

struct lawn_histogram *
lawn_loop_lateness(struct lawn_loop *loop)
{
    return &loop->lateness;
}

bool
lawn_loop_check(struct lawn_loop *loop, FILE *out)
{
    const char *broken = NULL;

    if (!lawn_check(loop->lawn, out)) {
        return false;
    }
    if (!loop->turning && loop->armed > lawn_next_exact(loop->lawn)) {
        broken = "[K1] the wake-up is after the earliest deadline";
    } else if (!loop->turning && lawn_count(loop->lawn) == 0 &&
               loop->armed != LAWN_NEVER) {
        broken = "[K1] a wake-up is set, but no timer is running";
    } else if (loop->lateness.count > loop->stats.fires) {
        broken = "[K3] lateness has more values than fires";
    } else if (loop->shown && !loop->turning && loop->set > loop->armed &&
               loop->set > lawn_now(loop->lawn)) {
        broken = "[K2] the timerfd is set too late";
    } else if (loop->current != NULL && !loop->turning) {
        broken = "[K4] a timer is current outside of a turn";
    } else if (loop->behinds > 0 && !loop->turning) {
        broken = "[K5] a timer is behind outside of a turn";
    } else {
        broken = lawn__loop_class_check(loop);
    }
    if (broken != NULL && out != NULL) {
        (void)fprintf(out, "lawn_loop_check: %s\n", broken);
    }
    return broken == NULL;
}
