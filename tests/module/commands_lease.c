/* commands_lease.c - tests of LAWN.LEASE, LAWN.ACK, LAWN.NACK and LAWN.EXTEND.
 * The first token at 1000 ms is 1000 * 1024, and the next is 16 more.
 */
#include "scene.h"

#include <stdio.h>

/* Returns an event with its current lease. */
static struct queue_event
lease_of(struct fake *fake, const char *id)
{
    struct queue_event event = {0};

    CHECK(queue_get(fake_queue(fake, "k"), bytes_of(id), &event));
    return event;
}

TEST(commands_lease_leases_due_events_and_keeps_them)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.LEASE k me", "[]");
    CHECK(fake_queue(fake, "k") == NULL);
    REPLIES(fake, "LAWN.PUSH k a x DELAY 10", "\"a\"");
    REPLIES(fake, "LAWN.LEASE k me", "[]");
    REPLICATED(fake, "");
    fake->now = 1013;
    REPLIES(fake, "LAWN.LEASE k me LEASE 500",
            "[[\"a\", \"x\", 1037312, 1, 1010]]");
    REPLICATED(fake, "LEASE a 1037312 1 0 1513 500 me");
    NOTED(fake, "lawn.lease");
    REPLIES(fake, "LAWN.GET k a META",
            "{\"payload\": \"x\", \"due\": 1010, \"state\": \"leased\", "
            "\"period\": 0, \"times\": 0, \"missed\": 0, \"tries\": 1, "
            "\"max-tries\": 0, \"lease-end\": 1513, \"owner\": \"me\"}");
    /* No other client gets it. */
    REPLIES(fake, "LAWN.LEASE k you", "[]");
    REPLIES(fake, "LAWN.POLL k", "[]");
    REPLIES(fake, "REDE.XACK k a", "[nil]");
    REPLIES(fake, "LAWN.LEN k", "1");
    REPLIES(fake, "LAWN.LEN k DUE", "0");
    REPLIES(fake, "LAWN.LEN k WAITING", "0");
    REPLIES(fake, "LAWN.LEN k LEASED", "1");
    REPLIES(fake, "LAWN.SCAN k 0 STATE leased", "[\"0\", [\"a\"]]");
    REPLIES(fake, "LAWN.SCAN k 0 STATE due", "[\"0\", []]");
    REPLIES(fake, "LAWN.NEXT k", "500");
    scene_end(fake);
}

TEST(commands_ack_removes_leased_events)
{
    struct fake *fake = scene_begin();
    uint64_t acked = command_totals.acked;

    REPLIES(fake, "LAWN.MPUSH k DELAY 0 3 a x b y c z", "3");
    REPLIES(
        fake, "LAWN.LEASE k me COUNT 2",
        "[[\"a\", \"x\", 1024000, 1, 1000], [\"b\", \"y\", 1024016, 1, 1000]]");
    REPLIES(fake, "LAWN.ACK k a 1024000", "[1]");
    REPLICATED(fake, "DEL a");
    NOTED(fake, "lawn.ack");
    /* Removed, another token, unknown id, token 0, and twice the same. */
    REPLIES(fake, "LAWN.ACK k a 1024000 b 1024000 zz 1 c 0 b 1024016 b 1024016",
            "[0, 0, 0, 0, 1, 0]");
    REPLICATED(fake, "DEL b");
    REPLIES(fake, "LAWN.ACK k b 1024016", "[0]");
    REPLICATED(fake, "");
    NOTED(fake, "");
    REPLIES(fake, "LAWN.LEASE k me", "[[\"c\", \"z\", 1024032, 1, 1000]]");
    REPLIES(fake, "LAWN.ACK k c 1024032", "[1]");
    NOTED(fake, "lawn.ack del");
    CHECK(fake_queue(fake->replica, "k") == NULL);
    REPLIES(fake, "LAWN.ACK k c 1024032", "[0]");
    CHECK_EQ(command_totals.acked, acked + 3);
    scene_end(fake);
}

TEST(commands_lease_that_has_ended_is_due_once_more)
{
    struct fake *fake = scene_begin();
    uint64_t redelivered = command_totals.redelivered;

    REPLIES(fake, "LAWN.PUSH k a x DELAY 10", "\"a\"");
    fake->now = 1010;
    REPLIES(fake, "LAWN.LEASE k me LEASE 100",
            "[[\"a\", \"x\", 1034240, 1, 1010]]");
    fake->now = 1109;
    REPLIES(fake, "LAWN.LEASE k you", "[]");
    REPLIES(fake, "LAWN.LEN k LEASED", "1");
    fake->now = 1110;
    REPLIES(fake, "LAWN.LEN k LEASED", "0");
    REPLIES(fake, "LAWN.LEN k DUE", "1");
    REPLIES(fake, "LAWN.NEXT k", "0");
    REPLIES(fake, "LAWN.SCAN k 0 STATE due", "[\"0\", [\"a\"]]");
    REPLIES(fake, "LAWN.LEASE k you LEASE 100",
            "[[\"a\", \"x\", 1136640, 2, 1010]]");
    REPLICATED(fake, "LEASE a 1136640 2 0 1210 100 you");
    REPLIES(fake, "LAWN.ACK k a 1034240", "[0]");
    REPLIES(fake, "LAWN.NACK k a 1034240", "0");
    REPLIES(fake, "LAWN.EXTEND k a 1034240 LEASE 5", "0");
    REPLICATED(fake, "");
    REPLIES(fake, "LAWN.ACK k a 1136640", "[1]");
    CHECK_EQ(command_totals.redelivered, redelivered + 1);
    scene_end(fake);
}

TEST(commands_ack_after_the_end_counts_if_no_other_owner_has_it)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.MPUSH k DELAY 0 2 a x b y", "2");
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 100 COUNT 2");
    fake->now = 5000;
    REPLIES(fake, "LAWN.LEN k DUE", "2");
    REPLIES(fake, "LAWN.ACK k a 1024000", "[1]");
    REPLICATED(fake, "DEL a");
    REPLIES(fake, "LAWN.EXTEND k b 1024016 LEASE 10", "5010");
    REPLICATED(fake, "LEASE b 1024016 1 0 5010 10 me");
    REPLIES(fake, "LAWN.LEN k DUE", "0");
    REPLIES(fake, "LAWN.ACK k b 1024016", "[1]");
    scene_end(fake);
}

