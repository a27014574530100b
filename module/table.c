/* table.c - segments that grow, split, merge and shrink: see table.h. */
#include "table.h"

#include "memory.h"
#include "sizes.h"

#include <lawn_store.h>
#include <sys/random.h>
#include <time.h>

/* The smallest segment, in bytes, and the maximum number of events in one. */
#define TABLE_SMALLEST 160u
#define TABLE_ROOM_MAX 4096u
/* A full segment of this size is split. */
#define TABLE_SPLIT 126u
/* Two segments with fewer events in total are merged. */
#define TABLE_MERGE 47u
/* A directory of up to 2^6 entries shrinks as soon as possible. */
#define TABLE_SHALLOW 6u
/* Tags have 32 bits. */
#define TABLE_DEEPEST 31u
#define TABLE_SLOT (sizeof(struct event *) + sizeof(uint32_t))

static uint64_t table_key[2];

void
table_set_key(const uint64_t key[2])
{
    table_key[0] = key[0];
    table_key[1] = key[1];
}

/* If getrandom() fails, use addresses, which an attacker does not know, and the
 * time. */
static void
choose_key(void)
{
    if (getrandom(table_key, sizeof(table_key), 0) !=
        (ssize_t)sizeof(table_key)) {
        struct timespec now = {0, 0};

        (void)timespec_get(&now, TIME_UTC);
        table_key[0] = (uint64_t)(uintptr_t)&now ^ (uint64_t)now.tv_sec;
        table_key[1] = (uint64_t)(uintptr_t)table_key ^ (uint64_t)now.tv_nsec;
    }
    table_key[0] |= 1; /* not 0, which means unset */
}

uint64_t
table_hash(struct bytes id)
{
    if (table_key[0] == 0) {
        choose_key();
    }
    return lawn_hash(table_key, id.at, id.size);
}

struct event **
table_events(const struct table_segment *segment)
{
    uintptr_t end = (uintptr_t)&segment->tags[segment->room];

    return (struct event **)end;
}

static size_t
segment_size(size_t room)
{
    size_t size = sizeof(struct table_segment) + room * TABLE_SLOT;

    return sizes_class(size > TABLE_SMALLEST ? size : TABLE_SMALLEST);
}

static struct table_segment *
new_segment(struct table *table, size_t events, uint32_t depth)
{
    size_t size = segment_size((events + 1) / 2 * 2);
    struct table_segment *segment =
        events <= TABLE_ROOM_MAX ? memory_alloc(size) : NULL;

    if (segment != NULL) {
        segment->used = 0;
        segment->room =
            (uint16_t)((size - sizeof(*segment)) / TABLE_SLOT / 2 * 2);
        segment->depth = depth;
        table->bytes += size;
    }
    return segment;
}

static void
free_segment(struct table *table, struct table_segment *segment)
{
    if (segment != NULL) {
        table->bytes -= segment_size(segment->room);
        memory_free(segment);
    }
}

static void
append_events(struct table_segment *to, const struct table_segment *from,
              size_t first, size_t many)
{
    memcpy(&to->tags[to->used], &from->tags[first], many * sizeof(*to->tags));
    memcpy(&table_events(to)[to->used], &table_events(from)[first],
           many * sizeof(struct event *));
    to->used = (uint16_t)(to->used + many);
}

static size_t
directory_size(uint32_t depth)
{
    return depth == 0 ? 0
                      : sizes_class(sizeof(struct table_segment *) << depth);
}

/* Replaces the directory; NULL: none. */
static void
set_directory(struct table *table, struct table_segment **directory,
              uint32_t depth)
{
    table->bytes -= directory_size(table->depth);
    table->bytes += directory_size(depth);
    memory_free(table->directory);
    table->directory = directory;
    table->depth = depth;
}

struct table_segment *
table_find_segment(const struct table *table, uint64_t hash)
{
    return table->depth == 0 ? table->only
                             : table->directory[hash >> (64 - table->depth)];
}

