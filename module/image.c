/* image.c - a queue as the server's dump files hold it: see image.h.
 *
 * Reading believes nothing: a number is used when it is known to be one that the
 * commands could have led to, and a count only to be compared with what came. A
 * step takes memory for one event, whose bytes have been read; so what is cut
 * short or lies costs no more than it is long.
 *
 * What would break it: bounds that differ from those of LAWN.APPLY in args.c.
 * What is loaded here must be accepted there, when it is written to an
 * append-only file.
 */
#include "image.h"

#include "args.h"
#include "ids.h"
#include "memory.h"

enum image_tag { IMAGE_END, IMAGE_TTL, IMAGE_EVENT, IMAGE_REPEAT };

/* SAVING */

struct image_saving {
    const struct image_writer *writer;
    uint64_t ttl; /* that was written last */
    uint64_t count;
};

static uint64_t
image_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool
image_save_event(const struct queue_event *event, void *arg)
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
    writer->number(repeat->period > 0 ? IMAGE_REPEAT : IMAGE_EVENT,
                   writer->arg);
    writer->number(image_min(event->due, ARGS_DUE_MAX), writer->arg);
    writer->string(event->id, writer->arg);
    writer->string(event->payload, writer->arg);
    if (repeat->period > 0) {
        writer->number(repeat->period, writer->arg);
        writer->number(repeat->times, writer->arg);
        writer->number(image_min(repeat->missed, ARGS_COUNT_MAX), writer->arg);
    }
    saving->count++;
    return true;
}

void
image_save(struct queue *queue, const struct image_writer *writer)
{
    const struct queue_settings *settings = queue_settings(queue);
    struct image_saving saving = {writer, 0, 0};
    uint64_t first = queue_next(queue);
    uint64_t ms;
    uint64_t number;

    ids_last(&ms, &number);
    const uint64_t head[] = {
        image_min(queue_now(queue), QUEUE_TIME_MAX),
        first < LAWN_NEVER ? image_min(first, ARGS_DUE_MAX) : LAWN_NEVER,
        settings->max_events,
        settings->max_bytes,
        settings->overflow,
        settings->resolution,
        settings->paused,
        ms,
        number,
    };
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        writer->number(head[i], writer->arg);
    (void)queue_each(queue, image_save_event, &saving);
    writer->number(IMAGE_END, writer->arg);
    writer->number(saving.count, writer->arg);
}

/* LOADING */

#define IMAGE_CUT "it is cut short or damaged"
#define IMAGE_NO_MEMORY "there is no memory for it"

struct image_loading {
    const struct image_reader *reader;
    struct queue *queue;
    const char *error; /* NULL: all is well so far */
    char *id;          /* a copy of the last one, and its room */
    size_t id_room;
    uint64_t now;
    uint64_t first;
    uint64_t earliest; /* due time so far */
    uint64_t count;
};

static bool
image_fail(struct image_loading *loading, const char *error)
{
    loading->error = error;
    return false;
}

/* Reads a number from min to max; else it is called bad by that text. */
static bool
image_number(struct image_loading *loading, uint64_t min, uint64_t max,
             uint64_t *number, const char *bad)
{
    const struct image_reader *reader = loading->reader;

    if (!reader->number(number, reader->arg))
        return image_fail(loading, IMAGE_CUT);
    if (*number < min || *number > max)
        return image_fail(loading, bad);
    return true;
}

/* Reads an id, and keeps it while the payload is read. */
static bool
image_id(struct image_loading *loading, struct bytes *id)
{
    const struct image_reader *reader = loading->reader;

    if (!reader->string(id, reader->arg))
        return image_fail(loading, IMAGE_CUT);
    if (id->size > QUEUE_ID_MAX)
        return image_fail(loading, "an id is too long");
    if (id->size > loading->id_room) {
        size_t room = 2 * id->size;
        char *memory = memory_alloc(room);
        if (memory == NULL)
            return image_fail(loading, IMAGE_NO_MEMORY);
        memory_free(loading->id);
        loading->id = memory;
        loading->id_room = room;
    }
    if (id->size > 0)
        memcpy(loading->id, id->at, id->size);
    id->at = loading->id;
    return true;
}

