/* queue_events.c - tests of adding, changing and removing events. */
#include "queue_kit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

TEST(events_of_a_queue_come_in_the_order_of_their_due_times)
{
    struct queue *queue = kit_queue(1000);

    CHECK_EQ(kit_push(queue, "c", "3", 300), 0);
    CHECK_EQ(kit_push(queue, "a", "1", 100), 0);
    CHECK_EQ(kit_push_at(queue, "b", "2", 1200), 0);
    CHECK_EQ(kit_push(queue, "now", "0", 0), 0);
    CHECK_EQ(queue_next(queue), 1000);
    CHECK_TEXT(kit_take(queue, 1000), "now ");
    CHECK_EQ(queue_next(queue), 1100);
    CHECK_TEXT(kit_take(queue, 1099), ""); /* never early */
    CHECK_TEXT(kit_take(queue, 1100), "a ");
    CHECK_TEXT(kit_take(queue, 5000), "b c ");
    CHECK_EQ(queue_next(queue), LAWN_NEVER);
    kit_queue_end(queue);
}

TEST(events_of_one_time_come_in_the_order_pushed)
{
    struct queue *queue = kit_queue(1000);
    char id[] = "a";

    for (unsigned i = 0; i < 6; i++) {
        id[0] = (char)('a' + i);
        CHECK_EQ(kit_push(queue, id, "", 50), 0);
    }
    CHECK_TEXT(kit_take(queue, 1050), "a b c d e f ");
    for (unsigned i = 0; i < 6; i++) {
        id[0] = (char)('a' + i);
        CHECK_EQ(kit_push_at(queue, id, "", 1070), 0);
    }
    CHECK_TEXT(kit_take(queue, 1070), "a b c d e f ");
    /* due at a time that was already mown */
    for (unsigned i = 0; i < 6; i++) {
        id[0] = (char)('a' + i);
        CHECK_EQ(kit_push(queue, id, "", 0), 0);
    }
    CHECK_TEXT(kit_take(queue, 1070), "a b c d e f ");
    kit_queue_end(queue);
}

/* A promotion that was limited leaves some events of that time: a new one comes
 * after them. */
TEST(an_event_pushed_while_others_of_its_time_are_half_known_comes_last)
{
    struct queue *queue = kit_queue(1000);

    CHECK_EQ(kit_push_at(queue, "a", "", 1010), 0);
    CHECK_EQ(kit_push_at(queue, "b", "", 1010), 0);
    CHECK_EQ(kit_push_at(queue, "z", "", 9000), 0);
    CHECK_EQ(queue_promote_due(queue, 1010, 1), 1);
    CHECK_EQ(kit_push_at(queue, "c", "", 1010), 0);
    CHECK(queue_check(queue, stdout));
    CHECK_TEXT(kit_take(queue, 1010), "a b c ");
    kit_queue_end(queue);
}

/* When the event is pushed, the lawn may have advanced to its next slot, past
 * the time of the event. */
TEST(an_event_due_between_what_is_known_and_what_is_next_keeps_its_time)
{
    static const uint64_t dues[] = {1010, 1011, 5000, 900999, 901000};

    for (size_t i = 0; i < COUNT(dues); i++) {
        struct queue *queue = kit_queue(1000);

        CHECK_EQ(kit_push(queue, "a", "", 10), 0);
        CHECK_EQ(kit_push(queue, "z", "", 900000), 0);
        queue_set_now(queue, 2000000);
        CHECK_EQ(queue_promote_due(queue, 2000000, 1), 1);
        CHECK(queue_remove(queue, bytes_of("a")));
        CHECK_EQ(queue_promote_due(queue, 2000000, 0), 0);
        CHECK_EQ(kit_push_at(queue, "m", "", dues[i]), 0);
        struct queue_event event;
        CHECK(queue_get(queue, bytes_of("m"), &event));
        CHECK_EQ(event.due, dues[i]);
        CHECK(queue_check(queue, stdout));
        (void)kit_take(queue, 2000000);
        kit_queue_end(queue);
    }
}