/* Returns the beginning of the segment's range of hashes. */
static uint64_t
begin_probe(const struct table_segment *segment, uint64_t hash)
{
    return segment->depth == 0
               ? 0
               : hash & ~((UINT64_C(1) << (64 - segment->depth)) - 1);
}

uint64_t
table_end(const struct table_segment *segment, uint64_t hash)
{
    return segment->depth == 0 ? 0
                               : begin_probe(segment, hash) +
                                     (UINT64_C(1) << (64 - segment->depth));
}

/* Links a segment for its range of hashes, which includes this hash. */
static void
link_segment(struct table *table, uint64_t hash, struct table_segment *segment)
{

    if (table->depth == 0) {
        table->only = segment;
        return;
    }
    uint64_t many = UINT64_C(1) << (table->depth - segment->depth);
    struct table_segment **at =
        &table->directory[begin_probe(segment, hash) >> (64 - table->depth)];
    while (many-- > 0) {
        *at++ = segment;
    }
}

void
table_moved(struct table *table, uint64_t hash, struct table_segment *segment)
{
    link_segment(table, hash, segment);
}

void
table_moved_directory(struct table *table, struct table_segment **directory)
{
    table->directory = directory;
}

/* Returns the first position with this tag, or where it would be. */
static size_t
find_tag(const struct table_segment *segment, uint32_t tag)
{
    const uint32_t *tags = segment->tags;
    size_t used = segment->used;
    uint64_t share = tag << segment->depth;
    size_t at = (size_t)(used * share >> 32);

    __builtin_prefetch(&table_events(segment)[at]);
    while (at > 0 && tags[at - 1] >= tag) {
        at--;
    }
    while (at < used && tags[at] < tag) {
        at++;
    }
    return at;
}

struct event *
table_find(const struct table *table, struct bytes id,
           struct table_place *place)
{
    uint64_t hash = table_hash(id);
    uint32_t tag = (uint32_t)(hash >> 32);

    place->hash = hash;
    place->at = 0;
    const struct table_segment *segment = place->segment =
        table_find_segment(table, hash);
    if (segment == NULL) {
        return NULL;
    }
    for (place->at = find_tag(segment, tag);
         place->at < segment->used && segment->tags[place->at] == tag;
         place->at++) {
        struct event *event = table_events(segment)[place->at];

        if (bytes_equal(event_id(event), id)) {
            return event;
        }
    }
    return NULL;
}

void
table_replace(const struct table_place *place, struct event *event)
{
    table_events(place->segment)[place->at] = event;
}

static bool
resize_segment(struct table *table, struct table_place *place, size_t events)
{
    struct table_segment *old = place->segment;
    struct table_segment *segment = new_segment(table, events, old->depth);

    if (segment == NULL) {
        return false;
    }
    append_events(segment, old, 0, old->used);
    link_segment(table, place->hash, segment);
    free_segment(table, old);
    place->segment = segment;
    return true;
}

/* Doubles the directory, unless it would then have more entries than a quarter
 * of the events; evenly distributed hashes do not require more. */
static bool
double_directory(struct table *table)
{
    size_t entries = (size_t)1 << table->depth;

    if (table->depth >= TABLE_DEEPEST || entries * 2 > table->count / 4) {
        return false;
    }
    struct table_segment **directory =
        memory_alloc(directory_size(table->depth + 1));
    if (directory == NULL) {
        return false;
    }
    for (size_t i = 0; i < entries; i++) {
        directory[2 * i] = directory[2 * i + 1] =
            table->depth == 0 ? table->only : table->directory[i];
    }
    set_directory(table, directory, table->depth + 1);
    table->only = NULL;
    table->deepest = 0;
    return true;
}

/* Splits a segment in two. Returns false if memory allocation fails or
 * splitting would not help. */
