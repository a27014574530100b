/* json.c - finds values in JSON by their paths: see json.h.
 *
 * The grammar is exactly that of RFC 8259. There is no recursion: an open array
 * or object is stored as one byte, its closing character.
 *
 * Paths that lead to the current value are its hits, one bit per path. For each
 * open container, the paths that lead through it are stored by depth. If there
 * are none, the container and everything in it is only validated. When the name
 * of a member is the next step of a path, the earlier result of that path is
 * cleared. So the last of several equal names counts, even if the path does not
 * exist in its value.
 *
 * Most bytes are in strings. With SSE2 they are examined 16 at a time; the
 * portable way is 8 at a time. On log lines SSE2 is a third faster. JSON_PLAIN
 * selects the portable way. No byte outside the text is read.
 */
#include "json.h"

#include "../../src/base/decimal.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__) && !defined(JSON_PLAIN)
#define JSON_SSE2
#include <emmintrin.h>
#endif

/* The size of arrays indexed by depth: the value of a path with JSON_STEPS_MAX
 * steps may be a container at depth JSON_STEPS_MAX + 1. */
#define JSON_WATCHED (JSON_STEPS_MAX + 2)

/* The arrays are indexed by depth; [1] is the outermost container. */
struct json_scanner {
    const char *end;
    const char *why;   /* the error */
    const char *wrong; /* where the error is */
    const struct json_path *const *paths;
    struct json_value *found;
    size_t count;
    bool escaped;                   /* the last string had escapes */
    unsigned hits;                  /* of the current value */
    unsigned through[JSON_WATCHED]; /* paths with a step into the container */
    unsigned whole[JSON_WATCHED];   /* paths whose value is the container */
    size_t index[JSON_WATCHED];     /* of the current element */
    size_t depth;                   /* number of open containers */
    char closes[JSON_DEPTH_MAX];    /* their closing characters: } or ] */
};

/* Stores the error, and returns NULL. */
static const char *
fail(struct json_scanner *s, const char *at, const char *why)
{
    s->wrong = at;
    s->why = at == s->end ? "unexpected end" : why;
    return NULL;
}

