/* common.c - see common.h. Linked with --wrap for the functions below. */
#include "common.h"

#include <stdlib.h>

const struct contender *const exact[] = {
    &lawn_contender,
    &lawn_class_contender,
    &list_contender,
    &tree_contender,
    &heap2_contender,
    &heap4_contender,
    &hashed_contender,
    &growing_contender,
    &wheel_contender,
    &calendar_contender,
    &paper_contender,
    &heads_contender,
    NULL,
};

long requests_left = -1;

void *__real_malloc(size_t size);
void *__real_calloc(size_t many, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t many, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static bool
refused(void)
{
    if (requests_left > 0) {
        requests_left--;
        return false;
    }
    return requests_left == 0;
}

void *
__wrap_malloc(size_t size)
{
    return refused() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t many, size_t size)
{
    return refused() ? NULL : __real_calloc(many, size);
}

void *
__wrap_realloc(void *memory, size_t size)
{
    return refused() ? NULL : __real_realloc(memory, size);
}

void *
__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return refused() ? NULL : __real_aligned_alloc(alignment, size);
}

void
stage_begin(struct stage *stage, const struct contender *contender,
            uint32_t objects, size_t expected)
{
    struct contender_setup setup = {0};

    requests_left = -1; /* an earlier test may have failed */
    stage->contender = contender;
    stage->stride = sizeof(struct object) + (contender->node + 15) / 16 * 16;
    stage->objects = calloc(objects, stage->stride);
    stage->now = 0;
    stage->fired = 0;
    stage->last = 0;
    setup.objects = expected;
    stage->self = contender->make(&setup);
    CHECK(stage->objects != NULL && stage->self != NULL);
    for (uint32_t i = 0; i < objects; i++) {
        stage_object(stage, i)->id = i;
        stage_object(stage, i)->which = CONTENDER_ANY;
    }
}

void
stage_end(struct stage *stage)
{
    stage->contender->free(stage->self);
    free(stage->objects);
}

struct object *
stage_object(const struct stage *stage, uint32_t id)
{
    return (struct object *)(void *)(stage->objects + id * stage->stride);
}

void
stage_start(struct stage *stage, uint32_t id, uint64_t ttl)
{
    struct object *object = stage_object(stage, id);

    object->ttl = ttl;
    stage->contender->start(stage->self, object, ttl);
}

bool
stage_stop(struct stage *stage, uint32_t id)
{
    return stage->contender->stop(stage->self, stage_object(stage, id));
}

static void
note(struct object *object, void *arg)
{
    struct stage *stage = (struct stage *)arg;

    stage->fired++;
    stage->last = object->id;
}

size_t
stage_mow(struct stage *stage, uint64_t now, size_t budget)
{
    stage->now = now;
    return stage->contender->mow(stage->self, now, budget, note, stage);
}

bool
stage_failed(const struct stage *stage)
{
    return stage->contender->failed != NULL &&
           stage->contender->failed(stage->self);
}
