/* commands_push.c - tests of LAWN.PUSH and LAWN.MPUSH. */
#include "scene.h"

#include "ids.h"

#include <stdio.h>
#include <stdlib.h>

#define SYNTAX "!ERR syntax error"

TEST(commands_push_puts_an_event_in_and_replies_with_its_id)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 10", "\"a\"");
    REPLICATED(fake, "ADD a x 1010 10 ''");
    NOTED(fake, "lawn.push");
    CHECK_EQ(fake->arms, 1);
    CHECK_EQ(fake->signals, 0);
    REPLIES(fake, "LAWN.GET k a", "\"x\"");
    REPLICATED(fake, "");
    REPLIES(fake, "LAWN.POLL k", "[]");
    fake->now = 1009;
    REPLIES(fake, "LAWN.POLL k", "[]");
    fake->now = 1010;
    REPLIES(fake, "LAWN.POLL k", "[[\"a\", \"x\"]]");
    scene_end(fake);
}

TEST(commands_push_for_a_time_is_replicated_as_alone)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x AT 1500", "\"a\"");
    REPLICATED(fake, "ADD a x 1500 500 a");
    REPLIES(fake, "LAWN.NEXT k", "500");
    scene_end(fake);
}

TEST(commands_push_for_a_time_in_the_past_is_due_now)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x AT 1", "\"a\"");
    REPLICATED(fake, "ADD a x 1000 0 a");
    CHECK_EQ(fake->signals, 1);
    REPLIES(fake, "LAWN.POLL k META",
            "[{\"id\": \"a\", \"payload\": \"x\", \"due\": 1000, \"late\": 0, "
            "\"period\": 0, \"times\": 0, \"missed\": 0}]");
    scene_end(fake);
}

TEST(commands_push_that_is_due_at_once_wakes_a_waiting_client)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0", "\"a\"");
    CHECK_EQ(fake->signals, 1);
    NOTED(fake, "lawn.push lawn.fire");
    CHECK_TEXT(fake->replica->noted.at, "");
    REPLIES(fake, "LAWN.PUSH k b x DELAY 5", "\"b\"");
    CHECK_EQ(fake->signals, 0);
    NOTED(fake, "lawn.push");
    REPLIES(fake, "LAWN.MPUSH k DELAY 0 1 c x", "1");
    CHECK_EQ(fake->signals, 1);
    NOTED(fake, "lawn.push lawn.fire");
    REPLIES(fake, "LAWN.TOUCH k b DELAY 0", "1000");
    CHECK_EQ(fake->signals, 1);
    NOTED(fake, "lawn.touch lawn.fire");
    REPLIES(fake, "REDE.PUSH k 0 x e", "+OK");
    NOTED(fake, "lawn.push lawn.fire");
    REPLIES(fake, "LAWN.CONFIG k SET maxlen 100", "+OK");
    NOTED(fake, "");
    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    NOTED(fake, "");
    REPLIES(fake, "LAWN.PUSH k d x DELAY 0", "\"d\"");
    CHECK_EQ(fake->signals, 0);
    NOTED(fake, "lawn.push");
    REPLIES(fake, "LAWN.RESUME k", "+OK");
    CHECK_EQ(fake->signals, 1);
    NOTED(fake, "lawn.fire");
    scene_end(fake);
}

TEST(commands_set_the_wake_up_though_something_due_is_left)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 0", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k b x DELAY 5", "\"b\"");
    CHECK_EQ(fake->arms, 1);
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1005);
    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    REPLIES(fake, "LAWN.PUSH k c x DELAY 3", "\"c\"");
    CHECK_EQ(fake->arms, 0);
    REPLIES(fake, "LAWN.RESUME k", "+OK");
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1003);
    scene_end(fake);
}

