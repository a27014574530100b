/* check.c - lawn_check() reports each broken invariant of internal.h. The tests
 * break a valid lawn on purpose through its internal structures. */
#include "common.h"
#include "internal.h"

#include <stdio.h>
#include <string.h>

typedef void break_fn(struct scene *s);

/* Returns the blade whose head is this probe. */
static struct lawn_blade *
blade_of(struct scene *s, unsigned id)
{
    struct lawn_blade *all = s->lawn->blades.all;

    for (size_t i = 0; i < s->lawn->blades.count; i++) {
        if (all[i].queue.next == &s->probe[id].timer.link) {
            return &all[i];
        }
    }
    kit_fail(__FILE__, __LINE__, "timer %u heads no blade", id);
}

static void
break_order(struct scene *s)
{
    s->probe[0].timer.deadline = 400;
}

static void
break_limit(struct scene *s)
{
    s->probe[1].timer.deadline = 301;
}

static void
break_prev(struct scene *s)
{
    s->probe[1].timer.link.prev = NULL;
}

static void
break_next(struct scene *s)
{
    s->probe[1].timer.link.next = NULL;
}

static void
break_prev_at_the_last_tick(struct scene *s)
{
    lawn_set_now(s->lawn, LAST);
    start(s, 5, 1);
    s->probe[5].timer.link.prev = NULL;
}

static void
break_entry_links(struct scene *s)
{
    size_t number = (size_t)(blade_of(s, 0) - s->lawn->blades.all);

    s->lawn->index.entry[number].prev = 7;
}

static void
break_entry(struct scene *s)
{
    blade_of(s, 0)->indexed_at = 301;
}

static void
break_entry_of_empty(struct scene *s)
{
    struct lawn_blade *blade = s->lawn->blades.all;

    while (blade->indexed_at != LAWN_NEVER) {
        blade++;
    }
    blade->indexed_at = 5;
}

static void
break_entry_count(struct scene *s)
{
    s->lawn->index.count++;
}

static void
break_entry_slot(struct scene *s)
{
    blade_of(s, 0)->indexed_at = 10;
}

static void
break_entry_in_slot(struct scene *s)
{
    struct lawn_blade *blade = blade_of(s, 2);

    CHECK(stop(s, 2));
    blade->indexed_at = LAWN_NEVER;
}

static void
break_base(struct scene *s)
{
    lawn_set_now(s->lawn, 1000);
    s->lawn->index.base = 600;
}

static void
break_unqueued_slot(struct scene *s)
{
    s->probe[2].timer.deadline += 70000;
}

/* Moves a timer to another list of the same slot. */
static void
break_unqueued_list(struct scene *s)
{
    struct lawn_timer *timer = &s->probe[2].timer;
    const struct lawn_index *index = &s->lawn->index;
    uint32_t slot = lawn__index_slot_of(index, timer->deadline);
    const struct lawn_link *list =
        lawn__index_list_of(index, slot, timer->deadline);

    while (lawn__index_list_of(index, slot, timer->deadline) == list) {
        timer->deadline++;
        CHECK_EQ(lawn__index_slot_of(index, timer->deadline), slot);
    }
}

/* Returns the slot of the index that the probe, or its blade's entry, is in. */
static uint32_t
slot_of(const struct scene *s, unsigned id)
{
    return lawn__index_slot_of(&s->lawn->index, s->probe[id].timer.deadline);
}

static void
break_marks(struct scene *s)
{
    struct lawn_index *index = &s->lawn->index;

    memset(index->occupied, 0,
           lawn__index_count_words(index->slot_bits) *
               sizeof(*index->occupied));
}

static void
break_mark_and_earliest(struct scene *s)
{
    break_marks(s);
    s->lawn->index.earliest[slot_of(s, 0)] = LAWN_NEVER;
    s->lawn->index.earliest[slot_of(s, 2)] = LAWN_NEVER;
}

static void
break_level_marks(struct scene *s)
{
    s->lawn->index.levels = 0;
}

static void
break_earliest(struct scene *s)
{
    s->lawn->index.earliest[slot_of(s, 0)] = s->probe[0].timer.deadline + 1;
}

static void
break_earliest_of_marked(struct scene *s)
{
    s->lawn->index.earliest[slot_of(s, 0)] = LAWN_NEVER;
}

static void
break_earliest_of_empty(struct scene *s)
{
    s->lawn->index.earliest[0] = s->lawn->index.base;
}

/* Sets the earliest time of a slot to a time in the previous slot. The base is
 * before both slots. */
static void
break_earliest_range(struct scene *s)
{
    struct lawn_index *index = &s->lawn->index;

    index->earliest[slot_of(s, 0)] =
        lawn__index_slot_start(index, slot_of(s, 0)) - 1;
}

static void
break_horizon(struct scene *s)
{
    struct lawn_index *index = &s->lawn->index;

    CHECK(slot_of(s, 0) > index->mask);
    index->horizon = index->earliest[slot_of(s, 0)] + 1;
}

static void
break_slot_of_entry(struct scene *s)
{
    size_t number = (size_t)(blade_of(s, 0) - s->lawn->blades.all);

    s->lawn->index.entry[number].slot++;
}

static void
break_bound(struct scene *s)
{
    s->lawn->bound = 301;
}

