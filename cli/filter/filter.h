/* filter.h - the data that all filters share: lines in, timed lines out.
 *
 * The path of a line: input.c splits a block into lines; parse.c finds the key
 * and the time of a line (with fields.c, json.c, times.c); intake.c advances
 * the clock, which fires due timers (clock.c, due_batch.c), and passes the line
 * to the verb (delay.c, debounce.c, ...). The verb holds the line (stores.c,
 * within the limits of filter_limits.c), emits it (emit.c), or merges it with
 * others. sink.c writes the output. filter.c runs the event loop; state.c saves
 * and loads a state file; log.c prints messages. ../README.md has a table of
 * the files.
 *
 * Held data is in three stores:
 *     keys    by key: the verb's record of the key
 *     lines   by number, key, or both: held lines or reported keys
 *     early   by number: with --lateness, lines ahead of the clock
 * A deadline is a time on the filter's clock, in nanoseconds since 1970. The
 * clock is event time, or the time of day at the start plus the time since then
 * (CLOCK_BOOTTIME).
 *
 * A line costs one or two lookups and O(its length), independent of the number
 * of held lines and keys. Evicting keys that have many TTLs costs more: see
 * filter_limits.c.
 */
#ifndef LAWN_CLI_FILTER_H
#define LAWN_CLI_FILTER_H

#include "fields.h"
#include "filter_options.h"
#include "input.h"
#include "sink.h"
#include "times.h"

#include <lawn_loop.h>
#include <lawn_store.h>

#define FILTER_KEY_MAX 65000u

/* The options that a state file depends on, as text. */
#define FILTER_SIGNATURE_MAX 8192u

/* Indices into struct fields. */
enum filter_field { FILTER_KEY, FILTER_TIME, FILTER_TTL, FILTER_FIELDS };

/* A line as a verb receives it. */
struct filter_line {
    const char *at;
    size_t size; /* including a carriage return at the end, if there is one */
    const void *key;
    size_t key_size;
    uint64_t ttl;  /* of --ttl-field */
    unsigned side; /* of join: 0 left, 1 right */
};

/* The result of processing a line. The caller counts it. */
enum line_result {
    LINE_WRITTEN,  /* it was passed to the sink, which counts it */
    LINE_HELD,     /* it is in a store until a timer fires */
    LINE_MERGED,   /* it changed a record, and will not be written */
    LINE_REFUSED,  /* it exceeds a limit, and is dropped */
    LINE_NOT_TAKEN /* the filter ends; the line stays in the input */
};

/* Counts of the lines that were read. The sink counts written lines. */
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

/* Why a verb's due callback is called. */
enum filter_cause { CAUSE_DUE, CAUSE_EOF, CAUSE_EVICTED };

struct filter;
struct due_timer;

/* Returns the number of the line that a timer was started for. It orders timers
 * with equal deadlines. */
typedef uint64_t filter_order_fn(const struct filter *filter,
                                 const struct lawn_store_timer *timer);

/* The functions of a verb. The time of a callback is filter->clock.now. */
struct filter_verb {
    bool whole_line; /* the default key is the whole line */
    /* Reads the operands and options, and fills filter->setup. Returns 0, or an
     * exit code after printing a message. */
    int (*open)(struct filter *filter);
    /* Called before the first line is processed. Returns false after calling
     * filter_end() if the filter cannot start. May be NULL. */
    bool (*begin)(struct filter *filter);
    /* Processes a line. */
    enum line_result (*line)(struct filter *filter,
                             const struct filter_line *line);
    /* Called when a timer of `keys`, or of `lines`, has fired and left its
     * store, or when it is evicted and is still in its store. NULL: nothing to
     * do. */
    void (*key_due)(struct filter *filter,
                    const struct lawn_store_timer *timer);
    void (*line_due)(struct filter *filter,
                     const struct lawn_store_timer *timer);
    /* Processes a line that exceeds a limit, with --overflow pass. NULL: the
     * line is refused. */
    enum line_result (*pass)(struct filter *filter,
                             const struct filter_line *line);
    /* Makes room for a key. NULL: the key that is due first is evicted. */
    void (*evict)(struct filter *filter);
    /* Return whether a timer of a loaded state is one that the verb may have
     * saved in `keys`, or in `lines`. */
    bool (*key_valid)(const struct filter *filter,
                      const struct lawn_store_timer *timer);
    bool (*line_valid)(const struct filter *filter,
                       const struct lawn_store_timer *timer);
    /* Returns the number of timers in `lines` that belong to a key. NULL: 0. */
    uint64_t (*key_lines)(const struct filter *filter,
                          const struct lawn_store_timer *timer);
};

