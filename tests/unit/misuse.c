/* misuse.c - assertions report mistakes of the caller, unless NDEBUG [P10]. */
#include "common.h"
#include "lawn_class.h"

#include <stdlib.h>
#include <string.h>

static void
ignore(struct lawn_timer *timer, void *arg)
{
    (void)timer;
    (void)arg;
}

static void
mow_inside(struct scene *s, struct probe *probe)
{
    (void)probe;
    CHECK_EQ(lawn_mow(s->lawn, lawn_now(s->lawn), SIZE_MAX, ignore, NULL), 0);
}

struct mowing_inside {
    struct lawn *lawn;
    struct lawn_class *cls;
};

static void
mow_lawn_inside(struct lawn_timer *timer, void *arg)
{
    struct mowing_inside *inside = arg;

    (void)timer;
    CHECK_EQ(lawn_mow(inside->lawn, 99, SIZE_MAX, ignore, NULL), 0);
}

static void
mow_class_inside(struct lawn_timer *timer, void *arg)
{
    struct mowing_inside *inside = arg;

    (void)timer;
    CHECK_EQ(lawn_class_mow(inside->cls, 99, SIZE_MAX, ignore, NULL), 0);
}

static struct lawn_timer in_class[3];

/* Starts these timers in a class of a new lawn. */
static struct mowing_inside
begin_class(void)
{
    struct lawn_options options = {.classes = 2};
    struct mowing_inside inside = {lawn_new(&options), NULL};

    inside.cls = lawn_class_new(inside.lawn, 10, "class");
    for (unsigned i = 0; i < COUNT(in_class); i++) {
        in_class[i] = (struct lawn_timer){0};
        lawn_class_start(inside.cls, &in_class[i]);
    }
    return inside;
}

static void
mow_lawn_inside_class(void)
{
    struct mowing_inside inside = begin_class();

    CHECK_EQ(lawn_class_mow(inside.cls, 10, 2, mow_lawn_inside, &inside), 2);
    lawn_free(inside.lawn);
}

static void
mow_class_inside_lawn(void)
{
    struct mowing_inside inside = begin_class();

    CHECK_EQ(lawn_mow(inside.lawn, 10, 2, mow_class_inside, &inside), 2);
    lawn_free(inside.lawn);
}

#if defined NDEBUG

TEST(a_mow_of_a_class_inside_a_callback_does_nothing_in_release_builds)
{
    mow_lawn_inside_class();
    mow_class_inside_lawn();
}

TEST(a_mow_inside_a_callback_does_nothing_in_release_builds)
{
    struct scene s;
    unsigned i;

    scene_begin(&s, BLADES);
    for (i = 0; i < 5; i++) {
        start(&s, i, 10);
    }
    s.act = mow_inside;
    CHECK_EQ(mow(&s, 10), 5);
    CHECK_FIRED(&s, 0, 1, 2, 3, 4);
    scene_end(&s);
}

static void
free_inside(struct scene *s, struct probe *probe)
{
    (void)probe;
    lawn_free(s->lawn);
}

TEST(a_lawn_freed_inside_a_callback_stays_in_release_builds)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, 10);
    start(&s, 1, 10);
    s.act = free_inside;
    CHECK_EQ(mow(&s, 10), 2);
    CHECK_FIRED(&s, 0, 1);
    scene_end(&s);
}

#else

/* Each of these runs in a child process, which abort() ends. */
static struct scene one;
static struct scene two;

static void
begin(void)
{
    scene_begin(&one, BLADES);
    scene_begin(&two, BLADES);
    start(&one, 0, 10);
    start(&one, 1, 10);
    start(&one, 2, 10);
}

static void
start_one_that_was_not_zeroed(void)
{
    static struct lawn_timer timer;

    begin();
    memset(&timer, 0xa5, sizeof(timer));
    lawn_start(one.lawn, &timer, 10);
}

TEST(a_timer_that_was_not_zeroed_is_named)
{
    CHECK(kit_aborts_with(start_one_that_was_not_zeroed, "not zeroed"));
}

static void
start_on_two_lawns(void)
{
    begin();
    lawn_start(two.lawn, &one.probe[0].timer, 10);
}

static void
start_the_only_timer_on_two_lawns(void)
{
    begin();
    start(&one, 5, 77);
    lawn_start(two.lawn, &one.probe[5].timer, 77);
}

static void
stop_on_the_wrong_lawn(void)
{
    begin();
    (void)lawn_stop(two.lawn, &one.probe[2].timer);
}

TEST(a_timer_that_runs_on_another_lawn_is_named)
{
    CHECK(kit_aborts_with(start_on_two_lawns, "another lawn"));
    CHECK(kit_aborts_with(start_the_only_timer_on_two_lawns, "another lawn"));
    CHECK(kit_aborts_with(stop_on_the_wrong_lawn, "another lawn"));
}

