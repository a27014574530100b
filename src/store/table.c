/* table.c - see table.h.
 *
 * What can go wrong: memory for a chained bucket or a segment. Adding a record
 * needs the former, and fails; growing and shrinking are put off till the next
 * call. */
#include "table.h"

#include <errno.h>

#define LAWN_STORE_TABLE_LEAST 4u
/* Records to so many buckets: above it grows, below it shrinks. Between a
 * doubling and the next, buckets hold from half to twice the mean. */
#define LAWN_STORE_TABLE_PER 4u
#define LAWN_STORE_TABLE_MOST 17u
#define LAWN_STORE_TABLE_FEWEST 9u

_Static_assert(sizeof(void *) != 8 ||
                   sizeof(struct lawn_store_bucket) == LAWN_STORE_LINE,
               "a bucket is a cache line");

/* A new bucket to chain. NULL: no memory. */
static struct lawn_store_bucket *
lawn_store_table_new_bucket(struct lawn_store_table *table)
{
    uint16_t place;
    struct lawn_store_bucket *bucket =
        (struct lawn_store_bucket *)lawn_store_slots_take(
            table->slots, LAWN_STORE_GROUP_BUCKETS, sizeof *bucket, &place);

    if (bucket != NULL) {
        bucket->place = place;
    }
    return bucket;
}

/* A bucket to chain: a spare one, or a new one. NULL: no memory. */
static struct lawn_store_bucket *
lawn_store_table_extra(struct lawn_store_table *table)
{
    struct lawn_store_bucket *bucket = table->spare;

    if (bucket != NULL) {
        table->spare = (struct lawn_store_bucket *)bucket->entry[0];
    } else {
        bucket = lawn_store_table_new_bucket(table);
    }
    if (bucket != NULL) {
        bucket->used = 0;
        bucket->chained = false;
    }
    return bucket;
}

/* Adds an entry to a bucket or those chained to it. */
static bool
lawn_store_table_put(struct lawn_store_table *table,
                     struct lawn_store_bucket *bucket, void *entry,
                     uint16_t tag)
{
    unsigned last = LAWN_STORE_BUCKET_ENTRIES - 1;

    while (bucket->chained) {
        bucket = lawn_store_table_next(bucket);
    }
    if (LAWN_STORE_UNLIKELY(bucket->used == LAWN_STORE_BUCKET_ENTRIES)) {
        struct lawn_store_bucket *extra = lawn_store_table_extra(table);

        if (extra == NULL) {
            return false;
        }
        extra->entry[0] = bucket->entry[last];
        extra->tag[0] = bucket->tag[last];
        extra->used = 1;
        bucket->entry[last] = extra;
        bucket->used = (uint8_t)last;
        bucket->chained = true;
        bucket = extra;
    }
    bucket->entry[bucket->used] = entry;
    bucket->tag[bucket->used] = tag;
    bucket->used++;
    return true;
}

/* Removes an entry of a bucket that is, or is chained to, home: the last of the
 * chain takes its place. */
static void
lawn_store_table_drop(struct lawn_store_table *table,
                      struct lawn_store_bucket *home,
                      struct lawn_store_bucket *bucket, unsigned entry)
{
    struct lawn_store_bucket *end = home;
    struct lawn_store_bucket *before = NULL;

    while (end->chained) {
        before = end;
        end = lawn_store_table_next(end);
    }
    end->used--;
    bucket->entry[entry] = end->entry[end->used];
    bucket->tag[entry] = end->tag[end->used];
    /* Never one alone in a chained bucket: there is room for it before. */
    if (before != NULL && end->used == 1) {
        before->entry[before->used] = end->entry[0];
        before->tag[before->used] = end->tag[0];
        before->used++;
        before->chained = false;
        lawn_store_slots_give(table->slots, end, end->place);
    }
}

/* Sees to it that there are so many spare buckets more. False: no memory. */
static bool
lawn_store_table_spare(struct lawn_store_table *table, uint64_t wanted)
{
    for (; wanted > 0; wanted--) {
        struct lawn_store_bucket *bucket = lawn_store_table_new_bucket(table);

        if (bucket == NULL) {
            return false;
        }
        bucket->entry[0] = table->spare;
        table->spare = bucket;
    }
    return true;
}

