/* run_memory.c - the memory as seen by fibres: delayed stores, and the words
 * that waiting fibres have seen. See explore.h. */
#include "run_threads.h"

#include "memory.h"
#include "run.h"

#include <string.h>

static void (*when_drained)(unsigned fibre);

uint64_t
run_read(const void *word, unsigned size)
{
    uint64_t wide = 0;

    if (size == sizeof(wide)) {
        memcpy(&wide, word, sizeof(wide));
        return wide;
    }
    uint32_t narrow = 0;
    memcpy(&narrow, word, sizeof(narrow));
    return narrow;
}

void
run_write(void *word, unsigned size, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;

    if (size == sizeof(value)) {
        memcpy(word, &value, sizeof(value));
    } else {
        memcpy(word, &narrow, sizeof(narrow));
    }
}

void
run_check_word(const void *word, unsigned size)
{
    if (memory_freed > 0 && memory_is_freed(word, size)) {
        size_t offset = 0;
        const char *name = memory_name(word, &offset);

        explore_fail("access to freed memory: %s+%zu", name, offset);
    }
}

void
run_saw(void *word, unsigned size, uint64_t value, bool own)
{
    struct run_thread *me = &run_threads[run_current];
    struct run_word *next = &me->seen[me->seen_count++ % RUN_SEEN];

    next->word = word;
    next->size = size;
    next->value = value;
    next->own = own;
}

void
explore_saw(const void *word, unsigned size)
{
    if (run_current < RUN_MAIN) {
        run_saw((void *)(uintptr_t)word, size, run_read(word, size), false);
    }
}

void
run_settle_seen(struct run_thread *me)
{
    unsigned oldest = me->seen_count > RUN_SEEN ? me->seen_count - RUN_SEEN : 0;
    struct run_word known[RUN_SEEN] = {{0}};
    unsigned count = 0;

    me->news = false;
    unsigned k = 0;
    for (unsigned i = oldest; i < me->seen_count; i++) {
        struct run_word *entry = &me->seen[i % RUN_SEEN];

        for (k = 0; k < count && known[k].word != entry->word; k++) {
        }
        me->news = me->news ||
                   (k < count && !entry->own && known[k].value != entry->value);
        known[k] = *entry;
        count += k == count;
    }
    memcpy(me->seen, known, count * sizeof(*known));
    me->seen_count = count;
}

bool
run_seen_changed(const struct run_thread *thread)
{
    for (unsigned i = 0; i < thread->seen_count; i++) {
        if (run_read(thread->seen[i].word, thread->seen[i].size) !=
            thread->seen[i].value) {
            return true;
        }
    }
    return false;
}

void
run_put_on(struct run_thread *me)
{
    for (unsigned i = 0; i < me->stored; i++) {
        struct run_word *store = &me->buffer[i];

        me->under[i] = run_read(store->word, store->size);
        run_write(store->word, store->size, store->value);
    }
}

void
run_take_off(struct run_thread *me)
{
    for (unsigned i = me->stored; i-- > 0;) {
        run_write(me->buffer[i].word, me->buffer[i].size, me->under[i]);
    }
}

void
run_flush(struct run_thread *thread)
{
    struct run_word *oldest = &thread->buffer[0];

    run_print_word("flush", oldest->word, oldest->value,
                   thread == &run_threads[run_current] ? "" : " of another");
    run_check_word(oldest->word, oldest->size);
    if (!run_running || thread != &run_threads[run_current]) {
        run_write(oldest->word, oldest->size, oldest->value);
    }
    thread->stored--;
    run_buffered--;
    memmove(oldest, oldest + 1, thread->stored * sizeof(*oldest));
    memmove(thread->under, thread->under + 1,
            thread->stored * sizeof(*thread->under));
    if (thread->stored == 0 && when_drained != NULL) {
        when_drained((unsigned)(thread - run_threads));
    }
}

void
run_drain_of(struct run_thread *thread)
{
    while (thread->stored > 0) {
        run_flush(thread);
    }
}

bool
explore_has_delayed(void)
{
    return run_threads[run_current].stored > 0;
}

void
explore_when_drained(void (*call)(unsigned fibre))
{
    when_drained = call;
}

void
run_drain(void)
{
    run_drain_of(&run_threads[run_current]);
}
