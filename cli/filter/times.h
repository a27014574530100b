/* times.h - times and lengths of time in lines, as nanoseconds.
 *
 * Read and printed in integers, so that 0.1 s is 100,000,000 ns. Texts are given
 * with their size, and need no NUL at the end. O(length).
 */
#ifndef LAWN_CLI_TIMES_H
#define LAWN_CLI_TIMES_H

#include "text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of plain numbers. */
enum times_unit { TIMES_S, TIMES_MS, TIMES_US, TIMES_NS };

/* How a time was written, and gets written again. */
enum times_form { TIMES_NUMBER, TIMES_RFC3339 };

/* The units' names, NULL after the last: s, ms, us, ns. */
extern const char *const times_units[];

/* Reads a time since 1970: a decimal number of units, fraction and exponent
 * allowed, or RFC 3339. What is below a nanosecond is cut off. False: it is
 * neither, negative, or LAWN_NEVER or more. form may be NULL. */
bool times_read(const char *text, size_t size, enum times_unit unit,
                uint64_t *ns, enum times_form *form);

/* Whether it begins as a date does, 2026-11-15, and so is no number. */
bool times_is_dated(const char *text, size_t size);

/* Reads a length of time: a number of units likewise, or a duration such as
 * 1h30m. */
bool times_read_length(const char *text, size_t size, enum times_unit unit,
                       uint64_t *ns);

/* The unit that the name of a field ends with, _ms, _us or _ns; else seconds.
 * Quotes and brackets after it do not matter: ["delay_ms"]. */
enum times_unit times_unit_of(const char *name);

/* 1700000000.25, in units; or 2023-11-14T22:13:20.25Z. Exact, and without
 * zeros at the end of the fraction. */
struct text times_text(uint64_t ns, enum times_form form, enum times_unit unit);

/* 2023-11-14T22:13:20.250Z: with milliseconds, the rest cut off. */
struct text times_text_ms(uint64_t ns);

#endif
