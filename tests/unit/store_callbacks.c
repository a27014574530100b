/* store_callbacks.c - callbacks of a store may call everything [S3]. */
#include "store_common.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The first to fire stops b; c is next. */
static void
stop_b(struct trial *t, const struct lawn_store_timer *timer)
{
    if (memcmp(timer->id, "a", 1) == 0) {
        CHECK(drop(t, "b"));
        CHECK_EQ(lawn_store_next(t->store), look(t, "c").deadline);
    }
}

/* [P5] */
TEST(a_timer_of_a_store_stopped_by_a_callback_of_the_mow_does_not_fire)
{
    static const uint64_t ttls[] = {10, 11, 300}; /* same tick, next, far */
    struct trial t;

    for (size_t i = 0; i < COUNT(ttls); i++) {
        trial_begin(&t, NULL);
        put(&t, "a", 10, "");
        put(&t, "b", ttls[i], "");
        put(&t, "c", ttls[i], "");
        t.act = stop_b;
        CHECK_EQ(trial_mow(&t, 1000), 2);
        CHECK_STORE_FIRED(&t, "a c");
        CHECK_EQ(lawn_store_count(t.store), 0);
        trial_end(&t);
    }
}

static void
stop_itself(struct trial *t, const struct lawn_store_timer *timer)
{
    CHECK(!lawn_store_stop(t->store, timer->id, timer->id_size));
    CHECK(!lawn_store_touch(t->store, timer->id, timer->id_size, 5));
    CHECK(!lawn_store_touch_at(t->store, timer->id, timer->id_size, 5));
    CHECK_EQ(lawn_store_update(t->store, timer->id, timer->id_size, "", 0),
             -ENOENT);
    CHECK_EQ(lawn_store_start(t->store, timer->id, timer->id_size, 5, "", 0,
                              LAWN_STORE_PRESENT),
             -ENOENT);
}

TEST(a_timer_has_left_the_store_when_its_callback_runs)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "x");
    put(&t, "b", 10, "y");
    t.act = stop_itself;
    CHECK_EQ(trial_mow(&t, 10), 2);
    CHECK_STORE_FIRED_WITH(&t, "a b", "x y");
    CHECK_EQ(lawn_store_count(t.store), 0);
    trial_end(&t);
}

/* Passes the id and payload that the store passed to the callback. */
static void
start_itself(struct trial *t, const struct lawn_store_timer *timer)
{
    CHECK_EQ(lawn_store_start(t->store, timer->id, timer->id_size, timer->ttl,
                              timer->payload, timer->payload_size,
                              LAWN_STORE_ABSENT),
             0);
}

/* [P6] */
TEST(a_callback_of_a_store_may_start_its_timer_again_as_it_was)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "a payload that is longer than a few words");
    put(&t, "b", 10, "");
    t.act = start_itself;
    for (uint64_t now = 10; now < 100; now += 10) {
        CHECK_EQ(trial_mow(&t, now), 2);
        CHECK_STORE_FIRED_WITH(&t, "a b",
                               "a payload that is longer than a few words ");
        CHECK_EQ(lawn_store_count(t.store), 2);
        CHECK_EQ(lawn_store_next(t.store), now + 10);
        CHECK_EQ(trial_mow(&t, now), 0);
    }
    trial_end(&t);
}

/* A shorter part each time: the end of the id and of the payload. */
static void
start_the_rest_of_itself(struct trial *t, const struct lawn_store_timer *timer)
{
    if (timer->id_size > 1) {
        CHECK_EQ(lawn_store_start(t->store, (const char *)timer->id + 1,
                                  timer->id_size - 1, 1,
                                  (const char *)timer->payload + 1,
                                  timer->payload_size - 1, 0),
                 0);
    }
}

TEST(a_callback_of_a_store_may_pass_back_a_part_of_its_data)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "abcd", 1, "12345678901");
    t.act = start_the_rest_of_itself;
    for (uint64_t now = 1; now < 10; now++) {
        (void)trial_mow(&t, now);
    }
    CHECK_STORE_FIRED_WITH(&t, "abcd bcd cd d",
                           "12345678901 2345678901 345678901 45678901");
    trial_end(&t);
}

