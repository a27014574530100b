/* print.c - prints results as text and CSV, and the list of contenders and
 * workloads. */
#include "print.h"
#include "contenders.h"
#include "stopwatch.h"
#include "text.h"
#include "workloads.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows with figures are first, in ascending order of time. */
static int
compare_rows(const void *a, const void *b)
{
    const struct results_row *x = *(const struct results_row *const *)a;
    const struct results_row *y = *(const struct results_row *const *)b;

    if (x->runs == 0 || y->runs == 0) {
        return (x->runs == 0) - (y->runs == 0);
    }
    return (results_median(x) > results_median(y)) -
           (results_median(x) < results_median(y));
}

/* Prints the times at the start of a row. If there are none, prints why, ends
 * the row, and returns false. */
static bool
print_times(FILE *out, const struct results_row *row, double best)
{
    fprintf(out, "  %-10s", row->contender->name);
    if (row->runs == 0) {
        fprintf(out, " %s\n", row->why);
        return false;
    }
    double median = results_median(row);
    fprintf(out, " %8.1f  %8.1f %8.1f  %7.2f", median, row->ns[0],
            row->ns[row->runs - 1], median / best);
    return true;
}

/* Prints the end of a row; `far` is the high percentile. */
static void
print_tail(FILE *out, const struct results_row *row, uint64_t far)
{
    if (row->has_tail) {
        fprintf(out, "  %7s %7s %7s %7s", text_lateness(row->p50).s,
                text_lateness(row->p99).s, text_lateness(far).s,
                text_lateness(row->max).s);
    }
    putc('\n', out);
}

static void
print_row(FILE *out, const struct results_row *row, double best)
{
    if (!print_times(out, row, best)) {
        return;
    }
    fprintf(out, "  %6.1f", row->bytes);
    print_tail(out, row, row->p9999);
}

/* For crews: the throughput of all threads or, for T4 and T5, latencies. */
static void
print_row_crew(FILE *out, const struct results_row *row, double best,
               uint64_t threads)
{
    if (!print_times(out, row, best)) {
        return;
    }
    if (threads > 0) {
        fprintf(out, "  %7.2f", 1e3 * (double)threads / results_median(row));
    }
    print_tail(out, row, row->p999);
}

static void
print_head_crew(FILE *out, bool threads)
{
    fprintf(out, "  %-10s %8s  %8s %8s  %7s", "", threads ? "ns/op" : "ns",
            "min", "max", "x best");
    if (threads) {
        fprintf(out, "  %7s\n", "M/s");
    } else {
        fprintf(out, "  %7s %7s %7s %7s\n", "p50", "p99", "p99.9", "max");
    }
}

/* For hosts: compares the loop's own timers with lawn's in the same loop. */
static void
print_row_host(FILE *out, const struct results_row *row,
               const struct results_cell *cell)
{
    const char *adapted = host_of(row->contender)->adapted;
    double ratio = 0;

    fprintf(out, "  %-12s", row->contender->name);
    if (row->runs == 0) {
        fprintf(out, " %s\n", row->why);
        return;
    }
    for (size_t i = 0; i < cell->rows && adapted != NULL; i++) {
        if (strcmp(cell->row[i].contender->name, adapted) == 0 &&
            cell->row[i].runs > 0) {
            ratio = results_median(row) / results_median(&cell->row[i]);
        }
    }
    fprintf(out, " %9.1f %9.1f %9.1f", results_median(row), row->ns[0],
            row->ns[row->runs - 1]);
    if (ratio > 0) {
        fprintf(out, " %7.2f", ratio);
    } else {
        fprintf(out, " %7s", "-");
    }
    fprintf(out, " %7.1f", row->bytes);
    if (row->has_tail) {
        fprintf(out, "  %7s %7s %7s  %5.1f%%", text_lateness(row->p50).s,
                text_lateness(row->p99).s, text_lateness(row->max).s,
                100 * (double)row->early / (double)row->sampled);
    }
    putc('\n', out);
}

static void
print_head_host(FILE *out, bool tails)
{
    fprintf(out, "  %-12s %9s %9s %9s %7s %7s", "", "ns/op", "min", "max",
            "x ours", "bytes");
    if (tails) {
        fprintf(out, "  %7s %7s %7s  %6s", "p50", "p99", "max", "early");
    }
    putc('\n', out);
}

/* Prints the rows in the order of the contenders, in which hosts of the same
 * event loop are adjacent. */
