/* hash_glib.h - a table by GLib's GHashTable: open addressing, with hashes and
 * pointers in separate arrays. A record begins with its id, so it is its own
 * key, and the table is a set, which saves an array. */
#ifndef LAWN_BENCH_PEERS_HASH_GLIB_H
#define LAWN_BENCH_PEERS_HASH_GLIB_H

#include <glib.h>
#include <stdio.h>

#define HASH_LINK
#define HASH_TABLE GHashTable *

#include "hash.h"

static inline const char *
table_version(void)
{
    static char text[32];

    (void)snprintf(text, sizeof(text), "%u.%u.%u", glib_major_version,
                   glib_minor_version, glib_micro_version);
    return text;
}

static gboolean
table_equal(const void *a, const void *b)
{
    return memcmp(a, b, STORE_ID) == 0;
}

/* The table frees records that it removes, except stolen ones. */
static inline bool
table_init(struct self *self)
{
    self->table = g_hash_table_new_full(hash_id, table_equal, free, NULL);
    return true;
}

static inline void
table_fini(struct self *self)
{
    g_hash_table_destroy(self->table);
}

static inline struct record *
table_find(struct self *self, const void *id, unsigned hash)
{
    (void)hash;
    return g_hash_table_lookup(self->table, id);
}

/* GLib ends the program if there is no memory. */
static inline bool
table_add(struct self *self, struct record *record, unsigned hash)
{
    (void)hash;
    (void)g_hash_table_add(self->table, record);
    return true;
}

static inline void
table_remove(struct self *self, struct record *record)
{
    (void)g_hash_table_steal(self->table, record);
}

static inline struct record *
table_take(struct self *self, const void *id)
{
    void *record = NULL;

    (void)g_hash_table_steal_extended(self->table, id, &record, NULL);
    return record;
}

static inline uint64_t
table_count(const struct self *self)
{
    return g_hash_table_size(self->table);
}

#endif
