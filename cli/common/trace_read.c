/* trace_read.c - parses and reads traces: see trace_read.h. */
#include "trace_read.h"
#include "text.h"

#include <string.h>

/* The index in text_units of the first unit that a tick can have: seconds. */
#define TRACE_READ_UNITS 3

/* A word of a line. Length 0: there is none. */
struct trace_read_word {
    const char *at;
    size_t length;
};

/* Takes the next word from [*at, end). Length 0: there is none. Blanks separate
 * words; other control characters end a word and are not skipped. */
static struct trace_read_word
next_word(const char **at, const char *end)
{
    while (*at < end && (**at == ' ' || **at == '\t')) {
        (*at)++;
    }
    struct trace_read_word word;
    word.at = *at;
    while (*at < end && (unsigned char)**at > ' ') {
        (*at)++;
    }
    word.length = (size_t)(*at - word.at);
    return word;
}

bool
trace_number(const char *digits, size_t length, uint64_t *out)
{
    /* lawn__decimal_read() is not used: with it, `lawn trace stats` took 2 %
     * more instructions. */
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)(unsigned char)digits[i] - '0';
        if (digit > 9 || value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = 10 * value + digit;
    }
    *out = value;
    return length > 0;
}

static bool
word_is(struct trace_read_word word, const char *text)
{
    return strlen(text) == word.length &&
           memcmp(word.at, text, word.length) == 0;
}

/* Fills *wrong, and returns false. Reports the word `found` or, if its length
 * is 0, the rest of the line, which ends at `end`. */
static bool
set_wrong(struct trace_wrong *wrong, const char *expected,
          struct trace_read_word found, const char *end)
{
    wrong->expected = expected;
    wrong->found = found.at < end ? found.at : NULL;
    wrong->length = found.length > 0 ? found.length : (size_t)(end - found.at);
    return false;
}

bool
trace_parse(const char *line, size_t length, struct trace_line *out,
            struct trace_wrong *wrong)
{
    const char *at = line;
    const char *end = line + length;
    struct trace_read_word word = next_word(&at, end);
    if (!trace_number(word.at, word.length, &out->time)) {
        return set_wrong(wrong,
                         "a TIME, a whole number up to 18446744073709551615",
                         word, end);
    }
    word = next_word(&at, end);
    if (word_is(word, "start")) {
        out->kind = TRACE_START;
    } else if (word_is(word, "stop")) {
        out->kind = TRACE_STOP;
    } else {
        return set_wrong(wrong, "start or stop", word, end);
    }
    word = next_word(&at, end);
    if (word.length == 0 || word.length > TRACE_ID_MAX) {
        return set_wrong(wrong, "an ID of 1 to 255 bytes", word, end);
    }
    out->id = word.at;
    out->id_length = word.length;
    out->ttl = 0;
    if (out->kind == TRACE_START) {
        word = next_word(&at, end);
        if (!trace_number(word.at, word.length, &out->ttl)) {
            return set_wrong(wrong,
                             "a TTL, a whole number up to 18446744073709551615",
                             word, end);
        }
        out->ttl += out->ttl == 0;
    }
    word = next_word(&at, end);
    if (word.at < end) {
        return set_wrong(wrong, "the end of the line", word, end);
    }
    return true;
}

