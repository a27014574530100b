/* fuzz_blades.c - the table of blades with TTLs that an attacker chose to share
 * a home, a second home, or both. Compared with an array.
 *
 * The fuzzer uses the table as a start does: find a blade, else claim one, else
 * the timer is unqueued. The hash is a product with an odd number, so each hash
 * value has a TTL, which the inverse yields. An operation is two bytes.
 */
#include "internal.h"
#include "small.h"

#define FUZZ_HOMES 16u
#define FUZZ_COUNT (FUZZ_HOMES + LAWN_BLADES_SPARE)
#define FUZZ_TIMERS 32u
#define FUZZ_ALONE FUZZ_COUNT

struct fuzz_timer {
    struct lawn_timer timer;
    uint64_t ttl;
    uint32_t blade; /* its blade; FUZZ_ALONE: none */
    bool running;
};

static struct lawn_blade fuzz_all[FUZZ_COUNT];
static struct lawn_blades fuzz_blades;
static struct fuzz_timer fuzz_timers[FUZZ_TIMERS];
static uint64_t fuzz_ttls[FUZZ_COUNT];   /* the TTL of a blade; 0: none */
static uint32_t fuzz_counts[FUZZ_COUNT]; /* timers on a blade */
static uint64_t fuzz_now;
static uint32_t fuzz_stripes;

/* The inverse of the table's odd multiplier modulo 2^64, by Newton's method. */
static uint64_t
fuzz_inverse(void)
{
    uint64_t odd = lawn__blades_hash(1);
    uint64_t x = odd;

    for (unsigned i = 0; i < 6; i++) {
        x *= 2 - odd * x;
    }
    return x;
}

/* A TTL whose hash has the home in bits 60 to 63, the second home in 40 to
 * 43. */
static uint64_t
fuzz_ttl_of(uint8_t byte)
{
    static uint64_t inverse;
    uint64_t home = byte & 3;
    uint64_t far = byte >> 2 & 3;

    inverse = inverse != 0 ? inverse : fuzz_inverse();
    return inverse * (home * 5 << 60 | far * 5 << 40 | (1u + (byte >> 4)));
}

/* The set of a home: the hash as a fraction of the number of sets. */
static uint32_t
fuzz_set(uint64_t hash, uint64_t deadline)
{
    uint32_t home = (uint32_t)(hash / (UINT64_MAX / FUZZ_HOMES + 1));

    return home / LAWN_BLADES_WAYS + (uint32_t)(deadline % fuzz_stripes);
}

/* The blade of a TTL in a set, or FUZZ_ALONE; and whether a blade there is
 * free. */
static uint32_t
fuzz_find(uint32_t set, uint64_t ttl, bool *room)
{
    uint32_t found = FUZZ_ALONE;

    *room = false;
    for (uint32_t i = 0; i < FUZZ_COUNT; i++) {
        if (i / LAWN_BLADES_WAYS == set) {
            *room = *room || fuzz_counts[i] == 0;
            if (fuzz_ttls[i] == ttl) {
                small_expect(found == FUZZ_ALONE, "I8: twice in a set");
                found = i;
            }
        }
    }
    return found;
}

static void
fuzz_put(struct fuzz_timer *t, struct lawn_blade *blade)
{
    uint32_t i = (uint32_t)(blade - fuzz_all);

    for (uint32_t k = 0; k < FUZZ_TIMERS; k++) {
        const struct fuzz_timer *other = &fuzz_timers[k];

        small_expect(!other->running || other->blade == FUZZ_ALONE ||
                         other->ttl != t->ttl ||
                         other->timer.deadline != t->timer.deadline ||
                         other->blade == i,
                     "P4: timers of one TTL and deadline on two blades");
    }
    blade->ttl = t->ttl;
    lawn__list_append(lawn__key(NULL), &blade->queue, &t->timer.link);
    fuzz_ttls[i] = t->ttl;
    fuzz_counts[i]++;
    t->blade = i;
}

