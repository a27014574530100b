/* server_untracked.c - keys that have events but no entry in the registry. */
#include "server_untracked.h"

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

/* time until which no warning is printed, in us of CLOCK_MONOTONIC */
static uint64_t silent_until;

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

/* The key must be found again: the only interested client may be one that is
 * blocked on it. */
void
untracked_add(struct bytes name)
{
    uint64_t now = clock_us(CLOCK_MONOTONIC);
    if (name.size <= REGISTRY_NAME_MAX) {
        untracked_request_search();
    }
    if (now < silent_until) {
        return;
    }
    silent_until = now + WARNING_INTERVAL_US;
    RedisModule_Log(
        wakeup_ctx(), "warning",
        "cannot track when a key's events are due: out of memory or key name "
        "too long; clients waiting for them may be woken late");
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

/* Continues or begins the search, over some keys of all databases. */
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
