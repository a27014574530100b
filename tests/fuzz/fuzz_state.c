/* fuzz_state.c - the fuzzer's bytes as the state of a filter of lawn(1).
 *
 * The first byte selects the filter. If the second is 'r', the rest is the
 * state file. Otherwise the fuzzer fills the stores of a state, which are saved
 * as such, so that it gets past the checksums; lines follow.
 *
 * From an accepted state the filter continues with the lines, and then until
 * nothing is pending. After every step the counts add up, and all lines that
 * they count as held exist. In between the state is saved again: that state is
 * accepted, holds the same and leads to the same result.
 */
#include "clock.h"
#include "filter_options.h"
#include "fuzz_tape.h"
#include "intake.h"
#include "log.h"
#include "state.h"
#include "stores.h"
#include "verbs.h"

#include "../../cli/tool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FUZZ_ARGS 16
#define FUZZ_SECOND UINT64_C(1000000000)

static const char *const fuzz_filters[][FUZZ_ARGS] = {
    {"delay", "5s", "/dev/null"},
    {"delay", "--ttl-field", "2", "--max-lines", "3", "/dev/null"},
    {"delay", "2s", "--time-field", "2", "--lateness", "3s", "/dev/null"},
    {"debounce", "5s", "-k", "1", "/dev/null"},
    {"debounce", "5s", "-k", "1", "--max-wait", "7s", "/dev/null"},
    {"debounce", "5s", "-k", "1", "--emit", "first", "/dev/null"},
    {"debounce", "5s", "-k", "1", "--emit", "all", "/dev/null"},
    {"debounce", "5s", "-k", "1", "--emit", "all", "--time-field", "2",
     "--max-lines", "3", "/dev/null"},
    {"debounce", "5s", "-k", "1", "--emit", "count", "--json", "/dev/null"},
    {"throttle", "3/5s", "-k", "1", "--burst", "2", "/dev/null"},
    {"throttle", "7/2s", "-k", "1", "--queue", "2", "--time-field", "2",
     "/dev/null"},
    {"dedupe", "5s", "-k", "1", "--max-keys", "2", "/dev/null"},
    {"absent", "5s", "-k", "1", "--time-field", "2", "/dev/null"},
    {"absent", "5s", "-k", "1", "--repeat", "--max-keys", "3", "/dev/null"},
    {"session", "5s", "-k", "1", "--time-field", "2", "/dev/null"},
    {"session", "5s", "-k", "1", "--max-events", "3", "--max-duration", "7s",
     "--max-keys", "2", "/dev/null"},
    {"join", "5s", "-k", "1", "/dev/null", "/dev/null"},
    {"join", "5s", "-k", "1", "--time-field", "2", "--lateness", "2s",
     "--max-keys", "2", "/dev/null", "/dev/null"},
    {"join", "5s", "-k", "1", "--max-lines", "2", "--json", "/dev/null",
     "/dev/null"},
};
#define FUZZ_FILTERS (sizeof(fuzz_filters) / sizeof(fuzz_filters[0]))

static const struct options_verb *const fuzz_verbs[] = {
    &delay_verb,  &debounce_verb, &throttle_verb, &dedupe_verb,
    &absent_verb, &session_verb,  &join_verb,
};

/* REPLACES filter.c AND log.c, AND STORES OF THE USUAL SIZE */

/* Linked with --wrap: a small store is made in a tenth of the time, and always
 * in the same way. */
struct lawn_store *
__real_lawn_store_new(const struct lawn_store_options *options);
struct lawn_store *
__wrap_lawn_store_new(const struct lawn_store_options *options);

struct lawn_store *
__wrap_lawn_store_new(const struct lawn_store_options *options)
{
    struct lawn_store_options small = {
        .lawn = {.blades = 8,
                 .slot_bits = 4,
                 .now = options != NULL ? options->lawn.now : 0},
        .seed = {1, 2}};
    return __real_lawn_store_new(&small);
}

/* No command is run. */
int
filter_main(const struct options_verb *verb, int argc, char **argv)
{
    (void)verb;
    (void)argc;
    (void)argv;
    return 0;
}

void
filter_end(struct filter *filter, int code)
{
    filter->run.code = code;
    filter->run.done = true;
}

void
log_message(const struct filter *filter, const char *format, ...)
{
    (void)filter;
    (void)format;
}

void
log_usage_error(const struct filter *filter, const char *format, ...)
{
    (void)filter;
    (void)format;
}

void
log_bad_line(struct filter *filter, unsigned side, const char *wrong)
{
    (void)side;
    fuzz_check(wrong != NULL);
    filter->counts.bad++;
}

