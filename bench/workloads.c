/* workloads.c - the table of workloads, which are in the files workload_*.c. */
#include "workloads.h"
#include "workload.h"

#include <strings.h>

#define WORKLOADS_LONGEST 60000u

static const struct workload workloads_timers[] = {
    {
        .name = "W1",
        .title = "start",
        .imitates = "a server that starts and accepts all its connections",
        .operation = "start of an idle timer",
        .parameters = "n starts, objects in random order, 1000 per tick",
        .uses_t = true,
        .stage = LIFE_START,
        .play = life_play,
    },
    {
        .name = "W2",
        .title = "stop",
        .imitates = "a server that shuts down: every timer is stopped",
        .operation = "stop of a running timer",
        .parameters = "n stops in random order, right after W1, 1000 per tick",
        .uses_t = true,
        .stage = LIFE_STOP,
        .first = LIFE_START,
        .play = life_play,
    },
    {
        .name = "W3",
        .title = "restart",
        .imitates = "keep-alive: each packet restarts its connection's timer",
        .operation = "restart of a running timer",
        .parameters = "random timers, 1000 restarts per tick; the few that "
                      "fire are started again",
        .uses_t = true,
        .stage = LIFE_RESTART,
        .first = LIFE_RESTART,
        .play = life_play,
    },
    {
        .name = "W4",
        .title = "churn",
        .imitates = "periodic work: every timer fires and is started again",
        .operation = "firing and starting again",
        .parameters = "starts spread over the longest TTL, one mow per tick",
        .uses_t = true,
        .stage = LIFE_CHURN,
        .first = LIFE_CHURN,
        .play = life_play,
    },
    {
        .name = "W5",
        .title = "deadlines",
        .imitates = "request deadlines next to idle connections: 99.9 % are "
                    "stopped soon after they were started",
        .operation = "start and stop",
        .parameters = "n/2 timers run all the time; n/2 others are started in "
                      "random order, and each is stopped 256 starts later; "
                      "1000 starts per tick",
        .uses_t = true,
        .stage = LIFE_DEADLINES,
        .first = LIFE_DEADLINES,
        .play = life_play,
    },
    {
        .name = "W6",
        .title = "connections",
        .imitates = "a proxy with five timers per connection (idle, close, "
                    "pacing, request, deadline), most of which never fire",
        .operation = "packet: 2 to 4 starts and stops",
        .parameters = "n/5 connections, each with a packet every 50 ticks; "
                      "TTLs 60000, 5000, 1 to 20, 30000, 10000",
        .longest = 60000,
        .ttls = connections_ttls,
        .play = connections_play,
    },
    {
        .name = "W7",
        .title = "queue",
        .imitates =
            "a delayed job queue: every job fires, jobs are added in bursts",
        .operation = "job: start and firing",
        .parameters = "a burst each 100 ticks; TTLs 1000, 5000, 15000, 60000",
        .longest = 60000,
        .ttls = queue_ttls,
        .play = queue_play,
    },
    {
        .name = "W8",
        .title = "idle",
        .imitates =
            "a quiet server: ticks without due timers, and jumps of the clock",
        .operation = "mow that fires nothing",
        .parameters = "20 TTLs from 2^22 to 2^23; each 5000th mow jumps 10,000 "
                      "ticks",
        .longest = UINT64_C(1) << 23,
        .ttls = idle_ttls,
        .play = idle_play,
    },
    {
        .name = "W9",
        .title = "expiry",
        .imitates = "the end of an outage: all timers are due at once and fire "
                    "with a budget",
        .operation = "firing",
        .parameters = "20 TTLs from 1000 to 1100, started over 100 ticks; the "
                      "clock jumps to 2000; budget 1000 per mow",
        .longest = 1100,
        .ttls = expiry_ttls,
        .play = expiry_play,
    },
    {
        .name = "W10u",
        .title = "uniform",
        .imitates = "an attacker: a random TTL at each start",
        .operation = "start or restart (half each), and firing of due timers",
        .parameters = "TTLs uniform in 1 to 2^20, or 6 n if that is less; "
                      "new at each start",
        .longest = UINT64_C(1) << 20,
        .ttls = random_ttls_uniform,
        .play = random_play,
    },
    {
        .name = "W10l",
        .title = "lognormal",
        .imitates = "retransmission timeouts from measured round trips",
        .operation = "start or restart (half each), and firing of due timers",
        .parameters = "TTLs lognormal, median 200, sigma 1, new at each start",
        .longest = UINT64_C(1) << 21,
        .ttls = random_ttls_lognormal,
        .play = random_play,
    },
    {
        .name = "W10b",
        .title = "backoff",
        .imitates = "retries with exponential back-off and full jitter",
        .operation = "start or restart (half each), and firing of due timers",
        .parameters = "TTLs uniform in 1 to 2^k, k = 4 to 16 by attempt",
        .longest = UINT64_C(1) << 16,
        .ttls = random_ttls_backoff,
        .play = random_play,
    },
    {
        .name = "W11",
        .title = "cache",
        .imitates = "a cache: TTLs with the statistics of 53 Twitter clusters "
                    "(twitter/cache-trace, March 2020)",
        .operation = "set (starts or restarts the key's timer); 1 % deletes",
        .parameters = "TTLs from 5 s to 92.6 d in seconds, drawn from a "
                      "lognormal distribution with median 8 h; 1 to 10 TTLs "
                      "per cluster, jittered in 8 clusters",
        .longest = 92 * 86400 + 51840,
        .ttls = cache_ttls,
        .play = cache_play,
        .tick = "s",
    },
    {
        .name = "W12",
        .title = "storm",
        .imitates = "clients of a server that fails: all retry with "
                    "exponential back-off and jitter",
        .operation =
            "firing, twice per timer; the first firing includes a start",
        .parameters = "TTLs from 8 w to 9 w, then from 16 w to 18 w, where w "
                      "is n/64 ticks, but at least 64 and at most 65536",
        .longest = UINT64_C(1) << 21,
        .ttls = storm_ttls,
        .play = storm_play,
    },
};

