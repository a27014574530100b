/* decimal.h - parses decimal digits into unsigned numbers without overflow.
 *
 * Leading zeros are accepted. Signs, decimal points and units are the caller's
 * task. The library does not use this file.
 */
#ifndef LAWN_BASE_DECIMAL_H
#define LAWN_BASE_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/* Not isdigit(), which depends on the locale. */
static inline bool
lawn__decimal_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Returns false and changes nothing if the result would exceed max. */
static inline bool
lawn__decimal_append(uint64_t *value, unsigned digit, uint64_t max)
{
    if (digit > max || *value > (max - digit) / 10) {
        return false;
    }
    *value = *value * 10 + digit;
    return true;
}

/* Sets *value to the number whose digits begin at `at`; 0 if there are none.
 * Stops at end, at a byte that is not a digit, or at a digit that would make
 * the number exceed max. Returns that position. */
static inline const char *
lawn__decimal_read(const char *at, const char *end, uint64_t max,
                   uint64_t *value)
{
    uint64_t number = 0;
    for (; at < end; at++) {
        unsigned digit = (unsigned)(unsigned char)*at - '0';
        if (digit > 9 || !lawn__decimal_append(&number, digit, max)) {
            break;
        }
    }
    *value = number;
    return at;
}

#endif
