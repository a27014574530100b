/* one.h - an arbitrary valid lawn of one timer, for one step.
 *
 * The shipped core is included whole, so that its static functions can be
 * called. The timer is idle, on blade 0, or alone in the index. Its deadline,
 * clock, base, bound, counters, habits, and the TTLs that blades have or were
 * left with are arbitrary, as are the tip of blade 0, which may have been left
 * over, and a slot that may be marked for nothing; all within the invariant.
 *
 * What is small: 4 blades, one set, so every TTL may stand on each, wherever its
 * hash leads; an index of 1 bit per digit and 3 levels. All times in it agree
 * in the 61 digits above, which are arbitrary, so the base is any 64-bit number;
 * that slots are told rightly on all levels is proved by tips_slots.c. What is
 * fixed: resolution 1, no stripes, one list of lone timers per slot, nothing due
 * at LAWN_LAST before the step, blades 1 to 3 empty and without tips, no slot
 * known, no front, the alert as lawn_set_bound() sets it; release build, so no keys in the links.
 *
 * That the states built here are all valid is by construction; no proof of its
 * own shows it.
 */
#ifndef PROOF_ONE_H
#define PROOF_ONE_H

#include "proof.h"

#include <blades.c>
#include <habits.c>
#include <lawn.c>
#include <tips.c>

#define PROOF_BLADES 4u
#define PROOF_BITS 1u
#define PROOF_LEVELS 3u
#define PROOF_SLOTS (PROOF_LEVELS << PROOF_BITS)

static size_t
proof_slots(unsigned bits)
{
    return (size_t)PROOF_LEVELS << bits;
}

/* It need not look at levels that are not there. */
#define lawn_tips_slots proof_slots
#include <check.c>
#undef lawn_tips_slots

static struct lawn lawn;
static struct lawn_blade proof_blades[PROOF_BLADES];
static struct lawn_link proof_lone[PROOF_SLOTS];
static uint16_t proof_first[PROOF_SLOTS];
static struct lawn_tip proof_tip[PROOF_BLADES];
static uint64_t proof_occupied[1];
static struct lawn_timer timer;

static void
proof_empty_index(void)
{
    uint32_t i;

    lawn.tips.lone = proof_lone;
    lawn.tips.occupied = proof_occupied;
    lawn.tips.first = proof_first;
    lawn.tips.tip = proof_tip;
    lawn.tips.base = nondet_u64();
    lawn.tips.known = LAWN_TIPS_NONE;
    lawn.tips.bits = PROOF_BITS;
    lawn.tips.mask = (1u << PROOF_BITS) - 1;
    lawn.tips.lists = 1;
    lawn.tips.list_bits = 0;
    for (i = 0; i < 64; i++) {
        lawn.tips.shift[i] = (uint8_t)(i / PROOF_BITS * PROOF_BITS);
        lawn.tips.level[i] = (uint16_t)(i / PROOF_BITS << PROOF_BITS);
    }
    for (i = 0; i < PROOF_SLOTS; i++) {
        proof_first[i] = LAWN_TIPS_NONE;
        proof_lone[i].next = &proof_lone[i];
        proof_lone[i].prev = &proof_lone[i];
    }
}

static void
proof_empty_blades(void)
{
    uint32_t i;
    uint32_t j;

    lawn.blades.all = proof_blades;
    lawn.blades.count = PROOF_BLADES;
    lawn.blades.homes = PROOF_BLADES;
    lawn.blades.shift = 62;
    lawn.blades.stripe = 0;
    for (i = 0; i < PROOF_BLADES; i++) {
        lawn_list_init(0, &proof_blades[i].queue);
        proof_blades[i].tip = LAWN_NEVER;
        proof_blades[i].ttl = nondet_u64();
        ASSUME(proof_blades[i].ttl != 0);
        for (j = 0; j < i; j++) {
            ASSUME(proof_blades[i].ttl != proof_blades[j].ttl ||
                   proof_blades[i].ttl == LAWN_NEVER);
        }
    }
    lawn_list_init(0, &lawn.last);
}

static void
proof_any_clock(void)
{
    lawn.resolution = 1;
    lawn.mowing = NULL;
    lawn.front = NULL;
    lawn.closed = nondet_u64();
    lawn.now = nondet_u64();
    ASSUME(lawn.now >= lawn.tips.base && lawn.now <= LAWN_LAST);
    lawn.habits.asked = nondet_bool();
    lawn.habits.trial = nondet_bool();
    lawn.habits.alone = nondet_bool();
    ASSUME(!lawn.habits.trial || !lawn.habits.alone);
    lawn.habits.left = nondet_u64();
    lawn.habits.misses = nondet_u64();
    lawn.habits.seen_starts = nondet_u64();
    lawn.habits.seen_misses = nondet_u64();
    lawn.plain_mask = lawn.habits.trial || lawn.habits.alone ? 0 : UINT64_MAX;
    lawn_move_clock(&lawn, lawn.now);
    lawn.starts = nondet_u64();
    lawn.misses = nondet_u64();
    lawn.stops = nondet_u64();
    lawn.fires = nondet_u64();
    lawn.habits.starts = lawn.stops + lawn.fires - lawn.starts;
    lawn_set_bound(&lawn, nondet_u64());
}

/* A time that the index may hold. */
static uint64_t
proof_any_time(void)
{
    uint64_t time = nondet_u64();

    ASSUME(time >= lawn.tips.base && time >= lawn.bound && time <= LAWN_LAST);
    ASSUME((time ^ lawn.tips.base) >> (PROOF_LEVELS * PROOF_BITS) == 0);
    return time;
}

enum { PROOF_IDLE, PROOF_ON_BLADE, PROOF_ALONE };

static void
proof_any_timer(uint8_t place)
{
    struct lawn_blade *blade = &proof_blades[0];

    timer.link.next = NULL;
    timer.deadline = proof_any_time();
    if (place == PROOF_ON_BLADE) {
        ASSUME(blade->ttl == LAWN_NEVER
                   ? timer.deadline <= lawn.closed
                   : timer.deadline <= lawn_ticks_after(lawn.now, blade->ttl));
        lawn_list_append(0, &blade->queue, &timer.link);
    } else if (place == PROOF_ALONE) {
        (void)lawn_tips_add(&lawn.tips, 0, &timer);
    }
    if (place == PROOF_ON_BLADE || nondet_bool()) {
        uint64_t tip = proof_any_time();

        ASSUME(place != PROOF_ON_BLADE || tip <= timer.deadline);
        lawn_tips_enter(&lawn.tips, proof_blades, 0, tip);
    }
    lawn.habits.starts += place != PROOF_IDLE;
}

/* Tells whether the timer runs. */
static bool
proof_any_lawn(void)
{
    uint8_t place = nondet_u8();
    uint32_t slot = nondet_u32();

    ASSUME(place <= PROOF_ALONE);
    proof_empty_index();
    proof_empty_blades();
    proof_any_clock();
    proof_any_timer(place);
    if (slot < PROOF_SLOTS) {
        lawn_tips_mark(&lawn.tips, slot);
    }
    return place != PROOF_IDLE;
}

#endif
