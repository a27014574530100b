/* store_ops.c - the interpreter of operations on a store: see store_ops.h.
 *
 * A case is a byte for the mix, a byte for its size and style, a byte for its
 * payloads, then options of a store, then operations. The oracle creates the
 * ids, and operations refer to them by number. The inputs are blocks of memory
 * of the exact size, freed after the call, so that a sanitizer detects any
 * access beyond or later; or pointers that the store itself has returned.
 * Returned data are remembered and compared again after other operations.
 *
 * Half of all stores have an allocator that counts, and compares its counts
 * with those of the store.
 */
#include "store_ops.h"

#include "lawn_store.h"
#include "oracle.h"
#include "script.h"
#include "store_oracle.h"
#include "store_reel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STORE_OPS_MANY_MAX 256u
#define STORE_OPS_HELD 4u
#define STORE_OPS_DEPTH 4u
#define STORE_OPS_LEDGER 16u

/* Memory in use beyond the needs of the timers: partly used slabs, and
 * tables. */
#define STORE_OPS_SLACK ((size_t)256 * 1024)
#define STORE_OPS_PER_TIMER ((size_t)16 * 1024)
/* Memory that the table may keep: to shrink, it needs a smaller block first,
 * which may be refused. */
#define STORE_OPS_BLOCK ((size_t)66 * 1024)
/* One slab of each size, once there have been many timers. */
#define STORE_OPS_SLABS ((size_t)4 * 1024 * 1024)

/* The memory that the test's allocator has given to a store. */
struct ledger {
    const struct ops_config *config;
    uint64_t bytes;
    bool in_use;
};

/* A store, and its allocator. */
struct lot {
    struct lawn_store *store; /* NULL: freed by a callback */
    struct ledger *ledger;    /* NULL: it has the default allocator */
    struct lawn_store_options options;
    size_t bytes_at_first;
};

/* The data passed to a callback or returned by a pop, and a copy. */
struct handed {
    struct lawn_store_timer timer;
    uint32_t number;
    uint8_t *payload;
};

struct held {
    bool valid;
    uint32_t number;
    struct lawn_store_timer timer;
};

/* A payload passed to the store: given may point to data of the store. */
struct payload {
    uint8_t *bytes;
    const void *given;
    size_t size;
};

struct store_ops {
    struct script script;
    struct store_oracle oracle;
    bool calm;    /* the clock hardly moves */
    bool nosy;    /* call lawn_store_next() after every operation */
    bool careful; /* check the store after every operation */
    unsigned regime;
    uint64_t salt; /* makes all payloads different */

    struct lot lot;
    struct ledger ledgers[2];
    uint64_t max_bytes;
    uint64_t reserved;
    size_t bytes;        /* memory of the store after the last operation */
    size_t bytes_before; /* and before the current call */
    uint64_t refused_before;
    struct held held[STORE_OPS_HELD];
    unsigned holds;
    struct handed popped;
    const struct handed *firing; /* the innermost, or NULL */
    uint64_t cursor[STORE_ORACLE_WALKS];
    uint64_t unchecked;
};

/* The allocator. */

static void *
ledger_alloc(size_t size, void *context)
{
    struct ledger *ledger = (struct ledger *)context;
    const struct ops_config *config = ledger->config;

    if (size > SIZE_MAX - STORE_OPS_LEDGER) {
        return NULL;
    }
    unsigned char *memory =
        config->alloc != NULL
            ? config->alloc(size + STORE_OPS_LEDGER, config->context)
            : malloc(size + STORE_OPS_LEDGER);
    if (memory == NULL) {
        return NULL;
    }
    memcpy(memory, &size, sizeof(size));
    ledger->bytes += size;
    return memory + STORE_OPS_LEDGER;
}

static void
ledger_release(void *memory, void *context)
{
    struct ledger *ledger = (struct ledger *)context;
    const struct ops_config *config = ledger->config;
    unsigned char *begin = (unsigned char *)memory;

    if (memory == NULL) {
        return;
    }
    begin -= STORE_OPS_LEDGER;
    size_t size = 0;
    memcpy(&size, begin, sizeof(size));
    ledger->bytes -= size;
    if (config->alloc == NULL) {
        free(begin);
    } else if (config->release != NULL) {
        config->release(begin, config->context);
    }
}

static uint64_t
refusals(const struct store_ops *ops)
{
    const uint64_t *refused = ops->script.config->refusals;

    return refused != NULL ? *refused : 0;
}

/* Checks. */

static uint32_t
take_number(struct store_ops *ops)
{
    return script_take_wide(&ops->script,
                            ops->oracle.many > STORE_OPS_MANY_MAX ? 3 : 1) %
           ops->oracle.many;
}

static bool
is_there(const struct store_ops *ops, uint32_t number)
{
    return ops->oracle.timers[number].deadline != LAWN_NEVER;
}

static bool
same(const void *is, const void *should_be, size_t size)
{
    return size == 0 || memcmp(is, should_be, size) == 0;
}

/* Checks what must be true of every returned timer. */
static void
compare_returned(struct store_ops *ops, const struct lawn_store_timer *returned,
                 uint32_t number)
{
    const struct store_oracle_timer *t = &ops->oracle.timers[number];
    struct script *script = &ops->script;

    if (returned->id_size != t->id_size ||
        !same(returned->id, t->id, t->id_size)) {
        script_fail(script, "S1: timer %u has another id", number);
    } else if (returned->payload == NULL ||
               (uintptr_t)returned->payload % 8 != 0) {
        script_fail(script, "S4: the payload of timer %u is not aligned",
                    number);
    } else if (returned->payload_size != t->payload_size ||
               !same(returned->payload, t->payload, t->payload_size)) {
        script_fail(script, "S4: timer %u has another payload", number);
    } else {
        script_expect(script, "the ttl", returned->ttl, t->ttl);
    }
}

static void
compare_timer(struct store_ops *ops, uint32_t number)
{
    const struct store_oracle_timer *t = &ops->oracle.timers[number];

    if (ops->lot.store == NULL) {
        return;
    }
    struct lawn_store_timer returned;
    bool there = lawn_store_get(ops->lot.store, t->id, t->id_size, &returned);
    script_expect(&ops->script, "S1: lawn_store_get()", there,
                  is_there(ops, number));
    if (there && !ops->script.failed) {
        compare_returned(ops, &returned, number);
        script_expect(&ops->script, "P9: the deadline", returned.deadline,
                      t->deadline);
    }
}

static void
compare_all(struct store_ops *ops)
{
    uint64_t cursor = 0;
    uint64_t count = 0;

    for (uint32_t i = 0; i < ops->oracle.many; i++) {
        compare_timer(ops, i);
    }
    struct lawn_store_timer returned;
    while (count <= ops->oracle.count &&
           lawn_store_iterate(ops->lot.store, &cursor, &returned)) {
        count++;
    }
    script_expect(&ops->script, "S8: timers that were returned", count,
                  ops->oracle.count);
}

static void
compare_held(struct store_ops *ops)
{
    for (unsigned i = 0; i < STORE_OPS_HELD; i++) {
        const struct held *held = &ops->held[i];
        const struct store_oracle_timer *t = &ops->oracle.timers[held->number];

        if (held->valid &&
            (!same(held->timer.id, t->id, t->id_size) ||
             !same(held->timer.payload, t->payload, t->payload_size))) {
            script_fail(&ops->script,
                        "S4: returned data of timer %u have changed",
                        held->number);
        }
    }
}