static bool
fuzz_stopped(void)
{
    return false;
}

/* A FILTER */

/* Makes a new filter whose output is discarded. */
static struct filter *
fuzz_open(size_t which)
{
    static int nowhere = -1;
    static char words[FUZZ_ARGS][16]; /* static, as the words of main() */
    static char *argv[FUZZ_ARGS];
    int argc = 0;
    int code = 0;
    struct filter *filter = calloc(1, sizeof(*filter));
    fuzz_check(filter != NULL);
    if (nowhere < 0) {
        nowhere = open("/dev/null", O_WRONLY);
    }
    for (const char *word = NULL; (word = fuzz_filters[which][argc]) != NULL;
         argc++) {
        argv[argc] = memcpy(words[argc], word, strlen(word) + 1);
    }
    const struct options_verb *const *verb = fuzz_verbs;
    while (strcmp((*verb)->name, argv[0]) != 0) {
        verb++;
    }
    filter->name = (*verb)->name;
    filter->verb = (*verb)->own;
    filter->state.lock = -1;
    filter->io.input_count = 1;
    filter_options_init(&filter->options);
    fuzz_check(options_read(*verb, argc, argv, &filter->options, &code));
    fuzz_check(filter_options_apply(filter) && stores_open(filter) &&
               sink_open(&filter->io.sink, nowhere, fuzz_stopped));
    fuzz_check(filter->verb->open(filter) == 0);
    for (size_t i = 0; i < filter->io.input_count; i++) {
        fuzz_check(input_open(&filter->io.inputs[i],
                              filter->options.operands.words + i, 1,
                              false) == 0);
    }
    return filter;
}

static void
fuzz_close(struct filter *filter)
{
    for (size_t i = 0; i < 2; i++) {
        input_close(&filter->io.inputs[i]);
        fields_free(&filter->io.fields[i]);
    }
    sink_close(&filter->io.sink);
    stores_close(filter);
    free(filter);
}

/* Checks that the counts match the stores. */
static void
fuzz_check_counts(const struct filter *filter)
{
    const struct filter_counts *c = &filter->counts;
    fuzz_check(c->held ==
               filter->setup.key_holds * lawn_store_count(filter->stores.keys) +
                   filter->setup.line_holds *
                       lawn_store_count(filter->stores.lines) +
                   lawn_store_count(filter->stores.early));
    fuzz_check(c->in == filter->io.sink.out + filter->io.sink.carried +
                            c->held + c->merged + c->refused + c->bad +
                            c->discarded);
}

/* A STATE */

/* The remaining bytes of the input; zeros after its end. */
struct fuzz_words {
    const uint8_t *at;
    size_t left;
};

static unsigned
fuzz_byte(struct fuzz_words *words)
{
    if (words->left == 0) {
        return 0;
    }
    words->left--;
    return *words->at++;
}

/* Small numbers, seconds, and the ends of the range. */
static uint64_t
fuzz_number(struct fuzz_words *words)
{
    unsigned byte = fuzz_byte(words);
    if (byte < 128) {
        return byte * FUZZ_SECOND;
    }
    if (byte < 192) {
        return byte - 128;
    }
    return byte < 224 ? UINT64_MAX - (byte - 192)
                      : UINT64_C(1) << 2 * (byte - 224);
}

/* A line, with a newline. */
static size_t
fuzz_line(struct fuzz_words *words, char line[64])
{
    static const char *const keys[] = {"a", "b", "c", "\"\""};
    unsigned what = fuzz_byte(words);
    const char *key = keys[what % 4];
    unsigned time = fuzz_byte(words);
    if (time == 255) { /* an invalid line */
        return (size_t)snprintf(line, 64, "%s\n", key);
    }
    if (what >= 192) {
        return (size_t)snprintf(line, 64, "[\"%s\", %u]\n", key, time);
    }
    return (size_t)snprintf(line, 64, "%s %u\n", key, time);
}

/* The id of a timer: a number, a key, or both. */
static size_t
fuzz_make_id(struct fuzz_words *words, unsigned how, char *id)
{
    static const char *const keys[] = {"", "a", "b", "12345678"};
    size_t size = 0;
    if (how > 0) {
        const char *key = keys[fuzz_byte(words) % 4];
        size = strlen(key);
        memcpy(id, key, size);
    }
    if (how == 3) {
        size = FILTER_KEY_MAX - 4 + fuzz_byte(words) % 16;
        memset(id, 'k', size);
    }
    if (how != 1) {
        uint64_t number = fuzz_byte(words);
        memcpy(id + size, &number, sizeof(number));
        size += sizeof(number);
    }
    return size;
}

