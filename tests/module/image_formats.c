/* image_formats.c - tests of saving and loading queues, and of rejected data:
 * see module/image.h.
 */
#include "image_tape.h"

#include "args.h"
#include "ids.h"
#include "kit.h"
#include "memory_kit.h"
#include "rng.h"

#include <stdio.h>
#include <stdlib.h>

static struct image_tape image_one;
static struct image_tape image_two;

/* Checks that the data is rejected with this message and leaves no memory
 * allocated. */
static void
image_refused(int version, const char *text, const char *words)
{
    uint64_t blocks = memory_blocks();
    image_tape_clear(&image_one);
    image_tape_write(&image_one, text);
    const char *error = NULL;
    struct queue *queue = image_tape_load(&image_one, version, &error);
    if (queue != NULL || strcmp(error, words) != 0) {
        kit_fail(__FILE__, __LINE__, "%s: \"%s\", expected \"%s\"", text,
                 error == NULL ? "loaded" : error, words);
    }
    CHECK_EQ(memory_blocks(), blocks);
}

static struct queue *
image_taken(int version, const char *text)
{
    image_tape_clear(&image_one);
    image_tape_write(&image_one, text);
    const char *error = NULL;
    struct queue *queue = image_tape_load(&image_one, version, &error);
    if (queue == NULL) {
        kit_fail(__FILE__, __LINE__, "%s: %s", text, error);
    }
    CHECK(queue_check(queue, stderr));
    CHECK_EQ(image_one.at, image_one.count);
    return queue;
}

static struct queue_event
image_get(const struct queue *queue, const char *id)
{
    struct queue_event event;
    if (!queue_get(queue, bytes_of(id), &event)) {
        kit_fail(__FILE__, __LINE__, "there is no %s", id);
    }
    return event;
}

/* Saves and loads the queue; it must be the same. */
static struct queue *
image_again(struct queue *queue)
{
    image_tape_save(&image_one, queue);
    const char *error = NULL;
    struct queue *again = image_tape_load(&image_one, IMAGE_VERSION, &error);
    if (again == NULL) {
        kit_fail(__FILE__, __LINE__, "%s", error);
    }
    CHECK(queue_check(again, stderr));
    image_tape_save(&image_two, again);
    CHECK_EQ(queue_count(again), queue_count(queue));
    CHECK_EQ(queue_data(again), queue_data(queue));
    CHECK_EQ(queue_now(again), queue_now(queue));
    CHECK_EQ(queue_next(again), queue_next(queue));
    return again;
}

/* No sink, and no token yet. */
#define IMAGE_PLAIN "0 0 \"\" 0 \"\" "
#define IMAGE_HEAD "1000 1500 0 0 0 0 0 0 0 0 0 " IMAGE_PLAIN
#define IMAGE_CUT "truncated or damaged data"
/* The last token is 90. */
#define IMAGE_GIVEN "1000 1500 0 0 0 0 0 0 0 0 0 90 0 \"\" 0 \"\" "

TEST(image_of_an_empty_queue_has_its_settings)
{
    struct queue *queue = queue_new(1000, 64);
    CHECK(queue != NULL);
    *queue_settings_of(queue) = (struct queue_settings){
        INT64_MAX, 77, QUEUE_DROP_OLDEST, ARGS_RESOLUTION_MAX,
        true,      7,  UINT32_MAX};
    CHECK(queue_set_sink(queue,
                         &(struct queue_sink){QUEUE_SINK_LIST, bytes_of("to"),
                                              0, bytes_of("letters")}));
    queue_note_token(queue, 99);
    struct queue *again = image_again(queue);
    const struct queue_settings *settings = queue_settings_of(again);
    CHECK_EQ(settings->max_events, INT64_MAX);
    CHECK_EQ(settings->max_bytes, 77);
    CHECK_EQ(settings->overflow, QUEUE_DROP_OLDEST);
    CHECK_EQ(settings->resolution, ARGS_RESOLUTION_MAX);
    CHECK(settings->paused);
    CHECK_EQ(settings->tries, 7);
    CHECK_EQ(settings->lease, UINT32_MAX);
    CHECK_EQ(queue_token(again), 99);
    CHECK_EQ(queue_sink_of(again)->kind, QUEUE_SINK_LIST);
    CHECK(bytes_equal(queue_sink_of(again)->to, bytes_of("to")));
    CHECK(bytes_equal(queue_sink_of(again)->dead, bytes_of("letters")));
    CHECK(image_tape_equal(&image_one, &image_two));
    queue_free(again);
    queue_free(queue);
    queue = image_taken(1, "0 -1 0 0 0 0 0 0 0 0 0 " IMAGE_PLAIN "0 0");
    CHECK(queue_idle(queue));
    queue_free(queue);
}

