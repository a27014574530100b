/* commands_batch.c - events that are delivered together: counted, replicated,
 * and then removed or moved to their next time.
 *
 * They are replicated while still in the queue, so that nothing is copied: one
 * DEL for all removed events, one AT for all recurring ones. All memory is
 * allocated before the reply begins.
 */
#include "commands.h"

#include "invariant.h"
#include "memory.h"

void
commands_note_late(struct call *call, const struct queue_event *event)
{
    uint64_t late = call->now > event->due ? call->now - event->due : 0;

    if (event->lease.token != 0) {
        return;
    }
    queue_note_late(call->queue, late);
    late_add(&command_totals.late, late);
}

void
commands_count_fired(struct call *call, const struct queue_event *event)
{
    queue_counts_of(call->queue)->fired++;
    command_totals.fired++;
    commands_note_late(call, event);
}

/* An event of period p that was due at d is due again at d + k p, for the
 * smallest k for which this is after now. The periods in between were
 * missed. */
bool
commands_next_period(const struct queue_event *event, uint64_t now,
                     struct queue_event *next)
{
    uint64_t period = event->repeat.period;

    if (period == 0 || event->repeat.times == 1) {
        return false;
    }
    /* A master with another clock may have leased it before it is due here. */
    uint64_t missed = now > event->due ? (now - event->due) / period : 0;
    *next = *event;
    next->tries.made = 0;
    next->lease = (struct queue_lease){0};
    next->due += (missed + 1) * period;
    next->ttl = period;
    next->alone = false;
    next->repeat.missed += missed;
    if (next->repeat.missed > ARGS_COUNT_MAX) {
        next->repeat.missed = ARGS_COUNT_MAX;
    }
    if (next->repeat.times > 0) {
        next->repeat.times--;
    }
    /* A time after ARGS_DUE_MAX could not be replicated. */
    return next->due <= ARGS_DUE_MAX;
}

bool
commands_batch_reserve(struct commands_batch *batch, size_t count,
                       size_t again_count)
{
    size_t words = again_count * REPLICATION_AT_WORDS + count;

    batch->gone_count = 0;
    batch->again_count = 0;
    batch->memory = NULL;
    batch->gone = batch->few;
    batch->again = batch->few_again;
    batch->at = &batch->few_at;
    if (again_count <= 1 && count <= COMMANDS_FEW) {
        return true;
    }
    batch->memory = memory_alloc(words * sizeof(struct bytes) +
                                 again_count * sizeof(struct commands_at));
    if (batch->memory == NULL) {
        return false;
    }
    batch->again = batch->memory;
    batch->gone = batch->again + again_count * REPLICATION_AT_WORDS;
    batch->at = (struct commands_at *)(void *)(batch->gone + count);
    return true;
}

bool
commands_batch_init(struct call *call, struct commands_batch *batch,
                    size_t count, size_t again_count)
{
    bool room = commands_batch_reserve(batch, count, again_count);

    if (!room) {
        host_error(call->host, COMMANDS_OOM);
    }
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
    queue_counts_of(call->queue)->missed +=
        next->repeat.missed - event->repeat.missed;
    command_totals.missed += next->repeat.missed - event->repeat.missed;
    if (next->due < call->earliest) {
        call->earliest = next->due;
    }
    commands_at_words(next, &batch->at[batch->again_count],
                      &batch->again[batch->again_count * REPLICATION_AT_WORDS]);
    batch->again_count++;
}

void
commands_batch_remove(struct call *call, struct commands_batch *batch,
                      const struct queue_event *event)
{
    struct queue_event next;

    if (!commands_next_period(event, call->now, &next)) {
        commands_batch_add(call, batch, event, NULL);
        INVARIANT(queue_remove(call->queue, event->id),
                  "a delivered event that must be removed is not in its queue");
    } else {
        commands_batch_add(call, batch, event, &next);
        INVARIANT(queue_move(call->queue, &next) == 0,
                  "a delivered repeating event is not in its queue, or there "
                  "is no memory to move it");
    }
}

void
commands_batch_replicate(struct call *call, const struct commands_batch *batch)
{
    if (batch->gone_count > 0) {
        host_replicate(call->host, "DEL", batch->gone, batch->gone_count);
    }
    if (batch->again_count > 0) {
        host_replicate(call->host, "AT", batch->again,
                       batch->again_count * REPLICATION_AT_WORDS);
    }
}

void
commands_batch_report(struct call *call, const struct commands_batch *batch,
                      const char *what)
{
    commands_batch_replicate(call, batch);
    if (batch->gone_count + batch->again_count > 0) {
        host_notify(call->host, what);
        call->changed = true;
    }
}

void
commands_batch_apply(struct call *call, const struct commands_batch *batch)
{
    for (size_t i = 0; i < batch->gone_count; i++) {
        INVARIANT(queue_remove(call->queue, batch->gone[i]),
                  "an event whose removal was replicated is not in its queue");
    }
    struct queue_event event;
    struct queue_event next;
    for (size_t i = 0; i < batch->again_count; i++) {
        INVARIANT(queue_get(call->queue, batch->again[i * REPLICATION_AT_WORDS],
                            &event) &&
                      commands_next_period(&event, call->now, &next) &&
                      queue_move(call->queue, &next) == 0,
                  "an event whose move to its next period was replicated is "
                  "not in its queue, or there is no memory to move it");
    }
}

void
commands_batch_fini(struct commands_batch *batch)
{
    memory_free(batch->memory);
}
