/* run.c - one run of one workload on one contender: see run.h.
 *
 * The memory of the objects is allocated once and used by all runs, so that
 * every contender finds its objects at the same addresses.
 */
#include "run.h"
#include "store.h"
#include "workloads.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define RUN_LINE 64u
#define RUN_OBJECT 128u /* minimum bytes */
#define RUN_ROOM 256u   /* bytes per timer that a contender may use */

/* Kept between runs. */
static struct {
    char *objects;
    size_t objects_size;
    uint32_t *order; /* its second half is the inverse */
    uint64_t order_n;
    uint64_t order_seed;
    uint64_t *ttls;
} run_kept;

static volatile sig_atomic_t run_was_interrupted;

void
run_interrupt(void)
{
    run_was_interrupted = 1;
}

bool
run_interrupted(void)
{
    return run_was_interrupted != 0;
}

uint64_t
run_clock(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void
run_begin(struct run *run, unsigned stage)
{
    run->stage = stage;
    run->watching = true;
    run->watch = run_clock();
}

void
run_finish(struct run *run, uint64_t ops)
{
    uint64_t now = run_clock();
    struct run_stage *stage = &run->stages[run->stage];

    run->watching = false;
    run_goes_on(run);
    if (run->end != RUN_OK) {
        return;
    }
    stage->ns += now - run->watch;
    stage->ops += ops;
    stage->checksum = run->checksum;
}

bool
run_goes_on(struct run *run)
{
    if (run->end != RUN_OK) {
        return false;
    }
    if (run->contender->failed != NULL && run->contender->failed(run->self)) {
        run->end = RUN_MEMORY;
    } else if (run_interrupted()) {
        run->end = RUN_STOPPED;
    } else if (run_clock() > run->limit) {
        run->end = RUN_SLOW;
    }
    return run->end == RUN_OK;
}

static void
fire_once(struct object *object, void *arg)
{
    run_note((struct run *)arg, object);
}

void
run_fire_again(struct object *object, void *arg)
{
    struct run *run = (struct run *)arg;

    run_note(run, object);
    run->contender->start(run->self, object, object->ttl);
}

/* Returns the bytes that malloc has allocated. */
static size_t
heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

void *
run_alloc(struct run *run, size_t count, size_t size)
{
    size_t heap = heap_bytes();
    void *memory = calloc(count, size);

    if (memory == NULL) {
        run->end = RUN_MEMORY;
    }
    run->heap += heap_bytes() - heap;
    return memory;
}

/* Returns the number of workers of a crew. */
static unsigned
count_workers(const struct cell *cell)
{
    return cell->workload->uses_t ? (unsigned)cell->t : 1;
}

/* For each worker of a crew there are n objects for the timers of a hand, n
 * more for T3, and RUN_CREW_OWN: see workload_crew.c. */
static uint64_t
count_objects(const struct cell *cell)
{
    if (cell->workload->part == PART_HOSTS) {
        return cell->n + RUN_HOST_OWN;
    }
    return cell->workload->part == PART_CREWS
               ? (2 * cell->n + RUN_CREW_OWN) * count_workers(cell)
               : cell->n;
}

static bool
has_store(const struct run *run)
{
    return (run->contender->flags & CONTENDER_STORE) != 0;
}

void
run_weigh(struct run *run)
{
    size_t heap = heap_bytes();
    size_t user = run->cell->n * (STORE_ID + STORE_PAYLOAD);

    run->bytes = heap > run->heap ? heap - run->heap : 0;
    if (run->contender->elsewhere != NULL) {
        run->bytes += run->contender->elsewhere(run->self);
    }
    if (!has_store(run)) {
        return;
    }
    if (store_of(run->contender)->bytes != NULL) {
        run->bytes = store_of(run->contender)->bytes(run->self);
    }
    run->bytes = run->bytes > user ? run->bytes - user : 0;
}

/* Makes a permutation and its inverse. */
static bool
shuffle_order(uint64_t n, uint64_t seed)
{
    struct random random = {seed};

    if (run_kept.order != NULL && run_kept.order_n == n &&
        run_kept.order_seed == seed) {
        return true;
    }
    free(run_kept.order);
    uint32_t *order = NULL;
    run_kept.order = order = malloc(2 * n * sizeof(*order));
    if (order == NULL) {
        return false;
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t j = random_below(&random, i + 1);

        order[i] = order[j];
        order[j] = (uint32_t)i;
    }
    for (uint64_t i = 0; i < n; i++) {
        order[n + order[i]] = (uint32_t)i;
    }
    run_kept.order_n = n;
    run_kept.order_seed = seed;
    return true;
}

/* Returns the bytes that can still be allocated: the system's available memory,
 * or the rest of the limit on the address space. A larger request might succeed
 * and end the process later, and some libraries end the process when an
 * allocation fails. */
static uint64_t
available_memory(void)
{
    char line[128];
    unsigned long kib = 0;
    unsigned long pages = 0;
    uint64_t available = UINT64_MAX;
    FILE *file = fopen("/proc/meminfo", "r");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "MemAvailable: %lu kB", &kib) == 1) {
            available = kib * UINT64_C(1024);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return available;
    }
    file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        uint64_t used = fscanf(file, "%lu", &pages) == 1
                            ? pages * (uint64_t)sysconf(_SC_PAGESIZE)
                            : 0;
        uint64_t left = limit.rlim_cur > used ? limit.rlim_cur - used : 0;

        fclose(file);
        available = left < available ? left : available;
    }
    return available;
}

