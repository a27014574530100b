/* queue_walk.c - what is due, and walks over all events. */
#include "late.h"
#include "memory.h"
#include "queue_inside.h"

/* A cursor is the first 32 bits of a hash: as many as a tag has. */
#define QUEUE_CURSOR_SHIFT 32u

/* TIME */

static void
queue_ripen_fire(struct lawn_timer *timer, void *arg)
{
    struct event *event = LAWN_CONTAINER(timer, struct event, timer);

    queue_ready_add(arg, event, event_time(event));
}

static void
queue_ripen_end(struct lawn_timer *timer, void *arg)
{
    queue_lease_end(arg, LAWN_CONTAINER(timer, struct event, timer));
}

/* The first of the heap of those that wait, or of leases. */
static void
queue_ripen_alone(struct queue *queue, uint64_t time)
{
    bool waits = heap_next(&queue->waiting.heap) == time;
    struct heap *heap = waits ? &queue->waiting.heap : &queue->leases.heap;
    struct event *event = heap_first(heap);

    heap_remove(heap, event);
    event->flags &= (uint8_t)~EVENT_HEAP;
    if (waits) {
        queue_ready_add(queue, event, time);
    } else {
        queue_lease_end(queue, event);
    }
}

/* A field was mown by then, which is no earlier than its lawn's time; left: there may
 * be more. The lawn's position may be anywhere up to that, and up to what is due
 * next: nothing may be started there that is due before. */
static void
queue_ripen_mown(struct queue_field *field, uint64_t then, bool left)
{
    uint64_t next = left ? lawn_next(field->lawn) : LAWN_NEVER;

    lawn_set_now(field->lawn, then);
    field->mown = next < then ? next : then;
}

/* Moves what is due by then to ready, so many events at most, in the order of all
 * lawns and heaps. Of one time those of the heaps come first: see queue_lay.c. */
static void
queue_ripen_until(struct queue *queue, uint64_t then, uint64_t budget)
{
    struct lawn *waiting = queue->waiting.lawn;
    struct lawn *leases = queue->leases.lawn;
    uint64_t end = leases != NULL ? lawn_next(leases) : LAWN_NEVER;

    while (budget > 0) {
        uint64_t alone = heap_next(&queue->waiting.heap);
        uint64_t other = heap_next(&queue->leases.heap);
        uint64_t time;

        alone = other < alone ? other : alone;
        time = end < alone ? end : alone;
        if (time > then || time == LAWN_NEVER) {
            break;
        }
        if (time == alone) {
            if (time > 0) {
                budget -= lawn_mow(waiting, time - 1, budget, queue_ripen_fire,
                                   queue);
            }
            if (budget > 0) {
                queue_ripen_alone(queue, time);
                budget--;
            }
        } else {
            budget -= lawn_mow(waiting, time, budget, queue_ripen_fire, queue);
            budget -= lawn_mow(leases, time, budget, queue_ripen_end, queue);
            end = lawn_next(leases);
        }
    }
    budget -= lawn_mow(waiting, then, budget, queue_ripen_fire, queue);
    queue_ripen_mown(&queue->waiting, then, budget == 0);
    if (leases != NULL) {
        queue_ripen_mown(&queue->leases, then, budget == 0);
    }
}

/* Puts those that have passed in their places among so many of ready. */
static void
queue_ripen_passed(struct queue *queue, uint64_t budget)
{
    struct event *next = queue->ready.first;
    struct event *event;

    while (budget > 0 && (event = heap_first(&queue->passed)) != NULL) {
        if (next != NULL && next->link.time <= event->leaf.time) {
            next = next->link.next;
        } else {
            heap_remove(&queue->passed, event);
            event->flags &= (uint8_t)~EVENT_HEAP;
            queue_list_add(&queue->ready, event,
                           next != NULL ? next->link.prev : queue->ready.last);
        }
        budget--;
    }
}

uint64_t
queue_ripen(struct queue *queue, uint64_t now, uint64_t budget)
{
    now = now > queue->now ? now : queue->now;
    queue->asked = now > queue->asked ? now : queue->asked;
    queue_ripen_until(queue, queue->asked, budget);
    queue_ripen_passed(queue, budget);
    return queue->ready.count + queue->passed.count;
}

bool
queue_ready(const struct queue *queue, const void **cursor,
            struct queue_event *out)
{
    return queue_list_next(&queue->ready, cursor, out);
}

uint64_t
queue_latest(const struct queue *queue)
{
    uint64_t time = queue->passed.count > 0 ? queue->passed_until : 0;

    return queue->ready.last != NULL && queue->ready.last->link.time > time
               ? queue->ready.last->link.time
               : time;
}

