/* table.h - finds events by id.
 *
 * Extendible hashing: a directory by the first bits of a hash leads to segments.
 * A segment has all events whose hashes begin alike, in the order of the last 16
 * bits of the hash, their tags. These are spread evenly, so a tag tells within a
 * few places where it stands: one look at the directory, one or two lines of
 * tags, one event.
 *
 * A segment grows by steps as memory comes, 4 to the power of two; one of 255
 * becomes two. So a table takes 10 to 13 bytes per event at any size, and no
 * call does more than the work of one segment, but for copies of the directory,
 * which has 8 bytes for some 100 events.
 *
 * The hash is keyed, as ids come from anyone. If it were not, or for want of
 * memory, segments grow beyond 255, and the directory no longer: that gets slow,
 * not wrong.
 */
#ifndef TABLE_H
#define TABLE_H

#include "event.h"

/* More than this do not stand in one segment. */
#define TABLE_ROOM_MAX 4088u

/* Pointers to events come first, then their tags. */
struct table_segment {
    uint16_t used;
    uint16_t room;
    uint32_t depth; /* how many first bits of the hashes are alike */
    struct event *events[];
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

/* The key of the hash for all tables: random, unless a test has set one while
 * there were no events. */
void table_set_key(const uint64_t key[2]);
uint64_t table_hash(struct bytes id);

/* Where it points to the event of that id, or NULL. */
struct event **table_find(const struct table *table, uint64_t hash,
                          struct bytes id);

/* Makes room for one more event. False: no memory. */
bool table_reserve(struct table *table, uint64_t hash);

/* Puts in an event that there was room made for. */
void table_add(struct table *table, uint64_t hash, struct event *event);

/* Takes out what table_find() found. */
void table_remove(struct table *table, uint64_t hash, struct event **at);

/* Gives all its memory back; the events stay. */
void table_clear(struct table *table);

/* The segment of those hashes that begin as this one, or NULL; where its range
 * of hashes begins, and where the next one's does, 0 at the end. */
struct table_segment *table_segment(const struct table *table, uint64_t hash);
uint64_t table_begin(const struct table_segment *segment, uint64_t hash);
uint64_t table_end(const struct table_segment *segment, uint64_t hash);

/* A segment, which has this hash, or the directory has been moved in memory. */
void table_moved(struct table *table, uint64_t hash,
                 struct table_segment *segment);
void table_moved_directory(struct table *table,
                           struct table_segment **directory);

bool table_check(const struct table *table, FILE *out);

#endif
