/* fuzz_image.c - the fuzzer's bytes as an image of a queue, in its own format
 * or ReDe's: see module/image.h.
 *
 * The first byte selects the format, the second the number of allocations until
 * memory runs out. The loader reads the rest: a number is a byte, one of a few
 * bounds, or eight bytes; a string is its size and its bytes, or a long string
 * of zeros.
 *
 * Cases are made from queues that were saved: see image_mutator.h.
 *
 * A loaded image takes no more memory than it has bytes, times a factor, and
 * leaks none. A loaded queue holds all invariants, loads again as the same
 * queue after it was saved, and yields its events in order.
 */
#include "../module/memory_kit.h"
#include "args.h"
#include "fuzz.h"
#include "image.h"
#include "image_mutator.h"

#include <stdlib.h>

/* Memory limits: for an empty queue, and for each byte that was read. */
#define FUZZ_EMPTY 30000u
#define FUZZ_PER_BYTE 32u
#define FUZZ_TAPE 65536u
/* The position of the greatest token among the numbers of an image. */
#define FUZZ_TOKEN 12u

struct fuzz_input {
    const uint8_t *at;
    size_t left;
    uint64_t read;   /* bytes, as in a file */
    uint64_t before; /* memory in use before the load */
    uint64_t number; /* the last number */
    uint64_t token;  /* the greatest token, from the beginning of the image */
    unsigned numbers;
    char *last;
};

struct fuzz_tape {
    struct fuzz_item {
        uint64_t number;
        struct bytes string; /* in the queue */
    } items[FUZZ_TAPE];
    size_t count;
    size_t at;
};

static struct fuzz_tape fuzz_tape;

static bool
fuzz_byte(struct fuzz_input *input, uint8_t *byte)
{
    if (input->left == 0) {
        return false;
    }
    *byte = *input->at++;
    input->left--;
    return true;
}

static void
fuzz_bounded(const struct fuzz_input *input)
{
    fuzz_check(memory_bytes() - input->before <=
               FUZZ_EMPTY + FUZZ_PER_BYTE * input->read);
}

static bool
fuzz_number(uint64_t *number, void *arg)
{
    struct fuzz_input *input = arg;
    fuzz_bounded(input);
    uint8_t byte = 0;
    if (!fuzz_byte(input, &byte)) {
        return false;
    }
    *number = byte;
    input->read += 2;
    if (byte == IMAGE_WIDE) {
        *number = 0;
        input->read += 7;
        for (unsigned i = 0; i < 8; i++) {
            if (!fuzz_byte(input, &byte)) {
                return false;
            }
            *number = *number << 8 | byte;
        }
    } else if (byte >= IMAGE_BOUNDS) {
        *number = image_bounds[byte - IMAGE_BOUNDS];
        input->read += 7;
    }
    input->number = *number;
    input->numbers++;
    if (input->numbers == FUZZ_TOKEN) {
        input->token = *number;
    }
    return true;
}

/* Reads a string into memory of exactly its size, valid until the next
 * string. */
static bool
fuzz_string(struct bytes *string, void *arg)
{
    struct fuzz_input *input = arg;
    fuzz_bounded(input);
    free(input->last);
    input->last = NULL;
    uint8_t byte = 0;
    if (!fuzz_byte(input, &byte)) {
        return false;
    }
    size_t size = byte < 240 ? byte : QUEUE_ID_MAX - 248u + byte;
    if (byte < 240 && size > input->left) {
        return false;
    }
    input->last = calloc(1, size > 0 ? size : 1);
    fuzz_check(input->last != NULL);
    if (byte < 240) {
        memcpy(input->last, input->at, size);
        input->at += size;
        input->left -= size;
    }
    input->read += 2 + size;
    *string = (struct bytes){input->last, size};
    return true;
}

static void
fuzz_save_number(uint64_t number, void *arg)
{
    (void)arg;
    fuzz_check(fuzz_tape.count < FUZZ_TAPE);
    fuzz_tape.items[fuzz_tape.count++].number = number;
}

static void
fuzz_save_string(struct bytes string, void *arg)
{
    (void)arg;
    fuzz_check(fuzz_tape.count < FUZZ_TAPE);
    fuzz_tape.items[fuzz_tape.count++].string = string;
}

static bool
fuzz_load_number(uint64_t *number, void *arg)
{
    (void)arg;
    fuzz_check(fuzz_tape.at < fuzz_tape.count);
    *number = fuzz_tape.items[fuzz_tape.at++].number;
    return true;
}

static bool
fuzz_load_string(struct bytes *string, void *arg)
{
    (void)arg;
    fuzz_check(fuzz_tape.at < fuzz_tape.count);
    *string = fuzz_tape.items[fuzz_tape.at++].string;
    return true;
}

static bool
fuzz_same(const struct queue_event *event, void *other)
{
    struct queue_event twin;
    fuzz_check(queue_get(other, event->id, &twin));
    fuzz_check(bytes_equal(event->payload, twin.payload));
    fuzz_check(event->due == twin.due);
    fuzz_check(event->repeat.period == twin.repeat.period);
    fuzz_check(event->repeat.times == twin.repeat.times);
    fuzz_check(event->repeat.missed == twin.repeat.missed);
    fuzz_check(event->tries.made == twin.tries.made);
    fuzz_check(event->tries.most == twin.tries.most);
    fuzz_check(event->lease.token == twin.lease.token);
    fuzz_check(event->lease.end == twin.lease.end);
    fuzz_check(bytes_equal(event->lease.owner, twin.lease.owner));
    return true;
}