/* Compares data that a callback or a pop received with their copy. */
static void
compare_handed(struct store_ops *ops, const struct handed *handed,
               const char *promise)
{
    const struct store_oracle_timer *t = &ops->oracle.timers[handed->number];

    if (!same(handed->timer.id, t->id, t->id_size) ||
        !same(handed->timer.payload, handed->payload,
              handed->timer.payload_size)) {
        script_fail(&ops->script, "%s of timer %u has changed", promise,
                    handed->number);
    }
}

static void
compare_bytes(struct store_ops *ops)
{
    size_t bytes = lawn_store_bytes(ops->lot.store);
    size_t most = ops->lot.bytes_at_first + STORE_OPS_SLACK +
                  STORE_OPS_PER_TIMER * (size_t)ops->oracle.count +
                  4 * (size_t)ops->oracle.held + 64 * (size_t)ops->reserved +
                  4 * ops->popped.timer.payload_size +
                  (ops->oracle.thorough ? 0 : STORE_OPS_SLABS);

    if (ops->lot.ledger != NULL) {
        script_expect(&ops->script, "S7: lawn_store_bytes()", bytes,
                      ops->lot.ledger->bytes);
    }
    if (ops->script.depth == 0 && bytes > most) {
        script_fail(&ops->script, "S7: %llu timers with %llu bytes take %zu",
                    (unsigned long long)ops->oracle.count,
                    (unsigned long long)ops->oracle.held, bytes);
    }
    if (ops->max_bytes != 0 && bytes > ops->max_bytes && bytes > ops->bytes) {
        script_fail(&ops->script, "%zu bytes, though the limit is %llu", bytes,
                    (unsigned long long)ops->max_bytes);
    }
    ops->bytes = bytes;
}

static void
check(struct store_ops *ops)
{
    if (!lawn_store_check(ops->lot.store, stderr)) {
        script_fail(&ops->script,
                    "lawn_store_check() found a broken invariant");
    }
}

/* Checks that must hold after every operation. */
static void
compare(struct store_ops *ops)
{
    const struct ops_config *config = ops->script.config;
    const struct lawn_store *store = ops->lot.store;

    ops->script.result->operations++;
    if (store == NULL || ops->script.failed) {
        return;
    }
    script_expect(&ops->script, "P9: lawn_store_now()", lawn_store_now(store),
                  ops->oracle.now);
    script_expect(&ops->script, "P3: lawn_store_count()",
                  lawn_store_count(store), ops->oracle.count);
    compare_bytes(ops);
    compare_held(ops);
    if (config->check_every != 0 && ++ops->unchecked >= config->check_every) {
        ops->unchecked = 0;
        check(ops);
    }
}

/* Returned data. */

/* Forgets returned data: the timer is started, updated, stopped, or fires. */
static void
let_go(struct store_ops *ops, uint32_t number)
{
    for (unsigned i = 0; i < STORE_OPS_HELD; i++) {
        if (ops->held[i].number == number) {
            ops->held[i].valid = false;
        }
    }
}

static void
hold(struct store_ops *ops, const struct lawn_store_timer *returned,
     uint32_t number)
{
    struct held *held = &ops->held[ops->holds++ % STORE_OPS_HELD];

    held->valid = true;
    held->number = number;
    held->timer = *returned;
}

static void
forget_popped(struct store_ops *ops)
{
    free(ops->popped.payload);
    memset(&ops->popped, 0, sizeof(ops->popped));
}

/* Copies the data before any other operation. */
static void
keep(struct store_ops *ops, struct handed *handed,
     const struct lawn_store_timer *returned, uint32_t number)
{
    const struct store_oracle_timer *t = &ops->oracle.timers[number];

    handed->timer = *returned;
    handed->number = number;
    handed->payload = store_oracle_alloc(t->payload_size);
    memcpy(handed->payload, t->payload, t->payload_size);
}

/* Inputs. */

static size_t
take_size(struct store_ops *ops)
{
    static const size_t all[16] = {0,  1,   8,   7,   32,   33,   100,  64,
                                   24, 256, 300, 500, 2000, 2100, 5000, 70000};
    uint8_t byte = script_take(&ops->script);

    switch (ops->regime) {
    case 0:
        return byte % 41;
    case 1:
        return all[byte % 14];
    case 2:
        return byte < 248 ? all[byte % 15] : all[15] - byte % 8;
    default:
        return byte < 64 ? 0 : 8;
    }
}

static void
fill(struct store_ops *ops, uint8_t *bytes, size_t size)
{
    uint64_t word = ++ops->salt * UINT64_C(0x9E3779B97F4A7C15);

    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(word >> (i % 8 * 8));
        word += i % 8 == 7;
    }
}

/* Returns data that the store has returned and still holds, of the timer itself
 * if from is 0; NULL: none. */
static const struct lawn_store_timer *
take_handed(struct store_ops *ops, uint32_t number, unsigned from,
            struct lawn_store_timer *returned)
{
    if (from == 1 && ops->firing != NULL) {
        return &ops->firing->timer;
    }
    if (from == 1) {
        return ops->popped.payload != NULL ? &ops->popped.timer : NULL;
    }
    const struct store_oracle_timer *t =
        &ops->oracle.timers[from == 0 ? number : take_number(ops)];
    return lawn_store_get(ops->lot.store, t->id, t->id_size, returned)
               ? returned
               : NULL;
}

static void
take_payload(struct store_ops *ops, uint32_t number, struct payload *payload)
{
    size_t size = take_size(ops);
    uint8_t byte = script_take(&ops->script);
    const struct lawn_store_timer *handed = NULL;
    struct lawn_store_timer returned;
    size_t from = 0;

    if (byte >= 208) {
        handed = take_handed(ops, number, byte % 3, &returned);
    }
    if (handed != NULL) {
        from = byte % 4 == 0 ? handed->payload_size / 2 : 0;
        size = byte % 8 < 4 || size > handed->payload_size - from
                   ? handed->payload_size - from
                   : size;
    }
    payload->size = size;
    payload->bytes = store_oracle_alloc(size);
    if (handed == NULL) {
        fill(ops, payload->bytes, size);
        payload->given = size == 0 && byte % 2 == 1 ? NULL : payload->bytes;
    } else {
        payload->given = (const uint8_t *)handed->payload + from;
        memcpy(payload->bytes, payload->given, size);
    }
}

static void
drop_payload(struct payload *payload)
{
    memset(payload->bytes, 0xdd, payload->size);
    free(payload->bytes);
}

/* Returns the id from the oracle's memory, or as returned by the store. */
static const void *
take_id(struct store_ops *ops, uint32_t number, uint8_t byte)
{
    const struct store_oracle_timer *t = &ops->oracle.timers[number];

    if (byte % 4 == 3 && ops->firing != NULL && ops->firing->number == number) {
        return ops->firing->timer.id;
    }
    struct lawn_store_timer returned;
    if (byte % 4 == 2 &&
        lawn_store_get(ops->lot.store, t->id, t->id_size, &returned)) {
        return returned.id;
    }
    return t->id_size == 0 && byte % 4 == 1 ? NULL : t->id;
}

