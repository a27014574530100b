/* contenders.c - the contenders of this tree, and the peers that were built. */
#include "contenders.h"

#include "contenders/all.h"
#include "crews/all.h"
#include "hosts/all.h"
#include "peers.h"
#include "stores/all.h"

#include <string.h>

static const struct contender *const contenders_own[] = {
    &lawn_contender,
    &lawn_class_contender,
    &list_contender,
    &tree_contender,
    &heap2_contender,
    &heap4_contender,
    &hashed_contender,
    &growing_contender,
    &wheel_contender,
    &calendar_contender,
    &paper_contender,
    &heads_contender,
    &lawn_store_contender.face,
    &lawn_crew.face,
    &mutex_crew.face,
    &adaptive_crew.face,
    &shards_crew.face,
    &lawn_host.face,
    &lawn_host_coarse.face,
};

#define CONTENDERS_PARTS (PART_HOSTS + 1)
#define CONTENDERS_OWN (sizeof(contenders_own) / sizeof(contenders_own[0]))

static const struct contenders_lines {
    const char *name;
    unsigned lines;
} contenders_counted[] = {
#include "lines.h" /* written by tools/lines */
};

/* The contenders of one part. */
static struct {
    const struct contender *of[CONTENDERS_MAX];
    size_t count;
} contenders_parts[CONTENDERS_PARTS];
static struct contenders_missing contenders_absent[PEERS_MAX + 1];
static size_t contenders_absent_count;

static void
add_contender(const struct contender *contender)
{
    enum contender_part part = contender_part_of(contender);

    contenders_parts[part].of[contenders_parts[part].count++] = contender;
}

/* Collects the contenders of this tree, the peers, and the floor, which is not
 * a rival. */
static void
gather_contenders(void)
{

    if (contenders_parts[PART_TIMERS].count > 0) {
        return;
    }
    for (size_t i = 0; i < CONTENDERS_OWN; i++) {
        add_contender(contenders_own[i]);
    }
    const struct contender *peers[PEERS_MAX];
    size_t count = peers_load(peers, PEERS_MAX, contenders_absent,
                              &contenders_absent_count);
    for (size_t i = 0; i < count; i++) {
        add_contender(peers[i]);
    }
    add_contender(&floor_contender);
    add_contender(&alone_crew.face);
}

const struct contender *const *
contenders_of(enum contender_part part, size_t *count)
{
    gather_contenders();
    *count = contenders_parts[part].count;
    return contenders_parts[part].of;
}

const struct contender *
contenders_find(const char *name)
{
    size_t count = 0;
    const struct contender *const *all = contenders_of(PART_TIMERS, &count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(all[i]->name, name) == 0) {
            return all[i];
        }
    }
    return NULL;
}

const struct contenders_missing *
contenders_list_missing(size_t *count)
{
    gather_contenders();
    *count = contenders_absent_count;
    return contenders_absent;
}

unsigned
contenders_count_lines(const struct contender *contender)
{
    for (size_t i = 0;
         i < sizeof(contenders_counted) / sizeof(contenders_counted[0]); i++) {
        if (contender_part_of(contender) == PART_TIMERS &&
            strcmp(contenders_counted[i].name, contender->name) == 0) {
            return contenders_counted[i].lines;
        }
    }
    return 0;
}
