/* expect.h - assertions and compiler hints. */
#ifndef LAWN_STORE_EXPECT_H
#define LAWN_STORE_EXPECT_H

#if __has_include("../base/assertion.h")
#include "../base/assertion.h"
#include "../base/noinline.h"
#else /* one folder, as installed by clib */
#include "assertion.h"
#include "noinline.h"
#endif

#define LAWN_STORE_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define LAWN_STORE_PREFETCH(address) __builtin_prefetch(address)

#endif
