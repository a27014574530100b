/* store_class.c - classes of timers in a store [S10]. */
#include "store_common.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Begins a trial with room for 4 classes, and creates two: a (TTL 10) and b
 * (TTL 20). */
static void
begin_classes(struct trial *t, struct lawn_class **a, struct lawn_class **b)
{
    struct lawn_store_options options = {.lawn.classes = 4, .seed = {1, 2}};

    trial_begin(t, &options);
    CHECK_EQ(lawn_store_class_new(t->store, 10, "a", a), 0);
    CHECK_EQ(lawn_store_class_new(t->store, 20, "b", b), 0);
}

static void
put_in(const struct trial *t, struct lawn_class *cls, const char *id,
       const char *payload)
{
    CHECK_EQ(lawn_store_start_in(t->store, cls, id, strlen(id), payload,
                                 strlen(payload), 0),
             0);
    CHECK(lawn_store_check(t->store, stdout));
}

static struct lawn_class_counters
count_in(const struct lawn_class *cls)
{
    struct lawn_class_counters counters;

    lawn_class_stats(cls, &counters);
    return counters;
}

TEST(a_class_of_a_store_is_found_by_its_name_of_which_the_store_has_a_copy)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct lawn_class *c = NULL;
    char name[] = "conn";
    struct trial t;

    begin_classes(&t, &a, &b);
    CHECK_EQ(lawn_store_class_new(t.store, 30, name, &c), 0);
    name[0] = 'x';
    CHECK(lawn_store_class_find(t.store, "conn") == c);
    CHECK(lawn_store_class_find(t.store, "a") == a);
    CHECK(lawn_store_class_find(t.store, "b") == b);
    CHECK(lawn_store_class_find(t.store, "xonn") == NULL);
    CHECK(lawn_store_class_find(t.store, "con") == NULL);
    CHECK(lawn_store_class_find(t.store, "") == NULL);
    CHECK(strcmp(count_in(c).name, "conn") == 0);
    CHECK_EQ(count_in(c).ttl, 30);
    trial_end(&t);
}

TEST(a_second_class_of_a_name_is_refused_and_changes_nothing)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct lawn_class *out = NULL;
    struct trial t;

    begin_classes(&t, &a, &b);
    CHECK_EQ(lawn_store_class_new(t.store, 99, "a", &out),
             LAWN_STORE_CLASS_EXISTS);
    CHECK(out == NULL);
    CHECK_EQ(count_in(a).ttl, 10);
    trial_end(&t);
}

TEST(names_of_classes_have_1_to_64_bytes)
{
    char name[LAWN_STORE_CLASS_NAME_MAX + 2];
    struct lawn_store_options options = {.lawn.classes = 4};
    struct lawn_class *cls = NULL;
    struct trial t;

    trial_begin(&t, &options);
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    CHECK_EQ(lawn_store_class_new(t.store, 1, name, &cls),
             LAWN_STORE_BAD_CLASS_NAME);
    CHECK_EQ(lawn_store_class_new(t.store, 1, "", &cls),
             LAWN_STORE_BAD_CLASS_NAME);
    CHECK_EQ(lawn_store_class_new(t.store, 1, NULL, &cls),
             LAWN_STORE_BAD_CLASS_NAME);
    name[LAWN_STORE_CLASS_NAME_MAX] = '\0';
    CHECK_EQ(lawn_store_class_new(t.store, 1, name, NULL), 0);
    CHECK(lawn_store_class_find(t.store, name) != NULL);
    trial_end(&t);
}

