/* queue.c - putting events in, changing them and taking them out.
 *
 * What is put in waits, whatever its time: also if that has passed, as it may on a
 * replica whose clock is ahead of its master's, until someone asks what is due. Then
 * it mostly goes to the end of ready. What is before the end goes to the heap of what
 * has passed, and from there to its place when those before it are asked for: so no
 * order of events makes it slow.
 *
 * A call takes all memory that it needs first, and so fails before anything has
 * changed. */
#include "queue_inside.h"

#include "late.h"
#include "memory.h"
#include "sizes.h"

#include <errno.h>
#include <stdatomic.h>

static _Atomic uint64_t queue_totals[QUEUE_TOTALS];

void
queue_total_add(enum queue_totals which, int64_t events)
{
    atomic_fetch_add_explicit(&queue_totals[which], (uint64_t)events,
                              memory_order_relaxed);
}

uint64_t
queue_total(enum queue_totals which)
{
    return atomic_load_explicit(&queue_totals[which], memory_order_relaxed);
}

/* LISTS */

void
queue_list_add(struct queue_list *list, struct event *event, struct event *prev)
{
    struct event *next = prev != NULL ? prev->link.next : list->first;

    event->link.next = next;
    event->link.prev = prev;
    list->count++;
    queue_list_moved(list, event);
}

void
queue_list_remove(struct queue_list *list, struct event *event)
{
    struct event *prev = event->link.prev;
    struct event *next = event->link.next;

    if (prev != NULL) {
        prev->link.next = next;
    } else {
        list->first = next;
    }
    if (next != NULL) {
        next->link.prev = prev;
    } else {
        list->last = prev;
    }
    list->count--;
}

bool
queue_list_next(const struct queue_list *list, const void **cursor,
                struct queue_event *out)
{
    const struct event *before = *cursor;
    const struct event *event =
        before != NULL ? before->link.next : list->first;

    if (event == NULL) {
        return false;
    }
    queue_tell_of(event, out);
    *cursor = event;
    return true;
}

void
queue_list_moved(struct queue_list *list, struct event *event)
{
    if (event->link.prev != NULL) {
        event->link.prev->link.next = event;
    } else {
        list->first = event;
    }
    if (event->link.next != NULL) {
        event->link.next->link.prev = event;
    } else {
        list->last = event;
    }
}

struct queue *
queue_new(uint64_t now, size_t blades)
{
    struct queue *queue = memory_alloc(sizeof *queue);

    if (queue == NULL) {
        return NULL;
    }
    *queue = (struct queue){.now = now, .blades = blades, .armed = LAWN_NEVER};
    queue->bytes = sizes_class(sizeof *queue);
    if (!queue_lay(queue, &queue->waiting, QUEUE_SMALL, now)) {
        memory_free(queue);
        return NULL;
    }
    return queue;
}

void
queue_free(struct queue *queue)
{
    uint64_t hash = 0;

    if (queue == NULL) {
        return;
    }
    if (queue->table.count > 0) {
        do {
            const struct table_segment *segment =
                table_segment(&queue->table, hash);
            size_t i;

            for (i = 0; i < segment->used; i++) {
                memory_free(table_events(segment)[i]);
            }
            hash = table_end(segment, hash);
        } while (hash != 0);
    }
    queue_total_add(QUEUE_TOTAL, -(int64_t)queue->table.count);
    queue_total_add(QUEUE_TOTAL_LEASED, -(int64_t)queue_leased_count(queue));
    queue_total_add(QUEUE_TOTAL_DEAD, -(int64_t)queue->dead.count);
    table_clear(&queue->table);
    memory_free(queue->waiting.ground);
    memory_free(queue->leases.ground);
    heap_clear(&queue->waiting.heap);
    heap_clear(&queue->leases.heap);
    heap_clear(&queue->passed);
    memory_free(queue->late);
    queue_sink_free(queue);
    memory_free(queue);
}

void
queue_tell(struct queue *queue, uint64_t now)
{
    if (now > queue->now) {
        queue->now = now;
        lawn_set_now(queue->waiting.lawn, now);
        if (queue->leases.lawn != NULL) {
            lawn_set_now(queue->leases.lawn, now);
        }
    }
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
    struct lawn_stats stats;

    lawn_stats(queue->waiting.lawn, &stats);
    return stats.live_blades;
}

