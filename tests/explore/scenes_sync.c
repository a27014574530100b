/* scenes_sync.c - threads that wait for a timer while others continue to use
 * it. */
#include "scene.h"

/* A worker releases the timer that a thread waits for. Then another thread
 * starts and stops the timer once more. It would stay on the lawn until its
 * deadline, but the waiting thread requests its release again. */

static void
start_and_stop_0(void)
{
    (void)scene_start(0, 60);
    (void)scene_stop(0);
}

SCENARIO(a_wait_continues_after_another_start_and_stop,
         .setup = scene_setup_held,
         .threads = {scene_serve, scene_stop_sync_0, start_and_stop_0},
         .daemons = 1, .finish = scene_finish, .delays = true);

static void
start_and_stop_0_on_1(void)
{
    (void)scene_start_on(0, 20, 1);
    (void)scene_stop(0);
}

static void
setup_two_held(void)
{
    scene_begin(2);
    scene_have_shared(0, 0, 50);
    scene_ready();
}

SCENARIO(a_wait_continues_after_a_start_and_a_stop_elsewhere,
         .setup = setup_two_held,
         .threads = {scene_serve, scene_serve, scene_stop_sync_0,
                     start_and_stop_0_on_1},
         .daemons = 3, .finish = scene_finish, .delays = true);
