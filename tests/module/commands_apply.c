/* commands_apply.c - tests of LAWN.APPLY, with commands that a master sends and
 * invalid ones. */
#include "scene.h"

#include "ids.h"

#include <stdio.h>

TEST(commands_apply_applies_each_change)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.APPLY k ADD a x 1500 500 '' b y 1600 100 'a e5 t2 m1'",
            "+OK");
    REPLICATED(fake, "ADD a x 1500 500 '' b y 1600 100 a e5 t2 m1");
    NOTED(fake, "");
    CHECK_EQ(queue_now(fake_queue(fake, "k")), 1500);
    REPLIES(fake, "LAWN.APPLY k at a 1700 200 e7 zz 1 0 ''", "+OK");
    REPLIES(fake, "LAWN.GET k a META",
            "{\"payload\": \"x\", \"due\": 1700, \"state\": \"waiting\", "
            "\"period\": 7, \"times\": 0, \"missed\": 0" PLAIN);
    REPLIES(fake, "LAWN.APPLY k AT b 1700 100 ''", "+OK");
    REPLIES(fake, "LAWN.APPLY k SET b new zz new", "+OK");
    REPLIES(fake, "LAWN.GET k b META",
            "{\"payload\": \"new\", \"due\": 1700, \"state\": \"waiting\", "
            "\"period\": 0, \"times\": 0, \"missed\": 0" PLAIN);
    REPLIES(fake, "LAWN.APPLY k CFG maxlen 3 paused 1 overflow drop-oldest",
            "+OK");
    REPLIES(fake, "LAWN.APPLY k DEL a zz", "+OK");
    REPLIES(fake, "LAWN.LEN k", "1");
    REPLIES(fake, "LAWN.APPLY k DEL b", "+OK");
    REPLIES(fake, "LAWN.CONFIG k GET maxlen overflow",
            "{\"maxlen\": 3, \"overflow\": \"drop-oldest\"}");
    REPLIES(fake, "LAWN.APPLY k CFG maxlen 0 paused 0 overflow reject", "+OK");
    NOTED(fake, "del");
    CHECK(fake_queue(fake, "k") == NULL);
    scene_end(fake);
}

TEST(commands_apply_of_no_key_makes_none_unless_it_adds)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.APPLY k DEL a", "+OK");
    REPLIES(fake, "LAWN.APPLY k AT a 5 5 ''", "+OK");
    REPLIES(fake, "LAWN.APPLY k SET a x", "+OK");
    REPLIES(fake, "LAWN.APPLY k CFG maxlen 0", "+OK");
    CHECK(fake_queue(fake, "k") == NULL);
    scene_end(fake);
}

TEST(commands_apply_looks_at_no_limit)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.CONFIG k SET maxlen 1", "+OK");
    command_limits.max_payload = 1;
    REPLIES(fake, "LAWN.APPLY k ADD a long 1500 500 '' b long 1500 500 ''",
            "+OK");
    command_limits.max_payload = 1048576;
    REPLIES(fake, "LAWN.LEN k", "2");
    scene_end(fake);
}

TEST(commands_apply_sets_wake_ups_and_wakes)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.APPLY k ADD a x 1500 500 ''", "+OK");
    CHECK_EQ(fake->arms, 1);
    CHECK_EQ(fake->signals, 0);
    REPLIES(fake, "LAWN.APPLY k ADD b x 900 10 ''", "+OK");
    CHECK_EQ(fake->signals, 1);
    /* If this server becomes a master, due events have not been notified
     * yet. */
    CHECK_EQ(fake->arms, 1);
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 900);
    scene_end(fake);
}

TEST(commands_apply_remembers_ids_that_a_master_made)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.APPLY k ADD 99999999-7 x 1500 500 g", "+OK");
    uint64_t ms = 0;
    uint64_t number = 0;
    ids_last(&ms, &number);
    CHECK(ms > 99999999 || (ms == 99999999 && number >= 7));
    REPLIES(fake, "LAWN.APPLY k ADD mine x 1500 500 g", "+OK");
    REPLIES(fake, "LAWN.LEN k", "2");
    scene_end(fake);
}

