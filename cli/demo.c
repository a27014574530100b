/* demo.c - "lawn demo": the timers of a busy server on the real clock.
 *
 * A simulated server has many connections with one timer each. They arrive over
 * the first second, or over the first tenth of a short run. Three in four send
 * packets at random times: each packet restarts the connection's timer, except
 * that one packet in eight is the last one and stops it. A stopped connection
 * is replaced a little later. One connection in four stays silent until its
 * timer fires. A connection whose timer fires is started again.
 *
 * One thread does all the work and never sleeps: it reads the clock, mows, and
 * sends a batch of packets. A timer is therefore late by about one batch. The
 * printed rates are those of one core with objects spread over memory.
 *
 * Each connection also stores its deadline independently of the lawn. The lawn
 * is checked against these deadlines only: a timer that fires before its stored
 * deadline is early; one that should be running but is not, or that should have
 * fired but did not, is lost.
 */
#include "demo.h"
#include "options.h"
#include "output.h"
#include "screen.h"
#include "text.h"
#include "tool.h"
#include "verbs.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEMO_BATCH 64        /* packets between two readings of the clock */
#define DEMO_BUDGET 256      /* timers fired between two readings */
#define DEMO_REPLACE_MAX 256 /* connections stopped and not yet replaced */

/* One cache line, as if the server stored more data in it. */
struct demo_connection {
    struct lawn_timer timer;
    uint64_t due; /* our own copy of the deadline; LAWN_NEVER when stopped */
    size_t ttl;   /* index */
    unsigned char rest[24];
};

/* connections[0 .. arrived) are in use. There are slightly more connections
 * than running timers: those stopped last are in stopped[], the oldest at
 * [turn]. Places not used yet are NULL. */
struct demo_server {
    struct demo demo;
    struct demo_connection *connections;
    uint64_t places;
    uint64_t arrived;
    uint64_t random;
    struct demo_connection *stopped[DEMO_REPLACE_MAX];
    size_t stopped_size;
    size_t turn;
};

enum demo_view {
    DEMO_QUIET,
    DEMO_LINES,
    DEMO_DRAWING,
};

static volatile sig_atomic_t demo_signalled;

static void
on_signal(int number)
{
    (void)number;
    demo_signalled = 1;
}

/* The first signal ends the run; a second one ends the process. */
static void
catch_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static uint64_t
read_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * DEMO_SECOND + (uint64_t)time.tv_nsec;
}

