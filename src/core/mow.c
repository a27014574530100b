/* mow.c - fires due timers.
 *
 * The base of the index is the mowing position: all timers due before it have
 * fired. It is at most lawn->now; due timers remain after it only if budgets
 * are too small. Deadlines of new timers are computed from lawn->now, not from
 * the base; otherwise they would fire early [P1].
 *
 * A callback may start, stop or free any timer. So between two callbacks, the
 * code keeps only the numbers of blades and slots, and reads every link again.
 */
#include "internal.h"
#include "probes.h"

/* Number of blades drained in turn: enough to keep the memory system busy. */
#define LAWN_MOW_TURN 16u
/* A slot with at most this many unqueued timers is scanned before it is
 * opened. */
#define LAWN_MOW_FEW 4u
/* Number of queues to prefetch from, and maximum number of timers to prefetch:
 * as many as remain in the cache until they are needed. */
#define LAWN_MOW_CHAINS LAWN_BLADES_STRIPES
#define LAWN_MOW_AHEAD 4096u

/* Unlinks the timer before the callback, not after it: the callback may free
 * the timer, restart it on the same blade, or stop adjacent timers [P6]. */
static inline void
fire_timer(struct lawn_mowing *mowing, struct lawn_link *link)
{
    struct lawn *lawn = mowing->lawn;
    struct lawn_timer *timer = lawn__timer_of(link);

    lawn__list_remove(lawn__key(lawn), link);
    link->next = NULL;
    lawn->fires++;
    mowing->left--;
    LAWN_PROBES_FIRE(lawn, timer);
    mowing->fire(timer, mowing->arg);
}

/* Brings the timers of several queues that are due by `until` into the cache,
 * at most `most` of them. Takes one timer of each queue in turn, so that the
 * processor loads several at once. Returns the number of timers. */
static size_t
prefetch_queues(const struct lawn_link **queues, uint32_t many, uint64_t until,
                size_t most)
{
    const struct lawn_link *next[LAWN_MOW_CHAINS];
    size_t ahead = 0;

    for (uint32_t i = 0; i < many; i++) {
        next[i] = queues[i]->next;
        LAWN_PREFETCH(next[i]);
    }
    while (many > 0 && ahead < most) {
        for (uint32_t i = 0; i < many;) {
            const struct lawn_link *link = next[i];

            if (link == queues[i] || lawn__link_deadline(link) > until) {
                next[i] = next[--many];
                queues[i] = queues[many];
            } else {
                next[i++] = link->next;
                LAWN_PREFETCH(link->next);
                ahead++;
            }
        }
    }
    return ahead;
}

/* Prefetches the timers of a TTL's stripes that are due at this tick or the
 * next few. */
static size_t
prefetch_stripes(const struct lawn *lawn, uint64_t ttl, uint64_t tick,
                 size_t most)
{
    const struct lawn_link *queues[LAWN_MOW_CHAINS];
    uint32_t many = 0;

    for (uint32_t i = 0; i < LAWN_BLADES_STRIPES; i++) {
        const struct lawn_blade *blade =
            lawn__blades_at(&lawn->blades, lawn__blades_hash(ttl), i);

        if (blade->ttl == ttl) {
            queues[many++] = &blade->queue;
        }
    }
    return prefetch_queues(queues, many, tick + LAWN_BLADES_STRIPES - 1, most);
}

/* Prefetches unqueued timers that are due at this tick or the next few, and
 * those of the striped TTLs with an entry in this slot. Does so once per tick,
 * however many mows the tick takes, and for about as many timers as this mow
 * may fire. */
LAWN_NOINLINE static void
prefetch_ahead(struct lawn *lawn, uint32_t slot, uint64_t tick, size_t budget)
{
    const struct lawn_index *index = &lawn->index;
    size_t most = budget < LAWN_MOW_AHEAD ? budget : LAWN_MOW_AHEAD;
    uint32_t number = index->first[slot];

    lawn->fetched = tick;
    const struct lawn_link *queues[LAWN_MOW_CHAINS];
    for (uint32_t i = 0; i < LAWN_MOW_CHAINS; i++) {
        queues[i] = lawn__index_list_of(index, slot + i, tick + i);
    }
    size_t ahead = prefetch_queues(queues, LAWN_MOW_CHAINS,
                                   tick + LAWN_MOW_CHAINS - 1, most);
    while (lawn->blades.stripe != 0 && number != LAWN_INDEX_NONE &&
           ahead < most) {
        ahead += prefetch_stripes(lawn, lawn->blades.all[number].ttl, tick,
                                  most - ahead);
        number = index->entry[number].next;
    }
    lawn->ahead += ahead;
}

