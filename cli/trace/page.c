/* page.c - writes the figures of a trace as an HTML page with charts.
 *
 * The file is self-contained: style, charts (SVG) and the figures as JSON.
 * Colors follow the reader's light or dark setting. Ids of the trace do not
 * appear, so nothing needs escaping.
 */
#include "stats.h"

#include <inttypes.h>

#define TRACE_PAGE_WIDTH 720  /* of a chart */
#define TRACE_PAGE_HEIGHT 240 /* of the plot area, without labels */
#define TRACE_PAGE_LEFT 64    /* labels of the y axis */

static const char page_style[] =
    ":root{--page:#f7f8f5;--card:#fff;--ink:#20281f;--soft:#67705f;"
    "--line:#dfe4d8;--green:#3f8f4e;--pale:#bfdcc0;--blue:#4a78b0;"
    "--amber:#c98b2b;--gray:#a9b0a2;color-scheme:light dark}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#151a15;--card:#1d241d;"
    "--ink:#e4eae0;--soft:#98a393;--line:#333d33;--green:#6cbf7b;"
    "--pale:#2f5537;--blue:#7fa8dc;--amber:#dfae5a;--gray:#6f786c}}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--page);"
    "color:var(--ink);font:16px/1.5 system-ui,sans-serif}\n"
    "main{max-width:820px;margin:0 auto;padding:32px 16px 64px}\n"
    "h1{font-size:1.5rem;margin:0 0 4px}h2{font-size:1.05rem;margin:0 0 12px}\n"
    "p{margin:0 0 8px}.soft{color:var(--soft)}\n"
    "section{background:var(--card);border:1px solid var(--line);"
    "border-radius:10px;padding:20px;margin-top:20px}\n"
    ".tiles{display:grid;gap:12px;"
    "grid-template-columns:repeat(auto-fit,minmax(150px,1fr));"
    "margin-top:20px}\n"
    ".tile{background:var(--card);border:1px solid var(--line);"
    "border-radius:10px;padding:12px 16px}"
    ".tile b{display:block;font-size:1.35rem;font-weight:600}\n"
    ".advice{border-left:4px solid var(--green)}"
    ".advice li{margin:4px 0}ul{padding-left:20px;margin:0}\n"
    "svg{display:block;width:100%;height:auto}"
    "svg text{fill:var(--soft);font-size:12px}"
    ".grid{stroke:var(--line)}.mean{fill:var(--pale)}"
    ".most{fill:none;stroke:var(--green);stroke-width:1.5}"
    ".bar{fill:var(--green)}\n"
    "table{border-collapse:collapse;width:100%;"
    "font-variant-numeric:tabular-nums}td,th{padding:4px 8px;"
    "text-align:right;border-bottom:1px solid var(--line);font-weight:400}"
    "th{color:var(--soft)}td:first-child,th:first-child{text-align:left}\n"
    ".key{display:inline-block;width:10px;height:10px;border-radius:2px;"
    "margin:0 6px 0 16px}.key:first-child{margin-left:0}"
    ".end{white-space:nowrap;margin-right:12px}\n";

static void
put_tile(const char *value, const char *name, FILE *out)
{
    fprintf(out,
            "<div class=\"tile\"><b>%s</b><span class=\"soft\">%s</span>"
            "</div>\n",
            value, name);
}

static void
put_head(const struct trace_stats *stats, FILE *out)
{
    double seconds = trace_stats_seconds(stats);
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "\n<meta name=\"viewport\" content=\"width=device-width,"
            "initial-scale=1\">\n<title>lawn trace</title>\n<style>\n%s"
            "</style></head>\n<body><main>\n<h1>Timers of a trace</h1>\n",
            page_style);
    fprintf(out, "<p class=\"soft\">%s events in %s</p>\n",
            text_count(stats->events).s,
            trace_stats_time(stats, stats->last - stats->first).s);
    fputs("<div class=\"tiles\">\n", out);
    put_tile(text_count(stats->most).s, "timers at once, at most", out);
    put_tile(text_short(trace_series_mean(&stats->series)).s,
             "timers on average", out);
    put_tile(text_count(stats->ttls.count).s, "different TTLs", out);
    put_tile(text_count(stats->most_ttls).s, "TTLs at once, at most", out);
    if (seconds > 0) {
        put_tile(text_short((double)stats->runs / seconds).s,
                 "starts per second", out);
    }
    fputs("</div>\n", out);
}