/* EVENTS */

struct event *
queue_event_new(struct queue *queue, unsigned flags, size_t id_size,
                size_t payload_size, size_t owner_size)
{
    struct event *event =
        memory_alloc(event_head(flags) + id_size + payload_size + owner_size);

    if (event != NULL) {
        *event = (struct event){.payload_size = (uint32_t)payload_size,
                                .id_size = (uint16_t)id_size,
                                .flags = (uint8_t)flags,
                                .owner_size = (uint8_t)owner_size};
        queue->bytes += event_bytes(event);
        queue->data += event_data(event);
    }
    return event;
}

void
queue_event_free(struct queue *queue, struct event *event)
{
    queue->bytes -= event_bytes(event);
    queue->data -= event_data(event);
    memory_free(event);
}

static char *
queue_event_append(char *at, struct bytes bytes)
{
    if (bytes.size > 0) {
        memcpy(at, bytes.at, bytes.size);
    }
    return at + bytes.size;
}

static unsigned
queue_event_flags(const struct queue_event *like)
{
    bool tries =
        like->tries.made > 0 || like->tries.most > 0 || like->lease.token != 0;

    return (like->alone ? EVENT_ALONE : 0) |
           (like->repeat.period != 0 ? EVENT_REPEAT : 0) |
           (tries ? EVENT_TRIES : 0);
}

/* What time is to be told of one: later ones are as far away. */
static uint64_t
queue_event_due(const struct queue_event *as)
{
    return as->due < LAWN_NEVER ? as->due : LAWN_NEVER - 1;
}

struct event *
queue_event_like(struct queue *queue, const struct queue_event *like)
{
    unsigned flags = queue_event_flags(like);
    struct bytes owner = {NULL, 0};
    struct event *event;
    char *at;

    if (like->lease.token != 0) {
        owner = like->lease.owner;
    }
    event = queue_event_new(queue, flags, like->id.size, like->payload.size,
                            owner.size);
    if (event == NULL) {
        return NULL;
    }
    at = (char *)(event + 1);
    if (flags & EVENT_REPEAT) {
        memcpy(at, &like->repeat, sizeof like->repeat);
        at += sizeof like->repeat;
    }
    if (flags & EVENT_TRIES) {
        event_set_tries(event, &(struct event_tries){
                                   queue_event_due(like), like->lease.token,
                                   like->tries.made, like->tries.most});
        at += sizeof(struct event_tries);
    }
    at = queue_event_append(at, like->id);
    at = queue_event_append(at, like->payload);
    (void)queue_event_append(at, owner);
    return event;
}

void
queue_tell_of(const struct event *event, struct queue_event *out)
{
    const struct event_tries *tries = event_tries(event);

    *out = (struct queue_event){.id = event_id(event),
                                .payload = event_payload(event),
                                .due = event_due(event),
                                .alone = (event->flags & EVENT_ALONE) != 0};
    if (event->flags & EVENT_REPEAT) {
        memcpy(&out->repeat, event + 1, sizeof out->repeat);
    }
    if (tries != NULL) {
        out->tries = (struct queue_tries){tries->made, tries->most};
        if (tries->token != 0) {
            out->lease = (struct queue_lease){.token = tries->token,
                                              .end = event_time(event),
                                              .owner = event_owner(event)};
        }
    }
}

/* PLACES */

/* Without memory all is in the list, be it long. */
void
queue_ready_add(struct queue *queue, struct event *event, uint64_t time)
{
    struct event *prev = queue->ready.last;

    event->flags |= EVENT_READY;
    queue->asked = time > queue->asked ? time : queue->asked;
    if ((prev != NULL && time < prev->link.time) ||
        (queue->passed.count > 0 && time <= queue->passed_until)) {
        if (heap_reserve(&queue->passed, 1)) {
            if (queue->passed.count == 0 || time > queue->passed_until) {
                queue->passed_until = time;
            }
            event->flags |= EVENT_HEAP;
            heap_add(&queue->passed, event, time, queue->order++, queue->now);
            return;
        }
        while (prev != NULL && prev->link.time > time) {
            prev = prev->link.prev;
        }
    }
    event->link.time = time;
    queue_list_add(&queue->ready, event, prev);
}

