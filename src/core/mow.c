/* mow.c - firing what is due, and telling what is due next.
 *
 * The base of the index is the mowing position: every timer due before it has
 * fired. It lags behind lawn->now while budgets are too small. What is started
 * counts from lawn->now, never from the base, or it would fire early [P1].
 *
 * A callback may do anything to any timer, so between two callbacks nothing is
 * remembered but numbers of blades, and every link is read anew.
 */
#include "internal.h"

/* Blades drained in turn: enough to keep the memory system busy. */
#define LAWN_MOW_TURN 16u
/* A slot with up to this many entries is looked through before it is moved. */
#define LAWN_MOW_FEW 16u

struct lawn_mowing {
    struct lawn *lawn;
    size_t budget;
    size_t fired;
    lawn_fire_fn *fire;
    void *arg;
};

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
    mowing->fired++;
    mowing->fire(timer, mowing->arg);
}

/* Fires the lone timers of a slot of one tick. False: the budget is used up. */
static bool
lawn_mow_lone(struct lawn_mowing *mowing, struct lawn_link *lone)
{
    while (!lawn_list_empty(lone)) {
        if (mowing->fired == mowing->budget) {
            return false;
        }
        LAWN_PREFETCH(lone->next->next);
        lawn_mow_cut(mowing, lone->next);
    }
    return true;
}

/* Fires what is due at this tick on the blades that have their tip there.
 * Several blades are drained in turn, one timer of each, so that the processor
 * fetches the next timers of the others meanwhile. P4 allows it: the deadlines
 * are the same, the TTLs are not. False: the budget is used up. */
static bool
lawn_mow_blades(struct lawn_mowing *mowing, uint32_t slot, uint64_t tick)
{
    struct lawn_tips *tips = &mowing->lawn->tips;
    struct lawn_blade *all = mowing->lawn->blades.all;
    uint32_t turn[LAWN_MOW_TURN];

    while (tips->first[slot] != LAWN_TIPS_NONE) {
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
            head = blade->queue.next;
            if (head != &blade->queue && lawn_link_deadline(head) <= tick) {
                if (mowing->fired == mowing->budget) {
                    return false;
                }
                LAWN_PREFETCH(head->next);
                lawn_mow_cut(mowing, head);
                i++;
                continue;
            }
            /* Unless a callback's lawn_next() has settled it already. */
            if (blade->tip == tick) {
                lawn_tips_settle(tips, all, turn[i], slot);
            }
            turn[i] = turn[--many];
        }
    }
    return true;
}

/* How far the base may move when a slot of a higher level comes up: to the
 * earliest time in the slot, so that one entry alone goes straight to its tick;
 * but not past the slot, nor past now. A slot of many entries is not looked
 * through. */
static uint64_t
lawn_mow_base(const struct lawn *lawn, uint32_t slot)
{
    const struct lawn_tips *tips = &lawn->tips;
    const struct lawn_link *lone = &tips->lone[slot];
    const struct lawn_link *link;
    uint64_t base = lawn_tips_slot_end(tips, slot);
    unsigned few = LAWN_MOW_FEW;
    uint32_t number;

    if (lawn->now < base) {
        base = lawn->now;
    }
    for (link = lone->next; link != lone; link = link->next) {
        if (few-- == 0) {
            return lawn_tips_slot_time(tips, slot);
        }
        if (lawn_link_deadline(link) < base) {
            base = lawn_link_deadline(link);
        }
    }
    for (number = tips->first[slot]; number != LAWN_TIPS_NONE;
         number = tips->tip[number].next) {
        const struct lawn_link *queue = &lawn->blades.all[number].queue;

        if (few-- == 0) {
            return lawn_tips_slot_time(tips, slot);
        }
        if (!lawn_list_empty(queue) && lawn_link_deadline(queue->next) < base) {
            base = lawn_link_deadline(queue->next);
        }
    }
    return base;
}

/* Moves down what stands in a slot of a higher level that has come up. */
static void
lawn_mow_open(struct lawn *lawn, uint32_t slot)
{
    struct lawn_tips *tips = &lawn->tips;
    struct lawn_link *lone = &tips->lone[slot];
    uint64_t base = lawn_mow_base(lawn, slot);
    struct lawn_link *link = lone->next;
    uint32_t number = tips->first[slot];
    uintptr_t key = lawn_key(lawn);

    /* From here on the slot's entries are in no slot at all; the new base
     * gives each its place. */
    lawn_list_init(key, lone);
    tips->first[slot] = LAWN_TIPS_NONE;
    lawn_tips_clear(tips, slot);
    tips->base = base;

    while (link != lone) {
        struct lawn_link *next = link->next;

        LAWN_PREFETCH(next->next);
        (void)lawn_tips_add(tips, key, lawn_timer_of(link));
        tips->moved++;
        link = next;
    }
    while (number != LAWN_TIPS_NONE) {
        uint32_t next = tips->tip[number].next;
        struct lawn_blade *blade = &lawn->blades.all[number];

        blade->tip = LAWN_NEVER;
        tips->count--;
        tips->moved++;
        if (!lawn_list_empty(&blade->queue)) {
            lawn_tips_enter(tips, lawn->blades.all, number,
                            lawn_link_deadline(blade->queue.next));
        }
        number = next;
    }
}

