/* state_file.c - the file of --state: its path, its lock, loading and saving.
 *
 * Symbolic links are followed first; the lock file and the temporary file are
 * next to the target. Otherwise two processes could use one state under two
 * names, and both would write its lines.
 */
#include "../../src/store/file_replace.h"
#include "log.h"
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATE_RESERVE ((size_t)4 << 20) /* bytes; more than a save needs */
#define STATE_SUFFIX ".lawn-tmp"
#define STATE_LINKS_MAX 40 /* symbolic links that are followed */

/* Returns a + b in new memory, or NULL. */
static char *
concatenate(const char *a, size_t a_size, const char *b)
{
    size_t b_size = strlen(b);
    char *text = malloc(a_size + b_size + 1);
    if (text != NULL) {
        memcpy(text, a, a_size);
        memcpy(text + a_size, b, b_size + 1);
    }
    return text;
}

/* Returns the length of the directory part of a path, with its slash. */
static size_t
directory_size(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash + 1 - path) : 0;
}

/* Follows the symbolic links of the last component of a path, even if the
 * target does not exist. Returns the path of the file in new memory, or NULL
 * with errno set. */
static char *
resolve_path(const char *given)
{
    char *path = concatenate(given, strlen(given), "");
    for (int links = 0; path != NULL; links++) {
        char target[PATH_MAX];
        ssize_t size = readlink(path, target, sizeof(target) - 1);
        if (size < 0 && (errno == EINVAL || errno == ENOENT)) {
            return path; /* not a link */
        }
        if (size >= 0 && links == STATE_LINKS_MAX) {
            size = -1;
            errno = ELOOP;
        }
        if (size < 0) {
            free(path);
            return NULL;
        }
        target[size] = '\0';
        char *next = concatenate(
            path, target[0] == '/' ? 0 : directory_size(path), target);
        free(path);
        path = next;
    }
    return NULL;
}

/* Gives a new lock file the owner of the state file, if the state exists and
 * the process may. Otherwise the owner could not use the state after root has
 * run the filter. */
static int
copy_owner(int lock, const char *path)
{
    struct stat state;
    return stat(path, &state) == 0 ? fchown(lock, state.st_uid, state.st_gid)
                                   : -1;
}

/* Opens the lock file, and creates it if it does not exist. With O_EXCL, only a
 * file created by this process gets another owner, not the target of a symbolic
 * link. Returns the descriptor of the file, or -1 with errno set. */
static int
open_lock(const char *name, const char *path)
{
    int lock = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (lock >= 0) {
        (void)copy_owner(lock, path);
    } else if (errno == EEXIST) {
        /* Without O_CREAT: with it, fs.protected_regular refuses the lock of
         * another user in a folder such as /tmp, even to root. */
        lock = open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    }
    return lock;
}

/* Takes the lock. Without it, a second filter with the same file would
 * overwrite the saves of this one, and write its lines as well. */
static bool
take_lock(struct filter *filter)
{
    const char *path = filter->state.path;
    char *name = concatenate(path, strlen(path), ".lock");
    if (name == NULL) {
        log_message(filter, "out of memory");
        return false;
    }
    filter->state.lock = open_lock(name, path);
    bool locked = filter->state.lock >= 0 &&
                  flock(filter->state.lock, LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno == EWOULDBLOCK) {
        log_message(filter,
                    "the state %s is in use by another lawn; stop that "
                    "process, or use another file",
                    filter->options.state);
    } else if (!locked) {
        log_message(filter, "cannot lock the state %s with %s: %s",
                    filter->options.state, name, strerror(errno));
    }
    free(name);
    return locked;
}

/* Replaces the contents of the state file by the bytes that fill() writes. If
 * fill is NULL, only checks that the file can be replaced. */
static int
replace(struct filter *filter, lawn__file_fill_fn *fill, bool *replaced)
{
    *replaced = false;
    struct lawn__file_target target = {
        .path = filter->state.path, .suffix = STATE_SUFFIX, .mode = 0600};
    target.names = malloc(lawn__file_names_size(target.path, target.suffix));
    if (target.names == NULL) {
        return -ENOMEM;
    }
    int error = fill != NULL
                    ? lawn__file_replace(&target, fill, filter, replaced)
                    : lawn__file_check(&target);
    free(target.names);
    return error;
}

static int
fill_file(lawn__file_write_fn *write, void *file, void *arg)
{
    return state_write(arg, write, file);
}

/* Prints that the temporary file, next to the target of --state, cannot be
 * created. */
static void
log_replacement_error(const struct filter *filter, int error)
{
    if (error == -ENAMETOOLONG) {
        log_message(filter,
                    "cannot use the state %s: file name too long: %s%s is "
                    "needed to save it",
                    filter->options.state, filter->state.path, STATE_SUFFIX);
    } else {
        log_message(filter, "cannot use the state %s: cannot create %s%s: %s",
                    filter->options.state, filter->state.path, STATE_SUFFIX,
                    error == LAWN_STORE_NOT_A_FILE ? lawn_store_strerror(error)
                                                   : strerror(-error));
    }
}

/* Checks the length of the temporary file's name before taking the lock. The
 * lock's name is shorter, so the lock file could be created and would
 * remain. */
