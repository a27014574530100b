/* queue_model.c - compares random operations on a queue with a plain array.
 *
 * Events are identified by a number, from which the id is derived.
 * queue_check() runs after operations, as often as its cost allows. All results
 * of the queue are compared. In some runs memory allocation fails at random.
 *
 * A tame model behaves like a master: time advances, and a delay counts from
 * it. Events of the same time and delay, or of the same time without a delay,
 * are then in order. A wild model sends what an arbitrary master might send to
 * a replica: any due times.
 *
 * A queue may find an event dead earlier or later; the model asks it, and
 * checks that the answer is allowed. */
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
    bool all_the_while; /* existed since the current scan began */
    bool ready;         /* found in the ready list */
    unsigned seen;      /* by the current scan */
    uint64_t order;     /* of its last push or move */
    uint64_t klass;     /* its delay, 0 if alone */
    uint64_t due;
    bool alone;
    bool saved_alone;
    bool dead; /* found in the dead list */
    struct queue_repeat repeat;
    struct queue_tries tries;
    uint64_t token;
    uint64_t end; /* of the lease */
    size_t owner_size;
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
    /* allocation fails, and events of one time are in any order */
    bool starved;
    bool high; /* state of tide() */
    uint64_t token;
    uint64_t asked;  /* time of the last promotion */
    uint64_t latest; /* the latest of these times */
    bool sunk;       /* has a sink */
    unsigned events;
    uint64_t count;
    struct model_event event[EVENTS_MAX];
};

static struct model model;
static char model_payload[600];

