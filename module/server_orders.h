/* server_orders.h - runs commands of the server during a drain: host_call() and
 * host_probe(). */
#ifndef SERVER_ORDERS_H
#define SERVER_ORDERS_H

#include "host.h"
#include "redismodule_api.h"

/* The state of one drain. */
struct server_orders {
    RedisModuleString *lasting[HOST_ORDER_WORDS];
    /* the bytes that they were created from */
    const char *at[HOST_ORDER_WORDS];
    size_t unchecked; /* bytes delivered since memory was last checked */
    bool full;        /* the server was out of memory at the last check */
    bool evicts;
    uint64_t end;      /* deadline of this drain, in us of CLOCK_MONOTONIC */
    struct bytes *key; /* the name in the arguments of the host */
    char error[128];
};

/* *key is changed if the queue is given to another key. */
void server_orders_init(struct server_orders *orders, uint64_t end,
                        struct bytes *key);
void server_orders_fini(struct server_orders *orders);

#endif
