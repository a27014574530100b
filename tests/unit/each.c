/* each.c - visiting all timers, and moving them to another lawn with a visit.
 * The other lawn must fire them in the same order as the first one would have
 * [P4]. */
#include "common.h"

#include <stdlib.h>
#include <string.h>

#define VISITS_MAX 256u

struct visits {
    unsigned many;
    unsigned limit;
    unsigned id[VISITS_MAX];
    uint64_t ttl[VISITS_MAX];
};

static bool
note_visit(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    struct visits *visits = (struct visits *)arg;

    CHECK(lawn_pending(timer));
    CHECK(visits->many < VISITS_MAX);
    visits->id[visits->many] = LAWN_CONTAINER(timer, struct probe, timer)->id;
    visits->ttl[visits->many++] = ttl;
    return visits->many != visits->limit;
}

/* Checks that exactly these timers were visited, in this order. */
static void
check_visits(const struct visits *visits, const unsigned *ids,
             const uint64_t *ttls, unsigned count)
{
    CHECK_EQ(visits->many, count);
    for (unsigned i = 0; i < count; i++) {
        CHECK_EQ(visits->id[i], ids[i]);
        CHECK_EQ(visits->ttl[i], ttls[i]);
    }
}

TEST(a_visit_of_an_empty_lawn_visits_nothing)
{
    struct visits visits = {0};
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, 300);
    start(&s, 1, LAWN_NEVER);
    CHECK(stop(&s, 0) && stop(&s, 1));
    CHECK(lawn_each(s.lawn, note_visit, &visits));
    CHECK_EQ(visits.many, 0);
    scene_end(&s);
}

/* P4: unqueued timers fire first, then those on blades. Timer 3 is unqueued
 * because it is due before timer 2, which has its TTL and was rounded up. */
static void
fill_all_places(struct scene *s)
{
    start(s, 0, 300);
    start(s, 1, 300);
    lawn_set_resolution(s->lawn, 7);
    start(s, 2, 300);
    lawn_set_resolution(s->lawn, 1);
    start(s, 3, 300);
    start(s, 4, LAWN_NEVER);
    lawn_start_as(s->lawn, &s->probe[5].timer, 0, 301);
    s->probe[5].due = 301;
    start(s, 6, 294);
}

TEST(unqueued_timers_are_visited_first_then_those_on_blades)
{
    struct visits visits = {0};
    struct scene s;

    scene_begin(&s, BLADES);
    fill_all_places(&s);
    CHECK(lawn_each(s.lawn, note_visit, &visits));
    CHECK_EQ(visits.many, 7);
    uint64_t ttls[PROBES] = {300, 300, 300, 0, 0, 0, 294};
    for (unsigned i = 0; i < 7; i++) {
        CHECK_EQ(visits.ttl[i] == 0, i < 3);
        CHECK_EQ(visits.ttl[i], ttls[visits.id[i]]);
        ttls[visits.id[i]] = 1; /* once each */
        if (visits.id[i] == 0) {
            CHECK_EQ(visits.id[i + 1], 1);
            CHECK_EQ(visits.id[i + 2], 2);
        }
    }
    CHECK_EQ(mow(&s, LAST), 7);
    scene_end(&s);
}

/* Wherever the last timer is linked. */
TEST(a_visit_ends_where_it_is_asked_to)
{
    struct scene s;

    scene_begin(&s, BLADES);
    fill_all_places(&s);
    for (unsigned limit = 1; limit <= 7; limit++) {
        struct visits visits = {.limit = limit};

        CHECK(!lawn_each(s.lawn, note_visit, &visits));
        CHECK_EQ(visits.many, limit);
    }
    scene_end(&s);
}

static void
visit_in_callback(struct scene *s, struct probe *probe)
{
    struct visits visits = {0};

    CHECK(lawn_each(s->lawn, note_visit, &visits));
    CHECK_EQ(visits.many, lawn_count(s->lawn));
    for (unsigned i = 0; i < visits.many; i++) {
        CHECK(visits.id[i] != probe->id);
    }
    if (probe->id == 3) {
        start(s, 3, 300);
    }
}

