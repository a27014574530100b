/* run_atomic.c - operations of fibres on shared words, and their waits:
 * replaces src/workers/atomic.h and park.h. See explore.h. */
#include "run_threads.h"

#include "../../src/workers/atomic.h"
#include "../../src/workers/park.h"

struct lawn_worker;
struct lawn_worker **lawn__explore_self(void);
unsigned *lawn__explore_turn(void);
uintptr_t lawn__explore_me(void);

/* src/workers/atomic.h */

uint64_t
lawn__explore_load(const void *word, unsigned size, int order)
{
    void *at = (void *)(uintptr_t)word;

    (void)order;
    (void)run_step(word, false, false);
    run_check_word(word, size);
    uint64_t value = run_read(word, size);
    if (run_current < RUN_MAIN) {
        run_saw(at, size, value, false);
        run_print_word("load", word, value, "");
    }
    return value;
}

static void
wrote(void *word, unsigned size, uint64_t value)
{
    if (run_current < RUN_MAIN) {
        run_saw(word, size, value, true);
    }
}

void
lawn__explore_store(void *word, unsigned size, uint64_t value, int order)
{
    struct run_thread *me = &run_threads[run_current];
    bool weak = order != LAWN_SEQ_CST && run_delays;
    bool delay = run_step(word, true, weak);

    value = size == 4 ? (uint32_t)value : value;
    run_check_word(word, size);
    wrote(word, size, value);
    if (run_current < RUN_MAIN && weak && (delay || me->stored > 0)) {
        if (me->stored == RUN_BUFFER) {
            run_flush(me);
        }
        run_print_word("store", word, value, " delayed");
        me->under[me->stored] = run_read(word, size);
        run_write(word, size, value);
        me->buffer[me->stored].word = word;
        me->buffer[me->stored].size = size;
        me->buffer[me->stored++].value = value;
        run_buffered++;
        return;
    }
    run_drain_of(me);
    run_print_word("store", word, value, "");
    run_write(word, size, value);
}

/* Read-modify-write operations. */
static uint64_t
begin_change(void *word, unsigned size)
{
    (void)run_step(word, true, false);
    run_drain_of(&run_threads[run_current]);
    run_check_word(word, size);
    run_threads[run_current].changes++;
    return run_read(word, size);
}

unsigned
explore_changes(void)
{
    return run_threads[run_current].changes;
}

uint64_t
lawn__explore_xchg(void *word, unsigned size, uint64_t value)
{
    uint64_t old = begin_change(word, size);

    run_write(word, size, value);
    wrote(word, size, value);
    run_print_word("xchg", word, old, "");
    run_print_word("  to", word, value, "");
    return old;
}

int
lawn__explore_cas(void *word, unsigned size, void *seen, uint64_t value)
{
    uint64_t old = begin_change(word, size);

    if (old == run_read(seen, size)) {
        run_print_word("cas", word, old, "");
        run_print_word("  to", word, value, "");
        run_write(word, size, value);
        wrote(word, size, value);
        return 1;
    }
    run_print_word("cas", word, old, " is not what was seen");
    run_write(seen, size, old);
    if (run_current < RUN_MAIN) {
        run_saw(word, size, old, false);
    }
    return 0;
}

uint64_t
lawn__explore_fadd(void *word, unsigned size, uint64_t value)
{
    uint64_t old = begin_change(word, size);

    run_write(word, size, old + value);
    wrote(word, size, run_read(word, size));
    run_print_word("fadd", word, run_read(word, size), "");
    return old;
}

void
lawn__explore_heavy(void)
{
    if (run_scenario->symmetric) {
        explore_fail("LAWN_FENCE_HEAVY is not available");
    }
    (void)run_step(NULL, false, false);
    explore_print("heavy");
    run_threads[run_current].changes++;
    for (unsigned i = 0; i <= EXPLORE_FIBRES; i++) {
        run_drain_of(&run_threads[i]);
    }
}

/* src/workers/park.h. System calls drain the caller's buffer. */

void
lawn__park_wait(uint32_t *word, uint32_t value, uint64_t until)
{
    struct run_thread *me = &run_threads[run_current];

    if (run_current == RUN_MAIN) {
        explore_fail("setup or finish would sleep");
    }
    (void)run_step(NULL, false, false);
    run_drain_of(me);
    run_check_word(word, sizeof(*word));
    if (*word != value ||
        (until != RUN_NEVER && run_clock(run_current) >= until)) {
        run_print_word("wait", word, *word, " not at all");
        run_saw(word, sizeof(*word), *word, false);
        return;
    }
    run_print_word("wait", word, value, "");
    me->state = RUN_ASLEEP;
    me->word = word;
    me->until = until;
    run_go_on();
    me->seen_count = 0;
    run_print_word("waited", word, value, "");
}

void
lawn__park_wake(uint32_t *word)
{
    (void)run_step(NULL, false, false);
    run_drain_of(&run_threads[run_current]);
    run_threads[run_current].changes++;
    run_print_word("wake", word, 0, "");
    for (unsigned i = 0; i < run_thread_count; i++) {
        if (run_threads[i].state == RUN_ASLEEP && run_threads[i].word == word) {
            run_threads[i].state = RUN_READY;
        }
    }
}

void
lawn__park_yield(void)
{
    struct run_thread *me = &run_threads[run_current];

    if (run_current == RUN_MAIN) {
        explore_fail("setup or finish would wait");
    }
    (void)run_step(NULL, false, false);
    run_drain_of(me);
    explore_print("yield");
    run_settle_seen(me);
    me->state = RUN_YIELDED;
    run_go_on();
    me->seen_count = 0;
}

void
lawn__park_lock(uint32_t *word)
{
    struct run_thread *me = &run_threads[run_current];

    (void)run_step(NULL, false, false);
    run_drain_of(me);
    run_check_word(word, sizeof(*word));
    while (*word != 0) {
        if (run_current == RUN_MAIN) {
            explore_fail("setup or finish would wait for a lock");
        }
        run_print_word("lock", word, *word, " is taken");
        me->state = RUN_AT_LOCK;
        me->word = word;
        run_go_on();
        run_check_word(word, sizeof(*word));
    }
    me->changes++;
    run_print_word("lock", word, 1, "");
    *word = 1;
}

void
lawn__park_unlock(uint32_t *word)
{
    (void)run_step(NULL, false, false);
    run_drain_of(&run_threads[run_current]);
    run_check_word(word, sizeof(*word));
    run_print_word("unlock", word, 0, "");
    *word = 0;
}

uint64_t
lawn__park_clock(void *context)
{
    (void)context;
    return run_clock(run_current);
}

bool
lawn__park_asymmetric(void)
{
    return !run_scenario->symmetric;
}

void
lawn__park_heavy(void)
{
    lawn__explore_heavy();
}

struct lawn_worker **
lawn__explore_self(void)
{
    return &run_threads[run_current == RUN_MAIN ? run_posing : run_current]
                .self;
}

unsigned *
lawn__explore_turn(void)
{
    return &run_threads[run_current].turn;
}

uintptr_t
lawn__explore_me(void)
{
    return run_current + 1;
}

unsigned
explore_me(void)
{
    return run_current;
}

void
explore_be(unsigned fibre)
{
    run_posing = fibre;
}
