/* json.h - finds values in JSON by their paths, without building a tree.
 *
 * One pass over the text validates all of it and searches for several paths.
 * Nothing is allocated while scanning. Strings need not be UTF-8. O(text).
 */
#ifndef LAWN_CLI_JSON_H
#define LAWN_CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>

#define JSON_STEPS_MAX 16   /* of a path */
#define JSON_PATHS_MAX 4    /* in one scan */
#define JSON_DEPTH_MAX 4096 /* deeper texts are invalid */

/* A path such as .user.id, .items[0].id, ."odd name" or .["odd name"]; "." is
 * the whole text. A step is a member's name, or an index if name is NULL. */
struct json_path {
    size_t count;
    struct json_step {
        char *name; /* unescaped; may hold any byte */
        size_t size;
        size_t index;
    } steps[JSON_STEPS_MAX];
};

enum json_kind {
    JSON_MISSING,
    JSON_NULL,
    JSON_STRING, /* the bytes between the quotes */
    JSON_NUMBER,
    JSON_OTHER /* true, false, an object or an array, as written */
};

/* A value in the text. */
struct json_value {
    enum json_kind kind;
    bool escaped; /* a string with backslashes: see json_unescape() */
    const char *at;
    size_t size;
};

/* Parses a path. Returns NULL, or why it is invalid. */
const char *json_path_parse(struct json_path *path, const char *text);
void json_path_free(struct json_path *path);

/* Scans a text that is one JSON value with blanks around it, and stores for
 * each path the value that it leads to; of members with equal names the last
 * one counts. Returns NULL, or why the text is invalid. Then *wrong is the
 * offset of the error, and found is unchanged. */
const char *json_scan(const char *text, size_t size,
                      const struct json_path *const *paths, size_t count,
                      struct json_value *found, size_t *wrong);

/* Writes the content of a string to out, as UTF-8. out must have room for
 * value->size bytes. A lone surrogate becomes three bytes, as if it were a
 * character (WTF-8), so that different strings remain different. Returns the
 * number of bytes. */
size_t json_unescape(const struct json_value *value, char *out);

#endif
