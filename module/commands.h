/* commands.h - what the files of commands have in common.
 *
 * A command checks all that it can before it changes anything, then takes the
 * memory it needs, then acts, then tells the replicas what it did: effects, with
 * the times that were decided on.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "args.h"
#include "command.h"
#include "replication.h"

#define COMMANDS_OOM "ERR out of memory"

/* Arguments as COMMAND DOCS tells of them, which are written like this. */
#define COMMANDS_ARG(name, type)                                               \
    {                                                                          \
        name, COMMAND_##type, NULL, 0, NULL                                    \
    }
#define COMMANDS_ARG_COUNT                                                     \
    {                                                                          \
        "count", COMMAND_INTEGER, "COUNT", COMMAND_OPTIONAL, NULL              \
    }
#define COMMANDS_ARG_END                                                       \
    {                                                                          \
        NULL, COMMAND_KEY, NULL, 0, NULL                                       \
    }

command_fn commands_push;
command_fn commands_mpush;
command_fn commands_cancel;
command_fn commands_pull;
command_fn commands_poll;
command_fn commands_get;
command_fn commands_next;
command_fn commands_len;
command_fn commands_scan;
command_fn commands_info;
command_fn commands_update;
command_fn commands_touch;
command_fn commands_config;
command_fn commands_pause;
command_fn commands_resume;
command_fn commands_lease;
command_fn commands_ack;
command_fn commands_nack;
command_fn commands_extend;
command_fn commands_sink;
command_fn commands_partition;
command_fn apply_command;

/* A number in decimal digits. */
#define COMMANDS_NUMBER 21
struct bytes commands_number(uint64_t number, char text[COMMANDS_NUMBER]);

/* An error with numbers or words of the user's in it; what is no printable
 * character of ASCII is shown as ?. */
void commands_error(struct call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sees to it that there is a queue. False: there is no memory, which was
 * replied. */
bool commands_open(struct call *call);

/* Whether a command that the server lets through when it is short of memory may take
 * some. If not, that was replied. */
bool commands_may_grow(struct call *call);

/* Whether id and payload are not too long; if they are, that was replied. */
bool commands_check_sizes(struct call *call, struct bytes id,
                          struct bytes payload);

/* Replies that ids and payloads would take so many bytes, which is too much. */
void commands_reply_full(struct call *call, uint64_t takes);

/* Sets due, ttl and alone of an event for DELAY or AT, with up to jitter ms
 * more. */
void commands_set_due(struct call *call, const struct args_time *time,
                      uint64_t jitter, struct queue_event *event);

/* Puts an event into the queue, which is there, as its settings allow. made: its
 * id was made here. False: it may not be, or there is no memory, which was
 * replied. */
bool commands_add_event(struct call *call, const struct queue_event *event,
                        bool made);

/* Gives an event another payload, which may be as long as it is: replies with
 * the payload before, or with an error if there is no room. */
void commands_replace_payload(struct call *call,
                              const struct queue_event *event,
                              struct bytes payload);

/* The words of AT for an event, and what they consist of. */
struct commands_at {
    char due[COMMANDS_NUMBER];
    char ttl[COMMANDS_NUMBER];
    char meta[ARGS_META_SIZE];
};
void commands_at_words(const struct queue_event *event, struct commands_at *at,
                       struct bytes words[REPLICATION_AT_WORDS]);

/* Tokens that this server gives end in the same four bits, which are others than
 * those of the token that it heard of last from elsewhere: a master, a file. So one
 * that takes a master's place gives none that the other gives at the same time, not
 * knowing. */
#define COMMANDS_TOKEN_STEP 16u
/* Tokens of a millisecond, from this on. */
#define COMMANDS_TOKENS UINT64_C(1024)
struct commands_tokens {
    uint64_t
        last; /* the greatest, given or heard, but of none that is far ahead of
                   the clock and of those before: these someone has made up */
    bool heard;     /* there is a token from elsewhere, */
    unsigned other; /* and so it ends */
    unsigned start; /* how ours end if there is none: by chance */
    unsigned step;  /* from the other's to ours: by chance; 0: not drawn yet */
};
extern struct commands_tokens commands_tokens;
/* A token was given, by that clock; or has come from elsewhere. */
void commands_note_token(uint64_t token, uint64_t wall);
void commands_learn_token(uint64_t token, uint64_t wall);

/* Pairs of a map: a name and a number; and COMMANDS_REPEAT pairs of what repeats. */
#define COMMANDS_REPEAT 3
void commands_reply_number(struct host *host, const char *name, uint64_t value);
void commands_reply_repeat(struct host *host,
                           const struct queue_repeat *repeat);

/* What is set for a key, as pairs of a map: COMMANDS_SETTINGS of them. */
#define COMMANDS_SETTINGS 6
void commands_reply_settings(struct call *call);

/* How many events may be taken now: count, and lawn.max-batch, at most. */
size_t commands_count_due(struct call *call, uint64_t count);

/* Finds out what is due, leased and dead now, but of no more events than so many
 * that were not known to be: what is counted then may be too little, and is not
 * after some calls. Returns how many are due. */
#define COMMANDS_PROMOTE_MAX 1000u
uint64_t commands_promote_due(struct call *call);

/* Notes how late an event is that is delivered: not if it was delivered before, and
 * whoever had it kept it too long. */
void commands_note_late(struct call *call, const struct queue_event *event);

/* What an event is like when it has been delivered. False: it is gone. */
bool commands_next_period(const struct queue_event *event, uint64_t now,
                          struct queue_event *next);

/* Events that were delivered, until the replicas hear of them. A few, of which one
 * at most repeats, need no memory. */
#define COMMANDS_FEW 32u
struct commands_batch {
    struct bytes few[COMMANDS_FEW];
    struct bytes few_again[REPLICATION_AT_WORDS];
    struct commands_at few_at;
    struct bytes *gone; /* ids */
    size_t gone_count;
    struct bytes *again; /* words of AT */
    size_t again_count;  /* of events */
    struct commands_at *at;
    void *memory;
};

/* For so many events, of which so many stay. False: no memory; which init()
 * replies. */
bool commands_batch_reserve(struct commands_batch *batch, size_t count,
                            size_t again_count);
bool commands_batch_init(struct call *call, struct commands_batch *batch,
                         size_t count, size_t again_count);
/* Notes that an event was delivered and done with: *next is what becomes of it,
 * NULL if it goes. Of id the bytes stay until the end. */
void commands_batch_add(struct call *call, struct commands_batch *batch,
                        const struct queue_event *event,
                        const struct queue_event *next);
/* The same, and removes it from the queue, or moves it to its next time, at once. */
void commands_batch_remove(struct call *call, struct commands_batch *batch,
                           const struct queue_event *event);
/* Counts it as taken because it was due. */
void commands_count_fired(struct call *call, const struct queue_event *event);
/* Tells the replicas. */
void commands_batch_replicate(struct call *call,
                              const struct commands_batch *batch);
/* The same, and those who listen for that. */
void commands_batch_report(struct call *call,
                           const struct commands_batch *batch,
                           const char *what);
/* Does what the replicas were told. */
void commands_batch_apply(struct call *call,
                          const struct commands_batch *batch);
void commands_batch_fini(struct commands_batch *batch);

/* Replies with an array of the first count due events, each written by reply(), and
 * removes them; those that repeat get their next time. At least count events are ready:
 * see commands_count_due(). */
typedef void commands_reply_fn(struct call *call,
                               const struct queue_event *event);
void commands_remove_due(struct call *call, size_t count,
                         commands_reply_fn *reply);

#endif