static void
start_three(struct trial *t, const struct lawn_store_timer *timer)
{
    if (memcmp(timer->id, "a", 1) == 0) {
        put(t, "x", 0, "");
        put(t, "y", 1, "");
        CHECK_EQ(put_how(t, "z", 3, "", LAWN_STORE_AT), 0);
    }
}

/* [P6] */
TEST(a_timer_started_by_a_callback_of_a_store_waits_for_a_later_mow)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "");
    put(&t, "b", 20, "");
    t.act = start_three;
    CHECK_EQ(trial_mow(&t, 100), 2);
    CHECK_STORE_FIRED(&t, "a b");
    CHECK_TIMER(&t, "x", "", 101);
    CHECK_TIMER(&t, "y", "", 101);
    CHECK_TIMER(&t, "z", "", 101);
    CHECK_EQ(trial_mow(&t, 100), 0);
    CHECK_EQ(trial_mow(&t, 101), 3);
    trial_end(&t);
}

/* The first replaces, touches or updates b, c and d. */
static void
treat_others(struct trial *t, const struct lawn_store_timer *timer)
{
    if (memcmp(timer->id, "a", 1) == 0) {
        put(t, "b", 1, "replaced");
        CHECK(lawn_store_touch(t->store, "c", 1, 2));
        CHECK_EQ(lawn_store_update(t->store, "d", 1, "updated, and longer", 19),
                 0);
        CHECK(lawn_store_touch_at(t->store, "e", 1, 1));
    }
}

/* [P5] [P6] b, c and e are started again; d fires in this mow, in its place. */
TEST(timers_of_a_store_that_are_due_may_be_changed_by_a_callback)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "");
    put(&t, "b", 10, "old");
    put(&t, "c", 10, "touched");
    put(&t, "d", 10, "old");
    put(&t, "e", 10, "at");
    put(&t, "f", 10, "last");
    t.act = treat_others;
    CHECK_EQ(trial_mow(&t, 50), 3);
    CHECK_STORE_FIRED_WITH(&t, "a d f", " updated, and longer last");
    CHECK_EQ(trial_mow(&t, 50), 0);
    CHECK_EQ(trial_mow(&t, 51), 2);
    CHECK_STORE_FIRED_WITH(&t, "b e", "replaced at");
    CHECK_EQ(trial_mow(&t, 52), 1);
    CHECK_STORE_FIRED_WITH(&t, "c", "touched");
    trial_end(&t);
}

static size_t inner;

/* Each callback mows the remaining timers, so that mows nest. */
static void
mow_inside(struct trial *t, const struct lawn_store_timer *timer)
{
    (void)timer;
    inner += trial_mow_some(t, t->mowing, 2);
}

TEST(a_mow_of_a_store_inside_a_mow_continues_the_outer_mow)
{
    struct trial t;
    char id[2] = "a";

    trial_begin(&t, NULL);
    for (; id[0] <= 'z'; id[0]++) {
        put(&t, id, 1 + (uint64_t)(id[0] - 'a') / 3, id);
    }
    inner = 0;
    t.act = mow_inside;
    size_t outer = trial_mow(&t, 5);
    CHECK_EQ(outer + inner, 15);
    CHECK_STORE_FIRED(&t, "a b c d e f g h i j k l m n o");
    inner = 0;
    outer = trial_mow(&t, 100);
    CHECK_EQ(outer + inner, 11);
    CHECK_STORE_FIRED(&t, "p q r s t u v w x y z");
    trial_end(&t);
}

/* Mows to a later time than the outer mow. */
static void
mow_further(struct trial *t, const struct lawn_store_timer *timer)
{
    if (memcmp(timer->id, "a", 1) == 0) {
        CHECK_EQ(trial_mow(t, 30), 2);
        CHECK_EQ(lawn_store_now(t->store), 30);
        CHECK_EQ(trial_mow(t, 5), 0);
    }
}

TEST(a_mow_of_a_store_inside_a_mow_may_go_further)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "");
    put(&t, "b", 20, "");
    put(&t, "c", 30, "");
    put(&t, "d", 40, "");
    t.act = mow_further;
    CHECK_EQ(trial_mow(&t, 20), 1);
    CHECK_STORE_FIRED(&t, "a b c");
    CHECK_EQ(lawn_store_now(t.store), 30);
    CHECK_EQ(lawn_store_next(t.store), 40);
    trial_end(&t);
}

