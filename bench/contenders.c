/* contenders.c - the contenders of this tree and the peers that were built. */
#include "contenders.h"

#include "contenders/all.h"
#include "peers.h"
#include "stores/all.h"

#include <string.h>

static const struct contender *const own[] = {
    &lawn_contender,    &list_contender,  &tree_contender,
    &heap2_contender,   &heap4_contender, &hashed_contender,
    &growing_contender, &wheel_contender, &calendar_contender,
    &paper_contender,   &heads_contender,
};

#define OWN (sizeof own / sizeof own[0])

static const struct contenders_lines {
    const char *name;
    unsigned lines;
} lines[] = {
#include "lines.h" /* written by tools/lines */
};

static const struct contender *all[CONTENDERS_MAX];
static size_t all_count;
static const struct contender *stores[PEERS_MAX + 1];
static size_t stores_count;
static struct contenders_missing absent[PEERS_MAX + 1];
static size_t absent_count;

/* Ours, the peers, the floor; of stores, ours and the peers. */
static void
contenders_gather(void)
{
    const struct contender *peers[PEERS_MAX];
    size_t count;
    size_t i;

    if (all_count > 0) {
        return;
    }
    memcpy(all, own, sizeof own);
    all_count = OWN;
    stores[stores_count++] = &lawn_store_contender.face;
    count = peers_load(peers, PEERS_MAX, absent, &absent_count);
    for (i = 0; i < count; i++) {
        if ((peers[i]->flags & CONTENDER_STORE) != 0) {
            stores[stores_count++] = peers[i];
        } else {
            all[all_count++] = peers[i];
        }
    }
    all[all_count++] = &floor_contender;
}

const struct contender *const *
contenders_stores(size_t *count)
{
    contenders_gather();
    *count = stores_count;
    return stores;
}

const struct contender *const *
contenders_all(size_t *count)
{
    contenders_gather();
    *count = all_count;
    return all;
}

const struct contender *
contenders_find(const char *name)
{
    size_t i;

    contenders_gather();
    for (i = 0; i < all_count; i++) {
        if (strcmp(all[i]->name, name) == 0) {
            return all[i];
        }
    }
    return NULL;
}

const struct contenders_missing *
contenders_missing(size_t *count)
{
    contenders_gather();
    *count = absent_count;
    return absent;
}

unsigned
contenders_lines(const struct contender *contender)
{
    size_t i;

    for (i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if ((contender->flags & CONTENDER_STORE) == 0 &&
            strcmp(lines[i].name, contender->name) == 0) {
            return lines[i].lines;
        }
    }
    return 0;
}
