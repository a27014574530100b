/* state.c - what a filter holds, in a file: see state.h. */
#include "state.h"
#include "clock.h"
#include "hold.h"
#include "take.h"
#include "tell.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATE_SPARE ((size_t)4 << 20)  /* more than a save takes */
#define STATE_MANY (UINT64_C(1) << 63) /* more lines than there will ever be */

/* What was read of each input and not taken. */
static const char *const state_rests[] = {"rest left", "rest right"};
static const char *const state_parts[] = {"part left", "part right"};
static const char *const state_sources[] = {"source left", "source right"};

/* Numbers that are kept. */
struct state_numbers {
    uint64_t now;
    uint64_t newest;
    uint64_t serial;
    uint64_t form;
    uint64_t timed;
};

/* What a state is of: another filter cannot go on from it. */
static void
state_of(const struct filter *filter, char *text)
{
    const struct filter_options *o = &filter->options;
    int size = snprintf(text, FILTER_OF_MAX, "%s", filter->name);
    const struct {
        const char *name;
        const char *value;
    } parts[] = {
        {"key", o->key},
        {"right-key", o->right_key},
        {"delimiter", o->delimiter},
        {"time-field", o->time_field},
        {"right-time-field", o->right_time_field},
        {"time-unit",
         clock_is_event(filter) ? times_units[filter->unit] : NULL},
        {"emit", filter->emit},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].value != NULL && size < (int)FILTER_OF_MAX)
            size += snprintf(text + size, FILTER_OF_MAX - (size_t)size,
                             " --%s %s", parts[i].name, parts[i].value);
    }
    if (o->json && size < (int)FILTER_OF_MAX)
        snprintf(text + size, FILTER_OF_MAX - (size_t)size, " --json");
}

static int
state_put(struct lawn_store *values, const char *name, const void *bytes,
          size_t size)
{
    return lawn_store_start(values, name, strlen(name), UINT64_MAX, bytes, size,
                            0);
}

/* The lines that were read of an input and are not taken, the one that it stands
 * at as well; and of those bytes, how many are whole lines. */
static size_t
state_rest(const struct filter *filter, size_t side, const char **bytes,
           size_t *whole)
{
    const struct filter_head *head = &filter->heads[side];
    size_t size = input_rest(&filter->inputs[side], bytes, whole);
    if (head->there && head->line.at != NULL) {
        size_t line = (size_t)(*bytes - head->line.at);
        size += line;
        *whole += line;
        *bytes = head->line.at;
    }
    return size;
}

/* Keeps what was read of an input and is not taken. */
static int
state_put_rest(struct filter *filter, struct lawn_store *values, size_t side)
{
    const struct input_source source = input_source(&filter->inputs[side]);
    const char *bytes;
    size_t whole;
    size_t size = state_rest(filter, side, &bytes, &whole);
    if (!filter->inputs[side].waits)
        size = whole; /* a file is fed again from there on */
    int error = state_put(values, state_rests[side], bytes, whole);
    if (error == 0)
        error =
            state_put(values, state_parts[side], bytes + whole, size - whole);
    if (error == 0)
        error = state_put(values, state_sources[side], &source, sizeof source);
    return error;
}

/* The names and values of the first snapshot. */
static int
state_put_all(struct filter *filter, struct lawn_store *values)
{
    const struct state_numbers numbers = {filter->now, filter->newest,
                                          filter->serial, filter->form,
                                          filter->timed};
    const struct sink *sink = &filter->sink;
    char of[FILTER_OF_MAX];
    state_of(filter, of);
    int error = state_put(values, "of", of, strlen(of));
    if (error == 0)
        error = state_put(values, "numbers", &numbers, sizeof numbers);
    if (error == 0)
        error = state_put(values, "unwritten", sink->bytes, sink->size);
    if (error == 0)
        error = state_put(values, "kinds", sink->kinds, sink->lines);
    for (size_t i = 0; error == 0 && i < 2; i++)
        error = state_put_rest(filter, values, i);
    return error;
}

