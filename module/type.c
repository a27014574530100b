/* type.c - the methods of the data type: save, load, rewrite, digest, copy,
 * measure, defragment and free.
 *
 * Name and version 0 of the encoding are those of ReDe, so that its files can
 * be read. A thread of the server may free a value; freeing accesses only the
 * value and the number of queues. Saving and rewriting run in a child process.
 */
#include "type.h"

#include "args.h"
#include "commands.h"
#include "ids.h"
#include "image.h"
#include "replication.h"
#include "server_keys.h"
#include "server_keyspace.h"
#include "server_schedule.h"

#include <stdio.h>

#define TYPE_NAME "dehy-type"
/* Limits of one command in a rewritten append-only file. */
#define TYPE_BATCH_EVENTS 256u
#define TYPE_BATCH_BYTES (1024u * 1024u)
#define TYPE_BATCH_WORDS (TYPE_BATCH_EVENTS * REPLICATION_LEASE_WORDS)

/* DUMP FILES */

static void
save_number(uint64_t number, void *io)
{
    RedisModule_SaveUnsigned(io, number);
}

static void
save_string(struct bytes string, void *io)
{
    RedisModule_SaveStringBuffer(io, string.size ? string.at : "", string.size);
}

static void
rdb_save(RedisModuleIO *io, void *value)
{
    struct image_writer writer = {save_number, save_string, io};
    image_save(value, &writer);
}

struct type_load {
    RedisModuleIO *io;
    char *string; /* the last string read */
};

static bool
load_number(uint64_t *number, void *arg)
{
    struct type_load *load = arg;
    *number = RedisModule_LoadUnsigned(load->io);
    return !RedisModule_IsIOError(load->io);
}

static bool
load_string(struct bytes *string, void *arg)
{
    struct type_load *load = arg;
    if (load->string != NULL) {
        RedisModule_Free(load->string);
    }
    load->string = RedisModule_LoadStringBuffer(load->io, &string->size);
    string->at = load->string;
    return load->string != NULL && !RedisModule_IsIOError(load->io);
}

/* Bytes of a name that are logged. */
#define TYPE_LOGGED 256u
static void
log_load_error(RedisModuleIO *io, struct bytes name, const char *error)
{
    char text[TYPE_LOGGED + 1];
    size_t size = name.size < TYPE_LOGGED ? name.size : TYPE_LOGGED;
    memcpy(text, name.at, size);
    for (size_t i = 0; i < size; i++) {
        if (text[i] < ' ' || text[i] > '~') {
            text[i] = '?';
        }
    }
    text[size] = '\0';
    RedisModule_LogIOError(io, "warning", "cannot load key '%s': %s", text,
                           error);
}

static void *
rdb_load(RedisModuleIO *io, int version)
{
    const RedisModuleString *key = RedisModule_GetKeyNameFromIO(io);
    struct bytes name = key != NULL ? keys_bytes(key) : bytes_of("");
    struct type_load load = {io, NULL};
    struct image_reader reader = {load_number, load_string, &load};
    const char *error =
        "it was written by a newer version of lawn; upgrade the module";
    struct queue *queue = NULL;
    if (version <= IMAGE_VERSION) {
        queue = keys_count_queue(
            image_load(&reader, version, command_limits.max_ttls, &error));
    }
    if (load.string != NULL) {
        RedisModule_Free(load.string);
    }
    if (queue == NULL) {
        log_load_error(io, name, error);
    } else if (queue_token(queue) > 0) {
        commands_learn_token(queue_token(queue),
                             (uint64_t)RedisModule_Milliseconds());
    }
    if (queue != NULL && key != NULL) {
        schedule_loaded(RedisModule_GetDbIdFromIO(io), name, queue);
    }
    return queue;
}

/* THE APPEND-ONLY FILE */

struct type_rewrite {
    RedisModuleIO *io;
    RedisModuleString *key;
    uint64_t now;
    size_t count;
    size_t bytes;
    RedisModuleString *words[TYPE_BATCH_WORDS];
};

static void
emit(struct type_rewrite *rewrite, const char *verb)
{
    if (rewrite->count == 0) {
        return;
    }
    RedisModule_EmitAOF(rewrite->io, "LAWN.APPLY", "scv", rewrite->key, verb,
                        rewrite->words, rewrite->count);
    for (size_t i = 0; i < rewrite->count; i++) {
        RedisModule_FreeString(NULL, rewrite->words[i]);
    }
    rewrite->count = 0;
    rewrite->bytes = 0;
}

static void
add_word(struct type_rewrite *rewrite, struct bytes word)
{
    rewrite->words[rewrite->count++] =
        RedisModule_CreateString(NULL, word.size ? word.at : "", word.size);
    rewrite->bytes += word.size;
}

static void
add_number(struct type_rewrite *rewrite, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    add_word(rewrite, bytes_of(text));
}

