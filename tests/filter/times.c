/* times.c - times and durations in lines: see cli/filter/times.h. */
#include "times.h"

#include "copy.h"
#include "kit.h"
#include "lawn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIMES_COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Parses a copy of the exact size. Returns LAWN_NEVER if it is not a time. */
static uint64_t
times_get(const char *text, enum times_unit unit, enum times_form *form)
{
    size_t size = strlen(text);
    char *copy = copy_bytes(text, size);
    uint64_t ns = 42;
    bool good = times_parse(copy, size, unit, &ns, form);
    free(copy);
    if (!good) {
        return LAWN_NEVER;
    }
    CHECK(ns != LAWN_NEVER);
    return ns;
}

static uint64_t
times_get_length(const char *text, enum times_unit unit)
{
    size_t size = strlen(text);
    char *copy = copy_bytes(text, size);
    uint64_t ns = 42;
    bool good = times_parse_duration(copy, size, unit, &ns);
    free(copy);
    return good ? ns : LAWN_NEVER;
}

static const struct {
    const char *text;
    enum times_unit unit;
    uint64_t ns;
} times_numbers[] = {
    {"0", TIMES_S, 0},
    {"0", TIMES_NS, 0},
    {"0.0", TIMES_S, 0},
    {"1", TIMES_S, 1000000000},
    {"1", TIMES_MS, 1000000},
    {"1", TIMES_US, 1000},
    {"1", TIMES_NS, 1},
    {"0.1", TIMES_S, 100000000},
    {"1700000000.123", TIMES_S, 1700000000123000000},
    {"1700000000123", TIMES_MS, 1700000000123000000},
    {"1700000000123456.789", TIMES_US, 1700000000123456789},
    {"1700000000123456789", TIMES_NS, 1700000000123456789},
    {"0.000000001", TIMES_S, 1},
    {"0.0000000019", TIMES_S, 1},
    {"0.0000000009", TIMES_S, 0},
    {"1.9999", TIMES_NS, 1},
    {"0.001999", TIMES_US, 1},
    {"1.999999999999999999999999999999", TIMES_S, 1999999999},
    {"007", TIMES_S, 7000000000},
    {"00000000000000000000000000000007.5", TIMES_S, 7500000000},
    {"1.7e9", TIMES_S, 1700000000000000000},
    {"1.7E+9", TIMES_S, 1700000000000000000},
    {"1e-9", TIMES_S, 1},
    {"19e-10", TIMES_S, 1},
    {"1e-10", TIMES_S, 0},
    {"12345e-3", TIMES_S, 12345000000},
    {"0.0000000000000000000017e30", TIMES_S, 1700000000000000000},
    {"17000000000000000000000000000e-19", TIMES_S, 1700000000000000000},
    {"123e-0000000000000000005", TIMES_S, 1230000},
    {"0e99999999999999999999999", TIMES_S, 0},
    {"0.000e99999999999999999999999", TIMES_NS, 0},
    {"1e-99999999999999999999999", TIMES_S, 0},
    {"1e0", TIMES_NS, 1},
    {"18446744073.709551614", TIMES_S, UINT64_MAX - 1},
    {"18446744073.7095516149999", TIMES_S, UINT64_MAX - 1},
    {"18446744073709551614", TIMES_NS, UINT64_MAX - 1},
    {"18446744073709551614.9", TIMES_NS, UINT64_MAX - 1},
    {"1.8446744073709551614e19", TIMES_NS, UINT64_MAX - 1},
    {"18446744073.709551615", TIMES_S, LAWN_NEVER},
    {"18446744073709551615", TIMES_NS, LAWN_NEVER},
    {"18446744073709551616", TIMES_NS, LAWN_NEVER},
    {"1.8446744073709551615e19", TIMES_NS, LAWN_NEVER},
    {"18446744074", TIMES_S, LAWN_NEVER},
    {"99999999999999999999", TIMES_NS, LAWN_NEVER},
    {"9999999999999999999", TIMES_S, LAWN_NEVER},
    {"1e20", TIMES_NS, LAWN_NEVER},
    {"1e11", TIMES_S, LAWN_NEVER},
    {"1e99999999999999999999999", TIMES_S, LAWN_NEVER},
};