/* Returns whether the byte limit may refuse this many more bytes. */
static bool
may_be_full(const struct store_ops *ops, size_t more)
{
    return ops->max_bytes != 0 && ops->bytes_before + ops->bytes_before / 2 +
                                          4 * more + STORE_OPS_SLACK >
                                      ops->max_bytes;
}

/* Before and after a call that can fail: checks whether it should have
 * succeeded. A failed call must not have changed anything. */

static void
beware(struct store_ops *ops)
{
    ops->refused_before = refusals(ops);
    ops->bytes_before = lawn_store_bytes(ops->lot.store);
}

static bool
judge(struct store_ops *ops, const char *call, int error, int should_be,
      size_t more)
{
    if (error == -ENOMEM && refusals(ops) != ops->refused_before) {
        ops->script.result->refused++;
    } else if (!(error == -ENOSPC && should_be == 0 &&
                 may_be_full(ops, more)) &&
               error != should_be) {
        script_fail(&ops->script, "%s is %d, should be %d", call, error,
                    should_be);
    }
    if (error != 0) {
        TRACE(&ops->script, "    that fails: %s", lawn_store_strerror(error));
        if (lawn_store_bytes(ops->lot.store) > ops->bytes_before) {
            script_fail(&ops->script, "S2: %s failed and keeps %zu bytes", call,
                        lawn_store_bytes(ops->lot.store) - ops->bytes_before);
        }
    }
    return error == 0;
}

/* Operations on single timers, inside callbacks and outside. */

static void
do_start(struct store_ops *ops, uint32_t number, uint64_t ttl, unsigned how)
{
    const struct store_oracle_timer *t = &ops->oracle.timers[number];
    const void *id = take_id(ops, number, script_take(&ops->script));
    bool there = is_there(ops, number);
    uint64_t max = ops->oracle.max_timers;
    struct payload payload;
    int should_be = 0;

    take_payload(ops, number, &payload);
    if (there && (how & LAWN_STORE_ABSENT) != 0) {
        should_be = -EEXIST;
    } else if (!there && (how & LAWN_STORE_PRESENT) != 0) {
        should_be = -ENOENT;
    } else if (!there && max != 0 && ops->oracle.count >= max) {
        should_be = -ENOSPC;
    }
    TRACE(&ops->script,
          "start timer %u (id %zu bytes%s), %s %llu%s%s, %zu %s%s", number,
          t->id_size, there ? ", there" : "",
          (how & LAWN_STORE_AT) != 0 ? "at" : "ttl", (unsigned long long)ttl,
          (how & LAWN_STORE_ABSENT) != 0 ? ", if absent" : "",
          (how & LAWN_STORE_PRESENT) != 0 ? ", if present" : "", payload.size,
          "bytes", payload.given != payload.bytes ? " of the store's own" : "");
    beware(ops);
    int error = lawn_store_start(ops->lot.store, id, t->id_size, ttl,
                                 payload.given, payload.size, how);
    if (judge(ops, "lawn_store_start()", error, should_be,
              t->id_size + payload.size)) {
        let_go(ops, number);
        if ((how & LAWN_STORE_AT) != 0) {
            store_oracle_start_at(&ops->oracle, number, ttl, payload.bytes,
                                  payload.size);
        } else {
            store_oracle_start(&ops->oracle, number, ttl, payload.bytes,
                               payload.size);
        }
    }
    drop_payload(&payload);
    compare_timer(ops, number);
}

static void
do_update(struct store_ops *ops, uint32_t number)
{
    const struct store_oracle_timer *t = &ops->oracle.timers[number];
    const void *id = take_id(ops, number, script_take(&ops->script));
    bool there = is_there(ops, number);
    struct payload payload;

    take_payload(ops, number, &payload);
    TRACE(&ops->script, "update timer %u, %s, %zu bytes to %zu%s", number,
          there ? "there" : "not there", t->payload_size, payload.size,
          payload.given != payload.bytes ? " of the store's own" : "");
    beware(ops);
    int error = lawn_store_update(ops->lot.store, id, t->id_size, payload.given,
                                  payload.size);
    if (judge(ops, "lawn_store_update()", error, there ? 0 : -ENOENT,
              t->id_size + payload.size)) {
        let_go(ops, number);
        store_oracle_update(&ops->oracle, number, payload.bytes, payload.size);
    }
    drop_payload(&payload);
    compare_timer(ops, number);
}

static void
do_stop(struct store_ops *ops, uint32_t number)
{
    const struct store_oracle_timer *t = &ops->oracle.timers[number];
    const void *id = take_id(ops, number, script_take(&ops->script));
    bool there = is_there(ops, number);

    TRACE(&ops->script, "stop timer %u, %s", number,
          there ? "there" : "not there");
    script_expect(&ops->script, "P5: lawn_store_stop()",
                  lawn_store_stop(ops->lot.store, id, t->id_size), there);
    if (there) {
        let_go(ops, number);
        store_oracle_stop(&ops->oracle, number);
    }
    compare_timer(ops, number);
}

static void
do_touch(struct store_ops *ops, uint32_t number, uint64_t ttl, bool at)
{
    const struct store_oracle_timer *t = &ops->oracle.timers[number];
    const void *id = take_id(ops, number, script_take(&ops->script));
    bool there = is_there(ops, number);

    TRACE(&ops->script, "touch timer %u, %s, %s %llu", number,
          there ? "there" : "not there", at ? "at" : "ttl",
          (unsigned long long)ttl);
    bool touched = at ? lawn_store_touch_at(ops->lot.store, id, t->id_size, ttl)
                      : lawn_store_touch(ops->lot.store, id, t->id_size, ttl);
    script_expect(&ops->script, "lawn_store_touch()", touched, there);
    if (there && at) {
        store_oracle_start_at(&ops->oracle, number, ttl, NULL, 0);
    } else if (there) {
        store_oracle_start(&ops->oracle, number, ttl, NULL, 0);
    }
    compare_timer(ops, number);
}

/* Also remembers the returned data. */
static void
do_get(struct store_ops *ops, uint32_t number)
{
    const struct store_oracle_timer *t = &ops->oracle.timers[number];

    TRACE(&ops->script, "get timer %u", number);
    compare_timer(ops, number);
    script_expect(&ops->script, "S1: lawn_store_get() with NULL",
                  lawn_store_get(ops->lot.store, t->id, t->id_size, NULL),
                  is_there(ops, number));
    struct lawn_store_timer returned;
    if (!ops->script.failed &&
        lawn_store_get(ops->lot.store, t->id, t->id_size, &returned)) {
        hold(ops, &returned, number);
    }
}

/* Checks a timer that the store returned as the first one due. */
static void
compare_first(struct store_ops *ops, const struct lawn_store_timer *returned)
{
    uint32_t number =
        store_oracle_find(&ops->oracle, returned->id, returned->id_size);
    struct lawn_store_timer got = {.id = NULL};

    if (number == STORE_ORACLE_NONE) {
        script_fail(&ops->script, "P3: the first timer is unknown");
        return;
    }
    compare_returned(ops, returned, number);
    (void)lawn_store_get(ops->lot.store, returned->id, returned->id_size, &got);
    if (returned->id != got.id || returned->payload != got.payload) {
        script_fail(&ops->script, "S4: the first timer is a copy");
    }
    const char *broken = store_oracle_first(&ops->oracle, number);
    if (broken != NULL) {
        script_fail(&ops->script, "%s (timer %u)", broken, number);
    }
}

