/* program.h - verbs that are separate programs. */
#ifndef LAWN_CLI_PROGRAM_H
#define LAWN_CLI_PROGRAM_H

#include "options.h"

/* The run() of a verb that has a program: replaces this process by the program.
 * Returns only if the program cannot be run, after printing an error
 * message. */
options_run_fn program_run;

#endif