static void
break_bound_of_entry(struct scene *s)
{
    CHECK(stop(s, 0));
    CHECK(stop(s, 1));
    s->lawn->bound = 301;
}

static void
break_wake(struct scene *s)
{
    s->lawn->wake = s->lawn->bound + 1;
}

static void
break_count(struct scene *s)
{
    s->lawn->starts++;
}

static void
break_ttl(struct scene *s)
{
    blade_of(s, 0)->ttl = 12345;
}

static void
break_set(struct scene *s)
{
    size_t number = (size_t)(blade_of(s, 0) - s->lawn->blades.all);

    s->lawn->blades.all[number ^ 1].ttl = 300;
}

static void
break_clocks(struct scene *s)
{
    s->lawn->index.base = lawn_now(s->lawn) + 1;
}

static void
break_now(struct scene *s)
{
    s->lawn->now = LAWN_NEVER;
}

static void
break_deadline(struct scene *s)
{
    s->probe[2].timer.deadline = LAWN_NEVER;
}

static const struct {
    enum ground ground;
    break_fn *act;
    const char *message;
} faults[] = {
    {BLADES, break_order, "[I1] a blade out of order"},
    {BLADES, break_limit, "[I1] a timer too late for its blade"},
    {BLADES, break_prev, "[I2] links disagree"},
    {BLADES, break_next, "[I2] links disagree"},
    {BLADES, break_prev_at_the_last_tick, "[I2] links disagree"},
    {UNQUEUED, break_prev, "[I2] links disagree"},
    {BLADES, break_entry_links, "[I2] entries' links disagree"},
    {BLADES, break_entry, "[I3] an entry after its blade's head"},
    {BLADES, break_entry_of_empty, "[I3] an entry is lost"},
    {BLADES, break_entry_count, "[I3] an entry is lost"},
    {BLADES, break_entry_slot, "[I4] an entry in the wrong slot"},
    {BLADES, break_entry_in_slot, "[I4] an entry in the wrong slot"},
    {BLADES, break_base, "[I4] an entry in the wrong slot"},
    {UNQUEUED, break_base, "[I4] an unqueued timer in the wrong list"},
    {UNQUEUED, break_unqueued_slot, "[I4] an unqueued timer in the wrong list"},
    {UNQUEUED, break_unqueued_list, "[I4] an unqueued timer in the wrong list"},
    {BLADES, break_slot_of_entry, "[I4] an entry in the wrong slot"},
    {BLADES, break_marks, "[I5] a mark without earliest time"},
    {UNQUEUED, break_marks, "[I5] a mark without earliest time"},
    {BLADES, break_earliest_of_marked, "[I5] a mark without earliest time"},
    {BLADES, break_earliest_of_empty, "[I5] a mark without earliest time"},
    {BLADES, break_mark_and_earliest, "[I5] a slot in use is not marked"},
    {UNQUEUED, break_mark_and_earliest, "[I5] a slot in use is not marked"},
    {BLADES, break_level_marks, "[I5] a level in use is not marked"},
    {UNQUEUED, break_level_marks, "[I5] a level in use is not marked"},
    {BLADES, break_earliest, "[I5] an entry before the earliest"},
    {UNQUEUED, break_earliest, "[I5] a timer before the earliest"},
    {BLADES, break_earliest_range, "[I5] an earliest time of another slot"},
    {UNQUEUED, break_earliest_range, "[I5] an earliest time of another slot"},
    {BLADES, break_bound, "[I6] a deadline before the bound"},
    {UNQUEUED, break_bound, "[I6] a deadline before the bound"},
    {BLADES, break_bound_of_entry, "[I6] an entry before the bound"},
    {BLADES, break_wake, "[I6] the wake is after the bound"},
    {BLADES, break_count, "[I7] the count is wrong"},
    {BLADES, break_ttl, "[I8] a TTL in a foreign set"},
    {BLADES, break_set, "[I8] a TTL twice in a set"},
    {BLADES, break_clocks, "[I9]"},
    {BLADES, break_now, "[I9]"},
    {BLADES, break_horizon, "[I10] a slot before the horizon"},
    {UNQUEUED, break_horizon, "[I10] a slot before the horizon"},
    {BLADES, break_deadline, "[P9] a deadline after the last"},
};

TEST(a_check_names_the_first_broken_invariant)
{
    struct scene s;
    char said[200];

    for (size_t i = 0; i < COUNT(faults); i++) {
        FILE *out = tmpfile();

        CHECK(out != NULL);
        scene_begin(&s, faults[i].ground);
        start(&s, 0, 300);
        start(&s, 1, 300);
        start(&s, 2, 500);
        CHECK(lawn_check(s.lawn, out));
        CHECK_EQ(ftell(out), 0);
        faults[i].act(&s);
        CHECK(!lawn_check(s.lawn, NULL));
        CHECK(!lawn_check(s.lawn, out));
        rewind(out);
        said[0] = '\0';
        CHECK(fgets(said, sizeof(said), out) != NULL);
        if (strstr(said, faults[i].message) == NULL) {
            kit_fail(__FILE__, __LINE__, "fault %zu, %s, gave: %s", i,
                     faults[i].message, said);
        }
        (void)fclose(out);
        scene_end(&s);
    }
}
