/* uvloops.c - libuv with a loop per worker, as its users write it. A timer
 * belongs to a loop, and other threads may only request operations on it: they
 * put a message into the loop's queue, behind a mutex, and call
 * uv_async_send().
 *
 * The queue is two arrays: other threads append to one, and the loop exchanges
 * it with the other. Memory is allocated only when an array grows. Whether a
 * stop from another thread was in time is known when the loop processes it.
 *
 * libuv counts milliseconds. Deadlines are rounded up to them, so no timer
 * fires early; a TTL of 0 fires in the next round.
 *
 * Here the library reads the real clock and really sleeps, even if the peer uv
 * has replaced both: see peer.h. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "peer.h"

#include "../crew.h"

#include <pthread.h>
#include <stdlib.h>
#include <uv.h>

#define LINE 128u
#define NS_PER_MS 1000000u

/* deadline is in ns. */
struct message {
    struct object *object;
    uint64_t deadline;
    enum { MESSAGE_START, MESSAGE_NOW, MESSAGE_STOP } what;
};

struct queue {
    struct message *messages;
    size_t count;
    size_t room;
};

struct loop {
    _Alignas(LINE) pthread_mutex_t mutex; /* of posted */
    struct queue posted;
    bool failed;
    bool dismissed;
    uv_async_t wake;

    _Alignas(LINE) uv_loop_t loop;
    struct queue taken;
    const struct crew_calls *calls;
};

struct crew_of_loops {
    struct loop *loops;
    unsigned count;
};

/* Checks that the clock of the library can be replaced, and replaces it, as the
 * peer uv requires. The library reads the real clock only while a crew exists:
 * make() restores that clock, and the end of the crew replaces it again. */
static const char *
peer_unusable(void)
{
    return peer_take_clock("libuv.so");
}

static void on_wake(uv_async_t *wake);

static bool
loop_open(struct loop *loop)
{
    if (uv_loop_init(&loop->loop) != 0) {
        return false;
    }
    loop->loop.data = loop;
    if (uv_async_init(&loop->loop, &loop->wake, on_wake) != 0) {
        (void)uv_loop_close(&loop->loop);
        return false;
    }
    pthread_mutex_init(&loop->mutex, NULL);
    return true;
}

static void
close_handle(uv_handle_t *handle, void *arg)
{
    (void)arg;
    uv_close(handle, NULL);
}

static void
destroy(void *self)
{
    struct crew_of_loops *crew = self;

    for (unsigned i = 0; i < crew->count; i++) {
        struct loop *loop = &crew->loops[i];

        uv_walk(&loop->loop, close_handle, NULL);
        (void)uv_run(&loop->loop, UV_RUN_DEFAULT);
        (void)uv_loop_close(&loop->loop);
        pthread_mutex_destroy(&loop->mutex);
        free(loop->posted.messages);
        free(loop->taken.messages);
    }
    free(crew->loops);
    free(crew);
    (void)peer_take_clock("libuv.so");
}

static void *
make(const struct contender_setup *setup)
{
    struct crew_of_loops *crew = calloc(1, sizeof(*crew));

    if (crew == NULL) {
        return NULL;
    }
    peer_give_clock("libuv.so");
    crew->loops = aligned_alloc(LINE, setup->workers * sizeof(*crew->loops));
    while (crew->loops != NULL && crew->count < setup->workers) {
        crew->loops[crew->count] = (struct loop){.failed = false};
        if (!loop_open(&crew->loops[crew->count])) {
            break;
        }
        crew->count++;
    }
    if (crew->count < setup->workers) {
        destroy(crew);
        return NULL;
    }
    return crew;
}

static bool
has_failed(void *self)
{
    struct crew_of_loops *crew = self;
    bool failed = false;

    for (unsigned i = 0; i < crew->count; i++) {
        pthread_mutex_lock(&crew->loops[i].mutex);
        failed = failed || crew->loops[i].failed;
        pthread_mutex_unlock(&crew->loops[i].mutex);
    }
    return failed;
}

static void *
join(void *self, unsigned number, const struct crew_calls *calls)
{
    struct loop *loop = &((struct crew_of_loops *)self)->loops[number];

    loop->calls = calls;
    return loop;
}

static void
leave(void *worker)
{
    (void)worker;
}

static void
on_timer(uv_timer_t *timer)
{
    const struct loop *loop = timer->loop->data;

    loop->calls->fire(peer_object(timer), loop->calls->arg);
}

static void
loop_start(struct loop *loop, struct object *object, uint64_t ms)
{
    uv_timer_t *timer = (void *)object->node;

    if (timer->loop == NULL) {
        (void)uv_timer_init(&loop->loop, timer);
    }
    (void)uv_timer_start(timer, on_timer, ms, 0);
}

static bool
loop_stop(struct object *object)
{
    uv_timer_t *timer = (void *)object->node;

    if (timer->loop == NULL || !uv_is_active((uv_handle_t *)timer)) {
        return false;
    }
    (void)uv_timer_stop(timer);
    return true;
}

