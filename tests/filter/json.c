/* json.c - JSON texts and paths: see cli/filter/json.h. */
#include "json.h"
#include "copy.h"
#include "json_plain.h"
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text may contain NUL bytes, so its size is that of the literal. */
struct json_text {
    const char *text;
    size_t size;
};
#define JSON_TEXT(literal)                                                     \
    {                                                                          \
        literal, sizeof(literal) - 1                                           \
    }
#define JSON_COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Scans a copy of the exact size with both implementations, so that reading
 * past it is detected. */
static const char *
json_check(const char *text, size_t size, size_t *wrong)
{
    char *copy = copy_bytes(text, size);
    const char *why = json_scan(copy, size, NULL, 0, NULL, wrong);
    size_t wrong_plain = *wrong;
    const char *why_plain =
        json_plain_scan(copy, size, NULL, 0, NULL, &wrong_plain);
    free(copy);
    CHECK_EQ(why_plain == NULL, why == NULL);
    CHECK(why == NULL || strcmp(why, why_plain) == 0);
    CHECK_EQ(wrong_plain, *wrong);
    return why;
}

static const struct json_text json_valid[] = {
    JSON_TEXT("null"),
    JSON_TEXT("true"),
    JSON_TEXT("false"),
    JSON_TEXT("0"),
    JSON_TEXT("-0"),
    JSON_TEXT("7"),
    JSON_TEXT("-12"),
    JSON_TEXT("120"),
    JSON_TEXT("0.0"),
    JSON_TEXT("-0.5"),
    JSON_TEXT("10.01"),
    JSON_TEXT("1e5"),
    JSON_TEXT("1E5"),
    JSON_TEXT("1e+5"),
    JSON_TEXT("1e-5"),
    JSON_TEXT("0e0"),
    JSON_TEXT("1.5e007"),
    JSON_TEXT("123456789012345678901234567890e999999"),
    JSON_TEXT("\"\""),
    JSON_TEXT("\"a\""),
    JSON_TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
    JSON_TEXT("\"\\u0000\\uABCD\\uabcd\\u1234\""),
    JSON_TEXT("\"\\ud800\""),
    JSON_TEXT("\"\x7f \xff\xc0\x80\xed\xa0\x80\""),
    JSON_TEXT("\"a long one, of more than sixteen bytes, 32, and 48\""),
    JSON_TEXT("\"/' {}[],:\""),
    JSON_TEXT("[]"),
    JSON_TEXT("[ ]"),
    JSON_TEXT("[1]"),
    JSON_TEXT("[1,2]"),
    JSON_TEXT("[[],[[]],{}]"),
    JSON_TEXT("{}"),
    JSON_TEXT("{ }"),
    JSON_TEXT("{\"\":0}"),
    JSON_TEXT("{\"a\":1,\"a\":2}"),
    JSON_TEXT("{\"a\":{\"b\":[{\"c\":[]}]}}"),
    JSON_TEXT(" \t\r\n{ \t\"a\"\r:\n[ 1 , -2\t] , \"b\" :null} \r\n"),
    JSON_TEXT(" 1"),
    JSON_TEXT("1 "),
    JSON_TEXT("{\"a\\u0041\":\"b\\n\"}"),
};

