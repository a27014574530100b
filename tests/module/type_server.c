/* type_server.c - what the servers ask of a data type and of the tick, where no
 * server that is at hand would ask it: to move a value's memory, and to go on
 * without memory for the registry. The server here is a few functions. */
#include "command.h"
#include "kit.h"
#include "memory_kit.h"
#include "registry.h"
#include "server.h"
#include "type.h"
#include "wake.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEYS 4

struct redis redis;

struct redis_string {
    struct bytes bytes;
};

struct redis_key {
    struct redis_string name;
    int db;
    struct queue *queue;
    uint64_t ready; /* how often who waits for it was woken */
    uint64_t told;
};

static struct {
    struct redis_key keys[KEYS];
    size_t at; /* of the scan */
    int db;
    redis_timer_fn *timer;
    long long ms;
    uint64_t logged;
    struct redis_methods methods;
} fake;

struct bytes
server_bytes(const struct redis_string *string)
{
    return string->bytes;
}

struct queue *
server_value(struct redis_key *key, bool *other)
{
    *other = false;
    return key ? key->queue : NULL;
}

void
server_signal(struct redis_ctx *ctx, struct redis_string *name)
{
    redis.SignalKeyAsReady(ctx, name);
}

void
server_refilled(void)
{
}

/* Nothing here has a sink. */
uint64_t
server_tick(struct redis_ctx *ctx, struct redis_string *name,
            struct queue *queue, const struct server_times *times,
            uint64_t *budget)
{
    (void)ctx;
    (void)name;
    (void)queue;
    (void)times;
    (void)budget;
    return LAWN_NEVER;
}

/* THE SERVER */

static struct redis_type *
fake_type(struct redis_ctx *ctx, const char *name, int version,
          struct redis_methods *methods)
{
    (void)name;
    (void)version;
    fake.methods = *methods;
    return (struct redis_type *)ctx;
}

static struct redis_ctx *
fake_ctx(struct redis_ctx *ctx)
{
    return ctx;
}

static int
fake_flags(struct redis_ctx *ctx)
{
    (void)ctx;
    return REDIS_MASTER;
}

static int
fake_subscribe(struct redis_ctx *ctx, int types, redis_notice_fn *notice)
{
    (void)ctx;
    (void)types;
    (void)notice;
    return REDIS_OK;
}

static int
fake_subscribe_event(struct redis_ctx *ctx, struct redis_event event,
                     redis_event_fn *happened)
{
    (void)ctx;
    (void)event;
    (void)happened;
    return REDIS_OK;
}

static long long
fake_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t
fake_timer(struct redis_ctx *ctx, long long ms, redis_timer_fn *fired,
           void *data)
{
    (void)ctx;
    (void)data;
    fake.timer = fired;
    fake.ms = ms;
    return 1;
}

static int
fake_stop(struct redis_ctx *ctx, uint64_t id, void **data)
{
    (void)ctx;
    (void)id;
    (void)data;
    fake.timer = NULL;
    return REDIS_OK;
}

static void
fake_log(struct redis_ctx *ctx, const char *level, const char *format, ...)
{
    (void)ctx;
    (void)level;
    (void)format;
    fake.logged++;
}

static int
fake_no(void)
{
    return 0;
}

static struct redis_string *
fake_string(struct redis_ctx *ctx, const char *at, size_t size)
{
    (void)ctx;
    struct redis_string *string = malloc(sizeof(*string) + size);
    memcpy(string + 1, at, size);
    string->bytes = (struct bytes){(const char *)(string + 1), size};
    return string;
}

static void
fake_free(struct redis_ctx *ctx, struct redis_string *string)
{
    (void)ctx;
    free(string);
}

static int
fake_select(struct redis_ctx *ctx, int db)
{
    (void)ctx;
    fake.db = db;
    return db < 2 ? REDIS_OK : REDIS_ERR;
}

static int
fake_selected(struct redis_ctx *ctx)
{
    (void)ctx;
    return fake.db;
}

