/* dpdk.c - DPDK's rte_timer: a skip list per core, behind a spin lock.
 *
 * THE CLOCK: rte_timer reads the processor's time stamp counter with an
 * instruction, so there is no call to replace. But the instructions
 *     0f 31         rdtsc
 *     48 c1 e2 20   shl $32, %rdx
 * are as long as a call of lawn_dpdk_read() below and a nop, which replace all
 * their occurrences in the library's code at the first use. Then a timer is
 * tried; if it does not fire at the right time, the peer reports that it is
 * unusable. A tick has many cycles, and each start adds one cycle. So two
 * timers rarely have the same deadline, as with a real counter; if many had the
 * same one, stop would be slow.
 *
 * THE ENVIRONMENT of DPDK exists once per process and needs pages, drivers, a
 * thread and a core. Here it is initialized without them: private memory, no
 * drivers, no files, no thread (it would make malloc() take locks for the rest
 * of the process), no delay of 0.1 s to measure the counter's frequency, and
 * the affinity is restored.
 */
#define _GNU_SOURCE            /* NOLINT(bugprone-reserved-identifier) */
#define ALLOW_EXPERIMENTAL_API /* rte_timer_next_ticks() */
#include "peer.h"

#include <elf.h>
#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_memzone.h>
#include <rte_timer.h>
#include <rte_version.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A tick has 2^cycle_bits cycles. As each start takes one, cycle_bits is as
 * large as possible, but at most CYCLE_BITS_MOST: no tick has more than 2^24
 * starts. The longest TTL in cycles is below 2^TIME_BITS. So the counter
 * remains positive as an int64_t for times up to 8 times the longest TTL. */
#define CYCLE_BITS_MOST 24u
#define TIME_BITS 59u

struct node {
    struct rte_timer timer;
    uint64_t expire; /* if LATE_START */
    uint32_t late;   /* what happened between being due and firing */
};

enum { LATE_NOTHING, LATE_STOP, LATE_START };

struct peer {
    uint64_t origin; /* the time at which the counter is 0 */
    uint64_t now;    /* ticks since origin */
    uint64_t cycle;  /* number of the cycle in the tick */
    unsigned cycle_bits;
    contender_fire_fn *fire;
    void *arg;
    size_t fired;
};

/* The value of the counter. */
__attribute__((visibility("hidden"))) uint64_t lawn_dpdk_stamp;

/* There is one rte_timer per process. */
static struct peer *only;

#if defined __x86_64__
/* Does what the replaced instructions do, including flags, and nothing else. */
void lawn_dpdk_read(void) __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
        ".globl lawn_dpdk_read\n"
        ".hidden lawn_dpdk_read\n"
        ".type lawn_dpdk_read, @function\n"
        "lawn_dpdk_read:\n"
        "    movl lawn_dpdk_stamp(%rip), %eax\n"
        "    movl lawn_dpdk_stamp+4(%rip), %edx\n"
        "    shlq $32, %rdx\n"
        "    ret\n"
        ".size lawn_dpdk_read, . - lawn_dpdk_read\n"
        ".popsection\n");

static void
replace_counter(char *start, size_t size, void *arg)
{
    static const unsigned char read[] = {0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20};
    const char *end = start + size;
    size_t *found = arg;

    if (!peer_protect(start, size, PF_R | PF_W)) {
        return;
    }
    for (char *at = start; at + sizeof(read) <= end; at++) {
        int64_t far = (int64_t)((intptr_t)lawn_dpdk_read - (intptr_t)(at + 5));
        int32_t near = (int32_t)far;

        if (memcmp(at, read, sizeof(read)) != 0 || near != far) {
            continue;
        }
        at[0] = (char)0xe8; /* call */
        memcpy(at + 1, &near, sizeof(near));
        at[5] = (char)0x90; /* nop */
        ++*found;
    }
    (void)peer_protect(start, size, PF_R | PF_X);
}
#else
static void
replace_counter(char *start, size_t size, void *arg)
{
    (void)start;
    (void)size;
    (void)arg;
}
#endif

