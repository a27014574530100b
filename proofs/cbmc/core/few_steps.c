/* few_steps.c - one step from an arbitrary valid lawn of up to four timers: see
 * few.h. The invariant is lawn_check() and a little more; it is assumed before
 * a step and proved after it. Each proof is run for many lawns: the script
 * "shapes" in this folder prints them, and explains how they are chosen. Every
 * sixteenth run also checks each memory access, except the runs of few_any_*.
 *
 * @flags -DNDEBUG -Iproofs/cbmc/core --object-bits 6 --no-standard-checks
 *     --slice-formula --unwind 7
 * @without --bounds-check: checked in some of the runs
 * @without --pointer-check: the same
 * @without --pointer-overflow-check: the same
 * @without --undefined-shift-check: the same
 * @without --signed-overflow-check: the same
 * @without --div-by-zero-check: the same
 * @without --unsigned-overflow-check: counters count up to 0 and hashes wrap on
 *     purpose
 * @without --conversion-check: hashes are truncated on purpose
 *
 * @proof few_stop
 * @each shapes few_stop
 * @covers lawn_stop lawn_pending
 * A stop returns whether the timer was running. Afterward the timer is idle and
 * not counted [P3] [P5].
 *
 * @proof few_now
 * @each shapes few_now
 * @covers lawn_set_now lawn__advance_clock
 * The clock is set to any time: it never goes back, all timers keep running
 * [P3] [P9].
 *
 * @proof few_start
 * @each shapes few_start
 * @covers lawn_start insert_timer find_or_claim_blade append_to_blade
 *     insert_unqueued note_early_timer insert_at_last_tick lower_bound
 *     count_miss
 * A start of an idle or running timer that finds a blade, claims one, or gets
 * none. Afterward the timer runs, is due after its TTL, is behind all others of
 * its queue with the same deadline, and is counted once; the other timers have
 * not changed [P1] [P3] [P4] [P5]. Clock, TTLs and tuning are given.
 *
 * @proof few_tick
 * @each shapes few_tick
 * @covers fire_tick fire_blade fire_in_turn fire_closed
 *     fire_timer
 * @unreached fire_tick: $fetch_ahead($lawn, $slot, $tick, $mowing->left);
 *     -- only reads, and of more slots than this index has
 * The round of a mow that fires a due slot of level 0; the callback does
 * nothing. Only due timers fire, each once, in the order of their queue; all
 * due timers fire unless the budget is used up; all are counted [P1] [P2] [P3]
 * [P4] [P6]. Budgets of 1 to 5; blades drained in turn or one after the other.
 *
 * @proof few_open
 * @each shapes few_open
 * @covers open_slot choose_base move_unqueued_down
 * The round of a mow that opens a slot of a higher level: the base moves to a
 * time in the slot, no timer fires, all timers keep running [P1] [P3] [I4].
 *
 * @proof few_mow
 * @each shapes few_mow
 * @flags --unwindset mow_until.0:20
 * @covers lawn_mow mow_slow mow_until index_last_tick
 * @unreached mow_slow: return 0; -- the callback does not mow
 * A whole mow: as few_tick, and timers fire by deadline; the clock is right
 * afterward [P1] [P2] [P3] [P4] [P6] [P9].
 *
 * @proof few_next
 * @each shapes few_next
 * @covers lawn_next find_earliest is_front_valid scan_slot
 *     scan_list scan_blades is_known_valid scan_known
 * @unreached scan_slot: $index->known = $slot; $index->known_time =
 *     $scan.next; $index->known_queue = $scan.queue; lawn__set_bound($lawn,
 *     $lawn->bound); -- takes eight entries in a slot
 * lawn_next() is exact, with or without a front or a known slot. So is the
 * bound afterward. All timers keep running [P2] [P3].
 *
 * @proof few_any_start
 * @each shapes few_any_start
 * @covers append_to_blade lower_bound
 * With any times: the last part of a start of an idle timer, after it found or
 * claimed blade 0. The timer is appended and counted [P3] [P4] [P5]. Assumed:
 * what blades_find and blades_claim prove about the blade, and that the
 * deadline is within the three levels and before LAWN_LAST.
 *
 * @proof few_any_tick
 * @each shapes few_any_tick
 * @covers fire_timer
 * As few_tick, for unqueued timers, with any times.
 */