struct heap *
queue_heap_of(struct queue *queue, const struct event *event)
{
    return event->flags & EVENT_READY    ? &queue->passed
           : event->flags & EVENT_LEASED ? &queue->leases.heap
                                         : &queue->waiting.heap;
}

void
queue_displace(struct queue *queue, struct event *event)
{
    if (event->flags & EVENT_HEAP) {
        heap_remove(queue_heap_of(queue, event), event);
    } else if (event->flags & EVENT_DEAD) {
        queue_list_remove(&queue->dead, event);
        queue_total_add(QUEUE_TOTAL_DEAD, -1);
    } else if (event->flags & EVENT_READY) {
        queue_list_remove(&queue->ready, event);
    } else if (event->flags & EVENT_LEASED) {
        (void)lawn_stop(queue->leases.lawn, &event->timer);
    } else {
        (void)lawn_stop(queue->waiting.lawn, &event->timer);
    }
    if (event->flags & EVENT_LEASED) {
        queue_lease_over(queue, event);
    }
    event->flags &= (uint8_t) ~(EVENT_DEAD | EVENT_READY | EVENT_HEAP);
}

/* Puts an event in its place: its times as in struct queue_event. */
static void
queue_place(struct queue *queue, struct event *event,
            const struct queue_event *as)
{
    uint64_t due = queue_event_due(as);

    queue_tell(queue, as->ttl < due ? due - as->ttl : 0);
    if (event_token(event) != 0) {
        queue_lease_place(queue, event, as->lease.ttl, as->lease.end);
    } else if (event_spent(event)) {
        queue_dead_add(queue, event, due);
    } else if (!queue_field_add(queue, &queue->waiting, event,
                                as->alone ? 0 : as->ttl, due)) {
        queue_ready_add(queue, event, due);
    }
}

/* What a call needs beside blocks of events: that of one that is told with a lease.
 * False: no memory. */
static bool
queue_place_room(struct queue *queue, const struct queue_event *as)
{
    return as->lease.token == 0 || queue_lease_room(queue);
}

/* Puts an event where another is, which goes. */
static void
queue_supplant(struct queue *queue, const struct table_place *place,
               struct event *old, struct event *event,
               const struct queue_event *as)
{
    table_replace(place, event);
    queue_displace(queue, old);
    queue_tell_token(queue, event_token(event));
    queue_place(queue, event, as);
    queue_event_free(queue, old); /* the caller's bytes may be its */
}

int
queue_put(struct queue *queue, const struct queue_event *event)
{
    struct table_place place;
    struct event *old = table_find(&queue->table, event->id, &place);
    struct event *created = queue_event_like(queue, event);

    if (created == NULL) {
        return -ENOMEM;
    }
    if (!queue_place_room(queue, event)) {
        queue_event_free(queue, created);
        return -ENOMEM;
    }
    if (old != NULL) {
        queue_supplant(queue, &place, old, created, event);
        return 1;
    }
    if (!table_reserve(&queue->table, &place)) {
        queue_event_free(queue, created);
        return -ENOMEM;
    }
    queue_grow(queue);
    table_add(&queue->table, &place, created);
    queue_total_add(QUEUE_TOTAL, 1);
    queue_tell_token(queue, event_token(created));
    queue_place(queue, created, event);
    return 0;
}

/* Takes back what queue_put_all() has prepared: a chain of blocks, of which some
 * are in the table already. */
static void
queue_put_none(struct queue *queue, struct event *chain)
{
    while (chain != NULL) {
        struct event *event = chain;
        struct table_place place;

        chain = event->link.next;
        if (table_find(&queue->table, event_id(event), &place) == event) {
            table_remove(&queue->table, &place);
        }
        queue_event_free(queue, event);
    }
}

/* All blocks, and places in the table for those that have none, come first; what
 * comes then cannot fail. Two of one id: the second finds the first there. */
