/* commands_removal.c - CANCEL, PULL and POLL: remove events.
 */
#include "commands.h"

#include "invariant.h"

void
commands_cancel(struct call *call)
{
    size_t count = call->count - 2;

    if (call->queue == NULL) {
        host_integer(call->host, 0);
        return;
    }
    struct commands_batch batch;
    if (!commands_batch_init(call, &batch, count, 0)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (queue_remove(call->queue, call->args[2 + i])) {
            batch.gone[batch.gone_count++] = call->args[2 + i];
        }
    }
    if (batch.gone_count > 0) {
        host_replicate(call->host, "DEL", batch.gone, batch.gone_count);
        host_notify(call->host, "lawn.cancel");
        call->changed = true;
    }
    host_integer(call->host, (int64_t)batch.gone_count);
    commands_batch_fini(&batch);
}

void
commands_pull(struct call *call)
{
    struct queue_event event;

    if (call->queue == NULL || !queue_get(call->queue, call->args[2], &event)) {
        host_null(call->host);
        return;
    }
    host_bytes(call->host, event.payload);
    INVARIANT(queue_remove(call->queue, call->args[2]),
              "a found event is not in its queue");
    host_replicate(call->host, "DEL", &call->args[2], 1);
    host_notify(call->host, "lawn.cancel");
    call->changed = true;
}

/* Some promoted events are dead, because their last lease has ended. They are
 * not delivered. So at least this many events are promoted at a time, until
 * enough are due or lawn.max-batch were promoted. If all of them are dead, the
 * tick promotes the others and wakes the blocked clients. */
#define REMOVE_PROMOTE_MIN 64u

size_t
commands_count_due(struct call *call, uint64_t count)
{
    struct queue *queue = call->queue;
    uint64_t spent = 0;

    if (count > command_limits.max_batch) {
        count = command_limits.max_batch;
    }
    uint64_t budget = count > REMOVE_PROMOTE_MIN ? count : REMOVE_PROMOTE_MIN;
    if (queue == NULL || queue_settings_of(queue)->paused ||
        host_frozen(call->host)) {
        return 0;
    }
    uint64_t dead = 0;
    uint64_t due = 0;
    do {
        dead = queue_dead_count(queue);
        due = queue_promote_due(queue, call->now, budget);
        spent += budget;
    } while (due < count && queue_dead_count(queue) > dead &&
             spent < command_limits.max_batch);
    return (size_t)(due < count ? due : count);
}

uint64_t
commands_promote_due(struct call *call)
{
    return queue_promote_due(call->queue, call->now, COMMANDS_PROMOTE_MAX);
}

static size_t
count_repeating(struct call *call, size_t count)
{
    struct queue_event event;
    struct queue_event next;
    const void *cursor = NULL;
    size_t again = 0;

    for (size_t i = 0; i < count && queue_ready(call->queue, &cursor, &event);
         i++) {
        again += commands_next_period(&event, call->now, &next);
    }
    return again;
}

void
commands_remove_due(struct call *call, size_t count, commands_reply_fn *reply)
{
    struct commands_batch batch;
    const void *cursor = NULL;

    if (!commands_batch_init(call, &batch, count,
                             count_repeating(call, count))) {
        return;
    }
    host_array(call->host, count);
    struct queue_event event;
    struct queue_event next;
    for (size_t i = 0; i < count; i++) {
        INVARIANT(queue_ready(call->queue, &cursor, &event),
                  "there are fewer ready events than were counted");
        bool again = commands_next_period(&event, call->now, &next);
        commands_count_fired(call, &event);
        commands_batch_add(call, &batch, &event, again ? &next : NULL);
        if (again) {
            event.repeat.missed = next.repeat.missed;
        }
        reply(call, &event);
    }
    commands_batch_report(call, &batch, "lawn.poll");
    commands_batch_apply(call, &batch);
    commands_batch_fini(&batch);
}

static void
reply_event(struct call *call, const struct queue_event *event)
{
    host_array(call->host, 2);
    host_bytes(call->host, event->id);
    host_bytes(call->host, event->payload);
}

static void
reply_event_meta(struct call *call, const struct queue_event *event)
{
    struct host *host = call->host;

    host_map(host, 4 + COMMANDS_REPEAT);
    host_bytes(host, bytes_of("id"));
    host_bytes(host, event->id);
    host_bytes(host, bytes_of("payload"));
    host_bytes(host, event->payload);
    commands_reply_number(host, "due", event->due);
    commands_reply_number(host, "late",
                          call->now > event->due ? call->now - event->due : 0);
    commands_reply_repeat(host, &event->repeat);
}

void
commands_poll(struct call *call)
{
    struct args_poll args;
    const char *error = args_parse_poll(call->args + 2, call->count - 2, &args);

    if (error != NULL) {
        host_error(call->host, error);
        return;
    }
    size_t count = commands_count_due(call, args.count);
    if (count > 0) {
        commands_remove_due(call, count,
                            args.meta ? reply_event_meta : reply_event);
        return;
    }
    if (!args.block || !host_block(call->host, args.timeout)) {
        host_array(call->host, 0);
    }
}