#include "few.h"

#if !defined TIMER
#define TIMER 0
#endif
#if !defined TTL
#define TTL 1
#endif
#if !defined NOW
#define NOW 0
#endif
#if !defined TUNING
#define TUNING 0
#endif
#if !defined SLOT
#define SLOT 7
#endif
#if !defined BUDGET
#define BUDGET 1
#endif
#if !defined LATER
#define LATER 0
#endif

static uint64_t
any_now(void)
{
    uint64_t now = nondet_u64();

    ASSUME(now <= LAWN_LAST);
    return now;
}

void
few_stop(void)
{
    struct lawn_timer *timer = &timers[TIMER];

    proof_any_high();
    proof_any_lawn(any_now());
    uint64_t count = lawn_count(&lawn);
    bool ran = lawn_pending(timer);

    PROVE(lawn_stop(&lawn, timer) == ran, "[P5] returns whether it ran");
    PROVE(!lawn_pending(timer), "[P5] it is idle");
    PROVE(lawn_count(&lawn) == count - ran, "[P3] it is not counted");
    PROVE(proof_valid(), "the lawn is valid");
    PROOF_END();
}

void
few_now(void)
{
    uint64_t now = nondet_u64();

    proof_any_high();
    proof_any_lawn(any_now());
    uint64_t count = lawn_count(&lawn);
    uint64_t before = lawn.now;

    lawn_set_now(&lawn, now);
    PROVE(lawn.now >= before && lawn.now <= LAWN_LAST, "[P9] never back");
    PROVE(lawn.now == before || lawn.now == now || lawn.now == LAWN_LAST,
          "[P9] as set");
    PROVE(lawn_count(&lawn) == count, "[P3] all run on");
    PROVE(proof_valid(), "the lawn is valid");
    PROOF_END();
}

/* The state of each timer before the step. */
static uint64_t deadlines[PROOF_TIMERS];
static bool ran[PROOF_TIMERS];

static void
remember(void)
{
    uint32_t i;

    for (i = 0; i < PROOF_TIMERS; i++) {
        deadlines[i] = timers[i].deadline;
        ran[i] = lawn_pending(&timers[i]);
    }
}

/* Returns whether all timers but one are unchanged. */
static bool
same_but(uint32_t one)
{
    uint32_t i;

    for (i = 0; i < PROOF_TIMERS; i++) {
        if (i != one && (timers[i].deadline != deadlines[i] ||
                         lawn_pending(&timers[i]) != ran[i])) {
            return false;
        }
    }
    return true;
}

/* Returns whether a timer behind this one in its queue has the same
 * deadline. */
static bool
overtakes(const struct lawn_timer *timer)
{
    const struct lawn_link *link = timer->link.next;
    uint32_t steps;
    uint32_t i;

    for (steps = 0; steps < PROOF_TIMERS; steps++) {
        for (i = 0; i < PROOF_TIMERS && link != &timers[i].link; i++) {
        }
        if (i == PROOF_TIMERS) {
            return false;
        }
        if (timers[i].deadline == timer->deadline) {
            return true;
        }
        link = link->next;
    }
    return true;
}

void
few_start(void)
{
    struct lawn_timer *timer = &timers[TIMER];
    uint64_t ttl = TTL;

    proof_any_high();
    proof_any_lawn(proof_high + NOW);
    lawn.tuning.trial = TUNING == 1;
    lawn.tuning.bypass = TUNING == 2;
    lawn.plain_mask = TUNING == 0 ? UINT64_MAX : 0;
    lawn__move_clock(&lawn, lawn.now);
#if defined MISSES
    lawn.misses = MISSES;
#endif
    uint64_t count = lawn_count(&lawn);
    uint64_t due = lawn__ticks_after(lawn.now, ttl);

    remember();
    lawn_start(&lawn, timer, ttl);
    PROVE(lawn_pending(timer), "[P5] it runs");
    PROVE(timer->deadline == due, "[P1] the timer is due after its TTL");
    PROVE(!overtakes(timer), "[P4] behind the others of its deadline");
    PROVE(same_but(TIMER), "[P5] the other timers are unchanged");
    PROVE(lawn_count(&lawn) == count + !ran[TIMER], "[P3] it is counted");
    PROVE(proof_valid(), "the lawn is valid");
    PROOF_END();
}

