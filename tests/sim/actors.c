/* actors.c - the threads: actors, which use timers and sometimes are workers; a
 * manager, which adds and removes workers; and callbacks. */
#include "sim.h"

#include "../../src/workers/atomic.h"
#include "../../src/workers/park.h"
#include "../../src/workers/workers.h"
#include "../explore/run_threads.h"

#include <errno.h>
#include <string.h>

/* The last phase, for workers and the manager. */
#define ACTORS_CALM 1000u
#define ACTORS_CLOSE 1001u

struct actor {
    struct rng rng;
    struct lawn_worker *worker; /* the worker that it is, or NULL */
    const char *doing;          /* reported if it never returns */
    int fd;                     /* to wait for, or -1 */
    bool waiting;               /* for the other actors */
};

static struct actor actors[EXPLORE_FIBRES];
static unsigned starts_left; /* for callbacks, in a phase */
static int anchor;

/* Waiting. */

static void
nap(uint64_t ticks)
{
    static uint32_t never;
    uint64_t until = weather_time() + ticks;

    while (weather_time() < until) {
        lawn__park_wait(&never, 0, until);
    }
}

/* Detaches the worker. */
static void
detach(struct actor *me)
{
    if (me->worker != NULL) {
        sim_log("is no longer a worker");
        world_serves[explore_me()] = NULL;
        lawn_worker_detach(me->worker);
        me->worker = NULL;
    }
}

/* Runs a round, and sleeps for at most ticks if there is no more work. */
static void
turn(struct actor *me, uint64_t ticks)
{
    uint64_t next = lawn_worker_turn(me->worker);
    bool sleeps = ticks > 0;

    sim_counts.turns++;
    if (ticks < LAWN_NEVER && weather_time() + ticks < next) {
        next = weather_time() + ticks;
    }
    if (lawn_worker_ended(me->worker)) {
        detach(me);
    } else if (sleeps && me->fd >= 0) {
        if (next > weather_time()) {
            system_poll(me->fd, next);
        }
    } else if (sleeps && next > lawn_worker_now(me->worker) &&
               LAWN_ATOMIC_LOAD(&me->worker->token, LAWN_ACQUIRE) == 0) {
        lawn__park_wait(&me->worker->token, 0, next);
    }
}

/* Waits until the others have finished as well; a worker serves meanwhile. */
static void
wait_for_phase(struct actor *me, unsigned phase)
{
    if (LAWN_ATOMIC_LOAD(&world_phase, LAWN_SEQ_CST) >= phase) {
        return;
    }
    me->doing = "waiting for the others";
    me->waiting = true;
    weather_busy--; /* next_phase() counts it again */
    while (LAWN_ATOMIC_LOAD(&world_phase, LAWN_SEQ_CST) < phase) {
        uint32_t seen = LAWN_ATOMIC_LOAD(&world_phase, LAWN_SEQ_CST);

        if (me->worker != NULL) {
            turn(me, LAWN_ATOMIC_LOAD(&world_phase, LAWN_SEQ_CST) < phase
                         ? LAWN_NEVER
                         : 0);
        } else if (seen < phase) {
            lawn__park_wait(&world_phase, seen, LAWN_NEVER);
        }
    }
}

/* Actors. */

static void
attach(struct actor *me)
{
    unsigned number = explore_me();

    me->doing = "becoming a worker";
    system_may_alloc[number] = true;
    me->worker = lawn_workers_attach(world_set);
    system_may_alloc[number] = false;
    if (me->worker == NULL) {
        EXPECT(errno == ENOMEM || (errno == ESHUTDOWN && world_closing));
        return;
    }
    world_serves[number] = me->worker;
    sim_log("is worker %u", lawn_worker_number(me->worker));
    me->fd = -1;
    if (rng_below(&me->rng, 2) == 0) {
        me->fd = lawn_worker_fd(me->worker);
        EXPECT(me->fd >= 0 || me->fd == -EMFILE);
    }
    if (me->fd < 0 && rng_below(&me->rng, 3) == 0) {
        weather_busy--;
        EXPECT(lawn_worker_run(me->worker) == 0);
        weather_busy++;
        detach(me);
    }
}

