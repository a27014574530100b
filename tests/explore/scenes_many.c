/* scenes_many.c - several workers, workers that are added and removed, and
 * closing. */
#include "scene.h"

#include <errno.h>

#define BOTH 3

static void
setup_two(void)
{
    scene_begin(2);
    scene_ready();
}

static void
setup_two_due(void)
{
    scene_begin(2);
    scene_have_shared(0, 0, 5);
    scene_ready();
}

static void
move_0(void)
{
    (void)scene_start_on(0, 20, 1);
}

static void
move_0_back(void)
{
    (void)scene_start_on(0, 25, 0);
}

static void
keep_0(void)
{
    (void)scene_start_on(0, 20, 0);
}

SCENARIO(a_move_to_another_worker_meets_a_firing, .setup = setup_two_due,
         .threads = {scene_serve, scene_serve, move_0}, .daemons = BOTH,
         .finish = scene_finish, .delays = true);
SCENARIO(a_move_to_another_worker_meets_a_stop, .setup = setup_two_due,
         .threads = {scene_serve, scene_serve, move_0, scene_stop_0},
         .daemons = BOTH, .finish = scene_finish, .delays = true);
SCENARIO(a_timer_moves_there_and_back, .setup = setup_two_due,
         .threads = {scene_serve, scene_serve, move_0, move_0_back},
         .daemons = BOTH, .finish = scene_finish, .delays = true);

static void
move_and_free_0(void)
{
    (void)scene_start_on(0, 20, 1);
    scene_stop_sync_and_free_0();
}

SCENARIO(a_timer_is_freed_that_was_about_to_move, .setup = setup_two_due,
         .threads = {scene_serve, scene_serve, move_and_free_0},
         .daemons = BOTH, .finish = scene_finish, .delays = true);

/* A free timer that starts and fires at its old worker while it is about to
 * start elsewhere. */

static void
setup_two_free(void)
{
    scene_begin(2);
    scene_have_own(0, 0, 5);
    explore_be(0);
    EXPECT(scene_stop(0));
    scene_ready();
}

static void
start_0_for_15_and_serve(void)
{
    (void)scene_start(0, 15);
    scene_serve();
}

SCENARIO(a_move_meets_the_workers_own_start_and_its_firing,
         .setup = setup_two_free,
         .threads = {start_0_for_15_and_serve, scene_serve, move_0,
                     scene_move_clock},
         .daemons = BOTH, .finish = scene_finish, .delays = true);

/* A callback that waits takes its worker's messages, including the start that
 * moves its own timer. */

static void
stop_sync_1(unsigned timer)
{
    (void)timer;
    (void)scene_stop_sync(1);
    explore_point();
}

static void
setup_waiting_callback(void)
{
    scene_begin(2);
    scene_have_shared(0, 0, 5);
    scene_have_own(1, 1, 500);
    scene.hooks[0] = stop_sync_1;
    scene_ready();
}

SCENARIO(a_timer_moves_while_its_callback_waits,
         .setup = setup_waiting_callback,
         .threads = {scene_serve, scene_serve, move_0, scene_move_clock},
         .daemons = BOTH, .finish = scene_finish, .delays = true);

/* Workers that use each other's timers. */

static void
setup_crossed(void)
{
    scene_begin(2);
    scene_have_own(0, 0, 50);
    scene_have_own(1, 1, 60);
    scene_ready();
}

static void
stop_sync_1_and_serve(void)
{
    (void)scene_stop_sync(1);
    scene_free(1);
    scene_serve();
}

static void
stop_sync_0_and_serve(void)
{
    scene_stop_sync_and_free_0();
    scene_serve();
}

static void
start_1_and_serve(void)
{
    (void)scene_start(1, 40);
    scene_serve();
}

static void
start_0_and_serve(void)
{
    (void)scene_start(0, 45);
    scene_serve();
}

SCENARIO(two_workers_stop_and_free_each_others_timers, .setup = setup_crossed,
         .threads = {stop_sync_1_and_serve, stop_sync_0_and_serve},
         .daemons = BOTH, .finish = scene_finish, .delays = true);
SCENARIO(two_workers_restart_each_others_timers, .setup = setup_crossed,
         .threads = {start_1_and_serve, start_0_and_serve}, .daemons = BOTH,
         .finish = scene_finish, .delays = true);
