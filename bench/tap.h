/* tap.h - a contender that wraps another one and reports its operations.
 *
 *     struct tap tap;
 *     const struct contender *tapped = tap_wrap(&tap, inner, note, arg);
 *
 * The wrapper runs wherever the inner contender does, one run at a time. Its
 * make() uses the tap of the latest tap_wrap().
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
    uint64_t ttl; /* of the timer's last start */
};

typedef void tap_sink_fn(const struct tap_event *event, void *arg);

struct tap {
    struct contender contender;
    const struct contender *inner;
    void *self; /* of the inner contender */
    tap_sink_fn *sink;
    void *arg;
    uint64_t now;
    contender_fire_fn *fire; /* of the current mow */
    void *fire_arg;
};

/* Wraps inner. Calls sink after each start and stop, and for each firing before
 * its callback runs. The tap must outlive the wrapper. */
const struct contender *tap_wrap(struct tap *tap, const struct contender *inner,
                                 tap_sink_fn *sink, void *arg);

#endif