static void
fuzz_start(struct fuzz_timer *t, uint64_t ttl)
{
    uint64_t deadline = ttl < LAWN_LAST - fuzz_now ? fuzz_now + ttl : LAWN_LAST;
    uint32_t near = fuzz_set(ttl * lawn__blades_hash(1), deadline);
    uint32_t far = fuzz_set(ttl * lawn__blades_hash(1) << 20, deadline);
    bool near_room = false;
    bool far_room = false;
    uint32_t is = fuzz_find(near, ttl, &near_room);
    uint32_t other = fuzz_find(far, ttl, &far_room);
    struct lawn_blade *blade = lawn__blades_find(&fuzz_blades, ttl, deadline);

    is = is != FUZZ_ALONE ? is : other;
    small_expect((blade == NULL) == (is == FUZZ_ALONE), "find: there or not");
    small_expect(blade == NULL || blade == &fuzz_all[is], "find: which");
    if (blade == NULL) {
        blade = lawn__blades_claim(&fuzz_blades, ttl, deadline);
        small_expect((blade != NULL) == (near_room || far_room),
                     "claim: whether there is room");
        if (blade != NULL) {
            is = (uint32_t)(blade - fuzz_all);
            small_expect(fuzz_counts[is] == 0, "claim: a blade in use");
            small_expect(is / LAWN_BLADES_WAYS == (near_room ? near : far),
                         "claim: the nearer set with room");
        }
    }
    t->ttl = ttl;
    t->timer.deadline = deadline;
    t->blade = FUZZ_ALONE;
    if (blade != NULL) {
        fuzz_put(t, blade);
    }
    t->running = true;
}

static void
fuzz_stop(struct fuzz_timer *t)
{
    if (t->running && t->blade != FUZZ_ALONE) {
        lawn__list_remove(lawn__key(NULL), &t->timer.link);
        fuzz_counts[t->blade]--;
    }
    t->running = false;
}

/* Fires the timers of a blade from its head. */
static void
fuzz_fire(uint32_t i)
{
    struct lawn_link *queue = &fuzz_all[i].queue;

    small_expect(lawn__list_empty(queue) == (fuzz_counts[i] == 0), "count");
    if (fuzz_counts[i] == 0) {
        return;
    }
    struct fuzz_timer *t = (struct fuzz_timer *)(void *)lawn__timer_of(
        lawn__list_first(lawn__key(NULL), queue));
    small_expect(t->running && t->blade == i, "another blade's timer");
    for (uint32_t k = 0; k < FUZZ_TIMERS; k++) {
        small_expect(!fuzz_timers[k].running || fuzz_timers[k].blade != i ||
                         fuzz_timers[k].timer.deadline >= t->timer.deadline,
                     "I1: out of order");
    }
    fuzz_stop(t);
}

static void
fuzz_table(const uint8_t *at, const uint8_t *end)
{
    uint32_t live = 0;

    lawn__blades_init(&fuzz_blades, fuzz_all, FUZZ_COUNT, lawn__key(NULL));
    for (uint32_t i = 0; i < FUZZ_TIMERS; i++) {
        fuzz_timers[i].running = false;
    }
    for (uint32_t i = 0; i < FUZZ_COUNT; i++) {
        fuzz_ttls[i] = 0;
        fuzz_counts[i] = 0;
    }
    fuzz_now = 0;
    fuzz_stripes = 1;
    for (; at + 1 < end; at += 2) {
        struct fuzz_timer *t = &fuzz_timers[at[0] % FUZZ_TIMERS];

        switch (at[0] >> 5) {
        case 4:
            fuzz_stop(t);
            break;
        case 5:
            fuzz_fire(at[1] % FUZZ_COUNT);
            break;
        case 6: /* stripes change only when the clock moves */
            fuzz_now += 1 + at[1] % 64;
            fuzz_stripes = (at[1] & 0x80) != 0 ? LAWN_BLADES_STRIPES : 1;
            fuzz_blades.stripe = (fuzz_stripes - 1) * LAWN_BLADES_WAYS;
            break;
        case 7: /* all blades of a set */
            for (uint32_t i = 0; i < 4; i++) {
                fuzz_fire(at[1] % (FUZZ_COUNT / 4) * 4 + i);
            }
            break;
        default:
            fuzz_stop(t);
            fuzz_start(t, fuzz_ttl_of(at[1]));
        }
    }
    for (uint32_t i = 0; i < FUZZ_COUNT; i++) {
        live += fuzz_counts[i] > 0;
    }
    small_expect(lawn__blades_count_live(&fuzz_blades) == live, "live");
    for (uint32_t i = 0; i < FUZZ_TIMERS; i++) {
        fuzz_stop(&fuzz_timers[i]);
    }
    small_expect(lawn__blades_count_live(&fuzz_blades) == 0, "live at the end");
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_table(bytes, bytes + size);
    return 0;
}