static struct redis_key *
fake_open(struct redis_ctx *ctx, struct redis_string *name, int mode)
{
    (void)ctx;
    (void)mode;
    for (size_t i = 0; i < KEYS; i++) {
        if (fake.keys[i].queue && fake.keys[i].db == fake.db &&
            bytes_equal(fake.keys[i].name.bytes, name->bytes))
            return &fake.keys[i];
    }
    return NULL;
}

static void
fake_close(struct redis_key *key)
{
    (void)key;
}

static void
fake_ready(struct redis_ctx *ctx, struct redis_string *name)
{
    fake_open(ctx, name, 0)->ready++;
}

static int
fake_notify(struct redis_ctx *ctx, int type, const char *event,
            struct redis_string *name)
{
    (void)type;
    if (strcmp(event, "lawn.fire") == 0)
        fake_open(ctx, name, 0)->told++;
    return REDIS_OK;
}

static struct redis_cursor *
fake_cursor(void)
{
    fake.at = 0;
    return (struct redis_cursor *)&fake.at;
}

static void
fake_cursor_again(struct redis_cursor *cursor)
{
    (void)cursor;
    fake.at = 0;
}

/* A key a call. */
static int
fake_scan(struct redis_ctx *ctx, struct redis_cursor *cursor,
          redis_scan_fn *found, void *data)
{
    (void)cursor;
    struct redis_key *key = &fake.keys[fake.at++];
    if (key->queue && key->db == fake.db)
        found(ctx, &key->name, key, data);
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
    struct redis_ctx *ctx = (struct redis_ctx *)&fake;
    memset(fake.keys, 0, sizeof(fake.keys));
    fake.logged = 0;
    registry_flush(-1);
    if (done)
        return;
    done = true;
    redis.CreateDataType = fake_type;
    redis.GetDetachedThreadSafeContext = fake_ctx;
    redis.GetContextFlags = fake_flags;
    redis.SubscribeToKeyspaceEvents = fake_subscribe;
    redis.SubscribeToServerEvent = fake_subscribe_event;
    redis.Milliseconds = fake_ms;
    redis.CreateTimer = fake_timer;
    redis.StopTimer = fake_stop;
    redis.Log = fake_log;
    redis.AvoidReplicaTraffic = fake_no;
    redis.CreateString = fake_string;
    redis.FreeString = fake_free;
    redis.SelectDb = fake_select;
    redis.GetSelectedDb = fake_selected;
    redis.OpenKey = fake_open;
    redis.CloseKey = fake_close;
    redis.SignalKeyAsReady = fake_ready;
    redis.NotifyKeyspaceEvent = fake_notify;
    redis.ScanCursorCreate = fake_cursor;
    redis.ScanCursorRestart = fake_cursor_again;
    redis.ScanCursorDestroy = fake_cursor_again;
    redis.Scan = fake_scan;
    redis.LatencyAddSample = fake_latency;
    wake_limits = (struct wake_limits){1000, 1000000};
    CHECK(type_init(ctx));
    CHECK(wake_init(ctx));
}

static void
fake_fire(void)
{
    redis_timer_fn *timer = fake.timer;
    fake.timer = NULL;
    if (timer)
        timer((struct redis_ctx *)&fake, NULL);
}

/* MOVING MEMORY */

/* Of a defragmenter: what it is asked for, and how far it may go. */
struct redis_defrag {
    bool has_cursor;
    unsigned long cursor;
    uint64_t moved;
    uint64_t left; /* until it wants to stop */
    uint64_t share;
};

static void *
fake_move(struct redis_defrag *defrag, void *memory)
{
    defrag->moved++;
    return defrag->moved % 5 == 0 ? NULL : memory_move(memory);
}

static int
fake_should_stop(struct redis_defrag *defrag)
{
    if (!defrag->has_cursor)
        return 0;
    return defrag->left == 0 || --defrag->left == 0;
}

static int
fake_cursor_get(struct redis_defrag *defrag, unsigned long *cursor)
{
    if (!defrag->has_cursor)
        return REDIS_ERR;
    *cursor = defrag->cursor;
    return REDIS_OK;
}

static int
fake_cursor_set(struct redis_defrag *defrag, unsigned long cursor)
{
    CHECK(defrag->has_cursor);
    defrag->cursor = cursor;
    return REDIS_OK;
}

