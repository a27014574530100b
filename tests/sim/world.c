/* world.c - the set, the timers, and their required properties. */
#include "sim.h"

#include "../../src/workers/shard.h"
#include "../../src/workers/state.h"
#include "../../src/workers/workers.h"
#include "../explore/run_threads.h"
#include "judge.h"

#include <errno.h>
#include <string.h>

struct world_timer {
    bool alive;
    bool thrown;        /* started once, and then freed by its callback */
    bool starting;      /* a thrown one: its start has not returned */
    bool dying;         /* about to be freed */
    unsigned users;     /* threads that are about to use it */
    unsigned callbacks; /* number of running callbacks, */
    unsigned caller;    /* and their fibre */
};

struct lawn_workers *world_set;
struct lawn_worker *world_serves[EXPLORE_FIBRES];
uint32_t world_phase;
uint64_t world_left;
bool world_closing;

static bool closed;
static uint64_t fires;
static struct world_timer states[SIM_TIMERS];
static struct lawn_workers_timer timers[SIM_TIMERS];

static void on_fire(struct lawn_workers_timer *timer,
                    struct lawn_worker *worker);

void
world_begin(void)
{
    world_set = NULL;
    world_phase = 0;
    world_left = 0;
    world_closing = false;
    closed = false;
    fires = 0;
    memset(world_serves, 0, sizeof(world_serves));
    memset(states, 0, sizeof(states));
    memset(timers, 0, sizeof(timers));
    explore_name(timers, sizeof(timers), "timers");
    for (unsigned i = 0; i < sim_plan.timers; i++) {
        states[i].alive = true;
        timers[i].fire = on_fire;
    }
    lawn__handover_marker.token = 0; /* shared by all sets */
    lawn__handover_marker.control = 0;
    judge_begin();
}

bool
world_make_set(void)
{
    struct lawn_workers_options options = sim_plan.options;

    options.lawn.alloc = system_alloc;
    options.lawn.release = system_release;
    system_may_alloc[explore_me()] = true;
    world_set = lawn_workers_new(&options);
    system_may_alloc[explore_me()] = false;
    if (world_set == NULL) {
        EXPECT(errno == ENOMEM);
        EXPECT(system_blocks() == 0);
    }
    return world_set != NULL;
}

/* Callbacks. */

static void
gone(unsigned timer)
{
    sim_log("frees timer %u", timer);
    sim_counts.frees++;
    states[timer].alive = false;
    explore_free(&timers[timer], sizeof(timers[timer]));
}

/* Returns the time by which a firing timer must be due: the clock of its
 * worker. If clocks differ and a lawn comes from a worker that is ahead, it is
 * that worker's clock, because the time of a lawn does not run back. */
static uint64_t
clock_of_lawns(void)
{
    unsigned both = 1u << SIM_SKEW | 1u << SIM_GO;

    return (sim_plan.faults & both) == both ? weather_latest() : weather_time();
}

static void
on_fire(struct lawn_workers_timer *timer, struct lawn_worker *worker)
{
    unsigned which = (unsigned)(timer - timers);
    struct world_timer *state = &states[which];
    uint64_t due = lawn_last_deadline(&timer->timer);

    EXPECT(which < SIM_TIMERS);
    sim_log("timer %u fires, due at %llu", which, (unsigned long long)due);
    EXPECT(lawn_workers_self() == worker);
    EXPECT(lawn_worker_set(worker) == world_set);
    if (state->callbacks++ != 0) {
        explore_fail("timer %u has two callbacks at a time [C4]", which);
    }
    state->caller = explore_me();
    fires++;
    sim_counts.fires++;
    judge_fired(which, due);
    if (due > clock_of_lawns()) {
        explore_fail("timer %u fires before %llu [P1]", which,
                     (unsigned long long)due);
    }
    EXPECT(lawn_worker_now(worker) <= clock_of_lawns());
    explore_point();
    actors_callback(which, worker);
    state->callbacks--;
    judge_callback_over(which);
    sim_log("callback of timer %u is over", which);
    if (state->thrown) {
        gone(which);
    }
}

static void
on_left(struct lawn_workers_timer *timer, void *arg)
{
    unsigned which = (unsigned)(timer - timers);

    EXPECT(arg == &world_left);
    EXPECT(which < SIM_TIMERS && states[which].callbacks++ == 0);
    states[which].caller = explore_me();
    sim_log("timer %u is left", which);
    judge_fired(which, LAWN_NEVER);
    world_left++;
    sim_counts.left++;
    explore_point();
    actors_on_left(which);
    states[which].callbacks--;
    judge_callback_over(which);
    if (states[which].thrown) {
        gone(which);
    }
}

/* Operations. */

unsigned
world_pick(struct rng *rng)
{
    unsigned first = (unsigned)rng_below(rng, sim_plan.timers);

    for (unsigned i = 0; i < sim_plan.timers; i++) {
        unsigned timer = (first + i) % sim_plan.timers;

        if (states[timer].alive && !states[timer].thrown &&
            !states[timer].dying) {
            return timer;
        }
    }
    return SIM_TIMERS;
}

