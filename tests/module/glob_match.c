/* glob_match.c - tests of patterns: see module/glob.h.
 *
 * The cases were compared with KEYS of a Redis 7.0 server. One differs: here, a
 * pattern of stars matches an empty text.
 */
#include "glob.h"

#include "kit.h"
#include "rng.h"

#include <stdlib.h>

static uint64_t work;

/* Matches copies of exact size, so that reading past the end is detected. */
static bool
glob_copied(struct bytes pattern, struct bytes text)
{
    char *p = malloc(pattern.size + 1);
    char *t = malloc(text.size + 1);
    CHECK(p != NULL && t != NULL);
    memcpy(p + 1, pattern.at, pattern.size);
    memcpy(t + 1, text.at, text.size);
    bool match = glob_match((struct bytes){p + 1, pattern.size},
                            (struct bytes){t + 1, text.size}, &work);
    free(p);
    free(t);
    return match;
}

static bool
glob_is(const char *pattern, const char *text)
{
    return glob_copied(bytes_of(pattern), bytes_of(text));
}

static const struct {
    const char *pattern;
    const char *text;
    bool match;
} glob_cases[] = {
    {"", "", true},
    {"a", "", false},
    {"a", "a", true},
    {"a", "b", false},
    {"a", "aa", false},
    {"?", "a", true},
    {"?\?", "a", false},
    {"a?c", "abc", true},
    {"*", "abc", true},
    {"a*", "a", true},
    {"a*", "abc", true},
    {"*c", "abc", true},
    {"*b", "abc", false},
    {"a*c", "abbbc", true},
    {"a*b*c", "axbxc", true},
    {"a*b*c", "axcxb", false},
    {"**a**", "bab", true},
    {"*aab", "aaaab", true},
    {"*ab*ab", "abab", true},
    {"*ab*ab", "ab", false},
    {"[abc]", "b", true},
    {"[abc]", "d", false},
    {"[abc]", "ab", false},
    {"[a-c]", "b", true},
    {"[a-c]", "d", false},
    {"[a-c]", "a", true},
    {"[a-c]", "c", true},
    {"[c-a]", "a", true},
    {"[c-a]", "b", true},
    {"[c-a]", "c", true},
    {"[^a-c]", "b", false},
    {"[^a-c]", "d", true},
    {"[^a]", "", false},
    {"x[0-9]y", "x5y", true},
    {"x[0-9]y", "xay", false},
    {"[]", "a", false},
    {"[]a]", "a]", false},
    {"[^]", "a", true},
    {"[^]a", "ba", true},
    {"[", "[", false},
    {"[", "a", false},
    {"[^", "a", true},
    {"[abc", "b", true},
    {"[abc", "d", false},
    {"[a-", "-", true},
    {"[a-]", "a", true},
    {"[a-]", "]", true},
    {"[a-]", "b", false},
    {"[a-]]", "]", true},
    {"[-a]", "-", true},
    {"[-a]", "a", true},
    {"[\\]]", "]", true},
    {"[\\]", "]", true},
    {"[\\", "\\", true},
    {"[\\^a]", "^", true},
    {"[^^]", "^", false},
    {"[a^]", "^", true},
    {"[\\a-c]", "b", false},
    {"[\\a-c]", "-", true},
    {"[[a]", "[", true},
    {"[*]", "*", true},
    {"[*]", "a", false},
    {"[?]", "a", false},
    {"\\a", "a", true},
    {"\\*", "*", true},
    {"\\*", "a", false},
    {"\\?", "?", true},
    {"\\[a]", "[a]", true},
    {"\\\\", "\\", true},
    {"\\", "\\", true},
    {"a\\", "a\\", true},
    {"a\\", "a", false},
    {"]", "]", true},
    {"^a", "^a", true},
    {"a-c", "b", false},
    {"A", "a", false},
    {"[A-Z]", "a", false},
    {"user:*:[0-9]?", "user:x:y:42", true},
};

TEST(glob_matches_as_the_server_does)
{
    for (size_t i = 0; i < sizeof(glob_cases) / sizeof(glob_cases[0]); i++) {
        if (glob_is(glob_cases[i].pattern, glob_cases[i].text) !=
            glob_cases[i].match) {
            kit_fail(__FILE__, __LINE__, "\"%s\" and \"%s\"",
                     glob_cases[i].pattern, glob_cases[i].text);
        }
    }
}

TEST(glob_stars_match_an_empty_text)
{
    CHECK(glob_is("", ""));
    CHECK(glob_is("*", ""));
    CHECK(glob_is("**", ""));
    CHECK(!glob_is("?", ""));
    CHECK(!glob_is("[^]", ""));
    CHECK(!glob_is("\\", ""));
    CHECK(glob_match((struct bytes){NULL, 0}, (struct bytes){NULL, 0}, &work));
}

