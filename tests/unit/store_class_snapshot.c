/* store_class_snapshot.c - snapshots with classes [S9 S10]. */
#include "kit.h"
#include "store_tape.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LAST (LAWN_NEVER - 1)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct lawn_store *
new_store(uint64_t now)
{
    struct lawn_store_options options = {.lawn = {.now = now, .classes = 4},
                                         .seed = {1, 2}};
    struct lawn_store *store = lawn_store_new(&options);

    CHECK(store != NULL);
    return store;
}

static struct lawn_class *
new_class(struct lawn_store *store, uint64_t ttl, const char *name)
{
    struct lawn_class *cls = NULL;

    CHECK_EQ(lawn_store_class_new(store, ttl, name, &cls), 0);
    return cls;
}

static void
start_in(struct lawn_store *store, struct lawn_class *cls, const char *id)
{
    CHECK_EQ(lawn_store_start_in(store, cls, id, strlen(id), "p", 1, 0), 0);
}

static void
start(struct lawn_store *store, const char *id, uint64_t ttl)
{
    CHECK_EQ(lawn_store_start(store, id, strlen(id), ttl, "p", 1, 0), 0);
}

static uint64_t
deadline_of(const struct lawn_store *store, const char *id)
{
    struct lawn_store_timer timer;

    CHECK(lawn_store_get(store, id, strlen(id), &timer));
    return timer.deadline;
}

static struct lawn_class_counters
count_in(const struct lawn_store *store, const char *name)
{
    struct lawn_class_counters counters;

    CHECK(lawn_store_class_find(store, name) != NULL);
    lawn_class_stats(lawn_store_class_find(store, name), &counters);
    return counters;
}

static void
note_id(const struct lawn_store_timer *timer, void *arg)
{
    strncat(arg, timer->id, timer->id_size);
}

/* Checks which ids, of one character each, fire by now. */
#define CHECK_MOW(store, now, expected)                                        \
    do {                                                                       \
        char fired[64] = "";                                                   \
        (void)lawn_store_mow(store, now, SIZE_MAX, note_id, fired);            \
        if (strcmp(fired, expected) != 0) {                                    \
            kit_fail(__FILE__, __LINE__, "fired: %s", fired);                  \
        }                                                                      \
    } while (0)

/* A store with three classes, one of them paused and one without timers. */
static struct lawn_store *
make_store(void)
{
    struct lawn_store *store = new_store(1000);
    struct lawn_class *idle = new_class(store, 50, "idle");
    struct lawn_class *held = new_class(store, 30, "held");

    (void)new_class(store, 7, "empty");
    start_in(store, idle, "a");
    start_in(store, held, "h");
    start(store, "x", 60);
    lawn_store_set_now(store, 1010);
    start_in(store, idle, "b");
    start_in(store, idle, "c");
    lawn_class_postpone(idle, 15);
    start_in(store, idle, "d");
    lawn_class_set_weight(idle, 300);
    lawn_class_pause(held);
    lawn_store_set_now(store, 1020);
    start_in(store, held, "i");
    return store;
}

static void
check_loaded(struct lawn_store *store)
{
    CHECK(lawn_store_check(store, stdout));
    CHECK_EQ(lawn_store_count(store), 7);
    CHECK_EQ(count_in(store, "idle").ttl, 50);
    CHECK_EQ(count_in(store, "idle").weight, 300);
    CHECK_EQ(count_in(store, "idle").count, 4);
    CHECK(!count_in(store, "idle").paused);
    CHECK_EQ(count_in(store, "held").count, 2);
    CHECK(count_in(store, "held").paused);
    CHECK_EQ(count_in(store, "empty").ttl, 7);
    CHECK_EQ(count_in(store, "empty").count, 0);
    CHECK_EQ(deadline_of(store, "a"), 1065);
    CHECK_EQ(deadline_of(store, "b"), 1075);
    CHECK_EQ(deadline_of(store, "d"), 1075);
    CHECK_EQ(deadline_of(store, "x"), 1060);
}

