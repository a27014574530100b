/* base.h - what every file of the core uses: assertions, limits, hints. */
#ifndef LAWN_CORE_BASE_H
#define LAWN_CORE_BASE_H

#include "lawn.h"

#if __has_include("../base/assertion.h")
#include "../base/assertion.h"
#include "../base/noinline.h"
#include "../base/saturating.h"
#else /* all files are in one folder, as clib puts them */
#include "assertion.h"
#include "noinline.h"
#include "saturating.h"
#endif

/* What is done only with LAWN_NAIVE: then a lawn has no index, asks for no blade,
 * and keeps no lower bound. It has a list of all timers, and looks through all of
 * it each time. That is slower, but it has to fire the same, and tests compare. */
#if defined LAWN_NAIVE
#define LAWN_NAIVELY(statement) statement
#else
#define LAWN_NAIVELY(statement) ((void)0)
#endif

#define LAWN_LIKELY(x) (__builtin_expect(!!(x), 1))
#define LAWN_UNLIKELY(x) (__builtin_expect(!!(x), 0))
#define LAWN_PREFETCH(address) __builtin_prefetch(address)

#endif