TEST(numbers_are_read_exactly_and_cut_below_a_nanosecond)
{
    for (size_t i = 0; i < TIMES_COUNT(times_numbers); i++) {
        enum times_form form = TIMES_RFC3339;
        uint64_t ns =
            times_get(times_numbers[i].text, times_numbers[i].unit, &form);
        if (ns != times_numbers[i].ns) {
            kit_fail(__FILE__, __LINE__, "%s is %llu", times_numbers[i].text,
                     (unsigned long long)ns);
        }
        CHECK(ns == LAWN_NEVER || form == TIMES_NUMBER);
        CHECK_EQ(times_get_length(times_numbers[i].text, times_numbers[i].unit),
                 ns);
    }
}

TEST(an_invalid_time_is_rejected)
{
    static const char *const bad[] = {"",
                                      "-",
                                      "-1",
                                      "-0",
                                      "+1",
                                      ".5",
                                      "1.",
                                      "1.e5",
                                      "e5",
                                      "1e",
                                      "1e+",
                                      "1e-",
                                      "1e5.",
                                      "1e5x",
                                      "1.5e",
                                      "1 ",
                                      " 1",
                                      "1,5",
                                      "1.5.5",
                                      "0x10",
                                      "nan",
                                      "inf",
                                      "1_000",
                                      "1e 5",
                                      "1.5x",
                                      "x",
                                      "12a",
                                      "1.-5",
                                      "1e--5",
                                      "now",
                                      "1700000000Z",
                                      "1700000000.123456789012345x",
                                      "12345678901234567890123x"};
    for (size_t i = 0; i < TIMES_COUNT(bad); i++) {
        if (times_get(bad[i], TIMES_S, NULL) != LAWN_NEVER) {
            kit_fail(__FILE__, __LINE__, "'%s' is taken", bad[i]);
        }
    }
    uint64_t ns = 0;
    CHECK(!times_parse("1\0", 2, TIMES_S, &ns, NULL));
    CHECK(!times_parse("\0", 1, TIMES_S, &ns, NULL));
}

