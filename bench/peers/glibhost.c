/* glibhost.c - unmodified GLib: with a GSource for each timer, and with
 * lawn's. */
#include "peer.h"

#include "../hosts/adapted.h"

#include <glib.h>
#include <lawn_glib.h>
#include <stdio.h>

struct glibhost {
    struct adapted adapted;
    GMainContext *context;
    bool over;
    GPtrArray *sources; /* to be freed */
};

struct source {
    GSource source;
    struct glibhost *host;
    struct object *object;
};

static const char *
version(void)
{
    static char text[32];

    (void)snprintf(text, sizeof(text), "%u.%u.%u", glib_major_version,
                   glib_minor_version, glib_micro_version);
    return text;
}

static const char *
unusable(void)
{
    return peer_take_clock("libglib-2.0.so");
}

static void *
make_own(const struct contender_setup *setup)
{
    struct glibhost *host = g_new0(struct glibhost, 1);

    (void)setup;
    peer_give_clock("libglib-2.0.so");
    host->context = g_main_context_new();
    host->sources = g_ptr_array_new();
    return host;
}

/* The context is freed first, since removing sources from it one by one is
 * slow. */
static void
free_host(void *self)
{
    struct glibhost *host = self;

    g_main_context_unref(host->context);
    lawn_glib_free(host->adapted.loop);
    for (guint i = 0; i < host->sources->len; i++) {
        g_source_unref(host->sources->pdata[i]);
    }
    (void)g_ptr_array_free(host->sources, TRUE);
    g_free(host);
    (void)peer_take_clock("libglib-2.0.so");
}

static void *
make_adapted(const struct contender_setup *setup)
{
    struct glibhost *host = make_own(setup);

    host->adapted.loop = lawn_glib_new(host->context, NULL);
    return adapted_made(host, free_host);
}

static gboolean
dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
    const struct source *timer = (void *)source;

    (void)callback;
    (void)data;
    g_source_set_ready_time(source, -1);
    timer->host->adapted.self.fire(timer->object,
                                   timer->host->adapted.self.arg);
    return G_SOURCE_CONTINUE;
}

/* The node points to its source, which the first start creates. */
static void
start_own(void *self, struct object *object, uint64_t ttl)
{
    static GSourceFuncs functions = {.dispatch = dispatch};
    struct glibhost *host = self;
    GSource **node = (void *)object->node;

    if (*node == NULL) {
        *node = g_source_new(&functions, sizeof(struct source));
        ((struct source *)(void *)*node)->host = host;
        ((struct source *)(void *)*node)->object = object;
        (void)g_source_attach(*node, host->context);
        g_ptr_array_add(host->sources, *node);
    }
    g_source_set_ready_time(*node,
                            g_get_monotonic_time() + (gint64)(ttl / 1000));
}

static bool
stop_own(void *self, struct object *object)
{
    GSource **node = (void *)object->node;

    (void)self;
    if (*node == NULL || g_source_get_ready_time(*node) < 0) {
        return false;
    }
    g_source_set_ready_time(*node, -1);
    return true;
}

static void
turn(void *self)
{
    (void)g_main_context_iteration(((struct glibhost *)self)->context, FALSE);
}

static void
serve(void *self)
{
    struct glibhost *host = self;

    for (host->over = false; !host->over;) {
        (void)g_main_context_iteration(host->context, TRUE);
    }
}

static void
quit(void *self)
{
    ((struct glibhost *)self)->over = true;
}

static const struct host own = {
    .face = {.abi = CONTENDER_ABI,
             .name = "glib",
             .title = "GLib",
             .about = "A GSource for each timer, created by its first start "
                      "and set by g_source_set_ready_time(); each round looks "
                      "at all.",
             .kind = CONTENDER_PEER,
             .flags = CONTENDER_HOST | CONTENDER_EXACT,
             .node = sizeof(GSource *),
             .version = version,
             .unusable = unusable,
             .make = make_own,
             .free = free_host,
             .start = start_own,
             .stop = stop_own},
    .adapted = "glib+lawn",
    .turn = turn,
    .serve = serve,
    .quit = quit,
};

static const struct host adapted = {
    .face = {ADAPTED_FACE, .name = "glib+lawn", .title = "Lawn in GLib",
             .about = "lawn_glib.h.", .version = version, .unusable = unusable,
             .make = make_adapted, .free = free_host},
    .turn = turn,
    .serve = serve,
    .quit = quit,
};

const struct host *const HOST_PLUGIN[] = {&own, &adapted, NULL};
