/* registry.h - which keys are to be looked at, and when: by database and name,
 * each at most once. Names are all it knows; who looks may find another key
 * there, or none.
 */
#ifndef REGISTRY_H
#define REGISTRY_H

#include "bytes.h"

#include <stdint.h>

#define REGISTRY_NAME_MAX 65535u

/* Sets when a key is to be looked at, in place of what was set before. False: no
 * memory, or the name is too long. */
bool registry_set(int db, struct bytes name, uint64_t when);
void registry_remove(int db, struct bytes name);
/* db < 0: all. */
void registry_flush(int db);
void registry_swap(int a, int b);

/* The earliest time set; LAWN_NEVER: none. */
uint64_t registry_next(void);

/* Takes a key whose time has come by now. False: none. name stays until the
 * next call of any function here. */
bool registry_pop(uint64_t now, int *db, struct bytes *name, uint64_t *when);

uint64_t registry_count(void);
size_t registry_bytes(void);

#endif
