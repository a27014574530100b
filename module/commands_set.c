/* commands_set.c - CONFIG, PAUSE and RESUME: what is set for a key.
 *
 * A setting that is not the default keeps a key there without events. Replicas
 * hear of those that have changed, so of none if none has.
 */
#include "commands.h"

enum {
    SET_MAXLEN,
    SET_MAXBYTES,
    SET_OVERFLOW,
    SET_RESOLUTION,
    SET_PAUSED,
    SETS
};

static const char *const commands_set_names[SETS] = {
    "maxlen", "maxbytes", "overflow", "resolution-ms", "paused"};

/* A setting as a number: of overflow, whether it drops. */
static uint64_t
commands_set_value(const struct queue_settings *settings, int set)
{
    switch (set) {
    case SET_MAXLEN:
        return settings->max_events;
    case SET_MAXBYTES:
        return settings->max_bytes;
    case SET_OVERFLOW:
        return settings->overflow == QUEUE_DROP_OLDEST;
    case SET_RESOLUTION:
        return settings->resolution > 0 ? settings->resolution : 1;
    default:
        return settings->paused;
    }
}

static const char *
commands_set_overflow(const struct queue_settings *settings)
{
    return settings->overflow == QUEUE_DROP_OLDEST ? "drop-oldest" : "reject";
}

/* Sets them all, and replies OK. */
static void
commands_set(struct call *call, const struct queue_settings *settings)
{
    static const struct queue_settings plain;
    const struct queue_settings *before =
        call->queue != NULL ? queue_settings(call->queue) : &plain;
    char text[SETS][COMMANDS_NUMBER];
    struct bytes words[2 * SETS];
    size_t count = 0;

    for (int i = 0; i < SETS; i++) {
        uint64_t value = commands_set_value(settings, i);
        if (value == commands_set_value(before, i))
            continue;
        words[count++] = bytes_of(commands_set_names[i]);
        words[count++] = i == SET_OVERFLOW
                             ? bytes_of(commands_set_overflow(settings))
                             : commands_number(value, text[i]);
    }
    if (count > 0) {
        if (!commands_open(call))
            return;
        *queue_settings(call->queue) = *settings;
        host_replicate(call->host, "CFG", words, count);
        call->changed = true;
        call->resumed = true;
    }
    host_simple(call->host, "OK");
}

/* The number of a setting that users have; SETS: there is none. */
static int
commands_set_find(struct bytes name)
{
    static const char *const capitals[] = {"MAXLEN", "MAXBYTES", "OVERFLOW",
                                           "RESOLUTION-MS"};

    for (int i = 0; i < SET_PAUSED; i++) {
        if (args_is(name, capitals[i]))
            return i;
    }
    return SETS;
}

static void
commands_set_unknown(struct call *call, struct bytes name)
{
    commands_error(call,
                   "ERR unknown setting '%.*s': there are maxlen, maxbytes, "
                   "overflow and resolution-ms",
                   name.size < 64 ? (int)name.size : 64, name.at);
}

/* Some of the settings, each once, or all. */
static void
commands_set_get(struct call *call)
{
    bool wanted[SETS] = {false};
    size_t count = 0;

    for (size_t i = 3; i < call->count; i++) {
        int set = commands_set_find(call->args[i]);
        if (set == SETS) {
            commands_set_unknown(call, call->args[i]);
            return;
        }
        count += !wanted[set];
        wanted[set] = true;
    }
    if (call->queue == NULL) {
        host_null(call->host);
        return;
    }
    const struct queue_settings *settings = queue_settings(call->queue);
    host_map(call->host, count > 0 ? count : SET_PAUSED);
    for (int i = 0; i < SET_PAUSED; i++) {
        if (count > 0 && !wanted[i])
            continue;
        host_bytes(call->host, bytes_of(commands_set_names[i]));
        if (i == SET_OVERFLOW)
            host_bytes(call->host, bytes_of(commands_set_overflow(settings)));
        else
            host_integer(call->host, (int64_t)commands_set_value(settings, i));
    }
}

void
commands_config(struct call *call)
{
    struct queue_settings settings = {0};

    if (args_is(call->args[2], "GET")) {
        commands_set_get(call);
        return;
    }
    if (!args_is(call->args[2], "SET") || call->count < 5 ||
        call->count % 2 == 0) {
        host_error(call->host, ARGS_SYNTAX);
        return;
    }
    if (call->queue != NULL)
        settings = *queue_settings(call->queue);
    for (size_t i = 3; i < call->count; i += 2) {
        struct bytes name = call->args[i];
        struct bytes value = call->args[i + 1];
        switch (args_setting(name, value, false, &settings)) {
        case ARGS_SET:
            break;
        case ARGS_UNKNOWN:
            commands_set_unknown(call, name);
            return;
        default:
            commands_error(call, "ERR bad value for %s: '%.*s'",
                           commands_set_names[commands_set_find(name)],
                           value.size < 64 ? (int)value.size : 64, value.at);
            return;
        }
    }
    commands_set(call, &settings);
}

static void
commands_set_paused(struct call *call, bool paused)
{
    struct queue_settings settings = {0};

    if (call->queue != NULL)
        settings = *queue_settings(call->queue);
    settings.paused = paused;
    commands_set(call, &settings);
}

void
commands_pause(struct call *call)
{
    commands_set_paused(call, true);
}

void
commands_resume(struct call *call)
{
    commands_set_paused(call, false);
}
