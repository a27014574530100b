/* main.c - memory runs out: at every allocation in turn, once or permanently.
 *
 * The cases of the interpreters run with an allocator that refuses the k-th
 * request, or all from the k-th on, for every k until nothing was refused. A
 * lawn, a store or a set of workers that cannot be created is NULL; a failed
 * call has changed nothing [S2]; existing objects continue to work; and all
 * memory is released. Meanwhile every allocation in the program is counted, to
 * check P7. For stores with their own allocator, malloc() and mmap() refuse
 * instead: link with
 *
 *     -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
 *     -Wl,--wrap=aligned_alloc -Wl,--wrap=mmap
 *
 * The kit does not use malloc() while stores are tested.
 */
#include "lawn.h"
#include "lawn_store.h"
#include "loop_ops.h"
#include "ops.h"
#include "rng.h"
#include "shrink.h"
#include "store_ops.h"
#include "workers_ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define OOM_CASES 200u
#define OOM_CASE_SIZE 2048u
#define OOM_STORE_CASES 30u
#define OOM_STORE_SIZE 512u
#define OOM_WORKERS_CASES 40u
#define OOM_WORKERS_SIZE 512u
#define OOM_LOOP_CASES 40u
#define OOM_LOOP_SIZE 512u

static uint64_t allocations; /* in the whole program */
static uint64_t refusals;
static unsigned passed;
static unsigned failed;
static unsigned of = 1; /* one case in n is run */

