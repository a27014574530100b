/* schemes.c - properties of single contenders: memory, growth, far jumps. */
#include "common.h"

#include <string.h>

#define MANY 5000u
#define YEAR_NS UINT64_C(31556952000000000)

/* Starts timers with distinct TTLs until memory runs out. Returns the number of
 * running timers. */
static uint32_t
start_until_it_fails(struct stage *s)
{
    uint32_t i = 0;

    for (i = 0; i < MANY; i++) {
        stage_start(s, i, 100 + i);
        if (stage_failed(s)) {
            break;
        }
    }
    return i;
}

TEST(a_start_without_memory_changes_nothing)
{
    static const struct contender *const frail[] = {
        &heap2_contender, &heap4_contender, &growing_contender,
        &paper_contender, &heads_contender, NULL,
    };

    for (size_t k = 0; frail[k] != NULL; k++) {
        for (long allowed = 0; allowed < 5; allowed++) {
            struct stage s;

            stage_begin(&s, frail[k], MANY, 64);
            requests_left = allowed;
            uint32_t ran = start_until_it_fails(&s);
            CHECK(ran < MANY);
            CHECK(!stage_stop(&s, ran));
            /* A running timer keeps its deadline. */
            if (ran > 0 && frail[k] == &growing_contender) {
                stage_start(&s, 0, 1000000);
                CHECK_EQ(s.contender->next(s.self), 100);
            }
            requests_left = -1;
            CHECK_EQ(s.contender->next(s.self), ran > 0 ? 100 : UINT64_MAX);
            CHECK_EQ(stage_mow(&s, 99, SIZE_MAX), 0);
            CHECK_EQ(stage_mow(&s, 100 + MANY, SIZE_MAX), ran);
            /* With memory it works again. */
            stage_start(&s, ran, 7);
            CHECK_EQ(stage_mow(&s, s.now + 7, SIZE_MAX), 1);
            CHECK_EQ(s.last, ran);
            stage_end(&s);
        }
    }
}

TEST(a_restart_without_memory_leaves_the_timer_running_as_it_was)
{
    static const struct contender *const frail[] = {
        &growing_contender, &paper_contender, &heads_contender, NULL};

    for (size_t k = 0; frail[k] != NULL; k++) {
        struct stage s;

        stage_begin(&s, frail[k], 1, 1);
        stage_start(&s, 0, 10);
        requests_left = 0;
        stage_start(&s, 0, 1000);
        requests_left = -1;
        CHECK(stage_failed(&s));
        CHECK_EQ(s.contender->next(s.self), 10);
        CHECK_EQ(stage_mow(&s, 10, SIZE_MAX), 1);
        stage_end(&s);
    }
}

TEST(a_contender_for_which_there_is_no_memory_is_not_made)
{
    struct contender_setup setup = {0};

    setup.objects = 10;
    for (size_t i = 0; exact[i] != NULL; i++) {
        void *self = NULL;

        for (long allowed = 0; allowed < 5 && self == NULL; allowed++) {
            requests_left = allowed;
            self = exact[i]->make(&setup);
            CHECK(self == NULL || allowed > 0);
        }
        requests_left = -1;
        CHECK(self != NULL);
        exact[i]->free(self);
    }
}

TEST(a_calendar_without_memory_for_more_days_keeps_those_it_has)
{
    struct stage s;

    stage_begin(&s, &calendar_contender, MANY, MANY);
    requests_left = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        stage_start(&s, i, 1 + i % 100);
    }
    requests_left = -1;
    CHECK_EQ(stage_mow(&s, 100, SIZE_MAX), MANY);
    stage_end(&s);
}

TEST(contenders_hold_more_timers_than_they_were_asked_to_expect)
{
    for (size_t k = 0; exact[k] != NULL; k++) {
        struct stage s;

        stage_begin(&s, exact[k], MANY, 10);
        for (uint32_t i = 0; i < MANY; i++) {
            stage_start(&s, i, 1 + i * 7919 % MANY);
        }
        for (uint32_t i = 0; i < MANY; i += 2) {
            CHECK(stage_stop(&s, i));
        }
        for (uint32_t i = 1; i <= MANY; i++) {
            (void)stage_mow(&s, i, SIZE_MAX);
        }
        CHECK_EQ(s.fired, MANY / 2);
        CHECK_EQ(s.contender->next(s.self), UINT64_MAX);
        CHECK(!stage_failed(&s));
        stage_end(&s);
    }
}

TEST(a_budget_is_heeded_and_the_rest_fires_first_in_the_next_mow)
{
    for (size_t k = 0; exact[k] != NULL; k++) {

        CHECK(exact[k]->flags & CONTENDER_BUDGET);
        struct stage s;
        stage_begin(&s, exact[k], 100, 100);
        for (uint32_t i = 0; i < 100; i++) {
            stage_start(&s, i, 50);
        }
        CHECK_EQ(stage_mow(&s, 49, 10), 0);
        CHECK_EQ(stage_mow(&s, 50, 0), 0);
        for (uint32_t i = 0; i < 10; i++) {
            CHECK_EQ(stage_mow(&s, 50 + i, 10), 10);
            CHECK_EQ(s.contender->next(s.self), i < 9 ? 50 : UINT64_MAX);
        }
        CHECK_EQ(stage_mow(&s, 100, 10), 0);
        stage_end(&s);
    }
}