/* How many timers fired, and the rank of each among them; 0: did not fire. */
static unsigned fires;
static unsigned order[PROOF_TIMERS];

static void
fire(struct lawn_timer *timer, void *arg)
{
    uint32_t i = (uint32_t)(timer - timers);

    (void)arg;
    PROVE(!lawn_pending(timer), "[P6] it is idle when it fires");
    PROVE(timer->deadline <= lawn.now, "[P1] it is due");
    PROVE(order[i] == 0, "[P3] none fires twice");
    order[i] = ++fires;
}

/* Returns whether timer i has to fire before timer j, if both fire. */
static bool
before(uint32_t i, uint32_t j)
{
    return deadlines[i] < deadlines[j] ||
           (i < j && proof_place(i) == proof_place(j) &&
            deadlines[i] == deadlines[j]);
}

/* Checks which timers fired, and returns how many were due by a time. last:
 * those due at the last tick count too. */
static unsigned
fired_by(uint64_t time, bool last)
{
    unsigned due = 0;
    uint32_t i;
    uint32_t j;

    for (i = 0; i < PROOF_TIMERS; i++) {
        bool was_due =
            ran[i] && deadlines[i] <= time && (last || proof_place(i) != LAST);

        due += was_due;
        PROVE(order[i] == 0 || was_due, "[P1] only due timers fired");
        PROVE(order[i] != 0 || lawn_pending(&timers[i]) == ran[i],
              "[P3] the others run on");
        for (j = 0; j < PROOF_TIMERS; j++) {
            PROVE(order[i] == 0 || order[j] == 0 || !before(i, j) ||
                      order[i] < order[j],
                  "[P4] by deadline, and in the order of a queue");
            PROVE(order[i] != 0 || order[j] == 0 || !ran[i] || !before(i, j),
                  "[P4] none is left behind");
        }
    }
    return due;
}

void
few_tick(void)
{
    uint32_t slot = proof_slot_of[SLOT];
    uint64_t now = nondet_u64();
    struct lawn_mowing mowing = {&lawn, BUDGET, BUDGET, fire, NULL};
    uint64_t time;
    unsigned due;

    proof_any_high();
    proof_any_lawn(now);
    time = (lawn.index.base & ~(uint64_t)lawn.index.mask) | slot;
    ASSUME(lawn__index_first_slot(&lawn.index) == slot && time <= now);
#if defined MANY
    lawn.tuning.many = true;
    lawn.fetched = time;
#endif
    uint64_t count = lawn_count(&lawn);

    remember();
    lawn.mowing = &mowing;
    lawn.bound = 0;
    lawn.wake = 0;
    lawn.index.base = time;
    bool all = fire_tick(&mowing, slot, time);
    if (all) {
        lawn__index_clear_slot(&lawn.index, slot);
    }
    due = fired_by(time, false);
    PROVE(all ? fires == due : mowing.left == 0,
          "[P2] all due timers fired, or the budget is used up");
    PROVE(fires == BUDGET - mowing.left, "[P6] never more than the budget");
    PROVE(lawn_count(&lawn) == count - fires, "[P3] what fired is counted");
    PROVE(proof_valid(), "the lawn is valid");
    PROOF_END();
}

void
few_any_tick(void)
{
    few_tick();
}

