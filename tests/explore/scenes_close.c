/* scenes_close.c - operations on timers and workers while a set is closed. */
#include "scene.h"

#include "../../src/workers/park.h"
#include "../../src/workers/workers.h"

#include <errno.h>

/* Two threads wait for a timer: one marks it as being in the mailbox, finds the
 * mailbox closed, and does not post it; the other sees the mark and sleeps. */

SCENARIO(two_wait_for_a_timer_at_the_end, .setup = scene_setup_held,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     scene_stop_sync_0, scene_stop_sync_0},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(two_wait_for_a_due_timer_at_the_end, .setup = scene_setup_due,
         .threads = {scene_serve_and_leave, scene_close_at_the_end,
                     scene_stop_sync_0, scene_stop_sync_0},
         .finish = scene_finish_closed, .delays = true, .time_passes = true);

/* left() of a timer stops another one that other threads are using. */

static void
stop_0_if_1(unsigned timer)
{
    if (timer == 1) {
        (void)scene_stop(0);
    }
}

static void
stop_sync_0_if_1(unsigned timer)
{
    if (timer == 1) {
        (void)scene_stop_sync(0);
    }
}

static void
setup_left_stops(void)
{
    scene_begin(1);
    scene_have_shared(1, 0, 40);
    scene_have_shared(0, 0, 50);
    scene.left_hook = stop_0_if_1;
    scene_ready();
}

static void
setup_left_stops_and_waits(void)
{
    setup_left_stops();
    scene.left_hook = stop_sync_0_if_1;
}

SCENARIO(a_timer_is_stopped_by_the_left_callback_of_another_and_by_a_thread,
         .setup = setup_left_stops,
         .threads = {scene_serve_and_leave, scene_close_at_once, scene_stop_0},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(a_timer_that_starts_is_stopped_by_the_left_callback_of_another,
         .setup = setup_left_stops,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     scene_start_0_for_60},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(the_left_callback_of_a_timer_and_a_thread_wait_for_another,
         .setup = setup_left_stops_and_waits,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     scene_stop_sync_0},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(the_left_callback_of_a_timer_waits_for_another_that_two_use,
         .setup = setup_left_stops_and_waits,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     scene_stop_sync_0, scene_start_0_for_60},
         .finish = scene_finish_closed, .delays = true);

/* A start without mail finds the set open, reads the clock, and claims timer 0
 * while left() of timer 1 is stopping it. The stop puts the timer back on the
 * lawn, and then counts as done before the start: so the timer is left [C1]. */

static unsigned left_1; /* left() of timer 1 has begun */

static uint64_t
read_clock_when_1_is_left(void *context)
{
    while (explore_me() == 2 && LAWN_ATOMIC_LOAD(&left_1, LAWN_SEQ_CST) == 0) {
        lawn__park_yield();
    }
    return lawn__park_clock(context);
}

static void
stop_0_when_1_is_left(unsigned timer)
{
    if (timer == 1) {
        LAWN_ATOMIC_STORE(&left_1, 1, LAWN_SEQ_CST);
        (void)scene_stop(0);
    }
}

static void
setup_start_waits_for_left(void)
{
    struct lawn_workers_options options = {.clock = read_clock_when_1_is_left};

    scene_begin_with(1, &options);
    scene_have_shared(1, 0, 40);
    scene_have_shared(0, 0, 50);
    scene.left_hook = stop_0_when_1_is_left;
    left_1 = 0;
    explore_keep(&left_1, sizeof(left_1));
    explore_name(&left_1, sizeof(left_1), "left of 1");
    scene_ready();
}

static void
start_0_in_50(void)
{
    (void)scene_start_ttl(0, 50);
}

SCENARIO(a_timer_claimed_while_another_is_left_is_put_back_and_left,
         .setup = setup_start_waits_for_left,
         .threads = {scene_serve_and_leave, scene_close_at_once, start_0_in_50},
         .finish = scene_finish_closed, .delays = true);

/* A thread waits for a timer that is just being left, and then frees it
 * [C3]. */

static void
setup_held_alone(void)
{
    scene_begin(1);
    scene_have_own(0, 0, 50);
    scene_ready();
}

static void
setup_two_held(void)
{
    scene_begin(1);
    scene_have_shared(0, 0, 50);
    scene_have_shared(1, 0, 40);
    scene_ready();
}

