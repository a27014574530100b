/* file_replace.c - replaces a file atomically: see file_replace.h. */
#define _POSIX_C_SOURCE 200809L /* NOLINT(bugprone-reserved-identifier) */
#define _FILE_OFFSET_BITS 64    /* NOLINT(bugprone-reserved-identifier) */
#include "file_replace.h"

#include "lawn_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LAWN_FILE_XS "XXXXXX"
#define LAWN_FILE_TRIES 100u

struct lawn__file {
    int folder; /* the directory; AT_FDCWD if it is not readable */
    int fd;
    const char *name; /* in the directory; if that is not readable, the whole
                       * path */
    char *temporary;  /* the same for the temporary file */
    bool replaces;    /* there is an old file, described by old */
    struct stat old;
};

static int
write_bytes(const void *bytes, size_t size, void *arg)
{
    const struct lawn__file *file = (const struct lawn__file *)arg;
    const char *at = (const char *)bytes;
    while (size > 0) {
        ssize_t wrote = write(file->fd, at, size);
        if (wrote > 0) {
            at += wrote;
            size -= (size_t)wrote;
        } else if (wrote == 0) {
            return -EIO;
        } else if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

static int
sync_file(int fd)
{
    while (fsync(fd) != 0) {
        if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

/* Replaces the XXXXXX at name. The characters need not be secret: O_EXCL fails
 * if the file exists. */
static void
randomize_name(char *name, uint64_t tries)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    uint64_t number = (uint64_t)now.tv_sec * 1000000000u +
                      (uint64_t)now.tv_nsec + ((uint64_t)getpid() << 32) +
                      tries;
    number *= UINT64_C(0x9e3779b97f4a7c15);
    number ^= number >> 32;
    for (size_t i = 0; i < sizeof(LAWN_FILE_XS) - 1; i++) {
        name[i] = letters[number % (sizeof(letters) - 1)];
        number /= sizeof(letters) - 1;
    }
}

static bool
ends_in_xs(const char *suffix)
{
    size_t xs = sizeof(LAWN_FILE_XS) - 1;
    size_t length = strlen(suffix);
    return length >= xs && strcmp(suffix + length - xs, LAWN_FILE_XS) == 0;
}

static int
create_temporary(struct lawn__file *file, bool fixed, mode_t mode)
{
    char *random = file->temporary + strlen(file->temporary);
    if (fixed) {
        (void)unlinkat(file->folder, file->temporary, 0);
    }
    for (unsigned tries = 0; tries < (fixed ? 1 : LAWN_FILE_TRIES); tries++) {
        if (!fixed) {
            randomize_name(random - (sizeof(LAWN_FILE_XS) - 1), tries);
        }
        file->fd = openat(file->folder, file->temporary,
                          O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (file->fd >= 0) {
            return 0;
        }
        if (errno != EEXIST) {
            return -errno;
        }
    }
    return fixed ? -EISDIR : -EEXIST; /* unlinkat() removes all other kinds of
                                       * files */
}

static int
copy_mode_and_owner(const struct lawn__file *file)
{
    mode_t mode = file->old.st_mode & 0777;
    if (!file->replaces) {
        return 0;
    }
    struct stat new;
    if (fstat(file->fd, &new) != 0) {
        return -errno;
    }
    if ((new.st_uid != file->old.st_uid || new.st_gid != file->old.st_gid) &&
        fchown(file->fd, file->old.st_uid, file->old.st_gid) != 0 &&
        new.st_gid != file->old.st_gid &&
        fchown(file->fd, (uid_t)-1, file->old.st_gid) != 0) {
        mode = (mode & ~(mode_t)070) | (mode & ((mode & 07) << 3));
    }
    return fchmod(file->fd, mode) != 0 ? -errno : 0;
}

static int
write_and_rename(struct lawn__file *file, lawn__file_fill_fn *fill, void *arg)
{
    int error = fill(write_bytes, file, arg);
    if (error == 0) {
        error = copy_mode_and_owner(file);
    }
    if (error == 0) {
        error = sync_file(file->fd);
    }
    if (close(file->fd) != 0 && error == 0) {
        error = -errno;
    }
    if (error == 0 && renameat(file->folder, file->temporary, file->folder,
                               file->name) != 0) {
        error = -errno;
    }
    if (error != 0) {
        (void)unlinkat(file->folder, file->temporary, 0);
    }
    return error;
}

static int
open_folder(struct lawn__file *file, const struct lawn__file_target *target)
{
    size_t length = (size_t)(file->name - target->path);
    memcpy(target->names, target->path, length);
    memcpy(target->names + length, ".", 2);
    file->folder = open(target->names, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file->folder < 0 && errno != EACCES) {
        return -errno;
    }
    if (file->folder < 0) {
        file->folder = AT_FDCWD;
        file->name = target->path;
    }
    length = strlen(file->name);
    memcpy(target->names, file->name, length);
    memcpy(target->names + length, target->suffix, strlen(target->suffix) + 1);
    file->temporary = target->names;
    return 0;
}

static void
close_folder(const struct lawn__file *file)
{
    if (file->folder >= 0) {
        (void)close(file->folder);
    }
}

static int
sync_folder(const struct lawn__file *file)
{
    int error = file->folder >= 0 ? sync_file(file->folder) : 0;
    /* Some file systems do not support it and do not need it. */
    return error == -EINVAL || error == -ENOTSUP ? 0 : error;
}

static int
open_target(struct lawn__file *file, const struct lawn__file_target *target)
{
    const char *slash = strrchr(target->path, '/');
    memset(file, 0, sizeof(*file));
    file->folder = -1;
    file->name = slash != NULL ? slash + 1 : target->path;
    file->replaces = stat(target->path, &file->old) == 0;
    if (!file->replaces && errno != ENOENT) {
        return -errno;
    }
    if (file->replaces && !S_ISREG(file->old.st_mode)) {
        return S_ISDIR(file->old.st_mode) ? -EISDIR : LAWN_STORE_NOT_A_FILE;
    }
    if (*file->name == '\0') {
        return -ENOENT;
    }
    int error = open_folder(file, target);
    if (error != 0) {
        return error;
    }
    return create_temporary(file, !ends_in_xs(target->suffix),
                            file->replaces ? 0600 : (mode_t)target->mode);
}

size_t
lawn__file_names_size(const char *path, const char *suffix)
{
    return strlen(path) + strlen(suffix) + sizeof(".");
}

int
lawn__file_replace(const struct lawn__file_target *target,
                   lawn__file_fill_fn *fill, void *arg, bool *replaced)
{
    struct lawn__file file;
    int error = open_target(&file, target);
    if (error == 0) {
        error = write_and_rename(&file, fill, arg);
    }
    if (replaced != NULL) {
        *replaced = error == 0;
    }
    if (error == 0) {
        error = sync_folder(&file);
    }
    close_folder(&file);
    return error;
}

int
lawn__file_check(const struct lawn__file_target *target)
{
    struct lawn__file file;
    int error = open_target(&file, target);
    if (error == 0) {
        (void)close(file.fd);
        (void)unlinkat(file.folder, file.temporary, 0);
    }
    close_folder(&file);
    return error;
}
