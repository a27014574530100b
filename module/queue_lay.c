/* queue_lay.c - the fields of a queue: what stands in a lawn, and what beside it; how
 * large lawns are, and when they are replaced.
 *
 * A lawn is for events of equal delays: these take no memory of it and cost nothing
 * until they are due. Those that share their delay with no others would stand in its
 * index, of which a whole slot comes up at once, be there a million in it. So they go
 * to the heap beside it: what has a time of its own, what is for a time that the lawn
 * has passed or is before the last of its delay, and, once there are many, what has a
 * delay that is not among those known.
 *
 * A delay becomes known where there is room, and else now and then in the place of
 * one that was not used for longest: so those that are often used are known before
 * long, and of a million delays that come once few are; its first event is in the
 * heap. On a master none that was used is forgotten within a millisecond. So events
 * of one delay and time that come into both come into the heap first, and there they
 * are taken first.
 *
 * A lawn does not grow. A queue of few events has a small one, and gets another
 * as it grows; all that waits there then moves: at 4096 events, and at 16384, which
 * takes a millisecond or two and is the last time. That of leases grows with it. */
#include "memory.h"
#include "queue_inside.h"
#include "sizes.h"

#define QUEUE_WAYS 4u
/* So many are put in beside before one more delay takes the place of another: of a
 * million some 4,000 do, and most find a blade. */
#define QUEUE_RARELY 256u
/* So many events of any delay may come to a lawn at the time at which it was laid. */
#define QUEUE_SPARE 32768u

/* LAWNS */

/* How many sets of delays are known for so many blades, as a power of two: half as
 * many delays, and as a lawn has twice the blades, the others find one, too. */
static size_t
queue_lay_sets(size_t blades)
{
    size_t sets = 1;

    while (sets * 4 * QUEUE_WAYS <= blades) {
        sets *= 2;
    }
    return sets;
}

bool
queue_lay(struct queue *queue, struct queue_field *field, unsigned size,
          uint64_t position)
{
    static const struct lawn_options sizes[] = {
        [QUEUE_SMALL] = {.blades = 8, .slot_bits = 4},
        [QUEUE_MIDDLE] = {.blades = 128, .slot_bits = 5},
        [QUEUE_LARGE] = {.blades = SIZE_MAX, .slot_bits = 6},
        [QUEUE_BESIDE] = {.blades = 1024, .slot_bits = 5},
    };
    struct lawn_options options = sizes[size];
    size_t known = 0;
    size_t needed;

    if (options.blades > queue->blades) {
        options.blades = queue->blades;
    }
    options.now = position;
    needed = lawn_size(&options);
    field->sets = 0;
    if (size != QUEUE_SMALL) {
        field->sets = queue_lay_sets(options.blades);
        known = field->sets * QUEUE_WAYS * sizeof(struct queue_delay);
    }
    field->ground = memory_alloc(known + needed);
    if (field->ground == NULL) {
        return false;
    }
    memset(field->ground, 0, known);
    field->delays = known > 0 ? field->ground : NULL;
    field->lawn = lawn_place((char *)field->ground + known, needed, &options);
    field->size = known + needed;
    field->mown = position;
    field->laid = LAWN_NEVER;
    field->since = 0;
    queue->bytes += sizes_class(field->size);
    lawn_set_now(field->lawn, queue->now);
    return true;
}

/* Gives a lawn's memory back. */
static void
queue_lift(struct queue *queue, struct queue_field *field)
{
    if (field->lawn != NULL) {
        queue->bytes -= sizes_class(field->size);
        memory_free(field->ground);
        field->lawn = NULL;
        field->ground = NULL;
    }
}

/* DELAYS */

/* Whether an event may stand among those of its delay; and notes that there are such.
 * The first one may not: delays that come once would fill the lawn with queues of
 * one. */
