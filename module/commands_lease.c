/* commands_lease.c - LEASE, ACK, NACK and EXTEND: an event is delivered, and
 * stays in the queue until its owner acknowledges it.
 *
 * A TOKEN identifies a lease. It exceeds all earlier tokens of the key and of
 * deleted keys of that name. Tokens follow the clock, so it also exceeds those
 * that a former master did not replicate, unless that master's clock was ahead.
 * Two servers that both act as master usually issue tokens that differ in their
 * last bits: see struct commands_tokens. A token is valid until the event is
 * leased again, moved or removed, even after the end of the lease.
 *
 * THE END of a lease is replicated with the lease, so nothing is replicated
 * when it is reached. LEASE also counts the deliveries of an event and fixes
 * their maximum, so an event becomes dead without replication.
 *
 * LEASE and ACK need no memory other than the event's block. If memory suffices
 * for only some of the requested events, those are leased.
 */
#include "commands.h"

#include "invariant.h"
#include "memory.h"

/* Up to this number of leases, no memory is allocated. */
#define LEASE_FEW 4u
/* Only a forged command or file has the greatest token: no clock reaches its
 * value. */
#define LEASE_NO_TOKEN                                                         \
    "ERR the key has no lease tokens left; push its events into another key"

struct commands_lease_one {
    struct queue_event event;
    char token[COMMANDS_NUMBER];
    char made[COMMANDS_NUMBER];
    char most[COMMANDS_NUMBER];
};

struct commands_leases {
    struct queue_lease lease; /* all fields except the token */
    uint64_t most;            /* maximum tries of events without their own */
    char end[COMMANDS_NUMBER];
    char ttl[COMMANDS_NUMBER];
    struct bytes end_word;
    struct bytes ttl_word;
    struct commands_lease_one *ones;
    struct bytes *words;
    size_t count;
    struct commands_lease_one few[LEASE_FEW];
    struct bytes few_words[LEASE_FEW * REPLICATION_LEASE_WORDS];
};

static unsigned
token_suffix(const struct call *call)
{
    struct commands_tokens *tokens = &commands_tokens;
    const unsigned step = COMMANDS_TOKEN_STEP;

    if (tokens->step == 0) {
        tokens->step = 1 + (unsigned)host_random(call->host, step - 1);
        tokens->start = (unsigned)host_random(call->host, step);
    }
    return (tokens->heard ? tokens->other + tokens->step : tokens->start) %
           step;
}

/* Returns 0 if no unused token remains. */
static uint64_t
new_token(const struct call *call)
{
    uint64_t last = queue_token(call->queue);
    uint64_t most = ARGS_TOKEN_MAX / COMMANDS_TOKENS;
    uint64_t clock = (call->wall < most ? call->wall : most) * COMMANDS_TOKENS;

    /* Another key of this name may have existed a moment ago. */
    if (last < commands_tokens.last) {
        last = commands_tokens.last;
    }
    uint64_t token = last < clock ? clock : last + 1;
    token += (token_suffix(call) - token) % COMMANDS_TOKEN_STEP;
    return token <= ARGS_TOKEN_MAX ? token : 0;
}

static void
set_end(const struct call *call, uint64_t ms, struct commands_leases *leases)
{
    struct queue_lease *lease = &leases->lease;

    lease->end = call->now + ms < ARGS_DUE_MAX ? call->now + ms : ARGS_DUE_MAX;
    lease->ttl = lease->end - call->now;
    leases->end_word = commands_number(lease->end, leases->end);
    leases->ttl_word = commands_number(lease->ttl, leases->ttl);
}

/* Returns false if memory allocation fails. */
static bool
lease_event(struct call *call, struct commands_leases *leases,
            const struct queue_event *event, struct queue_tries tries)
{
    struct commands_lease_one *one = &leases->ones[leases->count];
    struct bytes *words =
        &leases->words[leases->count * REPLICATION_LEASE_WORDS];

    if (queue_lease_event(call->queue, event->id, &leases->lease, tries,
                          &one->event) != 0) {
        return false;
    }
    commands_note_token(leases->lease.token, call->wall);
    words[REPLICATION_LEASE_ID] = one->event.id;
    words[REPLICATION_LEASE_TOKEN] =
        commands_number(leases->lease.token, one->token);
    words[REPLICATION_LEASE_MADE] = commands_number(tries.made, one->made);
    words[REPLICATION_LEASE_MOST] = commands_number(tries.most, one->most);
    words[REPLICATION_LEASE_END] = leases->end_word;
    words[REPLICATION_LEASE_TTL] = leases->ttl_word;
    words[REPLICATION_LEASE_OWNER] = leases->lease.owner;
    leases->count++;
    return true;
}

/* Leases the first due event. Returns false if there is no memory or no
 * token. */
