/* fake.h - a fake server, for testing commands: keys, a clock that changes only
 * when it is set, and replies as text.
 *
 *     struct fake *fake = fake_new();
 *     puts(fake_run(fake, "LAWN.PUSH k a x DELAY 10")); // "a"
 *     fake->now += 10;
 *     puts(fake_run(fake, "LAWN.POLL k")); // [["a", "x"]]
 *
 * REPLIES: nil 5 +OK !ERR ... "bytes" [a, b] {k: v}; an unprintable byte is
 * \xNN; "waits" if the client was blocked. A call that does not reply exactly
 * once aborts the program.
 *
 * Before a call, the keys whose wake-up is due are processed and their due
 * events delivered. After it, each key is checked to have a wake-up that is
 * early enough. A replica does neither.
 *
 * Replicated changes are recorded. After the call the replica, if there is one,
 * applies them, as in a server.
 */
#ifndef LAWN_TESTS_FAKE_H
#define LAWN_TESTS_FAKE_H

#include "command.h"

/* A growing text; at is never NULL. */
struct fake_text {
    char *at;
    size_t size;
    size_t room;
};

#define FAKE_KEYS 8

struct fake {
    uint64_t now;
    struct fake *replica; /* NULL: none */
    uint64_t random;      /* state of the random numbers */
    bool follows;         /* this is a replica */
    bool may_block;
    bool frozen;
    bool may_publish;
    bool full;
    /* Limits of the processing of one key: */
    uint64_t budget;
    unsigned over_after; /* events delivered before the time is over */
    /* The result of the server's own commands: NULL for success, otherwise the
     * error, after this number of successful ones. */
    const char *refusal;
    unsigned refuse_after;
    unsigned lose_after; /* the key is deleted after this number of commands */
    /* blocks that a call can allocate; UINT64_MAX: unlimited */
    uint64_t memory;
    uint64_t blocks; /* memory blocks at the beginning */
    /* Results of the last call: */
    struct fake_text reply;
    struct fake_text replicated; /* "ADD a x 10 10 \"\"; DEL b" */
    struct fake_text noted;      /* notifications: "lawn.push del" */
    unsigned signals;
    unsigned arms;
    uint64_t block_ms; /* argument of host_block(), even if it refused */
    /* Keys; a NULL queue is a free slot. */
    struct fake_key {
        char *name;
        size_t size;
        struct queue *queue;
    } keys[FAKE_KEYS];
    struct fake_done *done; /* pending changes for the replica */
};

struct fake *fake_new(void);
void fake_free(struct fake *fake);

/* Runs a command. Words are separated by spaces; '' is an empty word, and 'a b'
 * is one word. The result is valid until the next call. */
const char *fake_run(struct fake *fake, const char *line);
const char *fake_call(struct fake *fake, const struct bytes *args,
                      size_t count);

/* Processes the keys whose wake-up is due, once. Returns the commands and
 * changes: "XADD s * id a ...; DEL a". */
const char *fake_tick(struct fake *fake);

/* Returns NULL if the key does not exist. */
struct queue *fake_queue(struct fake *fake, const char *key);

/* Returns true if both have the same keys with the same settings and events,
 * and their queues are valid; otherwise prints the difference. */
bool fake_same(struct fake *a, struct fake *b);

#endif
