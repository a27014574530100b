/* output.c - standard output with reliable error reporting.
 *
 * stdout is fully buffered and written only in output_flush(), where errno can
 * be stored: a printf() that overflows a buffer would lose it. Cost: a buffer
 * that is larger than the output between two flushes.
 */
#include "output.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static char stdout_buffer[1 << 17];
static int first_error; /* errno of the first failed write; 0 if none */

void
output_open(void)
{
    setvbuf(stdout, stdout_buffer, _IOFBF, sizeof(stdout_buffer));
    signal(SIGPIPE, SIG_IGN);
}

bool
output_flush(void)
{
    if (first_error != 0) {
        return false;
    }
    if (fflush(stdout) != 0) {
        first_error = errno;
    } else if (ferror(stdout)) {
        first_error = EIO;
    }
    return first_error == 0;
}

bool
output_close(const char *program)
{
    if (output_flush()) {
        return true;
    }
    if (first_error != EPIPE) {
        fprintf(stderr, "%s: cannot write the output: %s\n", program,
                strerror(first_error));
    }
    return false;
}

static void
complain(const char *program, const char *path, int error)
{
    fprintf(stderr, "%s: cannot write %s: %s\n", program, path,
            strerror(error));
}

FILE *
output_file(const char *program, const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);
    if (file == NULL) {
        complain(program, path, errno);
    }
    return file;
}

bool
output_file_close(const char *program, const char *path, FILE *file)
{
    bool good = fflush(file) == 0 && !ferror(file);
    int error = errno != 0 ? errno : EIO;
    if (fclose(file) != 0 && good) {
        good = false;
        error = errno;
    }
    if (!good) {
        complain(program, path, error);
    }
    return good;
}
