/* bytes.h - a borrowed string of bytes: any content, not terminated. */
#ifndef BYTES_H
#define BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct bytes {
    const char *at;
    size_t size;
};

static inline struct bytes
bytes_of(const char *text)
{
    return (struct bytes){text, strlen(text)};
}

static inline bool
bytes_equal(struct bytes a, struct bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

#endif
