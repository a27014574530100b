/* server_replication.h - implements host_replicate() by the server's
 * functions. */
#ifndef SERVER_REPLICATION_H
#define SERVER_REPLICATION_H

/* Creates the permanent strings. To be called after server_host_init(). */
void server_replication_init(void);

#endif