TEST(an_event_of_an_id_that_is_there_replaces_it)
{
    struct queue *queue = kit_queue(0);

    CHECK_EQ(kit_push(queue, "a", "one", 100), 0);
    CHECK_EQ(kit_push(queue, "a", "another", 50), 1);
    CHECK_TEXT(kit_payload(queue, "a"), "another");
    CHECK_EQ(queue_count(queue), 1);
    CHECK_EQ(queue_data(queue), 8);
    CHECK_TEXT(kit_take(queue, 50), "a ");
    CHECK_TEXT(kit_take(queue, 100), "");
    kit_queue_end(queue);
}

/* Bytes returned by a queue may be passed back to it. */
TEST(an_event_can_be_replaced_by_its_own_bytes)
{
    struct queue *queue = kit_queue(0);

    CHECK_EQ(kit_push(queue, "id", "payload", 100), 0);
    struct queue_event event;
    CHECK(queue_get(queue, bytes_of("id"), &event));
    event.ttl = event.due;
    CHECK_EQ(queue_put(queue, &event), 1);
    CHECK(queue_get(queue, bytes_of("id"), &event));
    event.payload.size = 3;
    CHECK_EQ(queue_update(queue, event.id, event.payload), 0);
    CHECK_TEXT(kit_payload(queue, "id"), "pay");
    kit_queue_end(queue);
}

TEST(an_updated_event_keeps_its_place)
{
    struct queue *queue = kit_queue(0);

    for (unsigned due = 0; due < 2; due++) {
        CHECK_EQ(kit_push(queue, "a", "1", 10), 0);
        CHECK_EQ(kit_push(queue, "b", "2", 10), 0);
        CHECK_EQ(kit_push(queue, "c", "3", 10), 0);
        CHECK_EQ(queue_promote_due(queue, queue_now(queue) + 10 * due, 9),
                 due * 3);
        CHECK_EQ(queue_update(queue, bytes_of("a"), bytes_of("much more")), 0);
        CHECK_EQ(queue_update(queue, bytes_of("b"), bytes_of("x")), 0);
        CHECK_EQ(queue_update(queue, bytes_of("c"), bytes_of("")), 0);
        CHECK(queue_update(queue, bytes_of("d"), bytes_of("")) == -ENOENT);
        CHECK(queue_check(queue, stdout));
        CHECK_TEXT(kit_payload(queue, "a"), "much more");
        CHECK_TEXT(kit_payload(queue, "b"), "x");
        CHECK_TEXT(kit_payload(queue, "c"), "");
        CHECK_TEXT(kit_take(queue, queue_now(queue) + 10), "a b c ");
    }
    kit_queue_end(queue);
}

TEST(a_moved_event_keeps_its_payload_and_may_begin_and_cease_to_repeat)
{
    struct queue *queue = kit_queue(0);
    struct queue_event move = {.id = bytes_of("a"), .due = 70, .ttl = 70};

    CHECK(queue_move(queue, &move) == -ENOENT);
    CHECK_EQ(kit_push(queue, "a", "payload", 10), 0);
    CHECK_EQ(queue_move(queue, &move), 0);
    CHECK_EQ(queue_next(queue), 70);
    move.repeat = (struct queue_repeat){5, 6, 7};
    CHECK_EQ(queue_move(queue, &move), 0);
    move.repeat.missed = 8;
    CHECK_EQ(queue_move(queue, &move), 0);
    struct queue_event event;
    CHECK(queue_get(queue, bytes_of("a"), &event));
    CHECK_EQ(event.repeat.period, 5);
    CHECK_EQ(event.repeat.times, 6);
    CHECK_EQ(event.repeat.missed, 8);
    CHECK_TEXT(kit_payload(queue, "a"), "payload");
    CHECK(queue_check(queue, stdout));
    move.repeat = (struct queue_repeat){0, 0, 0};
    move.alone = true;
    CHECK_EQ(queue_move(queue, &move), 0);
    CHECK(queue_get(queue, bytes_of("a"), &event));
    CHECK_EQ(event.repeat.period, 0);
    CHECK(event.alone);
    CHECK_TEXT(kit_payload(queue, "a"), "payload");
    CHECK_EQ(queue_data(queue), 8);
    kit_queue_end(queue);
}

