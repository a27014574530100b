/* queue.c - putting events in, changing them and taking them out.
 *
 * What is put in goes to the lawn, unless it is due before the time that is mown:
 * then it goes to ready, in order. On a master that happens only where the first
 * events have been asked for before their time, to be dropped; elsewhere it does
 * since a replica's clock may be ahead of its master's. Such events mostly come one
 * after the other, so the place of the last one is remembered. If that does not
 * help, all goes back to the lawn, at once: so no order of events makes putting them
 * in slow. As that costs as much as there are events, it is done when the steps in
 * ready have come to a share of them.
 *
 * A lawn does not grow. A queue of few events has a small one, and gets another
 * as it grows; all that waits then moves: at 4096 events, at 32768, and where there
 * are very many TTLs at 262144, which takes some 20 ms.
 *
 * A call takes all memory that it needs first, and so fails before anything has
 * changed. */
#include "queue_inside.h"

#include "late.h"
#include "memory.h"
#include "sizes.h"

#include <errno.h>
#include <stdatomic.h>

/* With so many events, a lawn of so many blades is replaced if most are in use. */
#define QUEUE_LARGE_BLADES 1024u
#define QUEUE_HUGE_COUNT 262144u

static _Atomic uint64_t queue_events;

void
queue_total_add(int64_t events)
{
    atomic_fetch_add_explicit(&queue_events, (uint64_t)events,
                              memory_order_relaxed);
}

uint64_t
queue_total(void)
{
    return atomic_load_explicit(&queue_events, memory_order_relaxed);
}

/* Gives a queue that has none a lawn at a position. False: no memory. */
static bool
queue_lay(struct queue *queue, unsigned size, uint64_t position)
{
    static const struct lawn_options sizes[] = {
        [QUEUE_SMALL] = {.blades = 8, .slot_bits = 4},
        [QUEUE_MIDDLE] = {.blades = 128, .slot_bits = 5},
        [QUEUE_LARGE] = {.blades = QUEUE_LARGE_BLADES, .slot_bits = 6},
        [QUEUE_HUGE] = {.slot_bits = 7},
    };
    struct lawn_options options = sizes[size];
    size_t needed;

    if (size == QUEUE_HUGE || options.blades > queue->blades) {
        options.blades = queue->blades;
    }
    options.now = position;
    needed = lawn_size(&options);
    queue->ground = memory_alloc(needed);
    if (queue->ground == NULL) {
        return false;
    }
    queue->lawn = lawn_place(queue->ground, needed, &options);
    queue->bytes += sizes_class(needed);
    queue->ground_size = needed;
    queue->size = size;
    queue->mown = position;
    return true;
}

static void
queue_ready_remove(struct queue *queue, struct event *event)
{
    struct event *prev = event->ready.prev;
    struct event *next = event->ready.next;

    if (prev != NULL) {
        prev->ready.next = next;
    } else {
        queue->first = next;
    }
    if (next != NULL) {
        next->ready.prev = prev;
    } else {
        queue->last = prev;
    }
    if (queue->near == event) {
        queue->near = prev;
    }
    queue->ready--;
    event->flags &= (uint8_t)~EVENT_READY;
}

/* As queue_relay() moves them. */
struct queue_moving {
    struct event *event;
    uint64_t ttl;
};

static bool
queue_relay_visit(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    struct queue_moving **next = arg;

    *(*next)++ =
        (struct queue_moving){LAWN_CONTAINER(timer, struct event, timer), ttl};
    return true;
}

