/* log.c - messages on standard error: see log.h. */
#include "log.h"
#include "verbs.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define MESSAGE_MAX 4096u /* bytes of a message */
#define BAD_LINES_MAX 10u /* printed one by one */

/* Prints a message. It may contain bytes of the input: control characters are
 * replaced, so that they cannot control the terminal. */
__attribute__((format(printf, 2, 0))) static void
print_message(const struct filter *filter, const char *format, va_list list)
{
    char text[MESSAGE_MAX];
    vsnprintf(text, sizeof(text), format, list);
    for (char *c = text; *c != '\0'; c++) {
        const unsigned char *u = (unsigned char *)c;
        if (*u < ' ' || *u == 0x7f || (*u == 0xc2 && (u[1] & 0xe0) == 0x80)) {
            *c = '?';
        }
    }
    fprintf(stderr, "lawn %s: %s\n", filter->name, text);
}

void
log_message(const struct filter *filter, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_message(filter, format, list);
    va_end(list);
}

void
log_usage_error(const struct filter *filter, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_message(filter, format, list);
    va_end(list);
    fprintf(stderr, "see 'lawn %s --help'\n", filter->name);
}

void
log_bad_line(struct filter *filter, unsigned side, const char *wrong)
{
    const struct input *input = &filter->io.inputs[side];
    if (filter->counts.bad++ < BAD_LINES_MAX) {
        if (input_is_resumed(input)) {
            log_message(filter, "line from the state: %s", wrong);
        } else if (input->name != NULL) {
            log_message(filter, "%s:%" PRIu64 ": %s", input->name,
                        input->number, wrong);
        } else {
            log_message(filter, "line %" PRIu64 ": %s", input->number, wrong);
        }
    }
    if (filter->options.strict) {
        filter_end(filter, VERBS_INPUT);
    }
}

void
log_summary(const struct filter *filter)
{
    const struct filter_counts *counts = &filter->counts;
    if (counts->bad > BAD_LINES_MAX) {
        log_message(filter,
                    "%" PRIu64 " bad lines; the first %u are listed above",
                    counts->bad, BAD_LINES_MAX);
    }
    if (counts->bad > 0 && counts->bad == counts->in) {
        log_message(filter, "all lines were bad");
    }
    if (counts->late > 0) {
        log_message(filter,
                    "%" PRIu64
                    " late line%s treated as arriving at the current "
                    "event time; see --lateness",
                    counts->late, counts->late == 1 ? " was" : "s were");
    }
}

void
log_stats(const struct filter *filter)
{
    const struct filter_counts *c = &filter->counts;
    uint64_t discarded = c->discarded + filter->io.sink.lost;
    uint64_t keys = lawn_store_count(filter->stores.keys);
    if (filter->setup.line_keys) {
        keys += lawn_store_count(filter->stores.lines);
    }
    log_message(
        filter,
        "in=%" PRIu64 " out=%" PRIu64 " dropped=%" PRIu64 " held=%" PRIu64
        " made=%" PRIu64 " merged=%" PRIu64 " refused=%" PRIu64 " bad=%" PRIu64
        " discarded=%" PRIu64 " late=%" PRIu64 " evicted=%" PRIu64
        " keys=%" PRIu64 " resumed=%" PRIu64,
        c->in, filter->io.sink.out, c->merged + c->refused + c->bad + discarded,
        c->held + filter->io.sink.carried, filter->io.sink.made, c->merged,
        c->refused, c->bad, discarded, c->late, c->evicted, keys, c->resumed);
}
