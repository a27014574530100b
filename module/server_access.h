/* server_access.h - permissions of the user of a call. */
#ifndef SERVER_ACCESS_H
#define SERVER_ACCESS_H

#include <stdbool.h>

struct host;

void server_access_init(void);

/* Returns whether the client may run the command; if not, replies with an
 * error.
 *
 * Servers before 7.2 have no ACL categories for module commands, so rules by
 * category do not cover them. On these servers, a command that only
 * administrators may run requires permission to run BGREWRITEAOF. */
bool server_access_check(struct host *host);

#endif
