/* store_tape.c - a snapshot in memory: see store_tape.h. */
#include "store_tape.h"

#include "store_oracle.h"

#include <stdlib.h>
#include <string.h>

void
store_tape_init(struct store_tape *tape)
{
    memset(tape, 0, sizeof *tape);
    tape->fail_at = SIZE_MAX;
}

void
store_tape_fini(struct store_tape *tape)
{
    free(tape->bytes);
}

int
store_tape_write(const void *bytes, size_t size, void *arg)
{
    struct store_tape *tape = (struct store_tape *)arg;

    if (tape->size + size > tape->fail_at) {
        return tape->error;
    }
    if (tape->size + size > tape->room) {
        size_t room = 2 * (tape->size + size);
        uint8_t *copy = store_oracle_alloc(room);

        if (tape->size > 0) {
            memcpy(copy, tape->bytes, tape->size);
        }
        free(tape->bytes);
        tape->bytes = copy;
        tape->room = room;
    }
    if (size > 0) {
        memcpy(tape->bytes + tape->size, bytes, size);
    }
    tape->size += size;
    return 0;
}

/* Pieces of all lengths up to the one set. */
ptrdiff_t
store_tape_read(void *bytes, size_t size, void *arg)
{
    struct store_tape *tape = (struct store_tape *)arg;
    size_t end = tape->size < tape->fail_at ? tape->size : tape->fail_at;
    size_t left = end - tape->at;

    if (tape->at >= tape->fail_at) {
        return tape->error;
    }
    size = size < left ? size : left;
    if (tape->piece != 0) {
        size_t piece = 1 + tape->asked++ % tape->piece;

        size = size < piece ? size : piece;
    }
    if (size > 0) {
        memcpy(bytes, tape->bytes + tape->at, size);
    }
    tape->at += size;
    return (ptrdiff_t)size;
}