/* The order of the two calls, lawn_store_next() and lawn_store_next_timer(),
 * varies: neither may rely on the other. */
static void
do_next(struct store_ops *ops)
{
    bool ahead = ops->script.result->operations / 4 % 2 == 0;
    struct lawn_store_timer returned = {.deadline = LAWN_NEVER};
    bool there = ahead && lawn_store_next_timer(ops->lot.store, &returned);
    uint64_t next = lawn_store_next(ops->lot.store);

    there = ahead ? there : lawn_store_next_timer(ops->lot.store, &returned);
    TRACE(&ops->script, "next: %llu", (unsigned long long)next);
    script_expect(&ops->script, "P2: lawn_store_next_timer()", there,
                  ops->oracle.count != 0);
    script_expect(&ops->script, "P2: the deadline of lawn_store_next_timer()",
                  returned.deadline, next);
    if (store_oracle_looks(&ops->oracle)) {
        script_expect(&ops->script, "P2: lawn_store_next()", next,
                      store_oracle_next(&ops->oracle));
        if (there && !ops->script.failed) {
            compare_first(ops, &returned);
        }
    }
}

static void
do_set_now(struct store_ops *ops, uint64_t now)
{
    TRACE(&ops->script, "set now to %llu", (unsigned long long)now);
    store_oracle_set_now(&ops->oracle, now);
    lawn_store_set_now(ops->lot.store, now);
}

static void
do_check(struct store_ops *ops)
{
    if (store_oracle_looks(&ops->oracle)) {
        TRACE(&ops->script, "check");
        check(ops);
    }
}

static void
do_limits(struct store_ops *ops)
{
    uint8_t byte = script_take(&ops->script);
    uint64_t count = ops->oracle.count;
    uint64_t max_timers = byte % 4 == 0 ? count + byte / 16 : 0;
    size_t max_bytes = byte % 4 == 1 ? ops->bytes + (size_t)byte * 64 : 0;

    max_timers = byte % 8 == 3 ? count / 2 : max_timers;
    TRACE(&ops->script, "limits: %llu timers, %zu bytes",
          (unsigned long long)max_timers, max_bytes);
    lawn_store_set_limits(ops->lot.store, max_timers, max_bytes);
    ops->oracle.max_timers = max_timers;
    ops->max_bytes = max_bytes;
}

static void
do_reserve(struct store_ops *ops)
{
    uint8_t byte = script_take(&ops->script);
    uint64_t timers = byte < 64 ? 0 : UINT64_C(1) << byte % 13;

    beware(ops);
    ops->bytes_before += STORE_OPS_BLOCK;
    if (byte >= 248 && ops->max_bytes != 0) {
        timers = UINT64_MAX;
    }
    TRACE(&ops->script, "reserve %llu", (unsigned long long)timers);
    int error = lawn_store_reserve(ops->lot.store, timers);
    if (error == -ENOSPC && ops->oracle.max_timers != 0 &&
        timers > ops->oracle.max_timers) {
        return;
    }
    if (judge(ops, "lawn_store_reserve()", error,
              timers == UINT64_MAX ? -ENOSPC : 0, (size_t)timers * 64)) {
        ops->reserved = timers;
    }
}

static void
forget_handed(struct store_ops *ops)
{
    memset(ops->held, 0, sizeof(ops->held));
    memset(ops->oracle.walk, 0, sizeof(ops->oracle.walk));
}

static void
do_clear(struct store_ops *ops)
{
    bool scarce = ops->max_bytes != 0 || ops->script.config->refusals != NULL;

    TRACE(&ops->script, "clear");
    memset(ops->held, 0, sizeof(ops->held));
    store_oracle_clear(&ops->oracle);
    lawn_store_clear(ops->lot.store);
    if (ops->script.depth == 0 && ops->reserved == 0 &&
        ops->popped.payload == NULL &&
        lawn_store_bytes(ops->lot.store) >
            ops->lot.bytes_at_first + (scarce ? STORE_OPS_BLOCK : 0)) {
        script_fail(&ops->script, "S7: a clear leaves %zu bytes, not %zu",
                    lawn_store_bytes(ops->lot.store), ops->lot.bytes_at_first);
    }
}

/* Continues a walk, or begins one. */
static void
do_walk(struct store_ops *ops)
{
    uint8_t byte = script_take(&ops->script);
    unsigned walk = byte % STORE_ORACLE_WALKS;
    unsigned steps = byte < 224 ? byte / 2 % 16 : UINT32_MAX;
    const char *broken = NULL;

    if (ops->oracle.walk[walk].number == 0) {
        store_oracle_begin_walk(&ops->oracle, walk);
        ops->cursor[walk] = 0;
        TRACE(&ops->script, "walk %u begins", walk);
    }
    struct lawn_store_timer returned;
    for (; steps > 0 && !ops->script.failed; steps--) {
        if (!lawn_store_iterate(ops->lot.store, &ops->cursor[walk],
                                &returned)) {
            TRACE(&ops->script, "walk %u ends", walk);
            broken = store_oracle_walked(&ops->oracle, walk);
            steps = 1;
        } else {
            uint32_t number =
                store_oracle_find(&ops->oracle, returned.id, returned.id_size);
            TRACE(&ops->script, "walk %u returns timer %u", walk, number);
            broken = number == STORE_ORACLE_NONE
                         ? "S8: an unknown timer was returned"
                         : store_oracle_visit(&ops->oracle, walk, number);
            if (broken == NULL) {
                compare_returned(ops, &returned, number);
                script_expect(&ops->script, "S8: the deadline",
                              returned.deadline,
                              ops->oracle.timers[number].deadline);
                hold(ops, &returned, number);
            }
        }
        if (broken != NULL) {
            script_fail(&ops->script, "%s", broken);
        }
    }
}

/* An id that is too long matches no timer, and must not be read. */
static void
do_too_long(struct store_ops *ops, size_t size)
{
    struct lawn_store *store = ops->lot.store;

    script_expect(&ops->script, "too long: lawn_store_stop()",
                  lawn_store_stop(store, "", size), 0);
    script_expect(&ops->script, "too long: lawn_store_get()",
                  lawn_store_get(store, "", size, NULL), 0);
    script_expect(&ops->script, "too long: lawn_store_touch()",
                  lawn_store_touch(store, "", size, 1), 0);
    script_expect(&ops->script, "too long: lawn_store_touch_at()",
                  lawn_store_touch_at(store, "", size, 1), 0);
    script_expect(&ops->script, "too long: lawn_store_update()",
                  (uint64_t)lawn_store_update(store, "", size, "", 1),
                  (uint64_t)-ENOENT);
}

/* A payload or an id that is too long, or an invalid argument `how`. The call
 * must fail without reading the bytes. */
