/* join.c - lawn join: pairs lines of two inputs that have the same key.
 *
 * A line pairs with the oldest line of the other side that waits for the same
 * key. So at any time only lines of one side wait for a key. Waiting lines are
 * in the store `lines`, by key and number, each with its own timer. Their order
 * is that in which they were read, which is the order of their deadlines. The
 * store `keys` has the side and the numbers for each key.
 */
#include "clock.h"
#include "emit.h"
#include "filter_limits.h"
#include "filter_options.h"
#include "log.h"
#include "record.h"
#include "stores.h"
#include "verbs.h"

#include <string.h>

/* The waiting lines of a key: first <= number < end. */
struct waiting {
    uint64_t side;
    uint64_t first;
    uint64_t end;
    uint64_t deadline; /* of the last line */
};
#define WAITING_BYTES (4 * RECORD_NUMBER)

static const char *const side_names[] = {"left", "right"};

static void
encode(const struct waiting *waiting, unsigned char bytes[WAITING_BYTES])
{
    record_put(bytes, 0, waiting->side);
    record_put(bytes, 1, waiting->first);
    record_put(bytes, 2, waiting->end);
    record_put(bytes, 3, waiting->deadline);
}

static struct waiting
decode(const void *bytes)
{
    return (struct waiting){
        .side = record_get(bytes, 0),
        .first = record_get(bytes, 1),
        .end = record_get(bytes, 2),
        .deadline = record_get(bytes, 3),
    };
}

static int
configure(struct filter *filter)
{
    const struct options_operands *operands = &filter->options.operands;
    filter->setup.pending = filter->stores.lines;
    filter->setup.line_holds = 1;
    filter->setup.flushes = true;
    if (!filter_options_take_duration(filter, 1, &filter->setup.ttl)) {
        return VERBS_USAGE;
    }
    if (filter->options.key == NULL) {
        log_usage_error(filter, "missing key; use -k KEY");
    } else if (operands->count != 2) {
        log_usage_error(filter,
                        "expected two inputs, LEFT and RIGHT, found %zu",
                        operands->count);
    } else if (strcmp(operands->words[0], "-") == 0 &&
               strcmp(operands->words[1], "-") == 0) {
        log_usage_error(filter, "LEFT and RIGHT are both standard input");
    } else {
        filter->io.input_count = 2;
        return 0;
    }
    return VERBS_USAGE;
}

/* Emits a line without a partner. */
static void
emit_unpaired(struct filter *filter, unsigned side, const void *key,
              size_t key_size, const void *at, size_t size)
{
    emit_word(filter, "join", side_names[side]);
    if (filter->options.json) {
        emit_key(filter, "key", key, key_size);
        emit_input_line(filter, 0, "left", side == 0 ? at : NULL, size);
        emit_input_line(filter, 1, "right", side == 1 ? at : NULL, size);
    } else {
        emit_input_line(filter, side, "line", at, size);
    }
    emit_end(filter, SINK_MARKED);
}

/* Removes the first waiting line from the record of a key. Removes the key if
 * that was the last line. */
static void
remove_first(struct filter *filter, const void *key, size_t size,
             struct waiting *waiting)
{
    waiting->first++;
    if (waiting->first == waiting->end) {
        lawn_store_stop(filter->stores.keys, key, size);
        return;
    }
    unsigned char bytes[WAITING_BYTES];
    encode(waiting, bytes);
    stores_succeeded(filter, lawn_store_update(filter->stores.keys, key, size,
                                               bytes, sizeof(bytes)));
}

