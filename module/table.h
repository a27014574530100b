/* table.h - finds events by id.
 *
 * Extendible hashing: a directory, indexed by the first bits of a hash, points
 * to segments. A segment has all events whose hashes have the same first bits,
 * sorted by the first 32 bits of the hash, the tags. Tags are evenly
 * distributed, so the position of a tag can be predicted within a few entries.
 * A lookup reads one directory entry, one or two cache lines of tags, and one
 * event. Splitting a segment in half needs no access to the events.
 *
 * A segment grows in steps, 4 per power of two; at 126 events it is split. So a
 * table takes 12 to 16 bytes per event. A call does at most the work of one
 * segment, unless it copies the directory. The directory has an entry of 8
 * bytes for each 50 events or so.
 *
 * The hash is keyed, because clients choose the ids. With colliding hashes, or
 * without memory for the directory, segments grow beyond 126 events: the table
 * becomes slow but stays correct.
 */
#ifndef TABLE_H
#define TABLE_H

#include "event.h"

/* Followed by the tags, then by as many pointers to events. */
struct table_segment {
    uint16_t used;
    uint16_t room;  /* an even number */
    uint32_t depth; /* number of common first bits of the hashes */
    uint32_t tags[];
};

/* All zero is an empty table. */
struct table {
    struct table_segment **directory; /* 2^depth entries; NULL: depth is 0 */
    /* the only segment if depth is 0; NULL: no events */
    struct table_segment *only;
    uint32_t depth;
    uint32_t segments;
    uint32_t deepest; /* segments that have the depth of the table */
    uint64_t count;
    size_t bytes; /* of its memory */
};

/* The position of an event, or where it would be added; valid until the table
 * changes. */
struct table_place {
    uint64_t hash;
    struct table_segment *segment; /* NULL: the table is empty */
    size_t at;
};

/* Sets the key of the hash for all tables. It is random unless a test sets one
 * while there are no events. */
void table_set_key(const uint64_t key[2]);
uint64_t table_hash(struct bytes id);

/* Returns the event with this id, or NULL. Sets *place. */
struct event *table_find(const struct table *table, struct bytes id,
                         struct table_place *place);

/* Replaces a found event. */
void table_replace(const struct table_place *place, struct event *event);

/* Makes room at a position where no event was found. Returns false if memory
 * allocation fails. */
bool table_reserve(struct table *table, struct table_place *place);

/* Adds an event at a position with room. */
void table_add(struct table *table, const struct table_place *place,
               struct event *event);

/* Removes a found event. */
void table_remove(struct table *table, const struct table_place *place);

/* Frees all memory of the table; does not free the events. */
void table_clear(struct table *table);

/* table_find_segment() returns the segment whose range includes this hash, or
 * NULL. table_end() returns where the next range begins, 0 at the end. */
struct table_segment *table_find_segment(const struct table *table,
                                         uint64_t hash);
uint64_t table_end(const struct table_segment *segment, uint64_t hash);
struct event **table_events(const struct table_segment *segment);

/* Report that a segment, whose range includes this hash, or the directory was
 * moved in memory. */
void table_moved(struct table *table, uint64_t hash,
                 struct table_segment *segment);
void table_moved_directory(struct table *table,
                           struct table_segment **directory);

bool table_check(const struct table *table, FILE *out);

#endif
