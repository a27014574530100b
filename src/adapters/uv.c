/* uv.c - the wake-up of a loop is a timer of libuv's. */
#include <lawn_uv.h>

#include <errno.h>
#include <stdlib.h>
#include <uv.h>

struct lawn_uv {
    uv_timer_t timer;
    struct lawn_loop *loop;
};

static void
lawn_uv_fire(uv_timer_t *timer)
{
    struct lawn_uv *host = timer->data;

    (void)lawn_loop_woken(host->loop);
}

/* libuv counts from the time at which it woke, in whole milliseconds: to be not
 * early, the sum is done here, and rounded up. */
static void
lawn_uv_arm(struct lawn_loop *loop, uint64_t when, void *context)
{
    struct lawn_uv *host = context;
    uint64_t woke = uv_now(host->timer.loop);
    uint64_t now = lawn_loop_update(loop);
    uint64_t wait = when > now ? when - now : 0;
    uint64_t awake = uv_hrtime() - woke * LAWN_LOOP_MS;

    if (when == LAWN_NEVER) {
        (void)uv_timer_stop(&host->timer);
    } else {
        wait +=
            wait > 0 && wait < LAWN_NEVER / 2 ? awake + LAWN_LOOP_MS - 1 : 0;
        (void)uv_timer_start(&host->timer, lawn_uv_fire, wait / LAWN_LOOP_MS,
                             0);
    }
}

struct lawn_loop *
lawn_uv_new(struct uv_loop_s *uv, const struct lawn_loop_options *options)
{
    struct lawn_loop_options o =
        options != NULL ? *options : (struct lawn_loop_options){.arm = NULL};
    struct lawn_uv *host = malloc(sizeof *host);

    if (host == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    o.arm = lawn_uv_arm;
    o.arm_context = host;
    host->loop = lawn_loop_new(&o);
    if (host->loop == NULL) {
        free(host);
        return NULL;
    }
    (void)uv_timer_init(uv, &host->timer);
    host->timer.data = host;
    return host->loop;
}

static void
lawn_uv_closed(uv_handle_t *timer)
{
    free(timer->data);
}

void
lawn_uv_free(struct lawn_loop *loop)
{
    struct lawn_uv *host;

    if (loop == NULL) {
        return;
    }
    host = lawn_loop_arm_context(loop);
    lawn_loop_free(loop);
    uv_close((uv_handle_t *)&host->timer, lawn_uv_closed);
}