TEST(image_keeps_all_there_is_to_know_of_an_event)
{
    static const char bytes[] = "i\0d\xff";
    struct queue *queue = queue_new(1000, 64);
    struct queue_event event = {.id = {bytes, 4},
                                .payload = {bytes, 3},
                                .due = 1500,
                                .ttl = 500,
                                .repeat = {QUEUE_TIME_MAX, 3, ARGS_COUNT_MAX}};
    CHECK(queue != NULL && queue_put(queue, &event) == 0);
    CHECK(queue_put(queue, &(struct queue_event){.due = ARGS_DUE_MAX,
                                                 .ttl = ARGS_DUE_MAX - 1000,
                                                 .alone = true}) == 0);
    struct queue *again = image_again(queue);
    CHECK(queue_get(again, event.id, &event));
    CHECK(bytes_equal(event.payload, (struct bytes){bytes, 3}));
    CHECK_EQ(event.due, 1500);
    CHECK_EQ(event.repeat.period, QUEUE_TIME_MAX);
    CHECK_EQ(event.repeat.times, 3);
    CHECK_EQ(event.repeat.missed, ARGS_COUNT_MAX);
    event = image_get(again, "");
    CHECK_EQ(event.due, ARGS_DUE_MAX);
    CHECK_EQ(event.payload.size, 0);
    CHECK_EQ(event.repeat.period, 0);
    CHECK(image_tape_equal(&image_one, &image_two));
    queue_free(again);
    queue_free(queue);
}

TEST(image_is_written_as_the_format_defines)
{
    struct queue *queue = queue_new(1000, 64);
    const struct queue_event events[] = {
        {bytes_of("a"), bytes_of("x"), 1500, 500, false, {0}, {0}, {0}},
        {bytes_of("b"), bytes_of(""), 1500, 500, false, {7, 0, 2}, {0}, {0}},
        {bytes_of("c"), bytes_of("z"), 9000, 8000, true, {0}, {0}, {0}},
    };
    CHECK(queue != NULL);
    for (size_t i = 0; i < 3; i++) {
        CHECK(queue_put(queue, &events[i]) == 0);
    }
    queue_set_now(queue, 1002);
    queue_settings_of(queue)->max_events = 5;
    image_tape_save(&image_one, queue);
    uint64_t ms = 0;
    uint64_t number = 0;
    ids_last(&ms, &number);
    char text[256];
    snprintf(text, sizeof(text),
             "1002 1500 5 0 0 0 0 0 0 %llu %llu " IMAGE_PLAIN
             "2 9000 \"c\" \"z\" 1 500 "
             "2 1500 \"a\" \"x\" 3 1500 \"b\" \"\" 7 0 2 0 3",
             (unsigned long long)ms, (unsigned long long)number);
    image_tape_clear(&image_two);
    image_tape_write(&image_two, text);
    CHECK(image_tape_equal(&image_one, &image_two));
    queue_free(queue);
}

TEST(image_brings_the_last_id_along)
{
    uint64_t ms = 0;
    uint64_t number = 0;
    ids_last(&ms, &number);
    char text[128];
    snprintf(text, sizeof(text),
             "5 -1 0 0 0 0 0 0 0 %llu 41 " IMAGE_PLAIN "0 0",
             (unsigned long long)ms + 10);
    queue_free(image_taken(1, text));
    ids_last(&ms, &number);
    CHECK_EQ(number, 41);
    /* Rejected data does not count. */
    snprintf(text, sizeof(text),
             "5 -1 0 0 0 0 0 0 0 %llu 42 " IMAGE_PLAIN "0 1",
             (unsigned long long)ms);
    image_refused(1, text,
                  "the number of events does not match the stored count");
    ids_last(&ms, &number);
    CHECK_EQ(number, 41);
}

