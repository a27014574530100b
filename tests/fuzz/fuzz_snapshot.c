/* fuzz_snapshot.c - the fuzzer's bytes as a snapshot.
 *
 * The first byte selects the meaning of the others: 'r', a snapshot; 's', the
 * stream of its records, to which blocks, a header and correct checksums are
 * added, so that the fuzzer gets past them; 'h', the same, but count and first
 * of the header are from the input as well; 't', three bytes for each timer, so
 * that the whole snapshot is valid and loads; 'c', like 's', but of version 2:
 * first the number of classes, one byte, then the stream with these classes.
 * The second byte is the time; the third, except with 'r', the size of the
 * blocks.
 *
 * A snapshot that does not load leaves the store unchanged. A loaded store can
 * be saved and loaded again: the same timers, which fire in the same order. No
 * load takes more memory than a multiple of the input.
 */
#include "../../src/store/hash.h"
#include "fuzz_tape.h"
#include "lawn_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Memory that may be allocated in addition to 32 bytes for each byte of input:
 * a block, and the memory of an empty store. */
#define FUZZ_MEMORY ((size_t)256 * 1024)

static size_t fuzz_live;
static size_t fuzz_limit;

static void *
fuzz_alloc(size_t size, void *context)
{
    size_t *memory = malloc(size + 16);

    (void)context;
    fuzz_check(memory != NULL);
    *memory = size;
    fuzz_live += size;
    fuzz_check(fuzz_live <= fuzz_limit);
    return memory + 16 / sizeof(*memory);
}

static void
fuzz_release(void *memory, void *context)
{
    size_t *block = (size_t *)memory - 16 / sizeof(*block);

    (void)context;
    fuzz_live -= *block;
    free(block);
}

static struct lawn_store *
fuzz_store(uint64_t now)
{
    struct lawn_store_options options = {.lawn = {.blades = 8,
                                                  .slot_bits = 4,
                                                  .classes = 4,
                                                  .now = now,
                                                  .alloc = fuzz_alloc,
                                                  .release = fuzz_release},
                                         .seed = {1, 2}};
    struct lawn_store *store = lawn_store_new(&options);

    fuzz_check(store != NULL);
    return store;
}

static void
fuzz_put(struct fuzz_tape *tape, uint64_t number, unsigned bytes)
{
    uint8_t out[8];

    for (unsigned i = 0; i < bytes; i++) {
        out[i] = (uint8_t)(number >> 8 * i);
    }
    (void)fuzz_tape_write(out, bytes, tape);
}

static uint64_t
fuzz_get(const uint8_t *at, unsigned bytes)
{
    uint64_t number = 0;

    while (bytes-- > 0) {
        number = number << 8 | at[bytes];
    }
    return number;
}

static void
fuzz_sum(struct fuzz_tape *tape, size_t size)
{
    uint64_t key[2] = {tape->number++, tape->last};

    tape->last = lawn__store_hash(key, tape->bytes + tape->size - size, size);
    fuzz_put(tape, tape->last, 8);
}

struct fuzz_header {
    uint32_t version;
    uint32_t classes;
    uint64_t count;
    uint64_t first;
};

/* Builds a snapshot of this stream, in blocks of at most the given size. */
static void
fuzz_wrap(struct fuzz_tape *tape, const struct fuzz_header *header,
          const uint8_t *stream, size_t size, size_t block)
{
    tape->number = 0;
    tape->last = UINT64_C(0x70616e736e77616c);
    (void)fuzz_tape_write("lawnsnap", 8, tape);
    fuzz_put(tape, header->version, 4);
    fuzz_put(tape, header->classes, 4);
    fuzz_put(tape, header->count, 8);
    fuzz_put(tape, header->first, 8);
    fuzz_sum(tape, 32);
    for (;;) {
        size_t some = size < block ? size : block;

        fuzz_put(tape, some, 4);
        (void)fuzz_tape_write(stream, some, tape);
        fuzz_sum(tape, 4 + some);
        if (some == 0) {
            return;
        }
        stream += some;
        size -= some;
    }
}

/* Counts the records of a stream that begins with classes, and finds their
 * earliest deadline. */
