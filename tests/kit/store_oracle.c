/* store_oracle.c - the expected behavior of a store: see store_oracle.h. */
#include "store_oracle.h"

#include "lawn_store.h"
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

void *
store_oracle_alloc(size_t size)
{
    void *memory = NULL;

    if (posix_memalign(&memory, 16, size > 0 ? size : 1) != 0) {
        abort();
    }
    return memory;
}

/* Ids. */

static void
set_id(struct store_oracle_timer *t, size_t size, uint8_t fill)
{
    t->id = store_oracle_alloc(size);
    t->id_size = size;
    memset(t->id, fill, size);
}

static void
put_number(uint8_t *to, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++) {
        to[i] = (uint8_t)(number >> 8 * i);
    }
}

/* Number 7 is empty, number 6 has the maximum length. The last kind consists of
 * zeros, of various lengths. */
static void
make_id(struct store_oracle_timer *t, uint32_t number)
{
    uint32_t row = number / 8;

    switch (number % 8) {
    case 0:
        set_id(t, 8, 0);
        put_number(t->id, row);
        break;
    case 1:
        set_id(t, 1, (uint8_t)row);
        break;
    case 2:
        set_id(t, 16, 0);
        put_number(t->id + 12, number);
        break;
    case 3:
        set_id(t, 17, 'x');
        put_number(t->id, number);
        break;
    case 4:
        set_id(t, 8, 0xff);
        put_number(t->id + 4, row);
        break;
    case 5:
        set_id(t, 300, 'y');
        put_number(t->id + 296, number);
        break;
    case 6:
        set_id(t, row == 0 ? LAWN_STORE_ID_MAX : row == 1 ? 20000 : 5, 'z');
        put_number(t->id, number);
        break;
    default:
        set_id(t, row == 0 ? 0 : 20 + row, 0);
    }
}

static void
make_large_id(struct store_oracle_timer *t, uint32_t number)
{
    static const size_t sizes[8] = {8, 8, 16, 17, 12, 24, 40, 8};

    set_id(t, sizes[number % 8], 0);
    put_number(t->id + t->id_size - 4, number);
}

void
store_oracle_init(struct store_oracle *oracle, uint32_t many, bool thorough)
{
    memset(oracle, 0, sizeof(*oracle));
    oracle->many = many;
    oracle->thorough = thorough;
    oracle->timers = store_oracle_alloc(many * sizeof(*oracle->timers));
    memset(oracle->timers, 0, many * sizeof(*oracle->timers));
    for (uint32_t i = 0; i < many; i++) {
        oracle->timers[i].deadline = LAWN_NEVER;
        if (thorough) {
            make_id(&oracle->timers[i], i);
        } else {
            make_large_id(&oracle->timers[i], i);
        }
    }
}

void
store_oracle_fini(struct store_oracle *oracle)
{
    for (uint32_t i = 0; i < oracle->many; i++) {
        free(oracle->timers[i].id);
        free(oracle->timers[i].payload);
    }
    free(oracle->timers);
}

static bool
is_id(const struct store_oracle_timer *t, const void *id, size_t size)
{
    return t->id_size == size && (size == 0 || memcmp(t->id, id, size) == 0);
}

