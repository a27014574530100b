/* lawn.c - making a lawn, starting and stopping timers, the clock. */
#include "internal.h"
#include "probes.h"

#if !defined LAWN_FREESTANDING
#include <stdlib.h>
#endif

#define LAWN_LINE 64u

LAWN_STATIC_ASSERT(sizeof(void *) != 8 || sizeof(struct lawn_timer) == 24,
                   "a timer takes 24 bytes");

#if !defined NDEBUG
/* Only a bug of the caller's or ours leads here [P10]. */
void
lawn_die(const char *message)
{
#if defined LAWN_FREESTANDING
    (void)message;
    __builtin_trap();
#else
    (void)fprintf(stderr, "lawn: %s\n", message);
    abort();
#endif
}
#endif

/* Where the parts of a lawn stand in its memory, from a cache line's start:
 * the lawn itself, blades, lone lists, bits, first tips, tips. */
struct lawn_layout {
    size_t count;
    unsigned bits;
    size_t blades;
    size_t lone;
    size_t occupied;
    size_t first;
    size_t tip;
    size_t end;
};

static struct lawn_layout
lawn_layout(const struct lawn_options *options)
{
    struct lawn_layout layout;
    size_t slots;

    layout.count = lawn_blades_count(options != NULL ? options->blades : 0);
    layout.bits = lawn_tips_bits(options != NULL ? options->slot_bits : 0);
    slots = lawn_tips_slots(layout.bits);
    layout.blades =
        (sizeof(struct lawn) + LAWN_LINE - 1) & ~(size_t)(LAWN_LINE - 1);
    layout.lone = layout.blades + layout.count * sizeof(struct lawn_blade);
    layout.occupied = layout.lone + slots * lawn_tips_lists(layout.bits) *
                                        sizeof(struct lawn_link);
    layout.first =
        layout.occupied + lawn_tips_words(layout.bits) * sizeof(uint64_t);
    layout.tip = layout.first + slots * sizeof(uint16_t);
    layout.end = layout.tip + layout.count * sizeof(struct lawn_tip);
    return layout;
}

size_t
lawn_size(const struct lawn_options *options)
{
    /* Room to bring memory of any alignment to a cache line's start. */
    return lawn_layout(options).end + LAWN_LINE - 1;
}

struct lawn *
lawn_place(void *memory, size_t size, const struct lawn_options *options)
{
    struct lawn_layout layout = lawn_layout(options);
    char *at = (char *)memory;
    struct lawn *lawn;
    uint64_t now = options != NULL ? options->now : 0;
    uintptr_t key;

    if (size < layout.end + LAWN_LINE - 1) {
        return NULL;
    }
    at += -(uintptr_t)at & (LAWN_LINE - 1);
    lawn = (struct lawn *)(void *)at;
    key = lawn_key(lawn);
    now = now < LAWN_LAST ? now : LAWN_LAST;
    lawn->now = now;
    lawn->starts = 0;
    lawn->misses = 0;
    lawn->habits.starts = 0;
    lawn->habits.misses = 0;
    lawn->stops = 0;
    lawn->fires = 0;
    lawn->claims = 0;
    lawn->moved_idle = 0;
    lawn->looked = 0;
    lawn->ahead = 0;
    lawn->fetched = LAWN_NEVER;
    lawn->closed = 0;
    lawn->front = NULL;
    lawn->habits.many = false;
    lawn->habits.asked = false;
    lawn->mowing = NULL;
    lawn->bytes = size;
    lawn->release = NULL;
    lawn->context = NULL;
    lawn->memory = NULL;
    lawn_list_init(key, &lawn->last);
    lawn_blades_init(&lawn->blades,
                     (struct lawn_blade *)(void *)(at + layout.blades),
                     layout.count, key);
    lawn->tips.lone = (struct lawn_link *)(void *)(at + layout.lone);
    lawn->tips.occupied = (uint64_t *)(void *)(at + layout.occupied);
    lawn->tips.first = (uint16_t *)(void *)(at + layout.first);
    lawn->tips.tip = (struct lawn_tip *)(void *)(at + layout.tip);
    lawn_tips_init(&lawn->tips, layout.bits, now, key);
    lawn_set_bound(lawn, LAWN_NEVER);
    lawn->resolution = 1;
    lawn_habits_reset(lawn);
    lawn_set_resolution(lawn, options != NULL ? options->resolution : 0);
    return lawn;
}

