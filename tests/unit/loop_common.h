/* loop_common.h - a bench: a loop, a clock and a host that are the test's, an
 * allocator that counts, and a record of what fired.
 *
 * Whatever a test is about, each fire is checked against L1 (not early), and
 * lawn_loop_check() runs after each turn. When a bench ends, all memory must have
 * come back.
 */
#ifndef LAWN_TESTS_UNIT_LOOP_COMMON_H
#define LAWN_TESTS_UNIT_LOOP_COMMON_H

#include "store_common.h"

#include <lawn_loop.h>

#define BENCH_TIMERS 32u
#define BENCH_LOG 4096u

struct bench;
typedef void bench_act_fn(struct bench *bench, struct lawn_loop_timer *timer);

struct bench {
    struct lawn_loop *loop;
    struct ledger ledger;
    uint64_t clock;
    uint64_t armed; /* what the host was told last; LAWN_NEVER: nothing */
    unsigned arms;  /* how often it was told */
    bench_act_fn *act;
    unsigned fired; /* how many stand in id, at, due and missed */
    unsigned id[BENCH_LOG];
    uint64_t at[BENCH_LOG];
    uint64_t due[BENCH_LOG];
    uint32_t missed[BENCH_LOG];
    struct lawn_loop_timer timer[BENCH_TIMERS];
};

/* options may be NULL; clock, host and allocator are the bench's. */
void bench_begin(struct bench *bench, const struct lawn_loop_options *options);
void bench_end(struct bench *bench);

/* A turn at that time. */
uint64_t turn_at(struct bench *bench, uint64_t now);

/* Which timer it is. */
unsigned bench_id(const struct bench *bench,
                  const struct lawn_loop_timer *timer);

/* These fired since the last such check, in this order. */
#define CHECK_RANG(bench, ...)                                                 \
    check_rang(bench, (const unsigned[]){__VA_ARGS__},                         \
               COUNT(((const unsigned[]){__VA_ARGS__})), __FILE__, __LINE__)
#define CHECK_NONE_RANG(bench) check_rang(bench, NULL, 0, __FILE__, __LINE__)
void check_rang(struct bench *bench, const unsigned *ids, size_t count,
                const char *file, int line);

#endif
