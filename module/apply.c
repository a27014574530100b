/* apply.c - LAWN.APPLY: what a master did, done again, with its times.
 *
 *     ADD (id payload due ttl meta)+          DEL id+
 *     AT (id due ttl meta)+                   who had it has it no more
 *     SET (id payload)+
 *     LEASE (id token made most end ttl owner)+
 *     CFG (setting value)+                    SINK kind to maxlen dead
 *     TOKEN n                                 none less is given out
 *
 * Replicas and append-only files hold nothing else. All words are read before
 * anything is done, so what is malformed does nothing; ids that are not there
 * are passed over, since what they were for has been undone meanwhile. No limit
 * of the key's is looked at: the master did. O(words).
 */
#include "commands.h"

#include "ids.h"

#include <errno.h>

/* What a group of words says. */
struct apply_group {
    struct queue_event event;
    bool made; /* the id is one of the server's */
};

/* A verb has groups of so many words; read() says whether one is right; then
 * run() does it: -ENOMEM if there is no memory. */
struct apply_verb {
    const char *name;
    size_t words;
    bool (*read)(const struct bytes *words, struct apply_group *group);
    int (*run)(struct call *call, const struct apply_group *group);
};

static bool
parse_id(const struct bytes *words, struct apply_group *group)
{
    group->event.id = words[0];
    return words[0].size <= QUEUE_ID_MAX;
}

static bool
parse_payload(const struct bytes *words, struct apply_group *group)
{
    group->event.payload = words[1];
    return parse_id(words, group) && words[1].size <= QUEUE_PAYLOAD_MAX;
}

/* due ttl meta. due - ttl is told the queue as its time: a delay more must not be
 * after all times. */
static bool
parse_time(const struct bytes *words, struct apply_group *group)
{
    struct queue_event *event = &group->event;
    struct args_meta meta;

    if (!args_parse_number(words[0], 0, ARGS_DUE_MAX, &event->due) ||
        !args_parse_number(words[1], 0, event->due, &event->ttl) ||
        event->due - event->ttl > QUEUE_TIME_MAX ||
        !args_meta_read(words[2], &meta)) {
        return false;
    }
    event->alone = meta.alone;
    event->repeat = meta.repeat;
    event->tries = meta.tries;
    group->made = meta.made;
    return true;
}

static bool
parse_at(const struct bytes *words, struct apply_group *group)
{
    return parse_id(words, group) && parse_time(words + 1, group);
}

static bool
parse_add(const struct bytes *words, struct apply_group *group)
{
    return parse_payload(words, group) && parse_time(words + 2, group);
}

static bool
parse_lease(const struct bytes *words, struct apply_group *group)
{
    struct queue_lease *lease = &group->event.lease;
    uint64_t made = 0;
    uint64_t most = 0;

    if (!parse_id(words, group) ||
        !args_parse_number(words[REPLICATION_LEASE_TOKEN], 1, ARGS_TOKEN_MAX,
                           &lease->token) ||
        !args_parse_number(words[REPLICATION_LEASE_MADE], 0, ARGS_TRIES_MAX,
                           &made) ||
        !args_parse_number(words[REPLICATION_LEASE_MOST], 0, ARGS_TRIES_MAX,
                           &most) ||
        !args_parse_number(words[REPLICATION_LEASE_END], 0, ARGS_DUE_MAX,
                           &lease->end) ||
        !args_parse_number(words[REPLICATION_LEASE_TTL], 0, lease->end,
                           &lease->ttl) ||
        lease->end - lease->ttl > QUEUE_TIME_MAX ||
        words[REPLICATION_LEASE_OWNER].size > QUEUE_OWNER_MAX) {
        return false;
    }
    lease->owner = words[REPLICATION_LEASE_OWNER];
    group->event.tries = (struct queue_tries){(uint32_t)made, (uint32_t)most};
    return true;
}

/* Notes when there is something to do. */
static void
note_earliest(struct call *call, uint64_t when)
{
    if (when < call->earliest) {
        call->earliest = when;
    }
}

static int
apply_add(struct call *call, const struct apply_group *group)
{
    int put = queue_put(call->queue, &group->event);

    if (put < 0) {
        return put;
    }
    if (group->made) {
        (void)ids_seen_text(group->event.id);
    }
    note_earliest(call, group->event.due);
    return 0;
}

static int
apply_del(struct call *call, const struct apply_group *group)
{
    (void)queue_remove(call->queue, group->event.id);
    return 0;
}

static int
apply_at(struct call *call, const struct apply_group *group)
{
    int moved = queue_move(call->queue, &group->event);

    if (moved == 0) {
        note_earliest(call, group->event.due);
    }
    return moved;
}

static int
apply_lease(struct call *call, const struct apply_group *group)
{
    const struct queue_event *event = &group->event;
    int leased = queue_lease_event(call->queue, event->id, &event->lease,
                                   event->tries, NULL);

    if (leased == 0) {
        commands_learn_token(event->lease.token, call->wall);
        note_earliest(call, event->lease.end);
    }
    return leased;
}

