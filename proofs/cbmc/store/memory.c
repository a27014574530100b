/* memory.c - the store's memory: counts, limits, failures, for all sizes.
 *
 * The state is arbitrary: any number of bytes allocated, any limit. The
 * allocator is the caller's, malloc(), or mmap(), and each may fail. One block
 * may be kept that munmap() had refused. Sizes are up to 2^40: callers request
 * no more, because payloads, ids and slabs have limits.
 *
 * @covers lawn__store_memory_take lawn__store_memory_give
 *     lawn__store_memory_probe lawn__store_memory_cost allocate
 *     map_block unmap_block return_block
 *     take_kept align_block
 *     is_mapped
 * @flags --unwind 3
 * @unreached map_block: $at = &(*$at)->next; -- only one kept block
 * @unreached lawn__store_memory_give: free($block); -- blocks of malloc() are left out, see memory_take()
 *
 * @proof memory_take
 * @proof memory_give
 * @proof memory_probe */
#include "proof.h"

/* The system calls, which may fail. */
void *proof_mmap(size_t size);
int proof_munmap(void *block, size_t size);
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#define mmap(at, size, protection, flags, file, offset) proof_mmap(size)
#define munmap(block, size) proof_munmap(block, size)
#define madvise(block, size, advice) ((void)(size), 0)

#include "../../../src/store/memory.c"

/* Functions of LeakSanitizer. */
void
__lsan_register_root_region(const void *block, size_t size)
{
    (void)block;
    (void)size;
}

void
__lsan_unregister_root_region(const void *block, size_t size)
{
    (void)block;
    (void)size;
}

#define MOST ((size_t)1 << 40)

/* A mapped block and a kept block; only their first bytes are used. */
static _Alignas(64) unsigned char mapped[64];
static _Alignas(64) unsigned char other[64];
static unsigned mappings, unmappings;
static bool refuses;

void *
proof_mmap(size_t size)
{
    PROVE(size % 4096 == 0 && size > 0, "whole pages are mapped");
    mappings++;
    return nondet_bool() ? MAP_FAILED : (void *)mapped;
}

int
proof_munmap(void *block, size_t size)
{
    PROVE(size % 4096 == 0 && size > 0, "whole pages are unmapped");
    PROVE(block == mapped || block == other, "what was mapped is unmapped");
    unmappings++;
    return refuses ? -1 : 0;
}

/* The caller's allocator: one block; only its first cache lines exist. */
static _Alignas(64) unsigned char own[192];
static unsigned allocs, releases;
static size_t alloced;

static void *
own_alloc(size_t size, void *context)
{
    PROVE(context == &allocs, "the context is the caller's");
    allocs++;
    alloced = size;
    return nondet_bool() ? NULL : (void *)own;
}

static void
own_release(void *block, void *context)
{
    PROVE(context == &allocs, "the context is the caller's");
    PROVE(block == own, "the allocated block is released");
    releases++;
}

static struct lawn_store_memory
any_memory(void)
{
    struct lawn_store_memory memory = {0};
    struct lawn_store_kept *kept = (void *)other;

    memory.bytes = nondet_size();
    memory.max = nondet_size();
    memory.error = 1;
    memory.context = &allocs;
    if (nondet_bool()) {
        memory.alloc = own_alloc;
        memory.release = nondet_bool() ? own_release : NULL;
    } else if (nondet_bool()) {
        kept->next = NULL;
        kept->cost = nondet_size();
        ASSUME(kept->cost % 4096 == 0 && kept->cost >= 16384 &&
               kept->cost <= MOST);
        memory.kept = kept;
        memory.kept_bytes = 4096;
    }
    ASSUME(memory.bytes >= memory.kept_bytes && memory.bytes <= memory.max);
    /* The bytes of a store are in memory, so their number fits. */
    ASSUME(memory.bytes <= SIZE_MAX - 2 * MOST);
    refuses = nondet_bool();
    return memory;
}