static const struct {
    const char *text;
    const char *words;
} image_wrong[] = {
    {"0x20000000000001", "the key's last clock time is out of range"},
    {"-1", "the key's last clock time is out of range"},
    {"0 0x40000000000001", "the first due time is out of range"},
    {"0 -1 0x8000000000000000", "maxlen is out of range"},
    {"0 -1 0 -1", "maxbytes is out of range"},
    {"0 -1 0 0 2", "unknown overflow policy"},
    {"0 -1 0 0 0x100000000", "unknown overflow policy"},
    {"0 -1 0 0 0 86400001", "resolution-ms is out of range"},
    {"0 -1 0 0 0 0 2", "paused is neither 0 nor 1"},
    {"0 -1 0 0 0 0 0 0x100000000", "tries is out of range"},
    {"0 -1 0 0 0 0 0 0 0x20000000000001", "lease is out of range"},
    {"0 -1 0 0 0 0 0 0 0 0x20000000000001",
     "the time of the last generated id is out of range"},
    {"0 -1 0 0 0 0 0 0 0 0 0x20000000000001",
     "the number of the last generated id is out of range"},
    {"0 -1 0 0 0 0 0 0 0 0 0 0x20000000000000",
     "the last lease token is out of range"},
    {"0 -1 0 0 0 0 0 0 0 0 0 0 5", "unknown sink type"},
    {"0 -1 0 0 0 0 0 0 0 0 0 0 0x100000001", "unknown sink type"},
    {"0 -1 0 0 0 0 0 0 0 0 0 0 1 \"s\" 0x8000000000000000",
     "the MAXLEN of the sink is out of range"},
    {"0 -1 0 0 0 0 0 0 0 0 0 " IMAGE_PLAIN "6", "unknown tag"},
    {"0 -1 0 0 0 0 0 0 0 0 0 " IMAGE_PLAIN "-1", "unknown tag"},
    {"0 -1 0 0 0 0 0 0 0 0 0 " IMAGE_PLAIN "0 1",
     "the number of events does not match the stored count"},
    {"0 5 0 0 0 0 0 0 0 0 0 " IMAGE_PLAIN "0 0",
     "no event is due at the stored first due time"},
    {IMAGE_HEAD "1 0x40000000000001", "a delay is out of range"},
    {IMAGE_HEAD "2 0x40000000000001 \"a\" \"\"", "a due time is out of range"},
    {IMAGE_HEAD "2 -1 \"a\" \"\"", "a due time is out of range"},
    {IMAGE_HEAD "2 1499 \"a\" \"\"",
     "an event is due before the stored first due time"},
    {IMAGE_HEAD "2 1501 \"a\" \"\" 0 1",
     "no event is due at the stored first due time"},
    {IMAGE_HEAD "1 499 2 1500 \"a\" \"\"",
     "the delay of an event contradicts its due time"},
    {IMAGE_HEAD "1 1501 2 1500 \"a\" \"\"",
     "the delay of an event contradicts its due time"},
    {IMAGE_HEAD "2 1500 \"a\" \"\" 2 1500 \"a\" \"\" 0 2", "duplicate id"},
    {IMAGE_HEAD "2 1500 \"a\" \"\" 0 2",
     "the number of events does not match the stored count"},
    {IMAGE_HEAD "2 1500 \"a\" \"\" 0 0",
     "the number of events does not match the stored count"},
    {IMAGE_HEAD "2 1500 \"a\" \"\" 0 -1",
     "the number of events does not match the stored count"},
    {IMAGE_HEAD "3 1500 \"a\" \"\" 0 0 0", "a period is out of range"},
    {IMAGE_HEAD "3 1500 \"a\" \"\" 0x20000000000001 0 0",
     "a period is out of range"},
    {IMAGE_HEAD "3 1500 \"a\" \"\" 5 0x20000000000001 0",
     "a number of repetitions is out of range"},
    {IMAGE_HEAD "3 1500 \"a\" \"\" 5 0 0x8000000000000000",
     "a number of missed periods is out of range"},
    {IMAGE_GIVEN "4 0x100000000", "a number of tries is out of range"},
    {IMAGE_GIVEN "4 0 0x100000000", "a number of tries is out of range"},
    {IMAGE_GIVEN "4 1 1 4 1 1", "unknown tag"},
    {IMAGE_GIVEN "4 1 1 0", "unknown tag"},
    {IMAGE_GIVEN "4 1 1 1 5", "unknown tag"},
    {IMAGE_GIVEN "5 9 1500 0 \"\" 4 1 1", "unknown tag"},
    {IMAGE_GIVEN "5 9 1500 0 \"\" 5 9 1500 0", "unknown tag"},
    {IMAGE_GIVEN "5 9 1500 0 \"\" 0", "unknown tag"},
    {IMAGE_GIVEN "5 0 1500 0 \"\"",
     "an event has a lease token that was never issued"},
    {IMAGE_GIVEN "5 91 1500 0 \"\"",
     "an event has a lease token that was never issued"},
    {IMAGE_HEAD "5 1 1500 0 \"\"",
     "an event has a lease token that was never issued"},
    {IMAGE_GIVEN "5 9 0x40000000000001", "the end of a lease is out of range"},
    {IMAGE_GIVEN "5 9 1500 0x40000000000001",
     "the length of a lease is out of range"},
    {IMAGE_GIVEN "5 9 1500 499 \"\"",
     "the length of a lease contradicts its end"},
    {IMAGE_GIVEN "5 9 1500 1501 \"\"",
     "the length of a lease contradicts its end"},
    {IMAGE_GIVEN "5 9 1499 0 \"\" 2 1500 \"a\" \"\"",
     "an event is due before the stored first due time"},
    {IMAGE_GIVEN "5 9 1501 0 \"\" 2 1500 \"a\" \"\" 0 1",
     "no event is due at the stored first due time"},
    /* Only the times of dead events are ignored. */
    {IMAGE_GIVEN "4 1 2 2 1499 \"a\" \"\"",
     "an event is due before the stored first due time"},
    {"1000 -1 0 0 0 0 0 0 0 0 0 " IMAGE_PLAIN "4 1 2 2 9 \"a\" \"\"",
     "an event is due before the stored first due time"},
    {IMAGE_HEAD "\"a\"", IMAGE_CUT},
    {IMAGE_HEAD "2 1500 5", IMAGE_CUT},
    {IMAGE_HEAD "2 1500 \"a\" 5", IMAGE_CUT},
    {"", IMAGE_CUT},
};