static const struct {
    const char *text;
    uint64_t ns;
} times_dates[] = {
    {"1970-01-01T00:00:00Z", 0},
    {"1970-01-01t00:00:00z", 0},
    {"1970-01-01 00:00:01Z", 1000000000},
    {"1970-01-01T00:00:00.000000001Z", 1},
    {"1970-01-01T00:00:00.0000000019Z", 1},
    {"1970-01-01T00:00:00.5Z", 500000000},
    {"1970-01-01T01:00:00+01:00", 0},
    {"1970-01-01T01:00:00.25+00:30", 1800250000000},
    {"1969-12-31T23:30:00-01:00", 1800000000000},
    {"1969-12-31T23:59:60Z", 0},
    {"2026-11-15T10:00:00.5Z", 1794736800500000000},
    {"2023-11-14T22:13:20Z", 1700000000000000000},
    {"2023-11-14T22:13:20-00:00", 1700000000000000000},
    {"2023-11-15T22:12:20+23:59", 1700000000000000000},
    {"2023-11-13T22:14:20-23:59", 1700000000000000000},
    {"2016-12-31T23:59:60Z", 1483228800000000000},
    {"2016-12-31T23:59:60.5Z", 1483228800500000000},
    {"2017-01-01T00:59:60+01:00", 1483228800000000000},
    {"2016-12-31T18:29:60-05:30", 1483228800000000000},
    {"2016-02-29T23:59:60Z", 1456790400000000000},
    {"2016-12-15T23:59:60Z", LAWN_NEVER},
    {"2016-12-30T23:59:60Z", LAWN_NEVER},
    {"2016-12-31T00:59:60+01:00", LAWN_NEVER},
    {"2017-01-01T22:59:60-01:00", LAWN_NEVER},
    {"2016-02-28T23:59:60Z", LAWN_NEVER},
    {"2016-12-31T23:58:60Z", LAWN_NEVER},
    {"2016-12-31T22:59:60Z", LAWN_NEVER},
    {"2017-01-01T00:00:60Z", LAWN_NEVER},
    {"2016-12-31T23:59:60+01:00", LAWN_NEVER},
    {"2016-12-31T23:59:60-00:01", LAWN_NEVER},
    {"2000-02-29T00:00:00Z", 951782400000000000},
    {"2000-03-01T00:00:00Z", 951868800000000000},
    {"2100-02-28T00:00:00Z", 4107456000000000000},
    {"2100-03-01T00:00:00Z", 4107542400000000000},
    {"2400-02-29T00:00:00Z", 13574563200000000000u},
    {"2554-07-21T23:34:33.709551614Z", UINT64_MAX - 1},
    {"2554-07-21T23:34:33.709551615Z", LAWN_NEVER},
    {"2554-07-21T23:34:34Z", LAWN_NEVER},
    {"9999-12-31T23:59:59Z", LAWN_NEVER},
    {"1969-12-31T23:59:59Z", LAWN_NEVER},
    {"1970-01-01T00:59:59+01:00", LAWN_NEVER},
    {"0000-01-01T00:00:00Z", LAWN_NEVER},
    {"0000-12-31T00:00:00Z", LAWN_NEVER},
    {"2023-02-29T00:00:00Z", LAWN_NEVER},
    {"2100-02-29T00:00:00Z", LAWN_NEVER},
    {"2024-02-30T00:00:00Z", LAWN_NEVER},
    {"2024-04-31T00:00:00Z", LAWN_NEVER},
    {"2024-06-31T00:00:00Z", LAWN_NEVER},
    {"2024-09-31T00:00:00Z", LAWN_NEVER},
    {"2024-11-31T00:00:00Z", LAWN_NEVER},
    {"2024-01-32T00:00:00Z", LAWN_NEVER},
    {"2024-12-32T00:00:00Z", LAWN_NEVER},
    {"2024-00-01T00:00:00Z", LAWN_NEVER},
    {"2024-13-01T00:00:00Z", LAWN_NEVER},
    {"2024-01-00T00:00:00Z", LAWN_NEVER},
    {"2024-01-01T24:00:00Z", LAWN_NEVER},
    {"2024-01-01T23:60:00Z", LAWN_NEVER},
    {"2024-01-01T23:59:61Z", LAWN_NEVER},
    {"2024-01-01T00:00:00", LAWN_NEVER},
    {"2024-01-01T00:00:00.Z", LAWN_NEVER},
    {"2024-01-01T00:00:00.5", LAWN_NEVER},
    {"2024-01-01T00:00:00,5Z", LAWN_NEVER},
    {"2024-01-01T00:00:00ZZ", LAWN_NEVER},
    {"2024-01-01T00:00:00Z ", LAWN_NEVER},
    {" 2024-01-01T00:00:00Z", LAWN_NEVER},
    {"2024-01-01T00:00:00+1:00", LAWN_NEVER},
    {"2024-01-01T00:00:00+0100", LAWN_NEVER},
    {"2024-01-01T00:00:00+01", LAWN_NEVER},
    {"2024-01-01T00:00:00+24:00", LAWN_NEVER},
    {"2024-01-01T00:00:00+01:60", LAWN_NEVER},
    {"2024-01-01T00:00:00 01:00", LAWN_NEVER},
    {"2024-01-01T00:00:00+01:00x", LAWN_NEVER},
    {"2024-01-01T00:00:00+0x:00", LAWN_NEVER},
    {"2024-01-01T00:00Z", LAWN_NEVER},
    {"2024-01-01", LAWN_NEVER},
    {"2024-01-01_00:00:00Z", LAWN_NEVER},
    {"2024/01/01T00:00:00Z", LAWN_NEVER},
    {"2024-1-01T00:00:000Z", LAWN_NEVER},
    {"20240101T000000Z", LAWN_NEVER},
    {"+2024-01-01T00:00:00Z", LAWN_NEVER},
    {"202x-01-01T00:00:00Z", LAWN_NEVER},
    {"20:5-01-01T00:00:00Z", LAWN_NEVER},
    {"x024-01-01T00:00:00Z", LAWN_NEVER},
    {"2024-x1-01T00:00:00Z", LAWN_NEVER},
    {"2024-01-0xT00:00:00Z", LAWN_NEVER},
    {"2024-01-01Tx0:00:00Z", LAWN_NEVER},
    {"2024-01-01T0x:00:00Z", LAWN_NEVER},
    {"2024-01-01T00:x0:00Z", LAWN_NEVER},
    {"2024-01-01T00:00:x0Z", LAWN_NEVER},
    {"2024-01-01T00-00:00Z", LAWN_NEVER},
    {"2024-01-01T00:00-00Z", LAWN_NEVER},
    {"2024-01.01T00:00:00Z", LAWN_NEVER},
};

