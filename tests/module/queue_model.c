/* queue_model.c - random operations on a queue, against a plain array.
 *
 * Events are known by a number, from which the id is made. After each operation
 * queue_check() runs, often enough for its cost; all that a queue tells is
 * compared. Memory fails at random.
 *
 * A tame model does as a master: time goes on, and a delay counts from it. Events
 * of one time and delay, or of one time and none, then come in order. A wild one
 * does what the worst of masters may say to a replica: due times may be any. */
#include "kit.h"
#include "memory_kit.h"
#include "queue.h"
#include "rng.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MAX 5000u

struct model_event {
    bool there;
    bool all_the_while; /* since the scan under way began */
    bool ready;         /* met among those */
    unsigned seen;      /* by the scan under way */
    uint64_t order;     /* of its last push or move */
    uint64_t klass;     /* its delay, 0 if alone */
    uint64_t due;
    bool alone;
    bool saved_alone;
    struct queue_repeat repeat;
    size_t payload_size;
    unsigned char payload_byte;
};

struct model {
    struct queue *queue;
    struct rng rng;
    uint64_t now;
    uint64_t order;
    uint64_t cursor;
    bool scanning;
    bool wild;
    bool high; /* the tide */
    unsigned events;
    uint64_t count;
    struct model_event event[EVENTS_MAX];
};

static struct model model;
static char model_payload[600];

/* Ids of many sizes, and one of no size. */
static struct bytes
id_of(unsigned number)
{
    static const char dashes[] = "-----------------------------------------";
    static char texts[EVENTS_MAX][56];
    static size_t sizes[EVENTS_MAX];

    if (sizes[number] == 0 && number != 0) {
        sizes[number] =
            (size_t)snprintf(texts[number], sizeof texts[number], "%u%.*s",
                             number, (int)(number % 41), dashes);
    }
    return (struct bytes){texts[number], sizes[number]};
}

static unsigned
number_of(struct bytes id)
{
    char text[16] = {0};

    CHECK(id.size < 56);
    memcpy(text, id.at, id.size < 15 ? id.size : 15);
    return (unsigned)strtoul(text, NULL, 10);
}

static struct bytes
payload_of(const struct model_event *event)
{
    memset(model_payload, event->payload_byte, sizeof model_payload);
    return (struct bytes){model_payload, event->payload_size};
}

/* What a queue tells of an event is so. */
static unsigned
check_event(const struct queue_event *event)
{
    unsigned number = number_of(event->id);
    const struct model_event *known;

    CHECK(number < model.events);
    known = &model.event[number];
    CHECK(known->there);
    CHECK(bytes_equal(event->id, id_of(number)));
    CHECK(bytes_equal(event->payload, payload_of(known)));
    CHECK_EQ(event->due, known->due);
    CHECK_EQ(event->repeat.period, known->repeat.period);
    CHECK_EQ(event->repeat.times, known->repeat.times);
    CHECK_EQ(event->repeat.missed, known->repeat.missed);
    return number;
}

static uint64_t
earliest(void)
{
    uint64_t due = LAWN_NEVER;
    unsigned i;

    for (i = 0; i < model.events; i++) {
        if (model.event[i].there && model.event[i].due < due) {
            due = model.event[i].due;
        }
    }
    return due;
}

static void
check_all(bool thoroughly)
{
    struct queue_event first;
    uint64_t data = 0;
    unsigned i;

    if (thoroughly) {
        CHECK(queue_check(model.queue, stdout));
    }
    CHECK_EQ(queue_count(model.queue), model.count);
    CHECK_EQ(queue_total(), model.count);
    CHECK_EQ(queue_now(model.queue), model.now);
    CHECK_EQ(queue_bytes(model.queue), memory_bytes());
    CHECK_EQ(queue_next(model.queue), earliest());
    if (model.count % 2 == 0) {
        CHECK_EQ(queue_soonest(model.queue), earliest());
        CHECK_EQ(queue_next(model.queue), earliest());
    }
    CHECK_EQ(queue_first(model.queue, &first), model.count > 0);
    if (model.count > 0) {
        (void)check_event(&first);
        CHECK_EQ(first.due, earliest());
    }
    for (i = 0; i < model.events; i++) {
        if (model.event[i].there) {
            data += id_of(i).size + model.event[i].payload_size;
        }
    }
    CHECK_EQ(queue_data(model.queue), data);
}

