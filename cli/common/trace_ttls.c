/* trace_ttls.c - the distinct TTLs of a trace. */
#include "trace_ttls.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

/* Returns the place of a TTL in the table, or the free place where it
 * belongs. */
static size_t
find_place(const struct trace_ttls *ttls, uint64_t ttl)
{
    size_t mask = 2 * ttls->room - 1;
    size_t place = (size_t)random_mix(ttl) & mask;
    while (ttls->table[place] != 0 &&
           ttls->ttls[ttls->table[place] - 1].ttl != ttl) {
        place = (place + 1) & mask;
    }
    return place;
}

static bool
grow_table(struct trace_ttls *ttls)
{
    size_t room = ttls->room > 0 ? 2 * ttls->room : 64;
    uint32_t *table = calloc(2 * room, sizeof(*table));
    struct trace_ttl *list = realloc(ttls->ttls, room * sizeof(*list));
    if (list != NULL) {
        ttls->ttls = list;
    }
    if (list == NULL || table == NULL) {
        free(table);
        return false;
    }
    free(ttls->table);
    ttls->table = table;
    ttls->room = room;
    for (size_t i = 0; i < ttls->count; i++) {
        table[find_place(ttls, list[i].ttl)] = (uint32_t)i + 1;
    }
    return true;
}

uint32_t
trace_ttls_number(struct trace_ttls *ttls, uint64_t ttl)
{
    if (ttls->count > 0 && ttls->ttls[ttls->last].ttl == ttl) {
        return ttls->last;
    }
    if (ttls->count == ttls->room &&
        (ttls->count >= UINT32_MAX / 2 || !grow_table(ttls))) {
        return UINT32_MAX;
    }
    size_t place = find_place(ttls, ttl);
    if (ttls->table[place] == 0) {
        ttls->ttls[ttls->count] = (struct trace_ttl){.ttl = ttl};
        ttls->table[place] = (uint32_t)++ttls->count;
    }
    ttls->last = ttls->table[place] - 1;
    return ttls->last;
}

static int
compare_ttls(const void *a, const void *b)
{
    const struct trace_ttl *x = a;
    const struct trace_ttl *y = b;
    return (x->ttl > y->ttl) - (x->ttl < y->ttl);
}

void
trace_ttls_sort(struct trace_ttls *ttls)
{
    if (ttls->count > 0) {
        qsort(ttls->ttls, ttls->count, sizeof(ttls->ttls[0]), compare_ttls);
    }
}

void
trace_ttls_free(struct trace_ttls *ttls)
{
    free(ttls->ttls);
    free(ttls->table);
    memset(ttls, 0, sizeof(*ttls));
}