static void
setup_two_held_by_two(void)
{
    scene_begin(2);
    scene_have_shared(0, 0, 50);
    scene_have_shared(1, 1, 50);
    scene_ready();
}

static void
stop_sync_itself(unsigned timer)
{
    EXPECT(!scene_stop_sync(timer));
}

static void
setup_left_waits_for_itself(void)
{
    scene_setup_held();
    scene.left_hook = stop_sync_itself;
}

static void
start_stop_sync_and_free_0(void)
{
    (void)scene_start(0, 60);
    scene_stop_sync_and_free_0();
}

static void
stop_sync_and_free_1(void)
{
    (void)scene_stop_sync(1);
    scene_free(1);
}

SCENARIO(a_timer_that_is_being_left_is_freed, .setup = scene_setup_held,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     scene_stop_sync_and_free_0},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(a_timer_that_is_being_left_is_freed_without_a_fence_for_all_threads,
         .setup = scene_setup_held,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     scene_stop_sync_and_free_0},
         .finish = scene_finish_closed, .delays = true, .symmetric = true);
SCENARIO(a_timer_of_one_worker_alone_that_is_being_left_is_freed,
         .setup = setup_held_alone,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     scene_stop_sync_and_free_0},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(a_timer_that_is_being_left_is_started_and_freed,
         .setup = scene_setup_held,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     start_stop_sync_and_free_0},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(two_timers_that_are_being_left_are_freed, .setup = setup_two_held,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     scene_stop_sync_and_free_0, stop_sync_and_free_1},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(two_timers_of_two_workers_that_are_being_left_are_freed,
         .setup = setup_two_held_by_two,
         .threads = {scene_serve_and_leave, scene_serve_and_leave,
                     scene_close_at_once, scene_stop_sync_and_free_0,
                     stop_sync_and_free_1},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(the_left_callback_of_a_timer_and_a_thread_wait_for_it,
         .setup = setup_left_waits_for_itself,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     scene_stop_sync_0},
         .finish = scene_finish_closed, .delays = true);

/* A thread waits for a timer that is being left, while left() of another one
 * waits for that thread: it must wait only for its own timer [C3]. */

static unsigned stopped_0; /* stop_sync has returned */

static void
wait_until_0_is_stopped(unsigned timer)
{
    while (timer != 0 && LAWN_ATOMIC_LOAD(&stopped_0, LAWN_SEQ_CST) == 0) {
        lawn__park_yield();
    }
}

static void
setup_left_waits_for_a_stop(void)
{
    scene_begin(1);
    scene_have_shared(0, 0, 40);
    scene_have_shared(1, 0, 50);
    scene_have_shared(2, 0, 60);
    scene.left_hook = wait_until_0_is_stopped;
    stopped_0 = 0;
    explore_keep(&stopped_0, sizeof(stopped_0));
    scene_ready();
}

static void
setup_left_of_another_worker_waits_for_a_stop(void)
{
    scene_begin(2);
    scene_have_shared(0, 0, 50);
    scene_have_shared(1, 1, 50);
    scene.left_hook = wait_until_0_is_stopped;
    stopped_0 = 0;
    explore_keep(&stopped_0, sizeof(stopped_0));
    scene_ready();
}

/* Earlier, it would stop the timer itself, and left() would not be called. */
static void
stop_sync_and_free_0_when_left(void)
{
    while (lawn_workers_pending(&scene.timers[0])) {
        lawn__park_yield();
    }
    EXPECT(!scene_stop_sync(0));
    scene_free(0);
    LAWN_ATOMIC_STORE(&stopped_0, 1, LAWN_SEQ_CST);
}

SCENARIO(a_wait_for_a_timer_that_is_left_does_not_wait_for_the_others,
         .setup = setup_left_waits_for_a_stop,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     stop_sync_and_free_0_when_left},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(a_wait_for_a_timer_that_is_left_does_not_wait_for_other_shards,
         .setup = setup_left_of_another_worker_waits_for_a_stop,
         .threads = {scene_serve_and_leave, scene_serve_and_leave,
                     scene_close_at_once, stop_sync_and_free_0_when_left},
         .finish = scene_finish_closed, .delays = true);

