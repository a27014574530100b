/* report.h - the page and the picture of a run's results. */
#ifndef LAWN_BENCH_REPORT_H
#define LAWN_BENCH_REPORT_H

#include "results.h"

#include <stdio.h>

/* Writes a self-contained HTML page around the run's JSON, as printed by
 * `lawn-bench --json`: length bytes, not checked. Returns false with errno set
 * if writing failed. */
bool report_write(FILE *out, const char *json, size_t length);

/* Writes an SVG picture for a README: the time of each core operation, plotted
 * over t, at N = 10^6 or, if that was not run, at the largest N that was. Cells
 * and rows may be missing. Returns false if writing failed. */
bool report_headline_svg(FILE *out, const struct results *results);

/* Whether the results fit one bar chart: each workload was measured once, and
 * all with the same number of timers and of TTLs. */
bool report_fits_bars(const struct results *results);

/* Writes a bar chart of results that fit one, as SVG: time per operation, a
 * panel for each workload. The texts below the chart are the machine and
 * commit, and the command. Returns false if writing failed. */
bool report_bars_svg(FILE *out, const struct results *results,
                     const char *machine, const char *command);

/* Parts of both pictures: the style class of a contender; text with the
 * characters < and & escaped; a number with commas, 1,000,000. */
const char *report_class_of(const struct contender *contender);
void report_put_text(FILE *out, const char *text);
void report_put_count(FILE *out, uint64_t n);

/* The page before and after the JSON: page.html, page.css
 * and page.js of bench/report/, made into C by mk/bench.mk. */
extern const unsigned char report_page_head[];
extern const size_t report_page_head_size;
extern const unsigned char report_page_tail[];
extern const size_t report_page_tail_size;

#endif