TEST(image_that_makes_no_sense_is_refused)
{
    for (size_t i = 0; i < sizeof(image_wrong) / sizeof(image_wrong[0]); i++) {
        image_refused(1, image_wrong[i].text, image_wrong[i].words);
    }
    image_refused(2, IMAGE_HEAD, "unknown format version");
    image_refused(-1, IMAGE_HEAD, "unknown format version");
}

/* The limits themselves are accepted. */
TEST(image_of_the_largest_numbers_loads)
{
    struct queue *queue = image_taken(
        1, "0x20000000000000 0 0x7fffffffffffffff 0x7fffffffffffffff 1 "
           "86400000 1 0xffffffff 0x20000000000000 0 0x20000000000000 "
           "0x1fffffffffffff 4 \"to\" 0x7fffffffffffffff \"dead\" "
           "3 0x40000000000000 \"a\" \"\" 0x20000000000000 "
           "0x20000000000000 0x7fffffffffffffff 1 0x40000000000000 2 "
           "0x40000000000000 \"b\" \"\" 2 0x40000000000000 \"c\" \"\" "
           "1 0 2 0 \"d\" \"\" 4 0xffffffff 0xffffffff "
           "5 0x1fffffffffffff 0x40000000000000 0x40000000000000 \"me\" "
           "2 0x40000000000000 \"e\" \"\" 0 5");
    CHECK_EQ(queue_count(queue), 5);
    CHECK_EQ(queue_next(queue), 0);
    CHECK_EQ(queue_leased_count(queue), 1);
    CHECK_EQ(image_get(queue, "e").tries.most, UINT32_MAX);
    queue_free(image_again(queue));
    CHECK(image_tape_equal(&image_one, &image_two));
    queue_free(queue);
    queue_free(image_taken(1,
                           "0 0x40000000000000 0 0 0 0 0 0 0 0 0 " IMAGE_PLAIN
                           "3 0x40000000000000 \"a\" \"\" 1 0 0 0 1"));
}

