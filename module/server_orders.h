/* server_orders.h - commands of the server that a drain runs: host_call() and
 * host_probe(). */
#ifndef SERVER_ORDERS_H
#define SERVER_ORDERS_H

#include "host.h"
#include "redismodule_api.h"

/* What is kept between the calls of one drain. */
struct server_orders {
    RedisModuleString *lasting[HOST_ORDER_WORDS];
    const char *at[HOST_ORDER_WORDS]; /* what they were made of */
    size_t unchecked;                 /* bytes, since memory was checked */
    bool full;                        /* the server was out of memory then */
    bool evicts;
    uint64_t end; /* of the time for this drain, in us of CLOCK_MONOTONIC */
    char error[128];
};

void server_orders_init(struct server_orders *orders, uint64_t end);
void server_orders_fini(struct server_orders *orders);

#endif
