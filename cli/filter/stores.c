/* stores.c - the stores of a filter: see stores.h. */
#include "stores.h"
#include "due_batch.h"
#include "log.h"
#include "record.h"
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool
stores_open(struct filter *filter)
{
    struct filter_stores *stores = &filter->stores;
    struct lawn_store_options options = {.lawn.now = filter->clock.now};
    stores->keys = lawn_store_new(&options);
    stores->lines = lawn_store_new(&options);
    stores->early = lawn_store_new(&options);
    return stores->keys != NULL && stores->lines != NULL &&
           stores->early != NULL;
}

void
stores_close(struct filter *filter)
{
    lawn_store_free(filter->stores.keys);
    lawn_store_free(filter->stores.lines);
    lawn_store_free(filter->stores.early);
    due_batch_free(filter);
    free(filter->stores.reserve);
    free(filter->stores.scratch);
}

bool
stores_succeeded(struct filter *filter, int error)
{
    if (error == 0) {
        return true;
    }
    log_message(filter, "cannot hold a line: %s", lawn_store_strerror(error));
    filter_end(filter, VERBS_FAILED);
    free(filter->stores.reserve);
    filter->stores.reserve = NULL;
    return false;
}

/* Advances filter->stores.oldest over numbers without a held line, at most to
 * `to`. Returns true if it stopped at a held line. */
static bool
advance_oldest(struct filter *filter, uint64_t to,
               struct lawn_store_timer *line)
{
    struct filter_stores *stores = &filter->stores;
    if (filter->options.max_lines == UINT64_MAX) {
        return false;
    }
    for (; stores->oldest < to; stores->oldest++) {
        unsigned char id[RECORD_NUMBER];
        record_put(id, 0, stores->oldest);
        if (lawn_store_get(stores->lines, id, sizeof(id), line)) {
            return true;
        }
    }
    return false;
}

bool
stores_find_oldest_line(struct filter *filter, struct lawn_store_timer *line)
{
    return advance_oldest(filter, filter->stores.serial + 1, line);
}

enum line_result
stores_hold_line(struct filter *filter, const struct filter_line *line,
                 uint64_t deadline)
{
    unsigned char id[RECORD_NUMBER];
    record_put(id, 0, ++filter->stores.serial);
    int error = lawn_store_start(filter->stores.lines, id, sizeof(id), deadline,
                                 line->at, line->size, LAWN_STORE_AT);
    bool held = stores_succeeded(filter, error);
    for (int i = 0; i < 2; i++) { /* two steps per line, to catch up with
                                     removed lines */
        advance_oldest(filter, filter->stores.oldest + 1, NULL);
    }
    return held ? LINE_HELD : LINE_NOT_TAKEN;
}

void
stores_release_last_line(struct filter *filter)
{
    unsigned char id[RECORD_NUMBER];
    record_put(id, 0, filter->stores.serial);
    lawn_store_stop(filter->stores.lines, id, sizeof(id));
}

uint64_t
stores_line_number(const struct lawn_store_timer *timer)
{
    return record_get(timer->id, 0);
}

uint64_t
stores_line_order(const struct filter *filter,
                  const struct lawn_store_timer *timer)
{
    (void)filter;
    return stores_line_number(timer);
}

bool
stores_is_valid_line(const struct filter *filter,
                     const struct lawn_store_timer *timer)
{
    return timer->id_size == RECORD_NUMBER &&
           stores_line_number(timer) <= filter->stores.serial;
}

/* Grows the scratch memory. Returns false after stopping the filter if there is
 * no memory. */
static bool
reserve_scratch(struct filter *filter, size_t size)
{
    if (size <= filter->stores.scratch_size) {
        return true;
    }
    char *scratch = realloc(filter->stores.scratch, size + size / 2);
    if (scratch == NULL) {
        return stores_succeeded(filter, -ENOMEM);
    }
    filter->stores.scratch = scratch;
    filter->stores.scratch_size = size + size / 2;
    return true;
}

const void *
stores_build_record(struct filter *filter, const void *record,
                    size_t record_size, const void *line, size_t line_size)
{
    if (!reserve_scratch(filter, record_size + line_size)) {
        return NULL;
    }
    memcpy(filter->stores.scratch, record, record_size);
    if (line_size > 0) {
        memcpy(filter->stores.scratch + record_size, line, line_size);
    }
    return filter->stores.scratch;
}

const void *
stores_build_line_id(struct filter *filter, const void *key, size_t key_size,
                     uint64_t number, size_t *size)
{
    char *id = filter->stores.line_id;
    if (key_size > 0) {
        memcpy(id, key, key_size);
    }
    record_put((unsigned char *)id + key_size, 0, number);
    *size = key_size + RECORD_NUMBER;
    return id;
}