#if !defined LAWN_FREESTANDING
static void *
lawn_malloc(size_t size, void *context)
{
    (void)context;
    return malloc(size);
}

static void
lawn_mfree(void *memory, void *context)
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
    void *memory;
    struct lawn *lawn;

    if (alloc == NULL) {
#if defined LAWN_FREESTANDING
        return NULL;
#else
        alloc = lawn_malloc;
        release = lawn_mfree;
#endif
    }
    memory = alloc(size, context);
    if (memory == NULL) {
        return NULL;
    }
    lawn = lawn_place(memory, size, options);
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
    /* The mow under way still needs it: rather lost than given away. */
    if (lawn->release != NULL && lawn->mowing == NULL) {
        lawn->release(lawn->memory, lawn->context);
    }
}

/* A new entry, which begins the queue or stands in it, may be the earliest. */
static inline void
lawn_start_bound(struct lawn *lawn, uint64_t deadline,
                 const struct lawn_link *queue)
{
    if (deadline < lawn->bound) {
        lawn_set_bound(lawn, deadline);
        lawn->front = queue;
    }
}

/* A start found no blade of its TTL. */
static inline void
lawn_start_missed(struct lawn *lawn)
{
    if (++lawn->misses == 0) {
        lawn_habits_ask(lawn);
    }
}

/* A lone timer came into a list, perhaps before all that was known. */
LAWN_NOINLINE static void
lawn_start_alert(struct lawn *lawn, struct lawn_timer *timer,
                 struct lawn_link *list)
{
    uint64_t deadline = timer->deadline;

    if (deadline < lawn->bound) {
        /* To the front, where lawn_next() looks; no other has its deadline. */
        lawn_list_remove(lawn_key(lawn), &timer->link);
        lawn_list_prepend(lawn_key(lawn), list, &timer->link);
        lawn_start_bound(lawn, deadline, list);
    } else {
        lawn_tips_forget(&lawn->tips, lawn_tips_slot(&lawn->tips, deadline),
                         deadline);
    }
}

/* Puts a timer that has its deadline into the index itself. */
static inline void
lawn_start_alone(struct lawn *lawn, struct lawn_timer *timer)
{
    struct lawn_link *list = lawn_tips_add(&lawn->tips, lawn_key(lawn), timer);

    if (timer->deadline < lawn->alert) {
        lawn_start_alert(lawn, timer, list);
    }
    lawn_start_missed(lawn);
}

/* Puts a timer that has its deadline on a blade of its TTL, or a free one, which
 * may have no tip, or a later one. */
LAWN_NOINLINE static void
lawn_start_on(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl,
              struct lawn_blade *blade)
{
    struct lawn_blade *all = lawn->blades.all;

    LAWN_ASSERT(blade->ttl == ttl || lawn_list_empty(&blade->queue),
                "[I8] a timer goes to another TTL's blade");
    blade->ttl = ttl;
    lawn_list_append(lawn_key(lawn), &blade->queue, &timer->link);
    if (blade->tip > timer->deadline) {
        uint32_t number = (uint32_t)(blade - all);

        if (blade->tip != LAWN_NEVER) {
            lawn_tips_leave(&lawn->tips, all, number,
                            lawn_tips_slot(&lawn->tips, blade->tip));
        }
        lawn_tips_enter(&lawn->tips, all, number, timer->deadline);
        lawn_start_bound(lawn, timer->deadline, &blade->queue);
    }
}

