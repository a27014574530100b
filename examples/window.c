/* window.c - number and sum of events in the last minute: a sliding window.
 *
 * An event is added when it occurs, and its timer removes it when it leaves the
 * window. So the sums are exact at any time, and reading them costs nothing.
 * All timers have the same TTL and are in one queue, regardless of the number
 * of keys and events. In this example a user may pay 100 within any minute. The
 * clock is simulated, in seconds.
 */
#include <lawn.h>

#include <stdlib.h>

#define WINDOW 60
#define LIMIT 100

struct user {
    const char *name;
    int count, sum; /* of the payments in the window */
};

struct payment {
    struct lawn_timer leave;
    struct user *user;
    int amount;
};

static void
leave(struct lawn_timer *timer, void *arg)
{
    struct payment *p = LAWN_CONTAINER(timer, struct payment, leave);

    (void)arg;
    p->user->count--;
    p->user->sum -= p->amount;
    free(p);
}

/* Returns false if the amount exceeds the limit, or if out of memory. */
static bool
pay(struct lawn *lawn, struct user *user, int amount)
{
    struct payment *p = NULL;

    if (amount > LIMIT - user->sum || (p = calloc(1, sizeof(*p))) == NULL) {
        return false;
    }
    p->user = user;
    p->amount = amount;
    user->count++;
    user->sum += amount;
    lawn_start(lawn, &p->leave, WINDOW);
    return true;
}

int
main(void)
{
    static struct user ada = {.name = "ada"}, bob = {.name = "bob"};
    static const struct {
        uint64_t now;
        struct user *user;
        int amount;
    } events[] = {{5, &ada, 40},  {20, &ada, 40}, {30, &ada, 40},
                  {30, &bob, 90}, {64, &ada, 40}, {65, &ada, 40},
                  {70, &ada, 20}, {79, &ada, 20}, {90, &bob, 90}};
    struct lawn *lawn = lawn_new(NULL);

    for (size_t i = 0; lawn != NULL && i < sizeof(events) / sizeof(*events);
         i++) {
        struct user *user = events[i].user;

        /* First remove the payments that have left the window. */
        (void)lawn_mow(lawn, events[i].now, SIZE_MAX, leave, NULL);
        printf("%2d s: %s %s %d: ", (int)events[i].now, user->name,
               pay(lawn, user, events[i].amount) ? "pays" : "may not pay",
               events[i].amount);
        printf("%d in %d payments\n", user->sum, user->count);
    }
    if (lawn != NULL) { /* removes and frees the remaining payments */
        (void)lawn_mow(lawn, LAWN_NEVER, SIZE_MAX, leave, NULL);
    }
    lawn_free(lawn);
    return lawn == NULL;
}

/* prints:
 *  5 s: ada pays 40: 40 in 1 payments
 * 20 s: ada pays 40: 80 in 2 payments
 * 30 s: ada may not pay 40: 80 in 2 payments
 * 30 s: bob pays 90: 90 in 1 payments
 * 64 s: ada may not pay 40: 80 in 2 payments
 * 65 s: ada pays 40: 80 in 2 payments
 * 70 s: ada pays 20: 100 in 3 payments
 * 79 s: ada may not pay 20: 100 in 3 payments
 * 90 s: bob pays 90: 90 in 1 payments
 */
