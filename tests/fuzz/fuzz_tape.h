/* fuzz_tape.h - snapshots in memory, read in pieces of varying sizes. */
#ifndef LAWN_TESTS_FUZZ_TAPE_H
#define LAWN_TESTS_FUZZ_TAPE_H

#include "fuzz.h"

#include <string.h>

struct fuzz_tape {
    uint8_t *bytes;
    size_t size;
    size_t room;
    size_t at;       /* the position of the reader */
    uint64_t number; /* the next checksum */
    uint64_t last;   /* the previous checksum, for writers */
};

static inline int
fuzz_tape_write(const void *bytes, size_t size, void *arg)
{
    struct fuzz_tape *tape = arg;

    if (tape->size + size > tape->room) {
        tape->room = 2 * (tape->size + size);
        tape->bytes = realloc(tape->bytes, tape->room);
        fuzz_check(tape->bytes != NULL);
    }
    if (size > 0) {
        memcpy(tape->bytes + tape->size, bytes, size);
    }
    tape->size += size;
    return 0;
}

static inline ptrdiff_t
fuzz_tape_read(void *bytes, size_t size, void *arg)
{
    struct fuzz_tape *tape = arg;
    size_t some = tape->size - tape->at;

    if (some > 1 + tape->at % 37) {
        some = 1 + tape->at % 37;
    }
    if (some > size) {
        some = size;
    }
    if (some > 0) {
        memcpy(bytes, tape->bytes + tape->at, some);
    }
    tape->at += some;
    return (ptrdiff_t)some;
}

#endif