/* One of each: waiting, leased, with an ended lease, and two dead events. */
TEST(image_keeps_leases_and_dead_events)
{
    static const char *const ids[] = {"due", "leased", "again", "dead",
                                      "nacked"};
    struct queue *queue = queue_new(1000, 64);
    CHECK(queue != NULL);
    struct queue_event event;
    for (size_t i = 0; i < 5; i++) {
        event = (struct queue_event){
            .id = bytes_of(ids[i]), .due = 1001 + i, .ttl = 1 + i};
        event.tries = (struct queue_tries){i == 4 ? 3 : 0, i == 4 ? 3 : 0};
        CHECK(queue_put(queue, &event) == 0);
    }
    CHECK(
        queue_lease_event(queue, bytes_of("leased"),
                          &(struct queue_lease){7, 9000, 8000, bytes_of("me")},
                          (struct queue_tries){2, 9}, NULL) == 0);
    CHECK(
        queue_lease_event(queue, bytes_of("again"),
                          &(struct queue_lease){8, 2000, 1000, bytes_of("you")},
                          (struct queue_tries){1, 0}, NULL) == 0);
    CHECK(queue_lease_event(queue, bytes_of("dead"),
                            &(struct queue_lease){9, 1900, 900, bytes_of("")},
                            (struct queue_tries){5, 5}, NULL) == 0);
    queue_set_now(queue, 3000);
    for (int due = 0; due < 2; due++) {
        struct queue *again = image_again(queue);
        CHECK_EQ(queue_promote_due(again, 3000, UINT64_MAX), 2);
        CHECK_EQ(queue_dead_count(again), 2);
        CHECK_EQ(queue_leased_count(again), 1);
        event = image_get(again, "leased");
        CHECK(event.lease.token == 7 && event.lease.end == 9000);
        CHECK(bytes_equal(event.lease.owner, bytes_of("me")));
        CHECK(event.tries.made == 2 && event.tries.most == 9);
        CHECK_EQ(event.due, 1002);
        event = image_get(again, "again");
        CHECK(event.lease.token == 8 && event.lease.end == 2000);
        CHECK(bytes_equal(event.lease.owner, bytes_of("you")));
        CHECK_EQ(event.tries.made, 1);
        CHECK_EQ(event.due, 1003);
        event = image_get(again, "dead");
        CHECK(event.lease.token == 9 && event.tries.most == 5);
        CHECK_EQ(image_get(again, "nacked").tries.made, 3);
        CHECK_EQ(queue_token(again), 9);
        queue_free(again);
        CHECK_EQ(queue_promote_due(queue, 3000, UINT64_MAX), 2);
    }
    queue_free(queue);
}

/* The time of a queue may be before the time at which it found an event
 * dead. */
TEST(image_of_events_that_died_ahead_of_the_time_loads)
{
    struct queue *queue = queue_new(1000, 64);
    struct queue_event event = {.id = bytes_of("a"), .due = 1000};
    CHECK(queue != NULL && queue_put(queue, &event) == 0);
    CHECK(
        queue_lease_event(queue, event.id,
                          &(struct queue_lease){7, 2000, 1000, bytes_of("me")},
                          (struct queue_tries){1, 1}, NULL) == 0);
    CHECK_EQ(queue_promote_due(queue, 5000, UINT64_MAX), 0);
    CHECK_EQ(queue_dead_count(queue), 1);
    CHECK_EQ(queue_next(queue), LAWN_NEVER);
    image_tape_save(&image_one, queue);
    const char *error = NULL;
    struct queue *again = image_tape_load(&image_one, IMAGE_VERSION, &error);
    CHECK(again != NULL);
    CHECK_EQ(queue_leased_count(again), 1);
    CHECK_EQ(queue_promote_due(again, 5000, UINT64_MAX), 0);
    CHECK_EQ(queue_dead_count(again), 1);
    queue_free(again);
    queue_free(queue);
}