static void
do_nonsense(struct store_ops *ops, uint32_t number)
{
    static const unsigned how[4] = {LAWN_STORE_ABSENT | LAWN_STORE_PRESENT, 8,
                                    UINT32_MAX, 0x80000001u};
    const struct store_oracle_timer *t = &ops->oracle.timers[number];
    struct lawn_store *store = ops->lot.store;
    uint8_t byte = script_take(&ops->script);
    size_t much = byte < 128 ? LAWN_STORE_PAYLOAD_MAX + 1u : SIZE_MAX;
    size_t many = byte < 128 ? LAWN_STORE_ID_MAX + 1u : SIZE_MAX;
    int expected = -EINVAL;
    int error = -EINVAL;

    TRACE(&ops->script, "nonsense %u about timer %u", byte % 4u, number);
    beware(ops);
    switch (byte % 4) {
    case 0:
        error = lawn_store_start(store, t->id, t->id_size, 1, "", 1,
                                 how[byte / 4 % 4]);
        break;
    case 1:
        expected = LAWN_STORE_PAYLOAD_TOO_LARGE;
        error = lawn_store_start(store, t->id, t->id_size, 1, "", much, 0);
        break;
    case 2:
        expected = LAWN_STORE_ID_TOO_LARGE;
        error = lawn_store_start(store, "", many, 1, "", 1, 0);
        do_too_long(ops, many);
        break;
    default:
        expected = LAWN_STORE_PAYLOAD_TOO_LARGE;
        error = lawn_store_update(store, t->id, t->id_size, "", much);
    }
    (void)judge(ops, "nonsense", error, expected, 0);
    compare_timer(ops, number);
}

/* Fires. */

/* A timer has left the store; out receives its data. Returns false if the case
 * has failed. */
static bool
fires(struct store_ops *ops, const struct lawn_store_timer *returned,
      struct handed *out)
{
    uint32_t number =
        store_oracle_find(&ops->oracle, returned->id, returned->id_size);

    TRACE(&ops->script, "timer %u fires", number);
    if (number == STORE_ORACLE_NONE) {
        script_fail(&ops->script, "P3: an unknown timer fired");
        return false;
    }
    if (is_there(ops, number)) {
        script_expect(&ops->script, "P9: the deadline when it fires",
                      returned->deadline, ops->oracle.timers[number].deadline);
        compare_returned(ops, returned, number);
    }
    const char *broken = store_oracle_fire(&ops->oracle, number);
    if (broken != NULL) {
        script_fail(&ops->script, "%s (timer %u)", broken, number);
    }
    if (ops->script.failed) {
        return false;
    }
    let_go(ops, number);
    keep(ops, out, returned, number);
    return true;
}

static void
do_pop(struct store_ops *ops, uint64_t now)
{

    TRACE(&ops->script, "pop at %llu", (unsigned long long)now);
    if (ops->popped.payload != NULL) {
        compare_handed(ops, &ops->popped, "data returned by a pop");
        forget_popped(ops);
    }
    struct store_oracle_mow mow;
    store_oracle_begin_mow(&ops->oracle, &mow, now, 1);
    struct lawn_store_timer returned;
    if (lawn_store_pop(ops->lot.store, now, &returned) &&
        !fires(ops, &returned, &ops->popped)) {
        forget_popped(ops);
    }
    const char *broken = store_oracle_mown(&ops->oracle);
    if (broken != NULL) {
        script_fail(&ops->script, "%s", broken);
    }
    if (ops->popped.payload != NULL) {
        compare_timer(ops, ops->popped.number);
    }
}

static void callback(const struct lawn_store_timer *timer, void *arg);

static size_t
do_mow(struct store_ops *ops, uint64_t now, size_t budget)
{
    const char *broken = NULL;

    if (budget == SIZE_MAX) {
        TRACE(&ops->script, "mow at %llu", (unsigned long long)now);
    } else {
        TRACE(&ops->script, "mow at %llu, budget %zu", (unsigned long long)now,
              budget);
    }
    struct store_oracle_mow mow;
    store_oracle_begin_mow(&ops->oracle, &mow, now, budget);
    ops->script.depth++;
    size_t fired = lawn_store_mow(ops->lot.store, now, budget, callback, ops);
    ops->script.depth--;
    if (ops->lot.store != NULL) {
        broken = store_oracle_mown(&ops->oracle);
    } else {
        ops->oracle.mow = mow.outer;
    }
    script_expect(&ops->script, "P3: lawn_store_mow()", fired, mow.fired);
    if (broken != NULL) {
        script_fail(&ops->script, "%s", broken);
    }
    return fired;
}

/* Returns a timer near the given one that is due in the current mow. */
static uint32_t
sibling(const struct store_ops *ops, uint32_t number)
{
    const struct store_oracle *oracle = &ops->oracle;

    for (uint32_t tries = 0; tries < 64; tries++) {
        number = (number + 1) % oracle->many;
        if (oracle->timers[number].deadline <= oracle->mow->until) {
            break;
        }
    }
    return number;
}

static void do_free(struct store_ops *ops);
static void do_reload(struct store_ops *ops);

/* Rare operations, or operations on the whole store. */
static void
callback_rare(struct store_ops *ops, uint8_t byte)
{
    uint64_t now = ops->oracle.now;

    switch (byte % 16) {
    case 0:
        do_next(ops);
        break;
    case 1:
        do_set_now(ops, script_later(now, script_take_step(&ops->script)));
        break;
    case 2:
        do_walk(ops);
        break;
    case 3:
        do_limits(ops);
        break;
    case 4:
        do_reserve(ops);
        break;
    case 5:
        do_check(ops);
        break;
    case 6:
        do_clear(ops);
        break;
    case 7:
        do_reload(ops);
        break;
    case 8:
        if (byte >= 128) {
            do_free(ops);
        }
        break;
    default:
        if (byte % 2 == 0 || ops->script.depth >= STORE_OPS_DEPTH) {
            do_pop(ops, script_earlier(now, byte / 64));
        } else {
            now = byte < 64 ? script_later(now, byte % 16) : now;
            (void)do_mow(ops, script_earlier(now, byte / 128),
                         script_take_budget(&ops->script));
        }
    }
}

static void
callback_one(struct store_ops *ops, uint32_t self)
{
    uint8_t byte = script_take(&ops->script);
    uint32_t other = byte < 64    ? self
                     : byte < 160 ? sibling(ops, self)
                                  : take_number(ops);
    uint64_t now = ops->oracle.now;

    if (byte % 32 < 8) {
        do_start(ops, other, script_take_ttl(&ops->script),
                 byte % 4 == 3 ? 0 : byte % 4);
    } else if (byte % 32 < 10) {
        do_start(ops, other, byte % 2 == 0 ? script_later(now, byte) : now,
                 LAWN_STORE_AT);
    } else if (byte % 32 < 14) {
        do_stop(ops, other);
    } else if (byte % 32 < 17) {
        do_touch(ops, other, script_take_ttl(&ops->script), false);
    } else if (byte % 32 == 17) {
        do_touch(ops, other, script_earlier(now, 1), true);
    } else if (byte % 32 < 22) {
        do_update(ops, other);
    } else if (byte % 32 < 24) {
        do_get(ops, other);
    } else {
        callback_rare(ops, script_take(&ops->script));
    }
    compare(ops);
}

