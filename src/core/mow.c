/* mow.c - fires due timers.
 *
 * The base of the index is the mowing position: all timers due before it have
 * fired. It is at most lawn->now. Due timers may remain at or after it if a mow
 * ended early, or if lawn_set_now() has moved the clock. Deadlines of new
 * timers are computed from lawn->now; computed from the base, they would be too
 * early [P1].
 *
 * A callback may start, stop or free any timer. So after each callback, every
 * link is read again; only the numbers of blades and slots are kept. Functions
 * that fire timers return false if the budget, or the limit on work, is
 * exhausted.
 */
#include "internal.h"
#include "probes.h"

/* Blades drained in turn: enough to keep the memory system busy. */
#define LAWN_MOW_TURN 16u
/* A mow may process WORK_LEAST entries in addition to the timers that it fires,
 * and WORK more for each timer of its budget [P8]. Tests use smaller
 * constants. */
#if !defined LAWN_MOW_WORK
#define LAWN_MOW_WORK 7u
#define LAWN_MOW_WORK_LEAST 448u
#endif
/* Maximum number of entries that a mow moves ahead of time, once it has fired
 * all due timers. Early on, it moves only PREPARE_EARLY entries for each tick
 * that has passed since the last mow, so that most mows are short. */
#if !defined LAWN_MOW_PREPARE
#define LAWN_MOW_PREPARE 256u
#define LAWN_MOW_PREPARE_EARLY 64u
#endif
/* Queues to prefetch from. At most AHEAD timers are prefetched: as many as
 * remain in the cache until they are needed. */
#define LAWN_MOW_CHAINS LAWN_BLADES_STRIPES
#define LAWN_MOW_AHEAD 4096u

/* Unlinks the timer before the callback, because the callback may free or
 * restart it, or stop adjacent timers [P6]. */
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

/* Takes one timer of each queue in turn, so that the processor loads several at
 * once. Stops in each queue at the first timer that is not due by `until`.
 * Returns the number of links read, at most `most`. */
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
        for (uint32_t i = 0; i < many && ahead < most;) {
            const struct lawn_link *link = next[i];

            ahead++;
            if (link == queues[i] || lawn__link_deadline(link) > until) {
                next[i] = next[--many];
                queues[i] = queues[many];
            } else {
                next[i++] = link->next;
                LAWN_PREFETCH(link->next);
            }
        }
    }
    return ahead;
}

/* Prefetches timers of a TTL that are due at this tick or the next few. */
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
 * timers of the striped TTLs with an entry in this slot. Reads no more links
 * than this mow may fire timers. */
LAWN_NOINLINE static void
prefetch_ahead(struct lawn_mowing *mowing, uint32_t slot, uint64_t tick)
{
    struct lawn *lawn = mowing->lawn;
    const struct lawn_index *index = &lawn->index;
    size_t most = mowing->left < LAWN_MOW_AHEAD ? mowing->left : LAWN_MOW_AHEAD;

    most = most < mowing->work ? most : mowing->work;
    uint32_t number = index->first[slot];

    lawn->fetched = tick;
    const struct lawn_link *queues[LAWN_MOW_CHAINS];
    uint32_t many = 0;
    for (uint32_t i = 0; i < LAWN_MOW_CHAINS; i++) {
        const struct lawn_link *list = lawn__index_list_of(
            index, lawn__index_slot_at(index, 0, tick + i), tick + i);

        if (!lawn__list_empty(list)) {
            queues[many++] = list;
        }
    }
    size_t ahead =
        prefetch_queues(queues, many, tick + LAWN_MOW_CHAINS - 1, most);
    while (lawn->blades.stripe != 0 && number != LAWN_INDEX_NONE &&
           ahead < most) {
        size_t found = prefetch_stripes(lawn, lawn->blades.all[number].ttl,
                                        tick, most - ahead);

        ahead += found > 0 ? found : 1;
        number = index->entry[number].next;
    }
    lawn->ahead += ahead;
    mowing->work -= ahead;
}

/* Accounts for entries that were processed without firing a timer. */
static inline void
use_work(struct lawn_mowing *mowing, size_t entries)
{
    mowing->work -= entries;
}

/* Moves a blade's entry after its timers have fired, unless lawn_next(), called
 * by a callback, has moved it. */
