/* wheel.c - a hierarchical timing wheel with bitmaps, over all 64 bits.
 *
 * A deadline is on the level of the highest byte in which it differs from the
 * base, in the slot of that byte. The base moves from one occupied slot to the
 * next, which is found by counting zeros, so empty ticks cost nothing. When the
 * base enters a slot of an upper level, the slot's timers move down; each moves
 * at most once per level. Start and stop are O(1).
 *
 * A stop does not update the bitmap: a set bit may belong to an empty slot, and
 * is cleared when the base reaches the slot.
 */
#include "all.h"
#include "links.h"

#include <stdlib.h>
#include <string.h>

#define WHEEL_BITS 8u
#define WHEEL_SLOTS (1u << WHEEL_BITS)
#define WHEEL_LEVELS (64u / WHEEL_BITS)
#define WHEEL_WORDS (WHEEL_SLOTS / 64u)

/* No timer is due before base. base <= now; it is less only after a mow whose
 * budget was exhausted. A timer on level l has all digits above l in common
 * with base, and a larger digit l; on level 0 it may be equal. */
struct wheel {
    uint64_t now;
    uint64_t base;
    struct bound bound;
    unsigned levels;  /* a bit for each occupied level */
    uint64_t touched; /* timers fired or moved */
    uint64_t occupied[WHEEL_LEVELS][WHEEL_WORDS];
    struct link slots[WHEEL_LEVELS][WHEEL_SLOTS];
};

/* The next slot. */
struct wheel_place {
    unsigned level;
    unsigned digit;
    uint64_t time; /* nothing in the slot is due before this time */
};

static void *
make(const struct contender_setup *setup)
{
    struct wheel *wheel = malloc(sizeof(*wheel));

    if (wheel == NULL) {
        return NULL;
    }
    memset(wheel, 0, sizeof(*wheel));
    for (unsigned level = 0; level < WHEEL_LEVELS; level++) {
        for (unsigned digit = 0; digit < WHEEL_SLOTS; digit++) {
            links_init(&wheel->slots[level][digit]);
        }
    }
    wheel->now = setup->now;
    wheel->base = setup->now;
    bound_set(&wheel->bound, LINKS_NEVER, true);
    return wheel;
}

static inline void
insert(struct wheel *wheel, struct timer *timer)
{
    uint64_t differs = (timer->deadline ^ wheel->base) | 1;
    unsigned level = (63u - (unsigned)__builtin_clzll(differs)) / WHEEL_BITS;
    unsigned digit =
        (unsigned)(timer->deadline >> level * WHEEL_BITS) % WHEEL_SLOTS;

    links_append(&wheel->slots[level][digit], &timer->link);
    wheel->occupied[level][digit / 64] |= UINT64_C(1) << digit % 64;
    wheel->levels |= 1u << level;
}

static void
start(void *self, struct object *object, uint64_t ttl)
{
    struct wheel *wheel = (struct wheel *)self;
    struct timer *timer = links_timer(object);

    if (links_running(timer)) {
        bound_stop(&wheel->bound, timer->deadline);
        links_unlink(&timer->link);
    }
    timer->deadline = links_deadline(wheel->now, ttl);
    bound_start(&wheel->bound, timer->deadline);
    insert(wheel, timer);
}

static bool
stop(void *self, struct object *object)
{
    return links_stop(&((struct wheel *)self)->bound, object);
}

/* Finds the first slot: slots of upper levels are later than all of lower ones.
 * Returns false if the wheel is empty. */
static bool
find_place(const struct wheel *wheel, struct wheel_place *place)
{
    unsigned word = 0;

    if (wheel->levels == 0) {
        return false;
    }
    unsigned level = (unsigned)__builtin_ctz(wheel->levels);
    const uint64_t *occupied = wheel->occupied[level];
    while (occupied[word] == 0) {
        word++;
    }
    unsigned shift = level * WHEEL_BITS;
    uint64_t above = level + 1 < WHEEL_LEVELS
                         ? wheel->base >> (shift + WHEEL_BITS)
                                              << (shift + WHEEL_BITS)
                         : 0;
    place->level = level;
    place->digit = word * 64 + (unsigned)__builtin_ctzll(occupied[word]);
    place->time = above | (uint64_t)place->digit << shift;
    return true;
}

/* Marks a slot as empty. */
static void
clear_place(struct wheel *wheel, const struct wheel_place *place)
{
    uint64_t *occupied = wheel->occupied[place->level];

    occupied[place->digit / 64] &= ~(UINT64_C(1) << place->digit % 64);
    if ((occupied[0] | occupied[1] | occupied[2] | occupied[3]) == 0) {
        wheel->levels &= ~(1u << place->level);
    }
}

/* Moves the timers of a slot down after the base has entered it. */
static void
cascade(struct wheel *wheel, struct link *slot)
{
    struct link *link = slot->next;
    uint64_t moved = 0;

    links_init(slot);
    while (link != slot) {
        struct link *next = link->next;

        __builtin_prefetch(next);
        insert(wheel, links_timer_of(link));
        link = next;
        moved++;
    }
    wheel->touched += moved;
}

static size_t
mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire, void *arg)
{
    struct wheel *wheel = (struct wheel *)self;
    size_t fired = 0;

    wheel->now = now;
    if (now < wheel->bound.time) {
        return 0;
    }
    wheel->bound.exact = false;
    struct wheel_place place;
    for (;;) {
        if (!find_place(wheel, &place)) {
            wheel->base = now;
            bound_set(&wheel->bound, LINKS_NEVER, true);
            return fired;
        }
        if (place.time > now) {
            /* All slots up to `now` are empty, so the other slots are correct
             * for this base, too. */
            wheel->base = now;
            bound_set(&wheel->bound, place.time, false);
            return fired;
        }
        if (place.time > wheel->base) {
            wheel->base = place.time;
        }
        struct link *slot = &wheel->slots[place.level][place.digit];
        if (place.level > 0) {
            clear_place(wheel, &place);
            cascade(wheel, slot);
            continue;
        }
        size_t more = links_fire(slot, budget - fired, fire, arg);
        fired += more;
        wheel->touched += more;
        if (fired == budget) {
            return fired;
        }
        clear_place(wheel, &place);
    }
}

static uint64_t
next_deadline(void *self)
{
    struct wheel *wheel = (struct wheel *)self;

    if (wheel->bound.exact) {
        return wheel->bound.time;
    }
    struct wheel_place place;
    while (find_place(wheel, &place)) {
        struct link *slot = &wheel->slots[place.level][place.digit];

        if (!links_empty(slot)) {
            bound_set(&wheel->bound,
                      place.level == 0 ? place.time : links_earliest(slot),
                      true);
            return wheel->bound.time;
        }
        clear_place(wheel, &place);
    }
    bound_set(&wheel->bound, LINKS_NEVER, true);
    return LINKS_NEVER;
}

static uint64_t
count_touched(void *self)
{
    return ((const struct wheel *)self)->touched;
}

const struct contender wheel_contender = {
    .abi = CONTENDER_ABI,
    .name = "wheel",
    .title = "hierarchical wheel",
    .about = "Eight wheels of 256 slots with bitmaps. Start and stop O(1); "
             "idle ticks are free; a timer moves down once per level.",
    .kind = CONTENDER_PAPER,
    .flags =
        CONTENDER_EXACT | CONTENDER_ORDERED | CONTENDER_FIFO | CONTENDER_BUDGET,
    .node = sizeof(struct timer),
    .make = make,
    .free = free,
    .start = start,
    .stop = stop,
    .mow = mow,
    .next = next_deadline,
    .touched = count_touched,
};
