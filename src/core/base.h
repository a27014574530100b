/* base.h - assertions, limits and compiler hints for all files of the core.
 *
 * In comments and assertions, [P1] to [P10] are the promises of lawn.h, and
 * [I1] and up are the invariants of internal.h.
 */
#ifndef LAWN_CORE_BASE_H
#define LAWN_CORE_BASE_H

#include "lawn.h"

#if __has_include("../base/assertion.h")
#include "../base/assertion.h"
#include "../base/noinline.h"
#include "../base/saturating.h"
#else /* one folder, as installed by clib */
#include "assertion.h"
#include "noinline.h"
#include "saturating.h"
#endif

/* With LAWN_NAIVE, one list of timers replaces the index: see
 * tests/naive/naive.c. */
#if defined LAWN_NAIVE
#define LAWN_NAIVELY(statement) statement
#else
#define LAWN_NAIVELY(statement) ((void)0)
#endif

#define LAWN_LIKELY(x) (__builtin_expect(!!(x), 1))
#define LAWN_UNLIKELY(x) (__builtin_expect(!!(x), 0))
#define LAWN_PREFETCH(address) __builtin_prefetch(address)

#endif
