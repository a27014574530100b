/* class.c - creating classes, starting and stopping their timers.
 *
 * Starts and stops take O(1): they change a list and counters. Only a start of
 * the first timer of a class changes the heap. class.h explains stamps.
 */
#include "class.h"

struct lawn_class *
lawn_class_new(struct lawn *lawn, uint64_t ttl, const char *name)
{
    struct lawn_classes *classes = &lawn->classes;

    if (classes->count == classes->max) {
        return NULL;
    }
    struct lawn_class *cls = classes->heap[classes->count];
    uintptr_t key = lawn__class_key(cls);

    lawn__list_init(key, &cls->queue);
    lawn__list_init(key, &cls->detached);
    lawn__list_init(key, &cls->recent);
    cls->plain_from = LAWN_NEVER;
    cls->base = 0;
    cls->ttl = ttl != 0 ? ttl : 1;
    cls->starts = 0;
    cls->stops = 0;
    cls->fires = 0;
    cls->late = 0;
    cls->late_max = 0;
    cls->detached_count = 0;
    cls->cleared = 0;
    cls->paused_at = LAWN_NEVER;
    cls->credit = 0;
    cls->weights = 0;
    cls->weight = 0;
    cls->name = name;
    lawn__class_insert(cls);
    return cls;
}

bool
lawn_class_free(struct lawn_class *cls)
{
    if (lawn__class_count(cls) > 0 || cls->detached_count > 0) {
        return false;
    }
    lawn_class_set_weight(cls, 0);
    lawn__class_remove(cls);
    return true;
}

struct lawn_class *
lawn_class_each(const struct lawn *lawn, const struct lawn_class *cls)
{
    const struct lawn_classes *classes = &lawn->classes;
    size_t i = cls != NULL ? (size_t)(cls - classes->all) + 1 : 0;

    while (i < classes->max && !lawn__class_used(&classes->all[i])) {
        i++;
    }
    return i < classes->max ? &classes->all[i] : NULL;
}

void
lawn_class_stats(const struct lawn_class *cls, struct lawn_class_counters *out)
{
    const struct lawn_link *first = lawn__class_first(cls);
    const struct lawn_link *last = lawn__class_last(cls);
    uint64_t shift = lawn__class_shift(cls);

    out->name = cls->name;
    out->ttl = cls->ttl;
    out->count = lawn__class_count(cls);
    out->detached = cls->detached_count;
    out->starts = cls->starts;
    out->stops = cls->stops;
    out->fires = cls->fires;
    out->late = cls->late;
    out->late_max = cls->late_max;
    out->next = LAWN_NEVER;
    out->last = LAWN_NEVER;
    if (first != NULL) {
        out->next =
            lawn__class_deadline(cls, lawn__class_started(cls, first) + shift);
        out->last =
            lawn__class_deadline(cls, lawn__class_started(cls, last) + shift);
    }
    out->weight = cls->weight;
    out->paused = lawn__class_paused(cls);
}

/* As lawn_pending(), inlined. */
static inline bool
is_linked(const struct lawn_timer *timer)
{
    return timer->link.next != NULL;
}

/* [I13] */
static inline bool
is_detached_stamp(const struct lawn_class *cls, uint64_t stamp)
{
    if (cls->detached_count == 0) {
        return false;
    }
    uint64_t oldest = lawn__link_deadline(cls->detached.next);
    return stamp - oldest <= cls->cleared - oldest;
}

/* Gives all detached timers the same stamp: the stamp of the first running
 * timer minus 1, or, if there is none, that of the timer that is being started
 * minus 1. */
LAWN_NOINLINE static void
renumber_detached(struct lawn_class *cls, uint64_t stamp)
{
    const struct lawn_link *first = lawn__class_first(cls);

    cls->cleared = (first != NULL ? lawn__link_deadline(first) : stamp) - 1;
    for (struct lawn_link *link = cls->detached.next; link != &cls->detached;
         link = link->next) {
        lawn__timer_of(link)->deadline = cls->cleared;
    }
}

static void
forget_detached(struct lawn_class *cls)
{
    cls->detached_count--;
    if (cls->detached_count == 0) {
        lawn__class_update_plain(cls);
    }
}

/* Returns the stamp of a timer that is started now. It is not before the stamp
 * of the last running timer [I11], whose start may be later than now after a
 * postponement. */
static uint64_t
choose_stamp(struct lawn_class *cls)
{
    const struct lawn_link *last = lawn__class_last(cls);
    uint64_t start = lawn__class_paused(cls) ? cls->paused_at : cls->lawn->now;

    if (last != NULL) {
        uint64_t least = lawn__class_started(cls, last);
        start = start > least ? start : least;
    } else if (cls->detached_count > 0) {
        cls->base = start - (cls->cleared + 1);
    }
    if (is_detached_stamp(cls, start - cls->base)) {
        renumber_detached(cls, start - cls->base);
    }
    return start - cls->base;
}

