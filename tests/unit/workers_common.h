/* workers_common.h - a crew: a set of workers that are all the one thread of the
 * test, by turns; a clock that the test moves; and a record of what fired.
 *
 * Whatever a test is about, each firing in a crew is checked against P1 (not
 * early), P3 (fired once per start), C4 (no second callback of the timer, and
 * the thread is the worker that it says) and P6 (idle in its callback), and
 * lawn_workers_check() runs after each turn. When a crew ends, all memory must
 * have come back.
 */
#ifndef LAWN_TESTS_UNIT_WORKERS_COMMON_H
#define LAWN_TESTS_UNIT_WORKERS_COMMON_H

#include "lawn_workers.h"
#include "store_common.h"

#define HANDS 64u
#define CREW_MAX 8u
#define CREW_LOG 512u
#define NOBODY CREW_MAX /* no worker: the test as any other thread */

struct crew;

struct hand {
    struct lawn_workers_timer timer;
    struct crew *crew;
    unsigned id;
    bool running;
    bool firing;
    uint64_t due;  /* not before that, */
    uint64_t late; /* and not after that */
    struct lawn_worker *fired_on;
};

typedef void crew_act_fn(struct crew *crew, struct hand *hand);

struct crew {
    struct lawn_workers *set;
    struct ledger ledger;
    uint64_t clock;
    struct lawn_worker *worker[CREW_MAX]; /* NULL: not there */
    unsigned number[CREW_MAX];
    crew_act_fn *act; /* what the callback does, or NULL */
    struct hand *any; /* for act to use */
    bool unchecked;   /* no lawn_workers_check(): there are too many timers */
    uint64_t fires;
    unsigned fired; /* how many stand in id */
    unsigned id[CREW_LOG];
    unsigned left; /* timers that lawn_workers_close() told of */
    struct hand hand[HANDS];
};

/* A set with so many workers; options may be NULL. The clock is the crew's, and
 * so is the allocator. The test is nobody afterwards. */
void crew_begin(struct crew *crew, unsigned workers,
                const struct lawn_workers_options *options);

/* The options with the crew's clock and allocator, for those who make the set
 * themselves. */
struct lawn_workers_options
crew_options(struct crew *crew, const struct lawn_workers_options *options);

/* Detaches all workers, and frees the set. */
void crew_end(struct crew *crew);

/* One more worker, at the first place that is free, which is returned; one less.
 * The test is who it was. */
unsigned crew_attach(struct crew *crew);
void crew_detach(struct crew *crew, unsigned worker);

/* Makes the test this worker, or NOBODY. */
void as(struct crew *crew, unsigned worker);

/* As whoever the test is. The calls must succeed. */
void go(struct crew *crew, unsigned id, uint64_t ttl);
void go_at(struct crew *crew, unsigned id, uint64_t deadline);
void go_on(struct crew *crew, unsigned id, uint64_t ttl, unsigned worker);
bool halt(struct crew *crew, unsigned id);
bool halt_sync(struct crew *crew, unsigned id);
bool goes(const struct crew *crew, unsigned id);

/* A hand of the test's own. */
void hand_init(struct crew *crew, struct hand *hand, unsigned id);
int hand_start(struct crew *crew, struct hand *hand, uint64_t ttl);

/* The fire function of all hands. */
lawn_workers_fire_fn hand_fire;

/* For lawn_workers_close(): counts in the crew, which is arg. */
lawn_workers_left_fn hand_left;

/* One turn of a worker; turns of a worker, or of all, until there is nothing to
 * do at once. The test is who it was. */
uint64_t turn(struct crew *crew, unsigned worker);
uint64_t turns(struct crew *crew, unsigned worker);
void all_turn(struct crew *crew);

/* Whether lawn_worker_fd() is readable. */
bool called(struct crew *crew, unsigned worker);

/* Of one worker. */
struct lawn_workers_counters stats_of(struct crew *crew, unsigned worker);
struct lawn_workers_counters stats_all(struct crew *crew);

/* Which worker a hand fired on; NOBODY if it has not. */
unsigned fired_on(const struct crew *crew, unsigned id);

/* These fired since the last such check, in this order. */
void check_crew(struct crew *crew, const unsigned *ids, size_t count,
                const char *file, int line);
#define CHECK_CREW(crew, ...)                                                  \
    check_crew(crew, (const unsigned[]){__VA_ARGS__},                          \
               COUNT(((const unsigned[]){__VA_ARGS__})), __FILE__, __LINE__)
#define CHECK_CREW_NONE(crew) check_crew(crew, NULL, 0, __FILE__, __LINE__)

#endif
