/* explore.h - threads whose every step is decided by the test.
 *
 * A scenario is a few threads, which are fibres of one. Before each operation on
 * a word that they share, src/workers/atomic.h asks here who goes on; so a
 * schedule is a list of choices, and the explorer walks through all of them, or
 * through many. At each such step one of these happens:
 *
 *     a fibre goes on with its operation
 *     a store of a fibre's, which had been delayed, reaches the memory
 *
 * MEMORY is sequentially consistent, but for delayed stores, if the scenario
 * wants them: then a store that is not seq_cst may wait in a buffer of its
 * fibre's, first in first out, as on x86 (TSO). The fibre itself sees it; the
 * others not, until it is flushed: by a step of its own, by an operation of the
 * fibre that reads and writes at once, or a seq_cst store, or a call of the
 * system, or by LAWN_FENCE_HEAVY of any fibre.
 *
 * BOUNDS. A switch away from a fibre that could go on costs one, and so does the
 * delay of a store; walks are through all schedules of cost 0, then 1, and so
 * on: nearly all bugs known need 2 or 3.
 *
 * WAITING. A fibre that sleeps goes on when it is woken; one that yields goes on
 * when a word has changed that it has read since it last did. If nobody can go
 * on, all is over: well, if only fibres sleep that serve others (daemons).
 *
 * MEMORY OF THE SCENARIO is put back before each schedule: so its setup is run
 * once. What is freed is filled, and must not be touched any more. */
#ifndef LAWN_EXPLORE_EXPLORE_H
#define LAWN_EXPLORE_EXPLORE_H

/* What src/workers/atomic.h is to be; the library is built with it, too. */
#if !defined LAWN_EXPLORE
#define LAWN_EXPLORE
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if !defined EXPLORE_FIBRES /* tests/sim has more */
#define EXPLORE_FIBRES 5
#endif

struct explore_scenario {
    const char *name; /* a sentence */
    void (*setup)(void);
    void (*threads[EXPLORE_FIBRES])(void);
    unsigned daemons; /* a bit for each thread that may sleep at the end */
    bool delays;      /* stores can be delayed */
    bool time_passes; /* when all sleep, until the first one wakes */
    bool symmetric;   /* there is no LAWN_FENCE_HEAVY */
    bool broken;      /* must fail: tests the explorer */
    /* When nobody can go on. It may call explore_settle(). */
    void (*finish)(void);
};

#define SCENARIO(name_, ...)                                                   \
    static const struct explore_scenario name_ = {.name = #name_,              \
                                                  __VA_ARGS__};                \
    __attribute__((constructor)) static void explore_add_##name_(void)         \
    {                                                                          \
        explore_add(&name_);                                                   \
    }                                                                          \
    struct explore_scenario

void explore_add(const struct explore_scenario *scenario);

/* In setup: memory that is put back before each schedule. */
void explore_keep(void *memory, size_t size);

/* In setup: the thread that the library makes next is this fibre; and that is its
 * thread in the scenario. */
void explore_make(unsigned fibre);
void explore_made(void);

/* In setup, for traces: what a word is called. */
void explore_name(const void *word, size_t size, const char *name);

/* Memory for the library, also put back. As in struct lawn_options. */
void *explore_alloc(size_t size, void *context);
void explore_release(void *memory, void *context);

/* The memory is gone: nobody may use it. And it is there again, zeroed. */
void explore_free(void *memory, size_t size);
void explore_renew(void *memory, size_t size);

/* Whether stores of the caller's are delayed; and in setup, what to call when
 * those of a fibre have all reached the memory. */
bool explore_has_delayed(void);
void explore_when_drained(void (*call)(unsigned fibre));

/* How many operations of the caller's have read and written a word at once:
 * LAWN_ATOMIC_XCHG, LAWN_ATOMIC_CAS, LAWN_ATOMIC_FADD; and LAWN_FENCE_HEAVY and calls of the system that lock or wake. */
unsigned explore_changes(void);

/* A step that does nothing. */
void explore_point(void);

/* Notes that the caller has read a word in a way of its own: if it yields, and
 * the word changes, it goes on. */
void explore_saw(const void *word, unsigned size);

/* Says what is wrong, and ends the schedule. */
_Noreturn void explore_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#define EXPECT(condition)                                                      \
    ((condition) ? (void)0                                                     \
                 : explore_fail("%s:%d: not true: %s", __FILE__, __LINE__,     \
                                #condition))

/* A line in the trace, if there is one; and whether there is. */
bool explore_printing(void);
void explore_print(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Which fibre runs; EXPLORE_FIBRES in setup and finish. There, as which fibre
 * lawn_workers_self() sees the caller. */
unsigned explore_me(void);
void explore_be(unsigned fibre);

/* In finish: lets the fibres go on, without further choices, until again nobody
 * can. */
void explore_settle(void);

/* The same, with choices. */
void explore_go_on(void);

#endif
