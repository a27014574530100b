/* text.h - formats numbers and times for people.
 *
 * Each function returns its text by value: printf("%s", text_count(n).s).
 * O(length).
 */
#ifndef LAWN_CLI_TEXT_H
#define LAWN_CLI_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct text {
    char s[48];
};

/* Units of time, from days to nanoseconds. */
#define TEXT_UNITS 7
extern const struct text_unit {
    const char *name;
    uint64_t ns;
} text_units[TEXT_UNITS];

struct text text_count(uint64_t n);     /* 1,234,567 */
struct text text_short(double n);       /* 1.2M */
struct text text_ttl(uint64_t ns);      /* exact: 1h30m */
struct text text_lateness(uint64_t ns); /* two or three digits: 4.1 us */

/* Returns the number of bytes of the UTF-8 character at text; 0 if it is
 * invalid. size is the number of bytes available, at least 1. */
size_t text_utf8(const char *text, size_t size);

/* Prints the words of text, wrapped to lines that begin at column, and a
 * newline. The cursor must already be at column. Blanks and newlines separate
 * words; a tab is printed as a non-breaking blank. */
void text_put_words(const char *text, size_t column, FILE *out);

#endif
