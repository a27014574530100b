/* print_json.c - prints results as one JSON object: README.md describes its
 * form. */
#include "build.h"
#include "contenders.h"
#include "machine.h"
#include "print.h"
#include "stopwatch.h"
#include "workloads.h"

#include <inttypes.h>
#include <time.h>

/* Prints a string, or null. */
static void
print_string(FILE *out, const char *text)
{
    if (text == NULL) {
        fputs("null", out);
        return;
    }
    putc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            fprintf(out, "\\%c", *text);
        } else if ((unsigned char)*text < 0x20) {
            fprintf(out, "\\u%04x", (unsigned char)*text);
        } else {
            putc(*text, out);
        }
    }
    putc('"', out);
}

/* Prints the text `before`, and then "name": "text". */
static void
print_member(FILE *out, const char *before, const char *name, const char *text)
{
    fprintf(out, "%s\"%s\": ", before, name);
    print_string(out, text);
}

static void
print_machine(FILE *out)
{
    struct machine machine;

    machine_read(&machine);
    print_member(out, "\n \"machine\": {", "cpu", machine.cpu);
    fprintf(out,
            ", \"cores\": %u, \"l1d\": %" PRIu64 ", \"l2\": %" PRIu64
            ", \"l3\": %" PRIu64 ", \"memory\": %" PRIu64,
            machine.cores, machine.l1d, machine.l2, machine.l3, machine.memory);
    print_member(out, ", ", "kernel", machine.kernel);
    print_member(out, ", ", "system", machine.system);
    print_member(out, ", ", "compiler", machine.compiler);
    print_member(out, ", ", "flags", machine.flags);
    print_member(out, ", ", "hugepages", machine.hugepages);
    fputs("},", out);
}

static void
print_json_contender(FILE *out, const struct contender *contender)
{
    static const char *const kinds[] = {
        [CONTENDER_OURS] = "ours",
        [CONTENDER_PAPER] = "paper",
        [CONTENDER_PEER] = "peer",
        [CONTENDER_FLOOR] = "floor",
    };
    unsigned lines = contenders_count_lines(contender);

    print_member(out, "\n  {", "name", contender->name);
    print_member(out, ", ", "title", contender->title);
    print_member(out, ", ", "about", contender->about);
    print_member(out, ", ", "kind", kinds[contender->kind]);
    fprintf(out,
            ", \"exact\": %s, \"ordered\": %s, \"fifo\": %s, \"budget\": %s",
            (contender->flags & CONTENDER_EXACT) != 0 ? "true" : "false",
            (contender->flags & CONTENDER_ORDERED) != 0 ? "true" : "false",
            (contender->flags & CONTENDER_FIFO) != 0 ? "true" : "false",
            (contender->flags & CONTENDER_BUDGET) != 0 ? "true" : "false");
    fprintf(out, ", \"node\": %zu, \"lines\": ", contender->node);
    if (lines != 0) {
        fprintf(out, "%u", lines);
    } else {
        fputs("null", out);
    }
    print_member(out, ", ", "version",
                 contender->version != NULL ? contender->version() : NULL);
    putc('}', out);
}

/* Prints the contenders of the results, the missing ones, and the workloads. */
static void
print_contenders(FILE *out, const struct results *results)
{
    size_t count = 0;
    const struct contenders_missing *missing = contenders_list_missing(&count);
    const char *before = "{";

    fputs("\n \"contenders\": [", out);
    for (size_t i = 0; results->cells > 0 && i < results->cell[0].rows; i++) {
        fputs(i > 0 ? "," : "", out);
        print_json_contender(out, results->cell[0].row[i].contender);
    }
    fputs("],\n \"missing\": [", out);
    for (size_t i = 0; i < count; i++) {
        if (missing[i].part != results->part) {
            continue;
        }
        print_member(out, before, "name", missing[i].name);
        print_member(out, ", ", "why", missing[i].why);
        putc('}', out);
        before = ", {";
    }
    fputs("],\n \"workloads\": [", out);
    const struct workload *all = workloads_all(results->part, &count);
    for (size_t i = 0; i < count; i++) {
        print_member(out, i > 0 ? ",\n  {" : "\n  {", "name", all[i].name);
        print_member(out, ", ", "title", all[i].title);
        print_member(out, ", ", "imitates", all[i].imitates);
        print_member(out, ", ", "operation", all[i].operation);
        print_member(out, ", ", "parameters", all[i].parameters);
        putc('}', out);
    }
    fputs("],", out);
}

static void
print_json_figures(FILE *out, const char *name,
                   const struct tails_figures *figures)
{
    if (figures == NULL) {
        fprintf(out, ", \"%s\": null", name);
        return;
    }
    fprintf(out,
            ", \"%s\": {\"p50\": %" PRIu64 ", \"p99\": %" PRIu64
            ", \"p999\": %" PRIu64 ", \"p9999\": %" PRIu64 ", \"max\": %" PRIu64
            "}",
            name, figures->p50, figures->p99, figures->p999, figures->p9999,
            figures->max);
}

/* Prints a row of single calls. */
static void
print_json_tails(FILE *out, const struct results_row *row)
{
    const struct tails *tails = row->runs > 0 ? row->tails : NULL;

    print_member(out, "\n    {", "contender", row->contender->name);
    if (tails != NULL) {
        fprintf(out,
                ", \"calls\": %" PRIu64 ", \"checksum\": \"%016" PRIx64
                "\", \"late\": %" PRIu64,
                tails->calls, tails->checksum, tails->late);
    } else {
        fputs(", \"calls\": 0, \"checksum\": null, \"late\": null", out);
    }
    print_json_figures(out, "cycles", tails != NULL ? &tails->cycles : NULL);
    print_json_figures(out, "any", tails != NULL ? &tails->any : NULL);
    print_json_figures(out, "spinner", tails != NULL ? &tails->spinner : NULL);
    print_json_figures(out, "entries",
                       tails != NULL && tails->counted ? &tails->entries
                                                       : NULL);
    if (tails != NULL && tails->counted) {
        fprintf(out, ", \"idle\": %" PRIu64, tails->idle);
    } else {
        fputs(", \"idle\": null", out);
    }
    print_member(out, ", ", "why", row->why);
    putc('}', out);
}

