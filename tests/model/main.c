/* main.c - the model test: random operations on a lawn, a store, a set of
 * workers or a loop, compared with an oracle.
 *
 *     model [--seed S] [--ops N] [--mix MIX] [--check-every K] [--light 1]
 *           [--jobs J] [--replay FILE]... [FILE]...
 *
 * The mixes of a lawn are few, unique, extreme and edges; lawn selects all of
 * them. class-few, class-many and class-extreme are lawns with classes, and
 * class. Those of a store are store-few, store-unique and store-extreme, and
 * store; the same for workers- and loop-. all is the default. A file with
 * store- in its name is a case for a store, one with workers- for workers, one
 * with loop- for a loop.
 *
 * pieces-few and so on (pieces selects all) are pairs of lawns, one of which is
 * mown in more pieces than the other; naive-few and so on are pairs with a
 * naive lawn: both must fire identically to the end (pair_ops.h). A file with
 * pieces- or naive- in its name is a case for such a pair. core selects these
 * pairs and the mixes of a lawn.
 *
 * Each mix runs in a child process, so that a crash counts as a failure. A
 * failing case is reduced, written to a file and printed as text. With files
 * to replay, the random part runs only with --ops. --jobs sets the number of
 * mixes that run at a time. With --light the oracle looks at all timers only
 * now and then; the witness always does.
 */
#include "loop_ops.h"
#include "ops.h"
#include "pair_ops.h"
#include "rng.h"
#include "shrink.h"
#include "store_ops.h"
#include "workers_ops.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CASE_MIN 64u
#define CASE_MAX 4096u
#define CASE_LONG 8u /* times as long if light */
#define FILE_MAX (1u << 20)

#define MIXES 23
#define CORE_MIXES 14u /* of lawns, and pairs of them */
#define ALL_MIXES ((1u << MIXES) - 1)

static const struct mix {
    const char *kind;
    const char *name;
    ops_run_fn *run;
    unsigned mix; /* the first byte */
} mixes[MIXES] = {
    {"lawn", "few", ops_run, OPS_FEW},
    {"lawn", "unique", ops_run, OPS_UNIQUE},
    {"lawn", "extreme", ops_run, OPS_EXTREME},
    {"lawn", "edges", ops_run, OPS_EDGES},
    {"class", "class-few", ops_run, OPS_CLASSES | OPS_FEW},
    {"class", "class-many", ops_run, OPS_CLASSES_MANY | OPS_ANY},
    {"class", "class-extreme", ops_run, OPS_CLASSES | OPS_EXTREME},
    {"pieces", "pieces-few", pieces_ops_run, OPS_FEW},
    {"pieces", "pieces-unique", pieces_ops_run, OPS_UNIQUE},
    {"pieces", "pieces-extreme", pieces_ops_run, OPS_EXTREME},
    {"pieces", "pieces-edges", pieces_ops_run, OPS_EDGES},
    {"naive", "naive-few", naive_pair_ops_run, OPS_FEW},
    {"naive", "naive-unique", naive_pair_ops_run, OPS_UNIQUE},
    {"naive", "naive-extreme", naive_pair_ops_run, OPS_EXTREME},
    {"store", "store-few", store_ops_run, OPS_FEW},
    {"store", "store-unique", store_ops_run, OPS_UNIQUE},
    {"store", "store-extreme", store_ops_run, OPS_EXTREME},
    {"workers", "workers-few", workers_ops_run, OPS_FEW},
    {"workers", "workers-unique", workers_ops_run, OPS_UNIQUE},
    {"workers", "workers-extreme", workers_ops_run, OPS_EXTREME},
    {"loop", "loop-few", loop_ops_run, OPS_FEW},
    {"loop", "loop-unique", loop_ops_run, OPS_UNIQUE},
    {"loop", "loop-extreme", loop_ops_run, OPS_EXTREME},
};

struct model {
    struct ops_config config;
    const char *program; /* name of this program */
    uint64_t seed;
    uint64_t operations; /* total of all mixes */
    bool asked;          /* whether --ops was given */
    unsigned mixes;      /* a bit for each */
    unsigned jobs;
    unsigned passed;
    unsigned failed;
    uint64_t done; /* operations */
};

/* Written by the process that runs a mix, before and after each case. */
struct progress {
    uint64_t number;
    uint64_t operations;
};

static size_t
make_case(const struct model *model, int mix, uint64_t number, uint8_t *bytes)
{
    struct rng rng = {model->seed};

    rng.state = rng_next(&rng) + number * 8 + mixes[mix].mix;
    size_t size = CASE_MIN << rng_below(&rng, 7);
    if (model->config.light) {
        size *= CASE_LONG;
    }
    rng_fill(&rng, bytes, size);
    bytes[0] = (uint8_t)mixes[mix].mix;
    return size;
}

