/* snapshot_file.c - snapshots in files, which are replaced atomically. */
#define _POSIX_C_SOURCE 200809L /* NOLINT(bugprone-reserved-identifier) */
#define _FILE_OFFSET_BITS 64    /* NOLINT(bugprone-reserved-identifier) */
#include "file_replace.h"
#include "snapshot.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define LAWN_STORE_FILE_SUFFIX ".tmp-XXXXXX"

static ptrdiff_t
read_file(void *bytes, size_t size, void *arg)
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
write_snapshot(lawn__file_write_fn *write, void *file, void *arg)
{
    struct lawn_store *store = (struct lawn_store *)arg;

    return lawn_store_save(store, write, file);
}

int
lawn_store_save_file(struct lawn_store *store, const char *path)
{
    struct lawn__file_target target = {
        .path = path, .suffix = LAWN_STORE_FILE_SUFFIX, .mode = 0666};

    if (path == NULL) {
        return -EFAULT;
    }
    size_t size = lawn__file_names_size(path, target.suffix);
    target.names = (char *)lawn__store_snapshot_take(store, size);
    if (target.names == NULL) {
        return -ENOMEM;
    }
    int error = lawn__file_replace(&target, write_snapshot, store, NULL);
    lawn__store_snapshot_give(store, (unsigned char *)target.names, size);
    return error;
}

int
lawn_store_load_file(struct lawn_store *store, const char *path)
{

    if (lawn_store_count(store) > 0) {
        return -ENOTEMPTY;
    }
    if (path == NULL) {
        return -EFAULT;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    int error = lawn_store_load(store, read_file, &fd);
    char byte = 0;
    if (error == 0) {
        ptrdiff_t more = read_file(&byte, 1, &fd);
        if (more != 0) {
            error = more < 0 ? (int)more : (int)LAWN_STORE_TRAILING;
            lawn__store_reset(store);
        }
    }
    (void)close(fd);
    return error;
}
