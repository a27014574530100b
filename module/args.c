/* args.c - parses the arguments of commands: see args.h.
 *
 * Each command iterates over its options with a struct args_words. take_word()
 * consumes an option without a value, take_value() one with a value. Both set
 * *seen, so that no option is accepted twice. O(arguments).
 */
#include "args.h"

#include "../src/base/decimal.h"

#include <stdio.h>

#define NO_TIME ARGS_SYNTAX ": missing DELAY or AT"
/* The size of an error before the word that it quotes. */
#define BEFORE_SIZE 128

/* The remaining arguments. */
struct args_words {
    const struct bytes *at;
    size_t count;
    bool missing; /* the only one left is an option without its value */
};

/* Not tolower(), which depends on the locale. */
static int
lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

bool
args_is(struct bytes word, const char *name)
{
    if (word.size != strlen(name)) {
        return false;
    }
    for (size_t i = 0; i < word.size; i++) {
        if (word.at[i] != name[i] && lower(word.at[i]) != lower(name[i])) {
            return false;
        }
    }
    return true;
}

bool
args_parse_number(struct bytes word, uint64_t min, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;

    if (word.size == 0 || (word.size > 1 && word.at[0] == '0')) {
        return false;
    }
    const char *end = word.at + word.size;
    if (lawn__decimal_read(word.at, end, max, &value) < end || value < min) {
        return false;
    }
    *out = value;
    return true;
}

