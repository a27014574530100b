/* trace_ttls.h - the distinct TTLs of a trace, each with a small number.
 *
 * TTLs are numbered from 0 in the order of their first occurrence. A table with
 * open addressing; O(1), 32 to 64 bytes per TTL.
 */
#ifndef LAWN_CLI_TRACE_TTLS_H
#define LAWN_CLI_TRACE_TTLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_ttl {
    uint64_t ttl;
    uint64_t starts; /* both counts are for the caller */
    uint64_t live;
};

/* All-zero bytes are an empty table. */
struct trace_ttls {
    struct trace_ttl *ttls;
    size_t count;
    size_t room;     /* a power of two */
    uint32_t *table; /* twice room: a TTL's number + 1, or 0 */
    uint32_t last;   /* the last result; most traces repeat TTLs */
};

/* Returns the number of a TTL, which is added if it is new. UINT32_MAX: no
 * memory. */
uint32_t trace_ttls_number(struct trace_ttls *ttls, uint64_t ttl);

/* Sorts the TTLs, which changes their numbers. After this, nothing may be
 * looked up. O(n log n). */
void trace_ttls_sort(struct trace_ttls *ttls);
void trace_ttls_free(struct trace_ttls *ttls);

#endif