uint64_t
world_ttl(struct rng *rng)
{
    if (rng_below(rng, 8) == 0) {
        return rng_next(rng) >> (40 + rng_below(rng, 24));
    }
    return sim_plan.ttls[rng_below(rng, sim_plan.ttl_count)];
}

/* Returns the earliest time from which a TTL counts. A worker's own timer
 * counts from the worker's now. One that moves to another worker counts from
 * the clock, which may be behind if a lawn came from a worker whose clock was
 * ahead. */
static uint64_t
counts_from(void)
{
    struct lawn_worker *self = lawn_workers_self();
    uint64_t clock = weather_time();

    return self != NULL && lawn_worker_now(self) < clock ? lawn_worker_now(self)
                                                         : clock;
}

/* Returns the latest deadline of a timer, from its earliest possible start. */
static uint64_t
slack(uint64_t deadline, uint64_t ttl)
{
    uint64_t resolution = sim_plan.options.lawn.resolution;

    return sim_sum(deadline, ttl / 1024 + 2 * (resolution + 1));
}

static unsigned
begin(unsigned timer, enum judge_kind kind, uint64_t earliest)
{
    sim_counts.operations++;
    states[timer].users++;
    return judge_invoke(timer, kind, earliest);
}

static void
started(unsigned timer, unsigned op, uint64_t latest, int error)
{
    states[timer].users--;
    sim_log("start of timer %u: %d", timer, error);
    if (error == 0) {
        sim_counts.starts++;
        judge_return(timer, op, latest, true);
        return;
    }
    EXPECT(error == -ENOENT || (world_closing && error == -ESHUTDOWN));
    judge_refused(timer, op);
}

int
world_start(unsigned timer, uint64_t ttl)
{
    uint64_t least = ttl == 0 ? 1 : ttl;
    unsigned op = begin(timer, JUDGE_START, sim_sum(counts_from(), least));

    sim_log("starts timer %u for %llu", timer, (unsigned long long)ttl);
    int error = lawn_workers_start(world_set, &timers[timer], ttl);
    EXPECT(error == 0 || error == -ESHUTDOWN);
    started(timer, op, slack(sim_sum(weather_latest(), least), least), error);
    return error;
}

void
world_start_at(unsigned timer, uint64_t deadline)
{
    unsigned op = begin(timer, JUDGE_START,
                        deadline < LAWN_NEVER ? deadline : LAWN_NEVER - 1);

    sim_log("starts timer %u at %llu", timer, (unsigned long long)deadline);
    int error = lawn_workers_start_at(world_set, &timers[timer], deadline);
    EXPECT(error == 0 || error == -ESHUTDOWN);
    uint64_t latest = weather_latest();
    started(timer, op, slack(deadline > latest ? deadline : latest, 0), error);
}

void
world_start_on(unsigned timer, uint64_t ttl, unsigned worker)
{
    uint64_t least = ttl == 0 ? 1 : ttl;
    unsigned op = begin(timer, JUDGE_START, sim_sum(counts_from(), least));

    sim_log("starts timer %u for %llu on %u", timer, (unsigned long long)ttl,
            worker);
    int error = lawn_workers_start_on(world_set, &timers[timer], ttl, worker);
    started(timer, op, slack(sim_sum(weather_latest(), least), least), error);
}

static bool
stop(unsigned timer, enum judge_kind kind, const char *name)
{
    unsigned op = begin(timer, kind, 0);

    sim_log("%s of timer %u", name, timer);
    bool result = kind == JUDGE_STOP
                      ? lawn_workers_stop(world_set, &timers[timer])
                      : lawn_workers_stop_sync(world_set, &timers[timer]);
    states[timer].users--;
    sim_counts.stops += result;
    sim_log("%s of timer %u: %s", name, timer, result ? "true" : "false");
    judge_return(timer, op, 0, result);
    return result;
}

bool
world_stop(unsigned timer)
{
    return stop(timer, JUDGE_STOP, "stop");
}

bool
world_stop_sync(unsigned timer)
{
    return stop(timer, JUDGE_STOP_SYNC, "stop_sync") && states[timer].alive;
}

/* Only if no other thread is about to use it. A thread knows that others have
 * finished with a timer because it has seen stores that they made afterward. So
 * their stores to the timer have reached the memory, too. */
void
world_free(unsigned timer)
{
    struct world_timer *state = &states[timer];

    if (state->users > 0 || !state->alive || state->thrown || state->dying ||
        state->callbacks > 0) {
        return;
    }
    for (unsigned i = 0; i < EXPLORE_FIBRES; i++) {
        run_drain_of(&run_threads[i]);
    }
    state->dying = true;
    (void)world_stop_sync(timer);
    if (state->callbacks > 0) {
        explore_fail("timer %u may be freed, and its callback runs [C3]",
                     timer);
    }
    gone(timer);
    state->dying = false;
}