static void
add_meta(struct type_rewrite *rewrite, const struct queue_event *event)
{
    char text[ARGS_META_SIZE];
    struct args_meta meta = {
        .alone = event->alone, .repeat = event->repeat, .tries = event->tries};
    add_word(rewrite, (struct bytes){text, args_meta_write(&meta, text)});
}

static bool
rewrite_event(const struct queue_event *event, void *arg)
{
    struct type_rewrite *rewrite = arg;
    add_word(rewrite, event->id);
    add_word(rewrite, event->payload);
    add_number(rewrite, event->due);
    add_number(rewrite, event->ttl);
    add_meta(rewrite, event);
    if (rewrite->count >= TYPE_BATCH_EVENTS * REPLICATION_ADD_WORDS ||
        rewrite->bytes >= TYPE_BATCH_BYTES) {
        emit(rewrite, "ADD");
    }
    return true;
}

/* Writes the lease of an event that was added with its due time and tries. */
static bool
rewrite_lease(const struct queue_event *event, void *arg)
{
    struct type_rewrite *rewrite = arg;
    const struct queue_lease *lease = &event->lease;
    uint64_t ttl = lease->ttl;
    if (lease->token == 0) {
        return true;
    }
    /* LAWN.APPLY rejects a lease if end - ttl exceeds QUEUE_TIME_MAX. So a ttl
     * of 0 cannot be written if the end is after that time. */
    if (ttl == 0 && lease->end > QUEUE_TIME_MAX) {
        ttl = lease->end - rewrite->now;
    }
    add_word(rewrite, event->id);
    add_number(rewrite, lease->token);
    add_number(rewrite, event->tries.made);
    add_number(rewrite, event->tries.most);
    add_number(rewrite, lease->end);
    add_number(rewrite, ttl);
    add_word(rewrite, lease->owner);
    if (rewrite->count + REPLICATION_LEASE_WORDS > TYPE_BATCH_WORDS ||
        rewrite->bytes >= TYPE_BATCH_BYTES) {
        emit(rewrite, "LEASE");
    }
    return true;
}

static void
rewrite_sink(struct type_rewrite *rewrite, const struct queue_sink *sink)
{
    if (sink->kind == QUEUE_SINK_NONE && sink->dead.size == 0) {
        return;
    }
    add_word(rewrite, bytes_of(args_sink_names[sink->kind]));
    add_word(rewrite, sink->to);
    add_number(rewrite, sink->maxlen);
    add_word(rewrite, sink->dead);
    emit(rewrite, "SINK");
}

static void
rewrite_settings(struct type_rewrite *rewrite,
                 const struct queue_settings *settings)
{
    static const struct queue_settings none;
    struct args_settings words;
    args_settings_write(settings, &none, &words);
    for (size_t i = 0; i < words.count; i++) {
        add_word(rewrite, words.words[i]);
    }
    emit(rewrite, "CFG");
}

/* The last generated id must not be generated again, although its event may be
 * gone. So an event with that id is added and removed. A process that rewrites
 * a file does this once. */
static void
rewrite_last_id(struct type_rewrite *rewrite)
{
    static bool done;
    uint64_t ms = 0;
    uint64_t number = 0;
    ids_last(&ms, &number);
    if (done || (ms == 0 && number == 0)) {
        return;
    }
    done = true;
    char text[IDS_SIZE];
    snprintf(text, sizeof(text), "%llu-%llu", (unsigned long long)ms,
             (unsigned long long)number);
    /* Far in the future, in case the file is sent to a server with blocked
     * clients. */
    char never[IDS_SIZE];
    snprintf(never, sizeof(never), "%llu", (unsigned long long)ARGS_DUE_MAX);
    const char *words[REPLICATION_ADD_WORDS] = {text, "", never, never, "g"};
    for (size_t i = 0; i < REPLICATION_ADD_WORDS; i++) {
        add_word(rewrite, bytes_of(words[i]));
    }
    emit(rewrite, "ADD");
    add_word(rewrite, bytes_of(text));
    emit(rewrite, "DEL");
}

static void
aof_rewrite(RedisModuleIO *io, RedisModuleString *key, void *value)
{
    struct queue *queue = value;
    struct type_rewrite *rewrite = RedisModule_Alloc(sizeof(*rewrite));
    *rewrite =
        (struct type_rewrite){.io = io, .key = key, .now = queue_now(queue)};
    rewrite_last_id(rewrite);
    rewrite_settings(rewrite, queue_settings_of(queue));
    rewrite_sink(rewrite, queue_sink_of(queue));
    queue_each(queue, rewrite_event, rewrite);
    emit(rewrite, "ADD");
    queue_each(queue, rewrite_lease, rewrite);
    emit(rewrite, "LEASE");
    if (queue_token(queue) > 0) {
        add_number(rewrite, queue_token(queue));
        emit(rewrite, "TOKEN");
    }
    RedisModule_Free(rewrite);
}

/* OTHER METHODS */

