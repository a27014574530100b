/* loop.c - runs one operation in a loop: see loop.h.
 *
 * callgrind counts only inside the functions named play_*_block, and records
 * the cost of each call that they make, including nested calls. Blocks of a
 * hundred operations are one tick apart.
 */
#include "loop.h"
#include "replay.h"
#include "workloads.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOP_BLOCK 100u
#define LOOP_BLOCKS 100u
#define LOOP_TTLS 8u
#define LOOP_FILL 64u   /* ticks in which the timers are started */
#define LOOP_MOWS 5000u /* idle mows */
#define LOOP_FIRES 20000u
/* ticks added to the TTLs if mows with nothing due are measured */
#define LOOP_FAR (UINT64_C(1) << 22)
/* Limit of the ticks until LOOP_FIRES timers have fired. 1000 timers need a
 * quarter of it. */
#define LOOP_TICKS 4000000u
#define LOOP_PATH 4096u /* bytes of a path; the limit of Linux */
#define LOOP_LIMIT UINT64_C(600000000000)

const char *const loop_names[LOOP_OPERATIONS + 1] = {"start", "stop", "restart",
                                                     "idle",  "fire", NULL};

static enum loop_operation loop_operation;
static uint64_t loop_done;
/* Each block sets another value; otherwise the compiler would merge two
 * functions. */
static volatile int loop_mark;

__attribute__((noinline)) static void
play_start_block(struct run *run)
{
    loop_mark = LOOP_START;
    for (uint64_t i = 0; i < LOOP_BLOCK; i++) {
        run_start(run, i);
    }
}

__attribute__((noinline)) static void
play_stop_block(struct run *run)
{
    loop_mark = LOOP_STOP;
    for (uint64_t i = 0; i < LOOP_BLOCK; i++) {
        run_stop(run, i);
    }
}

__attribute__((noinline)) static void
play_restart_block(struct run *run)
{
    loop_mark = LOOP_RESTART;
    for (uint64_t i = 0; i < LOOP_BLOCK; i++) {
        run_start(run, i);
    }
}

__attribute__((noinline)) static void
play_idle_block(struct run *run)
{
    loop_mark = LOOP_IDLE;
    for (uint64_t i = 0; i < LOOP_MOWS; i++) {
        run_tick(run);
    }
}

__attribute__((noinline)) static uint64_t
play_fire_block(struct run *run)
{
    uint64_t fired = 0;

    loop_mark = LOOP_FIRE;
    for (uint64_t i = 0; i < LOOP_TICKS && fired < LOOP_FIRES; i++) {
        fired += run_tick(run);
    }
    return fired < LOOP_FIRES ? 0 : fired;
}

/* Plays the last events, and fires the timers due at their times. */
__attribute__((noinline)) static size_t
play_last_block(struct run *run, size_t from)
{
    loop_mark = LOOP_OPERATIONS;
    return replay_part(run, from, replay_events());
}

static void
choose_ttls(struct run *run)
{
    static const uint64_t ttls[LOOP_TTLS] = {10000,  25000,  50000,  100000,
                                             200000, 300000, 500000, 1000000};
    uint64_t more = loop_operation == LOOP_IDLE ? LOOP_FAR : 0;

    if (!run_list_ttls(run, LOOP_TTLS)) {
        return;
    }
    for (unsigned i = 0; i < LOOP_TTLS; i++) {
        run->ttls[i] = ttls[i] + more;
    }
    for (uint64_t i = 0; i < run->cell->n; i++) {
        run_choose(run, i, i % LOOP_TTLS);
    }
}

/* Starts all timers within a number of ticks. Then timers of the shortest TTL
 * fire, so that adaptive contenders have seen typical operations. */
static void
fill(struct run *run, uint64_t ticks)
{
    uint64_t n = run->cell->n;
    uint64_t done = 0;

    for (uint64_t tick = 1; tick <= ticks; tick++) {
        for (; done < n * tick / ticks; done++) {
            run_start(run, done);
        }
        run_tick(run);
    }
    while (run->now < run->ttls[0] + ticks && loop_operation != LOOP_IDLE) {
        run_tick(run);
    }
}

/* Runs a block of starts and one of stops; one of them is measured. */
static void
play_pairs(struct run *run)
{
    for (unsigned block = 0; block < LOOP_BLOCKS; block++) {
        for (uint64_t i = 0; loop_operation == LOOP_START && i < LOOP_BLOCK;
             i++) {
            run_stop(run, i);
        }
        if (loop_operation == LOOP_START) {
            play_start_block(run);
        } else {
            play_stop_block(run);
        }
        for (uint64_t i = 0; loop_operation == LOOP_STOP && i < LOOP_BLOCK;
             i++) {
            run_start(run, i);
        }
        loop_done += LOOP_BLOCK;
        run_tick(run);
    }
}

static void
play(struct run *run)
{
    run->fire = run_fire_again;
    loop_done = 0;
    fill(run, loop_operation == LOOP_FIRE ? run->ttls[0] : LOOP_FILL);
    switch (loop_operation) {
    case LOOP_START:
    case LOOP_STOP:
        play_pairs(run);
        break;
    case LOOP_RESTART:
        for (unsigned block = 0; block < LOOP_BLOCKS; block++) {
            play_restart_block(run);
            loop_done += LOOP_BLOCK;
            run_tick(run);
        }
        break;
    case LOOP_IDLE:
        play_idle_block(run);
        loop_done = LOOP_MOWS;
        break;
    case LOOP_FIRE:
    case LOOP_OPERATIONS:
        loop_done = play_fire_block(run);
        break;
    }
}

