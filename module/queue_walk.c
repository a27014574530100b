/* queue_walk.c - what is due, and walks over all events. */
#include "late.h"
#include "memory.h"
#include "queue_inside.h"

/* A cursor is the first 32 bits of a hash: as many as a tag has. */
#define QUEUE_CURSOR_SHIFT 32u

/* What is due later than what has ripened before goes to the end. */
static void
queue_ripen_fire(struct lawn_timer *timer, void *arg)
{
    struct event *event = LAWN_CONTAINER(timer, struct event, timer);

    queue_ready_add(arg, event, lawn_due(timer));
}

/* How many at the end of ready are not due by now: the clock was set back, or they
 * were moved there early. No more than most are counted. */
static uint64_t
queue_ripen_early(const struct queue *queue, uint64_t most)
{
    const struct event *event = queue->last;
    uint64_t many = 0;

    while (event != NULL && event->ready.due > queue->asked && many < most) {
        event = event->ready.prev;
        many++;
    }
    return many;
}

/* Moves what is due by then from the lawn to ready, so many at most. */
static void
queue_ripen_until(struct queue *queue, uint64_t then, uint64_t budget)
{
    size_t fired = lawn_mow(queue->lawn, then, budget, queue_ripen_fire, queue);
    /* The lawn's position may be anywhere up to its time, and up to what is due
     * next: nothing may be started there that is due before. */
    uint64_t mown = lawn_now(queue->lawn);

    if (fired == budget || then < mown) {
        uint64_t next = lawn_next(queue->lawn);

        mown = next < mown ? next : mown;
    }
    queue->mown = mown > queue->mown ? mown : queue->mown;
}

uint64_t
queue_ripen(struct queue *queue, uint64_t now, uint64_t budget)
{
    uint64_t many = queue_steps(queue);
    uint64_t early;

    queue->asked = now;
    queue->walked = 0;
    many = QUEUE_STEPS + (many > queue->counted ? many - queue->counted : 0);
    if (queue_ripen_early(queue, many) == many) {
        (void)queue_relay(queue, queue->size, queue_back(queue, now));
    }
    queue_ripen_until(queue, now, budget);
    early = queue_ripen_early(queue, UINT64_MAX);
    queue->counted += early > QUEUE_STEPS ? early - QUEUE_STEPS : 0;
    return queue->ready - early;
}

bool
queue_ready(const struct queue *queue, const void **cursor,
            struct queue_event *out)
{
    const struct event *before = *cursor;
    const struct event *event =
        before != NULL ? before->ready.next : queue->first;

    if (event == NULL || event->ready.due > queue->asked) {
        return false;
    }
    queue_tell_of(event, out);
    *cursor = event;
    return true;
}

uint64_t
queue_latest(const struct queue *queue)
{
    const struct event *event = queue->last;

    while (event != NULL && event->ready.due > queue->asked) {
        event = event->ready.prev;
    }
    return event != NULL ? event->ready.due : 0;
}

uint64_t
queue_coming(const struct queue *queue)
{
    const struct event *event = queue->last;
    uint64_t coming = LAWN_NEVER;

    while (event != NULL && event->ready.due > queue->asked) {
        coming = event->ready.due;
        event = event->ready.prev;
    }
    return coming != LAWN_NEVER ? coming : lawn_next(queue->lawn);
}

/* Who asks for the first one mostly takes it away, and asks again: to search the
 * lawn each time would cost as much as there are events for times of their own in
 * its earliest slot. So a few are moved to ready, before their time: where the
 * lawn has been mown, its slots are small. */
static void
queue_ripen_first(struct queue *queue)
{
    uint64_t next = lawn_next(queue->lawn);

    if (next != LAWN_NEVER) {
        queue_ripen_until(queue, next, QUEUE_FEW);
    }
}

bool
queue_first(struct queue *queue, struct queue_event *out)
{
    if (queue->first == NULL) {
        queue_ripen_first(queue);
    }
    if (queue->first == NULL) {
        return false;
    }
    queue_tell_of(queue->first, out);
    return true;
}

/* The lawn knows its next, unless that was taken away since it was asked. */
uint64_t
queue_soonest(struct queue *queue)
{
    if (queue->first == NULL && queue->lost) {
        queue_ripen_first(queue);
    }
    queue->lost = false;
    queue->told = queue_next(queue);
    return queue->told;
}

struct queue_visiting {
    queue_visit_fn *visit;
    void *arg;
    uint64_t now;
};

/* ttl: 0 if it stands in no queue of equal delays. */
static bool
queue_each_one(const struct queue_visiting *visiting, const struct event *event,
               uint64_t ttl)
{
    struct queue_event out;

    queue_tell_of(event, &out);
    out.alone = ttl == 0;
    if (ttl == 0 && out.due > visiting->now) {
        ttl = out.due - visiting->now;
    }
    out.ttl = ttl;
    return visiting->visit(&out, visiting->arg);
}

static bool
queue_each_waiting(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    return queue_each_one(arg, LAWN_CONTAINER(timer, struct event, timer), ttl);
}

