/* gplain.c - no timers: ids and payloads in a GHashTable. */
#define HASH_PLAIN 1
#include "hash_glib.h"

/* Each searches the table once. */
static bool
start(void *arg, const void *id, uint64_t ttl, const void *payload)
{
    struct self *self = arg;
    struct record *record = hash_record(id, payload);

    (void)ttl;
    if (record == NULL) {
        return false;
    }
    (void)g_hash_table_replace(self->table, record, record);
    return true;
}

static bool
stop(void *arg, const void *id)
{
    struct self *self = arg;

    return g_hash_table_remove(self->table, id);
}

const struct store CONTENDER_PLUGIN = {
    .face =
        {
            .abi = CONTENDER_ABI,
            .name = "gplain",
            .title = "GHashTable",
            .about = "No timers: malloc'ed records with id and payload, found "
                     "by GLib's table. The cost of ids and payloads alone.",
            .kind = CONTENDER_FLOOR,
            .flags = CONTENDER_STORE,
            .version = table_version,
            .make = hash_make,
            .free = hash_free,
        },
    .start = start,
    .stop = stop,
    .get = hash_get,
    .count = hash_count,
};
