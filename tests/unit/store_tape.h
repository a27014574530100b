/* store_tape.h - helpers for tests of snapshots: a tape to save to and load
 * from, a writer that adds correct checksums to any contents, and an allocator
 * that counts and can refuse. */
#ifndef LAWN_TESTS_UNIT_STORE_TAPE_H
#define LAWN_TESTS_UNIT_STORE_TAPE_H

#include "lawn_store.h"

/* Bytes in memory that are written and read. */
struct tape {
    unsigned char *bytes;
    size_t size;
    size_t room;
    size_t at;       /* read position */
    size_t piece;    /* maximum bytes per read; 0: no limit */
    size_t fail;     /* fail after this number of bytes read or written ... */
    int error;       /* ... with this error; 0: never */
    size_t writes;   /* number of calls */
    uint64_t number; /* of the next checksum */
    uint64_t last;   /* the previous checksum */
};

lawn_store_write_fn tape_write;
lawn_store_read_fn tape_read;

void tape_free(struct tape *tape);

/* Sets the contents; bytes may point into the tape. */
void tape_set(struct tape *tape, const void *bytes, size_t size);

/* Saves a store to an empty tape; loads from its beginning. */
void tape_save(struct tape *tape, struct lawn_store *store);
int tape_load(struct tape *tape, struct lawn_store *store);

/* Numbers, little-endian. */
void tape_put(struct tape *tape, uint64_t number, unsigned bytes);

/* Writes the checksum of the last size bytes, as defined in
 * docs/SNAPSHOT.md. */
void tape_sum(struct tape *tape, size_t size);

/* Write a header (at the beginning of a tape), a block, the end block. */
void tape_header(struct tape *tape, uint32_t version, uint32_t flags,
                 uint64_t count, uint64_t first);
void tape_block(struct tape *tape, const void *bytes, size_t size);
void tape_end(struct tape *tape);

/* Writes a single record without a block. how: its last two bytes. */
void tape_record(struct tape *tape, uint64_t deadline, uint64_t ttl,
                 const char *id, const char *payload, unsigned how);

/* Counts the memory of a store. */
struct meter {
    size_t live;
    size_t peak;
    uint64_t requests;
    uint64_t refuse; /* number of the refused request, from 1; 0: none */
    bool for_good;   /* refuse all later ones as well */
};

struct lawn_store *meter_store(struct meter *meter, uint64_t now);
struct lawn_store *meter_store_classes(struct meter *meter, uint64_t now,
                                       size_t classes);

/* Checks that two stores have the same contents. */
void check_same(struct lawn_store *a, struct lawn_store *b);

/* Checks that an empty store is unchanged, with this many bytes and this time,
 * and still works. */
void check_unchanged(struct lawn_store *store, size_t bytes, uint64_t now);

#endif