bool
queue_relay(struct queue *queue, unsigned size, uint64_t position)
{
    struct queue before = *queue;
    bool back = position < queue->mown;
    uint64_t many = lawn_count(queue->lawn) + (back ? queue->ready : 0);
    struct queue_moving *all = memory_alloc((many + 1) * sizeof *all);
    struct queue_moving *next = all;

    if (all == NULL || !queue_lay(queue, size, position)) {
        memory_free(all);
        *queue = before;
        return false;
    }
    /* Those ready would have come first: alone, they come first there. */
    while (back && queue->first != NULL) {
        *next++ = (struct queue_moving){queue->first, 0};
        queue_ready_remove(queue, queue->first);
    }
    (void)lawn_each(before.lawn, queue_relay_visit, &next);
    lawn_set_now(queue->lawn, queue->now);
    queue->bytes -= sizes_class(before.ground_size);
    memory_free(before.ground);
    for (next = all; many > 0; many--, next++) {
        struct event *event = next->event;
        uint64_t due = lawn_due(&event->timer);

        memset(&event->timer, 0, sizeof event->timer);
        lawn_start_as(queue->lawn, &event->timer, next->ttl, due);
    }
    memory_free(all);
    queue->walked = 0;
    queue->counted = 0;
    return true;
}

uint64_t
queue_steps(const struct queue *queue)
{
    return queue->table.count / 16;
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
    if (!queue_lay(queue, QUEUE_SMALL, now)) {
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
    queue_total_add(-(int64_t)queue->table.count);
    table_clear(&queue->table);
    memory_free(queue->ground);
    memory_free(queue->late);
    memory_free(queue);
}

void
queue_tell(struct queue *queue, uint64_t now)
{
    if (now > queue->now) {
        queue->now = now;
        lawn_set_now(queue->lawn, now);
    }
}

uint64_t
queue_now(const struct queue *queue)
{
    return queue->now;
}

uint64_t
queue_next(struct queue *queue)
{
    return queue->first != NULL ? queue->first->ready.due
                                : lawn_next(queue->lawn);
}

uint64_t
queue_count(const struct queue *queue)
{
    return queue->table.count;
}

size_t
queue_bytes(const struct queue *queue)
{
    return queue->bytes + queue->table.bytes;
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

    lawn_stats(queue->lawn, &stats);
    return stats.live_blades;
}

struct queue_settings *
queue_settings(struct queue *queue)
{
    return &queue->settings;
}

struct queue_counts *
queue_counts(struct queue *queue)
{
    return &queue->counts;
}

bool
queue_idle(const struct queue *queue)
{
    const struct queue_settings *settings = &queue->settings;

    return queue->table.count == 0 && settings->max_events == 0 &&
           settings->max_bytes == 0 && settings->overflow == QUEUE_REJECT &&
           settings->resolution <= 1 && !settings->paused;
}

const struct late *
queue_late(const struct queue *queue)
{
    return queue->late;
}

void
queue_note_late(struct queue *queue, uint64_t ms)
{
    if (queue->late == NULL) {
        queue->late = memory_alloc(sizeof *queue->late);
        if (queue->late == NULL) {
            return;
        }
        *queue->late = (struct late){0};
        queue->bytes += sizes_class(sizeof *queue->late);
    }
    late_add(queue->late, ms);
}

uint64_t *
queue_armed(struct queue *queue)
{
    return &queue->armed;
}

struct event *
queue_event_new(struct queue *queue, unsigned flags, size_t id_size,
                size_t payload_size)
{
    struct event *event =
        memory_alloc(event_head(flags) + id_size + payload_size);

    if (event != NULL) {
        *event = (struct event){.payload_size = (uint32_t)payload_size,
                                .id_size = (uint16_t)id_size,
                                .flags = (uint8_t)flags};
        queue->bytes += event_bytes(event);
        queue->data += id_size + payload_size;
    }
    return event;
}

void
queue_event_free(struct queue *queue, struct event *event)
{
    queue->bytes -= event_bytes(event);
    queue->data -= (uint64_t)event->id_size + event->payload_size;
    memory_free(event);
}

/* Another block with the id of an event, and its payload unless there is
 * another; in no place. */
static struct event *
queue_event_like(struct queue *queue, const struct queue_event *like)
{
    unsigned flags = (like->alone ? EVENT_ALONE : 0) |
                     (like->repeat.period != 0 ? EVENT_REPEAT : 0);
    struct event *event =
        queue_event_new(queue, flags, like->id.size, like->payload.size);
    char *at;

    if (event == NULL) {
        return NULL;
    }
    at = (char *)(event + 1);
    if (flags & EVENT_REPEAT) {
        memcpy(at, &like->repeat, sizeof like->repeat);
        at += sizeof like->repeat;
    }
    if (like->id.size > 0) {
        memcpy(at, like->id.at, like->id.size);
        at += like->id.size;
    }
    if (like->payload.size > 0) {
        memcpy(at, like->payload.at, like->payload.size);
    }
    return event;
}

void
queue_tell_of(const struct event *event, struct queue_event *out)
{
    out->id = event_id(event);
    out->payload = event_payload(event);
    out->due = event_due(event);
    out->ttl = 0;
    out->alone = (event->flags & EVENT_ALONE) != 0;
    out->repeat = (struct queue_repeat){0, 0, 0};
    if (event->flags & EVENT_REPEAT) {
        memcpy(&out->repeat, event + 1, sizeof out->repeat);
    }
}

/* The last event that is not due after that time; NULL if all are. *steps: how
 * many may be looked at, and how many are left. */
static struct event *
queue_ready_find(const struct queue *queue, uint64_t due, uint64_t *steps)
{
    struct event *at = queue->last;

    if (at != NULL && at->ready.due > due && queue->near != NULL) {
        at = queue->near;
    }
    while (at != NULL && at->ready.due > due && *steps > 0) {
        at = at->ready.prev;
        --*steps;
    }
    while (at != NULL && at->ready.next != NULL &&
           at->ready.next->ready.due <= due && *steps > 0) {
        at = at->ready.next;
        --*steps;
    }
    return at;
}

void
queue_ready_add(struct queue *queue, struct event *event, uint64_t due)
{
    uint64_t steps = UINT64_MAX;
    struct event *prev = queue_ready_find(queue, due, &steps);
    struct event *next = prev != NULL ? prev->ready.next : queue->first;

    event->flags |= EVENT_READY;
    event->ready = (struct event_link){next, prev, due};
    if (prev != NULL) {
        prev->ready.next = event;
    } else {
        queue->first = event;
    }
    if (next != NULL) {
        next->ready.prev = event;
        queue->near = event;
    } else {
        queue->last = event;
    }
    queue->ready++;
}

/* Takes an event out of its place, but not out of the table. */
static void
queue_displace(struct queue *queue, struct event *event)
{
    if (event->flags & EVENT_READY) {
        queue_ready_remove(queue, event);
    } else {
        queue->lost |= lawn_due(&event->timer) == queue->told;
        (void)lawn_stop(queue->lawn, &event->timer);
    }
    memset(&event->timer, 0, sizeof event->timer);
}

/* Whether the place of an event in ready was found by few steps, or by many that
 * all together cost less than a relay; if so, it is near now. */
static bool
queue_near(struct queue *queue, uint64_t due)
{
    uint64_t many = queue_steps(queue);
    uint64_t most = QUEUE_STEPS;
    uint64_t steps;
    struct event *at;

    if (many > queue->walked) {
        most += many - queue->walked;
    }
    steps = most;
    at = queue_ready_find(queue, due, &steps);
    if (most - steps > QUEUE_STEPS) {
        queue->walked += most - steps - QUEUE_STEPS;
        queue->near = at != NULL ? at : queue->first;
    }
    return steps > 0;
}

uint64_t
queue_back(const struct queue *queue, uint64_t due)
{
    uint64_t position = queue->mown - 1;

    position = queue->now < position ? queue->now : position;
    position = due < position ? due : position;
    if (queue->first != NULL && queue->first->ready.due < position) {
        position = queue->first->ready.due;
    }
    return position;
}

/* Puts an event in its place: due and ttl as in struct queue_event. */
static void
queue_place(struct queue *queue, struct event *event,
            const struct queue_event *as)
{
    uint64_t due = as->due < LAWN_NEVER ? as->due : LAWN_NEVER - 1;

    queue_tell(queue, as->ttl < due ? due - as->ttl : 0);
    if (due < queue->mown &&
        (queue_near(queue, due) ||
         !queue_relay(queue, queue->size, queue_back(queue, due)))) {
        queue_ready_add(queue, event, due);
        return;
    }
    lawn_start_as(queue->lawn, &event->timer, as->alone ? 0 : as->ttl, due);
}

/* There is to be one event more: a lawn that gets too small is replaced, if there
 * is memory for another. Most need no more blades than a large one has. */
static void
queue_grow(struct queue *queue)
{
    static const uint64_t most[] = {
        [QUEUE_SMALL] = 4096, [QUEUE_MIDDLE] = 32768};
    uint64_t count = queue->table.count;

    if (queue->size < QUEUE_LARGE
            ? count >= most[queue->size]
            : queue->size == QUEUE_LARGE && count == QUEUE_HUGE_COUNT &&
                  queue->blades > QUEUE_LARGE_BLADES &&
                  queue_ttls(queue) > QUEUE_LARGE_BLADES / 4 * 3) {
        (void)queue_relay(queue, queue->size + 1, queue->mown);
    }
}

/* Puts an event where another is, which goes. */
static void
queue_supplant(struct queue *queue, const struct table_place *place,
               struct event *old, struct event *event,
               const struct queue_event *as)
{
    table_replace(place, event);
    queue_displace(queue, old);
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
    queue_total_add(1);
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

        chain = event->ready.next;
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
        if (event != NULL && table_find(&queue->table, events[i].id, &place)) {
            end = &event->ready.next;
        } else if (event != NULL && table_reserve(&queue->table, &place)) {
            table_add(&queue->table, &place, event);
            end = &event->ready.next;
        } else {
            queue_put_none(queue, chain);
            return -ENOMEM;
        }
    }
    *added = queue->table.count - before;
    queue_total_add((int64_t)*added);
    for (i = 0; i < count; i++) {
        struct event *event = chain;
        struct event *old = table_find(&queue->table, event_id(event), &place);

        chain = event->ready.next;
        event->timer = (struct lawn_timer){{NULL, NULL}, 0};
        queue_grow(queue);
        if (old == event) {
            queue_place(queue, event, &events[i]);
        } else {
            queue_supplant(queue, &place, old, event, &events[i]);
        }
    }
    return 0;
}

