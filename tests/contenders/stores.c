/* stores.c - the store of this tree works as the benchmark expects; broken ones
 * are detected. */
#include "common.h"
#include "store_agree.h"
#include "stores/all.h"

#include <stdlib.h>
#include <string.h>

#define SEEDS 3u

static const struct store *const ours = &lawn_store_contender;

TEST(our_store_agrees_with_the_oracle)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        CHECK(store_agree_check(ours, seed, stdout));
    }
}

/* Broken stores: ours with modified functions. Only one runs at a time, so
 * static variables suffice. */
static unsigned calls;
static store_fire_fn *true_fire;
static void *true_arg;

static bool
start_and_lose_some(void *self, const void *id, uint64_t ttl,
                    const void *payload)
{
    return ++calls % 1000 == 0 || ours->start(self, id, ttl, payload);
}

static bool
start_a_tick_late(void *self, const void *id, uint64_t ttl, const void *payload)
{
    return ours->start(self, id, ttl + 1, payload);
}

static bool
start_and_keep_the_payload(void *self, const void *id, uint64_t ttl,
                           const void *payload)
{
    return ours->touch(self, id, ttl) || ours->start(self, id, ttl, payload);
}

static bool
start_and_fail(void *self, const void *id, uint64_t ttl, const void *payload)
{
    return ++calls % 1000 != 0 && ours->start(self, id, ttl, payload);
}

static bool
stop_and_boast(void *self, const void *id)
{
    (void)ours->stop(self, id);
    return true;
}

static bool
stop_and_forget_some(void *self, const void *id)
{
    struct store_timer timer;

    return ++calls % 100 == 0 ? ours->get(self, id, &timer)
                              : ours->stop(self, id);
}

static bool
get_and_miss_some(void *self, const void *id, struct store_timer *out)
{
    return ++calls % 100 != 0 && ours->get(self, id, out);
}

static bool
get_another_id(void *self, const void *id, struct store_timer *out)
{
    bool is = ours->get(self, id, out);

    out->id = out->payload;
    return is;
}

static bool
touch_and_do_nothing(void *self, const void *id, uint64_t ttl)
{
    (void)ttl;
    struct store_timer timer;
    return ours->get(self, id, &timer);
}

static void
fire_twice(const struct store_timer *timer, void *arg)
{
    (void)arg;
    true_fire(timer, true_arg);
    if (++calls % 100 == 0) {
        true_fire(timer, true_arg);
    }
}

static size_t
mow_and_fire_twice(void *self, uint64_t now, size_t budget, store_fire_fn *fire,
                   void *arg)
{
    true_fire = fire;
    true_arg = arg;
    return ours->mow(self, now, budget, fire_twice, NULL);
}

static size_t
mow_ahead(void *self, uint64_t now, size_t budget, store_fire_fn *fire,
          void *arg)
{
    return ours->mow(self, now + 1, budget, fire, arg);
}

static size_t
mow_less(void *self, uint64_t now, size_t budget, store_fire_fn *fire,
         void *arg)
{
    return ours->mow(self, now, budget > 5 ? 5 : budget, fire, arg);
}

static size_t
mow_without_end(void *self, uint64_t now, size_t budget, store_fire_fn *fire,
                void *arg)
{
    (void)budget;
    return ours->mow(self, now, SIZE_MAX, fire, arg);
}

static size_t
mow_and_miscount(void *self, uint64_t now, size_t budget, store_fire_fn *fire,
                 void *arg)
{
    return ours->mow(self, now, budget, fire, arg) / 2;
}

/* Two timers are held back and reported in the wrong order. */
static unsigned char held_bytes[STORE_ID + STORE_PAYLOAD];
static struct store_timer held;

static void
fire_in_pairs(const struct store_timer *timer, void *arg)
{
    (void)arg;
    if (held.id != NULL && held.deadline < timer->deadline) {
        true_fire(timer, true_arg);
        timer = &held;
    } else if (held.id == NULL) {
        memcpy(held_bytes, timer->id, STORE_ID);
        memcpy(held_bytes + STORE_ID, timer->payload, STORE_PAYLOAD);
        held.id = held_bytes;
        held.payload = held_bytes + STORE_ID;
        held.deadline = timer->deadline;
        return;
    }
    true_fire(timer, true_arg);
    if (timer == &held) {
        held.id = NULL;
    }
}

static size_t
mow_in_disorder(void *self, uint64_t now, size_t budget, store_fire_fn *fire,
                void *arg)
{
    true_fire = fire;
    true_arg = arg;
    held.id = NULL;
    size_t fired = ours->mow(self, now, budget, fire_in_pairs, NULL);
    if (held.id != NULL) {
        fire(&held, arg);
    }
    return fired;
}

static uint64_t
count_one_more(void *self)
{
    return ours->count(self) + 1;
}

