/* class_ops.c - operations on classes: see class_ops.h and ops.c.
 *
 * Half of the timers are usually in classes and half are not, but each may be
 * started in either way. Starting a timer of a class in another way first stops
 * it. Each operation on a class is followed by a comparison of the class and
 * its timers with the oracle. */
#include "class_ops.h"

#include <stdlib.h>
#include <string.h>

#define CLASS_OPS_DUMP_MAX 65536u
/* Of 256 operations, these are on classes. */
#define CLASS_OPS_SHARE 144u

uint32_t
class_ops_count(const struct ops *ops)
{
    uint32_t count = 0;

    for (uint32_t c = 0; ops->classes.enabled && c < CLASS_ORACLE_MAX; c++) {
        count += ops->classes.at[c] != NULL;
    }
    return count;
}

void
class_ops_take_options(struct ops *ops, struct lawn_options *options)
{
    struct ops_classes *classes = &ops->classes;

    if (!classes->enabled) {
        return;
    }
    uint8_t byte = script_take(&ops->script);
    options->classes = classes->many ? 5 + byte % 58u : 1 + byte % 4u;
    if (byte == UINT8_MAX) {
        options->classes = 0;
    }
}

void
class_ops_renew(struct ops *ops)
{
    memset(ops->classes.at, 0, sizeof(ops->classes.at));
    class_oracle_init(&ops->classes.oracle);
}

bool
class_ops_has(const struct ops *ops, uint32_t i)
{
    return ops->classes.oracle.timers[i].place != CLASS_OUTSIDE;
}

static struct lawn_class *
class_of(const struct ops *ops, uint32_t i)
{
    return ops->classes.at[ops->classes.oracle.timers[i].of];
}

/* Comparisons. */

void
class_ops_compare_timer(struct ops *ops, uint32_t i)
{
    const struct lawn_timer *timer = ops_timer_of(ops, i);

    script_expect(&ops->script, "P15: lawn_pending() of a timer of a class",
                  lawn_pending(timer), true);
    script_expect(&ops->script, "P11: lawn_class_deadline()",
                  lawn_class_deadline(class_of(ops, i), timer),
                  class_oracle_deadline(&ops->classes.oracle, i));
}

static void
compare_counters(struct ops *ops, uint32_t c)
{
    const struct class_oracle *oracle = &ops->classes.oracle;
    const struct class_oracle_class *cls = &oracle->classes[c];
    struct script *script = &ops->script;
    struct lawn_class_counters is;

    memset(&is, 0xA5, sizeof(is));
    lawn_class_stats(ops->classes.at[c], &is);
    script_expect(script, "P15: count", is.count, cls->count);
    script_expect(script, "P15: detached", is.detached, cls->detached);
    script_expect(script, "P15: starts", is.starts, cls->starts);
    script_expect(script, "P15: stops", is.stops, cls->stops);
    script_expect(script, "P15: fires", is.fires, cls->fires);
    script_expect(script, "P11: ttl", is.ttl, cls->ttl);
    script_expect(script, "P1: late", is.late, cls->late);
    script_expect(script, "P1: late_max", is.late_max, cls->late_max);
    script_expect(script, "P16: weight", is.weight, cls->weight);
    script_expect(script, "P13: paused", is.paused, cls->paused);
    script_expect(script, "P11: next", is.next, class_oracle_first(oracle, c));
    script_expect(script, "P11: last", is.last, class_oracle_last(oracle, c));
    if (is.name != ops->classes.name[c]) {
        script_fail(script, "P15: the name of a class changed");
    }
}

static void
compare_class(struct ops *ops, uint32_t c)
{
    const struct class_oracle *oracle = &ops->classes.oracle;

    if (ops->classes.at[c] == NULL) {
        return;
    }
    compare_counters(ops, c);
    for (uint32_t i = 0; i < ops->oracle.many; i++) {
        if (class_ops_has(ops, i) && oracle->timers[i].of == c) {
            class_ops_compare_timer(ops, i);
        }
    }
}

/* lawn_class_each() returns each class once. */
static void
compare_each(struct ops *ops)
{
    const struct lawn_class *cls = NULL;
    unsigned found = 0;
    uint64_t seen = 0;

    while ((cls = lawn_class_each(ops->lawn, cls)) != NULL &&
           found <= CLASS_ORACLE_MAX) {
        for (uint32_t c = 0; c < CLASS_ORACLE_MAX; c++) {
            seen |= (uint64_t)(ops->classes.at[c] == cls) << c;
        }
        found++;
    }
    script_expect(&ops->script, "P15: classes", found, class_ops_count(ops));
    script_expect(&ops->script, "P15: different classes",
                  (uint64_t)__builtin_popcountll(seen), found);
}

