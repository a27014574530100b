/* replication.h - the arguments of LAWN.APPLY, which replicates changes to
 * replicas and the append-only file: LAWN.APPLY key verb word ...
 */
#ifndef REPLICATION_H
#define REPLICATION_H

/* The arguments of ADD for each event. */
enum {
    REPLICATION_ADD_ID,
    REPLICATION_ADD_PAYLOAD,
    REPLICATION_ADD_DUE,
    REPLICATION_ADD_TTL,
    REPLICATION_ADD_META,
    REPLICATION_ADD_WORDS
};

/* The arguments of AT for each event. */
enum {
    REPLICATION_AT_ID,
    REPLICATION_AT_DUE,
    REPLICATION_AT_TTL,
    REPLICATION_AT_META,
    REPLICATION_AT_WORDS
};

/* The arguments of LEASE for each event. */
enum {
    REPLICATION_LEASE_ID,
    REPLICATION_LEASE_TOKEN,
    REPLICATION_LEASE_MADE,
    REPLICATION_LEASE_MOST,
    REPLICATION_LEASE_END,
    REPLICATION_LEASE_TTL,
    REPLICATION_LEASE_OWNER,
    REPLICATION_LEASE_WORDS
};

#endif