/* P6 */
TEST(a_callback_may_visit_all_timers_and_is_not_among_them)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        s.act = visit_in_callback;
        for (unsigned id = 0; id < 40; id++) {
            start(&s, id, 300 + id % 4);
        }
        CHECK_EQ(mow_some(&s, 301, 15), 15);
        CHECK_EQ(mow(&s, 400), 25);
        CHECK_EQ(running(&s), 1);
        scene_end(&s);
    }
}

/* P9: a mow at the last tick brings its timers into the index. */
TEST(timers_of_the_last_tick_are_visited_in_the_order_in_which_they_fire)
{
    struct visits visits = {0};
    struct scene s;

    scene_begin(&s, BLADES);
    for (unsigned id = 0; id < 4; id++) {
        start(&s, id, LAWN_NEVER);
    }
    CHECK_EQ(mow_some(&s, LAST, 2), 2);
    start(&s, 0, LAWN_NEVER);
    start(&s, 1, 300);
    CHECK(lawn_each(s.lawn, note_visit, &visits));
    check_visits(&visits, (const unsigned[]){2, 3, 0, 1},
                 (const uint64_t[]){0, 0, 0, 0}, 4);
    CHECK_EQ(mow(&s, LAST), 4);
    CHECK_FIRED(&s, 0, 1, 2, 3, 0, 1);
    scene_end(&s);
}

/* Moving timers to another lawn. */

/* A timer and its copy on the other lawn. */
struct twin {
    struct lawn_timer timer[2];
    uint64_t ttl;
    uint64_t due;
    size_t place[2]; /* in the order of firing */
};

struct twins {
    struct lawn *lawn[2];
    struct twin *all;
    size_t many;
    size_t fired[2];
    uint64_t last;
    uint64_t seed;
};

/* The properties of the first lawn. Its TTLs are multiples of grain. */
struct kind {
    struct lawn_options options;
    size_t many;
    uint64_t ttls;
    uint64_t grain;
    unsigned pace;    /* starts per tick */
    unsigned changes; /* one change of resolution per n starts; 0: none */
    bool tidy;        /* all timers fit on blades */
    bool striped;     /* with the default thresholds of the tuning */
    bool overdue;     /* the budgets are too small */
};

static void
fire_first(struct lawn_timer *timer, void *arg)
{
    struct twins *twins = (struct twins *)arg;
    struct twin *twin = LAWN_CONTAINER(timer, struct twin, timer[0]);

    CHECK_EQ(lawn_last_deadline(timer), twin->due);
    twin->place[0] = ++twins->fired[0];
}

static void
fire_second(struct lawn_timer *timer, void *arg)
{
    struct twins *twins = (struct twins *)arg;
    struct twin *twin = LAWN_CONTAINER(timer, struct twin, timer[1]);

    CHECK_EQ(lawn_last_deadline(timer), twin->due); /* P1 */
    CHECK(twin->due >= twins->last);                /* P4 */
    twins->last = twin->due;
    twin->place[1] = ++twins->fired[1];
}

static bool
move_one(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    struct twins *twins = (struct twins *)arg;
    struct twin *twin = LAWN_CONTAINER(timer, struct twin, timer[0]);

    CHECK(ttl == 0 || ttl == twin->ttl);
    CHECK(!lawn_pending(&twin->timer[1]));
    lawn_start_as(twins->lawn[1], &twin->timer[1], ttl, lawn_deadline(timer));
    CHECK_EQ(lawn_deadline(&twin->timer[1]), twin->due);
    return true;
}

static void
start_twin(struct twins *twins, size_t i, uint64_t ttl, unsigned lawns)
{
    struct twin *twin = &twins->all[i];

    twin->ttl = ttl;
    for (unsigned n = 0; n < lawns; n++) {
        lawn_start(twins->lawn[n], &twin->timer[n], ttl);
        twin->due = lawn_deadline(&twin->timer[n]);
    }
}

static uint64_t
any_ttl(struct twins *twins, const struct kind *kind)
{
    return (1 + chance(&twins->seed) % kind->ttls) * kind->grain;
}