static void
fuzz_survey(const uint8_t *stream, size_t size, struct fuzz_header *header)
{
    for (uint32_t i = 0; i < header->classes && size >= 20; i++) {
        size_t length = 20 + (size_t)fuzz_get(stream + 18, 2);

        length = length < size ? length : size;
        stream += length;
        size -= length;
    }
    while (size > 0) {
        uint64_t deadline = size < 24 ? 1
                            : fuzz_get(stream + 22, 2) == 2
                                ? LAWN_NEVER
                                : fuzz_get(stream, 8);
        uint64_t length = size < 24 ? size
                                    : 24 + fuzz_get(stream + 16, 4) +
                                          fuzz_get(stream + 20, 2);

        if (deadline < header->first) {
            header->first = deadline;
        }
        header->count++;
        if (length > size) {
            return;
        }
        stream += length;
        size -= length;
    }
}

/* Builds a stream with a valid timer for each three bytes. */
static void
fuzz_timers(struct fuzz_tape *stream, const uint8_t *bytes, size_t size)
{
    static const char payload[64] = "some payload";
    uint64_t number = 0;

    for (; size >= 3; size -= 3) {
        uint64_t high = bytes[0] % 16 == 15 ? LAWN_NEVER - 257 : 0;
        unsigned id_size = 2 + bytes[2] / 64;

        fuzz_put(stream, high + bytes[0] + 1, 8);
        fuzz_put(stream, bytes[1] / 16 + 1, 8);
        fuzz_put(stream, bytes[2] % 64, 4);
        fuzz_put(stream, id_size, 2);
        fuzz_put(stream, bytes[1] % 16 < 12 ? 1 : 0, 2);
        fuzz_put(stream, number++, id_size);
        (void)fuzz_tape_write(payload, bytes[2] % 64, stream);
        bytes += 3;
    }
}

/* Turns the input into a snapshot. */
static void
fuzz_make(struct fuzz_tape *tape, uint8_t kind, const uint8_t *bytes,
          size_t size)
{
    struct fuzz_tape stream = {0};
    struct fuzz_header header = {1, 0, 0, LAWN_NEVER};

    if ((kind != 's' && kind != 'h' && kind != 't' && kind != 'c') ||
        size == 0) {
        (void)fuzz_tape_write(bytes, size, tape);
        return;
    }
    size_t block = bytes[0] == 0 ? 65536 : bytes[0];
    bytes++;
    size--;
    if (kind == 't') {
        fuzz_timers(&stream, bytes, size);
        bytes = stream.bytes;
        size = stream.size;
    }
    if (kind == 'c' && size > 0) {
        header.version = 2;
        header.classes = bytes[0];
        bytes++;
        size--;
    }
    if (kind == 'h' && size >= 16) {
        header.count = fuzz_get(bytes, 8);
        header.first = fuzz_get(bytes + 8, 8);
        bytes += 16;
        size -= 16;
    } else {
        fuzz_survey(bytes, size, &header);
    }
    fuzz_wrap(tape, &header, bytes, size, block);
    free(stream.bytes);
}

/* Checks that both stores hold the same. */
static void
fuzz_same(struct lawn_store *a, struct lawn_store *b)
{
    uint64_t cursor = 0;

    fuzz_check(lawn_store_count(a) == lawn_store_count(b));
    fuzz_check(lawn_store_next(a) == lawn_store_next(b));
    fuzz_check(lawn_store_now(a) == lawn_store_now(b));
    struct lawn_store_timer x;
    struct lawn_store_timer y;
    while (lawn_store_iterate(a, &cursor, &x)) {
        fuzz_check(lawn_store_get(b, x.id, x.id_size, &y));
        fuzz_check((x.cls == NULL) == (y.cls == NULL));
        fuzz_check(x.deadline == y.deadline && x.ttl == y.ttl &&
                   x.payload_size == y.payload_size &&
                   memcmp(x.payload, y.payload, x.payload_size) == 0);
    }
}

/* The order of fired timers: for each of the shorter TTLs a number that depends
 * on the order in which its timers have fired; for classes, a sum that depends
 * on the order in each class. */
struct fuzz_fired {
    uint64_t last;
    uint64_t count;
    uint64_t classes;
    uint64_t chain[256];
};

