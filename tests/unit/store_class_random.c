/* store_class_random.c - random operations on a store with classes, compared
 * with an array of timers [S10].
 *
 * The array has the start and the order of each timer; its deadline is computed
 * when it is needed. Callbacks change classes and timers too. Saving and
 * loading replaces the store. */
#include "kit.h"
#include "rng.h"
#include "store_tape.h"

#include <stdio.h>
#include <string.h>

#define TIMERS 40u
#define CLASSES 3u
#define NONE CLASSES
#define OPERATIONS 100000u

struct sheep {
    bool running;
    unsigned cls;   /* or NONE */
    uint64_t start; /* while its class is paused, as of the pause */
    uint64_t ttl;   /* if in no class */
    uint64_t order; /* of its last start */
    uint64_t payload;
};

struct flock {
    struct lawn_store *store;
    struct lawn_class *cls[CLASSES];
    uint64_t ttl[CLASSES];
    uint64_t paused_at[CLASSES + 1]; /* or LAWN_NEVER */
    struct sheep sheep[TIMERS];
    uint64_t now;
    uint64_t mowing;
    uint64_t order;
    uint64_t fires;
    struct rng rng;
};

static const char *const names[CLASSES] = {"a", "bb", "ccc"};

static struct lawn_store *
new_store(uint64_t now)
{
    struct lawn_store_options options = {
        .lawn = {.now = now, .classes = CLASSES, .blades = 8, .slot_bits = 4},
        .seed = {1, 2}};
    struct lawn_store *store = lawn_store_new(&options);

    CHECK(store != NULL);
    return store;
}

static bool
is_paused(const struct flock *f, unsigned cls)
{
    return f->paused_at[cls] != LAWN_NEVER;
}

static uint64_t
deadline_of(const struct flock *f, const struct sheep *s)
{
    if (s->cls == NONE) {
        return s->start + s->ttl;
    }
    return s->start + f->ttl[s->cls] +
           (is_paused(f, s->cls) ? f->now - f->paused_at[s->cls] : 0);
}

static uint64_t
count(const struct flock *f, unsigned cls)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < TIMERS; i++) {
        n += f->sheep[i].running && (cls > NONE || f->sheep[i].cls == cls);
    }
    return n;
}

static uint64_t
find_next(const struct flock *f)
{
    uint64_t next = LAWN_NEVER;

    for (unsigned i = 0; i < TIMERS; i++) {
        const struct sheep *s = &f->sheep[i];

        if (s->running && !is_paused(f, s->cls) && deadline_of(f, s) < next) {
            next = deadline_of(f, s);
        }
    }
    return next;
}

static void
check_one(const struct flock *f, uint64_t id)
{
    const struct sheep *s = &f->sheep[id];
    struct lawn_store_timer timer;

    CHECK_EQ(lawn_store_get(f->store, &id, sizeof(id), &timer), s->running);
    if (s->running) {
        CHECK_EQ(timer.deadline, deadline_of(f, s));
        CHECK_EQ(timer.ttl, s->cls == NONE ? s->ttl : f->ttl[s->cls]);
        CHECK(timer.cls == (s->cls == NONE ? NULL : f->cls[s->cls]));
        CHECK(memcmp(timer.payload, &s->payload, sizeof(s->payload)) == 0);
    }
}

static void
check_all(const struct flock *f)
{
    struct lawn_class_counters counters;

    CHECK(lawn_store_check(f->store, stdout));
    CHECK_EQ(lawn_store_count(f->store), count(f, NONE + 1));
    for (unsigned i = 0; i < CLASSES; i++) {
        lawn_class_stats(f->cls[i], &counters);
        CHECK_EQ(counters.count, count(f, i));
    }
    for (uint64_t id = 0; id < TIMERS; id++) {
        check_one(f, id);
    }
}

static void
note_start(struct flock *f, uint64_t id, unsigned cls, uint64_t ttl)
{
    struct sheep *s = &f->sheep[id];

    s->running = false;
    s->start = is_paused(f, cls) ? f->paused_at[cls] : f->now;
    for (unsigned i = 0; cls != NONE && i < TIMERS; i++) {
        const struct sheep *other = &f->sheep[i];

        if (other->running && other->cls == cls && other->start > s->start) {
            s->start = other->start;
        }
    }
    s->running = true;
    s->cls = cls;
    s->ttl = ttl;
    s->order = ++f->order;
}