/* The verb's configuration, set by its open(), then constant. */
struct filter_setup {
    uint64_t ttl;
    struct lawn_store *pending; /* --on-eof drain waits for the timers of
                                   this store */
    unsigned key_holds;         /* lines held by a timer of `keys`: 0 or 1 */
    unsigned line_holds;        /* lines held by a timer of `lines`: 0 or 1 */
    bool flushes;               /* held lines may be emitted before they are
                                   due */
    bool line_keys;             /* timers of `lines` count as keys (absent) */
    filter_order_fn *key_order; /* NULL: all have one TTL and fire in order */
    filter_order_fn *line_order;
    const char *emit;      /* the word of --emit; NULL: the verb has none */
    uint64_t rate;         /* of throttle: lines per ttl */
    struct input expected; /* of absent: the contents of --expect */
};

/* The clock, and how times are read and written. */
struct filter_clock {
    uint64_t now;    /* never decreases */
    uint64_t newest; /* the latest event time that was read */
    uint64_t offset; /* wall clock: now minus the loop's clock */
    bool has_time;   /* a time was read, and form is set */
    enum times_form form;
    enum times_unit unit;     /* of times in the output */
    enum times_unit units[2]; /* of times in each input */
    enum times_unit ttl_unit;
};

/* The stores, and memory to work on them. */
struct filter_stores {
    struct lawn_store *keys;
    struct lawn_store *lines;
    struct lawn_store *early;
    uint64_t serial; /* of the line held last */
    uint64_t oldest; /* no held line has a smaller number */
    bool mixed_ttls; /* the state has TTLs that this run does not have: see
                       due_batch.h */
    struct due_batch {
        struct due_timer *all;
        size_t count;
        size_t room;
        char *bytes;
        size_t size;
        size_t capacity;
    } batch;
    /* freed when memory runs out, so that the state can be saved */
    void *reserve;
    char *scratch; /* a record that is being built */
    size_t scratch_size;
    char line_id[FILTER_KEY_MAX + 8];
};

/* The inputs and the output. */
struct filter_io {
    struct fields fields[2];
    struct input inputs[2];
    size_t input_count;
    struct input_head {
        struct input_line line; /* the next line of the input */
        uint64_t time;          /* its time, 0 if it has none */
        bool present;           /* line is set */
        bool ended;             /* the input has no more lines */
        bool ready;             /* a read does not block */
    } heads[2];
    struct sink sink;
    unsigned pieces;      /* values in the line being made */
    char error_text[160]; /* why a line is bad */
};

struct filter_events {
    struct lawn_loop *loop;
    struct lawn_loop_timer wake_timer;
    struct lawn_loop_timer save_timer;
    struct lawn_loop_timer stats_timer;
    struct lawn_loop_watcher watches[2];
    struct lawn_loop_watcher signal_watch;
};

/* The result of saving the state. */
enum save_result {
    SAVE_DONE,        /* also before the first save */
    SAVE_NOT_FLUSHED, /* the file is replaced, but its directory not flushed */
    SAVE_FAILED       /* the file is unchanged */
};

/* The file of --state. */
struct filter_state {
    char *path;      /* with symbolic links resolved */
    int lock;        /* descriptor of the lock file; below 0: none */
    bool usable;     /* it was loaded or does not exist: it may be replaced */
    uint64_t format; /* of the file that was loaded */
    enum save_result last_save;
    char loaded_signature[FILTER_SIGNATURE_MAX];
};

/* The progress of the filter. */
struct filter_run {
    bool begun; /* the verb's begin() was called */
    bool ended; /* the end of the input was processed */
    bool done;  /* the filter stops */
    int code;   /* its exit code */
    enum filter_cause cause;
};

struct filter {
    const char *name; /* of the verb */
    const struct filter_verb *verb;
    struct filter_options options;
    struct filter_setup setup;
    struct filter_clock clock;
    struct filter_stores stores;
    struct filter_io io;
    struct filter_counts counts;
    struct filter_events events;
    struct filter_state state;
    struct filter_run run;
};

/* The run() of all filter verbs. */
int filter_main(const struct options_verb *verb, int argc, char **argv);

/* Stops the filter after the current line, with an exit code. The first call
 * counts. */
void filter_end(struct filter *filter, int code);

#endif
