/* args_words.c - tests of module/args.h: numbers, options and errors of
 * commands. */
#include "args.h"

#include "kit.h"
#include "ranges.h"

#include <stdio.h>
#include <stdlib.h>

#define ARGS_WORDS_MAX 16
#define ARGS_2_53 "9007199254740992"

/* The words of a text, each copied to a block of exactly its size, so that
 * reading past the end is detected. "-" is taken literally; "''" is an empty
 * word. */
struct args_given {
    struct bytes words[ARGS_WORDS_MAX];
    size_t count;
};

static struct args_given
args_split(const char *text)
{
    struct args_given given = {.count = 0};
    while (*text != '\0') {
        size_t size = strcspn(text, " ");
        bool empty = size == 2 && memcmp(text, "''", 2) == 0;
        char *copy = malloc(size > 0 ? size : 1);
        CHECK(copy != NULL && given.count < ARGS_WORDS_MAX);
        memcpy(copy, text, size);
        given.words[given.count++] = (struct bytes){copy, empty ? 0 : size};
        text += size;
        text += *text == ' ';
    }
    return given;
}

static void
args_drop(struct args_given *given)
{
    for (size_t i = 0; i < given->count; i++) {
        void *copy = NULL;
        memcpy(&copy, &given->words[i].at, sizeof(copy));
        free(copy);
    }
}

static void
args_same(const char *text, const char *error, const char *expected)
{
    if ((error == NULL) != (expected == NULL) ||
        (error != NULL && strcmp(error, expected) != 0)) {
        kit_fail(__FILE__, __LINE__, "\"%s\" is %s, expected %s", text,
                 error == NULL ? "fine" : error,
                 expected == NULL ? "fine" : expected);
    }
}

#define ARGS_NEAR(word) ARGS_SYNTAX " near '" word "'"
#define ARGS_MISSING(word) ARGS_SYNTAX ": missing argument of '" word "'"
#define ARGS_NO_TIME ARGS_SYNTAX ": missing DELAY or AT"
#define ARGS_PAIRS ARGS_SYNTAX ": count is not the number of pairs"

TEST(args_a_number_is_decimal_and_within_bounds)
{
    static const struct {
        const char *word;
        bool good;
        uint64_t value;
    } numbers[] = {
        {"0", true, 0},
        {"7", true, 7},
        {"1234567890", true, 1234567890},
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", false, 0},
        {"28446744073709551615", false, 0},
        {"184467440737095516150", false, 0},
        {"99999999999999999999999999999999999999999999", false, 0},
        {"", false, 0},
        {"00", false, 0},
        {"07", false, 0},
        {"+7", false, 0},
        {"-7", false, 0},
        {"-0", false, 0},
        {" 7", false, 0},
        {"7 ", false, 0},
        {"7.0", false, 0},
        {"1e3", false, 0},
        {"0x7", false, 0},
        {"7:", false, 0},
        {"7/", false, 0},
        {"7\n", false, 0},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        uint64_t value = 42;
        struct bytes word = bytes_of(numbers[i].word);
        CHECK_EQ(args_parse_number(word, 0, UINT64_MAX, &value),
                 numbers[i].good);
        CHECK_EQ(value, numbers[i].good ? numbers[i].value : 42);
    }
    uint64_t value = 42;
    CHECK(!args_parse_number((struct bytes){"7\0", 2}, 0, 9, &value));
    CHECK(!args_parse_number((struct bytes){NULL, 0}, 0, 9, &value));
    CHECK(!args_parse_number(bytes_of("4"), 5, 9, &value));
    CHECK(!args_parse_number(bytes_of("10"), 5, 9, &value));
    CHECK_EQ(value, 42);
    CHECK(args_parse_number(bytes_of("5"), 5, 9, &value) && value == 5);
    CHECK(args_parse_number(bytes_of("9"), 5, 9, &value) && value == 9);
    /* It does not read beyond the size. */
    CHECK(args_parse_number((struct bytes){"99", 1}, 5, 9, &value) &&
          value == 9);
}

TEST(args_a_signed_number_may_be_below_zero)
{
    int64_t value = 42;
    CHECK(args_parse_signed(bytes_of("-5"), 5, &value) && value == -5);
    CHECK(args_parse_signed(bytes_of("5"), 5, &value) && value == 5);
    CHECK(args_parse_signed(bytes_of("0"), 5, &value) && value == 0);
    CHECK(
        args_parse_signed(bytes_of("-9223372036854775807"), INT64_MAX, &value));
    CHECK(value == -INT64_MAX);
    value = 42;
    CHECK(!args_parse_signed(bytes_of("-6"), 5, &value));
    CHECK(!args_parse_signed(bytes_of("6"), 5, &value));
    CHECK(!args_parse_signed(bytes_of("-0"), 5, &value));
    CHECK(!args_parse_signed(bytes_of("--1"), 5, &value));
    CHECK(!args_parse_signed((struct bytes){NULL, 0}, 5, &value));
    CHECK(!args_parse_signed(bytes_of("-"), 5, &value));
    CHECK(!args_parse_signed(bytes_of(""), 5, &value));
    CHECK(!args_parse_signed(bytes_of("+1"), 5, &value));
    CHECK(
        !args_parse_signed(bytes_of("9223372036854775808"), INT64_MAX, &value));
    CHECK(value == 42);
}

