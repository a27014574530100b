/* json.c - finds values in a JSON text by their paths: see json.h.
 *
 * The grammar is that of RFC 8259, all of it and nothing else. There is no
 * recursion: an open array or object is a byte, the one that closes it.
 *
 * At any time a set of paths, as bits, leads to the value at hand: its hits. A
 * container that paths lead through remembers which, by its depth; so a container
 * without any, and all that is in it, is only checked. When a member's name is the
 * next step of a path, what that path had found is forgotten first: hence the last
 * of equal names counts, also if the path leads nowhere in it.
 *
 * Most bytes are those of strings, and looked at 16 at a time with SSE2, a third
 * faster on lines of logs than the 8 at a time elsewhere; JSON_PLAIN chooses these.
 * No byte outside the text is read.
 */
#include "json.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__) && !defined(JSON_PLAIN)
#define JSON_SSE2
#include <emmintrin.h>
#endif

/* A path's value may be a container, one level below its last step. */
#define JSON_WATCHED (JSON_STEPS_MAX + 2)

/* Arrays by depth: [1] is about the outermost container. */
struct json_scanner {
    const char *end;
    const char *why; /* what is wrong, and where */
    const char *wrong;
    const struct json_path *const *paths;
    struct json_value *found;
    size_t count;
    bool escaped;                   /* the last string was */
    unsigned hits;                  /* of the value at hand */
    unsigned through[JSON_WATCHED]; /* paths with a step into it */
    unsigned whole[JSON_WATCHED];   /* paths whose value it is */
    size_t index[JSON_WATCHED];     /* of the element at hand */
    size_t depth;                   /* how many containers are open */
    char closes[JSON_DEPTH_MAX];    /* what closes them: } or ] */
};

/* NULL, with the reason kept. */
static const char *
json_wrong(struct json_scanner *s, const char *at, const char *why)
{
    s->wrong = at;
    s->why = at == s->end ? "it ends too early" : why;
    return NULL;
}

static bool
json_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline const char *
json_blanks(const char *at, const char *end)
{
    while (at < end &&
           (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

/* The first byte that is not simply part of a string: a quote, a backslash or a
 * control character. */
static inline const char *
json_special(const char *at, const char *end)
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
        if (mask != 0)
            return at + __builtin_ctz((unsigned)mask);
        at += 16;
    }
#else
    while (end - at >= 8) {
        const uint64_t ones = UINT64_MAX / 255;
        uint64_t bytes;
        memcpy(&bytes, at, sizeof bytes);
        /* The top bit of a byte that is 0, or below a limit of at most 128:
         * wrong only beside one that is right. */
        uint64_t quote = bytes ^ ones * '"';
        uint64_t slash = bytes ^ ones * '\\';
        if ((((quote - ones) & ~quote) | ((slash - ones) & ~slash) |
             ((bytes - ones * 0x20) & ~bytes)) &
            ones * 0x80)
            break;
        at += 8;
    }
#endif
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20)
        at++;
    return at;
}

static int
json_hex_digit(char c)
{
    if (json_is_digit(c))
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Checks the escape at a backslash; returns what follows it. */
static const char *
json_escape(struct json_scanner *s, const char *at)
{
    at++;
    if (at == s->end)
        return json_wrong(s, at, NULL);
    if (*at != 'u') {
        if (*at == '\0' || strchr("\"\\/bfnrt", *at) == NULL)
            return json_wrong(s, at, "no such escape in a string");
        return at + 1;
    }
    at++;
    for (int i = 0; i < 4; i++, at++) {
        if (at == s->end || json_hex_digit(*at) < 0)
            return json_wrong(s, at, "\\u needs four hex digits");
    }
    return at;
}

/* Checks a string from behind its quote on; returns what follows it. */
static inline const char *
json_string(struct json_scanner *s, const char *at)
{
    s->escaped = false;
    for (;;) {
        at = json_special(at, s->end);
        if (at == s->end)
            return json_wrong(s, at, NULL);
        if (*at == '"')
            return at + 1;
        if (*at != '\\')
            return json_wrong(s, at, "a control character in a string");
        s->escaped = true;
        at = json_escape(s, at);
        if (at == NULL)
            return NULL;
    }
}

/* One digit or more. */
static inline const char *
json_digits(struct json_scanner *s, const char *at)
{
    if (at == s->end || !json_is_digit(*at))
        return json_wrong(s, at, "a digit is missing");
    do
        at++;
    while (at < s->end && json_is_digit(*at));
    return at;
}

static inline const char *
json_number(struct json_scanner *s, const char *at)
{
    if (*at == '-')
        at++;
    if (at < s->end && *at == '0')
        at++;
    else
        at = json_digits(s, at);
    if (at != NULL && at < s->end && *at == '.')
        at = json_digits(s, at + 1);
    if (at != NULL && at < s->end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < s->end && (*at == '+' || *at == '-'))
            at++;
        at = json_digits(s, at);
    }
    return at;
}