/* Starts any timer: of keys, of lines, or of early lines. */
static void
fuzz_put_timer(struct fuzz_words *words, struct lawn_store *const stores[3])
{
    static char id[FILTER_KEY_MAX + 64];
    char payload[7 * sizeof(uint64_t) + 64];
    unsigned what = fuzz_byte(words);
    unsigned store = what % 4 % 3;
    size_t id_size = fuzz_make_id(words, what / 4 % 4, id);
    uint64_t deadline = fuzz_number(words);
    size_t size = 0;
    if (store == 2) {
        payload[size++] = (char)(what / 128);
    }
    for (unsigned i = 0; i < what / 16 % 8; i++) {
        uint64_t number = fuzz_number(words);
        memcpy(payload + size, &number, sizeof(number));
        size += sizeof(number);
    }
    if (what >= 128) {
        size += fuzz_line(words, payload + size) - 1;
    }
    for (char *at = NULL; (at = memchr(payload, '\n', size)) != NULL;) {
        *at = ' '; /* a line has no newline */
    }
    fuzz_check(lawn_store_start(stores[store], id, id_size, deadline, payload,
                                size, LAWN_STORE_AT) == 0);
}

/* Starts a timer with a payload: count numbers, and a line if there is one. */
static void
fuzz_put(struct lawn_store *store, const char *key, uint64_t number,
         uint64_t deadline, const uint64_t *numbers, size_t count,
         const char *line, size_t line_size)
{
    char id[32];
    char payload[4 * sizeof(*numbers) + 64];
    size_t id_size = key != NULL ? strlen(key) : 0;
    size_t size = count * sizeof(*numbers);
    if (key != NULL) {
        memcpy(id, key, id_size);
    }
    if (number != UINT64_MAX) {
        memcpy(id + id_size, &number, sizeof(number));
        id_size += sizeof(number);
    }
    if (count > 0) {
        memcpy(payload, numbers, size);
    }
    if (line_size > 0) {
        memcpy(payload + size, line, line_size);
    }
    size += line_size;
    fuzz_check(lawn_store_start(store, id, id_size, deadline, payload, size,
                                LAWN_STORE_AT) == 0);
}

/* Starts a timer as the filter may have left it, and the timers that belong to
 * it. */
static void
fuzz_put_likely(struct fuzz_words *words, struct lawn_store *const stores[3],
                const char *const *filter)
{
    static const char *const keys[] = {"", "a", "b", "12345678"};
    const char *key = keys[fuzz_byte(words) % 4];
    uint64_t deadline = fuzz_byte(words) * (FUZZ_SECOND / 2);
    unsigned what = fuzz_byte(words);
    uint64_t numbers[] = {what % 4 * FUZZ_SECOND, (3 + what % 8) * FUZZ_SECOND,
                          1 + what / 64, what};
    char line[1 + 64];
    size_t size = fuzz_line(words, line + 1);
    bool all = false;
    bool records = false;
    for (size_t i = 1; filter[i] != NULL; i++) {
        all = all || strcmp(filter[i], "all") == 0;
        records = records || strcmp(filter[i], "--emit") == 0 ||
                  strcmp(filter[i], "--max-wait") == 0;
    }
    if (what % 16 == 15) {
        line[0] = strcmp(filter[0], "join") == 0 && what >= 128 ? '\1' : '\0';
        fuzz_put(stores[2], NULL, what, deadline, NULL, 0, line, size);
    } else if (strcmp(filter[0], "delay") == 0) {
        fuzz_put(stores[1], NULL, what, deadline, NULL, 0, line + 1, size - 1);
    } else if (strcmp(filter[0], "throttle") == 0) {
        numbers[1] = what % 3;
        fuzz_put(stores[0], key, UINT64_MAX, deadline, numbers, 2, NULL, 0);
        fuzz_put(stores[1], NULL, what, deadline, NULL, 0, line + 1, size - 1);
    } else if (strcmp(filter[0], "debounce") == 0) {
        fuzz_put(stores[0], key, UINT64_MAX, deadline, numbers, records ? 4 : 0,
                 line + 1, all ? 0 : size - 1);
        for (uint64_t i = 1; all && i <= numbers[2]; i++) {
            fuzz_put(stores[1], key, i, UINT64_MAX, NULL, 0, line + 1,
                     size - 1);
        }
    } else if (strcmp(filter[0], "dedupe") == 0) {
        fuzz_put(stores[0], key, UINT64_MAX, deadline, NULL, 0, NULL, 0);
    } else if (strcmp(filter[0], "absent") == 0) {
        numbers[1] = what / 4 % 2;
        fuzz_put(stores[what / 8 % 2], key, UINT64_MAX, deadline, numbers, 2,
                 NULL, 0);
    } else if (strcmp(filter[0], "session") == 0) {
        fuzz_put(stores[0], key, UINT64_MAX, deadline + 11 * FUZZ_SECOND,
                 numbers, 4, NULL, 0);
    } else {
        const uint64_t join[] = {what % 2, what / 8, what / 8 + numbers[2],
                                 deadline};
        fuzz_put(stores[0], key, UINT64_MAX, UINT64_MAX, join, 4, NULL, 0);
        for (uint64_t i = join[1]; i < join[2]; i++) {
            fuzz_put(stores[1], key, i, deadline, NULL, 0, line + 1, size - 1);
        }
    }
}

