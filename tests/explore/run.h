/* run.h - one schedule of a scenario: see explore.h. */
#ifndef LAWN_EXPLORE_RUN_H
#define LAWN_EXPLORE_RUN_H

#include "explore.h"

/* No store is delayed, whatever the scenario has. */
extern bool run_without_delays;

/* Sets the scenario up; all that follows is about it. False if that failed. */
bool run_prepare(const struct explore_scenario *scenario);

/* Runs a schedule, with the choices of choose.h. False: run_message() returns what
 * was wrong. One that was given is looked at closely, and with a trace each
 * operation is printed; one that is shown is printed as it was walked. */
enum run_how { RUN_WALK, RUN_GIVEN, RUN_TRACE, RUN_SHOW };
bool run_schedule(enum run_how how);
const char *run_message(void);
unsigned run_steps(void);

/* The caller's delayed stores reach the memory. */
void run_drain(void);

/* Turns abort() and bad accesses into failures of the schedule. */
void run_catch_signals(void);

#endif
