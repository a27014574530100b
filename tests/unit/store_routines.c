/* store_routines.c - the four basic routines of a store, and get, update,
 * touch. */
#include "store_common.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

TEST(a_store_starts_a_timer_and_hands_it_out_when_it_is_due)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "cart:7", 30, "3 books");
    CHECK_EQ(lawn_store_count(t.store), 1);
    CHECK_EQ(lawn_store_next(t.store), 30);
    CHECK_EQ(trial_mow(&t, 29), 0); /* [P1] */
    CHECK_EQ(trial_mow(&t, 30), 1);
    CHECK_STORE_FIRED_WITH(&t, "cart:7", "3 books");
    CHECK_EQ(lawn_store_count(t.store), 0);
    CHECK_EQ(lawn_store_next(t.store), LAWN_NEVER);
    CHECK_EQ(trial_mow(&t, 1000), 0); /* [P3] */
    trial_end(&t);
}

TEST(a_store_forgets_a_stopped_timer)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "");
    put(&t, "b", 10, "");
    CHECK(drop(&t, "a"));
    CHECK(!drop(&t, "a"));
    CHECK(!drop(&t, "c"));
    CHECK(!has(&t, "a"));
    CHECK_EQ(lawn_store_count(t.store), 1);
    CHECK_EQ(trial_mow(&t, 10), 1); /* [P5] */
    CHECK_STORE_FIRED(&t, "b");
    CHECK(!drop(&t, "b"));
    trial_end(&t);
}

/* [S1] Nothing of the replaced timer remains: payload, deadline, TTL. */
TEST(a_start_replaces_the_timer_of_that_id_in_a_store)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "three long books");
    lawn_store_set_now(t.store, 5);
    put(&t, "a", 20, "one");
    CHECK_EQ(lawn_store_count(t.store), 1);
    CHECK_TIMER(&t, "a", "one", 25);
    CHECK_EQ(look(&t, "a").ttl, 20);
    CHECK_EQ(lawn_store_next(t.store), 25);
    CHECK_EQ(trial_mow(&t, 24), 0);
    CHECK_EQ(trial_mow(&t, 25), 1);
    CHECK_STORE_FIRED_WITH(&t, "a", "one");
    trial_end(&t);
}

TEST(a_start_in_a_store_that_is_for_absent_ids_leaves_others_alone)
{
    struct trial t;

    trial_begin(&t, NULL);
    CHECK_EQ(put_how(&t, "a", 10, "one", LAWN_STORE_ABSENT), 0);
    uint64_t print = trial_print(&t);
    CHECK_EQ(put_how(&t, "a", 20, "two", LAWN_STORE_ABSENT), -EEXIST);
    CHECK_EQ(trial_print(&t), print); /* [S2] */
    CHECK_TIMER(&t, "a", "one", 10);
    CHECK_EQ(put_how(&t, "b", 30, "three", LAWN_STORE_ABSENT), 0);
    CHECK(drop(&t, "a"));
    CHECK_EQ(put_how(&t, "a", 20, "two", LAWN_STORE_ABSENT), 0);
    CHECK_TIMER(&t, "a", "two", 20);
    trial_end(&t);
}

TEST(a_start_in_a_store_that_is_for_present_ids_makes_no_others)
{
    struct trial t;

    trial_begin(&t, NULL);
    uint64_t print = trial_print(&t);
    CHECK_EQ(put_how(&t, "a", 10, "one", LAWN_STORE_PRESENT), -ENOENT);
    CHECK_EQ(trial_print(&t), print); /* [S2] */
    put(&t, "a", 10, "one");
    CHECK_EQ(put_how(&t, "a", 20, "two", LAWN_STORE_PRESENT), 0);
    CHECK_TIMER(&t, "a", "two", 20);
    CHECK_EQ(trial_mow(&t, 20), 1);
    CHECK_EQ(put_how(&t, "a", 20, "two", LAWN_STORE_PRESENT), -ENOENT);
    trial_end(&t);
}

