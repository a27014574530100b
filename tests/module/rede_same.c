/* rede_same.c - ReDe's commands reply as in ReDe, where that made sense. */
#include "scene.h"

#include <stdio.h>

/* A command at a time in seconds, and its reply. */
struct rede_step {
    double at;
    const char *line;
    const char *reply;
};

static void
rede_play(const struct rede_step *steps, size_t count)
{
    struct fake *fake = scene_begin();

    for (size_t i = 0; i < count; i++) {
        fake->now = 1000000 + (uint64_t)(steps[i].at * 1000);
        if (strcmp(fake_run(fake, steps[i].line), steps[i].reply) != 0) {
            printf("at %.3f s: %s\n", steps[i].at, steps[i].line);
        }
        CHECK_TEXT(fake->reply.at, steps[i].reply);
        CHECK(fake_same(fake, fake->replica));
    }
    scene_end(fake);
}

#define PLAY(steps) rede_play(steps, sizeof(steps) / sizeof(*(steps)))

TEST(rede_look_sees_an_element_between_push_and_pull)
{
    static const struct rede_step steps[] = {
        {0, "REDE.LOOK d e", "nil"},
        {0, "REDE.PUSH d 100000 payload e", "+OK"},
        {0, "REDE.LOOK d e", "\"payload\""},
        {0, "REDE.PULL d e", "\"payload\""},
        {0, "REDE.LOOK d e", "nil"},
    };
    PLAY(steps);
}

TEST(rede_pull_of_another_id_is_nil)
{
    static const struct rede_step steps[] = {
        {0, "REDE.PULL d e", "nil"},
        {0, "REDE.PUSH d 100000 payload e", "+OK"},
        {0, "REDE.PULL d other", "nil"},
        {0, "REDE.LOOK d other", "nil"},
        {0, "REDE.PULL d e", "\"payload\""},
        {0, "REDE.PULL d e", "nil"},
    };
    PLAY(steps);
}

TEST(rede_push_of_an_id_that_is_there_is_an_error)
{
    static const struct rede_step steps[] = {
        {0, "REDE.PUSH d 1000 one e", "+OK"},
        {0, "REDE.PUSH d 1000 two e", "!ERROR: Element already dehydrating."},
        {0, "REDE.PUSH d x two e", "!ERROR: Element already dehydrating."},
        {5, "REDE.PUSH d 1000 two e", "!ERROR: Element already dehydrating."},
        {5, "REDE.LOOK d e", "\"one\""},
        {5, "REDE.POLL d", "[\"one\"]"},
        {5, "REDE.PUSH d 1000 two e", "+OK"},
    };
    PLAY(steps);
}

TEST(rede_push_of_a_bad_ttl_is_an_error_and_leaves_no_key)
{
    static const struct rede_step steps[] = {
        {0, "REDE.PUSH d x one e", "!" NOT_MS("ttl", "0", "x")},
        {0, "REDE.PUSH d -1 one e", "!" NOT_MS("ttl", "0", "-1")},
        {0, "REDE.GIDPUSH d 1.5 one", "!" NOT_MS("ttl", "0", "1.5")},
        {0, "REDE.TTN d", "nil"},
        {0, "REDE.PUSH d 4294968296 far e", "+OK"},
        {0, "REDE.PUSH d 1000 near f", "+OK"},
        {0, "REDE.TTN d", "1000"},
        {1, "REDE.POLL d", "[\"near\"]"},
        {1, "REDE.TTN d", "4294967296"},
    };
    PLAY(steps);
}

TEST(rede_push_of_no_ttl_is_due_at_once)
{
    static const struct rede_step steps[] = {
        {0, "REDE.PUSH d 0 now e", "+OK"},
        {0, "REDE.TTN d", "0"},
        {0, "REDE.POLL d", "[\"now\"]"},
    };
    PLAY(steps);
}

TEST(rede_commands_reject_long_ids_and_elements)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "REDE.PUSH d 10 one e", "+OK");
    command_limits.max_payload = 3;
    REPLIES(fake, "REDE.UPDATE d e four",
            "!ERR payload of 4 bytes exceeds lawn.max-payload of 3 bytes");
    REPLIES(fake, "REDE.GIDPUSH d 10 four",
            "!ERR payload of 4 bytes exceeds lawn.max-payload of 3 bytes");
    command_limits.max_payload = 1048576;
    scene_end(fake);
}

