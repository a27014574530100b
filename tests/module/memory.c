/* memory.c - blocks from malloc(), counted with the size classes of the
 * servers' allocator: eight to sixteen bytes apart, then four per power of two.
 * A header in front of each block stores both sizes. */
#include "memory_kit.h"

#include "rng.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct memory_head {
    size_t whole;
    size_t asked;
};

/* Another thread may free a queue. */
static _Atomic uint64_t memory_block_count;
static _Atomic uint64_t memory_byte_count;
static uint64_t memory_call_count;
static uint64_t memory_left = UINT64_MAX;
static uint64_t memory_of;
static struct rng memory_rng;

void
memory_fail_after(uint64_t calls)
{
    memory_left = calls;
}

void
memory_fail_often(uint64_t of, uint64_t seed)
{
    memory_of = of;
    memory_rng.state = seed;
}

uint64_t
memory_blocks(void)
{
    return memory_block_count;
}

uint64_t
memory_bytes(void)
{
    return memory_byte_count;
}

uint64_t
memory_calls(void)
{
    return memory_call_count;
}

static size_t
memory_class(size_t size)
{
    size_t step = 16;

    if (size <= 8) {
        return 8;
    }
    if (size > 128) {
        step = (size_t)1 << (63 - __builtin_clzll(size - 1)) >> 2;
    }
    return (size + step - 1) / step * step;
}

static bool
memory_fails(void)
{
    memory_call_count++;
    if (memory_left == 0 ||
        (memory_of != 0 && rng_below(&memory_rng, memory_of) == 0)) {
        return true;
    }
    memory_left -= memory_left != UINT64_MAX ? 1 : 0;
    return false;
}

static struct memory_head *
head_of(const void *memory)
{
    return (struct memory_head *)((uintptr_t)memory -
                                  sizeof(struct memory_head));
}

void *
memory_alloc(size_t size)
{
    struct memory_head *head =
        memory_fails() ? NULL : malloc(sizeof(*head) + size);

    if (head == NULL) {
        return NULL;
    }
    *head = (struct memory_head){memory_class(size), size};
    memory_block_count++;
    memory_byte_count += head->whole;
    return head + 1;
}

void
memory_free(void *memory)
{
    if (memory != NULL) {
        memory_block_count--;
        memory_byte_count -= head_of(memory)->whole;
        free(head_of(memory));
    }
}

size_t
memory_size(const void *memory)
{
    return head_of(memory)->whole;
}

void *
memory_move(void *memory)
{
    size_t size = head_of(memory)->asked;
    void *moved = memory_alloc(size);

    if (moved != NULL) {
        memcpy(moved, memory, size);
        memset(memory, 0xA5, size);
        memory_free(memory);
    }
    return moved;
}
