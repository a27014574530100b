/* commands_query.c - tests of LAWN.GET, LAWN.NEXT, LAWN.LEN, LAWN.SCAN and
 * LAWN.INFO. */
#include "scene.h"

#include <stdio.h>
#include <stdlib.h>

TEST(commands_get_returns_the_payload_or_all)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.GET k a", "nil");
    REPLIES(fake, "LAWN.GET k a META", "nil");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 10 EVERY 7 TIMES 2", "\"a\"");
    REPLIES(fake, "LAWN.GET k b", "nil");
    REPLIES(fake, "LAWN.GET k a", "\"x\"");
    REPLIES(fake, "LAWN.GET k a meta",
            "{\"payload\": \"x\", \"due\": 1010, \"state\": \"waiting\", "
            "\"period\": 7, \"times\": 2, \"missed\": 0" PLAIN);
    fake->now = 1010;
    REPLIES(fake, "LAWN.GET k a META",
            "{\"payload\": \"x\", \"due\": 1010, \"state\": \"due\", "
            "\"period\": 7, \"times\": 2, \"missed\": 0" PLAIN);
    REPLIES(fake, "LAWN.GET k a MORE", "!ERR syntax error near 'MORE'");
    REPLIES(fake, "LAWN.GET k a META META", "!ERR syntax error near 'META'");
    scene_end(fake);
}

TEST(commands_next_counts_down)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.NEXT k", "nil");
    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    REPLIES(fake, "LAWN.NEXT k", "-1");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 10", "\"a\"");
    REPLIES(fake, "LAWN.NEXT k", "10");
    fake->now = 1009;
    REPLIES(fake, "LAWN.NEXT k", "1");
    fake->now = 1010;
    REPLIES(fake, "LAWN.NEXT k", "0");
    fake->now = 1020;
    REPLIES(fake, "LAWN.NEXT k", "0");
    scene_end(fake);
}

TEST(commands_len_distinguishes_those_that_wait_from_those_due)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.LEN k", "0");
    REPLIES(fake, "LAWN.LEN k DUE", "0");
    REPLIES(fake, "LAWN.MPUSH k DELAY 10 3 a x b x c x", "3");
    REPLIES(fake, "LAWN.MPUSH k DELAY 20 2 d x e x", "2");
    REPLIES(fake, "LAWN.LEN k", "5");
    REPLIES(fake, "LAWN.LEN k WAITING", "5");
    REPLIES(fake, "LAWN.LEN k due", "0");
    fake->now = 1010;
    REPLIES(fake, "LAWN.LEN k waiting", "2");
    REPLIES(fake, "LAWN.LEN k DUE", "3");
    REPLICATED(fake, "");
    fake->replica->now = 1010;
    CHECK_TEXT(fake_run(fake->replica, "LAWN.LEN k DUE"), "3");
    REPLIES(fake, "LAWN.CANCEL k a e", "2");
    REPLIES(fake, "LAWN.LEN k DUE", "2");
    REPLIES(fake, "LAWN.LEN k WAITING", "1");
    REPLIES(fake, "LAWN.LEN k", "3");
    REPLIES(fake, "LAWN.LEN k OFF", "!ERR syntax error near 'OFF'");
    REPLIES(fake, "LAWN.LEN k DUE DUE", "!ERR syntax error near 'DUE'");
    scene_end(fake);
}

TEST(commands_scan_visits_each_id_once)
{
    struct fake *fake = scene_begin();
    static bool seen[2000];
    unsigned long long cursor = 0;
    size_t calls = 0;

    memset(seen, 0, sizeof(seen));
    char line[64];
    for (int i = 0; i < 2000; i++) {
        (void)snprintf(line, sizeof(line), "LAWN.PUSH k id%d x DELAY 1", i);
        (void)fake_run(fake, line);
    }
    do {
        (void)snprintf(line, sizeof(line), "LAWN.SCAN k %llu", cursor);
        const char *reply = fake_run(fake, line);
        CHECK(strncmp(reply, "[\"", 2) == 0);
        cursor = strtoull(reply + 2, NULL, 10);
        for (const char *at = reply; (at = strstr(at, "\"id")) != NULL; at++) {
            unsigned long id = strtoul(at + 3, NULL, 10);
            CHECK(id < 2000 && !seen[id]);
            seen[id] = true;
        }
        calls++;
    } while (cursor != 0);
    for (int i = 0; i < 2000; i++) {
        CHECK(seen[i]);
    }
    CHECK(calls > 4);
    command_limits.max_batch = 100;
    (void)fake_run(fake, "LAWN.SCAN k 0 COUNT 2000");
    command_limits.max_batch = 10000;
    CHECK(strncmp(fake->reply.at, "[\"0\"", 4) != 0);
    (void)fake_run(fake, "LAWN.SCAN k 0 COUNT 2000");
    CHECK(strncmp(fake->reply.at, "[\"0\"", 4) == 0);
    scene_end(fake);
}

