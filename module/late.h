/* late.h - a small histogram of how late events were taken, in ms: four buckets
 * to the power of two, so no more than a quarter above, in half a KiB. The
 * library's own is finer and takes 15.
 */
#ifndef LATE_H
#define LATE_H

#include <stdint.h>

#define LATE_BUCKETS 128

/* All zero is empty. Buckets halve together when one is full. */
struct late {
    uint64_t max;
    uint32_t buckets[LATE_BUCKETS];
};

void late_add(struct late *late, uint64_t ms);

/* The value that so many thousandths do not exceed; 0 if there are none. */
uint64_t late_at(const struct late *late, unsigned thousandths);

#endif
