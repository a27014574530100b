/* contenders.c - the contenders of this tree and the peers that were built. */
#include "contenders.h"

#include "contenders/all.h"
#include "crews/all.h"
#include "hosts/all.h"
#include "peers.h"
#include "stores/all.h"

#include <string.h>

static const struct contender *const own[] = {
    &lawn_contender,    &list_contender,  &tree_contender,
    &heap2_contender,   &heap4_contender, &hashed_contender,
    &growing_contender, &wheel_contender, &calendar_contender,
    &paper_contender,   &heads_contender, &lawn_store_contender.face,
    &lawn_crew.face,    &mutex_crew.face, &adaptive_crew.face,
    &shards_crew.face,  &lawn_host.face,  &lawn_host_coarse.face,
};

#define PARTS (PART_HOSTS + 1)
#define OWN (sizeof own / sizeof own[0])

static const struct contenders_lines {
    const char *name;
    unsigned lines;
} lines[] = {
#include "lines.h" /* written by tools/lines */
};

/* Of a part. */
static struct {
    const struct contender *of[CONTENDERS_MAX];
    size_t count;
} parts[PARTS];
static struct contenders_missing absent[PEERS_MAX + 1];
static size_t absent_count;

static void
contenders_add(const struct contender *contender)
{
    enum contender_part part = contender_part(contender);

    parts[part].of[parts[part].count++] = contender;
}

/* Ours, the peers, and what is no rival: the floor. */
static void
contenders_gather(void)
{
    const struct contender *peers[PEERS_MAX];
    size_t count;
    size_t i;

    if (parts[PART_TIMERS].count > 0) {
        return;
    }
    for (i = 0; i < OWN; i++) {
        contenders_add(own[i]);
    }
    count = peers_load(peers, PEERS_MAX, absent, &absent_count);
    for (i = 0; i < count; i++) {
        contenders_add(peers[i]);
    }
    contenders_add(&floor_contender);
    contenders_add(&alone_crew.face);
}

const struct contender *const *
contenders_of(enum contender_part part, size_t *count)
{
    contenders_gather();
    *count = parts[part].count;
    return parts[part].of;
}

const struct contender *const *
contenders_all(size_t *count)
{
    return contenders_of(PART_TIMERS, count);
}

const struct contender *
contenders_find(const char *name)
{
    size_t count;
    size_t i;
    const struct contender *const *all = contenders_all(&count);

    for (i = 0; i < count; i++) {
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
        if (contender_part(contender) == PART_TIMERS &&
            strcmp(lines[i].name, contender->name) == 0) {
            return lines[i].lines;
        }
    }
    return 0;
}
