/* text.h - numbers and times as people read them.
 *
 * Each returns its text by value: printf("%s", text_count(n).s). O(length).
 */
#ifndef LAWN_CLI_TEXT_H
#define LAWN_CLI_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct text {
    char s[48];
};

/* Units of time, from days down. */
#define TEXT_UNITS 7
extern const struct text_unit {
    const char *name;
    uint64_t ns;
} text_units[TEXT_UNITS];

struct text text_count(uint64_t n);     /* 1,234,567 */
struct text text_short(double n);       /* 1.2M */
struct text text_ttl(uint64_t ns);      /* exact: 1h30m */
struct text text_lateness(uint64_t ns); /* two or three digits: 4.1 us */

/* How many bytes the character of UTF-8 at text has, of size that there are, one at
 * least; 0: it is none. */
size_t text_utf8(const char *text, size_t size);

/* Prints the words of text in lines that begin at column, where the first one
 * already is, and ends the last. Blanks and newlines separate words; a tab is a
 * blank within one. */
void text_put_words(const char *text, size_t column, FILE *out);

#endif
