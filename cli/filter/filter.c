/* filter.c - runs a filter: waits for lines and deadlines until it ends.
 *
 * A round reads one block from each input that has data, reads the clock, fires
 * due timers, processes the lines of the block, and writes the output. Without
 * --time-field, the time of a line is the clock of its round, so it is not
 * before the line was read. Timers due after that time fire in a later round.
 * Files are read as fast as lines are processed. If no input has data, a round
 * waits for an input, a deadline or a signal.
 */
#include "filter.h"
#include "clock.h"
#include "intake.h"
#include "log.h"
#include "parse.h"
#include "signals.h"
#include "state.h"
#include "stores.h"
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* clock difference that is reported */
#define FILTER_SKEW (60 * LAWN_LOOP_SECOND)

void
filter_end(struct filter *filter, int code)
{
    if (!filter->run.done) {
        filter->run.code = code;
    }
    filter->run.done = true;
}

/* Returns the time of day at the start plus the time since then. */
static uint64_t
wall_clock(struct filter *filter)
{
    return lawn_loop_update(filter->events.loop) + filter->clock.offset;
}

/* Sets the offset from the loop's clock to the time of day, or to the time of
 * the state if that is later. */
static void
set_clock_offset(struct filter *filter)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    if (!clock_is_event_time(filter) && filter->clock.now > ns + FILTER_SKEW) {
        log_message(filter,
                    "the time of the state %s is %s, after the current time; "
                    "was the clock set back? the filter's clock starts at the "
                    "time of the state",
                    filter->options.state,
                    times_format_ms(filter->clock.now).s);
    }
    if (ns < filter->clock.now) {
        ns = filter->clock.now;
    }
    filter->clock.offset = ns - lawn_loop_update(filter->events.loop);
}

static void
on_wake(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    (void)timer; /* due timers fire in the next round */
    (void)loop;
}

static void
on_save(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct filter *filter = timer->arg;
    (void)loop;
    if (sink_flush(&filter->io.sink)) {
        state_autosave(filter);
    }
}

static void
on_stats(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    (void)loop;
    log_stats(timer->arg);
}

static void
on_readable(struct lawn_loop_watcher *watch, unsigned ready,
            struct lawn_loop *loop)
{
    struct input_head *head = watch->arg;
    (void)ready;
    (void)loop;
    head->ready = true;
}

static void
on_signal(struct lawn_loop_watcher *watch, unsigned ready,
          struct lawn_loop *loop)
{
    (void)ready;
    lawn_loop_unwatch(loop, watch);
}

/* Returns whether two inputs are merged by event time. */
static bool
merges_by_time(const struct filter *filter)
{
    return filter->io.input_count == 2 && clock_is_event_time(filter);
}

/* Finds the next line of an input. Returns false if more must be read first. */
static bool
peek_line(struct filter *filter, unsigned side)
{
    struct input_head *head = &filter->io.heads[side];
    if (head->present || head->ended) {
        return true;
    }
    enum input_result result =
        input_next(&filter->io.inputs[side], &head->line);
    head->present = result == INPUT_LINE;
    head->ended = result == INPUT_END;
    if (head->present && merges_by_time(filter)) {
        head->time = parse_time(filter, side, &head->line);
    }
    return result != INPUT_MORE;
}

/* Returns the input whose line is next. */
static unsigned
next_side(const struct filter *filter)
{
    const struct input_head *heads = filter->io.heads;
    if (!heads[0].present) {
        return 1;
    }
    return heads[1].present && heads[1].time < heads[0].time ? 1 : 0;
}

/* Processes all lines that were read. */
static void
process_lines(struct filter *filter)
{
    bool merges = merges_by_time(filter);
    while (!filter->run.done && !signals_received()) {
        bool left = peek_line(filter, 0);
        bool right = filter->io.input_count < 2 || peek_line(filter, 1);
        if (merges && (!left || !right)) {
            return;
        }
        unsigned side = next_side(filter);
        struct input_head *head = &filter->io.heads[side];
        if (!head->present) {
            return;
        }
        if (!intake_line(filter, side, &head->line)) {
            return;
        }
        head->present = false;
    }
}

static void
log_read_error(struct filter *filter, const struct input *input, int error)
{
    static const struct options_spec any = {.max = OPTION_DURATION_MAX};
    uint64_t ns = 0;
    bool is_duration = filter->options.ttl_field != NULL &&
                       input->name != NULL && error == -ENOENT &&
                       options_seconds(&any, input->name, &ns);
    log_message(filter, "cannot read %s: %s%s",
                input->name != NULL ? input->name : "standard input",
                strerror(-error),
                is_duration ? "; with --ttl-field, omit DURATION" : "");
    filter_end(filter, VERBS_INPUT);
}

