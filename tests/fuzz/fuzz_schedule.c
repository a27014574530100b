/* fuzz_schedule.c - the fuzzer's bytes as a schedule: which fiber runs, and
 * which store is delayed, at which step. See tests/explore/explore.h.
 *
 * The first byte selects a scenario of the explorer. From FUZZ_OWN on, the
 * scenario is two workers and two threads whose operations are bytes of the
 * input as well: four bytes for each thread, three for the callbacks. The rest
 * of the input is pairs: the number of steps with a choice to skip, and the
 * choice at the next one. At all other steps the first choice is taken.
 *
 * The explorer walks through schedules in order and at random. A fuzzer is
 * guided by coverage: lines of the workers, and, when no new lines are reached,
 * pairs of words. The first word of a pair is the one that a fiber was about to
 * access when it was suspended, the second the one that the next fiber
 * accesses. A finding is printed as an argument for `explore --replay`. For the
 * scenario with programs, run this program with FUZZ_TRACE=1 to print each
 * operation.
 */
#include "../explore/choose.h"
#include "../explore/run.h"
#include "../explore/run_threads.h"
#include "../explore/scene.h"
#include "fuzz.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);

#define FUZZ_SCENARIOS 190u
#define FUZZ_OWN 192u
#define FUZZ_PROGRAM 4u
#define FUZZ_BOTH 3u /* both workers, which sleep at the end */
#define FUZZ_PAIRS 4096u
#define FUZZ_TOLD 8192u

static const struct explore_scenario *fuzz_scenarios[FUZZ_SCENARIOS];
static unsigned fuzz_count;
static bool fuzz_plain; /* FUZZ_PLAIN is set: only lines count, for a corpus */

/* The bytes of the schedule, and the number of choices so far. */
static const uint8_t *fuzz_at;
static const uint8_t *fuzz_end;
static unsigned fuzz_waited;
static char fuzz_told[FUZZ_TOLD];
static size_t fuzz_told_size;

/* State of the scenario with programs. */
static uint8_t fuzz_programs[2][FUZZ_PROGRAM];
static uint8_t fuzz_hooks[SCENE_TIMERS];
static bool fuzz_hooked[SCENE_TIMERS];

/* libFuzzer counts these as reached lines. */
__attribute__((
    section("__libfuzzer_extra_counters"))) static uint8_t fuzz_met[FUZZ_PAIRS];

void
explore_add(const struct explore_scenario *scenario)
{
    if (!scenario->broken && fuzz_count < FUZZ_SCENARIOS) {
        fuzz_scenarios[fuzz_count++] = scenario;
    }
}

/* CHOICES, instead of tests/explore/choose.c */

void
choose_begin(void)
{
    fuzz_waited = 0;
    fuzz_told_size = 0;
    fuzz_told[0] = '\0';
}

/* The address that a fiber is about to access, relative to the program. */
static uint32_t
fuzz_place(unsigned fibre)
{
    uintptr_t word = (uintptr_t)run_threads[fibre].word;

    return word == 0 ? 0 : (uint32_t)(word - (uintptr_t)&scene);
}

static void
fuzz_note(const struct choose_option *option, unsigned step)
{
    static const char first[] = {'a', 's', 'A'};
    uint32_t left = run_current < RUN_MAIN ? fuzz_place(run_current) : 1;
    uint32_t taken = fuzz_place(option->fibre);
    uint32_t hash = left * 0x9E3779B1u ^ taken * 0x85EBCA6Bu ^
                    option->kind * 0xC2B2AE35u ^ option->fibre * 0x27D4EB2Fu;
    uint8_t *met = &fuzz_met[(hash ^ hash >> 15) % FUZZ_PAIRS];

    if (!fuzz_plain) {
        *met = *met < UINT8_MAX ? *met + 1 : UINT8_MAX;
    }
    if (fuzz_told_size < FUZZ_TOLD - 16) {
        fuzz_told_size += (size_t)sprintf(fuzz_told + fuzz_told_size, "%s%u%c",
                                          fuzz_told_size > 0 ? "," : "", step,
                                          first[option->kind] + option->fibre);
    }
}

