/* server_host.h - host.h by the server's functions: what one call of a command, or
 * one drain of a key to its sink, is made of. server_host.c has the key and its
 * listeners; replies, replication, access, blocking and commands of the server have a
 * file each.
 */
#ifndef SERVER_HOST_H
#define SERVER_HOST_H

#include "command.h"
#include "host.h"
#include "redismodule_api.h"

/* The number of notifications that one call can send. */
#define SERVER_NOTES 8u

/* A command as it was registered. */
struct server_entry {
    const struct command *command;
    int mode;     /* in which its key is opened */
    bool guarded; /* for administrators, which the server cannot enforce */
};

/* Why a command runs. */
enum server_why {
    SERVER_CALLED,
    SERVER_WOKEN,    /* the client was blocked, and something may be due */
    SERVER_TIMED_OUT /* the client was blocked for as long as it wanted */
};

struct server_orders; /* server_orders.c */

struct host {
    RedisModuleCtx *ctx;
    RedisModuleString **argv;
    const struct bytes *args; /* the bytes of argv */
    size_t count;
    struct server_entry *entry;
    enum server_why why;
    RedisModuleCmdFunc woken;     /* what a blocked client calls, */
    RedisModuleCmdFunc timed_out; /* and if its time is over */
    RedisModuleKey *key;
    struct queue *queue;
    uint64_t now;
    bool changed;
    bool stays; /* the client remains blocked */
    struct server_note {
        int type;
        const char *event;
    } notes[SERVER_NOTES];
    size_t noted;
    struct server_orders *orders; /* NULL unless a key is drained */
};

/* An empty string, which lasts. */
extern RedisModuleString *server_empty_string;

/* The module itself calls one of its commands, to find out whether the server would
 * let a client run it: the command does nothing. */
extern bool server_probing;

/* Since the module was loaded. */
struct server_counts {
    uint64_t waits; /* clients that were blocked */
    uint64_t timed_out;
    uint64_t
        foreign; /* calls refused because this node does not own the slot */
};
extern struct server_counts server_counts;

void server_host_init(void);

/* Sends a notification of that class when the call ends. */
void server_add_note(struct host *host, int type, const char *event);

/* The call ends: reports the change of the key, closes it, and sends the
 * notifications. */
void server_host_close(struct host *host);

#endif