static const char *
json_literal(struct json_scanner *s, const char *at, const char *literal)
{
    for (; *literal != '\0'; literal++, at++) {
        if (at == s->end || *at != *literal)
            return json_wrong(s, at, "a value is missing");
    }
    return at;
}

/* Tells the paths that lead to the value at hand what it is. */
static void
json_tell(struct json_scanner *s, struct json_value value)
{
    for (size_t i = 0; i < s->count; i++) {
        if ((s->hits >> i & 1) != 0 && s->paths[i]->count == s->depth)
            s->found[i] = value;
    }
}

/* Checks a value that is no container; returns what follows it. */
static inline const char *
json_scalar(struct json_scanner *s, const char *at)
{
    struct json_value value = {JSON_OTHER, false, at, 0};
    const char *after;
    if (at == s->end)
        return json_wrong(s, at, NULL);
    switch (*at) {
    case '"':
        after = json_string(s, at + 1);
        value.kind = JSON_STRING;
        break;
    case 't':
        after = json_literal(s, at, "true");
        break;
    case 'f':
        after = json_literal(s, at, "false");
        break;
    case 'n':
        after = json_literal(s, at, "null");
        value.kind = JSON_NULL;
        break;
    default:
        if (*at != '-' && !json_is_digit(*at))
            return json_wrong(s, at, "a value is missing");
        after = json_number(s, at);
        value.kind = JSON_NUMBER;
    }
    if (s->hits != 0 && after != NULL) {
        value.size = (size_t)(after - at);
        if (value.kind == JSON_STRING) {
            value.escaped = s->escaped;
            value.at++;
            value.size -= 2;
        }
        json_tell(s, value);
    }
    return after;
}

static size_t
json_put_utf8(char *out, unsigned code)
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

/* The number of four hex digits. */
static unsigned
json_hex(const char *at)
{
    unsigned code = 0;
    for (int i = 0; i < 4; i++)
        code = code << 4 | (unsigned)json_hex_digit(at[i]);
    return code;
}

static char
json_meaning(char letter)
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

/* Writes what the escape at *at stands for, and moves *at behind it. */
static size_t
json_decode(const char **at, const char *end, char out[4])
{
    if ((*at)[1] != 'u') {
        out[0] = json_meaning((*at)[1]);
        *at += 2;
        return 1;
    }
    unsigned code = json_hex(*at + 2);
    *at += 6;
    if (code < 0xd800 || code > 0xdfff)
        return json_put_utf8(out, code);
    if (code < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' &&
        (*at)[1] == 'u') {
        unsigned low = json_hex(*at + 2);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *at += 6;
            return json_put_utf8(out, 0x10000 + ((code - 0xd800) << 10) +
                                          (low - 0xdc00));
        }
    }
    return json_put_utf8(out, 0xfffd);
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
        if (slash != NULL)
            to += json_decode(&at, end, to);
    }
    return (size_t)(to - out);
}

/* Whether the string with escapes from at up to end is the name of the step. */
static bool
json_is_escaped_name(const struct json_step *step, const char *at,
                     const char *end)
{
    size_t done = 0;
    while (at < end) {
        char bytes[4];
        size_t size = 1;
        if (*at == '\\')
            size = json_decode(&at, end, bytes);
        else
            bytes[0] = *at++;
        if (size > step->size - done ||
            memcmp(step->name + done, bytes, size) != 0)
            return false;
        done += size;
    }
    return done == step->size;
}

