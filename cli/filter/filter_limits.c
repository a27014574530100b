/* filter_limits.c - --max-keys, --max-lines and --overflow: see
 * filter_limits.h.
 *
 * Eviction removes the timer that is due first: O(1) if all timers have one
 * TTL, otherwise see lawn_store_next_timer(). Lines that are stored by number
 * may have many TTLs. Of these, eviction removes the oldest line: O(1)
 * amortized.
 */
#include "filter_limits.h"
#include "log.h"
#include "stores.h"
#include "verbs.h"

#include <inttypes.h>

/* Finds the timer to evict. */
static bool
find_victim(struct filter *filter, struct lawn_store *store,
            struct lawn_store_timer *victim)
{
    if (store != filter->stores.lines || filter->setup.line_order == NULL) {
        return lawn_store_next_timer(store, victim);
    }
    return stores_find_oldest_line(filter, victim);
}

static void
evict_first(struct filter *filter, struct lawn_store *store)
{
    struct lawn_store_timer victim;
    bool is_key = store == filter->stores.keys;
    if (!find_victim(filter, store, &victim)) {
        return;
    }
    filter->counts.held -=
        is_key ? filter->setup.key_holds : filter->setup.line_holds;
    filter->counts.evicted++;
    filter->run.cause = CAUSE_EVICTED;
    if (!is_key) {
        filter->verb->line_due(filter, &victim);
    } else if (filter->verb->key_due != NULL) {
        filter->verb->key_due(filter, &victim);
    }
    filter->run.cause = CAUSE_DUE;
    lawn_store_stop(store, victim.id, victim.id_size);
}

/* Processes a line that exceeds a limit, with --overflow pass or fail. */
static enum line_result
reject_line(struct filter *filter, const struct filter_line *line,
            const char *limit_name, uint64_t limit)
{
    if (filter->options.overflow == FILTER_PASS) {
        return filter->verb->pass != NULL ? filter->verb->pass(filter, line)
                                          : LINE_REFUSED;
    }
    int shown = (int)(line->key_size < 100 ? line->key_size : 100);
    log_message(filter,
                "--max-%s %" PRIu64 ": no room for a line%s%.*s%s; use "
                "--overflow evict or pass to continue",
                limit_name, limit, shown > 0 ? " with key '" : "", shown,
                shown > 0 ? (const char *)line->key : "", shown > 0 ? "'" : "");
    filter_end(filter, VERBS_INPUT);
    return LINE_NOT_TAKEN;
}

static uint64_t
count_keys(const struct filter *filter)
{
    return lawn_store_count(filter->stores.keys) +
           (filter->setup.line_keys ? lawn_store_count(filter->stores.lines)
                                    : 0);
}

static uint64_t
count_lines(const struct filter *filter)
{
    return filter->setup.key_holds * lawn_store_count(filter->stores.keys) +
           filter->setup.line_holds * lawn_store_count(filter->stores.lines);
}

bool
filter_limits_admit_key(struct filter *filter, const struct filter_line *line,
                        enum line_result *result)
{
    uint64_t limit = filter->options.max_keys;
    if (count_keys(filter) < limit ||
        lawn_store_get(filter->stores.keys, line->key, line->key_size, NULL) ||
        (filter->setup.line_keys &&
         lawn_store_get(filter->stores.lines, line->key, line->key_size,
                        NULL))) {
        return true;
    }
    if (filter->options.overflow != FILTER_EVICT) {
        *result = reject_line(filter, line, "keys", limit);
        return false;
    }
    while (count_keys(filter) >= limit) { /* a state may contain more keys */
        if (filter->verb->evict != NULL) {
            filter->verb->evict(filter);
        } else {
            evict_first(filter, filter->stores.keys);
        }
    }
    return true;
}

bool
filter_limits_admit_line(struct filter *filter, const struct filter_line *line,
                         enum line_result *result)
{
    uint64_t limit = filter->options.max_lines;
    if (count_lines(filter) < limit) {
        return true;
    }
    if (filter->options.overflow != FILTER_EVICT) {
        *result = reject_line(filter, line, "lines", limit);
        return false;
    }
    while (count_lines(filter) >= limit) {
        evict_first(filter, filter->setup.pending);
    }
    return true;
}
