/* invariant.c - stops the server when a rule is violated. Outside of a server,
 * in a test or a fuzzer, the message is printed to stderr. */
#include "invariant.h"

#include "redismodule_api.h"

#include <stdio.h>
#include <stdlib.h>

#define MESSAGE "lawn: invariant violated at %s:%d in %s(): %s: %s"

void
invariant_failed(const char *condition, const char *meaning, const char *file,
                 int line, const char *function)
{
    if (RedisModule_Log != NULL) {
        RedisModule_Log(NULL, "warning",
                        MESSAGE "; this is a bug in the module, please report "
                                "it; the server is stopped to protect its data",
                        file, line, function, meaning, condition);
    } else {
        (void)fprintf(stderr, MESSAGE "\n", file, line, function, meaning,
                      condition);
    }
    if (RedisModule__Assert != NULL) {
        RedisModule__Assert(condition, file, line);
    }
    abort();
}
