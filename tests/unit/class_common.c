/* class_common.c - implements class_common.h. */
#include "class_common.h"

#include <stdio.h>
#include <string.h>

void
yard_begin(struct yard *yard, uint64_t now, uint64_t ttl0, uint64_t ttl1,
           uint64_t ttl2)
{
    struct lawn_options options = {.classes = 4, .now = now};

    memset(yard, 0, sizeof(*yard));
    for (unsigned i = 0; i < COUNT(yard->post); i++) {
        yard->post[i].id = i;
    }
    yard->lawn = lawn_new(&options);
    CHECK(yard->lawn != NULL);
    yard->cls[0] = lawn_class_new(yard->lawn, ttl0, "zero");
    yard->cls[1] = lawn_class_new(yard->lawn, ttl1, "one");
    yard->cls[2] = lawn_class_new(yard->lawn, ttl2, "two");
}

void
yard_end(struct yard *yard)
{
    CHECK(lawn_check(yard->lawn, stdout));
    lawn_free(yard->lawn);
}

void
start_in(struct yard *yard, unsigned id, unsigned cls)
{
    yard->post[id].cls = yard->cls[cls];
    lawn_class_start(yard->cls[cls], &yard->post[id].timer);
    CHECK(lawn_pending(&yard->post[id].timer));
}

void
start_alone(struct yard *yard, unsigned id, uint64_t ttl)
{
    yard->post[id].cls = NULL;
    lawn_start(yard->lawn, &yard->post[id].timer, ttl);
}

bool
stop_post(struct yard *yard, unsigned id)
{
    bool stopped = lawn_class_stop(yard->post[id].cls, &yard->post[id].timer);

    CHECK(!lawn_pending(&yard->post[id].timer));
    return stopped;
}

uint64_t
deadline_of(const struct yard *yard, unsigned id)
{
    return lawn_class_deadline(yard->post[id].cls, &yard->post[id].timer);
}

struct lawn_class_counters
counters(const struct yard *yard, unsigned cls)
{
    struct lawn_class_counters stats;

    lawn_class_stats(yard->cls[cls], &stats);
    CHECK_EQ(stats.starts, stats.stops + stats.fires + stats.count);
    return stats;
}

static void
on_fire(struct lawn_timer *timer, void *arg)
{
    struct yard *yard = arg;
    struct post *post = LAWN_CONTAINER(timer, struct post, timer);
    uint64_t due = lawn_last_deadline(timer);

    CHECK(!lawn_pending(timer));
    CHECK(due <= yard->mowing);
    CHECK(yard->fired < COUNT(yard->id));
    yard->id[yard->fired] = post->id;
    yard->due[yard->fired++] = due;
    if (yard->act != NULL) {
        yard->act(yard, post);
    }
}

static void
set_mowing(struct yard *yard, uint64_t now)
{
    yard->mowing = now < LAST ? now : LAST;
}

size_t
mow_budget(struct yard *yard, uint64_t now, size_t budget)
{
    set_mowing(yard, now);
    size_t fired = lawn_mow(yard->lawn, now, budget, on_fire, yard);
    CHECK(fired <= budget);
    CHECK(lawn_check(yard->lawn, stdout));
    return fired;
}

size_t
mow_yard(struct yard *yard, uint64_t now)
{
    return mow_budget(yard, now, SIZE_MAX);
}

size_t
mow_class(struct yard *yard, unsigned cls, uint64_t now, size_t budget)
{
    set_mowing(yard, now);
    size_t fired = lawn_class_mow(yard->cls[cls], now, budget, on_fire, yard);
    CHECK(lawn_check(yard->lawn, stdout));
    return fired;
}

void
check_fires(struct yard *yard, const unsigned *ids, size_t count,
            const char *file, int line)
{
    for (size_t i = 0; i < count && i < yard->fired; i++) {
        if (yard->id[i] != ids[i]) {
            kit_fail(file, line, "firing %zu was of timer %u, expected %u", i,
                     yard->id[i], ids[i]);
        }
    }
    if (yard->fired != count) {
        kit_fail(file, line, "%u timers fired, expected %zu", yard->fired,
                 count);
    }
    yard->fired = 0;
}
