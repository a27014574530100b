/* trace_live.c - the running timers of a trace, by id.
 *
 * Linear probing without tombstones: entries after a removed one move up, so
 * the table does not become slower as timers come and go. Timers are in blocks,
 * since a running timer must not move.
 */
#include "trace_live.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

#define TRACE_LIVE_BLOCK 1024u /* timers */
#define TRACE_LIVE_MOST (UINT32_MAX - TRACE_LIVE_BLOCK)

struct trace_live_entry {
    uint32_t hash;
    uint32_t object; /* number of the timer + 1; 0: the entry is free */
};

static uint32_t
hash_id(const char *id, size_t length)
{
    uint64_t hash = length;
    for (; length > 8; id += 8, length -= 8) {
        uint64_t word = 0;
        memcpy(&word, id, 8);
        hash = random_mix(hash ^ word);
    }
    uint64_t word = 0;
    memcpy(&word, id, length);
    return (uint32_t)random_mix(hash ^ word);
}

static struct trace_live_timer *
timer_of(const struct trace_live *live, uint32_t object)
{
    return &live->blocks[object / TRACE_LIVE_BLOCK][object % TRACE_LIVE_BLOCK];
}

static const char *
id_of(const struct trace_live_timer *timer)
{
    return timer->id_length > TRACE_LIVE_INLINE ? timer->id.pointer
                                                : timer->id.bytes;
}

static bool
has_id(const struct trace_live_timer *timer, const char *id, size_t length)
{
    return timer->id_length == length && memcmp(id_of(timer), id, length) == 0;
}

bool
trace_live_init(struct trace_live *live, trace_live_fire_fn *fire, void *arg)
{
    memset(live, 0, sizeof(*live));
    live->fire = fire;
    live->arg = arg;
    live->mask = 4 * TRACE_LIVE_BLOCK - 1;
    live->table = calloc(live->mask + 1, sizeof(*live->table));
    live->lawn = lawn_new(NULL);
    if (live->table != NULL && live->lawn != NULL) {
        return true;
    }
    trace_live_fini(live);
    return false;
}

void
trace_live_fini(struct trace_live *live)
{
    for (uint32_t i = 0; i < live->objects; i++) {
        struct trace_live_timer *timer = timer_of(live, i);
        if (timer->id_length > TRACE_LIVE_INLINE) {
            free(timer->id.pointer);
        }
    }
    for (uint32_t i = 0; i < live->objects; i += TRACE_LIVE_BLOCK) {
        free(live->blocks[i / TRACE_LIVE_BLOCK]);
    }
    free(live->blocks);
    free(live->table);
    lawn_free(live->lawn);
    memset(live, 0, sizeof(*live));
}

/* Finds the entry of an id, or the free entry where it belongs. */
static size_t
find_place(const struct trace_live *live, uint32_t hash, const char *id,
           size_t length)
{
    size_t place = hash & live->mask;
    for (;; place = (place + 1) & live->mask) {
        const struct trace_live_entry *entry = &live->table[place];
        if (entry->object == 0) {
            return place;
        }
        if (entry->hash == hash &&
            has_id(timer_of(live, entry->object - 1), id, length)) {
            return place;
        }
    }
}

/* Frees a timer that does not run, and its entry in the table. */
static void
forget(struct trace_live *live, struct trace_live_timer *timer)
{
    size_t gap = timer->hash & live->mask;
    while (live->table[gap].object != timer->object + 1) {
        gap = (gap + 1) & live->mask;
    }
    for (size_t i = (gap + 1) & live->mask; live->table[i].object != 0;
         i = (i + 1) & live->mask) {
        size_t home = live->table[i].hash & live->mask;
        if (((i - home) & live->mask) >= ((i - gap) & live->mask)) {
            live->table[gap] = live->table[i];
            gap = i;
        }
    }
    live->table[gap].object = 0;
    live->count--;
    if (timer->id_length > TRACE_LIVE_INLINE) {
        free(timer->id.pointer);
    }
    timer->id_length = 0;
    timer->next = live->free;
    live->free = timer;
}

