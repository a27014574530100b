/* tails.c - counts and times single calls: see tails.h. */
#include "tails.h"
#include "stopwatch.h"
#include "workloads.h"

#include <stdlib.h>
#include <string.h>

/* Cycles of timed calls after which the spinner has a turn. */
#define TAILS_TURN 1000000u

/* Data of the wrapper functions, as in stopwatch.c. */
static struct {
    struct contender outer; /* what the run sees */
    const struct contender *inner;
    struct run *run;
    struct tails *tails;
    size_t budget;
    uint64_t *deadlines; /* by object; NULL if not the counting run */
    uint64_t *log;       /* of this run; NULL: this run is not timed */
    struct lawn_histogram entries;
    bool mowing;  /* callbacks are part of the mow */
    bool current; /* touched is up to date */
    uint64_t touched;
    uint64_t calls;
    uint64_t spun;   /* calls before the last turn of the spinner */
    uint64_t cycles; /* of the calls since then */
    uint64_t fired;
    contender_fire_fn *fire;
} watch;

/* Returns whether the current call is one of those to be measured. */
static inline bool
is_watched(void)
{
    return watch.run->watching && !watch.mowing &&
           watch.run->stage == watch.run->cell->workload->stage;
}

static uint64_t
count_touched(void *self)
{
    return watch.inner->touched != NULL ? watch.inner->touched(self) : 0;
}

/* A turn of the spinner: for each call since its last turn, reads the clock for
 * as long as the call took, and records the longest pause between two readings.
 * The time limit of the run excludes this time. */
static void
spin(void)
{
    uint64_t start = run_clock();
    uint64_t end = watch.tails->calls;

    end = watch.calls < end ? watch.calls : end;
    for (; watch.spun < end && !run_interrupted(); watch.spun++) {
        uint64_t since = stopwatch_read();
        uint64_t last = since;
        uint64_t longest = 0;

        while (last - since < watch.log[watch.spun]) {
            uint64_t now = stopwatch_read();

            longest = now - last > longest ? now - last : longest;
            last = now;
        }
        lawn_histogram_add(
            &watch.tails->paused,
            longest > stopwatch_cost() ? longest - stopwatch_cost() : 0);
    }
    watch.cycles = 0;
    watch.run->limit += run_clock() - start;
}

/* Called before a call. Returns the time. */
static inline uint64_t
begin_call(void *self)
{
    if (watch.deadlines != NULL && !watch.current && is_watched()) {
        watch.touched = count_touched(self);
    }
    return stopwatch_read();
}

/* Called after a call that began at the time `since` and fired a number of
 * timers. */
static inline void
end_call(void *self, uint64_t since, uint64_t fired)
{
    uint64_t took = stopwatch_read() - since;

    if (!is_watched()) {
        watch.current = watch.current && watch.mowing;
        return;
    }
    if (watch.deadlines != NULL) {
        uint64_t before = watch.touched;

        watch.touched = count_touched(self);
        watch.current = true;
        lawn_histogram_add(&watch.entries, watch.touched - before);
        if (fired == 0 && watch.touched - before > watch.tails->idle) {
            watch.tails->idle = watch.touched - before;
        }
    } else if (watch.calls < watch.tails->calls) {
        took = took > stopwatch_cost() ? took - stopwatch_cost() : 0;
        watch.log[watch.calls] = took;
        watch.cycles += took;
    }
    watch.calls++;
    if (watch.cycles > TAILS_TURN) {
        spin();
    }
}

static void
watch_start(void *self, struct object *object, uint64_t ttl)
{
    uint64_t since = begin_call(self);

    watch.inner->start(self, object, ttl);
    end_call(self, since, 0);
    if (watch.deadlines != NULL) {
        watch.deadlines[object->id] = watch.run->now + ttl;
    }
}

static bool
watch_stop(void *self, struct object *object)
{
    uint64_t since = begin_call(self);
    bool was = watch.inner->stop(self, object);

    end_call(self, since, 0);
    return was;
}

static void
watch_fire(struct object *object, void *arg)
{
    watch.fired++;
    if (watch.deadlines != NULL) {
        uint64_t late = watch.run->now - watch.deadlines[object->id];

        watch.tails->late = late > watch.tails->late ? late : watch.tails->late;
    }
    watch.fire(object, arg);
}

