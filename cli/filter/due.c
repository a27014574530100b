/* due.c - timers that are due at one time, in the order of their lines' coming.
 *
 * Cost: a copy of each, and a sort of what is due at the same nanosecond.
 */
#include "due.h"
#include "hold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DUE_BUDGET 4096u /* timers until the output is looked at */

/* One that fired; its id and payload stand in the bytes, from at on. */
struct due_one {
    uint64_t order;
    size_t place; /* as the store had them */
    size_t at;
    struct lawn_store_timer timer;
};

struct due_collecting {
    struct filter *filter;
    struct due *due;
    filter_order_fn *order;
    due_fn *fire;
};

/* Room for one more, with so many bytes. */
static bool
due_reserve(struct due *due, size_t size)
{
    if (due->count == due->room) {
        size_t room = due->room > 0 ? 2 * due->room : 64;
        struct due_one *all = realloc(due->all, room * sizeof *all);
        if (all == NULL)
            return false;
        due->all = all;
        due->room = room;
    }
    if (due->bytes == NULL || due->capacity - due->size < size) {
        size_t capacity = due->capacity + due->capacity / 2 + size + 1;
        char *bytes = realloc(due->bytes, capacity);
        if (bytes == NULL)
            return false;
        due->bytes = bytes;
        due->capacity = capacity;
    }
    return true;
}

static void
due_collect(const struct lawn_store_timer *timer, void *arg)
{
    struct due_collecting *collecting = arg;
    struct due *due = collecting->due;
    /* Each id and payload begins at a multiple of 8, as in a store. */
    size_t id = (timer->id_size + 7) & ~(size_t)7;
    size_t payload = (timer->payload_size + 7) & ~(size_t)7;
    if (!due_reserve(due, id + payload)) {
        hold_started(collecting->filter, -ENOMEM);
        collecting->fire(collecting->filter, timer); /* out of order, but now */
        return;
    }
    due->all[due->count] = (struct due_one){
        .order = collecting->order(collecting->filter, timer),
        .place = due->count,
        .at = due->size,
        .timer = *timer,
    };
    memcpy(due->bytes + due->size, timer->id, timer->id_size);
    memcpy(due->bytes + due->size + id, timer->payload, timer->payload_size);
    due->size += id + payload;
    due->count++;
}

static uint64_t
due_ttl_order(const struct filter *filter, const struct lawn_store_timer *timer)
{
    (void)filter;
    return UINT64_MAX - timer->ttl;
}

static int
due_compare(const void *a, const void *b)
{
    const struct due_one *left = a;
    const struct due_one *right = b;
    if (left->order == right->order)
        return (left->place > right->place) - (left->place < right->place);
    return (left->order > right->order) - (left->order < right->order);
}

static void
due_pass_on(const struct lawn_store_timer *timer, void *arg)
{
    struct due_collecting *collecting = arg;
    collecting->fire(collecting->filter, timer);
}

void
due_fire(struct filter *filter, struct lawn_store *store, uint64_t time,
         filter_order_fn *order, due_fn *fire)
{
    struct due *due = &filter->due;
    bool one = filter->options.exit_on_absent; /* what is due after it stays */
    if (order == NULL && filter->mixed && !one)
        order = due_ttl_order;
    struct due_collecting collecting = {filter, due, order, fire};
    if (order == NULL) {
        size_t budget = one ? 1 : DUE_BUDGET;
        lawn_store_mow(store, time, budget, due_pass_on, &collecting);
        return;
    }
    due->count = 0;
    due->size = 0;
    lawn_store_mow(store, time, SIZE_MAX, due_collect, &collecting);
    if (due->count > 1)
        qsort(due->all, due->count, sizeof *due->all, due_compare);
    for (size_t i = 0; i < due->count; i++) {
        struct lawn_store_timer timer = due->all[i].timer;
        timer.id = due->bytes + due->all[i].at;
        timer.payload =
            due->bytes + due->all[i].at + ((timer.id_size + 7) & ~(size_t)7);
        fire(filter, &timer);
    }
}

void
due_close(struct filter *filter)
{
    free(filter->due.all);
    free(filter->due.bytes);
}
