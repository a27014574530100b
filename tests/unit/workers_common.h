/* workers_common.h - a crew: a set of workers that all run in the thread of the
 * test, in turn; a test-controlled clock; and a log of fired timers.
 *
 * Each fire in a crew is checked against P1 (not early), P3 (fired once per
 * start), C4 (no concurrent callback of the timer; the thread is the reported
 * worker) and P6 (idle in its callback). lawn_workers_check() runs after each
 * turn. When a crew ends, all memory must have been released.
 */
#ifndef LAWN_TESTS_UNIT_WORKERS_COMMON_H
#define LAWN_TESTS_UNIT_WORKERS_COMMON_H

#include "lawn_workers.h"
#include "store_common.h"

#define HANDS 64u
#define CREW_MAX 8u
#define CREW_LOG 512u
#define NOBODY CREW_MAX /* no worker: like any other thread */

struct crew;

struct hand {
    struct lawn_workers_timer timer;
    struct crew *crew;
    unsigned id;
    bool running;
    bool firing;
    uint64_t due;  /* the earliest time it may fire */
    uint64_t late; /* the latest time it may fire */
    struct lawn_worker *fired_on;
};

typedef void crew_act_fn(struct crew *crew, struct hand *hand);

struct crew {
    struct lawn_workers *set;
    struct ledger ledger;
    uint64_t clock;
    struct lawn_worker *worker[CREW_MAX]; /* NULL: not attached */
    unsigned number[CREW_MAX];
    crew_act_fn *act; /* called by the callback, or NULL */
    struct hand *any; /* for act to use */
    bool unchecked;   /* no lawn_workers_check(): too many timers */
    uint64_t fires;
    unsigned fired; /* number of entries in id */
    unsigned id[CREW_LOG];
    unsigned left; /* timers passed to left() by lawn_workers_close() */
    struct hand hand[HANDS];
};

/* Creates a set with this number of workers; options may be NULL. Clock and
 * allocator are those of the crew. The test thread is then no worker. */
void crew_begin(struct crew *crew, unsigned workers,
                const struct lawn_workers_options *options);

/* Returns options with the clock and allocator of the crew, for tests that
 * create the set themselves. */
struct lawn_workers_options
crew_options(struct crew *crew, const struct lawn_workers_options *options);

/* Detaches all workers, and frees the set. */
void crew_end(struct crew *crew);

/* Attach a worker at the first free place and return the place; detach one. The
 * test thread keeps its role. */
unsigned crew_attach(struct crew *crew);
void crew_detach(struct crew *crew, unsigned worker);

/* Makes the test thread this worker, or none. */
void as(struct crew *crew, unsigned worker);

/* Called in the current role of the test thread. The calls must succeed. */
void go(struct crew *crew, unsigned id, uint64_t ttl);
void go_at(struct crew *crew, unsigned id, uint64_t deadline);
void go_on(struct crew *crew, unsigned id, uint64_t ttl, unsigned worker);
bool halt(struct crew *crew, unsigned id);
bool halt_sync(struct crew *crew, unsigned id);
bool goes(const struct crew *crew, unsigned id);

/* Initializes a hand outside the crew. */
void hand_init(struct crew *crew, struct hand *hand, unsigned id);
int hand_start(struct crew *crew, struct hand *hand, uint64_t ttl);

/* The fire function of all hands. */
lawn_workers_fire_fn hand_fire;

/* For lawn_workers_close(): counts timers in the crew, which is arg. */
lawn_workers_left_fn hand_left;

/* One turn of a worker; turns of one worker, or of all, until no immediate work
 * remains. The test thread keeps its role. */
uint64_t turn(struct crew *crew, unsigned worker);
uint64_t turns(struct crew *crew, unsigned worker);
void all_turn(struct crew *crew);

/* Returns whether lawn_worker_fd() is readable. */
bool called(struct crew *crew, unsigned worker);

/* Returns the counters of one worker. */
struct lawn_workers_counters stats_of(struct crew *crew, unsigned worker);
struct lawn_workers_counters stats_all(struct crew *crew);

/* Returns the worker on which a hand fired, or the constant for none. */
unsigned fired_on(const struct crew *crew, unsigned id);

/* Checks that exactly these hands fired since the last such check, in this
 * order. */
void check_crew(struct crew *crew, const unsigned *ids, size_t count,
                const char *file, int line);
#define CHECK_CREW(crew, ...)                                                  \
    check_crew(crew, (const unsigned[]){__VA_ARGS__},                          \
               COUNT(((const unsigned[]){__VA_ARGS__})), __FILE__, __LINE__)
#define CHECK_CREW_NONE(crew) check_crew(crew, NULL, 0, __FILE__, __LINE__)

#endif
