/* store_system.c - the system refuses memory or random numbers to a store. Each
 * test runs in a child process, because the refusal is permanent. */
#include "store_common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#if defined __linux__
#include <sys/syscall.h>
#endif

/* The default allocator of a store maps large blocks. */
static int
map_too_much(void)
{
    struct rlimit limit = {256u << 20, 256u << 20};
    size_t large = 128u << 20;
    static char *bytes;
    struct lawn_store *store = lawn_store_new(NULL);

    bytes = calloc(1, large);
    if (bytes == NULL || store == NULL ||
        lawn_store_start(store, "a", 1, 10, "x", 1, 0) != 0 ||
        setrlimit(RLIMIT_AS, &limit) != 0) {
        return 1;
    }
    size_t before = lawn_store_bytes(store);
    if (lawn_store_start(store, "b", 1, 10, bytes, large, 0) != -ENOMEM ||
        lawn_store_update(store, "a", 1, bytes, large) != -ENOMEM ||
        lawn_store_reserve(store, UINT64_C(1) << 30) != -ENOMEM) {
        return 2;
    }
    if (lawn_store_bytes(store) != before || lawn_store_count(store) != 1 ||
        !lawn_store_check(store, stdout)) {
        return 3;
    }
    lawn_store_free(store);
    free(bytes);
    return 0;
}

/* [S2] */
TEST(a_store_that_gets_no_memory_from_the_system_is_unchanged)
{
    if (!watched()) { /* they need much memory themselves */
        check_child(map_too_much);
    }
}

#if defined __linux__
static int
get_no_random_numbers(void)
{
    struct lawn_store_options options = {.seed = {1, 0}};

    if (!refuse(SYS_getrandom, EIO)) {
        return 0;
    }
    errno = 0;
    if (lawn_store_new(NULL) != NULL || errno != EIO) {
        return 1;
    }
    struct lawn_store *store =
        lawn_store_new(&options); /* a seed needs no random numbers */
    lawn_store_free(store);
    return store == NULL ? 2 : 0;
}

static bool
start_many(struct lawn_store *store, uint64_t many)
{
    static const char payload[200];
    uint64_t i = 0;

    for (i = 0; i < many; i++) {
        if (lawn_store_start(store, &i, sizeof(i), 10, payload, sizeof(payload),
                             0) != 0) {
            return false;
        }
    }
    return lawn_store_check(store, stdout);
}

static int
give_back_in_vain(void)
{
    static const char large[100000];
    const uint64_t many = 20000;
    /* The seed decides whether a start needs memory, which is refused. */
    struct lawn_store_options options = {.seed = {1, 2}};
    struct lawn_store *store = lawn_store_new(&options);

    if (store == NULL || !start_many(store, many)) {
        return 1;
    }
    size_t full = lawn_store_bytes(store);
    if (!refuse(SYS_munmap, ENOMEM)) {
        return 0;
    }
    uint64_t i = 0;
    for (i = 0; i < many; i++) {
        (void)lawn_store_stop(store, &i, sizeof(i));
    }
    if (lawn_store_bytes(store) > full / 8 ||
        !lawn_store_check(store, stdout)) {
        return 2;
    }
    /* A block of another size is mapped. */
    if (lawn_store_start(store, "x", 1, 10, large, sizeof(large), 0) != 0) {
        return 4;
    }
    /* The only free memory is in blocks that munmap() failed to release. */
    if (!refuse(SYS_mmap, ENOMEM) || !start_many(store, many / 2)) {
        return 3;
    }
    lawn_store_free(store);
    return 0;
}

/* munmap() fails for whole blocks and succeeds for others; each time, one of
 * the failed blocks is tried again. */
static int
give_back_some(void)
{
    static const char large[300000];
    /* The seed decides when a bucket is chained, which needs memory. */
    struct lawn_store_options options = {.seed = {1, 2}};
    struct lawn_store *store = lawn_store_new(&options);

    if (store == NULL || !start_many(store, 20000)) {
        return 1;
    }
    if (!refuse_if(SYS_munmap, ENOMEM, 1, UINT32_MAX, 65536)) {
        return 0;
    }
    uint64_t i = 0;
    for (i = 0; i < 20000; i++) {
        (void)lawn_store_stop(store, &i, sizeof(i));
    }
    size_t before = lawn_store_bytes(store);
    for (i = 0; i < 100; i++) {
        if (lawn_store_start(store, "x", 1, 10, large, sizeof(large), 0) != 0 ||
            !lawn_store_stop(store, "x", 1)) {
            return 2;
        }
    }
    if (lawn_store_bytes(store) > before || !lawn_store_check(store, stdout)) {
        return 3;
    }
    lawn_store_free(store);
    return 0;
}

/* [S7] On Linux munmap() fails once there are vm.max_map_count mappings. */
TEST(blocks_that_the_system_does_not_take_back_are_used_again)
{
    if (!watched()) { /* they need their own mappings */
        check_child(give_back_in_vain);
        check_child(give_back_some);
    }
}

/* [S6] No store rather than one with predictable hashes. */
TEST(a_store_is_not_made_without_random_numbers)
{
    check_child(get_no_random_numbers);
}
#endif
