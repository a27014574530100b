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
/* A slot with up to this many lone timers is looked through before it is
 * moved. */
#define LAWN_MOW_FEW 4u
/* Queues fetched from at a time, and timers fetched ahead at most: as much as a
 * cache keeps until they are needed. */
#define LAWN_MOW_CHAINS LAWN_BLADES_STRIPES
#define LAWN_MOW_AHEAD 4096u

/* Unlinks the timer before calling back, never after: the callback may free
 * it, restart it on the same blade, or stop its neighbours [P6]. */
static inline void
lawn_mow_cut(struct lawn_mowing *mowing, struct lawn_link *link)
{
    struct lawn *lawn = mowing->lawn;
    struct lawn_timer *timer = lawn_timer_of(link);

    lawn_list_remove(lawn_key(lawn), link);
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
lawn_mow_fetch(const struct lawn_link **queues, uint32_t many, uint64_t until,
               size_t most)
{
    const struct lawn_link *next[LAWN_MOW_CHAINS];
    size_t ahead = 0;
    uint32_t i;

    for (i = 0; i < many; i++) {
        next[i] = queues[i]->next;
        LAWN_PREFETCH(next[i]);
    }
    while (many > 0 && ahead < most) {
        for (i = 0; i < many;) {
            const struct lawn_link *link = next[i];

            if (link == queues[i] || lawn_link_deadline(link) > until) {
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
lawn_mow_fetch_stripes(const struct lawn *lawn, uint64_t ttl, uint64_t tick,
                       size_t most)
{
    const struct lawn_link *queues[LAWN_MOW_CHAINS];
    uint32_t many = 0;
    uint32_t i;

    for (i = 0; i < LAWN_BLADES_STRIPES; i++) {
        const struct lawn_blade *blade =
            lawn_blades_at(&lawn->blades, lawn_blades_hash(ttl), i);

        if (blade->ttl == ttl) {
            queues[many++] = &blade->queue;
        }
    }
    return lawn_mow_fetch(queues, many, tick + LAWN_BLADES_STRIPES - 1, most);
}

/* Fetches the lone timers that are due in this tick and the next ones, and
 * those of the striped TTLs whose tips are here: once per tick, however many
 * mows it takes, and about as many as this one may fire. */
LAWN_NOINLINE static void
lawn_mow_fetch_ahead(struct lawn *lawn, uint32_t slot, uint64_t tick,
                     size_t budget)
{
    const struct lawn_tips *tips = &lawn->tips;
    const struct lawn_link *queues[LAWN_MOW_CHAINS];
    size_t most = budget < LAWN_MOW_AHEAD ? budget : LAWN_MOW_AHEAD;
    uint32_t number = tips->first[slot];
    size_t ahead;
    uint32_t i;

    lawn->fetched = tick;
    for (i = 0; i < LAWN_MOW_CHAINS; i++) {
        queues[i] = lawn_tips_list(tips, slot + i, tick + i);
    }
    ahead = lawn_mow_fetch(queues, LAWN_MOW_CHAINS, tick + LAWN_MOW_CHAINS - 1,
                           most);
    while (lawn->blades.stripe != 0 && number != LAWN_TIPS_NONE &&
           ahead < most) {
        ahead += lawn_mow_fetch_stripes(lawn, lawn->blades.all[number].ttl,
                                        tick, most - ahead);
        number = tips->tip[number].next;
    }
    lawn->ahead += ahead;
}

/* Fires what is due at this tick on one blade. False: the budget is used up. */
static inline bool
lawn_mow_blade(struct lawn_mowing *mowing, uint32_t number, uint32_t slot,
               uint64_t tick)
{
    struct lawn *lawn = mowing->lawn;
    struct lawn_blade *blade = &lawn->blades.all[number];

    while (!lawn_list_empty(&blade->queue)) {
        struct lawn_link *head = lawn_list_first(lawn_key(lawn), &blade->queue);

        if (lawn_link_deadline(head) > tick) {
            break;
        }
        if (mowing->left == 0) {
            return false;
        }
        LAWN_PREFETCH(head->next);
        lawn_mow_cut(mowing, head);
    }
    /* Unless a callback's lawn_next() has settled it already. */
    if (blade->tip == tick) {
        lawn_tips_settle(&lawn->tips, lawn->blades.all, number, slot);
    }
    return true;
}

/* Fires what is due at this tick on several blades, in turn, one timer of each,
 * so that the processor fetches the next timers of the others meanwhile. P4
 * allows it: the deadlines are the same, the TTLs are not. False: the budget is
 * used up. */
LAWN_NOINLINE static bool
lawn_mow_in_turn(struct lawn_mowing *mowing, uint32_t slot, uint64_t tick)
{
    struct lawn_tips *tips = &mowing->lawn->tips;
    struct lawn_blade *all = mowing->lawn->blades.all;
    uint32_t turn[LAWN_MOW_TURN];
    uint32_t number = tips->first[slot];
    uint32_t many = 0;
    uint32_t i = 0;

    do {
        turn[many++] = number;
        LAWN_PREFETCH(all[number].queue.next);
        number = tips->tip[number].next;
    } while (number != LAWN_TIPS_NONE && many < LAWN_MOW_TURN);
    while (many > 0) {
        struct lawn_blade *blade;
        struct lawn_link *head;

        i = i < many ? i : 0;
        blade = &all[turn[i]];
        head = lawn_list_first(lawn_key(mowing->lawn), &blade->queue);
        if (head == &blade->queue || lawn_link_deadline(head) > tick) {
            if (blade->tip == tick) {
                lawn_tips_settle(tips, all, turn[i], slot);
            }
            turn[i] = turn[--many];
        } else {
            if (mowing->left == 0) {
                return false;
            }
            LAWN_PREFETCH(head->next);
            lawn_mow_cut(mowing, head);
            i++;
        }
    }
    return true;
}

/* Fires what is due at this tick on the blades that were closed by a change of
 * the resolution. False: the budget is used up. */
LAWN_NOINLINE static bool
lawn_mow_closed(struct lawn_mowing *mowing, uint32_t slot, uint64_t tick)
{
    const struct lawn *lawn = mowing->lawn;
    uint32_t number = lawn->tips.first[slot];

    while (number != LAWN_TIPS_NONE) {
        if (lawn->blades.all[number].ttl != LAWN_NEVER) {
            number = lawn->tips.tip[number].next;
        } else if (lawn_mow_blade(mowing, number, slot, tick)) {
            number = lawn->tips.first[slot];
        } else {
            return false;
        }
    }
    return true;
}

/* Fires what is due at the tick of a slot of level 0. False: the budget is
 * used up. If timers of one TTL and deadline stand in several places, the lone
 * ones were started before there was a blade, and those on a closed blade
 * before there was another: so they go first [P4]. Not always after a change of
 * the resolution that closed blades: if there was none to spare, lone ones may
 * be younger than those on a closed blade. This is the exception told at
 * lawn_set_resolution(). */
static bool
lawn_mow_tick(struct lawn_mowing *mowing, uint32_t slot, uint64_t tick)
{
    struct lawn *lawn = mowing->lawn;
    const struct lawn_tips *tips = &lawn->tips;
    struct lawn_link *lone = lawn_tips_list(tips, slot, tick);
    uint32_t number;

    if (lawn->habits.many && tick % LAWN_MOW_CHAINS == 0 &&
        tick != lawn->fetched) {
        lawn_mow_fetch_ahead(lawn, slot, tick, mowing->left);
    }
    while (!lawn_list_empty(lone)) {
        if (mowing->left == 0) {
            return false;
        }
        lawn_mow_cut(mowing, lawn_list_first(lawn_key(lawn), lone));
    }
    if (LAWN_UNLIKELY(tick <= lawn->closed) &&
        !lawn_mow_closed(mowing, slot, tick)) {
        return false;
    }
    while ((number = tips->first[slot]) != LAWN_TIPS_NONE) {
        if (lawn->habits.many && tips->tip[number].next != LAWN_TIPS_NONE) {
            if (!lawn_mow_in_turn(mowing, slot, tick)) {
                return false;
            }
        } else if (!lawn_mow_blade(mowing, number, slot, tick)) {
            return false;
        }
    }
    return true;
}

/* The earliest of the lone timers of a slot, if they are few; LAWN_NEVER if
 * there are none, 0 if they are many. */
static uint64_t
lawn_mow_earliest_lone(const struct lawn_tips *tips, uint32_t slot)
{
    uint64_t earliest = LAWN_NEVER;
    unsigned few = LAWN_MOW_FEW;
    uint32_t i;

    for (i = 0; i < tips->lists; i++) {
        const struct lawn_link *lone = &tips->lone[slot * tips->lists + i];
        const struct lawn_link *link;

        for (link = lone->next; link != lone; link = link->next) {
            if (few-- == 0) {
                return 0;
            }
            if (lawn_link_deadline(link) < earliest) {
                earliest = lawn_link_deadline(link);
            }
        }
    }
    return earliest;
}

/* How far the base may move when a slot of a higher level comes up: to the
 * earliest time in the slot, but not past the slot, nor past now. Then what
 * stands in the slot goes straight to where this mow needs it; from the slot's
 * first tick on it might move again, once per level. Only of many lone timers
 * that is accepted: to look through them costs as much. */
LAWN_NOINLINE static uint64_t
lawn_mow_base(const struct lawn *lawn, uint32_t slot)
{
    const struct lawn_tips *tips = &lawn->tips;
    uint64_t begin = lawn_tips_slot_time(tips, slot);
    uint64_t base = lawn_tips_slot_end(tips, slot);
    uint64_t earliest;
    uint32_t number;

    if (lawn->now < base) {
        base = lawn->now;
    }
    /* No slot between here and now could come up in this mow. */
    if (base - begin <= tips->mask) {
        return begin;
    }
    earliest = lawn_mow_earliest_lone(tips, slot);
    if (earliest == 0) {
        return begin;
    }
    if (earliest < base) {
        base = earliest;
    }
    for (number = tips->first[slot]; number != LAWN_TIPS_NONE;
         number = tips->tip[number].next) {
        const struct lawn_link *queue = &lawn->blades.all[number].queue;

        if (!lawn_list_empty(queue) && lawn_link_deadline(queue->next) < base) {
            base = lawn_link_deadline(queue->next);
        }
    }
    return base;
}

/* Moves down the lone timers of a slot, one of each list in turn: each list is
 * a chain of its own for the processor to follow. The base is set already. */
LAWN_NOINLINE static void
lawn_mow_move_lone(struct lawn *lawn, uint32_t slot)
{
    struct lawn_tips *tips = &lawn->tips;
    uintptr_t key = lawn_key(lawn);
    struct lawn_link *next[LAWN_TIPS_LISTS_MAX];
    struct lawn_link *end[LAWN_TIPS_LISTS_MAX];
    uint32_t many = 0;
    uint32_t i;

    for (i = 0; i < tips->lists; i++) {
        struct lawn_link *lone = &tips->lone[slot * tips->lists + i];

        if (!lawn_list_empty(lone)) {
            next[many] = lone->next;
            end[many++] = lone;
        }
    }
    while (many > 0) {
        for (i = 0; i < many;) {
            struct lawn_link *link = next[i];

            if (link == end[i]) {
                lawn_list_init(key, end[i]);
                next[i] = next[--many];
                end[i] = end[many];
            } else {
                next[i++] = link->next;
                LAWN_PREFETCH(link->next);
                (void)lawn_tips_add(tips, key, lawn_timer_of(link));
                tips->moved++;
            }
        }
    }
}

/* Moves down what stands in a slot of a higher level that has come up. */
LAWN_NOINLINE static void
lawn_mow_open(struct lawn *lawn, uint32_t slot)
{
    struct lawn_tips *tips = &lawn->tips;
    struct lawn_blade *all = lawn->blades.all;
    uint32_t number = tips->first[slot];

    /* From here on the slot's entries are in no slot at all; the new base
     * gives each its place. */
    tips->base = lawn_mow_base(lawn, slot);
    tips->first[slot] = LAWN_TIPS_NONE;
    lawn_tips_clear(tips, slot);
    lawn_mow_move_lone(lawn, slot);
    while (number != LAWN_TIPS_NONE) {
        uint32_t next = tips->tip[number].next;
        const struct lawn_link *queue = &all[number].queue;

        all[number].tip = LAWN_NEVER;
        tips->count--;
        tips->moved++;
        if (!lawn_list_empty(queue)) {
            lawn_tips_enter(tips, all, number, lawn_link_deadline(queue->next));
        }
        number = next;
    }
}

/* Fires what is due by the given time, and sets the bound for the next mow. */
static void
lawn_mow_until(struct lawn_mowing *mowing, uint64_t until)
{
    struct lawn *lawn = mowing->lawn;
    struct lawn_tips *tips = &lawn->tips;
    uint64_t time = tips->base;

    LAWN_NAIVELY(lawn_naive_mow(mowing, until));
    while (mowing->left > 0) {
        uint32_t slot = lawn_tips_first(tips);

        if (slot <= tips->mask) {
            time = (tips->base & ~(uint64_t)tips->mask) | slot;
            if (time > until) {
                break;
            }
            tips->base = time;
            if (lawn_mow_tick(mowing, slot, time)) {
                lawn_tips_clear(tips, slot);
            }
        } else if (slot == LAWN_TIPS_NONE) {
            time = lawn_list_empty(&lawn->last) ? LAWN_NEVER : LAWN_LAST;
            break;
        } else {
            time = lawn_tips_slot_time(tips, slot);
            if (time > until) {
                break;
            }
            lawn_mow_open(lawn, slot);
        }
    }
    lawn_set_bound(lawn, time);
}

/* The last tick has come: its timers go into the index, to be fired by this
 * mow; those that its callbacks start come too late for it [P6]. */
LAWN_NOINLINE static void
lawn_mow_last(struct lawn *lawn)
{
    uintptr_t key = lawn_key(lawn);

    while (!lawn_list_empty(&lawn->last)) {
        struct lawn_link *link = lawn->last.next;

        lawn_list_remove(key, link);
        (void)lawn_tips_add(&lawn->tips, key, lawn_timer_of(link));
    }
}

/* A mow that cannot tell by lawn->wake alone that nothing is to be done. */
LAWN_NOINLINE static size_t
lawn_mow_slowly(struct lawn *lawn, uint64_t now, size_t budget,
                lawn_fire_fn *fire, void *arg)
{
    struct lawn_mowing mowing = {lawn, budget, budget, fire, arg};
    uint64_t moved = lawn->tips.moved;
    size_t fired;

    LAWN_ASSERT(lawn->mowing == NULL, "[P10] lawn_mow inside a callback");
    if (lawn->mowing != NULL) {
        return 0;
    }
    lawn_tell_time(lawn, now);
    if (now < lawn->bound) {
        return 0; /* only the habits were to be looked at */
    }
    if (LAWN_UNLIKELY(now >= LAWN_LAST)) {
        lawn_mow_last(lawn);
    }
    LAWN_PROBES_MOW(lawn, now, budget);
    lawn->mowing = &mowing;
    lawn->bound = 0;
    lawn->wake = 0;
    lawn_mow_until(&mowing, now);
    lawn->mowing = NULL;
    moved = lawn->tips.moved - moved;
    fired = mowing.budget - mowing.left;
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
        return lawn_mow_slowly(lawn, now, budget, fire, arg);
    }
    /* now < wake <= LAWN_NEVER, so now <= LAWN_LAST. */
    if (now > lawn->now) {
        lawn_move_clock(lawn, now);
    }
    return 0;
}
