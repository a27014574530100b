/* filter.c - runs a filter: waits for lines and deadlines, until it is over.
 *
 * A round reads one block of each input that has something, reads the clock, lets
 * happen what is due by then, and takes the block's lines; then what there is to
 * write is written. So a line's time is never before it was there, and a reader
 * sees a line no later than a block after it was due. Files are read as fast as
 * lines are taken; else a round waits for an input, a deadline or a signal.
 */
#include "filter.h"
#include "choices.h"
#include "clock.h"
#include "hold.h"
#include "state.h"
#include "stop.h"
#include "take.h"
#include "tell.h"
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FILTER_SKEW (60 * LAWN_LOOP_SECOND) /* of clocks that needs a word */

void
filter_end(struct filter *filter, int code)
{
    if (!filter->done)
        filter->code = code;
    filter->done = true;
}

/* The time of day, as it was when we started and went on since. */
static uint64_t
filter_wall(struct filter *filter)
{
    return lawn_loop_update(filter->loop) + filter->offset;
}

/* The loop's clock gets the time of day, but no time before one that is known
 * from the state. */
static void
filter_set_offset(struct filter *filter)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    if (!clock_is_event(filter) && filter->now > ns + FILTER_SKEW)
        tell(filter,
             "the state %s is of a later time than this, %s: was the clock set "
             "back? its time goes on",
             filter->options.state, times_text_ms(filter->now).s);
    if (ns < filter->now)
        ns = filter->now;
    filter->offset = ns - lawn_loop_update(filter->loop);
}

static void
filter_on_wake(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    (void)timer; /* what is due happens in the round */
    (void)loop;
}

static void
filter_on_save(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct filter *filter = timer->arg;
    (void)loop;
    if (sink_flush(&filter->sink))
        state_save_meanwhile(filter);
}

static void
filter_on_tell(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    (void)loop;
    tell_stats(timer->arg);
}

static void
filter_on_ready(struct lawn_loop_watch *watch, unsigned ready,
                struct lawn_loop *loop)
{
    struct filter_head *head = watch->arg;
    (void)ready;
    (void)loop;
    head->ready = true;
}

static void
filter_on_pipe(struct lawn_loop_watch *watch, unsigned ready,
               struct lawn_loop *loop)
{
    (void)ready;
    lawn_loop_unwatch(loop, watch);
}

/* Whether lines are taken in the order of their times, from two inputs. */
static bool
filter_merges(const struct filter *filter)
{
    return filter->input_count == 2 && clock_is_event(filter);
}

/* Looks for the next line of an input. False: more has to be read first. */
static bool
filter_look(struct filter *filter, unsigned side)
{
    struct filter_head *head = &filter->heads[side];
    if (head->there || head->ended)
        return true;
    enum input_result result = input_next(&filter->inputs[side], &head->line);
    head->there = result == INPUT_LINE;
    head->ended = result == INPUT_END;
    if (head->there && filter_merges(filter))
        head->time = take_time(filter, side, &head->line);
    return result != INPUT_MORE;
}

/* The input whose line is next. */
static unsigned
filter_turn(const struct filter *filter)
{
    const struct filter_head *heads = filter->heads;
    if (!heads[0].there)
        return 1;
    return heads[1].there && heads[1].time < heads[0].time ? 1 : 0;
}

/* Takes all lines that can be. */
static void
filter_take_lines(struct filter *filter)
{
    bool merges = filter_merges(filter);
    while (!filter->done && !stop_was_told()) {
        bool left = filter_look(filter, 0);
        bool right = filter->input_count < 2 || filter_look(filter, 1);
        if (merges && (!left || !right))
            return;
        unsigned side = filter_turn(filter);
        struct filter_head *head = &filter->heads[side];
        if (!head->there)
            return;
        if (!take_line(filter, side, &head->line))
            return;
        head->there = false;
    }
}

static void
filter_cannot_read(struct filter *filter, const struct input *input, int error)
{
    tell(filter, "cannot read %s: %s",
         input->name != NULL ? input->name : "standard input",
         strerror(-error));
    filter_end(filter, VERBS_INPUT);
}

