/* sizes.h - computes the memory that a block takes: the servers' allocator
 * rounds sizes up to 8 or a multiple of 16 bytes, and above 128 to one of four
 * sizes per power of two. Asking the allocator would be slower. */
#ifndef SIZES_H
#define SIZES_H

#include <stddef.h>

static inline size_t
sizes_class(size_t size)
{
    size_t step = 16;

    if (size <= 8) {
        return 8;
    }
    if (size > 128) {
        step = (size_t)1 << (63 - __builtin_clzll(size - 1)) >> 2;
    }
    return (size + step - 1) & ~(step - 1);
}

#endif