/* No command may take time for all due events: the tick has a budget. */
TEST(commands_leave_it_to_the_tick_to_find_all_that_is_due)
{
    struct fake *fake = scene_begin();
    struct command_limits limits = command_limits;

    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    char line[64];
    for (int i = 0; i < 9; i++) {
        (void)snprintf(line, sizeof(line), "LAWN.PUSH k %d x DELAY %d", i, i);
        (void)fake_run(fake, line);
    }
    fake->now = 1100;
    command_limits.max_batch = 3;
    REPLIES(fake, "LAWN.RESUME k", "+OK");
    NOTED(fake, "lawn.fire");
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1003);
    command_limits = limits;
    scene_end(fake);
}

TEST(commands_mpush_makes_ids)
{
    struct fake *fake = scene_begin();

    fake->now = 5000000;
    REPLIES(fake, "LAWN.MPUSH k DELAY 1 4 * x a y * z ** w", "4");
    CHECK(strstr(fake->replicated.at, " x 5000001 1 g ") != NULL);
    CHECK(strstr(fake->replicated.at, " a y 5000001 1 '' ") != NULL);
    CHECK(strstr(fake->replicated.at, " z 5000001 1 g ") != NULL);
    CHECK(strstr(fake->replicated.at, " ** w 5000001 1 ''") != NULL);
    CHECK(!queue_get(fake_queue(fake, "k"), bytes_of("*"), NULL));
    /* Two stars are two events, although each id is counted once. */
    REPLIES(fake, "LAWN.CONFIG k SET maxlen 5", "+OK");
    REPLIES(fake, "LAWN.MPUSH k AT 9000000 2 * x * y",
            "!FULL the key holds 4 events; its maxlen is 5");
    REPLIES(fake, "LAWN.MPUSH k AT 9000000 1 * x", "1");
    CHECK(strstr(fake->replicated.at, " x 9000000 4000000 a g") != NULL);
    /* They use the same sequence as those of PUSH. */
    REPLIES(fake, "LAWN.CONFIG k SET maxlen 0", "+OK");
    char text[64];
    struct bytes last[2];
    for (int i = 0; i < 2; i++) {
        (void)fake_run(fake, "LAWN.PUSH k * x DELAY 1");
        last[i].size = strlen(fake->reply.at);
        CHECK(last[i].size < sizeof(text) / 2);
        last[i].at = memcpy(text + i * 32, fake->reply.at, last[i].size);
        REPLIES(fake, "LAWN.MPUSH k DELAY 1 1 * x", "1");
    }
    CHECK(!bytes_equal(last[0], last[1]));
    REPLIES(fake, "LAWN.LEN k", "9");
    scene_end(fake);
}

/* The time of a key may be years ahead. */
TEST(commands_make_ids_by_the_wall_clock)
{
    struct fake *fake = scene_begin();

    fake->now = 6000000;
    REPLIES(fake, "LAWN.APPLY k ADD a x 9007199254740992 0 ''", "+OK");
    (void)fake_run(fake, "LAWN.PUSH k * x DELAY 1");
    CHECK(strncmp(fake->reply.at, "\"9007", 5) != 0);
    (void)fake_run(fake, "LAWN.PUSH other * x DELAY 1");
    CHECK(strncmp(fake->reply.at, "\"9007", 5) != 0);
    /* A delay has the same maximum there. */
    REPLIES(fake, "LAWN.PUSH k b x DELAY 9007199254740992", "\"b\"");
    REPLICATED(fake, "ADD b x 18014398509481984 9007199254740992 ''");
    scene_end(fake);
}

TEST(commands_push_sets_the_wake_up_only_if_it_is_the_next)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 50", "\"a\"");
    CHECK_EQ(fake->arms, 1);
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1050);
    REPLIES(fake, "LAWN.PUSH k b x DELAY 60", "\"b\"");
    CHECK_EQ(fake->arms, 0);
    REPLIES(fake, "LAWN.PUSH k c x DELAY 40", "\"c\"");
    CHECK_EQ(fake->arms, 1);
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1040);
    REPLIES(fake, "LAWN.PAUSE k", "+OK");
    REPLIES(fake, "LAWN.PUSH k d x DELAY 30", "\"d\"");
    CHECK_EQ(fake->arms, 0);
    REPLIES(fake, "LAWN.RESUME k", "+OK");
    CHECK_EQ(fake->arms, 1);
    scene_end(fake);
}