TEST(commands_poll_takes_events_whose_lease_has_ended)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0", "\"a\"");
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 100");
    fake->now = 1100;
    REPLIES(fake, "LAWN.POLL k", "[[\"a\", \"x\"]]");
    REPLICATED(fake, "DEL a");
    scene_end(fake);
}

TEST(commands_nack_returns_an_event_for_later)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 10", "\"a\"");
    fake->now = 1020;
    REPLIES(fake, "LAWN.LEASE k me", "[[\"a\", \"x\", 1044480, 1, 1010]]");
    REPLIES(fake, "LAWN.NACK k a 1044480 DELAY 30", "1");
    REPLICATED(fake, "AT a 1050 30 n1");
    NOTED(fake, "lawn.nack");
    CHECK_EQ(fake->signals, 0);
    REPLIES(fake, "LAWN.NACK k a 1044480", "0");
    REPLIES(fake, "LAWN.ACK k a 1044480", "[0]");
    REPLIES(fake, "LAWN.LEN k WAITING", "1");
    REPLIES(fake, "LAWN.GET k a META",
            "{\"payload\": \"x\", \"due\": 1050, \"state\": \"waiting\", "
            "\"period\": 0, \"times\": 0, \"missed\": 0, \"tries\": 1, "
            "\"max-tries\": 0, \"lease-end\": 0, \"owner\": \"\"}");
    fake->now = 1050;
    REPLIES(fake, "LAWN.LEASE k me", "[[\"a\", \"x\", 1075200, 2, 1050]]");
    /* At once, and waiting clients are woken. */
    REPLIES(fake, "LAWN.NACK k a 1075200", "1");
    REPLICATED(fake, "AT a 1050 0 n2");
    NOTED(fake, "lawn.nack lawn.fire");
    CHECK_EQ(fake->signals, 1);
    REPLIES(fake, "LAWN.LEASE k me", "[[\"a\", \"x\", 1075216, 3, 1050]]");
    scene_end(fake);
}

/* A period of 10 from 1005 on, whenever NACK is sent. */
TEST(commands_nack_keeps_the_times_of_repeating_events)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 5 EVERY 10", "\"a\"");
    fake->now = 1006;
    REPLIES(fake, "LAWN.LEASE k me LEASE 500",
            "[[\"a\", \"x\", 1030144, 1, 1005]]");
    REPLIES(fake, "LAWN.NACK k a 1030144 DELAY 3", "1");
    REPLICATED(fake, "LEASE a 1030160 1 0 1009 3 me");
    NOTED(fake, "lawn.nack");
    REPLIES(fake, "LAWN.ACK k a 1030144", "[0]");
    REPLIES(fake, "LAWN.LEASE k me", "[]");
    fake->now = 1009;
    REPLIES(fake, "LAWN.LEASE k me LEASE 500",
            "[[\"a\", \"x\", 1033216, 2, 1005]]");
    REPLIES(fake, "LAWN.ACK k a 1033216", "[1]");
    REPLICATED(fake, "AT a 1015 10 e10");
    scene_end(fake);
}

TEST(commands_nack_keeps_to_the_resolution)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CONFIG k SET resolution-ms 100", "+OK");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 0", "\"a\"");
    REPLIES(fake, "LAWN.LEASE k me", "[[\"a\", \"x\", 1024000, 1, 1000]]");
    REPLIES(fake, "LAWN.NACK k a 1024000 DELAY 30", "1");
    REPLICATED(fake, "AT a 1100 100 a n1");
    scene_end(fake);
}

TEST(commands_extend_counts_from_now)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0 TRIES 7", "\"a\"");
    REPLIES(fake, "LAWN.LEASE k me LEASE 100",
            "[[\"a\", \"x\", 1024000, 1, 1000]]");
    fake->now = 1050;
    REPLIES(fake, "LAWN.EXTEND k a 1024000 LEASE 200", "1250");
    REPLICATED(fake, "LEASE a 1024000 1 7 1250 200 me");
    NOTED(fake, "");
    fake->now = 1249;
    REPLIES(fake, "LAWN.LEASE k you", "[]");
    /* A lease can also be shortened. */
    REPLIES(fake, "LAWN.EXTEND k a 1024000 LEASE 1", "1250");
    fake->now = 1250;
    REPLIES(fake, "LAWN.LEN k DUE", "1");
    REPLIES(fake, "LAWN.EXTEND k zz 1024000 LEASE 1", "0");
    REPLIES(fake, "LAWN.EXTEND zz a 1024000 LEASE 1", "0");
    REPLIES(fake, "LAWN.EXTEND k a 0 LEASE 1", "0");
    scene_end(fake);
}

TEST(commands_lease_waits_only_if_it_may_and_nothing_is_due)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.LEASE k me BLOCK 250", "waits");
    CHECK_EQ(fake->block_ms, 250);
    REPLIES(fake, "LAWN.PUSH k a x DELAY 10", "\"a\"");
    REPLIES(fake, "LAWN.LEASE k me BLOCK 0", "waits");
    fake->may_block = false;
    REPLIES(fake, "LAWN.LEASE k me BLOCK 250", "[]");
    fake->may_block = true;
    fake->now = 1010;
    fake->frozen = true;
    REPLIES(fake, "LAWN.LEASE k me BLOCK 250", "waits");
    REPLICATED(fake, "");
    fake->frozen = false;
    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    REPLIES(fake, "LAWN.LEASE k me BLOCK 250", "waits");
    REPLIES(fake, "LAWN.LEASE k me", "[]");
    REPLIES(fake, "LAWN.RESUME k", "+OK");
    REPLIES(fake, "LAWN.LEASE k me BLOCK 250",
            "[[\"a\", \"x\", 1034240, 1, 1010]]");
    scene_end(fake);
}

TEST(commands_lease_sets_the_wake_up_for_its_end)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k b x DELAY 5000", "\"b\"");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 0", "\"a\"");
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 6000);
    REPLIES(fake, "LAWN.LEASE k me LEASE 100",
            "[[\"a\", \"x\", 1024000, 1, 1000]]");
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1100);
    CHECK_EQ(*queue_armed(fake_queue(fake->replica, "k")), 1000);
    REPLIES(fake, "LAWN.EXTEND k a 1024000 LEASE 50", "1050");
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1050);
    scene_end(fake);
}

