/* histogram.h - how values are spread, from 0 to UINT64_MAX, within 3.2 %.
 *
 * Log-linear: each power of two is split into 32 equal buckets, and values
 * below 32 have one each. 15 KiB; adding is O(1), a percentile O(buckets).
 */
#ifndef LAWN_CLI_HISTOGRAM_H
#define LAWN_CLI_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SPLIT_BITS 5
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_SPLIT_BITS + 1) << 5)

/* count is the sum of the buckets. All-zero bytes are an empty histogram. */
struct histogram {
    uint64_t count;
    uint64_t max; /* exact */
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *histogram, uint64_t value);

/* The least value, rounded up to its bucket's end but not above max, that
 * so many ten-thousandths of the values do not exceed; 0 if there are none.
 * parts is 1 to 10,000. */
uint64_t histogram_at(const struct histogram *histogram, unsigned parts);

/* The same for 1 to 100 percent. */
static inline uint64_t
histogram_percentile(const struct histogram *histogram, unsigned percent)
{
    return histogram_at(histogram, percent * 100);
}

#endif