TEST(commands_push_replaces_an_event_of_the_same_id_wholly)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 10 EVERY 5 TIMES 3", "\"a\"");
    REPLICATED(fake, "ADD a x 1010 10 e5 t3");
    REPLIES(fake, "LAWN.PUSH k a longer DELAY 20", "\"a\"");
    REPLICATED(fake, "ADD a longer 1020 20 ''");
    REPLIES(fake, "LAWN.LEN k", "1");
    REPLIES(fake, "LAWN.GET k a META",
            "{\"payload\": \"longer\", \"due\": 1020, \"state\": \"waiting\", "
            "\"period\": 0, \"times\": 0, \"missed\": 0" PLAIN);
    scene_end(fake);
}

TEST(commands_push_nx_and_xx_ask_for_the_id)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 10 XX", "nil");
    REPLICATED(fake, "");
    NOTED(fake, "");
    REPLIES(fake, "LAWN.LEN k", "0");
    CHECK(fake_queue(fake, "k") == NULL);
    REPLIES(fake, "LAWN.PUSH k a x nx DELAY 10", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k a y DELAY 10 NX", "nil");
    REPLIES(fake, "LAWN.GET k a", "\"x\"");
    REPLIES(fake, "LAWN.PUSH k a y DELAY 10 xx", "\"a\"");
    REPLIES(fake, "LAWN.GET k a", "\"y\"");
    REPLIES(fake, "LAWN.PUSH k b y DELAY 10 XX", "nil");
    scene_end(fake);
}

TEST(commands_push_makes_ids_that_are_never_the_same)
{
    struct fake *fake = scene_begin();
    char id[64];

    (void)snprintf(id, sizeof(id), "%s",
                   fake_run(fake, "LAWN.PUSH k * x DELAY 10"));
    CHECK(strstr(fake->replicated.at, " x 1010 10 g") != NULL);
    CHECK(strcmp(id, fake_run(fake, "LAWN.PUSH k * x AT 9999")) != 0);
    CHECK(strstr(fake->replicated.at, " x 9999 8999 a g") != NULL);
    REPLIES(fake, "LAWN.LEN k", "2");
    REPLIES(fake, "LAWN.PUSH k * x DELAY 10 XX", "nil");
    /* The next generated id exists already and is skipped. */
    uint64_t ms = 0;
    uint64_t number = 0;
    ids_last(&ms, &number);
    char line[128];
    (void)snprintf(line, sizeof(line), "LAWN.PUSH k %llu-%llu y DELAY 10",
                   (unsigned long long)ms, (unsigned long long)number + 1);
    (void)fake_run(fake, line);
    (void)fake_run(fake, "LAWN.PUSH k * x DELAY 10 NX");
    REPLIES(fake, "LAWN.LEN k", "4");
    /* A generated id is always new: NX adds the event, XX does not. */
    REPLIES(fake, "LAWN.MPUSH k DELAY 10 1 * x", "1");
    CHECK(fake_run(fake, "LAWN.PUSH k * x DELAY 10 NX")[0] == '"');
    REPLIES(fake, "LAWN.PUSH k * x DELAY 10 XX", "nil");
    REPLIES(fake, "LAWN.LEN k", "6");
    scene_end(fake);
}

TEST(commands_push_takes_options_in_any_order_and_case)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x times 2 Jitter 0 every 7 NX delay 3",
            "\"a\"");
    REPLICATED(fake, "ADD a x 1003 3 e7 t2");
    scene_end(fake);
}

