/* queue_kit.c - see queue_kit.h. */
#include "queue_kit.h"

#include <string.h>

static uint64_t kit_blocks;

struct queue *
kit_queue(uint64_t now)
{
    struct queue *queue = NULL;

    kit_blocks = memory_blocks();
    queue = queue_new(now, 4096);
    CHECK(queue != NULL);
    return queue;
}

void
kit_queue_end(struct queue *queue)
{
    CHECK(queue_check(queue, stdout));
    queue_free(queue);
    CHECK_EQ(memory_blocks(), kit_blocks);
}

int
kit_push(struct queue *queue, const char *id, const char *payload,
         uint64_t delay)
{
    struct queue_event event = {.id = bytes_of(id),
                                .payload = bytes_of(payload),
                                .due = queue_now(queue) + delay,
                                .ttl = delay};

    return queue_put(queue, &event);
}

int
kit_push_at(struct queue *queue, const char *id, const char *payload,
            uint64_t due)
{
    struct queue_event event = {
        .id = bytes_of(id),
        .payload = bytes_of(payload),
        .due = due,
        .ttl = due > queue_now(queue) ? due - queue_now(queue) : 0,
        .alone = true};

    return queue_put(queue, &event);
}

const char *
kit_take(struct queue *queue, uint64_t now)
{
    static char text[1000];
    size_t size = 0;
    const void *cursor = NULL;

    (void)queue_promote_due(queue, now, UINT64_MAX);
    struct queue_event event;
    while (queue_ready(queue, &cursor, &event)) {
        CHECK(size + event.id.size + 2 < sizeof(text));
        memcpy(text + size, event.id.at, event.id.size);
        size += event.id.size;
        text[size++] = ' ';
        CHECK(queue_remove(queue, event.id)); /* with the event's own id */
        cursor = NULL;
    }
    text[size] = '\0';
    return text;
}

const char *
kit_payload(const struct queue *queue, const char *id)
{
    static char text[100];
    struct queue_event event;

    if (!queue_get(queue, bytes_of(id), &event)) {
        return NULL;
    }
    CHECK(event.payload.size < sizeof(text));
    memcpy(text, event.payload.at, event.payload.size);
    text[event.payload.size] = '\0';
    return text;
}