TEST(glob_reads_bytes_of_any_value)
{
    static const char zeros[] = "a\0b";
    CHECK(
        glob_match((struct bytes){zeros, 3}, (struct bytes){zeros, 3}, &work));
    CHECK(
        !glob_match((struct bytes){zeros, 1}, (struct bytes){zeros, 3}, &work));
    CHECK(
        !glob_match((struct bytes){zeros, 3}, (struct bytes){zeros, 2}, &work));
    CHECK(glob_match(bytes_of("a?b"), (struct bytes){zeros, 3}, &work));
    CHECK(glob_is("[\x80-\xff]", "\xe4"));
    CHECK(!glob_is("[\x80-\xf0]", "\xff"));
    CHECK(glob_is("\xe4*", "\xe4\xff"));
}

/* The same by backtracking. */
static bool
glob_plain(struct bytes pattern, struct bytes text)
{
    if (pattern.size == 0) {
        return text.size == 0;
    }
    if (pattern.at[0] == '*') {
        struct bytes rest = {pattern.at + 1, pattern.size - 1};
        for (size_t i = 0; i <= text.size; i++) {
            struct bytes left = {text.at + i, text.size - i};
            if (glob_plain(rest, left)) {
                return true;
            }
        }
        return false;
    }
    /* Find the shortest prefix of the pattern that is a complete item, not
     * ending within an escape or a class. */
    size_t item = 1;
    if (pattern.at[0] == '\\' && pattern.size > 1) {
        item = 2;
    } else if (pattern.at[0] == '[') {
        size_t i = pattern.size > 1 && pattern.at[1] == '^' ? 2 : 1;
        while (i < pattern.size && pattern.at[i] != ']') {
            size_t left = pattern.size - i;
            bool escape = left >= 2 && pattern.at[i] == '\\';
            bool range = left >= 3 && pattern.at[i + 1] == '-';
            i += escape ? 2 : range ? 3 : 1;
        }
        item = i < pattern.size ? i + 1 : pattern.size;
    }
    struct bytes rest = {pattern.at + item, pattern.size - item};
    return text.size > 0 &&
           glob_match((struct bytes){pattern.at, item},
                      (struct bytes){text.at, 1}, &work) &&
           glob_plain(rest, (struct bytes){text.at + 1, text.size - 1});
}

TEST(glob_stars_take_as_much_as_they_must)
{
    static const char letters[] = "**?ab[]^-\\";
    struct rng rng = {1};
    unsigned matches = 0;
    for (unsigned i = 0; i < 200000; i++) {
        char pattern[9];
        char text[9];
        struct bytes p = {pattern, rng_below(&rng, sizeof(pattern))};
        struct bytes t = {text, rng_below(&rng, sizeof(text))};
        for (size_t j = 0; j < p.size; j++) {
            pattern[j] = letters[rng_below(&rng, sizeof(letters) - 1)];
        }
        for (size_t j = 0; j < t.size; j++) {
            text[j] = "ab-]"[rng_below(&rng, 4)];
        }
        bool match = glob_copied(p, t);
        matches += match;
        if (match != glob_plain(p, t)) {
            kit_fail(__FILE__, __LINE__, "\"%.*s\" and \"%.*s\"", (int)p.size,
                     pattern, (int)t.size, text);
        }
    }
    CHECK(matches > 1000);
}

/* With 30 stars, backtracking would take too long. */
TEST(glob_many_stars_take_no_time)
{
    char pattern[256];
    for (size_t i = 0; i < sizeof(pattern); i += 2) {
        pattern[i] = '*';
        pattern[i + 1] = 'a';
    }
    pattern[sizeof(pattern) - 1] = 'b';
    char text[4096];
    memset(text, 'a', sizeof(text));
    CHECK(!glob_match((struct bytes){pattern, sizeof(pattern)},
                      (struct bytes){text, sizeof(text)}, &work));
    text[sizeof(text) - 1] = 'b';
    CHECK(glob_match((struct bytes){pattern, sizeof(pattern)},
                     (struct bytes){text, sizeof(text)}, &work));
}

TEST(glob_returns_what_it_took)
{
    work = 0;
    (void)glob_is("abc", "abc");
    CHECK(work >= 3 && work <= 8);
    work = 0;
    (void)glob_is("*aaaaaaaab", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    CHECK(work >= 8 * 22 && work <= 600);
    work = 0;
    (void)glob_is("*[bcdefghijklmnopqrstuvwxyz]", "aaaaaaaaaa");
    CHECK(work >= 270 && work <= 300);
}
