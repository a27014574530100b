/* scene.c - see scene.h. */
#include "scene.h"

#include "../../src/workers/workers.h"

#include <errno.h>
#include <string.h>

struct scene scene;

/* Histories. */

static struct history_event *
begin_event(unsigned timer, enum history_kind kind)
{
    struct history *history = &scene.histories[timer];
    struct history_event *event = &history->events[history->count++];

    if (history->count > HISTORY_MAX) {
        explore_fail("too many events for a history");
    }
    event->kind = kind;
    event->began = scene.events++;
    event->ended = ~0u;
    return event;
}

/* While a store of the caller is delayed, no other thread can know that the
 * operation has ended: see on_drained(). */
static void
end_event(struct history_event *event)
{
    if (explore_has_delayed()) {
        event->late = 1u << explore_me();
    } else {
        event->ended = scene.events++;
    }
}

static void
on_drained(unsigned fibre)
{

    for (unsigned i = 0; i < SCENE_TIMERS; i++) {
        for (unsigned k = 0; k < scene.histories[i].count; k++) {
            struct history_event *event = &scene.histories[i].events[k];

            if (event->late == 1u << fibre) {
                event->late = 0;
                event->ended = scene.events++;
            }
        }
    }
}

/* A refused start had no effect. */
static void
drop_event(unsigned timer, struct history_event *event)
{
    struct history *history = &scene.histories[timer];
    size_t behind = (size_t)(history->events + history->count - (event + 1));

    memmove(event, event + 1, behind * sizeof(*event));
    history->count--;
}

static void
expect_possible(unsigned timer, bool runs)
{
    /* 20, 50 and 60 are deadlines of scenarios in which time passes. */
    static const uint64_t clocks[] = {SCENE_NOW, 20,         SCENE_AMID, 50,
                                      60,        SCENE_SOON, SCENE_END,  0};

    if (!history_possible(&scene.histories[timer], runs, explore_now, clocks)) {
        char text[500];
        history_format(&scene.histories[timer], text, sizeof(text));
        explore_fail("timer %u cannot %s at %llu after: %s", timer,
                     runs ? "be running" : "have ended",
                     (unsigned long long)explore_now, text);
    }
}

/* Callbacks. */

static void
on_fire(struct lawn_workers_timer *timer, struct lawn_worker *worker)
{
    unsigned which = (unsigned)(timer - scene.timers);

    EXPECT(which < SCENE_TIMERS);
    EXPECT(!scene.freed[which]);
    EXPECT(lawn_workers_self() == worker);
    EXPECT(scene.callbacks[which]++ == 0); /* C4 */
    scene.callers[which] = explore_me();
    struct history_event *event = begin_event(which, HISTORY_FIRE);
    event->began = 0;
    event->deadline = lawn_last_deadline(&timer->timer);
    event->time = explore_now;
    end_event(event);
    EXPECT(event->deadline <= explore_now); /* P1 */
    explore_print("-- timer %u fires", which);
    explore_point();
    if (scene.hooks[which] != NULL) {
        scene.hooks[which](which);
    }
    scene.callbacks[which]--;
}

static void
on_left(struct lawn_workers_timer *timer, void *arg)
{
    unsigned which = (unsigned)(timer - scene.timers);

    EXPECT(arg == &scene);
    EXPECT(which < SCENE_TIMERS);
    EXPECT(!scene.freed[which]);
    EXPECT(scene.callbacks[which]++ == 0);
    scene.callers[which] = explore_me();
    explore_print("-- timer %u is left", which);
    struct history_event *event = begin_event(which, HISTORY_LEFT);
    end_event(event);
    scene.left++;
    explore_point();
    if (scene.left_hook != NULL) {
        scene.left_hook(which);
    }
    scene.callbacks[which]--;
    EXPECT(!scene.freed[which]); /* C3 */
}

/* Setup. */

