/* run.c - fibres, what they do to memory, and how they wait. See explore.h.
 *
 * Each operation begins with run_step(), on the stack of the fibre that makes
 * it: choose.h decides who goes on, and if that is the caller, it returns. If
 * nobody can go on, the main context does, in run_schedule(). */
#include "run.h"

#include "choose.h"
#include "fibre.h"
#include "memory.h"
#include "words.h"

#include "../../src/workers/atomic.h"
#include "../../src/workers/park.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define RUN_STACK (64u * 1024)
#define RUN_MAIN EXPLORE_FIBRES
#define RUN_BUFFER 16
#define RUN_SEEN 64 /* words of a loop that yields, at most */
#define RUN_NEVER UINT64_MAX

enum run_state {
    RUN_READY,
    RUN_ASLEEP,  /* until word is woken, or the time until */
    RUN_YIELDED, /* until a word that was seen has changed */
    RUN_AT_LOCK, /* until word is 0 */
    RUN_DONE
};

struct run_word {
    void *word;
    uint64_t value;
    unsigned size;
    bool own; /* written, not read */
};

struct run_thread {
    struct fibre fibre;
    struct lawn_worker *self;
    const void *word; /* that it is about to use, or waits for; or NULL */
    uint64_t until;   /* when it wakes by itself */
    enum run_state state;
    unsigned stored; /* delayed stores in the buffer, the oldest first */
    unsigned seen_count;
    unsigned changes; /* see explore_changes() */
    bool storing;     /* about to store what could be delayed, */
    bool delay;       /* and it is */
    bool news;        /* what it has seen has changed since */
    struct run_word buffer[RUN_BUFFER];
    uint64_t under[RUN_BUFFER]; /* what others see there, while it runs */
    struct run_word seen[RUN_SEEN];
};

struct lawn_worker;
struct lawn_worker **lawn_explore_self(void);

uint64_t explore_now;

bool run_without_delays;

static const struct explore_scenario *scenario;
static bool run_delays;
static struct run_thread threads[EXPLORE_FIBRES + 1]; /* and the main context */
static struct lawn_worker *selves[EXPLORE_FIBRES + 1]; /* when setup was done */
static unsigned thread_count;
static unsigned current;
static unsigned posing; /* as whom the main context is a worker */
static unsigned last;   /* who made the last step */
static bool last_flushed;
static unsigned buffered; /* in all buffers */
static unsigned steps;
static uint64_t schedule; /* how many there were with this one */
static bool running; /* a fibre, or the main context; or steps are chosen */
static bool settling;
static bool failed;
static bool tracing; /* each operation */
static bool telling; /* the schedule is one that was told */
static void (*when_drained)(unsigned fibre);
static char message[1000];
static jmp_buf in_main;
static _Alignas(64) unsigned char stacks[EXPLORE_FIBRES][RUN_STACK];

static uint64_t
read_word(const void *word, unsigned size)
{
    uint64_t wide;
    uint32_t narrow;

    if (size == sizeof wide) {
        memcpy(&wide, word, sizeof wide);
        return wide;
    }
    memcpy(&narrow, word, sizeof narrow);
    return narrow;
}

static void
write_word(void *word, unsigned size, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;

    if (size == sizeof value) {
        memcpy(word, &value, sizeof value);
    } else {
        memcpy(word, &narrow, sizeof narrow);
    }
}

/* Failing. */

static _Noreturn void
end_schedule(void)
{
    failed = true;
    if (current == RUN_MAIN) {
        longjmp(in_main, 1);
    }
    fibre_switch(&threads[current].fibre, &threads[RUN_MAIN].fibre);
    abort();
}

void
explore_fail(const char *format, ...)
{
    va_list args;
    int used = current < RUN_MAIN ? snprintf(message, sizeof message,
                                             "%c: ", 'a' + (int)current)
                                  : 0;

    va_start(args, format);
    (void)vsnprintf(message + used, sizeof message - (size_t)used, format,
                    args);
    va_end(args);
    end_schedule();
}