bool
args_parse_signed(struct bytes word, uint64_t max, int64_t *out)
{
    bool negative = word.size > 0 && word.at[0] == '-';

    if (negative) {
        word.at++;
        word.size--;
    }
    uint64_t value = 0;
    /* -0 is not accepted. */
    if (!args_parse_number(word, negative ? 1 : 0, max, &value)) {
        return false;
    }
    *out = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

void
args_quote(struct bytes word, char out[ARGS_QUOTE_SIZE])
{
    bool cut = word.size > ARGS_QUOTE_MAX;
    size_t size = cut ? ARGS_QUOTE_MAX : word.size;

    *out++ = '\'';
    for (size_t i = 0; i < size; i++) {
        *out = word.at[i];
        if (*out < ' ' || *out > '~' || *out == '\'') {
            *out = '?';
        }
        out++;
    }
    memcpy(out, cut ? "...'" : "'", cut ? 5 : 2);
}

/* Returns a text that is valid until the next call. */
static const char *
quote_in_error(const char *before, struct bytes word)
{
    static char text[BEFORE_SIZE + ARGS_QUOTE_SIZE];
    char quoted[ARGS_QUOTE_SIZE];

    args_quote(word, quoted);
    (void)snprintf(text, sizeof(text), "%s %s", before, quoted);
    return text;
}

const char *
args_syntax_near(struct bytes word)
{
    return quote_in_error(ARGS_SYNTAX " near", word);
}

const char *
args_syntax_missing(const char *what, struct bytes word)
{
    char before[BEFORE_SIZE];

    (void)snprintf(before, sizeof(before), ARGS_SYNTAX ": missing %s of", what);
    return quote_in_error(before, word);
}

const char *
args_not_in_range(const char *name, const char *range, struct bytes word)
{
    char before[BEFORE_SIZE];

    (void)snprintf(before, sizeof(before), "ERR %s must be %s, not", name,
                   range);
    return quote_in_error(before, word);
}

static const char *
refuse_next(const struct args_words *words)
{
    return words->missing ? args_syntax_missing("argument", words->at[0])
                          : args_syntax_near(words->at[0]);
}

static const char *
refuse_rest(const struct args_words *words)
{
    return words->count > 0 ? args_syntax_near(words->at[0]) : NULL;
}

/* Consumes the next argument if it is this option and was not seen before. */
static bool
take_word(struct args_words *words, const char *name, bool *seen)
{
    if (words->count == 0 || *seen || !args_is(words->at[0], name)) {
        return false;
    }
    *seen = true;
    words->at++;
    words->count--;
    return true;
}

static bool
take_value(struct args_words *words, const char *name, bool *seen,
           struct bytes *value)
{
    if (words->count == 1 && !*seen && args_is(words->at[0], name)) {
        words->missing = true;
    }
    if (words->count < 2 || !take_word(words, name, seen)) {
        return false;
    }
    *value = words->at[0];
    words->at++;
    words->count--;
    return true;
}

/* Consumes an option and a number from min to max; errors quote `range`.
 * Returns false if the next argument is another option. Sets *error if the
 * number is invalid. */
static bool
take_number(struct args_words *words, const char *name, uint64_t min,
            uint64_t max, bool *seen, uint64_t *out, const char *range,
            const char **error)
{
    struct bytes value;

    if (!take_value(words, name, seen, &value)) {
        return false;
    }
    if (!args_parse_number(value, min, max, out)) {
        *error = args_not_in_range(name, range, value);
    }
    return true;
}

/* The same for a number of milliseconds from min, 0 or 1, to 2^53. */
static bool
take_ms(struct args_words *words, const char *name, uint64_t min, bool *seen,
        uint64_t *out, const char **error)
{
    return take_number(words, name, min, QUEUE_TIME_MAX, seen, out,
                       min == 0 ? ARGS_MS_RANGE("0") : ARGS_MS_RANGE("1"),
                       error);
}

static bool
take_time(struct args_words *words, bool by, struct args_time *time,
          const char **error)
{
    bool seen = time->how != ARGS_NEVER;
    struct bytes value;

    if (take_ms(words, "DELAY", 0, &seen, &time->ms, error)) {
        time->how = ARGS_DELAY;
    } else if (take_number(words, "AT", 0, QUEUE_TIME_MAX, &seen, &time->ms,
                           "an integer Unix time in milliseconds from 0 to "
                           "2^53",
                           error)) {
        time->how = ARGS_AT;
    } else if (by && take_value(words, "BY", &seen, &value)) {
        time->how = ARGS_BY;
        if (!args_parse_signed(value, QUEUE_TIME_MAX, &time->by)) {
            *error = args_not_in_range("BY", ARGS_MS_RANGE("-2^53"), value);
        }
    } else {
        return false;
    }
    return true;
}

static bool
take_count(struct args_words *words, bool *seen, uint64_t *out,
           const char **error)
{
    return take_number(words, "COUNT", 1, ARGS_COUNT_MAX, seen, out,
                       ARGS_COUNT_RANGE("1"), error);
}

static bool
take_block(struct args_words *words, bool *seen, uint64_t *out,
           const char **error)
{
    return take_ms(words, "BLOCK", 0, seen, out, error);
}

static bool
take_lease(struct args_words *words, bool *seen, uint64_t *out,
           const char **error)
{
    return take_ms(words, "LEASE", 1, seen, out, error);
}

const char *
args_parse_push(const struct bytes *words, size_t count, struct args_push *out)
{
    struct args_words left = {words, count, false};
    const char *error = NULL;
    bool every = false;
    bool times = false;
    bool jitter = false;
    bool tries = false;

    *out = (struct args_push){0};
    while (left.count > 0) {
        if (!take_time(&left, false, &out->time, &error) &&
            !take_word(&left, "NX", &out->absent) &&
            !take_word(&left, "XX", &out->present) &&
            !take_ms(&left, "EVERY", 1, &every, &out->repeat.period, &error) &&
            !take_number(&left, "TIMES", 1, QUEUE_TIME_MAX, &times,
                         &out->repeat.times, "an integer from 1 to 2^53",
                         &error) &&
            !take_ms(&left, "JITTER", 0, &jitter, &out->jitter, &error) &&
            !take_number(&left, "TRIES", 0, ARGS_TRIES_MAX, &tries, &out->tries,
                         "an integer from 0 to 2^32 - 1", &error)) {
            return refuse_next(&left);
        }
        if (error != NULL) {
            return error;
        }
    }
    if (out->time.how == ARGS_NEVER) {
        return NO_TIME;
    }
    if (out->absent && out->present) {
        return ARGS_SYNTAX ": NX and XX exclude each other";
    }
    if (times && !every) {
        return ARGS_SYNTAX ": TIMES requires EVERY";
    }
    return NULL;
}

const char *
args_parse_mpush(const struct bytes *words, size_t count,
                 struct args_mpush *out)
{
    struct args_words left = {words, count, false};
    const char *error = NULL;

    *out = (struct args_mpush){0};
    if (!take_time(&left, false, &out->time, &error)) {
        return count > 0 ? refuse_next(&left) : NO_TIME;
    }
    if (left.count == 0) {
        return ARGS_SYNTAX ": missing count of pairs";
    }
    if (error != NULL) {
        return error;
    }
    uint64_t pairs = 0;
    if (!args_parse_number(left.at[0], 1, ARGS_COUNT_MAX, &pairs)) {
        return args_not_in_range("count", ARGS_COUNT_RANGE("1"), left.at[0]);
    }
    out->pairs = left.at + 1;
    out->count = (left.count - 1) / 2;
    if ((left.count - 1) % 2 != 0 || pairs != out->count) {
        return ARGS_SYNTAX ": count is not the number of pairs";
    }
    return NULL;
}

const char *
args_parse_touch(const struct bytes *words, size_t count,
                 struct args_touch *out)
{
    struct args_words left = {words, count, false};
    const char *error = NULL;

    *out = (struct args_touch){0};
    while (left.count > 0) {
        if (!take_time(&left, true, &out->time, &error) &&
            !take_word(&left, "GT", &out->later) &&
            !take_word(&left, "LT", &out->earlier)) {
            return refuse_next(&left);
        }
        if (error != NULL) {
            return error;
        }
    }
    if (out->time.how == ARGS_NEVER) {
        return ARGS_SYNTAX ": missing DELAY, AT or BY";
    }
    if (out->later && out->earlier) {
        return ARGS_SYNTAX ": GT and LT exclude each other";
    }
    return NULL;
}

const char *
args_parse_poll(const struct bytes *words, size_t count, struct args_poll *out)
{
    struct args_words left = {words, count, false};
    const char *error = NULL;
    bool counted = false;

    *out = (struct args_poll){.count = 100};
    while (left.count > 0) {
        if (!take_count(&left, &counted, &out->count, &error) &&
            !take_block(&left, &out->block, &out->timeout, &error) &&
            !take_word(&left, "META", &out->meta)) {
            return refuse_next(&left);
        }
        if (error != NULL) {
            return error;
        }
    }
    return NULL;
}

const char *
args_parse_lease(const struct bytes *words, size_t count,
                 struct args_lease *out)
{
    struct args_words left = {words, count, false};
    const char *error = NULL;
    bool leased = false;
    bool counted = false;

    *out = (struct args_lease){.count = 1};
    while (left.count > 0) {
        if (!take_lease(&left, &leased, &out->lease, &error) &&
            !take_count(&left, &counted, &out->count, &error) &&
            !take_block(&left, &out->block, &out->timeout, &error)) {
            return refuse_next(&left);
        }
        if (error != NULL) {
            return error;
        }
    }
    return NULL;
}

const char *
args_parse_token(struct bytes word, uint64_t *out)
{
    return args_parse_number(word, 0, ARGS_COUNT_MAX, out)
               ? NULL
               : args_not_in_range("token", ARGS_COUNT_RANGE("0"), word);
}

const char *
args_parse_nack(const struct bytes *words, size_t count, struct args_time *out)
{
    struct args_words left = {words, count, false};
    const char *error = NULL;
    bool seen = false;

    *out = (struct args_time){.how = ARGS_DELAY};
    if (count > 0 && !take_ms(&left, "DELAY", 0, &seen, &out->ms, &error)) {
        return refuse_next(&left);
    }
    return error != NULL ? error : refuse_rest(&left);
}

const char *
args_parse_extend(const struct bytes *words, size_t count, uint64_t *out)
{
    struct args_words left = {words, count, false};
    const char *error = NULL;
    bool seen = false;

    if (count == 0) {
        return ARGS_SYNTAX ": missing LEASE";
    }
    if (!take_lease(&left, &seen, out, &error)) {
        return refuse_next(&left);
    }
    return error != NULL ? error : refuse_rest(&left);
}

const char *
args_parse_scan(const struct bytes *words, size_t count, struct args_scan *out)
{
    struct args_words left = {words, count, false};
    const char *error = NULL;
    bool counted = false;
    bool stated = false;

    *out = (struct args_scan){.count = 10};
    if (count == 0) {
        return ARGS_SYNTAX ": missing cursor";
    }
    left.at++;
    left.count--;
    if (!args_parse_number(words[0], 0, UINT64_MAX, &out->cursor)) {
        return "ERR invalid cursor";
    }
    struct bytes state;
    while (left.count > 0) {
        if (take_value(&left, "STATE", &stated, &state)) {
            error = args_parse_state(&state, 1, &out->state);
        } else if (!take_count(&left, &counted, &out->count, &error) &&
                   !take_value(&left, "MATCH", &out->match, &out->pattern)) {
            return refuse_next(&left);
        }
        if (error != NULL) {
            return error;
        }
    }
    return NULL;
}

const char *
args_parse_count(const struct bytes *words, size_t count, uint64_t *out)
{
    struct args_words left = {words, count, false};
    const char *error = NULL;
    bool seen = false;

    if (count == 0) {
        return NULL;
    }
    if (!take_count(&left, &seen, out, &error)) {
        return refuse_next(&left);
    }
    return error != NULL ? error : refuse_rest(&left);
}

const char *
args_parse_with_meta(const struct bytes *words, size_t count, bool *out)
{
    struct args_words left = {words, count, false};

    *out = false;
    (void)take_word(&left, "META", out);
    return refuse_rest(&left);
}

const char *
args_parse_state(const struct bytes *words, size_t count, enum args_state *out)
{
    static const struct {
        const char *name;
        enum args_state state;
    } states[] = {{"WAITING", ARGS_WAITING},
                  {"DUE", ARGS_DUE},
                  {"LEASED", ARGS_LEASED},
                  {"DEAD", ARGS_DEAD}};

    struct args_words left = {words, count, false};
    bool stated = false;

    *out = ARGS_ANY;
    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
        if (take_word(&left, states[i].name, &stated)) {
            *out = states[i].state;
        }
    }
    return refuse_rest(&left);
}

