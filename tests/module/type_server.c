/* type_server.c - tests of the data type and the tick in cases that available
 * servers do not produce: moving a value's memory, and lack of memory for the
 * registry. The server here is a few functions. */
#include "command.h"
#include "kit.h"
#include "memory_kit.h"
#include "registry.h"
#include "server_handover.h"
#include "server_keys.h"
#include "server_keyspace.h"
#include "server_schedule.h"
#include "server_tick.h"
#include "server_wakeup.h"
#include "type.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEYS 4

struct RedisModuleString {
    struct bytes bytes;
};

struct RedisModuleKey {
    RedisModuleString name;
    int db;
    struct queue *queue;
    uint64_t ready; /* number of wake-ups of its blocked clients */
    uint64_t told;
};

static struct {
    RedisModuleKey keys[KEYS];
    size_t at; /* of the scan */
    int db;
    RedisModuleTimerProc timer;
    long long ms;
    uint64_t logged;
    char log[512]; /* the last message */
    RedisModuleTypeMethods methods;
} fake;

/* No key here has a sink. */
uint64_t
handover_run(RedisModuleCtx *ctx, RedisModuleString *name, struct queue *queue,
             const struct handover_times *times, uint64_t *budget)
{
    (void)ctx;
    (void)name;
    (void)queue;
    (void)times;
    (void)budget;
    return LAWN_NEVER;
}

/* THE SERVER */

static RedisModuleType *
fake_type(RedisModuleCtx *ctx, const char *name, int version,
          RedisModuleTypeMethods *methods)
{
    (void)name;
    (void)version;
    fake.methods = *methods;
    return (RedisModuleType *)ctx;
}

static RedisModuleCtx *
fake_ctx(RedisModuleCtx *ctx)
{
    return ctx;
}

static int
fake_flags(RedisModuleCtx *ctx)
{
    (void)ctx;
    return REDISMODULE_CTX_FLAGS_MASTER;
}

static int
fake_subscribe(RedisModuleCtx *ctx, int types,
               RedisModuleNotificationFunc notice)
{
    (void)ctx;
    (void)types;
    (void)notice;
    return REDISMODULE_OK;
}

static int
fake_subscribe_event(RedisModuleCtx *ctx, RedisModuleEvent event,
                     RedisModuleEventCallback happened)
{
    (void)ctx;
    (void)event;
    (void)happened;
    return REDISMODULE_OK;
}

static long long
fake_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t
fake_timer(RedisModuleCtx *ctx, long long ms, RedisModuleTimerProc fired,
           void *data)
{
    (void)ctx;
    (void)data;
    fake.timer = fired;
    fake.ms = ms;
    return 1;
}

static int
fake_stop(RedisModuleCtx *ctx, uint64_t id, void **data)
{
    (void)ctx;
    (void)id;
    (void)data;
    fake.timer = NULL;
    return REDISMODULE_OK;
}

__attribute__((format(printf, 3, 4))) static void
fake_log(RedisModuleCtx *ctx, const char *level, const char *format, ...)
{
    va_list values;

    (void)ctx;
    (void)level;
    va_start(values, format);
    (void)vsnprintf(fake.log, sizeof(fake.log), format, values);
    va_end(values);
    fake.logged++;
}

static int
fake_no(void)
{
    return 0;
}

static RedisModuleString *
fake_string(RedisModuleCtx *ctx, const char *at, size_t size)
{
    (void)ctx;
    RedisModuleString *string = malloc(sizeof(*string) + size);
    memcpy(string + 1, at, size);
    string->bytes = (struct bytes){(const char *)(string + 1), size};
    return string;
}

static const char *
fake_string_bytes(const RedisModuleString *string, size_t *size)
{
    *size = string->bytes.size;
    return string->bytes.at;
}

static RedisModuleType *
fake_key_type(RedisModuleKey *key)
{
    (void)key;
    return keys_type;
}

static void *
fake_value(RedisModuleKey *key)
{
    return key->queue;
}

static void
fake_free(RedisModuleCtx *ctx, RedisModuleString *string)
{
    (void)ctx;
    free(string);
}

static int
fake_select(RedisModuleCtx *ctx, int db)
{
    (void)ctx;
    fake.db = db;
    return db < 2 ? REDISMODULE_OK : REDISMODULE_ERR;
}

static int
fake_selected(RedisModuleCtx *ctx)
{
    (void)ctx;
    return fake.db;
}

