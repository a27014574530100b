/* info.c - the fields of INFO lawn. They are also part of a crash report, so
 * nothing is allocated here. The registry_* fields take O(databases) and are 0
 * in a crash report, because the registry may be damaged. All other fields take
 * O(1) or O(buckets). */
#include "info.h"

#include "late.h"
#include "queue.h"
#include "registry.h"
#include "server_host.h"
#include "server_keys.h"
#include "server_keyspace.h"
#include "server_lateness.h"
#include "server_tick.h"

static void
add_fields(RedisModuleInfoCtx *info, int crash)
{
    if (RedisModule_InfoAddSection(info, NULL) != REDISMODULE_OK) {
        return;
    }
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {
        {"keys", keys_count()},
        {"timers", queue_total(QUEUE_TOTAL)},
        {"leased", queue_total(QUEUE_TOTAL_LEASED)},
        {"dead", queue_total(QUEUE_TOTAL_DEAD)},
        {"pushed_total", command_totals.pushed},
        {"fired_total", command_totals.fired},
        {"dropped_total", command_totals.dropped},
        {"missed_total", command_totals.missed},
        {"leased_total", command_totals.leased},
        {"redelivered_total", command_totals.redelivered},
        {"acked_total", command_totals.acked},
        {"dead_total", command_totals.dead},
        {"handed_total", command_totals.handed},
        {"sink_errors", command_totals.sink_errors},
        {"late_ms_p50", late_at(&command_totals.late, 500)},
        {"late_ms_p99", late_at(&command_totals.late, 990)},
        {"late_ms_max", command_totals.late.max},
        {"waits_total", server_counts.waits},
        {"waits_timed_out", server_counts.timed_out},
        {"wake_late_us_p50", lawn_histogram_at(&lateness, 50000)},
        {"wake_late_us_p99", lawn_histogram_at(&lateness, 99000)},
        {"wake_late_us_p999", lawn_histogram_at(&lateness, 99900)},
        {"wake_late_us_max", lateness.max},
        {"wake_late_us_count", lateness.count},
        {"ticks", tick_counts.ticks},
        {"tick_overruns", tick_counts.overruns},
        {"deferred_by_pause", tick_counts.deferred},
        {"deferred_by_slot", server_counts.foreign},
        {"evicted_keys", keyspace_counts.evicted},
        {"registry_keys", crash ? 0 : registry_count()},
        {"registry_bytes", crash ? 0 : registry_bytes()},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        RedisModule_InfoAddFieldULongLong(info, fields[i].name,
                                          fields[i].value);
    }
}

bool
info_init(RedisModuleCtx *ctx)
{
    return RedisModule_RegisterInfoFunc(ctx, add_fields) == REDISMODULE_OK;
}