/* A due time and what goes with it, of an event that is handed in. */
static void
choose_time(struct queue_event *event)
{
    uint64_t span = UINT64_C(1) << rng_below(&model.rng, 20);

    event->alone = rng_below(&model.rng, 3) == 0;
    if (model.wild) {
        event->due = model.now - model.now / 2 +
                     rng_below(&model.rng, model.now / 2 + span);
        event->ttl = rng_below(&model.rng, event->due + 1);
        if (rng_below(&model.rng, 8) != 0 && event->due >= model.now) {
            event->ttl = event->due - model.now;
        }
    } else {
        event->ttl = rng_below(&model.rng, 4) * (span / 4);
        event->due = model.now + event->ttl;
    }
    event->repeat = (struct queue_repeat){0, 0, 0};
    if (rng_below(&model.rng, 3) == 0) {
        event->repeat =
            (struct queue_repeat){1 + rng_below(&model.rng, 100),
                                  rng_below(&model.rng, 10), model.order};
    }
}

static void
note_time(unsigned number, const struct queue_event *event)
{
    struct model_event *known = &model.event[number];

    known->due = event->due;
    known->alone = event->alone;
    known->klass = event->alone ? 0 : event->ttl;
    known->repeat = event->repeat;
    known->order = model.order++;
    if (event->due - event->ttl > model.now) {
        model.now = event->due - event->ttl;
    }
}

static void
do_put(unsigned number)
{
    struct model_event *known = &model.event[number];
    struct model_event before = *known;
    struct queue_event event;
    int error;

    known->payload_size = rng_below(&model.rng, rng_below(&model.rng, 600) + 1);
    known->payload_byte = (unsigned char)rng_next(&model.rng);
    choose_time(&event);
    event.id = id_of(number);
    event.payload = payload_of(known);
    error = queue_put(model.queue, &event);
    if (error == -ENOMEM) {
        *known = before;
        return;
    }
    CHECK_EQ(error, before.there ? 1 : 0);
    model.count += before.there ? 0 : 1;
    known->there = true;
    known->all_the_while = before.there && before.all_the_while;
    note_time(number, &event);
}

/* Several at once, perhaps one of them twice. */
static void
do_put_all(void)
{
    struct queue_event events[12] = {0};
    unsigned numbers[12];
    size_t count = rng_below(&model.rng, 12);
    uint64_t added = 0;
    uint64_t fresh = 0;
    size_t i;

    for (i = 0; i < count; i++) {
        numbers[i] = (unsigned)rng_below(&model.rng, model.events);
        choose_time(&events[i]);
        events[i].id = id_of(numbers[i]);
        events[i].payload = (struct bytes){"7777777", rng_below(&model.rng, 7)};
    }
    if (queue_put_all(model.queue, events, count, &added) != 0) {
        return;
    }
    for (i = 0; i < count; i++) {
        struct model_event *known = &model.event[numbers[i]];

        fresh += known->there ? 0 : 1;
        known->there = true;
        known->payload_size = events[i].payload.size;
        known->payload_byte = '7';
        note_time(numbers[i], &events[i]);
    }
    CHECK_EQ(added, fresh);
    model.count += fresh;
}

static void
do_move(unsigned number)
{
    struct queue_event event = {.id = id_of(number)};
    int error;

    choose_time(&event);
    error = queue_move(model.queue, &event);
    if (!model.event[number].there) {
        CHECK(error == -ENOENT);
    } else if (error != -ENOMEM) {
        CHECK_EQ(error, 0);
        note_time(number, &event);
    }
}

static void
do_update(unsigned number)
{
    struct model_event *known = &model.event[number];
    struct model_event before = *known;
    int error;

    if (rng_below(&model.rng, 2) == 0) {
        known->payload_size = rng_below(&model.rng, 600);
    }
    known->payload_byte = (unsigned char)rng_next(&model.rng);
    error = queue_update(model.queue, id_of(number), payload_of(known));
    if (!before.there) {
        CHECK(error == -ENOENT);
    } else if (error == -ENOMEM) {
        *known = before;
    } else {
        CHECK_EQ(error, 0);
    }
}

