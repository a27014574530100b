/* ghash.c - hand-written timers by id: records in a GHashTable, and a 4-ary
 * heap. */
#include "hash_glib.h"

const struct store CONTENDER_PLUGIN = {
    .face =
        {
            .abi = CONTENDER_ABI,
            .name = "ghash",
            .title = "GHashTable, heap",
            .about = "What people write by hand: a malloc'ed record with id, "
                     "payload and deadline, found by GLib's table, in a heap. "
                     "O(log n), but a start that resizes the table takes O(n).",
            .kind = CONTENDER_PEER,
            .flags = CONTENDER_STORE | CONTENDER_EXACT | CONTENDER_ORDERED |
                     CONTENDER_BUDGET,
            .version = table_version,
            .make = hash_make,
            .free = hash_free,
        },
    .start = hash_start,
    .stop = hash_stop,
    .get = hash_get,
    .touch = hash_touch,
    .mow = hash_mow,
    .count = hash_count,
};