void
class_ops_compare_all(struct ops *ops)
{
    for (uint32_t c = 0; c < CLASS_ORACLE_MAX; c++) {
        compare_class(ops, c);
    }
    compare_each(ops);
}

/* Classes. */

static void
create_class(struct ops *ops, uint32_t c)
{
    static const char *const names[8] = {
        "idle", NULL, "",        "a \"b\" \\", "line\nline\t\x7f",
        "lawn", "{[", "\xc3\xa4"};
    uint64_t ttl = ops_take_ttl(ops);
    const char *name = names[script_take(&ops->script) % 8];
    bool room = class_ops_count(ops) < ops->classes.max;

    struct lawn_class *cls = lawn_class_new(ops->lawn, ttl, name);
    TRACE(&ops->script, "class %u: new, ttl %llu%s", c, (unsigned long long)ttl,
          room ? "" : ": no room");
    script_expect(&ops->script, "P15: lawn_class_new()", cls != NULL, room);
    if (cls != NULL && room) {
        ops->classes.at[c] = cls;
        ops->classes.name[c] = name;
        class_oracle_new(&ops->classes.oracle, c,
                         ttl + ops_lies(ops, OPS_CLASS_TTL));
    }
}

/* Returns a class, or CLASS_ORACLE_NONE. There is one number more than there
 * can be classes. */
static uint32_t
take_class(struct ops *ops)
{
    uint32_t c = script_take(&ops->script) % (ops->classes.max + 1);

    if (ops->classes.at[c] == NULL) {
        create_class(ops, c);
    }
    return ops->classes.at[c] != NULL ? c : CLASS_ORACLE_NONE;
}

static void
op_free(struct ops *ops, uint32_t c)
{
    bool should = class_oracle_free(&ops->classes.oracle, c);

    TRACE(&ops->script, "class %u: free%s", c, should ? "" : ", in use");
    script_expect(&ops->script, "P15: lawn_class_free()",
                  lawn_class_free(ops->classes.at[c]), should);
    if (should) {
        ops->classes.at[c] = NULL;
    }
}

/* Timers. */

static uint32_t
take_class_timer(struct ops *ops)
{
    uint32_t i = script_take(&ops->script) % ops->oracle.many;
    uint32_t half = ops->oracle.many / 2;

    return ops->script.result->operations % 8 == 0 ? i : half + i % half;
}

static void
start_timer(struct ops *ops, uint32_t c, uint32_t i)
{
    struct lawn_timer *timer = ops_timer_of(ops, i);

    if (class_ops_has(ops, i)) {
        if (ops->classes.oracle.timers[i].of != c) {
            class_ops_stop(ops, i);
        }
    } else if (lawn_pending(timer)) {
        ops_stop(ops, i);
    }
    class_oracle_start(&ops->classes.oracle, c, i);
    TRACE(&ops->script, "class %u: start timer %u, due at %llu", c, i,
          (unsigned long long)class_oracle_deadline(&ops->classes.oracle, i));
    lawn_class_start(ops->classes.at[c], timer);
    class_ops_compare_timer(ops, i);
}

static void
op_start(struct ops *ops, uint32_t c)
{
    start_timer(ops, c, take_class_timer(ops));
}

static void
op_start_row(struct ops *ops, uint32_t c)
{
    uint32_t i = take_class_timer(ops);
    unsigned row = script_take(&ops->script) % 16;

    for (; row > 0; row--) {
        start_timer(ops, c, i);
        i = (i + 1) % ops->oracle.many;
    }
}

/* The last deadline of a timer that was stopped is unspecified. */
static void
note_outside(struct ops *ops, uint32_t i)
{
    ops->oracle.timers[i].due = lawn_last_deadline(ops_timer_of(ops, i));
}