TEST(commands_lease_lasts_as_is_set)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.MPUSH k DELAY 0 4 a x b x c x d x", "4");
    (void)fake_run(fake, "LAWN.LEASE k me");
    CHECK_EQ(lease_of(fake, "a").lease.end, 31000);
    command_limits.lease = 7;
    (void)fake_run(fake, "LAWN.LEASE k me");
    CHECK_EQ(lease_of(fake, "b").lease.end, 1007);
    REPLIES(fake, "LAWN.CONFIG k SET lease 9", "+OK");
    (void)fake_run(fake, "LAWN.LEASE k me");
    CHECK_EQ(lease_of(fake, "c").lease.end, 1009);
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 11");
    CHECK_EQ(lease_of(fake, "d").lease.end, 1011);
    scene_end(fake);
}

TEST(commands_lease_counts_tries_until_an_event_is_dead)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0 TRIES 2", "\"a\"");
    REPLICATED(fake, "ADD a x 1000 0 k2");
    REPLIES(fake, "LAWN.LEASE k me LEASE 10",
            "[[\"a\", \"x\", 1024000, 1, 1000]]");
    REPLICATED(fake, "LEASE a 1024000 1 2 1010 10 me");
    fake->now = 1010;
    REPLIES(fake, "LAWN.LEASE k me LEASE 10",
            "[[\"a\", \"x\", 1034240, 2, 1000]]");
    fake->now = 1019;
    REPLIES(fake, "LAWN.LEN k DEAD", "0");
    REPLIES(fake, "LAWN.LEN k LEASED", "1");
    fake->now = 1020;
    REPLIES(fake, "LAWN.LEASE k me", "[]");
    REPLIES(fake, "LAWN.POLL k", "[]");
    REPLIES(fake, "REDE.POLL k", "[]");
    REPLIES(fake, "REDE.XACK k a", "[nil]");
    REPLIES(fake, "LAWN.LEN k", "1");
    REPLIES(fake, "LAWN.LEN k DEAD", "1");
    REPLIES(fake, "LAWN.LEN k LEASED", "0");
    REPLIES(fake, "LAWN.LEN k DUE", "0");
    REPLIES(fake, "LAWN.LEN k WAITING", "0");
    REPLIES(fake, "LAWN.NEXT k", "-1");
    REPLIES(fake, "LAWN.SCAN k 0 STATE dead", "[\"0\", [\"a\"]]");
    REPLIES(fake, "LAWN.GET k a META",
            "{\"payload\": \"x\", \"due\": 1000, \"state\": \"dead\", "
            "\"period\": 0, \"times\": 0, \"missed\": 0, \"tries\": 2, "
            "\"max-tries\": 2, \"lease-end\": 1020, \"owner\": \"me\"}");
    const char *info = fake_run(fake, "LAWN.INFO k");
    CHECK(strstr(info, "\"len\": 1, \"leased\": 0, \"dead\": 1, ") != NULL);
    CHECK(strstr(info, "\"leased-total\": 2, \"redelivered\": 1, "
                       "\"acked\": 0, ") != NULL);
    /* The last owner's token is still valid. */
    REPLIES(fake, "LAWN.ACK k a 1034240", "[1]");
    scene_end(fake);
}

TEST(commands_nack_of_the_last_try_makes_the_event_dead)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0 TRIES 1", "\"a\"");
    fake->now = 1010;
    REPLIES(fake, "LAWN.LEASE k me", "[[\"a\", \"x\", 1034240, 1, 1000]]");
    (void)fake_run(fake, "LAWN.LEN k DEAD");
    CHECK_EQ(scene_starve(fake, "LAWN.NACK k a 1034240 DELAY 500"), 0);
    CHECK_TEXT(fake->reply.at, "1");
    REPLICATED(fake, "LEASE a 1034256 1 1 1010 0 me");
    NOTED(fake, "lawn.nack lawn.dead");
    CHECK_EQ(fake->signals, 0);
    REPLIES(fake, "LAWN.NEXT k", "-1");
    REPLIES(fake, "LAWN.LEN k DEAD", "1");
    /* The last owner and the due time are kept. */
    REPLIES(fake, "LAWN.GET k a META",
            "{\"payload\": \"x\", \"due\": 1000, \"state\": \"dead\", "
            "\"period\": 0, \"times\": 0, \"missed\": 0, \"tries\": 1, "
            "\"max-tries\": 1, \"lease-end\": 1010, \"owner\": \"me\"}");
    REPLIES(fake, "LAWN.LEASE k me", "[]");
    fake->now = 9000;
    REPLIES(fake, "LAWN.LEASE k me", "[]");
    REPLIES(fake, "LAWN.ACK k a 1034240", "[0]");
    scene_end(fake);
}

TEST(commands_that_change_a_dead_event_bring_it_back)
{
    struct fake *fake = scene_begin();
    char line[64];

    for (int i = 0; i < 4; i++) {
        (void)snprintf(line, sizeof(line), "LAWN.PUSH k %d x DELAY 0 TRIES 1",
                       i);
        (void)fake_run(fake, line);
    }
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 10 COUNT 4");
    fake->now = 1010;
    REPLIES(fake, "LAWN.LEN k DEAD", "4");
    REPLIES(fake, "LAWN.TOUCH k 0 DELAY 5", "1015");
    REPLICATED(fake, "AT 0 1015 5 k1");
    REPLIES(fake, "LAWN.PUSH k 1 new DELAY 5", "\"1\"");
    REPLIES(fake, "LAWN.UPDATE k 2 y", "\"x\"");
    REPLIES(fake, "LAWN.PULL k 3", "\"x\"");
    REPLIES(fake, "LAWN.LEN k DEAD", "1");
    REPLIES(fake, "LAWN.SCAN k 0 STATE dead", "[\"0\", [\"2\"]]");
    REPLIES(fake, "LAWN.LEN k WAITING", "2");
    fake->now = 1015;
    REPLIES(fake, "LAWN.LEASE k me COUNT 9 LEASE 10",
            "[[\"0\", \"x\", 1039360, 1, 1015], "
            "[\"1\", \"new\", 1039376, 1, 1015]]");
    /* The first has one try, the other is unlimited. */
    fake->now = 1025;
    REPLIES(fake, "LAWN.LEN k DEAD", "2");
    REPLIES(fake, "LAWN.LEN k DUE", "1");
    REPLIES(fake, "LAWN.CANCEL k 0 1 2", "3");
    CHECK(fake_queue(fake, "k") == NULL);
    scene_end(fake);
}

