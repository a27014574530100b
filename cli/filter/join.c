/* join.c - lawn join: pairs lines of two inputs that share a key.
 *
 * A line that comes pairs with the oldest one of the other side that waits; so at
 * any time lines of one side only wait for a key. They stand in lines by key and
 * number, each with its own timer, in the order of their coming, which is that of
 * their deadlines; keys has for each key which side and numbers these are.
 */
#include "choices.h"
#include "clock.h"
#include "hold.h"
#include "put.h"
#include "tell.h"
#include "verbs.h"

#include <string.h>

/* The lines of a key that wait: first <= number < end. */
struct join_key {
    uint64_t side;
    uint64_t first;
    uint64_t end;
    uint64_t deadline; /* of the last of them */
};

static const char *const join_sides[] = {"left", "right"};

static int
join_open(struct filter *filter)
{
    filter->pending = filter->lines;
    filter->line_holds = 1;
    filter->flushes = true;
    if (!choices_duration(filter, 1, &filter->ttl))
        return VERBS_USAGE;
    if (filter->options.key == NULL)
        tell_usage(filter, "a key is missing: -k KEY");
    else if (filter->options.operands.count != 2)
        tell_usage(filter, "it takes two inputs, LEFT and RIGHT, not %zu",
                   filter->options.operands.count);
    else if (strcmp(filter->options.operands.words[0], "-") == 0 &&
             strcmp(filter->options.operands.words[1], "-") == 0)
        tell_usage(filter, "LEFT and RIGHT are both standard input");
    else {
        filter->input_count = 2;
        return 0;
    }
    return VERBS_USAGE;
}

/* Writes a line that has no partner. */
static void
join_put_alone(struct filter *filter, unsigned side, const void *key,
               size_t key_size, const void *at, size_t size)
{
    put_word(filter, "join", join_sides[side]);
    if (filter->options.json) {
        put_key(filter, "key", key, key_size);
        put_input(filter, 0, "left", side == 0 ? at : NULL, size);
        put_input(filter, 1, "right", side == 1 ? at : NULL, size);
    } else {
        put_input(filter, side, "line", at, size);
    }
    put_end(filter, SINK_MARKED);
}

/* Forgets the first line that waits for a key, and the key with the last. */
static void
join_forget_first(struct filter *filter, const void *id, size_t size,
                  struct join_key *key)
{
    key->first++;
    if (key->first == key->end)
        lawn_store_stop(filter->keys, id, size);
    else
        hold_started(filter, lawn_store_update(filter->keys, id, size, key,
                                               sizeof *key));
}

/* Pairs a line with the first that waits on the other side. */
static void
join_pair(struct filter *filter, const struct filter_line *line,
          struct join_key *key)
{
    struct lawn_store_timer other;
    size_t size;
    const void *id =
        hold_id(filter, line->key, line->key_size, key->first, &size);
    if (!lawn_store_get(filter->lines, id, size, &other))
        return;
    put_word(filter, "join", "both");
    if (filter->options.json)
        put_key(filter, "key", line->key, line->key_size);
    if (line->side == 0)
        put_input(filter, 0, "left", line->at, line->size);
    put_input(filter, (unsigned)key->side, join_sides[key->side], other.payload,
              other.payload_size);
    if (line->side == 1)
        put_input(filter, 1, "right", line->at, line->size);
    put_end(filter, SINK_PAIR);
    lawn_store_stop(filter->lines, id, size);
    filter->counts.held--;
    join_forget_first(filter, line->key, line->key_size, key);
}

/* Lets a line wait for its partner. */
static void
join_wait(struct filter *filter, const struct filter_line *line,
          struct join_key *key)
{
    size_t size;
    uint64_t deadline = clock_after(filter, filter->ttl);
    /* A line of a shorter TTL, after the state was resumed with another one,
     * leaves after those that came before it. */
    if (deadline < key->deadline)
        deadline = key->deadline + (key->deadline < CLOCK_LAST);
    key->deadline = deadline;
    const void *id =
        hold_id(filter, line->key, line->key_size, key->end++, &size);
    bool held = hold_started(
        filter, lawn_store_start(filter->lines, id, size, key->deadline,
                                 line->at, line->size, LAWN_STORE_AT));
    if (held &&
        hold_started(filter,
                     lawn_store_start(filter->keys, line->key, line->key_size,
                                      UINT64_MAX, key, sizeof *key, 0))) {
        filter->counts.held++;
        return;
    }
    if (held)
        lawn_store_stop(filter->lines, id, size);
    hold_give_back(filter);
}

static void
join_line(struct filter *filter, const struct filter_line *line)
{
    struct lawn_store_timer timer;
    struct join_key key = {.side = line->side};
    bool known =
        lawn_store_get(filter->keys, line->key, line->key_size, &timer);
    if (known)
        memcpy(&key, timer.payload, sizeof key);
    if (key.side != line->side) {
        join_pair(filter, line, &key);
        return;
    }
    if (!hold_has_key_room(filter, line) || !hold_has_line_room(filter, line))
        return;
    if (known &&
        !lawn_store_get(filter->keys, line->key, line->key_size, &timer))
        key = (struct join_key){.side = line->side}; /* it was evicted */
    else if (known)
        memcpy(&key, timer.payload, sizeof key);
    join_wait(filter, line, &key);
}

