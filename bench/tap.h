/* tap.h - a contender that passes all on to another, and tells what happened.
 *
 *     struct tap tap;
 *     const struct contender *tapped = tap_wrap(&tap, inner, note, arg);
 *
 * The tapped contender runs wherever the inner one does, one run at a time: of
 * all taps, only the one that was wrapped last can be made.
 */
#ifndef LAWN_BENCH_TAP_H
#define LAWN_BENCH_TAP_H

#include "contender.h"

enum tap_kind {
    TAP_START, /* or a restart */
    TAP_STOP,  /* of a running timer */
    TAP_FIRE,
};

struct tap_event {
    uint64_t now;
    enum tap_kind kind;
    uint32_t id;
    uint64_t ttl; /* that the timer was started with last */
};

typedef void tap_sink_fn(const struct tap_event *event, void *arg);

struct tap {
    struct contender contender;
    const struct contender *inner;
    void *self; /* the inner one's */
    tap_sink_fn *sink;
    void *arg;
    uint64_t now;
    contender_fire_fn *fire; /* of the mow under way */
    void *fire_arg;
};

/* Wraps inner: each start, stop and firing is told to sink after it was done,
 * a firing before its callback runs. The tap has to outlive what is made of
 * it. */
const struct contender *tap_wrap(struct tap *tap, const struct contender *inner,
                                 tap_sink_fn *sink, void *arg);

#endif