static void
put_advice(const struct trace_advice *advice, FILE *out)
{
    fprintf(out, "<section class=\"advice\"><h2>Choose %s</h2>\n<ul>\n",
            advice->title);
    for (size_t i = 0; i < advice->reason_count; i++) {
        fprintf(out, "<li>%s</li>\n", advice->reasons[i]);
    }
    fputs("</ul></section>\n", out);
}

/* Returns a round number that is at least a quarter of `most`: 1, 2 or 5,
 * followed by zeros. */
static uint64_t
round_step(uint64_t most)
{
    size_t i = 0;
    while (i < TRACE_STATS_CLASSES && trace_stats_class(i) < (most + 3) / 4) {
        i++;
    }
    return trace_stats_class(i);
}

/* Begins a chart, and draws grid lines at round values up to at least `most`.
 * Returns the value at the top. */
static double
begin_plot(uint64_t most, const char *label, FILE *out)
{
    uint64_t step = round_step(most);
    uint64_t lines = most / step + (most % step != 0);
    if (lines == 0) {
        lines = 1;
    }
    fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n",
            TRACE_PAGE_WIDTH, TRACE_PAGE_HEIGHT + 36, label);
    for (uint64_t i = 0; i <= lines; i++) {
        double y =
            8 + (double)TRACE_PAGE_HEIGHT * (1 - (double)i / (double)lines);
        fprintf(out,
                "<path class=\"grid\" d=\"M%d %.1fH%d\"/>"
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                TRACE_PAGE_LEFT, y, TRACE_PAGE_WIDTH, TRACE_PAGE_LEFT - 8,
                y + 4, text_short((double)i * (double)step).s);
    }
    return (double)lines * (double)step;
}

static double
plot_y(double value, double top)
{
    return 8 + (double)TRACE_PAGE_HEIGHT * (1 - value / top);
}

/* Draws timers over time: the mean and the maximum of each column. */
static void
put_series(const struct trace_stats *stats, FILE *out)
{
    const struct trace_series *series = &stats->series;
    unsigned columns = trace_series_columns(series);
    double width = (double)(TRACE_PAGE_WIDTH - TRACE_PAGE_LEFT) / columns;
    fputs("<section><h2>Timers over time</h2>\n", out);
    double top = begin_plot(stats->most, "timers over time", out);
    fprintf(out, "<path class=\"mean\" d=\"M%d %d", TRACE_PAGE_LEFT,
            8 + TRACE_PAGE_HEIGHT);
    for (unsigned i = 0; i < columns; i++) {
        fprintf(out, "V%.1fH%.1f", plot_y(trace_series_column(series, i), top),
                TRACE_PAGE_LEFT + width * (i + 1));
    }
    fprintf(out, "V%dZ\"/>\n<path class=\"most\" d=\"", 8 + TRACE_PAGE_HEIGHT);
    for (unsigned i = 0; i < columns; i++) {
        double y = plot_y((double)series->most[i], top);
        if (i == 0) {
            fprintf(out, "M%d %.1fH%.1f", TRACE_PAGE_LEFT, y,
                    TRACE_PAGE_LEFT + width);
        } else {
            fprintf(out, "V%.1fH%.1f", y, TRACE_PAGE_LEFT + width * (i + 1));
        }
    }
    fputs("\"/>\n", out);
    for (unsigned i = 0; i <= 4; i++) {
        uint64_t span = (uint64_t)columns << series->shift;
        double x = TRACE_PAGE_LEFT +
                   (TRACE_PAGE_WIDTH - TRACE_PAGE_LEFT) * (double)i / 4;
        double ns = (double)span / 4 * i * (double)stats->unit_ns;
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>\n",
                x, TRACE_PAGE_HEIGHT + 28,
                i == 0   ? "start"
                : i == 4 ? "end"
                         : "middle",
                ns < 1 ? "0 s" : text_lateness((uint64_t)ns).s);
    }
    fputs("</svg>\n<p class=\"soft\"><span class=\"key\" style=\"background:"
          "var(--pale)\"></span>mean<span class=\"key\" style=\"background:"
          "var(--green)\"></span>maximum in each interval</p></section>\n",
          out);
}

