/* queue_leases.c - tests of leases: owner, end, and the state afterward. */
#include "queue_inside.h"
#include "queue_kit.h"
#include "rng.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* Leases an event by its id, from the queue's time on. */
static int
lease(struct queue *queue, const char *id, uint64_t token, uint64_t ms,
      uint32_t made, uint32_t most)
{
    struct queue_lease given = {.token = token,
                                .end = queue_now(queue) + ms,
                                .ttl = ms,
                                .owner = bytes_of("me")};

    return queue_lease_event(queue, bytes_of(id), &given,
                             (struct queue_tries){made, most}, NULL);
}

static enum queue_state
state(const struct queue *queue, const char *id, uint64_t now)
{
    struct queue_event event;

    CHECK(queue_get(queue, bytes_of(id), &event));
    return queue_state_at(&event, now);
}

/* Returns the ids of dead events, each followed by a space. */
static const char *
dead(const struct queue *queue)
{
    static char text[100];
    const void *cursor = NULL;
    struct queue_event event;
    size_t size = 0;

    while (queue_dead(queue, &cursor, &event)) {
        memcpy(text + size, event.id.at, event.id.size);
        size += event.id.size;
        text[size++] = ' ';
    }
    text[size] = '\0';
    return text;
}

TEST(a_leased_event_is_due_again_when_the_lease_ends)
{
    struct queue *queue = kit_queue(1000);

    CHECK_EQ(kit_push(queue, "a", "x", 5), 0);
    queue_set_now(queue, 1005);
    CHECK_EQ(queue_promote_due(queue, 1005, 10), 1);
    CHECK_EQ(lease(queue, "a", 7, 100, 1, 0), 0);
    CHECK_EQ(queue_leased_count(queue), 1);
    CHECK_EQ(queue_leased_data(queue), 2);
    CHECK_EQ(queue_total(QUEUE_TOTAL_LEASED), 1);
    CHECK_EQ(queue_token(queue), 7);
    CHECK_EQ(queue_next(queue), 1105);
    CHECK_EQ(queue_promote_due(queue, 1104, 10), 0);
    CHECK_EQ(queue_next_waiting(queue), 1105);
    CHECK_EQ(state(queue, "a", 1104), QUEUE_LEASED);
    struct queue_event event;
    CHECK(!queue_first(queue, &event));
    CHECK_EQ(queue_promote_due(queue, 1105, 10), 1);
    CHECK_EQ(state(queue, "a", 1105), QUEUE_DUE);
    CHECK_EQ(queue_leased_count(queue), 0);
    CHECK_EQ(queue_leased_data(queue), 0);
    CHECK_EQ(queue_latest_ready(queue), 1105);
    CHECK(queue_get(queue, bytes_of("a"), &event));
    CHECK_EQ(event.due, 1005);
    CHECK_EQ(event.lease.token, 7);
    CHECK_EQ(event.lease.end, 1105);
    CHECK(bytes_equal(event.lease.owner, bytes_of("me")));
    CHECK(lease(queue, "b", 8, 1, 1, 0) == -ENOENT);
    CHECK_EQ(queue_token(queue), 7);
    kit_queue_end(queue);
}

TEST(ends_of_leases_and_due_events_come_in_the_order_of_their_times)
{
    struct queue *queue = kit_queue(1000);

    CHECK_EQ(kit_push(queue, "a", "", 0), 0);
    CHECK_EQ(kit_push(queue, "b", "", 0), 0);
    CHECK_EQ(kit_push(queue, "c", "", 50), 0);
    CHECK_EQ(kit_push(queue, "d", "", 70), 0);
    CHECK_EQ(lease(queue, "a", 1, 60, 1, 0), 0);
    CHECK_EQ(lease(queue, "b", 2, 40, 1, 0), 0);
    CHECK_EQ(queue_promote_due(queue, 1100, 2), 2);
    CHECK_TEXT(kit_take(queue, 1100), "b c a d ");
    kit_queue_end(queue);
}

