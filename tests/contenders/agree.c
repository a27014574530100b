/* agree.c - each contender works as documented; broken ones are detected. */
#include "agree.h"
#include "common.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define SEEDS 3u

TEST(every_exact_contender_agrees_with_the_oracle)
{

    for (size_t i = 0; exact[i] != NULL; i++) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            CHECK(agree_check(exact[i], seed, stdout));
        }
    }
}

/* A broken contender is a good one with a modified function. Only one runs at a
 * time, so static variables suffice. */
static const struct contender *good;
static unsigned calls;
static contender_fire_fn *true_fire;
static void *true_arg;

static void
start_and_lose_some(void *self, struct object *object, uint64_t ttl)
{
    if (++calls % 1000 != 0) {
        good->start(self, object, ttl);
    }
}

static void
start_a_tick_early(void *self, struct object *object, uint64_t ttl)
{
    good->start(self, object, ttl > 1 ? ttl - 1 : 1);
}

static void
start_a_tick_late(void *self, struct object *object, uint64_t ttl)
{
    good->start(self, object, ttl + 1);
}

static bool
stop_and_forget_some(void *self, struct object *object)
{
    if (++calls % 100 == 0) {
        return true;
    }
    return good->stop(self, object);
}

static bool
stop_and_boast(void *self, struct object *object)
{
    (void)good->stop(self, object);
    return true;
}

static void
fire_twice(struct object *object, void *arg)
{
    (void)arg;
    true_fire(object, true_arg);
    if (++calls % 100 == 0) {
        true_fire(object, true_arg);
    }
}

static size_t
mow_and_fire_twice(void *self, uint64_t now, size_t budget,
                   contender_fire_fn *fire, void *arg)
{
    true_fire = fire;
    true_arg = arg;
    return good->mow(self, now, budget, fire_twice, NULL);
}

static size_t
mow_without_end(void *self, uint64_t now, size_t budget,
                contender_fire_fn *fire, void *arg)
{
    (void)budget;
    return good->mow(self, now, SIZE_MAX, fire, arg);
}

static size_t
mow_half(void *self, uint64_t now, size_t budget, contender_fire_fn *fire,
         void *arg)
{
    return good->mow(self, now, budget > 100 ? 100 : budget, fire, arg);
}

static size_t
mow_and_miscount(void *self, uint64_t now, size_t budget,
                 contender_fire_fn *fire, void *arg)
{
    return good->mow(self, now, budget, fire, arg) / 2;
}

static uint64_t
next_too_early(void *self)
{
    uint64_t next = good->next(self);

    return next == UINT64_MAX ? next : next - 1;
}

static bool
always_failed(void *self)
{
    (void)self;
    return true;
}

/* Returns whether the check rejects a broken contender with this message. */
static bool
is_refused(const struct contender *broken, const char *words)
{
    char *said = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&said, &size);

    CHECK(out != NULL);
    calls = 0;
    bool refused = !agree_check(broken, 1, out);
    CHECK(fclose(out) == 0);
    if (refused) {
        refused = strstr(said, broken->name) != NULL &&
                  strstr(said, "seed 1, step ") != NULL &&
                  strstr(said, words) != NULL;
        if (!refused) {
            printf("  printed: %s", said);
        }
    }
    free(said);
    return refused;
}

static struct contender
like(const struct contender *model)
{
    struct contender broken = *model;

    good = model;
    broken.name = "broken";
    return broken;
}

TEST(a_contender_that_fires_a_tick_early_is_refused)
{
    struct contender broken = like(&heap4_contender);

    broken.start = start_a_tick_early;
    broken.next = NULL;
    CHECK(is_refused(&broken, "fired before it was due"));
}

TEST(a_contender_that_fires_a_tick_late_is_refused)
{
    struct contender broken = like(&heap4_contender);

    broken.start = start_a_tick_late;
    broken.next = NULL;
    CHECK(is_refused(&broken, "did not fire"));
}

TEST(a_contender_that_loses_every_thousandth_timer_is_refused)
{
    struct contender broken = like(&tree_contender);

    broken.start = start_and_lose_some;
    CHECK(is_refused(&broken, ""));
    /* Also without next(), which would show the loss. */
    broken.next = NULL;
    CHECK(is_refused(&broken, ""));
}

TEST(a_contender_that_fires_a_stopped_timer_is_refused)
{
    struct contender broken = like(&wheel_contender);

    broken.stop = stop_and_forget_some;
    broken.next = NULL;
    CHECK(is_refused(&broken, ""));
}

