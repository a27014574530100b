/* judge.h - checks whether the events of a timer were possible.
 *
 * As tests/explore/history.h, but during the run, for histories of any length.
 * Each timer has a list of possible states: whether it runs, since which start,
 * and which of the current operations have taken effect. When an operation has
 * returned, only those states stay in which it has taken effect with the
 * returned result. If none is left, the history was not possible [C1 C2 P1].
 *
 *     start   makes the timer run. A restart may take effect in two steps:
 *             first the timer stops, then it runs again stop    true if the
 *             timer was running, and it then stops; else false. A stop_sync may
 *             stop it several times, and returns true once fire    the timer
 *             was running, due no later than the passed time, and stops
 *             running. This may take effect before the callback begins. The
 *             same applies to a timer that is left
 *
 * A start that is refused, because the set is closed, has no effect on the
 * timer or on concurrent operations. */
#ifndef LAWN_SIM_JUDGE_H
#define LAWN_SIM_JUDGE_H

#include "sim.h"

enum judge_kind { JUDGE_START, JUDGE_STOP, JUDGE_STOP_SYNC, JUDGE_FIRE };

void judge_begin(void);

/* Adds a new, idle timer. */
void judge_new(unsigned timer);

/* An operation begins. Returns its number. A start is not due before
 * earliest. */
unsigned judge_invoke(unsigned timer, enum judge_kind kind, uint64_t earliest);

/* The operation has returned. A start is not due after latest; a stop has a
 * result. A refused start had no effect. */
void judge_return(unsigned timer, unsigned op, uint64_t latest, bool result);
void judge_refused(unsigned timer, unsigned op);

/* A callback begins for a timer with the deadline due; and it ends. */
void judge_fired(unsigned timer, uint64_t due);
void judge_callback_over(unsigned timer);

/* Called while no operation is in progress; `runs` is whether the timer runs.
 * Returns false and sets *why if that is impossible, or if the timer runs and
 * was due before the time `by`. */
bool judge_quiet(unsigned timer, bool runs, uint64_t by, const char **why);

#endif
