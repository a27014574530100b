/* small.c - see small.h. */
#include "small.h"

#include "lawn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_TIMERS 16u
#define SMALL_PLACES 24u /* places in memory for timers, which are moved */
#define SMALL_DEPTH 4u   /* maximum number of operations of a callback */
#define SMALL_LAST (LAWN_NEVER - 1)
#define SMALL_FREED 0xDD

/* The expected state of a timer. */
struct small_timer {
    uint64_t deadline; /* LAWN_NEVER: idle */
    uint64_t ttl;
    uint32_t order; /* the number of its start */
    uint32_t era;   /* the number of earlier changes of the resolution */
    uint32_t mow;   /* the mow whose callback started it, or 0 */
    uint8_t place;
    bool loose; /* P4 does not order it among others of its TTL */
    bool freed; /* its memory is used otherwise */
};

struct small {
    const struct small_palette *palette;
    const uint8_t *at;
    const uint8_t *end;
    struct lawn *lawn;
    struct small_timer timers[SMALL_TIMERS];
    struct lawn_timer *places[SMALL_PLACES];
    uint64_t now;
    uint64_t resolution;
    uint64_t until;
    uint64_t fired_last; /* the deadline of the last fired timer */
    uint32_t orders;
    uint32_t era;
    uint32_t mow;
    size_t fired; /* timers fired in this mow */
    size_t budget;
    bool mowing;
    bool halted;
    uint32_t running;
};

static struct small small;
static _Alignas(64) unsigned char small_memory[20480];
/* Images of new lawns, by the first two bytes of a case. */
static unsigned char *small_new[256][256];
static struct lawn_timer small_places[SMALL_PLACES];
static uint8_t small_owner[SMALL_PLACES]; /* the timer there, or SMALL_TIMERS */

void
small_expect(int good, const char *what)
{
    if (!good) {
        (void)fprintf(stderr, "broken: %s\n", what);
        abort();
    }
}

uint64_t
small_extreme(uint8_t byte)
{
    uint64_t power = UINT64_C(1) << (byte & 63);

    switch (byte >> 6) {
    case 0:
        return power;
    case 1:
        return power - 1;
    case 2:
        return power + 1;
    default:
        return LAWN_NEVER - (byte & 63);
    }
}

static uint8_t
small_take(void)
{
    return small.at < small.end ? *small.at++ : 0;
}

static struct lawn_timer *
small_timer_of(uint32_t i)
{
    struct small_timer *t = &small.timers[i];
    struct lawn_timer *timer = &small_places[t->place];
    const unsigned char *bytes = (const unsigned char *)timer;

    if (t->freed) {
        for (size_t k = 0; k < sizeof(*timer); k++) {
            small_expect(bytes[k] == SMALL_FREED,
                         "P6: memory of a timer was written that is freed");
        }
        memset(timer, 0, sizeof(*timer));
        t->freed = false;
    }
    return timer;
}

static uint32_t
small_number_of(const struct lawn_timer *timer)
{
    size_t place = (size_t)(timer - small_places);

    small_expect(place < SMALL_PLACES && small_owner[place] < SMALL_TIMERS,
                 "P3: the timer does not exist");
    return small_owner[place];
}

/* The deadline of a start with this TTL, without overflow. */
static uint64_t
small_due(uint64_t ttl)
{
    uint64_t r = small.resolution;

    if (ttl >= SMALL_LAST - small.now) {
        return SMALL_LAST;
    }
    uint64_t due = small.now + ttl;
    if (due % r == 0) {
        return due;
    }
    due /= r;
    return due >= SMALL_LAST / r ? SMALL_LAST : (due + 1) * r;
}

static void
small_started(uint32_t i, uint64_t ttl, uint64_t deadline)
{
    struct small_timer *t = &small.timers[i];

    small.running += t->deadline == LAWN_NEVER;
    t->ttl = ttl;
    t->deadline = deadline;
    t->order = ++small.orders;
    t->era = small.era;
    t->mow = small.mowing ? small.mow : 0;
    t->loose = false;
    small_expect(lawn_deadline(small_timer_of(i)) == deadline,
                 "P9: a deadline");
}

