/* server_access.h - what the user of a call is allowed to do. */
#ifndef SERVER_ACCESS_H
#define SERVER_ACCESS_H

#include <stdbool.h>

struct host;

void server_access_init(void);

/* Whether the client may run the command. If not, the error was replied.
 *
 * Servers before 7.2 have no ACL categories for the commands of modules, so rules by
 * category do not cover them. There, a guarded command is only for users who may run a
 * command that is for administrators. */
bool server_access_check(struct host *host);

#endif
