/* run.c - runs fibres. See explore.h.
 *
 * Each operation begins with run_step(), on the stack of the fibre that makes
 * it: choose.h selects the fibre that continues, and if that is the caller,
 * run_step() returns. If no fibre can run, the main context continues in
 * run_schedule(). */
#include "run.h"

#include "choose.h"
#include "memory.h"
#include "run_threads.h"
#include "words.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define RUN_STACK (64u * 1024)

bool run_without_delays;

const struct explore_scenario *run_scenario;
bool run_delays;
struct run_thread run_threads[EXPLORE_FIBRES + 1];
unsigned run_thread_count;
unsigned run_current;
unsigned run_posing;
unsigned run_buffered;
bool run_running;

static struct lawn_worker *selves[EXPLORE_FIBRES + 1]; /* after setup */
static unsigned last; /* fibre of the last step */
static bool last_flushed;
static unsigned steps;
static uint64_t schedule; /* number of this schedule */
static bool settling;
static bool failed;
static bool tracing;  /* print each operation */
static bool printing; /* the schedule was given */
static char message[1000];
static jmp_buf in_main;
static _Alignas(64) unsigned char stacks[EXPLORE_FIBRES][RUN_STACK];

/* Failures. */

static _Noreturn void
end_schedule(void)
{
    failed = true;
    if (run_current == RUN_MAIN) {
        longjmp(in_main, 1);
    }
    fibre_switch(&run_threads[run_current].fibre, &run_threads[RUN_MAIN].fibre);
    abort();
}

void
explore_fail(const char *format, ...)
{
    va_list args;
    int used = run_current < RUN_MAIN ? snprintf(message, sizeof(message),
                                                 "%c: ", 'a' + (int)run_current)
                                      : 0;

    va_start(args, format);
    (void)vsnprintf(message + used, sizeof(message) - (size_t)used, format,
                    args);
    va_end(args);
    end_schedule();
}

static void
on_signal(int number)
{
    explore_fail("%s", number == SIGABRT ? "an assertion of the library"
                                         : "an invalid memory access");
}

/* Called after each fifth of a second of CPU time. A step takes less than a
 * microsecond, so a fibre that is still at the same step loops without reaching
 * another. */
static void
on_tick(int number)
{
    static uint64_t before;
    static unsigned steps_before;

    (void)number;
    if (schedule != 0 && schedule == before && steps == steps_before) {
        before = 0;
        explore_fail("endless loop");
    }
    before = schedule;
    steps_before = steps;
}

void
run_catch_signals(void)
{
    struct itimerval often = {{0, 200000}, {0, 200000}};
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    action.sa_flags = SA_NODEFER;
    (void)sigaction(SIGABRT, &action, NULL);
    (void)sigaction(SIGSEGV, &action, NULL);
    (void)sigaction(SIGBUS, &action, NULL);
    (void)sigaction(SIGILL, &action, NULL);
    (void)sigaction(SIGFPE, &action, NULL);
    action.sa_handler = on_tick;
    action.sa_flags = SA_NODEFER | SA_RESTART;
    (void)sigaction(SIGVTALRM, &action, NULL);
    (void)setitimer(ITIMER_VIRTUAL, &often, NULL);
}

/* Printing. */

void
explore_print(const char *format, ...)
{
    if (tracing) {
        va_list args;
        va_start(args, format);
        printf("%6u %c ", steps,
               run_current < RUN_MAIN ? 'a' + (int)run_current : '-');
        (void)vprintf(format, args);
        printf("\n");
        va_end(args);
    }
}

void
run_print_word(const char *what, const void *word, uint64_t value,
               const char *more)
{
    size_t offset = 0;

    if (tracing) {
        const char *name = memory_name(word, &offset);
        explore_print("%-7s %s+%-3zu %#llx%s", what, name, offset,
                      (unsigned long long)value, more);
    }
}

/* Steps. */

static bool
can_go_on(const struct run_thread *thread)
{
    switch (thread->state) {
    case RUN_READY:
        return true;
    case RUN_ASLEEP:
        return thread->until != RUN_NEVER &&
               run_clock((unsigned)(thread - run_threads)) >= thread->until;
    case RUN_YIELDED:
        return thread->news || run_seen_changed(thread);
    case RUN_AT_LOCK:
        return run_read(thread->word, 4) == 0;
    case RUN_DONE:
        break;
    }
    return false;
}