const char *const args_set_names[ARGS_SETS] = {
    "maxlen", "maxbytes", "overflow", "resolution-ms",
    "tries",  "lease",    "paused"};
const char *const args_overflow_names[] = {
    [QUEUE_REJECT] = "reject", [QUEUE_DROP_OLDEST] = "drop-oldest"};
const char *const args_sink_names[QUEUE_SINKS] = {
    [QUEUE_SINK_NONE] = "none",
    [QUEUE_SINK_STREAM] = "stream",
    [QUEUE_SINK_LIST] = "list",
    [QUEUE_SINK_PUBLISH] = "publish",
    [QUEUE_SINK_SPUBLISH] = "spublish"};

bool
args_parse_sink(struct bytes word, enum queue_sink_kind *out)
{
    unsigned kind = 0;

    while (kind < QUEUE_SINKS && !args_is(word, args_sink_names[kind])) {
        kind++;
    }
    *out = (enum queue_sink_kind)kind;
    return kind < QUEUE_SINKS;
}

enum args_set
args_set_find(struct bytes name)
{
    int set = 0;

    while (set < ARGS_SETS && !args_is(name, args_set_names[set])) {
        set++;
    }
    return (enum args_set)set;
}

uint64_t
args_set_value(const struct queue_settings *settings, enum args_set set)
{
    switch (set) {
    case ARGS_SET_MAXLEN:
        return settings->max_events;
    case ARGS_SET_MAXBYTES:
        return settings->max_bytes;
    case ARGS_SET_OVERFLOW:
        return settings->overflow;
    case ARGS_SET_RESOLUTION:
        return settings->resolution > 0 ? settings->resolution : 1;
    case ARGS_SET_TRIES:
        return settings->tries;
    case ARGS_SET_LEASE:
        return settings->lease;
    default:
        return settings->paused;
    }
}