LAWN_NOINLINE static void
start_slow(struct lawn_class *cls, struct lawn_timer *timer)
{
    struct lawn *lawn = cls->lawn;
    uintptr_t key = lawn__class_key(cls);

    if (!is_linked(timer) || is_detached_stamp(cls, timer->deadline)) {
        (void)lawn_class_stop(cls, timer);
        cls->starts++;
        lawn->classes.running++;
    } else {
        lawn__list_remove(key, &timer->link);
    }
    timer->deadline = choose_stamp(cls);
    if (lawn__class_at_last_tick(lawn)) {
        lawn__list_append(key, &cls->recent, &timer->link);
        return;
    }
    lawn__list_append(key, &cls->queue, &timer->link);
    if (cls->queue.next == &timer->link) {
        lawn__class_update(cls);
    }
}

void
lawn_class_start(struct lawn_class *cls, struct lawn_timer *timer)
{
    struct lawn *lawn = cls->lawn;
    uintptr_t key = lawn__class_key(cls);
    uint64_t now = lawn->now;

    if (LAWN_UNLIKELY(now < cls->plain_from)) {
        start_slow(cls, timer);
        return;
    }
    if (is_linked(timer)) {
        lawn__list_remove(key, &timer->link);
    } else {
        cls->starts++;
        lawn->classes.running++;
    }
    timer->deadline = now - cls->base;
    LAWN_ASSERT(lawn__list_empty(&cls->queue) ||
                    lawn__class_started(cls, lawn__class_last(cls)) <= now,
                "[I11] a class is out of order: was a running timer changed?");
    lawn__list_append(key, &cls->queue, &timer->link);
}

bool
lawn_class_stop(struct lawn_class *cls, struct lawn_timer *timer)
{
    if (!is_linked(timer)) {
        return false;
    }
    bool running = !is_detached_stamp(cls, timer->deadline);
    lawn__list_remove(lawn__class_key(cls), &timer->link);
    timer->link.next = NULL;
    if (running) {
        cls->stops++;
        cls->lawn->classes.running--;
    } else {
        forget_detached(cls);
    }
    return running;
}

struct lawn_timer *
lawn_class_take(struct lawn_class *cls)
{
    if (cls->detached_count == 0) {
        return NULL;
    }
    struct lawn_timer *timer =
        lawn__timer_of(lawn__list_first(lawn__class_key(cls), &cls->detached));
    (void)lawn_class_stop(cls, timer);
    return timer;
}

uint64_t
lawn_class_deadline(const struct lawn_class *cls,
                    const struct lawn_timer *timer)
{
    if (!is_linked(timer) || is_detached_stamp(cls, timer->deadline)) {
        return LAWN_NEVER;
    }
    return lawn__class_deadline(cls, lawn__class_started(cls, &timer->link) +
                                         lawn__class_shift(cls));
}

void
lawn_class_moved(struct lawn_class *cls, struct lawn_timer *timer)
{
    if (is_linked(timer)) {
        lawn__list_moved(lawn__class_key(cls), &timer->link);
    }
}

bool
lawn_class_each_timer(const struct lawn_class *cls, lawn_visit_fn *visit,
                      void *arg)
{
    const struct lawn_link *lists[] = {&cls->queue, &cls->recent};

    for (unsigned i = 0; i < 2; i++) {
        for (struct lawn_link *link = lists[i]->next; link != lists[i];
             link = link->next) {
            if (!visit(lawn__timer_of(link), cls->ttl, arg)) {
                return false;
            }
        }
    }
    return true;
}

uint64_t
lawn_class_started(const struct lawn_class *cls, const struct lawn_timer *timer)
{
    if (!is_linked(timer) || is_detached_stamp(cls, timer->deadline)) {
        return LAWN_NEVER;
    }
    return lawn__class_started(cls, &timer->link) + lawn__class_shift(cls);
}

void
lawn_class_start_as(struct lawn_class *cls, struct lawn_timer *timer,
                    uint64_t start)
{
    const struct lawn *lawn = cls->lawn;
    uint64_t pause = lawn__class_paused(cls) ? lawn->now - cls->paused_at : 0;

    LAWN_ASSERT(lawn->mowing == NULL,
                "[P10] lawn_class_start_as inside a callback");
    lawn_class_start(cls, timer);
    if (lawn->mowing != NULL) {
        return;
    }
    const struct lawn_link *prev =
        lawn__list_prev(lawn__class_key(cls), &timer->link);
    uint64_t least = prev != &cls->queue ? lawn__class_started(cls, prev) : 0;
    start = start < LAWN_LAST ? start : LAWN_LAST;
    start = start > pause ? start - pause : 0;
    if (prev == timer->link.next) {
        /* The only timer keeps its stamp, which follows those of detached
         * timers [I13]. */
        cls->base = start - timer->deadline;
    } else {
        timer->deadline = (start < least ? least : start) - cls->base;
        if (is_detached_stamp(cls, timer->deadline)) {
            renumber_detached(cls, timer->deadline);
        }
    }
    lawn__class_update(cls);
}
