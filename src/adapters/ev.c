/* ev.c - wakes a loop by a timer of libev. For an immediate wake-up it uses an
 * idle watcher, because libev waits a millisecond for any timer. The idle
 * watcher has the highest priority; with a lower one it would not run while
 * other watchers are active. */
#include <lawn_ev.h>

#include <errno.h>
#include <ev.h>
#include <stdlib.h>

struct lawn_ev {
    ev_timer timer;
    ev_idle idle; /* at most one of timer and idle is active */
    struct ev_loop *ev;
    struct lawn_loop *loop;
};

static void
on_timer(struct ev_loop *ev, ev_timer *timer, int events)
{
    struct lawn_ev *host = timer->data;

    (void)ev;
    (void)events;
    (void)lawn_loop_woken(host->loop);
}

static void
on_idle(struct ev_loop *ev, ev_idle *idle, int events)
{
    struct lawn_ev *host = idle->data;

    (void)events;
    ev_idle_stop(ev, idle);
    (void)lawn_loop_woken(host->loop);
}

static void
arm(struct lawn_loop *loop, uint64_t when, void *context)
{
    struct lawn_ev *host = context;
    uint64_t now = lawn_loop_update(loop);

    ev_timer_stop(host->ev, &host->timer);
    ev_idle_stop(host->ev, &host->idle);
    if (when == LAWN_NEVER) {
        return;
    }
    if (when <= now) {
        ev_idle_start(host->ev, &host->idle);
        return;
    }
    /* libev adds the wait to its clock, the seconds since boot, as double.
     * After years of uptime the sum has an error of some hundredths of a
     * microsecond. The added microsecond prevents waking too early. */
    ev_now_update(host->ev);
    ev_timer_set(&host->timer, (double)(when - now) * 1e-9 + 1e-6, 0.);
    ev_timer_start(host->ev, &host->timer);
}

struct lawn_loop *
lawn_ev_new(struct ev_loop *ev, const struct lawn_loop_options *options)
{
    struct lawn_loop_options o =
        options != NULL ? *options : (struct lawn_loop_options){.arm = NULL};
    struct lawn_ev *host = malloc(sizeof(*host));

    if (host == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    o.arm = arm;
    o.arm_context = host;
    host->ev = ev;
    host->loop = lawn_loop_new(&o);
    if (host->loop == NULL) {
        free(host);
        return NULL;
    }
    ev_timer_init(&host->timer, on_timer, 0., 0.);
    ev_idle_init(&host->idle, on_idle);
    ev_set_priority(&host->idle, EV_MAXPRI);
    host->timer.data = host;
    host->idle.data = host;
    return host->loop;
}

bool
lawn_ev_free(struct lawn_loop *loop)
{
    if (loop == NULL) {
        return true;
    }
    struct lawn_ev *host = lawn_loop_arm_context(loop);
    if (!lawn_loop_free(loop)) {
        return false;
    }
    ev_timer_stop(host->ev, &host->timer);
    ev_idle_stop(host->ev, &host->idle);
    free(host);
    return true;
}