/* Reads what is to be read next, if that does not wait. */
static void
filter_read(struct filter *filter)
{
    for (unsigned side = 0; side < filter->input_count && !filter->done;
         side++) {
        struct filter_head *head = &filter->heads[side];
        struct input *input = &filter->inputs[side];
        if (head->there || head->ended || (input->waits && !head->ready))
            continue;
        if (input->waits && input->over)
            lawn_loop_unwatch(filter->loop, &filter->watches[side]);
        head->ready = false;
        int error = input_fill(input);
        if (error != 0)
            filter_cannot_read(filter, input, error);
    }
}

/* Watches the inputs that have to be waited for. True: there is one that need
 * not be. */
static bool
filter_watch(struct filter *filter)
{
    bool busy = false;
    for (unsigned side = 0; side < filter->input_count; side++) {
        struct filter_head *head = &filter->heads[side];
        struct input *input = &filter->inputs[side];
        bool wants = !head->there && !head->ended;
        if (wants && input->waits && !input->over) {
            int error = lawn_loop_watch(filter->loop, &filter->watches[side],
                                        input->fd, LAWN_LOOP_READ);
            if (error == -EPERM) /* such as /dev/null: it never waits */
                input->waits = false;
            else if (error != 0)
                filter_cannot_read(filter, input, error);
        } else if (filter->watches[side].events != 0) {
            lawn_loop_unwatch(filter->loop, &filter->watches[side]);
        }
        if (wants && input->over)
            head->ready = true;
        busy = busy || (wants && (!input->waits || head->ready));
    }
    return busy;
}

/* Forgets what is held. */
static void
filter_discard(struct filter *filter)
{
    filter->counts.discarded += filter->counts.held;
    filter->counts.held = 0;
    lawn_store_clear(filter->early);
    if (!filter->flushes)
        return;
    lawn_store_clear(filter->lines);
    if (filter->pending == filter->keys || filter->verb->key_lines != NULL)
        lawn_store_clear(filter->keys);
}

/* Who looks on would see nothing happen, perhaps for long. */
static void
filter_tell_wait(struct filter *filter)
{
    if (isatty(STDERR_FILENO) && lawn_store_count(filter->pending) > 0 &&
        clock_next(filter) > clock_after(filter, LAWN_LOOP_SECOND))
        tell(filter, "the input has ended; going on until all is due, see "
                     "--on-eof");
}

/* The input has ended: what is held is treated as --on-eof says. */
static void
filter_at_eof(struct filter *filter)
{
    if (clock_is_event(filter) && !clock_advance(filter, filter->newest))
        return;
    filter->ended = true;
    switch (filter->options.on_eof) {
    case FILTER_DRAIN:
        if (!clock_is_event(filter)) {
            filter_tell_wait(filter);
            return;
        }
        clock_drain(filter);
        break;
    case FILTER_FLUSH:
        if (filter->flushes)
            clock_flush(filter);
        break;
    case FILTER_DROP:
        filter_discard(filter);
        break;
    default:
        break;
    }
    filter_end(filter, VERBS_OK);
}

/* Waits for something to do, unless there is. */
static void
filter_wait(struct filter *filter, bool busy)
{
    if (!busy && !sink_flush(&filter->sink))
        return;
    uint64_t next = clock_next(filter);
    if (!busy && !clock_is_event(filter) && next != LAWN_NEVER)
        lawn_loop_start_at(filter->loop, &filter->wake, next - filter->offset);
    else
        lawn_loop_stop(filter->loop, &filter->wake);
    int error = lawn_loop_once(filter->loop, !busy && !stop_was_told());
    if (error < 0) {
        tell(filter, "cannot wait: %s", strerror(-error));
        filter_end(filter, VERBS_FAILED);
    }
}

static void
filter_round(struct filter *filter)
{
    filter_wait(filter, filter_watch(filter));
    if (!stop_was_told())
        filter_read(filter);
    if (!clock_is_event(filter))
        clock_advance(filter, filter_wall(filter));
    if (stop_was_told())
        filter_end(filter, 128 + stop_signal());
    filter_take_lines(filter);
    bool ended = filter->heads[0].ended &&
                 (filter->input_count < 2 || filter->heads[1].ended);
    if (ended && !filter->ended && !filter->done)
        filter_at_eof(filter);
    if (filter->ended && lawn_store_count(filter->pending) == 0)
        filter_end(filter, VERBS_OK);
    if (!sink_flush(&filter->sink) && !filter->sink.stuck)
        filter_end(filter, VERBS_OUTPUT);
}

