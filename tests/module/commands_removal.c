/* commands_removal.c - tests of LAWN.CANCEL, LAWN.PULL and LAWN.POLL. */
#include "scene.h"

#include <stdio.h>

TEST(commands_cancel_counts_the_removed_events)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CANCEL k a", "0");
    REPLIES(fake, "LAWN.MPUSH k DELAY 10 3 a x b y c z", "3");
    REPLIES(fake, "LAWN.CANCEL k d", "0");
    REPLICATED(fake, "");
    NOTED(fake, "");
    REPLIES(fake, "LAWN.CANCEL k b d a b", "2");
    REPLICATED(fake, "DEL b a");
    NOTED(fake, "lawn.cancel");
    fake->now = 1010;
    REPLIES(fake, "LAWN.CANCEL k c", "1");
    NOTED(fake, "lawn.cancel del");
    CHECK(fake_queue(fake, "k") == NULL);
    CHECK(fake_queue(fake->replica, "k") == NULL);
    scene_end(fake);
}

TEST(commands_cancel_of_many_needs_memory_first)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k i x DELAY 10", "\"i\"");
    CHECK_EQ(scene_starve(fake, "LAWN.CANCEL k a b c d e f g h i j k l m n o p "
                                "q r s t u v w x y z 1 2 3 4 5 6"),
             0);
    CHECK_TEXT(fake->reply.at, "1");
    REPLIES(fake, "LAWN.PUSH k i x DELAY 10", "\"i\"");
    CHECK_EQ(scene_starve(fake, "LAWN.CANCEL k a b c d e f g h i j k l m n o p "
                                "q r s t u v w x y z 1 2 3 4 5 6 7"),
             1);
    CHECK_TEXT(fake->reply.at, "1");
    scene_end(fake);
}

TEST(commands_pull_takes_an_event_due_or_not)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PULL k a", "nil");
    REPLIES(fake, "LAWN.MPUSH k DELAY 10 2 a x b y", "2");
    REPLIES(fake, "LAWN.PULL k c", "nil");
    REPLICATED(fake, "");
    REPLIES(fake, "LAWN.PULL k a", "\"x\"");
    REPLICATED(fake, "DEL a");
    NOTED(fake, "lawn.cancel");
    fake->now = 1010;
    REPLIES(fake, "LAWN.PULL k b", "\"y\"");
    REPLIES(fake, "LAWN.PULL k b", "nil");
    CHECK(fake_queue(fake, "k") == NULL);
    scene_end(fake);
}

TEST(commands_poll_takes_the_earliest_first_up_to_a_count)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k c z DELAY 30", "\"c\"");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 10", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k d v AT 1040", "\"d\"");
    REPLIES(fake, "LAWN.PUSH k b y DELAY 20", "\"b\"");
    fake->now = 1039;
    REPLIES(fake, "LAWN.POLL k COUNT 2", "[[\"a\", \"x\"], [\"b\", \"y\"]]");
    REPLICATED(fake, "DEL a b");
    NOTED(fake, "lawn.poll");
    REPLIES(fake, "LAWN.POLL k", "[[\"c\", \"z\"]]");
    CHECK_EQ(fake->arms, 0);
    REPLIES(fake, "LAWN.POLL k", "[]");
    REPLICATED(fake, "");
    NOTED(fake, "");
    fake->now = 1040;
    REPLIES(fake, "LAWN.POLL k", "[[\"d\", \"v\"]]");
    NOTED(fake, "lawn.poll del");
    scene_end(fake);
}

TEST(commands_poll_sets_the_wake_up_for_the_remaining_events)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 10", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k b x DELAY 20", "\"b\"");
    fake->now = 1010;
    *queue_armed(fake_queue(fake, "k")) = LAWN_NEVER; /* as a tick does */
    REPLIES(fake, "LAWN.POLL k", "[[\"a\", \"x\"]]");
    CHECK_EQ(fake->arms, 1);
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1020);
    scene_end(fake);
}

TEST(commands_poll_sets_the_wake_up_for_repeating_events)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k b x DELAY 500", "\"b\"");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 0 EVERY 10", "\"a\"");
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1500);
    REPLIES(fake, "LAWN.POLL k", "[[\"a\", \"x\"]]");
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1010);
    scene_end(fake);
}

