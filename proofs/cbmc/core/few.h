/* few.h - an arbitrary valid lawn of up to four timers in one shape, for one
 * step.
 *
 * The shipped core is included whole, so that its static functions can be
 * called. SHAPE is 1 and eight digits. The first four give the levels of the
 * index entries of blades 0 to 3 (an empty blade may have a stale entry), the
 * last four the places of the timers:
 *
 *     0 nowhere   1 to 4 on blade 0 to 3   5 due at LAWN_LAST
 *     6, 7, 8 in the index on level 0, 1, 2; a timer there is unqueued
 *
 * TIMES gives the times, so that the slots and all links are known: 0x1 and
 * nine digits: the lowest hexadecimal digit of the base, of the four entries,
 * and of the four timers. HIGH is the part above that digit, the same in all
 * of these times. A timer may be on a higher level than the lowest that reaches
 * it, as in a slot that is opened later. Of unqueued timers with the same
 * deadline, those on a higher level, and those earlier in a list, have the
 * lower numbers: they were started earlier.
 *
 * The flags MARKS and EARLY give empty slots that are marked, and slots with an
 * earliest time that is too early. Everything else is arbitrary, unless a flag
 * gives it: clock, bound, counters, tuning, the current or previous TTLs of
 * blades. The lawn is valid: proof_valid(), which is lawn_check() plus the
 * conditions that it leaves out, is assumed before a step and proved after it.
 * The script "shapes" in this folder prints the shapes.
 *
 * Small here: 4 blades in one set; an index of 3 levels of 4 slots, each twice
 * as long as those of the level below, with one list of unqueued timers per
 * slot. The counters of stops and fires are at most 255, and lawn->starts
 * reaches 0 after at most 256 starts. With the flag FIRES, only the number of
 * fires is unknown; with STOPS, only that of stops, which is any 64-bit number.
 * Fixed here: resolution 1, no classes, no stripes, few timers (so nothing is
 * prefetched), release build (so links have no keys).
 *
 * Two functions are replaced. The number of slots is a constant, since this
 * index is smaller than any that can be made. The hash of every TTL selects the
 * blade HOME, which a flag gives: with one set of blades, the hash determines
 * only the home of the TTL that is started.
 */
#ifndef PROOF_FEW_H
#define PROOF_FEW_H

#include "proof.h"

#include "internal.h"

#define PROOF_TIMERS 4u
#define PROOF_BLADES 4u
#define PROOF_LEVELS 3u
#define PROOF_SLOT_BITS 2u
#define PROOF_SLOTS (PROOF_LEVELS << PROOF_SLOT_BITS)

#if !defined HOME
#define HOME 0
#endif

#include <index.c>

#define lawn__index_count_slots(bits) ((void)(bits), (size_t)PROOF_SLOTS)
#define lawn__blades_hash(ttl) ((void)(ttl), (uint64_t)(HOME) << 62)

#include <blades.c>
#include <check.c>
#include <class_heap.c>
#include <class_mow.c>
#include <lawn.c>
#include <mow.c>
#include <next.c>
#include <tuning.c>

#include "any_tuning.h"

enum { IDLE, BLADE_0, BLADE_3 = 4, LAST, LEVEL_0 };

static struct lawn lawn;
static struct lawn_blade proof_blades[PROOF_BLADES];
static struct lawn_link proof_unqueued[PROOF_SLOTS];
static uint16_t proof_first[PROOF_SLOTS];
static uint64_t proof_earliest[PROOF_SLOTS];
static struct lawn_index_entry proof_entry[PROOF_BLADES];
static uint64_t proof_occupied[PROOF_LEVELS];
static struct lawn_timer timers[PROOF_TIMERS];
static const uint32_t proof_ten_to[] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
};

/* The time that TIMES gives: 0 for the base, 1 to 4 for the entries of blades,
 * 5 to 8 for the deadlines of timers. */