TEST(a_start_at_a_deadline_in_a_store_is_due_then)
{
    struct trial t;

    trial_begin(&t, NULL);
    lawn_store_set_now(t.store, 100);
    CHECK_EQ(put_how(&t, "later", 150, "x", LAWN_STORE_AT), 0);
    CHECK_EQ(put_how(&t, "now", 100, "x", LAWN_STORE_AT), 0);
    CHECK_EQ(put_how(&t, "past", 3, "x", LAWN_STORE_AT), 0);
    CHECK_TIMER(&t, "later", "x", 150);
    CHECK_EQ(look(&t, "later").ttl, 50);
    CHECK_TIMER(&t, "now", "x", 101);
    CHECK_EQ(look(&t, "now").ttl, 1);
    CHECK_TIMER(&t, "past", "x", 101);
    CHECK_EQ(look(&t, "past").ttl, 1);
    CHECK_EQ(put_how(&t, "later", 120, "y", LAWN_STORE_AT | LAWN_STORE_PRESENT),
             0);
    CHECK_EQ(put_how(&t, "later", 120, "y", LAWN_STORE_AT | LAWN_STORE_ABSENT),
             -EEXIST);
    CHECK_EQ(trial_mow(&t, 100), 0);
    CHECK_EQ(trial_mow(&t, 120), 3);
    CHECK_STORE_FIRED_WITH(&t, "now past later", "x x y");
    trial_end(&t);
}

TEST(a_start_in_a_store_that_makes_no_sense_is_refused)
{
    static const unsigned hows[] = {
        LAWN_STORE_ABSENT | LAWN_STORE_PRESENT, 7, 8, 16, 1u << 31, UINT32_MAX};
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "there", 10, "x");
    uint64_t print = trial_print(&t);
    for (size_t i = 0; i < COUNT(hows); i++) {
        CHECK_EQ(put_how(&t, "there", 20, "y", hows[i]), -EINVAL);
        CHECK_EQ(put_how(&t, "not there", 20, "y", hows[i]), -EINVAL);
        CHECK_EQ(trial_print(&t), print); /* [S2] */
    }
    trial_end(&t);
}

TEST(each_cause_of_a_refused_start_in_a_store_has_an_error_of_its_own)
{
    static const unsigned both = LAWN_STORE_ABSENT | LAWN_STORE_PRESENT;
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "there", 10, "x");
    uint64_t print = trial_print(&t);
    CHECK_EQ(
        lawn_store_start(t.store, "a", LAWN_STORE_ID_MAX + 1, 20, "y", 1, 0),
        LAWN_STORE_ID_TOO_LARGE);
    CHECK_EQ(lawn_store_start(t.store, "a", 1, 20, "y",
                              LAWN_STORE_PAYLOAD_MAX + 1, 0),
             LAWN_STORE_PAYLOAD_TOO_LARGE);
    CHECK_EQ(lawn_store_start(t.store, "a", 1, 20, "y", 1, both), -EINVAL);
    CHECK_EQ(put_how(&t, "there", 20, "y", LAWN_STORE_ABSENT), -EEXIST);
    CHECK_EQ(put_how(&t, "a", 20, "y", LAWN_STORE_PRESENT), -ENOENT);
    CHECK_EQ(
        lawn_store_update(t.store, "there", 5, "y", LAWN_STORE_PAYLOAD_MAX + 1),
        LAWN_STORE_PAYLOAD_TOO_LARGE);
    CHECK_EQ(lawn_store_update(t.store, "a", 1, "y", 1), -ENOENT);
    CHECK_EQ(trial_print(&t), print); /* [S2] */
    trial_end(&t);
}