static void
print_rows_host(FILE *out, const struct results_cell *cell)
{
    bool tails = false;

    for (size_t i = 0; i < cell->rows; i++) {
        tails = tails || cell->row[i].has_tail;
    }
    print_head_host(out, tails);
    for (size_t i = 0; i < cell->rows; i++) {
        print_row_host(out, &cell->row[i], cell);
    }
}

static void
print_cell(FILE *out, const struct results_cell *cell)
{
    bool crew = cell->cell.workload->part == PART_CREWS;
    const struct results_row *rows[CONTENDERS_MAX] = {NULL};
    const struct workload *workload = cell->cell.workload;
    double best = 0;

    for (size_t i = 0; i < cell->rows; i++) {
        rows[i] = &cell->row[i];
    }
    qsort(rows, cell->rows, sizeof(rows[0]), compare_rows);
    for (size_t i = cell->rows; i-- > 0;) {
        if (rows[i]->runs > 0 && rows[i]->contender->kind != CONTENDER_FLOOR) {
            best = results_median(rows[i]);
        }
    }
    fprintf(out, "\n%s %s, %s timers%s", workload->name, workload->title,
            text_count(cell->cell.n).s, crew ? " per thread" : "");
    if (workload->uses_t) {
        fprintf(out, ", %s %s%s", text_count(cell->cell.t).s,
                crew ? "thread" : "TTL", cell->cell.t == 1 ? "" : "s");
    }
    fprintf(out, ", seed %" PRIu64 ": %s\n", cell->cell.seed,
            workload->operation);
    fprintf(out, "  (%s)\n", workload->parameters);
    if (workload->part == PART_HOSTS) {
        print_rows_host(out, cell);
        return;
    }
    if (crew) {
        print_head_crew(out, workload->uses_t);
    } else {
        fprintf(out, "  %-10s %8s  %8s %8s  %7s  %6s  %7s %7s %7s %7s\n", "",
                "ns/op", "min", "max", "x best", "bytes", "p50", "p99",
                "p99.99", "max");
    }
    for (size_t i = 0; i < cell->rows; i++) {
        if (crew) {
            print_row_crew(out, rows[i], best, cell->cell.t);
        } else {
            print_row(out, rows[i], best);
        }
    }
}

/* Prints a number of instructions; negative: it was not counted. */
static void
print_count(FILE *out, double instructions)
{
    if (instructions < 0) {
        fprintf(out, " %8s", "-");
    } else {
        fprintf(out, " %8.1f", instructions);
    }
}

static void
print_counts(FILE *out, const struct results *results)
{
    fprintf(
        out,
        "\ninstructions per operation (callgrind), 10,000 timers, 8 TTLs;\n"
        "they include the call in the benchmark; \"fire\" also includes the\n"
        "start that follows and the idle mows in between\n"
        "  %-10s %8s %8s %8s %8s %8s\n",
        "", "start", "stop", "restart", "idle", "fire");
    for (size_t i = 0; i < results->counts; i++) {
        const struct results_count *count = &results->count[i];

        fprintf(out, "  %-10s", count->contender->name);
        print_count(out, count->start);
        print_count(out, count->stop);
        print_count(out, count->restart);
        print_count(out, count->idle);
        print_count(out, count->fire);
        putc('\n', out);
    }
}

void
print_text(FILE *out, const struct results *results)
{
    for (size_t i = 0; i < results->cells; i++) {
        print_cell(out, &results->cell[i]);
    }
    if (results->counts > 0) {
        print_counts(out, results);
    }
    if (results->part == PART_CREWS) {
        fprintf(out,
                "\nns/op is the time per operation on its thread, M/s the "
                "number of millions of\n"
                "operations per second of all threads, on %ld processors; x "
                "best compares with\n"
                "the best contender that supports other threads\n",
                sysconf(_SC_NPROCESSORS_ONLN));
    }
    if (results->part == PART_HOSTS) {
        fputs("\nx ours compares an event loop's own timers with lawn's in the "
              "same loop; bytes\n"
              "are per timer, including its struct; early is the percentage "
              "of timers that\n"
              "fired before they were due; their lateness counts as 0\n",
              out);
    }
    if (results->part == PART_STORES) {
        fprintf(out,
                "\nx best compares with the best contender that has timers; "
                "ids have 16 bytes,\n"
                "payloads 32; bytes are per timer, without these, as malloc or "
                "the store\n"
                "counts them; %.0f ns for reading the clock are subtracted "
                "from single calls\n",
                stopwatch_overhead());
    }
}

