/* stats.c - "lawn trace stats": computes the figures of a trace.
 *
 * One pass; takes memory for the running timers and the distinct TTLs. The
 * trace is replayed on a lawn, which fires the timers.
 */
#include "stats.h"
#include "options.h"
#include "output.h"
#include "trace.h"
#include "trace_live.h"
#include "trace_read.h"
#include "verbs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct stats_options {
    bool json;
    const char *page;
    struct options_operands files;
};

uint64_t
trace_stats_class(size_t i)
{
    static const uint64_t steps[] = {1, 2, 5};
    uint64_t begin = steps[i % 3];
    if (i >= TRACE_STATS_CLASSES) {
        return UINT64_MAX;
    }
    for (; i >= 3; i -= 3) {
        begin *= 10;
    }
    return begin;
}

double
trace_stats_seconds(const struct trace_stats *stats)
{
    return (double)(stats->last - stats->first) * (double)stats->unit_ns / 1e9;
}

struct text
trace_stats_time(const struct trace_stats *stats, uint64_t ticks)
{
    struct text text;
    if (ticks <= UINT64_MAX / stats->unit_ns) {
        return text_ttl(ticks * stats->unit_ns);
    }
    snprintf(text.s, sizeof(text.s), "%.3gd",
             (double)ticks * (double)stats->unit_ns / 86400e9);
    return text;
}

/* Counts the end of a run of a timer with that TTL. */
static void
end_run(struct trace_stats *stats, uint32_t ttl)
{
    if (--stats->ttls.ttls[ttl].live == 0) {
        stats->live_ttls--;
    }
}

static void
on_fire(const struct trace_live_timer *timer, void *arg)
{
    struct trace_stats *stats = arg;
    stats->fired++;
    stats->running--;
    end_run(stats, timer->ttl);
    trace_series_set(&stats->series, timer->deadline, stats->running);
}

/* Returns false if there is no memory. */
static bool
count_start(struct trace_stats *stats, struct trace_live *live,
            const struct trace_line *line)
{
    bool was_running = false;
    uint32_t number = trace_ttls_number(&stats->ttls, line->ttl);
    struct trace_live_timer *timer =
        trace_live_get(live, line->id, line->id_length, &was_running);
    if (number == UINT32_MAX || timer == NULL) {
        return false;
    }
    if (was_running) {
        stats->restarted++;
        stats->running--;
        end_run(stats, timer->ttl);
    }
    struct trace_ttl *ttl = &stats->ttls.ttls[number];
    timer->ttl = number;
    trace_live_start(live, timer, line->ttl);
    if (stats->runs++ > 0) {
        lawn_histogram_add(&stats->gaps, line->time - stats->last_start);
    }
    stats->last_start = line->time;
    stats->running++;
    ttl->starts++;
    stats->live_ttls += ttl->live++ == 0;
    if (stats->running > stats->most) {
        stats->most = stats->running;
    }
    if (stats->live_ttls > stats->most_ttls) {
        stats->most_ttls = stats->live_ttls;
        stats->most_ttls_timers = stats->running;
    } else if (stats->live_ttls == stats->most_ttls &&
               stats->running > stats->most_ttls_timers) {
        stats->most_ttls_timers = stats->running;
    }
    return true;
}

static void
count_stop(struct trace_stats *stats, struct trace_live *live,
           const struct trace_line *line)
{
    struct trace_live_timer *timer =
        trace_live_find(live, line->id, line->id_length);
    if (timer == NULL) {
        stats->ignored++;
        return;
    }
    stats->stopped++;
    stats->running--;
    end_run(stats, timer->ttl);
    trace_live_stop(live, timer);
}

uint64_t
trace_stats_ttl(const struct trace_stats *stats, unsigned percent)
{
    uint64_t rank =
        stats->runs / 100 * percent + (stats->runs % 100 * percent + 99) / 100;
    uint64_t seen = 0;
    for (size_t i = 0; i < stats->ttls.count; i++) {
        seen += stats->ttls.ttls[i].starts;
        if (seen >= rank) {
            return stats->ttls.ttls[i].ttl;
        }
    }
    return 0;
}

/* Sorts the TTLs, which are no longer looked up, and finds the most frequent
 * ones and the classes. */
