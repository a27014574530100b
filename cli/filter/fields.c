/* fields.c - finds the key, the time and the TTL in a line: see fields.h.
 *
 * Found bytes point into the line, except JSON strings with escapes: these are
 * unescaped into a buffer that grows to the longest of them.
 */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): re_search() */
#include "fields.h"

#include "../../src/base/decimal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Formats why a field or a line is invalid. */
__attribute__((format(printf, 2, 3))) static const char *
fail(struct fields *fields, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(fields->wrong, sizeof(fields->wrong), format, args);
    va_end(args);
    return fields->wrong;
}

static const char *
add_column(struct fields *fields, struct field *one)
{
    one->kind = FIELDS_COLUMN;
    uint64_t column = 0;
    const char *end = one->text + strlen(one->text);
    const char *stop = lawn__decimal_read(one->text, end, SIZE_MAX, &column);
    if (stop < end) {
        return fail(fields, lawn__decimal_is_digit(*stop)
                                ? "column out of range"
                                : "a column must be a number");
    }
    one->column = (size_t)column;
    return NULL;
}

static const char *
add_regex(struct fields *fields, struct field *one)
{
    size_t size = strlen(one->text);
    if (size < 2 || one->text[size - 1] != '/') {
        return fail(fields, "missing final slash in the regex; append a slash");
    }
    if (size == 2) {
        return fail(fields, "the regex is empty");
    }
    /* Matching back-references takes unbounded time; \d would match the letter
     * d. */
    for (const char *c = one->text; *c != '\0'; c++) {
        if (*c != '\\') {
            continue;
        }
        if (*++c == 'd' || *c == 'D') {
            return fail(fields, "\\%c is not supported: use [0-9]", *c);
        }
        if (*c >= '1' && *c <= '9') {
            return fail(fields, "\\%c: back-references are not supported", *c);
        }
    }
    char *regex = strndup(one->text + 1, size - 2);
    if (regex == NULL) {
        return fail(fields, "out of memory");
    }
    int error = regcomp(&one->regex, regex, REG_EXTENDED);
    free(regex);
    if (error != 0) {
        char why[128];
        regerror(error, &one->regex, why, sizeof(why));
        return fail(fields, "%s", why);
    }
    one->regex.regs_allocated = REGS_FIXED; /* only the two that are used */
    one->kind = FIELDS_REGEX;
    return NULL;
}

const char *
fields_add(struct fields *fields, const char *text)
{
    assert(fields->count < FIELDS_MAX);
    struct field *one = &fields->one[fields->count];
    const char *wrong = NULL;
    one->kind = FIELDS_NOTHING;
    one->text = text;
    if (text == NULL) {
        /* no field is found */
    } else if (strlen(text) > FIELDS_TEXT_MAX) {
        wrong = fail(fields, "longer than %u bytes", FIELDS_TEXT_MAX);
    } else if (lawn__decimal_is_digit(text[0])) {
        wrong = add_column(fields, one);
    } else if (text[0] == '.') {
        wrong = json_path_parse(&one->path, text);
        if (wrong != NULL) {
            return fail(fields, "%s", wrong);
        }
        one->kind = FIELDS_JSON;
        fields->json = true;
    } else if (text[0] == '/') {
        wrong = add_regex(fields, one);
    } else {
        wrong = fail(fields, "neither a column (3), nor a JSON "
                             "path (.user.id), nor a regex "
                             "(/id=([0-9]+)/)");
    }
    if (wrong == NULL) {
        fields->count++;
    }
    return wrong;
}

void
fields_free(struct fields *fields)
{
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->one[i].kind == FIELDS_JSON) {
            json_path_free(&fields->one[i].path);
        } else if (fields->one[i].kind == FIELDS_REGEX) {
            regfree(&fields->one[i].regex);
        }
    }
    free(fields->scratch);
    fields->count = 0;
    fields->scratch = NULL;
    fields->scratch_size = 0;
}

static inline bool
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Finds a column, 1 or more, between runs of blanks. */
static bool
find_between_blanks(size_t column, const char *at, const char *end,
                    struct fields_bytes *found)
{
    for (;;) {
        while (at < end && is_blank(*at)) {
            at++;
        }
        if (at == end) {
            return false;
        }
        const char *begin = at;
        do {
            at++;
        } while (at < end && !is_blank(*at));
        if (--column == 0) {
            *found = (struct fields_bytes){begin, (size_t)(at - begin)};
            return true;
        }
    }
}

/* Finds a column, 1 or more, between single delimiters. An empty line is
 * one empty column. */
static bool
find_between_delimiters(size_t column, int delimiter, const char *at,
                        const char *end, struct fields_bytes *found)
{
    for (;;) {
        const char *stop = memchr(at, delimiter, (size_t)(end - at));
        if (--column == 0) {
            *found = (struct fields_bytes){
                at, (size_t)((stop != NULL ? stop : end) - at)};
            return true;
        }
        if (stop == NULL) {
            return false;
        }
        at = stop + 1;
    }
}

