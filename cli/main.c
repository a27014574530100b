/* main.c - lawn(1): finds the verb and runs it.
 *
 * All verbs write to stdout. main() checks once, for all of them, that all
 * output was written.
 */
#include "output.h"
#include "tool.h"
#include "verbs.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAIN_VERSION "0.1.0"

#define MAIN_COLUMN 21 /* where summaries begin */

/* Prints a verb and its first required operand: "absent DURATION". */
static void
put_verb(const struct options_verb *verb, FILE *out)
{
    char name[40];
    const char *first = verb->operands != NULL ? verb->operands : "[";
    int length = *first == '[' ? 0 : (int)strcspn(first, " ");
    snprintf(name, sizeof(name), "%s%s%.*s", verb->name, length > 0 ? " " : "",
             length, first);
    options_put_entry(name, verb->summary, MAIN_COLUMN, out);
}

/* The part of the help that explains how to use a filter. */
static const char help_notes[] =
    "\nA filter reads standard input, or the FILEs that follow its first "
    "argument.\n"
    "join reads two inputs: join DURATION -k KEY LEFT RIGHT.\n"
    "  DURATION           250ms, 5s, 1h30m (d h m s ms us ns), or plain "
    "seconds\n"
    "  RATE               lines per time: 10/s, 1/1h\n"
    "'lawn help VERB' lists the options of VERB; 'man lawn-filters' has the "
    "details.\n"
    "Status: 1 absent (--exit-on-absent), 2 usage, 3 input, 4 output, 128+N "
    "signal.\n\n"
    "keys: different keys do not interact (default: one key; dedupe: the "
    "line):\n"
    "  -k 2               the key is column 2; -d sets the separator\n"
    "  -k .user.id        the key is the value at this JSON path\n"
    "  -k '/id=(\\w+)/'    the key is the text in the parentheses (POSIX "
    "regex)\n\n"
    "time of a line: when it was read; or event time, a field of the line:\n"
    "  --time-field 1     this column, JSON path or /regex/ is the time, in "
    "seconds\n"
    "                     or as 2026-11-15T10:00:00Z; only input is awaited\n"
    "  --time-unit ms     numbers in that field are ms (or us, ns)\n\n"
    "often used:\n"
    "  --json             read and write lines of JSON\n"
    "  --on-eof flush     write held lines when the input ends, without "
    "waiting\n"
    "  --state FILE       keep held lines and keys there from one run to the "
    "next\n"
    "  --expect FILE      for absent: watch the keys in FILE from the start\n";
static const char help_example[] =
    "# Replace printf by your program or by tail -n0 -F FILE.\n"
    "# Report when a sensor, named in column 1, has been silent for a second:\n"
    "printf 'attic 21\\ncellar 12\\n' | lawn absent 1s -k 1\n"
    "# Collapse bursts of log lines per host to a count and the last line:\n"
    "printf 'web1 hot\\nweb1 hot\\ndb2 up\\n' | lawn debounce 1s -k 1 --emit "
    "count\n"
    "# One notification per user and hour; without --drop, the others wait:\n"
    "printf '{\"user\":\"ann\"}\\n{\"user\":\"bob\"}\\n{\"user\":\"ann\"}\\n' "
    "|\n"
    "    lawn throttle 1/1h -k .user --drop\n"
    "# Pair requests with responses by id; report those without a partner:\n"
    "printf '0 GET id=7\\n1 GET id=8\\n' >requests; printf '2 OK id=7\\n' "
    ">responses\n"
    "lawn join 10s -k '/id=(\\w+)/' --time-field 1 requests responses\n";

static void
print_help(FILE *out)
{
    fputs("usage: lawn VERB [OPTION]... [ARGUMENT]...\n\n"
          "Filters lines by time: delays them, collapses bursts, limits their "
          "rate, pairs\n"
          "them, or reports missing lines, for millions of keys (users, hosts) "
          "at once.\n",
          out);
    fputs("\nfilters:\n", out);
    for (size_t i = 0; i < tool_filters; i++) {
        put_verb(tool_verbs[i], out);
    }
    fputs("\nother verbs:\n", out);
    for (size_t i = tool_filters; tool_verbs[i] != NULL; i++) {
        put_verb(tool_verbs[i], out);
    }
    fputs(help_notes, out);
    fputs("\noptions:\n", out);
    options_put_entry("--help", "print this help, or that of a verb, and exit",
                      MAIN_COLUMN, out);
    options_put_entry("--version", "print the version and exit", MAIN_COLUMN,
                      out);
    options_put_examples(help_example, out);
}

static int
refuse_unknown(const char *word)
{
    fprintf(stderr, "lawn: unknown %s '%s'\n",
            word[0] == '-' ? "option" : "verb", word);
    for (size_t i = 0; tool_verbs[i] != NULL; i++) {
        if (options_resembles(word, tool_verbs[i]->name)) {
            fprintf(stderr, "did you mean %s?\n", tool_verbs[i]->name);
        }
    }
    fputs("see 'lawn --help'\n", stderr);
    return VERBS_USAGE;
}

/* Runs the verb that argv[0] names. */
static int
run_verb(int argc, char **argv)
{
    for (size_t i = 0; tool_verbs[i] != NULL; i++) {
        const struct options_verb *verb = tool_verbs[i];
        if (strcmp(argv[0], verb->name) == 0) {
            return verb->run(verb, argc, argv);
        }
    }
    return refuse_unknown(argv[0]);
}

/* Runs "lawn help trace stats" as "lawn trace stats --help". */
static int
print_help_of(int argc, char **argv)
{
    static char help[] = "--help";
    for (int i = 0; i + 2 < argc; i++) {
        argv[i] = argv[i + 2];
    }
    argv[argc - 2] = help;
    argv[argc - 1] = NULL;
    return run_verb(argc - 1, argv);
}

static int
dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return VERBS_USAGE;
    }
    bool is_help = strcmp(argv[1], "help") == 0;
    if (is_help && argc > 2) {
        return print_help_of(argc, argv);
    }
    if (is_help || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return VERBS_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("lawn " MAIN_VERSION);
        return VERBS_OK;
    }
    return run_verb(argc - 1, argv + 1);
}

int
main(int argc, char **argv)
{
    output_open();
    int code = dispatch(argc, argv);
    return output_close("lawn") ? code : VERBS_OUTPUT;
}
