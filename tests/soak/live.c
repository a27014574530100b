/* live.c - ten million timers on the real clock, for an hour.
 *
 * A lawn always holds the same number of running timers. A smaller store
 * allocates and frees memory at the same time. Every timer that fires is
 * restarted, or another one is started instead; other timers are restarted and
 * stopped all the time. The TTLs change every minute: mostly eight of them, a
 * mixture, or mostly tens of thousands and absolute deadlines, so that the
 * lawn's tuning changes too.
 *
 * The object of each timer records when it is due and whether it runs. Every
 * fire checks that the timer runs [P3, P5] and is due [P1]. Its deadline must
 * not be before that of a timer that fired earlier; and no timer of its TTL and
 * deadline that was started later may have fired earlier, as far as a small
 * table remembers [P4]. Every turn checks that no due timer is left [P2] and
 * that none is lost [P3]. Every minute, all of this is checked for all timers,
 * with lawn_check() and lawn_store_check(). The clock is paused during these
 * checks; their duration is printed and does not count as lateness.
 *
 * Once all timers have fired, the steady state begins. From then on lateness is
 * summed up, and memory may grow by less than one percent.
 */
#include "lawn.h"
#include "lawn_histogram.h"
#include "lawn_store.h"
#include "live_store.h"
#include "rng.h"
#include "soak.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LIVE_TIMERS 10000000u
#define LIVE_LONGEST 300000000u /* microseconds */
#define LIVE_BUDGET 16384u
#define LIVE_RECENT 1021u
#define LIVE_NS 1000u
/* Operations per second per ten million timers, in addition to fires. */
#define LIVE_RESTARTS 100000u
#define LIVE_STOPS 25000u

struct live_object {
    struct lawn_timer timer;
    uint64_t deadline;
    uint64_t order; /* sequence number of the start */
    uint32_t ttl;
    bool running;
};

struct live_counts {
    uint64_t starts; /* of idle timers */
    uint64_t restarts;
    uint64_t stops;
    uint64_t fires;
    uint64_t turns;
};

struct live {
    const struct soak_options *options;
    struct rng rng;
    uint64_t still; /* nanoseconds for which the clock was paused */
    uint64_t began; /* nanoseconds on that clock */
    struct lawn *lawn;
    struct live_object *objects;
    uint64_t many;
    uint32_t *idle; /* numbers of idle objects */
    uint64_t idles;
    uint64_t order;
    uint64_t now;  /* passed to the current mow */
    uint64_t last; /* last deadline that fired */
    struct live_object recent[LIVE_RECENT];
    struct live_store store;

    unsigned phase;
    uint64_t paced;    /* nanoseconds up to which operations were done */
    uint64_t restarts; /* remaining operations, in billionths */
    uint64_t stops;
    struct live_counts counts;
    struct live_counts told; /* the counts a minute ago */
    struct lawn_histogram minute;
    struct lawn_histogram late; /* in the steady state, in microseconds */
    struct lawn_histogram stored;
    uint64_t turn_wall; /* longest turn of the minute, in nanoseconds */
    uint64_t turn_work; /* most CPU time of a turn, in nanoseconds */
    uint64_t checked;   /* last check, in nanoseconds, and the longest */
    uint64_t check_max;
    uint64_t rss; /* at the start of the steady state; 0: not yet */
    uint64_t rss_max;
    uint64_t store_bytes;
};

static volatile sig_atomic_t live_ended;

static void
live_end(int number)
{
    (void)number;
    live_ended = 1;
}

_Noreturn static void
live_fail(const struct live *live, const char *what)
{
    printf("FAILED seed %llu: %s\n", (unsigned long long)live->options->seed,
           what);
    printf("0 passed, 1 failed\n");
    exit(1);
}

