/* server_call.h - runs a command of this module in the server.
 *
 * The server calls an entry of module.c, which calls server_call(). It converts
 * the arguments to bytes, opens the key, calls command_call(), and closes the
 * key.
 */
#ifndef SERVER_CALL_H
#define SERVER_CALL_H

#include "server_host.h"

/* Runs the command for a client. Returns REDISMODULE_OK; the command has
 * replied once, or the client is blocked. */
int server_call(struct server_entry *entry, RedisModuleCtx *ctx,
                RedisModuleString **argv, int argc);

#endif
