/* queue_large.c - the cost of a queue with many events and in bad cases. */
#include "late.h"
#include "queue_inside.h"
#include "queue_kit.h"
#include "rng.h"
#include "table.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Adds events with ids of 14 bytes and payloads of 64: with a few delays, or
 * each with an individual time. */
static void
fill(struct queue *queue, size_t from, size_t to, bool alone)
{
    static const char payload[64];
    char id[32];

    for (size_t i = from; i < to; i++) {
        struct queue_event event = {.id = {id, 14}, .payload = {payload, 64}};

        (void)snprintf(id, sizeof(id), "event-%08zu", i);
        event.ttl = alone ? i * 7919 % 1000003 : (1 + i % 50) * 1000;
        event.due = queue_now(queue) + event.ttl;
        event.alone = alone;
        CHECK_EQ(queue_put(queue, &event), 0);
    }
}

static void
empty(struct queue *queue, size_t from, size_t to)
{
    char id[32];

    for (size_t i = from; i < to; i++) {
        (void)snprintf(id, sizeof(id), "event-%08zu", i);
        CHECK(queue_remove(queue, (struct bytes){id, 14}));
    }
}

TEST(an_event_of_78_bytes_takes_130_in_a_queue_of_any_large_size)
{
    struct queue *queue = kit_queue(1000);
    size_t count = 4000;

    fill(queue, 0, count, false);
    size_t more = 0;
    for (; count < 200000; count = more) {
        CHECK_EQ(queue_bytes(queue), memory_bytes());
        /* At the other sizes a new lawn of 17 or 500 KiB dominates. */
        if (count < 4096 || (count > 8192 && count < 16384) || count > 100000) {
            CHECK(queue_bytes(queue) <= 130 * count);
        }
        CHECK(queue_bytes(queue) <= 150 * count);
        more = count + count / 16;
        fill(queue, count, more, false);
    }
    CHECK(queue_check(queue, stdout));
    empty(queue, 1000, count);
    CHECK_EQ(queue_count(queue), 1000);
    CHECK(queue_bytes(queue) < 1000 * 150 + 500000); /* plus its lawn */
    empty(queue, 0, 1000);
    CHECK(queue_bytes(queue) < 13312); /* small again */
    kit_queue_end(queue);
}

TEST(an_empty_queue_takes_13_kib_and_one_that_was_larger_little_more)
{
    struct queue *queue = kit_queue(1000);
    size_t before = queue_bytes(queue);

    CHECK(before < 13312);
    fill(queue, 0, 120, false);
    empty(queue, 3, 120);
    CHECK(queue_bytes(queue) <= before + 3 * 112 + 160);
    kit_queue_end(queue);
}

/* Waiting events move to a larger lawn, in order and on time. */
TEST(a_queue_that_grows_loses_nothing_and_mixes_nothing_up)
{
    struct queue *queue = kit_queue(1000);
    const void *cursor = NULL;
    uint64_t before = 0;
    uint64_t many = 0;

    fill(queue, 0, 35000, true);
    CHECK(queue_check(queue, stdout));
    fill(queue, 35000, 70000, false);
    CHECK(queue_check(queue, stdout));
    CHECK_EQ(queue_promote_due(queue, 2000000, UINT64_MAX), 70000);
    struct queue_event event;
    while (queue_ready(queue, &cursor, &event)) {
        CHECK(before <= event.due);
        before = event.due;
        many++;
    }
    CHECK_EQ(many, 70000);
    kit_queue_end(queue);
}

/* The events are in far slots of the lawn's index, and the clock jumps to their
 * times: they must be moved first, more of them than one mow moves. */
TEST(due_events_are_found_although_many_others_must_be_moved_first)
{
    for (uint64_t budget = 1; budget <= 64; budget *= 8) {
        struct queue *queue = kit_queue(1000);
        uint64_t i = 0;

        for (i = 0; i < 4000; i++) {
            struct queue_event event = {.id = {(const char *)&i, sizeof(i)}};

            event.ttl = 20000 + i * 2711 % 2000;
            event.due = queue_now(queue) + event.ttl;
            CHECK_EQ(queue_put(queue, &event), 0);
        }
        for (uint64_t found = budget; found < 4000; found += budget) {
            CHECK_EQ(queue_promote_due(queue, 24000, budget), found);
        }
        CHECK(queue_check(queue, stdout));
        kit_queue_end(queue);
    }
}