int
state_write(struct filter *filter, lawn_store_write_fn *write, void *arg)
{
    struct lawn_store *values = lawn_store_new(NULL);
    struct lawn_store *stores[] = {values, filter->keys, filter->lines,
                                   filter->early};
    if (values == NULL)
        return -ENOMEM;
    int error = state_put_all(filter, values);
    for (size_t i = 0; error == 0 && i < 4; i++)
        error = lawn_store_save(stores[i], write, arg);
    lawn_store_free(values);
    return error;
}

static bool
state_get(struct lawn_store *values, const char *name,
          struct lawn_store_timer *value)
{
    return lawn_store_get(values, name, strlen(name), value);
}

/* Takes the lines that were read before; and the part of a line, if the same pipe
 * goes on: the end of another one's must not be taken for its own. */
static bool
state_get_rest(struct filter *filter, struct lawn_store *values, size_t side)
{
    struct input *input = &filter->inputs[side];
    struct input_source now = input_source(input);
    struct lawn_store_timer rest;
    struct lawn_store_timer part;
    struct lawn_store_timer source;
    if (!state_get(values, state_rests[side], &rest) ||
        !state_get(values, state_parts[side], &part) ||
        !state_get(values, state_sources[side], &source) ||
        source.payload_size != sizeof now)
        return false;
    const char *bytes = rest.payload;
    size_t size = rest.payload_size;
    if (size + part.payload_size > 0 && side >= filter->input_count)
        return false;
    if (size > 0 &&
        (!input_unread(input, bytes, size) ||
         (bytes[size - 1] != '\n' && !input_unread(input, "\n", 1))))
        return false;
    if (part.payload_size == 0)
        return true;
    if (now.inode != 0 && memcmp(source.payload, &now, sizeof now) == 0)
        return input_unread(input, part.payload, part.payload_size);
    filter->counts.resumed++;
    filter->counts.discarded++;
    tell(filter,
         "the state has a part of a line, of an input that is not there "
         "any more: dropped");
    return true;
}

/* Takes what stood unread and unwritten. */
static bool
state_get_bytes(struct filter *filter, struct lawn_store *values)
{
    struct lawn_store_timer bytes;
    struct lawn_store_timer kinds;
    for (size_t i = 0; i < 2; i++) {
        if (!state_get_rest(filter, values, i))
            return false;
    }
    return state_get(values, "unwritten", &bytes) &&
           state_get(values, "kinds", &kinds) &&
           sink_restore(&filter->sink, bytes.payload, bytes.payload_size,
                        kinds.payload, kinds.payload_size);
}

/* Takes the values of the first snapshot, all but those of state_get_bytes(). */
static bool
state_get_all(struct filter *filter, struct lawn_store *values)
{
    struct lawn_store_timer value;
    struct state_numbers numbers;
    char of[FILTER_OF_MAX];
    state_of(filter, of);
    if (!state_get(values, "of", &value))
        return false;
    snprintf(filter->was_of, sizeof filter->was_of, "%.*s",
             (int)value.payload_size, (const char *)value.payload);
    if (strcmp(filter->was_of, of) != 0 ||
        !state_get(values, "numbers", &value) ||
        value.payload_size != sizeof numbers)
        return false;
    memcpy(&numbers, value.payload, sizeof numbers);
    if (numbers.serial >= STATE_MANY || numbers.form > TIMES_RFC3339 ||
        numbers.timed > 1 || numbers.now > CLOCK_LAST ||
        numbers.newest > CLOCK_LAST)
        return false;
    filter->serial = numbers.serial;
    filter->form = (enum times_form)numbers.form;
    filter->timed = numbers.timed != 0;
    filter->newest = numbers.newest;
    if (numbers.now > filter->now)
        filter->now = numbers.now;
    lawn_store_set_now(filter->keys, filter->now);
    lawn_store_set_now(filter->lines, filter->now);
    return true;
}

