/* queue_kit.h - short functions that handle events in tests. */
#ifndef TESTS_MODULE_QUEUE_KIT_H
#define TESTS_MODULE_QUEUE_KIT_H

#include "kit.h"
#include "memory_kit.h"
#include "queue.h"

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Creates a queue at a time; frees it, and checks that no memory is left. */
struct queue *kit_queue(uint64_t now);
void kit_queue_end(struct queue *queue);

/* Push after a delay, or for a time; as queue_put(). */
int kit_push(struct queue *queue, const char *id, const char *payload,
             uint64_t delay);
int kit_push_at(struct queue *queue, const char *id, const char *payload,
                uint64_t due);

/* Removes the events that are due by now. Returns their ids, each followed by a
 * space. */
const char *kit_take(struct queue *queue, uint64_t now);

/* Returns the payload of an id, or NULL; valid until the next call. */
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
