/* debounce.c - saves a document when its author has paused, but not much later
 * than that.
 *
 * Each change restarts a timer, so that a burst of changes causes one save. For
 * an author who never pauses there is a second timer. The first change starts
 * it, and further changes do not restart it. The timer that fires first stops
 * the other. The clock is simulated, in milliseconds.
 */
#include <lawn_loop.h>

#define STILL 300u
#define LATEST 1000u

struct document {
    struct lawn_loop_timer still, latest;
    int changes; /* since the last save */
};

static uint64_t
read_clock(void *context)
{
    return *(uint64_t *)context;
}

static void
save(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct document *d = timer->arg;

    printf("%4d ms: %d changes saved, %s\n", (int)lawn_loop_now(loop),
           d->changes, timer == &d->still ? "all is still" : "it is high time");
    d->changes = 0;
    (void)lawn_loop_stop(loop, &d->still);
    (void)lawn_loop_stop(loop, &d->latest);
}

static void
change(struct lawn_loop *loop, struct document *d)
{
    d->changes++;
    lawn_loop_start(loop, &d->still, STILL);
    if (!lawn_loop_pending(&d->latest)) {
        lawn_loop_start(loop, &d->latest, LATEST);
    }
}

int
main(void)
{
    struct document d = {.still = {.fire = save, .arg = &d},
                         .latest = {.fire = save, .arg = &d}};
    uint64_t now = 0;
    struct lawn_loop_options options = {.clock = read_clock,
                                        .clock_context = &now};
    struct lawn_loop *loop = lawn_loop_new(&options);

    if (loop == NULL) {
        return 1;
    }
    for (; now < 4000; now++) {
        (void)lawn_loop_turn(loop);
        if (now == 100 || now == 150 || now == 390 ||        /* a burst */
            (now >= 1000 && now < 3000 && now % 200 == 0)) { /* no pause */
            change(loop, &d);
        }
    }
    lawn_loop_free(loop);
    return 0;
}

/* prints:
 *  690 ms: 3 changes saved, all is still
 * 2000 ms: 5 changes saved, it is high time
 * 3000 ms: 5 changes saved, it is high time
 */