static void
mow_inside_a_mow(void)
{
    begin();
    one.act = mow_inside;
    (void)mow(&one, 10);
}

static void
mow_inside_to_an_earlier_time(struct scene *s, struct probe *probe)
{
    (void)probe;
    (void)lawn_mow(s->lawn, 1, SIZE_MAX, ignore, NULL);
}

static void
mow_inside_the_last_callback(struct scene *s, struct probe *probe)
{
    static struct lawn_timer later;

    if (probe->id == 2) {
        lawn_start(s->lawn, &later, 1000);
        (void)lawn_next(s->lawn);
        (void)lawn_mow(s->lawn, 10, SIZE_MAX, ignore, NULL);
    }
}

static void
mow_inside_a_mow_with_nothing_due_then(void)
{
    begin();
    one.act = mow_inside_to_an_earlier_time;
    (void)mow(&one, 10);
}

static void
mow_inside_after_a_new_resolution(struct scene *s, struct probe *probe)
{
    (void)probe;
    lawn_set_resolution(s->lawn, 2);
    (void)lawn_mow(s->lawn, 1, SIZE_MAX, ignore, NULL);
}

static void
mow_inside_a_mow_after_a_new_resolution(void)
{
    begin();
    one.act = mow_inside_after_a_new_resolution;
    (void)mow(&one, 10);
}

static void
mow_inside_a_mow_with_nothing_left(void)
{
    begin();
    one.act = mow_inside_the_last_callback;
    (void)mow(&one, 10);
}

TEST(a_mow_inside_a_callback_is_named)
{
    CHECK(kit_aborts_with(mow_inside_a_mow, "lawn_mow inside"));
    CHECK(kit_aborts_with(mow_inside_a_mow, "lawn: src/core/mow.c:"));
    CHECK(kit_aborts_with(mow_inside_a_mow, ": assertion failed: [P10]"));
}

TEST(a_mow_inside_a_callback_is_named_even_if_nothing_is_due)
{
    CHECK(kit_aborts_with(mow_inside_a_mow_with_nothing_due_then,
                          "lawn_mow inside"));
    CHECK(
        kit_aborts_with(mow_inside_a_mow_with_nothing_left, "lawn_mow inside"));
    CHECK(kit_aborts_with(mow_inside_a_mow_after_a_new_resolution,
                          "lawn_mow inside"));
}

static void
free_lawn(struct scene *s, struct probe *probe)
{
    (void)probe;
    lawn_free(s->lawn);
}

static void
free_inside_a_mow(void)
{
    begin();
    one.act = free_lawn;
    (void)mow(&one, 10);
}

TEST(freeing_a_lawn_inside_a_callback_is_named)
{
    CHECK(kit_aborts_with(free_inside_a_mow, "lawn_free inside"));
}

/* Memory of a running timer that was freed and reused, or cleared. */
static int filler;

static void
overwrite(unsigned id)
{
    begin();
    memset(&one.probe[id].timer, filler, sizeof(one.probe[id].timer));
}

static void
stop_before_overwritten(void)
{
    overwrite(1);
    (void)stop(&one, 0);
}

static void
stop_after_overwritten(void)
{
    overwrite(1);
    (void)stop(&one, 2);
}

static void
restart_beside_overwritten(void)
{
    overwrite(1);
    start(&one, 0, 50);
}

static void
mow_before_overwritten(void)
{
    overwrite(1);
    (void)mow(&one, 10);
}

TEST(a_timer_overwritten_while_running_is_named_by_its_neighbors)
{
    static const int fillers[] = {0, 0x5A, 0xA5, 0xFF};

    for (size_t i = 0; i < COUNT(fillers); i++) {
        filler = fillers[i];
        CHECK(kit_aborts_with(stop_before_overwritten, "overwritten"));
        CHECK(kit_aborts_with(stop_after_overwritten, "overwritten"));
        CHECK(kit_aborts_with(restart_beside_overwritten, "overwritten"));
        CHECK(kit_aborts_with(mow_before_overwritten, "overwritten"));
    }
}

static void
start_zeroed(void)
{
    overwrite(2);
    start(&one, 2, 10);
}

static void
start_behind_overwritten(void)
{
    overwrite(2);
    start(&one, 3, 10);
}

static void
mow_zeroed(void)
{
    overwrite(0);
    (void)mow(&one, 10);
}

TEST(a_timer_zeroed_while_running_is_named_when_its_queue_is_used)
{
    filler = 0;
    CHECK(kit_aborts_with(start_zeroed, "overwritten"));
    CHECK(kit_aborts_with(start_behind_overwritten, "overwritten"));
}

TEST(a_timer_zeroed_while_running_is_named_when_it_comes_due)
{
    filler = 0;
    CHECK(kit_aborts_with(mow_zeroed, "overwritten"));
}

/* Bytes written over the first timer of its queue, as by an allocator or a new
 * owner of the memory. */
