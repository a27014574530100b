/* times.c - times and durations in lines: see times.h.
 *
 * A decimal number is a sequence of digits with a point; unit and exponent only
 * move the point. The digits before the point are then the nanoseconds; the
 * digits after it are ignored. Numbers without an exponent and with up to 19
 * digits before the point, nearly all numbers, take a shorter path with the
 * same result.
 *
 * Dates are Gregorian, and computed with years that start in March: then the
 * leap day is the last day of the year.
 */
#include "times.h"

#include "../../src/base/decimal.h"
#include "lawn.h"
#include "options.h"

#include <string.h>

#define TIMES_NS_PER_S 1000000000u
#define TIMES_DURATION_MAX 100           /* bytes; longer text is invalid */
#define TIMES_EXPONENT_MAX 1000000000000 /* beyond any line's length */

const char *const times_units[] = {"s", "ms", "us", "ns", NULL};

/* Month and day count from 1. */
struct times_date {
    uint64_t year, month, day;
};

/* The number of digits from a unit to nanoseconds, and that power of ten. */
static const unsigned times_places[] = {9, 6, 3, 0};
static const uint64_t times_scale[] = {1000000000, 1000000, 1000, 1};

/* Appends a digit to a number, unless the result is LAWN_NEVER or more. */
static bool
append_digit(uint64_t *value, unsigned digit)
{
    return lawn__decimal_append(value, digit, LAWN_NEVER - 1);
}

/* Returns the number of digits at text. */
static size_t
count_digits(const char *text, size_t size)
{
    size_t i = 0;
    while (i < size && lawn__decimal_is_digit(text[i])) {
        i++;
    }
    return i;
}

/* Parses an exponent, from its letter to the end. Clamps large values. */
static bool
parse_exponent(const char *text, size_t size, int64_t *exponent)
{
    bool negative = size > 1 && text[1] == '-';
    size_t i = negative || (size > 1 && text[1] == '+') ? 2 : 1;
    if (text[0] != 'e' && text[0] != 'E') {
        return false;
    }
    if (i == size || count_digits(text + i, size - i) != size - i) {
        return false;
    }
    uint64_t value = 0;
    if (lawn__decimal_read(text + i, text + size, TIMES_EXPONENT_MAX, &value) !=
        text + size) {
        value = TIMES_EXPONENT_MAX;
    }
    *exponent = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

/* Parses the syntax of a number. Sets *end to the end of its digits, *whole to
 * the number of digits before the point, and *exponent. */
static bool
split_number(const char *text, size_t size, size_t *whole, size_t *end,
             int64_t *exponent)
{
    *whole = count_digits(text, size);
    *end = *whole;
    *exponent = 0;
    if (*whole < size && text[*whole] == '.') {
        size_t fraction = count_digits(text + *whole + 1, size - *whole - 1);
        if (fraction == 0) {
            return false;
        }
        *end += 1 + fraction;
    }
    return *whole > 0 &&
           (*end == size || parse_exponent(text + *end, size - *end, exponent));
}

/* Parses any number that begins with a digit. The unit moves its point by
 * `places`. */
static bool
parse_any_number(const char *text, size_t size, unsigned places, uint64_t *ns)
{
    size_t whole = 0;
    size_t end = 0;
    int64_t exponent = 0;
    if (!split_number(text, size, &whole, &end, &exponent)) {
        return false;
    }
    int64_t before = (int64_t)whole + exponent + (int64_t)places;
    uint64_t value = 0;
    for (size_t i = 0; i < end && before > 0; i++) {
        if (text[i] == '.') {
            continue;
        }
        if (!append_digit(&value, (unsigned)(text[i] - '0'))) {
            return false;
        }
        before--;
    }
    for (; value > 0 && before > 0; before--) {
        if (!append_digit(&value, 0)) {
            return false;
        }
    }
    *ns = value;
    return true;
}

static bool
parse_number(const char *text, size_t size, enum times_unit unit, uint64_t *ns)
{
    uint64_t value = 0;
    uint64_t scale = times_scale[unit];
    const char *end = text + (size < 19 ? size : 19);
    size_t i =
        (size_t)(lawn__decimal_read(text, end, UINT64_MAX, &value) - text);
    if (i == 0) {
        return false;
    }
    if (i < size && text[i] != '.') {
        return parse_any_number(text, size, times_places[unit], ns);
    }
    if (value > (LAWN_NEVER - 1) / scale) {
        return false;
    }
    value *= scale;
    if (i < size) {
        uint64_t fraction = 0;
        if (++i == size) {
            return false;
        }
        for (; i < size && lawn__decimal_is_digit(text[i]); i++) {
            scale /= 10;
            fraction += (uint64_t)(text[i] - '0') * scale;
        }
        if (i < size) {
            return parse_any_number(text, size, times_places[unit], ns);
        }
        if (value > LAWN_NEVER - 1 - fraction) {
            return false;
        }
        value += fraction;
    }
    *ns = value;
    return true;
}

/* Returns the number formed by two digits; 100 if they are not digits. */
static unsigned
two_digits(const char *text)
{
    if (!lawn__decimal_is_digit(text[0]) || !lawn__decimal_is_digit(text[1])) {
        return 100;
    }
    return (unsigned)(text[0] - '0') * 10 + (unsigned)(text[1] - '0');
}

static unsigned
month_days(unsigned year, unsigned month)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30,
                                         31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (unsigned)(month == 2 && leap);
}

