/* snapshot_file.c - snapshots in files.
 *
 * What is written goes to a file of another name in the same folder, is flushed
 * to disk, and takes the place of the old one by rename(), which is atomic; then
 * the folder is flushed, or a power cut could still bring the old one back.
 * Until the rename all errors leave the old file as it was. The folder is opened
 * at first, so that only its flush can fail after that.
 *
 * The new file is as the old one was: its mode, its owner and group as far as we
 * may give it away. If we may not keep the group, the new group may do no more
 * than everybody. While it is written it is ours alone. If there was no old one,
 * the umask decides, as with any new file.
 */
#define _POSIX_C_SOURCE 200809L /* NOLINT(bugprone-reserved-identifier) */
#define _FILE_OFFSET_BITS 64    /* NOLINT(bugprone-reserved-identifier) */
#include "snapshot.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LAWN_STORE_FILE_SUFFIX ".tmp-XXXXXX"
#define LAWN_STORE_FILE_RANDOM 6u
#define LAWN_STORE_FILE_TRIES 100u

/* A save under way. */
struct lawn_store_file {
    int folder;
    int fd;
    const char *name; /* in the folder */
    char *temporary;  /* also */
    bool replaces;    /* there is an old file, and this is what it is like */
    struct stat old;
};

static int
lawn_store_file_write(const void *bytes, size_t size, void *arg)
{
    const struct lawn_store_file *file = (const struct lawn_store_file *)arg;
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

static ptrdiff_t
lawn_store_file_read(void *bytes, size_t size, void *arg)
{
    const int *fd = (const int *)arg;

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

static int
lawn_store_file_sync(int fd)
{
    while (fsync(fd) != 0) {
        if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

/* Opens a file of a new name. Nobody can have put something there, whatever the
 * name: O_EXCL sees to that. */
static int
lawn_store_file_create(struct lawn_store_file *file)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    char *random = file->temporary + strlen(file->temporary);
    mode_t mode = file->replaces ? 0600 : 0666;
    struct timespec now = {0, 0};
    uint64_t tries;

    random -= LAWN_STORE_FILE_RANDOM;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    for (tries = 0; tries < LAWN_STORE_FILE_TRIES; tries++) {
        uint64_t key[2] = {(uint64_t)now.tv_sec, (uint64_t)now.tv_nsec};
        uint64_t seed[2] = {(uint64_t)getpid(), tries};
        uint64_t number = lawn_store_hash(key, seed, sizeof seed);
        unsigned i;

        for (i = 0; i < LAWN_STORE_FILE_RANDOM; i++) {
            random[i] = letters[number % (sizeof letters - 1)];
            number /= sizeof letters - 1;
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
    return -EEXIST;
}

/* Makes the new file like the old one. */
static int
lawn_store_file_dress(const struct lawn_store_file *file)
{
    mode_t mode = file->old.st_mode & 0777;
    struct stat new;

    if (!file->replaces) {
        return 0;
    }
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

/* Writes the new file, closes it, and puts it in the place of the old one. */
static int
lawn_store_file_fill(struct lawn_store *store, struct lawn_store_file *file)
{
    int error = lawn_store_save(store, lawn_store_file_write, file);

    if (error == 0) {
        error = lawn_store_file_dress(file);
    }
    if (error == 0) {
        error = lawn_store_file_sync(file->fd);
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

/* Looks at what there is, and opens the folder. names is memory for the two
 * names: of the folder at first, then of the temporary file. */
static int
lawn_store_file_open(struct lawn_store_file *file, const char *path,
                     char *names)
{
    size_t length = (size_t)(file->name - path);

    file->replaces = stat(path, &file->old) == 0;
    if (!file->replaces && errno != ENOENT) {
        return -errno;
    }
    if (file->replaces && !S_ISREG(file->old.st_mode)) {
        return S_ISDIR(file->old.st_mode) ? -EISDIR : -EINVAL;
    }
    if (*file->name == '\0') {
        return -ENOENT;
    }
    memcpy(names, path, length);
    memcpy(names + length, ".", 2);
    file->folder = open(names, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file->folder < 0) {
        return -errno;
    }
    length = strlen(file->name);
    memcpy(names, file->name, length);
    memcpy(names + length, LAWN_STORE_FILE_SUFFIX,
           sizeof LAWN_STORE_FILE_SUFFIX);
    file->temporary = names;
    return lawn_store_file_create(file);
}

int
lawn_store_save_file(struct lawn_store *store, const char *path)
{
    struct lawn_store_file file;
    const char *slash;
    size_t size;
    char *names;
    int error;

    if (path == NULL) {
        return -EFAULT;
    }
    slash = strrchr(path, '/');
    size = strlen(path) + sizeof LAWN_STORE_FILE_SUFFIX;
    names = (char *)lawn_store_snapshot_take(store, size);
    if (names == NULL) {
        return -ENOMEM;
    }
    memset(&file, 0, sizeof file);
    file.folder = -1;
    file.name = slash != NULL ? slash + 1 : path;
    error = lawn_store_file_open(&file, path, names);
    if (error == 0) {
        error = lawn_store_file_fill(store, &file);
    }
    if (error == 0) {
        error = lawn_store_file_sync(file.folder);
        /* There are file systems that cannot, and need not. */
        if (error == -EINVAL || error == -ENOTSUP) {
            error = 0;
        }
    }
    if (file.folder >= 0) {
        (void)close(file.folder);
    }
    lawn_store_snapshot_give(store, (unsigned char *)names, size);
    return error;
}

int
lawn_store_load_file(struct lawn_store *store, const char *path)
{
    ptrdiff_t more;
    char byte;
    int error;
    int fd;

    if (lawn_store_count(store) > 0) {
        return -ENOTEMPTY;
    }
    if (path == NULL) {
        return -EFAULT;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    error = lawn_store_load(store, lawn_store_file_read, &fd);
    if (error == 0) {
        more = lawn_store_file_read(&byte, 1, &fd);
        if (more != 0) {
            error = more < 0 ? (int)more : (int)LAWN_STORE_TRAILING;
            lawn_store_clear(store);
        }
    }
    (void)close(fd);
    return error;
}
