/* sizes.c - memory, and what making a lawn takes. */
#include "figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZES_TIMERS 100000u
#define SIZES_TTLS 1000u
#define SIZES_NEW 1001u

static const struct lawn_options sizes_smallest = {.blades = 1, .slot_bits = 1};

static void
sizes_fire(struct lawn_timer *timer, void *arg)
{
    (void)timer;
    (void)arg;
}

/* The smallest lawn does all that the default one does: many timers, of more
 * TTLs than it has blades, at once. Prints how many of them fired on time. */
static void
sizes_use_smallest(void)
{
    struct lawn *lawn = (struct lawn *)figures_need(lawn_new(&sizes_smallest));
    struct lawn_timer *timers =
        (struct lawn_timer *)figures_need(calloc(SIZES_TIMERS, sizeof *timers));
    uint64_t now;
    uint64_t fired = 0;
    uint64_t right = 0;
    size_t i;

    for (i = 0; i < SIZES_TIMERS; i++) {
        lawn_start(lawn, &timers[i], 1 + i % SIZES_TTLS);
    }
    for (now = 1; now <= SIZES_TTLS; now++) {
        uint64_t due = lawn_mow(lawn, now, SIZE_MAX, sizes_fire, NULL);

        fired += due;
        right += due == SIZES_TIMERS / SIZES_TTLS ? due : 0;
    }
    if (fired != right || !lawn_check(lawn, stderr)) {
        right = 0;
    }
    figures_print("timers of 1000 TTLs on the smallest lawn, on time",
                  (double)right, "", "==", SIZES_TIMERS);
    free(timers);
    lawn_free(lawn);
}

static void
sizes_new(const struct lawn_options *options, const char *what)
{
    static double us[SIZES_NEW];
    size_t i;

    for (i = 0; i < SIZES_NEW; i++) {
        uint64_t began = figures_clock_ns();

        lawn_free((struct lawn *)figures_need(lawn_new(options)));
        us[i] = (double)(figures_clock_ns() - began) / 1e3;
    }
    figures_print(what, figures_median(us, SIZES_NEW), "us", NULL, 0);
}

void
figures_sizes(void)
{
    figures_print("sizeof(struct lawn_timer)", sizeof(struct lawn_timer),
                  "bytes", "==", 24);
    figures_print("default lawn", (double)lawn_size(NULL) / 1024, "KiB",
                  "<=", 160);
    figures_print("smallest lawn", (double)lawn_size(&sizes_smallest) / 1024,
                  "KiB", "<=", 8);
    sizes_use_smallest();
    sizes_new(NULL, "lawn_new and lawn_free, default");
    sizes_new(&sizes_smallest, "lawn_new and lawn_free, smallest");
}
