/* command.h - the commands: names, arguments and functions. */
#ifndef COMMAND_H
#define COMMAND_H

#include "bytes.h"
#include "command_limits.h"
#include "host.h"
#include "late.h"

#include <stdint.h>

/* One call of a command. args[0] is its name; args[1] is the key, if it has
 * one. The caller sets the first four fields and zeroes the rest. */
struct call {
    struct host *host;
    const struct bytes *args;
    size_t count;
    /* in ms; the caller sets it to the wall clock, and command_call() to the
     * queue's time, which never decreases */
    uint64_t now;
    uint64_t wall;       /* the wall clock: what the caller set as now */
    struct queue *queue; /* NULL: the key does not exist */
    /* the queue may have become idle, or its next event may differ */
    bool changed;
    /* a pause ended, the sink was set, or LAWN.APPLY changed settings: events
     * may have become due meanwhile, so the next one is searched for */
    bool resumed;
    /* the change comes from LAWN.APPLY: the master has already sent the
     * notifications */
    bool applied;
    uint64_t earliest; /* earliest due time of the added events */
};

/* Sends exactly one reply. */
typedef void command_fn(struct call *call);

/* An argument as COMMAND DOCS describes it; name NULL ends a list. */
enum command_type {
    COMMAND_KEY,
    COMMAND_STRING,
    COMMAND_INTEGER,
    COMMAND_TIME,
    COMMAND_WORD,
    COMMAND_ONEOF,
    COMMAND_BLOCK,
    COMMAND_PATTERN
};
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): reading order */
struct command_arg {
    const char *name;
    enum command_type type;
    const char *token;              /* the word before it, or NULL */
    unsigned flags;                 /* COMMAND_OPTIONAL, COMMAND_MULTIPLE */
    const struct command_arg *args; /* of ONEOF and BLOCK */
};
#define COMMAND_OPTIONAL 1u
#define COMMAND_MULTIPLE 2u

/* A key in addition to args[1]. It follows a keyword. The server searches for
 * the keyword from argument `from` on. If `from` is negative, the server
 * searches backward, beginning that number of arguments before the end. */
struct command_key {
    const char *word; /* NULL ends a list */
    int from;
    const char *flags; /* as those of the first key; NOT_KEY: a channel */
};

struct command {
    const char *name; /* "LAWN.PUSH" */
    command_fn *run;
    const char *flags; /* as the server defines them: "write deny-oom fast" */
    int arity;         /* includes the name; negative: a minimum */
    bool key;          /* args[1] is a key */
    const char *key_flags; /* of its key spec: "RW UPDATE", "RO ACCESS", ... */
    const char *summary;
    const char *complexity;
    const char *since;
    const struct command_arg *args;
    const struct command_key *more; /* NULL: no other keys */
};

/* All commands, including the internal one; name NULL ends the list. */
extern const struct command command_lawn[];
extern const struct command command_rede[];

/* Runs a command, then deletes an idle key and sets the next wake-up. The
 * caller has checked the arity and the type of the key. */
void command_call(const struct command *command, struct call *call);

/* Delivers due events to the key's sink and dead events to its dead letter
 * stream: at most `budget` events, and as long as host_over() returns false.
 * The call has a host, a queue and both times. Does not wake blocked clients.
 *
 * Returns the time, by the wall clock, at which the key needs attention again:
 * now if more events remain, LAWN_NEVER if the caller must determine it. Sets
 * the queue to NULL if the key was deleted in the meantime. */
uint64_t command_hand_over(struct call *call, uint64_t budget);

/* Totals over all keys since the module was loaded, as in struct
 * queue_counts. */
struct command_totals {
    uint64_t pushed;
    uint64_t fired;
    uint64_t dropped;
    uint64_t missed;
    uint64_t leased;
    uint64_t redelivered;
    uint64_t acked;
    uint64_t dead;
    uint64_t handed;
    uint64_t sink_errors;
    struct late late; /* lateness of delivered events, in ms */
};
extern struct command_totals command_totals;

#endif