/* Closes the current file, opens the next one, and reads its first line. */
static enum trace_lines_got
open_next(struct trace_reader *reader)
{
    struct trace_lines *lines = &reader->lines;
    const char *program = lines->program;
    if (reader->open) {
        trace_lines_close(lines);
        lines->program = program;
        reader->open = false;
        reader->unit_known = true;
    }
    if (reader->left == 0) {
        return TRACE_LINES_END;
    }
    reader->open = trace_lines_open(lines, program, reader->paths[0]);
    lines->program = program;
    if (!reader->open) {
        return TRACE_LINES_WRONG;
    }
    reader->paths++;
    reader->left--;
    reader->events = false;
    const char *line = NULL;
    size_t length = 0;
    enum trace_lines_got got = trace_lines_next(lines, &line, &length);
    if (got == TRACE_LINES_ONE && length == strlen(TRACE_MAGIC) &&
        memcmp(line, TRACE_MAGIC, length) == 0) {
        return TRACE_LINES_ONE;
    }
    lines->line += got == TRACE_LINES_END;
    if (got != TRACE_LINES_WRONG) {
        trace_lines_complain(lines, "'" TRACE_MAGIC "'",
                             got == TRACE_LINES_END ? NULL : line,
                             got == TRACE_LINES_END ? 0 : length);
    }
    return TRACE_LINES_WRONG;
}

void
trace_reader_open(struct trace_reader *reader, const char *program,
                  char **paths, size_t count)
{
    static char dash[] = "-";
    static char *standard_input[] = {dash};
    memset(reader, 0, sizeof(*reader));
    reader->lines.program = program;
    reader->paths = count > 0 ? paths : standard_input;
    reader->left = count > 0 ? count : 1;
    reader->unit_ns = 1000000;
}

void
trace_reader_close(struct trace_reader *reader)
{
    if (reader->open) {
        trace_lines_close(&reader->lines);
    }
    reader->open = false;
}

/* Reads the unit of a line "# unit ms"; other comments are ignored. */
static bool
read_comment(struct trace_reader *reader, const char *line, size_t length)
{
    const char *end = line + length;
    const char *at = line + 1;
    if (!word_is(next_word(&at, end), "unit")) {
        return true;
    }
    struct trace_read_word word = next_word(&at, end);
    uint64_t ns = 0;
    for (size_t i = TRACE_READ_UNITS; i < TEXT_UNITS; i++) {
        if (word_is(word, text_units[i].name)) {
            ns = text_units[i].ns;
        }
    }
    const char *expected = NULL;
    if (ns == 0) {
        expected = "a unit: s, ms, us or ns";
    } else if (reader->events) {
        expected = "no unit after an event";
    } else if (reader->unit_known && ns != reader->unit_ns) {
        expected = "the same unit as in the previous file";
    }
    if (expected != NULL) {
        trace_lines_complain(&reader->lines, expected,
                             word.length > 0 ? word.at : NULL, word.length);
        return false;
    }
    reader->unit_ns = ns;
    return true;
}

/* Parses an event, or prints why it is invalid. */
static enum trace_lines_got
read_event(struct trace_reader *reader, const char *line, size_t length,
           struct trace_line *out)
{
    struct trace_wrong wrong;
    if (!trace_parse(line, length, out, &wrong)) {
        trace_lines_complain(&reader->lines, wrong.expected, wrong.found,
                             wrong.length);
        return TRACE_LINES_WRONG;
    }
    if (out->time < reader->time) {
        const char *at = line;
        struct trace_read_word word = next_word(&at, line + length);
        trace_lines_complain(&reader->lines,
                             "a TIME not before that of the previous event",
                             word.at, word.length);
        return TRACE_LINES_WRONG;
    }
    reader->time = out->time;
    reader->events = true;
    return TRACE_LINES_ONE;
}

enum trace_lines_got
trace_reader_next(struct trace_reader *reader, struct trace_line *out)
{
    for (;;) {
        const char *line = NULL;
        size_t length = 0;
        enum trace_lines_got got = TRACE_LINES_END;
        if (reader->open) {
            got = trace_lines_next(&reader->lines, &line, &length);
        }
        if (got == TRACE_LINES_WRONG) {
            return got;
        }
        if (got == TRACE_LINES_END) {
            got = open_next(reader);
            if (got != TRACE_LINES_ONE) {
                return got;
            }
        } else if (length > 0 && line[0] == '#') {
            if (!read_comment(reader, line, length)) {
                return TRACE_LINES_WRONG;
            }
        } else if (length > 0) {
            return read_event(reader, line, length, out);
        }
    }
}