static bool
split_segment(struct table *table, struct table_place *place)
{
    struct table_segment *old = place->segment;
    uint32_t depth = old->depth + 1;
    uint64_t begin = begin_probe(old, place->hash);

    if (old->depth == table->depth && !double_directory(table)) {
        return false;
    }
    uint64_t middle = begin | UINT64_C(1) << (64 - depth);
    size_t first = find_tag(old, (uint32_t)(middle >> 32));
    struct table_segment *half[2];
    half[0] = new_segment(table, first + 1, depth);
    half[1] = new_segment(table, old->used - first + 1, depth);
    if (half[0] == NULL || half[1] == NULL) {
        free_segment(table, half[0]);
        free_segment(table, half[1]);
        return false;
    }
    append_events(half[0], old, 0, first);
    append_events(half[1], old, first, old->used - first);
    link_segment(table, begin, half[0]);
    link_segment(table, middle, half[1]);
    free_segment(table, old);
    table->segments++;
    table->deepest += depth == table->depth ? 2 : 0;
    place->segment = half[place->hash >= middle];
    place->at -= place->hash >= middle ? first : 0;
    return true;
}

bool
table_reserve(struct table *table, struct table_place *place)
{
    if (place->segment == NULL) {
        place->segment = table->only = new_segment(table, 1, 0);
        table->segments = table->deepest = table->only != NULL ? 1 : 0;
        return table->only != NULL;
    }
    while (place->segment->used == place->segment->room) {
        size_t used = place->segment->used;

        if ((used < TABLE_SPLIT || !split_segment(table, place)) &&
            !resize_segment(table, place, used + 1)) {
            return false;
        }
    }
    return true;
}

void
table_add(struct table *table, const struct table_place *place,
          struct event *event)
{
    struct table_segment *segment = place->segment;
    uint32_t *tag = &segment->tags[place->at];
    struct event **at = &table_events(segment)[place->at];
    size_t behind = segment->used - place->at;

    memmove(tag + 1, tag, behind * sizeof(*tag));
    memmove(at + 1, at, behind * sizeof(struct event *));
    *tag = (uint32_t)(place->hash >> 32);
    *at = event;
    segment->used++;
    table->count++;
}

/* Halves the directory if no segment needs its full depth and it is small or
 * much too large. Returns false if it is unchanged. */
static bool
halve_directory(struct table *table, uint32_t depth)
{
    size_t entries = (size_t)1 << depth;
    struct table_segment **directory = NULL;

    if (table->deepest != 0 ||
        (depth >= TABLE_SHALLOW && entries / 4 <= table->segments)) {
        return false;
    }
    if (depth > 0) {
        directory = memory_alloc(directory_size(depth));
        if (directory == NULL) {
            return false;
        }
    }
    table->only = depth == 0 ? table->directory[0] : NULL;
    for (size_t i = 0; i < entries; i++) {
        struct table_segment *segment = table->directory[2 * i];

        if (directory != NULL) {
            directory[i] = segment;
        }
        table->deepest += segment->depth == depth ? 1 : 0;
    }
    set_directory(table, directory, depth);
    return true;
}

static bool
merge_segments(struct table *table, uint64_t hash)
{
    struct table_segment *one = table_find_segment(table, hash);

    if (one->depth == 0) {
        return false;
    }
    uint64_t bit = UINT64_C(1) << (64 - one->depth);
    struct table_segment *half[2];
    half[0] = table_find_segment(table, hash & ~bit);
    half[1] = table_find_segment(table, hash | bit);
    if (half[0]->depth != half[1]->depth ||
        half[0]->used + half[1]->used >= TABLE_MERGE) {
        return false;
    }
    struct table_segment *both = new_segment(
        table, (size_t)half[0]->used + half[1]->used + 1, one->depth - 1);
    if (both == NULL) {
        return false;
    }
    append_events(both, half[0], 0, half[0]->used);
    append_events(both, half[1], 0, half[1]->used);
    table->segments--;
    table->deepest -= one->depth == table->depth ? 2 : 0;
    link_segment(table, hash, both);
    free_segment(table, half[0]);
    free_segment(table, half[1]);
    for (uint32_t depth = table->depth; depth > 0; depth--) {
        if (!halve_directory(table, depth - 1)) {
            break;
        }
    }
    return true;
}