void
class_ops_stop(struct ops *ops, uint32_t i)
{
    struct lawn_timer *timer = ops_timer_of(ops, i);
    struct lawn_class *cls = class_of(ops, i);
    bool running = ops_lies(ops, OPS_CLASS_STOP)
                       ? ops->classes.oracle.timers[i].place == CLASS_RUNNING
                       : class_oracle_stop(&ops->classes.oracle, i);

    TRACE(&ops->script, "class %u: stop timer %u, %s",
          ops->classes.oracle.timers[i].of, i,
          running ? "running" : "detached");
    script_expect(&ops->script, "P5: lawn_class_stop()",
                  lawn_class_stop(cls, timer), running);
    script_expect(&ops->script, "P3: lawn_pending() of a stopped timer",
                  lawn_pending(timer), false);
    script_expect(&ops->script, "P11: lawn_class_deadline() of a stopped timer",
                  lawn_class_deadline(cls, timer), LAWN_NEVER);
    note_outside(ops, i);
}

static void
op_stop(struct ops *ops, uint32_t c)
{
    uint32_t i = take_class_timer(ops);
    struct lawn_timer *timer = ops_timer_of(ops, i);

    if (class_ops_has(ops, i)) {
        class_ops_stop(ops, i);
    } else if (!lawn_pending(timer)) {
        TRACE(&ops->script, "class %u: stop timer %u, idle", c, i);
        script_expect(&ops->script, "P5: lawn_class_stop() of an idle timer",
                      lawn_class_stop(ops->classes.at[c], timer), false);
    }
}

static void
op_stop_row(struct ops *ops, uint32_t c)
{
    uint32_t i = take_class_timer(ops);
    unsigned row = script_take(&ops->script) % 16;

    (void)c;
    for (; row > 0; row--) {
        if (class_ops_has(ops, i)) {
            class_ops_stop(ops, i);
        }
        i = (i + 1) % ops->oracle.many;
    }
}

void
class_ops_moved(struct ops *ops, uint32_t i)
{
    lawn_class_moved(class_of(ops, i), ops_timer_of(ops, i));
    class_ops_compare_timer(ops, i);
}

/* Operations on all timers of a class. */

static void
op_set_ttl(struct ops *ops, uint32_t c)
{
    uint64_t was = ops->classes.oracle.classes[c].ttl;
    uint8_t byte = script_take(&ops->script);
    uint64_t ttl = byte < 64    ? script_earlier(was, byte % 16)
                   : byte < 128 ? script_later(was, byte % 16)
                   : byte < 144 ? byte % 4
                                : ops_take_ttl(ops);

    TRACE(&ops->script, "class %u: set ttl to %llu", c,
          (unsigned long long)ttl);
    class_oracle_set_ttl(&ops->classes.oracle, c, ttl);
    lawn_class_set_ttl(ops->classes.at[c], ttl);
}

static void
op_scale(struct ops *ops, uint32_t c)
{
    uint8_t byte = script_take(&ops->script);
    uint32_t numerator = byte % 16;
    uint32_t denominator = byte / 16;

    if (ops->script.mix == OPS_EXTREME && byte >= 128) {
        numerator = (uint32_t)script_take_extreme(&ops->script);
        denominator = (uint32_t)script_take_extreme(&ops->script);
    }
    TRACE(&ops->script, "class %u: scale by %u / %u", c, numerator,
          denominator);
    class_oracle_scale(&ops->classes.oracle, c, numerator, denominator);
    lawn_class_scale(ops->classes.at[c], numerator, denominator);
}

static void
op_postpone(struct ops *ops, uint32_t c)
{
    uint8_t byte = script_take(&ops->script);
    uint64_t ticks = byte < 192   ? script_take_step(&ops->script)
                     : byte < 240 ? script_take_jump(&ops->script)
                                  : script_take_extreme(&ops->script);

    TRACE(&ops->script, "class %u: postpone by %llu", c,
          (unsigned long long)ticks);
    class_oracle_postpone(&ops->classes.oracle, c, ticks);
    lawn_class_postpone(ops->classes.at[c], ticks);
}

static void
op_pause(struct ops *ops, uint32_t c)
{
    TRACE(&ops->script, "class %u: pause", c);
    class_oracle_pause(&ops->classes.oracle, c);
    lawn_class_pause(ops->classes.at[c]);
}

static void
op_resume(struct ops *ops, uint32_t c)
{
    TRACE(&ops->script, "class %u: resume", c);
    class_oracle_resume(&ops->classes.oracle, c);
    lawn_class_resume(ops->classes.at[c]);
}

static void
op_clear(struct ops *ops, uint32_t c)
{
    uint64_t count = class_oracle_clear(&ops->classes.oracle, c);

    TRACE(&ops->script, "class %u: clear %llu timers", c,
          (unsigned long long)count);
    script_expect(&ops->script, "P15: lawn_class_clear()",
                  lawn_class_clear(ops->classes.at[c]), count);
}

