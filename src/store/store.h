/* store.h - what a store is made of, and what always holds of it.
 *
 *   store ──► table   id → record
 *         ├─► lawn    the timers in the records, by deadline
 *         ├─► slots   the memory that records, payloads outside them and
 *         │           chained buckets stand in
 *         └─► due     up to 16 records that a mow has taken off the lawn, and
 *                     is about to fire
 *
 * INVARIANTS. Between any two calls, and whenever a callback runs:
 *   [J1] a live slot of records is a record; it is in the table under its id,
 *        or GONE: fired or popped, and kept until it has been read
 *   [J2] a record in the table either runs on the lawn, or is DUE and stands
 *        in due[]
 *   [J3] no id is in the table twice; each record is in the bucket that its
 *        hash determines, with its tag; chained buckets are filled in order
 *   [J4] due[] is in the order of deadlines, none of which lies after the
 *        lawn's clock; outside all mows it is empty
 *   [J5] memory.bytes is what all parts take
 * lawn_store_check() walks them all.
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
    size_t outside; /* what payloads in blocks of their own take */

    /* What the next mow or callback fires: due[due_next] up to due[due_end],
     * but those that are NULL, since they were stopped or started again. */
    struct lawn_store_record *due[LAWN_STORE_BATCH];
    uint64_t due_hash[LAWN_STORE_BATCH];
    unsigned due_next;
    unsigned due_end;

    unsigned mows; /* under way, one in the other's callback */
    bool dying;    /* lawn_store_free() was called in a callback */
    struct lawn_store_record *popped; /* that lawn_store_pop() told last */

    struct lawn_options options; /* to place the lawn again */
    void *place;
    size_t place_size;
};

/* Gives back what a record takes; it is in neither table nor lawn. */
void lawn__store_discard(struct lawn_store *store,
                         struct lawn_store_record *record);

/* Tells all timers, in the order in which lawn__store_restore() must get them.
 * visit gets each timer and whether it is on a blade; false ends it. */
typedef bool lawn_store_visit_fn(const struct lawn_store_timer *timer,
                                 bool on_blade, void *arg);
bool lawn__store_each(const struct lawn_store *store,
                      lawn_store_visit_fn *visit, void *arg);

/* Makes an empty store ready for timers with deadlines from first on, which may
 * have passed. */
void lawn__store_restore_begin(struct lawn_store *store, uint64_t first);

/* Adds a timer as it was, copied. 0; -EEXIST if the id is there; -ENOMEM,
 * -ENOSPC. */
int lawn__store_restore(struct lawn_store *store,
                        const struct lawn_store_timer *timer, bool on_blade);

#endif