/* A timer that was due before the end is restarted for a time after the end,
 * without a message. It does not fire, even if the worker is so late that the
 * new deadline has passed. */

static void
setup_later_than_the_end(void)
{
    scene_setup_due();
    (void)scene_start(0, 60);
    explore_now = SCENE_SOON;
}

static void
serve_when_closed(void)
{
    while (LAWN_ATOMIC_LOAD(&scene.set->closing, LAWN_SEQ_CST) == 0) {
        lawn__park_yield();
    }
    scene_serve_and_leave();
}

static void
close_at_20(void)
{
    scene_close(20);
    EXPECT(scene.left == 1);
}

SCENARIO(a_timer_started_for_after_the_end_is_left,
         .setup = setup_later_than_the_end,
         .threads = {serve_when_closed, close_at_20},
         .finish = scene_finish_closed, .delays = true);

/* A start that has claimed a timer must not fail, even if the set is closed
 * before the start continues: other threads may have seen the claim, and rely
 * on it. See src/workers/gate.h. */

static void
setup_idle(void)
{
    scene_begin(1);
    scene_ready();
}

/* Other threads occupy all gates: see src/workers/gate.h. */
static void
setup_idle_and_no_gate(void)
{
    setup_idle();
    for (unsigned i = 0; i < LAWN_GATES; i++) {
        scene.set->owners[i] = UINTPTR_MAX;
    }
}

SCENARIO(two_start_a_timer_at_the_end, .setup = setup_idle,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     scene_start_0_for_20, scene_start_0_for_60},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(two_start_a_timer_at_the_end_without_a_fence_for_all_threads,
         .setup = setup_idle,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     scene_start_0_for_20, scene_start_0_for_60},
         .finish = scene_finish_closed, .delays = true, .symmetric = true);