static void
digest_string(RedisModuleDigest *digest, struct bytes string)
{
    RedisModule_DigestAddStringBuffer(digest, string.size ? string.at : "",
                                      string.size);
}

static bool
digest_event(const struct queue_event *event, void *arg)
{
    RedisModuleDigest *digest = arg;
    digest_string(digest, event->id);
    digest_string(digest, event->payload);
    RedisModule_DigestAddLongLong(digest, (long long)event->due);
    RedisModule_DigestAddLongLong(digest, (long long)event->repeat.period);
    RedisModule_DigestAddLongLong(digest, (long long)event->repeat.times);
    RedisModule_DigestAddLongLong(digest, (long long)event->repeat.missed);
    RedisModule_DigestAddLongLong(digest, (long long)event->tries.made);
    RedisModule_DigestAddLongLong(digest, (long long)event->tries.most);
    RedisModule_DigestAddLongLong(digest, (long long)event->lease.token);
    RedisModule_DigestAddLongLong(digest, (long long)event->lease.end);
    digest_string(digest, event->lease.owner);
    RedisModule_DigestEndSequence(digest);
    return true;
}

static void
digest_value(RedisModuleDigest *digest, void *value)
{
    const struct queue_settings *settings = queue_settings_of(value);
    const struct queue_sink *sink = queue_sink_of(value);
    RedisModule_DigestAddLongLong(digest, (long long)settings->max_events);
    RedisModule_DigestAddLongLong(digest, (long long)settings->max_bytes);
    RedisModule_DigestAddLongLong(digest, (long long)settings->overflow);
    RedisModule_DigestAddLongLong(digest, (long long)settings->resolution);
    RedisModule_DigestAddLongLong(digest, (long long)settings->paused);
    RedisModule_DigestAddLongLong(digest, (long long)settings->tries);
    RedisModule_DigestAddLongLong(digest, (long long)settings->lease);
    RedisModule_DigestAddLongLong(digest, (long long)sink->kind);
    digest_string(digest, sink->to);
    RedisModule_DigestAddLongLong(digest, (long long)sink->maxlen);
    digest_string(digest, sink->dead);
    RedisModule_DigestAddLongLong(digest, (long long)queue_token(value));
    RedisModule_DigestEndSequence(digest);
    queue_each(value, digest_event, digest);
}

static size_t
mem_usage(RedisModuleKeyOptCtx *names, const void *value, size_t samples)
{
    (void)names;
    (void)samples;
    return queue_bytes(value);
}

static size_t
free_effort(RedisModuleKeyOptCtx *names, const void *value)
{
    (void)names;
    return (size_t)queue_count(value) + 1;
}

static void
unlink_value(RedisModuleKeyOptCtx *names, const void *value)
{
    const RedisModuleString *key = RedisModule_GetKeyNameFromOptCtx(names);
    if (key != NULL) {
        keyspace_unlinked(RedisModule_GetDbIdFromOptCtx(names), keys_bytes(key),
                          value);
    }
}

/* A copy has no sink: a user who may read one key and create another may not be
 * allowed to write to the sink of the first one. */
static void *
copy_value(RedisModuleKeyOptCtx *names, const void *value)
{
    static const struct queue_sink none;
    (void)names;
    struct queue *copy = keys_count_queue(queue_copy(value));
    if (copy != NULL) {
        queue_set_sink(copy, &none);
    }
    return copy;
}

static void *
move_block(void *memory, void *defrag)
{
    return RedisModule_DefragAlloc(defrag, memory);
}

static bool
should_stop(void *defrag)
{
    return RedisModule_DefragShouldStop(defrag) != 0;
}

/* A small value is defragmented at once, without a cursor. */
static int
defrag_value(RedisModuleDefragCtx *defrag, RedisModuleString *key, void **value)
{
    (void)key;
    unsigned long cursor = 0;
    bool goes_on =
        RedisModule_DefragCursorGet(defrag, &cursor) == REDISMODULE_OK;
    uint64_t next =
        queue_defrag(*value, cursor, move_block, should_stop, defrag);
    if (!goes_on) {
        return 0;
    }
    RedisModule_DefragCursorSet(defrag, (unsigned long)next);
    return next != 0;
}

bool
type_init(RedisModuleCtx *ctx)
{
    static RedisModuleTypeMethods methods = {
        .version = REDISMODULE_TYPE_METHOD_VERSION,
        .rdb_load = rdb_load,
        .rdb_save = rdb_save,
        .aof_rewrite = aof_rewrite,
        .digest = digest_value,
        .free = keys_free_queue,
        .defrag = defrag_value,
        .mem_usage2 = mem_usage,
        .free_effort2 = free_effort,
        .unlink2 = unlink_value,
        .copy2 = copy_value};
    keys_type =
        RedisModule_CreateDataType(ctx, TYPE_NAME, IMAGE_VERSION, &methods);
    return keys_type != NULL;
}