static void
fuzz_fire(const struct lawn_store_timer *timer, void *arg)
{
    struct fuzz_fired *fired = arg;

    fuzz_check(timer->deadline >= fired->last);
    fired->last = timer->deadline;
    fired->count++;
    if (timer->cls != NULL) {
        struct lawn_class_counters counters;

        lawn_class_stats(timer->cls, &counters);
        uint64_t key[2] = {counters.fires, timer->deadline};
        fired->classes += lawn__store_hash(key, timer->id, timer->id_size);
    } else if (timer->ttl < 256) {
        uint64_t *chain = &fired->chain[timer->ttl];
        uint64_t key[2] = {*chain, timer->deadline};

        *chain = lawn__store_hash(key, timer->id, timer->id_size);
    }
}

/* Lets all timers of classes fire in the order of deadlines. */
static void
fuzz_free_classes(struct lawn_store *store)
{
    struct lawn_class_counters counters;
    const struct lawn_class *cls = NULL;

    while ((cls = lawn_class_each(lawn_store_lawn(store), cls)) != NULL) {
        lawn_class_stats(cls, &counters);
        struct lawn_class *own = lawn_store_class_find(store, counters.name);
        fuzz_check(own == cls);
        lawn_class_resume(own);
        lawn_class_set_weight(own, 0);
    }
}

/* Mows in two steps. */
static void
fuzz_mow(struct lawn_store *store, struct fuzz_fired *fired)
{
    uint64_t count = lawn_store_count(store);

    fuzz_free_classes(store);
    memset(fired, 0, sizeof(*fired));
    (void)lawn_store_mow(store, lawn_store_now(store) + 20, SIZE_MAX, fuzz_fire,
                         fired);
    fuzz_check(lawn_store_check(store, stderr));
    (void)lawn_store_mow(store, LAWN_NEVER, SIZE_MAX, fuzz_fire, fired);
    fuzz_check(fired->count == count);
    fuzz_check(lawn_store_count(store) == 0);
}

/* A loaded store can be saved and loaded again. */
static void
fuzz_again(struct lawn_store *store, struct fuzz_tape *tape)
{
    static struct fuzz_fired a;
    static struct fuzz_fired b;
    struct lawn_store *other = fuzz_store(lawn_store_now(store));

    tape->size = tape->at = 0;
    fuzz_check(lawn_store_save(store, fuzz_tape_write, tape) == 0);
    fuzz_check(lawn_store_load(other, fuzz_tape_read, tape) == 0);
    fuzz_check(tape->at == tape->size);
    fuzz_check(lawn_store_check(store, stderr));
    fuzz_check(lawn_store_check(other, stderr));
    fuzz_same(store, other);
    fuzz_mow(store, &a);
    fuzz_mow(other, &b);
    fuzz_check(memcmp(a.chain, b.chain, sizeof(a.chain)) == 0);
    fuzz_check(a.classes == b.classes);
    lawn_store_free(other);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct fuzz_tape tape = {0};

    if (size < 2) {
        return 0;
    }
    fuzz_make(&tape, bytes[0], bytes + 2, size - 2);
    fuzz_limit = FUZZ_MEMORY + 32 * tape.size;
    uint64_t now = bytes[1] == 255 ? LAWN_NEVER - 2 : bytes[1];
    struct lawn_store *store = fuzz_store(now);
    size_t before = fuzz_live;
    int error = lawn_store_load(store, fuzz_tape_read, &tape);
    fuzz_check(error == 0 || bytes[0] != 't' || size < 3);
    if (error == 0) {
        fuzz_again(store, &tape);
    } else {
        fuzz_check(error == LAWN_STORE_TOO_MANY_CLASSES ||
                   (error <= LAWN_STORE_NOT_A_SNAPSHOT &&
                    error >= LAWN_STORE_INCONSISTENT));
        fuzz_check(lawn_class_each(lawn_store_lawn(store), NULL) == NULL);
        fuzz_check(lawn_store_count(store) == 0);
        fuzz_check(lawn_store_next(store) == LAWN_NEVER);
        fuzz_check(lawn_store_now(store) == now);
        fuzz_check(lawn_store_check(store, stderr));
        fuzz_check(fuzz_live == before);
        fuzz_check(lawn_store_start(store, "id", 2, 5, "payload", 7, 0) == 0);
        fuzz_check(lawn_store_check(store, stderr));
    }
    lawn_store_free(store);
    fuzz_check(fuzz_live == 0);
    free(tape.bytes);
    return 0;
}
