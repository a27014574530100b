/* decimal.h - parses decimal digits into unsigned numbers without overflow.
 *
 * Leading zeros are accepted. Signs, decimal points and units are the caller's
 * task. The tool and the module use this file; the library does not.
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

/* Sets *value to *value * 10 + digit. Returns false and changes nothing if the
 * result exceeds max. */
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
 * Returns the first byte that is not part of the number: end, a byte that is
 * not a digit, or a digit that would make the number exceed max. */
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