static void
callback(const struct lawn_store_timer *timer, void *arg)
{
    static const uint8_t lengths[8] = {0, 0, 0, 1, 1, 1, 2, 4};
    struct store_ops *ops = (struct store_ops *)arg;
    const struct handed *outer = ops->firing;
    struct handed handed;

    if (ops->script.failed || ops->lot.store == NULL) {
        script_fail(&ops->script, "S3: a store that was freed fires");
        return;
    }
    if (!fires(ops, timer, &handed)) {
        return;
    }
    ops->firing = &handed;
    compare_timer(ops, handed.number);
    unsigned todo = 0;
    for (todo = lengths[script_take(&ops->script) % 8]; todo > 0; todo--) {
        if (!ops->script.failed && ops->lot.store != NULL) {
            callback_one(ops, handed.number);
        }
    }
    if (memcmp(timer, &handed.timer, sizeof(*timer)) != 0) {
        script_fail(&ops->script, "S3: data passed to a callback have changed");
    } else {
        compare_handed(ops, &handed, "S3: data passed to a callback");
    }
    ops->firing = outer;
    free(handed.payload);
}

/* Stores. */

static void
take_options(struct store_ops *ops, struct lot *lot)
{
    static const uint64_t bytes[8] = {0, 0, 0, 0, 0, 400000, 600000, 1000000};
    struct lawn_store_options *options = &lot->options;

    memset(lot, 0, sizeof(*lot));
    script_take_lawn(&ops->script, &options->lawn);
    uint8_t byte = script_take(&ops->script);
    options->max_timers = byte % 4 == 3 ? ops->oracle.many / 2 : 0;
    options->max_bytes = (size_t)bytes[byte / 4 % 8];
    options->seed[0] = byte + 1u;
    for (unsigned i = 0; byte < 128 && i < 2 && lot->ledger == NULL; i++) {
        if (!ops->ledgers[i].in_use) {
            lot->ledger = &ops->ledgers[i];
        }
    }
    options->lawn.alloc = ops->script.config->alloc;
    options->lawn.release = ops->script.config->release;
    options->lawn.context = ops->script.config->context;
    if (lot->ledger != NULL) {
        lot->ledger->config = ops->script.config;
        lot->ledger->bytes = 0;
        options->lawn.alloc = ledger_alloc;
        options->lawn.release = ledger_release;
        options->lawn.context = lot->ledger;
    }
}

/* Returns false if there is no memory for it. */
static bool
open_lot(struct store_ops *ops, struct lot *lot)
{
    uint64_t refused = refusals(ops);
    const struct lawn_store_options *options = &lot->options;

    TRACE(&ops->script,
          "new store: blades %zu, slot bits %u, resolution %llu, now %llu, at "
          "most %llu timers and %zu bytes, %s",
          options->lawn.blades, options->lawn.slot_bits,
          (unsigned long long)options->lawn.resolution,
          (unsigned long long)options->lawn.now,
          (unsigned long long)options->max_timers, options->max_bytes,
          lot->ledger != NULL ? "counted" : "not counted");
    errno = 0;
    lot->store = lawn_store_new(options);
    if (lot->store == NULL) {
        ops->script.result->refused++;
        if (errno != ENOMEM || refusals(ops) == refused) {
            script_fail(&ops->script,
                        "lawn_store_new() failed although there is memory: %d",
                        errno);
        }
        if (lot->ledger != NULL) {
            script_expect(&ops->script, "S2: bytes of a store that failed",
                          lot->ledger->bytes, 0);
        }
        return false;
    }
    lot->bytes_at_first = lawn_store_bytes(lot->store);
    if (lot->ledger != NULL) {
        lot->ledger->in_use = true;
    }
    return true;
}

/* Checks that its memory has been released. */
static void
settle(struct store_ops *ops, const struct lot *lot)
{
    if (lot->ledger != NULL) {
        lot->ledger->in_use = false;
        if (!ops->script.failed) {
            script_expect(&ops->script, "S7: bytes after lawn_store_free()",
                          lot->ledger->bytes, 0);
        }
    }
}

static void
close_lot(struct store_ops *ops, struct lot *lot)
{
    lawn_store_free(lot->store);
    lot->store = NULL;
    settle(ops, lot);
}

/* In a callback, the store is freed when the mow returns. */
static void
do_free(struct store_ops *ops)
{
    TRACE(&ops->script, "free the store");
    forget_handed(ops);
    forget_popped(ops);
    store_oracle_clear(&ops->oracle);
    lawn_store_free(ops->lot.store);
    ops->lot.store = NULL;
}

/* Continues with this store. */
static void
adopt(struct store_ops *ops, const struct lot *lot)
{
    ops->lot = *lot;
    ops->max_bytes = lot->options.max_bytes;
    ops->oracle.max_timers = lot->options.max_timers;
    ops->reserved = 0;
    ops->bytes = lawn_store_bytes(lot->store);
    forget_handed(ops);
}

/* Replaces the store by a new one; the old one stays if there is no memory.
 * Returns false if there is no store at all. */
static bool
renew(struct store_ops *ops)
{
    struct lot lot;

    take_options(ops, &lot);
    if (!open_lot(ops, &lot)) {
        return ops->lot.store != NULL;
    }
    if (ops->lot.store != NULL) {
        forget_popped(ops);
        close_lot(ops, &ops->lot);
    }
    store_oracle_renew(&ops->oracle, lot.options.lawn.now,
                       lot.options.lawn.resolution);
    adopt(ops, &lot);
    for (uint32_t i = 0; ops->script.config->fill && i < ops->oracle.many;
         i++) {
        do_start(ops, i, script_take_ttl(&ops->script), 0);
        ops->bytes = lawn_store_bytes(ops->lot.store);
    }
    return true;
}

/* Snapshots. */

/* Returns false if there is no memory. */
static bool
save(struct store_ops *ops, struct store_reel *reel)
{
    uint8_t byte = script_take(&ops->script);

    store_reel_init(reel);
    int error = 0;
    if (byte >= 240) {
        reel->fail_at = byte % 16 * (size_t)16;
        reel->error = -EIO;
        error = lawn_store_save(ops->lot.store, store_reel_write, reel);
        TRACE(&ops->script, "save, write fails: %d", error);
        if (error != -EIO && error != -ENOMEM && error != 0) {
            script_fail(&ops->script, "lawn_store_save() is %d", error);
        }
        store_reel_fini(reel);
        store_reel_init(reel);
    }
    TRACE(&ops->script, "save");
    beware(ops);
    error = lawn_store_save(ops->lot.store, store_reel_write, reel);
    reel->piece = byte % 4 == 0 ? 0 : byte % 128;
    if (!judge(ops, "lawn_store_save()", error, 0, 0)) {
        store_reel_fini(reel);
        return false;
    }
    return true;
}

/* Loads the whole snapshot. Returns whether it read exactly all bytes. */
static bool
load(struct store_ops *ops, struct lot *lot, struct store_reel *reel)
{
    uint64_t max = lot->store == ops->lot.store ? ops->oracle.max_timers
                                                : lot->options.max_timers;
    uint64_t refused = refusals(ops);
    size_t size = reel->size;

    (void)store_reel_write("and so on", 9, reel);
    int error = lawn_store_load(lot->store, store_reel_read, reel);
    TRACE(&ops->script, "load %zu bytes: %d", size, error);
    if (error == 0) {
        script_expect(&ops->script, "bytes read by lawn_store_load()", reel->at,
                      size);
        if (max != 0 && ops->oracle.count > max) {
            script_fail(&ops->script, "lawn_store_load() exceeds max_timers");
        }
    } else if (error == -ENOMEM && refusals(ops) != refused) {
        ops->script.result->refused++;
    } else if (error != -ENOSPC ||
               !((max != 0 && ops->oracle.count > max) ||
                 lot->options.max_bytes != 0 || ops->max_bytes != 0)) {
        script_fail(&ops->script, "lawn_store_load() is %d", error);
    }
    if (error != 0) {
        script_expect(&ops->script, "S2: timers after a load that failed",
                      lawn_store_count(lot->store), 0);
    }
    return error == 0;
}

