/* progress.c - a progress bar on stderr while lawn-bench measures. */
#include "bench.h"
#include "text.h"
#include "workloads.h"

#include <stdio.h>
#include <unistd.h>

#define PROGRESS_WIDTH 24u

void
bench_progress(const struct cell *cell, const struct contender *contender,
               unsigned done, unsigned all)
{
    static uint64_t began;
    unsigned filled = all > 0 ? done * PROGRESS_WIDTH / all : 0;
    uint64_t now = run_clock();

    if (!isatty(STDERR_FILENO)) {
        return;
    }
    if (began == 0 || done == 0) {
        began = now;
    }
    double left = done > 0 ? (double)(now - began) / done * (all - done) : 0;
    fprintf(stderr, "\r\033[K[%.*s%.*s] %u%%", (int)filled,
            "########################", (int)(PROGRESS_WIDTH - filled),
            "                        ", all > 0 ? done * 100 / all : 0);
    if (done > 0) {
        fprintf(stderr, ", %.0f s left", left / 1e9);
    }
    fprintf(stderr, ": %s n=%s", cell->workload->name,
            text_short((double)cell->n).s);
    if (cell->workload->uses_t) {
        fprintf(stderr, " t=%s", text_short((double)cell->t).s);
    }
    fprintf(stderr, " %s", contender->name);
    fflush(stderr);
}

void
bench_progress_end(void)
{
    if (isatty(STDERR_FILENO)) {
        fputs("\r\033[K", stderr);
    }
}
