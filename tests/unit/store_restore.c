/* store_restore.c - snapshots in callbacks, and restored records that no
 * snapshot contains [S9]. */
#include "../../src/store/store.h"
#include "store_common.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* A snapshot in memory; writes fail once it is full. */
static struct {
    char bytes[1u << 19];
    size_t size;
    size_t room;
    size_t at;
} disk;

static int
write_disk(const void *bytes, size_t size, void *arg)
{
    (void)arg;
    if (size > disk.room - disk.size) {
        return -EIO;
    }
    memcpy(disk.bytes + disk.size, bytes, size);
    disk.size += size;
    return 0;
}

static ptrdiff_t
read_disk(void *bytes, size_t size, void *arg)
{
    (void)arg;
    size = size < disk.size - disk.at ? size : disk.size - disk.at;
    memcpy(bytes, disk.bytes + disk.at, size);
    disk.at += size;
    return (ptrdiff_t)size;
}

static int
save(struct trial *t, size_t room)
{
    disk.size = 0;
    disk.at = 0;
    disk.room = room;
    return lawn_store_save(t->store, write_disk, NULL);
}

/* Stops b. c is large, so that a full disk is noticed while due timers are
 * being written. */
static void
save_and_load(struct trial *t, const struct lawn_store_timer *timer)
{
    if (memcmp(timer->id, "a", 1) == 0) {
        CHECK(drop(t, "b"));
        CHECK_EQ(save(t, 100), -EIO);
        CHECK_EQ(save(t, sizeof(disk.bytes)), 0);
        CHECK_EQ(lawn_store_load(t->store, read_disk, NULL), -ENOTEMPTY);
        lawn_store_clear(t->store);
        CHECK_EQ(lawn_store_load(t->store, read_disk, NULL), 0);
        CHECK_EQ(lawn_store_count(t->store), 3);
    }
}

/* [P6] Timers loaded in a callback wait for a later mow, even if overdue. */
TEST(a_callback_of_a_store_may_save_and_load_it)
{
    static char large[300000];
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "1");
    put(&t, "b", 10, "2");
    CHECK_EQ(lawn_store_start(t.store, "c", 1, 10, large, sizeof(large), 0), 0);
    put(&t, "d", 11, "4");
    put(&t, "e", 90, "5");
    t.act = save_and_load;
    CHECK_EQ(trial_mow(&t, 50), 1);
    CHECK_STORE_FIRED(&t, "a");
    CHECK_TIMER(&t, "d", "4", 51);
    CHECK_TIMER(&t, "e", "5", 90);
    CHECK_EQ(look(&t, "c").payload_size, sizeof(large));
    CHECK_EQ(trial_mow(&t, 51), 2);
    CHECK_STORE_FIRED(&t, "c d");
    trial_end(&t);
}

/* Starts unqueued timers of one TTL, because other TTLs occupy all blades: ids
 * c0 to c5 with one deadline, b0 to b5 with a later one, a0 to a5 with the
 * latest. */
static void
put_groups(struct trial *t)
{
    char id[8];

    for (unsigned i = 0; i < 300; i++) {
        CHECK_EQ(put_number(t, i, 100000 + i), 0);
    }
    put(t, "load", 30, "");
    for (char group = 'c'; group >= 'a'; group--) {
        lawn_store_set_now(t->store, lawn_store_now(t->store) + 1);
        for (unsigned i = 0; i < 6; i++) {
            (void)snprintf(id, sizeof(id), "%c%u", group, i);
            put(t, id, 50, "");
        }
    }
}

static void
clear_and_load(struct trial *t, const struct lawn_store_timer *timer)
{
    if (memcmp(timer->id, "load", 4) == 0) {
        CHECK_EQ(save(t, sizeof(disk.bytes)), 0);
        lawn_store_clear(t->store);
        CHECK_EQ(lawn_store_load(t->store, read_disk, NULL), 0);
    }
}

/* [S9] The order between deadlines is lost, because all become due at now +
 * 1. */
TEST(overdue_timers_loaded_in_a_callback_keep_their_order_within_a_deadline)
{
    struct lawn_store_options options = {.lawn = {.blades = 8}};
    unsigned next[3] = {0};
    struct trial t;

    trial_begin(&t, &options);
    put_groups(&t);
    t.act = clear_and_load;
    CHECK_EQ(trial_mow(&t, 200), 1);
    CHECK_EQ(look(&t, "c0").deadline, 201);
    CHECK_EQ(look(&t, "a5").deadline, 201);
    t.fired = 0;
    CHECK_EQ(trial_mow(&t, 201), 18);
    for (unsigned i = 0; i < t.fired; i++) {
        CHECK_EQ((unsigned)(t.ids[i][1] - '0'), next[t.ids[i][0] - 'a']++);
    }
    trial_end(&t);
}

TEST(a_store_loads_no_payload_that_exceeds_its_limit)
{
    static char large[300000];
    struct trial t;

    trial_begin(&t, NULL);
    CHECK_EQ(lawn_store_start(t.store, "a", 1, 10, large, sizeof(large), 0), 0);
    CHECK_EQ(save(&t, sizeof(disk.bytes)), 0);
    lawn_store_clear(t.store);
    lawn_store_set_limits(t.store, 0, sizeof(large) - 1);
    CHECK_EQ(lawn_store_load(t.store, read_disk, NULL), -ENOSPC);
    CHECK_EQ(lawn_store_count(t.store), 0);
    trial_end(&t);
}

static ptrdiff_t
read_nonsense(void *bytes, size_t size, void *arg)
{
    (void)bytes;
    (void)size;
    (void)arg;
    return PTRDIFF_MIN;
}

TEST(a_store_loaded_with_an_error_that_is_no_int_reports_it)
{
    struct trial t;

    trial_begin(&t, NULL);
    CHECK_EQ(lawn_store_load(t.store, read_nonsense, NULL),
             PTRDIFF_MIN < -INT_MAX ? -EIO : PTRDIFF_MIN);
    trial_end(&t);
}

TEST(a_store_restores_nothing_twice)
{
    struct lawn_store_timer timer = {"x", 1, "", 0, 1, 1, NULL};
    struct trial t;

    trial_begin(&t, NULL);
    CHECK_EQ(lawn__store_restore(t.store, &timer, true), 0);
    CHECK_EQ(lawn__store_restore(t.store, &timer, true), -EEXIST); /* [S1] */
    CHECK_EQ(lawn_store_count(t.store), 1);
    trial_end(&t);
}
