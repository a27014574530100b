/* run_threads.h - fibres, shared by run.c, which schedules them, run_memory.c,
 * their view of the memory, and run_atomic.c, their operations. */
#ifndef LAWN_EXPLORE_RUN_THREADS_H
#define LAWN_EXPLORE_RUN_THREADS_H

#include "explore.h"
#include "fibre.h"

#define RUN_MAIN EXPLORE_FIBRES /* the main context */
#define RUN_BUFFER 16
#define RUN_SEEN 64 /* maximum number of words of a loop that yields */
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
    uint64_t until;   /* when it wakes without a wake-up call */
    enum run_state state;
    unsigned stored; /* delayed stores in the buffer, the oldest first */
    unsigned seen_count;
    unsigned changes; /* see explore_changes() */
    unsigned turn;    /* src/workers/workers.c: target of the next start */
    bool storing;     /* about to make a store that could be delayed */
    bool delay;       /* and it is delayed */
    bool news;        /* a seen word has changed since */
    struct run_word buffer[RUN_BUFFER];
    uint64_t under[RUN_BUFFER]; /* the values that others see, while it runs */
    struct run_word seen[RUN_SEEN];
};

extern const struct explore_scenario *run_scenario;
extern bool run_delays;
extern unsigned run_thread_count;
extern struct run_thread run_threads[EXPLORE_FIBRES + 1]; /* and RUN_MAIN */
extern unsigned run_current;
extern unsigned run_posing;   /* the worker that the main context acts as */
extern unsigned run_buffered; /* in all buffers */
extern bool run_running;      /* a fibre or the main context runs, or pick() */

/* run.c */

/* Called before each operation on a word, or NULL. Returns true if it is a
 * store that is delayed. */
bool run_step(const void *word, bool writes, bool storing);

/* Called by the fibre or main context that was picked and switched to. */
void run_go_on(void);

/* Prints a line in the trace, if there is one. */
void run_print_word(const char *what, const void *word, uint64_t value,
                    const char *more);

/* clock.c, or another file instead */

/* Starts a scenario. */
void run_set_clock(void);

/* Returns the time that a fibre sees. */
uint64_t run_clock(unsigned fibre);

/* When all sleep: advances the time to when the first one wakes. Returns false
 * if none does. */
bool run_pass_time(void);

/* run_memory.c */

uint64_t run_read(const void *word, unsigned size);
void run_write(void *word, unsigned size, uint64_t value);

/* Fails if the word was freed. */
void run_check_word(const void *word, unsigned size);

/* Records a value that the caller has just read or written, in a ring. */
void run_saw(void *word, unsigned size, uint64_t value, bool own);

/* If a word has several entries, keeps the newest. If another fibre changed the
 * word between two reads, sets me->news, so that the yield returns at once: the
 * caller may have yielded because of the value of the earlier read. */
void run_settle_seen(struct run_thread *me);
bool run_seen_changed(const struct run_thread *thread);

/* While a fibre runs, the memory has its delayed stores applied, so that it may
 * also read them plainly. Otherwise the memory is as others see it. */
void run_put_on(struct run_thread *me);
void run_take_off(struct run_thread *me);

/* Flushes the oldest store of a fibre to memory. */
void run_flush(struct run_thread *thread);

/* Flushes all of them. */
void run_drain_of(struct run_thread *thread);

#endif