TEST(commands_poll_takes_a_hundred_by_default_and_no_more_than_the_limit)
{
    struct fake *fake = scene_begin();
    char line[64];

    for (int i = 0; i < 300; i++) {
        (void)snprintf(line, sizeof(line), "LAWN.PUSH k %d x DELAY 1", i);
        (void)fake_run(fake, line);
    }
    fake->now = 2000;
    (void)fake_run(fake, "LAWN.POLL k");
    REPLIES(fake, "LAWN.LEN k", "200");
    command_limits.max_batch = 150;
    (void)fake_run(fake, "LAWN.POLL k COUNT 9223372036854775807");
    command_limits.max_batch = 10000;
    REPLIES(fake, "LAWN.LEN k", "50");
    (void)fake_run(fake, "LAWN.POLL k COUNT 51");
    CHECK(fake_queue(fake, "k") == NULL);
    CHECK(fake_queue(fake->replica, "k") == NULL);
    scene_end(fake);
}

TEST(commands_poll_meta_reports_how_late_it_is)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 10 EVERY 100 TIMES 3", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k b y DELAY 20", "\"b\"");
    fake->now = 1250;
    REPLIES(
        fake, "LAWN.POLL k META COUNT 9",
        "[{\"id\": \"a\", \"payload\": \"x\", \"due\": 1010, \"late\": 240, "
        "\"period\": 100, \"times\": 3, \"missed\": 2}, "
        "{\"id\": \"b\", \"payload\": \"y\", \"due\": 1020, \"late\": 230, "
        "\"period\": 0, \"times\": 0, \"missed\": 0}]");
    REPLICATED(fake, "DEL b; AT a 1310 100 e100 t2 m2");
    scene_end(fake);
}

TEST(commands_poll_rejects_invalid_arguments)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.POLL k COUNT 0",
            "!" NOT_IN("COUNT", "1 to 2^63 - 1", "0"));
    REPLIES(fake, "LAWN.POLL k COUNT x",
            "!" NOT_IN("COUNT", "1 to 2^63 - 1", "x"));
    REPLIES(fake, "LAWN.POLL k BLOCK -1", "!" NOT_MS("BLOCK", "0", "-1"));
    REPLIES(fake, "LAWN.POLL k COUNT",
            "!ERR syntax error: missing argument of 'COUNT'");
    REPLIES(fake, "LAWN.POLL k META META", "!ERR syntax error near 'META'");
    REPLIES(fake, "LAWN.POLL k x", "!ERR syntax error near 'x'");
    REPLIES(fake, "LAWN.POLL", "!ERR wrong number of arguments");
    scene_end(fake);
}

TEST(commands_poll_waits_only_if_it_may_and_nothing_is_due)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.POLL k BLOCK 250", "waits");
    CHECK_EQ(fake->block_ms, 250);
    REPLIES(fake, "LAWN.PUSH k a x DELAY 10", "\"a\"");
    REPLIES(fake, "LAWN.POLL k BLOCK 0", "waits");
    CHECK_EQ(fake->block_ms, 0);
    fake->may_block = false;
    REPLIES(fake, "LAWN.POLL k BLOCK 250", "[]");
    fake->may_block = true;
    fake->now = 1010;
    REPLIES(fake, "LAWN.POLL k block 250", "[[\"a\", \"x\"]]");
    scene_end(fake);
}

TEST(commands_poll_takes_nothing_while_the_server_wants_no_writes)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0", "\"a\"");
    fake->frozen = true;
    REPLIES(fake, "LAWN.POLL k BLOCK 250", "waits");
    REPLICATED(fake, "");
    fake->frozen = false;
    REPLIES(fake, "LAWN.POLL k BLOCK 250", "[[\"a\", \"x\"]]");
    scene_end(fake);
}

TEST(commands_poll_of_a_paused_key_takes_nothing)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0", "\"a\"");
    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    REPLIES(fake, "LAWN.POLL k", "[]");
    REPLIES(fake, "LAWN.POLL k BLOCK 5", "waits");
    REPLIES(fake, "LAWN.RESUME k", "+OK");
    CHECK_EQ(fake->signals, 1);
    REPLIES(fake, "LAWN.POLL k", "[[\"a\", \"x\"]]");
    scene_end(fake);
}

