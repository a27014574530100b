/* queue_timeline.c - a queue's events by time: a lawn, and a heap next to it.
 *
 * The lawn is for events that share their TTL: there they need no additional
 * memory. Events with unique TTLs would all be in the lawn's index. There, all
 * events of a far slot must be moved before its first one can fire, even if
 * they are a million. So the heap is for events with an individual time, events
 * whose time the lawn has passed, events that are due before the last event of
 * their TTL, and, once there are many events, those with an unknown TTL.
 *
 * A TTL becomes known if there is room. Otherwise it occasionally replaces the
 * least recently used TTL. So frequent TTLs become known quickly. Of a million
 * TTLs that occur once, only a few become known.
 *
 * Until a TTL is known, its events are added to the heap, including the one by
 * which it becomes known; later events are added to the lawn. Events of the
 * same TTL and time are pushed in the same millisecond. On a master, no other
 * TTL replaces theirs within that millisecond. So of these events, those in the
 * heap were pushed before those in the lawn, and are taken first.
 *
 * At 4096 and at 16384 events, a larger lawn replaces a queue's lawn, and all
 * timers move. That takes one or two milliseconds. The lawn of the leases grows
 * with it. */
#include "memory.h"
#include "queue_inside.h"
#include "sizes.h"

/* Known TTLs are a set-associative table. */
#define KNOWN_WAYS 4u
/* After this number of refused events, a new TTL replaces a known one. */
#define REFUSED_MIN 256u
/* Initial value of spare in struct queue_timeline. */
#define SPARE 32768u

/* LAWNS */

/* Returns the number of sets in the table of known TTLs, a power of two. Known
 * TTLs take at most half of the blades, so that events of other TTLs find a
 * blade, too. */
static size_t
count_known_sets(size_t blades)
{
    size_t sets = 1;

    while (sets * 4 * KNOWN_WAYS <= blades) {
        sets *= 2;
    }
    return sets;
}

bool
queue_timeline_open(struct queue *queue, struct queue_timeline *timeline,
                    unsigned size, uint64_t position)
{
    static const struct lawn_options sizes[] = {
        [QUEUE_SMALL] = {.blades = 8, .slot_bits = 4},
        [QUEUE_MIDDLE] = {.blades = 128, .slot_bits = 4},
        [QUEUE_LARGE] = {.blades = SIZE_MAX, .slot_bits = 5},
        [QUEUE_LEASES] = {.blades = 1024, .slot_bits = 4},
    };
    struct lawn_options options = sizes[size];
    size_t known_size = 0;

    if (options.blades > queue->blades) {
        options.blades = queue->blades;
    }
    options.now = position;
    size_t needed = lawn_size(&options);
    timeline->sets = 0;
    if (size != QUEUE_SMALL) {
        timeline->sets = count_known_sets(options.blades);
        known_size =
            timeline->sets * KNOWN_WAYS * sizeof(struct queue_known_ttl);
    }
    timeline->memory = memory_alloc(known_size + needed);
    if (timeline->memory == NULL) {
        return false;
    }
    memset(timeline->memory, 0, known_size);
    timeline->known = known_size > 0 ? timeline->memory : NULL;
    timeline->lawn =
        lawn_place((char *)timeline->memory + known_size, needed, &options);
    timeline->size = known_size + needed;
    timeline->mown = position;
    timeline->replaced = LAWN_NEVER;
    timeline->refused = 0;
    queue->bytes += sizes_class(timeline->size);
    lawn_set_now(timeline->lawn, queue->now);
    return true;
}

static void
close_timeline(struct queue *queue, struct queue_timeline *timeline)
{
    if (timeline->lawn != NULL) {
        queue->bytes -= sizes_class(timeline->size);
        memory_free(timeline->memory);
        timeline->lawn = NULL;
        timeline->memory = NULL;
    }
}

/* KNOWN TTLS */

/* Returns true if the lawn accepts an event, and records the use of its TTL.
 * The first event of a TTL is not accepted, because TTLs that occur once would
 * fill the lawn. */
