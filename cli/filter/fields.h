/* fields.h - finds the key, the time and the TTL in a line.
 *
 * A field is a column, a JSON path or a regex with a group. One call finds all
 * fields of a line, so that JSON is scanned once. O(line), except for a regex,
 * which may take quadratic time. It sees at most FIELDS_REGEX_BYTES of a line:
 * otherwise one long line from an attacker could block a filter for hours.
 */
#ifndef LAWN_CLI_FIELDS_H
#define LAWN_CLI_FIELDS_H

#include "json.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#define FIELDS_REGEX_BYTES 8192u

enum fields_kind {
    FIELDS_NOTHING, /* not given: nothing is found */
    FIELDS_COLUMN,  /* 0: the whole line */
    FIELDS_JSON,
    FIELDS_REGEX
};

struct field {
    enum fields_kind kind;
    const char *text; /* as the user wrote it */
    size_t column;
    struct json_path path;
    regex_t regex;
};

#define FIELDS_MAX JSON_PATHS_MAX
#define FIELDS_TEXT_MAX 1000u /* length of a field in the user's syntax */

/* The fields, and how columns are separated. All-zero: no fields. */
struct fields {
    struct field one[FIELDS_MAX];
    size_t count;
    bool json;       /* lines must be JSON */
    int delimiter;   /* a byte; 0 or below: runs of blanks and tabs */
    char wrong[256]; /* the text returned by fields_find() */
    char *scratch;   /* unescaped strings */
    size_t scratch_size;
};

struct fields_bytes {
    const char *at; /* NULL only if FIELDS_NOTHING */
    size_t size;
};

/* Adds a field in the user's syntax. NULL adds FIELDS_NOTHING. A JSON path sets
 * json. Returns NULL, or why the field is invalid, in fields->wrong. */
const char *fields_add(struct fields *fields, const char *text);
void fields_free(struct fields *fields);

/* Finds all fields in a line without newline; a carriage return at its end is
 * ignored. The found bytes are valid until the next call or until the line
 * changes. Returns NULL, or why the line is bad: "no column 3", "no .user.id",
 * "not JSON at byte 17: ...", "no match of /id=(..)/"; or "out of memory". */
const char *fields_find(struct fields *fields, const char *line, size_t size,
                        struct fields_bytes *found);

#endif
