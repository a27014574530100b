/* run.h - one schedule of a scenario: see explore.h. */
#ifndef LAWN_EXPLORE_RUN_H
#define LAWN_EXPLORE_RUN_H

#include "explore.h"

/* Disables delayed stores, whatever the scenario has. */
extern bool run_without_delays;

/* Sets up a scenario; all later calls refer to it. Returns false if that
 * failed. */
bool run_prepare(const struct explore_scenario *scenario);

/* Runs a schedule with the choices of choose.h. Returns false on failure;
 * run_message() then returns the error. RUN_GIVEN checks more closely,
 * RUN_TRACE prints each operation, RUN_SHOW prints the schedule as it was
 * walked. */
enum run_how { RUN_WALK, RUN_GIVEN, RUN_TRACE, RUN_SHOW };
bool run_schedule(enum run_how how);
const char *run_message(void);
unsigned run_steps(void);

/* Flushes the caller's delayed stores to memory. */
void run_drain(void);

/* Turns abort() and invalid accesses into failures of the schedule. */
void run_catch_signals(void);

#endif
