/* emit.h - the output of a filter: lines of the input, and lines that it makes.
 *
 * A made line is built from named values. In JSON they are the members of an
 * object; in text they are separated by tabs, without the names. */
#ifndef LAWN_CLI_EMIT_H
#define LAWN_CLI_EMIT_H

#include "filter.h"

/* Emits a line of the input, byte for byte. */
void emit_line(struct filter *filter, const void *at, size_t size);

/* Emit a line at once. emit_unheld() is the pass() of verbs that hold lines,
 * emit_held() is their line_due(). */
enum line_result emit_unheld(struct filter *filter,
                             const struct filter_line *line);
void emit_held(struct filter *filter, const struct lawn_store_timer *timer);

/* Append a value to the made line. */
void emit_word(struct filter *filter, const char *name, const char *word);
void emit_number(struct filter *filter, const char *name, uint64_t number);
void emit_seconds(struct filter *filter, const char *name, uint64_t ns);
void emit_time(struct filter *filter, const char *name, uint64_t time);
void emit_key(struct filter *filter, const char *name, const void *key,
              size_t size);
/* Appends a line of an input, without its carriage return. In JSON, a line of
 * text becomes a string. at NULL: null, in JSON only. */
void emit_input_line(struct filter *filter, unsigned side, const char *name,
                     const void *at, size_t size);

/* Ends the made line. */
void emit_end(struct filter *filter, enum sink_kind kind);

#endif
