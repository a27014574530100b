/* state.h - the file of --state: keeps held lines and keys between runs.
 *
 * The file is four snapshots of stores (docs/SNAPSHOT.md), one after the other:
 * named values, keys, lines and early lines. All numbers are little-endian, so
 * a state can be loaded on another machine. The file is replaced atomically
 * (file_replace.h). A lock file next to it excludes other processes.
 */
#ifndef LAWN_CLI_STATE_H
#define LAWN_CLI_STATE_H

#include "filter.h"

/* The format of the named values. Format 1 had no format number, and numbers in
 * the byte order of the machine. */
#define STATE_FORMAT 2u

/* Locks the file, checks that it can be replaced, and loads it if it exists.
 * Returns false after printing a message if it cannot be used; the file is
 * unchanged. */
bool state_load(struct filter *filter);

/* Saves the state at the end. Returns false after printing a message if that
 * fails; the file is unchanged. If the file was replaced but its directory
 * could not be flushed, prints a message and returns true: the file holds the
 * state. */
bool state_save(struct filter *filter);

/* Saves the state while the filter runs. A failure is not an error, since the
 * next save tries again. Prints a message for the first of several failures,
 * for the first save after them, and for the first of several saves after which
 * the directory could not be flushed. */
void state_autosave(struct filter *filter);

/* Releases the lock. */
void state_close(struct filter *filter);

/* Write and read the contents of a state. Return 0, or an error for
 * lawn_store_strerror(); -EINVAL: valid snapshots that are not a state of this
 * filter. */
int state_write(struct filter *filter, lawn_store_write_fn *write, void *arg);
int state_read(struct filter *filter, lawn_store_read_fn *read, void *arg);

/* Writes the options that a state depends on, as text, to signature. */
void state_describe(const struct filter *filter,
                    char signature[FILTER_SIGNATURE_MAX]);

#endif