TEST(commands_push_rejects_invalid_arguments)
{
    static const struct {
        const char *words;
        const char *error;
    } cases[] = {
        {"NX XX", SYNTAX ": missing DELAY or AT"},
        {"DELAY 1 AT 2", SYNTAX " near 'AT'"},
        {"DELAY 1 DELAY 2", SYNTAX " near 'DELAY'"},
        {"DELAY 1 NX NX", SYNTAX " near 'NX'"},
        {"DELAY 1 NX XX", SYNTAX ": NX and XX exclude each other"},
        {"DELAY 1 TIMES 2", SYNTAX ": TIMES requires EVERY"},
        {"DELAY 1 EVERY", SYNTAX ": missing argument of 'EVERY'"},
        {"DELAY 1 SOON", SYNTAX " near 'SOON'"},
        {"NX EVERY 1", SYNTAX ": missing DELAY or AT"},
        {"DELAY -1", "!" NOT_MS("DELAY", "0", "-1")},
        {"DELAY 9007199254740993",
         "!" NOT_MS("DELAY", "0", "9007199254740993")},
        {"DELAY 1.5", "!" NOT_MS("DELAY", "0", "1.5")},
        {"DELAY ''", "!" NOT_MS("DELAY", "0", "")},
        {"AT x", "!" NOT_AT("x")},
        {"AT 9007199254740993", "!" NOT_AT("9007199254740993")},
        {"DELAY 1 EVERY 0", "!" NOT_MS("EVERY", "1", "0")},
        {"DELAY 1 EVERY 9007199254740993",
         "!" NOT_MS("EVERY", "1", "9007199254740993")},
        {"DELAY 1 EVERY 1 TIMES 0", "!" NOT_IN("TIMES", "1 to 2^53", "0")},
        {"DELAY 1 JITTER x", "!" NOT_MS("JITTER", "0", "x")},
    };
    struct fake *fake = scene_begin();
    char line[256];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        (void)snprintf(line, sizeof(line), "LAWN.PUSH k a x %s",
                       cases[i].words);
        REPLIES(fake, line, cases[i].error);
        REPLICATED(fake, "");
        CHECK(fake_queue(fake, "k") == NULL);
    }
    scene_end(fake);
}

TEST(commands_push_accepts_up_to_two_to_the_53)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k a x DELAY 9007199254740992", "\"a\"");
    REPLIES(fake, "LAWN.NEXT k", "9007199254740992");
    REPLIES(fake, "LAWN.PUSH k b x AT 9007199254740992", "\"b\"");
    REPLIES(fake, "LAWN.NEXT k", "9007199254739992");
    REPLIES(fake,
            "LAWN.PUSH k c x DELAY 0 EVERY 9007199254740992 TIMES "
            "9007199254740992",
            "\"c\"");
    REPLIES(fake, "LAWN.POLL k", "[[\"c\", \"x\"]]");
    /* The sum is limited to what a replica accepts. */
    fake->random = 7;
    for (int i = 0; i < 20; i++) {
        REPLIES(
            fake,
            "LAWN.PUSH k d x DELAY 9007199254740992 JITTER 9007199254740992",
            "\"d\"");
    }
    scene_end(fake);
}

TEST(commands_push_jitter_is_added_to_the_first_time_alone)
{
    struct fake *fake = scene_begin();
    unsigned seen[4] = {0};

    for (int i = 0; i < 100; i++) {
        REPLIES(fake, "LAWN.PUSH k a x DELAY 10 JITTER 3 EVERY 100", "\"a\"");
        CHECK(strstr(fake->replicated.at, " a e100") != NULL);
        uint64_t next = queue_next(fake_queue(fake, "k"));
        CHECK(next >= 1010 && next <= 1013);
        seen[next - 1010]++;
    }
    for (int i = 0; i < 4; i++) {
        CHECK(seen[i] > 5);
    }
    uint64_t due = queue_next(fake_queue(fake, "k"));
    fake->now = 1020;
    REPLIES(fake, "LAWN.POLL k", "[[\"a\", \"x\"]]");
    CHECK_EQ(queue_next(fake_queue(fake, "k")), due + 100);
    scene_end(fake);
}

TEST(commands_push_rounds_up_to_the_resolution)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CONFIG k SET resolution-ms 100", "+OK");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 1", "\"a\"");
    REPLICATED(fake, "ADD a x 1100 100 a");
    REPLIES(fake, "LAWN.PUSH k b x DELAY 100", "\"b\"");
    REPLICATED(fake, "ADD b x 1100 100 a");
    REPLIES(fake, "LAWN.PUSH k c x DELAY 0", "\"c\"");
    REPLICATED(fake, "ADD c x 1000 0 a");
    REPLIES(fake, "LAWN.PUSH k d x AT 1999", "\"d\"");
    REPLICATED(fake, "ADD d x 2000 1000 a");
    scene_end(fake);
}

