/* class_ops.c - operations on all timers of a class.
 *
 * They change the clock of the class, its TTL or its lists, never a timer. Then
 * the class's time in the heap is computed again: O(log classes).
 */
#include "class.h"

void
lawn_class_set_ttl(struct lawn_class *cls, uint64_t ttl)
{
    cls->ttl = ttl != 0 ? ttl : 1;
    lawn__class_update(cls);
}

void
lawn_class_scale(struct lawn_class *cls, uint32_t numerator,
                 uint32_t denominator)
{
    uint64_t divisor = denominator != 0 ? denominator : 1;
    uint64_t whole = cls->ttl / divisor;
    uint64_t rest = cls->ttl % divisor * numerator / divisor;

    if (numerator != 0 && whole > (LAWN_LAST - rest) / numerator) {
        lawn_class_set_ttl(cls, LAWN_LAST);
    } else {
        lawn_class_set_ttl(cls, whole * numerator + rest);
    }
}

void
lawn_class_postpone(struct lawn_class *cls, uint64_t ticks)
{
    cls->base += lawn__class_limit_shift(cls, ticks);
    lawn__class_update(cls);
}

void
lawn_class_pause(struct lawn_class *cls)
{
    if (!lawn__class_paused(cls)) {
        cls->paused_at = cls->lawn->now;
        lawn__class_update(cls);
    }
}

void
lawn_class_resume(struct lawn_class *cls)
{
    if (lawn__class_paused(cls)) {
        cls->base += lawn__class_shift(cls);
        cls->paused_at = LAWN_NEVER;
        lawn__class_update(cls);
    }
}

uint64_t
lawn_class_clear(struct lawn_class *cls)
{
    uintptr_t key = lawn__class_key(cls);
    uint64_t count = lawn__class_count(cls);

    if (count == 0) {
        return 0;
    }
    cls->cleared = lawn__link_deadline(lawn__class_last(cls));
    if (!lawn__list_empty(&cls->queue)) {
        lawn__list_splice(key, &cls->detached, &cls->queue);
    }
    if (!lawn__list_empty(&cls->recent)) {
        lawn__list_splice(key, &cls->detached, &cls->recent);
    }
    cls->detached_count += count;
    cls->stops += count;
    cls->lawn->classes.running -= count;
    lawn__class_update(cls);
    return count;
}

void
lawn_class_set_weight(struct lawn_class *cls, uint32_t weight)
{
    struct lawn_classes *classes = &cls->lawn->classes;

    weight = weight < UINT16_MAX ? weight : UINT16_MAX;
    classes->weights += weight - cls->weight;
    cls->weight = (uint16_t)weight;
}

static uint64_t
count_until(const struct lawn_class *cls, const struct lawn_link *list,
            uint64_t until, uint64_t limit)
{
    uint64_t shift = lawn__class_shift(cls);
    uint64_t count = 0;

    for (const struct lawn_link *link = list->next;
         link != list && count < limit &&
         lawn__class_deadline(cls, lawn__class_started(cls, link) + shift) <=
             until;
         link = link->next) {
        count++;
    }
    return count;
}

uint64_t
lawn_class_forecast(const struct lawn_class *cls, uint64_t ticks,
                    uint64_t limit)
{
    uint64_t until = lawn__saturating_add(cls->lawn->now, ticks);
    uint64_t count = count_until(cls, &cls->queue, until, limit);

    return count + count_until(cls, &cls->recent, until, limit - count);
}
