/* put.c - what a filter writes: see put.h. */
#include "put.h"
#include "clock.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PUT_MS UINT64_C(1000000)

void
put_line(struct filter *filter, const void *at, size_t size)
{
    sink_bytes(&filter->sink, at, size);
    sink_end(&filter->sink, SINK_INPUT);
}

void
put_at_once(struct filter *filter, const struct filter_line *line)
{
    put_line(filter, line->at, line->size);
}

void
put_held(struct filter *filter, const struct lawn_store_timer *timer)
{
    put_line(filter, timer->payload, timer->payload_size);
}

/* What stands before a piece. */
static void
put_name(struct filter *filter, const char *name)
{
    struct sink *sink = &filter->sink;
    if (filter->options.json) {
        sink_text(sink, filter->pieces == 0 ? "{\"" : ",\"");
        sink_text(sink, name);
        sink_text(sink, "\":");
    } else if (filter->pieces > 0) {
        sink_text(sink, "\t");
    }
    filter->pieces++;
}

/* A word that needs no escapes. */
static void
put_quoted(struct filter *filter, const char *word)
{
    const char *quote = filter->options.json ? "\"" : "";
    sink_text(&filter->sink, quote);
    sink_text(&filter->sink, word);
    sink_text(&filter->sink, quote);
}

void
put_word(struct filter *filter, const char *name, const char *word)
{
    put_name(filter, name);
    put_quoted(filter, word);
}

void
put_number(struct filter *filter, const char *name, uint64_t number)
{
    char text[24];
    put_name(filter, name);
    snprintf(text, sizeof text, "%" PRIu64, number);
    sink_text(&filter->sink, text);
}

void
put_seconds(struct filter *filter, const char *name, uint64_t ns)
{
    if (!clock_is_event(filter))
        ns -= ns % PUT_MS;
    put_name(filter, name);
    sink_text(&filter->sink, times_text(ns, TIMES_NUMBER, TIMES_S).s);
}

void
put_time(struct filter *filter, const char *name, uint64_t time)
{
    put_name(filter, name);
    if (!clock_is_event(filter))
        put_quoted(filter, times_text_ms(time).s);
    else if (filter->form == TIMES_RFC3339)
        put_quoted(filter, times_text(time, filter->form, filter->unit).s);
    else
        sink_text(&filter->sink,
                  times_text(time, filter->form, filter->unit).s);
}

/* A string of JSON. */
static void
put_string(struct sink *sink, const unsigned char *text, size_t size)
{
    sink_text(sink, "\"");
    for (size_t i = 0; i < size;) {
        size_t length = text_utf8((const char *)text + i, size - i);
        char escape[8];
        if (length == 0) {
            sink_text(sink, "\xef\xbf\xbd"); /* U+FFFD */
            length = 1;
        } else if (text[i] == '"' || text[i] == '\\') {
            snprintf(escape, sizeof escape, "\\%c", text[i]);
            sink_text(sink, escape);
        } else if (text[i] < 0x20) {
            snprintf(escape, sizeof escape, "\\u%04x", text[i]);
            sink_text(sink, escape);
        } else {
            sink_bytes(sink, text + i, length);
        }
        i += length;
    }
    sink_text(sink, "\"");
}

void
put_key(struct filter *filter, const char *name, const void *key, size_t size)
{
    put_name(filter, name);
    if (filter->options.json)
        put_string(&filter->sink, key, size);
    else
        sink_bytes(&filter->sink, key, size);
}

void
put_input(struct filter *filter, unsigned side, const char *name,
          const void *at, size_t size)
{
    const char *text = at;
    put_name(filter, name);
    if (text != NULL && size > 0 && text[size - 1] == '\r')
        size--;
    if (text == NULL)
        sink_text(&filter->sink, "null");
    else if (filter->options.json && !filter->fields[side].json)
        put_string(&filter->sink, at, size);
    else
        sink_bytes(&filter->sink, text, size);
}

void
put_end(struct filter *filter, enum sink_kind kind)
{
    if (filter->options.json)
        sink_text(&filter->sink, "}");
    filter->pieces = 0;
    sink_end(&filter->sink, kind);
}
