/* fuzz_json.c - the fuzzer's bytes as paths, one per line, and after an empty
 * line a text.
 *
 * A value that is found must be within the text and be valid on its own. A path
 * that is printed and parsed again must lead to the same value. A text that is
 * accepted must be refused without its last byte, and with more bytes at its
 * end.
 */
#include "../filter/json_plain.h"
#include "fuzz.h"
#include "json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *
fuzz_new(size_t size)
{
    char *bytes = malloc(size + (size == 0));
    fuzz_check(bytes != NULL);
    return bytes;
}

static bool
fuzz_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool
fuzz_same(const struct json_value *a, const struct json_value *b)
{
    return a->kind == b->kind &&
           (a->kind == JSON_MISSING ||
            (a->escaped == b->escaped && a->at == b->at && a->size == b->size));
}

/* A decoded string is no longer than its text, and equals it if it has no
 * escapes. */
static void
fuzz_unescape(const struct json_value *value)
{
    char *out = fuzz_new(value->size);
    size_t size = json_unescape(value, out);
    const char *slash = memchr(value->at, '\\', value->size);
    fuzz_check((slash != NULL) == value->escaped);
    fuzz_check(size <= value->size);
    fuzz_check((size == value->size) == !value->escaped);
    size_t plain = slash != NULL ? (size_t)(slash - value->at) : size;
    fuzz_check(memcmp(out, value->at, plain) == 0);
    free(out);
}

/* Checks a value that was found, on its own. */
static void
fuzz_value(const struct json_value *value, const char *text, size_t size)
{
    static const struct json_path whole = {.count = 0};
    const struct json_path *paths[] = {&whole};
    if (value->kind == JSON_MISSING) {
        return;
    }
    size_t quote = value->kind == JSON_STRING;
    fuzz_check(value->at >= text + quote);
    fuzz_check(value->size + quote <= (size_t)(text + size - value->at));
    const char *begin = value->at - quote;
    size_t length = value->size + 2 * quote;
    struct json_value again;
    size_t wrong = 0;
    fuzz_check(json_scan(begin, length, paths, 1, &again, &wrong) == NULL);
    fuzz_check(fuzz_same(&again, value));
    if (value->kind == JSON_STRING) {
        fuzz_unescape(value);
    } else {
        fuzz_check(!value->escaped && value->size > 0);
    }
}

/* Checks an accepted text with fewer or more bytes at its end. */
static void
fuzz_ends(const char *text, size_t size)
{
    size_t begin = 0;
    while (begin < size && fuzz_is_blank(text[begin])) {
        begin++;
    }
    fuzz_check(begin < size);
    while (fuzz_is_blank(text[size - 1])) {
        size--;
    }
    bool number =
        text[begin] == '-' || (text[begin] >= '0' && text[begin] <= '9');
    size_t wrong = 0;
    for (size_t less = size > 40 ? size - 40 : 0; less < size; less++) {
        const char *why = json_scan(text, less, NULL, 0, NULL, &wrong);
        fuzz_check(number || (why != NULL && wrong == less));
    }
    char *twice = fuzz_new(2 * size + 1);
    memcpy(twice, text, size);
    twice[size] = ' ';
    memcpy(twice + size + 1, text, size);
    const char *why = json_scan(twice, 2 * size + 1, NULL, 0, NULL, &wrong);
    fuzz_check(why != NULL && wrong > size && wrong <= size + 1 + begin);
    free(twice);
}

/* Prints a path with all names quoted and escaped, and parses it again. */
static void
fuzz_path_again(const struct json_path *path, struct json_path *again)
{
    size_t size = 2;
    for (size_t i = 0; i < path->count; i++) {
        size += 6 * path->steps[i].size + 40;
    }
    char *text = fuzz_new(size);
    char *to = text;
    *to++ = '.';
    for (size_t i = 0; i < path->count; i++) {
        const struct json_step *step = &path->steps[i];
        if (step->name == NULL) {
            to += sprintf(to, "[%zu]", step->index);
            continue;
        }
        to += sprintf(to, "[\"");
        for (size_t j = 0; j < step->size; j++) {
            unsigned char c = (unsigned char)step->name[j];
            if (c < 0x80) {
                to += sprintf(to, "\\u%04x", c);
            } else {
                *to++ = (char)c;
            }
        }
        to += sprintf(to, "\"]");
    }
    *to = '\0';
    fuzz_check(json_path_parse(again, text) == NULL);
    free(text);
    fuzz_check(again->count == path->count);
    for (size_t i = 0; i < path->count; i++) {
        const struct json_step *a = &path->steps[i];
        const struct json_step *b = &again->steps[i];
        fuzz_check((a->name == NULL) == (b->name == NULL));
        fuzz_check(a->index == b->index && a->size == b->size);
        fuzz_check(a->name == NULL || memcmp(a->name, b->name, a->size) == 0);
    }
}

static void
fuzz_text(const char *text, size_t size, const struct json_path *const *paths,
          size_t count)
{
    struct json_value found[JSON_PATHS_MAX];
    struct json_value again[JSON_PATHS_MAX];
    size_t wrong = SIZE_MAX;
    size_t wrong_again = SIZE_MAX;
    const char *why = json_scan(text, size, paths, count, found, &wrong);
    const char *why_again =
        json_plain_scan(text, size, paths, count, again, &wrong_again);
    fuzz_check((why == NULL) == (why_again == NULL) && wrong == wrong_again);
    if (why != NULL) {
        fuzz_check(wrong <= size && *why != '\0');
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct json_path path;
        const struct json_path *alone[] = {&path};
        fuzz_check(fuzz_same(&found[i], &again[i]));
        fuzz_value(&found[i], text, size);
        fuzz_path_again(paths[i], &path);
        fuzz_check(json_scan(text, size, alone, 1, again, &wrong) == NULL);
        fuzz_check(fuzz_same(&found[i], again));
        json_path_free(&path);
    }
    fuzz_ends(text, size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct json_path read[JSON_PATHS_MAX];
    const struct json_path *paths[JSON_PATHS_MAX];
    size_t count = 0;
    size_t at = 0;
    while (at < size && bytes[at] != '\n') {
        const uint8_t *newline = memchr(bytes + at, '\n', size - at);
        size_t end = newline != NULL ? (size_t)(newline - bytes) : size;
        size_t length = end - at;
        char *line = fuzz_new(length + 1);
        memcpy(line, bytes + at, length);
        line[length] = '\0';
        if (count < JSON_PATHS_MAX &&
            json_path_parse(&read[count], line) == NULL) {
            paths[count] = &read[count];
            count++;
        }
        free(line);
        at = end + (newline != NULL);
    }
    at += at < size;
    /* A copy, so that reading past the text is noticed. */
    char *text = fuzz_new(size - at);
    memcpy(text, bytes + at, size - at);
    fuzz_text(text, size - at, paths, count);
    free(text);
    while (count > 0) {
        json_path_free(&read[--count]);
    }
    return 0;
}
