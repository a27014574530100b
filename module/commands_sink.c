/* commands_sink.c - SINK, and the delivery of events by the server: due events
 * to the key's sink, dead events to its dead letter stream.
 *
 * An event is delivered by a command that the module runs in the server (XADD,
 * RPUSH, ...), and is removed from the queue in the same transaction. So after
 * a crash or a failover it is in exactly one of the two places. Memory for a
 * batch of events is allocated before the first delivery; commands_batch.c
 * describes the rest.
 *
 * If a delivery is refused, the event and all events behind it stay, which
 * keeps the order. The delivery is retried after a delay that doubles up to a
 * second. Sink and dead letter stream have separate error states.
 *
 * Another module that is notified of a delivery may delete the key. So the code
 * checks after each delivery whether the queue still exists. If that module
 * renames or moves the key, the drain continues there.
 *
 * O(delivered events). The queue must not change during a delivery, so commands
 * on its key are refused meanwhile.
 */
#include "commands.h"

#include "memory.h"

#include <stdio.h>

#define SINK_CHUNK 256u
/* The delay after a refusal, in ms. */
#define SINK_DELAY 10u
#define SINK_DELAY_MAX 1000u
#define SINK_OWN "ERR a key cannot be its own sink"
#define SINK_OWN_DEAD "ERR a key cannot be its own DEADLETTER stream"

/* LAWN.SINK */

/* Parses the arguments after the key. DEADLETTER is always last, so that its
 * stream has a fixed position for permission checks. */
static const char *
parse_sink(const struct bytes *words, size_t count, struct queue_sink *out)
{
    size_t at = 1;

    *out = (struct queue_sink){0};
    if (!args_parse_sink(words[0], &out->kind)) {
        return args_syntax_near(words[0]);
    }
    if (out->kind != QUEUE_SINK_NONE) {
        if (at == count) {
            return args_syntax_missing("argument", words[0]);
        }
        out->to = words[at++];
    }
    if (out->kind == QUEUE_SINK_STREAM && at < count &&
        args_is(words[at], "MAXLEN")) {
        struct bytes option = words[at++];
        at += at < count && bytes_equal(words[at], bytes_of("~"));
        if (at == count) {
            return args_syntax_missing("argument", option);
        }
        if (!args_parse_number(words[at], 1, ARGS_COUNT_MAX, &out->maxlen)) {
            return args_not_in_range("MAXLEN", ARGS_COUNT_RANGE("1"),
                                     words[at]);
        }
        at++;
    }
    if (at < count && args_is(words[at], "DEADLETTER")) {
        if (at + 1 == count) {
            return args_syntax_missing("argument", words[at]);
        }
        out->dead = words[at + 1];
        at += 2;
    }
    return at == count ? NULL : args_syntax_near(words[at]);
}

static const char *
check_sink(struct call *call, const struct queue_sink *sink, bool dead)
{
    bool channel =
        sink->kind == QUEUE_SINK_PUBLISH || sink->kind == QUEUE_SINK_SPUBLISH;

    if (sink->to.size > QUEUE_NAME_MAX || sink->dead.size > QUEUE_NAME_MAX) {
        return "ERR name of the sink or DEADLETTER stream is longer than 65535 "
               "bytes";
    }
    if (dead && sink->dead.size == 0) {
        return "ERR DEADLETTER requires a non-empty stream name";
    }
    if (!channel && sink->kind != QUEUE_SINK_NONE &&
        bytes_equal(sink->to, call->args[1])) {
        return SINK_OWN;
    }
    if (sink->dead.size > 0 && bytes_equal(sink->dead, call->args[1])) {
        return SINK_OWN_DEAD;
    }
    if (channel && !host_may_publish(call->host, sink->to)) {
        return "NOPERM this user has no permission to publish to the sink's "
               "channel";
    }
    return NULL;
}

static bool
same_sink(const struct queue_sink *a, const struct queue_sink *b)
{
    return a->kind == b->kind && a->maxlen == b->maxlen &&
           bytes_equal(a->to, b->to) && bytes_equal(a->dead, b->dead);
}

static bool
sink_grows(const struct call *call, const struct queue_sink *sink)
{
    if (call->queue == NULL) {
        return true;
    }
    const struct queue_sink *before = queue_sink_of(call->queue);
    return sink->to.size + sink->dead.size >
           before->to.size + before->dead.size;
}

static void
replicate_sink(struct call *call, const struct queue_sink *sink)
{
    char maxlen[COMMANDS_NUMBER];
    struct bytes words[] = {bytes_of(args_sink_names[sink->kind]), sink->to,
                            commands_number(sink->maxlen, maxlen), sink->dead};

    host_replicate(call->host, "SINK", words, sizeof(words) / sizeof(*words));
}

