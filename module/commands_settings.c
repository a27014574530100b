/* commands_settings.c - CONFIG, PAUSE and RESUME: the settings of a key.
 *
 * A setting that is not the default keeps a key without events alive. Only
 * changed settings are replicated. An existing key has room for its settings,
 * so they can be changed when the server is short of memory.
 */
#include "commands.h"

static void
set_all(struct call *call, const struct queue_settings *settings)
{
    static const struct queue_settings plain;
    const struct queue_settings *before =
        call->queue != NULL ? queue_settings_of(call->queue) : &plain;
    struct args_settings words;
    bool resumed = before->paused && !settings->paused;

    args_settings_write(settings, before, &words);
    if (words.count > 0) {
        if ((call->queue == NULL && !commands_may_grow(call)) ||
            !commands_open(call)) {
            return;
        }
        *queue_settings_of(call->queue) = *settings;
        host_replicate(call->host, "CFG", words.words, words.count);
        call->changed = true;
        call->resumed = resumed;
    }
    host_simple(call->host, "OK");
}

static void
reply_unknown(struct call *call, struct bytes name)
{
    commands_error(call,
                   "ERR unknown setting '%.*s'; known are maxlen, maxbytes, "
                   "overflow, resolution-ms, tries and lease",
                   name.size < 64 ? (int)name.size : 64, name.at);
}

static void
reply_setting(struct call *call, enum args_set set)
{
    const struct queue_settings *settings = queue_settings_of(call->queue);

    if (set == ARGS_SET_OVERFLOW) {
        host_bytes(call->host, bytes_of(args_set_names[set]));
        host_bytes(call->host,
                   bytes_of(args_overflow_names[settings->overflow]));
    } else {
        commands_reply_number(call->host, args_set_names[set],
                              args_set_value(settings, set));
    }
}

void
commands_reply_settings(struct call *call)
{
    for (int i = 0; i < COMMANDS_SETTINGS; i++) {
        reply_setting(call, (enum args_set)i);
    }
}

static void
reply_some(struct call *call)
{
    bool wanted[ARGS_SETS] = {false};
    size_t count = 0;

    for (size_t i = 3; i < call->count; i++) {
        enum args_set set = args_set_find(call->args[i]);
        if (set >= ARGS_SET_PAUSED) {
            reply_unknown(call, call->args[i]);
            return;
        }
        count += !wanted[set];
        wanted[set] = true;
    }
    if (call->queue == NULL) {
        host_null(call->host);
        return;
    }
    host_map(call->host, count > 0 ? count : COMMANDS_SETTINGS);
    for (int i = 0; i < COMMANDS_SETTINGS; i++) {
        if (count == 0 || wanted[i]) {
            reply_setting(call, (enum args_set)i);
        }
    }
}

static void
reply_bad_value(struct call *call, struct bytes name, struct bytes value)
{
    enum args_set set = args_set_find(name);

    commands_error(
        call, "ERR invalid value for %s: '%.*s'%s", args_set_names[set],
        value.size < 64 ? (int)value.size : 64, value.at,
        set == ARGS_SET_OVERFLOW ? "; use reject or drop-oldest" : "");
}

void
commands_config(struct call *call)
{
    struct queue_settings settings = {0};

    if (args_is(call->args[2], "GET")) {
        reply_some(call);
        return;
    }
    if (!args_is(call->args[2], "SET")) {
        host_error(call->host, args_syntax_near(call->args[2]));
        return;
    }
    if (call->count < 5 || call->count % 2 == 0) {
        host_error(call->host, args_syntax_missing(
                                   "argument", call->args[call->count - 1]));
        return;
    }
    if (call->queue != NULL) {
        settings = *queue_settings_of(call->queue);
    }
    for (size_t i = 3; i < call->count; i += 2) {
        struct bytes name = call->args[i];
        struct bytes value = call->args[i + 1];
        switch (args_parse_setting(name, value, false, &settings)) {
        case ARGS_SET:
            break;
        case ARGS_UNKNOWN:
            reply_unknown(call, name);
            return;
        default:
            reply_bad_value(call, name, value);
            return;
        }
    }
    set_all(call, &settings);
}

static void
set_paused(struct call *call, bool paused)
{
    struct queue_settings settings = {0};

    if (call->queue != NULL) {
        settings = *queue_settings_of(call->queue);
    }
    settings.paused = paused;
    set_all(call, &settings);
}

void
commands_pause(struct call *call)
{
    set_paused(call, true);
}

void
commands_resume(struct call *call)
{
    set_paused(call, false);
}