static void
finish(struct trace_stats *stats)
{
    trace_ttls_sort(&stats->ttls);
    for (size_t i = 0; i < stats->ttls.count; i++) {
        const struct trace_ttl *ttl = &stats->ttls.ttls[i];
        size_t place = stats->top_count;
        size_t class = 0;
        while (class + 1 < TRACE_STATS_CLASSES &&
               ttl->ttl >= trace_stats_class(class + 1)) {
            class ++;
        }
        stats->classes[class] += ttl->starts;
        while (place > 0 && ttl->starts > stats->top[place - 1].starts) {
            place--;
        }
        if (place == TRACE_STATS_TOP) {
            continue;
        }
        stats->top_count += stats->top_count < TRACE_STATS_TOP;
        memmove(&stats->top[place + 1], &stats->top[place],
                (stats->top_count - 1 - place) * sizeof(*ttl));
        stats->top[place] = *ttl;
    }
}

/* Reads the whole trace. Returns an exit code. */
static int
gather(struct trace_stats *stats, struct trace_reader *reader,
       struct trace_live *live)
{
    struct trace_line line;
    enum trace_lines_got got = TRACE_LINES_END;
    while ((got = trace_reader_next(reader, &line)) == TRACE_LINES_ONE) {
        bool memory = true;
        if (stats->events++ == 0) {
            stats->first = line.time;
        }
        if (line.time != stats->last) {
            trace_live_mow(live, line.time);
        }
        stats->last = line.time;
        if (line.kind == TRACE_START) {
            memory = count_start(stats, live, &line);
        } else {
            count_stop(stats, live, &line);
        }
        if (!memory) {
            trace_lines_no_memory(&reader->lines);
            return VERBS_FAILED;
        }
        trace_series_set(&stats->series, line.time, stats->running);
    }
    stats->unit_ns = reader->unit_ns;
    finish(stats);
    return got == TRACE_LINES_END ? VERBS_OK : VERBS_INPUT;
}

/* Writes the page. Returns an exit code. */
static int
write_page(const struct trace_stats *stats, const struct trace_advice *advice,
           const char *path)
{
    static const char program[] = "lawn trace stats";
    FILE *file = output_file(program, path, "w");
    if (file == NULL) {
        return VERBS_OUTPUT;
    }
    trace_page(stats, advice, file);
    return output_file_close(program, path, file) ? VERBS_OK : VERBS_OUTPUT;
}

static int
report(const struct trace_stats *stats, const struct stats_options *options)
{
    struct trace_advice advice;
    trace_advise(stats, &advice);
    if (options->json) {
        trace_print_json(stats, &advice, stdout);
    } else {
        trace_print_text(stats, &advice, stdout);
    }
    return options->page != NULL ? write_page(stats, &advice, options->page)
                                 : VERBS_OK;
}

static int
run_stats(const struct options_verb *verb, int argc, char **argv)
{
    struct stats_options options;
    int code = VERBS_FAILED;
    if (!options_read(verb, argc, argv, &options, &code)) {
        return code;
    }
    struct trace_stats *stats = calloc(1, sizeof(*stats));
    struct trace_live live;
    if (stats == NULL || !trace_live_init(&live, on_fire, stats)) {
        fputs("lawn trace stats: out of memory\n", stderr);
        free(stats);
        return VERBS_FAILED;
    }
    struct trace_reader reader;
    trace_reader_open(&reader, "lawn trace stats", options.files.words,
                      options.files.count);
    code = gather(stats, &reader, &live);
    trace_reader_close(&reader);
    trace_live_fini(&live);
    if (code == VERBS_OK) {
        code = report(stats, &options);
    }
    trace_ttls_free(&stats->ttls);
    free(stats);
    return code;
}

static const struct options_spec stats_specs[] = {
    {
        .name = "json",
        .help = "print the statistics as a JSON object",
        .parse = options_flag,
        .offset = offsetof(struct stats_options, json),
    },
    {
        .name = "html",
        .value = "FILE",
        .help = "also write an HTML page with charts to FILE",
        .accepts = "a file name",
        .parse = options_text,
        .offset = offsetof(struct stats_options, page),
    },
    {.name = NULL},
};

const struct options_verb trace_stats_verb = {
    .name = "trace stats",
    .summary = "summarize a trace and recommend a timer structure",
    .details =
        "Reads trace files, or standard input, as one trace. Prints how many\n"
        "timers run at once, how they end and their TTLs. Recommends a lawn "
        "with\n"
        "default or other options, a wheel or a heap, and prints the "
        "reasons.\n",
    .example = "lawn trace stats --html timers.html timers.trace",
    .specs = stats_specs,
    .operands = "[FILE]...",
    .operands_offset = offsetof(struct stats_options, files),
    .run = run_stats,
};
