/* lawn_histogram.h - how values are spread, from 0 to UINT64_MAX, within 3.2 %.
 *
 * Log-linear: each power of two is split into 32 equal buckets, and values
 * below 32 have one each. Adding is O(1), and what is asked O(buckets). A loop
 * keeps one of how late timers fire; yours to use for anything else.
 */
#ifndef LAWN_HISTOGRAM_H
#define LAWN_HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAWN_HISTOGRAM_BUCKETS 1920

/* 15 KiB. All-zero bytes are an empty histogram; to empty one, zero it; to copy
 * one, assign it. count is the sum of the buckets. */
struct lawn_histogram {
    uint64_t count;
    uint64_t max; /* exact */
    uint64_t buckets[LAWN_HISTOGRAM_BUCKETS];
};

void lawn_histogram_add(struct lawn_histogram *histogram, uint64_t value);

/* Adds all values of another one. */
void lawn_histogram_merge(struct lawn_histogram *histogram,
                          const struct lawn_histogram *other);

/* The least value, rounded up to its bucket's end but not above max, that so
 * many hundred-thousandths of the values do not exceed: 50000 is the median,
 * 99900 the 99.9th percentile. More than 100,000 counts as that, 0 as 1. 0 if
 * there are no values. */
uint64_t lawn_histogram_at(const struct lawn_histogram *histogram,
                           unsigned parts);

/* Prints the percentiles in the text form of HdrHistogram, as its plotters read
 * it, with each value divided by unit: 1000 for microseconds from nanoseconds;
 * 0 counts as 1. 0, or -EIO if out has an error. */
int lawn_histogram_print(const struct lawn_histogram *histogram, FILE *out,
                         double unit);

#ifdef __cplusplus
}
#endif
#endif