static uint64_t
proof_time(uint32_t which)
{
    return HIGH | (((uint64_t)TIMES >> (4 * (8 - which))) & 15);
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

/* Returns the slot of a place in the index. */
static uint32_t
proof_slot(unsigned place, uint64_t time)
{
    return lawn__index_slot_at(&lawn.index, place - LEVEL_0, time);
}

/* Returns the queue of a place. */
static struct lawn_link *
proof_queue(unsigned place, uint64_t time)
{
    return place <= BLADE_3 ? &proof_blades[place - BLADE_0].queue
           : place == LAST  ? &lawn.last
                            : &proof_unqueued[proof_slot(place, time)];
}

static void
proof_any_index(void)
{
    struct lawn_index *index = &lawn.index;
    uint64_t base = proof_time(0);

    index->bits = PROOF_SLOT_BITS - 1;
    index->slot_bits = PROOF_SLOT_BITS;
    index->mask = (1u << PROOF_SLOT_BITS) - 1;
    index->words = 1;
    index->lists = 1;
    index->list_shift = 32;
    for (uint32_t i = 0; i < 64; i++) {
        index->level[i] = (uint8_t)(i < PROOF_LEVELS ? i : PROOF_LEVELS - 1);
    }
    for (uint32_t i = 1; i < PROOF_LEVELS; i++) {
        index->reach[i] = (base >> i) + 2 > UINT64_MAX >> i
                              ? LAWN_NEVER
                              : ((base >> i) + 2) << i;
    }
    index->base = base;
    index->unqueued = proof_unqueued;
    index->earliest = proof_earliest;
    index->occupied = proof_occupied;
    index->first = proof_first;
    index->entry = proof_entry;
    index->prepare = nondet_u64();
    index->prepared = nondet_u64();
    index->moved = nondet_u64();
    for (uint32_t i = 0; i < PROOF_SLOTS; i++) {
        proof_first[i] = LAWN_INDEX_NONE;
        lawn__list_init(0, &proof_unqueued[i]);
    }
}

/* Returns the earliest time of a slot: the earliest of its timers and entries,
 * or the first tick of the slot that is not before the base. */
static uint64_t
proof_first_time(uint32_t slot, bool early)
{
    uint64_t start = lawn__index_slot_start(&lawn.index, slot);
    uint64_t first = LAWN_NEVER;

    for (uint32_t i = 0; i < PROOF_TIMERS; i++) {
        uint64_t time = proof_time(5 + i);
        uint64_t entry = proof_time(1 + i);

        if (proof_place(i) >= LEVEL_0 && time < first &&
            proof_slot(proof_place(i), time) == slot) {
            first = time;
        }
        if (proof_entry_place(i) != IDLE && entry < first &&
            proof_slot(proof_entry_place(i), entry) == slot) {
            first = entry;
        }
    }
    if (early || first == LAWN_NEVER) {
        first = start > lawn.index.base ? start : lawn.index.base;
    }
    return first;
}

/* Marks the slots in use, and those that MARKS gives. EARLY gives the slots
 * whose earliest time is too early; with LOW the horizon is too early. */
static void
proof_any_marks(void)
{
#if !defined MARKS
#define MARKS 0u
#endif
#if !defined EARLY
#define EARLY 0u
#endif
    lawn.index.horizon = LAWN_NEVER;
    for (uint32_t i = 0; i < PROOF_SLOTS; i++) {
        uint32_t level = i >> PROOF_SLOT_BITS;
        uint32_t digit = i & lawn.index.mask;

        proof_earliest[i] = LAWN_NEVER;
        if (proof_first[i] != LAWN_INDEX_NONE ||
            !lawn__list_empty(&proof_unqueued[i]) || (MARKS >> i & 1) != 0) {
            proof_earliest[i] = proof_first_time(i, (EARLY >> i & 1) != 0);
            proof_occupied[level] |= UINT64_C(1) << digit;
            if (level > 0) {
                lawn.index.levels |= 1u << level;
                if (proof_earliest[i] < lawn.index.horizon) {
                    lawn.index.horizon = proof_earliest[i];
                }
            }
        }
    }
#if defined LOW
    lawn.index.horizon = 0;
#endif
}

/* An arbitrary TTL, or the one that TTLS gives for a blade: 8 for any long
 * TTL. */
static uint64_t
proof_any_ttl(uint32_t i)
{
#if defined TTLS
    uint32_t digit = TTLS / proof_ten_to[3 - i] % 10;

    return digit < 8 ? digit : (8u << 8) + i;
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
    lawn.classes.next = LAWN_NEVER;
    proof_any_tuning(&lawn);
    lawn.tuning.many = false;
    lawn__move_clock(&lawn, now);
#if defined COUNTED /* given, so that the lawn is known to be small */
    lawn.starts = UINT64_MAX - 100;
    lawn.stops = 7;
    lawn.fires = 9;
    lawn.index.prepare = 0;
#elif defined STOPS
    lawn.starts = UINT64_MAX - 100;
    lawn.stops = nondet_u64();
    lawn.fires = 9;
#elif defined FIRES
    lawn.starts = UINT64_MAX - 100;
    lawn.stops = 7;
    lawn.fires = nondet_u8();
#else
    lawn.starts = UINT64_MAX - nondet_u8();
    lawn.stops = nondet_u8();
    lawn.fires = nondet_u8();
#endif
    /* starts approaches 0 by counting up: see tuning.h. */
    lawn.tuning.starts = lawn.stops + lawn.fires - lawn.starts;
#if defined BOUND
    lawn.tuning.review_due = ASKED;
    lawn.bound = HIGH | BOUND;
    lawn.wake = ASKED ? 0 : lawn.bound;
#else
    lawn.tuning.review_due = nondet_bool();
    lawn.bound = nondet_u64();
    lawn.wake = nondet_u64();
#endif
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
        lawn__list_append(0, proof_queue(place, timer->deadline), &timer->link);
    }
}

