/* registry.h - the wake-up times of keys, by database and name, at most one for
 * each key. The caller may find a different key under the name, or none.
 *
 * Costs, for D databases: set and remove O(log D); pop O(log D) plus the lawn's
 * cost of advancing its clock. An empty database that was used takes 14 KiB
 * until it is flushed. A key with a name of 10 bytes takes 83 bytes.
 */
#ifndef REGISTRY_H
#define REGISTRY_H

#include "bytes.h"

#include <stdint.h>

#define REGISTRY_NAME_MAX 65535u

/* The time of keys that need attention at once: events in them may have become
 * due before the keys reached this server. */
#define REGISTRY_AT_ONCE 0u

/* Sets the wake-up time of a key, replacing the previous one. Returns false if
 * memory allocation fails or the name is too long; the previous time then
 * stays. */
bool registry_set(int db, struct bytes name, uint64_t when);
void registry_remove(int db, struct bytes name);
/* db < 0: all databases. */
void registry_flush(int db);
void registry_swap(int a, int b);

/* Returns the earliest time, or LAWN_NEVER. It may be too early if the key with
 * that time was removed or set again. Then a wake-up finds nothing to do. */
uint64_t registry_next(void);

/* Removes a key whose time is now or earlier, in the order of times. Keys that
 * were set for times that had passed already are returned in the order in which
 * they were set. Returns false if there is none. name is valid until the next
 * call of any function here. If the clock was set back, now may be earlier than
 * in the last call. If keys are set after that, their database is sorted again,
 * once, when the first of them is due. */
bool registry_pop(uint64_t now, int *db, struct bytes *name, uint64_t *when);

/* O(D) */
uint64_t registry_count(void);
size_t registry_bytes(void);

#endif
