/* store.h - the parts of a store and its invariants.
 *
 *   store ──► table   maps an id to a record
 *         ├─► lawn    the timers in the records, by deadline
 *         ├─► slots   memory for records, for payloads outside of them and for
 *         │           chained buckets
 *         ├─► due     up to 16 records that a mow has removed from the lawn and
 *         │           is about to fire
 *         └─► classes names of the lawn's classes
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
 *   [J6] A record in a class runs on the lawn, in that class, which is one of
 *        the store's. class_timers is the number of these records. None is in
 *        due[] while a callback runs, so changes of a class apply to all of
 *        its timers.
 * lawn_store_check() checks them.
 */
#ifndef LAWN_STORE_STORE_H
#define LAWN_STORE_STORE_H

#include "table.h"

#define LAWN_STORE_BATCH 16u
#define LAWN_STORE_CLASSES_MAX 65535u

struct lawn_store_class {
    struct lawn_class *cls; /* NULL if not in use */

    /* The state to which place_lawn() resets the class. A saved_ttl of 0: the
     * class did not exist then. */
    uint64_t saved_ttl;
    uint32_t saved_weight;
    bool saved_pause;

    /* While a snapshot is saved or loaded. */
    uint32_t number;              /* 1 + its number there; 0: none */
    struct lawn_store_class *nth; /* the class with this element's number */
    uint64_t since;               /* when it was saved, if paused */
    char name[LAWN_STORE_CLASS_NAME_MAX + 1];
};

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

    struct lawn_store_class *classes; /* options.classes of them, or NULL */
    uint64_t class_timers;            /* timers of all classes */

    struct lawn_options options; /* for placing the lawn again */
    void *place;
    size_t place_size;
};

/* Returns the length of the array `classes`. */
static inline size_t
lawn__store_class_max(const struct lawn_store *store)
{
    return store->classes != NULL ? store->options.classes : 0;
}

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

/* The same for a timer of a class that was started at timer->deadline. Returns
 * LAWN_STORE_INCONSISTENT if another timer of the class was started later. */
int lawn__store_restore_in(struct lawn_store *store, struct lawn_class *cls,
                           const struct lawn_store_timer *timer);

/* Removes all timers, and resets the classes to their saved states. */
void lawn__store_reset(struct lawn_store *store);

/* Returns the earliest deadline of timers without a class, or LAWN_NEVER. */
uint64_t lawn__store_next_classless(struct lawn_store *store);

/* Removes a record from its class, but not from the store. */
void lawn__store_class_leave(struct lawn_store *store,
                             struct lawn_store_record *record);

/* Starts a record in a class. It must be idle, or in this class. */
void lawn__store_class_enter(struct lawn_store *store, struct lawn_class *cls,
                             struct lawn_store_record *record);

/* Returns the store's entry of a class. */
struct lawn_store_class *lawn__store_class_of(const struct lawn_store *store,
                                              const struct lawn_class *cls);

/* Returns the first timer with this deadline of a class that is not paused, or
 * NULL. */
const struct lawn_store_record *
lawn__store_classes_first(const struct lawn_store *store, uint64_t deadline);

/* Save the states of all classes; create them again on a new lawn, in these
 * states and at the same addresses. */
void lawn__store_classes_save(struct lawn_store *store);
void lawn__store_classes_restore(struct lawn_store *store);

#endif