TEST(args_a_word_is_known_in_any_case_of_letters)
{
    CHECK(args_is(bytes_of("DELAY"), "DELAY"));
    CHECK(args_is(bytes_of("delay"), "DELAY"));
    CHECK(args_is(bytes_of("dElAy"), "DELAY"));
    CHECK(args_is(bytes_of("Drop-Oldest"), "DROP-OLDEST"));
    CHECK(args_is(bytes_of("az"), "AZ"));
    CHECK(!args_is(bytes_of("DELA"), "DELAY"));
    CHECK(!args_is(bytes_of("DELAYS"), "DELAY"));
    CHECK(!args_is((struct bytes){"DELAY", 6}, "DELAY"));
    CHECK(!args_is((struct bytes){NULL, 0}, "DELAY"));
    CHECK(!args_is(bytes_of("DROP\rOLDEST"), "DROP-OLDEST"));
    CHECK(!args_is(bytes_of("{ELAY"), "[ELAY"));
    CHECK(!args_is(bytes_of("`T"), "@T"));
}

static const struct {
    const char *text;
    const char *error;
    struct args_push push;
} args_pushes[] = {
    {"DELAY 5", NULL, {.time = {ARGS_DELAY, 5, 0}}},
    {"at 5", NULL, {.time = {ARGS_AT, 5, 0}}},
    {"DELAY 0", NULL, {.time = {ARGS_DELAY, 0, 0}}},
    {"AT 0", NULL, {.time = {ARGS_AT, 0, 0}}},
    {"DELAY " ARGS_2_53, NULL, {.time = {ARGS_DELAY, QUEUE_TIME_MAX, 0}}},
    {"nx DELAY 5", NULL, {.time = {ARGS_DELAY, 5, 0}, .absent = true}},
    {"AT 5 XX", NULL, {.time = {ARGS_AT, 5, 0}, .present = true}},
    {"EVERY 7 AT 5", NULL, {.time = {ARGS_AT, 5, 0}, .repeat = {7, 0, 0}}},
    {"times 3 Jitter 9 AT 5 NX EVERY 7",
     NULL,
     {.time = {ARGS_AT, 5, 0},
      .absent = true,
      .repeat = {7, 3, 0},
      .jitter = 9}},
    {"DELAY 5 EVERY " ARGS_2_53 " TIMES " ARGS_2_53 " JITTER " ARGS_2_53,
     NULL,
     {.time = {ARGS_DELAY, 5, 0},
      .repeat = {QUEUE_TIME_MAX, QUEUE_TIME_MAX, 0},
      .jitter = QUEUE_TIME_MAX}},
    {"DELAY 5 JITTER 0", NULL, {.time = {ARGS_DELAY, 5, 0}}},
    {"TRIES 3 DELAY 5", NULL, {.time = {ARGS_DELAY, 5, 0}, .tries = 3}},
    {"DELAY 5 tries 4294967295",
     NULL,
     {.time = {ARGS_DELAY, 5, 0}, .tries = UINT32_MAX}},
    {"DELAY 5 TRIES 0", NULL, {.time = {ARGS_DELAY, 5, 0}}},
    {"DELAY 5 TRIES", ARGS_MISSING("TRIES"), {.jitter = 0}},
    {"DELAY 5 TRIES 3 TRIES 3", ARGS_NEAR("TRIES"), {.jitter = 0}},
    {"DELAY 5 TRIES 4294967296",
     NOT_IN("TRIES", "0 to 2^32 - 1", "4294967296"),
     {.jitter = 0}},
    {"DELAY 5 TRIES -1", NOT_IN("TRIES", "0 to 2^32 - 1", "-1"), {.jitter = 0}},
    {"", ARGS_NO_TIME, {.jitter = 0}},
    {"NX", ARGS_NO_TIME, {.jitter = 0}},
    {"DELAY", ARGS_MISSING("DELAY"), {.jitter = 0}},
    {"DELAY 5 AT", ARGS_NEAR("AT"), {.jitter = 0}},
    {"DELAY 5 AT 5", ARGS_NEAR("AT"), {.jitter = 0}},
    {"DELAY 5 DELAY 5", ARGS_NEAR("DELAY"), {.jitter = 0}},
    {"DELAY 5 NX NX", ARGS_NEAR("NX"), {.jitter = 0}},
    {"DELAY 5 NX XX",
     ARGS_SYNTAX ": NX and XX exclude each other",
     {.jitter = 0}},
    {"DELAY 5 TIMES 3", ARGS_SYNTAX ": TIMES requires EVERY", {.jitter = 0}},
    {"DELAY 5 EVERY", ARGS_MISSING("EVERY"), {.jitter = 0}},
    {"DELAY 5 EVERY 3 EVERY 3", ARGS_NEAR("EVERY"), {.jitter = 0}},
    {"DELAY 5 EVERY 3 TIMES 2 TIMES 2", ARGS_NEAR("TIMES"), {.jitter = 0}},
    {"DELAY 5 JITTER 3 JITTER 3", ARGS_NEAR("JITTER"), {.jitter = 0}},
    {"DELAY 5 BY 3", ARGS_NEAR("BY"), {.jitter = 0}},
    {"BY 3", ARGS_NEAR("BY"), {.jitter = 0}},
    {"DELAY 5 ''", ARGS_NEAR(""), {.jitter = 0}},
    {"delay 5 every", ARGS_MISSING("every"), {.jitter = 0}},
    {"DELAY 5 a'b\r\n\xff", ARGS_NEAR("a?b???"), {.jitter = 0}},
    {"DELAY 5 NXX", ARGS_NEAR("NXX"), {.jitter = 0}},
    {"DELAY x", NOT_MS("DELAY", "0", "x"), {.jitter = 0}},
    {"DELAY ''", NOT_MS("DELAY", "0", ""), {.jitter = 0}},
    {"DELAY -1", NOT_MS("DELAY", "0", "-1"), {.jitter = 0}},
    {"DELAY 9007199254740993",
     NOT_MS("DELAY", "0", "9007199254740993"),
     {.jitter = 0}},
    {"AT x", NOT_AT("x"), {.jitter = 0}},
    {"AT 9007199254740993", NOT_AT("9007199254740993"), {.jitter = 0}},
    {"DELAY 5 EVERY 0", NOT_MS("EVERY", "1", "0"), {.jitter = 0}},
    {"DELAY 5 EVERY 9007199254740993",
     NOT_MS("EVERY", "1", "9007199254740993"),
     {.jitter = 0}},
    {"DELAY 5 EVERY 1 TIMES 0",
     NOT_IN("TIMES", "1 to 2^53", "0"),
     {.jitter = 0}},
    {"DELAY 5 TIMES x", NOT_IN("TIMES", "1 to 2^53", "x"), {.jitter = 0}},
    {"DELAY 5 JITTER -1", NOT_MS("JITTER", "0", "-1"), {.jitter = 0}},
};

