/* image_tape.c - an image in memory: see image_tape.h. */
#include "image_tape.h"

#include "kit.h"

#include <stdlib.h>

void
image_tape_clear(struct image_tape *tape)
{
    tape->count = 0;
    tape->used = 0;
}

void
image_tape_number(struct image_tape *tape, uint64_t number)
{
    CHECK(tape->count < IMAGE_TAPE_ITEMS);
    tape->items[tape->count++] = (struct image_item){false, number, 0};
}

void
image_tape_string(struct image_tape *tape, struct bytes string)
{
    CHECK(tape->count < IMAGE_TAPE_ITEMS);
    CHECK(string.size <= IMAGE_TAPE_BYTES - tape->used);
    tape->items[tape->count++] =
        (struct image_item){true, tape->used, string.size};
    if (string.size > 0) {
        memcpy(tape->bytes + tape->used, string.at, string.size);
    }
    tape->used += string.size;
}

void
image_tape_write(struct image_tape *tape, const char *text)
{
    while (*text != '\0') {
        if (*text == ' ') {
            text++;
        } else if (*text == '"') {
            size_t size = strcspn(text + 1, "\"");
            image_tape_string(tape, (struct bytes){text + 1, size});
            text += size + 2;
        } else {
            char *end = NULL;
            image_tape_number(tape, strtoull(text, &end, 0));
            CHECK(end > text);
            text = end;
        }
    }
}

bool
image_tape_equal(const struct image_tape *a, const struct image_tape *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        const struct image_item *x = &a->items[i];
        const struct image_item *y = &b->items[i];
        if (x->is_string != y->is_string || x->size != y->size) {
            return false;
        }
        if (x->is_string ? memcmp(a->bytes + x->number, b->bytes + y->number,
                                  x->size) != 0
                         : x->number != y->number) {
            return false;
        }
    }
    return true;
}

static void
image_tape_put_number(uint64_t number, void *arg)
{
    image_tape_number(arg, number);
}

static void
image_tape_put_string(struct bytes string, void *arg)
{
    image_tape_string(arg, string);
}

void
image_tape_save(struct image_tape *tape, struct queue *queue)
{
    struct image_writer writer = {image_tape_put_number, image_tape_put_string,
                                  tape};
    image_tape_clear(tape);
    image_save(queue, &writer);
}

/* A server that finds a string instead of a number has a damaged file. */
static bool
image_tape_get_number(uint64_t *number, void *arg)
{
    struct image_tape *tape = arg;
    if (tape->at == tape->count || tape->items[tape->at].is_string) {
        return false;
    }
    *number = tape->items[tape->at++].number;
    return true;
}

static bool
image_tape_get_string(struct bytes *string, void *arg)
{
    struct image_tape *tape = arg;
    free(tape->last);
    tape->last = NULL;
    if (tape->at == tape->count || !tape->items[tape->at].is_string) {
        return false;
    }
    const struct image_item *item = &tape->items[tape->at++];
    tape->last = malloc(item->size > 0 ? item->size : 1);
    CHECK(tape->last != NULL);
    memcpy(tape->last, tape->bytes + item->number, item->size);
    *string = (struct bytes){tape->last, item->size};
    return true;
}

struct queue *
image_tape_load(struct image_tape *tape, int version, const char **error)
{
    struct image_reader reader = {image_tape_get_number, image_tape_get_string,
                                  tape};
    *error = NULL;
    tape->at = 0;
    tape->last = NULL;
    struct queue *queue = image_load(&reader, version, 64, error);
    free(tape->last);
    CHECK((queue == NULL) == (*error != NULL));
    return queue;
}