/* The same links as lawn__index_insert() sets. */
static void
proof_any_entry(uint32_t number, unsigned place)
{
    if (place == IDLE) {
        return;
    }
    uint64_t time = proof_time(1 + number);
    uint32_t slot = proof_slot(place, time);
    uint16_t second = proof_first[slot];

    proof_blades[number].indexed_at = time;
    proof_entry[number].slot = (uint16_t)slot;
    proof_entry[number].next = second;
    proof_entry[number].prev = LAWN_INDEX_NONE;
    proof_first[slot] = (uint16_t)number;
    if (second != LAWN_INDEX_NONE) {
        proof_entry[second].prev = (uint16_t)number;
    }
    lawn.index.count++;
}

/* The tables of the index agree with its base, and the marks with the earliest
 * times. */
static bool
proof_index(void)
{
    const struct lawn_index *index = &lawn.index;
    uint32_t levels = 0;

    for (uint32_t i = 1; i < PROOF_LEVELS; i++) {
        uint64_t slot = (index->base >> i) + 2;

        levels |= proof_occupied[i] != 0 ? 1u << i : 0;
        if (index->reach[i] !=
            (slot > UINT64_MAX >> i ? LAWN_NEVER : slot << i)) {
            return false;
        }
    }
    return index->levels == levels && index->reach[0] == 0;
}

/* Returns whether the lawn is valid: lawn_check() holds, and so do conditions
 * that it leaves out. One of them is that the earliest time of a marked slot is
 * in the range of the slot and not before the base. */
static bool
proof_valid(void)
{
    for (uint32_t i = 0; i < PROOF_BLADES; i++) {
        if (proof_blades[i].ttl == 0) {
            return false;
        }
    }
    for (uint32_t i = 0; i < PROOF_SLOTS; i++) {
        if (proof_earliest[i] != LAWN_NEVER &&
            !is_in_slot(&lawn.index, i, proof_earliest[i])) {
            return false;
        }
    }
    return proof_index() && lawn.settled == 0 && proof_tuning(&lawn) &&
           lawn.plain == ((LAWN_LAST - lawn.now) & lawn.plain_mask) &&
           lawn_check(&lawn, NULL);
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
    proof_any_marks();
    ASSUME(proof_valid());
}

#endif