static void
on_signal(int number)
{
    explore_fail("%s", number == SIGABRT ? "an assertion of the library"
                                         : "a bad access to memory");
}

/* After each fifth of a second of computing: a schedule takes a few
 * microseconds, so one that was there the last time goes round somewhere between
 * two steps. */
static void
on_tick(int number)
{
    static uint64_t before;

    (void)number;
    if (schedule != 0 && schedule == before) {
        before = 0;
        explore_fail("goes round without end");
    }
    before = schedule;
}

void
run_catch_signals(void)
{
    struct itimerval often = {{0, 200000}, {0, 200000}};
    struct sigaction action;

    memset(&action, 0, sizeof action);
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

/* Telling. */

void
explore_tell(const char *format, ...)
{
    va_list args;

    if (tracing) {
        va_start(args, format);
        printf("%6u %c ", steps, current < RUN_MAIN ? 'a' + (int)current : '-');
        (void)vprintf(format, args);
        printf("\n");
        va_end(args);
    }
}

static void
tell_word(const char *what, const void *word, uint64_t value, const char *more)
{
    size_t offset;
    const char *name;

    if (tracing) {
        name = memory_name(word, &offset);
        explore_tell("%-7s %s+%-3zu %#llx%s", what, name, offset,
                     (unsigned long long)value, more);
    }
}

/* The memory. */

static void
check_word(const void *word, unsigned size)
{
    if (memory_freed > 0 && memory_is_freed(word, size)) {
        size_t offset;
        const char *name = memory_name(word, &offset);

        explore_fail("touches %s+%zu, which was freed", name, offset);
    }
}

/* What the caller has read or written last, and so knows: a ring. */
static void
saw(void *word, unsigned size, uint64_t value, bool own)
{
    struct run_thread *me = &threads[current];
    struct run_word *next = &me->seen[me->seen_count++ % RUN_SEEN];

    next->word = word;
    next->size = size;
    next->value = value;
    next->own = own;
}

void
explore_saw(const void *word, unsigned size)
{
    if (current < RUN_MAIN) {
        saw((void *)(uintptr_t)word, size, read_word(word, size), false);
    }
}

/* Of several entries for a word the newest is right. If others have changed it
 * between two looks, the fibre may wait because of the first of them, and goes
 * on at once. */
static void
settle_seen(struct run_thread *me)
{
    unsigned oldest = me->seen_count > RUN_SEEN ? me->seen_count - RUN_SEEN : 0;
    struct run_word known[RUN_SEEN] = {{0}};
    unsigned count = 0;
    unsigned i;
    unsigned k;

    me->news = false;
    for (i = oldest; i < me->seen_count; i++) {
        struct run_word *entry = &me->seen[i % RUN_SEEN];

        for (k = 0; k < count && known[k].word != entry->word; k++) {
        }
        me->news = me->news ||
                   (k < count && !entry->own && known[k].value != entry->value);
        known[k] = *entry;
        count += k == count;
    }
    memcpy(me->seen, known, count * sizeof *known);
    me->seen_count = count;
}

static bool
seen_changed(const struct run_thread *thread)
{
    unsigned i;

    for (i = 0; i < thread->seen_count; i++) {
        if (read_word(thread->seen[i].word, thread->seen[i].size) !=
            thread->seen[i].value) {
            return true;
        }
    }
    return false;
}

/* While a fibre runs, the memory is as it sees it, with its delayed stores; so
 * that it may also read them plainly. While it does not, as others do. */
static void
put_on(struct run_thread *me)
{
    unsigned i;

    for (i = 0; i < me->stored; i++) {
        struct run_word *store = &me->buffer[i];

        me->under[i] = read_word(store->word, store->size);
        write_word(store->word, store->size, store->value);
    }
}

static void
take_off(struct run_thread *me)
{
    unsigned i;

    for (i = me->stored; i-- > 0;) {
        write_word(me->buffer[i].word, me->buffer[i].size, me->under[i]);
    }
}

/* The oldest of a fibre's stores reaches the memory. */
static void
flush(struct run_thread *thread)
{
    struct run_word *oldest = &thread->buffer[0];

    tell_word("flush", oldest->word, oldest->value,
              thread == &threads[current] ? "" : " of another");
    check_word(oldest->word, oldest->size);
    if (!running || thread != &threads[current]) {
        write_word(oldest->word, oldest->size, oldest->value);
    }
    thread->stored--;
    buffered--;
    memmove(oldest, oldest + 1, thread->stored * sizeof *oldest);
    memmove(thread->under, thread->under + 1,
            thread->stored * sizeof *thread->under);
    if (thread->stored == 0 && when_drained != NULL) {
        when_drained((unsigned)(thread - threads));
    }
}

static void
drain(struct run_thread *thread)
{
    while (thread->stored > 0) {
        flush(thread);
    }
}

bool
explore_has_delayed(void)
{
    return threads[current].stored > 0;
}

void
explore_when_drained(void (*call)(unsigned fibre))
{
    when_drained = call;
}

void
run_drain(void)
{
    drain(&threads[current]);
}

/* Steps. */

static bool
can_go_on(const struct run_thread *thread)
{
    switch (thread->state) {
    case RUN_READY:
        return true;
    case RUN_ASLEEP:
        return thread->until != RUN_NEVER && explore_now >= thread->until;
    case RUN_YIELDED:
        return thread->news || seen_changed(thread);
    case RUN_AT_LOCK:
        return read_word(thread->word, 4) == 0;
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

/* Up to which of a fibre's delayed stores they are to be flushed for others to
 * notice: the first to a word that one is about to use, or waits for. 0: for
 * none, and then it makes no difference when. */
static unsigned
noticed(unsigned fibre)
{
    const struct run_thread *thread = &threads[fibre];
    unsigned i;
    unsigned k;
    unsigned m;

    for (i = 0; i < thread->stored; i++) {
        const void *word = thread->buffer[i].word;

        for (k = 0; k < thread_count; k++) {
            const struct run_thread *other = &threads[k];

            if (k == fibre || other->state == RUN_DONE) {
                continue;
            }
            if (other->state != RUN_YIELDED && other->word == word) {
                return i + 1;
            }
            for (m = 0; other->state == RUN_YIELDED && m < other->seen_count;
                 m++) {
                if (other->seen[m].word == word) {
                    return i + 1;
                }
            }
        }
    }
    return 0;
}

/* What can happen now, first what does if nothing speaks against it. A store
 * that is delayed makes a difference only if another fibre makes a step before
 * it is flushed: so a flush follows such a step. */
static unsigned
list_options(struct choose_option *options)
{
    unsigned n = 0;
    unsigned runs;
    unsigned i;
    unsigned cost = 0;

    if (current < RUN_MAIN && can_go_on(&threads[current])) {
        n = add_runs(options, n, current, 0);
        cost = 1;
    }
    for (i = 0; i < thread_count; i++) {
        if (i != current && can_go_on(&threads[i])) {
            n = add_runs(options, n, i, cost);
        }
    }
    runs = n;
    for (i = 0; i < runs && run_delays; i++) {
        const struct run_thread *thread = &threads[options[i].fibre];

        if (thread->storing && thread->stored == 0 &&
            thread->state == RUN_READY) {
            options[n] = options[i];
            options[n].kind = CHOOSE_DELAY;
            options[n++].cost++;
        }
    }
    for (i = 0; i < thread_count && buffered > 0; i++) {
        if (threads[i].stored > 0 &&
            (runs == 0 ||
             ((last != i || last_flushed || telling) && noticed(i) > 0))) {
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

    flush(&threads[fibre]); /* if for nobody, to be done with it */
    for (; count > 1; count--) {
        flush(&threads[fibre]);
    }
}

/* The clock goes to when the first sleeper wakes. */
static bool
pass_time(void)
{
    uint64_t first = RUN_NEVER;
    unsigned i;

    for (i = 0; i < thread_count; i++) {
        if (threads[i].state == RUN_ASLEEP && threads[i].until < first) {
            first = threads[i].until;
        }
    }
    if (first == RUN_NEVER) {
        return false;
    }
    explore_now = first;
    explore_tell("it is %llu", (unsigned long long)first);
    return true;
}

/* A step: flushes until a fibre is to go on; or the main context, if nobody
 * can. */
static unsigned
pick(void)
{
    struct choose_option options[CHOOSE_OPTIONS];
    unsigned n;
    unsigned chosen;

    for (;;) {
        if (++steps >= CHOOSE_STEPS - 1) {
            explore_fail("no end after %u steps", steps);
        }
        n = list_options(options);
        if (n == 0) {
            if (scenario->time_passes && pass_time()) {
                continue;
            }
            return RUN_MAIN;
        }
        chosen = n == 1 || settling ? 0 : choose(options, n, steps);
        last = options[chosen].fibre;
        last_flushed = options[chosen].kind == CHOOSE_FLUSH;
        if (!last_flushed) {
            threads[last].delay = options[chosen].kind == CHOOSE_DELAY;
            return last;
        }
        flush_noticed(last);
    }
}

/* Who switches to a fibre, or to the main context, has picked it. */
static void
go_on(void)
{
    struct run_thread *me = &threads[current];
    unsigned next;

    take_off(me);
    running = false;
    next = pick();
    if (&threads[next] != me) {
        current = next;
        fibre_switch(&me->fibre, &threads[next].fibre);
    }
    running = true;
    put_on(me);
    me->state = RUN_READY;
}

/* Before each operation on a word, or NULL. True if it is a store that is
 * delayed. */
static bool
run_step(const void *word, bool writes, bool storing)
{
    struct run_thread *me = &threads[current];

    if (current == RUN_MAIN) {
        return false;
    }
    if (word != NULL && !words_meet(word, current, writes) && !telling) {
        steps++;
        return false;
    }
    if ((settling || choose_idle()) && buffered == 0 &&
        steps < CHOOSE_STEPS - 2) {
        steps++;
        last = current;
        last_flushed = false;
        return false;
    }
    me->storing = storing;
    me->word = word;
    go_on();
    me->storing = false;
    return me->delay;
}

void
explore_point(void)
{
    (void)run_step(NULL, false, false);
}

/* src/workers/atomic.h */

uint64_t
lawn_explore_load(const void *word, unsigned size, int order)
{
    void *at = (void *)(uintptr_t)word;
    uint64_t value;

    (void)order;
    (void)run_step(word, false, false);
    check_word(word, size);
    value = read_word(word, size);
    if (current < RUN_MAIN) {
        saw(at, size, value, false);
        tell_word("load", word, value, "");
    }
    return value;
}

static void
wrote(void *word, unsigned size, uint64_t value)
{
    if (current < RUN_MAIN) {
        saw(word, size, value, true);
    }
}

void
lawn_explore_store(void *word, unsigned size, uint64_t value, int order)
{
    struct run_thread *me = &threads[current];
    bool weak = order != L_SEQ_CST && run_delays;
    bool delay = run_step(word, true, weak);

    value = size == 4 ? (uint32_t)value : value;
    check_word(word, size);
    wrote(word, size, value);
    if (current < RUN_MAIN && weak && (delay || me->stored > 0)) {
        if (me->stored == RUN_BUFFER) {
            flush(me);
        }
        tell_word("store", word, value, " delayed");
        me->under[me->stored] = read_word(word, size);
        write_word(word, size, value);
        me->buffer[me->stored].word = word;
        me->buffer[me->stored].size = size;
        me->buffer[me->stored++].value = value;
        buffered++;
        return;
    }
    drain(me);
    tell_word("store", word, value, "");
    write_word(word, size, value);
}

/* What reads and writes at once. */
static uint64_t
begin_change(void *word, unsigned size)
{
    (void)run_step(word, true, false);
    drain(&threads[current]);
    check_word(word, size);
    threads[current].changes++;
    return read_word(word, size);
}

unsigned
explore_changes(void)
{
    return threads[current].changes;
}

uint64_t
lawn_explore_xchg(void *word, unsigned size, uint64_t value)
{
    uint64_t old = begin_change(word, size);

    write_word(word, size, value);
    wrote(word, size, value);
    tell_word("xchg", word, old, "");
    tell_word("  to", word, value, "");
    return old;
}

int
lawn_explore_cas(void *word, unsigned size, void *seen, uint64_t value)
{
    uint64_t old = begin_change(word, size);

    if (old == read_word(seen, size)) {
        tell_word("cas", word, old, "");
        tell_word("  to", word, value, "");
        write_word(word, size, value);
        wrote(word, size, value);
        return 1;
    }
    tell_word("cas", word, old, " is not what was seen");
    write_word(seen, size, old);
    if (current < RUN_MAIN) {
        saw(word, size, old, false);
    }
    return 0;
}

uint64_t
lawn_explore_fadd(void *word, unsigned size, uint64_t value)
{
    uint64_t old = begin_change(word, size);

    write_word(word, size, old + value);
    wrote(word, size, read_word(word, size));
    tell_word("fadd", word, read_word(word, size), "");
    return old;
}

void
lawn_explore_heavy(void)
{
    unsigned i;

    if (scenario->symmetric) {
        explore_fail("there is no heavy fence here");
    }
    (void)run_step(NULL, false, false);
    explore_tell("heavy");
    threads[current].changes++;
    for (i = 0; i <= EXPLORE_FIBRES; i++) {
        drain(&threads[i]);
    }
}

/* src/workers/park.h. The system's calls drain the caller's buffer. */

void
lawn_park_wait(uint32_t *word, uint32_t value, uint64_t until)
{
    struct run_thread *me = &threads[current];

    if (current == RUN_MAIN) {
        explore_fail("setup or finish would sleep");
    }
    (void)run_step(NULL, false, false);
    drain(me);
    check_word(word, sizeof *word);
    if (*word != value || (until != RUN_NEVER && explore_now >= until)) {
        tell_word("wait", word, *word, " not at all");
        saw(word, sizeof *word, *word, false);
        return;
    }
    tell_word("wait", word, value, "");
    me->state = RUN_ASLEEP;
    me->word = word;
    me->until = until;
    go_on();
    me->seen_count = 0;
    tell_word("waited", word, value, "");
}

void
lawn_park_wake(uint32_t *word)
{
    unsigned i;

    (void)run_step(NULL, false, false);
    drain(&threads[current]);
    threads[current].changes++;
    tell_word("wake", word, 0, "");
    for (i = 0; i < thread_count; i++) {
        if (threads[i].state == RUN_ASLEEP && threads[i].word == word) {
            threads[i].state = RUN_READY;
        }
    }
}

void
lawn_park_yield(void)
{
    struct run_thread *me = &threads[current];

    if (current == RUN_MAIN) {
        explore_fail("setup or finish would wait");
    }
    (void)run_step(NULL, false, false);
    drain(me);
    explore_tell("yield");
    settle_seen(me);
    me->state = RUN_YIELDED;
    go_on();
    me->seen_count = 0;
}

void
lawn_park_lock(uint32_t *word)
{
    struct run_thread *me = &threads[current];

    (void)run_step(NULL, false, false);
    drain(me);
    check_word(word, sizeof *word);
    while (*word != 0) {
        if (current == RUN_MAIN) {
            explore_fail("setup or finish would wait for a lock");
        }
        tell_word("lock", word, *word, " is taken");
        me->state = RUN_AT_LOCK;
        me->word = word;
        go_on();
        check_word(word, sizeof *word);
    }
    me->changes++;
    tell_word("lock", word, 1, "");
    *word = 1;
}

void
lawn_park_unlock(uint32_t *word)
{
    (void)run_step(NULL, false, false);
    drain(&threads[current]);
    check_word(word, sizeof *word);
    tell_word("unlock", word, 0, "");
    *word = 0;
}

uint64_t
lawn_park_clock(void *context)
{
    (void)context;
    explore_saw(&explore_now, sizeof explore_now);
    return explore_now;
}

bool
lawn_park_asymmetric(void)
{
    return !scenario->symmetric;
}

void
lawn_park_heavy(void)
{
    lawn_explore_heavy();
}

struct lawn_worker **
lawn_explore_self(void)
{
    return &threads[current == RUN_MAIN ? posing : current].self;
}

unsigned
explore_me(void)
{
    return current;
}

void
explore_be(unsigned fibre)
{
    posing = fibre;
}

/* Schedules. */

static void
begin_thread(void)
{
    running = true;
    scenario->threads[current]();
    threads[current].state = RUN_DONE;
    explore_tell("done");
    go_on();
    abort(); /* nobody goes on with it */
}

static void
expect_quiet(void)
{
    static const char *const words[] = {"could go on", "sleeps", "spins",
                                        "waits for a lock", "has ended"};
    char text[200] = "";
    bool quiet = true;
    unsigned i;

    for (i = 0; i < thread_count; i++) {
        quiet = quiet && (threads[i].state == RUN_DONE ||
                          (threads[i].state == RUN_ASLEEP &&
                           (scenario->daemons >> i & 1) != 0));
    }
    for (i = 0; i < thread_count && !quiet; i++) {
        size_t used = strlen(text);

        (void)snprintf(text + used, sizeof text - used, "%s%c %s",
                       i > 0 ? ", " : "", 'a' + (int)i,
                       words[threads[i].state]);
    }
    if (!quiet) {
        explore_fail("nobody can go on: %s", text);
    }
}

/* Until nobody can go on. */
static void
run_fibres(void)
{
    unsigned next;

    running = false;
    next = pick();
    if (next != RUN_MAIN) {
        current = next;
        fibre_switch(&threads[RUN_MAIN].fibre, &threads[next].fibre);
    }
    running = true;
    if (failed) {
        current = RUN_MAIN;
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

static void
begin(void)
{
    unsigned i;

    current = RUN_MAIN;
    posing = RUN_MAIN;
    last = RUN_MAIN;
    steps = 0;
    buffered = 0;
    running = true;
    settling = false;
    failed = false;
    for (i = 0; i <= EXPLORE_FIBRES; i++) {
        threads[i].state = i < thread_count ? RUN_READY : RUN_DONE;
        threads[i].storing = false;
        threads[i].word = NULL;
        threads[i].stored = 0;
        threads[i].seen_count = 0;
        threads[i].self = selves[i];
        if (i < thread_count) {
            fibre_make(&threads[i].fibre, stacks[i], RUN_STACK, begin_thread);
        }
    }
}

bool
run_prepare(const struct explore_scenario *which)
{
    unsigned i;

    scenario = which;
    run_delays = which->delays && !run_without_delays;
    thread_count = 0;
    while (thread_count < EXPLORE_FIBRES &&
           which->threads[thread_count] != NULL) {
        thread_count++;
    }
    memory_clear();
    words_clear();
    when_drained = NULL;
    explore_keep(&explore_now, sizeof explore_now);
    explore_name(&explore_now, sizeof explore_now, "clock");
    explore_now = 0;
    memset(selves, 0, sizeof selves);
    begin();
    if (setjmp(in_main) != 0) {
        return false;
    }
    if (which->setup != NULL) {
        which->setup();
    }
    memory_save();
    for (i = 0; i <= EXPLORE_FIBRES; i++) {
        selves[i] = threads[i].self;
    }
    return true;
}

bool
run_schedule(enum run_how how)
{
    memory_restore();
    schedule++;
    begin();
    tracing = how == RUN_TRACE;
    telling = how != RUN_WALK;
    choose_begin();
    if (setjmp(in_main) != 0) {
        return false;
    }
    run_fibres();
    if (scenario->finish != NULL) {
        scenario->finish();
    }
    if (memory_freed > 0 && !memory_intact()) {
        explore_fail("somebody wrote to memory that was freed");
    }
    return true;
}

const char *
run_message(void)
{
    return message;
}

bool
explore_telling(void)
{
    return telling;
}

unsigned
run_steps(void)
{
    return steps;
}