/* Returns the days from 1970-01-01 to a date. */
static int64_t
days_since_1970(unsigned year, unsigned month, unsigned day)
{
    int64_t y = (int64_t)year - (month <= 2); /* from March to February */
    int64_t m = month > 2 ? month - 3 : month + 9;
    /* 153 days are five months of 31, 30, 31, 30 and 31. In January and
     * February of year 0, y is -1; adding 400 years keeps the divisions
     * correct. */
    int64_t c = y + 400;
    return c * 365 + c / 4 - c / 100 + c / 400 + (m * 153 + 2) / 5 + day - 1 -
           146097 - 719468;
}

/* Returns the date that is `days` days after 1970-01-01. days may be negative,
 * but the date must not be before 0000-01-01. */
static struct times_date
date_of(int64_t days)
{
    /* since March 1 of year -400, so that it is not negative */
    uint64_t day = (uint64_t)(days + 719468 + 146097);
    uint64_t era = day / 146097; /* of 400 years */
    day %= 146097;
    uint64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= year * 365 + year / 4 - year / 100;
    uint64_t month = (day * 5 + 2) / 153; /* from March on */
    day -= (month * 153 + 2) / 5;
    return (struct times_date){.year = year + era * 400 + (month >= 10) - 400,
                               .month = month < 10 ? month + 3 : month - 9,
                               .day = day + 1};
}

/* Parses "2026-11-15", whose dashes were checked, to the days since 1970. */
static bool
parse_date(const char *text, int64_t *days)
{
    unsigned year = two_digits(text) * 100 + two_digits(text + 2);
    unsigned month = two_digits(text + 5);
    unsigned day = two_digits(text + 8);
    if (two_digits(text) == 100 || two_digits(text + 2) == 100 || month < 1 ||
        month > 12 || day < 1 || day > month_days(year, month)) {
        return false;
    }
    *days = days_since_1970(year, month, day);
    return true;
}

/* Parses the fraction at *at, if there is one, and advances *at. */
static bool
parse_fraction(const char *text, size_t size, size_t *at, uint64_t *ns)
{
    *ns = 0;
    if (*at == size || text[*at] != '.') {
        return true;
    }
    size_t digits = count_digits(text + *at + 1, size - *at - 1);
    uint64_t scale = TIMES_NS_PER_S;
    for (size_t i = 0; i < digits && i < 9; i++) {
        scale /= 10;
        *ns += (uint64_t)(text[*at + 1 + i] - '0') * scale;
    }
    *at += 1 + digits;
    return digits > 0;
}

/* Parses "Z" or "+01:30", to the end, as seconds. */
static bool
parse_offset(const char *text, size_t size, int64_t *seconds)
{
    *seconds = 0;
    if (size == 1) {
        return text[0] == 'Z' || text[0] == 'z';
    }
    if (size != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') {
        return false;
    }
    unsigned hours = two_digits(text + 1);
    unsigned minutes = two_digits(text + 4);
    if (hours > 23 || minutes > 59) {
        return false;
    }
    *seconds = (int64_t)hours * 3600 + (int64_t)minutes * 60;
    if (text[0] == '-') {
        *seconds = -*seconds;
    }
    return true;
}

/* Parses RFC 3339 to the seconds since 1970, which may be negative, and the
 * nanoseconds. A leap second becomes the first second of the next minute;
 * *possible is set to whether that minute is the first of a month of UTC. */
static bool
split_rfc3339(const char *text, size_t size, int64_t *seconds,
              uint64_t *fraction, bool *possible)
{
    size_t at = 19;
    int64_t days = 0;
    if (size < 20 || !parse_date(text, &days) || text[13] != ':' ||
        text[16] != ':' ||
        (text[10] != 'T' && text[10] != 't' && text[10] != ' ')) {
        return false;
    }
    unsigned hour = two_digits(text + 11);
    unsigned minute = two_digits(text + 14);
    unsigned second = two_digits(text + 17);
    int64_t offset = 0;
    if (hour > 23 || minute > 59 || second > 60 ||
        !parse_fraction(text, size, &at, fraction) ||
        !parse_offset(text + at, size - at, &offset)) {
        return false;
    }
    *seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset;
    *possible = second < 60 ||
                (*seconds % 86400 == 0 && date_of(*seconds / 86400).day == 1);
    return true;
}

static bool
parse_rfc3339(const char *text, size_t size, int64_t *seconds,
              uint64_t *fraction)
{
    bool possible = false;
    return split_rfc3339(text, size, seconds, fraction, &possible) && possible;
}

