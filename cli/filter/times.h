/* times.h - times and durations in lines, as nanoseconds.
 *
 * They are parsed and printed as integers, so that 0.1 s is 100,000,000 ns.
 * Texts have a size and need not end with NUL. O(length).
 */
#ifndef LAWN_CLI_TIMES_H
#define LAWN_CLI_TIMES_H

#include "text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The unit of a plain number. */
enum times_unit { TIMES_S, TIMES_MS, TIMES_US, TIMES_NS };

/* The form of a time. */
enum times_form { TIMES_NUMBER, TIMES_RFC3339 };

/* The units' names, NULL after the last: s, ms, us, ns. */
extern const char *const times_units[];

/* Parses a time since 1970: a decimal number of units, with optional fraction
 * and exponent, or RFC 3339, with :60 only at 23:59:60 UTC on the last day of a
 * month. Truncates to nanoseconds. Returns false if it is neither, negative, or
 * LAWN_NEVER or more. form may be NULL. */
bool times_parse(const char *text, size_t size, enum times_unit unit,
                 uint64_t *ns, enum times_form *form);

/* Returns whether a text that times_parse() rejects is a time before 1970, or
 * LAWN_NEVER or later. */
bool times_is_out_of_range(const char *text, size_t size);

/* Returns whether a text is RFC 3339 except for a :60 that is not at 23:59:60
 * UTC on the last day of a month. */
bool times_is_bad_leap_second(const char *text, size_t size);

/* Returns whether a text begins like a date, 2026-11-15, and so is not a
 * number. */
bool times_looks_like_date(const char *text, size_t size);

/* Parses a length of time: a number of units as in times_parse(), or a duration
 * such as 1h30m. */
bool times_parse_duration(const char *text, size_t size, enum times_unit unit,
                          uint64_t *ns);

/* Returns the unit of the field name's suffix, _ms, _us or _ns; otherwise
 * seconds. Quotes and brackets after the suffix are ignored: ["delay_ms"]. */
enum times_unit times_unit_of(const char *name);

/* Returns 1700000000.25, in units, or 2023-11-14T22:13:20.25Z: exact, without
 * trailing zeros. */
struct text times_format(uint64_t ns, enum times_form form,
                         enum times_unit unit);

/* Returns 2023-11-14T22:13:20.250Z: milliseconds, truncated. */
struct text times_format_ms(uint64_t ns);

#endif