TEST(a_store_has_no_more_classes_than_its_options_allow)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct lawn_class *out = NULL;
    struct trial t;

    trial_begin(&t, NULL);
    CHECK_EQ(lawn_store_class_new(t.store, 1, "a", NULL),
             LAWN_STORE_TOO_MANY_CLASSES);
    CHECK(lawn_store_class_find(t.store, "a") == NULL);
    trial_end(&t);
    begin_classes(&t, &a, &b);
    CHECK_EQ(lawn_store_class_new(t.store, 1, "c", NULL), 0);
    CHECK_EQ(lawn_store_class_new(t.store, 1, "d", NULL), 0);
    CHECK_EQ(lawn_store_class_new(t.store, 1, "e", &out),
             LAWN_STORE_TOO_MANY_CLASSES);
    CHECK(out == NULL);
    CHECK(lawn_store_class_free(t.store, b));
    CHECK(lawn_store_class_find(t.store, "b") == NULL);
    CHECK_EQ(lawn_store_class_new(t.store, 1, "e", NULL), 0);
    trial_end(&t);
}

TEST(a_store_may_have_the_maximum_of_classes)
{
    struct lawn_store_options options = {.lawn.classes = SIZE_MAX};
    struct trial t;

    trial_begin(&t, &options);
    CHECK_EQ(lawn_store_class_new(t.store, 1, "a", NULL), 0);
    trial_end(&t);
}

TEST(a_timer_of_a_class_is_stored_like_others)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct trial t;
    uint64_t cursor = 0;

    begin_classes(&t, &a, &b);
    lawn_store_set_now(t.store, 5);
    put_in(&t, a, "x", "one");
    CHECK_TIMER(&t, "x", "one", 15);
    CHECK_EQ(look(&t, "x").ttl, 10);
    CHECK(look(&t, "x").cls == a);
    CHECK_EQ(lawn_store_count(t.store), 1);
    CHECK_EQ(lawn_store_next(t.store), 15);
    CHECK_EQ(lawn_store_update(t.store, "x", 1, "a longer payload", 16), 0);
    CHECK_TIMER(&t, "x", "a longer payload", 15);
    CHECK(lawn_store_iterate(t.store, &cursor, NULL));
    CHECK(!lawn_store_iterate(t.store, &cursor, NULL));
    lawn_store_set_now(t.store, 7);
    CHECK(lawn_store_touch_in(t.store, a, "x", 1));
    CHECK_EQ(look(&t, "x").deadline, 17);
    CHECK(!lawn_store_touch_in(t.store, a, "y", 1));
    CHECK_EQ(trial_mow(&t, 16), 0);
    CHECK_EQ(trial_mow(&t, 17), 1);
    CHECK_STORE_FIRED_WITH(&t, "x", "a longer payload");
    CHECK_EQ(count_in(a).fires, 1);
    CHECK_EQ(count_in(a).starts, 1);
    put_in(&t, b, "x", "two");
    CHECK(drop(&t, "x"));
    CHECK(!drop(&t, "x"));
    CHECK_EQ(count_in(b).stops, 1);
    CHECK_EQ(lawn_store_count(t.store), 0);
    trial_end(&t);
}

TEST(a_start_in_a_class_has_the_flags_and_errors_of_others)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct trial t;

    begin_classes(&t, &a, &b);
    CHECK_EQ(lawn_store_start_in(t.store, a, "x", 1, "", 0, LAWN_STORE_PRESENT),
             -ENOENT);
    CHECK_EQ(lawn_store_start_in(t.store, a, "x", 1, "", 0, LAWN_STORE_AT),
             -EINVAL);
    CHECK_EQ(lawn_store_start_in(t.store, a, "x", 1, "", 0, 3), -EINVAL);
    CHECK_EQ(
        lawn_store_start_in(t.store, a, "x", LAWN_STORE_ID_MAX + 1, "", 0, 0),
        LAWN_STORE_ID_TOO_LARGE);
    CHECK_EQ(lawn_store_start_in(t.store, a, "x", 1, "",
                                 LAWN_STORE_PAYLOAD_MAX + (size_t)1, 0),
             LAWN_STORE_PAYLOAD_TOO_LARGE);
    CHECK_EQ(lawn_store_start_in(t.store, a, "x", 1, "", 0, LAWN_STORE_ABSENT),
             0);
    CHECK_EQ(lawn_store_start_in(t.store, a, "x", 1, "", 0, LAWN_STORE_ABSENT),
             -EEXIST);
    CHECK_EQ(
        lawn_store_start_in(t.store, b, "x", 1, "p", 1, LAWN_STORE_PRESENT), 0);
    CHECK(look(&t, "x").cls == b);
    CHECK_EQ(count_in(a).count, 0);
    lawn_store_set_limits(t.store, 1, 0);
    CHECK_EQ(lawn_store_start_in(t.store, a, "y", 1, "", 0, 0), -ENOSPC);
    CHECK_EQ(count_in(a).count, 0);
    trial_end(&t);
}

