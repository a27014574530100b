/* pointers.h - a growing array of words that never moves.
 *
 * It consists of pieces, each twice as large as the previous one. So growing
 * copies nothing and is O(1). Access takes one more load than with an array.
 */
#ifndef LAWN_STORE_POINTERS_H
#define LAWN_STORE_POINTERS_H

#include "memory.h"

#include <stdbool.h>
#include <stdint.h>

#define LAWN_STORE_POINTERS_FIRST_BITS 4u
#define LAWN_STORE_POINTERS_PIECES 36u

struct lawn_store_pointers {
    uintptr_t *piece[LAWN_STORE_POINTERS_PIECES];
    uint64_t count;
};

static inline uint64_t
lawn__store_pointers_size(unsigned piece)
{
    return UINT64_C(1) << (piece + LAWN_STORE_POINTERS_FIRST_BITS);
}

static inline unsigned
lawn__store_pointers_piece(uint64_t index)
{
    return 63u - LAWN_STORE_POINTERS_FIRST_BITS -
           (unsigned)__builtin_clzll(index + lawn__store_pointers_size(0));
}

static inline unsigned
lawn__store_pointers_pieces(const struct lawn_store_pointers *pointers)
{
    return pointers->count == 0
               ? 0
               : lawn__store_pointers_piece(pointers->count - 1) + 1;
}

static inline size_t
lawn__store_pointers_bytes(unsigned piece)
{
    return (size_t)lawn__store_pointers_size(piece) * sizeof(uintptr_t);
}

/* index must be below count. Once the size of the first piece is added to it,
 * its highest bit selects the piece, and the other bits select the element. */
static inline uintptr_t *
lawn__store_pointers_at(const struct lawn_store_pointers *pointers,
                        uint64_t index)
{
    unsigned piece = lawn__store_pointers_piece(index);

    return &pointers->piece[piece][(index + lawn__store_pointers_size(0)) ^
                                   lawn__store_pointers_size(piece)];
}

/* Returns false if out of memory. */
static inline bool
lawn__store_pointers_add(struct lawn_store_pointers *pointers,
                         struct lawn_store_memory *memory, uintptr_t value)
{
    unsigned piece = lawn__store_pointers_piece(pointers->count);

    if (piece == lawn__store_pointers_pieces(pointers)) {
        pointers->piece[piece] = (uintptr_t *)lawn__store_memory_take(
            memory, lawn__store_pointers_bytes(piece));
        if (pointers->piece[piece] == NULL) {
            return false;
        }
    }
    *lawn__store_pointers_at(pointers, pointers->count++) = value;
    return true;
}

static inline void
lawn__store_pointers_drop(struct lawn_store_pointers *pointers,
                          struct lawn_store_memory *memory)
{
    unsigned piece = lawn__store_pointers_piece(--pointers->count);

    /* The piece has become empty. */
    if (piece == lawn__store_pointers_pieces(pointers)) {
        lawn__store_memory_give(memory, pointers->piece[piece],
                                lawn__store_pointers_bytes(piece));
    }
}

/* O(1). */
static inline void
lawn__store_pointers_drop_piece(struct lawn_store_pointers *pointers,
                                struct lawn_store_memory *memory)
{
    unsigned piece = lawn__store_pointers_pieces(pointers) - 1;

    /* Keep the first element of the piece; removing it frees the piece. */
    pointers->count =
        lawn__store_pointers_size(piece) - lawn__store_pointers_size(0) + 1;
    lawn__store_pointers_drop(pointers, memory);
}

#endif
