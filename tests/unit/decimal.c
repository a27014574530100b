/* decimal.c - parsing decimal numbers with src/base/decimal.h. */
#include "../../src/base/decimal.h"
#include "kit.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parses text. The text is copied to the end of a block of its size, so that
 * AddressSanitizer detects a read past the end. Returns the number of bytes
 * read. */
static size_t
read_text(const char *text, uint64_t max, uint64_t *value)
{
    size_t size = strlen(text);
    char *copy = malloc(size + 1);
    CHECK(copy != NULL);
    char *at = copy + 1;
    memcpy(at, text, size);
    *value = 12345; /* the previous value has no effect */
    size_t used = (size_t)(lawn__decimal_read(at, at + size, max, value) - at);
    free(copy);
    return used;
}

TEST(only_the_ten_decimal_digits_are_digits)
{
    for (int c = CHAR_MIN; c <= CHAR_MAX; c++) {
        bool expected = c != '\0' && strchr("0123456789", c) != NULL;
        CHECK_EQ(lawn__decimal_is_digit((char)c), expected);
    }
}

TEST(decimal_digits_are_read_up_to_another_byte_or_the_end)
{
    static const struct {
        const char *text;
        size_t used;
        uint64_t value;
    } cases[] = {
        {"", 0, 0},      {"x", 0, 0},
        {"-1", 0, 0},    {"+1", 0, 0},
        {" 1", 0, 0},    {"/", 0, 0},
        {":", 0, 0},     {"0", 1, 0},
        {"7", 1, 7},     {"007", 3, 7},
        {"10", 2, 10},   {"12x3", 2, 12},
        {"1.5", 1, 1},   {"0x10", 1, 0},
        {"9\xb2", 1, 9}, {"1234567890", 10, 1234567890},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t value = 0;
        CHECK_EQ(read_text(cases[i].text, UINT64_MAX, &value), cases[i].used);
        CHECK_EQ(value, cases[i].value);
    }
}

TEST(decimal_digits_are_not_read_past_the_largest_number)
{
    uint64_t value = 0;
    CHECK_EQ(read_text("18446744073709551615", UINT64_MAX, &value), 20);
    CHECK_EQ(value, UINT64_MAX);
    CHECK_EQ(read_text("18446744073709551616", UINT64_MAX, &value), 19);
    CHECK_EQ(value, UINT64_C(1844674407370955161));
    CHECK_EQ(read_text("184467440737095516150", UINT64_MAX, &value), 20);
    CHECK_EQ(value, UINT64_MAX);
    CHECK_EQ(read_text("99999999999999999999", UINT64_MAX, &value), 19);
    CHECK_EQ(value, UINT64_C(9999999999999999999));
    CHECK_EQ(read_text("0000000000000000000000018446744073709551615",
                       UINT64_MAX, &value),
             43);
    CHECK_EQ(value, UINT64_MAX);
}

/* All small maximums and numbers, and those around powers of two. */
TEST(decimal_digits_are_read_up_to_any_maximum)
{
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t base = (UINT64_C(1) << bit) - 1;
        for (uint64_t max = base; max < base + 25; max++) {
            for (uint64_t number = base; number < base + 25; number++) {
                char text[24];
                int size = snprintf(text, sizeof(text), "%" PRIu64, number);
                uint64_t value = 0;
                size_t used = read_text(text, max, &value);
                CHECK(value <= max);
                CHECK_EQ(used == (size_t)size, number <= max);
                CHECK_EQ(value == number, number <= max);
            }
        }
    }
}

TEST(a_digit_that_exceeds_the_maximum_changes_nothing)
{
    uint64_t value = 4;
    CHECK(lawn__decimal_append(&value, 2, 42));
    CHECK_EQ(value, 42);
    CHECK(!lawn__decimal_append(&value, 0, 419));
    CHECK_EQ(value, 42);
    value = 0;
    CHECK(!lawn__decimal_append(&value, 9, 8));
    CHECK_EQ(value, 0);
}
