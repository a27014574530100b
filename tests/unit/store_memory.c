/* store_memory.c - memory that a store allocates and releases, and calls that
 * it refuses: S2, S5, S7. */
#include "store_common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A few blocks are kept for later timers, however few timers there are. */
#define SLACK (256u << 10)

/* Makes all runs identical. */
#define SEED 1

static void
ignore(const struct lawn_store_timer *timer, void *arg)
{
    (void)timer;
    (void)arg;
}

TEST(a_store_reports_the_bytes_that_it_has_from_its_allocator)
{
    static char bytes[3000];
    struct trial t;
    uint64_t state = 21;
    uint64_t now = 0;

    trial_begin(&t, NULL);
    CHECK_EQ(lawn_store_bytes(t.store), t.ledger.bytes);
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t r = chance(&state);
        uint64_t id = r / 64 % 3000;

        switch (r % 8) {
        case 0:
            (void)drop_number(&t, id);
            break;
        case 1:
            now += 3;
            (void)lawn_store_mow(t.store, now, 20, ignore, NULL);
            break;
        case 2:
            (void)lawn_store_update(t.store, &id, sizeof(id), bytes,
                                    r >> 32 & 2047);
            break;
        default:
            CHECK_EQ(lawn_store_start(t.store, &id, sizeof(id), 1 + r % 1000,
                                      bytes, (r >> 32 & 127) * (r >> 40 & 15),
                                      0),
                     0);
        }
        CHECK_EQ(lawn_store_bytes(t.store), t.ledger.bytes);
    }
    lawn_store_clear(t.store);
    CHECK_EQ(lawn_store_bytes(t.store), t.ledger.bytes);
    trial_end(&t);
}

/* Some timers stay; many are started and then fire. [S7] */
static void
run_burst(struct lawn_store *store, uint64_t stay, uint64_t many, bool stop)
{
    for (uint64_t i = stay; i < stay + many; i++) {
        CHECK_EQ(lawn_store_start(store, &i, sizeof(i), 10 + i % 100,
                                  "a payload", i % 10, 0),
                 0);
    }
    for (uint64_t i = stay; stop && i < stay + many; i++) {
        CHECK(lawn_store_stop(store, &i, sizeof(i)));
    }
    (void)lawn_store_mow(store, lawn_store_now(store) + 200, SIZE_MAX, ignore,
                         NULL);
    CHECK_EQ(lawn_store_count(store), stay);
}

static void
fill(struct lawn_store *store, uint64_t stay)
{
    for (uint64_t i = 0; i < stay; i++) {
        CHECK_EQ(
            lawn_store_start(store, &i, sizeof(i), 1u << 30, "a payload", 9, 0),
            0);
    }
}

TEST(a_store_gives_back_what_a_burst_of_timers_took)
{
    static const unsigned stays[] = {0, 1000, 100000};
    struct trial t;

    for (int stop = 0; stop < 2; stop++) {
        for (size_t i = 0; i < COUNT(stays); i++) {
            trial_begin(&t, NULL);
            fill(t.store, stays[i]);
            size_t before = t.ledger.bytes;
            run_burst(t.store, stays[i], how_many(1000000, 200000, 20000),
                      stop != 0);
            CHECK(t.ledger.bytes <= before + before / 4 + SLACK);
            run_burst(t.store, stays[i], 20000, stop != 0);
            CHECK(t.ledger.bytes <= before + before / 4 + SLACK);
            CHECK_EQ(lawn_store_bytes(t.store), t.ledger.bytes);
            trial_end(&t);
        }
    }
}

/* The remaining timers are scattered among the fired ones. Memory is still
 * proportional to the remaining timers, at once. */
TEST(a_store_gives_memory_back_though_every_tenth_timer_stays)
{
    uint64_t n = how_many(300000, 100000, 20000);
    struct trial t;

    trial_begin(&t, NULL);
    size_t empty = t.ledger.bytes;
    for (uint64_t i = 0; i < n; i++) {
        CHECK_EQ(put_number(&t, i, i % 10 == 0 ? 5000 : 100), 0);
    }
    CHECK_EQ(lawn_store_mow(t.store, 100, SIZE_MAX, ignore, NULL), n - n / 10);
    CHECK(t.ledger.bytes <= empty + SLACK + 200 * (n / 10));
    for (uint64_t i = 0; i < n; i++) {
        CHECK_EQ(has_number(&t, i), i % 10 == 0);
    }
    CHECK_EQ(lawn_store_mow(t.store, 5000, SIZE_MAX, ignore, NULL), n / 10);
    trial_end(&t);
}