/* A paused key has sent no notification. */
TEST(image_of_a_paused_queue_keeps_that_some_died)
{
    struct queue *queue = queue_new(1000, 64);
    struct queue_event event = {.id = bytes_of("a"), .due = 1000};
    CHECK(queue != NULL && queue_put(queue, &event) == 0);
    CHECK(
        queue_lease_event(queue, event.id,
                          &(struct queue_lease){7, 2000, 1000, bytes_of("me")},
                          (struct queue_tries){1, 1}, NULL) == 0);
    queue_set_now(queue, 5000);
    CHECK_EQ(queue_promote_due(queue, 5000, UINT64_MAX), 0);
    CHECK(queue_died(queue));
    for (int paused = 0; paused < 2; paused++) {
        queue_settings_of(queue)->paused = paused == 1;
        image_tape_save(&image_one, queue);
        const char *error = NULL;
        struct queue *again =
            image_tape_load(&image_one, IMAGE_VERSION, &error);
        CHECK(again != NULL);
        CHECK_EQ(queue_dead_count(again), 1);
        CHECK_EQ(queue_died(again), paused == 1);
        queue_free(again);
    }
    queue_free(queue);
}

TEST(image_cut_anywhere_is_refused)
{
    struct queue *queue = image_taken(
        1, IMAGE_GIVEN "2 1700 \"a\" \"x\" 1 500 2 1500 \"b\" \"\" 3 1500 "
                       "\"c\" \"\" 9 8 7 4 1 2 5 90 1600 600 \"me\" "
                       "2 1700 \"d\" \"\" 0 4");
    queue_free(queue);
    size_t whole = image_one.count;
    for (image_one.count = 0; image_one.count < whole; image_one.count++) {
        const char *error = NULL;
        uint64_t blocks = memory_blocks();
        CHECK(image_tape_load(&image_one, 1, &error) == NULL);
        CHECK(strcmp(error, IMAGE_CUT) == 0);
        CHECK_EQ(memory_blocks(), blocks);
    }
    queue_free(image_taken(0, "\"k\" 2 5 1 9 \"a\" \"x\" 6 1 9 \"b\" \"y\""));
    whole = image_one.count;
    for (image_one.count = 0; image_one.count < whole; image_one.count++) {
        const char *error = NULL;
        CHECK(image_tape_load(&image_one, 0, &error) == NULL);
        CHECK(strcmp(error, IMAGE_CUT) == 0);
    }
}

TEST(image_with_too_long_an_id_is_refused)
{
    static char long_id[QUEUE_ID_MAX + 1];
    for (size_t over = 0; over < 2; over++) {
        image_tape_clear(&image_one);
        image_tape_write(&image_one, IMAGE_HEAD "2 1500 \"a\" \"\" 2 1500");
        image_tape_string(&image_one,
                          (struct bytes){long_id, QUEUE_ID_MAX + over});
        image_tape_write(&image_one, "\"\" 0 2");
        const char *error = NULL;
        struct queue *queue = image_tape_load(&image_one, 1, &error);
        CHECK((queue == NULL) == (over == 1));
        if (over == 1) {
            CHECK(strcmp(error, "an id is too long") == 0);
        }
        queue_free(queue);
    }
}

TEST(image_with_too_long_an_owner_or_name_is_refused)
{
    static const char long_name[65536];
    static const struct {
        const char *before;
        size_t most;
        const char *after;
        const char *words;
    } cases[] = {
        {IMAGE_GIVEN "5 9 1500 0", QUEUE_OWNER_MAX, "2 1500 \"a\" \"\" 0 1",
         "an owner is too long"},
        {"0 -1 0 0 0 0 0 0 0 0 0 0 1", 65535, "0 \"\" 0 0",
         "the name of a sink or dead letter stream is too long"},
        {"0 -1 0 0 0 0 0 0 0 0 0 0 1 \"\" 0", 65535, "0 0",
         "the name of a sink or dead letter stream is too long"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t over = 0; over < 2; over++) {
            const char *error = "";
            image_tape_clear(&image_one);
            image_tape_write(&image_one, cases[i].before);
            image_tape_string(&image_one,
                              (struct bytes){long_name, cases[i].most + over});
            image_tape_write(&image_one, cases[i].after);
            struct queue *queue = image_tape_load(&image_one, 1, &error);
            CHECK((queue == NULL) == (over == 1));
            CHECK(over == 0 || strcmp(error, cases[i].words) == 0);
            queue_free(queue);
        }
    }
}

