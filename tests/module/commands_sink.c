/* commands_sink.c - tests of LAWN.SINK, and of the delivery of due and dead
 * events.
 */
#include "scene.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define FAR "1000000"

static const char *
sink_info(struct fake *fake, const char *name)
{
    static char text[128];
    char word[64];
    const char *info = fake_run(fake, "LAWN.INFO k");

    (void)snprintf(word, sizeof(word), "\"%s\": ", name);
    const char *at = strstr(info, word);
    if (at == NULL) {
        return "nothing";
    }
    at += strlen(word);
    (void)snprintf(text, sizeof(text), "%.*s",
                   (int)strcspn(at, *at == '"' ? "," : ",}"), at);
    return text;
}

TEST(commands_sink_is_set_reported_and_taken_away)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.SINK k STREAM s", "+OK");
    REPLICATED(fake, "SINK stream s 0 ''");
    CHECK_TEXT(sink_info(fake, "sink"), "\"stream\"");
    CHECK_TEXT(sink_info(fake, "sink-to"), "\"s\"");
    REPLIES(fake, "LAWN.SINK k stream s maxlen ~ 100 deadletter d", "+OK");
    REPLICATED(fake, "SINK stream s 100 d");
    CHECK_TEXT(sink_info(fake, "dead-letter"), "\"d\"");
    REPLIES(fake, "LAWN.SINK k STREAM s MAXLEN 9 DEADLETTER d", "+OK");
    REPLICATED(fake, "SINK stream s 9 d");
    REPLIES(fake, "LAWN.SINK k STREAM s MAXLEN 9 DEADLETTER d", "+OK");
    REPLICATED(fake, "");
    REPLIES(fake, "LAWN.SINK k LIST l", "+OK");
    REPLICATED(fake, "SINK list l 0 ''");
    REPLIES(fake, "LAWN.SINK k PUBLISH c", "+OK");
    REPLICATED(fake, "SINK publish c 0 ''");
    REPLIES(fake, "LAWN.SINK k SPUBLISH k DEADLETTER d", "+OK");
    REPLICATED(fake, "SINK spublish k 0 d");
    REPLIES(fake, "LAWN.SINK k NONE DEADLETTER d", "+OK");
    REPLICATED(fake, "SINK none '' 0 d");
    CHECK(fake_queue(fake, "k") != NULL);
    /* An empty key without settings is deleted. */
    REPLIES(fake, "LAWN.SINK k NONE", "+OK");
    REPLICATED(fake, "SINK none '' 0 ''");
    NOTED(fake, "del");
    CHECK(fake_queue(fake, "k") == NULL);
    REPLIES(fake, "LAWN.SINK k NONE", "+OK");
    REPLICATED(fake, "");
    CHECK(fake_queue(fake, "k") == NULL);
    scene_end(fake);
}

TEST(commands_sink_names_may_be_words_of_the_command)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.SINK k STREAM MAXLEN MAXLEN 5 DEADLETTER NONE", "+OK");
    REPLICATED(fake, "SINK stream MAXLEN 5 NONE");
    REPLIES(fake, "LAWN.SINK k LIST DEADLETTER", "+OK");
    REPLICATED(fake, "SINK list DEADLETTER 0 ''");
    REPLIES(fake, "LAWN.SINK k LIST DEADLETTER DEADLETTER DEADLETTER", "+OK");
    REPLICATED(fake, "SINK list DEADLETTER 0 DEADLETTER");
    REPLIES(fake, "LAWN.SINK k LIST '' DEADLETTER d", "+OK");
    REPLICATED(fake, "SINK list '' 0 d");
    scene_end(fake);
}