/* The lawn gets all blades, and is not replaced after that, which would move
 * all events. */
TEST(a_queue_of_16384_events_gets_all_its_blades_once_and_for_all)
{
    struct queue *queue = kit_queue(1000);
    const void *ground = NULL;
    uint64_t i = 0;

    for (i = 0; i < 300000; i++) {
        struct queue_event event = {.id = {(const char *)&i, sizeof(i)}};

        event.ttl = 100000 + i % 4000 * 77;
        event.due = queue_now(queue) + event.ttl;
        CHECK_EQ(queue_put(queue, &event), 0);
        if (i == 16384) {
            ground = queue->waiting.memory;
        }
        CHECK(i < 16384 || queue->waiting.memory == ground);
    }
    CHECK(queue_ttls(queue) > 3000);
    CHECK(queue_check(queue, stdout));
    kit_queue_end(queue);
}

/* Pushing takes seconds, not hours, in any order in which a master's events
 * reach a replica whose clock is ahead and that has mown. */
TEST(no_order_of_events_that_are_due_makes_pushing_them_slow)
{
    enum { EVENTS = 200000 };
    clock_t begin = clock();

    for (unsigned order = 0; order < 4; order++) {
        struct queue *queue = kit_queue(1000000000);
        struct rng rng = {order};
        uint64_t i = 0;

        for (i = 0; i < EVENTS; i++) {
            struct queue_event event = {
                .id = {(const char *)&i, sizeof(i)},
                .due = order == 0   ? 1000 + i
                       : order == 1 ? 900000 - i
                       : order == 2 ? rng_below(&rng, 1000000)
                                    : 500000 + (i % 2 == 0 ? i : -i)};

            CHECK_EQ(queue_put(queue, &event), 0);
        }
        CHECK_EQ(queue_promote_due(queue, 1000000000, UINT64_MAX), EVENTS);
        kit_queue_end(queue);
    }
    CHECK((clock() - begin) / CLOCKS_PER_SEC < 120);
}

/* As LAWN.PUSH does when a key is full and drops the oldest event. */
TEST(to_drop_the_first_event_again_and_again_is_not_slow)
{
    enum { EVENTS = 200000, WEEK = 604800000 };
    struct queue *queue = kit_queue(1000);
    struct rng rng = {7};
    clock_t begin = clock();
    uint64_t i = 0;

    for (i = 0; i < (uint64_t)2 * EVENTS; i++) {
        struct queue_event event = {.id = {(const char *)&i, sizeof(i)},
                                    .alone = true};

        event.ttl = rng_below(&rng, i % 8 == 0 ? WEEK / 64 : WEEK);
        event.due = queue_now(queue) + event.ttl;
        CHECK_EQ(queue_put(queue, &event), 0);
        if (i >= EVENTS) {
            struct queue_event first;
            uint64_t next = queue_next(queue);

            CHECK(queue_first(queue, &first));
            CHECK_EQ(first.due, next);
            CHECK(queue_remove(queue, first.id));
        }
    }
    CHECK(queue_check(queue, stdout));
    CHECK_EQ(queue_promote_due(queue, 1000, 100), 0); /* nothing is early */
    CHECK((clock() - begin) / CLOCKS_PER_SEC < 120);
    kit_queue_end(queue);
}

static int
by_due(const void *a, const void *b)
{
    const struct queue_event *one = a;
    const struct queue_event *other = b;

    return one->due < other->due ? -1 : one->due > other->due;
}

/* Events with individual times a week ahead would share few slots of a lawn,
 * which would have to be searched. */