static void
small_start(uint32_t i, uint64_t ttl)
{
    lawn_start(small.lawn, small_timer_of(i), ttl);
    ttl = ttl > 0 ? ttl : 1;
    small_started(i, ttl, small_due(ttl));
}

static void
small_start_at(uint32_t i, uint64_t deadline)
{
    uint64_t ttl = deadline > small.now ? deadline - small.now : 1;

    lawn_start_at(small.lawn, small_timer_of(i), deadline);
    small_started(i, ttl, small_due(ttl));
}

/* The lawn may correct a deadline that has passed: not to an earlier one, not
 * to one after now, and not to one before the last fired deadline. */
static void
small_start_as(uint32_t i, uint64_t ttl, uint64_t deadline)
{
    struct lawn_timer *timer = small_timer_of(i);

    lawn_start_as(small.lawn, timer, ttl, deadline);
    uint64_t is = lawn_deadline(timer);
    deadline = deadline < SMALL_LAST ? deadline : SMALL_LAST;
    if (small.mowing && deadline <= small.now) {
        deadline = small.now < SMALL_LAST ? small.now + 1 : SMALL_LAST;
    }
    small_expect(is >= deadline, "P1: a deadline is too early");
    small_expect(is == deadline || (is <= small.now && !small.mowing),
                 "P2: a deadline is too late");
    small_expect(is >= small.fired_last, "P4: a deadline before what fired");
    small_started(i, ttl, is);
    small.timers[i].loose = true;
}

static void
small_stop(uint32_t i)
{
    struct small_timer *t = &small.timers[i];
    bool runs = t->deadline != LAWN_NEVER;

    small_expect(lawn_stop(small.lawn, small_timer_of(i)) == runs, "P5: stop");
    small.running -= runs;
    t->deadline = LAWN_NEVER;
}

/* Frees a timer's memory. */
static void
small_free(uint32_t i)
{
    small_stop(i);
    memset(small_timer_of(i), SMALL_FREED, sizeof(struct lawn_timer));
    small.timers[i].freed = true;
}

/* Moves a timer to another place in memory, with memmove(). */
static void
small_move(uint32_t i, uint8_t byte)
{
    struct small_timer *t = &small.timers[i];
    uint8_t place = byte % SMALL_PLACES;
    struct lawn_timer *from = small_timer_of(i);

    if (small_owner[place] != SMALL_TIMERS) {
        return;
    }
    small_places[place] = *from;
    memset(from, SMALL_FREED, sizeof(*from));
    small_owner[t->place] = SMALL_TIMERS;
    small_owner[place] = (uint8_t)i;
    t->place = place;
    lawn_moved(small.lawn, &small_places[place]);
}

static void
small_clock(uint64_t now)
{
    now = now < SMALL_LAST ? now : SMALL_LAST;
    small.now = now > small.now ? now : small.now;
}

/* Returns whether a has to fire before b. */
static bool
small_before(const struct small_timer *a, const struct small_timer *b)
{
    return a->deadline < b->deadline ||
           (a->deadline == b->deadline && a->ttl == b->ttl &&
            a->order < b->order && a->era == b->era && !a->loose && !b->loose);
}

static void
small_expect_first(const struct small_timer *t)
{
    small_expect(t->deadline != LAWN_NEVER, "P3: an idle timer is first");
    for (uint32_t i = 0; i < SMALL_TIMERS; i++) {
        small_expect(small.timers[i].deadline == LAWN_NEVER ||
                         !small_before(&small.timers[i], t),
                     "P4: another one comes first");
    }
}