/* Moves all timers to another store, which replaces this one. */
static void
op_move(struct store_ops *ops)
{
    uint8_t byte = script_take(&ops->script);
    struct lot lot;

    take_options(ops, &lot);
    if (byte < 192) {
        lot.options.lawn.now = script_later(ops->oracle.now, byte % 8);
    }
    struct store_reel reel;
    if (!store_oracle_looks(&ops->oracle) || !save(ops, &reel)) {
        return;
    }
    if (open_lot(ops, &lot)) {
        if (load(ops, &lot, &reel)) {
            forget_popped(ops);
            close_lot(ops, &ops->lot);
            store_oracle_moved(&ops->oracle, lot.options.lawn.now,
                               lot.options.lawn.resolution);
            adopt(ops, &lot);
            compare_all(ops);
        } else {
            close_lot(ops, &lot);
        }
    }
    store_reel_fini(&reel);
}

/* In a callback, all loaded timers count as just started; overdue ones are due
 * after the callback, in any order. */
static void
reloaded(struct store_ops *ops)
{
    struct store_oracle *oracle = &ops->oracle;
    uint64_t base = oracle->order;

    store_oracle_reloaded(oracle);
    for (uint32_t i = 0; oracle->mow != NULL && i < oracle->many; i++) {
        struct store_oracle_timer *t = &oracle->timers[i];
        uint64_t rank = 0;

        for (uint32_t j = 0; j < oracle->many; j++) {
            rank += oracle->timers[j].order < t->order;
        }
        if (t->deadline <= oracle->now) {
            t->deadline = oracle_due(oracle->now, 1, 1);
            t->era = ++oracle->era;
        }
        t->born = base + rank;
    }
    for (uint32_t i = 0; oracle->mow != NULL && i < oracle->many; i++) {
        oracle->timers[i].order = oracle->timers[i].born;
    }
    oracle->order = base + oracle->many + 1;
}

/* Reloads into the same store, which is cleared first. */
static void
do_reload(struct store_ops *ops)
{
    struct store_reel reel;

    if (!store_oracle_looks(&ops->oracle) ||
        ops->oracle.many > STORE_OPS_MANY_MAX || !save(ops, &reel)) {
        return;
    }
    if (ops->oracle.count != 0) {
        script_expect(&ops->script,
                      "lawn_store_load() into a store with timers",
                      (uint64_t)(int64_t)lawn_store_load(
                          ops->lot.store, store_reel_read, &reel),
                      (uint64_t)(int64_t)-ENOTEMPTY);
        reel.at = 0;
    }
    forget_handed(ops);
    lawn_store_clear(ops->lot.store);
    if (load(ops, &ops->lot, &reel)) {
        reloaded(ops);
        compare_all(ops);
    } else {
        store_oracle_clear(&ops->oracle);
    }
    store_reel_fini(&reel);
}

/* Truncates a snapshot, flips a bit, or makes it unreadable. */
static int
damage(struct store_ops *ops, struct store_reel *reel)
{
    uint8_t byte = script_take(&ops->script);
    size_t where = script_take_wide(&ops->script, 2) % reel->size;

    switch (byte % 4) {
    case 0:
        reel->fail_at = where;
        reel->error = -EIO;
        TRACE(&ops->script, "reading fails at byte %zu of %zu", where,
              reel->size);
        return -EIO;
    case 1:
        reel->bytes[where] ^= (uint8_t)(1u << byte / 4 % 8);
        TRACE(&ops->script, "a wrong bit in byte %zu of %zu", where,
              reel->size);
        return 0;
    default:
        TRACE(&ops->script, "%zu of %zu bytes", where, reel->size);
        reel->size = where;
        return LAWN_STORE_TRUNCATED;
    }
}

/* The load must fail and leave the store unchanged. */
static void
op_damage(struct store_ops *ops)
{
    struct lot lot;

    take_options(ops, &lot);
    lot.options.max_timers = 0;
    lot.options.max_bytes = 0;
    struct store_reel reel;
    if (!store_oracle_looks(&ops->oracle) || !save(ops, &reel)) {
        return;
    }
    int should_be = damage(ops, &reel);
    if (open_lot(ops, &lot)) {
        uint64_t refused = refusals(ops);
        size_t size = reel.size;

        int error = lawn_store_load(lot.store, store_reel_read, &reel);
        TRACE(&ops->script, "load: %d", error);
        if (error == -ENOMEM && refusals(ops) != refused) {
            ops->script.result->refused++;
        } else if (error >= 0 ||
                   (should_be != 0 && error != should_be && size >= 64) ||
                   (error > -10001 && error != -EIO)) {
            script_fail(&ops->script, "S9: a damaged snapshot: load() is %d",
                        error);
        }
        script_expect(&ops->script, "S2: timers after a load that failed",
                      lawn_store_count(lot.store), 0);
        if (!lawn_store_check(lot.store, stderr)) {
            script_fail(&ops->script, "lawn_store_check() after a load");
        }
        close_lot(ops, &lot);
    }
    store_reel_fini(&reel);
}

/* Operations. Each gets a share of the 256 values of a byte. */

static void
op_start(struct store_ops *ops)
{
    uint32_t number = take_number(ops);
    uint8_t byte = script_take(&ops->script);
    uint64_t now = ops->oracle.now;

    if (byte < 208) {
        do_start(ops, number, script_take_ttl(&ops->script),
                 byte < 160      ? 0
                 : byte % 2 == 0 ? LAWN_STORE_ABSENT
                                 : LAWN_STORE_PRESENT);
    } else if (byte < 224) {
        do_start(ops, number, script_earlier(now, byte % 16), LAWN_STORE_AT);
    } else if (byte < 248) {
        do_start(ops, number, script_later(now, script_take_ttl(&ops->script)),
                 LAWN_STORE_AT | byte % 3);
    } else {
        do_start(ops, number, script_take_extreme(&ops->script), LAWN_STORE_AT);
    }
}

/* Starts consecutive timers with one TTL. */
static void
op_start_row(struct store_ops *ops)
{
    uint32_t number = take_number(ops);
    unsigned row = script_take(&ops->script) % 16;
    uint64_t ttl = script_take_ttl(&ops->script);

    for (; row > 0 && !ops->script.failed; row--) {
        do_start(ops, number, ttl, 0);
        compare(ops);
        number = (number + 1) % ops->oracle.many;
    }
}

static void
op_stop(struct store_ops *ops)
{
    do_stop(ops, take_number(ops));
}

static void
op_stop_row(struct store_ops *ops)
{
    uint32_t number = take_number(ops);
    unsigned row = script_take(&ops->script) % 32;

    for (; row > 0 && !ops->script.failed; row--) {
        do_stop(ops, number);
        compare(ops);
        number = (number + 1) % ops->oracle.many;
    }
}

static void
op_get(struct store_ops *ops)
{
    do_get(ops, take_number(ops));
}