TEST(commands_sink_rejects_invalid_arguments)
{
    static const char *const lines[][2] = {
        {"LAWN.SINK k FILE s", "!ERR syntax error near 'FILE'"},
        {"LAWN.SINK k STREAM",
         "!ERR syntax error: missing argument of 'STREAM'"},
        {"LAWN.SINK k STREAM s MAXLEN",
         "!ERR syntax error: missing argument of 'MAXLEN'"},
        {"LAWN.SINK k STREAM s MAXLEN ~",
         "!ERR syntax error: missing argument of 'MAXLEN'"},
        {"LAWN.SINK k STREAM s ~ 5", "!ERR syntax error near '~'"},
        {"LAWN.SINK k STREAM s DEADLETTER",
         "!ERR syntax error: missing argument of 'DEADLETTER'"},
        {"LAWN.SINK k STREAM s DEADLETTER d MAXLEN 5",
         "!ERR syntax error near 'MAXLEN'"},
        {"LAWN.SINK k STREAM s DEADLETTER d DEADLETTER d",
         "!ERR syntax error near 'DEADLETTER'"},
        {"LAWN.SINK k LIST s MAXLEN 5", "!ERR syntax error near 'MAXLEN'"},
        {"LAWN.SINK k PUBLISH",
         "!ERR syntax error: missing argument of 'PUBLISH'"},
        {"LAWN.SINK k NONE s", "!ERR syntax error near 's'"},
        {"LAWN.SINK k DEADLETTER d", "!ERR syntax error near 'DEADLETTER'"},
        {"LAWN.SINK k STREAM DEADLETTER d", "!ERR syntax error near 'd'"},
    };
    struct fake *fake = scene_begin();

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        REPLIES(fake, lines[i][0], lines[i][1]);
    }
    REPLIES(fake, "LAWN.SINK k", "!ERR wrong number of arguments");
    REPLIES(fake, "LAWN.SINK k STREAM s MAXLEN 0",
            "!" NOT_IN("MAXLEN", "1 to 2^63 - 1", "0"));
    REPLIES(fake, "LAWN.SINK k STREAM s MAXLEN ~ x",
            "!" NOT_IN("MAXLEN", "1 to 2^63 - 1", "x"));
    REPLIES(fake, "LAWN.SINK k STREAM k", "!ERR a key cannot be its own sink");
    REPLIES(fake, "LAWN.SINK k LIST k", "!ERR a key cannot be its own sink");
    REPLIES(fake, "LAWN.SINK k NONE DEADLETTER k",
            "!ERR a key cannot be its own DEADLETTER stream");
    REPLIES(fake, "LAWN.SINK k NONE DEADLETTER ''",
            "!ERR DEADLETTER requires a non-empty stream name");
    CHECK(fake_queue(fake, "k") == NULL);
    scene_end(fake);
}

TEST(commands_sink_names_have_a_length_that_can_be_loaded)
{
    struct fake *fake = scene_begin();
    char *name = malloc(65536);

    CHECK(name != NULL);
    memset(name, 'n', 65536);
    struct bytes args[] = {
        bytes_of("LAWN.SINK"), bytes_of("k"), bytes_of("LIST"), {name, 65536}};
    CHECK_TEXT(fake_call(fake, args, 4), "!ERR name of the sink or DEADLETTER "
                                         "stream is longer than 65535 bytes");
    args[3].size = 65535;
    CHECK_TEXT(fake_call(fake, args, 4), "+OK");
    CHECK(fake_same(fake, fake->replica));
    free(name);
    scene_end(fake);
}

TEST(commands_sink_asks_whether_the_user_may_publish)
{
    struct fake *fake = scene_begin();

    fake->may_publish = false;
    REPLIES(
        fake, "LAWN.SINK k PUBLISH c",
        "!NOPERM this user has no permission to publish to the sink's channel");
    REPLIES(
        fake, "LAWN.SINK k SPUBLISH c",
        "!NOPERM this user has no permission to publish to the sink's channel");
    REPLIES(fake, "LAWN.SINK k STREAM s", "+OK");
    scene_end(fake);
}