/* Finds the hits of the member that is named from at up to end. */
static void
json_match_name(struct json_scanner *s, const char *at, const char *end)
{
    size_t size = (size_t)(end - at);
    for (size_t i = 0; i < s->count; i++) {
        if ((s->through[s->depth] >> i & 1) == 0)
            continue;
        const struct json_step *step = &s->paths[i]->steps[s->depth - 1];
        if (s->escaped
                ? json_is_escaped_name(step, at, end)
                : size == step->size && memcmp(step->name, at, size) == 0) {
            s->found[i].kind = JSON_MISSING;
            s->hits |= 1u << i;
        }
    }
}

/* Checks a member's name and its colon, and finds its hits; returns where its
 * value begins. */
static inline const char *
json_name(struct json_scanner *s, const char *at)
{
    at = json_blanks(at, s->end);
    if (at == s->end || *at != '"')
        return json_wrong(s, at, "a name in quotes is missing");
    const char *name = at + 1;
    at = json_string(s, name);
    if (at == NULL)
        return NULL;
    s->hits = 0;
    if (s->depth < JSON_WATCHED && s->through[s->depth] != 0)
        json_match_name(s, name, at - 1);
    at = json_blanks(at, s->end);
    if (at == s->end || *at != ':')
        return json_wrong(s, at, "a colon is missing");
    return json_blanks(at + 1, s->end);
}

/* Finds the hits of an element, the first or the next of its array. */
static inline void
json_element(struct json_scanner *s, bool first)
{
    size_t depth = s->depth;
    s->hits = 0;
    if (depth >= JSON_WATCHED || s->through[depth] == 0)
        return;
    s->index[depth] = first ? 0 : s->index[depth] + 1;
    for (size_t i = 0; i < s->count; i++) {
        if ((s->through[depth] >> i & 1) != 0 &&
            s->paths[i]->steps[depth - 1].index == s->index[depth])
            s->hits |= 1u << i;
    }
}

