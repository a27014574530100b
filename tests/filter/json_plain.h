/* json_plain.h - json.h once more, for any machine: to be compared with what this
 * machine has of its own. */
#ifndef LAWN_TESTS_JSON_PLAIN_H
#define LAWN_TESTS_JSON_PLAIN_H

#include "json.h"

const char *json_plain_scan(const char *text, size_t size,
                            const struct json_path *const *paths, size_t count,
                            struct json_value *found, size_t *wrong);

#endif
