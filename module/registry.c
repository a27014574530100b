/* registry.c - the wake-up times of keys: see registry.h.
 *
 * A database has two stores. The store `coming` has a timer per key, due at the
 * key's wake-up. Its clock is the time up to which keys were taken. A store
 * accepts no timer before its clock, so keys with an earlier wake-up are in the
 * other store, `overdue`. There each TTL is one tick, the clock advances only
 * when a key is taken, and a timer's payload is the wake-up. So keys are taken
 * in the order in which they were set. A key in `overdue` is taken before
 * keys with later wake-ups in `coming`.
 *
 * This assumes that the wall clock advances. If it is set back, keys set for
 * the near future look overdue. So a key is taken from `overdue` only if the
 * clock of `coming` is not after `now`. Otherwise all keys are first moved to a
 * new store `coming`, whose clock is before all of them.
 *
 * Databases are in an array, sorted by number, and in a heap, by a lower bound
 * of the times of their keys. A removal does not update the bound, unless no
 * key is left: then the bound is LAWN_NEVER. A pop that finds no key corrects
 * the bound.
 *
 * The registry would break if a bound were later than a key of its database, or
 * if the clock of `coming` moved beyond the bound of another database.
 */
#include "registry.h"

#include "memory.h"

#include <lawn_store.h>

struct registry_db {
    int number;
    size_t place;           /* in the heap */
    uint64_t bound;         /* no key is due earlier; LAWN_NEVER: no keys */
    uint64_t overdue_bound; /* the same for overdue keys */
    struct lawn_store *coming;
    struct lawn_store *overdue; /* NULL: not created yet */
};

static struct {
    struct registry_db **sorted; /* followed by the heap, in the same block */
    struct registry_db **heap;
    size_t count;
    size_t room;
    uint64_t now; /* of the last pop */
} registry;

static void *
alloc(size_t size, void *context)
{
    (void)context;
    return memory_alloc(size);
}

static void
release(void *memory, void *context)
{
    (void)context;
    memory_free(memory);
}

/* Creates a store with a small lawn: few databases have many keys, and keys use
 * no blades, since each has an individual time. */
static struct lawn_store *
create_store(uint64_t now)
{
    struct lawn_store_options options = {.lawn = {.blades = 8,
                                                  .slot_bits = 5,
                                                  .now = now,
                                                  .alloc = alloc,
                                                  .release = release}};
    return lawn_store_new(&options);
}

static uint64_t
count_overdue(const struct registry_db *db)
{
    return db->overdue == NULL ? 0 : lawn_store_count(db->overdue);
}

/* HEAP */

static void
set_heap_place(size_t place, struct registry_db *db)
{
    registry.heap[place] = db;
    db->place = place;
}

static void
sift(struct registry_db *db)
{
    size_t at = db->place;

    while (at > 0 && registry.heap[(at - 1) / 2]->bound > db->bound) {
        set_heap_place(at, registry.heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < registry.count &&
            registry.heap[child + 1]->bound < registry.heap[child]->bound) {
            child++;
        }
        if (child >= registry.count ||
            registry.heap[child]->bound >= db->bound) {
            break;
        }
        set_heap_place(at, registry.heap[child]);
        at = child;
    }
    set_heap_place(at, db);
}

static void
set_bound(struct registry_db *db, uint64_t bound)
{
    db->bound = bound;
    sift(db);
}

/* DATABASES */