/* The second and the fourth thread try the same gate first. */
SCENARIO(two_that_want_one_gate_start_a_timer_at_the_end, .setup = setup_idle,
         .threads = {scene_serve_and_leave, scene_start_0_for_20,
                     scene_close_at_once, scene_start_0_for_60},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(two_that_have_no_gate_start_a_timer_at_the_end,
         .setup = setup_idle_and_no_gate,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     scene_start_0_for_20, scene_start_0_for_60},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(a_timer_that_is_started_at_the_end_is_stopped,
         .setup = scene_setup_held,
         .threads = {scene_serve_and_leave, scene_close_at_once,
                     scene_start_0_for_20, scene_stop_0},
         .finish = scene_finish_closed, .delays = true);

/* Threads created by the library. */

static void
setup_made(void)
{
    scene_begin(0);
    scene_add(0);
    scene_add(1);
    scene_have_shared(0, 0, 50);
    scene_ready();
}

static void
remove_0(void)
{
    int error = lawn_workers_remove(scene.set, 0);

    EXPECT(error == 0 || error == -ESHUTDOWN);
}

SCENARIO(a_thread_that_is_removed_at_the_end_is_joined_once,
         .setup = setup_made,
         .threads = {explore_made, explore_made, remove_0, scene_close_at_once},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(a_thread_that_is_removed_at_the_end_leaves_its_lawn,
         .setup = setup_made,
         .threads = {explore_made, explore_made, remove_0,
                     scene_close_at_the_end},
         .finish = scene_finish_closed, .delays = true, .time_passes = true);

/* A worker has ended with the set. Another worker, which has not, waits for a
 * timer of the first one: it takes over the lawn, because the end waits for
 * it. */

static void
stop_sync_0_and_leave(void)
{
    (void)scene_stop_sync(0);
    scene_serve_and_leave();
}

static void
setup_two_keep_0(void)
{
    scene_begin(2);
    scene_have_shared(0, 0, 50);
    scene_ready();
}

static void
wait_for_0(unsigned timer)
{
    (void)timer;
    (void)scene_stop_sync(0);
}

static void
setup_two_and_a_callback_waits(void)
{
    scene_begin(2);
    scene_have_shared(0, 0, 50);
    scene_have_own(1, 1, 5);
    scene.hooks[1] = wait_for_0;
    scene_ready();
}

static void
setup_two_made_and_a_callback_waits(void)
{
    scene_begin(0);
    scene_add(0);
    scene_add(1);
    scene_have_shared(0, 0, 50);
    scene_have_shared(1, 1, 5);
    scene.hooks[1] = wait_for_0;
    scene_ready();
}

static void
close_at_now(void)
{
    scene_close(SCENE_NOW);
}

SCENARIO(a_worker_waits_for_a_timer_of_one_that_has_ended,
         .setup = setup_two_keep_0,
         .threads = {scene_serve_and_leave, stop_sync_0_and_leave,
                     scene_close_at_once},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(a_callback_waits_for_a_timer_of_a_worker_that_has_ended,
         .setup = setup_two_and_a_callback_waits,
         .threads = {scene_serve_and_leave, scene_serve_and_leave,
                     close_at_now},
         .finish = scene_finish_closed, .delays = true);
SCENARIO(a_callback_waits_for_a_timer_of_a_thread_that_has_ended,
         .setup = setup_two_made_and_a_callback_waits,
         .threads = {explore_made, explore_made, close_at_now},
         .finish = scene_finish_closed, .delays = true);

/* Both workers have ended, and the one that kept the timer has left: its lawn
 * has no worker, and the other one takes it over [C3]. */

static void
end_stop_sync_0_and_leave(void)
{
    scene_serve();
    (void)scene_stop_sync(0);
    lawn_worker_detach(scene.workers[explore_me()]);
}

SCENARIO(a_worker_that_has_ended_waits_for_a_timer_of_one_that_has_left,
         .setup = setup_two_keep_0,
         .threads = {scene_serve_and_leave, end_stop_sync_0_and_leave,
                     scene_close_at_once},
         .finish = scene_finish_closed, .delays = true);

/* A thread of the library's has ended with two lawns, and another worker takes
 * over the second one first [C3]. */

static void
setup_one_ends_with_two_lawns(void)
{
    struct lawn_workers_options options = {.route = LAWN_WORKERS_BY_TTL,
                                           .shards = 3};

    scene_begin_with(0, &options);
    scene_add(0);
    explore_be(1);
    scene.workers[1] = lawn_workers_attach(scene.set);
    (void)lawn_worker_turn(scene.workers[1]);
    explore_be(EXPLORE_FIBRES);
    scene_have_shared(0, 0, 60); /* on the first lawn */
    scene_have_shared(1, 0, 20); /* on the second */
    scene_ready();
}

static void
stop_sync_both_when_ended(void)
{
    struct lawn_worker *ends = scene.workers[0];

    while (LAWN_ATOMIC_LOAD(&ends->life, LAWN_SEQ_CST) == LAWN_WORKER_LIVE) {
        lawn__park_yield();
    }
    struct lawn_shard *first = ends->shards;
    EXPECT(first != NULL && first->next != NULL && first->next->next == NULL);
    unsigned timer = first == scene.set->shards[0] ? 1 : 0;
    (void)scene_stop_sync(timer);
    EXPECT(ends->shards == first && first->next == NULL);
    (void)scene_stop_sync(1 - timer);
    EXPECT(ends->shards == NULL);
    scene_serve_and_leave();
}

SCENARIO(a_worker_waits_for_timers_of_a_thread_that_has_ended_with_two_lawns,
         .setup = setup_one_ends_with_two_lawns,
         .threads = {explore_made, stop_sync_both_when_ended, close_at_now},
         .finish = scene_finish_closed, .delays = true);

/* A worker takes over a lawn between two rounds, and then sleeps until its next
 * one: a message for that lawn must wake it. */

#define SHARD_0 (scene.set->shards[0])

static void
setup_one_ends_and_one_has_a_timer(void)
{
    scene_begin(0);
    scene_add(0);
    explore_be(1);
    scene.workers[1] = lawn_workers_attach(scene.set);
    (void)lawn_worker_turn(scene.workers[1]);
    explore_be(EXPLORE_FIBRES);
    scene_have_shared(0, 0, 50);
    scene_have_shared(2, 0, 50);
    scene_have_own(1, 1, 50);
    scene_ready();
    (void)scene_stop(0);
    (void)scene_stop(2);
}

/* As an event loop does: a turn, an event, and a wait until the next turn. */
static void
turn_take_over_and_sleep(void)
{
    struct lawn_worker *self = scene.workers[1];

    while (LAWN_ATOMIC_LOAD(&scene.workers[0]->life, LAWN_SEQ_CST) ==
           LAWN_WORKER_LIVE) {
        lawn__park_yield();
    }
    uint64_t next = lawn_worker_turn(self);
    (void)scene_stop_sync(0);
    while (explore_now < next &&
           LAWN_ATOMIC_LOAD(&self->token, LAWN_SEQ_CST) == 0) {
        lawn__park_wait(&self->token, 0, next);
    }
    scene_serve_and_leave();
}

static void
stop_sync_2_when_taken_over(void)
{
    while (LAWN_ATOMIC_LOAD(&SHARD_0->worker, LAWN_SEQ_CST) !=
           scene.workers[1]) {
        lawn__park_yield();
    }
    (void)scene_stop_sync(2);
    EXPECT(explore_now == SCENE_NOW);
}

SCENARIO(a_lawn_taken_over_between_two_rounds_has_mail,
         .setup = setup_one_ends_and_one_has_a_timer,
         .threads = {explore_made, turn_take_over_and_sleep,
                     scene_close_at_the_end, stop_sync_2_when_taken_over},
         .finish = scene_finish_closed, .time_passes = true);

/* A library thread that is being removed takes over a lawn in a callback, and
 * another worker waits for a timer of that lawn: the lawn does not move. */

static void
wait_for_1_and_keep_it(unsigned timer)
{
    struct lawn_shard *shard = scene.set->shards[2];

    (void)timer;
    while (LAWN_ATOMIC_LOAD(&scene.workers[2]->life, LAWN_SEQ_CST) ==
           LAWN_WORKER_LIVE) {
        lawn__park_yield();
    }
    (void)scene_stop_sync(1);
    struct lawn_worker *runs = LAWN_ATOMIC_LOAD(&shard->worker, LAWN_SEQ_CST);
    explore_point();
    EXPECT(runs != scene.workers[0] ||
           LAWN_ATOMIC_LOAD(&shard->worker, LAWN_SEQ_CST) == runs); /* C8 */
}

static void
setup_one_is_removed_and_one_ends(void)
{
    scene_begin(0);
    scene_add(0);
    explore_be(1);
    scene.workers[1] = lawn_workers_attach(scene.set);
    (void)lawn_worker_turn(scene.workers[1]);
    explore_be(EXPLORE_FIBRES);
    scene_add(2);
    scene_have_shared(0, 0, 5);
    scene_have_shared(1, 2, 50);
    scene_have_shared(2, 2, 50);
    scene.hooks[0] = wait_for_1_and_keep_it;
    scene_ready();
}

static void
stop_sync_2_when_ended(void)
{
    while (LAWN_ATOMIC_LOAD(&scene.workers[2]->life, LAWN_SEQ_CST) ==
           LAWN_WORKER_LIVE) {
        lawn__park_yield();
    }
    (void)scene_stop_sync(2);
    scene_serve_and_leave();
}

static void
close_when_removed(void)
{
    while (LAWN_ATOMIC_LOAD(&scene.workers[0]->life, LAWN_SEQ_CST) ==
           LAWN_WORKER_LIVE) {
        lawn__park_yield();
    }
    scene_close(SCENE_NOW);
}

SCENARIO(a_thread_that_is_removed_takes_over_a_lawn,
         .setup = setup_one_is_removed_and_one_ends,
         .threads = {explore_made, stop_sync_2_when_ended, explore_made,
                     remove_0, close_when_removed},
         .finish = scene_finish_closed);

/* A timer is in transit to an idle library thread when the set is closed: it
 * still fires. */

static void
setup_two_made_and_0_moves(void)
{
    scene_begin(0);
    scene_add(0);
    scene_add(1);
    scene_have_shared(0, 0, 50);
    scene_ready();
    (void)scene_start_on(0, 30, 1);
}

static void
close_at_the_end_and_nothing_is_left(void)
{
    scene_close_at_the_end();
    EXPECT(scene.left == 0);
}

SCENARIO(a_timer_moves_when_the_set_is_closed,
         .setup = setup_two_made_and_0_moves,
         .threads = {explore_made, explore_made,
                     close_at_the_end_and_nothing_is_left},
         .finish = scene_finish_closed, .delays = true, .time_passes = true);