TEST(image_of_rede_loads)
{
    struct queue *queue =
        image_taken(0, "\"old name\" 4 3000 2 1700000003000 \"a\" \"x\" "
                       "1700000003000 \"b\" \"\" 10 0 "
                       "0xffffffff80000000 1 1699999999000 \"minus\" \"y\" "
                       "1000 2 1704294968296 \"cut\" \"z\" 1700000001000 "
                       "\"behind\" \"\"");
    CHECK_EQ(queue_count(queue), 5);
    CHECK_EQ(queue_next(queue), 1699999999000);
    CHECK_EQ(image_get(queue, "cut").due, 1704294968296);
    CHECK(bytes_equal(image_get(queue, "a").payload, bytes_of("x")));
    CHECK(queue_settings_of(queue)->max_events == 0);
    /* The file does not contain a time; a delay counts from the present. */
    CHECK_EQ(queue_now(queue), 0);
    queue_free(image_again(queue));
    static const char *const order[] = {"minus", "behind", "a", "b", "cut"};
    const void *cursor = NULL;
    CHECK_EQ(queue_promote_due(queue, UINT64_C(1) << 42, UINT64_MAX), 5);
    struct queue_event event;
    for (size_t i = 0; i < 5; i++) {
        CHECK(queue_ready(queue, &cursor, &event));
        CHECK(bytes_equal(event.id, bytes_of(order[i])));
    }
    queue_free(queue);
    queue = image_taken(0, "\"\" 0");
    CHECK(queue_idle(queue));
    queue_free(queue);
    /* Whatever its TTLs are. */
    queue = image_taken(0, "\"\" 3 3000000000 1 9 \"a\" \"\" "
                           "0 0 -1 1 0 \"b\" \"\"");
    CHECK_EQ(image_get(queue, "a").due, 9);
    CHECK_EQ(queue_next(queue), 0);
    queue_free(queue);
    /* Times that ReDe accepted, in the far future. */
    queue = image_taken(0, "\"\" 1 5 3 -1 \"a\" \"\" 0x7fffffffffffffff \"b\" "
                           "\"\" 0x8000000000000000 \"c\" \"\"");
    CHECK_EQ(image_get(queue, "a").due, 0);
    CHECK_EQ(image_get(queue, "b").due, ARGS_DUE_MAX);
    CHECK_EQ(image_get(queue, "c").due, 0);
    queue_free(image_again(queue));
    queue_free(queue);
}

TEST(image_of_rede_that_makes_no_sense_is_refused)
{
    image_refused(0, "5", IMAGE_CUT);
    image_refused(0, "\"\" -1", "the number of TTLs is out of range");
    image_refused(0, "\"\" 0xffffffff", IMAGE_CUT);
    image_refused(0, "\"\" 1 5 0x80000000",
                  "the number of events of a TTL is out of range");
    image_refused(0, "\"\" 1 5 0x7fffffff 1 \"a\" \"b\"", IMAGE_CUT);
    image_refused(0, "\"\" 2 5 1 1 \"a\" \"b\" 6 1 2 \"a\" \"b\"",
                  "duplicate id");
}

TEST(image_without_memory_is_refused)
{
    const char *error = "";
    uint64_t blocks = memory_blocks();
    struct queue *queue = NULL;
    size_t failed = 0;
    image_tape_clear(&image_one);
    image_tape_write(&image_one, IMAGE_HEAD "2 1500 \"abc\" \"x\" 3 1500 "
                                            "\"abcdefghijk\" \"\" 9 8 7 0 2");
    for (size_t left = 0; queue == NULL; left++) {
        memory_fail_after(left);
        queue = image_tape_load(&image_one, 1, &error);
        memory_fail_after(UINT64_MAX);
        if (queue == NULL) {
            CHECK(strcmp(error, "out of memory") == 0);
            CHECK_EQ(memory_blocks(), blocks);
            failed++;
        }
        CHECK(left < 1000);
    }
    CHECK(failed > 5);
    queue_free(queue);
    CHECK_EQ(memory_blocks(), blocks);
}