/* Fires the timers of one blade that are due at this tick. Returns false if the
 * budget is exhausted. */
static inline bool
fire_blade(struct lawn_mowing *mowing, uint32_t number, uint32_t slot,
           uint64_t tick)
{
    struct lawn *lawn = mowing->lawn;
    struct lawn_blade *blade = &lawn->blades.all[number];

    while (!lawn__list_empty(&blade->queue)) {
        struct lawn_link *head =
            lawn__list_first(lawn__key(lawn), &blade->queue);

        if (lawn__link_deadline(head) > tick) {
            break;
        }
        if (mowing->left == 0) {
            return false;
        }
        LAWN_PREFETCH(head->next);
        fire_timer(mowing, head);
    }
    /* False if lawn_next(), called by a callback, has updated the entry. */
    if (blade->indexed_at == tick) {
        lawn__index_update(&lawn->index, lawn->blades.all, number, slot);
    }
    return true;
}

/* Fires the timers of several blades that are due at this tick, one of each in
 * turn, so that the processor loads the next timers of the other blades
 * meanwhile. P4 allows this order, because the TTLs differ. Returns false if
 * the budget is exhausted. */
LAWN_NOINLINE static bool
fire_in_turn(struct lawn_mowing *mowing, uint32_t slot, uint64_t tick)
{
    struct lawn_index *index = &mowing->lawn->index;
    struct lawn_blade *all = mowing->lawn->blades.all;
    uint32_t turn[LAWN_MOW_TURN];
    uint32_t number = index->first[slot];
    uint32_t many = 0;
    uint32_t i = 0;

    do {
        turn[many++] = number;
        LAWN_PREFETCH(all[number].queue.next);
        number = index->entry[number].next;
    } while (number != LAWN_INDEX_NONE && many < LAWN_MOW_TURN);
    while (many > 0) {

        i = i < many ? i : 0;
        struct lawn_blade *blade = &all[turn[i]];
        struct lawn_link *head =
            lawn__list_first(lawn__key(mowing->lawn), &blade->queue);
        if (head == &blade->queue || lawn__link_deadline(head) > tick) {
            if (blade->indexed_at == tick) {
                lawn__index_update(index, all, turn[i], slot);
            }
            turn[i] = turn[--many];
        } else {
            if (mowing->left == 0) {
                return false;
            }
            LAWN_PREFETCH(head->next);
            fire_timer(mowing, head);
            i++;
        }
    }
    return true;
}

/* Fires the timers due at this tick that are on closed blades. Returns false if
 * the budget is exhausted. Each other entry of the slot is passed over once,
 * not once per closed blade or per mow: the search continues after the entry
 * that was passed over last, if it is still there [I11]. */
LAWN_NOINLINE static bool
fire_closed(struct lawn_mowing *mowing, uint32_t slot, uint64_t tick)
{
    struct lawn *lawn = mowing->lawn;
    const struct lawn_blade *all = lawn->blades.all;

    for (;;) {
        uint32_t passed = lawn__passed(lawn, tick);
        uint32_t number = passed != LAWN_INDEX_NONE
                              ? lawn->index.entry[passed].next
                              : lawn->index.first[slot];

        if (number == LAWN_INDEX_NONE) {
            return true;
        }
        if (all[number].ttl != LAWN_NEVER) {
            lawn->looked++;
            lawn->index.passed = number;
            lawn->index.passed_at = tick;
        } else if (!fire_blade(mowing, number, slot, tick)) {
            return false;
        }
    }
}

/* Fires all timers due at the tick of a slot of level 0. Returns false if the
 * budget is exhausted. If timers with the same TTL and deadline are in several
 * places, the unqueued ones were started before the TTL had a blade, and those
 * on a closed blade before it had another one. So unqueued timers fire first,
 * then closed blades, then other blades [P4]. There is one exception,
 * documented at lawn_set_resolution(): if no blade was free after the
 * resolution changed, unqueued timers may have been started after those on a
 * closed blade. */