/* The blade of a TTL, which may be away from home; or a free one, which counts
 * as a miss; or NULL. While most blades are taken only one miss in eight looks
 * for a free one: a TTL in steady use gets its blade soon enough, the others
 * save the search. */
static inline struct lawn_blade *
lawn_start_seek(struct lawn *lawn, uint64_t ttl, uint64_t deadline)
{
    struct lawn_blades *blades = &lawn->blades;
    struct lawn_blade *blade = lawn_blades_find(blades, ttl, deadline);

    if (blade == NULL &&
        (lawn->tips.count <= blades->homes / 4 * 3 || lawn->misses % 8 == 0)) {
        blade = lawn_blades_claim(blades, ttl, deadline);
        if (blade != NULL) {
            lawn->claims++;
            lawn_start_missed(lawn);
        }
    }
    return blade;
}

/* Puts a timer that has its deadline on a blade of its TTL, or into the index
 * itself. */
LAWN_NOINLINE static void
lawn_start_near(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl)
{
    struct lawn_blade *blade = lawn_start_seek(lawn, ttl, timer->deadline);

    if (blade != NULL) {
        lawn_start_on(lawn, timer, ttl, blade);
    } else {
        lawn_start_alone(lawn, timer);
    }
}

/* Puts a timer that is due at the last tick into the queue for that. */
static inline void
lawn_start_last(struct lawn *lawn, struct lawn_timer *timer)
{
    lawn_list_append(lawn_key(lawn), &lawn->last, &timer->link);
    lawn_start_bound(lawn, LAWN_LAST, &lawn->last);
    lawn_start_missed(lawn);
}

/* The deadline that a start of the TTL has now: at most LAWN_LAST, and a
 * multiple of the resolution. */
static inline uint64_t
lawn_start_due(const struct lawn *lawn, uint64_t ttl)
{
    uint64_t deadline = lawn_ticks_after(lawn->now, ttl);

    return lawn->resolution == 1
               ? deadline
               : lawn_ticks_round_up(deadline, lawn->resolution);
}

/* A trial counts every start. */
static inline void
lawn_start_tried(struct lawn *lawn)
{
    if (lawn->habits.trial && --lawn->habits.left == 0) {
        lawn_habits_ask(lawn);
    }
}

/* A timer whose deadline has to be rounded or cut, or anything else. */
LAWN_NOINLINE static void
lawn_start_any(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl)
{
    lawn_start_tried(lawn);
    timer->deadline = lawn_start_due(lawn, ttl);
    LAWN_PROBES_START(lawn, timer, ttl);
    if (timer->deadline == LAWN_LAST) {
        lawn_start_last(lawn, timer);
    } else if (lawn->habits.alone) {
        lawn_start_alone(lawn, timer);
    } else {
        lawn_start_near(lawn, timer, ttl != 0 ? ttl : 1);
    }
}

/* Where lawn->plain sends what it excludes: that, or any TTL while the lawn is
 * alone. */
LAWN_NOINLINE static void
lawn_start_otherwise(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl)
{
    if (LAWN_LIKELY(lawn->habits.alone && lawn->resolution == 1 &&
                    ttl < LAWN_LAST - lawn->now && ttl != 0)) {
        timer->deadline = lawn->now + ttl;
        LAWN_PROBES_START(lawn, timer, ttl);
        lawn_start_alone(lawn, timer);
    } else {
        lawn_start_any(lawn, timer, ttl);
    }
}

/* The same for a timer that is off all lists, after many others. */
LAWN_NOINLINE static void
lawn_start_asking(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl)
{
    lawn_habits_ask(lawn);
    if (ttl >= lawn->plain || ttl == 0) {
        lawn_start_any(lawn, timer, ttl);
    } else {
        timer->deadline = lawn->now + ttl;
        LAWN_PROBES_START(lawn, timer, ttl);
        lawn_start_near(lawn, timer, ttl);
    }
}

