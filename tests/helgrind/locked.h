/* locked.h - the few atomic operations that the tests with threads use, each
 * under a lock: see locked.c. Replaces <stdatomic.h>. */
#ifndef LAWN_TESTS_LOCKED_H
#define LAWN_TESTS_LOCKED_H

#include <stdbool.h>
#include <stdint.h>

typedef unsigned atomic_uint;
typedef bool atomic_bool;
typedef uint_fast64_t atomic_uint_fast64_t;

uint64_t lawn__explore_load(const void *word, unsigned size, int order);
void lawn__explore_store(void *word, unsigned size, uint64_t value, int order);
uint64_t lawn__explore_fadd(void *word, unsigned size, uint64_t value);

#define atomic_load(word)                                                      \
    ((__typeof__(*(word)))lawn__explore_load(word, sizeof(*(word)), 0))
#define atomic_store(word, value)                                              \
    lawn__explore_store(word, sizeof(*(word)), (uint64_t)(value), 0)
#define atomic_fetch_add(word, value)                                          \
    lawn__explore_fadd(word, sizeof(*(word)), (uint64_t)(value))
#define atomic_fetch_sub(word, value)                                          \
    lawn__explore_fadd(word, sizeof(*(word)), -(uint64_t)(value))

#endif