TEST(commands_sink_without_memory_changes_nothing)
{
    struct fake *fake = scene_begin();

    CHECK(scene_starve(fake, "LAWN.SINK k STREAM s DEADLETTER d") > 1);
    CHECK_TEXT(fake->reply.at, "+OK");
    CHECK_EQ(scene_starve(fake, "LAWN.SINK k STREAM t DEADLETTER d"), 1);
    CHECK_TEXT(fake->reply.at, "+OK");
    scene_end(fake);
}

TEST(a_tick_delivers_due_events_in_order_and_removes_them)
{
    struct fake *fake = scene_begin();
    uint64_t handed = command_totals.handed;

    REPLIES(fake, "LAWN.SINK k STREAM s", "+OK");
    REPLIES(fake, "LAWN.PUSH k b y DELAY 20", "\"b\"");
    REPLIES(fake, "LAWN.PUSH k a '' DELAY 10", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k c z DELAY 30", "\"c\"");
    fake->now = 1009;
    CHECK_TEXT(fake_tick(fake), "");
    fake->now = 1025;
    CHECK_TEXT(fake_tick(fake),
               "XADD s * id a payload '' due 1010 n 1; "
               "XADD s * id b payload y due 1020 n 1; DEL a b");
    CHECK(fake_same(fake, fake->replica));
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1030);
    CHECK_TEXT(fake_tick(fake), "");
    CHECK_EQ(command_totals.handed, handed + 2);
    CHECK_TEXT(sink_info(fake, "handed"), "2");
    CHECK_TEXT(sink_info(fake, "fired"), "2");
    CHECK_TEXT(sink_info(fake, "late-max-ms"), "15");
    fake->now = 1030;
    CHECK_TEXT(fake_tick(fake), "XADD s * id c payload z due 1030 n 1; DEL c");
    /* The key stays, because it has a sink. */
    CHECK(fake_queue(fake, "k") != NULL);
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), LAWN_NEVER);
    scene_end(fake);
}

TEST(a_tick_knows_each_kind_of_sink)
{
    static const struct {
        const char *sink;
        const char *told;
    } all[] = {
        {"LAWN.SINK k STREAM s MAXLEN ~ 7",
         "XADD s MAXLEN ~ 7 * id a payload x due 1000 n 1; DEL a"},
        {"LAWN.SINK k LIST l", "RPUSH l x; DEL a"},
        {"LAWN.SINK k PUBLISH c", "probe k; PUBLISH c x; DEL a"},
        {"LAWN.SINK k SPUBLISH c", "probe k; SPUBLISH c x; DEL a"},
        {"LAWN.SINK k NONE", ""},
    };
    struct fake *fake = scene_begin();

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        REPLIES(fake, all[i].sink, "+OK");
        REPLIES(fake, "LAWN.PUSH k a x DELAY 0", "\"a\"");
        CHECK_TEXT(fake_tick(fake), all[i].told);
        CHECK(fake_same(fake, fake->replica));
    }
    scene_end(fake);
}

/* A module that is notified may delete the key, or the key expires. */
TEST(a_tick_leaves_a_key_alone_that_is_deleted_meanwhile)
{
    static const char *const sinks[] = {"LAWN.SINK k STREAM s DEADLETTER d",
                                        "LAWN.SINK k PUBLISH c DEADLETTER d"};

    for (unsigned turn = 2; turn < 2 * 9; turn++) {
        unsigned after = turn / 2;
        struct fake *fake = scene_begin();
        REPLIES(fake, "LAWN.MPUSH k DELAY 0 3 d1 x d2 x d3 x", "3");
        REPLIES(fake, "LAWN.CONFIG k SET tries 1", "+OK");
        (void)fake_run(fake, "LAWN.LEASE k me LEASE 1 COUNT 3");
        fake->now += 5;
        REPLIES(fake, "LAWN.MPUSH k DELAY 0 2 e1 x e2 x", "2");
        REPLIES(fake, "LAWN.PUSH k e3 x DELAY 0 EVERY 5", "\"e3\"");
        REPLIES(fake, sinks[turn % 2], "+OK");
        /* Six events are delivered, with a command each. For PUBLISH, a
         * command before them asks whether the server accepts writes. */
        fake->lose_after = after;
        (void)fake_tick(fake);
        CHECK_EQ(fake_queue(fake, "k") == NULL, after <= 6 + turn % 2);
        scene_end(fake);
    }
}