static bool
accepts_ttl(const struct queue *queue, struct queue_timeline *timeline,
            uint64_t ttl, uint64_t time)
{

    if (timeline->known == NULL) {
        return true;
    }
    struct queue_known_ttl *set =
        timeline->known +
        KNOWN_WAYS *
            ((ttl * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (timeline->sets - 1));
    struct queue_known_ttl *oldest = set;
    for (size_t i = 0; i < KNOWN_WAYS; i++) {
        if (set[i].ttl == ttl) {
            bool last = time >= set[i].due;

            set[i].due = last ? time : set[i].due;
            return last;
        }
        if (set[i].due - set[i].ttl < oldest->due - oldest->ttl) {
            oldest = &set[i];
        }
    }
    if (oldest->ttl == 0 || (++timeline->refused >= REFUSED_MIN &&
                             oldest->due - oldest->ttl < queue->now)) {
        *oldest = (struct queue_known_ttl){ttl, time};
        timeline->refused = 0;
        /* The lawn then counts starts from 0 again. Otherwise it might stop
         * using blades, because many counted starts found no blade. */
        lawn_set_resolution(timeline->lawn, 1);
    }
    /* A lawn that was replaced at this time may have known the TTL; then events
     * of this TTL must keep their order. */
    if (timeline->replaced != queue->now || timeline->spare == 0) {
        return false;
    }
    timeline->spare--;
    return true;
}

/* TIMELINES */

/* If there is no memory for the heap, the event is put into the lawn if its
 * time allows that. */
bool
queue_timeline_add(struct queue *queue, struct queue_timeline *timeline,
                   struct event *event, uint64_t ttl, uint64_t time)
{
    bool passed = time < timeline->mown;
    bool alone = passed || ttl == 0 || ttl > time ||
                 !accepts_ttl(queue, timeline, ttl, time);

    if (alone && heap_reserve(&timeline->heap, 1)) {
        event->flags |= EVENT_HEAP;
        heap_add(&timeline->heap, event, time, queue->order++, queue->now);
        return true;
    }
    if (!passed) {
        memset(&event->timer, 0, sizeof(event->timer));
        lawn_start_as(timeline->lawn, &event->timer, ttl, time);
    }
    return !passed;
}

uint64_t
queue_timeline_count(const struct queue_timeline *timeline)
{
    return timeline->heap.count +
           (timeline->lawn != NULL ? lawn_count(timeline->lawn) : 0);
}

uint64_t
queue_timeline_next(const struct queue_timeline *timeline)
{
    uint64_t next =
        timeline->lawn != NULL ? lawn_next_exact(timeline->lawn) : LAWN_NEVER;
    uint64_t other = heap_next(&timeline->heap);

    return next < other ? next : other;
}

void
queue_set_now(struct queue *queue, uint64_t now)
{
    if (now > queue->now) {
        queue->now = now;
        lawn_set_now(queue->waiting.lawn, now);
        if (queue->leases.lawn != NULL) {
            lawn_set_now(queue->leases.lawn, now);
        }
    }
}

unsigned
queue_leases_size(const struct queue *queue)
{
    return queue->size == QUEUE_LARGE ? QUEUE_LEASES : queue->size;
}

/* REPLACING A LAWN */

struct moved_timer {
    struct event *event;
    uint64_t ttl;
};

static bool
collect_timer(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    struct moved_timer **next = arg;

    *(*next)++ =
        (struct moved_timer){LAWN_CONTAINER(timer, struct event, timer), ttl};
    return true;
}

/* Replaces the lawn and moves its timers. Returns false, and changes nothing,
 * if memory allocation fails. */
static bool
replace_lawn(struct queue *queue, struct queue_timeline *timeline,
             unsigned size, uint64_t position)
{
    struct queue_timeline before = *timeline;
    uint64_t many = lawn_count(before.lawn);
    struct moved_timer *all = memory_alloc((many + 1) * sizeof(*all));
    struct moved_timer *next = all;

    if (all == NULL || !queue_timeline_open(queue, timeline, size, position)) {
        memory_free(all);
        *timeline = before;
        return false;
    }
    timeline->replaced = queue->now;
    timeline->spare = SPARE;
    (void)lawn_each(before.lawn, collect_timer, &next);
    close_timeline(queue, &before);
    for (size_t i = 0; i < many; i++) {
        struct lawn_timer *timer = &all[i].event->timer;
        uint64_t time = lawn_last_deadline(timer);

        memset(timer, 0, sizeof(*timer));
        lawn_start_as(timeline->lawn, timer, all[i].ttl, time);
        if (all[i].ttl > 0 && all[i].ttl <= time) {
            (void)accepts_ttl(queue, timeline, all[i].ttl, time);
        }
    }
    memory_free(all);
    return true;
}

bool
queue_resize(struct queue *queue, unsigned size, uint64_t position)
{
    if (!replace_lawn(queue, &queue->waiting, size, position)) {
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
        queue_resize(queue, queue->size + 1, queue->waiting.mown) &&
        queue->leases.lawn != NULL) {
        (void)replace_lawn(queue, &queue->leases, queue_leases_size(queue),
                           queue->leases.mown);
    }
}

void
queue_shrink(struct queue *queue)
{
    if (queue->table.count == 0) {
        close_timeline(queue, &queue->leases);
        heap_clear(&queue->leases.heap);
        heap_clear(&queue->waiting.heap);
        heap_clear(&queue->passed);
        if (queue->size != QUEUE_SMALL) {
            (void)queue_resize(queue, QUEUE_SMALL, queue->waiting.mown);
        }
    }
}