static void
print_json_row(FILE *out, const struct results_row *row)
{
    bool timed = contender_part_of(row->contender) == PART_CREWS ||
                 contender_part_of(row->contender) == PART_HOSTS;

    print_member(out, "\n    {", "contender", row->contender->name);
    fputs(", \"ns\": [", out);
    for (unsigned i = 0; i < row->runs; i++) {
        fprintf(out, "%s%.2f", i > 0 ? ", " : "", row->ns[i]);
    }
    if (row->runs > 0) {
        fprintf(out,
                "], \"median\": %.2f, \"ops\": %" PRIu64
                ", \"checksum\": \"%016" PRIx64 "\", \"bytes\": %.2f, ",
                results_median(row), row->ops, row->checksum, row->bytes);
    } else {
        fputs("], \"median\": null, \"ops\": 0, \"checksum\": null, "
              "\"bytes\": null, ",
              out);
    }
    if (row->has_tail) {
        fprintf(out,
                "\"tail\": {\"p50\": %" PRIu64 ", \"p99\": %" PRIu64
                ", \"%s\": %" PRIu64 ", \"max\": %" PRIu64,
                row->p50, row->p99, timed ? "p999" : "p9999",
                timed ? row->p999 : row->p9999, row->max);
    }
    if (row->has_tail && contender_part_of(row->contender) == PART_HOSTS) {
        fprintf(out, ", \"sampled\": %" PRIu64 ", \"early\": %" PRIu64,
                row->sampled, row->early);
    }
    if (row->has_tail) {
        putc('}', out);
    } else {
        fputs("\"tail\": null", out);
    }
    print_member(out, ", ", "why", row->why);
    putc('}', out);
}

static void
print_cells(FILE *out, const struct results *results)
{
    fputs("\n \"cells\": [", out);
    for (size_t i = 0; i < results->cells; i++) {
        const struct results_cell *cell = &results->cell[i];

        print_member(out, i > 0 ? ",\n  {" : "\n  {", "workload",
                     cell->cell.workload->name);
        fprintf(out, ", \"n\": %" PRIu64 ", \"%s\": ", cell->cell.n,
                results->part == PART_CREWS ? "threads" : "t");
        if (cell->cell.workload->uses_t) {
            fprintf(out, "%" PRIu64, cell->cell.t);
        } else {
            fputs("null", out);
        }
        fputs(", \"rows\": [", out);
        for (size_t k = 0; k < cell->rows; k++) {
            fputs(k > 0 ? "," : "", out);
            if (results->budget != 0) {
                print_json_tails(out, &cell->row[k]);
            } else {
                print_json_row(out, &cell->row[k]);
            }
        }
        fputs("]}", out);
    }
    fputs("],", out);
}

/* Prints a figure, or null if it was not counted. */
static void
print_figure(FILE *out, const char *name, double figure)
{
    if (figure < 0) {
        fprintf(out, ", \"%s\": null", name);
    } else {
        fprintf(out, ", \"%s\": %.1f", name, figure);
    }
}

void
print_json(FILE *out, const struct results *results)
{
    static const char *const programs[] = {
        [PART_TIMERS] = "lawn bench",
        [PART_STORES] = "lawn bench --store",
        [PART_CREWS] = "lawn bench --workers",
        [PART_HOSTS] = "lawn bench --adapters",
    };
    time_t now = time(NULL);
    struct tm utc;
    char date[32] = "";

    if (gmtime_r(&now, &utc) != NULL) {
        strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    print_member(out, "{", "program",
                 results->budget != 0 ? "lawn bench --tails"
                                      : programs[results->part]);
    print_member(out, ", ", "version", BUILD_VERSION);
    print_member(out, ", ", "commit", BUILD_COMMIT);
    print_member(out, ", ", "date", date);
    fprintf(out,
            ",\n \"seed\": %" PRIu64 ", \"runs\": %u, \"complete\": %s, "
            "\"overhead\": %.1f,",
            results->seed, results->runs, results->complete ? "true" : "false",
            stopwatch_overhead());
    if (results->budget != 0) {
        fprintf(out, "\n \"budget\": ");
        if (results->budget != SIZE_MAX) {
            fprintf(out, "%zu", results->budget);
        } else {
            fputs("null", out);
        }
        fprintf(out, ", \"cycle\": %.4f, \"cost\": %" PRIu64 ",",
                stopwatch_cycle(), stopwatch_cost());
    }
    print_machine(out);
    print_contenders(out, results);
    print_cells(out, results);
    fputs("\n \"instructions\": [", out);
    for (size_t i = 0; i < results->counts; i++) {
        const struct results_count *count = &results->count[i];

        print_member(out, i > 0 ? ",\n  {" : "\n  {", "contender",
                     count->contender->name);
        print_figure(out, "start", count->start);
        print_figure(out, "stop", count->stop);
        print_figure(out, "restart", count->restart);
        print_figure(out, "idle", count->idle);
        print_figure(out, "fire", count->fire);
        putc('}', out);
    }
    fputs("]}\n", out);
}