int
queue_put_all(struct queue *queue, const struct queue_event *events,
              size_t count, uint64_t *added)
{
    struct event *chain = NULL;
    struct event **end = &chain;
    struct table_place place;
    uint64_t before = queue->table.count;
    size_t i;

    for (i = 0; i < count; i++) {
        struct event *event = queue_event_like(queue, &events[i]);

        *end = event;
        if (event != NULL && !queue_place_room(queue, &events[i])) {
            queue_put_none(queue, chain);
            return -ENOMEM;
        }
        if (event != NULL && table_find(&queue->table, events[i].id, &place)) {
            end = &event->link.next;
        } else if (event != NULL && table_reserve(&queue->table, &place)) {
            table_add(&queue->table, &place, event);
            end = &event->link.next;
        } else {
            queue_put_none(queue, chain);
            return -ENOMEM;
        }
    }
    *added = queue->table.count - before;
    queue_total_add(QUEUE_TOTAL, (int64_t)*added);
    for (i = 0; i < count; i++) {
        struct event *event = chain;
        struct event *old = table_find(&queue->table, event_id(event), &place);

        chain = event->link.next;
        queue_grow(queue);
        if (old == event) {
            queue_tell_token(queue, event_token(event));
            queue_place(queue, event, &events[i]);
        } else {
            queue_supplant(queue, &place, old, event, &events[i]);
        }
    }
    return 0;
}

/* Nothing is given back that an event has no use for: so to be rid of tries, or of
 * who has it, needs no memory. */
int
queue_move(struct queue *queue, const struct queue_event *event)
{
    struct table_place place;
    struct event *old = table_find(&queue->table, event->id, &place);
    struct queue_event like = *event;
    struct event *created;
    unsigned flags;

    if (old == NULL) {
        return -ENOENT;
    }
    like.lease.token = 0;
    flags = queue_event_flags(&like);
    if (((old->flags ^ flags) & EVENT_REPEAT) != 0 ||
        (flags & ~old->flags & EVENT_TRIES) != 0) {
        like.payload = event_payload(old);
        created = queue_event_like(queue, &like);
        if (created == NULL) {
            return -ENOMEM;
        }
        queue_supplant(queue, &place, old, created, &like);
        return 0;
    }
    if (flags & EVENT_REPEAT) {
        memmove(old + 1, &event->repeat, sizeof event->repeat);
    }
    queue_displace(queue, old);
    if (old->flags & EVENT_TRIES) {
        event_set_tries(old, &(struct event_tries){queue_event_due(&like), 0,
                                                   like.tries.made,
                                                   like.tries.most});
    }
    old->flags = (uint8_t)((old->flags & ~EVENT_ALONE) | (flags & EVENT_ALONE));
    queue_place(queue, old, &like);
    return 0;
}

void
queue_event_moved(struct queue *queue, struct event *event)
{
    if (event->flags & EVENT_HEAP) {
        heap_moved(queue_heap_of(queue, event), event);
    } else if (event->flags & EVENT_DEAD) {
        queue_list_moved(&queue->dead, event);
    } else if (event->flags & EVENT_READY) {
        queue_list_moved(&queue->ready, event);
    } else if (event->flags & EVENT_LEASED) {
        lawn_moved(queue->leases.lawn, &event->timer);
    } else {
        lawn_moved(queue->waiting.lawn, &event->timer);
    }
}

int
queue_update(struct queue *queue, struct bytes id, struct bytes payload)
{
    struct table_place place;
    struct event *old = table_find(&queue->table, id, &place);
    struct event *created;
    size_t head;

    if (old == NULL) {
        return -ENOENT;
    }
    head = event_head(old->flags) + old->id_size;
    if (payload.size == old->payload_size) {
        if (payload.size > 0) {
            memmove((char *)old + head, payload.at, payload.size);
        }
        return 0;
    }
    created = queue_event_new(queue, old->flags, old->id_size, payload.size,
                              old->owner_size);
    if (created == NULL) {
        return -ENOMEM;
    }
    memcpy(created, old, head);
    created->payload_size = (uint32_t)payload.size;
    (void)queue_event_append(
        queue_event_append((char *)created + head, payload), event_owner(old));
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
    queue_displace(queue, event);
    table_remove(&queue->table, &place);
    queue_event_free(queue, event); /* the caller's id may be its */
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
        queue_tell_of(event, out);
    }
    return event != NULL;
}