unsigned
choose(const struct choose_option *options, unsigned count, unsigned step)
{
    if (count == 1 || fuzz_end - fuzz_at < 2 || fuzz_waited++ < fuzz_at[0]) {
        return 0;
    }
    unsigned chosen = fuzz_at[1] % count;
    fuzz_waited = 0;
    fuzz_at += 2;
    if (chosen != 0) {
        fuzz_note(&options[chosen], step);
    }
    return chosen;
}

bool
choose_idle(void)
{
    return false;
}

/* PROGRAMS */

/* Times at which the clock stops for a while: see tests/explore/scene.c. */
static const uint64_t fuzz_times[] = {5, 20, 50, 60};

static bool
fuzz_is_start(uint8_t code)
{
    unsigned what = code >> 2 & 7;

    return what >= 1 && what <= 3;
}

/* Returns the only thread or callback that may start a timer: the first that
 * has a start of it. Starts by others are skipped, because a concurrent start
 * may do nothing, and a history cannot express that. */
static unsigned
fuzz_starter(unsigned timer)
{
    for (unsigned i = 0; i < 2 * FUZZ_PROGRAM + SCENE_TIMERS; i++) {
        uint8_t code = i < 2 * FUZZ_PROGRAM
                           ? fuzz_programs[i / FUZZ_PROGRAM][i % FUZZ_PROGRAM]
                           : fuzz_hooks[i - 2 * FUZZ_PROGRAM];

        if (fuzz_is_start(code) && code % SCENE_TIMERS == timer) {
            return i < 2 * FUZZ_PROGRAM ? i / FUZZ_PROGRAM
                                        : 2 + i - 2 * FUZZ_PROGRAM;
        }
    }
    return 0;
}

/* Runs an operation of a thread (0 or 1), or of the callback of a timer (from
 * 2). */
static void
fuzz_operation(uint8_t code, unsigned whose)
{
    unsigned timer = code % SCENE_TIMERS;
    uint64_t time = fuzz_times[code >> 6];
    bool waits = whose < 2;

    if (fuzz_is_start(code) && fuzz_starter(timer) != whose) {
        return;
    }
    switch (code >> 2 & 7) {
    case 1:
    case 2:
        (void)scene_start(timer, time);
        break;
    case 3: /* in a callback a TTL counts from the start of the callback */
        (void)(waits ? scene_start_on(timer, time, code >> 5 & 1)
                     : scene_start(timer, time));
        break;
    case 4:
    case 5:
        (void)scene_stop(timer);
        break;
    case 6: /* no stop_sync if two callbacks would wait for each other */
        (void)(waits ? scene_stop_sync(timer) : scene_stop(timer));
        break;
    case 7:
        if (waits) {
            scene_move_clock();
        }
        break;
    default:
        break;
    }
}

static void
fuzz_run_program(unsigned which)
{
    for (unsigned i = 0; i < FUZZ_PROGRAM; i++) {
        fuzz_operation(fuzz_programs[which][i], which);
    }
}

static void
fuzz_first_thread(void)
{
    fuzz_run_program(0);
}

static void
fuzz_second_thread(void)
{
    fuzz_run_program(1);
}

/* A callback: runs its operation once per timer. It does not run it from
 * SCENE_END on, or the run might never end, nor a tick after SCENE_AMID: a
 * history does not allow that a worker takes a start at that time (`clocks` in
 * history.h). */
static void
fuzz_hook(unsigned timer)
{
    if (!fuzz_hooked[timer] &&
        (explore_now <= SCENE_AMID || explore_now == SCENE_SOON)) {
        fuzz_hooked[timer] = true;
        fuzz_operation(fuzz_hooks[timer], 2 + timer);
    }
}