static size_t
resident(void)
{
    unsigned long size = 0;
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    CHECK(file != NULL);
    CHECK_EQ(fscanf(file, "%lu %lu", &size, &pages), 2);
    (void)fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* With the default allocator of a store. */
TEST(a_store_gives_memory_back_to_the_system_after_a_burst)
{
    uint64_t stay = 100000;

    if (watched()) {
        return; /* their allocators keep freed memory */
    }
    struct lawn_store *store = lawn_store_new(NULL);
    CHECK(store != NULL);
    fill(store, stay);
    size_t before = resident();
    size_t told = lawn_store_bytes(store);
    run_burst(store, stay, how_many(1000000, 500000, 300000), false);
    CHECK(lawn_store_bytes(store) <= told + told / 4);
    CHECK(resident() <= before + before / 4);
    lawn_store_free(store);
}

TEST(a_shorter_payload_gives_memory_of_a_store_back)
{
    size_t large = 1u << 20;
    char *bytes = calloc(1, large);

    CHECK(bytes != NULL);
    struct trial t;
    for (int update = 0; update < 2; update++) {
        trial_begin(&t, NULL);
        put(&t, "a", 10, "short");
        size_t before = t.ledger.bytes;
        if (update) {
            CHECK_EQ(lawn_store_update(t.store, "a", 1, bytes, large), 0);
            CHECK(t.ledger.bytes >= before + large - 4096);
            CHECK(t.ledger.bytes <= before + large + large / 4);
            CHECK_EQ(lawn_store_update(t.store, "a", 1, "short", 5), 0);
        } else {
            CHECK_EQ(lawn_store_start(t.store, "a", 1, 20, bytes, large, 0), 0);
            put(&t, "a", 10, "short");
        }
        CHECK(t.ledger.bytes <= before + before / 4);
        CHECK_TIMER(&t, "a", "short", 10);
        trial_end(&t);
    }
    free(bytes);
}

/* The maximum that one call requests. */
struct cost {
    size_t requests;
    size_t bytes;
};

static struct ledger last_ledger;

static void
cost_before(struct trial *t)
{
    last_ledger = t->ledger;
}

static void
cost_after(struct trial *t, struct cost *cost)
{
    size_t requests = t->ledger.requests - last_ledger.requests;
    size_t more = t->ledger.bytes > last_ledger.bytes
                      ? t->ledger.bytes - last_ledger.bytes
                      : last_ledger.bytes - t->ledger.bytes;

    cost->requests = requests > cost->requests ? requests : cost->requests;
    cost->bytes = more > cost->bytes ? more : cost->bytes;
}

/* [S5] Growing and shrinking are spread over calls: no call requests or
 * releases much, or makes many requests. */
TEST(no_call_of_a_store_grows_or_shrinks_it_by_much)
{
    uint64_t n = how_many(300000, 300000, 40000);
    struct cost cost = {0, 0};
    struct trial t;

    trial_begin(&t, NULL);
    t.ledger.largest = 0;
    uint64_t i = 0;
    for (i = 0; i < n; i++) {
        cost_before(&t);
        CHECK_EQ(put_number(&t, i, 1 + i % 3), 0);
        cost_after(&t, &cost);
    }
    for (i = 0; i < n / 2; i++) {
        cost_before(&t);
        CHECK(drop_number(&t, i));
        cost_after(&t, &cost);
    }
    for (; i < n; i++) {
        cost_before(&t);
        CHECK_EQ(lawn_store_mow(t.store, 3, 1, ignore, NULL), 1);
        cost_after(&t, &cost);
    }
    CHECK(t.ledger.largest <= 128u << 10);
    CHECK(cost.requests <= 4);
    CHECK(cost.bytes <= 256u << 10);
    trial_end(&t);
}

/* A directory, if there is one, must not be the part that grows. */
TEST(a_store_takes_memory_in_proportion_to_its_timers)
{
    struct trial t;

    trial_begin(&t, NULL);
    size_t empty = t.ledger.bytes;
    for (uint64_t i = 0; i < 50000; i++) {
        CHECK_EQ(put_number(&t, i, 10), 0);
        CHECK(t.ledger.bytes <= empty + (128u << 10) + 160 * (i + 1));
    }
    trial_end(&t);
}

TEST(a_store_of_limited_timers_refuses_further_ones)
{
    struct lawn_store_options options = {.max_timers = 3};
    struct trial t;

    trial_begin(&t, &options);
    put(&t, "a", 10, "1");
    put(&t, "b", 20, "2");
    put(&t, "c", 30, "3");
    uint64_t print = trial_print(&t);
    CHECK_EQ(put_how(&t, "d", 5, "4", 0), -ENOSPC);
    CHECK_EQ(put_how(&t, "d", 5, "4", LAWN_STORE_ABSENT), -ENOSPC);
    CHECK_EQ(trial_print(&t), print); /* [S2] */
    put(&t, "a", 40, "replaced");     /* not a further timer */
    CHECK_EQ(lawn_store_update(t.store, "b", 1, "updated", 7), 0);
    CHECK(drop(&t, "c"));
    put(&t, "d", 5, "4");
    CHECK_EQ(put_how(&t, "e", 5, "5", 0), -ENOSPC);
    CHECK_EQ(trial_mow(&t, 5), 1);
    put(&t, "e", 5, "5");
    lawn_store_set_limits(t.store, 1, 0); /* existing timers stay */
    CHECK_EQ(lawn_store_count(t.store), 3);
    CHECK_EQ(put_how(&t, "f", 5, "", 0), -ENOSPC);
    lawn_store_set_limits(t.store, 0, 0);
    put(&t, "f", 5, "");
    trial_end(&t);
}

TEST(a_store_of_limited_bytes_refuses_what_exceeds_them)
{
    static char bytes[100000];
    struct trial t;
    int error = 0;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "short");
    size_t limit = lawn_store_bytes(t.store) + sizeof(bytes);
    lawn_store_set_limits(t.store, 0, limit);
    uint64_t print = 0;
    size_t before = 0;
    uint64_t i = 0;
    for (i = 0; error == 0; i++) {
        CHECK(i < 100000);
        print = trial_print(&t);
        before = lawn_store_bytes(t.store);
        error = lawn_store_start(t.store, &i, sizeof(i), 10, bytes, 1000, 0);
        CHECK(lawn_store_bytes(t.store) <= limit);
    }
    CHECK_EQ(error, -ENOSPC);
    CHECK_EQ(trial_print(&t), print); /* [S2] */
    CHECK(lawn_store_bytes(t.store) <= before);
    CHECK_EQ(lawn_store_update(t.store, "a", 1, bytes, sizeof(bytes)), -ENOSPC);
    CHECK_EQ(lawn_store_start(t.store, "a", 1, 20, bytes, sizeof(bytes), 0),
             -ENOSPC);
    CHECK_EQ(trial_print(&t), print);
    CHECK_TIMER(&t, "a", "short", 10);
    CHECK_EQ(trial_mow(&t, 10), i); /* a, and all but the last */
    CHECK_EQ(lawn_store_start(t.store, "a", 1, 20, bytes, 50000, 0), 0);
    trial_end(&t);
}

