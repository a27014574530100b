/* scenes_end.c - stop_sync at the end of a set, and on the worker itself; and
 * operations of a worker without an atomic read-modify-write. */
#include "scene.h"

#include "../../src/workers/park.h"
#include "../../src/workers/workers.h"

SCENARIO(a_due_timer_is_freed_at_the_end, .setup = scene_setup_due,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     scene_stop_sync_and_free_0},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(a_due_timer_is_freed_at_the_end_after_the_last,
         .setup = scene_setup_due,
         .threads = {scene_serve_and_leave, scene_close_at_the_end,
                     scene_stop_sync_and_free_0},
         .finish = scene_finish_closed, .delays = true, .time_passes = true);
SCENARIO(a_due_timer_is_stopped_and_started_at_the_end,
         .setup = scene_setup_due,
         .threads = {scene_serve_and_leave, scene_close_at_the_end,
                     scene_stop_sync_0, scene_start_0_for_60},
         .finish = scene_finish_closed, .delays = true, .time_passes = true);

/* A removed worker still has its lawn when the set is closed. */

static void
setup_two_held(void)
{
    scene_begin(2);
    scene_have_shared(0, 0, 50);
    scene_ready();
}

static void
remove_0_and_close(void)
{
    EXPECT(lawn_workers_remove(scene.set, 0) == 0);
    scene_close(LAWN_NEVER);
}

static void
finish_with_none_left(void)
{
    EXPECT(scene.left == 0);
    scene_finish_closed();
}

SCENARIO(the_end_waits_for_the_lawn_of_a_removed_worker,
         .setup = setup_two_held,
         .threads = {scene_serve_and_leave, scene_serve_and_leave,
                     remove_0_and_close},
         .finish = finish_with_none_left, .delays = true, .time_passes = true);

/* A lawn is in transit to a worker that has to pass it on: its own worker has
 * come back meanwhile. */

static void
setup_held_and_made(void)
{
    scene_begin(1);
    scene_add(1);
    scene_have_shared(0, 0, 50);
    scene_ready();
}

static void
leave_come_back_and_serve(void)
{
    struct lawn_worker *worker = scene.workers[explore_me()];

    lawn_worker_detach(worker);
    worker = lawn_workers_attach(scene.set);
    if (worker != NULL) {
        EXPECT(lawn_worker_run(worker) == 0);
        lawn_worker_detach(worker);
    }
}

SCENARIO(the_end_waits_for_a_lawn_that_is_called_back,
         .setup = setup_held_and_made,
         .threads = {leave_come_back_and_serve, explore_made,
                     scene_close_at_the_end},
         .finish = scene_finish_closed, .delays = true, .time_passes = true);

/* The same within one turn of the worker that hands over the lawn. That worker
 * sees that the set is closed, and does not end before it has handed over the
 * lawn [C8]. */

static uint64_t turns_before;

static uint64_t
count_turns_of_1(void)
{
    return LAWN_ATOMIC_LOAD(&scene.workers[1]->counts.turns, LAWN_SEQ_CST);
}

static void
setup_held_and_made_and_count(void)
{
    setup_held_and_made();
    turns_before = count_turns_of_1();
}

static void
leave_and_come_back_when_the_other_turns(void)
{
    while (count_turns_of_1() == turns_before) {
        lawn__park_yield();
    }
    leave_come_back_and_serve();
}

SCENARIO(the_end_waits_for_a_lawn_that_is_called_back_in_a_turn,
         .setup = setup_held_and_made_and_count,
         .threads = {leave_and_come_back_when_the_other_turns, explore_made,
                     scene_close_at_the_end},
         .finish = scene_finish_closed, .time_passes = true);

/* A worker, and the contents of its own mailbox. */

static void
setup_own_due(void)
{
    scene_begin(1);
    scene_have_own(0, 0, 5);
    scene_ready();
}

static void
stop_sync_and_start_0_and_serve(void)
{
    (void)scene_stop_sync(0);
    (void)scene_start(0, 30);
    scene_serve();
}

SCENARIO(a_worker_waits_for_a_timer_in_its_own_mail, .setup = setup_own_due,
         .threads = {stop_sync_and_start_0_and_serve, scene_start_0_for_60,
                     scene_start_0_for_20},
         .daemons = 1, .finish = scene_finish, .delays = true);

static void
start_and_stop_sync(unsigned timer)
{
    scene.hooks[timer] = NULL;
    (void)scene_start(timer, 25);
    explore_point();
    (void)scene_stop_sync(timer);
    explore_point();
}

static void
setup_stops_itself(void)
{
    scene_setup_due();
    scene.hooks[0] = start_and_stop_sync;
}

SCENARIO(a_callback_starts_and_stops_its_timer, .setup = setup_stops_itself,
         .threads = {scene_serve, scene_start_0_for_60, scene_stop_sync_0},
         .daemons = 1, .finish = scene_finish, .delays = true);

static void
start_1_for_20(void)
{
    (void)scene_start(1, 20);
}

static void
stop_sync_1(unsigned timer)
{
    scene.hooks[timer] = NULL;
    (void)scene_stop_sync(1);
}

static void
setup_stops_another(void)
{
    scene_begin(1);
    scene_have_shared(0, 0, 5);
    scene_have_shared(1, 0, 5);
    scene.hooks[0] = stop_sync_1;
    scene_ready();
}

SCENARIO(a_callback_stops_another_timer_with_mail, .setup = setup_stops_another,
         .threads = {scene_serve, start_1_for_20, scene_start_1_for_60},
         .daemons = 1, .finish = scene_finish, .delays = true);

/* [C5] */

static void
start_and_stop_1(unsigned timer)
{
    unsigned before = explore_changes();

    (void)timer;
    (void)scene_start_ttl(1, 20);
    (void)scene_start_ttl(1, 30);
    EXPECT(scene_stop(1));
    (void)scene_start_ttl(1, 20);
    EXPECT(explore_changes() == before);
}

static void
setup_local(void)
{
    scene_begin(1);
    scene_have_own(0, 0, 5);
    scene_have_own(1, 0, 50);
    scene.hooks[0] = start_and_stop_1;
    scene_ready();
}

static void
start_2(void)
{
    (void)scene_start(2, 60);
}

SCENARIO(a_worker_starts_and_stops_its_own_timer_by_plain_stores,
         .setup = setup_local, .threads = {scene_serve, start_2}, .daemons = 1,
         .finish = scene_finish, .delays = true);
