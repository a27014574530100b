/* uplain.c - no timers: ids and payloads in a uthash. */
#define HASH_PLAIN 1
#include "hash_uthash.h"

const struct store CONTENDER_PLUGIN = {
    .face =
        {
            .abi = CONTENDER_ABI,
            .name = "uplain",
            .title = "uthash",
            .about = "No timers: malloc'ed records with id and payload, found "
                     "by uthash. The cost of ids and payloads alone.",
            .kind = CONTENDER_FLOOR,
            .flags = CONTENDER_STORE,
            .version = table_version,
            .make = hash_make,
            .free = hash_free,
        },
    .start = hash_start,
    .stop = hash_stop,
    .get = hash_get,
    .count = hash_count,
};