/* Changes the content of one of the named values. */
static void
fuzz_put_value(struct fuzz_words *words, struct lawn_store *values)
{
    static const char *const names[] = {"numbers",    "unwritten", "rest left",
                                        "rest right", "of",        "kinds"};
    static const char kinds[] = {SINK_INPUT, SINK_MADE, SINK_MARKED, SINK_PAIR};
    char value[512];
    char written[16];
    size_t size = 0;
    unsigned what = fuzz_byte(words);
    const char *name = names[what % 8 % 6];
    unsigned many = what / 8 % 8;
    if (strcmp(name, "numbers") == 0) {
        for (; size < 6 * sizeof(uint64_t); size += sizeof(uint64_t)) {
            uint64_t number = fuzz_number(words);
            memcpy(value + size, &number, sizeof(number));
        }
        many = 0;
    }
    for (unsigned i = 0; i < many; i++) {
        size += fuzz_line(words, value + size);
    }
    for (unsigned i = 0; i < many; i++) {
        written[i] = kinds[fuzz_byte(words) % 4];
    }
    if (what >= 64 && strcmp(name, "rest left") == 0 && size > 0) {
        size--; /* without its end */
    }
    fuzz_check(lawn_store_start(values, name, strlen(name), UINT64_MAX, value,
                                size, 0) == 0);
    if (strcmp(name, "unwritten") == 0) {
        fuzz_check(lawn_store_start(values, "kinds", 5, UINT64_MAX, written,
                                    many, 0) == 0);
    }
}

/* The first store that a filter would save after some lines: names and
 * values. */
static struct lawn_store *
fuzz_new_values(size_t which)
{
    static struct fuzz_tape fresh[FUZZ_FILTERS];
    struct fuzz_tape *tape = &fresh[which];
    struct lawn_store *values = lawn_store_new(NULL);
    if (tape->size == 0) {
        struct filter *filter = fuzz_open(which);
        filter->clock.now = filter->clock.newest = 20 * FUZZ_SECOND;
        filter->clock.has_time = true;
        filter->stores.serial = 256;
        fuzz_check(state_write(filter, fuzz_tape_write, tape) == 0);
        fuzz_close(filter);
    }
    tape->at = 0;
    fuzz_check(values != NULL &&
               lawn_store_load(values, fuzz_tape_read, tape) == 0);
    return values;
}

/* Builds a state that the fuzzer has filled. */
static void
fuzz_make(struct fuzz_tape *tape, size_t which, struct fuzz_words *words)
{
    struct lawn_store *stores[4];
    unsigned likely = fuzz_byte(words) % 8;
    unsigned others = fuzz_byte(words);
    unsigned timers = others % 4;
    unsigned values = others / 4 % 4;
    stores[0] = fuzz_new_values(which);
    for (size_t i = 1; i < 4; i++) {
        stores[i] = lawn_store_new(NULL);
        fuzz_check(stores[i] != NULL);
    }
    for (unsigned i = 0; i < values; i++) {
        fuzz_put_value(words, stores[0]);
    }
    for (unsigned i = 0; i < likely; i++) {
        fuzz_put_likely(words, stores + 1, fuzz_filters[which]);
    }
    for (unsigned i = 0; i < timers; i++) {
        fuzz_put_timer(words, stores + 1);
    }
    for (size_t i = 0; i < 4; i++) {
        fuzz_check(lawn_store_save(stores[i], fuzz_tape_write, tape) == 0);
        lawn_store_free(stores[i]);
    }
}

/* CONTINUING */