TEST(a_timer_moves_between_classes_and_out_of_them)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct trial t;

    begin_classes(&t, &a, &b);
    put(&t, "x", 5, "");
    CHECK(look(&t, "x").cls == NULL);
    put_in(&t, a, "x", "");
    CHECK_EQ(look(&t, "x").deadline, 10);
    CHECK_EQ(trial_mow(&t, 5), 0);
    CHECK(lawn_store_touch_in(t.store, b, "x", 1));
    CHECK_EQ(look(&t, "x").deadline, 25);
    CHECK(look(&t, "x").cls == b);
    CHECK(lawn_store_touch(t.store, "x", 1, 3));
    CHECK_EQ(look(&t, "x").deadline, 8);
    CHECK_EQ(look(&t, "x").ttl, 3);
    CHECK(look(&t, "x").cls == NULL);
    put_in(&t, a, "x", "");
    put(&t, "x", 2, "");
    CHECK_EQ(count_in(a).count, 0);
    CHECK_EQ(trial_mow(&t, 7), 1);
    CHECK_STORE_FIRED(&t, "x");
    trial_end(&t);
}

TEST(an_operation_on_a_class_of_a_store_applies_to_its_timers)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct trial t;

    begin_classes(&t, &a, &b);
    put_in(&t, a, "x", "");
    put_in(&t, b, "y", "");
    put(&t, "z", 12, "");
    lawn_class_set_ttl(a, 50);
    CHECK_EQ(look(&t, "x").deadline, 50);
    CHECK_EQ(look(&t, "x").ttl, 50);
    CHECK_EQ(lawn_store_next(t.store), 12);
    lawn_class_postpone(b, 7);
    CHECK_EQ(look(&t, "y").deadline, 27);
    lawn_class_pause(b);
    CHECK_EQ(trial_mow(&t, 40), 1);
    CHECK_STORE_FIRED(&t, "z");
    CHECK_EQ(look(&t, "y").deadline, 67);
    CHECK_EQ(lawn_store_next(t.store), 50);
    lawn_class_resume(b);
    CHECK_EQ(trial_mow(&t, 66), 1);
    CHECK_STORE_FIRED(&t, "x");
    CHECK_EQ(lawn_class_forecast(b, 1, 9), 1);
    CHECK_EQ(trial_mow(&t, 67), 1);
    CHECK_STORE_FIRED(&t, "y");
    trial_end(&t);
}

TEST(the_next_timer_of_a_store_may_be_one_of_a_class)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct lawn_store_timer timer;
    struct trial t;

    begin_classes(&t, &a, &b);
    CHECK(!lawn_store_next_timer(t.store, NULL));
    put_in(&t, b, "y", "");
    put_in(&t, a, "x", "");
    put(&t, "z", 15, "");
    CHECK(lawn_store_next_timer(t.store, &timer));
    CHECK_EQ(timer.deadline, 10);
    CHECK(timer.cls == a);
    lawn_class_pause(a);
    CHECK(lawn_store_next_timer(t.store, &timer));
    CHECK_EQ(timer.deadline, 15);
    CHECK(drop(&t, "z"));
    CHECK(lawn_store_next_timer(t.store, &timer));
    CHECK_EQ(timer.deadline, 20);
    lawn_class_pause(b);
    CHECK(!lawn_store_next_timer(t.store, &timer));
    CHECK_EQ(lawn_store_next(t.store), LAWN_NEVER);
    CHECK_EQ(lawn_store_count(t.store), 2);
    trial_end(&t);
}