TEST(rede_poll_takes_due_elements_second_by_second)
{
    static const struct rede_step steps[] = {
        {0, "REDE.POLL d", "[]"},
        {0, "REDE.PUSH d 1000 element_1 e1", "+OK"},
        {0, "REDE.PUSH d 4000 element_4 e4", "+OK"},
        {0, "REDE.PUSH d 7000 element_7 e7", "+OK"},
        {0, "REDE.PUSH d 3000 element_3a e3a", "+OK"},
        {0, "REDE.PULL d e7", "\"element_7\""},
        {0, "REDE.POLL d", "[]"},
        {1, "REDE.PUSH d 3000 element_3b e3b", "+OK"},
        {1, "REDE.POLL d", "[\"element_1\"]"},
        {3, "REDE.POLL d", "[\"element_3a\"]"},
        {5, "REDE.POLL d", "[\"element_4\", \"element_3b\"]"},
        {11, "REDE.POLL d", "[]"},
    };
    PLAY(steps);
}

TEST(rede_poll_and_xpoll_have_a_limit)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.MPUSH k DELAY 0 3 a x b y c z", "3");
    command_limits.max_batch = 2;
    REPLIES(fake, "REDE.XPOLL k", "[\"a\", \"b\"]");
    REPLIES(fake, "REDE.POLL k COUNT 3", "[\"x\", \"y\"]");
    REPLIES(fake, "REDE.POLL k", "[\"z\"]");
    scene_end(fake);
}

TEST(rede_xack_counts_the_taken_elements)
{
    struct fake *fake = scene_begin();
    uint64_t fired = command_totals.fired;

    REPLIES(fake, "LAWN.MPUSH k DELAY 0 2 a x b y", "2");
    REPLIES(fake, "REDE.XACK k a zz", "[\"x\", nil]");
    CHECK_EQ(command_totals.fired, fired + 1);
    scene_end(fake);
}

TEST(rede_poll_and_xpoll_take_a_count)
{
    static const struct rede_step steps[] = {
        {0, "REDE.PUSH d 3 c ec", "+OK"},
        {0, "REDE.PUSH d 1 a ea", "+OK"},
        {0, "REDE.PUSH d 2 b eb", "+OK"},
        {1, "REDE.XPOLL d COUNT 2", "[\"ea\", \"eb\"]"},
        {1, "REDE.POLL d COUNT 1", "[\"a\"]"},
        {1, "REDE.XPOLL d", "[\"eb\", \"ec\"]"},
        {1, "REDE.POLL d count 9", "[\"b\", \"c\"]"},
        {1, "REDE.POLL d COUNT 0", "!" NOT_IN("COUNT", "1 to 2^63 - 1", "0")},
        {1, "REDE.XPOLL d COUNT x", "!" NOT_IN("COUNT", "1 to 2^63 - 1", "x")},
        {1, "REDE.POLL d SOME 1", "!ERR syntax error near 'SOME'"},
        {1, "REDE.POLL d COUNT 1 x", "!ERR syntax error near 'x'"},
    };
    PLAY(steps);
}

TEST(rede_ttn_counts_down_to_the_next_element)
{
    static const struct rede_step steps[] = {
        {0, "REDE.TTN d", "nil"},
        {0, "REDE.PUSH d 3000 payload e", "+OK"},
        {0, "REDE.TTN d", "3000"},
        {2, "REDE.TTN d", "1000"},
        {3, "REDE.TTN d", "0"},
        {4, "REDE.TTN d", "0"},
        {4, "REDE.POLL d", "[\"payload\"]"},
        {4, "REDE.TTN d", "nil"},
    };
    PLAY(steps);
}

TEST(rede_update_keeps_the_time_and_returns_the_element_before)
{
    static const struct rede_step steps[] = {
        {0, "REDE.UPDATE d e text", "!ERROR: No Such dehydrator."},
        {0, "REDE.PUSH d 1000 'some payload' e", "+OK"},
        {0, "REDE.UPDATE d f text", "!ERROR: No Such Element."},
        {0.5, "REDE.UPDATE d e 'some OTHER payload'", "\"some payload\""},
        {0.5, "REDE.LOOK d e", "\"some OTHER payload\""},
        {0.5, "REDE.TTN d", "500"},
        {1, "REDE.PULL d e", "\"some OTHER payload\""},
        {1, "REDE.UPDATE d e text", "!ERROR: No Such dehydrator."},
    };
    PLAY(steps);
}

TEST(rede_xpoll_leaves_due_elements_until_xack)
{
    static const struct rede_step steps[] = {
        {0, "REDE.XPOLL d", "[]"},
        {0, "REDE.XACK d e1", "[]"},
        {0, "REDE.PUSH d 1000 element_1 e1", "+OK"},
        {0, "REDE.PUSH d 4000 element_4 e4", "+OK"},
        {0, "REDE.PUSH d 3000 element_3a e3a", "+OK"},
        {0, "REDE.XPOLL d", "[]"},
        {1, "REDE.XPOLL d", "[\"e1\"]"},
        {3, "REDE.XPOLL d", "[\"e1\", \"e3a\"]"},
        {3, "REDE.XACK d e1 missing e3a e4 e1",
         "[\"element_1\", nil, \"element_3a\", nil, nil]"},
        {3, "REDE.XPOLL d", "[]"},
        {4, "REDE.XACK d e4", "[\"element_4\"]"},
        {4, "REDE.XACK d e4", "[]"},
    };
    PLAY(steps);
}

