/* emit.c - the output of a filter: see emit.h. */
#include "emit.h"
#include "clock.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)

void
emit_line(struct filter *filter, const void *at, size_t size)
{
    sink_append(&filter->io.sink, at, size);
    sink_end_line(&filter->io.sink, SINK_INPUT);
}

enum line_result
emit_unheld(struct filter *filter, const struct filter_line *line)
{
    emit_line(filter, line->at, line->size);
    return LINE_WRITTEN;
}

void
emit_held(struct filter *filter, const struct lawn_store_timer *timer)
{
    emit_line(filter, timer->payload, timer->payload_size);
}

/* Appends the separator before a value, and in JSON its name. */
static void
begin_value(struct filter *filter, const char *name)
{
    struct sink *sink = &filter->io.sink;
    if (filter->options.json) {
        sink_append_text(sink, filter->io.pieces == 0 ? "{\"" : ",\"");
        sink_append_text(sink, name);
        sink_append_text(sink, "\":");
    } else if (filter->io.pieces > 0) {
        sink_append_text(sink, "\t");
    }
    filter->io.pieces++;
}

/* Appends a word without characters to escape; in JSON, in quotes. */
static void
append_quoted(struct filter *filter, const char *word)
{
    const char *quote = filter->options.json ? "\"" : "";
    sink_append_text(&filter->io.sink, quote);
    sink_append_text(&filter->io.sink, word);
    sink_append_text(&filter->io.sink, quote);
}

void
emit_word(struct filter *filter, const char *name, const char *word)
{
    begin_value(filter, name);
    append_quoted(filter, word);
}

void
emit_number(struct filter *filter, const char *name, uint64_t number)
{
    begin_value(filter, name);
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, number);
    sink_append_text(&filter->io.sink, text);
}

void
emit_seconds(struct filter *filter, const char *name, uint64_t ns)
{
    if (!clock_is_event_time(filter)) {
        ns -= ns % NS_PER_MS;
    }
    begin_value(filter, name);
    sink_append_text(&filter->io.sink,
                     times_format(ns, TIMES_NUMBER, TIMES_S).s);
}

void
emit_time(struct filter *filter, const char *name, uint64_t time)
{
    begin_value(filter, name);
    if (!clock_is_event_time(filter)) {
        append_quoted(filter, times_format_ms(time).s);
    } else if (filter->clock.form == TIMES_RFC3339) {
        append_quoted(
            filter,
            times_format(time, filter->clock.form, filter->clock.unit).s);
    } else {
        sink_append_text(
            &filter->io.sink,
            times_format(time, filter->clock.form, filter->clock.unit).s);
    }
}

/* Returns whether text starts with a surrogate, as json_unescape() encodes
 * it. */
static bool
is_surrogate(const unsigned char *text, size_t size)
{
    return size >= 3 && text[0] == 0xed && text[1] >= 0xa0 && text[1] <= 0xbf &&
           text[2] >= 0x80 && text[2] <= 0xbf;
}

/* Appends bytes as a JSON string. A surrogate becomes an escape. Another
 * byte that is not UTF-8 becomes U+FFFD. */
static void
append_json_string(struct sink *sink, const unsigned char *text, size_t size)
{
    sink_append_text(sink, "\"");
    for (size_t i = 0; i < size;) {
        size_t length = text_utf8((const char *)text + i, size - i);
        char escape[8];
        if (is_surrogate(text + i, size - i)) {
            unsigned code =
                0xd000u | (text[i + 1] & 0x3fu) << 6 | (text[i + 2] & 0x3fu);
            snprintf(escape, sizeof(escape), "\\u%04x", code & 0xffffu);
            sink_append_text(sink, escape);
            length = 3;
        } else if (length == 0) {
            sink_append_text(sink, "\xef\xbf\xbd"); /* U+FFFD */
            length = 1;
        } else if (text[i] == '"' || text[i] == '\\') {
            snprintf(escape, sizeof(escape), "\\%c", text[i]);
            sink_append_text(sink, escape);
        } else if (text[i] < 0x20) {
            snprintf(escape, sizeof(escape), "\\u%04x", text[i]);
            sink_append_text(sink, escape);
        } else {
            sink_append(sink, text + i, length);
        }
        i += length;
    }
    sink_append_text(sink, "\"");
}

void
emit_key(struct filter *filter, const char *name, const void *key, size_t size)
{
    begin_value(filter, name);
    if (filter->options.json) {
        append_json_string(&filter->io.sink, key, size);
    } else {
        sink_append(&filter->io.sink, key, size);
    }
}

void
emit_input_line(struct filter *filter, unsigned side, const char *name,
                const void *at, size_t size)
{
    const char *text = at;
    begin_value(filter, name);
    if (text != NULL && size > 0 && text[size - 1] == '\r') {
        size--;
    }
    if (text == NULL) {
        sink_append_text(&filter->io.sink, "null");
    } else if (filter->options.json && !filter->io.fields[side].json) {
        append_json_string(&filter->io.sink, at, size);
    } else {
        sink_append(&filter->io.sink, text, size);
    }
}

void
emit_end(struct filter *filter, enum sink_kind kind)
{
    if (filter->options.json) {
        sink_append_text(&filter->io.sink, "}");
    }
    filter->io.pieces = 0;
    sink_end_line(&filter->io.sink, kind);
}