static void
set_now_inside(struct trial *t, const struct lawn_store_timer *timer)
{
    (void)timer;
    lawn_store_set_now(t->store, 1000);
}

/* The current mow keeps the time passed to it. */
TEST(a_callback_of_a_store_may_set_the_clock)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "");
    put(&t, "b", 20, "");
    put(&t, "c", 30, "");
    t.act = set_now_inside;
    CHECK_EQ(trial_mow(&t, 20), 2);
    CHECK_STORE_FIRED(&t, "a b");
    CHECK_EQ(lawn_store_now(t.store), 1000);
    t.act = NULL;
    CHECK_EQ(trial_mow(&t, 1000), 1);
    trial_end(&t);
}

/* Two pops, because the result of the first stays valid until the second. */
static void
pop_inside(struct trial *t, const struct lawn_store_timer *timer)
{
    struct lawn_store_timer out;

    if (memcmp(timer->id, "a", 1) == 0) {
        CHECK(lawn_store_pop(t->store, t->mowing, &out));
        CHECK(memcmp(out.id, "b", 1) == 0);
        CHECK_EQ(lawn_store_start(t->store, out.id, 1, 50, out.payload,
                                  out.payload_size, 0),
                 0);
        CHECK(lawn_store_pop(t->store, t->mowing, &out));
        CHECK(memcmp(out.id, "c", 1) == 0);
        CHECK(memcmp(timer->id, "a", 1) == 0);
    }
}

TEST(a_callback_of_a_store_may_pop)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "1");
    put(&t, "b", 10, "2");
    put(&t, "c", 11, "3");
    put(&t, "d", 12, "4");
    t.act = pop_inside;
    CHECK_EQ(trial_mow(&t, 20), 2);
    CHECK_STORE_FIRED_WITH(&t, "a d", "1 4");
    CHECK_TIMER(&t, "b", "2", 70);
    struct lawn_store_timer out;
    CHECK(lawn_store_pop(t.store, 70, &out));
    trial_end(&t);
}

static void
clear_and_start(struct trial *t, const struct lawn_store_timer *timer)
{
    lawn_store_clear(t->store);
    CHECK_EQ(lawn_store_count(t->store), 0);
    put(t, "new", 1, "n");
    start_itself(t, timer);
}

TEST(a_callback_of_a_store_may_clear_it)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "a payload of some length");
    put(&t, "b", 10, "");
    put(&t, "c", 11, "");
    put(&t, "d", 90, "");
    t.act = clear_and_start;
    CHECK_EQ(trial_mow(&t, 50), 1);
    CHECK_STORE_FIRED(&t, "a");
    CHECK_EQ(lawn_store_count(t.store), 2);
    CHECK_TIMER(&t, "new", "n", 51);
    CHECK_TIMER(&t, "a", "a payload of some length", 60);
    trial_end(&t);
}

static void
clear_in_a_mow_inside(struct trial *t, const struct lawn_store_timer *timer)
{
    if (t->depth < 4) {
        (void)trial_mow(t, t->mowing);
    } else {
        lawn_store_clear(t->store);
    }
    (void)timer;
}

TEST(a_callback_of_a_store_may_clear_it_in_a_mow_inside_a_mow)
{
    struct trial t;

    trial_begin(&t, NULL);
    for (uint64_t i = 0; i < 10; i++) {
        CHECK_EQ(put_number(&t, i, 10), 0);
    }
    t.act = clear_in_a_mow_inside;
    CHECK_EQ(trial_mow(&t, 10), 1);
    CHECK_EQ(t.fired, 4);
    CHECK_EQ(lawn_store_count(t.store), 0);
    trial_end(&t);
}

static void
free_it(const struct lawn_store_timer *timer, void *arg)
{
    struct trial *t = (struct trial *)arg;

    CHECK_EQ(t->fired, 0);
    t->fired++;
    lawn_store_free(t->store);
    CHECK_EQ(timer->id_size, 1); /* [S3] valid until here */
    CHECK(memcmp(timer->id, "a", 1) == 0);
    CHECK(memcmp(timer->payload, "a payload", timer->payload_size) == 0);
}

