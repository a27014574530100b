/* report_picture.c - draws four small plots of time over t, as SVG.
 *
 * lawn is green and drawn last, schemes are gray, libraries blue, the floor
 * dotted. Each line has its name at its end; names that would overlap are moved
 * apart. O(cells * rows) per plot.
 */
#include "report.h"
#include "workloads.h"

#include <math.h>
#include <string.h>

#define PANELS 4
#define LINES_MAX 32
#define POINTS_MAX 16

enum {
    WIDTH = 900,
    PANEL_WIDTH = 440,
    PANEL_HEIGHT = 346,
    PLOT_LEFT = 48,
    PLOT_RIGHT = 344, /* names are to the right */
    PLOT_TOP = 44,
    PLOT_BOTTOM = 286,
    TOP = 78, /* of the first row of panels */
    HEIGHT = TOP + 2 * PANEL_HEIGHT - 8,
    NAME_GAP = 13,
};

struct report_point {
    uint64_t t;
    double ns;
};

/* A contender in a panel: points in ascending order of t. */
struct report_line {
    const struct contender *contender;
    size_t points;
    struct report_point point[POINTS_MAX];
    double end_y; /* of the line */
    double name_y;
};

/* A plot: x is log t from 1 to t_most, y is log ns from low to high. */
struct report_panel {
    const struct workload *workload;
    uint64_t n;
    size_t lines;
    struct report_line line[LINES_MAX];
    uint64_t t_most;
    double low, high;
};

static const char report_style[] =
    "<style>\n"
    "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,"
    "'DejaVu Sans',sans-serif;fill:#565e5a}\n"
    "path{fill:none;stroke-linejoin:round;stroke-linecap:round}\n"
    ".bg{fill:#fff}.grid{stroke:#e6e9e6}\n"
    ".title{font-size:19px;font-weight:600;fill:#1b1f1d}\n"
    ".head{font-size:14px;font-weight:600;fill:#1b1f1d}\n"
    ".lead{stroke:#d5d9d6}.name{font-size:11px}\n"
    ".paper{stroke:#9aa19d;stroke-width:1.4}text.paper{fill:#666e6a}\n"
    ".peer{stroke:#3f7fc0;stroke-width:1.6}text.peer,tspan.peer{fill:#1d5f9f}\n"
    ".floor{stroke:#7b837f;stroke-width:1.6;stroke-dasharray:1 5}\n"
    ".ours{stroke:#00814a;stroke-width:3.6}\n"
    "text.ours,tspan.ours{fill:#00814a;font-weight:700;font-size:13px}\n"
    "circle.ours{fill:#00814a;stroke:none}\n"
    "tspan.ours,tspan.peer,text.paper,text.peer,text.floor,text.ours{"
    "stroke:none}\n"
    "@media (prefers-color-scheme:dark){\n"
    "text{fill:#a9b2ad}.bg{fill:#0d1117}.grid{stroke:#262d2a}\n"
    ".title,.head{fill:#e8ece9}.lead{stroke:#3a423e}\n"
    ".paper{stroke:#6d7571}text.paper{fill:#9aa39e}\n"
    ".peer{stroke:#64aeea}text.peer,tspan.peer{fill:#7fbcf0}.floor{stroke:#"
    "88918c}\n"
    ".ours{stroke:#40d98d}text.ours,tspan.ours,circle.ours{fill:#40d98d}}\n"
    "</style>\n";

const char *
report_class_of(const struct contender *contender)
{
    switch (contender->kind) {
    case CONTENDER_OURS:
        return "ours";
    case CONTENDER_PEER:
        return "peer";
    case CONTENDER_FLOOR:
        return "floor";
    case CONTENDER_PAPER:
    default:
        return "paper";
    }
}

void
report_put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<') {
            fputs("&lt;", out);
        } else if (*text == '&') {
            fputs("&amp;", out);
        } else {
            putc(*text, out);
        }
    }
}

/* 1,000,000 */
void
report_put_count(FILE *out, uint64_t n)
{
    if (n >= 1000) {
        report_put_count(out, n / 1000);
        fprintf(out, ",%03u", (unsigned)(n % 1000));
    } else {
        fprintf(out, "%u", (unsigned)n);
    }
}

static double
x_of(const struct report_panel *panel, uint64_t t)
{
    double span = panel->t_most > 1 ? log((double)panel->t_most) : 1;

    return PLOT_LEFT + 10 +
           (PLOT_RIGHT - PLOT_LEFT - 24) * log((double)t) / span;
}

static double
y_of(const struct report_panel *panel, double ns)
{
    return PLOT_BOTTOM - (PLOT_BOTTOM - PLOT_TOP) * log(ns / panel->low) /
                             log(panel->high / panel->low);
}

static struct report_line *
line_of(struct report_panel *panel, const struct contender *contender)
{
    for (size_t i = 0; i < panel->lines; i++) {
        if (panel->line[i].contender == contender) {
            return &panel->line[i];
        }
    }
    if (panel->lines == LINES_MAX) {
        return NULL;
    }
    panel->line[panel->lines].contender = contender;
    return &panel->line[panel->lines++];
}

