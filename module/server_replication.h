/* server_replication.h - host_replicate() by the server's functions. */
#ifndef SERVER_REPLICATION_H
#define SERVER_REPLICATION_H

/* Makes the strings that last as long as the module. After server_host_init(). */
void server_replication_init(void);

#endif
