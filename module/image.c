/* image.c - a queue in the server's dump files: see image.h.
 *
 * Loading trusts nothing. A number is used only if the commands could have
 * produced it; a count is only compared with the number of items read. Memory
 * is allocated only for an event whose bytes have been read.
 *
 * The bounds must be those of LAWN.APPLY in args.c, which must accept all data
 * that is accepted here.
 */
#include "image.h"

#include "args.h"
#include "ids.h"
#include "memory.h"

enum image_tag {
    IMAGE_END,
    IMAGE_TTL,
    IMAGE_EVENT,
    IMAGE_REPEAT,
    IMAGE_TRIES,
    IMAGE_LEASE
};

/* SAVING */

struct image_saving {
    const struct image_writer *writer;
    uint64_t ttl; /* the last TTL written */
    uint64_t count;
};

static uint64_t
min_time(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Saves the prefix of an event that was leased, or whose number of tries is
 * limited. */
static void
save_tries(const struct queue_event *event, const struct image_writer *writer)
{
    const struct queue_lease *lease = &event->lease;

    if (event->tries.made > 0 || event->tries.most > 0) {
        writer->number(IMAGE_TRIES, writer->arg);
        writer->number(event->tries.made, writer->arg);
        writer->number(event->tries.most, writer->arg);
    }
    if (lease->token != 0) {
        writer->number(IMAGE_LEASE, writer->arg);
        writer->number(lease->token, writer->arg);
        writer->number(min_time(lease->end, ARGS_DUE_MAX), writer->arg);
        writer->number(lease->end > ARGS_DUE_MAX ? 0 : lease->ttl, writer->arg);
        writer->string(lease->owner, writer->arg);
    }
}

static bool
save_event(const struct queue_event *event, void *arg)
{
    struct image_saving *saving = arg;
    const struct image_writer *writer = saving->writer;
    const struct queue_repeat *repeat = &event->repeat;
    uint64_t ttl = event->alone || event->due > ARGS_DUE_MAX ? 0 : event->ttl;

    if (ttl != saving->ttl) {
        writer->number(IMAGE_TTL, writer->arg);
        writer->number(ttl, writer->arg);
        saving->ttl = ttl;
    }
    save_tries(event, writer);
    writer->number(repeat->period > 0 ? IMAGE_REPEAT : IMAGE_EVENT,
                   writer->arg);
    writer->number(min_time(event->due, ARGS_DUE_MAX), writer->arg);
    writer->string(event->id, writer->arg);
    writer->string(event->payload, writer->arg);
    if (repeat->period > 0) {
        writer->number(repeat->period, writer->arg);
        writer->number(repeat->times, writer->arg);
        writer->number(min_time(repeat->missed, ARGS_COUNT_MAX), writer->arg);
    }
    saving->count++;
    return true;
}

void
image_save(struct queue *queue, const struct image_writer *writer)
{
    const struct queue_settings *settings = queue_settings_of(queue);
    const struct queue_sink *sink = queue_sink_of(queue);
    struct image_saving saving = {writer, 0, 0};
    uint64_t first = queue_next(queue);
    uint64_t ms = 0;
    uint64_t number = 0;

    ids_last(&ms, &number);
    const uint64_t head[] = {
        min_time(queue_now(queue), QUEUE_TIME_MAX),
        first < LAWN_NEVER ? min_time(first, ARGS_DUE_MAX) : LAWN_NEVER,
        settings->max_events,
        settings->max_bytes,
        settings->overflow,
        settings->resolution,
        settings->paused,
        settings->tries,
        settings->lease,
        ms,
        number,
        queue_token(queue),
        sink->kind,
    };
    for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++) {
        writer->number(head[i], writer->arg);
    }
    writer->string(sink->to, writer->arg);
    writer->number(sink->maxlen, writer->arg);
    writer->string(sink->dead, writer->arg);
    (void)queue_each(queue, save_event, &saving);
    writer->number(IMAGE_END, writer->arg);
    writer->number(saving.count, writer->arg);
}

/* LOADING */

#define IMAGE_CUT "truncated or damaged data"
#define IMAGE_NO_MEMORY "out of memory"

struct image_loading {
    const struct image_reader *reader;
    struct queue *queue;
    const char *error;           /* NULL: no error so far */
    char *id;                    /* copy of the last id */
    size_t id_room;              /* capacity of id */
    char owner[QUEUE_OWNER_MAX]; /* of the last lease */
    uint64_t now;
    uint64_t first;
    uint64_t earliest; /* earliest time so far, except of dead events */
    bool met;          /* an event, dead or not, has the time `first` */
    uint64_t count;
};