/* Processes the buffered lines, as filter.c does at the start. */
static void
fuzz_take_rest(struct filter *filter)
{
    struct input_line line;
    for (unsigned side = 0; side < filter->io.input_count; side++) {
        while (!filter->run.done &&
               input_next(&filter->io.inputs[side], &line) == INPUT_LINE) {
            if (intake_line(filter, side, &line)) {
                fuzz_check_counts(filter);
            }
        }
    }
}

static void
fuzz_intake_lines(struct filter *filter, struct fuzz_words *words)
{
    while (words->left > 0 && !filter->run.done) {
        char bytes[64];
        unsigned what = fuzz_byte(words);
        size_t size = fuzz_line(words, bytes) - 1;
        struct input_line line = {bytes, size};
        unsigned side = what % 2 < filter->io.input_count ? what % 2 : 0;
        if (!clock_is_event_time(filter)) {
            clock_advance(filter,
                          filter->clock.now + what / 2 * (FUZZ_SECOND / 4));
        }
        if (!filter->run.done) {
            intake_line(filter, side, &line);
        }
        fuzz_check_counts(filter);
    }
}

/* Checks that both stores hold the same. */
static void
fuzz_same(struct lawn_store *a, struct lawn_store *b)
{
    struct lawn_store_timer x;
    struct lawn_store_timer y;
    uint64_t cursor = 0;
    fuzz_check(lawn_store_count(a) == lawn_store_count(b));
    while (lawn_store_iterate(a, &cursor, &x)) {
        fuzz_check(lawn_store_get(b, x.id, x.id_size, &y) &&
                   x.deadline == y.deadline &&
                   x.payload_size == y.payload_size &&
                   memcmp(x.payload, y.payload, x.payload_size) == 0);
    }
}

/* Runs until nothing is pending that will ever be due. */
static void
fuzz_drain(struct filter *filter)
{
    filter->run.ended = true;
    if (clock_is_event_time(filter)) {
        clock_advance(filter, filter->clock.newest);
    }
    fuzz_check_counts(filter);
    clock_drain(filter);
    fuzz_check(filter->run.done ||
               lawn_store_next(filter->setup.pending) > CLOCK_LAST);
    fuzz_check(sink_flush(&filter->io.sink));
    fuzz_check(filter->io.sink.carried == 0);
    fuzz_check_counts(filter);
}

/* An accepted state can be saved, is accepted again, and leads to the same
 * result. */
static void
fuzz_again(struct filter *filter, size_t which, struct fuzz_tape *tape)
{
    struct filter *other = fuzz_open(which);
    uint64_t out = filter->io.sink.out;
    uint64_t made = filter->io.sink.made;
    tape->size = tape->at = 0;
    fuzz_check(state_write(filter, fuzz_tape_write, tape) == 0);
    fuzz_check(state_read(other, fuzz_tape_read, tape) == 0);
    fuzz_check_counts(other);
    fuzz_check(other->counts.held == filter->counts.held);
    fuzz_check(other->io.sink.carried == filter->io.sink.carried);
    fuzz_check(other->counts.in == other->counts.resumed);
    fuzz_check(other->counts.in == other->counts.held + other->io.sink.carried);
    fuzz_check(other->clock.now == filter->clock.now &&
               other->clock.newest == filter->clock.newest);
    fuzz_check(other->stores.serial == filter->stores.serial);
    fuzz_same(filter->stores.keys, other->stores.keys);
    fuzz_same(filter->stores.lines, other->stores.lines);
    fuzz_same(filter->stores.early, other->stores.early);
    fuzz_drain(filter);
    fuzz_drain(other);
    fuzz_check(filter->run.done ||
               filter->io.sink.out - out == other->io.sink.out);
    fuzz_check(filter->run.done ||
               filter->io.sink.made - made == other->io.sink.made);
    fuzz_close(other);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct fuzz_tape tape = {0};
    if (size < 2) {
        return 0;
    }
    size_t which = bytes[0] % FUZZ_FILTERS;
    struct fuzz_words words = {bytes + 2, size - 2};
    if (bytes[1] == 'r') {
        fuzz_tape_write(words.at, words.left, &tape);
        words.left = 0;
    } else {
        fuzz_make(&tape, which, &words);
    }
    struct filter *filter = fuzz_open(which);
    if (state_read(filter, fuzz_tape_read, &tape) == 0) {
        fuzz_check_counts(filter);
        fuzz_take_rest(filter);
        fuzz_intake_lines(filter, &words);
        if (!filter->run.done) {
            fuzz_again(filter, which, &tape);
        }
    }
    fuzz_close(filter);
    free(tape.bytes);
    return 0;
}
