/* fuzz_trace.c - the fuzzer's bytes as lines of a trace, or of a public cache
 * trace: the first byte selects which.
 *
 * A parsed field must be within the line, and an event that is written in the
 * documented format must be parsed as the same.
 */
#include "../../cli/trace/request.h"
#include "fuzz.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text that a parse error names is within the line. */
static void
fuzz_wrong(const struct trace_wrong *wrong, const char *line, size_t length)
{
    fuzz_check(wrong->expected != NULL);
    fuzz_check(wrong->found == NULL ||
               (wrong->found >= line &&
                wrong->length <= (size_t)(line + length - wrong->found)));
}

/* An event that is written and parsed again is the same. */
static void
fuzz_again(const struct trace_line *event)
{
    char line[400];
    int length = snprintf(line, sizeof(line), "%" PRIu64 " %s ", event->time,
                          event->kind == TRACE_START ? "start" : "stop");
    memcpy(line + length, event->id, event->id_length);
    length += (int)event->id_length;
    if (event->kind == TRACE_START) {
        length += snprintf(line + length, sizeof(line) - (size_t)length,
                           " %" PRIu64, event->ttl);
    }
    struct trace_line again;
    struct trace_wrong wrong;
    fuzz_check(trace_parse(line, (size_t)length, &again, &wrong));
    fuzz_check(again.time == event->time && again.kind == event->kind &&
               again.ttl == event->ttl && again.id_length == event->id_length &&
               memcmp(again.id, event->id, again.id_length) == 0);
}

static void
fuzz_event_at(const char *line, size_t length)
{
    struct trace_line event;
    struct trace_wrong wrong;
    if (!trace_parse(line, length, &event, &wrong)) {
        fuzz_wrong(&wrong, line, length);
        return;
    }
    fuzz_check(event.id_length >= 1 && event.id_length <= TRACE_ID_MAX);
    fuzz_check(event.id >= line && event.id + event.id_length <= line + length);
    fuzz_check((event.kind == TRACE_START) == (event.ttl > 0));
    fuzz_again(&event);
}

static void
fuzz_request(struct trace_format *format, const char *line, size_t length)
{
    struct trace_request request;
    struct trace_wrong wrong;
    if (!trace_request_parse(format, line, length, &request, &wrong)) {
        fuzz_wrong(&wrong, line, length);
        return;
    }
    if (request.kind == TRACE_REQUEST_HEADER) {
        return;
    }
    struct trace_line event = {.time = request.time,
                               .kind = TRACE_STOP,
                               .id = request.id,
                               .id_length = request.id_length};
    if (request.kind == TRACE_REQUEST_WRITE && request.ttl > 0) {
        event.kind = TRACE_START;
        event.ttl = request.ttl;
    }
    fuzz_again(&event);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct trace_format format = {.meta = size > 0 && bytes[0] == 'm',
                                  .first = true};
    bool requests = size > 0 && (bytes[0] == 'm' || bytes[0] == 't');
    for (size_t at = 1; at < size;) {
        const uint8_t *newline = memchr(bytes + at, '\n', size - at);
        size_t end = newline != NULL ? (size_t)(newline - bytes) : size;
        /* A copy, so that reading past the line is noticed. */
        char *line = malloc(end - at + (end == at));
        fuzz_check(line != NULL);
        memcpy(line, bytes + at, end - at);
        if (requests) {
            fuzz_request(&format, line, end - at);
        } else {
            fuzz_event_at(line, end - at);
        }
        format.first = false;
        free(line);
        at = end + 1;
    }
    return 0;
}