static bool
lease_first(struct call *call, struct commands_leases *leases)
{
    struct queue_counts *counts = queue_counts_of(call->queue);
    const void *cursor = NULL;
    struct queue_event event;

    INVARIANT(queue_ready(call->queue, &cursor, &event),
              "there are fewer ready events than were counted");
    struct queue_tries tries = event.tries;
    if (tries.most == 0) {
        tries.most = (uint32_t)leases->most;
    }
    if (tries.made < UINT32_MAX) {
        tries.made++;
    }
    leases->lease.token = new_token(call);
    if (leases->lease.token == 0 || !lease_event(call, leases, &event, tries)) {
        return false;
    }
    commands_note_late(call, &event);
    counts->leased++;
    command_totals.leased++;
    if (tries.made > 1) {
        counts->redelivered++;
        command_totals.redelivered++;
    }
    return true;
}

/* Allocates room for count leases or, if that fails, for a few. Returns the
 * number. */
static size_t
reserve(struct commands_leases *leases, size_t count)
{
    leases->ones = leases->few;
    leases->words = leases->few_words;
    if (count <= LEASE_FEW) {
        return count;
    }
    void *memory = memory_alloc(
        count * (sizeof(*leases->ones) +
                 REPLICATION_LEASE_WORDS * sizeof(*leases->words)));
    if (memory == NULL) {
        return LEASE_FEW;
    }
    leases->ones = memory;
    leases->words = (struct bytes *)(void *)(leases->ones + count);
    return count;
}

static void
replicate_leases(struct call *call, const struct commands_leases *leases)
{
    host_replicate(call->host, "LEASE", leases->words,
                   leases->count * REPLICATION_LEASE_WORDS);
    call->changed = true;
    call->earliest = leases->lease.end;
}

static void
reply_leases(struct call *call, const struct commands_leases *leases)
{
    struct host *host = call->host;

    host_array(host, leases->count);
    for (size_t i = 0; i < leases->count; i++) {
        const struct queue_event *event = &leases->ones[i].event;
        host_array(host, 5);
        host_bytes(host, event->id);
        host_bytes(host, event->payload);
        host_integer(host, (int64_t)event->lease.token);
        host_integer(host, event->tries.made);
        host_integer(host, (int64_t)event->due);
    }
}

static void
lease_due(struct call *call, size_t count, uint64_t ms)
{
    const struct queue_settings *settings = queue_settings_of(call->queue);

    if (ms == 0) {
        ms = settings->lease > 0 ? settings->lease : command_limits.lease;
    }
    struct commands_leases leases;
    leases.lease.owner = call->args[2];
    leases.most = settings->tries > 0 ? settings->tries : command_limits.tries;
    leases.count = 0;
    set_end(call, ms, &leases);
    count = reserve(&leases, count);
    while (leases.count < count && lease_first(call, &leases)) {
        continue;
    }
    if (leases.count == 0) {
        host_error(call->host,
                   leases.lease.token == 0 ? LEASE_NO_TOKEN : COMMANDS_OOM);
    } else {
        reply_leases(call, &leases);
        replicate_leases(call, &leases);
        host_notify(call->host, "lawn.lease");
    }
    if (leases.ones != leases.few) {
        memory_free(leases.ones);
    }
}

void
commands_lease(struct call *call)
{
    struct args_lease args;
    const char *error =
        args_parse_lease(call->args + 3, call->count - 3, &args);

    if (error == NULL && call->args[2].size > QUEUE_OWNER_MAX) {
        error = "ERR owner is longer than 255 bytes";
    }
    if (error != NULL) {
        host_error(call->host, error);
        return;
    }
    size_t count = commands_count_due(call, args.count);
    if (count > 0) {
        lease_due(call, count, args.lease);
    } else if (!args.block || !host_block(call->host, args.timeout)) {
        host_array(call->host, 0);
    }
}

/* Returns true and fills *event if the token is valid. */
static bool
find_leased(struct call *call, struct bytes id, uint64_t token,
            struct queue_event *event)
{
    if (call->queue == NULL || token == 0 ||
        !queue_get(call->queue, id, event) || event->lease.token != token) {
        return false;
    }
    event->id = id;
    return true;
}

/* Acknowledges one event. Returns false if the token is stale. */
static bool
ack_event(struct call *call, struct commands_batch *batch, struct bytes id,
          uint64_t token)
{
    struct queue_event event;

    if (!find_leased(call, id, token, &event)) {
        return false;
    }
    commands_batch_remove(call, batch, &event);
    queue_counts_of(call->queue)->acked++;
    command_totals.acked++;
    return true;
}

/* Counts the events that recur. Returns false, after an error reply, if an
 * argument is not a token. */
static bool
count_repeating(struct call *call, size_t *again)
{
    *again = 0;
    struct queue_event event;
    struct queue_event next;
    uint64_t token = 0;
    for (size_t i = 2; i < call->count; i += 2) {
        const char *error = args_parse_token(call->args[i + 1], &token);
        if (error != NULL) {
            host_error(call->host, error);
            return false;
        }
        *again += call->count > 4 &&
                  find_leased(call, call->args[i], token, &event) &&
                  commands_next_period(&event, call->now, &next);
    }
    return true;
}