static void
begin_twins(struct twins *twins, const struct kind *kind, uint64_t seed)
{
    memset(twins, 0, sizeof(*twins));
    twins->seed = seed;
    twins->many = kind->many;
    twins->all = calloc(kind->many, sizeof(*twins->all));
    twins->lawn[0] = lawn_new(&kind->options);
    CHECK(twins->all != NULL && twins->lawn[0] != NULL);
    for (unsigned start = 0; start < 2 * kind->many; start++) {
        size_t i = chance(&twins->seed) % kind->many;
        uint64_t dice = chance(&twins->seed) % 16;

        if (dice == 0) {
            (void)lawn_stop(twins->lawn[0], &twins->all[i].timer[0]);
        } else {
            start_twin(twins, i, any_ttl(twins, kind), 1);
        }
        if (start % kind->pace == 0) {
            (void)lawn_mow(twins->lawn[0], lawn_now(twins->lawn[0]) + 1,
                           kind->overdue ? dice % 3 : SIZE_MAX, fire_first,
                           twins);
        }
        if (kind->changes != 0 && start % kind->changes == 1) {
            lawn_set_resolution(twins->lawn[0], 1 + dice);
        }
    }
}

static void
end_twins(struct twins *twins)
{
    lawn_free(twins->lawn[0]);
    lawn_free(twins->lawn[1]);
    free(twins->all);
}

/* Moves all timers to a second lawn of the given size, with the same time. */
static void
move_twins(struct twins *twins, size_t blades, unsigned slot_bits,
           uint64_t resolution)
{
    uint64_t now = lawn_now(twins->lawn[0]);
    uint64_t next = lawn_next(twins->lawn[0]);
    struct lawn_options options = {.blades = blades,
                                   .slot_bits = slot_bits,
                                   .resolution = resolution,
                                   .now = next < now ? next : now};

    twins->lawn[1] = lawn_new(&options);
    CHECK(twins->lawn[1] != NULL);
    lawn_set_now(twins->lawn[1], now);
    CHECK(lawn_each(twins->lawn[0], move_one, twins));
    CHECK_EQ(lawn_count(twins->lawn[1]), lawn_count(twins->lawn[0]));
    CHECK(lawn_check(twins->lawn[1], stdout));
    CHECK_EQ(lawn_next(twins->lawn[1]), next); /* P2 */
}

/* Orders by deadline and TTL: P4 promises no order among the rest. */
static int
by_what_is_promised(const struct twin *a, const struct twin *b, unsigned n)
{
    if (a->due != b->due) {
        return a->due < b->due ? -1 : 1;
    }
    if (a->ttl != b->ttl) {
        return a->ttl < b->ttl ? -1 : 1;
    }
    return a->place[n] < b->place[n] ? -1 : a->place[n] > b->place[n];
}

static int
by_first(const void *a, const void *b)
{
    return by_what_is_promised((const struct twin *)a, (const struct twin *)b,
                               0);
}

/* Starts some more timers of the same TTLs on both lawns, then fires all. */
static void
compare_twins(struct twins *twins, const struct kind *kind)
{
    uint64_t now = lawn_now(twins->lawn[0]);
    size_t fired = twins->fired[0];

    for (size_t i = 0; i < twins->many / 2; i++) {
        size_t which = chance(&twins->seed) % twins->many;

        if (!lawn_pending(&twins->all[which].timer[0])) {
            start_twin(twins, which, any_ttl(twins, kind), 2);
        }
        if (i % kind->pace == kind->pace / 2) {
            now++;
            lawn_set_now(twins->lawn[0], now);
            lawn_set_now(twins->lawn[1], now);
        }
    }
    for (size_t i = 0; i < twins->many; i++) {
        twins->all[i].place[0] = 0;
    }
    (void)lawn_mow(twins->lawn[1], now, 3, fire_second, twins);
    CHECK(lawn_check(twins->lawn[1], stdout));
    (void)lawn_mow(twins->lawn[0], LAST, SIZE_MAX, fire_first, twins);
    (void)lawn_mow(twins->lawn[1], LAST, SIZE_MAX, fire_second, twins);
    CHECK_EQ(twins->fired[1], twins->fired[0] - fired);
    qsort(twins->all, twins->many, sizeof(*twins->all), by_first);
    for (size_t i = 0; i < twins->many; i++) {
        const struct twin *twin = &twins->all[i];

        CHECK_EQ(twin->place[0] != 0, twin->place[1] != 0); /* P3 */
        if (i > 0) {
            CHECK(twin->place[1] == 0 ||
                  by_what_is_promised(twin - 1, twin, 1) < 0);
        }
    }
}

