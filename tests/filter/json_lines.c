/* json_lines.c - JSON as the filters parse it, for json_against_python.py.
 *
 * Each line of the input has words in hexadecimal: a text, and paths. Each line
 * of the output is the result: "no"; or "yes" and a word for each path: "-" for
 * a missing value, "null", or a letter for its kind and its bytes in
 * hexadecimal.
 */
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
lines_fail(const char *what)
{
    fprintf(stderr, "json_lines: %s\n", what);
    exit(1);
}

/* Returns the bytes of a word, followed by a NUL byte that does not count; the
 * caller frees them. */
static char *
lines_bytes(const char *word, size_t *size)
{
    *size = strlen(word) / 2;
    char *bytes = malloc(*size + 1);
    if (bytes == NULL) {
        lines_fail("no memory");
    }
    for (size_t i = 0; i < *size; i++) {
        char digits[3] = {word[2 * i], word[2 * i + 1], '\0'};
        bytes[i] = (char)strtoul(digits, NULL, 16);
    }
    bytes[*size] = '\0';
    return bytes;
}

static void
lines_put(const struct json_value *value)
{
    static const char *const kinds[] = {"-", "null", "s", "n", "o"};
    printf(" %s", kinds[value->kind]);
    if (value->kind == JSON_MISSING || value->kind == JSON_NULL) {
        return;
    }
    char *bytes = malloc(value->size + 1);
    size_t size = value->size;
    if (bytes == NULL) {
        lines_fail("no memory");
    }
    if (value->escaped) {
        size = json_unescape(value, bytes);
    } else {
        memcpy(bytes, value->at, size);
    }
    for (size_t i = 0; i < size; i++) {
        printf("%02x", (unsigned char)bytes[i]);
    }
    free(bytes);
}

static void
lines_answer(char *line)
{
    size_t count = 0;
    size_t size = 0;
    char *rest = NULL;
    char *text = lines_bytes(strtok_r(line, " \n", &rest), &size);
    /* A copy of the exact size, so that reading past it is detected. */
    char *copy = malloc(size);
    if (copy == NULL) {
        lines_fail("no memory");
    }
    memcpy(copy, text, size);
    free(text);
    struct json_path read[JSON_PATHS_MAX];
    const struct json_path *paths[JSON_PATHS_MAX];
    for (char *word = NULL; (word = strtok_r(NULL, " \n", &rest)) != NULL;) {
        size_t length = 0;
        char *path = lines_bytes(word, &length);
        if (count == JSON_PATHS_MAX ||
            json_path_parse(&read[count], path) != NULL) {
            lines_fail("no path");
        }
        free(path);
        paths[count] = &read[count];
        count++;
    }
    struct json_value found[JSON_PATHS_MAX];
    size_t wrong = 0;
    bool good = json_scan(copy, size, paths, count, found, &wrong) == NULL;
    printf(good ? "yes" : "no");
    for (size_t i = 0; i < count; i++) {
        if (good) {
            lines_put(&found[i]);
        }
        json_path_free(&read[i]);
    }
    putchar('\n');
    free(copy);
}

int
main(void)
{
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        lines_answer(line);
    }
    free(line);
    return 0;
}