void
table_remove(struct table *table, const struct table_place *place)
{
    struct table_place left = *place;
    struct table_segment *segment = place->segment;
    uint32_t *tag = &segment->tags[place->at];
    struct event **at = &table_events(segment)[place->at];
    size_t behind = --segment->used - place->at;

    memmove(tag, tag + 1, behind * sizeof(*tag));
    memmove(at, at + 1, behind * sizeof(struct event *));
    if (--table->count == 0) {
        table_clear(table);
        return;
    }
    while (merge_segments(table, place->hash)) {
    }
    left.segment = table_find_segment(table, place->hash);
    size_t wanted = left.segment->used + left.segment->used / 8u + 2u;
    if (left.segment->used < left.segment->room / 2 &&
        segment_size(wanted) < segment_size(left.segment->room)) {
        /* on failure it stays larger */
        (void)resize_segment(table, &left, wanted);
    }
}

void
table_clear(struct table *table)
{
    if (table_find_segment(table, 0) != NULL) {
        uint64_t hash = 0;

        do {
            struct table_segment *segment = table_find_segment(table, hash);

            hash = table_end(segment, hash);
            free_segment(table, segment);
        } while (hash != 0);
    }
    memory_free(table->directory);
    *table = (struct table){0};
}

/* Returns the error in a segment whose range begins with a hash, or NULL. */
static const char *
find_fault(const struct table *table, const struct table_segment *segment,
           uint64_t begin)
{
    const uint32_t *tags = segment->tags;
    uint64_t end = table_end(segment, begin) - 1;

    if (segment->depth > table->depth || begin_probe(segment, begin) != begin ||
        segment->used > segment->room) {
        return "a segment has an invalid depth, position or size";
    }
    uint64_t step = table->depth == 0 ? 0 : UINT64_C(1) << (64 - table->depth);
    for (uint64_t at = begin; step != 0 && at - 1 != end; at += step) {
        if (table_find_segment(table, at) != segment) {
            return "the directory points to a wrong segment";
        }
    }
    for (size_t i = 0; i < segment->used; i++) {
        struct event *event = table_events(segment)[i];
        struct table_place place;

        if (table_find(table, event_id(event), &place) != event ||
            place.segment != segment || place.at != i ||
            tags[i] != place.hash >> 32) {
            return "an event cannot be found by its id";
        }
        if (i > 0 && tags[i - 1] > tags[i]) {
            return "tags are not sorted";
        }
    }
    return NULL;
}

bool
table_check(const struct table *table, FILE *out)
{
    const char *wrong = NULL;
    size_t bytes = directory_size(table->depth);
    uint32_t segments = 0;
    uint32_t deepest = 0;
    uint64_t count = 0;

    if (table_find_segment(table, 0) != NULL) {
        uint64_t hash = 0;

        do {
            const struct table_segment *segment =
                table_find_segment(table, hash);

            wrong = find_fault(table, segment, hash);
            count += segment->used;
            bytes += segment_size(segment->room);
            segments++;
            deepest += segment->depth == table->depth ? 1 : 0;
            hash = table_end(segment, hash);
        } while (hash != 0 && wrong == NULL);
    }
    if (wrong == NULL &&
        (count != table->count || bytes != table->bytes ||
         segments != table->segments || deepest != table->deepest ||
         (count == 0) != (table->only == NULL && table->depth == 0))) {
        wrong = "the counters of the table are wrong";
    }
    if (wrong != NULL && out != NULL) {
        (void)fprintf(out, "queue: [Q1] %s\n", wrong);
    }
    return wrong == NULL;
}
