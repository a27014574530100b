/* common.c - implements common.h. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CROWD 2000u

void
scene_begin_with(struct scene *scene, const struct lawn_options *options)
{
    memset(scene, 0, sizeof(*scene));
    for (unsigned i = 0; i < PROBES; i++) {
        scene->probe[i].id = i;
    }
    scene->lawn = lawn_new(options);
    CHECK(scene->lawn != NULL);
}

void
scene_begin(struct scene *scene, enum ground ground)
{
    static const struct lawn_options options[GROUNDS] = {
        [BLADES] = {.blades = 1024},
        [UNQUEUED] = {.blades = 16},
        [UNQUEUED_SMALL] = {.blades = 16, .slot_bits = 4},
    };

    scene_begin_with(scene, &options[ground]);
    if (ground != BLADES) {
        scene_crowd(scene);
    }
}

/* Starts timers until no further TTL has found a blade for a long time. */
void
scene_crowd(struct scene *scene)
{
    uint64_t unqueued = 0;
    unsigned misses = 0;

    scene->crowd = calloc(CROWD, sizeof(*scene->crowd));
    CHECK(scene->crowd != NULL);
    struct lawn_counters stats;
    for (unsigned i = 0; misses < CROWD / 4; i++) {
        CHECK(i < CROWD);
        scene->crowd[i].id = UINT32_MAX;
        start_probe(scene, &scene->crowd[i], LAST - 1 - i);
        lawn_stats(scene->lawn, &stats);
        misses++;
        if (stats.unqueued_starts == unqueued) {
            misses = 0;
        } else {
            CHECK(lawn_stop(scene->lawn, &scene->crowd[i].timer));
        }
        unqueued = stats.unqueued_starts;
    }
    scene->crowded = (unsigned)lawn_count(scene->lawn);
}

void
scene_end(struct scene *scene)
{
    lawn_free(scene->lawn);
    free(scene->crowd);
}

void
start_probe(struct scene *scene, struct probe *probe, uint64_t ttl)
{
    lawn_start(scene->lawn, &probe->timer, ttl);
    probe->due = lawn_deadline(&probe->timer);
    CHECK(lawn_pending(&probe->timer));
}

void
start(struct scene *scene, unsigned id, uint64_t ttl)
{
    start_probe(scene, &scene->probe[id], ttl);
}

void
start_at(struct scene *scene, unsigned id, uint64_t deadline)
{
    lawn_start_at(scene->lawn, &scene->probe[id].timer, deadline);
    scene->probe[id].due = lawn_deadline(&scene->probe[id].timer);
}

bool
stop(struct scene *scene, unsigned id)
{
    scene->probe[id].due = LAWN_NEVER;
    return lawn_stop(scene->lawn, &scene->probe[id].timer);
}

bool
pending(const struct scene *scene, unsigned id)
{
    return lawn_pending(&scene->probe[id].timer);
}

uint64_t
running(const struct scene *scene)
{
    return lawn_count(scene->lawn) - scene->crowded;
}

static void
on_fire(struct lawn_timer *timer, void *arg)
{
    struct probe *probe = LAWN_CONTAINER(timer, struct probe, timer);
    struct scene *scene = (struct scene *)arg;

    CHECK(!lawn_pending(timer));          /* [P6] */
    CHECK(probe->due <= scene->mowing);   /* [P1], [P3]: NEVER once fired */
    CHECK(probe->due >= scene->last_due); /* [P4] */
    CHECK(scene->fired < LOG_MAX);
    scene->last_due = probe->due;
    scene->id[scene->fired] = probe->id;
    scene->due[scene->fired++] = probe->due;
    probe->due = LAWN_NEVER;
    if (scene->act != NULL) {
        scene->act(scene, probe);
    }
}

size_t
mow_some_unchecked(struct scene *scene, uint64_t now, size_t budget)
{
    scene->mowing = now < LAST ? now : LAST;
    size_t fired = lawn_mow(scene->lawn, now, budget, on_fire, scene);
    CHECK(fired <= budget);
    return fired;
}

size_t
mow_unchecked(struct scene *scene, uint64_t now)
{
    return mow_some_unchecked(scene, now, SIZE_MAX);
}

size_t
mow_some(struct scene *scene, uint64_t now, size_t budget)
{
    size_t fired = mow_some_unchecked(scene, now, budget);

    CHECK(lawn_check(scene->lawn, stdout));
    return fired;
}

size_t
mow(struct scene *scene, uint64_t now)
{
    return mow_some(scene, now, SIZE_MAX);
}

void
check_fired(struct scene *scene, const unsigned *ids, size_t count,
            const char *file, int line)
{
    for (size_t i = 0; i < count && i < scene->fired; i++) {
        if (scene->id[i] != ids[i]) {
            kit_fail(file, line, "firing %zu was of timer %u, expected %u", i,
                     scene->id[i], ids[i]);
        }
    }
    if (scene->fired != count) {
        kit_fail(file, line, "%u timers fired, expected %zu", scene->fired,
                 count);
    }
    scene->fired = 0;
}

uint64_t
chance(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}