/* Converts to nanoseconds. Returns false if the time is out of range. */
static bool
combine(int64_t seconds, uint64_t fraction, uint64_t *ns)
{
    if (seconds < 0 ||
        (uint64_t)seconds > (LAWN_NEVER - 1 - fraction) / TIMES_NS_PER_S) {
        return false;
    }
    *ns = (uint64_t)seconds * TIMES_NS_PER_S + fraction;
    return true;
}

bool
times_looks_like_date(const char *text, size_t size)
{
    return size >= 10 && text[4] == '-' && text[7] == '-';
}

bool
times_parse(const char *text, size_t size, enum times_unit unit, uint64_t *ns,
            enum times_form *form)
{
    enum times_form as = TIMES_NUMBER;
    if (size >= 20 && times_looks_like_date(text, size)) {
        as = TIMES_RFC3339;
        int64_t seconds = 0;
        uint64_t fraction = 0;
        if (!parse_rfc3339(text, size, &seconds, &fraction) ||
            !combine(seconds, fraction, ns)) {
            return false;
        }
    } else if (!parse_number(text, size, unit, ns)) {
        return false;
    }
    if (form != NULL) {
        *form = as;
    }
    return true;
}

bool
times_is_out_of_range(const char *text, size_t size)
{
    int64_t seconds = 0;
    uint64_t fraction = 0;
    uint64_t ns = 0;
    if (size >= 20 && times_looks_like_date(text, size)) {
        return parse_rfc3339(text, size, &seconds, &fraction) &&
               !combine(seconds, fraction, &ns);
    }
    size_t whole = 0;
    size_t end = 0;
    return split_number(text, size, &whole, &end, &seconds);
}

bool
times_is_bad_leap_second(const char *text, size_t size)
{
    int64_t seconds = 0;
    uint64_t fraction = 0;
    bool possible = false;
    return size >= 20 && times_looks_like_date(text, size) &&
           split_rfc3339(text, size, &seconds, &fraction, &possible) &&
           !possible;
}

bool
times_parse_duration(const char *text, size_t size, enum times_unit unit,
                     uint64_t *ns)
{
    char copy[TIMES_DURATION_MAX + 1];
    const char *at = copy;
    if (parse_number(text, size, unit, ns)) {
        return true;
    }
    if (size > TIMES_DURATION_MAX) {
        return false;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    uint64_t value = 0;
    if (!options_duration(&at, &value) || at != copy + size ||
        value == LAWN_NEVER) {
        return false;
    }
    *ns = value;
    return true;
}

enum times_unit
times_unit_of(const char *name)
{
    size_t size = strlen(name);
    while (size > 0 && strchr("\"'])", name[size - 1]) != NULL) {
        size--;
    }
    for (enum times_unit unit = TIMES_MS; unit <= TIMES_NS; unit++) {
        if (size >= 3 && name[size - 3] == '_' &&
            memcmp(name + size - 2, times_units[unit], 2) == 0) {
            return unit;
        }
    }
    return TIMES_S;
}

/* Writes a number with at least width digits. Returns its end. */
static char *
format_number(char *to, uint64_t number, unsigned width)
{
    char digits[20];
    unsigned count = 0;
    for (; number > 0 || count < width; number /= 10) {
        digits[count++] = (char)('0' + number % 10);
    }
    while (count > 0) {
        *to++ = digits[--count];
    }
    return to;
}

/* Writes a point and a fraction of width digits, without trailing zeros;
 * nothing for 0. */
static char *
format_fraction(char *to, uint64_t fraction, unsigned width)
{
    if (fraction == 0) {
        return to;
    }
    for (; fraction % 10 == 0; fraction /= 10) {
        width--;
    }
    *to++ = '.';
    return format_number(to, fraction, width);
}

/* Writes "2023-11-14T22:13:20". */
static char *
format_date(char *to, uint64_t seconds)
{
    struct times_date date = date_of((int64_t)(seconds / 86400));
    to = format_number(to, date.year, 4);
    *to++ = '-';
    to = format_number(to, date.month, 2);
    *to++ = '-';
    to = format_number(to, date.day, 2);
    *to++ = 'T';
    to = format_number(to, seconds / 3600 % 24, 2);
    *to++ = ':';
    to = format_number(to, seconds / 60 % 60, 2);
    *to++ = ':';
    return format_number(to, seconds % 60, 2);
}

struct text
times_format(uint64_t ns, enum times_form form, enum times_unit unit)
{
    struct text text = {""};
    char *to = text.s;
    if (form == TIMES_RFC3339) {
        to = format_date(to, ns / TIMES_NS_PER_S);
        to = format_fraction(to, ns % TIMES_NS_PER_S, 9);
        *to++ = 'Z';
    } else {
        to = format_number(to, ns / times_scale[unit], 1);
        to = format_fraction(to, ns % times_scale[unit], times_places[unit]);
    }
    *to = '\0';
    return text;
}

struct text
times_format_ms(uint64_t ns)
{
    struct text text = {""};
    char *to = format_date(text.s, ns / TIMES_NS_PER_S);
    *to++ = '.';
    to = format_number(to, ns / 1000000 % 1000, 3);
    *to++ = 'Z';
    *to = '\0';
    return text;
}
