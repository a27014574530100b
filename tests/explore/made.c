/* made.c - threads created by the library are fibres, too. These functions
 * replace those of the system. */
#include "explore.h"

#include "../../src/workers/atomic.h"
#include "../../src/workers/park.h"

#include <pthread.h>

struct made {
    void *(*start)(void *arg);
    void *arg;
    uint32_t ended; /* atomic */
    bool joined;
};

static struct made mades[EXPLORE_FIBRES];
static unsigned next;

void
explore_make(unsigned fibre)
{
    static const struct made none;

    EXPECT(fibre < EXPLORE_FIBRES);
    next = fibre;
    mades[next] = none;
    explore_keep(&mades[next], sizeof(mades[next]));
    explore_name(&mades[next], sizeof(mades[next]), "thread");
}

int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
               void *(*start)(void *arg), void *arg)
{
    (void)attributes;
    EXPECT(mades[next].start == NULL);
    mades[next].start = start;
    mades[next].arg = arg;
    *thread = next;
    return 0;
}

void
explore_made(void)
{
    struct made *made = &mades[explore_me()];

    (void)made->start(made->arg);
    LAWN_ATOMIC_STORE(&made->ended, 1, LAWN_SEQ_CST);
    lawn__park_wake(&made->ended);
}

int
pthread_join(pthread_t thread, void **result)
{
    struct made *made = &mades[thread];

    (void)result;
    EXPECT(thread < EXPLORE_FIBRES && made->start != NULL);
    if (made->joined) {
        explore_fail("a thread is joined twice");
    }
    made->joined = true;
    while (LAWN_ATOMIC_LOAD(&made->ended, LAWN_SEQ_CST) == 0) {
        lawn__park_wait(&made->ended, 0, UINT64_MAX);
    }
    return 0;
}
