/* server_access.c - permissions of the user of a call. */
#include "server_access.h"

#include "server_host.h"

/* Users of internal commands need permission for this one. Unlike DEBUG and
 * CONFIG, it is rarely renamed. */
#define ADMIN_COMMAND "BGREWRITEAOF"
static RedisModuleString *admin_command;

void
server_access_init(void)
{
    admin_command = RedisModule_CreateString(NULL, ADMIN_COMMAND,
                                             sizeof(ADMIN_COMMAND) - 1);
}

/* Returns the user of a call, or NULL. Then *any is true for another module or
 * the server, which may do everything, and false for a script, whose user is
 * unknown. */
static RedisModuleUser *
find_user(struct host *host, bool *any)
{
    RedisModuleString *name = RedisModule_GetClientUserNameById(
        host->ctx, RedisModule_GetClientId(host->ctx));
    *any = name == NULL && !(RedisModule_GetContextFlags(host->ctx) &
                             REDISMODULE_CTX_FLAGS_LUA);
    if (name == NULL) {
        return NULL;
    }
    RedisModuleUser *user = RedisModule_GetModuleUserFromUserName(name);
    RedisModule_FreeString(NULL, name);
    return user;
}

bool
host_may_publish(struct host *host, struct bytes channel)
{
    bool any = false;
    RedisModuleUser *user = find_user(host, &any);
    if (user == NULL) {
        return any;
    }
    RedisModuleString *name =
        RedisModule_CreateString(NULL, channel.at, channel.size);
    bool may =
        RedisModule_ACLCheckChannelPermissions(
            user, name, REDISMODULE_CMD_CHANNEL_PUBLISH) == REDISMODULE_OK;
    RedisModule_FreeString(NULL, name);
    RedisModule_FreeModuleUser(user);
    return may;
}

bool
server_access_check(struct host *host)
{
    if (!host->entry->guarded || RedisModule_GetContextFlags(host->ctx) &
                                     (REDISMODULE_CTX_FLAGS_REPLICATED |
                                      REDISMODULE_CTX_FLAGS_LOADING)) {
        return true;
    }
    bool may = false;
    RedisModuleUser *user = find_user(host, &may);
    if (user != NULL) {
        may = RedisModule_ACLCheckCommandPermissions(user, &admin_command, 1) ==
              REDISMODULE_OK;
        RedisModule_FreeModuleUser(user);
    }
    if (!may) {
        host_error(host, "NOPERM this command is internal; it requires "
                         "permission to run " ADMIN_COMMAND);
    }
    return may;
}
