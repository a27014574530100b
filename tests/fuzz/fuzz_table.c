/* fuzz_table.c - the store's table of ids, with a hash that an attacker chose:
 * all ids in one bucket, all with one tag, or all with the same hash; compared
 * with an array of flags. Memory may run out at any block.
 *
 * src/store/table.c is included here, with another function instead of SipHash:
 * an id is a word of 48 bits that are its hash, and 16 that are its number. The
 * first byte of a case selects how hashes are computed from the numbers; then
 * an operation is two bytes, for one id or for 32.
 */
#define LAWN_STORE_HASH_H

#include "small.h"

#include <string.h>

static inline uint64_t
lawn__store_hash(const uint64_t key[2], const void *bytes, size_t size)
{
    (void)size;
    uint64_t hash = 0;
    memcpy(&hash, bytes, sizeof(hash));
    return (hash & UINT64_C(0xFFFFFFFFFFFF)) ^ key[0];
}

/* The table itself. NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "../../src/store/table.c"

#include <stdlib.h>

#define FUZZ_IDS 1024u
#define FUZZ_ID_SIZE 8u
#define FUZZ_RUN 32u

#define FUZZ_ROOM 64u /* bytes for a record and its id */

static _Alignas(8) unsigned char fuzz_memory_of[FUZZ_IDS][FUZZ_ROOM];
static bool fuzz_there[FUZZ_IDS];
static struct lawn_store_memory fuzz_memory;
static struct lawn_store_slots fuzz_slots;
static struct lawn_store_table fuzz_table;
static uint64_t fuzz_count;
static uint64_t fuzz_blocks;
static uint64_t fuzz_left; /* blocks until memory runs out */
static uint8_t fuzz_family;
static uint64_t fuzz_case; /* the number of the case */
static uint64_t fuzz_used[FUZZ_IDS];

static void *
fuzz_alloc(size_t size, void *context)
{
    void *memory = fuzz_left > 0 ? malloc(size) : NULL;

    (void)context;
    fuzz_left -= fuzz_left != 0 && fuzz_left != UINT64_MAX;
    fuzz_blocks += memory != NULL;
    return memory;
}

static void
fuzz_release(void *memory, void *context)
{
    (void)context;
    fuzz_blocks -= memory != NULL;
    free(memory);
}

static uint64_t
fuzz_hash_of(uint32_t i)
{
    unsigned shift = fuzz_family >> 2;

    uint64_t hash = (uint64_t)i << shift; /* equal low bits */

    switch (fuzz_family & 3) {
    case 0:
        break;
    case 1:
        hash = (uint64_t)(i & 3) << shift; /* four hashes */
        break;
    case 2:
        hash = i * UINT64_C(0x9E3779B97F4A7C15) >> shift; /* random */
        break;
    default:
        hash = ~UINT64_C(0) << (i % 64); /* all ones except the low bits */
    }
    return hash & UINT64_C(0xFFFFFFFFFFFF);
}

/* A record; its id is made when it is first used in a case. */
static struct lawn_store_record *
fuzz_record(uint32_t i)
{
    struct lawn_store_record *record =
        (struct lawn_store_record *)(void *)fuzz_memory_of[i];

    if (fuzz_used[i] != fuzz_case) {
        uint64_t id = fuzz_hash_of(i) | (uint64_t)i << 48;

        fuzz_used[i] = fuzz_case;
        record->id_size = FUZZ_ID_SIZE;
        memcpy(record->id, &id, sizeof(id));
    }
    return record;
}

static void
fuzz_find(uint32_t i)
{
    const struct lawn_store_record *record = fuzz_record(i);
    const struct lawn_store_record *found = lawn__store_table_find(
        &fuzz_table, fuzz_hash_of(i), record->id, FUZZ_ID_SIZE);

    small_expect(found == (fuzz_there[i] ? record : NULL),
                 "S1: an id is found or not");
}

static void
fuzz_add(uint32_t i)
{
    bool short_of = fuzz_left != UINT64_MAX;

    if (!fuzz_there[i]) {
        bool added =
            lawn__store_table_add(&fuzz_table, fuzz_hash_of(i), fuzz_record(i));

        small_expect(added || short_of, "S2: an add failed for nothing");
        fuzz_there[i] = added;
        fuzz_count += added;
    }
    fuzz_find(i);
}

static void
fuzz_remove(uint32_t i)
{
    if (fuzz_there[i]) {
        lawn__store_table_remove(&fuzz_table, fuzz_hash_of(i), fuzz_record(i));
        fuzz_there[i] = false;
        fuzz_count--;
    }
    fuzz_find(i);
}

static void
fuzz_walk(void)
{
    size_t bytes = 0;

    small_expect(lawn__store_table_check(&fuzz_table, &bytes, stderr), "J3");
}

static void
fuzz_operation(uint8_t code, uint8_t byte)
{
    uint32_t i = ((uint32_t)(code & 3) << 8 | byte) % FUZZ_IDS;

    switch (code >> 2 & 15) {
    case 0: /* 32 ids at once */
    case 1:
        for (uint32_t k = 0; k < FUZZ_RUN; k++) {
            fuzz_add((i + k) % FUZZ_IDS);
        }
        break;
    case 2:
        for (uint32_t k = 0; k < FUZZ_RUN; k++) {
            fuzz_remove((i + k) % FUZZ_IDS);
        }
        break;
    case 3:
        (void)lawn__store_table_reserve(&fuzz_table, i);
        break;
    case 4:
        lawn__store_table_clear(&fuzz_table);
        memset(fuzz_there, 0, sizeof(fuzz_there));
        fuzz_count = 0;
        break;
    case 5:
        fuzz_left = byte < 16 ? byte : UINT64_MAX;
        break;
    case 6:
        fuzz_walk();
        for (uint32_t k = 0; k < FUZZ_IDS; k++) {
            fuzz_find(k);
        }
        break;
    case 7:
    case 8:
    case 9:
        fuzz_remove(i);
        break;
    case 10:
        fuzz_find(i);
        break;
    default:
        fuzz_add(i);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const uint64_t key[2];
    const uint8_t *end = bytes + size;

    if (size == 0) {
        return 0;
    }
    fuzz_family = *bytes++;
    fuzz_case++;
    fuzz_memory = (struct lawn_store_memory){
        .max = SIZE_MAX, .alloc = fuzz_alloc, .release = fuzz_release};
    memset(fuzz_there, 0, sizeof(fuzz_there));
    fuzz_left = UINT64_MAX;
    fuzz_blocks = fuzz_count = 0;
    lawn__store_slots_init(&fuzz_slots, &fuzz_memory);
    small_expect(lawn__store_table_init(&fuzz_table, &fuzz_slots, key), "init");
    for (; end - bytes >= 2; bytes += 2) {
        fuzz_operation(bytes[0], bytes[1]);
        small_expect(fuzz_table.count == fuzz_count, "S1: the count");
    }
    if (fuzz_count < 64) { /* otherwise the walk would dominate the run time */
        fuzz_walk();
    }
    lawn__store_table_fini(&fuzz_table);
    lawn__store_slots_trim(&fuzz_slots);
    small_expect(fuzz_memory.bytes == 0 && fuzz_blocks == 0,
                 "S7: memory is left");
    return 0;
}
