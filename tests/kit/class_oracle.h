/* class_oracle.h - the expected behavior of the classes of a lawn, in the
 * simplest way possible.
 *
 * Written from include/lawn_class.h alone. An array of timers, each with its
 * class, the time of its start and a sequence number. An operation on a class
 * visits all of its timers; deadlines are computed again from their definition
 * each time. The oracle of the lawn (oracle.h) has the clock, the resolution
 * and the other timers.
 */
#ifndef LAWN_TESTS_CLASS_ORACLE_H
#define LAWN_TESTS_CLASS_ORACLE_H

#include "oracle.h"

#define CLASS_ORACLE_MAX 64u
#define CLASS_ORACLE_NONE UINT32_MAX

enum class_oracle_place {
    CLASS_OUTSIDE, /* idle, or started without a class */
    CLASS_RUNNING,
    CLASS_DETACHED
};

struct class_oracle_timer {
    enum class_oracle_place place;
    uint32_t of;    /* its class */
    uint64_t start; /* plus the pauses and postponements since then */
    uint64_t order; /* sequence number of the start */
    uint64_t mow;   /* the mow in which it was started, or 0 */
};

/* Credit is a share of the budgets of mows, times the sum W of all weights plus
 * 1. Its exact value is not always known. */
struct class_oracle_class {
    bool used;
    bool paused;
    uint64_t paused_at;
    uint64_t ttl;
    uint32_t weight;
    uint64_t count;
    uint64_t detached;
    uint64_t starts;
    uint64_t stops;
    uint64_t fires;
    uint64_t late;
    uint64_t late_max;
    uint64_t credit_least;
    uint64_t credit_most; /* UINT64_MAX: not known */

    /* During a mow. */
    uint64_t due;         /* due timers at its beginning */
    uint64_t share_least; /* timers that have to fire */
    uint64_t share_most;  /* timers that may fire before earlier ones */
    uint64_t fired;
    uint64_t early; /* of these, the ones before timers due earlier */
};

struct class_oracle {
    const struct oracle *lawn;
    struct class_oracle_timer *timers; /* as many as lawn->many */
    struct class_oracle_class classes[CLASS_ORACLE_MAX];
    uint64_t order;
    uint64_t count; /* running timers of all classes */

    bool mowing;
    uint64_t mow;       /* number of mows, of either kind */
    uint32_t only;      /* the class that the mow fires, or CLASS_ORACLE_NONE */
    uint64_t until;     /* what the mow may fire */
    uint64_t weights;   /* W at the beginning of the mow */
    bool shares;        /* the mow may still fire shares */
    bool disturbed;     /* a callback has changed deadlines or weights */
    uint64_t mow_fired; /* timers of all kinds */
};

/* Forgets all classes and timers. The caller has set lawn and timers. */
void class_oracle_init(struct class_oracle *oracle);

void class_oracle_new(struct class_oracle *oracle, uint32_t of, uint64_t ttl);
bool class_oracle_free(struct class_oracle *oracle, uint32_t of);

void class_oracle_start(struct class_oracle *oracle, uint32_t of,
                        uint32_t timer);
bool class_oracle_stop(struct class_oracle *oracle, uint32_t timer);

void class_oracle_set_ttl(struct class_oracle *oracle, uint32_t of,
                          uint64_t ttl);
void class_oracle_scale(struct class_oracle *oracle, uint32_t of,
                        uint32_t numerator, uint32_t denominator);
void class_oracle_postpone(struct class_oracle *oracle, uint32_t of,
                           uint64_t ticks);
void class_oracle_pause(struct class_oracle *oracle, uint32_t of);
void class_oracle_resume(struct class_oracle *oracle, uint32_t of);
void class_oracle_set_weight(struct class_oracle *oracle, uint32_t of,
                             uint32_t weight);
uint64_t class_oracle_clear(struct class_oracle *oracle, uint32_t of);

/* Returns the detached timer that was started first, which becomes idle, or
 * CLASS_ORACLE_NONE. */
uint32_t class_oracle_take(struct class_oracle *oracle, uint32_t of);

/* A callback did something else that changes which timers are due. */
void class_oracle_disturb(struct class_oracle *oracle);

/* Return LAWN_NEVER for a timer that is not running in a class, and if there is
 * none. */
uint64_t class_oracle_deadline(const struct class_oracle *oracle,
                               uint32_t timer);
uint64_t class_oracle_first(const struct class_oracle *oracle, uint32_t of);
uint64_t class_oracle_last(const struct class_oracle *oracle, uint32_t of);

/* Returns the earliest deadline of the classes that are not paused. */
uint64_t class_oracle_next(const struct class_oracle *oracle);

uint64_t class_oracle_forecast(const struct class_oracle *oracle, uint32_t of,
                               uint64_t ticks, uint64_t limit);

/* A mow begins, after oracle_mow() or oracle_set_now(); `only` is a class for
 * lawn_class_mow(), or CLASS_ORACLE_NONE. Timers fire in it: of a class, or
 * with this deadline and without a class. It ends; all: it had budget left and
 * was not halted. All but the first return NULL, or the broken promise. */
void class_oracle_mow(struct class_oracle *oracle, uint32_t only, uint64_t now,
                      size_t budget);
const char *class_oracle_fire(struct class_oracle *oracle, uint32_t timer);
const char *class_oracle_fire_other(struct class_oracle *oracle,
                                    uint64_t deadline);
const char *class_oracle_mown(struct class_oracle *oracle, size_t budget,
                              bool all, bool halted);

#endif
