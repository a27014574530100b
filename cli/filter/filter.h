/* filter.h - what the filters have in common: lines in, timed lines out.
 *
 * A line's way: input.c cuts it from a block; take.c finds its key and time
 * (fields.c) and moves the clock on, which makes timers due (clock.c); the verb
 * (delay.c, debounce.c, ...) holds it (hold.c), writes it (put.c), or merges it;
 * sink.c writes. filter.c waits for lines and deadlines; state.c keeps what is
 * held; tell.c is what we say on standard error.
 *
 * What is held lives in three stores:
 *     keys    by key: what the verb knows of it
 *     lines   by number or by key and number: lines that wait
 *     early   by number: with --lateness, lines whose time has not come
 * A deadline is a time on the filter's clock: nanoseconds since 1970, of the
 * events, or of CLOCK_BOOTTIME set to the time of day when we started.
 *
 * One line costs a lookup or two and O(its length), whatever is held; where limits
 * evict keys that have many TTLs, more: see hold.c.
 */
#ifndef LAWN_CLI_FILTER_H
#define LAWN_CLI_FILTER_H

#include "fields.h"
#include "input.h"
#include "options.h"
#include "sink.h"
#include "times.h"

#include <lawn_loop.h>
#include <lawn_store.h>

#define FILTER_KEY_MAX 65000u
#define FILTER_OF_MAX 8192u /* the options that a state goes by, as text */

enum filter_eof { FILTER_DRAIN, FILTER_FLUSH, FILTER_DROP, FILTER_SAVE };
enum filter_overflow { FILTER_EVICT, FILTER_PASS, FILTER_FAIL };

/* Places in struct fields. */
enum filter_field { FILTER_KEY, FILTER_TIME, FILTER_TTL, FILTER_FIELDS };

/* Of all verbs' options; a verb's table has those that it takes. NULL, SIZE_MAX
 * and UINT64_MAX: not given. */
struct filter_options {
    struct options_operands operands;
    const char *key;
    const char *right_key;
    const char *delimiter;
    const char *time_field;
    const char *right_time_field;
    const char *ttl_field;
    const char *state;
    char *expect;
    size_t time_unit;
    size_t ttl_unit;
    size_t on_eof;
    size_t overflow;
    size_t emit;
    uint64_t lateness;
    uint64_t max_keys;
    uint64_t max_lines;
    uint64_t state_every;
    uint64_t stats; /* every so often; 0: at the end only */
    uint64_t max_wait;
    uint64_t burst;
    uint64_t queue;
    uint64_t max_duration;
    uint64_t max_events;
    bool json;
    bool strict;
    bool drop;
    bool repeat;
    bool exit_on_absent;
};

/* A line as a verb gets it. */
struct filter_line {
    const char *at;
    size_t size; /* with a carriage return at its end, if it has one */
    const void *key;
    size_t key_size;
    uint64_t ttl;  /* of --ttl-field */
    unsigned side; /* of join: 0 left, 1 right */
};

/* What became of the lines that were read; those written the sink counts. */
struct filter_counts {
    uint64_t in;
    uint64_t held;
    uint64_t merged;
    uint64_t refused;
    uint64_t bad;
    uint64_t discarded;
    uint64_t late;
    uint64_t evicted;
    uint64_t resumed;
};

/* Why something ends that is not due. */
enum filter_why { FILTER_DUE, FILTER_AT_EOF, FILTER_EVICTED };

struct filter;
struct due_one;

/* The number of the line that a timer is due for, which orders those that are
 * due at the same time. */
typedef uint64_t filter_order_fn(const struct filter *filter,
                                 const struct lawn_store_timer *timer);

