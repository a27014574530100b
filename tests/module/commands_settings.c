/* commands_settings.c - tests of LAWN.CONFIG, LAWN.PAUSE and LAWN.RESUME, and
 * of the limits that they set.
 */
#include "scene.h"

#include <stdio.h>

#define DEFAULTS                                                               \
    "{\"maxlen\": 0, \"maxbytes\": 0, \"overflow\": \"reject\", "              \
    "\"resolution-ms\": 1, \"tries\": 0, \"lease\": 0}"

TEST(commands_config_sets_and_gets)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CONFIG k GET", "nil");
    REPLIES(fake, "LAWN.CONFIG k SET maxlen 5 OVERFLOW Drop-Oldest", "+OK");
    REPLICATED(fake, "CFG maxlen 5 overflow drop-oldest");
    REPLIES(fake, "LAWN.CONFIG k get",
            "{\"maxlen\": 5, \"maxbytes\": 0, \"overflow\": \"drop-oldest\", "
            "\"resolution-ms\": 1, \"tries\": 0, \"lease\": 0}");
    REPLIES(fake, "LAWN.CONFIG k SET maxbytes 100 resolution-ms 20 maxlen 6",
            "+OK");
    REPLICATED(fake, "CFG maxlen 6 maxbytes 100 resolution-ms 20");
    REPLIES(fake, "LAWN.CONFIG k GET MaxBytes resolution-ms maxbytes",
            "{\"maxbytes\": 100, \"resolution-ms\": 20}");
    REPLIES(fake, "LAWN.CONFIG k SET tries 4294967295 LEASE 9007199254740992",
            "+OK");
    REPLICATED(fake, "CFG tries 4294967295 lease 9007199254740992");
    REPLIES(fake, "LAWN.CONFIG k GET lease TRIES",
            "{\"tries\": 4294967295, \"lease\": 9007199254740992}");
    REPLIES(fake, "LAWN.CONFIG k SET maxlen 6", "+OK");
    REPLICATED(fake, "");
    scene_end(fake);
}

TEST(commands_config_of_defaults_leaves_no_key)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CONFIG k SET maxlen 0 resolution-ms 1 overflow reject",
            "+OK");
    REPLICATED(fake, "");
    CHECK(fake_queue(fake, "k") == NULL);
    REPLIES(fake, "LAWN.CONFIG k SET maxlen 1", "+OK");
    CHECK(fake_queue(fake, "k") != NULL);
    REPLIES(fake, "LAWN.CONFIG k SET maxlen 0", "+OK");
    REPLICATED(fake, "CFG maxlen 0");
    NOTED(fake, "del");
    CHECK(fake_queue(fake, "k") == NULL);
    CHECK(fake_queue(fake->replica, "k") == NULL);
    REPLIES(fake, "LAWN.PUSH k a x DELAY 1", "\"a\"");
    REPLIES(fake, "LAWN.CONFIG k GET", DEFAULTS);
    REPLIES(fake, "LAWN.CONFIG k SET resolution-ms 0", "+OK");
    REPLICATED(fake, "");
    scene_end(fake);
}

TEST(commands_config_is_all_or_nothing)
{
    static const struct {
        const char *words;
        const char *error;
    } cases[] = {
        {"SET maxlen 5 depth 7",
         "!ERR unknown setting 'depth'; known are maxlen, maxbytes, overflow, "
         "resolution-ms, tries and lease"},
        {"SET paused 1", "!ERR unknown setting 'paused'; known are maxlen, "
                         "maxbytes, overflow, resolution-ms, tries and lease"},
        {"GET maxlen depth",
         "!ERR unknown setting 'depth'; known are maxlen, maxbytes, overflow, "
         "resolution-ms, tries and lease"},
        {"SET maxlen 5 MAXBYTES x", "!ERR invalid value for maxbytes: 'x'"},
        {"SET maxlen -1", "!ERR invalid value for maxlen: '-1'"},
        {"SET maxlen 9223372036854775808",
         "!ERR invalid value for maxlen: '9223372036854775808'"},
        {"SET overflow ''",
         "!ERR invalid value for overflow: ''; use reject or drop-oldest"},
        {"SET resolution-ms 86400001",
         "!ERR invalid value for resolution-ms: '86400001'"},
        {"SET tries 4294967296", "!ERR invalid value for tries: '4294967296'"},
        {"SET tries -1", "!ERR invalid value for tries: '-1'"},
        {"SET lease 9007199254740993",
         "!ERR invalid value for lease: '9007199254740993'"},
        {"SET lease 30s", "!ERR invalid value for lease: '30s'"},
        {"SET maxlen", "!ERR syntax error: missing argument of 'maxlen'"},
        {"SET maxlen 5 maxbytes",
         "!ERR syntax error: missing argument of 'maxbytes'"},
        {"SET", "!ERR syntax error: missing argument of 'SET'"},
        {"PUT maxlen 5", "!ERR syntax error near 'PUT'"},
    };
    struct fake *fake = scene_begin();
    char line[256];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        (void)snprintf(line, sizeof(line), "LAWN.CONFIG k %s", cases[i].words);
        REPLIES(fake, line, cases[i].error);
        REPLICATED(fake, "");
        CHECK(fake_queue(fake, "k") == NULL);
    }
    scene_end(fake);
}

