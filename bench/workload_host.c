/* workload_host.c - A1 to A3: an event loop on the real clock, with its own
 * timers or with lawn's.
 *
 * In A1 and A2, n timers of 8 TTLs run, and none is due while time is measured.
 * Every 256 operations the event loop runs a round that does not wait, as a
 * server does that receives some hundred packets at a time.
 *
 * In A3, n timers are started and all fire within 200 ms. The result is the CPU
 * time of all that, including the event loop. One timer in 16 measures its
 * lateness, and whether it is early. If some timers do not fire, a timer of the
 * benchmark, due at the time limit, ends the run.
 *
 * Each run checks that the expected timers have fired once, and no others.
 */
#include "host.h"
#include "workload.h"
#include "workloads.h"
#include <lawn_histogram.h>

#include <stdlib.h>
#include <time.h>

#define HOST_FAR_TTLS 8u
#define HOST_LEAST UINT64_C(60000000000) /* ns: the shortest TTL */
#define HOST_NEAR_TTLS 200u              /* number of TTLs of A3 */
#define HOST_NEAR UINT64_C(20000000)     /* ns: the shortest TTL of A3 */
#define HOST_STEP UINT64_C(1000000)      /* ns between TTLs of A3 */
#define HOST_ROUND 256u                  /* operations between rounds */
#define HOST_SAMPLE 16u /* one timer in this many is measured */
#define HOST_PROBES 64u /* timers that are checked at the end */
#define HOST_APART 512u /* starts between start and stop of a timer in A2 */

struct host_play {
    struct run *run;
    const struct host *host;
    uint64_t fired;
    uint64_t *due; /* A3: one in HOST_SAMPLE; otherwise NULL */
};

static struct lawn_histogram host_latency;

void
host_ttls_far(struct run *run)
{
    if (!run_list_ttls(run, HOST_FAR_TTLS)) {
        return;
    }
    for (uint64_t i = 0; i < HOST_FAR_TTLS; i++) {
        run->ttls[i] =
            HOST_LEAST + i * (HOST_LONGEST - HOST_LEAST) / (HOST_FAR_TTLS - 1);
    }
    for (size_t i = 0; i < run->object_count; i++) {
        run_choose(run, i, random_below(&run->random, HOST_FAR_TTLS));
    }
}

void
host_ttls_near(struct run *run)
{
    if (!run_list_ttls(run, HOST_NEAR_TTLS)) {
        return;
    }
    for (uint64_t i = 0; i < HOST_NEAR_TTLS; i++) {
        run->ttls[i] = HOST_NEAR + i * HOST_STEP;
    }
    for (size_t i = 0; i < run->cell->n; i++) {
        run_choose(run, i, random_below(&run->random, HOST_NEAR_TTLS));
    }
}

static void
on_fire(struct object *object, void *arg)
{
    struct host_play *play = arg;
    struct run *run = play->run;

    if (play->due != NULL && object->id == run->cell->n) {
        run->end = RUN_SLOW; /* the time limit was reached */
        play->host->quit(run->self);
        return;
    }
    run_note(run, object);
    if (play->due != NULL && object->id % HOST_SAMPLE == 0) {
        uint64_t now = run_clock();
        uint64_t due = play->due[object->id / HOST_SAMPLE];

        run->early += now < due;
        lawn_histogram_add(&host_latency, now > due ? now - due : 0);
    }
    play->fired++;
    if (play->fired == run->cell->n ||
        (play->fired % HOST_ROUND == 0 && !run_goes_on(run))) {
        play->host->quit(run->self);
    }
}

static void
begin_play(struct host_play *play, struct run *run)
{
    struct host_self *self = run->self;

    *play = (struct host_play){.run = run, .host = host_of(run->contender)};
    self->fire = on_fire;
    self->arg = play;
    run->stamp = 1;
}

/* Runs a round after every HOST_ROUND operations. */
static inline bool
run_round(struct host_play *play, uint64_t ops)
{
    if (ops % HOST_ROUND != 0) {
        return true;
    }
    play->host->turn(play->run->self);
    return run_goes_on(play->run);
}

