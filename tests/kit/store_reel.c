/* store_reel.c - a snapshot in memory: see store_reel.h. */
#include "store_reel.h"

#include "store_oracle.h"

#include <stdlib.h>
#include <string.h>

void
store_reel_init(struct store_reel *reel)
{
    memset(reel, 0, sizeof(*reel));
    reel->fail_at = SIZE_MAX;
}

void
store_reel_fini(struct store_reel *reel)
{
    free(reel->bytes);
}

int
store_reel_write(const void *bytes, size_t size, void *arg)
{
    struct store_reel *reel = (struct store_reel *)arg;

    if (reel->size + size > reel->fail_at) {
        return reel->error;
    }
    if (reel->size + size > reel->room) {
        size_t room = 2 * (reel->size + size);
        uint8_t *copy = store_oracle_alloc(room);

        if (reel->size > 0) {
            memcpy(copy, reel->bytes, reel->size);
        }
        free(reel->bytes);
        reel->bytes = copy;
        reel->room = room;
    }
    if (size > 0) {
        memcpy(reel->bytes + reel->size, bytes, size);
    }
    reel->size += size;
    return 0;
}

/* Reads pieces of all lengths up to the maximum. */
ptrdiff_t
store_reel_read(void *bytes, size_t size, void *arg)
{
    struct store_reel *reel = (struct store_reel *)arg;
    size_t end = reel->size < reel->fail_at ? reel->size : reel->fail_at;
    size_t left = end - reel->at;

    if (reel->at >= reel->fail_at) {
        return reel->error;
    }
    size = size < left ? size : left;
    if (reel->piece != 0) {
        size_t piece = 1 + reel->asked++ % reel->piece;

        size = size < piece ? size : piece;
    }
    if (size > 0) {
        memcpy(bytes, reel->bytes + reel->at, size);
    }
    reel->at += size;
    return (ptrdiff_t)size;
}
