/* history.h - checks whether the events of a timer were possible.
 *
 * Each operation on a timer, and each fire, is an event with a beginning and an
 * end. The results must be the same as if each event had happened at one moment
 * in between, one after the other [C1 C2]:
 *
 *     start   makes the timer run; a start by another thread than the owner may
 *             take two moments: it stops the timer, and then starts it
 *     stop    true if the timer was running, and it then stops; else false. A
 *             stop_sync may stop it several times, and returns true once
 *     fire    the timer was running and due [P1], and stops running
 *     left    the timer was running, and stops running
 *
 * All orders that the beginnings and ends allow are tried. */
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
    unsigned late;     /* the bit of the calling fibre, while its stores are
                        * delayed */
    bool moments;      /* a start that may take two moments; a stop, many */
    bool result;       /* of a stop */
    uint64_t deadline; /* of a start; of a fire, as seen by the callback */
    uint64_t time;     /* of a fire */
};

struct history {
    unsigned count;
    struct history_event events[HISTORY_MAX];
};

/* Returns whether the history was possible, with the timer running or not in
 * the end. If the deadline of a start has passed when a worker takes the start,
 * the timer may get a later deadline: at most a tick after the time that the
 * clock shows then. `clocks`, ended by 0, lists these times. A timer that still
 * runs must be due after now. If now is in `clocks`, it may also be due
 * earlier, because a worker may have moved it to the next tick. */
bool history_possible(const struct history *history, bool runs, uint64_t now,
                      const uint64_t *clocks);

/* Formats a history for traces and failures. */
void history_format(const struct history *history, char *text, unsigned size);

#endif
