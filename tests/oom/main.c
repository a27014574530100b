/* main.c - memory runs out: at every allocation in turn, once or for good.
 *
 * The cases of the interpreter run under an allocator that refuses the k-th
 * request, or all from the k-th on, for every k until nothing was refused. A
 * lawn that cannot be made is NULL, what there was goes on unharmed, and all
 * memory comes back. Meanwhile every allocation in the program is counted, so
 * that P7 is seen to hold: link with
 *
 *     -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
 *     -Wl,--wrap=aligned_alloc
 */
#include "lawn.h"
#include "ops.h"
#include "rng.h"

#include <stdlib.h>
#include <string.h>

#define OOM_CASES 200u
#define OOM_CASE_SIZE 2048u

static uint64_t allocations; /* in the whole program */
static uint64_t refusals;
static unsigned passed;
static unsigned failed;

void *__real_malloc(size_t size);
void *__real_calloc(size_t many, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t many, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *
__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}

void *
__wrap_calloc(size_t many, size_t size)
{
    allocations++;
    return __real_calloc(many, size);
}

void *
__wrap_realloc(void *memory, size_t size)
{
    allocations++;
    return __real_realloc(memory, size);
}

void *
__wrap_aligned_alloc(size_t alignment, size_t size)
{
    allocations++;
    return __real_aligned_alloc(alignment, size);
}

/* An allocator that refuses. */
struct scarce {
    uint64_t asked;
    uint64_t given;
    uint64_t returned;
    uint64_t refuse; /* which request, from 1 on; 0: none */
    bool for_good;   /* and all after it */
};

static void *
scarce_alloc(size_t size, void *context)
{
    struct scarce *scarce = (struct scarce *)context;
    void *memory;

    scarce->asked++;
    if (scarce->asked == scarce->refuse ||
        (scarce->for_good && scarce->asked > scarce->refuse)) {
        refusals++;
        return NULL;
    }
    memory = malloc(size);
    scarce->given += memory != NULL;
    return memory;
}

static void
scarce_release(void *memory, void *context)
{
    struct scarce *scarce = (struct scarce *)context;

    scarce->returned++;
    free(memory);
}

static void
verdict(bool good, const char *sentence)
{
    printf("%s %s\n", good ? "ok" : "FAILED", sentence);
    if (good) {
        passed++;
    } else {
        failed++;
    }
}

/* Refuses each request of a case in turn; true if all went well. */
static bool
sweep(const uint8_t *bytes, size_t size, bool for_good)
{
    struct ops_config config = {0};
    struct ops_result result = {0};
    struct scarce scarce = {0};
    uint64_t k = 0;

    config.check_every = 64;
    config.alloc = scarce_alloc;
    config.release = scarce_release;
    config.context = &scarce;
    config.allocations = &allocations;
    config.refusals = &refusals;
    do {
        memset(&scarce, 0, sizeof scarce);
        scarce.refuse = ++k;
        scarce.for_good = for_good;
        if (!ops_run(&config, bytes, size, &result)) {
            printf("  request %llu refused: %s\n", (unsigned long long)k,
                   result.message);
            return false;
        }
        if (scarce.given != scarce.returned) {
            printf("  request %llu refused: memory leaked\n",
                   (unsigned long long)k);
            return false;
        }
    } while (result.refused > 0);
    return true;
}

static bool
sweep_cases(uint64_t seed, bool for_good)
{
    static uint8_t bytes[OOM_CASE_SIZE];
    struct rng rng = {seed};
    unsigned i;

    for (i = 0; i < OOM_CASES; i++) {
        rng_fill(&rng, bytes, sizeof bytes);
        if (!sweep(bytes, sizeof bytes, for_good)) {
            printf("  case %u of seed %llu\n", i, (unsigned long long)seed);
            return false;
        }
    }
    return true;
}

static bool
one_request_makes_a_lawn(void)
{
    struct scarce scarce = {0};
    struct lawn_options options = {0};
    struct lawn *lawn;
    bool one;

    options.alloc = scarce_alloc;
    options.release = scarce_release;
    options.context = &scarce;
    lawn = lawn_new(&options);
    one = lawn != NULL && scarce.asked == 1;
    lawn_free(lawn);
    return one && scarce.returned == 1;
}

/* Or P7 would seem to hold because nobody looked. */
static bool
allocations_are_counted(void)
{
    uint64_t before = allocations;
    struct lawn *lawn = lawn_new(NULL);

    lawn_free(lawn);
    return allocations == before + 1;
}

int
main(int argc, char **argv)
{
    uint64_t seed = 1;

    if (argc == 3 && strcmp(argv[1], "--seed") == 0) {
        seed = strtoull(argv[2], NULL, 10);
    } else if (argc != 1) {
        (void)fprintf(stderr, "usage: oom [--seed S]\n");
        return 2;
    }
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    printf("seed %llu\n", (unsigned long long)seed);
    verdict(allocations_are_counted(), "every_allocation_is_counted");
    verdict(one_request_makes_a_lawn(), "one_request_for_memory_makes_a_lawn");
    verdict(sweep_cases(seed, false), "a_request_refused_once_does_no_harm");
    verdict(sweep_cases(seed, true), "requests_refused_for_good_do_no_harm");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
