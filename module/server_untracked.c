/* server_untracked.c - see server_untracked.h. */
#include "server_untracked.h"

#include "args.h"
#include "registry.h"
#include "server_clock.h"
#include "server_keys.h"
#include "server_wakeup.h"

#define SEARCH_INTERVAL_MS 100u
#define SEARCH_KEYS 1000u
#define WARNING_INTERVAL_US UINT64_C(60000000)

static struct {
    bool any;
    bool again;    /* another key became untracked since the search began */
    uint64_t next; /* time of the next part, in ms of CLOCK_MONOTONIC */
    int db;
    RedisModuleScanCursor *cursor; /* NULL: at the beginning */
    uint64_t seen;
} search;

/* times until which no other warning with this cause is printed, in us of
 * CLOCK_MONOTONIC */
static uint64_t silent_on_long_names;
static uint64_t silent_on_no_memory;

void
untracked_request_search(void)
{
    search.again = true;
    if (search.any) {
        return;
    }
    search.any = true;
    search.next = clock_us(CLOCK_MONOTONIC) / 1000 + SEARCH_INTERVAL_MS;
    wakeup_set_in(SEARCH_INTERVAL_MS);
}

/* Returns false if the last warning with this cause is less than a minute
 * old. */
static bool
may_warn(uint64_t *silent_until)
{
    uint64_t now = clock_us(CLOCK_MONOTONIC);
    if (now < *silent_until) {
        return false;
    }
    *silent_until = now + WARNING_INTERVAL_US;
    return true;
}

/* A later search must find the key: a client may be blocked on it. */
void
untracked_add(struct bytes name)
{
    char quoted[ARGS_QUOTE_SIZE];
    args_quote(name, quoted);
    if (name.size > REGISTRY_NAME_MAX) {
        if (may_warn(&silent_on_long_names)) {
            RedisModule_Log(
                wakeup_ctx(), "warning",
                "cannot schedule the check of key %s: its name has %zu bytes, "
                "more than %u; its events wait until the key is renamed",
                quoted, name.size, REGISTRY_NAME_MAX);
        }
        return;
    }
    untracked_request_search();
    if (may_warn(&silent_on_no_memory)) {
        RedisModule_Log(
            wakeup_ctx(), "warning",
            "cannot schedule the check of key %s: out of memory; its events "
            "will be late, and perhaps those of other keys; give the server "
            "more memory",
            quoted);
    }
}

static void
visit_key(RedisModuleCtx *ctx, RedisModuleString *keyname, RedisModuleKey *key,
          void *privdata)
{
    untracked_found_fn **found = privdata;
    search.seen++;
    bool other = false;
    struct queue *queue = keys_queue(key, &other);
    if (queue != NULL && *queue_armed(queue) == LAWN_NEVER) {
        (*found)(RedisModule_GetSelectedDb(ctx), keys_bytes(keyname), queue);
    }
}

/* Continues or begins the search of all databases, by some keys. */
static void
search_some(RedisModuleCtx *ctx, untracked_found_fn *found)
{
    search.seen = 0;
    if (search.cursor == NULL) {
        search.cursor = RedisModule_ScanCursorCreate();
        search.db = 0;
        search.again = false;
    }
    while (search.seen < SEARCH_KEYS) {
        if (RedisModule_SelectDb(ctx, search.db) != REDISMODULE_OK) {
            RedisModule_ScanCursorDestroy(search.cursor);
            search.cursor = NULL;
            search.any = search.again;
            break;
        }
        if (!RedisModule_Scan(ctx, search.cursor, visit_key, &found)) {
            RedisModule_ScanCursorRestart(search.cursor);
            search.db++;
        }
    }
}

void
untracked_search(RedisModuleCtx *ctx, untracked_found_fn *found)
{
    uint64_t now = clock_us(CLOCK_MONOTONIC) / 1000;
    if (search.any && search.next <= now) {
        search_some(ctx, found);
        search.next = now + SEARCH_INTERVAL_MS;
    }
    if (search.any) {
        wakeup_set_in(SEARCH_INTERVAL_MS);
    }
}
