/* snapshot.c - reading the header of a snapshot, and prefetching in a block,
 * with arbitrary bytes.
 *
 * A reader returns arbitrary bytes in up to three parts, or reports the end or
 * an error at any time. The computed checksum is an arbitrary number, so it may
 * match. A block ends where its memory ends, so that reads behind it are
 * noticed.
 *
 * @covers read_header read_exactly
 *     read_bytes is_checksum_valid
 *     lawn__store_snapshot_get prefetch_records
 * @flags --unwind 41 -DLAWN_STORE_TABLE_PLAIN
 * @without --conversion-check: numbers are stored byte by byte
 *
 * @proof snapshot_header
 * @flags --unwindset read_bytes.0:4
 * @proof snapshot_ahead
 * @flags --unwindset prefetch_records.0:4 -DAHEAD */
#include "proof.h"

#include "hash.h"
#define lawn__store_hash proof_hash
uint64_t proof_hash(const uint64_t key[2], const void *bytes, size_t size);

#include "../../../src/store/snapshot.c"

enum { HEADER = LAWN_STORE_SNAPSHOT_HEADER + LAWN_STORE_SNAPSHOT_CHECKSUM };

#define BLOCK 64u
static unsigned char buffer[HEADER];
static unsigned char block[BLOCK];
static struct lawn_store_bucket bucket[4];
static uintptr_t segment[1];
static size_t got_all;
static unsigned calls;
static bool ended;
static uint64_t sum;
static struct lawn_store store;

uint64_t
proof_hash(const uint64_t key[2], const void *bytes, size_t size)
{
#if defined AHEAD
    size_t at = (size_t)((const unsigned char *)bytes - block);

    (void)key;
    PROVE(at <= BLOCK && size <= BLOCK - at, "an id is in the block");
    return sum;
#endif
    PROVE(key[0] == 0 && key[1] == LAWN_STORE_SNAPSHOT_MAGIC,
          "the header's checksum is the first");
    PROVE(bytes == buffer && size == LAWN_STORE_SNAPSHOT_HEADER &&
              got_all == HEADER,
          "it covers the whole header, which was read");
    return sum;
}

static ptrdiff_t
any_bytes(void *bytes, size_t size, void *arg)
{
    ptrdiff_t got = (ptrdiff_t)nondet_u64();
    unsigned char *to = bytes;

    (void)arg;
    PROVE(!ended && bytes == buffer + got_all && size == HEADER - got_all,
          "only the missing bytes are requested");
    calls++;
    ASSUME(got <= (ptrdiff_t)size);
    ASSUME(calls < 3 || got <= 0 || got == (ptrdiff_t)size);
    ended = got <= 0;
    for (unsigned i = 0; i < HEADER; i++) {
        if ((ptrdiff_t)i < got) {
            to[i] = nondet_u8();
        }
    }
    got_all += got > 0 ? (size_t)got : 0;
    return got;
}

void
snapshot_header(void)
{
    struct lawn_store_loading loading = {0};
    int error;

    sum = nondet_u64();
    store.max_timers = nondet_u64();
    store.options.classes = nondet_size();
    loading.store = &store;
    loading.read = any_bytes;
    loading.chain = lawn__store_snapshot_begin();
    loading.buffer = buffer;
    error = read_header(&loading);
    PROVE(error != 0 || got_all == HEADER, "a partial header is rejected");
    PROVE(error != 0 ||
              (loading.count <= store.max_timers && loading.first != 0 &&
               loading.classes <= store.options.classes &&
               (loading.count != 0 || loading.first == LAWN_NEVER) &&
               (loading.count == 0 || loading.classes != 0 ||
                loading.first != LAWN_NEVER)),
          "an accepted header is consistent [S9]");
    PROVE(error != 0 || lawn__store_snapshot_get(buffer + 32, 8) == sum,
          "and its checksum is right [S9]");
    PROVE(loading.at == 0 && loading.end == 0 && loading.joined == NULL,
          "nothing else is touched");
    PROOF_END();
}

void
snapshot_ahead(void)
{
    struct lawn_store_loading loading = {0};

    for (unsigned i = 0; i < 32; i++) {
        block[i] = nondet_u8();
        block[32 + i] = nondet_u8();
    }
    sum = nondet_u64();
    segment[0] = (uintptr_t)(void *)bucket;
    store.table.segments.piece[0] = segment;
    store.table.segments.count = 1;
    store.table.buckets = 4;
    store.table.mask = 3;
    loading.store = &store;
    loading.content = block;
    loading.end = BLOCK;
    loading.at = nondet_size();
    loading.ahead = nondet_size();
    loading.fetched = nondet_u32();
    ASSUME(loading.at <= BLOCK);
    prefetch_records(&loading);
    PROVE(loading.ahead <= BLOCK, "it does not read behind the block [S9]");
    PROOF_END();
}