static unsigned
add_runs(struct choose_option *options, unsigned n, unsigned fibre,
         unsigned cost)
{
    struct choose_option option = {CHOOSE_RUN, (uint8_t)fibre, (uint8_t)cost};

    options[n++] = option;
    return n;
}

/* Returns how many delayed stores of a fibre must be flushed so that others can
 * notice one: up to the first store to a word that another fibre is about to
 * use or waits for. 0: none, and the time of the flush does not matter. */
static unsigned
noticed(unsigned fibre)
{
    const struct run_thread *thread = &run_threads[fibre];

    for (unsigned i = 0; i < thread->stored; i++) {
        const void *word = thread->buffer[i].word;

        for (unsigned k = 0; k < run_thread_count; k++) {
            const struct run_thread *other = &run_threads[k];

            if (k == fibre || other->state == RUN_DONE) {
                continue;
            }
            if (other->state != RUN_YIELDED && other->word == word) {
                return i + 1;
            }
            for (unsigned m = 0;
                 other->state == RUN_YIELDED && m < other->seen_count; m++) {
                if (other->seen[m].word == word) {
                    return i + 1;
                }
            }
        }
    }
    return 0;
}

/* Lists the possible next steps; the first one is the default. A delayed store
 * makes a difference only if another fibre makes a step before it is flushed,
 * so a flush is offered after such a step. */
static unsigned
list_options(struct choose_option *options)
{
    unsigned n = 0;
    unsigned cost = 0;

    if (run_current < RUN_MAIN && can_go_on(&run_threads[run_current])) {
        n = add_runs(options, n, run_current, 0);
        cost = 1;
    }
    for (unsigned i = 0; i < run_thread_count; i++) {
        if (i != run_current && can_go_on(&run_threads[i])) {
            n = add_runs(options, n, i, cost);
        }
    }
    unsigned runs = n;
    for (unsigned i = 0; i < runs && run_delays; i++) {
        const struct run_thread *thread = &run_threads[options[i].fibre];

        if (thread->storing && thread->stored == 0 &&
            thread->state == RUN_READY) {
            options[n] = options[i];
            options[n].kind = CHOOSE_DELAY;
            options[n++].cost++;
        }
    }
    for (unsigned i = 0; i < run_thread_count && run_buffered > 0; i++) {
        if (run_threads[i].stored > 0 &&
            (runs == 0 ||
             ((last != i || last_flushed || printing) && noticed(i) > 0))) {
            struct choose_option option = {CHOOSE_FLUSH, (uint8_t)i, 0};

            options[n++] = option;
        }
    }
    return n;
}

static void
flush_noticed(unsigned fibre)
{
    unsigned count = noticed(fibre);

    run_flush(&run_threads[fibre]); /* noticed by others only if count is 1 */
    for (; count > 1; count--) {
        run_flush(&run_threads[fibre]);
    }
}

/* A step: flushes until a fibre is chosen. Returns the main context if no fibre
 * can run. */
static unsigned
pick(void)
{
    struct choose_option options[CHOOSE_OPTIONS];

    for (;;) {
        if (++steps >= CHOOSE_STEPS - 1) {
            explore_fail("no end after %u steps", steps);
        }
        unsigned n = list_options(options);
        if (n == 0) {
            if (run_scenario->time_passes && run_pass_time()) {
                continue;
            }
            return RUN_MAIN;
        }
        unsigned chosen = settling ? 0 : choose(options, n, steps);
        last = options[chosen].fibre;
        last_flushed = options[chosen].kind == CHOOSE_FLUSH;
        if (!last_flushed) {
            run_threads[last].delay = options[chosen].kind == CHOOSE_DELAY;
            return last;
        }
        flush_noticed(last);
    }
}

void
run_go_on(void)
{
    struct run_thread *me = &run_threads[run_current];
    int error = errno; /* each thread has its own */

    run_take_off(me);
    run_running = false;
    unsigned next = pick();
    if (&run_threads[next] != me) {
        run_current = next;
        fibre_switch(&me->fibre, &run_threads[next].fibre);
    }
    errno = error;
    run_running = true;
    run_put_on(me);
    me->state = RUN_READY;
}

bool
run_step(const void *word, bool writes, bool storing)
{
    struct run_thread *me = &run_threads[run_current];

    if (run_current == RUN_MAIN) {
        return false;
    }
    if (word != NULL && !words_meet(word, run_current, writes) && !printing) {
        steps++;
        return false;
    }
    if ((settling || choose_idle()) && run_buffered == 0 &&
        steps < CHOOSE_STEPS - 2) {
        steps++;
        last = run_current;
        last_flushed = false;
        return false;
    }
    me->storing = storing;
    me->word = word;
    run_go_on();
    me->storing = false;
    return me->delay;
}

