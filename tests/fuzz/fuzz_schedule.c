/* fuzz_schedule.c - the fuzzer's bytes as a schedule: which fibre goes on, and
 * which store is delayed, at which step. See tests/explore/explore.h.
 *
 * The first byte names a scenario of the explorer's; or from FUZZ_OWN on it is two
 * workers and two threads whose operations, and what callbacks do, are bytes as
 * well: four for each thread, three for the callbacks. The rest are pairs: after so
 * many steps at which there is a choice, this one is taken; at all others, the first.
 *
 * The explorer walks through schedules in order and by chance; a fuzzer is led by
 * what they reach, in the workers and, so that it goes on where lines no longer
 * tell, by which two words it was that one fibre was about to use and another was
 * left with. A finding is told as an argument for `explore --replay`; those of its
 * own threads, operation by operation, by this program with FUZZ_TRACE=1 set.
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
#define FUZZ_BOTH 3u /* the workers, which sleep at the end */
#define FUZZ_PAIRS 4096u
#define FUZZ_TOLD 8192u

static const struct explore_scenario *fuzz_scenarios[FUZZ_SCENARIOS];
static unsigned fuzz_count;
static bool fuzz_plain; /* FUZZ_PLAIN is set: only lines count, for a corpus */

/* The bytes of the schedule, and how many choices there have been. */
static const uint8_t *fuzz_at;
static const uint8_t *fuzz_end;
static unsigned fuzz_waited;
static char fuzz_told[FUZZ_TOLD];
static size_t fuzz_told_size;

/* Of the scenario with programs. */
static uint8_t fuzz_programs[2][FUZZ_PROGRAM];
static uint8_t fuzz_hooks[SCENE_TIMERS];
static bool fuzz_hooked[SCENE_TIMERS];

/* libFuzzer takes these for lines that were reached. */
__attribute__((
    section("__libfuzzer_extra_counters"))) static uint8_t fuzz_met[FUZZ_PAIRS];

void
explore_add(const struct explore_scenario *scenario)
{
    if (!scenario->broken && fuzz_count < FUZZ_SCENARIOS) {
        fuzz_scenarios[fuzz_count++] = scenario;
    }
}

/* CHOICES, in place of tests/explore/choose.c */

void
choose_begin(void)
{
    fuzz_waited = 0;
    fuzz_told_size = 0;
    fuzz_told[0] = '\0';
}

/* What a fibre is about to use: by its place, wherever the program is. */
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

/* At these the clock stands for a while: see tests/explore/scene.c. */
static const uint64_t fuzz_times[] = {5, 20, 50, 60};

static bool
fuzz_is_start(uint8_t code)
{
    unsigned what = code >> 2 & 7;

    return what >= 1 && what <= 3;
}

/* Who starts a timer is the only one to do so: while one does, starts of others
 * do nothing, as stops do, and a history knows of no such. First the threads, then
 * the callbacks. */
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

/* Whose it is: a thread of two, or the callback of a timer, from 2 on. */
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
    case 3: /* in a callback a TTL counts from when it began */
        (void)(waits ? scene_start_on(timer, time, code >> 5 & 1)
                     : scene_start(timer, time));
        break;
    case 4:
    case 5:
        (void)scene_stop(timer);
        break;
    case 6: /* two callbacks would wait for each other */
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

/* Once for each timer, and not at the end, or there might be none; nor at a time
 * at which the clock does not stand long enough: see history.h. */
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

/* What the fuzzer does about signals is for when all is over. */
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

/* libFuzzer watches its memory by a thread, but threads are fibres here. */
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
    /* So that a number means the same in every build. */
    qsort(fuzz_scenarios, fuzz_count, sizeof(*fuzz_scenarios), fuzz_by_name);
    return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct explore_scenario *scenario = fuzz_begin(bytes, size);

    fuzz_ready(scenario);
    /* As if it had been told: each word is one at which fibres may meet. */
    if (!run_schedule(getenv("FUZZ_TRACE") != NULL ? RUN_TRACE : RUN_GIVEN)) {
        (void)fflush(stdout);
        (void)fprintf(stderr, "%s\nexplore --replay %s '%s'\n", run_message(),
                      scenario->name, fuzz_told);
        (void)sigaction(SIGABRT, &fuzz_on_abort, NULL);
        abort();
    }
    return 0;
}
