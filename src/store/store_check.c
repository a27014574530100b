/* store_check.c - the invariants of store.h as a predicate. */
#include "store.h"

static bool
lawn_store_check_fails(FILE *out, const char *what)
{
    if (out != NULL) {
        (void)fprintf(out, "lawn_store_check: %s\n", what);
    }
    return false;
}

static bool
lawn_store_check_is_due(const struct lawn_store *store,
                        const struct lawn_store_record *record)
{
    unsigned i;

    for (i = store->due_next; i < store->due_end; i++) {
        if (store->due[i] == record) {
            return true;
        }
    }
    return false;
}

/* One record; adds up what stands outside in blocks. */
static bool
lawn_store_check_record(const struct lawn_store *store,
                        const struct lawn_store_record *record, size_t *outside,
                        FILE *out)
{
    bool due = (record->payload & LAWN_STORE_DUE) != 0;

    if ((record->payload & LAWN_STORE_OUTSIDE) != 0 &&
        lawn_store_record_size(record) + LAWN_STORE_OUTSIDE_HEAD >
            LAWN_STORE_SLOTS_MAX) {
        *outside += lawn_store_memory_cost(&store->memory,
                                           lawn_store_record_size(record) +
                                               LAWN_STORE_OUTSIDE_HEAD);
    }
    if ((record->payload & LAWN_STORE_GONE) != 0) {
        return !lawn_pending(&record->timer) ||
               lawn_store_check_fails(out,
                                      "[J1] a timer that is gone still runs");
    }
    if (lawn_store_table_find(
            &store->table,
            lawn_store_table_hash(&store->table, record->id, record->id_size),
            record->id, record->id_size) != record) {
        return lawn_store_check_fails(out, "[J1] a record is not in the table");
    }
    if (lawn_pending(&record->timer) == due ||
        lawn_store_check_is_due(store, record) != due) {
        return lawn_store_check_fails(out,
                                      "[J2] a record neither runs nor is due");
    }
    return true;
}

static bool
lawn_store_check_due(const struct lawn_store *store, FILE *out)
{
    uint64_t last = 0;
    unsigned i;

    if (store->mows == 0 && store->due_next != store->due_end) {
        return lawn_store_check_fails(out,
                                      "[J4] timers were left over by a mow");
    }
    for (i = store->due_next; i < store->due_end; i++) {
        uint64_t deadline;

        if (store->due[i] == NULL) {
            continue;
        }
        deadline = lawn_due(&store->due[i]->timer);
        if (deadline < last || deadline > lawn_now(store->lawn)) {
            return lawn_store_check_fails(out,
                                          "[J4] due timers are out of order");
        }
        last = deadline;
    }
    return true;
}

static size_t
lawn_store_check_pieces(const struct lawn_store *store,
                        const struct lawn_store_pointers *pointers)
{
    size_t bytes = 0;
    unsigned i;

    for (i = 0; i < lawn_store_pointers_pieces(pointers); i++) {
        bytes += lawn_store_memory_cost(&store->memory,
                                        lawn_store_pointers_bytes(i));
    }
    return bytes;
}

bool
lawn_store_check(const struct lawn_store *store, FILE *out)
{
    uint64_t cursor = 0;
    uint64_t records = 0;
    size_t outside = 0;
    size_t bytes = store->memory.kept_bytes +
                   lawn_store_memory_cost(&store->memory, sizeof *store) +
                   lawn_store_memory_cost(&store->memory, store->place_size) +
                   lawn_store_check_pieces(store, &store->slots.slabs) +
                   lawn_store_check_pieces(store, &store->table.segments);
    const struct lawn_store_record *record;

    if (!lawn_check(store->lawn, out) || !lawn_store_check_due(store, out) ||
        !lawn_store_slots_check(&store->slots, &bytes, out) ||
        !lawn_store_table_check(&store->table, &bytes, out)) {
        return false;
    }
    while ((record = (const struct lawn_store_record *)lawn_store_slots_walk(
                &store->slots, &cursor)) != NULL) {
        if (!lawn_store_check_record(store, record, &outside, out)) {
            return false;
        }
        records += (record->payload & LAWN_STORE_GONE) == 0;
    }
    if (records != store->table.count) {
        return lawn_store_check_fails(out,
                                      "[J1] the table holds what is no record");
    }
    if (outside != store->outside) {
        return lawn_store_check_fails(out,
                                      "[J5] payloads outside are miscounted");
    }
    if (bytes + outside != store->memory.bytes) {
        return lawn_store_check_fails(out, "[J5] memory is miscounted");
    }
    return true;
}
