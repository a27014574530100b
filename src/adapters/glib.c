/* glib.c - wakes a loop by the ready time of a GSource. */
#include <lawn_glib.h>

#include <glib.h>

struct lawn_glib {
    GSource source; /* first: GLib allocates and frees the struct */
    struct lawn_loop *loop;
};

/* GLib would dispatch again at once if the ready time were not reset. */
static gboolean
dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
    struct lawn_glib *host = (struct lawn_glib *)(void *)source;

    (void)callback;
    (void)data;
    g_source_set_ready_time(source, -1);
    (void)lawn_loop_woken(host->loop);
    return G_SOURCE_CONTINUE;
}

/* GLib counts in microseconds and truncates. Rounding the wait up, plus one
 * microsecond, prevents waking too early. */
static void
arm(struct lawn_loop *loop, uint64_t when, void *context)
{
    struct lawn_glib *host = context;
    uint64_t now = lawn_loop_update(loop);
    uint64_t wait = when > now ? (when - now - 1) / 1000 + 2 : 0;

    g_source_set_ready_time(
        &host->source,
        when == LAWN_NEVER ? -1 : g_get_monotonic_time() + (gint64)wait);
}

struct lawn_loop *
lawn_glib_new(struct _GMainContext *context,
              const struct lawn_loop_options *options)
{
    static GSourceFuncs functions = {.dispatch = dispatch};
    struct lawn_loop_options o =
        options != NULL ? *options : (struct lawn_loop_options){.arm = NULL};
    struct lawn_glib *host =
        (struct lawn_glib *)(void *)g_source_new(&functions, sizeof(*host));

    o.arm = arm;
    o.arm_context = host;
    struct lawn_loop *loop = host->loop = lawn_loop_new(&o);
    if (loop == NULL) {
        g_source_unref(&host->source);
        return NULL;
    }
    g_source_set_name(&host->source, "lawn");
    (void)g_source_attach(&host->source, context);
    return loop;
}

bool
lawn_glib_free(struct lawn_loop *loop)
{
    if (loop == NULL) {
        return true;
    }
    struct lawn_glib *host = lawn_loop_arm_context(loop);
    if (!lawn_loop_free(loop)) {
        return false;
    }
    g_source_destroy(&host->source);
    g_source_unref(&host->source);
    return true;
}
