/* lawn.c - creating a lawn, starting and stopping timers, the clock. */
#include "class.h"
#include "internal.h"
#include "probes.h"

#if !defined LAWN_FREESTANDING
#include <stdlib.h>
#endif

#define LAWN_LINE 64u

LAWN_STATIC_ASSERT(sizeof(void *) != 8 || sizeof(struct lawn_timer) == 24,
                   "a timer takes 24 bytes");

/* The numbers of blades and classes, slot_bits, and the offsets of the parts
 * from the lawn, which begins at a cache line. */
struct lawn_layout {
    size_t count;
    unsigned bits;
    size_t max_classes;
    size_t classes;
    size_t blades;
    size_t unqueued;
    size_t earliest;
    size_t occupied;
    size_t heap;
    size_t first;
    size_t entry;
    size_t end;
};

static struct lawn_layout
compute_layout(const struct lawn_options *options)
{
    struct lawn_layout layout;

    layout.count = lawn__blades_count(options != NULL ? options->blades : 0);
    layout.bits =
        lawn__index_clamp_bits(options != NULL ? options->slot_bits : 0);
    layout.max_classes = options != NULL ? options->classes : 0;
    if (layout.max_classes > LAWN_CLASS_MAX) {
        layout.max_classes = LAWN_CLASS_MAX;
    }
    size_t slots = lawn__index_count_slots(layout.bits);
    layout.classes =
        (sizeof(struct lawn) + LAWN_LINE - 1) & ~(size_t)(LAWN_LINE - 1);
    layout.blades =
        layout.classes + layout.max_classes * sizeof(struct lawn_class);
    layout.unqueued = layout.blades + layout.count * sizeof(struct lawn_blade);
    layout.earliest =
        layout.unqueued +
        slots * lawn__index_count_lists(layout.bits) * sizeof(struct lawn_link);
    layout.occupied = layout.earliest + slots * sizeof(uint64_t);
    layout.heap = layout.occupied +
                  lawn__index_count_words(layout.bits) * sizeof(uint64_t);
    layout.first =
        layout.heap + layout.max_classes * sizeof(struct lawn_class *);
    layout.entry = layout.first + slots * sizeof(uint16_t);
    layout.end = layout.entry + layout.count * sizeof(struct lawn_index_entry);
    return layout;
}

size_t
lawn_size(const struct lawn_options *options)
{
    /* The extra bytes align the memory to a cache line. */
    return compute_layout(options).end + LAWN_LINE - 1;
}

struct lawn *
lawn_place(void *memory, size_t size, const struct lawn_options *options)
{
    struct lawn_layout layout = compute_layout(options);
    char *at = (char *)memory;
    uint64_t now = options != NULL ? options->now : 0;

    if (size < layout.end + LAWN_LINE - 1) {
        return NULL;
    }
    at += -(uintptr_t)at & (LAWN_LINE - 1);
    struct lawn *lawn = (struct lawn *)(void *)at;
    uintptr_t key = lawn__key(lawn);
    now = now < LAWN_LAST ? now : LAWN_LAST;
    lawn->now = now;
    lawn->starts = 0;
    lawn->misses = 0;
    lawn->tuning.starts = 0;
    lawn->tuning.misses = 0;
    lawn->stops = 0;
    lawn->fires = 0;
    lawn->claims = 0;
    lawn->touched_idle = 0;
    lawn->looked = 0;
    lawn->ahead = 0;
    lawn->fetched = LAWN_NEVER;
    lawn->settled = 0;
    lawn->front = NULL;
    lawn->tuning.review_due = false;
    lawn->mowing = NULL;
    lawn->bytes = size;
    lawn->release = NULL;
    lawn->context = NULL;
    lawn->memory = NULL;
    lawn__list_init(key, &lawn->last);
    lawn__blades_init(&lawn->blades,
                      (struct lawn_blade *)(void *)(at + layout.blades),
                      layout.count, key);
    lawn->index.unqueued = (struct lawn_link *)(void *)(at + layout.unqueued);
    lawn->index.earliest = (uint64_t *)(void *)(at + layout.earliest);
    lawn->index.occupied = (uint64_t *)(void *)(at + layout.occupied);
    lawn->index.first = (uint16_t *)(void *)(at + layout.first);
    lawn->index.entry = (struct lawn_index_entry *)(void *)(at + layout.entry);
    lawn__index_init(&lawn->index, layout.bits, now, key);
    lawn__classes_init(lawn, (struct lawn_class *)(void *)(at + layout.classes),
                       (struct lawn_class **)(void *)(at + layout.heap),
                       layout.max_classes);
    lawn__set_bound(lawn, LAWN_NEVER);
    lawn->resolution = 1;
    lawn__tuning_init(lawn, options != NULL && options->blades != 0);
    lawn_set_resolution(lawn, options != NULL ? options->resolution : 0);
    return lawn;
}

