/* agree.c - random operations on a contender and on an oracle: see agree.h.
 *
 * The oracle runs at the same time. When a timer fires, the oracle checks that
 * this is correct, marks the timer idle, and then applies the operations of the
 * callback to both sides. So callbacks may stop and restart timers that are due
 * in the same mow. Where a contender may choose the order in which timers fire,
 * the order affects later operations but not the checks.
 */
#include "agree.h"
#include "random.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#define AGREE_IDLE UINT64_MAX
#define AGREE_CROWD 160000u /* objects, about half of them running */

/* If ttl_count is not 0, TTLs are from a list of ttl_count TTLs, spread up to
 * longest. Otherwise, if far is false, each TTL is any number up to longest. If
 * far is true, a few TTLs are from AGREE_FAR to longest, and the others are
 * random numbers of up to 17 bits. */
struct agree_profile {
    const char *name;
    uint32_t objects;
    unsigned steps;
    size_t ttl_count;
    bool far;
    uint64_t longest;
    uint64_t jump; /* the longest step of the clock */
};

static const struct agree_profile agree_ordinary[] = {
    {"one TTL", 300, 300, 1, false, 50, 200},
    {"TTL 1", 100, 100, 1, false, 1, 10},
    {"few TTLs", 500, 400, 7, false, 1000, 5000},
    {"many TTLs", 2000, 250, 500, false, 60000, 30000},
    {"any TTL", 1000, 300, 0, false, 3000, 1000},
    {"many timers", 4000, 60, 0, false, 100000, 300000},
    {"far TTLs", 300, 400, 0, true, UINT64_C(1) << 40, UINT64_C(1) << 39},
};

/* With this many timers, contenders may use other strategies. */
static const struct agree_profile agree_crowds[] = {
    {"crowd of one TTL", AGREE_CROWD, 60, 1, false, 5000, 3000},
    {"crowd of few TTLs", AGREE_CROWD, 60, 8, false, 5000, 3000},
};

/* The oracle's record of a timer. */
struct agree_timer {
    uint64_t deadline; /* AGREE_IDLE: not running */
    uint64_t ttl;
    uint64_t started; /* sequence number of its start */
    uint32_t place;   /* in due, if it was due when the mow began */
};

struct agree {
    const struct contender *contender;
    const struct agree_profile *profile;
    uint64_t seed;
    FILE *out;
    unsigned step;
    bool good;
    bool over; /* no memory for a far TTL */

    void *self;
    char *objects;
    size_t stride;
    uint64_t *ttls;
    struct random random;
    uint64_t now;
    uint64_t starts;
    size_t fired; /* in this mow */
    size_t budget;
    struct agree_timer *timers;

    /* The timers that were due when the mow began, sorted by deadline, TTL and
     * start. Those before due[done] are not due any more. Timers with the same
     * TTL and deadline form a group, which has consecutive places. group[i] is
     * the first place of the group of due[i]. If a group begins at place g,
     * its timers before place group_done[g] are not due any more; other
     * elements of group_done[] are unused. */
    struct agree_timer **due;
    uint32_t *group;
    uint32_t *group_done;
    uint32_t due_count;
    uint32_t done;
};

__attribute__((format(printf, 2, 3))) static void
complain(struct agree *agree, const char *format, ...)
{
    if (!agree->good) {
        return; /* the first error suffices */
    }
    agree->good = false;
    if (agree->out == NULL) {
        return;
    }
    (void)fprintf(agree->out,
                  "lawn-bench: %s disagrees (%s, seed %" PRIu64
                  ", step %u, now %" PRIu64 "): ",
                  agree->contender->name, agree->profile->name, agree->seed,
                  agree->step, agree->now);
    va_list args;
    va_start(args, format);
    (void)vfprintf(agree->out, format, args);
    va_end(args);
    (void)fputc('\n', agree->out);
}

static struct object *
object_of(const struct agree *agree, uint32_t id)
{
    return (struct object *)(void *)(agree->objects + id * agree->stride);
}

static bool
is_due(const struct agree *agree, const struct agree_timer *timer)
{
    return timer->deadline <= agree->now;
}