/* With a step for each tick this would take forever. */
TEST(years_that_pass_at_once_cost_no_more_than_the_slots)
{
    for (size_t k = 0; exact[k] != NULL; k++) {
        struct stage s;

        stage_begin(&s, exact[k], 3, 100);
        for (unsigned year = 1; year <= 200; year++) {
            stage_start(&s, 0, 1);
            stage_start(&s, 1, 300);
            stage_start(&s, 2, 5000);
            CHECK_EQ(stage_mow(&s, year * YEAR_NS, SIZE_MAX), 3);
            CHECK_EQ(s.contender->next(s.self), UINT64_MAX);
        }
        stage_end(&s);
    }
}

TEST(far_deadlines_are_kept_and_do_not_wrap)
{
    for (size_t k = 0; exact[k] != NULL; k++) {
        if (exact[k] == &growing_contender) {
            continue; /* not enough memory for that */
        }
        struct stage s;
        stage_begin(&s, exact[k], 4, 4);
        CHECK_EQ(stage_mow(&s, 1000, SIZE_MAX), 0);
        stage_start(&s, 0, UINT64_MAX);
        CHECK_EQ(s.contender->next(s.self), UINT64_MAX - 1);
        stage_start(&s, 1, UINT64_C(1) << 62);
        stage_start(&s, 2, YEAR_NS);
        stage_start(&s, 3, 1);
        CHECK_EQ(stage_mow(&s, 1000, SIZE_MAX), 0);
        CHECK_EQ(stage_mow(&s, 1001, SIZE_MAX), 1);
        CHECK_EQ(stage_mow(&s, 1000 + YEAR_NS - 1, SIZE_MAX), 0);
        CHECK_EQ(stage_mow(&s, 1000 + YEAR_NS, SIZE_MAX), 1);
        CHECK_EQ(stage_mow(&s, 999 + (UINT64_C(1) << 62), SIZE_MAX), 0);
        CHECK_EQ(stage_mow(&s, 1000 + (UINT64_C(1) << 62), SIZE_MAX), 1);
        CHECK_EQ(s.last, 1);
        CHECK_EQ(s.contender->next(s.self), UINT64_MAX - 1);
        CHECK(stage_stop(&s, 0));
        stage_end(&s);
    }
}

TEST(a_growing_wheel_has_no_memory_for_a_far_ttl)
{
    struct stage s;

    stage_begin(&s, &growing_contender, 2, 2);
    stage_start(&s, 0, 100000);
    CHECK(!stage_failed(&s));
    stage_start(&s, 1, UINT64_C(1) << 40);
    CHECK(stage_failed(&s));
    CHECK_EQ(s.contender->next(s.self), 100000);
    CHECK(!stage_stop(&s, 1));
    CHECK_EQ(stage_mow(&s, 100000, SIZE_MAX), 1);
    stage_end(&s);
}

TEST(the_floor_fires_in_order_and_never_holds_more_than_its_ring)
{
    struct stage s;

    stage_begin(&s, &floor_contender, 64, 64);
    for (uint32_t i = 0; i < 64; i++) {
        stage_start(&s, i, 10);
    }
    CHECK_EQ(s.contender->next(s.self), 10);
    CHECK_EQ(stage_mow(&s, 9, SIZE_MAX), 0);
    CHECK(stage_stop(&s, 5));
    CHECK_EQ(stage_mow(&s, 10, 3), 3);
    CHECK_EQ(s.last, 2);
    CHECK_EQ(stage_mow(&s, 10, SIZE_MAX), 61);
    CHECK_EQ(s.last, 63);
    for (uint32_t i = 0; i < 1000; i++) {
        stage_start(&s, i % 64, 10);
    }
    CHECK_EQ(stage_mow(&s, 20, SIZE_MAX), 64);
    CHECK_EQ(s.contender->next(s.self), UINT64_MAX);
    stage_end(&s);
}

TEST(every_contender_has_a_name_of_its_own_and_is_found_by_it)
{
    size_t count = 0;
    const struct contender *const *all = contenders_of(PART_TIMERS, &count);

    CHECK(count >= 12 && count <= CONTENDERS_MAX);
    CHECK(all[0] == &lawn_contender);
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(all[i]->abi, CONTENDER_ABI);
        CHECK(contenders_find(all[i]->name) == all[i]);
        CHECK(strlen(all[i]->title) <= 20 && strlen(all[i]->about) <= 160);
    }
    CHECK(contenders_find("unknown") == NULL);
    CHECK(contenders_list_missing(&count) != NULL);
}

TEST(the_lines_of_the_contenders_of_this_tree_are_known)
{
    for (size_t i = 0; exact[i] != NULL; i++) {
        CHECK(contenders_count_lines(exact[i]) > 50);
        CHECK(contenders_count_lines(exact[i]) < 5000);
    }
    CHECK(contenders_count_lines(&floor_contender) > 50);
}