static void
serve_or_attach(struct actor *me)
{
    uint64_t rounds = 1 + rng_below(&me->rng, 4);

    if (me->worker == NULL) {
        if ((sim_plan.faults >> SIM_GO & 1) != 0) {
            attach(me);
        }
        return;
    }
    me->doing = "serving";
    if (rng_below(&me->rng, 6) == 0) {
        detach(me);
        return;
    }
    while (rounds-- > 0 && me->worker != NULL) {
        turn(me, rng_below(&me->rng, 3) == 0 ? 100 : 0);
    }
}

static void
start_somehow(struct rng *rng, unsigned timer)
{
    uint64_t ttl = world_ttl(rng);

    switch (rng_below(rng, 6)) {
    case 0:
        world_start_at(timer, rng_below(rng, 3) == 0
                                  ? weather_time() - weather_time() / 8
                                  : weather_time() + ttl);
        break;
    case 1:
    case 2:
        world_start_on(timer, ttl, (unsigned)rng_below(rng, 5));
        break;
    default:
        (void)world_start(timer, ttl);
    }
}

static void
act(struct actor *me)
{
    struct rng *rng = &me->rng;
    unsigned timer = world_pick(rng);
    unsigned what = (unsigned)rng_below(rng, 20);

    if (timer == SIM_TIMERS && what < 13) {
        what = 13;
    }
    struct lawn_workers_counters stats;
    if (what < 6) {
        me->doing = "starting a timer";
        start_somehow(rng, timer);
    } else if (what < 9) {
        me->doing = "stopping a timer";
        (void)world_stop(timer);
    } else if (what < 11) {
        me->doing = "waiting for a timer";
        (void)world_stop_sync(timer);
    } else if (what < 12) {
        me->doing = "freeing a timer";
        world_free(timer);
    } else if (what < 13) {
        me->doing = "asking";
        lawn_workers_wake(world_set);
        (void)lawn_workers_stats_of(world_set, 1, &stats);
    } else if (what < 15) {
        me->doing = "throwing a timer";
        world_throw(rng);
    } else if (what < 17) {
        me->doing = "sleeping";
        nap(1 + (rng_next(rng) >> (50 + rng_below(rng, 14))));
    } else {
        serve_or_attach(me);
    }
}

static void
run_actor(void)
{
    unsigned number = explore_me();
    struct actor *me = &actors[number];

    if (number > sim_plan.actors) {
        return;
    }
    weather_busy++;
    for (unsigned phase = 1; phase <= sim_plan.phases; phase++) {
        wait_for_phase(me, phase);
        for (unsigned i = 0; i < sim_plan.operations; i++) {
            act(me);
        }
    }
    wait_for_phase(me, ACTORS_CALM);
    wait_for_phase(me, ACTORS_CLOSE);
    me->doing = "serving to the end";
    while (me->worker != NULL && !lawn_worker_ended(me->worker)) {
        turn(me, LAWN_NEVER);
    }
    detach(me);
    weather_busy--;
}

/* The manager. */

static int
add(void)
{
    system_may_alloc[SIM_MANAGER] = true;
    int number = lawn_workers_add(world_set);
    system_may_alloc[SIM_MANAGER] = false;
    sim_log("adds worker %d", number);
    EXPECT(number >= 0 || number == -ENOMEM || number == -EAGAIN ||
           (number == -ESHUTDOWN && world_closing));
    return number;
}

static void
manage(struct actor *me)
{
    struct rng *rng = &me->rng;
    bool goes = (sim_plan.faults >> SIM_GO & 1) != 0;
    unsigned what = (unsigned)rng_below(rng, 6);
    int number = (int)rng_below(rng, 6);

    if (what < 2 && goes) {
        me->doing = "adding a worker";
        sim_counts.faults[SIM_GO]++;
        (void)add();
    } else if (what < 4 && goes && number != anchor) {
        me->doing = "removing a worker";
        sim_counts.faults[SIM_GO]++;
        int error = lawn_workers_remove(world_set, (unsigned)number);
        sim_log("removes worker %d: %d", number, error);
        EXPECT(error == 0 || error == -ENOENT || error == -EBUSY);
    } else if (what < 5) {
        me->doing = "sleeping";
        nap(1 + rng_below(rng, 100));
    } else {
        me->doing = "waking all";
        lawn_workers_wake(world_set);
    }
}