static bool
queue_field_knows(const struct queue *queue, struct queue_field *field,
                  uint64_t ttl, uint64_t time)
{
    struct queue_delay *set;
    struct queue_delay *oldest;
    size_t i;

    if (field->delays == NULL) {
        return true;
    }
    set = field->delays +
          QUEUE_WAYS *
              ((ttl * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (field->sets - 1));
    oldest = set;
    for (i = 0; i < QUEUE_WAYS; i++) {
        if (set[i].ttl == ttl) {
            bool last = time >= set[i].due;

            set[i].due = last ? time : set[i].due;
            return last;
        }
        if (set[i].due - set[i].ttl < oldest->due - oldest->ttl) {
            oldest = &set[i];
        }
    }
    if (oldest->ttl == 0 || (++field->since >= QUEUE_RARELY &&
                             oldest->due - oldest->ttl < queue->now)) {
        *oldest = (struct queue_delay){ttl, time};
        field->since = 0;
        /* A lawn that finds no queue for most may try none for a while, whatever
         * the delay: told its resolution, it begins to count anew. */
        lawn_set_resolution(field->lawn, 1);
    }
    /* It may have been known before. */
    if (field->laid != queue->now || field->spare == 0) {
        return false;
    }
    field->spare--;
    return true;
}

/* FIELDS */

/* Without memory for the heap it is one of the lawn's, if it can be. */
bool
queue_field_add(struct queue *queue, struct queue_field *field,
                struct event *event, uint64_t ttl, uint64_t time)
{
    bool passed = time < field->mown;
    bool alone = passed || ttl == 0 || ttl > time ||
                 !queue_field_knows(queue, field, ttl, time);

    if (alone && heap_reserve(&field->heap, 1)) {
        event->flags |= EVENT_HEAP;
        heap_add(&field->heap, event, time, queue->order++, queue->now);
        return true;
    }
    if (!passed) {
        memset(&event->timer, 0, sizeof event->timer);
        lawn_start_as(field->lawn, &event->timer, ttl, time);
    }
    return !passed;
}

uint64_t
queue_field_count(const struct queue_field *field)
{
    return field->heap.count +
           (field->lawn != NULL ? lawn_count(field->lawn) : 0);
}

uint64_t
queue_field_next(const struct queue_field *field)
{
    uint64_t next = field->lawn != NULL ? lawn_next(field->lawn) : LAWN_NEVER;
    uint64_t other = heap_next(&field->heap);

    return next < other ? next : other;
}

/* ANOTHER LAWN */

/* As they are moved. */
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

/* A lawn in the place of one, and what was there on it. False: no memory, and it is
 * as it was. */
static bool
queue_relay_field(struct queue *queue, struct queue_field *field, unsigned size,
                  uint64_t position)
{
    struct queue_field before = *field;
    uint64_t many = lawn_count(before.lawn);
    struct queue_moving *all = memory_alloc((many + 1) * sizeof *all);
    struct queue_moving *next = all;
    size_t i;

    if (all == NULL || !queue_lay(queue, field, size, position)) {
        memory_free(all);
        *field = before;
        return false;
    }
    field->laid = queue->now;
    field->spare = QUEUE_SPARE;
    (void)lawn_each(before.lawn, queue_relay_visit, &next);
    queue_lift(queue, &before);
    for (i = 0; i < many; i++) {
        struct lawn_timer *timer = &all[i].event->timer;
        uint64_t time = lawn_due(timer);

        memset(timer, 0, sizeof *timer);
        lawn_start_as(field->lawn, timer, all[i].ttl, time);
        if (all[i].ttl > 0 && all[i].ttl <= time) {
            (void)queue_field_knows(queue, field, all[i].ttl, time);
        }
    }
    memory_free(all);
    return true;
}

bool
queue_relay(struct queue *queue, unsigned size, uint64_t position)
{
    if (!queue_relay_field(queue, &queue->waiting, size, position)) {
        return false;
    }
    queue->size = size;
    return true;
}

void
queue_grow(struct queue *queue)
{
    static const uint64_t most[] = {[QUEUE_SMALL] = 4096,
                                    [QUEUE_MIDDLE] = 16384,
                                    [QUEUE_LARGE] = UINT64_MAX};

    if (queue->table.count >= most[queue->size] &&
        queue_relay(queue, queue->size + 1, queue->waiting.mown) &&
        queue->leases.lawn != NULL) {
        (void)queue_relay_field(queue, &queue->leases, queue_lease_size(queue),
                                queue->leases.mown);
    }
}

void
queue_shrink(struct queue *queue)
{
    if (queue->table.count == 0) {
        queue_lift(queue, &queue->leases);
        heap_clear(&queue->leases.heap);
        heap_clear(&queue->waiting.heap);
        heap_clear(&queue->passed);
        if (queue->size != QUEUE_SMALL) {
            (void)queue_relay(queue, QUEUE_SMALL, queue->waiting.mown);
        }
    }
}
