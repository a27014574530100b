/* image_tape.h - an image in memory: a sequence of numbers and strings that can
 * be written, read and changed.
 */
#ifndef IMAGE_TAPE_H
#define IMAGE_TAPE_H

#include "image.h"

#define IMAGE_TAPE_ITEMS 4096
#define IMAGE_TAPE_BYTES 262144

struct image_item {
    bool is_string;
    uint64_t number; /* or the start of the string */
    size_t size;
};

struct image_tape {
    struct image_item items[IMAGE_TAPE_ITEMS];
    size_t count;
    size_t at; /* next item to be read */
    char *last;
    char bytes[IMAGE_TAPE_BYTES];
    size_t used;
};

void image_tape_clear(struct image_tape *tape);
void image_tape_number(struct image_tape *tape, uint64_t number);
void image_tape_string(struct image_tape *tape, struct bytes string);

/* Numbers, and strings in quotes. */
void image_tape_write(struct image_tape *tape, const char *text);

bool image_tape_equal(const struct image_tape *a, const struct image_tape *b);

void image_tape_save(struct image_tape *tape, struct queue *queue);

/* Loads from the beginning. Each string is in a separate block, which is valid
 * until the next call for a string. */
struct queue *image_tape_load(struct image_tape *tape, int version,
                              const char **error);

#endif