/* Doubles the table. */
static bool
grow_table(struct trace_live *live)
{
    size_t mask = 2 * live->mask + 1;
    struct trace_live_entry *table = calloc(mask + 1, sizeof(*table));
    if (table == NULL) {
        return false;
    }
    for (size_t i = 0; i <= live->mask; i++) {
        size_t place = live->table[i].hash & mask;
        if (live->table[i].object == 0) {
            continue;
        }
        while (table[place].object != 0) {
            place = (place + 1) & mask;
        }
        table[place] = live->table[i];
    }
    free(live->table);
    live->table = table;
    live->mask = mask;
    return true;
}

/* Allocates a block of free timers; the first of them is used first. */
static bool
add_block(struct trace_live *live)
{
    size_t blocks = live->objects / TRACE_LIVE_BLOCK;
    if (live->objects > TRACE_LIVE_MOST) {
        return false;
    }
    if ((blocks & (blocks - 1)) == 0) {
        size_t room = blocks > 0 ? 2 * blocks : 1;
        struct trace_live_timer **list =
            realloc(live->blocks, room * sizeof(*list));
        if (list == NULL) {
            return false;
        }
        live->blocks = list;
    }
    struct trace_live_timer *block = calloc(TRACE_LIVE_BLOCK, sizeof(*block));
    if (block == NULL) {
        return false;
    }
    live->blocks[blocks] = block;
    for (uint32_t i = TRACE_LIVE_BLOCK; i-- > 0;) {
        block[i].object = live->objects + i;
        block[i].next = live->free;
        live->free = &block[i];
    }
    live->objects += TRACE_LIVE_BLOCK;
    return true;
}

struct trace_live_timer *
trace_live_find(struct trace_live *live, const char *id, size_t length)
{
    uint32_t hash = hash_id(id, length);
    uint32_t object = live->table[find_place(live, hash, id, length)].object;
    return object != 0 ? timer_of(live, object - 1) : NULL;
}

struct trace_live_timer *
trace_live_get(struct trace_live *live, const char *id, size_t length,
               bool *was_running)
{
    uint32_t hash = hash_id(id, length);
    size_t place = find_place(live, hash, id, length);
    *was_running = live->table[place].object != 0;
    if (*was_running) {
        return timer_of(live, live->table[place].object - 1);
    }
    if (live->count >= live->mask / 2) {
        if (!grow_table(live)) {
            return NULL;
        }
        place = find_place(live, hash, id, length);
    }
    if (live->free == NULL && !add_block(live)) {
        return NULL;
    }
    struct trace_live_timer *timer = live->free;
    char *bytes = timer->id.bytes;
    if (length > TRACE_LIVE_INLINE) {
        bytes = malloc(length);
        if (bytes == NULL) {
            return NULL;
        }
        timer->id.pointer = bytes;
    }
    memcpy(bytes, id, length);
    timer->id_length = (uint32_t)length;
    timer->hash = hash;
    live->free = timer->next;
    live->table[place] = (struct trace_live_entry){hash, timer->object + 1};
    live->count++;
    return timer;
}

void
trace_live_start(struct trace_live *live, struct trace_live_timer *timer,
                 uint64_t ttl)
{
    lawn_start(live->lawn, &timer->timer, ttl);
    timer->deadline = lawn_deadline(&timer->timer);
}

void
trace_live_stop(struct trace_live *live, struct trace_live_timer *timer)
{
    lawn_stop(live->lawn, &timer->timer);
    forget(live, timer);
}

static void
on_fire(struct lawn_timer *idle, void *arg)
{
    struct trace_live *live = arg;
    struct trace_live_timer *timer =
        LAWN_CONTAINER(idle, struct trace_live_timer, timer);
    if (live->fire != NULL) {
        live->fire(timer, live->arg);
    }
    forget(live, timer);
}

void
trace_live_mow(struct trace_live *live, uint64_t now)
{
    lawn_mow(live->lawn, now, SIZE_MAX, on_fire, live);
}