static void
run_cases(const struct model *model, int mix, uint64_t operations, int out)
{
    static uint8_t bytes[CASE_MAX * CASE_LONG];
    struct progress progress = {0, 0};
    struct ops_result result;

    while (progress.operations < operations) {
        size_t size = make_case(model, mix, progress.number, bytes);

        if (write(out, &progress, sizeof(progress)) < 0) {
            exit(2);
        }
        (void)alarm(60);
        if (!model->config.run(&model->config, bytes, size, &result)) {
            printf("%s\n", result.message);
            exit(1);
        }
        progress.number++;
        progress.operations += result.operations;
    }
    if (write(out, &progress, sizeof(progress)) < 0) {
        exit(2);
    }
}

/* Prints the case as text, in a child process because it is about to fail. */
static void
tell_case(const struct model *model, const uint8_t *bytes, size_t size)
{
    struct ops_config config = model->config;

    (void)fflush(NULL);
    pid_t child = fork();
    struct ops_result result;
    if (child == 0) {
        (void)alarm(10);
        config.trace = stdout;
        exit(config.run(&config, bytes, size, &result) ? 0 : 1);
    }
    (void)waitpid(child, NULL, 0);
}

static void
report(const struct model *model, const char *name, uint8_t *bytes, size_t size)
{

    if (shrink_passes(&model->config, bytes, size)) {
        printf("the case passes when run alone: it leaks, or depends on "
               "earlier cases\n");
        return;
    }
    printf("shrinking %zu bytes\n", size);
    size = shrink(&model->config, bytes, size);
    tell_case(model, bytes, size);
    char path[64];
    (void)snprintf(path, sizeof(path), "model-%s-%llu.bin", name,
                   (unsigned long long)model->seed);
    FILE *file = fopen(path, "wb");
    if (file != NULL) {
        (void)fwrite(bytes, 1, size, file);
        (void)fclose(file);
    }
    printf("%zu bytes; replay: %s --check-every %llu --replay %s\n", size,
           model->program, (unsigned long long)model->config.check_every, path);
}

/* Runs the cases of a mix in a child. Returns true if all passed; otherwise
 * last describes the failing one. */
static bool
watch_cases(const struct model *model, int mix, uint64_t operations,
            struct progress *last)
{
    int status = 0;

    (void)fflush(NULL);
    int fds[2];
    pid_t child = 0;
    if (pipe(fds) != 0 || (child = fork()) < 0) {
        perror("model");
        exit(2);
    }
    if (child == 0) {
        (void)close(fds[0]);
        run_cases(model, mix, operations, fds[1]);
        exit(0);
    }
    (void)close(fds[1]);
    while (read(fds[0], last, sizeof(*last)) == (ssize_t)sizeof(*last)) {
    }
    (void)close(fds[0]);
    return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static void
run_mix(struct model *model, int mix, uint64_t operations)
{
    static uint8_t bytes[CASE_MAX * CASE_LONG];
    struct progress last = {0, 0};
    const char *name = mixes[mix].name;

    model->config.run = mixes[mix].run;
    time_t began = time(NULL);
    if (watch_cases(model, mix, operations, &last)) {
        printf("ok %s: %llu operations in %llu cases, %.0f s\n", name,
               (unsigned long long)last.operations,
               (unsigned long long)last.number, difftime(time(NULL), began));
        model->done += last.operations;
        model->passed++;
        return;
    }
    printf("FAILED %s: seed %llu, case %llu, after %llu operations\n", name,
           (unsigned long long)model->seed, (unsigned long long)last.number,
           (unsigned long long)last.operations);
    model->failed++;
    report(model, name, bytes, make_case(model, mix, last.number, bytes));
}

static void
replay(struct model *model, const char *path)
{
    static uint8_t bytes[FILE_MAX];
    FILE *file = fopen(path, "rb");

    if (file == NULL) {
        perror(path);
        model->failed++;
        return;
    }
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    (void)fclose(file);
    model->config.run = ops_run;
    for (int i = 0; i < MIXES; i++) {
        char part[16];

        (void)snprintf(part, sizeof(part), "%s-", mixes[i].kind);
        if (strstr(path, part) != NULL) {
            model->config.run = mixes[i].run;
        }
    }
    if (shrink_passes(&model->config, bytes, size)) {
        printf("ok %s\n", path);
        model->passed++;
    } else {
        printf("FAILED %s\n", path);
        model->failed++;
        tell_case(model, bytes, size);
    }
}

static void
usage(void)
{
    (void)fprintf(
        stderr,
        "usage: model [--seed S] [--ops N] [--check-every K] [--light 0|1]\n"
        "             [--jobs J]\n"
        "             [--mix [pieces-|naive-|store-|workers-|loop-]"
        "few|unique|extreme]\n"
        "             [--mix [pieces-]edges] [--mix class-few|many|extreme]\n"
        "             [--mix "
        "lawn|class|pieces|naive|core|store|workers|loop|all]"
        "\n"
        "             [--replay FILE]... [FILE]...\n");
    exit(2);
}

static uint64_t
number(const char *text)
{
    char *end = NULL;
    uint64_t value = strtoull(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0') {
        usage();
    }
    return value;
}

static unsigned
mixes_named(const char *name)
{
    unsigned named = 0;

    for (unsigned i = 0; i < MIXES; i++) {
        if (strcmp(name, mixes[i].name) == 0 || strcmp(name, "all") == 0 ||
            strcmp(name, mixes[i].kind) == 0 ||
            (strcmp(name, "core") == 0 && i < CORE_MIXES)) {
            named |= 1u << i;
        }
    }
    if (named == 0) {
        usage();
    }
    return named;
}

static void
set_option(struct model *model, const char *name, const char *value)
{
    if (strcmp(name, "--seed") == 0) {
        model->seed = number(value);
    } else if (strcmp(name, "--ops") == 0) {
        model->operations = number(value);
        model->asked = true;
    } else if (strcmp(name, "--mix") == 0) {
        model->mixes = mixes_named(value);
    } else if (strcmp(name, "--check-every") == 0) {
        model->config.check_every = number(value);
    } else if (strcmp(name, "--light") == 0) {
        model->config.light = number(value) != 0;
    } else if (strcmp(name, "--jobs") == 0 && number(value) > 0) {
        model->jobs = (unsigned)number(value);
    } else if (strcmp(name, "--replay") != 0) {
        usage();
    }
}

static void
replay_all(struct model *model, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) != 0) {
            replay(model, argv[i]);
        } else if (strcmp(argv[i], "--replay") != 0) {
            i++;
        }
    }
}