bool
queue_each(const struct queue *queue, queue_visit_fn *visit, void *arg)
{
    struct queue_visiting visiting = {visit, arg, queue->now};
    const struct event *event;

    for (event = queue->first; event != NULL; event = event->ready.next) {
        if (!queue_each_one(&visiting, event, 0)) {
            return false;
        }
    }
    return lawn_each(queue->lawn, queue_each_waiting, &visiting);
}

bool
queue_restore(struct queue *queue, uint64_t first, uint64_t now)
{
    if (!queue_relay(queue, queue->size, first < now ? first : now)) {
        return false;
    }
    queue_tell(queue, now);
    return true;
}

/* Copies an event to where it stands: in ready, or on the lawn. */
static bool
queue_copy_one(struct queue *to, const struct event *event, uint64_t ttl)
{
    struct table_place place;
    uint64_t due = event_due(event);
    size_t head = event_head(event->flags);
    struct event *copy =
        queue_event_new(to, event->flags, event->id_size, event->payload_size);

    if (copy == NULL) {
        return false;
    }
    (void)table_find(&to->table, event_id(event), &place);
    if (!table_reserve(&to->table, &place)) {
        queue_event_free(to, copy);
        return false;
    }
    memcpy(copy + 1, event + 1,
           head - sizeof *event + event->id_size + event->payload_size);
    table_add(&to->table, &place, copy);
    queue_total_add(1);
    if (event->flags & EVENT_READY) {
        queue_ready_add(to, copy, due);
    } else {
        lawn_start_as(to->lawn, &copy->timer, ttl, due);
    }
    return true;
}

static bool
queue_copy_waiting(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    return queue_copy_one(arg, LAWN_CONTAINER(timer, struct event, timer), ttl);
}

struct queue *
queue_copy(const struct queue *queue)
{
    struct queue *copy = queue_new(0, queue->blades);
    const struct event *event;

    if (copy == NULL) {
        return NULL;
    }
    copy->settings = queue->settings;
    if (!queue_relay(copy, queue->size, queue->mown)) {
        queue_free(copy);
        return NULL;
    }
    copy->asked = queue->asked;
    queue_tell(copy, queue->now);
    for (event = queue->first; event != NULL; event = event->ready.next) {
        if (!queue_copy_one(copy, event, 0)) {
            queue_free(copy);
            return NULL;
        }
    }
    if (!lawn_each(queue->lawn, queue_copy_waiting, copy)) {
        queue_free(copy);
        return NULL;
    }
    return copy;
}

uint64_t
queue_scan(const struct queue *queue, uint64_t cursor, size_t count,
           queue_visit_fn *visit, void *arg)
{
    uint64_t hash = cursor << QUEUE_CURSOR_SHIFT;
    size_t visited = 0;

    if (queue->table.count == 0 || hash >> QUEUE_CURSOR_SHIFT != cursor) {
        return 0;
    }
    do {
        const struct table_segment *segment =
            table_segment(&queue->table, hash);
        size_t i;

        for (i = 0; i < segment->used; i++) {
            struct queue_event out;

            if (segment->tags[i] < hash >> QUEUE_CURSOR_SHIFT) {
                continue; /* it was visited before two segments became one */
            }
            queue_tell_of(table_events(segment)[i], &out);
            visited++;
            if (!visit(&out, arg)) {
                return hash >> QUEUE_CURSOR_SHIFT;
            }
        }
        hash = table_end(segment, hash);
    } while (hash != 0 && visited < count);
    return hash >> QUEUE_CURSOR_SHIFT;
}

/* Lets the events of a segment be moved, and the segment. */
static void
queue_defrag_segment(struct queue *queue, uint64_t hash, queue_moved_fn *moved,
                     void *arg)
{
    struct table_segment *segment = table_segment(&queue->table, hash);
    struct table_segment *now = moved(segment, arg);
    size_t i;

    if (now != NULL) {
        segment = now;
        table_moved(&queue->table, hash, segment);
    }
    for (i = 0; i < segment->used; i++) {
        struct event *old = table_events(segment)[i];
        bool near = queue->near == old;
        struct event *event = moved(old, arg);

        if (event != NULL) {
            table_events(segment)[i] = event;
            queue->near = near ? event : queue->near;
            queue_event_moved(queue, event);
        }
    }
}

uint64_t
queue_defrag(struct queue *queue, uint64_t cursor, queue_moved_fn *moved,
             queue_stop_fn *stop, void *arg)
{
    uint64_t hash = cursor << QUEUE_CURSOR_SHIFT;
    void *now;

    if (cursor == 0 && queue->late != NULL) {
        now = moved(queue->late, arg);
        queue->late = now != NULL ? now : queue->late;
    }
    if (cursor == 0 && queue->table.directory != NULL) {
        now = moved(queue->table.directory, arg);
        if (now != NULL) {
            table_moved_directory(&queue->table, now);
        }
    }
    if (queue->table.count == 0) {
        return 0;
    }
    do {
        const struct table_segment *segment;

        queue_defrag_segment(queue, hash, moved, arg);
        segment = table_segment(&queue->table, hash);
        hash = table_end(segment, hash);
    } while (hash != 0 && !stop(arg));
    return hash >> QUEUE_CURSOR_SHIFT;
}