void
commands_ack(struct call *call)
{
    size_t count = (call->count - 2) / 2;

    if (call->count % 2 != 0) {
        host_error(call->host,
                   args_syntax_missing("token", call->args[call->count - 1]));
        return;
    }
    struct commands_batch batch;
    size_t again = 0;
    if (!count_repeating(call, &again) ||
        !commands_batch_init(call, &batch, count, again)) {
        return;
    }
    host_array(call->host, count);
    for (size_t i = 2; i < call->count; i += 2) {
        uint64_t token = 0;
        (void)args_parse_token(call->args[i + 1], &token);
        host_integer(call->host, ack_event(call, &batch, call->args[i], token));
    }
    commands_batch_report(call, &batch, "lawn.ack");
    commands_batch_fini(&batch);
}

/* Sets a new end and token for the event args[2]. Returns the end, or 0 if
 * memory allocation fails. */
static uint64_t
renew_lease(struct call *call, const struct queue_event *event, uint64_t token,
            uint64_t ms)
{
    struct commands_leases leases;

    leases.lease = event->lease;
    leases.lease.token = token;
    leases.count = 0;
    set_end(call, ms, &leases);
    (void)reserve(&leases, 1);
    if (!lease_event(call, &leases, event, event->tries)) {
        return 0;
    }
    leases.words[REPLICATION_LEASE_ID] = call->args[2];
    leases.words[REPLICATION_LEASE_OWNER] = leases.ones[0].event.lease.owner;
    replicate_leases(call, &leases);
    return leases.lease.end;
}

/* The event has no tries left, so it is dead when its lease ends. The lease is
 * set to end now, with a token that no client has. The dead letter stream then
 * receives the event at once, with the last owner and the due time. */
static void
nack_dead(struct call *call, const struct queue_event *event, uint64_t token)
{
    INVARIANT(renew_lease(call, event, token, 0) != 0,
              "there is no memory to change the end of a lease");
    call->earliest = LAWN_NEVER;
    host_notify(call->host, "lawn.nack");
    if (queue_sink_of(call->queue)->dead.size > 0 &&
        !queue_settings_of(call->queue)->paused &&
        call->wall < *queue_armed(call->queue)) {
        host_arm(call->host, call->wall);
    }
}

/* A recurring event stays leased until the DELAY of the command has passed,
 * with a token that no client has. Its due time does not change, and its next
 * periods are counted from that time. */
static void
nack_repeating(struct call *call, const struct queue_event *event,
               uint64_t token, uint64_t delay)
{
    INVARIANT(renew_lease(call, event, token, delay) != 0,
              "there is no memory to change the end of a lease");
    host_notify(call->host, "lawn.nack");
}

static void
nack_waiting(struct call *call, struct queue_event *event,
             const struct args_time *delay)
{
    commands_set_due(call, delay, 0, event);
    INVARIANT(queue_move(call->queue, event) == 0,
              "a leased event is not in its queue, or there is no memory to "
              "move it");
    struct commands_at at;
    struct bytes words[REPLICATION_AT_WORDS];
    commands_at_words(event, &at, words);
    host_replicate(call->host, "AT", words, REPLICATION_AT_WORDS);
    host_notify(call->host, "lawn.nack");
    call->changed = true;
    call->earliest = event->due;
}

/* Finds the event args[2], leased with the token args[3]. error is the result
 * of parsing the remaining arguments. Returns false, after a reply, if they are
 * invalid or no such lease exists. */
static bool
find_leased_args(struct call *call, const char *error, uint64_t *token,
                 struct queue_event *event)
{
    const char *first = args_parse_token(call->args[3], token);

    if (first != NULL) {
        error = first;
    }
    if (error != NULL) {
        host_error(call->host, error);
    } else if (!find_leased(call, call->args[2], *token, event)) {
        host_integer(call->host, 0);
    } else {
        return true;
    }
    return false;
}

void
commands_nack(struct call *call)
{
    struct args_time delay;
    struct queue_event event;
    uint64_t token = 0;

    if (!find_leased_args(
            call, args_parse_nack(call->args + 4, call->count - 4, &delay),
            &token, &event)) {
        return;
    }
    bool dies = event.tries.most > 0 && event.tries.made >= event.tries.most;
    uint64_t fresh = new_token(call);
    if (fresh == 0 && (dies || event.repeat.period > 0)) {
        host_error(call->host, LEASE_NO_TOKEN);
        return;
    }
    if (dies) {
        nack_dead(call, &event, fresh);
    } else if (event.repeat.period > 0) {
        nack_repeating(call, &event, fresh, delay.ms);
    } else {
        nack_waiting(call, &event, &delay);
    }
    host_integer(call->host, 1);
}

void
commands_extend(struct call *call)
{
    struct queue_event event;
    uint64_t token = 0;
    uint64_t ms = 0;

    if (!find_leased_args(
            call, args_parse_extend(call->args + 4, call->count - 4, &ms),
            &token, &event)) {
        return;
    }
    uint64_t end = renew_lease(call, &event, token, ms);
    if (end == 0) {
        host_error(call->host, COMMANDS_OOM);
    } else {
        host_integer(call->host, (int64_t)end);
    }
}
