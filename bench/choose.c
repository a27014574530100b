/* choose.c - parses the selection of cells and contenders. */
#include "bench.h"
#include "options.h"
#include "text.h"
#include "workloads.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHOOSE_MAX 64u  /* numbers in a list */
#define CHOOSE_N "N"    /* a number of TTLs: as many as timers */
#define CHOOSE_WORD 64u /* letters of a name */
#define CHOOSE_TIMERS 100000000u
#define CHOOSE_THREADS 64u

static const char choose_grid_n[] = "1k,10k,100k,1M,10M";
static const char choose_grid_t[] = "1,4,20,100,1k,10k," CHOOSE_N;
static const char choose_quick_n[] = "1k,10k";
static const char choose_store_n[] = "10k,100k,1M";
static const char choose_crew_n[] = "1k,100k";
static const char choose_host_n[] = "1k,100k";
static const char choose_crew_t[] = "1,2,4";
static const char choose_quick_crew_t[] = "1,2";
static const char choose_tails_workloads[] = "W4,W9,W12";
static const char choose_tails_contenders[] =
    "lawn,heap4,wheel,uv,event,ev,glib";
static const char choose_tails_n[] = "10k,1M";
static const char choose_tails_t[] = "20," CHOOSE_N;
static const char choose_quick_t[] = "1,20," CHOOSE_N;
#define CHOOSE_QUICK_OPS 40000u

/* Reads the next word of a comma-separated list. Returns false at its end,
 * where *list becomes NULL. A word that is too long for any name ends with
 * "...". */
static bool
next_word(const char **list, char *word)
{
    if (*list == NULL) {
        return false;
    }
    size_t length = strcspn(*list, ",");
    if (length < CHOOSE_WORD) {
        snprintf(word, CHOOSE_WORD, "%.*s", (int)length, *list);
    } else {
        snprintf(word, CHOOSE_WORD, "%.*s...", (int)CHOOSE_WORD - 4, *list);
    }
    *list = (*list)[length] == ',' ? *list + length + 1 : NULL;
    return true;
}

/* Prints an error about a word that is not a valid name. */
static void
complain(const char *option, const char *word)
{
    if (*word == '\0') {
        fprintf(stderr,
                "lawn-bench: --%s: empty name; valid names are:", option);
    } else {
        fprintf(stderr, "lawn-bench: unknown %s '%s'; valid names are:", option,
                word);
    }
}

/* Selects the contenders of a list, or all. Without `must`, skips names that
 * are not available. */
static bool
choose_contenders(const char *list, bool must, enum contender_part part,
                  struct bench_choice *choice)
{
    size_t count = 0;
    const struct contender *const *all = contenders_of(part, &count);

    choice->contender_count = 0;
    char word[CHOOSE_WORD];
    while (next_word(&list, word)) {
        const struct contender *found = NULL;
        bool again = false;

        for (size_t i = 0; i < count; i++) {
            found = strcmp(all[i]->name, word) == 0 ? all[i] : found;
        }

        for (size_t i = 0; i < choice->contender_count; i++) {
            again = again || choice->contenders[i] == found;
        }
        if (found == NULL && !must) {
            continue;
        }
        if (found == NULL) {
            complain("contender", word);
            for (size_t i = 0; i < count; i++) {
                fprintf(stderr, " %s", all[i]->name);
            }
            fputs("\nsee 'lawn-bench --list', also for contenders that are not "
                  "available\n",
                  stderr);
            return false;
        }
        if (!again) {
            choice->contenders[choice->contender_count++] = found;
        }
    }
    if (choice->contender_count == 0) {
        memcpy(choice->contenders, all, count * sizeof(all[0]));
        choice->contender_count = count;
    }
    return true;
}

/* Selects the workloads of a list, or all; one bit each. */
static bool
choose_workloads(const char *list, enum contender_part part, uint64_t *chosen)
{
    size_t count = 0;
    const struct workload *all = workloads_all(part, &count);

    *chosen = list == NULL ? (UINT64_C(1) << count) - 1 : 0;
    char word[CHOOSE_WORD];
    while (next_word(&list, word)) {
        const struct workload *found = workloads_find(word, part);

        if (found == NULL) {
            complain("workload", word);
            for (size_t i = 0; i < count; i++) {
                fprintf(stderr, " %s", all[i].name);
            }
            fputs("; valid titles are:", stderr);
            for (size_t i = 0; i < count; i++) {
                fprintf(stderr, " %s", all[i].title);
            }
            fputs("\nsee 'lawn-bench --list'\n", stderr);
            return false;
        }
        *chosen |= UINT64_C(1) << (found - all);
    }
    return true;
}

/* Parses a list of counts; N, if allowed, is 0. */
static bool
choose_numbers(const char *option, const char *list, bool or_n, uint64_t least,
               uint64_t most, uint64_t *numbers, size_t *count)
{
    const struct options_spec range = {
        .min = least,
        .max = most,
    };
    const char *rest = list;
    char word[CHOOSE_WORD];

    for (*count = 0; next_word(&rest, word); (*count)++) {
        if (*count == CHOOSE_MAX) {
            fprintf(stderr, "lawn-bench: --%s: more than %u numbers\n", option,
                    CHOOSE_MAX);
            return false;
        }
        if (or_n && strcmp(word, CHOOSE_N) == 0) {
            numbers[*count] = 0;
        } else if (!options_count(&range, word, &numbers[*count])) {
            fprintf(stderr,
                    "lawn-bench: --%s: '%s' is not a list of numbers from %u "
                    "to %s, such as %s\n",
                    option, list, (unsigned)least, text_short((double)most).s,
                    most == CHOOSE_THREADS ? choose_crew_t
                    : or_n                 ? choose_grid_t
                                           : choose_grid_n);
            return false;
        }
    }
    return true;
}

