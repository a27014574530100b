/* commands_update.c - UPDATE and TOUCH: change the payload or the due time of
 * an event. A lease survives UPDATE. TOUCH ends the lease and resets the tries.
 */
#include "commands.h"

#include "memory.h"

#include <errno.h>

/* Returns whether the key is within its limits with the new payload; if not,
 * replies with an error. An update never drops other events. */
static bool
check_room(struct call *call, struct bytes old, struct bytes payload)
{
    uint64_t max = queue_settings_of(call->queue)->max_bytes;
    uint64_t takes = queue_data(call->queue) - old.size + payload.size;

    if (max == 0 || payload.size <= old.size || takes <= max) {
        return true;
    }
    commands_reply_full(call, takes);
    return false;
}

void
commands_replace_payload(struct call *call, const struct queue_event *event,
                         struct bytes payload)
{
    char few[256];
    struct bytes old = event->payload;
    char *copy = few;

    if (!check_room(call, old, payload)) {
        return;
    }
    /* The old payload is sent after the new one was stored. */
    if (old.size > sizeof(few)) {
        copy = memory_alloc(old.size);
    }
    if (copy != NULL && old.size > 0) {
        memcpy(copy, old.at, old.size);
    }
    if (copy == NULL ||
        queue_update(call->queue, call->args[2], payload) == -ENOMEM) {
        host_error(call->host, COMMANDS_OOM);
    } else {
        struct bytes words[2] = {call->args[2], payload};
        host_bytes(call->host, (struct bytes){copy, old.size});
        host_replicate(call->host, "SET", words, 2);
        host_notify(call->host, "lawn.update");
    }
    if (copy != few) {
        memory_free(copy);
    }
}

void
commands_update(struct call *call)
{
    if (!commands_check_sizes(call, call->args[2], call->args[3])) {
        return;
    }
    struct queue_event event;
    if (call->queue == NULL || !queue_get(call->queue, call->args[2], &event)) {
        host_null(call->host);
    } else {
        commands_replace_payload(call, &event, call->args[3]);
    }
}

/* As commands_set_due(), plus BY, which is relative to the current due time. */
static void
compute_due(struct call *call, const struct args_time *time,
            struct queue_event *event)
{
    struct args_time at = *time;
    uint64_t by = time->by < 0 ? 0 - (uint64_t)time->by : (uint64_t)time->by;

    if (time->how == ARGS_BY) {
        at.how = ARGS_AT;
        at.ms = time->by < 0 ? event->due - (by < event->due ? by : event->due)
                             : event->due + by;
    }
    commands_set_due(call, &at, 0, event);
}

void
commands_touch(struct call *call)
{
    struct args_touch args;
    const char *error =
        args_parse_touch(call->args + 3, call->count - 3, &args);

    if (error != NULL) {
        host_error(call->host, error);
        return;
    }
    struct queue_event event;
    if (call->queue == NULL || !queue_get(call->queue, call->args[2], &event)) {
        host_null(call->host);
        return;
    }
    uint64_t before = event.due;
    event.id = call->args[2];
    event.tries.made = 0;
    compute_due(call, &args.time, &event);
    if ((args.later && event.due <= before) ||
        (args.earlier && event.due >= before)) {
        host_null(call->host);
        return;
    }
    if (queue_move(call->queue, &event) == -ENOMEM) {
        host_error(call->host, COMMANDS_OOM);
        return;
    }
    struct commands_at at;
    struct bytes words[REPLICATION_AT_WORDS];
    commands_at_words(&event, &at, words);
    host_replicate(call->host, "AT", words, REPLICATION_AT_WORDS);
    host_notify(call->host, "lawn.touch");
    call->changed = true;
    call->earliest = event.due;
    host_integer(call->host, (int64_t)event.due);
}
