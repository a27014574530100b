/* tell.c - what a filter says on standard error. */
#include "tell.h"
#include "verbs.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define TELL_MAX 4096u   /* bytes of a message */
#define TELL_BAD_MAX 10u /* bad lines that are told one by one */

/* What is told may hold bytes of the input: none of them is to move a cursor. */
__attribute__((format(printf, 2, 0))) static void
tell_list(const struct filter *filter, const char *format, va_list list)
{
    char text[TELL_MAX];
    vsnprintf(text, sizeof text, format, list);
    for (char *c = text; *c != '\0'; c++) {
        const unsigned char *u = (unsigned char *)c;
        if (*u < ' ' || *u == 0x7f || (*u == 0xc2 && (u[1] & 0xe0) == 0x80))
            *c = '?';
    }
    fprintf(stderr, "lawn %s: %s\n", filter->name, text);
}

void
tell(const struct filter *filter, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    tell_list(filter, format, list);
    va_end(list);
}

void
tell_usage(const struct filter *filter, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    tell_list(filter, format, list);
    va_end(list);
    fprintf(stderr, "see 'lawn %s --help'\n", filter->name);
}

void
tell_bad(struct filter *filter, unsigned side, const char *wrong)
{
    const struct input *input = &filter->inputs[side];
    if (filter->counts.bad++ < TELL_BAD_MAX) {
        if (input->number == 0 || input->number > UINT64_MAX / 2)
            tell(filter, "a line of the state: %s", wrong);
        else if (input->name != NULL)
            tell(filter, "%s:%" PRIu64 ": %s", input->name, input->number,
                 wrong);
        else
            tell(filter, "line %" PRIu64 ": %s", input->number, wrong);
    }
    if (filter->options.strict)
        filter_end(filter, VERBS_INPUT);
}

void
tell_at_end(const struct filter *filter)
{
    const struct filter_counts *counts = &filter->counts;
    if (counts->bad > TELL_BAD_MAX)
        tell(filter, "%" PRIu64 " bad lines, %u of them told above",
             counts->bad, TELL_BAD_MAX);
    if (counts->bad > 0 && counts->bad == counts->in)
        tell(filter, "there was no good line");
    if (counts->late > 0)
        tell(filter,
             "%" PRIu64 " line%s late, and taken to be of the time before: see "
             "--lateness",
             counts->late, counts->late == 1 ? " was" : "s were");
}

void
tell_stats(const struct filter *filter)
{
    const struct filter_counts *c = &filter->counts;
    uint64_t discarded = c->discarded + filter->sink.lost;
    uint64_t keys = lawn_store_count(filter->keys);
    if (filter->line_keys)
        keys += lawn_store_count(filter->lines);
    tell(filter,
         "in=%" PRIu64 " out=%" PRIu64 " dropped=%" PRIu64 " held=%" PRIu64
         " made=%" PRIu64 " merged=%" PRIu64 " refused=%" PRIu64 " bad=%" PRIu64
         " discarded=%" PRIu64 " late=%" PRIu64 " evicted=%" PRIu64
         " keys=%" PRIu64 " resumed=%" PRIu64,
         c->in, filter->sink.out, c->merged + c->refused + c->bad + discarded,
         c->held + filter->sink.carried, filter->sink.made, c->merged,
         c->refused, c->bad, discarded, c->late, c->evicted, keys, c->resumed);
}
