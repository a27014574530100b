/* type.c - what the server asks of a data type: to save, load, rewrite, digest,
 * copy, measure, defragment and free it.
 *
 * The name and the older form are ReDe's, so that its files can be read. A value
 * may be freed by a thread of the server's: then nothing but the value and the
 * count is touched. Saving and rewriting happen in a child process.
 */
#include "type.h"

#include "args.h"
#include "commands.h"
#include "ids.h"
#include "image.h"
#include "server.h"
#include "wake.h"

#include <stdatomic.h>
#include <stdio.h>

#define TYPE_NAME "dehy-type"
/* A command of a rewritten append-only file has no more than these. */
#define TYPE_BATCH_EVENTS 256u
#define TYPE_BATCH_BYTES (1024u * 1024u)
#define TYPE_BATCH_WORDS (TYPE_BATCH_EVENTS * COMMANDS_LEASE_WORDS)

struct redis_type *type_ours;
static atomic_uint_fast64_t type_values;

uint64_t
type_count(void)
{
    return atomic_load_explicit(&type_values, memory_order_relaxed);
}

static struct queue *
type_counted(struct queue *queue)
{
    if (queue)
        atomic_fetch_add_explicit(&type_values, 1, memory_order_relaxed);
    return queue;
}

struct queue *
type_new(uint64_t now)
{
    return type_counted(queue_new(now, command_limits.max_ttls));
}

void
type_free(void *value)
{
    atomic_fetch_sub_explicit(&type_values, 1, memory_order_relaxed);
    queue_free(value);
}

/* DUMP FILES */

static void
type_save_number(uint64_t number, void *io)
{
    redis.SaveUnsigned(io, number);
}

static void
type_save_string(struct bytes string, void *io)
{
    redis.SaveStringBuffer(io, string.size ? string.at : "", string.size);
}

static void
type_save(struct redis_io *io, void *value)
{
    struct image_writer writer = {type_save_number, type_save_string, io};
    image_save(value, &writer);
}

struct type_load {
    struct redis_io *io;
    char *string; /* the last one read */
};

static bool
type_load_number(uint64_t *number, void *arg)
{
    struct type_load *load = arg;
    *number = redis.LoadUnsigned(load->io);
    return !redis.IsIOError(load->io);
}

static bool
type_load_string(struct bytes *string, void *arg)
{
    struct type_load *load = arg;
    if (load->string)
        redis.Free(load->string);
    load->string = redis.LoadStringBuffer(load->io, &string->size);
    string->at = load->string;
    return load->string != NULL && !redis.IsIOError(load->io);
}

/* So much of a name stands in the log, with nothing that would end the line. */
#define TYPE_LOGGED 256u
static void
type_complain(struct redis_io *io, struct bytes name, const char *error)
{
    char text[TYPE_LOGGED + 1];
    size_t size = name.size < TYPE_LOGGED ? name.size : TYPE_LOGGED;
    memcpy(text, name.at, size);
    for (size_t i = 0; i < size; i++) {
        if (text[i] < ' ' || text[i] > '~')
            text[i] = '?';
    }
    text[size] = '\0';
    redis.LogIOError(io, "warning", "cannot load key '%s': %s", text, error);
}

static void *
type_load(struct redis_io *io, int version)
{
    const struct redis_string *key = redis.GetKeyNameFromIO(io);
    struct bytes name = key ? server_bytes(key) : bytes_of("");
    struct type_load load = {io, NULL};
    struct image_reader reader = {type_load_number, type_load_string, &load};
    const char *error = "it was written by a later version";
    struct queue *queue = NULL;
    if (version <= IMAGE_VERSION)
        queue = type_counted(
            image_load(&reader, version, command_limits.max_ttls, &error));
    if (load.string)
        redis.Free(load.string);
    if (!queue)
        type_complain(io, name, error);
    else if (queue_token(queue) > 0)
        commands_heard_token(queue_token(queue),
                             (uint64_t)redis.Milliseconds());
    if (queue && key)
        wake_loaded(redis.GetDbIdFromIO(io), name, queue);
    return queue;
}

/* THE APPEND-ONLY FILE */

struct type_rewrite {
    struct redis_io *io;
    struct redis_string *key;
    uint64_t due;       /* when the event that is due first is */
    struct bytes first; /* its id, once it was written */
    bool only;          /* write that one, and stop */
    uint64_t now;
    size_t count;
    size_t bytes;
    struct redis_string *words[TYPE_BATCH_WORDS];
};

static void
type_emit(struct type_rewrite *rewrite, const char *verb)
{
    if (rewrite->count == 0)
        return;
    redis.EmitAOF(rewrite->io, "LAWN.APPLY", "scv", rewrite->key, verb,
                  rewrite->words, rewrite->count);
    for (size_t i = 0; i < rewrite->count; i++)
        redis.FreeString(NULL, rewrite->words[i]);
    rewrite->count = 0;
    rewrite->bytes = 0;
}

static void
type_word(struct type_rewrite *rewrite, struct bytes word)
{
    rewrite->words[rewrite->count++] =
        redis.CreateString(NULL, word.size ? word.at : "", word.size);
    rewrite->bytes += word.size;
}

