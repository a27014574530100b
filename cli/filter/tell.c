/* tell.c - what a filter says on standard error. */
#include "tell.h"
#include "verbs.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define TELL_BAD_MAX 10u /* bad lines that are told one by one */

void
tell(const struct filter *filter, const char *format, ...)
{
    va_list list;
    fprintf(stderr, "lawn %s: ", filter->verb->options->name);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    putc('\n', stderr);
}

void
tell_usage(const struct filter *filter, const char *format, ...)
{
    const char *verb = filter->verb->options->name;
    va_list list;
    fprintf(stderr, "lawn %s: ", verb);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fprintf(stderr, "\nsee 'lawn %s --help'\n", verb);
}

void
tell_bad(struct filter *filter, unsigned side, const char *wrong)
{
    const struct input *input = &filter->inputs[side];
    if (filter->counts.bad++ < TELL_BAD_MAX) {
        if (input->name != NULL)
            tell(filter, "%s:%" PRIu64 ": %s", input->name, input->number,
                 wrong);
        else
            tell(filter, "line %" PRIu64 ": %s", input->number, wrong);
    }
    if (filter->options.strict)
        filter_end(filter, VERBS_INPUT);
}

void
tell_all_bad(const struct filter *filter)
{
    if (filter->counts.bad > TELL_BAD_MAX)
        tell(filter, "%" PRIu64 " bad lines, %u of them told above",
             filter->counts.bad, TELL_BAD_MAX);
}

void
tell_stats(const struct filter *filter)
{
    const struct filter_counts *c = &filter->counts;
    uint64_t keys = lawn_store_count(filter->keys);
    if (filter->line_keys)
        keys += lawn_store_count(filter->lines);
    tell(filter,
         "in=%" PRIu64 " out=%" PRIu64 " dropped=%" PRIu64 " held=%" PRIu64
         " made=%" PRIu64 " merged=%" PRIu64 " refused=%" PRIu64 " bad=%" PRIu64
         " discarded=%" PRIu64 " late=%" PRIu64 " evicted=%" PRIu64
         " keys=%" PRIu64 " resumed=%" PRIu64,
         c->in, filter->sink.out,
         c->merged + c->refused + c->bad + c->discarded,
         c->held + filter->sink.carried, filter->sink.made, c->merged,
         c->refused, c->bad, c->discarded, c->late, c->evicted, keys,
         c->resumed);
}
