/* memory.c - the memory of a store: see memory.h.
 *
 * A block that is not mapped begins at a cache line within an allocation. The
 * byte before the block contains its offset in the allocation. */
#define _DEFAULT_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#if defined __unix__
#include <sys/mman.h>
#define LAWN_STORE_MEMORY_MAPS 1
#else
#define LAWN_STORE_MEMORY_MAPS 0
#endif

/* The unit for mapped blocks: the smallest page size in use. */
#define LAWN_STORE_MEMORY_UNIT 4096u
#define LAWN_STORE_MEMORY_MAPPED 16384u
/* Maximum number of kept blocks to search for one of the right size. */
#define LAWN_STORE_MEMORY_LOOK 64u

#if LAWN_STORE_MEMORY_MAPS && defined __GNUC__
/* LeakSanitizer does not search mapped memory for pointers unless the memory is
 * registered. The functions are NULL if it is not linked. */
/* NOLINTBEGIN(bugprone-reserved-identifier) */
void __lsan_register_root_region(const void *, size_t) __attribute__((weak));
void __lsan_unregister_root_region(const void *, size_t) __attribute__((weak));
/* NOLINTEND(bugprone-reserved-identifier) */
#define LAWN_STORE_MEMORY_REPORT(what, block, cost)                            \
    (__lsan_##what##_root_region != NULL                                       \
         ? __lsan_##what##_root_region(block, cost)                            \
         : (void)0)
#else
#define LAWN_STORE_MEMORY_REPORT(what, block, cost) ((void)0)
#endif

struct lawn_store_kept {
    struct lawn_store_kept *next;
    size_t cost;
};

static bool
is_mapped(const struct lawn_store_memory *memory, size_t size)
{
    return LAWN_STORE_MEMORY_MAPS && memory->alloc == NULL &&
           size >= LAWN_STORE_MEMORY_MAPPED;
}

size_t
lawn__store_memory_cost(const struct lawn_store_memory *memory, size_t size)
{
    if (is_mapped(memory, size)) {
        return (size + LAWN_STORE_MEMORY_UNIT - 1) &
               ~(size_t)(LAWN_STORE_MEMORY_UNIT - 1);
    }
    return size + LAWN_STORE_LINE;
}

#if LAWN_STORE_MEMORY_MAPS
static void *
take_kept(struct lawn_store_memory *memory, struct lawn_store_kept **at)
{
    struct lawn_store_kept *kept = *at;

    *at = kept->next;
    memory->bytes -= LAWN_STORE_MEMORY_UNIT;
    memory->kept_bytes -= LAWN_STORE_MEMORY_UNIT;
    return kept;
}

static void *
map_block(struct lawn_store_memory *memory, size_t cost)
{
    struct lawn_store_kept **at = &memory->kept;

    for (unsigned look = 0; *at != NULL && look < LAWN_STORE_MEMORY_LOOK;
         look++) {
        if ((*at)->cost == cost) {
            return take_kept(memory, at);
        }
        at = &(*at)->next;
    }
    void *block = mmap(NULL, cost, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
        return NULL;
    }
    LAWN_STORE_MEMORY_REPORT(register, block, cost);
    return block;
}

/* Returns whether the block was unmapped; otherwise it is kept. */
static bool
return_block(struct lawn_store_memory *memory, void *block, size_t cost)
{
    struct lawn_store_kept *kept = (struct lawn_store_kept *)block;

    if (munmap(block, cost) == 0) {
        LAWN_STORE_MEMORY_REPORT(unregister, block, cost);
        return true;
    }
    (void)madvise(block, cost, MADV_DONTNEED);
    kept->next = memory->kept;
    kept->cost = cost;
    memory->kept = kept;
    memory->bytes += LAWN_STORE_MEMORY_UNIT;
    memory->kept_bytes += LAWN_STORE_MEMORY_UNIT;
    return false;
}

static void
unmap_block(struct lawn_store_memory *memory, void *block, size_t cost)
{
    if (return_block(memory, block, cost) && memory->kept != NULL) {
        /* munmap() works again. */
        size_t kept_cost = memory->kept->cost;

        (void)return_block(memory, take_kept(memory, &memory->kept), kept_cost);
    }
}
#endif

void
lawn__store_memory_fini(struct lawn_store_memory *memory)
{
#if LAWN_STORE_MEMORY_MAPS
    /* At the limit on mappings, a block at the end of a mapping can be
     * unmapped, but not one in the middle, because that splits the mapping. So
     * try each block once; one that cannot be unmapped remains mapped. */
    while (memory->kept != NULL) {
        size_t cost = memory->kept->cost;
        void *block = take_kept(memory, &memory->kept);

        LAWN_STORE_MEMORY_REPORT(unregister, block, cost);
        (void)munmap(block, cost);
    }
#else
    (void)memory;
#endif
}

bool
lawn__store_memory_probe(struct lawn_store_memory *memory, size_t size)
{
    if (size > memory->max || memory->bytes > memory->max - size) {
        memory->error = memory->max == SIZE_MAX ? -ENOMEM : -ENOSPC;
        return false;
    }
#if LAWN_STORE_MEMORY_MAPS
    if (is_mapped(memory, size)) {
        void *block = mmap(NULL, size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (block == MAP_FAILED) {
            memory->error = -ENOMEM;
            return false;
        }
        (void)munmap(block, size);
    }
#endif
    return true;
}

static unsigned char *
align_block(unsigned char *raw)
{
    unsigned char *block =
        raw + LAWN_STORE_LINE - (uintptr_t)raw % LAWN_STORE_LINE;

    block[-1] = (unsigned char)(block - raw);
    return block;
}

static void *
allocate(struct lawn_store_memory *memory, size_t size, size_t cost)
{
#if LAWN_STORE_MEMORY_MAPS
    if (is_mapped(memory, size)) {
        return map_block(memory, cost);
    }
#endif
    void *raw = memory->alloc != NULL ? memory->alloc(cost, memory->context)
                                      : malloc(cost);
    return raw != NULL ? align_block((unsigned char *)raw) : NULL;
}

void *
lawn__store_memory_take(struct lawn_store_memory *memory, size_t size)
{
    size_t cost = lawn__store_memory_cost(memory, size);

    if (cost > memory->max || memory->bytes > memory->max - cost) {
        memory->error = -ENOSPC;
        return NULL;
    }
    void *block = allocate(memory, size, cost);
    if (block == NULL) {
        memory->error = -ENOMEM;
        return NULL;
    }
    memory->bytes += cost;
    return block;
}

void
lawn__store_memory_give(struct lawn_store_memory *memory, void *block,
                        size_t size)
{
    size_t cost = lawn__store_memory_cost(memory, size);

    memory->bytes -= cost;
#if LAWN_STORE_MEMORY_MAPS
    if (is_mapped(memory, size)) {
        unmap_block(memory, block, cost);
        return;
    }
#endif
    block = (unsigned char *)block - ((unsigned char *)block)[-1];
    if (memory->alloc == NULL) {
        free(block);
    } else if (memory->release != NULL) {
        memory->release(block, memory->context);
    }
}
