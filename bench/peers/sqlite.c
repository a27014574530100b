/* sqlite.c - timers by id in an SQLite table in memory.
 *
 * Rows are in a B-tree by id, and an index has the deadlines. Everything is one
 * transaction that never ends, without a journal. Statements are prepared once.
 * There are no locks and no memory statistics. */
#include "../store.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static const char set_up[] =
    "PRAGMA journal_mode = OFF;"
    "PRAGMA synchronous = OFF;"
    "PRAGMA locking_mode = EXCLUSIVE;"
    "PRAGMA temp_store = MEMORY;"
    "CREATE TABLE timers (id BLOB PRIMARY KEY, deadline INTEGER, payload BLOB)"
    "    WITHOUT ROWID;"
    "CREATE INDEX deadlines ON timers (deadline);"
    "BEGIN;";

enum { START, STOP, GET, TOUCH, DUE, DELETE_DUE, POP, COUNT, STATEMENTS };

/* ?1 is the id, ?2 the deadline or the time, ?3 the payload. */
static const char *const texts[STATEMENTS] = {
    [START] = "INSERT INTO timers VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE "
              "SET deadline = excluded.deadline, payload = excluded.payload",
    [STOP] = "DELETE FROM timers WHERE id = ?1",
    [GET] = "SELECT id, payload, deadline FROM timers WHERE id = ?1",
    [TOUCH] = "UPDATE timers SET deadline = ?2 WHERE id = ?1",
    [DUE] = "SELECT id, payload, deadline FROM timers WHERE deadline <= ?2 "
            "ORDER BY deadline",
    [DELETE_DUE] = "DELETE FROM timers WHERE deadline <= ?2",
    [POP] = "DELETE FROM timers WHERE id = (SELECT id FROM timers "
            "WHERE deadline <= ?2 ORDER BY deadline LIMIT 1) "
            "RETURNING id, payload, deadline",
    [COUNT] = "SELECT count(*) FROM timers",
};

struct self {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
    uint64_t now;
    unsigned char id[STORE_ID]; /* of the timer returned last */
    unsigned char payload[STORE_PAYLOAD];
};

static const char *
unusable(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    return sqlite3_libversion_number() < 3035000 ? "SQLite is older than 3.35"
                                                 : NULL;
}

static void
destroy(void *arg)
{
    struct self *self = arg;

    for (unsigned i = 0; i < STATEMENTS; i++) {
        (void)sqlite3_finalize(self->statements[i]);
    }
    (void)sqlite3_close(self->db);
    free(self);
}

static void *
make(const struct contender_setup *setup)
{
    struct self *self = calloc(1, sizeof(*self));

    if (self == NULL) {
        return NULL;
    }
    self->now = setup->now;
    bool good = sqlite3_open(":memory:", &self->db) == SQLITE_OK &&
                sqlite3_exec(self->db, set_up, NULL, NULL, NULL) == SQLITE_OK;
    for (unsigned i = 0; good && i < STATEMENTS; i++) {
        good = sqlite3_prepare_v3(self->db, texts[i], -1,
                                  SQLITE_PREPARE_PERSISTENT,
                                  &self->statements[i], NULL) == SQLITE_OK;
    }
    if (good) {
        return self;
    }
    destroy(self);
    return NULL;
}

/* Runs a bound statement to its end. */
static bool
finish(sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);

    (void)sqlite3_reset(statement);
    return code == SQLITE_DONE;
}

static sqlite3_stmt *
bind_id(struct self *self, unsigned which, const void *id)
{
    (void)sqlite3_bind_blob(self->statements[which], 1, id, STORE_ID,
                            SQLITE_STATIC);
    return self->statements[which];
}

static sqlite3_stmt *
bind_time(struct self *self, unsigned which, uint64_t time)
{
    (void)sqlite3_bind_int64(self->statements[which], 2, (sqlite3_int64)time);
    return self->statements[which];
}

/* Returns the timer of the current row. */
static struct store_timer
row(sqlite3_stmt *statement)
{
    return (struct store_timer){
        sqlite3_column_blob(statement, 0),
        sqlite3_column_blob(statement, 1),
        (uint64_t)sqlite3_column_int64(statement, 2),
    };
}