bool
world_is_thrown(unsigned timer)
{
    return states[timer].thrown;
}

void
world_throw(struct rng *rng)
{
    unsigned timer = 0;

    while (timer < sim_plan.timers &&
           (states[timer].alive || states[timer].starting ||
            states[timer].users > 0)) {
        timer++;
    }
    if (timer == sim_plan.timers) {
        return;
    }
    explore_renew(&timers[timer], sizeof(timers[timer]));
    judge_new(timer);
    timers[timer].fire = on_fire;
    states[timer].alive = true;
    states[timer].thrown = rng_below(rng, 2) == 0 && !world_closing;
    if (states[timer].thrown) {
        uint64_t ttl = world_ttl(rng);

        states[timer].starting = true;
        if (world_start(timer, ttl < 5000 ? ttl : 5000) != 0) {
            states[timer].thrown = false;
        }
        states[timer].starting = false;
    }
}

void
world_close(uint64_t until)
{
    world_closing = true;
    sim_log("closes the set");
    uint64_t count = lawn_workers_close(world_set, until, on_left, &world_left);
    sim_log("the set is closed, %llu are left", (unsigned long long)count);
    EXPECT(count == world_left);
    closed = true;
}

/* Required properties. */

/* Returns a timer in the mailbox that its worker must notice before the time
 * until: it is due by then, or a thread waits for it. Not a step. */
static const struct lawn_workers_timer *
urgent_of(const struct lawn_workers_timer *timer, uint64_t until)
{
    for (; timer != NULL; timer = timer->next) {
        if ((timer->state & LAWN_STATE_REQ) != 0
                ? (timer->state & LAWN_STATE_RUN) != 0 && timer->when < until
                : (timer->state & LAWN_STATE_RUN) == 0) {
            break;
        }
    }
    return timer;
}

static void
expect_no_mail(const struct lawn_shard *shard, unsigned fibre, uint64_t until)
{
    const struct lawn_workers_timer *lists[] = {
        shard->again, shard->box.taken, shard->box.ready,
        world_closing ? NULL : shard->box.head};

    for (unsigned i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        const struct lawn_workers_timer *timer = urgent_of(lists[i], until);

        if (timer != NULL) {
            explore_fail("%c sleeps until %llu, and has mail: timer %u, %s, "
                         "for %llu [C7]",
                         'a' + (int)fibre, (unsigned long long)until,
                         (unsigned)(timer - timers),
                         (timer->state & LAWN_STATE_RUN) != 0 ? "running"
                                                              : "waited for",
                         (unsigned long long)timer->when);
        }
    }
}

void
world_expect_no_lost_wake(void)
{
    for (unsigned i = 0; i < EXPLORE_FIBRES; i++) {
        const struct run_thread *thread = &run_threads[i];
        const struct lawn_worker *worker = world_serves[i];

        if (worker == NULL || thread->state != RUN_ASLEEP ||
            (thread->word != &worker->token &&
             (worker->fd < 0 || thread->word != system_file(worker->fd)))) {
            continue;
        }
        if (worker->token != 0 || worker->control != 0) {
            explore_fail("%c sleeps, and was woken [C7]", 'a' + (int)i);
        }
        for (struct lawn_shard *shard = worker->shards; shard != NULL;
             shard = shard->next) {
            expect_no_mail(shard, i, thread->until);
            if (lawn_next(shard->lawn) < thread->until && !world_closing) {
                explore_fail("%c sleeps until %llu, and has a timer for %llu "
                             "[C7]",
                             'a' + (int)i, (unsigned long long)thread->until,
                             (unsigned long long)lawn_next(shard->lawn));
            }
        }
    }
}

static void
expect_timer(unsigned timer, uint64_t due)
{
    const struct world_timer *state = &states[timer];
    const char *why = NULL;
    bool runs = state->alive && lawn_workers_pending(&timers[timer]);

    EXPECT(state->callbacks == 0 && state->users == 0);
    EXPECT(!closed || !runs);
    if (state->alive && !judge_quiet(timer, runs, due, &why)) {
        explore_fail("timer %u %s", timer, why);
    }
}

void
world_expect_quiet(uint64_t due)
{

    world_expect_no_lost_wake();
    for (unsigned i = 0; i < sim_plan.timers; i++) {
        expect_timer(i, due);
    }
    if (world_set == NULL) {
        return;
    }
    EXPECT(lawn_workers_check(world_set, sim_logging ? stdout : NULL));
    struct lawn_workers_counters stats;
    lawn_workers_stats(world_set, &stats);
    EXPECT(stats.fires == fires);
}

void
world_end(void)
{
    EXPECT(closed);
    lawn_workers_free(world_set);
    EXPECT(system_blocks() == 0);
}
