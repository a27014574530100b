/* ids.c - generated ids: see ids.h.
 *
 * Only the last generated or seen id is stored. The next one is greater: by its
 * time if the clock has advanced, otherwise by its number. O(1).
 */
#include "ids.h"

#include "args.h"

#include <stdio.h>

static uint64_t ids_ms;
static uint64_t ids_number;

size_t
ids_next(uint64_t now, char id[IDS_SIZE])
{
    /* All ids that replicas accept are used up, because of a forged id. */
    bool spent = ids_ms == IDS_MS_MAX && ids_number == IDS_NUMBER_MAX;

    if (now > IDS_MS_MAX) {
        now = IDS_MS_MAX;
    }
    if (now > ids_ms || spent) {
        ids_ms = now;
        ids_number = 0;
    } else if (ids_number < IDS_NUMBER_MAX) {
        ids_number++;
    } else {
        ids_ms++;
        ids_number = 0;
    }
    return (size_t)snprintf(id, IDS_SIZE, "%llu-%llu",
                            (unsigned long long)ids_ms,
                            (unsigned long long)ids_number);
}

void
ids_last(uint64_t *ms, uint64_t *number)
{
    *ms = ids_ms;
    *number = ids_number;
}

void
ids_seen(uint64_t ms, uint64_t number)
{
    if (ms > IDS_MS_MAX || number > IDS_NUMBER_MAX) {
        return;
    }
    if (ms > ids_ms || (ms == ids_ms && number > ids_number)) {
        ids_ms = ms;
        ids_number = number;
    }
}

bool
ids_seen_text(struct bytes id)
{
    size_t dash = 0;

    while (dash < id.size && id.at[dash] != '-') {
        dash++;
    }
    if (dash == id.size) {
        return false;
    }
    struct bytes before = {id.at, dash};
    struct bytes behind = {id.at + dash + 1, id.size - dash - 1};
    uint64_t ms = 0;
    uint64_t number = 0;
    if (!args_parse_number(before, 0, IDS_MS_MAX, &ms) ||
        !args_parse_number(behind, 0, IDS_NUMBER_MAX, &number)) {
        return false;
    }
    ids_seen(ms, number);
    return true;
}
