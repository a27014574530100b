/* report.h - the page and the picture that are made of a run's results. */
#ifndef LAWN_BENCH_REPORT_H
#define LAWN_BENCH_REPORT_H

#include "results.h"

#include <stdio.h>

/* Writes one self-contained HTML page around the run's JSON, as `lawn bench
 * --json` prints it: length bytes, not checked. False: writing failed, errno
 * says why. */
bool report_write(FILE *out, const char *json, size_t length);

/* Writes an SVG picture, for a README: time per operation over t of the core
 * verbs, at N = 10^6 or, if that was not run, at the largest N that was. Cells
 * and rows may be missing. False: writing failed. */
bool report_headline_svg(FILE *out, const struct results *results);

/* The page up to where the JSON goes, and from there on: page.html, page.css
 * and page.js of bench/report/, made into C by mk/bench.mk. */
extern const unsigned char report_page_head[];
extern const size_t report_page_head_size;
extern const unsigned char report_page_tail[];
extern const size_t report_page_tail_size;

#endif
