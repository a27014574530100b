/* late.h - a small histogram of the lateness of events, in ms: four buckets per
 * power of two, so results are at most a quarter too high. It takes half a KiB;
 * the library's histogram is finer and takes 15.
 */
#ifndef LATE_H
#define LATE_H

#include <stdint.h>

#define LATE_BUCKETS 128

/* All zero is empty. When a bucket is full, all buckets are halved. */
struct late {
    uint64_t max;
    uint32_t buckets[LATE_BUCKETS];
};

void late_add(struct late *late, uint64_t ms);

/* Returns a percentile, given in thousandths: 990 is the 99th percentile.
 * Returns 0 if there are no values. */
uint64_t late_at(const struct late *late, unsigned thousandths);

#endif
