/* trace_write.c - writes traces to standard output: see lawn-trace(5). */
#include "trace_write.h"
#include "output.h"
#include "trace_read.h"

#include <stdio.h>
#include <string.h>

#define TRACE_WRITE_FLUSH ((size_t)1 << 16)

void
trace_write_head(const char *unit)
{
    printf("%s\n# unit %s\n", TRACE_MAGIC, unit);
}

/* Writes the digits of a number so that they end before `end`. Returns the
 * address of the first digit. */
static char *
put_number(char *end, uint64_t number)
{
    do {
        *--end = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return end;
}

/* printf() is not used: it would take most of the time. Flushes before the
 * buffer of stdout overflows: see output.c. */
static bool
put_event(uint64_t time, const char *word, const char *id, size_t length,
          const char *rest, size_t rest_length)
{
    static size_t written;
    char digits[24];
    char *end = digits + sizeof(digits);
    char *begin = put_number(end, time);
    fwrite(begin, 1, (size_t)(end - begin), stdout);
    fputs(word, stdout);
    fwrite(id, 1, length, stdout);
    fwrite(rest, 1, rest_length, stdout);
    written += (size_t)(end - begin) + strlen(word) + length + rest_length;
    if (written < TRACE_WRITE_FLUSH) {
        return true;
    }
    written = 0;
    return output_flush();
}

bool
trace_write_start(uint64_t time, const char *id, size_t length, uint64_t ttl)
{
    char rest[24];
    char *end = rest + sizeof(rest);
    end[-1] = '\n';
    char *begin = put_number(end - 1, ttl);
    *--begin = ' ';
    return put_event(time, " start ", id, length, begin, (size_t)(end - begin));
}

bool
trace_write_stop(uint64_t time, const char *id, size_t length)
{
    return put_event(time, " stop ", id, length, "\n", 1);
}