static void
lawn_store_table_spare_none(struct lawn_store_table *table)
{
    while (table->spare != NULL) {
        struct lawn_store_bucket *bucket = table->spare;

        table->spare = (struct lawn_store_bucket *)bucket->entry[0];
        lawn_store_slots_give(table->slots, bucket, bucket->place);
    }
}

/* How many records there are in a bucket and its chain; and how many chained
 * buckets so many take. */
static uint64_t
lawn_store_table_records(const struct lawn_store_bucket *bucket)
{
    uint64_t records = 0;

    for (; bucket != NULL; bucket = lawn_store_table_next(bucket)) {
        records += bucket->used;
    }
    return records;
}

static uint64_t
lawn_store_table_chain(uint64_t records)
{
    const unsigned per = LAWN_STORE_BUCKET_ENTRIES - 1;

    return records <= LAWN_STORE_BUCKET_ENTRIES ? 0 : (records - 2) / per;
}

static size_t
lawn_store_table_bytes(uint64_t buckets)
{
    return (size_t)buckets * sizeof(struct lawn_store_bucket);
}

/* Other room for the buckets of segment 0. False: no memory. */
static bool
lawn_store_table_resize_first(struct lawn_store_table *table, uint64_t room)
{
    uintptr_t *at = lawn_store_pointers_at(&table->segments, 0);
    void *segment =
        lawn_store_slots_block(table->slots, lawn_store_table_bytes(room));

    if (segment == NULL) {
        return false;
    }
    memcpy(segment, (void *)*at, lawn_store_table_bytes(table->buckets));
    lawn_store_memory_give(table->memory, (void *)*at,
                           lawn_store_table_bytes(table->first));
    *at = (uintptr_t)segment;
    table->first = room;
    return true;
}

/* Makes room for one more bucket. */
static bool
lawn_store_table_extend(struct lawn_store_table *table)
{
    void *segment;

    if (table->buckets < LAWN_STORE_TABLE_SEGMENT) {
        return table->buckets < table->first ||
               lawn_store_table_resize_first(table, table->first * 2);
    }
    if (table->buckets % LAWN_STORE_TABLE_SEGMENT != 0) {
        return true;
    }
    segment = lawn_store_slots_block(table->slots, LAWN_STORE_BLOCK);
    if (segment == NULL) {
        return false;
    }
    if (!lawn_store_pointers_add(&table->segments, table->memory,
                                 (uintptr_t)segment)) {
        lawn_store_memory_give(table->memory, segment, LAWN_STORE_BLOCK);
        return false;
    }
    return true;
}

/* Gives back the room of the last segment if it holds no bucket any more. */
static void
lawn_store_table_retract(struct lawn_store_table *table)
{
    if (table->buckets >= LAWN_STORE_TABLE_SEGMENT) {
        if (table->buckets % LAWN_STORE_TABLE_SEGMENT == 0) {
            uint64_t number = table->buckets >> LAWN_STORE_TABLE_BITS;

            lawn_store_memory_give(
                table->memory,
                (void *)*lawn_store_pointers_at(&table->segments, number),
                LAWN_STORE_BLOCK);
            lawn_store_pointers_drop(&table->segments, table->memory);
        }
    } else if (table->buckets <= table->first / 4) {
        /* If there is no memory for a smaller one, it stays. */
        (void)lawn_store_table_resize_first(table, table->first / 2);
    }
}

/* The largest power of two that is not above number, which is not 0. */
static uint64_t
lawn_store_table_power(uint64_t number)
{
    return UINT64_C(1) << (63 - __builtin_clzll(number));
}

static void
lawn_store_table_set_buckets(struct lawn_store_table *table, uint64_t buckets)
{
    uint64_t power = lawn_store_table_power(buckets);

    unsigned bits;

    table->buckets = buckets;
    table->mask = power == buckets ? power - 1 : power * 2 - 1;
    bits = (unsigned)__builtin_popcountll(table->mask);
    table->shift = lawn_store_table_shift(bits);
    table->shift_unsplit = lawn_store_table_shift(bits - 1);
}