static void
fuzz_setup(void)
{
    scene_begin(2);
    scene_have_own(0, 0, 50);
    scene_have_shared(1, 1, 5);
    for (unsigned i = 0; i < SCENE_TIMERS; i++) {
        scene.hooks[i] = fuzz_hook;
    }
    scene_ready();
}

static const struct explore_scenario fuzz_own = {
    .name = "programs",
    .setup = fuzz_setup,
    .threads = {scene_serve, scene_serve, fuzz_first_thread,
                fuzz_second_thread},
    .daemons = FUZZ_BOTH,
    .finish = scene_finish,
    .delays = true};

/* RUNS */

static int
fuzz_by_name(const void *a, const void *b)
{
    const struct explore_scenario *const *first = a;
    const struct explore_scenario *const *second = b;

    return strcmp((*first)->name, (*second)->name);
}

/* The fuzzer's signal handlers, restored after a run. */
static struct sigaction fuzz_on_abort;

static void
fuzz_ready(const struct explore_scenario *scenario)
{
    static const struct explore_scenario *ready;
    static bool begun;

    if (!begun) {
        begun = true;
        (void)sigaction(SIGABRT, NULL, &fuzz_on_abort);
        run_catch_signals();
    }
    if (ready != scenario) {
        ready = run_prepare(scenario) ? scenario : NULL;
        if (ready == NULL) {
            (void)fprintf(stderr, "%s: %s\n", scenario->name, run_message());
            (void)sigaction(SIGABRT, &fuzz_on_abort, NULL);
            abort();
        }
    }
}

static const struct explore_scenario *
fuzz_begin(const uint8_t *bytes, size_t size)
{
    size_t own = sizeof(fuzz_programs) + sizeof(fuzz_hooks);
    uint8_t first = size > 0 ? bytes[0] : 0;

    fuzz_at = bytes + (size > 0);
    fuzz_end = bytes + size;
    if (first < FUZZ_OWN) {
        return fuzz_scenarios[first % fuzz_count];
    }
    memset(fuzz_programs, 0, sizeof(fuzz_programs));
    memset(fuzz_hooks, 0, sizeof(fuzz_hooks));
    memset(fuzz_hooked, 0, sizeof(fuzz_hooked));
    if ((size_t)(fuzz_end - fuzz_at) >= own) {
        memcpy(fuzz_programs, fuzz_at, sizeof(fuzz_programs));
        memcpy(fuzz_hooks, fuzz_at + sizeof(fuzz_programs), sizeof(fuzz_hooks));
        fuzz_at += own;
    }
    return &fuzz_own;
}

/* libFuzzer watches its memory with a thread, but threads are fibers here. */
int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static char unwatched[] = "-rss_limit_mb=0";
    char **more = calloc((size_t)*argc + 2, sizeof(*more));

    if (more == NULL) {
        abort();
    }
    memcpy(more, *argv, (size_t)*argc * sizeof(*more));
    more[(*argc)++] = unwatched;
    *argv = more;
    fuzz_plain = getenv("FUZZ_PLAIN") != NULL;
    /* Sorted, so that a number means the same in every build. */
    qsort(fuzz_scenarios, fuzz_count, sizeof(*fuzz_scenarios), fuzz_by_name);
    return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct explore_scenario *scenario = fuzz_begin(bytes, size);

    fuzz_ready(scenario);
    /* As with --replay: each access is a point where fibers may be switched. */
    if (!run_schedule(getenv("FUZZ_TRACE") != NULL ? RUN_TRACE : RUN_GIVEN)) {
        (void)fflush(stdout);
        (void)fprintf(stderr, "%s\nexplore --replay %s '%s'\n", run_message(),
                      scenario->name, fuzz_told);
        (void)sigaction(SIGABRT, &fuzz_on_abort, NULL);
        abort();
    }
    return 0;
}
