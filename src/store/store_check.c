/* store_check.c - checks the invariants of store.h. */
#include "store.h"

static bool
report_broken(FILE *out, const char *what)
{
    if (out != NULL) {
        (void)fprintf(out, "lawn_store_check: %s\n", what);
    }
    return false;
}

static bool
is_in_due(const struct lawn_store *store,
          const struct lawn_store_record *record)
{
    for (unsigned i = store->due_next; i < store->due_end; i++) {
        if (store->due[i] == record) {
            return true;
        }
    }
    return false;
}

/* Adds the memory of the payload to *outside if it is in a separate block. */
static bool
check_record(const struct lawn_store *store,
             const struct lawn_store_record *record, size_t *outside, FILE *out)
{
    bool due = (record->payload & LAWN_STORE_DUE) != 0;

    if ((record->payload & LAWN_STORE_OUTSIDE) != 0 &&
        lawn__store_record_size(record) + LAWN_STORE_OUTSIDE_HEAD >
            LAWN_STORE_SLOTS_MAX) {
        *outside += lawn__store_memory_cost(&store->memory,
                                            lawn__store_record_size(record) +
                                                LAWN_STORE_OUTSIDE_HEAD);
    }
    if ((record->payload & LAWN_STORE_GONE) != 0) {
        return !lawn_pending(&record->timer) ||
               report_broken(out, "[J1] a timer that is gone still runs");
    }
    if (lawn__store_table_find(
            &store->table,
            lawn__store_table_hash(&store->table, record->id, record->id_size),
            record->id, record->id_size) != record) {
        return report_broken(out, "[J1] a record is not in the table");
    }
    if (lawn_pending(&record->timer) == due ||
        is_in_due(store, record) != due) {
        return report_broken(out, "[J2] a record neither runs nor is due");
    }
    return true;
}

static bool
check_due(const struct lawn_store *store, FILE *out)
{
    uint64_t last = 0;

    if (store->mows == 0 && store->due_next != store->due_end) {
        return report_broken(out, "[J4] a mow left timers behind");
    }
    for (unsigned i = store->due_next; i < store->due_end; i++) {
        if (store->due[i] == NULL) {
            continue;
        }
        uint64_t deadline = lawn_last_deadline(&store->due[i]->timer);
        if (deadline < last || deadline > lawn_now(store->lawn)) {
            return report_broken(out, "[J4] due timers are out of order");
        }
        last = deadline;
    }
    return true;
}

/* class_timers is the number of records in classes. */
static bool
check_classes(const struct lawn_store *store, uint64_t class_timers, FILE *out)
{
    struct lawn_class_counters counters;
    uint64_t count = 0;

    for (size_t i = 0; i < lawn__store_class_max(store); i++) {
        const struct lawn_store_class *entry = &store->classes[i];

        if (entry->cls == NULL) {
            continue;
        }
        lawn_class_stats(entry->cls, &counters);
        if (counters.name != entry->name || counters.detached != 0) {
            return report_broken(out, "[J6] a class was changed");
        }
        count += counters.count;
    }
    return (count == class_timers && count == store->class_timers) ||
           report_broken(out, "[J6] timers of classes are miscounted");
}

static size_t
sum_pieces(const struct lawn_store *store,
           const struct lawn_store_pointers *pointers)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < lawn__store_pointers_pieces(pointers); i++) {
        bytes += lawn__store_memory_cost(&store->memory,
                                         lawn__store_pointers_bytes(i));
    }
    return bytes;
}

bool
lawn_store_check(const struct lawn_store *store, FILE *out)
{
    uint64_t cursor = 0;
    uint64_t records = 0;
    uint64_t class_timers = 0;
    size_t outside = 0;
    size_t bytes = store->memory.kept_bytes +
                   lawn__store_memory_cost(&store->memory, sizeof(*store)) +
                   lawn__store_memory_cost(&store->memory, store->place_size) +
                   sum_pieces(store, &store->slots.slabs) +
                   sum_pieces(store, &store->table.segments);
    if (store->classes != NULL) {
        bytes += lawn__store_memory_cost(
            &store->memory, store->options.classes * sizeof(*store->classes));
    }

    if (!lawn_check(store->lawn, out) || !check_due(store, out) ||
        !lawn__store_slots_check(&store->slots, &bytes, out) ||
        !lawn__store_table_check(&store->table, &bytes, out)) {
        return false;
    }
    const struct lawn_store_record *record = NULL;
    while ((record = (const struct lawn_store_record *)lawn__store_slots_walk(
                &store->slots, &cursor)) != NULL) {
        if (!check_record(store, record, &outside, out)) {
            return false;
        }
        if ((record->payload & LAWN_STORE_GONE) == 0) {
            records++;
            class_timers += lawn__store_record_class(record) != NULL;
        }
    }
    if (records != store->table.count) {
        return report_broken(out, "[J1] the table contains an invalid record");
    }
    if (!check_classes(store, class_timers, out)) {
        return false;
    }
    if (outside != store->outside) {
        return report_broken(out, "[J5] payloads outside are miscounted");
    }
    if (bytes + outside != store->memory.bytes) {
        return report_broken(out, "[J5] memory is miscounted");
    }
    return true;
}
