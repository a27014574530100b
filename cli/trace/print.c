/* print.c - prints the figures of a trace as text and as JSON. */
#include "stats.h"

#include <inttypes.h>
#include <string.h>

#define TRACE_PRINT_BAR 40

static double
percent_of_runs(const struct trace_stats *stats, uint64_t count)
{
    return stats->runs > 0 ? 100 * (double)count / (double)stats->runs : 0;
}

static void
put_end(const struct trace_stats *stats, const char *name, uint64_t count,
        const char *what, FILE *out)
{
    fprintf(out, "  %-11s %14s  %5.1f %%%s\n", name, text_count(count).s,
            percent_of_runs(stats, count), what);
}

static void
put_counts(const struct trace_stats *stats, FILE *out)
{
    double seconds = trace_stats_seconds(stats);
    fprintf(out, "  %-11s %14s", "started", text_count(stats->runs).s);
    if (seconds > 0) {
        fprintf(out, "           %s per second; of these",
                text_short((double)stats->runs / seconds).s);
    }
    putc('\n', out);
    put_end(stats, "stopped", stats->stopped, "  before they fired", out);
    put_end(stats, "restarted", stats->restarted, "  before they fired", out);
    put_end(stats, "fired", stats->fired, "", out);
    put_end(stats, "running", stats->running, "  at the end", out);
    if (stats->ignored > 0) {
        fprintf(
            out,
            "  %-11s %14s           stops of timers that were not running\n",
            "ignored", text_count(stats->ignored).s);
    }
}

/* Returns the mean number of running timers. */
static struct text
mean_running(const struct trace_stats *stats)
{
    double mean = trace_series_mean(&stats->series);
    struct text text;
    if (mean >= 1000) {
        return text_count((uint64_t)(mean + 0.5));
    }
    snprintf(text.s, sizeof(text.s), "%.1f", mean);
    return text;
}

/* Formats a time in ticks, rounded if it would be long. */
static struct text
short_time(const struct trace_stats *stats, uint64_t ticks)
{
    struct text text = trace_stats_time(stats, ticks);
    return strlen(text.s) > 12 ? text_lateness(ticks * stats->unit_ns) : text;
}

static void
put_spread(const struct trace_stats *stats, FILE *out)
{
    fprintf(out, "  %-11s   at most %s at once, %s on average\n", "timers",
            text_count(stats->most).s, mean_running(stats).s);
    fprintf(out, "  %-11s   %s different TTLs, at most %s at once\n", "TTLs",
            text_count(stats->ttls.count).s, text_count(stats->most_ttls).s);
    if (stats->runs == 0) {
        return;
    }
    fprintf(out, "  %-11s   min %s,", "",
            short_time(stats, trace_stats_ttl(stats, 0)).s);
    fprintf(out, " p50 %s,", short_time(stats, trace_stats_ttl(stats, 50)).s);
    fprintf(out, " p99 %s,", short_time(stats, trace_stats_ttl(stats, 99)).s);
    fprintf(out, " max %s\n", short_time(stats, trace_stats_ttl(stats, 100)).s);
    if (stats->gaps.count == 0) {
        return;
    }
    fprintf(out, "  %-11s   p50 %s,", "gaps",
            short_time(stats, lawn_histogram_at(&stats->gaps, 50000)).s);
    fprintf(out, " p99 %s,",
            short_time(stats, lawn_histogram_at(&stats->gaps, 99000)).s);
    fprintf(out, " max %s between starts\n",
            short_time(stats, stats->gaps.max).s);
}

static void
put_top(const struct trace_stats *stats, FILE *out)
{
    uint64_t named = 0;
    fprintf(out, "\n  %-24s %14s    share\n", "most used TTLs", "starts");
    for (size_t i = 0; i < stats->top_count; i++) {
        fprintf(out, "  %-24s %14s  %5.1f %%\n",
                trace_stats_time(stats, stats->top[i].ttl).s,
                text_count(stats->top[i].starts).s,
                percent_of_runs(stats, stats->top[i].starts));
        named += stats->top[i].starts;
    }
    if (named < stats->runs) {
        fprintf(out, "  %-24s %14s  %5.1f %%\n", "others",
                text_count(stats->runs - named).s,
                percent_of_runs(stats, stats->runs - named));
    }
}

static void
put_classes(const struct trace_stats *stats, FILE *out)
{
    uint64_t most = 1;
    size_t first = TRACE_STATS_CLASSES;
    size_t last = 0;
    for (size_t i = 0; i < TRACE_STATS_CLASSES; i++) {
        if (stats->classes[i] == 0) {
            continue;
        }
        first = first < i ? first : i;
        last = i;
        most = most > stats->classes[i] ? most : stats->classes[i];
    }
    fprintf(out, "\n  TTLs from\n");
    for (size_t i = first; i <= last; i++) {
        int bar =
            (int)((double)stats->classes[i] / (double)most * TRACE_PRINT_BAR +
                  0.5);
        if (bar == 0 && stats->classes[i] > 0) {
            bar = 1;
        }
        fprintf(out, "  %-14s %5.1f %%%s",
                trace_stats_time(stats, trace_stats_class(i)).s,
                percent_of_runs(stats, stats->classes[i]), bar > 0 ? "  " : "");
        while (bar-- > 0) {
            putc('#', out);
        }
        putc('\n', out);
    }
}