#if !defined LAWN_FREESTANDING
static void *
default_alloc(size_t size, void *context)
{
    (void)context;
    return malloc(size);
}

static void
default_release(void *memory, void *context)
{
    (void)context;
    free(memory);
}
#endif

struct lawn *
lawn_new(const struct lawn_options *options)
{
    size_t size = lawn_size(options);
    void *context = options != NULL ? options->context : NULL;
    void *(*alloc)(size_t, void *) = options != NULL ? options->alloc : NULL;
    void (*release)(void *, void *) = options != NULL ? options->release : NULL;

    if (alloc == NULL) {
#if defined LAWN_FREESTANDING
        return NULL;
#else
        alloc = default_alloc;
        release = default_release;
#endif
    }
    void *memory = alloc(size, context);
    if (memory == NULL) {
        return NULL;
    }
    struct lawn *lawn = lawn_place(memory, size, options);
    lawn->release = release;
    lawn->context = context;
    lawn->memory = memory;
    return lawn;
}

void
lawn_free(struct lawn *lawn)
{
    if (lawn == NULL) {
        return;
    }
    LAWN_ASSERT(lawn->mowing == NULL, "[P10] lawn_free inside a callback");
    /* lawn_mow() still uses the lawn: leak it rather than free it. */
    if (lawn->release != NULL && lawn->mowing == NULL) {
        lawn->release(lawn->memory, lawn->context);
    }
}

/* Called after a timer with this deadline was inserted into queue. The
 * insertion may have lowered index.prepare. */
static inline void
lower_bound(struct lawn *lawn, uint64_t deadline, const struct lawn_link *queue)
{
    if (deadline < lawn->bound) {
        lawn__set_bound(lawn, deadline);
        lawn->front = queue;
    } else if (lawn->wake > lawn->index.prepare) {
        lawn__set_bound(lawn, lawn->bound);
    }
}

static inline void
count_miss(struct lawn *lawn, uint64_t ttl)
{
    if (LAWN_UNLIKELY(++lawn->misses == 0)) {
        lawn__tuning_count_miss(lawn, ttl);
    }
}

static void
note_early_timer(struct lawn *lawn, struct lawn_timer *timer,
                 struct lawn_link *list, uint32_t slot)
{
    uint64_t deadline = timer->deadline;

    lawn__index_note(&lawn->index, slot, deadline);
    if (deadline < lawn->bound) {
        /* To the front of the list, where lawn_next() looks. No other timer has
         * this deadline, so P4 holds. */
        lawn__list_remove(lawn__key(lawn), &timer->link);
        lawn__list_prepend(lawn__key(lawn), list, &timer->link);
    }
    lower_bound(lawn, deadline, list);
}

/* A separate function, called last, so that its callers need not save
 * registers. */
LAWN_NOINLINE static void
note_unqueued(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl,
              uint32_t slot)
{
    if (timer->deadline < lawn->index.earliest[slot]) {
        note_early_timer(
            lawn, timer,
            lawn__index_list_of(&lawn->index, slot, timer->deadline), slot);
    }
    if (lawn->misses == 0) {
        lawn__tuning_count_miss(lawn, ttl);
    }
}

static inline void
insert_unqueued(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl)
{
    struct lawn_index *index = &lawn->index;
    uint32_t slot = lawn__index_slot_of(index, timer->deadline);
    struct lawn_link *list = lawn__index_list_of(index, slot, timer->deadline);

    LAWN_ASSERT(timer->deadline >= index->base,
                "[I4] an unqueued timer's deadline is before the base");
    lawn__list_append(lawn__key(lawn), list, &timer->link);
    if (LAWN_UNLIKELY(++lawn->misses == 0) ||
        timer->deadline < index->earliest[slot]) {
        note_unqueued(lawn, timer, ttl, slot);
    }
}