static uint64_t
live_monotonic(clockid_t id)
{
    struct timespec time;

    (void)clock_gettime(id, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Returns nanoseconds; the clock is paused during checks. */
static uint64_t
live_clock(const struct live *live)
{
    return live_monotonic(CLOCK_MONOTONIC) - live->still;
}

static uint64_t
live_tick(const struct live *live, uint64_t time)
{
    return time / (live->options->tick * LIVE_NS);
}

/* Returns a TTL in ticks, one of few or of many. */
static uint64_t
live_ttl(struct live *live, bool few)
{
    static const uint16_t seconds[8] = {1, 5, 10, 30, 60, 120, 240, 300};
    uint64_t us = few ? seconds[rng_below(&live->rng, 8)] * UINT64_C(1000000)
                      : 1000000 + rng_below(&live->rng, LIVE_LONGEST - 1000000);

    return us / live->options->tick + 1;
}

/* Starts or restarts a timer in the way of the current minute. */
static void
live_start(struct live *live, struct live_object *object)
{
    static const uint8_t few[3] = {95, 40, 5};
    static const uint8_t many[3] = {99, 70, 75};
    uint64_t now = lawn_now(live->lawn);
    uint64_t dice = rng_below(&live->rng, 100);
    uint64_t ttl = live_ttl(live, dice < few[live->phase]);

    if (object->running) {
        live->counts.restarts++;
    } else {
        live->counts.starts++;
    }
    object->running = true;
    object->ttl = (uint32_t)ttl;
    object->deadline = now + ttl;
    object->order = live->order++;
    if (dice < many[live->phase]) {
        lawn_start(live->lawn, &object->timer, ttl);
    } else {
        lawn_start_at(live->lawn, &object->timer, now + ttl);
    }
    if (lawn_deadline(&object->timer) != object->deadline) {
        live_fail(live, "P9: a deadline is not the time and the TTL");
    }
}

/* Starts an idle timer instead of this one, which becomes idle. */
static void
live_exchange(struct live *live, struct live_object *object)
{
    uint64_t i = rng_below(&live->rng, live->idles);
    uint32_t other = live->idle[i];

    live->idle[i] = (uint32_t)(object - live->objects);
    live_start(live, &live->objects[other]);
}

static void
live_stop(struct live *live, struct live_object *object)
{
    bool running = object->running;

    if (lawn_stop(live->lawn, &object->timer) != running) {
        live_fail(live, "P5: lawn_stop() is wrong about a timer");
    }
    if (running) {
        object->running = false;
        live->counts.stops++;
        live_exchange(live, object);
    }
}

static struct live_object *
live_any(struct live *live)
{
    return &live->objects[rng_below(&live->rng, live->many)];
}

static const char *
live_judge(const struct live *live, const struct live_object *object,
           const struct live_object *recent)
{
    if (!object->running) {
        return "P3: a timer fired that was not running";
    }
    if (lawn_last_deadline(&object->timer) != object->deadline) {
        return "P9: a timer fired with another deadline";
    }
    if (object->deadline > live->now) {
        return "P1: a timer fired early";
    }
    if (object->deadline < live->last) {
        return "P4: a timer fired after one with a later deadline";
    }
    if (recent->ttl == object->ttl && recent->deadline == object->deadline &&
        recent->order > object->order) {
        return "P4: of two timers with one TTL and one deadline, the one "
               "started later fired first";
    }
    return lawn_pending(&object->timer) ? "P6: a timer runs in its callback"
                                        : NULL;
}

static void
live_fire(struct lawn_timer *timer, void *arg)
{
    struct live *live = (struct live *)arg;
    struct live_object *object =
        LAWN_CONTAINER(timer, struct live_object, timer);
    struct live_object *recent = &live->recent[object->ttl % LIVE_RECENT];
    const char *broken = live_judge(live, object, recent);
    uint64_t due = object->deadline * live->options->tick * LIVE_NS;
    uint64_t dice = rng_below(&live->rng, 64);

    if (broken != NULL) {
        live_fail(live, broken);
    }
    lawn_histogram_add(&live->minute, (live_clock(live) - due) / LIVE_NS);
    *recent = *object;
    live->last = object->deadline;
    object->running = false;
    live->counts.fires++;
    if (dice < 8) {
        live_exchange(live, object);
    } else {
        live_start(live, object);
    }
    if (dice == 63) {
        live_stop(live, live_any(live)); /* perhaps one that is due as well */
    }
}

/* Returns the number of operations that are due at this rate per second. */
static uint64_t
live_pace(uint64_t *left, uint64_t rate, uint64_t elapsed)
{
    *left += rate * elapsed;
    uint64_t many = *left / 1000000000;
    *left %= 1000000000;
    return many;
}

static void
live_operate(struct live *live, uint64_t time)
{
    uint64_t elapsed = time - live->paced;
    uint64_t rate = live->options->timers;

    live->paced = time;
    if (elapsed > 10000000) {
        elapsed = 10000000; /* skips missed operations */
    }
    uint64_t i =
        live_pace(&live->restarts, LIVE_RESTARTS * rate / LIVE_TIMERS, elapsed);
    for (; i > 0; i--) {
        struct live_object *object = live_any(live);

        if (object->running) {
            live_start(live, object);
        }
    }
    i = live_pace(&live->stops, LIVE_STOPS * rate / LIVE_TIMERS, elapsed);
    for (; i > 0; i--) {
        live_stop(live, live_any(live));
    }
}

static void
live_sleep(struct live *live, uint64_t now)
{
    uint64_t next = lawn_next(live->lawn);
    uint64_t stored = live_store_next(&live->store);
    uint64_t tick = live->options->tick * LIVE_NS;

    next = stored < next ? stored : next;
    next = next > now + 1000000 / live->options->tick
               ? now + 1000000 / live->options->tick
               : next;
    uint64_t until = next * tick + live->still;
    struct timespec wait;
    wait.tv_sec = (time_t)(until / 1000000000);
    wait.tv_nsec = (long)(until % 1000000000);
    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wait, NULL);
}

static void
live_longest(uint64_t *longest, uint64_t time)
{
    *longest = time > *longest ? time : *longest;
}

static void
live_turn(struct live *live)
{
    uint64_t time = live_clock(live);
    uint64_t work = live_monotonic(CLOCK_PROCESS_CPUTIME_ID);

    live->counts.turns++;
    live->now = live_tick(live, time);
    size_t fired =
        lawn_mow(live->lawn, live->now, LIVE_BUDGET, live_fire, live);
    if (lawn_count(live->lawn) != live->options->timers) {
        live_fail(live, "P3: lawn_count() has changed");
    }
    if (fired < LIVE_BUDGET && lawn_next(live->lawn) <= live->now) {
        live_fail(live, "P2: a due timer is left after a mow");
    }
    const char *broken = live_store_turn(&live->store, live->now, time);
    if (broken != NULL) {
        live_fail(live, broken);
    }
    live_operate(live, time);
    live_longest(&live->turn_wall, live_clock(live) - time);
    live_longest(&live->turn_work,
                 live_monotonic(CLOCK_PROCESS_CPUTIME_ID) - work);
    if (fired < LIVE_BUDGET) {
        live_sleep(live, live->now);
    }
}

/* Checks that all timers of the lawn are in the recorded state. */
static void
live_look(struct live *live)
{
    uint64_t running = 0;

    for (uint64_t i = 0; i < live->many; i++) {
        const struct live_object *object = &live->objects[i];
        uint64_t deadline = object->running ? object->deadline : LAWN_NEVER;

        running += object->running;
        if (lawn_deadline(&object->timer) != deadline ||
            lawn_pending(&object->timer) != object->running) {
            live_fail(live, "P3: a timer is not in the recorded state");
        }
        if (deadline < live->last) {
            live_fail(live, "P2: a due timer did not fire");
        }
    }
    struct lawn_counters stats;
    lawn_stats(live->lawn, &stats);
    if (running != live->options->timers || stats.count != running ||
        stats.starts != live->counts.starts ||
        stats.stops != live->counts.stops ||
        stats.fires != live->counts.fires ||
        stats.starts != stats.stops + stats.fires + stats.count) {
        live_fail(live, "P3: the counters do not agree");
    }
}

static uint64_t
live_rss(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file != NULL) {
        if (fscanf(file, "%*u %llu", &pages) != 1) {
            pages = 0;
        }
        (void)fclose(file);
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Checks everything while the clock is paused. */
static void
live_check(struct live *live)
{
    uint64_t began = live_monotonic(CLOCK_MONOTONIC);

    if (!lawn_check(live->lawn, stdout)) {
        live_fail(live, "lawn_check() found a broken invariant");
    }
    live_look(live);
    const char *broken = live_store_look(&live->store);
    if (broken != NULL) {
        live_fail(live, broken);
    }
    live->checked = live_monotonic(CLOCK_MONOTONIC) - began;
    live->still += live->checked;
    if (live->checked > live->check_max) {
        live->check_max = live->checked;
    }
}

static void
live_tell_late(const char *what, const struct lawn_histogram *late)
{
    printf("%s late, us: p50 %llu, p99 %llu, p99.99 %llu, max %llu", what,
           (unsigned long long)lawn_histogram_at(late, 50000),
           (unsigned long long)lawn_histogram_at(late, 99000),
           (unsigned long long)lawn_histogram_at(late, 99990),
           (unsigned long long)late->max);
}

static double
live_drift(const struct live *live, uint64_t rss)
{
    return live->rss == 0 ? 0 : 100 * ((double)rss / (double)live->rss - 1);
}

/* Prints the line of a minute. */
static void
live_tell(struct live *live, uint64_t minute, double seconds, double busy)
{
    const struct live_counts *is = &live->counts;
    const struct live_counts *was = &live->told;
    uint64_t rss = live_rss();
    struct lawn_counters stats;

    lawn_stats(live->lawn, &stats);
    printf("%3llu min, %s: %.0f fires, %.0f restarts, %.0f stops, %.0f turns a "
           "second;",
           (unsigned long long)minute, live->rss == 0 ? "filling" : "steady",
           (double)(is->fires - was->fires) / seconds,
           (double)(is->restarts - was->restarts) / seconds,
           (double)(is->stops - was->stops) / seconds,
           (double)(is->turns - was->turns) / seconds);
    live_tell_late("", &live->minute);
    printf(
        ", early 0; %zu blades live; rss %.1f MiB, %+.2f %%; store %.1f MiB; "
        "check %.1f s; longest turn %.0f ms, CPU %.0f ms; "
        "CPU %.0f %%\n",
        stats.live_blades, (double)rss / 1048576, live_drift(live, rss),
        (double)lawn_store_bytes(live->store.store) / 1048576,
        (double)live->checked / 1e9, (double)live->turn_wall / 1e6,
        (double)live->turn_work / 1e6, busy);
    live->turn_wall = 0;
    live->turn_work = 0;
    live->told = *is;
}

/* Adds the counts of a minute to the total, or drops them before the steady
 * state. */
static void
live_minute(struct live *live, uint64_t minute, double seconds, double busy)
{
    live_check(live);
    live_tell(live, minute, seconds, busy);
    uint64_t rss = live_rss();
    if (live->rss != 0) {
        lawn_histogram_merge(&live->late, &live->minute);
        lawn_histogram_merge(&live->stored, &live->store.late);
        live->rss_max = rss > live->rss_max ? rss : live->rss_max;
    } else if (live_clock(live) - live->began >
               LIVE_LONGEST * (uint64_t)LIVE_NS) {
        live->rss = rss;
        live->rss_max = rss;
        live->store_bytes = lawn_store_bytes(live->store.store);
    }
    memset(&live->minute, 0, sizeof(live->minute));
    memset(&live->store.late, 0, sizeof(live->store.late));
    live->phase = (unsigned)(minute % 3);
}

/* Spreads the deadlines over the longest TTL, so that no wave of timers
 * recurs. */
static void
live_fill(struct live *live)
{
    uint64_t ticks = LIVE_LONGEST / live->options->tick;
    uint64_t now = live_tick(live, live_clock(live));
    struct lawn_options options = {.now = now};

    live->lawn = lawn_new(&options);
    live->many = live->options->timers + live->options->timers / 16 + 1;
    live->objects = calloc(live->many, sizeof(*live->objects));
    live->idle = calloc(live->many, sizeof(*live->idle));
    if (live->lawn == NULL || live->objects == NULL || live->idle == NULL) {
        live_fail(live, "no memory: use --timers for fewer");
    }
    for (uint64_t i = 0; i < live->many; i++) {
        struct live_object *object = &live->objects[i];

        memset(object, 0, sizeof(*object)); /* allocates its pages now */
        if (i >= live->options->timers) {
            live->idle[live->idles++] = (uint32_t)i;
            continue;
        }
        object->running = true;
        object->order = live->order++;
        object->ttl = (uint32_t)(1 + rng_below(&live->rng, ticks));
        object->deadline = now + object->ttl;
        lawn_start_at(live->lawn, &object->timer, object->deadline);
        live->counts.starts++;
    }
    if (!live_store_fill(&live->store, live->options->stored,
                         live->options->tick, now, live->options->seed)) {
        live_fail(live, "no memory: use --stored for fewer");
    }
}

static bool
live_summary(struct live *live)
{
    const struct live_counts *is = &live->counts;
    uint64_t rss = live_rss();
    double drift = live_drift(live, rss);
    bool grown = drift >= 1;

    printf("%llu timers and %llu in a store: %llu starts, %llu restarts, %llu "
           "stops, %llu fires\n",
           (unsigned long long)live->options->timers,
           (unsigned long long)live->options->stored,
           (unsigned long long)is->starts, (unsigned long long)is->restarts,
           (unsigned long long)is->stops, (unsigned long long)is->fires);
    if (live->rss == 0) {
        printf("no steady state was reached: it takes five minutes, and one "
               "more to "
               "measure it\n");
    } else {
        live_tell_late("lawn,", &live->late);
        printf(", early 0, of %llu\n", (unsigned long long)live->late.count);
        live_tell_late("store,", &live->stored);
        printf(", early 0, of %llu\n", (unsigned long long)live->stored.count);
        printf("rss %.1f MiB at the beginning of the steady state, %+.3f %% at "
               "the end, %+.3f %% at most; store %+.3f %%\n",
               (double)live->rss / 1048576, drift,
               live_drift(live, rss > live->rss_max ? rss : live->rss_max),
               100 * ((double)lawn_store_bytes(live->store.store) /
                          (double)live->store_bytes -
                      1));
    }
    printf("checks took at most %.1f s, while the clock was paused\n",
           (double)live->check_max / 1e9);
    if (grown) {
        printf("FAILED: memory grew by 1 %% or more\n");
    }
    printf("%d passed, %d failed\n", !grown, grown);
    return !grown;
}

bool
soak_live(const struct soak_options *given)
{
    static struct live live;
    struct soak_options options = *given;
    uint64_t real = live_monotonic(CLOCK_MONOTONIC);
    uint64_t told = real;
    uint64_t busy = 0;
    uint64_t minute = 0;

    if (options.timers == 0) {
        options.timers = LIVE_TIMERS;
    }
    live.options = &options;
    live.rng.state = options.seed;
    (void)signal(SIGINT, live_end);
    (void)signal(SIGTERM, live_end);
    live_fill(&live);
    live.still = live_monotonic(CLOCK_MONOTONIC) - real;
    printf(
        "filled with %llu timers, and a store with %llu, in %.1f s; rss %.1f "
        "MiB\n",
        (unsigned long long)options.timers, (unsigned long long)options.stored,
        (double)(live_monotonic(CLOCK_MONOTONIC) - real) / 1e9,
        (double)live_rss() / 1048576);
    live.began = live_clock(&live);
    live.paced = live.began;
    while (!live_ended) {
        live_turn(&live);
        uint64_t time = live_monotonic(CLOCK_MONOTONIC);
        if (time - told >= UINT64_C(60000000000)) {
            uint64_t used = live_monotonic(CLOCK_PROCESS_CPUTIME_ID);
            double seconds = (double)(time - told) / 1e9;

            live_minute(&live, ++minute, seconds,
                        (double)(used - busy) / 1e7 / seconds);
            told = live_monotonic(CLOCK_MONOTONIC);
            busy = live_monotonic(CLOCK_PROCESS_CPUTIME_ID);
        }
        if (time - real >= options.seconds * 1000000000) {
            break;
        }
    }
    live_check(&live);
    if (live.rss != 0) {
        lawn_histogram_merge(&live.late, &live.minute);
        lawn_histogram_merge(&live.stored, &live.store.late);
    }
    bool passed = live_summary(&live);
    live_store_free(&live.store);
    lawn_free(live.lawn);
    free(live.objects);
    free(live.idle);
    return passed;
}
