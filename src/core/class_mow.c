/* class_mow.c - fires due timers of classes.
 *
 * lawn_mow() calls lawn__classes_mow() and mow_until() in turn, so that timers
 * of classes and others fire in the order of their deadlines [P12]. A mow
 * corrects times in the heap at most once for each class, and once more for
 * each timer that fires [P14].
 *
 * A callback may do anything to any class, even free it. So after each callback
 * the top of the heap is read again.
 */
#include "class.h"

/* Returns the deadline of the first timer that this mow may fire, or
 * LAWN_NEVER. */
static inline uint64_t
find_deadline(const struct lawn_class *cls)
{
    return lawn__class_paused(cls) || lawn__list_empty(&cls->queue)
               ? LAWN_NEVER
               : lawn__class_deadline(
                     cls, lawn__class_started(cls, cls->queue.next));
}

static void
fire_first(struct lawn_mowing *mowing, struct lawn_class *cls,
           uint64_t deadline)
{
    struct lawn *lawn = mowing->lawn;
    uint64_t late = lawn->now - deadline;
    struct lawn_link *link =
        lawn__list_first(lawn__class_key(cls), &cls->queue);
    struct lawn_timer *timer = lawn__timer_of(link);

    lawn__list_remove(lawn__class_key(cls), link);
    LAWN_PREFETCH(link->next);
    link->next = NULL;
    timer->deadline = deadline; /* for lawn_last_deadline() */
    cls->fires++;
    cls->late += late;
    cls->late_max = late > cls->late_max ? late : cls->late_max;
    lawn->classes.running--;
    mowing->left--;
    mowing->fire(timer, mowing->arg);
}

/* Fires timers of a class with a weight, up to its share of the budget. If the
 * budget does not suffice for the whole share, the class keeps the remaining
 * credit for the next mow. The credit of a class is limited to as many timers
 * as there are classes. That is enough, because the budget can fall short only
 * by the fractions of a timer that classes have saved. */
static void
fire_share(struct lawn_mowing *mowing, struct lawn_class *cls, uint64_t budget)
{
    const struct lawn_classes *classes = &mowing->lawn->classes;
    uint64_t parts = (uint64_t)classes->weights + 1;
    uint64_t most = parts * classes->count;
    uint64_t deadline = 0;

    if (cls->weights != parts) {
        cls->weights = (uint32_t)parts;
        cls->credit = 0;
    }
    cls->credit += budget * cls->weight;
    while ((deadline = find_deadline(cls)) <= mowing->until &&
           cls->credit >= parts && mowing->left > 0) {
        cls->credit -= parts;
        fire_first(mowing, cls, deadline);
    }
    if (deadline > mowing->until) {
        cls->credit = 0;
    } else if (cls->credit > most) {
        cls->credit = most;
    }
}

/* Called before a mow fires other timers. */
void
lawn__classes_fire_shares(struct lawn_mowing *mowing)
{
    const struct lawn_classes *classes = &mowing->lawn->classes;
    size_t budget = mowing->budget;

    if (classes->weights == 0 || (uint64_t)budget >> 32 != 0) {
        return;
    }
    for (uint32_t i = 0; i < classes->max; i++) {
        struct lawn_class *cls = &classes->all[i];

        if (lawn__class_used(cls) && cls->weight > 0) {
            fire_share(mowing, cls, budget);
        }
    }
}

/* Fires timers of classes with deadlines up to `mowed`. All timers outside of
 * classes with earlier deadlines than `mowed` have fired. Returns the time up
 * to which timers outside of classes may fire next. */
uint64_t
lawn__classes_mow(struct lawn_mowing *mowing, uint64_t mowed)
{
    const struct lawn_classes *classes = &mowing->lawn->classes;

    while (classes->next <= mowing->until && mowing->left > 0 &&
           mowing->work > 0) {
        struct lawn_class *cls = classes->heap[0];

        if (!lawn__class_exact(cls)) {
            lawn__class_update(cls);
            mowing->work--;
        } else if (classes->next > mowed) {
            return classes->next;
        } else {
            fire_first(mowing, cls, classes->next);
        }
    }
    return mowing->until;
}

/* Called before a mow at the last tick. Until it ends, timers that callbacks
 * start are not added to the queues [P6]. */
void
lawn__classes_enter_last_tick(struct lawn *lawn)
{
    for (uint32_t i = 0; i < lawn->classes.count; i++) {
        lawn__class_update_plain(lawn->classes.heap[i]);
    }
}

void
lawn__classes_leave_last_tick(struct lawn *lawn)
{
    for (uint32_t i = 0; i < lawn->classes.max; i++) {
        struct lawn_class *cls = &lawn->classes.all[i];

        if (lawn__class_used(cls)) {
            if (!lawn__list_empty(&cls->recent)) {
                lawn__list_splice(lawn__class_key(cls), &cls->queue,
                                  &cls->recent);
            }
            lawn__class_update(cls);
        }
    }
}

/* Returns the deadline of the first timer of all classes, but at most next, the
 * earliest deadline of other timers. */
uint64_t
lawn__classes_next(struct lawn *lawn, uint64_t next)
{
    const struct lawn_classes *classes = &lawn->classes;

    while (classes->next < next && !lawn__class_exact(classes->heap[0])) {
        lawn__class_update(classes->heap[0]);
        lawn->looked++;
    }
    next = classes->next < next ? classes->next : next;
    if (next == LAWN_NEVER && lawn__class_at_last_tick(lawn)) {
        for (uint32_t i = 0; i < classes->count; i++) {
            const struct lawn_class *cls = classes->heap[i];

            if (!lawn__list_empty(&cls->recent) && !lawn__class_paused(cls)) {
                return LAWN_LAST;
            }
        }
    }
    return next;
}

size_t
lawn_class_mow(struct lawn_class *cls, uint64_t now, size_t budget,
               lawn_fire_fn *fire, void *arg)
{
    struct lawn *lawn = cls->lawn;
    uint64_t until = now < LAWN_LAST ? now : LAWN_LAST;
    struct lawn_mowing mowing = {lawn,  budget, budget, SIZE_MAX, until,
                                 false, fire,   arg,    0,        0};
    uint64_t deadline = 0;

    LAWN_ASSERT(lawn->mowing == NULL, "[P10] lawn_class_mow inside a callback");
    if (lawn->mowing != NULL) {
        return 0;
    }
    lawn__advance_clock(lawn, now);
    lawn->mowing = &mowing;
    lawn->wake = 0; /* so that a mow inside a callback is noticed [P10] */
    if (until == LAWN_LAST) {
        lawn__classes_enter_last_tick(lawn);
    }
    while (mowing.left > 0 && (deadline = find_deadline(cls)) <= until) {
        fire_first(&mowing, cls, deadline);
    }
    lawn->mowing = NULL;
    if (until == LAWN_LAST) {
        lawn__classes_leave_last_tick(lawn);
    } else if (lawn__class_used(cls)) { /* a callback may have freed it */
        lawn__class_update(cls);
    }
    lawn__set_bound(lawn, lawn->bound);
    return mowing.budget - mowing.left;
}
