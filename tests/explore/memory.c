/* memory.c - see memory.h. */
#include "memory.h"

#include "explore.h"
#include "run.h"
#include "words.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if !defined MEMORY_POOL /* tests/sim has more */
#define MEMORY_POOL (256u * 1024)
#define MEMORY_PIECES 64
#endif
#define MEMORY_FILL 0xDD

struct memory_piece {
    unsigned char *at;
    size_t size;
    const char *name;
};

static _Alignas(64) unsigned char pool[MEMORY_POOL];
static size_t pool_used;
static struct memory_piece blocks[MEMORY_PIECES]; /* of the pool */
static unsigned block_count;
static struct memory_piece old_owner[MEMORY_PIECES];
static unsigned kept_count;
static struct memory_piece names[MEMORY_PIECES];
static unsigned name_count;
static struct memory_piece freed[MEMORY_PIECES];
unsigned memory_freed;

static unsigned char *saved;
static size_t saved_pool;
static unsigned saved_blocks;
static unsigned saved_freed;

static void
add(struct memory_piece *pieces, unsigned *count, void *at, size_t size,
    const char *name)
{
    if (*count == MEMORY_PIECES) {
        explore_fail("too many pieces of memory");
    }
    pieces[*count].at = at;
    pieces[*count].size = size;
    pieces[(*count)++].name = name;
}

void
memory_clear(void)
{
    pool_used = 0;
    block_count = 0;
    kept_count = 0;
    name_count = 0;
    memory_freed = 0;
}

void
memory_save(void)
{
    size_t size = pool_used;

    for (unsigned i = 0; i < kept_count; i++) {
        size += old_owner[i].size;
    }
    free(saved);
    saved = malloc(size + 1);
    if (saved == NULL) {
        abort();
    }
    memcpy(saved, pool, pool_used);
    saved_pool = size = pool_used;
    for (unsigned i = 0; i < kept_count; i++) {
        memcpy(saved + size, old_owner[i].at, old_owner[i].size);
        size += old_owner[i].size;
    }
    saved_blocks = block_count;
    saved_freed = memory_freed;
}

void
memory_restore(void)
{
    size_t at = saved_pool;

    memcpy(pool, saved, saved_pool);
    for (unsigned i = 0; i < kept_count; i++) {
        memcpy(old_owner[i].at, saved + at, old_owner[i].size);
        at += old_owner[i].size;
    }
    pool_used = saved_pool;
    block_count = saved_blocks;
    memory_freed = saved_freed;
}

bool
memory_is_freed(const void *word, size_t size)
{
    uintptr_t at = (uintptr_t)word;

    for (unsigned i = 0; i < memory_freed; i++) {
        uintptr_t from = (uintptr_t)freed[i].at;

        if (at + size > from && at < from + freed[i].size) {
            return true;
        }
    }
    return false;
}

bool
memory_intact(void)
{

    for (unsigned i = 0; i < memory_freed; i++) {
        for (size_t k = 0; k < freed[i].size; k++) {
            if (freed[i].at[k] != MEMORY_FILL) {
                return false;
            }
        }
    }
    return true;
}

const char *
memory_name(const void *word, size_t *offset)
{
    uintptr_t at = (uintptr_t)word;

    for (unsigned i = 0; i < name_count; i++) {
        uintptr_t from = (uintptr_t)names[i].at;

        if (at >= from && at < from + names[i].size) {
            *offset = at - from;
            return names[i].name;
        }
    }
    for (unsigned i = 0; i < block_count; i++) {
        uintptr_t from = (uintptr_t)blocks[i].at;

        if (at >= from && at < from + blocks[i].size) {
            *offset = at - from;
            return blocks[i].name;
        }
    }
    *offset = at;
    return "word";
}

void
explore_keep(void *memory, size_t size)
{
    add(old_owner, &kept_count, memory, size, NULL);
}

void
explore_name(const void *word, size_t size, const char *name)
{
    add(names, &name_count, (void *)(uintptr_t)word, size, name);
}

void *
explore_alloc(size_t size, void *context)
{
    static const char *const called[] = {"block 0", "block 1", "block 2",
                                         "block 3", "block 4", "block 5",
                                         "block 6", "block"};
    void *at = pool + pool_used;

    (void)context;
    if (size > MEMORY_POOL - 64 - pool_used) {
        explore_fail("the pool of the explorer is too small for %zu", size);
    }
    add(blocks, &block_count, at, size,
        called[block_count < 7 ? block_count : 7]);
    pool_used += (size + 63) / 64 * 64;
    memset(at, 0xA5, size);
    return at;
}

void
explore_release(void *memory, void *context)
{
    (void)context;
    for (unsigned i = 0; i < block_count; i++) {
        if (blocks[i].at == (unsigned char *)memory) {
            explore_free(memory, blocks[i].size);
            return;
        }
    }
    if (memory != NULL) {
        explore_fail("free of memory that was not allocated");
    }
}

void
explore_free(void *memory, size_t size)
{
    if (memory_is_freed(memory, size)) {
        explore_fail("freed twice");
    }
    run_drain(); /* the next owner sees all earlier stores */
    if (explore_me() < EXPLORE_FIBRES) {
        words_gone(memory, size, explore_me());
    }
    add(freed, &memory_freed, memory, size, NULL);
    memset(memory, MEMORY_FILL, size);
}

void
explore_renew(void *memory, size_t size)
{
    unsigned i = 0;

    for (i = 0; i < memory_freed && freed[i].at != (unsigned char *)memory;
         i++) {
    }
    if (i == memory_freed || freed[i].size != size) {
        explore_fail("reuse of memory that was not freed");
    }
    if (!memory_intact()) {
        explore_fail("write to freed memory");
    }
    freed[i] = freed[--memory_freed];
    memset(memory, 0, size);
}
