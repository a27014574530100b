/* store.c - creates a store; starts, stops, changes and finds timers. */
#define _DEFAULT_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "store.h"

#include "expect.h"

#include <errno.h>
#include <unistd.h>

_Static_assert(sizeof(void *) != 8 || sizeof(struct lawn_store_record) == 40,
               "a record takes 40 bytes in addition to id and payload");

/* Replaces the lawn by an empty one in the same memory, whose index begins at
 * `base`, with the saved classes. */
static void
place_lawn(struct lawn_store *store, uint64_t base, uint64_t now)
{
    store->options.now = base;
    store->lawn = lawn_place(store->place, store->place_size, &store->options);
    lawn_set_now(store->lawn, now);
    lawn__store_classes_restore(store);
}

static size_t
size_classes(const struct lawn_store *store)
{
    return store->options.classes * sizeof(*store->classes);
}

/* Allocates the memory of the lawn and its classes. */
static bool
take_place(struct lawn_store *store)
{
    store->place_size = lawn_size(&store->options);
    store->place = lawn__store_memory_take(&store->memory, store->place_size);
    if (store->place == NULL || store->options.classes == 0) {
        return store->place != NULL;
    }
    store->classes = (struct lawn_store_class *)lawn__store_memory_take(
        &store->memory, size_classes(store));
    if (store->classes == NULL) {
        lawn__store_memory_give(&store->memory, store->place,
                                store->place_size);
        return false;
    }
    memset(store->classes, 0, size_classes(store));
    return true;
}

static void
give_place(struct lawn_store *store)
{
    lawn__store_memory_give(&store->memory, store->place, store->place_size);
    if (store->classes != NULL) {
        lawn__store_memory_give(&store->memory, store->classes,
                                size_classes(store));
    }
}

static bool
init_store(struct lawn_store *store, const struct lawn_store_options *options)
{
    uint64_t key[2] = {options->seed[0], options->seed[1]};

    if (key[0] == 0 && key[1] == 0 && getentropy(key, sizeof(key)) != 0) {
        return false;
    }
    store->options = options->lawn;
    if (store->options.classes > LAWN_STORE_CLASSES_MAX) {
        store->options.classes = LAWN_STORE_CLASSES_MAX;
    }
    if (!take_place(store)) {
        errno = ENOMEM;
        return false;
    }
    lawn__store_slots_init(&store->slots, &store->memory);
    if (!lawn__store_table_init(&store->table, &store->slots, key)) {
        give_place(store);
        errno = ENOMEM;
        return false;
    }
    place_lawn(store, options->lawn.now, options->lawn.now);
    return true;
}

