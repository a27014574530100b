/* watched.c - a program with probes: tests/api/probes compares what a tracer
 * sees with what the program writes to the file in its argument. It covers
 * every way in which the core starts a timer. Small constants of tuning.c, as
 * in the Makefile, reduce that to some hundred starts. */
#include <inttypes.h>
#include <lawn.h>
#include <stdio.h>
#include <stdlib.h>

#define MANY 64u

static FILE *out;
static struct lawn *lawn;
static struct lawn_timer timers[MANY];

/* A line as tests/probes/watch.gdb prints it. */
static void
write_line(const char *name, const void *timer, uint64_t first, uint64_t second)
{
    fprintf(out, "%s %" PRIuPTR, name, (uintptr_t)lawn);
    if (timer != NULL) {
        fprintf(out, " %" PRIuPTR, (uintptr_t)timer);
    }
    fprintf(out, " %" PRIu64 " %" PRIu64 "\n", first, second);
}

static void
start(unsigned i, uint64_t ttl)
{
    lawn_start(lawn, &timers[i], ttl);
    write_line("start", &timers[i], ttl, lawn_deadline(&timers[i]));
}

static void
start_as(unsigned i, uint64_t ttl, uint64_t deadline)
{
    lawn_start_as(lawn, &timers[i], ttl, deadline);
    write_line("start", &timers[i], ttl, lawn_deadline(&timers[i]));
}

static void
stop(unsigned i)
{
    if (lawn_stop(lawn, &timers[i])) {
        fprintf(out, "stop %" PRIuPTR " %" PRIuPTR " %" PRIu64 "\n",
                (uintptr_t)lawn, (uintptr_t)&timers[i],
                lawn_last_deadline(&timers[i]));
    }
}

/* Restarts each third timer, to be seen between two that fire. */
static void
fire(struct lawn_timer *timer, void *arg)
{
    unsigned i = (unsigned)(timer - timers);

    (void)arg;
    write_line("fire", timer, lawn_last_deadline(timer), lawn_now(lawn));
    if (i % 3 == 0) {
        start(i, 40);
    }
}

static void
mow(uint64_t now, size_t budget)
{
    write_line("mow", NULL, now, budget);
    size_t fired = lawn_mow(lawn, now, budget, fire, NULL);
    write_line("mown", NULL, now, fired);
}

int
main(int argc, char **argv)
{
    struct lawn_options options = {.blades = 8, .slot_bits = 4, .now = 1000};

    out = argc == 2 ? fopen(argv[1], "w") : NULL;
    lawn = lawn_new(&options);
    if (out == NULL || lawn == NULL) {
        fprintf(stderr, "usage: watched FILE\n");
        return 2;
    }
    start(1, 5);
    mow(lawn_now(lawn) + 5, SIZE_MAX);
    start(1, 5);                         /* on the blade, which is empty now */
    for (unsigned i = 0; i < 200; i++) { /* few TTLs */
        start(i % MANY, 5 + i % 3);
        if (i % 7 == 0) {
            stop((i + 60) % MANY);
        }
        if (i % 10 == 9) {
            mow(lawn_now(lawn) + i % 4, i % 20 == 9 ? 2 : SIZE_MAX);
        }
    }
    start(0, 0);
    start(1, UINT64_MAX);
    start_as(2, 5, lawn_now(lawn) + 3);
    start_as(3, 0, 0);
    start_as(4, 7, UINT64_MAX);
    lawn_start_at(lawn, &timers[5], lawn_now(lawn) + 9);
    write_line("start", &timers[5], 9, lawn_deadline(&timers[5]));
    lawn_set_resolution(lawn, 16);
    start(6, 5);
    mow(lawn_now(lawn) + 100, SIZE_MAX);
    lawn_set_resolution(lawn, 1);
    for (unsigned i = 0; i < 300; i++) { /* each TTL once */
        start(i % MANY, 1000 + i * 17);
        if (i % 10 == 9) {
            mow(lawn_now(lawn) + 1, SIZE_MAX);
        }
    }
    mow(UINT64_MAX, SIZE_MAX);
    lawn_free(lawn);
    return fclose(out) == 0 ? 0 : 1;
}
