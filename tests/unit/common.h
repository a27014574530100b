/* common.h - a scene: a lawn, numbered timers, and a log of fired timers.
 *
 * Each fire in a scene is checked against P1 (not early), P3 (fired once per
 * start), P4 (deadlines in order, also across mows) and P6 (idle in its
 * callback). lawn_check() runs after each mow.
 */
#ifndef LAWN_TESTS_UNIT_COMMON_H
#define LAWN_TESTS_UNIT_COMMON_H

#include "kit.h"
#include "lawn.h"

#define PROBES 64u
#define LOG_MAX 4096u
#define LAST (LAWN_NEVER - 1)

/* The number of elements of an array. */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Where timers are linked: on blades; unqueued, because other timers hold all
 * blades; unqueued in an index of many small levels. */
enum ground { BLADES, UNQUEUED, UNQUEUED_SMALL, GROUNDS };

struct probe {
    struct lawn_timer timer;
    unsigned id;
    uint64_t due;
};

struct scene;
typedef void scene_act_fn(struct scene *scene, struct probe *probe);

struct scene {
    struct lawn *lawn;
    scene_act_fn *act; /* called by the callback, or NULL */
    uint64_t mowing;   /* the time passed to the current mow */
    uint64_t last_due; /* the deadline of the timer that fired last */
    unsigned fired;    /* number of entries in id and due */
    unsigned id[LOG_MAX];
    uint64_t due[LOG_MAX];
    struct probe probe[PROBES];
    struct probe *crowd; /* the timers that occupy the blades */
    unsigned crowded;    /* number of timers in crowd */
};

void scene_begin(struct scene *scene, enum ground ground);
void scene_begin_with(struct scene *scene, const struct lawn_options *options);
void scene_end(struct scene *scene);

/* Starts timers that occupy all blades, due at LAST - 1. */
void scene_crowd(struct scene *scene);

/* Start and stop a timer by number, or any probe of the test. */
void start(struct scene *scene, unsigned id, uint64_t ttl);
void start_at(struct scene *scene, unsigned id, uint64_t deadline);
bool stop(struct scene *scene, unsigned id);
bool pending(const struct scene *scene, unsigned id);
void start_probe(struct scene *scene, struct probe *probe, uint64_t ttl);

/* Returns the number of running timers, without those of crowd. */
uint64_t running(const struct scene *scene);

/* Mow with a budget, or without one. */
size_t mow_some(struct scene *scene, uint64_t now, size_t budget);
size_t mow(struct scene *scene, uint64_t now);
/* Mow without lawn_check(), for many mows of very many timers. */
size_t mow_unchecked(struct scene *scene, uint64_t now);
size_t mow_some_unchecked(struct scene *scene, uint64_t now, size_t budget);

void check_fired(struct scene *scene, const unsigned *ids, size_t count,
                 const char *file, int line);

/* Checks that exactly these timers fired since the last such check, in this
 * order; none: NONE_FIRED. */
#define CHECK_FIRED(scene, ...)                                                \
    check_fired(scene, (const unsigned[]){__VA_ARGS__},                        \
                COUNT(((const unsigned[]){__VA_ARGS__})), __FILE__, __LINE__)
#define CHECK_NONE_FIRED(scene) check_fired(scene, NULL, 0, __FILE__, __LINE__)

/* Returns pseudo-random numbers that are the same in each run. */
uint64_t chance(uint64_t *state);

#endif