/* Pairs a line with the first line that waits on the other side. */
static void
emit_pair(struct filter *filter, const struct filter_line *line,
          struct waiting *waiting)
{
    struct lawn_store_timer other;
    size_t size = 0;
    const void *id = stores_build_line_id(filter, line->key, line->key_size,
                                          waiting->first, &size);
    if (!lawn_store_get(filter->stores.lines, id, size, &other)) {
        return;
    }
    emit_word(filter, "join", "both");
    if (filter->options.json) {
        emit_key(filter, "key", line->key, line->key_size);
    }
    if (line->side == 0) {
        emit_input_line(filter, 0, "left", line->at, line->size);
    }
    emit_input_line(filter, (unsigned)waiting->side, side_names[waiting->side],
                    other.payload, other.payload_size);
    if (line->side == 1) {
        emit_input_line(filter, 1, "right", line->at, line->size);
    }
    emit_end(filter, SINK_PAIR);
    lawn_store_stop(filter->stores.lines, id, size);
    filter->counts.held--;
    remove_first(filter, line->key, line->key_size, waiting);
}

/* Holds a line until its partner is read. */
static enum line_result
hold_for_partner(struct filter *filter, const struct filter_line *line,
                 struct waiting *waiting)
{
    uint64_t deadline = clock_deadline(filter, filter->setup.ttl);
    /* After a resume with a shorter TTL, a line must not be due before lines
     * that were read earlier. */
    if (deadline < waiting->deadline) {
        deadline = waiting->deadline + (waiting->deadline < CLOCK_LAST);
    }
    waiting->deadline = deadline;
    size_t size = 0;
    const void *id = stores_build_line_id(filter, line->key, line->key_size,
                                          waiting->end++, &size);
    if (!stores_succeeded(
            filter, lawn_store_start(filter->stores.lines, id, size, deadline,
                                     line->at, line->size, LAWN_STORE_AT))) {
        return LINE_NOT_TAKEN;
    }
    unsigned char bytes[WAITING_BYTES];
    encode(waiting, bytes);
    if (!stores_succeeded(filter,
                          lawn_store_start(filter->stores.keys, line->key,
                                           line->key_size, UINT64_MAX, bytes,
                                           sizeof(bytes), 0))) {
        lawn_store_stop(filter->stores.lines, id, size);
        return LINE_NOT_TAKEN;
    }
    return LINE_HELD;
}

static enum line_result
handle_line(struct filter *filter, const struct filter_line *line)
{
    struct lawn_store *keys = filter->stores.keys;
    struct waiting waiting = {.side = line->side};
    struct lawn_store_timer timer;
    bool known = lawn_store_get(keys, line->key, line->key_size, &timer);
    if (known) {
        waiting = decode(timer.payload);
    }
    if (waiting.side != line->side) {
        emit_pair(filter, line, &waiting);
        return LINE_WRITTEN;
    }
    enum line_result result = LINE_NOT_TAKEN;
    if (!filter_limits_admit_key(filter, line, &result) ||
        !filter_limits_admit_line(filter, line, &result)) {
        return result;
    }
    if (known && !lawn_store_get(keys, line->key, line->key_size, &timer)) {
        /* the key was evicted */
        waiting = (struct waiting){.side = line->side};
    } else if (known) {
        waiting = decode(timer.payload);
    }
    return hold_for_partner(filter, line, &waiting);
}

/* Emits a line that found no partner in time. */
static void
handle_line_due(struct filter *filter, const struct lawn_store_timer *timer)
{
    struct lawn_store_timer owner;
    size_t size = timer->id_size - RECORD_NUMBER;
    if (!lawn_store_get(filter->stores.keys, timer->id, size, &owner)) {
        return;
    }
    struct waiting waiting = decode(owner.payload);
    emit_unpaired(filter, (unsigned)waiting.side, timer->id, size,
                  timer->payload, timer->payload_size);
    remove_first(filter, timer->id, size, &waiting);
}

