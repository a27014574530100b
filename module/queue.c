/* queue.c - adds, changes and removes events. A call first allocates all memory
 * that it needs, so it fails before anything has changed. */
#include "queue_inside.h"

#include "late.h"
#include "memory.h"
#include "sizes.h"

#include <errno.h>

struct queue *
queue_new(uint64_t now, size_t blades)
{
    struct queue *queue = memory_alloc(sizeof(*queue));

    if (queue == NULL) {
        return NULL;
    }
    *queue = (struct queue){.now = now, .blades = blades, .armed = LAWN_NEVER};
    queue->bytes = sizes_class(sizeof(*queue));
    if (!queue_timeline_open(queue, &queue->waiting, QUEUE_SMALL, now)) {
        memory_free(queue);
        return NULL;
    }
    return queue;
}

void
queue_free(struct queue *queue)
{
    if (queue == NULL) {
        return;
    }
    if (queue->table.count > 0) {
        uint64_t hash = 0;
        do {
            const struct table_segment *segment =
                table_find_segment(&queue->table, hash);

            for (size_t i = 0; i < segment->used; i++) {
                memory_free(table_events(segment)[i]);
            }
            hash = table_end(segment, hash);
        } while (hash != 0);
    }
    queue_total_add(QUEUE_TOTAL, -(int64_t)queue->table.count);
    queue_total_add(QUEUE_TOTAL_LEASED, -(int64_t)queue_leased_count(queue));
    queue_total_add(QUEUE_TOTAL_DEAD, -(int64_t)queue->dead.count);
    table_clear(&queue->table);
    memory_free(queue->waiting.memory);
    memory_free(queue->leases.memory);
    heap_clear(&queue->waiting.heap);
    heap_clear(&queue->leases.heap);
    heap_clear(&queue->passed);
    memory_free(queue->late);
    queue_sink_free(queue);
    memory_free(queue);
}

uint64_t
queue_now(const struct queue *queue)
{
    return queue->now;
}

uint64_t
queue_count(const struct queue *queue)
{
    return queue->table.count;
}

size_t
queue_bytes(const struct queue *queue)
{
    return queue->bytes + queue->table.bytes + queue->waiting.heap.bytes +
           queue->leases.heap.bytes + queue->passed.bytes;
}

uint64_t
queue_data(const struct queue *queue)
{
    return queue->data;
}

size_t
queue_ttls(const struct queue *queue)
{
    struct lawn_counters stats;

    lawn_stats(queue->waiting.lawn, &stats);
    return stats.live_blades;
}

static void
replace_event(struct queue *queue, const struct table_place *place,
              struct event *old, struct event *event,
              const struct queue_event *as)
{
    table_replace(place, event);
    queue_unplace(queue, old);
    queue_note_token(queue, event_token(event));
    queue_place_event(queue, event, as);
    queue_event_free(queue, old); /* the caller's bytes may point into it */
}

int
queue_put(struct queue *queue, const struct queue_event *event)
{
    struct table_place place;
    struct event *old = table_find(&queue->table, event->id, &place);
    struct event *created = queue_event_create(queue, event);

    if (created == NULL) {
        return -ENOMEM;
    }
    if (!queue_reserve_place(queue, event)) {
        queue_event_free(queue, created);
        return -ENOMEM;
    }
    if (old != NULL) {
        replace_event(queue, &place, old, created, event);
        return 1;
    }
    if (!table_reserve(&queue->table, &place)) {
        queue_event_free(queue, created);
        return -ENOMEM;
    }
    queue_grow(queue);
    table_add(&queue->table, &place, created);
    queue_total_add(QUEUE_TOTAL, 1);
    queue_note_token(queue, event_token(created));
    queue_place_event(queue, created, event);
    return 0;
}

/* Undoes the preparations of queue_put_all(): a chain of blocks, some of which
 * are already in the table. */
static void
undo_put(struct queue *queue, struct event *chain)
{
    while (chain != NULL) {
        struct event *event = chain;

        chain = event->link.next;
        struct table_place place;
        if (table_find(&queue->table, event_id(event), &place) == event) {
            table_remove(&queue->table, &place);
        }
        queue_event_free(queue, event);
    }
}

/* First allocates all blocks and adds new ids to the table. The rest cannot
 * fail. If an id occurs twice, the second event replaces the first. */
