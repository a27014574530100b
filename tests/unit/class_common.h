/* class_common.h - a yard: a lawn with classes, numbered timers, and a log of
 * fired timers.
 *
 * Each fire is checked against P1 (not early) and P6 (idle in its callback).
 * lawn_check() runs after each mow.
 */
#ifndef LAWN_TESTS_UNIT_CLASS_COMMON_H
#define LAWN_TESTS_UNIT_CLASS_COMMON_H

#include "kit.h"
#include "lawn_class.h"

#define LAST (LAWN_NEVER - 1)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct post {
    struct lawn_timer timer;
    unsigned id;
    struct lawn_class *cls; /* NULL: outside of classes */
};

struct yard;
typedef void yard_act_fn(struct yard *yard, struct post *post);

struct yard {
    struct lawn *lawn;
    struct lawn_class *cls[4];
    yard_act_fn *act; /* called by the callback, or NULL */
    uint64_t mowing;  /* the time passed to the current mow */
    unsigned fired;   /* entries in id and due */
    unsigned id[1024];
    uint64_t due[1024]; /* the deadlines */
    struct post post[64];
};

/* Creates a lawn for 4 classes, and classes 0, 1 and 2 with these TTLs. */
void yard_begin(struct yard *yard, uint64_t now, uint64_t ttl0, uint64_t ttl1,
                uint64_t ttl2);
void yard_end(struct yard *yard);

/* Starts timer `id` through a class. */
void start_in(struct yard *yard, unsigned id, unsigned cls);
/* Starts timer `id` outside of classes. */
void start_alone(struct yard *yard, unsigned id, uint64_t ttl);
bool stop_post(struct yard *yard, unsigned id);
uint64_t deadline_of(const struct yard *yard, unsigned id);
struct lawn_class_counters counters(const struct yard *yard, unsigned cls);

size_t mow_budget(struct yard *yard, uint64_t now, size_t budget);
size_t mow_yard(struct yard *yard, uint64_t now);
size_t mow_class(struct yard *yard, unsigned cls, uint64_t now, size_t budget);

void check_fires(struct yard *yard, const unsigned *ids, size_t count,
                 const char *file, int line);
/* Checks that exactly these timers fired since the last such check. */
#define CHECK_FIRES(yard, ...)                                                 \
    check_fires(yard, (const unsigned[]){__VA_ARGS__},                         \
                COUNT(((const unsigned[]){__VA_ARGS__})), __FILE__, __LINE__)
#define CHECK_NO_FIRES(yard) check_fires(yard, NULL, 0, __FILE__, __LINE__)

#endif