TEST(a_key_that_has_the_name_of_its_sink_is_not_touched)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0", "\"a\"");
    REPLIES(fake, "LAWN.APPLY k SINK stream k 0 d", "+OK");
    CHECK_TEXT(fake_tick(fake), "");
    CHECK_TEXT(sink_info(fake, "sink-error"),
               "\"ERR a key cannot be its own sink\"");
    CHECK_TEXT(sink_info(fake, "len"), "1");
    REPLIES(fake, "LAWN.SINK k LIST l", "+OK");
    CHECK_TEXT(fake_tick(fake), "RPUSH l x; DEL a");
    scene_end(fake);
}

TEST(a_sink_that_is_set_gets_the_events_due_before)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 10", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k b x DELAY " FAR, "\"b\"");
    fake->now = 1500;
    CHECK_TEXT(fake_tick(fake), "");
    REPLIES(fake, "LAWN.SINK k LIST l", "+OK");
    CHECK_EQ(fake->signals, 0);
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1500);
    CHECK_TEXT(fake_tick(fake), "RPUSH l x; DEL a");
    scene_end(fake);
}

TEST(a_tick_makes_repeating_events_due_again_and_reports_missed_periods)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.SINK k STREAM s", "+OK");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 10 EVERY 10 TIMES 2", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k b y DELAY 10", "\"b\"");
    fake->now = 1045;
    CHECK_TEXT(fake_tick(fake), "XADD s * id a payload x due 1010 n 4; "
                                "XADD s * id b payload y due 1010 n 1; "
                                "DEL b; AT a 1050 10 e10 t1 m3");
    CHECK(fake_same(fake, fake->replica));
    CHECK_TEXT(sink_info(fake, "missed"), "3");
    fake->now = 1061;
    CHECK_TEXT(fake_tick(fake), "XADD s * id a payload x due 1050 n 2; DEL a");
    CHECK(fake_same(fake, fake->replica));
    scene_end(fake);
}

TEST(refused_events_stay_and_are_retried_with_growing_delays)
{
    static const uint64_t delays[] = {10,  20,  40,   80,   160,
                                      320, 640, 1000, 1000, 1000};
    struct fake *fake = scene_begin();
    uint64_t errors = command_totals.sink_errors;

    REPLIES(fake, "LAWN.SINK k STREAM s", "+OK");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 10", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k b y DELAY 11", "\"b\"");
    fake->refusal = "WRONGTYPE not\r\na stream";
    fake->now = 1020;
    for (size_t i = 0; i < sizeof(delays) / sizeof(*delays); i++) {
        CHECK_TEXT(fake_tick(fake), "");
        CHECK_EQ(*queue_armed(fake_queue(fake, "k")), fake->now + delays[i]);
        CHECK_EQ(queue_trouble_of(fake_queue(fake, "k"))->again,
                 fake->now + delays[i]);
        fake->now += delays[i] - 1;
        CHECK_TEXT(fake_tick(fake), "");
        CHECK_EQ(command_totals.sink_errors, errors + i + 1);
        fake->now++;
    }
    CHECK_TEXT(sink_info(fake, "sink-errors"), "11");
    CHECK_TEXT(sink_info(fake, "sink-error"), "\"WRONGTYPE not??a stream\"");
    REPLIES(fake, "LAWN.LEN k DUE", "2");
    fake->refusal = NULL;
    fake->now += 1000;
    CHECK_TEXT(fake_tick(fake),
               "XADD s * id a payload x due 1010 n 1; "
               "XADD s * id b payload y due 1011 n 1; DEL a b");
    CHECK_TEXT(sink_info(fake, "sink-error"), "\"\"");
    CHECK_EQ(queue_trouble_of(fake_queue(fake, "k"))->delay, 0);
    scene_end(fake);
}