TEST(commands_config_shows_no_bytes_that_break_a_line)
{
    struct fake *fake = scene_begin();
    struct bytes args[] = {bytes_of("LAWN.CONFIG"),
                           bytes_of("k"),
                           bytes_of("SET"),
                           {"a\r\n\xff", 4},
                           bytes_of("1")};

    CHECK_TEXT(fake_call(fake, args, 5),
               "!ERR unknown setting 'a???"
               "'; known are maxlen, maxbytes, overflow, resolution-ms, tries "
               "and lease");
    scene_end(fake);
}

TEST(commands_config_without_memory_makes_no_key)
{
    struct fake *fake = scene_begin();

    CHECK(scene_starve(fake, "LAWN.CONFIG k SET maxlen 3") >= 2);
    CHECK_TEXT(fake->reply.at, "+OK");
    CHECK(scene_starve(fake, "LAWN.PAUSE z") >= 2);
    scene_end(fake);
}

TEST(commands_pause_is_a_setting)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.RESUME k", "+OK");
    REPLICATED(fake, "");
    CHECK(fake_queue(fake, "k") == NULL);
    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    REPLICATED(fake, "CFG paused 1");
    CHECK(fake_queue(fake, "k") != NULL);
    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    REPLICATED(fake, "");
    REPLIES(fake, "LAWN.RESUME k", "+OK");
    REPLICATED(fake, "CFG paused 0");
    NOTED(fake, "del");
    CHECK(fake_queue(fake, "k") == NULL);
    scene_end(fake);
}

TEST(commands_that_would_exceed_maxlen_are_refused)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CONFIG k SET maxlen 2", "+OK");
    REPLIES(fake, "LAWN.MPUSH k DELAY 10 3 a x b x c x",
            "!FULL 3 events in one command exceed the key's maxlen of 2");
    REPLIES(fake, "LAWN.MPUSH k DELAY 10 3 a x b x a y", "2");
    REPLIES(fake, "LAWN.PUSH k c x DELAY 1",
            "!FULL the key holds 2 events; its maxlen is 2");
    REPLICATED(fake, "");
    REPLIES(fake, "LAWN.PUSH k a z DELAY 1", "\"a\"");
    REPLIES(fake, "LAWN.MPUSH k DELAY 10 2 a x c x",
            "!FULL the key holds 2 events; its maxlen is 2");
    REPLIES(fake, "LAWN.GET k a", "\"z\"");
    REPLIES(fake, "LAWN.CANCEL k a b", "2");
    REPLIES(fake, "LAWN.MPUSH k DELAY 10 5 ab x a x '' x a x ab x",
            "!FULL 3 events in one command exceed the key's maxlen of 2");
    REPLIES(fake, "LAWN.MPUSH k DELAY 10 4 ab x a x ab x a x", "2");
    REPLIES(fake, "LAWN.CANCEL k ab", "1");
    REPLIES(fake, "LAWN.PUSH k b x DELAY 1", "\"b\"");
    /* An existing event can be replaced in a key that exceeds its limit. */
    REPLIES(fake, "LAWN.CONFIG k SET maxlen 1", "+OK");
    REPLIES(fake, "LAWN.PUSH k a y DELAY 1", "\"a\"");
    REPLIES(fake, "LAWN.MPUSH k DELAY 1 2 a y b y", "0");
    scene_end(fake);
}