TEST(a_snapshot_restores_classes_with_their_timers)
{
    struct lawn_store *from = make_store();
    struct lawn_store *to = new_store(1020);
    struct tape tape = {0};

    tape_save(&tape, from);
    CHECK_EQ(tape_load(&tape, to), 0);
    check_same(from, to);
    check_loaded(to);
    CHECK_EQ(deadline_of(to, "h"), 1040);
    CHECK_EQ(deadline_of(to, "i"), 1050);
    struct tape again = {0};
    tape_save(&again, to);
    CHECK_EQ(again.size, tape.size);
    CHECK(memcmp(again.bytes, tape.bytes, tape.size) == 0);
    CHECK_MOW(to, 1074, "xa");
    CHECK_MOW(to, 1075, "bcd");
    lawn_class_resume(lawn_store_class_find(to, "held"));
    CHECK_MOW(to, 1094, "");
    CHECK_MOW(to, 1095, "h");
    CHECK_MOW(to, 1105, "i");
    lawn_store_free(from);
    lawn_store_free(to);
    tape_free(&tape);
    tape_free(&again);
}

TEST(a_paused_class_keeps_the_remaining_time_while_its_snapshot_is_stored)
{
    static const uint64_t nows[] = {1020, 1021, 5000, 1019, 980};
    struct lawn_store *from = make_store();
    struct tape tape = {0};

    tape_save(&tape, from);
    for (size_t i = 0; i < COUNT(nows); i++) {
        struct lawn_store *to = new_store(nows[i]);

        CHECK_EQ(tape_load(&tape, to), 0);
        check_loaded(to);
        CHECK_EQ(deadline_of(to, "h"), nows[i] + 20);
        CHECK_EQ(deadline_of(to, "i"), nows[i] + 30);
        lawn_store_free(to);
    }
    lawn_store_free(from);
    tape_free(&tape);
}

TEST(a_paused_class_loads_at_the_first_and_at_the_last_tick)
{
    struct lawn_store *from = make_store();
    struct lawn_store *early = new_store(5);
    struct lawn_store *late = new_store(LAST - 2);
    struct tape tape = {0};

    tape_save(&tape, from);
    CHECK_EQ(tape_load(&tape, early), 0);
    check_loaded(early);
    CHECK_EQ(deadline_of(early, "h"), 30); /* started at tick 0 */
    CHECK_EQ(deadline_of(early, "i"), 35);
    CHECK_EQ(tape_load(&tape, late), 0);
    check_loaded(late);
    CHECK_EQ(deadline_of(late, "i"), LAST);
    lawn_store_free(from);
    lawn_store_free(early);
    lawn_store_free(late);
    tape_free(&tape);
}

TEST(overdue_timers_of_classes_fire_in_order_after_a_load)
{
    struct lawn_store *from = make_store();
    struct lawn_store *to = new_store(9000);
    struct tape tape = {0};

    tape_save(&tape, from);
    CHECK_EQ(tape_load(&tape, to), 0);
    check_loaded(to);
    CHECK_EQ(lawn_store_next(to), 1060);
    CHECK_MOW(to, 9000, "xabcd");
    lawn_store_free(from);
    lawn_store_free(to);
    tape_free(&tape);
}

TEST(a_class_that_exists_receives_the_state_of_the_snapshot)
{
    struct lawn_store *from = make_store();
    struct lawn_store *to = new_store(2000);
    struct lawn_class *other = new_class(to, 3, "other");
    struct lawn_class *held = new_class(to, 3, "held");
    struct lawn_class *idle = new_class(to, 4, "idle");
    struct tape tape = {0};

    lawn_class_set_weight(other, 9);
    lawn_class_pause(idle);
    tape_save(&tape, from);
    CHECK_EQ(tape_load(&tape, to), 0);
    check_loaded(to);
    CHECK(lawn_store_class_find(to, "held") == held);
    CHECK(lawn_store_class_find(to, "idle") == idle);
    CHECK(lawn_store_class_find(to, "other") == other);
    CHECK_EQ(count_in(to, "other").ttl, 3);
    CHECK_EQ(count_in(to, "other").weight, 9);
    lawn_store_free(from);
    lawn_store_free(to);
    tape_free(&tape);
}

