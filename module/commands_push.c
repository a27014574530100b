/* commands_push.c - PUSH and MPUSH: events come in.
 *
 * PUSH is what is called most: beside the event itself it takes no memory, and
 * hands id and payload on to the replicas as the arguments they are.
 *
 * A LIMIT that drops what is due first must lose nothing if there is no memory
 * for what comes. So the new event goes in first, due after all others, where it
 * is not the first to go; then others go until the key is within its limits;
 * then the new event gets its own time, for which no memory is needed.
 */
#include "commands.h"

#include "ids.h"
#include "memory.h"

#include <assert.h>
#include <stdlib.h>

/* Due after all that users have. */
#define COMMANDS_PUSH_LAST (ARGS_DUE_MAX + 1)

/* The words of ADD for each event. */
enum { ADD_ID, ADD_PAYLOAD, ADD_DUE, ADD_TTL, ADD_META, ADD_WORDS };

/* What a command would put into the queue: each id once. */
struct commands_push_tally {
    uint64_t count; /* of events */
    uint64_t added; /* of which so many are new */
    uint64_t bytes; /* of ids and payloads */
    uint64_t held;  /* by those that are replaced */
};

static void
commands_push_count(const struct queue *queue, struct bytes id,
                    struct bytes payload, struct commands_push_tally *tally)
{
    struct queue_event old;

    tally->count++;
    tally->bytes += id.size + payload.size;
    if (queue_get(queue, id, &old))
        tally->held += old.id.size + old.payload.size;
    else
        tally->added++;
}

/* Whether it is within the limits, or others can go so that it is: *drop. If
 * not, that was replied. What takes no more than it replaces always is. */
static bool
commands_push_room(struct call *call, const struct commands_push_tally *tally,
                   bool *drop)
{
    const struct queue_settings *settings = queue_settings(call->queue);
    uint64_t events = settings->max_events > 0 && tally->added > 0
                          ? settings->max_events
                          : UINT64_MAX;
    uint64_t bytes = settings->max_bytes > 0 && tally->bytes > tally->held
                         ? settings->max_bytes
                         : UINT64_MAX;
    uint64_t holds = queue_count(call->queue);
    uint64_t takes = queue_data(call->queue) - tally->held + tally->bytes;

    *drop = false;
    if (holds + tally->added <= events && takes <= bytes)
        return true;
    bool oldest = settings->overflow == QUEUE_DROP_OLDEST;
    *drop = oldest && tally->count <= events && tally->bytes <= bytes;
    if (*drop)
        return true;
    /* What is in the way if all others went, or as it is. */
    if ((oldest ? tally->count : holds + tally->added) > events)
        commands_error(call,
                       "FULL the key holds %llu events, and its maxlen is %llu",
                       (unsigned long long)holds, (unsigned long long)events);
    else
        commands_full(call, takes);
    return false;
}

/* What is due first goes, until the queue is within its limits: what is due at
 * COMMANDS_PUSH_LAST fits in. */
static void
commands_push_drop(struct call *call)
{
    const struct queue_settings *settings = queue_settings(call->queue);
    struct queue_event first;

    while ((settings->max_events > 0 &&
            queue_count(call->queue) > settings->max_events) ||
           (settings->max_bytes > 0 &&
            queue_data(call->queue) > settings->max_bytes)) {
        if (!queue_first(call->queue, &first) ||
            first.due == COMMANDS_PUSH_LAST)
            break;
        host_replicate(call->host, "DEL", &first.id, 1);
        (void)queue_remove(call->queue, first.id);
        queue_counts(call->queue)->dropped++;
    }
}

static void
commands_push_pushed(struct call *call, uint64_t count, uint64_t due)
{
    queue_counts(call->queue)->pushed += count;
    command_totals.pushed += count;
    host_notify(call->host, "lawn.push");
    call->changed = true;
    call->earliest = due;
}

/* Puts events in, all or none, and drops others if need be; *added: how many are
 * new. False: no memory. */
static bool
commands_push_in(struct call *call, struct queue_event *events, size_t count,
                 bool drop, uint64_t *added)
{
    struct queue_event when = events[0];

    for (size_t i = 0; drop && i < count; i++) {
        events[i].due = COMMANDS_PUSH_LAST;
        events[i].ttl = COMMANDS_PUSH_LAST - call->now;
        events[i].alone = true;
    }
    if (queue_put_all(call->queue, events, count, added) != 0)
        return false;
    if (drop)
        commands_push_drop(call);
    for (size_t i = 0; drop && i < count; i++) {
        when.id = events[i].id;
        if (queue_move(call->queue, &when) != 0)
            assert(false);
    }
    return true;
}

bool
commands_put(struct call *call, const struct queue_event *event, bool made)
{
    const struct queue_settings *settings = queue_settings(call->queue);
    struct commands_at at;
    struct bytes words[ADD_WORDS] = {event->id, event->payload};
    uint64_t added;
    bool drop = false;
    bool done;

    if (settings->max_events > 0 || settings->max_bytes > 0) {
        struct commands_push_tally tally = {0};
        commands_push_count(call->queue, event->id, event->payload, &tally);
        if (!commands_push_room(call, &tally, &drop))
            return false;
    }
    if (drop) {
        struct queue_event one = *event;
        done = commands_push_in(call, &one, 1, true, &added);
    } else {
        done = queue_put(call->queue, event) >= 0;
    }
    if (!done) {
        host_error(call->host, COMMANDS_OOM);
        return false;
    }
    words[ADD_DUE] = commands_number(event->due, at.due);
    words[ADD_TTL] = commands_number(event->ttl, at.ttl);
    words[ADD_META] = bytes_of("");
    if (event->alone || made || event->repeat.period > 0) {
        struct args_meta meta = {event->alone, made, event->repeat};
        words[ADD_META] =
            (struct bytes){at.meta, args_meta_write(&meta, at.meta)};
    }
    host_replicate(call->host, "ADD", words, ADD_WORDS);
    commands_push_pushed(call, 1, event->due);
    return true;
}