TEST(commands_poll_lets_an_event_repeat_without_a_burst)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 5 EVERY 10", "\"a\"");
    fake->now = 1005;
    REPLIES(fake, "LAWN.POLL k", "[[\"a\", \"x\"]]");
    REPLICATED(fake, "AT a 1015 10 e10");
    NOTED(fake, "lawn.poll");
    REPLIES(fake, "LAWN.POLL k", "[]");
    fake->now = 1014;
    REPLIES(fake, "LAWN.POLL k", "[]");
    /* Exactly at a due time, the next one is a whole period later. */
    fake->now = 1045;
    REPLIES(fake, "LAWN.POLL k", "[[\"a\", \"x\"]]");
    REPLICATED(fake, "AT a 1055 10 e10 m3");
    REPLIES(fake, "LAWN.POLL k", "[]");
    REPLIES(fake, "LAWN.GET k a META",
            "{\"payload\": \"x\", \"due\": 1055, \"state\": \"waiting\", "
            "\"period\": 10, \"times\": 0, \"missed\": 3" PLAIN);
    fake->now = 1064;
    REPLIES(fake, "LAWN.POLL k", "[[\"a\", \"x\"]]");
    REPLICATED(fake, "AT a 1065 10 e10 m3");
    scene_end(fake);
}

TEST(commands_poll_delivers_as_often_as_it_was_asked)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 10 EVERY 10 TIMES 2", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k b y DELAY 10 EVERY 10 TIMES 1", "\"b\"");
    fake->now = 1010;
    REPLIES(fake, "LAWN.POLL k", "[[\"a\", \"x\"], [\"b\", \"y\"]]");
    REPLICATED(fake, "DEL b; AT a 1020 10 e10 t1");
    fake->now = 1020;
    REPLIES(fake, "LAWN.POLL k", "[[\"a\", \"x\"]]");
    REPLICATED(fake, "DEL a");
    NOTED(fake, "lawn.poll del");
    scene_end(fake);
}

TEST(commands_poll_counts_missed_periods_within_bounds)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.APPLY k ADD a x 1000 0 'e1 m9223372036854775807'",
            "+OK");
    fake->now = 1010;
    REPLIES(fake, "LAWN.POLL k", "[[\"a\", \"x\"]]");
    REPLICATED(fake, "AT a 1011 1 e1 m9223372036854775807");
    /* At the maximum time an event no longer recurs. */
    fake->now = UINT64_C(18014398509481984);
    REPLIES(fake, "LAWN.APPLY z ADD a x 18014398509481984 9007199254740992 e1",
            "+OK");
    REPLIES(fake, "LAWN.POLL z", "[[\"a\", \"x\"]]");
    REPLICATED(fake, "DEL a");
    scene_end(fake);
}

TEST(commands_poll_without_memory_loses_nothing)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k r x DELAY 1 EVERY 5", "\"r\"");
    char line[64];
    for (int i = 0; i < 40; i++) {
        (void)snprintf(line, sizeof(line), "LAWN.PUSH k %d x DELAY 1", i);
        (void)fake_run(fake, line);
    }
    fake->now = 1001;
    CHECK_EQ(scene_starve(fake, "LAWN.POLL k COUNT 1"), 0);
    CHECK_TEXT(fake->reply.at, "[[\"r\", \"x\"]]");
    CHECK_EQ(scene_starve(fake, "LAWN.POLL k COUNT 3"), 0);
    CHECK_EQ(scene_starve(fake, "LAWN.POLL k COUNT 33"), 1);
    REPLIES(fake, "LAWN.LEN k", "5");
    scene_end(fake);
}

TEST(commands_poll_counts_the_taken_events)
{
    struct fake *fake = scene_begin();
    uint64_t fired = command_totals.fired;
    uint64_t pushed = command_totals.pushed;
    uint64_t missed = command_totals.missed;

    REPLIES(fake, "LAWN.PUSH k a x DELAY 10 EVERY 10", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k b x DELAY 900", "\"b\"");
    fake->now = 1035;
    REPLIES(fake, "LAWN.POLL k", "[[\"a\", \"x\"]]");
    CHECK_EQ(command_totals.fired, fired + 1);
    CHECK_EQ(command_totals.pushed, pushed + 2);
    CHECK_EQ(command_totals.missed, missed + 2);
    CHECK(command_totals.late.max >= 25);
    const char *info = fake_run(fake, "LAWN.INFO k");
    CHECK(strstr(info, "\"pushed\": 2, \"fired\": 1, \"missed\": 2, "
                       "\"dropped\": 0") != NULL);
    CHECK(strstr(info, "\"late-max-ms\": 25") != NULL);
    scene_end(fake);
}
