/* report_bars.c - the bar chart: one panel per workload, in SVG.
 *
 * It is drawn instead of the plots over t when each workload was measured with
 * one number of timers and one number of TTLs. The bars of a panel share one
 * linear scale; the fastest contender is on top. The last lines name the
 * machine, the commit and the command. O(cells * rows).
 */
#include "report.h"
#include "workloads.h"

#define BARS_MAX 32

enum {
    BARS_WIDTH = 900,
    BARS_LEFT = 150,  /* of a bar; its name is to the left */
    BARS_RIGHT = 760, /* of the longest bar; its value is to the right */
    BARS_STEP = 24,   /* from bar to bar */
    BARS_HEIGHT = 16, /* of a bar */
    BARS_TOP = 64,    /* of the first panel */
    BARS_HEAD = 30,   /* of a panel, above its first bar */
    BARS_GAP = 16,    /* below a panel */
    BARS_LINE = 16,   /* of the text at the bottom */
};

static const char bars_style[] =
    "<style>\n"
    "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,"
    "'DejaVu Sans',sans-serif;fill:#565e5a}\n"
    ".bg{fill:#fff}.title{font-size:19px;font-weight:600;fill:#1b1f1d}\n"
    ".head{font-size:14px;font-weight:600;fill:#1b1f1d}\n"
    ".name{font-size:13px}.note{font-size:11px}\n"
    "rect.paper,rect.floor{fill:#9aa19d}rect.peer{fill:#3f7fc0}\n"
    "rect.ours{fill:#00814a}\n"
    "text.ours{fill:#00814a;font-weight:700}\n"
    "@media (prefers-color-scheme:dark){\n"
    "text{fill:#a9b2ad}.bg{fill:#0d1117}.title,.head{fill:#e8ece9}\n"
    "rect.paper,rect.floor{fill:#6d7571}rect.peer{fill:#64aeea}\n"
    "rect.ours{fill:#40d98d}text.ours{fill:#40d98d}}\n"
    "</style>\n";

bool
report_fits_bars(const struct results *results)
{
    for (size_t i = 0; i < results->cells; i++) {
        const struct cell *cell = &results->cell[i].cell;

        if (cell->n != results->cell[0].cell.n ||
            cell->t != results->cell[0].cell.t) {
            return false;
        }
        for (size_t j = 0; j < i; j++) {
            if (results->cell[j].cell.workload == cell->workload) {
                return false;
            }
        }
    }
    return results->cells > 0;
}

static bool
was_measured(const struct results_row *row)
{
    return row->end == RUN_OK && row->runs > 0 && results_median(row) > 0;
}

/* Whether row a is drawn above row b: the faster one, and a row without figures
 * last. */
static bool
is_above(const struct results_row *a, const struct results_row *b)
{
    if (!was_measured(a) || !was_measured(b)) {
        return was_measured(a);
    }
    return results_median(a) < results_median(b);
}

/* Stores a cell's rows in the order of their bars; returns their number. */
static size_t
sort_rows(const struct results_cell *cell, const struct results_row **rows)
{
    size_t count = 0;

    for (size_t i = 0; i < cell->rows && count < BARS_MAX; i++) {
        const struct results_row *row = &cell->row[i];
        size_t at = 0;

        if (row->contender->kind == CONTENDER_FLOOR) {
            continue;
        }
        for (at = count++; at > 0 && is_above(row, rows[at - 1]); at--) {
            rows[at] = rows[at - 1];
        }
        rows[at] = row;
    }
    return count;
}

static void
draw_bar(FILE *out, const struct results_row *row, int y, double slowest)
{
    const char *class = report_class_of(row->contender);
    double width = 0;

    fprintf(out,
            "<text class=\"name %s\" x=\"%d\" y=\"%d\" text-anchor=\"end\">",
            class, BARS_LEFT - 8, y + BARS_HEIGHT - 3);
    report_put_text(out, row->contender->title);
    fputs("</text>", out);
    if (was_measured(row)) {
        width = (BARS_RIGHT - BARS_LEFT) * results_median(row) / slowest;
        fprintf(out,
                "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" "
                "height=\"%d\"/>",
                class, BARS_LEFT, y, width, BARS_HEIGHT);
    }
    fprintf(out, "<text class=\"name %s\" x=\"%.1f\" y=\"%d\">", class,
            BARS_LEFT + width + 8, y + BARS_HEIGHT - 3);
    if (was_measured(row)) {
        fprintf(out, "%.0f ns", results_median(row));
    } else {
        report_put_text(out, row->why != NULL ? row->why : "not measured");
    }
    fputs("</text>\n", out);
}

/* Draws the panel of a cell; returns where the next one begins. */
static int
draw_bars(FILE *out, const struct results_cell *cell, int y)
{
    const struct results_row *rows[BARS_MAX];
    size_t count = sort_rows(cell, rows);
    double slowest = 1;

    for (size_t i = 0; i < count; i++) {
        if (was_measured(rows[i])) {
            slowest = results_median(rows[i]);
        }
    }
    fprintf(out, "<text class=\"head\" x=\"20\" y=\"%d\">", y + 18);
    report_put_text(out, cell->cell.workload->name);
    fputs(": ", out);
    report_put_text(out, cell->cell.workload->operation);
    fputs("</text>\n", out);
    y += BARS_HEAD;
    for (size_t i = 0; i < count; i++, y += BARS_STEP) {
        draw_bar(out, rows[i], y, slowest);
    }
    return y + BARS_GAP;
}

/* Prints one line of text; returns where the next one begins. */
static int
put_note(FILE *out, int y, const char *label, const char *text)
{
    fprintf(out, "<text class=\"note\" x=\"20\" y=\"%d\">%s", y, label);
    report_put_text(out, text);
    fputs("</text>\n", out);
    return y + BARS_LINE;
}

bool
report_bars_svg(FILE *out, const struct results *results, const char *machine,
                const char *command)
{
    int height = BARS_TOP;

    for (size_t i = 0; i < results->cells; i++) {
        const struct results_row *rows[BARS_MAX];

        height += BARS_HEAD + BARS_GAP +
                  BARS_STEP * (int)sort_rows(&results->cell[i], rows);
    }
    height += 2 * BARS_LINE + 8;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"Time per "
            "operation of lawn and other timer libraries\">\n%s",
            BARS_WIDTH, height, BARS_WIDTH, height, bars_style);
    fprintf(out, "<rect class=\"bg\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n",
            BARS_WIDTH, height);
    fputs("<text class=\"title\" x=\"20\" y=\"34\">Time per operation, ", out);
    report_put_count(out, results->cell[0].cell.n);
    fputs(" timers", out);
    if (results->cell[0].cell.t != 0) {
        fputs(", ", out);
        report_put_count(out, results->cell[0].cell.t);
        fputs(" TTLs", out);
    }
    fputs("</text>\n", out);
    fprintf(out,
            "<text x=\"20\" y=\"54\">Medians of %u runs; shorter is better."
            "</text>\n",
            results->runs);
    int y = BARS_TOP;
    for (size_t i = 0; i < results->cells; i++) {
        y = draw_bars(out, &results->cell[i], y);
    }
    y = put_note(out, y, "Machine: ", machine);
    put_note(out, y, "Command: ", command);
    fputs("</svg>\n", out);
    return fflush(out) == 0 && !ferror(out);
}
