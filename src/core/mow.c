/* mow.c - firing what is due.
 *
 * The base of the index is the mowing position: every timer due before it has
 * fired. It lags behind lawn->now while budgets are too small. What is started
 * counts from lawn->now, never from the base, or it would fire early [P1].
 *
 * A callback may do anything to any timer, so between two callbacks nothing is
 * remembered but numbers of blades and slots, and every link is read anew.
 */
#include "internal.h"
#include "probes.h"

/* Blades drained in turn: enough to keep the memory system busy. */
#define LAWN_MOW_TURN 16u
/* A slot with up to this many unqueued timers is looked through before it is
 * moved. */
#define LAWN_MOW_FEW 4u
/* Queues fetched from at a time, and timers fetched ahead at most: as much as a
 * cache keeps until they are needed. */
#define LAWN_MOW_CHAINS LAWN_BLADES_STRIPES
#define LAWN_MOW_AHEAD 4096u

/* Unlinks the timer before calling back, never after: the callback may free
 * it, restart it on the same blade, or stop its neighbours [P6]. */
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

/* Walks several queues as far as their timers are due by the given time, one
 * timer of each in turn, so that the processor fetches them all at once rather
 * than one after the other. Reads only, so many timers at most, and tells how
 * many: whoever walks them again soon finds them in the cache. */
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

/* Fetches what the stripes of a TTL have due in this tick and the next ones. */
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

/* Fetches the unqueued timers that are due in this tick and the next ones, and
 * those of the striped TTLs whose entries are here: once per tick, however many
 * mows it takes, and about as many as this one may fire. */
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

/* Fires what is due at this tick on one blade. False: the budget is used up. */
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
    /* Unless a callback's lawn_next() has settled it already. */
    if (blade->indexed_at == tick) {
        lawn__index_update(&lawn->index, lawn->blades.all, number, slot);
    }
    return true;
}

/* Fires what is due at this tick on several blades, in turn, one timer of each,
 * so that the processor fetches the next timers of the others meanwhile. P4
 * allows it: the deadlines are the same, the TTLs are not. False: the budget is
 * used up. */
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

/* Fires what is due at this tick on the blades that were closed by a change of
 * the resolution. False: the budget is used up. Passes over each other entry of the
 * slot once, not once for each closed blade, nor for each mow: it goes on behind
 * the entry that it passed over last, if that is still there [I11]. */
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

/* Fires what is due at the tick of a slot of level 0. False: the budget is
 * used up. If timers of one TTL and deadline stand in several places, the unqueued
 * ones were started before there was a blade, and those on a closed blade
 * before there was another: so they go first [P4]. Not always after a change of
 * the resolution that closed blades: if there was none to spare, unqueued ones may
 * be younger than those on a closed blade. This is the exception told at
 * lawn_set_resolution(). */
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

/* The earliest of the unqueued timers of a slot, if they are few; LAWN_NEVER if
 * there are none, 0 if they are many. */
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

/* How far the base may move when a slot of a higher level comes up: to the
 * earliest time in the slot, but not past the slot, nor past now. Then what
 * stands in the slot goes straight to where this mow needs it; from the slot's
 * first tick on it might move again, once per level. Only of many unqueued timers
 * that is accepted: to look through them costs as much. */
LAWN_NOINLINE static uint64_t
choose_base(const struct lawn *lawn, uint32_t slot)
{
    const struct lawn_index *index = &lawn->index;
    uint64_t begin = lawn__index_slot_start(index, slot);
    uint64_t base = lawn__index_slot_end(index, slot);

    if (lawn->now < base) {
        base = lawn->now;
    }
    /* No slot between here and now could come up in this mow. */
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

/* Moves down the unqueued timers of a slot, one of each list in turn: each list is
 * a chain of its own for the processor to follow. The base is set already. */
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

/* Moves down what stands in a slot of a higher level that has come up. */
LAWN_NOINLINE static void
open_slot(struct lawn *lawn, uint32_t slot)
{
    struct lawn_index *index = &lawn->index;
    struct lawn_blade *all = lawn->blades.all;
    uint32_t number = index->first[slot];

    /* From here on the slot's entries are in no slot at all; the new base
     * gives each its place. */
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

/* Fires what is due by the given time, and sets the bound for the next mow. */
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

/* The last tick has come: its timers go into the index, to be fired by this
 * mow; those that its callbacks start come too late for it [P6]. */
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

/* A mow that cannot tell by lawn->wake alone that nothing is to be done. */
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
        return 0; /* only the tuning were to be looked at */
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