/* Existing timers stay, and the store may use its memory up. */
TEST(a_store_that_has_more_than_a_new_limit_takes_no_further_memory)
{
    struct trial t;

    trial_begin(&t, NULL);
    uint64_t i = 0;
    for (i = 0; i < 1000; i++) {
        CHECK_EQ(put_number(&t, i, 10), 0);
    }
    size_t bytes = lawn_store_bytes(t.store);
    lawn_store_set_limits(t.store, 0, 1);
    CHECK_EQ(lawn_store_count(t.store), 1000);
    while (put_number(&t, i, 10) == 0) {
        CHECK(i < 100000);
        i++;
    }
    CHECK_EQ(put_number(&t, i, 10), -ENOSPC);
    CHECK(lawn_store_bytes(t.store) <= bytes);
    CHECK_EQ(trial_mow(&t, 10), i);
    trial_end(&t);
}

/* Memory kept by failed calls does not accumulate. */
TEST(calls_of_a_store_that_fail_for_long_take_no_memory)
{
    static char bytes[5000];
    struct trial t;

    trial_begin(&t, NULL);
    uint64_t i = 0;
    for (i = 0; i < 100; i++) {
        CHECK_EQ(put_number(&t, i, 10), 0);
    }
    size_t before = t.ledger.bytes;
    for (i = 0; i < 600; i++) {
        for (size_t k = 0; k < 3; k++) {
            t.ledger.refuse = k;
            t.ledger.for_good = true;
            (void)lawn_store_start(t.store, &(uint64_t){100}, 8, 10, bytes,
                                   i + 1000, 0);
            (void)lawn_store_update(t.store, &i, sizeof(i), bytes, i + 1000);
            (void)lawn_store_reserve(t.store, 100000);
            (void)drop_number(&t, 100);
        }
    }
    CHECK(t.ledger.bytes <= before + SLACK);
    trial_end(&t);
}

