/* copy.h - a copy of the exact size, so that reading past it is detected. */
#ifndef LAWN_TESTS_COPY_H
#define LAWN_TESTS_COPY_H

#include "kit.h"

#include <stdlib.h>
#include <string.h>

/* The caller frees it. */
static inline char *
copy_bytes(const char *bytes, size_t size)
{
    char *copy = malloc(size + (size == 0));
    CHECK(copy != NULL);
    memcpy(copy, bytes, size);
    return copy;
}

#endif
