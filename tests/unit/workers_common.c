/* workers_common.c - implements workers_common.h. */
#include "workers_common.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define TURNS_MAX 1000000u

static uint64_t
crew_clock(void *context)
{
    return ((const struct crew *)context)->clock;
}

struct lawn_workers_options
crew_options(struct crew *crew, const struct lawn_workers_options *options)
{
    struct lawn_workers_options mine = {0};

    if (options != NULL) {
        mine = *options;
    }
    if (mine.lawn.blades == 0) { /* small, because it is checked often */
        mine.lawn.blades = 16;
        mine.lawn.slot_bits = 4;
    }
    mine.clock = crew_clock;
    mine.clock_context = crew;
    mine.lawn.alloc = trial_alloc;
    mine.lawn.release = trial_release;
    mine.lawn.context = &crew->ledger;
    return mine;
}

void
hand_init(struct crew *crew, struct hand *hand, unsigned id)
{
    memset(hand, 0, sizeof(*hand));
    hand->timer.fire = hand_fire;
    hand->crew = crew;
    hand->id = id;
}

void
crew_begin(struct crew *crew, unsigned workers,
           const struct lawn_workers_options *options)
{

    (void)lawn_workers_be(NULL); /* a failed test may still be a worker */
    memset(crew, 0, sizeof(*crew));
    crew->ledger.refuse = SIZE_MAX;
    crew->clock = 1000;
    struct lawn_workers_options mine = crew_options(crew, options);
    for (unsigned i = 0; i < HANDS; i++) {
        hand_init(crew, &crew->hand[i], i);
    }
    crew->set = lawn_workers_new(&mine);
    CHECK(crew->set != NULL);
    for (unsigned i = 0; i < workers; i++) {
        CHECK_EQ(crew_attach(crew), i);
    }
}

unsigned
crew_attach(struct crew *crew)
{
    struct lawn_worker *was = lawn_workers_be(NULL);
    unsigned i = 0;

    while (crew->worker[i] != NULL) {
        CHECK(++i < CREW_MAX);
    }
    crew->worker[i] = lawn_workers_attach(crew->set);
    CHECK(crew->worker[i] != NULL);
    CHECK(lawn_workers_self() == crew->worker[i]);
    CHECK(lawn_worker_set(crew->worker[i]) == crew->set);
    crew->number[i] = lawn_worker_number(crew->worker[i]);
    CHECK(crew->number[i] < LAWN_WORKERS_MAX);
    (void)lawn_workers_be(was);
    return i;
}

void
crew_detach(struct crew *crew, unsigned worker)
{
    struct lawn_worker *was = lawn_workers_be(crew->worker[worker]);

    lawn_worker_detach(crew->worker[worker]);
    CHECK(lawn_workers_self() == NULL);
    if (was != crew->worker[worker]) {
        (void)lawn_workers_be(was);
    }
    crew->worker[worker] = NULL;
    CHECK(lawn_workers_check(crew->set, stdout));
}

void
crew_end(struct crew *crew)
{
    as(crew, NOBODY);
    if (crew->set != NULL) {
        CHECK(lawn_workers_check(crew->set, stdout));
    }
    for (unsigned i = 0; i < CREW_MAX; i++) {
        if (crew->worker[i] != NULL) {
            crew_detach(crew, i);
        }
    }
    lawn_workers_free(crew->set);
    CHECK(lawn_workers_self() == NULL);
    CHECK_EQ(crew->ledger.blocks, 0);
    CHECK_EQ(crew->ledger.bytes, 0);
}

void
as(struct crew *crew, unsigned worker)
{
    (void)lawn_workers_be(worker == NOBODY ? NULL : crew->worker[worker]);
}

static uint64_t
sum(uint64_t time, uint64_t ticks)
{
    return time < LAST && ticks < LAST - time ? time + ticks : LAST;
}

/* A start counts from the worker's time on the owning worker, and from the
 * clock otherwise. */
static void
hand_started(struct hand *hand, uint64_t base, uint64_t ttl)
{
    uint64_t ticks = ttl > 0 ? ttl : 1;

    hand->running = true;
    hand->due = sum(base, ticks);
    hand->late = sum(hand->crew->clock, ticks);
}

int
hand_start(struct crew *crew, struct hand *hand, uint64_t ttl)
{
    int error = lawn_workers_start(crew->set, &hand->timer, ttl);
    const struct lawn_worker *self = lawn_workers_self();

    if (error == 0) {
        hand_started(hand, self != NULL ? lawn_worker_now(self) : crew->clock,
                     ttl);
    }
    return error;
}

void
go(struct crew *crew, unsigned id, uint64_t ttl)
{
    CHECK_EQ(hand_start(crew, &crew->hand[id], ttl), 0);
}

void
go_at(struct crew *crew, unsigned id, uint64_t deadline)
{
    struct hand *hand = &crew->hand[id];

    CHECK_EQ(lawn_workers_start_at(crew->set, &hand->timer, deadline), 0);
    hand->running = true;
    hand->due = deadline < LAST ? deadline : LAST;
    hand->late = hand->due;
}

