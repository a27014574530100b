/* atomic.h - accesses to words that the threads of a set share. With
 * LAWN_EXPLORE, tests/explore/ implements them and controls their order.
 *
 * LAWN_FENCE_LIGHT and LAWN_FENCE_HEAVY are the two halves of a fence. Suppose
 * that each of two threads stores a word and then loads the other thread's
 * word. If one thread executes LIGHT between its store and its load, and the
 * other HEAVY, at least one load sees the other thread's store. LIGHT costs
 * nothing; HEAVY is a system call. They work only if lawn__park_asymmetric() is
 * true.
 *
 * Fields are plain integers and pointers, because the timer is declared in a
 * public header, and <stdatomic.h> does not support C++. */
#ifndef LAWN_WORKERS_ATOMIC_H
#define LAWN_WORKERS_ATOMIC_H

#include <stdint.h>

#define LAWN_RELAXED __ATOMIC_RELAXED
#define LAWN_ACQUIRE __ATOMIC_ACQUIRE
#define LAWN_RELEASE __ATOMIC_RELEASE
#define LAWN_SEQ_CST __ATOMIC_SEQ_CST

/* Words that different threads write often are in different cache lines. */
#define LAWN_LINE 64

/* A 64-bit word; some 32-bit machines would align it to 4 bytes. */
#define LAWN_ATOMIC_U64 _Alignas(8) uint64_t

#if !defined LAWN_EXPLORE

#define LAWN_ATOMIC_LOAD(word, order) __atomic_load_n(word, order)
#define LAWN_ATOMIC_STORE(word, value, order)                                  \
    __atomic_store_n(word, value, order)
#define LAWN_ATOMIC_XCHG(word, value, order)                                   \
    __atomic_exchange_n(word, value, order)
#define LAWN_ATOMIC_CAS(word, seen, value, order)                              \
    __atomic_compare_exchange_n(word, seen, value, 0, order, LAWN_ACQUIRE)
#define LAWN_ATOMIC_FADD(word, value, order)                                   \
    __atomic_fetch_add(word, value, order)
#define LAWN_FENCE_LIGHT() __atomic_signal_fence(LAWN_SEQ_CST)
#define LAWN_FENCE_HEAVY() lawn__park_heavy()

#else

/* size is 4 or 8. */
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
