/* ratelimit.c - at most 3 requests of a user per second; further requests wait
 * for the next free slot.
 *
 * A user has RATE slots. Each request takes the slot that has been free for the
 * longest time, and occupies it for a PERIOD. So no period, wherever it begins,
 * contains more than RATE requests. Requests that find no free slot wait in a
 * queue of at most QUEUE, and the user's timer fires when the next slot is
 * free. Users without waiting requests have no running timer. The clock is
 * simulated, in milliseconds.
 */
#include <lawn_loop.h>

#define RATE 3
#define PERIOD 1000
#define QUEUE 4

struct user {
    const char *name;
    struct lawn_loop_timer slot;
    uint64_t came, passed;  /* number of requests */
    uint64_t free_at[RATE]; /* the slots, as a ring */
    uint64_t since[QUEUE];  /* arrival times of waiting requests, as a ring */
    uint64_t seen[20];      /* for main: when they passed */
};

static uint64_t
read_clock(void *context)
{
    return *(uint64_t *)context;
}

/* Serves waiting requests as far as slots are free, then waits for the next
 * slot. */
static void
serve(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct user *u = timer->arg;

    while (u->passed < u->came) {
        uint64_t now = lawn_loop_update(loop);
        uint64_t *slot = &u->free_at[u->passed % RATE];
        if (*slot > now) {
            lawn_loop_start_at(loop, timer, *slot);
            break;
        }
        printf("%4d ms: %s, waited %d ms\n", (int)now, u->name,
               (int)(now - u->since[u->passed % QUEUE]));
        u->seen[u->passed++ % 20] = now;
        /* The period begins after the request was served, not when it was due.
         * So a late timer or callback never brings two requests too close
         * together. */
        *slot = lawn_loop_update(loop) + PERIOD;
    }
}

static void
take_request(struct lawn_loop *loop, struct user *u)
{
    if (u->came - u->passed == QUEUE) {
        printf("%4d ms: %s, refused\n", (int)lawn_loop_update(loop), u->name);
        return;
    }
    u->since[u->came++ % QUEUE] = lawn_loop_update(loop);
    if (!lawn_loop_pending(&u->slot)) { /* no request is waiting */
        serve(&u->slot, loop);
    }
}

/* Returns the maximum number of requests within any period. */
static int
most(const struct user *u)
{
    uint64_t j = 0;
    int many = 0, result = 0;

    for (uint64_t i = 0; i < u->passed; i++) {
        for (many = 0, j = i; j < u->passed; j++) {
            many += u->seen[j] - u->seen[i] < PERIOD;
        }
        result = many > result ? many : result;
    }
    return result;
}

int
main(void)
{
    static struct user ada = {.name = "ada",
                              .slot = {.fire = serve, .arg = &ada}};
    static struct user bob = {.name = "bob",
                              .slot = {.fire = serve, .arg = &bob}};
    uint64_t now = 0;
    struct lawn_loop_options options = {.clock = read_clock,
                                        .clock_context = &now};
    struct lawn_loop *loop = lawn_loop_new(&options);

    if (loop == NULL) {
        return 1;
    }
    /* Ada sends nine requests at short intervals, bob four at long ones. */
    for (; now < 5000; now++) {
        (void)lawn_loop_turn(loop);
        if (now % 100 == 0 && now < 900) {
            take_request(loop, &ada);
        }
        if (now % 450 == 10 && now < 1800) {
            take_request(loop, &bob);
        }
    }
    printf("at most %d of ada's and %d of bob's within %d ms\n", most(&ada),
           most(&bob), PERIOD);
    lawn_loop_free(loop);
    return 0;
}

/* prints:
 *    0 ms: ada, waited 0 ms
 *   10 ms: bob, waited 0 ms
 *  100 ms: ada, waited 0 ms
 *  200 ms: ada, waited 0 ms
 *  460 ms: bob, waited 0 ms
 *  700 ms: ada, refused
 *  800 ms: ada, refused
 *  910 ms: bob, waited 0 ms
 * 1000 ms: ada, waited 700 ms
 * 1100 ms: ada, waited 700 ms
 * 1200 ms: ada, waited 700 ms
 * 1360 ms: bob, waited 0 ms
 * 2000 ms: ada, waited 1400 ms
 * at most 3 of ada's and 3 of bob's within 1000 ms
 */