static void
choose_ttl(struct agree *agree, struct object *object, uint64_t random)
{
    const struct agree_profile *profile = agree->profile;

    object->which = CONTENDER_ANY;
    if (profile->ttl_count > 0) {
        object->which = (uint32_t)(random % profile->ttl_count);
        object->ttl = agree->ttls[object->which];
    } else if (!profile->far) {
        object->ttl = 1 + random % profile->longest;
    } else if (random % 64 > 60) {
        object->ttl = AGREE_FAR + random % (profile->longest - AGREE_FAR);
    } else {
        object->ttl = 1 + (random >> 8) % (UINT64_C(1) << random % 18);
    }
}

static void
start(struct agree *agree, uint32_t id, uint64_t random)
{
    const struct contender *contender = agree->contender;
    struct object *object = object_of(agree, id);
    struct agree_timer *timer = &agree->timers[id];

    if (!agree->good || agree->over) {
        return;
    }
    choose_ttl(agree, object, random);
    contender->start(agree->self, object, object->ttl);
    if (contender->failed != NULL && contender->failed(agree->self)) {
        if (object->ttl < AGREE_FAR) {
            complain(agree, "start of timer %" PRIu32 " failed", id);
        }
        agree->over = true;
        return;
    }
    timer->ttl = object->ttl;
    timer->deadline = agree->now + object->ttl;
    timer->started = agree->starts++;
}

static void
stop(struct agree *agree, uint32_t id)
{
    struct agree_timer *timer = &agree->timers[id];
    bool running = timer->deadline != AGREE_IDLE;

    if (!agree->good || agree->over) {
        return;
    }
    bool was = agree->contender->stop(agree->self, object_of(agree, id));
    if (was != running) {
        complain(agree, "stop of timer %" PRIu32 " returned %s, but it is %s",
                 id, was ? "true" : "false", running ? "running" : "idle");
    }
    timer->deadline = AGREE_IDLE;
}

static void
check_next(struct agree *agree)
{
    uint64_t earliest = AGREE_IDLE;

    if (agree->contender->next == NULL || !agree->good || agree->over) {
        return;
    }
    for (uint32_t i = 0; i < agree->profile->objects; i++) {
        if (agree->timers[i].deadline < earliest) {
            earliest = agree->timers[i].deadline;
        }
    }
    uint64_t next = agree->contender->next(agree->self);
    if (next != earliest) {
        complain(agree,
                 "next() is %" PRIu64 ", the earliest deadline is "
                 "%" PRIu64,
                 next, earliest);
    }
}

static int
compare_timers(const void *a, const void *b)
{
    const struct agree_timer *x = *(struct agree_timer *const *)a;
    const struct agree_timer *y = *(struct agree_timer *const *)b;

    if (x->deadline != y->deadline) {
        return x->deadline < y->deadline ? -1 : 1;
    }
    if (x->ttl != y->ttl) {
        return x->ttl < y->ttl ? -1 : 1;
    }
    return x->started < y->started ? -1 : 1;
}

/* Finds the due timers. */
static void
find_due(struct agree *agree)
{
    uint32_t many = 0;

    for (uint32_t i = 0; i < agree->profile->objects; i++) {
        if (is_due(agree, &agree->timers[i])) {
            agree->due[many++] = &agree->timers[i];
        }
    }
    if (many > 0) {
        qsort(agree->due, many, sizeof(agree->due[0]), compare_timers);
    }
    for (uint32_t i = 0; i < many; i++) {
        const struct agree_timer *timer = agree->due[i];

        agree->due[i]->place = i;
        agree->group[i] = i > 0 && agree->due[i - 1]->ttl == timer->ttl &&
                                  agree->due[i - 1]->deadline == timer->deadline
                              ? agree->group[i - 1]
                              : i;
        agree->group_done[i] = i;
    }
    agree->due_count = many;
    agree->done = 0;
}

/* Returns the first timer from *done on, before end, that is still due, or
 * NULL. */
static const struct agree_timer *
first_due(const struct agree *agree, uint32_t *done, uint32_t end)
{
    while (*done < end && !is_due(agree, agree->due[*done])) {
        (*done)++;
    }
    return *done < end ? agree->due[*done] : NULL;
}