TEST(several_events_are_put_in_together_or_not_at_all)
{
    struct queue_event events[] = {
        {.id = bytes_of("a"), .payload = bytes_of("1"), .due = 5, .ttl = 5},
        {.id = bytes_of("b"), .payload = bytes_of("2"), .due = 5, .ttl = 5},
        {.id = bytes_of("a"), .payload = bytes_of("3"), .due = 5, .ttl = 5},
        {.id = bytes_of("old"), .payload = bytes_of("4"), .due = 4, .ttl = 4},
    };
    struct queue *queue = kit_queue(0);
    uint64_t added = 77;
    uint64_t fails = 0;

    CHECK_EQ(kit_push(queue, "old", "before", 100), 0);
    int error = 0;
    do {
        size_t bytes = queue_bytes(queue);

        memory_fail_after(fails++);
        error = queue_put_all(queue, events, COUNT(events), &added);
        memory_fail_after(UINT64_MAX);
        CHECK(queue_check(queue, stdout));
        if (error != 0) {
            CHECK(error == -ENOMEM);
            CHECK_EQ(added, 77);
            CHECK_EQ(queue_count(queue), 1);
            CHECK_EQ(queue_total(QUEUE_TOTAL), 1);
            CHECK_EQ(queue_bytes(queue), bytes);
            CHECK_TEXT(kit_payload(queue, "old"), "before");
        }
    } while (error != 0);
    CHECK_EQ(fails, 5);
    CHECK_EQ(added, 2);
    CHECK_EQ(queue_total(QUEUE_TOTAL), 3);
    CHECK_TEXT(kit_payload(queue, "a"), "3");
    CHECK_TEXT(kit_take(queue, 5), "old b a ");
    kit_queue_end(queue);
}

TEST(ids_and_payloads_may_be_of_any_size_and_content)
{
    static char large[QUEUE_ID_MAX];
    struct queue *queue = kit_queue(0);
    struct queue_event event = {.payload = {large, sizeof(large)}, .due = 3};

    CHECK_EQ(queue_put(queue, &event), 0); /* an empty id */
    event.id = (struct bytes){large, sizeof(large)};
    CHECK_EQ(queue_put(queue, &event), 0);
    event.id = (struct bytes){"\0\377", 2};
    event.payload = (struct bytes){NULL, 0};
    CHECK_EQ(queue_put(queue, &event), 0);
    CHECK_EQ(queue_count(queue), 3);
    CHECK_EQ(queue_data(queue), 3 * sizeof(large) + 2);
    CHECK(queue_check(queue, stdout));
    CHECK(queue_get(queue, (struct bytes){NULL, 0}, &event));
    CHECK_EQ(event.payload.size, sizeof(large));
    CHECK(queue_remove(queue, (struct bytes){"\0\377", 2}));
    CHECK(!queue_remove(queue, (struct bytes){"\0", 1}));
    kit_queue_end(queue);
}

TEST(a_clock_that_runs_back_makes_nothing_early)
{
    struct queue *queue = kit_queue(1000);

    queue_set_now(queue, 5000);
    queue_set_now(queue, 400);
    CHECK_EQ(queue_now(queue), 5000);
    CHECK_EQ(kit_push(queue, "a", "", 10), 0);
    CHECK_EQ(queue_next(queue), 5010);
    CHECK_TEXT(kit_take(queue, 5009), "");
    CHECK_TEXT(kit_take(queue, 5010), "a ");
    kit_queue_end(queue);
}

