/* cache.c - a cache: each entry has its own TTL, and a write restarts it.
 *
 * The timer is part of the entry, next to its links in the hash table and in
 * the list of all entries, which is sorted by the last write. So an expiring
 * entry is found at once, and evicting an entry stops its timer. lawn_store.h
 * does the same for byte strings by id; use this for objects that you already
 * have.
 */
#include <lawn.h>

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define BUCKETS 64
#define MOST 3 /* maximum number of entries; small, for demonstration */

struct entry {
    struct lawn_timer ttl;
    LIST_ENTRY(entry) chain;
    TAILQ_ENTRY(entry) order;
    int value;
    char key[20];
};

struct cache {
    struct lawn *lawn;
    LIST_HEAD(bucket, entry) buckets[BUCKETS];
    TAILQ_HEAD(order, entry) order;
    size_t count, hits, misses, expired, evicted;
};

static void
drop(struct cache *cache, struct entry *e)
{
    (void)lawn_stop(cache->lawn, &e->ttl); /* unless it has just fired */
    LIST_REMOVE(e, chain);
    TAILQ_REMOVE(&cache->order, e, order);
    cache->count--;
    free(e);
}

static void
expire(struct lawn_timer *timer, void *arg)
{
    struct cache *cache = arg;

    cache->expired++;
    drop(cache, LAWN_CONTAINER(timer, struct entry, ttl));
}

/* FNV-1a. If keys come from untrusted sources, use a keyed hash. */
static unsigned
hash(const char *key)
{
    unsigned h = 2166136261u;

    for (; *key != '\0'; key++) {
        h = (h ^ (unsigned char)*key) * 16777619u;
    }
    return h % BUCKETS;
}

static struct entry *
find(struct cache *cache, const char *key)
{
    struct entry *e = LIST_FIRST(&cache->buckets[hash(key)]);

    while (e != NULL && strcmp(e->key, key) != 0) {
        e = LIST_NEXT(e, chain);
    }
    return e;
}

/* Returns false if out of memory or if the key is too long. */
static bool
cache_set(struct cache *cache, const char *key, int value, uint64_t ttl)
{
    struct entry *e = find(cache, key);
    size_t size = strlen(key) + 1;

    if (e != NULL) {
        TAILQ_REMOVE(&cache->order, e, order);
    } else {
        if (size > sizeof(e->key) || (e = calloc(1, sizeof(*e))) == NULL) {
            return false;
        }
        if (cache->count == MOST) {
            cache->evicted++;
            drop(cache, TAILQ_FIRST(&cache->order));
        }
        memcpy(e->key, key, size);
        LIST_INSERT_HEAD(&cache->buckets[hash(key)], e, chain);
        cache->count++;
    }
    TAILQ_INSERT_TAIL(&cache->order, e, order);
    e->value = value;
    lawn_start(cache->lawn, &e->ttl, ttl); /* restarts it if it is running */
    return true;
}

/* Returns the value, valid until the next set or mow; or NULL. */
static const int *
cache_get(struct cache *cache, const char *key)
{
    struct entry *e = find(cache, key);

    /* lawn_mow() has a budget, so due entries may still exist. */
    if (e == NULL || lawn_deadline(&e->ttl) <= lawn_now(cache->lawn)) {
        cache->misses++;
        return NULL;
    }
    cache->hits++;
    return &e->value;
}

int
main(void)
{
    static const struct {
        uint64_t now;
        const char *key;
        int value;
        uint64_t ttl; /* 0: get the value */
    } calls[] = {
        {1, "ada", 1, 10}, {1, "bob", 2, 60}, {5, "ada", 0, 0},
        {5, "ada", 3, 10}, {14, "ada", 0, 0}, {15, "ada", 0, 0},
        {20, "cyd", 4, 5}, {20, "dan", 5, 9}, {20, "eve", 6, 9},
        {21, "bob", 0, 0}, {21, "cyd", 0, 0}, {99, "eve", 0, 0},
    };
    static struct cache cache = {.order = TAILQ_HEAD_INITIALIZER(cache.order)};
    const int *value = NULL;

    if ((cache.lawn = lawn_new(NULL)) == NULL) {
        return 1;
    }
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        (void)lawn_mow(cache.lawn, calls[i].now, 100, expire, &cache);
        if (calls[i].ttl == 0) {
            value = cache_get(&cache, calls[i].key);
            printf("%2d s: %s is ", (int)calls[i].now, calls[i].key);
            (void)(value != NULL ? printf("%d\n", *value) : puts("not there"));
        } else if (!cache_set(&cache, calls[i].key, calls[i].value,
                              calls[i].ttl)) {
            printf("%s cannot be stored\n", calls[i].key);
        }
    }
    printf("%zu hits, %zu misses, %zu expired, %zu had to make room\n",
           cache.hits, cache.misses, cache.expired, cache.evicted);
    while (!TAILQ_EMPTY(&cache.order)) {
        drop(&cache, TAILQ_FIRST(&cache.order));
    }
    lawn_free(cache.lawn);
    return 0;
}

/* prints:
 *  5 s: ada is 1
 * 14 s: ada is 3
 * 15 s: ada is not there
 * 21 s: bob is not there
 * 21 s: cyd is 4
 * 99 s: eve is not there
 * 3 hits, 3 misses, 4 expired, 1 had to make room
 */
