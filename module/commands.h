/* commands.h - declarations that the files of commands share.
 *
 * A command first makes all checks, then allocates memory, then makes its
 * changes, then replicates the effects with the times that it chose.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "args.h"
#include "command.h"
#include "replication.h"

#define COMMANDS_OOM "ERR out of memory"

/* Shorthands for the arguments that COMMAND DOCS describes. */
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

#define COMMANDS_NUMBER 21
struct bytes commands_number(uint64_t number, char text[COMMANDS_NUMBER]);

/* Replies with an error. Bytes that are not printable ASCII become ?. */
void commands_error(struct call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Creates the queue if the key does not exist. If memory allocation fails,
 * replies with an error and returns false. */
bool commands_open(struct call *call);

/* Returns whether a command without deny-oom may allocate memory; if not,
 * replies with an error. */
bool commands_may_grow(struct call *call);

/* Returns whether id and payload are within their limits; if not, replies with
 * an error. */
bool commands_check_sizes(struct call *call, struct bytes id,
                          struct bytes payload);

void commands_reply_full(struct call *call, uint64_t takes);

/* Sets due, ttl and alone of an event according to DELAY or AT, plus a random
 * delay of up to jitter ms. */
void commands_set_due(struct call *call, const struct args_time *time,
                      uint64_t jitter, struct queue_event *event);

/* Adds an event to the existing queue, subject to its settings. `made`: the
 * server generated the id. Returns false, after an error reply, if a limit is
 * exceeded or memory allocation fails. */
bool commands_add_event(struct call *call, const struct queue_event *event,
                        bool made);

/* Replaces the payload of an event. The caller has checked its size. Replies
 * with the old payload, or with an error if there is no room. */
void commands_replace_payload(struct call *call,
                              const struct queue_event *event,
                              struct bytes payload);

struct commands_at {
    char due[COMMANDS_NUMBER];
    char ttl[COMMANDS_NUMBER];
    char meta[ARGS_META_SIZE];
};
void commands_at_words(const struct queue_event *event, struct commands_at *at,
                       struct bytes words[REPLICATION_AT_WORDS]);

/* The last four bits of the tokens that this server issues are those of the
 * last token received from a master or a file, plus a number from 1 to 15,
 * drawn at random once, modulo 16. They are random if none was received. So a
 * promoted replica issues no token that its old master issues, if the last
 * token that it received was from that master. Otherwise the tokens of these
 * two servers have equal last bits with a probability of at most 1/15. */
#define COMMANDS_TOKEN_STEP 16u
/* The number of tokens of one millisecond. */
#define COMMANDS_TOKENS UINT64_C(1024)
struct commands_tokens {
    /* the greatest token issued or received; received ones far ahead of the
     * clock and of earlier tokens are forged and do not count */
    uint64_t last;
    bool heard;     /* a token from elsewhere was received */
    unsigned other; /* its last bits */
    unsigned start; /* random last bits of our tokens if none was received */
    /* random distance from the other's last bits to ours; 0: not yet drawn */
    unsigned step;
};
extern struct commands_tokens commands_tokens;
/* Records a token that was issued at that time, or one received from
 * elsewhere. */
void commands_note_token(uint64_t token, uint64_t wall);
void commands_learn_token(uint64_t token, uint64_t wall);

/* Reply with pairs of a map: the first function with one pair, the second with
 * the COMMANDS_REPEAT pairs of a recurring event. */
#define COMMANDS_REPEAT 3
void commands_reply_number(struct host *host, const char *name, uint64_t value);
void commands_reply_repeat(struct host *host,
                           const struct queue_repeat *repeat);

/* Replies with the settings of a key as COMMANDS_SETTINGS pairs of a map. */
#define COMMANDS_SETTINGS 6
void commands_reply_settings(struct call *call);

/* Returns how many events can be delivered now: at most count and
 * lawn.max-batch. */
size_t commands_count_due(struct call *call, uint64_t count);

/* Determines which events are due, leased and dead now. Returns the number of
 * due events. At most COMMANDS_PROMOTE_MAX events change their state per call,
 * so the counts may be too low at first. */
#define COMMANDS_PROMOTE_MAX 1000u
uint64_t commands_promote_due(struct call *call);

/* Records how late a delivered event is, unless it is delivered again because
 * its lease has ended. */
void commands_note_late(struct call *call, const struct queue_event *event);

/* Computes an event's state after its delivery. Returns false if it is
 * removed. */
bool commands_next_period(const struct queue_event *event, uint64_t now,
                          struct queue_event *next);

/* Delivered events that are not yet replicated. Up to COMMANDS_FEW events, of
 * which at most one recurs, need no memory. */
#define COMMANDS_FEW 32u
struct commands_batch {
    struct bytes few[COMMANDS_FEW];
    struct bytes few_again[REPLICATION_AT_WORDS];
    struct commands_at few_at;
    struct bytes *gone; /* ids of events to remove */
    size_t gone_count;
    struct bytes *again; /* arguments of AT of recurring events */
    size_t again_count;  /* of events */
    struct commands_at *at;
    void *memory;
};

/* Both functions reserve memory for count events, of which again_count recur.
 * They return false if memory allocation fails; commands_batch_init() also
 * replies with an error. */
bool commands_batch_reserve(struct commands_batch *batch, size_t count,
                            size_t again_count);
bool commands_batch_init(struct call *call, struct commands_batch *batch,
                         size_t count, size_t again_count);
/* Records that an event was delivered. *next is its next occurrence; NULL if it
 * is removed. The bytes of the id must remain valid until the batch is
 * replicated and applied. */
void commands_batch_add(struct call *call, struct commands_batch *batch,
                        const struct queue_event *event,
                        const struct queue_event *next);
/* The same, and removes the event from the queue or moves it to its next
 * time. */
void commands_batch_remove(struct call *call, struct commands_batch *batch,
                           const struct queue_event *event);
void commands_count_fired(struct call *call, const struct queue_event *event);
void commands_batch_replicate(struct call *call,
                              const struct commands_batch *batch);
/* Replicates the batch and notifies the subscribed clients. */
void commands_batch_report(struct call *call,
                           const struct commands_batch *batch,
                           const char *what);
void commands_batch_apply(struct call *call,
                          const struct commands_batch *batch);
void commands_batch_fini(struct commands_batch *batch);

/* Replies with an array of the first count due events, each written by reply(),
 * and removes them; recurring ones are moved to their next time. At least count
 * events must be ready: see commands_count_due(). */
typedef void commands_reply_fn(struct call *call,
                               const struct queue_event *event);
void commands_remove_due(struct call *call, size_t count,
                         commands_reply_fn *reply);

#endif