TEST(commands_touch_takes_an_event_from_its_owner)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.MPUSH k DELAY 0 3 a x b x c x", "3");
    (void)fake_run(fake, "LAWN.LEASE k me COUNT 3");
    REPLIES(fake, "LAWN.TOUCH k a BY 10 GT", "1010");
    REPLICATED(fake, "AT a 1010 10 a");
    REPLIES(fake, "LAWN.ACK k a 1024000", "[0]");
    REPLIES(fake, "LAWN.PUSH k b new DELAY 0 XX", "\"b\"");
    REPLIES(fake, "LAWN.ACK k b 1024016", "[0]");
    REPLIES(fake, "LAWN.UPDATE k c longer", "\"x\"");
    REPLIES(fake, "LAWN.LEN k LEASED", "1");
    REPLIES(fake, "LAWN.ACK k c 1024032", "[1]");
    REPLIES(fake, "LAWN.LEASE k me", "[[\"b\", \"new\", 1024048, 1, 1000]]");
    scene_end(fake);
}

TEST(commands_lease_sets_the_number_of_tries_of_an_event)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CONFIG k SET tries 3", "+OK");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 0", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k b x DELAY 0 TRIES 9", "\"b\"");
    CHECK_EQ(lease_of(fake, "a").tries.most, 0);
    (void)fake_run(fake, "LAWN.LEASE k me COUNT 2");
    CHECK_EQ(lease_of(fake, "a").tries.most, 3);
    CHECK_EQ(lease_of(fake, "b").tries.most, 9);
    REPLIES(fake, "LAWN.CONFIG k SET tries 0", "+OK");
    command_limits.tries = 5;
    REPLIES(fake, "LAWN.MPUSH k DELAY 0 1 c x", "1");
    (void)fake_run(fake, "LAWN.LEASE k me");
    CHECK_EQ(lease_of(fake, "c").tries.most, 5);
    command_limits.tries = 0;
    REPLIES(fake, "LAWN.MPUSH k DELAY 0 1 d x", "1");
    (void)fake_run(fake, "LAWN.LEASE k me");
    CHECK_EQ(lease_of(fake, "d").tries.most, 0);
    CHECK_EQ(lease_of(fake, "a").tries.most, 3);
    scene_end(fake);
}

TEST(commands_ack_lets_an_event_repeat)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 5 EVERY 10 TIMES 2 TRIES 4", "\"a\"");
    fake->now = 1005;
    REPLIES(fake, "LAWN.LEASE k me LEASE 10",
            "[[\"a\", \"x\", 1029120, 1, 1005]]");
    fake->now = 1016;
    REPLIES(fake, "LAWN.LEASE k me LEASE 10",
            "[[\"a\", \"x\", 1040384, 2, 1005]]");
    fake->now = 1020;
    REPLIES(fake, "LAWN.ACK k a 1040384", "[1]");
    REPLICATED(fake, "AT a 1025 10 e10 t1 m1 k4");
    NOTED(fake, "lawn.ack");
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1025);
    REPLIES(fake, "LAWN.ACK k a 1040384", "[0]");
    fake->now = 1025;
    REPLIES(fake, "LAWN.LEASE k me", "[[\"a\", \"x\", 1049600, 1, 1025]]");
    REPLIES(fake, "LAWN.ACK k a 1049600", "[1]");
    REPLICATED(fake, "DEL a");
    scene_end(fake);
}

TEST(commands_ack_needs_no_memory_for_a_few)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0 EVERY 10", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k b x DELAY 0 EVERY 10", "\"b\"");
    (void)fake_run(fake, "LAWN.LEASE k me COUNT 2");
    CHECK_EQ(scene_starve(fake, "LAWN.ACK k a 1024000"), 0);
    CHECK_TEXT(fake->reply.at, "[1]");
    CHECK_EQ(scene_starve(fake, "LAWN.NACK k b 1024016"), 0);
    CHECK_TEXT(fake->reply.at, "1");
    fake->now = 1010;
    (void)fake_run(fake, "LAWN.LEASE k me COUNT 2");
    char line[128];
    (void)snprintf(line, sizeof(line), "LAWN.ACK k a %llu b %llu",
                   (unsigned long long)lease_of(fake, "a").lease.token,
                   (unsigned long long)lease_of(fake, "b").lease.token);
    CHECK_EQ(scene_starve(fake, line), 1);
    CHECK_TEXT(fake->reply.at, "[1, 1]");
    scene_end(fake);
}

TEST(commands_lease_without_memory_leases_as_many_as_possible)
{
    struct fake *fake = scene_begin();
    char line[64];
    uint64_t leased = 0;

    for (int i = 0; i < 20; i++) {
        (void)snprintf(line, sizeof(line), "LAWN.PUSH k %d x DELAY 0", i);
        (void)fake_run(fake, line);
    }
    for (fake->memory = 0; leased < 20; fake->memory++) {
        const char *reply = fake_run(
            fake, "LAWN.LEASE k a-very-long-name-of-an-owner COUNT 20");
        CHECK(fake_same(fake, fake->replica));
        uint64_t now = queue_leased_count(fake_queue(fake, "k"));
        /* Some are leased, or there is an error. */
        CHECK_EQ(now == leased, strcmp(reply, "!ERR out of memory") == 0);
        CHECK_EQ(now == leased, fake->replicated.size == 0);
        leased = now;
        CHECK(fake->memory < 1000);
    }
    fake->memory = UINT64_MAX;
    REPLIES(fake, "LAWN.LEN k LEASED", "20");
    scene_end(fake);
}

