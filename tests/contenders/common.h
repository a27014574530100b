/* common.h - a contender with objects, and memory that can run out. */
#ifndef LAWN_TESTS_CONTENDERS_COMMON_H
#define LAWN_TESTS_CONTENDERS_COMMON_H

#include "contenders.h"
#include "contenders/all.h"
#include "kit.h"

struct stage {
    const struct contender *contender;
    void *self;
    char *objects;
    size_t stride;
    uint64_t now;
    uint64_t fired; /* in all */
    uint32_t last;  /* the last that fired */
};

/* Begins with this number of objects; the contender is created for expected
 * timers. */
void stage_begin(struct stage *stage, const struct contender *contender,
                 uint32_t objects, size_t expected);
void stage_end(struct stage *stage);

struct object *stage_object(const struct stage *stage, uint32_t id);
void stage_start(struct stage *stage, uint32_t id, uint64_t ttl);
bool stage_stop(struct stage *stage, uint32_t id);
size_t stage_mow(struct stage *stage, uint64_t now, size_t budget);
bool stage_failed(const struct stage *stage);

/* The contenders of this tree that are documented as exact; NULL after the
 * last. */
extern const struct contender *const exact[];

/* Number of memory requests until all are refused; negative: never. */
extern long requests_left;

#endif