static bool
fail(struct image_loading *loading, const char *error)
{
    loading->error = error;
    return false;
}

/* Reads a number. If it is not from min to max, fails with the text `bad`. */
static bool
load_number(struct image_loading *loading, uint64_t min, uint64_t max,
            uint64_t *number, const char *bad)
{
    const struct image_reader *reader = loading->reader;

    if (!reader->number(number, reader->arg)) {
        return fail(loading, IMAGE_CUT);
    }
    if (*number < min || *number > max) {
        return fail(loading, bad);
    }
    return true;
}

static bool
load_string(struct image_loading *loading, size_t max, struct bytes *string,
            const char *bad)
{
    const struct image_reader *reader = loading->reader;

    if (!reader->string(string, reader->arg)) {
        return fail(loading, IMAGE_CUT);
    }
    if (string->size > max) {
        return fail(loading, bad);
    }
    return true;
}

static bool
keep_copy(struct image_loading *loading, struct bytes *string)
{
    if (string->size > loading->id_room) {
        size_t room = 2 * string->size;
        char *memory = memory_alloc(room);
        if (memory == NULL) {
            return fail(loading, IMAGE_NO_MEMORY);
        }
        memory_free(loading->id);
        loading->id = memory;
        loading->id_room = room;
    }
    if (string->size > 0) {
        memcpy(loading->id, string->at, string->size);
    }
    string->at = loading->id;
    return true;
}

/* The id is copied, because reading the payload invalidates it. */
static bool
load_id_and_payload(struct image_loading *loading, struct queue_event *event)
{
    return load_string(loading, QUEUE_ID_MAX, &event->id,
                       "an id is too long") &&
           keep_copy(loading, &event->id) &&
           load_string(loading, QUEUE_PAYLOAD_MAX, &event->payload,
                       "a payload is too long");
}

static bool
add_event(struct image_loading *loading, const struct queue_event *event)
{
    int put = queue_put(loading->queue, event);

    if (put < 0) {
        return fail(loading, IMAGE_NO_MEMORY);
    }
    if (put > 0) {
        return fail(loading, "duplicate id");
    }
    loading->count++;
    return true;
}

/* Returns whether an event with this TTL can have been pushed or leased at or
 * before the saved time of the queue. */
static bool
can_be_from(const struct image_loading *loading, uint64_t ttl, uint64_t time)
{
    return ttl <= time && time - ttl <= loading->now;
}

/* No event is due before the stored first time, which does not cover dead
 * events. So events without tries left are excluded. */
static bool
check_not_before_first(struct image_loading *loading,
                       const struct queue_event *event)
{
    uint64_t time = event->lease.token != 0 ? event->lease.end : event->due;

    loading->met = loading->met || time == loading->first;
    if (queue_state_at(event, UINT64_MAX) == QUEUE_DEAD) {
        return true;
    }
    loading->earliest = min_time(loading->earliest, time);
    return time >= loading->first ||
           fail(loading, "an event is due before the stored first due time");
}

/* Reads the due time. The prefixes of the event have been read. */
static bool
load_due(struct image_loading *loading, uint64_t ttl, struct queue_event *event)
{
    if (!load_number(loading, 0, ARGS_DUE_MAX, &event->due,
                     "a due time is out of range") ||
        !check_not_before_first(loading, event)) {
        return false;
    }
    if (event->lease.token != 0) {
        ttl = 0;
    }
    event->alone = ttl == 0;
    event->ttl = ttl;
    if (ttl == 0 && event->due > loading->now) {
        event->ttl = event->due - loading->now;
    }
    return can_be_from(loading, event->ttl, event->due) ||
           fail(loading, "the delay of an event contradicts its due time");
}

static bool
load_tries(struct image_loading *loading, struct queue_tries *tries)
{
    uint64_t made = 0;
    uint64_t most = 0;

    if (!load_number(loading, 0, ARGS_TRIES_MAX, &made,
                     "a number of tries is out of range") ||
        !load_number(loading, 0, ARGS_TRIES_MAX, &most,
                     "a number of tries is out of range")) {
        return false;
    }
    *tries = (struct queue_tries){(uint32_t)made, (uint32_t)most};
    return true;
}

static bool
load_lease(struct image_loading *loading, struct queue_lease *lease)
{
    if (!load_number(loading, 1, queue_token(loading->queue), &lease->token,
                     "an event has a lease token that was never issued") ||
        !load_number(loading, 0, ARGS_DUE_MAX, &lease->end,
                     "the end of a lease is out of range") ||
        !load_number(loading, 0, ARGS_DUE_MAX, &lease->ttl,
                     "the length of a lease is out of range") ||
        !load_string(loading, QUEUE_OWNER_MAX, &lease->owner,
                     "an owner is too long")) {
        return false;
    }
    if (lease->ttl > 0 && !can_be_from(loading, lease->ttl, lease->end)) {
        return fail(loading, "the length of a lease contradicts its end");
    }
    if (lease->owner.size > 0) {
        memcpy(loading->owner, lease->owner.at, lease->owner.size);
    }
    lease->owner.at = loading->owner;
    return true;
}