/* The key's time does not decrease; the server's clock may be set back. */
TEST(a_sink_continues_when_the_clock_was_set_back)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.SINK k LIST l DEADLETTER d", "+OK");
    REPLIES(fake, "LAWN.CONFIG k SET tries 1", "+OK");
    fake->now = 900000;
    REPLIES(fake, "LAWN.MPUSH k DELAY 0 2 a x b y", "2");
    fake->now = 1000;
    fake->budget = 1;
    REPLIES(fake, "LAWN.PUSH k c z DELAY 0", "\"c\"");
    CHECK(*queue_armed(fake_queue(fake, "k")) <= 1000);
    CHECK_TEXT(fake_tick(fake), "RPUSH l x; DEL a");
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1000);
    fake->refusal = "ERR no";
    CHECK_TEXT(fake_tick(fake), "");
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1010);
    /* Set back again, it does not wait for the old time. */
    fake->refusal = NULL;
    fake->now = 500;
    *queue_armed(fake_queue(fake, "k")) = 500;
    CHECK_TEXT(fake_tick(fake), "RPUSH l y; DEL b");
    fake->budget = UINT64_MAX;
    CHECK_TEXT(fake_tick(fake), "RPUSH l z; DEL c");
    scene_end(fake);
}

/* A client returns an event that has no tries left. */
TEST(dead_letters_continue_when_the_clock_was_set_back)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.SINK k NONE DEADLETTER d", "+OK");
    REPLIES(fake, "LAWN.CONFIG k SET tries 1", "+OK");
    fake->now = 900000;
    REPLIES(fake, "LAWN.MPUSH k DELAY 0 1 a x", "1");
    REPLIES(fake, "LAWN.LEASE k me", "[[\"a\", \"x\", 921600000, 1, 900000]]");
    fake->now = 1000;
    REPLIES(fake, "LAWN.NACK k a 921600000", "1");
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1000);
    CHECK_TEXT(fake_tick(fake),
               "XADD d * id a payload x due 900000 tries 1 owner me; DEL a");
    scene_end(fake);
}

TEST(events_delivered_before_a_refusal_are_removed)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.SINK k LIST l", "+OK");
    REPLIES(fake, "LAWN.MPUSH k DELAY 10 3 a x b y c z", "3");
    fake->refusal = "OOM";
    fake->refuse_after = 2;
    fake->now = 1010;
    CHECK_TEXT(fake_tick(fake), "RPUSH l x; RPUSH l y; DEL a b");
    CHECK(fake_same(fake, fake->replica));
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1020);
    REPLIES(fake, "LAWN.LEN k", "1");
    /* Setting the sink again retries at once. */
    fake->refusal = NULL;
    REPLIES(fake, "LAWN.SINK k LIST l", "+OK");
    REPLICATED(fake, "");
    CHECK_TEXT(fake_tick(fake), "RPUSH l z; DEL c");
    scene_end(fake);
}

TEST(a_message_is_not_published_where_nothing_may_be_written)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.SINK k PUBLISH c", "+OK");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 0", "\"a\"");
    fake->refusal = "NOREPLICAS";
    CHECK_TEXT(fake_tick(fake), "");
    REPLIES(fake, "LAWN.LEN k", "1");
    CHECK_TEXT(sink_info(fake, "sink-error"), "\"NOREPLICAS\"");
    scene_end(fake);
}