TEST(a_callback_of_a_store_may_free_it)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "a payload");
    put(&t, "b", 10, "");
    put(&t, "c", 10, "");
    (void)lawn_store_mow(t.store, 10, SIZE_MAX, free_it, &t);
    CHECK_EQ(t.fired, 1); /* the others were freed with the store */
    t.store = NULL;
    trial_end(&t); /* and all memory was released */
}

/* The same in nested mows. */
static void
mow_to_free(const struct lawn_store_timer *timer, void *arg)
{
    struct trial *t = (struct trial *)arg;

    CHECK(memcmp(timer->id, "0", 1) == 0);
    (void)lawn_store_mow(t->store, 20, SIZE_MAX, free_it, t);
    CHECK(memcmp(timer->id, "0", 1) == 0); /* [S3] */
    CHECK(memcmp(timer->payload, "zero", 4) == 0);
}

TEST(a_callback_of_a_store_may_free_it_in_a_mow_inside_a_mow)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "z", 5, "popped before");
    put(&t, "0", 10, "zero");
    put(&t, "a", 10, "a payload");
    put(&t, "b", 10, "");
    struct lawn_store_timer out;
    CHECK(lawn_store_pop(t.store, 5, &out));
    (void)lawn_store_mow(t.store, 10, SIZE_MAX, mow_to_free, &t);
    CHECK_EQ(t.fired, 1);
    t.store = NULL;
    trial_end(&t);
}

/* While the first of a hundred timers fires, the store contains the others. */
static void
look_around(struct trial *t, const struct lawn_store_timer *timer)
{
    uint64_t left = 100 - t->fired;
    uint64_t cursor = 0;
    uint64_t told = 0;

    CHECK_EQ(lawn_store_count(t->store), left);
    CHECK(lawn_store_check(t->store, stdout));
    for (uint64_t i = 0; i < 100; i++) {
        told += has_number(t, i);
    }
    CHECK_EQ(told, left);
    told = 0;
    struct lawn_store_timer out;
    while (lawn_store_iterate(t->store, &cursor, &out)) {
        CHECK(out.deadline >= timer->deadline);
        told++;
    }
    CHECK_EQ(told, left);
    if (left > 0) {
        CHECK_EQ(lawn_store_next(t->store), 1 + t->fired / 10);
    } else {
        CHECK_EQ(lawn_store_next(t->store), LAWN_NEVER);
    }
}

/* [S3] Due or not: a timer that has not fired is still in the store. */
TEST(timers_of_a_store_that_are_about_to_fire_are_still_there)
{
    struct trial t;

    trial_begin(&t, NULL);
    for (uint64_t i = 0; i < 100; i++) {
        CHECK_EQ(put_number(&t, i, 1 + i / 10), 0);
    }
    t.act = look_around;
    CHECK_EQ(trial_mow(&t, 1000), 100);
    trial_end(&t);
}

/* The outer mow fires all of them; this one only some. */
static void
mow_less(struct trial *t, const struct lawn_store_timer *timer)
{
    struct lawn_store_timer out;

    if (memcmp(timer->id, "a", 1) == 0) {
        CHECK(!lawn_store_pop(t->store, 19, &out));
        CHECK_EQ(trial_mow(t, 19), 0);
        CHECK_EQ(trial_mow(t, 20), 1);
        CHECK(!lawn_store_pop(t->store, 20, &out));
        CHECK(lawn_store_pop(t->store, 30, &out));
        CHECK(memcmp(out.id, "c", 1) == 0);
        CHECK_EQ(lawn_store_now(t->store), 100);
        CHECK_EQ(lawn_store_next(t->store), 40);
    }
}

/* [P1] */
TEST(a_mow_of_a_store_inside_a_mow_fires_timers_due_by_its_own_time)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "");
    put(&t, "b", 20, "");
    put(&t, "c", 30, "");
    put(&t, "d", 40, "");
    t.act = mow_less;
    CHECK_EQ(trial_mow(&t, 100), 2);
    CHECK_STORE_FIRED(&t, "a b d");
    trial_end(&t);
}