/* Reads the inputs that are needed and do not block. */
static void
read_inputs(struct filter *filter)
{
    for (unsigned side = 0; side < filter->io.input_count && !filter->run.done;
         side++) {
        struct input_head *head = &filter->io.heads[side];
        struct input *input = &filter->io.inputs[side];
        if (head->present || head->ended || (input->waits && !head->ready)) {
            continue;
        }
        if (input->waits && input->over) {
            lawn_loop_unwatch(filter->events.loop,
                              &filter->events.watches[side]);
        }
        head->ready = false;
        int error = input_fill(input);
        if (error != 0) {
            log_read_error(filter, input, error);
        }
    }
}

/* Watches the inputs that may block. Returns true if one can be read now. */
static bool
watch_inputs(struct filter *filter)
{
    bool busy = false;
    for (unsigned side = 0; side < filter->io.input_count; side++) {
        struct input_head *head = &filter->io.heads[side];
        struct input *input = &filter->io.inputs[side];
        bool wants = !head->present && !head->ended;
        if (wants && input->waits && !input->over) {
            int error = lawn_loop_watch(filter->events.loop,
                                        &filter->events.watches[side],
                                        input->fd, LAWN_LOOP_READ);
            if (error == -EPERM) { /* such as /dev/null: never blocks */
                input->waits = false;
            } else if (error != 0) {
                log_read_error(filter, input, error);
            }
        } else if (filter->events.watches[side].events != 0) {
            lawn_loop_unwatch(filter->events.loop,
                              &filter->events.watches[side]);
        }
        if (wants && input->over) {
            head->ready = true;
        }
        busy = busy || (wants && (!input->waits || head->ready));
    }
    return busy;
}

/* Discards held lines and open bursts and sessions: --on-eof drop. */
static void
discard_held(struct filter *filter)
{
    filter->counts.discarded += filter->counts.held;
    filter->counts.held = 0;
    lawn_store_clear(filter->stores.early);
    if (!filter->setup.flushes) {
        return;
    }
    lawn_store_clear(filter->stores.lines);
    if (filter->setup.pending == filter->stores.keys ||
        filter->verb->key_lines != NULL) {
        lawn_store_clear(filter->stores.keys);
    }
}

/* Explains on a terminal why the filter has not ended. */
static void
log_drain_wait(struct filter *filter)
{
    if (isatty(STDERR_FILENO) && lawn_store_count(filter->setup.pending) > 0 &&
        clock_next_deadline(filter) >
            clock_deadline(filter, LAWN_LOOP_SECOND)) {
        log_message(filter, "the input has ended; waiting for deadlines, see "
                            "--on-eof");
    }
}

/* The input has ended: applies --on-eof. */
static void
handle_eof(struct filter *filter)
{
    if (clock_is_event_time(filter) &&
        !clock_advance(filter, filter->clock.newest)) {
        return;
    }
    filter->run.ended = true;
    switch (filter->options.on_eof) {
    case FILTER_DRAIN:
        if (!clock_is_event_time(filter)) {
            log_drain_wait(filter);
            return;
        }
        clock_drain(filter);
        break;
    case FILTER_FLUSH:
        if (filter->setup.flushes) {
            clock_flush(filter);
        }
        break;
    case FILTER_DROP:
        discard_held(filter);
        break;
    default:
        break;
    }
    filter_end(filter, VERBS_OK);
}

/* Waits for an input, a deadline or a signal, unless an input is ready. */
static void
wait_for_work(struct filter *filter, bool busy)
{
    if (!busy && !sink_flush(&filter->io.sink)) {
        return;
    }
    uint64_t next = clock_next_deadline(filter);
    if (!busy && !clock_is_event_time(filter) && next != LAWN_NEVER) {
        lawn_loop_start_at(filter->events.loop, &filter->events.wake_timer,
                           next - filter->clock.offset);
    } else {
        lawn_loop_stop(filter->events.loop, &filter->events.wake_timer);
    }
    int error =
        lawn_loop_once(filter->events.loop, !busy && !signals_received());
    if (error < 0) {
        log_message(filter, "cannot wait: %s", strerror(-error));
        filter_end(filter, VERBS_FAILED);
    }
}

