/* live_store.c - a store whose memory grows and shrinks: see live_store.h.
 *
 * Each id always has a timer. Its payload changes size whenever the timer fires
 * or is replaced: usually small, sometimes a few pages.
 */
#include "live_store.h"

#include <stdlib.h>
#include <string.h>

#define LIVE_STORE_BUDGET 4096u
#define LIVE_STORE_LONGEST 300000000u /* microseconds */
#define LIVE_STORE_PAYLOAD 4096u
/* Operations per second per million timers. */
#define LIVE_STORE_RATE 10000u

static uint32_t
live_store_size(struct live_store *live)
{
    uint64_t dice = rng_next(&live->rng);

    return (uint32_t)(dice % 64 == 0 ? dice / 64 % LIVE_STORE_PAYLOAD
                                     : dice / 64 % 96);
}

/* Writes bytes that only this id and size have. */
static void
live_store_write(uint8_t *payload, uint64_t id, uint32_t size)
{
    struct rng rng = {id ^ (uint64_t)size << 32};

    memset(payload, (int)(rng_next(&rng) & 0xFF), size);
}

static bool
live_store_reads(const struct lawn_store_timer *timer, uint64_t id,
                 uint32_t size)
{
    uint8_t payload[LIVE_STORE_PAYLOAD];

    live_store_write(payload, id, size);
    return timer->payload_size == size &&
           memcmp(timer->payload, payload, size) == 0;
}

static bool
live_store_start(struct live_store *live, uint64_t id)
{
    uint8_t payload[LIVE_STORE_PAYLOAD];
    uint64_t ticks = LIVE_STORE_LONGEST / live->tick;
    uint64_t ttl = rng_below(&live->rng, 2) == 0
                       ? (1 + rng_below(&live->rng, 6)) * ticks / 6
                       : 1 + rng_below(&live->rng, ticks);
    uint32_t size = live_store_size(live);

    live_store_write(payload, id, size);
    live->deadline[id] = lawn_store_now(live->store) + ttl;
    live->size[id] = size;
    return lawn_store_start(live->store, &id, sizeof(id), ttl, payload, size,
                            0) == 0;
}

bool
live_store_fill(struct live_store *live, uint64_t many, uint64_t tick,
                uint64_t now, uint64_t seed)
{
    struct lawn_store_options options = {.lawn = {.now = now}};

    live->many = many;
    live->tick = tick;
    live->rng.state = ~seed;
    live->store = lawn_store_new(&options);
    live->deadline = calloc(many, sizeof(*live->deadline));
    live->size = calloc(many, sizeof(*live->size));
    if (live->store == NULL || live->deadline == NULL || live->size == NULL) {
        return false;
    }
    for (uint64_t id = 0; id < many; id++) {
        if (!live_store_start(live, id)) {
            return false;
        }
    }
    return true;
}

void
live_store_free(struct live_store *live)
{
    lawn_store_free(live->store);
    free(live->deadline);
    free(live->size);
}

static void
live_store_fire(const struct lawn_store_timer *timer, void *arg)
{
    struct live_store *live = (struct live_store *)arg;
    uint64_t id = 0;

    if (timer->id_size != sizeof(id)) {
        live->broken = "S1: a timer with an unknown id fired";
        return;
    }
    memcpy(&id, timer->id, sizeof(id));
    if (id >= live->many || timer->deadline != live->deadline[id]) {
        live->broken = "P3: a timer of the store fired that was not running";
    } else if (timer->deadline > live->now) {
        live->broken = "P1: a timer of the store fired early";
    } else if (timer->deadline < live->last) {
        live->broken = "P4: a timer of the store fired after a later one";
    } else if (!live_store_reads(timer, id, live->size[id])) {
        live->broken = "S3: a timer fired with another payload";
    } else if (!live_store_start(live, id)) {
        live->broken = "S2: a timer of the store could not be started";
    }
    live->last = timer->deadline;
    lawn_histogram_add(&live->late,
                       live->time / 1000 - timer->deadline * live->tick);
}

/* Replaces, touches, or stops and starts a timer. */
static void
live_store_operate(struct live_store *live)
{
    uint64_t id = rng_below(&live->rng, live->many);
    uint64_t ttl = 0;

    switch (rng_below(&live->rng, 3)) {
    case 0:
        if (!live_store_start(live, id)) {
            live->broken = "S2: a timer of the store could not be replaced";
        }
        break;
    case 1:
        ttl = 1 + rng_below(&live->rng, LIVE_STORE_LONGEST / live->tick);
        live->deadline[id] = lawn_store_now(live->store) + ttl;
        if (!lawn_store_touch(live->store, &id, sizeof(id), ttl)) {
            live->broken = "P3: a timer of the store is missing";
        }
        break;
    default:
        if (!lawn_store_stop(live->store, &id, sizeof(id))) {
            live->broken = "P5: a timer of the store could not be stopped";
        } else if (!live_store_start(live, id)) {
            live->broken = "S2: a timer of the store could not be started";
        }
    }
}

const char *
live_store_turn(struct live_store *live, uint64_t now, uint64_t time)
{
    uint64_t elapsed = live->paced == 0 ? 0 : time - live->paced;

    live->now = now;
    live->time = time;
    live->paced = time;
    size_t fired = lawn_store_mow(live->store, now, LIVE_STORE_BUDGET,
                                  live_store_fire, live);
    if (live->broken == NULL && fired < LIVE_STORE_BUDGET &&
        lawn_store_next(live->store) <= now) {
        return "P2: a due timer of the store is left after a mow";
    }
    elapsed = elapsed < 10000000 ? elapsed : 10000000;
    live->owed += elapsed * (LIVE_STORE_RATE * live->many / 1000000);
    for (; live->owed >= 1000000000 && live->broken == NULL;
         live->owed -= 1000000000) {
        live_store_operate(live);
    }
    if (live->broken == NULL && lawn_store_count(live->store) != live->many) {
        return "P3: lawn_store_count() has changed";
    }
    return live->broken;
}

uint64_t
live_store_next(struct live_store *live)
{
    return lawn_store_next(live->store);
}

const char *
live_store_look(struct live_store *live)
{
    if (!lawn_store_check(live->store, stdout)) {
        return "lawn_store_check() found a broken invariant";
    }
    struct lawn_store_timer timer;
    uint64_t id = 0;
    for (id = 0; id < live->many; id++) {
        if (!lawn_store_get(live->store, &id, sizeof(id), &timer)) {
            return "P3: a timer of the store is lost";
        }
        if (timer.deadline != live->deadline[id] ||
            timer.deadline < live->last) {
            return "P2: a timer of the store is due at another time";
        }
        if (!live_store_reads(&timer, id, live->size[id])) {
            return "S4: a timer of the store has another payload";
        }
    }
    return NULL;
}
