/* trace.c - "lawn trace": what timers a program has, and whether a lawn is the
 * right place for them. */
#include "trace.h"
#include "output.h"
#include "trace_read.h"
#include "verbs.h"

#include <string.h>

#define TRACE_PUT_FLUSH ((size_t)1 << 16)

void
trace_put_head(const char *unit)
{
    printf("%s\n# unit %s\n", TRACE_MAGIC, unit);
}

/* Writes a number's digits so that they end before end. */
static char *
trace_put_number(char *end, uint64_t number)
{
    do {
        *--end = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return end;
}

/* Not by printf(): most of the time would go there. Flushed before stdout's
 * buffer overflows: see output.c. */
static bool
trace_put(uint64_t time, const char *word, const char *id, size_t length,
          const char *rest, size_t rest_length)
{
    static size_t written;
    char digits[24];
    char *end = digits + sizeof digits;
    char *begin = trace_put_number(end, time);
    fwrite(begin, 1, (size_t)(end - begin), stdout);
    fputs(word, stdout);
    fwrite(id, 1, length, stdout);
    fwrite(rest, 1, rest_length, stdout);
    written += (size_t)(end - begin) + strlen(word) + length + rest_length;
    if (written < TRACE_PUT_FLUSH)
        return true;
    written = 0;
    return output_flush();
}

bool
trace_put_start(uint64_t time, const char *id, size_t length, uint64_t ttl)
{
    char rest[24];
    char *end = rest + sizeof rest;
    end[-1] = '\n';
    char *begin = trace_put_number(end - 1, ttl);
    *--begin = ' ';
    return trace_put(time, " start ", id, length, begin, (size_t)(end - begin));
}

bool
trace_put_stop(uint64_t time, const char *id, size_t length)
{
    return trace_put(time, " stop ", id, length, "\n", 1);
}

static const struct options_verb *const trace_verbs[] = {
    &trace_stats_verb,
    &trace_gen_verb,
    &trace_convert_verb,
    NULL,
};

const struct options_verb trace_verb = {
    .name = "trace",
    .summary = "tell whether a lawn is right for timers on record",
    .details =
        "A trace is a text file that begins with \"# lawn trace 1\" and has a\n"
        "line for each start and stop of a timer, \"TIME start ID TTL\" or\n"
        "\"TIME stop ID\"; see lawn-trace(5).\n",
    .example = "lawn trace gen --workload W5 --n 1k | lawn trace stats",
    .verbs = trace_verbs,
    .run = verbs_dispatch,
};