/* Evicts the key of the line that is due first, and emits all its lines. */
static void
evict_key(struct filter *filter)
{
    struct lawn_store_timer owner;
    struct lawn_store_timer line;
    if (!lawn_store_next_timer(filter->stores.lines, &line) ||
        !lawn_store_get(filter->stores.keys, line.id,
                        line.id_size - RECORD_NUMBER, &owner)) {
        return;
    }
    struct waiting waiting = decode(owner.payload);
    for (; waiting.first < waiting.end; waiting.first++) {
        size_t size = 0;
        const void *id = stores_build_line_id(filter, owner.id, owner.id_size,
                                              waiting.first, &size);
        if (!lawn_store_get(filter->stores.lines, id, size, &line)) {
            continue;
        }
        emit_unpaired(filter, (unsigned)waiting.side, owner.id, owner.id_size,
                      line.payload, line.payload_size);
        lawn_store_stop(filter->stores.lines, id, size);
        filter->counts.held--;
    }
    lawn_store_stop(filter->stores.keys, owner.id, owner.id_size);
    filter->counts.evicted++;
}

static enum line_result
pass_line(struct filter *filter, const struct filter_line *line)
{
    emit_unpaired(filter, line->side, line->key, line->key_size, line->at,
                  line->size);
    return LINE_WRITTEN;
}

static bool
is_key_valid(const struct filter *filter, const struct lawn_store_timer *timer)
{
    if (timer->payload_size != WAITING_BYTES) {
        return false;
    }
    struct waiting waiting = decode(timer->payload);
    return waiting.side <= 1 && waiting.first < waiting.end &&
           waiting.end >> 63 == 0 && waiting.deadline <= CLOCK_LAST &&
           timer->deadline > CLOCK_LAST &&
           waiting.end - waiting.first <=
               lawn_store_count(filter->stores.lines);
}

static uint64_t
count_key_lines(const struct filter *filter,
                const struct lawn_store_timer *timer)
{
    (void)filter;
    struct waiting waiting = decode(timer->payload);
    return waiting.end - waiting.first;
}

static bool
is_line_valid(const struct filter *filter, const struct lawn_store_timer *timer)
{
    if (timer->id_size < RECORD_NUMBER) {
        return false;
    }
    size_t size = timer->id_size - RECORD_NUMBER;
    uint64_t number = record_get((const char *)timer->id + size, 0);
    struct lawn_store_timer owner;
    if (!lawn_store_get(filter->stores.keys, timer->id, size, &owner)) {
        return false;
    }
    struct waiting waiting = decode(owner.payload);
    return number >= waiting.first && number < waiting.end;
}

static const struct filter_verb join_filter = {
    .open = configure,
    .line = handle_line,
    .line_due = handle_line_due,
    .pass = pass_line,
    .evict = evict_key,
    .key_valid = is_key_valid,
    .key_lines = count_key_lines,
    .line_valid = is_line_valid,
};

static const struct options_spec join_specs[] = {
    OPTION_KEY,
    {OPTION_TEXT("right-key", "KEY", right_key,
                 "key of the lines of RIGHT; default: same as --key",
                 "a column, a JSON path or a /regex/")},
    {OPTION_TEXT("right-time-field", "FIELD", right_time_field,
                 "time of the lines of RIGHT; default: same as --time-field",
                 "a column, a JSON path or a /regex/")},
    OPTION_MAX_KEYS,
    OPTION_MAX_LINES,
    OPTION_END,
};

const struct options_verb join_verb = {
    .name = "join",
    .summary = "pair lines of two inputs that have the same key",
    .details =
        "Pairs each line with the oldest waiting line of the other input that\n"
        "has the same key, and writes \"both\" and the two lines. A line that "
        "is\n"
        "still unpaired after DURATION is written with the prefix \"left\" or\n"
        "\"right\". -k is required. LEFT and RIGHT are files, named pipes, or "
        "-\n"
        "for standard input.\n",
    .example = "printf 'q1 1 GET\\nq2 2 GET\\n' >requests\n"
               "printf 'q1 3 200\\n' >responses\n"
               "lawn join 10s -k 1 --time-field 2 requests responses",
    OPTION_FILTER_VERB(join_filter, join_specs, "DURATION LEFT RIGHT"),
};