TEST(the_next_event_is_known_after_the_first_was_removed)
{
    enum { EVENTS = 50000, REMOVED = 2000, WEEK = 604800000 };
    static struct queue_event events[EVENTS];
    static uint64_t ids[EVENTS];
    struct queue *queue = kit_queue(1000);
    struct rng rng = {7};

    for (uint64_t i = 0; i < EVENTS; i++) {
        ids[i] = i;
        events[i] =
            (struct queue_event){.id = {(const char *)&ids[i], sizeof(ids[i])},
                                 .ttl = WEEK + rng_below(&rng, WEEK),
                                 .alone = true};
        events[i].due = 1000 + events[i].ttl;
        CHECK_EQ(queue_put(queue, &events[i]), 0);
    }
    qsort(events, EVENTS, sizeof(*events), by_due);
    CHECK_EQ(queue_next(queue), events[0].due);
    CHECK_EQ(lawn_count(queue->waiting.lawn), 0);
    for (uint64_t i = 0; i < REMOVED; i++) {
        CHECK(queue_remove(queue, events[i].id));
        CHECK_EQ(queue_next(queue), events[i + 1].due);
        CHECK_EQ(queue_next(queue), events[i + 1].due);
    }
    /* Earlier events are still found, and nothing is early. */
    CHECK_EQ(kit_push(queue, "sooner", "x", 5), 0);
    CHECK_EQ(queue_next(queue), 1005);
    CHECK_EQ(queue_promote_due(queue, 1004, UINT64_MAX), 0);
    CHECK_TEXT(kit_take(queue, 1005), "sooner ");
    CHECK_EQ(queue_next(queue), events[REMOVED].due);
    CHECK(queue_check(queue, stdout));
    kit_queue_end(queue);
}

/* On a replica that a client asks for due events, and whose master is
 * behind. */
TEST(an_event_among_some_that_are_due_finds_its_place_when_its_turn_comes)
{
    enum { DUE = 4000, MORE = 1000 };
    struct queue *queue = kit_queue(1000);
    const void *cursor = NULL;
    uint64_t before = 0;
    uint64_t many = 0;
    uint64_t i = 0;

    for (i = 0; i < DUE + MORE; i++) {
        struct queue_event event = {.id = {(const char *)&i, sizeof(i)}};

        event.ttl = i < DUE ? i : 0;
        event.due = 1000 + (i < DUE ? i : 1 + i * 997 % DUE);
        CHECK_EQ(queue_put(queue, &event), 0);
        if (i >= DUE - 1) {
            uint64_t budget = i < DUE ? UINT64_MAX : 10;

            CHECK_EQ(queue_promote_due(queue, 100000, budget), i + 1);
        }
    }
    CHECK(queue_check(queue, stdout));
    CHECK(queue->passed.count > MORE - 20); /* few are among the first ten */
    CHECK_EQ(queue_next(queue), 1000);
    CHECK_EQ(queue_next_waiting(queue), LAWN_NEVER);
    CHECK_EQ(queue_promote_due(queue, 100000, 100), DUE + MORE);
    struct queue_event out;
    while (many < 100) {
        CHECK(queue_ready(queue, &cursor, &out));
        CHECK(before <= out.due);
        before = out.due;
        many++;
    }
    /* The first 100 of all: 4 or 5 per 5 ms. */
    CHECK(before < 1085);
    CHECK_EQ(queue_promote_due(queue, 100000, UINT64_MAX), DUE + MORE);
    CHECK_EQ(queue->passed.count, 0);
    CHECK(queue_check(queue, stdout));
    kit_queue_end(queue);
}

/* Index entries of the lawns that were touched so far. */
static uint64_t
touched(const struct queue *queue)
{
    struct lawn_counters waiting;

    lawn_stats(queue->waiting.lawn, &waiting);
    struct lawn_counters leases;
    lawn_stats(queue->leases.lawn, &leases);
    return waiting.moved + waiting.looked + leases.moved + leases.looked;
}

/* A third of a million events have individual times, a third individual delays,
 * and a third leases of individual length, all within a week. A lawn would have
 * them in few slots, of which the largest become due at multiples of 2^24
 * ms. */
