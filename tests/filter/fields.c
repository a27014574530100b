/* fields.c - keys, times and TTLs of lines: see cli/filter/fields.h. */
#include "fields.h"

#include "copy.h"
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_SIZED(literal) literal, sizeof(literal) - 1

/* Returns one field of a line in angle brackets, or the error. */
static const char *
fields_get(const char *field, int delimiter, const char *line, size_t size)
{
    static char result[1000];
    struct fields fields = {.delimiter = delimiter};
    struct fields_bytes found = {NULL, 0};
    const char *wrong = fields_add(&fields, field);
    if (wrong != NULL) {
        snprintf(result, sizeof(result), "bad: %s", wrong);
        fields_free(&fields);
        return result;
    }
    char *copy = copy_bytes(line, size);
    wrong = fields_find(&fields, copy, size, &found);
    if (wrong != NULL) {
        snprintf(result, sizeof(result), "%s", wrong);
    } else {
        CHECK(found.at != NULL && found.size < sizeof(result) - 3);
        result[0] = '<';
        memcpy(result + 1, found.at, found.size);
        memcpy(result + 1 + found.size, ">", 2);
    }
    free(copy);
    fields_free(&fields);
    return result;
}

#define CHECK_FIELD(field, delimiter, line, expected)                          \
    do {                                                                       \
        const char *got = fields_get(field, delimiter, FIELDS_SIZED(line));    \
        if (memcmp(got, expected, sizeof(expected)) != 0)                      \
            kit_fail(__FILE__, __LINE__, "%s of %s is %s", field, line, got);  \
    } while (0)

TEST(columns_are_separated_by_runs_of_blanks_and_tabs)
{
    CHECK_FIELD("1", -1, "a bb c", "<a>");
    CHECK_FIELD("2", -1, "a bb c", "<bb>");
    CHECK_FIELD("3", -1, "a bb c", "<c>");
    CHECK_FIELD("4", -1, "a bb c", "no column 4");
    CHECK_FIELD("1", -1, " \t a\t \tb  ", "<a>");
    CHECK_FIELD("2", -1, " \t a\t \tb  ", "<b>");
    CHECK_FIELD("3", -1, " \t a\t \tb  ", "no column 3");
    CHECK_FIELD("1", -1, "", "no column 1");
    CHECK_FIELD("1", -1, "  ", "no column 1");
    CHECK_FIELD("2", -1, "a b\r", "<b>");
    CHECK_FIELD("3", -1, "a b \r", "no column 3");
    CHECK_FIELD("2", -1, "a b\r\r", "<b\r>");
    CHECK_FIELD("02", -1, "a b", "<b>");
    CHECK_FIELD("2", -1, "a\0b c\0\xff", "<c\0\xff>");
    CHECK_FIELD("1", -1, "a,b\vc", "<a,b\vc>");
    CHECK_FIELD("2", 0, "a  b", "<b>");
    CHECK_FIELD("18446744073709551615", -1, "a b",
                "no column 18446744073709551615");
}

TEST(columns_by_a_delimiter_may_be_empty)
{
    CHECK_FIELD("1", ',', "a,b b,,d", "<a>");
    CHECK_FIELD("2", ',', "a,b b,,d", "<b b>");
    CHECK_FIELD("3", ',', "a,b b,,d", "<>");
    CHECK_FIELD("4", ',', "a,b b,,d", "<d>");
    CHECK_FIELD("5", ',', "a,b b,,d", "no column 5");
    CHECK_FIELD("1", ',', "", "<>");
    CHECK_FIELD("2", ',', "", "no column 2");
    CHECK_FIELD("1", ',', ",", "<>");
    CHECK_FIELD("2", ',', ",", "<>");
    CHECK_FIELD("3", ',', ",", "no column 3");
    CHECK_FIELD("2", ',', "a,\r", "<>");
    CHECK_FIELD("2", '\t', "a\t b", "< b>");
    CHECK_FIELD("2", ' ', "a  b", "<>");
    CHECK_FIELD("2", '\1', "a\1b c", "<b c>");
    CHECK_FIELD("9", ',', "1,2,3,4,5,6,7,8,n", "<n>");
    CHECK_FIELD("10", ',', "1,2,3,4,5,6,7,8,9,ten", "<ten>");
    CHECK_FIELD("2", 0xff, "a\xff\0b", "<\0b>");
}

