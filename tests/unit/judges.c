/* judges.c - the oracle and the witness check each other. A fault in either is
 * detected, whatever the lawn does, and so is a lawn of a pair that fires
 * differently. */
#include "kit.h"
#include "ops.h"
#include "pair_ops.h"
#include "rng.h"

#include <string.h>

#define CASES 400u
#define CASE_SIZE 1024u

/* Returns the number of random cases until one fails; 0: none fails. */
static unsigned
cases_until_one_fails(struct ops_config *config, ops_run_fn *run)
{
    static const uint8_t mixes[] = {OPS_FEW, OPS_UNIQUE, OPS_EXTREME,
                                    OPS_ANY, OPS_EDGES,  OPS_CLASSES};
    static uint8_t bytes[CASE_SIZE];
    struct rng rng = {7};
    struct ops_result result;

    for (unsigned i = 1; i <= CASES; i++) {
        rng_fill(&rng, bytes, sizeof(bytes));
        bytes[0] = mixes[i % sizeof(mixes)];
        if (!run(config, bytes, sizeof(bytes), &result)) {
            CHECK(result.message[0] != '\0');
            return i;
        }
    }
    return 0;
}

TEST(the_oracle_and_the_witness_of_a_lawn_agree)
{
    struct ops_config config = {0};

    CHECK_EQ(cases_until_one_fails(&config, ops_run), 0);
}

TEST(a_mistake_of_either_judge_of_a_lawn_is_noticed)
{

    for (unsigned light = 0; light < 2; light++) {
        for (int fault = OPS_NO_FAULT + 1; fault < OPS_FAULTS; fault++) {
            struct ops_config config = {0};

            config.light = light != 0;
            config.fault = (enum ops_fault)fault;
            if (cases_until_one_fails(&config, ops_run) == 0) {
                kit_fail(__FILE__, __LINE__, "fault %d was not noticed", fault);
            }
        }
    }
}

TEST(a_lawn_mown_in_pieces_fires_as_one_that_is_not)
{
    struct ops_config config = {0};

    CHECK_EQ(cases_until_one_fails(&config, pieces_ops_run), 0);
}

/* Gives the second lawn of a pair other bytes. */
static bool
other_ops_run(const struct ops_config *config, const uint8_t *bytes,
              size_t size, struct ops_result *result)
{
    static uint8_t others[CASE_SIZE];

    memcpy(others, bytes, size);
    others[size / 2] ^= 1;
    return ops_run(config, others, size, result);
}

static bool
other_pair_run(const struct ops_config *config, const uint8_t *bytes,
               size_t size, struct ops_result *result)
{
    return pair_ops_run(config, bytes, size, result, 0, other_ops_run);
}

TEST(a_pair_of_lawns_that_fire_otherwise_is_noticed)
{
    struct ops_config config = {0};

    CHECK(cases_until_one_fails(&config, other_pair_run) != 0);
}
