/* few.h - an arbitrary valid lawn of up to four timers in one shape, for one
 * step.
 *
 * The shipped core is included whole, so that its static functions can be
 * called. SHAPE is 1 and eight digits. The first four give the places of the
 * index entries of blades 0 to 3 (an empty blade may have a stale entry), the
 * last four the places of the timers:
 *
 *     0 nowhere   1 to 4 on blade 0 to 3   5 due at LAWN_LAST
 *     6, 7 on level 0 of the index, in slot 0 or 1; a timer there is unqueued
 *     8 on level 1   9 on level 2
 *
 * So the links are known, and everything else is arbitrary: deadlines, clock,
 * base, bound, alert, counters, tuning, the current or previous TTLs of blades,
 * empty slots that are marked, the known slot. The lawn is valid:
 * proof_valid(), which is lawn_check() plus the conditions that it leaves out,
 * is assumed before a step and proved after it. The script "shapes" in this
 * folder prints the shapes.
 *
 * Small here: 4 blades in one set; an index of 1 bit per digit and 3 levels,
 * with one list of unqueued timers per slot. All times in the index agree in
 * the 61 bits above, which are arbitrary, so the base is any 64-bit number. The
 * counters of stops and fires are at most 255, and the next review of the
 * tuning is at most 256 starts away. Fixed here: resolution 1, no stripes, few
 * timers (so nothing is prefetched), release build (so links have no keys).
 *
 * To keep the formulas small, three functions are replaced outside of index.h
 * and blades.h. lawn__index_slot_of() and lawn__index_list_of() are replaced by
 * shorter ones for this few levels and lists; few_parts.c proves them equal.
 * The hash, which with one set only yields the home of the TTL that is started,
 * is replaced by a given home.
 */
#ifndef PROOF_FEW_H
#define PROOF_FEW_H

#include "proof.h"

#include "internal.h"

#define PROOF_TIMERS 4u
#define PROOF_BLADES 4u
#define PROOF_BITS 1u
#define PROOF_LEVELS 3u
#define PROOF_SLOTS (PROOF_LEVELS << PROOF_BITS)

#if !defined HOME
#define HOME 0
#endif

static inline uint32_t
proof_slot(const struct lawn_index *index, uint64_t time)
{
    uint64_t differ = time ^ index->base;

    return differ < 2   ? (uint32_t)time & 1
           : differ < 4 ? 2 + ((uint32_t)(time >> 1) & 1)
                        : 4 + ((uint32_t)(time >> 2) & 1);
}

static inline struct lawn_link *
proof_list(const struct lawn_index *index, uint32_t slot)
{
    return &index->unqueued[slot];
}

static void
proof_tables(struct lawn_index *index)
{
    uint32_t i;

    index->bits = PROOF_BITS;
    index->mask = (1u << PROOF_BITS) - 1;
    index->lists = 1;
    index->list_bits = 0;
    for (i = 0; i < PROOF_LEVELS; i++) {
        index->shift[i] = (uint8_t)i;
        index->level[i] = (uint16_t)(i << PROOF_BITS);
    }
}

#if !defined PROOF_PARTS
#include <index.c>

#define lawn__index_slot_of proof_slot
#define lawn__index_list_of(index, slot, time)                                 \
    ((void)(time), proof_list(index, slot))
#define lawn__index_count_slots(bits) ((void)(bits), (size_t)PROOF_SLOTS)
#define lawn__blades_hash(ttl) ((void)(ttl), (uint64_t)(HOME) << 62)

#include <blades.c>
#include <check.c>
#include <lawn.c>
#include <mow.c>
#include <next.c>
#include <tuning.c>

enum { IDLE, BLADE_0, BLADE_3 = 4, LAST, SLOT_0, SLOT_1, LEVEL_1, LEVEL_2 };

static struct lawn lawn;
static struct lawn_blade proof_blades[PROOF_BLADES];
static struct lawn_link proof_unqueued[PROOF_SLOTS];
static uint16_t proof_first[PROOF_SLOTS];
static struct lawn_index_entry proof_entry[PROOF_BLADES];
static uint64_t proof_occupied[1];
static struct lawn_timer timers[PROOF_TIMERS];
static const uint32_t proof_slot_of[] = {0, 0, 0, 0, 0, 0, 0, 1, 3, 5};
static const uint32_t proof_ten_to[] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
};