static void
lawn_mow_until(struct lawn_mowing *mowing, uint64_t until)
{
    struct lawn *lawn = mowing->lawn;
    struct lawn_tips *tips = &lawn->tips;

    for (;;) {
        uint32_t slot = lawn_tips_first(tips);
        uint64_t time;

        if (mowing->fired == mowing->budget) {
            lawn->bound = tips->base;
            return;
        }
        if (slot == LAWN_TIPS_NONE) {
            lawn->bound = LAWN_NEVER;
            return;
        }
        time = lawn_tips_slot_time(tips, slot);
        if (time > until) {
            lawn->bound = time;
            return;
        }
        if (slot > tips->mask) {
            lawn_mow_open(lawn, slot);
            continue;
        }
        tips->base = time;
        if (!lawn_mow_lone(mowing, &tips->lone[slot]) ||
            !lawn_mow_blades(mowing, slot, time)) {
            lawn->bound = time;
            return;
        }
        lawn_tips_clear(tips, slot);
    }
}

/* Timers started at the end of time have waited long enough. */
static void
lawn_mow_afterlife(struct lawn *lawn)
{
    uintptr_t key = lawn_key(lawn);

    while (!lawn_list_empty(&lawn->afterlife)) {
        struct lawn_link *link = lawn->afterlife.next;

        lawn_list_remove(key, link);
        (void)lawn_tips_add(&lawn->tips, key, lawn_timer_of(link));
    }
}

/* A mow that cannot rule out by the bound alone that something is due. */
__attribute__((noinline)) static size_t
lawn_mow_slowly(struct lawn *lawn, uint64_t now, size_t budget,
                lawn_fire_fn *fire, void *arg)
{
    struct lawn_mowing mowing = {lawn, budget, 0, fire, arg};
    uint64_t moved = lawn->tips.moved;

    LAWN_ASSERT(!lawn->mowing, "[P10] lawn_mow inside a callback");
    if (lawn->mowing) {
        return 0;
    }
    if (now > lawn->now) {
        lawn_habits_review(lawn);
        lawn_move_clock(lawn, now < LAWN_LAST ? now : LAWN_LAST);
    }
    lawn->mowing = true;
    if (LAWN_UNLIKELY(!lawn_list_empty(&lawn->afterlife))) {
        lawn_mow_afterlife(lawn);
    }
    lawn_mow_until(&mowing, now);
    lawn->mowing = false;
    moved = lawn->tips.moved - moved;
    if (mowing.fired == 0 && moved > lawn->moved_idle) {
        lawn->moved_idle = moved;
    }
    return mowing.fired;
}

size_t
lawn_mow(struct lawn *lawn, uint64_t now, size_t budget, lawn_fire_fn *fire,
         void *arg)
{
    if (LAWN_UNLIKELY(now >= lawn->bound)) {
        return lawn_mow_slowly(lawn, now, budget, fire, arg);
    }
    /* now < bound <= LAWN_NEVER, so now <= LAWN_LAST. */
    if (now > lawn->now) {
        lawn_move_clock(lawn, now);
    }
    return 0;
}

/* Corrects the tips of a slot that are too early, and tells the earliest
 * deadline that is left in it, and whose queue begins with it. */
static uint64_t
lawn_next_in_slot(struct lawn *lawn, uint32_t slot,
                  const struct lawn_link **front)
{
    struct lawn_tips *tips = &lawn->tips;
    struct lawn_link *lone = &tips->lone[slot];
    struct lawn_link *first = lone->next;
    struct lawn_link *link;
    uint64_t next = LAWN_NEVER;
    uint32_t number = tips->first[slot];

    for (link = lone->next; link != lone; link = link->next) {
        if (lawn_link_deadline(link) < next) {
            next = lawn_link_deadline(link);
            first = link;
        }
    }
    /* The earliest goes to the front, where lawn_next() looks first. It is the
     * first of those with its deadline, so their order stays [P4]. */
    if (first != lone->next) {
        lawn_list_remove(lawn_key(lawn), first);
        lawn_list_prepend(lawn_key(lawn), lone, first);
    }
    *front = lone;
    while (number != LAWN_TIPS_NONE) {
        struct lawn_blade *blade = &lawn->blades.all[number];
        uint32_t after = tips->tip[number].next;

        link = blade->queue.next;
        if (link == &blade->queue ||
            lawn_tips_slot(tips, lawn_link_deadline(link)) != slot) {
            lawn_tips_settle(tips, lawn->blades.all, number, slot);
        } else if (lawn_link_deadline(link) < next) {
            next = lawn_link_deadline(link);
            *front = &blade->queue;
        }
        number = after;
    }
    return next;
}

uint64_t
lawn_next(struct lawn *lawn)
{
    uint32_t slot;

    if (lawn->front != NULL && !lawn_list_empty(lawn->front) &&
        lawn_link_deadline(lawn->front->next) == lawn->bound) {
        return lawn->bound;
    }
    while ((slot = lawn_tips_first(&lawn->tips)) != LAWN_TIPS_NONE) {
        const struct lawn_link *front;
        uint64_t next = lawn_next_in_slot(lawn, slot, &front);

        if (next != LAWN_NEVER) {
            lawn->bound = next;
            lawn->front = front;
            return next;
        }
        lawn_tips_clear(&lawn->tips, slot);
    }
    lawn->front = NULL;
    lawn->bound = lawn_list_empty(&lawn->afterlife) ? LAWN_NEVER : LAWN_LAST;
    return lawn->bound;
}