void
memory_take(void)
{
    struct lawn_store_memory memory = any_memory();
    struct lawn_store_memory before = memory;
    size_t size = nondet_size();
    size_t cost;
    void *block;

    /* Leaves out small blocks of malloc(): CBMC's model of malloc() with an
     * unknown size would be the only thing proved here. */
    ASSUME(size > 0 && size <= MOST);
    ASSUME(memory.alloc != NULL || size >= 16384);
    cost = lawn__store_memory_cost(&memory, size);
    block = lawn__store_memory_take(&memory, size);
    PROVE(cost >= size && cost <= size + 4095 + 64, "what a block costs");
    if (block == NULL) {
        PROVE(memory.bytes == before.bytes && memory.kept == before.kept &&
                  memory.kept_bytes == before.kept_bytes,
              "a failure changes nothing [S2]");
        PROVE(memory.error == -ENOMEM || memory.error == -ENOSPC,
              "a failure has its reason");
        PROVE(memory.error != -ENOSPC || before.bytes + cost > memory.max,
              "-ENOSPC only if the limit is reached");
        PROVE(memory.error != -ENOMEM || allocs + mappings == 1,
              "-ENOMEM only after a request for memory");
    } else {
        bool reused = memory.kept != before.kept;

        PROVE(memory.bytes == before.bytes + cost - (reused ? 4096 : 0),
              "bytes are counted");
        PROVE(memory.bytes <= memory.max, "the limit is kept");
        PROVE((uintptr_t)block % LAWN_STORE_LINE == 0,
              "blocks begin on a cache line");
        PROVE(memory.alloc == NULL ||
                  (alloced == size + 64 && (unsigned char *)block > own &&
                   (unsigned char *)block <= own + 64),
              "the block is within the allocated memory");
        PROVE(!reused || (block == other && memory.kept_bytes == 0),
              "a kept block is used again");
    }
    PROOF_END();
}

void
memory_give(void)
{
    struct lawn_store_memory memory = any_memory();
    struct lawn_store_memory before = memory;
    size_t size = nondet_size();
    size_t cost;

    ASSUME(size > 0 && size <= MOST);
    ASSUME(memory.alloc != NULL || size >= 16384);
    cost = lawn__store_memory_cost(&memory, size);
    ASSUME(before.bytes >= cost + memory.kept_bytes);
    if (memory.alloc != NULL) {
        unsigned char *block = align_block(own);

        lawn__store_memory_give(&memory, block, size);
        PROVE(memory.bytes == before.bytes - cost, "bytes are counted");
        PROVE(releases == (memory.release != NULL), "given back once [S7]");
    } else {
        lawn__store_memory_give(&memory, mapped, size);
        PROVE(memory.bytes - memory.kept_bytes ==
                  before.bytes - before.kept_bytes - cost,
              "bytes are counted");
        PROVE(!refuses ||
                  (memory.kept == (void *)mapped && memory.kept->cost == cost &&
                   memory.kept->next == before.kept),
              "a block that the system refuses is kept");
        PROVE(refuses || memory.kept == NULL,
              "and is released when the system has room again");
        PROVE(memory.kept_bytes == (refuses ? 4096 + before.kept_bytes : 0),
              "what is kept is counted");
    }
    PROOF_END();
}

void
memory_probe(void)
{
    struct lawn_store_memory memory = any_memory();
    struct lawn_store_memory before = memory;
    size_t size = nondet_size() & ~(size_t)4095;
    bool good;

    refuses = false;
    good = lawn__store_memory_probe(&memory, size);
    PROVE(memory.bytes == before.bytes && memory.kept == before.kept &&
              memory.kept_bytes == before.kept_bytes,
          "a probe takes nothing");
    PROVE(!good || (size <= memory.max && before.bytes <= memory.max - size),
          "the limit is kept");
    PROVE(good || memory.error == -ENOMEM || memory.error == -ENOSPC,
          "a failure has its reason");
    PROVE(!good || unmappings == mappings, "the probe's mappings are released");
    PROOF_END();
}