/* splitmix64 */
static uint64_t
next_random(struct demo_server *server)
{
    uint64_t z = server->random += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* Returns a number below end, which is at most 2^32, from the upper half of
 * random. */
static uint64_t
scale_below(uint64_t end, uint64_t random)
{
    return ((random >> 32) * end) >> 32;
}

uint64_t
demo_operations(const struct demo_counts *counts)
{
    return counts->starts + counts->restarts + counts->stops + counts->fires;
}

uint64_t
demo_running(const struct demo *demo)
{
    return demo->counts.starts - demo->counts.stops - demo->counts.fires;
}

const struct demo_counts *
demo_past(const struct demo *demo, uint64_t back)
{
    const uint64_t size = sizeof(demo->frames) / sizeof(demo->frames[0]);
    if (back > demo->frame) {
        back = demo->frame;
    }
    return &demo->frames[(demo->frame - back) % size];
}

double
demo_rate(const struct demo *demo, const struct demo_counts *past,
          uint64_t now_value, uint64_t past_value)
{
    double seconds = (double)(demo->now - past->at) / (double)DEMO_SECOND;
    return seconds > 0 ? (double)(now_value - past_value) / seconds : 0;
}

/* Starts or restarts a connection's timer, and stores its deadline. */
static void
start_timer(struct demo *demo, struct demo_connection *connection)
{
    uint64_t ttl = demo->options->ttls.ns[connection->ttl];
    connection->due = demo->now + ttl;
    lawn_start(demo->lawn, &connection->timer, ttl);
}

/* Starts a new connection with a random TTL. */
static void
open_connection(struct demo_server *server, struct demo_connection *connection)
{
    struct demo *demo = &server->demo;
    connection->ttl =
        (size_t)scale_below(demo->options->ttls.count, next_random(server));
    start_timer(demo, connection);
    demo->counts.starts++;
    demo->counts.standing[connection->ttl]++;
}

static void
add_arrivals(struct demo_server *server)
{
    struct demo_connection *connection =
        &server->connections[server->arrived++];
    memset(connection, 0, sizeof(*connection));
    open_connection(server, connection);
}

/* Stops a connection, and replaces one that was stopped earlier. */
static void
close_connection(struct demo_server *server, struct demo_connection *connection)
{
    struct demo *demo = &server->demo;
    if (!lawn_stop(demo->lawn, &connection->timer)) {
        demo->lost++;
    }
    connection->due = LAWN_NEVER;
    demo->counts.stops++;
    demo->counts.standing[connection->ttl]--;
    if (server->stopped_size > 0) {
        struct demo_connection *oldest = server->stopped[server->turn];
        server->stopped[server->turn] = connection;
        server->turn = (server->turn + 1) % server->stopped_size;
        connection = oldest;
    }
    if (connection != NULL) {
        open_connection(server, connection);
    }
}

/* Sends packets on random connections; silent ones send nothing. */
static void
send_packets(struct demo_server *server)
{
    struct demo *demo = &server->demo;
    uint64_t random = next_random(server);
    uint64_t who = scale_below(server->arrived, random);
    struct demo_connection *connection = &server->connections[who];
    if (who % 4 == 0 || connection->due == LAWN_NEVER) {
        return;
    }
    if (random % 8 == 0) {
        close_connection(server, connection);
    } else {
        start_timer(demo, connection);
        demo->counts.restarts++;
    }
}

/* A stopped timer has the deadline LAWN_NEVER, so if it fires it counts as
 * early. */
static void
on_fire(struct lawn_timer *timer, void *arg)
{
    struct demo *demo = arg;
    struct demo_connection *connection =
        LAWN_CONTAINER(timer, struct demo_connection, timer);
    if (demo->now < connection->due) {
        demo->early++;
    } else {
        lawn_histogram_add(&demo->lateness, demo->now - connection->due);
    }
    demo->counts.fires++;
    demo->counts.fires_of[connection->ttl]++;
    start_timer(demo, connection);
    demo->counts.starts++;
}

/* Returns the number of connections that should have arrived by now. */
static uint64_t
count_wanted(const struct demo_server *server)
{
    const struct demo *demo = &server->demo;
    uint64_t passed = demo->now - demo->begin;
    uint64_t arrival = demo->options->run_ns / 10;
    if (arrival > DEMO_SECOND) {
        arrival = DEMO_SECOND;
    }
    if (passed >= arrival) {
        return server->places;
    }
    return (uint64_t)((double)server->places * (double)passed /
                      (double)arrival);
}

static void
run_batch(struct demo_server *server)
{
    uint64_t wanted = server->arrived;
    if (wanted < server->places) {
        wanted = count_wanted(server);
    }
    for (int i = 0; i < DEMO_BATCH; i++) {
        if (server->arrived < wanted) {
            add_arrivals(server);
        } else if (server->arrived > 0) {
            send_packets(server);
        }
    }
}

/* Returns false if the output cannot be written. */
static bool
show_frame(struct demo *demo, enum demo_view view)
{
    demo->counts.at = demo->now;
    if (view == DEMO_DRAWING) {
        demo_draw_frame(demo);
    } else if (view == DEMO_LINES) {
        demo_report_line(demo, demo->options->json ? stderr : stdout);
    }
    demo->frame++;
    demo->frames[demo->frame % (sizeof(demo->frames) /
                                sizeof(demo->frames[0]))] = demo->counts;
    return output_flush();
}

static void
run_server(struct demo_server *server, enum demo_view view)
{
    struct demo *demo = &server->demo;
    uint64_t end = demo->begin + demo->options->run_ns;
    uint64_t core_begin = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t interval = DEMO_SECOND;
    if (view == DEMO_DRAWING) {
        interval /= DEMO_FRAMES_PER_SECOND;
    }
    uint64_t show_at = demo->begin + interval;
    bool writable = true;
    do {
        run_batch(server);
        demo->now = read_clock(CLOCK_MONOTONIC);
        lawn_mow(demo->lawn, demo->now, DEMO_BUDGET, on_fire, demo);
        if (demo->now >= show_at) {
            writable = show_frame(demo, view);
            while (show_at <= demo->now) {
                show_at += interval;
            }
        }
    } while (demo->now < end && !demo_signalled && writable);
    demo->core_ns = read_clock(CLOCK_PROCESS_CPUTIME_ID) - core_begin;
    demo->interrupted = demo_signalled != 0;
}

/* Fires the due timers, and then compares the stored deadline of each
 * connection with the lawn. Counts the differences in demo->lost. */
static void
count_lost_timers(struct demo_server *server)
{
    struct demo *demo = &server->demo;
    uint64_t running = 0;
    lawn_mow(demo->lawn, demo->now, SIZE_MAX, on_fire, demo);
    demo->counts.at = demo->now;
    for (uint64_t i = 0; i < server->arrived; i++) {
        const struct demo_connection *connection = &server->connections[i];
        running += connection->due != LAWN_NEVER;
        if (connection->due <= demo->now ||
            connection->due != lawn_deadline(&connection->timer) ||
            lawn_pending(&connection->timer) !=
                (connection->due != LAWN_NEVER)) {
            demo->lost++;
        }
    }
    uint64_t count = lawn_count(demo->lawn);
    demo->lost += count > running ? count - running : running - count;
}

static enum demo_view
choose_view(const struct demo_options *options)
{
    if (options->json) {
        return isatty(STDERR_FILENO) ? DEMO_LINES : DEMO_QUIET;
    }
    return demo_draw_possible() ? DEMO_DRAWING : DEMO_LINES;
}

static int
print_report(const struct demo *demo)
{
    if (demo->options->json) {
        demo_report_json(demo, stdout);
    } else {
        demo_report_summary(demo, stdout);
    }
    if (demo->early == 0 && demo->lost == 0) {
        return VERBS_OK;
    }
    fputs("lawn demo: check failed: timers fired early or were lost; please "
          "report this bug\n",
          stderr);
    return VERBS_FAILED;
}

static int
serve_demo(struct demo_server *server)
{
    struct demo *demo = &server->demo;
    enum demo_view view = choose_view(demo->options);
    catch_signals();
    if (view == DEMO_DRAWING) {
        demo_draw_open();
    } else if (view == DEMO_LINES && !demo->options->json) {
        demo_report_begin(demo, stdout);
    }
    if (!output_flush()) {
        return VERBS_OUTPUT;
    }
    run_server(server, view);
    if (view == DEMO_DRAWING) {
        screen_close();
    }
    count_lost_timers(server);
    return print_report(demo);
}

static bool
allocate_demo(struct demo_server *server)
{
    struct demo *demo = &server->demo;
    struct lawn_options lawn_options = {.now = demo->now};
    if (server->places > SIZE_MAX / sizeof(*server->connections)) {
        return false;
    }
    server->connections =
        aligned_alloc(sizeof(*server->connections),
                      (size_t)server->places * sizeof(*server->connections));
    demo->lawn = lawn_new(&lawn_options);
    return server->connections != NULL && demo->lawn != NULL;
}

static int
run_demo(const struct options_verb *verb, int argc, char **argv)
{
    struct demo_options options;
    int code = VERBS_FAILED;
    if (!options_read(verb, argc, argv, &options, &code)) {
        return code;
    }
    struct demo_server server;
    memset(&server, 0, sizeof(server));
    server.demo.options = &options;
    server.demo.now = read_clock(CLOCK_MONOTONIC);
    server.demo.begin = server.demo.now;
    server.demo.frames[0].at = server.demo.now;
    server.random = options.seed;
    server.stopped_size = DEMO_REPLACE_MAX;
    if (options.timers / 64 < DEMO_REPLACE_MAX) {
        server.stopped_size = (size_t)options.timers / 64;
    }
    server.places = options.timers + server.stopped_size;
    if (allocate_demo(&server)) {
        code = serve_demo(&server);
    } else {
        fprintf(stderr,
                "lawn demo: out of memory for %s timers of %zu bytes each, "
                "including their connections; use fewer: --timers\n",
                text_count(options.timers).s, sizeof(struct demo_connection));
    }
    lawn_free(server.demo.lawn);
    free(server.connections);
    return code;
}

/* Parses comma-separated durations into a struct demo_ttls. */
static bool
parse_ttls(const struct options_spec *spec, const char *text, void *out)
{
    struct demo_ttls *ttls = out;
    ttls->count = 0;
    for (;; text++) {
        uint64_t ns = 0;
        if (ttls->count == DEMO_TTLS_MAX || !options_duration(&text, &ns) ||
            ns < spec->min || ns > spec->max) {
            return false;
        }
        ttls->ns[ttls->count++] = ns;
        if (*text != ',') {
            return *text == '\0';
        }
    }
}

static const struct options_spec demo_specs[] = {
    {
        .name = "timers",
        .value = "N",
        .initial = "1M",
        .help = "number of timers",
        .accepts = "a count from 1 to 4G, such as 5000, 250k, 1M or 1e6",
        .parse = options_count,
        .min = 1,
        .max = 4000000000,
        .offset = offsetof(struct demo_options, timers),
    },
    {
        .name = "seconds",
        .value = "S",
        .initial = "10",
        .help = "how long to run",
        .accepts = "a time from 0.01 to 86400 seconds, such as 10, 0.5 or 2m",
        .parse = options_seconds,
        .min = DEMO_SECOND / 100,
        .max = DEMO_SECOND * 86400,
        .offset = offsetof(struct demo_options, run_ns),
    },
    {
        .name = "ttls",
        .value = "LIST",
        .initial = "100ms,250ms,500ms,1s,2s,5s,10s,30s",
        .help = "TTLs of the timers",
        .accepts = "a list of 1 to 64 durations from 1us to 36500d, such as "
                   "250ms,5s,1h30m",
        .parse = parse_ttls,
        .min = 1000,
        .max = DEMO_SECOND * 86400 * 36500,
        .offset = offsetof(struct demo_options, ttls),
    },
    {
        .name = "seed",
        .value = "N",
        .initial = "1",
        .help = "seed of the random traffic",
        .accepts = "a whole number from 0 to 18446744073709551615",
        .parse = options_number,
        .max = UINT64_MAX,
        .offset = offsetof(struct demo_options, seed),
    },
    {
        .name = "json",
        .help = "print only the summary, as a JSON object",
        .parse = options_flag,
        .offset = offsetof(struct demo_options, json),
    },
    {.name = NULL},
};

const struct options_verb demo_verb = {
    .name = "demo",
    .summary = "run a million timers on the real clock and draw them",
    .details =
        "Simulates the timers of a busy server on the real clock, as "
        "fast as one\n"
        "core allows, and checks that no timer fires early or is lost. "
        "Draws the\n"
        "timers if standard output is a large enough terminal; otherwise "
        "prints one line\n"
        "per second. "
        "Prints a summary at the end. Ctrl-C ends the run early.\n",
    .example = "lawn demo --timers 250k --seconds 5 --ttls 250ms,5s,1h30m",
    .specs = demo_specs,
    .run = run_demo,
};
