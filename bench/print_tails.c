/* print_tails.c - prints the slowest single calls as text. */
#include "contenders.h"
#include "print.h"
#include "stopwatch.h"
#include "text.h"
#include "workloads.h"

#include <inttypes.h>

static void
print_figures(FILE *out, const char *name, const char *what,
              const struct tails_figures *figures)
{
    fprintf(out, "  %-6s %-8s", name, what);
    if (figures == NULL) {
        fprintf(out, " %10s %10s %10s %11s", "-", "-", "-", "-");
    } else {
        fprintf(out, " %10s %10s %10s %11s", text_count(figures->p99).s,
                text_count(figures->p999).s, text_count(figures->p9999).s,
                text_count(figures->max).s);
    }
}

static void
print_row(FILE *out, const struct results_row *row)
{
    const struct tails *tails = row->tails;

    if (row->runs == 0) {
        fprintf(out, "  %-6s %s\n", row->contender->name, row->why);
        return;
    }
    print_figures(out, row->contender->name, "cycles", &tails->cycles);
    fprintf(out, " %11s %6s\n", text_count(tails->calls).s,
            text_count(tails->late).s);
    print_figures(out, "", "any run", &tails->any);
    putc('\n', out);
    print_figures(out, "", "spinner", &tails->spinner);
    putc('\n', out);
    print_figures(out, "", "entries", tails->counted ? &tails->entries : NULL);
    putc('\n', out);
}

static void
print_cell(FILE *out, const struct results_cell *cell)
{
    const struct workload *workload = cell->cell.workload;

    fprintf(out, "\n%s %s, %s timers", workload->name, workload->title,
            text_count(cell->cell.n).s);
    if (workload->uses_t) {
        fprintf(out, ", %s TTL%s", text_count(cell->cell.t).s,
                cell->cell.t == 1 ? "" : "s");
    }
    fprintf(out,
            ", seed %" PRIu64 "\n  %-6s %-8s %10s %10s %10s %11s %11s %6s\n",
            cell->cell.seed, "", "", "p99", "p99.9", "p99.99", "max", "calls",
            "late");
    for (size_t i = 0; i < cell->rows; i++) {
        print_row(out, &cell->row[i]);
    }
}

void
print_tails(FILE *out, const struct results *results)
{
    for (size_t i = 0; i < results->cells; i++) {
        print_cell(out, &results->cell[i]);
    }
    if (results->budget == SIZE_MAX) {
        fputs("\nper call; each mow is one call, with the budget of the "
              "workload, if any",
              out);
    } else {
        fprintf(out,
                "\nper call; a mow without a budget, or with a larger one, is "
                "split into calls\nwith a budget of %zu",
                results->budget);
    }
    fprintf(out,
            "\ncycles   of each call, the median of %u runs; %" PRIu64
            " for reading the clock are\n         subtracted; 1,000 cycles are "
            "%.0f ns\n"
            "any run  all calls of all runs, with the pauses of the machine\n"
            "spinner  pauses seen by a loop that reads the clock, in turns "
            "with the calls\n"
            "entries  timers fired, and timers or index entries moved or "
            "examined\n"
            "late     the most ticks from a deadline to its firing\n",
            results->runs, stopwatch_cost(), 1000 * stopwatch_cycle());
}