TEST(a_contender_that_fires_twice_is_refused)
{
    struct contender broken = like(&list_contender);

    broken.mow = mow_and_fire_twice;
    CHECK(is_refused(&broken, ""));
}

TEST(a_contender_that_fires_in_the_wrong_order_is_refused)
{
    struct contender broken = like(&paper_contender);

    broken.flags |= CONTENDER_ORDERED;
    CHECK(is_refused(&broken, "in the order of deadlines"));
    broken = like(&hashed_contender);
    broken.flags |= CONTENDER_ORDERED;
    CHECK(is_refused(&broken, "in the order of deadlines"));
    broken = like(&heap4_contender);
    broken.flags |= CONTENDER_FIFO;
    CHECK(is_refused(&broken, "in the order of starts"));
    broken = like(&heap2_contender);
    broken.flags |= CONTENDER_FIFO;
    CHECK(is_refused(&broken, "in the order of starts"));
}

TEST(a_contender_whose_stop_returns_the_wrong_thing_is_refused)
{
    struct contender broken = like(&heads_contender);

    broken.stop = stop_and_boast;
    CHECK(is_refused(&broken, "returned true, but it is idle"));
}

TEST(a_contender_that_heeds_no_budget_or_miscounts_is_refused)
{
    struct contender broken = like(&lawn_contender);

    broken.mow = mow_without_end;
    CHECK(is_refused(&broken, "with a budget of"));
    broken.flags &= ~(unsigned)CONTENDER_BUDGET;
    CHECK(!is_refused(&broken, ""));
    broken.mow = mow_half;
    CHECK(is_refused(&broken, "did not fire"));
    broken.mow = mow_and_miscount;
    CHECK(is_refused(&broken, "mow() returned"));
}

TEST(a_contender_whose_next_deadline_is_wrong_is_refused)
{
    struct contender broken = like(&calendar_contender);

    broken.next = next_too_early;
    CHECK(is_refused(&broken, "next() is"));
}

TEST(a_contender_that_fails_for_no_reason_is_refused)
{
    struct contender broken = like(&heap4_contender);

    broken.failed = always_failed;
    CHECK(is_refused(&broken, "failed"));
}

TEST(a_contender_that_promises_nothing_is_not_checked)
{
    CHECK(agree_check(&floor_contender, 1, stdout));
}

static struct tap_event heard[16];
static size_t heard_count;

static void
hear(const struct tap_event *event, void *arg)
{
    CHECK(arg == &heard_count);
    CHECK(heard_count < 16);
    heard[heard_count++] = *event;
}

static void
heard_is(size_t i, enum tap_kind kind, uint64_t now, uint32_t id, uint64_t ttl)
{
    CHECK(i < heard_count);
    CHECK_EQ(heard[i].kind, kind);
    CHECK_EQ(heard[i].now, now);
    CHECK_EQ(heard[i].id, id);
    CHECK_EQ(heard[i].ttl, ttl);
}

TEST(a_tap_reports_starts_stops_and_firings)
{
    struct tap tap;

    heard_count = 0;
    struct stage s;
    stage_begin(&s, tap_wrap(&tap, &heap4_contender, hear, &heard_count), 3, 3);
    stage_start(&s, 1, 10);
    stage_start(&s, 2, 20);
    CHECK_EQ(s.contender->next(s.self), 10);
    CHECK_EQ(stage_mow(&s, 12, SIZE_MAX), 1);
    CHECK_EQ(s.last, 1);
    CHECK(stage_stop(&s, 2));
    CHECK(!stage_stop(&s, 2));
    CHECK(!stage_failed(&s));
    CHECK_EQ(heard_count, 4);
    heard_is(0, TAP_START, 0, 1, 10);
    heard_is(1, TAP_START, 0, 2, 20);
    heard_is(2, TAP_FIRE, 12, 1, 10);
    heard_is(3, TAP_STOP, 12, 2, 20);
    stage_end(&s);
}

static void
hear_nothing(const struct tap_event *event, void *arg)
{
    (void)event;
    (void)arg;
}

TEST(a_tapped_contender_agrees_as_the_bare_one_does)
{
    struct tap tap;

    CHECK(agree_check(tap_wrap(&tap, &wheel_contender, hear_nothing, NULL), 1,
                      stdout));
}
