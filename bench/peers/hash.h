/* hash.h - hand-written stores: records that a hash table finds by id, and a
 * 4-ary heap of their deadlines.
 *
 * A header that includes this one provides the table: HASH_LINK is the member
 * of a record that the table needs, HASH_TABLE is the type of the table. It
 * also defines the functions table_*(), which are declared here. With
 * HASH_PLAIN there is no heap, only the table.
 */
#ifndef LAWN_BENCH_PEERS_HASH_H
#define LAWN_BENCH_PEERS_HASH_H

#include "../heap4.h"
#include "../store.h"

#ifndef HASH_PLAIN
#define HASH_PLAIN 0
#endif

struct record {
    unsigned char id[STORE_ID];
    unsigned char payload[STORE_PAYLOAD];
#if !HASH_PLAIN
    uint64_t deadline;
    struct heap4_timer timer;
#endif
    HASH_LINK
};

struct self {
    HASH_TABLE table;
#if !HASH_PLAIN
    struct heap4 heap;
    uint64_t now;
#endif
};

static inline bool table_init(struct self *self);
/* Also frees all records. */
static inline void table_fini(struct self *self);
static inline struct record *table_find(struct self *self, const void *id,
                                        unsigned hash);
/* The id must not be in the table. Returns false if there is no memory. */
static inline bool table_add(struct self *self, struct record *record,
                             unsigned hash);
/* Finds and removes, but does not free. */
static inline struct record *table_take(struct self *self, const void *id);
static inline void table_remove(struct self *self, struct record *record);
static inline uint64_t table_count(const struct self *self);

/* Mixes both words of an id with one multiplication: the cheapest hash of 16
 * bytes. Sufficient for ids that no attacker has chosen. */
static inline unsigned
hash_id(const void *id)
{
    uint64_t words[2];

    memcpy(words, id, sizeof(words));
    words[0] ^= words[1] >> 32 | words[1] << 32;
    return (unsigned)(words[0] * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

static inline void *
hash_make(const struct contender_setup *setup)
{
    struct self *self = calloc(1, sizeof(*self));

    if (self == NULL) {
        return NULL;
    }
#if HASH_PLAIN
    (void)setup;
#else
    self->now = setup->now;
    if (!heap4_init(&self->heap, 0)) {
        free(self);
        return NULL;
    }
#endif
    if (table_init(self)) {
        return self;
    }
#if !HASH_PLAIN
    heap4_fini(&self->heap);
#endif
    free(self);
    return NULL;
}

static inline void
hash_free(void *arg)
{
    struct self *self = arg;

    table_fini(self);
#if !HASH_PLAIN
    heap4_fini(&self->heap);
#endif
    free(self);
}

static inline struct record *
hash_record(const void *id, const void *payload)
{
    struct record *record = malloc(sizeof(*record));

    if (record == NULL) {
        return NULL;
    }
    memcpy(record->id, id, sizeof(record->id));
    memcpy(record->payload, payload, sizeof(record->payload));
    return record;
}

/* Adds a record, without a timer, for a new id. */
static inline struct record *
hash_insert(struct self *self, const void *id, unsigned hash,
            const void *payload)
{
    struct record *record = hash_record(id, payload);

    if (record != NULL && !table_add(self, record, hash)) {
        free(record);
        record = NULL;
    }
    return record;
}

static inline uint64_t
hash_count(void *self)
{
    return table_count(self);
}

static inline bool
hash_get(void *self, const void *id, struct store_timer *out)
{
    const struct record *record = table_find(self, id, hash_id(id));

    if (record == NULL) {
        return false;
    }
    out->id = record->id;
    out->payload = record->payload;
#if HASH_PLAIN
    out->deadline = 0;
#else
    out->deadline = record->deadline;
#endif
    return true;
}

#if HASH_PLAIN

static inline bool
hash_start(void *self, const void *id, uint64_t ttl, const void *payload)
{
    unsigned hash = hash_id(id);
    struct record *record = table_find(self, id, hash);

    (void)ttl;
    if (record == NULL) {
        return hash_insert(self, id, hash, payload) != NULL;
    }
    memcpy(record->payload, payload, sizeof(record->payload));
    return true;
}

static inline bool
hash_stop(void *self, const void *id)
{
    struct record *record = table_take(self, id);

    free(record);
    return record != NULL;
}

#else

static inline bool
hash_start(void *arg, const void *id, uint64_t ttl, const void *payload)
{
    struct self *self = arg;
    unsigned hash = hash_id(id);
    struct record *record = table_find(self, id, hash);
    bool found = record != NULL;

    if (found) {
        memcpy(record->payload, payload, sizeof(record->payload));
    } else if ((record = hash_insert(self, id, hash, payload)) == NULL) {
        return false;
    } else {
        record->timer.place = 0;
    }
    record->deadline = self->now + ttl;
    if (heap4_set(&self->heap, &record->timer, record->deadline)) {
        return true;
    }
    /* The heap has no room. */
    table_remove(self, record);
    free(record);
    return false;
}

static inline bool
hash_stop(void *arg, const void *id)
{
    struct self *self = arg;
    struct record *record = table_take(self, id);

    if (record == NULL) {
        return false;
    }
    heap4_remove(&self->heap, record->timer.place);
    free(record);
    return true;
}

static inline bool
hash_touch(void *arg, const void *id, uint64_t ttl)
{
    struct self *self = arg;
    struct record *record = table_find(self, id, hash_id(id));

    if (record == NULL) {
        return false;
    }
    record->deadline = self->now + ttl;
    (void)heap4_set(&self->heap, &record->timer, record->deadline);
    return true;
}

static inline size_t
hash_mow(void *arg, uint64_t now, size_t budget, store_fire_fn *fire,
         void *fire_arg)
{
    struct self *self = arg;
    struct heap4_timer *timer = NULL;
    size_t fired = 0;

    self->now = now;
    while (fired < budget && (timer = heap4_pop(&self->heap, now)) != NULL) {
        struct record *record =
            (void *)((char *)timer - offsetof(struct record, timer));
        struct store_timer out = {record->id, record->payload,
                                  record->deadline};

        table_remove(self, record);
        fire(&out, fire_arg);
        free(record);
        fired++;
    }
    return fired;
}

#endif

#endif
