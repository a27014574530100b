/* signals.h - the signals that stop a filter in an orderly way.
 *
 * SIGINT, SIGTERM and SIGHUP, unless they were ignored at the start. After the
 * first one, SIGINT and SIGTERM terminate the process, and SIGHUP is ignored.
 * SIGALRM is then raised each second, so that no write blocks forever.
 */
#ifndef LAWN_CLI_SIGNALS_H
#define LAWN_CLI_SIGNALS_H

#include <stdbool.h>

/* Installs the handlers. Returns false if no pipe can be created. */
bool signals_open(void);

/* Returns a descriptor that is readable after a signal. */
int signals_fd(void);

/* Return whether a signal was received; and which, or 0. */
bool signals_received(void);
int signals_number(void);

#endif
