/* table.c - maps ids to records: see table.h.
 *
 * If a chained bucket cannot be allocated, adding a record fails. Growing and
 * shrinking are retried at the next call. */
#include "table.h"

#include <errno.h>

#define LAWN_STORE_TABLE_LEAST 4u
/* The table grows when it has more than MOST records for every PER buckets, and
 * shrinks when it has fewer than FEWEST. These are averages: buckets that are
 * not yet split have twice as many records as the others. */
#define LAWN_STORE_TABLE_PER 4u
#define LAWN_STORE_TABLE_MOST 17u
#define LAWN_STORE_TABLE_FEWEST 9u

_Static_assert(sizeof(void *) != 8 ||
                   sizeof(struct lawn_store_bucket) == LAWN_STORE_LINE,
               "a bucket is a cache line");

static struct lawn_store_bucket *
new_bucket(struct lawn_store_table *table)
{
    uint16_t place = 0;
    struct lawn_store_bucket *bucket =
        (struct lawn_store_bucket *)lawn__store_slots_take(
            table->slots, LAWN_STORE_GROUP_BUCKETS, sizeof(*bucket), &place);

    if (bucket != NULL) {
        bucket->place = place;
    }
    return bucket;
}

/* Returns an empty bucket, or NULL if out of memory. */
static struct lawn_store_bucket *
take_bucket(struct lawn_store_table *table)
{
    struct lawn_store_bucket *bucket = table->spare;

    if (bucket != NULL) {
        table->spare = (struct lawn_store_bucket *)bucket->entry[0];
    } else {
        bucket = new_bucket(table);
    }
    if (bucket != NULL) {
        bucket->used = 0;
        bucket->chained = false;
    }
    return bucket;
}