/* Whether the verb can have left what stands in a store; counts its lines. */
static bool
state_is_valid(struct filter *filter, struct lawn_store *store,
               bool (*valid)(const struct filter *filter,
                             const struct lawn_store_timer *timer),
               unsigned holds, uint64_t *lines)
{
    uint64_t cursor = 0;
    struct lawn_store_timer timer;
    size_t longest = FILTER_KEY_MAX;
    if (store == filter->lines && !filter->line_keys)
        longest = sizeof filter->id;
    while (lawn_store_iterate(store, &cursor, &timer)) {
        if (timer.id_size > longest || valid == NULL || !valid(filter, &timer))
            return false;
        filter->counts.held += holds;
        filter->counts.resumed += holds;
        if (store != filter->early && timer.ttl != filter->ttl &&
            timer.deadline <= CLOCK_LAST)
            filter->mixed = true;
        if (store == filter->lines && filter->line_order != NULL &&
            hold_number(&timer) < filter->oldest)
            filter->oldest = hold_number(&timer);
        if (store == filter->keys && filter->verb->key_lines != NULL)
            *lines += filter->verb->key_lines(filter, &timer);
    }
    return true;
}

/* A line that was kept until its time: see take.c. */
static bool
state_early_valid(const struct filter *filter,
                  const struct lawn_store_timer *timer)
{
    return hold_is_numbered(filter, timer) && timer->payload_size > 0 &&
           *(const unsigned char *)timer->payload < filter->input_count;
}

static bool
state_all_valid(struct filter *filter)
{
    const struct filter_verb *verb = filter->verb;
    uint64_t lines = 0;
    filter->oldest = filter->serial;
    return state_is_valid(filter, filter->keys, verb->key_valid,
                          filter->key_holds, &lines) &&
           (verb->key_lines == NULL ||
            lines == lawn_store_count(filter->lines)) &&
           state_is_valid(filter, filter->lines, verb->line_valid,
                          filter->line_holds, &lines) &&
           state_is_valid(filter, filter->early, state_early_valid, 1, &lines);
}

/* A line that was given back stands a tick after its time: see clock.c. */
static void
state_set_early(struct filter *filter)
{
    uint64_t cursor = 0;
    struct lawn_store_timer timer;
    while (lawn_store_iterate(filter->early, &cursor, &timer)) {
        const char *bytes = timer.payload;
        struct input_line line = {bytes + 1, timer.payload_size - 1};
        uint64_t time = take_time(filter, (unsigned char)bytes[0], &line);
        if (time != 0 && time < timer.deadline)
            lawn_store_touch_at(filter->early, timer.id, timer.id_size, time);
    }
}

int
state_read(struct filter *filter, lawn_store_read_fn *read, void *arg)
{
    struct lawn_store *values = lawn_store_new(NULL);
    struct lawn_store *stores[] = {filter->keys, filter->lines, filter->early};
    char more;
    if (values == NULL)
        return -ENOMEM;
    int error = lawn_store_load(values, read, arg);
    if (error == 0 && !state_get_all(filter, values))
        error = -EINVAL;
    for (size_t i = 0; error == 0 && i < 3; i++)
        error = lawn_store_load(stores[i], read, arg);
    if (error == 0 && read(&more, 1, arg) != 0)
        error = LAWN_STORE_TRAILING;
    if (error == 0 &&
        (!state_all_valid(filter) || !state_get_bytes(filter, values)))
        error = -EINVAL;
    if (error == 0)
        state_set_early(filter);
    filter->counts.resumed += filter->sink.carried;
    filter->counts.in += filter->counts.resumed;
    lawn_store_free(values);
    return error;
}

static int
state_write_file(const void *bytes, size_t size, void *arg)
{
    FILE *file = arg;
    return fwrite(bytes, 1, size, file) == size ? 0 : -EIO;
}

static ptrdiff_t
state_read_file(void *bytes, size_t size, void *arg)
{
    FILE *file = arg;
    size_t got = fread(bytes, 1, size, file);
    return got == 0 && ferror(file) ? -errno : (ptrdiff_t)got;
}

/* Flushes to disk the folder that a file stands in. Where that cannot be had, the
 * file is there nevertheless, unless the machine falls over now. */
static void
state_sync_folder(const char *path)
{
    char *copy = strdup(path);
    if (copy == NULL)
        return;
    int folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        fsync(folder);
        close(folder);
    }
    free(copy);
}