/* The blade must be free or of this TTL, and the deadline must be set. */
LAWN_NOINLINE static void
append_to_blade(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl,
                struct lawn_blade *blade)
{
    struct lawn_blade *all = lawn->blades.all;

    LAWN_ASSERT(blade->ttl == ttl || lawn__list_empty(&blade->queue),
                "[I8] a timer is added to another TTL's blade");
    blade->ttl = ttl;
    lawn__list_append(lawn__key(lawn), &blade->queue, &timer->link);
    if (blade->indexed_at > timer->deadline) {
        uint32_t number = (uint32_t)(blade - all);

        if (blade->indexed_at != LAWN_NEVER) {
            lawn__index_remove(&lawn->index, all, number);
        }
        lawn__index_insert(&lawn->index, all, number, timer->deadline);
        lower_bound(lawn, timer->deadline, &blade->queue);
    }
}

/* Returns the blade of a TTL, a free one, or NULL. Counts a miss if the blade
 * was free; if there is none, insert_unqueued() does. If entries exceed 3/4 of
 * the homes, only one miss in eight looks for a free blade. A frequent TTL soon
 * gets one nevertheless. */
static inline struct lawn_blade *
find_or_claim_blade(struct lawn *lawn, uint64_t ttl, uint64_t deadline)
{
    struct lawn_blades *blades = &lawn->blades;
    struct lawn_blade *blade = lawn__blades_find(blades, ttl, deadline);

    if (blade == NULL &&
        (lawn->index.count <= blades->homes / 4 * 3 || lawn->misses % 8 == 0)) {
        blade = lawn__blades_claim(blades, ttl, deadline);
        if (blade != NULL) {
            lawn->claims++;
            count_miss(lawn, ttl);
        }
    }
    return blade;
}

static inline bool
keeps_sorted(const struct lawn *lawn, const struct lawn_blade *blade,
             uint64_t deadline)
{
    const struct lawn_link *tail =
        lawn__list_prev(lawn__key(lawn), &blade->queue);

    return tail == &blade->queue || lawn__link_deadline(tail) <= deadline;
}

LAWN_NOINLINE static void
insert_timer(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl)
{
    struct lawn_blade *blade = find_or_claim_blade(lawn, ttl, timer->deadline);

    if (blade != NULL && (lawn->now >= lawn->settled ||
                          keeps_sorted(lawn, blade, timer->deadline))) {
        append_to_blade(lawn, timer, ttl, blade);
    } else {
        insert_unqueued(lawn, timer, ttl);
    }
}

static inline void
insert_at_last_tick(struct lawn *lawn, struct lawn_timer *timer)
{
    lawn__list_append(lawn__key(lawn), &lawn->last, &timer->link);
    lower_bound(lawn, LAWN_LAST, &lawn->last);
    count_miss(lawn, LAWN_NEVER);
}

static inline uint64_t
compute_deadline(const struct lawn *lawn, uint64_t ttl)
{
    uint64_t deadline = lawn__ticks_after(lawn->now, ttl);

    return lawn->resolution == 1
               ? deadline
               : lawn__ticks_round_up(deadline, lawn->resolution);
}

LAWN_NOINLINE static void
start_general(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl)
{
    if (LAWN_UNLIKELY(lawn->settled != 0 && lawn->now >= lawn->settled)) {
        lawn->settled = 0;
        lawn__tuning_settle(lawn);
    }
    timer->deadline = compute_deadline(lawn, ttl);
    LAWN_PROBES_START(lawn, timer, ttl);
    if (timer->deadline == LAWN_LAST) {
        insert_at_last_tick(lawn, timer);
    } else if (lawn->tuning.bypass) {
        insert_unqueued(lawn, timer, ttl);
    } else {
        insert_timer(lawn, timer, ttl != 0 ? ttl : 1);
    }
}

/* Starts a timer with ttl >= lawn->plain. While the lawn bypasses its blades,
 * that is every timer. */