/* Up to the limit and not a byte beyond, however it is filled. */
TEST(a_store_never_has_more_bytes_than_its_limit)
{
    static char bytes[4096];
    struct lawn_store_options options = {.max_bytes = 600000};
    struct trial t;
    uint64_t state = 4;
    unsigned refused = 0;

    trial_begin(&t, &options);
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t r = chance(&state);
        uint64_t id = r % 2000;
        int error = r >> 20 & 1 ? lawn_store_start(t.store, &id, sizeof(id), 10,
                                                   bytes, r >> 32 & 1023, 0)
                                : lawn_store_update(t.store, &id, sizeof(id),
                                                    bytes, r >> 32 & 4095);

        CHECK(error == 0 || error == -ENOENT || error == -ENOSPC);
        refused += error == -ENOSPC;
        CHECK(t.ledger.bytes <= options.max_bytes);
        if (i % 1000 == 999) {
            CHECK(lawn_store_check(t.store, stdout));
        }
    }
    CHECK(refused > 100);
    trial_end(&t);
}

TEST(a_reserved_store_does_not_grow_its_table)
{
    struct cost cost = {0, 0};
    uint64_t n = 30000;
    struct trial t;

    trial_begin(&t, NULL);
    CHECK_EQ(lawn_store_reserve(t.store, n), 0);
    size_t reserved = t.ledger.bytes;
    for (uint64_t i = 0; i < n; i++) {
        cost_before(&t);
        CHECK_EQ(put_number(&t, i, 10), 0);
        cost_after(&t, &cost);
    }
    CHECK_EQ(lawn_store_mow(t.store, 10, SIZE_MAX, ignore, NULL), n);
    CHECK(t.ledger.bytes >= reserved - reserved / 4); /* does not shrink */
    CHECK_EQ(lawn_store_reserve(t.store, 0), 0);
    for (uint64_t i = 0; i < 100; i++) {
        CHECK_EQ(put_number(&t, i, 10), 0);
        CHECK(drop_number(&t, i));
    }
    CHECK(lawn_store_check(t.store, stdout));
    trial_end(&t);
}

/* [S7] */
TEST(a_reservation_of_a_store_that_is_taken_back_gives_memory_back)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "x");
    size_t before = t.ledger.bytes;
    CHECK_EQ(lawn_store_reserve(t.store, 1000000), 0);
    CHECK(t.ledger.bytes > before + 1000000);
    CHECK_EQ(lawn_store_reserve(t.store, 10000), 0);
    CHECK(t.ledger.bytes <= before + SLACK);
    CHECK_EQ(lawn_store_reserve(t.store, 0), 0);
    CHECK(t.ledger.bytes <= before + 4096);
    CHECK_TIMER(&t, "a", "x", 10);
    trial_end(&t);
}

TEST(a_reservation_that_exceeds_a_limit_of_a_store_changes_nothing)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "x");
    lawn_store_set_limits(t.store, 0, lawn_store_bytes(t.store) + 100000);
    uint64_t print = trial_print(&t);
    CHECK_EQ(lawn_store_reserve(t.store, 1000000), -ENOSPC);
    CHECK_EQ(trial_print(&t), print); /* [S2] */
    lawn_store_set_limits(t.store, 0, 0);
    for (size_t k = 0; k < 30; k++) {
        t.ledger.refuse = k;
        CHECK_EQ(lawn_store_reserve(t.store, 10000000), -ENOMEM);
        CHECK_EQ(trial_print(&t), print);
    }
    CHECK_EQ(lawn_store_reserve(t.store, UINT64_MAX), -ENOMEM);
    CHECK_EQ(trial_print(&t), print);
    CHECK(lawn_store_check(t.store, stdout));
    trial_end(&t);
}

/* [S2] Runs a call with the first request refused, then the second, and so on,
 * until all requests of the call are granted. */
typedef int call_fn(struct trial *t, uint64_t step);