TEST(a_pop_takes_timers_of_classes_in_the_order_of_deadlines)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct lawn_store_timer timer;
    struct trial t;

    begin_classes(&t, &a, &b);
    put_in(&t, b, "y", "");
    put_in(&t, a, "x", "payload");
    put(&t, "z", 15, "");
    CHECK(!lawn_store_pop(t.store, 9, &timer));
    CHECK(lawn_store_pop(t.store, 30, &timer));
    CHECK(memcmp(timer.id, "x", 1) == 0 && timer.deadline == 10);
    CHECK(timer.cls == a && timer.ttl == 10);
    CHECK(lawn_store_class_free(t.store, a));
    CHECK(lawn_store_check(t.store, stdout));
    CHECK(memcmp(timer.payload, "payload", 7) == 0);
    lawn_class_pause(b);
    CHECK(lawn_store_pop(t.store, 30, &timer));
    CHECK(memcmp(timer.id, "z", 1) == 0 && timer.cls == NULL);
    CHECK(!lawn_store_pop(t.store, 30, &timer));
    trial_end(&t);
}

TEST(clearing_a_class_removes_its_timers_and_no_others)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct trial t;

    begin_classes(&t, &a, &b);
    CHECK_EQ(lawn_store_class_clear(t.store, a), 0);
    put(&t, "z", 5, "");
    put_in(&t, b, "y", "");
    size_t bytes = lawn_store_bytes(t.store);
    for (uint64_t i = 0; i < 3000; i++) {
        CHECK_EQ(
            lawn_store_start_in(t.store, a, &i, sizeof(i), &i, sizeof(i), 0),
            0);
    }
    CHECK(!lawn_store_class_free(t.store, a));
    CHECK_EQ(lawn_store_class_clear(t.store, a), 3000);
    CHECK(lawn_store_check(t.store, stdout));
    CHECK_EQ(lawn_store_count(t.store), 2);
    CHECK(lawn_store_bytes(t.store) < bytes + 150000);
    CHECK_EQ(count_in(a).stops, 3000);
    CHECK(lawn_store_class_free(t.store, a));
    CHECK_EQ(trial_mow(&t, 20), 2);
    CHECK_STORE_FIRED(&t, "z y");
    trial_end(&t);
}

TEST(clearing_a_store_keeps_its_classes_at_their_addresses)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct lawn_class *c = NULL;
    struct trial t;

    begin_classes(&t, &a, &b);
    CHECK_EQ(lawn_store_class_new(t.store, 30, "c", &c), 0);
    CHECK(lawn_store_class_free(t.store, a));
    lawn_class_pause(c);
    lawn_class_set_weight(b, 7);
    lawn_class_set_ttl(b, 25);
    lawn_store_set_now(t.store, 100);
    put_in(&t, b, "x", "");
    put_in(&t, c, "y", "");
    lawn_store_clear(t.store);
    CHECK_EQ(lawn_store_count(t.store), 0);
    CHECK(lawn_store_check(t.store, stdout));
    CHECK(lawn_store_class_find(t.store, "a") == NULL);
    CHECK(lawn_store_class_find(t.store, "b") == b);
    CHECK(lawn_store_class_find(t.store, "c") == c);
    CHECK_EQ(count_in(b).weight, 7);
    CHECK_EQ(count_in(b).ttl, 25);
    CHECK_EQ(count_in(b).starts, 0);
    CHECK(!count_in(b).paused && count_in(c).paused);
    put_in(&t, c, "y", "");
    CHECK_EQ(look(&t, "y").deadline, 130);
    CHECK_EQ(lawn_store_class_new(t.store, 1, "d", NULL), 0);
    CHECK_EQ(lawn_store_class_new(t.store, 1, "e", NULL), 0);
    CHECK_EQ(lawn_store_class_new(t.store, 1, "f", NULL),
             LAWN_STORE_TOO_MANY_CLASSES);
    trial_end(&t);
}

