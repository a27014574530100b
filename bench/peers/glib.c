/* glib.c - GLib's sources with a ready time; each iteration of the main loop
 * examines all of them. */
#include "peer.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

/* GLib counts microseconds. */
#define TICKS_PER_SECOND 1000000u

#define NOT_RUNNING (-1)

/* Created at the first start of its object, and kept. */
struct source {
    GSource base;
    struct object *object;
    struct source *next; /* of all */
};

struct node {
    struct source *source;
};

struct peer {
    GMainContext *context;
    struct source *sources;
    uint64_t origin; /* GLib's time 0 */
    uint64_t now;
    contender_fire_fn *fire;
    void *arg;
    size_t fired;
};

/* The peer whose mow is running. */
static struct peer *mowing;

static const char *
peer_version(void)
{
    static char text[32];

    (void)snprintf(text, sizeof(text), "%u.%u.%u", glib_major_version,
                   glib_minor_version, glib_micro_version);
    return text;
}

static ssize_t
no_write(int fd, const void *bytes, size_t count)
{
    (void)fd;
    (void)bytes;
    return (ssize_t)count;
}

/* Also replaces write(): otherwise each change of a ready time would wake the
 * loop through a file. */
static const char *
peer_unusable(void)
{
    static const struct peer_patch wake[] = {{"write", (peer_fn *)no_write}};

    (void)peer_apply("libglib-2.0.so", wake, 1);
    return peer_take_clock("libglib-2.0.so");
}

static void
set_now(struct peer *peer, uint64_t now)
{
    peer->now = now;
    peer_set_clock(now - peer->origin, TICKS_PER_SECOND);
}

static void *
peer_make(const struct contender_setup *setup)
{
    struct peer *peer = calloc(1, sizeof(*peer));

    if (peer == NULL) {
        return NULL;
    }
    peer->origin = setup->now;
    set_now(peer, setup->now);
    peer->context = g_main_context_new();
    return peer;
}

static void
peer_free(void *self)
{
    struct peer *peer = self;

    for (struct source *source = peer->sources; source != NULL;) {
        struct source *next = source->next;

        g_source_destroy(&source->base);
        g_source_unref(&source->base);
        source = next;
    }
    g_main_context_unref(peer->context);
    free(peer);
}

/* A source that was found ready is dispatched even if it was stopped or
 * restarted since. */
static gboolean
on_source(GSource *base, GSourceFunc function, void *arg)
{
    struct source *source = (void *)base;
    gint64 ready = g_source_get_ready_time(base);

    (void)function;
    (void)arg;
    if (ready == NOT_RUNNING ||
        (uint64_t)ready > mowing->now - mowing->origin) {
        return G_SOURCE_CONTINUE;
    }
    g_source_set_ready_time(base, NOT_RUNNING);
    mowing->fired++;
    mowing->fire(source->object, mowing->arg);
    return G_SOURCE_CONTINUE;
}

static struct source *
source_new(struct peer *peer, struct object *object)
{
    static GSourceFuncs functions = {.dispatch = on_source};
    struct source *source = (void *)g_source_new(&functions, sizeof(*source));

    source->object = object;
    source->next = peer->sources;
    peer->sources = source;
    (void)g_source_attach(&source->base, peer->context);
    return source;
}

static void
peer_start(void *self, struct object *object, uint64_t ttl)
{
    struct peer *peer = self;
    struct node *node = (void *)object->node;

    if (node->source == NULL) {
        node->source = source_new(peer, object);
    }
    g_source_set_ready_time(&node->source->base,
                            (gint64)(peer->now - peer->origin + ttl));
}

static bool
peer_stop(void *self, struct object *object)
{
    struct node *node = (void *)object->node;

    (void)self;
    if (node->source == NULL ||
        g_source_get_ready_time(&node->source->base) == NOT_RUNNING) {
        return false;
    }
    g_source_set_ready_time(&node->source->base, NOT_RUNNING);
    return true;
}

static size_t
peer_mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire,
         void *arg)
{
    struct peer *peer = self;

    (void)budget;
    set_now(peer, now);
    peer->fire = fire;
    peer->arg = arg;
    peer->fired = 0;
    mowing = peer;
    (void)g_main_context_iteration(peer->context, FALSE);
    return peer->fired;
}

const struct contender CONTENDER_PLUGIN = {
    .abi = CONTENDER_ABI,
    .name = "glib",
    .title = "GLib",
    .about = "GLib's sources with a ready time: start and stop O(1), each mow "
             "O(n). A mow is g_main_context_iteration(). Its calls of the "
             "clock and of poll are replaced by functions that return at "
             "once; so is the write by which each start and stop wakes the "
             "loop.",
    .kind = CONTENDER_PEER,
    .flags = CONTENDER_EXACT,
    .node = sizeof(struct node),
    .version = peer_version,
    .unusable = peer_unusable,
    .make = peer_make,
    .free = peer_free,
    .start = peer_start,
    .stop = peer_stop,
    .mow = peer_mow,
};