TEST(args_push_reads_its_options_in_any_order)
{
    for (size_t i = 0; i < sizeof(args_pushes) / sizeof(args_pushes[0]); i++) {
        struct args_given given = args_split(args_pushes[i].text);
        struct args_push got;
        const char *error = args_parse_push(given.words, given.count, &got);
        const struct args_push *push = &args_pushes[i].push;
        args_same(args_pushes[i].text, error, args_pushes[i].error);
        if (error == NULL) {
            CHECK_EQ(got.time.how, push->time.how);
            CHECK_EQ(got.time.ms, push->time.ms);
            CHECK_EQ(got.absent, push->absent);
            CHECK_EQ(got.present, push->present);
            CHECK_EQ(got.repeat.period, push->repeat.period);
            CHECK_EQ(got.repeat.times, push->repeat.times);
            CHECK_EQ(got.repeat.missed, 0);
            CHECK_EQ(got.jitter, push->jitter);
            CHECK_EQ(got.tries, push->tries);
        }
        args_drop(&given);
    }
}

TEST(args_a_syntax_error_quotes_the_beginning_of_a_long_word)
{
    char word[ARGS_QUOTE_MAX + 1];
    char expected[ARGS_QUOTE_MAX + 64];

    memset(word, 'w', sizeof(word));
    (void)snprintf(expected, sizeof(expected), ARGS_SYNTAX " near '%.*s'",
                   (int)ARGS_QUOTE_MAX, word);
    args_same("64 bytes",
              args_syntax_near((struct bytes){word, ARGS_QUOTE_MAX}), expected);
    (void)snprintf(expected, sizeof(expected), ARGS_SYNTAX " near '%.*s...'",
                   (int)ARGS_QUOTE_MAX, word);
    args_same("65 bytes", args_syntax_near((struct bytes){word, sizeof(word)}),
              expected);
    (void)snprintf(expected, sizeof(expected),
                   ARGS_SYNTAX ": missing token of '%.*s...'",
                   (int)ARGS_QUOTE_MAX, word);
    args_same("65 bytes",
              args_syntax_missing("token", (struct bytes){word, sizeof(word)}),
              expected);
    args_same("no bytes", args_syntax_near((struct bytes){NULL, 0}),
              ARGS_NEAR(""));
}

