/* commands_partition.c - PARTITION: assigns an id to one of n keys.
 *
 * The hash is the CRC-16 that clusters compute slots with: polynomial x^16 +
 * x^12 + x^5 + 1, initial value 0 (XMODEM). Most client libraries contain it,
 * so they can compute the partition themselves. It covers the whole id; braces
 * have no special meaning. O(bytes of the id).
 */
#include "commands.h"

#define PARTITION_MAX 16384u

/* The table has 16 entries and is used twice per byte. */
static unsigned
add_byte(unsigned sum, unsigned byte)
{
    static const uint16_t halves[16] = {
        0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
        0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef};

    sum = (sum << 4 & 0xffff) ^ halves[(sum >> 12 ^ byte >> 4) & 15];
    return (sum << 4 & 0xffff) ^ halves[(sum >> 12 ^ byte) & 15];
}

void
commands_partition(struct call *call)
{
    struct bytes id = call->args[1];
    uint64_t count = 0;
    unsigned sum = 0;

    if (!args_parse_number(call->args[2], 1, PARTITION_MAX, &count)) {
        host_error(call->host, args_not_in_range("number of partitions",
                                                 "an integer from 1 to 16384",
                                                 call->args[2]));
        return;
    }
    for (size_t i = 0; i < id.size; i++) {
        sum = add_byte(sum, (unsigned char)id.at[i]);
    }
    host_integer(call->host, (int64_t)(sum % count));
}