static const struct json_text json_invalid[] = {
    JSON_TEXT(""),
    JSON_TEXT(" "),
    JSON_TEXT("nul"),
    JSON_TEXT("nulL"),
    JSON_TEXT("nulll"),
    JSON_TEXT("Null"),
    JSON_TEXT("tru"),
    JSON_TEXT("truE"),
    JSON_TEXT("TRUE"),
    JSON_TEXT("fals"),
    JSON_TEXT("falze"),
    JSON_TEXT("NaN"),
    JSON_TEXT("nan"),
    JSON_TEXT("Infinity"),
    JSON_TEXT("-Infinity"),
    JSON_TEXT("undefined"),
    JSON_TEXT("+1"),
    JSON_TEXT("-"),
    JSON_TEXT("- 1"),
    JSON_TEXT("--1"),
    JSON_TEXT("-a"),
    JSON_TEXT("01"),
    JSON_TEXT("-01"),
    JSON_TEXT("00"),
    JSON_TEXT("1."),
    JSON_TEXT("1.e1"),
    JSON_TEXT(".5"),
    JSON_TEXT("1.5.5"),
    JSON_TEXT("1e"),
    JSON_TEXT("1e+"),
    JSON_TEXT("1e-"),
    JSON_TEXT("1e1.5"),
    JSON_TEXT("1ee1"),
    JSON_TEXT("0x1"),
    JSON_TEXT("1_000"),
    JSON_TEXT("1 2"),
    JSON_TEXT("1,"),
    JSON_TEXT(",1"),
    JSON_TEXT("\""),
    JSON_TEXT("\"a"),
    JSON_TEXT("a\""),
    JSON_TEXT("'a'"),
    JSON_TEXT("\"a\"b"),
    JSON_TEXT("\"a\" \"b\""),
    JSON_TEXT("\"\\\""),
    JSON_TEXT("\"\\"),
    JSON_TEXT("\"\\a\""),
    JSON_TEXT("\"\\'\""),
    JSON_TEXT("\"\\0\""),
    JSON_TEXT("\"\\\0\""),
    JSON_TEXT("\"\\U0041\""),
    JSON_TEXT("\"\\u\""),
    JSON_TEXT("\"\\u12\""),
    JSON_TEXT("\"\\u123\""),
    JSON_TEXT("\"\\u123g\""),
    JSON_TEXT("\"\\u 123\""),
    JSON_TEXT("\"\\u+123\""),
    JSON_TEXT("\"\\u004"),
    JSON_TEXT("\"\t\""),
    JSON_TEXT("\"\n\""),
    JSON_TEXT("\"\0\""),
    JSON_TEXT("\"\x1f\""),
    JSON_TEXT("\"in the second half of\x01 sixteen bytes...\""),
    JSON_TEXT("["),
    JSON_TEXT("]"),
    JSON_TEXT("[1"),
    JSON_TEXT("[1,"),
    JSON_TEXT("[1,]"),
    JSON_TEXT("[,1]"),
    JSON_TEXT("[,]"),
    JSON_TEXT("[1,,2]"),
    JSON_TEXT("[1 2]"),
    JSON_TEXT("[1:2]"),
    JSON_TEXT("[1}"),
    JSON_TEXT("[}"),
    JSON_TEXT("[[]"),
    JSON_TEXT("[]]"),
    JSON_TEXT("[\"a\":1]"),
    JSON_TEXT("{"),
    JSON_TEXT("}"),
    JSON_TEXT("{]"),
    JSON_TEXT("{\"a\""),
    JSON_TEXT("{\"a\"}"),
    JSON_TEXT("{\"a\":"),
    JSON_TEXT("{\"a\":}"),
    JSON_TEXT("{\"a\":1"),
    JSON_TEXT("{\"a\":1,"),
    JSON_TEXT("{\"a\":1,}"),
    JSON_TEXT("{\"a\":1]"),
    JSON_TEXT("{,\"a\":1}"),
    JSON_TEXT("{\"a\":1,,\"b\":2}"),
    JSON_TEXT("{\"a\":1 \"b\":2}"),
    JSON_TEXT("{\"a\" 1}"),
    JSON_TEXT("{\"a\"::1}"),
    JSON_TEXT("{\"a\",1}"),
    JSON_TEXT("{\"a\":1:2}"),
    JSON_TEXT("{a:1}"),
    JSON_TEXT("{1:1}"),
    JSON_TEXT("{null:1}"),
    JSON_TEXT("{[]:1}"),
    JSON_TEXT("{\"a\":1}{\"b\":2}"),
    JSON_TEXT("{\"a\n\":1}"),
    JSON_TEXT("{\"a\\x\":1}"),
    JSON_TEXT("\f1"),
    JSON_TEXT("\v1"),
    JSON_TEXT("1\f"),
    JSON_TEXT("1\0"),
    JSON_TEXT("\0"),
    JSON_TEXT("\xa0 1"),
    JSON_TEXT("\xef\xbb\xbf{}"),
    JSON_TEXT("/* a */ 1"),
    JSON_TEXT("1 // a"),
    JSON_TEXT("# a\n1"),
};

