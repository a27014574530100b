/* file_replace.h - replaces a file atomically.
 *
 * The new file is written under a temporary name in the same directory, flushed to
 * disk, and renamed to the path, which is atomic; then the directory is flushed, or a
 * power failure could bring the old file back. Until the rename, an error leaves the
 * old file unchanged. The directory is opened first, so that only its flush can fail
 * after the rename. A directory that the process may write but not read cannot be
 * flushed, and is not. If the path is a symbolic link, the link is replaced.
 *
 * The new file has the permissions of the old one, and its owner and group if the
 * process may set them. If the group cannot be kept, the new group gets no
 * permissions that others do not have. While the file is written, only its owner may
 * access it, if there is an old one.
 */
#ifndef LAWN_FILE_REPLACE_H
#define LAWN_FILE_REPLACE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes bytes to the new file. Returns 0 or -errno. */
typedef int lawn__file_write_fn(const void *bytes, size_t size, void *file);

/* Writes the contents of the new file by calls of write with file. Returns 0 or an
 * error. */
typedef int lawn__file_fill_fn(lawn__file_write_fn *write, void *file,
                               void *arg);

struct lawn__file_target {
    const char *path;
    /* The temporary name is that of the file followed by the suffix. Six Xs at the
     * end of the suffix are replaced by random characters; without them, a file of
     * that name is removed first: the caller must hold a lock. */
    const char *suffix;
    unsigned mode; /* permissions if there is no old file, before the umask */
    char *names;   /* memory, of lawn__file_names_size() bytes */
};

/* Returns the bytes of memory that target->names needs. */
size_t lawn__file_names_size(const char *path, const char *suffix);

/* Replaces the file. Sets *replaced, unless it is NULL, to whether the path leads to
 * the new file. Returns 0, the error of fill, or -errno: -EISDIR if the path is a
 * directory, -EINVAL if it is another kind of file that is not a regular one. If an
 * error is returned and *replaced is true, the directory could not be flushed. */
int lawn__file_replace(const struct lawn__file_target *target,
                       lawn__file_fill_fn *fill, void *arg, bool *replaced);

/* Checks whether the file can be replaced: creates and removes the temporary file.
 * Returns 0 or -errno. */
int lawn__file_check(const struct lawn__file_target *target);

#endif
