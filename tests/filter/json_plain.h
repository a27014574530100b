/* json_plain.h - json.h compiled without instructions of this machine, to
 * compare with the normal build. */
#ifndef LAWN_TESTS_JSON_PLAIN_H
#define LAWN_TESTS_JSON_PLAIN_H

#include "json.h"

const char *json_plain_scan(const char *text, size_t size,
                            const struct json_path *const *paths, size_t count,
                            struct json_value *found, size_t *wrong);

#endif