TEST(every_rule_of_the_grammar_is_taken)
{
    size_t wrong = 0;
    for (size_t i = 0; i < JSON_COUNT(json_valid); i++) {
        const char *why =
            json_check(json_valid[i].text, json_valid[i].size, &wrong);
        if (why != NULL) {
            kit_fail(__FILE__, __LINE__, "%s: %s at %zu", json_valid[i].text,
                     why, wrong);
        }
    }
}

TEST(invalid_json_is_refused_with_a_reason_and_a_place)
{
    for (size_t i = 0; i < JSON_COUNT(json_invalid); i++) {
        size_t wrong = SIZE_MAX;
        size_t size = json_invalid[i].size;
        const char *why = json_check(json_invalid[i].text, size, &wrong);
        if (why == NULL || *why == '\0' || wrong > size) {
            kit_fail(__FILE__, __LINE__, "[%zu] %s is taken", i,
                     json_invalid[i].text);
        }
    }
}

/* A text that is not a number at its top level has no valid prefix. */
TEST(a_text_cut_short_is_refused)
{
    for (size_t i = 0; i < JSON_COUNT(json_valid); i++) {
        const struct json_text *t = &json_valid[i];
        size_t end = t->size;
        size_t begin = strspn(t->text, " \t\r\n");
        while (strchr(" \t\r\n", t->text[end - 1]) != NULL) {
            end--;
        }
        if (strchr("-0123456789", t->text[begin]) != NULL) {
            continue;
        }
        for (size_t size = 0; size < end; size++) {
            size_t wrong = SIZE_MAX;
            const char *why = json_check(t->text, size, &wrong);
            CHECK(why != NULL && strcmp(why, "unexpected end") == 0);
            CHECK_EQ(wrong, size);
        }
    }
}

TEST(every_control_character_is_refused_anywhere_in_a_string)
{
    for (size_t length = 1; length < 40; length++) {
        for (size_t at = 0; at < length; at++) {
            for (int c = 0; c < 256; c++) {
                char text[48];
                size_t wrong = SIZE_MAX;
                memset(text, 'x', sizeof(text));
                text[0] = text[length + 1] = '"';
                text[1 + at] = (char)c;
                const char *why = json_check(text, length + 2, &wrong);
                CHECK_EQ(why == NULL, c >= 0x20 && c != '"' && c != '\\');
                if (c < 0x20) {
                    CHECK_EQ(wrong, 1 + at);
                }
            }
        }
    }
}

/* Returns nested containers of this depth. */
static const char *
json_nest(size_t depth, bool objects)
{
    static const char open[] = "{\"a\":";
    size_t step = objects ? sizeof(open) - 1 : 1;
    char *text = malloc(depth * (step + 1) + 1);
    size_t wrong = 0;
    CHECK(text != NULL);
    for (size_t i = 0; i < depth; i++) {
        memcpy(text + i * step, objects ? open : "[", step);
    }
    text[depth * step] = '1';
    memset(text + depth * step + 1, objects ? '}' : ']', depth);
    const char *why = json_check(text, depth * (step + 1) + 1, &wrong);
    free(text);
    if (why != NULL) {
        CHECK_EQ(wrong, JSON_DEPTH_MAX * step);
    }
    return why;
}

TEST(nesting_is_limited)
{
    for (int objects = 0; objects < 2; objects++) {
        CHECK(json_nest(JSON_DEPTH_MAX, objects) == NULL);
        const char *why = json_nest(JSON_DEPTH_MAX + 1, objects);
        CHECK(why != NULL && strcmp(why, "nested too deeply") == 0);
        CHECK(json_nest(100 * JSON_DEPTH_MAX, objects) != NULL);
    }
}