TEST(commands_that_would_exceed_maxbytes_are_refused)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CONFIG k SET maxbytes 10", "+OK");
    REPLIES(fake, "LAWN.PUSH k a 12345 DELAY 10", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k b 1234 DELAY 10",
            "!FULL the key's ids and payloads would take 11 bytes; its "
            "maxbytes is 10");
    REPLIES(fake, "LAWN.PUSH k b 123 DELAY 10", "\"b\"");
    /* The replaced event counts as free room. */
    REPLIES(fake, "LAWN.PUSH k a 54321 DELAY 10", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k a 123456 DELAY 10",
            "!FULL the key's ids and payloads would take 11 bytes; its "
            "maxbytes is 10");
    REPLIES(fake, "LAWN.MPUSH k DELAY 1 3 a 12 b 1234567 b 12345", "0");
    REPLIES(fake, "LAWN.MPUSH k DELAY 1 2 a 12 b 1234567",
            "!FULL the key's ids and payloads would take 11 bytes; its "
            "maxbytes is 10");
    REPLIES(fake, "LAWN.CONFIG k SET maxbytes 1", "+OK");
    REPLIES(fake, "LAWN.PUSH k b 1234 DELAY 10", "\"b\"");
    scene_end(fake);
}

TEST(commands_drop_the_event_due_first_if_asked_to)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CONFIG k SET maxlen 2 overflow drop-oldest", "+OK");
    REPLIES(fake, "LAWN.PUSH k b x DELAY 20", "\"b\"");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 10", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k c x DELAY 30", "\"c\"");
    REPLICATED(fake, "DEL a; ADD c x 1030 30 ''");
    /* Not the new one, even if it is due before all others. */
    REPLIES(fake, "LAWN.PUSH k d x DELAY 0", "\"d\"");
    REPLICATED(fake, "DEL b; ADD d x 1000 0 ''");
    CHECK_EQ(fake->signals, 1);
    REPLIES(fake, "LAWN.PUSH k d y DELAY 5", "\"d\"");
    REPLICATED(fake, "ADD d y 1005 5 ''");
    REPLIES(fake, "LAWN.PUSH k e x DELAY 3 EVERY 9", "\"e\"");
    REPLICATED(fake, "DEL d; ADD e x 1003 3 e9");
    REPLIES(fake, "LAWN.SCAN k 0 MATCH e", "[\"0\", [\"e\"]]");
    (void)fake_run(fake, "LAWN.INFO k");
    CHECK(strstr(fake->reply.at, "\"dropped\": 3") != NULL);
    fake->now = 1100;
    REPLIES(fake, "LAWN.POLL k", "[[\"e\", \"x\"], [\"c\", \"x\"]]");
    scene_end(fake);
}

TEST(commands_drop_many_to_make_room_for_many)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CONFIG k SET maxlen 3 maxbytes 12 overflow drop-oldest",
            "+OK");
    REPLIES(fake, "LAWN.MPUSH k DELAY 10 4 a x b x c x d x",
            "!FULL 4 events in one command exceed the key's maxlen of 3");
    REPLIES(fake, "LAWN.MPUSH k DELAY 10 3 a xxx b xxx c xxx", "3");
    REPLIES(fake, "LAWN.MPUSH k DELAY 5 2 d yyy e yyy", "2");
    REPLICATED(fake, "DEL a b; ADD d yyy 1005 5 '' e yyy 1005 5 ''");
    NOTED(fake, "lawn.drop lawn.push");
    REPLIES(fake, "LAWN.PUSH k f 1234567890123 DELAY 5",
            "!FULL the key's ids and payloads would take 26 bytes; its "
            "maxbytes is 12");
    REPLIES(fake, "LAWN.PUSH k d 12345678901 DELAY 9", "\"d\"");
    REPLICATED(fake, "DEL e c; ADD d 12345678901 1009 9 ''");
    REPLIES(fake, "LAWN.LEN k", "1");
    scene_end(fake);
}

static void
commands_push_forty(struct fake *fake)
{
    char line[64];

    for (int i = 0; i < 40; i++) {
        (void)snprintf(line, sizeof(line), "LAWN.PUSH k %d x DELAY %d", i,
                       100 + i);
        (void)fake_run(fake, line);
    }
}