/* CALLBACKS */

static void
pause_a(struct trial *t, const struct lawn_store_timer *timer)
{
    (void)timer;
    lawn_class_pause(lawn_store_class_find(t->store, "a"));
}

TEST(a_pause_in_a_callback_holds_timers_of_the_class_that_are_due)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct trial t;

    begin_classes(&t, &a, &b);
    put(&t, "first", 10, "");
    put_in(&t, a, "x", "");
    put_in(&t, a, "y", "");
    put(&t, "last", 11, "");
    lawn_class_pause(a);
    lawn_class_resume(a);
    t.act = pause_a;
    CHECK(lawn_store_touch(t.store, "first", 5, 9));
    CHECK_EQ(trial_mow(&t, 20), 2);
    CHECK_STORE_FIRED(&t, "first last");
    CHECK(has(&t, "x") && has(&t, "y"));
    CHECK_EQ(trial_mow(&t, 50), 0);
    lawn_class_resume(a);
    t.act = NULL;
    t.last_due = 0; /* x and y are due at 40 */
    CHECK_EQ(look(&t, "x").deadline, 40);
    CHECK_EQ(trial_mow(&t, 50), 2);
    CHECK_STORE_FIRED(&t, "x y");
    trial_end(&t);
}

static void
raise_ttl(struct trial *t, const struct lawn_store_timer *timer)
{
    (void)timer;
    lawn_class_set_ttl(lawn_store_class_find(t->store, "a"), 100);
}

TEST(a_new_ttl_in_a_callback_delays_timers_of_the_class_that_are_due)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct trial t;

    begin_classes(&t, &a, &b);
    put_in(&t, a, "x", "");
    put_in(&t, a, "y", "");
    put_in(&t, a, "z", "");
    t.act = raise_ttl;
    CHECK_EQ(trial_mow(&t, 20), 1);
    CHECK_STORE_FIRED(&t, "x");
    CHECK_EQ(lawn_store_next(t.store), 100);
    CHECK_EQ(trial_mow(&t, 100), 2);
    CHECK_STORE_FIRED(&t, "y z");
    trial_end(&t);
}

static void
lower_ttl(struct trial *t, const struct lawn_store_timer *timer)
{
    (void)timer;
    lawn_class_set_ttl(lawn_store_class_find(t->store, "b"), 1);
    t->last_due = 0;
}

TEST(a_new_ttl_in_a_callback_makes_timers_of_the_class_due)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct trial t;

    begin_classes(&t, &a, &b);
    put(&t, "x", 5, "");
    put_in(&t, b, "y", "");
    put(&t, "z", 6, "");
    t.act = lower_ttl;
    CHECK_EQ(trial_mow(&t, 6), 3);
    CHECK_STORE_FIRED(&t, "x y z");
    trial_end(&t);
}

static void
join_and_leave(struct trial *t, const struct lawn_store_timer *timer)
{
    struct lawn_class *a = lawn_store_class_find(t->store, "a");

    if (memcmp(timer->id, "1", 1) != 0) {
        return;
    }
    /* Timer 2 is about to fire, and joins a class instead. */
    CHECK(lawn_store_touch_in(t->store, a, "2", 1));
    CHECK_EQ(lawn_store_start_in(t->store, a, "3", 1, "new", 3, 0), 0);
    CHECK(lawn_store_check(t->store, stdout));
    CHECK(lawn_store_touch(t->store, "3", 1, 50));
}

TEST(a_timer_that_is_about_to_fire_may_join_a_class)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct trial t;

    begin_classes(&t, &a, &b);
    put(&t, "1", 5, "");
    put(&t, "2", 5, "");
    put(&t, "3", 5, "");
    put(&t, "4", 5, "");
    t.act = join_and_leave;
    CHECK_EQ(trial_mow(&t, 5), 2);
    CHECK_STORE_FIRED(&t, "1 4");
    CHECK_EQ(look(&t, "2").deadline, 15);
    CHECK_EQ(look(&t, "3").deadline, 55);
    CHECK_EQ(trial_mow(&t, 55), 2);
    CHECK_STORE_FIRED_WITH(&t, "2 3", " new");
    trial_end(&t);
}

