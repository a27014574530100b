/* output.h - standard output and files with reliable error reporting. */
#ifndef LAWN_CLI_OUTPUT_H
#define LAWN_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* Must be called before anything is printed. Then a write to a closed pipe
 * fails instead of ending the process. */
void output_open(void);

/* Writes all buffered output to stdout. Returns false if this or an earlier
 * write failed; further output is discarded. */
bool output_flush(void);

/* Flushes. If output has failed, prints a message that begins with `program`. A
 * closed pipe is not reported, since the reader closed it. Returns
 * output_flush(). */
bool output_close(const char *program);

/* Opens a file as fopen() does. On failure prints a message that begins with
 * `program` ("lawn trace stats"), and returns NULL. */
FILE *output_file(const char *program, const char *path, const char *mode);

/* Closes the file. If not all data could be written, prints a message that
 * begins with `program`, and returns false. */
bool output_file_close(const char *program, const char *path, FILE *file);

#endif