static uint64_t
until_when(struct rng *rng)
{
    uint64_t what = rng_below(rng, 4);

    return what == 0   ? 0
           : what == 1 ? weather_time()
           : what == 2 ? weather_time() + rng_below(rng, 5000)
                       : LAWN_NEVER;
}

/* At the end of a phase there must be a worker for threads that wait. */
static void
keep_going(struct actor *me)
{
    uint64_t ticks = 20;

    me->doing = "keeping a worker";
    struct lawn_workers_counters stats;
    while (!world_closing) {
        bool alone = weather_busy == 1; /* read before the check */

        lawn_workers_stats(world_set, &stats);
        if (stats.workers == 0) {
            (void)add();
        } else if (anchor >= 0 || alone) {
            return;
        }
        nap(ticks);
        ticks *= 2;
    }
}

static void
make_set(void)
{
    for (unsigned i = 0; !world_make_set(); i++) {
        weather_calm = i > 0; /* one failure is enough */
    }
    weather_calm = sim_plan.faults == 0;
    if (sim_plan.anchored) {
        while ((anchor = add()) < 0) {
        }
    }
    for (unsigned i = 1;
         i < sim_plan.seats && rng_below(&actors[0].rng, 3) != 0; i++) {
        (void)add();
    }
}

static void
run_manager(void)
{
    struct actor *me = &actors[SIM_MANAGER];

    weather_busy++;
    make_set();
    for (unsigned phase = 1; phase <= sim_plan.phases; phase++) {
        wait_for_phase(me, phase);
        for (unsigned i = 0; i < sim_plan.operations / 3 && !world_closing;
             i++) {
            manage(me);
        }
        if (phase == sim_plan.close_phase) {
            me->doing = "closing the set";
            sim_counts.faults[SIM_CLOSE]++;
            world_close(until_when(&me->rng));
        }
        keep_going(me);
    }
    wait_for_phase(me, ACTORS_CALM);
    wait_for_phase(me, ACTORS_CLOSE);
    if (!world_closing) {
        me->doing = "closing the set at the end";
        world_close(rng_below(&me->rng, 2) == 0 ? 0 : weather_time());
    }
    weather_busy--;
}

/* Callbacks. */

/* Calls that are not permitted in a callback must fail. */
static void
expect_refusals(struct lawn_worker *worker)
{
    EXPECT(lawn_worker_turn(worker) == LAWN_NEVER);
    EXPECT(lawn_worker_run(worker) == -EDEADLK);
    EXPECT(lawn_workers_remove(world_set, 0) == -EDEADLK);
    EXPECT(lawn_workers_attach(world_set) == NULL && errno == EBUSY);
    EXPECT(lawn_workers_close(world_set, 0, NULL, NULL) == 0);
    lawn_worker_detach(worker);
}

static void
callback_step(struct rng *rng, unsigned timer, struct lawn_worker *worker)
{
    unsigned other = world_pick(rng);
    unsigned what = (unsigned)rng_below(rng, 16);

    if (what < 4 && starts_left > 0 && !world_is_thrown(timer)) {
        starts_left--;
        start_somehow(rng, timer);
    } else if (what < 8 && starts_left > 0 && other != SIM_TIMERS) {
        starts_left--;
        start_somehow(rng, other);
    } else if (what < 10 && other != SIM_TIMERS) {
        (void)world_stop(other);
    } else if (what < 11 && other != SIM_TIMERS && other >= timer &&
               sim_plan.anchored) {
        /* Only upwards, because otherwise two callbacks could wait for each
         * other. */
        (void)world_stop_sync(other);
    } else if (what < 12 && other != SIM_TIMERS && other > timer &&
               sim_plan.anchored) {
        world_free(other);
    } else if (what < 13) {
        weather_pass(rng_below(rng, 50)); /* a long callback */
        lawn_worker_update(worker);
    } else if (what < 14) {
        expect_refusals(worker);
    } else {
        world_throw(rng);
    }
}

