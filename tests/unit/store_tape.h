/* store_tape.h - for the tests of snapshots: a tape to save to and load from, a
 * writer that puts right checksums on anything, and an allocator that counts,
 * and refuses. */
#ifndef LAWN_TESTS_UNIT_STORE_TAPE_H
#define LAWN_TESTS_UNIT_STORE_TAPE_H

#include "lawn_store.h"

/* Bytes that were written, and are read again. */
struct tape {
    unsigned char *bytes;
    size_t size;
    size_t room;
    size_t at;       /* where reading has got to */
    size_t piece;    /* at most so many bytes per read; 0: all that is asked */
    size_t fail;     /* fail when so many bytes have been read or written ... */
    int error;       /* ... with this; 0: do not */
    size_t writes;   /* how many calls */
    uint64_t number; /* of the next checksum */
    uint64_t last;   /* the one before */
};

lawn_store_write_fn tape_write;
lawn_store_read_fn tape_read;

void tape_free(struct tape *tape);

/* Makes it hold these bytes; they may be its own. */
void tape_set(struct tape *tape, const void *bytes, size_t size);

/* Saves a store to an empty tape; loads from its beginning. */
void tape_save(struct tape *tape, struct lawn_store *store);
int tape_load(struct tape *tape, struct lawn_store *store);

/* Numbers, little-endian. */
void tape_put(struct tape *tape, uint64_t number, unsigned bytes);

/* The checksum of the size bytes last written, as docs/SNAPSHOT.md has it. */
void tape_sum(struct tape *tape, size_t size);

/* A header, the first thing on a tape; a block; the end block. */
void tape_header(struct tape *tape, uint32_t version, uint32_t flags,
                 uint64_t count, uint64_t first);
void tape_block(struct tape *tape, const void *bytes, size_t size);
void tape_end(struct tape *tape);

/* A record by itself, without blocks. how: its two last bytes. */
void tape_record(struct tape *tape, uint64_t deadline, uint64_t ttl,
                 const char *id, const char *payload, unsigned how);

/* The memory of a store. */
struct meter {
    size_t live;
    size_t peak;
    uint64_t requests;
    uint64_t refuse; /* the number of the request to refuse, from 1; 0: none */
    bool for_good;   /* and all after it */
};

struct lawn_store *meter_store(struct meter *meter, uint64_t now);

/* That two stores hold the same. */
void check_same(struct lawn_store *a, struct lawn_store *b);

/* That an empty store is as it was when it had so many bytes at that time, and
 * still works. */
void check_unchanged(struct lawn_store *store, size_t bytes, uint64_t now);

#endif
