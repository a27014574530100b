/* few_steps.c - one step from an arbitrary valid lawn of up to four timers: see
 * few.h. The invariant is lawn_check() and a little more; it is assumed before
 * a step and proved after it. Each proof is run for many lawns: the script
 * "shapes" in this folder prints them, and explains how they are chosen. Every
 * sixteenth run also checks each memory access.
 *
 * @flags -DNDEBUG -Iproofs/cbmc/core --object-bits 6 --no-standard-checks
 *     --slice-formula --unwind 14 --unwindset proof_any_index.0:65
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
 *     insert_unqueued note_unqueued note_early_timer insert_at_last_tick
 *     lower_bound count_miss start_slow start_and_count
 *     lawn__tuning_count_start lawn__tuning_count_miss take_sample
 *     find_or_reserve_blade end_window request_review
 * A start of an idle or running timer that finds a blade, claims one, or gets
 * none; some starts are sampled. Afterward the timer runs, is due after its
 * TTL, is behind all others of its queue with the same deadline, and is counted
 * once; the other timers have not changed [P1] [P3] [P4] [P5]. While the lawn
 * bypasses its blades, the timer is not on a blade. Blades that contained
 * timers keep their TTLs, so a blade is reserved only if it is free [I1] [I8].
 * The mode does not change [P4]. Clock, TTLs and mode are given.
 *
 * @proof few_tick
 * @each shapes few_tick
 * @covers fire_tick fire_unqueued fire_blade fire_timer reindex_blade
 *     lawn__index_clear_tick
 * @unreached fire_tick: return $fire_tick_of_many($mowing, $slot, $tick); -- only
 *     if there are many timers
 * The round of a mow that fires a due slot of level 0; the callback does
 * nothing. Only due timers fire, each once, in the order of their queue; all
 * due timers fire unless the budget or the work is used up; all are counted
 * [P1] [P2] [P3] [P4] [P6]. Budgets of 1 to 5; work of 1 to 4 [P8].
 *
 * @proof few_open
 * @each shapes few_open
 * @covers open_slot move_unqueued_down move_timer find_unopened
 * A slot of a higher level is opened, with a limit of 1 to 4 entries; the base
 * is in the slot or in the one before it. At most as many entries move, and
 * that much work is used up [P8]. The result is whether the slot is empty. No
 * timer fires, all keep running [P1] [P3], and unqueued timers of one deadline
 * keep their order: those started earlier are on a higher level, or earlier in
 * the same list [P4]. Times are in their slots [I4].
 *
 * @proof few_mow
 * @each shapes few_mow
 * @flags --unwindset mow_until.0:24,proof_any_index.0:65
 * @covers lawn_mow mow_slow mow_until finish_mow update_horizon open_slots_of
 *     index_last_tick
 * @unreached mow_slow: return 0; -- the callback does not mow
 * A whole mow: as few_tick, and timers fire by deadline; the clock is right
 * afterward [P1] [P2] [P3] [P4] [P6] [P9].
 *
 * @proof few_work
 * @each shapes few_work
 * @flags --unwindset mow_until.0:24,proof_any_index.0:65
 * @covers mow_until open_slots_of update_horizon
 * A mow with a limit of 1 to 6 entries besides the timers that it fires. It
 * processes no more entries than that [P8]; if it stops for that reason, the
 * timers that have not fired keep running, none of them is before the base of
 * the index [P4], and the bound is not after the time of the mow, so that
 * lawn_mow() reports that it stopped early [P2].
 *
 * @proof few_prepare
 * @each shapes few_prepare
 * @covers prepare_slots open_slot
 * Slots are opened ahead of time, with work of 1 to 6 entries: as few_open; the
 * base does not move. Only slots of the base and the slots after these are
 * opened.
 *
 * @proof few_next
 * @each shapes few_next
 * @covers lawn_next find_earliest is_front_valid scan_slot find_first_slot
 *     scan_list scan_blades
 * lawn_next() is exact, whether lawn->front is a queue or NULL. So is the bound
 * afterward, if a timer runs; otherwise the bound does not change. All timers
 * keep running [P2] [P3], and unqueued timers of one deadline keep their order
 * [P4].
 *
 * @proof few_looks
 * @each shapes few_looks
 * @covers find_earliest scan_slot scan_list scan_blades
 * As few_next, if at most 1 to 3 entries are examined: no more are, and the
 * result is not after the earliest deadline; if fewer were examined, it is
 * exact
 * [P2] [P8].
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
#if !defined BYPASS
#define BYPASS 0
#endif
#if !defined BUDGET
#define BUDGET 1
#endif
#if !defined WORK
#define WORK 1000
#endif
#if !defined LEVEL
#define LEVEL 1
#endif
#if !defined DUE
#define DUE 0
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

/* Returns the level of an unqueued timer, from the end of its list. */
static uint32_t
level_now(uint32_t i)
{
    const struct lawn_link *link = timers[i].link.next;

    for (uint32_t steps = 0; steps < PROOF_TIMERS; steps++) {
        for (uint32_t slot = 0; slot < PROOF_SLOTS; slot++) {
            if (link == &proof_unqueued[slot]) {
                return slot >> PROOF_SLOT_BITS;
            }
        }
        link = link->next;
    }
    return PROOF_LEVELS;
}