/* Ids of many sizes, and an empty one. */
static struct bytes
id_of(unsigned number)
{
    static const char dashes[] = "-----------------------------------------";
    static char texts[EVENTS_MAX][56];
    static size_t sizes[EVENTS_MAX];

    if (sizes[number] == 0 && number != 0) {
        sizes[number] =
            (size_t)snprintf(texts[number], sizeof(texts[number]), "%u%.*s",
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
    memset(model_payload, event->payload_byte, sizeof(model_payload));
    return (struct bytes){model_payload, event->payload_size};
}

static struct bytes
owner_of(const struct model_event *event)
{
    static char owner[QUEUE_OWNER_MAX];

    memset(owner, (int)(event->token % 251), sizeof(owner));
    return (struct bytes){owner, event->owner_size};
}

/* The relevant time. */
static uint64_t
time_of(const struct model_event *event)
{
    return event->token != 0 ? event->end : event->due;
}

static bool
is_spent(const struct model_event *event)
{
    return event->tries.most > 0 && event->tries.made >= event->tries.most;
}

/* Checks the queue's data about an event. */
static unsigned
check_event(const struct queue_event *event)
{
    unsigned number = number_of(event->id);

    CHECK(number < model.events);
    const struct model_event *known = &model.event[number];
    CHECK(known->there);
    CHECK(bytes_equal(event->id, id_of(number)));
    CHECK(bytes_equal(event->payload, payload_of(known)));
    CHECK_EQ(event->due, known->due);
    CHECK_EQ(event->repeat.period, known->repeat.period);
    CHECK_EQ(event->repeat.times, known->repeat.times);
    CHECK_EQ(event->repeat.missed, known->repeat.missed);
    CHECK_EQ(event->tries.made, known->tries.made);
    CHECK_EQ(event->tries.most, known->tries.most);
    CHECK_EQ(event->lease.token, known->token);
    if (known->token != 0) {
        CHECK_EQ(event->lease.end, known->end);
        CHECK(bytes_equal(event->lease.owner, owner_of(known)));
    }
    CHECK_EQ(queue_state_at(event, model.now),
             known->token != 0 && known->end > model.now ? QUEUE_LEASED
             : is_spent(known)                           ? QUEUE_DEAD
             : time_of(known) > model.now                ? QUEUE_WAITING
                                                         : QUEUE_DUE);
    return number;
}

static uint64_t
earliest(void)
{
    uint64_t due = LAWN_NEVER;

    for (unsigned i = 0; i < model.events; i++) {
        const struct model_event *known = &model.event[i];

        if (known->there && !known->dead && time_of(known) < due) {
            due = time_of(known);
        }
    }
    return due;
}

/* The latest time up to which the queue may have promoted events. */
static uint64_t
latest(void)
{
    return model.now > model.latest ? model.now : model.latest;
}

/* Checks the events that the queue reports as dead: all that must be, and only
 * those that may be. */
static uint64_t
check_dead(void)
{
    const void *cursor = NULL;
    uint64_t many = 0;

    for (unsigned i = 0; i < model.events; i++) {
        model.event[i].dead = false;
    }
    struct queue_event event;
    while (queue_dead(model.queue, &cursor, &event)) {
        struct model_event *known = &model.event[check_event(&event)];

        CHECK(is_spent(known) && !known->dead);
        CHECK(known->token == 0 || known->end <= latest());
        known->dead = true;
        many++;
    }
    CHECK_EQ(queue_dead_count(model.queue), many);
    for (unsigned i = 0; i < model.events; i++) {
        const struct model_event *known = &model.event[i];

        CHECK(!known->there || known->dead || !is_spent(known) ||
              known->token != 0);
    }
    return many;
}

/* Checks that exactly the leased events are reported as such. */
static void
check_leased(void)
{
    uint64_t least = 0;
    uint64_t most = 0;

    for (unsigned i = 0; i < model.events; i++) {
        const struct model_event *known = &model.event[i];

        if (known->there && known->token != 0) {
            most++;
            least += known->end > latest();
        }
    }
    CHECK(queue_leased_count(model.queue) >= least);
    CHECK(queue_leased_count(model.queue) <= most);
    CHECK_EQ(queue_total(QUEUE_TOTAL_LEASED), queue_leased_count(model.queue));
    CHECK_EQ(queue_total(QUEUE_TOTAL_DEAD), queue_dead_count(model.queue));
    CHECK(queue_leased_data(model.queue) <= queue_data(model.queue));
    CHECK_EQ(queue_token(model.queue), model.token);
}

static void
check_sink(void)
{
    const struct queue_sink *sink = queue_sink_of(model.queue);

    CHECK_EQ(sink->kind, model.sunk ? QUEUE_SINK_STREAM : QUEUE_SINK_NONE);
    CHECK_EQ(sink->maxlen, model.sunk ? 7 : 0);
    CHECK(bytes_equal(sink->to, bytes_of(model.sunk ? "a stream" : "")));
    CHECK(bytes_equal(sink->dead, bytes_of(model.sunk ? "letters" : "")));
}

/* Checks the first event: it is not leased, and is dead or due first. */
static void
check_first(void)
{
    uint64_t now = model.now > model.asked ? model.now : model.asked;
    const struct model_event *known = NULL;
    struct queue_event first;

    if (queue_first(model.queue, &first)) {
        known = &model.event[check_event(&first)];
        CHECK(known->token == 0 || known->end <= now);
    }
    for (unsigned i = 0; i < model.events; i++) {
        const struct model_event *other = &model.event[i];
        bool nobodys = other->there && other->token == 0;

        CHECK(!nobodys || known != NULL);
        CHECK(!nobodys || known->dead || time_of(known) <= time_of(other));
        CHECK(!nobodys || !other->dead || known->dead);
    }
}

static void
check_all(bool thoroughly)
{
    uint64_t data = 0;

    if (thoroughly) {
        CHECK(queue_check(model.queue, stdout));
    }
    CHECK_EQ(queue_count(model.queue), model.count);
    CHECK_EQ(queue_total(QUEUE_TOTAL), model.count);
    CHECK_EQ(queue_now(model.queue), model.now);
    CHECK_EQ(queue_bytes(model.queue), memory_bytes());
    (void)check_dead();
    check_leased();
    check_sink();
    CHECK_EQ(queue_next(model.queue), earliest());
    check_first();
    for (unsigned i = 0; i < model.events; i++) {
        if (model.event[i].there) {
            data += id_of(i).size + model.event[i].payload_size;
        }
    }
    CHECK_EQ(queue_data(model.queue), data);
}

static void
choose_tries(struct queue_tries *tries)
{
    *tries = (struct queue_tries){0, 0};
    if (rng_below(&model.rng, 3) == 0) {
        tries->made = (uint32_t)rng_below(&model.rng, 4);
        tries->most = (uint32_t)rng_below(&model.rng, 4);
    }
}

/* Chooses end and owner of a lease. */
static void
choose_lease(struct queue_lease *lease)
{
    struct model_event some = {
        .token = model.token + 1,
        .owner_size = rng_below(&model.rng, 8) == 0
                          ? rng_below(&model.rng, QUEUE_OWNER_MAX + 1)
                          : 5 + rng_below(&model.rng, 2)};

    lease->token = some.token;
    lease->owner = owner_of(&some);
    lease->ttl = rng_below(&model.rng, 4) * 1000;
    lease->end = model.now + lease->ttl;
    if (model.wild) {
        lease->end = model.now - 3000 + rng_below(&model.rng, 6000);
        lease->ttl = lease->end > model.now && rng_below(&model.rng, 2) == 0
                         ? lease->end - model.now
                         : rng_below(&model.rng, lease->end);
    }
}

static void
note_lease(struct model_event *known, const struct queue_lease *lease)
{
    known->token = lease->token;
    if (lease->token != 0) {
        known->end = lease->end;
        known->owner_size = lease->owner.size;
        model.token = lease->token;
        if (lease->ttl != 0 && lease->end - lease->ttl > model.now) {
            model.now = lease->end - lease->ttl;
        }
    }
}

/* Chooses a due time and related fields of an event. */
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
    choose_tries(&event->tries);
    event->lease = (struct queue_lease){.token = 0};
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
    known->tries = event->tries;
    known->order = model.order++;
    if (event->due - event->ttl > model.now) {
        model.now = event->due - event->ttl;
    }
    note_lease(known, &event->lease);
}

static void
do_put(unsigned number)
{
    struct model_event *known = &model.event[number];
    struct model_event before = *known;

    known->payload_size = rng_below(&model.rng, rng_below(&model.rng, 600) + 1);
    known->payload_byte = (unsigned char)rng_next(&model.rng);
    struct queue_event event;
    choose_time(&event);
    event.id = id_of(number);
    event.payload = payload_of(known);
    if (rng_below(&model.rng, 8) == 0) {
        choose_lease(&event.lease);
    }
    int error = queue_put(model.queue, &event);
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

/* Adds several at once, possibly one of them twice. */
static void
do_put_all(void)
{
    struct queue_event events[12] = {0};
    unsigned numbers[12];
    size_t count = rng_below(&model.rng, 12);
    uint64_t added = 0;
    uint64_t fresh = 0;

    for (size_t i = 0; i < count; i++) {
        numbers[i] = (unsigned)rng_below(&model.rng, model.events);
        choose_time(&events[i]);
        events[i].id = id_of(numbers[i]);
        events[i].payload = (struct bytes){"7777777", rng_below(&model.rng, 7)};
        if (i == 0 && rng_below(&model.rng, 4) == 0) {
            choose_lease(&events[i].lease);
        }
    }
    if (queue_put_all(model.queue, events, count, &added) != 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
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
do_lease(unsigned number)
{
    struct model_event *known = &model.event[number];
    struct queue_lease lease;

    choose_lease(&lease);
    struct queue_tries tries;
    choose_tries(&tries);
    struct queue_event out;
    int error =
        queue_lease_event(model.queue, id_of(number), &lease, tries, &out);
    if (!known->there) {
        CHECK(error == -ENOENT);
    } else if (error != -ENOMEM) {
        CHECK_EQ(error, 0);
        known->tries = tries;
        note_lease(known, &lease);
        CHECK_EQ(check_event(&out), number);
    }
}

static void
do_sink(void)
{
    bool on = rng_below(&model.rng, 2) == 0;
    struct queue_sink sink = {.kind = QUEUE_SINK_NONE};

    if (on) {
        sink = (struct queue_sink){QUEUE_SINK_STREAM, bytes_of("a stream"), 7,
                                   bytes_of("letters")};
    }
    if (queue_set_sink(model.queue, &sink)) {
        model.sunk = on;
    }
}

static void
do_move(unsigned number)
{
    struct queue_event event = {.id = id_of(number)};

    choose_time(&event);
    event.lease.token = rng_next(&model.rng); /* ignored */
    int error = queue_move(model.queue, &event);
    event.lease.token = 0;
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

    if (rng_below(&model.rng, 2) == 0) {
        known->payload_size = rng_below(&model.rng, 600);
    }
    known->payload_byte = (unsigned char)rng_next(&model.rng);
    int error = queue_update(model.queue, id_of(number), payload_of(known));
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

/* Checks that ready events are in order, and that the requested number of them
 * are the first of all. */
static uint64_t
check_ready(const struct queue *queue, uint64_t now, uint64_t most)
{
    const struct model_event *before = NULL;
    const void *cursor = NULL;
    uint64_t last = 0; /* time of the previous event */
    uint64_t many = 0;

    for (unsigned i = 0; i < model.events; i++) {
        model.event[i].ready = false;
    }
    struct queue_event event;
    while (queue_ready(queue, &cursor, &event)) {
        struct model_event *known = &model.event[check_event(&event)];

        CHECK(!known->ready);
        CHECK(time_of(known) <= now && !is_spent(known));
        known->ready = true;
        if (before != NULL) {
            CHECK(time_of(before) <= time_of(known));
            CHECK(model.wild || model.starved || before->token != 0 ||
                  known->token != 0 || before->due < known->due ||
                  before->klass != known->klass ||
                  before->order < known->order);
        }
        before = known;
        last = many < most ? time_of(known) : last;
        many++;
    }
    for (unsigned i = 0; i < model.events; i++) {
        const struct model_event *known = &model.event[i];

        CHECK(!known->there || known->ready || known->dead ||
              time_of(known) >= last);
    }
    return many;
}

/* With a clock that may be ahead of the queue's time, or behind. */
static void
do_promote_due(void)
{
    uint64_t budget = rng_below(&model.rng, 2) == 0
                          ? UINT64_MAX
                          : rng_below(&model.rng, 1 + model.count / 2);
    uint64_t at = model.now;
    uint64_t due = 0;

    if (rng_below(&model.rng, 4) == 0) {
        at = at - 5000 + rng_below(&model.rng, 10000);
    }
    uint64_t before = queue_promote_due(model.queue, at, 0);
    at = at > model.now ? at : model.now;
    at = at > model.asked ? at : model.asked; /* due events stay due */
    model.asked = at;
    model.latest = at > model.latest ? at : model.latest;
    uint64_t dead = check_dead();
    CHECK(before >= check_ready(model.queue, at, 0));
    for (unsigned i = 0; i < model.events; i++) {
        due += model.event[i].there && !model.event[i].dead &&
               time_of(&model.event[i]) <= at;
    }
    uint64_t ready = queue_promote_due(model.queue, at, budget);
    dead = check_dead() - dead;
    uint64_t seen = check_ready(model.queue, at, budget - dead);
    CHECK(seen <= ready && (seen == ready || seen >= budget - dead));
    CHECK_EQ(ready + dead, budget < due - before ? before + budget : due);
    for (unsigned i = 0; budget == UINT64_MAX && i < model.events; i++) {
        const struct model_event *known = &model.event[i];

        CHECK_EQ(known->ready,
                 known->there && !is_spent(known) && time_of(known) <= at);
    }
}

/* As POLL does. */
static void
do_take(void)
{
    uint64_t most = rng_below(&model.rng, 20);
    const void *cursor = NULL;
    unsigned many = 0;

    model.asked = model.now > model.asked ? model.now : model.asked;
    (void)queue_promote_due(model.queue, model.now, most);
    struct queue_event event;
    unsigned numbers[20];
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
    return rng_below(&model.rng, 16) != 0;
}

/* A scan in steps, with other operations in between. */
static void
do_scan(void)
{
    if (!model.scanning) {
        model.scanning = true;
        model.cursor = 0;
        for (unsigned i = 0; i < model.events; i++) {
            model.event[i].seen = 0;
            model.event[i].all_the_while = model.event[i].there;
        }
    }
    model.cursor = queue_scan(model.queue, model.cursor,
                              rng_below(&model.rng, 20), see, NULL);
    if (model.cursor == 0) {
        model.scanning = false;
        for (unsigned i = 0; i < model.events; i++) {
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
    CHECK(event->lease.ttl == 0 ||
          event->lease.end - event->lease.ttl <= model.now);
    loading->many++;
    loading->failed = queue_put(loading->queue, event) != 0;
    return !loading->failed;
}

/* A queue that was saved and loaded, or copied, behaves like the original. */
static void
do_copy(bool save)
{
    struct loading loading = {NULL, 0, false};

    if (save) {
        loading.queue = queue_new(0, 8);
        if (loading.queue == NULL) {
            return;
        }
        loading.failed =
            !queue_restore(loading.queue, queue_next(model.queue), model.now) ||
            !queue_set_sink(loading.queue, queue_sink_of(model.queue));
        queue_note_token(loading.queue, model.token);
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
    for (unsigned i = 0; save && i < model.events; i++) {
        model.event[i].alone = model.event[i].saved_alone;
    }
    model.asked = save ? 0 : model.asked;
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
        queue_set_now(model.queue, model.now);
    }
    if (what < 350) {
        do_put(number);
    } else if (what < 400) {
        do_move(number);
    } else if (what < 480) {
        do_lease(number);
    } else if (what < 482) {
        do_sink();
    } else if (what < 550) {
        do_update(number);
    } else if (what < 700) {
        do_remove(number);
    } else if (what < 750) {
        do_get(number);
    } else if (what < 800) {
        do_promote_due();
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

/* Grows and shrinks: occasionally nearly all events are removed, or all are
 * added. */
static void
tide(void)
{
    bool low = model.high;

    model.high = !low;
    for (unsigned i = 0; i < model.events; i++) {
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
run_model(unsigned events, unsigned steps, unsigned check_every, bool wild,
          bool starved, uint64_t seed)
{
    memset(&model, 0, sizeof(model));
    model.rng.state = seed;
    model.events = events;
    model.now = 1000000;
    model.wild = wild;
    model.starved = starved;
    model.queue = queue_new(model.now, 64);
    CHECK(model.queue != NULL);
    for (unsigned i = 0; i < steps; i++) {
        uint64_t fails = rng_below(&model.rng, 4);

        memory_fail_often(
            starved && fails == 0 ? 1 + rng_below(&model.rng, 5) : 0, i);
        if (i == 0 || rng_below(&model.rng, 1500) == 0) {
            tide();
        } else {
            step();
        }
        memory_fail_often(0, 0);
        check_all(i % check_every == 0);
    }
    queue_free(model.queue);
    for (int which = 0; which < QUEUE_TOTALS; which++) {
        CHECK_EQ(queue_total((enum queue_totals)which), 0);
    }
    CHECK_EQ(memory_blocks(), 0);
}

TEST(a_queue_of_few_events_behaves_like_a_plain_array)
{
    run_model(20, 40000, 1, false, false, 1);
    run_model(20, 40000, 1, false, true, 2);
    run_model(20, 40000, 1, true, true, 3);
}

TEST(a_queue_of_many_events_behaves_like_a_plain_array)
{
    run_model(700, 12000, 8, false, false, 4);
    run_model(700, 12000, 8, false, true, 5);
    run_model(700, 12000, 8, true, true, 6);
}

TEST(a_queue_of_very_many_events_behaves_like_a_plain_array)
{
    run_model(EVENTS_MAX, 6000, 64, false, false, 7);
    run_model(EVENTS_MAX, 6000, 64, false, true, 8);
    run_model(EVENTS_MAX, 6000, 64, true, true, 9);
}