static RedisModuleKey *
fake_open(RedisModuleCtx *ctx, RedisModuleString *name, int mode)
{
    (void)ctx;
    (void)mode;
    for (size_t i = 0; i < KEYS; i++) {
        if (fake.keys[i].queue != NULL && fake.keys[i].db == fake.db &&
            bytes_equal(fake.keys[i].name.bytes, name->bytes)) {
            return &fake.keys[i];
        }
    }
    return NULL;
}

static void
fake_close(RedisModuleKey *key)
{
    (void)key;
}

static void
fake_ready(RedisModuleCtx *ctx, RedisModuleString *name)
{
    fake_open(ctx, name, 0)->ready++;
}

static int
fake_notify(RedisModuleCtx *ctx, int type, const char *event,
            RedisModuleString *name)
{
    (void)type;
    if (strcmp(event, "lawn.fire") == 0) {
        fake_open(ctx, name, 0)->told++;
    }
    return REDISMODULE_OK;
}

static RedisModuleScanCursor *
fake_cursor(void)
{
    fake.at = 0;
    return (RedisModuleScanCursor *)&fake.at;
}

static void
fake_cursor_again(RedisModuleScanCursor *cursor)
{
    (void)cursor;
    fake.at = 0;
}

/* One key per call. */
static int
fake_scan(RedisModuleCtx *ctx, RedisModuleScanCursor *cursor,
          RedisModuleScanCB found, void *data)
{
    (void)cursor;
    RedisModuleKey *key = &fake.keys[fake.at++];
    if (key->queue != NULL && key->db == fake.db) {
        found(ctx, &key->name, key, data);
    }
    return fake.at < KEYS;
}

static void
fake_latency(const char *event, long long ms)
{
    (void)event;
    (void)ms;
}

static void
fake_server(void)
{
    static bool done;
    RedisModuleCtx *ctx = (RedisModuleCtx *)&fake;
    memset(fake.keys, 0, sizeof(fake.keys));
    fake.logged = 0;
    registry_flush(-1);
    if (done) {
        return;
    }
    done = true;
    RedisModule_CreateDataType = fake_type;
    RedisModule_GetDetachedThreadSafeContext = fake_ctx;
    RedisModule_GetContextFlags = fake_flags;
    RedisModule_SubscribeToKeyspaceEvents = fake_subscribe;
    RedisModule_SubscribeToServerEvent = fake_subscribe_event;
    RedisModule_Milliseconds = fake_ms;
    RedisModule_CreateTimer = fake_timer;
    RedisModule_StopTimer = fake_stop;
    RedisModule_Log = fake_log;
    RedisModule_AvoidReplicaTraffic = fake_no;
    RedisModule_CreateString = fake_string;
    RedisModule_StringPtrLen = fake_string_bytes;
    RedisModule_ModuleTypeGetType = fake_key_type;
    RedisModule_ModuleTypeGetValue = fake_value;
    RedisModule_FreeString = fake_free;
    RedisModule_SelectDb = fake_select;
    RedisModule_GetSelectedDb = fake_selected;
    RedisModule_OpenKey = fake_open;
    RedisModule_CloseKey = fake_close;
    RedisModule_SignalKeyAsReady = fake_ready;
    RedisModule_NotifyKeyspaceEvent = fake_notify;
    RedisModule_ScanCursorCreate = fake_cursor;
    RedisModule_ScanCursorRestart = fake_cursor_again;
    RedisModule_ScanCursorDestroy = fake_cursor_again;
    RedisModule_Scan = fake_scan;
    RedisModule_LatencyAddSample = fake_latency;
    tick_limits = (struct tick_limits){1000, 1000000};
    CHECK(type_init(ctx));
    CHECK(keyspace_init(ctx));
    wakeup_init(ctx, tick_run);
}

static void
fake_fire(void)
{
    RedisModuleTimerProc timer = fake.timer;
    fake.timer = NULL;
    if (timer != NULL) {
        timer((RedisModuleCtx *)&fake, NULL);
    }
}

/* MOVING MEMORY */

/* A defragmenter: its requests, and its limits. */
struct RedisModuleDefragCtx {
    bool has_cursor;
    unsigned long cursor;
    uint64_t moved;
    uint64_t left; /* calls until it stops */
    uint64_t share;
};

