/* due_batch.h - fires timers with equal deadlines in the order of their lines.
 *
 * A lawn fires timers with equal deadlines and equal TTLs in the order in which
 * they were started; for different TTLs the order is unspecified. If a verb has
 * several TTLs, the due timers are copied, sorted by line number, and then
 * fired. If a verb has one TTL but the state contains others, they are sorted
 * by TTL: of two timers with the same deadline, the one with the longer TTL was
 * started first.
 */
#ifndef LAWN_CLI_DUE_BATCH_H
#define LAWN_CLI_DUE_BATCH_H

#include "filter.h"

typedef void due_batch_fn(struct filter *filter,
                          const struct lawn_store_timer *timer);

/* Fires the timers of a store that are due at a time, in order. order NULL:
 * they have one TTL, except for timers from the state. */
void due_batch_fire(struct filter *filter, struct lawn_store *store,
                    uint64_t time, filter_order_fn *order, due_batch_fn *fire);

void due_batch_free(struct filter *filter);

#endif