static void *
no_dlopen(const char *file, int mode)
{
    (void)file;
    (void)mode;
    return NULL;
}

static int
no_thread(pthread_t *thread, const char *name, const pthread_attr_t *attr,
          void *(*start)(void *), void *arg)
{
    (void)thread;
    (void)name;
    (void)attr;
    (void)start;
    (void)arg;
    return 0;
}

static int
no_sleep(const struct timespec *wait, struct timespec *left)
{
    (void)wait;
    (void)left;
    return 0;
}

static int
no_mkdir(const char *path, mode_t mode)
{
    (void)path;
    (void)mode;
    return 0;
}

/* Returns NULL, or why it failed. */
static const char *
begin_environment(void)
{
    /* No drivers: DPDK searches for them if it is a shared library. */
    static const struct peer_patch less[] = {
        {"dlopen", (peer_fn *)no_dlopen},
        {"rte_ctrl_thread_create", (peer_fn *)no_thread},
        {"mkdir", (peer_fn *)no_mkdir},
        {"nanosleep", (peer_fn *)no_sleep},
    };
    static char options[][16] = {
        "lawn",           "--no-huge", "--no-pci", "--no-shconf",
        "--no-telemetry", "-m",        "16",       "--log-level",
        "critical",       "--lcores",  ""};
    char *args[RTE_DIM(options) + 1] = {NULL};
    int core = sched_getcpu();

    (void)peer_apply("librte_eal.so", less, RTE_DIM(less));
    for (size_t i = 0; i < RTE_DIM(options); i++) {
        args[i] = options[i];
    }
    (void)snprintf(options[RTE_DIM(options) - 1], sizeof(*options), "0@%d",
                   core < 0 ? 0 : core);
    cpu_set_t cores;
    (void)sched_getaffinity(0, sizeof(cores), &cores);
    if (rte_eal_init(RTE_DIM(options), args) < 0) {
        static char why[80];
        (void)snprintf(why, sizeof(why), "rte_eal_init() failed: %s",
                       rte_strerror(rte_errno));
        return why;
    }
    (void)sched_setaffinity(0, sizeof(cores), &cores);
    return NULL;
}

static void
count_call(struct rte_timer *timer, void *arg)
{
    int *calls = arg;

    (void)timer;
    ++*calls;
}

/* Returns whether rte_timer follows our clock. */
static bool
follows(void)
{
    int calls = 0;

    if (rte_timer_subsystem_init() != 0) {
        return false;
    }
    lawn_dpdk_stamp = 1000;
    struct rte_timer timer;
    rte_timer_init(&timer);
    bool good = rte_timer_reset(&timer, 5, SINGLE, rte_lcore_id(), count_call,
                                &calls) == 0;
    good = good && timer.expire == 1005;
    lawn_dpdk_stamp = 1004;
    (void)rte_timer_manage();
    good = good && calls == 0;
    lawn_dpdk_stamp = 1005;
    (void)rte_timer_manage();
    good = good && calls == 1;
    (void)rte_timer_stop(&timer);
    rte_timer_subsystem_finalize();
    return good;
}

static const char *
peer_unusable(void)
{
    static const char *why = "not tried";
    static bool tried;
    size_t found = 0;

    if (tried) {
        return why;
    }
    tried = true;
    peer_segments("librte_timer.so", PF_X, replace_counter, &found);
    if (found == 0) {
        why = "cannot replace its reads of the time stamp counter";
        return why;
    }
    why = begin_environment();
    if (why == NULL && !follows()) {
        why = "it does not follow the clock of the benchmark";
    }
    return why;
}

static uint64_t
last_cycle(const struct peer *peer)
{
    return (UINT64_C(1) << peer->cycle_bits) - 1;
}

static void *
peer_make(const struct contender_setup *setup)
{
    struct peer *peer = only == NULL ? calloc(1, sizeof(*peer)) : NULL;

    if (peer == NULL) {
        return NULL;
    }
    if (rte_timer_subsystem_init() != 0) {
        free(peer);
        return NULL;
    }
    only = peer;
    peer->origin = setup->now;
    peer->cycle_bits = CYCLE_BITS_MOST;
    while (peer->cycle_bits > 0 &&
           setup->longest >> (TIME_BITS - peer->cycle_bits) != 0) {
        peer->cycle_bits--;
    }
    return peer;
}