struct lawn_store *
lawn_store_new(const struct lawn_store_options *options)
{
    static const struct lawn_store_options none;

    if (options == NULL) {
        options = &none;
    }
    struct lawn_store_memory memory;
    memory.bytes = 0;
    memory.max = SIZE_MAX;
    memory.error = 0;
    memory.alloc = options->lawn.alloc;
    memory.release = options->lawn.release;
    memory.context = options->lawn.context;
    memory.kept = NULL;
    memory.kept_bytes = 0;
    struct lawn_store *store =
        (struct lawn_store *)lawn__store_memory_take(&memory, sizeof(*store));
    if (store == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    memset(store, 0, sizeof(*store));
    store->memory = memory;
    if (!init_store(store, options)) {
        int error = errno;

        memory = store->memory;
        lawn__store_memory_give(&memory, store, sizeof(*store));
        lawn__store_memory_fini(&memory);
        errno = error;
        return NULL;
    }
    lawn_store_set_limits(store, options->max_timers, options->max_bytes);
    if (store->memory.bytes > store->memory.max) {
        lawn_store_free(store);
        errno = ENOSPC;
        return NULL;
    }
    return store;
}

void
lawn_store_free(struct lawn_store *store)
{
    if (store == NULL) {
        return;
    }
    lawn_store_clear(store);
    if (store->mows > 0) {
        store->dying = true;
        return;
    }
    if (store->popped != NULL) {
        lawn__store_discard(store, store->popped);
    }
    lawn__store_table_fini(&store->table);
    lawn__store_slots_trim(&store->slots);
    give_place(store);
    struct lawn_store_memory memory = store->memory;
    lawn__store_memory_give(&memory, store, sizeof(*store));
    lawn__store_memory_fini(&memory);
    LAWN_ASSERT(memory.bytes == 0, "[J5] memory was lost");
}

/* Returns the size of the slot or block. */
static size_t
size_outside(size_t size)
{
    size += LAWN_STORE_OUTSIDE_HEAD;
    return size <= LAWN_STORE_SLOTS_MAX ? lawn__store_slots_room(size) : size;
}

static unsigned char *
copy_outside(struct lawn_store *store, uint64_t ttl, const void *payload,
             size_t size)
{
    size_t whole = size_outside(size);
    uint16_t place = 0;
    unsigned char *at = NULL;

    if (whole <= LAWN_STORE_SLOTS_MAX) {
        at = (unsigned char *)lawn__store_slots_take(
            &store->slots,
            LAWN_STORE_GROUP_PAYLOADS + lawn__store_slots_group(ttl), whole,
            &place);
    } else {
        at = (unsigned char *)lawn__store_slots_block(&store->slots, whole);
        if (at != NULL) {
            store->outside += lawn__store_memory_cost(&store->memory, whole);
        }
    }
    if (at == NULL) {
        return NULL;
    }
    memcpy(at, &place, sizeof(place));
    at += LAWN_STORE_OUTSIDE_HEAD;
    memcpy(at, payload, size);
    return at;
}

static void
free_outside(struct lawn_store *store, unsigned char *payload, size_t size)
{
    size_t whole = size_outside(size);

    payload -= LAWN_STORE_OUTSIDE_HEAD;
    uint16_t place = 0;
    memcpy(&place, payload, sizeof(place));
    if (whole <= LAWN_STORE_SLOTS_MAX) {
        lawn__store_slots_give(&store->slots, payload, place);
    } else {
        lawn__store_memory_give(&store->memory, payload, whole);
        store->outside -= lawn__store_memory_cost(&store->memory, whole);
    }
}

void
lawn__store_discard(struct lawn_store *store, struct lawn_store_record *record)
{
    if (LAWN_STORE_UNLIKELY((record->payload & LAWN_STORE_OUTSIDE) != 0)) {
        free_outside(store, lawn__store_record_outside(record),
                     lawn__store_record_size(record));
    }
    lawn__store_slots_give(&store->slots, record,
                           lawn__store_record_place(record));
}

/* The record is neither in the table nor on the lawn. Returns NULL if out of
 * memory. */
static struct lawn_store_record *
make_record(struct lawn_store *store, const void *id, size_t id_size,
            uint64_t ttl, const void *payload, size_t size)
{
    size_t at = lawn__store_record_payload_at(id_size);
    bool outside = at + size > LAWN_STORE_INSIDE_MAX && size > sizeof(void *);
    size_t inside = size > sizeof(void *) && !outside ? size : sizeof(void *);
    uint16_t place = 0;

    struct lawn_store_record *record =
        (struct lawn_store_record *)lawn__store_slots_take(
            &store->slots,
            LAWN_STORE_GROUP_RECORDS + lawn__store_slots_group(ttl),
            at + inside, &place);
    if (record == NULL) {
        return NULL;
    }
    memset(&record->timer, 0, sizeof(record->timer));
    record->place = place;
    record->payload = (uint32_t)size;
    record->id_size = (uint16_t)id_size;
    unsigned char *elsewhere = NULL;
    if (outside) {
        elsewhere = copy_outside(store, ttl, payload, size);
        if (elsewhere == NULL) {
            lawn__store_discard(store, record);
            return NULL;
        }
        record->payload |= LAWN_STORE_OUTSIDE;
        payload = &elsewhere;
        size = sizeof(elsewhere);
    }
    if (id_size != 0) {
        memcpy(record->id, id, id_size);
    }
    if (size != 0) {
        memcpy((unsigned char *)record + at, payload, size);
    }
    return record;
}

static size_t
room_inside(const struct lawn_store_record *record)
{
    const struct lawn_store_slab *slab =
        lawn__store_slots_slab(record, lawn__store_record_place(record));

    return slab->slot - lawn__store_record_payload_at(record->id_size);
}

/* The new payload may be part of the old one. On an error, changes nothing. */
static int
change_payload(struct lawn_store *store, struct lawn_store_record *record,
               const void *payload, size_t size)
{
    uint32_t flags = record->payload & ~LAWN_STORE_SIZE_MASK;
    unsigned char *inside = lawn__store_record_inside(record);
    size_t old_size = lawn__store_record_size(record);
    size_t bytes = store->memory.bytes;
    unsigned char *old = (flags & LAWN_STORE_OUTSIDE) != 0
                             ? lawn__store_record_outside(record)
                             : NULL;

    if (size <= room_inside(record)) {
        if (size != 0) {
            memmove(inside, payload, size);
        }
        flags &= ~LAWN_STORE_OUTSIDE;
    } else if (old != NULL && size_outside(size) == size_outside(old_size)) {
        memmove(old, payload, size);
        old = NULL;
    } else {
        struct lawn_store_timer old_timer;

        lawn__store_record_describe(record, &old_timer);
        unsigned char *elsewhere =
            copy_outside(store, old_timer.ttl, payload, size);

        if (elsewhere == NULL) {
            int error = store->memory.error;

            if (store->memory.bytes > bytes) {
                lawn__store_slots_trim(&store->slots);
            }
            return error;
        }
        memcpy(inside, &elsewhere, sizeof(elsewhere));
        flags |= LAWN_STORE_OUTSIDE;
    }
    if (old != NULL) {
        free_outside(store, old, old_size);
    }
    record->payload = flags | (uint32_t)size;
    return 0;
}

static void
remove_from_due(struct lawn_store *store, struct lawn_store_record *record)
{
    unsigned i = store->due_next;

    while (store->due[i] != record) {
        i++;
        LAWN_ASSERT(i < store->due_end, "[J2] a due timer is not in due[]");
    }
    store->due[i] = NULL;
    record->payload &= ~LAWN_STORE_DUE;
}

static void
start_record(struct lawn_store *store, struct lawn_store_record *record,
             uint64_t ttl)
{
    if (LAWN_STORE_UNLIKELY((record->payload & LAWN_STORE_DUE) != 0)) {
        remove_from_due(store, record);
    }
    if (LAWN_STORE_UNLIKELY(lawn__store_record_class(record) != NULL)) {
        lawn__store_class_leave(store, record);
    }
    record->ttl = ttl != 0 ? ttl : 1;
    lawn_start(store->lawn, &record->timer, ttl);
}

static void
start_record_in(struct lawn_store *store, struct lawn_store_record *record,
                struct lawn_class *cls)
{
    const struct lawn_class *old = lawn__store_record_class(record);

    if ((record->payload & LAWN_STORE_DUE) != 0) {
        remove_from_due(store, record);
    } else if (old == NULL) {
        (void)lawn_stop(store->lawn, &record->timer);
    } else if (old != cls) {
        lawn__store_class_leave(store, record);
    }
    lawn__store_class_enter(store, cls, record);
}

static uint64_t
ttl_until(const struct lawn_store *store, uint64_t deadline)
{
    uint64_t now = lawn_now(store->lawn);

    return deadline > now ? deadline - now : 0;
}

/* On failure, returns NULL, sets *error, and has changed nothing [S2]. */
static struct lawn_store_record *
add_record(struct lawn_store *store, uint64_t hash, const void *id,
           size_t id_size, uint64_t ttl, const void *payload, size_t size,
           int *error)
{
    size_t bytes = store->memory.bytes;

    if (LAWN_STORE_UNLIKELY(store->table.count >= store->max_timers)) {
        *error = -ENOSPC;
        return NULL;
    }
    struct lawn_store_record *record =
        make_record(store, id, id_size, ttl, payload, size);
    if (record != NULL && lawn__store_table_add(&store->table, hash, record)) {
        return record;
    }
    *error = store->memory.error;
    if (record != NULL) {
        lawn__store_discard(store, record);
    }
    if (store->memory.bytes > bytes) {
        lawn__store_slots_trim(&store->slots);
    }
    return NULL;
}

/* Starts the timer in the class; cls NULL: in none. */
static inline int
start_timer(struct lawn_store *store, struct lawn_class *cls, const void *id,
            size_t id_size, uint64_t ttl, const void *payload,
            size_t payload_size, unsigned how)
{
    const unsigned either = LAWN_STORE_ABSENT | LAWN_STORE_PRESENT;
    int error = 0;

    if (id_size > LAWN_STORE_ID_MAX) {
        return LAWN_STORE_ID_TOO_LARGE;
    }
    if (payload_size > LAWN_STORE_PAYLOAD_MAX) {
        return LAWN_STORE_PAYLOAD_TOO_LARGE;
    }
    if (how > (either | LAWN_STORE_AT) || (how & either) == either) {
        return -EINVAL;
    }
    if ((how & LAWN_STORE_AT) != 0) {
        ttl = ttl_until(store, ttl);
    }
    uint64_t hash = lawn__store_table_hash(&store->table, id, id_size);
    struct lawn_store_record *record =
        lawn__store_table_find(&store->table, hash, id, id_size);
    if (record == NULL) {
        if ((how & LAWN_STORE_PRESENT) != 0) {
            return -ENOENT;
        }
        record = add_record(store, hash, id, id_size, ttl, payload,
                            payload_size, &error);
        if (record == NULL) {
            return error;
        }
    } else {
        if ((how & LAWN_STORE_ABSENT) != 0) {
            return -EEXIST;
        }
        error = change_payload(store, record, payload, payload_size);
        if (error != 0) {
            return error;
        }
    }
    if (cls != NULL) {
        start_record_in(store, record, cls);
    } else {
        start_record(store, record, ttl);
    }
    return 0;
}

int
lawn_store_start(struct lawn_store *store, const void *id, size_t id_size,
                 uint64_t ttl, const void *payload, size_t payload_size,
                 unsigned how)
{
    return start_timer(store, NULL, id, id_size, ttl, payload, payload_size,
                       how);
}

int
lawn_store_start_in(struct lawn_store *store, struct lawn_class *cls,
                    const void *id, size_t id_size, const void *payload,
                    size_t payload_size, unsigned how)
{
    struct lawn_class_counters counters;

    if ((how & LAWN_STORE_AT) != 0) {
        return -EINVAL;
    }
    lawn_class_stats(cls, &counters);
    return start_timer(store, cls, id, id_size, counters.ttl, payload,
                       payload_size, how);
}

static inline struct lawn_store_record *
find_record(const struct lawn_store *store, const void *id, size_t id_size,
            uint64_t *hash)
{
    if (LAWN_STORE_UNLIKELY(id_size > LAWN_STORE_ID_MAX)) {
        /* No record has such an id. Do not hash it: it may be very long. */
        return NULL;
    }
    *hash = lawn__store_table_hash(&store->table, id, id_size);
    return lawn__store_table_find(&store->table, *hash, id, id_size);
}

bool
lawn_store_stop(struct lawn_store *store, const void *id, size_t id_size)
{
    uint64_t hash = 0;
    struct lawn_store_record *record = find_record(store, id, id_size, &hash);

    if (record == NULL) {
        return false;
    }
    if (LAWN_STORE_UNLIKELY(lawn__store_record_class(record) != NULL)) {
        lawn__store_class_leave(store, record);
    } else if (!lawn_stop(store->lawn, &record->timer)) {
        remove_from_due(store, record);
    }
    lawn__store_table_remove(&store->table, hash, record);
    lawn__store_discard(store, record);
    return true;
}

bool
lawn_store_get(const struct lawn_store *store, const void *id, size_t id_size,
               struct lawn_store_timer *out)
{
    uint64_t hash = 0;
    const struct lawn_store_record *record =
        find_record(store, id, id_size, &hash);

    if (record != NULL && out != NULL) {
        lawn__store_record_describe(record, out);
    }
    return record != NULL;
}

int
lawn_store_update(struct lawn_store *store, const void *id, size_t id_size,
                  const void *payload, size_t payload_size)
{

    if (payload_size > LAWN_STORE_PAYLOAD_MAX) {
        return LAWN_STORE_PAYLOAD_TOO_LARGE;
    }
    uint64_t hash = 0;
    struct lawn_store_record *record = find_record(store, id, id_size, &hash);
    if (record == NULL) {
        return -ENOENT;
    }
    return change_payload(store, record, payload, payload_size);
}

bool
lawn_store_touch(struct lawn_store *store, const void *id, size_t id_size,
                 uint64_t ttl)
{
    uint64_t hash = 0;
    struct lawn_store_record *record = find_record(store, id, id_size, &hash);

    if (record != NULL) {
        start_record(store, record, ttl);
    }
    return record != NULL;
}

bool
lawn_store_touch_in(struct lawn_store *store, struct lawn_class *cls,
                    const void *id, size_t id_size)
{
    uint64_t hash = 0;
    struct lawn_store_record *record = find_record(store, id, id_size, &hash);

    if (record != NULL) {
        start_record_in(store, record, cls);
    }
    return record != NULL;
}

bool
lawn_store_touch_at(struct lawn_store *store, const void *id, size_t id_size,
                    uint64_t deadline)
{
    return lawn_store_touch(store, id, id_size, ttl_until(store, deadline));
}

void
lawn_store_set_now(struct lawn_store *store, uint64_t now)
{
    lawn_set_now(store->lawn, now);
}

uint64_t
lawn_store_now(const struct lawn_store *store)
{
    return lawn_now(store->lawn);
}

uint64_t
lawn_store_count(const struct lawn_store *store)
{
    return store->table.count;
}

size_t
lawn_store_bytes(const struct lawn_store *store)
{
    return store->memory.bytes;
}

const struct lawn *
lawn_store_lawn(const struct lawn_store *store)
{
    return store->lawn;
}

int
lawn_store_reserve(struct lawn_store *store, uint64_t timers)
{
    return lawn__store_table_reserve(&store->table, timers)
               ? 0
               : store->memory.error;
}

void
lawn_store_set_limits(struct lawn_store *store, uint64_t max_timers,
                      size_t max_bytes)
{
    store->max_timers = max_timers != 0 ? max_timers : UINT64_MAX;
    store->memory.max = max_bytes != 0 ? max_bytes : SIZE_MAX;
}

void
lawn_store_clear(struct lawn_store *store)
{
    lawn__store_classes_save(store);
    lawn__store_reset(store);
}

void
lawn__store_reset(struct lawn_store *store)
{
    uint64_t cursor = 0;
    struct lawn_store_record *record = NULL;

    while ((record = (struct lawn_store_record *)lawn__store_slots_walk(
                &store->slots, &cursor)) != NULL) {
        if ((record->payload & LAWN_STORE_GONE) == 0) {
            lawn__store_discard(store, record);
        }
    }
    store->due_next = store->due_end = 0;
    lawn__store_table_clear(&store->table);
    lawn__store_slots_trim(&store->slots);
    store->class_timers = 0;
    place_lawn(store, lawn_now(store->lawn), lawn_now(store->lawn));
}

void
lawn__store_restore_begin(struct lawn_store *store, uint64_t first)
{
    uint64_t now = lawn_now(store->lawn);

    /* No timer of a lawn can be due before the time passed to lawn_place(). So
     * if timers are overdue, the empty lawn is placed again, at an earlier
     * time. In a callback that is not possible; there, overdue timers wait for
     * a later mow [P6]. */
    if (first <= now && store->mows == 0) {
        place_lawn(store, first - 1, now);
    }
}

int
lawn__store_restore(struct lawn_store *store,
                    const struct lawn_store_timer *timer, bool on_blade)
{
    uint64_t deadline = timer->deadline;
    int error = 0;

    LAWN_ASSERT(timer->id_size <= LAWN_STORE_ID_MAX &&
                    timer->payload_size <= LAWN_STORE_PAYLOAD_MAX,
                "a restored timer's id or payload is too large");
    uint64_t hash =
        lawn__store_table_hash(&store->table, timer->id, timer->id_size);
    if (lawn__store_table_find(&store->table, hash, timer->id,
                               timer->id_size) != NULL) {
        return -EEXIST;
    }
    struct lawn_store_record *record =
        add_record(store, hash, timer->id, timer->id_size, timer->ttl,
                   timer->payload, timer->payload_size, &error);
    if (record == NULL) {
        return error;
    }
    if (store->mows > 0 && deadline <= lawn_now(store->lawn)) {
        deadline = lawn_now(store->lawn) + 1;
    }
    record->ttl = timer->ttl;
    lawn_start_as(store->lawn, &record->timer, on_blade ? timer->ttl : 0,
                  deadline);
    return 0;
}

int
lawn__store_restore_in(struct lawn_store *store, struct lawn_class *cls,
                       const struct lawn_store_timer *timer)
{
    struct lawn_class_counters counters;
    uint64_t start = timer->deadline;
    uint64_t now = lawn_now(store->lawn);
    int error = 0;

    uint64_t hash =
        lawn__store_table_hash(&store->table, timer->id, timer->id_size);
    if (lawn__store_table_find(&store->table, hash, timer->id,
                               timer->id_size) != NULL) {
        return -EEXIST;
    }
    lawn_class_stats(cls, &counters);
    struct lawn_store_record *record =
        add_record(store, hash, timer->id, timer->id_size, counters.ttl,
                   timer->payload, timer->payload_size, &error);
    if (record == NULL) {
        return error;
    }
    if (store->mows > 0 && !counters.paused && counters.ttl <= now &&
        start <= now - counters.ttl) {
        start = now + 1 - counters.ttl;
    }
    lawn__store_class_enter(store, cls, record);
    lawn_class_start_as(cls, &record->timer, start);
    return lawn_class_started(cls, &record->timer) == start
               ? 0
               : LAWN_STORE_INCONSISTENT;
}
