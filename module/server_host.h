/* server_host.h - implements host.h by the server's functions: the state of one
 * call of a command, or of one drain of a key to its sink.
 */
#ifndef SERVER_HOST_H
#define SERVER_HOST_H

#include "command.h"
#include "host.h"
#include "redismodule_api.h"

/* The number of notifications that one call can send. */
#define SERVER_NOTES 8u

/* A registered command. */
struct server_entry {
    const struct command *command;
    int mode; /* for opening its key */
    /* for administrators only, which the server cannot enforce */
    bool guarded;
};

/* Why a command runs. */
enum server_why {
    SERVER_CALLED,
    SERVER_WOKEN,    /* the client was blocked, and events may be due */
    SERVER_TIMED_OUT /* the client's timeout has passed */
};

struct server_orders; /* server_orders.c */

struct host {
    RedisModuleCtx *ctx;
    RedisModuleString **argv;
    const struct bytes *args; /* the bytes of argv */
    size_t count;
    struct server_entry *entry;
    enum server_why why;
    RedisModuleCmdFunc woken;     /* called for a woken client */
    RedisModuleCmdFunc timed_out; /* called when its timeout has passed */
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

/* A permanent empty string. */
extern RedisModuleString *server_empty_string;

/* Set while the module calls one of its commands only to find out whether the
 * server would let a client run it. */
extern bool server_probing;

/* Counters since the module was loaded. */
struct server_counts {
    uint64_t waits; /* clients that were blocked */
    uint64_t timed_out;
    /* calls refused because this node does not own the slot */
    uint64_t foreign;
};
extern struct server_counts server_counts;

void server_host_init(void);

/* Sends a notification of this class when the call ends. */
void server_add_note(struct host *host, int type, const char *event);

/* Ends the call: reports the change of the key, closes it, and sends the
 * notifications. */
void server_host_close(struct host *host);

#endif