TEST(a_container_ends_with_its_own_bracket_at_every_depth)
{
    char text[400];
    size_t wrong = 0;
    for (size_t depth = 1; depth < 150; depth++) {
        for (size_t i = 0; i < depth; i++) {
            text[i] = '[';
            text[depth + i] = ']';
        }
        CHECK(json_check(text, 2 * depth, &wrong) == NULL);
        for (size_t i = 0; i < depth; i++) {
            text[depth + i] = '}';
            CHECK(json_check(text, 2 * depth, &wrong) != NULL);
            CHECK_EQ(wrong, depth + i);
            text[depth + i] = ']';
        }
    }
}

/* Returns the value at a path as text: "-" missing, "null", "s:..." a string,
 * "n:..." a number, "o:..." others. */
static const char *
json_get(const char *path_text, const char *text)
{
    static char result[600];
    struct json_path path;
    const struct json_path *paths[] = {&path};
    const char *why = json_path_parse(&path, path_text);
    if (why != NULL) {
        return why;
    }
    size_t size = strlen(text);
    char *copy = copy_bytes(text, size);
    struct json_value value;
    size_t wrong = 0;
    why = json_scan(copy, size, paths, 1, &value, &wrong);
    json_path_free(&path);
    if (why == NULL) {
        static const char *const kinds[] = {"-", "null", "s:", "n:", "o:"};
        size_t length = strlen(kinds[value.kind]);
        memcpy(result, kinds[value.kind], length + 1);
        if (value.kind > JSON_NULL) {
            CHECK(value.at >= copy && value.at + value.size <= copy + size);
            CHECK(value.kind == JSON_STRING || !value.escaped);
            char *out = malloc(value.size + (value.size == 0));
            CHECK(out != NULL);
            size_t out_size = value.size;
            if (value.escaped) {
                out_size = json_unescape(&value, out);
            } else {
                memcpy(out, value.at, value.size);
            }
            CHECK(length + out_size < sizeof(result));
            memcpy(result + length, out, out_size);
            result[length + out_size] = '\0';
            free(out);
        }
        why = result;
    }
    free(copy);
    return why;
}

#define CHECK_GET(path, text, expected)                                        \
    do {                                                                       \
        const char *got = json_get(path, text);                                \
        if (strcmp(got, expected) != 0)                                        \
            kit_fail(__FILE__, __LINE__, "%s of %s is %s", path, text, got);   \
    } while (0)

TEST(a_path_leads_to_a_value_as_written)
{
    const char *text = " {\"a\": {\"b\": 1.50e1, \"c\": \"x y\"}, \"d\": null,"
                       "\"e\": [10, [20, {\"f\": true}], {} , false ] , "
                       "\"odd name\": \"\", \"a.b\": [ ]} ";
    CHECK_GET(".a.b", text, "n:1.50e1");
    CHECK_GET(".a.c", text, "s:x y");
    CHECK_GET(".a", text, "o:{\"b\": 1.50e1, \"c\": \"x y\"}");
    CHECK_GET(".d", text, "null");
    CHECK_GET(".e[0]", text, "n:10");
    CHECK_GET(".e[1]", text, "o:[20, {\"f\": true}]");
    CHECK_GET(".e[1][1].f", text, "o:true");
    CHECK_GET(".e.[1].[1].f", text, "o:true");
    CHECK_GET(".e[2]", text, "o:{}");
    CHECK_GET(".e[3]", text, "o:false");
    CHECK_GET(".\"odd name\"", text, "s:");
    CHECK_GET(".[\"odd name\"]", text, "s:");
    CHECK_GET(".\"a.b\"", text, "o:[ ]");
    CHECK_GET(".\"\\u0061\"[\"b\"]", text, "n:1.50e1");
    CHECK_GET(".", " [1, 2] ", "o:[1, 2]");
    CHECK_GET(".", " 7 ", "n:7");
    CHECK_GET(".", "\"\"", "s:");
    CHECK_GET(".[0]", "[-1]", "n:-1");
    CHECK_GET(".\"\"", "{\"\":5}", "n:5");
}