void
lawn_start(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl)
{
    uintptr_t key = lawn_key(lawn);
    struct lawn_blade *blade;

    if (lawn_pending(timer)) {
        lawn_list_remove(key, &timer->link);
    } else if (LAWN_UNLIKELY(++lawn->starts == 0)) {
        /* Counted up to 0: that takes one instruction to see. */
        lawn_start_asking(lawn, timer, ttl);
        return;
    }
    if (LAWN_UNLIKELY(ttl >= lawn->plain)) {
        lawn_start_otherwise(lawn, timer, ttl);
        return;
    }
    timer->deadline = lawn->now + ttl;
    blade =
        lawn_blades_at(&lawn->blades, lawn_blades_hash(ttl), timer->deadline);
    if (LAWN_UNLIKELY(blade->ttl != ttl)) {
        if (ttl == 0) {
            lawn_start_any(lawn, timer, ttl);
        } else {
            LAWN_PROBES_START(lawn, timer, ttl);
            lawn_start_near(lawn, timer, ttl);
        }
        return;
    }
    if (LAWN_UNLIKELY(blade->tip > timer->deadline)) {
        LAWN_PROBES_START(lawn, timer, ttl);
        lawn_start_on(lawn, timer, ttl, blade);
        return;
    }
    LAWN_ASSERT(lawn_list_empty(&blade->queue) ||
                    lawn_link_deadline(lawn_list_prev(key, &blade->queue)) <=
                        timer->deadline,
                "[I1] a blade is out of order: was a running timer changed?");
    LAWN_PROBES_START(lawn, timer, ttl);
    lawn_list_append(key, &blade->queue, &timer->link);
}

void
lawn_start_at(struct lawn *lawn, struct lawn_timer *timer, uint64_t deadline)
{
    lawn_start(lawn, timer, deadline > lawn->now ? deadline - lawn->now : 0);
}

/* Whether a timer of the TTL may stand on a blade with this deadline, behind
 * what stands there already: lawn_start() appends without looking, so none may
 * be later than what it appends [I1]. A closed blade has no TTL. */
static inline bool
lawn_start_fits(const struct lawn *lawn, uint64_t ttl, uint64_t deadline)
{
    return !lawn->habits.alone && ttl != 0 && ttl != LAWN_NEVER &&
           deadline <= lawn_start_due(lawn, ttl);
}

/* Whether no timer on a blade is due after the deadline. */
static inline bool
lawn_start_sorted(const struct lawn *lawn, const struct lawn_blade *blade,
                  uint64_t deadline)
{
    const struct lawn_link *tail =
        lawn_list_prev(lawn_key(lawn), &blade->queue);

    return tail == &blade->queue || lawn_link_deadline(tail) <= deadline;
}

/* The index takes nothing before its base [I4]; a mow must not meet what its
 * callbacks start [P6]. */
static inline uint64_t
lawn_start_clamp(const struct lawn *lawn, uint64_t deadline)
{
    if (lawn->mowing != NULL && deadline <= lawn->now) {
        return lawn_ticks_after(lawn->now, 1);
    }
    if (deadline < lawn->tips.base) {
        return lawn->tips.base;
    }
    return deadline < LAWN_LAST ? deadline : LAWN_LAST;
}