/* Returns whether the check rejects a broken store with this message. */
static bool
is_refused(const struct store *broken, const char *words)
{
    char *said = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&said, &size);

    CHECK(out != NULL);
    calls = 0;
    bool refused = !store_agree_check(broken, 1, out);
    CHECK(fclose(out) == 0);
    if (refused) {
        refused = strstr(said, "lawn-bench: broken disagrees (seed 1, step ") ==
                      said &&
                  strstr(said, words) != NULL;
        if (!refused) {
            printf("  printed: %s", said);
        }
    }
    free(said);
    return refused;
}

static struct store
like_ours(void)
{
    struct store broken = *ours;

    broken.face.name = "broken";
    return broken;
}

TEST(a_store_whose_starts_are_wrong_is_refused)
{
    struct store broken = like_ours();

    broken.start = start_and_lose_some;
    CHECK(is_refused(&broken, ""));
    broken.start = start_a_tick_late;
    CHECK(is_refused(&broken, ""));
    broken.start = start_and_keep_the_payload;
    CHECK(is_refused(&broken, "has another payload"));
    broken.start = start_and_fail;
    CHECK(is_refused(&broken, "failed"));
}

TEST(a_store_whose_stops_are_wrong_is_refused)
{
    struct store broken = like_ours();

    broken.stop = stop_and_boast;
    CHECK(is_refused(&broken, "returned true, but it is idle"));
    broken.stop = stop_and_forget_some;
    CHECK(is_refused(&broken, ""));
}

TEST(a_store_whose_lookups_and_touches_are_wrong_is_refused)
{
    struct store broken = like_ours();

    broken.get = get_and_miss_some;
    CHECK(is_refused(&broken, "returned false, but it is running"));
    broken.get = get_another_id;
    CHECK(is_refused(&broken, "has another id"));
    broken = like_ours();
    broken.touch = touch_and_do_nothing;
    CHECK(is_refused(&broken, "has the deadline"));
    broken = like_ours();
    broken.count = count_one_more;
    CHECK(is_refused(&broken, "count() is"));
}

TEST(a_store_that_fires_the_wrong_timers_is_refused)
{
    struct store broken = like_ours();

    broken.mow = mow_and_fire_twice;
    CHECK(is_refused(&broken, "but it is idle"));
    broken.mow = mow_ahead;
    CHECK(is_refused(&broken, ""));
    broken.mow = mow_less;
    CHECK(is_refused(&broken, "did not fire"));
    broken.mow = mow_without_end;
    CHECK(is_refused(&broken, "with a budget of"));
    broken.mow = mow_and_miscount;
    CHECK(is_refused(&broken, "mow with a budget"));
    broken.mow = mow_in_disorder;
    CHECK(is_refused(&broken, "after one with a later deadline"));
}

/* A store without timers is checked for everything else. */
TEST(a_table_without_timers_is_checked_too)
{
    struct store broken = like_ours();

    broken.touch = NULL;
    broken.mow = NULL;
    CHECK(store_agree_check(&broken, 1, stdout));
    broken.stop = stop_and_forget_some;
    CHECK(is_refused(&broken, ""));
}

static void
nothing(const struct store_timer *timer, void *arg)
{
    (void)timer;
    (void)arg;
}

/* Small blocks come from malloc(), which fails; running timers continue. */
TEST(a_store_without_memory_fails_to_start_and_loses_nothing)
{
    struct contender_setup setup = {0};
    unsigned char payload[STORE_PAYLOAD] = {0};
    uint64_t id[2] = {0, 0};
    void *self = NULL;

    for (long allowed = 0; allowed < 8 && self == NULL; allowed++) {
        requests_left = allowed;
        self = ours->face.make(&setup);
        CHECK(self == NULL || allowed > 0);
    }
    requests_left = 0;
    CHECK(self != NULL);
    while (id[0] < 100000 && ours->start(self, id, 10, payload)) {
        id[0]++;
    }
    requests_left = -1;
    CHECK_EQ(ours->count(self), id[0]);
    CHECK_EQ(ours->mow(self, 10, SIZE_MAX, nothing, NULL), id[0]);
    ours->face.free(self);
}

TEST(every_store_has_a_name_of_its_own)
{
    size_t count = 0;
    const struct contender *const *all = contenders_of(PART_STORES, &count);

    CHECK(count >= 1 && all[0] == &ours->face);
    for (size_t i = 0; i < count; i++) {
        CHECK(all[i]->abi == CONTENDER_ABI);
        CHECK(all[i]->flags & CONTENDER_STORE);
        CHECK(strlen(all[i]->title) <= 20 && strlen(all[i]->about) <= 160);
        CHECK_EQ(contenders_count_lines(all[i]), 0);
        for (size_t k = 0; k < i; k++) {
            CHECK(strcmp(all[i]->name, all[k]->name) != 0);
        }
    }
}