int
queue_put_all(struct queue *queue, const struct queue_event *events,
              size_t count, uint64_t *added)
{
    struct event *chain = NULL;
    struct event **end = &chain;
    struct table_place place;
    uint64_t before = queue->table.count;

    for (size_t i = 0; i < count; i++) {
        struct event *event = queue_event_create(queue, &events[i]);

        *end = event;
        if (event != NULL && !queue_reserve_place(queue, &events[i])) {
            undo_put(queue, chain);
            return -ENOMEM;
        }
        if (event != NULL &&
            table_find(&queue->table, events[i].id, &place) != NULL) {
            end = &event->link.next;
        } else if (event != NULL && table_reserve(&queue->table, &place)) {
            table_add(&queue->table, &place, event);
            end = &event->link.next;
        } else {
            undo_put(queue, chain);
            return -ENOMEM;
        }
    }
    *added = queue->table.count - before;
    queue_total_add(QUEUE_TOTAL, (int64_t)*added);
    for (size_t i = 0; i < count; i++) {
        struct event *event = chain;
        struct event *old = table_find(&queue->table, event_id(event), &place);

        chain = event->link.next;
        queue_grow(queue);
        if (old == event) {
            queue_note_token(queue, event_token(event));
            queue_place_event(queue, event, &events[i]);
        } else {
            replace_event(queue, &place, old, event, &events[i]);
        }
    }
    return 0;
}

/* Unused room in the block is kept, so that removing tries or a lease needs no
 * memory. */
int
queue_move(struct queue *queue, const struct queue_event *event)
{
    struct table_place place;
    struct event *old = table_find(&queue->table, event->id, &place);
    struct queue_event like = *event;

    if (old == NULL) {
        return -ENOENT;
    }
    like.lease.token = 0;
    unsigned flags = queue_event_flags(&like);
    if (((old->flags ^ flags) & EVENT_REPEAT) != 0 ||
        (flags & ~old->flags & EVENT_TRIES) != 0) {
        like.payload = event_payload(old);
        struct event *created = queue_event_create(queue, &like);
        if (created == NULL) {
            return -ENOMEM;
        }
        replace_event(queue, &place, old, created, &like);
        return 0;
    }
    if (flags & EVENT_REPEAT) {
        memmove(old + 1, &event->repeat, sizeof(event->repeat));
    }
    queue_unplace(queue, old);
    if (old->flags & EVENT_TRIES) {
        event_set_tries(old, &(struct event_tries){queue_event_due(&like), 0,
                                                   like.tries.made,
                                                   like.tries.most});
    }
    old->flags = (uint8_t)((old->flags & ~EVENT_ALONE) | (flags & EVENT_ALONE));
    queue_place_event(queue, old, &like);
    return 0;
}

int
queue_update(struct queue *queue, struct bytes id, struct bytes payload)
{
    struct table_place place;
    struct event *old = table_find(&queue->table, id, &place);

    if (old == NULL) {
        return -ENOENT;
    }
    size_t head = event_head(old->flags) + old->id_size;
    if (payload.size == old->payload_size) {
        if (payload.size > 0) {
            memmove((char *)old + head, payload.at, payload.size);
        }
        return 0;
    }
    struct event *created = queue_event_new(queue, old->flags, old->id_size,
                                            payload.size, old->owner_size);
    if (created == NULL) {
        return -ENOMEM;
    }
    memcpy(created, old, head);
    created->payload_size = (uint32_t)payload.size;
    (void)event_append(event_append((char *)created + head, payload),
                       event_owner(old));
    if (old->flags & EVENT_LEASED) {
        queue->leased_data += payload.size - old->payload_size;
    }
    table_replace(&place, created);
    queue_event_moved(queue, created);
    queue_event_free(queue, old);
    return 0;
}

bool
queue_remove(struct queue *queue, struct bytes id)
{
    struct table_place place;
    struct event *event = table_find(&queue->table, id, &place);

    if (event == NULL) {
        return false;
    }
    queue_unplace(queue, event);
    table_remove(&queue->table, &place);
    queue_event_free(queue, event); /* the caller's id may point into it */
    queue_total_add(QUEUE_TOTAL, -1);
    queue_shrink(queue);
    return true;
}

bool
queue_get(const struct queue *queue, struct bytes id, struct queue_event *out)
{
    struct table_place place;
    const struct event *event = table_find(&queue->table, id, &place);

    if (event != NULL && out != NULL) {
        queue_event_read(event, out);
    }
    return event != NULL;
}
