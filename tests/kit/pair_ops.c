/* pair_ops.c - two lawns that must fire identically: see pair_ops.h. */
#include "pair_ops.h"

#include <stdlib.h>

#define PAIR_ROOM 65536u

static void
pair_differ(struct ops_result *result, const struct ops_log *a,
            const struct ops_log *b, size_t at)
{
    static const struct ops_firing none;
    const struct ops_firing *x = at < a->length ? &a->firings[at] : &none;
    const struct ops_firing *y = at < b->length ? &b->firings[at] : &none;

    (void)snprintf(result->message, sizeof(result->message),
                   "P4: of %zu and %zu firings number %zu is of timer %u, due "
                   "at %llu, now %llu; and of timer %u, due at %llu, now %llu",
                   a->length, b->length, at, x->timer,
                   (unsigned long long)x->deadline, (unsigned long long)x->now,
                   y->timer, (unsigned long long)y->deadline,
                   (unsigned long long)y->now);
}

/* Returns whether both fired the same; if not, the result has the
 * difference. */
static bool
pair_alike(struct ops_result *result, const struct ops_log *a,
           const struct ops_log *b)
{
    size_t most = a->length > b->length ? a->length : b->length;
    size_t i = 0;

    for (i = 0; i < most && i < PAIR_ROOM; i++) {
        const struct ops_firing *x = &a->firings[i];
        const struct ops_firing *y = &b->firings[i];

        if (i >= a->length || i >= b->length || x->timer != y->timer ||
            x->deadline != y->deadline || x->now != y->now) {
            pair_differ(result, a, b, i);
            return false;
        }
    }
    if (a->length != b->length) {
        pair_differ(result, a, b, i);
        return false;
    }
    return true;
}

bool
pair_ops_run(const struct ops_config *given, const uint8_t *bytes, size_t size,
             struct ops_result *result, uint64_t pieces, ops_run_fn *second)
{
    static struct ops_firing firings[2][PAIR_ROOM];
    struct ops_config config = *given;
    struct ops_log logs[2] = {{firings[0], PAIR_ROOM, 0},
                              {firings[1], PAIR_ROOM, 0}};

    config.determined = true;
    config.log = &logs[0];
    struct ops_result first;
    bool passed = ops_run(&config, bytes, size, &first);
    *result = first;
    if (passed) {
        config.log = &logs[1];
        config.pieces = pieces;
        if (config.trace != NULL) {
            (void)fprintf(config.trace, "the second one:\n");
        }
        passed = second(&config, bytes, size, result);
        result->operations += first.operations;
    }
    passed = passed && pair_alike(result, &logs[0], &logs[1]);
    if (!passed && config.trace != NULL) {
        (void)fprintf(config.trace, "BROKEN: %s\n", result->message);
    }
    if (!passed && config.fatal) {
        abort();
    }
    return passed;
}

bool
pieces_ops_run(const struct ops_config *config, const uint8_t *bytes,
               size_t size, struct ops_result *result)
{
    uint64_t seed = 1;

    for (size_t i = 0; i < size; i++) {
        seed = (seed ^ bytes[i]) * UINT64_C(0x100000001B3);
    }
    return pair_ops_run(config, bytes, size, result, seed | 1, ops_run);
}

bool
naive_pair_ops_run(const struct ops_config *config, const uint8_t *bytes,
                   size_t size, struct ops_result *result)
{
    if (naive_ops_run == NULL) {
        (void)fprintf(stderr, "pair_ops: there is no naive lawn to compare "
                              "with: link build/naive/naive.o\n");
        abort();
    }
    return pair_ops_run(config, bytes, size, result, 0, naive_ops_run);
}
