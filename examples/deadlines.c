/* deadlines.c - requests with a deadline, and tried again until then.
 *
 * A request has two timers. One is for the whole of it. The other ends an
 * attempt that takes too long, and then the pause before the next one, which is
 * longer each time. What comes first, answer or deadline, stops them. The clock
 * is ours, in milliseconds, and so is the server, which answers as the table in
 * main() says.
 */
#include <lawn_loop.h>

#define DEADLINE 1000u
#define ATTEMPT 100u /* how long it may take */
#define PAUSE 50u    /* after the first attempt; then twice that, and so on */

struct request {
    const char *user;
    unsigned attempts;
    unsigned answered; /* the server answers this attempt, */
    uint64_t after;    /* after so long */
    struct lawn_loop_timer deadline, attempt, answer;
};

static uint64_t
read_clock(void *context)
{
    return *(uint64_t *)context;
}

static void
finish(struct lawn_loop *loop, struct request *r, const char *how)
{
    (void)lawn_loop_stop(loop, &r->attempt);
    printf("%4d ms: %s, after %u attempts: %s\n", (int)lawn_loop_now(loop),
           r->user, r->attempts, how);
}

static void
on_answer(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct request *r = timer->arg;

    if (lawn_loop_stop(loop, &r->deadline)) { /* or it comes too late */
        finish(loop, r, "an answer");
    }
}

static void
on_deadline(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    finish(loop, timer->arg, "given up");
}

static void on_slow(struct lawn_loop_timer *timer, struct lawn_loop *loop);

static void
attempt(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct request *r = timer->arg;

    if (++r->attempts == r->answered) {
        lawn_loop_start(loop, &r->answer, r->after);
    }
    timer->fire = on_slow;
    lawn_loop_start(loop, timer, ATTEMPT);
}

/* An answer that comes now is as good as any. Where clients are many, let the
 * pause be random, or they all come back at once. */
static void
on_slow(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct request *r = timer->arg;

    timer->fire = attempt;
    lawn_loop_start(loop, timer, PAUSE << (r->attempts - 1));
}

int
main(void)
{
    static struct request requests[] = {
        {.user = "ada", .answered = 1, .after = 30},
        {.user = "bob", .answered = 3, .after = 20},
        {.user = "cyd", .answered = 1, .after = 120}, /* in the pause */
        {.user = "eve", .answered = 4, .after = 400},
    };
    uint64_t now = 0;
    struct lawn_loop_options options = {.clock = read_clock,
                                        .clock_context = &now};
    struct lawn_loop *loop = lawn_loop_new(&options);

    if (loop == NULL) {
        return 1;
    }
    for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
        struct request *r = &requests[i];

        r->deadline = (struct lawn_loop_timer){.fire = on_deadline, .arg = r};
        r->answer = (struct lawn_loop_timer){.fire = on_answer, .arg = r};
        r->attempt.arg = r;
        lawn_loop_start(loop, &r->deadline, DEADLINE);
        attempt(&r->attempt, loop);
    }
    while ((now = lawn_loop_next(loop)) != LAWN_NEVER) {
        (void)lawn_loop_turn(loop);
    }
    lawn_loop_free(loop);
    return 0;
}

/* prints:
 *   30 ms: ada, after 1 attempts: an answer
 *  120 ms: cyd, after 1 attempts: an answer
 *  370 ms: bob, after 3 attempts: an answer
 * 1000 ms: eve, after 4 attempts: given up
 */