/* Returns the index of a database in the sorted array, or where it would be. */
static size_t
find_place(int number)
{
    size_t low = 0;
    size_t high = registry.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (registry.sorted[middle]->number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct registry_db *
find_db(int number)
{
    size_t at = find_place(number);

    return at < registry.count && registry.sorted[at]->number == number
               ? registry.sorted[at]
               : NULL;
}

static bool
grow(void)
{
    size_t room = registry.room > 0 ? 2 * registry.room : 4;

    if (registry.count < registry.room) {
        return true;
    }
    struct registry_db **block = memory_alloc(2 * room * sizeof(*block));
    if (block == NULL) {
        return false;
    }
    for (size_t i = 0; i < registry.count; i++) {
        block[i] = registry.sorted[i];
        block[room + i] = registry.heap[i];
    }
    memory_free(registry.sorted);
    registry.sorted = block;
    registry.heap = block + room;
    registry.room = room;
    return true;
}

static void
insert_into_sorted(struct registry_db *db)
{
    size_t at = find_place(db->number);

    memmove(registry.sorted + at + 1, registry.sorted + at,
            (registry.count - at) * sizeof(*registry.sorted));
    registry.sorted[at] = db;
}

static void
remove_from_sorted(const struct registry_db *db)
{
    size_t at = find_place(db->number);

    memmove(registry.sorted + at, registry.sorted + at + 1,
            (registry.count - at - 1) * sizeof(*registry.sorted));
}

static struct registry_db *
create_db(int number)
{
    if (!grow()) {
        return NULL;
    }
    struct registry_db *db = memory_alloc(sizeof(*db));
    struct lawn_store *coming = create_store(registry.now);
    if (db == NULL || coming == NULL) {
        memory_free(db);
        lawn_store_free(coming);
        return NULL;
    }
    *db = (struct registry_db){.number = number,
                               .bound = LAWN_NEVER,
                               .overdue_bound = LAWN_NEVER,
                               .coming = coming};
    insert_into_sorted(db);
    set_heap_place(registry.count, db);
    registry.count++;
    return db;
}

static void
free_db(struct registry_db *db)
{
    remove_from_sorted(db);
    registry.count--;
    struct registry_db *last = registry.heap[registry.count];
    if (last != db) {
        set_heap_place(db->place, last);
        sift(last);
    }
    lawn_store_free(db->coming);
    lawn_store_free(db->overdue);
    memory_free(db);
}

/* KEYS */

static void
reset_bound_if_empty(struct registry_db *db)
{
    if (count_overdue(db) > 0) {
        return;
    }
    db->overdue_bound = LAWN_NEVER;
    if (lawn_store_count(db->coming) == 0) {
        set_bound(db, LAWN_NEVER);
    }
}

static bool
set_overdue(struct registry_db *db, struct bytes name, uint64_t when)
{
    if (db->overdue == NULL && (db->overdue = create_store(0)) == NULL) {
        return false;
    }
    if (lawn_store_start(db->overdue, name.at, name.size, 1, &when,
                         sizeof(when), 0) != 0) {
        return false;
    }
    lawn_store_stop(db->coming, name.at, name.size);
    if (when < db->overdue_bound) {
        db->overdue_bound = when;
    }
    return true;
}

bool
registry_set(int number, struct bytes name, uint64_t when)
{
    struct registry_db *db = find_db(number);

    if (name.size > REGISTRY_NAME_MAX) {
        return false;
    }
    if (when >= LAWN_NEVER) {
        when = LAWN_NEVER - 1;
    }
    if (db == NULL && (db = create_db(number)) == NULL) {
        return false;
    }
    if (when <= lawn_store_now(db->coming)) {
        if (!set_overdue(db, name, when)) {
            return false;
        }
    } else {
        if (lawn_store_start(db->coming, name.at, name.size, when, NULL, 0,
                             LAWN_STORE_AT) != 0) {
            return false;
        }
        if (count_overdue(db) > 0) {
            lawn_store_stop(db->overdue, name.at, name.size);
        }
    }
    reset_bound_if_empty(db);
    if (when < db->bound) {
        set_bound(db, when);
    }
    return true;
}

void
registry_remove(int number, struct bytes name)
{
    struct registry_db *db = find_db(number);

    if (db == NULL || name.size > REGISTRY_NAME_MAX) {
        return;
    }
    lawn_store_stop(db->coming, name.at, name.size);
    if (count_overdue(db) > 0) {
        lawn_store_stop(db->overdue, name.at, name.size);
    }
    reset_bound_if_empty(db);
}

void
registry_flush(int number)
{
    if (number >= 0) {
        struct registry_db *db = find_db(number);
        if (db != NULL) {
            free_db(db);
        }
        return;
    }
    while (registry.count > 0) {
        free_db(registry.heap[registry.count - 1]);
    }
    memory_free(registry.sorted);
    registry.sorted = NULL;
    registry.heap = NULL;
    registry.room = 0;
}

void
registry_swap(int a, int b)
{
    struct registry_db *first = find_db(a);
    struct registry_db *second = find_db(b);

    if (first != NULL && second != NULL) {
        size_t at = find_place(a);
        registry.sorted[find_place(b)] = first;
        registry.sorted[at] = second;
        first->number = b;
        second->number = a;
    } else if (first != NULL || second != NULL) {
        struct registry_db *db = first != NULL ? first : second;
        remove_from_sorted(db);
        registry.count--;
        db->number = first != NULL ? b : a;
        insert_into_sorted(db);
        registry.count++;
    }
}

uint64_t
registry_next(void)
{
    return registry.count > 0 ? registry.heap[0]->bound : LAWN_NEVER;
}

/* TAKING */

static bool
copy_store(const struct lawn_store *from, struct lawn_store *to)
{
    struct lawn_store_timer timer;
    uint64_t cursor = 0;

    while (lawn_store_iterate(from, &cursor, &timer)) {
        uint64_t when = timer.deadline;
        if (timer.payload_size > 0) {
            memcpy(&when, timer.payload, sizeof(when));
        }
        if (lawn_store_start(to, timer.id, timer.id_size, when, NULL, 0,
                             LAWN_STORE_AT) != 0) {
            return false;
        }
    }
    return true;
}

/* After the clock was set back: moves all keys to a store whose clock is before
 * all of them. Returns false if memory allocation fails. */
static bool
rebuild_store(struct registry_db *db)
{
    uint64_t first = lawn_store_next(db->coming);

    if (db->overdue_bound < first) {
        first = db->overdue_bound;
    }
    struct lawn_store *coming = create_store(first > 0 ? first - 1 : 0);
    if (coming == NULL || !copy_store(db->coming, coming) ||
        !copy_store(db->overdue, coming)) {
        lawn_store_free(coming);
        return false;
    }
    lawn_store_free(db->coming);
    lawn_store_free(db->overdue);
    db->coming = coming;
    db->overdue = NULL;
    db->overdue_bound = LAWN_NEVER;
    return true;
}

/* Returns true if the first key in `overdue` precedes all keys in `coming`, or
 * if none of those is due by `until`. So a key that is overdue again and again
 * does not delay keys in `coming` that were due earlier. */
static bool
find_overdue(const struct registry_db *db, uint64_t until)
{
    struct lawn_store_timer timer;
    uint64_t coming = lawn_store_next(db->coming);

    if (coming > until || !lawn_store_next_timer(db->overdue, &timer)) {
        return true;
    }
    uint64_t when = 0;
    memcpy(&when, timer.payload, sizeof(when));
    return when <= coming;
}

/* Removes the first key that is due by `until`, which is not after now. Returns
 * false if there is none. */
static bool
pop_due(struct registry_db *db, uint64_t now, uint64_t until,
        struct bytes *name, uint64_t *when)
{
    struct lawn_store_timer timer;
    bool back = now < lawn_store_now(db->coming);

    if (db->overdue_bound <= until &&
        (back ? rebuild_store(db) : find_overdue(db, until)) &&
        count_overdue(db) > 0) {
        lawn_store_pop(db->overdue, lawn_store_now(db->overdue) + 1, &timer);
        memcpy(when, timer.payload, sizeof(*when));
    } else if (lawn_store_pop(db->coming, until, &timer)) {
        *when = timer.deadline;
    } else {
        return false;
    }
    *name = (struct bytes){timer.id, timer.id_size};
    return true;
}

bool
registry_pop(uint64_t now, int *number, struct bytes *name, uint64_t *when)
{
    registry.now = now;
    while (registry_next() <= now && registry_next() < LAWN_NEVER) {
        struct registry_db *db = registry.heap[0];
        /* Another database may have an earlier key. */
        uint64_t until = now;
        for (size_t i = 1; i <= 2 && i < registry.count; i++) {
            if (registry.heap[i]->bound < until) {
                until = registry.heap[i]->bound;
            }
        }
        if (pop_due(db, now, until, name, when)) {
            *number = db->number;
            reset_bound_if_empty(db);
            return true;
        }
        uint64_t bound = lawn_store_next(db->coming);
        if (db->overdue_bound < bound) {
            bound = db->overdue_bound;
        }
        set_bound(db, bound);
        /* There was no memory to rebuild the store. */
        if (bound <= until) {
            return false;
        }
    }
    return false;
}

uint64_t
registry_count(void)
{
    uint64_t count = 0;

    for (size_t i = 0; i < registry.count; i++) {
        count += lawn_store_count(registry.heap[i]->coming) +
                 count_overdue(registry.heap[i]);
    }
    return count;
}

size_t
registry_bytes(void)
{
    size_t bytes = registry.room > 0 ? memory_size(registry.sorted) : 0;

    for (size_t i = 0; i < registry.count; i++) {
        const struct registry_db *db = registry.heap[i];
        bytes += memory_size(db) + lawn_store_bytes(db->coming);
        if (db->overdue != NULL) {
            bytes += lawn_store_bytes(db->overdue);
        }
    }
    return bytes;
}
