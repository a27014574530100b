/* save.c - writes the page and the picture. */
#include "bench.h"
#include "machine.h"
#include "output.h"
#include "print.h"
#include "report.h"
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SAVE_CHUNK 65536u
#define SAVE_DEPTH 32u /* maximum nesting; our JSON has 6 */

static const char save_who[] = "lawn-bench";

/* The start of our JSON. */
static const char save_mark[] = "{\"program\": \"lawn bench\"";

/* The parts without a report. */
static const struct {
    const char *mark;
    const char *option;
    const char *name;
} save_others[] = {
    {"{\"program\": \"lawn bench --store\"", "--store", "stores"},
    {"{\"program\": \"lawn bench --workers\"", "--workers", "workers"},
    {"{\"program\": \"lawn bench --adapters\"", "--adapters", "event loops"},
};

bool
bench_save_can(const char *path)
{
    FILE *file = path != NULL ? output_file(save_who, path, "a") : NULL;

    if (file != NULL) {
        fclose(file);
    }
    return path == NULL || file != NULL;
}

static bool
save_page(const char *path, const char *json, size_t length)
{
    FILE *file = output_file(save_who, path, "w");

    if (file == NULL) {
        return false;
    }
    report_write(file, json, length);
    return output_file_close(save_who, path, file);
}

static bool
save_report(const char *path, const struct results *results)
{
    char *json = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&json, &length);

    if (memory == NULL) {
        fputs("lawn-bench: out of memory for the report\n", stderr);
        return false;
    }
    print_json(memory, results);
    bool saved = fclose(memory) == 0 && save_page(path, json, length);
    free(json);
    return saved;
}

/* Stores the command and its arguments, separated by blanks. */
static void
join_command(char *text, size_t size, char *const *arguments)
{
    size_t used = (size_t)snprintf(text, size, "lawn bench");

    for (; *arguments != NULL && used < size; arguments++) {
        used += (size_t)snprintf(text + used, size - used, " %s", *arguments);
    }
}

/* Stores one line: the processor, the system, the commit and the date. */
static void
describe_machine(char *text, size_t size)
{
    struct machine machine;
    char date[32] = "";
    time_t now = time(NULL);
    struct tm utc;

    machine_read(&machine);
    if (gmtime_r(&now, &utc) != NULL) {
        strftime(date, sizeof(date), ", %Y-%m-%d", &utc);
    }
    snprintf(text, size, "%s, %u cores, %.0f GiB; %s; commit %s%s", machine.cpu,
             machine.cores, (double)machine.memory / (1024.0 * 1024.0 * 1024.0),
             machine.system,
             machine.commit != NULL ? machine.commit : "unknown", date);
}

static bool
save_svg(const struct bench_options *options, const struct results *results)
{
    const char *path = options->svg;
    FILE *file = output_file(save_who, path, "w");

    if (file == NULL) {
        return false;
    }
    if (report_fits_bars(results)) {
        char machine[512];
        char command[512];

        describe_machine(machine, sizeof(machine));
        join_command(command, sizeof(command), options->arguments);
        report_bars_svg(file, results, machine, command);
    } else {
        report_headline_svg(file, results);
    }
    return output_file_close(save_who, path, file);
}

bool
bench_save(const struct bench_options *options, const struct results *results)
{
    return (options->report == NULL || save_report(options->report, results)) &&
           (options->svg == NULL || save_svg(options, results));
}

/* Reads a whole file. Returns NULL after printing a message if it cannot be
 * read. */
static char *
read_whole(const char *path, size_t *length)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    bool good = file != NULL;
    size_t got = 1;

    for (*length = 0; good && got > 0; *length += got) {
        char *more = realloc(text, *length + SAVE_CHUNK);

        good = more != NULL;
        if (!good) {
            break;
        }
        text = more;
        got = fread(text + *length, 1, SAVE_CHUNK, file);
        good = !ferror(file);
    }
    if (!good) {
        fprintf(stderr, "lawn-bench: cannot read %s: %s\n", path,
                strerror(errno));
        free(text);
        text = NULL;
    }
    if (file != NULL) {
        fclose(file);
    }
    return text;
}

/* Returns the end of the string whose opening quote is at this place: after its
 * closing quote; or length if there is none. */
static size_t
find_string_end(const char *json, size_t length, size_t at)
{
    for (at++; at < length; at++) {
        if ((unsigned char)json[at] < ' ') {
            return length;
        }
        if (json[at] == '"') {
            return at + 1;
        }
        at += json[at] == '\\';
    }
    return length;
}

/* Checks that the text is one object with matching brackets and complete
 * strings, which detects truncation. */
static bool
is_whole(const char *json, size_t length)
{
    char open[SAVE_DEPTH];
    size_t depth = 0;

    for (size_t at = 0; at < length;) {
        char c = json[at];

        if (c == '"') {
            at = find_string_end(json, length, at);
            continue;
        }
        at++;
        if (c == '{' || c == '[') {
            if (depth == SAVE_DEPTH) {
                return false;
            }
            open[depth++] = c == '{' ? '}' : ']';
        } else if (c == '}' || c == ']') {
            if (depth == 0 || open[--depth] != c) {
                return false;
            }
            if (depth == 0) {
                return at == length;
            }
        } else if (c == '\0') {
            return false;
        }
    }
    return false;
}

/* Returns whether the text is our JSON. Checks only its beginning and its
 * brackets; the script of the page parses it. */
static bool
is_ours(const char *json, size_t length)
{
    while (length > 0 && json[length - 1] != '\0' &&
           strchr(" \t\r\n", json[length - 1]) != NULL) {
        length--;
    }
    return length > sizeof(save_mark) &&
           memcmp(json, save_mark, sizeof(save_mark) - 1) == 0 &&
           is_whole(json, length);
}

/* Returns whether it is the JSON of a part without a report, after printing a
 * message. */
static bool
is_other(const char *json, size_t length, const char *from)
{
    for (size_t i = 0; i < sizeof(save_others) / sizeof(save_others[0]); i++) {
        size_t size = strlen(save_others[i].mark);

        if (length <= size || memcmp(json, save_others[i].mark, size) != 0) {
            continue;
        }
        fprintf(stderr,
                "lawn-bench: %s: it was saved by 'lawn-bench %s'; reports of "
                "%s are not supported\n",
                from, save_others[i].option, save_others[i].name);
        return true;
    }
    return false;
}

int
bench_save_again(const char *from, const char *path)
{
    size_t length = 0;
    char *json = read_whole(from, &length);
    int code = VERBS_INPUT;

    if (json == NULL) {
        return VERBS_INPUT;
    }
    if (is_other(json, length, from)) {
        code = VERBS_INPUT;
    } else if (!is_ours(json, length)) {
        fprintf(stderr,
                "lawn-bench: %s: expected the output of 'lawn-bench --json', "
                "from {\"program\": \"lawn bench\" to the last }\n",
                from);
    } else {
        code = save_page(path, json, length) ? VERBS_OK : VERBS_OUTPUT;
    }
    free(json);
    return code;
}