TEST(commands_push_reports_the_order_of_a_millisecond)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH k b x DELAY 5", "\"b\"");
    REPLIES(fake, "LAWN.PUSH k a x DELAY 5", "\"a\"");
    REPLIES(fake, "LAWN.PUSH k c x DELAY 5", "\"c\"");
    fake->now = 2000;
    REPLIES(fake, "LAWN.POLL k",
            "[[\"b\", \"x\"], [\"a\", \"x\"], [\"c\", \"x\"]]");
    REPLIES(fake, "LAWN.PUSH k b x AT 2005", "\"b\"");
    REPLIES(fake, "LAWN.PUSH k a x AT 2005", "\"a\"");
    fake->now = 3000;
    REPLIES(fake, "LAWN.POLL k", "[[\"b\", \"x\"], [\"a\", \"x\"]]");
    scene_end(fake);
}

TEST(commands_push_counts_a_delay_from_the_latest_time_seen)
{
    struct fake *fake = scene_begin();

    fake->now = 5000;
    REPLIES(fake, "LAWN.PUSH k a x DELAY 10", "\"a\"");
    fake->now = 4000;
    REPLIES(fake, "LAWN.PUSH k b x DELAY 10", "\"b\"");
    REPLICATED(fake, "ADD b x 5010 10 ''");
    REPLIES(fake, "LAWN.NEXT k", "10");
    scene_end(fake);
}

/* A word of this size. */
static struct bytes
word_of(size_t size)
{
    char *at = malloc(size + 1);

    CHECK(at != NULL);
    memset(at, 'x', size);
    return (struct bytes){at, size};
}

static void
word_free(struct bytes word)
{
    union {
        const char *in;
        char *out;
    } at = {word.at};

    free(at.out);
}

TEST(commands_push_refuses_what_is_too_long)
{
    struct fake *fake = scene_begin();
    struct bytes args[] = {bytes_of("LAWN.PUSH"), bytes_of("k"),
                           bytes_of("a"),         bytes_of("x"),
                           bytes_of("DELAY"),     bytes_of("1")};
    struct bytes word = word_of(1048577);

    args[3] = word;
    CHECK_TEXT(fake_call(fake, args, 6),
               "!ERR payload of 1048577 bytes exceeds lawn.max-payload of "
               "1048576 bytes");
    args[3].size--;
    CHECK_TEXT(fake_call(fake, args, 6), "\"a\"");
    args[3] = bytes_of("");
    args[2] = (struct bytes){word.at, 65536};
    CHECK_TEXT(fake_call(fake, args, 6), "!ERR id is longer than 65535 bytes");
    args[2].size--;
    CHECK(fake_call(fake, args, 6)[0] == '"');
    args[2] = bytes_of("");
    CHECK_TEXT(fake_call(fake, args, 6), "\"\"");
    args[1] = (struct bytes){word.at, 65536};
    CHECK_TEXT(fake_call(fake, args, 6),
               "!ERR key name is longer than 65535 bytes");
    args[1].size--;
    CHECK_TEXT(fake_call(fake, args, 6), "\"\"");
    CHECK(fake_same(fake, fake->replica));
    word_free(word);
    scene_end(fake);
}

TEST(commands_push_accepts_any_bytes)
{
    struct fake *fake = scene_begin();
    struct bytes args[] = {bytes_of("LAWN.PUSH"), {"\0k", 2},
                           {"q\0a", 3},           {"\r\n\0", 3},
                           bytes_of("DELAY"),     bytes_of("1")};
    struct bytes get[] = {bytes_of("LAWN.GET"), {"\0k", 2}, {"q\0b", 3}};

    CHECK_TEXT(fake_call(fake, args, 6), "\"q\\x00a\"");
    CHECK_TEXT(fake_call(fake, get, 3), "nil");
    get[2] = args[2];
    CHECK_TEXT(fake_call(fake, get, 3), "\"\\x0d\\x0a\\x00\"");
    CHECK(fake_same(fake, fake->replica));
    scene_end(fake);
}