TEST(column_0_is_the_line_without_its_carriage_return)
{
    CHECK_FIELD("0", -1, " a b ", "< a b >");
    CHECK_FIELD("0", ',', "a,b\r", "<a,b>");
    CHECK_FIELD("0", -1, "\r", "<>");
    CHECK_FIELD("0", -1, "", "<>");
    CHECK_FIELD("0", -1, "\ra", "<\ra>");
}

TEST(a_regex_finds_its_first_group_or_its_match)
{
    CHECK_FIELD("/id=([a-z]+)/", -1, "x id=abc9", "<abc>");
    CHECK_FIELD("/id=[a-z]+/", -1, "x id=abc9", "<id=abc>");
    CHECK_FIELD("/id=(\\w+)/", -1, "x id=a_9 y", "<a_9>");
    CHECK_FIELD("/(a+)(b+)/", -1, "xaabby", "<aa>");
    CHECK_FIELD("/id=([a-z]*)/", -1, "id=9", "<>");
    CHECK_FIELD("/id=([a-z]+)/", -1, "id=9", "no match of /id=([a-z]+)/");
    CHECK_FIELD("/(a)|b/", -1, "b", "no match of /(a)|b/");
    CHECK_FIELD("/^.*$/", -1, "ab\r", "<ab>");
    CHECK_FIELD("/b$/", -1, "ab\r", "<b>");
    CHECK_FIELD("/b(.)/", -1, "a\0bc", "<c>");
    CHECK_FIELD("/a([^x]*)/", -1, "a\0bc", "<\0bc>");
    CHECK_FIELD("/x/", -1, "", "no match of /x/");
    CHECK_FIELD("/^$/", -1, "", "<>");
    CHECK_FIELD("/a/b/", -1, "xa/b", "<a/b>");
    CHECK_FIELD("/.(.)/", -1, "\xff\xfe", "<\xfe>");
}

/* The same for a line of this number of letters a, and then the text. */
static const char *
fields_get_long(const char *field, size_t letters, const char *text)
{
    static char line[FIELDS_REGEX_BYTES + 64];
    size_t size = strlen(text);
    memset(line, 'a', letters);
    memcpy(line + letters, text, size + 1);
    return fields_get(field, -1, line, letters + size);
}

#define CHECK_LONG(field, letters, text, expected)                             \
    do {                                                                       \
        const char *got = fields_get_long(field, letters, text);               \
        if (strcmp(got, expected) != 0)                                        \
            kit_fail(__FILE__, __LINE__, "%s is %s", field, got);              \
    } while (0)

TEST(a_regex_sees_the_beginning_of_a_long_line)
{
    const size_t most = FIELDS_REGEX_BYTES;
    CHECK_LONG("/b(.)/", most - 2, "b:", "<:>");
    CHECK_LONG("/b(.)/", most - 3, "b:zzz", "<:>");
    CHECK_LONG("/b(.)/", most - 2, "b:z",
               "the match of /b(.)/ must end before byte 8192");
    CHECK_LONG("/b(.)/", most,
               "b:", "no match of /b(.)/ in the first 8192 bytes");
    CHECK_LONG("/a$/", most, "", "<a>");
    CHECK_LONG("/(a)z$/", most - 1, "zz",
               "no match of /(a)z$/ in the first 8192 bytes");
    CHECK_LONG("/(a)z*$/", most - 9, "zzzzzzzzzzz",
               "no match of /(a)z*$/ in the first 8192 bytes");
    CHECK_LONG("/^(a)/", most, "z", "<a>");
}

