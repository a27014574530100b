/* two.h - an arbitrary valid lawn of two timers in one shape, for one step.
 *
 * The shipped core is included whole, so that its static functions can be
 * called. SHAPE is 1 and four digits. Two say where the tips of blades 0 and 1
 * stand, which may have been left over, two where the timers do:
 *
 *     0 nowhere   1 on blade 0   2 on blade 1   3 due at LAWN_LAST
 *     4, 5 on level 0 of the index, in slot 0 or 1; a timer there is alone
 *     6 on level 1   7 on level 2
 *
 * so the links are known, and all else is arbitrary: deadlines, clock, base,
 * bound, counters, habits, the TTLs that blades have or were left with, and a
 * slot that may be marked for nothing; all within the invariant, which is not
 * only built: lawn_check() is assumed of it, so that the states are valid indeed.
 *
 * What is small: 4 blades, one set, so every TTL may stand on each, wherever its
 * hash leads; an index of 1 bit per digit and 3 levels. All times in it agree
 * in the 61 digits above, which are arbitrary, so the base is any 64-bit number;
 * that slots are told rightly on all levels is proved by tips_slots.c. What is
 * fixed: resolution 1, no stripes, one list of lone timers per slot, blades 2
 * and 3 empty and without tips, no slot known, no front; release build, so no
 * keys in the links.
 */
#ifndef PROOF_TWO_H
#define PROOF_TWO_H

#include "proof.h"

#include <blades.c>
#include <habits.c>
#include <lawn.c>
#include <mow.c>
#include <next.c>
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

enum { IDLE, BLADE_0, BLADE_1, LAST, SLOT_0, SLOT_1, LEVEL_1, LEVEL_2 };

static struct lawn lawn;
static struct lawn_blade proof_blades[PROOF_BLADES];
static struct lawn_link proof_lone[PROOF_SLOTS];
static uint16_t proof_first[PROOF_SLOTS];
static struct lawn_tip proof_tip[PROOF_BLADES];
static uint64_t proof_occupied[1];
static struct lawn_timer timer_0;
static struct lawn_timer timer_1;
static const uint32_t proof_slot_of[] = {0, 0, 0, 0, 0, 1, 3, 5};

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
        lawn_list_init(0, &proof_lone[i]);
    }
}

static void
proof_empty_blades(void)
{
    uint32_t i;

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
    lawn.habits.many = false;
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

static void
proof_any_timer(struct lawn_timer *timer, unsigned place)
{
    timer->link.next = NULL;
    timer->deadline = nondet_u64();
    if (place == IDLE) {
        return;
    }
    lawn.habits.starts++;
    if (place == LAST) {
        ASSUME(timer->deadline == LAWN_LAST);
        lawn_list_append(0, &lawn.last, &timer->link);
        return;
    }
    ASSUME((timer->deadline ^ lawn.tips.base) >> PROOF_LEVELS == 0);
    if (place >= SLOT_0) {
        lawn_list_append(0, &proof_lone[proof_slot_of[place]], &timer->link);
        lawn_tips_mark(&lawn.tips, proof_slot_of[place]);
        return;
    }
    ASSUME(proof_blades[place - 1].ttl != LAWN_NEVER ||
           timer->deadline <= lawn.closed);
    lawn_list_append(0, &proof_blades[place - 1].queue, &timer->link);
}

/* A tip of a blade: as in lawn_tips_enter(). */
static void
proof_any_tip(uint32_t number, unsigned place)
{
    uint32_t slot = proof_slot_of[place];
    uint16_t second = proof_first[slot];

    if (place == IDLE) {
        return;
    }
    proof_blades[number].tip = nondet_u64();
    ASSUME((proof_blades[number].tip ^ lawn.tips.base) >> PROOF_LEVELS == 0);
    proof_tip[number].next = second;
    proof_tip[number].prev = LAWN_TIPS_NONE;
    proof_first[slot] = (uint16_t)number;
    if (second != LAWN_TIPS_NONE) {
        proof_tip[second].prev = (uint16_t)number;
    }
    lawn_tips_mark(&lawn.tips, slot);
    lawn.tips.count++;
}

static void
proof_any_lawn(void)
{
    uint32_t slot = nondet_u32();

    proof_empty_index();
    proof_empty_blades();
    proof_any_clock();
    proof_any_timer(&timer_0, SHAPE / 10 % 10);
    proof_any_timer(&timer_1, SHAPE % 10);
    proof_any_tip(0, SHAPE / 1000 % 10);
    proof_any_tip(1, SHAPE / 100 % 10);
    if (slot < PROOF_SLOTS) {
        lawn_tips_mark(&lawn.tips, slot);
    }
    ASSUME(lawn_check(&lawn, NULL));
}

#endif