/* Writes and flushes the new file, and puts it in the place of the old. */
static int
state_replace(struct filter *filter, int fd, const char *fresh)
{
    struct stat old;
    FILE *file = fdopen(fd, "w");
    if (file == NULL) {
        int error = -errno;
        close(fd);
        return error;
    }
    int error = state_write(filter, state_write_file, file);
    if (error == -EIO || (error == 0 && fflush(file) != 0))
        error = errno != 0 ? -errno : -EIO;
    if (error == 0 && stat(filter->options.state, &old) == 0)
        error = fchmod(fd, old.st_mode & 07777) != 0 ? -errno : 0;
    if (error == 0 && fsync(fd) != 0)
        error = -errno;
    if (fclose(file) != 0 && error == 0)
        error = -errno;
    if (error == 0 && rename(fresh, filter->options.state) != 0)
        error = -errno;
    return error;
}

/* A file to be written beside path, which nobody else uses, since path is locked;
 * what a crash left there goes. */
static int
state_open_fresh(const char *fresh)
{
    unlink(fresh);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        errno = EISDIR;
    return fd;
}

/* Saves what is held. 0, or an error. */
static int
state_try(struct filter *filter)
{
    const char *path = filter->options.state;
    size_t size = strlen(path) + sizeof ".lawn-tmp";
    char *fresh = malloc(size);
    int error = fresh != NULL ? 0 : -ENOMEM;
    if (error == 0) {
        snprintf(fresh, size, "%s.lawn-tmp", path);
        int fd = state_open_fresh(fresh);
        errno = fd < 0 ? errno : 0;
        error = fd < 0 ? -errno : state_replace(filter, fd, fresh);
        if (error != 0 && fd >= 0)
            unlink(fresh);
    }
    free(fresh);
    if (error == 0)
        state_sync_folder(path);
    return error;
}

bool
state_save(struct filter *filter)
{
    int error = state_try(filter);
    if (error != 0)
        tell(filter, "cannot save the state to %s: %s", filter->options.state,
             lawn_store_strerror(error));
    return error == 0;
}

void
state_save_meanwhile(struct filter *filter)
{
    int error = state_try(filter);
    if (error != 0 && !filter->unsaved)
        tell(filter, "cannot save the state to %s: %s; going on without",
             filter->options.state, lawn_store_strerror(error));
    else if (error == 0 && filter->unsaved)
        tell(filter, "the state is saved to %s again", filter->options.state);
    filter->unsaved = error != 0;
}

/* A second filter on the same file would undo what this one saves. */
static bool
state_lock(struct filter *filter)
{
    const char *path = filter->options.state;
    size_t size = strlen(path) + sizeof ".lock";
    char *lock = malloc(size);
    if (lock == NULL) {
        tell(filter, "no memory");
        return false;
    }
    snprintf(lock, size, "%s.lock", path);
    filter->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    bool locked =
        filter->lock >= 0 && flock(filter->lock, LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno == EWOULDBLOCK)
        tell(filter, "the state %s is in use by another lawn", path);
    else if (!locked)
        tell(filter, "cannot lock the state with %s: %s", lock,
             strerror(errno));
    free(lock);
    return locked;
}

void
state_unlock(struct filter *filter)
{
    if (filter->lock >= 0)
        close(filter->lock);
}

/* Says why a state cannot be gone on from. */
static void
state_refuse(const struct filter *filter, int error)
{
    char of[FILTER_OF_MAX];
    state_of(filter, of);
    if (error != -EINVAL)
        tell(filter, "cannot go on from the state %s: %s",
             filter->options.state, lawn_store_strerror(error));
    else if (filter->was_of[0] != '\0' && strcmp(filter->was_of, of) != 0)
        tell(filter, "the state %s is of 'lawn %s', not of 'lawn %s'",
             filter->options.state, filter->was_of, of);
    else
        tell(filter, "the state %s is no state of a filter",
             filter->options.state);
}

bool
state_load(struct filter *filter)
{
    if (!state_lock(filter))
        return false;
    filter->spare = malloc(STATE_SPARE);
    FILE *file = fopen(filter->options.state, "r");
    if (file == NULL && errno == ENOENT) {
        filter->loaded = true;
        return true;
    }
    int error =
        file != NULL ? state_read(filter, state_read_file, file) : -errno;
    if (file != NULL)
        fclose(file);
    if (error != 0)
        state_refuse(filter, error);
    filter->loaded = error == 0;
    return filter->loaded;
}
