/* hash_uthash.h - a table by uthash: chains, with a table that doubles when
 * they get long, and a list of all records in the order of insertion. */
#ifndef LAWN_BENCH_PEERS_HASH_UTHASH_H
#define LAWN_BENCH_PEERS_HASH_UTHASH_H

/* By default it ends the program if there is no memory. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(record) ((void)(record))
/* The hash of the record or id at key; uthash's default, Jenkins's, takes
 * longer. */
#define HASH_FUNCTION(key, size, out) ((out) = hash_id(key))

#include <uthash.h>

#define HASH_LINK UT_hash_handle hh;
#define HASH_TABLE struct record *

#include "hash.h"

#define HASH_TEXT(x) HASH_TEXT_(x)
#define HASH_TEXT_(x) #x

static inline const char *
table_version(void)
{
    return HASH_TEXT(UTHASH_VERSION);
}

static inline bool
table_init(struct self *self)
{
    self->table = NULL; /* an empty table */
    return true;
}

static inline void
table_fini(struct self *self)
{
    struct record *record = self->table;

    if (record != NULL) {
        uthash_free(record->hh.tbl->buckets, 0);
        uthash_free(record->hh.tbl, 0);
    }
    while (record != NULL) {
        struct record *next = record->hh.next;

        free(record);
        record = next;
    }
}

static inline struct record *
table_find(struct self *self, const void *id, unsigned hash)
{
    struct record *record = NULL;

    HASH_FIND_BYHASHVALUE(hh, self->table, id, STORE_ID, hash, record);
    return record;
}

static inline bool
table_add(struct self *self, struct record *record, unsigned hash)
{
    HASH_ADD_BYHASHVALUE(hh, self->table, id, STORE_ID, hash, record);
    return record->hh.tbl != NULL;
}

static inline void
table_remove(struct self *self, struct record *record)
{
    HASH_DELETE(hh, self->table, record);
}

static inline struct record *
table_take(struct self *self, const void *id)
{
    struct record *record = table_find(self, id, hash_id(id));

    if (record != NULL) {
        table_remove(self, record);
    }
    return record;
}

static inline uint64_t
table_count(const struct self *self)
{
    return HASH_COUNT(self->table);
}

#endif
