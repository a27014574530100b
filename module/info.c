/* info.c - the figures of INFO lawn. They are told in a crash report as well, so
 * nothing is allocated here, and what is walked is left out then: it may be the
 * very thing that broke. The rest stands ready, or is O(buckets). */
#include "info.h"

#include "late.h"
#include "queue.h"
#include "registry.h"
#include "server.h"
#include "type.h"
#include "wake.h"

static void
info_tell(struct redis_info *info, int crash)
{
    if (redis.InfoAddSection(info, NULL) != REDIS_OK)
        return;
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {
        {"keys", type_count()},
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
        {"wake_late_us_p50", lawn_histogram_at(&wake_late, 50000)},
        {"wake_late_us_p99", lawn_histogram_at(&wake_late, 99000)},
        {"wake_late_us_p999", lawn_histogram_at(&wake_late, 99900)},
        {"wake_late_us_max", wake_late.max},
        {"wake_late_us_count", wake_late.count},
        {"ticks", wake_counts.ticks},
        {"tick_overruns", wake_counts.overruns},
        {"deferred_by_pause", wake_counts.deferred},
        {"deferred_by_slot", server_counts.foreign},
        {"evicted_keys", wake_counts.evicted},
        {"registry_keys", crash ? 0 : registry_count()},
        {"registry_bytes", crash ? 0 : registry_bytes()},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        redis.InfoAddFieldULongLong(info, fields[i].name, fields[i].value);
}

bool
info_init(struct redis_ctx *ctx)
{
    return redis.RegisterInfoFunc(ctx, info_tell) == REDIS_OK;
}
