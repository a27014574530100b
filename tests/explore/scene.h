/* scene.h - a set of workers, a few timers, and their required properties.
 *
 * The first threads of a scenario are the workers. scene_begin() has attached
 * them and run their first round. All operations on timers use scene_start()
 * and similar functions, which keep the history of each timer (history.h). The
 * clock is at SCENE_NOW unless a thread moves it. When no thread can run, it
 * moves far ahead, and then all timers must have ended. */
#ifndef LAWN_EXPLORE_SCENE_H
#define LAWN_EXPLORE_SCENE_H

#include "explore.h"
#include "history.h"

#include "lawn_workers.h"

#define SCENE_TIMERS 3
#define SCENE_NOW 10   /* while threads run */
#define SCENE_SOON 100 /* where scene_move_clock() moves it */
#define SCENE_AMID 45  /* when no thread can run: nothing may be late */
#define SCENE_END 1000 /* and at the end */

#define SCENE_CHECKED 15 /* one end in n is checked by the library */

struct scene {
    struct lawn_workers *set;
    struct lawn_worker *workers[EXPLORE_FIBRES];
    struct history histories[SCENE_TIMERS];
    void (*hooks[SCENE_TIMERS])(unsigned timer); /* called when a timer fires */
    void (*left_hook)(unsigned timer);           /* and when it is left */
    bool freed[SCENE_TIMERS];
    unsigned callbacks[SCENE_TIMERS]; /* number of running callbacks, */
    unsigned callers[SCENE_TIMERS];   /* and their fibre */
    unsigned events;
    unsigned left;
    bool closed;
    bool unsettled; /* a worker is being added or removed: starts may fail */
    /* Freed one by one, by explore_free(). */
    struct lawn_workers_timer timers[SCENE_TIMERS];
};

extern struct scene scene;
extern uint64_t explore_now;

/* In setup: creates a set with this number of workers, at time 0. */
void scene_begin(unsigned workers);
void scene_begin_with(unsigned workers, struct lawn_workers_options *options);

/* In setup: adds a worker whose thread is created by the library; its function
 * in the scenario is explore_made. */
void scene_add(unsigned worker);

/* In setup: a timer on the worker's lawn, started by its worker, or by another
 * thread. */
void scene_have_own(unsigned timer, unsigned worker, uint64_t deadline);
void scene_have_shared(unsigned timer, unsigned worker, uint64_t deadline);

/* In setup, last: all workers sleep, and the time is SCENE_NOW. */
void scene_ready(void);

/* For threads and hooks. */
int scene_start(unsigned timer, uint64_t deadline);
int scene_start_ttl(unsigned timer, uint64_t ttl);
int scene_start_on(unsigned timer, uint64_t ttl, unsigned worker);
bool scene_stop(unsigned timer);
bool scene_stop_sync(unsigned timer);
void scene_free(unsigned timer);
void scene_close(uint64_t until);

/* Threads: a worker that serves; one that leaves when asked to; the clock. */
void scene_serve(void);
void scene_serve_and_leave(void);
void scene_move_clock(void);

/* Shared by several scenarios. One worker, and timer 0, started by another
 * thread: it is due, or will be at 50. */
void scene_setup_due(void);
void scene_setup_held(void);

/* Threads, each with one operation. */
void scene_start_0_for_20(void);
void scene_start_0_for_60(void);
void scene_start_1_for_60(void);
void scene_stop_0(void);
void scene_stop_sync_0(void);
void scene_stop_sync_and_free_0(void);
void scene_close_at_once(void);
void scene_close_at_the_end(void);

/* For .finish; also if the set has been closed. */
void scene_finish(void);
void scene_finish_closed(void);

#endif