static bool
check_name(struct filter *filter)
{
    const char *path = filter->state.path;
    char *name = concatenate(path, strlen(path), STATE_SUFFIX);
    if (name == NULL) {
        log_message(filter, "out of memory");
        return false;
    }
    struct stat about;
    bool too_long = lstat(name, &about) != 0 && errno == ENAMETOOLONG;
    free(name);
    if (too_long) {
        log_replacement_error(filter, -ENAMETOOLONG);
    }
    return !too_long;
}

/* Detects problems at the start that would otherwise make a later save fail or
 * block. Returns false after printing a message. */
static bool
check_file(struct filter *filter)
{
    const char *name = filter->options.state;
    struct stat about;
    if (stat(filter->state.path, &about) == 0 && !S_ISREG(about.st_mode)) {
        log_message(filter, "cannot use the state %s: %s", name,
                    S_ISDIR(about.st_mode) ? strerror(EISDIR)
                                           : "not a regular file");
        return false;
    }
    return check_name(filter);
}

/* Checks that the temporary file can be created. */
static bool
check_replacement(struct filter *filter)
{
    bool replaced = false;
    int error = replace(filter, NULL, &replaced);
    if (error != 0) {
        log_replacement_error(filter, error);
    }
    return error == 0;
}

/* Saves the state. Prints a message if the result differs from that of the
 * previous save, and always if it fails at the end. */
static enum save_result
save(struct filter *filter, bool at_end)
{
    const char *name = filter->options.state;
    bool replaced = false;
    int error = replace(filter, fill_file, &replaced);
    enum save_result before = filter->state.last_save;
    enum save_result result = error == 0 ? SAVE_DONE
                              : replaced ? SAVE_NOT_FLUSHED
                                         : SAVE_FAILED;
    if (result == SAVE_FAILED && (at_end || before != SAVE_FAILED)) {
        log_message(filter, "cannot save the state to %s: %s%s", name,
                    lawn_store_strerror(error),
                    at_end ? ""
                           : "; trying again after --state-every and at the "
                             "end");
    } else if (result == SAVE_NOT_FLUSHED && before != SAVE_NOT_FLUSHED) {
        log_message(
            filter,
            "the state is saved to %s, but its directory could not be flushed: "
            "%s; a power failure may restore the previous state",
            name, lawn_store_strerror(error));
    } else if (result == SAVE_DONE && before == SAVE_FAILED) {
        log_message(filter, "saving the state to %s works again", name);
    }
    filter->state.last_save = result;
    return result;
}

bool
state_save(struct filter *filter)
{
    return save(filter, true) != SAVE_FAILED;
}

void
state_autosave(struct filter *filter)
{
    (void)save(filter, false);
}

void
state_close(struct filter *filter)
{
    if (filter->state.lock >= 0) {
        close(filter->state.lock);
    }
    free(filter->state.path);
}

/* Prints why a state cannot be loaded. */
static void
log_load_error(const struct filter *filter, int error)
{
    const char *name = filter->options.state;
    const char *loaded = filter->state.loaded_signature;
    char signature[FILTER_SIGNATURE_MAX];
    state_describe(filter, signature);
    if (error == LAWN_STORE_NOT_A_SNAPSHOT ||
        (error == -EINVAL && loaded[0] == '\0')) {
        log_message(filter,
                    "cannot load the state %s: it is not a lawn state file",
                    name);
    } else if (error != -EINVAL) {
        log_message(filter, "cannot load the state %s: %s", name,
                    lawn_store_strerror(error));
    } else if (filter->state.format != STATE_FORMAT) {
        log_message(filter,
                    "cannot load the state %s: its format %" PRIu64
                    " is not supported, only format %u; use the version of "
                    "lawn that saved it, or another file",
                    name, filter->state.format, STATE_FORMAT);
    } else if (strcmp(loaded, signature) != 0) {
        log_message(filter,
                    "cannot load the state %s: it was saved by 'lawn %s', not "
                    "by 'lawn %s'",
                    name, loaded, signature);
    } else {
        log_message(filter,
                    "cannot load the state %s: valid checksums but "
                    "inconsistent contents",
                    name);
    }
}

static ptrdiff_t
read_file(void *bytes, size_t size, void *arg)
{
    const int *fd = arg;
    for (;;) {
        ssize_t got = read(*fd, bytes, size);
        if (got >= 0) {
            return got;
        }
        if (errno != EINTR) {
            return -errno;
        }
    }
}

bool
state_load(struct filter *filter)
{
    filter->state.path = resolve_path(filter->options.state);
    if (filter->state.path == NULL) {
        log_message(filter, "cannot use the state %s: %s",
                    filter->options.state, strerror(errno));
        return false;
    }
    if (!check_file(filter) || !take_lock(filter) ||
        !check_replacement(filter)) {
        return false;
    }
    filter->stores.reserve = malloc(STATE_RESERVE);
    /* O_NONBLOCK, in case it has become a FIFO meanwhile. */
    int fd = open(filter->state.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        filter->state.usable = true;
        return true;
    }
    int error = fd >= 0 ? state_read(filter, read_file, &fd) : -errno;
    if (fd >= 0) {
        close(fd);
    }
    if (error != 0) {
        log_load_error(filter, error);
    }
    filter->state.usable = error == 0;
    return filter->state.usable;
}