/* The bucket of a chain that an entry stands in, and its number there instead
 * of that in the chain. */
static struct lawn_store_bucket *
lawn_store_table_entry(struct lawn_store_bucket *bucket, unsigned *entry)
{
    while (*entry >= bucket->used) {
        *entry -= bucket->used;
        bucket = lawn_store_table_next(bucket);
    }
    return bucket;
}

static void
lawn_store_table_fetch(const struct lawn_store_bucket *bucket)
{
    unsigned i;

    for (i = 0; i < bucket->used; i++) {
        LAWN_STORE_PREFETCH(bucket->entry[i]);
    }
}

/* Gives the records of a bucket and its chain other tags. */
static void
lawn_store_table_retag(const struct lawn_store_table *table,
                       struct lawn_store_bucket *bucket, unsigned shift)
{
    unsigned i;

    lawn_store_table_fetch(bucket);
    for (; bucket != NULL; bucket = lawn_store_table_next(bucket)) {
        for (i = 0; i < bucket->used; i++) {
            const struct lawn_store_record *record =
                (const struct lawn_store_record *)bucket->entry[i];

            bucket->tag[i] =
                (uint16_t)(lawn_store_table_hash(table, record->id,
                                                 record->id_size) >>
                           shift);
        }
    }
}

/* Adds a bucket. False: no memory, nothing changed. */
LAWN_STORE_NOINLINE static bool
lawn_store_table_grow(struct lawn_store_table *table)
{
    uint64_t number = table->buckets;
    uint64_t power = lawn_store_table_power(number);
    unsigned bit = (unsigned)__builtin_ctzll(power);
    unsigned shift = lawn_store_table_shift(bit);
    struct lawn_store_bucket *from;
    struct lawn_store_bucket *to;
    uint64_t left;
    unsigned kept = 0;

    if (!lawn_store_table_extend(table)) {
        return false;
    }
    from = lawn_store_table_bucket(table, number - power);
    left = lawn_store_table_records(from);
    if (!lawn_store_table_spare(table, lawn_store_table_chain(left))) {
        lawn_store_table_spare_none(table);
        lawn_store_table_retract(table);
        return false;
    }
    lawn_store_table_set_buckets(table, number + 1);
    to = lawn_store_table_bucket(table, number);
    to->used = 0;
    to->chained = false;
    for (; left > 0; left--) {
        unsigned entry = kept;
        struct lawn_store_bucket *bucket = lawn_store_table_entry(from, &entry);
        uint16_t tag = bucket->tag[entry];

        if ((tag >> (bit - shift) & 1) == 0) {
            kept++;
        } else {
            (void)lawn_store_table_put(table, to, bucket->entry[entry], tag);
            lawn_store_table_drop(table, from, bucket, entry);
        }
    }
    if (lawn_store_table_shift(bit + 1) != shift) {
        lawn_store_table_retag(table, from, bit + 1);
        lawn_store_table_retag(table, to, bit + 1);
    }
    lawn_store_table_spare_none(table);
    return true;
}

/* Removes the last bucket. If there is no memory to chain what it holds to
 * another, it stays. */
LAWN_STORE_NOINLINE static bool
lawn_store_table_shrink(struct lawn_store_table *table)
{
    uint64_t number = table->buckets - 1;
    uint64_t power = lawn_store_table_power(number);
    unsigned bit = (unsigned)__builtin_ctzll(power);
    unsigned shift = lawn_store_table_shift(bit);
    struct lawn_store_bucket *from = lawn_store_table_bucket(table, number);
    struct lawn_store_bucket *to =
        lawn_store_table_bucket(table, number - power);

    if (!lawn_store_table_spare(
            table, lawn_store_table_chain(lawn_store_table_records(from) +
                                          lawn_store_table_records(to)))) {
        lawn_store_table_spare_none(table);
        return false;
    }
    while (from->used > 0) {
        (void)lawn_store_table_put(table, to, from->entry[0], from->tag[0]);
        lawn_store_table_drop(table, from, from, 0);
    }
    if (lawn_store_table_shift(bit + 1) != shift) {
        lawn_store_table_retag(table, to, shift);
    }
    lawn_store_table_spare_none(table);
    lawn_store_table_set_buckets(table, number);
    lawn_store_table_retract(table);
    return true;
}