TEST(commands_lease_without_memory_for_many_leases_a_few)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.MPUSH k DELAY 0 6 a x b x c x d x e x f x", "6");
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 10 COUNT 6");
    fake->now = 1010;
    /* Their blocks have room for the previous owners. */
    fake->memory = 0;
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 10 COUNT 6");
    fake->memory = UINT64_MAX;
    CHECK(fake_same(fake, fake->replica));
    REPLIES(fake, "LAWN.LEN k LEASED", "4");
    REPLIES(fake, "LAWN.LEN k DUE", "2");
    scene_end(fake);
}

TEST(commands_extend_of_a_dead_event_leases_it_again)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0 TRIES 1", "\"a\"");
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 10");
    fake->now = 1010;
    REPLIES(fake, "LAWN.LEN k DEAD", "1");
    CHECK_EQ(scene_starve(fake, "LAWN.EXTEND k a 1024000 LEASE 10"), 0);
    REPLIES(fake, "LAWN.LEN k DEAD", "0");
    REPLIES(fake, "LAWN.LEN k LEASED", "1");
    fake->now = 1020;
    REPLIES(fake, "LAWN.LEN k DEAD", "1");
    scene_end(fake);
}

TEST(commands_lease_looks_beyond_the_dead)
{
    struct fake *fake = scene_begin();
    char line[64];

    for (int i = 0; i < 300; i++) {
        (void)snprintf(line, sizeof(line), "LAWN.PUSH k %d x DELAY 0 TRIES 1",
                       i);
        (void)fake_run(fake, line);
    }
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 10 COUNT 300");
    REPLIES(fake, "LAWN.PUSH k b x AT 1500", "\"b\"");
    /* No tick, which would find them all. */
    *queue_armed(fake_queue(fake, "k")) = LAWN_NEVER - 1;
    fake->now = 1500;
    (void)fake_run(fake, "LAWN.LEASE k me");
    CHECK_TEXT(fake->reply.at, "[[\"b\", \"x\", 1536000, 1, 1500]]");
    REPLIES(fake, "LAWN.LEN k DEAD", "300");
    scene_end(fake);
}

TEST(commands_lease_gives_no_token_twice)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0", "\"a\"");
    REPLIES(fake, "LAWN.LEASE k me", "[[\"a\", \"x\", 1024000, 1, 1000]]");
    REPLIES(fake, "LAWN.CANCEL k a", "1");
    CHECK(fake_queue(fake, "k") == NULL);
    REPLIES(fake, "LAWN.PUSH k a x DELAY 0", "\"a\"");
    REPLIES(fake, "LAWN.LEASE k me", "[[\"a\", \"x\", 1024016, 1, 1000]]");
    REPLIES(fake, "LAWN.ACK k a 1024000", "[0]");
    /* Setting the clock back has no effect. */
    fake->now = 500;
    REPLIES(fake, "LAWN.PUSH k b x DELAY 0", "\"b\"");
    REPLIES(fake, "LAWN.LEASE k me", "[[\"b\", \"x\", 1024032, 1, 1000]]");
    scene_end(fake);
}

TEST(commands_lease_gives_no_token_that_another_master_gives)
{
    struct fake *fake = scene_begin();
    uint64_t before = 0;

    /* No replica, because this server would learn its tokens. */
    fake_free(fake->replica);
    fake->replica = NULL;
    commands_tokens = (struct commands_tokens){.step = 3, .start = 5};
    (void)fake_run(fake, "LAWN.MPUSH k DELAY 0 4 a x b x c x d x");
    CHECK_TEXT(fake_run(fake, "LAWN.LEASE k me"),
               "[[\"a\", \"x\", 1024005, 1, 1000]]");
    /* The received token is 14 modulo 16, so ours are 14 + 3, that is 1 modulo
     * 16. Another token of that server does not change this. */
    (void)fake_run(fake, "LAWN.APPLY k LEASE b 1024030 1 0 1001 1 you");
    (void)fake_run(fake, "LAWN.APPLY k TOKEN 1024046");
    CHECK_TEXT(fake_run(fake, "LAWN.LEASE k me"),
               "[[\"c\", \"x\", 1024049, 1, 1000]]");
    CHECK_TEXT(fake_run(fake, "LAWN.LEASE k me"),
               "[[\"d\", \"x\", 1024065, 1, 1000]]");
    char line[64];
    /* Random, and never equal to those of the other server. */
    for (int i = 0; i < 50; i++) {
        commands_tokens.step = 0;
        (void)fake_run(fake, "LAWN.MPUSH k DELAY 0 1 e x");
        (void)fake_run(fake, "LAWN.LEASE k me");
        CHECK(commands_tokens.step > 0 && commands_tokens.step < 16);
        uint64_t token = lease_of(fake, "e").lease.token;
        CHECK(token > before && token % 16 != 14);
        before = token;
        (void)snprintf(line, sizeof(line), "LAWN.ACK k e %llu",
                       (unsigned long long)token);
        CHECK_TEXT(fake_run(fake, line), "[1]");
    }
    fake->replica = fake_new();
    scene_end(fake);
}

/* Up to the last number that doubles represent exactly, and none twice. */
TEST(commands_lease_gives_no_token_twice_at_the_largest_time)
{
    struct fake *fake = scene_begin();

    fake->now = fake->replica->now = QUEUE_TIME_MAX;
    REPLIES(fake, "LAWN.PUSH k a x DELAY 0 TRIES 1", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k p x DELAY 0 EVERY 5", "\"p\"");
    REPLIES(fake, "LAWN.PUSH k b x DELAY 0", "\"b\"");
    REPLIES(fake, "LAWN.LEASE k me LEASE 9007199254740992",
            "[[\"a\", \"x\", 9007199254739968, 1, 9007199254740992]]");
    CHECK_EQ(lease_of(fake, "a").lease.end, ARGS_DUE_MAX);
    REPLIES(fake, "LAWN.APPLY k TOKEN 9007199254740992",
            "!ERR syntax error near '9007199254740992'");
    REPLIES(fake, "LAWN.APPLY k LEASE a 9007199254740992 1 1 5 5 me",
            "!ERR syntax error near 'a'");
    REPLIES(fake, "LAWN.APPLY k TOKEN 9007199254740960", "+OK");
    REPLIES(fake, "LAWN.LEASE k me",
            "[[\"p\", \"x\", 9007199254740976, 1, 9007199254740992]]");
    REPLIES(fake, "LAWN.LEASE k me",
            "!ERR the key has no lease tokens left; "
            "push its events into another key");
    REPLICATED(fake, "");
    REPLIES(fake, "LAWN.NACK k a 9007199254739968",
            "!ERR the key has no lease tokens left; "
            "push its events into another key");
    REPLIES(fake, "LAWN.NACK k p 9007199254740976",
            "!ERR the key has no lease tokens left; "
            "push its events into another key");
    REPLIES(fake, "LAWN.ACK k a 9007199254739968 p 9007199254740976", "[1, 1]");
    scene_end(fake);
}