/* Lines that were read, and are not taken any more. */
static uint64_t
filter_count_rest(const struct filter *filter)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < filter->input_count; i++) {
        const char *at;
        size_t whole;
        size_t size = input_rest(&filter->inputs[i], &at, &whole);
        for (size_t j = 0; j < size; j++)
            lines += at[j] == '\n' || j + 1 == size;
    }
    return lines;
}

/* Says that something is lost, and why. */
static void
filter_tell_lost(const struct filter *filter, uint64_t count, const char *what,
                 const char *end)
{
    if (count > 0)
        tell(filter, "%s: %" PRIu64 " %s%s %s",
             stop_was_told() ? "interrupted" : "ended early", count, what,
             count == 1 ? "" : "s", end);
}

/* What is held is lost: counts it, and says so. Whoever closed a pipe knows, and
 * whoever asked to exit does not care for what was read ahead. */
static void
filter_lose(struct filter *filter)
{
    uint64_t held = filter->counts.held + filter->sink.carried;
    uint64_t rest = filter_count_rest(filter);
    bool holds = filter->key_holds + filter->line_holds > 0;
    uint64_t open =
        filter->flushes && !holds ? lawn_store_count(filter->keys) : 0;
    filter->counts.in += rest;
    filter->counts.held = 0;
    filter->sink.carried = 0;
    filter->counts.discarded += held + rest;
    if (filter->sink.error == EPIPE)
        return;
    const char *dropped = filter->options.state == NULL
                              ? "dropped (--state FILE would keep them)"
                              : "dropped";
    filter_tell_lost(filter, held, "held line", dropped);
    filter_tell_lost(filter, open,
                     filter->emit != NULL ? "open burst" : "open session",
                     dropped);
    if (!filter->options.exit_on_absent)
        filter_tell_lost(filter, rest, "line", "read and not treated");
}

/* All is saved but what is left of files: says where that begins. */
static void
filter_tell_unread(const struct filter *filter)
{
    for (size_t i = 0; i < filter->input_count; i++) {
        const struct input *input = &filter->inputs[i];
        const char *at;
        size_t whole;
        input_rest(input, &at, &whole);
        uint64_t lines = input->number;
        for (size_t j = 0; j < whole; j++)
            lines += at[j] == '\n';
        if (!input->waits && !(input->over && input->names_left == 0))
            tell(filter, "ended early: %s was read up to line %" PRIu64,
                 input->name != NULL ? input->name : "standard input", lines);
    }
}

/* Writes, saves and tells what is left. */
static int
filter_finish(struct filter *filter)
{
    struct sink *sink = &filter->sink;
    for (unsigned side = 0; side < filter->input_count; side++) {
        if (filter->heads[side].there)
            input_back(&filter->inputs[side], &filter->heads[side].line);
        input_look_over(&filter->inputs[side]);
    }
    if (!sink_flush(sink) && sink->error != 0) {
        if (sink->error != EPIPE)
            tell(filter, "cannot write the output: %s", strerror(sink->error));
        filter->code = VERBS_OUTPUT;
    }
    free(filter->spare);
    filter->spare = NULL;
    if (filter->loaded) {
        if (state_save(filter)) {
            filter_tell_unread(filter);
        } else {
            filter->code = VERBS_OUTPUT;
            filter_lose(filter);
        }
    } else {
        filter_lose(filter);
    }
    if (filter->code == VERBS_OK && filter->counts.bad > 0 &&
        filter->counts.bad == filter->counts.in)
        filter->code = VERBS_INPUT;
    tell_at_end(filter);
    if (filter->options.stats != UINT64_MAX)
        tell_stats(filter);
    return filter->code;
}