static void
add_point(struct report_panel *panel, uint64_t t, const struct results_row *row)
{
    struct report_line *line = line_of(panel, row->contender);
    double ns = results_median(row);

    if (line == NULL || line->points == POINTS_MAX || !(ns > 0)) {
        return;
    }
    size_t at = 0;
    for (at = line->points; at > 0 && line->point[at - 1].t > t; at--) {
        line->point[at] = line->point[at - 1];
    }
    line->point[at] = (struct report_point){t, ns};
    line->points++;
    if (t > panel->t_most) {
        panel->t_most = t;
    }
    if (panel->low == 0 || ns < panel->low) {
        panel->low = ns;
    }
    if (ns > panel->high) {
        panel->high = ns;
    }
}

/* Collects the points of a panel; without points, low is 0. */
static void
gather_lines(struct report_panel *panel, const struct results *results,
             const char *name, uint64_t n)
{
    memset(panel, 0, sizeof(*panel));
    panel->n = n;
    for (size_t i = 0; i < results->cells; i++) {
        const struct results_cell *cell = &results->cell[i];

        if (strcmp(cell->cell.workload->name, name) != 0) {
            continue;
        }
        panel->workload = cell->cell.workload;
        if (cell->cell.n != n || cell->cell.t == 0) {
            continue;
        }
        for (size_t j = 0; j < cell->rows; j++) {
            if (cell->row[j].end == RUN_OK && cell->row[j].runs > 0) {
                add_point(panel, cell->cell.t, &cell->row[j]);
            }
        }
    }
    panel->low *= 0.85;
    panel->high *= 1.15;
    if (panel->high < 10 * panel->low) {
        panel->high = 10 * panel->low;
    }
}

static void
put_tick(FILE *out, double ns)
{
    if (ns < 999) {
        fprintf(out, "%.0f ns", ns);
    } else if (ns < 999e3) {
        fprintf(out, "%.0f µs", ns / 1e3);
    } else {
        fprintf(out, "%.0f ms", ns / 1e6);
    }
}

static void
put_axis_y(FILE *out, const struct report_panel *panel)
{
    const unsigned step = panel->high / panel->low < 100 ? 2 : 9;

    for (uint64_t decade = 1; decade < 1000000000000; decade *= 10) {
        for (unsigned times = 1; times <= 3; times += step) {
            double ns = (double)(times * decade);
            double y = y_of(panel, ns);

            if (ns < panel->low || ns > panel->high) {
                continue;
            }
            fprintf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", PLOT_LEFT,
                    y, PLOT_RIGHT - 8);
            fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
                    PLOT_LEFT - 6, y + 4);
            put_tick(out, ns);
            fputs("</text>\n", out);
        }
    }
}

static void
put_axis_x(FILE *out, const struct report_panel *panel)
{
    double last = -100;

    for (uint64_t t = 1; t <= panel->t_most; t *= 10) {
        double x = x_of(panel, t);

        if (x - last < 28) {
            continue;
        }
        last = x;
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", x,
                PLOT_BOTTOM + 18);
        if (t < 1000) {
            fprintf(out, "%llu</text>\n", (unsigned long long)t);
        } else if (t < 1000000) {
            fprintf(out, "%lluk</text>\n", (unsigned long long)t / 1000);
        } else {
            fprintf(out, "%lluM</text>\n", (unsigned long long)t / 1000000);
        }
        if (t > UINT64_MAX / 10) {
            break;
        }
    }
    fprintf(out,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">"
            "t, different TTLs</text>\n",
            (PLOT_LEFT + PLOT_RIGHT) / 2, PLOT_BOTTOM + 36);
}

/* Places the names of a block of lines one below the other, around the mean of
 * the lines' ends, within the plot. */
static void
place_block(struct report_panel *panel, size_t first, size_t last)
{
    double count = (double)(last - first + 1);
    double height = NAME_GAP * (count - 1), top = 0;

    for (size_t i = first; i <= last; i++) {
        top += panel->line[i].end_y / count;
    }
    top = fmax(PLOT_TOP - 8, fmin(top - height / 2, PLOT_BOTTOM - height));
    for (size_t i = first; i <= last; i++) {
        panel->line[i].name_y = top + NAME_GAP * (double)(i - first);
    }
}

/* Sets name_y. The lines are sorted by their ends, the slowest first. Names
 * that would overlap form blocks, each as close to its lines as possible;
 * first[] is where a name's block begins. */
static void
place_names(struct report_panel *panel)
{
    for (size_t i = 0; i < panel->lines; i++) {
        struct report_line line = panel->line[i];
        size_t at = i;

        line.end_y = y_of(panel, line.point[line.points - 1].ns);
        for (; at > 0 && panel->line[at - 1].end_y > line.end_y; at--) {
            panel->line[at] = panel->line[at - 1];
        }
        panel->line[at] = line;
    }
    size_t first[LINES_MAX];
    for (size_t i = 0; i < panel->lines; i++) {
        first[i] = i;
        place_block(panel, i, i);
        while (first[i] > 0 && panel->line[first[i] - 1].name_y + NAME_GAP >
                                   panel->line[first[i]].name_y) {
            first[i] = first[first[i] - 1];
            place_block(panel, first[i], i);
        }
    }
}