/* Returns the number of timers that fired. A lawn may return its budget
 * although it fired fewer. */
static size_t
watch_mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire,
          void *arg)
{
    bool shares = (watch.inner->flags & CONTENDER_BUDGET) != 0;
    uint64_t first = watch.fired;
    size_t part = 0;
    size_t returned = 0;

    watch.fire = fire;
    do {
        uint64_t before = watch.fired;
        size_t left = budget - (size_t)(before - first);

        part = left < watch.budget ? left : watch.budget;
        uint64_t since = begin_call(self);
        watch.mowing = true;
        returned = watch.inner->mow(self, now, part, watch_fire, arg);
        watch.mowing = false;
        end_call(self, since, watch.fired - before);
    } while (shares && returned == part && watch.fired - first < budget);
    return (size_t)(watch.fired - first);
}

static void
fill_figures(struct tails_figures *figures,
             const struct lawn_histogram *histogram)
{
    figures->p50 = lawn_histogram_at(histogram, 50000);
    figures->p99 = lawn_histogram_at(histogram, 99000);
    figures->p999 = lawn_histogram_at(histogram, 99900);
    figures->p9999 = lawn_histogram_at(histogram, 99990);
    figures->max = histogram->max;
}

/* Stores the results of the counting run. Fills the memory of the log, so
 * that timed runs have no page faults. */
static enum run_end
end_count(struct tails *tails, const struct run *run, unsigned runs)
{
    size_t size = (size_t)watch.calls * runs * sizeof(*tails->log);

    tails->calls = watch.calls;
    tails->counted = watch.inner->touched != NULL;
    tails->checksum = run->stages[run->cell->workload->stage].checksum;
    fill_figures(&tails->entries, &watch.entries);
    tails->log = malloc(size + 1);
    if (tails->log == NULL) {
        return RUN_MEMORY;
    }
    memset(tails->log, 1, size);
    return run->end;
}

enum run_end
tails_play(struct tails *tails, struct run *run, const struct cell *cell,
           const struct contender *contender, size_t budget, unsigned round,
           unsigned runs, uint64_t limit_ns)
{
    uint64_t *deadlines = NULL;

    if (round == 0) {
        deadlines = calloc(cell->n, sizeof(*deadlines));
        if (deadlines == NULL) {
            return run->end = RUN_MEMORY;
        }
    }
    stopwatch_calibrate();
    memset(&watch, 0, sizeof(watch));
    watch.outer = *contender;
    watch.outer.start = watch_start;
    watch.outer.stop = watch_stop;
    watch.outer.mow = watch_mow;
    watch.inner = contender;
    watch.run = run;
    watch.tails = tails;
    watch.budget = budget;
    watch.deadlines = deadlines;
    watch.log = round == 0 ? NULL : tails->log + (round - 1) * tails->calls;
    run_play(run, cell, &watch.outer, cell->workload->stage, limit_ns);
    free(deadlines);
    if (run->end == RUN_OK && round == 0) {
        run->end = end_count(tails, run, runs);
    } else if (run->end == RUN_OK) {
        run->wrong = watch.calls != tails->calls;
        spin();
    }
    return run->end;
}

static int
compare_cycles(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

void
tails_end(struct tails *tails, unsigned runs)
{
    struct lawn_histogram *any = calloc(2, sizeof(*any));
    uint64_t calls = runs > 0 ? tails->calls : 0;
    uint64_t *times = malloc(runs * sizeof(*times) + 1);

    for (uint64_t i = 0; any != NULL && times != NULL && i < calls; i++) {
        for (unsigned k = 0; k < runs; k++) {
            times[k] = tails->log[k * calls + i];
            lawn_histogram_add(&any[0], times[k]);
        }
        qsort(times, runs, sizeof(times[0]), compare_cycles);
        lawn_histogram_add(&any[1], times[runs / 2]);
    }
    if (any != NULL) {
        fill_figures(&tails->any, &any[0]);
        fill_figures(&tails->cycles, &any[1]);
    }
    fill_figures(&tails->spinner, &tails->paused);
    free(any);
    free(times);
    free(tails->log);
    tails->log = NULL;
}