TEST(args_mpush_wants_as_many_pairs_as_its_count)
{
    static const struct {
        const char *text;
        const char *error;
        uint64_t ms;
        size_t count;
    } cases[] = {
        {"DELAY 5 1 a b", NULL, 5, 1},
        {"at 7 2 a b c d", NULL, 7, 2},
        {"DELAY 5 1 '' ''", NULL, 5, 1},
        {"DELAY 5 2 a b", ARGS_PAIRS, 0, 0},
        {"DELAY 5 1 a b c d", ARGS_PAIRS, 0, 0},
        {"DELAY 5 1 a b c", ARGS_PAIRS, 0, 0},
        {"DELAY 5 1 a", ARGS_PAIRS, 0, 0},
        {"DELAY 5 1", ARGS_PAIRS, 0, 0},
        {"DELAY 5", ARGS_SYNTAX ": missing count of pairs", 0, 0},
        {"DELAY", ARGS_MISSING("DELAY"), 0, 0},
        {"", ARGS_NO_TIME, 0, 0},
        {"BY 5 1 a b", ARGS_NEAR("BY"), 0, 0},
        {"1 a b DELAY 5", ARGS_NEAR("1"), 0, 0},
        {"DELAY 5 0", NOT_IN("count", "1 to 2^63 - 1", "0"), 0, 0},
        {"DELAY 5 x a b", NOT_IN("count", "1 to 2^63 - 1", "x"), 0, 0},
        {"DELAY 5 9223372036854775807 a b", ARGS_PAIRS, 0, 0},
        {"DELAY 5 9223372036854775808 a b",
         NOT_IN("count", "1 to 2^63 - 1", "9223372036854775808"), 0, 0},
        {"DELAY x 1 a b", NOT_MS("DELAY", "0", "x"), 0, 0},
        {"AT x 1 a b", NOT_AT("x"), 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct args_given given = args_split(cases[i].text);
        struct args_mpush got;
        const char *error = args_parse_mpush(given.words, given.count, &got);
        args_same(cases[i].text, error, cases[i].error);
        if (error == NULL) {
            CHECK_EQ(got.time.ms, cases[i].ms);
            CHECK_EQ(got.count, cases[i].count);
            CHECK(got.pairs == given.words + 3);
        }
        args_drop(&given);
    }
}

TEST(args_touch_reads_a_time_or_a_shift)
{
    static const struct {
        const char *text;
        const char *error;
        struct args_touch touch;
    } cases[] = {
        {"DELAY 5", NULL, {{ARGS_DELAY, 5, 0}, false, false}},
        {"AT 5 gt", NULL, {{ARGS_AT, 5, 0}, true, false}},
        {"LT by -5", NULL, {{ARGS_BY, 0, -5}, false, true}},
        {"BY 5", NULL, {{ARGS_BY, 0, 5}, false, false}},
        {"BY -" ARGS_2_53,
         NULL,
         {{ARGS_BY, 0, -(int64_t)QUEUE_TIME_MAX}, false, false}},
        {"BY -9007199254740993",
         NOT_MS("BY", "-2^53", "-9007199254740993"),
         {{0}, false, false}},
        {"BY x", NOT_MS("BY", "-2^53", "x"), {{0}, false, false}},
        {"DELAY -1", NOT_MS("DELAY", "0", "-1"), {{0}, false, false}},
        {"AT -1", NOT_AT("-1"), {{0}, false, false}},
        {"", ARGS_SYNTAX ": missing DELAY, AT or BY", {{0}, false, false}},
        {"GT", ARGS_SYNTAX ": missing DELAY, AT or BY", {{0}, false, false}},
        {"BY", ARGS_MISSING("BY"), {{0}, false, false}},
        {"BY 1 BY 1", ARGS_NEAR("BY"), {{0}, false, false}},
        {"BY 1 AT 1", ARGS_NEAR("AT"), {{0}, false, false}},
        {"AT 1 GT LT",
         ARGS_SYNTAX ": GT and LT exclude each other",
         {{0}, false, false}},
        {"AT 1 GT GT", ARGS_NEAR("GT"), {{0}, false, false}},
        {"AT 1 NX", ARGS_NEAR("NX"), {{0}, false, false}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct args_given given = args_split(cases[i].text);
        struct args_touch got;
        const char *error = args_parse_touch(given.words, given.count, &got);
        args_same(cases[i].text, error, cases[i].error);
        if (error == NULL) {
            CHECK_EQ(got.time.how, cases[i].touch.time.how);
            CHECK_EQ(got.time.ms, cases[i].touch.time.ms);
            CHECK_EQ(got.time.by, cases[i].touch.time.by);
            CHECK_EQ(got.later, cases[i].touch.later);
            CHECK_EQ(got.earlier, cases[i].touch.earlier);
        }
        args_drop(&given);
    }
}

TEST(args_poll_takes_a_hundred_by_default)
{
    static const struct {
        const char *text;
        const char *error;
        struct args_poll poll;
    } cases[] = {
        {"", NULL, {100, false, 0, false}},
        {"count 1", NULL, {1, false, 0, false}},
        {"COUNT 9223372036854775807", NULL, {INT64_MAX, false, 0, false}},
        {"meta BLOCK 0 COUNT 7", NULL, {7, true, 0, true}},
        {"BLOCK " ARGS_2_53, NULL, {100, true, QUEUE_TIME_MAX, false}},
        {"BLOCK 9007199254740993",
         NOT_MS("BLOCK", "0", "9007199254740993"),
         {0}},
        {"BLOCK -1", NOT_MS("BLOCK", "0", "-1"), {0}},
        {"COUNT 0", NOT_IN("COUNT", "1 to 2^63 - 1", "0"), {0}},
        {"COUNT x", NOT_IN("COUNT", "1 to 2^63 - 1", "x"), {0}},
        {"COUNT", ARGS_MISSING("COUNT"), {0}},
        {"BLOCK", ARGS_MISSING("BLOCK"), {0}},
        {"COUNT 1 COUNT 1", ARGS_NEAR("COUNT"), {0}},
        {"BLOCK 1 BLOCK 1", ARGS_NEAR("BLOCK"), {0}},
        {"META META", ARGS_NEAR("META"), {0}},
        {"METAL", ARGS_NEAR("METAL"), {0}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct args_given given = args_split(cases[i].text);
        struct args_poll got;
        const char *error = args_parse_poll(given.words, given.count, &got);
        args_same(cases[i].text, error, cases[i].error);
        if (error == NULL) {
            CHECK_EQ(got.count, cases[i].poll.count);
            CHECK_EQ(got.block, cases[i].poll.block);
            CHECK_EQ(got.timeout, cases[i].poll.timeout);
            CHECK_EQ(got.meta, cases[i].poll.meta);
        }
        args_drop(&given);
    }
}

TEST(args_lease_takes_one_by_default)
{
    static const struct {
        const char *text;
        const char *error;
        struct args_lease lease;
    } cases[] = {
        {"", NULL, {0, 1, false, 0}},
        {"lease 1", NULL, {1, 1, false, 0}},
        {"BLOCK 0 COUNT 7 LEASE " ARGS_2_53,
         NULL,
         {QUEUE_TIME_MAX, 7, true, 0}},
        {"BLOCK " ARGS_2_53, NULL, {0, 1, true, QUEUE_TIME_MAX}},
        {"LEASE 0", NOT_MS("LEASE", "1", "0"), {0}},
        {"LEASE x", NOT_MS("LEASE", "1", "x"), {0}},
        {"LEASE 9007199254740993",
         NOT_MS("LEASE", "1", "9007199254740993"),
         {0}},
        {"COUNT 0", NOT_IN("COUNT", "1 to 2^63 - 1", "0"), {0}},
        {"BLOCK -1", NOT_MS("BLOCK", "0", "-1"), {0}},
        {"LEASE", ARGS_MISSING("LEASE"), {0}},
        {"LEASE 1 LEASE 1", ARGS_NEAR("LEASE"), {0}},
        {"COUNT 1 COUNT 1", ARGS_NEAR("COUNT"), {0}},
        {"BLOCK 1 BLOCK 1", ARGS_NEAR("BLOCK"), {0}},
        {"META", ARGS_NEAR("META"), {0}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct args_given given = args_split(cases[i].text);
        struct args_lease got;
        const char *error = args_parse_lease(given.words, given.count, &got);
        args_same(cases[i].text, error, cases[i].error);
        if (error == NULL) {
            CHECK_EQ(got.lease, cases[i].lease.lease);
            CHECK_EQ(got.count, cases[i].lease.count);
            CHECK_EQ(got.block, cases[i].lease.block);
            CHECK_EQ(got.timeout, cases[i].lease.timeout);
        }
        args_drop(&given);
    }
}

TEST(args_nack_and_extend_have_one_option_and_no_other)
{
    static const struct {
        const char *text;
        const char *nack;
        const char *extend;
        uint64_t ms;
    } cases[] = {
        {"", NULL, ARGS_SYNTAX ": missing LEASE", 0},
        {"delay 5", NULL, ARGS_NEAR("delay"), 5},
        {"DELAY 0", NULL, ARGS_NEAR("DELAY"), 0},
        {"lease 5", ARGS_NEAR("lease"), NULL, 5},
        {"LEASE " ARGS_2_53, ARGS_NEAR("LEASE"), NULL, QUEUE_TIME_MAX},
        {"DELAY", ARGS_MISSING("DELAY"), ARGS_NEAR("DELAY"), 0},
        {"LEASE", ARGS_NEAR("LEASE"), ARGS_MISSING("LEASE"), 0},
        {"DELAY 5 DELAY 5", ARGS_NEAR("DELAY"), ARGS_NEAR("DELAY"), 0},
        {"LEASE 5 LEASE 5", ARGS_NEAR("LEASE"), ARGS_NEAR("LEASE"), 0},
        {"DELAY -1", NOT_MS("DELAY", "0", "-1"), ARGS_NEAR("DELAY"), 0},
        {"DELAY 9007199254740993", NOT_MS("DELAY", "0", "9007199254740993"),
         ARGS_NEAR("DELAY"), 0},
        {"LEASE 0", ARGS_NEAR("LEASE"), NOT_MS("LEASE", "1", "0"), 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct args_given given = args_split(cases[i].text);
        struct args_time delay;
        args_same(cases[i].text,
                  args_parse_nack(given.words, given.count, &delay),
                  cases[i].nack);
        uint64_t lease = 0;
        args_same(cases[i].text,
                  args_parse_extend(given.words, given.count, &lease),
                  cases[i].extend);
        if (cases[i].nack == NULL) {
            CHECK(delay.how == ARGS_DELAY && delay.ms == cases[i].ms);
        }
        if (cases[i].extend == NULL) {
            CHECK_EQ(lease, cases[i].ms);
        }
        args_drop(&given);
    }
}

TEST(args_a_token_is_a_number_that_a_reply_can_hold)
{
    uint64_t token = 42;

    CHECK(args_parse_token(bytes_of("0"), &token) == NULL && token == 0);
    CHECK(args_parse_token(bytes_of("9223372036854775807"), &token) == NULL);
    CHECK_EQ(token, INT64_MAX);
    args_same("2^63", args_parse_token(bytes_of("9223372036854775808"), &token),
              NOT_IN("token", "0 to 2^63 - 1", "9223372036854775808"));
    args_same("x", args_parse_token(bytes_of("x"), &token),
              NOT_IN("token", "0 to 2^63 - 1", "x"));
    args_same("-1", args_parse_token(bytes_of("-1"), &token),
              NOT_IN("token", "0 to 2^63 - 1", "-1"));
}

TEST(args_scan_reads_a_cursor_and_options)
{
    static const struct {
        const char *text;
        const char *error;
        uint64_t cursor;
        uint64_t count;
        enum args_state state;
        const char *pattern;
    } cases[] = {
        {"0", NULL, 0, 10, ARGS_ANY, NULL},
        {"18446744073709551615", NULL, UINT64_MAX, 10, ARGS_ANY, NULL},
        {"7 count 3 state DUE match a*", NULL, 7, 3, ARGS_DUE, "a*"},
        {"7 MATCH MATCH", NULL, 7, 10, ARGS_ANY, "MATCH"},
        {"7 STATE waiting", NULL, 7, 10, ARGS_WAITING, NULL},
        {"7 STATE leased", NULL, 7, 10, ARGS_LEASED, NULL},
        {"7 STATE Dead", NULL, 7, 10, ARGS_DEAD, NULL},
        {"", ARGS_SYNTAX ": missing cursor", 0, 0, ARGS_ANY, NULL},
        {"x", "ERR invalid cursor", 0, 0, ARGS_ANY, NULL},
        {"-1", "ERR invalid cursor", 0, 0, ARGS_ANY, NULL},
        {"18446744073709551616", "ERR invalid cursor", 0, 0, ARGS_ANY, NULL},
        {"7 COUNT 0", NOT_IN("COUNT", "1 to 2^63 - 1", "0"), 0, 0, ARGS_ANY,
         NULL},
        {"7 COUNT", ARGS_MISSING("COUNT"), 0, 0, ARGS_ANY, NULL},
        {"7 STATE", ARGS_MISSING("STATE"), 0, 0, ARGS_ANY, NULL},
        {"7 STATE any", ARGS_NEAR("any"), 0, 0, ARGS_ANY, NULL},
        {"7 STATE due STATE due", ARGS_NEAR("STATE"), 0, 0, ARGS_ANY, NULL},
        {"7 MATCH", ARGS_MISSING("MATCH"), 0, 0, ARGS_ANY, NULL},
        {"7 MATCH a MATCH a", ARGS_NEAR("MATCH"), 0, 0, ARGS_ANY, NULL},
        {"7 8", ARGS_NEAR("8"), 0, 0, ARGS_ANY, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct args_given given = args_split(cases[i].text);
        struct args_scan got;
        const char *error = args_parse_scan(given.words, given.count, &got);
        args_same(cases[i].text, error, cases[i].error);
        if (error == NULL) {
            CHECK_EQ(got.cursor, cases[i].cursor);
            CHECK_EQ(got.count, cases[i].count);
            CHECK_EQ(got.state, cases[i].state);
            CHECK_EQ(got.match, cases[i].pattern != NULL);
            if (got.match) {
                CHECK(bytes_equal(got.pattern, bytes_of(cases[i].pattern)));
            }
        }
        args_drop(&given);
    }
}

TEST(args_single_options_accept_nothing_after_them)
{
    struct bytes words[] = {bytes_of("COUNT"),   bytes_of("5"),
                            bytes_of("meta"),    bytes_of("due"),
                            bytes_of("Waiting"), bytes_of("0")};
    uint64_t count = 42;

    CHECK(args_parse_count(words, 0, &count) == NULL && count == 42);
    args_same("COUNT", args_parse_count(words, 1, &count),
              ARGS_MISSING("COUNT"));
    CHECK(args_parse_count(words, 2, &count) == NULL && count == 5);
    args_same("COUNT 5 meta", args_parse_count(words, 3, &count),
              ARGS_NEAR("meta"));
    args_same("5 meta", args_parse_count(words + 1, 2, &count), ARGS_NEAR("5"));
    words[1] = words[5];
    args_same("COUNT 0", args_parse_count(words, 2, &count),
              NOT_IN("COUNT", "1 to 2^63 - 1", "0"));

    bool meta = false;
    CHECK(args_parse_with_meta(words, 0, &meta) == NULL && !meta);
    CHECK(args_parse_with_meta(words + 2, 1, &meta) == NULL && meta);
    args_same("COUNT", args_parse_with_meta(words, 1, &meta),
              ARGS_NEAR("COUNT"));
    args_same("meta due", args_parse_with_meta(words + 2, 2, &meta),
              ARGS_NEAR("due"));

    enum args_state state = ARGS_DEAD;
    CHECK(args_parse_state(words, 0, &state) == NULL && state == ARGS_ANY);
    CHECK(args_parse_state(words + 3, 1, &state) == NULL && state == ARGS_DUE);
    CHECK(args_parse_state(words + 4, 1, &state) == NULL &&
          state == ARGS_WAITING);
    args_same("meta", args_parse_state(words + 2, 1, &state),
              ARGS_NEAR("meta"));
    args_same("due Waiting", args_parse_state(words + 3, 2, &state),
              ARGS_NEAR("Waiting"));
}

TEST(args_a_bad_value_changes_no_setting)
{
    struct queue_settings set = {1, 2, QUEUE_DROP_OLDEST, 3, true, 4, 5};
    static const struct {
        const char *name;
        const char *value;
        enum args_setting result;
    } bad[] = {
        {"maxlen", "-1", ARGS_BAD},
        {"maxlen", "9223372036854775808", ARGS_BAD},
        {"maxbytes", "1mb", ARGS_BAD},
        {"overflow", "drop", ARGS_BAD},
        {"overflow", "", ARGS_BAD},
        {"resolution-ms", "86400001", ARGS_BAD},
        {"tries", "4294967296", ARGS_BAD},
        {"lease", "9007199254740993", ARGS_BAD},
        {"lease", "", ARGS_BAD},
        {"paused", "2", ARGS_BAD},
        {"paused", "yes", ARGS_BAD},
        {"", "1", ARGS_UNKNOWN},
        {"max-len", "1", ARGS_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK_EQ(args_parse_setting(bytes_of(bad[i].name),
                                    bytes_of(bad[i].value), true, &set),
                 bad[i].result);
        CHECK(set.max_events == 1 && set.max_bytes == 2 && set.paused &&
              set.overflow == QUEUE_DROP_OLDEST && set.resolution == 3 &&
              set.tries == 4 && set.lease == 5);
    }
}

TEST(args_a_good_value_changes_its_setting)
{
    struct queue_settings set = {1, 2, QUEUE_DROP_OLDEST, 3, true, 4, 5};
    CHECK_EQ(args_parse_setting(bytes_of("TRIES"), bytes_of("4294967295"),
                                false, &set),
             ARGS_SET);
    CHECK_EQ(
        args_parse_setting(bytes_of("lease"), bytes_of(ARGS_2_53), false, &set),
        ARGS_SET);
    CHECK(set.tries == UINT32_MAX && set.lease == QUEUE_TIME_MAX);
    CHECK_EQ(args_parse_setting(bytes_of("paused"), bytes_of("0"), false, &set),
             ARGS_UNKNOWN);
    CHECK(set.paused);
    CHECK_EQ(args_parse_setting(bytes_of("MaxLen"),
                                bytes_of("9223372036854775807"), false, &set),
             ARGS_SET);
    CHECK_EQ(
        args_parse_setting(bytes_of("maxbytes"), bytes_of("0"), false, &set),
        ARGS_SET);
    CHECK_EQ(args_parse_setting(bytes_of("overflow"), bytes_of("Reject"), false,
                                &set),
             ARGS_SET);
    CHECK_EQ(args_parse_setting(bytes_of("paused"), bytes_of("0"), true, &set),
             ARGS_SET);
    CHECK_EQ(args_parse_setting(bytes_of("resolution-ms"), bytes_of("86400000"),
                                false, &set),
             ARGS_SET);
    CHECK(set.max_events == INT64_MAX && set.max_bytes == 0 && !set.paused &&
          set.overflow == QUEUE_REJECT && set.resolution == 86400000);
    CHECK_EQ(args_parse_setting(bytes_of("resolution-ms"), bytes_of("1"), false,
                                &set),
             ARGS_SET);
    CHECK_EQ(set.resolution, 0);
    CHECK_EQ(args_parse_setting(bytes_of("overflow"), bytes_of("drop-oldest"),
                                false, &set),
             ARGS_SET);
    CHECK_EQ(set.overflow, QUEUE_DROP_OLDEST);
    set.resolution = 7;
    CHECK_EQ(args_parse_setting(bytes_of("resolution-ms"), bytes_of("0"), false,
                                &set),
             ARGS_SET);
    CHECK_EQ(args_parse_setting(bytes_of("maxlen"), bytes_of("0"), false, &set),
             ARGS_SET);
    CHECK_EQ(args_parse_setting(bytes_of("paused"), bytes_of("1"), true, &set),
             ARGS_SET);
    CHECK(set.resolution == 0 && set.max_events == 0 && set.paused);
}

TEST(args_meta_is_read_as_it_was_written)
{
    for (unsigned bits = 0; bits < 128; bits++) {
        for (int large = 0; large < 2; large++) {
            uint64_t number = large ? QUEUE_TIME_MAX : 1;
            struct args_meta event = {
                bits & 1,
                bits & 2,
                {bits & 4 ? number : 0, bits & 8 ? number : 0,
                 bits & 16 ? (large ? ARGS_COUNT_MAX : 1) : 0},
                {bits & 32 ? (large ? UINT32_MAX : 1) : 0,
                 bits & 64 ? (large ? UINT32_MAX : 1) : 0}};
            if (event.repeat.period == 0 && (bits & 24) != 0) {
                continue;
            }
            char text[ARGS_META_SIZE];
            size_t size = args_meta_write(&event, text);
            CHECK_EQ(size, strlen(text));
            CHECK(size < ARGS_META_SIZE);
            struct args_meta got;
            CHECK(args_meta_read((struct bytes){text, size}, &got));
            CHECK_EQ(got.alone, event.alone);
            CHECK_EQ(got.made, event.made);
            CHECK_EQ(got.repeat.period, event.repeat.period);
            CHECK_EQ(got.repeat.times, event.repeat.times);
            CHECK_EQ(got.repeat.missed, event.repeat.missed);
            CHECK_EQ(got.tries.made, event.tries.made);
            CHECK_EQ(got.tries.most, event.tries.most);
        }
    }
    struct args_meta all = {true, true, {5, 6, 7}, {8, 9}};
    char text[ARGS_META_SIZE];
    args_meta_write(&all, text);
    CHECK(strcmp(text, "a g e5 t6 m7 n8 k9") == 0);
    /* The largest numbers fit. */
    all.repeat = (struct queue_repeat){UINT64_MAX, UINT64_MAX, UINT64_MAX};
    all.tries = (struct queue_tries){UINT32_MAX, UINT32_MAX};
    CHECK_EQ(args_meta_write(&all, text), 3 + 3 * 22 + 2 * 12);
}

TEST(args_meta_that_makes_no_sense_is_refused)
{
    static const char *const bad[] = {
        " ",
        "x",
        "A",
        "a ",
        " a",
        "a  g",
        "aa",
        "a a",
        "g g",
        "g1",
        "ag",
        "e",
        "e0",
        "e-1",
        "e05",
        "e5 e5",
        "t5",
        "m5",
        "t5 m5",
        "e5 t0",
        "e5 m0",
        "e5 t",
        "e5\t",
        "e5 t6 t6",
        "e5 m1 m1",
        "e 5",
        "e5,t6",
        "e9007199254740993",
        "e1 t9007199254740993",
        "e1 m9223372036854775808",
        "n",
        "n0",
        "k0",
        "n1 n1",
        "k1 k1",
        "n4294967296",
        "k4294967296",
        "n1k1",
    };
    struct args_meta got;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (args_meta_read(bytes_of(bad[i]), &got)) {
            kit_fail(__FILE__, __LINE__, "\"%s\" was read", bad[i]);
        }
    }
    CHECK(!args_meta_read((struct bytes){"a\0", 2}, &got));
    CHECK(args_meta_read(bytes_of("k9 m7 t6 n8 e5 g a"), &got));
    CHECK_EQ(got.tries.made, 8);
    CHECK_EQ(got.tries.most, 9);
    CHECK(got.alone && got.made && got.repeat.period == 5 &&
          got.repeat.times == 6 && got.repeat.missed == 7);
    CHECK(args_meta_read((struct bytes){NULL, 0}, &got));
    CHECK(!got.alone && !got.made && got.repeat.period == 0);
}