TEST(a_tick_does_no_more_than_it_may)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.SINK k LIST l", "+OK");
    REPLIES(fake, "LAWN.MPUSH k DELAY 10 5 a 1 b 2 c 3 d 4 e 5", "5");
    fake->now = 1010;
    fake->budget = 2;
    CHECK_TEXT(fake_tick(fake), "RPUSH l 1; RPUSH l 2; DEL a b");
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1010);
    fake->budget = UINT64_MAX;
    fake->over_after = 1;
    CHECK_TEXT(fake_tick(fake), "RPUSH l 3; DEL c");
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1010);
    /* At least one, however short the time is; otherwise none would ever be
     * delivered. */
    fake->over_after = 0;
    CHECK_TEXT(fake_tick(fake), "RPUSH l 4; DEL d");
    CHECK_TEXT(fake_tick(fake), "RPUSH l 5; DEL e");
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), LAWN_NEVER);
    CHECK(fake_same(fake, fake->replica));
    scene_end(fake);
}

TEST(a_tick_delivers_many_events)
{
    struct fake *fake = scene_begin();
    uint64_t calls = 0;

    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    REPLIES(fake, "LAWN.SINK k STREAM s", "+OK");
    char line[64];
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(line, sizeof(line), "LAWN.PUSH k %d x DELAY 1%s", i,
                       i % 3 == 0 ? " EVERY 100" : "");
        (void)fake_run(fake, line);
    }
    fake->now = 1001;
    CHECK_TEXT(fake_tick(fake), "");
    REPLIES(fake, "LAWN.RESUME k", "+OK");
    const char *told = fake_tick(fake);
    for (const char *at = told; (at = strstr(at, "XADD")) != NULL; at++) {
        calls++;
    }
    CHECK_EQ(calls, 1000);
    CHECK(fake_same(fake, fake->replica));
    REPLIES(fake, "LAWN.LEN k", "334");
    REPLIES(fake, "LAWN.LEN k DUE", "0");
    scene_end(fake);
}

TEST(a_tick_without_memory_loses_nothing)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.SINK k LIST l", "+OK");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 10", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k b y DELAY 10", "\"b\"");
    fake->now = 1010;
    fake->memory = 0;
    CHECK_TEXT(fake_tick(fake), "");
    fake->memory = UINT64_MAX;
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1020);
    CHECK_TEXT(sink_info(fake, "sink-error"), "\"ERR out of memory\"");
    fake->now = 1020;
    CHECK_TEXT(fake_tick(fake), "RPUSH l x; RPUSH l y; DEL a b");
    CHECK(fake_same(fake, fake->replica));
    scene_end(fake);
}

TEST(a_tick_leaves_a_paused_key_alone)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.SINK k LIST l", "+OK");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 10", "\"a\"");
    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    fake->now = 1020;
    CHECK_TEXT(fake_tick(fake), "");
    REPLIES(fake, "LAWN.RESUME k", "+OK");
    CHECK_TEXT(fake_tick(fake), "RPUSH l x; DEL a");
    scene_end(fake);
}

/* Leases and dead letters. */

TEST(a_tick_moves_dead_events_to_the_dead_letters)
{
    struct fake *fake = scene_begin();
    uint64_t dead = command_totals.dead;

    REPLIES(fake, "LAWN.SINK k NONE DEADLETTER d", "+OK");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 0 TRIES 2", "\"a\"");
    CHECK_TEXT(fake_tick(fake), "");
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 50");
    fake->now = 1050;
    CHECK_TEXT(fake_tick(fake), "");
    REPLIES(fake, "LAWN.LEN k DUE", "1");
    (void)fake_run(fake, "LAWN.LEASE k you LEASE 50");
    fake->now = 1099;
    CHECK_TEXT(fake_tick(fake), "");
    fake->now = 1100;
    CHECK_TEXT(fake_tick(fake),
               "XADD d * id a payload x due 1000 tries 2 owner you; DEL a");
    CHECK(fake_same(fake, fake->replica));
    CHECK_EQ(command_totals.dead, dead + 1);
    CHECK_TEXT(sink_info(fake, "dead-total"), "1");
    CHECK_TEXT(sink_info(fake, "handed"), "0");
    REPLIES(fake, "LAWN.LEN k", "0");
    scene_end(fake);
}