static void
fuzz_same_queue(struct queue *queue, struct queue *twin)
{
    const struct queue_sink *sink = queue_sink_of(queue);
    const struct queue_sink *other = queue_sink_of(twin);
    fuzz_check(queue_count(twin) == queue_count(queue));
    fuzz_check(queue_now(twin) == queue_now(queue));
    fuzz_check(queue_token(twin) == queue_token(queue));
    fuzz_check(sink->kind == other->kind && sink->maxlen == other->maxlen);
    fuzz_check(bytes_equal(sink->to, other->to));
    fuzz_check(bytes_equal(sink->dead, other->dead));
    fuzz_check(queue_idle(twin) == queue_idle(queue));
    fuzz_check(queue_each(queue, fuzz_same, twin));
}

/* An event that was marked dead ahead of its time is leased again after a
 * load. */
static struct queue *
fuzz_again(struct queue *queue)
{
    struct image_writer writer = {fuzz_save_number, fuzz_save_string, NULL};
    struct image_reader reader = {fuzz_load_number, fuzz_load_string, NULL};
    const char *error = NULL;
    fuzz_tape.count = fuzz_tape.at = 0;
    image_save(queue, &writer);
    struct queue *again = image_load(&reader, IMAGE_VERSION, 64, &error);
    fuzz_check(again != NULL && error == NULL);
    fuzz_check(fuzz_tape.at == fuzz_tape.count);
    fuzz_check(queue_check(again, stderr));
    fuzz_same_queue(queue, again);
    fuzz_check(queue_next(again) == queue_next(queue) ||
               queue_dead_count(again) < queue_dead_count(queue));
    return again;
}

static void
fuzz_drain(struct queue *queue)
{
    const void *cursor = NULL;
    uint64_t count = 0;
    uint64_t due = 0;
    fuzz_check(queue_promote_due(queue, ARGS_DUE_MAX, 3) <= queue_count(queue));
    fuzz_check(queue_check(queue, stderr));
    fuzz_check(queue_promote_due(queue, ARGS_DUE_MAX, UINT64_MAX) +
                   queue_dead_count(queue) ==
               queue_count(queue));
    struct queue_event event;
    while (queue_ready(queue, &cursor, &event)) {
        uint64_t time = event.lease.token ? event.lease.end : event.due;
        fuzz_check(queue_state_at(&event, ARGS_DUE_MAX) == QUEUE_DUE);
        fuzz_check(time >= due && time <= ARGS_DUE_MAX);
        due = time;
        count++;
    }
    cursor = NULL;
    while (queue_dead(queue, &cursor, &event)) {
        fuzz_check(queue_state_at(&event, ARGS_DUE_MAX) == QUEUE_DEAD);
        count++;
    }
    fuzz_check(count == queue_count(queue));
    fuzz_check(queue_leased_count(queue) == 0);
    fuzz_check(queue_check(queue, stderr));
}

/* TOKENS, for the mutator */

struct fuzz_notes {
    struct fuzz_input input;
    struct image_token *tokens;
    size_t count;
    const uint8_t *begin;
};

static bool
fuzz_noted(struct fuzz_notes *notes, const uint8_t *from, bool string,
           bool good)
{
    if (good && notes->count < IMAGE_TOKENS) {
        notes->tokens[notes->count++] =
            (struct image_token){(size_t)(from - notes->begin),
                                 (size_t)(notes->input.at - from), string};
    }
    return good;
}

static bool
fuzz_note_number(uint64_t *number, void *arg)
{
    struct fuzz_notes *notes = arg;
    const uint8_t *from = notes->input.at;
    return fuzz_noted(notes, from, false, fuzz_number(number, &notes->input));
}

static bool
fuzz_note_string(struct bytes *string, void *arg)
{
    struct fuzz_notes *notes = arg;
    const uint8_t *from = notes->input.at;
    return fuzz_noted(notes, from, true, fuzz_string(string, &notes->input));
}

size_t
image_tokens(const uint8_t *bytes, size_t size,
             struct image_token tokens[IMAGE_TOKENS])
{
    const char *error = NULL;
    struct fuzz_notes notes = {
        .input = {.at = bytes + 2, .left = size - 2, .before = memory_bytes()},
        .tokens = tokens,
        .begin = bytes};
    struct image_reader reader = {fuzz_note_number, fuzz_note_string, &notes};
    if (size < 2) {
        return 0;
    }
    queue_free(image_load(&reader, bytes[0] % 3, 64, &error));
    free(notes.input.last);
    return notes.count;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *error = NULL;
    uint64_t blocks = memory_blocks();
    struct fuzz_input input = {.at = bytes + 2, .before = memory_bytes()};
    struct image_reader reader = {fuzz_number, fuzz_string, &input};
    if (size < 2) {
        return 0;
    }
    input.left = size - 2;
    memory_fail_after(bytes[1] < 255 ? bytes[1] : UINT64_MAX);
    struct queue *queue = image_load(&reader, bytes[0] % 3, 64, &error);
    memory_fail_after(UINT64_MAX);
    free(input.last);
    fuzz_check((queue == NULL) == (error != NULL));
    if (queue != NULL) {
        fuzz_check(queue_check(queue, stderr));
        /* The queue has the number of events and the greatest token of the
         * image. */
        if (bytes[0] % 3 == IMAGE_VERSION) {
            fuzz_check(queue_count(queue) == input.number);
            fuzz_check(queue_token(queue) == input.token);
        }
        struct queue *again = fuzz_again(queue);
        fuzz_drain(again);
        queue_free(fuzz_again(again));
        queue_free(again);
        fuzz_drain(queue);
        queue_free(queue);
    }
    fuzz_check(memory_blocks() == blocks);
    return 0;
}
