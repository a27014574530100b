/* glib.c - a main context of GLib as a host. */
#include "host.h"
#include "kit.h"

#include <glib.h>
#include <lawn_glib.h>

struct glib_host {
    GMainContext *context;
    GSource *watch;
    host_ready_fn *ready;
    void *arg;
    int fd;
    bool stopped;
};

struct glib_watch {
    GSource source;
    struct glib_host *glib;
};

static void *
glib_host_open(void)
{
    struct glib_host *glib = g_new0(struct glib_host, 1);

    glib->context = g_main_context_new();
    return glib;
}

static void
glib_host_close(void *context)
{
    struct glib_host *glib = context;

    g_main_context_unref(glib->context);
    g_free(glib);
}

static struct lawn_loop *
glib_host_attach(void *context, const struct lawn_loop_options *options)
{
    struct glib_host *glib = context;

    return lawn_glib_new(glib->context, options);
}

static void
glib_host_run(void *context)
{
    struct glib_host *glib = context;

    glib->stopped = false;
    while (!glib->stopped) {
        (void)g_main_context_iteration(glib->context, TRUE);
    }
}

static void
glib_host_stop(void *context)
{
    struct glib_host *glib = context;

    glib->stopped = true;
}

static bool
glib_host_poll(void *context)
{
    struct glib_host *glib = context;

    return g_main_context_iteration(glib->context, FALSE);
}

static gboolean
glib_host_dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
    struct glib_host *glib = ((struct glib_watch *)(void *)source)->glib;

    (void)callback;
    (void)data;
    glib->ready(glib->fd, glib->arg);
    return G_SOURCE_CONTINUE;
}

static void
glib_host_watch(void *context, int fd, host_ready_fn *ready, void *arg)
{
    static GSourceFuncs functions = {.dispatch = glib_host_dispatch};
    struct glib_host *glib = context;

    glib->ready = ready;
    glib->arg = arg;
    glib->fd = fd;
    glib->watch = g_source_new(&functions, sizeof(struct glib_watch));
    ((struct glib_watch *)(void *)glib->watch)->glib = glib;
    (void)g_source_add_unix_fd(glib->watch, fd, G_IO_IN);
    (void)g_source_attach(glib->watch, glib->context);
}

static void
glib_host_unwatch(void *context)
{
    struct glib_host *glib = context;

    g_source_destroy(glib->watch);
    g_source_unref(glib->watch);
}

const struct host host = {
    .name = "GLib",
    .grain = 1000000,
    .ends = false,
    .open = glib_host_open,
    .close = glib_host_close,
    .attach = glib_host_attach,
    .detach = lawn_glib_free,
    .free = lawn_glib_free,
    .run = glib_host_run,
    .stop = glib_host_stop,
    .poll = glib_host_poll,
    .watch = glib_host_watch,
    .unwatch = glib_host_unwatch,
};

static void
never(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    (void)timer;
    (void)loop;
    CHECK(false);
}

TEST(the_ready_time_is_rounded_up)
{
    struct glib_host *glib = glib_host_open();
    struct lawn_loop *loop = lawn_glib_new(glib->context, NULL);
    GSource *source = g_main_context_find_source_by_id(glib->context, 1);
    struct lawn_loop_timer timer = {.fire = never};

    CHECK(source != NULL);
    for (unsigned i = 0; i < 100; i++) {
        CHECK(g_source_get_ready_time(source) == -1);
        lawn_loop_start(loop, &timer, 3600 * LAWN_LOOP_SECOND + i);
        CHECK((uint64_t)g_source_get_ready_time(source) * 1000 >=
              lawn_loop_next(loop));
        CHECK(lawn_loop_stop(loop, &timer));
    }
    CHECK(lawn_glib_free(loop));
    glib_host_close(glib);
}

static void
count(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    (void)loop;
    ++*(unsigned *)timer->arg;
}

TEST(a_context_fires_the_timers_of_its_own_loop)
{
    struct glib_host *hosts[2];
    struct lawn_loop *loops[2];
    struct lawn_loop_timer timers[2];
    unsigned fired[2] = {0, 0};

    for (int i = 0; i < 2; i++) {
        hosts[i] = glib_host_open();
        loops[i] = lawn_glib_new(hosts[i]->context, NULL);
        timers[i] = (struct lawn_loop_timer){.fire = count, .arg = &fired[i]};
        lawn_loop_start(loops[i], &timers[i], 0);
    }
    CHECK(glib_host_poll(hosts[1]));
    CHECK_EQ(fired[0], 0);
    CHECK_EQ(fired[1], 1);
    CHECK(!glib_host_poll(hosts[1]));
    CHECK(glib_host_poll(hosts[0]));
    CHECK_EQ(fired[0], 1);
    for (int i = 0; i < 2; i++) {
        CHECK(lawn_glib_free(loops[i]));
        glib_host_close(hosts[i]);
    }
}

TEST(a_context_may_be_freed_before_its_loop)
{
    struct glib_host *glib = glib_host_open();
    struct lawn_loop *loop = lawn_glib_new(glib->context, NULL);
    struct lawn_loop_timer timer = {.fire = never};

    lawn_loop_start(loop, &timer, 0);
    glib_host_close(glib);
    CHECK(lawn_loop_stop(loop, &timer));
    lawn_loop_start(loop, &timer, 0);
    CHECK(lawn_glib_free(loop));
}

static void
quit_main_loop(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    (void)loop;
    g_main_loop_quit(timer->arg);
}

TEST(without_a_context_it_is_the_default_one)
{
    struct lawn_loop *loop = lawn_glib_new(NULL, NULL);
    GMainLoop *main_loop = g_main_loop_new(NULL, FALSE);
    struct lawn_loop_timer timer = {.fire = quit_main_loop, .arg = main_loop};

    lawn_loop_start(loop, &timer, LAWN_LOOP_MS);
    g_main_loop_run(main_loop);
    CHECK(!lawn_loop_pending(&timer));
    g_main_loop_unref(main_loop);
    CHECK(lawn_glib_free(loop));
}