static inline void
reindex_blade(struct lawn_mowing *mowing, uint32_t number, uint64_t tick)
{
    struct lawn *lawn = mowing->lawn;

    if (lawn->blades.all[number].indexed_at == tick) {
        lawn__index_update(&lawn->index, lawn->blades.all, number);
        use_work(mowing, 1);
    }
}

static inline bool
fire_blade(struct lawn_mowing *mowing, uint32_t number, uint64_t tick)
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
    reindex_blade(mowing, number, tick);
    return true;
}

/* Fires the timers of several blades that are due at this tick, one of each in
 * turn. Meanwhile the processor loads the next timers of the other blades. P4
 * allows this order, because the TTLs differ. */
LAWN_NOINLINE static bool
fire_in_turn(struct lawn_mowing *mowing, uint32_t slot, uint64_t tick)
{
    const struct lawn_index *index = &mowing->lawn->index;
    const struct lawn_blade *all = mowing->lawn->blades.all;
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
        const struct lawn_blade *blade = &all[turn[i]];
        struct lawn_link *head =
            lawn__list_first(lawn__key(mowing->lawn), &blade->queue);
        if (head == &blade->queue || lawn__link_deadline(head) > tick) {
            reindex_blade(mowing, turn[i], tick);
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

static inline bool
fire_unqueued(struct lawn_mowing *mowing, uint32_t slot, uint64_t tick)
{
    struct lawn *lawn = mowing->lawn;
    struct lawn_link *unqueued = lawn__index_list_of(&lawn->index, slot, tick);

    while (!lawn__list_empty(unqueued)) {
        if (mowing->left == 0) {
            return false;
        }
        fire_timer(mowing, lawn__list_first(lawn__key(lawn), unqueued));
    }
    return true;
}

/* Like fire_tick(), for timers that do not fit in a cache. */
LAWN_NOINLINE static bool
fire_tick_of_many(struct lawn_mowing *mowing, uint32_t slot, uint64_t tick)
{
    const struct lawn *lawn = mowing->lawn;
    const struct lawn_index *index = &lawn->index;

    if (tick % LAWN_MOW_CHAINS == 0 && tick != lawn->fetched) {
        prefetch_ahead(mowing, slot, tick);
    }
    if (!fire_unqueued(mowing, slot, tick)) {
        return false;
    }
    uint32_t number = 0;
    while ((number = index->first[slot]) != LAWN_INDEX_NONE) {
        bool done = mowing->work >= LAWN_MOW_TURN &&
                            index->entry[number].next != LAWN_INDEX_NONE
                        ? fire_in_turn(mowing, slot, tick)
                        : mowing->work > 0 && fire_blade(mowing, number, tick);

        if (!done) {
            return false;
        }
    }
    return true;
}

/* Unqueued timers fire first, because they were started before their TTL had a
 * blade [P4]. lawn_set_resolution() and lawn_start_as() document exceptions. */
static inline bool
fire_tick(struct lawn_mowing *mowing, uint32_t slot, uint64_t tick)
{
    const uint16_t *first = &mowing->lawn->index.first[slot];

    if (LAWN_UNLIKELY(mowing->lawn->tuning.many)) {
        return fire_tick_of_many(mowing, slot, tick);
    }
    if (!fire_unqueued(mowing, slot, tick)) {
        return false;
    }
    while (*first != LAWN_INDEX_NONE) {
        if (mowing->work == 0 || !fire_blade(mowing, *first, tick)) {
            return false;
        }
    }
    return true;
}

/* Returns bit L for each level L, from 1 to below - 1, that has entries in the
 * slot of the base or in the next one. */
static uint32_t
find_unopened(const struct lawn_index *index, uint32_t below)
{
    uint32_t found = 0;

    for (uint32_t level = 1; level < below; level++) {
        if ((index->levels >> level & 1) != 0 &&
            lawn__index_slots_ahead(index,
                                    lawn__index_first_slot(index, level)) < 2) {
            found |= 1u << level;
        }
    }
    return found;
}

/* Moves an unqueued timer to a lower level, in front of timers with the same
 * deadline, which were started later. If a slot of a level in between may
 * contain such timers, moves the timer to that slot instead. */
static inline void
move_timer(struct lawn *lawn, struct lawn_link *link, uint32_t from,
           uint32_t unopened)
{
    struct lawn_index *index = &lawn->index;
    uint64_t time = lawn__link_deadline(link);
    uint32_t slot = lawn__index_slot_of(index, time);

    if (LAWN_UNLIKELY(unopened != 0)) {
        uint32_t to = lawn__index_level_of(index, slot);

        for (uint32_t level = from - 1; level > to; level--) {
            uint32_t on_the_way = lawn__index_slot_at(index, level, time);

            if ((unopened >> level & 1) != 0 &&
                lawn__index_marked(index, on_the_way)) {
                slot = on_the_way;
                break;
            }
        }
    }
    lawn__list_prepend(lawn__key(lawn), lawn__index_list_of(index, slot, time),
                       link);
    lawn__index_note(index, slot, time);
}

/* Takes the last timer of each list in turn, to load several at once. Returns
 * the number of moved timers, at most `most`. */
static size_t
move_unqueued_down(struct lawn *lawn, uint32_t slot, size_t most)
{
    struct lawn_index *index = &lawn->index;
    uintptr_t key = lawn__key(lawn);
    uint32_t level = lawn__index_level_of(index, slot);
    uint32_t unopened = find_unopened(index, level);
    struct lawn_link *lists = &index->unqueued[(size_t)slot * index->lists];
    struct lawn_link *last[LAWN_INDEX_LISTS_MAX];
    struct lawn_link *end[LAWN_INDEX_LISTS_MAX];
    uint32_t many = 0;
    size_t moved = 0;

    for (uint32_t i = 0; i < index->lists; i++) {
        if (!lawn__list_empty(&lists[i])) {
            last[many] = lawn__list_prev(key, &lists[i]);
            LAWN_PREFETCH(last[many]);
            end[many++] = &lists[i];
        }
    }
    while (many > 0 && moved < most) {
        for (uint32_t i = 0; i < many && moved < most;) {
            struct lawn_link *link = last[i];

            last[i] = lawn__list_prev(key, link);
            LAWN_PREFETCH(last[i]);
            lawn__list_remove(key, link);
            move_timer(lawn, link, level, unopened);
            moved++;
            if (last[i] == end[i]) {
                last[i] = last[--many];
                end[i] = end[many];
            } else {
                i++;
            }
        }
    }
    index->moved += moved;
    return moved;
}

/* A mow also accounts for a marked slot in which it has found no entry. */
static void
use_empty_slot(struct lawn_mowing *mowing)
{
    mowing->lawn->index.moved++;
    use_work(mowing, 1);
}

/* Moves at most `most` entries to lower levels. Returns whether the slot is now
 * empty; then it has been cleared. */
LAWN_NOINLINE static bool
open_slot(struct lawn_mowing *mowing, uint32_t slot, size_t most)
{
    struct lawn *lawn = mowing->lawn;
    struct lawn_index *index = &lawn->index;
    size_t moved = move_unqueued_down(lawn, slot, most);
    uint32_t number = 0;

    if (most == 0) {
        return false;
    }
    while (moved < most && (number = index->first[slot]) != LAWN_INDEX_NONE) {
        lawn__index_update(index, lawn->blades.all, number);
        moved++;
    }
    use_work(mowing, moved);
    if (moved == 0) {
        use_empty_slot(mowing);
    }
    if (index->first[slot] != LAWN_INDEX_NONE) {
        return false;
    }
    for (uint32_t i = 0; i < index->lists; i++) {
        if (!lawn__list_empty(
                &index->unqueued[(size_t)slot * index->lists + i])) {
            return false;
        }
    }
    lawn__index_clear_slot(index, slot);
    return true;
}

/* As late as possible [I10]. */
static void
update_horizon(struct lawn_index *index)
{
    uint64_t horizon = LAWN_NEVER;

    for (uint32_t rest = index->levels; rest != 0; rest &= rest - 1) {
        uint32_t slot =
            lawn__index_first_slot(index, (uint32_t)__builtin_ctz(rest));

        horizon =
            index->earliest[slot] < horizon ? index->earliest[slot] : horizon;
    }
    index->horizon = horizon;
}

/* Opens the slots of higher levels that may contain the earliest time, the
 * lower levels first. Returns false if that takes more work than the mow has
 * left. */
LAWN_NOINLINE static bool
open_slots_of(struct lawn_mowing *mowing, uint64_t first)
{
    struct lawn_index *index = &mowing->lawn->index;

    /* With the base just before that time, the entries move down as far as
     * possible. */
    if (first > index->base) {
        lawn__index_set_base(index, first - 1);
    }
    for (uint32_t rest = index->levels; rest != 0; rest &= rest - 1) {
        uint32_t slot =
            lawn__index_first_slot(index, (uint32_t)__builtin_ctz(rest));

        if (index->earliest[slot] <= first &&
            !open_slot(mowing, slot, mowing->work)) {
            return false;
        }
    }
    return true;
}

/* Returns how many entries a mow may move ahead of time if the next of them is
 * in this slot and `passed` ticks have passed since the last such mow. It is
 * early if more than half a slot of that level remains until the slot begins.
 */
static size_t
limit_prepared(const struct lawn_index *index, uint32_t slot, uint64_t passed)
{
    uint64_t start = lawn__index_slot_start(index, slot);
    uint64_t ticks = UINT64_C(1)
                     << (lawn__index_level_of(index, slot) * index->bits);
    bool early = start > index->base && start - index->base > ticks / 2;

    return early && passed < LAWN_MOW_PREPARE / LAWN_MOW_PREPARE_EARLY
               ? (size_t)passed * LAWN_MOW_PREPARE_EARLY
               : LAWN_MOW_PREPARE;
}

/* Opens slots that will be needed soon: on each level the slot of the base
 * and the next one. If it reaches its limit of entries, the next mow
 * continues. */
LAWN_NOINLINE static void
prepare_slots(struct lawn_mowing *mowing)
{
    struct lawn_index *index = &mowing->lawn->index;
    size_t work = mowing->work;
    uint64_t prepare = LAWN_NEVER;
    uint64_t from =
        index->prepare > index->prepared ? index->prepare : index->prepared;
    uint64_t passed = index->base - from;

    index->prepared = index->base;
    /* Opening a slot may add times to lower levels, which lowers
     * index->prepare. */
    index->prepare = LAWN_NEVER;
    for (uint32_t level = 1; index->levels >> level != 0; level++) {
        while ((index->levels >> level & 1) != 0) {
            uint32_t slot = lawn__index_first_slot(index, level);

            if (lawn__index_slots_ahead(index, slot) > 1) {
                uint64_t ticks = UINT64_C(1) << (level * index->bits);
                uint64_t start = lawn__index_slot_start(index, slot) - ticks;

                prepare = start < prepare ? start : prepare;
                break;
            }
            size_t most = limit_prepared(index, slot, passed);
            size_t moved = work - mowing->work;
            most = most > moved ? most - moved : 0;
            if (!open_slot(mowing, slot,
                           most < mowing->work ? most : mowing->work)) {
                index->prepare = 0;
                return;
            }
        }
    }
    if (prepare < index->prepare) {
        index->prepare = prepare;
    }
}

/* Called when no timer is due any more; first is the earliest time, or
 * LAWN_NEVER. Returns the bound. */
static inline uint64_t
finish_mow(struct lawn_mowing *mowing, uint64_t until, uint64_t first)
{
    struct lawn *lawn = mowing->lawn;
    struct lawn_index *index = &lawn->index;

    mowing->complete = true;
    if (until > index->base) {
        lawn__index_set_base(index, until);
    }
    if (LAWN_UNLIKELY(until >= index->prepare) && until == mowing->until) {
        prepare_slots(mowing);
    }
    return LAWN_UNLIKELY(first == LAWN_NEVER) && !lawn__list_empty(&lawn->last)
               ? LAWN_LAST
               : first;
}

/* Returns a lower bound of the running timers' deadlines. */
static inline uint64_t
mow_until(struct lawn_mowing *mowing, uint64_t until)
{
    struct lawn *lawn = mowing->lawn;
    struct lawn_index *index = &lawn->index;
    uint64_t first = index->base;

    LAWN_NAIVELY(lawn__naive_mow(mowing, until));
    while (mowing->left > 0 && mowing->work > 0) {
        uint64_t tick = lawn__index_first_tick(index);

        first = tick;
        if (LAWN_UNLIKELY(tick >= index->horizon)) {
            update_horizon(index);
            if (tick >= index->horizon) {
                first = index->horizon;
                if (first <= until) {
                    if (!open_slots_of(mowing, first)) {
                        break;
                    }
                    continue;
                }
            }
        }
        if (first > until) {
            return finish_mow(mowing, until, first);
        }
        uint32_t slot = (uint32_t)tick & index->mask;
        size_t before = mowing->left + mowing->work;
        lawn__index_set_base(index, tick);
        if (!fire_tick(mowing, slot, tick)) {
            break;
        }
        lawn__index_clear_tick(index, slot);
        if (LAWN_UNLIKELY(mowing->left + mowing->work == before)) {
            use_empty_slot(mowing);
        }
    }
    return first;
}

/* Timers that callbacks of this mow start at that tick remain in lawn->last
 * until the next mow [P6]. O(1). */
LAWN_NOINLINE static void
index_last_tick(struct lawn *lawn)
{
    struct lawn_index *index = &lawn->index;

    if (!lawn__list_empty(&lawn->last)) {
        uint32_t slot = lawn__index_slot_of(index, LAWN_LAST);

        lawn__list_splice(lawn__key(lawn),
                          lawn__index_list_of(index, slot, LAWN_LAST),
                          &lawn->last);
        lawn__index_note(index, slot, LAWN_LAST);
    }
}

static size_t
limit_work(const struct lawn *lawn, size_t budget)
{
    size_t least = LAWN_MOW_WORK_LEAST + (size_t)lawn->classes.count;

    return budget > (SIZE_MAX - least) / LAWN_MOW_WORK
               ? SIZE_MAX
               : budget * LAWN_MOW_WORK + least;
}

/* Fires timers of classes and others in turn. Each turn ends where the other
 * kind may have the next deadline. Returns a lower bound of the deadlines of
 * timers outside of classes. */
LAWN_NOINLINE static uint64_t
mow_with_classes(struct lawn_mowing *mowing)
{
    const struct lawn_classes *classes = &mowing->lawn->classes;
    uint64_t bound = mowing->lawn->bound;
    bool more = false;

    do {
        uint64_t until = lawn__classes_mow(mowing, bound);

        mowing->complete = false;
        mowing->pass = until;
        bound = mow_until(mowing, until);
        mowing->pass = 0;
        more = mowing->held > 0 ||
               (mowing->complete &&
                (until < mowing->until || classes->next <= mowing->until));
        mowing->left += mowing->held;
        mowing->held = 0;
    } while (more);
    return bound;
}

LAWN_NOINLINE static size_t
mow_slow(struct lawn *lawn, uint64_t now, size_t budget, lawn_fire_fn *fire,
         void *arg)
{
    uint64_t until = now < LAWN_LAST ? now : LAWN_LAST;
    size_t work = limit_work(lawn, budget);
    struct lawn_mowing mowing = {lawn,  budget, budget, work, until,
                                 false, fire,   arg,    0,    0};

    LAWN_ASSERT(lawn->mowing == NULL, "[P10] lawn_mow inside a callback");
    if (lawn->mowing != NULL) {
        return 0;
    }
    lawn__advance_clock(lawn, now);
    if (now < lawn->wake) {
        return 0; /* only the tuning had to be reviewed */
    }
    if (LAWN_UNLIKELY(now >= LAWN_LAST)) {
        index_last_tick(lawn);
    }
    LAWN_PROBES_MOW(lawn, now, budget);
    lawn->mowing = &mowing;
    lawn->wake = 0; /* so that a mow inside a callback is noticed [P10] */
    uint64_t bound = 0;
    if (LAWN_UNLIKELY(lawn->classes.count > 0)) {
        if (until == LAWN_LAST) {
            lawn__classes_enter_last_tick(lawn);
        }
        lawn__classes_fire_shares(&mowing);
        bound = mow_with_classes(&mowing);
    } else {
        bound = mow_until(&mowing, until);
    }
    lawn->mowing = NULL;
    lawn__set_bound(lawn, bound);
    if (LAWN_UNLIKELY(until == LAWN_LAST)) {
        lawn__classes_leave_last_tick(lawn);
    }
    size_t fired = mowing.budget - mowing.left;
    if (fired == 0 && work - mowing.work > lawn->touched_idle) {
        lawn->touched_idle = work - mowing.work;
    }
    LAWN_PROBES_MOWN(lawn, now, fired);
    /* If the limit on work ended the mow, timers may still be due. */
    return mowing.complete || mowing.left == 0 ? fired : budget;
}

void
lawn_halt(struct lawn *lawn)
{
    struct lawn_mowing *mowing = lawn->mowing;

    if (mowing != NULL) {
        mowing->budget -= mowing->left + mowing->held;
        mowing->left = 0;
        mowing->held = 0;
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