TEST(a_store_finds_its_timers_and_no_others)
{
    struct trial t;

    trial_begin(&t, NULL);
    struct lawn_store_timer out;
    CHECK(!lawn_store_get(t.store, "a", 1, &out));
    put(&t, "a", 10, "one");
    put(&t, "ab", 20, "two");
    CHECK(lawn_store_get(t.store, "a", 1, NULL));
    CHECK(!lawn_store_get(t.store, "b", 1, &out));
    CHECK(!lawn_store_get(t.store, "", 0, &out));
    CHECK(!lawn_store_get(t.store, "abc", 3, &out));
    CHECK_TIMER(&t, "a", "one", 10);
    CHECK_TIMER(&t, "ab", "two", 20);
    trial_end(&t);
}

/* Without a copy: the same address each time. */
TEST(a_store_hands_out_the_payload_itself)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "a payload of some length");
    const void *place = look(&t, "a").payload;
    put(&t, "b", 10, "");
    CHECK(look(&t, "a").payload == place);
    trial_end(&t);
}

TEST(an_update_in_a_store_changes_the_payload_and_nothing_else)
{
    static const char *const payloads[] = {
        "", "x", "a longer one", "a much, much, much longer one than before",
        "y"};
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 30, "first");
    for (size_t i = 0; i < COUNT(payloads); i++) {
        lawn_store_set_now(t.store, i + 1);
        CHECK_EQ(lawn_store_update(t.store, "a", 1, payloads[i],
                                   strlen(payloads[i])),
                 0);
        CHECK_TIMER(&t, "a", payloads[i], 30);
        CHECK_EQ(look(&t, "a").ttl, 30);
        CHECK_EQ(lawn_store_next(t.store), 30);
        CHECK_EQ(lawn_store_count(t.store), 1);
    }
    CHECK_EQ(trial_mow(&t, 30), 1);
    CHECK_STORE_FIRED_WITH(&t, "a", "y");
    trial_end(&t);
}

TEST(an_update_in_a_store_of_no_timer_makes_none)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "x");
    uint64_t print = trial_print(&t);
    CHECK_EQ(lawn_store_update(t.store, "b", 1, "y", 1), -ENOENT);
    CHECK_EQ(trial_print(&t), print); /* [S2] */
    CHECK_EQ(trial_mow(&t, 10), 1);
    CHECK_EQ(lawn_store_update(t.store, "a", 1, "y", 1), -ENOENT);
    trial_end(&t);
}

/* [P4] Even if the timer has to move in memory. */
TEST(an_updated_timer_of_a_store_keeps_its_place_in_the_order)
{
    static char large[5000];

    memset(large, 'x', sizeof(large));
    struct trial t;
    for (size_t size = 0; size <= sizeof(large); size += 100) {
        trial_begin(&t, NULL);
        put(&t, "a", 10, "");
        put(&t, "b", 10, "");
        put(&t, "c", 10, "");
        CHECK_EQ(lawn_store_update(t.store, "b", 1, large, size), 0);
        CHECK_EQ(lawn_store_update(t.store, "a", 1, large, size / 2), 0);
        CHECK_EQ(lawn_store_update(t.store, "c", 1, large, size / 3), 0);
        CHECK_EQ(lawn_store_update(t.store, "b", 1, "", 0), 0);
        CHECK_EQ(trial_mow(&t, 10), 3);
        CHECK_STORE_FIRED(&t, "a b c");
        trial_end(&t);
    }
}

/* The same for unqueued timers: most of these distinct TTLs get no blade. */
TEST(an_updated_timer_of_a_store_keeps_its_deadline_wherever_it_is)
{
    static char large[3000];
    struct lawn_store_options options = {.lawn.blades = 8};
    struct trial t;

    trial_begin(&t, &options);
    for (uint64_t i = 0; i < 400; i++) {
        CHECK_EQ(put_number(&t, i, 1000 + 7 * i), 0);
    }
    for (uint64_t i = 0; i < 400; i++) {
        CHECK_EQ(lawn_store_update(t.store, &i, sizeof(i), large, 7 * i), 0);
    }
    for (uint64_t i = 0; i < 400; i++) {
        CHECK_EQ(lawn_store_next(t.store), 1000 + 7 * i);
        CHECK_EQ(trial_mow(&t, 999 + 7 * i), 0);
        CHECK_EQ(trial_mow(&t, 1000 + 7 * i), 1);
    }
    trial_end(&t);
}