void
few_any_start(void)
{
    struct lawn_timer *timer = &timers[TIMER];
    struct lawn_blade *blade = &proof_blades[0];
    uint64_t ttl = nondet_u64();

    proof_any_high();
    proof_any_lawn(any_now());
    ASSUME(ttl != 0 && ttl != LAWN_NEVER);
    ASSUME(blade->ttl == ttl ||
           (lawn__list_empty(&blade->queue) && proof_blades[1].ttl != ttl &&
            proof_blades[2].ttl != ttl && proof_blades[3].ttl != ttl));
    uint64_t count = lawn_count(&lawn);

    timer->deadline = lawn__ticks_after(lawn.now, ttl);
    ASSUME(timer->deadline != LAWN_LAST &&
           (timer->deadline ^ lawn.index.base) >> PROOF_LEVELS == 0);
    lawn.starts++;
    remember();
    append_to_blade(&lawn, timer, ttl, blade);
    PROVE(lawn_pending(timer), "[P5] it runs");
    PROVE(blade->queue.prev == &timer->link, "[P4] behind the others");
    PROVE(same_but(TIMER), "[P5] the other timers are unchanged");
    PROVE(lawn_count(&lawn) == count + 1, "[P3] it is counted");
    PROVE(proof_valid(), "the lawn is valid");
    PROOF_END();
}

void
few_open(void)
{
    uint32_t slot = proof_slot_of[SLOT];
    uint64_t now;
    struct lawn_mowing mowing = {&lawn, 1, 1, fire, NULL};

    proof_any_high();
    now = proof_high + NOW;
    proof_any_lawn(now);
    uint64_t time = lawn__index_slot_start(&lawn.index, slot);
    uint64_t end = lawn__index_slot_end(&lawn.index, slot);
    ASSUME(lawn__index_first_slot(&lawn.index) == slot && time <= now);
    uint64_t count = lawn_count(&lawn);

    remember();
    lawn.mowing = &mowing;
    lawn.bound = 0;
    lawn.wake = 0;
    open_slot(&lawn, slot);
    PROVE(lawn.index.base >= time && lawn.index.base <= end,
          "[I4] the base is in the slot");
    PROVE((proof_occupied[0] >> slot & 1) == 0, "the slot is done");
    PROVE(same_but(PROOF_TIMERS), "[P3] all timers are unchanged");
    PROVE(lawn_count(&lawn) == count && fires == 0, "[P1] none fires");
    PROVE(proof_valid(), "the lawn is valid");
    PROOF_END();
}

void
few_mow(void)
{
    proof_any_high();
    uint64_t before_now = proof_high + NOW;
    uint64_t now = proof_high + LATER;

    proof_any_lawn(before_now);
    uint64_t count = lawn_count(&lawn);

    remember();
    size_t returned = lawn_mow(&lawn, now, BUDGET, fire, NULL);
    unsigned due = fired_by(now, now >= LAWN_LAST);
    PROVE(returned == fires && fires <= BUDGET, "[P6] as many as it returns");
    PROVE(fires == (due < BUDGET ? due : BUDGET),
          "[P2] all due timers fired, or the budget is used up");
    PROVE(lawn_count(&lawn) == count - fires, "[P3] what fired is counted");
    PROVE(lawn.now == now && lawn.mowing == NULL, "[P9] it is that late");
    PROVE(proof_valid(), "the lawn is valid");
    PROOF_END();
}

/* The earliest deadline of the running timers. */
static uint64_t
earliest(void)
{
    uint64_t first = LAWN_NEVER;
    uint32_t i;

    for (i = 0; i < PROOF_TIMERS; i++) {
        if (ran[i] && deadlines[i] < first) {
            first = deadlines[i];
        }
    }
    return first;
}

void
few_next(void)
{
    proof_any_high();
    proof_any_lawn(any_now());
    uint64_t count = lawn_count(&lawn);

    remember();
    PROVE(lawn_next(&lawn) == earliest(), "[P2] the earliest is returned");
    PROVE(lawn.bound == earliest(), "and the bound is exact");
    PROVE(same_but(PROOF_TIMERS) && lawn_count(&lawn) == count,
          "[P3] all timers are unchanged");
    PROVE(proof_valid(), "the lawn is valid");
    PROOF_END();
}
