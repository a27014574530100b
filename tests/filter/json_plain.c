/* json_plain.c - a second build of cli/filter/json.c: see json_plain.h. */
#include "json_plain.h"

size_t json_plain_unescape(const struct json_value *value, char *out);
const char *json_plain_path_parse(struct json_path *path, const char *text);
void json_plain_path_free(struct json_path *path);

#define JSON_PLAIN
#define json_scan json_plain_scan
#define json_unescape json_plain_unescape
#define json_path_parse json_plain_path_parse
#define json_path_free json_plain_path_free
#include "../../cli/filter/json.c" /* NOLINT(bugprone-suspicious-include) */