void
commands_sink(struct call *call)
{
    static const struct queue_sink none;
    struct queue_sink sink;
    bool dead =
        call->count > 3 && args_is(call->args[call->count - 2], "DEADLETTER");
    const char *error = parse_sink(call->args + 2, call->count - 2, &sink);

    if (error == NULL) {
        error = check_sink(call, &sink, dead);
    }
    if (error != NULL) {
        host_error(call->host, error);
        return;
    }
    if (call->queue == NULL && same_sink(&sink, &none)) {
        host_simple(call->host, "OK");
        return;
    }
    if (sink_grows(call, &sink) && !commands_may_grow(call)) {
        return;
    }
    if (!commands_open(call)) {
        return;
    }
    if (!same_sink(&sink, queue_sink_of(call->queue))) {
        if (!queue_set_sink(call->queue, &sink)) {
            host_error(call->host, COMMANDS_OOM);
            return;
        }
        replicate_sink(call, &sink);
    }
    /* The cause of an error may have been fixed. */
    *queue_trouble_of(call->queue) = (struct queue_trouble){0};
    *queue_dead_trouble_of(call->queue) = (struct queue_trouble){0};
    call->changed = true;
    call->resumed = true;
    host_simple(call->host, "OK");
}

/* THE TICK */

/* The sink or the dead letter stream. */
struct sink_outlet {
    enum queue_sink_kind kind;
    bool dead;
    struct bytes to;
    uint64_t maxlen;
    struct queue_trouble *trouble;
    struct host_order order; /* the arguments before those of the event */
    char text[COMMANDS_NUMBER];
};

/* Appends an argument that stays valid and unchanged for the whole tick. */
static void
add_word(struct host_order *order, struct bytes word)
{
    order->lasting |= 1u << order->count;
    order->words[order->count++] = word;
}

static void
add_field(struct host_order *order, const char *name, struct bytes value)
{
    add_word(order, bytes_of(name));
    order->words[order->count++] = value;
}

static void
begin_order(struct sink_outlet *way)
{
    static const char *const commands[] = {[QUEUE_SINK_NONE] = "",
                                           [QUEUE_SINK_STREAM] = "XADD",
                                           [QUEUE_SINK_LIST] = "RPUSH",
                                           [QUEUE_SINK_PUBLISH] = "PUBLISH",
                                           [QUEUE_SINK_SPUBLISH] = "SPUBLISH"};
    struct host_order *order = &way->order;

    order->grows =
        way->kind == QUEUE_SINK_STREAM || way->kind == QUEUE_SINK_LIST;
    add_word(order, bytes_of(commands[way->kind]));
    add_word(order, way->to);
    if (way->kind != QUEUE_SINK_STREAM) {
        return;
    }
    if (way->maxlen > 0) {
        add_word(order, bytes_of("MAXLEN"));
        add_word(order, bytes_of("~"));
        add_word(order, commands_number(way->maxlen, way->text));
    }
    add_word(order, bytes_of("*"));
}

/* Returns the number of periods that an event covers, including missed ones. */
static uint64_t
count_periods(const struct queue_event *event, uint64_t now)
{
    if (event->repeat.period == 0 || now <= event->due) {
        return 1;
    }
    return 1 + (now - event->due) / event->repeat.period;
}

static const char *
hand_over(struct call *call, const struct sink_outlet *way,
          const struct queue_event *event)
{
    struct host_order order = way->order;

    if (way->kind != QUEUE_SINK_STREAM) {
        order.words[order.count++] = event->payload;
        return host_call(call->host, &order);
    }
    add_field(&order, "id", event->id);
    add_field(&order, "payload", event->payload);
    char due[COMMANDS_NUMBER];
    add_field(&order, "due", commands_number(event->due, due));
    char count[COMMANDS_NUMBER];
    if (way->dead) {
        add_field(&order, "tries", commands_number(event->tries.made, count));
        add_field(&order, "owner", event->lease.owner);
    } else {
        add_field(&order, "n",
                  commands_number(count_periods(event, call->now), count));
    }
    return host_call(call->host, &order);
}

static bool
next_event(const struct call *call, const struct sink_outlet *way,
           const void **cursor, struct queue_event *event)
{
    return way->dead ? queue_dead(call->queue, cursor, event)
                     : queue_ready(call->queue, cursor, event);
}

static void
count_handed(struct call *call, const struct sink_outlet *way,
             const struct queue_event *event)
{
    struct queue_counts *counts = queue_counts_of(call->queue);

    if (way->dead) {
        counts->dead++;
        command_totals.dead++;
        return;
    }
    counts->handed++;
    command_totals.handed++;
    commands_count_fired(call, event);
}

static bool
queue_is_gone(struct call *call)
{
    call->queue = host_queue(call->host);
    return call->queue == NULL;
}

/* Delivers the next events, at least one if possible, and returns their
 * number. */
