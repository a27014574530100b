/* scene.h - a master and its replica, for a test. */
#ifndef LAWN_TESTS_SCENE_H
#define LAWN_TESTS_SCENE_H

#include "fake.h"

/* Both have the same after each command. */
#define SAYS(fake, line, reply)                                                \
    do {                                                                       \
        fake_check_text(__FILE__, __LINE__, fake_run(fake, line), reply);      \
        CHECK(fake_same(fake, (fake)->replica));                               \
    } while (0)
#define TOLD(fake, text)                                                       \
    fake_check_text(__FILE__, __LINE__, (fake)->told.at, text)
#define NOTED(fake, text)                                                      \
    fake_check_text(__FILE__, __LINE__, (fake)->noted.at, text)

static inline struct fake *
scene_begin(void)
{
    struct fake *fake = fake_new();

    fake->replica = fake_new();
    return fake;
}

/* No memory is left behind. */
static inline void
scene_end(struct fake *fake)
{
    fake_free(fake->replica);
    fake_free(fake);
    CHECK_EQ(fake_memory_blocks, 0);
}

#endif
