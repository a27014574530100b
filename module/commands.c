/* commands.c - runs a command, and functions that several commands share. A
 * command records its changes in its call; then command_call() deletes an idle
 * key, sets the next wake-up and wakes waiting clients.
 */
#include "commands.h"

#include "registry.h"

#include <stdarg.h>
#include <stdio.h>

struct command_totals command_totals;
struct commands_tokens commands_tokens;

/* Returns the time at which the key needs attention, or LAWN_NEVER if the
 * wake-up must not change.
 *
 * If a wake-up is set, only an event that this call has added can require an
 * earlier one; a wake-up that is too early is harmless. Finding the next event
 * may take a search, so that is done only if no wake-up is set.
 *
 * On a master, clients are notified of due events without a wake-up. So the
 * first event that is not yet due counts. If more than lawn.max-batch events
 * are due, the result is the time of a due event, and the key is processed
 * again at once. On a replica due events count, too: no client has been
 * notified, and the replica may become a master. */
static uint64_t
next_wakeup(struct call *call)
{
    struct queue *queue = call->queue;

    if (!call->resumed && *queue_armed(queue) != LAWN_NEVER) {
        return call->earliest > call->now || call->applied ? call->earliest
                                                           : LAWN_NEVER;
    }
    if (call->applied) {
        return queue_next(queue);
    }
    (void)queue_promote_due(queue, call->now, command_limits.max_batch);
    return queue_next_waiting(queue);
}

/* Returns true if the server must process the key at once: due events have a
 * sink, or dead events have a dead letter stream. */
static bool
needs_handover(struct call *call)
{
    const struct queue_sink *sink = queue_sink_of(call->queue);

    return (sink->kind != QUEUE_SINK_NONE && call->earliest <= call->now) ||
           (sink->dead.size > 0 && call->resumed &&
            queue_dead_count(call->queue) > 0);
}

/* Completes a change. Waiting and subscribed clients are notified of due events
 * at once, unless the key has a sink, which takes precedence. Events that die
 * later are found by the wake-up at the end of their lease. */
static void
settle(struct call *call)
{
    struct queue *queue = call->queue;

    if (queue_idle(queue)) {
        host_delete(call->host);
        call->queue = NULL;
        return;
    }
    if (queue_settings_of(queue)->paused) {
        return;
    }
    if (call->resumed) {
        call->earliest = queue_next(queue);
    }
    uint64_t next = next_wakeup(call);
    bool hands = needs_handover(call);
    /* Process the key at once. The key's clock may be ahead of the server's,
     * `wall`. */
    if (hands && next > call->wall) {
        next = call->wall;
    }
    if (next < *queue_armed(queue)) {
        host_arm(call->host, next);
    }
    if (hands || call->earliest > call->now) {
        return;
    }
    host_signal(call->host);
    if (!call->applied) {
        host_notify(call->host, "lawn.fire");
    }
}

/* In ms. A token is ignored if it is ahead of both the clock and the last token
 * by more than this: see struct commands_tokens. */
#define COMMANDS_AHEAD UINT64_C(86400000)

void
commands_note_token(uint64_t token, uint64_t wall)
{
    uint64_t last = commands_tokens.last / COMMANDS_TOKENS;

    if (token > commands_tokens.last &&
        token / COMMANDS_TOKENS <=
            (last > wall ? last : wall) + COMMANDS_AHEAD) {
        commands_tokens.last = token;
    }
}

void
commands_learn_token(uint64_t token, uint64_t wall)
{
    commands_tokens.heard = true;
    commands_tokens.other = (unsigned)(token % COMMANDS_TOKEN_STEP);
    commands_note_token(token, wall);
}

void
command_call(const struct command *command, struct call *call)
{
    call->wall = call->now;
    if (command->key) {
        if (call->args[1].size > REGISTRY_NAME_MAX) {
            host_error(call->host, "ERR key name is longer than 65535 bytes");
            return;
        }
        call->queue = host_queue(call->host);
        if (call->queue != NULL) {
            queue_set_now(call->queue, call->now);
            call->now = queue_now(call->queue);
        }
    }
    call->earliest = LAWN_NEVER;
    command->run(call);
    if (call->changed && call->queue != NULL) {
        settle(call);
    }
    /* Dead events of a paused key are reported when it is resumed. */
    if (call->changed && call->queue != NULL &&
        !queue_settings_of(call->queue)->paused && queue_died(call->queue) &&
        !call->applied) {
        host_notify(call->host, "lawn.dead");
    }
}

