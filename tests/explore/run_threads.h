/* run_threads.h - fibres, between run.c, which lets them go on, run_memory.c, what
 * they see, and run_atomic.c, what they do. */
#ifndef LAWN_EXPLORE_RUN_THREADS_H
#define LAWN_EXPLORE_RUN_THREADS_H

#include "explore.h"
#include "fibre.h"

#define RUN_MAIN EXPLORE_FIBRES /* the main context */
#define RUN_BUFFER 16
#define RUN_SEEN 64 /* words of a loop that yields, at most */
#define RUN_NEVER UINT64_MAX

enum run_state {
    RUN_READY,
    RUN_ASLEEP,  /* until word is woken, or the time until */
    RUN_YIELDED, /* until a word that was seen has changed */
    RUN_AT_LOCK, /* until word is 0 */
    RUN_DONE
};

struct run_word {
    void *word;
    uint64_t value;
    unsigned size;
    bool own; /* written, not read */
};

struct run_thread {
    struct fibre fibre;
    struct lawn_worker *self;
    const void *word; /* that it is about to use, or waits for; or NULL */
    uint64_t until;   /* when it wakes by itself */
    enum run_state state;
    unsigned stored; /* delayed stores in the buffer, the oldest first */
    unsigned seen_count;
    unsigned changes; /* see explore_changes() */
    unsigned turn;    /* src/workers/workers.c: where it starts what next */
    bool storing;     /* about to store what could be delayed, */
    bool delay;       /* and it is */
    bool news;        /* what it has seen has changed since */
    struct run_word buffer[RUN_BUFFER];
    uint64_t under[RUN_BUFFER]; /* what others see there, while it runs */
    struct run_word seen[RUN_SEEN];
};

extern const struct explore_scenario *run_scenario;
extern bool run_delays;
extern unsigned run_thread_count;
extern struct run_thread run_threads[EXPLORE_FIBRES + 1]; /* and RUN_MAIN */
extern unsigned run_current;
extern unsigned run_posing;   /* as whom the main context is a worker */
extern unsigned run_buffered; /* in all buffers */
extern bool run_running; /* a fibre, or the main context; or steps are chosen */

/* run.c */

/* Before each operation on a word, or NULL. True if it is a store that is
 * delayed. */
bool run_step(const void *word, bool writes, bool storing);

/* Who switches to a fibre, or to the main context, has picked it. */
void run_go_on(void);

/* A line in the trace, if there is one. */
void run_print_word(const char *what, const void *word, uint64_t value,
                    const char *more);

/* clock.c, or another file in its place */

/* A scenario begins. */
void run_set_clock(void);

/* The time that a fibre sees. */
uint64_t run_clock(unsigned fibre);

/* When all sleep: the time goes to when the first one wakes. False if none
 * does. */
bool run_pass_time(void);

/* run_memory.c */

uint64_t run_read(const void *word, unsigned size);
void run_write(void *word, unsigned size, uint64_t value);

/* Fails if it was freed. */
void run_check_word(const void *word, unsigned size);

/* What the caller has read or written last, and so knows: a ring. */
void run_saw(void *word, unsigned size, uint64_t value, bool own);

/* Of several entries for a word the newest is right. If others have changed it
 * between two looks, the fibre may wait because of the first of them, and goes
 * on at once. */
void run_settle_seen(struct run_thread *me);
bool run_seen_changed(const struct run_thread *thread);

/* While a fibre runs, the memory is as it sees it, with its delayed stores; so
 * that it may also read them plainly. While it does not, as others do. */
void run_put_on(struct run_thread *me);
void run_take_off(struct run_thread *me);

/* The oldest of a fibre's stores reaches the memory. */
void run_flush(struct run_thread *thread);

/* All of them do. */
void run_drain_of(struct run_thread *thread);

#endif
