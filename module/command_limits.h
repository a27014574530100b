/* command_limits.h - the settings that apply to all keys: lawn.* in
 * docs/MODULE.md. */
#ifndef COMMAND_LIMITS_H
#define COMMAND_LIMITS_H

#include <stdint.h>

struct command_limits {
    uint64_t max_batch;
    uint64_t max_payload;
    uint64_t max_ttls;
    uint64_t lease; /* ms */
    uint64_t tries; /* 0: unlimited */
};
extern struct command_limits command_limits;

#endif
