/* commands_update.c - tests of LAWN.UPDATE and LAWN.TOUCH. */
#include "scene.h"

#include <stdio.h>

TEST(commands_update_returns_the_payload_before)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.UPDATE k a y", "nil");
    REPLICATED(fake, "");
    CHECK(fake_queue(fake, "k") == NULL);
    REPLIES(fake, "LAWN.PUSH k a x DELAY 10 EVERY 5", "\"a\"");
    REPLIES(fake, "LAWN.UPDATE k b y", "nil");
    REPLIES(fake, "LAWN.UPDATE k a longer", "\"x\"");
    REPLICATED(fake, "SET a longer");
    NOTED(fake, "lawn.update");
    REPLIES(fake, "LAWN.UPDATE k a ''", "\"longer\"");
    REPLIES(fake, "LAWN.UPDATE k a z", "\"\"");
    REPLIES(fake, "LAWN.GET k a META",
            "{\"payload\": \"z\", \"due\": 1010, \"state\": \"waiting\", "
            "\"period\": 5, \"times\": 0, \"missed\": 0" PLAIN);
    command_limits.max_payload = 3;
    REPLIES(fake, "LAWN.UPDATE k a four",
            "!ERR payload of 4 bytes exceeds lawn.max-payload of 3 bytes");
    command_limits.max_payload = 1048576;
    scene_end(fake);
}

TEST(commands_update_without_memory_changes_nothing)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 10", "\"a\"");
    char line[512];
    (void)snprintf(line, sizeof(line), "LAWN.UPDATE k a %0300d", 7);
    CHECK_EQ(scene_starve(fake, line), 1);
    CHECK_TEXT(fake->reply.at, "\"x\"");
    CHECK_EQ(scene_starve(fake, "LAWN.UPDATE k a y"), 2);
    CHECK_EQ(strlen(fake->reply.at), 302);
    scene_end(fake);
}

TEST(commands_update_may_not_outgrow_a_limit)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CONFIG k SET maxbytes 10 overflow drop-oldest", "+OK");
    REPLIES(fake, "LAWN.MPUSH k DELAY 10 2 a xx b xx", "2");
    REPLIES(fake, "LAWN.UPDATE k a 1234567",
            "!FULL the key's ids and payloads would take 11 bytes; its "
            "maxbytes is 10");
    REPLIES(fake, "LAWN.UPDATE k a 123456", "\"xx\"");
    REPLIES(fake, "LAWN.CONFIG k SET maxbytes 2", "+OK");
    REPLIES(fake, "LAWN.UPDATE k a 12345", "\"123456\"");
    scene_end(fake);
}

TEST(commands_touch_moves_an_event_and_reports_when_it_is_due)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.TOUCH k a DELAY 10", "nil");
    CHECK(fake_queue(fake, "k") == NULL);
    REPLIES(fake, "LAWN.PUSH k a x DELAY 10 EVERY 7 TIMES 3", "\"a\"");
    REPLIES(fake, "LAWN.TOUCH k b DELAY 10", "nil");
    REPLICATED(fake, "");
    REPLIES(fake, "LAWN.TOUCH k a DELAY 50", "1050");
    REPLICATED(fake, "AT a 1050 50 e7 t3");
    NOTED(fake, "lawn.touch");
    REPLIES(fake, "LAWN.TOUCH k a AT 1020", "1020");
    REPLICATED(fake, "AT a 1020 20 a e7 t3");
    CHECK_EQ(fake->arms, 0);
    REPLIES(fake, "LAWN.TOUCH k a BY 15", "1035");
    REPLICATED(fake, "AT a 1035 35 a e7 t3");
    REPLIES(fake, "LAWN.TOUCH k a BY -5", "1030");
    REPLIES(fake, "LAWN.TOUCH k a DELAY 2", "1002");
    CHECK_EQ(fake->arms, 1);
    CHECK_EQ(fake->signals, 0);
    REPLIES(fake, "LAWN.TOUCH k a BY -100", "1000");
    CHECK_EQ(fake->signals, 1);
    REPLIES(fake, "LAWN.TOUCH k a BY -9007199254740992", "1000");
    REPLIES(fake, "LAWN.TOUCH k a AT 3", "1000");
    REPLIES(fake, "LAWN.POLL k", "[[\"a\", \"x\"]]");
    scene_end(fake);
}

TEST(commands_touch_brings_back_a_due_event)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 10", "\"a\"");
    fake->now = 1010;
    REPLIES(fake, "LAWN.LEN k DUE", "1");
    REPLIES(fake, "LAWN.TOUCH k a DELAY 10", "1020");
    REPLIES(fake, "LAWN.LEN k DUE", "0");
    REPLIES(fake, "LAWN.POLL k", "[]");
    scene_end(fake);
}

TEST(commands_touch_gt_and_lt_ask_for_the_time)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 100", "\"a\"");
    REPLIES(fake, "LAWN.TOUCH k a GT DELAY 100", "nil");
    REPLICATED(fake, "");
    NOTED(fake, "");
    REPLIES(fake, "LAWN.TOUCH k a DELAY 100 LT", "nil");
    REPLIES(fake, "LAWN.TOUCH k a DELAY 99 GT", "nil");
    REPLIES(fake, "LAWN.TOUCH k a DELAY 101 lt", "nil");
    REPLIES(fake, "LAWN.TOUCH k a DELAY 101 gt", "1101");
    REPLIES(fake, "LAWN.TOUCH k a DELAY 100 LT", "1100");
    REPLIES(fake, "LAWN.TOUCH k a BY 1 GT", "1101");
    scene_end(fake);
}

TEST(commands_touch_rounds_and_cuts_as_push_does)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CONFIG k SET resolution-ms 100", "+OK");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 100", "\"a\"");
    REPLIES(fake, "LAWN.TOUCH k a BY 1", "1200");
    REPLIES(fake, "LAWN.TOUCH k a DELAY 201", "1300");
    REPLIES(fake, "LAWN.TOUCH k a DELAY 9007199254740992", "9007199254742000");
    REPLIES(fake, "LAWN.TOUCH k a BY 9007199254740992", "18014398509481984");
    REPLIES(fake, "LAWN.TOUCH k a BY 9007199254740992", "18014398509481984");
    scene_end(fake);
}

TEST(commands_touch_rejects_invalid_arguments)
{
    static const struct {
        const char *words;
        const char *error;
    } cases[] = {
        {"GT LT", "!ERR syntax error: missing DELAY, AT or BY"},
        {"DELAY 1 GT LT", "!ERR syntax error: GT and LT exclude each other"},
        {"DELAY 1 BY 1", "!ERR syntax error near 'BY'"},
        {"DELAY 1 NX", "!ERR syntax error near 'NX'"},
        {"GT GT", "!ERR syntax error near 'GT'"},
        {"DELAY x", "!" NOT_MS("DELAY", "0", "x")},
        {"AT -1", "!" NOT_AT("-1")},
        {"BY 9007199254740993", "!" NOT_MS("BY", "-2^53", "9007199254740993")},
        {"BY x", "!" NOT_MS("BY", "-2^53", "x")},
    };
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 100", "\"a\"");
    char line[256];
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        (void)snprintf(line, sizeof(line), "LAWN.TOUCH k a %s", cases[i].words);
        REPLIES(fake, line, cases[i].error);
        REPLICATED(fake, "");
    }
    scene_end(fake);
}