void
go_on(struct crew *crew, unsigned id, uint64_t ttl, unsigned worker)
{
    struct hand *hand = &crew->hand[id];

    CHECK_EQ(lawn_workers_start_on(crew->set, &hand->timer, ttl,
                                   crew->number[worker]),
             0);
    hand_started(hand, crew->clock, ttl);
}

bool
halt(struct crew *crew, unsigned id)
{
    bool was = crew->hand[id].running;
    bool stopped = lawn_workers_stop(crew->set, &crew->hand[id].timer);

    CHECK_EQ(stopped, was);
    CHECK(!lawn_workers_pending(&crew->hand[id].timer));
    crew->hand[id].running = false;
    return stopped;
}

bool
halt_sync(struct crew *crew, unsigned id)
{
    bool was = crew->hand[id].running;
    bool stopped = lawn_workers_stop_sync(crew->set, &crew->hand[id].timer);

    CHECK_EQ(stopped, was);
    CHECK(!lawn_workers_pending(&crew->hand[id].timer));
    crew->hand[id].running = false;
    return stopped;
}

bool
goes(const struct crew *crew, unsigned id)
{
    bool pending = lawn_workers_pending(&crew->hand[id].timer);

    CHECK_EQ(pending, crew->hand[id].running);
    return pending;
}

void
hand_fire(struct lawn_workers_timer *timer, struct lawn_worker *worker)
{
    struct hand *hand = LAWN_CONTAINER(timer, struct hand, timer);
    struct crew *crew = hand->crew;

    CHECK(lawn_workers_self() == worker); /* [C4] */
    CHECK(lawn_worker_set(worker) == crew->set);
    CHECK(hand->running);                /* [P3] */
    CHECK(!hand->firing);                /* [C4] */
    CHECK(!lawn_workers_pending(timer)); /* [P6] */
    CHECK(hand->due <= crew->clock);     /* [P1] */
    CHECK(lawn_last_deadline(&timer->timer) <= crew->clock);
    hand->running = false;
    hand->fired_on = worker;
    if (crew->fired < CREW_LOG) {
        crew->id[crew->fired++] = hand->id;
    }
    crew->fires++;
    if (crew->act != NULL) {
        hand->firing = true;
        crew->act(crew, hand);
        if (crew->any != hand) { /* any: it was freed */
            hand->firing = false;
        }
    }
}

void
hand_left(struct lawn_workers_timer *timer, void *arg)
{
    struct hand *hand = LAWN_CONTAINER(timer, struct hand, timer);
    struct crew *crew = (struct crew *)arg;

    CHECK(hand->crew == crew);
    CHECK(hand->running); /* [C1] */
    CHECK(!lawn_workers_pending(timer));
    hand->running = false;
    crew->left++;
}

uint64_t
turn(struct crew *crew, unsigned worker)
{
    struct lawn_worker *was = lawn_workers_be(crew->worker[worker]);
    uint64_t next = lawn_worker_turn(crew->worker[worker]);

    CHECK(lawn_workers_self() == crew->worker[worker]);
    (void)lawn_workers_be(was);
    if (!crew->unchecked) {
        CHECK(lawn_workers_check(crew->set, stdout));
    }
    return next;
}

uint64_t
turns(struct crew *crew, unsigned worker)
{
    uint64_t next = 0;
    unsigned i = 0;

    do {
        next = turn(crew, worker);
        CHECK(++i < TURNS_MAX);
    } while (next <= crew->clock);
    return next;
}

void
all_turn(struct crew *crew)
{
    for (unsigned i = 0; i < CREW_MAX; i++) {
        if (crew->worker[i] != NULL) {
            (void)turns(crew, i);
        }
    }
}

bool
called(struct crew *crew, unsigned worker)
{
    struct pollfd poller = {.events = POLLIN};

    poller.fd = lawn_worker_fd(crew->worker[worker]);
    CHECK(poller.fd >= 0);
    CHECK(poll(&poller, 1, 0) >= 0);
    return (poller.revents & POLLIN) != 0;
}

struct lawn_workers_counters
stats_of(struct crew *crew, unsigned worker)
{
    struct lawn_workers_counters stats;

    memset(&stats, 0xA5, sizeof(stats));
    CHECK(lawn_workers_stats_of(crew->set, crew->number[worker], &stats));
    return stats;
}

struct lawn_workers_counters
stats_all(struct crew *crew)
{
    struct lawn_workers_counters stats;

    memset(&stats, 0xA5, sizeof(stats));
    lawn_workers_stats(crew->set, &stats);
    return stats;
}

unsigned
fired_on(const struct crew *crew, unsigned id)
{
    unsigned i = 0;

    while (i < CREW_MAX && (crew->hand[id].fired_on == NULL ||
                            crew->hand[id].fired_on != crew->worker[i])) {
        i++;
    }
    return i;
}

void
check_crew(struct crew *crew, const unsigned *ids, size_t count,
           const char *file, int line)
{
    for (unsigned i = 0; i < crew->fired && i < count; i++) {
        if (crew->id[i] != ids[i]) {
            kit_fail(file, line, "as number %u fired timer %u, expected %u",
                     i + 1, crew->id[i], ids[i]);
        }
    }
    if (crew->fired != count) {
        kit_fail(file, line, "%u timers fired, expected %zu", crew->fired,
                 count);
    }
    crew->fired = 0;
}
