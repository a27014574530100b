/* loop_common.h - a bench: a loop with a test-controlled clock and host, an
 * allocator that counts, and a log of fired timers.
 *
 * Each fire is checked against L1 (not early), and lawn_loop_check() runs after
 * each turn. When a bench ends, all memory must have been released.
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
    uint64_t armed; /* last wake-up set at the host; LAWN_NEVER: none */
    unsigned arms;  /* number of calls that set it */
    bench_act_fn *act;
    unsigned fired; /* number of entries in id, at, due and missed */
    unsigned id[BENCH_LOG];
    uint64_t at[BENCH_LOG];
    uint64_t due[BENCH_LOG];
    uint32_t missed[BENCH_LOG];
    struct lawn_loop_timer timer[BENCH_TIMERS];
};

/* options may be NULL; clock, host and allocator are always those of the
 * bench. */
void bench_begin(struct bench *bench, const struct lawn_loop_options *options);
void bench_end(struct bench *bench);

/* Runs a turn at this time. */
uint64_t turn_at(struct bench *bench, uint64_t now);

/* Returns the number of a timer. */
unsigned bench_id(const struct bench *bench,
                  const struct lawn_loop_timer *timer);

/* Checks that exactly these timers fired since the last such check, in this
 * order. */
#define CHECK_RANG(bench, ...)                                                 \
    check_rang(bench, (const unsigned[]){__VA_ARGS__},                         \
               COUNT(((const unsigned[]){__VA_ARGS__})), __FILE__, __LINE__)
#define CHECK_NONE_RANG(bench) check_rang(bench, NULL, 0, __FILE__, __LINE__)
void check_rang(struct bench *bench, const unsigned *ids, size_t count,
                const char *file, int line);

#endif