LAWN_NOINLINE static void
start_slow(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl)
{
    if (LAWN_LIKELY(lawn->tuning.direct && ttl != 0 &&
                    ttl < LAWN_LAST - lawn->now)) {
        timer->deadline = lawn->now + ttl;
        LAWN_PROBES_START(lawn, timer, ttl);
        insert_unqueued(lawn, timer, ttl);
    } else {
        start_general(lawn, timer, ttl);
    }
}

LAWN_NOINLINE static void
start_and_count(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl)
{
    lawn__tuning_count_start(lawn);
    if (ttl >= lawn->plain || ttl == 0) {
        start_general(lawn, timer, ttl);
    } else {
        timer->deadline = lawn->now + ttl;
        LAWN_PROBES_START(lawn, timer, ttl);
        insert_timer(lawn, timer, ttl);
    }
}

void
lawn_start(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl)
{
    uintptr_t key = lawn__key(lawn);

    if (lawn_pending(timer)) {
        lawn__list_remove(key, &timer->link);
    } else if (LAWN_UNLIKELY(++lawn->starts == 0)) {
        /* Counting up to 0 saves an instruction. */
        start_and_count(lawn, timer, ttl);
        return;
    }
    if (LAWN_UNLIKELY(ttl >= lawn->plain)) {
        start_slow(lawn, timer, ttl);
        return;
    }
    timer->deadline = lawn->now + ttl;
    struct lawn_blade *blade =
        lawn__blades_at(&lawn->blades, lawn__blades_hash(ttl), timer->deadline);
    if (LAWN_UNLIKELY(blade->ttl != ttl)) {
        if (ttl == 0) {
            start_general(lawn, timer, ttl);
        } else {
            LAWN_PROBES_START(lawn, timer, ttl);
            insert_timer(lawn, timer, ttl);
        }
        return;
    }
    if (LAWN_UNLIKELY(blade->indexed_at > timer->deadline)) {
        LAWN_PROBES_START(lawn, timer, ttl);
        append_to_blade(lawn, timer, ttl, blade);
        return;
    }
    LAWN_ASSERT(lawn__list_empty(&blade->queue) ||
                    lawn__link_deadline(lawn__list_prev(key, &blade->queue)) <=
                        timer->deadline,
                "[I1] a blade is out of order: was a running timer changed?");
    LAWN_PROBES_START(lawn, timer, ttl);
    lawn__list_append(key, &blade->queue, &timer->link);
}

void
lawn_start_at(struct lawn *lawn, struct lawn_timer *timer, uint64_t deadline)
{
    lawn_start(lawn, timer, deadline > lawn->now ? deadline - lawn->now : 0);
}

/* lawn_start() appends without comparing, so no timer of a blade may be later
 * than a timer started now [I1]. LAWN_NEVER as a TTL marks unused blades. */
static inline bool
may_use_blade(const struct lawn *lawn, uint64_t ttl, uint64_t deadline)
{
    return !lawn->tuning.bypass && ttl != 0 && ttl != LAWN_NEVER &&
           deadline <= compute_deadline(lawn, ttl);
}

/* No time in the index is before its base [I4]. A timer started by a callback
 * must not be due in the same mow [P6]. */
static inline uint64_t
clamp_deadline(const struct lawn *lawn, uint64_t deadline)
{
    if (lawn->mowing != NULL && deadline <= lawn->now) {
        return lawn__ticks_after(lawn->now, 1);
    }
    if (deadline < lawn->index.base) {
        return lawn->index.base;
    }
    return deadline < LAWN_LAST ? deadline : LAWN_LAST;
}