TEST(a_path_that_leads_nowhere_finds_nothing)
{
    const char *text = "{\"a\":{\"b\":1},\"c\":[1,2],\"d\":\"a\",\"e\":{}}";
    CHECK_GET(".b", text, "-");
    CHECK_GET(".a.c", text, "-");
    CHECK_GET(".a.b.c", text, "-");
    CHECK_GET(".a.b[0]", text, "-");
    CHECK_GET(".c[2]", text, "-");
    CHECK_GET(".c.a", text, "-");
    CHECK_GET(".a[0]", text, "-");
    CHECK_GET(".d.a", text, "-");
    CHECK_GET(".e.a", text, "-");
    CHECK_GET(".aa", text, "-");
    CHECK_GET(".[0]", text, "-");
    CHECK_GET(".a", "[{\"a\":1}]", "-");
    CHECK_GET(".a", "1", "-");
    CHECK_GET(".a", "{\"x\":{\"a\":1}}", "-");
    CHECK_GET(".a.b", "{\"x\":{\"a\":{\"b\":1}},\"a\":{\"x\":{\"b\":1}}}", "-");
    CHECK_GET(".[0][0]", "[1,[0]]", "-");
    CHECK_GET(".[0]", "[]", "-");
}

TEST(the_last_of_equal_members_counts_at_every_level)
{
    CHECK_GET(".a", "{\"a\":1,\"b\":2,\"a\":3}", "n:3");
    CHECK_GET(".a", "{\"a\":1,\"a\":null}", "null");
    CHECK_GET(".a.b", "{\"a\":{\"b\":1},\"a\":{\"c\":2}}", "-");
    CHECK_GET(".a.b", "{\"a\":{\"b\":1},\"a\":2}", "-");
    CHECK_GET(".a.b", "{\"a\":{\"b\":1},\"a\":[]}", "-");
    CHECK_GET(".a.b", "{\"a\":{\"b\":1,\"b\":2},\"x\":{\"b\":3}}", "n:2");
    CHECK_GET(".a.b", "{\"a\":{\"c\":1},\"a\":{\"b\":2}}", "n:2");
    CHECK_GET(".a[1]", "{\"a\":[1,2],\"a\":[3]}", "-");
    CHECK_GET(".a[0]", "{\"a\":[1,2],\"a\":[3]}", "n:3");
    CHECK_GET(".a", "{\"a\":1,\"\\u0061\":{}}", "o:{}");
    CHECK_GET(".a", "{\"a\":[1,2],\"a\":7}", "n:7");
}

TEST(names_with_escapes_are_compared_unescaped)
{
    CHECK_GET(".a", "{\"\\u0061\":1}", "n:1");
    CHECK_GET(".ab", "{\"\\u0061\":1}", "-");
    CHECK_GET(".a", "{\"\\u0061b\":1}", "-");
    CHECK_GET(".a", "{\"\\u0061\\u0062\":1}", "-");
    CHECK_GET(".\"a\\nb\"", "{\"a\\u000ab\":1}", "n:1");
    CHECK_GET(".\"\\ud83d\\ude00\"", "{\"\xf0\x9f\x98\x80\":1}", "n:1");
    CHECK_GET(".\xf0\x9f\x98\x80", "{\"\\ud83d\\ude00\":1}", "n:1");
    CHECK_GET(".\"\\\"\"", "{\"\\\"\":1}", "n:1");
    CHECK_GET(".\"\"", "{\"\\u0061\":1}", "-");
    CHECK_GET(".\"a\\u0000b\"", "{\"a\":0,\"a\\u0000b\":1}", "n:1");
    CHECK_GET(".\"a\\u0000b\"", "{\"a\":0}", "-");
}