TEST(no_call_does_much_at_once_with_a_million_events)
{
    enum { EVENTS = 1000000, WEEK = 604800000, STEP = 1048576, BUDGET = 1000 };
    uint64_t now = (UINT64_C(1) << 40) - STEP;
    struct queue *queue = kit_queue(now);
    struct rng rng = {9};
    struct queue_event event = {.payload = {NULL, 0}};
    uint64_t most = 0;
    uint64_t i = 0;

    for (i = 0; i < EVENTS; i++) {
        now += i % 100 == 0 ? 1 : 0;
        event.id = (struct bytes){(const char *)&i, sizeof(i)};
        event.ttl = 1 + rng_below(&rng, WEEK);
        event.due = now + event.ttl;
        event.alone = i % 3 == 0;
        CHECK_EQ(queue_put(queue, &event), 0);
        if (i % 3 == 2) {
            struct queue_lease lease = {i, event.due, event.ttl, {NULL, 0}};

            CHECK_EQ(queue_lease_event(queue, event.id, &lease,
                                       (struct queue_tries){1, 0}, NULL),
                     0);
        }
    }
    CHECK(queue_check(queue, stdout));
    /* Few events have a known delay and are in the lawn: see
     * queue_timeline.c. */
    CHECK(lawn_count(queue->waiting.lawn) < 16000);
    CHECK(lawn_count(queue->leases.lawn) < 16000);
    while (queue_count(queue) > EVENTS / 2) {
        uint64_t before = touched(queue);
        const void *cursor = NULL;

        CHECK(queue_promote_due(queue, now, BUDGET) <= EVENTS);
        (void)queue_next_waiting(queue);
        if (queue_ready(queue, &cursor, &event)) {
            CHECK(event.due <= now);
            for (i = 0; i < BUDGET && queue_ready(queue, &cursor, &event);) {
                i++;
            }
            for (cursor = NULL; i > 0; i--, cursor = NULL) {
                CHECK(queue_ready(queue, &cursor, &event));
                CHECK(queue_remove(queue, event.id));
            }
        }
        CHECK(queue_first(queue, &event));
        if (queue_next_waiting(queue) > now) {
            now += STEP - now % STEP;
        }
        most = touched(queue) - before > most ? touched(queue) - before : most;
    }
    /* At most as many as there are blades become due at once. */
    CHECK(most < 10000);
    CHECK(queue_check(queue, stdout));
    kit_queue_end(queue);
}

/* Without a queue of this delay, its events would be moved in the lawn's index,
 * very many at a time. */
TEST(a_common_delay_has_its_queue_after_very_many_that_came_once)
{
    enum { ONCE = 100000, COMMON = 20000 };
    struct queue *queue = kit_queue(1000);
    struct queue_event event = {.payload = {NULL, 0}};
    struct lawn_counters before = {0};
    uint64_t i = 0;

    for (i = 0; i < ONCE + COMMON; i++) {
        if (i == ONCE) {
            lawn_stats(queue->waiting.lawn, &before);
        }
        event.id = (struct bytes){(const char *)&i, sizeof(i)};
        event.ttl = i < ONCE ? 1000000 + i * 7 : 500000;
        event.due = 1000 + i / 10 + event.ttl;
        CHECK_EQ(queue_put(queue, &event), 0);
    }
    struct lawn_counters after;
    lawn_stats(queue->waiting.lawn, &after);
    CHECK(after.starts - before.starts > COMMON / 2);
    CHECK(after.unqueued_starts - before.unqueued_starts < 100);
    kit_queue_end(queue);
}

/* Far more delays than a queue knows (see queue_timeline.c), at two times at
 * which the lawn is replaced: some events of a delay are in the heap, others in
 * the lawn. */
TEST(events_of_one_delay_and_time_come_in_order_whatever_delays_are_known)
{
    enum { DELAYS = 500, EACH = 50 };
    static uint64_t last[2][DELAYS];
    struct queue *queue = queue_new(1000, 64);
    struct queue_event event = {.payload = {NULL, 0}};
    const void *cursor = NULL;

    CHECK(queue != NULL);
    uint64_t i = 0;
    for (i = 0; i < DELAYS * EACH; i++) {
        event.id = (struct bytes){(const char *)&i, sizeof(i)};
        event.ttl = 1 + i % DELAYS;
        event.due = (i < 6000 ? 1000 : 2000) + event.ttl;
        CHECK_EQ(queue_put(queue, &event), 0);
    }
    CHECK_EQ(queue->size, QUEUE_LARGE);
    CHECK(queue->waiting.heap.count > EACH);
    CHECK(lawn_count(queue->waiting.lawn) > EACH);
    CHECK_EQ(queue_promote_due(queue, 3000, UINT64_MAX), DELAYS * EACH);
    while (queue_ready(queue, &cursor, &event)) {
        uint64_t *before = last[event.due > 2000];

        memcpy(&i, event.id.at, sizeof(i));
        CHECK(i >= before[i % DELAYS]);
        before[i % DELAYS] = i + 1;
    }
    queue_free(queue);
}

/* As with recurring events that are acknowledged in another order than they
 * were due. */
TEST(events_before_others_of_their_delay_do_not_burden_the_lawn)
{
    enum { EVENTS = 50000 };
    struct queue *queue = kit_queue(1000000);
    struct queue_event event = {.ttl = 900000};
    uint64_t i = 0;

    for (i = 0; i < EVENTS; i++) {
        event.id = (struct bytes){(const char *)&i, sizeof(i)};
        event.due = 1900000 - i;
        CHECK_EQ(queue_put(queue, &event), 0);
    }
    CHECK(lawn_count_unqueued(queue->waiting.lawn) <=
          4096); /* while there are few */
    kit_queue_end(queue);
}