TEST(rede_xack_of_one_that_repeats_leaves_it_there)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PUSH d a x DELAY 10 EVERY 10 TIMES 2", "\"a\"");
    REPLIES(fake, "LAWN.PUSH d b y DELAY 10", "\"b\"");
    fake->now = 1035;
    REPLIES(fake, "REDE.XACK d a b a", "[\"x\", \"y\", nil]");
    REPLICATED(fake, "DEL b; AT a 1040 10 e10 t1 m2");
    NOTED(fake, "lawn.poll");
    fake->now = 1040;
    REPLIES(fake, "REDE.XACK d a", "[\"x\"]");
    REPLICATED(fake, "DEL a");
    CHECK(fake_queue(fake, "d") == NULL);
    scene_end(fake);
}

TEST(rede_commands_respect_pauses_and_limits)
{
    static const struct rede_step steps[] = {
        {0, "LAWN.CONFIG d SET maxlen 1", "+OK"},
        {0, "REDE.PUSH d 1000 one e", "+OK"},
        {0, "REDE.PUSH d 1000 two f",
         "!FULL the key holds 1 events; its maxlen is 1"},
        {0, "REDE.GIDPUSH d 1000 two",
         "!FULL the key holds 1 events; its maxlen is 1"},
        {0, "LAWN.PAUSE d", "+OK"},
        {2, "REDE.POLL d", "[]"},
        {2, "REDE.XPOLL d", "[]"},
        {2, "REDE.XACK d e", "[nil]"},
        {2, "LAWN.RESUME d", "+OK"},
        {2, "REDE.XPOLL d", "[\"e\"]"},
        {2, "REDE.POLL d", "[\"one\"]"},
        {2, "REDE.TTN d", "-1"},
    };
    PLAY(steps);
}

TEST(rede_gidpush_makes_ids_of_31_letters_each_another)
{
    struct fake *fake = scene_begin();
    char before[64] = "";

    for (int i = 0; i < 50; i++) {
        const char *id = fake_run(fake, "REDE.GIDPUSH d 1000 x");
        CHECK_EQ(strlen(id), 33);
        CHECK_EQ(strspn(id + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"), 31);
        CHECK(strcmp(id, before) != 0);
        CHECK(strstr(fake->replicated.at, " x 2000 1000 ''") != NULL);
        (void)snprintf(before, sizeof(before), "%s", id);
    }
    REPLIES(fake, "LAWN.LEN d", "50");
    /* The random numbers repeat, but no id does. */
    fake->random = 0;
    CHECK(fake_run(fake, "REDE.GIDPUSH d 1000 x")[0] == '"');
    REPLIES(fake, "LAWN.LEN d", "51");
    scene_end(fake);
}

TEST(rede_test_passes)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "REDE.TEST", "+PASS");
    for (fake->memory = 0; fake->memory < 4; fake->memory++) {
        CHECK_TEXT(fake_run(fake, "REDE.TEST"), "!ERR self-check failed");
    }
    scene_end(fake);
}

TEST(rede_print_shows_a_key_in_one_line)
{
    struct fake *fake = scene_begin();
    struct bytes args[] = {bytes_of("REDE.PUSH"),
                           bytes_of("d"),
                           bytes_of("100"),
                           {"a\r\nb", 4},
                           bytes_of("e")};

    REPLIES(fake, "REDE.PRINT d", "nil");
    (void)fake_call(fake, args, 5);
    REPLIES(fake, "REDE.PRINT d",
            "+(elements=1) head->[id=e,elem=a??b,ttl=100,exp=1100]");
    CHECK_EQ(scene_starve(fake, "REDE.PRINT d"), 1);
    for (int i = 0; i < 1100; i++) {
        (void)fake_run(fake, "REDE.GIDPUSH d 1000 x");
    }
    (void)fake_run(fake, "REDE.PRINT d");
    CHECK(strncmp(fake->reply.at, "+(elements=1101) head->", 23) == 0);
    CHECK(strcmp(fake->reply.at + fake->reply.size - 5, "->...") == 0);
    size_t events = 0;
    for (const char *at = fake->reply.at; (at = strstr(at, "->[")) != NULL;
         at++) {
        events++;
    }
    CHECK_EQ(events, 1000);
    scene_end(fake);
}