static void
op_take(struct ops *ops, uint32_t c)
{
    unsigned many = 1 + script_take(&ops->script) % 8;

    for (; many > 0 && !ops->script.failed; many--) {
        uint32_t should = class_oracle_take(&ops->classes.oracle, c);
        struct lawn_timer *timer = lawn_class_take(ops->classes.at[c]);
        uint32_t is =
            timer != NULL
                ? LAWN_CONTAINER(timer, struct ops_timer, timer)->number
                : CLASS_ORACLE_NONE;

        script_expect(&ops->script, "P15: lawn_class_take()", is, should);
        if (timer == NULL) {
            return;
        }
        TRACE(&ops->script, "class %u: take timer %u", c, is);
        script_expect(&ops->script, "P15: lawn_pending() of a taken timer",
                      lawn_pending(timer), false);
        note_outside(ops, is);
    }
}

static void
op_set_weight(struct ops *ops, uint32_t c)
{
    static const uint32_t weights[8] = {0, 1, 1, 2, 7, 100, 65535, 70000};
    uint32_t weight = weights[script_take(&ops->script) % 8];

    TRACE(&ops->script, "class %u: set weight to %u", c, weight);
    class_oracle_set_weight(&ops->classes.oracle, c, weight);
    lawn_class_set_weight(ops->classes.at[c], weight);
}

static void
op_forecast(struct ops *ops, uint32_t c)
{
    uint8_t byte = script_take(&ops->script);
    uint64_t ticks = ops_take_ttl(ops);
    uint64_t limit = byte < 128 ? UINT64_MAX : byte % 8;

    ticks = byte % 2 == 0 ? ticks : script_earlier(ticks, 1);
    TRACE(&ops->script, "class %u: forecast of %llu ticks, limit %llu", c,
          (unsigned long long)ticks, (unsigned long long)limit);
    script_expect(&ops->script, "P11: lawn_class_forecast()",
                  lawn_class_forecast(ops->classes.at[c], ticks, limit),
                  class_oracle_forecast(&ops->classes.oracle, c, ticks, limit));
}

static void
op_compare(struct ops *ops, uint32_t c)
{
    (void)c;
    TRACE(&ops->script, "look at all classes");
    class_ops_compare_all(ops);
}

/* Dumps. */

/* Checks that the text is one JSON object, as far as brackets and strings show
 * it, and returns the number of its objects. */
static unsigned
count_objects(struct ops *ops, const char *text)
{
    unsigned objects = 0;
    unsigned depth = 0;
    bool quoted = false;

    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' && (*text != '\n' || depth > 0)) {
            script_fail(&ops->script, "P15: a control character in JSON");
        }
        if (quoted) {
            quoted = *text != '"';
            text += *text == '\\' && text[1] != '\0';
        } else {
            quoted = *text == '"';
            objects += *text == '{';
            depth += *text == '{' || *text == '[';
            depth -= *text == '}' || *text == ']';
        }
    }
    if (quoted || depth != 0) {
        script_fail(&ops->script, "P15: invalid JSON");
    }
    return objects;
}

static void
op_dump(struct ops *ops, uint32_t c)
{
    static char text[CLASS_OPS_DUMP_MAX];
    bool json = script_take(&ops->script) % 2 == 0;
    FILE *out = fmemopen(text, sizeof(text), "w");

    (void)c;
    TRACE(&ops->script, "dump%s", json ? " as JSON" : "");
    if (out == NULL) {
        abort();
    }
    memset(text, 0, sizeof(text));
    lawn_dump(ops->lawn, out, json);
    (void)fclose(out);
    unsigned lines = 0;
    for (const char *at = text; *at != '\0'; at++) {
        lines += *at == '\n';
    }
    script_expect(&ops->script, "P15: objects or lines of lawn_dump()",
                  json ? count_objects(ops, text) : lines,
                  1 + class_ops_count(ops));
}

/* Mows. */