static bool
reserve_memory(struct run *run)
{
    size_t stride = offsetof(struct object, node) + run->contender->node;

    stride = (stride + RUN_LINE - 1) & ~(size_t)(RUN_LINE - 1);
    run->stride = has_store(run)        ? 0
                  : stride > RUN_OBJECT ? stride
                                        : RUN_OBJECT;
    size_t size = run->object_count * run->stride;
    if (run->object_count * (run->stride + RUN_ROOM) >
        available_memory() + run_kept.objects_size) {
        return false;
    }
    if (size > run_kept.objects_size) {
        free(run_kept.objects);
        run_kept.objects_size = 0;
        run_kept.objects = aligned_alloc(4096, (size + 4095) & ~(size_t)4095);
        if (run_kept.objects == NULL) {
            return false;
        }
        run_kept.objects_size = size;
    }
    if (!shuffle_order(run->cell->n, run->cell->seed)) {
        return false;
    }
    run->objects = size > 0 ? run_kept.objects : NULL;
    run->order = run_kept.order;
    run->again = run_kept.order + run->cell->n;
    if (size > 0) {
        memset(run->objects, 0, size);
    }
    return true;
}

bool
run_list_ttls(struct run *run, size_t count)
{
    uint64_t *ttls = realloc(run_kept.ttls, count * sizeof(*ttls));

    if (ttls == NULL) {
        run->end = RUN_MEMORY;
        return false;
    }
    run->ttls = run_kept.ttls = ttls;
    run->ttl_count = count;
    return true;
}

/* Assigns one of the cell's t TTLs to each object. */
static void
spread_ttls(struct run *run)
{
    uint64_t t = run->cell->t;
    uint64_t longest = workloads_longest(run->cell);

    if (!run_list_ttls(run, t)) {
        return;
    }
    for (uint64_t i = 0; i < t; i++) {
        run->ttls[i] = 1 + (2 * i + 1) * longest / (2 * t);
    }
    for (uint64_t i = 0; i < run->cell->n; i++) {
        run_choose(run, i, random_below(&run->random, t));
    }
}

static bool
start_all(struct run *run)
{
    if (!reserve_memory(run)) {
        return false;
    }
    for (uint64_t i = 0; i < run->object_count && run->objects != NULL; i++) {
        run_object(run, i)->id = (uint32_t)i;
        run_object(run, i)->which = CONTENDER_ANY;
    }
    if (run->cell->workload->uses_t && run->cell->workload->ttls == NULL) {
        spread_ttls(run);
    } else {
        run->cell->workload->ttls(run);
    }
    return run->end == RUN_OK;
}

enum run_end
run_play(struct run *run, const struct cell *cell,
         const struct contender *contender, unsigned last_stage,
         uint64_t limit_ns)
{
    struct contender_setup setup = {.workers = count_workers(cell)};

    memset(run, 0, sizeof(*run));
    run->cell = cell;
    run->contender = contender;
    run->random.state = cell->seed;
    run->fire = fire_once;
    run->last_stage = last_stage;
    run->object_count = count_objects(cell);
    if ((contender->flags & CONTENDER_ONE_TTL) != 0 && cell->t != 1) {
        return run->end = RUN_UNFIT;
    }
    if (!start_all(run)) {
        return run->end = run->end != RUN_OK ? run->end : RUN_MEMORY;
    }
    setup.objects = run->object_count;
    setup.ttls = run->ttls;
    setup.ttl_count = run->ttl_count;
    setup.longest = workloads_longest(cell);
    /* A store allocates memory as it grows. Memory that earlier runs left in
     * malloc's free lists would be an advantage. */
    if (has_store(run)) {
        malloc_trim(0);
    }
    run->heap = heap_bytes();
    run->self = contender->make(&setup);
    if (run->self == NULL) {
        return run->end = RUN_MEMORY;
    }
    run->limit = run_clock() + limit_ns;
    cell->workload->play(run);
    run_goes_on(run);
    contender->free(run->self);
    run->self = NULL;
    return run->end;
}

void
run_release(void)
{
    free(run_kept.objects);
    free(run_kept.order);
    free(run_kept.ttls);
    memset(&run_kept, 0, sizeof(run_kept));
}
