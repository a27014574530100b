/* main.c - the soak test, which runs for hours.
 *
 *     soak [--seconds S] [--seed N] [--timers N] [--stored N] [--tick US]
 *     soak --rounds [--seconds S] [--seed N] [--timers N] [--check-every K]
 *
 * Timers on the real clock, see live.c; or rounds of random operations compared
 * with the oracles, see rounds.c.
 */
#include "soak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
usage(void)
{
    (void)fprintf(
        stderr,
        "usage: soak [--seconds S] [--seed N] [--timers N] [--stored N] "
        "[--tick US]\n"
        "       soak --rounds [--seconds S] [--seed N] [--timers N] "
        "[--check-every K]\n");
    exit(2);
}

static void
set_option(struct soak_options *options, const char *name, const char *value)
{
    char *end = NULL;
    uint64_t number = strtoull(value, &end, 10);

    if (*value < '0' || *value > '9' || *end != '\0') {
        usage();
    }
    if (strcmp(name, "--seconds") == 0) {
        options->seconds = number;
    } else if (strcmp(name, "--seed") == 0) {
        options->seed = number;
    } else if (strcmp(name, "--timers") == 0 && number > 0 &&
               number < 1u << 28) {
        options->timers = number;
    } else if (strcmp(name, "--stored") == 0 && number > 0 &&
               number < 1u << 28) {
        options->stored = number;
    } else if (strcmp(name, "--tick") == 0 && number > 0 && number <= 1000000) {
        options->tick = number;
    } else if (strcmp(name, "--check-every") == 0) {
        options->check_every = number;
    } else {
        usage();
    }
}

int
main(int argc, char **argv)
{
    struct soak_options options = {60, 1, 0, 1000000, 20000, 1000};
    bool rounds = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--rounds") == 0) {
            rounds = true;
        } else if (i + 1 == argc) {
            usage();
        } else {
            set_option(&options, argv[i], argv[i + 1]);
            i++;
        }
    }
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    printf("seed %llu\n", (unsigned long long)options.seed);
    bool passed = rounds ? soak_rounds(&options) : soak_live(&options);
    return passed ? 0 : 1;
}