static uint64_t
live_blades(const struct lawn *lawn)
{
    struct lawn_counters stats;

    lawn_stats(lawn, &stats);
    return stats.live_blades;
}

/* Empties one blade of each TTL; the blade keeps its TTL. */
static void
stop_a_stripe(struct twins *twins)
{
    for (size_t i = 0; i < twins->many; i++) {
        if (twins->all[i].due % 8 == 3) {
            (void)lawn_stop(twins->lawn[0], &twins->all[i].timer[0]);
        }
    }
}

static void
move_and_compare(const struct kind *kind, unsigned rounds)
{
    static const unsigned bits[] = {7, 4, 6};
    struct twins twins;

    for (unsigned round = 0; round < rounds; round++) {
        begin_twins(&twins, kind, 77 + round);
#if !defined LAWN_TUNING_PERIOD
        CHECK(!kind->striped || live_blades(twins.lawn[0]) > 2 * kind->ttls);
#endif
        if (kind->striped) {
            stop_a_stripe(&twins);
        }
        CHECK_EQ(lawn_next(twins.lawn[0]) < lawn_now(twins.lawn[0]),
                 kind->overdue);
        size_t blades = kind->options.blades != 0 ? kind->options.blades : 1024;

        /* In turn to a lawn that begins without blades. */
        blades = round % 2 == 0 ? 0 : blades;
        move_twins(&twins, blades, bits[round % COUNT(bits)],
                   kind->options.resolution);
        if (kind->tidy && blades != 0) {
            CHECK_EQ(lawn_count_unqueued(twins.lawn[1]),
                     lawn_count_unqueued(twins.lawn[0]));
            CHECK(live_blades(twins.lawn[1]) <= kind->ttls);
        }
        compare_twins(&twins, kind);
        end_twins(&twins);
    }
}

TEST(a_moved_lawn_of_few_ttls_fires_in_the_order_of_the_first)
{
    static const struct kind kind = {
        .many = 2000, .ttls = 5, .grain = 60, .pace = 8, .tidy = true};

    move_and_compare(&kind, 12);
}

TEST(a_moved_lawn_of_more_ttls_than_blades_fires_in_the_order_of_the_first)
{
    static const struct kind kind = {.options = {.blades = 8},
                                     .many = 2000,
                                     .ttls = 200,
                                     .grain = 1,
                                     .pace = 50};

    move_and_compare(&kind, 12);
}

TEST(a_moved_lawn_of_coarse_resolution_fires_in_the_order_of_the_first)
{
    static const struct kind kind = {.options = {.resolution = 16},
                                     .many = 2000,
                                     .ttls = 9,
                                     .grain = 23,
                                     .pace = 8,
                                     .tidy = true};

    move_and_compare(&kind, 12);
}

/* The second lawn never gets the resolutions that the first one had. */
TEST(a_moved_lawn_that_has_changed_its_resolution_keeps_every_deadline)
{
    static const struct kind kind = {
        .many = 2000, .ttls = 9, .grain = 23, .pace = 8, .changes = 333};
    struct twins twins;

    begin_twins(&twins, &kind, 5);
    move_twins(&twins, 0, 0, 1);
    twins.last = 0;
    CHECK_EQ(lawn_mow(twins.lawn[1], LAST, SIZE_MAX, fire_second, &twins),
             lawn_count(twins.lawn[0]));
    end_twins(&twins);
}

TEST(a_moved_lawn_that_is_late_fires_in_the_order_of_the_first)
{
    static const struct kind kind = {.many = 2000,
                                     .ttls = 5,
                                     .grain = 60,
                                     .pace = 4,
                                     .overdue = true,
                                     .tidy = true};

    move_and_compare(&kind, 12);
}

/* P8: all stripes of a TTL fit on one blade if they are moved as one queue. */
TEST(a_moved_lawn_of_striped_blades_fires_in_order_and_needs_a_blade_per_ttl)
{
    static const struct kind kind = {.many = 100000,
                                     .ttls = 3,
                                     .grain = 2000,
                                     .pace = 100,
                                     .tidy = true,
                                     .striped = true};

    move_and_compare(&kind, 2);
}
