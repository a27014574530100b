/* stop.h - the signals that tell a filter to stop, in good order.
 *
 * SIGINT, SIGTERM and SIGHUP, unless they were ignored when we started. After the
 * first, a second one ends the process, and there is an alarm each second, so that
 * no write waits for ever.
 */
#ifndef LAWN_CLI_STOP_H
#define LAWN_CLI_STOP_H

#include <stdbool.h>

/* Catches them from here on. False: there is no pipe to be had. */
bool stop_open(void);

/* A descriptor that is readable once one has come. */
int stop_fd(void);

/* Whether one has; and which, or 0. */
bool stop_was_told(void);
int stop_signal(void);

#endif