static bool
put_entry(struct lawn_store_table *table, struct lawn_store_bucket *bucket,
          void *entry, uint16_t tag)
{
    unsigned last = LAWN_STORE_BUCKET_ENTRIES - 1;

    while (bucket->chained) {
        bucket = lawn__store_table_next(bucket);
    }
    if (LAWN_STORE_UNLIKELY(bucket->used == LAWN_STORE_BUCKET_ENTRIES)) {
        struct lawn_store_bucket *extra = take_bucket(table);

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

/* bucket is home or is chained to it. The last entry of the chain replaces the
 * removed one. */
static void
drop_entry(struct lawn_store_table *table, struct lawn_store_bucket *home,
           struct lawn_store_bucket *bucket, unsigned entry)
{
    struct lawn_store_bucket *end = home;
    struct lawn_store_bucket *before = NULL;

    while (end->chained) {
        before = end;
        end = lawn__store_table_next(end);
    }
    end->used--;
    bucket->entry[entry] = end->entry[end->used];
    bucket->tag[entry] = end->tag[end->used];
    /* A chained bucket needs at least two entries: move a single one to the
     * previous bucket. */
    if (before != NULL && end->used == 1) {
        before->entry[before->used] = end->entry[0];
        before->tag[before->used] = end->tag[0];
        before->used++;
        before->chained = false;
        lawn__store_slots_give(table->slots, end, end->place);
    }
}

static bool
reserve_spare(struct lawn_store_table *table, uint64_t wanted)
{
    for (; wanted > 0; wanted--) {
        struct lawn_store_bucket *bucket = new_bucket(table);

        if (bucket == NULL) {
            return false;
        }
        bucket->entry[0] = table->spare;
        table->spare = bucket;
    }
    return true;
}

static void
free_spare(struct lawn_store_table *table)
{
    while (table->spare != NULL) {
        struct lawn_store_bucket *bucket = table->spare;

        table->spare = (struct lawn_store_bucket *)bucket->entry[0];
        lawn__store_slots_give(table->slots, bucket, bucket->place);
    }
}

static uint64_t
count_records(const struct lawn_store_bucket *bucket)
{
    uint64_t records = 0;

    for (; bucket != NULL; bucket = lawn__store_table_next(bucket)) {
        records += bucket->used;
    }
    return records;
}

static uint64_t
count_chained(uint64_t records)
{
    const unsigned per = LAWN_STORE_BUCKET_ENTRIES - 1;

    return records <= LAWN_STORE_BUCKET_ENTRIES ? 0 : (records - 2) / per;
}

static size_t
bucket_bytes(uint64_t buckets)
{
    return (size_t)buckets * sizeof(struct lawn_store_bucket);
}

static bool
resize_first_segment(struct lawn_store_table *table, uint64_t room)
{
    uintptr_t *at = lawn__store_pointers_at(&table->segments, 0);
    void *segment = lawn__store_slots_block(table->slots, bucket_bytes(room));

    if (segment == NULL) {
        return false;
    }
    memcpy(segment, (void *)*at, bucket_bytes(table->buckets));
    lawn__store_memory_give(table->memory, (void *)*at,
                            bucket_bytes(table->first));
    *at = (uintptr_t)segment;
    table->first = room;
    return true;
}

static bool
extend_segments(struct lawn_store_table *table)
{
    if (table->buckets < LAWN_STORE_TABLE_SEGMENT) {
        return table->buckets < table->first ||
               resize_first_segment(table, table->first * 2);
    }
    if (table->buckets % LAWN_STORE_TABLE_SEGMENT != 0) {
        return true;
    }
    void *segment = lawn__store_slots_block(table->slots, LAWN_STORE_BLOCK);
    if (segment == NULL) {
        return false;
    }
    if (!lawn__store_pointers_add(&table->segments, table->memory,
                                  (uintptr_t)segment)) {
        lawn__store_memory_give(table->memory, segment, LAWN_STORE_BLOCK);
        return false;
    }
    return true;
}

/* Frees the last segment if it contains no bucket, or shrinks the first. */
static void
retract_segments(struct lawn_store_table *table)
{
    if (table->buckets >= LAWN_STORE_TABLE_SEGMENT) {
        if (table->buckets % LAWN_STORE_TABLE_SEGMENT == 0) {
            uint64_t number = table->buckets >> LAWN_STORE_TABLE_BITS;

            lawn__store_memory_give(
                table->memory,
                (void *)*lawn__store_pointers_at(&table->segments, number),
                LAWN_STORE_BLOCK);
            lawn__store_pointers_drop(&table->segments, table->memory);
        }
    } else if (table->buckets <= table->first / 4) {
        (void)resize_first_segment(table, table->first / 2);
    }
}

/* number > 0. */
static uint64_t
floor_power_of_two(uint64_t number)
{
    return UINT64_C(1) << (63 - __builtin_clzll(number));
}

static void
set_buckets(struct lawn_store_table *table, uint64_t buckets)
{
    uint64_t power = floor_power_of_two(buckets);

    table->buckets = buckets;
    table->mask = power == buckets ? power - 1 : power * 2 - 1;
    unsigned bits = (unsigned)__builtin_popcountll(table->mask);
    table->shift = lawn__store_table_shift(bits);
    table->shift_unsplit = lawn__store_table_shift(bits - 1);
}

/* *entry counts from the beginning of the chain. Returns the bucket that
 * contains it, and makes *entry count from the beginning of that bucket. */
static struct lawn_store_bucket *
find_entry(struct lawn_store_bucket *bucket, unsigned *entry)
{
    while (*entry >= bucket->used) {
        *entry -= bucket->used;
        bucket = lawn__store_table_next(bucket);
    }
    return bucket;
}

static void
prefetch_bucket(const struct lawn_store_bucket *bucket)
{
    for (unsigned i = 0; i < bucket->used; i++) {
        LAWN_STORE_PREFETCH(bucket->entry[i]);
    }
}

static void
retag_bucket(const struct lawn_store_table *table,
             struct lawn_store_bucket *bucket, unsigned shift)
{
    prefetch_bucket(bucket);
    for (; bucket != NULL; bucket = lawn__store_table_next(bucket)) {
        for (unsigned i = 0; i < bucket->used; i++) {
            const struct lawn_store_record *record =
                (const struct lawn_store_record *)bucket->entry[i];

            bucket->tag[i] =
                (uint16_t)(lawn__store_table_hash(table, record->id,
                                                  record->id_size) >>
                           shift);
        }
    }
}

/* Returns false and changes nothing if out of memory. */
LAWN_NOINLINE static bool
grow_table(struct lawn_store_table *table)
{
    uint64_t number = table->buckets;
    uint64_t power = floor_power_of_two(number);
    unsigned bit = (unsigned)__builtin_ctzll(power);
    unsigned shift = lawn__store_table_shift(bit);
    unsigned kept = 0;

    if (!extend_segments(table)) {
        return false;
    }
    struct lawn_store_bucket *from =
        lawn__store_table_bucket(table, number - power);
    uint64_t left = count_records(from);
    if (!reserve_spare(table, count_chained(left))) {
        free_spare(table);
        retract_segments(table);
        return false;
    }
    set_buckets(table, number + 1);
    struct lawn_store_bucket *to = lawn__store_table_bucket(table, number);
    to->used = 0;
    to->chained = false;
    for (; left > 0; left--) {
        unsigned entry = kept;
        struct lawn_store_bucket *bucket = find_entry(from, &entry);
        uint16_t tag = bucket->tag[entry];

        if ((tag >> (bit - shift) & 1) == 0) {
            kept++;
        } else {
            (void)put_entry(table, to, bucket->entry[entry], tag);
            drop_entry(table, from, bucket, entry);
        }
    }
    if (lawn__store_table_shift(bit + 1) != shift) {
        retag_bucket(table, from, bit + 1);
        retag_bucket(table, to, bit + 1);
    }
    free_spare(table);
    return true;
}

/* Removes the last bucket. Returns false and changes nothing if there is no
 * memory to chain its records to another one. */
LAWN_NOINLINE static bool
shrink_table(struct lawn_store_table *table)
{
    uint64_t number = table->buckets - 1;
    uint64_t power = floor_power_of_two(number);
    unsigned bit = (unsigned)__builtin_ctzll(power);
    unsigned shift = lawn__store_table_shift(bit);
    struct lawn_store_bucket *from = lawn__store_table_bucket(table, number);
    struct lawn_store_bucket *to =
        lawn__store_table_bucket(table, number - power);

    if (!reserve_spare(
            table, count_chained(count_records(from) + count_records(to)))) {
        free_spare(table);
        return false;
    }
    while (from->used > 0) {
        (void)put_entry(table, to, from->entry[0], from->tag[0]);
        drop_entry(table, from, from, 0);
    }
    if (lawn__store_table_shift(bit + 1) != shift) {
        retag_bucket(table, to, shift);
    }
    free_spare(table);
    set_buckets(table, number);
    retract_segments(table);
    return true;
}

static inline bool
has_excess(const struct lawn_store_table *table)
{
    return table->count * LAWN_STORE_TABLE_PER <
               table->buckets * LAWN_STORE_TABLE_FEWEST &&
           table->buckets > table->least;
}

bool
lawn__store_table_add(struct lawn_store_table *table, uint64_t hash,
                      struct lawn_store_record *record)
{
    uint64_t number = lawn__store_table_number(table, hash);

    if (!put_entry(table, lawn__store_table_bucket(table, number), record,
                   lawn__store_table_tag(table, number, hash))) {
        return false;
    }
    table->count++;
    if (LAWN_STORE_UNLIKELY(table->count * LAWN_STORE_TABLE_PER >
                            table->buckets * LAWN_STORE_TABLE_MOST)) {
        (void)grow_table(table);
    }
    return true;
}

void
lawn__store_table_remove(struct lawn_store_table *table, uint64_t hash,
                         const struct lawn_store_record *record)
{
    struct lawn_store_bucket *home = lawn__store_table_home(table, hash);
    struct lawn_store_bucket *bucket = home;
    unsigned entry = 0;

    while (bucket->entry[entry] != record) {
        if (++entry >= bucket->used) {
            bucket = lawn__store_table_next(bucket);
            entry = 0;
            LAWN_ASSERT(bucket != NULL, "a timer's id was overwritten");
        }
    }
    drop_entry(table, home, bucket, entry);
    table->count--;
    if (LAWN_STORE_UNLIKELY(has_excess(table))) {
        (void)shrink_table(table);
    }
}

bool
lawn__store_table_init(struct lawn_store_table *table,
                       struct lawn_store_slots *slots, const uint64_t key[2])
{
    size_t size = bucket_bytes(LAWN_STORE_TABLE_LEAST);
    void *segment = lawn__store_memory_take(slots->memory, size);

    if (segment == NULL) {
        return false;
    }
    memset(table, 0, sizeof(*table));
    memset(segment, 0, size);
    table->memory = slots->memory;
    table->slots = slots;
    table->key[0] = key[0];
    table->key[1] = key[1];
    table->least = LAWN_STORE_TABLE_LEAST;
    table->first = LAWN_STORE_TABLE_LEAST;
    set_buckets(table, LAWN_STORE_TABLE_LEAST);
    if (!lawn__store_pointers_add(&table->segments, table->memory,
                                  (uintptr_t)segment)) {
        lawn__store_memory_give(table->memory, segment, size);
        return false;
    }
    return true;
}

void
lawn__store_table_fini(struct lawn_store_table *table)
{
    lawn__store_table_clear(table);
    while (table->segments.count > 0) {
        uint64_t number = table->segments.count - 1;

        lawn__store_memory_give(
            table->memory,
            (void *)*lawn__store_pointers_at(&table->segments, number),
            number > 0 ? LAWN_STORE_BLOCK : bucket_bytes(table->first));
        lawn__store_pointers_drop(&table->segments, table->memory);
    }
}

static void
trim_segments(struct lawn_store_table *table)
{
    while (table->buckets <= table->first / 2 &&
           resize_first_segment(table, table->first / 2)) {
    }
}

bool
lawn__store_table_reserve(struct lawn_store_table *table, uint64_t records)
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
        !lawn__store_memory_probe(table->memory,
                                  bucket_bytes(more < most ? more : most))) {
        return false;
    }
    while (table->buckets < least) {
        if (!grow_table(table)) {
            int error = table->memory->error;

            while (table->buckets > before && shrink_table(table)) {
            }
            trim_segments(table);
            lawn__store_slots_trim(table->slots);
            table->memory->error = error;
            return false;
        }
    }
    table->least = least;
    while (has_excess(table) && shrink_table(table)) {
    }
    return true;
}