/* The TTL of each blade before the step, and whether it is in use then, without
 * the timer that is started: that one leaves its blade first. */
static uint64_t ttls[PROOF_BLADES];
static bool used[PROOF_BLADES];

static void
remember_blades(void)
{
    for (uint32_t i = 0; i < PROOF_BLADES; i++) {
        ttls[i] = proof_blades[i].ttl;
    }
    for (uint32_t i = 0; i < PROOF_TIMERS; i++) {
        if (i != TIMER && proof_place(i) >= BLADE_0 &&
            proof_place(i) <= BLADE_3) {
            used[proof_place(i) - BLADE_0] = true;
        }
    }
}

static bool
keep_ttls(void)
{
    for (uint32_t i = 0; i < PROOF_BLADES; i++) {
        if (used[i] && proof_blades[i].ttl != ttls[i]) {
            return false;
        }
    }
    return true;
}

void
few_start(void)
{
    struct lawn_timer *timer = &timers[TIMER];
    uint64_t ttl = TTL;

    proof_any_lawn(HIGH + NOW);
    lawn.tuning.bypass = BYPASS;
    lawn.tuning.direct = BYPASS;
    lawn.plain_mask = BYPASS ? 0 : UINT64_MAX;
    lawn__move_clock(&lawn, lawn.now);
#if defined MISSES
    lawn.misses = MISSES;
#endif
    uint64_t count = lawn_count(&lawn);
    uint64_t due = lawn__ticks_after(lawn.now, ttl);

    remember();
    remember_blades();
    lawn_start(&lawn, timer, ttl);
    PROVE(!BYPASS || due == LAWN_LAST || level_now(TIMER) < PROOF_LEVELS,
          "[P4] in bypass mode, the timer is unqueued");
    PROVE(keep_ttls(), "[I1] [I8] blades in use keep their TTLs");
    PROVE(lawn.tuning.bypass == BYPASS && lawn.blades.stripe == 0,
          "[P4] the mode stays");
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
           (i < j && deadlines[i] == deadlines[j] &&
            (proof_place(i) == proof_place(j) ||
             (proof_place(i) >= LEVEL_0 && proof_place(j) >= LEVEL_0)));
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

static struct lawn_mowing
make_mow(size_t budget, size_t work)
{
    return (struct lawn_mowing){
        .lawn = &lawn,
        .left = budget,
        .budget = budget,
        .work = work,
        .fire = fire,
    };
}

/* A mow that has begun. */
static void
begin_mow(struct lawn_mowing *mowing)
{
    lawn.mowing = mowing;
    lawn.bound = 0;
    lawn.wake = 0;
}

void
few_tick(void)
{
    uint64_t tick = HIGH | DUE;
    uint64_t now = nondet_u64();
    struct lawn_mowing mowing = make_mow(BUDGET, WORK);

    proof_any_lawn(now);
    ASSUME(lawn__index_first_tick(&lawn.index) == tick && tick <= now &&
           tick < lawn.index.horizon);
    uint64_t count = lawn_count(&lawn);
    uint64_t moved = lawn.index.moved;
    uint32_t slot = (uint32_t)tick & lawn.index.mask;

    remember();
    begin_mow(&mowing);
    lawn__index_set_base(&lawn.index, tick);
    bool all = fire_tick(&mowing, slot, tick);
    if (all) {
        lawn__index_clear_tick(&lawn.index, slot);
    }
    unsigned due = fired_by(tick, false);
    PROVE(all ? fires == due : mowing.left == 0 || mowing.work == 0,
          "[P2] all due timers fired, or budget or work are used up");
    PROVE(fires == BUDGET - mowing.left, "[P6] never more than the budget");
    PROVE(mowing.work <= WORK && lawn.index.moved - moved == WORK - mowing.work,
          "[P8] never more than the work");
    PROVE(lawn_count(&lawn) == count - fires, "[P3] what fired is counted");
    PROVE(proof_valid(), "the lawn is valid");
    PROOF_END();
}

/* Returns whether timer j is behind timer i in the list of a slot. */
static bool
is_behind(uint32_t i, uint32_t j)
{
    uint32_t slot =
        lawn__index_slot_at(&lawn.index, level_now(i), deadlines[i]);
    const struct lawn_link *link = timers[i].link.next;

    for (uint32_t steps = 0; steps < PROOF_TIMERS; steps++) {
        if (link == &timers[j].link) {
            return true;
        }
        if (link == &proof_unqueued[slot]) {
            return false;
        }
        link = link->next;
    }
    return false;
}

/* Returns whether unqueued timers with the same deadline are in the order of
 * their starts: the earlier one on a higher level, or before the later one in
 * the same list. */
static bool
in_order(void)
{
    for (uint32_t i = 0; i < PROOF_TIMERS; i++) {
        for (uint32_t j = i + 1; j < PROOF_TIMERS; j++) {
            if (proof_place(i) >= LEVEL_0 && proof_place(j) >= LEVEL_0 &&
                deadlines[i] == deadlines[j]) {
                uint32_t first = level_now(i);
                uint32_t second = level_now(j);

                if (first >= PROOF_LEVELS || first < second ||
                    (first == second && !is_behind(i, j))) {
                    return false;
                }
            }
        }
    }
    return true;
}

void
few_open(void)
{
    struct lawn_mowing mowing = make_mow(1, 100);

    proof_any_lawn(any_now());
    uint32_t slot = lawn__index_slot_at(&lawn.index, LEVEL, HIGH | DUE);
    uint64_t count = lawn_count(&lawn);
    uint64_t moved = lawn.index.moved;
    uint64_t base = lawn.index.base;

    ASSUME(lawn__index_slots_ahead(&lawn.index, slot) < 2);
    remember();
    PROVE(in_order(), "the shape is in order");
    begin_mow(&mowing);
    bool empty = open_slot(&mowing, slot, WORK);
    moved = lawn.index.moved - moved;
    PROVE(moved <= WORK && mowing.work == 100 - moved,
          "[P8] no more entries than the limit move");
    PROVE(empty == (lawn__list_empty(&proof_unqueued[slot]) &&
                    proof_first[slot] == LAWN_INDEX_NONE) &&
              (empty || moved == WORK),
          "[P8] returns whether the slot is empty");
    PROVE(empty == !lawn__index_marked(&lawn.index, slot), "[I5] the mark");
    PROVE(lawn.index.base == base, "the base stays");
    PROVE(same_but(PROOF_TIMERS), "[P3] all timers are unchanged");
    PROVE(lawn_count(&lawn) == count && fires == 0, "[P1] none fires");
    PROVE(in_order(), "[P4] timers keep their order");
    PROVE(proof_valid(), "the lawn is valid");
    PROOF_END();
}

/* Returns how often an entry at a place can move down: once for each level, but
 * not if its slot is further ahead than the next one. */
static uint64_t
count_moves(unsigned place, uint64_t time)
{
    uint32_t slot = proof_slot(place, time);

    return lawn__index_slots_ahead(&lawn.index, slot) < 2
               ? slot >> PROOF_SLOT_BITS
               : 0;
}

void
few_prepare(void)
{
    struct lawn_mowing mowing = make_mow(1, WORK);

    proof_any_lawn(any_now());
    lawn.index.prepare = 0; /* no early limit, as in few.h */
    uint64_t count = lawn_count(&lawn);
    uint64_t moved = lawn.index.moved;
    uint64_t base = lawn.index.base;

    uint64_t near = 0;

    for (uint32_t i = 0; i < PROOF_TIMERS; i++) {
        if (proof_place(i) >= LEVEL_0) {
            near += count_moves(proof_place(i), proof_time(5 + i));
        }
        if (proof_entry_place(i) != IDLE) {
            near += count_moves(proof_entry_place(i), proof_time(1 + i));
        }
    }
    remember();
    begin_mow(&mowing);
    prepare_slots(&mowing);
    PROVE(lawn.index.moved - moved <= near, "only near slots are opened");
    PROVE(mowing.work <= WORK && lawn.index.moved - moved == WORK - mowing.work,
          "[P8] never more than the work");
    PROVE(lawn.index.base == base, "the base stays");
    PROVE(same_but(PROOF_TIMERS), "[P3] all timers are unchanged");
    PROVE(lawn_count(&lawn) == count && fires == 0, "[P1] none fires");
    PROVE(in_order(), "[P4] timers keep their order");
    PROVE(proof_valid(), "the lawn is valid");
    PROOF_END();
}

void
few_mow(void)
{
    uint64_t now = HIGH + LATER;

    proof_any_lawn(HIGH + NOW);
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

void
few_work(void)
{
    uint64_t now = HIGH + LATER;
    struct lawn_mowing mowing = make_mow(BUDGET, WORK);

    proof_any_lawn(now);
    uint64_t count = lawn_count(&lawn);
    uint64_t moved = lawn.index.moved;

    remember();
    begin_mow(&mowing);
    mowing.until = now;
    mow_until(&mowing, now);
    lawn.mowing = NULL;
    unsigned due = fired_by(now, false);
    PROVE(mowing.work <= WORK && lawn.index.moved - moved == WORK - mowing.work,
          "[P8] never more than the work");
    PROVE(fires == BUDGET - mowing.left, "[P6] never more than the budget");
    PROVE(
        fires == due || mowing.left == 0 ||
            (mowing.work == 0 && lawn.bound <= now),
        "[P2] all due timers fired, or the mow reports that it stopped early");
    PROVE(lawn_count(&lawn) == count - fires, "[P3] what fired is counted");
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

static void
any_front(void)
{
#if defined FRONT
    lawn.front = FRONT == IDLE   ? NULL
                 : FRONT <= LAST ? proof_queue(FRONT, 0)
                                 : proof_queue(FRONT, HIGH | DUE);
#endif
}

void
few_next(void)
{
    proof_any_lawn(any_now());
    any_front();
    uint64_t count = lawn_count(&lawn);
    uint64_t bound = lawn.bound;

    remember();
    PROVE(lawn_next(&lawn) == earliest(), "[P2] the earliest is returned");
    PROVE(lawn.bound == (count > 0 ? earliest() : bound),
          "and the bound is exact");
    PROVE(same_but(PROOF_TIMERS) && lawn_count(&lawn) == count,
          "[P3] all timers are unchanged");
    PROVE(in_order(), "[P4] timers keep their order");
    PROVE(proof_valid(), "the lawn is valid");
    PROOF_END();
}

void
few_looks(void)
{
    struct lawn_search search;

    proof_any_lawn(any_now());
    uint64_t looked = lawn.looked;
    uint64_t count = lawn_count(&lawn);

    remember();
    uint64_t next = find_earliest(&lawn, &search, WORK);
    PROVE(lawn.looked - looked <= WORK, "[P8] no more are examined");
    PROVE(next <= earliest(), "[P2] not too late");
    PROVE(next == earliest() || lawn.looked - looked == WORK,
          "[P2] exact, if that suffices");
    PROVE(search.next >= earliest(), "[P2] found or not");
    PROVE(lawn.bound == next, "the bound");
    PROVE(same_but(PROOF_TIMERS) && lawn_count(&lawn) == count,
          "[P3] all timers are unchanged");
    PROVE(in_order(), "[P4] timers keep their order");
    PROVE(proof_valid(), "the lawn is valid");
    PROOF_END();
}