static size_t
hand_over_some(struct call *call, const struct sink_outlet *way, size_t count,
               const char **error)
{
    struct commands_batch batch;
    const void *cursor = NULL;
    size_t handed = 0;

    /* any of them may recur */
    if (!commands_batch_reserve(&batch, count, count)) {
        *error = COMMANDS_OOM;
        return 0;
    }
    struct queue_event event;
    struct queue_event next;
    do {
        if (!next_event(call, way, &cursor, &event)) {
            break;
        }
        *error = hand_over(call, way, &event);
        if (queue_is_gone(call)) {
            commands_batch_fini(&batch);
            return 0;
        }
        if (*error != NULL) {
            break;
        }
        bool again = commands_next_period(&event, call->now, &next);
        commands_batch_add(call, &batch, &event, again ? &next : NULL);
        count_handed(call, way, &event);
        handed++;
    } while (handed < count && !host_over(call->host));
    commands_batch_replicate(call, &batch); /* while the bytes exist */
    commands_batch_apply(call, &batch);
    commands_batch_fini(&batch);
    return handed;
}

/* Records a failure, and returns the time of the next attempt. */
static uint64_t
note_failure(struct call *call, struct queue_trouble *trouble,
             const char *error)
{
    uint64_t delay = trouble->delay > 0 ? 2 * trouble->delay : SINK_DELAY;

    queue_counts_of(call->queue)->sink_errors++;
    command_totals.sink_errors++;
    trouble->delay = delay < SINK_DELAY_MAX ? delay : SINK_DELAY_MAX;
    trouble->again = call->wall + trouble->delay;
    (void)snprintf(trouble->text, sizeof(trouble->text), "%s", error);
    for (char *c = trouble->text; *c != '\0'; c++) {
        if (*c < ' ' || *c > '~') {
            *c = '?';
        }
    }
    return trouble->again;
}

/* Returns a reason not to attempt a delivery, or NULL. RENAME may have given
 * the key the name of its own sink. PUBLISH works even where writes are
 * refused, so for a channel this asks the server whether it accepts writes. */
static const char *
find_obstacle(struct call *call, const struct sink_outlet *way)
{
    if (way->kind == QUEUE_SINK_PUBLISH || way->kind == QUEUE_SINK_SPUBLISH) {
        return host_probe(call->host);
    }
    if (!bytes_equal(way->to, call->args[1])) {
        return NULL;
    }
    return way->dead ? SINK_OWN_DEAD : SINK_OWN;
}

/* Returns true if the time of the next attempt has not come. If the clock was
 * set back, does not wait longer than the delay. */
static bool
waits_to_retry(const struct call *call, const struct queue_trouble *trouble)
{
    return trouble->again > call->wall &&
           trouble->again <= call->wall + trouble->delay;
}

static uint64_t
drain_outlet(struct call *call, struct sink_outlet *way, uint64_t there,
             uint64_t *budget)
{
    if (there == 0) {
        return LAWN_NEVER;
    }
    if (waits_to_retry(call, way->trouble)) {
        return way->trouble->again;
    }
    begin_order(way);
    const char *error = find_obstacle(call, way);
    while (!queue_is_gone(call) && error == NULL && there > 0 && *budget > 0) {
        uint64_t count = there < *budget ? there : *budget;
        if (count > SINK_CHUNK) {
            count = SINK_CHUNK;
        }
        size_t handed = hand_over_some(call, way, (size_t)count, &error);
        if (call->queue == NULL) {
            break;
        }
        there -= handed;
        *budget -= handed;
        if (handed > 0) {
            *way->trouble = (struct queue_trouble){0};
        }
        if (host_over(call->host)) {
            break;
        }
    }
    if (call->queue == NULL) {
        return LAWN_NEVER;
    }
    if (error != NULL) {
        return note_failure(call, way->trouble, error);
    }
    return there > 0 ? call->wall : LAWN_NEVER;
}

uint64_t
command_hand_over(struct call *call, uint64_t budget)
{
    struct queue *queue = call->queue;
    const struct queue_sink *sink = queue_sink_of(queue);
    struct sink_outlet due = {.kind = sink->kind,
                              .to = sink->to,
                              .maxlen = sink->maxlen,
                              .trouble = queue_trouble_of(queue)};
    struct sink_outlet dead = {.kind = QUEUE_SINK_STREAM,
                               .dead = true,
                               .to = sink->dead,
                               .trouble = queue_dead_trouble_of(queue)};

    call->earliest = LAWN_NEVER;
    if (queue_settings_of(queue)->paused) {
        return LAWN_NEVER;
    }
    queue_set_now(queue, call->now);
    call->now = queue_now(queue);
    uint64_t ready = queue_promote_due(queue, call->now, budget);
    uint64_t again = LAWN_NEVER;
    if (sink->dead.size > 0) {
        again = drain_outlet(call, &dead, queue_dead_count(queue), &budget);
    }
    if (due.kind != QUEUE_SINK_NONE && call->queue != NULL) {
        uint64_t other = drain_outlet(call, &due, ready, &budget);
        if (other < again) {
            again = other;
        }
    }
    return again;
}
