/* host.h - all that commands need from the server that they run in. Implemented twice:
 * by server_host.c and the files next to it, through the module API, and by
 * tests/module/fake.c, which records what it is asked for.
 */
#ifndef HOST_H
#define HOST_H

#include "bytes.h"
#include "queue.h"

/* One call of one command. */
struct host;

/* REPLIES: exactly one per call. After host_array(n) come n replies, after
 * host_map(n) n pairs of them. An error is a line that begins with its code. */
void host_null(struct host *host);
void host_integer(struct host *host, int64_t value);
void host_bytes(struct host *host, struct bytes bytes);
void host_simple(struct host *host, const char *text);
void host_error(struct host *host, const char *text);
void host_array(struct host *host, size_t count);
void host_map(struct host *host, size_t count);

/* The key. host_queue() is its value, NULL if there is no such key; made by
 * host_create(), NULL if there is no memory; or deleted, of which those hear who
 * listen for `del`. A call that the server finds a key of another type for does
 * not get here. */
struct queue *host_queue(struct host *host);
struct queue *host_create(struct host *host);
void host_delete(struct host *host);

/* REPLICATION: LAWN.APPLY key verb and these words, for the replicas and the
 * append-only file. A word that is an argument of the call costs less if it is
 * handed on as such: at is then that of the argument. Nothing of the words is
 * looked at later: they may be of an event that goes next. */
void host_replicate(struct host *host, const char *verb,
                    const struct bytes *words, size_t count);

/* An event with the key's name, such as "lawn.push", for who listens. They hear of it
 * when the call is over, as they may do what they like with the key. A few of a call
 * at most; event lasts. */
void host_notify(struct host *host, const char *event);

/* Something in the key is due: wakes who waits for it. */
void host_signal(struct host *host);

/* The key is to be looked at at that time, which is noted in queue_armed(). */
void host_arm(struct host *host, uint64_t when);

/* Waits for the key, until host_signal() or a tick has called the command
 * again, which then replies, or until so many ms have passed, 0 for ever: then
 * the command is called a last time. False: it may not wait here (MULTI, a
 * script). */
bool host_block(struct host *host, uint64_t ms);

/* It may still be in time, but has been put off since the server wants no
 * writes now: nothing may be taken. */
bool host_frozen(struct host *host);

/* Whether who calls may publish on a channel. */
bool host_may_publish(struct host *host, struct bytes channel);

/* A command of the server's own: words[0] is its name. */
#define HOST_ORDER_WORDS 16u
struct host_order {
    struct bytes words[HOST_ORDER_WORDS];
    size_t count;
    uint32_t
        lasting; /* a bit for each word that is the same until the tick ends
                         if it is at the same address, and so is known again */
    bool grows;  /* it is not for a server that is short of memory */
};

/* IN A TICK. Runs such a command, which is replicated with its effects, in one
 * transaction with all that host_replicate() tells in this tick. NULL: done. Else
 * nothing was done, and the text says why, as an error does; it stays until the
 * next call. The key may go by that: host_queue() is NULL then. */
const char *host_call(struct host *host, const struct host_order *order);
/* Whether the server would have a client change the key now: NULL, or why not, as
 * above. The key is not looked at for that. */
const char *host_probe(struct host *host);
/* The time of this tick is used up. */
bool host_over(struct host *host);

/* The server is short of memory, and refuses what is said to take some, as a push;
 * what it does not refuse by itself then is to take none. */
#define HOST_FULL "OOM command not allowed when used memory > 'maxmemory'."
bool host_full(struct host *host);

/* Random numbers, each as likely: 0 up to below - 1. */
uint64_t host_random(struct host *host, uint64_t below);

#endif