static void
clear_and_free(struct trial *t, const struct lawn_store_timer *timer)
{
    struct lawn_class *a = lawn_store_class_find(t->store, "a");

    if (a != NULL) {
        CHECK(timer->cls == a);
        CHECK_EQ(lawn_store_class_clear(t->store, a), 2);
        CHECK(lawn_store_class_free(t->store, a));
    }
}

TEST(a_callback_may_clear_and_free_the_class_of_its_timer)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct trial t;

    begin_classes(&t, &a, &b);
    put_in(&t, a, "x", "");
    put_in(&t, a, "y", "");
    put_in(&t, a, "z", "");
    put_in(&t, b, "w", "");
    t.act = clear_and_free;
    CHECK_EQ(trial_mow(&t, 20), 2);
    CHECK_STORE_FIRED(&t, "x w");
    trial_end(&t);
}

static void
clear_all(struct trial *t, const struct lawn_store_timer *timer)
{
    (void)timer;
    lawn_store_clear(t->store);
    put_in(t, lawn_store_class_find(t->store, "b"), "again", "");
}

TEST(a_callback_may_clear_a_store_with_classes)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct trial t;

    begin_classes(&t, &a, &b);
    put_in(&t, a, "x", "");
    put_in(&t, a, "y", "");
    t.act = clear_all;
    CHECK_EQ(trial_mow(&t, 10), 1);
    t.act = NULL;
    CHECK_EQ(trial_mow(&t, 29), 0);
    CHECK_EQ(trial_mow(&t, 30), 1);
    CHECK_STORE_FIRED(&t, "x again");
    trial_end(&t);
}

TEST(a_class_of_a_store_with_a_weight_receives_its_share_of_a_backlog)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    unsigned of_class = 0;
    struct trial t;

    begin_classes(&t, &a, &b);
    for (uint64_t i = 0; i < 400; i++) {
        CHECK_EQ(put_number(&t, i, 5), 0);
        uint64_t id = 1000 + i;
        CHECK_EQ(lawn_store_start_in(t.store, b, &id, sizeof(id), "", 0, 0), 0);
    }
    lawn_class_set_weight(b, 1);
    lawn_store_set_now(t.store, 30);
    for (unsigned i = 0; i < 200; i++) {
        struct lawn_store_timer timer;

        CHECK(lawn_store_pop(t.store, 30, &timer));
        of_class += timer.cls == b;
    }
    CHECK_EQ(of_class, 100);
    trial_end(&t);
}

TEST(timers_of_classes_fire_at_the_last_tick)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct trial t;

    begin_classes(&t, &a, &b);
    put_in(&t, a, "x", "");
    lawn_class_set_ttl(a, LAWN_NEVER);
    put_in(&t, a, "y", "");
    CHECK_EQ(look(&t, "x").deadline, LAST);
    CHECK_EQ(trial_mow(&t, LAST - 1), 0);
    CHECK_EQ(trial_mow(&t, LAST), 2);
    CHECK_STORE_FIRED(&t, "x y");
    trial_end(&t);
}

TEST(classes_make_no_timer_of_a_store_larger)
{
    struct lawn_class *a = NULL;
    struct lawn_class *b = NULL;
    struct trial t;
    size_t bytes[2];

    for (unsigned in_class = 0; in_class < 2; in_class++) {
        begin_classes(&t, &a, &b);
        for (uint64_t i = 0; i < 5000; i++) {
            CHECK_EQ(
                in_class != 0
                    ? lawn_store_start_in(t.store, a, &i, sizeof(i), "", 0, 0)
                    : lawn_store_start(t.store, &i, sizeof(i), 10, "", 0, 0),
                0);
        }
        bytes[in_class] = lawn_store_bytes(t.store);
        trial_end(&t);
    }
    CHECK_EQ(bytes[0], bytes[1]);
}