void
lawn_start_as(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl,
              uint64_t deadline)
{
    struct lawn_blade *blade = NULL;

    if (lawn_pending(timer)) {
        lawn__list_remove(lawn__key(lawn), &timer->link);
    } else if (++lawn->starts == 0) {
        lawn__tuning_count_start(lawn);
    }
    deadline = clamp_deadline(lawn, deadline);
    timer->deadline = deadline;
    LAWN_PROBES_START(lawn, timer, ttl);
    if (deadline == LAWN_LAST) {
        insert_at_last_tick(lawn, timer);
        return;
    }
    if (may_use_blade(lawn, ttl, deadline)) {
        uint64_t hash = lawn__blades_hash(ttl);

        /* Each stripe of a TTL has two sets. In a small table, two stripes may
         * share a set. If this start claimed a blade there, a later start in
         * the other stripe might use that blade, while timers with the same TTL
         * and deadline are on another one. That would violate P4. So in such a
         * table, a start may claim a blade only if lawn_start() would compute
         * its deadline now. Then timers in the other stripe, whose deadlines
         * differ, are due earlier [I1], and lawn_start() does not compute their
         * deadlines again. */
        blade =
            lawn->blades.stripe == 0 ||
                    deadline == compute_deadline(lawn, ttl) ||
                    lawn__blades_apart(&lawn->blades, hash,
                                       lawn__blades_rehash(&lawn->blades, hash))
                ? find_or_claim_blade(lawn, ttl, deadline)
                : lawn__blades_find(&lawn->blades, ttl, deadline);
    }
    if (blade != NULL && keeps_sorted(lawn, blade, deadline)) {
        append_to_blade(lawn, timer, ttl, blade);
    } else {
        insert_unqueued(lawn, timer, ttl != 0 ? ttl : LAWN_NEVER);
    }
}

bool
lawn_stop(struct lawn *lawn, struct lawn_timer *timer)
{
    if (LAWN_UNLIKELY(!lawn_pending(timer))) {
        return false;
    }
    LAWN_PROBES_STOP(lawn, timer);
    lawn__list_remove(lawn__key(lawn), &timer->link);
    timer->link.next = NULL;
    lawn->stops++;
    return true;
}

void
lawn_moved(struct lawn *lawn, struct lawn_timer *timer)
{
    if (lawn_pending(timer)) {
        lawn__list_moved(lawn__key(lawn), &timer->link);
    }
}

void
lawn_set_now(struct lawn *lawn, uint64_t now)
{
    lawn__advance_clock(lawn, now);
}

uint64_t
lawn_now(const struct lawn *lawn)
{
    return lawn->now;
}

void
lawn_set_resolution(struct lawn *lawn, uint64_t resolution)
{
    if (resolution == 0) {
        resolution = 1;
    }
    /* If the new resolution is not a multiple of the old one, a timer may be
     * due before others with the same TTL that were started earlier, by less
     * than the old resolution. So until the clock has advanced by the old
     * resolution, starts compare deadlines [I1]. */
    if (resolution % lawn->resolution != 0) {
        uint64_t settled = lawn__saturating_add(lawn->now, lawn->resolution);

        lawn->settled = settled > lawn->settled ? settled : lawn->settled;
    }
    lawn->resolution = resolution;
    lawn__tuning_keep(lawn);
    lawn__classes_refresh(lawn);
}

uint64_t
lawn_count(const struct lawn *lawn)
{
    return lawn__count_timers(lawn) + lawn->classes.running;
}

bool
lawn_pending(const struct lawn_timer *timer)
{
    return timer->link.next != NULL;
}

uint64_t
lawn_deadline(const struct lawn_timer *timer)
{
    return lawn_pending(timer) ? timer->deadline : LAWN_NEVER;
}

uint64_t
lawn_last_deadline(const struct lawn_timer *timer)
{
    return timer->deadline;
}

void
lawn_stats(const struct lawn *lawn, struct lawn_counters *out)
{
    out->starts = lawn__count_starts(lawn);
    out->stops = lawn->stops;
    out->fires = lawn->fires;
    out->count = lawn__count_timers(lawn);
    out->unqueued_starts = lawn__count_unqueued_starts(lawn);
    out->moved = lawn->index.moved;
    out->touched_idle = lawn->touched_idle;
    out->looked = lawn->looked;
    out->ahead = lawn->ahead;
    out->live_blades = lawn__blades_count_live(&lawn->blades);
    out->blades = lawn->blades.count;
    out->bytes = lawn->bytes;
}

uint64_t
lawn_count_unqueued(const struct lawn *lawn)
{
    size_t lists =
        lawn__index_count_slots(lawn->index.slot_bits) * lawn->index.lists;
    uint64_t count = lawn__list_length(&lawn->last);

    for (size_t i = 0; i < lists; i++) {
        count += lawn__list_length(&lawn->index.unqueued[i]);
    }
    return count;
}
