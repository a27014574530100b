/* load.c - loading and replaying traces: see bench/trace_load.h, replay.h. */
#include "contenders/all.h"
#include "kit.h"
#include "replay.h"
#include "tap.h"
#include "trace_load.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char load_path[] = "/tmp/lawn-trace-XXXXXX";

/* Writes a trace file with this text after the first line. */
static void
load_write(const char *text)
{
    memcpy(load_path + sizeof(load_path) - 7, "XXXXXX", 7);
    int fd = mkstemp(load_path);
    CHECK(fd >= 0);
    FILE *file = fdopen(fd, "w");
    CHECK(file != NULL);
    fprintf(file, "# lawn trace 1\n%s", text);
    CHECK_EQ(fclose(file), 0);
}

static void
load(const char *text, struct trace *trace)
{
    int code = -1;
    load_write(text);
    CHECK(trace_load("test", load_path, trace, &code));
    CHECK_EQ(code, VERBS_OK);
    unlink(load_path);
}

TEST(a_trace_is_loaded_with_its_ttls_in_order)
{
    struct trace trace;
    load("# unit us\n5 start a 70\n6 start b 7\n7 start c 700\n8 stop a\n",
         &trace);
    CHECK_EQ(trace.unit_ns, 1000);
    CHECK_EQ(trace.count, 4);
    CHECK_EQ(trace.objects, 3);
    CHECK_EQ(trace.ttl_count, 3);
    CHECK_EQ(trace.ttls[0], 7);
    CHECK_EQ(trace.ttls[1], 70);
    CHECK_EQ(trace.ttls[2], 700);
    CHECK_EQ(trace.events[0].which, 1);
    CHECK_EQ(trace.events[1].which, 0);
    CHECK_EQ(trace.events[2].which, 2);
    CHECK_EQ(trace.events[2].time, 7);
    CHECK_EQ(trace.events[3].ttl, 0);
    CHECK_EQ(trace.events[3].object, trace.events[0].object);
    trace_free(&trace);
}

TEST(an_object_is_used_again_when_its_timer_was_stopped_or_has_fired)
{
    struct trace trace;
    load("0 start a 10\n1 stop a\n2 start b 10\n12 start c 10\n13 start c 10\n"
         "23 start d 10\n",
         &trace);
    CHECK_EQ(trace.count, 6);
    CHECK_EQ(trace.objects, 1);
    trace_free(&trace);
}

TEST(a_stop_of_a_timer_that_does_not_run_is_omitted)
{
    struct trace trace;
    load("0 stop a\n0 start a 5\n5 stop a\n", &trace);
    CHECK_EQ(trace.count, 1);
    CHECK_EQ(trace.ignored, 2);
    trace_free(&trace);
}

TEST(a_trace_without_events_is_empty)
{
    struct trace trace;
    load("", &trace);
    CHECK_EQ(trace.count, 0);
    CHECK_EQ(trace.objects, 0);
    CHECK_EQ(trace.ttl_count, 0);
    trace_free(&trace);
}

TEST(a_bad_trace_leaves_nothing_behind)
{
    struct trace trace;
    int code = -1;
    load_write("0 start a 5\nrubbish\n");
    CHECK(!trace_load("test", load_path, &trace, &code));
    CHECK_EQ(code, VERBS_INPUT);
    CHECK(trace.events == NULL && trace.ttls == NULL);
    unlink(load_path);
    CHECK(!trace_load("test", load_path, &trace, &code));
    CHECK_EQ(code, VERBS_INPUT);
}

TEST(a_trace_without_a_start_cannot_be_replayed)
{
    load_write("0 stop a\n");
    CHECK_EQ(replay_load("test", load_path), VERBS_INPUT);
    unlink(load_path);
}

/* Counts the events of a run by enum tap_kind. */
static void
load_count(const struct tap_event *event, void *arg)
{
    ((uint64_t *)arg)[event->kind]++;
}

/* Replays on a contender. Returns a checksum of the fired timers and times. */
static uint64_t
load_replay(const struct contender *contender, uint64_t counts[3])
{
    static struct run run;
    struct tap tap;
    struct cell cell = {
        .workload = &replay_workload, .n = replay_objects(), .seed = 1};
    memset(counts, 0, 3 * sizeof(*counts));
    CHECK_EQ(run_play(&run, &cell,
                      tap_wrap(&tap, contender, load_count, counts), 0,
                      UINT64_MAX / 2),
             RUN_OK);
    CHECK_EQ(run.stages[0].ops, counts[TAP_START] + counts[TAP_STOP]);
    return run.checksum;
}

TEST(a_replay_performs_the_trace)
{
    load_write("1000 start a 10\n1000 start b 30\n1005 start a 10\n"
               "1016 stop b\n1017 start c 10\n1020 stop nothing\n");
    CHECK_EQ(replay_load("test", load_path), VERBS_OK);
    unlink(load_path);
    CHECK_EQ(replay_objects(), 2);
    CHECK_EQ(replay_workload.longest, 30);
    uint64_t counts[3];
    load_replay(&lawn_contender, counts);
    CHECK_EQ(counts[TAP_START], 4);
    CHECK_EQ(counts[TAP_STOP], 1);
    CHECK_EQ(counts[TAP_FIRE], 1);
    replay_release();
    run_release();
}

/* Writes a trace of random traffic, with at most ttls TTLs. */
static char *
load_random(uint64_t seed, uint64_t ttls)
{
    const size_t size = 4u << 20;
    struct random random = {seed};
    char *text = malloc(size);
    CHECK(text != NULL);
    size_t end = 0;
    unsigned long now = 1000000;
    for (unsigned i = 0; i < 100000; i++) {
        unsigned id = (unsigned)random_below(&random, 5000);
        now += random_below(&random, 3);
        if (random_below(&random, 3) == 0) {
            end += (size_t)snprintf(text + end, size - end,
                                    "%lu stop connection-%u\n", now, id);
        } else {
            end += (size_t)snprintf(
                text + end, size - end, "%lu start connection-%u %lu\n", now,
                id, 1 + (unsigned long)random_below(&random, ttls) * 7);
        }
    }
    return text;
}

TEST(contenders_replay_alike)
{
    static const uint64_t ttls[] = {1, 20, 3000, 4000000};
    for (size_t i = 0; i < sizeof(ttls) / sizeof(ttls[0]); i++) {
        char *text = load_random(i + 1, ttls[i]);
        load_write(text);
        free(text);
        CHECK_EQ(replay_load("test", load_path), VERBS_OK);
        unlink(load_path);
        uint64_t lawn[3];
        uint64_t heap[3];
        CHECK_EQ(load_replay(&lawn_contender, lawn),
                 load_replay(&heap4_contender, heap));
        CHECK(memcmp(lawn, heap, sizeof(lawn)) == 0);
        CHECK(lawn[TAP_FIRE] > 0 || ttls[i] > 3000);
    }
    replay_release();
    run_release();
}
