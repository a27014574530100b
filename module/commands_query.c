/* commands_query.c - GET, NEXT, LEN, SCAN and INFO: read-only commands.
 *
 * They change nothing that is saved or replicated, so they run on replicas,
 * too.
 *
 * GET and SCAN compute the state of each event. LEN and INFO use counts. Before
 * that, they promote events that have become due: at most COMMANDS_PROMOTE_MAX
 * per call, so that no call takes long. Further events are counted in their
 * previous state.
 */
#include "commands.h"

#include "glob.h"
#include "memory.h"

#include <stdio.h>

static const char *
state_name(const struct queue_event *event, uint64_t now)
{
    static const char *const names[] = {[QUEUE_WAITING] = "waiting",
                                        [QUEUE_DUE] = "due",
                                        [QUEUE_LEASED] = "leased",
                                        [QUEUE_DEAD] = "dead"};

    return names[queue_state_at(event, now)];
}

void
commands_get(struct call *call)
{
    struct host *host = call->host;
    bool meta = false;
    const char *error =
        args_parse_with_meta(call->args + 3, call->count - 3, &meta);

    if (error != NULL) {
        host_error(host, error);
        return;
    }
    struct queue_event event;
    if (call->queue == NULL || !queue_get(call->queue, call->args[2], &event)) {
        host_null(host);
        return;
    }
    if (!meta) {
        host_bytes(host, event.payload);
        return;
    }
    host_map(host, 7 + COMMANDS_REPEAT);
    host_bytes(host, bytes_of("payload"));
    host_bytes(host, event.payload);
    commands_reply_number(host, "due", event.due);
    host_bytes(host, bytes_of("state"));
    host_bytes(host, bytes_of(state_name(&event, call->now)));
    commands_reply_repeat(host, &event.repeat);
    commands_reply_number(host, "tries", event.tries.made);
    commands_reply_number(host, "max-tries", event.tries.most);
    /* The token is not shown: with it, another client could acknowledge the
     * event. */
    commands_reply_number(host, "lease-end",
                          event.lease.token != 0 ? event.lease.end : 0);
    host_bytes(host, bytes_of("owner"));
    host_bytes(host, event.lease.token != 0 ? event.lease.owner : bytes_of(""));
}

void
commands_next(struct call *call)
{
    if (call->queue == NULL) {
        host_null(call->host);
        return;
    }
    /* Dead events do not count as the next one. */
    (void)commands_promote_due(call);
    uint64_t next = queue_next(call->queue);
    if (next == LAWN_NEVER) {
        host_integer(call->host, -1);
    } else {
        host_integer(call->host,
                     next > call->now ? (int64_t)(next - call->now) : 0);
    }
}

static uint64_t
count_in_state(struct call *call, enum args_state state)
{
    uint64_t count = queue_count(call->queue);

    if (state == ARGS_ANY) {
        return count;
    }
    uint64_t due = commands_promote_due(call);
    uint64_t leased = queue_leased_count(call->queue);
    uint64_t dead = queue_dead_count(call->queue);
    switch (state) {
    case ARGS_DUE:
        return due;
    case ARGS_LEASED:
        return leased;
    case ARGS_DEAD:
        return dead;
    default:
        return count - due - leased - dead;
    }
}

void
commands_len(struct call *call)
{
    enum args_state state = ARGS_ANY;
    const char *error =
        args_parse_state(call->args + 2, call->count - 2, &state);

    if (error != NULL) {
        host_error(call->host, error);
        return;
    }
    if (call->queue == NULL) {
        host_integer(call->host, 0);
        return;
    }
    host_integer(call->host, (int64_t)count_in_state(call, state));
}

#define READ_FEW 128u
/* Patterns of more than READ_PATTERN_MAX bytes are rejected. After READ_WORK
 * examined pattern bytes a scan returns early, and the client continues it. So
 * a slow pattern blocks the server for some milliseconds, or 0.1 s for an id of
 * 64 KiB. */
#define READ_PATTERN_MAX 256u
#define READ_WORK 1000000u

/* Collects the matching ids first, because the reply begins with their
 * number. */
struct read_walk {
    const struct args_scan *args;
    uint64_t now;
    uint64_t work;
    struct bytes *ids;
    size_t count;
    size_t room;
    struct bytes few[READ_FEW];
};

static bool
reserve_id(struct read_walk *walk)
{
    struct bytes *ids = memory_alloc(2 * walk->room * sizeof(*ids));

    if (ids == NULL) {
        return false;
    }
    memcpy(ids, walk->ids, walk->count * sizeof(*ids));
    if (walk->ids != walk->few) {
        memory_free(walk->ids);
    }
    walk->ids = ids;
    walk->room *= 2;
    return true;
}

static const enum args_state commands_read_states[] = {
    [QUEUE_WAITING] = ARGS_WAITING,
    [QUEUE_DUE] = ARGS_DUE,
    [QUEUE_LEASED] = ARGS_LEASED,
    [QUEUE_DEAD] = ARGS_DEAD};

static bool
collect_id(const struct queue_event *event, void *arg)
{
    struct read_walk *walk = arg;
    const struct args_scan *args = walk->args;

    if (walk->room == 0) {
        return false;
    }
    if (args->state != ARGS_ANY &&
        commands_read_states[queue_state_at(event, walk->now)] != args->state) {
        return true;
    }
    if (args->match && !glob_match(args->pattern, event->id, &walk->work)) {
        return walk->work < READ_WORK;
    }
    if (walk->count == walk->room && !reserve_id(walk)) {
        walk->room = 0;
        return false;
    }
    walk->ids[walk->count++] = event->id;
    return walk->work < READ_WORK;
}