static bool
fire_tick(struct lawn_mowing *mowing, uint32_t slot, uint64_t tick)
{
    struct lawn *lawn = mowing->lawn;
    const struct lawn_index *index = &lawn->index;
    struct lawn_link *unqueued = lawn__index_list_of(index, slot, tick);

    if (lawn->tuning.many && tick % LAWN_MOW_CHAINS == 0 &&
        tick != lawn->fetched) {
        prefetch_ahead(lawn, slot, tick, mowing->left);
    }
    while (!lawn__list_empty(unqueued)) {
        if (mowing->left == 0) {
            return false;
        }
        fire_timer(mowing, lawn__list_first(lawn__key(lawn), unqueued));
    }
    if (LAWN_UNLIKELY(tick <= lawn->closed) &&
        !fire_closed(mowing, slot, tick)) {
        return false;
    }
    uint32_t number = 0;
    while ((number = index->first[slot]) != LAWN_INDEX_NONE) {
        if (lawn->tuning.many && index->entry[number].next != LAWN_INDEX_NONE) {
            if (!fire_in_turn(mowing, slot, tick)) {
                return false;
            }
        } else if (!fire_blade(mowing, number, slot, tick)) {
            return false;
        }
    }
    return true;
}

/* Returns the earliest deadline of the unqueued timers of a slot; LAWN_NEVER if
 * there are none, 0 if there are more than LAWN_MOW_FEW. */
static uint64_t
find_earliest_unqueued(const struct lawn_index *index, uint32_t slot)
{
    uint64_t earliest = LAWN_NEVER;
    unsigned few = LAWN_MOW_FEW;

    for (uint32_t i = 0; i < index->lists; i++) {
        const struct lawn_link *unqueued =
            &index->unqueued[slot * index->lists + i];

        for (const struct lawn_link *link = unqueued->next; link != unqueued;
             link = link->next) {
            if (few-- == 0) {
                return 0;
            }
            if (lawn__link_deadline(link) < earliest) {
                earliest = lawn__link_deadline(link);
            }
        }
    }
    return earliest;
}

/* Returns the new base for opening a slot of a higher level: the earliest time
 * in the slot, but not after the end of the slot, nor after now. With that
 * base, the entries move directly to where this mow needs them; with the first
 * tick of the slot as base, they might move again, once per level. If the slot
 * contains many unqueued timers, this returns the first tick: scanning them
 * would cost as much. */
LAWN_NOINLINE static uint64_t
choose_base(const struct lawn *lawn, uint32_t slot)
{
    const struct lawn_index *index = &lawn->index;
    uint64_t begin = lawn__index_slot_start(index, slot);
    uint64_t base = lawn__index_slot_end(index, slot);

    if (lawn->now < base) {
        base = lawn->now;
    }
    /* All times from begin to base would be on level 0, so no entry would have
     * to move again in this mow. */
    if (base - begin <= index->mask) {
        return begin;
    }
    uint64_t earliest = find_earliest_unqueued(index, slot);
    if (earliest == 0) {
        return begin;
    }
    if (earliest < base) {
        base = earliest;
    }
    for (uint32_t number = index->first[slot]; number != LAWN_INDEX_NONE;
         number = index->entry[number].next) {
        const struct lawn_link *queue = &lawn->blades.all[number].queue;

        if (!lawn__list_empty(queue) &&
            lawn__link_deadline(queue->next) < base) {
            base = lawn__link_deadline(queue->next);
        }
    }
    return base;
}

/* Moves the unqueued timers of a slot to lower levels, one of each list in
 * turn, so that the processor follows several chains at once. The base is
 * already set. */
LAWN_NOINLINE static void
move_unqueued_down(struct lawn *lawn, uint32_t slot)
{
    struct lawn_index *index = &lawn->index;
    uintptr_t key = lawn__key(lawn);
    struct lawn_link *next[LAWN_INDEX_LISTS_MAX];
    struct lawn_link *end[LAWN_INDEX_LISTS_MAX];
    uint32_t many = 0;

    for (uint32_t i = 0; i < index->lists; i++) {
        struct lawn_link *unqueued = &index->unqueued[slot * index->lists + i];

        if (!lawn__list_empty(unqueued)) {
            next[many] = unqueued->next;
            end[many++] = unqueued;
        }
    }
    while (many > 0) {
        for (uint32_t i = 0; i < many;) {
            struct lawn_link *link = next[i];

            if (link == end[i]) {
                lawn__list_init(key, end[i]);
                next[i] = next[--many];
                end[i] = end[many];
            } else {
                next[i++] = link->next;
                LAWN_PREFETCH(link->next);
                (void)lawn__index_add_timer(index, key, lawn__timer_of(link));
                index->moved++;
            }
        }
    }
}

