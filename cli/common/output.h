/* output.h - standard output, and files, that cannot fail unnoticed. */
#ifndef LAWN_CLI_OUTPUT_H
#define LAWN_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* Call before anything is printed. A write to a closed pipe fails from here
 * on, instead of ending the process. */
void output_open(void);

/* Writes out what was printed to stdout. False: that, or an earlier write,
 * failed; what is printed from here on is lost. */
bool output_flush(void);

/* Flushes, and reports a failure on stderr, in a message that begins with who;
 * a closed pipe is not reported, since the reader closed it. Returns
 * output_flush(). */
bool output_close(const char *who);

/* A file besides stdout, opened as fopen() does; NULL: it cannot be, which has
 * been named on stderr, the message beginning with who, "lawn bench". */
FILE *output_file(const char *who, const char *path, const char *mode);

/* Closes it. False: not all of it could be written, which is named likewise. */
bool output_file_close(const char *who, const char *path, FILE *file);

#endif
