/* scenes_one.c - one worker, and other threads that start and stop timers. */
#include "scene.h"

#include "../../src/workers/park.h"

/* Starts. */

static void
setup_idle(void)
{
    scene_begin(1);
    scene_ready();
}

static void
start_0_for_30(void)
{
    (void)scene_start(0, 30);
}

static void
start_1_for_15(void)
{
    (void)scene_start(1, 15);
}

SCENARIO(a_start_wakes_a_worker_that_falls_asleep, .setup = setup_idle,
         .threads = {scene_serve, scene_start_0_for_20}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_start_fires_when_the_clock_moves_meanwhile, .setup = setup_idle,
         .threads = {scene_serve, scene_start_0_for_20, scene_move_clock},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(two_starts_of_two_timers_wake_a_sleeping_worker, .setup = setup_idle,
         .threads = {scene_serve, scene_start_0_for_20, start_1_for_15},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(two_starts_of_one_timer_make_one_firing, .setup = setup_idle,
         .threads = {scene_serve, scene_start_0_for_20, start_0_for_30},
         .daemons = 1, .finish = scene_finish, .delays = true);

/* A worker that sleeps until 50 is woken by timers due before, and not by
 * timers due after. */

static void
setup_later(void)
{
    scene_begin(1);
    scene_have_own(2, 0, 50);
    scene_ready();
}

SCENARIO(an_earlier_and_a_later_start_come_to_a_sleeping_worker,
         .setup = setup_later,
         .threads = {scene_serve, scene_start_0_for_20, scene_start_1_for_60},
         .daemons = 1, .finish = scene_finish, .delays = true);

/* A timer that is due. */

static void
setup_due_own(void)
{
    scene_begin(1);
    scene_have_own(0, 0, 5);
    scene_ready();
}

static void
stop_then_start_0(void)
{
    (void)scene_stop(0);
    (void)scene_start(0, 40);
}

SCENARIO(a_stop_excludes_a_firing, .setup = scene_setup_due,
         .threads = {scene_serve, scene_stop_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_first_stop_from_another_thread_excludes_a_firing,
         .setup = setup_due_own, .threads = {scene_serve, scene_stop_0},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(of_two_stops_and_a_firing_one_wins, .setup = scene_setup_due,
         .threads = {scene_serve, scene_stop_0, scene_stop_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(of_two_first_stops_and_a_firing_one_wins, .setup = setup_due_own,
         .threads = {scene_serve, scene_stop_0, scene_stop_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_restart_meets_a_firing, .setup = scene_setup_due,
         .threads = {scene_serve, start_0_for_30}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_first_restart_from_another_thread_meets_a_firing,
         .setup = setup_due_own, .threads = {scene_serve, start_0_for_30},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(a_restart_and_a_stop_meet_a_firing, .setup = scene_setup_due,
         .threads = {scene_serve, start_0_for_30, scene_stop_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(two_restarts_meet_a_firing, .setup = scene_setup_due,
         .threads = {scene_serve, start_0_for_30, stop_then_start_0},
         .daemons = 1, .finish = scene_finish, .delays = true);

/* An idle timer that gets another callback. */

static lawn_workers_fire_fn *fires;
static bool changed;

static void
fire_as_before(struct lawn_workers_timer *timer, struct lawn_worker *worker)
{
    EXPECT(!changed);
    fires(timer, worker);
}

static void
setup_due_to_change(void)
{
    scene_setup_due();
    fires = scene.timers[0].fire;
    changed = false;
    explore_keep(&changed, sizeof(changed));
    scene.timers[0].fire = fire_as_before;
}

static void
stop_change_and_start_0(void)
{
    if (scene_stop(0)) {
        scene.timers[0].fire = fires;
        changed = true;
        (void)scene_start(0, 7);
    }
}

SCENARIO(a_timer_with_another_callback_is_due_as_it_fires,
         .setup = setup_due_to_change,
         .threads = {scene_serve, stop_change_and_start_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);

/* Callbacks that restart their timer, stop it, or free it. */

static void
restart_self(unsigned timer)
{
    scene.hooks[timer] = NULL;
    (void)scene_start(timer, 25);
    explore_point();
}

static void
stop_self(unsigned timer)
{
    (void)scene_start(timer, 25);
    (void)scene_stop_sync(timer);
    scene_free(timer);
}

static void
setup_restarts_self(void)
{
    setup_due_own();
    scene.hooks[0] = restart_self;
}

static void
setup_stops_self(void)
{
    scene_setup_due();
    scene.hooks[0] = stop_self;
}

static void
setup_frees_self(void)
{
    scene_setup_due();
    scene.hooks[0] = scene_free;
}

SCENARIO(a_callback_and_another_thread_restart_a_timer,
         .setup = setup_restarts_self, .threads = {scene_serve, start_0_for_30},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(a_callback_restarts_what_another_thread_stops,
         .setup = setup_restarts_self, .threads = {scene_serve, scene_stop_0},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(a_callback_stops_and_frees_its_timer, .setup = setup_stops_self,
         .threads = {scene_serve, start_1_for_15}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_callback_frees_its_timer, .setup = setup_frees_self,
         .threads = {scene_serve, start_1_for_15}, .daemons = 1,
         .finish = scene_finish, .delays = true);

/* stop_sync, after which the timer is freed. */

static void
start_stop_sync_and_free_0(void)
{
    (void)scene_start(0, 20);
    scene_stop_sync_and_free_0();
}

static void
start_stop_and_free_0(void)
{
    (void)scene_start(0, 20);
    (void)scene_stop(0);
    scene_stop_sync_and_free_0();
}

SCENARIO(a_timer_is_freed_after_a_stop_sync_that_met_its_firing,
         .setup = scene_setup_due,
         .threads = {scene_serve, scene_stop_sync_and_free_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_timer_is_freed_after_a_first_stop_sync_from_another_thread,
         .setup = setup_due_own,
         .threads = {scene_serve, scene_stop_sync_and_free_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_timer_is_freed_whose_callback_has_started_it_again,
         .setup = setup_restarts_self,
         .threads = {scene_serve, scene_stop_sync_and_free_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_timer_is_freed_that_was_in_the_mail, .setup = setup_idle,
         .threads = {scene_serve, start_stop_sync_and_free_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_stopped_timer_is_freed_that_was_in_the_mail, .setup = setup_idle,
         .threads = {scene_serve, start_stop_and_free_0, start_1_for_15},
         .daemons = 1, .finish = scene_finish, .delays = true);

SCENARIO(two_wait_for_the_same_callback, .setup = scene_setup_due,
         .threads = {scene_serve, scene_stop_sync_0, scene_stop_sync_0},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(a_stop_sync_and_a_restart_meet, .setup = scene_setup_due,
         .threads = {scene_serve, scene_stop_sync_0, start_0_for_30},
         .daemons = 1, .finish = scene_finish, .delays = true);

/* The worker's own starts and stops, and the first one by another thread. */

static void
setup_own(void)
{
    scene_begin(1);
    scene_have_own(0, 0, 50);
    scene_ready();
}

static void
stop_start_and_serve(void)
{
    (void)scene_stop(0);
    (void)scene_start(0, 40);
    scene_serve();
}

static void
restart_and_serve(void)
{
    (void)scene_start(0, 40);
    scene_serve();
}

static void
stop_and_serve(void)
{
    (void)scene_stop(0);
    scene_serve();
}

static void
stop_sync_free_and_serve(void)
{
    scene_stop_sync_and_free_0();
    scene_serve();
}

SCENARIO(a_stop_meets_the_workers_own_stop_and_start, .setup = setup_own,
         .threads = {stop_start_and_serve, scene_stop_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_stop_meets_the_workers_own_stop, .setup = setup_own,
         .threads = {stop_and_serve, scene_stop_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_stop_meets_the_workers_own_restart, .setup = setup_own,
         .threads = {restart_and_serve, scene_stop_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_start_meets_the_workers_own_start, .setup = setup_idle,
         .threads = {restart_and_serve, start_0_for_30}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_start_meets_the_workers_own_stop_and_start, .setup = setup_own,
         .threads = {stop_start_and_serve, start_0_for_30}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(the_worker_frees_what_another_thread_had_started,
         .setup = scene_setup_due,
         .threads = {stop_sync_free_and_serve, start_1_for_15}, .daemons = 1,
         .finish = scene_finish, .delays = true);

/* The worker stops a timer that is in the mailbox and on no lawn. */

static void
setup_in_the_mail(void)
{
    scene_begin(1);
    scene_ready();
    (void)scene_start(0, 50);
}

SCENARIO(a_stop_meets_the_workers_own_stop_of_a_timer_in_the_mail,
         .setup = setup_in_the_mail, .threads = {stop_and_serve, scene_stop_0},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(a_start_meets_the_workers_own_stop_of_a_timer_in_the_mail,
         .setup = setup_in_the_mail,
         .threads = {stop_and_serve, start_0_for_30}, .daemons = 1,
         .finish = scene_finish, .delays = true);

/* The same on the fast path, for a worker that knows the time. */

static void
stop_start_quickly_and_serve(void)
{
    lawn_worker_update(scene.workers[0]);
    (void)scene_stop(0);
    (void)scene_start_ttl(0, 25);
    scene_serve();
}

static void
restart_quickly_and_serve(void)
{
    lawn_worker_update(scene.workers[0]);
    (void)scene_start_ttl(0, 25);
    scene_serve();
}

static void
restart_self_quickly(unsigned timer)
{
    scene.hooks[timer] = NULL;
    if (explore_now != SCENE_NOW) {
        return;
    }
    (void)scene_start_ttl(timer, 15);
    explore_point();
    (void)scene_stop(timer);
    explore_point();
    (void)scene_start_ttl(timer, 25);
}

static void
setup_restarts_self_quickly(void)
{
    setup_due_own();
    scene.hooks[0] = restart_self_quickly;
}

SCENARIO(a_stop_meets_the_workers_own_quick_stop_and_start, .setup = setup_own,
         .threads = {stop_start_quickly_and_serve, scene_stop_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_start_meets_the_workers_own_quick_stop_and_start, .setup = setup_own,
         .threads = {stop_start_quickly_and_serve, start_0_for_30},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(a_stop_meets_the_workers_own_quick_restart, .setup = setup_own,
         .threads = {restart_quickly_and_serve, stop_then_start_0},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(a_stop_meets_a_callback_that_restarts_quickly,
         .setup = setup_restarts_self_quickly,
         .threads = {scene_serve, scene_stop_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_start_meets_a_callback_that_restarts_quickly,
         .setup = setup_restarts_self_quickly,
         .threads = {scene_serve, start_0_for_30}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_stop_sync_meets_a_callback_that_restarts_quickly,
         .setup = setup_restarts_self_quickly,
         .threads = {scene_serve, scene_stop_sync_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);

/* Without membarrier(2) every change is a compare-and-swap. */

SCENARIO(without_a_heavy_fence_a_first_stop_excludes_a_firing,
         .setup = setup_due_own, .threads = {scene_serve, scene_stop_0},
         .daemons = 1, .finish = scene_finish, .delays = true,
         .symmetric = true);
SCENARIO(without_a_heavy_fence_a_stop_meets_the_workers_own_stop_and_start,
         .setup = setup_own, .threads = {stop_start_and_serve, scene_stop_0},
         .daemons = 1, .finish = scene_finish, .delays = true,
         .symmetric = true);
SCENARIO(without_a_heavy_fence_a_timer_is_freed_after_a_stop_sync,
         .setup = scene_setup_due,
         .threads = {scene_serve, scene_stop_sync_and_free_0}, .daemons = 1,
         .finish = scene_finish, .delays = true, .symmetric = true);
SCENARIO(without_a_heavy_fence_a_restart_meets_a_firing, .setup = setup_due_own,
         .threads = {scene_serve, start_0_for_30}, .daemons = 1,
         .finish = scene_finish, .delays = true, .symmetric = true);

/* A budget of one message and one fire for each round. */

static void
setup_small_budget(void)
{
    struct lawn_workers_options options = {.budget = 1};

    scene_begin_with(1, &options);
    scene_have_shared(0, 0, 5);
    scene_have_own(2, 0, 6);
    scene_ready();
}

SCENARIO(small_budgets_forget_nothing, .setup = setup_small_budget,
         .threads = {scene_serve, start_0_for_30, start_1_for_15}, .daemons = 1,
         .finish = scene_finish, .delays = true);

/* A caller-owned clock: the thread that moves it wakes the workers. */

static void
setup_own_clock(void)
{
    struct lawn_workers_options options = {.clock = lawn__park_clock};

    scene_begin_with(1, &options);
    scene_ready();
}

static void
move_own_clock(void)
{
    scene_move_clock();
    lawn_workers_wake(scene.set);
}

static void
finish_own_clock(void)
{
    explore_now = SCENE_END;
    lawn_workers_wake(scene.set);
    explore_settle();
    explore_now = SCENE_END + 1;
    lawn_workers_wake(scene.set);
    scene_finish();
}

SCENARIO(a_call_that_moves_the_clock_wakes_the_worker, .setup = setup_own_clock,
         .threads = {scene_serve, scene_start_0_for_20, move_own_clock},
         .daemons = 1, .finish = finish_own_clock, .delays = true);

/* A timer that was stopped by another thread, and is still on the lawn. */

static void
setup_stopped(void)
{
    struct history_event stop = {.kind = HISTORY_STOP, .result = true};

    scene_setup_due();
    stop.began = scene.events++;
    stop.ended = scene.events++;
    EXPECT(lawn_workers_stop(scene.set, &scene.timers[0]));
    scene.histories[0].events[scene.histories[0].count++] = stop;
}

SCENARIO(a_start_meets_a_stop_sync_of_a_stopped_timer, .setup = setup_stopped,
         .threads = {scene_serve, scene_stop_sync_0, start_0_for_30},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(a_stopped_timer_is_freed_that_is_on_the_lawn, .setup = setup_stopped,
         .threads = {scene_serve, scene_stop_sync_and_free_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_stopped_timer_is_reached_while_two_start_it, .setup = setup_stopped,
         .threads = {scene_serve, scene_start_0_for_20, start_0_for_30},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(a_start_in_the_mail_is_overtaken_by_the_workers_own,
         .setup = setup_stopped,
         .threads = {restart_and_serve, start_0_for_30, scene_stop_0},
         .daemons = 1, .finish = scene_finish, .delays = true);

/* A local start has overtaken a start in the mailbox. The local start is due
 * before the message is taken: with a budget of one, other messages precede
 * it. */

static void
setup_overtaken(void)
{
    struct lawn_workers_options options = {.budget = 1};

    scene_begin_with(1, &options);
    scene_ready();
    (void)scene_start(1, 500);
    (void)scene_start(2, 600);
    (void)scene_start(0, 700);
    explore_be(0);
    (void)scene_start(0, 15);
    explore_be(EXPLORE_FIBRES);
    explore_now = SCENE_SOON;
}

static void
setup_overtaken_and_freed(void)
{
    setup_overtaken();
    scene.hooks[0] = scene_free;
}

SCENARIO(a_timer_is_freed_that_was_due_before_its_mail_came,
         .setup = setup_overtaken_and_freed,
         .threads = {scene_serve, start_1_for_15}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_stop_sync_meets_a_timer_that_was_due_before_its_mail_came,
         .setup = setup_overtaken,
         .threads = {scene_serve, scene_stop_sync_and_free_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);

/* A timer started by another thread that is not yet due: a restart for a later
 * time needs no message, one for an earlier time does. */

static void
start_0_for_60_and_20(void)
{
    (void)scene_start(0, 60);
    (void)scene_start(0, 20);
}

static void
start_stop_and_free_0_later(void)
{
    (void)scene_start(0, 60);
    (void)scene_stop(0);
    (void)scene_start(0, 70);
    scene_stop_sync_and_free_0();
}

SCENARIO(a_later_and_an_earlier_start_of_one_timer_meet,
         .setup = scene_setup_held,
         .threads = {scene_serve, scene_start_0_for_60, scene_start_0_for_20},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(a_later_and_then_an_earlier_start_meet_the_clock,
         .setup = scene_setup_held,
         .threads = {scene_serve, start_0_for_60_and_20, scene_move_clock},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(a_later_start_meets_a_stop_and_the_clock, .setup = scene_setup_held,
         .threads = {scene_serve, scene_start_0_for_60, scene_stop_0,
                     scene_move_clock},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(a_later_start_meets_the_workers_own, .setup = scene_setup_held,
         .threads = {restart_and_serve, scene_start_0_for_60, scene_move_clock},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(a_timer_is_freed_that_was_started_later, .setup = scene_setup_held,
         .threads = {scene_serve, start_stop_and_free_0_later,
                     scene_move_clock},
         .daemons = 1, .finish = scene_finish, .delays = true);

/* A start in the mailbox is rewritten after the worker has taken the messages
 * and read the clock. So its start time is after the time of the worker
 * [M5]. */

static void
start_0_for_30_more(void)
{
    (void)scene_start_ttl(0, 30);
}

static void
start_0_for_30_more_later(void)
{
    scene_move_clock();
    (void)scene_start_ttl(0, 30);
}

static void
finish_checked(void)
{
    EXPECT(lawn_workers_check(scene.set, NULL)); /* M5 */
    scene_finish();
}

SCENARIO(a_start_in_the_mail_is_written_again_while_it_is_read,
         .setup = setup_idle,
         .threads = {scene_serve, start_0_for_30_more,
                     start_0_for_30_more_later},
         .daemons = 1, .finish = finish_checked);

/* A waiting thread sees that the timer is free, because its callback runs, and
 * then that the callback has returned. In between, the callback has restarted
 * the timer. */

static void
start_again_for_60(unsigned timer)
{
    if (explore_now < 60) {
        (void)scene_start(timer, 60);
    }
}

static void
setup_due_and_starts_again(void)
{
    scene_setup_due();
    scene.hooks[0] = start_again_for_60;
}

SCENARIO(a_callback_starts_its_timer_again_that_is_freed,
         .setup = setup_due_and_starts_again,
         .threads = {scene_serve, scene_stop_sync_and_free_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);
