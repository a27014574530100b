/* store_class.c - classes of a store: their names, and their timers.
 *
 * A class of a store is a class of its lawn, and all its state is there. The
 * store has an entry with the name of each class, and finds a class by
 * comparing all names: O(classes). The lawn's class points to the name inside
 * the entry, so lawn__store_class_of() can compute the entry from that pointer.
 *
 * If the lawn is replaced, its classes are created again at the same addresses,
 * so that pointers of the caller and of records remain valid.
 */
#include "store.h"

static size_t
measure_name(const char *name)
{
    size_t size = 0;

    while (size <= LAWN_STORE_CLASS_NAME_MAX && name[size] != '\0') {
        size++;
    }
    return size;
}

struct lawn_store_class *
lawn__store_class_of(const struct lawn_store *store,
                     const struct lawn_class *cls)
{
    struct lawn_class_counters counters;

    lawn_class_stats(cls, &counters);
    size_t at = (size_t)((uintptr_t)counters.name - (uintptr_t)store->classes) /
                sizeof(*store->classes);
    LAWN_ASSERT(at < store->options.classes && store->classes[at].cls == cls,
                "[J6] a class of another store");
    return &store->classes[at];
}

struct lawn_class *
lawn_store_class_find(const struct lawn_store *store, const char *name)
{
    for (size_t i = 0; i < lawn__store_class_max(store); i++) {
        const struct lawn_store_class *entry = &store->classes[i];

        if (entry->cls != NULL && strcmp(entry->name, name) == 0) {
            return entry->cls;
        }
    }
    return NULL;
}

int
lawn_store_class_new(struct lawn_store *store, uint64_t ttl, const char *name,
                     struct lawn_class **out)
{
    size_t size = name != NULL ? measure_name(name) : 0;
    struct lawn_store_class *entry = store->classes;

    if (size == 0 || size > LAWN_STORE_CLASS_NAME_MAX) {
        return LAWN_STORE_BAD_CLASS_NAME;
    }
    if (lawn_store_class_find(store, name) != NULL) {
        return LAWN_STORE_CLASS_EXISTS;
    }
    size_t left = lawn__store_class_max(store);
    while (left > 0 && entry->cls != NULL) {
        entry++;
        left--;
    }
    if (left == 0) {
        return LAWN_STORE_TOO_MANY_CLASSES;
    }
    /* Do not reset the entry's nth: it does not belong to this class, see
     * store.h. */
    entry->saved_ttl = 0;
    entry->number = 0;
    memset(entry->name, 0, sizeof(entry->name));
    memcpy(entry->name, name, size);
    entry->cls = lawn_class_new(store->lawn, ttl, entry->name);
    LAWN_ASSERT(entry->cls != NULL, "[J6] the lawn has classes of others");
    if (out != NULL) {
        *out = entry->cls;
    }
    return 0;
}

bool
lawn_store_class_free(struct lawn_store *store, struct lawn_class *cls)
{
    struct lawn_store_class *entry = lawn__store_class_of(store, cls);

    if (!lawn_class_free(cls)) {
        return false;
    }
    entry->cls = NULL;
    return true;
}

uint64_t
lawn_store_class_clear(struct lawn_store *store, struct lawn_class *cls)
{
    uint64_t count = lawn_class_clear(cls);
    struct lawn_timer *timer = NULL;

    while ((timer = lawn_class_take(cls)) != NULL) {
        struct lawn_store_record *record =
            LAWN_CONTAINER(timer, struct lawn_store_record, timer);

        lawn__store_table_remove(
            &store->table,
            lawn__store_table_hash(&store->table, record->id, record->id_size),
            record);
        lawn__store_discard(store, record);
    }
    store->class_timers -= count;
    return count;
}

void
lawn__store_class_enter(struct lawn_store *store, struct lawn_class *cls,
                        struct lawn_store_record *record)
{
    if (lawn__store_record_class(record) == NULL) {
        record->ttl = (uintptr_t)cls;
        record->place |= LAWN_STORE_IN_CLASS;
        store->class_timers++;
    }
    lawn_class_start(cls, &record->timer);
}

void
lawn__store_class_leave(struct lawn_store *store,
                        struct lawn_store_record *record)
{
    (void)lawn_class_stop(lawn__store_record_class(record), &record->timer);
    record->place = lawn__store_record_place(record);
    store->class_timers--;
}

void
lawn__store_class_describe(const struct lawn_store_record *record,
                           struct lawn_store_timer *out)
{
    struct lawn_class_counters counters;

    lawn_class_stats(out->cls, &counters);
    out->ttl = counters.ttl;
    if (lawn_pending(&record->timer)) {
        out->deadline = lawn_class_deadline(out->cls, &record->timer);
    }
}

static bool
take_first(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    struct lawn_timer **first = (struct lawn_timer **)arg;

    (void)ttl;
    *first = timer;
    return false;
}

const struct lawn_store_record *
lawn__store_classes_first(const struct lawn_store *store, uint64_t deadline)
{
    struct lawn_class_counters counters;
    struct lawn_timer *first = NULL;

    for (size_t i = 0; i < lawn__store_class_max(store); i++) {
        if (store->classes[i].cls == NULL) {
            continue;
        }
        lawn_class_stats(store->classes[i].cls, &counters);
        if (!counters.paused && counters.next == deadline &&
            counters.count > 0) {
            (void)lawn_class_each_timer(store->classes[i].cls, take_first,
                                        &first);
            return LAWN_CONTAINER(first, struct lawn_store_record, timer);
        }
    }
    return NULL;
}

void
lawn__store_classes_save(struct lawn_store *store)
{
    struct lawn_class_counters counters;

    for (size_t i = 0; i < lawn__store_class_max(store); i++) {
        struct lawn_store_class *entry = &store->classes[i];

        entry->number = 0;
        if (entry->cls != NULL) {
            lawn_class_stats(entry->cls, &counters);
            entry->saved_ttl = counters.ttl;
            entry->saved_weight = counters.weight;
            entry->saved_pause = counters.paused;
        }
    }
}

/* Creates the entry's class again at its address. lawn__store_classes_restore()
 * has put a nameless class there as a placeholder; it is freed first. */
static void
restore_class(struct lawn_store *store, const struct lawn_store_class *entry)
{
    (void)lawn_class_free(entry->cls);
    struct lawn_class *cls =
        lawn_class_new(store->lawn, entry->saved_ttl, entry->name);
    LAWN_ASSERT(cls == entry->cls, "[J6] a class has moved");
    lawn_class_set_weight(cls, entry->saved_weight);
    if (entry->saved_pause) {
        lawn_class_pause(cls);
    }
}

void
lawn__store_classes_restore(struct lawn_store *store)
{
    struct lawn_class_counters counters;

    for (size_t i = 0; i < lawn__store_class_max(store); i++) {
        (void)lawn_class_new(store->lawn, 1, NULL);
    }
    for (size_t i = 0; i < lawn__store_class_max(store); i++) {
        struct lawn_store_class *entry = &store->classes[i];

        if (entry->cls != NULL && entry->saved_ttl != 0) {
            restore_class(store, entry);
        } else {
            entry->cls = NULL;
        }
    }
    struct lawn_class *cls = lawn_class_each(store->lawn, NULL);
    while (cls != NULL) {
        struct lawn_class *next = lawn_class_each(store->lawn, cls);

        lawn_class_stats(cls, &counters);
        if (counters.name == NULL) {
            (void)lawn_class_free(cls);
        }
        cls = next;
    }
}
