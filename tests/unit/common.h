/* common.h - a scene: a lawn, numbered timers, and a record of what fired.
 *
 * Whatever a test is about, each firing in a scene is checked against P1 (not
 * early), P3 (fired once per start), P4 (deadlines in order, across mows too)
 * and P6 (idle in its callback), and lawn_check() runs after each mow.
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

/* Where timers stand: on blades; alone, since other timers hold all blades;
 * alone in an index of many small levels. */
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
    scene_act_fn *act; /* what the callback does, or NULL */
    uint64_t mowing;   /* the time given to the mow under way */
    uint64_t last_due; /* the deadline of the timer that fired last */
    unsigned fired;    /* how many stand in id and due */
    unsigned id[LOG_MAX];
    uint64_t due[LOG_MAX];
    struct probe probe[PROBES];
    struct probe *crowd; /* the timers that hold the blades */
    unsigned crowded;    /* how many they are */
};

void scene_begin(struct scene *scene, enum ground ground);
void scene_begin_with(struct scene *scene, const struct lawn_options *options);
void scene_end(struct scene *scene);

/* Starts timers that hold all blades, due at LAST - 1. */
void scene_crowd(struct scene *scene);

/* By number, or any probe of the test's own. */
void start(struct scene *scene, unsigned id, uint64_t ttl);
void start_at(struct scene *scene, unsigned id, uint64_t deadline);
bool stop(struct scene *scene, unsigned id);
bool pending(const struct scene *scene, unsigned id);
void start_probe(struct scene *scene, struct probe *probe, uint64_t ttl);

/* How many of the test's own timers are running. */
uint64_t running(const struct scene *scene);

/* With a budget, or without one. */
size_t mow_some(struct scene *scene, uint64_t now, size_t budget);
size_t mow(struct scene *scene, uint64_t now);
/* Without the check of the whole lawn, for many mows of very many timers. */
size_t mow_unchecked(struct scene *scene, uint64_t now);

void check_fired(struct scene *scene, const unsigned *ids, size_t count,
                 const char *file, int line);

/* These fired since the last such check, in this order; none: NONE_FIRED. */
#define CHECK_FIRED(scene, ...)                                                \
    check_fired(scene, (const unsigned[]){__VA_ARGS__},                        \
                COUNT(((const unsigned[]){__VA_ARGS__})), __FILE__, __LINE__)
#define CHECK_NONE_FIRED(scene) check_fired(scene, NULL, 0, __FILE__, __LINE__)

/* A source of numbers that look random and are the same in each run. */
uint64_t chance(uint64_t *state);

#endif