void *__real_malloc(size_t size);
void *__real_calloc(size_t many, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t many, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__real_mmap(void *address, size_t size, int protection, int flags,
                  int file, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags,
                  int file, off_t offset);

/* Number of the refused request, from 1 on; 0: none. */
struct refusal {
    uint64_t asked;
    uint64_t refuse;
    bool for_good; /* refuse all later ones as well */
};

/* For malloc() and mmap(). */
static struct refusal ours;

static bool
refused(struct refusal *refusal)
{
    refusal->asked++;
    bool no = refusal->asked == refusal->refuse ||
              (refusal->for_good && refusal->asked > refusal->refuse);
    refusals += no;
    return no;
}

void *
__wrap_malloc(size_t size)
{
    allocations++;
    return refused(&ours) ? NULL : __real_malloc(size);
}

void *
__wrap_mmap(void *address, size_t size, int protection, int flags, int file,
            off_t offset)
{
    allocations++;
    return refused(&ours)
               ? MAP_FAILED
               : __real_mmap(address, size, protection, flags, file, offset);
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

/* An allocator that refuses requests. */
struct scarce {
    struct refusal refusal;
    uint64_t given;
    uint64_t returned;
};

static void *
scarce_alloc(size_t size, void *context)
{
    struct scarce *scarce = (struct scarce *)context;

    if (refused(&scarce->refusal)) {
        return NULL;
    }
    void *memory = malloc(size);
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

/* The refusing allocator, and the cases. */
struct sweep {
    ops_run_fn *run;
    unsigned cases;
    size_t size;
    bool for_good;
    bool from_malloc; /* malloc() refuses, not the test's allocator */
};

/* The refusal of the next run. */
static const struct sweep *current;
static struct refusal next;

/* Runs a case with the refusal. Counting starts over each time, whatever was
 * allocated before. */
static bool
run_refusing(const struct ops_config *config, const uint8_t *bytes, size_t size,
             struct ops_result *result)
{
    struct scarce scarce = {0};
    struct ops_config with = *config;

    if (current->from_malloc) {
        ours = next;
    } else {
        scarce.refusal = next;
        with.alloc = scarce_alloc;
        with.release = scarce_release;
        with.context = &scarce;
    }
    bool good = current->run(&with, bytes, size, result);
    memset(&ours, 0, sizeof(ours));
    if (good && scarce.given != scarce.returned) {
        (void)snprintf(result->message, sizeof(result->message),
                       "memory leaked");
        good = false;
    }
    return good;
}

/* Prints the case as text, reduced to a minimum that still fails. */
static void
tell_case(struct ops_config *config, uint8_t *bytes, size_t size)
{
    struct ops_result result;

    if (!shrink_passes(config, bytes, size)) {
        size = shrink(config, bytes, size);
        config->trace = stdout;
        (void)config->run(config, bytes, size, &result);
        printf("  %s\n", result.message);
    }
}

/* Refuses each request of a case in turn. Returns true on success. */
static bool
sweep_case(const struct sweep *sweep, uint8_t *bytes)
{
    struct ops_config config = {0};
    struct ops_result result = {0};

    config.run = run_refusing;
    config.check_every = 64;
    config.allocations = &allocations;
    config.refusals = &refusals;
    current = sweep;
    memset(&next, 0, sizeof(next));
    next.for_good = sweep->for_good;
    uint64_t before = 0;
    do {
        before = refusals;
        next.refuse++;
        if (!config.run(&config, bytes, sweep->size, &result)) {
            printf("  request %llu refused: %s\n",
                   (unsigned long long)next.refuse, result.message);
            tell_case(&config, bytes, sweep->size);
            return false;
        }
    } while (refusals != before);
    return true;
}

static void
sweep_cases(const struct sweep *sweep, uint64_t seed, const char *sentence)
{
    static uint8_t bytes[OOM_CASE_SIZE];
    struct rng rng = {seed};
    bool good = true;

    for (unsigned i = 0; i < sweep->cases && good; i++) {
        rng_fill(&rng, bytes, sweep->size);
        good = i % of != seed % of || sweep_case(sweep, bytes);
        if (!good) {
            printf("  case %u of seed %llu\n", i, (unsigned long long)seed);
        }
    }
    verdict(good, sentence);
}

static void
sweep_lawns(uint64_t seed)
{
    struct sweep sweep = {ops_run, OOM_CASES, OOM_CASE_SIZE, false, false};

    sweep_cases(&sweep, seed, "a_request_refused_once_does_no_harm");
    sweep.for_good = true;
    sweep_cases(&sweep, seed, "requests_refused_for_good_do_no_harm");
}

static void
sweep_stores(uint64_t seed)
{
    struct sweep sweep = {store_ops_run, OOM_STORE_CASES, OOM_STORE_SIZE, false,
                          false};

    sweep_cases(&sweep, seed, "a_store_survives_a_request_refused_once");
    sweep.for_good = true;
    sweep_cases(&sweep, seed, "a_store_survives_requests_refused_for_good");
    sweep.from_malloc = true;
    sweep_cases(&sweep, seed + 1, "a_store_survives_malloc_failing_for_good");
    sweep.for_good = false;
    sweep_cases(&sweep, seed + 1, "a_store_survives_malloc_failing_once");
}

#define OOM_CLASSES 4u

/* Checks the result of a call that may allocate. */
static bool
note_result(struct ops_result *result, const struct lawn_store *store,
            int error, uint64_t before)
{
    bool good =
        error == 0 || (error == -ENOMEM && lawn_store_count(store) == before);

    if (!good || !lawn_store_check(store, stdout)) {
        (void)snprintf(result->message, sizeof(result->message),
                       "a store with classes: error %d, %llu timers", error,
                       (unsigned long long)lawn_store_count(store));
        return false;
    }
    return true;
}

static uint8_t saved[1 << 20];
static size_t saved_size;
static size_t loaded_size;

static int
write_saved(const void *bytes, size_t size, void *arg)
{
    (void)arg;
    if (size > sizeof(saved) - saved_size) {
        return -EFBIG;
    }
    memcpy(saved + saved_size, bytes, size);
    saved_size += size;
    return 0;
}

static ptrdiff_t
read_saved(void *bytes, size_t size, void *arg)
{
    size_t some = saved_size - loaded_size;

    (void)arg;
    some = some < size ? some : size;
    memcpy(bytes, saved + loaded_size, some);
    loaded_size += some;
    return (ptrdiff_t)some;
}

static void
ignore_timer(const struct lawn_store_timer *timer, void *arg)
{
    (void)timer;
    (void)arg;
}

/* Performs the operation that three bytes select. */
static bool
run_class_op(struct lawn_store *store, const uint8_t *bytes,
             struct ops_result *result)
{
    static const char *const names[OOM_CLASSES] = {"a", "b", "c", "d"};
    static const uint8_t payload[256 * 16];
    struct lawn_class *cls =
        lawn_store_class_find(store, names[bytes[0] % OOM_CLASSES]);
    uint64_t before = lawn_store_count(store);
    size_t size = bytes[2] * (bytes[0] / 128 * 15u + 1u);
    int error = 0;

    switch (bytes[0] / OOM_CLASSES % 8) {
    case 0:
        error = lawn_store_update(store, bytes + 1, 1, payload, size);
        error = error == -ENOENT ? 0 : error;
        break;
    case 1:
        error =
            lawn_store_start(store, bytes + 1, 1, bytes[2], payload, size, 0);
        break;
    case 2:
        (void)lawn_store_touch_in(store, cls, bytes + 1, 1);
        break;
    case 3:
        (void)lawn_store_mow(store, lawn_store_now(store) + bytes[1] / 8,
                             SIZE_MAX, ignore_timer, NULL);
        break;
    case 4:
        if (bytes[1] < 64) {
            (void)lawn_store_class_clear(store, cls);
        }
        break;
    default:
        error = lawn_store_start_in(store, cls, bytes + 1, 1, payload, size, 0);
    }
    return note_result(result, store, error, before);
}

/* A store with classes, which is then saved and loaded. */
static bool
run_classes(const struct ops_config *config, const uint8_t *bytes, size_t size,
            struct ops_result *result)
{
    static const char *const names[OOM_CLASSES] = {"a", "b", "c", "d"};
    struct lawn_store_options options = {
        .lawn = {.blades = 8, .slot_bits = 4, .classes = OOM_CLASSES},
        .seed = {1, 2}};

    options.lawn.alloc = config->alloc;
    options.lawn.release = config->release;
    options.lawn.context = config->context;
    struct lawn_store *store = lawn_store_new(&options);
    if (store == NULL) {
        return true;
    }
    bool good = true;
    for (unsigned i = 0; i < OOM_CLASSES && good; i++) {
        good =
            note_result(result, store,
                        lawn_store_class_new(store, 10 + i, names[i], NULL), 0);
    }
    for (size_t i = 0; i + 3 <= size && good; i += 3) {
        good = run_class_op(store, bytes + i, result);
    }
    saved_size = loaded_size = 0;
    int error = good ? lawn_store_save(store, write_saved, NULL) : -ENOMEM;
    if (error == 0) {
        lawn_store_clear(store);
        error = lawn_store_load(store, read_saved, NULL);
        good = note_result(result, store, error, 0) &&
               lawn_store_class_find(store, "d") != NULL;
    }
    lawn_store_free(store);
    return good;
}

static void
sweep_classes(uint64_t seed)
{
    struct sweep sweep = {run_classes, OOM_STORE_CASES, OOM_STORE_SIZE, false,
                          false};

    sweep_cases(&sweep, seed, "classes_survive_a_request_refused_once");
    sweep.for_good = true;
    sweep_cases(&sweep, seed, "classes_survive_requests_refused_for_good");
}

static void
sweep_workers(uint64_t seed)
{
    struct sweep sweep = {workers_ops_run, OOM_WORKERS_CASES, OOM_WORKERS_SIZE,
                          false, false};

    sweep_cases(&sweep, seed, "workers_survive_a_request_refused_once");
    sweep.for_good = true;
    sweep_cases(&sweep, seed, "workers_survive_requests_refused_for_good");
    sweep.from_malloc = true;
    sweep_cases(&sweep, seed + 1, "workers_survive_malloc_failing_for_good");
    sweep.for_good = false;
    sweep_cases(&sweep, seed + 1, "workers_survive_malloc_failing_once");
}

static void
sweep_loops(uint64_t seed)
{
    struct sweep sweep = {loop_ops_run, OOM_LOOP_CASES, OOM_LOOP_SIZE, false,
                          false};

    sweep_cases(&sweep, seed, "a_loop_survives_a_request_refused_once");
    sweep.for_good = true;
    sweep_cases(&sweep, seed, "a_loop_survives_requests_refused_for_good");
}

static bool
one_request_makes_a_lawn(void)
{
    struct scarce scarce = {0};
    struct lawn_options options = {0};
    struct lawn *lawn = NULL;

    options.alloc = scarce_alloc;
    options.release = scarce_release;
    options.context = &scarce;
    lawn = lawn_new(&options);
    bool one = lawn != NULL && scarce.refusal.asked == 1;
    lawn_free(lawn);
    return one && scarce.returned == 1;
}

/* Otherwise P7 would seem to hold because nothing was counted. */
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
    int i = 0;

    for (i = 1; i + 1 < argc && strcmp(argv[i], "--seed") == 0; i += 2) {
        seed = strtoull(argv[i + 1], NULL, 10);
    }
    if (i + 2 == argc && strcmp(argv[i], "--one-of") == 0) {
        of = (unsigned)strtoul(argv[i + 1], NULL, 10);
        i += 2;
    }
    if (i != argc || of == 0) {
        (void)fprintf(stderr,
                      "usage: oom [--seed S] [--one-of N]\n"
                      "--one-of runs one of N cases, chosen by the seed\n");
        return 2;
    }
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    printf("seed %llu\n", (unsigned long long)seed);
    verdict(allocations_are_counted(), "every_allocation_is_counted");
    verdict(one_request_makes_a_lawn(), "one_request_for_memory_makes_a_lawn");
    sweep_lawns(seed);
    sweep_stores(seed);
    sweep_classes(seed);
    sweep_workers(seed);
    sweep_loops(seed);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