static void
empty_by_pops(struct trial *t, const struct lawn_store_timer *timer)
{
    struct lawn_store_timer out;
    uint64_t last = timer->deadline;

    while (lawn_store_pop(t->store, t->mowing, &out)) {
        CHECK(out.deadline >= last); /* [P4] */
        last = out.deadline;
    }
}

TEST(a_callback_of_a_store_may_pop_all_that_is_due)
{
    struct trial t;

    trial_begin(&t, NULL);
    for (uint64_t i = 0; i < 100; i++) {
        CHECK_EQ(put_number(&t, i, 1 + i % 37), 0);
    }
    t.act = empty_by_pops;
    CHECK_EQ(trial_mow(&t, 30), 1);
    CHECK_EQ(lawn_store_next(t.store), 31);
    trial_end(&t);
}

/* Odd numbers in turn stop, touch or replace the timer after the next one. */
static void
treat_the_one_after_next(struct trial *t, const struct lawn_store_timer *timer)
{
    uint64_t number = 0;

    memcpy(&number, timer->id, sizeof(number));
    number += 2;
    switch (number % 3) {
    case 0:
        (void)drop_number(t, number);
        break;
    case 1:
        (void)lawn_store_touch(t->store, &number, sizeof(number), 5);
        break;
    default:
        if (has_number(t, number)) {
            CHECK_EQ(put_number(t, number, 5), 0);
        }
    }
}

/* [P5] [P6] At all positions of a batch, if a mow works in batches. */
TEST(callbacks_of_a_store_may_change_timers_at_any_distance)
{
    struct trial t;

    for (uint64_t n = 1; n < 70; n++) {
        trial_begin(&t, NULL);
        for (uint64_t i = 0; i < n; i++) {
            CHECK_EQ(put_number(&t, i, 10), 0);
        }
        t.act = treat_the_one_after_next;
        CHECK_EQ(trial_mow(&t, 10),
                 n < 2 ? n
                       : 2 + (n - 2) / 4 * 2 +
                             ((n - 2) % 4 > 2 ? (n - 2) % 4 - 2 : 0));
        t.act = NULL;
        (void)trial_mow(&t, 15);
        CHECK_EQ(lawn_store_count(t.store), 0);
        trial_end(&t);
    }
}

/* All operations on all ids, chosen at random. */
static uint64_t state;
static uint64_t cursor;

static void
do_anything(struct trial *t, const struct lawn_store_timer *timer)
{
    struct lawn_store_timer out;

    for (int i = 0; i < 3; i++) {
        uint64_t r = chance(&state);
        uint64_t id = r / 64 % 200;

        switch (r % 16) {
        case 0:
            (void)drop_number(t, id);
            break;
        case 1:
            (void)lawn_store_touch(t->store, &id, sizeof(id), r / 64 % 50);
            break;
        case 2:
            (void)lawn_store_update(t->store, &id, sizeof(id), timer->payload,
                                    timer->payload_size);
            break;
        case 3:
            if (t->depth < 5) {
                (void)trial_mow_some(t, t->mowing, r / 64 % 5);
            }
            break;
        case 4:
            (void)lawn_store_pop(t->store, t->mowing, &out);
            break;
        case 5:
            if (!lawn_store_iterate(t->store, &cursor, &out)) {
                cursor = 0;
            }
            break;
        case 6:
            CHECK_EQ(lawn_store_reserve(t->store, r / 64 % 300), 0);
            break;
        case 7:
            if (r / 64 % 20 == 0) {
                lawn_store_clear(t->store);
            }
            break;
        default:
            CHECK_EQ(lawn_store_start(t->store, &id, sizeof(id), r / 64 % 50,
                                      timer->payload, timer->payload_size, 0),
                     0);
        }
    }
}

/* The sanitizers and lawn_store_check() report errors. */
TEST(callbacks_of_a_store_may_do_anything_in_any_order)
{
    struct trial t;

    trial_begin(&t, NULL);
    state = 11;
    cursor = 0;
    t.act = do_anything;
    for (uint64_t now = 0; now < how_many(1500, 600, 200); now++) {
        for (uint64_t i = 0; i < 4; i++) {
            CHECK_EQ(put_number(&t, chance(&state) % 200, 1 + i * 7), 0);
        }
        (void)trial_mow_some(&t, now, 20);
    }
    trial_end(&t);
}