/* Whether the table has more buckets than it needs. */
static inline bool
lawn_store_table_spacious(const struct lawn_store_table *table)
{
    return table->count * LAWN_STORE_TABLE_PER <
               table->buckets * LAWN_STORE_TABLE_FEWEST &&
           table->buckets > table->least;
}

bool
lawn_store_table_add(struct lawn_store_table *table, uint64_t hash,
                     struct lawn_store_record *record)
{
    uint64_t number = lawn_store_table_number(table, hash);

    if (!lawn_store_table_put(table, lawn_store_table_bucket(table, number),
                              record,
                              lawn_store_table_tag(table, number, hash))) {
        return false;
    }
    table->count++;
    if (LAWN_STORE_UNLIKELY(table->count * LAWN_STORE_TABLE_PER >
                            table->buckets * LAWN_STORE_TABLE_MOST)) {
        (void)lawn_store_table_grow(table);
    }
    return true;
}

void
lawn_store_table_remove(struct lawn_store_table *table, uint64_t hash,
                        const struct lawn_store_record *record)
{
    struct lawn_store_bucket *home = lawn_store_table_home(table, hash);
    struct lawn_store_bucket *bucket = home;
    unsigned entry = 0;

    while (bucket->entry[entry] != record) {
        if (++entry >= bucket->used) {
            bucket = lawn_store_table_next(bucket);
            entry = 0;
            LAWN_STORE_EXPECT(bucket != NULL, "a timer's id was overwritten");
        }
    }
    lawn_store_table_drop(table, home, bucket, entry);
    table->count--;
    if (LAWN_STORE_UNLIKELY(lawn_store_table_spacious(table))) {
        (void)lawn_store_table_shrink(table);
    }
}

bool
lawn_store_table_init(struct lawn_store_table *table,
                      struct lawn_store_slots *slots, const uint64_t key[2])
{
    size_t size = lawn_store_table_bytes(LAWN_STORE_TABLE_LEAST);
    void *segment = lawn_store_memory_take(slots->memory, size);

    if (segment == NULL) {
        return false;
    }
    memset(table, 0, sizeof *table);
    memset(segment, 0, size);
    table->memory = slots->memory;
    table->slots = slots;
    table->key[0] = key[0];
    table->key[1] = key[1];
    table->least = LAWN_STORE_TABLE_LEAST;
    table->first = LAWN_STORE_TABLE_LEAST;
    lawn_store_table_set_buckets(table, LAWN_STORE_TABLE_LEAST);
    if (!lawn_store_pointers_add(&table->segments, table->memory,
                                 (uintptr_t)segment)) {
        lawn_store_memory_give(table->memory, segment, size);
        return false;
    }
    return true;
}

void
lawn_store_table_fini(struct lawn_store_table *table)
{
    lawn_store_table_clear(table);
    while (table->segments.count > 0) {
        uint64_t number = table->segments.count - 1;

        lawn_store_memory_give(
            table->memory,
            (void *)*lawn_store_pointers_at(&table->segments, number),
            number > 0 ? LAWN_STORE_BLOCK
                       : lawn_store_table_bytes(table->first));
        lawn_store_pointers_drop(&table->segments, table->memory);
    }
}

/* Gives back the room for buckets that are yet to come. */
static void
lawn_store_table_fit(struct lawn_store_table *table)
{
    while (table->buckets <= table->first / 2 &&
           lawn_store_table_resize_first(table, table->first / 2)) {
    }
}