static void
run_round(struct filter *filter)
{
    wait_for_work(filter, watch_inputs(filter));
    if (!signals_received()) {
        read_inputs(filter);
    }
    if (!clock_is_event_time(filter)) {
        clock_advance(filter, wall_clock(filter));
    }
    if (signals_received()) {
        filter_end(filter, 128 + signals_number());
    }
    process_lines(filter);
    bool ended = filter->io.heads[0].ended &&
                 (filter->io.input_count < 2 || filter->io.heads[1].ended);
    if (ended && !filter->run.ended && !filter->run.done) {
        handle_eof(filter);
    }
    if (filter->run.ended && lawn_store_count(filter->setup.pending) == 0) {
        filter_end(filter, VERBS_OK);
    }
    if (!sink_flush(&filter->io.sink) && !filter->io.sink.stuck) {
        filter_end(filter, VERBS_OUTPUT);
    }
}

/* Returns the number of lines that were read and not processed. */
static uint64_t
count_unread_lines(const struct filter *filter)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < filter->io.input_count; i++) {
        const char *at = NULL;
        size_t whole = 0;
        size_t size = input_remaining(&filter->io.inputs[i], &at, &whole);
        for (size_t j = 0; j < size; j++) {
            lines += at[j] == '\n' || j + 1 == size;
        }
    }
    return lines;
}

/* Prints that something is lost, and why. */
static void
log_lost(const struct filter *filter, uint64_t count, const char *what,
         const char *end)
{
    if (count > 0) {
        log_message(filter, "%s: %" PRIu64 " %s%s %s",
                    signals_received() ? "interrupted" : "ended early", count,
                    what, count == 1 ? "" : "s", end);
    }
}

/* Counts and reports lost lines. No message is needed if the reader closed the
 * pipe, nor about lines that were read ahead with --exit-on-absent. */
static void
discard_all(struct filter *filter)
{
    uint64_t held = filter->counts.held + filter->io.sink.carried;
    uint64_t rest = count_unread_lines(filter);
    bool holds = filter->setup.key_holds + filter->setup.line_holds > 0;
    uint64_t open = filter->setup.flushes && !holds
                        ? lawn_store_count(filter->stores.keys)
                        : 0;
    filter->counts.in += rest;
    for (size_t i = 0; i < filter->io.input_count; i++) {
        filter->counts.resumed += input_count_resumed(&filter->io.inputs[i]);
    }
    filter->counts.held = 0;
    filter->io.sink.carried = 0;
    filter->counts.discarded += held + rest;
    if (filter->io.sink.error == EPIPE) {
        return;
    }
    const char *dropped =
        filter->options.state == NULL
            ? "dropped; a run with --state FILE would keep them"
            : "dropped";
    log_lost(filter, held, "held line", dropped);
    log_lost(filter, open,
             filter->setup.emit != NULL ? "open burst" : "open session",
             dropped);
    if (!filter->options.exit_on_absent) {
        log_lost(filter, rest, "line", "read but not processed");
    }
}

/* Prints up to which line files were read; the rest of a file is not in the
 * state. */
static void
log_unread_files(const struct filter *filter)
{
    for (size_t i = 0; i < filter->io.input_count; i++) {
        const struct input *input = &filter->io.inputs[i];
        const char *at = NULL;
        size_t whole = 0;
        input_remaining(input, &at, &whole);
        uint64_t lines = input->number;
        for (size_t j = 0; j < whole; j++) {
            lines += at[j] == '\n';
        }
        if (!input->waits && !(input->over && input->names_left == 0)) {
            log_message(filter, "ended early: %s was read up to line %" PRIu64,
                        input->name != NULL ? input->name : "standard input",
                        lines);
        }
    }
}

/* Writes the output, saves the state, and prints the summary. Returns the exit
 * code. */
static int
finish(struct filter *filter)
{
    struct sink *sink = &filter->io.sink;
    for (unsigned side = 0; side < filter->io.input_count; side++) {
        if (filter->io.heads[side].present) {
            input_push_back(&filter->io.inputs[side],
                            &filter->io.heads[side].line);
        }
        input_check_end(&filter->io.inputs[side]);
    }
    if (!sink_flush(sink) && sink->error != 0) {
        if (sink->error != EPIPE) {
            log_message(filter, "cannot write the output: %s",
                        strerror(sink->error));
        }
        filter->run.code = VERBS_OUTPUT;
    }
    free(filter->stores.reserve);
    filter->stores.reserve = NULL;
    if (filter->state.usable) {
        if (state_save(filter)) {
            log_unread_files(filter);
        } else {
            filter->run.code = VERBS_OUTPUT;
            discard_all(filter);
        }
    } else {
        discard_all(filter);
    }
    if (filter->run.code == VERBS_OK && filter->counts.bad > 0 &&
        filter->counts.bad == filter->counts.in) {
        filter->run.code = VERBS_INPUT;
    }
    log_summary(filter);
    if (filter->options.stats != UINT64_MAX) {
        log_stats(filter);
    }
    return filter->run.code;
}

