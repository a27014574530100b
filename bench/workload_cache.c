/* workload_cache.c - W11: a cache shared by 53 clusters of keys.
 *
 * Facts, from twitter/cache-trace (March 2020), 53 clusters with data. TTLs
 * with 1 % or more of their cluster's writes: 22 clusters have one such TTL, 12
 * have two, 6 have three, 6 have four to six, and 7 have nine or ten. In 26
 * clusters the top TTL covers 97 % or more. TTLs are from 5 s to 92.6 days; the
 * median of the clusters' means is 8 h. In 8 clusters TTLs are jittered, over
 * ranges such as 490 to 600 s or 9.7 to 12 h. Deletes are rare. Invented: which
 * TTL belongs to which cluster.
 */
#include "workload.h"

#include <math.h>

#define CACHE_CLUSTERS 53u
#define CACHE_TTLS_MAX 10u
#define CACHE_JITTERED 8u
#define CACHE_SECONDS 50000u /* ticks over which all keys are set once */

struct cache_cluster {
    unsigned many;
    uint32_t ttls[CACHE_TTLS_MAX];
    uint32_t jitter; /* maximum random addition */
    bool topped;     /* the first TTL covers 97 % */
};

static struct cache_cluster cache_clusters[CACHE_CLUSTERS];

/* Returns a random TTL: log-normal around 8 h, from 5 s to 92.6 d, in whole
 * seconds. Long TTLs are round numbers, as people choose them. */
static uint32_t
draw_ttl(struct random *random)
{
    double sum = 0;

    for (int i = 0; i < 12; i++) {
        sum += random_unit(random);
    }
    uint32_t ttl = (uint32_t)(28800 * exp((sum - 6) * 2));
    ttl = ttl < 5 ? 5 : (ttl > 8000640 ? 8000640 : ttl);
    if (ttl > 86400) {
        return ttl / 86400 * 86400;
    }
    return ttl > 3600 ? ttl / 3600 * 3600 : (ttl > 60 ? ttl / 60 * 60 : ttl);
}

static void
make_clusters(struct random *random)
{
    static const uint32_t ranges[CACHE_JITTERED][2] = {
        {490, 600},   {5760, 7200}, {23760, 27000}, {34920, 43200},
        {3240, 3960}, {1620, 1980}, {77760, 95040}, {540, 660},
    };

    for (unsigned i = 0; i < CACHE_CLUSTERS; i++) {
        struct cache_cluster *cluster = &cache_clusters[i];

        cluster->many = i < 22   ? 1
                        : i < 34 ? 2
                        : i < 40 ? 3
                        : i < 46 ? 4 + i % 3
                                 : 9 + i % 2;
        cluster->topped = i < 26;
        cluster->jitter = 0;
        for (unsigned k = 0; k < cluster->many; k++) {
            cluster->ttls[k] = draw_ttl(random);
        }
        if (i % 7 == 0) {
            cluster->ttls[0] = ranges[i / 7][0];
            cluster->jitter = ranges[i / 7][1] - ranges[i / 7][0];
        }
    }
}

/* The cluster of a key is constant; its TTL is drawn at each set. */
static uint64_t
ttl_of(uint32_t id, uint64_t random)
{
    const struct cache_cluster *cluster = &cache_clusters[id % CACHE_CLUSTERS];
    uint64_t which = random % 1000;
    uint64_t jitter = (random >> 16) & 0xffff;

    which = cluster->topped && which < 970 ? 0 : which % cluster->many;
    return cluster->ttls[which] +
           (which == 0 ? jitter * (cluster->jitter + 1) >> 16 : 0);
}

void
cache_ttls(struct run *run)
{
    make_clusters(&run->random);
    for (uint64_t i = 0; i < run->cell->n; i++) {
        run_object(run, i)->ttl =
            ttl_of((uint32_t)i, random_next(&run->random));
    }
}

/* Sets a number of random keys; 1 % are deletes instead. */
static void
play_some(struct run *run, uint64_t sets)
{
    uint64_t per_tick = run->cell->n / CACHE_SECONDS + 1;

    for (uint64_t i = 1; i <= sets; i++) {
        uint64_t random = random_next(&run->random);
        uint64_t key = ((random >> 32) * run->cell->n) >> 32;

        if (random % 100 == 0) {
            run_stop(run, key);
        } else {
            run_object(run, key)->ttl = ttl_of((uint32_t)key, random >> 7);
            run_start(run, key);
        }
        if (i % per_tick == 0) {
            run_tick(run);
        }
        if (i % WORKLOAD_STEP == 0 && !run_goes_on(run)) {
            return;
        }
    }
}

void
cache_play(struct run *run)
{
    play_some(run, 2 * run->cell->n);
    run_weigh(run);
    run_begin(run, 0);
    play_some(run, workload_ops(run));
    run_finish(run, workload_ops(run));
}
