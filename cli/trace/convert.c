/* convert.c - "lawn trace convert": converts public cache traces to traces of
 * timers.
 *
 * A write with a TTL starts a timer; a delete stops it. Other requests are
 * counted and skipped. Memory does not depend on the size of the input. Times
 * and TTLs of both formats are whole seconds.
 *
 * twitter: https://github.com/twitter/cache-trace, "Trace Format": seven
 * columns without a header. A key may contain commas, so the columns after it
 * are counted from the end.
 *
 * meta-kv: the "kvcache" traces of https://github.com/facebook/CacheLib. A
 * header names the columns, with the names of columnTable_ in
 * cachelib/cachebench/workload/KVReplayGenerator.h; their order and number
 * differ between releases. The operations are those of that file. Unknown
 * operations are skipped, as in CacheLib.
 */
#include "options.h"
#include "request.h"
#include "text.h"
#include "trace.h"
#include "trace_lines.h"
#include "trace_write.h"
#include "verbs.h"

#include <string.h>

struct convert_options {
    size_t from;
    struct options_operands files;
};

/* Counts of requests by their result. */
struct convert_counts {
    uint64_t requests;
    uint64_t starts;
    uint64_t stops;
    uint64_t reads;
    uint64_t eternal; /* writes without a TTL */
    uint64_t unknown;
};

static const char *const format_names[] = {"twitter", "meta-kv", NULL};

static void
count_request(struct convert_counts *counts,
              const struct trace_request *request)
{
    counts->requests++;
    switch (request->kind) {
    case TRACE_REQUEST_READ:
        counts->reads++;
        break;
    case TRACE_REQUEST_WRITE:
        counts->starts += request->ttl > 0;
        counts->eternal += request->ttl == 0;
        break;
    case TRACE_REQUEST_DELETE:
        counts->stops++;
        break;
    case TRACE_REQUEST_UNKNOWN:
        counts->unknown++;
        break;
    case TRACE_REQUEST_HEADER:
        counts->requests--;
        break;
    }
}

/* Writes the event of a request, if it has one. Returns false if output has
 * failed. */
static bool
write_event(const struct trace_request *request)
{
    if (request->kind == TRACE_REQUEST_WRITE && request->ttl > 0) {
        return trace_write_start(request->time, request->id, request->id_length,
                                 request->ttl);
    }
    if (request->kind == TRACE_REQUEST_DELETE) {
        return trace_write_stop(request->time, request->id, request->id_length);
    }
    return true;
}

/* Converts all lines of a file. Returns an exit code. */
static int
convert_file(struct trace_lines *lines, struct trace_format *format,
             struct convert_counts *counts)
{
    struct trace_request request;
    struct trace_wrong wrong;
    const char *line = NULL;
    size_t length = 0;
    enum trace_lines_got got = TRACE_LINES_END;
    while ((got = trace_lines_next(lines, &line, &length)) == TRACE_LINES_ONE) {
        format->first = lines->line == 1;
        if (length == 0) {
            continue;
        }
        if (!trace_request_parse(format, line, length, &request, &wrong)) {
            trace_lines_complain(lines, wrong.expected, wrong.found,
                                 wrong.length);
            return VERBS_INPUT;
        }
        count_request(counts, &request);
        if (!write_event(&request)) {
            return VERBS_OUTPUT;
        }
    }
    return got == TRACE_LINES_END ? VERBS_OK : VERBS_INPUT;
}

static void
report_counts(const struct convert_counts *counts)
{
    fprintf(stderr, "lawn trace convert: %s requests: %s starts, ",
            text_count(counts->requests).s, text_count(counts->starts).s);
    fprintf(stderr, "%s stops; skipped: %s reads, ",
            text_count(counts->stops).s, text_count(counts->reads).s);
    fprintf(stderr, "%s writes without a TTL, %s others\n",
            text_count(counts->eternal).s, text_count(counts->unknown).s);
}

static int
run_convert(const struct options_verb *verb, int argc, char **argv)
{
    struct convert_options options;
    struct convert_counts counts = {0};
    struct trace_format format = {0};
    int code = VERBS_OK;
    if (!options_read(verb, argc, argv, &options, &code)) {
        return code;
    }
    if (options.from == SIZE_MAX) {
        fputs("lawn trace convert: --from is required: twitter or meta-kv\n"
              "see 'lawn trace convert --help'\n",
              stderr);
        return VERBS_USAGE;
    }
    if (options.files.count == 0) {
        static char dash[] = "-";
        static char *standard_input[] = {dash};
        options.files = (struct options_operands){1, standard_input};
    }
    format.meta = options.from == 1;
    trace_write_head("s");
    for (size_t i = 0; i < options.files.count && code == VERBS_OK; i++) {
        struct trace_lines lines;
        if (!trace_lines_open(&lines, "lawn trace convert",
                              options.files.words[i])) {
            return VERBS_INPUT;
        }
        code = convert_file(&lines, &format, &counts);
        trace_lines_close(&lines);
    }
    if (code == VERBS_OK) {
        report_counts(&counts);
    }
    return code;
}

static const struct options_spec convert_specs[] = {
    {
        .name = "from",
        .value = "FORMAT",
        .help = "format of the input: twitter or meta-kv; required",
        .parse = options_word,
        .words = format_names,
        .offset = offsetof(struct convert_options, from),
    },
    {.name = NULL},
};

const struct options_verb trace_convert_verb = {
    .name = "trace convert",
    .summary = "convert a public cache trace",
    .details =
        "Reads cache traces from files or standard input. A write with a TTL\n"
        "starts a timer; a delete stops it. Other requests are skipped; their\n"
        "number is printed on standard error. Formats:\n"
        "  twitter         twitter/cache-trace: CSV without a header\n"
        "  meta-kv         CacheLib's kvcache traces: CSV with a header that\n"
        "                  has the columns op_time, key, op and ttl\n",
    .example = "lawn trace convert --from twitter cluster52 | lawn trace stats",
    .specs = convert_specs,
    .operands = "[FILE]...",
    .operands_offset = offsetof(struct convert_options, files),
    .run = run_convert,
};