static void
type_number(struct type_rewrite *rewrite, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    type_word(rewrite, bytes_of(text));
}

/* What LAWN.APPLY knows of an event beside its times. */
static void
type_meta(struct type_rewrite *rewrite, const struct queue_event *event)
{
    char text[ARGS_META_SIZE];
    struct args_meta meta = {
        .alone = event->alone, .repeat = event->repeat, .tries = event->tries};
    type_word(rewrite, (struct bytes){text, args_meta_write(&meta, text)});
}

static bool
type_rewrite_due(const struct queue_event *event, void *arg)
{
    struct type_rewrite *rewrite = arg;
    if (event->due < rewrite->due)
        rewrite->due = event->due;
    return true;
}

static bool
type_rewrite_event(const struct queue_event *event, void *arg)
{
    struct type_rewrite *rewrite = arg;
    if (rewrite->only ? event->due != rewrite->due
                      : bytes_equal(event->id, rewrite->first))
        return true;
    if (rewrite->only)
        rewrite->first = event->id;
    type_word(rewrite, event->id);
    type_word(rewrite, event->payload);
    type_number(rewrite, event->due);
    type_number(rewrite, event->ttl);
    type_meta(rewrite, event);
    if (rewrite->count >= TYPE_BATCH_EVENTS * COMMANDS_ADD_WORDS ||
        rewrite->bytes >= TYPE_BATCH_BYTES)
        type_emit(rewrite, "ADD");
    return !rewrite->only;
}

/* Who has an event. It was added with its due time and tries. */
static bool
type_rewrite_lease(const struct queue_event *event, void *arg)
{
    struct type_rewrite *rewrite = arg;
    const struct queue_lease *lease = &event->lease;
    uint64_t ttl = lease->ttl;
    if (lease->token == 0)
        return true;
    /* What leads to a time that is after all times is not taken. */
    if (ttl == 0 && lease->end > QUEUE_TIME_MAX)
        ttl = lease->end - rewrite->now;
    type_word(rewrite, event->id);
    type_number(rewrite, lease->token);
    type_number(rewrite, event->tries.made);
    type_number(rewrite, event->tries.most);
    type_number(rewrite, lease->end);
    type_number(rewrite, ttl);
    type_word(rewrite, lease->owner);
    if (rewrite->count + COMMANDS_LEASE_WORDS > TYPE_BATCH_WORDS ||
        rewrite->bytes >= TYPE_BATCH_BYTES)
        type_emit(rewrite, "LEASE");
    return true;
}

static void
type_rewrite_sink(struct type_rewrite *rewrite, const struct queue_sink *sink)
{
    if (sink->kind == QUEUE_SINK_NONE && sink->dead.size == 0)
        return;
    type_word(rewrite, bytes_of(args_sink_names[sink->kind]));
    type_word(rewrite, sink->to);
    type_number(rewrite, sink->maxlen);
    type_word(rewrite, sink->dead);
    type_emit(rewrite, "SINK");
}

static void
type_rewrite_settings(struct type_rewrite *rewrite,
                      const struct queue_settings *settings)
{
    static const struct queue_settings none;
    struct args_settings words;
    args_settings_write(settings, &none, &words);
    for (size_t i = 0; i < words.count; i++)
        type_word(rewrite, words.words[i]);
    type_emit(rewrite, "CFG");
}

/* The last id that was made may be of an event that is gone, and is not to be made
 * again: so there is such an event for a moment. A process that rewrites a file
 * does that once. */
static void
type_rewrite_ids(struct type_rewrite *rewrite)
{
    static bool done;
    uint64_t ms;
    uint64_t number;
    char text[IDS_SIZE];
    ids_last(&ms, &number);
    if (done || (ms == 0 && number == 0))
        return;
    done = true;
    snprintf(text, sizeof(text), "%llu-%llu", (unsigned long long)ms,
             (unsigned long long)number);
    /* Not due, should the file be sent to a server where someone waits. */
    char never[IDS_SIZE];
    snprintf(never, sizeof(never), "%llu", (unsigned long long)ARGS_DUE_MAX);
    const char *words[COMMANDS_ADD_WORDS] = {text, "", never, never, "g"};
    for (size_t i = 0; i < COMMANDS_ADD_WORDS; i++)
        type_word(rewrite, bytes_of(words[i]));
    type_emit(rewrite, "ADD");
    type_word(rewrite, bytes_of(text));
    type_emit(rewrite, "DEL");
}

/* The event that is due first comes first: it was pushed before any other is
 * due, so a queue that begins with it does not take others for late. */
