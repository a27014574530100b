/* system.c - replaces the system functions that the library uses: threads are
 * fibres that wait for work, and files for wake-ups are words. Calls may fail
 * for lack of either. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "sim.h"

#include "../../src/workers/atomic.h"
#include "../../src/workers/park.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SYSTEM_FILES 16
#define SYSTEM_FIRST 100000 /* descriptor of the first file */

enum system_seat_state { SEAT_FREE, SEAT_GIVEN, SEAT_ENDED };

struct system_seat {
    void *(*start)(void *arg);
    void *arg;
    uint32_t state; /* atomic */
    bool joined;
};

static struct system_seat seats[EXPLORE_FIBRES];
static uint32_t files[SYSTEM_FILES]; /* atomic: whether readable */
static unsigned file_count;
static unsigned blocks;
bool system_may_alloc[EXPLORE_FIBRES + 1];

void
system_begin(void)
{
    memset(seats, 0, sizeof(seats));
    memset(files, 0, sizeof(files));
    memset(system_may_alloc, 0, sizeof(system_may_alloc));
    file_count = 0;
    blocks = 0;
}

/* Threads. */

int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
               void *(*start)(void *arg), void *arg)
{
    unsigned i = SIM_SEATS;

    (void)attributes;
    while (i < SIM_SEATS + sim_plan.seats &&
           LAWN_ATOMIC_LOAD(&seats[i].state, LAWN_SEQ_CST) != SEAT_FREE) {
        i++;
    }
    if (i == SIM_SEATS + sim_plan.seats || weather_fault(SIM_THREADS, 3)) {
        return EAGAIN;
    }
    seats[i].start = start;
    seats[i].arg = arg;
    seats[i].joined = false;
    *thread = i;
    LAWN_ATOMIC_STORE(&seats[i].state, SEAT_GIVEN, LAWN_SEQ_CST);
    lawn__park_wake(&seats[i].state);
    return 0;
}

int
pthread_join(pthread_t thread, void **result)
{
    struct system_seat *seat = &seats[thread];

    (void)result;
    EXPECT(thread < EXPLORE_FIBRES && seat->start != NULL);
    if (seat->joined) {
        explore_fail("a thread is joined twice");
    }
    seat->joined = true;
    while (LAWN_ATOMIC_LOAD(&seat->state, LAWN_SEQ_CST) != SEAT_ENDED) {
        lawn__park_wait(&seat->state, SEAT_GIVEN, UINT64_MAX);
    }
    LAWN_ATOMIC_STORE(&seat->state, SEAT_FREE, LAWN_SEQ_CST);
    return 0;
}

void
system_take_seat(void)
{
    unsigned me = explore_me();
    struct system_seat *seat = &seats[me];

    for (;;) {
        uint32_t state = LAWN_ATOMIC_LOAD(&seat->state, LAWN_SEQ_CST);

        if (state != SEAT_GIVEN) {
            lawn__park_wait(&seat->state, state, UINT64_MAX);
            continue;
        }
        (void)lawn_workers_be(NULL);
        world_serves[me] = seat->arg;
        (void)seat->start(seat->arg);
        world_serves[me] = NULL;
        LAWN_ATOMIC_STORE(&seat->state, SEAT_ENDED, LAWN_SEQ_CST);
        lawn__park_wake(&seat->state);
    }
}

/* Files. */

uint32_t *
system_file(int fd)
{
    return fd >= SYSTEM_FIRST && fd < SYSTEM_FIRST + SYSTEM_FILES
               ? &files[fd - SYSTEM_FIRST]
               : NULL;
}

int
eventfd(unsigned count, int flags)
{
    (void)flags;
    if (file_count == SYSTEM_FILES || weather_fault(SIM_THREADS, 3)) {
        errno = EMFILE;
        return -1;
    }
    files[file_count] = count;
    return SYSTEM_FIRST + (int)file_count++;
}

ssize_t
write(int fd, const void *bytes, size_t size)
{
    uint32_t *file = system_file(fd);

    if (file == NULL) {
        return syscall(SYS_write, fd, bytes, size);
    }
    LAWN_ATOMIC_STORE(file, 1, LAWN_SEQ_CST);
    lawn__park_wake(file);
    return (ssize_t)size;
}

ssize_t
read(int fd, void *bytes, size_t size)
{
    uint32_t *file = system_file(fd);

    if (file == NULL) {
        return syscall(SYS_read, fd, bytes, size);
    }
    if (LAWN_ATOMIC_XCHG(file, 0, LAWN_SEQ_CST) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return (ssize_t)size;
}

int
close(int fd)
{
    return system_file(fd) == NULL ? (int)syscall(SYS_close, fd) : 0;
}

void
system_poll(int fd, uint64_t until)
{
    lawn__park_wait(system_file(fd), 0, until);
}

/* Memory. */

void *
system_alloc(size_t size, void *context)
{
    if (!system_may_alloc[explore_me()]) {
        explore_fail("unexpected allocation");
    }
    if (weather_fault(SIM_MEMORY, 4)) {
        return NULL;
    }
    blocks++;
    return explore_alloc(size, context);
}

void
system_release(void *memory, void *context)
{
    blocks -= memory != NULL;
    explore_release(memory, context);
}

unsigned
system_blocks(void)
{
    return blocks;
}