TEST(commands_scan_returns_matching_ids)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.SCAN k 0", "[\"0\", []]");
    REPLIES(fake, "LAWN.PUSH k apple x DELAY 10", "\"apple\"");
    REPLIES(fake, "LAWN.PUSH k pear x DELAY 20", "\"pear\"");
    fake->now = 1010;
    REPLIES(fake, "LAWN.SCAN k 0 MATCH a*", "[\"0\", [\"apple\"]]");
    REPLIES(fake, "LAWN.SCAN k 0 match *ear COUNT 100", "[\"0\", [\"pear\"]]");
    REPLIES(fake, "LAWN.SCAN k 0 STATE waiting", "[\"0\", [\"pear\"]]");
    REPLIES(fake, "LAWN.SCAN k 0 state DUE", "[\"0\", [\"apple\"]]");
    REPLIES(fake, "LAWN.SCAN k 0 STATE due MATCH p*", "[\"0\", []]");
    REPLIES(fake, "LAWN.SCAN k 0 STATE off", "!ERR syntax error near 'off'");
    REPLIES(fake, "LAWN.SCAN k 0 MATCH",
            "!ERR syntax error: missing argument of 'MATCH'");
    REPLIES(fake, "LAWN.SCAN k 0 COUNT 0",
            "!" NOT_IN("COUNT", "1 to 2^63 - 1", "0"));
    REPLIES(fake, "LAWN.SCAN k x", "!ERR invalid cursor");
    REPLIES(fake, "LAWN.SCAN k -1", "!ERR invalid cursor");
    /* Any cursor is accepted. */
    (void)fake_run(fake, "LAWN.SCAN k 18446744073709551615");
    CHECK(fake->reply.at[0] == '[');
    scene_end(fake);
}

/* Matching each of these ids takes 1.4 million steps, so a call examines
 * one. */
TEST(commands_scan_with_a_slow_pattern_continues_in_the_next_call)
{
    struct fake *fake = scene_begin();
    static char line[8192];
    static char pattern[250];
    bool seen[100] = {false};
    unsigned long long cursor = 0;
    size_t calls = 0;
    size_t told = 0;

    memset(pattern, 'a', sizeof(pattern));
    for (int i = 0; i < 100; i++) {
        int size = snprintf(line, sizeof(line), "LAWN.PUSH k ");
        memset(line + size, 'a', 6000);
        size += 6000;
        (void)snprintf(line + size, sizeof(line) - (size_t)size,
                       "%02d x DELAY 1", i);
        (void)fake_run(fake, line);
    }
    do {
        (void)snprintf(line, sizeof(line),
                       "LAWN.SCAN k %llu COUNT 1000 MATCH *%.250s3?", cursor,
                       pattern);
        const char *reply = fake_run(fake, line);
        CHECK(strncmp(reply, "[\"", 2) == 0);
        cursor = strtoull(reply + 2, NULL, 10);
        for (const char *at = reply; (at = strstr(at, "a3")) != NULL; at++) {
            unsigned long id = strtoul(at + 1, NULL, 10);
            CHECK(id < 100 && !seen[id]);
            seen[id] = true;
            told++;
        }
        calls++;
    } while (cursor != 0);
    CHECK_EQ(told, 10);
    CHECK(calls >= 100);
    scene_end(fake);
}

