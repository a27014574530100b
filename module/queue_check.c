/* queue_check.c - walks all that always holds of a queue: see queue.h. */
#include "late.h"
#include "queue_inside.h"

/* What was met on the way. */
struct queue_checking {
    const struct queue *queue;
    const char *wrong;
    uint64_t ready;
    uint64_t waiting;
    uint64_t data;
    size_t bytes;
};

static void
queue_check_ready(struct queue_checking *checking)
{
    const struct queue *queue = checking->queue;
    const struct event *before = NULL;
    const struct event *event;
    bool near = queue->near == NULL;
    uint64_t ready = 0;

    for (event = queue->first; event != NULL; event = event->ready.next) {
        if ((event->flags & EVENT_READY) == 0 || event->ready.prev != before) {
            checking->wrong = "[Q1] ready has a link that is none";
            return;
        }
        if (event->ready.due > queue->mown ||
            (before != NULL && before->ready.due > event->ready.due)) {
            checking->wrong = "[Q2] ready is not in order";
            return;
        }
        near = near || queue->near == event;
        before = event;
        ready++;
    }
    if (queue->last != before || ready != queue->ready || !near) {
        checking->wrong = "[Q1] ready ends elsewhere, or has others";
    }
}

static bool
queue_check_waiting(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    const struct event *event = LAWN_CONTAINER(timer, struct event, timer);
    struct queue_checking *checking = arg;

    (void)ttl;
    if (event->flags & EVENT_READY) {
        checking->wrong = "[Q1] an event that is ready waits";
    }
    if (event_due(event) < checking->queue->mown) {
        checking->wrong = "[Q3] an event waits for a time that was mown";
    }
    return checking->wrong == NULL;
}

static void
queue_check_table(struct queue_checking *checking)
{
    const struct table *table = &checking->queue->table;
    uint64_t hash = 0;

    if (table->count == 0) {
        return;
    }
    do {
        const struct table_segment *segment = table_segment(table, hash);
        size_t i;

        for (i = 0; i < segment->used; i++) {
            const struct event *event = table_events(segment)[i];
            bool ready = (event->flags & EVENT_READY) != 0;

            if (!ready && !lawn_pending(&event->timer)) {
                checking->wrong = "[Q1] an event is nowhere";
            }
            checking->ready += ready ? 1 : 0;
            checking->waiting += ready ? 0 : 1;
            checking->data += (uint64_t)event->id_size + event->payload_size;
            checking->bytes += event_bytes(event);
        }
        hash = table_end(segment, hash);
    } while (hash != 0);
}

static void
queue_check_counts(struct queue_checking *checking)
{
    const struct queue *queue = checking->queue;

    checking->bytes +=
        sizes_class(sizeof *queue) + sizes_class(queue->ground_size);
    if (queue->late != NULL) {
        checking->bytes += sizes_class(sizeof *queue->late);
    }
    if (checking->ready != queue->ready ||
        checking->waiting != lawn_count(queue->lawn)) {
        checking->wrong = "[Q1] an event is in the table alone, or not";
    } else if (checking->bytes != queue->bytes ||
               checking->data != queue->data) {
        checking->wrong = "[Q4] bytes, or data, are not what there is";
    } else if (queue->mown > lawn_now(queue->lawn)) {
        checking->wrong = "[Q3] mown is after the lawn's time";
    }
}

bool
queue_check(const struct queue *queue, FILE *out)
{
    struct queue_checking checking = {.queue = queue};

    if (!table_check(&queue->table, out) || !lawn_check(queue->lawn, out)) {
        return false;
    }
    queue_check_ready(&checking);
    if (checking.wrong == NULL) {
        (void)lawn_each(queue->lawn, queue_check_waiting, &checking);
    }
    if (checking.wrong == NULL) {
        queue_check_table(&checking);
    }
    if (checking.wrong == NULL) {
        queue_check_counts(&checking);
    }
    if (checking.wrong != NULL && out != NULL) {
        (void)fprintf(out, "queue: %s\n", checking.wrong);
    }
    return checking.wrong == NULL;
}
