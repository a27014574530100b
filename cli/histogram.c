/* histogram.c - a log-linear histogram.
 *
 * The bucket of a value is its leading one's place, and the five bits below
 * it; read together they form the bucket's number, without gaps.
 */
#include "histogram.h"

#include <stddef.h>

#define HISTOGRAM_SPLIT (UINT64_C(1) << HISTOGRAM_SPLIT_BITS)

static size_t
histogram_bucket(uint64_t value)
{
    if (value < HISTOGRAM_SPLIT)
        return (size_t)value;
    unsigned top = 63 - (unsigned)__builtin_clzll(value);
    unsigned shift = top - HISTOGRAM_SPLIT_BITS;
    return (size_t)(shift * HISTOGRAM_SPLIT + (value >> shift));
}

/* The largest value of a bucket. */
static uint64_t
histogram_end(size_t bucket)
{
    if (bucket < 2 * HISTOGRAM_SPLIT)
        return bucket;
    uint64_t shift = bucket / HISTOGRAM_SPLIT - 1;
    uint64_t leading = bucket % HISTOGRAM_SPLIT + HISTOGRAM_SPLIT;
    return ((leading + 1) << shift) - 1; /* the last wraps to UINT64_MAX */
}

void
histogram_add(struct histogram *histogram, uint64_t value)
{
    histogram->buckets[histogram_bucket(value)]++;
    histogram->count++;
    if (value > histogram->max)
        histogram->max = value;
}

uint64_t
histogram_at(const struct histogram *histogram, unsigned parts)
{
    uint64_t rank = histogram->count / 10000 * parts +
                    (histogram->count % 10000 * parts + 9999) / 10000;
    uint64_t seen = 0;
    for (size_t i = 0; seen < rank; i++) {
        seen += histogram->buckets[i];
        if (seen >= rank && histogram_end(i) < histogram->max)
            return histogram_end(i);
    }
    return histogram->max;
}