static void
peer_free(void *self)
{
    rte_timer_subsystem_finalize();
    only = NULL;
    free(self);
}

static void
on_timer(struct rte_timer *timer, void *arg)
{
    struct node *node = (void *)timer;
    struct peer *peer = arg;
    uint32_t late = node->late;

    node->late = LATE_NOTHING;
    if (late == LATE_START) {
        lawn_dpdk_stamp = 0;
        (void)rte_timer_reset(timer, node->expire, SINGLE, rte_lcore_id(),
                              on_timer, peer);
    } else if (late == LATE_NOTHING) {
        peer->fired++;
        /* It is idle now, but rte_timer reports that only after the call. */
        node->late = LATE_STOP;
        peer->fire(peer_object(node), peer->arg);
        node->late = LATE_NOTHING;
    }
}

static void
peer_start(void *self, struct object *object, uint64_t ttl)
{
    struct peer *peer = self;
    struct node *node = (void *)object->node;

    ttl <<= peer->cycle_bits;
    lawn_dpdk_stamp = (peer->now << peer->cycle_bits) + peer->cycle;
    peer->cycle += peer->cycle < last_cycle(peer);
    if (likely(rte_timer_reset(&node->timer, ttl, SINGLE, rte_lcore_id(),
                               on_timer, peer) == 0)) {
        return;
    }
    /* Rejected: it is due in the current mow, and has not fired yet. */
    node->expire = lawn_dpdk_stamp + ttl;
    node->late = LATE_START;
}

static bool
peer_stop(void *self, struct object *object)
{
    struct node *node = (void *)object->node;

    (void)self;
    bool running = false;
    switch (node->timer.status.state) {
    case RTE_TIMER_PENDING:
        return rte_timer_stop(&node->timer) == 0;
    case RTE_TIMER_RUNNING:
        running = node->late != LATE_STOP;
        node->late = LATE_STOP;
        return running;
    default:
        return false;
    }
}

static size_t
peer_mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire,
         void *arg)
{
    struct peer *peer = self;

    (void)budget;
    peer->fire = fire;
    peer->arg = arg;
    peer->fired = 0;
    now -= peer->origin;
    if (peer->now != now) {
        peer->now = now;
        peer->cycle = 0;
    }
    lawn_dpdk_stamp = (now << peer->cycle_bits) + last_cycle(peer);
    (void)rte_timer_manage();
    return peer->fired;
}

static uint64_t
peer_next(void *self)
{
    const struct peer *peer = self;

    lawn_dpdk_stamp = (peer->now << peer->cycle_bits) + last_cycle(peer);
    int64_t cycles = rte_timer_next_ticks();
    if (cycles < 0) {
        return UINT64_MAX;
    }
    return peer->origin +
           ((lawn_dpdk_stamp + (uint64_t)cycles) >> peer->cycle_bits);
}

static size_t
peer_elsewhere(void *self)
{
    const struct rte_memzone *zone = rte_memzone_lookup("rte_timer_mz");

    (void)self;
    return zone == NULL ? 0 : zone->len;
}

const struct contender CONTENDER_PLUGIN = {
    .abi = CONTENDER_ABI,
    .name = "dpdk",
    .title = "DPDK rte_timer",
    .about =
        "DPDK's rte_timer on one core, a skip list behind a spin lock: start "
        "O(log n), stop O(log n). A mow is rte_timer_manage(); its reads of "
        "the time stamp counter are replaced by reads of a variable.",
    .kind = CONTENDER_PEER,
    .flags = CONTENDER_EXACT | CONTENDER_ORDERED | CONTENDER_FIFO,
    .node = sizeof(struct node),
    .version = rte_version,
    .unusable = peer_unusable,
    .make = peer_make,
    .free = peer_free,
    .start = peer_start,
    .stop = peer_stop,
    .mow = peer_mow,
    .next = peer_next,
    .elsewhere = peer_elsewhere,
};