/* A user who may restore a key may have forged its token. */
TEST(commands_lease_does_not_take_a_token_far_ahead_for_other_keys)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.MPUSH k DELAY 0 1 a x", "1");
    REPLIES(fake, "LAWN.MPUSH j DELAY 0 1 a x", "1");
    REPLIES(fake, "LAWN.APPLY k TOKEN 9007199254000000", "+OK");
    REPLIES(fake, "LAWN.LEASE k me",
            "[[\"a\", \"x\", 9007199254000016, 1, 1000]]");
    REPLIES(fake, "LAWN.LEASE j me", "[[\"a\", \"x\", 1024000, 1, 1000]]");
    scene_end(fake);
}

/* A restored key may have had a lease that its dump does not contain. */
TEST(commands_lease_tokens_are_greater_than_those_of_a_key_before)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.MPUSH k DELAY 0 2 a x b x", "2");
    REPLIES(fake, "LAWN.LEASE k me", "[[\"a\", \"x\", 1024000, 1, 1000]]");
    REPLIES(fake, "LAWN.MPUSH j DELAY 0 1 a x", "1");
    REPLIES(fake, "LAWN.APPLY j TOKEN 16", "+OK");
    REPLIES(fake, "LAWN.LEASE j me", "[[\"a\", \"x\", 1024016, 1, 1000]]");
    scene_end(fake);
}

TEST(commands_lease_ends_at_the_end_of_time_at_the_latest)
{
    struct fake *fake = scene_begin();

    /* No replica, because it would reject such times. */
    fake_free(fake->replica);
    fake->replica = NULL;
    fake->now = QUEUE_TIME_MAX + 9;
    (void)fake_run(fake, "LAWN.PUSH k a x DELAY 0");
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 9007199254740992");
    CHECK_EQ(lease_of(fake, "a").lease.end, ARGS_DUE_MAX);
    fake->replica = fake_new();
    scene_end(fake);
}

TEST(commands_lease_notes_how_late_the_first_delivery_is)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0", "\"a\"");
    fake->now = 1020;
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 10");
    CHECK(strstr(fake_run(fake, "LAWN.INFO k"), "\"late-max-ms\": 20,") !=
          NULL);
    fake->now = 1500;
    /* The previous owner was late. */
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 100");
    CHECK(strstr(fake_run(fake, "LAWN.INFO k"), "\"late-max-ms\": 20,") !=
          NULL);
    REPLIES(fake, "LAWN.NACK k a 1536000 DELAY 10", "1");
    fake->now = 1540;
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 10");
    CHECK(strstr(fake_run(fake, "LAWN.INFO k"), "\"late-max-ms\": 30,") !=
          NULL);
    fake->now = 1700;
    (void)fake_run(fake, "LAWN.POLL k");
    REPLIES(fake, "LAWN.PUSH k b x DELAY 10", "\"b\"");
    scene_end(fake);
}

TEST(commands_lease_is_cut_at_the_batch)
{
    struct fake *fake = scene_begin();
    char line[64];

    for (int i = 0; i < 300; i++) {
        (void)snprintf(line, sizeof(line), "LAWN.PUSH k %d x DELAY 0", i);
        (void)fake_run(fake, line);
    }
    REPLIES(fake, "LAWN.LEASE k me", "[[\"0\", \"x\", 1024000, 1, 1000]]");
    command_limits.max_batch = 99;
    (void)fake_run(fake, "LAWN.LEASE k me COUNT 9223372036854775807");
    REPLIES(fake, "LAWN.LEN k LEASED", "100");
    scene_end(fake);
}

TEST(commands_of_leases_reject_invalid_arguments)
{
    static const char *const cases[][2] = {
        {"LAWN.LEASE k", "!ERR wrong number of arguments"},
        {"LAWN.LEASE k me LEASE 0", "!" NOT_MS("LEASE", "1", "0")},
        {"LAWN.LEASE k me COUNT 0", "!" NOT_IN("COUNT", "1 to 2^63 - 1", "0")},
        {"LAWN.LEASE k me BLOCK x", "!" NOT_MS("BLOCK", "0", "x")},
        {"LAWN.LEASE k me META", "!ERR syntax error near 'META'"},
        {"LAWN.ACK k a", "!ERR wrong number of arguments"},
        {"LAWN.ACK k a 1 b", "!ERR syntax error: missing token of 'b'"},
        {"LAWN.ACK k a 1024000 b x", "!" NOT_IN("token", "0 to 2^63 - 1", "x")},
        {"LAWN.ACK k a -1", "!" NOT_IN("token", "0 to 2^63 - 1", "-1")},
        {"LAWN.NACK k a", "!ERR wrong number of arguments"},
        {"LAWN.NACK k a x", "!" NOT_IN("token", "0 to 2^63 - 1", "x")},
        {"LAWN.NACK k a 1024000 DELAY x", "!" NOT_MS("DELAY", "0", "x")},
        {"LAWN.NACK k a 1024000 AT 5", "!ERR syntax error near 'AT'"},
        {"LAWN.EXTEND k a 1024000", "!ERR wrong number of arguments"},
        {"LAWN.EXTEND k a x LEASE 5",
         "!" NOT_IN("token", "0 to 2^63 - 1", "x")},
        {"LAWN.EXTEND k a 1024000 LEASE 0", "!" NOT_MS("LEASE", "1", "0")},
        {"LAWN.EXTEND k a 1024000 DELAY 5", "!ERR syntax error near 'DELAY'"},
    };
    struct fake *fake = scene_begin();
    char owner[QUEUE_OWNER_MAX + 2];
    struct bytes args[] = {
        bytes_of("LAWN.LEASE"), bytes_of("k"), {owner, QUEUE_OWNER_MAX + 1}};

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0", "\"a\"");
    (void)fake_run(fake, "LAWN.LEASE k me");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        REPLIES(fake, cases[i][0], cases[i][1]);
        REPLICATED(fake, "");
    }
    memset(owner, 'o', sizeof(owner));
    CHECK_TEXT(fake_call(fake, args, 3), "!ERR owner is longer than 255 bytes");
    REPLIES(fake, "LAWN.PUSH k b x DELAY 0", "\"b\"");
    args[2].size = QUEUE_OWNER_MAX;
    CHECK_TEXT(fake_call(fake, args, 3), "[[\"b\", \"x\", 1024016, 1, 1000]]");
    CHECK(fake_same(fake, fake->replica));
    CHECK(bytes_equal(lease_of(fake, "b").lease.owner, args[2]));
    REPLIES(fake, "LAWN.PUSH k c x DELAY 0", "\"c\"");
    REPLIES(fake, "LAWN.LEASE k ''", "[[\"c\", \"x\", 1024032, 1, 1000]]");
    scene_end(fake);
}