void
actors_callback(unsigned timer, struct lawn_worker *worker)
{
    struct rng *rng = &actors[explore_me()].rng;
    uint64_t steps = rng_below(rng, sim_plan.eager ? 4 : 2);

    if (weather_calm && sim_plan.faults != 0) {
        return;
    }
    while (steps-- > 0) {
        callback_step(rng, timer, worker);
        explore_point();
    }
}

void
actors_on_left(unsigned timer)
{
    struct rng *rng = &actors[explore_me()].rng;
    unsigned other = world_pick(rng);

    if (other == SIM_TIMERS || other == timer) {
        return;
    }
    if (rng_below(rng, 3) == 0) {
        (void)world_stop(other);
    } else if (rng_below(rng, 3) == 0) {
        (void)world_stop_sync(other);
    }
}

/* The scenario. */

static void
set_up(void)
{
    memset(actors, 0, sizeof(actors));
    for (unsigned i = 0; i < EXPLORE_FIBRES; i++) {
        actors[i].rng.state = sim_plan.seed * 31 + i + 7;
        actors[i].doing = "beginning";
        actors[i].fd = -1;
    }
    anchor = -1;
    starts_left = 0;
    weather_begin();
    weather_calm = sim_plan.faults == 0;
    system_begin();
    world_begin();
}

static void
expect_all_back(void)
{
    for (unsigned i = 0; i <= sim_plan.actors && weather_busy > 0; i++) {
        if (!actors[i].waiting && run_threads[i].state != RUN_DONE) {
            explore_fail("%c waits forever, %s", 'a' + (int)i, actors[i].doing);
        }
    }
}

/* Runs until no thread can continue. Due timers that were started by a
 * callback, or taken from the mailbox during one, fire a tick later. That may
 * be a tick of a clock that is ahead: a worker with that clock took the timers,
 * and then their lawn moved to another worker. So time passes until each clock
 * is past the time of the clock that is ahead most. */
static void
settle(void)
{
    explore_go_on();
    expect_all_back();
    uint64_t due = weather_earliest();
    weather_pass(weather_latest() - due + sim_plan.options.lawn.resolution + 1);
    weather_steps = 0;
    explore_go_on();
    world_expect_quiet(due);
}

static void
next_phase(unsigned phase)
{
    weather_steps = 0;
    starts_left = 40;
    world_phase = phase;
    for (unsigned i = 0; i <= sim_plan.actors; i++) {
        weather_busy += actors[i].waiting;
        actors[i].waiting = false;
    }
    sim_log("-- phase %u", phase);
    lawn__park_wake(&world_phase);
    if (world_set != NULL && !world_closing) {
        lawn_workers_wake(world_set);
    }
    settle();
}

static void
finish(void)
{
    static const uint64_t waits[] = {1, 30, 5000, 3000000};

    expect_all_back();
    world_expect_quiet(0);
    for (unsigned phase = 1; phase <= sim_plan.phases && !world_closing;
         phase++) {
        next_phase(phase);
    }
    weather_clear_up();
    next_phase(ACTORS_CALM);
    for (unsigned i = 0; i < sizeof(waits) / sizeof(*waits) && !world_closing;
         i++) {
        weather_pass(waits[i]);
        weather_steps = 0;
        settle();
    }
    next_phase(ACTORS_CLOSE);
    for (unsigned i = 0; i <= sim_plan.actors; i++) {
        EXPECT(run_threads[i].state == RUN_DONE);
    }
    world_end();
}

const struct explore_scenario actors_scenario = {
    .name = "sim",
    .setup = set_up,
    .threads = {run_manager, run_actor, run_actor, run_actor, run_actor,
                run_actor, system_take_seat, system_take_seat, system_take_seat,
                system_take_seat},
    .daemons = ~0u,
    .time_passes = true,
    .finish = finish};