/* Starts or touches a timer in a class or in none. */
static void
start_any(struct flock *f, uint64_t id)
{
    unsigned cls = (unsigned)rng_below(&f->rng, CLASSES + 1);
    uint64_t ttl = 1 + rng_below(&f->rng, 60);
    bool was = f->sheep[id].running;
    uint64_t payload[8] = {rng_next(&f->rng)};
    size_t size = 8 + rng_below(&f->rng, 57);

    if (rng_below(&f->rng, 3) == 0) {
        bool is = cls == NONE ? lawn_store_touch(f->store, &id, sizeof(id), ttl)
                              : lawn_store_touch_in(f->store, f->cls[cls], &id,
                                                    sizeof(id));
        CHECK_EQ(is, was);
        if (!was) {
            return;
        }
    } else {
        CHECK_EQ(cls == NONE
                     ? lawn_store_start(f->store, &id, sizeof(id), ttl, payload,
                                        size, 0)
                     : lawn_store_start_in(f->store, f->cls[cls], &id,
                                           sizeof(id), payload, size, 0),
                 0);
        f->sheep[id].payload = payload[0];
    }
    note_start(f, id, cls, ttl);
}

static void
stop_any(struct flock *f, uint64_t id)
{
    CHECK_EQ(lawn_store_stop(f->store, &id, sizeof(id)), f->sheep[id].running);
    f->sheep[id].running = false;
}

static void
shift(struct flock *f, unsigned cls, uint64_t ticks)
{
    for (unsigned i = 0; i < TIMERS; i++) {
        if (f->sheep[i].running && f->sheep[i].cls == cls) {
            f->sheep[i].start += ticks;
        }
    }
}

static void
change_class(struct flock *f)
{
    unsigned cls = (unsigned)rng_below(&f->rng, CLASSES);
    uint64_t ticks = rng_below(&f->rng, 40);

    switch (rng_below(&f->rng, 5)) {
    case 0:
        f->ttl[cls] = 1 + ticks * ticks / 20;
        lawn_class_set_ttl(f->cls[cls], f->ttl[cls]);
        break;
    case 1:
        lawn_class_postpone(f->cls[cls], ticks / 4);
        shift(f, cls, ticks / 4);
        break;
    case 2:
        lawn_class_pause(f->cls[cls]);
        f->paused_at[cls] = is_paused(f, cls) ? f->paused_at[cls] : f->now;
        break;
    default:
        lawn_class_resume(f->cls[cls]);
        if (is_paused(f, cls)) {
            shift(f, cls, f->now - f->paused_at[cls]);
            f->paused_at[cls] = LAWN_NEVER;
        }
    }
}

/* Checks that no timer should have fired before this one. */
static void
note_fire(struct flock *f, const struct lawn_store_timer *timer)
{
    uint64_t id = 0;

    memcpy(&id, timer->id, sizeof(id));
    struct sheep *s = &f->sheep[id];
    CHECK(s->running && !is_paused(f, s->cls));
    CHECK_EQ(timer->deadline, deadline_of(f, s));
    CHECK_EQ(timer->deadline, find_next(f));
    CHECK(timer->cls == (s->cls == NONE ? NULL : f->cls[s->cls]));
    CHECK(memcmp(timer->payload, &s->payload, sizeof(s->payload)) == 0);
    for (unsigned i = 0; s->cls != NONE && i < TIMERS; i++) {
        CHECK(!f->sheep[i].running || f->sheep[i].cls != s->cls ||
              f->sheep[i].order >= s->order); /* [P12] */
    }
    s->running = false;
    f->fires++;
}

static void
on_fire(const struct lawn_store_timer *timer, void *arg)
{
    struct flock *f = arg;

    CHECK(timer->deadline <= f->mowing);
    note_fire(f, timer);
    switch (rng_below(&f->rng, 6)) {
    case 0:
        change_class(f);
        break;
    case 1:
        start_any(f, rng_below(&f->rng, TIMERS));
        break;
    case 2:
        stop_any(f, rng_below(&f->rng, TIMERS));
        break;
    default:
        break;
    }
}

