/* registry.h - which keys are to be looked at, and when: by database and name,
 * each at most once. Names are all it knows; who looks may find another key
 * there, or none.
 *
 * Costs: K keys in D databases; set O(1) and O(log D), remove O(log D), pop
 * O(log D) and what the clock's way costs a lawn. An empty database that was
 * used takes 14 KiB until it is flushed; a key of 10 bytes, 83.
 */
#ifndef REGISTRY_H
#define REGISTRY_H

#include "bytes.h"

#include <stdint.h>

#define REGISTRY_NAME_MAX 65535u

/* The time of keys that are to be looked at at once, because events in them may have
 * been due before they came here: listeners here have not heard of them. */
#define REGISTRY_AT_ONCE 0u

/* Sets when a key is to be looked at, in place of what was set before. False: no
 * memory, or the name is too long; what was set before stays. */
bool registry_set(int db, struct bytes name, uint64_t when);
void registry_remove(int db, struct bytes name);
/* db < 0: all. */
void registry_flush(int db);
void registry_swap(int a, int b);

/* The earliest time set; LAWN_NEVER: none. It is earlier than that if the key
 * that had it was removed or set anew: so one who waits may wake up once for
 * nothing, and nobody searches when a key goes. */
uint64_t registry_next(void);

/* Takes a key whose time has come by now, in the order of times; but keys that were
 * set for times at which others had been taken come in the order in which they were
 * set, among themselves. False:
 * none. name stays until the next call of any function here. A now before that
 * of the last pop is fine: the clock was set back, and when the next key that
 * was set since is due, its database is sorted anew, once. */
bool registry_pop(uint64_t now, int *db, struct bytes *name, uint64_t *when);

/* O(D) */
uint64_t registry_count(void);
size_t registry_bytes(void);

#endif