int
queue_move(struct queue *queue, const struct queue_event *event)
{
    struct table_place place;
    struct event *old = table_find(&queue->table, event->id, &place);
    bool repeats = event->repeat.period != 0;

    if (old == NULL) {
        return -ENOENT;
    }
    if (((old->flags & EVENT_REPEAT) != 0) != repeats) {
        struct queue_event like = *event;
        struct event *created;

        like.payload = event_payload(old);
        created = queue_event_like(queue, &like);
        if (created == NULL) {
            return -ENOMEM;
        }
        queue_supplant(queue, &place, old, created, event);
        return 0;
    }
    if (repeats) {
        memcpy(old + 1, &event->repeat, sizeof event->repeat);
    }
    queue_displace(queue, old);
    old->flags = (uint8_t)((old->flags & ~EVENT_ALONE) |
                           (event->alone ? EVENT_ALONE : 0));
    queue_place(queue, old, event);
    return 0;
}

void
queue_event_moved(struct queue *queue, struct event *event)
{
    if ((event->flags & EVENT_READY) == 0) {
        lawn_moved(queue->lawn, &event->timer);
        return;
    }
    if (event->ready.prev != NULL) {
        event->ready.prev->ready.next = event;
    } else {
        queue->first = event;
    }
    if (event->ready.next != NULL) {
        event->ready.next->ready.prev = event;
    } else {
        queue->last = event;
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
    created = queue_event_new(queue, old->flags, old->id_size, payload.size);
    if (created == NULL) {
        return -ENOMEM;
    }
    memcpy(created, old, head);
    created->payload_size = (uint32_t)payload.size;
    if (payload.size > 0) {
        memcpy((char *)created + head, payload.at, payload.size);
    }
    table_replace(&place, created);
    if (queue->near == old) {
        queue->near = created;
    }
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
    queue_total_add(-1);
    if (queue->table.count == 0 && queue->size != QUEUE_SMALL) {
        (void)queue_relay(queue, QUEUE_SMALL, queue->mown);
    }
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