/* The high digits that all times in the index share with its base. */
static uint64_t proof_high;

/* A time in the index. */
static uint64_t
proof_any_time(void)
{
    return proof_high | (nondet_u8() & ((1u << PROOF_LEVELS) - 1));
}

/* An arbitrary time, or the one that TIMES gives: 0 for the base, 1 to 4 for
 * the entries of blades, 5 to 8 for the deadlines of timers. */
static uint64_t
proof_time(uint32_t which)
{
#if defined TIMES
    return proof_high | (TIMES / proof_ten_to[8 - which] % 10);
#else
    (void)which;
    return proof_any_time();
#endif
}

/* The place of timer i, and the place of the entry of blade i. */
static unsigned
proof_place(uint32_t i)
{
    return SHAPE / proof_ten_to[3 - i] % 10;
}

static unsigned
proof_entry_place(uint32_t i)
{
    return SHAPE / proof_ten_to[7 - i] % 10;
}

/* Returns the queue of a place. */
static struct lawn_link *
proof_queue(unsigned place)
{
    return place == IDLE      ? NULL
           : place <= BLADE_3 ? &proof_blades[place - BLADE_0].queue
           : place == LAST    ? &lawn.last
                              : &proof_unqueued[proof_slot_of[place]];
}

static void
proof_any_index(void)
{
    uint32_t i;

    proof_tables(&lawn.index);
    lawn.index.unqueued = proof_unqueued;
    lawn.index.occupied = proof_occupied;
    lawn.index.first = proof_first;
    lawn.index.entry = proof_entry;
    for (i = 0; i < PROOF_SLOTS; i++) {
        proof_first[i] = LAWN_INDEX_NONE;
        lawn__list_init(0, &proof_unqueued[i]);
    }
    lawn.index.base = proof_time(0);
#if defined MARKS
    proof_occupied[0] = MARKS;
#else
    proof_occupied[0] = nondet_u8();
#endif
    lawn.index.words = proof_occupied[0] != 0;
#if defined KNOWN
    lawn.index.known = KNOWN == IDLE ? LAWN_INDEX_NONE : proof_slot_of[KNOWN];
    lawn.index.known_queue = proof_queue(KNOWN_QUEUE);
    lawn.index.known_time = KNOWN == IDLE ? 0 : proof_high | KNOWN_TIME;
    lawn.front = proof_queue(FRONT);
#else
    lawn.index.known = nondet_bool() ? nondet_u8() : LAWN_INDEX_NONE;
    lawn.index.known_time = nondet_u64();
#endif
    lawn.index.moved = nondet_u64();
}

/* An arbitrary TTL, or the one that TTLS gives for a blade: 0 for a closed
 * blade, 8 for any long TTL. */
static uint64_t
proof_any_ttl(uint32_t i)
{
#if defined TTLS
    uint32_t digit = TTLS / proof_ten_to[3 - i] % 10;

    return digit == 0 ? LAWN_NEVER : digit < 8 ? digit : (8u << 8) + i;
#else
    (void)i;
    return nondet_u64();
#endif
}

static void
proof_any_blades(void)
{
    uint32_t i;

    lawn.blades.all = proof_blades;
    lawn.blades.count = PROOF_BLADES;
    lawn.blades.homes = PROOF_BLADES;
    lawn.blades.shift = 62;
    for (i = 0; i < PROOF_BLADES; i++) {
        lawn__list_init(0, &proof_blades[i].queue);
        proof_blades[i].indexed_at = LAWN_NEVER;
        proof_blades[i].ttl = proof_any_ttl(i);
    }
    lawn__list_init(0, &lawn.last);
}

