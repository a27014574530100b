/* heap_order.c - compares a heap of events with a plain array, over random
 * additions and removals. */
#include "heap.h"
#include "kit.h"
#include "memory_kit.h"
#include "rng.h"

#include <stdlib.h>

#define EVENTS 3000u

static struct event all[EVENTS];
static bool there[EVENTS];

/* Finds the first event by a linear search. */
static struct event *
plain_first(void)
{
    struct event *first = NULL;

    for (unsigned i = 0; i < EVENTS; i++) {
        if (there[i] && (first == NULL || all[i].leaf.time < first->leaf.time ||
                         (all[i].leaf.time == first->leaf.time &&
                          all[i].leaf.order < first->leaf.order))) {
            first = &all[i];
        }
    }
    return first;
}

static void
take(struct heap *heap, struct event *event)
{
    heap_remove(heap, event);
    there[event - all] = false;
}

/* With few times, so that many are equal, or with many. */
static void
run_random_steps(uint64_t times, uint64_t seed)
{
    struct heap heap = {.chunks = NULL};
    struct rng rng = {seed};
    uint64_t count = 0;
    size_t order = 0;

    for (unsigned i = 0; i < 40000; i++) {
        unsigned number = (unsigned)rng_below(&rng, EVENTS);
        /* Phases of growth and of shrinking. */
        bool put = rng_below(&rng, 100) < (i / 10000 % 2 == 0 ? 70 : 30);

        if (put && !there[number]) {
            CHECK(heap_reserve(&heap, 1));
            heap_add(&heap, &all[number], rng_below(&rng, times), order++,
                     rng_below(&rng, times));
            there[number] = true;
            count++;
        } else if (!put && there[number]) {
            take(&heap, &all[number]);
            count--;
        } else if (!put && count > 0 && rng_below(&rng, 4) == 0) {
            take(&heap, heap_first(&heap));
            count--;
        }
        CHECK_EQ(heap.count, count);
        CHECK_EQ(heap.bytes, memory_bytes());
        if (i % 16 == 0) {
            CHECK(heap_check(&heap));
            CHECK(heap_first(&heap) == plain_first());
            CHECK_EQ(heap_next(&heap),
                     count > 0 ? plain_first()->leaf.time : LAWN_NEVER);
        }
    }
    while (count > 0) {
        CHECK(heap_first(&heap) == plain_first());
        take(&heap, heap_first(&heap));
        count--;
    }
    CHECK(heap_first(&heap) == NULL);
    CHECK(heap.bytes <= 3 * HEAP_CHUNK / 4 * sizeof(struct heap_four));
    heap_clear(&heap);
    CHECK_EQ(memory_blocks(), 0);
}

TEST(a_heap_has_the_first_event_after_any_adds_and_removals)
{
    run_random_steps(UINT64_C(1) << 40, 1);
    run_random_steps(1000, 2);
    run_random_steps(3, 3);
    run_random_steps(1, 4);
}

TEST(one_far_ahead_does_not_make_the_times_of_a_heap_alike)
{
    struct heap heap = {.chunks = NULL};
    uint64_t day = UINT64_C(86400000);
    uint64_t now = 20000 * day;

    CHECK(heap_reserve(&heap, 5));
    heap_add(&heap, &all[0], now + 100000 * day, 0, now);
    for (size_t i = 1; i < 5; i++) {
        heap_add(&heap, &all[i], now + i * day, i, now);
    }
    CHECK(heap_check(&heap));
    /* The children of the first: all others, of which the last is far ahead. */
    const uint32_t *times = heap.chunks[0][1].times;
    for (size_t i = 0; i < 3; i++) {
        CHECK(times[i] != times[i + 1]);
    }
    heap_clear(&heap);
}

struct seen {
    const struct event *before;
    uint64_t many;
    uint64_t most;
};

static bool
see(struct event *event, void *arg)
{
    struct seen *seen = arg;
    const struct event *before = seen->before;

    CHECK(before == NULL || before->leaf.time < event->leaf.time ||
          (before->leaf.time == event->leaf.time &&
           before->leaf.order < event->leaf.order));
    seen->before = event;
    return ++seen->many < seen->most;
}

static bool
count_one(struct event *event, void *arg)
{
    (void)event;
    ++*(uint64_t *)arg;
    return true;
}

TEST(a_heap_reports_its_events_in_order_and_without_memory_of_all)
{
    struct heap heap = {.chunks = NULL};
    struct seen seen = {NULL, 0, UINT64_MAX};
    struct rng rng = {5};
    uint64_t many = 0;

    CHECK(heap_each(&heap, see, &seen));
    for (size_t i = 0; i < EVENTS; i++) {
        CHECK(heap_reserve(&heap, 1));
        heap_add(&heap, &all[i], rng_below(&rng, 100), i, 0);
    }
    CHECK(heap_each(&heap, see, &seen));
    CHECK_EQ(seen.many, EVENTS);
    seen = (struct seen){NULL, 0, 7};
    CHECK(!heap_each(&heap, see, &seen));
    CHECK_EQ(seen.many, 7);
    memory_fail_after(0);
    CHECK(heap_each(&heap, count_one, &many));
    CHECK_EQ(many, EVENTS);
    memory_fail_after(UINT64_MAX);
    heap_clear(&heap);
    CHECK_EQ(memory_blocks(), 0);
}

TEST(a_heap_without_memory_stays_as_it_was)
{
    struct heap heap = {.chunks = NULL};

    for (size_t i = 0; i < EVENTS; i++) {
        uint64_t fails = 0;

        memory_fail_after(0);
        while (!heap_reserve(&heap, 1)) {
            CHECK(heap_check(&heap));
            CHECK_EQ(heap.count, i);
            CHECK_EQ(heap.bytes, memory_bytes());
            memory_fail_after(++fails);
        }
        memory_fail_after(UINT64_MAX);
        heap_add(&heap, &all[i], EVENTS - i, i, 0);
    }
    CHECK(heap_check(&heap));
    CHECK(heap_first(&heap) == &all[EVENTS - 1]);
    CHECK(heap.bytes < 13 * EVENTS + 4096);
    heap_clear(&heap);
    CHECK_EQ(memory_blocks(), 0);
}

static void *
move_always(void *memory, void *arg)
{
    ++*(unsigned *)arg;
    return memory_move(memory);
}

TEST(all_chunks_of_a_heap_can_be_moved_by_going_through_its_events)
{
    struct heap heap = {.chunks = NULL};
    unsigned moves = 0;

    heap_defrag(&heap, NULL, move_always, &moves);
    CHECK_EQ(moves, 0);
    CHECK(heap_reserve(&heap, EVENTS));
    for (size_t i = 0; i < EVENTS; i++) {
        heap_add(&heap, &all[i], i * 7919 % EVENTS, i, 0);
    }
    heap_defrag(&heap, NULL, move_always, &moves);
    for (size_t i = 0; i < EVENTS; i++) {
        heap_defrag(&heap, &all[i], move_always, &moves);
    }
    CHECK_EQ(moves, 1 + heap.used);
    CHECK(heap_check(&heap));
    heap_clear(&heap);
    CHECK_EQ(memory_blocks(), 0);
}
