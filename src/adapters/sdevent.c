/* sdevent.c - wakes a loop by a time source of sd-event. */
#include <lawn_sdevent.h>

#include <errno.h>
#include <stdlib.h>
#include <systemd/sd-event.h>
#include <time.h>

/* In microseconds. sd-event would replace 0 by 250 ms. */
#define LAWN_SDEVENT_ACCURACY 1

struct lawn_sdevent {
    sd_event_source *source;
    struct lawn_loop *loop;
    clockid_t clock;
};

static int
on_timer(sd_event_source *source, uint64_t when, void *context)
{
    struct lawn_sdevent *host = context;

    (void)source;
    (void)when;
    (void)lawn_loop_woken(host->loop);
    return 0;
}

/* The loop's clock may be a custom one. So the wait is added to the time of the
 * source's clock, and rounded up to avoid waking early. The setters fail only
 * when sd-event no longer runs: after its end, or in the child after a fork. */
static void
arm(struct lawn_loop *loop, uint64_t when, void *context)
{
    struct lawn_sdevent *host = context;
    uint64_t now = lawn_loop_update(loop);
    uint64_t wait = when > now ? when - now : 0;

    if (when == LAWN_NEVER) {
        (void)sd_event_source_set_enabled(host->source, SD_EVENT_OFF);
        return;
    }
    struct timespec base;
    (void)clock_gettime(host->clock, &base);
    wait = wait / 1000 + ((uint64_t)base.tv_nsec + wait % 1000 + 999) / 1000;
    (void)sd_event_source_set_time(host->source,
                                   (uint64_t)base.tv_sec * 1000000 + wait);
    (void)sd_event_source_set_enabled(host->source, SD_EVENT_ONESHOT);
}

struct lawn_loop *
lawn_sdevent_new(struct sd_event *event,
                 const struct lawn_loop_options *options)
{
    struct lawn_loop_options o =
        options != NULL ? *options : (struct lawn_loop_options){.arm = NULL};
    struct lawn_sdevent *host = calloc(1, sizeof(*host));

    if (host == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    o.arm = arm;
    o.arm_context = host;
    host->clock = o.clock == NULL && o.clock_id == LAWN_LOOP_BOOTTIME
                      ? CLOCK_BOOTTIME
                      : CLOCK_MONOTONIC;
    host->loop = lawn_loop_new(&o);
    if (host->loop == NULL) {
        free(host);
        return NULL;
    }
    int error = sd_event_add_time(event, &host->source, host->clock, 0,
                                  LAWN_SDEVENT_ACCURACY, on_timer, host);
    if (error < 0) {
        lawn_loop_free(host->loop);
        free(host);
        errno = -error;
        return NULL;
    }
    (void)sd_event_source_set_enabled(host->source, SD_EVENT_OFF);
    (void)sd_event_source_set_description(host->source, "lawn");
    return host->loop;
}

bool
lawn_sdevent_free(struct lawn_loop *loop)
{
    if (loop == NULL) {
        return true;
    }
    struct lawn_sdevent *host = lawn_loop_arm_context(loop);
    if (!lawn_loop_free(loop)) {
        return false;
    }
    (void)sd_event_source_disable_unref(host->source);
    free(host);
    return true;
}