static const char *
find_column(struct fields *fields, const struct field *one, const char *line,
            size_t size, struct fields_bytes *found)
{
    bool there = true;
    if (one->column == 0) {
        *found = (struct fields_bytes){line, size};
    } else if (fields->delimiter > 0) {
        there = find_between_delimiters(one->column, fields->delimiter, line,
                                        line + size, found);
    } else {
        there = find_between_blanks(one->column, line, line + size, found);
    }
    return there ? NULL : fail(fields, "no column %zu", one->column);
}

/* Finds the first group, or without groups the whole match. regexec() is not
 * used: AddressSanitizer expects its text to end with a NUL byte, even with
 * REG_STARTEND. */
static const char *
find_regex(struct fields *fields, struct field *one, const char *line,
           size_t size, struct fields_bytes *found)
{
    regoff_t begins[2];
    regoff_t ends[2];
    struct re_registers matches = {2, begins, ends};
    size_t group = one->regex.re_nsub > 0 ? 1 : 0;
    bool whole = size <= FIELDS_REGEX_BYTES;
    regoff_t length = (regoff_t)(whole ? size : FIELDS_REGEX_BYTES);
    one->regex.not_eol = !whole;
    regoff_t place = re_search(&one->regex, line, length, 0, length, &matches);
    if (place < -1) {
        return fail(fields, "out of memory");
    }
    if (place < 0 || begins[group] < 0) {
        return fail(fields,
                    whole ? "no match of %s"
                          : "no match of %s in the first %u bytes",
                    one->text, FIELDS_REGEX_BYTES);
    }
    /* A match that ends at the limit might be longer. */
    if (!whole && ends[0] == length) {
        return fail(fields, "the match of %s must end before byte %u",
                    one->text, FIELDS_REGEX_BYTES);
    }
    found->at = line + begins[group];
    found->size = (size_t)(ends[group] - begins[group]);
    return NULL;
}

/* Unescapes the values that have escapes. */
static bool
unescape_values(struct fields *fields, const struct json_value *values,
                size_t count, struct fields_bytes *const *found)
{
    size_t need = 0;
    for (size_t i = 0; i < count; i++) {
        need += values[i].escaped ? values[i].size : 0;
    }
    if (need > fields->scratch_size) {
        char *bytes = realloc(fields->scratch, need);
        if (bytes == NULL) {
            return false;
        }
        fields->scratch = bytes;
        fields->scratch_size = need;
    }
    char *to = fields->scratch;
    for (size_t i = 0; i < count; i++) {
        if (!values[i].escaped) {
            continue;
        }
        *found[i] = (struct fields_bytes){to, json_unescape(&values[i], to)};
        to += found[i]->size;
    }
    return true;
}

static const char *
find_json(struct fields *fields, const char *line, size_t size,
          struct fields_bytes *found)
{
    const struct json_path *paths[FIELDS_MAX] = {NULL};
    const struct field *ones[FIELDS_MAX];
    struct fields_bytes *to[FIELDS_MAX];
    size_t count = 0;
    bool escaped = false;
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->one[i].kind == FIELDS_JSON) {
            ones[count] = &fields->one[i];
            paths[count] = &fields->one[i].path;
            to[count++] = &found[i];
        }
    }
    struct json_value values[FIELDS_MAX];
    size_t at = 0;
    const char *wrong = json_scan(line, size, paths, count, values, &at);
    if (wrong != NULL) {
        return fail(fields, "not JSON at byte %zu: %s", at + 1, wrong);
    }
    for (size_t i = 0; i < count; i++) {
        if (values[i].kind == JSON_MISSING || values[i].kind == JSON_NULL) {
            return fail(fields, "no %s", ones[i]->text);
        }
        *to[i] = (struct fields_bytes){values[i].at, values[i].size};
        escaped = escaped || values[i].escaped;
    }
    if (escaped && !unescape_values(fields, values, count, to)) {
        return fail(fields, "out of memory");
    }
    return NULL;
}

const char *
fields_find(struct fields *fields, const char *line, size_t size,
            struct fields_bytes *found)
{
    const char *wrong = NULL;
    if (size > 0 && line[size - 1] == '\r') {
        size--;
    }
    if (fields->json) {
        wrong = find_json(fields, line, size, found);
    }
    for (size_t i = 0; i < fields->count && wrong == NULL; i++) {
        struct field *one = &fields->one[i];
        if (one->kind == FIELDS_NOTHING) {
            found[i] = (struct fields_bytes){NULL, 0};
        } else if (one->kind == FIELDS_COLUMN) {
            wrong = find_column(fields, one, line, size, &found[i]);
        } else if (one->kind == FIELDS_REGEX) {
            wrong = find_regex(fields, one, line, size, &found[i]);
        }
    }
    return wrong;
}