static void *
fake_move(RedisModuleDefragCtx *defrag, void *memory)
{
    defrag->moved++;
    return defrag->moved % 5 == 0 ? NULL : memory_move(memory);
}

static int
fake_should_stop(RedisModuleDefragCtx *defrag)
{
    if (!defrag->has_cursor) {
        return 0;
    }
    return defrag->left == 0 || --defrag->left == 0;
}

static int
fake_cursor_get(RedisModuleDefragCtx *defrag, unsigned long *cursor)
{
    if (!defrag->has_cursor) {
        return REDISMODULE_ERR;
    }
    *cursor = defrag->cursor;
    return REDISMODULE_OK;
}

static int
fake_cursor_set(RedisModuleDefragCtx *defrag, unsigned long cursor)
{
    CHECK(defrag->has_cursor);
    defrag->cursor = cursor;
    return REDISMODULE_OK;
}

static struct queue *
filled(uint64_t count)
{
    struct queue *queue = keys_new_queue(1000);
    for (uint64_t i = 0; i < count; i++) {
        char id[32];
        int size = snprintf(id, sizeof(id), "id-%llu", (unsigned long long)i);
        struct queue_event event = {.id = {id, (size_t)size},
                                    .payload = {id, (size_t)size},
                                    .due = 1000 + i % 700 * 10,
                                    .ttl = i % 700 * 10,
                                    .alone = i % 3 == 0,
                                    .repeat.period = i % 11 == 0 ? 5 : 0};
        CHECK_EQ(queue_put(queue, &event), 0);
    }
    /* Some are ready, some are waiting. */
    (void)queue_promote_due(queue, 3000, count / 3);
    return queue;
}

static void
same_events(struct queue *queue, uint64_t count)
{
    CHECK(queue_check(queue, stderr));
    CHECK_EQ(queue_count(queue), count);
    for (uint64_t i = 0; i < count; i++) {
        char id[32];
        int size = snprintf(id, sizeof(id), "id-%llu", (unsigned long long)i);
        struct queue_event event;
        CHECK(queue_get(queue, (struct bytes){id, (size_t)size}, &event));
        CHECK(bytes_equal(event.payload, (struct bytes){id, (size_t)size}));
        CHECK_EQ(event.due, 1000 + i % 700 * 10);
    }
}

static void
take_all(struct queue *queue, uint64_t count)
{
    uint64_t last = 0;
    (void)queue_promote_due(queue, 100000, UINT64_MAX);
    for (uint64_t i = 0; i < count; i++) {
        struct queue_event event;
        CHECK(queue_first(queue, &event));
        CHECK(event.due >= last);
        last = event.due;
        CHECK(queue_remove(queue, event.id));
    }
    CHECK_EQ(queue_count(queue), 0);
}

static void
fake_defrag(void)
{
    fake_server();
    RedisModule_DefragAlloc = fake_move;
    RedisModule_DefragShouldStop = fake_should_stop;
    RedisModule_DefragCursorGet = fake_cursor_get;
    RedisModule_DefragCursorSet = fake_cursor_set;
}

TEST(defrag_moves_a_small_value_at_once)
{
    fake_defrag();
    for (uint64_t count = 0; count < 300; count = count * 2 + 1) {
        void *value = filled(count);
        RedisModuleDefragCtx defrag = {0};
        CHECK_EQ(fake.methods.defrag(&defrag, NULL, &value), 0);
        CHECK(defrag.moved >= count);
        same_events(value, count);
        take_all(value, count);
        keys_free_queue(value);
    }
}

TEST(defrag_continues_where_it_stopped_and_moves_each_once)
{
    fake_defrag();
    for (uint64_t share = 1; share <= 64; share *= 8) {
        uint64_t count = 20000;
        void *value = filled(count);
        RedisModuleDefragCtx defrag = {.has_cursor = true};
        int more = 0;
        uint64_t turns = 0;
        do {
            defrag.left = share;
            more = fake.methods.defrag(&defrag, NULL, &value);
            CHECK_EQ(more != 0, defrag.cursor != 0);
            turns++;
            CHECK(turns < 10000);
        } while (more);
        CHECK(turns > 1);
        /* Events, and few other blocks. */
        CHECK(defrag.moved >= count && defrag.moved < count + count / 20);
        same_events(value, count);
        take_all(value, count);
        keys_free_queue(value);
    }
}

