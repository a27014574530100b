/* history.c - see history.h: a depth-first search. */
#include "history.h"

#include <stdio.h>

struct search {
    const struct history *history;
    bool runs;
    uint64_t now;
    const uint64_t *clocks;
    unsigned done;    /* a bit for each event */
    unsigned stopped; /* running events that have stopped the timer */
};

struct timer {
    bool running;
    uint64_t deadline;
};

static bool find_order(struct search *search, struct timer timer);

/* Returns whether no remaining event ended before this one began. */
static bool
can_be_next(const struct search *s, unsigned which)
{
    for (unsigned i = 0; i < s->history->count; i++) {
        if ((s->done >> i & 1) == 0 &&
            s->history->events[i].ended < s->history->events[which].began) {
            return false;
        }
    }
    return true;
}

static bool
can_become(const struct search *s, uint64_t deadline, uint64_t due)
{
    for (const uint64_t *clock = s->clocks; *clock != 0; clock++) {
        if (deadline <= due && deadline <= *clock && due <= *clock + 1) {
            return true;
        }
    }
    return due == deadline;
}

static bool
happens(const struct search *s, unsigned which, struct timer *timer)
{
    const struct history_event *event = &s->history->events[which];

    switch (event->kind) {
    case HISTORY_START:
        timer->running = true;
        timer->deadline = event->deadline;
        return true;
    case HISTORY_STOP:
        if (event->result !=
            (timer->running || (s->stopped >> which & 1) != 0)) {
            return false;
        }
        break;
    case HISTORY_FIRE:
        if (!timer->running || event->time < timer->deadline ||
            !can_become(s, timer->deadline, event->deadline)) {
            return false;
        }
        break;
    case HISTORY_LEFT:
        if (!timer->running) {
            return false;
        }
        break;
    }
    timer->running = false;
    return true;
}

static bool
is_clock(const struct search *s, uint64_t now)
{
    const uint64_t *clock = s->clocks;

    while (*clock != 0 && *clock != now) {
        clock++;
    }
    return *clock != 0;
}

/* A start stops the timer at most once. */
static bool
can_stop(const struct search *s, unsigned which)
{
    return s->history->events[which].kind == HISTORY_STOP ||
           (s->stopped >> which & 1) == 0;
}

static bool
find_order(struct search *s, struct timer timer)
{
    if (s->done == (1u << s->history->count) - 1) {
        return timer.running == s->runs &&
               (!timer.running || timer.deadline > s->now ||
                is_clock(s, s->now));
    }
    for (unsigned i = 0; i < s->history->count; i++) {
        const struct history_event *event = &s->history->events[i];
        struct timer next = timer;

        if ((s->done >> i & 1) != 0 || !can_be_next(s, i)) {
            continue;
        }
        if (happens(s, i, &next)) {
            s->done |= 1u << i;
            if (find_order(s, next)) {
                return true;
            }
            s->done &= ~(1u << i);
        }
        if (event->moments && timer.running && can_stop(s, i)) {
            unsigned stopped = s->stopped;

            next.running = false;
            s->stopped |= 1u << i;
            if (find_order(s, next)) {
                return true;
            }
            s->stopped = stopped;
        }
    }
    return false;
}

bool
history_possible(const struct history *history, bool runs, uint64_t now,
                 const uint64_t *clocks)
{
    struct search s = {history, runs, now, clocks, 0, 0};
    struct timer timer = {false, 0};

    return find_order(&s, timer);
}

void
history_format(const struct history *history, char *text, unsigned size)
{
    static const char *const names[] = {"start", "stop", "fire", "left"};
    unsigned at = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < history->count && at + 50 < size; i++) {
        const struct history_event *event = &history->events[i];

        at += (unsigned)snprintf(text + at, size - at, "%s%s [%u,%u]",
                                 i > 0 ? ", " : "", names[event->kind],
                                 event->began, event->ended);
        if (event->kind == HISTORY_STOP) {
            at += (unsigned)snprintf(text + at, size - at, " %s",
                                     event->result ? "true" : "false");
        } else {
            at += (unsigned)snprintf(text + at, size - at, " %llu",
                                     (unsigned long long)event->deadline);
        }
    }
}