TEST(an_event_dies_when_its_last_lease_ends_and_a_move_revives_it)
{
    struct queue *queue = kit_queue(1000);
    struct queue_event event = {.id = bytes_of("a"), .due = 2500, .ttl = 500};

    CHECK_EQ(kit_push(queue, "a", "x", 0), 0);
    CHECK_EQ(kit_push(queue, "b", "x", 900), 0);
    CHECK_EQ(lease(queue, "a", 1, 100, 2, 2), 0);
    CHECK_EQ(state(queue, "a", 1099), QUEUE_LEASED);
    CHECK_EQ(state(queue, "a", 1100), QUEUE_DEAD);
    CHECK_EQ(queue_promote_due(queue, 1099, 10), 0);
    CHECK_TEXT(dead(queue), "");
    CHECK_EQ(queue_promote_due(queue, 1100, 10), 0);
    CHECK_TEXT(dead(queue), "a ");
    CHECK_EQ(queue_next(queue), 1900); /* dead events do not count */
    CHECK(queue_first(queue, &event));
    CHECK(bytes_equal(event.id, bytes_of("a")));
    /* The holder of the last token can still extend the lease. */
    CHECK_EQ(lease(queue, "a", 1, 500, 2, 2), 0);
    CHECK_TEXT(dead(queue), "");
    CHECK_EQ(queue_leased_count(queue), 1);
    CHECK_EQ(queue_promote_due(queue, 1500, 10), 0);
    CHECK_TEXT(dead(queue), "a ");
    event = (struct queue_event){
        .id = bytes_of("a"), .due = 2500, .ttl = 500, .tries = {0, 2}};
    CHECK_EQ(queue_move(queue, &event), 0);
    CHECK_TEXT(dead(queue), "");
    CHECK_EQ(state(queue, "a", 2499), QUEUE_WAITING);
    /* An event that is moved with its tries used up is dead, whatever its
     * time. */
    event.tries.made = 2;
    CHECK_EQ(queue_move(queue, &event), 0);
    CHECK_TEXT(dead(queue), "a ");
    CHECK_EQ(state(queue, "a", 1), QUEUE_DEAD);
    CHECK(queue_remove(queue, bytes_of("a")));
    CHECK_EQ(queue_dead_count(queue), 0);
    kit_queue_end(queue);
}

TEST(to_move_a_leased_event_needs_no_memory)
{
    struct queue *queue = kit_queue(1000);
    struct queue_event event = {.id = bytes_of("a"), .due = 1010, .ttl = 10};

    CHECK_EQ(kit_push(queue, "a", "x", 0), 0);
    CHECK_EQ(lease(queue, "a", 1, 100, 1, 2), 0);
    memory_fail_after(0);
    CHECK_EQ(queue_move(queue, &event), 0);
    /* The block has room for the same owner. */
    CHECK_EQ(lease(queue, "a", 2, 100, 1, 2), 0);
    memory_fail_after(UINT64_MAX);
    CHECK(queue_get(queue, event.id, &event));
    CHECK_EQ(event.lease.token, 2);
    kit_queue_end(queue);
}

TEST(a_lease_without_memory_changes_nothing)
{
    struct queue *queue = kit_queue(1000);
    int error = -ENOMEM;

    CHECK_EQ(kit_push(queue, "a", "x", 7), 0);
    uint64_t fails = 0;
    for (fails = 0; error != 0; fails++) {
        memory_fail_after(fails);
        error = lease(queue, "a", 5, 100, 1, 2);
        memory_fail_after(UINT64_MAX);
        CHECK(queue_check(queue, stdout));
        if (error != 0) {
            CHECK(error == -ENOMEM);
            CHECK_EQ(queue_token(queue), 0);
            CHECK_EQ(state(queue, "a", 1000), QUEUE_WAITING);
        }
    }
    CHECK_EQ(fails, 3);
    CHECK_EQ(state(queue, "a", 1000), QUEUE_LEASED);
    kit_queue_end(queue);
}

/* With its own bytes, as LAWN.EXTEND does. */
TEST(a_lease_may_be_given_by_the_event_s_own_bytes)
{
    struct queue *queue = kit_queue(1000);

    CHECK_EQ(kit_push(queue, "a", "x", 7), 0);
    CHECK_EQ(lease(queue, "a", 5, 100, 1, 2), 0);
    struct queue_event event;
    for (unsigned i = 0; i < 3; i++) {
        CHECK(queue_get(queue, bytes_of("a"), &event));
        event.lease.end += 50;
        event.lease.owner.size -= i == 1 ? 1 : 0; /* another block */
        CHECK_EQ(queue_lease_event(queue, event.id, &event.lease, event.tries,
                                   &event),
                 0);
        CHECK(bytes_equal(event.id, bytes_of("a")));
        CHECK(bytes_equal(event.payload, bytes_of("x")));
        CHECK(bytes_equal(event.lease.owner, bytes_of(i < 1 ? "me" : "m")));
        CHECK_EQ(event.lease.end, 1150 + 50 * i);
        CHECK_EQ(event.due, 1007);
    }
    CHECK_EQ(queue_update(queue, event.id, bytes_of("longer")), 0);
    CHECK(queue_get(queue, bytes_of("a"), &event));
    CHECK(bytes_equal(event.lease.owner, bytes_of("m")));
    CHECK_EQ(queue_leased_data(queue), 7);
    kit_queue_end(queue);
}

