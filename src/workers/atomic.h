/* atomic.h - all that threads of a set do to words that they share.
 *
 * Each access stands here by name, with its memory order, so that a test can
 * decide in which order the accesses of several threads happen: with
 * LAWN_EXPLORE they become calls, which tests/explore/ has.
 *
 * L_LIGHT and L_HEAVY are the two halves of one fence: where one thread says
 * LIGHT between a store and a load, which costs nothing, and another HEAVY
 * between a store and a load, which is a system call, at least one of the two
 * loads sees the other's store. Only where lawn_park_asymmetric() is true.
 *
 * Fields are plain integers and pointers, since <stdatomic.h> is not for C++,
 * and the timer's stand in a public header. */
#ifndef LAWN_WORKERS_ATOMIC_H
#define LAWN_WORKERS_ATOMIC_H

#include <stdint.h>

#define L_RELAXED __ATOMIC_RELAXED
#define L_ACQUIRE __ATOMIC_ACQUIRE
#define L_RELEASE __ATOMIC_RELEASE
#define L_SEQ_CST __ATOMIC_SEQ_CST

/* A word of 64 bits; some machines of 32 would align it to 4 bytes. */
#define L_U64 _Alignas(8) uint64_t

#if !defined LAWN_EXPLORE

#define L_LOAD(word, order) __atomic_load_n(word, order)
#define L_STORE(word, value, order) __atomic_store_n(word, value, order)
#define L_XCHG(word, value, order) __atomic_exchange_n(word, value, order)
/* If *word is *seen, it becomes value; else *seen becomes what it is. */
#define L_CAS(word, seen, value, order)                                        \
    __atomic_compare_exchange_n(word, seen, value, 0, order, L_ACQUIRE)
#define L_FADD(word, value, order) __atomic_fetch_add(word, value, order)
#define L_LIGHT() __atomic_signal_fence(L_SEQ_CST)
#define L_HEAVY() lawn_park_heavy()

#else

/* A thread of the explorer may be interrupted before each of these. word is of
 * 4 or 8 bytes, as size says. */
uint64_t lawn_explore_load(const void *word, unsigned size, int order);
void lawn_explore_store(void *word, unsigned size, uint64_t value, int order);
uint64_t lawn_explore_xchg(void *word, unsigned size, uint64_t value);
int lawn_explore_cas(void *word, unsigned size, void *seen, uint64_t value);
uint64_t lawn_explore_fadd(void *word, unsigned size, uint64_t value);
void lawn_explore_heavy(void);

#define L_BITS(value) ((uint64_t)(uintptr_t)(value))
#define L_TYPED(word, bits) ((__typeof__(*(word) + 0))(uintptr_t)(bits))
#define L_LOAD(word, order)                                                    \
    L_TYPED(word, lawn_explore_load(word, sizeof *(word), order))
#define L_STORE(word, value, order)                                            \
    lawn_explore_store(word, sizeof *(word), L_BITS(value), order)
#define L_XCHG(word, value, order)                                             \
    L_TYPED(word, lawn_explore_xchg(word, sizeof *(word), L_BITS(value)))
#define L_CAS(word, seen, value, order)                                        \
    lawn_explore_cas(word, sizeof *(word), seen, L_BITS(value))
#define L_FADD(word, value, order)                                             \
    L_TYPED(word, lawn_explore_fadd(word, sizeof *(word), L_BITS(value)))
#define L_LIGHT() ((void)0)
#define L_HEAVY() lawn_explore_heavy()

#endif
#endif