/* `to` has the classes idle (TTL 4, paused) and held (TTL 3, weight 9) at these
 * addresses. */
static void
check_nothing_loaded(struct lawn_store *to, const struct lawn_class *idle,
                     const struct lawn_class *held, size_t bytes)
{
    check_unchanged(to, bytes, 2000);
    CHECK(lawn_store_class_find(to, "idle") == idle);
    CHECK(lawn_store_class_find(to, "held") == held);
    CHECK(lawn_store_class_find(to, "empty") == NULL);
    CHECK_EQ(count_in(to, "idle").ttl, 4);
    CHECK(count_in(to, "idle").paused);
    CHECK_EQ(count_in(to, "held").ttl, 3);
    CHECK_EQ(count_in(to, "held").weight, 9);
    CHECK(!count_in(to, "held").paused);
}

TEST(a_load_of_classes_that_fails_anywhere_changes_nothing)
{
    struct lawn_store *from = make_store();
    struct lawn_store *to = new_store(2000);
    struct lawn_class *held = new_class(to, 3, "held");
    struct lawn_class *idle = new_class(to, 4, "idle");
    struct tape tape = {0};

    lawn_class_pause(idle);
    lawn_class_set_weight(held, 9);
    size_t bytes = lawn_store_bytes(to);
    tape_save(&tape, from);
    size_t size = tape.size;
    for (tape.size = 0; tape.size < size; tape.size++) {
        CHECK_EQ(tape_load(&tape, to), LAWN_STORE_TRUNCATED);
        check_nothing_loaded(to, idle, held, bytes);
    }
    for (size_t i = 8; i < size; i++) {
        tape.bytes[i] ^= 0x10;
        int error = tape_load(&tape, to);
        CHECK(error == LAWN_STORE_DAMAGED || error == LAWN_STORE_TRUNCATED);
        check_nothing_loaded(to, idle, held, bytes);
        tape.bytes[i] ^= 0x10;
    }
    lawn_store_set_limits(to, 6, 0);
    CHECK_EQ(tape_load(&tape, to), -ENOSPC);
    check_nothing_loaded(to, idle, held, bytes);
    lawn_store_set_limits(to, 0, bytes);
    CHECK_EQ(tape_load(&tape, to), -ENOSPC);
    check_nothing_loaded(to, idle, held, bytes);
    lawn_store_set_limits(to, 0, 0);
    (void)new_class(to, 1, "more");
    (void)new_class(to, 1, "most");
    CHECK_EQ(tape_load(&tape, to), LAWN_STORE_TOO_MANY_CLASSES);
    check_nothing_loaded(to, idle, held, bytes);
    CHECK_EQ(count_in(to, "most").ttl, 1);
    CHECK(lawn_store_class_free(to, lawn_store_class_find(to, "most")));
    CHECK_EQ(tape_load(&tape, to), 0);
    check_loaded(to);
    lawn_store_free(from);
    lawn_store_free(to);
    tape_free(&tape);
}

TEST(a_load_into_a_store_without_room_for_classes_fails)
{
    struct lawn_store *from = make_store();
    struct lawn_store *to = lawn_store_new(NULL);
    struct tape tape = {0};

    CHECK(to != NULL);
    tape_save(&tape, from);
    CHECK_EQ(tape_load(&tape, to), LAWN_STORE_TOO_MANY_CLASSES);
    CHECK_EQ(lawn_store_load(from, tape_read, &tape), -ENOTEMPTY);
    lawn_store_free(from);
    lawn_store_free(to);
    tape_free(&tape);
}

TEST(bytes_after_a_snapshot_in_a_file_undo_the_load_of_its_classes)
{
    static const char path[] = "build/store-class-trailing.snap";
    struct lawn_store *from = make_store();
    struct lawn_store *to = new_store(2000);
    struct lawn_class *held = new_class(to, 3, "held");
    struct lawn_class *idle = new_class(to, 4, "idle");

    lawn_class_pause(idle);
    lawn_class_set_weight(held, 9);
    size_t bytes = lawn_store_bytes(to);
    CHECK_EQ(lawn_store_save_file(from, path), 0);
    FILE *file = fopen(path, "ab");
    CHECK(file != NULL && fputc('x', file) == 'x' && fclose(file) == 0);
    CHECK_EQ(lawn_store_load_file(to, path), LAWN_STORE_TRAILING);
    check_nothing_loaded(to, idle, held, bytes);
    CHECK_EQ(remove(path), 0);
    lawn_store_free(from);
    lawn_store_free(to);
}

