/* store_handed.c - pointers returned by a store stay valid and may be passed
 * back to it [S4]. */
#include "store_common.h"

#include <stdio.h>
#include <string.h>

#define LONG_PAYLOAD "a payload of more than a few bytes, and then some more"

/* Checks that the returned data are still valid. */
static void
check_stays(const struct lawn_store_timer *timer, const char *id)
{
    CHECK_EQ(timer->id_size, strlen(id));
    CHECK(memcmp(timer->id, id, timer->id_size) == 0);
    CHECK_EQ(timer->payload_size, strlen(LONG_PAYLOAD));
    CHECK(memcmp(timer->payload, LONG_PAYLOAD, timer->payload_size) == 0);
}

static void
ignore(const struct lawn_store_timer *timer, void *arg)
{
    (void)timer;
    (void)arg;
}

TEST(data_returned_by_a_store_stay_valid_while_others_come_and_go)
{
    struct trial t;
    uint64_t cursor = 0;
    uint64_t n = how_many(100000, 60000, 10000);

    trial_begin(&t, NULL);
    put(&t, "stays", 1000000, LONG_PAYLOAD);
    struct lawn_store_timer got = look(&t, "stays");
    struct lawn_store_timer told;
    CHECK(lawn_store_iterate(t.store, &cursor, &told));
    for (uint64_t i = 0; i < n; i++) {
        CHECK_EQ(put_number(&t, i, 10 + i % 100), 0);
        if (i == n / 2) {
            got = look(&t, "stays");
        }
    }
    for (uint64_t i = 0; i < n; i += 3) {
        CHECK(drop_number(&t, i));
    }
    for (uint64_t i = 1; i < n; i += 3) {
        CHECK_EQ(lawn_store_update(t.store, &i, sizeof(i), LONG_PAYLOAD, 30),
                 0);
    }
    check_stays(&told, "stays");
    CHECK_EQ(lawn_store_mow(t.store, 200, SIZE_MAX, ignore, NULL),
             n - (n + 2) / 3);
    CHECK_EQ(lawn_store_reserve(t.store, n), 0);
    CHECK_EQ(lawn_store_reserve(t.store, 0), 0);
    check_stays(&told, "stays");
    check_stays(&got, "stays");
    CHECK(look(&t, "stays").payload == told.payload);
    CHECK(look(&t, "stays").id == told.id);
    trial_end(&t);
}

/* All at once: none of a thousand timers moves because of another. */
TEST(data_returned_by_a_store_of_many_timers_stay_valid)
{
    static struct lawn_store_timer handed[1000];
    struct trial t;
    uint64_t state = 5;

    trial_begin(&t, NULL);
    for (uint64_t i = 0; i < COUNT(handed); i++) {
        CHECK_EQ(lawn_store_start(t.store, &i, sizeof(i), 1000, LONG_PAYLOAD,
                                  i % 50, 0),
                 0);
        CHECK(lawn_store_get(t.store, &i, sizeof(i), &handed[i]));
    }
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t r = chance(&state);
        uint64_t id = COUNT(handed) + r % 3000;

        if (r / 4096 % 2 == 0) {
            CHECK_EQ(lawn_store_start(t.store, &id, sizeof(id), 10,
                                      LONG_PAYLOAD, r / 8192 % 50, 0),
                     0);
        } else {
            (void)drop_number(&t, id);
        }
        id = r % COUNT(handed);
        CHECK(lawn_store_touch(t.store, &id, sizeof(id), 500 + r % 100));
    }
    for (uint64_t i = 0; i < COUNT(handed); i++) {
        CHECK_EQ(handed[i].id_size, sizeof(i));
        CHECK(memcmp(handed[i].id, &i, sizeof(i)) == 0);
        CHECK_EQ(handed[i].payload_size, i % 50);
        CHECK(memcmp(handed[i].payload, LONG_PAYLOAD, i % 50) == 0);
    }
    trial_end(&t);
}

TEST(data_returned_by_a_store_stay_valid_when_the_timer_is_touched)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, LONG_PAYLOAD);
    struct lawn_store_timer timer = look(&t, "a");
    for (uint64_t i = 0; i < 1000; i++) {
        CHECK(lawn_store_touch(t.store, timer.id, timer.id_size, 10 + i));
        CHECK(lawn_store_touch_at(t.store, timer.id, timer.id_size, 20 + i));
    }
    check_stays(&timer, "a");
    CHECK(look(&t, "a").payload == timer.payload);
    trial_end(&t);
}

