/* list.c - a doubly linked list, sorted by deadline.
 *
 * A start searches for its place from the tail, past all timers that are due
 * later. If most timers have one TTL, it finds its place at once. Stop is O(1),
 * start O(n).
 */
#include "all.h"
#include "links.h"

#include <stdlib.h>

struct list {
    struct link timers;
    uint64_t now;
};

static void *
make(const struct contender_setup *setup)
{
    struct list *list = malloc(sizeof(*list));

    if (list != NULL) {
        links_init(&list->timers);
        list->now = setup->now;
    }
    return list;
}

static void
start(void *self, struct object *object, uint64_t ttl)
{
    struct list *list = (struct list *)self;
    struct timer *timer = links_timer(object);
    uint64_t deadline = links_deadline(list->now, ttl);

    if (links_running(timer)) {
        links_unlink(&timer->link);
    }
    struct link *place = list->timers.prev;
    while (place != &list->timers &&
           links_timer_of(place)->deadline > deadline) {
        place = place->prev;
    }
    timer->deadline = deadline;
    links_insert_after(place, &timer->link);
}

static bool
stop(void *self, struct object *object)
{
    (void)self;
    return links_stop(NULL, object);
}

static size_t
mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire, void *arg)
{
    struct list *list = (struct list *)self;
    size_t fired = 0;

    list->now = now;
    while (fired < budget && !links_empty(&list->timers)) {
        struct timer *timer = links_timer_of(list->timers.next);

        if (timer->deadline > now) {
            break;
        }
        __builtin_prefetch(timer->link.next);
        links_remove(timer);
        fire(links_object(timer), arg);
        fired++;
    }
    return fired;
}

static uint64_t
next_deadline(void *self)
{
    struct list *list = (struct list *)self;

    return links_empty(&list->timers)
               ? LINKS_NEVER
               : links_timer_of(list->timers.next)->deadline;
}

const struct contender list_contender = {
    .abi = CONTENDER_ABI,
    .name = "list",
    .title = "sorted list",
    .about = "A doubly linked list in the order of deadlines, searched from "
             "the tail. Start O(n), stop O(1).",
    .kind = CONTENDER_PAPER,
    .flags = CONTENDER_EXACT | CONTENDER_ORDERED | CONTENDER_FIFO |
             CONTENDER_BUDGET | CONTENDER_LINEAR,
    .node = sizeof(struct timer),
    .make = make,
    .free = free,
    .start = start,
    .stop = stop,
    .mow = mow,
    .next = next_deadline,
};