TEST(rfc_3339_is_read_and_checked)
{
    for (size_t i = 0; i < TIMES_COUNT(times_dates); i++) {
        enum times_form form = TIMES_NUMBER;
        uint64_t ns = times_get(times_dates[i].text, TIMES_NS, &form);
        if (ns != times_dates[i].ns) {
            kit_fail(__FILE__, __LINE__, "%s is %llu", times_dates[i].text,
                     (unsigned long long)ns);
        }
        CHECK(ns == LAWN_NEVER || form == TIMES_RFC3339);
    }
}

TEST(every_day_is_read_and_printed_as_the_system_does)
{
    for (uint64_t day = 0; day < 213503; day++) {
        struct tm tm;
        time_t seconds = (time_t)(day * 86400 + day % 86400);
        CHECK(gmtime_r(&seconds, &tm) != NULL);
        char expected[40];
        strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%SZ", &tm);
        uint64_t ns = (uint64_t)seconds * 1000000000;
        CHECK_EQ(times_get(expected, TIMES_S, NULL), ns);
        CHECK(strcmp(times_format(ns, TIMES_RFC3339, TIMES_S).s, expected) ==
              0);
    }
}

TEST(lengths_are_numbers_or_durations)
{
    char times_long[] = "00000000000000000000000000000000000000000000000000"
                        "00000000000000000000000000000000000000000000000000s";
    CHECK_EQ(times_get_length("5", TIMES_MS), 5000000);
    CHECK_EQ(times_get_length("0.5", TIMES_S), 500000000);
    CHECK_EQ(times_get_length("5s", TIMES_MS), 5000000000);
    CHECK_EQ(times_get_length("1h30m", TIMES_NS), 5400000000000);
    CHECK_EQ(times_get_length("250ms", TIMES_S), 250000000);
    CHECK_EQ(times_get_length("1.5s", TIMES_S), 1500000000);
    CHECK_EQ(times_get_length("0s", TIMES_S), 0);
    CHECK_EQ(times_get_length("18446744073709551614ns", TIMES_S),
             UINT64_MAX - 1);
    const char *const bad[] = {"",
                               "s",
                               "5 s",
                               "5x",
                               "5sx",
                               "5s ",
                               " 5s",
                               "-5s",
                               "30m1h",
                               "5S",
                               "1e3s",
                               "0.5ns",
                               "1h-",
                               "18446744073709551615ns",
                               "18446744073709551616ns",
                               "2026-11-15T10:00:00Z",
                               times_long};
    for (size_t i = 0; i < TIMES_COUNT(bad); i++) {
        if (times_get_length(bad[i], TIMES_S) != LAWN_NEVER) {
            kit_fail(__FILE__, __LINE__, "'%s' is taken", bad[i]);
        }
    }
    CHECK_EQ(times_get_length(times_long + 1, TIMES_S), 0);
    uint64_t ns = 7;
    CHECK(!times_parse_duration("5s\0", 3, TIMES_S, &ns));
    CHECK(!times_parse_duration("5s\0s", 4, TIMES_S, &ns));
    CHECK(times_parse_duration("5s7", 2, TIMES_S, &ns));
    CHECK_EQ(ns, 5000000000);
}

