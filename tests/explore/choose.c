/* choose.c - see choose.h. To walk all schedules, it keeps the choices of the
 * last schedule, takes the next option at the last choice that has one, and
 * drops the choices after it. */
#include "choose.h"

#include "rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum choose_mode { CHOOSE_ALL, CHOOSE_RANDOM, CHOOSE_TOLD };

struct choose_choice {
    uint8_t taken;
    uint8_t count;
};

struct choose_deviation {
    unsigned step;
    struct choose_option option;
};

static enum choose_mode mode;
static unsigned limit; /* maximum cost */
static unsigned spent;
static struct choose_choice path[CHOOSE_STEPS];
static unsigned length; /* number of known choices in path */
static unsigned depth;  /* number of choices made */
static struct choose_deviation deviations[CHOOSE_STEPS];
static unsigned deviation_count;
static struct choose_deviation given[CHOOSE_STEPS];
static unsigned given_count;
static unsigned given_next;

/* Random schedules: either fibres have priorities and lose them at a few steps
 * (PCT), or a fibre continues except at one step in n. */
static struct rng rng;
static uint64_t runs;
static unsigned priorities[8];
static unsigned changes[4];
static unsigned change_count;
static unsigned longest;
static unsigned one_in;

void
choose_all(unsigned cost)
{
    mode = CHOOSE_ALL;
    limit = cost;
    length = 0;
}

void
choose_random(uint64_t seed)
{
    mode = CHOOSE_RANDOM;
    rng.state = seed;
    runs = 0;
    longest = 50;
}

static char
letter(struct choose_option option)
{
    static const char first[] = {'a', 's', 'A'};

    return (char)(first[option.kind] + option.fibre);
}

static bool
parse(const char *text, struct choose_deviation *out, const char **end)
{
    char *after = NULL;

    out->step = (unsigned)strtoul(text, &after, 10);
    if (after == text) {
        return false;
    }
    if (*after >= 'a' && *after <= 'e') {
        out->option.kind = CHOOSE_RUN;
        out->option.fibre = (uint8_t)(*after - 'a');
    } else if (*after >= 's' && *after <= 'w') {
        out->option.kind = CHOOSE_DELAY;
        out->option.fibre = (uint8_t)(*after - 's');
    } else if (*after >= 'A' && *after <= 'E') {
        out->option.kind = CHOOSE_FLUSH;
        out->option.fibre = (uint8_t)(*after - 'A');
    } else {
        return false;
    }
    *end = after + 1;
    return true;
}

bool
choose_as_given(const char *choices)
{
    mode = CHOOSE_TOLD;
    given_count = 0;
    while (*choices != '\0') {
        if (given_count == CHOOSE_STEPS ||
            !parse(choices, &given[given_count++], &choices)) {
            return false;
        }
        if (*choices == ',') {
            choices++;
        }
    }
    return true;
}

static void
begin_random(void)
{
    one_in = runs++ % 2 == 0 ? 0 : 2u << rng_below(&rng, 5);
    for (unsigned i = 0; i < 8; i++) {
        priorities[i] = 100 + (unsigned)rng_below(&rng, 1000);
    }
    change_count = (unsigned)rng_below(&rng, 4) + 1;
    for (unsigned i = 0; i < change_count; i++) {
        changes[i] = (unsigned)rng_below(&rng, longest);
    }
}

void
choose_begin(void)
{
    spent = 0;
    depth = 0;
    deviation_count = 0;
    given_next = 0;
    if (mode == CHOOSE_RANDOM) {
        begin_random();
    }
}

static unsigned
choose_in_order(const struct choose_option *options, unsigned count)
{
    unsigned allowed[CHOOSE_OPTIONS] = {0};
    unsigned n = 0;

    for (unsigned i = 0; i < count; i++) {
        if (spent + options[i].cost <= limit) {
            allowed[n++] = i;
        }
    }
    unsigned chosen = 0;
    if (n == 1) {
        chosen = allowed[0];
    } else {
        if (depth == length) {
            path[length].taken = 0;
            path[length++].count = (uint8_t)n;
        }
        chosen = allowed[path[depth++].taken];
    }
    spent += options[chosen].cost;
    return chosen;
}

/* If the current fibre can continue, it is the first option. */
static unsigned
choose_by_priority(const struct choose_option *options, unsigned count,
                   unsigned step)
{
    unsigned best = 0;

    for (unsigned i = 0; i < change_count; i++) {
        if (changes[i] == step) {
            priorities[options[0].fibre] = i;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        if (options[i].kind != CHOOSE_RUN) {
            if (rng_below(&rng, 4) == 0) {
                return i;
            }
        } else if (options[best].kind != CHOOSE_RUN ||
                   priorities[options[i].fibre] >
                       priorities[options[best].fibre]) {
            best = i;
        }
    }
    return best;
}

static unsigned
choose_by_chance(const struct choose_option *options, unsigned count,
                 unsigned step)
{
    if (one_in == 0) {
        return choose_by_priority(options, count, step);
    }
    if (options[0].cost == 0 && count > 1 && options[1].cost == 0) {
        return (unsigned)rng_below(&rng, count); /* no fibre is interrupted */
    }
    return rng_below(&rng, one_in) == 0 ? (unsigned)rng_below(&rng, count) : 0;
}

static unsigned
choose_given_one(const struct choose_option *options, unsigned count,
                 unsigned step)
{
    if (given_next < given_count && given[given_next].step == step) {
        struct choose_option want = given[given_next++].option;

        for (unsigned i = 0; i < count; i++) {
            if (options[i].kind == want.kind &&
                options[i].fibre == want.fibre) {
                return i;
            }
        }
    }
    return 0;
}

unsigned
choose(const struct choose_option *options, unsigned count, unsigned step)
{
    unsigned chosen = count <= 1           ? 0
                      : mode == CHOOSE_ALL ? choose_in_order(options, count)
                      : mode == CHOOSE_RANDOM
                          ? choose_by_chance(options, count, step)
                          : choose_given_one(options, count, step);

    if (chosen != 0) {
        deviations[deviation_count].step = step;
        deviations[deviation_count++].option = options[chosen];
    }
    return chosen;
}

bool
choose_idle(void)
{
    return mode == CHOOSE_ALL && spent == limit;
}

bool
choose_next(unsigned steps)
{
    if (mode == CHOOSE_RANDOM) {
        longest = steps > longest ? steps : longest;
        return true;
    }
    if (mode == CHOOSE_TOLD) {
        return false;
    }
    length = depth;
    while (length > 0 && path[length - 1].taken + 1 == path[length - 1].count) {
        length--;
    }
    if (length == 0) {
        return false;
    }
    path[length - 1].taken++;
    return true;
}

bool
choose_was_new(void)
{
    return mode != CHOOSE_ALL || spent == limit;
}

const char *
choose_text(void)
{
    static char text[CHOOSE_STEPS * 8];
    char *at = text;

    *at = '\0';
    for (unsigned i = 0; i < deviation_count; i++) {
        at += sprintf(at, "%s%u%c", i > 0 ? "," : "", deviations[i].step,
                      letter(deviations[i].option));
    }
    return text;
}