uint64_t
queue_coming(const struct queue *queue)
{
    uint64_t next = queue_field_next(&queue->waiting);
    uint64_t end = queue_field_next(&queue->leases);

    return end < next ? end : next;
}

/* The first that is known to be due; NULL: none. */
static const struct event *
queue_first_ready(const struct queue *queue)
{
    const struct event *event = queue->ready.first;
    const struct event *passed = heap_first(&queue->passed);

    return event == NULL ||
                   (passed != NULL && passed->leaf.time < event->link.time)
               ? passed
               : event;
}

uint64_t
queue_next(struct queue *queue)
{
    const struct event *ready = queue_first_ready(queue);
    uint64_t next = ready != NULL ? event_time(ready) : LAWN_NEVER;
    uint64_t coming = queue_coming(queue);

    return coming < next ? coming : next;
}

/* Those that nobody is given again come first. */
bool
queue_first(struct queue *queue, struct queue_event *out)
{
    const struct event *event = queue->dead.first;

    if (event == NULL) {
        uint64_t coming = queue_field_next(&queue->waiting);

        event = queue_first_ready(queue);
        if (coming < (event != NULL ? event_time(event) : LAWN_NEVER)) {
            event = coming == heap_next(&queue->waiting.heap)
                        ? heap_first(&queue->waiting.heap)
                        : LAWN_CONTAINER(lawn_first(queue->waiting.lawn),
                                         struct event, timer);
        }
    }
    if (event == NULL) {
        return false;
    }
    queue_tell_of(event, out);
    return true;
}

/* WALKS */

struct queue_visiting {
    queue_visit_fn *visit;
    void *arg;
    uint64_t now;
};

/* ttl, or that of its lease if it has one: 0 if it stands in no queue of equal
 * delays. */
static bool
queue_each_one(const struct queue_visiting *visiting, const struct event *event,
               uint64_t ttl)
{
    struct queue_event out;

    queue_tell_of(event, &out);
    if (out.lease.token != 0) {
        out.lease.ttl = ttl;
        ttl = 0;
    }
    out.alone = ttl == 0;
    if (ttl == 0 && out.due > visiting->now) {
        ttl = out.due - visiting->now;
    }
    out.ttl = ttl;
    return visiting->visit(&out, visiting->arg);
}

static bool
queue_each_timer(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    return queue_each_one(arg, LAWN_CONTAINER(timer, struct event, timer), ttl);
}

static bool
queue_each_link(const struct queue_list *list,
                const struct queue_visiting *visiting)
{
    const struct event *event;

    for (event = list->first; event != NULL; event = event->link.next) {
        if (!queue_each_one(visiting, event, 0)) {
            return false;
        }
    }
    return true;
}

static bool
queue_each_alone(struct event *event, void *arg)
{
    return queue_each_one(arg, event, 0);
}

/* Those in the heap first, as they would be taken. */
static bool
queue_each_of(const struct queue_field *field, struct queue_visiting *visiting)
{
    return heap_each(&field->heap, queue_each_alone, visiting) &&
           (field->lawn == NULL ||
            lawn_each(field->lawn, queue_each_timer, visiting));
}