static void
mow_class(struct ops *ops, uint32_t c, uint64_t now, size_t budget)
{
    struct class_oracle *oracle = &ops->classes.oracle;

    TRACE(&ops->script, "class %u: mow at %llu, budget %zu", c,
          (unsigned long long)now, budget);
    ops_begin_mow(ops, now, budget);
    class_oracle_mow(oracle, c, now, budget);
    ops->script.depth++;
    size_t returned =
        lawn_class_mow(ops->classes.at[c], now, budget, ops_callback, ops);
    ops->script.depth--;
    script_expect(&ops->script, "P3: lawn_class_mow()", returned, ops->fired);
    bool all = ops->fired < ops->budget;
    ops_hear(ops, 0, class_oracle_mown(oracle, budget, all, ops->halted), NULL);
    /* No other timer had to fire. */
    (void)oracle_mown(&ops->oracle, 0, 0);
    if (ops->witness != NULL) {
        (void)witness_mown(ops->witness, false);
    }
}

static void
op_mow(struct ops *ops, uint32_t c)
{
    struct script *script = &ops->script;
    uint8_t byte = script_take(script);
    uint64_t now = ops->oracle.now;

    if (byte < 64) {
        now = class_oracle_first(&ops->classes.oracle, c);
        now = byte % 4 == 0   ? script_earlier(now, 1)
              : byte % 4 == 1 ? script_later(now, 1)
                              : now;
        now = now == LAWN_NEVER ? ops->oracle.now : now;
    } else if (byte < 192) {
        now = script_later(now, script_take_step(script));
    } else if (byte < 224) {
        now = script_earlier(now, byte % 32);
    } else {
        now = script_take_far(script, now);
    }
    mow_class(ops, c, now, script_take_budget(script));
}

/* Without assertions, a mow inside a mow does nothing [P10]. */
static void
op_mow_inside(struct ops *ops, uint32_t c)
{
#if defined NDEBUG
    size_t fired = ops->fired;

    TRACE(&ops->script, "class %u: mow inside a mow", c);
    script_expect(&ops->script, "P10: a mow of a class inside a mow",
                  lawn_class_mow(ops->classes.at[c], LAWN_NEVER, SIZE_MAX,
                                 ops_callback, ops),
                  0);
    script_expect(&ops->script, "P10: timers fired in a mow inside a mow",
                  ops->fired - fired, 0);
#else
    (void)ops;
    (void)c;
#endif
}

/* Each gets a share of the 256 values of a byte. */

typedef void class_op_fn(struct ops *ops, uint32_t c);

static const struct class_op {
    unsigned share;
    class_op_fn *run;
    class_op_fn *inside; /* in callbacks */
} table[] = {
    {64, op_start, op_start},
    {20, op_start_row, op_start_row},
    {16, op_stop, op_stop},
    {4, op_stop_row, op_stop_row},
    {24, op_mow, op_mow_inside},
    {20, op_set_ttl, op_set_ttl},
    {8, op_scale, op_scale},
    {18, op_postpone, op_postpone},
    {10, op_pause, op_pause},
    {22, op_resume, op_resume},
    {6, op_clear, op_clear},
    {12, op_take, op_take},
    {12, op_set_weight, op_set_weight},
    {8, op_forecast, op_forecast},
    {3, op_compare, op_compare},
    {1, op_dump, op_dump},
    {8, op_free, op_free},
};

bool
class_ops_run(struct ops *ops, bool inside)
{
    size_t i = 0;

    if (!ops->classes.enabled || script_take(&ops->script) >= CLASS_OPS_SHARE) {
        return false;
    }
    unsigned byte = script_take(&ops->script);
    uint32_t c = take_class(ops);
    if (c == CLASS_ORACLE_NONE) {
        return true;
    }
    while (byte >= table[i].share) {
        byte -= table[i++].share;
    }
    (inside ? table[i].inside : table[i].run)(ops, c);
    if (oracle_looks(&ops->oracle)) {
        compare_class(ops, c);
    }
    return true;
}

void
class_ops_resume_all(struct ops *ops)
{
    for (uint32_t c = 0; c < CLASS_ORACLE_MAX; c++) {
        if (ops->classes.at[c] != NULL) {
            op_resume(ops, c);
        }
    }
}

void
class_ops_finish(struct ops *ops)
{
    for (uint32_t i = 0; i < ops->oracle.many && !ops->script.failed; i++) {
        if (class_ops_has(ops, i)) {
            class_ops_stop(ops, i);
        }
    }
    for (uint32_t c = 0; c < CLASS_ORACLE_MAX && !ops->script.failed; c++) {
        if (ops->classes.at[c] != NULL) {
            op_free(ops, c);
        }
    }
    compare_each(ops);
}