static bool
parse_overflow(struct bytes value, struct queue_settings *settings)
{
    bool drop = args_is(value, "DROP-OLDEST");

    if (!drop && !args_is(value, "REJECT")) {
        return false;
    }
    settings->overflow = drop ? QUEUE_DROP_OLDEST : QUEUE_REJECT;
    return true;
}

enum args_setting
args_parse_setting(struct bytes name, struct bytes value, bool all,
                   struct queue_settings *settings)
{
    enum args_set set = args_set_find(name);

    if (set == ARGS_SETS || (set == ARGS_SET_PAUSED && !all)) {
        return ARGS_UNKNOWN;
    }
    uint64_t number = 0;
    bool good = false;
    switch (set) {
    case ARGS_SET_MAXLEN:
        good =
            args_parse_number(value, 0, ARGS_COUNT_MAX, &settings->max_events);
        break;
    case ARGS_SET_MAXBYTES:
        good =
            args_parse_number(value, 0, ARGS_COUNT_MAX, &settings->max_bytes);
        break;
    case ARGS_SET_OVERFLOW:
        good = parse_overflow(value, settings);
        break;
    case ARGS_SET_RESOLUTION:
        good = args_parse_number(value, 0, ARGS_RESOLUTION_MAX, &number);
        /* 1 and 0 mean the same; store the default as 0. */
        if (good) {
            settings->resolution = number > 1 ? number : 0;
        }
        break;
    case ARGS_SET_TRIES:
        good = args_parse_number(value, 0, ARGS_TRIES_MAX, &settings->tries);
        break;
    case ARGS_SET_LEASE:
        good = args_parse_number(value, 0, QUEUE_TIME_MAX, &settings->lease);
        break;
    default:
        good = args_parse_number(value, 0, 1, &number);
        if (good) {
            settings->paused = number == 1;
        }
    }
    return good ? ARGS_SET : ARGS_BAD;
}