TEST(a_fields_name_has_its_unit)
{
    CHECK_EQ(times_unit_of(".delay_ms"), TIMES_MS);
    CHECK_EQ(times_unit_of(".a.t_us"), TIMES_US);
    CHECK_EQ(times_unit_of("._ns"), TIMES_NS);
    CHECK_EQ(times_unit_of(".[\"delay_ms\"]"), TIMES_MS);
    CHECK_EQ(times_unit_of(".\"t_ns\""), TIMES_NS);
    CHECK_EQ(times_unit_of("_ms"), TIMES_MS);
    CHECK_EQ(times_unit_of(".delay_s"), TIMES_S);
    CHECK_EQ(times_unit_of(".delay"), TIMES_S);
    CHECK_EQ(times_unit_of(".ms"), TIMES_S);
    CHECK_EQ(times_unit_of(".t_msx"), TIMES_S);
    CHECK_EQ(times_unit_of("ms"), TIMES_S);
    CHECK_EQ(times_unit_of("3"), TIMES_S);
    CHECK_EQ(times_unit_of(""), TIMES_S);
    CHECK_EQ(times_unit_of("\"]"), TIMES_S);
}

TEST(the_units_have_names)
{
    CHECK(strcmp(times_units[TIMES_S], "s") == 0);
    CHECK(strcmp(times_units[TIMES_MS], "ms") == 0);
    CHECK(strcmp(times_units[TIMES_US], "us") == 0);
    CHECK(strcmp(times_units[TIMES_NS], "ns") == 0);
    CHECK(times_units[TIMES_NS + 1] == NULL);
}