TEST(commands_push_without_memory_changes_nothing)
{
    struct fake *fake = scene_begin();

    CHECK(scene_starve(fake, "LAWN.PUSH k a x DELAY 10") >= 3);
    CHECK_TEXT(fake->reply.at, "\"a\"");
    CHECK_EQ(scene_starve(fake, "LAWN.PUSH k a longer DELAY 20"), 1);
    CHECK_EQ(scene_starve(fake, "LAWN.PUSH k b longer DELAY 20"), 1);
    scene_end(fake);
}

TEST(commands_mpush_puts_in_all)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.MPUSH k DELAY 10 2 a x b y", "2");
    REPLICATED(fake, "ADD a x 1010 10 '' b y 1010 10 ''");
    NOTED(fake, "lawn.push");
    REPLIES(fake, "LAWN.MPUSH k at 1500 3 b z c v c w", "1");
    REPLICATED(fake, "ADD b z 1500 500 a c v 1500 500 a c w 1500 500 a");
    REPLIES(fake, "LAWN.LEN k", "3");
    REPLIES(fake, "LAWN.GET k c", "\"w\"");
    fake->now = 1500;
    REPLIES(fake, "LAWN.POLL k",
            "[[\"a\", \"x\"], [\"b\", \"z\"], [\"c\", \"w\"]]");
    scene_end(fake);
}

TEST(commands_mpush_without_memory_changes_nothing)
{
    struct fake *fake = scene_begin();

    CHECK(scene_starve(fake, "LAWN.MPUSH k DELAY 10 3 a x b x a y") >= 5);
    CHECK_TEXT(fake->reply.at, "2");
    CHECK_EQ(
        scene_starve(fake, "LAWN.MPUSH k DELAY 20 3 b longer a longer c x"), 4);
    CHECK_TEXT(fake->reply.at, "1");
    REPLIES(fake, "LAWN.CONFIG k SET maxlen 3 overflow drop-oldest", "+OK");
    CHECK_EQ(scene_starve(fake, "LAWN.MPUSH k DELAY 1 2 d x a x"), 4);
    REPLICATED(fake, "DEL b; ADD d x 1001 1 '' a x 1001 1 ''");
    scene_end(fake);
}

TEST(commands_mpush_wants_as_many_pairs_as_its_count)
{
    static const struct {
        const char *words;
        const char *error;
    } cases[] = {
        {"DELAY 1 1 a x b", SYNTAX ": count is not the number of pairs"},
        {"DELAY 1 1 a x b y", SYNTAX ": count is not the number of pairs"},
        {"DELAY 1 3 a x b y", SYNTAX ": count is not the number of pairs"},
        {"BY 1 1 a x", SYNTAX " near 'BY'"},
        {"DELAY 1 0 a x", "!" NOT_IN("count", "1 to 2^63 - 1", "0")},
        {"DELAY 1 x a x", "!" NOT_IN("count", "1 to 2^63 - 1", "x")},
        {"DELAY x 1 a x", "!" NOT_MS("DELAY", "0", "x")},
        {"AT x 1 a x", "!" NOT_AT("x")},
        {"DELAY 1 1 a", "!ERR wrong number of arguments"},
    };
    struct fake *fake = scene_begin();
    char line[256];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        (void)snprintf(line, sizeof(line), "LAWN.MPUSH k %s", cases[i].words);
        REPLIES(fake, line, cases[i].error);
        REPLICATED(fake, "");
        CHECK(fake_queue(fake, "k") == NULL);
    }
    command_limits.max_payload = 3;
    REPLIES(fake, "LAWN.MPUSH k DELAY 1 2 a x b four",
            "!ERR payload of 4 bytes exceeds lawn.max-payload of 3 bytes");
    command_limits.max_payload = 1048576;
    CHECK(fake_queue(fake, "k") == NULL);
    scene_end(fake);
}