SCENARIO(two_workers_start_the_same_timer, .setup = setup_two,
         .threads = {start_0_and_serve, start_0_and_serve}, .daemons = BOTH,
         .finish = scene_finish, .delays = true);

/* Workers that leave. */

static void
setup_two_held(void)
{
    scene_begin(2);
    scene_have_own(0, 1, 50);
    scene_have_shared(1, 1, 5);
    scene_ready();
}

static void
remove_1(void)
{
    EXPECT(lawn_workers_remove(scene.set, 1) == 0);
}

static void
serve_once_and_leave(void)
{
    struct lawn_worker *worker = scene.workers[explore_me()];

    (void)lawn_worker_turn(worker);
    lawn_worker_detach(worker);
}

SCENARIO(a_start_meets_the_removal_of_its_worker, .setup = setup_two_held,
         .threads = {scene_serve, scene_serve_and_leave, remove_1,
                     scene_start_0_for_20},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(a_stop_meets_the_removal_of_its_worker, .setup = setup_two_held,
         .threads = {scene_serve, scene_serve_and_leave, remove_1,
                     scene_stop_sync_and_free_0},
         .daemons = 1, .finish = scene_finish, .delays = true);
SCENARIO(a_start_meets_a_worker_that_leaves, .setup = setup_two_held,
         .threads = {scene_serve, serve_once_and_leave, scene_start_0_for_20},
         .daemons = 1, .finish = scene_finish, .delays = true);

static void
serve_once_leave_and_start_0(void)
{
    serve_once_and_leave();
    scene_start_0_for_20();
}

SCENARIO(a_worker_starts_timers_after_it_has_left, .setup = setup_two_held,
         .threads = {scene_serve, serve_once_leave_and_start_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);

/* A removed worker turns once more after it has handed over its lawn, while the
 * removal may still be requesting that. The worker stays ended [C8]. */

static void
serve_turn_again_and_leave(void)
{
    struct lawn_worker *worker = scene.workers[explore_me()];
    struct lawn_workers_counters stats;

    scene_serve();
    lawn_workers_stats(scene.set, &stats); /* waits for the removal */
    (void)lawn_worker_turn(worker);
    EXPECT(lawn_worker_ended(worker));
    lawn_worker_detach(worker);
}

SCENARIO(a_worker_that_was_removed_turns_again, .setup = setup_two_held,
         .threads = {scene_serve, serve_turn_again_and_leave, remove_1},
         .daemons = 1, .finish = scene_finish, .delays = true);

/* A shard is in transit to a worker that leaves. */

static void
setup_three(void)
{
    scene_begin(3);
    scene_have_own(0, 0, 50);
    scene_have_shared(1, 0, 5);
    scene_ready();
}

static void
remove_0_and_1(void)
{
    EXPECT(lawn_workers_remove(scene.set, 0) == 0);
    EXPECT(lawn_workers_remove(scene.set, 1) == 0);
}

SCENARIO(a_lawn_comes_to_a_worker_that_leaves, .setup = setup_three,
         .threads = {scene_serve, scene_serve, scene_serve, remove_0_and_1},
         .daemons = 4, .finish = scene_finish, .delays = true);

static void
leave_and_come_back(void)
{
    struct lawn_worker *worker = scene.workers[explore_me()];

    lawn_worker_detach(worker);
    worker = lawn_workers_attach(scene.set);
    EXPECT(worker != NULL);
    EXPECT(lawn_worker_run(worker) == 0);
}

static void
setup_two_of_first(void)
{
    scene_begin(2);
    scene_have_own(0, 0, 50);
    scene_have_shared(1, 0, 5);
    scene_ready();
}

/* Removes the first worker, unless it is the last one. */
static void
remove_0(void)
{
    int error = lawn_workers_remove(scene.set, 0);

    EXPECT(error == 0 || error == -EBUSY);
}

SCENARIO(a_lawn_comes_to_a_worker_that_leaves_and_comes_back,
         .setup = setup_two_of_first,
         .threads = {scene_serve, leave_and_come_back, remove_0},
         .daemons = BOTH, .finish = scene_finish, .delays = true);

/* Workers that are added. */

static void
setup_none(void)
{
    scene_begin(1);
    scene_have_shared(0, 0, 50);
    scene_ready();
    explore_be(0);
    lawn_worker_detach(scene.workers[0]);
    explore_be(EXPLORE_FIBRES);
}

static void
attach_and_serve(void)
{
    struct lawn_worker *worker = lawn_workers_attach(scene.set);

    EXPECT(worker != NULL);
    EXPECT(lawn_worker_run(worker) == 0);
}

SCENARIO(a_start_meets_a_first_worker_that_comes, .setup = setup_none,
         .threads = {attach_and_serve, scene_start_0_for_20}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_start_meets_a_second_worker_that_comes, .setup = scene_setup_held,
         .threads = {scene_serve, attach_and_serve, scene_start_0_for_20},
         .daemons = BOTH, .finish = scene_finish, .delays = true);
SCENARIO(a_start_meets_two_workers_that_come, .setup = setup_none,
         .threads = {attach_and_serve, attach_and_serve, scene_start_0_for_20},
         .daemons = BOTH, .finish = scene_finish, .delays = true);

/* A start on a worker that is being added or removed fails, or the timer
 * fires. */

static void
setup_held_and_one_comes(void)
{
    scene_setup_held();
    scene.unsettled = true;
}

static void
setup_two_held_and_one_goes(void)
{
    setup_two_held();
    scene.unsettled = true;
}

static void
start_2_on_1(void)
{
    (void)scene_start_on(2, 20, 1);
}

SCENARIO(a_start_on_a_worker_meets_its_coming,
         .setup = setup_held_and_one_comes,
         .threads = {scene_serve, attach_and_serve, start_2_on_1},
         .daemons = BOTH, .finish = scene_finish, .delays = true);
SCENARIO(a_start_on_a_worker_meets_its_removal,
         .setup = setup_two_held_and_one_goes,
         .threads = {scene_serve, scene_serve_and_leave, remove_1,
                     start_2_on_1},
         .daemons = 1, .finish = scene_finish, .delays = true);

/* By TTL there are more lawns than workers, and the lawns move. */

static void
setup_by_ttl(void)
{
    struct lawn_workers_options options = {.route = LAWN_WORKERS_BY_TTL,
                                           .shards = 2};

    scene_begin_with(1, &options);
    scene_have_shared(0, 0, 50);
    scene_have_shared(1, 0, 5);
    scene_ready();
}

SCENARIO(a_start_meets_lawns_on_their_way, .setup = setup_by_ttl,
         .threads = {scene_serve, attach_and_serve, scene_start_0_for_20},
         .daemons = BOTH, .finish = scene_finish, .delays = true);
SCENARIO(a_restart_moves_to_another_lawn, .setup = setup_by_ttl,
         .threads = {scene_serve, keep_0, move_0_back}, .daemons = 1,
         .finish = scene_finish, .delays = true);

/* Restarts by the worker itself, one of which moves from lawn to lawn. */

static void
restart_to_and_fro_and_serve(void)
{
    (void)scene_start_ttl(0, 20);
    (void)scene_start_ttl(0, 25);
    scene_serve();
}

static void
restart_0_for_70(void)
{
    (void)scene_start(0, 70);
}

SCENARIO(a_stop_meets_the_workers_own_restart_on_another_lawn,
         .setup = setup_by_ttl,
         .threads = {restart_to_and_fro_and_serve, scene_stop_0}, .daemons = 1,
         .finish = scene_finish, .delays = true);
SCENARIO(a_later_start_meets_the_workers_own_restart_on_another_lawn,
         .setup = setup_by_ttl,
         .threads = {restart_to_and_fro_and_serve, restart_0_for_70},
         .daemons = 1, .finish = scene_finish, .delays = true);

/* Closing. */

SCENARIO(a_start_meets_the_end, .setup = scene_setup_held,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     scene_start_0_for_20},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(a_later_start_meets_the_end, .setup = scene_setup_held,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     scene_start_0_for_60},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(a_later_start_meets_the_end_after_the_last_timer,
         .setup = scene_setup_held,
         .threads = {scene_serve_and_leave, scene_close_at_the_end,
                     scene_start_0_for_60},
         .finish = scene_finish_closed, .delays = true, .time_passes = true);
SCENARIO(a_stop_meets_the_end, .setup = scene_setup_held,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     scene_stop_sync_and_free_0},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(a_start_meets_the_end_after_the_last_timer, .setup = scene_setup_held,
         .threads = {scene_serve_and_leave, scene_close_at_the_end,
                     scene_start_0_for_20},
         .finish = scene_finish_closed, .delays = true, .time_passes = true);
SCENARIO(a_start_meets_the_end_of_two_workers, .setup = setup_two_due,
         .threads = {scene_serve_and_leave, scene_serve_and_leave,
                     scene_close_at_once, move_0},
         .finish = scene_finish_closed, .delays = true);

/* A timer is in transit to a worker that sleeps briefly. A thread that waits
 * for it, or restarts it for an earlier time, between two steps of the
 * forwarding thread, must still wake the worker. */

static void
setup_two_and_one_sleeps_until_40(void)
{
    scene_begin(2);
    scene_have_shared(0, 0, 60);
    scene_have_own(1, 1, 40);
    scene_ready();
}

static void
move_0_to_after_40_and_stop(void)
{
    (void)scene_start_on(0, 45, 1);
    scene_stop_sync_0();
}

SCENARIO(a_timer_is_waited_for_that_moves_to_a_worker_that_wakes_earlier,
         .setup = setup_two_and_one_sleeps_until_40,
         .threads = {scene_serve, scene_serve, move_0_to_after_40_and_stop},
         .daemons = BOTH, .finish = scene_finish);

static void
expect_not_late(unsigned timer)
{
    (void)timer;
    EXPECT(explore_now <= 20 || explore_now >= SCENE_AMID);
}

static void
setup_moves_and_starts_earlier(void)
{
    setup_two_and_one_sleeps_until_40();
    scene.hooks[0] = expect_not_late;
}

static void
move_0_to_after_40(void)
{
    (void)scene_start_on(0, 45, 1);
}

SCENARIO(a_timer_starts_earlier_that_moves_to_a_worker_that_wakes_in_between,
         .setup = setup_moves_and_starts_earlier,
         .threads = {scene_serve, scene_serve, move_0_to_after_40,
                     scene_start_0_for_20},
         .daemons = BOTH, .finish = scene_finish, .time_passes = true);

/* A thread that waits for a timer sends its request to the old worker.
 * Meanwhile the timer is released, starts there or elsewhere, and is
 * stopped. */

static void
move_and_stop_0(void)
{
    (void)scene_start_on(0, 45, 1);
    (void)scene_stop(0);
}

SCENARIO(a_timer_is_waited_for_that_starts_again_and_is_stopped,
         .setup = setup_two_held,
         .threads = {scene_serve, scene_serve, scene_stop_sync_0,
                     move_and_stop_0},
         .daemons = BOTH, .finish = scene_finish);
SCENARIO(a_timer_is_waited_for_that_starts_elsewhere_and_is_stopped,
         .setup = setup_two_and_one_sleeps_until_40,
         .threads = {scene_serve, scene_serve, scene_stop_sync_0,
                     move_and_stop_0},
         .daemons = BOTH, .finish = scene_finish);

/* A timer is free at its old place, a lawn that one of two workers has in
 * addition to its own. Both start it. */

static void
setup_free_at_a_second_lawn(void)
{
    scene_begin(3);
    scene_have_own(0, 2, 5);
    explore_be(2);
    EXPECT(scene_stop(0));
    lawn_worker_detach(scene.workers[2]);
    scene.workers[2] = NULL;
    scene_ready();
}

static void
start_0_and_leave(void)
{
    (void)scene_start(0, 45);
    scene_serve_and_leave();
}

/* The starts read whether the set is closed. Because another thread closes it,
 * that word is shared, and the explorer can interrupt the starts there: see
 * words.h. */
SCENARIO(two_workers_start_a_timer_that_is_free_at_a_second_lawn,
         .setup = setup_free_at_a_second_lawn,
         .threads = {start_0_and_leave, start_0_and_leave, scene_close_at_once},
         .finish = scene_finish_closed, .delays = true);

/* A callback waits for its own timer, which was about to move, and was
 * stopped. */

static void
stop_sync_own(unsigned timer)
{
    (void)scene_stop_sync(timer);
}

static void
setup_two_due_and_waits(void)
{
    setup_two_due();
    scene.hooks[0] = stop_sync_own;
}

SCENARIO(a_callback_waits_for_its_own_timer_that_was_to_move,
         .setup = setup_two_due_and_waits,
         .threads = {scene_serve, scene_serve, move_and_stop_0},
         .daemons = BOTH, .finish = scene_finish, .delays = true);
