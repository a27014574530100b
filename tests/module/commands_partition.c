/* commands_partition.c - tests of LAWN.PARTITION: the CRC of cluster slots. */
#include "scene.h"

#include <stdio.h>

/* Bit by bit, as defined. */
static unsigned
partition_sum(struct bytes id)
{
    unsigned sum = 0;

    for (size_t i = 0; i < id.size; i++) {
        sum ^= (unsigned)(unsigned char)id.at[i] << 8;
        for (int bit = 0; bit < 8; bit++) {
            sum = (sum << 1 ^ (sum & 0x8000 ? 0x1021u : 0)) & 0xffff;
        }
    }
    return sum;
}

TEST(commands_partition_is_the_sum_of_slots)
{
    struct fake *fake = scene_begin();

    /* The check value of the CRC, and CLUSTER KEYSLOT of a name. */
    CHECK_EQ(partition_sum(bytes_of("123456789")), 0x31c3);
    REPLIES(fake, "LAWN.PARTITION 123456789 16384", "12739");
    REPLIES(fake, "LAWN.PARTITION foo 16384", "12182");
    REPLIES(fake, "LAWN.PARTITION '' 16384", "0");
    REPLIES(fake, "LAWN.PARTITION foo 1", "0");
    REPLIES(fake, "LAWN.PARTITION foo 3", "1");
    /* The whole id counts. */
    CHECK(strcmp(fake_run(fake, "LAWN.PARTITION {foo}bar 16384"), "12182"));
    scene_end(fake);
}

TEST(commands_partition_of_any_bytes)
{
    struct fake *fake = scene_begin();
    char bytes[2];
    char expected[16];
    struct bytes args[] = {
        bytes_of("LAWN.PARTITION"), {bytes, 2}, bytes_of("16384")};

    for (unsigned i = 0; i < 65536; i++) {
        bytes[0] = (char)(i >> 8);
        bytes[1] = (char)i;
        (void)snprintf(expected, sizeof(expected), "%u",
                       partition_sum(args[1]) % 16384);
        CHECK_TEXT(fake_call(fake, args, 3), expected);
    }
    scene_end(fake);
}

TEST(commands_partition_has_as_many_as_there_are_slots)
{
    struct fake *fake = scene_begin();

    REPLIES(fake, "LAWN.PARTITION foo 0",
            "!" NOT_IN("number of partitions", "1 to 16384", "0"));
    REPLIES(fake, "LAWN.PARTITION foo 16385",
            "!" NOT_IN("number of partitions", "1 to 16384", "16385"));
    REPLIES(fake, "LAWN.PARTITION foo x",
            "!" NOT_IN("number of partitions", "1 to 16384", "x"));
    REPLIES(fake, "LAWN.PARTITION foo", "!ERR wrong number of arguments");
    REPLIES(fake, "LAWN.PARTITION foo 1 1", "!ERR wrong number of arguments");
    scene_end(fake);
}
