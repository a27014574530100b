/* queue_settings.c - the data of a queue other than events. */
#include "late.h"
#include "memory.h"
#include "queue_inside.h"
#include "sizes.h"

struct queue_settings *
queue_settings_of(struct queue *queue)
{
    return &queue->settings;
}

struct queue_counts *
queue_counts_of(struct queue *queue)
{
    return &queue->counts;
}

bool
queue_idle(const struct queue *queue)
{
    const struct queue_settings *settings = &queue->settings;

    return queue->table.count == 0 && settings->max_events == 0 &&
           settings->max_bytes == 0 && settings->overflow == QUEUE_REJECT &&
           settings->resolution <= 1 && !settings->paused &&
           settings->tries == 0 && settings->lease == 0 &&
           queue->sink.kind == QUEUE_SINK_NONE && queue->sink.dead.size == 0;
}

const struct late *
queue_late(const struct queue *queue)
{
    return queue->late;
}

void
queue_note_late(struct queue *queue, uint64_t ms)
{
    if (queue->late == NULL) {
        queue->late = memory_alloc(sizeof(*queue->late));
        if (queue->late == NULL) {
            return;
        }
        *queue->late = (struct late){0};
        queue->bytes += sizes_class(sizeof(*queue->late));
    }
    late_add(queue->late, ms);
}

uint64_t *
queue_armed(struct queue *queue)
{
    return &queue->armed;
}

struct queue_trouble *
queue_trouble_of(struct queue *queue)
{
    return &queue->trouble;
}

struct queue_trouble *
queue_dead_trouble_of(struct queue *queue)
{
    return &queue->dead_trouble;
}

uint64_t
queue_token(const struct queue *queue)
{
    return queue->token;
}

void
queue_note_token(struct queue *queue, uint64_t token)
{
    if (token > queue->token) {
        queue->token = token;
    }
}

/* THE SINK */

const struct queue_sink *
queue_sink_of(const struct queue *queue)
{
    return &queue->sink;
}

/* Returns the size of the two strings, which are in one block. */
static size_t
sink_size(const struct queue_sink *sink)
{
    return sink->to.size + sink->dead.size;
}

void
queue_sink_free(struct queue *queue)
{
    size_t size = sink_size(&queue->sink);

    if (size > 0) {
        queue->bytes -= sizes_class(size);
        memory_free((void *)(uintptr_t)queue->sink.to.at);
    }
    queue->sink = (struct queue_sink){.kind = QUEUE_SINK_NONE};
}

void
queue_sink_moved(struct queue *queue, char *memory)
{
    queue->sink.to.at = memory;
    queue->sink.dead.at = memory + queue->sink.to.size;
}

/* The strings may point into the current sink. */
bool
queue_set_sink(struct queue *queue, const struct queue_sink *sink)
{
    struct queue_sink set = *sink;
    size_t size = sink_size(sink);
    char *memory = NULL;

    if (size > 0) {
        memory = memory_alloc(size);
        if (memory == NULL) {
            return false;
        }
        if (sink->to.size > 0) {
            memcpy(memory, sink->to.at, sink->to.size);
        }
        if (sink->dead.size > 0) {
            memcpy(memory + sink->to.size, sink->dead.at, sink->dead.size);
        }
    }
    queue_sink_free(queue);
    queue->trouble = (struct queue_trouble){.again = 0};
    queue->dead_trouble = (struct queue_trouble){.again = 0};
    queue->sink = set;
    queue->sink.to.at = NULL;
    queue->sink.dead.at = NULL;
    if (size > 0) {
        queue_sink_moved(queue, memory);
        queue->bytes += sizes_class(size);
    }
    return true;
}