static void
loop_take(struct loop *loop, const struct message *message)
{
    uint64_t now = uv_now(&loop->loop);
    uint64_t due = (message->deadline + NS_PER_MS - 1) / NS_PER_MS;

    if (message->what != MESSAGE_STOP) {
        loop_start(loop, message->object,
                   message->what == MESSAGE_NOW || due <= now ? 0 : due - now);
    } else if (loop_stop(message->object)) {
        loop->calls->stopped(message->object, loop->calls->arg);
    }
}

static void
on_wake(uv_async_t *wake)
{
    struct loop *loop = wake->loop->data;

    pthread_mutex_lock(&loop->mutex);
    struct queue taken = loop->posted;
    loop->posted = loop->taken;
    bool dismissed = loop->dismissed;
    pthread_mutex_unlock(&loop->mutex);
    for (size_t i = 0; i < taken.count; i++) {
        loop_take(loop, &taken.messages[i]);
    }
    taken.count = 0;
    loop->taken = taken;
    if (dismissed) {
        uv_stop(&loop->loop);
    }
}

static void
turn(void *worker)
{
    (void)uv_run(&((struct loop *)worker)->loop, UV_RUN_NOWAIT);
}

static void
serve(void *worker)
{
    (void)uv_run(&((struct loop *)worker)->loop, UV_RUN_DEFAULT);
}

static void
dismiss(void *self)
{
    struct crew_of_loops *crew = self;

    for (unsigned i = 0; i < crew->count; i++) {
        pthread_mutex_lock(&crew->loops[i].mutex);
        crew->loops[i].dismissed = true;
        pthread_mutex_unlock(&crew->loops[i].mutex);
        (void)uv_async_send(&crew->loops[i].wake);
    }
}

/* Counts from the time at which the round began, which libuv stores in whole
 * milliseconds. */
static void
start(void *worker, struct object *object, uint64_t ttl)
{
    loop_start(worker, object, ttl / NS_PER_MS + 1);
}

static bool
stop_local(void *worker, struct object *object)
{
    (void)worker;
    return loop_stop(object);
}

static void
loop_post(struct loop *loop, struct message message)
{
    struct queue *queue = &loop->posted;

    pthread_mutex_lock(&loop->mutex);
    if (queue->count == queue->room) {
        size_t room = queue->room > 0 ? 2 * queue->room : 1024;
        void *more = realloc(queue->messages, room * sizeof(message));

        if (more != NULL) {
            queue->messages = more;
            queue->room = room;
        }
    }
    if (queue->count < queue->room) {
        queue->messages[queue->count++] = message;
    } else {
        loop->failed = true;
    }
    pthread_mutex_unlock(&loop->mutex);
    (void)uv_async_send(&loop->wake);
}

static void
start_on(void *self, unsigned number, struct object *object, uint64_t ttl)
{
    struct crew_of_loops *crew = self;

    loop_post(&crew->loops[number],
              (struct message){object, crew_clock() + ttl,
                               ttl == 0 ? MESSAGE_NOW : MESSAGE_START});
}

static enum crew_stop
stop_on(void *self, unsigned number, struct object *object)
{
    struct crew_of_loops *crew = self;

    loop_post(&crew->loops[number], (struct message){object, 0, MESSAGE_STOP});
    return CREW_LATER;
}

/* Reports timers that were started and are still active. */
struct teller {
    contender_fire_fn *tell;
    void *arg;
    uint64_t count;
};

static void
tell_active(uv_handle_t *handle, void *arg)
{
    struct teller *teller = arg;

    if (handle->type != UV_TIMER || !uv_is_active(handle)) {
        return;
    }
    teller->count++;
    teller->tell(peer_object(handle), teller->arg);
}

static uint64_t
visit_all_left(void *self, contender_fire_fn *tell, void *arg)
{
    struct crew_of_loops *crew = self;
    struct teller teller = {tell, arg, 0};

    for (unsigned i = 0; i < crew->count; i++) {
        on_wake(&crew->loops[i].wake);
        uv_walk(&crew->loops[i].loop, tell_active, &teller);
    }
    return teller.count;
}

const struct crew CONTENDER_PLUGIN = {
    .face = {.abi = CONTENDER_ABI,
             .name = "uvloops",
             .title = "libuv, loops",
             .about = "A libuv loop per worker; other threads put messages "
                      "into a queue behind a mutex, and wake the loop by "
                      "uv_async_send().",
             .kind = CONTENDER_PEER,
             .flags = CONTENDER_CREW | CONTENDER_EXACT,
             .node = sizeof(uv_timer_t),
             .version = uv_version_string,
             .unusable = peer_unusable,
             .make = make,
             .free = destroy,
             .failed = has_failed},
    .join = join,
    .leave = leave,
    .turn = turn,
    .serve = serve,
    .dismiss = dismiss,
    .start = start,
    .stop = stop_local,
    .start_on = start_on,
    .stop_on = stop_on,
    .left = visit_all_left,
};
