/* record.h - 64-bit numbers in ids and payloads, as little-endian bytes.
 *
 * Ids and payloads are saved in state files as they are in memory, and a state
 * file does not depend on the machine that wrote it. Shifts give the same bytes
 * on every machine. On a little-endian machine gcc combines the shifts into a
 * single move, unless they are in a loop or their results are stored directly
 * into the record.
 */
#ifndef LAWN_CLI_RECORD_H
#define LAWN_CLI_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RECORD_NUMBER 8u /* bytes of a number */

/* Stores the number with index i of the record. */
static inline void
record_put(unsigned char *record, size_t i, uint64_t number)
{
    const unsigned char bytes[RECORD_NUMBER] = {
        (unsigned char)number,         (unsigned char)(number >> 8),
        (unsigned char)(number >> 16), (unsigned char)(number >> 24),
        (unsigned char)(number >> 32), (unsigned char)(number >> 40),
        (unsigned char)(number >> 48), (unsigned char)(number >> 56),
    };

    memcpy(record + i * RECORD_NUMBER, bytes, RECORD_NUMBER);
}

/* Returns the number with index i of the record. */
static inline uint64_t
record_get(const void *record, size_t i)
{
    const unsigned char *from =
        (const unsigned char *)record + i * RECORD_NUMBER;

    return (uint64_t)from[0] | (uint64_t)from[1] << 8 |
           (uint64_t)from[2] << 16 | (uint64_t)from[3] << 24 |
           (uint64_t)from[4] << 32 | (uint64_t)from[5] << 40 |
           (uint64_t)from[6] << 48 | (uint64_t)from[7] << 56;
}

#endif