void
scene_begin_with(unsigned workers, struct lawn_workers_options *options)
{
    static const char *const names[] = {"timer 0", "timer 1", "timer 2"};

    memset(&scene, 0, sizeof(scene));
    explore_keep(&scene, sizeof(scene));
    options->lawn.blades = 8;
    options->lawn.slot_bits = 4;
    options->lawn.alloc = explore_alloc;
    options->lawn.release = explore_release;
    for (unsigned i = 0; i < SCENE_TIMERS; i++) {
        explore_name(&scene.timers[i], sizeof(scene.timers[i]), names[i]);
        scene.timers[i].fire = on_fire;
    }
    explore_when_drained(on_drained);
    scene.set = lawn_workers_new(options);
    EXPECT(scene.set != NULL);
    for (unsigned i = 0; i < workers; i++) {
        explore_be(i);
        scene.workers[i] = lawn_workers_attach(scene.set);
        EXPECT(scene.workers[i] != NULL);
        (void)lawn_worker_turn(scene.workers[i]);
    }
    explore_be(EXPLORE_FIBRES);
}

void
scene_begin(unsigned workers)
{
    struct lawn_workers_options options;

    memset(&options, 0, sizeof(options));
    scene_begin_with(workers, &options);
}

void
scene_add(unsigned worker)
{
    explore_make(worker);
    EXPECT(lawn_workers_add(scene.set) == (int)worker);
    scene.workers[worker] = scene.set->workers[worker];
    (void)lawn_worker_turn(scene.workers[worker]);
}

static void
have(unsigned timer, uint64_t deadline)
{
    struct history_event *event = begin_event(timer, HISTORY_START);

    event->deadline = deadline;
    end_event(event);
}

void
scene_have_own(unsigned timer, unsigned worker, uint64_t deadline)
{
    have(timer, deadline);
    explore_be(worker);
    EXPECT(lawn_workers_start_at(scene.set, &scene.timers[timer], deadline) ==
           0);
    explore_be(EXPLORE_FIBRES);
}

void
scene_have_shared(unsigned timer, unsigned worker, uint64_t deadline)
{
    have(timer, deadline);
    EXPECT(lawn_workers_start_on(scene.set, &scene.timers[timer], deadline,
                                 worker) == 0);
}

void
scene_ready(void)
{
    for (unsigned i = 0; i < EXPLORE_FIBRES && scene.workers[i] != NULL; i++) {
        explore_be(i);
        (void)lawn_worker_turn(scene.workers[i]);
        (void)lawn_worker_turn(scene.workers[i]);
    }
    explore_be(EXPLORE_FIBRES);
    explore_now = SCENE_NOW;
}

void
scene_setup_due(void)
{
    scene_begin(1);
    scene_have_shared(0, 0, 5);
    scene_ready();
}

void
scene_setup_held(void)
{
    scene_begin(1);
    scene_have_shared(0, 0, 50);
    scene_ready();
}

/* Threads. */

static int
started(unsigned timer, struct history_event *event, int error)
{
    if (error != 0) {
        EXPECT(scene.closed || (scene.unsettled && error == -ENOENT));
        drop_event(timer, event);
    } else {
        end_event(event);
    }
    explore_print("-- start of timer %u: %d", timer, error);
    return error;
}

/* Events move when one is dropped, so they are looked up by their beginning. */
static struct history_event *
event_of(unsigned timer, unsigned began)
{
    struct history *history = &scene.histories[timer];
    unsigned i = 0;

    for (i = 0; history->events[i].began != began ||
                history->events[i].kind == HISTORY_FIRE;
         i++) {
    }
    return &history->events[i];
}

int
scene_start(unsigned timer, uint64_t deadline)
{
    struct history_event *event = begin_event(timer, HISTORY_START);
    unsigned began = event->began;

    event->moments = true;
    event->deadline = deadline;
    explore_print("-- starts timer %u for %llu", timer,
                  (unsigned long long)deadline);
    int error =
        lawn_workers_start_at(scene.set, &scene.timers[timer], deadline);
    return started(timer, event_of(timer, began), error);
}

int
scene_start_ttl(unsigned timer, uint64_t ttl)
{
    struct history_event *event = begin_event(timer, HISTORY_START);
    unsigned began = event->began;

    event->moments = true;
    event->deadline = explore_now + ttl;
    explore_print("-- starts timer %u for %llu", timer,
                  (unsigned long long)event->deadline);
    int error = lawn_workers_start(scene.set, &scene.timers[timer], ttl);
    return started(timer, event_of(timer, began), error);
}