/* Prints the requested cells that are impossible: t > n. */
static void
report_left_out(const uint64_t *n, size_t n_count, const uint64_t *t,
                size_t t_count)
{
    const char *before = "lawn-bench: skipped:";

    for (size_t i = 0; i < n_count; i++) {
        for (size_t k = 0; k < t_count; k++) {
            if (t[k] <= n[i]) {
                continue;
            }
            fprintf(stderr, "%s t = %" PRIu64 " for n = %" PRIu64, before, t[k],
                    n[i]);
            before = ",";
        }
    }
    if (*before == ',') {
        fputc('\n', stderr);
    }
}

/* Returns whether one of the selected workloads uses t. */
static bool
uses_t(enum contender_part part, uint64_t chosen)
{
    size_t count = 0;
    const struct workload *all = workloads_all(part, &count);

    for (size_t w = 0; w < count; w++) {
        if ((chosen >> w & 1) != 0 && all[w].uses_t) {
            return true;
        }
    }
    return false;
}

/* Adds the cells of one n: for each t the workloads that use t, then the
 * others. */
static void
choose_cells(struct bench_choice *choice, uint64_t chosen, uint64_t n,
             const uint64_t *t, size_t t_count,
             const struct bench_options *options)
{
    uint64_t ops = options->quick ? CHOOSE_QUICK_OPS : 0;
    size_t count = 0;
    const struct workload *all = workloads_all(bench_part(options), &count);

    for (size_t i = 0; i <= t_count; i++) {
        uint64_t ttls = i == t_count ? 0 : t[i] == 0 ? n : t[i];
        bool again = false;

        for (size_t k = 0; k < i && i < t_count; k++) {
            again = again || (t[k] == 0 ? n : t[k]) == ttls;
        }
        if (again || (ttls > n && !options->workers)) {
            continue;
        }
        for (size_t w = 0; w < count; w++) {
            if ((chosen >> w & 1) != 0 && all[w].uses_t == (i < t_count) &&
                ttls >= all[w].least_t) {
                choice->cells[choice->cell_count++] =
                    (struct cell){&all[w], n, ttls, options->seed, ops};
            }
        }
    }
}

/* Parses the numbers of TTLs or, for crews, of threads. */
static bool
choose_ttls_or_threads(const struct bench_options *options, uint64_t *t,
                       size_t *count)
{
    const char *list = options->quick   ? choose_quick_t
                       : options->tails ? choose_tails_t
                                        : choose_grid_t;

    if (!options->workers) {
        return choose_numbers("t", options->t != NULL ? options->t : list, true,
                              1, CHOOSE_TIMERS, t, count);
    }
    list = options->quick ? choose_quick_crew_t : choose_crew_t;
    return choose_numbers("threads",
                          options->threads != NULL ? options->threads : list,
                          false, 1, CHOOSE_THREADS, t, count);
}

bool
bench_choose(const struct bench_options *options, struct bench_choice *choice)
{
    uint64_t n[CHOOSE_MAX];
    uint64_t t[CHOOSE_MAX];
    size_t n_count = 0;
    size_t t_count = 0;
    uint64_t chosen = 0;
    enum contender_part part = bench_part(options);
    const char *contenders = options->contenders;
    const char *workloads = options->workloads;
    const char *n_list = options->quick        ? choose_quick_n
                         : options->tails      ? choose_tails_n
                         : part == PART_STORES ? choose_store_n
                         : part == PART_CREWS  ? choose_crew_n
                         : part == PART_HOSTS  ? choose_host_n
                                               : choose_grid_n;

    if (options->tails) {
        contenders = contenders != NULL ? contenders : choose_tails_contenders;
        workloads = workloads != NULL ? workloads : choose_tails_workloads;
    }
    if (!choose_contenders(contenders, options->contenders != NULL, part,
                           choice) ||
        !choose_workloads(workloads, part, &chosen) ||
        !choose_numbers("n", options->n != NULL ? options->n : n_list, false,
                        100, CHOOSE_TIMERS, n, &n_count) ||
        !choose_ttls_or_threads(options, t, &t_count)) {
        return false;
    }
    choice->cell_count = 0;
    size_t workload_count = 0;
    (void)workloads_all(part, &workload_count);
    choice->cells = calloc(n_count * (t_count + 1) * workload_count,
                           sizeof(*choice->cells));
    if (choice->cells == NULL) {
        fputs("lawn-bench: out of memory\n", stderr);
        return false;
    }
    for (size_t i = 0; i < n_count; i++) {
        choose_cells(choice, chosen, n[i], t, t_count, options);
    }
    if (choice->cell_count == 0) {
        fputs(options->workers
                  ? "lawn-bench: no cells to measure: the workload mixed "
                    "requires more than one thread\n"
                  : "lawn-bench: no cells to measure: --t is larger than --n\n",
              stderr);
        free(choice->cells);
        return false;
    }
    if (options->t != NULL && options->trace == NULL && uses_t(part, chosen)) {
        report_left_out(n, n_count, t, t_count);
    }
    return true;
}