static void
mow_some(struct flock *f)
{
    size_t budget =
        rng_below(&f->rng, 2) == 0 ? SIZE_MAX : rng_below(&f->rng, 8);

    f->now += rng_below(&f->rng, 12);
    f->mowing = f->now;
    if (lawn_store_mow(f->store, f->now, budget, on_fire, f) < budget) {
        CHECK(find_next(f) > f->now); /* [P2] */
    }
}

static void
pop_one(struct flock *f)
{
    struct lawn_store_timer timer;

    f->now += rng_below(&f->rng, 3);
    if (lawn_store_pop(f->store, f->now, &timer)) {
        note_fire(f, &timer);
    } else {
        CHECK(find_next(f) > f->now);
    }
}

/* Moves everything to another store, perhaps later. */
static void
reload(struct flock *f)
{
    struct tape tape = {0};
    uint64_t later = f->now + rng_below(&f->rng, 2) * rng_below(&f->rng, 20);
    struct lawn_store *store = new_store(later);

    if (rng_below(&f->rng, 2) == 0) {
        CHECK_EQ(lawn_store_class_new(store, 5, names[1], NULL), 0);
        lawn_class_pause(lawn_store_class_find(store, names[1]));
    }
    tape_save(&tape, f->store);
    CHECK_EQ(tape_load(&tape, store), 0);
    lawn_store_free(f->store);
    f->store = store;
    f->now = later;
    for (unsigned i = 0; i < CLASSES; i++) {
        f->cls[i] = lawn_store_class_find(store, names[i]);
        CHECK(f->cls[i] != NULL);
    }
    tape_free(&tape);
    check_all(f);
}

static void
clear_class(struct flock *f)
{
    unsigned cls = (unsigned)rng_below(&f->rng, CLASSES);

    CHECK_EQ(lawn_store_class_clear(f->store, f->cls[cls]), count(f, cls));
    for (unsigned i = 0; i < TIMERS; i++) {
        f->sheep[i].running &= f->sheep[i].cls != cls;
    }
}

static void
check_next(const struct flock *f)
{
    struct lawn_store_timer timer;
    uint64_t next = find_next(f);

    CHECK_EQ(lawn_store_next(f->store), next);
    CHECK_EQ(lawn_store_next_timer(f->store, &timer), next != LAWN_NEVER);
    if (next != LAWN_NEVER) {
        CHECK_EQ(timer.deadline, next);
    }
}

static void
update_any(struct flock *f, uint64_t id)
{
    uint64_t payload[8] = {rng_next(&f->rng)};

    if (lawn_store_update(f->store, &id, sizeof(id), payload,
                          8 + rng_below(&f->rng, 57)) == 0) {
        CHECK(f->sheep[id].running);
        f->sheep[id].payload = payload[0];
    }
}

static void
operate(struct flock *f)
{
    uint64_t id = rng_below(&f->rng, TIMERS);
    uint64_t kind = rng_below(&f->rng, 1000);

    if (kind < 500) {
        start_any(f, id);
    } else if (kind < 570) {
        stop_any(f, id);
    } else if (kind < 640) {
        update_any(f, id);
    } else if (kind < 740) {
        change_class(f);
    } else if (kind < 890) {
        mow_some(f);
    } else if (kind < 950) {
        pop_one(f);
    } else if (kind < 960) {
        reload(f);
    } else if (kind < 968) {
        clear_class(f);
    } else if (kind < 970) {
        lawn_store_clear(f->store);
        memset(f->sheep, 0, sizeof(f->sheep));
    } else {
        check_next(f);
    }
}

TEST(a_store_with_classes_agrees_with_an_array_of_timers)
{
    struct flock f = {.store = new_store(100), .now = 100, .rng = {26}};

    f.paused_at[NONE] = LAWN_NEVER;
    for (unsigned i = 0; i < CLASSES; i++) {
        f.ttl[i] = 20;
        f.paused_at[i] = LAWN_NEVER;
        CHECK_EQ(lawn_store_class_new(f.store, 20, names[i], &f.cls[i]), 0);
    }
    for (unsigned i = 0; i < OPERATIONS; i++) {
        operate(&f);
        check_one(&f, rng_below(&f.rng, TIMERS));
        if (i % 256 == 0) {
            check_all(&f);
        }
    }
    CHECK(f.fires > OPERATIONS / 10);
    lawn_store_free(f.store);
}
