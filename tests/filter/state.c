/* state.c - the contents of a state file: see cli/filter/state.h. */
#include "state.h"

#include "intake.h"
#include "kit.h"
#include "stores.h"
#include "verbs.h"

#include "../../cli/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
never_stopped(void)
{
    return false;
}

/* Returns a filter: lawn delay 5s --time-field 2. */
static struct filter *
open_filter(void)
{
    static char words[][16] = {"delay", "5s", "--time-field", "2", "/dev/null"};
    char *argv[] = {words[0], words[1], words[2], words[3], words[4], NULL};
    struct filter *filter = calloc(1, sizeof(*filter));
    CHECK(filter != NULL);
    filter->name = delay_verb.name;
    filter->verb = delay_verb.own;
    filter->state.lock = -1;
    filter->io.input_count = 1;
    filter_options_init(&filter->options);
    int code = 0;
    CHECK(options_read(&delay_verb, 5, argv, &filter->options, &code));
    CHECK(filter_options_apply(filter) && stores_open(filter));
    CHECK(sink_open(&filter->io.sink, open("/dev/null", O_WRONLY),
                    never_stopped));
    CHECK_EQ(filter->verb->open(filter), 0);
    CHECK_EQ(input_open(&filter->io.inputs[0], filter->options.operands.words,
                        1, false),
             0);
    return filter;
}

static void
close_filter(struct filter *filter)
{
    close(filter->io.sink.fd);
    input_close(&filter->io.inputs[0]);
    for (size_t i = 0; i < 2; i++) {
        fields_free(&filter->io.fields[i]);
    }
    sink_close(&filter->io.sink);
    stores_close(filter);
    free(filter);
}

struct tape {
    char bytes[4096];
    size_t size;
    size_t at;
    int end; /* result of a read at the end */
};

static int
write_tape(const void *bytes, size_t size, void *arg)
{
    struct tape *tape = arg;
    CHECK(size <= sizeof(tape->bytes) - tape->size);
    memcpy(tape->bytes + tape->size, bytes, size);
    tape->size += size;
    return 0;
}

static ptrdiff_t
read_tape(void *bytes, size_t size, void *arg)
{
    struct tape *tape = arg;
    if (tape->at == tape->size) {
        return tape->end;
    }
    if (size > tape->size - tape->at) {
        size = tape->size - tape->at;
    }
    memcpy(bytes, tape->bytes + tape->at, size);
    tape->at += size;
    return (ptrdiff_t)size;
}

/* Saves a filter that holds a line. */
static void
save_line(struct tape *tape)
{
    struct filter *filter = open_filter();
    struct input_line line = {"a 1", 3};
    CHECK(intake_line(filter, 0, &line));
    CHECK_EQ(state_write(filter, write_tape, tape), 0);
    close_filter(filter);
}

static int
load(struct tape *tape)
{
    struct filter *filter = open_filter();
    tape->at = 0;
    int error = state_read(filter, read_tape, tape);
    CHECK(error != 0 || lawn_store_count(filter->stores.lines) == 1);
    close_filter(filter);
    return error;
}

TEST(a_read_error_after_a_state_is_not_trailing_data)
{
    struct tape tape = {.size = 0};
    save_line(&tape);
    CHECK_EQ(load(&tape), 0);
    tape.end = -EIO;
    CHECK_EQ(load(&tape), -EIO);
    tape.end = 0;
    tape.bytes[tape.size++] = 'x';
    CHECK_EQ(load(&tape), LAWN_STORE_TRAILING);
}

TEST(a_read_error_within_a_state_is_reported_as_such)
{
    struct tape tape = {.size = 0};
    save_line(&tape);
    tape.end = -EIO;
    for (tape.size--; tape.size > 0; tape.size--) {
        CHECK_EQ(load(&tape), -EIO);
    }
}