static inline const char *
skip_blanks(const char *at, const char *end)
{
    while (at < end &&
           (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) {
        at++;
    }
    return at;
}

/* Finds the first byte that ends a run of plain characters in a string: a
 * quote, a backslash or a control character. */
static inline const char *
find_special(const char *at, const char *end)
{
#ifdef JSON_SSE2
    while (end - at >= 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i control =
            _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
        __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
        __m128i slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
        int mask = _mm_movemask_epi8(
            _mm_or_si128(control, _mm_or_si128(quote, slash)));
        if (mask != 0) {
            return at + __builtin_ctz((unsigned)mask);
        }
        at += 16;
    }
#else
    while (end - at >= 8) {
        const uint64_t ones = UINT64_MAX / 255;
        uint64_t bytes = 0;
        memcpy(&bytes, at, sizeof(bytes));
        /* A quote is a zero byte of `quote`, a backslash one of `slash`. The
         * condition finds the top bit set in each such byte, and in each byte
         * of `bytes` below 0x20. Only these bytes cause a borrow, which may set
         * top bits of other bytes: then the condition is true anyway. */
        uint64_t quote = bytes ^ ones * '"';
        uint64_t slash = bytes ^ ones * '\\';
        if ((((quote - ones) & ~quote) | ((slash - ones) & ~slash) |
             ((bytes - ones * 0x20) & ~bytes)) &
            ones * 0x80) {
            break;
        }
        at += 8;
    }
#endif
    while (at < end && *at != '"' && *at != '\\' &&
           (unsigned char)*at >= 0x20) {
        at++;
    }
    return at;
}

static int
hex_digit(char c)
{
    if (lawn__decimal_is_digit(c)) {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Validates the escape at a backslash. Returns its end, or NULL. */
static const char *
skip_escape(struct json_scanner *s, const char *at)
{
    at++;
    if (at == s->end) {
        return fail(s, at, NULL);
    }
    if (*at != 'u') {
        if (*at == '\0' || strchr("\"\\/bfnrt", *at) == NULL) {
            return fail(s, at, "unknown escape in a string");
        }
        return at + 1;
    }
    at++;
    for (int i = 0; i < 4; i++, at++) {
        if (at == s->end || hex_digit(*at) < 0) {
            return fail(s, at, "\\u needs four hex digits");
        }
    }
    return at;
}

/* Validates a string after its opening quote. Returns its end, or NULL. */
static inline const char *
skip_string(struct json_scanner *s, const char *at)
{
    s->escaped = false;
    for (;;) {
        at = find_special(at, s->end);
        if (at == s->end) {
            return fail(s, at, NULL);
        }
        if (*at == '"') {
            return at + 1;
        }
        if (*at != '\\') {
            return fail(s, at, "a control character in a string");
        }
        s->escaped = true;
        at = skip_escape(s, at);
        if (at == NULL) {
            return NULL;
        }
    }
}

/* Validates one or more digits. */
static inline const char *
skip_digits(struct json_scanner *s, const char *at)
{
    if (at == s->end || !lawn__decimal_is_digit(*at)) {
        return fail(s, at, "a digit is missing");
    }
    do {
        at++;
    } while (at < s->end && lawn__decimal_is_digit(*at));
    return at;
}

static inline const char *
skip_number(struct json_scanner *s, const char *at)
{
    if (*at == '-') {
        at++;
    }
    if (at < s->end && *at == '0') {
        at++;
    } else {
        at = skip_digits(s, at);
    }
    if (at != NULL && at < s->end && *at == '.') {
        at = skip_digits(s, at + 1);
    }
    if (at != NULL && at < s->end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < s->end && (*at == '+' || *at == '-')) {
            at++;
        }
        at = skip_digits(s, at);
    }
    return at;
}

static const char *
skip_literal(struct json_scanner *s, const char *at, const char *literal)
{
    for (; *literal != '\0'; literal++, at++) {
        if (at == s->end || *at != *literal) {
            return fail(s, at, "a value is missing");
        }
    }
    return at;
}

/* Stores the current value for the paths that lead to it. */
static void
store_value(struct json_scanner *s, struct json_value value)
{
    for (size_t i = 0; i < s->count; i++) {
        if ((s->hits >> i & 1) != 0 && s->paths[i]->count == s->depth) {
            s->found[i] = value;
        }
    }
}

/* Validates a value that is not a container. Returns its end, or NULL. */
static inline const char *
scan_scalar(struct json_scanner *s, const char *at)
{
    struct json_value value = {JSON_OTHER, false, at, 0};
    if (at == s->end) {
        return fail(s, at, NULL);
    }
    const char *after = NULL;
    switch (*at) {
    case '"':
        after = skip_string(s, at + 1);
        value.kind = JSON_STRING;
        break;
    case 't':
        after = skip_literal(s, at, "true");
        break;
    case 'f':
        after = skip_literal(s, at, "false");
        break;
    case 'n':
        after = skip_literal(s, at, "null");
        value.kind = JSON_NULL;
        break;
    default:
        if (*at != '-' && !lawn__decimal_is_digit(*at)) {
            return fail(s, at, "a value is missing");
        }
        after = skip_number(s, at);
        value.kind = JSON_NUMBER;
    }
    if (s->hits != 0 && after != NULL) {
        value.size = (size_t)(after - at);
        if (value.kind == JSON_STRING) {
            value.escaped = s->escaped;
            value.at++;
            value.size -= 2;
        }
        store_value(s, value);
    }
    return after;
}

static size_t
encode_utf8(char *out, unsigned code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* Returns the value of four hex digits. */
static unsigned
parse_hex(const char *at)
{
    unsigned code = 0;
    for (int i = 0; i < 4; i++) {
        code = code << 4 | (unsigned)hex_digit(at[i]);
    }
    return code;
}

static char
escape_meaning(char letter)
{
    switch (letter) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return letter;
    }
}

/* Decodes the escape at *at to UTF-8, and advances *at. Returns the size. */
static size_t
decode_escape(const char **at, const char *end, char out[4])
{
    if ((*at)[1] != 'u') {
        out[0] = escape_meaning((*at)[1]);
        *at += 2;
        return 1;
    }
    unsigned code = parse_hex(*at + 2);
    *at += 6;
    if (code < 0xd800 || code > 0xdfff) {
        return encode_utf8(out, code);
    }
    if (code < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' &&
        (*at)[1] == 'u') {
        unsigned low = parse_hex(*at + 2);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *at += 6;
            return encode_utf8(out, 0x10000 + ((code - 0xd800) << 10) +
                                        (low - 0xdc00));
        }
    }
    return encode_utf8(out, code);
}

size_t
json_unescape(const struct json_value *value, char *out)
{
    const char *at = value->at;
    const char *end = at + value->size;
    char *to = out;
    while (at < end) {
        const char *slash = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((slash != NULL ? slash : end) - at);
        memcpy(to, at, plain);
        to += plain;
        at += plain;
        if (slash != NULL) {
            to += decode_escape(&at, end, to);
        }
    }
    return (size_t)(to - out);
}

/* Returns whether the string with escapes from at to end is the name of the
 * step. */
static bool
is_escaped_name(const struct json_step *step, const char *at, const char *end)
{
    size_t done = 0;
    while (at < end) {
        char bytes[4];
        size_t size = 1;
        if (*at == '\\') {
            size = decode_escape(&at, end, bytes);
        } else {
            bytes[0] = *at++;
        }
        if (size > step->size - done ||
            memcmp(step->name + done, bytes, size) != 0) {
            return false;
        }
        done += size;
    }
    return done == step->size;
}

/* Computes the hits of the member whose name is from at to end. */
static void
match_name(struct json_scanner *s, const char *at, const char *end)
{
    size_t size = (size_t)(end - at);
    for (size_t i = 0; i < s->count; i++) {
        if ((s->through[s->depth] >> i & 1) == 0) {
            continue;
        }
        const struct json_step *step = &s->paths[i]->steps[s->depth - 1];
        if (s->escaped
                ? is_escaped_name(step, at, end)
                : size == step->size && memcmp(step->name, at, size) == 0) {
            s->found[i].kind = JSON_MISSING;
            s->hits |= 1u << i;
        }
    }
}

/* Validates the name of a member and its colon, and computes its hits. Returns
 * where its value starts, or NULL. */
static inline const char *
scan_name(struct json_scanner *s, const char *at)
{
    at = skip_blanks(at, s->end);
    if (at == s->end || *at != '"') {
        return fail(s, at, "a name in quotes is missing");
    }
    const char *name = at + 1;
    at = skip_string(s, name);
    if (at == NULL) {
        return NULL;
    }
    s->hits = 0;
    if (s->depth < JSON_WATCHED && s->through[s->depth] != 0) {
        match_name(s, name, at - 1);
    }
    at = skip_blanks(at, s->end);
    if (at == s->end || *at != ':') {
        return fail(s, at, "a colon is missing");
    }
    return skip_blanks(at + 1, s->end);
}

/* Computes the hits of the first or the next element of an array. */
static inline void
match_element(struct json_scanner *s, bool first)
{
    size_t depth = s->depth;
    s->hits = 0;
    if (depth >= JSON_WATCHED || s->through[depth] == 0) {
        return;
    }
    s->index[depth] = first ? 0 : s->index[depth] + 1;
    for (size_t i = 0; i < s->count; i++) {
        if ((s->through[depth] >> i & 1) != 0 &&
            s->paths[i]->steps[depth - 1].index == s->index[depth]) {
            s->hits |= 1u << i;
        }
    }
}

/* Opens the container that starts at a brace or bracket. */
static inline bool
open_container(struct json_scanner *s, const char *at)
{
    bool object = *at == '{';
    if (s->depth == JSON_DEPTH_MAX) {
        return fail(s, at, "nested too deeply") != NULL;
    }
    s->closes[s->depth] = object ? '}' : ']';
    size_t depth = ++s->depth;
    if (depth < JSON_WATCHED) {
        s->through[depth] = s->whole[depth] = 0;
    }
    if (s->hits == 0) {
        return true;
    }
    for (size_t i = 0; i < s->count; i++) {
        if ((s->hits >> i & 1) == 0) {
            continue;
        }
        const struct json_path *path = s->paths[i];
        if (path->count == depth - 1) {
            s->found[i] = (struct json_value){JSON_OTHER, false, at, 0};
            s->whole[depth] |= 1u << i;
        } else if ((path->steps[depth - 1].name != NULL) == object) {
            s->through[depth] |= 1u << i;
        }
    }
    return true;
}

/* Closes the container that ends at a brace or bracket. */
static inline void
close_container(struct json_scanner *s, const char *at)
{
    size_t depth = s->depth--;
    if (depth >= JSON_WATCHED || s->whole[depth] == 0) {
        return;
    }
    for (size_t i = 0; i < s->count; i++) {
        if ((s->whole[depth] >> i & 1) != 0) {
            s->found[i].size = (size_t)(at + 1 - s->found[i].at);
        }
    }
}

/* Skips from the end of a value to the next value, or to the end of the
 * text. */
static inline const char *
next_value(struct json_scanner *s, const char *at)
{
    while (s->depth > 0) {
        char close = s->closes[s->depth - 1];
        at = skip_blanks(at, s->end);
        if (at < s->end && *at == ',') {
            if (close == '}') {
                return scan_name(s, at + 1);
            }
            match_element(s, false);
            return skip_blanks(at + 1, s->end);
        }
        if (at == s->end || *at != close) {
            return fail(s, at,
                        close == '}' ? "expected , or }" : "expected , or ]");
        }
        close_container(s, at);
        at++;
    }
    at = skip_blanks(at, s->end);
    return at == s->end ? at : fail(s, at, "unexpected text after the value");
}

const char *
json_scan(const char *text, size_t size, const struct json_path *const *paths,
          size_t count, struct json_value *found, size_t *wrong)
{
    assert(count <= JSON_PATHS_MAX);
    struct json_scanner s;
    s.end = text + size;
    s.paths = paths;
    struct json_value values[JSON_PATHS_MAX];
    s.found = values;
    s.count = count;
    s.hits = (1u << count) - 1;
    s.depth = 0;
    for (size_t i = 0; i < count; i++) {
        values[i] = (struct json_value){JSON_MISSING, false, NULL, 0};
    }
    const char *at = skip_blanks(text, s.end);
    do {
        if (at == s.end || (*at != '{' && *at != '[')) {
            at = scan_scalar(&s, at);
        } else if (!open_container(&s, at)) {
            at = NULL;
        } else {
            char close = s.closes[s.depth - 1];
            at = skip_blanks(at + 1, s.end);
            if (at == s.end || *at != close) {
                if (close == '}') {
                    at = scan_name(&s, at);
                } else {
                    match_element(&s, true);
                }
                continue;
            }
        }
        if (at != NULL) {
            at = next_value(&s, at);
        }
    } while (at != NULL && (at != s.end || s.depth > 0));
    if (at == NULL) {
        *wrong = (size_t)(s.wrong - text);
        return s.why;
    }
    if (count > 0) {
        memcpy(found, values, count * sizeof(*found));
    }
    return NULL;
}

/* Sets the name of a step: a string without its quotes, with or without
 * escapes. */
static const char *
set_step_name(struct json_step *step, const char *at, size_t size, bool escaped)
{
    struct json_value value = {JSON_STRING, escaped, at, size};
    step->name = malloc(size > 0 ? size : 1);
    if (step->name == NULL) {
        return "out of memory";
    }
    if (escaped) {
        size = json_unescape(&value, step->name);
    } else {
        memcpy(step->name, at, size);
    }
    step->size = size;
    return NULL;
}

/* Parses a name in quotes at *at, and advances *at. */
static const char *
parse_quoted(struct json_step *step, const char **at)
{
    struct json_scanner s;
    s.end = *at + strlen(*at);
    const char *after = skip_string(&s, *at + 1);
    if (after == NULL) {
        return s.wrong == s.end ? "a quote is missing" : s.why;
    }
    const char *wrong =
        set_step_name(step, *at + 1, (size_t)(after - *at) - 2, s.escaped);
    *at = after;
    return wrong;
}

/* Parses an index or a name in brackets at *at, and advances *at. */
static const char *
parse_bracket(struct json_step *step, const char **at)
{
    const char *c = *at + 1;
    if (*c == '"') {
        const char *wrong = parse_quoted(step, &c);
        if (wrong != NULL) {
            return wrong;
        }
    } else {
        if (!lawn__decimal_is_digit(*c)) {
            return "brackets must contain a number or a name in quotes";
        }
        uint64_t index = 0;
        c = lawn__decimal_read(c, c + strlen(c), SIZE_MAX, &index);
        if (lawn__decimal_is_digit(*c)) {
            return "the index is out of range";
        }
        step->index = (size_t)index;
    }
    if (*c != ']') {
        return "a ] is missing";
    }
    *at = c + 1;
    return NULL;
}

/* Parses a step at *at, and advances *at. */
static const char *
parse_step(struct json_step *step, const char **at, bool first)
{
    if (**at == '[' && !first) {
        return parse_bracket(step, at);
    }
    if (**at != '.') {
        return first ? "a JSON path begins with a dot" : "a dot is missing";
    }
    ++*at;
    if (**at == '[') {
        return parse_bracket(step, at);
    }
    if (**at == '"') {
        return parse_quoted(step, at);
    }
    size_t size = strcspn(*at, ".[]\" \t");
    if (size == 0) {
        return "a name is missing after a dot";
    }
    const char *name = *at;
    *at += size;
    if (**at != '\0' && **at != '.' && **at != '[') {
        return "a name with special characters needs quotes: .\"odd name\"";
    }
    return set_step_name(step, name, size, false);
}

const char *
json_path_parse(struct json_path *path, const char *text)
{
    const char *wrong = NULL;
    path->count = 0;
    if (strcmp(text, ".") == 0) {
        return NULL;
    }
    do {
        if (path->count == JSON_STEPS_MAX) {
            wrong = "more than 16 steps";
            break;
        }
        struct json_step *step = &path->steps[path->count];
        *step = (struct json_step){NULL, 0, 0};
        wrong = parse_step(step, &text, path->count == 0);
        path->count++;
    } while (wrong == NULL && *text != '\0');
    if (wrong != NULL) {
        json_path_free(path);
    }
    return wrong;
}

void
json_path_free(struct json_path *path)
{
    for (size_t i = 0; i < path->count; i++) {
        free(path->steps[i].name);
    }
    path->count = 0;
}
