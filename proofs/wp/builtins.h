/* builtins.h - contracts of compiler built-ins, which have no source.
 *
 * Included before the first file of every proof. WP assumes these facts about
 * bits; proofs/cbmc/core/builtins.c proves them, for all values. */
#ifndef PROOFS_WP_BUILTINS_H
#define PROOFS_WP_BUILTINS_H

/*@ axiomatic wp_bits {
  @ // The number of zeros above the highest bit set, and below the lowest.
  @ logic integer wp_clz(integer x) reads \nothing;
  @ logic integer wp_ctz(integer x) reads \nothing;
  @ axiom wp_xor_63: \forall integer c; 0 <= c <= 63 ==> 0 <= (63 ^ c) <= 63;
  @ // WP uses these axioms only for goals that name one of the functions here.
  @ // So the code asserts this predicate, which is always true, where a proof
  @ // needs the axiom wp_and.
  @ predicate wp_and_below(integer x, integer m) reads \nothing;
  @ axiom wp_and_always: \forall integer x, m; wp_and_below(x, m);
  @ axiom wp_and: \forall integer x, m; 0 <= x && 0 <= m ==>
  @     0 <= (x & m) <= m && (x & m) <= x;
  @ // The highest bit set is not above the number.
  @ axiom wp_highest: \forall integer x; 0 < x <= 0xFFFFFFFFFFFFFFFF ==>
  @     (1 << (63 ^ wp_clz(x | 1))) <= x;
  @ axiom wp_highest_of_1: (63 ^ wp_clz(1)) == 0;
  @ }
  @*/

/*@ requires x != 0;
  @ assigns \nothing;
  @ ensures \result == wp_clz(x) && 0 <= \result <= 63;
  @*/
int wp_builtin_clzll(unsigned long long x);

/*@ requires x != 0;
  @ assigns \nothing;
  @ ensures \result == wp_ctz(x) && 0 <= \result <= 63;
  @*/
int wp_builtin_ctzll(unsigned long long x);

/*@ requires x != 0;
  @ assigns \nothing;
  @ ensures \result == wp_ctz(x) && 0 <= \result <= 31;
  @*/
int wp_builtin_ctz(unsigned x);

/*@ assigns \nothing; */
void wp_builtin_prefetch(const void *address);

#define __builtin_clzll(x) wp_builtin_clzll(x)
#define __builtin_ctzll(x) wp_builtin_ctzll(x)
#define __builtin_ctz(x) wp_builtin_ctz(x)
#define __builtin_prefetch(x) wp_builtin_prefetch(x)
/* Frama-C does not support alignment of members. No proof depends on it. */
#define _Alignas(alignment)
#define __builtin_expect(x, likely) (x)

#endif
