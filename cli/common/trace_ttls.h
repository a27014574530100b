/* trace_ttls.h - the distinct TTLs of a trace, each with a small number.
 *
 * Numbers count from 0 in the order in which TTLs were first seen. A table with
 * open addressing; O(1), 28 to 52 bytes for each TTL.
 */
#ifndef LAWN_CLI_TRACE_TTLS_H
#define LAWN_CLI_TRACE_TTLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_ttl {
    uint64_t ttl;
    uint64_t starts; /* the two counts are the user's */
    uint64_t live;
};

/* All-zero bytes are an empty table. */
struct trace_ttls {
    struct trace_ttl *ttls;
    size_t count;
    size_t room;     /* a power of two */
    uint32_t *table; /* twice room: a TTL's number + 1, or 0 */
    uint32_t last;   /* what was asked for last; most traces repeat it */
};

/* The number of a TTL, new or not. UINT32_MAX: no memory. */
uint32_t trace_ttls_number(struct trace_ttls *ttls, uint64_t ttl);

/* Sorts them by TTL, so that their numbers are others. After this nothing may
 * be looked up. O(n log n). */
void trace_ttls_sort(struct trace_ttls *ttls);
void trace_ttls_free(struct trace_ttls *ttls);

#endif
