/* file_replace.h - replaces a file atomically.
 *
 * The new file is written under a temporary name in the same directory, flushed
 * to disk, and renamed. Then the directory is flushed; otherwise the old file
 * could reappear after a power failure. The directory is opened first, so that
 * only its flush can fail after the rename. A directory that is writable but
 * not readable is not flushed. If the path is a symbolic link, the link is
 * replaced.
 *
 * The new file gets the permissions of the old one, and its owner and group if
 * the process may set them. If the group cannot be set, the group's permissions
 * are reduced to those of "others". Until its contents have been written, a
 * file that replaces another has mode 0600.
 */
#ifndef LAWN_FILE_REPLACE_H
#define LAWN_FILE_REPLACE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns 0 or -errno. */
typedef int lawn__file_write_fn(const void *bytes, size_t size, void *file);

/* Writes the contents of the new file by write(bytes, size, file). Returns 0 or
 * an error. */
typedef int lawn__file_fill_fn(lawn__file_write_fn *write, void *file,
                               void *arg);

struct lawn__file_target {
    const char *path;
    /* Appended to the file name, it gives the temporary name. If it ends in
     * XXXXXX, these are replaced by random characters. Otherwise, an existing
     * file with the temporary name is removed first; the caller must hold a
     * lock. */
    const char *suffix;
    unsigned mode; /* permissions of a new file, before the umask */
    char *names;   /* buffer of lawn__file_names_size() bytes */
};

size_t lawn__file_names_size(const char *path, const char *suffix);

/* If replaced is not NULL, sets *replaced to whether the path refers to the new
 * file. Returns 0, the error of fill, -EISDIR for a directory,
 * LAWN_STORE_NOT_A_FILE for another path that is not a regular file, or the
 * -errno of a system call. If *replaced is true after an error, only flushing
 * the directory failed. */
int lawn__file_replace(const struct lawn__file_target *target,
                       lawn__file_fill_fn *fill, void *arg, bool *replaced);

/* Creates and removes the temporary file. Returns 0 or an error of
 * lawn__file_replace(). */
int lawn__file_check(const struct lawn__file_target *target);

#endif
