/* sdeventhost.c - sd-event with a time source for each timer, and with lawn's
 * timers. Both have an accuracy of a microsecond. */
#include "peer.h"

#include "../hosts/adapted.h"

#include <lawn_sdevent.h>
#include <stdlib.h>
#include <systemd/sd-event.h>
#include <time.h>

struct sdhost {
    struct adapted adapted;
    sd_event *event;
    bool over;
    bool failed;
    /* All sources; each node is in this list. */
    struct sdnode *first;
};

struct sdnode {
    sd_event_source *source;
    struct sdhost *host;
    struct sdnode *next;
};

static void *
make_own(const struct contender_setup *setup)
{
    struct sdhost *host = calloc(1, sizeof(*host));

    (void)setup;
    if (host == NULL || sd_event_new(&host->event) < 0) {
        free(host);
        return NULL;
    }
    return host;
}

static void
free_host(void *self)
{
    struct sdhost *host = self;

    lawn_sdevent_free(host->adapted.loop);
    for (struct sdnode *node = host->first; node != NULL; node = node->next) {
        (void)sd_event_source_disable_unref(node->source);
    }
    (void)sd_event_unref(host->event);
    free(host);
}

static void *
make_adapted(const struct contender_setup *setup)
{
    struct sdhost *host = make_own(setup);

    if (host != NULL) {
        host->adapted.loop = lawn_sdevent_new(host->event, NULL);
    }
    return adapted_made(host, free_host);
}

static bool
failed(void *self)
{
    return ((struct sdhost *)self)->failed;
}

static int
on_time(sd_event_source *source, uint64_t when, void *arg)
{
    const struct sdnode *node = arg;

    (void)source;
    (void)when;
    node->host->adapted.self.fire(peer_object(arg),
                                  node->host->adapted.self.arg);
    return 0;
}

static void
start_own(void *self, struct object *object, uint64_t ttl)
{
    struct sdhost *host = self;
    struct sdnode *node = (void *)object->node;
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t when = (uint64_t)now.tv_sec * 1000000 +
                    (uint64_t)now.tv_nsec / 1000 + ttl / 1000;
    if (node->source != NULL) {
        (void)sd_event_source_set_time(node->source, when);
        (void)sd_event_source_set_enabled(node->source, SD_EVENT_ONESHOT);
        return;
    }
    if (sd_event_add_time(host->event, &node->source, CLOCK_MONOTONIC, when, 1,
                          on_time, node) < 0) {
        host->failed = true;
        return;
    }
    node->host = host;
    node->next = host->first;
    host->first = node;
}

static bool
stop_own(void *self, struct object *object)
{
    struct sdnode *node = (void *)object->node;
    int enabled = 0;

    (void)self;
    if (node->source == NULL ||
        sd_event_source_get_enabled(node->source, &enabled) <= 0) {
        return false;
    }
    (void)sd_event_source_set_enabled(node->source, SD_EVENT_OFF);
    return true;
}

static void
turn(void *self)
{
    (void)sd_event_run(((struct sdhost *)self)->event, 0);
}

static void
serve(void *self)
{
    struct sdhost *host = self;

    for (host->over = false; !host->over;) {
        (void)sd_event_run(host->event, UINT64_MAX);
    }
}

static void
quit(void *self)
{
    ((struct sdhost *)self)->over = true;
}

static const struct host own = {
    .face = {.abi = CONTENDER_ABI,
             .name = "sdevent",
             .title = "sd-event",
             .about = "sd_event_add_time() for each timer, in two heaps; a "
                      "round fires one.",
             .kind = CONTENDER_PEER,
             .flags = CONTENDER_HOST | CONTENDER_EXACT,
             .node = sizeof(struct sdnode),
             .make = make_own,
             .free = free_host,
             .failed = failed,
             .start = start_own,
             .stop = stop_own},
    .adapted = "sdevent+lawn",
    .turn = turn,
    .serve = serve,
    .quit = quit,
};

static const struct host adapted = {
    .face = {ADAPTED_FACE, .name = "sdevent+lawn", .title = "Lawn in sd-event",
             .about = "lawn_sdevent.h.", .make = make_adapted,
             .free = free_host},
    .turn = turn,
    .serve = serve,
    .quit = quit,
};

const struct host *const HOST_PLUGIN[] = {&own, &adapted, NULL};