static void
reply_walk(struct call *call, struct read_walk *walk)
{
    uint64_t cursor = queue_scan(call->queue, walk->args->cursor,
                                 (size_t)walk->args->count, collect_id, walk);

    if (walk->room == 0) {
        host_error(call->host, COMMANDS_OOM);
        return;
    }
    host_array(call->host, 2);
    char text[COMMANDS_NUMBER];
    host_bytes(call->host, commands_number(cursor, text));
    host_array(call->host, walk->count);
    for (size_t i = 0; i < walk->count; i++) {
        host_bytes(call->host, walk->ids[i]);
    }
}

void
commands_scan(struct call *call)
{
    struct args_scan args;
    const char *error = args_parse_scan(call->args + 2, call->count - 2, &args);

    if (error == NULL && args.match && args.pattern.size > READ_PATTERN_MAX) {
        error = "ERR MATCH pattern is longer than 256 bytes";
    }
    if (error != NULL) {
        host_error(call->host, error);
        return;
    }
    if (call->queue == NULL) {
        host_array(call->host, 2);
        host_bytes(call->host, bytes_of("0"));
        host_array(call->host, 0);
        return;
    }
    if (args.count > command_limits.max_batch) {
        args.count = command_limits.max_batch;
    }
    struct read_walk walk;
    walk.args = &args;
    walk.now = call->now;
    walk.work = 0;
    walk.ids = walk.few;
    walk.count = 0;
    walk.room = READ_FEW;
    reply_walk(call, &walk);
    if (walk.ids != walk.few) {
        memory_free(walk.ids);
    }
}

/* The number of pairs about the contents of the key. */
#define INFO_HOLDS 6
static void
reply_contents(struct call *call)
{
    struct host *host = call->host;
    struct queue *queue = call->queue;

    (void)commands_promote_due(call);
    uint64_t next = queue_next(queue);
    commands_reply_number(host, "len", queue_count(queue));
    commands_reply_number(host, "leased", queue_leased_count(queue));
    commands_reply_number(host, "dead", queue_dead_count(queue));
    commands_reply_number(host, "ttls", queue_ttls(queue));
    host_bytes(host, bytes_of("next"));
    if (next == LAWN_NEVER) {
        host_null(host);
    } else {
        host_integer(host, (int64_t)next);
    }
    commands_reply_number(host, "oldest-due",
                          next < call->now ? call->now - next : 0);
}

/* The number of counters. */
#define INFO_COUNTS 13
static void
reply_counts(struct call *call)
{
    static const struct late none;
    struct host *host = call->host;
    const struct queue_counts *counts = queue_counts_of(call->queue);
    const struct late *late = queue_late(call->queue);

    if (late == NULL) {
        late = &none;
    }
    commands_reply_number(host, "pushed", counts->pushed);
    commands_reply_number(host, "fired", counts->fired);
    commands_reply_number(host, "missed", counts->missed);
    commands_reply_number(host, "dropped", counts->dropped);
    commands_reply_number(host, "leased-total", counts->leased);
    commands_reply_number(host, "redelivered", counts->redelivered);
    commands_reply_number(host, "acked", counts->acked);
    commands_reply_number(host, "dead-total", counts->dead);
    commands_reply_number(host, "handed", counts->handed);
    commands_reply_number(host, "sink-errors", counts->sink_errors);
    commands_reply_number(host, "late-p50-ms", late_at(late, 500));
    commands_reply_number(host, "late-p99-ms", late_at(late, 990));
    commands_reply_number(host, "late-max-ms", late->max);
}

/* The number of pairs about the sink. */
#define INFO_SINK 5
static void
reply_sink(struct call *call)
{
    struct host *host = call->host;
    const struct queue_sink *sink = queue_sink_of(call->queue);
    const char *text = queue_trouble_of(call->queue)->text;
    const char *dead = queue_dead_trouble_of(call->queue)->text;
    char both[128];

    if (text[0] == '\0' && dead[0] != '\0') {
        (void)snprintf(both, sizeof(both), "dead letters: %s", dead);
        text = both;
    }
    host_bytes(host, bytes_of("sink"));
    host_bytes(host, bytes_of(args_sink_names[sink->kind]));
    host_bytes(host, bytes_of("sink-to"));
    host_bytes(host, sink->to);
    commands_reply_number(host, "sink-maxlen", sink->maxlen);
    host_bytes(host, bytes_of("dead-letter"));
    host_bytes(host, sink->dead);
    host_bytes(host, bytes_of("sink-error"));
    host_bytes(host, bytes_of(text));
}

void
commands_info(struct call *call)
{
    struct host *host = call->host;
    struct queue *queue = call->queue;

    if (queue == NULL) {
        host_null(host);
        return;
    }
    host_map(host,
             INFO_HOLDS + INFO_COUNTS + INFO_SINK + 3 + COMMANDS_SETTINGS);
    reply_contents(call);
    reply_counts(call);
    reply_sink(call);
    commands_reply_number(host, "bytes", queue_bytes(queue));
    commands_reply_number(host, "data-bytes", queue_data(queue));
    commands_reply_number(host, "paused", queue_settings_of(queue)->paused);
    commands_reply_settings(call);
}
