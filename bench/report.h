/* report.h - the page and the picture of a run's results. */
#ifndef LAWN_BENCH_REPORT_H
#define LAWN_BENCH_REPORT_H

#include "results.h"

#include <stdio.h>

/* Writes a self-contained HTML page around the run's JSON, as printed by
 * `lawn-bench --json`: length bytes, not checked. Returns false with errno set
 * if writing failed. */
bool report_write(FILE *out, const char *json, size_t length);

/* Writes an SVG picture for a README: time per operation over t of the core
 * operations, at N = 10^6 or, if that was not run, at the largest N that was.
 * Cells and rows may be missing. Returns false if writing failed. */
bool report_headline_svg(FILE *out, const struct results *results);

/* The page before and after the JSON: page.html, page.css and page.js of
 * bench/report/, converted to C by mk/bench.mk. */
extern const unsigned char report_page_head[];
extern const size_t report_page_head_size;
extern const unsigned char report_page_tail[];
extern const size_t report_page_tail_size;

#endif