/* Ids whose hashes begin with the same bits, which an attacker cannot
 * choose. */
TEST(ids_whose_hashes_begin_alike_are_found_and_take_no_more_memory)
{
    static const uint64_t key[2] = {1, 2};
    static const uint64_t none[2] = {0, 0};
    static uint64_t chosen[1500];
    struct queue *queue = kit_queue(0);
    uint64_t number = 0;

    table_set_key(key);
    for (size_t i = 0; i < COUNT(chosen); number++) {
        struct bytes id = {(const char *)&number, sizeof(number)};

        if (table_hash(id) >> 53 == 77) {
            struct queue_event event = {.id = id, .due = number};

            chosen[i++] = number;
            CHECK_EQ(queue_put(queue, &event), 0);
        }
    }
    CHECK(queue_check(queue, stdout));
    CHECK(queue_bytes(queue) < 13312 + COUNT(chosen) * 96);
    for (size_t i = 0; i < 20; i++) { /* among others */
        fill(queue, i * 100, i * 100 + 100, true);
        CHECK(queue_check(queue, stdout));
    }
    empty(queue, 0, 2000);
    for (size_t i = 0; i < COUNT(chosen); i++) {
        CHECK(queue_remove(
            queue, (struct bytes){(const char *)&chosen[i], sizeof(number)}));
        CHECK(i % 100 != 0 || queue_check(queue, stdout));
    }
    kit_queue_end(queue);
    table_set_key(none);
}

/* At each step all events exist, or only the earlier ones. */
TEST(a_queue_without_memory_stays_as_it_was)
{
    struct queue *queue = NULL;

    memory_fail_after(0);
    CHECK(queue_new(0, 8) == NULL);
    memory_fail_after(1);
    CHECK(queue_new(0, 8) == NULL);
    memory_fail_after(UINT64_MAX);
    queue = kit_queue(0);
    size_t i = 0;
    for (i = 0; i < 1500; i++) {
        struct queue_event event = {.id = {(const char *)&i, sizeof(i)},
                                    .due = i % 7,
                                    .ttl = i % 7,
                                    .repeat = {i % 2, 0, 0}};
        int error = -ENOMEM;

        for (uint64_t fails = 0; error != 0; fails++) {
            size_t bytes = queue_bytes(queue);

            memory_fail_after(fails);
            error = queue_put(queue, &event);
            memory_fail_after(UINT64_MAX);
            if (error != 0) {
                CHECK(error == -ENOMEM);
                CHECK_EQ(queue_count(queue), i);
                CHECK(!queue_get(queue, event.id, NULL));
                /* A directory or a segment may have been added. */
                CHECK(queue_bytes(queue) <= bytes + 4096);
            }
        }
        CHECK(i % 64 != 0 || queue_check(queue, stdout));
        memory_fail_after(0);
        event.repeat.period = 1 - event.repeat.period;
        CHECK(queue_move(queue, &event) == -ENOMEM);
        CHECK(queue_update(queue, event.id, bytes_of("x")) == -ENOMEM);
        CHECK(queue_copy(queue) == NULL);
        CHECK(queue_promote_due(queue, i, 10) <= i + 1);
        queue_note_late(queue, 1);
        CHECK(queue_late(queue) == NULL);
        memory_fail_after(UINT64_MAX);
    }
    memory_fail_after(0);
    for (i = 0; i < 1500; i++) {
        CHECK(queue_remove(queue, (struct bytes){(char *)&i, sizeof(i)}));
        CHECK(i % 64 != 0 || queue_check(queue, stdout));
    }
    memory_fail_after(UINT64_MAX);
    kit_queue_end(queue);
}

TEST(a_copy_fails_at_any_step_without_a_trace)
{
    struct queue *queue = kit_queue(0);
    struct queue *copy = NULL;

    fill(queue, 0, 300, false);
    CHECK_EQ(queue_promote_due(queue, 3000, UINT64_MAX), 18);
    uint64_t blocks = memory_blocks();
    uint64_t fails = 0;
    for (fails = 0; copy == NULL; fails++) {
        CHECK_EQ(memory_blocks(), blocks);
        CHECK_EQ(queue_total(QUEUE_TOTAL), 300);
        memory_fail_after(fails);
        copy = queue_copy(queue);
        memory_fail_after(UINT64_MAX);
    }
    CHECK(fails > 300);
    CHECK_EQ(queue_total(QUEUE_TOTAL), 600);
    CHECK(queue_check(copy, stdout));
    CHECK_EQ(queue_data(copy), queue_data(queue));
    queue_free(copy);
    kit_queue_end(queue);
}