void
print_csv(FILE *out, const struct results *results)
{
    bool crew = results->part == PART_CREWS;
    bool host = results->part == PART_HOSTS;
    bool timed = crew || host;

    fprintf(out,
            "workload,n,%s,seed,contender,runs,ns_median,ns_min,ns_max,ops,"
            "checksum,bytes,p50,p99,%s,max,%swhy\n",
            crew ? "threads" : "t", timed ? "p999" : "p9999",
            host ? "sampled,early," : "");
    for (size_t i = 0; i < results->cells; i++) {
        const struct results_cell *cell = &results->cell[i];

        for (size_t k = 0; k < cell->rows; k++) {
            const struct results_row *row = &cell->row[k];

            fprintf(out, "%s,%" PRIu64 ",", cell->cell.workload->name,
                    cell->cell.n);
            if (cell->cell.workload->uses_t) {
                fprintf(out, "%" PRIu64, cell->cell.t);
            }
            fprintf(out, ",%" PRIu64 ",%s,%u,", cell->cell.seed,
                    row->contender->name, row->runs);
            if (row->runs > 0) {
                fprintf(out, "%.2f,%.2f,%.2f,%" PRIu64 ",%016" PRIx64 ",%.2f,",
                        results_median(row), row->ns[0], row->ns[row->runs - 1],
                        row->ops, row->checksum, row->bytes);
            } else {
                fputs(",,,,,,", out);
            }
            if (row->has_tail) {
                fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
                        row->p50, row->p99, timed ? row->p999 : row->p9999,
                        row->max);
            } else {
                fputs(",,,,", out);
            }
            if (host && row->has_tail) {
                fprintf(out, "%" PRIu64 ",%" PRIu64 ",", row->sampled,
                        row->early);
            } else if (host) {
                fputs(",,", out);
            }
            fprintf(out, "%s\n", row->why != NULL ? row->why : "");
        }
    }
}

static void
print_wrapped(FILE *out, int indent, const char *text)
{
    fprintf(out, "%*s", indent, "");
    text_put_words(text, (size_t)indent, out);
}

static void
print_contender(FILE *out, const struct contender *contender)
{
    unsigned lines = contenders_count_lines(contender);

    fprintf(out, "  %-9s %s", contender->name, contender->title);
    if (contender->version != NULL) {
        fprintf(out, ", %s", contender->version());
    }
    if (lines != 0) {
        fprintf(out, "; %u lines of code", lines);
    }
    putc('\n', out);
    print_wrapped(out, 12, contender->about);
}

static void
print_contenders(FILE *out, const struct contender *const *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        print_contender(out, all[i]);
    }
}

static void
print_workloads(FILE *out, enum contender_part part)
{
    size_t count = 0;
    const struct workload *all = workloads_all(part, &count);

    for (size_t i = 0; i < count; i++) {
        fprintf(out, "  %-5s %s%s\n", all[i].name, all[i].title,
                all[i].uses_t ? ", t" : "");
        print_wrapped(out, 8, all[i].imitates);
        fprintf(out, "        counted: %s\n", all[i].operation);
        print_wrapped(out, 8, all[i].parameters);
    }
}

void
print_list(FILE *out)
{
    size_t count = 0;
    const struct contender *const *all = contenders_of(PART_TIMERS, &count);

    fputs("contenders:\n", out);
    print_contenders(out, all, count);
    all = contenders_of(PART_STORES, &count);
    fputs("\nstores (--store):\n", out);
    print_contenders(out, all, count);
    all = contenders_of(PART_CREWS, &count);
    fputs("\nfor several threads (--workers):\n", out);
    print_contenders(out, all, count);
    all = contenders_of(PART_HOSTS, &count);
    fputs("\nevent loops (--adapters):\n", out);
    print_contenders(out, all, count);
    const struct contenders_missing *missing = contenders_list_missing(&count);
    if (count > 0) {
        fputs("\nnot available in this build:\n", out);
    }
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "  %-9s %s\n", missing[i].name, missing[i].why);
    }
    fputs("\nworkloads (those marked t run once for each number of TTLs):\n",
          out);
    print_workloads(out, PART_TIMERS);
    fputs("\nworkloads of stores: ids of 16 bytes, payloads of 32, 20 TTLs\n",
          out);
    print_workloads(out, PART_STORES);
    fputs("\nworkloads of several threads (those marked t run once for each "
          "number of threads):\n",
          out);
    print_workloads(out, PART_CREWS);
    fputs("\nworkloads of event loops:\n", out);
    print_workloads(out, PART_HOSTS);
}
