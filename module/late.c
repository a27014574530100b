/* late.c - see late.h. Buckets 0 to 3 are for 0 to 3 ms; then there are four
 * for each power of two, up to 2^33 ms. The last one counts all greater
 * values. */
#include "late.h"

static unsigned
bucket_of(uint64_t ms)
{
    if (ms < 4) {
        return (unsigned)ms;
    }
    unsigned power = 63u - (unsigned)__builtin_clzll(ms);
    if (power > LATE_BUCKETS / 4) {
        return LATE_BUCKETS - 1;
    }
    return 4 * (power - 1) + (unsigned)(ms >> (power - 2) & 3);
}

static uint64_t
bucket_top(unsigned bucket)
{
    unsigned power = bucket / 4 + 1;

    if (bucket < 4) {
        return bucket;
    }
    return ((uint64_t)(bucket % 4 + 5) << (power - 2)) - 1;
}

void
late_add(struct late *late, uint64_t ms)
{
    uint32_t *bucket = &late->buckets[bucket_of(ms)];

    if (ms > late->max) {
        late->max = ms;
    }
    if (*bucket == UINT32_MAX) {
        for (unsigned i = 0; i < LATE_BUCKETS; i++) {
            late->buckets[i] /= 2;
        }
    }
    ++*bucket;
}

uint64_t
late_at(const struct late *late, unsigned thousandths)
{
    uint64_t count = 0;
    uint64_t seen = 0;

    for (unsigned i = 0; i < LATE_BUCKETS; i++) {
        count += late->buckets[i];
    }
    if (count == 0) {
        return 0;
    }
    /* Rounded up, and one at least. */
    uint64_t wanted = (count * thousandths + 999) / 1000;
    wanted = wanted > 0 ? wanted : 1;
    for (unsigned i = 0; i < LATE_BUCKETS - 1; i++) {
        seen += late->buckets[i];
        if (seen >= wanted) {
            return bucket_top(i) < late->max ? bucket_top(i) : late->max;
        }
    }
    return late->max;
}