/* All of them are stages of one life. */
#define WORKLOADS_STORE(number)                                                \
    .part = PART_STORES, .stage = (number), .longest = WORKLOADS_LONGEST,      \
    .ttls = store_ttls, .play = store_play

static const struct workload workloads_store[] = {
    {
        .name = "S1",
        .title = "start",
        .imitates = "a cache that is filled, and grows",
        .operation = "start of a timer with a new id",
        .parameters =
            "n starts of random ids; the number is not announced to the store",
        WORKLOADS_STORE(STORE_START),
    },
    {
        .name = "S2",
        .title = "stop",
        .imitates = "a cache that is emptied, and shrinks",
        .operation = "stop of a timer by its id",
        .parameters = "n stops in random order, right after S1",
        WORKLOADS_STORE(STORE_STOP),
    },
    {
        .name = "S3",
        .title = "get",
        .imitates = "reading from a cache: all are hits",
        .operation = "get by id; the payload is read",
        .parameters = "n timers, random ids",
        WORKLOADS_STORE(STORE_GET),
    },
    {
        .name = "S4",
        .title = "fire",
        .imitates = "sessions that expire",
        .operation = "firing of a timer; id and payload are read",
        .parameters = "all n fire in about 200 mows; in the run for the "
                      "percentiles, each mow has a budget of 1",
        WORKLOADS_STORE(STORE_FIRE),
    },
    {
        .name = "S5",
        .title = "churn",
        .imitates = "a full cache: a new entry replaces another",
        .operation = "stop by id, and start of a new id",
        .parameters = "n timers, random ids",
        WORKLOADS_STORE(STORE_CHURN),
    },
    {
        .name = "S6",
        .title = "touch",
        .imitates = "sessions that are extended by use",
        .operation = "restart by id; the payload is kept",
        .parameters = "n timers, random ids; each restart has one of the 20 "
                      "TTLs at random",
        WORKLOADS_STORE(STORE_TOUCH),
    },
    {
        .name = "S7",
        .title = "pair",
        .imitates = "S1 and S2 together: the whole life of all timers",
        .operation = "start, and later stop",
        .parameters = "n starts, then n stops in random order",
        WORKLOADS_STORE(STORE_PAIR),
    },
};

