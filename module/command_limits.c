/* command_limits.c - the defaults of the settings that apply to all keys. */
#include "command_limits.h"

struct command_limits command_limits = {.max_batch = 1000,
                                        .max_payload = 1048576,
                                        .max_ttls = 4096,
                                        .lease = 30000};
