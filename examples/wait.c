/* wait.c - drives a lawn with a real clock and poll().
 *
 * lawn_loop.h does this for you. This example is for programs that use only the
 * core, or have their own wait.
 *
 * The program sleeps until the earliest deadline, rounded up to the
 * milliseconds of poll(), so that it neither spins nor fires early. Then it
 * mows: at most a thousand timers before it serves its file descriptors again.
 */
#define _POSIX_C_SOURCE 200809L /* NOLINT(bugprone-reserved-identifier) */
#include <lawn.h>

#include <poll.h>
#include <time.h>

#define MS UINT64_C(1000000)

struct retry {
    struct lawn_timer timer;
    struct lawn *lawn;
    int tries;
};

static uint64_t
now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static void
again(struct lawn_timer *timer, void *arg)
{
    struct retry *retry = LAWN_CONTAINER(timer, struct retry, timer);

    (void)arg;
    printf("try %d\n", ++retry->tries);
    if (retry->tries < 4) {
        lawn_start(retry->lawn, timer, (10 * MS) << retry->tries);
    }
}

/* Returns how long poll() may sleep. */
static int
wait_ms(struct lawn *lawn, uint64_t now)
{
    uint64_t next = lawn_next(lawn);
    uint64_t wait = next > now ? (next - now + MS - 1) / MS : 0;

    return wait < 60000 ? (int)wait : 60000;
}

int
main(void)
{
    struct lawn_options options = {.now = now_ns()};
    struct lawn *lawn = lawn_new(&options);
    struct retry retry = {.lawn = lawn};

    if (lawn == NULL) {
        return 1;
    }
    lawn_start(lawn, &retry.timer, 10 * MS);
    while (lawn_count(lawn) > 0) {
        (void)poll(NULL, 0, wait_ms(lawn, now_ns()));
        (void)lawn_mow(lawn, now_ns(), 1000, again, NULL);
    }
    lawn_free(lawn);
    return 0;
}

/* prints:
 * try 1
 * try 2
 * try 3
 * try 4
 */
