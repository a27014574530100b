/* queue_kit.h - events for tests, in a line each. */
#ifndef TESTS_MODULE_QUEUE_KIT_H
#define TESTS_MODULE_QUEUE_KIT_H

#include "kit.h"
#include "memory_kit.h"
#include "queue.h"

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A queue at a time, and its end, with nothing left behind. */
struct queue *kit_queue(uint64_t now);
void kit_queue_end(struct queue *queue);

/* Pushes after a delay, or for a time; as queue_put(). */
int kit_push(struct queue *queue, const char *id, const char *payload,
             uint64_t delay);
int kit_push_at(struct queue *queue, const char *id, const char *payload,
                uint64_t due);

/* The ids of what is due by now, and is taken out, with a space behind each. */
const char *kit_take(struct queue *queue, uint64_t now);

/* The payload of an id, or NULL; until the next call. */
const char *kit_payload(const struct queue *queue, const char *id);

#define CHECK_TEXT(actual, expected)                                           \
    do {                                                                       \
        const char *kit_text = (actual);                                       \
        if (strcmp(kit_text, expected) != 0) {                                 \
            kit_fail(__FILE__, __LINE__, "%s is \"%s\", expected \"%s\"",      \
                     #actual, kit_text, expected);                             \
        }                                                                      \
    } while (0)

#endif
