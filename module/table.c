/* table.c - segments that grow, split, merge and shrink: see table.h. */
#define _DEFAULT_SOURCE
#include "table.h"

#include "memory.h"

#include <lawn_store.h>
#include <sys/random.h>
#include <time.h>

/* The smallest segment, in bytes: 15 events. */
#define TABLE_SMALLEST 160u
/* A full segment of so many is split. */
#define TABLE_SPLIT 255u
/* Two segments that hold fewer together become one. */
#define TABLE_MERGE 95u
/* A directory of up to 2^6 gets smaller as soon as it can. */
#define TABLE_SHALLOW 6u
/* A bit for each event of the largest. */
#define TABLE_WORDS (TABLE_ROOM_MAX / 64 + 1)
#define TABLE_SLOT (sizeof(struct event *) + sizeof(uint16_t))

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

static inline uint16_t *
table_tags(const struct table_segment *segment)
{
    struct table_segment *own = (struct table_segment *)(uintptr_t)segment;

    return (uint16_t *)(void *)&own->events[own->room];
}

/* What an allocator makes of a size: four classes to the power of two, which is
 * what the servers' has. */
static size_t
table_class(size_t size)
{
    size_t step;

    if (size <= TABLE_SMALLEST) {
        return TABLE_SMALLEST;
    }
    step = (size_t)1 << (63 - __builtin_clzll(size - 1)) >> 2;
    return (size + step - 1) & ~(step - 1);
}

/* A segment with room for so many at least. */
static struct table_segment *
table_segment_new(struct table *table, size_t events, uint32_t depth)
{
    size_t size =
        table_class(sizeof(struct table_segment) + events * TABLE_SLOT);
    struct table_segment *segment =
        events <= TABLE_ROOM_MAX ? memory_alloc(size) : NULL;

    if (segment != NULL) {
        segment->used = 0;
        segment->room =
            (uint16_t)((size - sizeof(struct table_segment)) / TABLE_SLOT);
        segment->depth = depth;
        table->bytes += memory_size(segment);
    }
    return segment;
}

static void
table_give(struct table *table, void *memory)
{
    if (memory != NULL) {
        table->bytes -= memory_size(memory);
        memory_free(memory);
    }
}

/* Behind those that are there. */
static void
table_append(struct table_segment *segment, struct event *event, uint16_t tag)
{
    table_tags(segment)[segment->used] = tag;
    segment->events[segment->used++] = event;
}

struct table_segment *
table_segment(const struct table *table, uint64_t hash)
{
    return table->depth == 0 ? table->only
                             : table->directory[hash >> (64 - table->depth)];
}

uint64_t
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
table_place(const struct table_segment *segment, uint16_t tag)
{
    const uint16_t *tags = table_tags(segment);
    size_t used = segment->used;
    size_t at = used * tag >> 16;

    while (at > 0 && tags[at - 1] >= tag) {
        at--;
    }
    while (at < used && tags[at] < tag) {
        at++;
    }
    return at;
}

struct event **
table_find(const struct table *table, uint64_t hash, struct bytes id)
{
    struct table_segment *segment = table_segment(table, hash);
    uint16_t tag = (uint16_t)hash;
    size_t at;

    if (segment == NULL) {
        return NULL;
    }
    for (at = table_place(segment, tag);
         at < segment->used && table_tags(segment)[at] == tag; at++) {
        if (bytes_equal(event_id(segment->events[at]), id)) {
            return &segment->events[at];
        }
    }
    return NULL;
}

/* Another room for the events of a segment. False: no memory. */
static bool
table_resize(struct table *table, uint64_t hash, size_t events)
{
    struct table_segment *old = table_segment(table, hash);
    struct table_segment *segment =
        table_segment_new(table, events, old->depth);

    if (segment == NULL) {
        return false;
    }
    segment->used = old->used;
    memcpy(segment->events, old->events, old->used * sizeof *old->events);
    memcpy(table_tags(segment), table_tags(old), old->used * sizeof(uint16_t));
    table_lead(table, hash, segment);
    table_give(table, old);
    return true;
}

/* Doubles the directory. There are not to be more entries than an eighth of the
 * events: what hashes that are spread evenly never ask for. */