TEST(settings_and_sinks_of_leases_are_remembered)
{
    struct queue *queue = kit_queue(1000);
    struct queue_sink sink = {QUEUE_SINK_NONE, bytes_of(""), 0, bytes_of("d")};

    CHECK(queue_idle(queue));
    queue_settings_of(queue)->tries = 1;
    CHECK(!queue_idle(queue));
    queue_settings_of(queue)->tries = 0;
    queue_settings_of(queue)->lease = 1;
    CHECK(!queue_idle(queue));
    queue_settings_of(queue)->lease = 0;
    CHECK(queue_set_sink(queue, &sink));
    CHECK(!queue_idle(queue));
    sink = (struct queue_sink){QUEUE_SINK_LIST, bytes_of("l"), 0, bytes_of("")};
    queue_trouble_of(queue)->again = 5;
    queue_dead_trouble_of(queue)->again = 5;
    memory_fail_after(0);
    CHECK(!queue_set_sink(queue, &sink));
    memory_fail_after(UINT64_MAX);
    CHECK(bytes_equal(queue_sink_of(queue)->dead, bytes_of("d")));
    CHECK_EQ(queue_trouble_of(queue)->again, 5);
    CHECK(queue_set_sink(queue, &sink));
    CHECK_EQ(queue_trouble_of(queue)->again, 0);
    CHECK_EQ(queue_dead_trouble_of(queue)->again, 0);
    CHECK(!queue_idle(queue));
    sink = (struct queue_sink){QUEUE_SINK_NONE, bytes_of(""), 0, bytes_of("")};
    CHECK(queue_set_sink(queue, &sink));
    CHECK(queue_idle(queue));
    queue_note_token(queue, 9);
    queue_note_token(queue, 8);
    CHECK_EQ(queue_token(queue), 9);
    CHECK(queue_idle(queue));
    kit_queue_end(queue);
}

/* All leases begin in the same millisecond, the first in which the queue has
 * leases. */
TEST(leases_of_unrelated_lengths_do_not_burden_the_lawn)
{
    enum { EVENTS = 20000 };
    struct queue *queue = kit_queue(1000);
    uint64_t i = 0;

    for (i = 0; i < EVENTS; i++) {
        struct queue_event event = {.id = {(const char *)&i, sizeof(i)},
                                    .due = 1000};

        CHECK_EQ(queue_put(queue, &event), 0);
    }
    for (i = 0; i < EVENTS; i++) {
        struct queue_lease given = {i + 1, 5000 + i, 4000 + i, {NULL, 0}};

        CHECK_EQ(queue_lease_event(queue, (struct bytes){(char *)&i, sizeof(i)},
                                   &given, (struct queue_tries){1, 0}, NULL),
                 0);
    }
    CHECK_EQ(queue_leased_count(queue), EVENTS);
    CHECK(lawn_count(queue->leases.lawn) < 2000);
    CHECK_EQ(queue_next(queue), 5000);
    CHECK_EQ(queue_promote_due(queue, 14999, UINT64_MAX), EVENTS / 2);
    CHECK_EQ(queue_next(queue), 5000);
    CHECK_EQ(queue_next_waiting(queue), 15000);
    kit_queue_end(queue);
}

/* Asking early for the first event, as drop-oldest does, moves nothing. */
TEST(to_ask_for_the_first_event_moves_none)
{
    enum { EVENTS = 50000, SOONER = 5000, WEEK = 604800000 };
    struct queue *queue = kit_queue(1000);
    struct rng rng = {5};
    uint64_t due = 0;
    uint64_t i = 0;

    for (i = 0; i < EVENTS; i++) {
        struct queue_event event = {.id = {(const char *)&i, sizeof(i)},
                                    .ttl = WEEK + rng_below(&rng, WEEK),
                                    .alone = true};

        event.due = 1000 + event.ttl;
        CHECK_EQ(queue_put(queue, &event), 0);
    }
    const void *ground = queue->waiting.memory;
    struct queue_event first;
    CHECK(queue_first(queue, &first));
    for (; i < EVENTS + SOONER; i++) {
        struct queue_event event = {.id = {(const char *)&i, sizeof(i)},
                                    .ttl = rng_below(&rng, WEEK),
                                    .alone = i % 2 == 0};

        event.due = 1000 + event.ttl;
        CHECK_EQ(queue_put(queue, &event), 0);
        CHECK(queue->waiting.memory == ground);
        CHECK(queue_first(queue, &first));
        CHECK_EQ(queue->ready.count, 0);
    }
    CHECK(queue_check(queue, stdout));
    for (i = 0; i < SOONER; i++) {
        CHECK(queue_first(queue, &first));
        CHECK(first.due >= due && first.due < 1000 + WEEK);
        due = first.due;
        CHECK(queue_remove(queue, first.id));
    }
    CHECK(queue_first(queue, &first));
    CHECK(first.due >= 1000 + WEEK);
    kit_queue_end(queue);
}