void
lawn_start_as(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl,
              uint64_t deadline)
{
    struct lawn_blade *blade = NULL;

    if (lawn_pending(timer)) {
        lawn_list_remove(lawn_key(lawn), &timer->link);
    } else if (++lawn->starts == 0) {
        lawn_habits_ask(lawn);
    }
    lawn_start_tried(lawn);
    deadline = lawn_start_clamp(lawn, deadline);
    timer->deadline = deadline;
    LAWN_PROBES_START(lawn, timer, ttl);
    if (deadline == LAWN_LAST) {
        lawn_start_last(lawn, timer);
        return;
    }
    if (lawn_start_fits(lawn, ttl, deadline)) {
        uint64_t hash = lawn_blades_hash(ttl);

        /* In a small table one stripe's second set may be another's first. A
         * blade that is claimed there for another deadline than lawn_start()
         * gives now would part those that it started from those that it will
         * [P4]. */
        blade =
            lawn->blades.stripe == 0 || deadline == lawn_start_due(lawn, ttl) ||
                    lawn_blades_apart(&lawn->blades, hash,
                                      lawn_blades_rehash(&lawn->blades, hash))
                ? lawn_start_seek(lawn, ttl, deadline)
                : lawn_blades_find(&lawn->blades, ttl, deadline);
    }
    if (blade != NULL && lawn_start_sorted(lawn, blade, deadline)) {
        lawn_start_on(lawn, timer, ttl, blade);
    } else {
        lawn_start_alone(lawn, timer);
    }
}

bool
lawn_stop(struct lawn *lawn, struct lawn_timer *timer)
{
    if (LAWN_UNLIKELY(!lawn_pending(timer))) {
        return false;
    }
    LAWN_PROBES_STOP(lawn, timer);
    lawn_list_remove(lawn_key(lawn), &timer->link);
    timer->link.next = NULL;
    lawn->stops++;
    return true;
}

/* Whatever else knows of timers knows their queues, so the neighbours are all
 * that have to be told. */
void
lawn_moved(struct lawn *lawn, struct lawn_timer *timer)
{
    uintptr_t key = lawn_key(lawn);
    struct lawn_link *prev;

    if (!lawn_pending(timer)) {
        return;
    }
    prev = lawn_list_prev(key, &timer->link);
    LAWN_ASSERT(lawn_list_prev(key, timer->link.next) == prev->next,
                "[P10] a timer was overwritten, or a neighbour of one that was "
                "moved, while it was running");
    prev->next = &timer->link;
    lawn_list_set_prev(key, timer->link.next, &timer->link);
}

void
lawn_set_now(struct lawn *lawn, uint64_t now)
{
    lawn_tell_time(lawn, now);
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
    /* To multiples of the old resolution: later deadlines than the tails have,
     * so timers of one TTL stay together. Otherwise they may be earlier, and
     * blades have to stay sorted [I1]. */
    if (resolution % lawn->resolution != 0) {
        uint64_t latest = lawn_blades_close(&lawn->blades, lawn_key(lawn));

        lawn->closed = latest > lawn->closed ? latest : lawn->closed;
        lawn_habits_reset(lawn);
    }
    lawn->resolution = resolution;
    lawn_habits_keep(lawn);
}

uint64_t
lawn_count(const struct lawn *lawn)
{
    return lawn_starts(lawn) - lawn->stops - lawn->fires;
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
lawn_due(const struct lawn_timer *timer)
{
    return timer->deadline;
}

void
lawn_stats(const struct lawn *lawn, struct lawn_stats *out)
{
    out->starts = lawn_starts(lawn);
    out->stops = lawn->stops;
    out->fires = lawn->fires;
    out->count = lawn_count(lawn);
    out->lone_starts = lawn_lone_starts(lawn);
    out->moved = lawn->tips.moved;
    out->moved_idle = lawn->moved_idle;
    out->looked = lawn->looked;
    out->ahead = lawn->ahead;
    out->live_blades = lawn_blades_live(&lawn->blades);
    out->blades = lawn->blades.count;
    out->bytes = lawn->bytes;
}

uint64_t
lawn_count_lone(const struct lawn *lawn)
{
    size_t lists = lawn_tips_slots(lawn->tips.bits) * lawn->tips.lists;
    uint64_t count = lawn_list_length(&lawn->last);
    size_t i;

    for (i = 0; i < lists; i++) {
        count += lawn_list_length(&lawn->tips.lone[i]);
    }
    return count;
}