/* A container begins at the brace or bracket. */
static inline bool
json_open(struct json_scanner *s, const char *at)
{
    bool object = *at == '{';
    if (s->depth == JSON_DEPTH_MAX)
        return json_wrong(s, at, "it is nested too deep") != NULL;
    s->closes[s->depth] = object ? '}' : ']';
    size_t depth = ++s->depth;
    if (depth < JSON_WATCHED)
        s->through[depth] = s->whole[depth] = 0;
    if (s->hits == 0)
        return true;
    for (size_t i = 0; i < s->count; i++) {
        if ((s->hits >> i & 1) == 0)
            continue;
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

/* A container has ended at its closing brace or bracket. */
static inline void
json_close(struct json_scanner *s, const char *at)
{
    size_t depth = s->depth--;
    if (depth >= JSON_WATCHED || s->whole[depth] == 0)
        return;
    for (size_t i = 0; i < s->count; i++) {
        if ((s->whole[depth] >> i & 1) != 0)
            s->found[i].size = (size_t)(at + 1 - s->found[i].at);
    }
}

/* From the end of a value to the next one in the innermost container that goes
 * on, or to the end of the text. */
static inline const char *
json_next(struct json_scanner *s, const char *at)
{
    while (s->depth > 0) {
        char close = s->closes[s->depth - 1];
        at = json_blanks(at, s->end);
        if (at < s->end && *at == ',') {
            if (close == '}')
                return json_name(s, at + 1);
            json_element(s, false);
            return json_blanks(at + 1, s->end);
        }
        if (at == s->end || *at != close)
            return json_wrong(s, at,
                              close == '}' ? "neither comma nor }"
                                           : "neither comma nor ]");
        json_close(s, at);
        at++;
    }
    at = json_blanks(at, s->end);
    return at == s->end ? at : json_wrong(s, at, "more after the value");
}

const char *
json_scan(const char *text, size_t size, const struct json_path *const *paths,
          size_t count, struct json_value *found, size_t *wrong)
{
    struct json_scanner s;
    struct json_value values[JSON_PATHS_MAX];
    assert(count <= JSON_PATHS_MAX);
    s.end = text + size;
    s.paths = paths;
    s.found = values;
    s.count = count;
    s.hits = (1u << count) - 1;
    s.depth = 0;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct json_value){JSON_MISSING, false, NULL, 0};
    const char *at = json_blanks(text, s.end);
    do {
        if (at == s.end || (*at != '{' && *at != '[')) {
            at = json_scalar(&s, at);
        } else if (!json_open(&s, at)) {
            at = NULL;
        } else {
            char close = s.closes[s.depth - 1];
            at = json_blanks(at + 1, s.end);
            if (at == s.end || *at != close) {
                if (close == '}')
                    at = json_name(&s, at);
                else
                    json_element(&s, true);
                continue;
            }
        }
        if (at != NULL)
            at = json_next(&s, at);
    } while (at != NULL && (at != s.end || s.depth > 0));
    if (at == NULL) {
        *wrong = (size_t)(s.wrong - text);
        return s.why;
    }
    if (count > 0)
        memcpy(found, values, count * sizeof *found);
    return NULL;
}

/* Keeps a step's name: a string without its quotes, with or without escapes. */
static const char *
json_path_name(struct json_step *step, const char *at, size_t size,
               bool escaped)
{
    struct json_value value = {JSON_STRING, escaped, at, size};
    step->name = malloc(size > 0 ? size : 1);
    if (step->name == NULL)
        return "no memory";
    if (escaped)
        size = json_unescape(&value, step->name);
    else
        memcpy(step->name, at, size);
    step->size = size;
    return NULL;
}

/* Reads a name in quotes at *at, and moves *at behind it. */
static const char *
json_path_quoted(struct json_step *step, const char **at)
{
    struct json_scanner s;
    s.end = *at + strlen(*at);
    const char *after = json_string(&s, *at + 1);
    if (after == NULL)
        return s.wrong == s.end ? "a quote is missing" : s.why;
    const char *wrong =
        json_path_name(step, *at + 1, (size_t)(after - *at) - 2, s.escaped);
    *at = after;
    return wrong;
}

/* Reads what stands in brackets, and moves *at behind them. */
static const char *
json_path_bracket(struct json_step *step, const char **at)
{
    const char *c = *at + 1;
    if (*c == '"') {
        const char *wrong = json_path_quoted(step, &c);
        if (wrong != NULL)
            return wrong;
    } else {
        if (!json_is_digit(*c))
            return "in brackets stands a number, or a name in quotes";
        for (; json_is_digit(*c); c++) {
            size_t digit = (size_t)(*c - '0');
            if (step->index > (SIZE_MAX - digit) / 10)
                return "an index is too large";
            step->index = step->index * 10 + digit;
        }
    }
    if (*c != ']')
        return "a ] is missing";
    *at = c + 1;
    return NULL;
}

/* Reads a step at *at, the path's first or a further one. */
static const char *
json_path_step(struct json_step *step, const char **at, bool first)
{
    if (**at == '[' && !first)
        return json_path_bracket(step, at);
    if (**at != '.')
        return first ? "a JSON path begins with a point" : "a point is missing";
    ++*at;
    if (**at == '[')
        return json_path_bracket(step, at);
    if (**at == '"')
        return json_path_quoted(step, at);
    size_t size = strcspn(*at, ".[]\" \t");
    if (size == 0)
        return "a name is missing after a point";
    const char *name = *at;
    *at += size;
    if (**at != '\0' && **at != '.' && **at != '[')
        return "a name with odd characters needs quotes: .\"odd name\"";
    return json_path_name(step, name, size, false);
}

const char *
json_path_read(struct json_path *path, const char *text)
{
    const char *wrong = NULL;
    path->count = 0;
    if (strcmp(text, ".") == 0)
        return NULL;
    do {
        if (path->count == JSON_STEPS_MAX) {
            wrong = "a path has at most 16 steps";
            break;
        }
        struct json_step *step = &path->steps[path->count];
        *step = (struct json_step){NULL, 0, 0};
        wrong = json_path_step(step, &text, path->count == 0);
        path->count++;
    } while (wrong == NULL && *text != '\0');
    if (wrong != NULL)
        json_path_free(path);
    return wrong;
}

void
json_path_free(struct json_path *path)
{
    for (size_t i = 0; i < path->count; i++)
        free(path->steps[i].name);
    path->count = 0;
}