TEST(commands_that_drop_very_many_report_them_at_once)
{
    struct fake *fake = scene_begin();
    uint64_t before = command_totals.dropped;

    commands_push_forty(fake);
    REPLIES(fake, "LAWN.PUSH k e x DELAY 1 EVERY 3", "\"e\"");
    REPLIES(fake, "LAWN.CONFIG k SET maxlen 2 overflow drop-oldest", "+OK");
    REPLIES(fake, "LAWN.PUSH k z x DELAY 1", "\"z\"");
    CHECK(strncmp(fake->replicated.at, "DEL e 0 1 2 3 ", 14) == 0);
    CHECK(strstr(fake->replicated.at, " 37 38; ADD z x 1001 1 ''") != NULL);
    CHECK(strstr(fake->replicated.at + 1, "DEL") == NULL);
    NOTED(fake, "lawn.drop lawn.push");
    CHECK_EQ(command_totals.dropped - before, 40);
    REPLIES(fake, "LAWN.POLL k", "[]");
    fake->now = 1200;
    REPLIES(fake, "LAWN.POLL k", "[[\"z\", \"x\"], [\"39\", \"x\"]]");
    scene_end(fake);
}

/* Their removal is then replicated in parts. */
TEST(commands_that_drop_very_many_need_no_memory_for_it)
{
    struct fake *fake = scene_begin();

    commands_push_forty(fake);
    REPLIES(fake, "LAWN.CONFIG k SET maxlen 2 overflow drop-oldest", "+OK");
    fake->memory = 1;
    REPLIES(fake, "LAWN.PUSH k z x DELAY 1", "\"z\"");
    fake->memory = UINT64_MAX;
    CHECK(strstr(fake->replicated.at, "DEL 0 1 2 3 4 5 6 7; DEL 8 ") != NULL);
    NOTED(fake, "lawn.drop lawn.push");
    REPLIES(fake, "LAWN.LEN k", "2");
    scene_end(fake);
}

/* The server then refuses them; commands that free or read memory still
 * work. */
TEST(commands_that_bring_bytes_are_refused_if_memory_is_short)
{
    static const char *const names[] = {"LAWN.PUSH",    "LAWN.MPUSH",
                                        "LAWN.UPDATE",  "REDE.PUSH",
                                        "REDE.GIDPUSH", "REDE.UPDATE"};
    const struct command *lists[] = {command_lawn, command_rede};

    for (size_t i = 0; i < 2; i++) {
        for (const struct command *c = lists[i]; c->name != NULL; c++) {
            bool listed = false;
            for (size_t j = 0; j < sizeof(names) / sizeof(*names); j++) {
                listed = listed || strcmp(c->name, names[j]) == 0;
            }
            CHECK_EQ(strstr(c->flags, "deny-oom") != NULL, listed);
            /* With a limit, any push may delete events, so it is not a mere
             * insertion. */
            CHECK(c->key_flags == NULL ||
                  strstr(c->key_flags, "INSERT") == NULL);
        }
    }
}

TEST(commands_that_set_make_no_key_and_no_larger_one_if_memory_is_short)
{
    static const char full[] = "!" HOST_FULL;
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.SINK k STREAM events", "+OK");
    fake->full = true;
    REPLIES(fake, "LAWN.CONFIG new SET maxlen 2", full);
    REPLIES(fake, "LAWN.PAUSE new", full);
    REPLIES(fake, "LAWN.SINK new LIST l", full);
    REPLIES(fake, "LAWN.SINK k STREAM events2", full);
    REPLIES(fake, "LAWN.SINK k STREAM s DEADLETTER deadly", full);
    CHECK(fake_queue(fake, "new") == NULL);
    REPLIES(fake, "LAWN.CONFIG k SET maxlen 2 overflow drop-oldest", "+OK");
    REPLIES(fake, "LAWN.CONFIG k GET maxlen", "{\"maxlen\": 2}");
    REPLIES(fake, "LAWN.CONFIG new GET", "nil");
    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    REPLIES(fake, "LAWN.RESUME k", "+OK");
    REPLIES(fake, "LAWN.SINK k STREAM other MAXLEN 5", "+OK");
    REPLIES(fake, "LAWN.SINK k NONE", "+OK");
    REPLIES(fake, "LAWN.SINK new NONE", "+OK");
    scene_end(fake);
}

TEST(commands_that_drop_without_memory_drop_nothing)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CONFIG k SET maxlen 2 overflow drop-oldest", "+OK");
    REPLIES(fake, "LAWN.MPUSH k DELAY 10 2 a x b x", "2");
    CHECK_EQ(scene_starve(fake, "LAWN.PUSH k c x DELAY 1"), 1);
    REPLIES(fake, "LAWN.LEN k", "2");
    scene_end(fake);
}
