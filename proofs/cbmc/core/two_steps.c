/* two_steps.c - one step from an arbitrary valid lawn of two timers: see two.h.
 *
 * The number in a proof's name is the shape. What a step is to keep is what
 * lawn_check() looks at, which is assumed before it and proved after it. The
 * shapes are a choice, not all there are: so each proof is a step of an
 * induction, and together they are not yet the whole of one. few_steps.c has more
 * shapes and timers, but given times; here all times are arbitrary.
 *
 *   two_start  a start on the blade that was found or claimed, blade 0: appended,
 *              counted, valid [P3] [P4] [P5]. Assumed is what blades_find and
 *              blades_claim prove of it, and that the deadline is within the three
 *              levels and before LAWN_LAST
 *   two_tick   the step of a mow that fires, at slot 1 of level 0, with a budget
 *              of 1 to 3 and a callback that does nothing: what fired was due,
 *              each once, the first of a list first; all that were due unless the
 *              budget is used up; counted; valid [P1] [P2] [P3] [P4] [P6]
 *
 * @flags -DNDEBUG -Iproofs/cbmc/core --object-bits 6 --no-standard-checks
 *     --slice-formula --unwind 3
 *     --unwindset proof_empty_index.0:65 --unwindset proof_empty_index.1:7
 *     --unwindset proof_empty_blades.0:5 --unwindset lawn_check.0:5
 *     --unwindset lawn_check.1:7 --unwindset lawn_check_blade.0:5
 *     --unwindset lawn_check_slot.0:2
 * @without --bounds-check: only the promises and the invariant are proved here;
 *     with the checks for each access the formula is too large
 * @without --pointer-check: likewise
 * @without --pointer-overflow-check: likewise
 * @without --undefined-shift-check: likewise
 * @without --signed-overflow-check: likewise
 * @without --div-by-zero-check: likewise
 * @without --unsigned-overflow-check: counters count up to 0 and hashes wrap on
 *     purpose
 * @without --conversion-check: hashes are truncated on purpose
 *
 * @proof two_start_14701
 * @flags -DSHAPE=14701
 * @covers lawn_start_on lawn_start_bound
 * @proof two_start_10000
 * @flags -DSHAPE=10000
 * @covers lawn_start_on lawn_start_bound
 * @proof two_start_16505
 * @flags -DSHAPE=16505
 * @covers lawn_start_on lawn_start_bound
 * @proof two_start_17702
 * @flags -DSHAPE=17702
 * @covers lawn_start_on lawn_start_bound
 * @proof two_tick_10055
 * @flags -DSHAPE=10055
 * @covers lawn_mow_cut
 * @proof two_tick_10056
 * @flags -DSHAPE=10056
 * @covers lawn_mow_cut
 */
#include "two.h"

/* The part of lawn_start() that follows lawn_blades_find() or _claim(). */
static void
start_on(void)
{
    proof_any_lawn();
    uint64_t count = lawn_count(&lawn);
    uint64_t ttl = nondet_u64();
    struct lawn_blade *blade = &proof_blades[0];

    ASSUME(ttl != 0 && ttl != LAWN_NEVER);
    ASSUME(blade->ttl == ttl ||
           (lawn_list_empty(&blade->queue) && proof_blades[1].ttl != ttl &&
            proof_blades[2].ttl != ttl && proof_blades[3].ttl != ttl));
    timer_0.deadline = lawn_ticks_after(lawn.now, ttl);
    ASSUME(timer_0.deadline != LAWN_LAST &&
           (timer_0.deadline ^ lawn.tips.base) >> PROOF_LEVELS == 0);
    lawn.starts++;
    lawn_start_on(&lawn, &timer_0, ttl, blade);
    PROVE(lawn_pending(&timer_0), "[P5] it runs");
    PROVE(blade->queue.prev == &timer_0.link, "[P4] behind the others");
    PROVE(lawn_count(&lawn) == count + 1, "[P3] it is counted");
    PROVE(lawn_check(&lawn, NULL), "the lawn is valid");
    PROOF_END();
}

/* In the order in which they fired. */
static struct lawn_timer *fired[2];
static unsigned fires;

static void
fire(struct lawn_timer *timer, void *arg)
{
    (void)arg;
    PROVE(!lawn_pending(timer), "[P6] it is idle when it fires");
    PROVE(timer->deadline <= lawn.now, "[P1] it is due");
    PROVE(fires < 2, "[P3] none fires twice");
    fired[fires++] = timer;
}

/* The step of lawn_mow_until() that fires: slot 1 of level 0 is the first one
 * marked, and its tick has come. */
static void
tick(void)
{
    size_t budget = nondet_size();
    struct lawn_mowing mowing = {&lawn, budget, budget, fire, NULL};

    proof_any_lawn();
    ASSUME(budget >= 1 && budget <= 3);
    ASSUME(lawn_tips_first(&lawn.tips) == 1);
    uint64_t count = lawn_count(&lawn);
    uint64_t time = lawn.tips.base | 1;
    ASSUME(time <= lawn.now);
    bool due_0 = lawn_pending(&timer_0) && timer_0.deadline <= time;
    bool due_1 = lawn_pending(&timer_1) && timer_1.deadline <= time;

    lawn.mowing = &mowing;
    lawn.bound = 0;
    lawn.wake = 0;
    lawn.tips.base = time;
    bool all = lawn_mow_tick(&mowing, 1, time);
    if (all) {
        lawn_tips_clear(&lawn.tips, 1);
        PROVE(fires == (unsigned)due_0 + due_1, "[P2] all that are due fired");
    } else {
        PROVE(mowing.left == 0, "[P2] the budget is used up");
    }
    PROVE(fires == budget - mowing.left, "[P3] what fired is counted");
    PROVE(lawn_count(&lawn) == count - fires, "[P3] and runs no more");
    PROVE(fires < 1 || (fired[0] == &timer_0 ? due_0 : due_1),
          "[P1] none fired that was not due");
    PROVE(fires < 2 || fired[0] != fired[1], "[P3] none fired twice");
    PROVE(SHAPE / 10 % 10 != SHAPE % 10 || fires < 1 || fired[0] == &timer_0,
          "[P4] of one queue the first fires first");
    PROVE(lawn_check(&lawn, NULL), "the lawn is valid");
    PROOF_END();
}

void
two_start_14701(void)
{
    start_on();
}

void
two_start_10000(void)
{
    start_on();
}

void
two_start_16505(void)
{
    start_on();
}

void
two_start_17702(void)
{
    start_on();
}

void
two_tick_10055(void)
{
    tick();
}

void
two_tick_10056(void)
{
    tick();
}