static void
check_scarcity(call_fn *call, uint64_t steps)
{
    struct trial t;
    size_t refused = 0;

    trial_begin(&t, &(struct lawn_store_options){.seed = {SEED, 1}});
    put(&t, "a", 100, "a payload");
    for (uint64_t i = 0; i < steps; i++) {
        size_t k = 0;
        int error = -ENOMEM;

        while (error != 0) {
            uint64_t print = trial_print(&t);

            t.ledger.refuse = k++;
            error = call(&t, i);
            t.ledger.refuse = SIZE_MAX;
            CHECK(error == 0 || error == -ENOMEM);
            if (error != 0) {
                CHECK_EQ(trial_print(&t), print);
            }
            CHECK(k < 100);
        }
    }
    refused = t.ledger.refused;
    CHECK(refused > 0);
    trial_end(&t);
}

static char scarce_bytes[3000];

static int
start_another(struct trial *t, uint64_t step)
{
    return lawn_store_start(t->store, &step, sizeof(step), 10, scarce_bytes,
                            step * 7 % sizeof(scarce_bytes), 0);
}

static int
start_the_same(struct trial *t, uint64_t step)
{
    return lawn_store_start(t->store, "a", 1, 10 + step, scarce_bytes,
                            step * 101 % sizeof(scarce_bytes), 0);
}

static int
update_the_same(struct trial *t, uint64_t step)
{
    return lawn_store_update(t->store, "a", 1, scarce_bytes,
                             step * 101 % sizeof(scarce_bytes));
}

static int
reserve_more(struct trial *t, uint64_t step)
{
    return lawn_store_reserve(t->store, step * step * 100);
}

TEST(a_start_in_a_store_without_memory_changes_nothing)
{
    check_scarcity(start_another, how_many(500, 500, 300));
    check_scarcity(start_the_same, 100);
}

TEST(an_update_in_a_store_without_memory_changes_nothing)
{
    check_scarcity(update_the_same, 100);
}

TEST(a_reservation_in_a_store_without_memory_changes_nothing)
{
    check_scarcity(reserve_more, 20);
}

/* With no memory available: stop, touch, mow, pop, get, iterate and clear. */
TEST(a_store_without_memory_still_does_what_cannot_fail)
{
    struct trial t;
    uint64_t cursor = 0;
    uint64_t n = 5000;

    trial_begin(&t, NULL);
    for (uint64_t i = 0; i < n; i++) {
        CHECK_EQ(put_number(&t, i, 10 + i % 50), 0);
    }
    t.ledger.refuse = 0;
    t.ledger.for_good = true;
    for (uint64_t i = 0; i < n; i += 2) {
        CHECK(drop_number(&t, i));
    }
    for (uint64_t i = 1; i < n; i += 2) {
        CHECK(lawn_store_touch(t.store, &i, sizeof(i), 20));
    }
    struct lawn_store_timer out;
    CHECK(lawn_store_iterate(t.store, &cursor, &out));
    CHECK(lawn_store_pop(t.store, 20, &out));
    CHECK_EQ(trial_mow_some(&t, 20, 500), 500);
    CHECK_EQ(lawn_store_count(t.store), n / 2 - 501);
    lawn_store_clear(t.store);
    CHECK_EQ(lawn_store_count(t.store), 0);
    trial_end(&t);
}

/* Refuses each request of lawn_store_new() in turn. */
TEST(a_store_that_gets_no_memory_is_not_made)
{
    struct lawn_store_options options = {.lawn.blades = 8, .lawn.slot_bits = 4};
    struct trial t;

    trial_begin(&t, &options); /* counts the requests */
    struct trial other;
    for (size_t k = 0; k < t.ledger.requests; k++) {
        trial_begin(&other, &options);
        lawn_store_free(other.store);
        other.ledger.refuse = k;
        other.ledger.for_good = true;
        options.lawn.alloc = trial_alloc;
        options.lawn.release = trial_release;
        options.lawn.context = &other.ledger;
        errno = 0;
        struct lawn_store *store = lawn_store_new(&options);
        CHECK(store == NULL);
        CHECK_EQ(errno, ENOMEM);
        CHECK_EQ(other.ledger.blocks, 0);
    }
    trial_end(&t);
}

/* The limit applies from the beginning. */
TEST(a_store_that_is_larger_than_its_limit_takes_no_timer)
{
    struct lawn_store_options options = {.max_bytes = 1};
    struct lawn_store *store = lawn_store_new(&options);

    if (store != NULL) {
        CHECK_EQ(lawn_store_start(store, "a", 1, 10, "", 0, 0), -ENOSPC);
        CHECK_EQ(lawn_store_count(store), 0);
        lawn_store_free(store);
    }
}
