/* stopwatch.c - measures how long single operations take: see stopwatch.h. */
#include "stopwatch.h"

#include <string.h>

/* Data of the wrapper functions. They receive only the self of the inner
 * contender, so these data are global. */
static struct {
    const struct contender *inner;
    const struct run *run;
    struct lawn_histogram *stages;
    double ns_per_cycle;
    uint64_t overhead; /* cycles */
    bool mowing;       /* callbacks are part of the mow */
} stopwatch;

void
stopwatch_calibrate(void)
{
    if (stopwatch.overhead != 0) {
        return;
    }
    uint64_t start = run_clock();
    uint64_t cycles = stopwatch_read();
    uint64_t least = UINT64_MAX;

    while (run_clock() - start < 10000000) {
        uint64_t one = stopwatch_read();
        uint64_t two = stopwatch_read();

        least = two - one < least ? two - one : least;
    }
    cycles = stopwatch_read() - cycles;
    stopwatch.ns_per_cycle = (double)(run_clock() - start) / (double)cycles;
    stopwatch.overhead = least;
}

static inline void
note_cycles(uint64_t since)
{
    uint64_t took = stopwatch_read() - since;

    if (!stopwatch.run->watching || stopwatch.mowing) {
        return;
    }
    took = took > stopwatch.overhead ? took - stopwatch.overhead : 0;
    lawn_histogram_add(&stopwatch.stages[stopwatch.run->stage],
                       (uint64_t)((double)took * stopwatch.ns_per_cycle));
}

static void
time_start(void *self, struct object *object, uint64_t ttl)
{
    uint64_t since = stopwatch_read();

    stopwatch.inner->start(self, object, ttl);
    note_cycles(since);
}

static bool
time_stop(void *self, struct object *object)
{
    uint64_t since = stopwatch_read();
    bool was = stopwatch.inner->stop(self, object);

    note_cycles(since);
    return was;
}

static size_t
time_mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire,
         void *arg)
{
    uint64_t since = stopwatch_read();

    stopwatch.mowing = true;
    size_t fired = stopwatch.inner->mow(self, now, budget, fire, arg);
    stopwatch.mowing = false;
    note_cycles(since);
    return fired;
}

static bool
time_store_start(void *self, const void *id, uint64_t ttl, const void *payload)
{
    uint64_t since = stopwatch_read();
    bool good = store_of(stopwatch.inner)->start(self, id, ttl, payload);

    note_cycles(since);
    return good;
}

static bool
time_store_stop(void *self, const void *id)
{
    uint64_t since = stopwatch_read();
    bool was = store_of(stopwatch.inner)->stop(self, id);

    note_cycles(since);
    return was;
}

static bool
time_store_get(void *self, const void *id, struct store_timer *out)
{
    uint64_t since = stopwatch_read();
    bool is = store_of(stopwatch.inner)->get(self, id, out);

    note_cycles(since);
    return is;
}

static bool
time_store_touch(void *self, const void *id, uint64_t ttl)
{
    uint64_t since = stopwatch_read();
    bool is = store_of(stopwatch.inner)->touch(self, id, ttl);

    note_cycles(since);
    return is;
}

static size_t
time_store_mow(void *self, uint64_t now, size_t budget, store_fire_fn *fire,
               void *arg)
{
    uint64_t since = stopwatch_read();
    size_t fired = store_of(stopwatch.inner)->mow(self, now, budget, fire, arg);

    /* Measured mows have a budget of 1 (S4). Others only advance the time. */
    if (budget == 1) {
        note_cycles(since);
    }
    return fired;
}

/* Functions that the inner store does not have remain NULL. */
static void
wrap_store(struct store *store, const struct store *inner)
{
    *store = *inner;
    store->start = time_store_start;
    store->stop = time_store_stop;
    store->get = time_store_get;
    if (inner->touch != NULL) {
        store->touch = time_store_touch;
    }
    if (inner->mow != NULL) {
        store->mow = time_store_mow;
    }
}

uint64_t
stopwatch_cost(void)
{
    return stopwatch.overhead;
}

double
stopwatch_cycle(void)
{
    return stopwatch.ns_per_cycle;
}

double
stopwatch_overhead(void)
{
    return (double)stopwatch.overhead * stopwatch.ns_per_cycle;
}

void
stopwatch_wrap(struct stopwatch *watch, const struct contender *inner,
               const struct run *run)
{
    stopwatch_calibrate();
    memset(watch->stages, 0, sizeof(watch->stages));
    watch->store = (struct store){.face = *inner};
    if ((inner->flags & CONTENDER_STORE) != 0) {
        wrap_store(&watch->store, store_of(inner));
    } else {
        watch->store.face.start = time_start;
        watch->store.face.stop = time_stop;
        watch->store.face.mow = time_mow;
    }
    watch->store.face.flags |= CONTENDER_WATCHED;
    stopwatch.inner = inner;
    stopwatch.run = run;
    stopwatch.stages = watch->stages;
}
