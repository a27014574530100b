/* image_mutator.c - see image_mutator.h. */
#include "image_mutator.h"

#include "memory_kit.h"
#include "rng.h"

#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most,
                               unsigned seed);

#define IMAGE_EVENTS 12u

struct image_tape {
    uint8_t *at;
    size_t left;
};

static void
image_put(struct image_tape *tape, const void *bytes, size_t size)
{
    if (size > 0 && size <= tape->left) {
        memcpy(tape->at, bytes, size);
        tape->at += size;
        tape->left -= size;
    } else if (size > 0) {
        tape->left = 0; /* truncated */
    }
}

static void
image_put_number(uint64_t number, void *arg)
{
    uint8_t bytes[9] = {(uint8_t)number};

    if (number < IMAGE_BOUNDS) {
        image_put(arg, bytes, 1);
        return;
    }
    for (unsigned i = 0; i < sizeof(image_bounds) / sizeof(*image_bounds);
         i++) {
        if (image_bounds[i] == number) {
            bytes[0] = (uint8_t)(IMAGE_BOUNDS + i);
            image_put(arg, bytes, 1);
            return;
        }
    }
    bytes[0] = IMAGE_WIDE;
    for (unsigned i = 0; i < 8; i++) {
        bytes[1 + i] = (uint8_t)(number >> (56 - 8 * i));
    }
    image_put(arg, bytes, 9);
}

/* Appends a string; strings are short here. */
static void
image_put_string(struct bytes string, void *arg)
{
    uint8_t size = (uint8_t)(string.size < IMAGE_BOUNDS ? string.size : 0);

    image_put(arg, &size, 1);
    image_put(arg, string.at, size);
}

/* Pushes an event as a user could. */
static void
image_fill_one(struct queue *queue, struct rng *rng, uint64_t *token)
{
    char id[2] = {'e', (char)('a' + rng_below(rng, IMAGE_EVENTS))};
    struct queue_event event = {.id = {id, 1 + rng_below(rng, 2)}};
    uint64_t now = queue_now(queue);

    event.payload = (struct bytes){"payload", rng_below(rng, 8)};
    event.alone = rng_below(rng, 4) == 0;
    event.ttl = rng_below(rng, 4) == 0 ? rng_below(rng, 100000)
                                       : 10 * rng_below(rng, 5);
    event.due = now + event.ttl;
    if (rng_below(rng, 3) == 0) {
        event.repeat.period = 1 + rng_below(rng, 1000);
        event.repeat.times = rng_below(rng, 4);
        event.repeat.missed = rng_below(rng, 3);
    }
    if (rng_below(rng, 3) == 0) {
        event.tries.most = (uint32_t)rng_below(rng, 4);
    }
    (void)queue_put(queue, &event);
    if (rng_below(rng, 3) == 0) {
        struct queue_lease lease = {.token = ++*token,
                                    .ttl = rng_below(rng, 50),
                                    .owner = {"owner", rng_below(rng, 6)}};

        lease.end = now + lease.ttl;
        event.tries.made = (uint32_t)(1 + rng_below(rng, 3));
        (void)queue_lease_event(queue, event.id, &lease, event.tries, NULL);
    }
}

/* Saves a queue after some operations. */
static size_t
image_make(uint8_t *bytes, size_t most, struct rng *rng)
{
    struct image_tape tape = {bytes + 2, most - 2};
    struct image_writer writer = {image_put_number, image_put_string, &tape};
    struct queue *queue = queue_new(rng_below(rng, 2000), 64);
    uint64_t token = rng_below(rng, 3);

    if (queue == NULL) {
        return 0;
    }
    struct queue_settings *settings = queue_settings_of(queue);
    settings->max_events = rng_below(rng, 3);
    settings->overflow =
        rng_below(rng, 2) == 0 ? QUEUE_REJECT : QUEUE_DROP_OLDEST;
    settings->resolution = rng_below(rng, 3);
    settings->paused = rng_below(rng, 4) == 0;
    settings->tries = rng_below(rng, 3);
    settings->lease = rng_below(rng, 3) * 1000;
    if (rng_below(rng, 3) == 0) {
        struct queue_sink sink = {.kind = QUEUE_SINK_STREAM,
                                  .to = {"stream", 6},
                                  .maxlen = rng_below(rng, 10),
                                  .dead = {"dead", rng_below(rng, 2) * 4}};

        (void)queue_set_sink(queue, &sink);
    }
    uint64_t i = 0;
    for (i = rng_below(rng, IMAGE_EVENTS); i > 0; i--) {
        image_fill_one(queue, rng, &token);
        queue_set_now(queue, queue_now(queue) + rng_below(rng, 8));
        if (rng_below(rng, 4) == 0) {
            (void)queue_promote_due(queue,
                                    queue_now(queue) + rng_below(rng, 40), 2);
        }
    }
    bytes[0] = IMAGE_VERSION;
    bytes[1] = UINT8_MAX;
    image_save(queue, &writer);
    queue_free(queue);
    return (size_t)(tape.at - bytes);
}

/* Replaces a token by the `many` bytes at `by`. */
static size_t
image_replace(uint8_t *bytes, size_t size, size_t most,
              const struct image_token *token, const uint8_t *by, size_t many)
{
    if (size - token->size + many > most) {
        return size;
    }
    memmove(bytes + token->at + many, bytes + token->at + token->size,
            size - token->at - token->size);
    memcpy(bytes + token->at, by, many);
    return size - token->size + many;
}

static size_t
image_change(uint8_t *bytes, size_t size, size_t most, struct rng *rng)
{
    static struct image_token tokens[IMAGE_TOKENS];
    size_t count = image_tokens(bytes, size, tokens);
    uint8_t text[512];
    struct image_tape tape = {text, sizeof(text)};

    if (count == 0) {
        return size;
    }
    const struct image_token *token = &tokens[rng_below(rng, count)];
    const struct image_token *other = &tokens[rng_below(rng, count)];
    switch (rng_below(rng, 6)) {
    case 0: /* removed */
        return image_replace(bytes, size, most, token, text, 0);
    case 1: /* duplicated */
        image_put(&tape, bytes + token->at, token->size);
        image_put(&tape, bytes + token->at, token->size);
        break;
    case 2: /* replaced by another token */
        image_put(&tape, bytes + other->at, other->size);
        break;
    case 3: /* followed by another token */
        image_put(&tape, bytes + token->at, token->size);
        image_put(&tape, bytes + other->at, other->size);
        break;
    default:
        if (token->string) {
            image_put_string((struct bytes){"eabcdef", rng_below(rng, 8)},
                             &tape);
        } else if (rng_below(rng, 2) == 0) {
            image_put_number(rng_below(rng, 8), &tape);
        } else {
            uint8_t bound = (uint8_t)(IMAGE_BOUNDS + rng_below(rng, 15));

            image_put(&tape, &bound, 1);
        }
    }
    return image_replace(bytes, size, most, token, text,
                         (size_t)(tape.at - text));
}

size_t
LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed)
{
    struct rng rng = {seed};
    uint64_t what = rng_below(&rng, 32);

    if (most < 64 || what > 20) {
        return LLVMFuzzerMutate(bytes, size, most);
    }
    if (what == 0 || size < 3) {
        size = image_make(bytes, most, &rng);
    }
    do {
        size = image_change(bytes, size, most, &rng);
    } while (rng_below(&rng, 3) == 0);
    return size;
}