/* On a replica whose clock is ahead, and then is not. */
TEST(finding_due_events_sets_no_time_but_is_not_taken_back)
{
    struct queue *queue = kit_queue(1000);
    const void *cursor = NULL;

    for (unsigned i = 0; i < 203; i++) {
        char id[8];

        (void)snprintf(id, sizeof(id), "%u", i);
        CHECK_EQ(kit_push(queue, id, "", 10 * i), 0);
    }
    CHECK_EQ(queue_promote_due(queue, 1010, 9999), 2);
    CHECK_EQ(queue_promote_due(queue, 1200, 9999), 21);
    CHECK_EQ(queue_now(queue), 1000);
    CHECK_EQ(queue_promote_due(queue, 1010, 9999), 21);
    CHECK_EQ(queue_next_waiting(queue), 1210);
    CHECK_EQ(kit_push(queue, "a", "", 5), 0); /* before the known events */
    CHECK_EQ(kit_push(queue, "b", "", 5), 0);
    CHECK_EQ(queue_promote_due(queue, 1010, 9999), 23);
    struct queue_event event;
    CHECK(queue_ready(queue, &cursor, &event));
    CHECK(bytes_equal(event.id, bytes_of("0")));
    CHECK(queue_ready(queue, &cursor, &event));
    CHECK(bytes_equal(event.id, bytes_of("a")));
    CHECK(queue_ready(queue, &cursor, &event));
    CHECK(bytes_equal(event.id, bytes_of("b")));
    CHECK(queue_check(queue, stdout));
    CHECK_EQ(queue_now(queue), 1000);
    CHECK_EQ(queue_promote_due(queue, 1000000, 9999), 205);
    kit_queue_end(queue);
}

/* Events of the same time, found one after the other while later ones are
 * removed. */
TEST(due_events_that_are_found_late_stay_in_order)
{
    struct queue *queue = kit_queue(2000);
    const void *cursor = NULL;

    CHECK_EQ(kit_push_at(queue, "a", "", 1000), 0);
    CHECK_EQ(kit_push_at(queue, "z", "", 1100), 0);
    CHECK_EQ(queue_promote_due(queue, 2000, 10), 2);
    CHECK_EQ(kit_push_at(queue, "b", "", 1050), 0);
    CHECK_EQ(queue_promote_due(queue, 2000, 1), 3);
    CHECK(queue_remove(queue, bytes_of("z")));
    CHECK_EQ(kit_push_at(queue, "c", "", 1050), 0);
    CHECK_EQ(queue_promote_due(queue, 2000, 1), 3);
    CHECK_EQ(queue_latest_ready(queue), 1050);
    CHECK(queue_check(queue, stdout));
    struct queue_event event;
    CHECK(queue_ready(queue, &cursor, &event));
    CHECK(!queue_ready(queue, &cursor, &event)); /* only one was requested */
    CHECK_TEXT(kit_take(queue, 2000), "a b c ");
    kit_queue_end(queue);
}

/* As an image restores it. */
TEST(a_restored_queue_takes_events_that_are_long_due)
{
    struct queue *queue = kit_queue(1000000);

    CHECK(queue_restore(queue, 300, 2000000));
    CHECK_EQ(queue_now(queue), 2000000);
    CHECK_EQ(kit_push_at(queue, "b", "", 40000), 0);
    CHECK_EQ(kit_push_at(queue, "a", "", 300), 0);
    CHECK_EQ(kit_push_at(queue, "c", "", 2000001), 0);
    struct queue_event first;
    CHECK(queue_first(queue, &first));
    CHECK_EQ(first.due, 300);
    CHECK_TEXT(kit_take(queue, 2000000), "a b ");
    kit_queue_end(queue);
}

TEST(a_queue_is_idle_if_nothing_of_it_must_be_remembered)
{
    struct queue *queue = kit_queue(0);
    struct queue_settings *settings = queue_settings_of(queue);

    CHECK(queue_idle(queue));
    CHECK_EQ(kit_push(queue, "a", "", 1), 0);
    CHECK(!queue_idle(queue));
    CHECK(queue_remove(queue, bytes_of("a")));
    CHECK(queue_idle(queue));
    settings->resolution = 1;
    CHECK(queue_idle(queue));
    *settings = (struct queue_settings){.max_events = 1};
    CHECK(!queue_idle(queue));
    *settings = (struct queue_settings){.max_bytes = 1};
    CHECK(!queue_idle(queue));
    *settings = (struct queue_settings){.overflow = QUEUE_DROP_OLDEST};
    CHECK(!queue_idle(queue));
    *settings = (struct queue_settings){.resolution = 2};
    CHECK(!queue_idle(queue));
    *settings = (struct queue_settings){.paused = true};
    CHECK(!queue_idle(queue));
    CHECK_EQ(*queue_armed(queue), LAWN_NEVER);
    kit_queue_end(queue);
}
