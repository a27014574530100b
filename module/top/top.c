/* top.c - "lawn top": shows the queues of servers with the module lawn.
 *
 * After each interval, the servers are queried again. The next table is shown
 * when all have replied, or one interval later with the data received so far.
 * Only the first table waits longer, at most --timeout. See top.h for an
 * overview.
 */
#include "top.h"

#include "output.h"
#include "screen.h"
#include "verbs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TOP_NAP 250 /* maximum delay of a signal, in ms */

static volatile sig_atomic_t signaled;

static void
on_signal(int number)
{
    (void)number;
    signaled = 1;
}

/* The first signal ends the display, a second one the process. */
static void
catch_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

static void
read_clock(struct top *top)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    top->now = (uint64_t)time.tv_sec * TOP_SECOND + (uint64_t)time.tv_nsec;
    clock_gettime(CLOCK_REALTIME, &time);
    top->clock_ms =
        (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void
poll_links(struct top *top, struct pollfd *polls, uint64_t until)
{
    size_t count = top->count;
    for (size_t i = 0; i < count; i++) {
        const struct top_node *node = top->nodes[i];
        bool writes =
            node->state == TOP_CONNECTING || node->out.sent < node->out.size;
        polls[i].fd = node->state == TOP_IDLE ? -1 : node->socket;
        polls[i].events = (short)(POLLIN | (writes ? POLLOUT : 0));
        polls[i].revents = 0;
        if (node->state != TOP_IDLE && node->deadline < until) {
            until = node->deadline;
        }
    }
    uint64_t wait = until > top->now ? (until - top->now) / 1000000 + 1 : 0;
    int ready = poll(polls, count, wait > TOP_NAP ? TOP_NAP : (int)wait);
    read_clock(top);
    for (size_t i = 0; i < count; i++) {
        struct top_node *node = top->nodes[i];
        if (ready > 0 && polls[i].revents != 0) {
            top_conversation_continue(top, node, polls[i].revents);
        }
        if (node->state != TOP_IDLE && node->deadline <= top->now) {
            top_conversation_fail(node, "no answer within %g s; see --timeout",
                                  (double)top->options->timeout_ns / 1e9);
        }
    }
}

static bool
is_idle(const struct top *top)
{
    for (size_t i = 0; i < top->count; i++) {
        if (top->nodes[i]->state != TOP_IDLE) {
            return false;
        }
    }
    return true;
}

/* Communicates with the servers until the time `until`. With `all`, returns
 * earlier if all rounds are complete. Returns false after a signal. */
static bool
talk(struct top *top, struct pollfd *polls, uint64_t until, bool all)
{
    while (top->now < until && !signaled && !(all && is_idle(top))) {
        poll_links(top, polls, until);
    }
    return !signaled;
}

static size_t
count_answers(const struct top *top)
{
    size_t answered = 0;
    for (size_t i = 0; i < top->count; i++) {
        answered += top->nodes[i]->answered;
    }
    return answered;
}

static void
complain(const struct top *top)
{
    for (size_t i = 0; i < top->count; i++) {
        const struct top_node *node = top->nodes[i];
        if (!node->answered) {
            fprintf(stderr, "lawn top: %s: %s\n", node->name, node->error);
        } else if (node->refused > 0) {
            fprintf(stderr, "lawn top: %s: %zu queues are not shown: %s\n",
                    node->name, node->refused, node->refusal);
        }
    }
}

static bool
draw(const struct top *top)
{
    struct screen_size size = screen_measure();
    screen_begin();
    bool good =
        top_table_write(top, size.columns > 20 ? size.columns : 20, size.rows);
    screen_end();
    return good;
}

static bool
show(struct top *top, bool screen)
{
    top_nodes_sweep(top);
    bool good = top_rows_make(top);
    if (good && top->options->prometheus) {
        top_export_prometheus(top);
    } else if (good && top->options->json) {
        top_export_json(top);
    } else if (good && screen) {
        good = draw(top);
    } else if (good) {
        good = top_table_write(top, 0, 0);
    }
    if (!good) {
        fputs("lawn top: out of memory\n", stderr);
    }
    return good;
}

/* Runs the first round, which shows whether there is anything to display. */
static int
begin_round(struct top *top, struct pollfd *polls)
{
    for (size_t i = 0; i < top->count; i++) {
        top_conversation_begin(top, top->nodes[i]);
    }
    if (!talk(top, polls, UINT64_MAX, true)) {
        return VERBS_OK;
    }
    if (!top->options->once && count_answers(top) > 0) {
        return VERBS_OK;
    }
    complain(top);
    return count_answers(top) < top->count ? VERBS_INPUT : VERBS_OK;
}

static int
watch(struct top *top, struct pollfd *polls, bool screen)
{
    uint64_t begin = top->now;
    for (;;) {
        if (screen) {
            screen_wait();
        }
        if (!show(top, screen)) {
            return VERBS_FAILED;
        }
        if (!screen && !top->options->json) {
            putchar('\n');
        }
        if (!output_flush()) {
            return VERBS_OUTPUT;
        }
        if (!talk(top, polls, begin + top->options->every_ns, false)) {
            return VERBS_OK;
        }
        begin = top->now;
        for (size_t i = top->count; i-- > 0;) {
            if (top->nodes[i]->state == TOP_IDLE) {
                top_conversation_begin(top, top->nodes[i]);
            }
        }
        if (!talk(top, polls, begin + top->options->every_ns, true)) {
            return VERBS_OK;
        }
    }
}

static int
run_view(struct top *top)
{
    bool screen =
        !top->options->once && !top->options->json && screen_possible();
    struct pollfd *polls = calloc(TOP_NODES, sizeof(*polls));
    if (polls == NULL) {
        fputs("lawn top: out of memory\n", stderr);
        return VERBS_FAILED;
    }
    catch_signals();
    int code = begin_round(top, polls);
    if (top->options->once) {
        bool tells =
            !signaled && (code == VERBS_OK || top->options->json ||
                          top->options->prometheus || count_answers(top) > 0);
        if (tells && !show(top, false)) {
            code = VERBS_FAILED;
        }
    } else if (code == VERBS_OK && !signaled) {
        if (screen) {
            screen_open();
        }
        code = watch(top, polls, screen);
        if (screen) {
            screen_close();
        }
    }
    free(polls);
    return code;
}

static bool
add_url(struct top *top, char *text)
{
    struct top_url url;
    const char *wrong = top_url_read(&url, text);
    if (wrong == NULL && top_nodes_add(top, &url) != NULL) {
        return true;
    }
    top_url_hide(text);
    fprintf(stderr, "lawn top: invalid server URL '%s': %s\n", text,
            wrong != NULL ? wrong : "out of memory");
    if (wrong != NULL) {
        top_url_fini(&url);
    }
    return false;
}

static int
run_top(const struct options_verb *verb, int argc, char **argv)
{
    static char usual[] = "redis://";
    struct top_options options;
    struct top top = {.options = &options};
    int code = VERBS_FAILED;
    if (!options_read(verb, argc, argv, &options, &code)) {
        return code;
    }
    options.once = options.once || options.prometheus;
    if (options.json && options.prometheus) {
        fputs("lawn top: --json and --prometheus cannot be combined\n", stderr);
        return VERBS_USAGE;
    }
    bool good = options.urls.count > 0 || add_url(&top, usual);
    for (size_t i = 0; good && i < options.urls.count; i++) {
        good = add_url(&top, options.urls.words[i]);
    }
    code = VERBS_USAGE;
    if (good && top.count > TOP_NODES) {
        fprintf(stderr,
                "lawn top: too many servers, at most %d are supported\n",
                TOP_NODES);
        good = false;
    }
    if (good) {
        read_clock(&top);
        code = run_view(&top);
    }
    top_nodes_fini(&top);
    free(top.rows);
    return code;
}

static const struct options_spec top_specs[] = {
    {
        .name = "every",
        .value = "SECONDS",
        .initial = "1",
        .help = "interval between two queries of each server",
        .accepts = "a time from 0.05 to 86400 seconds, such as 5, 0.5 or 2m",
        .parse = options_seconds,
        .min = TOP_SECOND / 20,
        .max = TOP_SECOND * 86400,
        .offset = offsetof(struct top_options, every_ns),
    },
    {
        .name = "sort",
        .value = "COLUMN",
        .initial = "len",
        .help = "sort queues by this column",
        .parse = options_word,
        .words = top_sorts,
        .offset = offsetof(struct top_options, sort),
    },
    {
        .name = "keys",
        .value = "N",
        .initial = "100",
        .help = "show at most this number of queues",
        .accepts = "a count from 1 to 100000",
        .parse = options_count,
        .min = 1,
        .max = 100000,
        .offset = offsetof(struct top_options, keys),
    },
    {
        .name = "once",
        .help = "print one table and exit",
        .parse = options_flag,
        .offset = offsetof(struct top_options, once),
    },
    {
        .name = "json",
        .help = "print a JSON object per interval instead of a table",
        .parse = options_flag,
        .offset = offsetof(struct top_options, json),
    },
    {
        .name = "prometheus",
        .help = "print the metrics once, in the Prometheus text format",
        .parse = options_flag,
        .offset = offsetof(struct top_options, prometheus),
    },
    {
        .name = "timeout",
        .value = "SECONDS",
        .initial = "5",
        .help = "report a server as down after this time without a reply",
        .accepts = "a time from 0.05 to 3600 seconds, such as 5, 0.5 or 2m",
        .parse = options_seconds,
        .min = TOP_SECOND / 20,
        .max = TOP_SECOND * 3600,
        .offset = offsetof(struct top_options, timeout_ns),
    },
    {.name = NULL},
};

const struct options_verb top_verb = {
    .name = "top",
    .summary = "watch the queues of Redis and Valkey servers with lawn.so",
    .details =
        "Shows the queues of servers that have loaded the module lawn.so: the\n"
        "number of waiting, due and leased events; the number pushed, fired\n"
        "and acknowledged per second; and how late events are. For a\n"
        "cluster, the URL of one node is enough. On a terminal the table is\n"
        "redrawn; otherwise each interval prints a table. Ctrl-C ends it.\n"
        "\n"
        "A URL is redis://[user[:password]@]host[:port][/db] or host:port,\n"
        "by default redis://127.0.0.1:6379; for a Unix socket, unix:///path\n"
        "or a path. Prefer the environment variable LAWN_PASSWORD for the\n"
        "password.\n",
    .example = "lawn top --once --sort due redis://127.0.0.1:6379",
    .specs = top_specs,
    .operands = "[URL]...",
    .operands_offset = offsetof(struct top_options, urls),
    .run = run_top,
};