bool
queue_each(const struct queue *queue, queue_visit_fn *visit, void *arg)
{
    struct queue_visiting visiting = {visit, arg, queue->now};

    return queue_each_link(&queue->dead, &visiting) &&
           queue_each_link(&queue->ready, &visiting) &&
           heap_each(&queue->passed, queue_each_alone, &visiting) &&
           queue_each_of(&queue->waiting, &visiting) &&
           queue_each_of(&queue->leases, &visiting);
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

struct queue_copying {
    struct queue *to;
    struct lawn *lawn;
};

/* The same event, in no place yet. NULL: no memory. */
static struct event *
queue_copy_one(struct queue *to, const struct event *event)
{
    struct table_place place;
    struct event *copy =
        queue_event_new(to, event->flags, event->id_size, event->payload_size,
                        event->owner_size);

    if (copy == NULL) {
        return NULL;
    }
    (void)table_find(&to->table, event_id(event), &place);
    if (!table_reserve(&to->table, &place)) {
        queue_event_free(to, copy);
        return NULL;
    }
    memcpy(copy + 1, event + 1,
           event_head(event->flags) - sizeof *event + event->id_size +
               event->payload_size + event->owner_size);
    table_add(&to->table, &place, copy);
    queue_total_add(QUEUE_TOTAL, 1);
    if (event->flags & EVENT_LEASED) {
        to->leased_data += event_data(event);
        queue_total_add(QUEUE_TOTAL_LEASED, 1);
    }
    if (event->flags & EVENT_DEAD) {
        queue_total_add(QUEUE_TOTAL_DEAD, 1);
    }
    return copy;
}

static bool
queue_copy_timer(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    struct queue_copying *copying = arg;
    struct event *copy =
        queue_copy_one(copying->to, LAWN_CONTAINER(timer, struct event, timer));

    if (copy == NULL) {
        return false;
    }
    lawn_start_as(copying->lawn, &copy->timer, ttl, lawn_due(timer));
    return true;
}

static bool
queue_copy_list(struct queue *to, struct queue_list *list,
                const struct queue_list *from)
{
    const struct event *event;

    for (event = from->first; event != NULL; event = event->link.next) {
        struct event *copy = queue_copy_one(to, event);

        if (copy == NULL) {
            return false;
        }
        copy->link.time = event->link.time;
        queue_list_add(list, copy, list->last);
    }
    return true;
}

/* Entry by entry: each stays where it is. */
static bool
queue_copy_heap(struct queue *to, struct heap *heap, const struct heap *from)
{
    uint64_t i;

    if (from->count > 0 && !heap_reserve(heap, from->count)) {
        return false;
    }
    for (i = 0; i < from->count; i++) {
        const struct event *event = heap_at(from, i);
        struct event *copy = queue_copy_one(to, event);

        if (copy == NULL) {
            return false;
        }
        heap_add(heap, copy, event->leaf.time, event->leaf.order, to->now);
    }
    return true;
}

static bool
queue_copy_field(struct queue *to, struct queue_field *field,
                 const struct queue_field *from)
{
    struct queue_copying copying = {to, field->lawn};

    return queue_copy_heap(to, &field->heap, &from->heap) &&
           (from->lawn == NULL ||
            lawn_each(from->lawn, queue_copy_timer, &copying));
}

/* Lawns as there are, at the same positions. */
static bool
queue_copy_lawns(struct queue *to, const struct queue *queue)
{
    queue_tell(to, queue->now);
    if (!queue_relay(to, queue->size, queue->waiting.mown)) {
        return false;
    }
    if (queue->leases.lawn != NULL &&
        !queue_lay(to, &to->leases, queue_lease_size(queue),
                   queue->leases.mown)) {
        return false;
    }
    return true;
}

struct queue *
queue_copy(const struct queue *queue)
{
    struct queue *copy = queue_new(0, queue->blades);

    if (copy == NULL) {
        return NULL;
    }
    copy->settings = queue->settings;
    copy->token = queue->token;
    copy->asked = queue->asked;
    copy->order = queue->order;
    copy->passed_until = queue->passed_until;
    if (!queue_set_sink(copy, &queue->sink) || !queue_copy_lawns(copy, queue) ||
        !queue_copy_list(copy, &copy->dead, &queue->dead) ||
        !queue_copy_list(copy, &copy->ready, &queue->ready) ||
        !queue_copy_heap(copy, &copy->passed, &queue->passed) ||
        !queue_copy_field(copy, &copy->waiting, &queue->waiting) ||
        !queue_copy_field(copy, &copy->leases, &queue->leases)) {
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
    bool enough = false;

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
            if (enough && segment->tags[i] != segment->tags[i - 1]) {
                return segment->tags[i];
            }
            queue_tell_of(table_events(segment)[i], &out);
            visited++;
            enough = !visit(&out, arg) || enough;
        }
        hash = table_end(segment, hash);
    } while (hash != 0 && visited < count && !enough);
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
        struct event *event = moved(table_events(segment)[i], arg);

        if (event != NULL) {
            table_events(segment)[i] = event;
            queue_event_moved(queue, event);
        }
        event = table_events(segment)[i];
        if (event->flags & EVENT_HEAP) {
            heap_defrag(queue_heap_of(queue, event), event, moved, arg);
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
    if (cursor == 0 && queue->sink.to.at != NULL) {
        now = moved((void *)(uintptr_t)queue->sink.to.at, arg);
        if (now != NULL) {
            queue_sink_moved(queue, now);
        }
    }
    if (cursor == 0 && queue->table.directory != NULL) {
        now = moved(queue->table.directory, arg);
        if (now != NULL) {
            table_moved_directory(&queue->table, now);
        }
    }
    if (cursor == 0) {
        heap_defrag(&queue->waiting.heap, NULL, moved, arg);
        heap_defrag(&queue->leases.heap, NULL, moved, arg);
        heap_defrag(&queue->passed, NULL, moved, arg);
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