TEST(a_touched_timer_of_a_store_waits_again_with_its_payload)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "one");
    put(&t, "b", 10, "two");
    const void *place = look(&t, "a").payload;
    lawn_store_set_now(t.store, 8);
    CHECK(lawn_store_touch(t.store, "a", 1, 20));
    CHECK_TIMER(&t, "a", "one", 28);
    CHECK_EQ(look(&t, "a").ttl, 20);
    CHECK(look(&t, "a").payload == place); /* [S4] */
    CHECK_EQ(lawn_store_count(t.store), 2);
    CHECK_EQ(trial_mow(&t, 27), 1);
    CHECK_EQ(trial_mow(&t, 28), 1);
    CHECK_STORE_FIRED_WITH(&t, "b a", "two one");
    CHECK(!lawn_store_touch(t.store, "a", 1, 20));
    CHECK_EQ(lawn_store_count(t.store), 0);
    trial_end(&t);
}

TEST(a_timer_of_a_store_touched_at_a_deadline_is_due_then)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "one");
    lawn_store_set_now(t.store, 8);
    CHECK(lawn_store_touch_at(t.store, "a", 1, 50));
    CHECK_TIMER(&t, "a", "one", 50);
    CHECK_EQ(look(&t, "a").ttl, 42);
    CHECK(lawn_store_touch_at(t.store, "a", 1, 8));
    CHECK_TIMER(&t, "a", "one", 9);
    CHECK_EQ(look(&t, "a").ttl, 1);
    CHECK(!lawn_store_touch_at(t.store, "b", 1, 50));
    CHECK_EQ(lawn_store_count(t.store), 1);
    CHECK_EQ(trial_mow(&t, 9), 1);
    CHECK(!lawn_store_touch_at(t.store, "a", 1, 50));
    trial_end(&t);
}

/* [P4] A touch is a restart: the timer moves behind those of its TTL. */
TEST(a_touched_timer_of_a_store_moves_to_the_end_of_its_queue)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "");
    put(&t, "b", 10, "");
    put(&t, "c", 10, "");
    CHECK(lawn_store_touch(t.store, "a", 1, 10));
    put(&t, "b", 10, "");
    CHECK_EQ(trial_mow(&t, 10), 3);
    CHECK_STORE_FIRED(&t, "c a b");
    trial_end(&t);
}

TEST(a_store_without_options_works)
{
    struct lawn_store *store = lawn_store_new(NULL);

    CHECK(store != NULL);
    CHECK_EQ(lawn_store_now(store), 0);
    CHECK_EQ(lawn_store_start(store, "a", 1, 10, "x", 1, 0), 0);
    CHECK(lawn_store_bytes(store) > 0);
    struct lawn_store_timer timer;
    CHECK(lawn_store_pop(store, 10, &timer));
    CHECK(lawn_store_check(store, NULL));
    lawn_store_free(store);
    lawn_store_free(NULL);
}

TEST(a_store_lets_its_lawn_be_looked_at)
{
    struct trial t;

    trial_begin(&t, &(struct lawn_store_options){.lawn = {.blades = 8}});
    put(&t, "a", 10, "");
    put(&t, "b", 20, "");
    CHECK(drop(&t, "a"));
    CHECK_EQ(lawn_count(lawn_store_lawn(t.store)), 1);
    struct lawn_counters stats;
    lawn_stats(lawn_store_lawn(t.store), &stats);
    CHECK_EQ(stats.starts, 2);
    CHECK_EQ(stats.stops, 1);
    CHECK_EQ(lawn_count_unqueued(lawn_store_lawn(t.store)), 0);
    CHECK(lawn_check(lawn_store_lawn(t.store), NULL));
    trial_end(&t);
}
