/* crews.c - the crews of this tree work as the benchmark expects; broken ones
 * are detected. */
#include "common.h"
#include "crew_agree.h"
#include "crews/all.h"

#include <stdlib.h>
#include <string.h>

#define SEEDS 3u

static const struct crew *const ours[] = {
    &lawn_crew, &mutex_crew, &adaptive_crew, &shards_crew, &alone_crew};

TEST(our_crews_do_what_they_are_asked_for)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
            CHECK(crew_agree_check(ours[i], seed, stdout));
        }
    }
}

/* Broken crews: lawns behind mutexes with modified functions. */
static const struct crew *const whole = &shards_crew;
static unsigned calls;

/* Every hundredth call fails, counted over all threads. */
static bool
now_and_then(void)
{
    return __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 100 == 0;
}

static void
start_and_lose_some(void *worker, struct object *object, uint64_t ttl)
{
    if (!now_and_then()) {
        whole->start(worker, object, ttl);
    }
}

static void
start_on_and_lose_some(void *self, unsigned number, struct object *object,
                       uint64_t ttl)
{
    if (!now_and_then()) {
        whole->start_on(self, number, object, ttl);
    }
}

/* Some timers are an hour early, which is noticed on any machine. */
static void
start_on_early(void *self, unsigned number, struct object *object, uint64_t ttl)
{
    (void)ttl;
    whole->start_on(self, number, object, 0);
}

static bool
stop_and_boast(void *worker, struct object *object)
{
    (void)whole->stop(worker, object);
    return true;
}

static enum crew_stop
stop_on_and_deny(void *self, unsigned number, struct object *object)
{
    (void)whole->stop_on(self, number, object);
    return CREW_ENDED;
}

static enum crew_stop
stop_on_later_and_forget(void *self, unsigned number, struct object *object)
{
    (void)whole->stop_on(self, number, object);
    return CREW_LATER;
}

static enum crew_stop
stop_on_and_do_nothing(void *self, unsigned number, struct object *object)
{
    (void)self;
    (void)number;
    (void)object;
    return CREW_LATER;
}

static uint64_t
left_and_miscount(void *self, contender_fire_fn *tell, void *arg)
{
    return whole->left(self, tell, arg) + 1;
}

static uint64_t
left_and_say_nothing(void *self, contender_fire_fn *tell, void *arg)
{
    (void)self;
    (void)tell;
    (void)arg;
    return 0;
}

/* Returns whether the check rejects it with a message that contains the
 * words. */
static bool
is_refused(const struct crew *broken, const char *words)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool agrees = crew_agree_check(broken, 1, out);

    fclose(out);
    bool says =
        strstr(text, "lawn-bench: shards disagrees (seed 1, in ") != NULL &&
        strstr(text, words) != NULL;
    if (agrees || !says) {
        printf("%s", text);
    }
    free(text);
    return !agrees && says;
}

TEST(a_crew_whose_starts_are_wrong_is_refused)
{
    struct crew broken = *whole;

    broken.start = start_and_lose_some;
    CHECK(is_refused(&broken, ""));
    broken = *whole;
    broken.start_on = start_on_and_lose_some;
    CHECK(is_refused(&broken, ""));
    broken.start_on = start_on_early;
    CHECK(is_refused(&broken, "fired early"));
}

TEST(a_crew_whose_stops_are_wrong_is_refused)
{
    struct crew broken = *whole;

    broken.stop = stop_and_boast;
    CHECK(is_refused(&broken, "returned the wrong result"));
    broken = *whole;
    broken.stop_on = stop_on_and_deny;
    CHECK(is_refused(&broken, "returned the wrong result"));
    broken.stop_on = stop_on_later_and_forget;
    CHECK(is_refused(&broken, "was not reported"));
    broken.stop_on = stop_on_and_do_nothing;
    CHECK(is_refused(&broken, "wrong timers are still running"));
}

TEST(a_crew_that_forgets_the_remaining_timers_is_refused)
{
    struct crew broken = *whole;

    broken.left = left_and_miscount;
    CHECK(is_refused(&broken, "returned the wrong result"));
    broken.left = left_and_say_nothing;
    CHECK(is_refused(&broken, "wrong timers are still running"));
}

TEST(every_crew_has_a_name_of_its_own)
{
    size_t count = 0;
    const struct contender *const *all = contenders_of(PART_CREWS, &count);

    CHECK(count >= 5 && all[0] == &lawn_crew.face);
    for (size_t i = 0; i < count; i++) {
        CHECK(all[i]->abi == CONTENDER_ABI);
        CHECK(all[i]->flags & CONTENDER_CREW);
        CHECK(strlen(all[i]->title) <= 21 && strlen(all[i]->about) <= 160);
        CHECK(all[i]->node <= 256);
        CHECK_EQ(contenders_count_lines(all[i]), 0);
        for (size_t k = 0; k < i; k++) {
            CHECK(strcmp(all[i]->name, all[k]->name) != 0);
        }
    }
}