static void
check_order(struct agree *agree, const struct agree_timer *timer)
{
    uint32_t id = (uint32_t)(timer - agree->timers);
    const char *wrong = NULL;

    const struct agree_timer *first =
        first_due(agree, &agree->done, agree->due_count);
    if ((agree->contender->flags & CONTENDER_ORDERED) != 0 &&
        first->deadline != timer->deadline) {
        wrong = "deadlines";
    } else if ((agree->contender->flags & CONTENDER_FIFO) != 0) {
        uint32_t group = agree->group[timer->place];

        first = first_due(agree, &agree->group_done[group], agree->due_count);
        wrong = first != timer ? "starts" : NULL;
    }
    if (wrong != NULL) {
        complain(agree,
                 "in the order of %s timer %" PRIu32 " (deadline %" PRIu64
                 ") was expected, timer %" PRIu32 " (deadline %" PRIu64
                 ") fired",
                 wrong, (uint32_t)(first - agree->timers), first->deadline, id,
                 timer->deadline);
    }
}

/* The action of a callback depends on the timer and the time, and may affect
 * other timers, due in this mow or not. */
static void
act_in_callback(struct agree *agree, uint32_t id)
{
    uint64_t random = random_mix(random_mix(agree->now + agree->seed) + id);
    uint32_t other = (uint32_t)((random >> 32) % agree->profile->objects);

    switch (random % 8) {
    case 0:
    case 1:
    case 2:
        start(agree, id, random >> 3);
        break;
    case 3:
        stop(agree, other);
        break;
    case 4:
        start(agree, other, random >> 3);
        break;
    case 5:
        start(agree, id, random >> 3);
        stop(agree, id ^ (id + 1 < agree->profile->objects ? 1 : 0));
        break;
    default:
        break;
    }
}

static void
on_fire(struct object *object, void *arg)
{
    struct agree *agree = (struct agree *)arg;
    uint32_t id = object->id;

    agree->fired++;
    if (!agree->good || agree->over) {
        return;
    }
    struct agree_timer *timer = &agree->timers[id];
    if (timer->deadline == AGREE_IDLE) {
        complain(agree, "timer %" PRIu32 " fired, but it is idle", id);
        return;
    }
    if (!is_due(agree, timer)) {
        complain(agree,
                 "timer %" PRIu32 " (deadline %" PRIu64
                 ") fired before it was due",
                 id, timer->deadline);
        return;
    }
    check_order(agree, timer);
    timer->deadline = AGREE_IDLE;
    act_in_callback(agree, id);
}

static void
mow(struct agree *agree, uint64_t now, size_t budget)
{

    if (!agree->good || agree->over) {
        return;
    }
    if ((agree->contender->flags & CONTENDER_BUDGET) == 0) {
        budget = SIZE_MAX;
    }
    agree->now = now;
    agree->fired = 0;
    find_due(agree);
    size_t fired =
        agree->contender->mow(agree->self, now, budget, on_fire, agree);
    if (agree->over) {
        return;
    }
    const struct agree_timer *left =
        first_due(agree, &agree->done, agree->due_count);
    if (fired != agree->fired) {
        complain(agree, "mow() returned %zu, but %zu timers fired", fired,
                 agree->fired);
    } else if (fired > budget) {
        complain(agree, "%zu timers fired with a budget of %zu", fired, budget);
    } else if (fired < budget && left != NULL) {
        complain(agree,
                 "timer %" PRIu32 " (deadline %" PRIu64
                 ") was expected and did not fire",
                 (uint32_t)(left - agree->timers), left->deadline);
    }
}

static uint64_t
choose_step(struct agree *agree)
{
    uint64_t random = random_next(&agree->random);

    switch (random % 8) {
    case 0:
        return 0;
    case 1:
    case 2:
    case 3:
        return 1;
    case 4:
        return (random >> 8) % agree->profile->jump;
    default:
        return 2 + (random >> 8) % 30;
    }
}