static void
do_remove(unsigned number)
{
    struct model_event *known = &model.event[number];
    bool there = known->there;

    CHECK_EQ(queue_remove(model.queue, id_of(number)), there);
    known->there = false;
    known->all_the_while = false;
    model.count -= there ? 1 : 0;
}

static void
do_get(unsigned number)
{
    struct queue_event event;

    CHECK_EQ(queue_get(model.queue, id_of(number), &event),
             model.event[number].there);
    if (model.event[number].there) {
        CHECK_EQ(check_event(&event), number);
        CHECK_EQ(event.alone, model.event[number].alone);
    }
}

/* Those ready are the first of all by due time, and in order. */
static uint64_t
check_ready(const struct queue *queue, uint64_t now)
{
    const struct model_event *before = NULL;
    const void *cursor = NULL;
    struct queue_event event;
    uint64_t many = 0;
    unsigned i;

    for (i = 0; i < model.events; i++) {
        model.event[i].ready = false;
    }
    while (queue_ready(queue, &cursor, &event)) {
        struct model_event *known = &model.event[check_event(&event)];

        CHECK(!known->ready);
        CHECK(known->due <= now);
        known->ready = true;
        if (before != NULL) {
            CHECK(before->due <= known->due);
            CHECK(model.wild || before->due < known->due ||
                  before->klass != known->klass ||
                  before->order < known->order);
        }
        before = known;
        many++;
    }
    for (i = 0; before != NULL && i < model.events; i++) {
        CHECK(!model.event[i].there || model.event[i].ready ||
              model.event[i].due >= before->due);
    }
    return many;
}

/* By a clock that may be ahead of what the queue was told, or behind. */
static void
do_ripen(void)
{
    uint64_t budget = rng_below(&model.rng, 2) == 0
                          ? UINT64_MAX
                          : rng_below(&model.rng, 1 + model.count / 2);
    uint64_t at = model.now;
    uint64_t due = 0;
    uint64_t before;
    uint64_t ready;
    unsigned i;

    if (rng_below(&model.rng, 4) == 0) {
        at = at - 5000 + rng_below(&model.rng, 10000);
    }
    before = queue_ripen(model.queue, at, 0);
    CHECK_EQ(before, check_ready(model.queue, at));
    ready = queue_ripen(model.queue, at, budget);
    CHECK_EQ(ready, check_ready(model.queue, at));
    for (i = 0; i < model.events; i++) {
        due += model.event[i].there && model.event[i].due <= at;
    }
    CHECK_EQ(ready, budget < due - before ? before + budget : due);
}

/* As POLL does. */
static void
do_take(void)
{
    uint64_t most = rng_below(&model.rng, 20);
    const void *cursor = NULL;
    struct queue_event event;
    unsigned numbers[20];
    unsigned many = 0;

    (void)queue_ripen(model.queue, model.now, most);
    while (many < most && queue_ready(model.queue, &cursor, &event)) {
        numbers[many++] = check_event(&event);
    }
    while (many > 0) {
        do_remove(numbers[--many]);
    }
}

static void *
move_at_random(void *memory, void *arg)
{
    (void)arg;
    return rng_below(&model.rng, 3) == 0 ? NULL : memory_move(memory);
}

static bool
stop_at_random(void *arg)
{
    (void)arg;
    return rng_below(&model.rng, 2) == 0;
}

static void
do_defrag(void)
{
    uint64_t cursor = 0;

    do {
        void *moved = memory_move(model.queue);

        model.queue = moved != NULL ? moved : model.queue;
        cursor = queue_defrag(model.queue, cursor, move_at_random,
                              stop_at_random, NULL);
    } while (cursor != 0);
}

static bool
see(const struct queue_event *event, void *arg)
{
    struct model_event *known = &model.event[check_event(event)];

    (void)arg;
    known->seen++;
    CHECK_EQ(known->seen, 1);
    return true;
}

/* A walk in steps, with whatever else in between. */
static void
do_scan(void)
{
    unsigned i;

    if (!model.scanning) {
        model.scanning = true;
        model.cursor = 0;
        for (i = 0; i < model.events; i++) {
            model.event[i].seen = 0;
            model.event[i].all_the_while = model.event[i].there;
        }
    }
    model.cursor = queue_scan(model.queue, model.cursor,
                              rng_below(&model.rng, 20), see, NULL);
    if (model.cursor == 0) {
        model.scanning = false;
        for (i = 0; i < model.events; i++) {
            CHECK(!model.event[i].all_the_while || model.event[i].seen == 1);
        }
    }
}

