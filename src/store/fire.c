/* fire.c - fires due timers, and finds the next one.
 *
 * lawn_store_mow() removes timers from the lawn in batches, and calls back
 * after lawn_mow() has returned. So callbacks may call any function, including
 * another mow, and the table's buckets for a whole batch are prefetched at
 * once. A timer that was removed from the lawn but has not fired is in due[],
 * and can be stopped, restarted and found [J2].
 *
 * A change of a class must apply to all of its timers, but cannot reach those
 * in due[]. So if there are timers of classes, a batch is one timer, which
 * fires at once [J6]. */
#include "store.h"

static void
collect_due(struct lawn_timer *timer, void *arg)
{
    struct lawn_store *store = (struct lawn_store *)arg;
    struct lawn_store_record *record =
        LAWN_CONTAINER(timer, struct lawn_store_record, timer);

    record->payload |= LAWN_STORE_DUE;
    store->class_timers -= lawn__store_record_class(record) != NULL;
    store->due[store->due_end] = record;
    store->due_hash[store->due_end] =
        lawn__store_table_hash(&store->table, record->id, record->id_size);
    lawn__store_table_prefetch(&store->table, store->due_hash[store->due_end]);
    store->due_end++;
}

/* Removes the next timer due by now from the store, but keeps its record.
 * Returns NULL if there is none. The caller needs at most `wanted` timers. */
static struct lawn_store_record *
take_next_due(struct lawn_store *store, uint64_t now, size_t wanted)
{
    struct lawn_store_record *record = NULL;

    while (record == NULL) {
        if (store->due_next == store->due_end) {
            size_t most = store->class_timers > 0 ? 1 : LAWN_STORE_BATCH;
            size_t batch = wanted < most ? wanted : most;

            store->due_next = store->due_end = 0;
            if (lawn_mow(store->lawn, now, batch, collect_due, store) < batch &&
                store->due_end == 0) {
                return NULL;
            }
            /* The lawn has reached its limit of work for one mow. */
            if (store->due_end == 0) {
                continue;
            }
        }
        record = store->due[store->due_next];
        /* A callback may have called this mow, with an earlier time than the
         * mow that filled due[]. */
        if (record != NULL && lawn_last_deadline(&record->timer) > now) {
            return NULL;
        }
        store->due_next++;
    }
    record->payload ^= LAWN_STORE_DUE | LAWN_STORE_GONE;
    lawn__store_table_remove(&store->table,
                             store->due_hash[store->due_next - 1], record);
    return record;
}

size_t
lawn_store_mow(struct lawn_store *store, uint64_t now, size_t budget,
               lawn_store_fire_fn *fire, void *arg)
{
    size_t fired = 0;

    lawn_set_now(store->lawn, now);
    /* At the last tick, timers that callbacks start are due at once; the limit
     * ensures that the mow ends. */
    if (lawn_now(store->lawn) == LAWN_NEVER - 1 &&
        budget > store->table.count) {
        budget = (size_t)store->table.count;
    }
    store->mows++;
    while (fired < budget && !store->dying) {
        struct lawn_store_record *record =
            take_next_due(store, now, budget - fired);

        if (record == NULL) {
            break;
        }
        struct lawn_store_timer timer;
        lawn__store_record_describe(record, &timer);
        fire(&timer, arg);
        lawn__store_discard(store, record);
        fired++;
    }
    store->mows--;
    if (store->dying && store->mows == 0) {
        lawn_store_free(store);
    }
    return fired;
}

bool
lawn_store_pop(struct lawn_store *store, uint64_t now,
               struct lawn_store_timer *out)
{
    lawn_set_now(store->lawn, now);
    if (store->popped != NULL) {
        lawn__store_discard(store, store->popped);
    }
    struct lawn_store_record *record = store->popped =
        take_next_due(store, now, 1);
    if (record != NULL && out != NULL) {
        lawn__store_record_describe(record, out);
    }
    return record != NULL;
}

static const struct lawn_store_record *
find_collected(const struct lawn_store *store)
{
    for (unsigned i = store->due_next; i < store->due_end; i++) {
        if (store->due[i] != NULL) {
            return store->due[i];
        }
    }
    return NULL;
}

uint64_t
lawn_store_next(struct lawn_store *store)
{
    const struct lawn_store_record *waiting = find_collected(store);

    return waiting != NULL ? lawn_last_deadline(&waiting->timer)
                           : lawn_next_exact(store->lawn);
}

uint64_t
lawn__store_next_classless(struct lawn_store *store)
{
    const struct lawn_store_record *waiting = find_collected(store);

    if (waiting != NULL) {
        return lawn_last_deadline(&waiting->timer);
    }
    (void)lawn_next_exact(store->lawn);
    const struct lawn_timer *timer = lawn_next_timer(store->lawn);
    return timer != NULL ? lawn_deadline(timer) : LAWN_NEVER;
}

bool
lawn_store_next_timer(struct lawn_store *store, struct lawn_store_timer *out)
{
    const struct lawn_store_record *record = find_collected(store);

    if (record == NULL) {
        /* lawn_next_timer() alone may reach its limit of entries and return a
         * later timer. lawn_next_exact() has no limit, and lawn_next_timer()
         * then uses its result. */
        uint64_t next = lawn_next_exact(store->lawn);
        struct lawn_timer *timer = lawn_next_timer(store->lawn);
        if (next == LAWN_NEVER) {
            return false;
        }
        record = store->class_timers == 0 ||
                         (timer != NULL && lawn_deadline(timer) == next)
                     ? LAWN_CONTAINER(timer, struct lawn_store_record, timer)
                     : lawn__store_classes_first(store, next);
    }
    if (out != NULL) {
        lawn__store_record_describe(record, out);
    }
    return true;
}

bool
lawn_store_iterate(const struct lawn_store *store, uint64_t *cursor,
                   struct lawn_store_timer *out)
{
    const struct lawn_store_record *record = NULL;

    do {
        record = (const struct lawn_store_record *)lawn__store_slots_walk(
            &store->slots, cursor);
        if (record == NULL) {
            return false;
        }
    } while ((record->payload & LAWN_STORE_GONE) != 0);
    if (out != NULL) {
        lawn__store_record_describe(record, out);
    }
    return true;
}

struct lawn_store_fire_visit {
    lawn_store_visit_fn *visit;
    void *arg;
};

static bool
visit_timer(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    const struct lawn_store_fire_visit *visit =
        (const struct lawn_store_fire_visit *)arg;
    struct lawn_store_timer out;

    lawn__store_record_describe(
        LAWN_CONTAINER(timer, struct lawn_store_record, timer), &out);
    return visit->visit(&out, ttl != 0, visit->arg);
}

bool
lawn__store_each(const struct lawn_store *store, lawn_store_visit_fn *visit,
                 void *arg)
{
    struct lawn_store_fire_visit each = {visit, arg};

    /* Timers in due[] fire before all timers on the lawn. They are not on a
     * blade. */
    for (unsigned i = store->due_next; i < store->due_end; i++) {
        if (store->due[i] != NULL &&
            !visit_timer(&store->due[i]->timer, 0, &each)) {
            return false;
        }
    }
    return lawn_each(store->lawn, visit_timer, &each);
}
