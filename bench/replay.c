/* replay.c - a trace as a workload.
 *
 * The clock moves to the time of an event before it is played, so what is due
 * by then fires first, as it did when the trace was read and objects were given
 * to ids. Every event is an operation; stops and starts that find other timers
 * running than they should, as with a contender that fires late, are harmless.
 */
#include "replay.h"

#define REPLAY_NAMED 65536 /* more TTLs than these are not named beforehand */
#define REPLAY_ASK 4096    /* events between two questions whether to go on */

static const struct trace *replay_trace;

void
replay_set(const struct trace *trace)
{
    replay_trace = trace;
}

static uint64_t
replay_longest(const struct cell *cell)
{
    size_t count = replay_trace->ttl_count;
    (void)cell;
    return count > 0 ? replay_trace->ttls[count - 1] : 1;
}

/* Objects have the TTLs of the events, one after the other. */
static void
replay_ttls(struct run *run)
{
    for (uint64_t i = 0; i < run->cell->n; i++) {
        run_object(run, (size_t)i)->ttl = 1;
        run_object(run, (size_t)i)->which = CONTENDER_ANY;
    }
}

static void
replay_event(struct run *run, const struct trace_event *event, bool named)
{
    struct object *object = run_object(run, event->object);
    if (event->ttl == 0) {
        (void)run_stop(run, event->object);
        return;
    }
    object->ttl = event->ttl;
    object->which = named ? event->which : CONTENDER_ANY;
    run_start(run, event->object);
}

static void
replay_play(struct run *run)
{
    const struct trace *trace = replay_trace;
    bool named = trace->ttl_count < REPLAY_NAMED;
    size_t done = 0;
    run_begin(run);
    for (; done < trace->count; done++) {
        const struct trace_event *event = &trace->events[done];
        if (done % REPLAY_ASK == 0 && !run_goes_on(run))
            break;
        if (event->time != run->now)
            run_mow(run, event->time);
        replay_event(run, event, named);
    }
    run_finish(run, done);
}

const struct workload replay_workload = {
    .name = "trace",
    .title = "replay",
    .imitates = "what was recorded in a trace",
    .operation = "an event: a start, a restart or a stop",
    .parameters = "TTLs and the clock are the trace's own",
    .uses_t = false,
    .ttls = replay_ttls,
    .longest = replay_longest,
    .play = replay_play,
};