/* What a verb is. Callbacks get the filter, whose now is the time. */
struct filter_verb {
    bool whole_line; /* is the key, unless another is given */
    /* Reads what its options say. Else 0, or an exit code; it was told why. */
    int (*open)(struct filter *filter);
    /* The first line is about to be treated. May be NULL. */
    void (*begin)(struct filter *filter);
    void (*line)(struct filter *filter, const struct filter_line *line);
    /* A timer of keys, or of lines, has come, and left the store; or is to end,
     * and still stands there. NULL: it is forgotten. */
    void (*key_due)(struct filter *filter,
                    const struct lawn_store_timer *timer);
    void (*line_due)(struct filter *filter,
                     const struct lawn_store_timer *timer);
    /* A line that exceeds a limit, and is not to be held. NULL: it is refused. */
    void (*pass)(struct filter *filter, const struct filter_line *line);
    /* Makes room for a key. NULL: the one due first ends. */
    void (*evict)(struct filter *filter);
    /* Whether a verb can have left this in keys, or lines. */
    bool (*key_valid)(const struct filter *filter,
                      const struct lawn_store_timer *timer);
    bool (*line_valid)(const struct filter *filter,
                       const struct lawn_store_timer *timer);
    /* How many of lines belong to a key; NULL: none do. */
    uint64_t (*key_lines)(const struct filter *filter,
                          const struct lawn_store_timer *timer);
};

struct filter {
    const char *name; /* of the verb */
    const struct filter_verb *verb;
    struct filter_options options;

    /* What the verb's open() says besides its own: */
    uint64_t ttl;
    struct lawn_store *pending; /* its timers are waited for at the end */
    unsigned key_holds;         /* lines held by a timer of keys, 0 or 1; */
    unsigned line_holds;        /* by one of lines */
    bool flushes;               /* pending can be written before it is due */
    filter_order_fn *key_order; /* NULL: they have one TTL, and are in order */
    filter_order_fn *line_order;
    bool line_keys; /* lines are keys as well, of absent */
    bool mixed;     /* the state has TTLs of another run's, see due.h */
    uint64_t rate;  /* of throttle: so many each ttl */

    struct lawn_store *keys;
    struct lawn_store *lines;
    struct lawn_store *early;
    uint64_t now;    /* the time that is being treated */
    uint64_t newest; /* event time that was seen */
    bool timed;      /* one was, and form is known */
    bool begun;      /* a line was treated */
    bool ended;      /* the input has */
    enum filter_why why;
    uint64_t serial; /* of the line held last */

    struct fields fields[2]; /* of the inputs */
    struct input inputs[2];
    size_t input_count;
    struct filter_head {
        struct input_line line; /* that an input stands at, */
        uint64_t time;          /* 0 if it has none */
        bool there;             /* if it does */
        bool ended;             /* it has no more */
        bool ready;             /* reading it does not wait */
    } heads[2];
    enum times_form form; /* of times that are written; */
    enum times_unit unit;
    enum times_unit units[2]; /* of times that are read, from each input */
    enum times_unit ttl_unit;

    struct due { /* timers in order: see due.h */
        struct due_one *all;
        size_t count;
        size_t room;
        char *bytes;
        size_t size;
        size_t capacity;
    } due;

    struct sink sink;
    unsigned pieces; /* of the made line that stands at its end */
    struct filter_counts counts;

    struct input expected; /* of absent */

    struct lawn_loop *loop;
    uint64_t offset; /* from the loop's clock to ours */
    struct lawn_loop_timer wake;
    struct lawn_loop_timer saving;
    struct lawn_loop_timer telling;
    struct lawn_loop_watch watches[2];
    struct lawn_loop_watch signals;

    const char *emit; /* the word of --emit; NULL: the verb has none */
    char was_of[FILTER_OF_MAX]; /* what the state that was loaded is of */
    int lock;                   /* of the state file; below 0: none */
    bool loaded;                /* the state is ours to replace */
    bool unsaved;               /* --state-every could not, the last time */
    bool done;                  /* stop, */
    int code;                   /* and exit with this */

    char wrong[128]; /* with a line */
    bool untaken;    /* the line that a verb was given is to be given back */
    void *spare;     /* memory to save the state with when there is no more */
    uint64_t oldest; /* no line has a number before it */
    char *scratch;   /* a record being put together */
    size_t scratch_size;
    char id[FILTER_KEY_MAX + 8]; /* a key's line */
};

/* The run() of all of them. */
int filter_main(const struct options_verb *verb, int argc, char **argv);

/* Ends the filter with an exit code. */
void filter_end(struct filter *filter, int code);

#endif