static void
op_update(struct store_ops *ops)
{
    do_update(ops, take_number(ops));
}

static void
op_touch(struct store_ops *ops)
{
    uint32_t number = take_number(ops);

    do_touch(ops, number, script_take_ttl(&ops->script), false);
}

static void
op_touch_at(struct store_ops *ops)
{
    uint32_t number = take_number(ops);
    uint8_t byte = script_take(&ops->script);

    do_touch(ops, number,
             byte < 64 ? script_earlier(ops->oracle.now, byte)
             : byte < 192
                 ? script_later(ops->oracle.now, script_take_ttl(&ops->script))
                 : script_take_extreme(&ops->script),
             true);
}

static void
op_nonsense(struct store_ops *ops)
{
    do_nonsense(ops, take_number(ops));
}

static void
op_mow_step(struct store_ops *ops)
{
    uint64_t step = script_take_step(&ops->script);

    (void)do_mow(ops, script_later(ops->oracle.now, step), SIZE_MAX);
}

static void
op_mow_budget(struct store_ops *ops)
{
    uint64_t step = script_take_step(&ops->script);

    (void)do_mow(ops, script_later(ops->oracle.now, step),
                 script_take_budget(&ops->script));
}

/* Returns the next deadline, or a tick before or after it. */
static uint64_t
take_next(struct store_ops *ops, uint8_t byte)
{
    uint64_t next = lawn_store_next(ops->lot.store);

    if (next == LAWN_NEVER && byte != 0) {
        next = ops->oracle.now;
    }
    return byte % 8 == 1   ? script_earlier(next, 1)
           : byte % 8 == 2 ? script_later(next, 1)
                           : next;
}

static void
op_mow_next(struct store_ops *ops)
{
    uint8_t byte = script_take(&ops->script);
    uint64_t next = take_next(ops, byte);

    (void)do_mow(ops, next,
                 byte < 160 ? SIZE_MAX : script_take_budget(&ops->script));
}

static void
op_mow_jump(struct store_ops *ops)
{
    uint64_t jump = script_take_jump(&ops->script);

    (void)do_mow(ops, script_later(ops->oracle.now, jump),
                 script_take_budget(&ops->script));
}

static void
op_mow_back(struct store_ops *ops)
{
    uint8_t byte = script_take(&ops->script);
    uint64_t ticks = byte < 192 ? byte : script_take_extreme(&ops->script);

    (void)do_mow(ops, script_earlier(ops->oracle.now, ticks),
                 script_take_budget(&ops->script));
}

static void
op_pop(struct store_ops *ops)
{
    uint8_t byte = script_take(&ops->script);

    do_pop(ops, byte < 128   ? take_next(ops, byte)
                : byte < 192 ? script_earlier(ops->oracle.now, byte % 8)
                             : script_later(ops->oracle.now, byte % 64));
}

static void
op_set_now(struct store_ops *ops)
{
    uint8_t byte = script_take(&ops->script);

    if (byte < 128) {
        do_set_now(ops, script_later(ops->oracle.now, byte));
    } else if (byte < 192) {
        do_set_now(ops, script_earlier(ops->oracle.now, byte));
    } else {
        do_set_now(
            ops, script_later(ops->oracle.now, script_take_jump(&ops->script)));
    }
}

static void
op_look_at_all(struct store_ops *ops)
{
    if (store_oracle_looks(&ops->oracle)) {
        TRACE(&ops->script, "look at all timers");
        compare_all(ops);
        script_expect(&ops->script, "the timers of the lawn inside",
                      lawn_count(lawn_store_lawn(ops->lot.store)),
                      ops->oracle.count);
    }
}

/* This and op_renew() keep a store that was filled (config->fill), because
 * filling it takes most of the time of a case. */
static void
op_clear(struct store_ops *ops)
{
    if (!ops->script.config->fill) {
        do_clear(ops);
    }
}

static void
op_renew(struct store_ops *ops)
{
    if (!ops->script.config->fill) {
        (void)renew(ops);
    }
}

typedef void store_op_fn(struct store_ops *ops);

static const struct store_op {
    unsigned share;
    store_op_fn *run;
} table[] = {
    {52, op_start},    {24, op_stop},       {24, op_update},
    {16, op_touch},    {12, do_walk},       {12, op_get},
    {18, op_mow_next}, {18, op_mow_step},   {8, op_mow_budget},
    {12, op_pop},      {8, op_touch_at},    {8, op_start_row},
    {5, do_next},      {6, op_set_now},     {5, op_mow_jump},
    {5, op_mow_back},  {4, op_nonsense},    {4, op_stop_row},
    {4, do_limits},    {3, do_reserve},     {2, op_move},
    {2, op_damage},    {1, op_look_at_all}, {1, do_reload},
    {1, op_clear},     {1, op_renew},
};

static void
run_one(struct store_ops *ops)
{
    unsigned byte = script_take(&ops->script);
    size_t i = 0;

    if (ops->calm && byte % 8 != 7) {
        byte = byte % 140; /* few of these fire timers */
    }
    while (byte >= table[i].share) {
        byte -= table[i++].share;
    }
    table[i].run(ops);
    compare(ops);
    if (ops->lot.store == NULL) {
        settle(ops, &ops->lot);
        (void)renew(ops);
        return;
    }
    if (ops->nosy) {
        do_next(ops);
    }
    if (ops->careful) {
        do_check(ops);
    }
}

/* At the end of time no timer may be left. */
static void
run_out(struct store_ops *ops)
{
    bool thorough = ops->oracle.thorough;

    compare_all(ops);
    check(ops);
    ops->oracle.thorough = thorough;
    (void)do_mow(ops, LAWN_NEVER, SIZE_MAX);
    compare(ops);
    script_expect(&ops->script, "P2: lawn_store_count() at the end of time",
                  ops->oracle.count, 0);
    script_expect(&ops->script, "P2: lawn_store_next() at the end of time",
                  lawn_store_next(ops->lot.store), LAWN_NEVER);
}

static void
take_case(struct store_ops *ops, uint8_t byte)
{
    static const uint32_t many[4] = {64, 256, 8, 16};
    const struct ops_config *config = ops->script.config;
    uint32_t ids = config->timers != 0 ? config->timers : many[byte % 4];

    ops->calm = byte / 16 % 4 == 1;
    ops->nosy = byte / 16 % 4 == 2;
    ops->careful = byte / 16 % 4 == 3;
    ops->regime = script_take(&ops->script) % 4;
    store_oracle_init(&ops->oracle, ids, ids <= STORE_OPS_MANY_MAX);
}

bool
store_ops_run(const struct ops_config *config, const uint8_t *bytes,
              size_t size, struct ops_result *result)
{
    struct store_ops ops;

    memset(&ops, 0, sizeof(ops));
    take_case(&ops, script_begin(&ops.script, config, bytes, size, result));
    if (renew(&ops)) {
        while (!script_over(&ops.script) && ops.lot.store != NULL) {
            run_one(&ops);
        }
        if (!ops.script.failed && ops.lot.store != NULL) {
            run_out(&ops);
        }
        result->fires = ops.oracle.fires;
        forget_popped(&ops);
        close_lot(&ops, &ops.lot);
    }
    store_oracle_fini(&ops.oracle);
    return !ops.script.failed;
}
