/* server_lateness.c - see server_lateness.h. */
#include "server_lateness.h"

#include "registry.h"
#include "server_clock.h"

struct lawn_histogram lateness;

/* In us of the wall clock. */
static uint64_t restarted;
static uint64_t arrived;

void
lateness_restart(void)
{
    restarted = clock_us(CLOCK_REALTIME);
}

void
lateness_arrived(void)
{
    arrived = clock_us(CLOCK_REALTIME);
}

void
lateness_count(uint64_t due, uint64_t armed, uint64_t now_us)
{
    uint64_t since = (due > armed ? due : armed) * 1000;
    if (since < restarted) {
        since = restarted;
    }
    if (armed == REGISTRY_AT_ONCE && since < arrived) {
        since = arrived;
    }
    lawn_histogram_add(&lateness, now_us > since ? now_us - since : 0);
}
