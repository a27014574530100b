/* main.c - makes the pages and pictures that tests/report/browser.py checks.
 *
 *     report page <JSON >HTML    the page around a run's JSON
 *     report picture >SVG        the picture of made-up results
 *     report one >SVG            of a single cell
 *     report nothing >SVG        of no results at all
 *     report bars >SVG           bars of a single cell
 */
#include "../../bench/report.h"
#include "../../bench/workloads.h"

#include <stdlib.h>
#include <string.h>

#define NAMES 16

static const struct workload made_workloads[] = {
    {.name = "W1", .title = "start", .operation = "start of a timer"},
    {.name = "W2", .title = "stop"},
    {.name = "W3", .title = "restart"},
    {.name = "W4", .title = "churn"},
};
static const char *const made_names[NAMES] = {
    "lawn",   "list",     "tree",  "heap2", "heap4", "wheel",
    "levels", "calendar", "paper", "heads", "libuv", "libev",
    "event",  "evcommon", "glib",  "fifo",
};
static struct contender made_contenders[NAMES];

double
results_median(const struct results_row *row)
{
    return row->ns[row->runs / 2];
}

static struct results_row
made_row(size_t who, size_t what, double t)
{
    struct results_row row = {.contender = &made_contenders[who], .runs = 1};

    row.ns[0] = (20.0 + 9.0 * (double)who) * (1.0 + 0.3 * (double)what);
    if (who == 1 || (who == NAMES - 1 && t > 1)) {
        row.end = RUN_SLOW;
    }
    if (who == 8) {
        row.ns[0] = 30 + t / 10;
    }
    if (who == NAMES - 1) {
        row.ns[0] = 6;
    }
    row.runs = row.end == RUN_OK;
    return row;
}

/* Prints a picture of the first cells: plots, or bars. */
static bool
picture(size_t cells, bool bars)
{
    static const uint64_t ts[] = {1, 20, 1000, 1000000, 100};
    static struct results_cell cell[20];
    static struct results_row rows[20][NAMES];
    struct results results = {.cells = cells, .cell = cell};

    for (size_t i = 0; i < NAMES; i++) {
        made_contenders[i].name = made_names[i];
        made_contenders[i].title = made_names[i];
        made_contenders[i].kind = i == 0           ? CONTENDER_OURS
                                  : i == NAMES - 1 ? CONTENDER_FLOOR
                                  : i >= 10        ? CONTENDER_PEER
                                                   : CONTENDER_PAPER;
    }
    for (size_t i = 0; i < 20; i++) {
        cell[i].cell.workload = &made_workloads[i / 5];
        cell[i].cell.n = 1000000;
        cell[i].cell.t = ts[i % 5];
        cell[i].rows = NAMES;
        cell[i].row = rows[i];
        for (size_t j = 0; j < NAMES; j++) {
            rows[i][j] = made_row(j, i / 5, (double)ts[i % 5]);
        }
    }
    return bars ? report_bars_svg(stdout, &results, "a <machine>", "a & b")
                : report_headline_svg(stdout, &results);
}

static bool
page(void)
{
    size_t size = 0, most = 1 << 16;
    char *json = malloc(most);

    while (json != NULL) {
        size += fread(json + size, 1, most - size, stdin);
        if (size < most) {
            break;
        }
        char *more = realloc(json, most *= 2);
        if (more == NULL) {
            free(json);
        }
        json = more;
    }
    bool good = json != NULL && report_write(stdout, json, size);
    free(json);
    return good;
}

int
main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";

    if (strcmp(what, "page") == 0) {
        return !page();
    }
    if (strcmp(what, "picture") == 0) {
        return !picture(20, false);
    }
    if (strcmp(what, "one") == 0) {
        return !picture(1, false);
    }
    if (strcmp(what, "nothing") == 0) {
        return !picture(0, false);
    }
    if (strcmp(what, "bars") == 0) {
        return !picture(1, true);
    }
    fputs("usage: report page|picture|one|nothing|bars\n", stderr);
    return 2;
}
