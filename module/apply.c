/* apply.c - LAWN.APPLY: what a master did, done again, with its times.
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
apply_read_id(const struct bytes *words, struct apply_group *group)
{
    group->event.id = words[0];
    return words[0].size <= QUEUE_ID_MAX;
}

static bool
apply_read_payload(const struct bytes *words, struct apply_group *group)
{
    group->event.payload = words[1];
    return apply_read_id(words, group) && words[1].size <= QUEUE_PAYLOAD_MAX;
}

/* due ttl meta. due - ttl is told the queue as its time: a delay more must not be
 * after all times. */
static bool
apply_read_time(const struct bytes *words, struct apply_group *group)
{
    struct queue_event *event = &group->event;
    struct args_meta meta;

    if (!args_number(words[0], 0, ARGS_DUE_MAX, &event->due) ||
        !args_number(words[1], 0, event->due, &event->ttl) ||
        event->due - event->ttl > QUEUE_TIME_MAX ||
        !args_meta_read(words[2], &meta))
        return false;
    event->alone = meta.alone;
    event->repeat = meta.repeat;
    group->made = meta.made;
    return true;
}

static bool
apply_read_at(const struct bytes *words, struct apply_group *group)
{
    return apply_read_id(words, group) && apply_read_time(words + 1, group);
}

static bool
apply_read_add(const struct bytes *words, struct apply_group *group)
{
    return apply_read_payload(words, group) &&
           apply_read_time(words + 2, group);
}

/* Notes when it is due. */
static void
apply_came(struct call *call, const struct apply_group *group)
{
    if (group->event.due < call->earliest)
        call->earliest = group->event.due;
}

static int
apply_add(struct call *call, const struct apply_group *group)
{
    int put = queue_put(call->queue, &group->event);

    if (put < 0)
        return put;
    if (group->made)
        (void)ids_seen_text(group->event.id);
    apply_came(call, group);
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

    if (moved == 0)
        apply_came(call, group);
    return moved;
}

static int
apply_set(struct call *call, const struct apply_group *group)
{
    return queue_update(call->queue, group->event.id, group->event.payload);
}

static const struct apply_verb apply_verbs[] = {
    {"ADD", 5, apply_read_add, apply_add},
    {"DEL", 1, apply_read_id, apply_del},
    {"AT", 4, apply_read_at, apply_at},
    {"SET", 2, apply_read_payload, apply_set},
};

/* Tells who replicates from here, and the append-only file of a replica. */
static void
apply_tell(struct call *call, const char *verb, size_t words)
{
    if (words > 0)
        host_replicate(call->host, verb, call->args + 3, words);
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
    if (call->queue != NULL)
        settings = *queue_settings(call->queue);
    for (size_t i = 3; i < call->count; i += 2) {
        if (args_setting(call->args[i], call->args[i + 1], true, &settings) !=
            ARGS_SET) {
            host_error(call->host, ARGS_SYNTAX);
            return;
        }
    }
    if (!commands_open(call))
        return;
    *queue_settings(call->queue) = settings;
    apply_tell(call, "CFG", call->count - 3);
    call->resumed = true;
    host_simple(call->host, "OK");
}

static void
apply_events(struct call *call, const struct apply_verb *verb)
{
    const struct bytes *words = call->args + 3;
    size_t count = call->count - 3;
    struct apply_group group = {0};
    size_t i;

    if (count == 0 || count % verb->words != 0) {
        host_error(call->host, ARGS_SYNTAX);
        return;
    }
    for (i = 0; i < count; i += verb->words) {
        if (!verb->read(words + i, &group)) {
            host_error(call->host, ARGS_SYNTAX);
            return;
        }
    }
    if (verb->run == apply_add && !commands_open(call))
        return;
    if (call->queue == NULL) {
        host_simple(call->host, "OK");
        return;
    }
    for (i = 0; i < count; i += verb->words) {
        (void)verb->read(words + i, &group);
        if (verb->run(call, &group) == -ENOMEM)
            break;
    }
    apply_tell(call, verb->name, i);
    if (i < count)
        host_error(call->host, COMMANDS_OOM);
    else
        host_simple(call->host, "OK");
}

void
apply_command(struct call *call)
{
    struct bytes verb = call->args[2];

    if (args_is(verb, "CFG")) {
        apply_settings(call);
        return;
    }
    for (size_t i = 0; i < sizeof apply_verbs / sizeof *apply_verbs; i++) {
        if (args_is(verb, apply_verbs[i].name)) {
            apply_events(call, &apply_verbs[i]);
            return;
        }
    }
    host_error(call->host, ARGS_SYNTAX);
}