void
explore_point(void)
{
    (void)run_step(NULL, false, false);
}

/* Schedules. */

static void
begin_thread(void)
{
    run_running = true;
    run_scenario->threads[run_current]();
    run_threads[run_current].state = RUN_DONE;
    explore_print("done");
    run_go_on();
    abort(); /* it is never resumed */
}

static void
expect_quiet(void)
{
    static const char *const words[] = {"can run", "sleeps", "spins",
                                        "waits for a lock", "has ended"};
    char text[200] = "";
    bool quiet = true;

    for (unsigned i = 0; i < run_thread_count; i++) {
        quiet = quiet && (run_threads[i].state == RUN_DONE ||
                          (run_threads[i].state == RUN_ASLEEP &&
                           (run_scenario->daemons >> i & 1) != 0));
    }
    for (unsigned i = 0; i < run_thread_count && !quiet; i++) {
        size_t used = strlen(text);

        (void)snprintf(text + used, sizeof(text) - used, "%s%c %s",
                       i > 0 ? ", " : "", 'a' + (int)i,
                       words[run_threads[i].state]);
    }
    if (!quiet) {
        explore_fail("no fibre can run: %s", text);
    }
}

/* Runs until no fibre can continue. */
static void
run_fibres(void)
{
    run_running = false;
    unsigned next = pick();
    if (next != RUN_MAIN) {
        run_current = next;
        fibre_switch(&run_threads[RUN_MAIN].fibre, &run_threads[next].fibre);
    }
    run_running = true;
    if (failed) {
        run_current = RUN_MAIN;
        longjmp(in_main, 1);
    }
    expect_quiet();
}

void
explore_settle(void)
{
    settling = true;
    run_fibres();
}

void
explore_go_on(void)
{
    settling = false;
    run_fibres();
}

static void
begin(void)
{
    run_current = RUN_MAIN;
    run_posing = RUN_MAIN;
    last = RUN_MAIN;
    last_flushed = false;
    steps = 0;
    run_buffered = 0;
    run_running = true;
    settling = false;
    failed = false;
    for (unsigned i = 0; i <= EXPLORE_FIBRES; i++) {
        run_threads[i].state = i < run_thread_count ? RUN_READY : RUN_DONE;
        run_threads[i].storing = false;
        run_threads[i].delay = false;
        run_threads[i].word = NULL;
        run_threads[i].stored = 0;
        run_threads[i].seen_count = 0;
        run_threads[i].self = selves[i];
        run_threads[i].turn = 0;
        if (i < run_thread_count) {
            fibre_make(&run_threads[i].fibre, stacks[i], RUN_STACK,
                       begin_thread);
        }
    }
}

bool
run_prepare(const struct explore_scenario *which)
{
    unsigned i = 0;

    run_scenario = which;
    run_delays = which->delays && !run_without_delays;
    run_thread_count = 0;
    while (run_thread_count < EXPLORE_FIBRES &&
           which->threads[run_thread_count] != NULL) {
        run_thread_count++;
    }
    memory_clear();
    words_clear();
    explore_when_drained(NULL);
    run_set_clock();
    memset(selves, 0, sizeof(selves));
    begin();
    if (setjmp(in_main) != 0) {
        return false;
    }
    if (which->setup != NULL) {
        which->setup();
    }
    memory_save();
    for (i = 0; i <= EXPLORE_FIBRES; i++) {
        selves[i] = run_threads[i].self;
    }
    return true;
}

bool
run_schedule(enum run_how how)
{
    memory_restore();
    schedule++;
    begin();
    tracing = how == RUN_TRACE || how == RUN_SHOW;
    printing = how == RUN_GIVEN || how == RUN_TRACE;
    choose_begin();
    if (setjmp(in_main) != 0) {
        return false;
    }
    run_fibres();
    if (run_scenario->finish != NULL) {
        run_scenario->finish();
    }
    if (memory_freed > 0 && !memory_intact()) {
        explore_fail("write to freed memory");
    }
    return true;
}

const char *
run_message(void)
{
    return message;
}

bool
explore_printing(void)
{
    return printing;
}

unsigned
run_steps(void)
{
    return steps;
}
