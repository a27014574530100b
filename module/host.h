/* host.h - the functions of the server that commands use. Implemented by
 * server_host.c and related files through the module API, and by
 * tests/module/fake.c, which records the calls.
 */
#ifndef HOST_H
#define HOST_H

#include "bytes.h"
#include "queue.h"

/* One call of one command. */
struct host;

/* REPLIES: exactly one per call. host_array(n) is followed by n replies,
 * host_map(n) by n pairs of replies. An error is one line that begins with its
 * code. */
void host_null(struct host *host);
void host_integer(struct host *host, int64_t value);
void host_bytes(struct host *host, struct bytes bytes);
void host_simple(struct host *host, const char *text);
void host_error(struct host *host, const char *text);
void host_array(struct host *host, size_t count);
void host_map(struct host *host, size_t count);

/* THE KEY. host_queue() returns its value, or NULL. host_create() returns a new
 * queue, or NULL if memory allocation fails. host_delete() deletes the key and
 * sends the notification `del`. Calls on a key of another type are rejected
 * earlier. */
struct queue *host_queue(struct host *host);
struct queue *host_create(struct host *host);
void host_delete(struct host *host);

/* REPLICATION: sends LAWN.APPLY key verb words to the replicas and the
 * append-only file. A word that points to an argument of the call is cheaper.
 * The words are not used after the call returns. */
void host_replicate(struct host *host, const char *verb,
                    const struct bytes *words, size_t count);

/* Sends a keyspace notification such as "lawn.push" for the key. It is sent
 * when the call ends, because subscribers may change the key. At most a few per
 * call; event must remain valid until then. */
void host_notify(struct host *host, const char *event);

/* Wakes the clients that are blocked on the key. */
void host_signal(struct host *host);

/* Sets the next wake-up of the key, which queue_armed() returns. */
void host_arm(struct host *host, uint64_t when);

/* Blocks the client. host_signal() or a tick runs the command again, which then
 * replies. When ms milliseconds have passed (0: no limit), the command runs a
 * last time. Returns false if blocking is not allowed here (MULTI, a
 * script). */
bool host_block(struct host *host, uint64_t ms);

/* Returns true if the command must not remove events. That happens only to a
 * client that was blocked: its timeout has passed, or the server accepts no
 * writes now. In the second case, the key is scheduled again. */
bool host_frozen(struct host *host);

bool host_may_publish(struct host *host, struct bytes channel);

/* A command for the server; words[0] is its name. */
#define HOST_ORDER_WORDS 16u
struct host_order {
    struct bytes words[HOST_ORDER_WORDS];
    size_t count;
    /* a bit for each word that keeps its address and contents until the tick
     * ends, so that it can be recognized */
    uint32_t lasting;
    bool grows; /* must not run while the server is short of memory */
};

/* IN A TICK. Runs a command. Its effects are replicated in one transaction with
 * those of all calls of host_replicate() in this tick. Returns NULL on success;
 * otherwise nothing has changed, and the text is the error, valid until the
 * next call. If the command deletes the key, host_queue() then returns NULL. If
 * it renames or moves the key, the arguments of the call and host_replicate()
 * then use the new name and database. */
const char *host_call(struct host *host, const struct host_order *order);
/* Returns NULL if the server would accept a write to the key by a client now,
 * otherwise the error, as above. Does not examine the key. */
const char *host_probe(struct host *host);
/* Returns true if the time for this drain is used up. */
bool host_over(struct host *host);

/* Returns true if the server refuses commands that need memory. Other commands
 * must then not allocate any. */
#define HOST_FULL "OOM command not allowed when used memory > 'maxmemory'."
bool host_full(struct host *host);

/* Returns a uniformly distributed random number from 0 to below - 1. */
uint64_t host_random(struct host *host, uint64_t below);

#endif