static bool
table_deepen(struct table *table)
{
    size_t entries = (size_t)1 << table->depth;
    struct table_segment **directory;
    size_t i;

    if (entries * 2 > table->count / 8) {
        return false;
    }
    directory = memory_alloc(2 * entries * sizeof(struct table_segment *));
    if (directory == NULL) {
        return false;
    }
    for (i = 0; i < entries; i++) {
        directory[2 * i] = directory[2 * i + 1] =
            table->depth == 0 ? table->only : table->directory[i];
    }
    table->bytes += memory_size(directory);
    table_give(table, table->directory);
    table->directory = directory;
    table->only = NULL;
    table->depth++;
    table->deepest = 0;
    return true;
}

/* Tells which events of a segment go to the second half of its range, and how
 * many they are. */
static size_t
table_sides(const struct table_segment *segment, uint64_t *second)
{
    size_t many = 0;
    size_t i;

    memset(second, 0, TABLE_WORDS * sizeof *second);
    for (i = 0; i < segment->used; i++) {
        uint64_t hash;

        if (i + 8 < segment->used) {
            __builtin_prefetch(segment->events[i + 8]);
        }
        hash = table_hash(event_id(segment->events[i]));
        if (hash << segment->depth >> 63 != 0) {
            second[i / 64] |= UINT64_C(1) << i % 64;
            many++;
        }
    }
    return many;
}

/* Makes two of a segment. False: no memory, or no sense. */
static bool
table_split(struct table *table, uint64_t hash)
{
    struct table_segment *old = table_segment(table, hash);
    uint64_t second[TABLE_WORDS];
    struct table_segment *half[2];
    uint32_t depth = old->depth + 1;
    size_t many;
    size_t i;

    if (old->depth == table->depth && !table_deepen(table)) {
        return false;
    }
    many = table_sides(old, second);
    half[0] = table_segment_new(table, old->used - many + 1, depth);
    half[1] = table_segment_new(table, many + 1, depth);
    if (half[0] == NULL || half[1] == NULL) {
        table_give(table, half[0]);
        table_give(table, half[1]);
        return false;
    }
    for (i = 0; i < old->used; i++) {
        table_append(half[second[i / 64] >> i % 64 & 1], old->events[i],
                     table_tags(old)[i]);
    }
    hash = table_begin(old, hash);
    table_lead(table, hash, half[0]);
    table_lead(table, table_end(half[0], hash), half[1]);
    table_give(table, old);
    table->segments++;
    table->deepest += depth == table->depth ? 2 : 0;
    return true;
}

bool
table_reserve(struct table *table, uint64_t hash)
{
    const struct table_segment *segment = table_segment(table, hash);

    if (segment == NULL) {
        table->only = table_segment_new(table, 1, 0);
        table->segments = table->deepest = table->only != NULL ? 1 : 0;
        return table->only != NULL;
    }
    while (segment->used == segment->room) {
        if ((segment->used < TABLE_SPLIT || !table_split(table, hash)) &&
            !table_resize(table, hash, segment->used + 1u)) {
            return false;
        }
        segment = table_segment(table, hash);
    }
    return true;
}

void
table_add(struct table *table, uint64_t hash, struct event *event)
{
    struct table_segment *segment = table_segment(table, hash);
    uint16_t *tags = table_tags(segment);
    size_t at = table_place(segment, (uint16_t)hash);
    size_t behind = segment->used - at;

    memmove(&segment->events[at + 1], &segment->events[at],
            behind * sizeof(struct event *));
    memmove(&tags[at + 1], &tags[at], behind * sizeof *tags);
    segment->events[at] = event;
    tags[at] = (uint16_t)hash;
    segment->used++;
    table->count++;
}

