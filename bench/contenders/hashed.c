/* hashed.c - a timing wheel of one level: the low bits of a deadline are its
 * slot.
 *
 * Timers of later revolutions are in the same slot, and are distinguished by
 * their deadlines. The wheel has a slot for each tick of the longest TTL. If
 * these are too many, it has about one slot per timer instead, and each timer
 * is examined once per revolution. Start and stop are O(1). A mow visits one
 * slot per tick that passed, or each slot once if that is less.
 */
#include "all.h"
#include "links.h"

#include <stdlib.h>

#define HASHED_LEAST 256u
#define HASHED_MOST ((size_t)1 << 24)
#define HASHED_FULL 65536u /* up to this size, a slot for each tick */

/* Timers are in slots[deadline & mask], or on the list `due` if a mow removed
 * them and its budget was exhausted. No timer in a slot is due at or before
 * mowed. */
struct hashed {
    size_t mask;
    uint64_t now;
    uint64_t mowed;
    struct bound bound;
    struct link due;
    struct link slots[];
};

static void *
make(const struct contender_setup *setup)
{
    size_t slots = HASHED_LEAST;
    uint64_t most = setup->objects > HASHED_FULL ? setup->objects : HASHED_FULL;
    uint64_t want = setup->objects;

    if (setup->longest != 0 && setup->longest < most) {
        want = setup->longest + 1;
    }
    while (slots < want && slots < HASHED_MOST) {
        slots *= 2;
    }
    struct hashed *wheel = NULL;
    wheel = malloc(sizeof(*wheel) + slots * sizeof(wheel->slots[0]));
    if (wheel == NULL) {
        return NULL;
    }
    wheel->mask = slots - 1;
    wheel->now = setup->now;
    wheel->mowed = setup->now;
    bound_set(&wheel->bound, LINKS_NEVER, true);
    links_init(&wheel->due);
    for (size_t i = 0; i < slots; i++) {
        links_init(&wheel->slots[i]);
    }
    return wheel;
}

static void
start(void *self, struct object *object, uint64_t ttl)
{
    struct hashed *wheel = (struct hashed *)self;
    struct timer *timer = links_timer(object);

    if (links_running(timer)) {
        bound_stop(&wheel->bound, timer->deadline);
        links_unlink(&timer->link);
    }
    timer->deadline = links_deadline(wheel->now, ttl);
    bound_start(&wheel->bound, timer->deadline);
    links_append(&wheel->slots[timer->deadline & wheel->mask], &timer->link);
}

static bool
stop(void *self, struct object *object)
{
    return links_stop(&((struct hashed *)self)->bound, object);
}

/* Removes the timers due by now from a slot. */
static void
collect(struct hashed *wheel, struct link *slot)
{
    struct link *link = slot->next;

    while (link != slot) {
        struct link *next = link->next;

        __builtin_prefetch(next->next);
        if (links_timer_of(link)->deadline <= wheel->now) {
            links_move(link, link, &wheel->due);
        }
        link = next;
    }
}

static size_t
mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire, void *arg)
{
    struct hashed *wheel = (struct hashed *)self;
    size_t fired = 0;

    wheel->now = now;
    if (now < wheel->bound.time) {
        return 0;
    }
    /* Nothing is due before the bound: these ticks can be skipped. */
    uint64_t from = wheel->mowed + 1;
    if (links_empty(&wheel->due) && from < wheel->bound.time) {
        from = wheel->bound.time;
    }
    uint64_t ticks = now >= from ? now - from + 1 : 0;
    if (ticks > wheel->mask) {
        ticks = wheel->mask + 1;
    }
    wheel->bound.exact = false;
    for (;;) {
        fired += links_fire(&wheel->due, budget - fired, fire, arg);
        if (fired == budget) {
            wheel->mowed = from - 1;
            return fired;
        }
        if (ticks == 0) {
            break;
        }
        ticks--;
        collect(wheel, &wheel->slots[from++ & wheel->mask]);
    }
    wheel->mowed = now;
    bound_set(&wheel->bound, now + 1, false);
    return fired;
}

/* Finds the first timer of this revolution, from the next tick on; if there is
 * none, the first of all. */
static uint64_t
next_deadline(void *self)
{
    struct hashed *wheel = (struct hashed *)self;
    uint64_t tick = wheel->mowed;

    if (wheel->bound.exact) {
        return wheel->bound.time;
    }
    uint64_t earliest = links_earliest(&wheel->due);
    for (size_t i = 0; i <= wheel->mask && earliest > tick; i++) {
        uint64_t here = links_earliest(&wheel->slots[++tick & wheel->mask]);

        if (here < earliest) {
            earliest = here;
        }
    }
    bound_set(&wheel->bound, earliest, true);
    return earliest;
}

const struct contender hashed_contender = {
    .abi = CONTENDER_ABI,
    .name = "hashed",
    .title = "hashed wheel",
    .about = "One wheel; each slot holds the timers of all revolutions. Start "
             "and stop O(1), a mow O(ticks + timers in their slots).",
    .kind = CONTENDER_PAPER,
    .flags = CONTENDER_EXACT | CONTENDER_FIFO | CONTENDER_BUDGET,
    .node = sizeof(struct timer),
    .make = make,
    .free = free,
    .start = start,
    .stop = stop,
    .mow = mow,
    .next = next_deadline,
};