/* The token of the first row of a reply of LEASE: [["a", "x", TOKEN, ... */
static void
sink_nack(struct fake *fake, const char *id)
{
    const char *reply = fake_run(fake, "LAWN.LEASE k me LEASE 50");
    const char *at = strchr(reply, ',');

    at = strchr(at + 1, ',') + 2;
    char line[96];
    (void)snprintf(line, sizeof(line), "LAWN.NACK k %s %.*s", id,
                   (int)strcspn(at, ","), at);
    CHECK_TEXT(fake_run(fake, line), "1");
}

TEST(an_event_given_back_for_the_last_time_is_a_dead_letter_at_once)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.SINK k NONE DEADLETTER d", "+OK");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 0 TRIES 1", "\"a\"");
    sink_nack(fake, "a");
    CHECK_TEXT(fake_tick(fake),
               "XADD d * id a payload x due 1000 tries 1 owner me; DEL a");
    CHECK(fake_same(fake, fake->replica));
    scene_end(fake);
}

TEST(dead_events_wait_until_dead_letters_are_set)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0 TRIES 1", "\"a\"");
    sink_nack(fake, "a");
    CHECK_TEXT(fake_tick(fake), "");
    REPLIES(fake, "LAWN.LEN k DEAD", "1");
    REPLIES(fake, "LAWN.SINK k STREAM s DEADLETTER d", "+OK");
    CHECK_TEXT(fake_tick(fake),
               "XADD d * id a payload x due 1000 tries 1 owner me; DEL a");
    scene_end(fake);
}

TEST(a_dead_event_that_repeats_is_due_again)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.SINK k NONE DEADLETTER d", "+OK");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 0 EVERY 100 TRIES 1", "\"a\"");
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 50");
    fake->now = 1050;
    CHECK_TEXT(fake_tick(fake),
               "XADD d * id a payload x due 1000 tries 1 owner "
               "me; AT a 1100 100 e100 k1");
    CHECK(fake_same(fake, fake->replica));
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1100);
    REPLIES(fake, "LAWN.LEN k WAITING", "1");
    fake->now = 1100;
    CHECK(strstr(fake_run(fake, "LAWN.LEASE k me"), "\"a\"") != NULL);
    scene_end(fake);
}

TEST(the_sink_gets_leased_events_when_their_lease_has_ended)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0", "\"a\"");
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 50");
    REPLIES(fake, "LAWN.SINK k STREAM s", "+OK");
    CHECK_TEXT(fake_tick(fake), "");
    fake->now = 1050;
    CHECK_TEXT(fake_tick(fake), "XADD s * id a payload x due 1000 n 1; DEL a");
    CHECK(fake_same(fake, fake->replica));
    scene_end(fake);
}

TEST(the_sink_and_the_dead_letters_do_not_wait_for_each_other)
{
    struct fake *fake = scene_begin();
    struct queue *queue = NULL;

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0 TRIES 1", "\"a\"");
    sink_nack(fake, "a");
    REPLIES(fake, "LAWN.SINK k LIST l DEADLETTER d", "+OK");
    queue = fake_queue(fake, "k");
    fake->refusal = "ERR no";
    CHECK_TEXT(fake_tick(fake), "");
    CHECK_EQ(queue_dead_trouble_of(queue)->again, 1010);
    CHECK_EQ(queue_trouble_of(queue)->again, 0);
    CHECK_TEXT(sink_info(fake, "sink-error"), "\"dead letters: ERR no\"");
    fake->refusal = NULL;
    fake->now = 1005;
    REPLIES(fake, "LAWN.PUSH k b y DELAY 0", "\"b\"");
    CHECK_TEXT(fake_tick(fake), "RPUSH l y; DEL b");
    CHECK_EQ(*queue_armed(queue), 1010);
    fake->now = 1010;
    CHECK_TEXT(fake_tick(fake),
               "XADD d * id a payload x due 1000 tries 1 owner me; DEL a");
    CHECK_TEXT(sink_info(fake, "sink-error"), "\"\"");
    scene_end(fake);
}
