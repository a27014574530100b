/* server.h - runs commands in the server: host.h and memory.h by its functions.
 *
 * A command's way: the server calls an entry of module.c, which comes to
 * server_run(): arguments are laid out, the key is opened, command_call() does
 * the work by host_*(), and the key is closed. On that way nothing is allocated
 * for a call of few arguments, and strings that go to the replicas are those
 * that came in, counted, not copied.
 */
#ifndef SERVER_H
#define SERVER_H

#include "command.h"
#include "redis.h"

/* A command as it was registered. */
struct server_entry {
    const struct command *command;
    int mode;     /* in which its key is opened */
    bool guarded; /* for administrators, which the server cannot tell */
};

enum server_why {
    SERVER_CALLED,
    SERVER_WOKEN,    /* the client waited, and something may be due */
    SERVER_TIMED_OUT /* the client waited long enough */
};

/* Replies once and returns REDIS_OK; or not at all, for a client that waits or
 * goes on waiting: for the latter it returns REDIS_ERR. */
int server_run(struct server_entry *entry, enum server_why why,
               struct redis_ctx *ctx, struct redis_string **argv, int argc);

/* What time asks of a key that has a sink: see command_tick(). At most *budget
 * events, from which those that were handed on are taken. The queue may go by that:
 * see wake_ticks(). */
struct server_times {
    uint64_t now;  /* the key's */
    uint64_t wall; /* as the server has it, before or at that */
    uint64_t end;  /* in us of the clock that only goes forward: until then */
};
uint64_t server_tick(struct redis_ctx *ctx, struct redis_string *name,
                     struct queue *queue, const struct server_times *times,
                     uint64_t *budget);

/* Wakes who waits for a key. */
void server_signal(struct redis_ctx *ctx, struct redis_string *name);
/* A key may have something for who waits, though nobody said so. */
void server_refilled(void);

/* Makes what lasts as long as the module. */
void server_init(void);

/* The value of a key: NULL if there is none, or if it is another type's, and
 * then *other is true. key may be NULL. */
struct queue *server_value(struct redis_key *key, bool *other);

struct bytes server_bytes(const struct redis_string *string);

/* Since the module was loaded. */
struct server_counts {
    uint64_t waits; /* clients that had to wait */
    uint64_t timed_out;
    uint64_t foreign; /* calls that were refused as a slot was not ours */
};
extern struct server_counts server_counts;

#endif
