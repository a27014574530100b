/* due_batch.c - fires timers with equal deadlines in order: see due_batch.h.
 *
 * Costs one copy of each timer, and a sort of the timers due at one nanosecond.
 */
#include "due_batch.h"
#include "stores.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_BUDGET 4096u /* timers fired before the output is checked */

/* A copy of a timer. Its id and payload are in the bytes of the batch, at the
 * offset `at`. */
struct due_timer {
    uint64_t order;
    size_t place; /* in the order of the store */
    size_t at;
    struct lawn_store_timer timer;
};

struct collection {
    struct filter *filter;
    struct due_batch *batch;
    filter_order_fn *order;
    due_batch_fn *fire;
};

/* Makes room for one more timer with size bytes. */
static bool
reserve(struct due_batch *batch, size_t size)
{
    if (batch->count == batch->room) {
        size_t room = batch->room > 0 ? 2 * batch->room : 64;
        struct due_timer *all = realloc(batch->all, room * sizeof(*all));
        if (all == NULL) {
            return false;
        }
        batch->all = all;
        batch->room = room;
    }
    if (batch->bytes == NULL || batch->capacity - batch->size < size) {
        size_t capacity = batch->capacity + batch->capacity / 2 + size + 1;
        char *bytes = realloc(batch->bytes, capacity);
        if (bytes == NULL) {
            return false;
        }
        batch->bytes = bytes;
        batch->capacity = capacity;
    }
    return true;
}

static void
collect(const struct lawn_store_timer *timer, void *arg)
{
    struct collection *collecting = arg;
    struct due_batch *batch = collecting->batch;
    /* Ids and payloads are aligned to 8 bytes, as in a store. */
    size_t id = (timer->id_size + 7) & ~(size_t)7;
    size_t payload = (timer->payload_size + 7) & ~(size_t)7;
    if (!reserve(batch, id + payload)) {
        stores_succeeded(collecting->filter, -ENOMEM);
        collecting->fire(collecting->filter,
                         timer); /* out of order, but not lost */
        return;
    }
    batch->all[batch->count] = (struct due_timer){
        .order = collecting->order(collecting->filter, timer),
        .place = batch->count,
        .at = batch->size,
        .timer = *timer,
    };
    memcpy(batch->bytes + batch->size, timer->id, timer->id_size);
    memcpy(batch->bytes + batch->size + id, timer->payload,
           timer->payload_size);
    batch->size += id + payload;
    batch->count++;
}

static uint64_t
ttl_order(const struct filter *filter, const struct lawn_store_timer *timer)
{
    (void)filter;
    return UINT64_MAX - timer->ttl;
}

static int
compare(const void *a, const void *b)
{
    const struct due_timer *left = a;
    const struct due_timer *right = b;
    if (left->order == right->order) {
        return (left->place > right->place) - (left->place < right->place);
    }
    return (left->order > right->order) - (left->order < right->order);
}

static void
fire_now(const struct lawn_store_timer *timer, void *arg)
{
    struct collection *collecting = arg;
    collecting->fire(collecting->filter, timer);
}

void
due_batch_fire(struct filter *filter, struct lawn_store *store, uint64_t time,
               filter_order_fn *order, due_batch_fn *fire)
{
    struct due_batch *batch = &filter->stores.batch;
    bool one =
        filter->options.exit_on_absent; /* later timers stay in the store */
    if (order == NULL && filter->stores.mixed_ttls && !one) {
        order = ttl_order;
    }
    struct collection collecting = {filter, batch, order, fire};
    if (order == NULL) {
        size_t budget = one ? 1 : BATCH_BUDGET;
        lawn_store_mow(store, time, budget, fire_now, &collecting);
        return;
    }
    batch->count = 0;
    batch->size = 0;
    lawn_store_mow(store, time, SIZE_MAX, collect, &collecting);
    if (batch->count > 1) {
        qsort(batch->all, batch->count, sizeof(*batch->all), compare);
    }
    for (size_t i = 0; i < batch->count; i++) {
        struct lawn_store_timer timer = batch->all[i].timer;
        timer.id = batch->bytes + batch->all[i].at;
        timer.payload = batch->bytes + batch->all[i].at +
                        ((timer.id_size + 7) & ~(size_t)7);
        fire(filter, &timer);
    }
}

void
due_batch_free(struct filter *filter)
{
    free(filter->stores.batch.all);
    free(filter->stores.batch.bytes);
}
