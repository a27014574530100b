/* queue_walk.c - visits, copies, scans and moves all events. */
#include "late.h"
#include "memory.h"
#include "queue_inside.h"

/* A cursor is the first 32 bits of a hash, the size of a tag. */
#define QUEUE_CURSOR_SHIFT 32u

/* WALKS */

struct visiting {
    queue_visit_fn *visit;
    void *arg;
    uint64_t now;
};

/* ttl is the delay or the length of the lease; 0 if the event is on no
 * blade. */
static bool
visit_event(const struct visiting *visiting, const struct event *event,
            uint64_t ttl)
{
    struct queue_event out;

    queue_event_read(event, &out);
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
visit_timer(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    return visit_event(arg, LAWN_CONTAINER(timer, struct event, timer), ttl);
}

static bool
visit_list(const struct queue_list *list, const struct visiting *visiting)
{
    const struct event *event = NULL;

    for (event = list->first; event != NULL; event = event->link.next) {
        if (!visit_event(visiting, event, 0)) {
            return false;
        }
    }
    return true;
}

static bool
visit_heap_event(struct event *event, void *arg)
{
    return visit_event(arg, event, 0);
}

/* Visits the heap first, since its events are taken first. */
static bool
visit_timeline(const struct queue_timeline *timeline, struct visiting *visiting)
{
    return heap_each(&timeline->heap, visit_heap_event, visiting) &&
           (timeline->lawn == NULL ||
            lawn_each(timeline->lawn, visit_timer, visiting));
}

bool
queue_each(const struct queue *queue, queue_visit_fn *visit, void *arg)
{
    struct visiting visiting = {visit, arg, queue->now};

    return visit_list(&queue->dead, &visiting) &&
           visit_list(&queue->ready, &visiting) &&
           heap_each(&queue->passed, visit_heap_event, &visiting) &&
           visit_timeline(&queue->waiting, &visiting) &&
           visit_timeline(&queue->leases, &visiting);
}

bool
queue_restore(struct queue *queue, uint64_t first, uint64_t now)
{
    if (!queue_resize(queue, queue->size, first < now ? first : now)) {
        return false;
    }
    queue_set_now(queue, now);
    return true;
}

struct copying {
    struct queue *to;
    struct lawn *lawn;
};

/* The copy is in no place. */
static struct event *
copy_event(struct queue *to, const struct event *event)
{
    struct event *copy =
        queue_event_new(to, event->flags, event->id_size, event->payload_size,
                        event->owner_size);

    if (copy == NULL) {
        return NULL;
    }
    struct table_place place;
    (void)table_find(&to->table, event_id(event), &place);
    if (!table_reserve(&to->table, &place)) {
        queue_event_free(to, copy);
        return NULL;
    }
    memcpy(copy + 1, event + 1,
           event_head(event->flags) - sizeof(*event) + event->id_size +
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
copy_timer(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    struct copying *copying = arg;
    struct event *copy =
        copy_event(copying->to, LAWN_CONTAINER(timer, struct event, timer));

    if (copy == NULL) {
        return false;
    }
    lawn_start_as(copying->lawn, &copy->timer, ttl, lawn_last_deadline(timer));
    return true;
}

static bool
copy_list(struct queue *to, struct queue_list *list,
          const struct queue_list *from)
{
    const struct event *event = NULL;

    for (event = from->first; event != NULL; event = event->link.next) {
        struct event *copy = copy_event(to, event);

        if (copy == NULL) {
            return false;
        }
        copy->link.time = event->link.time;
        queue_list_add(list, copy, list->last);
    }
    return true;
}

/* Copies a heap entry by entry; each keeps its index. */
static bool
copy_heap(struct queue *to, struct heap *heap, const struct heap *from)
{
    if (from->count > 0 && !heap_reserve(heap, from->count)) {
        return false;
    }
    for (uint64_t i = 0; i < from->count; i++) {
        const struct event *event = heap_at(from, i);
        struct event *copy = copy_event(to, event);

        if (copy == NULL) {
            return false;
        }
        heap_add(heap, copy, event->leaf.time, event->leaf.order, to->now);
    }
    return true;
}

static bool
copy_timeline(struct queue *to, struct queue_timeline *timeline,
              const struct queue_timeline *from)
{
    struct copying copying = {to, timeline->lawn};

    return copy_heap(to, &timeline->heap, &from->heap) &&
           (from->lawn == NULL || lawn_each(from->lawn, copy_timer, &copying));
}

static bool
copy_lawns(struct queue *to, const struct queue *queue)
{
    queue_set_now(to, queue->now);
    if (!queue_resize(to, queue->size, queue->waiting.mown)) {
        return false;
    }
    if (queue->leases.lawn != NULL &&
        !queue_timeline_open(to, &to->leases, queue_leases_size(queue),
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
    if (!queue_set_sink(copy, &queue->sink) || !copy_lawns(copy, queue) ||
        !copy_list(copy, &copy->dead, &queue->dead) ||
        !copy_list(copy, &copy->ready, &queue->ready) ||
        !copy_heap(copy, &copy->passed, &queue->passed) ||
        !copy_timeline(copy, &copy->waiting, &queue->waiting) ||
        !copy_timeline(copy, &copy->leases, &queue->leases)) {
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
            table_find_segment(&queue->table, hash);

        for (size_t i = 0; i < segment->used; i++) {
            if (segment->tags[i] < hash >> QUEUE_CURSOR_SHIFT) {
                continue; /* visited before two segments were merged */
            }
            if (enough && segment->tags[i] != segment->tags[i - 1]) {
                return segment->tags[i];
            }
            struct queue_event out;
            queue_event_read(table_events(segment)[i], &out);
            visited++;
            enough = !visit(&out, arg) || enough;
        }
        hash = table_end(segment, hash);
    } while (hash != 0 && visited < count && !enough);
    return hash >> QUEUE_CURSOR_SHIFT;
}

static void
defrag_segment(struct queue *queue, uint64_t hash, queue_moved_fn *moved,
               void *arg)
{
    struct table_segment *segment = table_find_segment(&queue->table, hash);
    struct table_segment *now = moved(segment, arg);

    if (now != NULL) {
        segment = now;
        table_moved(&queue->table, hash, segment);
    }
    for (size_t i = 0; i < segment->used; i++) {
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
    void *now = NULL;

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
        defrag_segment(queue, hash, moved, arg);
        const struct table_segment *segment =
            table_find_segment(&queue->table, hash);
        hash = table_end(segment, hash);
    } while (hash != 0 && !stop(arg));
    return hash >> QUEUE_CURSOR_SHIFT;
}
