/* rounds.c - large lawns and stores under the interpreters until time is up.
 *
 * Looking at all timers after each operation would take hours here, so the
 * oracle does it every 4096th time. Every fire is still checked not to be
 * early, repeated or out of order. Rounds with few timers, checked in full, run
 * in between.
 */
#include "ops.h"
#include "rng.h"
#include "soak.h"
#include "store_ops.h"

#include <stdio.h>
#include <time.h>

#define SOAK_BYTES (1u << 20)
#define SOAK_REPORT_SECONDS 10
#define SOAK_TIMERS 100000u

struct soak {
    uint64_t seed;
    uint64_t timers;
    uint64_t check_every;
    uint64_t operations;
    uint64_t fires;
    unsigned passed;
    unsigned failed;
};

static void
round_of(struct soak *soak, uint64_t number, uint8_t *bytes)
{
    struct rng rng = {soak->seed};
    struct ops_config config = {0};
    bool store = number % 2 == 1;
    bool large = number / 2 % 4 != 3;

    rng.state = rng_next(&rng) + number;
    rng_fill(&rng, bytes, SOAK_BYTES);
    bytes[0] = (uint8_t)(number / 2 % OPS_MIXES);
    config.timers = large ? (uint32_t)soak->timers : 0;
    config.fill = large;
    config.check_every = large ? soak->check_every : 1024;
    config.run = store ? store_ops_run : ops_run;
    struct ops_result result;
    if (config.run(&config, bytes, SOAK_BYTES, &result)) {
        soak->passed++;
    } else {
        soak->failed++;
        printf("FAILED round %llu of seed %llu: %s\n",
               (unsigned long long)number, (unsigned long long)soak->seed,
               result.message);
    }
    soak->operations += result.operations;
    soak->fires += result.fires;
}

static void
print_progress(const struct soak *soak, time_t began)
{
    printf("%4.0f s: %llu rounds, %llu operations, %llu fires\n",
           difftime(time(NULL), began),
           (unsigned long long)soak->passed + soak->failed,
           (unsigned long long)soak->operations,
           (unsigned long long)soak->fires);
}

bool
soak_rounds(const struct soak_options *options)
{
    static uint8_t bytes[SOAK_BYTES];
    struct soak soak = {0};
    time_t began = time(NULL);
    time_t told = began;

    soak.seed = options->seed;
    soak.timers = options->timers != 0 ? options->timers : SOAK_TIMERS;
    soak.check_every = options->check_every;
    for (uint64_t number = 0; soak.failed == 0; number++) {
        round_of(&soak, number, bytes);
        if (difftime(time(NULL), told) >= SOAK_REPORT_SECONDS) {
            told = time(NULL);
            print_progress(&soak, began);
        }
        if (difftime(time(NULL), began) >= (double)options->seconds) {
            break;
        }
    }
    print_progress(&soak, began);
    printf("%u passed, %u failed\n", soak.passed, soak.failed);
    return soak.failed == 0;
}