static const char *const apply_errors[][2] = {
    {"ADD", "!ERR wrong number of arguments"},
    {"ADD a", "!ERR syntax error: missing argument of 'ADD'"},
    {"ADD a x 1500 500", "!ERR syntax error: missing argument of 'ADD'"},
    {"ADD a x 1500 500 '' b", "!ERR syntax error: missing argument of 'ADD'"},
    {"ADD a x 1500 500 '' b x 1500 1501 ''", "!ERR syntax error near 'b'"},
    {"ADD a x 1500 500 '' b x 18014398509481985 18014398509481985 ''",
     "!ERR syntax error near 'b'"},
    {"ADD a x 1500 500 '' b x 9007199254740993 0 ''",
     "!ERR syntax error near 'b'"},
    {"ADD a x 1500 500 '' b x 18014398509481984 9007199254740991 ''",
     "!ERR syntax error near 'b'"},
    {"ADD a x 1500 500 '' b x x 500 ''", "!ERR syntax error near 'b'"},
    {"ADD a x 1500 500 '' b x 1500 -1 ''", "!ERR syntax error near 'b'"},
    {"ADD a x 1500 500 '' b x 1500 500 q", "!ERR syntax error near 'b'"},
    {"ADD a x 1500 500 '' b x 1500 500 e0", "!ERR syntax error near 'b'"},
    {"ADD a x 1500 500 '' b x 1500 500 t3", "!ERR syntax error near 'b'"},
    {"ADD a x 1500 500 '' b x 1500 500 'a  g'", "!ERR syntax error near 'b'"},
    {"AT a 1500 500", "!ERR syntax error: missing argument of 'AT'"},
    {"AT a 1500 1501 ''", "!ERR syntax error near 'a'"},
    {"SET a", "!ERR syntax error: missing argument of 'SET'"},
    {"CFG", "!ERR wrong number of arguments"},
    {"CFG maxlen", "!ERR syntax error: missing argument of 'CFG'"},
    {"CFG maxlen 5 paused 2", "!ERR syntax error near 'paused'"},
    {"CFG maxlen 5 depth 2", "!ERR syntax error near 'depth'"},
    {"CFG maxlen 5 overflow some", "!ERR syntax error near 'overflow'"},
    {"CFG tries 4294967296", "!ERR syntax error near 'tries'"},
    {"LEASE a", "!ERR syntax error: missing argument of 'LEASE'"},
    {"LEASE a 1 1 0 1500 500",
     "!ERR syntax error: missing argument of 'LEASE'"},
    {"LEASE a 1 1 0 1500 500 me b",
     "!ERR syntax error: missing argument of 'LEASE'"},
    {"LEASE a 1 1 0 1500 500 me b 0 1 0 1500 500 me",
     "!ERR syntax error near 'b'"},
    {"LEASE a 9223372036854775808 1 0 1500 500 me",
     "!ERR syntax error near 'a'"},
    {"LEASE a 1 4294967296 0 1500 500 me", "!ERR syntax error near 'a'"},
    {"LEASE a 1 1 4294967296 1500 500 me", "!ERR syntax error near 'a'"},
    {"LEASE a 1 1 0 18014398509481985 500 me", "!ERR syntax error near 'a'"},
    {"LEASE a 1 1 0 18014398509481984 9007199254740991 me",
     "!ERR syntax error near 'a'"},
    {"LEASE a 1 1 0 1500 1501 me", "!ERR syntax error near 'a'"},
    {"LEASE a 1 1 0 x 500 me", "!ERR syntax error near 'a'"},
    {"SINK none '' 0", "!ERR syntax error: missing argument of 'SINK'"},
    {"SINK none '' 0 '' ''", "!ERR syntax error near ''"},
    {"SINK nowhere '' 0 ''", "!ERR syntax error near 'nowhere'"},
    {"SINK stream s -1 ''", "!ERR syntax error near 'stream'"},
    {"SINK stream s 9223372036854775808 ''", "!ERR syntax error near 'stream'"},
    {"TOKEN x", "!ERR syntax error near 'x'"},
    {"TOKEN 9223372036854775808",
     "!ERR syntax error near '9223372036854775808'"},
    {"TOKEN 1 2", "!ERR syntax error near '2'"},
    {"ADD a x 1500 500 '' b x 1500 500 n0", "!ERR syntax error near 'b'"},
    {"PUT a x", "!ERR syntax error near 'PUT'"},
    {"''", "!ERR wrong number of arguments"},
};