/* Halves the directory if no segment needs all of it. */
static void
table_flatten(struct table *table)
{
    while (table->depth > 0 && table->deepest == 0 &&
           (table->depth <= TABLE_SHALLOW ||
            (UINT64_C(1) << table->depth) / 8 > table->segments)) {
        size_t entries = (size_t)1 << (table->depth - 1);
        struct table_segment **old = table->directory;
        struct table_segment **directory = NULL;
        size_t i;

        if (entries > 1) {
            directory = memory_alloc(entries * sizeof *directory);
            if (directory == NULL) {
                return;
            }
            table->bytes += memory_size(directory);
        }
        table->depth--;
        for (i = 0; i < entries; i++) {
            if (directory != NULL) {
                directory[i] = old[2 * i];
            }
            /* Once each: where its range begins. */
            if (old[2 * i]->depth == table->depth) {
                table->deepest++;
            }
        }
        table->only = directory == NULL ? old[0] : NULL;
        table->directory = directory;
        table_give(table, old);
    }
}

/* Makes one of two segments that hold few, if there is memory. */
static bool
table_merge(struct table *table, uint64_t hash)
{
    struct table_segment *one = table_segment(table, hash);
    struct table_segment *other;
    struct table_segment *both;
    size_t i = 0;
    size_t j = 0;

    if (one->depth == 0) {
        return false;
    }
    other = table_segment(table, hash ^ UINT64_C(1) << (64 - one->depth));
    if (other->depth != one->depth || one->used + other->used >= TABLE_MERGE) {
        return false;
    }
    both = table_segment_new(table, (size_t)one->used + other->used + 1,
                             one->depth - 1);
    if (both == NULL) {
        return false;
    }
    while (i < one->used || j < other->used) {
        if (j == other->used ||
            (i < one->used && table_tags(one)[i] <= table_tags(other)[j])) {
            table_append(both, one->events[i], table_tags(one)[i]);
            i++;
        } else {
            table_append(both, other->events[j], table_tags(other)[j]);
            j++;
        }
    }
    table->segments--;
    table->deepest -= one->depth == table->depth ? 2 : 0;
    table_lead(table, hash, both);
    table_give(table, one);
    table_give(table, other);
    table_flatten(table);
    return true;
}

void
table_remove(struct table *table, uint64_t hash, struct event **at)
{
    struct table_segment *segment = table_segment(table, hash);
    uint16_t *tags = table_tags(segment);
    size_t place = (size_t)(at - segment->events);
    size_t behind = --segment->used - place;

    memmove(at, at + 1, behind * sizeof(struct event *));
    memmove(&tags[place], &tags[place + 1], behind * sizeof *tags);
    if (--table->count == 0) {
        table_clear(table);
        return;
    }
    while (table_merge(table, hash)) {
    }
    segment = table_segment(table, hash);
    if (segment->used < segment->room / 2) {
        size_t room = segment->used + segment->used / 8u + 1u;

        if (table_class(sizeof *segment + room * TABLE_SLOT) <
            sizeof *segment + segment->room * TABLE_SLOT) {
            (void)table_resize(table, hash, room); /* else it stays larger */
        }
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
            table_give(table, segment);
        } while (hash != 0);
    }
    table_give(table, table->directory);
    *table = (struct table){0};
}

/* What is wrong with a segment whose range begins with a hash, or NULL. */
static const char *
table_wrong(const struct table *table, const struct table_segment *segment,
            uint64_t begin)
{
    const uint16_t *tags = table_tags(segment);
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
        uint64_t hash = table_hash(event_id(segment->events[i]));

        if (tags[i] != (uint16_t)hash || (i > 0 && tags[i - 1] > tags[i])) {
            return "a tag is wrong, or out of order";
        }
        if (table_begin(segment, hash) != begin) {
            return "an event is in another's segment";
        }
        if (table_find(table, hash, event_id(segment->events[i])) !=
            &segment->events[i]) {
            return "an event is there twice";
        }
    }
    return NULL;
}

bool
table_check(const struct table *table, FILE *out)
{
    const char *wrong = NULL;
    size_t bytes = table->directory != NULL ? memory_size(table->directory) : 0;
    uint32_t segments = 0;
    uint32_t deepest = 0;
    uint64_t count = 0;
    uint64_t hash = 0;

    if (table_segment(table, 0) != NULL) {
        do {
            const struct table_segment *segment = table_segment(table, hash);

            wrong = table_wrong(table, segment, hash);
            count += segment->used;
            bytes += memory_size(segment);
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
