/* locked.c - the atomic operations of the workers, each under a lock of its
 * word; and sleeping in small steps.
 *
 * Helgrind derives the order between threads from locks and from the beginning
 * and end of threads. It does not understand atomic operations: in a normal
 * build it would report each shared word, and all data that threads pass to
 * each other with such a word. Here it sees the locks instead, one for each
 * word, so the order between two threads comes from a word that both have used.
 * The data that the words protect (lawns, mailboxes, lists of shards, timers)
 * are unchanged; an access to a word without its macro would be reported as not
 * locked. No report is suppressed.
 *
 * It is more lenient than the machine: a relaxed access orders, too.
 * ThreadSanitizer, which understands memory orders, checks the same tests: make
 * tsan. LAWN_FENCE_HEAVY is not available, so timers are always shared.
 *
 * This file uses the hooks of the explorer: see src/workers/atomic.h. */
#include "../../src/workers/park.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOCKS 4096u
#define NS_PER_S 1000000000u

struct lawn_worker;
struct lawn_worker **lawn__explore_self(void);
unsigned *lawn__explore_turn(void);
uintptr_t lawn__explore_me(void);
uint64_t lawn__explore_load(const void *word, unsigned size, int order);
void lawn__explore_store(void *word, unsigned size, uint64_t value, int order);
uint64_t lawn__explore_xchg(void *word, unsigned size, uint64_t value);
int lawn__explore_cas(void *word, unsigned size, void *seen, uint64_t value);
uint64_t lawn__explore_fadd(void *word, unsigned size, uint64_t value);
void lawn__explore_heavy(void);

static pthread_mutex_t words[LOCKS];
static pthread_mutex_t sets[LOCKS];

__attribute__((constructor)) static void
init(void)
{
    for (unsigned i = 0; i < LOCKS; i++) {
        (void)pthread_mutex_init(&words[i], NULL);
        (void)pthread_mutex_init(&sets[i], NULL);
    }
}

static pthread_mutex_t *
lock_of(pthread_mutex_t *locks, const void *word)
{
    uint64_t hash = (uint64_t)(uintptr_t)word * UINT64_C(0x9E3779B97F4A7C15);

    return &locks[hash >> 52];
}

static pthread_mutex_t *
lock(const void *word)
{
    pthread_mutex_t *mutex = lock_of(words, word);

    (void)pthread_mutex_lock(mutex);
    return mutex;
}

/* Words have 1, 4 or 8 bytes. */
static uint64_t
get(const void *word, unsigned size)
{
    switch (size) {
    case 1:
        return *(const uint8_t *)word;
    case 4:
        return *(const uint32_t *)word;
    default:
        return *(const uint64_t *)word;
    }
}

static void
put(void *word, unsigned size, uint64_t value)
{
    switch (size) {
    case 1:
        *(uint8_t *)word = (uint8_t)value;
        break;
    case 4:
        *(uint32_t *)word = (uint32_t)value;
        break;
    default:
        *(uint64_t *)word = value;
        break;
    }
}

uint64_t
lawn__explore_load(const void *word, unsigned size, int order)
{
    pthread_mutex_t *mutex = lock(word);
    uint64_t value = get(word, size);

    (void)order;
    (void)pthread_mutex_unlock(mutex);
    return value;
}

void
lawn__explore_store(void *word, unsigned size, uint64_t value, int order)
{
    pthread_mutex_t *mutex = lock(word);

    (void)order;
    put(word, size, value);
    (void)pthread_mutex_unlock(mutex);
}

uint64_t
lawn__explore_xchg(void *word, unsigned size, uint64_t value)
{
    pthread_mutex_t *mutex = lock(word);
    uint64_t was = get(word, size);

    put(word, size, value);
    (void)pthread_mutex_unlock(mutex);
    return was;
}

int
lawn__explore_cas(void *word, unsigned size, void *seen, uint64_t value)
{
    pthread_mutex_t *mutex = lock(word);
    uint64_t was = get(word, size);
    int same = was == get(seen, size);

    if (same) {
        put(word, size, value);
    } else {
        put(seen, size, was);
    }
    (void)pthread_mutex_unlock(mutex);
    return same;
}

uint64_t
lawn__explore_fadd(void *word, unsigned size, uint64_t value)
{
    pthread_mutex_t *mutex = lock(word);
    uint64_t was = get(word, size);

    put(word, size, was + value);
    (void)pthread_mutex_unlock(mutex);
    return was;
}

void
lawn__explore_heavy(void)
{
    abort(); /* lawn__park_asymmetric() returns false */
}

struct lawn_worker **
lawn__explore_self(void)
{
    static _Thread_local struct lawn_worker *self;

    return &self;
}

unsigned *
lawn__explore_turn(void)
{
    static _Thread_local unsigned turn;

    return &turn;
}

uintptr_t
lawn__explore_me(void)
{
    return 1;
}

/* Returns after a moment without a reason, which is permitted. So no thread
 * needs to be woken, and the order between threads comes from the word
 * alone. */
void
lawn__park_wait(uint32_t *word, uint32_t value, uint64_t until)
{
    static const struct timespec moment = {0, 200000};

    if (lawn__explore_load(word, sizeof(*word), 0) == value &&
        lawn__park_clock(NULL) < until) {
        (void)nanosleep(&moment, NULL);
    }
}

void
lawn__park_wake(uint32_t *word)
{
    (void)word;
}

void
lawn__park_yield(void)
{
    (void)sched_yield();
}

void
lawn__park_lock(uint32_t *word)
{
    (void)pthread_mutex_lock(lock_of(sets, word));
}

void
lawn__park_unlock(uint32_t *word)
{
    (void)pthread_mutex_unlock(lock_of(sets, word));
}

uint64_t
lawn__park_clock(void *context)
{
    (void)context;
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

bool
lawn__park_asymmetric(void)
{
    return false;
}

void
lawn__park_heavy(void)
{
}