/* An id of the server's that is not in the key. */
static struct bytes
commands_push_make(const struct call *call, char text[IDS_SIZE])
{
    struct bytes id = {text, 0};

    do {
        id.size = ids_next(call->now, text);
    } while (call->queue != NULL && queue_get(call->queue, id, NULL));
    return id;
}

void
commands_push(struct call *call)
{
    struct queue_event event = {.id = call->args[2], .payload = call->args[3]};
    bool made = event.id.size == 1 && event.id.at[0] == '*';
    struct args_push args;
    char text[IDS_SIZE];
    const char *error = args_push(call->args + 4, call->count - 4, &args);

    if (error != NULL) {
        host_error(call->host, error);
        return;
    }
    if (!commands_fit(call, event.id, event.payload))
        return;
    if (args.absent || args.present) {
        bool there = !made && call->queue != NULL &&
                     queue_get(call->queue, event.id, NULL);
        if (there ? args.absent : args.present) {
            host_null(call->host);
            return;
        }
    }
    if (!commands_open(call))
        return;
    if (made)
        event.id = commands_push_make(call, text);
    event.repeat = args.repeat;
    commands_when(call, &args.time, args.jitter, &event);
    if (commands_put(call, &event, made))
        host_bytes(call->host, event.id);
}

static int
commands_push_compare(const void *a, const void *b)
{
    const struct bytes *one = *(const struct bytes *const *)a;
    const struct bytes *other = *(const struct bytes *const *)b;
    size_t size = one->size < other->size ? one->size : other->size;
    int order = size > 0 ? memcmp(one->at, other->at, size) : 0;

    if (order != 0)
        return order;
    if (one->size != other->size)
        return one->size < other->size ? -1 : 1;
    return one < other ? -1 : 1;
}

/* Whether all pairs together are within the limits: sorted, so that each id is
 * counted once, with the payload that comes last. */
static bool
commands_push_limits(struct call *call, const struct args_mpush *args,
                     bool *drop)
{
    const struct queue_settings *settings = queue_settings(call->queue);
    struct commands_push_tally tally = {0};
    const struct bytes **ids;

    *drop = false;
    if (settings->max_events == 0 && settings->max_bytes == 0)
        return true;
    ids = memory_alloc(args->count * sizeof(const struct bytes *));
    if (ids == NULL) {
        host_error(call->host, COMMANDS_OOM);
        return false;
    }
    for (size_t i = 0; i < args->count; i++)
        ids[i] = &args->pairs[2 * i];
    qsort(ids, args->count, sizeof *ids, commands_push_compare);
    for (size_t i = 0; i < args->count; i++) {
        if (i + 1 == args->count || !bytes_equal(*ids[i], *ids[i + 1]))
            commands_push_count(call->queue, ids[i][0], ids[i][1], &tally);
    }
    memory_free(ids);
    return commands_push_room(call, &tally, drop);
}

/* MPUSH, with the memory for it. */
static void
commands_push_many(struct call *call, const struct args_mpush *args,
                   struct queue_event *events, struct bytes *words)
{
    struct queue_event when = {0};
    struct args_meta meta = {0};
    struct commands_at at;
    uint64_t added;
    bool drop;

    if (!commands_open(call) || !commands_push_limits(call, args, &drop))
        return;
    commands_when(call, &args->time, 0, &when);
    meta.alone = when.alone;
    for (size_t i = 0; i < args->count; i++) {
        struct bytes *pair = words + i * ADD_WORDS;
        events[i] = when;
        events[i].id = pair[ADD_ID] = args->pairs[2 * i];
        events[i].payload = pair[ADD_PAYLOAD] = args->pairs[2 * i + 1];
        pair[ADD_DUE] = commands_number(when.due, at.due);
        pair[ADD_TTL] = commands_number(when.ttl, at.ttl);
        pair[ADD_META] =
            (struct bytes){at.meta, args_meta_write(&meta, at.meta)};
    }
    if (!commands_push_in(call, events, args->count, drop, &added)) {
        host_error(call->host, COMMANDS_OOM);
        return;
    }
    host_replicate(call->host, "ADD", words, args->count * ADD_WORDS);
    commands_push_pushed(call, args->count, when.due);
    host_integer(call->host, (int64_t)added);
}

void
commands_mpush(struct call *call)
{
    struct args_mpush args;
    struct queue_event *events;
    const char *error = args_mpush(call->args + 2, call->count - 2, &args);

    if (error != NULL) {
        host_error(call->host, error);
        return;
    }
    for (size_t i = 0; i < args.count; i++) {
        if (!commands_fit(call, args.pairs[2 * i], args.pairs[2 * i + 1]))
            return;
    }
    events = memory_alloc(args.count *
                          (sizeof *events + ADD_WORDS * sizeof(struct bytes)));
    if (events == NULL) {
        host_error(call->host, COMMANDS_OOM);
        return;
    }
    commands_push_many(call, &args, events,
                       (struct bytes *)(void *)(events + args.count));
    memory_free(events);
}