TEST(commands_apply_rejects_invalid_words)
{
    struct fake *fake = scene_begin();
    char line[256];

    for (size_t i = 0; i < sizeof(apply_errors) / sizeof(*apply_errors); i++) {
        (void)snprintf(line, sizeof(line), "LAWN.APPLY k %s",
                       apply_errors[i][0]);
        REPLIES(fake, line, apply_errors[i][1]);
        REPLICATED(fake, "");
        CHECK(fake_queue(fake, "k") == NULL);
    }
    scene_end(fake);
}

#define WORDS_8 "wwwwwwww"
#define WORDS_32 WORDS_8 WORDS_8 WORDS_8 WORDS_8
#define NEAR_LONG_WORD "!ERR syntax error near '" WORDS_32 WORDS_32 "...'"

TEST(commands_apply_refuses_what_no_queue_takes)
{
    static char word[65536];
    struct fake *fake = scene_begin();
    struct bytes args[] = {bytes_of("LAWN.APPLY"),
                           bytes_of("k"),
                           bytes_of("SET"),
                           {word, sizeof(word)},
                           bytes_of("x")};

    memset(word, 'w', sizeof(word));
    CHECK_TEXT(fake_call(fake, args, 5), NEAR_LONG_WORD);
    args[3].size--;
    CHECK_TEXT(fake_call(fake, args, 5), "+OK");
    /* The payload is too long and is not read. */
    args[4].size = (size_t)QUEUE_PAYLOAD_MAX + 1;
    CHECK_TEXT(fake_call(fake, args, 5), NEAR_LONG_WORD);
    args[2] = bytes_of("DEL");
    args[3].size++;
    CHECK_TEXT(fake_call(fake, args, 4), NEAR_LONG_WORD);
    struct bytes lease[] = {bytes_of("LAWN.APPLY"), bytes_of("k"),
                            bytes_of("LEASE"),      bytes_of("a"),
                            bytes_of("1"),          bytes_of("1"),
                            bytes_of("0"),          bytes_of("5"),
                            bytes_of("5"),          {word, QUEUE_OWNER_MAX}};
    CHECK_TEXT(fake_call(fake, lease, 10), "+OK");
    lease[9].size++;
    CHECK_TEXT(fake_call(fake, lease, 10), "!ERR syntax error near 'a'");
    scene_end(fake);
}