TEST(commands_scan_refuses_a_very_long_pattern)
{
    struct fake *fake = scene_begin();
    static char pattern[257];
    struct bytes words[] = {bytes_of("LAWN.SCAN"),
                            bytes_of("k"),
                            bytes_of("0"),
                            bytes_of("MATCH"),
                            {pattern, 257}};

    memset(pattern, '?', sizeof(pattern));
    CHECK_TEXT(fake_call(fake, words, 5),
               "!ERR MATCH pattern is longer than 256 bytes");
    words[4].size = 256;
    CHECK_TEXT(fake_call(fake, words, 5), "[\"0\", []]");
    scene_end(fake);
}

TEST(commands_scan_without_memory_reports_it)
{
    struct fake *fake = scene_begin();
    char line[64];

    for (int i = 0; i < 300; i++) {
        (void)snprintf(line, sizeof(line), "LAWN.PUSH k id%d x DELAY 5", i);
        (void)fake_run(fake, line);
    }
    CHECK_EQ(scene_starve(fake, "LAWN.SCAN k 0 COUNT 1000"), 2);
    CHECK(strncmp(fake->reply.at, "[\"0\", [\"id", 10) == 0);
    size_t ids = 0;
    for (const char *at = fake->reply.at; (at = strstr(at, "\"id")) != NULL;
         at++) {
        ids++;
    }
    CHECK_EQ(ids, 300);
    /* Ids that do not match need no memory. */
    CHECK_EQ(scene_starve(fake, "LAWN.SCAN k 0 COUNT 1000 MATCH id29?"), 0);
    scene_end(fake);
}

#define NO_LEASES                                                              \
    "\"leased-total\": 0, \"redelivered\": 0, \"acked\": 0, "                  \
    "\"dead-total\": 0, \"handed\": 0, \"sink-errors\": 0, "
#define NO_SINK                                                                \
    "\"sink\": \"none\", \"sink-to\": \"\", \"sink-maxlen\": 0, "              \
    "\"dead-letter\": \"\", \"sink-error\": \"\", "

TEST(commands_info_reports_the_contents_of_a_key)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.INFO k", "nil");
    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    char expected[1024];
    (void)snprintf(
        expected, sizeof(expected),
        "{\"len\": 0, \"leased\": 0, \"dead\": 0, \"ttls\": 0, \"next\": nil, "
        "\"oldest-due\": "
        "0, \"pushed\": 0, \"fired\": 0, \"missed\": 0, "
        "\"dropped\": 0, " NO_LEASES "\"late-p50-ms\": 0, \"late-p99-ms\": 0, "
        "\"late-max-ms\": 0, " NO_SINK "\"bytes\": %zu, \"data-bytes\": 0, "
        "\"paused\": 1, \"maxlen\": 0, \"maxbytes\": 0, "
        "\"overflow\": \"reject\", \"resolution-ms\": 1, \"tries\": 0, "
        "\"lease\": 0}",
        queue_bytes(fake_queue(fake, "k")));
    REPLIES(fake, "LAWN.INFO k", expected);
    REPLIES(fake, "LAWN.RESUME k", "+OK");
    REPLIES(fake, "LAWN.MPUSH k DELAY 10 2 a xyz b x", "2");
    REPLIES(fake, "LAWN.CONFIG k SET maxlen 9 maxbytes 99 overflow drop-oldest",
            "+OK");
    REPLIES(fake, "LAWN.PUSH k c x DELAY 20", "\"c\"");
    (void)snprintf(
        expected, sizeof(expected),
        "{\"len\": 3, \"leased\": 0, \"dead\": 0, \"ttls\": 2, \"next\": 1010, "
        "\"oldest-due\": "
        "0, \"pushed\": 3, \"fired\": 0, \"missed\": 0, "
        "\"dropped\": 0, " NO_LEASES "\"late-p50-ms\": 0, \"late-p99-ms\": 0, "
        "\"late-max-ms\": 0, " NO_SINK "\"bytes\": %zu, \"data-bytes\": 8, "
        "\"paused\": 0, \"maxlen\": 9, \"maxbytes\": 99, "
        "\"overflow\": \"drop-oldest\", \"resolution-ms\": 1, \"tries\": 0, "
        "\"lease\": 0}",
        queue_bytes(fake_queue(fake, "k")));
    REPLIES(fake, "LAWN.INFO k", expected);
    fake->now = 1013;
    (void)fake_run(fake, "LAWN.INFO k");
    CHECK(strstr(fake->reply.at, "\"next\": 1010, \"oldest-due\": 3,") != NULL);
    scene_end(fake);
}