static int
apply_set(struct call *call, const struct apply_group *group)
{
    return queue_update(call->queue, group->event.id, group->event.payload);
}

static const struct apply_verb apply_verbs[] = {
    {"ADD", REPLICATION_ADD_WORDS, parse_add, apply_add},
    {"DEL", 1, parse_id, apply_del},
    {"AT", REPLICATION_AT_WORDS, parse_at, apply_at},
    {"SET", 2, parse_payload, apply_set},
    {"LEASE", REPLICATION_LEASE_WORDS, parse_lease, apply_lease},
};

/* Tells who replicates from here, and the append-only file of a replica. */
static void
replicate(struct call *call, const char *verb, size_t words)
{
    if (words > 0) {
        host_replicate(call->host, verb, call->args + 3, words);
    }
    call->changed = true;
    call->applied = true;
}

static void
apply_settings(struct call *call)
{
    struct queue_settings settings = {0};

    if (call->count < 5 || call->count % 2 == 0) {
        host_error(call->host, ARGS_SYNTAX);
        return;
    }
    if (call->queue != NULL) {
        settings = *queue_settings_of(call->queue);
    }
    for (size_t i = 3; i < call->count; i += 2) {
        if (args_parse_setting(call->args[i], call->args[i + 1], true,
                               &settings) != ARGS_SET) {
            host_error(call->host, ARGS_SYNTAX);
            return;
        }
    }
    if (!commands_open(call)) {
        return;
    }
    *queue_settings_of(call->queue) = settings;
    replicate(call, "CFG", call->count - 3);
    call->resumed = true;
    host_simple(call->host, "OK");
}

static bool
parse_sink(const struct bytes *words, struct queue_sink *sink)
{
    if (!args_parse_sink(words[0], &sink->kind) ||
        !args_parse_number(words[2], 0, ARGS_COUNT_MAX, &sink->maxlen)) {
        return false;
    }
    sink->to = words[1];
    sink->dead = words[3];
    return sink->to.size <= QUEUE_NAME_MAX && sink->dead.size <= QUEUE_NAME_MAX;
}

static void
apply_sink(struct call *call)
{
    struct queue_sink sink = {.kind = QUEUE_SINK_NONE};

    if (call->count != 7 || !parse_sink(call->args + 3, &sink)) {
        host_error(call->host, ARGS_SYNTAX);
        return;
    }
    if (!commands_open(call)) {
        return;
    }
    if (!queue_set_sink(call->queue, &sink)) {
        host_error(call->host, COMMANDS_OOM);
        return;
    }
    replicate(call, "SINK", 4);
    call->resumed = true;
    host_simple(call->host, "OK");
}

static void
apply_token(struct call *call)
{
    uint64_t token = 0;

    if (call->count != 4 ||
        !args_parse_number(call->args[3], 0, ARGS_TOKEN_MAX, &token)) {
        host_error(call->host, ARGS_SYNTAX);
        return;
    }
    if (call->queue != NULL) {
        queue_note_token(call->queue, token);
        commands_learn_token(token, call->wall);
        replicate(call, "TOKEN", 1);
    }
    host_simple(call->host, "OK");
}

static void
apply_events(struct call *call, const struct apply_verb *verb)
{
    const struct bytes *words = call->args + 3;
    size_t count = call->count - 3;
    struct apply_group group = {0};

    if (count == 0 || count % verb->words != 0) {
        host_error(call->host, ARGS_SYNTAX);
        return;
    }
    size_t i = 0;
    for (i = 0; i < count; i += verb->words) {
        if (!verb->read(words + i, &group)) {
            host_error(call->host, ARGS_SYNTAX);
            return;
        }
    }
    if (verb->run == apply_add && !commands_open(call)) {
        return;
    }
    if (call->queue == NULL) {
        host_simple(call->host, "OK");
        return;
    }
    for (i = 0; i < count; i += verb->words) {
        (void)verb->read(words + i, &group);
        if (verb->run(call, &group) == -ENOMEM) {
            break;
        }
    }
    replicate(call, verb->name, i);
    if (i < count) {
        host_error(call->host, COMMANDS_OOM);
    } else {
        host_simple(call->host, "OK");
    }
}

void
apply_command(struct call *call)
{
    static const struct {
        const char *name;
        command_fn *run;
    } others[] = {
        {"CFG", apply_settings}, {"SINK", apply_sink}, {"TOKEN", apply_token}};
    struct bytes verb = call->args[2];

    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (args_is(verb, others[i].name)) {
            others[i].run(call);
            return;
        }
    }
    for (size_t i = 0; i < sizeof(apply_verbs) / sizeof(*apply_verbs); i++) {
        if (args_is(verb, apply_verbs[i].name)) {
            apply_events(call, &apply_verbs[i]);
            return;
        }
    }
    host_error(call->host, ARGS_SYNTAX);
}