static void
draw_line(FILE *out, const struct report_panel *panel,
          const struct report_line *line)
{
    const char *class = report_class_of(line->contender);
    const struct report_point *end = &line->point[line->points - 1];
    double x = x_of(panel, end->t), y = y_of(panel, end->ns);

    fprintf(out, "<path class=\"lead\" d=\"M%.1f %.1fH%dL%d %.1f\"/>", x + 5, y,
            PLOT_RIGHT - 6, PLOT_RIGHT + 2, line->name_y);
    fprintf(out, "<path class=\"%s\" d=\"", class);
    for (size_t i = 0; i < line->points; i++) {
        fprintf(out, "%c%.1f %.1f", i ? 'L' : 'M',
                x_of(panel, line->point[i].t), y_of(panel, line->point[i].ns));
    }
    /* A line of one point would be invisible, and the floor is constant. */
    if (line->contender->kind == CONTENDER_FLOOR) {
        fprintf(out, "H%d", PLOT_RIGHT - 8);
    } else if (line->points == 1) {
        fputs("h5", out);
    }
    fputs("\"/>", out);
    if (line->contender->kind == CONTENDER_OURS) {
        for (size_t i = 0; i < line->points; i++) {
            fprintf(out,
                    "<circle class=\"ours\" cx=\"%.1f\" cy=\"%.1f\" "
                    "r=\"4.5\"/>",
                    x_of(panel, line->point[i].t),
                    y_of(panel, line->point[i].ns));
        }
    }
    fprintf(out, "<text class=\"name %s\" x=\"%d\" y=\"%.1f\">", class,
            PLOT_RIGHT + 6, line->name_y + 4);
    report_put_text(out, line->contender->name);
    fputs("</text>\n", out);
}

static void
draw_panel(FILE *out, struct report_panel *panel, const char *name)
{
    size_t kept = 0;

    fputs("<text class=\"head\" x=\"0\" y=\"18\">", out);
    report_put_text(out,
                    panel->workload != NULL ? panel->workload->title : name);
    fputs("</text>\n", out);
    for (size_t i = 0; i < panel->lines; i++) {
        if (panel->line[i].points > 0) {
            panel->line[kept++] = panel->line[i];
        }
    }
    panel->lines = kept;
    if (kept == 0) {
        fprintf(out,
                "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">"
                "not measured</text>\n",
                (PLOT_LEFT + PLOT_RIGHT) / 2, (PLOT_TOP + PLOT_BOTTOM) / 2);
        return;
    }
    put_axis_y(out, panel);
    put_axis_x(out, panel);
    place_names(panel);
    for (int ours = 0; ours <= 1; ours++) {
        for (size_t i = 0; i < kept; i++) {
            if ((panel->line[i].contender->kind == CONTENDER_OURS) == ours) {
                draw_line(out, panel, &panel->line[i]);
            }
        }
    }
}

/* Returns 10^6 if it was run, otherwise the largest N that was. */
static uint64_t
choose_n(const struct results *results)
{
    uint64_t most = 0;

    for (size_t i = 0; i < results->cells; i++) {
        uint64_t n = results->cell[i].cell.n;

        if (n == 1000000) {
            return n;
        }
        if (n > most) {
            most = n;
        }
    }
    return most;
}

bool
report_headline_svg(FILE *out, const struct results *results)
{
    static const char *const names[PANELS] = {"W3", "W4", "W1", "W2"};
    uint64_t n = choose_n(results);

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"Time per "
            "operation of lawn and other timer stores over the number of "
            "different TTLs\">\n%s",
            WIDTH, HEIGHT, WIDTH, HEIGHT, report_style);
    fprintf(out, "<rect class=\"bg\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n",
            WIDTH, HEIGHT);
    fputs("<text class=\"title\" x=\"20\" y=\"34\">Time per operation, ", out);
    report_put_count(out, n);
    fputs(" timers</text>\n", out);
    fputs("<text x=\"20\" y=\"57\"><tspan class=\"ours\">lawn</tspan>, <tspan "
          "class=\"peer\">libraries</tspan>, schemes in gray, the floor "
          "dotted. Lower is better; both axes are logarithmic.</text>\n",
          out);
    struct report_panel panel;
    for (size_t i = 0; i < PANELS; i++) {
        gather_lines(&panel, results, names[i], n);
        fprintf(out, "<g transform=\"translate(%d %d)\">\n",
                20 + (int)(i % 2) * PANEL_WIDTH,
                TOP + (int)(i / 2) * PANEL_HEIGHT);
        draw_panel(out, &panel, names[i]);
        fputs("</g>\n", out);
    }
    fputs("</svg>\n", out);
    return fflush(out) == 0 && !ferror(out);
}