static struct queue *
filled(uint64_t count)
{
    struct queue *queue = type_new(1000);
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
    /* Some are ready, some wait. */
    (void)queue_ripen(queue, 3000, count / 3);
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
    (void)queue_ripen(queue, 100000, UINT64_MAX);
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
    redis.DefragAlloc = fake_move;
    redis.DefragShouldStop = fake_should_stop;
    redis.DefragCursorGet = fake_cursor_get;
    redis.DefragCursorSet = fake_cursor_set;
}

TEST(defrag_moves_a_small_value_at_once)
{
    fake_defrag();
    for (uint64_t count = 0; count < 300; count = count * 2 + 1) {
        void *value = filled(count);
        struct redis_defrag defrag = {0};
        CHECK_EQ(fake.methods.defrag(&defrag, NULL, &value), 0);
        CHECK(defrag.moved >= count);
        same_events(value, count);
        take_all(value, count);
        type_free(value);
    }
}

TEST(defrag_goes_on_where_it_stopped_and_moves_each_once)
{
    fake_defrag();
    for (uint64_t share = 1; share <= 64; share *= 8) {
        uint64_t count = 20000;
        void *value = filled(count);
        struct redis_defrag defrag = {.has_cursor = true};
        int more;
        uint64_t turns = 0;
        do {
            defrag.left = share;
            more = fake.methods.defrag(&defrag, NULL, &value);
            CHECK_EQ(more != 0, defrag.cursor != 0);
            turns++;
            CHECK(turns < 10000);
        } while (more);
        CHECK(turns > 1);
        /* Events, and few blocks beside. */
        CHECK(defrag.moved >= count && defrag.moved < count + count / 20);
        same_events(value, count);
        take_all(value, count);
        type_free(value);
    }
}

TEST(defrag_bears_changes_between_its_turns)
{
    fake_defrag();
    uint64_t count = 5000;
    void *value = filled(count);
    struct redis_defrag defrag = {.has_cursor = true};
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
    type_free(value);
}

/* WITHOUT MEMORY FOR THE REGISTRY */

static struct queue *
fake_key(size_t i, int db, const char *name, uint64_t due)
{
    struct queue *queue = type_new(due);
    struct queue_event event = {
        .id = bytes_of("id"), .payload = bytes_of("p"), .due = due};
    CHECK_EQ(queue_put(queue, &event), 0);
    fake.keys[i] =
        (struct redis_key){.name = {bytes_of(name)}, .db = db, .queue = queue};
    return queue;
}

TEST(wake_finds_keys_again_that_there_was_no_memory_for)
{
    fake_server();
    uint64_t now = (uint64_t)fake_ms();
    struct queue *first = fake_key(0, 0, "first", now - 5);
    struct queue *second = fake_key(2, 1, "second", now - 5);
    struct queue *paused = fake_key(3, 1, "paused", now - 5);
    queue_settings(paused)->paused = true;
    memory_fail_after(0);
    wake_arm(0, bytes_of("first"), first, now);
    wake_arm(1, bytes_of("second"), second, now);
    CHECK_EQ(*queue_armed(first), LAWN_NEVER);
    /* The search fails as well, and it is not complained of each time. */
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
    memory_fail_after(UINT64_MAX);
    uint64_t until = (uint64_t)fake_ms() + 10000;
    while (fake.keys[0].ready == 0 || fake.keys[2].ready == 0) {
        CHECK((uint64_t)fake_ms() < until);
        fake_fire();
    }
    CHECK_EQ(fake.keys[0].told, 1);
    CHECK_EQ(fake.keys[2].told, 1);
    CHECK_EQ(fake.keys[3].ready, 0);
    /* Then there is nothing more to search for. */
    until = (uint64_t)fake_ms() + 10000;
    while (fake.timer) {
        CHECK((uint64_t)fake_ms() < until);
        fake_fire();
    }
    for (size_t i = 0; i < KEYS; i++) {
        if (fake.keys[i].queue)
            type_free(fake.keys[i].queue);
    }
    registry_flush(-1);
}