void
trace_print_text(const struct trace_stats *stats,
                 const struct trace_advice *advice, FILE *out)
{
    fprintf(out, "lawn trace: %s events in %s\n", text_count(stats->events).s,
            short_time(stats, stats->last - stats->first).s);
    put_counts(stats, out);
    put_spread(stats, out);
    if (stats->runs > 0) {
        put_top(stats, out);
        put_classes(stats, out);
    }
    fprintf(out, "\nchoose %s\n", advice->title);
    for (size_t i = 0; i < advice->reason_count; i++) {
        fputs("  - ", out);
        text_put_words(advice->reasons[i], 4, out);
    }
}

static void
put_json_ttls(const struct trace_stats *stats, FILE *out)
{
    const char *comma = "";
    fprintf(out,
            "\"ttls\": {\"distinct\": %zu, \"most_at_once\": %" PRIu64
            ", \"min\": %" PRIu64 ", \"p50\": %" PRIu64 ", \"p90\": %" PRIu64
            ", \"p99\": %" PRIu64 ", \"max\": %" PRIu64 ", \"top\": [",
            stats->ttls.count, stats->most_ttls, trace_stats_ttl(stats, 0),
            trace_stats_ttl(stats, 50), trace_stats_ttl(stats, 90),
            trace_stats_ttl(stats, 99), trace_stats_ttl(stats, 100));
    for (size_t i = 0; i < stats->top_count; i++) {
        fprintf(out,
                "%s{\"ttl\": %" PRIu64 ", \"starts\": %" PRIu64
                ", \"share\": %.6f}",
                i > 0 ? ", " : "", stats->top[i].ttl, stats->top[i].starts,
                percent_of_runs(stats, stats->top[i].starts) / 100);
    }
    fputs("], \"histogram\": [", out);
    for (size_t i = 0; i < TRACE_STATS_CLASSES; i++) {
        if (stats->classes[i] == 0) {
            continue;
        }
        fprintf(out,
                "%s{\"from\": %" PRIu64 ", \"below\": %" PRIu64
                ", \"starts\": %" PRIu64 "}",
                comma, trace_stats_class(i), trace_stats_class(i + 1),
                stats->classes[i]);
        comma = ", ";
    }
    fputs("]}, ", out);
}

static void
put_json_series(const struct trace_series *series, FILE *out)
{
    unsigned columns = trace_series_columns(series);
    fprintf(out,
            "\"over_time\": {\"begin\": %" PRIu64 ", \"width\": %" PRIu64
            ", \"mean\": [",
            series->begin, UINT64_C(1) << series->shift);
    for (unsigned i = 0; i < columns; i++) {
        fprintf(out, "%s%.1f", i > 0 ? ", " : "",
                trace_series_column(series, i));
    }
    fputs("], \"max\": [", out);
    for (unsigned i = 0; i < columns; i++) {
        fprintf(out, "%s%" PRIu64, i > 0 ? ", " : "", series->most[i]);
    }
    fputs("]}, ", out);
}

static void
put_json_advice(const struct trace_advice *advice, FILE *out)
{
    fprintf(out,
            "\"advice\": {\"choose\": \"%s\", \"title\": \"%s\", "
            "\"blades\": %" PRIu64 ", \"quantum\": %" PRIu64
            ", \"bytes\": %" PRIu64 ", \"reasons\": [",
            advice->name, advice->title, advice->blades, advice->quantum,
            advice->bytes);
    for (size_t i = 0; i < advice->reason_count; i++) {
        fprintf(out, "%s\"%s\"", i > 0 ? ", " : "", advice->reasons[i]);
    }
    fputs("]}}\n", out);
}

void
trace_print_json(const struct trace_stats *stats,
                 const struct trace_advice *advice, FILE *out)
{
    double seconds = trace_stats_seconds(stats);
    fprintf(out,
            "{\"unit_ns\": %" PRIu64 ", \"events\": %" PRIu64
            ", \"starts\": %" PRIu64 ", \"stopped\": %" PRIu64
            ", \"restarted\": %" PRIu64 ", \"fired\": %" PRIu64
            ", \"running\": %" PRIu64 ", \"ignored_stops\": %" PRIu64 ", ",
            stats->unit_ns, stats->events, stats->runs, stats->stopped,
            stats->restarted, stats->fired, stats->running, stats->ignored);
    fprintf(out,
            "\"first\": %" PRIu64 ", \"last\": %" PRIu64
            ", \"seconds\": %.9g, \"starts_per_second\": ",
            stats->first, stats->last, seconds);
    if (seconds > 0) {
        fprintf(out, "%.6g, ", (double)stats->runs / seconds);
    } else {
        fputs("null, ", out);
    }
    fprintf(out,
            "\"shares\": {\"stopped\": %.6f, \"restarted\": %.6f, "
            "\"fired\": %.6f, \"running\": %.6f}, ",
            percent_of_runs(stats, stats->stopped) / 100,
            percent_of_runs(stats, stats->restarted) / 100,
            percent_of_runs(stats, stats->fired) / 100,
            percent_of_runs(stats, stats->running) / 100);
    fprintf(out, "\"timers\": {\"max\": %" PRIu64 ", \"mean\": %.6f}, ",
            stats->most, trace_series_mean(&stats->series));
    fprintf(out,
            "\"gaps\": {\"p50\": %" PRIu64 ", \"p99\": %" PRIu64
            ", \"max\": %" PRIu64 "}, ",
            lawn_histogram_at(&stats->gaps, 50000),
            lawn_histogram_at(&stats->gaps, 99000), stats->gaps.max);
    put_json_ttls(stats, out);
    put_json_series(&stats->series, out);
    put_json_advice(advice, out);
}
