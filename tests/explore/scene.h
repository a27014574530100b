/* scene.h - a set of workers, a few timers, and what must hold of them.
 *
 * The first threads of a scenario are the workers, which have been attached and
 * had their first round in scene_begin(). All that is done to timers goes through
 * scene_start() and the like, which keep the history of each (history.h). The
 * clock stands at SCENE_NOW, but where a thread moves it; when all is quiet, it
 * goes far, and then all timers must have ended. */
#ifndef LAWN_EXPLORE_SCENE_H
#define LAWN_EXPLORE_SCENE_H

#include "explore.h"
#include "history.h"

#include "lawn_workers.h"

#define SCENE_TIMERS 3
#define SCENE_NOW 10   /* while threads run */
#define SCENE_SOON 100 /* where scene_move_clock() moves it */
#define SCENE_AMID 45  /* when all is quiet: nothing may be late */
#define SCENE_END 1000 /* and at the end */

#define SCENE_CHECKED 15 /* one end in so many is looked at by the library */

struct scene {
    struct lawn_workers *set;
    struct lawn_worker *workers[EXPLORE_FIBRES];
    struct history histories[SCENE_TIMERS];
    void (*hooks[SCENE_TIMERS])(unsigned timer); /* called when it fires */
    void (*left_hook)(unsigned timer);           /* and when it is left */
    bool freed[SCENE_TIMERS];
    unsigned callbacks[SCENE_TIMERS]; /* that run, */
    unsigned callers[SCENE_TIMERS];   /* and on which fibre */
    unsigned events;
    unsigned left;
    bool closed;
    bool unsettled; /* a worker comes or goes: a start on it may find none */
    /* Last, since its shards are freed. */
    struct lawn_workers_timer timers[SCENE_TIMERS];
};

extern struct scene scene;
extern uint64_t explore_now;

/* In setup: a set with so many workers, at time 0. */
void scene_begin(unsigned workers);
void scene_begin_with(unsigned workers, struct lawn_workers_options *options);

/* In setup: another worker, whose thread the library has made; that of the
 * scenario is explore_made. */
void scene_add(unsigned worker);

/* In setup: a timer that was started by its worker, or by another thread, and is
 * on the worker's lawn. */
void scene_have_own(unsigned timer, unsigned worker, uint64_t deadline);
void scene_have_shared(unsigned timer, unsigned worker, uint64_t deadline);

/* In setup, at last: all workers sleep, and it is SCENE_NOW. */
void scene_ready(void);

/* In threads and hooks. */
int scene_start(unsigned timer, uint64_t deadline);
int scene_start_ttl(unsigned timer, uint64_t ttl);
int scene_start_on(unsigned timer, uint64_t ttl, unsigned worker);
bool scene_stop(unsigned timer);
bool scene_stop_sync(unsigned timer);
void scene_free(unsigned timer);
void scene_close(uint64_t until);

/* Threads: a worker that serves; that leaves when it is asked to; the clock. */
void scene_serve(void);
void scene_serve_and_leave(void);
void scene_move_clock(void);

/* What several scenarios do. One worker, and timer 0, which another thread had
 * started: it is due, or will be at 50. */
void scene_setup_due(void);
void scene_setup_held(void);

/* Threads, each of one operation. */
void scene_start_0_for_20(void);
void scene_start_0_for_60(void);
void scene_start_1_for_60(void);
void scene_stop_0(void);
void scene_stop_sync_0(void);
void scene_stop_sync_and_free_0(void);
void scene_close_at_once(void);
void scene_close_at_the_end(void);

/* For .finish; and if the set has been closed. */
void scene_finish(void);
void scene_finish_closed(void);

#endif