#define CHECK_TEXT(printed, expected)                                          \
    do {                                                                       \
        struct text got = (printed);                                           \
        if (strcmp(got.s, expected) != 0)                                      \
            kit_fail(__FILE__, __LINE__, "%s is %s", #printed, got.s);         \
    } while (0)

TEST(times_are_printed_exactly_without_zeros_at_the_end)
{
    uint64_t ns = 1700000000250000000;
    CHECK_TEXT(times_format(ns, TIMES_NUMBER, TIMES_S), "1700000000.25");
    CHECK_TEXT(times_format(ns, TIMES_NUMBER, TIMES_MS), "1700000000250");
    CHECK_TEXT(times_format(ns, TIMES_NUMBER, TIMES_US), "1700000000250000");
    CHECK_TEXT(times_format(ns, TIMES_NUMBER, TIMES_NS), "1700000000250000000");
    CHECK_TEXT(times_format(ns, TIMES_RFC3339, TIMES_NS),
               "2023-11-14T22:13:20.25Z");
    CHECK_TEXT(times_format_ms(ns), "2023-11-14T22:13:20.250Z");
    CHECK_TEXT(times_format(0, TIMES_NUMBER, TIMES_S), "0");
    CHECK_TEXT(times_format(1, TIMES_NUMBER, TIMES_S), "0.000000001");
    CHECK_TEXT(times_format(1, TIMES_NUMBER, TIMES_MS), "0.000001");
    CHECK_TEXT(times_format(1010, TIMES_NUMBER, TIMES_US), "1.01");
    CHECK_TEXT(times_format(1, TIMES_NUMBER, TIMES_NS), "1");
    CHECK_TEXT(times_format(0, TIMES_RFC3339, TIMES_S), "1970-01-01T00:00:00Z");
    CHECK_TEXT(times_format(1, TIMES_RFC3339, TIMES_S),
               "1970-01-01T00:00:00.000000001Z");
    CHECK_TEXT(times_format_ms(0), "1970-01-01T00:00:00.000Z");
    CHECK_TEXT(times_format_ms(999999), "1970-01-01T00:00:00.000Z");
    CHECK_TEXT(times_format_ms(59999999999), "1970-01-01T00:00:59.999Z");
    CHECK_TEXT(times_format(UINT64_MAX, TIMES_NUMBER, TIMES_NS),
               "18446744073709551615");
    CHECK_TEXT(times_format(UINT64_MAX, TIMES_NUMBER, TIMES_S),
               "18446744073.709551615");
    CHECK_TEXT(times_format(UINT64_MAX, TIMES_RFC3339, TIMES_S),
               "2554-07-21T23:34:33.709551615Z");
}

TEST(a_printed_time_can_be_parsed_again)
{
    uint64_t random = 88172645463325252;
    for (int i = 0; i < 200000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        uint64_t ns = random >> i % 64;
        if (i % 3 == 0) {
            ns -= ns % 1000000;
        }
        if (ns == LAWN_NEVER) {
            continue;
        }
        for (enum times_unit unit = TIMES_S; unit <= TIMES_NS; unit++) {
            enum times_form form = TIMES_NUMBER;
            struct text text = times_format(ns, TIMES_NUMBER, unit);
            CHECK_EQ(times_get(text.s, unit, &form), ns);
            CHECK_EQ(form, TIMES_NUMBER);
            CHECK_EQ(times_get_length(text.s, unit), ns);
        }
        struct text text = times_format(ns, TIMES_RFC3339, TIMES_S);
        CHECK_EQ(times_get(text.s, TIMES_MS, NULL), ns);
        CHECK_EQ(times_get(times_format_ms(ns).s, TIMES_S, NULL),
                 ns - ns % 1000000);
        CHECK_EQ(times_get_length(text_ttl(ns).s, TIMES_S), ns);
    }
}

TEST(a_time_out_of_range_differs_from_an_invalid_time)
{
    static const char *const outside[] = {
        "18446744073.709551615",
        "99999999999",
        "1e30",
        "184467440737095516150e-2",
        "99999999999.5",
        "2554-07-21T23:34:33.709551615Z",
        "2554-07-21T23:34:34Z",
        "9999-12-31T23:59:59Z",
        "1969-12-31T23:59:59Z",
        "1970-01-01T00:00:00+00:01",
        "0000-01-01T00:00:00Z",
    };
    static const char *const invalid[] = {
        "",
        "x",
        "-1",
        "99999999999x",
        "99999999999.",
        "1e",
        "1e30e",
        "2600-01-01",
        "2600-01-01T00:00:00",
        "2600-02-30T00:00:00Z",
        "2600-01-01T00:00:60Z",
        "2600-01-01T00:00:00Zx",
    };
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        uint64_t ns = 0;
        size_t size = strlen(outside[i]);
        char *copy = copy_bytes(outside[i], size);
        CHECK(!times_parse(copy, size, TIMES_S, &ns, NULL));
        CHECK(times_is_out_of_range(copy, size));
        free(copy);
    }
    for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
        size_t size = strlen(invalid[i]);
        char *copy = copy_bytes(invalid[i], size);
        CHECK(!times_is_out_of_range(copy, size));
        free(copy);
    }
}

TEST(a_leap_second_at_another_time_is_recognized)
{
    static const char *const bad[] = {
        "2016-12-31T23:58:60Z",      "2016-12-31T23:59:60+01:00",
        "2016-12-31 10:00:60.5z",    "2016-12-15T23:59:60Z",
        "2017-01-01T22:59:60-01:00", "0000-01-01T23:59:60Z",
    };
    static const char *const others[] = {
        "2016-12-31T23:59:60Z",
        "2017-01-01T00:59:60+01:00",
        "0000-01-01T00:59:60+01:00",
        "0000-12-31T23:59:60Z",
        "2016-12-31T23:58:59Z",
        "2016-12-31T23:58:61Z",
        "2016-12-31T23:58:60",
        "2016-13-31T23:58:60Z",
        "2016-12-31T23:58:60Zx",
        "14832287860000000000:60",
        "60",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint64_t ns = 0;
        size_t size = strlen(bad[i]);
        char *copy = copy_bytes(bad[i], size);
        CHECK(!times_parse(copy, size, TIMES_S, &ns, NULL));
        CHECK(times_is_bad_leap_second(copy, size));
        free(copy);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        size_t size = strlen(others[i]);
        char *copy = copy_bytes(others[i], size);
        CHECK(!times_is_bad_leap_second(copy, size));
        free(copy);
    }
}