int
scene_start_on(unsigned timer, uint64_t ttl, unsigned worker)
{
    struct history_event *event = begin_event(timer, HISTORY_START);
    unsigned began = event->began;

    event->moments = true;
    event->deadline = explore_now + ttl;
    explore_print("-- starts timer %u for %llu on %u", timer,
                  (unsigned long long)event->deadline, worker);
    int error =
        lawn_workers_start_on(scene.set, &scene.timers[timer], ttl, worker);
    return started(timer, event_of(timer, began), error);
}

static bool
stop(unsigned timer,
     bool (*way)(struct lawn_workers *, struct lawn_workers_timer *))
{
    struct history_event *event = begin_event(timer, HISTORY_STOP);
    unsigned began = event->began;

    event->moments = way == lawn_workers_stop_sync;
    explore_print("-- stops timer %u", timer);
    bool result = way(scene.set, &scene.timers[timer]);
    event = event_of(timer, began);
    event->result = result;
    end_event(event);
    explore_print("-- stop of timer %u: %s", timer, result ? "true" : "false");
    return result;
}

bool
scene_stop(unsigned timer)
{
    return stop(timer, lawn_workers_stop);
}

bool
scene_stop_sync(unsigned timer)
{
    bool result = stop(timer, lawn_workers_stop_sync);

    EXPECT(scene.callbacks[timer] == 0 ||
           scene.callers[timer] == explore_me()); /* C3 */
    return result;
}

void
scene_free(unsigned timer)
{
    explore_print("-- frees timer %u", timer);
    scene.freed[timer] = true;
    explore_free(&scene.timers[timer], sizeof(scene.timers[timer]));
}

void
scene_close(uint64_t until)
{
    scene.closed = true;
    EXPECT(lawn_workers_close(scene.set, until, on_left, &scene) == scene.left);
}

void
scene_serve(void)
{
    EXPECT(lawn_worker_run(scene.workers[explore_me()]) == 0);
}

void
scene_serve_and_leave(void)
{
    scene_serve();
    lawn_worker_detach(scene.workers[explore_me()]);
}

void
scene_move_clock(void)
{
    explore_point();
    explore_now = SCENE_SOON;
    explore_print("-- it is %u", SCENE_SOON);
}

void
scene_start_0_for_20(void)
{
    (void)scene_start(0, 20);
}

void
scene_start_0_for_60(void)
{
    (void)scene_start(0, 60);
}

void
scene_start_1_for_60(void)
{
    (void)scene_start(1, 60);
}

void
scene_stop_0(void)
{
    (void)scene_stop(0);
}

void
scene_stop_sync_0(void)
{
    (void)scene_stop_sync(0);
}

void
scene_stop_sync_and_free_0(void)
{
    (void)scene_stop_sync(0);
    scene_free(0);
}

void
scene_close_at_once(void)
{
    scene_close(0);
}

void
scene_close_at_the_end(void)
{
    scene_close(LAWN_NEVER);
}

/* The end. */

/* The check walks through all lawns and takes longer than a schedule, so most
 * schedules skip it. */
static void
expect_well(void)
{
    static unsigned checks;

    for (unsigned i = 0; i < SCENE_TIMERS; i++) {
        EXPECT(scene.callbacks[i] == 0);
        expect_possible(i, !scene.freed[i] &&
                               lawn_workers_pending(&scene.timers[i]));
    }
    if (explore_printing() || checks++ % SCENE_CHECKED == 0) {
        EXPECT(
            lawn_workers_check(scene.set, explore_printing() ? stdout : NULL));
    }
}

static void
expect_ended(void)
{
    for (unsigned i = 0; i < SCENE_TIMERS; i++) {
        EXPECT(scene.freed[i] || !lawn_workers_pending(&scene.timers[i]));
    }
}

void
scene_finish(void)
{
    expect_well();
    if (explore_now < SCENE_AMID) {
        explore_now = SCENE_AMID;
        explore_settle();
        explore_now = SCENE_AMID + 1;
        explore_settle();
        expect_well();
    }
    explore_now = SCENE_END;
    explore_settle();
    explore_now = SCENE_END + 1; /* after all deadlines of starts */
    explore_settle();
    expect_ended();
    expect_well();
}

void
scene_finish_closed(void)
{
    expect_ended();
    scene_finish();
    lawn_workers_free(scene.set);
}