bool
lawn_store_table_reserve(struct lawn_store_table *table, uint64_t records)
{
    uint64_t before = table->buckets;
    uint64_t least = records / LAWN_STORE_TABLE_MOST * LAWN_STORE_TABLE_PER +
                     LAWN_STORE_TABLE_PER;

    uint64_t most = SIZE_MAX / sizeof(struct lawn_store_bucket);
    uint64_t have = table->segments.count == 1
                        ? table->first
                        : table->segments.count * LAWN_STORE_TABLE_SEGMENT;
    uint64_t more = least > have ? least - have : 0;

    if (more > 0 &&
        !lawn_store_memory_probe(
            table->memory, lawn_store_table_bytes(more < most ? more : most))) {
        return false;
    }
    while (table->buckets < least) {
        if (!lawn_store_table_grow(table)) {
            int error = table->memory->error;

            while (table->buckets > before && lawn_store_table_shrink(table)) {
            }
            lawn_store_table_fit(table);
            lawn_store_slots_trim(table->slots);
            table->memory->error = error;
            return false;
        }
    }
    table->least = least;
    while (lawn_store_table_spacious(table) && lawn_store_table_shrink(table)) {
    }
    return true;
}

void
lawn_store_table_clear(struct lawn_store_table *table)
{
    uint64_t number;

    for (number = 0; number < table->buckets; number++) {
        struct lawn_store_bucket *home = lawn_store_table_bucket(table, number);
        struct lawn_store_bucket *bucket = lawn_store_table_next(home);

        while (bucket != NULL) {
            struct lawn_store_bucket *next = lawn_store_table_next(bucket);

            lawn_store_slots_give(table->slots, bucket, bucket->place);
            bucket = next;
        }
        home->used = 0;
        home->chained = false;
    }
    table->count = 0;
    while (table->buckets > table->least) {
        (void)lawn_store_table_shrink(table);
    }
    lawn_store_table_fit(table);
}

static bool
lawn_store_table_wrong(FILE *out, const char *what, uint64_t number)
{
    if (out != NULL) {
        (void)fprintf(out, "lawn_store_check: [J3] bucket %llu: %s\n",
                      (unsigned long long)number, what);
    }
    return false;
}

/* One bucket of a chain. */
static bool
lawn_store_table_check_bucket(const struct lawn_store_table *table,
                              const struct lawn_store_bucket *bucket,
                              uint64_t number, FILE *out)
{
    unsigned i;

    if (bucket->used > LAWN_STORE_BUCKET_ENTRIES - bucket->chained ||
        (bucket->chained && (bucket->used != LAWN_STORE_BUCKET_ENTRIES - 1 ||
                             lawn_store_table_next(bucket)->used < 2))) {
        return lawn_store_table_wrong(out, "is not filled in order", number);
    }
    for (i = 0; i < bucket->used; i++) {
        const struct lawn_store_record *record =
            (const struct lawn_store_record *)bucket->entry[i];
        uint64_t hash =
            lawn_store_table_hash(table, record->id, record->id_size);

        if (lawn_store_table_number(table, hash) != number) {
            return lawn_store_table_wrong(out, "holds another's id", number);
        }
        if (lawn_store_table_tag(table, number, hash) != bucket->tag[i]) {
            return lawn_store_table_wrong(out, "has a wrong tag", number);
        }
        if (lawn_store_table_find(table, hash, record->id, record->id_size) !=
            record) {
            return lawn_store_table_wrong(out, "holds an id twice [S1]",
                                          number);
        }
    }
    return true;
}

bool
lawn_store_table_check(const struct lawn_store_table *table, size_t *bytes,
                       FILE *out)
{
    uint64_t records = 0;
    uint64_t number;

    for (number = 0; number < table->buckets; number++) {
        const struct lawn_store_bucket *bucket =
            lawn_store_table_bucket(table, number);

        for (; bucket != NULL; bucket = lawn_store_table_next(bucket)) {
            if (!lawn_store_table_check_bucket(table, bucket, number, out)) {
                return false;
            }
            records += bucket->used;
        }
    }
    if (records != table->count) {
        return lawn_store_table_wrong(out, "records miscounted", records);
    }
    *bytes += lawn_store_memory_cost(table->memory,
                                     lawn_store_table_bytes(table->first));
    *bytes += (size_t)(table->segments.count - 1) *
              lawn_store_memory_cost(table->memory, LAWN_STORE_BLOCK);
    return true;
}