static void
small_next(bool timer_too)
{
    struct lawn_timer *first = timer_too ? lawn_next_timer(small.lawn) : NULL;
    uint64_t next = lawn_next(small.lawn);
    uint64_t is = LAWN_NEVER;

    for (uint32_t i = 0; i < SMALL_TIMERS; i++) {
        is = small.timers[i].deadline < is ? small.timers[i].deadline : is;
    }
    small_expect(next == is, "P2: lawn_next()");
    small_expect(lawn_count(small.lawn) == small.running, "P3: lawn_count()");
    if (timer_too) {
        small_expect((first == NULL) == (is == LAWN_NEVER),
                     "P2: lawn_next_timer()");
        if (first != NULL) {
            small_expect_first(&small.timers[small_number_of(first)]);
        }
    }
}

/* Another timer that is due at the same time, or else any. */
static uint32_t
small_sibling(uint32_t of, uint64_t deadline)
{
    for (uint32_t i = 1; i < SMALL_TIMERS; i++) {
        uint32_t k = (of + i) % SMALL_TIMERS;

        if (small.timers[k].deadline == deadline) {
            return k;
        }
    }
    return (of + 1) % SMALL_TIMERS;
}

/* Runs an operation that is also allowed in callbacks. self is the timer to
 * use, unless the byte selects another. */
static void
small_operation(uint32_t self, uint64_t due, uint8_t code)
{
    const struct small_palette *palette = small.palette;
    uint32_t i = (code & 0x10) != 0 ? code >> 5 : self;

    switch (code & 15) {
    case 0:
    case 1:
        small_start(i, palette->ttl(small_take()));
        break;
    case 2: /* with the same TTL, or one more */
        small_start(i, small.timers[i].ttl + (code >> 7));
        break;
    case 3:
        small_start_at(i, due + (small_take() & 7));
        break;
    case 4:
        small_start_as(i, small.timers[i].ttl, due + (small_take() & 7));
        break;
    case 5:
        small_stop(i);
        break;
    case 6:
        small_stop(small_sibling(i, due));
        break;
    case 7:
        small_start(small_sibling(i, due), palette->ttl(small_take()));
        break;
    case 8:
        small_free(i);
        break;
    case 9:
        small_move(i, small_take());
        break;
    case 10:
        small_next(false);
        break;
    case 11:
        small_next(true);
        break;
    case 12:
        small.era++;
        small.resolution = palette->resolution(small_take());
        small.resolution += small.resolution == 0;
        lawn_set_resolution(small.lawn, small.resolution);
        break;
    case 13:
        due = small.now + palette->step(small_take());
        due = due >= small.now ? due : LAWN_NEVER;
        lawn_set_now(small.lawn, due);
        small_clock(due);
        break;
    case 14:
        small_start_as(i, palette->ttl(small_take()),
                       small.now + (uint64_t)small_take() - 8);
        break;
    default:
        lawn_halt(small.lawn);
        small.halted = small.halted || small.mowing;
    }
}

static void
small_fire(struct lawn_timer *timer, void *arg)
{
    uint32_t i = small_number_of(timer);
    struct small_timer *t = &small.timers[i];
    uint64_t due = t->deadline;

    small_expect(arg == &small, "P6: the argument");
    small_expect(due != LAWN_NEVER, "P3 P5: an idle timer fired");
    small_expect(!lawn_pending(timer) && lawn_last_deadline(timer) == due,
                 "P6: idle");
    small_expect(due <= small.until, "P1: early");
    small_expect(t->mow != small.mow, "P6: in the mow that started it");
    small_expect(due >= small.fired_last, "P4: after a later one");
    small_expect(!small.halted && small.fired < small.budget, "P2: budget");
    small_expect_first(t);
    small.fired_last = due;
    small.fired++;
    small.running--;
    t->deadline = LAWN_NEVER;
    uint8_t code = 0;
    for (code = small_take() & (SMALL_DEPTH - 1);
         code > 0 && small.at < small.end; code--) {
        small_operation(i, due, small_take());
    }
}

