/* commands_take.c - CANCEL, PULL and POLL: events go out.
 *
 * What is delivered is told the replicas while it is still there, and taken then:
 * so its bytes need not be copied. One DEL for all that go, one AT for all that
 * repeat. All memory is taken before the reply begins; to let an event repeat needs
 * none, as its block stays.
 */
#include "commands.h"

#include "memory.h"

#include <assert.h>

void
commands_cancel(struct call *call)
{
    struct commands_batch batch;
    size_t count = call->count - 2;

    if (call->queue == NULL) {
        host_integer(call->host, 0);
        return;
    }
    if (!commands_batch_init(call, &batch, count, 0))
        return;
    for (size_t i = 0; i < count; i++) {
        if (queue_remove(call->queue, call->args[2 + i]))
            batch.gone[batch.gone_count++] = call->args[2 + i];
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
    (void)queue_remove(call->queue, call->args[2]);
    host_replicate(call->host, "DEL", &call->args[2], 1);
    host_notify(call->host, "lawn.cancel");
    call->changed = true;
}

/* What is found may be dead, and is not for anyone then: so a few more are looked
 * for at a time, and again, up to lawn.max-batch. If all of them are dead there may
 * be others, of which whoever waits hears by the tick. */
#define TAKE_RIPEN 64u

size_t
commands_due(struct call *call, uint64_t count)
{
    struct queue *queue = call->queue;
    uint64_t budget;
    uint64_t dead;
    uint64_t due;
    uint64_t spent = 0;

    if (count > command_limits.max_batch)
        count = command_limits.max_batch;
    budget = count > TAKE_RIPEN ? count : TAKE_RIPEN;
    if (queue == NULL || queue_settings(queue)->paused ||
        host_frozen(call->host))
        return 0;
    do {
        dead = queue_dead_count(queue);
        due = queue_ripen(queue, call->now, budget);
        spent += budget;
    } while (due < count && queue_dead_count(queue) > dead &&
             spent < command_limits.max_batch);
    return (size_t)(due < count ? due : count);
}

uint64_t
commands_ripen(struct call *call)
{
    return queue_ripen(call->queue, call->now, COMMANDS_RIPEN);
}

void
commands_note_late(struct call *call, const struct queue_event *event)
{
    uint64_t late = call->now > event->due ? call->now - event->due : 0;

    if (event->lease.token != 0)
        return;
    queue_note_late(call->queue, late);
    late_add(&command_totals.late, late);
}

void
commands_fired(struct call *call, const struct queue_event *event)
{
    queue_counts(call->queue)->fired++;
    command_totals.fired++;
    commands_note_late(call, event);
}

/* An event of period p that was due at d is due next at d + k p, the first of
 * these that is later than now: those between were missed. It stands in the
 * queue of the delay p then. */
bool
commands_again(const struct queue_event *event, uint64_t now,
               struct queue_event *next)
{
    uint64_t period = event->repeat.period;

    if (period == 0 || event->repeat.times == 1)
        return false;
    /* A master may have leased it out before its time: by another's clock. */
    uint64_t missed = now > event->due ? (now - event->due) / period : 0;
    *next = *event;
    next->tries.made = 0;
    next->lease = (struct queue_lease){0};
    next->due += (missed + 1) * period;
    next->ttl = period;
    next->alone = false;
    next->repeat.missed += missed;
    if (next->repeat.missed > ARGS_COUNT_MAX)
        next->repeat.missed = ARGS_COUNT_MAX;
    if (next->repeat.times > 0)
        next->repeat.times--;
    /* It could not be told the replicas: but by then a million years have
     * gone by. */
    return next->due <= ARGS_DUE_MAX;
}

bool
commands_batch_room(struct commands_batch *batch, size_t count,
                    size_t again_count)
{
    size_t words = again_count * COMMANDS_AT_WORDS + count;

    batch->gone_count = 0;
    batch->again_count = 0;
    batch->memory = NULL;
    batch->gone = batch->few;
    batch->again = batch->few_again;
    batch->at = &batch->few_at;
    if (again_count <= 1 && count <= COMMANDS_FEW)
        return true;
    batch->memory = memory_alloc(words * sizeof(struct bytes) +
                                 again_count * sizeof(struct commands_at));
    if (batch->memory == NULL)
        return false;
    batch->again = batch->memory;
    batch->gone = batch->again + again_count * COMMANDS_AT_WORDS;
    batch->at = (struct commands_at *)(void *)(batch->gone + count);
    return true;
}

bool
commands_batch_init(struct call *call, struct commands_batch *batch,
                    size_t count, size_t again_count)
{
    bool room = commands_batch_room(batch, count, again_count);

    if (!room)
        host_error(call->host, COMMANDS_OOM);
    return room;
}

void
commands_batch_add(struct call *call, struct commands_batch *batch,
                   const struct queue_event *event,
                   const struct queue_event *next)
{
    if (next == NULL) {
        batch->gone[batch->gone_count++] = event->id;
        return;
    }
    queue_counts(call->queue)->missed +=
        next->repeat.missed - event->repeat.missed;
    command_totals.missed += next->repeat.missed - event->repeat.missed;
    if (next->due < call->earliest)
        call->earliest = next->due;
    commands_at_words(next, &batch->at[batch->again_count],
                      &batch->again[batch->again_count * COMMANDS_AT_WORDS]);
    batch->again_count++;
}

void
commands_batch_take(struct call *call, struct commands_batch *batch,
                    const struct queue_event *event)
{
    struct queue_event next;

    if (!commands_again(event, call->now, &next)) {
        commands_batch_add(call, batch, event, NULL);
        (void)queue_remove(call->queue, event->id);
    } else {
        commands_batch_add(call, batch, event, &next);
        if (queue_move(call->queue, &next) != 0)
            assert(false);
    }
}

void
commands_batch_replicate(struct call *call, const struct commands_batch *batch)
{
    if (batch->gone_count > 0)
        host_replicate(call->host, "DEL", batch->gone, batch->gone_count);
    if (batch->again_count > 0)
        host_replicate(call->host, "AT", batch->again,
                       batch->again_count * COMMANDS_AT_WORDS);
}

void
commands_batch_tell(struct call *call, const struct commands_batch *batch,
                    const char *what)
{
    commands_batch_replicate(call, batch);
    if (batch->gone_count + batch->again_count > 0) {
        host_notify(call->host, what);
        call->changed = true;
    }
}

void
commands_batch_do(struct call *call, const struct commands_batch *batch)
{
    struct queue_event event;
    struct queue_event next;

    for (size_t i = 0; i < batch->gone_count; i++) {
        if (!queue_remove(call->queue, batch->gone[i]))
            assert(false);
    }
    for (size_t i = 0; i < batch->again_count; i++) {
        if (!queue_get(call->queue, batch->again[i * COMMANDS_AT_WORDS],
                       &event) ||
            !commands_again(&event, call->now, &next) ||
            queue_move(call->queue, &next) != 0)
            assert(false);
    }
}

void
commands_batch_fini(struct commands_batch *batch)
{
    memory_free(batch->memory);
}

/* How many of the first so many that are due stay, since they repeat. */
static size_t
commands_take_again(struct call *call, size_t count)
{
    struct queue_event event;
    struct queue_event next;
    const void *cursor = NULL;
    size_t again = 0;

    for (size_t i = 0; i < count && queue_ready(call->queue, &cursor, &event);
         i++)
        again += commands_again(&event, call->now, &next);
    return again;
}

void
commands_take(struct call *call, size_t count, commands_tell_fn *tell)
{
    struct commands_batch batch;
    struct queue_event event;
    struct queue_event next;
    const void *cursor = NULL;

    if (!commands_batch_init(call, &batch, count,
                             commands_take_again(call, count)))
        return;
    host_array(call->host, count);
    for (size_t i = 0; i < count && queue_ready(call->queue, &cursor, &event);
         i++) {
        bool again = commands_again(&event, call->now, &next);
        commands_fired(call, &event);
        commands_batch_add(call, &batch, &event, again ? &next : NULL);
        if (again)
            event.repeat.missed = next.repeat.missed;
        tell(call, &event);
    }
    commands_batch_tell(call, &batch, "lawn.poll");
    commands_batch_do(call, &batch);
    commands_batch_fini(&batch);
}

static void
commands_take_tell(struct call *call, const struct queue_event *event)
{
    host_array(call->host, 2);
    host_bytes(call->host, event->id);
    host_bytes(call->host, event->payload);
}

static void
commands_take_tell_meta(struct call *call, const struct queue_event *event)
{
    struct host *host = call->host;

    host_map(host, 4 + COMMANDS_REPEAT);
    host_bytes(host, bytes_of("id"));
    host_bytes(host, event->id);
    host_bytes(host, bytes_of("payload"));
    host_bytes(host, event->payload);
    commands_tell_number(host, "due", event->due);
    commands_tell_number(host, "late",
                         call->now > event->due ? call->now - event->due : 0);
    commands_tell_repeat(host, &event->repeat);
}

void
commands_poll(struct call *call)
{
    struct args_poll args;
    const char *error = args_poll(call->args + 2, call->count - 2, &args);

    if (error != NULL) {
        host_error(call->host, error);
        return;
    }
    size_t count = commands_due(call, args.count);
    if (count > 0) {
        commands_take(call, count,
                      args.meta ? commands_take_tell_meta : commands_take_tell);
        return;
    }
    if (!args.block || !host_block(call->host, args.timeout))
        host_array(call->host, 0);
}
