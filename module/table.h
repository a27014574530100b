/* table.h - finds events by id.
 *
 * Extendible hashing: a directory by the first bits of a hash leads to segments.
 * A segment has all events whose hashes begin alike, in the order of the first 32
 * bits of the hash, their tags. These are spread evenly, so a tag tells within a
 * few places where it stands: one look at the directory, a line or two of tags,
 * one event. Two halves of a segment are two segments, and no event is looked at
 * to make them.
 *
 * A segment grows by steps as memory comes, 4 to the power of two; one of 126
 * becomes two. So a table takes 12 to 16 bytes per event at any size, and no call
 * does more than the work of one segment, but for copies of the directory, which
 * has 8 bytes for some 50 events.
 *
 * The hash is keyed, as ids come from anyone. If it were not, or for want of
 * memory, segments grow beyond 126, and the directory no longer: that gets slow,
 * not wrong.
 */
#ifndef TABLE_H
#define TABLE_H

#include "event.h"

/* The tags come first, then as many pointers to events. */
struct table_segment {
    uint16_t used;
    uint16_t room;  /* an even number */
    uint32_t depth; /* how many first bits of the hashes are alike */
    uint32_t tags[];
};

/* All zero is an empty table. */
struct table {
    struct table_segment **directory; /* 2^depth of them; NULL: depth is 0 */
    struct table_segment *only;       /* the segment then; NULL: no events */
    uint32_t depth;
    uint32_t segments;
    uint32_t deepest; /* segments that have the depth of the table */
    uint64_t count;
    size_t bytes; /* of its memory */
};

/* Where an event is, or could be put in; until the table is changed. */
struct table_place {
    uint64_t hash;
    struct table_segment *segment; /* NULL: the table is empty */
    size_t at;
};

/* The key of the hash for all tables: random, unless a test has set one while
 * there were no events. */
void table_set_key(const uint64_t key[2]);
uint64_t table_hash(struct bytes id);

/* The event of that id, or NULL, and its place. */
struct event *table_find(const struct table *table, struct bytes id,
                         struct table_place *place);

/* Puts another in the place of one that was found. */
void table_replace(const struct table_place *place, struct event *event);

/* Makes room at a place where nothing was found. False: no memory. */
bool table_reserve(struct table *table, struct table_place *place);

/* Puts in an event at a place that room was made at. */
void table_add(struct table *table, const struct table_place *place,
               struct event *event);

/* Takes out what was found. */
void table_remove(struct table *table, const struct table_place *place);

/* Gives all its memory back; the events stay. */
void table_clear(struct table *table);

/* The segment of those hashes that begin as this one, or NULL; and where the range
 * of hashes of the next one begins, 0 at the end. */
struct table_segment *table_find_segment(const struct table *table,
                                         uint64_t hash);
uint64_t table_end(const struct table_segment *segment, uint64_t hash);
struct event **table_events(const struct table_segment *segment);

/* A segment, which has this hash, or the directory has been moved in memory. */
void table_moved(struct table *table, uint64_t hash,
                 struct table_segment *segment);
void table_moved_directory(struct table *table,
                           struct table_segment **directory);

bool table_check(const struct table *table, FILE *out);

#endif
