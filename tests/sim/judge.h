/* judge.h - was what happened to a timer possible?
 *
 * As tests/explore/history.h, but on the way, for histories of any length: of each
 * timer there is a list of what could be the case, that is, whether it runs, since
 * which start, and which of the operations under way have had their moment. When
 * an operation has returned, only those stay in which it had it, and with the
 * result that it returned; if none is left, it was not possible [C1 C2 P1].
 *
 *     start   makes the timer run; it may stop it a moment before
 *     stop    true if it was running, which it is not any more; else false. One
 *             that waits may do so several times, and returns it once
 *     fire    it was running, due no later than it is passed, and runs no more. Its
 *             moment may be before the callback begins. So is what is left over
 *
 * A start that is refused, as the set is closed, has done nothing: neither to the
 * timer nor to what others do to it at that time. */
#ifndef LAWN_SIM_JUDGE_H
#define LAWN_SIM_JUDGE_H

#include "sim.h"

enum judge_kind { JUDGE_START, JUDGE_STOP, JUDGE_STOP_SYNC, JUDGE_FIRE };

void judge_begin(void);

/* A timer that is new: idle. */
void judge_new(unsigned timer);

/* An operation begins; returns its number. Of a start: not due before earliest. */
unsigned judge_invoke(unsigned timer, enum judge_kind kind, uint64_t earliest);

/* It has returned. A start: not due after latest. A stop: its result. A start
 * that was refused has not been. */
void judge_return(unsigned timer, unsigned op, uint64_t latest, bool result);
void judge_refused(unsigned timer, unsigned op);

/* A callback begins: the timer was due at the time due. And it has ended. */
void judge_fired(unsigned timer, uint64_t due);
void judge_callback_over(unsigned timer);

/* Nothing is under way: the timer runs, or does not. False if that cannot be; then
 * *why is set to what is wrong. Or if it runs, and was due before the time by. */
bool judge_quiet(unsigned timer, bool runs, uint64_t by, const char **why);

#endif
