/* pressure.c - a proxy that halves its idle timeout when memory becomes scarce.
 *
 * All idle timers are in one class. lawn_class_scale() changes the deadlines of
 * all of them, including running ones, in constant time. The connections that
 * have been silent for longest are then due, and the next mow closes them. When
 * enough memory is free again, the timeout is doubled until it is normal.
 *
 * Most clients send one request and then keep their connections open. Five busy
 * clients send a packet every five seconds. The clock is simulated, in seconds.
 */
#include <lawn_class.h>

#include <stdlib.h>

#define IDLE 60u
#define LEAST 15u /* the shortest timeout */
#define SCARCE 2000u
#define AMPLE 700u /* connections */
#define BUSY 5u

struct connection {
    struct lawn_timer idle;
};

static size_t open;
static bool busy_closed;
static struct connection *busy[BUSY];

static void
hang_up(struct lawn_timer *timer, void *arg)
{
    struct connection *c = LAWN_CONTAINER(timer, struct connection, idle);

    (void)arg;
    for (size_t i = 0; i < BUSY; i++) {
        busy_closed = busy_closed || busy[i] == c;
    }
    open--;
    free(c);
}

static struct connection *
welcome(struct lawn_class *idle)
{
    struct connection *c = calloc(1, sizeof(*c));

    if (c == NULL) {
        perror("pressure");
        exit(1);
    }
    open++;
    lawn_class_start(idle, &c->idle);
    return c;
}

static void
adapt_timeout(struct lawn_class *idle, uint64_t now)
{
    struct lawn_class_counters stats;
    size_t before = open;

    lawn_class_stats(idle, &stats);
    if (open > SCARCE && stats.ttl > LEAST) {
        lawn_class_scale(idle, 1, 2);
    } else if (open < AMPLE && stats.ttl < IDLE) {
        lawn_class_scale(idle, 2, 1);
    } else {
        return;
    }
    lawn_class_stats(idle, &stats);
    printf("%3d s: %zu connections: timeout %d s, %d are due\n", (int)now,
           before, (int)stats.ttl, (int)lawn_class_forecast(idle, 0, SIZE_MAX));
}

int
main(void)
{
    struct lawn_options options = {.classes = 1};
    struct lawn *lawn = lawn_new(&options);

    if (lawn == NULL) {
        perror("pressure");
        return 1;
    }
    struct lawn_class *idle = lawn_class_new(lawn, IDLE, "idle");
    for (size_t i = 0; i < BUSY; i++) {
        busy[i] = welcome(idle);
    }
    for (uint64_t now = 1; now <= 400; now++) {
        (void)lawn_mow(lawn, now, SIZE_MAX, hang_up, NULL);
        /* From 100 to 200 s clients arrive ten times as fast. */
        for (int i = 0; i < (now > 100 && now <= 200 ? 100 : 10); i++) {
            (void)welcome(idle);
        }
        lawn_class_start(idle, &busy[now % BUSY]->idle); /* a packet */
        adapt_timeout(idle, now);
    }
    printf("%zu connections remain; busy ones were %s\n", open,
           busy_closed ? "closed" : "not closed");
    /* The timeout of those that remain is over. */
    (void)lawn_class_mow(idle, LAWN_NEVER, SIZE_MAX, hang_up, NULL);
    lawn_free(lawn);
    return 0;
}

/* prints:
 * 116 s: 2045 connections: timeout 30 s, 300 are due
 * 119 s: 2015 connections: timeout 15 s, 510 are due
 * 209 s: 695 connections: timeout 30 s, 0 are due
 * 226 s: 665 connections: timeout 60 s, 0 are due
 * 605 connections remain; busy ones were not closed
 */
