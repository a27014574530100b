/* scene.h - a master and its replica, for a test. */
#ifndef LAWN_TESTS_SCENE_H
#define LAWN_TESTS_SCENE_H

#include "commands.h"
#include "fake.h"
#include "kit.h"
#include "memory_kit.h"
#include "ranges.h"

static inline void
scene_check(const char *file, int line, const char *actual,
            const char *expected)
{
    if (strcmp(actual, expected) != 0) {
        kit_fail(file, line, "is\n    %s\nnot\n    %s", actual, expected);
    }
}

#define CHECK_TEXT(actual, expected)                                           \
    scene_check(__FILE__, __LINE__, actual, expected)

/* Master and replica are equal after each command. */
#define REPLIES(fake, line, reply)                                             \
    do {                                                                       \
        scene_check(__FILE__, __LINE__, fake_run(fake, line), reply);          \
        CHECK(fake_same(fake, (fake)->replica));                               \
    } while (0)
#define REPLICATED(fake, text)                                                 \
    scene_check(__FILE__, __LINE__, (fake)->replicated.at, text)
#define NOTED(fake, text)                                                      \
    scene_check(__FILE__, __LINE__, (fake)->noted.at, text)

/* The end of LAWN.GET META for an event that was never leased. */
#define PLAIN                                                                  \
    ", \"tries\": 0, \"max-tries\": 0, \"lease-end\": 0, \"owner\": \"\"}"

static inline struct fake *
scene_begin(void)
{
    struct fake *fake = fake_new();

    command_limits = (struct command_limits){.max_batch = 10000,
                                             .max_payload = 1048576,
                                             .max_ttls = 4096,
                                             .lease = 30000};
    /* The last bits of all tokens are 0, even if the replica received some. */
    commands_tokens = (struct commands_tokens){.step = COMMANDS_TOKEN_STEP};
    fake->replica = fake_new();
    fake->blocks = memory_blocks();
    return fake;
}

/* Runs a command with more and more memory until it succeeds; nothing must
 * change before. Returns the number of failures; the reply is that of the last
 * run. */
static inline uint64_t
scene_starve(struct fake *fake, const char *line)
{
    for (fake->memory = 0;; fake->memory++) {
        const char *reply = fake_run(fake, line);
        CHECK(fake_same(fake, fake->replica));
        if (strcmp(reply, "!ERR out of memory") != 0) {
            break;
        }
        REPLICATED(fake, "");
    }
    uint64_t tries = fake->memory;
    fake->memory = UINT64_MAX;
    return tries;
}

/* Checks that no memory is left. */
static inline void
scene_end(struct fake *fake)
{
    uint64_t blocks = fake->blocks;

    fake_free(fake->replica);
    fake_free(fake);
    CHECK_EQ(memory_blocks(), blocks);
}

#endif