TEST(a_store_without_classes_writes_version_1)
{
    struct lawn_store *a = new_store(0);
    struct tape tape = {0};

    start(a, "x", 5);
    CHECK(lawn_store_class_free(a, new_class(a, 5, "gone")));
    tape_save(&tape, a);
    CHECK_EQ(tape.bytes[8], 1);
    CHECK_EQ(tape.bytes[12], 0);
    lawn_store_free(a);
    tape_free(&tape);
}

TEST(a_file_of_version_1_loads_into_a_store_with_classes)
{
    struct lawn_store *a = new_store(0);
    struct lawn_store *b = new_store(900);
    struct lawn_class *cls = new_class(b, 5, "cls");
    struct tape tape = {0};

    start(a, "x", 5);
    tape_save(&tape, a);
    lawn_class_pause(cls);
    CHECK_EQ(tape_load(&tape, b), 0);
    CHECK(lawn_store_class_find(b, "cls") == cls);
    CHECK(count_in(b, "cls").paused);
    CHECK_EQ(deadline_of(b, "x"), 5);
    lawn_store_free(a);
    lawn_store_free(b);
    tape_free(&tape);
}

/* The example of docs/SNAPSHOT.md. */
TEST(a_snapshot_of_a_class_is_these_bytes_on_every_machine)
{
    static const unsigned char expected[] = {
        0x6c, 0x61, 0x77, 0x6e, 0x73, 0x6e, 0x61, 0x70, 0x02, 0x00, 0x00, 0x00,
        0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xb8, 0x90, 0x59, 0x55,
        0x53, 0xac, 0x68, 0x36, 0x32, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0x00, 0x00, 0x04, 0x00, 0x69, 0x64, 0x6c, 0x65, 0x02, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x02, 0x00, 0x61, 0x70, 0xe0, 0x83,
        0x55, 0x01, 0xeb, 0xf9, 0xed, 0x49, 0x00, 0x00, 0x00, 0x00, 0xf9, 0xa9,
        0xfa, 0x76, 0xb1, 0x01, 0x3f, 0xb4};
    struct lawn_store *store = new_store(2);
    struct lawn_class *cls = new_class(store, 256, "idle");
    struct tape tape = {0};

    start_in(store, cls, "a");
    tape_save(&tape, store);
    CHECK_EQ(tape.size, sizeof(expected));
    CHECK(memcmp(tape.bytes, expected, sizeof(expected)) == 0);
    lawn_store_clear(store);
    CHECK(lawn_store_class_free(store, cls));
    CHECK_EQ(tape_load(&tape, store), 0);
    CHECK_EQ(deadline_of(store, "a"), 258);
    CHECK_EQ(count_in(store, "idle").ttl, 256);
    lawn_store_free(store);
    tape_free(&tape);
}

/* INPUT THAT NO STORE HAS WRITTEN */

static void
put_class(struct tape *stream, uint64_t ttl, uint64_t since, uint64_t weight,
          const char *name, size_t size)
{
    tape_put(stream, ttl, 8);
    tape_put(stream, since, 8);
    tape_put(stream, weight, 2);
    tape_put(stream, size, 2);
    (void)tape_write(name, size, stream);
}

/* Returns the result of loading a stream with correct checksums. */
static int
load_stream(struct tape *stream, uint32_t version, uint32_t classes,
            uint64_t count, uint64_t first)
{
    struct lawn_store *store = new_store(9);
    size_t bytes = lawn_store_bytes(store);
    struct tape tape = {0};

    tape_header(&tape, version, classes, count, first);
    if (stream->size > 0) {
        tape_block(&tape, stream->bytes, stream->size);
    }
    tape_end(&tape);
    int error = tape_load(&tape, store);
    if (error != 0) {
        check_unchanged(store, bytes, 9);
        CHECK(lawn_store_class_find(store, "k") == NULL);
    }
    CHECK(lawn_store_check(store, stdout));
    lawn_store_free(store);
    tape_free(&tape);
    stream->size = 0;
    return error;
}

