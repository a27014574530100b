/* demo_report.c - the figures of "lawn demo", as text and as JSON. */
#include "demo.h"
#include "text.h"

#include <inttypes.h>

static double
to_seconds(uint64_t ns)
{
    return (double)ns / (double)DEMO_SECOND;
}

static double
elapsed_seconds(const struct demo *demo)
{
    return to_seconds(demo->now - demo->begin);
}

/* Returns the percentage of the time during which the process ran on a core.
 * Timers that became due while it did not run fired late. */
static double
core_percent(const struct demo *demo)
{
    return 100 * to_seconds(demo->core_ns) / elapsed_seconds(demo);
}

/* Prints that percentage. If it is 99 or less, also prints possible causes and
 * the effect on timers. */
static void
print_core(FILE *out, double percent)
{
    fprintf(out, "  %-11s   used for %.0f %% of the time\n", "core", percent);
    if (percent <= 99) {
        fprintf(out,
                "  %-11s   for %.0f %%, other processes had it, or the output\n"
                "  %-11s   blocked; timers that became due in that time fired "
                "late\n",
                "", 100 - percent, "");
    }
}

/* Returns the memory per timer: the timer itself, and its share of the lawn,
 * which does not grow. */
static double
bytes_per_timer(const struct demo *demo, const struct lawn_counters *stats)
{
    return (double)sizeof(struct lawn_timer) +
           (double)stats->bytes / (double)demo->options->timers;
}

void
demo_report_begin(const struct demo *demo, FILE *out)
{
    const struct demo_ttls *ttls = &demo->options->ttls;
    fprintf(out, "%s timers for %g s, TTLs",
            text_count(demo->options->timers).s,
            to_seconds(demo->options->run_ns));
    for (size_t i = 0; i < ttls->count; i++) {
        fprintf(out, " %s", text_ttl(ttls->ns[i]).s);
    }
    putc('\n', out);
}

void
demo_report_line(const struct demo *demo, FILE *out)
{
    const struct demo_counts *past = demo_past(demo, 0);
    double operations = demo_rate(demo, past, demo_operations(&demo->counts),
                                  demo_operations(past));
    double fires = demo_rate(demo, past, demo->counts.fires, past->fires);
    fprintf(out,
            "%4.0f s  %s running  %s ops/s  %s fired/s  "
            "so far: p99 %s late, %" PRIu64 " early\n",
            elapsed_seconds(demo), text_count(demo_running(demo)).s,
            text_short(operations).s, text_short(fires).s,
            text_lateness(lawn_histogram_at(&demo->lateness, 99000)).s,
            demo->early);
}

static void
print_count(FILE *out, const char *name, uint64_t count, double seconds)
{
    fprintf(out, "  %-11s %14s  %12s per second\n", name, text_count(count).s,
            text_count((uint64_t)((double)count / seconds)).s);
}

void
demo_report_summary(const struct demo *demo, FILE *out)
{
    const struct demo_counts *counts = &demo->counts;
    const struct lawn_histogram *lateness = &demo->lateness;
    double seconds = elapsed_seconds(demo);
    struct lawn_counters stats;
    lawn_stats(demo->lawn, &stats);
    fprintf(out, "lawn demo: %s timers of %zu TTLs, %.1f s%s\n",
            text_count(demo->options->timers).s, demo->options->ttls.count,
            seconds, demo->interrupted ? ", interrupted" : "");
    print_count(out, "operations", demo_operations(counts), seconds);
    print_count(out, "started", counts->starts, seconds);
    print_count(out, "restarted", counts->restarts, seconds);
    print_count(out, "stopped", counts->stops, seconds);
    print_count(out, "fired", counts->fires, seconds);
    fprintf(out, "  %-11s %14s\n", "running", text_count(stats.count).s);
    fprintf(out, "  %-11s %14s\n", "early", text_count(demo->early).s);
    fprintf(out, "  %-11s %14s\n", "lost", text_count(demo->lost).s);
    fprintf(out, "  %-11s   p50 %s, p99 %s, max %s\n", "lateness",
            text_lateness(lawn_histogram_at(lateness, 50000)).s,
            text_lateness(lawn_histogram_at(lateness, 99000)).s,
            text_lateness(lateness->max).s);
    print_core(out, core_percent(demo));
    fprintf(out,
            "  %-11s   %.2f bytes per timer: %zu in the timer and\n"
            "  %-11s   a share of the %s bytes of the lawn\n",
            "memory", bytes_per_timer(demo, &stats), sizeof(struct lawn_timer),
            "", text_count(stats.bytes).s);
    fprintf(out, "%s early, %s lost: %s\n", text_count(demo->early).s,
            text_count(demo->lost).s,
            demo->early == 0 && demo->lost == 0 ? "correct" : "wrong");
}

void
demo_report_json(const struct demo *demo, FILE *out)
{
    const struct demo_counts *counts = &demo->counts;
    const struct demo_ttls *ttls = &demo->options->ttls;
    uint64_t operations = demo_operations(counts);
    struct lawn_counters stats;
    lawn_stats(demo->lawn, &stats);
    fprintf(out, "{\"timers\": %" PRIu64 ", \"seconds\": %.3f, ",
            demo->options->timers, elapsed_seconds(demo));
    fprintf(out, "\"interrupted\": %s, \"seed\": %" PRIu64 ", \"ttls_ns\": [",
            demo->interrupted ? "true" : "false", demo->options->seed);
    for (size_t i = 0; i < ttls->count; i++) {
        fprintf(out, "%s%" PRIu64, i > 0 ? ", " : "", ttls->ns[i]);
    }
    fprintf(out,
            "], \"operations\": %" PRIu64 ", \"operations_per_second\": %.0f, ",
            operations, (double)operations / elapsed_seconds(demo));
    fprintf(out,
            "\"started\": %" PRIu64 ", \"restarted\": %" PRIu64
            ", \"stopped\": %" PRIu64 ", \"fired\": %" PRIu64
            ", \"running\": %" PRIu64 ", ",
            counts->starts, counts->restarts, counts->stops, counts->fires,
            stats.count);
    fprintf(out,
            "\"early\": %" PRIu64 ", \"lost\": %" PRIu64
            ", \"lateness_ns\": {\"p50\": %" PRIu64 ", \"p99\": %" PRIu64
            ", \"max\": %" PRIu64 "}, \"core_percent\": %.1f, ",
            demo->early, demo->lost, lawn_histogram_at(&demo->lateness, 50000),
            lawn_histogram_at(&demo->lateness, 99000), demo->lateness.max,
            core_percent(demo));
    fprintf(out,
            "\"timer_bytes\": %zu, \"lawn_bytes\": %zu, "
            "\"bytes_per_timer\": %.2f}\n",
            sizeof(struct lawn_timer), stats.bytes,
            bytes_per_timer(demo, &stats));
}