/* The loop: its clock, its timers, its watches. */
static bool
filter_open_loop(struct filter *filter)
{
    struct lawn_loop_options options = {.clock_id = LAWN_LOOP_BOOTTIME};
    filter->loop = lawn_loop_new(&options);
    if (filter->loop == NULL || !stop_open())
        return false;
    filter->wake.fire = filter_on_wake;
    filter->saving.fire = filter_on_save;
    filter->saving.arg = filter;
    filter->telling.fire = filter_on_tell;
    filter->telling.arg = filter;
    filter->signals.ready = filter_on_pipe;
    for (size_t i = 0; i < 2; i++) {
        filter->watches[i].ready = filter_on_ready;
        filter->watches[i].arg = &filter->heads[i];
    }
    return lawn_loop_watch(filter->loop, &filter->signals, stop_fd(),
                           LAWN_LOOP_READ) == 0;
}

static bool
filter_open_inputs(struct filter *filter)
{
    struct options_operands *operands = &filter->options.operands;
    bool each = filter->input_count == 2;
    for (size_t i = 0; i < filter->input_count; i++) {
        struct input *input = &filter->inputs[i];
        int error = input_open(input, operands->words + (each ? i : 0),
                               each ? 1 : operands->count, false);
        if (error != 0) {
            filter_cannot_read(filter, input, error);
            return false;
        }
    }
    return true;
}

/* Whoever closed a standard stream is to be told when we need it, not to get or
 * give the bytes of what else we open: so it becomes one that cannot be used. */
static bool
filter_fill_streams(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            return false;
    }
    return true;
}

/* Everything that can fail before the first line. Else 0, or an exit code. */
static int
filter_open(struct filter *filter)
{
    if (!choices_apply(filter))
        return VERBS_USAGE;
    if (!filter_fill_streams() || !hold_open(filter) ||
        !sink_open(&filter->sink, STDOUT_FILENO, stop_was_told) ||
        !filter_open_loop(filter)) {
        tell(filter, "cannot start: %s", strerror(errno));
        return VERBS_FAILED;
    }
    int code = filter->verb->open(filter);
    if (code != 0)
        return code;
    if (!filter_open_inputs(filter))
        return VERBS_INPUT;
    if (filter->options.state != NULL && !state_load(filter))
        return VERBS_INPUT;
    return 0;
}

static void
filter_begin(struct filter *filter)
{
    const struct filter_options *options = &filter->options;
    filter_set_offset(filter);
    if (!clock_is_event(filter)) {
        clock_advance(filter, filter_wall(filter));
        if (filter->verb->begin != NULL)
            filter->verb->begin(filter);
        filter->begun = true;
    }
    if (options->state_every != UINT64_MAX)
        lawn_loop_every(filter->loop, &filter->saving, options->state_every,
                        LAWN_LOOP_DELAY);
    if (options->stats != UINT64_MAX && options->stats > 0)
        lawn_loop_every(filter->loop, &filter->telling, options->stats,
                        LAWN_LOOP_SKIP);
    filter_take_lines(filter); /* those of the state */
}

static void
filter_close(struct filter *filter)
{
    for (size_t i = 0; i < 2; i++) {
        input_close(&filter->inputs[i]);
        fields_free(&filter->fields[i]);
    }
    input_close(&filter->expected);
    sink_close(&filter->sink);
    hold_close(filter);
    lawn_loop_free(filter->loop);
    state_unlock(filter);
    free(filter);
}

int
filter_main(const struct options_verb *verb, int argc, char **argv)
{
    int code;
    struct filter *filter = calloc(1, sizeof *filter);
    if (filter == NULL) {
        fprintf(stderr, "lawn %s: no memory\n", verb->name);
        return VERBS_FAILED;
    }
    filter->name = verb->name;
    filter->verb = verb->own;
    filter->lock = -1;
    filter->input_count = 1;
    choices_init(&filter->options);
    if (options_read(verb, argc, argv, &filter->options, &code)) {
        code = filter_open(filter);
        if (code == 0) {
            filter_begin(filter);
            while (!filter->done && !filter->sink.stuck)
                filter_round(filter);
            if (!filter->done)
                filter_end(filter, 128 + stop_signal());
            code = filter_finish(filter);
        }
    }
    filter_close(filter);
    return code;
}