TEST(headers_and_classes_that_no_store_can_have_written_are_nonsense)
{
    static const struct {
        uint64_t ttl;
        const char *name;
        size_t size;
        int error;
    } rows[] = {
        {1, "k", 1, 0},
        {LAWN_NEVER, "k", 1, 0},
        {0, "k", 1, LAWN_STORE_INCONSISTENT},
        {1, "", 0, LAWN_STORE_INCONSISTENT},
        {1, "k\0k", 3, LAWN_STORE_INCONSISTENT},
        {1, "\0", 1, LAWN_STORE_INCONSISTENT},
        {1, "0123456789012345678901234567890123456789012345678901234567890123",
         64, 0},
        {1, "01234567890123456789012345678901234567890123456789012345678901234",
         65, LAWN_STORE_INCONSISTENT},
    };
    struct tape s = {0};

    for (size_t i = 0; i < COUNT(rows); i++) {
        put_class(&s, rows[i].ttl, LAWN_NEVER, 0, rows[i].name, rows[i].size);
        CHECK_EQ(load_stream(&s, 2, 1, 0, LAWN_NEVER), rows[i].error);
    }
    CHECK_EQ(load_stream(&s, 2, 0, 0, LAWN_NEVER), LAWN_STORE_INCONSISTENT);
    CHECK_EQ(load_stream(&s, 2, 1, 0, LAWN_NEVER), LAWN_STORE_INCONSISTENT);
    CHECK_EQ(load_stream(&s, 2, 5, 0, LAWN_NEVER), LAWN_STORE_TOO_MANY_CLASSES);
    put_class(&s, 1, LAWN_NEVER, 0, "k", 1);
    CHECK_EQ(load_stream(&s, 2, 1, 0, 7), LAWN_STORE_INCONSISTENT);
    put_class(&s, 1, LAWN_NEVER, 0, "k", 1);
    CHECK_EQ(load_stream(&s, 1, 1, 0, LAWN_NEVER), LAWN_STORE_INCONSISTENT);
    put_class(&s, 1, LAWN_NEVER, 0, "k", 1);
    put_class(&s, 1, LAWN_NEVER, 0, "k", 1);
    CHECK_EQ(load_stream(&s, 2, 2, 0, LAWN_NEVER), LAWN_STORE_INCONSISTENT);
    put_class(&s, 1, LAWN_NEVER, 0, "k", 1);
    s.size--;
    CHECK_EQ(load_stream(&s, 2, 1, 0, LAWN_NEVER), LAWN_STORE_INCONSISTENT);
    tape_free(&s);
}

TEST(records_in_classes_that_no_store_can_have_written_are_nonsense)
{
    static const struct {
        uint64_t start, number, first;
        unsigned how;
        int error;
    } rows[] = {
        {5, 0, LAWN_NEVER, 2, 0},
        {0, 0, LAWN_NEVER, 2, 0},
        {LAST, 0, LAWN_NEVER, 2, 0},
        {LAWN_NEVER, 0, LAWN_NEVER, 2, LAWN_STORE_INCONSISTENT},
        {5, 1, LAWN_NEVER, 2, LAWN_STORE_INCONSISTENT},
        {5, UINT64_C(1) << 32, LAWN_NEVER, 2, LAWN_STORE_INCONSISTENT},
        {5, 0, LAWN_NEVER, 3, LAWN_STORE_INCONSISTENT},
        {5, 0, LAWN_NEVER, 0x102, LAWN_STORE_INCONSISTENT},
        {5, 0, 5, 2, LAWN_STORE_INCONSISTENT},
        {5, 1, 5, 0, 0},
        {5, 0, 5, 0, LAWN_STORE_INCONSISTENT},
        {5, 1, LAWN_NEVER, 0, LAWN_STORE_INCONSISTENT},
    };
    struct tape s = {0};

    for (size_t i = 0; i < COUNT(rows); i++) {
        put_class(&s, 100, LAWN_NEVER, 0, "k", 1);
        tape_record(&s, rows[i].start, rows[i].number, "id", "p", rows[i].how);
        CHECK_EQ(load_stream(&s, 2, 1, 1, rows[i].first), rows[i].error);
    }
    /* out of order; twice the same id; in a class without classes */
    put_class(&s, 100, LAWN_NEVER, 0, "k", 1);
    tape_record(&s, 5, 0, "a", "", 2);
    tape_record(&s, 4, 0, "b", "", 2);
    CHECK_EQ(load_stream(&s, 2, 1, 2, LAWN_NEVER), LAWN_STORE_INCONSISTENT);
    put_class(&s, 100, LAWN_NEVER, 0, "k", 1);
    tape_record(&s, 5, 0, "a", "", 2);
    tape_record(&s, 6, 0, "a", "", 2);
    CHECK_EQ(load_stream(&s, 2, 1, 2, LAWN_NEVER), LAWN_STORE_INCONSISTENT);
    tape_record(&s, 5, 0, "a", "", 2);
    CHECK_EQ(load_stream(&s, 1, 0, 1, 5), LAWN_STORE_INCONSISTENT);
    tape_free(&s);
}

