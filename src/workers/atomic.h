/* atomic.h - all that threads of a set do to words that they share.
 *
 * Each access stands here by name, with its memory order, so that a test can
 * decide in which order the accesses of several threads happen: with
 * LAWN_EXPLORE they become calls, which tests/explore/ has.
 *
 * LAWN_FENCE_LIGHT and LAWN_FENCE_HEAVY are the two halves of one fence: where
 * one thread has LIGHT between a store and a load, which costs nothing, and
 * another has HEAVY between a store and a load, which is a system call, at least
 * one of the two loads sees the other's store. Only where
 * lawn__park_asymmetric() is true.
 *
 * Fields are plain integers and pointers, since <stdatomic.h> is not for C++,
 * and the timer's stand in a public header. */
#ifndef LAWN_WORKERS_ATOMIC_H
#define LAWN_WORKERS_ATOMIC_H

#include <stdint.h>

#define LAWN_RELAXED __ATOMIC_RELAXED
#define LAWN_ACQUIRE __ATOMIC_ACQUIRE
#define LAWN_RELEASE __ATOMIC_RELEASE
#define LAWN_SEQ_CST __ATOMIC_SEQ_CST

/* A word of 64 bits; some machines of 32 would align it to 4 bytes. */
#define LAWN_ATOMIC_U64 _Alignas(8) uint64_t

#if !defined LAWN_EXPLORE

#define LAWN_ATOMIC_LOAD(word, order) __atomic_load_n(word, order)
#define LAWN_ATOMIC_STORE(word, value, order)                                  \
    __atomic_store_n(word, value, order)
#define LAWN_ATOMIC_XCHG(word, value, order)                                   \
    __atomic_exchange_n(word, value, order)
/* If *word is *seen, it becomes value; else *seen becomes what it is. */
#define LAWN_ATOMIC_CAS(word, seen, value, order)                              \
    __atomic_compare_exchange_n(word, seen, value, 0, order, LAWN_ACQUIRE)
#define LAWN_ATOMIC_FADD(word, value, order)                                   \
    __atomic_fetch_add(word, value, order)
#define LAWN_FENCE_LIGHT() __atomic_signal_fence(LAWN_SEQ_CST)
#define LAWN_FENCE_HEAVY() lawn__park_heavy()

#else

/* A thread of the explorer may be interrupted before each of these. word is of
 * 4 or 8 bytes, as size says. */
uint64_t lawn__explore_load(const void *word, unsigned size, int order);
void lawn__explore_store(void *word, unsigned size, uint64_t value, int order);
uint64_t lawn__explore_xchg(void *word, unsigned size, uint64_t value);
int lawn__explore_cas(void *word, unsigned size, void *seen, uint64_t value);
uint64_t lawn__explore_fadd(void *word, unsigned size, uint64_t value);
void lawn__explore_heavy(void);

#define LAWN_ATOMIC_BITS(value) ((uint64_t)(uintptr_t)(value))
#define LAWN_ATOMIC_TYPED(word, bits)                                          \
    ((__typeof__(*(word) + 0))(uintptr_t)(bits))
#define LAWN_ATOMIC_LOAD(word, order)                                          \
    LAWN_ATOMIC_TYPED(word, lawn__explore_load(word, sizeof(*(word)), order))
#define LAWN_ATOMIC_STORE(word, value, order)                                  \
    lawn__explore_store(word, sizeof(*(word)), LAWN_ATOMIC_BITS(value), order)
#define LAWN_ATOMIC_XCHG(word, value, order)                                   \
    LAWN_ATOMIC_TYPED(word, lawn__explore_xchg(word, sizeof(*(word)),          \
                                               LAWN_ATOMIC_BITS(value)))
#define LAWN_ATOMIC_CAS(word, seen, value, order)                              \
    lawn__explore_cas(word, sizeof(*(word)), seen, LAWN_ATOMIC_BITS(value))
#define LAWN_ATOMIC_FADD(word, value, order)                                   \
    LAWN_ATOMIC_TYPED(word, lawn__explore_fadd(word, sizeof(*(word)),          \
                                               LAWN_ATOMIC_BITS(value)))
#define LAWN_FENCE_LIGHT() ((void)0)
#define LAWN_FENCE_HEAVY() lawn__explore_heavy()

#endif
#endif
