/* ticks.c - the arithmetic of src/core/ticks.h compared with 128-bit
 * numbers. */
#include "ticks.h"
#include "kit.h"

__extension__ typedef unsigned __int128 wide;

/* Values at which 64-bit arithmetic is likely to go wrong. */
static uint64_t
edge(unsigned i)
{
    uint64_t power = UINT64_C(1) << (i / 5);

    switch (i % 5) {
    case 0:
        return power - 1;
    case 1:
        return power;
    case 2:
        return power + 1;
    case 3:
        return UINT64_MAX - power + 1;
    default:
        return UINT64_MAX - power;
    }
}

#define EDGES (64u * 5)

static uint64_t
cut(wide value)
{
    return value < LAWN_LAST ? (uint64_t)value : LAWN_LAST;
}

TEST(now_plus_ttl_is_cut_at_the_last_tick_and_never_wraps)
{

    for (unsigned i = 0; i < EDGES; i++) {
        for (unsigned j = 0; j < EDGES; j++) {
            uint64_t now = cut(edge(i));
            uint64_t ttl = edge(j);

            CHECK_EQ(lawn__ticks_after(now, ttl),
                     cut((wide)now + (ttl != 0 ? ttl : 1)));
        }
    }
}

TEST(rounding_up_gives_the_first_multiple_or_the_last_tick)
{

    for (unsigned i = 0; i < EDGES; i++) {
        for (unsigned j = 0; j < EDGES; j++) {
            uint64_t time = cut(edge(i));
            uint64_t resolution = edge(j) != 0 ? edge(j) : 1;
            wide up = ((wide)time + resolution - 1) / resolution * resolution;

            CHECK_EQ(lawn__ticks_round_up(time, resolution), cut(up));
        }
    }
}
