/* class_heap.c - finds the class with the earliest deadline [I12].
 *
 * A binary heap of the classes in use, ordered by their times. A time may be
 * too early, because lawn_class_stop() does not update it. Mows and lawn_next()
 * correct the times that they find at the top. Cost: O(log classes) for each
 * change. If a time were too late, timers would fire late [P2].
 */
#include "class.h"

static void
put(const struct lawn_classes *classes, struct lawn_class *cls, uint32_t place)
{
    classes->heap[place] = cls;
    cls->place = (uint16_t)place;
}

void
lawn__classes_init(struct lawn *lawn, struct lawn_class *all,
                   struct lawn_class **heap, size_t max)
{
    struct lawn_classes *classes = &lawn->classes;

    classes->all = all;
    classes->heap = heap;
    classes->next = LAWN_NEVER;
    classes->running = 0;
    classes->weights = 0;
    classes->count = 0;
    classes->max = (uint16_t)max;
    for (uint32_t i = 0; i < max; i++) {
        all[i].lawn = lawn;
        all[i].due = LAWN_NEVER;
        put(classes, &all[i], i);
    }
}

static void
sift_up(const struct lawn_classes *classes, struct lawn_class *cls)
{
    uint32_t place = cls->place;

    while (place > 0 && cls->due < classes->heap[(place - 1) / 2]->due) {
        put(classes, classes->heap[(place - 1) / 2], place);
        place = (place - 1) / 2;
    }
    put(classes, cls, place);
}

static void
sift_down(const struct lawn_classes *classes, struct lawn_class *cls)
{
    uint32_t place = cls->place;
    uint32_t child = 2 * place + 1;

    while (child < classes->count) {
        if (child + 1 < classes->count &&
            classes->heap[child + 1]->due < classes->heap[child]->due) {
            child++;
        }
        if (cls->due <= classes->heap[child]->due) {
            break;
        }
        put(classes, classes->heap[child], place);
        place = child;
        child = 2 * place + 1;
    }
    put(classes, cls, place);
}

/* Called when the time at the top of the heap has changed. If a callback
 * changed it while mow_until() is firing timers outside of classes, a timer of
 * a class may now precede them [P12]. Then this function moves the rest of the
 * budget to `held`, so that mow_until() returns. */
static void
end_turn(const struct lawn *lawn)
{
    struct lawn_mowing *mowing = lawn->mowing;

    if (mowing != NULL && lawn->classes.next < mowing->pass) {
        mowing->held += mowing->left;
        mowing->left = 0;
    }
}

/* Called after a change of the top of the heap or of the resolution. */
void
lawn__classes_refresh(struct lawn *lawn)
{
    struct lawn_classes *classes = &lawn->classes;
    uint64_t next = classes->count > 0 ? classes->heap[0]->due : LAWN_NEVER;

    if (next != LAWN_NEVER) {
        next = lawn__class_round(lawn, next);
    }
    if (next != classes->next) {
        classes->next = next;
        lawn__set_bound(lawn, lawn->bound);
        end_turn(lawn);
    }
}

/* Inserts a class that was not in use and has no timers. */
void
lawn__class_insert(struct lawn_class *cls)
{
    struct lawn_classes *classes = &cls->lawn->classes;

    /* The class is in the first place after the heap, and its time is
     * LAWN_NEVER, the maximum. So it becomes the last element of the heap
     * without a move. */
    LAWN_ASSERT(cls->place == classes->count && cls->due == LAWN_NEVER,
                "[I12] a new class is not behind the heap");
    classes->count++;
}

/* Moves the class to the first place after the heap. */
void
lawn__class_remove(struct lawn_class *cls)
{
    struct lawn_classes *classes = &cls->lawn->classes;
    struct lawn_class *last = classes->heap[--classes->count];
    uint32_t place = cls->place;

    cls->due = LAWN_NEVER;
    put(classes, cls, classes->count);
    if (last != cls) {
        put(classes, last, place);
        sift_up(classes, last);
        sift_down(classes, last);
    }
    lawn__classes_refresh(cls->lawn);
}

static uint64_t
find_time(const struct lawn_class *cls)
{
    return lawn__class_paused(cls) || lawn__list_empty(&cls->queue)
               ? LAWN_NEVER
               : lawn__class_time(cls,
                                  lawn__class_started(cls, cls->queue.next));
}

/* Returns whether the class's time in the heap is the deadline of its first
 * timer, before rounding. */
bool
lawn__class_exact(const struct lawn_class *cls)
{
    return cls->due == find_time(cls);
}

/* Computes plain_from. The fast path of a start only appends the timer to the
 * queue. That suffices if another timer is running, the heap has a time for the
 * class, the start is not before that of the last timer, no timer is detached,
 * and no mow at the last tick is running. */
void
lawn__class_update_plain(struct lawn_class *cls)
{
    const struct lawn_link *last = lawn__class_last(cls);

    if (last == NULL || cls->due == LAWN_NEVER || cls->detached_count > 0 ||
        lawn__class_at_last_tick(cls->lawn)) {
        cls->plain_from = LAWN_NEVER;
    } else {
        cls->plain_from = lawn__class_started(cls, last);
    }
}

/* Called when the first timer's time may have changed, except by a stop. */
void
lawn__class_update(struct lawn_class *cls)
{
    struct lawn *lawn = cls->lawn;

    cls->due = find_time(cls);
    sift_up(&lawn->classes, cls);
    sift_down(&lawn->classes, cls);
    lawn__classes_refresh(lawn);
    lawn__class_update_plain(cls);
}