static void
small_mow(uint64_t until, size_t budget)
{

    small.until = until < SMALL_LAST ? until : SMALL_LAST;
    small_clock(until);
    small.mow++;
    small.fired = 0;
    small.budget = budget;
    small.halted = false;
    small.mowing = true;
    size_t fired = lawn_mow(small.lawn, until, budget, small_fire, &small);
    small.mowing = false;
    small_expect(fired == small.fired, "P3: what a mow returns");
    small_expect(lawn_now(small.lawn) == small.now, "P9: lawn_now()");
    if (fired < budget && !small.halted) {
        for (uint32_t i = 0; i < SMALL_TIMERS; i++) {
            small_expect(small.timers[i].deadline > small.until ||
                             small.timers[i].mow == small.mow,
                         "P2: forgotten");
        }
    }
    small.halted = false;
}

/* Makes a lawn, always at the same address, so that a new one can be copied
 * from the first: that is faster. */
static struct lawn *
small_place(const struct lawn_options *options, unsigned char **copy)
{
    struct lawn *lawn =
        *copy == NULL ? lawn_place(small_memory, sizeof(small_memory), options)
                      : (struct lawn *)(void *)small_memory;

    small_expect(lawn == (struct lawn *)(void *)small_memory, "lawn_place()");
    if (*copy != NULL) {
        memcpy(small_memory, *copy, lawn_size(options));
        return lawn;
    }
    *copy = malloc(lawn_size(options));
    small_expect(*copy != NULL, "out of memory");
    memcpy(*copy, small_memory, lawn_size(options));
    return lawn;
}

static void
small_begin(uint8_t manner, uint8_t start)
{
    struct lawn_options options = {.blades = (manner & 1) != 0 ? 16 : 8,
                                   .slot_bits = 4 + (manner >> 1 & 1)};

    options.now = small.palette->start(start);
    small.now = options.now < SMALL_LAST ? options.now : SMALL_LAST;
    small.resolution = 1;
    small.fired_last = 0;
    small.orders = small.era = small.mow = small.running = 0;
    small.mowing = small.halted = false;
    small.lawn = small_place(&options, &small_new[manner & 0xC3][start]);
    memset(small_places, 0, sizeof(small_places));
    memset(small.timers, 0, sizeof(small.timers));
    memset(small_owner, SMALL_TIMERS, sizeof(small_owner));
    for (uint32_t i = 0; i < SMALL_TIMERS; i++) {
        small.timers[i].deadline = LAWN_NEVER;
        small.timers[i].place = (uint8_t)i;
        small_owner[i] = (uint8_t)i;
    }
}

/* Operations that callbacks cannot do: mows, over any distance, or with a clock
 * that runs back; with a small budget, or none. */
static void
small_step(uint8_t code)
{

    if (code < 0xC0) {
        small_operation(code >> 4, small.now, small_take());
        return;
    }
    uint8_t byte = small_take();
    uint64_t until = small.now + small.palette->step(byte);
    until = until >= small.now ? until : LAWN_NEVER;
    if ((code & 0x30) == 0) {
        until = lawn_next(small.lawn); /* exactly to the next deadline */
    } else if ((code & 0x30) == 0x10) {
        until = small.now - (byte & 7);
        until = until <= small.now ? until : 0;
    }
    small_mow(until, (code & 8) != 0 ? SIZE_MAX : code & 7);
}

void
small_run(const struct small_palette *palette, const uint8_t *bytes,
          size_t size)
{
    small.palette = palette;
    small.at = bytes;
    small.end = bytes + size;
    uint8_t manner = small_take();
    small_begin(manner, small_take());
    while (small.at < small.end) {
        small_step(small_take());
    }
    small_next(true);
    if ((manner & 0x3C) == 0x3C) {
        small_expect(lawn_check(small.lawn, stderr), "lawn_check()");
    }
    /* All remaining timers fire, in order. */
    small.end = small.at;
    small_mow(LAWN_NEVER, SIZE_MAX);
    small_expect(small.running == 0 && lawn_next(small.lawn) == LAWN_NEVER,
                 "P3: something is left");
}
