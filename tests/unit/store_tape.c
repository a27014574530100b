/* store_tape.c - implements store_tape.h. */
#include "store_tape.h"
#include "../../src/store/hash.h"
#include "kit.h"

#include <stdlib.h>
#include <string.h>

int
tape_write(const void *bytes, size_t size, void *arg)
{
    struct tape *tape = arg;

    tape->writes++;
    if (tape->error != 0 && tape->size + size > tape->fail) {
        return tape->error;
    }
    if (tape->size + size > tape->room || tape->bytes == NULL) {
        tape->room = 64 + 2 * (tape->size + size);
        tape->bytes = realloc(tape->bytes, tape->room);
        CHECK(tape->bytes != NULL);
    }
    if (size > 0) {
        memcpy(tape->bytes + tape->size, bytes, size);
    }
    tape->size += size;
    return 0;
}

ptrdiff_t
tape_read(void *bytes, size_t size, void *arg)
{
    struct tape *tape = arg;
    size_t some = tape->size - tape->at;

    CHECK(size > 0);
    if (tape->error != 0 && tape->at >= tape->fail) {
        return tape->error;
    }
    if (tape->error != 0 && some > tape->fail - tape->at) {
        some = tape->fail - tape->at;
    }
    if (tape->piece != 0 && some > tape->piece) {
        some = tape->piece;
    }
    if (some > size) {
        some = size;
    }
    if (some > 0) {
        memcpy(bytes, tape->bytes + tape->at, some);
    }
    tape->at += some;
    return (ptrdiff_t)some;
}

void
tape_free(struct tape *tape)
{
    free(tape->bytes);
    memset(tape, 0, sizeof(*tape));
}

void
tape_set(struct tape *tape, const void *bytes, size_t size)
{
    struct tape new = {0};

    (void)tape_write(bytes, size, &new);
    free(tape->bytes);
    tape->bytes = new.bytes;
    tape->room = new.room;
    tape->size = size;
}

void
tape_save(struct tape *tape, struct lawn_store *store)
{
    CHECK_EQ(lawn_store_save(store, tape_write, tape), 0);
}

int
tape_load(struct tape *tape, struct lawn_store *store)
{
    tape->at = 0;
    return lawn_store_load(store, tape_read, tape);
}

void
tape_put(struct tape *tape, uint64_t number, unsigned bytes)
{
    unsigned char out[8];

    for (unsigned i = 0; i < bytes; i++) {
        out[i] = (unsigned char)(number >> 8 * i);
    }
    (void)tape_write(out, bytes, tape);
}

void
tape_sum(struct tape *tape, size_t size)
{
    uint64_t key[2] = {tape->number, tape->last};

    tape->last = lawn__store_hash(key, tape->bytes + tape->size - size, size);
    tape->number++;
    tape_put(tape, tape->last, 8);
}

void
tape_header(struct tape *tape, uint32_t version, uint32_t flags, uint64_t count,
            uint64_t first)
{
    tape->number = 0;
    tape->last = UINT64_C(0x70616e736e77616c);
    (void)tape_write("lawnsnap", 8, tape);
    tape_put(tape, version, 4);
    tape_put(tape, flags, 4);
    tape_put(tape, count, 8);
    tape_put(tape, first, 8);
    tape_sum(tape, 32);
}

void
tape_block(struct tape *tape, const void *bytes, size_t size)
{
    tape_put(tape, size, 4);
    if (size > 0) {
        (void)tape_write(bytes, size, tape);
    }
    tape_sum(tape, 4 + size);
}

void
tape_end(struct tape *tape)
{
    tape_block(tape, NULL, 0);
}

void
tape_record(struct tape *tape, uint64_t deadline, uint64_t ttl, const char *id,
            const char *payload, unsigned how)
{
    tape_put(tape, deadline, 8);
    tape_put(tape, ttl, 8);
    tape_put(tape, strlen(payload), 4);
    tape_put(tape, strlen(id), 2);
    tape_put(tape, how, 2);
    (void)tape_write(id, strlen(id), tape);
    (void)tape_write(payload, strlen(payload), tape);
}

static void *
meter_alloc(size_t size, void *context)
{
    struct meter *meter = context;

    meter->requests++;
    if (meter->refuse != 0 &&
        (meter->for_good ? meter->requests >= meter->refuse
                         : meter->requests == meter->refuse)) {
        return NULL;
    }
    size_t *memory = NULL;
    memory = malloc(size + 2 * sizeof(*memory));
    CHECK(memory != NULL);
    *memory = size;
    meter->live += size;
    if (meter->live > meter->peak) {
        meter->peak = meter->live;
    }
    return memory + 2;
}

static void
meter_release(void *memory, void *context)
{
    struct meter *meter = context;

    if (memory != NULL) {
        meter->live -= ((size_t *)memory)[-2];
        free((size_t *)memory - 2);
    }
}

struct lawn_store *
meter_store(struct meter *meter, uint64_t now)
{
    return meter_store_classes(meter, now, 0);
}

struct lawn_store *
meter_store_classes(struct meter *meter, uint64_t now, size_t classes)
{
    struct lawn_store_options options = {.lawn = {.blades = 8,
                                                  .slot_bits = 4,
                                                  .now = now,
                                                  .classes = classes,
                                                  .alloc = meter_alloc,
                                                  .release = meter_release,
                                                  .context = meter},
                                         .seed = {1, 2}};

    return lawn_store_new(&options);
}

void
check_same(struct lawn_store *a, struct lawn_store *b)
{
    uint64_t cursor = 0;

    CHECK(lawn_store_check(a, stdout));
    CHECK(lawn_store_check(b, stdout));
    CHECK_EQ(lawn_store_count(a), lawn_store_count(b));
    CHECK_EQ(lawn_store_next(a), lawn_store_next(b));
    struct lawn_store_timer x;
    struct lawn_store_timer y;
    while (lawn_store_iterate(a, &cursor, &x)) {
        CHECK(lawn_store_get(b, x.id, x.id_size, &y));
        CHECK_EQ(x.deadline, y.deadline);
        CHECK_EQ(x.ttl, y.ttl);
        CHECK_EQ(x.payload_size, y.payload_size);
        CHECK(memcmp(x.payload, y.payload, x.payload_size) == 0);
    }
}

void
check_unchanged(struct lawn_store *store, size_t bytes, uint64_t now)
{
    CHECK_EQ(lawn_store_count(store), 0);
    CHECK_EQ(lawn_store_next(store), LAWN_NEVER);
    CHECK_EQ(lawn_store_now(store), now);
    CHECK_EQ(lawn_store_bytes(store), bytes);
    CHECK(lawn_store_check(store, stdout));
}
