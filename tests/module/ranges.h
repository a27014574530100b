/* ranges.h - the errors for numbers that are not in their range. */
#ifndef LAWN_TESTS_RANGES_H
#define LAWN_TESTS_RANGES_H

#define NOT_A(name, range, value)                                              \
    "ERR " name " must be an integer " range ", not '" value "'"
#define NOT_IN(name, range, value) NOT_A(name, "from " range, value)
#define NOT_MS(name, min, value)                                               \
    NOT_A(name, "number of milliseconds from " min " to 2^53", value)
#define NOT_AT(value)                                                          \
    NOT_A("AT", "Unix time in milliseconds from 0 to 2^53", value)

#endif