void
args_settings_write(const struct queue_settings *settings,
                    const struct queue_settings *before,
                    struct args_settings *out)
{
    out->count = 0;
    for (int i = 0; i < ARGS_SETS; i++) {
        enum args_set set = (enum args_set)i;
        uint64_t value = args_set_value(settings, set);
        if (value == args_set_value(before, set)) {
            continue;
        }
        (void)snprintf(out->text[i], sizeof(out->text[i]), "%llu",
                       (unsigned long long)value);
        out->words[out->count++] = bytes_of(args_set_names[i]);
        out->words[out->count++] =
            bytes_of(set == ARGS_SET_OVERFLOW ? args_overflow_names[value]
                                              : out->text[i]);
    }
}

static struct bytes
next_meta_word(struct bytes *meta)
{
    struct bytes word = {meta->at, 0};

    while (word.size < meta->size && word.at[word.size] != ' ') {
        word.size++;
    }
    meta->at += word.size;
    meta->size -= word.size;
    return word;
}

/* Parses a letter and its number. A letter may occur once. */
static bool
parse_meta_number(struct bytes word, uint64_t min, uint64_t max, bool *seen,
                  uint64_t *out)
{
    bool again = *seen;
    struct bytes digits = {word.at + 1, word.size - 1};

    *seen = true;
    return !again && args_parse_number(digits, min, max, out);
}

/* The same for a number of at most 2^32 - 1. */
static bool
parse_meta_tries(struct bytes word, bool *seen, uint32_t *out)
{
    uint64_t number = 0;

    if (!parse_meta_number(word, 1, ARGS_TRIES_MAX, seen, &number)) {
        return false;
    }
    *out = (uint32_t)number;
    return true;
}

static bool
parse_meta_flag(struct bytes word, bool *out)
{
    bool again = *out;

    *out = true;
    return !again && word.size == 1;
}

static bool
parse_meta_letter(struct bytes word, bool seen[5], struct args_meta *out)
{
    if (word.size == 0) {
        return false;
    }
    switch (word.at[0]) {
    case 'a':
        return parse_meta_flag(word, &out->alone);
    case 'g':
        return parse_meta_flag(word, &out->made);
    case 'e':
        return parse_meta_number(word, 1, QUEUE_TIME_MAX, &seen[0],
                                 &out->repeat.period);
    case 't':
        return parse_meta_number(word, 1, QUEUE_TIME_MAX, &seen[1],
                                 &out->repeat.times);
    case 'm':
        return parse_meta_number(word, 1, ARGS_COUNT_MAX, &seen[2],
                                 &out->repeat.missed);
    case 'n':
        return parse_meta_tries(word, &seen[3], &out->tries.made);
    case 'k':
        return parse_meta_tries(word, &seen[4], &out->tries.most);
    default:
        return false;
    }
}

bool
args_meta_read(struct bytes meta, struct args_meta *out)
{
    bool seen[5] = {false};

    *out = (struct args_meta){0};
    if (meta.size == 0) {
        return true;
    }
    for (;;) {
        if (!parse_meta_letter(next_meta_word(&meta), seen, out)) {
            return false;
        }
        if (meta.size == 0) {
            break;
        }
        meta.at++;
        meta.size--;
    }
    /* `times` and `missed` require a period. */
    return out->repeat.period > 0 ||
           (out->repeat.times == 0 && out->repeat.missed == 0);
}

/* Appends a letter, with a space before it unless it is the first, and the
 * number unless it is 0. Returns the new size. */
static size_t
append_letter(char meta[ARGS_META_SIZE], size_t size, char letter,
              uint64_t number)
{
    char digits[20] = {0};
    size_t count = 0;

    if (size > 0) {
        meta[size++] = ' ';
    }
    meta[size++] = letter;
    for (; number > 0; number /= 10) {
        digits[count++] = (char)('0' + number % 10);
    }
    while (count > 0) {
        meta[size++] = digits[--count];
    }
    return size;
}

size_t
args_meta_write(const struct args_meta *event, char meta[ARGS_META_SIZE])
{
    const struct queue_repeat *repeat = &event->repeat;
    bool again = repeat->period > 0;
    const struct {
        char letter;
        uint64_t number;
    } numbers[] = {{'e', repeat->period},
                   {'t', again ? repeat->times : 0},
                   {'m', again ? repeat->missed : 0},
                   {'n', event->tries.made},
                   {'k', event->tries.most}};
    size_t size = 0;

    if (event->alone) {
        size = append_letter(meta, size, 'a', 0);
    }
    if (event->made) {
        size = append_letter(meta, size, 'g', 0);
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        if (numbers[i].number > 0) {
            size =
                append_letter(meta, size, numbers[i].letter, numbers[i].number);
        }
    }
    meta[size] = '\0';
    return size;
}
