/* lawn_histogram.h - a histogram of uint64_t values, accurate to 3.2 %.
 *
 * The buckets are log-linear: each power of two is divided into 32 equal
 * buckets, and each value below 32 has its own. A lawn_loop records in a
 * histogram how late its timers fire.
 */
#ifndef LAWN_HISTOGRAM_H
#define LAWN_HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of buckets. */
#define LAWN_HISTOGRAM_BUCKETS 1920

/* A histogram: 15 KiB. Zero it to empty it; assign it to copy it. count is the
 * sum of the buckets. */
struct lawn_histogram {
    uint64_t count;
    uint64_t max; /* exact */
    uint64_t buckets[LAWN_HISTOGRAM_BUCKETS];
};

/* Adds a value. O(1). */
void lawn_histogram_add(struct lawn_histogram *histogram, uint64_t value);

/* Adds all values of another histogram. O(buckets). */
void lawn_histogram_merge(struct lawn_histogram *histogram,
                          const struct lawn_histogram *other);

/* Returns a percentile. The argument parts is the share of the values in units
 * of 1/100,000: 50000 for the median, 99900 for the 99.9th percentile; 0 counts
 * as 1, and more than 100,000 as 100,000. Let v be the smallest value such that
 * at least this share of the values is <= v. The result is the end of the
 * bucket that contains v, or the field max if that is smaller. Returns 0 if the
 * histogram is empty. O(buckets). */
uint64_t lawn_histogram_at(const struct lawn_histogram *histogram,
                           unsigned parts);

/* Prints the percentiles to a file, in the text format of HdrHistogram, which
 * its plotters read. Each value is divided by unit: 1000 converts nanoseconds
 * to microseconds; 0 counts as 1. Returns 0, or -EIO if the file has an error;
 * then part of the text may have been printed. O(buckets). */
int lawn_histogram_print(const struct lawn_histogram *histogram, FILE *out,
                         double unit);

#ifdef __cplusplus
}
#endif
#endif