/* Reads id and payload of an event, which has its due time. */
static bool
image_strings(struct image_loading *loading, struct queue_event *event)
{
    const struct image_reader *reader = loading->reader;

    if (!image_id(loading, &event->id))
        return false;
    if (!reader->string(&event->payload, reader->arg))
        return image_fail(loading, IMAGE_CUT);
    if (event->payload.size > QUEUE_PAYLOAD_MAX)
        return image_fail(loading, "a payload is too long");
    return true;
}

/* Puts it in. */
static bool
image_put(struct image_loading *loading, const struct queue_event *event)
{
    int put = queue_put(loading->queue, event);

    if (put < 0)
        return image_fail(loading, IMAGE_NO_MEMORY);
    if (put > 0)
        return image_fail(loading, "an id is there twice");
    loading->earliest = image_min(loading->earliest, event->due);
    loading->count++;
    return true;
}

/* When an event was pushed: by a TTL, at a time that the queue had come to; or
 * for a time, and it is as if that had been when the queue was saved. */
static bool
image_when(struct image_loading *loading, uint64_t ttl,
           struct queue_event *event)
{
    if (!image_number(loading, 0, ARGS_DUE_MAX, &event->due,
                      "an event is due after all times"))
        return false;
    if (event->due < loading->first)
        return image_fail(loading, "an event is due before the first");
    event->alone = ttl == 0;
    event->ttl = ttl;
    if (ttl == 0 && event->due > loading->now)
        event->ttl = event->due - loading->now;
    if (event->ttl > event->due || event->due - event->ttl > loading->now)
        return image_fail(loading,
                          "an event's delay does not lead to its time");
    return true;
}

static bool
image_repeat(struct image_loading *loading, struct queue_repeat *repeat)
{
    return image_number(loading, 1, QUEUE_TIME_MAX, &repeat->period,
                        "a period is out of range") &&
           image_number(loading, 0, QUEUE_TIME_MAX, &repeat->times,
                        "a number of times is out of range") &&
           image_number(loading, 0, ARGS_COUNT_MAX, &repeat->missed,
                        "a number of missed times is out of range");
}

/* The payload stays until the next string only, but numbers may follow it: they
 * are read, and the event is put in, before there is another. */
static bool
image_event(struct image_loading *loading, uint64_t tag, uint64_t ttl)
{
    struct queue_event event = {.due = 0};

    return image_when(loading, ttl, &event) && image_strings(loading, &event) &&
           (tag == IMAGE_EVENT || image_repeat(loading, &event.repeat)) &&
           image_put(loading, &event);
}

/* Up to the end. */
static bool
image_events(struct image_loading *loading)
{
    uint64_t ttl = 0;
    uint64_t tag;
    uint64_t count;

    for (;;) {
        if (!image_number(loading, IMAGE_END, IMAGE_REPEAT, &tag,
                          "there is something unknown in it"))
            return false;
        if (tag == IMAGE_END)
            break;
        if (tag == IMAGE_TTL) {
            if (!image_number(loading, 0, ARGS_DUE_MAX, &ttl,
                              "a delay is out of range"))
                return false;
        } else if (!image_event(loading, tag, ttl)) {
            return false;
        }
    }
    if (!image_number(loading, 0, UINT64_MAX, &count, ""))
        return false;
    if (count != loading->count)
        return image_fail(loading, "the number of events is wrong");
    if (loading->earliest != loading->first)
        return image_fail(loading, "no event is due at the first due time");
    return true;
}