struct loading {
    struct queue *queue;
    uint64_t many;
    bool failed;
};

static bool
load(const struct queue_event *event, void *arg)
{
    struct loading *loading = arg;

    model.event[check_event(event)].saved_alone = event->alone;
    CHECK(event->ttl <= event->due);
    CHECK(event->due - event->ttl <= model.now);
    loading->many++;
    loading->failed = queue_put(loading->queue, event) != 0;
    return !loading->failed;
}

/* A queue that was saved and loaded, or copied, goes on as the first would. */
static void
do_copy(bool save)
{
    struct loading loading = {NULL, 0, false};
    unsigned i;

    if (save) {
        loading.queue = queue_new(0, 8);
        if (loading.queue == NULL) {
            return;
        }
        loading.failed =
            !queue_restore(loading.queue, queue_next(model.queue), model.now);
        if (!loading.failed && queue_each(model.queue, load, &loading)) {
            CHECK_EQ(loading.many, model.count);
        }
    } else {
        loading.queue = queue_copy(model.queue);
    }
    if (loading.failed || loading.queue == NULL) {
        queue_free(loading.queue);
        return;
    }
    for (i = 0; save && i < model.events; i++) {
        model.event[i].alone = model.event[i].saved_alone;
    }
    queue_free(model.queue);
    model.queue = loading.queue;
}

static void
step(void)
{
    unsigned number = (unsigned)rng_below(&model.rng, model.events);
    uint64_t what = rng_below(&model.rng, 1000);

    if (rng_below(&model.rng, 4) == 0) {
        model.now += rng_below(&model.rng, 3) == 0 ? rng_below(&model.rng, 3000)
                                                   : rng_below(&model.rng, 3);
        queue_tell(model.queue, model.now);
    }
    if (what < 350) {
        do_put(number);
    } else if (what < 450) {
        do_move(number);
    } else if (what < 550) {
        do_update(number);
    } else if (what < 700) {
        do_remove(number);
    } else if (what < 750) {
        do_get(number);
    } else if (what < 800) {
        do_ripen();
    } else if (what < 810) {
        do_take();
    } else if (what < 820) {
        do_defrag();
    } else if (what < 850) {
        do_put_all();
    } else if (what < 990) {
        do_scan();
    } else {
        do_copy(what < 995);
    }
}

/* Grows and shrinks: now and then all but a few go, or all come. */
static void
tide(void)
{
    bool low = model.high;
    unsigned i;

    model.high = !low;
    for (i = 0; i < model.events; i++) {
        if (low) {
            do_remove(i);
        } else {
            do_put(i);
        }
        if (i % 512 == 0) {
            check_all(true);
        }
    }
}

static void
run(unsigned events, unsigned steps, unsigned check_every, bool wild,
    uint64_t seed)
{
    unsigned i;

    memset(&model, 0, sizeof model);
    model.rng.state = seed;
    model.events = events;
    model.now = 1000000;
    model.wild = wild;
    model.queue = queue_new(model.now, 64);
    CHECK(model.queue != NULL);
    for (i = 0; i < steps; i++) {
        uint64_t fails = rng_below(&model.rng, 4);

        memory_fail_often(fails == 0 ? 1 + rng_below(&model.rng, 5) : 0, i);
        if (i == 0 || rng_below(&model.rng, 1500) == 0) {
            tide();
        } else {
            step();
        }
        memory_fail_often(0, 0);
        check_all(i % check_every == 0);
    }
    queue_free(model.queue);
    CHECK_EQ(queue_total(), 0);
    CHECK_EQ(memory_blocks(), 0);
}

TEST(a_queue_of_few_events_does_what_a_plain_array_does)
{
    run(20, 40000, 1, false, 1);
    run(20, 40000, 1, true, 2);
}

TEST(a_queue_of_many_events_does_what_a_plain_array_does)
{
    run(700, 12000, 8, false, 3);
    run(700, 12000, 8, true, 4);
}

TEST(a_queue_of_very_many_events_does_what_a_plain_array_does)
{
    run(EVENTS_MAX, 6000, 64, false, 5);
    run(EVENTS_MAX, 6000, 64, true, 6);
}