static void
type_rewrite(struct redis_io *io, struct redis_string *key, void *value)
{
    struct queue *queue = value;
    struct type_rewrite *rewrite = redis.Alloc(sizeof(*rewrite));
    *rewrite =
        (struct type_rewrite){.io = io, .key = key, .now = queue_now(queue)};
    type_rewrite_ids(rewrite);
    type_rewrite_settings(rewrite, queue_settings(queue));
    type_rewrite_sink(rewrite, queue_sink(queue));
    if (queue_count(queue) > 0) {
        rewrite->due = LAWN_NEVER;
        queue_each(queue, type_rewrite_due, rewrite);
        rewrite->only = true;
        queue_each(queue, type_rewrite_event, rewrite);
        rewrite->only = false;
        queue_each(queue, type_rewrite_event, rewrite);
        type_emit(rewrite, "ADD");
        queue_each(queue, type_rewrite_lease, rewrite);
        type_emit(rewrite, "LEASE");
    }
    if (queue_token(queue) > 0) {
        type_number(rewrite, queue_token(queue));
        type_emit(rewrite, "TOKEN");
    }
    redis.Free(rewrite);
}

/* THE REST */

static void
type_digest_string(struct redis_digest *digest, struct bytes string)
{
    redis.DigestAddStringBuffer(digest, string.size ? string.at : "",
                                string.size);
}

static bool
type_digest_event(const struct queue_event *event, void *arg)
{
    struct redis_digest *digest = arg;
    type_digest_string(digest, event->id);
    type_digest_string(digest, event->payload);
    redis.DigestAddLongLong(digest, (long long)event->due);
    redis.DigestAddLongLong(digest, (long long)event->repeat.period);
    redis.DigestAddLongLong(digest, (long long)event->repeat.times);
    redis.DigestAddLongLong(digest, (long long)event->repeat.missed);
    redis.DigestAddLongLong(digest, (long long)event->tries.made);
    redis.DigestAddLongLong(digest, (long long)event->tries.most);
    redis.DigestAddLongLong(digest, (long long)event->lease.token);
    redis.DigestAddLongLong(digest, (long long)event->lease.end);
    type_digest_string(digest, event->lease.owner);
    redis.DigestEndSequence(digest);
    return true;
}

static void
type_digest(struct redis_digest *digest, void *value)
{
    const struct queue_settings *settings = queue_settings(value);
    const struct queue_sink *sink = queue_sink(value);
    redis.DigestAddLongLong(digest, (long long)settings->max_events);
    redis.DigestAddLongLong(digest, (long long)settings->max_bytes);
    redis.DigestAddLongLong(digest, (long long)settings->overflow);
    redis.DigestAddLongLong(digest, (long long)settings->resolution);
    redis.DigestAddLongLong(digest, (long long)settings->paused);
    redis.DigestAddLongLong(digest, (long long)settings->tries);
    redis.DigestAddLongLong(digest, (long long)settings->lease);
    redis.DigestAddLongLong(digest, (long long)sink->kind);
    type_digest_string(digest, sink->to);
    redis.DigestAddLongLong(digest, (long long)sink->maxlen);
    type_digest_string(digest, sink->dead);
    redis.DigestAddLongLong(digest, (long long)queue_token(value));
    redis.DigestEndSequence(digest);
    queue_each(value, type_digest_event, digest);
}

static size_t
type_bytes(struct redis_names *names, const void *value, size_t samples)
{
    (void)names;
    (void)samples;
    return queue_bytes(value);
}

static size_t
type_effort(struct redis_names *names, const void *value)
{
    (void)names;
    return (size_t)queue_count(value) + 1;
}

static void
type_unlink(struct redis_names *names, const void *value)
{
    const struct redis_string *key = redis.GetKeyNameFromOptCtx(names);
    if (key)
        wake_unlinked(redis.GetDbIdFromOptCtx(names), server_bytes(key), value);
}

/* A copy has no sink: who may read a key and make another may not write where the
 * first one's events go. */
static void *
type_copy(struct redis_names *names, const void *value)
{
    static const struct queue_sink none;
    (void)names;
    struct queue *copy = type_counted(queue_copy(value));
    if (copy)
        queue_set_sink(copy, &none);
    return copy;
}

static void *
type_moved(void *memory, void *defrag)
{
    return redis.DefragAlloc(defrag, memory);
}

static bool
type_stop(void *defrag)
{
    return redis.DefragShouldStop(defrag) != 0;
}

/* A small value is done at once, and has no cursor. */
static int
type_defrag(struct redis_defrag *defrag, struct redis_string *key, void **value)
{
    (void)key;
    unsigned long cursor = 0;
    bool goes_on = redis.DefragCursorGet(defrag, &cursor) == REDIS_OK;
    uint64_t next = queue_defrag(*value, cursor, type_moved, type_stop, defrag);
    if (!goes_on)
        return 0;
    redis.DefragCursorSet(defrag, (unsigned long)next);
    return next != 0;
}

bool
type_init(struct redis_ctx *ctx)
{
    static struct redis_methods methods = {.version = REDIS_METHODS,
                                           .rdb_load = type_load,
                                           .rdb_save = type_save,
                                           .aof_rewrite = type_rewrite,
                                           .digest = type_digest,
                                           .free = type_free,
                                           .defrag = type_defrag,
                                           .mem_usage2 = type_bytes,
                                           .free_effort2 = type_effort,
                                           .unlink2 = type_unlink,
                                           .copy2 = type_copy};
    type_ours = redis.CreateDataType(ctx, TYPE_NAME, IMAGE_VERSION, &methods);
    return type_ours != NULL;
}