/* The same as a copy, which remains valid when the statement continues. */
static struct store_timer
row_copy(struct self *self, sqlite3_stmt *statement)
{
    struct store_timer timer = row(statement);

    memcpy(self->id, timer.id, sizeof(self->id));
    memcpy(self->payload, timer.payload, sizeof(self->payload));
    timer.id = self->id;
    timer.payload = self->payload;
    return timer;
}

static bool
start_timer(void *arg, const void *id, uint64_t ttl, const void *payload)
{
    struct self *self = arg;
    sqlite3_stmt *start = bind_time(self, START, self->now + ttl);

    (void)bind_id(self, START, id);
    (void)sqlite3_bind_blob(start, 3, payload, STORE_PAYLOAD, SQLITE_STATIC);
    return finish(start);
}

static bool
stop_timer(void *arg, const void *id)
{
    struct self *self = arg;

    return finish(bind_id(self, STOP, id)) && sqlite3_changes(self->db) > 0;
}

static bool
get_timer(void *arg, const void *id, struct store_timer *out)
{
    struct self *self = arg;
    sqlite3_stmt *get = bind_id(self, GET, id);
    bool found = sqlite3_step(get) == SQLITE_ROW;

    if (found) {
        *out = row_copy(self, get);
    }
    (void)sqlite3_reset(get);
    return found;
}

static bool
touch_timer(void *arg, const void *id, uint64_t ttl)
{
    struct self *self = arg;

    (void)bind_time(self, TOUCH, self->now + ttl);
    return finish(bind_id(self, TOUCH, id)) && sqlite3_changes(self->db) > 0;
}

/* Fires one by one if not all due timers may fire. */
static size_t
pop_due(struct self *self, size_t budget, store_fire_fn *fire, void *arg)
{
    sqlite3_stmt *pop = bind_time(self, POP, self->now);
    size_t fired = 0;

    while (fired < budget && sqlite3_step(pop) == SQLITE_ROW) {
        struct store_timer timer = row_copy(self, pop);

        (void)sqlite3_reset(pop);
        fire(&timer, arg);
        fired++;
    }
    (void)sqlite3_reset(pop);
    return fired;
}

static size_t
mow(void *arg, uint64_t now, size_t budget, store_fire_fn *fire, void *fire_arg)
{
    struct self *self = arg;
    size_t fired = 0;

    self->now = now;
    if (budget < SIZE_MAX) {
        return pop_due(self, budget, fire, fire_arg);
    }
    sqlite3_stmt *due = bind_time(self, DUE, now);
    while (sqlite3_step(due) == SQLITE_ROW) {
        struct store_timer timer = row(due);

        fire(&timer, fire_arg);
        fired++;
    }
    (void)sqlite3_reset(due);
    if (fired > 0) {
        (void)finish(bind_time(self, DELETE_DUE, now));
    }
    return fired;
}

static uint64_t
count_timers(void *arg)
{
    struct self *self = arg;
    sqlite3_stmt *count = self->statements[COUNT];
    uint64_t many = sqlite3_step(count) == SQLITE_ROW
                        ? (uint64_t)sqlite3_column_int64(count, 0)
                        : 0;

    (void)sqlite3_reset(count);
    return many;
}

const struct store CONTENDER_PLUGIN = {
    .face =
        {
            .abi = CONTENDER_ABI,
            .name = "sqlite",
            .title = "SQLite in memory",
            .about = "A table by id with an index of deadlines, in memory, "
                     "without journal and locks, one transaction, prepared "
                     "statements. All O(log n).",
            .kind = CONTENDER_PEER,
            .flags = CONTENDER_STORE | CONTENDER_EXACT | CONTENDER_ORDERED |
                     CONTENDER_BUDGET,
            .version = sqlite3_libversion,
            .unusable = unusable,
            .make = make,
            .free = destroy,
        },
    .start = start_timer,
    .stop = stop_timer,
    .get = get_timer,
    .touch = touch_timer,
    .mow = mow,
    .count = count_timers,
};