TEST(commands_apply_leases_as_a_master_did)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.APPLY k ADD a x 1500 500 'n2 k3' b y 1500 500 ''",
            "+OK");
    REPLIES(fake,
            "LAWN.APPLY k lease a 77 3 3 1900 400 me zz 78 1 0 1900 400 me",
            "+OK");
    REPLICATED(fake, "LEASE a 77 3 3 1900 400 me zz 78 1 0 1900 400 me");
    NOTED(fake, "");
    struct queue_event event;
    CHECK(queue_get(fake_queue(fake, "k"), bytes_of("a"), &event));
    CHECK_EQ(event.due, 1500);
    CHECK_EQ(event.lease.token, 77);
    CHECK_EQ(event.lease.end, 1900);
    CHECK_EQ(event.tries.made, 3);
    CHECK_EQ(event.tries.most, 3);
    CHECK(bytes_equal(event.lease.owner, bytes_of("me")));
    /* An unknown id only updates token and time. */
    CHECK_EQ(queue_token(fake_queue(fake, "k")), 77);
    CHECK_EQ(commands_tokens.last, 77);
    CHECK_EQ(queue_now(fake_queue(fake, "k")), 1500);
    CHECK_EQ(*queue_armed(fake_queue(fake, "k")), 1500);
    REPLIES(fake, "LAWN.APPLY k TOKEN 99", "+OK");
    REPLICATED(fake, "TOKEN 99");
    CHECK_EQ(queue_token(fake_queue(fake, "k")), 99);
    REPLIES(fake, "LAWN.APPLY k TOKEN 5", "+OK");
    CHECK_EQ(queue_token(fake_queue(fake, "k")), 99);
    CHECK_EQ(commands_tokens.last, 99);
    /* AT ends the lease and sets the tries. */
    REPLIES(fake, "LAWN.APPLY k AT a 2500 500 'n1 k9'", "+OK");
    CHECK(queue_get(fake_queue(fake, "k"), bytes_of("a"), &event));
    CHECK_EQ(event.lease.token, 0);
    CHECK_EQ(event.tries.made, 1);
    CHECK_EQ(event.tries.most, 9);
    scene_end(fake);
}

TEST(commands_apply_leases_events_that_are_not_due)
{
    struct fake *fake = scene_begin();

    /* No master sends this, but it is accepted. */
    REPLIES(fake, "LAWN.APPLY k ADD a x 9000 8000 e10 b y 9000 8000 ''", "+OK");
    REPLIES(fake, "LAWN.APPLY k LEASE a 7 1 0 1100 100 '' b 8 1 0 1100 100 ''",
            "+OK");
    fake->now = 1100;
    REPLIES(fake, "LAWN.POLL k META COUNT 1",
            "[{\"id\": \"a\", \"payload\": \"x\", \"due\": 9000, \"late\": 0, "
            "\"period\": 10, \"times\": 0, \"missed\": 0}]");
    REPLICATED(fake, "AT a 9010 10 e10");
    REPLIES(fake, "LAWN.ACK k b 8", "[1]");
    scene_end(fake);
}