static bool
start_all(struct host_play *play)
{
    struct run *run = play->run;

    for (uint64_t i = 0; i < run->cell->n; i++) {
        run_start(run, run->order[i]);
        if (!run_round(play, i)) {
            return false;
        }
    }
    run_weigh(run);
    return true;
}

/* Checks that nothing has fired, and that all timers that were not stopped
 * run. */
static void
stop_far(struct host_play *play)
{
    struct run *run = play->run;
    uint64_t n = run->cell->n;
    uint64_t probes = n < HOST_PROBES ? n : HOST_PROBES;

    run->wrong = run->wrong || play->fired != 0;
    for (uint64_t i = 0; i < probes; i++) {
        run->wrong = !run_stop(run, i * (n / probes)) || run->wrong;
    }
}

static bool
play_restarts(struct host_play *play, uint64_t ops)
{
    struct run *run = play->run;

    for (uint64_t i = 0; i < ops; i++) {
        run_start(run, random_below(&run->random, run->cell->n));
        if (!run_round(play, i)) {
            return false;
        }
    }
    return true;
}

void
host_play_restart(struct run *run)
{
    struct host_play play;
    uint64_t ops = workload_ops(run);

    begin_play(&play, run);
    if (!start_all(&play) || !play_restarts(&play, ops / 8)) {
        return;
    }
    run_begin(run, 0);
    if (!play_restarts(&play, ops)) {
        return;
    }
    run_finish(run, ops);
    stop_far(&play);
}

/* The timers of A2 are after all others. */
static bool
play_pairs(struct host_play *play, uint64_t from, uint64_t ops)
{
    struct run *run = play->run;
    uint64_t n = run->cell->n;

    for (uint64_t i = from; i < from + ops; i++) {
        run_start(run, n + i % RUN_HOST_OWN);
        if (i >= HOST_APART) {
            run->wrong = !run_stop(run, n + (i - HOST_APART) % RUN_HOST_OWN) ||
                         run->wrong;
        }
        if (!run_round(play, i)) {
            return false;
        }
    }
    return true;
}

void
host_play_pair(struct run *run)
{
    struct host_play play;
    uint64_t ops = workload_ops(run);

    begin_play(&play, run);
    if (!start_all(&play) || !play_pairs(&play, 0, ops / 8)) {
        return;
    }
    run_begin(run, 0);
    if (!play_pairs(&play, ops / 8, ops)) {
        return;
    }
    run_finish(run, ops);
    stop_far(&play);
}

static uint64_t
processor_time(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Returns the number of timers that must have fired. */
static uint64_t
play_all(struct run *run)
{
    uint64_t checksum = run->checksum;

    run->checksum = 0;
    for (uint64_t i = 0; i < run->cell->n; i++) {
        run_note(run, run_object(run, i));
    }
    uint64_t all = run->checksum;
    run->checksum = checksum;
    return all;
}

void
host_play_fire(struct run *run)
{
    struct host_play play;
    uint64_t n = run->cell->n;

    begin_play(&play, run);
    play.due = run_alloc(run, n / HOST_SAMPLE + 1, sizeof(*play.due));
    if (play.due == NULL) {
        return;
    }
    host_latency = (struct lawn_histogram){.count = 0};
    uint64_t spent = processor_time();
    run_object(run, n)->ttl = run->limit - run_clock();
    run_start(run, n);
    for (uint64_t i = 0; i < n && run_round(&play, i); i++) {
        uint32_t id = run->order[i];

        if (id % HOST_SAMPLE == 0) {
            play.due[id / HOST_SAMPLE] = run_clock() + run_object(run, id)->ttl;
        }
        run_start(run, id);
    }
    run_weigh(run);
    if (run->end == RUN_OK && play.fired < n) {
        play.host->serve(run->self);
    }
    spent = processor_time() - spent;
    free(play.due);
    if (!run_goes_on(run)) {
        return;
    }
    run->wrong =
        play.fired != n || run->checksum != play_all(run) || !run_stop(run, n);
    run->stages[0] = (struct run_stage){n, spent, run->checksum};
    run->latency = &host_latency;
}
