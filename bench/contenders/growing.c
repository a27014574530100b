/* growing.c - a timing wheel that is as long as the longest TTL.
 *
 * Every slot is one tick, so nothing is compared: all timers of a slot are due
 * together. A TTL that is longer than the wheel makes it grow to the next power
 * of two, and all slots move: the overflow described in the paper. Otherwise
 * start and stop are O(1). A mow visits one slot per tick that passed, or each
 * slot once if that is less.
 */
#include "all.h"
#include "links.h"

#include <stdlib.h>

#define GROWING_LEAST 256u
#define GROWING_MOST ((size_t)1 << 26) /* 1 GiB of slots */

/* A timer is in slots[deadline & mask], with its deadline in (now, now + mask +
 * 1]; or on the list `due` if the budget of a mow was exhausted. A slot that
 * was never used is all zero, so that unused memory is not touched. */
struct growing {
    struct link *slots;
    size_t mask;
    bool failed;
    uint64_t now;
    struct bound bound;
    struct link due;
};

static void *
make(const struct contender_setup *setup)
{
    struct growing *wheel = malloc(sizeof(*wheel));

    if (wheel == NULL) {
        return NULL;
    }
    wheel->slots = calloc(GROWING_LEAST, sizeof(wheel->slots[0]));
    if (wheel->slots == NULL) {
        free(wheel);
        return NULL;
    }
    wheel->mask = GROWING_LEAST - 1;
    wheel->failed = false;
    wheel->now = setup->now;
    bound_set(&wheel->bound, LINKS_NEVER, true);
    links_init(&wheel->due);
    return wheel;
}

static void
destroy(void *self)
{
    struct growing *wheel = (struct growing *)self;

    free(wheel->slots);
    free(wheel);
}

static bool
is_empty(const struct link *slot)
{
    return slot->next == NULL || slot->next == slot;
}

/* Moves all timers of a slot to the end of another list. */
static void
move_slot(struct link *slot, struct link *to)
{
    links_move(slot->next, slot->prev, to);
}

/* Makes the wheel long enough for a TTL. */
static bool
grow(struct growing *wheel, uint64_t ttl)
{
    size_t room = wheel->mask + 1;

    while (room < ttl) {
        room *= 2;
        if (room > GROWING_MOST) {
            return false;
        }
    }
    struct link *slots = NULL;
    slots = calloc(room, sizeof(slots[0]));
    if (slots == NULL) {
        return false;
    }
    for (size_t i = 0; i <= wheel->mask; i++) {
        struct link *slot = &wheel->slots[i];

        if (!is_empty(slot)) {
            struct link *to =
                &slots[links_timer_of(slot->next)->deadline & (room - 1)];

            links_init(to);
            move_slot(slot, to);
        }
    }
    free(wheel->slots);
    wheel->slots = slots;
    wheel->mask = room - 1;
    return true;
}

static void
start(void *self, struct object *object, uint64_t ttl)
{
    struct growing *wheel = (struct growing *)self;
    struct timer *timer = links_timer(object);

    if (ttl > wheel->mask + 1 && !grow(wheel, ttl)) {
        wheel->failed = true;
        return;
    }
    if (links_running(timer)) {
        bound_stop(&wheel->bound, timer->deadline);
        links_unlink(&timer->link);
    }
    timer->deadline = links_deadline(wheel->now, ttl);
    bound_start(&wheel->bound, timer->deadline);
    struct link *slot = &wheel->slots[timer->deadline & wheel->mask];
    if (slot->next == NULL) {
        links_init(slot);
    }
    links_append(slot, &timer->link);
}

static bool
has_failed(void *self)
{
    return ((const struct growing *)self)->failed;
}

static bool
stop(void *self, struct object *object)
{
    return links_stop(&((struct growing *)self)->bound, object);
}

/* Moves the timers of all slots up to now to the list `due`, in order. */
static void
collect(struct growing *wheel, uint64_t from, uint64_t now)
{
    uint64_t ticks = now >= from ? now - from + 1 : 0;

    if (ticks > wheel->mask) {
        ticks = wheel->mask + 1;
    }
    for (; ticks > 0; ticks--) {
        struct link *slot = &wheel->slots[from++ & wheel->mask];

        if (!is_empty(slot)) {
            move_slot(slot, &wheel->due);
        }
    }
}

static size_t
mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire, void *arg)
{
    struct growing *wheel = (struct growing *)self;
    uint64_t from = wheel->now + 1;

    wheel->now = now;
    if (now < wheel->bound.time) {
        return 0;
    }
    if (from < wheel->bound.time) {
        from = wheel->bound.time;
    }
    collect(wheel, from, now);
    /* Timers that remain on the list `due` fire in the next mow; timers that
     * callbacks start are due later. */
    bound_set(&wheel->bound, now + 1, false);
    size_t fired = links_fire(&wheel->due, budget, fire, arg);
    if (!links_empty(&wheel->due)) {
        bound_set(&wheel->bound, 0, false);
    }
    return fired;
}

static uint64_t
next_deadline(void *self)
{
    struct growing *wheel = (struct growing *)self;
    uint64_t earliest = LINKS_NEVER;

    if (wheel->bound.exact) {
        return wheel->bound.time;
    }
    if (!links_empty(&wheel->due)) {
        return links_timer_of(wheel->due.next)->deadline;
    }
    for (size_t i = 1; i <= wheel->mask + 1; i++) {
        struct link *slot = &wheel->slots[(wheel->now + i) & wheel->mask];

        if (!is_empty(slot)) {
            earliest = links_timer_of(slot->next)->deadline;
            break;
        }
    }
    bound_set(&wheel->bound, earliest, true);
    return earliest;
}

const struct contender growing_contender = {
    .abi = CONTENDER_ABI,
    .name = "growing",
    .title = "growing wheel",
    .about = "A wheel with a slot for each tick of the longest TTL, rebuilt "
             "for a longer TTL. Start and stop O(1) otherwise.",
    .kind = CONTENDER_PAPER,
    .flags =
        CONTENDER_EXACT | CONTENDER_ORDERED | CONTENDER_FIFO | CONTENDER_BUDGET,
    .node = sizeof(struct timer),
    .make = make,
    .free = destroy,
    .start = start,
    .failed = has_failed,
    .stop = stop,
    .mow = mow,
    .next = next_deadline,
};
