/* command.h - the commands: what each is called, wants and does. */
#ifndef COMMAND_H
#define COMMAND_H

#include "bytes.h"
#include "command_limits.h"
#include "host.h"
#include "late.h"

#include <stdint.h>

/* A call of a command, with all that it may look at. args[0] is the command's
 * name, args[1] the key's, if it has one. Who makes it sets the first four, and
 * zeroes the others. */
struct call {
    struct host *host;
    const struct bytes *args;
    size_t count;
    uint64_t now;        /* the wall clock, in ms; command_call() sets it to the
                            queue's time, which never runs back */
    uint64_t wall;       /* the wall clock as it was handed in */
    struct queue *queue; /* NULL: there is no such key */
    bool changed;        /* the queue may be idle now, or have another next */
    bool resumed;        /* it was paused: its next is not known */
    bool applied;        /* by a master, which woke those who waited there */
    uint64_t earliest;   /* due time of what came */
};

/* Replies once. */
typedef void command_fn(struct call *call);

/* An argument, as COMMAND DOCS tells of it; name NULL ends a list. */
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

/* A key beside args[1]: it comes after a word, which is looked for from that
 * argument on; below 0: from so many before the end, backwards. */
struct command_key {
    const char *word; /* NULL ends a list */
    int from;
    const char *flags; /* as those of the first; NOT_KEY: but a channel */
};

struct command {
    const char *name; /* "LAWN.PUSH" */
    command_fn *run;
    const char *flags;     /* as the server knows them: "write deny-oom fast" */
    int arity;             /* with the name; below 0: at least so many */
    bool key;              /* args[1] is a key */
    const char *key_flags; /* "RW UPDATE", "RO ACCESS", ... : of its key spec */
    const char *summary;
    const char *complexity;
    const char *since;
    const struct command_arg *args;
    const struct command_key *more; /* NULL: no other keys */
};

/* All of them, the internal one included; name NULL ends the list. */
extern const struct command command_lawn[];
extern const struct command command_rede[];

/* Runs one: the arity was checked, the key is no other type's (if it is: the
 * server's usual WRONGTYPE, for all of them). Afterwards an idle key is gone,
 * and the next wake-up is set. */
void command_call(const struct command *command, struct call *call);

/* Hands what is due to the key's sink, and what is dead to its dead letters, so many
 * events at most and as long as host_over() allows; who waits is for others to
 * wake. When to look at the key again: LAWN_NEVER if that is for others to say too,
 * else a time, the present if there is more to do, by the wall clock. The call has
 * a host, a queue and both times; the queue is NULL afterwards if the key went
 * meanwhile. */
uint64_t command_hand_over(struct call *call, uint64_t budget);

/* Of all keys, since the module was loaded. */
struct command_totals {
    uint64_t pushed;
    uint64_t fired;   /* taken because they were due */
    uint64_t dropped; /* to make room */
    uint64_t missed;  /* periods */
    uint64_t leased;
    uint64_t redelivered;
    uint64_t acked;
    uint64_t dead;
    uint64_t handed;
    uint64_t sink_errors;
    struct late late; /* how late they were taken, in ms */
};
extern struct command_totals command_totals;

#endif