struct bytes
commands_number(uint64_t number, char text[COMMANDS_NUMBER])
{
    size_t at = COMMANDS_NUMBER;

    do {
        text[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return (struct bytes){text + at, COMMANDS_NUMBER - at};
}

void
commands_error(struct call *call, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char text[256];
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    for (char *c = text; *c != '\0'; c++) {
        if (*c < ' ' || *c > '~') {
            *c = '?';
        }
    }
    host_error(call->host, text);
}

bool
commands_open(struct call *call)
{
    if (call->queue != NULL) {
        return true;
    }
    call->queue = host_create(call->host);
    if (call->queue == NULL) {
        host_error(call->host, COMMANDS_OOM);
        return false;
    }
    queue_set_now(call->queue, call->now);
    call->now = queue_now(call->queue);
    /* If the command leaves the new queue empty, settle() deletes the key. */
    call->changed = true;
    return true;
}

bool
commands_may_grow(struct call *call)
{
    bool full = host_full(call->host);

    if (full) {
        host_error(call->host, HOST_FULL);
    }
    return !full;
}

bool
commands_check_sizes(struct call *call, struct bytes id, struct bytes payload)
{
    uint64_t max = command_limits.max_payload < QUEUE_PAYLOAD_MAX
                       ? command_limits.max_payload
                       : QUEUE_PAYLOAD_MAX;

    if (id.size > QUEUE_ID_MAX) {
        host_error(call->host, "ERR id is longer than 65535 bytes");
        return false;
    }
    if (payload.size > max) {
        commands_error(
            call,
            "ERR payload of %zu bytes exceeds lawn.max-payload of %llu bytes",
            payload.size, (unsigned long long)max);
        return false;
    }
    return true;
}

void
commands_reply_full(struct call *call, uint64_t takes)
{
    uint64_t max = queue_settings_of(call->queue)->max_bytes;

    commands_error(call,
                   "FULL the key's ids and payloads would take %llu bytes; its "
                   "maxbytes is %llu",
                   (unsigned long long)takes, (unsigned long long)max);
}

/* Events with the same delay (ttl) share a blade. A jitter or rounding would
 * turn one delay into many. So an event with either is on no blade (alone),
 * like an event with AT. */
void
commands_set_due(struct call *call, const struct args_time *time,
                 uint64_t jitter, struct queue_event *event)
{
    uint64_t resolution = queue_settings_of(call->queue)->resolution;
    uint64_t due = call->now;

    if (time->how == ARGS_DELAY) {
        due += time->ms;
    } else if (time->ms > due) {
        due = time->ms;
    }
    if (jitter > 0) {
        due += host_random(call->host, jitter + 1);
    }
    if (resolution > 1 && due % resolution != 0) {
        due += resolution - due % resolution;
    }
    event->due = due < ARGS_DUE_MAX ? due : ARGS_DUE_MAX;
    event->ttl = event->due - call->now;
    event->alone = time->how != ARGS_DELAY || jitter > 0 || resolution > 1;
}

void
commands_at_words(const struct queue_event *event, struct commands_at *at,
                  struct bytes words[REPLICATION_AT_WORDS])
{
    struct args_meta meta = {
        .alone = event->alone, .repeat = event->repeat, .tries = event->tries};

    words[0] = event->id;
    words[1] = commands_number(event->due, at->due);
    words[2] = commands_number(event->ttl, at->ttl);
    words[3] = (struct bytes){at->meta, args_meta_write(&meta, at->meta)};
}

void
commands_reply_number(struct host *host, const char *name, uint64_t value)
{
    host_bytes(host, bytes_of(name));
    host_integer(host, (int64_t)value);
}

void
commands_reply_repeat(struct host *host, const struct queue_repeat *repeat)
{
    commands_reply_number(host, "period", repeat->period);
    commands_reply_number(host, "times", repeat->times);
    commands_reply_number(host, "missed", repeat->missed);
}