static void
proof_any_clock(uint64_t now)
{
    lawn.resolution = 1;
#if defined CLOSED
    lawn.closed = CLOSED;
#else
    lawn.closed = nondet_u64();
#endif
#if defined PASSED
    lawn.index.passed = PASSED;
    lawn.index.passed_at = lawn.index.base;
#else
    lawn.index.passed = LAWN_INDEX_NONE; /* other values take too much memory */
    lawn.index.passed_at = 0;
#endif
    lawn.tuning.trial = nondet_bool();
    lawn.tuning.bypass = nondet_bool();
    lawn.tuning.left = nondet_u64();
    lawn.tuning.misses = nondet_u64();
    lawn.tuning.seen_starts = nondet_u64();
    lawn.tuning.seen_misses = nondet_u64();
    lawn.plain_mask = lawn.tuning.trial || lawn.tuning.bypass ? 0 : UINT64_MAX;
    lawn__move_clock(&lawn, now);
    lawn.starts = UINT64_MAX - nondet_u8();
    lawn.misses = nondet_u64();
    lawn.stops = nondet_u8();
    lawn.fires = nondet_u8();
    /* starts approaches 0 by counting up: see tuning.h. */
    lawn.tuning.starts = lawn.stops + lawn.fires - lawn.starts;
#if defined BOUND
    lawn.tuning.review_due = ASKED;
    lawn.bound = proof_high | BOUND;
    lawn.wake = ASKED ? 0 : lawn.bound;
#else
    lawn.tuning.review_due = nondet_bool();
    lawn.bound = nondet_u64();
    lawn.wake = nondet_u64();
#endif
    lawn.alert = nondet_u64();
}

static void
proof_any_timer(uint32_t number, unsigned place)
{
    struct lawn_timer *timer = &timers[number];

    timer->deadline = place == IDLE   ? nondet_u64()
                      : place == LAST ? LAWN_LAST
                                      : proof_time(5 + number);
    if (place != IDLE) {
        lawn.tuning.starts++;
        lawn__list_append(0, proof_queue(place), &timer->link);
    }
}

/* The same links as lawn__index_insert() sets. */
static void
proof_any_entry(uint32_t number, unsigned place)
{
    uint32_t slot = proof_slot_of[place];
    uint16_t second = proof_first[slot];

    if (place == IDLE) {
        return;
    }
    proof_blades[number].indexed_at = proof_time(1 + number);
    proof_entry[number].next = second;
    proof_entry[number].prev = LAWN_INDEX_NONE;
    proof_first[slot] = (uint16_t)number;
    if (second != LAWN_INDEX_NONE) {
        proof_entry[second].prev = (uint16_t)number;
    }
    lawn.index.count++;
}

/* A marked slot is ahead of the base or contains it. */
static bool
proof_ahead(void)
{
    uint64_t base = lawn.index.base;
    uint32_t marked = 1u << 1;

    marked |= (base & 1) == 0 ? 1u << 0 : 0;
    marked |= (base & 2) == 0 ? 1u << 3 : 0;
    marked |= (base & 4) == 0 ? 1u << 5 : 0;
    return (proof_occupied[0] & ~(uint64_t)marked) == 0 &&
           lawn.index.words == (proof_occupied[0] != 0);
}

/* The known time of a slot was found there, at this base or at an earlier
 * one. */
static bool
proof_known(void)
{
    const struct lawn_index *index = &lawn.index;

    return index->known == LAWN_INDEX_NONE
               ? index->known_time == 0
               : index->known < PROOF_SLOTS &&
                     index->known_time <=
                         lawn__index_slot_end(index, index->known);
}

static bool
proof_blade(const struct lawn_blade *blade)
{
    return blade->ttl != 0 &&
           (blade->ttl != LAWN_NEVER || lawn__list_empty(&blade->queue) ||
            lawn__link_deadline(blade->queue.prev) <= lawn.closed);
}

static bool
proof_valid(void)
{
    uint32_t i;

    for (i = 0; i < PROOF_BLADES; i++) {
        if (!proof_blade(&proof_blades[i])) {
            return false;
        }
    }
    return proof_ahead() && proof_known() &&
           !(lawn.tuning.trial && lawn.tuning.bypass) &&
           lawn.plain == ((LAWN_LAST - lawn.now) & lawn.plain_mask) &&
           lawn_check(&lawn, NULL);
}

static void
proof_any_high(void)
{
#if defined HIGH
    proof_high = HIGH;
#else
    proof_high = nondet_u64() >> PROOF_LEVELS << PROOF_LEVELS;
#endif
}

static void
proof_any_lawn(uint64_t now)
{
    uint32_t i;

    proof_any_index();
    proof_any_blades();
    proof_any_clock(now);
    for (i = 0; i < PROOF_TIMERS; i++) {
        proof_any_timer(i, proof_place(i));
        proof_any_entry(i, proof_entry_place(i));
    }
    ASSUME(proof_valid());
}
#endif

#endif
