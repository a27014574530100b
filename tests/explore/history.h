/* history.h - was what happened to a timer possible?
 *
 * Each operation on a timer, and each firing, is an event with a beginning and an
 * end. They must be the same as if each had happened at one moment in between,
 * one after the other [C1 C2]:
 *
 *     start   makes the timer run; but a start by another thread than the timer's
 *             own may take two moments: it stops the timer, and then starts it
 *     stop    true if it was running, which it is not any more; else false. One
 *             that waits may do so several times, and returns it once
 *     fire    it was running and due [P1], and is not running any more
 *     left    it was running, and is not any more
 *
 * All orders are tried that the beginnings and ends allow. */
#ifndef LAWN_EXPLORE_HISTORY_H
#define LAWN_EXPLORE_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#define HISTORY_MAX 16

enum history_kind { HISTORY_START, HISTORY_STOP, HISTORY_FIRE, HISTORY_LEFT };

struct history_event {
    enum history_kind kind;
    unsigned began;
    unsigned ended;
    unsigned late;     /* of the caller's */
    bool moments;      /* a start that may take two; a stop, many */
    bool result;       /* of a stop */
    uint64_t deadline; /* of a start; of a firing, as the callback saw it */
    uint64_t time;     /* of a firing */
};

struct history {
    unsigned count;
    struct history_event events[HISTORY_MAX];
};

/* Whether it was possible, and the timer runs, or does not, in the end. A start
 * whose deadline has passed when the worker takes it may count as one for a later
 * time, up to a tick after the clock, which has stood at the times in clocks,
 * ended by 0, and long enough at each. So if it runs in the end, it must be due
 * after now, or now is one of them. */
bool history_possible(const struct history *history, bool runs, uint64_t now,
                      const uint64_t *clocks);

/* For traces and failures. */
void history_format(const struct history *history, char *text, unsigned size);

#endif
