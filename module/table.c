/* table.c - segments that grow, split, merge and shrink: see table.h. */
#include "table.h"

#include "memory.h"
#include "sizes.h"

#include <lawn_store.h>
#include <sys/random.h>
#include <time.h>

/* The smallest segment, in bytes, and the most events in one. */
#define TABLE_SMALLEST 160u
#define TABLE_ROOM_MAX 4096u
/* A full segment of so many is split. */
#define TABLE_SPLIT 126u
/* Two segments that hold fewer together become one. */
#define TABLE_MERGE 47u
/* A directory of up to 2^6 gets smaller as soon as it can. */
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

/* A system without random numbers still has addresses that nobody was told, and
 * the time. */
static void
table_choose_key(void)
{
    if (getrandom(table_key, sizeof table_key, 0) !=
        (ssize_t)sizeof table_key) {
        struct timespec now = {0, 0};

        (void)timespec_get(&now, TIME_UTC);
        table_key[0] = (uint64_t)(uintptr_t)&now ^ (uint64_t)now.tv_sec;
        table_key[1] = (uint64_t)(uintptr_t)table_key ^ (uint64_t)now.tv_nsec;
    }
    table_key[0] |= 1; /* not 0, which is none */
}

uint64_t
table_hash(struct bytes id)
{
    if (table_key[0] == 0) {
        table_choose_key();
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
table_size(size_t room)
{
    size_t size = sizeof(struct table_segment) + room * TABLE_SLOT;

    return sizes_class(size > TABLE_SMALLEST ? size : TABLE_SMALLEST);
}

/* A segment with room for so many at least. */
static struct table_segment *
table_segment_new(struct table *table, size_t events, uint32_t depth)
{
    size_t size = table_size((events + 1) / 2 * 2);
    struct table_segment *segment =
        events <= TABLE_ROOM_MAX ? memory_alloc(size) : NULL;

    if (segment != NULL) {
        segment->used = 0;
        segment->room =
            (uint16_t)((size - sizeof *segment) / TABLE_SLOT / 2 * 2);
        segment->depth = depth;
        table->bytes += size;
    }
    return segment;
}

static void
table_segment_free(struct table *table, struct table_segment *segment)
{
    if (segment != NULL) {
        table->bytes -= table_size(segment->room);
        memory_free(segment);
    }
}

/* Behind those that are there: so many events of another segment. */
static void
table_append(struct table_segment *to, const struct table_segment *from,
             size_t first, size_t many)
{
    memcpy(&to->tags[to->used], &from->tags[first], many * sizeof *to->tags);
    memcpy(&table_events(to)[to->used], &table_events(from)[first],
           many * sizeof(struct event *));
    to->used = (uint16_t)(to->used + many);
}

static size_t
table_directory_size(uint32_t depth)
{
    return depth == 0 ? 0
                      : sizes_class(sizeof(struct table_segment *) << depth);
}

/* Another directory, or none. */
static void
table_lead_by(struct table *table, struct table_segment **directory,
              uint32_t depth)
{
    table->bytes -= table_directory_size(table->depth);
    table->bytes += table_directory_size(depth);
    memory_free(table->directory);
    table->directory = directory;
    table->depth = depth;
}

struct table_segment *
table_segment(const struct table *table, uint64_t hash)
{
    return table->depth == 0 ? table->only
                             : table->directory[hash >> (64 - table->depth)];
}

/* Where its range of hashes begins. */
static uint64_t
table_begin(const struct table_segment *segment, uint64_t hash)
{
    return segment->depth == 0
               ? 0
               : hash & ~((UINT64_C(1) << (64 - segment->depth)) - 1);
}

uint64_t
table_end(const struct table_segment *segment, uint64_t hash)
{
    return segment->depth == 0 ? 0
                               : table_begin(segment, hash) +
                                     (UINT64_C(1) << (64 - segment->depth));
}

/* Leads a range of hashes to a segment, of which one has this hash. */
static void
table_lead(struct table *table, uint64_t hash, struct table_segment *segment)
{
    uint64_t many;
    struct table_segment **at;

    if (table->depth == 0) {
        table->only = segment;
        return;
    }
    many = UINT64_C(1) << (table->depth - segment->depth);
    at = &table->directory[table_begin(segment, hash) >> (64 - table->depth)];
    while (many-- > 0) {
        *at++ = segment;
    }
}

void
table_moved(struct table *table, uint64_t hash, struct table_segment *segment)
{
    table_lead(table, hash, segment);
}

void
table_moved_directory(struct table *table, struct table_segment **directory)
{
    table->directory = directory;
}

/* The first place with this tag, or where it would be. */
static size_t
table_lower(const struct table_segment *segment, uint32_t tag)
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
    const struct table_segment *segment;

    place->hash = hash;
    place->at = 0;
    segment = place->segment = table_segment(table, hash);
    if (segment == NULL) {
        return NULL;
    }
    for (place->at = table_lower(segment, tag);
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

/* Another room for the events of a segment. False: no memory. */
static bool
table_resize(struct table *table, struct table_place *place, size_t events)
{
    struct table_segment *old = place->segment;
    struct table_segment *segment =
        table_segment_new(table, events, old->depth);

    if (segment == NULL) {
        return false;
    }
    table_append(segment, old, 0, old->used);
    table_lead(table, place->hash, segment);
    table_segment_free(table, old);
    place->segment = segment;
    return true;
}

/* Doubles the directory. There are not to be more entries than a quarter of the
 * events: what hashes that are spread evenly never ask for. */
static bool
table_deepen(struct table *table)
{
    size_t entries = (size_t)1 << table->depth;
    struct table_segment **directory;
    size_t i;

    if (table->depth >= TABLE_DEEPEST || entries * 2 > table->count / 4) {
        return false;
    }
    directory = memory_alloc(table_directory_size(table->depth + 1));
    if (directory == NULL) {
        return false;
    }
    for (i = 0; i < entries; i++) {
        directory[2 * i] = directory[2 * i + 1] =
            table->depth == 0 ? table->only : table->directory[i];
    }
    table_lead_by(table, directory, table->depth + 1);
    table->only = NULL;
    table->deepest = 0;
    return true;
}

/* Makes two of a segment. False: no memory, or no sense. */
static bool
table_split(struct table *table, struct table_place *place)
{
    struct table_segment *old = place->segment;
    uint32_t depth = old->depth + 1;
    struct table_segment *half[2];
    uint64_t begin = table_begin(old, place->hash);
    uint64_t middle;
    size_t first;

    if (old->depth == table->depth && !table_deepen(table)) {
        return false;
    }
    middle = begin | UINT64_C(1) << (64 - depth);
    first = table_lower(old, (uint32_t)(middle >> 32));
    half[0] = table_segment_new(table, first + 1, depth);
    half[1] = table_segment_new(table, old->used - first + 1, depth);
    if (half[0] == NULL || half[1] == NULL) {
        table_segment_free(table, half[0]);
        table_segment_free(table, half[1]);
        return false;
    }
    table_append(half[0], old, 0, first);
    table_append(half[1], old, first, old->used - first);
    table_lead(table, begin, half[0]);
    table_lead(table, middle, half[1]);
    table_segment_free(table, old);
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
        place->segment = table->only = table_segment_new(table, 1, 0);
        table->segments = table->deepest = table->only != NULL ? 1 : 0;
        return table->only != NULL;
    }
    while (place->segment->used == place->segment->room) {
        size_t used = place->segment->used;

        if ((used < TABLE_SPLIT || !table_split(table, place)) &&
            !table_resize(table, place, used + 1)) {
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

    memmove(tag + 1, tag, behind * sizeof *tag);
    memmove(at + 1, at, behind * sizeof(struct event *));
    *tag = (uint32_t)(place->hash >> 32);
    *at = event;
    segment->used++;
    table->count++;
}

/* Halves the directory if no segment needs all of it, and it is small, or much
 * too large. False: it stays. */
static bool
table_flatten(struct table *table, uint32_t depth)
{
    size_t entries = (size_t)1 << depth;
    struct table_segment **directory = NULL;
    size_t i;

    if (table->deepest != 0 ||
        (depth >= TABLE_SHALLOW && entries / 4 <= table->segments)) {
        return false;
    }
    if (depth > 0) {
        directory = memory_alloc(table_directory_size(depth));
        if (directory == NULL) {
            return false;
        }
    }
    table->only = depth == 0 ? table->directory[0] : NULL;
    for (i = 0; i < entries; i++) {
        struct table_segment *segment = table->directory[2 * i];

        if (directory != NULL) {
            directory[i] = segment;
        }
        table->deepest += segment->depth == depth ? 1 : 0;
    }
    table_lead_by(table, directory, depth);
    return true;
}

/* Makes one of two segments that hold few, if there is memory. */
static bool
table_merge(struct table *table, uint64_t hash)
{
    struct table_segment *one = table_segment(table, hash);
    struct table_segment *half[2];
    struct table_segment *both;
    uint32_t depth;
    uint64_t bit;

    if (one->depth == 0) {
        return false;
    }
    bit = UINT64_C(1) << (64 - one->depth);
    half[0] = table_segment(table, hash & ~bit);
    half[1] = table_segment(table, hash | bit);
    if (half[0]->depth != half[1]->depth ||
        half[0]->used + half[1]->used >= TABLE_MERGE) {
        return false;
    }
    both = table_segment_new(table, (size_t)half[0]->used + half[1]->used + 1,
                             one->depth - 1);
    if (both == NULL) {
        return false;
    }
    table_append(both, half[0], 0, half[0]->used);
    table_append(both, half[1], 0, half[1]->used);
    table->segments--;
    table->deepest -= one->depth == table->depth ? 2 : 0;
    table_lead(table, hash, both);
    table_segment_free(table, half[0]);
    table_segment_free(table, half[1]);
    for (depth = table->depth; depth > 0; depth--) {
        if (!table_flatten(table, depth - 1)) {
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
    size_t wanted;

    memmove(tag, tag + 1, behind * sizeof *tag);
    memmove(at, at + 1, behind * sizeof(struct event *));
    if (--table->count == 0) {
        table_clear(table);
        return;
    }
    while (table_merge(table, place->hash)) {
    }
    left.segment = table_segment(table, place->hash);
    wanted = left.segment->used + left.segment->used / 8u + 2u;
    if (left.segment->used < left.segment->room / 2 &&
        table_size(wanted) < table_size(left.segment->room)) {
        (void)table_resize(table, &left, wanted); /* else it stays larger */
    }
}

void
table_clear(struct table *table)
{
    uint64_t hash = 0;

    if (table_segment(table, 0) != NULL) {
        do {
            struct table_segment *segment = table_segment(table, hash);

            hash = table_end(segment, hash);
            table_segment_free(table, segment);
        } while (hash != 0);
    }
    memory_free(table->directory);
    *table = (struct table){0};
}

/* What is wrong with a segment whose range begins with a hash, or NULL. */
static const char *
table_wrong(const struct table *table, const struct table_segment *segment,
            uint64_t begin)
{
    const uint32_t *tags = segment->tags;
    uint64_t end = table_end(segment, begin) - 1;
    uint64_t step;
    uint64_t at;
    size_t i;

    if (segment->depth > table->depth || table_begin(segment, begin) != begin ||
        segment->used > segment->room) {
        return "a segment is where it cannot be";
    }
    step = table->depth == 0 ? 0 : UINT64_C(1) << (64 - table->depth);
    for (at = begin; step != 0 && at - 1 != end; at += step) {
        if (table_segment(table, at) != segment) {
            return "the directory leads elsewhere";
        }
    }
    for (i = 0; i < segment->used; i++) {
        struct event *event = table_events(segment)[i];
        struct table_place place;

        if (table_find(table, event_id(event), &place) != event ||
            place.segment != segment || place.at != i ||
            tags[i] != place.hash >> 32) {
            return "an event is not found";
        }
        if (i > 0 && tags[i - 1] > tags[i]) {
            return "tags are out of order";
        }
    }
    return NULL;
}

bool
table_check(const struct table *table, FILE *out)
{
    const char *wrong = NULL;
    size_t bytes = table_directory_size(table->depth);
    uint32_t segments = 0;
    uint32_t deepest = 0;
    uint64_t count = 0;
    uint64_t hash = 0;

    if (table_segment(table, 0) != NULL) {
        do {
            const struct table_segment *segment = table_segment(table, hash);

            wrong = table_wrong(table, segment, hash);
            count += segment->used;
            bytes += table_size(segment->room);
            segments++;
            deepest += segment->depth == table->depth ? 1 : 0;
            hash = table_end(segment, hash);
        } while (hash != 0 && wrong == NULL);
    }
    if (wrong == NULL &&
        (count != table->count || bytes != table->bytes ||
         segments != table->segments || deepest != table->deepest ||
         (count == 0) != (table->only == NULL && table->depth == 0))) {
        wrong = "the table counts wrong";
    }
    if (wrong != NULL && out != NULL) {
        (void)fprintf(out, "queue: [Q1] %s\n", wrong);
    }
    return wrong == NULL;
}