TEST(json_values_are_keys_as_strings_or_as_written)
{
    CHECK_FIELD(".a", -1, "{\"a\":\"x y\"}", "<x y>");
    CHECK_FIELD(".a", -1, "{\"a\":\"\"}", "<>");
    CHECK_FIELD(".a", -1, "{\"a\":\"\\u0041\\n\"}\r", "<A\n>");
    CHECK_FIELD(".a", -1, "{\"a\":1.50}", "<1.50>");
    CHECK_FIELD(".a", -1, "{\"a\":true}", "<true>");
    CHECK_FIELD(".a", -1, "{\"a\":[1, 2]}", "<[1, 2]>");
    CHECK_FIELD(".a", -1, "{\"a\":\"\\u0000\"}", "<\0>");
    CHECK_FIELD(".a", -1, "{\"a\":null}", "no .a");
    CHECK_FIELD(".a", -1, "{\"b\":1}", "no .a");
    CHECK_FIELD(".a", -1, "{\"a\":1", "not JSON at byte 7: unexpected end");
    CHECK_FIELD(".a", -1, "{\"a\":1}x",
                "not JSON at byte 8: unexpected text after the value");
    CHECK_FIELD(".a", -1, "", "not JSON at byte 1: unexpected end");
    CHECK_FIELD(".", -1, "\"a\\tb\"", "<a\tb>");
}

TEST(several_fields_of_a_line_are_found_together)
{
    struct fields fields = {.delimiter = ' '};
    CHECK(fields_add(&fields, ".a") == NULL);
    CHECK(fields_add(&fields, NULL) == NULL);
    CHECK(fields_add(&fields, ".b[1]") == NULL);
    CHECK(fields_add(&fields, "2") == NULL);
    CHECK(fields.json);
    const char *line = "{\"b\":[1, \"\\\"two\\\"\"],\"a\":\"\\u00e4\"}";
    struct fields_bytes found[FIELDS_MAX];
    for (int i = 0; i < 3; i++) {
        CHECK(fields_find(&fields, line, strlen(line), found) == NULL);
        CHECK(found[0].size == 2 && memcmp(found[0].at, "\xc3\xa4", 2) == 0);
        CHECK(found[1].size == 0 && found[1].at == NULL);
        CHECK(found[2].size == 5 && memcmp(found[2].at, "\"two\"", 5) == 0);
        CHECK(found[3].at == line + 9);
        CHECK_EQ(found[3].size, strlen(line) - 9);
        const char *wrong = fields_find(&fields, "{}", 2, found);
        CHECK(wrong != NULL && strcmp(wrong, "no .a") == 0);
        wrong = fields_find(&fields, "{\"a\":1,\"b\":[2,3]}", 17, found);
        CHECK(wrong != NULL && strcmp(wrong, "no column 2") == 0);
        wrong = fields_find(&fields, "{\"a\":1,\"b\":[2]}", 15, found);
        CHECK(wrong != NULL && strcmp(wrong, "no .b[1]") == 0);
    }
    fields_free(&fields);
}

TEST(lines_must_be_json_if_that_is_asked_whatever_the_fields)
{
    struct fields fields = {.json = true, .delimiter = -1};
    struct fields_bytes found[FIELDS_MAX];
    CHECK(fields_find(&fields, "{}", 2, found) == NULL);
    const char *wrong = fields_find(&fields, "{} x", 4, found);
    CHECK(wrong != NULL && strncmp(wrong, "not JSON", 8) == 0);
    CHECK(fields_add(&fields, "1") == NULL);
    CHECK(fields_find(&fields, "[1, 2]", 6, found) == NULL);
    CHECK(found[0].size == 3 && memcmp(found[0].at, "[1,", 3) == 0);
    CHECK(fields_find(&fields, "x", 1, found) != NULL);
    fields_free(&fields);
}