/* Workloads that measure latency have a fixed number of threads. */
static const struct workload workloads_crew[] = {
    {
        .name = "T1",
        .title = "local",
        .imitates = "servers with a loop per thread, each with its own timers",
        .operation = "start, and stop of the timer started n/2 starts before",
        .parameters = "t workers, each on its own timers; a round of the loop "
                      "every 256 pairs",
        .part = PART_CREWS,
        .uses_t = true,
        .least_t = 1,
        .longest = CREW_LONGEST,
        .ttls = crew_ttls,
        .play = crew_play_local,
    },
    {
        .name = "T2",
        .title = "remote",
        .imitates =
            "threads that make requests, and workers that run their timers",
        .operation = "start, and stop of the timer started n/2 starts before",
        .parameters = "t threads that are not workers, on timers of t workers; "
                      "measured until the last message is processed",
        .part = PART_CREWS,
        .uses_t = true,
        .least_t = 1,
        .longest = CREW_LONGEST,
        .ttls = crew_ttls,
        .play = crew_play_remote,
    },
    {
        .name = "T3",
        .title = "mixed",
        .imitates =
            "a loop per thread, and one connection in ten that has moved",
        .operation = "start, and stop of the timer started n/2 starts before",
        .parameters = "t workers; one pair in ten on a timer of the next "
                      "worker; measured until the last message is processed",
        .part = PART_CREWS,
        .uses_t = true,
        .least_t = 2,
        .longest = CREW_LONGEST,
        .ttls = crew_ttls,
        .play = crew_play_mixed,
    },
    {
        .name = "T4",
        .title = "wake",
        .imitates = "work passed to a thread that sleeps",
        .operation = "from a start with TTL 0 until it fires on the worker",
        .parameters = "one starter, one worker that sleeps",
        .part = PART_CREWS,
        .longest = CREW_LONGEST,
        .ttls = crew_ttls,
        .play = crew_play_wake,
    },
    {
        .name = "T5",
        .title = "busy",
        .imitates = "work passed to a busy thread",
        .operation = "from a start with TTL 0 until it fires on the worker",
        .parameters =
            "one starter, one worker as in T1, but with a round every "
            "64 pairs",
        .part = PART_CREWS,
        .longest = CREW_LONGEST,
        .ttls = crew_ttls,
        .play = crew_play_busy,
    },
    {
        .name = "T6",
        .title = "fire",
        .imitates = "threads that pass all their work to workers",
        .operation = "start with TTL 0, and its firing",
        .parameters = "t threads that are not workers, t workers; a thread "
                      "waits while all its n timers are in flight",
        .part = PART_CREWS,
        .uses_t = true,
        .least_t = 1,
        .longest = CREW_LONGEST,
        .ttls = crew_ttls,
        .play = crew_play_fires,
    },
};

static const struct workload workloads_host[] = {
    {
        .name = "A1",
        .title = "restart",
        .imitates = "connections that are kept alive by their packets",
        .operation = "restart of a random timer",
        .parameters = "n timers of 8 TTLs; a round of the event loop every 256 "
                      "restarts",
        .part = PART_HOSTS,
        .longest = HOST_LONGEST,
        .ttls = host_ttls_far,
        .play = host_play_restart,
    },
    {
        .name = "A2",
        .title = "pair",
        .imitates = "requests with a deadline, next to idle connections",
        .operation = "start, and stop of the timer started 512 starts before",
        .parameters = "n other timers, of 8 TTLs, are running; a round of the "
                      "event loop every 256 pairs",
        .part = PART_HOSTS,
        .longest = HOST_LONGEST,
        .ttls = host_ttls_far,
        .play = host_play_pair,
    },
    {
        .name = "A3",
        .title = "fire",
        .imitates = "delayed jobs, all of which fire",
        .operation = "start and firing, in CPU time",
        .parameters =
            "n timers, due within 200 ms; the percentiles are their lateness",
        .part = PART_HOSTS,
        .longest = HOST_LONGEST,
        .ttls = host_ttls_near,
        .play = host_play_fire,
    },
};

const struct workload *
workloads_all(enum contender_part part, size_t *count)
{
    if (part == PART_STORES) {
        *count = sizeof(workloads_store) / sizeof(workloads_store[0]);
        return workloads_store;
    }
    if (part == PART_CREWS) {
        *count = sizeof(workloads_crew) / sizeof(workloads_crew[0]);
        return workloads_crew;
    }
    if (part == PART_HOSTS) {
        *count = sizeof(workloads_host) / sizeof(workloads_host[0]);
        return workloads_host;
    }
    *count = sizeof(workloads_timers) / sizeof(workloads_timers[0]);
    return workloads_timers;
}

/* On average at least one timer fires in three ticks, however few there are. */
uint64_t
workloads_longest(const struct cell *cell)
{
    uint64_t longest = 6 * cell->n;

    if (cell->workload->longest != 0) {
        return cell->workload->longest;
    }
    longest = longest < WORKLOADS_LONGEST ? longest : WORKLOADS_LONGEST;
    return longest > cell->t ? longest : cell->t;
}

const struct workload *
workloads_find(const char *name, enum contender_part part)
{
    size_t count = 0;
    const struct workload *all = workloads_all(part, &count);

    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(name, all[i].name) == 0 ||
            strcasecmp(name, all[i].title) == 0) {
            return &all[i];
        }
    }
    return NULL;
}
