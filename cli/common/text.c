/* text.c - formats numbers and times for people. */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT_COLUMNS 79 /* of a terminal with 80 */

struct text
text_count(uint64_t n)
{
    char digits[24];
    struct text text;
    size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, n);
    size_t end = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            text.s[end++] = ',';
        }
        text.s[end++] = digits[i];
    }
    text.s[end] = '\0';
    return text;
}

/* Formats value in the largest unit in which it is at least 1, with two or
 * three digits. Each unit is step times the previous one. */
static struct text
scale(double value, const char *const *units, double step)
{
    struct text text;
    while (units[1] != NULL && value >= step - 0.5) {
        value /= step;
        units++;
    }
    snprintf(text.s, sizeof(text.s), "%.*f%s", value < 9.95 ? 1 : 0, value,
             units[0]);
    return text;
}

struct text
text_short(double n)
{
    static const char *const units[] = {"k", "M", "G", "T", NULL};
    struct text text;
    if (n >= 999.5) {
        return scale(n / 1000, units, 1000);
    }
    snprintf(text.s, sizeof(text.s), "%.0f", n);
    return text;
}

struct text
text_lateness(uint64_t ns)
{
    static const char *const units[] = {" us", " ms", " s", NULL};
    struct text text;
    if (ns >= 1000) {
        return scale((double)ns / 1000, units, 1000);
    }
    snprintf(text.s, sizeof(text.s), "%" PRIu64 " ns", ns);
    return text;
}

const struct text_unit text_units[TEXT_UNITS] = {
    {"d", 86400000000000},
    {"h", 3600000000000},
    {"m", 60000000000},
    {"s", 1000000000},
    {"ms", 1000000},
    {"us", 1000},
    {"ns", 1},
};

struct text
text_ttl(uint64_t ns)
{
    struct text text = {"0s"};
    size_t end = 0;
    for (size_t i = 0; i < TEXT_UNITS; i++) {
        if (ns >= text_units[i].ns) {
            end += (size_t)snprintf(text.s + end, sizeof(text.s) - end,
                                    "%" PRIu64 "%s", ns / text_units[i].ns,
                                    text_units[i].name);
        }
        ns %= text_units[i].ns;
    }
    return text;
}

size_t
text_utf8(const char *text, size_t size)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t length = s[0] < 0x80   ? 1
                    : s[0] < 0xc2 ? 0
                    : s[0] < 0xe0 ? 2
                    : s[0] < 0xf0 ? 3
                    : s[0] < 0xf5 ? 4
                                  : 0;
    if (length == 0 || length > size) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    /* An overlong encoding, a surrogate, or beyond U+10FFFF. */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) {
        return 0;
    }
    return length;
}

void
text_put_words(const char *text, size_t column, FILE *out)
{
    size_t at = column;
    for (;;) {
        text += strspn(text, " \n");
        size_t length = strcspn(text, " \n");
        if (length == 0) {
            break;
        }
        if (at > column && at + 1 + length > TEXT_COLUMNS) {
            fprintf(out, "\n%*s", (int)column, "");
            at = column;
        } else if (at > column) {
            putc(' ', out);
            at++;
        }
        for (size_t i = 0; i < length; i++) {
            putc(text[i] == '\t' ? ' ' : text[i], out);
        }
        text += length;
        at += length;
    }
    putc('\n', out);
}
