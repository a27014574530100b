/* image_mutator.h - changes images of queues such that most of them stay valid.
 *
 * Random bytes hardly ever get past the first check of a loader. So a case
 * begins as a queue that was saved, and the mutator changes whole numbers and
 * strings: it replaces, duplicates, removes or exchanges them. Nothing has a
 * checksum here. The bytes are those that fuzz_image.c reads.
 */
#ifndef LAWN_TESTS_FUZZ_IMAGE_MUTATOR_H
#define LAWN_TESTS_FUZZ_IMAGE_MUTATOR_H

#include "args.h"
#include "image.h"

#include <stddef.h>
#include <stdint.h>

/* How a number begins in a case: a byte below IMAGE_BOUNDS is the number
 * itself, IMAGE_WIDE is followed by eight bytes, and others select one of these
 * values. */
#define IMAGE_BOUNDS 240u
#define IMAGE_WIDE 255u
static const uint64_t image_bounds[] = {
    ARGS_DUE_MAX,       ARGS_DUE_MAX + 1,        QUEUE_TIME_MAX,
    QUEUE_TIME_MAX + 1, ARGS_RESOLUTION_MAX,     ARGS_RESOLUTION_MAX + 1,
    ARGS_COUNT_MAX,     ARGS_COUNT_MAX + 1,      LAWN_NEVER - 1,
    LAWN_NEVER,         UINT64_C(1700000000000), UINT32_MAX,
    INT32_MAX,          (uint64_t)INT32_MIN,     1000,
};

/* The position of a number or a string in a case. */
#define IMAGE_TOKENS 512u
struct image_token {
    size_t at;
    size_t size;
    bool string;
};

/* Parses a case as a loader does, and returns its tokens. Defined in
 * fuzz_image.c. */
size_t image_tokens(const uint8_t *bytes, size_t size,
                    struct image_token tokens[IMAGE_TOKENS]);

#endif
