/* explore.h - threads whose every step is chosen by the test.
 *
 * A scenario consists of a few threads, which are fibres of one thread. Before
 * each operation on a shared word, src/workers/atomic.h calls the explorer,
 * which chooses the fibre that runs next. A schedule is a list of such choices;
 * the explorer walks through all schedules, or through many. At each step one
 * of these happens:
 *
 *     a fibre executes its operation
 *     a delayed store of a fibre reaches the memory
 *
 * MEMORY is sequentially consistent, except for delayed stores, if the scenario
 * enables them: then a store that is not seq_cst may wait in a buffer of its
 * fibre, first in first out, as on x86 (TSO). The fibre itself sees the store;
 * others do not until it is flushed: by a separate step, by an atomic
 * read-modify-write, a seq_cst store or a system call of the fibre, or by
 * LAWN_FENCE_HEAVY of any fibre.
 *
 * BOUNDS. A switch away from a fibre that could continue costs one, and so does
 * the delay of a store. The explorer walks all schedules of cost 0, then 1, and
 * so on: nearly all known bugs need 2 or 3.
 *
 * WAITING. A sleeping fibre continues when it is woken. A fibre that yields
 * continues when a word has changed that it has read since its last yield. The
 * schedule ends when no fibre can run. It has failed unless all sleeping fibres
 * are daemons, which serve others.
 *
 * MEMORY OF THE SCENARIO is restored before each schedule, so its setup runs
 * once. Freed memory is filled with a pattern, and must not be accessed. */
#ifndef LAWN_EXPLORE_EXPLORE_H
#define LAWN_EXPLORE_EXPLORE_H

/* The library is built with this definition, too: see src/workers/atomic.h. */
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
    unsigned daemons; /* may sleep at the end: a bit for each */
    bool delays;      /* stores can be delayed */
    bool time_passes; /* when all sleep, until the first one wakes */
    bool symmetric;   /* LAWN_FENCE_HEAVY is not available */
    bool broken;      /* must fail: tests the explorer */
    /* Called when no fibre can run. It may call explore_settle(). */
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

/* In setup: registers memory to restore before each schedule. */
void explore_keep(void *memory, size_t size);

/* In setup: the next thread created by the library runs as this fibre; its
 * function in the scenario is explore_made(). */
void explore_make(unsigned fibre);
void explore_made(void);

/* In setup: sets the name of a word in traces. */
void explore_name(const void *word, size_t size, const char *name);

/* Memory for the library, restored as well. As in struct lawn_options. */
void *explore_alloc(size_t size, void *context);
void explore_release(void *memory, void *context);

/* explore_free() marks memory as freed: no fibre may access it. explore_renew()
 * makes it available again, zeroed. */
void explore_free(void *memory, size_t size);
void explore_renew(void *memory, size_t size);

/* explore_has_delayed() returns whether stores of the caller are delayed.
 * explore_when_drained(), in setup, sets a function to call when all stores of
 * a fibre have reached the memory. */
bool explore_has_delayed(void);
void explore_when_drained(void (*call)(unsigned fibre));

/* Returns the number of the caller's atomic read-modify-write operations
 * (LAWN_ATOMIC_XCHG, LAWN_ATOMIC_CAS, LAWN_ATOMIC_FADD), of LAWN_FENCE_HEAVY,
 * and of system calls that lock or wake. */
unsigned explore_changes(void);

/* A step without effect. */
void explore_point(void);

/* Records that the caller has read a word in its own way: if it yields, it
 * continues once the word changes. */
void explore_saw(const void *word, unsigned size);

/* Reports an error and ends the schedule. */
_Noreturn void explore_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#define EXPECT(condition)                                                      \
    ((condition) ? (void)0                                                     \
                 : explore_fail("%s:%d: not true: %s", __FILE__, __LINE__,     \
                                #condition))

/* Print a line in the trace, if there is one; return whether there is one. */
bool explore_printing(void);
void explore_print(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* explore_me() returns the running fibre; EXPLORE_FIBRES in setup and finish.
 * explore_be() sets the fibre whose worker lawn_workers_self() returns in setup
 * and finish. */
unsigned explore_me(void);
void explore_be(unsigned fibre);

/* In finish: runs the fibres, without further choices, until none can run. */
void explore_settle(void);

/* The same, with choices. */
void explore_go_on(void);

#endif
