/* due.h - timers that are due at one time, in the order of their lines' coming.
 *
 * A lawn fires timers of one deadline and one TTL in the order in which they were
 * started; those of several TTLs in any order. Where there are several, what
 * fires is copied, sorted by the number of its line, and handed on; or, if a verb
 * has one TTL and the state brings others, by the TTL: who has waited longest until
 * the same time came first.
 */
#ifndef LAWN_CLI_DUE_H
#define LAWN_CLI_DUE_H

#include "filter.h"

typedef void due_fn(struct filter *filter,
                    const struct lawn_store_timer *timer);

/* Fires what is due by a time in a store, in order. Without an order, timers
 * have one TTL but for those of the state. */
void due_fire(struct filter *filter, struct lawn_store *store, uint64_t time,
              filter_order_fn *order, due_fn *fire);

void due_close(struct filter *filter);

#endif