TEST(commands_apply_sets_a_sink)
{
    struct fake *fake = scene_begin();
    static char word[65536];
    struct bytes args[] = {bytes_of("LAWN.APPLY"),
                           bytes_of("k"),
                           bytes_of("SINK"),
                           bytes_of("LIST"),
                           {word, sizeof(word)},
                           bytes_of("0"),
                           bytes_of("")};

    REPLIES(fake, "LAWN.APPLY k SINK stream out 5 dead", "+OK");
    REPLICATED(fake, "SINK stream out 5 dead");
    const struct queue_sink *sink = queue_sink_of(fake_queue(fake, "k"));
    CHECK_EQ(sink->kind, QUEUE_SINK_STREAM);
    CHECK(bytes_equal(sink->to, bytes_of("out")));
    CHECK_EQ(sink->maxlen, 5);
    CHECK(bytes_equal(sink->dead, bytes_of("dead")));
    const char *info = fake_run(fake, "LAWN.INFO k");
    CHECK(strstr(info, "\"sink\": \"stream\", \"sink-to\": \"out\", "
                       "\"sink-maxlen\": 5, \"dead-letter\": \"dead\", "
                       "\"sink-error\": \"\", ") != NULL);
    REPLIES(fake, "LAWN.APPLY k SINK spublish ch 0 ''", "+OK");
    CHECK_EQ(queue_sink_of(fake_queue(fake, "k"))->kind, QUEUE_SINK_SPUBLISH);
    CHECK(scene_starve(fake, "LAWN.APPLY k SINK list other 0 ''") > 0);
    CHECK_EQ(queue_sink_of(fake_queue(fake, "k"))->kind, QUEUE_SINK_LIST);
    CHECK_TEXT(fake_call(fake, args, 7), "!ERR syntax error near 'LIST'");
    args[4].size--;
    CHECK_TEXT(fake_call(fake, args, 7), "+OK");
    args[6] = (struct bytes){word, sizeof(word)};
    CHECK_TEXT(fake_call(fake, args, 7), "!ERR syntax error near 'LIST'");
    REPLIES(fake, "LAWN.APPLY k SINK none '' 0 ''", "+OK");
    CHECK(fake_queue(fake, "k") == NULL);
    /* Due events must be processed from now on. */
    REPLIES(fake, "LAWN.PUSH z b x DELAY 500", "\"b\"");
    REPLIES(fake, "LAWN.PUSH z a x DELAY 0", "\"a\"");
    CHECK_EQ(*queue_armed(fake_queue(fake, "z")), 1500);
    REPLIES(fake, "LAWN.APPLY z SINK list other 0 ''", "+OK");
    CHECK_EQ(*queue_armed(fake_queue(fake, "z")), 1000);
    REPLIES(fake, "LAWN.APPLY k TOKEN 5", "+OK");
    REPLIES(fake, "LAWN.APPLY k LEASE a 1 1 0 1500 500 me", "+OK");
    CHECK(fake_queue(fake, "k") == NULL);
    scene_end(fake);
}

TEST(commands_apply_without_memory_reports_it)
{
    struct fake *fake = scene_begin();

    fake->memory = 0;
    CHECK_TEXT(fake_run(fake, "LAWN.APPLY k ADD a x 1500 500 ''"),
               "!ERR out of memory");
    fake->memory = UINT64_MAX;
    CHECK(fake_same(fake, fake->replica));
    REPLIES(fake, "LAWN.APPLY k ADD a x 1500 500 ''", "+OK");
    /* Changes made before the failure are replicated. */
    fake->memory = 1;
    CHECK_TEXT(fake_run(fake, "LAWN.APPLY k ADD b x 1500 500 '' c x 9 9 ''"),
               "!ERR out of memory");
    fake->memory = UINT64_MAX;
    REPLICATED(fake, "ADD b x 1500 500 ''");
    CHECK(fake_same(fake, fake->replica));
    CHECK_EQ(scene_starve(fake, "LAWN.APPLY k AT a 1500 500 e5"), 1);
    CHECK_EQ(scene_starve(fake, "LAWN.APPLY k SET a longer"), 1);
    CHECK(scene_starve(fake, "LAWN.APPLY k LEASE a 1 1 0 1500 9 me") > 0);
    CHECK_EQ(scene_starve(fake, "LAWN.APPLY k DEL a"), 0);
    scene_end(fake);
}

TEST(commands_are_all_described)
{
    const struct command *lists[] = {command_lawn, command_rede};
    size_t count = 0;

    for (size_t i = 0; i < 2; i++) {
        for (const struct command *c = lists[i]; c->name != NULL; c++) {
            CHECK(c->run != NULL && c->args != NULL);
            CHECK(c->arity != 0);
            CHECK_TEXT(c->since, "0.1.0");
            CHECK(strlen(c->summary) > 10 && strlen(c->complexity) >= 4);
            bool writes = strstr(c->flags, "write") != NULL;
            CHECK(writes != (strstr(c->flags, "readonly") != NULL));
            CHECK(c->key == (c->key_flags != NULL));
            if (c->key) {
                CHECK(strncmp(c->key_flags, writes ? "RW" : "RO", 2) == 0);
                CHECK(c->args[0].type == COMMAND_KEY &&
                      c->args[0].name != NULL);
            }
            count++;
        }
    }
    CHECK_EQ(count, 22 + 11);
}
