/* server_handover.c - see server_handover.h. */
#include "server_handover.h"

#include "server_host.h"
#include "server_keys.h"
#include "server_orders.h"

uint64_t
handover_run(RedisModuleCtx *ctx, RedisModuleString *name, struct queue *queue,
             const struct handover_times *times, uint64_t *budget)
{
    struct server_orders orders;
    RedisModuleString *argv[] = {NULL, name};
    struct bytes args[] = {{"", 0}, keys_bytes(name)};
    server_orders_init(&orders, times->end, &args[1]);
    struct host host = {.ctx = ctx,
                        .argv = argv,
                        .args = args,
                        .count = 2,
                        .queue = queue,
                        .now = times->now,
                        .orders = &orders};
    struct call call = {.host = &host,
                        .args = args,
                        .count = 2,
                        .now = times->now,
                        .wall = times->wall,
                        .queue = queue};
    const struct queue_counts *counts = queue_counts_of(queue);
    uint64_t before = counts->handed + counts->dead;
    uint64_t again = command_hand_over(&call, *budget);
    uint64_t handed = *budget;
    if (host.queue != NULL) {
        handed = counts->handed + counts->dead - before;
    }
    *budget -= handed < *budget ? handed : *budget;
    server_host_close(&host);
    server_orders_fini(&orders);
    return again;
}
