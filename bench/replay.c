/* replay.c - a trace as a workload.
 *
 * Before each event, the clock advances to its time, so that due timers fire
 * first. Loading a trace assumes that order when it assigns objects to ids.
 * Every event is an operation. With a contender that fires late, stops and
 * starts may find other timers running; that is harmless.
 */
#include "replay.h"
#include "trace_load.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

#define REPLAY_NAMED 65536u /* from this number on, TTLs are not announced */
#define REPLAY_STEP 256u    /* events between two readings of the clock */

static struct trace replay_trace;

static void set_ttls(struct run *run);
static void play_trace(struct run *run);

struct workload replay_workload = {
    .name = "trace",
    .title = "replay",
    .imitates = "the timers of a recorded trace",
    .operation = "event: a start, restart or stop, and the timers that fire",
    .parameters = "TTLs and times are those of the trace",
    .uses_t = false,
    .longest = 1,
    .ttls = set_ttls,
    .play = play_trace,
};

int
replay_load(const char *program, const char *path)
{
    replay_release();
    int code = 0;
    if (!trace_load(program, path, &replay_trace, &code)) {
        return code;
    }
    if (replay_trace.objects == 0) {
        fprintf(stderr, "%s: %s: expected a start, found none\n", program,
                path);
        return VERBS_INPUT;
    }
    replay_workload.longest = replay_trace.ttls[replay_trace.ttl_count - 1];
    return VERBS_OK;
}

uint64_t
replay_objects(void)
{
    return replay_trace.objects;
}

size_t
replay_events(void)
{
    return replay_trace.count;
}

void
replay_release(void)
{
    trace_free(&replay_trace);
}

static bool
has_named_ttls(void)
{
    return replay_trace.ttl_count < REPLAY_NAMED;
}

/* Objects get their TTLs with each event. */
static void
set_ttls(struct run *run)
{
    size_t count = replay_trace.ttl_count;
    if (has_named_ttls() && run_list_ttls(run, count)) {
        memcpy(run->ttls, replay_trace.ttls, count * sizeof(*run->ttls));
    }
}

static void
play_event(struct run *run, const struct trace_event *event, bool named)
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

size_t
replay_part(struct run *run, size_t from, size_t to)
{
    const struct trace *trace = &replay_trace;
    uint64_t first = trace->events[0].time;
    bool named = has_named_ttls();
    size_t done = from;
    for (; done < to; done++) {
        const struct trace_event *event = &trace->events[done];
        if (done % REPLAY_STEP == 0 && !run_goes_on(run)) {
            break;
        }
        if (event->time - first != run->now) {
            run_mow(run, event->time - first, SIZE_MAX);
        }
        play_event(run, event, named);
    }
    return done;
}

static void
play_trace(struct run *run)
{
    run_begin(run, 0);
    size_t done = replay_part(run, 0, replay_trace.count);
    run_finish(run, done);
    run_weigh(run);
}
