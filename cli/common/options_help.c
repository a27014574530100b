/* options_help.c - "lawn VERB --help", formatted from the verb's table.
 *
 * Texts of a table may have any length and are wrapped here, at blanks and
 * newlines; a tab is printed as a non-breaking blank. Details and examples are
 * printed unchanged.
 */
#include "options.h"
#include "text.h"

#include <string.h>

#define OPTIONS_TEXTS_MIN 18 /* column of the texts if the names are short */
#define OPTIONS_TEXTS_MAX 26 /* column of the texts if a name is long */
#define OPTIONS_NAME_MAX 80  /* bytes, as format_name() writes it */

void
options_put_entry(const char *name, const char *text, size_t column, FILE *out)
{
    size_t at = 2 + strlen(name);
    fprintf(out, "  %s", name);
    if (at + 2 > column) {
        putc('\n', out);
        at = 0;
    }
    fprintf(out, "%*s", (int)(column - at), "");
    text_put_words(text, column, out);
}

/* Writes "-k, --key KEY" to name. If other options have letters, an option
 * without one is indented. */
static void
format_name(const struct options_spec *spec, bool letters, char *name)
{
    const char *value = spec->value != NULL ? spec->value : "";
    bool implied = spec->implied != NULL;
    char letter[] = "    ";
    if (spec->letter != '\0') {
        memcpy(letter, (char[]){'-', spec->letter, ','}, 3);
    }
    snprintf(name, OPTIONS_NAME_MAX, "%s--%s%s%s%s", letters ? letter : "",
             spec->name,
             implied          ? "[="
             : *value != '\0' ? " "
                              : "",
             value, implied ? "]" : "");
}

static bool
have_letters(const struct options_verb *verb)
{
    const struct options_spec *s = NULL;
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++) {
        if (s->letter != '\0') {
            return true;
        }
    }
    return false;
}

/* Returns the column of the option texts: after the longest name, unless that
 * is too long. */
static size_t
find_column(const struct options_verb *verb)
{
    const struct options_spec *s = NULL;
    char name[OPTIONS_NAME_MAX];
    bool letters = have_letters(verb);
    size_t column = OPTIONS_TEXTS_MIN;
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++) {
        format_name(s, letters, name);
        size_t needed = 2 + strlen(name) + 2;
        if (needed > column && needed <= OPTIONS_TEXTS_MAX) {
            column = needed;
        }
    }
    return column;
}

static void
put_spec(const struct options_spec *spec, bool letters, size_t column,
         FILE *out)
{
    char name[OPTIONS_NAME_MAX];
    format_name(spec, letters, name);
    char text[1024];
    snprintf(text, sizeof(text),
             spec->initial != NULL ? "%s (default\t%s)" : "%s", spec->help,
             spec->initial);
    options_put_entry(name, text, column, out);
}

void
options_put_examples(const char *example, FILE *out)
{
    fprintf(out, "\nexample%s:\n", strchr(example, '\n') != NULL ? "s" : "");
    while (*example != '\0') {
        size_t length = strcspn(example, "\n");
        fprintf(out, "  %.*s\n", (int)length, example);
        example += length + (example[length] == '\n');
    }
}

void
options_help(const struct options_verb *verb, FILE *out)
{
    size_t column = find_column(verb);
    bool letters = have_letters(verb);
    fprintf(out, "usage: %s%s [OPTION]...%s%s\n\n%s\noptions:\n",
            options_prefix(verb), verb->name, verb->operands != NULL ? " " : "",
            verb->operands != NULL ? verb->operands : "", verb->details);
    const struct options_spec *s = NULL;
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++) {
        if (s == verb->common && i > 0) {
            fputs("\ncommon options:\n", out);
        }
        put_spec(s, letters, column, out);
    }
    put_spec(&(struct options_spec){.name = "help",
                                    .help = "print this help and exit"},
             letters, column, out);
    options_put_examples(verb->example, out);
}
