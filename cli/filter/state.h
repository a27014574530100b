/* state.h - what a filter holds, in a file, from one run to the next.
 *
 * The file is four snapshots of stores (docs/SNAPSHOT.md), one after the other:
 * one of names and values, and those of keys, lines and early lines. It is
 * replaced as a whole. A lock beside it keeps a second filter away.
 */
#ifndef LAWN_CLI_STATE_H
#define LAWN_CLI_STATE_H

#include "filter.h"

/* Locks the file, and goes on from what it holds, if it is there. False: it
 * cannot be used, which was told; the file is as it was. */
bool state_load(struct filter *filter);

/* Saves what is held. False: it cannot be, which was told; the file is as it
 * was. */
bool state_save(struct filter *filter);

/* The same while the filter goes on, which it does if it cannot be: the first time
 * in a row is told, and when it could be again. */
void state_save_meanwhile(struct filter *filter);

void state_unlock(struct filter *filter);

/* The same to and from bytes; 0, or what lawn_store_strerror() has words for;
 * -EINVAL: it is whole, but not of such a filter. */
int state_write(struct filter *filter, lawn_store_write_fn *write, void *arg);
int state_read(struct filter *filter, lawn_store_read_fn *read, void *arg);

#endif
