/* backlog.c - a server whose health checks stay punctual while 100,000 sessions
 * expire.
 *
 * The sessions began at the same time, so all are due at once. A round of the
 * server takes 10 ms and fires at most 500 timers, so the backlog takes two
 * seconds.
 * Timers fire in the order of their deadlines, so a health check that becomes
 * due meanwhile would wait for all sessions. A weight gives the health checks a
 * share of each round. The program runs without a weight, then with a
 * weight. The clock is simulated, in milliseconds.
 */
#include <lawn_class.h>

#include <stdlib.h>

#define SESSIONS 100000u
#define BACKENDS 50u
#define BUDGET 500u
#define ROUND 10u

static struct lawn_class *sessions, *checks;
static struct lawn_timer session[SESSIONS], check[BACKENDS];
static int checked, expired;

/* Health checks are an array, so the address of a timer shows its kind. With
 * more kinds, embed the timer in an object that has a callback. */
static void
fire(struct lawn_timer *timer, void *arg)
{
    (void)arg;
    if (timer >= check && timer < check + BACKENDS) {
        checked++; /* a real server would send a request */
        lawn_class_start(checks, timer);
    } else {
        expired++;
    }
}

static bool
serve(uint32_t weight)
{
    struct lawn_options options = {.classes = 2};
    struct lawn *lawn = lawn_new(&options);
    struct lawn_class_counters stats;
    uint64_t now = 0;
    uint64_t drained = 0;

    if (lawn == NULL) {
        perror("backlog");
        return false;
    }
    sessions = lawn_class_new(lawn, 30000, "sessions");
    checks = lawn_class_new(lawn, 1000, "checks");
    lawn_class_set_weight(checks, weight);
    checked = 0;
    expired = 0;
    for (size_t i = 0; i < SESSIONS; i++) {
        lawn_class_start(sessions, &session[i]);
    }
    for (now = 0; now < 40000; now += ROUND) {
        (void)lawn_mow(lawn, now, BUDGET, fire, NULL);
        /* The backends are checked at different times. */
        if (now / ROUND < BACKENDS) {
            lawn_class_start(checks, &check[now / ROUND]);
        }
        if (drained == 0 && expired == SESSIONS) {
            drained = now;
        }
    }
    lawn_class_stats(checks, &stats);
    printf("weight %d: sessions expired until %d ms; %d checks, at most %d ms "
           "late\n",
           (int)weight, (int)drained, checked, (int)stats.late_max);
    /* Make the timers idle before their class is removed. */
    (void)lawn_class_clear(checks);
    while (lawn_class_take(checks) != NULL) {
    }
    lawn_free(lawn);
    return true;
}

int
main(void)
{
    return serve(0) && serve(1) ? 0 : 1;
}

/* prints:
 * weight 0: sessions expired until 32000 ms; 1851 checks, at most 1990 ms late
 * weight 1: sessions expired until 32000 ms; 1950 checks, at most 0 ms late
 */