/* ORDER: events are numbered as they are pushed. Events of the same delay, or
 * with individual times, that are due at the same time are delivered in that
 * order from the queue and from the loaded copy. */
#define IMAGE_EVENTS 300

struct image_pushed {
    uint64_t due;
    uint64_t kind; /* the delay; 0: an individual time */
    bool there;
};

static uint64_t
image_random_put(struct queue *queue, struct rng *rng, uint32_t id,
                 struct image_pushed *pushed)
{
    static const uint64_t delays[] = {1, 5, 20, 100, 1000};
    bool alone = rng_below(rng, 4) == 0;
    uint64_t ttl = alone ? rng_below(rng, 30) : delays[rng_below(rng, 5)];
    struct queue_event event = {
        .id = {(const char *)&id, sizeof(id)},
        .payload = {"0123456789", (size_t)rng_below(rng, 11)},
        .due = queue_now(queue) + ttl,
        .ttl = ttl,
        .alone = alone};
    if (rng_below(rng, 8) == 0) {
        event.repeat = (struct queue_repeat){1 + rng_below(rng, 9), id, 3};
    }
    CHECK_EQ(queue_put(queue, &event), 0);
    *pushed = (struct image_pushed){event.due, alone ? 0 : ttl, true};
    return event.due;
}

/* Takes all events, and checks their order. */
static void
image_drain(struct queue *queue, const struct image_pushed *pushed)
{
    const void *cursor = NULL;
    uint64_t due = 0;
    uint64_t count = 0;
    /* The number of the last event of a kind. */
    static uint32_t last[1001];
    memset(last, 0, sizeof(last));
    CHECK_EQ(queue_promote_due(queue, queue_now(queue) + 5000, UINT64_MAX),
             queue_count(queue));
    struct queue_event event;
    while (queue_ready(queue, &cursor, &event)) {
        uint32_t id = 0;
        CHECK_EQ(event.id.size, sizeof(id));
        memcpy(&id, event.id.at, sizeof(id));
        CHECK(id < IMAGE_EVENTS && pushed[id].there);
        CHECK_EQ(event.due, pushed[id].due);
        CHECK(event.due >= due);
        if (event.due > due) {
            memset(last, 0, sizeof(last));
        }
        due = event.due;
        CHECK(id >= last[pushed[id].kind]);
        last[pushed[id].kind] = id;
        count++;
    }
    CHECK_EQ(count, queue_count(queue));
}

TEST(image_keeps_the_order_of_events)
{
    static struct image_pushed pushed[IMAGE_EVENTS];
    struct rng rng = {7};
    for (unsigned round = 0; round < 300; round++) {
        struct queue *queue = queue_new(1000, 64);
        uint64_t now = 1000;
        CHECK(queue != NULL);
        memset(pushed, 0, sizeof(pushed));
        for (uint32_t i = 0; i < IMAGE_EVENTS; i++) {
            queue_set_now(queue, now);
            image_random_put(queue, &rng, i, &pushed[i]);
            now += rng_below(&rng, 3) / 2;
            if (rng_below(&rng, 50) == 0) {
                queue_promote_due(queue, now, rng_below(&rng, 20));
            }
            uint32_t gone = (uint32_t)rng_below(&rng, i + 1);
            if (rng_below(&rng, 4) == 0 && pushed[gone].there) {
                struct bytes id = {(const char *)&gone, sizeof(gone)};
                CHECK(queue_remove(queue, id));
                pushed[gone].there = false;
            }
        }
        if (round % 3 == 0) {
            queue_promote_due(queue, now, 10);
        }
        struct queue *again = image_again(queue);
        image_drain(queue, pushed);
        image_drain(again, pushed);
        queue_free(again);
        queue_free(queue);
    }
}