static bool
image_settings(struct image_loading *loading, struct queue_settings *settings)
{
    uint64_t overflow;
    uint64_t paused;

    if (!image_number(loading, 0, ARGS_COUNT_MAX, &settings->max_events,
                      "maxlen is out of range") ||
        !image_number(loading, 0, ARGS_COUNT_MAX, &settings->max_bytes,
                      "maxbytes is out of range") ||
        !image_number(loading, QUEUE_REJECT, QUEUE_DROP_OLDEST, &overflow,
                      "overflow is unknown") ||
        !image_number(loading, 0, ARGS_RESOLUTION_MAX, &settings->resolution,
                      "resolution-ms is out of range") ||
        !image_number(loading, 0, 1, &paused, "paused is neither yes nor no"))
        return false;
    settings->overflow = (enum queue_overflow)overflow;
    settings->paused = paused == 1;
    return true;
}

static bool
image_load_1(struct image_loading *loading)
{
    uint64_t ms;
    uint64_t number;

    if (!image_number(loading, 0, QUEUE_TIME_MAX, &loading->now,
                      "its time is after all times") ||
        !image_number(loading, 0, LAWN_NEVER, &loading->first, ""))
        return false;
    if (loading->first > ARGS_DUE_MAX && loading->first != LAWN_NEVER)
        return image_fail(loading, "the first due time is after all times");
    if (!image_settings(loading, queue_settings(loading->queue)) ||
        !image_number(loading, 0, IDS_MS_MAX, &ms,
                      "the last id is of a time after all times") ||
        !image_number(loading, 0, IDS_NUMBER_MAX, &number,
                      "the last id has too great a number"))
        return false;
    if (!queue_restore(loading->queue, loading->first, loading->now))
        return image_fail(loading, IMAGE_NO_MEMORY);
    if (!image_events(loading))
        return false;
    ids_seen(ms, number);
    return true;
}

/* A due time as ReDe has it: one before 1970 is overdue like any other, and one
 * after all times is as far away. */
static uint64_t
image_due_0(uint64_t due)
{
    return due > INT64_MAX ? 0 : image_min(due, ARGS_DUE_MAX);
}

/* Its TTLs do not tell when an event was pushed, as they may have been cut: told
 * the queue, that might be a time weeks ahead. A TTL of all the time since 1970
 * tells it nothing. */
static bool
image_event_0(struct image_loading *loading)
{
    struct queue_event event = {.alone = true};
    uint64_t due;

    if (!image_number(loading, 0, UINT64_MAX, &due, "") ||
        !image_strings(loading, &event))
        return false;
    event.due = image_due_0(due);
    event.ttl = event.due;
    return image_put(loading, &event);
}

static bool
image_load_0(struct image_loading *loading)
{
    const struct image_reader *reader = loading->reader;
    struct bytes name;
    uint64_t ttls;
    uint64_t ttl;
    uint64_t events;

    if (!reader->string(&name, reader->arg))
        return image_fail(loading, IMAGE_CUT);
    if (!image_number(loading, 0, UINT32_MAX, &ttls,
                      "it has more TTLs than there can be"))
        return false;
    for (; ttls > 0; ttls--) {
        /* The TTL itself is of no use: see image_event_0(). */
        if (!image_number(loading, 0, UINT64_MAX, &ttl, "") ||
            !image_number(loading, 0, INT32_MAX, &events,
                          "a TTL has more events than there can be"))
            return false;
        for (; events > 0; events--) {
            if (!image_event_0(loading))
                return false;
        }
    }
    return true;
}

struct queue *
image_load(const struct image_reader *reader, int version, size_t blades,
           const char **error)
{
    struct image_loading loading = {.reader = reader,
                                    .error = "its format is unknown",
                                    .earliest = LAWN_NEVER};
    bool good = false;

    if (version == 0 || version == IMAGE_VERSION) {
        loading.error = IMAGE_NO_MEMORY;
        loading.queue = queue_new(0, blades);
    }
    if (loading.queue != NULL)
        good = version == 0 ? image_load_0(&loading) : image_load_1(&loading);
    memory_free(loading.id);
    if (good)
        return loading.queue;
    queue_free(loading.queue);
    *error = loading.error;
    return NULL;
}