static bool
load_repeat(struct image_loading *loading, struct queue_repeat *repeat)
{
    return load_number(loading, 1, QUEUE_TIME_MAX, &repeat->period,
                       "a period is out of range") &&
           load_number(loading, 0, QUEUE_TIME_MAX, &repeat->times,
                       "a number of repetitions is out of range") &&
           load_number(loading, 0, ARGS_COUNT_MAX, &repeat->missed,
                       "a number of missed periods is out of range");
}

/* Reads the prefixes of an event. Sets *tag to the tag after them, that of the
 * event itself. */
static bool
load_prefixes(struct image_loading *loading, uint64_t *tag,
              struct queue_event *event)
{
    static const char unknown[] = "unknown tag";

    if (*tag == IMAGE_TRIES &&
        (!load_tries(loading, &event->tries) ||
         !load_number(loading, IMAGE_EVENT, IMAGE_LEASE, tag, unknown))) {
        return false;
    }
    if (*tag == IMAGE_LEASE &&
        (!load_lease(loading, &event->lease) ||
         !load_number(loading, IMAGE_EVENT, IMAGE_REPEAT, tag, unknown))) {
        return false;
    }
    return *tag != IMAGE_TRIES || fail(loading, unknown);
}

/* The payload is valid until the next string is read. */
static bool
load_event(struct image_loading *loading, uint64_t tag, uint64_t ttl)
{
    struct queue_event event = {.due = 0};

    return load_prefixes(loading, &tag, &event) &&
           load_due(loading, ttl, &event) &&
           load_id_and_payload(loading, &event) &&
           (tag == IMAGE_EVENT || load_repeat(loading, &event.repeat)) &&
           add_event(loading, &event);
}

static bool
load_events(struct image_loading *loading)
{
    uint64_t ttl = 0;
    uint64_t tag = 0;

    for (;;) {
        if (!load_number(loading, IMAGE_END, IMAGE_LEASE, &tag,
                         "unknown tag")) {
            return false;
        }
        if (tag == IMAGE_END) {
            break;
        }
        if (tag == IMAGE_TTL) {
            if (!load_number(loading, 0, ARGS_DUE_MAX, &ttl,
                             "a delay is out of range")) {
                return false;
            }
        } else if (!load_event(loading, tag, ttl)) {
            return false;
        }
    }
    uint64_t count = 0;
    if (!load_number(loading, 0, UINT64_MAX, &count, "")) {
        return false;
    }
    if (count != loading->count) {
        return fail(loading,
                    "the number of events does not match the stored count");
    }
    if (loading->first == LAWN_NEVER ? loading->earliest != LAWN_NEVER
                                     : !loading->met) {
        return fail(loading, "no event is due at the stored first due time");
    }
    return true;
}

static bool
load_settings(struct image_loading *loading, struct queue_settings *settings)
{
    uint64_t overflow = 0;
    uint64_t paused = 0;

    if (!load_number(loading, 0, ARGS_COUNT_MAX, &settings->max_events,
                     "maxlen is out of range") ||
        !load_number(loading, 0, ARGS_COUNT_MAX, &settings->max_bytes,
                     "maxbytes is out of range") ||
        !load_number(loading, QUEUE_REJECT, QUEUE_DROP_OLDEST, &overflow,
                     "unknown overflow policy") ||
        !load_number(loading, 0, ARGS_RESOLUTION_MAX, &settings->resolution,
                     "resolution-ms is out of range") ||
        !load_number(loading, 0, 1, &paused, "paused is neither 0 nor 1") ||
        !load_number(loading, 0, ARGS_TRIES_MAX, &settings->tries,
                     "tries is out of range") ||
        !load_number(loading, 0, QUEUE_TIME_MAX, &settings->lease,
                     "lease is out of range")) {
        return false;
    }
    settings->overflow = (enum queue_overflow)overflow;
    settings->paused = paused == 1;
    return true;
}

