/* loop_class.c - classes of a loop.
 *
 * A class of a loop is a class of its lawn (lawn_class.h), plus counters. A
 * timer of a class has the TTL of the class as its period. So the timer's field
 * `period` contains the address of the class instead [K6].
 *
 * An operation reads the clock and calls the core. If the earliest deadline is
 * now before the wake-up, it sets the wake-up again [L10]. All take O(log
 * classes), except lawn_loop_class_clear(), which makes each timer idle. To
 * measure the time in callbacks, no extra reading of the clock is needed: a
 * turn reads it after each callback anyway [L11].
 */
#include "loop.h"

struct lawn_loop_class *
lawn_loop_class_new(struct lawn_loop *loop, uint64_t ttl, const char *name)
{
    struct lawn_class *core = lawn_class_new(loop->lawn, ttl, name);
    struct lawn_loop_class *cls = loop->classes;

    if (core == NULL) {
        return NULL;
    }
    while (cls->core != NULL) { /* an entry is free [K7] */
        cls++;
    }
    cls->core = core;
    cls->loop = loop;
    cls->lateness = NULL;
    cls->time = 0;
    cls->time_max = 0;
    return cls;
}

bool
lawn_loop_class_free(struct lawn_loop_class *cls)
{
    if (!lawn_class_free(cls->core)) {
        return false;
    }
    cls->core = NULL;
    if (cls->loop->firing == cls) {
        cls->loop->firing = NULL;
    }
    return true;
}

/* Sets the wake-up if the earliest deadline may be before it. */
static void
update_wakeup(const struct lawn_loop_class *cls)
{
    struct lawn_class_counters now;

    lawn_class_stats(cls->core, &now);
    lawn__loop_note_class(cls->loop, now.paused ? LAWN_NEVER : now.next);
}

static void
start(struct lawn_loop_class *cls, struct lawn_loop_timer *timer,
      uint32_t flags)
{
    struct lawn_loop *loop = cls->loop;

    LAWN_ASSERT(timer->fire != NULL, LAWN_LOOP_NO_FIRE);
    (void)lawn_loop_update(loop);
    if (lawn__loop_in_class(timer) && lawn__loop_class_of(timer) == cls) {
        lawn__loop_forget(loop, timer);
    } else {
        (void)lawn__loop_unlink(loop, timer);
    }
    timer->period = (uintptr_t)cls;
    timer->mode = LAWN_LOOP_IN_CLASS | flags;
    lawn_class_start(cls->core, &timer->timer);
    if (lawn_class_deadline(cls->core, &timer->timer) < loop->armed) {
        update_wakeup(cls);
    }
}

void
lawn_loop_start_in(struct lawn_loop_class *cls, struct lawn_loop_timer *timer)
{
    start(cls, timer, 0);
}

void
lawn_loop_every_in(struct lawn_loop_class *cls, struct lawn_loop_timer *timer)
{
    start(cls, timer, LAWN_LOOP_REPEAT);
}

/* Called before the callback. A periodic timer must be running during its
 * callback, so that the callback can stop it. So this function starts it. */
void
lawn__loop_class_prepare(struct lawn_loop *loop, struct lawn_loop_timer *timer,
                         uint64_t late)
{
    struct lawn_loop_class *cls = lawn__loop_class_of(timer);

    loop->firing = cls;
    if (cls->lateness != NULL) {
        lawn_histogram_add(cls->lateness, late);
    }
    if ((timer->mode & LAWN_LOOP_REPEAT) != 0) {
        lawn_class_start(cls->core, &timer->timer);
        loop->current = timer;
    } else {
        timer->mode &= ~LAWN_LOOP_IN_CLASS;
    }
}

/* Called after the callback, unless it has freed the class. */
void
lawn__loop_class_add_time(struct lawn_loop *loop, uint64_t time)
{
    struct lawn_loop_class *cls = loop->firing;

    cls->time += time;
    cls->time_max = time > cls->time_max ? time : cls->time_max;
    loop->firing = NULL;
}

void
lawn_loop_class_set_ttl(struct lawn_loop_class *cls, uint64_t ttl)
{
    (void)lawn_loop_update(cls->loop);
    lawn_class_set_ttl(cls->core, ttl);
    update_wakeup(cls);
}

void
lawn_loop_class_scale(struct lawn_loop_class *cls, uint32_t numerator,
                      uint32_t denominator)
{
    (void)lawn_loop_update(cls->loop);
    lawn_class_scale(cls->core, numerator, denominator);
    update_wakeup(cls);
}

void
lawn_loop_class_postpone(struct lawn_loop_class *cls, uint64_t ticks)
{
    (void)lawn_loop_update(cls->loop);
    lawn_class_postpone(cls->core, ticks);
}

void
lawn_loop_class_pause(struct lawn_loop_class *cls)
{
    (void)lawn_loop_update(cls->loop);
    lawn_class_pause(cls->core);
}

void
lawn_loop_class_resume(struct lawn_loop_class *cls)
{
    (void)lawn_loop_update(cls->loop);
    lawn_class_resume(cls->core);
    update_wakeup(cls);
}

uint64_t
lawn_loop_class_clear(struct lawn_loop_class *cls)
{
    uint64_t count = lawn_class_clear(cls->core);
    struct lawn_timer *link = NULL;

    while ((link = lawn_class_take(cls->core)) != NULL) {
        struct lawn_loop_timer *timer =
            LAWN_CONTAINER(link, struct lawn_loop_timer, timer);

        timer->mode &= ~LAWN_LOOP_IN_CLASS;
        lawn__loop_forget(cls->loop, timer);
    }
    update_wakeup(cls);
    return count;
}

void
lawn_loop_class_set_lateness(struct lawn_loop_class *cls,
                             struct lawn_histogram *histogram)
{
    cls->lateness = histogram;
}

void
lawn_loop_class_stats(const struct lawn_loop_class *cls,
                      struct lawn_loop_class_counters *out)
{
    lawn_class_stats(cls->core, &out->timers);
    out->time = cls->time;
    out->time_max = cls->time_max;
}

struct lawn_class *
lawn_loop_class_core(const struct lawn_loop_class *cls)
{
    return cls->core;
}

/* Returns the message for lawn_loop_check() to report, or NULL if the classes
 * are consistent. */
const char *
lawn__loop_class_check(const struct lawn_loop *loop)
{
    struct lawn_loop_class_counters now;
    size_t excess = 0; /* entries in use minus classes of the lawn */

    for (const struct lawn_class *core = lawn_class_each(loop->lawn, NULL);
         core != NULL; core = lawn_class_each(loop->lawn, core)) {
        excess--;
    }
    for (size_t i = 0; i < loop->class_max; i++) {
        const struct lawn_loop_class *cls = &loop->classes[i];

        if (cls->core == NULL) {
            continue;
        }
        excess++;
        lawn_loop_class_stats(cls, &now);
        if (now.timers.detached > 0) {
            return "[K6] a class has detached timers";
        }
        if (now.time_max > now.time ||
            (now.timers.fires == 0 && now.time > 0)) {
            return "[K8] the time in callbacks of a class is wrong";
        }
    }
    if (excess != 0) {
        return "[K7] the lawn has other classes than the loop";
    }
    if (loop->firing != NULL && !loop->turning) {
        return "[K8] a class fires outside of a turn";
    }
    return NULL;
}