/* Runs all selected mixes, or every step-th of them. */
static void
run_mixes(struct model *model, unsigned first, unsigned step)
{
    uint64_t share = (uint64_t)__builtin_popcount(model->mixes);
    unsigned count = 0;

    share = (model->operations + share - 1) / share;
    for (int i = 0; i < MIXES; i++) {
        if ((model->mixes >> i & 1) != 0 && count++ % step == first) {
            run_mix(model, i, share);
        }
    }
}

/* Runs several processes, which send their counts through a pipe. */
static void
run_jobs(struct model *model)
{
    int fds[2];

    if (pipe(fds) != 0) {
        perror("model");
        exit(2);
    }
    (void)fflush(NULL);
    for (unsigned i = 0; i < model->jobs; i++) {
        if (fork() == 0) {
            run_mixes(model, i, model->jobs);
            exit(write(fds[1], model, sizeof(*model)) == (ssize_t)sizeof(*model)
                     ? 0
                     : 2);
        }
    }
    (void)close(fds[1]);
    struct model done;
    for (unsigned i = 0; i < model->jobs; i++) {
        if (read(fds[0], &done, sizeof(done)) != (ssize_t)sizeof(done)) {
            printf("FAILED: a job has crashed\n");
            model->failed++;
            continue;
        }
        model->passed += done.passed;
        model->failed += done.failed;
        model->done += done.done;
    }
    (void)close(fds[0]);
}

static void
run_random(struct model *model)
{
    time_t began = time(NULL);

    if (model->jobs > 1) {
        run_jobs(model);
    } else {
        run_mixes(model, 0, 1);
    }
    double seconds = difftime(time(NULL), began);
    printf("%llu operations in %.0f s, %.2f million a second\n",
           (unsigned long long)model->done, seconds,
           (double)model->done / 1e6 / (seconds < 1 ? 1 : seconds));
}

int
main(int argc, char **argv)
{
    struct model model = {.program = argv[0],
                          .seed = 1,
                          .operations = 2000000,
                          .mixes = ALL_MIXES,
                          .jobs = 1};
    bool replays = false;

    model.config.check_every = 1024;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) != 0) {
            replays = true;
        } else if (i + 1 == argc) {
            usage();
        } else {
            replays |= strcmp(argv[i], "--replay") == 0;
            set_option(&model, argv[i], argv[i + 1]);
            i++;
        }
    }
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    printf("seed %llu\n", (unsigned long long)model.seed);
    replay_all(&model, argc, argv);
    if (model.asked || !replays) {
        run_random(&model);
    }
    printf("%u passed, %u failed\n", model.passed, model.failed);
    return model.failed != 0 || model.passed == 0;
}
