/* main.c - which part to run, and what the parts share. */
#include "figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void
figures_print(const char *what, double value, const char *unit,
              const char *compare, double bar)
{
    if (compare != NULL) {
        (void)printf("%s\t%.4f\t%s\t%s\t%.4f\n", what, value, unit, compare,
                     bar);
    } else {
        (void)printf("%s\t%.4f\t%s\n", what, value, unit);
    }
    (void)fflush(stdout);
}

static int
figures_compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

double
figures_median(double *values, size_t many)
{
    qsort(values, many, sizeof *values, figures_compare);
    return values[many / 2];
}

uint64_t
figures_clock_ns(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void *
figures_need(void *memory)
{
    if (memory == NULL) {
        (void)fprintf(stderr, "figures: out of memory\n");
        exit(2);
    }
    return memory;
}

static void
figures_shuffle(struct rng *rng, uint32_t *order, size_t many)
{
    size_t i;

    for (i = 0; i < many; i++) {
        size_t j = (size_t)rng_below(rng, i + 1);

        order[i] = order[j];
        order[j] = (uint32_t)i;
    }
}

void
figures_field_init(struct figures_field *field, size_t many)
{
    memset(field, 0, sizeof *field);
    field->many = many;
    field->rng.state = 1;
    field->objects = (struct figures_object *)figures_need(
        aligned_alloc(128, many * sizeof *field->objects));
    memset(field->objects, 0, many * sizeof *field->objects);
    field->order = (uint32_t *)figures_need(calloc(many, sizeof *field->order));
    field->again = (uint32_t *)figures_need(calloc(many, sizeof *field->again));
    figures_shuffle(&field->rng, field->order, many);
    figures_shuffle(&field->rng, field->again, many);
}

void
figures_field_fini(struct figures_field *field)
{
    free(field->objects);
    free(field->order);
    free(field->again);
}

void
figures_field_plant(struct figures_field *field, size_t ttls, uint64_t range)
{
    size_t i;

    field->lawn = (struct lawn *)figures_need(lawn_new(NULL));
    field->now = 0;
    for (i = 0; i < field->many; i++) {
        struct figures_object *object = &field->objects[i];
        uint64_t which = rng_below(&field->rng, ttls);

        memset(&object->timer, 0, sizeof object->timer);
        object->ttl = 1 + (2 * which + 1) * range / (2 * ttls);
    }
}

void
figures_field_clear(struct figures_field *field)
{
    lawn_free(field->lawn);
    field->lawn = NULL;
}

void
figures_again(struct lawn_timer *timer, void *arg)
{
    const struct figures_object *object =
        LAWN_CONTAINER(timer, struct figures_object, timer);

    lawn_start((struct lawn *)arg, timer, object->ttl);
}

void
figures_field_fill(struct figures_field *field, uint64_t ticks)
{
    uint64_t tick;
    size_t done = 0;

    for (tick = 1; tick <= ticks; tick++) {
        size_t upto = (size_t)(field->many * tick / ticks);

        for (; done < upto; done++) {
            struct figures_object *object = &field->objects[field->order[done]];

            lawn_start(field->lawn, &object->timer, object->ttl);
        }
        (void)lawn_mow(field->lawn, ++field->now, SIZE_MAX, figures_again,
                       field->lawn);
    }
}

uint64_t
figures_field_churn(struct figures_field *field, uint64_t fires)
{
    uint64_t fired = 0;

    while (fired < fires) {
        fired += lawn_mow(field->lawn, ++field->now, SIZE_MAX, figures_again,
                          field->lawn);
    }
    return fired;
}

int
main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";
    long many = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

    if (argc == 2 && strcmp(part, "sizes") == 0) {
        figures_sizes();
    } else if (argc == 2 && strcmp(part, "times") == 0) {
        figures_times();
    } else if (argc == 2 && strcmp(part, "tails") == 0) {
        figures_tails();
    } else if (argc == 3 && strcmp(part, "count") == 0 && many >= 1000) {
        figures_count((size_t)many);
    } else if (argc == 3 && strcmp(part, "fire") == 0 && many >= 1000) {
        figures_count_fire((size_t)many);
    } else if (argc == 2 && strcmp(part, "lone") == 0) {
        figures_count_lone();
    } else {
        (void)fprintf(stderr,
                      "usage: figures sizes|tails|times|lone|count N|fire N\n"
                      "N is at least 1000\n");
        return 2;
    }
    return 0;
}
