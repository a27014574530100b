/* program.h - verbs that are programs of their own. */
#ifndef LAWN_CLI_PROGRAM_H
#define LAWN_CLI_PROGRAM_H

#include "options.h"

/* The run() of a verb that has a program: replaces this process by it. Returns
 * only if the program cannot be run; an error message has been printed then. */
options_run_fn program_run;

#endif