/* Moves the entries of a slot of a higher level to lower levels. */
LAWN_NOINLINE static void
open_slot(struct lawn *lawn, uint32_t slot)
{
    struct lawn_index *index = &lawn->index;
    struct lawn_blade *all = lawn->blades.all;
    uint32_t number = index->first[slot];

    /* From here on, the slot's entries are in no slot; the new base determines
     * their slots. */
    index->base = choose_base(lawn, slot);
    index->first[slot] = LAWN_INDEX_NONE;
    lawn__index_clear_slot(index, slot);
    move_unqueued_down(lawn, slot);
    while (number != LAWN_INDEX_NONE) {
        uint32_t next = index->entry[number].next;
        const struct lawn_link *queue = &all[number].queue;

        all[number].indexed_at = LAWN_NEVER;
        index->count--;
        index->moved++;
        if (!lawn__list_empty(queue)) {
            lawn__index_insert(index, all, number,
                               lawn__link_deadline(queue->next));
        }
        number = next;
    }
}

/* Fires the timers due by `until`, and sets the bound for the next mow. */
static void
mow_until(struct lawn_mowing *mowing, uint64_t until)
{
    struct lawn *lawn = mowing->lawn;
    struct lawn_index *index = &lawn->index;
    uint64_t time = index->base;

    LAWN_NAIVELY(lawn__naive_mow(mowing, until));
    while (mowing->left > 0) {
        uint32_t slot = lawn__index_first_slot(index);

        if (slot <= index->mask) {
            time = (index->base & ~(uint64_t)index->mask) | slot;
            if (time > until) {
                break;
            }
            index->base = time;
            if (fire_tick(mowing, slot, time)) {
                lawn__index_clear_slot(index, slot);
            }
        } else if (slot == LAWN_INDEX_NONE) {
            time = lawn__list_empty(&lawn->last) ? LAWN_NEVER : LAWN_LAST;
            break;
        } else {
            time = lawn__index_slot_start(index, slot);
            if (time > until) {
                break;
            }
            open_slot(lawn, slot);
        }
    }
    lawn__set_bound(lawn, time);
}

/* Moves the timers due at LAWN_LAST into the index, for this mow to fire.
 * Timers that its callbacks start are not included [P6]. */
LAWN_NOINLINE static void
index_last_tick(struct lawn *lawn)
{
    uintptr_t key = lawn__key(lawn);

    while (!lawn__list_empty(&lawn->last)) {
        struct lawn_link *link = lawn->last.next;

        lawn__list_remove(key, link);
        (void)lawn__index_add_timer(&lawn->index, key, lawn__timer_of(link));
    }
}

/* Handles a mow with now >= lawn->wake, which may have work to do. */
LAWN_NOINLINE static size_t
mow_slow(struct lawn *lawn, uint64_t now, size_t budget, lawn_fire_fn *fire,
         void *arg)
{
    struct lawn_mowing mowing = {lawn, budget, budget, fire, arg};
    uint64_t moved = lawn->index.moved;

    LAWN_ASSERT(lawn->mowing == NULL, "[P10] lawn_mow inside a callback");
    if (lawn->mowing != NULL) {
        return 0;
    }
    lawn__advance_clock(lawn, now);
    if (now < lawn->bound) {
        return 0; /* only the tuning had to be reviewed */
    }
    if (LAWN_UNLIKELY(now >= LAWN_LAST)) {
        index_last_tick(lawn);
    }
    LAWN_PROBES_MOW(lawn, now, budget);
    lawn->mowing = &mowing;
    lawn->bound = 0;
    lawn->wake = 0;
    mow_until(&mowing, now);
    lawn->mowing = NULL;
    moved = lawn->index.moved - moved;
    size_t fired = mowing.budget - mowing.left;
    if (fired == 0 && moved > lawn->moved_idle) {
        lawn->moved_idle = moved;
    }
    LAWN_PROBES_MOWN(lawn, now, fired);
    return fired;
}

void
lawn_halt(struct lawn *lawn)
{
    struct lawn_mowing *mowing = lawn->mowing;

    if (mowing != NULL) {
        mowing->budget -= mowing->left;
        mowing->left = 0;
    }
}

size_t
lawn_mow(struct lawn *lawn, uint64_t now, size_t budget, lawn_fire_fn *fire,
         void *arg)
{
    if (LAWN_UNLIKELY(now >= lawn->wake)) {
        return mow_slow(lawn, now, budget, fire, arg);
    }
    /* now < wake <= LAWN_NEVER, so now <= LAWN_LAST. */
    if (now > lawn->now) {
        lawn__move_clock(lawn, now);
    }
    return 0;
}