/* Opens the loop with its timers and watches. */
static bool
open_loop(struct filter *filter)
{
    struct lawn_loop_options options = {.clock_id = LAWN_LOOP_BOOTTIME};
    filter->events.loop = lawn_loop_new(&options);
    if (filter->events.loop == NULL || !signals_open()) {
        return false;
    }
    filter->events.wake_timer.fire = on_wake;
    filter->events.save_timer.fire = on_save;
    filter->events.save_timer.arg = filter;
    filter->events.stats_timer.fire = on_stats;
    filter->events.stats_timer.arg = filter;
    filter->events.signal_watch.ready = on_signal;
    for (size_t i = 0; i < 2; i++) {
        filter->events.watches[i].ready = on_readable;
        filter->events.watches[i].arg = &filter->io.heads[i];
    }
    return lawn_loop_watch(filter->events.loop, &filter->events.signal_watch,
                           signals_fd(), LAWN_LOOP_READ) == 0;
}

static bool
open_inputs(struct filter *filter)
{
    struct options_operands *operands = &filter->options.operands;
    bool each = filter->io.input_count == 2;
    for (size_t i = 0; i < filter->io.input_count; i++) {
        struct input *input = &filter->io.inputs[i];
        int error = input_open(input, operands->words + (each ? i : 0),
                               each ? 1 : operands->count, false);
        if (error != 0) {
            log_read_error(filter, input, error);
            return false;
        }
    }
    return true;
}

/* Opens /dev/null for each closed standard stream, so that no file gets its
 * descriptor. The mode is wrong on purpose: using the stream fails. */
static bool
open_standard_streams(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd) {
            return false;
        }
    }
    return true;
}

/* Opens everything that can fail before the first line. Returns 0 or an exit
 * code. */
static int
open_filter(struct filter *filter)
{
    if (!filter_options_apply(filter)) {
        return VERBS_USAGE;
    }
    if (!open_standard_streams() || !stores_open(filter) ||
        !sink_open(&filter->io.sink, STDOUT_FILENO, signals_received) ||
        !open_loop(filter)) {
        log_message(filter, "cannot start: %s", strerror(errno));
        return VERBS_FAILED;
    }
    int code = filter->verb->open(filter);
    if (code != 0) {
        return code;
    }
    if (!open_inputs(filter)) {
        return VERBS_INPUT;
    }
    if (filter->options.state != NULL && !state_load(filter)) {
        return VERBS_INPUT;
    }
    return 0;
}

static void
start_filter(struct filter *filter)
{
    const struct filter_options *options = &filter->options;
    set_clock_offset(filter);
    if (!clock_is_event_time(filter)) {
        clock_advance(filter, wall_clock(filter));
        filter->run.begun = true;
        if (filter->verb->begin != NULL && !filter->verb->begin(filter)) {
            return;
        }
    }
    if (options->state_every != UINT64_MAX) {
        lawn_loop_every(filter->events.loop, &filter->events.save_timer,
                        options->state_every, LAWN_LOOP_DELAY);
    }
    if (options->stats != UINT64_MAX && options->stats > 0) {
        lawn_loop_every(filter->events.loop, &filter->events.stats_timer,
                        options->stats, LAWN_LOOP_SKIP);
    }
    process_lines(filter); /* lines from the state */
}

static void
close_filter(struct filter *filter)
{
    for (size_t i = 0; i < 2; i++) {
        input_close(&filter->io.inputs[i]);
        fields_free(&filter->io.fields[i]);
    }
    input_close(&filter->setup.expected);
    sink_close(&filter->io.sink);
    stores_close(filter);
    lawn_loop_free(filter->events.loop);
    state_close(filter);
    free(filter);
}

int
filter_main(const struct options_verb *verb, int argc, char **argv)
{
    struct filter *filter = calloc(1, sizeof(*filter));
    if (filter == NULL) {
        fprintf(stderr, "lawn %s: out of memory\n", verb->name);
        return VERBS_FAILED;
    }
    filter->name = verb->name;
    filter->verb = verb->own;
    filter->state.lock = -1;
    filter->io.input_count = 1;
    filter_options_init(&filter->options);
    int code = 0;
    if (options_read(verb, argc, argv, &filter->options, &code)) {
        code = open_filter(filter);
        if (code == 0) {
            start_filter(filter);
            while (!filter->run.done && !filter->io.sink.stuck) {
                run_round(filter);
            }
            if (!filter->run.done) {
                filter_end(filter, 128 + signals_number());
            }
            code = finish(filter);
        }
    }
    close_filter(filter);
    return code;
}
