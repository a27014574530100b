/* tails.c - how much one mow may have to do, though it fires nothing.
 *
 * Index entries that come up move down a level. With a blade for each TTL there
 * are no more entries than blades; a lone timer is an entry by itself. What is
 * reported is the most that one mow moved, as the lawn counts it.
 */
#include "figures.h"

#include <stdio.h>

#define TAILS_TTLS 1000u
#define TAILS_RANGE 60000u
#define TAILS_TICKS 20000u
#define TAILS_JUMPS 100u
#define TAILS_RUNS 3u
#define TAILS_LONE 1000000u

/* Restarts or stops so many timers at random. */
static void
tails_disturb(struct figures_field *field, size_t many)
{
    size_t i;

    for (i = 0; i < many; i++) {
        uint64_t random = rng_next(&field->rng);
        struct figures_object *object =
            &field->objects[(random >> 8) % field->many];

        if (random % 4 == 0) {
            (void)lawn_stop(field->lawn, &object->timer);
        } else {
            lawn_start(field->lawn, &object->timer, object->ttl);
        }
    }
}

static void
tails_mow(struct figures_field *field, uint64_t ticks)
{
    field->now += ticks;
    (void)lawn_mow(field->lawn, field->now, SIZE_MAX, figures_again,
                   field->lawn);
}

/* Stops all timers but every 1000th, so that most tips are stale, and mows
 * until all of these have come up, in jumps of so many ticks at most. */
static void
tails_stale(struct figures_field *field, uint64_t jump)
{
    uint64_t end = field->now + TAILS_RANGE;
    size_t i;

    for (i = 0; i < field->many; i++) {
        if (i % 1000 != 0) {
            (void)lawn_stop(field->lawn,
                            &field->objects[field->again[i]].timer);
        }
    }
    while (field->now < end) {
        tails_mow(field, 1 + rng_below(&field->rng, jump));
    }
}

/* As many TTLs as have blades: tick by tick, with most timers stopped, and in
 * jumps of all sizes, while timers are restarted and stopped. */
static void
tails_blades(size_t many)
{
    struct figures_field field;
    struct lawn_stats stats;
    char name[80];
    size_t i;

    figures_field_init(&field, many);
    figures_field_plant(&field, TAILS_TTLS, TAILS_RANGE);
    figures_field_fill(&field, TAILS_RANGE / 4);
    for (i = 0; i < TAILS_TICKS; i++) {
        tails_disturb(&field, many / TAILS_RANGE + 1);
        tails_mow(&field, 1);
    }
    tails_stale(&field, 1);
    for (i = 0; i < TAILS_JUMPS; i++) {
        tails_disturb(&field, many / 100);
        tails_mow(&field, UINT64_C(1) << rng_below(&field.rng, 24));
        tails_mow(&field, 1);
    }
    tails_stale(&field, 256);
    lawn_stats(field.lawn, &stats);
    (void)snprintf(name, sizeof name,
                   "most moved by an idle mow, 1000 TTLs, %zu timers", many);
    figures_print(name, (double)stats.moved_idle, "entries",
                  "<=", (double)stats.blades);
    figures_field_clear(&field);
    figures_field_fini(&field);
}

/* Built to be bad: all deadlines so far away and so close to each other that
 * all entries come up together, and lone ones on one level after the other, in
 * one mow just before the first of them. A timer that was started and stopped keeps the lawn
 * from knowing that nothing is due. */
static void
tails_together(struct figures_field *field, size_t many, bool bar)
{
    /* A 1 in every digit of 7 bits but the lowest two. */
    const uint64_t ttl = UINT64_C(0x8102040810204000);
    struct lawn_timer stopped = {{NULL, NULL}, 0};
    struct lawn_stats stats;
    char name[80];
    uint64_t took;
    size_t i;

    figures_field_plant(field, 1, 1);
    lawn_start(field->lawn, &stopped, 1);
    (void)lawn_stop(field->lawn, &stopped);
    for (i = 0; i < many; i++) {
        lawn_start(field->lawn, &field->objects[field->order[i]].timer,
                   ttl + i);
    }
    took = figures_clock_ns();
    tails_mow(field, ttl - 1);
    took = figures_clock_ns() - took;
    lawn_stats(field->lawn, &stats);
    (void)snprintf(name, sizeof name, "  built to be bad, %zu TTLs and timers",
                   many);
    figures_print(name, (double)stats.moved_idle, "entries", bar ? "<=" : NULL,
                  (double)stats.blades);
    figures_print("    and the time it took", (double)took / 1e3, "us", NULL,
                  0);
    figures_field_clear(field);
}

/* As many TTLs as timers, mown tick by tick, with restarts. The longest mow of
 * all is what a user waits for; whatever else the machine does can only add to
 * it, so the least of a few equal runs counts. */
static void
tails_lone(struct figures_field *field, double *longest, double *moved)
{
    struct lawn_stats stats;
    uint64_t most = 0;
    size_t i;

    field->rng.state = 1;
    figures_field_plant(field, field->many, field->many);
    figures_field_fill(field, TAILS_RANGE);
    for (i = 0; i < 10 * (size_t)TAILS_TICKS; i++) {
        uint64_t began;
        uint64_t took;

        tails_disturb(field, 4);
        began = figures_clock_ns();
        tails_mow(field, 1);
        took = figures_clock_ns() - began;
        most = took > most ? took : most;
    }
    lawn_stats(field->lawn, &stats);
    *moved = (double)stats.moved_idle;
    *longest = (double)most / 1e3;
    figures_field_clear(field);
}

void
figures_tails(void)
{
    struct figures_field field;
    double longest = 0;
    double moved = 0;
    unsigned run;

    tails_blades(100000);
    tails_blades(1000000);
    figures_field_init(&field, TAILS_LONE);
    for (run = 0; run < TAILS_RUNS; run++) {
        double us;

        tails_lone(&field, &us, &moved);
        longest = run == 0 || us < longest ? us : longest;
    }
    figures_print("most moved by an idle mow, 1000000 lone timers", moved,
                  "entries", NULL, 0);
    figures_print("longest mow of all, 1000000 lone timers", longest, "us",
                  NULL, 0);
    tails_together(&field, TAILS_TTLS, true);
    tails_together(&field, TAILS_LONE, false);
    figures_field_fini(&field);
}
