/* proof.h - included by every harness. */
#ifndef PROOF_H
#define PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An arbitrary value, a new one in each call. */
bool nondet_bool(void);
uint8_t nondet_u8(void);
uint16_t nondet_u16(void);
uint32_t nondet_u32(void);
uint64_t nondet_u64(void);
size_t nondet_size(void);

#define PROVE(condition, text) __CPROVER_assert(condition, text)
#define ASSUME(condition) __CPROVER_assume(condition)

/* A choice of states for proofs that follow one path at a time. --cover cannot
 * do that, so it gets one state that is large. */
#if defined PROOF_COVER
#define PROOF_PATH() false
#else
#define PROOF_PATH() nondet_bool()
#endif

/* The last line of a harness. This assertion must fail: otherwise the
 * assumptions contradict each other, and the proof proves nothing. */
#if defined PROOF_NO_END
#define PROOF_END() ((void)0)
#else
#define PROOF_END() __CPROVER_assert(false, "the end is reached")
#endif

#endif