/* A line has waited in vain. */
static void
join_line_due(struct filter *filter, const struct lawn_store_timer *timer)
{
    struct lawn_store_timer owner;
    struct join_key key;
    size_t size = timer->id_size - sizeof key.first;
    if (!lawn_store_get(filter->keys, timer->id, size, &owner))
        return;
    memcpy(&key, owner.payload, sizeof key);
    join_put_alone(filter, (unsigned)key.side, timer->id, size, timer->payload,
                   timer->payload_size);
    join_forget_first(filter, timer->id, size, &key);
}

/* The key of the line that is due first has to go, and its lines with it. */
static void
join_evict(struct filter *filter)
{
    struct lawn_store_timer owner;
    struct lawn_store_timer line;
    struct join_key key;
    if (!lawn_store_first(filter->lines, &line) ||
        !lawn_store_get(filter->keys, line.id, line.id_size - sizeof key.first,
                        &owner))
        return;
    memcpy(&key, owner.payload, sizeof key);
    for (; key.first < key.end; key.first++) {
        size_t size;
        const void *id =
            hold_id(filter, owner.id, owner.id_size, key.first, &size);
        if (!lawn_store_get(filter->lines, id, size, &line))
            continue;
        join_put_alone(filter, (unsigned)key.side, owner.id, owner.id_size,
                       line.payload, line.payload_size);
        lawn_store_stop(filter->lines, id, size);
        filter->counts.held--;
    }
    lawn_store_stop(filter->keys, owner.id, owner.id_size);
    filter->counts.evicted++;
}

static void
join_pass(struct filter *filter, const struct filter_line *line)
{
    join_put_alone(filter, line->side, line->key, line->key_size, line->at,
                   line->size);
}

static bool
join_key_valid(const struct filter *filter,
               const struct lawn_store_timer *timer)
{
    struct join_key key;
    if (timer->payload_size != sizeof key)
        return false;
    memcpy(&key, timer->payload, sizeof key);
    return key.side <= 1 && key.first < key.end && key.end >> 63 == 0 &&
           key.deadline <= CLOCK_LAST && timer->deadline > CLOCK_LAST &&
           key.end - key.first <= lawn_store_count(filter->lines);
}

static uint64_t
join_key_lines(const struct filter *filter,
               const struct lawn_store_timer *timer)
{
    (void)filter;
    struct join_key key;
    memcpy(&key, timer->payload, sizeof key);
    return key.end - key.first;
}

static bool
join_line_valid(const struct filter *filter,
                const struct lawn_store_timer *timer)
{
    struct lawn_store_timer owner;
    struct join_key key;
    uint64_t number;
    if (timer->id_size < sizeof number)
        return false;
    size_t size = timer->id_size - sizeof number;
    memcpy(&number, (const char *)timer->id + size, sizeof number);
    if (!lawn_store_get(filter->keys, timer->id, size, &owner))
        return false;
    memcpy(&key, owner.payload, sizeof key);
    return number >= key.first && number < key.end;
}

static const struct filter_verb join_filter = {
    .open = join_open,
    .line = join_line,
    .line_due = join_line_due,
    .pass = join_pass,
    .evict = join_evict,
    .key_valid = join_key_valid,
    .key_lines = join_key_lines,
    .line_valid = join_line_valid,
};

static const struct options_spec join_specs[] = {
    CHOICES_KEY,
    {CHOICES_TEXT("right-key", "KEY", right_key,
                  "of lines of RIGHT; default: as --key",
                  "a column, a JSON path or a /regex/")},
    {CHOICES_TEXT("right-time-field", "FIELD", right_time_field,
                  "of lines of RIGHT; default: as --time-field",
                  "a column, a JSON path or a /regex/")},
    CHOICES_MAX_KEYS,
    CHOICES_MAX_LINES,
    CHOICES_END,
};

const struct options_verb join_verb = {
    .name = "join",
    .summary = "pair lines of two inputs that share a key within some time",
    .details = "A line pairs with the oldest line of the other input that has "
               "its key\n"
               "and came within DURATION: writes \"both\" and the two lines. "
               "One that\n"
               "finds no partner is written after \"left\" or \"right\". An "
               "input is a\n"
               "file, a named pipe, or - for standard input.\n",
    .example = "printf 'q1 1 GET\\nq2 2 GET\\n' >requests\n"
               "printf 'q1 3 200\\n' >responses\n"
               "lawn join 10s -k 1 --time-field 2 requests responses",
    CHOICES_FILTER(join_filter, join_specs, "DURATION LEFT RIGHT"),
};