TEST(a_paused_class_of_the_future_loads)
{
    struct tape s = {0};

    put_class(&s, 100, LAST, 0, "k", 1);
    tape_record(&s, 5, 0, "a", "", 2);
    tape_record(&s, LAST, 0, "b", "", 2);
    CHECK_EQ(load_stream(&s, 2, 1, 2, LAWN_NEVER), 0);
    put_class(&s, 100, 0, 0, "k", 1);
    tape_record(&s, 5, 0, "a", "", 2);
    tape_record(&s, LAST, 0, "b", "", 2);
    CHECK_EQ(load_stream(&s, 2, 1, 2, LAWN_NEVER), 0);
    tape_free(&s);
}

/* CALLBACKS */

static struct tape callback_tape;

static void
load_in_callback(const struct lawn_store_timer *timer, void *arg)
{
    struct lawn_store *store = arg;

    (void)timer;
    if (callback_tape.size > 0) {
        CHECK_EQ(tape_load(&callback_tape, store), 0);
        callback_tape.size = 0;
    }
}

TEST(overdue_timers_of_classes_that_a_callback_loads_wait_for_a_later_tick)
{
    struct lawn_store *from = make_store();
    struct lawn_store *to = new_store(8999);

    tape_save(&callback_tape, from);
    start(to, "z", 1);
    CHECK_EQ(lawn_store_mow(to, 9000, SIZE_MAX, load_in_callback, to), 1);
    CHECK(lawn_store_check(to, stdout));
    CHECK_EQ(lawn_store_count(to), 7);
    CHECK_EQ(deadline_of(to, "a"), 9001);
    CHECK_EQ(deadline_of(to, "d"), 9001);
    CHECK_EQ(lawn_store_mow(to, 9001, SIZE_MAX, load_in_callback, to), 5);
    lawn_store_free(from);
    lawn_store_free(to);
    tape_free(&callback_tape);
}

TEST(a_load_of_classes_that_runs_out_of_memory_changes_nothing)
{
    struct lawn_store *from = make_store();
    struct meter meter = {0};
    struct tape tape = {0};
    int error = 0;

    tape_save(&tape, from);
    do {
        struct lawn_store *to = meter_store_classes(&meter, 9, 4);
        CHECK(to != NULL);
        size_t bytes = lawn_store_bytes(to);
        meter.refuse++;
        meter.requests = 0;
        uint64_t refuse = meter.refuse;
        error = tape_load(&tape, to);
        meter.refuse = 0;
        if (error != 0) {
            CHECK_EQ(error, -ENOMEM);
            check_unchanged(to, bytes, 9);
            CHECK(lawn_store_class_find(to, "idle") == NULL);
        }
        lawn_store_free(to);
        CHECK_EQ(meter.live, 0);
        meter.refuse = refuse;
    } while (error != 0);
    CHECK(meter.refuse > 2);
    lawn_store_free(from);
    tape_free(&tape);
}