uint64_t
loop_run(const struct contender *contender, enum loop_operation operation,
         uint64_t n)
{
    static const struct workload workload = {.name = "loop",
                                             .longest = LOOP_FAR + 1000000,
                                             .ttls = choose_ttls,
                                             .play = play};
    const struct cell cell = {.workload = &workload, .n = n, .seed = 1};
    struct run run;

    loop_operation = operation;
    loop_done = 0;
    run_play(&run, &cell, contender, 0, LOOP_LIMIT);
    run_release();
    return run.end == RUN_OK ? loop_done : 0;
}

static uint64_t loop_last;

static void
play_last(struct run *run)
{
    size_t from = replay_events() - loop_last;

    if (replay_part(run, 0, from) == from) {
        loop_done = play_last_block(run, from) - from;
    }
}

uint64_t
loop_run_last(const struct contender *contender, uint64_t events)
{
    struct workload workload = replay_workload;
    const struct cell cell = {
        .workload = &workload, .n = replay_objects(), .seed = 1};
    struct run run;

    workload.play = play_last;
    loop_last = events;
    loop_done = 0;
    run_play(&run, &cell, contender, 0, LOOP_LIMIT);
    run_release();
    return run.end == RUN_OK ? loop_done : 0;
}

/* Returns the cost, in a callgrind profile, of all calls of the function, or of
 * all calls made by the blocks. The number of calls is not used, since
 * callgrind also counts calls outside of the blocks, without their cost. */
static uint64_t
read_profile(FILE *file, const char *function)
{
    char line[4096];
    uint64_t sum = 0;
    bool in_block = false;
    bool is_function = false;

    while (fgets(line, sizeof(line), file) != NULL) {

        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "fn=", 3) == 0) {
            in_block = strstr(line, "_block") != NULL;
        } else if (strncmp(line, "cfn=", 4) == 0) {
            is_function = function != NULL && strcmp(line + 4, function) == 0;
        }
        uint64_t count = 0;
        if (sscanf(line, "calls=%" SCNu64, &count) != 1) {
            continue;
        }
        uint64_t cost = 0;
        if (fgets(line, sizeof(line), file) == NULL ||
            sscanf(line, "%*s %" SCNu64, &cost) != 1) {
            break;
        }
        if (function != NULL ? is_function : in_block) {
            sum += cost;
        }
    }
    return sum;
}

/* Runs "lawn-bench --loop" under callgrind. Returns the number of
 * operations. */
static uint64_t
run_profile(const char *contender, const char *operation, uint64_t n,
            const char *profile)
{
    char program[LOOP_PATH];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    uint64_t done = 0;

    if (length <= 0 || length == sizeof(program) - 1) {
        return 0;
    }
    program[length] = '\0';
    /* A quote would end the quoted text; callgrind replaces %p. */
    if (strchr(program, '\'') != NULL || strpbrk(profile, "'%") != NULL) {
        return 0;
    }
    char command[3 * LOOP_PATH];
    length =
        snprintf(command, sizeof(command),
                 "valgrind -q --tool=callgrind --toggle-collect='play_*_block' "
                 "--compress-strings=no --compress-pos=no "
                 "--callgrind-out-file='%s' '%s' --loop %s/%s --n %" PRIu64
                 " 2>/dev/null",
                 profile, program, contender, operation, n);
    if (length < 0 || (size_t)length >= sizeof(command)) {
        return 0;
    }
    FILE *child = popen(command, "r");
    if (child == NULL) {
        return 0;
    }
    if (fscanf(child, "%" SCNu64, &done) != 1) {
        done = 0;
    }
    return pclose(child) == 0 ? done : 0;
}

/* Checked once, since it starts a process. */
static bool
has_valgrind(void)
{
    static enum { UNKNOWN, MISSING, THERE } valgrind;

    if (valgrind == UNKNOWN) {
        valgrind =
            system("valgrind --version >/dev/null 2>&1") == 0 ? THERE : MISSING;
    }
    return valgrind == THERE;
}

/* Creates an empty file in TMPDIR or /tmp. Returns its descriptor, or -1. */
static int
make_file(char path[LOOP_PATH])
{
    const char *folder = getenv("TMPDIR");
    int length = snprintf(path, LOOP_PATH, "%s/lawn-bench-XXXXXX",
                          folder != NULL && *folder != '\0' ? folder : "/tmp");

    return length < 0 || (unsigned)length >= LOOP_PATH ? -1 : mkstemp(path);
}

double
loop_count(const struct contender *contender, enum loop_operation operation,
           uint64_t n, const char *function, const char **why)
{
    char profile[LOOP_PATH];
    int made = make_file(profile);
    const char *wrong = NULL;
    uint64_t sum = 0;

    if (made < 0) {
        wrong = "cannot create a temporary file in TMPDIR or /tmp";
    } else if (!has_valgrind()) {
        wrong = "valgrind is not installed; apt-get install valgrind";
    }
    uint64_t done =
        wrong == NULL
            ? run_profile(contender->name, loop_names[operation], n, profile)
            : 0;
    FILE *file = done != 0 ? fopen(profile, "r") : NULL;
    if (file != NULL) {
        sum = read_profile(file, function);
        fclose(file);
    }
    if (made >= 0) {
        close(made);
        unlink(profile);
    }
    if (sum == 0) {
        if (why != NULL) {
            *why = wrong != NULL ? wrong : "callgrind wrote no profile";
        }
        return -1;
    }
    return (double)sum / (double)done;
}
