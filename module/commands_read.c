/* commands_read.c - GET, NEXT, LEN, SCAN and INFO: what there is.
 *
 * They change nothing that is saved or replicated, and so run on replicas, too.
 * A pause is no concern of theirs: what is due is due, though nobody gets it.
 */
#include "commands.h"

#include "glob.h"
#include "memory.h"

void
commands_get(struct call *call)
{
    struct host *host = call->host;
    struct queue_event event;
    bool meta;
    const char *error = args_with_meta(call->args + 3, call->count - 3, &meta);

    if (error != NULL) {
        host_error(host, error);
        return;
    }
    if (call->queue == NULL || !queue_get(call->queue, call->args[2], &event)) {
        host_null(host);
        return;
    }
    if (!meta) {
        host_bytes(host, event.payload);
        return;
    }
    host_map(host, 3 + COMMANDS_REPEAT);
    host_bytes(host, bytes_of("payload"));
    host_bytes(host, event.payload);
    commands_tell_number(host, "due", event.due);
    host_bytes(host, bytes_of("state"));
    host_bytes(host, bytes_of(event.due <= call->now ? "due" : "waiting"));
    commands_tell_repeat(host, &event.repeat);
}

void
commands_next(struct call *call)
{
    if (call->queue == NULL) {
        host_null(call->host);
        return;
    }
    uint64_t next = queue_soonest(call->queue);
    if (next == LAWN_NEVER)
        host_integer(call->host, -1);
    else
        host_integer(call->host,
                     next > call->now ? (int64_t)(next - call->now) : 0);
}

void
commands_len(struct call *call)
{
    enum args_state state;
    const char *error = args_state(call->args + 2, call->count - 2, &state);

    if (error != NULL) {
        host_error(call->host, error);
        return;
    }
    if (call->queue == NULL) {
        host_integer(call->host, 0);
        return;
    }
    uint64_t count = queue_count(call->queue);
    if (state != ARGS_ANY) {
        uint64_t due = queue_ripen(call->queue, call->now, UINT64_MAX);
        count = state == ARGS_DUE ? due : count - due;
    }
    host_integer(call->host, (int64_t)count);
}

#define READ_FEW 128u

/* A walk over some events: the ids of those that are wanted, as a reply begins
 * with how many there are, and to match one may take long. */
struct commands_read_walk {
    const struct args_scan *args;
    uint64_t now;
    struct bytes *ids;
    size_t count;
    size_t room;
    struct bytes few[READ_FEW];
};

/* Makes room for more ids. False: no memory. */
static bool
commands_read_grow(struct commands_read_walk *walk)
{
    struct bytes *ids = memory_alloc(2 * walk->room * sizeof *ids);

    if (ids == NULL)
        return false;
    memcpy(ids, walk->ids, walk->count * sizeof *ids);
    if (walk->ids != walk->few)
        memory_free(walk->ids);
    walk->ids = ids;
    walk->room *= 2;
    return true;
}

static bool
commands_read_visit(const struct queue_event *event, void *arg)
{
    struct commands_read_walk *walk = arg;
    const struct args_scan *args = walk->args;

    if (args->state != ARGS_ANY &&
        (args->state == ARGS_DUE) != (event->due <= walk->now))
        return true;
    if (args->match && !glob_match(args->pattern, event->id))
        return true;
    if (walk->count == walk->room && !commands_read_grow(walk)) {
        walk->room = 0;
        return false;
    }
    walk->ids[walk->count++] = event->id;
    return true;
}

/* Replies with the walk from a cursor on. */
static void
commands_read_walk(struct call *call, struct commands_read_walk *walk)
{
    char text[COMMANDS_NUMBER];
    uint64_t cursor =
        queue_scan(call->queue, walk->args->cursor, (size_t)walk->args->count,
                   commands_read_visit, walk);

    if (walk->room == 0) {
        host_error(call->host, COMMANDS_OOM);
        return;
    }
    host_array(call->host, 2);
    host_bytes(call->host, commands_number(cursor, text));
    host_array(call->host, walk->count);
    for (size_t i = 0; i < walk->count; i++)
        host_bytes(call->host, walk->ids[i]);
}

void
commands_scan(struct call *call)
{
    struct args_scan args;
    struct commands_read_walk walk;
    const char *error = args_scan(call->args + 2, call->count - 2, &args);

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
    if (args.count > command_limits.max_batch)
        args.count = command_limits.max_batch;
    walk.args = &args;
    walk.now = call->now;
    walk.ids = walk.few;
    walk.count = 0;
    walk.room = READ_FEW;
    commands_read_walk(call, &walk);
    if (walk.ids != walk.few)
        memory_free(walk.ids);
}

void
commands_info(struct call *call)
{
    static const struct late none;
    struct host *host = call->host;
    struct queue *queue = call->queue;

    if (queue == NULL) {
        host_null(host);
        return;
    }
    uint64_t next = queue_soonest(queue);
    const struct queue_counts *counts = queue_counts(queue);
    const struct late *late = queue_late(queue);
    if (late == NULL)
        late = &none;
    host_map(host, 14 + COMMANDS_SETTINGS);
    commands_tell_number(host, "len", queue_count(queue));
    commands_tell_number(host, "ttls", queue_ttls(queue));
    host_bytes(host, bytes_of("next"));
    if (next == LAWN_NEVER)
        host_null(host);
    else
        host_integer(host, (int64_t)next);
    commands_tell_number(host, "oldest-due",
                         next < call->now ? call->now - next : 0);
    commands_tell_number(host, "pushed", counts->pushed);
    commands_tell_number(host, "fired", counts->fired);
    commands_tell_number(host, "missed", counts->missed);
    commands_tell_number(host, "dropped", counts->dropped);
    commands_tell_number(host, "late-p50-ms", late_at(late, 500));
    commands_tell_number(host, "late-p99-ms", late_at(late, 990));
    commands_tell_number(host, "late-max-ms", late->max);
    commands_tell_number(host, "bytes", queue_bytes(queue));
    commands_tell_number(host, "data-bytes", queue_data(queue));
    commands_tell_number(host, "paused", queue_settings(queue)->paused);
    commands_tell_settings(call);
}