/* The sink's name is copied, because reading the next string invalidates it. */
static bool
load_sink(struct image_loading *loading)
{
    static const char name[] =
        "the name of a sink or dead letter stream is too long";
    struct queue_sink sink;
    uint64_t kind = 0;
    uint64_t token = 0;

    if (!load_number(loading, 0, ARGS_TOKEN_MAX, &token,
                     "the last lease token is out of range") ||
        !load_number(loading, QUEUE_SINK_NONE, QUEUE_SINK_SPUBLISH, &kind,
                     "unknown sink type") ||
        !load_string(loading, QUEUE_NAME_MAX, &sink.to, name) ||
        !keep_copy(loading, &sink.to) ||
        !load_number(loading, 0, ARGS_COUNT_MAX, &sink.maxlen,
                     "the MAXLEN of the sink is out of range") ||
        !load_string(loading, QUEUE_NAME_MAX, &sink.dead, name)) {
        return false;
    }
    sink.kind = (enum queue_sink_kind)kind;
    if (!queue_set_sink(loading->queue, &sink)) {
        return fail(loading, IMAGE_NO_MEMORY);
    }
    queue_note_token(loading->queue, token);
    return true;
}

static bool
load_version_1(struct image_loading *loading)
{
    if (!load_number(loading, 0, QUEUE_TIME_MAX, &loading->now,
                     "the key's last clock time is out of range") ||
        !load_number(loading, 0, LAWN_NEVER, &loading->first, "")) {
        return false;
    }
    if (loading->first > ARGS_DUE_MAX && loading->first != LAWN_NEVER) {
        return fail(loading, "the first due time is out of range");
    }
    uint64_t ms = 0;
    uint64_t number = 0;
    if (!load_settings(loading, queue_settings_of(loading->queue)) ||
        !load_number(loading, 0, IDS_MS_MAX, &ms,
                     "the time of the last generated id is out of range") ||
        !load_number(loading, 0, IDS_NUMBER_MAX, &number,
                     "the number of the last generated id is out of range") ||
        !load_sink(loading)) {
        return false;
    }
    if (!queue_restore(loading->queue, loading->first, loading->now)) {
        return fail(loading, IMAGE_NO_MEMORY);
    }
    if (!load_events(loading)) {
        return false;
    }
    ids_seen(ms, number);
    /* The deaths were reported when they happened, unless the key was
     * paused. */
    if (!queue_settings_of(loading->queue)->paused) {
        (void)queue_died(loading->queue);
    }
    return true;
}

/* Converts a due time of ReDe: times before 1970 are overdue; times beyond the
 * maximum are reduced to it. */
static uint64_t
due_of_rede(uint64_t due)
{
    return due > INT64_MAX ? 0 : min_time(due, ARGS_DUE_MAX);
}

/* Reads an event of ReDe. ReDe's TTLs may be truncated, so the time of the push
 * cannot be computed as due - ttl: the queue's time might advance by weeks. So
 * the TTL is set to the due time, as if the event had been pushed in 1970. */
static bool
load_event_of_rede(struct image_loading *loading)
{
    struct queue_event event = {.alone = true};
    uint64_t due = 0;

    if (!load_number(loading, 0, UINT64_MAX, &due, "") ||
        !load_id_and_payload(loading, &event)) {
        return false;
    }
    event.due = due_of_rede(due);
    event.ttl = event.due;
    return add_event(loading, &event);
}

static bool
load_version_0(struct image_loading *loading)
{
    const struct image_reader *reader = loading->reader;
    struct bytes name;

    if (!reader->string(&name, reader->arg)) {
        return fail(loading, IMAGE_CUT);
    }
    uint64_t ttls = 0;
    if (!load_number(loading, 0, UINT32_MAX, &ttls,
                     "the number of TTLs is out of range")) {
        return false;
    }
    uint64_t ttl = 0;
    uint64_t events = 0;
    for (; ttls > 0; ttls--) {
        /* The TTL is not used: see load_event_of_rede(). */
        if (!load_number(loading, 0, UINT64_MAX, &ttl, "") ||
            !load_number(loading, 0, INT32_MAX, &events,
                         "the number of events of a TTL is out of range")) {
            return false;
        }
        for (; events > 0; events--) {
            if (!load_event_of_rede(loading)) {
                return false;
            }
        }
    }
    return true;
}

struct queue *
image_load(const struct image_reader *reader, int version, size_t blades,
           const char **error)
{
    struct image_loading loading = {.reader = reader,
                                    .error = "unknown format version",
                                    .earliest = LAWN_NEVER};
    bool good = false;

    if (version == 0 || version == IMAGE_VERSION) {
        loading.error = IMAGE_NO_MEMORY;
        loading.queue = queue_new(0, blades);
    }
    if (loading.queue != NULL) {
        good =
            version == 0 ? load_version_0(&loading) : load_version_1(&loading);
    }
    memory_free(loading.id);
    if (good) {
        return loading.queue;
    }
    queue_free(loading.queue);
    *error = loading.error;
    return NULL;
}
