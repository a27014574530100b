/* print.h - results as text, CSV and JSON. */
#ifndef LAWN_BENCH_PRINT_H
#define LAWN_BENCH_PRINT_H

#include "results.h"

#include <stdio.h>

void print_text(FILE *out, const struct results *results);
void print_csv(FILE *out, const struct results *results);
/* Prints the slowest single calls as text. */
void print_tails(FILE *out, const struct results *results);
void print_json(FILE *out, const struct results *results);

/* Prints the contenders, the missing ones and the workloads. */
void print_list(FILE *out);

#endif
