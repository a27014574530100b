/* uv.c - wakes a loop by a timer of libuv. For an immediate wake-up it uses an
 * idle handle: in some versions, a timer that its own callback starts with a
 * timeout of 0 runs again and again, and other handles never run. */
#include <lawn_uv.h>

#include <errno.h>
#include <stdlib.h>
#include <uv.h>

struct lawn_uv {
    uv_timer_t timer;
    uv_idle_t idle; /* at most one of timer and idle is active */
    unsigned handles;
    struct lawn_loop *loop;
};

static void
on_timer(uv_timer_t *timer)
{
    struct lawn_uv *host = timer->data;

    (void)lawn_loop_woken(host->loop);
}

static void
on_idle(uv_idle_t *idle)
{
    struct lawn_uv *host = idle->data;

    (void)uv_idle_stop(idle);
    (void)lawn_loop_woken(host->loop);
}

static void
arm(struct lawn_loop *loop, uint64_t when, void *context)
{
    struct lawn_uv *host = context;
    uint64_t now = lawn_loop_update(loop);
    /* libuv counts from uv_now(), the time when it last woke, in whole
     * milliseconds. So the time since then is added to the wait, and the sum is
     * rounded up. */
    uint64_t awake = uv_hrtime() - uv_now(host->timer.loop) * LAWN_LOOP_MS;

    (void)uv_timer_stop(&host->timer);
    (void)uv_idle_stop(&host->idle);
    if (when == LAWN_NEVER) {
        return;
    }
    if (when <= now) {
        (void)uv_idle_start(&host->idle, on_idle);
        return;
    }
    uint64_t wait = (when - now) / LAWN_LOOP_MS;
    awake += (when - now) % LAWN_LOOP_MS + LAWN_LOOP_MS - 1;
    (void)uv_timer_start(&host->timer, on_timer, wait + awake / LAWN_LOOP_MS,
                         0);
}

struct lawn_loop *
lawn_uv_new(struct uv_loop_s *uv, const struct lawn_loop_options *options)
{
    struct lawn_loop_options o =
        options != NULL ? *options : (struct lawn_loop_options){.arm = NULL};
    struct lawn_uv *host = malloc(sizeof(*host));

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
    (void)uv_timer_init(uv, &host->timer);
    (void)uv_idle_init(uv, &host->idle);
    host->timer.data = host;
    host->idle.data = host;
    host->handles = 2;
    return host->loop;
}

static void
on_close(uv_handle_t *handle)
{
    struct lawn_uv *host = handle->data;

    if (--host->handles == 0) {
        free(host);
    }
}

bool
lawn_uv_free(struct lawn_loop *loop)
{
    if (loop == NULL) {
        return true;
    }
    struct lawn_uv *host = lawn_loop_arm_context(loop);
    if (!lawn_loop_free(loop)) {
        return false;
    }
    uv_close((uv_handle_t *)&host->timer, on_close);
    uv_close((uv_handle_t *)&host->idle, on_close);
    return true;
}