TEST(strings_are_unescaped_to_utf8)
{
    CHECK_GET(".", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "s:\"\\/\b\f\n\r\t");
    CHECK_GET(".", "\"\\u0041\\u007f\\u0080\\u07ff\\u0800\\uffff\"",
              "s:A\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf");
    CHECK_GET(".", "\"\\uD83D\\uDE00\\uD800\\uDC00\\uDBFF\\uDFFF\"",
              "s:\xf0\x9f\x98\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
    /* A lone surrogate is encoded as if it were a character. */
    CHECK_GET(".", "\"x\\ud83dy\"", "s:x\xed\xa0\xbdy");
    CHECK_GET(".", "\"\\ud83d\"", "s:\xed\xa0\xbd");
    CHECK_GET(".", "\"\\ude00\\ud83d\"", "s:\xed\xb8\x80\xed\xa0\xbd");
    CHECK_GET(".", "\"\\ud83d\\n\"", "s:\xed\xa0\xbd\n");
    CHECK_GET(".", "\"\\ud83d\\u0041\"", "s:\xed\xa0\xbd\x41");
    CHECK_GET(".", "\"\\ud83d\\ud83d\\ude00\"",
              "s:\xed\xa0\xbd\xf0\x9f\x98\x80");
    CHECK_GET(".", "\"\\ud7ff\\ue000\"", "s:\xed\x9f\xbf\xee\x80\x80");
    CHECK_GET(".", "\"a\xff\\n\xc0z\"", "s:a\xff\n\xc0z");
    CHECK_GET(".", "\"\\udc00\\udc00\\udfff\"",
              "s:\xed\xb0\x80\xed\xb0\x80\xed\xbf\xbf");
    CHECK_GET(".", "\"\\ud83dxude00\"", "s:\xed\xa0\xbdxude00");
    CHECK_GET(".", "\"\\ud83d\\nde00\"", "s:\xed\xa0\xbd\nde00");
    CHECK_GET(".", "\"\\ud83d\\\\ude00\"", "s:\xed\xa0\xbd\\ude00");
}

TEST(several_paths_are_found_in_one_scan)
{
    static const char *const texts[] = {".a.b", ".a", ".c[1]", ".a.b"};
    const char *text = "{\"c\":[0,\"x\"],\"a\":{\"b\":\"\\n\"},\"d\":1}";
    struct json_path read[4];
    const struct json_path *paths[4];
    for (size_t i = 0; i < 4; i++) {
        CHECK(json_path_parse(&read[i], texts[i]) == NULL);
        paths[i] = &read[i];
    }
    struct json_value found[4];
    size_t wrong = 0;
    CHECK(json_scan(text, strlen(text), paths, 4, found, &wrong) == NULL);
    CHECK_EQ(found[0].kind, JSON_STRING);
    CHECK(found[0].escaped);
    CHECK_EQ(found[0].at - text, 23);
    CHECK_EQ(found[1].kind, JSON_OTHER);
    CHECK(!found[1].escaped);
    CHECK(found[1].size == 10 &&
          memcmp(found[1].at, "{\"b\":\"\\n\"}", 10) == 0);
    CHECK(found[2].size == 1 && *found[2].at == 'x');
    CHECK(found[3].at == found[0].at && found[3].size == 2);
    for (size_t i = 0; i < 4; i++) {
        json_path_free(&read[i]);
    }
}

TEST(a_path_is_not_led_astray_by_another)
{
    static const char *const texts[] = {".a.x", ".b.x", ".b", ".c[1]"};
    const char *text = "{\"a\":{\"x\":1,\"y\":[5,6]},\"c\":[{\"x\":2}],"
                       "\"d\":{\"x\":3}}";
    struct json_path read[4];
    const struct json_path *paths[4];
    for (size_t i = 0; i < 4; i++) {
        CHECK(json_path_parse(&read[i], texts[i]) == NULL);
        paths[i] = &read[i];
    }
    struct json_value found[4];
    size_t wrong = 0;
    CHECK(json_scan(text, strlen(text), paths, 4, found, &wrong) == NULL);
    CHECK_EQ(found[0].kind, JSON_NUMBER);
    CHECK(found[0].size == 1 && *found[0].at == '1');
    CHECK_EQ(found[1].kind, JSON_MISSING);
    CHECK_EQ(found[2].kind, JSON_MISSING);
    CHECK_EQ(found[3].kind, JSON_MISSING);
    for (size_t i = 0; i < 4; i++) {
        json_path_free(&read[i]);
    }
}

TEST(nothing_is_reported_of_a_text_that_is_refused)
{
    struct json_path path;
    const struct json_path *paths[] = {&path};
    struct json_value value = {JSON_OTHER, true, "x", 99};
    size_t wrong = 0;
    CHECK(json_path_parse(&path, ".a") == NULL);
    CHECK(json_scan("{\"a\":1}x", 8, paths, 1, &value, &wrong) != NULL);
    CHECK_EQ(wrong, 7);
    CHECK_EQ(value.size, 99);
    json_path_free(&path);
}

TEST(a_path_of_sixteen_steps_is_followed_and_a_longer_one_refused)
{
#define JSON_FOUR_STEPS ".a[0].a[0]"
#define JSON_FOUR_OPEN "{\"a\":[{\"a\":["
#define JSON_SIXTEEN_STEPS                                                     \
    JSON_FOUR_STEPS JSON_FOUR_STEPS JSON_FOUR_STEPS JSON_FOUR_STEPS
    const char *text =
        JSON_FOUR_OPEN JSON_FOUR_OPEN JSON_FOUR_OPEN JSON_FOUR_OPEN
        "[{\"b\":[2]}]]}]}]}]}]}]}]}]}";
    CHECK_GET(JSON_SIXTEEN_STEPS, text, "o:[{\"b\":[2]}]");
    CHECK_GET(JSON_SIXTEEN_STEPS ".b", text, "more than 16 steps");
    CHECK_EQ(JSON_STEPS_MAX, 16);
}

TEST(an_index_is_as_large_as_a_size_at_most)
{
    char text[40];
    struct json_path path;
    int length = snprintf(text, sizeof(text), ".[%zu]", SIZE_MAX);
    CHECK(json_path_parse(&path, text) == NULL);
    CHECK_EQ(path.steps[0].index, SIZE_MAX);
    json_path_free(&path);
    text[length - 2]++; /* the last digit is a 5 */
    CHECK(json_path_parse(&path, text) != NULL);
}

TEST(a_backslash_in_a_name_without_quotes_is_one)
{
    CHECK_GET(".a\\tb", "{\"a\\tb\":1,\"a\\\\tb\":2}", "n:2");
    CHECK_GET(".a\\u", "{\"a\\\\u\":1}", "n:1");
    CHECK_GET(".a\\", "{\"a\\\\\":1}", "n:1");
}

TEST(an_error_in_a_path_is_reported)
{
    CHECK_GET("a", "1", "a JSON path begins with a dot");
    CHECK_GET(".a[0]b", "1", "a dot is missing");
    CHECK_GET(".a.", "1", "a name is missing after a dot");
    CHECK_GET(".\"a", "1", "a quote is missing");
    CHECK_GET(".\"\\x\"", "1", "unknown escape in a string");
    CHECK_GET(".a[0", "1", "a ] is missing");
    CHECK_GET(".a[]", "1",
              "brackets must contain a number or a name in quotes");
}

TEST(bad_paths_are_refused)
{
    static const char *const bad[] = {
        "",        "a",        "..",         "..a",
        ".a.",     ".a..b",    ".a b",       ". a",
        ".a\"b\"", ".a[",      ".a[]",       ".a[x]",
        ".a[-1]",  ".a[1",     ".a[1x]",     ".a[1]b",
        ".a]",     ".\"a",     ".\"",        ".[\"a\"",
        ".[\"a]",  ".\"\\x\"", ".\"\\u12\"", "[0]",
        ".[",      ".\"a\"b",  ".[0].",      ".[0][",
        ".a[ 0]",  ".a[0 ]",   "\"a\"",      ".a[99999999999999999999999]",
        ".a\tb",   ".\"a\nb\""};
    struct json_path path;
    for (size_t i = 0; i < JSON_COUNT(bad); i++) {
        const char *why = json_path_parse(&path, bad[i]);
        if (why == NULL) {
            kit_fail(__FILE__, __LINE__, "%s is taken", bad[i]);
        }
        CHECK_EQ(path.count, 0);
    }
}