/* Draws one bar of all runs, divided by how they ended. */
static void
put_ends(const struct trace_stats *stats, FILE *out)
{
    const struct {
        const char *name;
        const char *color;
        uint64_t count;
    } ends[] = {
        {"stopped", "blue", stats->stopped},
        {"restarted", "amber", stats->restarted},
        {"fired", "green", stats->fired},
        {"running at the end", "gray", stats->running},
    };
    double x = 0;
    fprintf(out,
            "<section><h2>How %s starts ended</h2>\n<svg viewBox=\"0 0 %d 28\" "
            "role=\"img\" aria-label=\"how starts ended\">\n",
            text_count(stats->runs).s, TRACE_PAGE_WIDTH);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        double width =
            TRACE_PAGE_WIDTH * (double)ends[i].count / (double)stats->runs;
        fprintf(out,
                "<rect x=\"%.2f\" width=\"%.2f\" height=\"28\" "
                "style=\"fill:var(--%s)\"><title>%s: %s</title></rect>\n",
                x, width, ends[i].color, ends[i].name,
                text_count(ends[i].count).s);
        x += width;
    }
    fputs("</svg>\n<p class=\"soft\">", out);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        fprintf(out,
                "<span class=\"end\"><span class=\"key\" "
                "style=\"background:var(--%s)\"></span>%s %.1f&nbsp;%%</span> ",
                ends[i].color, ends[i].name,
                100 * (double)ends[i].count / (double)stats->runs);
    }
    fputs("</p></section>\n", out);
}

/* Draws a bar for each class of TTLs, from the first to the last that is not
 * empty. */
static void
put_classes(const struct trace_stats *stats, FILE *out)
{
    size_t first = TRACE_STATS_CLASSES;
    size_t last = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < TRACE_STATS_CLASSES; i++) {
        if (stats->classes[i] > 0) {
            first = first < i ? first : i;
            last = i;
            most = most > stats->classes[i] ? most : stats->classes[i];
        }
    }
    double width = (double)(TRACE_PAGE_WIDTH - TRACE_PAGE_LEFT) /
                   (double)(last - first + 1);
    if (width > 80) {
        width = 80;
    }
    size_t every = 1 + (size_t)(56 / width); /* labels must not overlap */
    fputs("<section><h2>Starts by TTL</h2>\n", out);
    double top = begin_plot(most, "starts by TTL", out);
    for (size_t i = first; i <= last; i++) {
        double x = TRACE_PAGE_LEFT + width * (double)(i - first);
        double y = plot_y((double)stats->classes[i], top);
        fprintf(out,
                "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                "height=\"%.1f\"><title>from %s: %s</title></rect>\n",
                x + 1, y, width - 2, 8 + TRACE_PAGE_HEIGHT - y,
                trace_stats_time(stats, trace_stats_class(i)).s,
                text_count(stats->classes[i]).s);
        if ((i - first) % every == 0) {
            fprintf(out, "<text x=\"%.1f\" y=\"%d\">%s</text>\n", x,
                    TRACE_PAGE_HEIGHT + 28,
                    trace_stats_time(stats, trace_stats_class(i)).s);
        }
    }
    fputs("</svg></section>\n", out);
}

static void
put_top(const struct trace_stats *stats, FILE *out)
{
    fputs("<section><h2>Most used TTLs</h2>\n<table><tr><th>TTL</th>"
          "<th>starts</th><th>share</th></tr>\n",
          out);
    for (size_t i = 0; i < stats->top_count; i++) {
        fprintf(out, "<tr><td>%s</td><td>%s</td><td>%.1f&nbsp;%%</td></tr>\n",
                trace_stats_time(stats, stats->top[i].ttl).s,
                text_count(stats->top[i].starts).s,
                100 * (double)stats->top[i].starts / (double)stats->runs);
    }
    fputs("</table></section>\n", out);
}

void
trace_page(const struct trace_stats *stats, const struct trace_advice *advice,
           FILE *out)
{
    put_head(stats, out);
    put_advice(advice, out);
    if (stats->runs > 0) {
        put_series(stats, out);
        put_ends(stats, out);
        put_classes(stats, out);
        put_top(stats, out);
    }
    fputs("</main>\n<script type=\"application/json\" id=\"figures\">\n", out);
    trace_print_json(stats, advice, out);
    fputs("</script></body></html>\n", out);
}
