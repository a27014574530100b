/* ids_once.c - tests of generated ids: see module/ids.h.
 *
 * The last id is global to the program, so each test continues after the
 * previous one.
 */
#include "ids.h"

#include "kit.h"

#include <stdio.h>

/* The time of the last id, or an earlier one: later tests begin there. */
static uint64_t
ids_time(void)
{
    uint64_t ms = 0;
    uint64_t number = 0;
    ids_last(&ms, &number);
    return ms;
}

static bool
ids_next_is(uint64_t now, uint64_t ms, uint64_t number)
{
    char id[IDS_SIZE];
    char expected[IDS_SIZE];
    size_t size = ids_next(now, id);
    snprintf(expected, sizeof(expected), "%llu-%llu", (unsigned long long)ms,
             (unsigned long long)number);
    uint64_t last_ms = 0;
    uint64_t last_number = 0;
    ids_last(&last_ms, &last_number);
    return size == strlen(id) && strcmp(id, expected) == 0 && last_ms == ms &&
           last_number == number;
}

TEST(ids_count_within_a_millisecond)
{
    uint64_t ms = ids_time() + 1000;
    CHECK(ids_next_is(ms, ms, 0));
    CHECK(ids_next_is(ms, ms, 1));
    CHECK(ids_next_is(ms, ms, 2));
    CHECK(ids_next_is(ms + 1, ms + 1, 0));
}

TEST(ids_are_new_after_the_clock_was_set_back)
{
    uint64_t ms = ids_time() + 1000;
    CHECK(ids_next_is(ms, ms, 0));
    CHECK(ids_next_is(ms - 500, ms, 1));
    CHECK(ids_next_is(0, ms, 2));
    CHECK(ids_next_is(ms, ms, 3));
    CHECK(ids_next_is(ms + 7, ms + 7, 0));
}

TEST(ids_continue_after_the_last_one_seen)
{
    uint64_t ms = ids_time() + 1000;
    ids_seen(ms, 5);
    CHECK(ids_next_is(ms - 1, ms, 6));
    /* An older id has no effect. */
    ids_seen(ms - 1, 900);
    ids_seen(ms, 3);
    CHECK(ids_next_is(ms, ms, 7));
    ids_seen(ms, 7);
    CHECK(ids_next_is(ms, ms, 8));
    ids_seen(0, 0);
    CHECK(ids_next_is(ms, ms, 9));
    /* When the numbers of a millisecond are used up, the next millisecond is
     * used. */
    ids_seen(ms, IDS_NUMBER_MAX);
    CHECK(ids_next_is(ms, ms + 1, 0));
    CHECK(ids_next_is(ms, ms + 1, 1));
}

TEST(ids_do_not_accept_times_out_of_range)
{
    uint64_t ms = ids_time() + 1000;
    CHECK(ids_next_is(ms, ms, 0));
    ids_seen(IDS_MS_MAX + 1, 0);
    ids_seen(UINT64_MAX, UINT64_MAX);
    ids_seen(ms + 5, IDS_NUMBER_MAX + 1);
    CHECK(!ids_seen_text(bytes_of("9007199254740993-0")));
    CHECK(!ids_seen_text(bytes_of("5-9007199254740993")));
    CHECK(!ids_seen_text(bytes_of("18446744073709551615-0")));
    CHECK(ids_next_is(ms, ms, 1));
}

/* Whatever is seen, generated ids must be accepted by other servers. */
TEST(ids_that_are_made_are_believed)
{
    uint64_t now = ids_time() + 1000;

    for (int i = 0; i < 2; i++) {
        ids_seen(IDS_MS_MAX, IDS_NUMBER_MAX - 1);
        CHECK(ids_next_is(now, IDS_MS_MAX, IDS_NUMBER_MAX));
        CHECK(ids_next_is(now, now, 0));
        CHECK(ids_next_is(now, now, 1));
        now++;
    }
    ids_seen(now, IDS_NUMBER_MAX);
    CHECK(ids_next_is(UINT64_MAX, IDS_MS_MAX, 0));
    ids_seen(IDS_MS_MAX, IDS_NUMBER_MAX);
    CHECK(ids_next_is(now, now, 0));
}

TEST(ids_are_seen_by_their_text)
{
    static const char *const bad[] = {
        "",      "-",    "1",    "1-",   "-1",
        "1-1-1", "1--1", "01-1", "1-01", "1 -1",
        "1-1 ",  "a-1",  "1-a",  "+1-1", "1-18446744073709551616",
        "*",
    };
    uint64_t ms = ids_time() + 1000;
    CHECK(ids_next_is(ms, ms, 0));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK(!ids_seen_text(bytes_of(bad[i])));
    }
    CHECK(!ids_seen_text((struct bytes){NULL, 0}));
    CHECK(ids_next_is(ms, ms, 1));
    CHECK(ids_seen_text(bytes_of("0-0")));
    CHECK(ids_next_is(ms, ms, 2));
    char text[IDS_SIZE + 1];
    snprintf(text, sizeof(text), "%llu-41", (unsigned long long)ms + 3);
    CHECK(ids_seen_text(bytes_of(text)));
    CHECK(ids_next_is(ms, ms + 3, 42));
    char id[IDS_SIZE];
    /* Also its own; and it does not read beyond the size. */
    size_t size = ids_next(ms, id);
    CHECK(ids_seen_text((struct bytes){id, size}));
    memcpy(text, id, size);
    text[size] = '9';
    CHECK(ids_seen_text((struct bytes){text, size}));
    CHECK(ids_next_is(ms, ms + 3, 44));
}