TEST(an_id_that_a_store_handed_out_may_be_handed_back)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, LONG_PAYLOAD);
    struct lawn_store_timer timer = look(&t, "a");
    CHECK(lawn_store_get(t.store, timer.id, timer.id_size, &timer));
    CHECK(lawn_store_touch(t.store, timer.id, timer.id_size, 20));
    CHECK_EQ(lawn_store_update(t.store, timer.id, timer.id_size, "new", 3), 0);
    timer = look(&t, "a");
    CHECK_EQ(
        lawn_store_start(t.store, timer.id, timer.id_size, 30, "newer", 5, 0),
        0);
    CHECK_TIMER(&t, "a", "newer", 30);
    timer = look(&t, "a");
    CHECK(lawn_store_stop(t.store, timer.id, timer.id_size));
    CHECK(!has(&t, "a"));
    trial_end(&t);
}

/* The whole payload, its beginning, end and middle, of every size, as the next
 * payload of the same timer, with start and with update. */
TEST(a_part_of_a_payload_that_a_store_handed_out_may_be_handed_back)
{
    static unsigned char bytes[400];

    for (size_t size = 0; size < sizeof(bytes); size++) {
        bytes[size] = (unsigned char)(size * 7);
    }
    struct trial t;
    trial_begin(&t, NULL);
    struct lawn_store_timer timer;
    int error = 0;
    for (size_t size = 0; size < sizeof(bytes); size += 1 + size / 8) {
        for (int update = 0; update < 2; update++) {
            for (size_t from = 0; from <= size; from += 1 + size / 4) {
                for (size_t part = 0; part <= size - from;
                     part += 1 + size / 4) {
                    CHECK_EQ(
                        lawn_store_start(t.store, "a", 1, 10, bytes, size, 0),
                        0);
                    timer = look(&t, "a");
                    error = update
                                ? lawn_store_update(
                                      t.store, timer.id, timer.id_size,
                                      (const char *)timer.payload + from, part)
                                : lawn_store_start(
                                      t.store, timer.id, timer.id_size, 20,
                                      (const char *)timer.payload + from, part,
                                      LAWN_STORE_PRESENT);
                    CHECK_EQ(error, 0);
                    timer = look(&t, "a");
                    CHECK_EQ(timer.payload_size, part);
                    CHECK(memcmp(timer.payload, bytes + from, part) == 0);
                }
            }
        }
    }
    trial_end(&t);
}

/* As the payload or id of another timer, and of this one. */
TEST(a_payload_that_a_store_handed_out_may_become_anything)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "b");
    struct lawn_store_timer timer = look(&t, "a");
    CHECK_EQ(lawn_store_start(t.store, timer.payload, timer.payload_size, 20,
                              timer.id, timer.id_size, 0),
             0);
    CHECK_TIMER(&t, "b", "a", 20);
    CHECK_TIMER(&t, "a", "b", 10);
    CHECK_EQ(lawn_store_update(t.store, timer.payload, timer.payload_size,
                               timer.payload, timer.payload_size),
             0);
    CHECK_TIMER(&t, "b", "b", 20);
    timer = look(&t, "b");
    /* The payload as the id, and the id as the payload; they are equal. */
    CHECK_EQ(lawn_store_start(t.store, timer.payload, timer.payload_size, 30,
                              timer.id, timer.id_size, 0),
             0);
    CHECK_TIMER(&t, "b", "b", 30);
    timer = look(&t, "a");
    CHECK(lawn_store_stop(t.store, timer.payload, timer.payload_size));
    CHECK(!has(&t, "b"));
    CHECK_TIMER(&t, "a", "b", 10);
    trial_end(&t);
}

/* The id is inside the payload that is being replaced. */
TEST(an_id_inside_the_payload_that_a_store_replaces_is_read_first)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "abc", 10, "....abc....");
    struct lawn_store_timer timer = look(&t, "abc");
    CHECK_EQ(lawn_store_start(t.store, (const char *)timer.payload + 4, 3, 20,
                              LONG_PAYLOAD, strlen(LONG_PAYLOAD), 0),
             0);
    CHECK_TIMER(&t, "abc", LONG_PAYLOAD, 20);
    put(&t, "abc", 10, "....abc....");
    timer = look(&t, "abc");
    CHECK_EQ(
        lawn_store_update(t.store, (const char *)timer.payload + 4, 3, "x", 1),
        0);
    CHECK_TIMER(&t, "abc", "x", 10);
    CHECK_EQ(lawn_store_count(t.store), 1);
    trial_end(&t);
}

TEST(a_timer_that_a_store_returned_while_iterating_may_be_stopped_by_its_own_id)
{
    struct trial t;
    uint64_t cursor = 0;

    trial_begin(&t, NULL);
    for (uint64_t i = 0; i < 1000; i++) {
        CHECK_EQ(put_number(&t, i, 10), 0);
    }
    struct lawn_store_timer timer;
    while (lawn_store_iterate(t.store, &cursor, &timer)) {
        CHECK(lawn_store_stop(t.store, timer.id, timer.id_size));
    }
    CHECK_EQ(lawn_store_count(t.store), 0);
    trial_end(&t);
}