static void
play(struct agree *agree)
{
    uint32_t objects = agree->profile->objects;

    for (agree->step = 0;
         agree->step < agree->profile->steps && agree->good && !agree->over;
         agree->step++) {
        uint64_t ops = random_below(&agree->random, 1 + objects / 20);

        if (agree->step % 64 == 0) {
            ops = objects;
        }
        uint64_t random = 0;
        while (ops-- > 0) {
            uint32_t id = (uint32_t)random_below(&agree->random, objects);

            random = random_next(&agree->random);
            if (random % 4 == 0) {
                stop(agree, id);
            } else {
                start(agree, id, random >> 2);
            }
            if (random % 64 == 1 && objects < AGREE_CROWD) {
                check_next(agree);
            }
        }
        random = random_next(&agree->random);
        mow(agree, agree->now + choose_step(agree),
            random % 4 == 0 ? (random >> 8) % 8 : SIZE_MAX);
        if (random % 3 == 0) {
            check_next(agree);
        }
    }
}

/* Lists the TTLs: the longest, and others at equal distances. */
static void
list_ttls(struct agree *agree)
{
    size_t count = agree->profile->ttl_count;

    for (size_t i = 0; i < count; i++) {
        agree->ttls[i] = agree->profile->longest * (i + 1) / count;
    }
}

static bool
alloc_state(struct agree *agree)
{
    size_t many = agree->profile->objects;
    size_t node = (agree->contender->node + 15) / 16 * 16;

    agree->stride = sizeof(struct object) + node;
    agree->objects = calloc(many, agree->stride);
    agree->ttls = calloc(agree->profile->ttl_count + 1, sizeof(agree->ttls[0]));
    agree->timers = calloc(many, sizeof(agree->timers[0]));
    agree->due = calloc(many, sizeof(agree->due[0]));
    agree->group = calloc(many, sizeof(agree->group[0]));
    agree->group_done = calloc(many, sizeof(agree->group_done[0]));
    return agree->objects != NULL && agree->ttls != NULL &&
           agree->timers != NULL && agree->due != NULL &&
           agree->group != NULL && agree->group_done != NULL;
}

static bool
run_profile(struct agree *agree)
{
    struct contender_setup setup = {0};

    if (!alloc_state(agree)) {
        complain(agree, "no memory");
        return false;
    }
    list_ttls(agree);
    for (uint32_t i = 0; i < agree->profile->objects; i++) {
        object_of(agree, i)->id = i;
        agree->timers[i].deadline = AGREE_IDLE;
    }
    agree->now = 1000000 + agree->seed % 1000;
    setup.now = agree->now;
    setup.objects = agree->profile->objects;
    setup.ttls = agree->profile->ttl_count > 0 ? agree->ttls : NULL;
    setup.ttl_count = agree->profile->ttl_count;
    setup.longest = agree->profile->longest;
    agree->self = agree->contender->make(&setup);
    if (agree->self == NULL) {
        complain(agree, "make() failed: out of memory");
        return false;
    }
    play(agree);
    agree->contender->free(agree->self);
    return agree->good;
}

static bool
run_profiles(const struct contender *contender, uint64_t seed, FILE *out,
             const struct agree_profile *profile, size_t count)
{
    bool good = true;

    if ((contender->flags & CONTENDER_EXACT) == 0 ||
        (contender->flags & (CONTENDER_NO_STOP | CONTENDER_ONE_TTL)) != 0) {
        return true;
    }
    for (; count > 0 && good; profile++, count--) {
        struct agree agree = {0};

        agree.contender = contender;
        agree.profile = profile;
        agree.seed = seed;
        agree.out = out;
        agree.good = true;
        agree.random.state = seed;
        good = run_profile(&agree);
        free(agree.objects);
        free(agree.ttls);
        free(agree.timers);
        free(agree.due);
        free(agree.group);
        free(agree.group_done);
    }
    return good;
}

bool
agree_check(const struct contender *contender, uint64_t seed, FILE *out)
{
    return run_profiles(contender, seed, out, agree_ordinary,
                        sizeof(agree_ordinary) / sizeof(agree_ordinary[0]));
}

bool
agree_check_crowd(const struct contender *contender, uint64_t seed, FILE *out)
{
    bool linear = (contender->flags & CONTENDER_LINEAR) != 0;

    return run_profiles(
        contender, seed, out, agree_crowds,
        linear ? 1 : sizeof(agree_crowds) / sizeof(agree_crowds[0]));
}
