/* event.c - wakes a loop by a timeout event of libevent. */
#include <lawn_event.h>

#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdlib.h>

/* The longest wait: 34 years, which fits in any time_t. After it, the loop
 * waits again. */
#define LAWN_EVENT_FAR ((UINT64_C(1) << 30) * LAWN_LOOP_SECOND)

struct lawn_event {
    struct event timer;
    struct lawn_loop *loop;
};

static void
on_timer(evutil_socket_t fd, short events, void *context)
{
    struct lawn_event *host = context;

    (void)fd;
    (void)events;
    (void)lawn_loop_woken(host->loop);
}

/* libevent counts from the time when it woke, so it may wake the loop some
 * milliseconds early. Then the loop waits for the remaining time, at least a
 * millisecond, because libevent rounds up. */
static void
arm(struct lawn_loop *loop, uint64_t when, void *context)
{
    struct lawn_event *host = context;
    uint64_t now = lawn_loop_update(loop);
    uint64_t wait = when > now ? when - now : 0;

    if (when == LAWN_NEVER) {
        (void)event_del(&host->timer);
        return;
    }
    wait = wait < LAWN_EVENT_FAR ? wait + 999 : LAWN_EVENT_FAR;
    struct timeval timeout;
    timeout.tv_sec = (time_t)(wait / LAWN_LOOP_SECOND);
    timeout.tv_usec = (suseconds_t)(wait % LAWN_LOOP_SECOND / 1000);
    if (event_add(&host->timer, &timeout) != 0) {
        /* Out of memory: wake too often rather than never. */
        event_active(&host->timer, EV_TIMEOUT, 0);
    }
}

struct lawn_loop *
lawn_event_new(struct event_base *base, const struct lawn_loop_options *options)
{
    struct lawn_loop_options o =
        options != NULL ? *options : (struct lawn_loop_options){.arm = NULL};
    struct lawn_event *host = malloc(sizeof(*host));

    if (host == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    o.arm = arm;
    o.arm_context = host;
    host->loop = lawn_loop_new(&o);
    if (host->loop == NULL) {
        free(host);
        return NULL;
    }
    (void)evtimer_assign(&host->timer, base, on_timer, host);
    return host->loop;
}

bool
lawn_event_free(struct lawn_loop *loop)
{
    if (loop == NULL) {
        return true;
    }
    struct lawn_event *host = lawn_loop_arm_context(loop);
    if (!lawn_loop_free(loop)) {
        return false;
    }
    (void)event_del(&host->timer);
    free(host);
    return true;
}