TEST(commands_push_drops_nothing_that_is_leased)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CONFIG k SET maxlen 2 overflow drop-oldest", "+OK");
    REPLIES(fake, "LAWN.MPUSH k DELAY 0 2 a x b x", "2");
    REPLIES(fake, "LAWN.LEASE k me LEASE 100",
            "[[\"a\", \"x\", 1024000, 1, 1000]]");
    REPLIES(fake, "LAWN.PUSH k c x DELAY 5", "\"c\"");
    REPLICATED(fake, "DEL b; ADD c x 1005 5 ''");
    REPLIES(fake, "LAWN.MPUSH k DELAY 5 2 d x e x",
            "!FULL 1 leased events cannot be dropped; the key's maxlen is 2, "
            "its maxbytes 0 (0: unlimited)");
    REPLICATED(fake, "");
    fake->now = 1005;
    REPLIES(fake, "LAWN.LEASE k me LEASE 100",
            "[[\"c\", \"x\", 1029120, 1, 1005]]");
    REPLIES(fake, "LAWN.PUSH k d x DELAY 5",
            "!FULL 2 leased events cannot be dropped; the key's maxlen is 2, "
            "its maxbytes 0 (0: unlimited)");
    /* It may replace a leased event. */
    REPLIES(fake, "LAWN.PUSH k a y DELAY 5", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k d x DELAY 7", "\"d\"");
    REPLICATED(fake, "DEL a; ADD d x 1012 7 ''");
    /* A lease that has ended does not keep an event from being dropped, even if
     * no tick has noticed its end. */
    fake->now = 1105;
    *queue_armed(fake_queue(fake, "k")) = LAWN_NEVER - 1;
    CHECK_TEXT(fake_run(fake, "LAWN.MPUSH k DELAY 5 2 e x f x"), "2");
    scene_end(fake);
}

TEST(commands_push_of_bytes_drops_nothing_that_is_leased)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CONFIG k SET maxbytes 20 overflow drop-oldest", "+OK");
    REPLIES(fake, "LAWN.PUSH k a 123456789 DELAY 0", "\"a\"");
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 100");
    REPLIES(fake, "LAWN.PUSH k b 123456789 DELAY 5", "\"b\"");
    REPLIES(fake, "LAWN.PUSH k c 1234567890 DELAY 5",
            "!FULL 1 leased events cannot be dropped; the key's maxlen is 0, "
            "its maxbytes 20 (0: unlimited)");
    REPLICATED(fake, "");
    REPLIES(fake, "LAWN.PUSH k c 123456789 DELAY 5", "\"c\"");
    REPLICATED(fake, "DEL b; ADD c 123456789 1005 5 ''");
    /* The payload of a leased event may grow; it then takes more room. */
    REPLIES(fake, "LAWN.CONFIG k SET maxbytes 30", "+OK");
    REPLIES(fake, "LAWN.UPDATE k a 12345678901234", "\"123456789\"");
    REPLIES(fake, "LAWN.PUSH k d 123456789012345 DELAY 5",
            "!FULL 1 leased events cannot be dropped; the key's maxlen is 0, "
            "its maxbytes 30 (0: unlimited)");
    REPLIES(fake, "LAWN.PUSH k d 12345678901234 DELAY 5", "\"d\"");
    /* A larger event may replace it. */
    REPLIES(fake, "LAWN.PUSH k a 12345678901234567890 DELAY 9", "\"a\"");
    REPLICATED(fake, "DEL d; ADD a 12345678901234567890 1009 9 ''");
    scene_end(fake);
}

TEST(commands_push_drops_dead_events)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CONFIG k SET maxlen 3 overflow drop-oldest tries 1",
            "+OK");
    REPLIES(fake, "LAWN.MPUSH k DELAY 0 3 a x b x c x", "3");
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 10 COUNT 3");
    fake->now = 1010;
    REPLIES(fake, "LAWN.LEN k DEAD", "3");
    REPLIES(fake, "LAWN.MPUSH k DELAY 5 2 d x e x", "2");
    REPLIES(fake, "LAWN.LEN k", "3");
    REPLIES(fake, "LAWN.LEN k DEAD", "1");
    REPLIES(fake, "LAWN.LEN k WAITING", "2");
    /* And others with it. */
    REPLIES(fake, "LAWN.MPUSH k DELAY 5 2 f x g x", "2");
    REPLIES(fake, "LAWN.LEN k DEAD", "0");
    REPLIES(fake, "LAWN.LEN k", "3");
    scene_end(fake);
}

TEST(commands_push_reaches_a_lower_limit_over_time)
{
    struct fake *fake = scene_begin();
    char line[64];

    for (int i = 0; i < 2500; i++) {
        (void)snprintf(line, sizeof(line), "LAWN.PUSH k %d x DELAY 5", i);
        (void)fake_run(fake, line);
    }
    REPLIES(fake, "LAWN.CONFIG k SET maxlen 10 overflow drop-oldest", "+OK");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 5", "\"a\"");
    REPLIES(fake, "LAWN.LEN k", "1501");
    REPLIES(fake, "LAWN.PUSH k b x DELAY 5", "\"b\"");
    REPLIES(fake, "LAWN.LEN k", "502");
    REPLIES(fake, "LAWN.PUSH k c x DELAY 5", "\"c\"");
    REPLIES(fake, "LAWN.LEN k", "10");
    REPLIES(fake, "LAWN.GET k c", "\"x\"");
    scene_end(fake);
}

