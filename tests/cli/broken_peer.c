/* broken_peer.c - a plug-in for the benchmark that fires a tick early: a plain
 * list of timers, under the name of a peer. bench.bats builds it. */
#include "contender.h"

#include <stdlib.h>

struct node {
    struct object *next;
    struct object **link; /* to this one; NULL: idle */
    uint64_t deadline;
    uint64_t mows; /* the number of mows of the list at its start */
};

struct list {
    struct object *first;
    uint64_t now;
    uint64_t mows;
};

static struct node *
broken_node(struct object *object)
{
    return (struct node *)(void *)object->node;
}

static void *
broken_make(const struct contender_setup *setup)
{
    struct list *list = calloc(1, sizeof(*list));

    if (list != NULL) {
        list->now = setup->now;
    }
    return list;
}

static bool
broken_stop(void *self, struct object *object)
{
    struct node *node = broken_node(object);

    (void)self;
    if (node->link == NULL) {
        return false;
    }
    *node->link = node->next;
    if (node->next != NULL) {
        broken_node(node->next)->link = node->link;
    }
    node->link = NULL;
    return true;
}

static void
broken_start(void *self, struct object *object, uint64_t ttl)
{
    struct list *list = self;
    struct node *node = broken_node(object);

    broken_stop(self, object);
    node->deadline =
        ttl < UINT64_MAX - list->now ? list->now + ttl : UINT64_MAX;
    node->mows = list->mows;
    node->next = list->first;
    node->link = &list->first;
    if (list->first != NULL) {
        broken_node(list->first)->link = &node->next;
    }
    list->first = object;
}

static size_t
broken_mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire,
           void *arg)
{
    struct list *list = self;
    size_t fired = 0;

    (void)budget;
    list->now = now;
    list->mows++;
    /* From the first again after each: a callback may stop any timer. */
    for (struct object *object = list->first; object != NULL;) {
        struct node *node = broken_node(object);

        if (node->deadline - 1 > now || node->mows == list->mows) {
            object = node->next;
            continue;
        }
        broken_stop(self, object);
        fire(object, arg);
        fired++;
        object = list->first;
    }
    return fired;
}

extern const struct contender CONTENDER_PLUGIN;
const struct contender CONTENDER_PLUGIN = {
    .abi = CONTENDER_ABI,
    .name = "uv",
    .title = "broken",
    .about = "Fires a tick early.",
    .kind = CONTENDER_PEER,
    .flags = CONTENDER_EXACT,
    .node = sizeof(struct node),
    .make = broken_make,
    .free = free,
    .start = broken_start,
    .stop = broken_stop,
    .mow = broken_mow,
};
