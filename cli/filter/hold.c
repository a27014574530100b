/* hold.c - what is held, and how much of it may be: see hold.h. */
#include "hold.h"
#include "due.h"
#include "tell.h"
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool
hold_open(struct filter *filter)
{
    struct lawn_store_options options = {.lawn.now = filter->now};
    filter->keys = lawn_store_new(&options);
    filter->lines = lawn_store_new(&options);
    filter->early = lawn_store_new(&options);
    return filter->keys != NULL && filter->lines != NULL &&
           filter->early != NULL;
}

void
hold_close(struct filter *filter)
{
    lawn_store_free(filter->keys);
    lawn_store_free(filter->lines);
    lawn_store_free(filter->early);
    due_close(filter);
    free(filter->spare);
    free(filter->scratch);
}

bool
hold_started(struct filter *filter, int error)
{
    if (error == 0)
        return true;
    tell(filter, "cannot hold a line: %s", lawn_store_strerror(error));
    filter_end(filter, VERBS_FAILED);
    free(filter->spare);
    filter->spare = NULL;
    return false;
}

void
hold_give_back(struct filter *filter)
{
    filter->untaken = true;
}

/* Moves oldest on over numbers that no line has, up to a number. True: a line has
 * the one that it is at. */
static bool
hold_seek_oldest(struct filter *filter, uint64_t to)
{
    if (filter->options.max_lines == UINT64_MAX)
        return false;
    for (; filter->oldest < to; filter->oldest++) {
        if (lawn_store_get(filter->lines, &filter->oldest,
                           sizeof filter->oldest, NULL))
            return true;
    }
    return false;
}

void
hold_line(struct filter *filter, const struct filter_line *line,
          uint64_t deadline)
{
    uint64_t number = ++filter->serial;
    int error = lawn_store_start(filter->lines, &number, sizeof number,
                                 deadline, line->at, line->size, LAWN_STORE_AT);
    if (hold_started(filter, error))
        filter->counts.held++;
    else
        hold_give_back(filter);
    for (int i = 0; i < 2; i++) /* keeps up with what leaves */
        hold_seek_oldest(filter, filter->oldest + 1);
}

uint64_t
hold_number(const struct lawn_store_timer *timer)
{
    uint64_t number;
    memcpy(&number, timer->id, sizeof number);
    return number;
}

uint64_t
hold_order(const struct filter *filter, const struct lawn_store_timer *timer)
{
    (void)filter;
    return hold_number(timer);
}

bool
hold_is_numbered(const struct filter *filter,
                 const struct lawn_store_timer *timer)
{
    return timer->id_size == sizeof filter->serial &&
           hold_number(timer) <= filter->serial;
}

/* Room in the scratch; false: the filter ends. */
static bool
hold_reserve(struct filter *filter, size_t size)
{
    if (size <= filter->scratch_size)
        return true;
    char *scratch = realloc(filter->scratch, size + size / 2);
    if (scratch == NULL)
        return hold_started(filter, -ENOMEM);
    filter->scratch = scratch;
    filter->scratch_size = size + size / 2;
    return true;
}

const void *
hold_join(struct filter *filter, const void *record, size_t record_size,
          const void *line, size_t line_size)
{
    if (!hold_reserve(filter, record_size + line_size))
        return NULL;
    memcpy(filter->scratch, record, record_size);
    if (line_size > 0)
        memcpy(filter->scratch + record_size, line, line_size);
    return filter->scratch;
}

const void *
hold_id(struct filter *filter, const void *key, size_t key_size,
        uint64_t number, size_t *size)
{
    if (key_size > 0)
        memcpy(filter->id, key, key_size);
    memcpy(filter->id + key_size, &number, sizeof number);
    *size = key_size + sizeof number;
    return filter->id;
}

/* The timer that has to go: the one due first; of lines by number, which may have
 * many TTLs, the oldest. */
static bool
hold_find_first(struct filter *filter, struct lawn_store *store,
                struct lawn_store_timer *first)
{
    if (store != filter->lines || filter->line_order == NULL)
        return lawn_store_first(store, first);
    return hold_seek_oldest(filter, filter->serial + 1) &&
           lawn_store_get(store, &filter->oldest, sizeof filter->oldest, first);
}

static void
hold_evict(struct filter *filter, struct lawn_store *store)
{
    struct lawn_store_timer first;
    bool is_key = store == filter->keys;
    if (!hold_find_first(filter, store, &first))
        return;
    filter->counts.held -= is_key ? filter->key_holds : filter->line_holds;
    filter->counts.evicted++;
    filter->why = FILTER_EVICTED;
    if (!is_key)
        filter->verb->line_due(filter, &first);
    else if (filter->verb->key_due != NULL)
        filter->verb->key_due(filter, &first);
    filter->why = FILTER_DUE;
    lawn_store_stop(store, first.id, first.id_size);
}

/* A line is over a limit, and nothing is to be evicted for it. */
static void
hold_overflow(struct filter *filter, const struct filter_line *line,
              const char *what, uint64_t limit)
{
    if (filter->options.overflow == FILTER_PASS) {
        if (filter->verb->pass != NULL)
            filter->verb->pass(filter, line);
        else
            filter->counts.refused++;
        return;
    }
    int shown = (int)(line->key_size < 100 ? line->key_size : 100);
    tell(filter,
         "--max-%s %" PRIu64 ": no room for a line%s%.*s%s (--overflow evict "
         "or pass would go on)",
         what, limit, shown > 0 ? " of key '" : "", shown,
         shown > 0 ? (const char *)line->key : "", shown > 0 ? "'" : "");
    hold_give_back(filter);
    filter_end(filter, VERBS_INPUT);
}

static uint64_t
hold_count_keys(const struct filter *filter)
{
    return lawn_store_count(filter->keys) +
           (filter->line_keys ? lawn_store_count(filter->lines) : 0);
}

static uint64_t
hold_count_lines(const struct filter *filter)
{
    return filter->key_holds * lawn_store_count(filter->keys) +
           filter->line_holds * lawn_store_count(filter->lines);
}

bool
hold_has_key_room(struct filter *filter, const struct filter_line *line)
{
    uint64_t limit = filter->options.max_keys;
    if (hold_count_keys(filter) < limit ||
        lawn_store_get(filter->keys, line->key, line->key_size, NULL) ||
        (filter->line_keys &&
         lawn_store_get(filter->lines, line->key, line->key_size, NULL)))
        return true;
    if (filter->options.overflow != FILTER_EVICT) {
        hold_overflow(filter, line, "keys", limit);
        return false;
    }
    while (hold_count_keys(filter) >= limit) { /* more, after a resume */
        if (filter->verb->evict != NULL)
            filter->verb->evict(filter);
        else
            hold_evict(filter, filter->keys);
    }
    return true;
}

bool
hold_has_line_room(struct filter *filter, const struct filter_line *line)
{
    uint64_t limit = filter->options.max_lines;
    if (hold_count_lines(filter) < limit)
        return true;
    if (filter->options.overflow != FILTER_EVICT) {
        hold_overflow(filter, line, "lines", limit);
        return false;
    }
    while (hold_count_lines(filter) >= limit)
        hold_evict(filter, filter->pending);
    return true;
}
