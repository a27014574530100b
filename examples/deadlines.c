/* deadlines.c - requests with a deadline and retries.
 *
 * A request has two timers. One is the deadline of the whole request. The other
 * limits the duration of an attempt, and then the pause before the next one;
 * each pause is twice as long as the previous one. The answer or the deadline,
 * whichever is first, stops the timers. The clock is simulated, in
 * milliseconds. The server is simulated, too; the table in main() defines its
 * answers.
 */
#include <lawn_loop.h>

#define DEADLINE 1000u
#define ATTEMPT 100u /* limit of an attempt */
#define PAUSE 50u    /* after the first attempt; doubled each time */

struct request {
    const char *user;
    unsigned attempts;
    unsigned answered; /* number of the attempt that the server answers */
    uint64_t after;    /* time until the answer */
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

    if (lawn_loop_stop(loop, &r->deadline)) { /* else it is too late */
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

/* An answer during the pause is accepted. With many clients, add a random time
 * to the pause; otherwise all of them retry at once. */
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
        {.user = "cyd", .answered = 1, .after = 120}, /* during the pause */
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