static int overwritten_with;
static enum ground overwritten_on;

static void
overwrite_the_first(void)
{
    scene_begin(&one, overwritten_on);
    start(&one, 0, 10);
    start(&one, 1, 10);
    memset(&one.probe[0].timer, overwritten_with, sizeof(one.probe[0].timer));
    (void)lawn_mow(one.lawn, 1000, SIZE_MAX, ignore, NULL);
}

static void
overwrite_one_of_several_firsts(void)
{
    scene_begin(&one, BLADES);
    start(&one, 0, 10);
    start(&one, 1, 10);
    start_at(&one, 2, 10);
    lawn_set_now(one.lawn, 1);
    start(&one, 3, 9);
    memset(&one.probe[0].timer, overwritten_with, sizeof(one.probe[0].timer));
    (void)lawn_mow(one.lawn, 1000, SIZE_MAX, ignore, NULL);
}

TEST(a_timer_overwritten_at_the_head_of_its_queue_is_named_when_it_is_due)
{
    static const int bytes[] = {0x00, 0x5a, 0x7f, 0xff};

    for (size_t i = 0; i < COUNT(bytes); i++) {
        overwritten_with = bytes[i];
        overwritten_on = BLADES;
        CHECK(kit_aborts_with(overwrite_the_first, "[P10]"));
        overwritten_on = UNQUEUED;
        CHECK(kit_aborts_with(overwrite_the_first, "[P10]"));
        CHECK(kit_aborts_with(overwrite_one_of_several_firsts, "[P10]"));
    }
}

/* Reads of freed memory: the sanitizers report these themselves, and their
 * allocators leave the contents unchanged; glibc's does not. */
#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__ &&                      \
    !defined __SANITIZE_THREAD__

/* A size that the tests do not use elsewhere, so that the allocator overwrites
 * both links. */
static char *freed;

static void
free_the_first(void)
{
    scene_begin(&one, BLADES);
    freed = calloc(1, 777);
    start_probe(&one, (struct probe *)(void *)freed, 10);
    free(freed);
    (void)lawn_mow(one.lawn, 100, SIZE_MAX, ignore, NULL);
}

TEST(a_timer_freed_while_running_is_named_when_it_is_due)
{
    CHECK(kit_aborts_with(free_the_first, "[P10]"));
}

#endif

TEST(a_mow_inside_a_mow_of_a_class_is_named)
{
    CHECK(kit_aborts_with(mow_lawn_inside_class, "lawn_mow inside"));
    CHECK(kit_aborts_with(mow_class_inside_lawn, "lawn_class_mow inside"));
}

static void
stop_class_timer_on_the_lawn(void)
{
    (void)lawn_stop(begin_class().lawn, &in_class[1]);
}

static void
start_class_timer_on_the_lawn(void)
{
    lawn_start(begin_class().lawn, &in_class[2], 5);
}

static void
stop_class_timer_in_another_class(void)
{
    struct lawn *lawn = begin_class().lawn;

    (void)lawn_class_stop(lawn_class_new(lawn, 10, NULL), &in_class[0]);
}

static void
start_class_timer_in_another_class(void)
{
    struct lawn *lawn = begin_class().lawn;

    lawn_class_start(lawn_class_new(lawn, 10, NULL), &in_class[0]);
}

static void
start_timer_of_the_lawn_in_a_class(void)
{
    struct mowing_inside inside = begin_class();
    static struct lawn_timer timer;

    lawn_start(inside.lawn, &timer, 10);
    lawn_class_start(inside.cls, &timer);
}

static void
stop_detached_timer_on_the_lawn(void)
{
    struct mowing_inside inside = begin_class();

    (void)lawn_class_clear(inside.cls);
    (void)lawn_stop(inside.lawn, &in_class[0]);
}

static void
overwrite_class_timer(void)
{
    struct mowing_inside inside = begin_class();

    in_class[0] = (struct lawn_timer){0};
    (void)lawn_class_mow(inside.cls, 10, SIZE_MAX, ignore, NULL);
}

TEST(a_class_timer_that_is_used_without_its_class_is_named)
{
    CHECK(kit_aborts_with(stop_class_timer_on_the_lawn, "or class"));
    CHECK(kit_aborts_with(start_class_timer_on_the_lawn, "or class"));
    CHECK(kit_aborts_with(stop_class_timer_in_another_class, "or class"));
    CHECK(kit_aborts_with(start_class_timer_in_another_class, "or class"));
    CHECK(kit_aborts_with(start_timer_of_the_lawn_in_a_class, "or class"));
    CHECK(kit_aborts_with(stop_detached_timer_on_the_lawn, "or class"));
}

TEST(a_class_timer_that_was_overwritten_is_named)
{
    CHECK(kit_aborts_with(overwrite_class_timer, "[P10]"));
}

#endif
