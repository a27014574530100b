/* memory.h - all memory of a store: blocks of the caller's allocator, or of the
 * default one, counted, limited, and aligned to cache lines.
 *
 * The default takes blocks of 16 KiB and more from mmap(), so that they go back
 * to the system when they are given back: malloc() would keep them for as long
 * as anything above them lives. The store asks for most of its memory in
 * blocks of 64 KiB. A system that has no room for one more hole among its
 * mappings (Linux: vm.max_map_count) does not take a block back: then all its
 * pages but one go back, and it is kept until one of its size is taken, or the
 * system has room again.
 */
#ifndef LAWN_STORE_MEMORY_H
#define LAWN_STORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#define LAWN_STORE_LINE 64u
#define LAWN_STORE_BLOCK 65536u

struct lawn_store_memory {
    size_t bytes; /* taken and not given back, what alignment costs included */
    size_t max;   /* of bytes; SIZE_MAX: no limit */
    int error;    /* why the last take failed: -ENOMEM or -ENOSPC */
    void *(*alloc)(size_t size, void *context); /* NULL: the default */
    void (*release)(void *memory, void *context);
    void *context;
    struct lawn_store_kept
        *kept;         /* blocks that the system did not take back, */
    size_t kept_bytes; /* and their part of bytes */
};

/* A block that begins on a cache line; NULL: see memory->error. O(1). */
void *lawn__store_memory_take(struct lawn_store_memory *memory, size_t size);

/* Gives it back; size as it was taken. */
void lawn__store_memory_give(struct lawn_store_memory *memory, void *block,
                             size_t size);

/* When all has been given back. */
void lawn__store_memory_fini(struct lawn_store_memory *memory);

/* Whether there may be so much memory: what cannot be had is not to be tried
 * piece by piece. False: see memory->error. */
bool lawn__store_memory_probe(struct lawn_store_memory *memory, size_t size);

/* What a block of that size adds to memory->bytes. */
size_t lawn__store_memory_cost(const struct lawn_store_memory *memory,
                               size_t size);

#endif
