/* fake.h - a server of a few hundred lines, for commands without one: keys, a
 * clock that stands still until it is set, and replies as text.
 *
 *     struct fake *fake = fake_new();
 *     puts(fake_run(fake, "LAWN.PUSH k a x DELAY 10")); // "a"
 *     fake->now += 10;
 *     puts(fake_run(fake, "LAWN.POLL k")); // [["a", "x"]]
 *
 * REPLIES: nil 5 +OK !ERR ... "bytes" [a, b] {k: v}; a byte that cannot be
 * printed is \xNN; "waits" if the client was blocked. A call that does not reply
 * exactly once ends the program.
 *
 * Before a call the keys whose wake-up has come are looked at, and what is due there
 * is handed on; after it each has one that is early enough. A replica does nothing of
 * the kind.
 *
 * What is replicated is noted in `replicated`, and done by the replica, if there is
 * one, when the call is over; as the server does it.
 */
#ifndef LAWN_TESTS_FAKE_H
#define LAWN_TESTS_FAKE_H

#include "command.h"

/* A text that grows; at is never NULL. */
struct fake_text {
    char *at;
    size_t size;
    size_t room;
};

#define FAKE_KEYS 8

struct fake {
    uint64_t now;
    struct fake *replica; /* NULL: none */
    uint64_t random;      /* the state of its numbers */
    bool follows;         /* it is a replica */
    bool may_block;
    bool frozen;
    bool may_publish;
    bool full;
    /* Of each look at a key: */
    uint64_t budget;
    unsigned over_after; /* so many events are handed on until time is over */
    /* Of commands of the server's own: NULL if they are done, else the error, after
     * so many more. */
    const char *refusal;
    unsigned refuse_after;
    unsigned lose_after; /* the key is gone after so many of those */
    uint64_t memory; /* blocks that a call may have; UINT64_MAX: any number */
    uint64_t blocks; /* of memory, that there were at first */
    /* Of the last call: */
    struct fake_text reply;
    struct fake_text replicated; /* "ADD a x 10 10 \"\"; DEL b" */
    struct fake_text noted;      /* events: "lawn.push del" */
    unsigned signals;
    unsigned arms;
    uint64_t block_ms; /* of host_block(), even if it said no */
    /* Keys: a queue of NULL is a free place. */
    struct fake_key {
        char *name;
        size_t size;
        struct queue *queue;
    } keys[FAKE_KEYS];
    struct fake_done *done; /* what the replica is to do */
};

struct fake *fake_new(void);
void fake_free(struct fake *fake);

/* Runs a command. Words of a line are separated by a space; '' is an empty
 * word, and in 'a b' a space is none that separates. Stays until the next. */
const char *fake_run(struct fake *fake, const char *line);
const char *fake_call(struct fake *fake, const struct bytes *args,
                      size_t count);

/* Looks at the keys whose wake-up has come, once, and returns what was told and
 * done: "XADD s * id a ...; DEL a". */
const char *fake_tick(struct fake *fake);

/* NULL: there is no such key. */
struct queue *fake_queue(struct fake *fake, const char *key);

/* Whether both have the same keys with the same settings and events, and all is
 * well with their queues; if not, says what is the matter. */
bool fake_same(struct fake *a, struct fake *b);

#endif