void
lawn__store_table_clear(struct lawn_store_table *table)
{
    for (uint64_t number = 0; number < table->buckets; number++) {
        struct lawn_store_bucket *home =
            lawn__store_table_bucket(table, number);
        struct lawn_store_bucket *bucket = lawn__store_table_next(home);

        while (bucket != NULL) {
            struct lawn_store_bucket *next = lawn__store_table_next(bucket);

            lawn__store_slots_give(table->slots, bucket, bucket->place);
            bucket = next;
        }
        home->used = 0;
        home->chained = false;
    }
    table->count = 0;
    while (table->buckets > table->least) {
        (void)shrink_table(table);
    }
    trim_segments(table);
}

static bool
report_broken(FILE *out, const char *what, uint64_t number)
{
    if (out != NULL) {
        (void)fprintf(out, "lawn_store_check: [J3] bucket %llu: %s\n",
                      (unsigned long long)number, what);
    }
    return false;
}

static bool
check_bucket(const struct lawn_store_table *table,
             const struct lawn_store_bucket *bucket, uint64_t number, FILE *out)
{
    if (bucket->used > LAWN_STORE_BUCKET_ENTRIES - bucket->chained ||
        (bucket->chained && (bucket->used != LAWN_STORE_BUCKET_ENTRIES - 1 ||
                             lawn__store_table_next(bucket)->used < 2))) {
        return report_broken(out, "is not filled in order", number);
    }
    for (unsigned i = 0; i < bucket->used; i++) {
        const struct lawn_store_record *record =
            (const struct lawn_store_record *)bucket->entry[i];
        uint64_t hash =
            lawn__store_table_hash(table, record->id, record->id_size);

        if (lawn__store_table_number(table, hash) != number) {
            return report_broken(out, "contains an id of another bucket",
                                 number);
        }
        if (lawn__store_table_tag(table, number, hash) != bucket->tag[i]) {
            return report_broken(out, "has a wrong tag", number);
        }
        if (lawn__store_table_find(table, hash, record->id, record->id_size) !=
            record) {
            return report_broken(out, "contains an id twice [S1]", number);
        }
    }
    return true;
}

bool
lawn__store_table_check(const struct lawn_store_table *table, size_t *bytes,
                        FILE *out)
{
    uint64_t records = 0;

    for (uint64_t number = 0; number < table->buckets; number++) {
        const struct lawn_store_bucket *bucket =
            lawn__store_table_bucket(table, number);

        for (; bucket != NULL; bucket = lawn__store_table_next(bucket)) {
            if (!check_bucket(table, bucket, number, out)) {
                return false;
            }
            records += bucket->used;
        }
    }
    if (records != table->count) {
        return report_broken(out, "records miscounted", records);
    }
    *bytes +=
        lawn__store_memory_cost(table->memory, bucket_bytes(table->first));
    *bytes += (size_t)(table->segments.count - 1) *
              lawn__store_memory_cost(table->memory, LAWN_STORE_BLOCK);
    return true;
}
