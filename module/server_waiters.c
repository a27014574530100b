/* server_waiters.c - see server_waiters.h. */
#include "server_waiters.h"

/* Longer names are not remembered. */
#define NAME_MAX_REMEMBERED 256u

/* size 0: none. */
static struct {
    int db;
    size_t size;
    char name[NAME_MAX_REMEMBERED];
} empty;

void
waiters_signal(RedisModuleCtx *ctx, RedisModuleString *name)
{
    waiters_reset_empty();
    RedisModule_SignalKeyAsReady(ctx, name);
}

void
waiters_set_empty(int db, struct bytes name)
{
    if (name.size <= NAME_MAX_REMEMBERED) {
        empty.db = db;
        empty.size = name.size;
        memcpy(empty.name, name.at, name.size);
    }
}

bool
waiters_is_empty(int db, struct bytes name)
{
    return name.size > 0 && name.size == empty.size && db == empty.db &&
           memcmp(name.at, empty.name, name.size) == 0;
}

void
waiters_reset_empty(void)
{
    empty.size = 0;
}
