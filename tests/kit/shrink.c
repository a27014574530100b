/* shrink.c - reduces a failing case: see shrink.h. */
#include "shrink.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHRINK_SECONDS 10u
#define SHRINK_RUNS 20000u

static void
run_silently(const struct ops_config *config, const uint8_t *bytes, size_t size)
{
    struct ops_config quiet = *config;
    int null = open("/dev/null", O_WRONLY);

    (void)dup2(null, STDOUT_FILENO);
    (void)dup2(null, STDERR_FILENO);
    (void)alarm(SHRINK_SECONDS);
    quiet.trace = NULL;
    struct ops_result result;
    _exit(config->run(&quiet, bytes, size, &result) ? 0 : 1);
}

bool
shrink_passes(const struct ops_config *config, const uint8_t *bytes,
              size_t size)
{

    (void)fflush(NULL);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        exit(2);
    }
    if (child == 0) {
        run_silently(config, bytes, size);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* Removes pieces of a length, from the end: fewer bytes depend on later
 * ones. */
static size_t
leave_out(const struct ops_config *config, uint8_t *bytes, size_t size,
          size_t length, unsigned *runs)
{
    uint8_t *without = malloc(size);
    size_t at = size;

    if (without == NULL) {
        return size;
    }
    while (at >= length && *runs > 0) {
        at -= length;
        memcpy(without, bytes, at);
        memcpy(without + at, bytes + at + length, size - at - length);
        (*runs)--;
        if (!shrink_passes(config, without, size - length)) {
            size -= length;
            memcpy(bytes, without, size);
        }
        if (at > size) {
            at = size;
        }
    }
    free(without);
    return size;
}

static void
zero_bytes(const struct ops_config *config, uint8_t *bytes, size_t size,
           unsigned *runs)
{
    for (size_t i = 0; i<size && * runs> 0; i++) {
        uint8_t byte = bytes[i];

        if (byte != 0) {
            bytes[i] = 0;
            (*runs)--;
            if (shrink_passes(config, bytes, size)) {
                bytes[i] = byte;
            }
        }
    }
}

size_t
shrink(const struct ops_config *config, uint8_t *bytes, size_t size)
{
    unsigned runs = SHRINK_RUNS;
    size_t before = 0;

    do {
        size_t length = size / 2;

        before = size;
        for (; length > 0; length /= 2) {
            size = leave_out(config, bytes, size, length, &runs);
        }
        zero_bytes(config, bytes, size, &runs);
    } while (size < before && runs > 0);
    return size;
}
