/* store.h - the parts of a store and its invariants.
 *
 *   store ──► table   maps an id to a record
 *         ├─► lawn    the timers in the records, by deadline
 *         ├─► slots   memory for records, for payloads outside of them and for
 *         │           chained buckets
 *         └─► due     up to 16 records that a mow has removed from the lawn and
 *                     is about to fire
 *
 * INVARIANTS. They hold between any two calls, and while a callback runs:
 *   [J1] A live slot in a slab of records is a record. It is in the table
 *        under its id, or it is GONE: fired or popped, and kept until the
 *        caller has read it.
 *   [J2] A record in the table either runs on the lawn, or is DUE and in
 *        due[].
 *   [J3] No id is in the table twice. Each record is in the bucket that its
 *        hash determines, with its tag. Chained buckets are filled in order.
 *   [J4] due[] is sorted by deadline, and no deadline is after the lawn's
 *        clock. If no mow is running, due[] is empty.
 *   [J5] memory.bytes is the sum over all parts.
 * lawn_store_check() checks them.
 */
#ifndef LAWN_STORE_STORE_H
#define LAWN_STORE_STORE_H

#include "table.h"

#define LAWN_STORE_BATCH 16u

struct lawn_store {
    struct lawn_store_memory memory;
    struct lawn *lawn;
    uint64_t max_timers;
    struct lawn_store_slots slots;
    struct lawn_store_table table;
    size_t outside; /* bytes of payloads in separate blocks */

    /* Records to fire next: due[due_next] to due[due_end - 1]. NULL if the
     * timer was stopped or restarted meanwhile. */
    struct lawn_store_record *due[LAWN_STORE_BATCH];
    uint64_t due_hash[LAWN_STORE_BATCH];
    unsigned due_next;
    unsigned due_end;

    unsigned mows; /* number of running mows; callbacks may nest them */
    bool dying;    /* lawn_store_free() was called by a callback */
    struct lawn_store_record *popped; /* the last result of lawn_store_pop() */

    struct lawn_options options; /* for placing the lawn again */
    void *place;
    size_t place_size;
};

/* The record must be neither in the table nor on the lawn. */
void lawn__store_discard(struct lawn_store *store,
                         struct lawn_store_record *record);

/* Visits the timers in the order that lawn__store_restore() requires. Stops if
 * visit returns false. */
typedef bool lawn_store_visit_fn(const struct lawn_store_timer *timer,
                                 bool on_blade, void *arg);
bool lawn__store_each(const struct lawn_store *store,
                      lawn_store_visit_fn *visit, void *arg);

/* `first` is the earliest deadline of the timers; it may be in the past. The
 * store must be empty. */
void lawn__store_restore_begin(struct lawn_store *store, uint64_t first);

/* Adds a copy of a saved timer. Returns 0; -EEXIST if the id exists; -ENOMEM or
 * -ENOSPC. */
int lawn__store_restore(struct lawn_store *store,
                        const struct lawn_store_timer *timer, bool on_blade);

#endif