TEST(commands_push_of_much_drops_as_much)
{
    struct fake *fake = scene_begin();
    static char payload[6000];
    struct bytes args[] = {bytes_of("LAWN.PUSH"), bytes_of("k"),
                           bytes_of("big"),       {payload, sizeof(payload)},
                           bytes_of("DELAY"),     bytes_of("9")};
    char line[64];

    for (int i = 0; i < 2000; i++) {
        (void)snprintf(line, sizeof(line), "LAWN.PUSH k %03x x DELAY 5",
                       (unsigned)i);
        (void)fake_run(fake, line);
    }
    /* Each event has 4 bytes. The new one takes the room of 1501 events, more
     * than PUSH_DROP. */
    REPLIES(fake, "LAWN.CONFIG k SET maxbytes 8000 overflow drop-oldest",
            "+OK");
    memset(payload, 'p', sizeof(payload));
    CHECK_TEXT(fake_call(fake, args, 6), "\"big\"");
    CHECK(fake_same(fake, fake->replica));
    CHECK_EQ(queue_data(fake_queue(fake, "k")), 6003 + 4 * 499);
    scene_end(fake);
}

/* MPUSH of count events, DELAY 0. */
static void
lease_mpush(struct fake *fake, char letter, size_t count, const char *payload)
{
    static struct bytes args[5 + 2 * 1500];
    static char ids[1500][24];
    char many[24];

    (void)snprintf(many, sizeof(many), "%zu", count);
    args[0] = bytes_of("LAWN.MPUSH");
    args[1] = bytes_of("k");
    args[2] = bytes_of("DELAY");
    args[3] = bytes_of("0");
    args[4] = bytes_of(many);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "%c%zu", letter, i);
        args[5 + 2 * i] = bytes_of(ids[i]);
        args[6 + 2 * i] = bytes_of(payload);
    }
    CHECK_TEXT(fake_call(fake, args, 5 + 2 * count), many);
}

TEST(commands_mpush_of_many_drops_as_many)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CONFIG k SET maxlen 1500 overflow drop-oldest", "+OK");
    /* They take less room than the dropped ones. */
    lease_mpush(fake, 'a', 1500, "a longer payload");
    lease_mpush(fake, 'b', 1500, "x");
    CHECK(fake_same(fake, fake->replica));
    REPLIES(fake, "LAWN.LEN k", "1500");
    REPLIES(fake, "LAWN.GET k a1499", "nil");
    scene_end(fake);
}

TEST(commands_len_looks_at_no_more_than_it_may)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    lease_mpush(fake, 'a', 1000, "x");
    lease_mpush(fake, 'b', 500, "x");
    REPLIES(fake, "LAWN.LEN k DUE", "1000");
    REPLIES(fake, "LAWN.LEN k WAITING", "0");
    REPLIES(fake, "LAWN.LEN k DUE", "1500");
    scene_end(fake);
}

TEST(commands_that_change_a_key_report_events_that_died_before)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0 TRIES 1", "\"a\"");
    REPLIES(fake, "LAWN.LEASE k me LEASE 10",
            "[[\"a\", \"x\", 1024000, 1, 1000]]");
    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    fake->now = 1010;
    REPLIES(fake, "LAWN.LEN k DEAD", "1");
    NOTED(fake, "");
    REPLIES(fake, "LAWN.RESUME k", "+OK");
    NOTED(fake, "lawn.dead");
    REPLIES(fake, "LAWN.CANCEL k a", "1");
    NOTED(fake, "lawn.cancel del");
    scene_end(fake);
}

/* Whatever changes in the key meanwhile, and however they died. */
TEST(commands_on_a_paused_key_report_nothing_of_the_dead_until_resume)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0 TRIES 1", "\"a\"");
    REPLIES(fake, "LAWN.LEASE k me LEASE 10",
            "[[\"a\", \"x\", 1024000, 1, 1000]]");
    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    fake->now = 1010;
    REPLIES(fake, "LAWN.LEN k DEAD", "1");
    REPLIES(fake, "LAWN.PUSH k b x DELAY 0 TRIES 1", "\"b\"");
    NOTED(fake, "lawn.push");
    REPLIES(fake, "LAWN.CONFIG k SET maxlen 5", "+OK");
    NOTED(fake, "");
    REPLIES(fake, "LAWN.RESUME k", "+OK");
    NOTED(fake, "lawn.fire lawn.dead");
    REPLIES(fake, "LAWN.LEASE k me", "[[\"b\", \"x\", 1034240, 1, 1010]]");
    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    NOTED(fake, "");
    REPLIES(fake, "LAWN.NACK k b 1034240", "1");
    NOTED(fake, "lawn.nack");
    REPLIES(fake, "LAWN.LEN k DEAD", "2");
    REPLIES(fake, "LAWN.RESUME k", "+OK");
    NOTED(fake, "lawn.dead");
    /* It is notified once. */
    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    REPLIES(fake, "LAWN.RESUME k", "+OK");
    NOTED(fake, "");
    scene_end(fake);
}

TEST(commands_info_sees_leases_end)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0", "\"a\"");
    (void)fake_run(fake, "LAWN.LEASE k me LEASE 10");
    CHECK(strstr(fake_run(fake, "LAWN.INFO k"), "\"leased\": 1,") != NULL);
    REPLIES(fake, "LAWN.NEXT k", "10");
    CHECK(strstr(fake_run(fake, "LAWN.INFO k"), "\"leased\": 1,") != NULL);
    /* Without a tick before. */
    *queue_armed(fake_queue(fake, "k")) = LAWN_NEVER - 1;
    fake->now = 1010;
    CHECK(strstr(fake_run(fake, "LAWN.INFO k"), "\"leased\": 0,") != NULL);
    scene_end(fake);
}
