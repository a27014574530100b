/* tool.c - saves snapshots for snapshot.py, and loads those that it writes.
 *
 *     tool save FILE SEED    saves random timers, and lists them
 *     tool load FILE         lists the timers in a snapshot
 *
 * Prints one line per timer, in any order: deadline, TTL, then the id and the
 * payload in hexadecimal.
 */
#include "lawn_store.h"
#include "rng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char id[LAWN_STORE_ID_MAX];
static unsigned char payload[200000];

static void
tool_must(int error, const char *what)
{
    if (error != 0) {
        (void)fprintf(stderr, "%s: %s\n", what, lawn_store_strerror(error));
        exit(1);
    }
}

static void
tool_hex(const char *name, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    printf(" %s=", name);
    for (size_t i = 0; i < size; i++) {
        printf("%02x", at[i]);
    }
}

static void
tool_list(const struct lawn_store *store)
{
    struct lawn_store_timer timer;
    uint64_t cursor = 0;

    while (lawn_store_iterate(store, &cursor, &timer)) {
        printf("%" PRIu64 " %" PRIu64, timer.deadline, timer.ttl);
        tool_hex("id", timer.id, timer.id_size);
        tool_hex("payload", timer.payload, timer.payload_size);
        printf("\n");
    }
}

/* Returns a size that is usually small. */
static size_t
tool_size(struct rng *rng, size_t max)
{
    static const size_t usual[] = {0, 1, 8, 16, 33};
    uint64_t which = rng_below(rng, 40);

    return which == 0  ? max
           : which < 5 ? rng_below(rng, max)
                       : usual[which % (sizeof(usual) / sizeof(usual[0]))];
}

/* Starts a timer in a class, which is created if necessary, and changes the
 * class from time to time. */
static void
tool_start_in(struct lawn_store *store, struct rng *rng, size_t id_size,
              size_t payload_size)
{
    static const char *const names[] = {"a", "class", "c"};
    const char *name = names[rng_below(rng, 3)];
    struct lawn_class *cls = lawn_store_class_find(store, name);

    if (cls == NULL) {
        tool_must(
            lawn_store_class_new(store, 1 + rng_below(rng, 5000), name, &cls),
            "class");
    }
    tool_must(
        lawn_store_start_in(store, cls, id, id_size, payload, payload_size, 0),
        "start");
    switch (rng_below(rng, 20)) {
    case 0:
        lawn_class_pause(cls);
        break;
    case 1:
        lawn_class_resume(cls);
        break;
    case 2:
        lawn_class_postpone(cls, rng_below(rng, 100));
        break;
    default:
        break;
    }
}

static void
tool_fill(struct lawn_store *store, uint64_t seed)
{
    struct rng rng = {seed};
    uint64_t count = seed % 3 == 0 ? seed : rng_below(&rng, 400);

    rng_fill(&rng, id, sizeof(id));
    rng_fill(&rng, payload, sizeof(payload));
    uint64_t i = 0;
    for (i = 0; i < count; i++) {
        uint64_t ttl = i % 3 == 0 ? rng_next(&rng) : 1 + rng_below(&rng, 20);
        size_t id_size = tool_size(&rng, sizeof(id));
        size_t payload_size = tool_size(&rng, sizeof(payload));

        memcpy(id, &i, sizeof(i));
        if (seed % 2 == 1 && i % 4 == 0) {
            tool_start_in(store, &rng, id_size, payload_size);
        } else {
            tool_must(lawn_store_start(store, id, id_size, ttl, payload,
                                       payload_size,
                                       i % 5 == 0 ? LAWN_STORE_AT : 0),
                      "start");
        }
        lawn_store_set_now(store, lawn_store_now(store) + rng_below(&rng, 100));
    }
}

int
main(int argc, char **argv)
{
    struct lawn_store_options options = {.lawn.classes = 3};
    struct lawn_store *store = lawn_store_new(&options);

    if (store == NULL || argc < 3) {
        return 2;
    }
    if (strcmp(argv[1], "save") == 0 && argc > 3) {
        tool_fill(store, strtoull(argv[3], NULL, 10));
        tool_must(lawn_store_save_file(store, argv[2]), argv[2]);
    } else {
        tool_must(lawn_store_load_file(store, argv[2]), argv[2]);
    }
    tool_list(store);
    lawn_store_free(store);
    return 0;
}