static void *
free_queue(void *queue)
{
    queue_free(queue);
    return NULL;
}

TEST(a_queue_may_be_freed_by_another_thread_while_others_are_used)
{
    struct queue *queue = kit_queue(0);
    struct queue *other = queue_new(0, 8);

    CHECK(other != NULL);
    fill(other, 0, 20000, false);
    CHECK_EQ(queue_total(QUEUE_TOTAL), 20000);
    pthread_t thread = 0;
    CHECK_EQ(pthread_create(&thread, NULL, free_queue, other), 0);
    fill(queue, 0, 20000, false);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(queue_total(QUEUE_TOTAL), 20000);
    kit_queue_end(queue);
    CHECK_EQ(queue_total(QUEUE_TOTAL), 0);
}

static bool
count_one(const struct queue_event *event, void *arg)
{
    (void)event;
    ++*(uint64_t *)arg;
    return true;
}

static bool
refuse(const struct queue_event *event, void *arg)
{
    (void)count_one(event, arg);
    return false;
}

TEST(a_walk_ends_whatever_the_cursor)
{
    static const uint64_t cursors[] = {
        1, 2, 77777, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX};
    struct queue *queue = kit_queue(0);
    uint64_t seen = 0;

    CHECK_EQ(queue_scan(queue, 0, 10, count_one, &seen), 0);
    fill(queue, 0, 2000, false);
    uint64_t cursor = queue_scan(queue, 0, 10, count_one, &seen);
    CHECK(cursor != 0);
    CHECK(seen >= 10 && seen < 10 + 126);
    /* One at a time, and each once. */
    for (size_t i = 0; i < 100; i++) {
        uint64_t next = queue_scan(queue, cursor, SIZE_MAX, refuse, &seen);

        CHECK(next > cursor);
        cursor = next;
    }
    CHECK_EQ(queue_scan(queue, cursor, SIZE_MAX, count_one, &seen), 0);
    CHECK_EQ(seen, 2000);
    for (size_t i = 0; i < COUNT(cursors); i++) {
        seen = 0;
        CHECK_EQ(queue_scan(queue, cursors[i], SIZE_MAX, count_one, &seen), 0);
        CHECK(seen <= 2000);
    }
    kit_queue_end(queue);
}

TEST(how_late_events_were_is_known_within_a_quarter)
{
    struct late late = {0};

    CHECK_EQ(late_at(&late, 500), 0);
    for (uint64_t ms = 1; ms <= 1000; ms++) {
        late_add(&late, ms);
    }
    CHECK_EQ(late.max, 1000);
    CHECK_EQ(late_at(&late, 1000), 1000);
    CHECK(late_at(&late, 500) >= 500 && late_at(&late, 500) < 625);
    CHECK(late_at(&late, 990) >= 990 && late_at(&late, 990) <= 1000);
    CHECK_EQ(late_at(&late, 0), 1);
    for (uint64_t ms = 0; ms < 63; ms++) {
        struct late one = {0};
        uint64_t value = (UINT64_C(1) << ms) + (UINT64_C(1) << ms) / 3;

        late_add(&one, value);
        late_add(&one, UINT64_MAX);
        CHECK(late_at(&one, 500) >= value);
        CHECK(ms > 32 || late_at(&one, 500) <= value + value / 4);
    }
    late.buckets[1] = UINT32_MAX;
    late_add(&late, 1);
    CHECK_EQ(late.buckets[1], UINT32_MAX / 2 + 1);
    CHECK_EQ(late_at(&late, 999), 1);
}

TEST(a_queue_notes_how_late_events_were)
{
    struct queue *queue = kit_queue(0);

    CHECK(queue_late(queue) == NULL);
    queue_note_late(queue, 3);
    queue_note_late(queue, 5);
    CHECK_EQ(late_at(queue_late(queue), 1000), 5);
    CHECK_EQ(queue_bytes(queue), memory_bytes());
    kit_queue_end(queue);
}