TEST(a_field_with_many_escapes_takes_more_memory_and_keeps_it)
{
    struct fields fields = {.delimiter = -1};
    static char line[20002];
    CHECK(fields_add(&fields, ".[0]") == NULL);
    CHECK(fields_add(&fields, ".[1]") == NULL);
    struct fields_bytes found[FIELDS_MAX];
    for (size_t size = 10; size < sizeof(line); size += size / 2) {
        size_t half = size / 2 / 2;
        char *to = line;
        *to++ = '[';
        for (int i = 0; i < 2; i++) {
            *to++ = '"';
            for (size_t j = 0; j + 2 < half; j++) {
                *to++ = '\\';
                *to++ = i == 0 ? 'n' : '/';
            }
            *to++ = '"';
            *to++ = i == 0 ? ',' : ']';
        }
        CHECK(fields_find(&fields, line, (size_t)(to - line), found) == NULL);
        for (int i = 0; i < 2; i++) {
            CHECK_EQ(found[i].size, half > 2 ? half - 2 : 0);
            for (size_t j = 0; j < found[i].size; j++) {
                CHECK_EQ(found[i].at[j], i == 0 ? '\n' : '/');
            }
        }
    }
    fields_free(&fields);
}

TEST(bad_fields_are_refused_and_leave_nothing_behind)
{
    static const char *const bad[] = {
        "",    "x",   "-1",  "1x",    "+1",
        " 1",  "//",  "/",   "/a",    "/a/i",
        "/(/", "/[/", "..a", ".a[",   ".a.",
        "[0]", "a.b", "$.a", "/a\\/", "99999999999999999999999999"};
    struct fields fields = {.delimiter = -1};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *wrong = fields_add(&fields, bad[i]);
        if (wrong == NULL) {
            kit_fail(__FILE__, __LINE__, "'%s' is taken", bad[i]);
        }
        CHECK(wrong == fields.wrong && *wrong != '\0');
        CHECK_EQ(fields.count, 0);
        CHECK(!fields.json);
    }
    /* a valid field replaces an invalid one */
    struct fields_bytes found[2] = {{"x", 1}, {"x", 1}};
    CHECK(fields_add(&fields, "5x") != NULL);
    CHECK(fields_add(&fields, NULL) == NULL);
    CHECK(fields_add(&fields, "5x") != NULL);
    CHECK(fields_add(&fields, "2") == NULL);
    CHECK_EQ(fields.count, 2);
    CHECK(fields_find(&fields, "a b", 3, found) == NULL);
    CHECK(found[0].at == NULL && found[0].size == 0);
    CHECK(found[1].size == 1 && *found[1].at == 'b');
    fields_free(&fields);
}

TEST(an_error_in_a_field_is_reported)
{
    CHECK_FIELD("//", -1, "", "bad: the regex is empty");
    CHECK_FIELD("/a", -1, "",
                "bad: missing final slash in the regex; append a slash");
    CHECK_FIELD("/", -1, "",
                "bad: missing final slash in the regex; append a slash");
    CHECK_FIELD("/(/", -1, "", "bad: Unmatched ( or \\(");
    CHECK_FIELD("3a", -1, "", "bad: a column must be a number");
    CHECK_FIELD(".a.", -1, "", "bad: a name is missing after a dot");
}

TEST(freed_fields_are_none_and_may_be_added_to_again)
{
    struct fields fields = {.delimiter = -1};
    struct fields_bytes found[FIELDS_MAX];
    for (int i = 0; i < 3; i++) {
        CHECK(fields_add(&fields, ".a") == NULL);
        CHECK(fields_add(&fields, ".b") == NULL);
        CHECK(fields_add(&fields, "/(c)/") == NULL);
        const char *line = "{\"a\":\"\\n\",\"b\":\"a plain one\",\"c\":0}";
        CHECK(fields_find(&fields, line, strlen(line), found) == NULL);
        CHECK(found[0].size == 1 && *found[0].at == '\n');
        CHECK(found[1].at == line + 15 && found[1].size == 11);
        CHECK(found[2].at == line + 29 && found[2].size == 1);
        fields_free(&fields);
        CHECK_EQ(fields.count, 0);
        fields_free(&fields);
    }
}

TEST(a_long_field_is_cut_in_the_message)
{
    static char field[1000];
    memset(field, 'a', sizeof(field) - 1);
    field[0] = '.';
    CHECK(strncmp(fields_get(field, -1, "{}", 2), "no .aaa", 7) == 0);
    field[0] = field[sizeof(field) - 2] = '/';
    CHECK(strncmp(fields_get(field, -1, "{}", 2), "no match of /aaa", 16) == 0);
}