uint32_t
store_oracle_find(const struct store_oracle *oracle, const void *id,
                  size_t size)
{
    const uint8_t *bytes = (const uint8_t *)id;
    uint32_t i = 0;

    if (!oracle->thorough) {
        if (size < 4) {
            return STORE_ORACLE_NONE;
        }
        bytes += size - 4;
        i = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
            (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
        return i < oracle->many && is_id(&oracle->timers[i], id, size)
                   ? i
                   : STORE_ORACLE_NONE;
    }
    while (i < oracle->many && !is_id(&oracle->timers[i], id, size)) {
        i++;
    }
    return i < oracle->many ? i : STORE_ORACLE_NONE;
}

bool
store_oracle_looks(struct store_oracle *oracle)
{
    return oracle->thorough || oracle->looks++ % 4096 == 0;
}

/* Timers. */

static void
leave(struct store_oracle *oracle, struct store_oracle_timer *t, bool stopped)
{
    t->deadline = LAWN_NEVER;
    t->stopped = stopped;
    oracle->count--;
    oracle->held -= t->id_size + t->payload_size;
}

static void
set_payload(struct store_oracle *oracle, struct store_oracle_timer *t,
            const uint8_t *payload, size_t size)
{
    uint8_t *copy = store_oracle_alloc(size);

    memcpy(copy, payload, size);
    free(t->payload);
    oracle->held += size;
    oracle->held -= t->payload_size;
    t->payload = copy;
    t->payload_size = size;
}

void
store_oracle_renew(struct store_oracle *oracle, uint64_t now,
                   uint64_t resolution)
{
    store_oracle_clear(oracle);
    store_oracle_moved(oracle, now, resolution);
}

void
store_oracle_start(struct store_oracle *oracle, uint32_t number, uint64_t ttl,
                   const uint8_t *payload, size_t size)
{
    struct store_oracle_timer *t = &oracle->timers[number];

    if (t->deadline == LAWN_NEVER) {
        t->born = oracle->order;
        memset(t->visited, 0, sizeof(t->visited));
        oracle->count++;
        oracle->held += t->id_size + t->payload_size;
    }
    if (payload != NULL) {
        set_payload(oracle, t, payload, size);
    }
    t->ttl = ttl > 0 ? ttl : 1;
    t->deadline = oracle_due(oracle->now, oracle->resolution, t->ttl);
    t->order = oracle->order++;
    t->era = 0;
}

void
store_oracle_start_at(struct store_oracle *oracle, uint32_t number,
                      uint64_t deadline, const uint8_t *payload, size_t size)
{
    store_oracle_start(oracle, number,
                       deadline > oracle->now ? deadline - oracle->now : 1,
                       payload, size);
}

void
store_oracle_update(struct store_oracle *oracle, uint32_t number,
                    const uint8_t *payload, size_t size)
{
    set_payload(oracle, &oracle->timers[number], payload, size);
}

void
store_oracle_stop(struct store_oracle *oracle, uint32_t number)
{
    leave(oracle, &oracle->timers[number], true);
}

void
store_oracle_clear(struct store_oracle *oracle)
{
    for (uint32_t i = 0; i < oracle->many; i++) {
        if (oracle->timers[i].deadline != LAWN_NEVER) {
            leave(oracle, &oracle->timers[i], true);
        }
    }
}

void
store_oracle_set_now(struct store_oracle *oracle, uint64_t now)
{
    if (now == LAWN_NEVER) {
        now = LAWN_NEVER - 1;
    }
    if (now > oracle->now) {
        oracle->now = now;
    }
}

uint64_t
store_oracle_next(const struct store_oracle *oracle)
{
    uint64_t next = LAWN_NEVER;

    for (uint32_t i = 0; i < oracle->many; i++) {
        if (oracle->timers[i].deadline < next) {
            next = oracle->timers[i].deadline;
        }
    }
    return next;
}

/* A timer that is due later than if it were started now becomes unqueued, and
 * may fire before others of its TTL: see lawn_start_as(). */
void
store_oracle_reloaded(struct store_oracle *oracle)
{
    memset(oracle->walk, 0, sizeof(oracle->walk));
    for (uint32_t i = 0; i < oracle->many; i++) {
        struct store_oracle_timer *t = &oracle->timers[i];

        if (t->deadline != LAWN_NEVER) {
            t->born = oracle->order;
            if (t->deadline > oracle->now &&
                t->deadline - oracle->now > t->ttl) {
                t->era = ++oracle->era;
            }
        }
    }
    oracle->order++;
}

void
store_oracle_moved(struct store_oracle *oracle, uint64_t now,
                   uint64_t resolution)
{
    oracle->now = now < LAWN_NEVER - 1 ? now : LAWN_NEVER - 1;
    oracle->resolution = resolution > 0 ? resolution : 1;
    oracle->last = 0;
    for (uint32_t i = 0; i < STORE_ORACLE_RECENT; i++) {
        oracle->recent[i].deadline = LAWN_NEVER;
    }
    store_oracle_reloaded(oracle);
}

/* Fires. */

void
store_oracle_begin_mow(struct store_oracle *oracle,
                       struct store_oracle_mow *mow, uint64_t now,
                       size_t budget)
{
    store_oracle_set_now(oracle, now);
    mow->outer = oracle->mow;
    mow->until = now < LAWN_NEVER - 1 ? now : LAWN_NEVER - 1;
    mow->began = oracle->order;
    mow->budget = budget;
    mow->fired = 0;
    mow->most = oracle->now < LAWN_NEVER - 1 ? UINT64_MAX : oracle->count;
    oracle->mow = mow;
}

#define OUT_OF_TURN                                                            \
    "P4: of two timers with one TTL and one deadline, the one started later "  \
    "fired first"

/* Returns whether a timer started after t fired before it. */
static const char *
not_in_turn(struct store_oracle *oracle, const struct store_oracle_timer *t)
{
    struct store_oracle_timer *recent =
        &oracle->recent[t->ttl % STORE_ORACLE_RECENT];
    bool wrong = recent->ttl == t->ttl && recent->deadline == t->deadline &&
                 recent->era == t->era && recent->order > t->order;

    *recent = *t;
    return wrong ? OUT_OF_TURN : NULL;
}

/* Returns whether another timer must fire before t. */
static const char *
not_first(const struct store_oracle *oracle, const struct store_oracle_timer *t)
{
    for (uint32_t i = 0; i < oracle->many; i++) {
        const struct store_oracle_timer *other = &oracle->timers[i];

        if (other->deadline < t->deadline) {
            return "P4: a timer fired while an earlier one was running";
        }
        if (other->deadline == t->deadline && other->ttl == t->ttl &&
            other->era == t->era && other->order < t->order) {
            return OUT_OF_TURN;
        }
    }
    return NULL;
}

const char *
store_oracle_first(const struct store_oracle *oracle, uint32_t number)
{
    const struct store_oracle_timer *t = &oracle->timers[number];

    if (t->deadline == LAWN_NEVER) {
        return "P3: the timer returned as first is not running";
    }
    return not_first(oracle, t) != NULL
               ? "P4: the timer returned as first must not fire first"
               : NULL;
}

const char *
store_oracle_fire(struct store_oracle *oracle, uint32_t number)
{
    struct store_oracle_timer *t = &oracle->timers[number];
    struct store_oracle_mow *mow = oracle->mow;

    if (t->deadline == LAWN_NEVER) {
        return t->stopped ? "P5: a stopped timer fired"
                          : "P3: a timer fired that was not running";
    }
    if (t->deadline > mow->until) {
        return "P1: a timer fired early";
    }
    if (t->order >= mow->began && t->deadline < LAWN_NEVER - 1) {
        return "P6: a timer fired in the mow whose callback started it";
    }
    if (mow->fired >= mow->most) {
        return "P6: a mow at the last tick fires too many timers";
    }
    if (t->deadline < oracle->last) {
        return "P4: a timer fired after one with a later deadline";
    }
    if (++mow->fired > mow->budget) {
        return "P2: a mow fired more than its budget";
    }
    const char *broken = not_in_turn(oracle, t);
    if (broken == NULL && store_oracle_looks(oracle)) {
        broken = not_first(oracle, t);
    }
    oracle->last = t->deadline;
    oracle->fires++;
    leave(oracle, t, false);
    return broken;
}

/* Timers started by a callback do not fire in this mow. At the last tick they
 * are due nevertheless, because there is no later tick. */
const char *
store_oracle_mown(struct store_oracle *oracle)
{
    const struct store_oracle_mow *mow = oracle->mow;
    uint64_t began = mow->began;

    oracle->mow = mow->outer;
    if (mow->fired >= mow->budget || !store_oracle_looks(oracle)) {
        return NULL;
    }
    for (const struct store_oracle_mow *outer = mow->outer; outer != NULL;
         outer = outer->outer) {
        began = outer->began;
    }
    for (uint32_t i = 0; i < oracle->many; i++) {
        if (oracle->timers[i].deadline <= mow->until &&
            oracle->timers[i].order < began) {
            return "P2: a timer that is due was forgotten";
        }
    }
    return NULL;
}

/* Walks. */

void
store_oracle_begin_walk(struct store_oracle *oracle, unsigned walk)
{
    oracle->walk[walk].number = ++oracle->walks;
    oracle->walk[walk].began = oracle->order++;
}

const char *
store_oracle_visit(struct store_oracle *oracle, unsigned walk, uint32_t number)
{
    struct store_oracle_timer *t = &oracle->timers[number];

    if (t->deadline == LAWN_NEVER) {
        return "S8: a timer was returned that does not exist";
    }
    if (t->visited[walk] == oracle->walk[walk].number) {
        return "S8: a timer was returned twice";
    }
    t->visited[walk] = oracle->walk[walk].number;
    return NULL;
}

const char *
store_oracle_walked(struct store_oracle *oracle, unsigned walk)
{
    const struct store_oracle_walk *w = &oracle->walk[walk];

    for (uint32_t i = 0; i < oracle->many; i++) {
        const struct store_oracle_timer *t = &oracle->timers[i];

        if (t->deadline != LAWN_NEVER && t->born < w->began &&
            t->visited[walk] != w->number) {
            return "S8: a timer that existed throughout was not returned";
        }
    }
    oracle->walk[walk].number = 0;
    return NULL;
}