TEST(defrag_survives_changes_between_its_turns)
{
    fake_defrag();
    uint64_t count = 5000;
    void *value = filled(count);
    RedisModuleDefragCtx defrag = {.has_cursor = true};
    uint64_t gone = 0;
    do {
        char id[32];
        int size =
            snprintf(id, sizeof(id), "id-%llu", (unsigned long long)gone++);
        CHECK(queue_remove(value, (struct bytes){id, (size_t)size}));
        defrag.left = 2;
    } while (fake.methods.defrag(&defrag, NULL, &value));
    CHECK(gone > 1);
    CHECK(queue_check(value, stderr));
    take_all(value, count - gone);
    keys_free_queue(value);
}

/* WITHOUT MEMORY FOR THE REGISTRY */

static struct queue *
add_key(size_t i, int db, const char *name, uint64_t due)
{
    struct queue *queue = keys_new_queue(due);
    struct queue_event event = {
        .id = bytes_of("id"), .payload = bytes_of("p"), .due = due};
    CHECK_EQ(queue_put(queue, &event), 0);
    fake.keys[i] =
        (RedisModuleKey){.name = {bytes_of(name)}, .db = db, .queue = queue};
    return queue;
}

TEST(wake_logs_which_name_is_too_long_and_does_not_search_for_it)
{
    static char name[REGISTRY_NAME_MAX + 1];
    char expected[sizeof(fake.log)];

    fake_server();
    memset(name, 'n', sizeof(name));
    name[0] = '\n';
    uint64_t now = (uint64_t)fake_ms();
    struct queue *queue = add_key(0, 0, "other", now - 5);
    for (int i = 0; i < 2; i++) {
        schedule_key(0, (struct bytes){name, sizeof(name)}, queue, now);
    }
    CHECK_EQ(*queue_armed(queue), LAWN_NEVER);
    CHECK(fake.timer == NULL);
    CHECK_EQ(fake.logged, 1);
    (void)snprintf(expected, sizeof(expected),
                   "cannot schedule the check of key '?%.63s...': its name has "
                   "65536 bytes, more than 65535; its events wait until the "
                   "key is renamed",
                   name + 1);
    CHECK(strcmp(fake.log, expected) == 0);
    keys_free_queue(queue);
    fake.keys[0] = (RedisModuleKey){0};
    registry_flush(-1);
}

TEST(wake_finds_keys_again_that_there_was_no_memory_for)
{
    fake_server();
    uint64_t now = (uint64_t)fake_ms();
    struct queue *first = add_key(0, 0, "first", now - 5);
    struct queue *second = add_key(2, 1, "second", now - 5);
    struct queue *paused = add_key(3, 1, "paused", now - 5);
    queue_settings_of(paused)->paused = true;
    memory_fail_after(0);
    schedule_key(0, bytes_of("first"), first, now);
    schedule_key(1, bytes_of("second"), second, now);
    CHECK_EQ(*queue_armed(first), LAWN_NEVER);
    /* The search fails as well, and is not logged each time. */
    for (int turn = 0; turn < 3; turn++) {
        uint64_t until = (uint64_t)fake_ms() + 120;
        while ((uint64_t)fake_ms() < until) {
            CHECK(fake.timer != NULL);
            CHECK(fake.ms <= 100);
            fake_fire();
        }
    }
    CHECK_EQ(fake.keys[0].ready, 0);
    CHECK_EQ(fake.logged, 1);
    CHECK(strcmp(fake.log,
                 "cannot schedule the check of key 'first': out of memory; its "
                 "events will be late, and perhaps those of other keys; give "
                 "the server more memory") == 0);
    memory_fail_after(UINT64_MAX);
    uint64_t until = (uint64_t)fake_ms() + 10000;
    while (fake.keys[0].ready == 0 || fake.keys[2].ready == 0) {
        CHECK((uint64_t)fake_ms() < until);
        fake_fire();
    }
    CHECK_EQ(fake.keys[0].told, 1);
    CHECK_EQ(fake.keys[2].told, 1);
    CHECK_EQ(fake.keys[3].ready, 0);
    /* Then no search is pending. */
    until = (uint64_t)fake_ms() + 10000;
    while (fake.timer != NULL) {
        CHECK((uint64_t)fake_ms() < until);
        fake_fire();
    }
    for (size_t i = 0; i < KEYS; i++) {
        if (fake.keys[i].queue != NULL) {
            keys_free_queue(fake.keys[i].queue);
        }
    }
    registry_flush(-1);
}
