/* memory.c - see memory.h.
 *
 * A block that was not mapped is preceded by a byte that says how far into the
 * allocator's block it begins. */
#define _DEFAULT_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#if defined __unix__ || defined __APPLE__
#include <sys/mman.h>
#define LAWN_STORE_MEMORY_MAPS 1
#else
#define LAWN_STORE_MEMORY_MAPS 0
#endif

/* Blocks are mapped in units of this: a multiple of any page size but the
 * largest, where the system rounds up by itself. */
#define LAWN_STORE_MEMORY_UNIT 4096u

struct lawn_store_kept {
    struct lawn_store_kept *next;
    size_t cost;
};

static bool
lawn_store_memory_mapped(const struct lawn_store_memory *memory, size_t size)
{
    return LAWN_STORE_MEMORY_MAPS && memory->alloc == NULL &&
           size >= LAWN_STORE_BLOCK;
}

size_t
lawn_store_memory_cost(const struct lawn_store_memory *memory, size_t size)
{
    if (lawn_store_memory_mapped(memory, size)) {
        return (size + LAWN_STORE_MEMORY_UNIT - 1) &
               ~(size_t)(LAWN_STORE_MEMORY_UNIT - 1);
    }
    return size + LAWN_STORE_LINE;
}

static void *
lawn_store_memory_map(struct lawn_store_memory *memory, size_t cost)
{
#if LAWN_STORE_MEMORY_MAPS
    struct lawn_store_kept *kept = memory->kept;
    void *block;

    if (kept != NULL && kept->cost == cost) {
        memory->kept = kept->next;
        return kept;
    }
    block = mmap(NULL, cost, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block != MAP_FAILED ? block : NULL;
#else
    (void)memory;
    (void)cost;
    return NULL;
#endif
}

static void
lawn_store_memory_unmap(struct lawn_store_memory *memory, void *block,
                        size_t cost)
{
#if LAWN_STORE_MEMORY_MAPS
    struct lawn_store_kept *kept = (struct lawn_store_kept *)block;

    if (munmap(block, cost) != 0) {
        (void)madvise(block, cost, MADV_DONTNEED);
        kept->next = memory->kept;
        kept->cost = cost;
        memory->kept = kept;
    }
#else
    (void)memory;
    (void)block;
    (void)cost;
#endif
}

void
lawn_store_memory_fini(struct lawn_store_memory *memory)
{
    struct lawn_store_kept *kept = memory->kept;

    /* What lies at the end of a mapping leaves no hole: one goes after the
     * other. */
    memory->kept = NULL;
    while (kept != NULL) {
        struct lawn_store_kept *next = kept->next;

        lawn_store_memory_unmap(memory, kept, kept->cost);
        kept = next;
    }
}

static unsigned char *
lawn_store_memory_align(unsigned char *raw)
{
    unsigned char *block =
        raw + LAWN_STORE_LINE - (uintptr_t)raw % LAWN_STORE_LINE;

    block[-1] = (unsigned char)(block - raw);
    return block;
}

void *
lawn_store_memory_take(struct lawn_store_memory *memory, size_t size)
{
    size_t cost = lawn_store_memory_cost(memory, size);
    void *block;

    if (cost > memory->max || memory->bytes > memory->max - cost) {
        memory->error = -ENOSPC;
        return NULL;
    }
    if (lawn_store_memory_mapped(memory, size)) {
        block = lawn_store_memory_map(memory, cost);
    } else {
        block = memory->alloc != NULL ? memory->alloc(cost, memory->context)
                                      : malloc(cost);
        if (block != NULL) {
            block = lawn_store_memory_align((unsigned char *)block);
        }
    }
    if (block == NULL) {
        memory->error = -ENOMEM;
        return NULL;
    }
    memory->bytes += cost;
    return block;
}

void
lawn_store_memory_give(struct lawn_store_memory *memory, void *block,
                       size_t size)
{
    size_t cost = lawn_store_memory_cost(memory, size);

    memory->bytes -= cost;
    if (lawn_store_memory_mapped(memory, size)) {
        lawn_store_memory_unmap(memory, block, cost);
        return;
    }
    block = (unsigned char *)block - ((unsigned char *)block)[-1];
    if (memory->alloc == NULL) {
        free(block);
    } else if (memory->release != NULL) {
        memory->release(block, memory->context);
    }
}
